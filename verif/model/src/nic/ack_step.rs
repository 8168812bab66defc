//! An acknowledgment is applied (section 6).
//! In: the fields of an ACK frame. Out: the packets it newly acknowledges, the losses it shows, the peer's refusal.

use mrnic_wire::{Ack, MakCode, Ppsn};

use super::rnr_step::RnrEvent;
use super::Nic;
use crate::bits256::Bits256;
use crate::config::Stage;
use crate::error::StepError;
use crate::event::{Event, LossRule};
use crate::rx::check::code_number;
use crate::seq::Tick;
use crate::tx::ack::{apply, AckOutcome, AckVerdict};
use crate::tx::pool::{Record, RecordKind};
use crate::{CongestionControl, Profile};

/// An accepted ACK frame. `conn` is the local number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckFrame {
    pub conn: u16,
    pub home: u8,
    pub via: u8,
    pub cum: Ppsn,
    pub ack: Ack,
}

/// The peer refused a packet of this message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NakEvent {
    pub qpn: u32,
    pub code: u8,
    pub msn: u32,
}

/// Result of an acknowledgment step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckStep {
    pub conn: u16,
    pub home: u8,
    pub outcome: AckOutcome,
    /// For [`Nic::step_nak`].
    pub nak: Option<NakEvent>,
    /// For [`Nic::step_withdraw`].
    pub rnr: Option<RnrEvent>,
}

impl AckStep {
    /// Newly acknowledged PPSNs in order.
    pub fn newly_acked(&self) -> impl Iterator<Item = u32> {
        let (base, mut left) = (self.outcome.base, self.outcome.newly);
        core::iter::from_fn(move || pop_lowest(base, &mut left).map(Ppsn::get))
    }
}

