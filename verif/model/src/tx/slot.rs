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
    /// It leaves a SUSPECT or DOWN home by another path (L3, L4).
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
            PathState::Up if path.room() => home,
            // One packet asks first what has arrived: only the acknowledgments may be missing.
            PathState::Suspect if !path.heard && path.pipe() > 0 => continue,
            // L3, L4: the lost packets of a path that may be dead move to a living one; their identity stays.
            PathState::Suspect | PathState::Down => match choose_path(paths, rr, window_pkts) {
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

/// S3: the least loaded path that may send, the first in round-robin order of equals.
pub fn choose_path<S>(paths: &[TxPath<S>], rr: u8, window_pkts: u32) -> Option<usize> {
    let count = paths.len();
    let open = (0..count).map(|i| (rr as usize + i) % count).filter(|&p| paths[p].ok(window_pkts));
    open.reduce(|best, p| if less_loaded(&paths[p], &paths[best]) { p } else { best })
}

/// pipe / window of `a` is below that of `b`.
fn less_loaded<S>(a: &TxPath<S>, b: &TxPath<S>) -> bool {
    a.pipe() * u32::from(b.win.window) < b.pipe() * u32::from(a.win.window)
}
