//! The acceptance ladder: which programs run, with which arguments.
//!
//! In: nothing. Out: rows in the order of the ladder. Iterations are those of the quick list; see [`Row::arguments`].
use std::path::{Path, PathBuf};

/// Where distributions put rdma-core's own tests, and the Python bindings that they use.
pub const TESTS: &str = "/usr/share/doc/rdma-core/tests";
const BINDINGS: &str = "/usr/lib/python3/dist-packages/pyverbs";

/// How a row is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A look at the library's symbols; no program.
    Symbols,
    /// One process.
    Single,
    /// A server and its client, in processes of their own.
    Pair,
    /// The same, but the device refuses what they want, and says what to do.
    Refused,
    /// This project's own soak, a server and a client.
    Soak,
    /// Modules of rdma-core's tests.
    Pyverbs,
}

/// One program with its arguments.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub kind: Kind,
    /// Also in the quick list.
    pub quick: bool,
    /// The command without what differs from run to run (ports).
    pub line: &'static str,
}

use Kind::{Pair, Pyverbs, Refused, Single, Soak, Symbols};

const fn row(kind: Kind, quick: bool, line: &'static str) -> Row {
    Row { kind, quick, line }
}

/// All of M1, M2 and the atomics, on the devices that carry them.
pub const LADDER: &[Row] = &[
    row(Symbols, true, "symbols and versions"),
    row(Single, true, "ibv_devices"),
    row(Single, true, "ibv_devinfo -v"),
    row(Soak, true, "soak --rounds 50"),
    row(Soak, true, "soak --send-lists --rounds 50"),
    row(Soak, true, "soak --sends --rounds 20"),
    row(Soak, true, "soak --writes --rounds 20"),
    row(Pair, true, "ibv_rc_pingpong -g 0 -n 200"),
    row(Refused, true, "ibv_rc_pingpong -n 200"),
    row(Pair, true, "ibv_rc_pingpong -g 0 -e -n 200"),
    row(Pair, true, "ibv_rc_pingpong -g 0 -N -n 200"),
    row(Pair, false, "ibv_rc_pingpong -g 0 -c -n 200"),
    row(Pair, false, "ibv_rc_pingpong -g 0 -c -s 65536 -n 50"),
    row(Pair, true, "ibv_srq_pingpong -g 0 -n 200"),
    row(Pair, false, "ibv_srq_pingpong -g 0 -e -n 200"),
    row(Pair, true, "ibv_srq_pingpong -g 0 -q 8 -n 200"),
    row(Pair, true, "ib_write_bw -n 100"),
    row(Pair, false, "ib_write_bw --use_old_post_send -n 100"),
    row(Pair, false, "ib_write_bw -q 4 -n 100"),
    row(Pair, false, "ib_write_bw -b -n 100"),
    row(Pair, false, "ib_write_bw -a -n 5"),
    row(Pair, true, "ib_write_lat -n 100"),
    row(Pair, false, "ib_write_lat --use_old_post_send -n 100"),
    row(Pair, false, "ib_write_lat -a -n 5"),
    row(Pair, true, "ib_read_bw -q 4 -n 50"),
    row(Pair, false, "ib_read_bw -e -n 100"),
    row(Pair, false, "ib_read_bw -b -n 100"),
    row(Pair, false, "ib_read_bw --use_old_post_send -n 100"),
    row(Pair, false, "ib_read_bw -a -n 5"),
    row(Pair, false, "ib_read_lat -n 100"),
    row(Pair, false, "ib_read_lat -a -n 5"),
    row(Pair, false, "ib_send_bw -n 100"),
    row(Pair, true, "ib_send_bw -q 4 -e --use-srq -n 50"),
    row(Pair, true, "ib_send_bw -q 4 -e -n 50"),
    row(Pair, false, "ib_send_bw -e -n 100"),
    row(Pair, false, "ib_send_bw -b -n 100"),
    row(Pair, false, "ib_send_bw --use_old_post_send -n 100"),
    row(Pair, false, "ib_send_bw -a -n 5"),
    row(Pair, true, "ib_send_lat --use_old_post_send -n 100"),
    row(Pair, false, "ib_send_lat --use-srq -n 100"),
    row(Pair, false, "ib_send_lat -a -n 5"),
    row(Pair, true, "ib_atomic_bw -n 100"),
    row(Pair, false, "ib_atomic_bw -q 4 -A CMP_AND_SWAP -n 100"),
    row(Pair, true, "ib_atomic_lat -n 100"),
    row(Pair, false, "ib_atomic_lat -A CMP_AND_SWAP -n 100"),
    row(Pyverbs, false, "pyverbs test_device"),
    row(Pyverbs, false, "pyverbs test_addr"),
    row(Pyverbs, false, "pyverbs test_pd"),
    row(Pyverbs, false, "pyverbs test_mr"),
    row(Pyverbs, false, "pyverbs test_fork"),
    row(Pyverbs, false, "pyverbs test_cq"),
    row(Pyverbs, false, "pyverbs test_cqex"),
    row(Pyverbs, false, "pyverbs test_atomic"),
    row(Pyverbs, false, "pyverbs test_relaxed_ordering"),
    row(Pyverbs, true, "pyverbs test_qp"),
    row(Pyverbs, true, "pyverbs test_qpex"),
    row(Pyverbs, true, "pyverbs test_cq_events"),
    row(Pyverbs, false, "pyverbs all modules"),
];

