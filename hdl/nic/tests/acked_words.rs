//! acked_words against a sorted set of PPSNs: each packet once, ascending from cum, none empty; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{of_window, pick, seed, WINDOWS};
use mrnic_difftest::difftest;
use mrnic_nic::tx::acked_words::AckedWords;
use rx_support::{Bench, Rng};

fn put(b: &mut Bench, pairs: usize, conn: u64, path: u64, cum: u64, words: &[u64; 4]) {
    for second in 0..pairs {
        for (name, value) in
            [("put_valid", 1), ("put_second", second as u64), ("put_conn", conn), ("put_path", path), ("put_cum", cum)]
        {
            b.set(name, value);
        }
        b.set("put_even", words[2 * second]);
        b.set("put_odd", words[2 * second + 1]);
        b.eval();
        assert_eq!(b.get("acked_valid"), 0, "nothing leaves before both pairs are in");
        b.cycle();
    }
    b.set("put_valid", 0);
}

#[test]
fn packets_leave_once_and_in_order_of_ppsn() {
    for window in WINDOWS {
        packets_leave_with(window);
    }
}

fn packets_leave_with(window: u64) {
    let words_most = window as usize / 64 + 1;
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("acked_words", move || AckedWords::new(&of_window(window)));
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    let (mut split, mut held) = (0, 0);
    for round in 0..2500 {
        let (conn, path) = (rng.next() & 0xFFFF, rng.below(8));
        let cum = pick(&mut rng, &[0, 1, 63, 64, 65, 200, 255, 0xFF_FFFF, 0xFF_FF01, 0xFF_FFC0, 0x12_3456]);
        let density = pick(&mut rng, &[0, 1, 50, 100]);
        // bit = PPSN mod W, over the W packets from cum on
        let newly: Vec<u64> = (0..window).filter(|_| rng.chance(density)).map(|offset| (cum + offset) & 0xFF_FFFF).collect();
        let mut words = [0u64; 4];
        for ppsn in &newly {
            words[(ppsn % window / 64) as usize] |= 1 << (ppsn % 64);
        }
        assert_eq!(b.get("busy"), 0, "round {round}");
        put(&mut b, words_most / 2, conn, path, cum, &words);
        let pace = pick(&mut rng, &[100, 100, 30]);
        let resets = rng.below(100) == 0;
        let mut got = Vec::new();
        let mut bases = Vec::new();
        for clock in 0.. {
            let ready = rng.chance(pace);
            b.set("acked_ready", ready.into());
            b.eval();
            if b.get("acked_valid") == 0 {
                assert_eq!(b.get("busy"), 0, "round {round}");
                break;
            }
            assert!(b.get("busy") == 1 && clock < 200, "round {round}");
            let (base, mask) = (b.get("acked_base_ppsn"), b.get("acked_mask"));
            assert!(mask != 0 && base % 64 == 0, "round {round}");
            assert_eq!((b.get("acked_conn"), b.get("acked_path")), (conn, path), "round {round}");
            if resets && clock == 1 {
                b.set("reset", 1);
                b.cycle();
                b.set("reset", 0);
                b.eval();
                assert_eq!((b.get("busy"), b.get("acked_valid")), (0, 0), "round {round}: reset forgets what is left");
                break;
            }
            if ready {
                got.extend((0..64).filter(|bit| mask >> bit & 1 == 1).map(|bit| (base + bit) & 0xFF_FFFF));
                bases.push(base % 256);
            } else {
                held += 1;
            }
            b.cycle();
        }
        if !resets {
            assert_eq!(got, newly, "round {round}: cum {cum:x}");
            assert!(bases.len() <= words_most, "round {round}: {} words", bases.len());
            split += u64::from(bases.len() == words_most);
        }
    }
    assert!(split > 100 && held > 500, "{split} {held}");
}

#[test]
fn simulation_equals_verilog() {
    for window in WINDOWS {
        simulation_equals_verilog_with(window);
    }
}

fn simulation_equals_verilog_with(window: u64) {
    let report = difftest!(AckedWords::new(&of_window(window)), clock: clock, inputs: {
        reset, put_valid, put_second, put_even, put_odd, put_conn, put_path, put_cum, acked_ready
    })
    .top("acked_words")
    .cycles(4000)
    .seed(4)
    .sink("acked_ready")
    .stimulus(move |_, cycle, inputs| {
        let slot = cycle % 10;
        inputs.set("put_valid", u32::from(slot < window.div_ceil(128)));
        inputs.set("put_second", u32::from(slot == 1));
        if slot != 0 {
            for held in ["put_conn", "put_path", "put_cum"] {
                inputs.hold(held);
            }
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
