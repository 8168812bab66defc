//! watch: the lowest path that is UP watches over awaited responses (D8); simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::rows::PathTx;
use mrnic_nic::tx::watch::Watch;
use rx_support::{Bench, Rng};

/// The lowest path that is UP watches, and nobody does while nothing is awaited, or in a build without READ.
#[test]
fn d8_the_lowest_path_that_is_up_watches() {
    let mut rng = Rng(seed(2));
    for has_reads in [true, false] {
        let mut b = Bench::new("watch", || Watch::new(has_reads));
        let mut counts = [0; 2];
        for _ in 0..2000 {
            let states: Vec<u64> = (0..8).map(|_| pick(&mut rng, &[0, 1, 2, 3, 2, 3])).collect();
            for (p, state) in states.iter().enumerate() {
                let mut path = Packed::random::<PathTx>(&mut rng);
                path.set("state", *state);
                b.set_words(&format!("path_tx_{p}"), path.words());
            }
            let (path, awaited, alive) = (rng.below(8), rng.below(2), rng.below(1 << 32));
            for (name, value) in [("path", path), ("awaited", awaited), ("alive", alive), ("load", 1)] {
                b.set(name, value);
            }
            b.cycle();
            b.set("load", 0);
            b.set("awaited", rng.below(2));
            b.set("alive", rng.below(1 << 32));
            b.cycle();
            let lowest = states.iter().position(|s| *s == 1);
            let watches = has_reads && awaited == 1 && lowest == Some(path as usize);
            let other = (0..8).find(|p| *p != path as usize && states[*p] == 1);
            assert_eq!(b.get("watches"), u64::from(watches), "{states:?}, path {path}");
            assert_eq!((b.get("any_other") == 1).then(|| b.get("other") as usize), other);
            assert_eq!((b.get("awaits"), b.get("seen_alive")), (u64::from(has_reads && awaited == 1), alive));
            counts[usize::from(watches)] += 1;
        }
        assert!(counts[0] > 100 && (counts[1] > 100) == has_reads, "{counts:?}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(Watch::new(true), clock: clock, inputs: { path, load, awaited, alive });
    for p in 0..8 {
        test = test.input_as(&format!("path_tx_{p}"), move |b| &mut b.path_tx[p], rows::path_tx);
    }
    let report = test.top("watch").cycles(1500).seed(1).run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
