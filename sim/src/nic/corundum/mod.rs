//! Corundum's core around the wrapped engine (`mqnic_app_block`), written from the description of its interface.
//!
//! In: frames of the network for the engine, host memory; traffic of others, made here. Out: frames of the engine, DMA
//! accesses in the order of their descriptors. Guarantees: frames of others and their completions must come out untouched and
//! in order, those of the engine's frames must not come out; anything else is an error that says what was seen.
mod dma;
mod frames;
mod others;
#[cfg(test)]
mod tests;

use super::{Host, Observer};
use crate::memory::OutsideMemory;
use crate::scenario::HostConfig;
use dma::DmaPort;
use frames::{set_wide, wide, Frame, FrameSink, FrameSource};
use mrnic_verilated::{Dut, Port, PortError};
use others::Expected;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde::Serialize;
use std::collections::VecDeque;

/// Prefix of the AXI-Lite bus of the application BAR.
pub const BUS: &str = "s_axil_app_ctrl";
/// Registers of the wrapper: ID, failed DMA, the counters (docs/corundum.md).
pub const REGISTERS: &[u32] = &[0x1_0000, 0x1_000C, 0x1_0010, 0x1_0014, 0x1_0018, 0x1_001C, 0x1_0020, 0x1_0024];
/// Chance in each cycle that a stream of the core waits.
const GAP: f64 = 0.05;
/// Chance in each cycle that another frame of others begins, in each direction.
const OTHERS: f64 = 0.01;
/// Frames of others waiting in front of the wrapper at most.
const OTHERS_WAITING: usize = 4;
/// Longest time from a frame to its completion.
const COMPLETION_NS: u64 = 500;

/// An access to host memory.
pub enum Access {
    Read(u64, usize),
    Write(u64, Vec<u8>),
}

/// What passed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct CoreReport {
    /// Frames for the engine.
    pub rx_ours: u64,
    /// Frames of others that arrived and came out.
    pub rx_others: u64,
    /// Frames of the engine.
    pub tx_ours: u64,
    /// Frames of others that were sent and came out.
    pub tx_others: u64,
    /// Completions of frames of others that came out.
    pub cpl_others: u64,
    /// DMA reads and writes that ended before an older one.
    pub dma_out_of_order: [u64; 2],
}

struct Completions {
    ts: Port,
    tag: Port,
    valid: Port,
    ready: Port,
}

impl Completions {
    fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        let port = |n: &str| dut.port(&format!("{prefix}_axis_sync_tx_cpl_{n}"));
        Ok(Self { ts: port("ts")?, tag: port("tag")?, valid: port("valid")?, ready: port("ready")? })
    }
}

/// The core around one wrapped engine.
pub struct Core {
    rng: SmallRng,
    from_mac: FrameSource,
    to_mac: FrameSink,
    from_host: FrameSource,
    to_host: FrameSink,
    ctrl: DmaPort,
    data: DmaPort,
    cpl_in: Completions,
    cpl_out: Completions,
    tag_bits: u32,
    /// Frames waiting in front of the wrapper: whether each is for the engine.
    waiting: VecDeque<bool>,
    received: Expected,
    sent: Expected,
    /// Completions to give: when, tag, timestamp.
    completions: VecDeque<(u64, u64, u128)>,
    offered: bool,
    completed: VecDeque<(u64, u128)>,
    quiet: bool,
    report: CoreReport,
}

impl Core {
    /// The ports of instance `node`.
    pub fn new(dut: &Dut, node: usize, seed: u64) -> Result<Self, PortError> {
        let cpl_in = Completions::new(dut, "s")?;
        cpl_in.valid.set_bit(false);
        Ok(Self {
            rng: SmallRng::seed_from_u64(seed ^ (node as u64) << 32),
            from_mac: FrameSource::new(dut, "s_axis_sync_rx")?,
            to_mac: FrameSink::new(dut, "m_axis_sync_tx")?,
            from_host: FrameSource::new(dut, "s_axis_sync_tx")?,
            to_host: FrameSink::new(dut, "m_axis_sync_rx")?,
            ctrl: DmaPort::new(dut, "ctrl")?,
            data: DmaPort::new(dut, "data")?,
            tag_bits: cpl_in.tag.width(),
            cpl_in,
            cpl_out: Completions::new(dut, "m")?,
            waiting: VecDeque::new(),
            received: Expected::default(),
            sent: Expected::default(),
            completions: VecDeque::new(),
            offered: false,
            completed: VecDeque::new(),
            quiet: false,
            report: CoreReport::default(),
        })
    }

