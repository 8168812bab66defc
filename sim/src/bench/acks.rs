//! Acknowledgments at the rate at which the engine takes them, and how soon a revealed loss is resent.
//!
//! In: one engine with 256 packets outstanding on one path, and acknowledgments made by the codec. Out: cycles between
//! steps. Guarantees: the engine applied every acknowledgment that is counted.
use super::rtl::{bench_build, resend_slots};
use super::{Figure, Spread};
use crate::memory::HostMemory;
use crate::models;
use crate::nic::{NicSim, Observer};
use crate::scenario::HostConfig;
use crate::setup::NodeSetup;
use crate::software::{Stream, Write};
use anyhow::{bail, Result};
use mrnic_lockstep::{Kind, Record};
use mrnic_model::config::{key_of, ConnConfig, KeyConfig, PathConfig, QpConfig, RATE_UNLIMITED};
use mrnic_verilated::Model;
use mrnic_wire::{emit_packet, Ack, Body, NetAddr, OpenMr0, Packet, PathHeader, Ppsn, Profile, SackVector};

const PACKETS: u32 = 256;
const MTU_BYTES: usize = 4096;
const LOCAL: u64 = 0x7000_0000_0000;
const LIMIT_CYCLES: u64 = 200_000;

/// What the engine did, with cycle numbers.
#[derive(Default)]
struct Log {
    /// (cycle, verdict, losses by L1)
    acks: Vec<(u64, u64, u64)>,
    resends: Vec<u64>,
    /// Last beat and length.
    frames: Vec<(u64, usize)>,
}

impl Observer for Log {
    fn frame_in(&mut self, _: u64, _: &[u8]) {}
    fn record(&mut self, r: &Record, _: &HostMemory) {
        match r.kind {
            Kind::Ack => self.acks.push((r.cycle, r.get("verdict"), r.get("lost_l1"))),
            Kind::Grant if r.get("kind") == 1 => self.resends.push(r.cycle),
            _ => {}
        }
    }
    fn dma_read(&mut self, _: u64, _: u64, _: usize) {}
    fn dma_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn write_visible(&mut self) {}
    fn wqe_read(&mut self, _: u64, _: u64, _: usize) {}
    fn cqe_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn frame_out(&mut self, cycle: u64, frame: &[u8], _: &HostMemory) {
        self.frames.push((cycle, frame.len()));
    }
}

const MAC: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]];
const IP: [[u8; 4]; 2] = [[10, 0, 0, 1], [10, 0, 0, 2]];
const PORT: u16 = 0xC000;

/// An engine that has sent 256 packets and waits.
fn waiting(model: &Model, period_ps: u64, log: &mut Log) -> Result<NicSim> {
    let host = HostConfig { read_latency_ns: [0, 0], stall_cycles: 1, ..HostConfig::default() };
    let mut nic = NicSim::new(model, 0, period_ps, &host, 1)?;
    let bytes = PACKETS as usize * MTU_BYTES;
    let buffer = nic.memory.allocate(bytes, 0, false);
    let mut stream = Stream::new(0, 0, &mut nic.memory);
    let mut conn = ConnConfig::new(0, 1, NetAddr::v4(MAC[0], MAC[1], IP[0], IP[1]));
    conn.mtu_log2 = MTU_BYTES.ilog2() as u8;
    conn.init_window_pkts = PACKETS as u16;
    conn.init_hint_mbps = RATE_UNLIMITED;
    conn.path[0] = PathConfig { enabled: true, udp_port: PORT, tx_start_ppsn: 0, rx_start_ppsn: 0 };
    let mut qp = QpConfig::new(0, 0);
    qp.cq_log2 = stream.rings.cq_log2;
    let key = KeyConfig { valid: true, base: LOCAL, length: bytes as u64, dma_base: buffer, ..KeyConfig::default() };
    let setup = NodeSetup {
        connections: vec![(0, conn)],
        qps: vec![(0, qp, stream.rings)],
        keys: vec![(1, key)],
        ..NodeSetup::default()
    };
    for w in setup.writes() {
        nic.write_table(&w);
    }
    let lkey = key_of(1, 0);
    let write = Write { local: LOCAL, lkey, remote: 0, rkey: 0, length: bytes as u32, ..Write::default() };
    stream.add(write, 0);
    while !nic.bus_idle() {
        nic.step(log)?;
    }
    stream.poll(&mut nic)?;
    run_until(&mut nic, log, "256 packets sent", |l| l.frames.len() >= PACKETS as usize)?;
    Ok(nic)
}

