//! ack_unpack against sets of PPSNs: the vector at absolute positions, order, pace; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{of_window, pick, rows, seed, Packed, WINDOWS};
use mrnic_difftest::difftest;
use mrnic_nic::tx::ack_unpack::AckUnpack;
use mrnic_nic::tx::rows::AckFields;
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

/// An acknowledgment: its fields, and bit i of the vector.
#[derive(Clone)]
struct Frame {
    fields: Packed,
    sav: Vec<bool>,
}

fn frame(rng: &mut Rng, window: u64) -> Frame {
    let mut fields = Packed::random::<AckFields>(rng);
    let cum = pick(rng, &[0, 1, 62, 63, 64, 127, 255, 0xFF_FFFF, 0xFF_FFFE, 0xFF_FF00, 0x12_3456]);
    fields.set("cum", cum);
    // a vector wider than W is refused (A1)
    let wide = window == 256 || rng.chance(20);
    let bits = if wide { 256 } else { window - 1 };
    let one = rng.below(bits) as usize;
    let density = pick(rng, &[0, 2, 50, 100]);
    let mut sav: Vec<bool> = (0..256).map(|i| rng.chance(density) && i < bits).collect();
    sav[one] |= density == 0 && rng.chance(70);
    Frame { fields, sav }
}

fn words(bits: &[bool]) -> Vec<u32> {
    bits.chunks(32).map(|c| c.iter().enumerate().map(|(i, b)| u32::from(*b) << i).sum()).collect()
}

/// Compares what is offered with the frame it must be.
fn check(b: &mut Bench, want: &Frame, clock: u64, window: u64) {
    assert_eq!(b.get_words("out"), want.fields.words(), "clock {clock}: {:?}", want.fields);
    let cum = want.fields.get("cum");
    // bit i: PPSN cum + 1 + i; it stands at PPSN mod W
    let mut positions = [0u64; 4];
    for i in (0..256u64).filter(|i| want.sav[*i as usize]) {
        let ppsn = (cum + 1 + i) % (1 << 24) % window;
        positions[ppsn as usize / 64] |= 1 << (ppsn % 64);
    }
    let words_count = window as usize / 64;
    let fits = !want.sav[window as usize - 1..].contains(&true) || window == 256;
    for (w, word) in positions.iter().enumerate().filter(|(w, _)| *w >= words_count || fits) {
        assert_eq!(b.get(&format!("out_word_{w}")), *word, "clock {clock}: word {w} of the vector after {cum:x}");
    }
    // high - cum: 1 + the highest bit, -1 for an empty vector
    let high = want.sav.iter().rposition(|bit| *bit).map_or(0x3FF, |bit| bit as u64 + 1);
    assert_eq!((b.get("out_high"), b.get("out_any")), (high, u64::from(want.sav.contains(&true))), "clock {clock}");
}

#[test]
fn vectors_come_out_in_order_at_their_positions() {
    for window in WINDOWS {
        vectors_come_out_with(window);
    }
}

fn vectors_come_out_with(window: u64) {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("ack_unpack", move || AckUnpack::new(&of_window(window)));
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
    let mut inside: VecDeque<Frame> = VecDeque::new();
    let mut waiting = frame(&mut rng, window);
    let (mut valid, mut in_chance, mut out_chance) = (false, 50, 50);
    let (mut taken, mut blocked, mut since) = (0u64, 0u64, 0);
    for clock in 0..20_000 {
        if clock % 100 == 0 {
            (in_chance, out_chance) = (pick(&mut rng, &[5, 50, 100, 100]), pick(&mut rng, &[0, 5, 50, 100, 100]));
            since = 0;
        }
        let resets = rng.below(1500) == 0;
        // valid and payload stay until ready
        valid |= rng.chance(in_chance);
        b.set("ack_valid", valid.into());
        b.set_words("ack", waiting.fields.words());
        b.set_words("ack_sav", &words(&waiting.sav));
        b.set("reset", resets.into());
        b.eval();
        let offered = b.get("out_valid") == 1;
        if offered {
            check(&mut b, inside.front().unwrap_or_else(|| panic!("clock {clock}: something from nothing")), clock, window);
        }
        // the one behind it is named early
        let behind = b.get("behind_valid") == 1;
        if behind {
            let fields = &inside[usize::from(offered)].fields;
            assert_eq!((b.get("behind_conn"), b.get("behind_home")), (fields.get("conn"), fields.get("home")), "clock {clock}");
        }
        let take = offered && rng.chance(out_chance);
        b.set("take", take.into());
        b.eval();
        let accepted = valid && b.get("ack_ready") == 1;
        blocked += u64::from(valid && !accepted);
        b.cycle();
        if take && behind && !resets {
            b.eval();
            assert_eq!(b.get("out_valid"), 1, "clock {clock}: the one behind does not follow at once");
        }
        if accepted {
            inside.push_back(std::mem::replace(&mut waiting, frame(&mut rng, window)));
            valid = false;
        }
        if take {
            inside.pop_front();
            taken += 1;
        }
        since = if take { 0 } else { since + 1 };
        if in_chance == 100 && out_chance == 100 && clock % 100 > 20 {
            assert!(since <= 8, "clock {clock}: nothing for {since} clocks");
        }
        if resets {
            inside.clear();
            valid = false;
            since = 0;
        }
        assert!(inside.len() <= 2, "clock {clock}");
    }
    assert!(taken > 1000 && blocked > 1000, "{taken} {blocked}");
}

#[test]
fn simulation_equals_verilog() {
    for window in WINDOWS {
        simulation_equals_verilog_with(window);
    }
}

fn simulation_equals_verilog_with(window: u64) {
    let report = difftest!(AckUnpack::new(&of_window(window)), clock: clock, inputs: { reset, ack_valid, ack_sav, take })
        .input_as("ack", |b| &mut b.ack, rows::ack_fields)
        .top("ack_unpack")
        .cycles(2000)
        .seed(1)
        .source("ack_valid", "ack_ready", &["ack", "ack_sav"])
        .sink("take")
        .run();
    // words that this window does not have stay 0
    assert!(window < 256 || report.stuck().is_empty(), "{:?}", report.stuck());
}
