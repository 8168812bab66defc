//! Queue pairs: their state as the program sees it, and the way of their requests.
//!
//! In: posts and modifications. Out: WQEs, receives and doorbells. The NIC knows a queue pair from RTR on, when there is a
//! connection; it has no drained and no reset state, so those are kept here: by not ringing, and by closing.
use super::engine::{Engine, Shared};
use super::queue::Queues;
use crate::completions::Cq;
use crate::device::*;
use crate::model::{access_of, endpoint_of, ip_of_gid, place_of, InlineSlab};
use crate::rules::Access;
use crate::verbs::lock;
use mrnic_firmware::{Endpoint, Lease};
use mrnic_host_bus::rows::SendLimits;
use mrnic_model::QpAccess;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long entering RTR waits for the connection. Afterwards it goes on without: a peer that is not there shows when something is sent.
const CONNECT_PATIENCE: Duration = Duration::from_secs(20);

/// A queue pair as the engine knows it.
pub struct Entry {
    /// The open of the device that made it.
    pub owner: u64,
    pub send_cq: Arc<Cq<Shared>>,
    pub recv_cq: Arc<Cq<Shared>>,
    pub events: Arc<dyn EventSink>,
    pub token: Token,
    pub pd: u16,
    /// Its shared receive queue.
    pub srq: Option<u32>,
    /// LAST_WQE_REACHED was raised.
    pub told_last_wqe: bool,
    /// The state the program asked for.
    pub wanted: QpState,
    /// A request has failed, or the NIC or the connection is gone.
    pub failed: bool,
    pub dest_qpn: u32,
    /// What the peer may do (D2).
    pub access: QpAccess,
    /// Encoded as the program named them.
    pub min_rnr_timer: u8,
    /// READs and atomics of the peer that are kept (D3).
    pub max_dest_rd_atomic: u8,
    /// As the program named it in RTS.
    pub limits: Option<SendLimits>,
    pub peer: Option<Endpoint>,
    pub lease: Option<Lease>,
    /// It is open in the NIC, on this connection.
    pub conn: Option<u16>,
    pub queues: Queues,
    /// Requests and receives that the NIC was told of.
    rung: (u64, u64),
    /// Completions of its requests that the program has not polled.
    pub unpolled: Arc<AtomicU32>,
    notify_drained: bool,
    pub draining: bool,
}

impl Entry {
    pub fn state(&self) -> QpState {
        if self.failed {
            QpState::Error
        } else {
            self.wanted
        }
    }

    /// SQD: all that the NIC was told of has ended. What was posted since then waits.
    pub fn is_drained(&self) -> bool {
        self.queues.ended() == self.rung.0
    }
}

