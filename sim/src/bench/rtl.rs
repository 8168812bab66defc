//! Cycle figures of the whole engine: packets back to back, small messages.
//!
//! In: the 512-bit build between hosts and a network that do not limit it. Out: cycles, from the cycle numbers of frames
//! and commits. Guarantees: every run is also checked as any other (memory, placement, completions).
use super::{steady, Figure, Spread};
use crate::models;
use crate::scenario::Scenario;
use crate::world::{Options, World};
use anyhow::{Context, Result};
use mrnic_nic::config::{build, BuildConfig};

pub(super) const BUILD: &str = "bench512";

pub(super) fn bench_build() -> Result<BuildConfig> {
    build(BUILD).with_context(|| format!("there is no build {BUILD}"))
}

/// Four planes of 400 Gbit/s, 100 ns away, memory that answers at once: only the engine limits.
fn scenario(nics: usize, connection: &str, fabric: &str, traffic: &str) -> Result<Scenario> {
    let text = format!(
        "name = \"bench\"\ndescription = \"only the engine limits\"\nnics = {nics}\nbuild = \"{BUILD}\"\n\
         [connection]\n{connection}\n\
         [fabric]\nplanes = 4\nrate_gbps = 400.0\ndelay_ns = 100\necn_threshold_bytes = 8000000\nbuffer_bytes = 16000000\n{fabric}\n\
         [host]\nread_latency_ns = [0, 0]\n{traffic}"
    );
    Ok(Scenario::parse("scenario of mrnic bench", &text)?)
}

fn run(scenario: &Scenario) -> Result<World> {
    let build = bench_build()?;
    let model = models::model(&build, false, false)?;
    let mut world = World::new(scenario, &build, &model, &Options::default())?;
    world.run(&mut |_, _| {})?;
    Ok(world)
}

/// Packets of the largest MTU back to back: cycles of the link without a beat, for each packet.
pub(super) fn mtu() -> Result<Vec<Figure>> {
    let traffic = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 4194304\nmessage_bytes = 262144\nqps = 4\n";
    let world = run(&scenario(2, "init_window = 256", "", traffic)?)?;
    let beat_bytes = bench_build()?.data_width / 8;
    let frames: Vec<_> = world.recorder(0).timing.frames.iter().filter(|f| f.1 > 4096).copied().collect();
    let idle = steady(&frames).windows(2).map(|w| (w[1].0 - w[0].0).saturating_sub(w[1].1.div_ceil(beat_bytes) as u64));
    let s = Spread::cycles(idle, "frames of the largest MTU")?;
    Ok(vec![
        Figure::new("MTU 4096 back to back, 512 bits: idle cycles per packet (median)", s.median, "cycles")
            .at_most(2.0)
            .spread(s),
        Figure::new("the same, 99th percentile", s.p99, "cycles").at_most(2.0),
        Figure::new("the same, mean", s.mean, "cycles").at_most(2.0),
    ])
}

/// Cycles from one to the next, on average over the steady state.
fn pace(cycles: &[u64], what: &str) -> Result<(f64, Spread)> {
    let s = steady(cycles);
    let spread = Spread::cycles(s.windows(2).map(|w| w[1] - w[0]), what)?;
    Ok((spread.mean, spread))
}

/// Messages of 64 bytes: 8 QPs send to one receiver, then two senders keep one receiver busy.
pub(super) fn small() -> Result<Vec<Figure>> {
    let traffic = |from: usize, to: usize, qps: usize| {
        format!("[[traffic]]\nfrom = {from}\nto = {to}\nbytes = 262144\nmessage_bytes = 64\nqps = {qps}\n")
    };
    let one = run(&scenario(2, "init_window = 64", "", &traffic(0, 1, 8))?)?;
    let (sent, sent_spread) = pace(&one.recorder(0).timing.slots, "slots of 64-byte messages")?;
    let two = run(&scenario(3, "init_window = 16", "", &(traffic(0, 2, 8) + &traffic(1, 2, 8)))?)?;
    let (accepted, accepted_spread) = pace(&two.recorder(2).timing.accepted, "accepted packets")?;
    Ok(vec![
        Figure::new("64-byte messages sent, 8 QPs, sustained: cycles each (mean)", sent, "cycles")
            .at_most(8.0)
            .spread(sent_spread),
        Figure::new("64-byte messages received from two senders: cycles each (mean)", accepted, "cycles")
            .at_most(8.0)
            .spread(accepted_spread),
    ])
}

/// Slots of resends under random loss, while the engine is also busy with new packets.
pub(super) fn resend_slots() -> Result<Spread> {
    let traffic = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 4194304\nmessage_bytes = 262144\nqps = 4\n";
    let world = run(&scenario(2, "init_window = 64", "loss_data = 0.02", traffic)?)?;
    Spread::cycles(world.recorder(0).timing.resend_slots.iter().copied(), "resends")
}
