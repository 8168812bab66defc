//! Receives of a queue pair in the order of rq_seq (Q1), and shared receive queues.
//! In: posted receives, messages that use them. Out: completions in order. Guarantees one completion for each receive that a
//! queue pair has taken or that was posted to it.

use alloc::collections::VecDeque;

use crate::sge::Sge;
use crate::wqe::{Cqe, Status, CQE_RECV, CQE_RECV_WRITE_IMM};

const SEQ_MASK: u32 = 0xFF_FFFF;

/// Where a receive stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecvState {
    /// SRQ only: no receive was taken for this rq_seq yet.
    Empty,
    Posted,
    /// A packet of its message was accepted or checked.
    Taken,
    /// Q5: its message is complete.
    Complete,
}

/// A receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recv {
    pub state: RecvState,
    pub wr_id: u64,
    /// Of a shared queue: which of its receives it is, modulo 2^16.
    pub index: u16,
    pub only: Sge,
    /// In the NIC's table, if there is more than one SGE.
    pub list: Option<u32>,
    pub total_bytes: u64,
    /// The message that took it.
    pub msn: u32,
    /// Q3: how it completes if its QP fails by it.
    pub failed: Option<Status>,
    pub byte_len: u32,
    pub imm: Option<u32>,
    pub solicited: bool,
    /// Used by a WRITE with immediate.
    pub by_write: bool,
}

impl Recv {
    const EMPTY: Recv = Recv::new(RecvState::Empty, 0, Sge { addr: 0, len: 0, lkey: 0 }, None, 0);

    pub const fn new(state: RecvState, wr_id: u64, only: Sge, list: Option<u32>, total_bytes: u64) -> Self {
        Recv {
            state,
            wr_id,
            index: 0,
            only,
            list,
            total_bytes,
            msn: 0,
            failed: None,
            byte_len: 0,
            imm: None,
            solicited: false,
            by_write: false,
        }
    }
}

/// What a packet finds at its rq_seq.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Index for [`RecvQueue::at`].
    Recv(usize),
    /// SRQ: nothing was taken for it yet.
    Untaken,
    /// Q2: it is not posted.
    Missing,
    /// Another message has it, or it lies outside of the window.
    Wrong,
}

/// The receives of a queue pair.
#[derive(Clone, Debug)]
pub struct RecvQueue {
    qpn: u32,
    shared: bool,
    depth: usize,
    /// rq_seq of the oldest receive without a completion.
    pub head: u32,
    slots: VecDeque<Recv>,
    cq_log2: u8,
    cq_count: u32,
}

impl RecvQueue {
    /// `depth`: of its own queue the receives that may be posted, of a shared one the messages of the window.
    pub fn new(qpn: u32, shared: bool, depth: u32, cq_log2: u8) -> Self {
        RecvQueue { qpn, shared, depth: depth as usize, head: 0, slots: VecDeque::new(), cq_log2, cq_count: 0 }
    }

    /// Receives without a completion.
    pub fn len(&self) -> usize {
        self.slots.iter().filter(|r| r.state != RecvState::Empty).count()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn is_full(&self) -> bool {
        self.slots.len() >= self.depth
    }

    /// Q1: the next receive of its own queue.
    pub fn post(&mut self, recv: Recv) {
        self.slots.push_back(recv);
    }

    /// Q1, Q2: what `rq_seq` names.
    pub fn find(&self, rq_seq: u32, msn: u32) -> Found {
        let index = (rq_seq.wrapping_sub(self.head) & SEQ_MASK) as usize;
        if index >= 1 << 23 {
            return Found::Wrong;
        }
        match self.slots.get(index) {
            Some(r) if r.state == RecvState::Posted || (r.state == RecvState::Taken && r.msn == msn) => Found::Recv(index),
            Some(r) if r.state != RecvState::Empty => Found::Wrong,
            _ if !self.shared => Found::Missing,
            // Completions that were not yet taken may fill the ring.
            _ if index >= self.depth => Found::Missing,
            _ => Found::Untaken,
        }
    }

    /// Q1: a receive of the shared queue for `rq_seq`, which was found untaken.
    pub fn put(&mut self, rq_seq: u32, recv: Recv) -> usize {
        let index = (rq_seq.wrapping_sub(self.head) & SEQ_MASK) as usize;
        while self.slots.len() <= index && self.slots.len() < self.depth {
            self.slots.push_back(Recv::EMPTY);
        }
        if let Some(slot) = self.slots.get_mut(index) {
            *slot = recv;
        }
        index
    }

    pub fn at(&self, index: usize) -> Option<&Recv> {
        self.slots.get(index)
    }

    pub fn at_mut(&mut self, index: usize) -> Option<&mut Recv> {
        self.slots.get_mut(index)
    }

    /// Q5: `exp` passed the message of `rq_seq`.
    pub fn complete(&mut self, rq_seq: u32) {
        let index = (rq_seq.wrapping_sub(self.head) & SEQ_MASK) as usize;
        if let Some(slot) = self.slots.get_mut(index) {
            slot.state = RecvState::Complete;
        }
    }

    /// Q5, Q6: the next completion, and the receive it belongs to.
    pub fn pop_cqe(&mut self, in_error: bool) -> Option<(Cqe, Recv)> {
        loop {
            let recv = *self.slots.front()?;
            let complete = recv.state == RecvState::Complete;
            if !complete && !in_error {
                return None;
            }
            self.slots.pop_front();
            let rq_seq = self.head;
            self.head = rq_seq.wrapping_add(1) & SEQ_MASK;
            if recv.state == RecvState::Empty {
                continue;
            }
            let status = match complete {
                true => Status::Success,
                false => recv.failed.unwrap_or(Status::WrFlushErr),
            };
            let cqe = Cqe {
                status,
                opcode: if recv.by_write { CQE_RECV_WRITE_IMM } else { CQE_RECV },
                phase: (self.cq_count >> self.cq_log2) & 1 == 0,
                qpn: self.qpn,
                wr_id: recv.wr_id,
                byte_len: if complete { recv.byte_len } else { 0 },
                wqe_index: if self.shared { recv.index } else { rq_seq as u16 },
                imm: recv.imm.filter(|_| complete),
                solicited: recv.solicited && complete,
                nak_code: 0,
                msn: recv.msn,
            };
            self.cq_count = self.cq_count.wrapping_add(1);
            return Some((cqe, recv));
        }
    }

    /// Takes out what is left, without completions.
    pub fn drain(&mut self) -> impl Iterator<Item = Recv> + '_ {
        self.slots.drain(..)
    }
}

/// A shared receive queue.
#[derive(Clone, Debug)]
pub struct Srq {
    pub pd: u16,
    pub depth: u32,
    /// Q7: event when fewer receives than this are left; 0 is disarmed.
    pub limit: u32,
    pub queue: VecDeque<Recv>,
    /// Receives that were posted, since the beginning.
    pub posted: u32,
}

impl Srq {
    /// Q1: the next receive.
    pub fn post(&mut self, recv: Recv) {
        self.queue.push_back(Recv { index: self.posted as u16, ..recv });
        self.posted = self.posted.wrapping_add(1);
    }

    /// Q1, Q7: the oldest receive, and whether the limit was reached.
    pub fn take(&mut self) -> Option<(Recv, bool)> {
        let recv = self.queue.pop_front()?;
        Some((recv, self.limit_reached()))
    }

    /// Q7: fewer receives than the armed limit: it is disarmed.
    pub fn limit_reached(&mut self) -> bool {
        let reached = (self.queue.len() as u32) < self.limit;
        if reached {
            self.limit = 0;
        }
        reached
    }
}
