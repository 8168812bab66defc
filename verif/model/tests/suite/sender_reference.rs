//! What docs/protocol.md says of a sender, once more and in other terms: a map of packets with their fate instead of bit sets,
//! numbers that never wrap, each resend with its own marker. In: operations. Out: what the model must do.
//! Written from the page, not from the model.

use std::collections::{BTreeMap, BTreeSet};

use mrnic_model::{PathState, TimerAction};

pub const PATHS: usize = 2;
pub const RTO_MIN: u32 = 782;
pub const RETRIES: u32 = 3;

/// What the sender knows of an outstanding packet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fate {
    /// Sent once, nothing is known.
    Flying,
    Acked,
    Lost,
    /// Sent again when `next` was `after`; `armed` if the open marker counts for it (L2).
    Resent {
        after: u64,
        armed: bool,
    },
}

#[derive(Clone, Debug)]
pub struct Packet {
    pub fate: Fate,
    pub msn: usize,
    pub index: u32,
}

#[derive(Clone, Debug)]
pub struct PathRef {
    pub state: PathState,
    pub cum: u64,
    pub next: u64,
    /// Everything ever sent; those below `cum` are all acknowledged.
    pub packets: BTreeMap<u64, Packet>,
    /// A PPSN from which on an arrival closes the open generation of resends.
    pub marker: Option<u64>,
    pub window: u32,
    pub credit: u32,
    pub last_cut: u32,
    /// (8 x sRTT, 4 x deviation)
    pub rtt: Option<(u32, u32)>,
    pub t_base: u32,
    /// When a packet or a PROBE was last sent.
    pub last_send: u32,
    pub backoff: u32,
    /// (time stamp, PPSN) of the probe that awaits its reply.
    pub probe: Option<(u16, u64)>,
    /// Since it was stranded a packet of it was acknowledged.
    pub heard: bool,
    /// Tries of moved packets in a row of which nothing was acknowledged.
    pub tries: u32,
    pub ce_seen: u16,
    pub dup_seen: u16,
    pub tolerance: u32,
    pub tolerance_time: u32,
    pub gap_since_dup: bool,
    pub floor: Option<(u64, u32)>,
    pub clean: u32,
}

/// An acknowledgment as the reference sees it.
#[derive(Clone, Debug)]
pub struct AckRef {
    pub cum: i64,
    pub received: BTreeSet<i64>,
    pub ts_echo: u16,
    pub ts_valid: bool,
    pub reply: bool,
    pub ce: u16,
    pub dup: u16,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Verdict {
    Applied,
    Stale,
    Invalid,
}

impl PathRef {
    pub fn new(window: u32) -> Self {
        PathRef {
            state: PathState::Up,
            cum: 0,
            next: 0,
            packets: BTreeMap::new(),
            marker: None,
            window,
            credit: 0,
            last_cut: 0,
            rtt: None,
            t_base: 0,
            last_send: 0,
            backoff: 0,
            probe: None,
            heard: false,
            tries: 0,
            ce_seen: 0,
            dup_seen: 0,
            tolerance: 0,
            tolerance_time: 0,
            gap_since_dup: false,
            floor: None,
            clean: 0,
        }
    }

    pub fn with(&self, wanted: impl Fn(Fate) -> bool) -> Vec<u64> {
        self.packets.range(self.cum..).filter(|(_, p)| wanted(p.fate)).map(|(n, _)| *n).collect()
    }

    pub fn lost(&self) -> Vec<u64> {
        self.with(|f| f == Fate::Lost)
    }

    pub fn pipe(&self) -> u32 {
        self.with(|f| !matches!(f, Fate::Acked | Fate::Lost)).len() as u32
    }

    pub fn srtt(&self) -> u32 {
        self.rtt.map_or(0, |(srtt8, _)| srtt8 / 8)
    }

    fn change(&mut self, from: impl Fn(Fate) -> bool, to: Fate) {
        for packet in self.packets.range_mut(self.cum..).map(|(_, p)| p) {
            if from(packet.fate) {
                packet.fate = to;
            }
        }
    }

    /// S5, L2: the lowest lost packet goes out again.
    pub fn resend(&mut self, now: u32, n: u64) {
        self.last_send = now;
        let armed = self.marker.is_none_or(|m| m == self.next);
        if armed {
            self.marker = Some(self.next);
        }
        let after = self.next;
        self.packets.get_mut(&n).unwrap().fate = Fate::Resent { after, armed };
    }

    fn arm_all(&mut self) {
        for packet in self.packets.range_mut(self.cum..).map(|(_, p)| p) {
            if let Fate::Resent { armed, .. } = &mut packet.fate {
                *armed = true;
            }
        }
    }

