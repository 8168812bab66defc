//! A Verilated NIC with its host around it, as a Rust value.
//!
//! In: frames from the network, register accesses of software. Out: frames, and everything the lockstep checker wants to
//! see, through an [`Observer`]. Guarantees: inputs are set before, outputs sampled just before the rising edge.
mod axil;
mod bare;
mod commit;
pub mod corundum;
mod dma;
mod stream;

use crate::memory::{HostMemory, OutsideMemory};
use crate::scenario::HostConfig;
use crate::setup::TableWrite;
use axil::AxiLite;
use bare::Bare;
use commit::CommitPort;
use corundum::{Core, CoreReport};
use mrnic_lockstep::Record;
use mrnic_regs::{reg, table};
use mrnic_verilated::{Dut, Model, Port, PortError};
use std::collections::HashMap;
use thiserror::Error;

/// A run that cannot go on.
#[derive(Debug, Error)]
pub enum NicError {
    #[error("node {node}, cycle {cycle}: {access}")]
    Memory { node: usize, cycle: u64, access: OutsideMemory },
    #[error("node {node}, cycle {cycle}: {count} assertions failed in the RTL:\n{messages}")]
    Assertion { node: usize, cycle: u64, count: u32, messages: String },
    #[error(transparent)]
    Port(#[from] PortError),
    #[error("node {node}: the engine is not ready {cycles} cycles after reset")]
    NotReady { node: usize, cycles: u64 },
    #[error("node {node}: register ID reads {id:#010x} instead of {:#010x}: {}", reg::id::RESET, if *id == u32::MAX { "the link is down" } else { "another device" })]
    NotOurs { node: usize, id: u32 },
    #[error("node {node}, cycle {cycle}: Corundum: {what}")]
    Corundum { node: usize, cycle: u64, what: String },
}

/// The host's memory as the NIC reaches it.
pub trait Host {
    /// WQEs and payload.
    fn dma_read(&mut self, addr: u64, len: usize) -> Result<Vec<u8>, OutsideMemory>;
    /// Payload.
    fn dma_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory>;
    /// A completion: its first word, with the phase bit, must not be seen before the rest.
    fn cqe_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory>;
}

impl Host for HostMemory {
    fn dma_read(&mut self, addr: u64, len: usize) -> Result<Vec<u8>, OutsideMemory> {
        Ok(self.read(addr, len)?.to_vec())
    }
    fn dma_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        HostMemory::dma_write(self, addr, data)
    }
    fn cqe_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        self.write(addr, data)
    }
}

/// Sees what a NIC does.
pub trait Observer<H = HostMemory> {
    /// A frame began to enter the NIC.
    fn frame_in(&mut self, cycle: u64, frame: &[u8]);
    /// A step was committed. `memory` is the host memory at that time.
    fn record(&mut self, record: &Record, memory: &H);
    /// A payload read was asked for.
    fn dma_read(&mut self, cycle: u64, addr: u64, len: usize);
    /// A payload write was made.
    fn dma_write(&mut self, cycle: u64, addr: u64, data: &[u8]);
    /// The data of the oldest payload write of which this was not yet said is visible to software, and the engine is told.
    fn write_visible(&mut self);
    /// A WQE read was asked for.
    fn wqe_read(&mut self, cycle: u64, addr: u64, len: usize);
    /// A CQE write was made.
    fn cqe_write(&mut self, cycle: u64, addr: u64, data: &[u8]);
    /// A frame left the NIC.
    fn frame_out(&mut self, cycle: u64, frame: &[u8], memory: &H);
}

/// A NIC and its host.
pub struct NicSim<H = HostMemory> {
    node: usize,
    dut: Dut,
    reset: Port,
    fault: Option<Port>,
    bus: AxiLite,
    staged: HashMap<u16, u32>,
    attachment: Attachment,
    commit: CommitPort,
    records: Vec<Record>,
    /// Steps committed before the engine said that it is ready.
    early: Vec<Record>,
    host: HostConfig,
    cycle: u64,
    period_ps: u64,
    pub memory: H,
}

