//! path_tracker against a set of received numbers (R2, R5); fault 2; simulation = Verilog.
mod rx_support;

use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::path_tracker::{PathTracker, CLASS_DUPLICATE, CLASS_NEW, CLASS_OUT_OF_WINDOW};
use rx_support::{Bench, Rng};
use std::collections::BTreeSet;

/// Reference: positions since the start, without any wrap.
struct Path {
    start: u64,
    cum: u64,
    high: u64,
    received: BTreeSet<u64>,
}

/// The build with W = `window`.
fn of_window(window: u64) -> BuildConfig {
    BuildConfig { window_bits: window as usize, ..build("sim").unwrap() }
}

fn bench(window: u64) -> Bench {
    let mut b = Bench::new("path_tracker", move || PathTracker::new(&of_window(window)));
    b.reset();
    b
}

fn pulse(b: &mut Bench, name: &str) {
    b.set(name, 1);
    b.cycle();
    b.set(name, 0);
}

fn open(b: &mut Bench, row: u64, start: u64) {
    b.set("row", row);
    b.set("ppsn", start & 0xFF_FFFF);
    pulse(b, "clear");
}

/// Presents a number; returns the class and the clocks the step took.
fn present(b: &mut Bench, row: u64, ppsn: u64) -> (u64, u64) {
    b.set("row", row);
    b.set("ppsn", ppsn & 0xFF_FFFF);
    pulse(b, "start");
    b.dut.cycles(2);
    let class = b.get("verdict");
    let mut clocks = 3;
    if class == CLASS_NEW {
        pulse(b, "take");
        clocks += 1;
        while b.get("busy") == 1 {
            b.cycle();
            clocks += 1;
        }
        // the row is being written; the next step starts one clock later
        b.cycle();
    }
    (class, clocks)
}

/// The vector as the reference sees it: each number at its place modulo W.
fn vector(p: &Path, window: u64) -> Vec<u32> {
    let mut words = vec![0u32; 8];
    for n in p.received.range(p.cum + 1..p.cum + window).map(|n| (p.start + n) % window) {
        words[n as usize / 32] |= 1 << (n % 32);
    }
    words
}

#[test]
fn classes_advance_and_vector_are_those_of_a_set() {
    let cases = [(1, 1, 0u64), (2, 8, 0xFF_FF00), (3, 120, 0xFF_FFFF), (4, 255, 0x7F_FFF0), (5, 255, 77)];
    let narrow = [(6, 8, 64, 0xFF_FFD9u64), (7, 63, 64, 0x7F_FFF0), (8, 60, 128, 0xFF_FF85), (9, 127, 128, 77)];
    for (seed, spread, window, start) in cases.map(|(seed, spread, start)| (seed, spread, 256, start)).into_iter().chain(narrow)
    {
        println!("seed {seed}");
        let mut b = bench(window);
        let mut rng = Rng(seed);
        let mut paths: Vec<Path> =
            (0..3).map(|i| Path { start: start + i, cum: 0, high: u64::MAX, received: BTreeSet::new() }).collect();
        for (row, p) in paths.iter().enumerate() {
            open(&mut b, row as u64 * 21, p.start);
        }
        for _ in 0..3000 {
            let row = rng.below(3);
            let p = &mut paths[row as usize];
            // mostly inside the window, sometimes the hole itself, sometimes behind or far ahead
            let n = match rng.below(12) {
                0 => p.cum.saturating_sub(rng.below(300)),
                1 => p.cum + window - 6 + rng.below(20),
                2 => p.cum + rng.below(1 << 22),
                3..=6 => p.cum,
                _ => p.cum + rng.below(spread),
            };
            let want = if n < p.cum || p.received.contains(&n) {
                CLASS_DUPLICATE
            } else if n - p.cum >= window {
                CLASS_OUT_OF_WINDOW
            } else {
                CLASS_NEW
            };
            let (class, _) = present(&mut b, row * 21, p.start + n);
            assert_eq!(class, want, "class of {n} at cum {}", p.cum);
            let in_order = n == p.high.wrapping_add(1);
            if want == CLASS_NEW {
                assert_eq!(b.get("in_order") == 1, in_order);
                p.received.insert(n);
                if p.high == u64::MAX || n > p.high {
                    p.high = n;
                }
                while p.received.contains(&p.cum) {
                    p.cum += 1;
                }
                p.received = p.received.split_off(&p.cum);
            }
            let wrap = |v: u64| v & 0xFF_FFFF;
            assert_eq!(b.get("cum"), wrap(p.start + p.cum));
            assert_eq!(b.get("high"), wrap((p.start + p.high.wrapping_add(1)).wrapping_sub(1)));
            assert_eq!(b.get_words("vector"), vector(p, window), "vector at cum {}", p.cum);
        }
    }
}

#[test]
fn a_full_window_advances_at_once_and_opening_forgets() {
    let mut b = bench(256);
    open(&mut b, 5, 0xFF_FFC0);
    for n in (1..256).rev() {
        assert_eq!(present(&mut b, 5, 0xFF_FFC0 + n).0, CLASS_NEW);
    }
    let mut all = vec![u32::MAX; 8];
    all[6] -= 1;
    assert_eq!(b.get_words("vector"), all);
    let (class, clocks) = present(&mut b, 5, 0xFF_FFC0);
    println!("{clocks} clocks to pass 256 numbers");
    assert_eq!((class, b.get("cum")), (CLASS_NEW, 0xC0));
    assert!(clocks <= 4 + 5 * 3);
    assert_eq!(b.get_words("vector"), vec![0; 8]);
    present(&mut b, 5, 0xC5);
    open(&mut b, 5, 9);
    assert_eq!(present(&mut b, 5, 9).0, CLASS_NEW);
    assert_eq!((b.get("cum"), b.get_words("vector")), (10, vec![0; 8]));
}

/// The same with W = 64: one word, whose low bits are the far end of the window.
#[test]
fn a_full_narrow_window_advances_at_once() {
    let mut b = bench(64);
    open(&mut b, 5, 0xFF_FFE9);
    for n in (1..64).rev() {
        assert_eq!(present(&mut b, 5, 0xFF_FFE9 + n).0, CLASS_NEW);
    }
    // R2: 64 is out of window, a copy is a copy
    assert_eq!(present(&mut b, 5, 0xFF_FFE9 + 64).0, CLASS_OUT_OF_WINDOW);
    assert_eq!(present(&mut b, 5, 0xFF_FFE9 + 63).0, CLASS_DUPLICATE);
    assert_eq!(b.get_words("vector"), vec![u32::MAX, u32::MAX - (1 << 9), 0, 0, 0, 0, 0, 0]);
    let (class, clocks) = present(&mut b, 5, 0xFF_FFE9);
    assert_eq!((class, b.get("cum")), (CLASS_NEW, 0x29));
    assert!(clocks <= 4 + 2 * 3, "{clocks}");
    assert_eq!(b.get_words("vector"), vec![0; 8]);
}

#[test]
fn fault_2_passes_one_hole() {
    for (fault, cum) in [(0, 1), (2, 2)] {
        let mut b = bench(256);
        b.set("fault", fault);
        open(&mut b, 0, 0);
        present(&mut b, 0, 2);
        present(&mut b, 0, 0);
        assert_eq!(b.get("cum"), cum);
    }
}

#[test]
fn simulation_equals_verilog() {
    for window in [256, 128, 64] {
        simulation_equals_verilog_with(window);
    }
}

fn simulation_equals_verilog_with(window: u64) {
    mrnic_stimuli::path_tracker::difftest(window).run();
}
