//! congestion against section 6 of docs/protocol.md in plain integers (RTT, C1, L6, in this order); fault 5; simulation =
//! Verilog.
mod block_support;
mod rx_support;

use block_support::{of_window, pick, seed, WINDOWS};
use mrnic_nic::tx::congestion::Congestion;
use rx_support::{Bench, Rng};

const STATE: [&str; 11] = [
    "srtt8",
    "var4",
    "rtt_valid",
    "window",
    "credit",
    "last_cut",
    "ce_seen",
    "dup_seen",
    "reo_tol",
    "reo_base",
    "l1_since_dup",
];

#[derive(Debug, Clone, Copy, PartialEq)]
struct Path {
    srtt8: i64,
    var4: i64,
    rtt_valid: bool,
    window: i64,
    credit: i64,
    last_cut: u32,
    ce_seen: u16,
    dup_seen: u16,
    reo_tol: i64,
    reo_base: u32,
    l1_since_dup: bool,
}

#[derive(Debug, Clone, Copy)]
struct Ack {
    now: u32,
    ts_valid: bool,
    ts_echo: u16,
    service: u16,
    ce: u16,
    dup: u16,
    acked: i64,
    found_l1: bool,
    fault: u64,
}

impl Path {
    fn values(&self) -> [u64; 11] {
        let flags = [self.rtt_valid.into(), self.l1_since_dup.into()];
        let (srtt8, var4, window, credit) = (self.srtt8 as u64, self.var4 as u64, self.window as u64, self.credit as u64);
        let (cut, base) = (self.last_cut.into(), self.reo_base.into());
        let (ce, dup) = (self.ce_seen.into(), self.dup_seen.into());
        [srtt8, var4, flags[0], window, credit, cut, ce, dup, self.reo_tol as u64, base, flags[1]]
    }

    /// RTT, C1, L6.
    fn apply(&mut self, a: &Ack, most: i64) {
        let sample = (a.now as u16).wrapping_sub(a.ts_echo).wrapping_sub(a.service);
        if a.ts_valid && sample < 1 << 15 {
            let sample = i64::from(sample.max(1));
            if self.rtt_valid {
                let e = sample - (self.srtt8 >> 3);
                self.srtt8 += e;
                self.var4 += e.abs() - (self.var4 >> 2);
            } else {
                (self.srtt8, self.var4, self.rtt_valid) = (8 * sample, 2 * sample, true);
            }
        }
        let dce = a.ce.wrapping_sub(self.ce_seen) as i16;
        if dce >= 0 {
            self.ce_seen = a.ce;
        }
        if dce > 0 {
            let since = i64::from(a.now.wrapping_sub(self.last_cut));
            if since >= (self.srtt8 >> 3).max(1) || a.fault == 5 {
                (self.window, self.credit, self.last_cut) = ((self.window / 2).max(1), 0, a.now);
            }
        } else {
            self.credit = (self.credit + a.acked).min(511);
            if self.credit >= self.window {
                self.credit -= self.window;
                self.window = (self.window + 1).min(most);
            }
        }
        self.l1_since_dup |= a.found_l1;
        let ddup = a.dup.wrapping_sub(self.dup_seen) as i16;
        if ddup >= 0 {
            self.dup_seen = a.dup;
        }
        if ddup > 0 && self.l1_since_dup {
            self.reo_tol = if self.reo_tol == 0 { 1 } else { (2 * self.reo_tol).min(most / 4) };
            (self.reo_base, self.l1_since_dup) = (a.now, false);
        } else if self.reo_tol > 0 && i64::from(a.now.wrapping_sub(self.reo_base)) >= 2 * self.srtt8 {
            (self.reo_tol, self.reo_base) = (self.reo_tol / 2, a.now);
        }
    }
}

/// One acknowledgment of the block; the sums of the words come when all else is known.
fn run(b: &mut Bench, path: &Path, a: &Ack) -> [u64; 11] {
    for (name, value) in STATE.iter().zip(path.values()) {
        b.set(name, value);
    }
    for (name, value) in [
        ("now", a.now.into()),
        ("ts_valid", a.ts_valid.into()),
        ("ts_echo", a.ts_echo.into()),
        ("service", a.service.into()),
        ("ce", a.ce.into()),
        ("dup", a.dup.into()),
        ("fault", a.fault),
        ("acked", 0),
        ("found_l1", 0),
    ] {
        b.set(name, value);
    }
    b.dut.cycles(5);
    b.set("acked", a.acked as u64);
    b.set("found_l1", a.found_l1.into());
    b.eval();
    STATE.map(|name| b.get(&format!("new_{name}")))
}

