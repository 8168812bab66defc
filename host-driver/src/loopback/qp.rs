//! Queue pairs of the loopback device: state, attributes and the send queue.
//!
//! In: posts and modifications. Out: entries for the engine, in order. Entries are made once and used again.
use super::engine::Fabric;
use super::memory::Piece;
use super::receive::{ReceiveQueue, Srq};
use crate::completions::{Cq, Slot};
use crate::device::*;
use crate::rules::Access;
use crate::verbs::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

pub struct Qp {
    pub number: u32,
    pub pd: PdId,
    pub send_cq: Arc<Cq<Fabric>>,
    pub recv_cq: Arc<Cq<Fabric>>,
    pub receive: Arc<ReceiveQueue>,
    pub srq: Option<Arc<Srq>>,
    fabric: Arc<Fabric>,
    events: Arc<dyn EventSink>,
    token: Token,
    closed: Arc<AtomicBool>,
    capacity: Capacity,
    state: AtomicU8,
    pub attributes: Mutex<Attributes>,
    sends: Mutex<Sends>,
    /// Slots of the send queue that are taken.
    taken: Arc<AtomicU32>,
}

/// What the engine needs of what was set.
#[derive(Clone, Copy, Default)]
pub struct Attributes {
    pub access: Access,
    pub dest_qpn: u32,
    pub timeout: u8,
    pub retry_count: u8,
    pub rnr_retry: u8,
    pub min_rnr_timer: u8,
    pub max_rd_atomic: u8,
    pub max_dest_rd_atomic: u8,
    pub notify_drained: bool,
}

#[derive(Default)]
struct Sends {
    waiting: VecDeque<Entry>,
    spare: Vec<Entry>,
}

impl Entry {
    /// Inline data as a piece of memory.
    pub fn inline(&self) -> Option<Piece> {
        let piece = Piece { addr: self.inline.as_ptr() as u64, length: self.inline.len() as u64 };
        self.is_inline.then_some(piece)
    }
}

/// A posted send request.
pub struct Entry {
    pub wr_id: u64,
    pub op: SendOp,
    /// Goes with the completion, if there is one.
    pub slot: Option<Slot>,
    pub signaled: bool,
    pub solicited: bool,
    pub sges: Vec<Sge>,
    pub is_inline: bool,
    pub inline: Vec<u8>,
    /// Set at the first try that found no peer: when to give up.
    pub give_up: Option<Instant>,
    /// Tries that found no receive buffer, and when the next one counts.
    pub rnr_tries: u8,
    pub rnr_next: Option<Instant>,
}

const STATES: [QpState; 6] = [QpState::Reset, QpState::Init, QpState::Rtr, QpState::Rts, QpState::Sqd, QpState::Error];

impl Qp {
    #[allow(clippy::too_many_arguments)] // One caller, all different types.
    pub fn new(
        number: u32,
        spec: &QpSpec,
        send_cq: Arc<Cq<Fabric>>,
        recv_cq: Arc<Cq<Fabric>>,
        srq: Option<Arc<Srq>>,
        fabric: Arc<Fabric>,
        events: Arc<dyn EventSink>,
        closed: Arc<AtomicBool>,
    ) -> Self {
        let capacity = spec.capacity;
        let own = || Arc::new(ReceiveQueue::new(capacity.max_recv_wr, capacity.max_recv_sge));
        let receive = srq.as_ref().map_or_else(own, |s| s.queue.clone());
        Qp {
            number,
            pd: spec.pd,
            send_cq,
            recv_cq,
            receive,
            srq,
            fabric,
            events,
            token: spec.token,
            closed,
            capacity,
            state: AtomicU8::new(0),
            attributes: Mutex::default(),
            sends: Mutex::default(),
            taken: Arc::default(),
        }
    }

    pub fn state(&self) -> QpState {
        STATES[usize::from(self.state.load(Ordering::Acquire))]
    }