impl Engine {
    pub fn drained(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn) else { return };
        entry.draining = false;
        if entry.notify_drained {
            entry.events.asynchronous(AsyncEvent::SendQueueDrained(entry.token));
        }
    }

    /// The doorbells, where the NIC may know of new requests and receives.
    pub fn ring_what_waits(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn).filter(|entry| entry.conn.is_some()) else { return };
        let sends = matches!(entry.state(), QpState::Rts | QpState::Error);
        let ((mut sent, received), rung) = (entry.queues.rings.produced(), entry.rung);
        if !sends {
            sent = rung.0;
        }
        entry.rung = (sent, received);
        // What may be answered by a request comes first.
        if received != rung.1 {
            self.ring_recv(qpn, received);
        }
        if sent != rung.0 {
            self.ring(qpn, sent);
        }
    }

    /// Requests that take a place in the send queue: until their completions are polled.
    fn outstanding(&self, qpn: u32) -> u32 {
        let Some(entry) = self.qps.get(qpn as usize).and_then(Option::as_deref) else { return 0 };
        entry.queues.outstanding() + entry.unpolled.load(Ordering::Acquire)
    }

    /// Nothing is left of it in the NIC, nor of its completions. Returns whether the NIC had it.
    fn release(&mut self, qpn: u32) -> bool {
        let bound = self.qp(qpn).is_some_and(|entry| entry.conn.is_some());
        self.unbind(qpn);
        self.deferred.remove(&qpn);
        let now_us = self.now_us();
        let Some(entry) = self.qp(qpn) else { return bound };
        entry.wanted = QpState::Reset;
        (entry.limits, entry.told_last_wqe) = (None, false);
        (entry.failed, entry.draining, entry.rung, entry.peer) = (false, false, (0, 0), None);
        entry.send_cq.forget(qpn);
        entry.recv_cq.forget(qpn);
        if let Some(lease) = entry.lease.take() {
            self.manager.release(now_us, lease);
        }
        bound
    }

    /// Back to the beginning: nothing is left, in the NIC or here.
    fn reset(&mut self, qpn: u32) {
        let bound = self.release(qpn);
        let Some((addr, bytes)) = self.qp(qpn).map(|entry| entry.queues.rings.range()) else { return };
        if bound {
            // A completion may still be under way to rings that begin anew: it has arrived, or is dropped, when they are no longer mapped.
            self.carrier.unmap_dma(addr, bytes);
            // Only a NIC that is gone refuses what it had, and that is noticed elsewhere.
            let _mapped = self.carrier.map_dma(addr, bytes);
        }
        if let Some(entry) = self.qp(qpn) {
            entry.queues.reset();
        }
    }

    /// Ends a queue pair.
    pub fn remove_qp(&mut self, qpn: u32) {
        self.release(qpn);
        let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::take) else { return };
        if let Some(slab) = &entry.queues.inline {
            // It was registered when the queue pair was made.
            let _known = self.unregister(slab.lkey);
        }
        let (addr, bytes) = entry.queues.rings.range();
        self.carrier.unmap_dma(addr, bytes);
        self.free_qpns.push_back(qpn);
    }

    fn modify(&mut self, qpn: u32, change: &QpChange) -> Result<(), DeviceError> {
        let gone = || DeviceError::invalid("QP", "it is destroyed");
        // Checked first, so that a refused change changes nothing.
        let peer = match change.path {
            Some(path) => {
                let place = ip_of_gid(path.gid).and_then(place_of);
                let unknown = || DeviceError::invalid("address", "the GID is not of this network (see docs/verbs.md)");
                Some(endpoint_of(place.ok_or_else(unknown)?))
            }
            None => None,
        };
        let entry = self.qp(qpn).ok_or_else(gone)?;
        let state = entry.state();
        if state == QpState::Sqd && change.max_rd_atomic.is_some() && entry.queues.outstanding() > 0 {
            return Err(DeviceError::invalid("max_rd_atomic", "the send queue is not drained: wait for its event"));
        }
        entry.dest_qpn = change.dest_qpn.unwrap_or(entry.dest_qpn);
        entry.max_dest_rd_atomic = change.max_dest_rd_atomic.unwrap_or(entry.max_dest_rd_atomic);
        entry.notify_drained = change.notify_drained.unwrap_or(entry.notify_drained);
        self.name_terms(qpn, change.access.map(access_of), change.min_rnr_timer);
        let entry = self.qp(qpn).ok_or_else(gone)?;
        match (state, change.state.unwrap_or(state)) {
            (_, QpState::Reset) => self.reset(qpn),
            (QpState::Init, QpState::Rtr) => {
                entry.wanted = QpState::Rtr;
                if let Some(peer) = peer {
                    self.connect(qpn, peer);
                }
            }
            (QpState::Rtr | QpState::Sqd, QpState::Rts) => {
                entry.wanted = QpState::Rts;
                entry.draining = false;
                self.name_limits(qpn, change);
                self.ring_what_waits(qpn);
            }
            (QpState::Rts, QpState::Sqd) => {
                entry.wanted = QpState::Sqd;
                entry.draining = true;
                if entry.is_drained() {
                    self.drained(qpn);
                }
            }
            (QpState::Error, QpState::Error) => {}
            (_, QpState::Error) => {
                self.unbind(qpn);
                self.harvest(qpn);
                self.strand(qpn, WcStatus::Flushed);
            }
            (_, to) => {
                entry.wanted = to;
                self.name_limits(qpn, change);
            }
        }
        Ok(())
    }

    /// Does the program have to wait for the connection of this queue pair?
    fn connecting(&self, qpn: u32) -> bool {
        let entry = self.qps.get(qpn as usize).and_then(Option::as_deref);
        entry.is_some_and(|entry| entry.wanted == QpState::Rtr && entry.conn.is_none() && !entry.failed)
    }
}

/// A queue pair as the program holds it.
pub struct Qp {
    qpn: u32,
    capacity: Capacity,
    shared: Arc<Shared>,
}

impl Qp {
    /// Makes a queue pair in the engine.
    pub fn create(
        shared: &Arc<Shared>,
        spec: &QpSpec,
        (send_cq, recv_cq): (Arc<Cq<Shared>>, Arc<Cq<Shared>>),
        events: Arc<dyn EventSink>,
        owner: u64,
    ) -> Result<Arc<Self>, DeviceError> {
        let mut engine = lock(&shared.engine);
        let capacity = spec.capacity;
        // Of a shared queue its completion ring has room for all of them.
        let receives = if spec.srq.is_some() { super::srq::WR_MAX } else { capacity.max_recv_wr };
        let mut queues = Queues::new((capacity.max_send_wr, capacity.max_send_sge), (receives, capacity.max_recv_sge), None);
        let qpn = engine.free_qpns.pop_front().ok_or(DeviceError::Exhausted { what: "QPs" })?;
        let (addr, bytes) = queues.rings.range();
        let mapped = engine.carrier.map_dma(addr, bytes);
        let inline = mapped.and_then(|()| {
            if capacity.max_inline_bytes == 0 || capacity.max_send_wr == 0 {
                return Ok(None);
            }
            let mut slab = InlineSlab::new(capacity.max_send_wr, capacity.max_inline_bytes);
            let (addr, length_bytes) = slab.range();
            let region = MemoryRegion { pd: spec.pd, addr, length_bytes, iova: addr, access: Access::default() };
            slab.lkey = engine.register(&region).inspect_err(|_| engine.carrier.unmap_dma(queues.rings.range().0, bytes))?.lkey;
            Ok(Some(slab))
        });
        queues.inline = inline.inspect_err(|_| engine.free_qpns.push_front(qpn))?;
        engine.qps[qpn as usize] = Some(Box::new(Entry {
            owner,
            send_cq,
            recv_cq,
            events,
            token: spec.token,
            pd: spec.pd.0 as u16,
            srq: spec.srq.map(|srq| srq.0),
            told_last_wqe: false,
            wanted: QpState::Reset,
            failed: false,
            dest_qpn: 0,
            access: QpAccess::ALL,
            min_rnr_timer: 0,
            max_dest_rd_atomic: 0,
            limits: None,
            peer: None,
            lease: None,
            conn: None,
            queues,
            rung: (0, 0),
            unpolled: Arc::default(),
            notify_drained: false,
            draining: false,
        }));
        Ok(Arc::new(Qp { qpn, capacity, shared: shared.clone() }))
    }
}

