//! Runs the tools on one block.
//!
//! In: the text of a block and a part. Out: what was measured, and with place and route the frequency.
//! Guarantees: one tool process at a time; a result is taken from the cache if text, scripts, tools and options are the same;
//! a failure is told in the tool's own line.
use crate::cache::{digest, Cache};
use crate::error::{io, SynthError};
use crate::figures::{Figures, Measured, Routed, SlowEnd};
use crate::target::Target;
use crate::tools::Tools;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;

pub(crate) const SYNTH: &str = include_str!("../scripts/synth.py");
const DEPTH: &str = include_str!("../scripts/depth.py");
const PNR: &str = include_str!("../scripts/nextpnr.py");
/// Of place and route; timing does not decide whether a run succeeds.
const PNR_OPTIONS: &[&str] = &["--85k", "--speed", "8", "--timing-allow-fail"];
const BLOCK_OPTIONS: &[&str] = &[
    "--seed",
    "1",
    "--router",
    "router1",
    "--package",
    "CABGA756",
    "--out-of-context",
    "--lpf-allow-unconstrained",
    "--freq",
    "125",
];

/// Lets the report tell how long every path is.
pub const EVERY_PATH: &str = "--detailed-timing-report";
/// How many of the slowest ends are kept.
const SLOWEST: usize = 12;

/// One block to be measured.
pub struct Job<'a> {
    pub target: Target,
    pub build: &'a str,
    pub block: &'a str,
    pub verilog: &'a str,
    pub place_and_route: bool,
}

/// Tools, cache and the folder that one call works in.
pub struct Runner {
    pub tools: Tools,
    pub(crate) cache: Cache,
    work: tempfile::TempDir,
}

/// The part of nextpnr's report that is read.
#[derive(Debug, Deserialize)]
struct Report {
    #[serde(default)]
    fmax: BTreeMap<String, Frequency>,
    #[serde(default)]
    critical_paths: Vec<CriticalPath>,
    #[serde(default)]
    detailed_net_timings: Vec<Net>,
}

#[derive(Debug, Deserialize)]
struct Frequency {
    achieved: f64,
}

#[derive(Debug, Deserialize)]
struct CriticalPath {
    from: String,
    to: String,
    path: Vec<Step>,
}

#[derive(Debug, Deserialize)]
struct Step {
    from: End,
    to: End,
}

#[derive(Debug, Deserialize)]
struct End {
    cell: String,
}

/// A net at whose ends a clock takes what it carries.
#[derive(Debug, Deserialize)]
struct Net {
    event: String,
    endpoints: Vec<NetEnd>,
}

#[derive(Debug, Deserialize)]
struct NetEnd {
    cell: String,
    event: String,
    /// Shortest and longest path to it, in ns.
    delay: (f64, f64),
}

/// A register's or a memory's name without what the tools append to it for each bit.
fn name_of(cell: &str) -> &str {
    let ends = ["_TRELLIS_FF", "_LUT4", "_PFUMX", "_L6MUX", "_CCU2C", ".mem.", "$"];
    &cell[..ends.iter().filter_map(|end| cell.find(end)).min().unwrap_or(cell.len())]
}

impl Report {
    fn routed(&self) -> Routed {
        let fmax_mhz = self.fmax.values().map(|f| f.achieved).min_by(f64::total_cmp);
        // only a path from a clock to the same clock is one between two registers
        let path = self.critical_paths.iter().find(|p| p.from == p.to && !p.path.is_empty());
        let end = |pick: &dyn Fn(&[Step]) -> String| path.map_or_else(String::new, |p| pick(&p.path));
        let (from, to) = (end(&|p| p[0].from.cell.clone()), end(&|p| p[p.len() - 1].to.cell.clone()));
        Routed { fmax_mhz, from, to, slowest: self.slowest() }
    }

    fn slowest(&self) -> Vec<SlowEnd> {
        let mut longest = BTreeMap::new();
        for net in &self.detailed_net_timings {
            for end in net.endpoints.iter().filter(|end| end.event == net.event) {
                let ns = longest.entry(name_of(&end.cell)).or_insert(0.0);
                *ns = end.delay.1.max(*ns);
            }
        }
        let mut ends: Vec<_> = longest.into_iter().map(|(to, ns)| SlowEnd { to: to.into(), ns }).collect();
        ends.sort_by(|a, b| b.ns.total_cmp(&a.ns));
        ends.truncate(SLOWEST);
        ends
    }
}

impl Runner {
    pub fn new(tools: Tools) -> Result<Runner, SynthError> {
        let cache = Cache::open()?;
        let work = tempfile::tempdir().map_err(io("create a folder in", std::env::temp_dir()))?;
        for (name, text) in [("synth.py", SYNTH), ("depth.py", DEPTH), ("nextpnr.py", PNR)] {
            let file = work.path().join(name);
            fs::write(&file, text).map_err(io("write", file))?;
        }
        Ok(Runner { tools, cache, work })
    }