fn run_until(nic: &mut NicSim, log: &mut Log, what: &str, done: impl Fn(&Log) -> bool) -> Result<()> {
    let start = nic.cycle();
    while !done(log) {
        if nic.cycle() - start > LIMIT_CYCLES {
            bail!(
                "not within {LIMIT_CYCLES} cycles: {what}; {} acknowledgments, {} resends",
                log.acks.len(),
                log.resends.len()
            );
        }
        nic.step(log)?;
    }
    Ok(())
}

/// An acknowledgment frame: packet 0 is missing, the others as the vector says.
fn ack_frame(vector: SackVector) -> Result<Vec<u8>> {
    let ack = Ack { rate: RATE_UNLIMITED, rx_packets: vector.count_ones() as u16, vector, ..Ack::default() };
    let packet = Packet {
        dest_qp: OpenMr0::PATH_QP,
        ppsn: Ppsn::new(0),
        mph: PathHeader { conn: 0, home: 0, via: 0, ..PathHeader::default() },
        ..Packet::new(Body::Ack(ack))
    };
    let mut frame = vec![0; 512];
    let n = emit_packet(&mut frame, &NetAddr::v4(MAC[1], MAC[0], IP[1], IP[0]), PORT, &packet, &[])?;
    frame.truncate(n);
    Ok(frame)
}

/// Packets 1, 3, 5, ... were received.
fn alternating() -> SackVector {
    let mut v = SackVector::EMPTY;
    for i in (0..PACKETS - 1).step_by(2) {
        v.set(i);
    }
    v
}

/// Acknowledgments with a full vector that all wait in front of the engine: cycles from one to the next. After the first,
/// which acknowledges every other packet and reveals the others as lost, each acknowledges one packet more.
fn back_to_back(model: &Model, period_ps: u64) -> Result<Spread> {
    const ACKS: u32 = 64;
    let mut log = Log::default();
    let mut nic = waiting(model, period_ps, &mut log)?;
    let mut v = alternating();
    for n in 0..ACKS {
        nic.receive(ack_frame(v)?, &mut log);
        v.set(253 - 2 * n);
    }
    run_until(&mut nic, &mut log, "64 acknowledgments applied", |l| l.acks.len() >= ACKS as usize)?;
    if let Some(a) = log.acks.iter().find(|a| a.1 != 0) {
        bail!("the engine did not apply an acknowledgment (verdict {})", a.1);
    }
    Spread::cycles(log.acks.windows(2).map(|w| w[1].0 - w[0].0), "acknowledgments")
}

/// One acknowledgment reveals losses to an engine that does nothing else: cycles to the slot of the first resend, and to
/// its first beat on the link.
fn reveal(model: &Model, period_ps: u64, beat_bytes: usize) -> Result<(u64, u64)> {
    let mut log = Log::default();
    let mut nic = waiting(model, period_ps, &mut log)?;
    nic.receive(ack_frame(alternating())?, &mut log);
    run_until(&mut nic, &mut log, "the first resend", |l| l.frames.len() > PACKETS as usize && !l.resends.is_empty())?;
    let (acked, verdict, lost) = log.acks[0];
    if verdict != 0 || lost == 0 {
        bail!("the acknowledgment revealed no loss (verdict {verdict}, {lost} lost)");
    }
    let (last, len) = log.frames[PACKETS as usize];
    let first_beat = last + 1 - len.div_ceil(beat_bytes) as u64;
    Ok((log.resends[0] - acked, first_beat - acked))
}

/// All figures about acknowledgments.
pub(super) fn all() -> Result<Vec<Figure>> {
    let build = bench_build()?;
    let model = models::model(&build, false, false)?;
    let acks = back_to_back(&model, build.clock_ps)?;
    let (slot, beat) = reveal(&model, build.clock_ps, build.data_width / 8)?;
    let busy = resend_slots()?;
    Ok(vec![
        Figure::new("acknowledgment with a full vector, back to back: cycles each (median)", acks.median, "cycles")
            .at_most(8.0)
            .spread(acks),
        Figure::new("from a revealed loss to the slot of the resend, idle engine", slot as f64, "cycles").at_most(64.0),
        Figure::new("from a revealed loss to the first beat of the resend, idle engine", beat as f64, "cycles").at_most(64.0),
        Figure::new("from a revealed loss to the slot of the resend, busy engine (median)", busy.median, "cycles")
            .at_most(64.0)
            .spread(busy),
    ])
}
