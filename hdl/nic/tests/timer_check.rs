//! timer_check against section 8 of docs/protocol.md on unbounded ticks (L3, L4, tail, rto), and its deadline: nothing is
//! due before it; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::rows::{ConnAck, ConnCfg, PathAck, PathTx};
use mrnic_nic::tx::timer_check::TimerCheck;
use rx_support::{Bench, Rng};

const UP: u64 = 1;
const SUSPECT: u64 = 2;
const DOWN: u64 = 3;

/// A path with its connection; ticks count without wrap.
#[derive(Debug, Clone)]
struct Case {
    open: bool,
    error: bool,
    retry_cnt: u64,
    other_up: bool,
    state: u64,
    pipe: u64,
    next: u64,
    cum: u64,
    srtt8: i64,
    var4: i64,
    rtt_valid: bool,
    backoff: u64,
    probe_pending: bool,
    probe_time: i64,
    t_base: i64,
    rto_min: i64,
    now: i64,
}

impl Case {
    fn tail(&self) -> i64 {
        let srtt = self.srtt8 >> 3;
        (srtt + (srtt >> 2)).max(16)
    }

    /// Serial ticks tell no more than 2^31 - 1.
    fn rto(&self) -> i64 {
        let base = (3 * (self.srtt8 >> 3) + self.var4).max(self.rto_min);
        (base << self.backoff.min(6)).min((1 << 31) - 1)
    }
}

fn case(rng: &mut Rng) -> Case {
    let cum = pick(rng, &[0, 0xFF_FFFF, 0xFF_FF80, 1 << 23, 9]);
    let now = (1 << 40) + if rng.chance(50) { rng.below(400) as i64 } else { rng.below(1 << 32) as i64 };
    let mut c = Case {
        open: rng.chance(95),
        error: rng.chance(5),
        retry_cnt: pick(rng, &[0, 1, 2, 7, 15]),
        other_up: rng.chance(60),
        state: pick(rng, &[UP, UP, UP, SUSPECT, SUSPECT, DOWN, 0]),
        pipe: pick(rng, &[0, 1, 1, 255, 256]),
        next: (cum + pick(rng, &[0, 1, 255, 256])) & 0xFF_FFFF,
        cum,
        srtt8: pick(rng, &[0, 8, 96, 103, 104, 111, 800, 6000, 40_000, (1 << 18) - 1]),
        var4: pick(rng, &[0, 1, 50, 3000, (1 << 17) - 1]),
        rtt_valid: rng.chance(85),
        backoff: pick(rng, &[0, 0, 0, 0, 1, 2, 3, 5, 6, 7, 8, 14, 15]),
        probe_pending: rng.chance(50),
        probe_time: 0,
        t_base: 0,
        rto_min: pick(rng, &[16, 782, 782, 5000, 1 << 20, 1 << 27]),
        now,
    };
    let near = |rng: &mut Rng, span: i64| pick(rng, &[0, 1, span - 1, span, span + 1, span / 2, 2 * span]);
    let idle = match rng.below(8) {
        0..=2 => near(rng, c.tail()),
        3..=5 => near(rng, c.rto()),
        6 => -1 - rng.below(1000) as i64,
        _ => rng.below(1 << 31) as i64,
    };
    c.t_base = now - idle.min((1 << 31) - 1);
    c.probe_time = now - near(rng, c.tail()).min(0xFFFF);
    c
}

fn ports(c: &Case, rng: &mut Rng) -> Vec<(&'static str, Vec<u32>)> {
    let tick = |v: i64| v.rem_euclid(1 << 32) as u64;
    let mut path = Packed::random::<PathTx>(rng);
    path.set("state", c.state).set("pipe", c.pipe).set("next_ppsn", c.next).set("cum", c.cum).set("t_base", tick(c.t_base));
    path.set("srtt8", c.srtt8 as u64).set("rtt_valid", c.rtt_valid.into());
    let mut row = Packed::random::<PathAck>(rng);
    row.set("var4", c.var4 as u64).set("backoff", c.backoff).set("probe_pending", c.probe_pending.into());
    row.set("probe_ts", tick(c.probe_time) & 0xFFFF);
    let mut cfg = Packed::random::<ConnCfg>(rng);
    cfg.set("open", c.open.into()).set("retry_cnt", c.retry_cnt);
    let mut conn = Packed::random::<ConnAck>(rng);
    conn.set("error", c.error.into());
    vec![
        ("path", path.words().to_vec()),
        ("row", row.words().to_vec()),
        ("cfg", cfg.words().to_vec()),
        ("conn", conn.words().to_vec()),
        ("other_up", vec![c.other_up.into()]),
        ("now", vec![tick(c.now) as u32]),
        ("rto_min", vec![c.rto_min as u32]),
    ]
}

