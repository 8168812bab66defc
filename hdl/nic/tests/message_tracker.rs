//! message_tracker against a map of messages (R7, code 7 of R3); simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::message_tracker::MessageTracker;
use rx_support::{Bench, Rng};
use std::collections::BTreeMap;

/// Reference: messages by their number since the start; what lies before `exp` is complete.
#[derive(Default)]
struct Stream {
    start: u64,
    exp: u64,
    /// (bytes, done)
    open: BTreeMap<u64, (u64, bool)>,
}

fn bench(build_name: &'static str) -> Bench {
    let mut b = Bench::new("message_tracker", move || MessageTracker::new(&build(build_name).unwrap()));
    b.reset();
    b
}

fn idle(b: &mut Bench) -> u64 {
    let mut clocks = 0;
    while b.get("busy") == 1 {
        b.cycle();
        clocks += 1;
    }
    b.cycle();
    clocks
}

fn open(b: &mut Bench, qp: u64, start: u64) {
    b.set("qp", qp);
    b.set("msn", start & 0xFF_FFFF);
    b.set("clear", 1);
    b.cycle();
    b.set("clear", 0);
    idle(b);
}

/// A packet; returns whether it fits. It is taken if it does.
fn packet(b: &mut Bench, qp: u64, msn: u64, bytes: u64, length: u64) -> bool {
    for (name, value) in [("qp", qp), ("msn", msn & 0xFF_FFFF), ("payload_bytes", bytes), ("length", length), ("start", 1)] {
        b.set(name, value);
    }
    b.cycle();
    for (name, value) in [("qp", 0), ("msn", 5), ("payload_bytes", 6), ("length", 7), ("start", 0)] {
        b.set(name, value);
    }
    b.dut.cycles(3);
    let fits = b.get("fits") == 1;
    if fits {
        b.set("take", 1);
        b.cycle();
        b.set("take", 0);
        idle(b);
    }
    fits
}

#[test]
fn completion_in_order_is_that_of_a_map() {
    for (seed, name) in [(1, "sim"), (2, "sim_min"), (3, "sim")] {
        println!("seed {seed}");
        let mut b = bench(name);
        let m = build(name).unwrap().msgs_per_stream as u64;
        let mut rng = Rng(seed);
        let mut streams: Vec<Stream> = (0..3).map(|i| Stream { start: 0xFF_FFF8 + i, ..Stream::default() }).collect();
        for (qp, s) in streams.iter().enumerate() {
            open(&mut b, qp as u64, s.start);
        }
        let (mut refused, mut passed_many) = (0, 0);
        for _ in 0..4000 {
            let qp = rng.below(3);
            let s = &mut streams[qp as usize];
            // the oldest one rarely, so that others wait behind it
            let n = match rng.below(10) {
                0 => s.exp,
                1 => s.exp + m + rng.below(2),
                2 => s.exp.saturating_sub(1 + rng.below(3)),
                _ => s.exp + rng.below(m),
            };
            // a complete one is rarely of interest
            let done = s.open.get(&n).is_some_and(|e| e.1);
            let n = if done && rng.chance(80) { s.exp + rng.below(3) } else { n };
            let length = (n % 4) * 100;
            let (have, _) = s.open.get(&n).copied().unwrap_or_default();
            let bytes = if rng.chance(5) { length - have + 1 } else { (length - have).min(100) };
            let want = n >= s.exp && n < s.exp + m && have + bytes <= length;
            let fits = packet(&mut b, qp, s.start + n, bytes, length);
            assert_eq!(fits, want, "message {n}, oldest {}, {have} + {bytes} of {length}", s.exp);
            refused += u32::from(!fits);
            if fits {
                let e = s.open.entry(n).or_default();
                e.0 += bytes;
                e.1 |= e.0 == length;
                let before = s.exp;
                while s.open.get(&s.exp).is_some_and(|e| e.1) {
                    s.open.remove(&s.exp);
                    s.exp += 1;
                }
                passed_many += u32::from(s.exp - before > 2);
            }
            assert_eq!(b.get("exp"), (s.start + s.exp) & 0xFF_FFFF);
            b.set("qp", qp);
            b.cycle();
            assert_eq!(b.get("exp_read"), (s.start + s.exp) & 0xFF_FFFF);
        }
        assert!(refused > 100 && passed_many > 10, "{refused} refused, {passed_many} times more than two passed");
    }
}

#[test]
fn opening_forgets() {
    let mut b = bench("sim");
    open(&mut b, 1, 0);
    assert!(packet(&mut b, 1, 3, 100, 200));
    open(&mut b, 1, 3);
    assert!(packet(&mut b, 1, 3, 200, 200), "bytes of an earlier stream are left");
    assert_eq!(b.get("exp"), 4);
}

#[test]
fn simulation_equals_verilog() {
    let small = BuildConfig { qps: 2, msgs_per_stream: 4, ..build("sim").unwrap() };
    difftest!(MessageTracker::new(&small), clock: clock, inputs: { reset, start, qp, msn, payload_bytes, length, take, clear })
        .top("message_tracker")
        .cycles(6000)
        .seed(6)
        .reset_chance(0.0005)
        .limit("qp", 0..=1)
        .stimulus({
            let mut phase = 0;
            move |random, cycle, inputs| {
                let near = (inputs.sampled("exp") + random.below(5)) & 0xFF_FFFF;
                inputs.set("msn", if cycle < 40 { 0xFF_FFFE } else { near });
                inputs.set("payload_bytes", random.below(2) * 64);
                inputs.set("length", random.below(3) * 64);
                phase = if inputs.sampled("busy") == 1 { phase } else { (phase + 1) % 8 };
                inputs.set("start", phase == 1);
                inputs.set("take", phase == 5 && inputs.sampled("fits") == 1);
                inputs.set("clear", phase == 0 && (cycle < 100 || random.chance(0.01)));
            }
        })
        .run();
}
