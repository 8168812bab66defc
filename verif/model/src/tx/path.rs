//! State of a sending path (section 5): sequence, four sets over the outstanding packets, window, RTT and timers.
//! In: sends, resends and what acknowledgments say. Out: the packet to resend, the number of packets in flight.
//! Guarantees that the four sets are disjoint and lie inside [cum, next).

use alloc::vec::Vec;
use mrnic_wire::Ppsn;

use crate::bits256::Bits256;
use crate::congestion::Window;
use crate::seq::{stamp, Serial24, Tick};

/// Health of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
#[repr(u8)]
pub enum PathState {
    #[default]
    Disabled = 0,
    Up = 1,
    Suspect = 2,
    Down = 3,
}

/// Which set a resend joined (rule L2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Generation {
    Old,
    New,
}

/// A sending path. `S` is what the congestion control adds. Field names are those of docs/protocol.md, section 5.
#[derive(Clone, Debug, Default)]
pub struct TxPath<S> {
    pub state: PathState,
    /// UDP source port, the entropy of the route.
    pub port: u16,
    pub next: Ppsn,
    pub cum: Ppsn,
    /// The four sets, indexed by PPSN mod 256.
    pub sacked: Bits256,
    pub lost: Bits256,
    pub rtx_old: Bits256,
    pub rtx_new: Bits256,
    /// |sacked| and |lost|.
    pub nsacked: u16,
    pub nlost: u16,
    pub mark: Ppsn,
    pub gen_open: bool,
    pub win: Window,
    pub cc: S,
    /// 8 x smoothed RTT and 4 x mean deviation, ticks.
    pub srtt8: u32,
    pub var4: u32,
    pub rtt_valid: bool,
    pub t_base: Tick,
    /// Low 16 bits of the tick at which a packet of this path was last sent, new or again, or a PROBE (L3).
    pub last_send: u16,
    pub backoff: u8,
    pub probe_pending: bool,
    pub probe_ts: u16,
    pub probe_ppsn: Ppsn,
    /// While SUSPECT: an acknowledgment has told which of its packets had arrived (S1).
    pub heard: bool,
    /// While DOWN: tries of its packets, by other paths, in a row of which nothing was acknowledged (L4).
    pub tries: u8,
    pub ce_seen: u16,
    pub dup_seen: u16,
    /// Packets of reordering tolerated before a gap is a loss (L6).
    pub reo_tol: u8,
    pub reo_base: Tick,
    pub l1_since_dup: bool,
    pub floor_active: bool,
    pub floor: Ppsn,
    pub floor_time: Tick,
    /// Probes answered in a row while DOWN.
    pub clean: u8,
    /// [`crate::NicConfig::tail_probes`] is off: no rule of the protocol.
    pub without_l3: bool,
}

impl<S: Default> TxPath<S> {
    /// Section 5, "Opening sets".
    pub fn open(enabled: bool, port: u16, start: u32, window_pkts: u16, now: Tick) -> Self {
        let start = Ppsn::new(start);
        TxPath {
            state: if enabled { PathState::Up } else { PathState::Disabled },
            port,
            next: start,
            cum: start,
            mark: start,
            win: Window { window: window_pkts, credit: 0, last_cut: now },
            t_base: now,
            last_send: stamp(now),
            reo_base: now,
            ..TxPath::default()
        }
    }
}

impl<S> TxPath<S> {
    /// next - cum: packets between the oldest outstanding and the next new one.
    #[inline]
    pub fn span(&self) -> u32 {
        self.next.ahead_of(self.cum)
    }

    /// Packets in flight: (next - cum) - |sacked| - nlost.
    #[inline]
    pub fn pipe(&self) -> u32 {
        self.span() - u32::from(self.nsacked) - u32::from(self.nlost)
    }

    /// room(p) of section 7.
    #[inline]
    pub fn room(&self) -> bool {
        self.pipe() < u32::from(self.win.window)
    }

    /// ok(p) of section 7: a new packet may start on this path.
    #[inline]
    pub fn ok(&self, window_pkts: u32) -> bool {
        self.state == PathState::Up && self.room() && self.span() < window_pkts
    }

    /// Smoothed RTT in ticks.
    #[inline]
    pub fn srtt_ticks(&self) -> u32 {
        self.srtt8 >> 3
    }

    /// The lowest PPSN of the set `lost`.
    pub fn lowest_lost(&self) -> Option<Ppsn> {
        if self.nlost == 0 {
            return None;
        }
        self.lost.first_from(self.cum.ring256()).map(|d| self.cum.wrapping_add(d))
    }

    /// Whether `ppsn` is outstanding and not yet acknowledged.
    pub fn is_unacked(&self, ppsn: Ppsn) -> bool {
        ppsn.ahead_of(self.cum) < self.span() && !self.sacked.get(ppsn.ring256())
    }

    /// Every PPSN in [cum, next).
    pub fn outstanding(&self) -> Bits256 {
        Bits256::range(self.cum.ring256(), self.span())
    }

