//! Retirements, errors and completions (W2..W4): each its own step, as their order in hardware is free.
//! In: acknowledged packets, refusals of the peer, connection errors. Out: completions.

use super::Nic;
use crate::error::StepError;
use crate::event::Event;
use crate::tx::messages::Fail;
use crate::tx::pool::Record;
use crate::wqe::{Cqe, Status};
use crate::{CongestionControl, Profile};

/// A packet was retired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retire {
    pub qpn: u32,
    pub msn: u32,
    pub bytes: u32,
    /// It was the last packet of a message that has no completion yet.
    pub message_done: bool,
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
        let message_done = match self.qp_mut(record.qpn) {
            Ok(qp) if qp.incarnation == record.incarnation => qp.send.retire(record.msn.into()),
            _ => false,
        };
        Retire { qpn: record.qpn, msn: record.msn, bytes, message_done }
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
        let of_conn = move |qp: &super::Qp| qp.conn == conn;
        self.qps.iter().enumerate().filter(move |(_, qp)| qp.as_deref().is_some_and(of_conn)).map(|(i, _)| i as u32)
    }

    /// W2, W3: the next completion of `qpn`, if one is due, and its 32 bytes.
    pub fn step_cqe(&mut self, qpn: u32) -> Result<Option<(Cqe, [u8; 32])>, StepError> {
        let qp = self.qp_mut(qpn)?;
        let was_in_error = qp.send.in_error();
        let Some(cqe) = qp.send.pop_cqe() else { return Ok(None) };
        let moved = qp.send.in_error() && !was_in_error;
        self.counters.cqes += 1;
        self.note_qp_error(qpn, moved, cqe.status);
        Ok(Some((cqe, cqe.to_bytes())))
    }

    fn note_qp_error(&mut self, qpn: u32, moved: bool, status: Status) {
        if moved {
            self.counters.qp_errors += 1;
            self.emit(Event::QpError { qpn, status });
        }
    }
}
