//! longest_srtt against a plain loop over the other paths; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::longest_srtt::LongestSrtt;
use mrnic_nic::tx::rows::PathTx;
use rx_support::{Bench, Rng};

const UP: u64 = 1;
const DOWN: u64 = 3;

#[test]
fn the_other_paths_are_looked_at_and_no_others() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("longest_srtt", LongestSrtt::new);
    let (mut rtts, mut ups, mut strands) = (0, 0, 0);
    for round in 0..3000 {
        let some = pick(&mut rng, &[5, 30, 90]);
        let except = rng.below(8) as usize;
        let paths: Vec<(u64, u64, bool, bool)> = (0..8)
            .map(|_| {
                let srtt8 = pick(&mut rng, &[0, 7, 8, 800, 807, 808, (1 << 18) - 1]);
                let state = if rng.chance(some) { UP } else { pick(&mut rng, &[0, 2, DOWN]) };
                (state, srtt8, rng.chance(some), rng.chance(some))
            })
            .collect();
        for (p, (state, srtt8, rtt_valid, busy)) in paths.iter().enumerate() {
            let mut row = Packed::random::<PathTx>(&mut rng);
            row.set("state", *state).set("srtt8", *srtt8).set("rtt_valid", (*rtt_valid).into());
            let next = (row.get("cum") + if *busy { pick(&mut rng, &[1, 255, 256]) } else { 0 }) & 0xFF_FFFF;
            row.set("next_ppsn", next);
            b.set_words(&format!("path_tx_{p}"), row.words());
        }
        b.set("except", except as u64);
        b.dut.cycles(3);
        let others = || paths.iter().enumerate().filter(|(p, _)| *p != except).map(|(_, path)| path);
        let longest = others().filter(|p| p.0 == UP).map(|p| p.1 >> 3).max().unwrap_or(0);
        let (any_rtt, any_up) = (others().any(|p| p.2), others().any(|p| p.0 == UP));
        let stranded = others().any(|p| p.0 == DOWN && p.3);
        let got = (b.get("longest"), b.get("any_rtt") == 1, b.get("any_up") == 1, b.get("stranded") == 1);
        assert_eq!(got, (longest, any_rtt, any_up, stranded), "round {round}: all but {except} of {paths:?}");
        rtts += u64::from(any_rtt);
        ups += u64::from(any_up);
        strands += u64::from(stranded);
    }
    assert!([rtts, ups, strands].iter().all(|n| (100..2900).contains(n)), "{rtts} {ups} {strands}");
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(LongestSrtt::new(), clock: clock, inputs: { except });
    for p in 0..8 {
        test = test.input_as(&format!("path_tx_{p}"), move |b| &mut b.path_tx[p], rows::path_tx);
    }
    let report = test.top("longest_srtt").cycles(1500).seed(1).run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