/// What the engine is attached to.
enum Attachment {
    Bare(Box<Bare>),
    Corundum(Box<Core>),
}

const RESET_CYCLES: u64 = 4;
/// Reports of the core that may differ from the wrapper's registers, because a probe is on its way.
const CORE_READS: usize = 20;
/// The largest build clears its memories for 2^20 clocks.
const READY_CYCLES: u64 = 1_500_000;
/// Frames that may wait in front of the NIC before the link drops them.
const RX_FRAMES: usize = 512;

impl NicSim {
    /// Instance `node` of a model with empty memory, reset and ready.
    pub fn new(model: &Model, node: usize, period_ps: u64, host: &HostConfig, seed: u64) -> Result<Self, NicError> {
        Self::with_host(model, node, period_ps, host, seed, HostMemory::new())
    }
}

impl<H: Host> NicSim<H> {
    /// The same on a host of any kind.
    pub fn with_host(
        model: &Model,
        node: usize,
        period_ps: u64,
        host: &HostConfig,
        seed: u64,
        memory: H,
    ) -> Result<Self, NicError> {
        let mut dut = model.instance(&format!("nic{node}"), seed.wrapping_mul(31).wrapping_add(node as u64));
        dut.set_period_ps(period_ps);
        // the wrapper for Corundum has other names for everything
        let wrapped = dut.input(&format!("{}_awaddr", corundum::BUS)).is_ok();
        let (reset, bus, attachment) = if wrapped {
            let core = Core::new(&dut, node, seed)?;
            (dut.input("rst")?, AxiLite::new(&dut, corundum::BUS)?, Attachment::Corundum(Box::new(core)))
        } else {
            let bare = Bare::new(&dut, node, seed)?;
            (dut.input("reset")?, AxiLite::new(&dut, "axil")?, Attachment::Bare(Box::new(bare)))
        };
        let mut nic = Self {
            node,
            reset,
            fault: dut.input("fault").ok(),
            bus,
            staged: HashMap::new(),
            attachment,
            commit: CommitPort::new(&dut)?,
            records: Vec::new(),
            early: Vec::new(),
            host: host.clone(),
            cycle: 0,
            period_ps,
            memory,
            dut,
        };
        nic.start()?;
        Ok(nic)
    }

    /// Resets the engine at any time; what is under way in the host's ports and in front of the NIC is lost.
    pub fn reset(&mut self) -> Result<(), NicError> {
        match &mut self.attachment {
            Attachment::Bare(bare) => {
                bare.reset(&self.dut)?;
                self.bus = AxiLite::new(&self.dut, "axil")?;
            }
            Attachment::Corundum(core) => {
                core.reset(&self.dut)?;
                self.bus = AxiLite::new(&self.dut, corundum::BUS)?;
            }
        }
        self.staged.clear();
        self.commit = CommitPort::new(&self.dut)?;
        self.start()
    }

    fn start(&mut self) -> Result<(), NicError> {
        let start = self.cycle;
        self.reset.set_bit(true);
        for _ in 0..RESET_CYCLES {
            self.dut.cycle();
            self.cycle += 1;
        }
        self.reset.set_bit(false);
        let mut early = Early::default();
        let id = self.read_register(reg::id::OFFSET, &mut early)?;
        if id != reg::id::RESET {
            return Err(NicError::NotOurs { node: self.node, id });
        }
        loop {
            if self.read_register(reg::status::OFFSET, &mut early)? & 1 == 1 {
                self.early = early.0;
                return Ok(());
            }
            if self.cycle - start > READY_CYCLES {
                return Err(NicError::NotReady { node: self.node, cycles: self.cycle - start });
            }
        }
    }

    /// Steps committed while the engine cleared its memories after reset: epochs of the rate hint (R11), if that takes longer than one.
    pub fn early_records(&self) -> &[Record] {
        &self.early
    }

    fn read_register(&mut self, offset: impl Into<u32>, observer: &mut dyn Observer<H>) -> Result<u32, NicError> {
        self.bus.read(offset);
        for _ in 0..1000 {
            self.step(observer)?;
            if let Some(v) = self.bus.value() {
                return Ok(v);
            }
        }
        // a device that does not answer reads as all ones, as on PCIe
        Ok(u32::MAX)
    }