    fn set_state(&self, state: QpState) {
        self.state.store(state as u8, Ordering::Release);
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    pub fn raise(&self, event: impl FnOnce(Token) -> AsyncEvent) {
        self.events.asynchronous(event(self.token));
    }

    /// The next entry, out of the queue; only the engine takes.
    pub fn take_send(&self) -> Option<Entry> {
        lock(&self.sends).waiting.pop_front()
    }

    /// Back to the front, for a later try.
    pub fn put_back(&self, entry: Entry) {
        lock(&self.sends).waiting.push_front(entry);
    }

    /// The entry is done with.
    pub fn retire(&self, mut entry: Entry) {
        entry.slot = None;
        lock(&self.sends).spare.push(entry);
        self.fabric.pending.fetch_sub(1, Ordering::AcqRel);
    }

    /// Enters the error state and flushes everything. With the engine's lock held.
    pub fn fail(&self) {
        if self.state() == QpState::Error {
            return;
        }
        if self.srq.is_some() {
            self.set_state(QpState::Error);
            self.flush_sends();
            return self.raise(AsyncEvent::LastWqeReached);
        }
        // One step for posts: a buffer is either flushed here, or in `post_recv` behind those that are flushed here.
        self.receive.flush(|| self.set_state(QpState::Error), |buffer| self.flush_receive(buffer.wr_id));
        self.flush_sends();
    }

    fn flush_receive(&self, wr_id: u64) {
        let (status, kind) = (WcStatus::Flushed, CompletionKind::Recv);
        let flushed = Completion { wr_id, status, kind, qpn: self.number, ..Completion::default() };
        self.recv_cq.push(flushed, false, None);
    }

    /// Every waiting send completes as flushed.
    pub fn flush_sends(&self) {
        while let Some(mut entry) = self.take_send() {
            let flushed = Completion {
                wr_id: entry.wr_id,
                status: WcStatus::Flushed,
                kind: entry.op.completion(),
                qpn: self.number,
                ..Completion::default()
            };
            self.send_cq.push(flushed, false, entry.slot.take());
            self.retire(entry);
        }
    }

    /// Forgets all queued work. With the engine's lock held.
    fn forget(&self) {
        while let Some(entry) = self.take_send() {
            self.retire(entry);
        }
        if self.srq.is_none() {
            self.receive.flush(|| {}, drop);
        }
        self.send_cq.forget(self.number);
        self.recv_cq.forget(self.number);
    }
}

impl QueuePair for Qp {
    fn number(&self) -> u32 {
        self.number
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn status(&self) -> QpStatus {
        QpStatus { state: self.state(), draining: false }
    }

    fn modify(&self, change: &QpChange) -> Result<(), DeviceError> {
        {
            let _still = lock(&self.fabric.engine);
            let mut a = lock(&self.attributes);
            if change.state == Some(QpState::Reset) {
                *a = Attributes::default();
            }
            a.access = change.access.unwrap_or(a.access);
            a.dest_qpn = change.dest_qpn.unwrap_or(a.dest_qpn);
            a.timeout = change.timeout.unwrap_or(a.timeout);
            a.retry_count = change.retry_count.unwrap_or(a.retry_count);
            a.rnr_retry = change.rnr_retry.unwrap_or(a.rnr_retry);
            a.min_rnr_timer = change.min_rnr_timer.unwrap_or(a.min_rnr_timer);
            a.max_rd_atomic = change.max_rd_atomic.unwrap_or(a.max_rd_atomic);
            a.max_dest_rd_atomic = change.max_dest_rd_atomic.unwrap_or(a.max_dest_rd_atomic);
            a.notify_drained = change.notify_drained.unwrap_or(a.notify_drained);
            let notify_drained = a.notify_drained;
            drop(a);
            match change.state {
                None => {}
                Some(QpState::Error) => self.fail(),
                Some(QpState::Reset) => {
                    self.set_state(QpState::Reset);
                    self.forget();
                }
                Some(QpState::Sqd) => {
                    self.set_state(QpState::Sqd);
                    // Each request is carried out whole, so nothing is under way.
                    if notify_drained {
                        self.raise(AsyncEvent::SendQueueDrained);
                    }
                }
                Some(state) => self.set_state(state),
            }
        }
        self.fabric.progress();
        Ok(())
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        let mut engine = lock(&self.fabric.engine);
        engine.qps.remove(self.number);
        self.set_state(QpState::Reset);
        self.forget();
        Ok(())
    }

    fn send_room(&self) -> u32 {
        self.capacity.max_send_wr.saturating_sub(self.taken.load(Ordering::Acquire))
    }

    fn post_send(&self, request: &SendRequest<'_>) -> Result<(), PostError> {
        if self.is_closed() {
            return Err(PostError::Gone);
        }
        if self.send_room() == 0 {
            return Err(PostError::Full);
        }
        let mut sends = lock(&self.sends);
        let mut entry = sends.spare.pop().unwrap_or_else(|| Entry {
            wr_id: 0,
            op: SendOp::Send { imm: None },
            slot: None,
            signaled: false,
            solicited: false,
            sges: Vec::new(),
            is_inline: false,
            inline: Vec::new(),
            give_up: None,
            rnr_tries: 0,
            rnr_next: None,
        });
        entry.sges.clear();
        entry.inline.clear();
        entry.is_inline = matches!(request.payload, Payload::Inline(_));
        match request.payload {
            Payload::Sges(list) => entry.sges.extend_from_slice(list),
            Payload::Inline(data) => entry.inline.extend_from_slice(data),
        }
        // A fence changes nothing: requests are carried out one after the other.
        (entry.wr_id, entry.op) = (request.wr_id, request.op);
        (entry.signaled, entry.solicited) = (request.signaled, request.solicited);
        (entry.give_up, entry.rnr_tries, entry.rnr_next) = (None, 0, None);
        entry.slot = Some(Slot::take(&self.taken));
        self.fabric.pending.fetch_add(1, Ordering::AcqRel);
        sends.waiting.push_back(entry);
        Ok(())
    }

    fn ring_send(&self) {
        self.fabric.progress();
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        if self.is_closed() {
            return Err(PostError::Gone);
        }
        self.receive.post(request, || {
            let takes = self.state() != QpState::Error;
            if !takes {
                self.flush_receive(request.wr_id);
            }
            takes
        })?;
        self.fabric.progress();
        Ok(())
    }
}
