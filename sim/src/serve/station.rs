//! A NIC and the program that has it.
//!
//! In: register accesses of the program, clock cycles. Out: register values, interrupts, frames. What the program writes into tables is also told
//! to the checker, if there is one; its golden model has a row when the NIC's receiver has it.
use super::figures::Figures;
use super::peer::Peer;
use super::watch::{Fact, Watch};
use crate::nic::{NicError, NicSim};
use crate::setup::RowReader;
use mrnic_host_bus::rows::{self, Row, TableWrite};
use mrnic_host_bus::Message;
use mrnic_nic::config::BuildConfig;
use mrnic_regs::{reg, ring, table};
use std::collections::{BTreeSet, VecDeque};

/// A NIC without packets outstanding in which nothing happened for so many cycles has nothing to do: acknowledgments are held back for
/// 4,000 (R8) at most.
const QUIET_CYCLES: u64 = 8_000;
/// Accesses that are under way when memory is unmapped end within so many cycles, unless the host's memory is very slow.
const DRAIN_CYCLES: u64 = 4_000;

/// So long nothing has happened in a NIC that holds nothing in its pipelines.
const CALM_CYCLES: u64 = 256;
/// Parameters of the engine, and the values that the golden model has.
const PARAMETERS: [(u16, u32); 4] = [
    (reg::rto_min::OFFSET, reg::rto_min::RESET),
    (reg::ack_delay::OFFSET, reg::ack_delay::RESET),
    (reg::ack_every::OFFSET, reg::ack_every::RESET),
    (reg::epoch_cap::OFFSET, reg::epoch_cap::RESET),
];
/// Register accesses that wait for the NIC; further ones wait in the socket.
const ACCESSES_MAX: u64 = 4096;

/// A register write that is under way, with the number of accesses after which the NIC has taken it.
enum Pending {
    Table(TableWrite),
    Doorbell { qp: u64, producer: u16 },
}

pub struct Station {
    pub nic: NicSim<Peer>,
    pub watch: Watch,
    /// Offsets of reads that are under way.
    reads: VecDeque<u16>,
    pending: VecDeque<(u64, Pending)>,
    /// Accesses queued, and those that were done before.
    queued: u64,
    staged: Row,
    /// For the golden model.
    rows: RowReader,
    unmasked: bool,
    completions_told: u64,
    open_qps: BTreeSet<u16>,
    /// What is to be unmapped at the latest in which cycle of the NIC; no range: everything, because the program leaves.
    unmapping: VecDeque<(u64, Option<(u64, u64)>)>,
    /// The program has said that it leaves.
    pub leaving: bool,
    /// It has been told that it may.
    pub left: bool,
    /// The NIC is taken away in this cycle of the network at the latest.
    pub until_cycle: u64,
}

impl Station {
    pub fn new(nic: NicSim<Peer>, watch: Watch, build: &BuildConfig) -> Self {
        let queued = nic.accesses();
        Station {
            nic,
            watch,
            reads: VecDeque::new(),
            pending: VecDeque::new(),
            queued,
            staged: [0; 16],
            rows: RowReader::new(build),
            unmasked: false,
            completions_told: 0,
            open_qps: BTreeSet::new(),
            unmapping: VecDeque::new(),
            leaving: false,
            left: false,
            until_cycle: u64::MAX,
        }
    }

    /// Has it anything to do?
    pub fn busy(&self) -> bool {
        !self.nic.bus_idle()
            || self.watch.outstanding()
            || self.nic.cycle() - self.watch.active < QUIET_CYCLES
            || self.nic.rx_backlog() > 0
            || !self.nic.dma_idle()
            || !self.unmapping.is_empty()
    }

    /// Whether more messages should be taken from the program now.
    pub fn listens(&self) -> bool {
        !self.left && self.queued - self.nic.accesses() < ACCESSES_MAX
    }

    /// The memory is no longer touched once the program has its answer: what is under way ends first.
    pub fn unmap(&mut self, range: Option<(u64, u64)>) {
        self.unmapping.push_back((self.nic.cycle() + DRAIN_CYCLES, range));
    }

    /// The program leaves: queue pairs that it left open are closed, so that the NIC sends nothing more from its memory (S6).
    pub fn leave(&mut self) {
        self.leaving = true;
        for qp in std::mem::take(&mut self.open_qps) {
            let write = rows::closed(table::qp::NUMBER, qp);
            for (word, value) in write.row.iter().enumerate() {
                self.write(reg::table_data::OFFSET + 4 * word as u16, *value);
            }
            let mut commit = [0];
            reg::table_commit::TABLE.set(&mut commit, write.table.into());
            reg::table_commit::INDEX.set(&mut commit, qp.into());
            self.write(reg::table_commit::OFFSET, commit[0]);
        }
        self.unmap(None);
    }