    /// Plants fault `number` (builds with faults only; false otherwise).
    pub fn set_fault(&mut self, number: u32) -> bool {
        if let Some(f) = &self.fault {
            f.set_u64(number.into());
        }
        self.fault.is_some()
    }

    /// Queues a register read; its value comes out of [`NicSim::register_value`].
    pub fn queue_read(&mut self, offset: u16) {
        self.bus.read(offset);
    }

    /// The value of the oldest queued read that is done and was not taken.
    pub fn register_value(&mut self) -> Option<u32> {
        self.bus.value()
    }

    /// Register accesses that are done, since the start or the last reset.
    pub fn accesses(&self) -> u64 {
        self.bus.done()
    }

    /// Queues a register write.
    pub fn write_register(&mut self, offset: u16, value: u32) {
        self.bus.write(offset, value);
    }

    /// Queues the writes that apply a table row; staging words that already hold the value are not written again.
    pub fn write_table(&mut self, write: &TableWrite) {
        for (i, word) in write.row.iter().enumerate() {
            let offset = reg::table_data::OFFSET + 4 * i as u16;
            if self.staged.insert(offset, *word) != Some(*word) {
                self.bus.write(offset, *word);
            }
        }
        let mut commit = [0u32];
        reg::table_commit::TABLE.set(&mut commit, write.table.into());
        reg::table_commit::INDEX.set(&mut commit, write.index.into());
        self.bus.write(reg::table_commit::OFFSET, commit[0]);
        debug_assert!(write.table <= table::srq::NUMBER);
    }

    /// Queues a doorbell.
    pub fn ring(&mut self, qp: u16, producer: u16) {
        let mut bell = [0u32];
        reg::doorbell::QP.set(&mut bell, qp.into());
        reg::doorbell::PRODUCER.set(&mut bell, producer.into());
        self.bus.write(reg::doorbell::OFFSET, bell[0]);
    }

    /// Queues a doorbell of a receive queue.
    pub fn ring_recv(&mut self, qp: u16, producer: u16) {
        let mut bell = [0u32];
        reg::doorbell_rq::QP.set(&mut bell, qp.into());
        reg::doorbell_rq::PRODUCER.set(&mut bell, producer.into());
        self.bus.write(reg::doorbell_rq::OFFSET, bell[0]);
    }

    /// All register accesses are done.
    pub fn bus_idle(&self) -> bool {
        self.bus.idle()
    }

    /// Reads the event counters, by letting time pass.
    pub fn counters(&mut self, observer: &mut dyn Observer<H>) -> Result<Vec<u32>, NicError> {
        (0..reg::counter::COUNT).map(|i| self.read_register(reg::counter::OFFSET + 4 * i, observer)).collect()
    }

    /// A frame arrives. False if the NIC is so far behind that the link drops it.
    pub fn receive(&mut self, frame: Vec<u8>, observer: &mut dyn Observer<H>) -> bool {
        if frame.is_empty() || self.rx_backlog() >= RX_FRAMES {
            return false;
        }
        observer.frame_in(self.cycle, &frame);
        match &mut self.attachment {
            Attachment::Bare(bare) => bare.push(frame),
            Attachment::Corundum(core) => core.push(frame),
        }
        true
    }

    /// Frames waiting in front of the NIC.
    pub fn rx_backlog(&self) -> usize {
        match &self.attachment {
            Attachment::Bare(bare) => bare.backlog(),
            Attachment::Corundum(core) => core.backlog(),
        }
    }

    /// Cycles since the start.
    pub fn cycle(&self) -> u64 {
        self.cycle
    }

    /// Simulated time.
    pub fn now_ps(&self) -> u64 {
        self.cycle * self.period_ps
    }

    /// Nothing is under way in the host's DMA ports.
    pub fn dma_idle(&self) -> bool {
        match &self.attachment {
            Attachment::Bare(bare) => bare.idle(),
            Attachment::Corundum(core) => core.idle(),
        }
    }

