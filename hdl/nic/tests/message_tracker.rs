//! message_tracker against a map of messages (R7, code 7 of R3, N4, which receives it completes: Q5, where it waits: D3); simulation =
//! Verilog.
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
    /// (bytes, done, receive, attempt)
    open: BTreeMap<u64, (u64, bool, Option<u64>, u64)>,
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
    consuming_packet(b, qp, msn, bytes, length, None, 0).0
}

/// The same, of a message that may use a receive; whether it fits, and whether the message is complete already.
fn consuming_packet(
    b: &mut Bench,
    qp: u64,
    msn: u64,
    bytes: u64,
    length: u64,
    receive: Option<u64>,
    attempt: u64,
) -> (bool, bool) {
    b.set("attempt", attempt);
    b.set("consuming", receive.is_some().into());
    b.set("receive", receive.unwrap_or(0xA5));
    for (name, value) in [("qp", qp), ("msn", msn & 0xFF_FFFF), ("payload_bytes", bytes), ("length", length), ("start", 1)] {
        b.set(name, value);
    }
    b.cycle();
    for (name, value) in [("qp", 0), ("msn", 5), ("payload_bytes", 6), ("length", 7), ("start", 0)] {
        b.set(name, value);
    }
    b.set("consuming", 1);
    b.set("receive", 0x77);
    b.dut.cycles(3);
    b.set("attempt", 1 - attempt);
    let late = b.get("late") == 1;
    let fits = b.get("fits") == 1 && !late;
    if fits {
        b.set("take", 1);
        b.cycle();
        b.set("take", 0);
        idle(b);
    }
    (fits, late)
}

/// The receives passed, in order; it is known when the last of them is taken.
fn passes(b: &mut Bench, rng: &mut Rng) -> Vec<u64> {
    let mut all = Vec::new();
    b.set("pass_ready", 0);
    b.eval();
    while b.get("pass_valid") == 1 {
        let ready = rng.chance(60);
        b.set("pass_ready", ready.into());
        b.eval();
        let (receive, done) = (b.get("pass_receive"), b.get("pass_done"));
        b.cycle();
        if ready {
            all.push(receive);
        }
        assert_eq!(done == 1, b.get("pass_valid") == 0);
    }
    b.set("pass_ready", 0);
    all
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
        let (mut refused, mut passed_many, mut completed, mut begun_again, mut late) = (0, 0, 0, 0, 0);
        for _ in 0..4000 {
            let qp = rng.below(3);
            let s = &mut streams[qp as usize];
            // the oldest one rarely, so that others wait behind it
            let n = match rng.below(10) {
                0 => s.exp,
                1 => s.exp + m + rng.below(2),
                2 => s.exp.saturating_sub(1 + rng.below(m + 2)),
                _ => s.exp + rng.below(m),
            };
            // a complete one is rarely of interest
            let done = s.open.get(&n).is_some_and(|e| e.1);
            let n = if done && rng.chance(80) { s.exp + rng.below(3) } else { n };
            let length = (n % 4) * 100;
            let at = s.open.get(&n).copied();
            let (was, _, _, first) = at.unwrap_or_default();
            // N4: the sender begins again
            let attempt = if rng.chance(10) { 1 - first } else { first };
            let have = if at.is_some() && attempt != first { 0 } else { was };
            let complete = at.is_some_and(|e| e.1) || (n < s.exp && s.exp - n <= m);
            let bytes = if rng.chance(5) { length - have + 1 } else { (length - have).min(100) };
            let want = n >= s.exp && n < s.exp + m && have + bytes <= length && !complete;
            let receive = rng.chance(60).then(|| rng.below(256));
            let (fits, is_late) = consuming_packet(&mut b, qp, s.start + n, bytes, length, receive, attempt);
            let late_wanted = complete && (n < s.exp + m);
            assert_eq!(is_late, late_wanted, "message {n}, oldest {}", s.exp);
            late += u32::from(is_late);
            begun_again += u32::from(fits && have != was);
            assert_eq!(fits, want, "message {n}, oldest {}, {have} + {bytes} of {length}", s.exp);
            refused += u32::from(!fits);
            if fits {
                let e = s.open.entry(n).or_default();
                e.0 = have + bytes;
                e.3 = attempt;
                e.1 |= e.0 == length;
                e.2 = receive;
                let before = s.exp;
                let mut want = Vec::new();
                while s.open.get(&s.exp).is_some_and(|e| e.1) {
                    want.extend(s.open.remove(&s.exp).and_then(|e| e.2));
                    s.exp += 1;
                }
                completed += want.len();
                assert_eq!(passes(&mut b, &mut rng), want);
                passed_many += u32::from(s.exp - before > 2);
            }
            assert_eq!(b.get("exp"), (s.start + s.exp) & 0xFF_FFFF);
            b.set("qp", qp);
            b.cycle();
            assert_eq!(b.get("exp_read"), (s.start + s.exp) & 0xFF_FFFF);
        }
        assert!(refused > 100 && passed_many > 10, "{refused} refused, {passed_many} times more than two passed");
        assert!(begun_again > 20 && late > 100, "{begun_again} begun again, {late} late");
        assert!(completed > 100, "{completed} receives complete");
    }
}

