//! Messages of a stream from work request to completion (section 9, W1..W4).
//! In: work requests, retired packets, errors. Out: completions in MSN order.
//! Guarantees exactly one completion for each work request (none if unsignaled and successful).

use alloc::vec::Vec;
use mrnic_wire::Msn;

use crate::seq::Serial24;
use crate::wqe::{Cqe, Status};

/// What the packets of a message need; kept until another accepted message takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MsgRow {
    /// Bus address of the payload.
    pub laddr: u64,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
}

/// A message that has no completion yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub wqe_index: u16,
    pub wr_id: u64,
    pub signaled: bool,
    pub opcode: u8,
    pub length: u32,
    /// W1: it was refused with this status and has no packets.
    pub refused: Option<Status>,
    /// Packets that are not yet retired.
    pub remaining: u32,
}

impl Message {
    const NONE: Message =
        Message { wqe_index: 0, wr_id: 0, signaled: false, opcode: 0, length: 0, refused: None, remaining: 0 };

    /// W2: every packet was retired, or there are none.
    pub fn is_done(&self) -> bool {
        self.remaining == 0
    }
}

/// Which message completes with the status of the error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fail {
    Message(Msn),
    /// The oldest that is not done.
    FirstNotDone,
    /// It has completed; all that follow are flushed.
    Spent,
}

/// W3: the QP is in Error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpFailure {
    pub fail: Fail,
    pub status: Status,
    pub nak_code: u8,
}

/// The sending half of a queue pair.
#[derive(Clone, Debug)]
pub struct SendQueue {
    qpn: u32,
    /// MSN of the oldest message without a completion.
    pub head: Msn,
    /// Messages without a completion.
    pub count: u32,
    ring: Vec<Message>,
    rows: Vec<MsgRow>,
    pub failure: Option<QpFailure>,
    cq_log2: u8,
    /// Completions written since the QP was opened.
    pub cq_count: u32,
}

impl SendQueue {
    pub fn new(qpn: u32, start_msn: u32, messages: usize, cq_log2: u8) -> Self {
        SendQueue {
            qpn,
            head: Msn::new(start_msn),
            count: 0,
            ring: alloc::vec![Message::NONE; messages],
            rows: alloc::vec![MsgRow::default(); messages],
            failure: None,
            cq_log2,
            cq_count: 0,
        }
    }

    fn slot(&self, msn: Msn) -> usize {
        msn.get() as usize & (self.ring.len() - 1)
    }

    pub fn capacity(&self) -> u32 {
        self.ring.len() as u32
    }

    pub fn in_error(&self) -> bool {
        self.failure.is_some()
    }

    /// The MSN that the next work request gets.
    pub fn next_msn(&self) -> Msn {
        self.head.wrapping_add(self.count)
    }

    /// Whether `msn` has no completion yet.
    pub fn is_outstanding(&self, msn: Msn) -> bool {
        msn.ahead_of(self.head) < self.count
    }

    pub fn message(&self, msn: Msn) -> Option<&Message> {
        self.is_outstanding(msn).then(|| &self.ring[self.slot(msn)])
    }

    pub fn row(&self, msn: Msn) -> &MsgRow {
        &self.rows[self.slot(msn)]
    }

    /// W1: takes a work request. The caller has checked that there is room.
    pub fn push(&mut self, message: Message, row: Option<MsgRow>) -> Msn {
        let msn = self.next_msn();
        let slot = self.slot(msn);
        self.ring[slot] = message;
        if let Some(row) = row {
            self.rows[slot] = row;
        }
        self.count += 1;
        msn
    }

    /// W2: a packet of `msn` was retired. Returns whether its message is now done. Packets of flushed messages are ignored.
    pub fn retire(&mut self, msn: Msn) -> bool {
        if !self.is_outstanding(msn) {
            return false;
        }
        let slot = self.slot(msn);
        let message = &mut self.ring[slot];
        message.remaining = message.remaining.saturating_sub(1);
        message.remaining == 0
    }

    /// W3: the first error of the QP; a later one changes nothing. Returns whether it was the first.
    pub fn fail(&mut self, fail: Fail, status: Status, nak_code: u8) -> bool {
        if self.failure.is_some() {
            return false;
        }
        self.failure = Some(QpFailure { fail, status, nak_code });
        true
    }

    /// Status and refusal code of the oldest message, if it may complete.
    fn head_status(&self, message: &Message) -> Option<(Status, u8)> {
        let own = message.refused.unwrap_or(Status::Success);
        let Some(failure) = &self.failure else {
            return message.is_done().then_some((own, 0));
        };
        // W3: the failing message gets the status, older ones theirs if they are done, everything else is flushed.
        let failing = match failure.fail {
            Fail::Spent => return Some((Status::WrFlushErr, 0)),
            Fail::Message(msn) => msn == self.head,
            Fail::FirstNotDone => !message.is_done(),
        };
        if failing {
            Some((failure.status, failure.nak_code))
        } else if message.is_done() {
            Some((own, 0))
        } else {
            Some((Status::WrFlushErr, 0))
        }
    }

    /// Frees leading messages that completed with success and want no completion.
    pub fn reap_unsignaled(&mut self) {
        while self.count > 0 {
            let message = self.ring[self.slot(self.head)];
            match self.head_status(&message) {
                Some((Status::Success, _)) if !message.signaled => {
                    self.head = self.head.next();
                    self.count -= 1;
                }
                _ => return,
            }
        }
    }

    /// W2, W3: the next completion, in MSN order, if one is due. W4: it leaves the queue with it, so there is exactly one.
    pub fn pop_cqe(&mut self) -> Option<Cqe> {
        self.reap_unsignaled();
        if self.count == 0 {
            return None;
        }
        let message = self.ring[self.slot(self.head)];
        let (status, nak_code) = self.head_status(&message)?;
        let msn = self.head;
        self.after_status(&message, msn);
        let cqe = Cqe {
            status,
            opcode: message.opcode,
            phase: (self.cq_count >> self.cq_log2) & 1 == 0,
            qpn: self.qpn,
            wr_id: message.wr_id,
            byte_len: if status == Status::Success { message.length } else { 0 },
            wqe_index: message.wqe_index,
            nak_code,
            msn: msn.get(),
        };
        self.cq_count = self.cq_count.wrapping_add(1);
        self.head = msn.next();
        self.count -= 1;
        Some(cqe)
    }

    /// W3: a refused work request that becomes the oldest is the first error; a failing message is used up.
    fn after_status(&mut self, message: &Message, msn: Msn) {
        match &mut self.failure {
            None => {
                if let Some(status) = message.refused {
                    self.failure = Some(QpFailure { fail: Fail::Spent, status, nak_code: 0 });
                }
            }
            Some(failure) => {
                let failing = match failure.fail {
                    Fail::Message(failing) => failing == msn,
                    Fail::FirstNotDone => !message.is_done(),
                    Fail::Spent => false,
                };
                if failing {
                    failure.fail = Fail::Spent;
                }
            }
        }
    }
}