impl Row {
    pub fn program(&self) -> &'static str {
        self.line.split(' ').next().unwrap_or_default()
    }

    /// In the quick list of a device? rdma-core's tests take a simulated NIC a minute each.
    pub fn in_quick_list(&self, device: &str) -> bool {
        self.quick && !(device == "rtl" && self.kind == Kind::Pyverbs)
    }

    /// Why the device cannot run it, if it cannot.
    pub fn not_for(&self, device: &str) -> Option<&'static str> {
        let alone = matches!(self.kind, Kind::Symbols | Kind::Single);
        match device {
            "loopback" if matches!(self.kind, Kind::Soak) || self.line.starts_with("ib") && !alone => {
                Some("the loopback device joins queue pairs of one process")
            }
            "rtl" => self.not_for_rtl(),
            _ => None,
        }
    }

    fn not_for_rtl(&self) -> Option<&'static str> {
        match self.program() {
            "ibv_srq_pingpong" if !self.line.contains("-q 8") => {
                Some("16 queue pairs, and the RTL has 14 for programs: `-q 8` is for it")
            }
            "pyverbs" if self.line.ends_with("all modules") => Some("the modules have rows of their own"),
            _ => None,
        }
    }

    /// All sizes, 2 to 2^23 bytes?
    pub fn all_sizes(&self) -> bool {
        self.program().starts_with("ib_") && self.line.split(' ').any(|word| word == "-a")
    }

    /// The words behind the program. The full list iterates ten times as often, where not over all sizes: a fault in mid-run needs a run. A NIC
    /// that is simulated does as much in a minute as another in a moment, so that it gets a tenth of both; perftest wants 5 at least.
    pub fn arguments(&self, device: &str, quick: bool) -> Vec<String> {
        let words: Vec<_> = self.line.split(' ').skip(1).collect();
        let mut arguments: Vec<String> = words.iter().map(|w| (*w).to_owned()).collect();
        for i in 1..words.len() {
            if let (false, "-n" | "--rounds", Ok(n)) = (self.all_sizes(), words[i - 1], words[i].parse::<u32>()) {
                let times = match (device, quick) {
                    ("rtl", true) => (n / 10).max(5),
                    ("rtl", false) | (_, true) => n,
                    (_, false) => n * 10,
                };
                arguments[i] = times.to_string();
            }
        }
        arguments
    }

    /// The package that is missing here, if one is.
    pub fn missing(&self) -> Option<&'static str> {
        let program = |package| find(self.program()).is_none().then_some(package);
        match self.kind {
            Kind::Symbols | Kind::Soak => None,
            Kind::Pyverbs if !Path::new(BINDINGS).exists() => Some("python3-pyverbs"),
            Kind::Pyverbs => (!Path::new(TESTS).join("run_tests.py").exists()).then_some("rdma-core"),
            Kind::Single | Kind::Pair | Kind::Refused if self.program().starts_with("ibv_") => program("ibverbs-utils"),
            Kind::Single | Kind::Pair | Kind::Refused => program("perftest"),
        }
    }
}

/// A program on the search path.
pub fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_told_apart_by_their_line_and_the_quick_list_has_every_kind() {
        for (i, row) in LADDER.iter().enumerate() {
            assert!(LADDER[..i].iter().all(|other| other.line != row.line), "{}", row.line);
        }
        for kind in [Symbols, Single, Pair, Refused, Soak, Pyverbs] {
            assert!(LADDER.iter().any(|r| r.kind == kind && r.quick), "{kind:?}");
        }
    }

    #[test]
    fn devices_run_what_they_can() {
        let lines = |device| LADDER.iter().filter(move |row| row.not_for(device).is_none()).map(|row| row.line);
        assert_eq!(lines("model").count(), LADDER.len());
        let of_rtl: Vec<_> = lines("rtl").collect();
        let programs = [
            "ibv_devinfo -v",
            "soak --rounds 50",
            "soak --send-lists --rounds 50",
            "ib_send_bw -q 4 -e --use-srq -n 50",
            "ib_atomic_lat -n 100",
        ];
        let modules = ["pyverbs test_addr", "pyverbs test_fork", "pyverbs test_qp", "pyverbs test_atomic"];
        for line in programs.into_iter().chain(modules).chain(["pyverbs test_relaxed_ordering"]) {
            assert!(of_rtl.contains(&line), "{line}");
        }
        for word in ["ibv_srq_pingpong -g 0 -n", "all modules"] {
            assert!(of_rtl.iter().all(|line| !format!("{line} ").contains(word)), "{word}");
        }
        let pyverbs = |row: &&Row| row.line == "pyverbs test_qpex";
        let row = LADDER.iter().find(pyverbs).expect("it is there");
        assert!(of_rtl.contains(&row.line) && row.in_quick_list("model") && !row.in_quick_list("rtl"));
        assert!(lines("loopback").all(|line| !line.contains("pingpong") && !line.starts_with("soak")));
        assert!(lines("loopback").any(|line| line.starts_with("pyverbs")));
    }

    #[test]
    fn only_the_full_list_iterates_more_and_never_over_all_sizes() {
        let arguments = |line, device, quick| row(Pair, true, line).arguments(device, quick).join(" ");
        assert_eq!(arguments("ib_write_bw -q 4 -n 100", "model", true), "-q 4 -n 100");
        assert_eq!(arguments("ib_write_bw -q 4 -n 100", "model", false), "-q 4 -n 1000");
        assert_eq!(arguments("ib_write_bw -q 4 -n 100", "rtl", true), "-q 4 -n 10");
        assert_eq!(arguments("ib_write_bw -q 4 -n 100", "rtl", false), "-q 4 -n 100");
        assert_eq!(arguments("ib_send_bw -q 4 -e -n 20", "rtl", true), "-q 4 -e -n 5");
        assert_eq!(arguments("ib_write_bw -a -n 5", "model", false), "-a -n 5");
    }
}