/// Section 8: the action of the commit record, and the path afterwards.
fn reference(c: &Case) -> (u64, Case) {
    let mut after = c.clone();
    let idle = c.now - c.t_base;
    if !active(c) || idle < 0 {
        return (0, after);
    }
    let outstanding = c.next != c.cum;
    if idle < c.rto() {
        // L3; ts and probe_ts have 16 bits
        let answered = !c.probe_pending || (c.now - c.probe_time) & 0xFFFF >= c.tail();
        if c.state == UP && outstanding && c.pipe > 0 && c.backoff == 0 && c.rtt_valid && idle >= c.tail() && answered {
            (after.probe_pending, after.probe_time) = (true, c.now);
            return (1, after);
        }
        return (0, after);
    }
    // L4
    after.backoff = (c.backoff + 1).min(15);
    after.t_base = c.now;
    if after.backoff > c.retry_cnt && !c.other_up {
        after.error = true;
        return (6, after);
    }
    (after.probe_pending, after.probe_time) = (true, c.now);
    let action = if after.backoff >= 2 && c.state == UP {
        if c.other_up {
            after.state = SUSPECT;
            3
        } else {
            7
        }
    } else if after.backoff >= 3 && c.state == SUSPECT && c.other_up {
        (after.state, after.pipe) = (DOWN, 0);
        4
    } else if c.state == DOWN {
        after.pipe = 0;
        5
    } else {
        2
    };
    (action, after)
}

fn active(c: &Case) -> bool {
    c.open && !c.error && c.state != 0 && (c.next != c.cum || c.state == SUSPECT || c.state == DOWN)
}

#[test]
fn actions_and_deadlines_are_those_of_section_8() {
    let mut rng = Rng(seed(3));
    let mut b = Bench::new("timer_check", TimerCheck::new);
    let mut counts = [0; 8];
    for round in 0..10_000 {
        let c = case(&mut rng);
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        // known from clock 3 on only
        b.set("other_up", rng.below(2));
        b.dut.cycles(2);
        b.set("other_up", c.other_up.into());
        b.dut.cycles(5);
        let (action, after) = reference(&c);
        assert_eq!(b.get("action"), action, "round {round}: {c:?}");
        assert_eq!(b.get("timeout"), u64::from(action >= 2), "round {round}: {c:?}");
        assert_eq!(b.get("active"), u64::from(active(&c)), "round {round}: {c:?}");
        if action >= 2 {
            assert_eq!(b.get("backoff"), after.backoff, "round {round}: {c:?}");
        }
        counts[action as usize] += 1;
        if !active(&after) {
            continue;
        }
        let wait = (b.get("deadline") as u32).wrapping_sub(c.now as u32);
        assert!(wait > 0, "round {round}: to be looked at again at once: {c:?}");
        for ticks in [1, wait / 2, wait - 1, rng.below(wait.into()) as u32] {
            if (1..wait).contains(&ticks) {
                let later = Case { now: c.now + i64::from(ticks), ..after.clone() };
                // an unanswered probe is told apart for 2^16 ticks
                assert_eq!(reference(&later).0, 0, "round {round}: due {ticks} ticks later, looked at {wait}: {c:?}");
            }
        }
    }
    assert!(counts.iter().all(|n| *n > 50), "{counts:?}");
}

/// The first tick at which a timer acts, and the tick before it.
#[test]
fn tail_and_rto_to_the_tick() {
    let mut rng = Rng(4);
    let mut b = Bench::new("timer_check", TimerCheck::new);
    let path = Case {
        open: true,
        error: false,
        retry_cnt: 7,
        other_up: false,
        state: UP,
        pipe: 1,
        next: 0,
        cum: 0xFF_FFFF,
        srtt8: 800,
        var4: 40,
        rtt_valid: true,
        backoff: 0,
        probe_pending: false,
        probe_time: 0,
        t_base: (1 << 32) - 60,
        rto_min: 782,
        now: 0,
    };
    // tail = 100 + 25; rto = max(340, 782) << backoff; a tick counter that wraps in between
    for (idle, backoff, action) in
        [(124, 0, 0), (125, 0, 1), (781, 0, 1), (782, 0, 2), (1563, 1, 0), (1564, 1, 7), (50_047, 6, 0), (50_048, 6, 7)]
    {
        let c = Case { now: path.t_base + idle, backoff, ..path.clone() };
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        b.dut.cycles(7);
        assert_eq!(b.get("action"), action, "idle {idle} backoff {backoff}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(TimerCheck::new(), clock: clock, inputs: { now, rto_min, other_up })
        .input_as("path", |b| &mut b.path, rows::path_tx)
        .input_as("row", |b| &mut b.row, rows::path_ack)
        .input_as("cfg", |b| &mut b.cfg, rows::conn_cfg)
        .input_as("conn", |b| &mut b.conn, rows::conn_ack)
        .top("timer_check")
        .cycles(3000)
        .seed(3)
        .stimulus({
            let mut held = Vec::new();
            move |random, cycle, inputs| {
                // a step every eight clocks; sometimes the rows change in between
                if cycle % 8 == 0 {
                    let mut rng = Rng(random.u64() | 1);
                    let c = case(&mut rng);
                    held = ports(&c, &mut rng);
                }
                if random.chance(0.97) {
                    held.iter().for_each(|(name, value)| inputs.set(name, value.clone()));
                }
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
