//! Each adapter of `constraints/corundum/rtl` alone, against the same core as the whole wrapper.
//!
//! In: chance, from a seed that is printed (`MRNIC_SEED` overrides it). Out: nothing, or what differs. Guarantees: a fault
//! planted in an adapter is found by these checks.
mod dma;
mod registers;
mod streams;

use crate::corundum::SOURCES;
use mrnic_verilated::{build, Dut, Model, ModelSpec};
use rand::rngs::SmallRng;
use rand::SeedableRng;

/// A seed of tests, or the one that was asked for.
fn rng(salt: u64) -> SmallRng {
    let seed: u64 = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    println!("MRNIC_SEED={seed}");
    SmallRng::seed_from_u64(seed ^ salt << 32)
}

/// A model of `top`, whose text may use the wrapper's modules; `fault` replaces a piece of their text.
fn model(top: &str, text: &str, parameters: &[(&str, usize)], fault: Option<[&str; 2]>) -> Model {
    // without the application block: it needs an engine
    let mut sources: String = SOURCES[2..].iter().map(|s| s.1).collect();
    if let Some([good, bad]) = fault {
        assert!(sources.contains(good), "the fault has no place any more: {good}");
        sources = sources.replace(good, bad);
    }
    let spec = ModelSpec {
        clock: Some("clk".into()),
        opt_level: 0,
        extra_args: parameters.iter().map(|(name, value)| format!("-G{name}={value}")).collect(),
        ..ModelSpec::new(top, sources + text)
    };
    build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// A new instance after its reset.
fn reset(model: &Model, seed: u64) -> Dut {
    let mut dut = model.instance("dut", seed);
    let rst = dut.input("rst").expect("a reset");
    rst.set_bit(true);
    dut.cycles(4);
    rst.set_bit(false);
    dut
}
