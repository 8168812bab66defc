//! RNR at the sender: messages are withdrawn and begin again (N1..N3).
//! In: refusals for want of a receive, and the time. Out: which messages begin again. Guarantees that the packets of an
//! attempt are all retired before the first packet of the next one is sent.

use super::Nic;
use crate::error::StepError;
use crate::event::Event;
use crate::seq::Tick;
use crate::tx::entering::{RetriesSpent, Withdrawal};
use crate::tx::messages::Fail;
use crate::wqe::Status;
use crate::{CongestionControl, Profile};

/// MAK.code of an RNR: set if the receiver lacks a place for a READ or an atomic; this uses no retry.
pub const RNR_BUSY: u8 = 0x20;

/// The IB encoding of RNR times, in units of 10 us.
const RNR_TIMES_10US: [u32; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
    8192, 12288, 16384, 24576, 32768, 49152,
];

/// N2: how long an RNR with this code lasts. 10 us are 625 / 8 ticks of 128 ns.
pub fn rnr_ticks(code: u8) -> u32 {
    RNR_TIMES_10US[usize::from(code & 31)] * 625 / 8
}

/// The peer has no receive (or no place) for a message of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RnrEvent {
    pub qpn: u32,
    pub code: u8,
    pub msn: u32,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// N1, N3: applies an RNR that an acknowledgment step reported. Returns whether the QP began to wait; then
    /// [`Nic::step_rnr`] is due after [`rnr_ticks`].
    pub fn step_withdraw(&mut self, now: Tick, rnr: &RnrEvent) -> Result<bool, StepError> {
        let RnrEvent { qpn, code, msn } = *rnr;
        let qp = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchQp { qpn })?;
        let until = now.wrapping_add(rnr_ticks(code));
        // W2: what is done has completed before this step.
        qp.send.reap_unsignaled();
        let withdrawal = qp.send.withdraw(msn.into(), until, code & RNR_BUSY == 0);
        if !matches!(withdrawal, Ok(Withdrawal::Ignored)) {
            self.counters.messages_withdrawn += 1;
        }
        let began = match withdrawal {
            Ok(Withdrawal::Ignored) => return Ok(false),
            Ok(Withdrawal::Joined) => false,
            Ok(Withdrawal::Began) => {
                // No packet of the QP is sent until it begins again; slots set its messages aside.
                let conn = qp.conn;
                if let Ok(connection) = self.connection_mut(conn) {
                    connection.waiting.push(qpn);
                }
                true
            }
            Err(RetriesSpent) => {
                let first = qp.send.fail(Fail::Message(msn.into()), Status::RnrRetryExcErr, code);
                self.note_qp_error(qpn, first, Status::RnrRetryExcErr);
                return Ok(false);
            }
        };
        self.emit(Event::Withdrawn { qpn, msn, code });
        Ok(began)
    }

    /// N2: ends the wait of a QP if its time has passed, everything it has sent is retired, and none of its messages is in the
    /// FIFO. Returns whether it did.
    pub fn step_rnr(&mut self, now: Tick, qpn: u32) -> Result<bool, StepError> {
        let qp = self.qp_mut(qpn)?;
        let over = |until: Tick| now.wrapping_sub(until) < 1 << 31;
        if qp.send.in_error() || qp.send.is_busy() || !qp.send.waits_until.is_some_and(over) {
            return Ok(false);
        }
        qp.send.end_wait();
        let conn = qp.conn;
        self.connection_mut(conn)?.waiting.retain(|waiting| *waiting != qpn);
        self.emit(Event::BegunAgain { qpn });
        self.feed(qpn);
        Ok(true)
    }
}
