//! event_counters against 32 numbers; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::seed;
use mrnic_difftest::difftest;
use mrnic_nic::control::event_counters::{EventCounters, COUNTERS};
use rx_support::{Bench, Rng};

/// A reader waits so long at most: for a row that is being written, then for its own.
const WAIT_MAX: u64 = 3;
/// The same while the rows are cleared.
const CLEAR_MAX: u64 = COUNTERS as u64 + WAIT_MAX;

fn bench() -> Bench {
    let mut b = Bench::new("event_counters", EventCounters::new);
    reset(&mut b);
    b
}

fn reset(b: &mut Bench) {
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
}

/// One clock with these events; the counter that is read, if it is answered in this clock.
fn step(b: &mut Bench, counts: &mut [u32; COUNTERS], events: u64, want: Option<u64>) -> bool {
    b.set("events", events);
    b.set("want", want.is_some().into());
    b.set("want_index", want.unwrap_or(0));
    b.eval();
    let answered = b.get("valid") == 1;
    if let (true, Some(index)) = (answered, want) {
        assert_eq!(b.get("value"), u64::from(counts[index as usize]), "counter {index}");
    }
    b.cycle();
    for (k, count) in counts.iter_mut().enumerate() {
        *count += (events >> k & 1) as u32;
    }
    answered
}

#[test]
fn a_reader_gets_every_event_up_to_the_clock_before() {
    let start = seed(1);
    for (round, one_in) in [1u64, 4, 16, 64].into_iter().enumerate() {
        let mut rng = Rng(start + round as u64);
        let mut b = bench();
        let mut counts = [0; COUNTERS];
        let (mut want, mut since, mut read) = (None, 0, 0);
        for clock in 0..4000u64 {
            if want.is_none() && rng.below(4) < 3 {
                // the same counter again and its neighbours: rows that are being written
                want = Some(if rng.below(2) == 0 { rng.below(COUNTERS as u64) } else { clock % 3 });
                since = clock;
            }
            let events = (0..COUNTERS).fold(0, |bits, k| bits | u64::from(rng.below(one_in) == 0) << k);
            let answered = step(&mut b, &mut counts, events, want);
            let limit = if since < CLEAR_MAX { CLEAR_MAX } else { WAIT_MAX };
            assert!(want.is_none() || clock - since <= limit, "seed {start}: a reader waits {} clocks", clock - since);
            assert!(want.is_some() || !answered, "nobody asked");
            if answered {
                want = None;
                read += 1;
            }
        }
        assert!(read > 800, "{read}");
    }
}

/// A reader that never stops leaves room for the others, all of which count in every clock.
#[test]
fn nothing_is_lost_while_counters_are_read_all_the_time() {
    // the same one, one after the other in the order of the turns, and two in turn
    let orders: [fn(u64) -> u64; 3] = [|_| 0, |n| n % COUNTERS as u64, |n| 7 + n % 2];
    for order in orders {
        let mut b = bench();
        let mut counts = [0; COUNTERS];
        let mut read = 0;
        for _ in 0..2000 {
            read += u64::from(step(&mut b, &mut counts, u64::from(u32::MAX), Some(order(read))));
        }
        for index in 0..COUNTERS as u64 {
            while !step(&mut b, &mut counts, 0, Some(index)) {}
        }
        assert_eq!(counts, [2000; COUNTERS]);
        assert!(read > 600, "{read}");
    }
}

#[test]
fn reset_clears_what_waits_and_what_is_in_the_rows() {
    let mut b = bench();
    let mut counts = [0; COUNTERS];
    for _ in 0..100 {
        step(&mut b, &mut counts, u64::from(u32::MAX), None);
    }
    b.set("events", 0);
    reset(&mut b);
    counts = [0; COUNTERS];
    for index in 0..COUNTERS as u64 {
        while !step(&mut b, &mut counts, 0x8000_0001, Some(index)) {}
    }
    assert!(counts[31] > 32 && counts[1] == 0);
}

#[test]
fn carries_reach_the_upper_bits() {
    // beyond 16 bits, through many visits
    let mut b = bench();
    let mut counts = [0; COUNTERS];
    for _ in 0..70_000 {
        step(&mut b, &mut counts, 1 << 7, None);
    }
    while !step(&mut b, &mut counts, 0, Some(7)) {}
    assert_eq!(counts[7], 70_000);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(EventCounters::new(), clock: clock, inputs: { reset, events, want, want_index })
        .top("event_counters")
        .cycles(2000)
        .seed(seed(2))
        .stimulus(|random, _, inputs| {
            if random.chance(0.99) {
                inputs.set("reset", 0u32);
            }
        })
        .run();
}
