//! Messages of a stream from work request to completion (section 9, W1..W4).
//! In: work requests, retired packets, errors. Out: completions in MSN order.
//! Guarantees exactly one completion for each work request (none if unsignaled and successful).

use alloc::vec::Vec;
use mrnic_wire::Msn;

use crate::seq::{Serial24, Tick};
use crate::wqe::{is_request, Cqe, Status};

/// What the packets of a message need; kept until another accepted message takes its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct MsgRow {
    /// Bus address of the payload.
    pub laddr: u64,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
    pub opcode: u8,
    pub solicited: bool,
    pub imm: u32,
    /// Consuming messages: how many came before it.
    pub rq_seq: u32,
    /// More than one SGE: in the NIC's table, with bus addresses.
    pub list: Option<u32>,
    /// MSGH.attempt.
    pub attempt: bool,
    /// Operands of an atomic.
    pub swap_add: u64,
    pub compare: u64,
}

/// D6: what a READ or an atomic still waits for; kept like its [`MsgRow`], whatever becomes of the QP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ReadRow {
    pub request: bool,
    pub msn: u32,
    /// Its request was sent.
    pub sent: bool,
    /// Bytes of the response that were not yet placed.
    pub left: u32,
    pub whole: bool,
    /// The whole response is visible to software, and was told.
    pub answered: bool,
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
    /// Packets of an attempt.
    pub npkts: u32,
    /// Packets of this attempt that were sent, unless it is the head of its connection's FIFO.
    pub sent: u32,
    pub fence: bool,
    /// It passed D1 and entered the FIFO.
    pub entered: bool,
    /// N1: to begin again.
    pub withdrawn: bool,
    /// Its request was sent (D8).
    pub asked: bool,
    /// D6: a READ or atomic that was not answered.
    pub unanswered: bool,
}

/// The numbers of a work request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub wqe_index: u16,
    pub wr_id: u64,
    pub signaled: bool,
    pub fence: bool,
    pub opcode: u8,
    pub length: u32,
    pub npkts: u32,
    pub refused: Option<Status>,
}

/// What a retirement or a response changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Progress {
    /// The message is done.
    pub done: bool,
    /// D8: a response is no longer awaited.
    pub answered: bool,
    /// N2: the QP waits, and nothing of it is outstanding or in the FIFO.
    pub drained: bool,
}

impl Message {
    fn new(new: &NewMessage) -> Message {
        let request = is_request(new.opcode) && new.refused.is_none();
        Message {
            wqe_index: new.wqe_index,
            wr_id: new.wr_id,
            signaled: new.signaled,
            opcode: new.opcode,
            length: new.length,
            refused: new.refused,
            remaining: new.npkts,
            npkts: new.npkts,
            sent: 0,
            fence: new.fence,
            entered: false,
            withdrawn: false,
            asked: false,
            unanswered: request,
        }
    }

    /// W2, D6: every packet was retired, or there are none, and the response was placed.
    pub fn is_done(&self) -> bool {
        self.remaining == 0 && !self.withdrawn && !self.unanswered
    }

    /// It is a READ or an atomic and was not refused.
    pub fn is_request(&self) -> bool {
        is_request(self.opcode) && self.refused.is_none()
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
    pub(super) ring: Vec<Message>,
    pub(super) rows: Vec<MsgRow>,
    reads: Vec<ReadRow>,
    pub failure: Option<QpFailure>,
    cq_log2: u8,
    /// Completions written since the QP was opened.
    pub cq_count: u32,
    /// The next message to enter the connection's FIFO.
    pub fed: Msn,
    /// Consuming messages that were taken, modulo 2^24.
    pub rq_seq: u32,
    /// D1: READs and atomics that entered the FIFO and are not done, and their limit.
    pub requests: u32,
    pub(super) max_requests: u32,
    /// D8: those whose request was sent and that are not done.
    pub awaited: u32,
    /// Packets that were sent and not retired.
    pub unretired: u32,
    /// Messages in the FIFO of the connection.
    pub(super) in_fifo: u32,
    /// N1: no packet is sent before this tick, nor before everything is retired. An error does not change it.
    pub waits_until: Option<Tick>,
    pub(super) rnr_retry: u8,
    pub(super) rnr_left: u8,
}

/// Limits of a sending stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendLimits {
    pub messages: usize,
    /// D1.
    pub max_requests: u8,
    /// N3.
    pub rnr_retry: u8,
}

impl SendQueue {
    pub fn new(qpn: u32, start_msn: u32, cq_log2: u8, limits: &SendLimits) -> Self {
        let messages = limits.messages;
        let none =
            NewMessage { wqe_index: 0, wr_id: 0, signaled: false, fence: false, opcode: 0, length: 0, npkts: 0, refused: None };
        SendQueue {
            qpn,
            head: Msn::new(start_msn),
            count: 0,
            ring: alloc::vec![Message::new(&none); messages],
            rows: alloc::vec![MsgRow::default(); messages],
            reads: alloc::vec![ReadRow::default(); messages],
            failure: None,
            cq_log2,
            cq_count: 0,
            fed: Msn::new(start_msn),
            rq_seq: 0,
            requests: 0,
            max_requests: limits.max_requests.into(),
            awaited: 0,
            unretired: 0,
            in_fifo: 0,
            waits_until: None,
            rnr_retry: limits.rnr_retry,
            rnr_left: limits.rnr_retry,
        }
    }

