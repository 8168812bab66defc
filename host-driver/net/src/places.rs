//! The places of a segment: who is there, and how to wake him.
//! In: a mapped file. Out: atomic fields; every process may die at any moment, so each field makes sense alone.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::PLACES;

/// First bytes of the file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"mrnicnet");
/// Changes with the layout of the file or of a ring; it is part of the file's name.
pub const VERSION: u32 = 3;

/// One NIC's place. Who holds the lock of its file owns it, so a killed owner gives it back by dying.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Place {
    /// Counts owners and leavings, so that rings of an earlier owner are recognised: odd while it is taken.
    generation: AtomicU32,
    /// Changes with each urgent frame; the owner sleeps on it.
    pub doorbell: AtomicU32,
    /// 1 while the owner sleeps.
    pub asleep: AtomicU32,
    /// The processor of the other process that rang last, plus 1; 0 if none has since the owner looked.
    pub rung_on: AtomicU32,
    /// The owner looks by itself until this time of the segment, so that it need not be woken for frames that can wait.
    pub attended_until_ns: AtomicU64,
    /// The same for all frames.
    pub polled_until_ns: AtomicU64,
    /// Places that have made a ring to this one since it last looked.
    pub incoming: AtomicU64,
}

/// The whole file.
#[derive(Debug)]
#[repr(C, align(128))]
pub struct Places {
    /// Written last when a segment is made.
    pub magic: AtomicU64,
    pub version: AtomicU32,
    pub places: AtomicU32,
    /// CLOCK_MONOTONIC of the beginning, nanoseconds: the common zero of scenario times.
    pub epoch_ns: AtomicU64,
    pub place: [Place; PLACES],
}

impl Place {
    /// The caller has the lock and moves in. Returns the generation.
    pub fn move_in(&self) -> u32 {
        self.incoming.store(0, Ordering::Release);
        self.asleep.store(0, Ordering::Release);
        self.rung_on.store(0, Ordering::Release);
        self.attended_until_ns.store(0, Ordering::Release);
        self.polled_until_ns.store(0, Ordering::Release);
        // An owner that was killed has left an odd number behind.
        let generation = (self.generation.load(Ordering::Acquire) | 1).wrapping_add(2);
        self.generation.store(generation, Ordering::Release);
        generation
    }

    /// Rings that lead here are of a generation that is over.
    pub fn move_out(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The generation of the owner, if there is one.
    pub fn generation(&self) -> Option<u32> {
        let generation = self.generation.load(Ordering::Acquire);
        (generation & 1 != 0).then_some(generation)
    }
}
