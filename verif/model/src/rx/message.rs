//! Message contexts of a receiving stream (R7): a ring of M, indexed by MSN.
//! In: placed payloads. Out: which MSNs are complete, in order. Each PPSN counts once, so a byte counter is enough.

use alloc::vec::Vec;
use mrnic_wire::Msn;

use crate::seq::Serial24;

/// Progress of one message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RxContext {
    pub bytes: u32,
    pub done: bool,
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

    /// R3: the packet belongs to a message of the window and does not make it longer than it says.
    pub fn fits(&self, msn: Msn, payload: u32, length: u32) -> bool {
        let Some(context) = self.context(msn) else { return false };
        context.bytes.checked_add(payload).is_some_and(|bytes| bytes <= length)
    }

    /// R7: counts a placed payload. Returns how many messages completed in order.
    pub fn placed(&mut self, msn: Msn, payload: u32, length: u32) -> u32 {
        let slot = self.slot(msn);
        let context = &mut self.ring[slot];
        context.bytes += payload;
        if context.bytes == length {
            context.done = true;
        }
        let mut completed = 0;
        loop {
            let slot = self.slot(self.exp);
            if !self.ring[slot].done {
                return completed;
            }
            self.ring[slot] = RxContext::default();
            self.exp = self.exp.next();
            completed += 1;
        }
    }
}