/// A packet that is taken in any case; the number of the request that exp has come to.
fn taken(b: &mut Bench, qp: u64, msn: u64, bytes: u64, length: u64, request: bool) -> Option<u64> {
    for (name, value) in [("qp", qp), ("msn", msn & 0xFF_FFFF), ("payload_bytes", bytes), ("length", length), ("start", 1)] {
        b.set(name, value);
    }
    b.set("request", request.into());
    b.cycle();
    b.set("start", 0);
    b.set("request", (!request).into());
    b.dut.cycles(3);
    b.set("take", 1);
    b.cycle();
    b.set("take", 0);
    while b.get("busy") == 1 {
        assert_eq!(b.get("reached"), 0, "exp is not final");
        b.cycle();
    }
    let reached = (b.get("reached") == 1).then(|| b.get("exp"));
    b.cycle();
    assert_eq!(b.get("reached"), 0, "told twice");
    reached
}

/// D3: exp stops at each request, tells it once, and goes on when it is finished.
#[test]
fn exp_waits_for_a_request_until_it_is_finished() {
    for (seed, name) in [(4, "sim"), (5, "sim_min")] {
        println!("seed {seed}");
        let mut b = bench(name);
        let m = build(name).unwrap().msgs_per_stream as u64;
        let mut rng = Rng(seed);
        let start = 0xFF_FFF0u64;
        open(&mut b, 1, start);
        let mut exp = 0;
        // those that are complete, and whether they are requests
        let mut done = BTreeMap::new();
        let mut told = None;
        let (mut finished, mut behind) = (0, 0);
        for _ in 0..4000 {
            let waits = done.get(&exp) == Some(&true);
            let got = if waits && rng.chance(20) {
                done.remove(&exp);
                exp += 1;
                finished += 1;
                taken(&mut b, 1, start + exp - 1, 0, 0, false)
            } else {
                let n = exp + if rng.chance(30) { 0 } else { rng.below(m) };
                if done.contains_key(&n) {
                    continue;
                }
                let request = rng.chance(40);
                done.insert(n, request);
                let (bytes, length) = if request { (0, 1000) } else { (64, 64) };
                taken(&mut b, 1, start + n, bytes, length, request)
            };
            while done.get(&exp) == Some(&false) {
                done.remove(&exp);
                exp += 1;
            }
            let now = (done.get(&exp) == Some(&true)).then_some(exp);
            let want = now.filter(|_| now != told);
            behind += u32::from(want.is_some_and(|n| done.contains_key(&(n + 1))));
            told = now.or(told);
            assert_eq!(got, want.map(|n| (start + n) & 0xFF_FFFF), "exp {exp}");
            assert_eq!(b.get("exp"), (start + exp) & 0xFF_FFFF);
        }
        assert!(finished > 200 && behind > 50, "{finished} finished, {behind} with messages behind them");
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
    difftest!(MessageTracker::new(&small), clock: clock, inputs: {
        reset, fault, start, qp, msn, payload_bytes, length, attempt, take, clear, consuming, receive, request, pass_ready
    })
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
            inputs.set("request", random.chance(0.2));
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
