//! One timer step of a sending path (section 8): tail probe, timeout, port change, health, connection error.
//! In: the path and what its connection's other paths are like. Out: what to do; the path's state is already changed.

use crate::congestion::CongestionControl;
use crate::seq::{elapsed, stamp, Tick};
use crate::tx::path::{longest_srtt_ticks, PathState, TxPath};

/// What a timer step did. The numbers are those of the RTL's commit record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum TimerAction {
    /// Nothing was due.
    None = 0,
    /// L3: a tail probe goes out.
    TailProbe = 1,
    /// L4: a timeout; a probe goes out.
    TimeoutProbe = 2,
    /// L4: the path became SUSPECT with a new port, all its packets are lost; a probe goes out.
    Suspect = 3,
    /// L4: the path became DOWN, all its packets are lost; a probe goes out.
    Down = 4,
    /// L4: still DOWN, all its packets are lost again; a probe goes out.
    StillDown = 5,
    /// L4: no path is left.
    ConnError = 6,
    /// L4, L5: a new port and no change of state; a probe goes out.
    PortChange = 7,
    /// L4: the first timeout: the path became SUSPECT on its old port, all its packets are lost; a probe goes out.
    FirstSuspect = 8,
    /// L3: a tail probe was not answered: the path became SUSPECT, all its packets are lost; the next probe goes out.
    TailSuspect = 9,
    /// L3: another while it is SUSPECT: all its packets are lost again; a probe goes out.
    TailStillSuspect = 10,
}

impl TimerAction {
    /// Of rule L3.
    pub fn is_tail(self) -> bool {
        matches!(self, TimerAction::TailProbe | TimerAction::TailSuspect | TimerAction::TailStillSuspect)
    }

    /// Whether a PROBE is to be sent.
    pub fn probes(self) -> bool {
        !matches!(self, TimerAction::None | TimerAction::ConnError)
    }
}

/// Smallest delay of a tail probe, in ticks.
const TAIL_MIN_TICKS: u32 = 16;

/// `tail` of section 8.
pub fn tail_ticks<S>(path: &TxPath<S>) -> u32 {
    let srtt = path.srtt_ticks();
    (srtt + (srtt >> 2)).max(TAIL_MIN_TICKS)
}

/// `rto` of section 8.
pub fn rto_ticks<S>(path: &TxPath<S>, rto_min_ticks: u32) -> u32 {
    (3 * path.srtt_ticks() + path.var4).max(rto_min_ticks) << path.backoff.min(6)
}

/// What the timer of a path needs to know of the other paths of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Others {
    /// One is UP.
    pub up: bool,
    /// One is DOWN with packets outstanding: they may travel by this path, which may be dead too.
    pub stranded: bool,
    /// Longest sRTT of the paths that are UP, this one too, in ticks (S of C3).
    pub longest_ticks: u32,
}

impl Others {
    /// Of all paths but `path`.
    pub fn of<S>(paths: &[TxPath<S>], path: usize) -> Self {
        let others = || paths.iter().enumerate().filter(|(i, _)| *i != path).map(|(_, p)| p);
        Others {
            up: others().any(|p| p.state == PathState::Up),
            stranded: others().any(|p| p.state == PathState::Down && p.span() > 0),
            longest_ticks: longest_srtt_ticks(paths),
        }
    }
}

/// "Active" of section 8, apart from the connection's own state.
pub fn is_active<S>(path: &TxPath<S>, others: Others) -> bool {
    match path.state {
        PathState::Disabled => false,
        PathState::Up => path.span() > 0 || others.stranded,
        PathState::Suspect | PathState::Down => true,
    }
}

/// L4, "others watch": a path became DOWN; those that have nothing outstanding become active, and are idle from now on.
pub fn begin_watch<S>(paths: &mut [TxPath<S>], now: Tick) {
    for path in paths.iter_mut().filter(|p| p.state == PathState::Up && p.span() == 0) {
        path.t_base = now;
    }
}

fn may_tail_probe<S>(path: &TxPath<S>) -> bool {
    if path.without_l3 {
        return false;
    }
    let waits = match path.state {
        PathState::Up => path.pipe() > 0 && path.backoff == 0,
        PathState::Suspect => path.span() > 0 || path.backoff == 0,
        PathState::Disabled | PathState::Down => false,
    };
    waits && path.rtt_valid
}

/// L3: ticks until the next tail probe may follow one that is not yet answered; 0 if it may go at once.
fn probe_wait_ticks<S>(path: &TxPath<S>, now: Tick) -> u32 {
    if !path.probe_pending {
        return 0;
    }
    tail_ticks(path).saturating_sub(stamp(now).wrapping_sub(path.probe_ts).into())
}

/// L3: ticks since the last progress, or while UP since the path's last packet was sent: its acknowledgment is due a round trip later, whatever
/// those before it do.
fn quiet_ticks<S>(path: &TxPath<S>, now: Tick, idle: u32) -> u32 {
    match path.state {
        PathState::Up => idle.max(stamp(now).wrapping_sub(path.last_send).into()),
        _ => idle,
    }
}

/// D8: ticks without progress. A path that watches over awaited responses counts from the last sign of life too.
fn idle_ticks<S>(path: &TxPath<S>, now: Tick, alive: Option<Tick>) -> u32 {
    let idle = elapsed(now, path.t_base);
    match alive {
        Some(alive) if path.next == path.cum => idle.min(elapsed(now, alive)),
        _ => idle,
    }
}

/// The tick at which [`step`] will next do something, if nothing else happens; none if the path is idle.
pub fn deadline<S>(path: &TxPath<S>, now: Tick, rto_min_ticks: u32, others: Others) -> Option<Tick> {
    deadline_watching(path, now, rto_min_ticks, others, None)
}

