//! Goodput under loss, relative to the lossless run of the same set-up.

use crate::fabric::FabricConfig;
use crate::pair::{seed, write, Pair, Setup};
use mrnic_model::{OpenMr0, Profile};

/// Ticks to complete 4 MiB over `paths` planes.
pub fn transfer_ticks<P: Profile>(paths: u8, fabric: FabricConfig, seed: u64) -> u64 {
    let bytes = 4 << 20;
    let setup = Setup { paths, bytes, fabric, seed, ..Setup::default() };
    let mut pair = Pair::<P>::new(&setup);
    pair.post(0, 0, write(1, 0, 0, bytes as u32));
    let ticks = pair.run_until_cqes(0, 1, 10_000_000);
    pair.run(10_000_000);
    pair.assert_placed(0, 0, 0, bytes);
    pair.assert_quiet();
    if std::env::var("MRNIC_VERBOSE").is_ok() {
        println!("paths {paths} ticks {ticks} {:?}", pair.nic[0].counters());
    }
    ticks
}

/// Mean goodput relative to the lossless run, in percent.
pub fn relative<P: Profile>(paths: u8, fabric: &FabricConfig, first_seed: u64, seeds: u64) -> f64 {
    let clean = FabricConfig { loss: 0.0, reorder: 0.0, duplicate: 0.0, ..fabric.clone() };
    let best = transfer_ticks::<P>(paths, clean, 0) as f64;
    let total: u64 = (0..seeds).map(|s| transfer_ticks::<P>(paths, fabric.clone(), first_seed + s)).sum();
    100.0 * best * seeds as f64 / total as f64
}

#[test]
fn four_mib_over_eight_paths_keeps_its_goodput() {
    let seed = seed(10);
    for (rate, loss, least) in [(800, 0.01, 0.0), (800, 0.1, 0.0), (100, 0.01, 97.0), (100, 0.10, 80.0)] {
        let fabric = FabricConfig { loss, bytes_per_tick: rate, ..FabricConfig::default() };
        let goodput = relative::<OpenMr0>(8, &fabric, seed, 8);
        println!("{rate} bytes/tick, loss {loss}: {goodput:.1} % of lossless");
        if std::env::var("NOFAIL").is_ok() { continue; }
        assert!(goodput >= least, "loss {loss}: {goodput:.1} %");
    }
}
