//! Message contexts of a receiving stream (R7): a ring of M, indexed by MSN.
//! In: placed payloads and accepted requests. Out: which MSNs are complete, in order. Each PPSN counts once, so a byte counter
//! is enough.

use alloc::vec::Vec;
use mrnic_wire::Msn;

use crate::seq::Serial24;

/// What completes with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RxKind {
    #[default]
    Plain,
    /// Uses the receive of this rq_seq (Q5).
    Consuming { rq_seq: u32 },
    /// A READ or an atomic in this slot, to be executed when `exp` reaches it (D3).
    Request { slot: u8 },
}

/// Progress of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RxContext {
    pub bytes: u32,
    pub done: bool,
    /// A packet of it was accepted.
    pub begun: bool,
    /// MSGH.attempt of its packets (N4).
    pub attempt: bool,
    pub kind: RxKind,
}

/// A packet that was accepted, for its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    pub msn: Msn,
    pub attempt: bool,
    pub payload: u32,
    pub length: u32,
    pub kind: RxKind,
}

/// The receiving half of a queue pair.
#[derive(Clone, Debug)]
pub struct RecvStream {
    /// Oldest incomplete MSN.
    pub exp: Msn,
    ring: Vec<RxContext>,
}

impl RecvStream {
    pub fn new(start_msn: u32, messages: usize) -> Self {
        RecvStream { exp: Msn::new(start_msn), ring: alloc::vec![RxContext::default(); messages] }
    }

    fn slot(&self, msn: Msn) -> usize {
        msn.get() as usize & (self.ring.len() - 1)
    }

    /// The context of `msn`, if it lies within M of the oldest incomplete message.
    pub fn context(&self, msn: Msn) -> Option<&RxContext> {
        ((msn.ahead_of(self.exp) as usize) < self.ring.len()).then(|| &self.ring[self.slot(msn)])
    }

    /// N4: the message is complete already: placed but not yet passed by `exp`, or at most M behind it.
    pub fn is_late(&self, msn: Msn) -> bool {
        let behind = self.exp.ahead_of(msn) as usize;
        (1..=self.ring.len()).contains(&behind) || self.context(msn).is_some_and(|c| c.done)
    }

    /// N4: bytes that count for a packet of this attempt.
    fn counted(context: &RxContext, attempt: bool) -> u32 {
        match context.begun && context.attempt != attempt {
            true => 0,
            false => context.bytes,
        }
    }

    /// R3: the packet belongs to a message of the window and does not make it longer than it says.
    pub fn fits(&self, msn: Msn, attempt: bool, payload: u32, length: u32) -> bool {
        let Some(context) = self.context(msn) else { return false };
        Self::counted(context, attempt).checked_add(payload).is_some_and(|bytes| bytes <= length)
    }

    /// R7, N4: counts an accepted packet. The caller has checked that it fits.
    pub fn accept(&mut self, arrival: &Arrival) {
        let slot = self.slot(arrival.msn);
        let context = &mut self.ring[slot];
        context.bytes = Self::counted(context, arrival.attempt) + arrival.payload;
        context.begun = true;
        context.attempt = arrival.attempt;
        context.kind = arrival.kind;
        context.done = context.bytes == arrival.length || matches!(arrival.kind, RxKind::Request { .. });
    }

    /// R7: passes the oldest message if it is complete and not a request. Call it until it gives none.
    pub fn advance(&mut self) -> Option<RxKind> {
        let kind = self.ring[self.slot(self.exp)].kind;
        match kind {
            RxKind::Request { .. } => None,
            _ => self.pass(),
        }
    }

    /// D3: the slot of the request that `exp` has reached.
    pub fn request(&self) -> Option<u8> {
        match self.ring[self.slot(self.exp)] {
            RxContext { done: true, kind: RxKind::Request { slot }, .. } => Some(slot),
            _ => None,
        }
    }

    /// Passes the oldest message, if it is complete; its context is cleared.
    pub fn pass(&mut self) -> Option<RxKind> {
        let slot = self.slot(self.exp);
        if !self.ring[slot].done {
            return None;
        }
        self.exp = self.exp.next();
        Some(core::mem::take(&mut self.ring[slot]).kind)
    }
}
