//! `mrnic corundum`: two wrapped NICs exchange the scenario `sim/scenarios/corundum.toml`.
//!
//! In: arguments. Out: a table of what passed and was verified. Guarantees: ends with an error if a byte, a completion, a step
//! or a frame of others is not as it must be.
use super::{model, Shape, SHAPES};
use crate::cli;
use crate::world::{Options, World};
use anyhow::Result;
use clap::Args;
use mrnic_say::say;

#[derive(Debug, Args)]
pub struct CorundumArgs {
    /// Bits of the streams at the core clock: 512, 128 or 64; without it all three.
    #[arg(long)]
    width: Option<usize>,
    /// Another engine of that width, for example that of a board (corundum10g, corundum25g, corundum100g).
    #[arg(long, requires = "width")]
    build: Option<String>,
    /// Seed instead of the scenario's.
    #[arg(long, value_parser = cli::seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Loss of data and acknowledgments, 0.0 to 0.9.
    #[arg(long, value_parser = loss)]
    loss: Option<f64>,
    /// Do not compare with the golden model.
    #[arg(long)]
    no_lockstep: bool,
}

fn loss(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| (0.0..=0.9).contains(p)).ok_or_else(|| "a loss is a number from 0.0 to 0.9".into())
}

/// Runs the command.
pub fn run(args: &CorundumArgs) -> Result<()> {
    let shapes = match (args.width, &args.build) {
        (Some(width), Some(name)) => vec![Shape::find(width)?.with_build(name)?],
        (Some(width), None) => vec![Shape::find(width)?],
        (None, _) => SHAPES.to_vec(),
    };
    for shape in shapes {
        one(&shape, args)?;
    }
    Ok(())
}

fn one(shape: &Shape, args: &CorundumArgs) -> Result<()> {
    let mut scenario = shape.scenario()?;
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    if let Some(p) = args.loss {
        (scenario.fabric.loss_data, scenario.fabric.loss_ack) = (p, p);
    }
    let options = Options { lockstep: !args.no_lockstep, ..Options::default() };
    let model = model(shape, false, false)?;
    let label = format!("{} bits, engine {}", shape.width, shape.build);
    let bar = cli::bar(format!("{label} (seed {})", scenario.seed))?;
    let mut world = World::new(&scenario, &shape.config()?, &model, &options)?;
    let outcome = world.run(&mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    say!("{label} (seed {}):", scenario.seed);
    cli::print_checks(&outcome, options.lockstep);
    for n in &outcome.nodes {
        let Some(c) = &n.core else { continue };
        say!("node {}: engine {} frames in, {} out", n.node, c.rx_ours, c.tx_ours);
        say!(
            "node {}: others {} frames in, {} out, {} completions, all untouched and in order",
            n.node,
            c.rx_others,
            c.tx_others,
            c.cpl_others
        );
        let [reads, writes] = c.dma_out_of_order;
        say!("node {}: DMA {reads} reads and {writes} writes ended before an older one", n.node);
    }
    say!("time: {:.1} us, {:.2} Gbit/s", outcome.duration_ns as f64 / 1000.0, outcome.goodput_gbps());
    Ok(())
}