fn ack(rng: &mut Rng, p: &Path, now: u32) -> Ack {
    let service = pick(rng, &[0, 1, 300, 0xFFFF]);
    let srtt = (p.srtt8 >> 3) as u16;
    let sample = pick(rng, &[0, 1, srtt, srtt + 1, 2 * (srtt / 2), 50, 4000, 0x7FFF, 0x8000, 0xFFFF]);
    let counter = |rng: &mut Rng, seen: u16| seen.wrapping_add(pick(rng, &[0, 0, 0, 1, 3, 0x7FFF, 0x8000, 0xFFFF]));
    Ack {
        now,
        ts_valid: rng.chance(70),
        ts_echo: (now as u16).wrapping_sub(sample).wrapping_sub(service),
        service,
        ce: counter(rng, p.ce_seen),
        dup: counter(rng, p.dup_seen),
        acked: pick(rng, &[0, 1, 2, p.window, 255, 256]),
        found_l1: rng.chance(30),
        fault: if rng.chance(90) { 0 } else { 5 },
    }
}

/// A path's life: what one acknowledgment leaves the next one finds, so that values stay those that occur.
#[test]
fn a_path_lives_as_section_6_says() {
    for window in WINDOWS {
        a_path_lives_with(window);
    }
}

fn a_path_lives_with(most: u64) {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("congestion", move || Congestion::new(&of_window(most)));
    let mut full = 0;
    let (mut cuts, mut grown, mut tolerant, mut decayed) = (0, 0, 0, 0);
    for life in 0..60u32 {
        let mut now = pick(&mut rng, &[0, u32::MAX - 2000, 1 << 31]);
        let window = pick(&mut rng, &[1, 16, most as i64]);
        let mut p = Path {
            srtt8: 0,
            var4: 0,
            rtt_valid: false,
            window,
            credit: 0,
            last_cut: now,
            ce_seen: 0,
            dup_seen: 0,
            reo_tol: 0,
            reo_base: now,
            l1_since_dup: false,
        };
        for round in 0..150 {
            let age = pick(&mut rng, &[0, 1, (p.srtt8 >> 3) as u32, 2 * p.srtt8 as u32, 2 * p.srtt8 as u32 + 1]);
            now = now.wrapping_add(age);
            let a = ack(&mut rng, &p, now);
            let before = p;
            p.apply(&a, most as i64);
            full += u64::from(p.window == most as i64 && before.window == p.window);
            assert_eq!(run(&mut b, &before, &a), p.values(), "life {life} round {round}: {before:?} {a:?} want {p:?}");
            cuts += u64::from(p.window < before.window);
            grown += u64::from(p.window > before.window);
            tolerant += u64::from(p.reo_tol > before.reo_tol);
            decayed += u64::from(p.reo_tol < before.reo_tol);
        }
    }
    let counts = [cuts, grown, tolerant, decayed];
    assert!(counts.iter().all(|n| *n > 100) && full > 20, "{counts:?} {full}");
}

/// Fault 5: a second mark within the round trip cuts again.
#[test]
fn fault_5_cuts_on_every_mark() {
    let mut b = Bench::new("congestion", || Congestion::new(&of_window(256)));
    let p = Path {
        srtt8: 800,
        var4: 9,
        rtt_valid: true,
        window: 64,
        credit: 3,
        last_cut: 1000,
        ce_seen: 0xFFFF,
        dup_seen: 0,
        reo_tol: 0,
        reo_base: 0,
        l1_since_dup: false,
    };
    let a = Ack { now: 1099, ts_valid: false, ts_echo: 0, service: 0, ce: 1, dup: 0, acked: 1, found_l1: false, fault: 0 };
    for (now, fault, window) in [(1099, 0, 64), (1100, 0, 32), (1099, 5, 32)] {
        assert_eq!(run(&mut b, &p, &Ack { now, fault, ..a })[3], window, "now {now} fault {fault}");
    }
}

#[test]
fn simulation_equals_verilog() {
    for window in WINDOWS {
        simulation_equals_verilog_with(window);
    }
}

fn simulation_equals_verilog_with(window: u64) {
    let report = mrnic_stimuli::congestion::difftest(window).run();
    // the window does not fill its field
    assert!(window < 256 || report.stuck().is_empty(), "{:?}", report.stuck());
}
