//! Retirements, errors and completions (W2..W4): each its own step, as their order in hardware is free.
//! In: acknowledged packets, refusals of the peer, connection errors. Out: completions.

use super::Nic;
use crate::error::StepError;
use crate::tx::messages::Fail;
use crate::tx::messages::Progress;
use crate::tx::pool::{Record, RecordKind};
use crate::wqe::{Cqe, Status};
use crate::{CongestionControl, Profile};

/// A packet was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retire {
    pub qpn: u32,
    pub msn: u32,
    pub bytes: u32,
    /// It was a packet of a response (then `qpn` is the QP that answers), or an ERROR_RESP (then the peer's).
    pub response: bool,
    pub error_response: bool,
    /// It was the last packet of a message that has no completion yet.
    pub message_done: bool,
    /// N2: nothing that this waiting QP has sent is outstanding any more; for [`Nic::step_rnr`].
    pub drained: bool,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Retires a packet that an acknowledgment step reported as newly acknowledged.
    pub fn step_retire(&mut self, conn: u16, home: u8, ppsn: u32) -> Result<Retire, StepError> {
        let record = self.retiring.remove(&(conn, home, ppsn)).ok_or(StepError::NotAwaitingRetirement { conn, home, ppsn })?;
        Ok(self.retire(conn, &record))
    }

    /// W2: the packet's bytes leave the connection's window and its message comes nearer to its completion.
    pub(super) fn retire(&mut self, conn: u16, record: &Record) -> Retire {
        let bytes = u32::from(record.len);
        if let Ok(connection) = self.connection_mut(conn) {
            connection.tx.retired_bytes = connection.tx.retired_bytes.wrapping_add(bytes);
        }
        self.counters.retired_packets += 1;
        self.counters.retired_bytes += u64::from(bytes);
        let mut progress = Progress::default();
        match record.kind {
            RecordKind::Message => {
                if let Some(qp) = self.qp_mut(record.qpn).ok().filter(|qp| qp.incarnation == record.incarnation) {
                    progress = qp.send.retire(record.msn.into());
                }
                self.note_progress(conn, record.qpn, progress);
            }
            RecordKind::Response { slot } => {
                if let Some(qp) = self.qp_mut(record.qpn).ok().filter(|qp| qp.incarnation == record.incarnation) {
                    // D3: the place of the request is free when its response is acknowledged.
                    if qp.requests.retire(slot, record.msn) {
                        self.release_response(conn);
                    }
                }
            }
            RecordKind::Error => self.release_response(conn),
        }
        let Progress { done, drained, .. } = progress;
        let (response, error_response) = (record.kind != RecordKind::Message, record.kind == RecordKind::Error);
        Retire { qpn: record.qpn, msn: record.msn, bytes, response, error_response, message_done: done, drained }
    }

    fn release_response(&mut self, conn: u16) {
        if let Ok(connection) = self.connection_mut(conn) {
            connection.tx.responses.release();
        }
    }

    /// D6: host memory refused the payload of the response to message `msn`, or of one of its own packets. Returns whether
    /// the QP moved to Error.
    pub fn step_local_fault(&mut self, qpn: u32, msn: u32) -> Result<bool, StepError> {
        let first = self.qp_mut(qpn)?.send.fail(Fail::Message(msn.into()), Status::LocProtErr, 0);
        self.note_qp_error(qpn, first, Status::LocProtErr);
        Ok(first)
    }

    /// W3: the peer refused a packet of message `msn`. Returns whether the QP moved to Error.
    pub fn step_nak(&mut self, qpn: u32, code: u8, msn: u32) -> Result<bool, StepError> {
        let qp = self.qp_mut(qpn)?;
        // A nak for a message that is no longer outstanding is ignored.
        if !qp.send.is_outstanding(msn.into()) {
            return Ok(false);
        }
        let status = Status::of_nak(code);
        let first = qp.send.fail(Fail::Message(msn.into()), status, code);
        self.note_qp_error(qpn, first, status);
        Ok(first)
    }

    /// W3: the connection of `qpn` was given up (a timer step said so). Returns whether the QP moved to Error.
    pub fn step_conn_error(&mut self, qpn: u32) -> Result<bool, StepError> {
        let first = self.qp_mut(qpn)?.send.fail(Fail::FirstNotDone, Status::RetryExcErr, 0);
        self.note_qp_error(qpn, first, Status::RetryExcErr);
        Ok(first)
    }

    /// R4, W3: `qpn` refused a packet of its peer. Returns whether the QP moved to Error.
    pub fn step_rx_error(&mut self, qpn: u32) -> Result<bool, StepError> {
        let first = self.qp_mut(qpn)?.send.fail(Fail::FirstNotDone, Status::WrFlushErr, 0);
        self.note_qp_error(qpn, first, Status::WrFlushErr);
        Ok(first)
    }

    /// The queue pairs of a connection.
    pub fn qps_of(&self, conn: u16) -> impl Iterator<Item = u32> + '_ {
        let of_conn = move |qp: &super::Qp| qp.is_of(conn);
        self.qps.iter().enumerate().filter(move |(_, qp)| qp.as_deref().is_some_and(of_conn)).map(|(i, _)| i as u32)
    }

    /// W2, W3: the next completion of `qpn`, if one is due, and its 32 bytes.
    pub fn step_cqe(&mut self, qpn: u32) -> Result<Option<(Cqe, [u8; 32])>, StepError> {
        let qp = self.qp_mut(qpn)?;
        let was_in_error = qp.send.in_error();
        let Some(cqe) = qp.send.pop_cqe() else {
            self.note_drained(qpn);
            return Ok(None);
        };
        let moved = qp.send.in_error() && !was_in_error;
        self.counters.cqes += 1;
        self.note_qp_error(qpn, moved, cqe.status);
        Ok(Some((cqe, cqe.to_bytes())))
    }
}
