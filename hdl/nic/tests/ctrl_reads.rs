//! ctrl_reads: simulation = Verilog; both sides get their own data, in order, and neither waits for ever.
mod tx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::build;
use mrnic_nic::host::ctrl_reads::CtrlReads;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

/// Words 0 and 1 of a beat: the address it was read from and the beat's number.
#[test]
fn each_side_gets_what_it_asked_for() {
    let config = build("ecp5").expect("a named build");
    let mut b = Bench::new(&CtrlReads::<64>::new(&config), "ctrl_reads");
    let mut rng = StdRng::seed_from_u64(3);
    let (mut next, mut wants, mut served) = ([0u64; 2], [VecDeque::new(), VecDeque::new()], [0u32; 2]);
    let mut port: VecDeque<(u64, u64, u64)> = VecDeque::new();
    let (mut offered, mut beat_on) = ([false; 2], false);
    for cycle in 0..20_000u64 {
        let slow = [0.0, 0.5, 0.9][(cycle / 500) as usize % 3];
        for (i, side) in ["a", "b"].into_iter().enumerate() {
            offered[i] |= !rng.random_bool(slow);
            let beats = [8, 4][i];
            b.set(&format!("{side}_desc_valid"), offered[i].into());
            b.set(&format!("{side}_desc_addr"), next[i] | (i as u64) << 40);
            b.set(&format!("{side}_desc_len"), beats * 8);
            b.set(&format!("{side}_ready"), (!rng.random_bool(slow)).into());
        }
        b.set("cr_desc_ready", (!rng.random_bool(slow)).into());
        beat_on |= !port.is_empty() && !rng.random_bool(slow);
        b.set("cr_valid", beat_on.into());
        if let Some(&(addr, at, beats)) = port.front() {
            b.set_words("cr_data", &[addr as u32, at as u32 | (addr >> 40 << 16) as u32]);
            b.set("cr_last", (at + 1 == beats).into());
        }
        assert!(!(b.high("a_valid") && b.high("b_valid")));
        for (i, side) in ["a", "b"].into_iter().enumerate() {
            if offered[i] && b.high(&format!("{side}_desc_ready")) {
                wants[i].extend((0..[8u64, 4][i]).map(|at| (next[i], at, at + 1 == [8, 4][i])));
                next[i] += 1;
                offered[i] = false;
                served[i] += 1;
            }
            if b.high(&format!("{side}_valid")) && b.dut_input(&format!("{side}_ready")) {
                let words = b.words("data");
                let want = wants[i].pop_front().expect("data that was not asked for");
                let got = (u64::from(words[0]), u64::from(words[1] & 0xFFFF), b.high("last"));
                assert_eq!((got, words[1] >> 16), (want, i as u32));
            }
        }
        let taken = beat_on && b.high("cr_ready");
        if b.high("cr_desc_valid") && b.dut_input("cr_desc_ready") {
            let beats = b.get("cr_desc_len") / 8;
            port.push_back((b.get("cr_desc_addr"), 0, beats));
        }
        if taken {
            beat_on = false;
            let front = port.front_mut().expect("a beat");
            front.1 += 1;
            if front.1 == front.2 {
                port.pop_front();
            }
        }
        b.clock();
    }
    println!("{served:?} reads");
    assert!(served.iter().all(|s| *s > 200) && served[0].abs_diff(served[1]) < served[0] / 2);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(CtrlReads::<64>::new(&build("ecp5").expect("a named build")), clock: clock, inputs: {
        reset, a_desc_valid, a_desc_addr, a_desc_len, a_ready, b_desc_valid, b_desc_addr, b_desc_len, b_ready, cr_desc_ready,
        cr_valid, cr_data, cr_last
    })
    .top("ctrl_reads")
    .cycles(3000)
    .seed(1)
    .source("a_desc_valid", "a_desc_ready", &["a_desc_addr", "a_desc_len"])
    .source("b_desc_valid", "b_desc_ready", &["b_desc_addr", "b_desc_len"])
    .source("cr_valid", "cr_ready", &["cr_data", "cr_last"])
    .sink("a_ready")
    .sink("b_ready")
    .sink("cr_desc_ready")
    .run();
}
