//! Receives are posted and completed (Q1, Q5..Q7), shared receive queues come and go.
//! In: receives of software. Out: completions in the order of the queue. Guarantees one completion for each receive that a QP
//! has taken or that was posted to it; those left in a shared queue get none.

use super::Nic;
use crate::config::{in_range, QpState};
use crate::error::{ConfigError, PostError, StepError};
use crate::event::AsyncEvent;
use crate::rx::recv_queue::{Recv, RecvState, Srq};
use crate::sge::{total_bytes, Sge, SGES_MAX};
use crate::wqe::Cqe;
use crate::{CongestionControl, Profile};

/// A receive of software; at most 8 SGEs, with keys and addresses as software knows them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvWr<'a> {
    pub wr_id: u64,
    pub sges: &'a [Sge],
}

/// A shared receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SrqConfig {
    pub pd: u16,
    /// Receives that may be posted at a time.
    pub depth: u32,
    /// Q7; 0 is disarmed.
    pub limit: u32,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    fn recv_of(&mut self, wr: &RecvWr<'_>) -> Result<Recv, PostError> {
        let count = wr.sges.len();
        if count > SGES_MAX {
            return Err(PostError::Sges { count });
        }
        let list = (count > 1).then(|| self.sges.insert(wr.sges));
        let only = wr.sges.first().copied().unwrap_or_default();
        self.counters.recv_posted += 1;
        Ok(Recv::new(RecvState::Posted, wr.wr_id, only, list, total_bytes(wr.sges)))
    }

    /// Q1: posts a receive to the QP's own queue. Keys are checked when a message uses it (Q3).
    pub fn post_recv(&mut self, qpn: u32, wr: &RecvWr<'_>) -> Result<(), PostError> {
        self.step_recv(qpn, wr)?;
        // Q6: in Error it completes at once.
        if self.qp(qpn).is_ok_and(|qp| qp.send.in_error()) {
            self.drain_cqes(qpn);
        }
        Ok(())
    }

    /// The same as a step: in Error its completion is left to [`Nic::step_recv_cqe`].
    pub fn step_recv(&mut self, qpn: u32, wr: &RecvWr<'_>) -> Result<(), PostError> {
        let Ok(qp) = self.qp(qpn) else { return Err(PostError::NoSuchQp { qpn }) };
        if let Some(srq) = qp.config.srq {
            return Err(PostError::UsesSrq { qpn, srq });
        }
        if qp.state() == QpState::Reset {
            return Err(PostError::State { qpn, state: QpState::Reset });
        }
        if qp.receives.is_full() {
            return Err(PostError::RecvFull { depth: qp.config.recv_depth });
        }
        let recv = self.recv_of(wr)?;
        if let Ok(qp) = self.qp_mut(qpn) {
            qp.receives.post(recv);
        }
        Ok(())
    }

    /// Creates shared receive queue `srq`.
    pub fn create_srq(&mut self, srq: u32, config: &SrqConfig) -> Result<(), ConfigError> {
        in_range("depth", config.depth.into(), 1, 1 << 20)?;
        in_range("limit", config.limit.into(), 0, config.depth.into())?;
        self.destroy_srq(srq)?;
        let SrqConfig { pd, depth, limit } = *config;
        self.srqs[srq as usize] = Some(Srq { pd, depth, limit, queue: Default::default(), posted: 0 });
        Ok(())
    }

    /// Q7: arms the limit; 0 disarms it. If fewer receives are posted the event comes at once.
    pub fn arm_srq(&mut self, srq: u32, limit: u32) -> Result<(), ConfigError> {
        let count = self.srqs.len() as u64;
        let queue = self.srqs.get_mut(srq as usize).and_then(Option::as_mut);
        let queue = queue.ok_or(ConfigError::NoSuch { what: "SRQ", index: srq.into(), count })?;
        in_range("limit", limit.into(), 0, queue.depth.into())?;
        queue.limit = limit;
        if queue.limit_reached() {
            self.async_events.push_back(AsyncEvent::SrqLimitReached { srq });
        }
        Ok(())
    }

    /// Q7: the armed limit; 0 is disarmed.
    pub fn srq_limit(&self, srq: u32) -> Option<u32> {
        Some(self.srqs.get(srq as usize)?.as_ref()?.limit)
    }

    /// Changes how many receives may be posted at a time; not below what waits.
    pub fn resize_srq(&mut self, srq: u32, depth: u32) -> Result<(), ConfigError> {
        let count = self.srqs.len() as u64;
        let queue = self.srqs.get_mut(srq as usize).and_then(Option::as_mut);
        let queue = queue.ok_or(ConfigError::NoSuch { what: "SRQ", index: srq.into(), count })?;
        in_range("depth", depth.into(), queue.queue.len().max(1) as u64, 1 << 20)?;
        queue.depth = depth;
        Ok(())
    }

    /// Destroys a shared receive queue that no QP uses. Its receives get no completions. One that does not exist is no error.
    pub fn destroy_srq(&mut self, srq: u32) -> Result<(), ConfigError> {
        let count = self.srqs.len() as u64;
        let users = |qp: &Option<alloc::boxed::Box<super::Qp>>| qp.as_ref().is_some_and(|qp| qp.config.srq == Some(srq));
        if let Some(qpn) = self.qps.iter().position(users) {
            return Err(ConfigError::SrqInUse { srq, qpn: qpn as u32 });
        }
        let place = self.srqs.get_mut(srq as usize).ok_or(ConfigError::NoSuch { what: "SRQ", index: srq.into(), count })?;
        for recv in place.take().into_iter().flat_map(|old| old.queue) {
            self.sges.release(recv.list);
        }
        Ok(())
    }

    /// Q1: posts a receive to a shared queue.
    pub fn post_srq_recv(&mut self, srq: u32, wr: &RecvWr<'_>) -> Result<(), PostError> {
        let queue = self.srqs.get(srq as usize).and_then(Option::as_ref).ok_or(PostError::NoSuchSrq { srq })?;
        if queue.queue.len() >= queue.depth as usize {
            return Err(PostError::RecvFull { depth: queue.depth });
        }
        let recv = self.recv_of(wr)?;
        if let Some(queue) = self.srqs.get_mut(srq as usize).and_then(Option::as_mut) {
            queue.post(recv);
        }
        Ok(())
    }

    /// Receives of a shared queue that no message has taken.
    pub fn srq_posted(&self, srq: u32) -> Option<usize> {
        Some(self.srqs.get(srq as usize)?.as_ref()?.queue.len())
    }

    /// Q5, Q6: the next completion of a receive of `qpn`, if one is due, and its 32 bytes.
    pub fn step_recv_cqe(&mut self, qpn: u32) -> Result<Option<(Cqe, [u8; 32])>, StepError> {
        let qp = self.qp_mut(qpn)?;
        // What a queue pair has taken from a shared queue is flushed before it closes.
        let in_error = qp.send.in_error() || (qp.closing && qp.config.srq.is_some());
        let popped = qp.receives.pop_cqe(in_error);
        // Q6: the last one that it took from its shared queue.
        let last = popped.is_none() && in_error && qp.config.srq.is_some() && !qp.last_wqe;
        if last {
            qp.last_wqe = true;
            self.async_events.push_back(AsyncEvent::LastWqeReached { qpn });
        }
        let Some((cqe, recv)) = popped else { return Ok(None) };
        self.sges.release(recv.list);
        self.counters.recv_cqes += 1;
        Ok(Some((cqe, cqe.to_bytes())))
    }
}
