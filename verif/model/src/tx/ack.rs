//! One acknowledgment applied to a sending path (section 6): validity, new sets, losses, RTT, window, progress.
//! In: the path and the fields of an ACK. Out: which packets it newly acknowledges and what was found lost.
//! Order: A1, A2, A3, L2, L5, L1, RTT, C1, L6, C2 (the caller's), progress, nak (the caller's).

use mrnic_wire::{Ack, Ppsn};

use crate::bits256::Bits256;
use crate::congestion::{AckSample, CongestionControl};
use crate::seq::{counter_step, elapsed, stamp, Serial24, Tick};
use crate::tx::path::{PathState, TxPath};

/// Whether an acknowledgment was applied (rule A1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum AckVerdict {
    Applied = 0,
    /// The path is disabled or does not exist.
    Disabled = 1,
    /// Older than what is known.
    Stale = 2,
    /// Acknowledges what was never sent.
    Invalid = 3,
}

/// What an acknowledgment changed. Sets are indexed by PPSN mod 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckOutcome {
    pub verdict: AckVerdict,
    /// It answers the pending probe.
    pub probe: bool,
    /// `cum` before; distances of newly acknowledged packets count from here.
    pub base: Ppsn,
    pub newly: Bits256,
    pub acked: u32,
    pub lost_l1: Bits256,
    pub lost_l2: Bits256,
    pub window_cut: bool,
    /// The state before, if it changed.
    pub state_was: Option<PathState>,
}

impl AckOutcome {
    /// Of a path that is not there.
    pub(crate) fn disabled() -> Self {
        AckOutcome::rejected(AckVerdict::Disabled, Ppsn::new(0))
    }

    fn rejected(verdict: AckVerdict, base: Ppsn) -> Self {
        AckOutcome {
            verdict,
            probe: false,
            base,
            newly: Bits256::EMPTY,
            acked: 0,
            lost_l1: Bits256::EMPTY,
            lost_l2: Bits256::EMPTY,
            window_cut: false,
            state_was: None,
        }
    }
}

/// Applies an acknowledgment with cumulative number `cum` and fields `ack` at `now`. `window_pkts` is W of the NIC.
pub fn apply<C: CongestionControl>(
    cc: &C,
    path: &mut TxPath<C::Path>,
    now: Tick,
    cum: Ppsn,
    ack: &Ack,
    rto_min_ticks: u32,
    window_pkts: u32,
) -> AckOutcome {
    let base = path.cum;
    // A1: validity.
    if path.state == PathState::Disabled {
        return AckOutcome::rejected(AckVerdict::Disabled, base);
    }
    let d = cum.ahead_of(base);
    let span = path.span();
    if d >= 1 << 23 {
        return AckOutcome::rejected(AckVerdict::Stale, base);
    }
    let sav = Bits256(*ack.vector.words());
    let high = match sav.highest() {
        Some(bit) => cum.wrapping_add(1 + bit),
        None => cum.wrapping_sub(1),
    };
    if d > span || (!sav.is_empty() && high.ahead_of(base) >= span) {
        return AckOutcome::rejected(AckVerdict::Invalid, base);
    }

    // A2: does it answer the probe, and up to where does it speak?
    let probe = ack.flags.probe_reply && path.probe_pending && ack.ts_echo == path.probe_ts;
    // The packets of a path that is not UP may travel by others: its probe tells nothing of them.
    let probe_edge = probe && path.state == PathState::Up;
    let edge = if probe_edge { high.later(path.probe_ppsn) } else { high };

    // A3: what is new, and the sets without it.
    let (newly, acked) = take_acknowledged(path, cum, d, &sav);

    let lost_l2 = relost(path, edge);

    // L5: after a port change gaps below the floor are no evidence until RTO_MIN has passed.
    if path.floor_active && elapsed(now, path.floor_time) >= rto_min_ticks {
        path.floor_active = false;
    }
    let lost_l1 = gaps(path, high, probe_edge);

    sample_rtt(path, now, ack);

    // C1: the window.
    let ce_delta = match counter_step(ack.ce_packets, path.ce_seen) {
        Some(step) => {
            path.ce_seen = ack.ce_packets;
            u32::from(step)
        }
        None => 0,
    };
    let sample = AckSample { now, acked, ce_delta, srtt_ticks: path.srtt_ticks(), window_max_pkts: window_pkts as u16 };
    let window_cut = cc.on_ack(&mut path.win, &mut path.cc, &sample);
    if !lost_l1.is_empty() || !lost_l2.is_empty() {
        cc.on_loss(&mut path.win, &mut path.cc, now, sample.srtt_ticks);
    }

    reordering_guard(path, now, ack.dup_packets, window_pkts);

    let state_was = progress(path, now, acked, probe, ack.flags.ts_valid);
    AckOutcome { verdict: AckVerdict::Applied, probe, base, newly, acked, lost_l1, lost_l2, window_cut, state_was }
}

