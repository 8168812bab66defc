//! Seeds and the configuration of property tests.
//!
//! In: the environment's `MRNIC_SEED`, if set. Out: a seed that is the same in every run, printed.
use proptest::prelude::ProptestConfig;
use proptest::test_runner::RngSeed;

/// The seed of a test with random choices.
pub fn seed() -> u64 {
    let seed = std::env::var("MRNIC_SEED").map_or(1, |s| s.parse().expect("MRNIC_SEED is a number"));
    println!("MRNIC_SEED={seed}");
    seed
}

pub fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(seed()), failure_persistence: None, ..ProptestConfig::default() }
}