    fn drain(&mut self) {
        // What the pipelines hold may still ask for it.
        let calm = self.nic.cycle() - self.watch.active > CALM_CYCLES && !self.watch.outstanding();
        let quiet = calm && self.nic.dma_idle() && self.nic.bus_idle();
        while self.unmapping.front().is_some_and(|(at, _)| quiet || self.nic.cycle() >= *at) {
            let Some((_, range)) = self.unmapping.pop_front() else { return };
            self.nic.memory.unmap(range);
            self.nic.memory.send(&Message::Done);
            self.left |= range.is_none();
        }
    }

    pub fn read(&mut self, offset: u16) {
        self.nic.queue_read(offset);
        self.queued += 1;
        self.reads.push_back(offset);
        self.watch.active = self.nic.cycle();
    }

    pub fn write(&mut self, offset: u16, value: u32) {
        self.nic.write_register(offset, value);
        self.queued += 1;
        self.watch.active = self.nic.cycle();
        let changed = PARAMETERS.iter().any(|(parameter, reset)| *parameter == offset && *reset != value);
        if changed && self.watch.checker.take().is_some() {
            tracing::warn!(
                "NIC {}: no longer compared with the golden model: register {offset:#x} is changed",
                self.nic.memory.name
            );
        }
        let data = reg::table_data::OFFSET;
        if offset == reg::table_commit::OFFSET {
            let write = TableWrite {
                table: reg::table_commit::TABLE.get(&[value]) as u8,
                index: reg::table_commit::INDEX.get(&[value]) as u16,
                row: self.staged,
            };
            let row = self.rows.read(&write);
            if let Some(checker) = &mut self.watch.checker {
                checker.row_written(row);
            }
            self.pending.push_back((self.queued, Pending::Table(write)));
        } else if offset == reg::doorbell::OFFSET {
            let (qp, producer) = (reg::doorbell::QP.get(&[value]), reg::doorbell::PRODUCER.get(&[value]) as u16);
            self.pending.push_back((self.queued, Pending::Doorbell { qp, producer }));
        } else if let Some(word) = offset.checked_sub(data).map(|at| usize::from(at / 4)).filter(|word| *word < 16) {
            self.staged[word] = value;
        }
    }

    /// One clock cycle. Returns a frame that left the NIC.
    pub fn step(&mut self, place: usize, cycle: u64, figures: &mut Figures) -> Result<Option<Vec<u8>>, NicError> {
        let frame = self.nic.step(&mut self.watch)?;
        if let Some(error) = self.watch.checker.as_ref().and_then(|checker| checker.refused_row()) {
            tracing::warn!("NIC {place}: no longer compared with the golden model, which refuses {error}");
            self.watch.checker = None;
        }
        while self.pending.front().is_some_and(|(at, _)| *at <= self.nic.accesses()) {
            match self.pending.pop_front() {
                Some((_, Pending::Doorbell { qp, producer })) => figures.doorbell(place, cycle, qp, producer),
                Some((_, Pending::Table(write))) => self.applied(place, &write, figures),
                None => {}
            }
        }
        for fact in self.watch.facts.drain(..) {
            match fact {
                Fact::Wqe { qp, index, opcode, bytes } => figures.wqe(place, qp, index, (opcode, bytes)),
                Fact::Placed => figures.placed(place, cycle),
                Fact::Completion => figures.completion(place, cycle),
                Fact::Receive => figures.received(place, cycle),
            }
        }
        Ok(frame)
    }

    /// The NIC has taken a row.
    fn applied(&mut self, place: usize, write: &TableWrite, figures: &mut Figures) {
        let (index, row) = (write.index, &write.row);
        match write.table {
            table::conn::NUMBER => self.watch.forget(index.into()),
            table::qp::NUMBER => {
                figures.open_qp(place, index.into());
                self.watch.forget_qp(index.into());
                match table::qp::VALID.get(row) {
                    0 => self.open_qps.remove(&index),
                    _ => self.open_qps.insert(index),
                };
                if let Some((_, rings)) = rows::read_qp(row) {
                    self.nic.memory.forget_reads(rings.sq_base, rings.sq_entry_bytes() << rings.sq_log2);
                    self.nic.memory.forget_reads(rings.rq_base, (ring::recv::BYTES as u64) << rings.rq_log2);
                }
            }
            _ => {}
        }
    }

    /// Answers and interrupts that are due, and what waits in the socket.
    pub fn answer(&mut self) {
        self.drain();
        while let Some(value) = self.nic.register_value() {
            if let Some(offset) = self.reads.pop_front() {
                self.nic.memory.send(&Message::RegisterValue { offset, value });
            }
        }
        if self.unmasked && self.watch.completions != self.completions_told {
            self.unmasked = false;
            self.completions_told = self.watch.completions;
            self.nic.memory.send(&Message::Interrupt);
        }
        self.nic.memory.flush();
    }

    pub fn unmask(&mut self) {
        self.unmasked = true;
    }
}
