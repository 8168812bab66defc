//! Goodput under loss, and speeds: of the simulation, of making a model, of the golden model alone.
//!
//! In: shipped scenarios and the golden model's own driver. Out: percentages and rates. Guarantees: goodput is simulated
//! time against simulated time; speeds use processor time of the measuring thread, build times the clock on the wall.
use super::{Figure, Spread};
use crate::models;
use crate::report::goodput_percent;
use crate::scenario::Scenario;
use crate::world::{Options, Outcome, World};
use anyhow::{bail, Context, Result};
use mrnic_model::memory::NoMemory;
use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::{ConnConfig, KeyConfig, NetAddr, Nic, NicConfig, OpenMr0, Outgoing, QpConfig, Received, Rights, Wqe};
use mrnic_nic::config::build as named_build;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Seconds of processor time of this thread; of the wall clock where the system does not tell.
fn cpu_seconds(start: Instant) -> f64 {
    let ns = std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|s| s.split_whitespace().next()?.parse::<f64>().ok());
    ns.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// A run and the processor time of its simulation.
fn timed(scenario: &Scenario, lockstep: bool) -> Result<(Outcome, f64)> {
    let build = named_build(&scenario.build).with_context(|| format!("there is no build {}", scenario.build))?;
    let model = models::model(&build, false, false)?;
    let mut world = World::new(scenario, &build, &model, &Options { lockstep, ..Options::default() })?;
    let wall = Instant::now();
    let start = cpu_seconds(wall);
    let outcome = world.run(&mut |_, _| {})?;
    Ok((outcome, cpu_seconds(wall) - start))
}

/// 4 MiB, 1 % and 10 % loss of every frame, against the same run on a network that loses nothing.
pub(super) fn goodput() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (name, percent, least) in [("loss-1", 1, 97.0), ("loss-10", 10, 80.0)] {
        let mut kept = Vec::new();
        for seed in SEEDS {
            let scenario = Scenario { seed, ..Scenario::load(name)? };
            let (lossy, _) = timed(&scenario, false)?;
            let (clean, _) = timed(&scenario.lossless(), false)?;
            kept.push(goodput_percent(&lossy, &clean));
        }
        let s = Spread::of(kept).context("no seed was run")?;
        let title = format!("goodput kept, 4 MiB, {percent} % loss, RTL, seeds 1 to 5 (median)");
        figures.push(Figure::new(&title, s.median, "%").at_least(least).spread(s));
    }
    Ok(figures)
}

/// NIC cycles in a second of one core: cycles of a run times its NICs.
pub(super) fn speed() -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for (title, lockstep, least) in [
        ("simulation speed, build sim, without checks", false, 200_000.0),
        ("the same in lockstep with the golden model", true, 200_000.0),
    ] {
        let (outcome, seconds) = timed(&Scenario::load("loss-1")?, lockstep)?;
        figures.push(Figure::new(title, outcome.nic_cycles as f64 / seconds, "NIC cycles/s").at_least(least));
    }
    Ok(figures)
}

/// Seconds of processor time of the processes that this one started and that have ended; None where the system does not tell.
fn children_seconds() -> Option<f64> {
    const TICKS_PER_S: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // behind the name of the command, which may hold anything: cutime and cstime are fields 16 and 17 of the line
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut next = || fields.next()?.parse::<f64>().ok();
    Some((next()? + next()?) / TICKS_PER_S)
}

/// `mrnic model` in a process of its own, with that cache and without the compiler's. Seconds on the wall.
fn make_model(cache: &Path) -> Result<f64> {
    let exe = std::env::current_exe().context("cannot find the mrnic command itself")?;
    let start = Instant::now();
    let mut c = Command::new(exe);
    c.args(["model", "--build", "sim"])
        .env("MRNIC_CACHE", cache)
        .env("CCACHE_DISABLE", "1")
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let o = c.output().context("cannot start the mrnic command")?;
    if !o.status.success() {
        bail!("making the model failed: {}", String::from_utf8_lossy(&o.stderr).trim());
    }
    Ok(start.elapsed().as_secs_f64())
}