    fn send_probe(&mut self, now: u32) {
        self.arm_all();
        self.marker = Some(self.next);
        self.probe = Some((now as u16, self.next));
        self.last_send = now;
    }

    fn lose_everything(&mut self) {
        self.heard = false;
        self.change(|f| f != Fate::Acked, Fate::Lost);
        self.marker = None;
    }

    /// Section 6. Returns what became of it and the newly acknowledged packets.
    pub fn ack(&mut self, now: u32, ack: &AckRef, vector_bits: u32) -> (Verdict, Vec<u64>) {
        let high = ack.received.last().copied().unwrap_or(ack.cum - 1);
        // A1
        if ack.cum < self.cum as i64 {
            return (Verdict::Stale, vec![]);
        }
        if ack.cum > self.next as i64 || (!ack.received.is_empty() && high >= self.next as i64) {
            return (Verdict::Invalid, vec![]);
        }
        // A2
        let answered = self.probe.filter(|(ts, _)| ack.reply && ack.ts_echo == *ts).map(|(_, ppsn)| ppsn);
        let probe_edge = answered.filter(|_| self.state == PathState::Up).map(|p| p as i64);
        let edge = high.max(probe_edge.unwrap_or(high));
        // A3
        let reported = (self.cum as i64..ack.cum).chain(ack.received.iter().copied()).map(|n| n as u64);
        let newly: Vec<u64> = reported.filter(|n| self.packets[n].fate != Fate::Acked).collect();
        for n in &newly {
            self.packets.get_mut(n).unwrap().fate = Fate::Acked;
        }
        self.cum = ack.cum as u64;
        self.overtaken_resends(edge);
        // L5
        self.floor = self.floor.filter(|(_, time)| now - time < RTO_MIN);
        // L1
        let from = self.floor.map_or(self.cum, |(floor, _)| floor.max(self.cum)) as i64;
        let bound = (high - i64::from(self.tolerance)).max(probe_edge.unwrap_or(i64::MIN));
        let gaps: Vec<u64> =
            self.with(|f| f == Fate::Flying).into_iter().filter(|&n| (from..bound).contains(&(n as i64))).collect();
        for n in &gaps {
            self.packets.get_mut(n).unwrap().fate = Fate::Lost;
        }
        self.gap_since_dup |= !gaps.is_empty() && probe_edge.is_none();
        self.sample(now, ack);
        self.window_after(now, ack.ce, newly.len() as u32, vector_bits);
        self.tolerance_after(now, ack.dup, vector_bits);
        if !newly.is_empty() || answered.is_some() {
            self.progress(now, !newly.is_empty(), answered.is_some(), ack.ts_valid);
        }
        (Verdict::Applied, newly)
    }

    /// L2: what was sent again before the marker, and is not there although the marker is, is lost again.
    fn overtaken_resends(&mut self, edge: i64) {
        let Some(marker) = self.marker.filter(|&m| edge >= m as i64) else { return };
        for packet in self.packets.range_mut(self.cum..).map(|(_, p)| p) {
            if let Fate::Resent { after, armed: true } = packet.fate {
                assert!(marker >= after, "lost again before anything sent after it arrived");
                packet.fate = Fate::Lost;
            }
        }
        self.arm_all();
        let any = !self.with(|f| matches!(f, Fate::Resent { .. })).is_empty();
        self.marker = any.then_some(self.next);
    }

    fn sample(&mut self, now: u32, ack: &AckRef) {
        let s = (now as u16).wrapping_sub(ack.ts_echo);
        if !ack.ts_valid || s >= 1 << 15 {
            return;
        }
        let s = i64::from(s.max(1));
        self.rtt = Some(match self.rtt {
            None => (8 * s as u32, 2 * s as u32),
            Some((srtt8, var4)) => {
                let e = s - i64::from(srtt8 / 8);
                ((i64::from(srtt8) + e) as u32, (i64::from(var4) + e.abs() - i64::from(var4 / 4)) as u32)
            }
        });
    }

    /// C1
    fn window_after(&mut self, now: u32, ce: u16, acked: u32, vector_bits: u32) {
        if ce > self.ce_seen {
            self.ce_seen = ce;
            if now - self.last_cut >= self.srtt().max(1) {
                (self.window, self.credit, self.last_cut) = ((self.window / 2).max(1), 0, now);
            }
            return;
        }
        self.credit = (self.credit + acked).min(511);
        if self.credit >= self.window {
            self.credit -= self.window;
            self.window = (self.window + 1).min(vector_bits);
        }
    }

