//! Queue pairs: their state as the program sees it, and their requests until the model takes them.
//!
//! In: posts and modifications. Out: work of the model; completions in their queues. A QP in RTR or RTS may wait for its connection: what
//! is posted meanwhile waits with it.
use super::engine::{Engine, Shared};
use super::link::{ip_of_gid, place_of};
use super::requests::{translate, Backlog, InlineSlab};
use crate::completions::{Cq, Slot};
use crate::device::*;
use crate::rules::Access;
use mrnic_firmware::{Endpoint, Lease};
use mrnic_model::{Cqe, QpAccess, QpConfig, QpState as ModelState, RecvWr, Status, SGES_MAX};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::Arc;

/// A queue pair as the engine knows it.
pub struct Entry {
    pub qpn: u32,
    /// The open of the device that made it.
    pub owner: u64,
    pub send_cq: Arc<Cq<Shared>>,
    pub recv_cq: Arc<Cq<Shared>>,
    events: Arc<dyn EventSink>,
    token: Token,
    /// The state the program asked for; the model's follows when there is a connection.
    pub wanted: QpState,
    pub config: QpConfig,
    pub peer: Option<Endpoint>,
    pub lease: Option<Lease>,
    pub conn: Option<u16>,
    pub backlog: Backlog,
    /// Completions of its requests that the program has not polled.
    pub unpolled: Arc<AtomicU32>,
    /// It is in the engine's list of backlogged QPs.
    queued: bool,
    pub inline: Option<InlineSlab>,
    notify_drained: bool,
    draining: bool,
    told_last_wqe: bool,
}

impl Entry {
    pub fn raise(&self, event: impl FnOnce(Token) -> AsyncEvent) {
        self.events.asynchronous(event(self.token));
    }

    pub fn last_wqe(&mut self) {
        if !std::mem::replace(&mut self.told_last_wqe, true) {
            self.raise(AsyncEvent::LastWqeReached);
        }
    }

    pub fn drained(&mut self) {
        self.draining = false;
        if self.notify_drained {
            self.raise(AsyncEvent::SendQueueDrained);
        }
    }
}

/// The kind of a request's completion.
pub fn kind_of(opcode: u8) -> CompletionKind {
    match opcode {
        mrnic_model::wqe::WQE_WRITE | mrnic_model::wqe::WQE_WRITE_IMM => CompletionKind::Write,
        mrnic_model::wqe::WQE_READ => CompletionKind::Read,
        mrnic_model::wqe::WQE_COMPARE_SWAP => CompletionKind::CompareSwap,
        mrnic_model::wqe::WQE_FETCH_ADD => CompletionKind::FetchAdd,
        mrnic_model::wqe::CQE_RECV => CompletionKind::Recv,
        mrnic_model::wqe::CQE_RECV_WRITE_IMM => CompletionKind::RecvWrite,
        _ => CompletionKind::Send,
    }
}

fn status_of(status: Status) -> WcStatus {
    match status {
        Status::Success => WcStatus::Success,
        Status::LocLenErr => WcStatus::LocalLength,
        Status::LocQpOpErr => WcStatus::LocalQpOperation,
        Status::LocProtErr => WcStatus::LocalProtection,
        Status::WrFlushErr => WcStatus::Flushed,
        Status::RemInvReqErr => WcStatus::RemoteInvalidRequest,
        Status::RemAccessErr => WcStatus::RemoteAccess,
        Status::RemOpErr => WcStatus::RemoteOperation,
        Status::RetryExcErr => WcStatus::RetryExceeded,
        Status::RnrRetryExcErr => WcStatus::RnrRetryExceeded,
    }
}

/// MAK.code bad_qp.
const CODE_BAD_QP: u8 = 4;

/// A completion of the model reaches the queue it belongs to. `false`: there was no room.
pub fn finish(entry: &Entry, cqe: &Cqe) -> bool {
    let status = match (cqe.status, cqe.nak_code) {
        // A peer that does not exist does not answer, as far as verbs programs know: they expect that retries run out.
        (Status::RemInvReqErr, CODE_BAD_QP) => WcStatus::RetryExceeded,
        (status, _) => status_of(status),
    };
    let completion = Completion {
        wr_id: cqe.wr_id,
        status,
        kind: kind_of(cqe.opcode),
        byte_len: cqe.byte_len,
        imm: cqe.imm.map(u32::to_be_bytes),
        qpn: cqe.qpn,
        src_qpn: entry.config.peer_qpn,
        vendor_error: cqe.nak_code.into(),
    };
    if cqe.is_recv() {
        entry.recv_cq.push(completion, cqe.solicited, None)
    } else {
        entry.send_cq.push(completion, cqe.solicited, Some(Slot::take(&entry.unpolled)))
    }
}

