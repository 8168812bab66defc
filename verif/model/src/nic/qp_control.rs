//! Queue pairs come and go: opening, closing and the states of section 11.
//! In: calls of software. Out: a checked change of state, or why not. Guarantees that a QP which leaves RTR..SQD answers each
//! request it has accepted with an error (D7) and leaves nothing behind in its connection.

use alloc::boxed::Box;

use super::qp::Qp;
use super::Nic;
use crate::config::{QpAccess, QpConfig, QpState};
use crate::error::{ConfigError, StepError};
use crate::event::AsyncEvent;
use crate::tx::messages::Fail;
use crate::tx::responses::{Response, ResponseKind};
use crate::wqe::Status;
use crate::{CongestionControl, Profile};

/// MAK.code qp_error.
const CODE_QP_ERROR: u8 = 6;

fn needs_connection(state: QpState) -> bool {
    !matches!(state, QpState::Reset | QpState::Init)
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    fn check_qp(&self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        let count = self.qps.len() as u64;
        if u64::from(qpn) >= count {
            return Err(ConfigError::NoSuch { what: "queue pair", index: qpn.into(), count });
        }
        config.check()?;
        if let Some(srq) = config.srq {
            if self.srqs.get(srq as usize).is_none_or(Option::is_none) {
                return Err(ConfigError::NoSuch { what: "SRQ", index: srq.into(), count: self.srqs.len() as u64 });
            }
        }
        if needs_connection(config.state) && self.connection(config.conn).is_err() {
            return Err(ConfigError::ConnectionClosed { conn: config.conn });
        }
        Ok(())
    }

    /// Opens queue pair `qpn` in the state of `config`. One that is open starts anew, without completions; packets of the old
    /// one that are outstanding go on as NOPs. In RESET and INIT the connection is not looked at.
    pub fn open_qp(&mut self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        self.check_qp(qpn, config)?;
        self.close_qp(qpn);
        self.incarnations = self.incarnations.wrapping_add(1);
        let mut qp = Qp::open(qpn, config, self.incarnations, self.config.msgs_per_stream as usize);
        if needs_connection(config.state) && self.connection(config.conn).is_ok_and(|c| c.tx.error) {
            // W4: nothing of it would ever be sent.
            qp.send.fail(Fail::FirstNotDone, Status::RetryExcErr, 0);
        }
        self.qps[qpn as usize] = Some(Box::new(qp));
        Ok(())
    }

    /// Closes queue pair `qpn`. Its work requests and receives get no completions; its outstanding packets go on as NOPs.
    pub fn close_qp(&mut self, qpn: u32) {
        self.forget_requests(qpn);
        self.answer_with_errors(qpn);
        let Some(mut qp) = self.qps.get_mut(qpn as usize).and_then(Option::take) else { return };
        for list in qp.send.take_lists() {
            self.sges.release(Some(list));
        }
        for recv in qp.receives.drain() {
            self.sges.release(recv.list);
        }
    }

    /// Software closes queue pair `qpn`: until [`Nic::close_qp`], steps may see it in Error, as the parts of hardware learn of it one by one
    /// (section 10).
    pub fn begin_closing_qp(&mut self, qpn: u32) {
        if let Ok(qp) = self.qp_mut(qpn) {
            qp.closing = true;
        }
    }

    /// Whether software is closing queue pair `qpn`.
    pub fn is_closing(&self, qpn: u32) -> bool {
        self.qp(qpn).is_ok_and(|qp| qp.closing)
    }

    /// INIT to RTR: binds the QP to its connection and its peer. Receives that were posted stay.
    pub fn connect_qp(&mut self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        let config = QpConfig { state: QpState::Rtr, ..*config };
        self.check_qp(qpn, &config)?;
        let messages = self.config.msgs_per_stream as usize;
        let given_up = self.connection(config.conn).is_ok_and(|c| c.tx.error);
        self.incarnations = self.incarnations.wrapping_add(1);
        let incarnation = self.incarnations;
        let Ok(qp) = self.qp_mut(qpn) else {
            return Err(ConfigError::NoSuch { what: "open queue pair", index: qpn.into(), count: 0 });
        };
        if qp.state() != QpState::Init {
            return Err(ConfigError::Transition { qpn, from: qp.state(), to: QpState::Rtr });
        }
        let mut new = Qp::open(qpn, &config, incarnation, messages);
        if qp.config.srq == config.srq {
            core::mem::swap(&mut new.receives, &mut qp.receives);
        }
        if given_up {
            // W4: as in open_qp.
            new.send.fail(Fail::FirstNotDone, Status::RetryExcErr, 0);
        }
        *qp = new;
        Ok(())
    }

    /// Moves a QP to another state. RTR is entered by [`Nic::connect_qp`]. RESET frees everything without completions; the
    /// step to ERROR flushes (W3: the oldest that is not done, 5 WR_FLUSH_ERR).
    pub fn modify_qp(&mut self, qpn: u32, to: QpState) -> Result<(), ConfigError> {
        let Ok(qp) = self.qp_mut(qpn) else {
            return Err(ConfigError::NoSuch { what: "open queue pair", index: qpn.into(), count: 0 });
        };
        let from = qp.state();
        match (from, to) {
            (_, QpState::Reset) => {
                let config = QpConfig { state: QpState::Reset, ..qp.config };
                return self.open_qp(qpn, &config);
            }
            (QpState::Error, QpState::Error) => {}
            (_, QpState::Error) => {
                let first = qp.send.fail(Fail::FirstNotDone, Status::WrFlushErr, 0);
                self.note_qp_error(qpn, first, Status::WrFlushErr);
            }
            (QpState::Reset, QpState::Init) | (QpState::Rtr | QpState::Sqd, QpState::Rts) => qp.state = to,
            (QpState::Rts, QpState::Sqd) => {
                qp.state = to;
                qp.draining = true;
                self.note_drained(qpn);
            }
            (from, to) if from == to => {}
            (from, to) => return Err(ConfigError::Transition { qpn, from, to }),
        }
        self.drain_cqes(qpn);
        Ok(())
    }

    /// RTR to RTS with what is known only then: the first MSN sent, RNR retries, READs and atomics outstanding at most.
    pub fn start_sending(&mut self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        config.check()?;
        let messages = self.config.msgs_per_stream as usize;
        let Ok(qp) = self.qp_mut(qpn) else {
            return Err(ConfigError::NoSuch { what: "open queue pair", index: qpn.into(), count: 0 });
        };
        if qp.state() != QpState::Rtr {
            return Err(ConfigError::Transition { qpn, from: qp.state(), to: QpState::Rts });
        }
        // Nothing was sent in RTR, so the queue begins anew.
        qp.restart_send(qpn, config, messages);
        qp.state = QpState::Rts;
        self.update_qp(qpn, config)
    }

    /// Changes what may change in any state: access and RNR timer.
    pub fn update_qp(&mut self, qpn: u32, config: &QpConfig) -> Result<(), ConfigError> {
        config.check()?;
        let Ok(qp) = self.qp_mut(qpn) else {
            return Err(ConfigError::NoSuch { what: "open queue pair", index: qpn.into(), count: 0 });
        };
        qp.config.access = config.access;
        qp.config.min_rnr_timer = config.min_rnr_timer;
        Ok(())
    }

    /// N3, D1: names the retries of an open QP, whose count begins anew, and how many READs and atomics may be outstanding, after it was opened.
    /// A QP that is closed has none.
    pub fn set_send_limits(&mut self, qpn: u32, rnr_retry: u8, max_rd_atomic: u8) -> Result<(), ConfigError> {
        let Ok(qp) = self.qp_mut(qpn) else { return Ok(()) };
        let config = QpConfig { rnr_retry, max_rd_atomic, ..qp.config };
        config.check()?;
        qp.config = config;
        qp.max_requests = max_rd_atomic;
        qp.send.set_limits(rnr_retry, max_rd_atomic);
        Ok(())
    }

    /// D2, Q2: names what an open QP allows its peer and its RNR timer after it was opened. A QP that is closed allows nothing.
    pub fn set_terms(&mut self, qpn: u32, access: QpAccess, min_rnr_timer: u8) {
        if let Ok(qp) = self.qp_mut(qpn) {
            (qp.config.access, qp.config.min_rnr_timer) = (access, min_rnr_timer);
        }
    }

    /// The state of a QP.
    pub fn qp_state(&self, qpn: u32) -> Result<QpState, StepError> {
        Ok(self.qp(qpn)?.state())
    }

    /// SQD: tells when the last work request that was taken is complete.
    pub(super) fn note_drained(&mut self, qpn: u32) {
        let Ok(qp) = self.qp_mut(qpn) else { return };
        if qp.draining && qp.state() == QpState::Sqd {
            qp.send.reap_unsignaled();
            if qp.send.count == 0 {
                qp.draining = false;
                self.async_events.push_back(AsyncEvent::SqDrained { qpn });
            }
        }
    }

    /// W3: what follows when a QP moves to Error, whatever the cause; then [`Nic::step_answer`] is due.
    pub(super) fn note_qp_error(&mut self, qpn: u32, moved: bool, status: Status) {
        if moved {
            self.counters.qp_errors += 1;
            self.emit(crate::Event::QpError { qpn, status });
            self.forget_requests(qpn);
        }
    }

    /// D7: answers the requests of a QP in Error. Returns how many there were.
    pub fn step_answer(&mut self, qpn: u32) -> Result<u32, StepError> {
        if !self.qp(qpn)?.send.in_error() {
            return Err(StepError::QpNotInError { qpn });
        }
        Ok(self.answer_with_errors(qpn))
    }

    /// D8, N1: nothing of the QP is waited for.
    fn forget_requests(&mut self, qpn: u32) {
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return };
        let awaited = qp.send.forget_requests();
        let bound = qp.is_of(qp.conn);
        let Some(connection) = self.conns.get_mut(qp.conn as usize).and_then(Option::as_deref_mut).filter(|_| bound) else {
            return;
        };
        connection.waiting.retain(|waiting| *waiting != qpn);
        let responses = &mut connection.tx.responses;
        responses.awaited = responses.awaited.saturating_sub(awaited);
        self.driver.wake(qp.conn);
    }

    /// D7: every request whose response is not acknowledged is answered by ERROR_RESP.
    fn answer_with_errors(&mut self, qpn: u32) -> u32 {
        let Some(qp) = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut) else { return 0 };
        let bound = qp.is_of(qp.conn);
        let Some(connection) = self.conns.get_mut(qp.conn as usize).and_then(Option::as_deref_mut).filter(|_| bound) else {
            return 0;
        };
        let mut answered = 0;
        while let Some(request) = qp.requests.take_live() {
            let kind = ResponseKind::Error { peer_qpn: qp.peer_qpn, code: CODE_QP_ERROR };
            connection.tx.responses.push(Response { kind, msn: request.msn, npkts: 1, length: 0 });
            answered += 1;
        }
        self.driver.wake(qp.conn);
        answered
    }
}
