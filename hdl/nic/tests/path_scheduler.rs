//! path_scheduler: simulation = Verilog, and rule S3 against a plain loop.
mod tx_support;
use mrnic_nic::tx::path_scheduler::PathScheduler;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use tx_support::Bench;

#[test]
fn simulation_equals_verilog() {
    mrnic_stimuli::path_scheduler::difftest(256).run();
}

/// S3, word for word.
fn reference(ok: u8, pipe: &[u32; 8], window: &[u32; 8], rr: usize, paths: usize) -> Option<usize> {
    let candidates = (0..paths).map(|i| (rr + i) % paths).filter(|p| ok >> p & 1 == 1);
    candidates.reduce(|a, b| if pipe[b] * window[a] < pipe[a] * window[b] { b } else { a })
}

#[test]
fn s3_least_loaded_path_leftmost_wins() {
    let mut bench = Bench::new(&PathScheduler::new(), "path_scheduler");
    let mut rng = StdRng::seed_from_u64(3);
    let mut none = 0;
    for round in 0..20_000 {
        let log2 = rng.random_range(0..4u32);
        let paths = 1usize << log2;
        let mask = ((1u32 << paths) - 1) as u8;
        let ok = rng.random::<u8>() & if round % 3 == 0 { 0xff } else { rng.random::<u8>() } & mask;
        let small = round % 2 == 0;
        let window: [u32; 8] = std::array::from_fn(|_| rng.random_range(1..=if small { 3 } else { 256 }));
        let pipe: [u32; 8] = std::array::from_fn(|_| rng.random_range(0..=if small { 3 } else { 256 }));
        let rr = rng.random_range(0..paths);
        let pack = |v: &[u32; 8]| {
            let all = v.iter().enumerate().fold(0u128, |a, (i, &x)| a | u128::from(x) << (9 * i));
            [all as u32, (all >> 32) as u32, (all >> 64) as u32]
        };
        bench.set("ok", ok.into());
        bench.set_words("pipe", &pack(&pipe));
        bench.set_words("window", &pack(&window));
        bench.set("rr", rr as u64);
        bench.set("paths_log2", log2.into());
        bench.set("start", 1);
        bench.clock();
        bench.set("start", 0);
        bench.clock();
        assert!(!bench.high("valid"));
        bench.clock();
        assert!(bench.high("valid"), "three clocks after start");
        let want = reference(ok, &pipe, &window, rr, paths);
        let got = bench.high("found").then(|| bench.get("path") as usize);
        assert_eq!(got, want, "round {round}: ok {ok:08b} pipe {pipe:?} window {window:?} rr {rr} paths {paths}");
        none += usize::from(want.is_none());
        if round % 5 == 0 {
            bench.clock();
            assert!(!bench.high("valid"));
            assert_eq!(bench.high("found").then(|| bench.get("path") as usize), want, "the result stays");
        }
    }
    assert!(none > 100);
}