/// A3: newly = ([cum, cum') and the vector) minus sacked; the sets lose what is acknowledged.
fn take_acknowledged<S>(path: &mut TxPath<S>, cum: Ppsn, d: u32, sav: &Bits256) -> (Bits256, u32) {
    let passed = Bits256::range(path.cum.ring256(), d);
    let vector = sav.rotate_up(cum.next().ring256());
    let newly = passed.or(&vector).without(&path.sacked);
    let acked = newly.count();
    if acked > 0 {
        path.lost = path.lost.without(&newly);
        path.nlost = path.lost.count() as u16;
        path.rtx_old = path.rtx_old.without(&newly);
        path.rtx_new = path.rtx_new.without(&newly);
        path.sacked = path.sacked.or(&newly);
    }
    if acked > 0 || d > 0 {
        path.sacked = path.sacked.without(&passed);
        path.nsacked = path.sacked.count() as u16;
        path.cum = cum;
    }
    (newly, acked)
}

/// L2: a packet first sent after the resends of the old generation has arrived; what is left of them is lost again.
fn relost<S>(path: &mut TxPath<S>, edge: Ppsn) -> Bits256 {
    if !path.gen_open || edge.is_behind(path.mark) {
        return Bits256::EMPTY;
    }
    let again = path.rtx_old;
    path.lost = path.lost.or(&again);
    path.nlost = path.lost.count() as u16;
    path.rtx_old = path.rtx_new;
    path.rtx_new = Bits256::EMPTY;
    path.mark = path.next;
    path.gen_open = !path.rtx_old.is_empty();
    again
}

/// L1: every PPSN below the edge that is in no set is lost.
fn gaps<S>(path: &mut TxPath<S>, high: Ppsn, probe_edge: bool) -> Bits256 {
    let mut bound = high.wrapping_sub(u32::from(path.reo_tol));
    if probe_edge {
        bound = bound.later(path.probe_ppsn);
    }
    // L5: only packets sent since the port change count.
    let from = if path.floor_active { path.cum.later(path.floor) } else { path.cum };
    if bound.is_behind(from) || bound == from {
        return Bits256::EMPTY;
    }
    let known = path.sacked.or(&path.lost).or(&path.rtx_old).or(&path.rtx_new);
    let lost = Bits256::range(from.ring256(), bound.ahead_of(from)).without(&known);
    if !lost.is_empty() {
        path.lost = path.lost.or(&lost);
        path.nlost = path.lost.count() as u16;
        if !probe_edge {
            path.l1_since_dup = true;
        }
    }
    lost
}

/// RTT of section 6: integer smoothing with gains 1/8 and 1/4.
fn sample_rtt<S>(path: &mut TxPath<S>, now: Tick, ack: &Ack) {
    if !ack.flags.ts_valid {
        return;
    }
    let s = stamp(now).wrapping_sub(ack.ts_echo).wrapping_sub(ack.service);
    if s >= 1 << 15 {
        return;
    }
    let s = i32::from(s).max(1);
    if path.rtt_valid {
        let e = s - (path.srtt8 >> 3) as i32;
        path.srtt8 = (path.srtt8 as i32 + e) as u32;
        path.var4 = path.var4 + e.unsigned_abs() - (path.var4 >> 2);
    } else {
        path.srtt8 = 8 * s as u32;
        path.var4 = 2 * s as u32;
        path.rtt_valid = true;
    }
}

/// L6: duplicates after a gap was called a loss mean that the path reorders; the tolerance decays.
fn reordering_guard<S>(path: &mut TxPath<S>, now: Tick, dup: u16, window_pkts: u32) {
    let step = match counter_step(dup, path.dup_seen) {
        Some(step) => {
            path.dup_seen = dup;
            step
        }
        None => 0,
    };
    if step > 0 && path.l1_since_dup {
        // A tolerance near the vector's length would hide every gap.
        path.reo_tol = (2 * path.reo_tol).clamp(1, (window_pkts / 4) as u8);
        path.reo_base = now;
        path.l1_since_dup = false;
    } else if path.reo_tol > 0 && elapsed(now, path.reo_base) >= 2 * path.srtt8 {
        path.reo_tol /= 2;
        path.reo_base = now;
    }
}

/// The row "progress" of section 6: timer, back-off and health.
fn progress<S>(path: &mut TxPath<S>, now: Tick, acked: u32, probe: bool, ts_valid: bool) -> Option<PathState> {
    if acked == 0 && !probe {
        return None;
    }
    path.t_base = now;
    path.probe_pending = false;
    if acked > 0 {
        path.heard = true;
        path.tries = 0;
    }
    let was = path.state;
    // A resend proves nothing: it may have travelled by another path.
    if ts_valid || probe {
        path.backoff = 0;
        if was == PathState::Suspect {
            path.state = PathState::Up;
        }
    }
    if probe && was == PathState::Down {
        // L4: three answered probes bring a path back, with one packet at first.
        path.clean += 1;
        if path.clean == 3 {
            path.state = PathState::Up;
            path.clean = 0;
            path.win.window = 1;
        }
    }
    (path.state != was).then_some(was)
}
