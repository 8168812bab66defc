//! The autonomous driver: decides order and timing itself and uses the same steps as lockstep does.
//! In: work requests, frames, time. Out: frames (acknowledgments first, then probes, resends, new packets, round robin over
//! connections), completions, the next tick of interest. Deterministic.

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use super::ack_step::AckFrame;
use super::desc::{AckDesc, Outgoing, PacketDesc, ProbeDesc};
use super::grant_step::{BlockReason, Grant, GrantInputs};
use super::rnr_step::rnr_ticks;
use super::rx_step::{Received, RxEffect, RxInputs, RxStep};
use super::schedule::{Schedule, Timer};
use super::Nic;
use crate::config::NicConfig;
use crate::error::{EncodeError, PostError};
use crate::event::{AsyncEvent, DropReason};
use crate::memory::HostMemory;
use crate::rx::hint::EPOCH_TICKS;
use crate::rx::path::RxClass;
use crate::seq::Tick;
use crate::sge::Sge;
use crate::tx::ack::AckVerdict;
use crate::tx::timer::{self, Others, TimerAction};
use crate::wqe::{Cqe, Wqe};
use crate::{CongestionControl, Profile};

/// Acknowledgments that wait for the link at most; more are dropped, as a network may do.
const ACKS_MAX: usize = 1 << 14;
/// Smallest buffer of [`Nic::poll_transmit`].
pub const FRAME_BYTES_MAX: usize = 4352;

/// What became of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RxOutcome {
    Dropped(DropReason),
    /// A data packet; `nak` is the refusal code, 0 if there is none; `rnr`: it was refused for now (Q2).
    Data {
        conn: u16,
        class: RxClass,
        nak: u8,
        rnr: bool,
    },
    Probe {
        conn: u16,
    },
    Ack {
        conn: u16,
        verdict: AckVerdict,
        acked: u32,
    },
}

/// Kind of a frame that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TransmitKind {
    Ack,
    Probe,
    New,
    Resend,
    Nop,
}

/// A frame that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transmit {
    pub len: usize,
    pub conn: u16,
    /// The path it travels, i.e. its plane.
    pub path: u8,
    pub kind: TransmitKind,
}

impl Outgoing {
    /// Connection, path travelled and kind.
    pub fn summary(&self) -> (u16, u8, TransmitKind) {
        match self {
            Outgoing::Ack(ack) => (ack.conn, ack.via, TransmitKind::Ack),
            Outgoing::Probe(probe) => (probe.conn, probe.path, TransmitKind::Probe),
            Outgoing::Data(p) if p.nop => (p.conn, p.via, TransmitKind::Nop),
            Outgoing::Data(p) if p.rtx => (p.conn, p.via, TransmitKind::Resend),
            Outgoing::Data(p) => (p.conn, p.via, TransmitKind::New),
        }
    }
}

/// Queues of the driver.
#[derive(Debug)]
pub struct Driver {
    schedule: Schedule,
    /// Connections that may have something to send, each at most once.
    runnable: VecDeque<u16>,
    queued: Vec<bool>,
    /// Connections that wait for room in the pool.
    pool_waiters: Vec<u16>,
    acks: VecDeque<AckDesc>,
    probes: VecDeque<ProbeDesc>,
    cqes: VecDeque<Cqe>,
    epoch_running: bool,
}

impl Driver {
    pub fn new(config: &NicConfig) -> Self {
        Driver {
            schedule: Schedule::new(config),
            runnable: VecDeque::with_capacity(config.conns as usize),
            queued: alloc::vec![false; config.conns as usize],
            pool_waiters: Vec::with_capacity(config.conns as usize),
            acks: VecDeque::with_capacity(256),
            probes: VecDeque::with_capacity(64),
            cqes: VecDeque::with_capacity(256),
            epoch_running: false,
        }
    }

    pub fn watch(&mut self, now: Tick) {
        self.schedule.advance(now);
    }

    pub fn forget(&mut self, conn: u16) {
        self.acks.retain(|ack| ack.conn != conn);
        self.probes.retain(|probe| probe.conn != conn);
    }

