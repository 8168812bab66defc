//! The engine on its own: MAC streams and DMA ports as the simulated host and network meet them.
//!
//! In: frames, host memory. Out: frames, DMA accesses. Guarantees: payload writes are in memory, in their order, before the
//! engine is told so.
use super::dma::{ReadPort, WritePort};
use super::stream::{Names, Sink, Source};
use super::{Host, Observer};
use crate::memory::OutsideMemory;
use crate::scenario::HostConfig;
use mrnic_regs::ring;
use mrnic_verilated::{Dut, Port, PortError};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;

/// Everything but registers and the commit port.
pub struct Bare {
    /// Tells the engine of a payload write that is in memory.
    write_done: Port,
    rx: Source,
    tx: Sink,
    payload_read: ReadPort,
    payload_write: WritePort,
    wqe_read: ReadPort,
    cqe_write: WritePort,
    rng: SmallRng,
    /// Payload writes on their way to memory: when they are there, address, bytes.
    landing: VecDeque<(u64, u64, Vec<u8>)>,
    /// Of them in memory, and the engine does not know.
    landed: u32,
    write_rng: SmallRng,
}

impl Bare {
    /// The ports of instance `node`.
    pub fn new(dut: &Dut, node: usize, seed: u64) -> Result<Self, PortError> {
        let mac = |dir: &str| ["tvalid", "tready", "tdata", "tlast", "tkeep"].map(|n| format!("mac_{dir}_{n}"));
        let (r, t) = (mac("rx"), mac("tx"));
        let rx = Source::new(dut, &Names { valid: &r[0], ready: &r[1], data: &r[2], last: Some(&r[3]), keep: Some(&r[4]) })?;
        let tx = Sink::new(dut, &Names { valid: &t[0], ready: &t[1], data: &t[2], last: Some(&t[3]), keep: Some(&t[4]) })?;
        Ok(Self {
            write_done: dut.input("dw_done")?,
            rx,
            tx,
            payload_read: ReadPort::new(dut, "dr", false)?,
            payload_write: WritePort::new(dut, "dw")?,
            wqe_read: ReadPort::new(dut, "cr", true)?,
            cqe_write: WritePort::new(dut, "cw")?,
            rng: SmallRng::seed_from_u64(seed ^ (node as u64) << 32),
            landing: VecDeque::new(),
            landed: 0,
            write_rng: SmallRng::seed_from_u64(!seed ^ (node as u64) << 32),
        })
    }

    /// Forgets what is under way; the generators of random numbers go on.
    pub fn reset(&mut self, dut: &Dut) -> Result<(), PortError> {
        let new = Self::new(dut, 0, 0)?;
        let old = std::mem::replace(self, new);
        (self.rng, self.write_rng) = (old.rng, old.write_rng);
        Ok(())
    }

    /// A frame for the engine.
    pub fn push(&mut self, frame: Vec<u8>) {
        self.rx.push(frame);
    }

    /// Frames waiting in front of the engine.
    pub fn backlog(&self) -> usize {
        self.rx.backlog()
    }

    /// Nothing is under way in the DMA ports.
    pub fn idle(&self) -> bool {
        let landed = self.landing.is_empty() && self.landed == 0;
        landed && self.payload_read.idle() && self.payload_write.idle() && self.wqe_read.idle() && self.cqe_write.idle()
    }

    /// Sets the inputs of this cycle.
    pub fn drive<H: Host>(
        &mut self,
        now: u64,
        memory: &mut H,
        host: &HostConfig,
        observer: &mut dyn Observer<H>,
    ) -> Result<(), OutsideMemory> {
        while let Some((_, addr, data)) = self.landing.pop_front_if(|w| w.0 <= now) {
            memory.dma_write(addr, &data)?;
            self.landed += 1;
        }
        self.write_done.set_bit(self.landed > 0);
        if self.landed > 0 {
            observer.write_visible();
        }
        self.landed = self.landed.saturating_sub(1);
        self.rx.drive(false);
        self.tx.drive(false);
        self.payload_read.drive(now, memory, host, &mut self.rng)?;
        self.wqe_read.drive(now, memory, host, &mut self.rng)?;
        self.payload_write.drive(host, &mut self.rng);
        self.cqe_write.drive(host, &mut self.rng);
        Ok(())
    }

    /// Before the rising edge. Returns a frame that left.
    pub fn sample<H: Host>(
        &mut self,
        (cycle, now): (u64, u64),
        memory: &mut H,
        host: &HostConfig,
        observer: &mut dyn Observer<H>,
    ) -> Result<Option<Vec<u8>>, OutsideMemory> {
        self.rx.sample();
        if let Some((addr, len)) = self.payload_read.sample(now, host, &mut self.rng) {
            observer.dma_read(cycle, addr, len);
        }
        if let Some((addr, len)) = self.wqe_read.sample(now, host, &mut self.rng) {
            observer.wqe_read(cycle, addr, len);
        }
        if let Some((addr, data)) = self.payload_write.sample() {
            observer.dma_write(cycle, addr, &data);
            let [least, most] = host.write_latency_ns;
            let at = now + 1000 * self.write_rng.random_range(least..=most);
            let at = self.landing.back().map_or(at, |w| at.max(w.0));
            self.landing.push_back((at, addr, data));
        }
        if let Some((addr, data)) = self.cqe_write.sample() {
            debug_assert_eq!(data.len(), ring::cqe::BYTES);
            observer.cqe_write(cycle, addr, &data);
            memory.cqe_write(addr, &data)?;
        }
        Ok(self.tx.sample())
    }
}