    /// S5: a packet of this path is sent (L3 counts from it).
    pub fn note_send(&mut self, now: Tick) {
        self.last_send = stamp(now);
    }

    /// S5: a new packet takes the next PPSN.
    pub fn send_new(&mut self, now: Tick) -> Ppsn {
        self.note_send(now);
        if self.next == self.cum {
            self.t_base = now;
        }
        let ppsn = self.next;
        self.next = ppsn.next();
        ppsn
    }

    /// S5: a lost packet is resent; it leaves `lost` and joins a generation of resends (L2).
    pub fn resend(&mut self, ppsn: Ppsn) -> Generation {
        let bit = ppsn.ring256();
        if self.lost.get(bit) {
            self.lost.clear(bit);
            self.nlost -= 1;
        }
        // L2: no packet was first sent since the generation's mark, so this resend belongs to it.
        if !self.gen_open || self.mark == self.next {
            self.gen_open = true;
            self.mark = self.next;
            self.rtx_old.set(bit);
            Generation::Old
        } else {
            self.rtx_new.set(bit);
            Generation::New
        }
    }

    /// PROBE: one generation holds all resends, and the probe is its marker.
    pub fn send_probe(&mut self, ts: u16) {
        self.last_send = ts;
        self.rtx_old = self.rtx_old.or(&self.rtx_new);
        self.rtx_new = Bits256::EMPTY;
        self.mark = self.next;
        self.gen_open = true;
        self.probe_pending = true;
        self.probe_ts = ts;
        self.probe_ppsn = self.next;
    }

    /// N1: a packet was refused for now: it is lost, unless a resend of it is under way.
    pub fn refused(&mut self, ppsn: Ppsn) {
        let bit = ppsn.ring256();
        let known = self.sacked.or(&self.lost).or(&self.rtx_old).or(&self.rtx_new);
        if ppsn.ahead_of(self.cum) < self.span() && !known.get(bit) {
            self.lost.set(bit);
            self.nlost += 1;
        }
    }

    /// L3, L4, "stranded": every unacknowledged packet is lost and takes the paths that live; no resend is in flight any more.
    pub fn strand(&mut self) {
        self.heard = false;
        self.lost = self.outstanding().without(&self.sacked);
        self.nlost = self.lost.count() as u16;
        self.rtx_old = Bits256::EMPTY;
        self.rtx_new = Bits256::EMPTY;
        self.gen_open = false;
    }

    /// L5: a new route for the same path. Packets below the floor may still arrive by the old one.
    pub fn change_port(&mut self, now: Tick) {
        self.port = 0xC000 | (self.port.wrapping_add(0x0537) & 0x3FFF);
        self.floor_active = true;
        self.floor = self.next;
        self.floor_time = now;
    }

    /// All fields for a comparison or a report: (name, up to four words).
    pub fn fields(&self) -> Vec<(&'static str, [u64; 4])> {
        let one = |v: u64| [v, 0, 0, 0];
        alloc::vec![
            ("state", one(self.state as u64)),
            ("port", one(self.port.into())),
            ("next", one(self.next.get().into())),
            ("cum", one(self.cum.get().into())),
            ("sacked", self.sacked.0),
            ("lost", self.lost.0),
            ("rtx_old", self.rtx_old.0),
            ("rtx_new", self.rtx_new.0),
            ("pipe", one(self.pipe().into())),
            ("mark", one(self.mark.get().into())),
            ("gen_open", one(self.gen_open.into())),
            ("window", one(self.win.window.into())),
            ("credit", one(self.win.credit.into())),
            ("last_cut", one(self.win.last_cut.into())),
            ("srtt8", one(self.srtt8.into())),
            ("var4", one(self.var4.into())),
            ("rtt_valid", one(self.rtt_valid.into())),
            ("t_base", one(self.t_base.into())),
            ("last_send", one(self.last_send.into())),
            ("backoff", one(self.backoff.into())),
            ("probe_pending", one(self.probe_pending.into())),
            ("probe_ts", one(self.probe_ts.into())),
            ("probe_ppsn", one(self.probe_ppsn.get().into())),
            ("heard", one(self.heard.into())),
            ("tries", one(self.tries.into())),
            ("ce_seen", one(self.ce_seen.into())),
            ("dup_seen", one(self.dup_seen.into())),
            ("reo_tol", one(self.reo_tol.into())),
            ("reo_base", one(self.reo_base.into())),
            ("l1_since_dup", one(self.l1_since_dup.into())),
            ("floor_active", one(self.floor_active.into())),
            ("floor", one(self.floor.get().into())),
            ("floor_time", one(self.floor_time.into())),
            ("clean", one(self.clean.into())),
        ]
    }
}

/// S of C3: the longest sRTT over the paths that are UP, in ticks; 0 if none has one.
pub fn longest_srtt_ticks<S>(paths: &[TxPath<S>]) -> u32 {
    paths.iter().filter(|p| p.state == PathState::Up).map(TxPath::srtt_ticks).max().unwrap_or(0)
}