impl QueuePair for Qp {
    fn number(&self) -> u32 {
        self.qpn
    }

    fn capacity(&self) -> Capacity {
        self.capacity
    }

    fn status(&self) -> QpStatus {
        let mut engine = lock(&self.shared.engine);
        let Some(entry) = engine.qp(self.qpn) else { return QpStatus { state: QpState::Error, draining: false } };
        let state = entry.state();
        QpStatus { state, draining: entry.draining && state == QpState::Sqd }
    }

    fn modify(&self, change: &QpChange) -> Result<(), DeviceError> {
        let mut engine = lock(&self.shared.engine);
        if self.shared.is_stopped() || engine.fatal {
            return Err(DeviceError::Gone { detail: "it was closed, or its process has ended".to_owned() });
        }
        engine.modify(self.qpn, change)?;
        engine.run();
        // The peer may send as soon as the program says that it is ready: the NIC would refuse packets to a queue pair that it does not know.
        let end = Instant::now() + CONNECT_PATIENCE;
        while change.state == Some(QpState::Rtr) && engine.connecting(self.qpn) && !engine.fatal && Instant::now() < end {
            drop(engine);
            std::thread::sleep(Duration::from_millis(1));
            engine = lock(&self.shared.engine);
            engine.run();
        }
        if change.state == Some(QpState::Rtr) {
            engine.settle();
        }
        self.shared.carrier.wake();
        Ok(())
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        let mut engine = lock(&self.shared.engine);
        engine.remove_qp(self.qpn);
        engine.run();
        Ok(())
    }

    fn send_room(&self) -> u32 {
        self.capacity.max_send_wr.saturating_sub(lock(&self.shared.engine).outstanding(self.qpn))
    }

    fn post_send(&self, request: &SendRequest<'_>) -> Result<(), PostError> {
        let mut engine = lock(&self.shared.engine);
        if self.shared.is_stopped() || engine.fatal {
            return Err(PostError::Gone);
        }
        if !self.shared.limits.operations.has(request.op) {
            return Err(PostError::BadOperation);
        }
        if engine.outstanding(self.qpn) >= self.capacity.max_send_wr {
            engine.run();
            if engine.outstanding(self.qpn) >= self.capacity.max_send_wr {
                return Err(PostError::Full);
            }
        }
        let entry = engine.qp(self.qpn).ok_or(PostError::Gone)?;
        let state = entry.state();
        if matches!(state, QpState::Reset | QpState::Init | QpState::Rtr) {
            return Err(PostError::WrongState);
        }
        entry.queues.push(request)?;
        if state == QpState::Error && entry.conn.is_none() {
            engine.strand(self.qpn, WcStatus::Flushed);
        }
        Ok(())
    }

    fn ring_send(&self) {
        lock(&self.shared.engine).ring_what_waits(self.qpn);
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let mut engine = lock(&self.shared.engine);
        if self.shared.is_stopped() || engine.fatal {
            return Err(PostError::Gone);
        }
        if !self.shared.limits.operations.send {
            // The NIC has no receive queues.
            return Err(PostError::BadOperation);
        }
        if engine.qp(self.qpn).ok_or(PostError::Gone)?.state() == QpState::Reset {
            return Err(PostError::WrongState);
        }
        let full = |engine: &mut Engine| {
            engine.qp(self.qpn).is_none_or(|entry| entry.queues.receives_outstanding() >= self.capacity.max_recv_wr)
        };
        if full(&mut engine) {
            engine.run();
            if full(&mut engine) {
                return Err(PostError::Full);
            }
        }
        let entry = engine.qp(self.qpn).ok_or(PostError::Gone)?;
        entry.queues.push_recv(request)?;
        match entry.conn {
            Some(_) => engine.ring_what_waits(self.qpn),
            None if entry.state() == QpState::Error => engine.strand(self.qpn, WcStatus::Flushed),
            // The NIC is told when it knows the queue pair.
            None => {}
        }
        Ok(())
    }
}