    /// Forgets what is under way; the generator of random numbers goes on.
    pub fn reset(&mut self, dut: &Dut) -> Result<(), PortError> {
        let new = Self::new(dut, 0, 0)?;
        self.rng = std::mem::replace(self, new).rng;
        Ok(())
    }

    /// A frame of the network for the engine.
    pub fn push(&mut self, bytes: Vec<u8>) {
        let user = self.rx_user();
        self.from_mac.push(Frame { bytes, user });
        self.waiting.push_back(true);
        self.report.rx_ours += 1;
    }

    /// A timestamp, and no error.
    fn rx_user(&mut self) -> u128 {
        (self.rng.random::<u128>() >> 32) << 1
    }

    /// Frames for the engine that wait in front of the wrapper.
    pub fn backlog(&self) -> usize {
        self.waiting.iter().filter(|ours| **ours).count()
    }

    /// Nothing is under way in the DMA interfaces.
    pub fn idle(&self) -> bool {
        self.ctrl.idle() && self.data.idle()
    }

    /// No new frames of others from now on.
    pub fn quiesce(&mut self) {
        self.quiet = true;
    }

    /// What passed, once everything of others has come out again; the wrapper's registers must say the same.
    pub fn finish(&self, registers: &[u32]) -> Result<CoreReport, String> {
        let missing = [
            (self.received.missing(), "frames of others that arrived"),
            (self.sent.missing(), "frames of others that were sent"),
            (self.completed.len() + self.completions.len(), "completions"),
        ];
        if let Some((n, what)) = missing.iter().find(|m| m.0 > 0) {
            return Err(format!("{n} {what} did not come out"));
        }
        let (rx, tx) = (self.received.passed(), self.sent.passed());
        let ours = &self.report;
        // all that arrived for the engine is through by now, and each of its frames has its completion
        let counted = [ours.rx_ours, rx, ours.tx_ours, tx, ours.tx_ours, ours.cpl_others];
        let expected = [0x4D52_4E41, 0].into_iter().chain(counted);
        if !registers.iter().map(|r| u64::from(*r)).eq(expected.clone()) {
            return Err(format!("registers of the wrapper {registers:?} instead of {:?}", expected.collect::<Vec<_>>()));
        }
        let [c, d] = [self.ctrl.out_of_order(), self.data.out_of_order()];
        Ok(CoreReport { rx_others: rx, tx_others: tx, dma_out_of_order: [c[0] + d[0], c[1] + d[1]], ..self.report })
    }

    /// Sets the inputs of this cycle.
    pub fn drive<H: Host>(&mut self, now: u64, memory: &mut H, observer: &mut dyn Observer<H>) -> Result<(), OutsideMemory> {
        self.make_others();
        for source in [&mut self.from_mac, &mut self.from_host] {
            source.drive(self.rng.random_bool(GAP));
        }
        for sink in [&mut self.to_mac, &mut self.to_host] {
            sink.drive(self.rng.random_bool(GAP));
        }
        self.ctrl.drive(now, memory, true, &mut self.rng)?;
        for _ in 0..self.data.drive(now, memory, false, &mut self.rng)? {
            observer.write_visible();
        }
        self.cpl_out.ready.set_bit(!self.rng.random_bool(GAP));
        if !self.offered {
            let due = self.completions.front().filter(|c| c.0 <= now);
            self.cpl_in.valid.set_bit(due.is_some());
            if let Some((_, tag, ts)) = due {
                self.cpl_in.tag.set_u64(*tag);
                set_wide(&self.cpl_in.ts, *ts);
                self.offered = true;
            }
        }
        Ok(())
    }

