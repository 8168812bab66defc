//! Goodput under loss, relative to the lossless run of the same set-up.

use crate::fabric::FabricConfig;
use crate::pair::{seed, write, Pair, Setup};
use mrnic_model::Profile;

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
    ticks
}

/// Ticks of the run without faults.
fn lossless_ticks<P: Profile>(paths: u8, skew_ticks: u64) -> u64 {
    transfer_ticks::<P>(paths, FabricConfig { skew_ticks, ..FabricConfig::default() }, 0)
}

/// Mean goodput relative to the lossless run of `best` ticks, in percent.
fn relative<P: Profile>(best: u64, paths: u8, fabric: &FabricConfig, first_seed: u64, seeds: u64) -> f64 {
    let total: u64 = (0..seeds).map(|s| transfer_ticks::<P>(paths, fabric.clone(), first_seed + s)).sum();
    100.0 * (best * seeds) as f64 / total as f64
}

/// The two figures of the project's targets: 8 planes of 50 Gbit/s, 4 MiB, independent loss on data and acknowledgments.
fn four_mib_over_eight_paths_keeps_its_goodput<P: Profile>() {
    let seed = seed(10);
    let best = lossless_ticks::<P>(8, 0);
    for (loss, least) in [(0.01, 97.0), (0.10, 80.0)] {
        let fabric = FabricConfig { loss, ..FabricConfig::default() };
        let goodput = relative::<P>(best, 8, &fabric, seed, 64);
        println!("loss {loss}: {goodput:.1} % of lossless");
        assert!(goodput >= least, "loss {loss}: {goodput:.1} %");
    }
}

/// Loss x planes x reordering: goodput in percent of the lossless run, as a committed table. A change of a rule shows here.
fn grid_of_loss_planes_and_reordering<P: Profile>() {
    let mut table = String::from("4 MiB, planes of 50 Gbit/s, delay 1 us: goodput in percent of the lossless run (3 seeds)\n");
    table +=
        "(a burst ends after a number of frames: a path that only probes leaves it slowly, and may run into its timeout)\n";
    table += "planes reorder | loss 0   0.1 %    1 %    5 %   10 %  1 % bursts of 8\n";
    for paths in [1u8, 2, 4, 8] {
        for (name, reorder, skew) in [("none", 0.0, 0), ("across", 0.0, 20), ("inside", 0.01, 0)] {
            table += &format!("{paths:6} {name:7} |");
            let best = lossless_ticks::<P>(paths, skew);
            for (loss, burst) in [(0.0, 1.0), (0.001, 1.0), (0.01, 1.0), (0.05, 1.0), (0.1, 1.0), (0.01, 8.0)] {
                let fabric =
                    FabricConfig { loss, burst, reorder, reorder_ticks: 20, skew_ticks: skew, ..FabricConfig::default() };
                table += &format!(" {:6.0}", relative::<P>(best, paths, &fabric, 1000, 3));
            }
            table.push('\n');
        }
    }
    insta::assert_snapshot!(format!("grid_{}", P::NAME.replace('-', "_")), table);
}

crate::for_each_profile!(four_mib_over_eight_paths_keeps_its_goodput, grid_of_loss_planes_and_reordering,);
