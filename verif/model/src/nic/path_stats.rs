//! What the autonomous driver notes of each sending path: counters, and changes of health in their order.
//! In: packets that leave, acknowledgments, timers. Out: numbers for reports; nothing in the transport depends on them.

use super::ack_step::AckStep;
use super::desc::PacketDesc;
use super::Nic;
use crate::error::StepError;
use crate::event::{PathChange, PathCounters};
use crate::tx::path::PathState;
use crate::tx::timer::TimerAction;
use crate::{CongestionControl, Profile};

/// Changes kept at most; older ones are dropped.
const CHANGES_MAX: usize = 1 << 12;

/// Of a path, what a step may change.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    state: PathState,
    port: u16,
    ce: u16,
    dup: u16,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Counters of a sending path since its connection was opened. Only the autonomous driver counts.
    pub fn path_counters(&self, conn: u16, path: u8) -> Result<&PathCounters, StepError> {
        self.connection(conn)?.path_counters.get(path as usize).ok_or(StepError::NoSuchPath { conn, path })
    }

    /// The oldest change of a path's health or route that was not yet taken (L4, L5).
    pub fn poll_path_change(&mut self) -> Option<PathChange> {
        self.path_changes.pop_front()
    }

    fn count(&mut self, conn: u16, path: u8, add: impl FnOnce(&mut PathCounters)) {
        let connection = self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut);
        if let Some(counters) = connection.and_then(|c| c.path_counters.get_mut(path as usize)) {
            add(counters);
        }
    }

    pub(super) fn before(&self, conn: u16, path: u8) -> Option<Before> {
        let p = self.tx_path(conn, path).ok()?;
        Some(Before { state: p.state, port: p.port, ce: p.ce_seen, dup: p.dup_seen })
    }

    pub(super) fn note_packet(&mut self, packet: &PacketDesc) {
        self.count(packet.conn, packet.home, |n| {
            n.sent += u64::from(!packet.rtx);
            n.resent += u64::from(packet.rtx);
            n.moved += u64::from(packet.moved);
        });
    }

    pub(super) fn note_probe(&mut self, conn: u16, path: u8) {
        self.count(conn, path, |n| n.probes += 1);
    }

    pub(super) fn note_ack(&mut self, before: Option<Before>, step: &AckStep) {
        let (conn, path, outcome) = (step.conn, step.home, &step.outcome);
        let (Some(before), Some(after)) = (before, self.before(conn, path)) else { return };
        let lost = outcome.lost_l1.count() + outcome.lost_l2.count();
        self.count(conn, path, |n| {
            n.acked += u64::from(outcome.acked);
            n.lost += u64::from(lost);
            // The peer's counters wrap; a reordered acknowledgment is older and changes nothing.
            n.duplicates += u64::from(after.dup.wrapping_sub(before.dup));
            n.marks += u64::from(after.ce.wrapping_sub(before.ce));
        });
        self.note_health(conn, path, before);
    }

    pub(super) fn note_timer(&mut self, conn: u16, path: u8, before: Option<Before>, action: TimerAction) {
        let timeout = !(action == TimerAction::None || action.is_tail());
        self.count(conn, path, |n| n.timeouts += u64::from(timeout));
        if let Some(before) = before {
            self.note_health(conn, path, before);
        }
    }

    fn note_health(&mut self, conn: u16, path: u8, before: Before) {
        let Ok(p) = self.tx_path(conn, path) else { return };
        let (from, to, port) = (before.state, p.state, p.port);
        if from == to && port == before.port {
            return;
        }
        if self.path_changes.len() == CHANGES_MAX {
            self.path_changes.pop_front();
        }
        self.path_changes.push_back(PathChange { conn, path, from, to, port });
    }
}