impl Engine {
    /// Requests of `qpn` wait for the model.
    pub fn wake(&mut self, qpn: u32) {
        let Some(entry) = self.qp(qpn) else { return };
        if !entry.backlog.is_empty() && !std::mem::replace(&mut entry.queued, true) {
            self.backlogged.push_back(qpn);
        }
    }

    /// Gives the model what it has room for.
    pub fn feed(&mut self) {
        for _ in 0..self.backlogged.len() {
            let Some(qpn) = self.backlogged.pop_front() else { return };
            let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { continue };
            while let Some(request) = entry.backlog.front().filter(|_| entry.conn.is_some()) {
                let taken = match request.list() {
                    [] => self.nic.post_send(qpn, &request.wqe),
                    list => self.nic.post_send_list(qpn, &request.wqe, list),
                };
                match taken {
                    Ok(()) => {
                        entry.backlog.pop();
                    }
                    // No room, or draining: it is tried again. Those of a QP that is not open end when it is stranded.
                    Err(_) => break,
                }
            }
            entry.queued = !entry.backlog.is_empty() && entry.conn.is_some();
            if entry.queued {
                self.backlogged.push_back(qpn);
            }
        }
    }

    /// Requests of `qpn` that take a place in its send queue: until their completions are polled.
    fn outstanding(&self, qpn: u32) -> u32 {
        let Some(entry) = self.qps.get(qpn as usize).and_then(Option::as_deref) else { return 0 };
        let taken = self.nic.send_queue(qpn).map_or(0, |queue| queue.count);
        entry.backlog.len() as u32 + taken + entry.unpolled.load(Ordering::Acquire)
    }

    /// The state that the program sees.
    fn state(&self, qpn: u32) -> Option<QpState> {
        let entry = self.qps.get(qpn as usize)?.as_deref()?;
        let failed = self.nic.qp_state(qpn).is_ok_and(|state| state == ModelState::Error);
        Some(if failed { QpState::Error } else { entry.wanted })
    }

    /// Back to the beginning: nothing is left, in the model or here.
    fn reset(&mut self, qpn: u32) {
        let now_us = self.now_us();
        let Some(entry) = self.qp(qpn) else { return };
        entry.wanted = QpState::Reset;
        entry.conn = None;
        entry.peer = None;
        (entry.draining, entry.told_last_wqe) = (false, false);
        let lease = entry.lease.take();
        while entry.backlog.pop().is_some() {}
        entry.send_cq.forget(qpn);
        entry.recv_cq.forget(qpn);
        let config = QpConfig { state: ModelState::Reset, ..entry.config };
        if let Some(lease) = lease {
            self.manager.release(now_us, lease);
        }
        let _opened = self.nic.open_qp(qpn, &config);
    }

    /// Ends a QP.
    pub fn remove_qp(&mut self, qpn: u32) {
        self.hand_out();
        self.reset(qpn);
        self.nic.close_qp(qpn);
        if let Some(entry) = self.qps.get_mut(qpn as usize).and_then(Option::take) {
            if let Some(slab) = &entry.inline {
                // It was registered when the QP was made.
                let _known = self.unregister(slab.lkey);
            }
        }
    }