    /// Ends the traffic of others, where there is a core around the engine.
    pub fn quiesce(&mut self) {
        if let Attachment::Corundum(core) = &mut self.attachment {
            core.quiesce();
        }
    }

    /// What passed the wrapper, where there is one: all of the others' traffic, and its registers say the same.
    pub fn core_report(&mut self, observer: &mut dyn Observer<H>) -> Result<Option<CoreReport>, NicError> {
        let mut what = String::new();
        for _ in 0..CORE_READS {
            let mut registers = Vec::new();
            for offset in corundum::REGISTERS {
                registers.push(self.read_register(*offset, observer)?);
            }
            let Attachment::Corundum(core) = &self.attachment else { return Ok(None) };
            match core.finish(&registers) {
                Ok(report) => return Ok(Some(report)),
                Err(e) => what = e,
            }
        }
        Err(NicError::Corundum { node: self.node, cycle: self.cycle, what })
    }

    /// Starts a waveform.
    pub fn trace_open(&mut self, path: &std::path::Path) -> Result<(), mrnic_verilated::FileError> {
        self.dut.trace_open(path)
    }

    /// Ends the waveform.
    pub fn trace_close(&mut self) {
        self.dut.trace_close();
    }

    /// One clock cycle. Returns a frame that left the NIC in it.
    pub fn step(&mut self, observer: &mut dyn Observer<H>) -> Result<Option<Vec<u8>>, NicError> {
        let (node, cycle, now) = (self.node, self.cycle, self.now_ps());
        let outside = |access| NicError::Memory { node, cycle, access };
        self.bus.drive();
        match &mut self.attachment {
            Attachment::Bare(bare) => bare.drive(now, &mut self.memory, &self.host, observer),
            Attachment::Corundum(core) => core.drive(now, &mut self.memory, observer),
        }
        .map_err(outside)?;
        self.dut.eval();
        self.bus.sample();
        self.commit.sample(cycle, &mut self.records);
        for r in self.records.drain(..) {
            observer.record(&r, &self.memory);
        }
        let time = (cycle, now);
        let frame = match &mut self.attachment {
            Attachment::Bare(bare) => bare.sample(time, &mut self.memory, &self.host, observer).map_err(outside)?,
            Attachment::Corundum(core) => {
                core.sample(time, &self.host, observer).map_err(|what| NicError::Corundum { node, cycle, what })?
            }
        };
        if let Some(f) = &frame {
            observer.frame_out(cycle, f, &self.memory);
        }
        self.dut.cycle();
        self.cycle += 1;
        if self.dut.errors() > 0 {
            return Err(NicError::Assertion { node, cycle, count: self.dut.errors(), messages: self.dut.messages() });
        }
        Ok(frame)
    }
}

/// Keeps the records of the time before anything else can happen.
#[derive(Default)]
struct Early(Vec<Record>);

impl<H> Observer<H> for Early {
    fn frame_in(&mut self, _: u64, _: &[u8]) {}
    fn record(&mut self, record: &Record, _: &H) {
        self.0.push(record.clone());
    }
    fn dma_read(&mut self, _: u64, _: u64, _: usize) {}
    fn dma_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn write_visible(&mut self) {}
    fn wqe_read(&mut self, _: u64, _: u64, _: usize) {}
    fn cqe_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn frame_out(&mut self, _: u64, _: &[u8], _: &H) {}
}

/// An observer that looks away.
pub struct Silent;

impl<H> Observer<H> for Silent {
    fn frame_in(&mut self, _: u64, _: &[u8]) {}
    fn record(&mut self, _: &Record, _: &H) {}
    fn dma_read(&mut self, _: u64, _: u64, _: usize) {}
    fn dma_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn write_visible(&mut self) {}
    fn wqe_read(&mut self, _: u64, _: u64, _: usize) {}
    fn cqe_write(&mut self, _: u64, _: u64, _: &[u8]) {}
    fn frame_out(&mut self, _: u64, _: &[u8], _: &H) {}
}
