//! rx_timers against a table of armed rows (R8, the timer): what is offered is due, what is due is offered; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_timers::RxTimers;
use rx_support::{Bench, Rng};

fn small() -> BuildConfig {
    BuildConfig { conns: 2, ..build("sim").unwrap() }
}

fn bench() -> Bench {
    let mut b = Bench::new("rx_timers", || RxTimers::new(&small()));
    b.reset();
    b
}

/// What the paths are: packets unacknowledged since a tick, or none.
type Table = Vec<Option<u32>>;

/// R8: unacked > 0 and now - ack_time >= ack_delay.
fn is_due(row: Option<u32>, now: u32, ack_delay: u32) -> bool {
    row.is_some_and(|since| now.wrapping_sub(since) >= ack_delay)
}

fn write(b: &mut Bench, table: &mut Table, row: usize, value: Option<u32>) {
    for (name, v) in
        [("row", row as u64), ("armed", value.is_some().into()), ("since", value.unwrap_or(7).into()), ("write", 1)]
    {
        b.set(name, v);
    }
    table[row] = value;
}

/// Clocks between the reading of a row and its offer.
const PIPELINE: usize = 4;

#[test]
fn due_rows_are_offered_in_turn_and_no_others() {
    let start = seed(1);
    // the ticks wrap in the second run
    for (run, begin) in [(0, 1000u32), (1, u32::MAX - 4000)] {
        let mut rng = Rng(start + run);
        let mut b = bench();
        let rows = small().path_rows();
        let mut table: Table = vec![None; rows];
        let mut now = begin;
        let ack_delay = 125;
        b.set("ack_delay", ack_delay.into());
        // tables and ticks of the last clocks, the youngest last
        let mut past: Vec<(Table, u32)> = Vec::new();
        // clocks without an offer since the row became due
        let mut waited = vec![0usize; rows];
        let mut offered = None;
        let mut offers = 0;
        let mut patience = 0;
        for clock in 0..30_000 {
            if rng.chance(40) {
                now = now.wrapping_add(1);
            }
            b.set("now", now.into());
            b.set("write", 0);
            b.set("taken", 0);
            past.push((table.clone(), now));
            if past.len() > PIPELINE {
                past.remove(0);
            }
            for (row, clocks) in waited.iter_mut().enumerate() {
                *clocks = if is_due(table[row], now, ack_delay) { *clocks + usize::from(offered.is_none()) } else { 0 };
                // a round reads every row; each offer in between reads what was read ahead again
                assert!(*clocks <= 2 * PIPELINE * (rows + 1), "clock {clock}: row {row} is due and not offered");
            }
            let due = (b.get("due") == 1).then(|| b.get("due_row") as usize);
            if offered.is_some() {
                assert_eq!(due, offered, "clock {clock}: an offer stands until it is taken");
            } else if let Some(row) = due {
                let was = past.iter().any(|(table, now)| is_due(table[row], *now, ack_delay));
                assert!(was, "clock {clock}: row {row} is offered, it is {:?} at {now}", table[row]);
                offers += 1;
                patience = pick(&mut rng, &[0, 0, 1, 5, 40]);
            }
            offered = due;
            match due {
                Some(row) if patience == 0 => {
                    b.set("taken", 1);
                    offered = None;
                    waited[row] = 0;
                    // mostly the row is acknowledged, sometimes it stays as it is
                    if rng.chance(80) {
                        write(&mut b, &mut table, row, None);
                    }
                }
                _ => {
                    patience -= i32::from(due.is_some());
                    if rng.chance(5) {
                        let row = pick(&mut rng, &[0, 1, 1, rows - 1, rows / 2]);
                        let age = pick(&mut rng, &[0, 0, 1, 100, 124, 125, 126, 4000]);
                        let value = rng.chance(80).then(|| now.wrapping_sub(age));
                        write(&mut b, &mut table, row, value);
                    }
                }
            }
            b.cycle();
            if due.is_some() && offered.is_none() {
                b.eval();
                assert_eq!(b.get("due"), 0, "clock {clock}: taken");
            }
        }
        assert!(offers > 200, "{offers}");
    }
}

/// All rows due at once: one offer each before the first comes again.
#[test]
fn the_scan_goes_on_behind_the_row_taken() {
    let mut b = bench();
    let rows = small().path_rows();
    let mut table: Table = vec![None; rows];
    for row in 0..rows {
        write(&mut b, &mut table, row, Some(0));
        b.cycle();
    }
    b.set("write", 0);
    b.set("now", 200);
    b.set("ack_delay", 125);
    let mut seen = Vec::new();
    for _ in 0..rows * 16 {
        let due = b.get("due");
        b.set("taken", due);
        if due == 1 {
            seen.push(b.get("due_row") as usize);
        }
        b.cycle();
    }
    assert!(seen.len() > 2 * rows);
    for pair in seen.windows(2) {
        assert_eq!(pair[1], (pair[0] + 1) % rows, "{seen:?}");
    }
}

#[test]
fn the_delay_is_kept_to_the_tick_and_reset_forgets() {
    let mut b = bench();
    let rows = small().path_rows();
    let mut table: Table = vec![None; rows];
    let ack_time = u32::MAX - 3;
    write(&mut b, &mut table, 9, Some(ack_time));
    b.set("ack_delay", 10);
    b.set("now", ack_time.wrapping_add(9).into());
    b.cycle();
    b.set("write", 0);
    b.dut.cycles(200);
    assert_eq!(b.get("due"), 0, "one tick too early");
    b.set("now", ack_time.wrapping_add(10).into());
    b.dut.cycles(200);
    assert_eq!((b.get("due"), b.get("due_row")), (1, 9));
    b.reset();
    b.dut.cycles(200);
    assert_eq!(b.get("due"), 0, "reset in the middle of an offer");
}

#[test]
fn simulation_equals_verilog() {
    let report =
        difftest!(RxTimers::new(&small()), clock: clock, inputs: { reset, now, ack_delay, write, row, armed, since, taken })
            .top("rx_timers")
            .cycles(6000)
            .seed(2)
            .limit("row", 0..=15)
            .stimulus(|random, cycle, inputs| {
                inputs.set("now", (0xFFFF_F800u32).wrapping_add(cycle as u32));
                if random.chance(0.9) {
                    inputs.set("ack_delay", 125u32);
                    let since = (inputs.get("now") as u32).wrapping_sub(random.below(300) as u32);
                    inputs.set("since", since);
                }
                inputs.set("write", random.chance(0.1));
                inputs.set("taken", random.chance(0.2));
            })
            .run();
    // rows of 24 bits, few of them used: the lower ones have moved
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