    fn modify(&mut self, qpn: u32, change: &QpChange) -> Result<(), DeviceError> {
        let gone = || DeviceError::invalid("QP", "it is destroyed");
        let state = self.state(qpn).ok_or_else(gone)?;
        // Checked first, so that a refused change changes nothing.
        let peer = match change.path {
            Some(path) => {
                let place = ip_of_gid(path.gid).and_then(place_of);
                let unknown = || DeviceError::invalid("address", "the GID is not of this network (see docs/verbs.md)");
                Some(super::link::endpoint_of(place.ok_or_else(unknown)?))
            }
            None => None,
        };
        let entry = self.qp(qpn).ok_or_else(gone)?;
        let config = &mut entry.config;
        if let Some(access) = change.access {
            config.access = access_of(access);
        }
        config.peer_qpn = change.dest_qpn.unwrap_or(config.peer_qpn);
        config.rx_start_msn = change.rq_psn.unwrap_or(config.rx_start_msn);
        config.tx_start_msn = change.sq_psn.unwrap_or(config.tx_start_msn);
        config.rnr_retry = change.rnr_retry.unwrap_or(config.rnr_retry);
        config.min_rnr_timer = change.min_rnr_timer.unwrap_or(config.min_rnr_timer);
        config.max_rd_atomic = change.max_rd_atomic.unwrap_or(config.max_rd_atomic);
        config.max_dest_rd_atomic = change.max_dest_rd_atomic.unwrap_or(config.max_dest_rd_atomic);
        let config = *config;
        entry.notify_drained = change.notify_drained.unwrap_or(entry.notify_drained);
        let bound = entry.conn.is_some();
        let model = |error: mrnic_model::ConfigError| DeviceError::invalid("QP", error.to_string());
        match (state, change.state.unwrap_or(state)) {
            (_, QpState::Reset) => self.reset(qpn),
            (QpState::Reset, QpState::Init) => {
                // Opened anew, with what is known by now; receives may be posted from here on.
                let config = QpConfig { state: ModelState::Init, ..config };
                self.nic.open_qp(qpn, &config).map_err(model)?;
                self.set_wanted(qpn, QpState::Init);
            }
            (QpState::Init, QpState::Rtr) => {
                self.set_wanted(qpn, QpState::Rtr);
                if let Some(peer) = peer {
                    self.connect(qpn, peer);
                }
            }
            (QpState::Rtr, QpState::Rts) => {
                self.set_wanted(qpn, QpState::Rts);
                if bound {
                    self.nic.start_sending(qpn, &config).map_err(model)?;
                }
                self.wake(qpn);
            }
            (QpState::Sqd, QpState::Rts) => {
                self.set_wanted(qpn, QpState::Rts);
                if bound {
                    self.nic.update_qp(qpn, &config).map_err(model)?;
                    self.nic.modify_qp(qpn, ModelState::Rts).map_err(model)?;
                }
                self.wake(qpn);
            }
            (QpState::Rts, QpState::Sqd) => {
                self.set_wanted(qpn, QpState::Sqd);
                if let Some(entry) = self.qp(qpn) {
                    entry.draining = true;
                    if !bound {
                        // Nothing was started yet.
                        entry.drained();
                    }
                }
                if bound {
                    self.nic.modify_qp(qpn, ModelState::Sqd).map_err(model)?;
                }
            }
            (QpState::Error, QpState::Error) => {}
            (_, QpState::Error) if bound => {
                self.set_wanted(qpn, QpState::Error);
                self.nic.modify_qp(qpn, ModelState::Error).map_err(model)?;
                self.wake(qpn);
            }
            (_, QpState::Error) => self.strand(qpn, WcStatus::Flushed),
            (_, to) => {
                self.set_wanted(qpn, to);
                self.nic.update_qp(qpn, &config).map_err(model)?;
            }
        }
        Ok(())
    }

    fn set_wanted(&mut self, qpn: u32, state: QpState) {
        if let Some(entry) = self.qp(qpn) {
            entry.wanted = state;
        }
    }
}

/// What a QP allows, as the golden model and the register map have it (D2).
pub fn access_of(access: Access) -> QpAccess {
    QpAccess { remote_write: access.remote_write, remote_read: access.remote_read, remote_atomic: access.remote_atomic }
}

/// A queue pair as the program holds it.
pub struct Qp {
    qpn: u32,
    capacity: Capacity,
    shared: Arc<Shared>,
}