    fn make_others(&mut self) {
        if self.quiet {
            return;
        }
        if self.rng.random_bool(OTHERS) && self.waiting.iter().filter(|ours| !**ours).count() < OTHERS_WAITING {
            let frame = Frame { bytes: others::frame(&mut self.rng), user: self.rx_user() };
            self.received.push(frame.clone());
            self.from_mac.push(frame);
            self.waiting.push_back(false);
        }
        if self.rng.random_bool(OTHERS) && self.from_host.backlog() < OTHERS_WAITING {
            // the core sets the top bit of its tags; now and then a frame is marked bad
            let tag = 1 << (self.tag_bits - 1) | self.rng.random_range(0..1u128 << (self.tag_bits - 1));
            let user = tag << 1 | u128::from(self.rng.random_bool(0.05));
            // what the host sends may go to our port too: on this way nobody looks
            let to_our_port = self.rng.random_bool(0.2);
            let bytes = if to_our_port { others::to_our_port(&mut self.rng) } else { others::frame(&mut self.rng) };
            let frame = Frame { bytes, user };
            self.sent.push(frame.clone());
            self.from_host.push(frame);
        }
    }

    /// Before the rising edge. Returns a frame of the engine.
    pub fn sample<H: Host>(
        &mut self,
        (cycle, now): (u64, u64),
        host: &HostConfig,
        observer: &mut dyn Observer<H>,
    ) -> Result<Option<Vec<u8>>, String> {
        let before = self.from_mac.backlog();
        self.from_mac.sample();
        if self.from_mac.backlog() < before {
            self.waiting.pop_front();
        }
        self.from_host.sample();
        for access in self.data.sample(now, host, &mut self.rng)? {
            match access {
                Access::Read(addr, len) => observer.dma_read(cycle, addr, len),
                Access::Write(addr, data) => observer.dma_write(cycle, addr, &data),
            }
        }
        for access in self.ctrl.sample(now, host, &mut self.rng)? {
            match access {
                Access::Read(addr, len) => observer.wqe_read(cycle, addr, len),
                Access::Write(addr, data) => observer.cqe_write(cycle, addr, &data),
            }
        }
        if let Some(frame) = self.to_host.sample()? {
            self.received.check(&frame, "to the host")?;
        }
        self.sample_completions()?;
        self.to_mac.sample()?.map_or(Ok(None), |frame| self.transmitted(frame, now))
    }

    fn transmitted(&mut self, frame: Frame, now: u64) -> Result<Option<Vec<u8>>, String> {
        let tag = (frame.user >> 1) as u64;
        let ours = tag >> (self.tag_bits - 1) & 1 == 0;
        let ts = self.rng.random::<u128>() >> 32;
        let at = now + 1000 * self.rng.random_range(0..=COMPLETION_NS);
        let at = self.completions.back().map_or(at, |c| at.max(c.0));
        self.completions.push_back((at, tag, ts));
        if !ours {
            self.completed.push_back((tag, ts));
            return self.sent.check(&frame, "to the network").map(|()| None);
        }
        if frame.user & 1 == 1 {
            return Err("a frame of the engine is marked bad".into());
        }
        self.report.tx_ours += 1;
        Ok(Some(frame.bytes))
    }

    fn sample_completions(&mut self) -> Result<(), String> {
        if self.offered && self.cpl_in.ready.get_bit() {
            self.offered = false;
            self.completions.pop_front();
        }
        if self.cpl_out.valid.get_bit() && self.cpl_out.ready.get_bit() {
            let got = (self.cpl_out.tag.get_u64(), wide(&self.cpl_out.ts));
            let expected = self.completed.pop_front();
            if expected != Some(got) {
                return Err(format!("completion {got:x?} came out instead of {expected:x?}"));
            }
            self.report.cpl_others += 1;
        }
        Ok(())
    }
}
