//! The four sets of a path, packet by packet: the reference of the blocks that work on 64-bit words.
//! In: one packet's place and what a step does. Out: its new place. Written from sections 6 and 8 of docs/protocol.md.
#![allow(dead_code)] // each test uses its part

/// Where a packet stands; `Flying` is in none of the four sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    Flying,
    Sacked,
    Lost,
    RtxOld,
    RtxNew,
}

/// What a step does to one packet.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// A3, L2, L1, N1: below the new cum; acknowledged by the vector; the marker was passed; L1 looks here.
    Ack {
        passed: bool,
        sav: bool,
        turn: bool,
        gap: bool,
        /// N1: the peer refused it for now.
        refused: bool,
    },
    /// PROBE: rtx_old gains rtx_new.
    Merge,
    /// L4, DOWN: every unacknowledged packet of [cum, next) becomes lost.
    AllLost {
        outstanding: bool,
    },
    Clear,
}

/// What became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Event {
    pub newly: bool,
    pub l1: bool,
    pub l2: bool,
    /// It counted in pipe = (next - cum) - |sacked| - |lost| and does so no longer.
    pub dropped: bool,
}

pub fn step(place: Place, step: Step) -> (Place, Event) {
    let mut event = Event::default();
    let after = match step {
        Step::Clear => return (Place::Flying, event),
        Step::Merge => return (if place == Place::RtxNew { Place::RtxOld } else { place }, event),
        Step::AllLost { outstanding } => {
            return (
                if place == Place::Sacked {
                    place
                } else if outstanding {
                    Place::Lost
                } else {
                    Place::Flying
                },
                event,
            );
        }
        Step::Ack { passed, sav, turn, gap, refused } => {
            // A3
            event.newly = (passed || sav) && place != Place::Sacked;
            if passed {
                // the window has left it behind
                event.dropped = place != Place::Sacked && place != Place::Lost;
                return (Place::Flying, event);
            }
            let mut after = if sav { Place::Sacked } else { place };
            // L2
            if turn {
                event.l2 = after == Place::RtxOld;
                after = match after {
                    Place::RtxOld => Place::Lost,
                    Place::RtxNew => Place::RtxOld,
                    other => other,
                };
            }
            // L1
            if gap && after == Place::Flying {
                event.l1 = true;
                after = Place::Lost;
            }
            // N1
            if refused && after == Place::Flying {
                after = Place::Lost;
            }
            after
        }
    };
    let flies = |p: Place| p != Place::Sacked && p != Place::Lost;
    event.dropped = flies(place) && !flies(after);
    (after, event)
}

/// The sets of a word: sacked, lost, rtx_old, rtx_new.
pub fn sets(places: &[Place; 64]) -> [u64; 4] {
    let of = |wanted: Place| (0..64).filter(|b| places[*b] == wanted).map(|b| 1u64 << b).sum();
    [of(Place::Sacked), of(Place::Lost), of(Place::RtxOld), of(Place::RtxNew)]
}

/// The bits of an event in a word.
pub fn mask(events: &[Event; 64], of: fn(&Event) -> bool) -> u64 {
    (0..64).filter(|b| of(&events[*b])).map(|b| 1u64 << b).sum()
}
