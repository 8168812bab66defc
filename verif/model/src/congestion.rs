//! Congestion control of a path: a trait with two hooks and two implementations of it.
//! In: what an acknowledgment or a timeout says. Out: a new window. Guarantees 1 <= window <= the profile's vector length.
//! Write another one by implementing the trait; `Nic` is generic over it.

use crate::seq::{elapsed, Tick};

/// The window of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Window {
    /// Packets that may be in flight.
    pub window: u16,
    /// Acknowledged packets that count towards the next increase.
    pub credit: u16,
    /// When the window was last cut.
    pub last_cut: Tick,
}

/// What one acknowledgment says about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckSample {
    pub now: Tick,
    /// Packets newly acknowledged.
    pub acked: u32,
    /// Packets that arrived with ECN CE since the last report.
    pub ce_delta: u32,
    /// Smoothed round-trip time in ticks.
    pub srtt_ticks: u32,
    /// Largest window of a path: what the profile's acknowledgment vector can describe.
    pub window_max_pkts: u16,
}

/// Decides the window of each path.
pub trait CongestionControl {
    /// What the algorithm keeps for each path beside [`Window`].
    type Path: Clone + core::fmt::Debug + Default;

    /// An acknowledgment was applied. Returns whether the window was cut.
    fn on_ack(&self, window: &mut Window, path: &mut Self::Path, sample: &AckSample) -> bool;

    /// Packets were found lost by L1, L2 or the answer to a probe. Rule C1: nothing is cut for that.
    fn on_loss(&self, _window: &mut Window, _path: &mut Self::Path, _now: Tick, _srtt_ticks: u32) {}

    /// The retransmission timer of the path fired.
    fn on_timeout(&self, window: &mut Window, path: &mut Self::Path, now: Tick);
}

fn additive_increase(window: &mut Window, s: &AckSample) {
    window.credit = (u32::from(window.credit) + s.acked).min(511) as u16;
    if window.credit >= window.window {
        window.credit -= window.window;
        window.window = (window.window + 1).min(s.window_max_pkts);
    }
}

fn restart(window: &mut Window) {
    // L4: one packet after a timeout.
    window.window = 1;
    window.credit = 0;
}

/// Once a round trip. Returns whether it did.
fn halve(window: &mut Window, now: Tick, srtt_ticks: u32) -> bool {
    let cut = elapsed(now, window.last_cut) >= srtt_ticks.max(1);
    if cut {
        window.window = (window.window / 2).max(1);
        window.credit = 0;
        window.last_cut = now;
    }
    cut
}

/// Rule C1: halve at most once a round trip on a mark, else one packet more per window of acknowledgments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Aimd;

impl CongestionControl for Aimd {
    type Path = ();

    fn on_ack(&self, w: &mut Window, _: &mut (), s: &AckSample) -> bool {
        // C1: a mark trims only the path that saw it; loss found by L1..L3 does not cut.
        if s.ce_delta > 0 {
            halve(w, s.now, s.srtt_ticks)
        } else {
            additive_increase(w, s);
            false
        }
    }

    fn on_timeout(&self, w: &mut Window, _: &mut (), _: Tick) {
        restart(w);
    }
}

/// [`Aimd`] that takes a loss for a mark, as older transports do: only to measure what rule C1 is worth. No RTL has it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LossCuts;

impl CongestionControl for LossCuts {
    type Path = ();

    fn on_ack(&self, w: &mut Window, p: &mut (), s: &AckSample) -> bool {
        Aimd.on_ack(w, p, s)
    }

    fn on_loss(&self, w: &mut Window, _: &mut (), now: Tick, srtt_ticks: u32) {
        halve(w, now, srtt_ticks);
    }

    fn on_timeout(&self, w: &mut Window, p: &mut (), now: Tick) {
        Aimd.on_timeout(w, p, now);
    }
}

/// Like DCTCP: the cut is proportional to the smoothed share of marked packets (gain 1/16).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DctcpLike;

/// State of [`DctcpLike`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DctcpPath {
    /// Smoothed share of marked packets, 1024 = all.
    pub alpha_1024: u32,
    acked: u32,
    marked: u32,
    updated: Tick,
}

impl CongestionControl for DctcpLike {
    type Path = DctcpPath;

    fn on_ack(&self, w: &mut Window, p: &mut DctcpPath, s: &AckSample) -> bool {
        p.acked = p.acked.saturating_add(s.acked);
        p.marked = p.marked.saturating_add(s.ce_delta);
        if elapsed(s.now, p.updated) >= s.srtt_ticks.max(1) && p.acked > 0 {
            let share = (u64::from(p.marked.min(p.acked)) * 1024 / u64::from(p.acked)) as u32;
            p.alpha_1024 = p.alpha_1024 - p.alpha_1024 / 16 + share / 16;
            *p = DctcpPath { alpha_1024: p.alpha_1024, acked: 0, marked: 0, updated: s.now };
        }
        if s.ce_delta == 0 {
            additive_increase(w, s);
            return false;
        }
        let cut = elapsed(s.now, w.last_cut) >= s.srtt_ticks.max(1);
        if cut {
            let less = u32::from(w.window) * p.alpha_1024 / 2048;
            w.window = (u32::from(w.window) - less).max(1) as u16;
            w.credit = 0;
            w.last_cut = s.now;
        }
        cut
    }

    fn on_timeout(&self, w: &mut Window, _: &mut DctcpPath, _: Tick) {
        restart(w);
    }
}

/// One of the algorithms of this module, by name: for NICs whose algorithm is chosen when they start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Congestion {
    /// [`Aimd`], rule C1.
    #[default]
    Aimd,
    /// [`DctcpLike`].
    Dctcp,
}

impl Congestion {
    /// All there are, the default first.
    pub const ALL: [Congestion; 2] = [Congestion::Aimd, Congestion::Dctcp];

    pub fn name(self) -> &'static str {
        match self {
            Congestion::Aimd => "aimd",
            Congestion::Dctcp => "dctcp",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|c| c.name() == name)
    }
}

impl CongestionControl for Congestion {
    type Path = DctcpPath;

    fn on_ack(&self, w: &mut Window, p: &mut DctcpPath, s: &AckSample) -> bool {
        match self {
            Congestion::Aimd => Aimd.on_ack(w, &mut (), s),
            Congestion::Dctcp => DctcpLike.on_ack(w, p, s),
        }
    }

    fn on_timeout(&self, w: &mut Window, p: &mut DctcpPath, now: Tick) {
        match self {
            Congestion::Aimd => Aimd.on_timeout(w, &mut (), now),
            Congestion::Dctcp => DctcpLike.on_timeout(w, p, now),
        }
    }
}
