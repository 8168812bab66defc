//! The choices of a transmit slot (section 7): which packet is resent, which path a new packet takes.
//! In: the paths of a connection. Out: an index. Pure functions; the caller applies the result.

use mrnic_wire::Ppsn;

use crate::tx::path::{PathState, TxPath};

/// A packet to resend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resend {
    pub home: u8,
    pub via: u8,
    pub ppsn: Ppsn,
    /// It leaves a DOWN home by another path (L4).
    pub moved: bool,
}

/// S1: the first path in round-robin order with a lost packet that may go, and its lowest lost PPSN.
pub fn choose_resend<S>(paths: &[TxPath<S>], rr: u8, window_pkts: u32) -> Option<Resend> {
    let count = paths.len();
    for i in 0..count {
        let home = (rr as usize + i) % count;
        let path = &paths[home];
        if path.nlost == 0 {
            continue;
        }
        let via = match path.state {
            PathState::Up | PathState::Suspect if path.room() => home,
            // L4: the lost packets of a dead path move to a living one; their identity stays.
            PathState::Down => match choose_path(paths, rr, count, window_pkts) {
                Some(via) => via,
                None => continue,
            },
            _ => continue,
        };
        let Some(ppsn) = path.lowest_lost() else { continue };
        return Some(Resend { home: home as u8, via: via as u8, ppsn, moved: via != home });
    }
    None
}

/// S3: how many paths a message of `npkts` packets uses.
pub fn paths_of_message(npkts: u32, paths: usize) -> usize {
    paths.min(npkts.div_ceil(8) as usize).max(1)
}

/// S3: the least loaded path among the first `k` in round-robin order, or among all if none of those may send.
pub fn choose_path<S>(paths: &[TxPath<S>], rr: u8, k: usize, window_pkts: u32) -> Option<usize> {
    let count = paths.len();
    let best_of = |range: core::ops::Range<usize>| {
        let mut best: Option<usize> = None;
        for i in range {
            let p = (rr as usize + i) % count;
            if !paths[p].ok(window_pkts) {
                continue;
            }
            best = match best {
                Some(b) if !less_loaded(&paths[p], &paths[b]) => Some(b),
                _ => Some(p),
            };
        }
        best
    };
    best_of(0..k).or_else(|| best_of(k..count))
}

/// pipe / window of `a` is below that of `b`.
fn less_loaded<S>(a: &TxPath<S>, b: &TxPath<S>) -> bool {
    a.pipe() * u32::from(b.win.window) < b.pipe() * u32::from(a.win.window)
}