fn pop_lowest(base: Ppsn, left: &mut Bits256) -> Option<Ppsn> {
    use crate::seq::Serial24;
    let distance = left.first_from(base.ring256())?;
    let ppsn = base.wrapping_add(distance);
    left.clear(ppsn.ring256());
    Some(ppsn)
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Applies the oldest acknowledgment that [`Nic::step_rx`] queued. Its packets then await [`Nic::step_retire`].
    pub fn step_ack(&mut self, now: Tick) -> Result<AckStep, StepError> {
        self.step_ack_seen(now, false)
    }

    /// [`Nic::step_ack`] where hardware may have found the sender closed already (`closed_seen`), which counts if software is closing it.
    pub fn step_ack_seen(&mut self, now: Tick, closed_seen: bool) -> Result<AckStep, StepError> {
        let frame = self.acks_in.pop_front().ok_or(StepError::NoAck)?;
        // A1: it may have waited until its connection was closed
        let open = self.connection(frame.conn).is_ok_and(|c| frame.home < c.paths() && !(closed_seen && c.closing));
        if !open {
            self.counters.ack_disabled += 1;
            return Ok(AckStep { conn: frame.conn, home: frame.home, outcome: AckOutcome::disabled(), nak: None, rnr: None });
        }
        let step = self.apply_ack(now, &frame)?;
        for ppsn in step.newly_acked() {
            if let Some(record) = self.take_record(frame.conn, frame.home, Ppsn::new(ppsn)) {
                self.retiring.insert((frame.conn, frame.home, ppsn), record);
            }
        }
        Ok(step)
    }

    /// Acknowledgments that wait for [`Nic::step_ack`].
    pub fn acks_waiting(&self) -> usize {
        self.acks_in.len()
    }

    pub(super) fn take_record(&mut self, conn: u16, home: u8, ppsn: Ppsn) -> Option<Record> {
        let connection = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut)?;
        self.pool.remove(connection.chunks.get_mut(home as usize)?, ppsn)
    }

    pub(super) fn apply_ack(&mut self, now: Tick, frame: &AckFrame) -> Result<AckStep, StepError> {
        let AckFrame { conn, home, .. } = *frame;
        let rto_min = self.config.rto_min_ticks;
        let connection =
            self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchConnection { conn })?;
        let path = connection.tx_paths.get_mut(home as usize).ok_or(StepError::NoSuchPath { conn, path: home })?;
        let outcome = apply(&self.cc, path, now, frame.cum, &frame.ack, rto_min, self.window_pkts);
        let state = path.state;
        match outcome.verdict {
            AckVerdict::Applied => self.counters.ack_applied += 1,
            AckVerdict::Disabled => self.counters.ack_disabled += 1,
            AckVerdict::Stale => self.counters.ack_stale += 1,
            AckVerdict::Invalid => self.counters.ack_invalid += 1,
        }
        let mut step = AckStep { conn, home, outcome, nak: None, rnr: None };
        if outcome.verdict != AckVerdict::Applied {
            return Ok(step);
        }
        // C2: the receiver's fair share; 0 would stop the pacer for ever.
        connection.tx.hint = frame.ack.rate.max(1);
        if outcome.acked > 0 || outcome.probe {
            connection.tx.responses.alive = now;
        }
        step.nak = self.nak_event(frame);
        step.rnr = self.rnr_event(frame);
        self.report_ack(&step, state);
        Ok(step)
    }

    /// The row "nak" of section 6: which message the peer refused.
    fn nak_event(&self, frame: &AckFrame) -> Option<NakEvent> {
        if !frame.ack.flags.nak {
            return None;
        }
        let mak = &frame.ack.mak;
        let code = code_number(mak.code);
        let (qpn, msn) = if mak.code == MakCode::BadQp {
            // The receiver does not know the sender's QPN; it names the packet.
            self.message_of_packet(frame)?
        } else {
            (mak.qp, mak.msn.get())
        };
        let of_conn = self.qp(qpn).is_ok_and(|qp| qp.is_of(frame.conn));
        of_conn.then_some(NakEvent { qpn, code, msn })
    }

    /// The message of the packet (home, MAK.qp), if that is outstanding and not acknowledged.
    fn message_of_packet(&self, frame: &AckFrame) -> Option<(u32, u32)> {
        let connection = self.connection(frame.conn).ok()?;
        let (home, ppsn) = (frame.home as usize, Ppsn::new(frame.ack.mak.qp));
        if !connection.tx_paths[home].is_unacked(ppsn) {
            return None;
        }
        let record = self.pool.get(&connection.chunks[home], ppsn)?;
        if record.kind != RecordKind::Message || self.qp(record.qpn).ok()?.incarnation != record.incarnation {
            return None;
        }
        Some((record.qpn, record.msn))
    }

    /// N1: which message the peer cannot take now. Its packet was refused, so it is lost unless a resend is under way.
    fn rnr_event(&mut self, frame: &AckFrame) -> Option<RnrEvent> {
        if !frame.ack.flags.rnr || self.config.stage == Stage::Write {
            return None;
        }
        let message = self.message_of_packet(frame);
        let code = code_number(frame.ack.mak.code);
        let ppsn = Ppsn::new(frame.ack.mak.qp);
        if let Ok(connection) = self.connection_mut(frame.conn) {
            connection.tx_paths[frame.home as usize].refused(ppsn);
        }
        let (qpn, msn) = message?;
        Some(RnrEvent { qpn, code, msn })
    }

    fn report_ack(&mut self, step: &AckStep, state: crate::PathState) {
        let (conn, path, outcome) = (step.conn, step.home, &step.outcome);
        let (l1, l2) = (outcome.lost_l1.count(), outcome.lost_l2.count());
        self.counters.lost_l1 += u64::from(l1);
        self.counters.lost_l2 += u64::from(l2);
        if state == crate::PathState::Up && outcome.state_was.is_some() {
            self.counters.path_up += 1;
        }
        if !self.config.events {
            return;
        }
        if outcome.acked > 0 {
            self.emit(Event::Acked { conn, path, packets: outcome.acked });
        }
        for (rule, packets) in [(LossRule::L2, l2), (LossRule::L1, l1)] {
            if packets > 0 {
                self.emit(Event::Loss { conn, path, rule, packets });
            }
        }
        if let Some(from) = outcome.state_was {
            self.emit(Event::PathState { conn, path, from, to: state });
        }
        if let Some(nak) = step.nak {
            self.emit(Event::Nak { conn, qpn: nak.qpn, code: nak.code, msn: nak.msn });
        }
    }
}