    pub(super) fn slot(&self, msn: Msn) -> usize {
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

    /// W1: takes a work request. The caller has checked that there is room. Returns its MSN and the SGE list of the request
    /// that stood in its place, which is free now.
    pub fn push(&mut self, message: &NewMessage, row: Option<MsgRow>) -> (Msn, Option<u32>) {
        let msn = self.next_msn();
        let slot = self.slot(msn);
        self.ring[slot] = Message::new(message);
        let mut freed = None;
        if let Some(row) = row {
            freed = self.rows[slot].list;
            self.rows[slot] = row;
            let request = is_request(row.opcode);
            let left = if request { row.length } else { 0 };
            self.reads[slot] = ReadRow { request, msn: msn.get(), left, ..ReadRow::default() };
        }
        self.count += 1;
        (msn, freed)
    }

    /// The SGE lists that are held; they are free after this.
    pub fn take_lists(&mut self) -> impl Iterator<Item = u32> + '_ {
        self.rows.iter_mut().filter_map(|row| row.list.take())
    }

    pub(super) fn outstanding_mut(&mut self, msn: Msn) -> Option<&mut Message> {
        let slot = self.slot(msn);
        self.is_outstanding(msn).then(|| &mut self.ring[slot])
    }

    /// S5: a packet was sent. Returns whether it is the first request packet of its READ or atomic (D8).
    pub fn sent(&mut self, msn: Msn, last: bool) -> bool {
        self.unretired += 1;
        self.in_fifo = self.in_fifo.saturating_sub(last.into());
        let slot = self.slot(msn);
        self.reads[slot].sent |= self.reads[slot].msn == msn.get();
        let in_error = self.in_error();
        let Some(message) = self.outstanding_mut(msn) else { return false };
        if last {
            message.sent = message.npkts;
        }
        // W3: a QP in Error awaits nothing (hardware may overlook for a moment that it is, and send)
        let first = message.is_request() && !message.asked && !in_error;
        message.asked |= first;
        self.awaited += u32::from(first);
        first
    }

    /// S2: a message left the FIFO without having been sent whole.
    pub fn skipped(&mut self) {
        self.in_fifo = self.in_fifo.saturating_sub(1);
    }

    /// N2: something that was sent is not retired, or a message is in the FIFO.
    pub fn is_busy(&self) -> bool {
        self.unretired > 0 || self.in_fifo > 0
    }

    /// W2: a packet of `msn` was retired. Packets of flushed messages are ignored.
    pub fn retire(&mut self, msn: Msn) -> Progress {
        self.unretired = self.unretired.saturating_sub(1);
        let drained = self.waits_until.is_some() && !self.is_busy();
        let Some(message) = self.outstanding_mut(msn) else { return Progress { drained, ..Progress::default() } };
        message.remaining = message.remaining.saturating_sub(1);
        Progress { drained, ..self.progress(msn) }
    }

    /// D6: the READ or atomic of this number, if it was sent and its response is not whole.
    pub fn awaiting(&self, msn: Msn) -> Option<&ReadRow> {
        let row = &self.reads[self.slot(msn)];
        (row.request && row.msn == msn.get() && row.sent && !row.whole).then_some(row)
    }

    /// D6: bytes of the response were placed. Returns whether it is whole now.
    pub fn respond(&mut self, msn: Msn, bytes: u32) -> bool {
        let slot = self.slot(msn);
        let row = &mut self.reads[slot];
        row.left = row.left.saturating_sub(bytes);
        row.whole = row.left == 0;
        row.whole
    }

    /// D6: every byte of the whole response is visible to software. None if it is not whole, or was told before.
    pub fn answered(&mut self, msn: Msn) -> Option<Progress> {
        let slot = self.slot(msn);
        let row = &mut self.reads[slot];
        if row.msn != msn.get() || !row.whole || row.answered {
            return None;
        }
        row.answered = true;
        let Some(message) = self.outstanding_mut(msn) else { return Some(Progress::default()) };
        message.unanswered = false;
        Some(self.progress(msn))
    }

    fn progress(&mut self, msn: Msn) -> Progress {
        let in_error = self.in_error();
        let Some(message) = self.outstanding_mut(msn) else { return Progress::default() };
        if !message.is_done() {
            return Progress::default();
        }
        let request = message.is_request() && !in_error;
        let answered = request && core::mem::take(&mut message.asked);
        self.requests = self.requests.saturating_sub(request.into());
        self.awaited = self.awaited.saturating_sub(answered.into());
        Progress { done: true, answered, drained: false }
    }

    /// W3: a QP in Error awaits nothing. Returns how many responses it awaited.
    pub fn forget_requests(&mut self) -> u32 {
        self.requests = 0;
        core::mem::take(&mut self.awaited)
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
                    // N3: a message that completes restores the count.
                    self.rnr_left = self.rnr_retry;
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
            imm: None,
            solicited: false,
            nak_code,
            msn: msn.get(),
        };
        if status == Status::Success {
            self.rnr_left = self.rnr_retry;
        }
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
