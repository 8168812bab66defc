//! Requests of the peer that wait for their execution or their response (D3..D5): one slot for each MSN mod M, few of them in use.
//! In: accepted READs and atomics. Out: what their response is built from. A slot is taken when the request is accepted and
//! free again when the response is acknowledged.

use alloc::vec::Vec;
use mrnic_wire::AtomicOp;

/// What is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Read { tag: u32 },
    Atomic { op: AtomicOp, swap_add: u64, compare: u64 },
}

/// An accepted request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub live: bool,
    pub msn: u32,
    pub operation: Operation,
    pub va: u64,
    pub rkey: u32,
    /// Bytes of a READ; 8 of an atomic.
    pub length: u32,
    /// Bus address of a READ, once executed.
    pub laddr: u64,
    /// D4: the value before the atomic.
    pub value: u64,
    /// Packets of the response that are not yet retired; counts from its execution on.
    pub unretired: u32,
}

/// The slots of a queue pair; those up to the highest that was ever used.
#[derive(Clone, Debug)]
pub struct Requests {
    slots: Vec<Request>,
    max: u8,
    messages: usize,
}

/// A slot without a request.
const NONE: Request = Request {
    live: false,
    msn: 0,
    operation: Operation::Read { tag: 0 },
    va: 0,
    rkey: 0,
    length: 0,
    laddr: 0,
    value: 0,
    unretired: 0,
};

impl Requests {
    /// At most `max` at once, of a stream of `messages` (M).
    pub fn new(max: u8, messages: usize) -> Self {
        Requests { slots: Vec::new(), max, messages }
    }

    fn slot_of(&self, msn: u32) -> usize {
        msn as usize & (self.messages - 1)
    }

    /// D3: the place of this MSN is free, and one besides unless `exp` has reached it.
    pub fn has_room(&self, msn: u32, reached: bool) -> bool {
        let held = self.slots.get(self.slot_of(msn)).is_some_and(|r| r.live);
        !held && self.live() + usize::from(!reached) < usize::from(self.max)
    }

    /// Takes its slot, which is free.
    pub fn insert(&mut self, request: Request) -> u8 {
        let slot = self.slot_of(request.msn);
        if slot >= self.slots.len() {
            self.slots.resize(slot + 1, NONE);
        }
        self.slots[slot] = request;
        slot as u8
    }

    pub fn get(&self, slot: u8) -> Option<&Request> {
        self.slots.get(usize::from(slot)).filter(|r| r.live)
    }

    pub fn get_mut(&mut self, slot: u8) -> Option<&mut Request> {
        self.slots.get_mut(usize::from(slot)).filter(|r| r.live)
    }

    /// D3: a packet of the response was retired; the last one frees the slot. Returns whether it did.
    pub fn retire(&mut self, slot: u8, msn: u32) -> bool {
        let Some(request) = self.get_mut(slot).filter(|r| r.msn == msn) else { return false };
        request.unretired = request.unretired.saturating_sub(1);
        let last = request.unretired == 0;
        request.live = !last;
        last
    }

    /// Frees the slot; false if it was free.
    pub fn release(&mut self, slot: u8) -> bool {
        self.get_mut(slot).map(|r| r.live = false).is_some()
    }

    /// D7: takes out the next request whose response is not acknowledged.
    pub fn take_live(&mut self) -> Option<Request> {
        let request = self.slots.iter_mut().find(|r| r.live)?;
        request.live = false;
        Some(*request)
    }

    /// Takes out the request of this MSN.
    pub fn take_msn(&mut self, msn: u32) -> Option<Request> {
        let request = self.slots.iter_mut().find(|r| r.live && r.msn == msn)?;
        request.live = false;
        Some(*request)
    }

    pub fn live(&self) -> usize {
        self.slots.iter().filter(|r| r.live).count()
    }
}