    /// The pool has room again.
    pub fn wake_pool_waiters(&mut self) {
        while let Some(waiter) = self.pool_waiters.pop() {
            self.wake(waiter);
        }
    }

    pub fn wake(&mut self, conn: u16) {
        let queued = &mut self.queued[conn as usize];
        if !*queued {
            *queued = true;
            self.runnable.push_back(conn);
        }
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// Posts a work request with the SGE that stands in it.
    pub fn post_send(&mut self, qpn: u32, wqe: &Wqe) -> Result<(), PostError> {
        self.post_send_list(qpn, wqe, &[])
    }

    /// Posts a work request with a list of up to 8 SGEs; an empty list means the SGE that stands in it.
    pub fn post_send_list(&mut self, qpn: u32, wqe: &Wqe, list: &[Sge]) -> Result<(), PostError> {
        let index = self.qp(qpn).map_err(|_| PostError::NoSuchQp { qpn })?.posted;
        let step = self.take_wqe(qpn, index, wqe, list)?;
        if let Ok(qp) = self.qp_mut(qpn) {
            qp.posted = index.wrapping_add(1);
        }
        self.drain_cqes(qpn);
        self.driver.wake(step.conn);
        Ok(())
    }

    /// The oldest completion not yet taken.
    pub fn poll_completion(&mut self) -> Option<Cqe> {
        self.driver.cqes.pop_front()
    }

    /// A frame arrives.
    pub fn handle_packet(&mut self, now: Tick, frame: &[u8], mem: &mut impl HostMemory) -> RxOutcome {
        self.driver.schedule.advance(now);
        let (step, ack) = self.receive_frame(now, frame, &RxInputs::default(), mem);
        self.after_rx(now, &step, ack, mem)
    }

    /// The same with headers that are already parsed, for simulations without bytes.
    pub fn handle_parsed(&mut self, now: Tick, received: &Received<'_>, mem: &mut impl HostMemory) -> RxOutcome {
        self.driver.schedule.advance(now);
        let (step, ack) = self.receive(now, received, &RxInputs::default(), mem);
        self.after_rx(now, &step, ack, mem)
    }

    fn after_rx(&mut self, now: Tick, step: &RxStep, ack: Option<AckFrame>, mem: &mut impl HostMemory) -> RxOutcome {
        match *step {
            RxStep::Dropped { reason } => RxOutcome::Dropped(reason),
            RxStep::AckQueued { conn, .. } => match ack {
                Some(frame) => self.after_ack(now, &frame),
                None => RxOutcome::Ack { conn, verdict: AckVerdict::Invalid, acked: 0 },
            },
            RxStep::Probe { conn, ack, .. } => {
                self.queue_ack(ack);
                RxOutcome::Probe { conn }
            }
            RxStep::Data { conn, home, class, nak, rnr, place, effect, rx_error, ack, .. } => {
                match ack {
                    Some(ack) => self.queue_ack(ack),
                    None => self.arm_rx(conn, home),
                }
                if let Some(qpn) = rx_error {
                    // R4: the QP that refused a packet moves to Error.
                    self.refused_packet(qpn, nak);
                    // S2: its messages can be skipped.
                    self.driver.wake(conn);
                }
                self.apply_effect(now, conn, effect, mem);
                if place.is_some() && self.config.epoch_cap_bytes > 0 && !self.driver.epoch_running {
                    self.driver.epoch_running = true;
                    self.driver.schedule.arm(Timer::Epoch, now.wrapping_add(EPOCH_TICKS));
                }
                RxOutcome::Data { conn, class, nak, rnr: rnr.is_some() }
            }
        }
    }

    fn refused_packet(&mut self, qpn: u32, code: u8) {
        if self.step_rx_error(qpn) == Ok(true) {
            self.async_events.push_back(AsyncEvent::QpFatal { qpn, code });
        }
        self.drain_cqes(qpn);
    }

    fn apply_effect(&mut self, now: Tick, conn: u16, effect: RxEffect, mem: &mut impl HostMemory) {
        match effect {
            RxEffect::None => return,
            RxEffect::Stream { qpn } => {
                // D3: requests that the stream has reached are executed at once.
                let mut responds = false;
                while self.has_request(qpn) {
                    let Ok(Some(executed)) = self.step_execute(qpn, mem) else { break };
                    responds = true;
                    if executed.code != 0 {
                        self.refused_packet(qpn, executed.code);
                    }
                }
                self.drain_cqes(qpn);
                if !responds {
                    return;
                }
            }
            RxEffect::Response { qpn, whole } => {
                if let Some(msn) = whole {
                    // D6: here software sees the data at once.
                    let _done = self.step_answered(qpn, msn);
                }
                self.drain_cqes(qpn);
            }
            RxEffect::RemoteError(nak) => {
                let _first = self.step_nak(nak.qpn, nak.code, nak.msn);
                self.drain_cqes(nak.qpn);
            }
            RxEffect::LocalFault { qpn, msn } => {
                let _first = self.step_local_fault(qpn, msn);
                self.drain_cqes(qpn);
            }
        }
        self.arm_watch(now, conn);
        self.driver.wake(conn);
    }

    /// D8: the path that watches over awaited responses has its timer armed.
    fn arm_watch(&mut self, now: Tick, conn: u16) {
        let watching = self.connection(conn).ok().and_then(|c| c.watching_path());
        if let Some(path) = watching {
            self.arm_tx(now, conn, path);
        }
    }

    /// N2: waits of QPs that are over end; the others are looked at again.
    fn rnr_timer(&mut self, now: Tick, conn: u16) {
        let mut at = 0;
        while let Some(qpn) = self.connection(conn).ok().and_then(|c| c.waiting.get(at).copied()) {
            if self.step_rnr(now, qpn) == Ok(true) {
                continue;
            }
            at += 1;
            let until = self.qp(qpn).ok().and_then(|qp| qp.send.waits_until);
            // One whose time has passed waits for its packets, and is looked at when they are retired.
            if let Some(until) = until.filter(|until| now.wrapping_sub(*until) >= 1 << 31) {
                self.driver.schedule.arm(Timer::Rnr { conn }, until);
            }
        }
        self.driver.wake(conn);
    }

    fn after_ack(&mut self, now: Tick, frame: &AckFrame) -> RxOutcome {
        let (conn, home) = (frame.conn, frame.home);
        let before = self.before(conn, home);
        let Ok(step) = self.apply_ack(now, frame) else {
            return RxOutcome::Ack { conn, verdict: AckVerdict::Disabled, acked: 0 };
        };
        self.note_ack(before, &step);
        // Retirement and completions happen at once.
        for ppsn in step.newly_acked() {
            if let Some(record) = self.take_record(conn, home, ppsn.into()) {
                let retired = self.retire(conn, &record);
                if retired.message_done {
                    self.drain_cqes(record.qpn);
                }
                if retired.drained {
                    let _began = self.step_rnr(now, record.qpn);
                }
            }
        }
        if let Some(nak) = step.nak {
            let _first = self.step_nak(nak.qpn, nak.code, nak.msn);
            self.drain_cqes(nak.qpn);
        }
        if let Some(rnr) = step.rnr {
            if self.step_withdraw(now, &rnr) == Ok(true) {
                self.driver.schedule.arm(Timer::Rnr { conn }, now.wrapping_add(rnr_ticks(rnr.code)));
            }
            // N3: it may have failed the QP.
            self.drain_cqes(rnr.qpn);
        }
        if step.outcome.acked > 0 {
            self.driver.wake_pool_waiters();
        }
        self.arm_tx(now, conn, home);
        self.arm_watch(now, conn);
        self.driver.wake(conn);
        RxOutcome::Ack { conn, verdict: step.outcome.verdict, acked: step.outcome.acked }
    }

    /// Does everything that is due.
    pub fn handle_timeout(&mut self, now: Tick) {
        self.driver.schedule.advance(now);
        while let Some(timer) = self.driver.schedule.pop_due() {
            match timer {
                Timer::TxPath { conn, path } => self.tx_timer(now, conn, path),
                Timer::RxPath { conn, path } => match self.step_rx_timer(now, conn, path) {
                    Ok(Some(ack)) => self.queue_ack(ack),
                    Ok(None) => self.arm_rx(conn, path),
                    Err(_) => {}
                },
                Timer::Pacer { conn } => self.driver.wake(conn),
                Timer::Rnr { conn } => self.rnr_timer(now, conn),
                Timer::Epoch => {
                    let active = self.step_epoch_swap();
                    let _share = self.step_epoch_publish();
                    self.driver.epoch_running = active;
                    if active {
                        self.driver.schedule.arm(Timer::Epoch, now.wrapping_add(EPOCH_TICKS));
                    }
                }
            }
        }
    }

    fn tx_timer(&mut self, now: Tick, conn: u16, path: u8) {
        let before = self.before(conn, path);
        let Ok(step) = self.step_tx_timer(now, conn, path) else { return };
        self.note_timer(conn, path, before, step.action);
        if let Some(probe) = step.probe {
            self.driver.probes.push_back(probe);
        }
        if step.action == TimerAction::ConnError {
            for qpn in 0..self.qps.len() as u32 {
                if self.qp(qpn).is_ok_and(|qp| qp.is_of(conn)) {
                    let _first = self.step_conn_error(qpn);
                    self.drain_cqes(qpn);
                }
            }
        }
        self.arm_tx(now, conn, path);
        if step.action == TimerAction::Down {
            // Those that have nothing outstanding are active from now on.
            let paths = self.connection(conn).map_or(0, |c| c.paths());
            (0..paths).for_each(|other| self.arm_tx(now, conn, other));
        }
        self.arm_watch(now, conn);
        self.driver.wake(conn);
    }

    fn arm_tx(&mut self, now: Tick, conn: u16, path: u8) {
        let rto_min = self.config.rto_min_ticks;
        let Ok(connection) = self.connection(conn) else { return };
        if connection.tx.error {
            return;
        }
        let alive = (connection.watching_path() == Some(path)).then_some(connection.tx.responses.alive);
        let others = Others::of(&connection.tx_paths, path.into());
        let path_state = connection.tx_paths.get(path as usize);
        let due = path_state.and_then(|p| timer::deadline_watching(p, now, rto_min, others, alive));
        if let Some(due) = due {
            self.driver.schedule.arm(Timer::TxPath { conn, path }, due);
        }
    }

    fn arm_rx(&mut self, conn: u16, path: u8) {
        let delay = self.config.ack_delay_ticks;
        let Ok(rx) = self.rx_path(conn, path) else { return };
        if rx.unacked > 0 {
            let due = rx.ack_time.wrapping_add(delay);
            self.driver.schedule.arm(Timer::RxPath { conn, path }, due);
        }
    }

    fn queue_ack(&mut self, ack: AckDesc) {
        if self.driver.acks.len() >= ACKS_MAX {
            self.driver.acks.pop_front();
            self.counters.acks_overflowed += 1;
        }
        self.driver.acks.push_back(ack);
    }

    /// Completions that are due, of sends and then of receives.
    pub(super) fn drain_cqes(&mut self, qpn: u32) {
        while let Ok(Some((cqe, _))) = self.step_cqe(qpn) {
            self.driver.cqes.push_back(cqe);
        }
        while let Ok(Some((cqe, _))) = self.step_recv_cqe(qpn) {
            self.driver.cqes.push_back(cqe);
        }
        // D7: what moved the QP to Error is always followed by this.
        if self.qp(qpn).is_ok_and(|qp| qp.send.in_error() && qp.requests.live() > 0) {
            let _answered = self.step_answer(qpn);
        }
    }

    /// The next tick at which [`Nic::handle_timeout`], or a paced transmission after it, may do something.
    pub fn poll_timeout(&self) -> Option<Tick> {
        self.driver.schedule.next()
    }

    /// The next frame as a description, for simulations without bytes.
    pub fn poll_outgoing(&mut self, now: Tick) -> Option<Outgoing> {
        self.driver.schedule.advance(now);
        if let Some(ack) = self.driver.acks.pop_front() {
            return Some(Outgoing::Ack(ack));
        }
        if let Some(probe) = self.driver.probes.pop_front() {
            self.note_probe(probe.conn, probe.path);
            return Some(Outgoing::Probe(probe));
        }
        while let Some(conn) = self.driver.runnable.pop_front() {
            self.driver.queued[conn as usize] = false;
            if let Some(packet) = self.next_packet(now, conn) {
                self.note_packet(&packet);
                self.arm_tx(now, conn, packet.home);
                self.arm_watch(now, conn);
                self.driver.wake(conn);
                return Some(Outgoing::Data(packet));
            }
        }
        None
    }

    fn next_packet(&mut self, now: Tick, conn: u16) -> Option<PacketDesc> {
        loop {
            match self.step_grant(now, conn, &GrantInputs::default()) {
                Ok(Grant::Packet(packet)) => return Some(packet),
                Ok(Grant::SkippedMessage { .. }) => {}
                // N2: it may have been the last thing that was waited for.
                Ok(Grant::SetAside { qpn, .. }) => {
                    let _began = self.step_rnr(now, qpn);
                }
                Ok(Grant::Blocked(BlockReason::Pacer { wait_ticks })) => {
                    self.driver.schedule.arm(Timer::Pacer { conn }, now.wrapping_add(wait_ticks));
                    return None;
                }
                Ok(Grant::Blocked(BlockReason::Pool)) => {
                    if !self.driver.pool_waiters.contains(&conn) {
                        self.driver.pool_waiters.push(conn);
                    }
                    return None;
                }
                Ok(Grant::Blocked(_)) | Err(_) => return None,
            }
        }
    }

    /// The next frame. `buf` holds at least [`FRAME_BYTES_MAX`] bytes; with a smaller one nothing happens.
    pub fn poll_transmit(&mut self, now: Tick, buf: &mut [u8], mem: &impl HostMemory) -> Option<Transmit> {
        if buf.len() < FRAME_BYTES_MAX {
            return None;
        }
        loop {
            let mut outgoing = self.poll_outgoing(now)?;
            let mut built = self.encode(&outgoing, None, mem, buf);
            if let (Outgoing::Data(packet), Err(EncodeError::HostMemory { .. })) = (&mut outgoing, &built) {
                // The payload cannot be read: the message fails, and a NOP takes its place in the sequence.
                packet.nop = true;
                packet.len = 0;
                packet.peer_qpn = P::PATH_QP;
                let (qpn, msn) = (packet.qpn, packet.msn);
                if packet.kind.is_response() {
                    self.fail_response(qpn, msn);
                } else {
                    let _first = self.step_local_fault(qpn, msn);
                }
                self.drain_cqes(qpn);
                built = self.encode(&outgoing, None, mem, buf);
            }
            // A description whose connection is gone makes no frame.
            if let Ok(len) = built {
                let (conn, path, kind) = outgoing.summary();
                return Some(Transmit { len, conn, path, kind });
            }
        }
    }

    /// The invariant of section 8 for one path: outstanding packets or bad health mean that its timer is armed.
    pub fn timer_armed_if_needed(&self, conn: u16, path: u8) -> bool {
        let Ok(connection) = self.connection(conn) else { return true };
        let Some(p) = connection.tx_paths.get(path as usize) else { return true };
        let others = Others::of(&connection.tx_paths, path.into());
        let active = timer::is_active(p, others) || connection.watching_path() == Some(path);
        connection.tx.error || !active || self.driver.schedule.is_armed(Timer::TxPath { conn, path })
    }

    /// Whether `conn` is in the run queue, or waits for a timer or for the pool.
    pub fn will_run(&self, conn: u16) -> bool {
        self.driver.queued.get(conn as usize).copied().unwrap_or(false)
            || self.driver.schedule.is_armed(Timer::Pacer { conn })
            || self.driver.schedule.is_armed(Timer::Rnr { conn })
            || self.driver.pool_waiters.contains(&conn)
    }
}
