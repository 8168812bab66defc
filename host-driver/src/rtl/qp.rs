//! Queue pairs: their state as the program sees it, and the way of their requests.
//!
//! In: posts and modifications. Out: WQEs and doorbells; completions in their queues. The NIC knows a queue pair from RTR on, when there is a
//! connection; it has no drained and no reset state, so those are kept here: by not ringing, and by closing.
use super::engine::{Engine, Shared};
use super::queue::SendQueue;
use crate::completions::{Cq, Slot};
use crate::device::*;
use crate::model::InlineSlab;
use crate::model::{endpoint_of, ip_of_gid, place_of};
use crate::rules::Access;
use crate::verbs::lock;
use mrnic_firmware::{Endpoint, Lease};
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
    events: Arc<dyn EventSink>,
    token: Token,
    pub pd: u16,
    /// The state the program asked for.
    pub wanted: QpState,
    /// A request has failed, or the NIC or the connection is gone.
    pub failed: bool,
    pub dest_qpn: u32,
    pub peer: Option<Endpoint>,
    pub lease: Option<Lease>,
    /// It is open in the NIC, on this connection.
    pub conn: Option<u16>,
    pub queue: SendQueue,
    /// Requests that the NIC was told of.
    rung: u64,
    /// Completions of its requests that the program has not polled.
    pub unpolled: Arc<AtomicU32>,
    notify_drained: bool,
    draining: bool,
}

impl Entry {
    fn state(&self) -> QpState {
        if self.failed {
            QpState::Error
        } else {
            self.wanted
        }
    }
}

impl Engine {
    /// Takes what the NIC has completed. Returns whether there was something.
    pub fn harvest(&mut self, qpn: u32) -> bool {
        let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return false };
        let (mut worked, mut overrun, mut given_up) = (false, false, None);
        while let Some((completion, seen)) = entry.queue.pop(qpn) {
            worked = true;
            if completion.status != WcStatus::Success {
                if completion.status == WcStatus::RetryExceeded && completion.vendor_error == 0 {
                    given_up = entry.conn;
                }
                entry.failed = true;
            }
            if seen {
                overrun |= !entry.send_cq.push(completion, false, Some(Slot::take(&entry.unpolled)));
            }
        }
        if entry.draining && entry.queue.outstanding() == 0 {
            self.drained(qpn);
        }
        if let Some(conn) = given_up {
            // L4: the NIC has given the connection up.
            self.manager.engine_error(conn);
            self.run_connections();
        }
        if overrun {
            self.strand(qpn, WcStatus::Flushed);
        }
        worked
    }

    fn drained(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn) else { return };
        entry.draining = false;
        if entry.notify_drained {
            entry.events.asynchronous(AsyncEvent::SendQueueDrained(entry.token));
        }
    }

    /// The doorbell, where the NIC may know of new requests.
    pub fn ring_what_waits(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn) else { return };
        let (open, sends) = (entry.conn.is_some(), matches!(entry.state(), QpState::Rts | QpState::Error));
        let produced = entry.queue.rings.produced;
        if open && sends && entry.rung != produced {
            entry.rung = produced;
            self.ring(qpn, produced);
        }
    }

    /// Requests that take a place in the send queue: until their completions are polled.
    fn outstanding(&self, qpn: u32) -> u32 {
        let Some(entry) = self.qps.get(qpn as usize).and_then(Option::as_deref) else { return 0 };
        entry.queue.outstanding() + entry.unpolled.load(Ordering::Acquire)
    }

    /// Back to the beginning: nothing is left, in the NIC or here.
    fn reset(&mut self, qpn: u32) {
        self.unbind(qpn);
        let now_us = self.now_us();
        let Some(entry) = self.qp(qpn) else { return };
        entry.wanted = QpState::Reset;
        (entry.failed, entry.draining, entry.rung, entry.peer) = (false, false, 0, None);
        entry.queue.reset();
        entry.send_cq.forget(qpn);
        if let Some(lease) = entry.lease.take() {
            self.manager.release(now_us, lease);
        }
    }

    /// Ends a queue pair.
    pub fn remove_qp(&mut self, qpn: u32) {
        self.reset(qpn);
        let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::take) else { return };
        if let Some(slab) = &entry.queue.inline {
            // It was registered when the queue pair was made.
            let _known = self.unregister(slab.lkey);
        }
        let (addr, bytes) = entry.queue.rings.range();
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
        entry.dest_qpn = change.dest_qpn.unwrap_or(entry.dest_qpn);
        entry.notify_drained = change.notify_drained.unwrap_or(entry.notify_drained);
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
                self.ring_what_waits(qpn);
            }
            (QpState::Rts, QpState::Sqd) => {
                entry.wanted = QpState::Sqd;
                entry.draining = true;
                if entry.queue.outstanding() == 0 {
                    self.drained(qpn);
                }
            }
            (QpState::Error, QpState::Error) => {}
            (_, QpState::Error) => {
                self.unbind(qpn);
                self.harvest(qpn);
                self.strand(qpn, WcStatus::Flushed);
            }
            (_, to) => entry.wanted = to,
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
        send_cq: Arc<Cq<Shared>>,
        events: Arc<dyn EventSink>,
        owner: u64,
    ) -> Result<Arc<Self>, DeviceError> {
        let mut engine = lock(&shared.engine);
        let capacity = spec.capacity;
        let mut queue = SendQueue::new(capacity.max_send_wr, None);
        let qpn = engine.free_qpns.pop_front().ok_or(DeviceError::Exhausted { what: "QPs" })?;
        let (addr, bytes) = queue.rings.range();
        let mapped = engine.carrier.map_dma(addr, bytes);
        let inline = mapped.and_then(|()| {
            if capacity.max_inline_bytes == 0 || capacity.max_send_wr == 0 {
                return Ok(None);
            }
            let mut slab = InlineSlab::new(capacity.max_send_wr, capacity.max_inline_bytes);
            let (addr, length_bytes) = slab.range();
            let region = MemoryRegion { pd: spec.pd, addr, length_bytes, iova: addr, access: Access::default() };
            slab.lkey = engine.register(&region).inspect_err(|_| engine.carrier.unmap_dma(queue.rings.range().0, bytes))?.lkey;
            Ok(Some(slab))
        });
        queue.inline = inline.inspect_err(|_| engine.free_qpns.push_front(qpn))?;
        engine.qps[qpn as usize] = Some(Box::new(Entry {
            owner,
            send_cq,
            events,
            token: spec.token,
            pd: spec.pd.0 as u16,
            wanted: QpState::Reset,
            failed: false,
            dest_qpn: 0,
            peer: None,
            lease: None,
            conn: None,
            queue,
            rung: 0,
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
        entry.queue.push(request)?;
        if state == QpState::Error && entry.conn.is_none() {
            engine.strand(self.qpn, WcStatus::Flushed);
        }
        Ok(())
    }

    fn ring_send(&self) {
        lock(&self.shared.engine).ring_what_waits(self.qpn);
    }

    fn post_recv(&self, _: &RecvRequest<'_>) -> Result<(), PostError> {
        // There are no receives: the NIC does nothing that takes one.
        Err(PostError::BadOperation)
    }
}