impl Qp {
    /// Makes a QP in the engine.
    pub fn create(
        shared: &Arc<Shared>,
        spec: &QpSpec,
        cqs: (Arc<Cq<Shared>>, Arc<Cq<Shared>>),
        events: Arc<dyn EventSink>,
        owner: u64,
    ) -> Result<Arc<Self>, DeviceError> {
        let mut engine = shared.engine();
        let qpn = engine.free_qpn().ok_or(DeviceError::Exhausted { what: "QPs" })?;
        let capacity = spec.capacity;
        let config = QpConfig {
            state: ModelState::Reset,
            srq: spec.srq.map(|srq| srq.0),
            recv_depth: capacity.max_recv_wr.max(1),
            pd: spec.pd.0 as u16,
            cq_log2: 15,
            ..QpConfig::new(0, 0)
        };
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("QP", error.to_string());
        engine.nic.open_qp(qpn, &config).map_err(refused)?;
        let mut inline = None;
        if capacity.max_inline_bytes > 0 && capacity.max_send_wr > 0 {
            let mut slab = InlineSlab::new(capacity.max_send_wr, capacity.max_inline_bytes);
            let (addr, length_bytes) = slab.range();
            let region = MemoryRegion { pd: spec.pd, addr, length_bytes, iova: addr, access: Access::default() };
            slab.lkey = engine.register(&region)?.lkey;
            inline = Some(slab);
        }
        engine.qps[qpn as usize] = Some(Box::new(Entry {
            qpn,
            owner,
            send_cq: cqs.0,
            recv_cq: cqs.1,
            events,
            token: spec.token,
            wanted: QpState::Reset,
            config,
            peer: None,
            lease: None,
            conn: None,
            backlog: Backlog::with_capacity(capacity.max_send_wr),
            unpolled: Arc::default(),
            queued: false,
            inline,
            notify_drained: false,
            draining: false,
            told_last_wqe: false,
        }));
        Engine::note_qpn(qpn);
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
        let mut engine = self.shared.engine();
        let state = engine.state(self.qpn).unwrap_or(QpState::Error);
        let draining = engine.qp(self.qpn).is_some_and(|entry| entry.draining);
        QpStatus { state, draining: draining && state == QpState::Sqd }
    }

    fn modify(&self, change: &QpChange) -> Result<(), DeviceError> {
        let mut engine = self.shared.engine();
        if self.shared.is_stopped() {
            return Err(DeviceError::Gone { detail: "it was closed".to_owned() });
        }
        engine.modify(self.qpn, change)?;
        engine.run();
        self.shared.keep_awake(&engine);
        Ok(())
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        let mut engine = self.shared.engine();
        engine.remove_qp(self.qpn);
        engine.run();
        Ok(())
    }

    fn paths(&self) -> Vec<PathStatus> {
        let mut engine = self.shared.engine();
        let conn = engine.qp(self.qpn).and_then(|entry| entry.conn);
        conn.map(|conn| engine.path_statuses(conn)).unwrap_or_default()
    }

    fn send_room(&self) -> u32 {
        self.capacity.max_send_wr.saturating_sub(self.shared.engine().outstanding(self.qpn))
    }

    fn post_send(&self, request: &SendRequest<'_>) -> Result<(), PostError> {
        if let Payload::Sges(list) = request.payload {
            if list.len() > self.capacity.max_send_sge as usize {
                return Err(PostError::TooManySges);
            }
        }
        let mut engine = self.shared.engine();
        let state = engine.state(self.qpn).filter(|_| !self.shared.is_stopped()).ok_or(PostError::Gone)?;
        if matches!(state, QpState::Reset | QpState::Init | QpState::Rtr) {
            return Err(PostError::WrongState);
        }
        if engine.outstanding(self.qpn) >= self.capacity.max_send_wr {
            return Err(PostError::Full);
        }
        let entry = engine.qp(self.qpn).ok_or(PostError::Gone)?;
        let request = translate(request, &mut entry.inline).ok_or(PostError::BadInline)?;
        entry.backlog.push(request);
        if state == QpState::Error && entry.conn.is_none() {
            engine.flush_backlog(self.qpn, WcStatus::Flushed);
        } else {
            engine.wake(self.qpn);
            engine.feed();
        }
        Ok(())
    }

    fn ring_send(&self) {
        // The request must go even if the thread is at work just now.
        self.shared.run_soon();
    }

    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError> {
        let mut engine = self.shared.engine();
        if self.shared.is_stopped() {
            return Err(PostError::Gone);
        }
        if request.sges.len() > self.capacity.max_recv_sge as usize {
            return Err(PostError::TooManySges);
        }
        let mut list = [mrnic_model::Sge::default(); SGES_MAX];
        let sges = super::receive::sges_of(request, &mut list)?;
        let posted = engine.nic.post_recv(self.qpn, &RecvWr { wr_id: request.wr_id, sges });
        posted.map_err(super::receive::refusal)?;
        engine.hand_out();
        Ok(())
    }
}
