//! Receive queues of the loopback device: a QP's own, or shared.
//!
//! In: buffers. Out: buffers in order, one for each message that needs one. Slots are made once and used again.
use super::engine::Fabric;
use crate::device::{
    AsyncEvent, DeviceError, EventSink, Limits, PostError, RecvRequest, Sge, SharedReceiveQueue, SrqId, Token,
};
use crate::verbs::lock;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// A posted buffer.
#[derive(Clone, Copy)]
pub struct Buffer {
    pub wr_id: u64,
    sges: [Sge; Limits::SGES_MAX],
    count: usize,
}

impl Buffer {
    pub fn sges(&self) -> &[Sge] {
        &self.sges[..self.count]
    }

    pub fn length_bytes(&self) -> u64 {
        self.sges().iter().map(|s| u64::from(s.length)).sum()
    }
}

/// The queue proper.
pub struct ReceiveQueue {
    buffers: Mutex<Buffers>,
    max_sge: u32,
}

struct Buffers {
    waiting: VecDeque<Buffer>,
    max_wr: u32,
    /// 0: not armed.
    limit: u32,
}

impl ReceiveQueue {
    pub fn new(max_wr: u32, max_sge: u32) -> Self {
        let waiting = VecDeque::with_capacity(max_wr.min(1024) as usize);
        ReceiveQueue { buffers: Mutex::new(Buffers { waiting, max_wr, limit: 0 }), max_sge }
    }

    /// Adds a buffer, if `wanted` (called under the queue's lock) says so.
    pub fn post(&self, request: &RecvRequest<'_>, wanted: impl FnOnce() -> bool) -> Result<(), PostError> {
        let count = request.sges.len();
        if count > self.max_sge as usize || count > Limits::SGES_MAX {
            return Err(PostError::TooManySges);
        }
        let mut buffer = Buffer { wr_id: request.wr_id, sges: [Sge::default(); Limits::SGES_MAX], count };
        buffer.sges[..count].copy_from_slice(request.sges);
        let mut buffers = lock(&self.buffers);
        if !wanted() {
            return Ok(());
        }
        if buffers.waiting.len() >= buffers.max_wr as usize {
            return Err(PostError::Full);
        }
        buffers.waiting.push_back(buffer);
        Ok(())
    }

    /// Calls `begin`, then `each` with every waiting buffer, all under the queue's lock: no post comes in between.
    pub fn flush(&self, begin: impl FnOnce(), each: impl FnMut(Buffer)) {
        let mut buffers = lock(&self.buffers);
        begin();
        buffers.waiting.drain(..).for_each(each);
    }

    /// The next buffer; `true` with it when fewer than the limit are left, once.
    pub fn take(&self) -> Option<(Buffer, bool)> {
        let mut buffers = lock(&self.buffers);
        let buffer = buffers.waiting.pop_front()?;
        let low = (buffers.waiting.len() as u64) < u64::from(buffers.limit);
        if low {
            buffers.limit = 0;
        }
        Some((buffer, low))
    }
}

/// A shared receive queue.
pub struct Srq {
    pub id: SrqId,
    pub queue: Arc<ReceiveQueue>,
    pub fabric: Arc<Fabric>,
    pub events: Arc<dyn EventSink>,
    pub token: Token,
}

impl Srq {
    /// Fewer buffers than the limit are left.
    pub fn raise_limit(&self) {
        self.events.asynchronous(AsyncEvent::SrqLimitReached(self.token));
    }
}

impl SharedReceiveQueue for Srq {
    fn id(&self) -> SrqId {
        self.id
    }

    fn capacity(&self) -> (u32, u32) {
        (lock(&self.queue.buffers).max_wr, self.queue.max_sge)
    }

    fn limit(&self) -> u32 {
        lock(&self.queue.buffers).limit
    }

    fn set_limit(&self, limit: u32) -> Result<(), DeviceError> {
        lock(&self.queue.buffers).limit = limit;
        Ok(())
    }

    fn resize(&self, max_wr: u32) -> Result<(), DeviceError> {
        let mut buffers = lock(&self.queue.buffers);
        if buffers.waiting.len() > max_wr as usize {
            return Err(DeviceError::invalid("max_wr", format!("{} buffers wait", buffers.waiting.len())));
        }
        buffers.max_wr = max_wr;
        Ok(())
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        self.queue.post(request, || true)?;
        self.fabric.progress();
        Ok(())
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        self.fabric.remove_srq(self.id);
        Ok(())
    }
}