    fn synth_key(&self, job: &Job) -> String {
        digest([job.verilog, job.block, job.target.name(), SYNTH, DEPTH, &self.tools.pyosys])
    }

    fn route_key(&self, job: &Job) -> String {
        let options = [PNR_OPTIONS, BLOCK_OPTIONS].concat().join(" ");
        digest([self.synth_key(job).as_str(), &options, &self.tools.nextpnr])
    }

    /// The figures of a block, if all of them are in the cache.
    pub fn cached(&self, job: &Job) -> Option<Figures> {
        let measured: Measured = self.cache.get(&self.synth_key(job), "synth")?;
        let routed = match job.place_and_route {
            true => Some(self.cache.get::<Routed>(&self.route_key(job), "route")?),
            // not asked for, but known
            false => self.cache.get(&self.route_key(job), "route"),
        };
        Some(Figures::new(job.target, job.build, job.block, &measured, routed))
    }

    /// Measures a block. `stage` is told what begins.
    pub fn measure(&self, job: &Job, stage: &dyn Fn(&str)) -> Result<Figures, SynthError> {
        if let Some(found) = self.cached(job) {
            return Ok(found);
        }
        const NETLIST: &str = "netlist.json";
        let key = self.synth_key(job);
        let measured: Measured = match self.cache.get(&key, "synth").filter(|_| !job.place_and_route) {
            Some(measured) => measured,
            None => {
                stage("Yosys");
                let measured = self.synthesise(job, job.place_and_route.then_some(NETLIST))?;
                self.cache.put(&key, "synth", &measured)?;
                measured
            }
        };
        let figures = Figures::new(job.target, job.build, job.block, &measured, None);
        if !job.place_and_route {
            return Ok(figures);
        }
        let excess = figures.excess();
        if !excess.is_empty() {
            let part = job.target.part().into();
            return Err(SynthError::DoesNotFit { block: job.block.into(), part, what: excess });
        }
        stage("nextpnr");
        let routed = self.route(job.block, NETLIST, BLOCK_OPTIONS, None)?;
        self.cache.put(&self.route_key(job), "route", &routed)?;
        Ok(Figures { fmax_mhz: routed.fmax_mhz, routed: Some(routed), ..figures })
    }

    /// Synthesises a block for place and route, or takes what an earlier run of it kept: its figures, and the netlist in the folder of the work.
    pub fn synthesise_or_take(&self, job: &Job, netlist: &str) -> Result<Measured, SynthError> {
        const KIND: &str = "netlist";
        let key = self.synth_key(job);
        let kept = self.cache.file(&key, KIND);
        if let (Some(measured), true) = (self.cache.get(&key, "synth"), kept.exists()) {
            fs::copy(&kept, self.file(netlist)).map_err(io("read", kept))?;
            return Ok(measured);
        }
        let measured = self.synthesise(job, Some(netlist))?;
        self.cache.put(&key, "synth", &measured)?;
        self.cache.put_file(&key, KIND, &self.file(netlist))?;
        Ok(measured)
    }

    /// Synthesises a block, and in the folder of the work writes its netlist for place and route if asked to.
    pub fn synthesise(&self, job: &Job, netlist: Option<&str>) -> Result<Measured, SynthError> {
        let source = self.work.path().join("source.v");
        fs::write(&source, job.verilog).map_err(io("write", &source))?;
        let out = self.work.path().join("measured.json");
        let mut command = self.tools.python();
        command.arg(self.work.path().join("synth.py")).arg(&source).arg(job.block).arg(job.target.name()).arg(&out);
        command.args(netlist.map(|name| self.file(name)));
        self.run("synthesis", job.block, &mut command)?;
        read_json(&out)
    }

    /// Places and routes a netlist, and writes a configuration for ecppack if asked to.
    /// All files are named relative to the folder of the work: nextpnr sees a /tmp of its own.
    pub fn route(&self, name: &str, netlist: &str, options: &[&str], textcfg: Option<&str>) -> Result<Routed, SynthError> {
        let mut command = self.program("nextpnr-ecp5");
        command.args(PNR_OPTIONS).args(options).args(["--json", netlist, "--report", "report.json"]);
        if let Some(file) = textcfg {
            command.args(["--textcfg", file]);
        }
        self.run("place and route", name, &mut command)?;
        Ok(read_json::<Report>(&self.work.path().join("report.json"))?.routed())
    }

    /// Makes a bitstream of a configuration.
    pub fn pack(&self, name: &str, textcfg: &str, bitstream: &str) -> Result<(), SynthError> {
        self.run("packing", name, self.program("ecppack").args(["--compress", textcfg, bitstream]))
    }

