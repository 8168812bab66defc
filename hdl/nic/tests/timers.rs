//! timers against a table of deadlines: what is offered is due, what is due is offered within a scan; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::timers::Timers;
use rx_support::{Bench, Rng};

fn small() -> BuildConfig {
    BuildConfig { conns: 2, ..build("sim").unwrap() }
}

fn bench() -> Bench {
    let mut b = Bench::new("timers", || Timers::new(&small()));
    b.reset();
    b
}

/// The deadline of each path row, if its timer runs.
type Table = Vec<Option<u32>>;

/// Serial order: a deadline ahead of `now` is less than 2^31 ticks away.
fn is_due(row: Option<u32>, now: u32) -> bool {
    row.is_some_and(|deadline| now.wrapping_sub(deadline) < 1 << 31)
}

fn set(b: &mut Bench, table: &mut Table, row: usize, value: Option<u32>) {
    b.set("set_valid", 1);
    b.set("set_row", row as u64);
    b.set("set_active", value.is_some().into());
    b.set("set_deadline", value.unwrap_or(3).into());
    table[row] = value;
}

/// Clocks between the reading of a row and its offer.
const PIPELINE: usize = 4;

#[test]
fn due_timers_are_offered_and_no_others() {
    let start = seed(1);
    for (run, begin) in [(0, 1000u32), (1, u32::MAX - 3000)] {
        let mut rng = Rng(start + run);
        let mut b = bench();
        let rows = small().path_rows();
        let mut table: Table = vec![None; rows];
        let mut now = begin;
        // tables and ticks of the last clocks, the youngest last
        let mut past: Vec<(Table, u32)> = Vec::new();
        // clocks since the row became due, without those of a waiting offer; offers of other rows in that time
        let mut waited = vec![0usize; rows];
        let mut others = vec![0usize; rows];
        let mut offered = None;
        let (mut offers, mut ready_chance) = (0, 100);
        for clock in 0..20_000 {
            if clock % 200 == 0 {
                ready_chance = pick(&mut rng, &[100, 100, 50, 5]);
            }
            now = now.wrapping_add(rng.below(2) as u32);
            b.set("now", now.into());
            b.set("set_valid", 0);
            past.push((table.clone(), now));
            if past.len() > PIPELINE {
                past.remove(0);
            }
            let offer = (b.get("offer_valid") == 1).then(|| b.get("offer_row") as usize);
            if offered.is_some() {
                assert_eq!(offer, offered, "clock {clock}: an offer stands until it is taken");
            } else if let Some(row) = offer {
                let was = past.iter().any(|(table, now)| is_due(table[row], *now));
                assert!(was, "clock {clock}: row {row} is offered, it is {:?} at {now}", table[row]);
                offers += 1;
                others.iter_mut().for_each(|n| *n += 1);
            }
            for row in 0..rows {
                if !is_due(table[row], now) || offer == Some(row) {
                    (waited[row], others[row]) = (0, 0);
                } else {
                    waited[row] += usize::from(offer.is_none());
                }
                // one scan and two clocks; what was read ahead of an offer is read again
                let most = rows + 2 + PIPELINE + others[row] * PIPELINE;
                assert!(waited[row] <= most && others[row] <= rows, "clock {clock}: row {row} is due and not offered");
            }
            let ready = rng.chance(ready_chance);
            b.set("offer_ready", ready.into());
            match offer.filter(|_| ready) {
                // the sequencer looks at the row and sets it again
                Some(row) => {
                    let ahead = pick(&mut rng, &[16, 40, 300, 5000]);
                    let value = rng.chance(80).then(|| now.wrapping_add(ahead));
                    set(&mut b, &mut table, row, value);
                    offered = None;
                }
                None => {
                    offered = offer;
                    if rng.chance(5) {
                        let row = pick(&mut rng, &[0, 1, 1, rows - 1, rows / 2]);
                        let ahead = pick(&mut rng, &[u32::MAX, 0, 1, 16, 100, (1 << 31) - 1]);
                        let value = rng.chance(80).then(|| now.wrapping_add(ahead));
                        set(&mut b, &mut table, row, value);
                    }
                }
            }
            b.cycle();
        }
        assert!(offers > 200, "{offers}");
    }
}

#[test]
fn a_deadline_is_kept_to_the_tick_and_reset_forgets() {
    let mut b = bench();
    let mut table: Table = vec![None; small().path_rows()];
    let deadline = 2u32;
    b.set("now", (deadline.wrapping_sub(1)).into());
    set(&mut b, &mut table, 15, Some(deadline));
    b.cycle();
    b.set("set_valid", 0);
    b.dut.cycles(100);
    assert_eq!(b.get("offer_valid"), 0, "one tick too early");
    b.set("now", u32::MAX.into());
    b.dut.cycles(100);
    assert_eq!(b.get("offer_valid"), 0, "before the ticks wrap");
    b.set("now", deadline.into());
    b.dut.cycles(100);
    assert_eq!((b.get("offer_valid"), b.get("offer_row")), (1, 15));
    b.reset();
    b.dut.cycles(100);
    assert_eq!(b.get("offer_valid"), 0, "reset in the middle of an offer");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(Timers::new(&small()), clock: clock, inputs: {
        reset, now, set_valid, set_row, set_active, set_deadline, offer_ready
    })
    .top("timers")
    .cycles(5000)
    .seed(5)
    .reset_chance(0.0005)
    .limit("set_row", 0..=15)
    .sink("offer_ready")
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