    /// L6
    fn tolerance_after(&mut self, now: u32, dup: u16, vector_bits: u32) {
        let more = dup > self.dup_seen;
        self.dup_seen = dup;
        if more && self.gap_since_dup {
            self.tolerance = if self.tolerance == 0 { 1 } else { (2 * self.tolerance).min(vector_bits / 4) };
            self.tolerance_time = now;
            self.gap_since_dup = false;
        } else if self.tolerance > 0 && now - self.tolerance_time >= 2 * self.rtt.map_or(0, |r| r.0) {
            self.tolerance /= 2;
            self.tolerance_time = now;
        }
    }

    fn progress(&mut self, now: u32, acked: bool, answered: bool, ts_valid: bool) {
        self.t_base = now;
        self.probe = None;
        if acked {
            (self.heard, self.tries) = (true, 0);
        }
        if ts_valid || answered {
            self.backoff = 0;
        }
        match self.state {
            PathState::Suspect if ts_valid || answered => self.state = PathState::Up,
            PathState::Down if answered => {
                self.clean += 1;
                if self.clean == 3 {
                    (self.state, self.clean, self.window) = (PathState::Up, 0, 1);
                }
            }
            _ => {}
        }
    }

    /// One packet in flight asks what has arrived.
    pub fn asks(&self) -> bool {
        !self.heard && self.pipe() > 0
    }

    /// DOWN, with packets outstanding that others carry.
    pub fn strands(&self) -> bool {
        self.state == PathState::Down && self.next != self.cum
    }

    /// Section 8: L3, L4, L5; `stranded`: the other path is DOWN and has packets outstanding.
    /// `their_rtt`: its sRTT while it is UP, else 0.
    pub fn timer(&mut self, now: u32, other_up: bool, stranded: bool, their_rtt: u32) -> TimerAction {
        let busy = self.next != self.cum;
        if !busy && !stranded && self.state == PathState::Up {
            return TimerAction::None;
        }
        let (tail, idle) = ((self.srtt() * 5 / 4).max(16), now - self.t_base);
        let longest = self.srtt().max(their_rtt);
        let rto = (3 * self.srtt() + self.rtt.map_or(0, |r| r.1)).max(RTO_MIN) << self.backoff.min(6);
        if idle < rto {
            let waited = self.probe.is_none_or(|(ts, _)| u32::from((now as u16).wrapping_sub(ts)) >= tail);
            let wants = match self.state {
                PathState::Up => self.pipe() > 0 && self.backoff == 0,
                PathState::Suspect => busy || self.backoff == 0,
                _ => false,
            };
            let since = u32::from((now as u16).wrapping_sub(self.last_send as u16));
            let late = idle >= tail || (self.state == PathState::Up && since >= tail);
            if !(wants && self.rtt.is_some() && waited && late) {
                return TimerAction::None;
            }
            let action = match self.state {
                PathState::Suspect => TimerAction::TailStillSuspect,
                _ if other_up && self.probe.is_some() && idle >= longest + longest / 2 => TimerAction::TailSuspect,
                _ => TimerAction::TailProbe,
            };
            if action != TimerAction::TailProbe {
                self.state = PathState::Suspect;
                self.lose_everything();
            }
            self.send_probe(now);
            return action;
        }
        if !self.strands() {
            self.backoff = (self.backoff + 1).min(15);
        }
        self.t_base = now;
        if busy || self.backoff >= 2 {
            (self.window, self.credit) = (1, 0);
        }
        if self.state == PathState::Down && self.pipe() > 0 {
            self.tries += 1;
        }
        if self.tries == 127 || (self.backoff > RETRIES && !other_up) {
            return TimerAction::ConnError;
        }
        let action = match self.state {
            PathState::Up if self.backoff == 1 && busy && other_up => {
                self.state = PathState::Suspect;
                TimerAction::FirstSuspect
            }
            PathState::Up if self.backoff >= 2 => {
                self.floor = Some((self.next, now));
                if other_up {
                    self.state = PathState::Suspect;
                    TimerAction::Suspect
                } else {
                    TimerAction::PortChange
                }
            }
            PathState::Suspect if self.backoff == 2 => {
                self.floor = Some((self.next, now));
                TimerAction::PortChange
            }
            PathState::Suspect if self.backoff >= 3 && other_up => {
                (self.state, self.clean, self.tries) = (PathState::Down, 0, 0);
                TimerAction::Down
            }
            PathState::Down => TimerAction::StillDown,
            _ => TimerAction::TimeoutProbe,
        };
        if self.state != PathState::Up {
            self.lose_everything();
        }
        self.send_probe(now);
        action
    }
}