    /// A file in the folder of the work.
    pub fn file(&self, name: &str) -> PathBuf {
        self.work.path().join(name)
    }

    /// A program of nextpnr's package, in the folder of the work.
    fn program(&self, name: &str) -> Command {
        let mut command = self.tools.python();
        command.env("YOWASP_CACHE_DIR", self.cache.dir.join("nextpnr")).current_dir(self.work.path());
        command.args(["nextpnr.py", name]);
        command
    }

    /// Runs a tool with its output in a log file, which stays only if the tool fails.
    fn run(&self, step: &'static str, block: &str, command: &mut Command) -> Result<(), SynthError> {
        let log = self.cache.file(&format!("{block}-{}", step.replace(' ', "-")), "log");
        let file = File::create(&log).map_err(io("write", &log))?;
        let both = file.try_clone().map_err(io("write", &log))?;
        let status = command.stdout(file).stderr(both).status();
        let failed = |reason: String| SynthError::Tool { step, block: block.into(), reason, log: log.clone() };
        match status {
            Ok(s) if s.success() => {
                let _ = fs::remove_file(&log);
                Ok(())
            }
            // the last line of a log explains an exit, not a signal
            Ok(s) if s.code().is_none() => Err(failed(format!("it was stopped, {s}; run it again"))),
            Ok(s) => Err(failed(reason_in(&log).unwrap_or_else(|| s.to_string()))),
            Err(e) => Err(failed(e.to_string())),
        }
    }
}

/// What a log tells of the reason: the first error, else the last line.
fn reason_in(log: &PathBuf) -> Option<String> {
    let text = fs::read_to_string(log).ok()?;
    let mut lines = text.lines().map(str::trim).filter(|l| !l.is_empty());
    let error = text.lines().find_map(|l| l.split_once("ERROR: ").map(|(_, reason)| reason.trim()));
    error.or_else(|| lines.next_back()).map(String::from)
}

fn read_json<T: serde::de::DeserializeOwned>(file: &Path) -> Result<T, SynthError> {
    let text = fs::read_to_string(file).map_err(io("read", file))?;
    serde_json::from_str(&text).map_err(|e| SynthError::Parse { path: file.into(), reason: e.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slowest_clock_and_the_path_between_registers_are_taken() {
        let text = r#"{"fmax": {"a": {"achieved": 120.5, "constraint": 1}, "b": {"achieved": 99.5, "constraint": 1}},
            "critical_paths": [{"from": "<async>", "to": "posedge b", "path": [{"from": {"cell": "p"}, "to": {"cell": "q"}}]},
            {"from": "posedge b", "to": "posedge b", "path": [{"from": {"cell": "r"}, "to": {"cell": "s"}},
            {"from": {"cell": "s"}, "to": {"cell": "t"}}]}]}"#;
        let routed = serde_json::from_str::<Report>(text).unwrap().routed();
        assert_eq!(routed, Routed { fmax_mhz: Some(99.5), from: "r".into(), to: "t".into(), slowest: Vec::new() });
        let none = serde_json::from_str::<Report>("{}").unwrap().routed();
        assert_eq!(none.fmax_mhz, None);
    }

    #[test]
    fn the_slowest_ends_are_told_by_register_and_of_one_clock() {
        let text = r#"{"detailed_net_timings": [
            {"event": "posedge a", "endpoints": [{"cell": "x.count_TRELLIS_FF_Q_3", "event": "posedge a", "delay": [1.0, 7.5]},
                {"cell": "x.count_TRELLIS_FF_Q_2", "event": "posedge a", "delay": [1.0, 9.0]},
                {"cell": "pin", "event": "<async>", "delay": [1.0, 30.0]}]},
            {"event": "posedge a", "endpoints": [{"cell": "x.table.mem.0.7$RAMW_SLICE", "event": "posedge a", "delay": [2.0, 11.25]}]}]}"#;
        let slowest = serde_json::from_str::<Report>(text).unwrap().routed().slowest;
        let slowest: Vec<_> = slowest.iter().map(|end| (end.to.as_str(), end.ns)).collect();
        assert_eq!(slowest, [("x.table", 11.25), ("x.count", 9.0)]);
    }

    #[test]
    fn the_reason_of_a_failure_is_the_tools_own_line() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        fs::write(&log, "Info: start\nERROR: Unable to place cell 'x'\n0 warnings, 1 error\n").unwrap();
        assert_eq!(reason_in(&log).unwrap(), "Unable to place cell 'x'");
        fs::write(&log, "Parsing\nsource.v:1: ERROR: syntax error, unexpected end\n").unwrap();
        assert_eq!(reason_in(&log).unwrap(), "syntax error, unexpected end");
        fs::write(&log, "Traceback\ndepth.UnknownCell: X\n\n").unwrap();
        assert_eq!(reason_in(&log).unwrap(), "depth.UnknownCell: X");
    }
}