/// Making the model of the build `sim` from nothing, and taking it from the cache.
pub(super) fn build(out: &Path) -> Result<Vec<Figure>> {
    let cache = std::path::absolute(out)?.join(format!("empty-cache-{}", std::process::id()));
    let before = children_seconds();
    let clean = make_model(&cache);
    let processor = children_seconds().zip(before).map(|(after, before)| after - before);
    let cached = make_model(&cache);
    std::fs::remove_dir_all(&cache).ok();
    let (clean, cached) = (clean?, cached?);
    let mut figures = vec![
        Figure::new("model of build sim from nothing (emit, Verilator, C++)", clean, "s").at_most(120.0),
        Figure::new("the same from the cache", cached, "s").at_most(2.0),
    ];
    // on a machine that does other work too, this tells what the wall clock does not
    figures.extend(processor.map(|s| Figure::new("processor time of making it from nothing, all cores", s, "s")));
    Ok(figures)
}

const MODEL_PACKETS: u64 = 2_000_000;

fn model_nic(side: u8) -> Result<Nic<OpenMr0>> {
    let mut nic = Nic::new(NicConfig::default())?;
    let net = |n: u8| ([2, 0, 0, 0, 0, n + 1], [10, 0, 0, n + 1]);
    let (local, peer) = (net(side), net(1 - side));
    let conn = ConnConfig::new(0, 8, NetAddr::v4(local.0, peer.0, local.1, peer.1));
    nic.open_connection(0, 0, &conn)?;
    nic.open_qp(0, &QpConfig::new(0, 0))?;
    let rights = Rights::from_bits(0b11);
    nic.register_key(0, &KeyConfig { valid: true, rights, length: 1 << 30, ..KeyConfig::default() })?;
    Ok(nic)
}

/// Two models send each other packets of 4 KiB and acknowledgments; `exchange` moves one packet from the first to the
/// second and returns false when there is none. Packets of all kinds a second.
fn model_rate(mut exchange: impl FnMut(u32, &mut Nic<OpenMr0>, &mut Nic<OpenMr0>) -> bool) -> Result<f64> {
    let (mut a, mut b) = (model_nic(0)?, model_nic(1)?);
    let wqe = Wqe { signaled: true, length: 1 << 20, ..Wqe::default() };
    let (mut now, mut packets) = (0u32, 0u64);
    let wall = Instant::now();
    let start = cpu_seconds(wall);
    while packets < MODEL_PACKETS {
        while a.poll_completion().is_some() {}
        while a.post_send(0, &wqe).is_ok() {}
        for _ in 0..16 {
            packets += u64::from(exchange(now, &mut a, &mut b));
        }
        for _ in 0..16 {
            packets += u64::from(exchange(now, &mut b, &mut a));
        }
        a.handle_timeout(now);
        b.handle_timeout(now);
        now = now.wrapping_add(1);
    }
    Ok(packets as f64 / (cpu_seconds(wall) - start))
}

/// The golden model alone: as a cluster simulation uses it (packet values), and with whole frames.
pub(super) fn model() -> Result<Vec<Figure>> {
    let values = model_rate(|now, from, to| {
        let Some(outgoing) = from.poll_outgoing(now) else { return false };
        let (packet, payload_len) = match &outgoing {
            Outgoing::Ack(ack) => (ack.packet::<OpenMr0>(), 0),
            Outgoing::Probe(probe) => (probe.packet::<OpenMr0>(), 0),
            Outgoing::Data(data) => (data.packet(), data.len),
        };
        to.handle_parsed(
            now,
            &Received { packet: &packet, udp_src: 0, ecn_ce: false, payload_len, payload: None },
            &mut NoMemory,
        );
        true
    })?;
    let mut buf = vec![0; FRAME_BYTES_MAX];
    let frames = model_rate(|now, from, to| {
        let Some(sent) = from.poll_transmit(now, &mut buf, &NoMemory) else { return false };
        to.handle_packet(now, &buf[..sent.len], &mut NoMemory);
        true
    })?;
    Ok(vec![
        Figure::new("golden model alone, 4 KiB packets as values, one core", values, "packets/s").at_least(1e6),
        Figure::new("golden model alone, 4 KiB packets as frames with ICRC, one core", frames, "packets/s"),
    ])
}
