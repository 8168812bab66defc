//! Shared receive queues: a ring that the NIC reads, and how many of its receives have not ended.
//!
//! In: receives of the program; completions and flushes of the queue pairs that took them. Out: ring entries, doorbells, the event of the limit.
//! Receives end in any order, so their slots are not kept: of a ring with room for all that are outstanding, the slot of the next one was read long ago.
use super::engine::{Engine, Shared};
use super::queue::recv_of;
use super::rings::RecvRing;
use crate::device::*;
use crate::verbs::lock;
use mrnic_host_bus::rows::{self, SrqRow};
use mrnic_regs::table;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// Receives that a queue may hold: one less than its ring has entries, and so the completion ring of each of its queue pairs; the last place there
/// is for LAST_WQE.
pub const WR_MAX: u32 = 4095;

/// A shared receive queue as the engine knows it.
pub struct SrqEntry {
    pub owner: u64,
    events: Arc<dyn EventSink>,
    token: Token,
    ring: RecvRing,
    /// Posted, and without a completion: those that a message has taken count until it is complete.
    outstanding: u32,
    /// Q7; 0 is not armed.
    limit: u32,
}

impl SrqEntry {
    /// A receive has ended.
    pub fn ended(&mut self) {
        self.outstanding = self.outstanding.saturating_sub(1);
        self.look_at_limit();
    }

    /// Q7: fewer receives than the armed limit: the program is told once.
    fn look_at_limit(&mut self) {
        if self.outstanding < self.limit {
            self.limit = 0;
            self.events.asynchronous(AsyncEvent::SrqLimitReached(self.token));
        }
    }
}

impl Engine {
    pub fn srq(&mut self, srq: u32) -> Option<&mut SrqEntry> {
        self.srqs.get_mut(srq as usize)?.as_mut()
    }

    /// Ends a shared receive queue, which no queue pair uses.
    pub fn remove_srq(&mut self, srq: u32) {
        let Some(entry) = self.srqs.get_mut(srq as usize).and_then(Option::take) else { return };
        if !self.fatal {
            self.write_row(&rows::closed(table::srq::NUMBER, srq as u16));
            self.settle();
        }
        let (addr, bytes) = entry.ring.range();
        self.carrier.unmap_dma(addr, bytes);
    }
}

/// A shared receive queue as the program holds it.
pub struct Srq {
    number: u32,
    shared: Arc<Shared>,
    max_wr: AtomicU32,
    max_sge: u32,
}

impl Srq {
    /// Makes one in the engine.
    pub fn create(
        shared: &Arc<Shared>,
        spec: &SrqSpec,
        events: Arc<dyn EventSink>,
        owner: u64,
    ) -> Result<Arc<Self>, DeviceError> {
        let mut engine = lock(&shared.engine);
        let number = engine.srqs.iter().position(Option::is_none).ok_or(DeviceError::Exhausted { what: "SRQs" })? as u32;
        let ring = RecvRing::new(WR_MAX, spec.max_sge > 1);
        let (addr, bytes) = ring.range();
        engine.carrier.map_dma(addr, bytes)?;
        let row = SrqRow { pd: spec.pd.0 as u16, base: addr, log2: ring.log2(), lists: ring.lists() };
        engine.write_row(&rows::srq(number as u16, &row));
        engine.settle();
        let entry = SrqEntry { owner, events, token: spec.token, ring, outstanding: 0, limit: 0 };
        engine.srqs[number as usize] = Some(entry);
        let (max_wr, max_sge) = (AtomicU32::new(spec.max_wr.max(1)), spec.max_sge.max(1));
        Ok(Arc::new(Srq { number, shared: shared.clone(), max_wr, max_sge }))
    }
}

impl SharedReceiveQueue for Srq {
    fn id(&self) -> SrqId {
        SrqId(self.number)
    }

    fn capacity(&self) -> (u32, u32) {
        (self.max_wr.load(Ordering::Acquire), self.max_sge)
    }

    fn limit(&self) -> u32 {
        lock(&self.shared.engine).srq(self.number).map_or(0, |entry| entry.limit)
    }

    fn set_limit(&self, limit: u32) -> Result<(), DeviceError> {
        if limit > self.max_wr.load(Ordering::Acquire) {
            return Err(DeviceError::invalid("SRQ limit", "it is above max_wr"));
        }
        let mut engine = lock(&self.shared.engine);
        engine.run();
        if let Some(entry) = engine.srq(self.number) {
            entry.limit = limit;
            entry.look_at_limit();
        }
        Ok(())
    }

    fn resize(&self, max_wr: u32) -> Result<(), DeviceError> {
        let mut engine = lock(&self.shared.engine);
        let outstanding = engine.srq(self.number).map_or(0, |entry| entry.outstanding);
        if max_wr < outstanding.max(1) || max_wr > WR_MAX {
            return Err(DeviceError::invalid("max_wr", "more receives are posted, or the ring has fewer entries"));
        }
        self.max_wr.store(max_wr, Ordering::Release);
        Ok(())
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let mut engine = lock(&self.shared.engine);
        if self.shared.is_stopped() || engine.fatal {
            return Err(PostError::Gone);
        }
        let recv = recv_of(request, self.max_sge as usize)?;
        let max_wr = self.max_wr.load(Ordering::Acquire);
        let full = |engine: &mut Engine| engine.srq(self.number).is_none_or(|entry| entry.outstanding >= max_wr);
        if full(&mut engine) {
            engine.run();
            if full(&mut engine) {
                return Err(PostError::Full);
            }
        }
        let entry = engine.srq(self.number).ok_or(PostError::Gone)?;
        let produced = entry.ring.push(&recv);
        entry.outstanding += 1;
        // Their doorbells are those behind the queue pairs.
        let queue = engine.qps.len() as u32 + self.number;
        engine.ring_recv(queue, produced);
        Ok(())
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        let mut engine = lock(&self.shared.engine);
        engine.remove_srq(self.number);
        Ok(())
    }
}
