//! path_duel against exact fractions (S3): the lesser pipe/window, then the earlier in order; without `enable` the result stays; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::path_scheduler::PathDuel;
use rx_support::{Bench, Rng};

const FIELDS: [&str; 5] = ["ok", "order", "path", "pipe", "window"];

#[test]
fn the_less_loaded_path_wins_and_the_earlier_one_a_tie() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("path_duel", PathDuel::default);
    let mut ties = 0;
    for round in 0..8000 {
        let side = |rng: &mut Rng, order: u64| {
            let window = pick(rng, &[1, 2, 3, 4, 128, 255, 256]);
            [u64::from(rng.chance(80)), order, rng.below(8), pick(rng, &[0, 1, 2, window - 1, window / 2, 255, 256]), window]
        };
        // two places of the order are never the same
        let (first, step) = (rng.below(8), 1 + rng.below(7));
        let (a, c) = (side(&mut rng, first), side(&mut rng, (first + step) % 8));
        for (n, field) in FIELDS.iter().enumerate() {
            b.set(&format!("a_{field}"), a[n]);
            b.set(&format!("b_{field}"), c[n]);
        }
        let earlier = FIELDS.map(|field| b.get(field));
        b.set("enable", 0);
        b.cycle();
        assert_eq!(FIELDS.map(|field| b.get(field)), earlier, "round {round}: it stays");
        b.set("enable", 1);
        b.cycle();
        let before = |x: &[u64; 5], y: &[u64; 5]| match (x[3] * y[4]).cmp(&(y[3] * x[4])) {
            std::cmp::Ordering::Equal => x[1] < y[1],
            other => other.is_lt(),
        };
        let got = FIELDS.map(|field| b.get(field));
        if a[0] + c[0] == 0 {
            assert_eq!(got[0], 0, "round {round}");
            continue;
        }
        let b_wins = c[0] == 1 && (a[0] == 0 || before(&c, &a));
        assert_eq!(got, if b_wins { c } else { a }, "round {round}: {a:?} {c:?}");
        ties += u64::from(a[0] + c[0] == 2 && a[3] * c[4] == c[3] * a[4]);
    }
    assert!(ties > 200, "{ties}");
    b.set("a_ok", 1);
    b.cycle();
    assert_eq!(b.get("ok"), 1);
    b.set("reset", 1);
    b.cycle();
    assert_eq!(b.get("ok"), 0, "reset clears it");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(PathDuel::default(), clock: clock, inputs: {
        reset, enable, a_ok, a_order, a_path, a_pipe, a_window, b_ok, b_order, b_path, b_pipe, b_window
    })
    .top("path_duel")
    .cycles(3000)
    .seed(1)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
