//! What the server wants to know of a NIC: whether it has work, and whether it does as the golden model does.
//!
//! In: everything the NIC does. Out: when it last did something, packets outstanding, completions since the last look, facts for the figures,
//! and the first divergence, if the golden model runs beside it.
use super::peer::Peer;
use crate::nic::Observer;
use crate::outstanding::Outstanding;
use mrnic_lockstep::{Checker, Divergence, Kind, Record};
use mrnic_model::wqe::is_request;
use mrnic_regs::{code, ring};
use std::collections::BTreeSet;

/// Something for the figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fact {
    Wqe {
        qp: u64,
        index: u16,
        opcode: u8,
        bytes: u64,
    },
    Placed,
    /// Of a request.
    Completion,
    /// Of a receive.
    Receive,
}

pub struct Watch {
    /// Cycle of the NIC in which something last happened.
    pub active: u64,
    outstanding: Outstanding,
    /// READs and atomics, by queue pair and MSN, that wait for their responses: time passes until those come, or the peer's silence is noticed (D8).
    awaited: BTreeSet<(u64, u64)>,
    pub completions: u64,
    pub facts: Vec<Fact>,
    pub checker: Option<Checker>,
    pub failed: Option<Box<Divergence>>,
}

impl Watch {
    pub fn new(conns: usize, checker: Option<Checker>) -> Self {
        Watch {
            active: 0,
            outstanding: Outstanding::new(conns),
            awaited: BTreeSet::new(),
            completions: 0,
            facts: Vec::new(),
            checker,
            failed: None,
        }
    }

    /// Packets wait for acknowledgments, or requests for responses.
    pub fn outstanding(&self) -> bool {
        self.outstanding.any() || !self.awaited.is_empty()
    }

    /// A queue pair was opened or closed: it waits for nothing.
    pub fn forget_qp(&mut self, qp: u64) {
        self.awaited.retain(|(of, _)| *of != qp);
    }

    /// A connection was opened or closed: nothing of it is outstanding.
    pub fn forget(&mut self, conn: u64) {
        self.outstanding.forget(conn);
    }

    fn check(&mut self, f: impl FnOnce(&mut Checker) -> Result<(), Box<Divergence>>) {
        if self.failed.is_none() {
            if let Some(checker) = &mut self.checker {
                self.failed = f(checker).err();
            }
        }
    }
}

impl Observer<Peer> for Watch {
    fn frame_in(&mut self, cycle: u64, frame: &[u8]) {
        self.active = cycle;
        self.check(|c| c.frame_in(cycle, frame));
    }

    fn record(&mut self, record: &Record, memory: &Peer) {
        self.active = record.cycle;
        self.outstanding.record(record);
        match record.kind {
            Kind::Wqe => {
                let bytes = ring::wqe::LENGTH.get(&record.wide);
                let (index, opcode) = (record.get("wqe_index") as u16, ring::wqe::OPCODE.get(&record.wide) as u8);
                self.facts.push(Fact::Wqe { qp: record.get("qp"), index, opcode, bytes });
                if record.get("status") == 0 && is_request(opcode) {
                    self.awaited.insert((record.get("qp"), record.get("msn")));
                }
            }
            Kind::Answered | Kind::Cqe => drop(self.awaited.remove(&(record.get("qp"), record.get("msn")))),
            _ => {}
        }
        self.check(|c| c.record(record, memory));
    }

    fn dma_read(&mut self, cycle: u64, addr: u64, len: usize) {
        self.active = cycle;
        self.check(|c| c.dma_read(cycle, addr, len));
    }

    fn dma_write(&mut self, cycle: u64, addr: u64, data: &[u8]) {
        self.active = cycle;
        self.facts.push(Fact::Placed);
        self.check(|c| c.dma_write(cycle, addr, data));
    }
    fn write_visible(&mut self) {
        self.check(|c| {
            c.write_visible();
            Ok(())
        });
    }

    fn wqe_read(&mut self, cycle: u64, _: u64, _: usize) {
        self.active = cycle;
    }

    fn cqe_write(&mut self, cycle: u64, addr: u64, data: &[u8]) {
        self.active = cycle;
        self.completions += 1;
        let of_receive = data.get(1).is_some_and(|opcode| u32::from(*opcode) >= u32::from(code::OPCODE_RECV));
        self.facts.push(if of_receive { Fact::Receive } else { Fact::Completion });
        self.check(|c| c.cqe_write(cycle, addr, data));
    }

    fn frame_out(&mut self, cycle: u64, frame: &[u8], memory: &Peer) {
        self.active = cycle;
        self.check(|c| c.frame_out(cycle, frame, memory));
    }
}
