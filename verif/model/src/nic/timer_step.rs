//! Timer steps: of a sending path (section 8) and of a receiving path (R8).
//! In: the path and the time. Out: a probe, a change of health, a held acknowledgment.

use super::desc::{AckDesc, ProbeDesc};
use super::Nic;
use crate::error::StepError;
use crate::event::Event;
use crate::seq::{stamp, Tick};
use crate::tx::path::PathState;
use crate::tx::timer::{self, Others, TimerAction};
use crate::{CongestionControl, Profile};

/// Result of a timer step of a sending path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerStep {
    pub action: TimerAction,
    pub probe: Option<ProbeDesc>,
}

/// What hardware saw of D8, which is counted beside the sender's steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchSeen {
    /// The path watched over awaited responses.
    pub watched: bool,
    /// The peer's last sign of life.
    pub alive: Tick,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Does what is due on a sending path. After [`TimerAction::ConnError`] every QP of the connection gets
    /// [`Nic::step_conn_error`].
    pub fn step_tx_timer(&mut self, now: Tick, conn: u16, path: u8) -> Result<TimerStep, StepError> {
        self.step_tx_timer_seen(now, conn, path, None)
    }

    /// The same, where hardware may have seen a little less of what is awaited (D8).
    pub fn step_tx_timer_seen(
        &mut self,
        now: Tick,
        conn: u16,
        path: u8,
        seen: Option<WatchSeen>,
    ) -> Result<TimerStep, StepError> {
        let nothing = TimerStep { action: TimerAction::None, probe: None };
        let rto_min = self.config.rto_min_ticks;
        let connection =
            self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchConnection { conn })?;
        let (retry_cnt, peer_conn) = (connection.retry_cnt, connection.peer_conn);
        let others = Others::of(&connection.tx_paths, path.into());
        let exact = (connection.watching_path() == Some(path)).then_some(connection.tx.responses.alive);
        let alive = seen.map_or(exact, |seen| seen.watched.then_some(seen.alive));
        let p = connection.tx_paths.get_mut(path as usize).ok_or(StepError::NoSuchPath { conn, path })?;
        if connection.tx.error {
            return Ok(nothing);
        }
        let from = p.state;
        let action = timer::step_watching(&self.cc, p, now, rto_min, retry_cnt, others, alive);
        if action == TimerAction::None {
            return Ok(nothing);
        }
        // D8: the next look is after the next timeout.
        if alive.is_some() {
            connection.tx.responses.alive = now;
        }
        if action == TimerAction::ConnError {
            connection.tx.error = true;
        }
        let probe = action.probes().then_some(ProbeDesc {
            conn,
            path,
            ppsn: p.next.get(),
            ts: stamp(now),
            udp_port: p.port,
            peer_conn,
        });
        let (to, port, backoff, nlost) = (p.state, p.port, p.backoff, p.nlost);
        if action == TimerAction::Down {
            timer::begin_watch(&mut connection.tx_paths, now);
        }
        let strands = to != PathState::Up && action != TimerAction::ConnError;
        self.report_timer(conn, path, action, backoff, if strands { nlost } else { 0 });
        if matches!(action, TimerAction::Suspect | TimerAction::PortChange) {
            self.counters.port_changes += 1;
            self.emit(Event::PortChange { conn, path, port });
        }
        if from != to {
            self.counters.path_suspect += u64::from(to == PathState::Suspect);
            self.counters.path_down += u64::from(to == PathState::Down);
            self.emit(Event::PathState { conn, path, from, to });
        }
        Ok(TimerStep { action, probe })
    }

    fn report_timer(&mut self, conn: u16, path: u8, action: TimerAction, backoff: u8, lost: u16) {
        if action.is_tail() {
            self.counters.tx_probes_tail += 1;
            self.counters.lost_timeout += u64::from(lost);
            self.emit(Event::Probe { conn, path, tail: true });
            return;
        }
        self.emit(Event::Timeout { conn, path, backoff });
        if action == TimerAction::ConnError {
            self.counters.conn_errors += 1;
            self.emit(Event::ConnError { conn });
            return;
        }
        self.counters.tx_probes_timeout += 1;
        self.counters.lost_timeout += u64::from(lost);
        self.emit(Event::Probe { conn, path, tail: false });
    }

    /// R8: sends the acknowledgment that a receiving path holds back, if its time has come.
    pub fn step_rx_timer(&mut self, now: Tick, conn: u16, path: u8) -> Result<Option<AckDesc>, StepError> {
        let delay = self.config.ack_delay_ticks;
        let connection = self.connection(conn)?;
        let rx = connection.rx_paths.get(path as usize).ok_or(StepError::NoSuchPath { conn, path })?;
        if !rx.ack_due(now, delay) {
            return Ok(None);
        }
        self.counters.acks_by_timer += 1;
        Ok(Some(self.make_ack(now, conn, path, &super::rx_step::AckCause::Plain)))
    }
}