/// [`deadline`] of a path that watches over awaited responses (D8), if `alive` is the peer's last sign of life.
pub fn deadline_watching<S>(
    path: &TxPath<S>,
    now: Tick,
    rto_min_ticks: u32,
    others: Others,
    alive: Option<Tick>,
) -> Option<Tick> {
    if !is_active(path, others) && alive.is_none() {
        return None;
    }
    let idle = idle_ticks(path, now, alive);
    let until_rto = rto_ticks(path, rto_min_ticks).saturating_sub(idle);
    let until_tail = match may_tail_probe(path) {
        true => tail_ticks(path).saturating_sub(quiet_ticks(path, now, idle)).max(probe_wait_ticks(path, now)),
        false => u32::MAX,
    };
    Some(now.wrapping_add(until_rto.min(until_tail)))
}

/// L3: a tail probe is due. A dead path, and a burst of losses that swallows probes too, would hold what they took: when a
/// probe was not answered, the path's packets take the paths that live. Where other paths take longer, queues may have grown.
fn tail_action<S>(path: &mut TxPath<S>, idle: u32, others: Others) -> TimerAction {
    let silent = path.probe_pending && idle >= others.longest_ticks + (others.longest_ticks >> 1);
    let action = match path.state {
        PathState::Suspect => TimerAction::TailStillSuspect,
        _ if silent && others.up => TimerAction::TailSuspect,
        _ => return TimerAction::TailProbe,
    };
    path.state = PathState::Suspect;
    path.strand();
    action
}

/// L4: the exponent counts no further.
const BACKOFF_MAX: u8 = 15;
/// L4: so many tries of the packets of a DOWN path are enough: longer than any path without an answer is waited for.
const TRIES_MAX: u8 = 127;

/// L4, (b): port change and health.
fn timeout_action<S>(path: &mut TxPath<S>, now: Tick, others: Others) -> TimerAction {
    let action = match path.state {
        PathState::Up if others.up && path.backoff >= 2 => TimerAction::Suspect,
        PathState::Up if others.up && path.span() > 0 => TimerAction::FirstSuspect,
        PathState::Up if path.backoff >= 2 => TimerAction::PortChange,
        // It became SUSPECT by L3 or its first timeout, and is on its old route still.
        PathState::Suspect if path.backoff == 2 => TimerAction::PortChange,
        PathState::Suspect if path.backoff >= 3 && others.up => TimerAction::Down,
        PathState::Down => TimerAction::StillDown,
        _ => TimerAction::TimeoutProbe,
    };
    match action {
        TimerAction::Suspect | TimerAction::FirstSuspect => path.state = PathState::Suspect,
        TimerAction::Down => {
            path.state = PathState::Down;
            path.clean = 0;
            path.tries = 0;
        }
        _ => {}
    }
    if matches!(action, TimerAction::Suspect | TimerAction::PortChange) {
        path.change_port(now);
    }
    if path.state != PathState::Up {
        path.strand();
    }
    action
}

/// Does what is due at `now`. The caller has checked that the connection is open and not in error.
pub fn step<C: CongestionControl>(
    cc: &C,
    path: &mut TxPath<C::Path>,
    now: Tick,
    rto_min_ticks: u32,
    retry_cnt: u8,
    others: Others,
) -> TimerAction {
    step_watching(cc, path, now, rto_min_ticks, retry_cnt, others, None)
}

/// [`step`] of a path that watches over awaited responses (D8), if `alive` is the peer's last sign of life.
pub fn step_watching<C: CongestionControl>(
    cc: &C,
    path: &mut TxPath<C::Path>,
    now: Tick,
    rto_min_ticks: u32,
    retry_cnt: u8,
    others: Others,
    alive: Option<Tick>,
) -> TimerAction {
    if !is_active(path, others) && alive.is_none() {
        return TimerAction::None;
    }
    let idle = idle_ticks(path, now, alive);
    // Times lie in the past; a base ahead of `now` (a step replayed with an older time) is not due.
    if idle >= 1 << 31 {
        return TimerAction::None;
    }
    if idle < rto_ticks(path, rto_min_ticks) {
        // L3: the tail of a burst has no later packet that would show a gap. A probe may be lost too, so it is repeated.
        if may_tail_probe(path) && quiet_ticks(path, now, idle) >= tail_ticks(path) && probe_wait_ticks(path, now) == 0 {
            let action = tail_action(path, idle, others);
            path.send_probe(stamp(now));
            return action;
        }
        return TimerAction::None;
    }
    // L4: timeout.
    // Packets that others carry are tried again at an even pace: whether those live is for their own timers to find out.
    if path.state != PathState::Down || path.span() == 0 {
        path.backoff = (path.backoff + 1).min(BACKOFF_MAX);
    }
    path.t_base = now;
    // The first timeout of a path that has sent nothing only asks whether it is alive.
    if path.span() > 0 || path.backoff >= 2 {
        cc.on_timeout(&mut path.win, &mut path.cc, now);
    }
    // Nobody acknowledges what the paths that live carry.
    if path.state == PathState::Down && path.pipe() > 0 {
        path.tries += 1;
    }
    // Where the back-off ends, the retry does too: 15 counts as 14.
    let spent = path.backoff > retry_cnt.min(BACKOFF_MAX - 1);
    if path.tries >= TRIES_MAX || spent && !others.up {
        return TimerAction::ConnError;
    }
    let action = timeout_action(path, now, others);
    path.send_probe(stamp(now));
    action
}
