//! timer_check against section 8 of docs/protocol.md on unbounded ticks (L3, L4, tail, rto), and its deadline: nothing is
//! due before it; simulation = Verilog.
mod block_support;
mod rx_support;
mod timer_support;

use block_support::{rows, seed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::timer_check::TimerCheck;
use rx_support::{Bench, Rng};
use timer_support::{active, case, looks, ports, reference, Case, UP};

#[test]
fn actions_and_deadlines_are_those_of_section_8() {
    let mut rng = Rng(seed(3));
    let mut b = Bench::new("timer_check", TimerCheck::new);
    let (mut counts, mut watched) = ([0; 11], 0);
    for round in 0..15_000 {
        let c = case(&mut rng);
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        // known from clock 3 on only
        b.set("other_up", rng.below(2));
        b.set("stranded", rng.below(2));
        b.dut.cycles(2);
        b.set("other_up", c.other_up.into());
        b.set("stranded", c.stranded.into());
        b.dut.cycles(5);
        let (action, after) = reference(&c);
        assert_eq!(b.get("action"), action, "round {round}: {c:?}");
        let timeout = (2..9).contains(&action);
        assert_eq!(b.get("timeout"), u64::from(timeout), "round {round}: {c:?}");
        assert_eq!(b.get("active"), u64::from(active(&c)), "round {round}: {c:?}");
        if timeout {
            assert_eq!(b.get("backoff"), after.backoff, "round {round}: {c:?}");
        }
        let cuts = timeout && (c.next != c.cum || after.backoff >= 2);
        assert_eq!(b.get("cuts"), u64::from(cuts), "round {round}: {c:?}");
        watched += u64::from(action == 2 && !cuts);
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
    assert!(counts.iter().all(|n| *n > 50) && watched > 50, "{counts:?} {watched}");
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
        stranded: false,
        watching: false,
        alive: 0,
        state: UP,
        pipe: 1,
        next: 0,
        cum: 0xFF_FFFF,
        srtt8: 800,
        var4: 40,
        rtt_valid: true,
        longest: 100,
        backoff: 0,
        tries: 0,
        probe_pending: false,
        probe_time: 0,
        t_base: (1 << 32) - 60,
        last_send: 0,
        rto_min: 782,
        now: 0,
    };
    // tail = 100 + 25; rto = max(340, 782) << backoff; a tick counter that wraps in between
    for (idle, backoff, action) in
        [(124, 0, 0), (125, 0, 1), (781, 0, 1), (782, 0, 2), (1563, 1, 0), (1564, 1, 7), (50_047, 6, 0), (50_048, 6, 7)]
    {
        // sent just now: progress alone decides
        let now = path.t_base + idle;
        let c = Case { now, last_send: now, backoff, ..path.clone() };
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        b.dut.cycles(7);
        assert_eq!(b.get("action"), action, "idle {idle} backoff {backoff}");
    }
    // L3 counts from the last packet too: progress goes on, but that packet's acknowledgment is due
    for (since, action) in [(124, 0), (125, 1), (0xFFFF, 1), (0x1_007C, 0)] {
        let now = path.t_base + 30;
        let c = Case { now, last_send: now - since, ..path.clone() };
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        b.dut.cycles(7);
        assert_eq!(b.get("action"), action, "sent {since} ticks ago");
    }
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(TimerCheck::new(), clock: clock, inputs: { now, rto_min, other_up, stranded, watching, alive })
        .input_as("path", |b| &mut b.path, rows::path_tx)
        .input_as("row", |b| &mut b.row, rows::path_ack)
        .input_as("cfg", |b| &mut b.cfg, rows::conn_cfg)
        .input_as("conn", |b| &mut b.conn, rows::conn_ack)
        .top("timer_check")
        .cycles(3000)
        .seed(3)
        .stimulus(looks(8))
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
