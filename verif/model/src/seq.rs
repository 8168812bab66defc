//! Sequence numbers (24 bits) and ticks (32 bits): what the rules need beyond the wire crate's newtypes.
//! In: numbers. Out: serial comparisons, right across every wrap.

use mrnic_wire::{Msn, Ppsn};

/// Serial order of a 24-bit sequence number.
pub trait Serial24: Copy {
    /// `self - base` modulo 2^24.
    fn ahead_of(self, base: Self) -> u32;

    /// `self` lies behind `base`: the difference is 2^23 or more.
    #[inline]
    fn is_behind(self, base: Self) -> bool {
        self.ahead_of(base) >= 1 << 23
    }

    /// The later of two numbers.
    #[inline]
    fn later(self, other: Self) -> Self {
        if self.is_behind(other) {
            other
        } else {
            self
        }
    }

    /// Position in a ring of 256.
    fn ring256(self) -> usize;
}

impl Serial24 for Ppsn {
    #[inline]
    fn ahead_of(self, base: Self) -> u32 {
        self.distance_from(base)
    }

    #[inline]
    fn ring256(self) -> usize {
        (self.get() & 0xFF) as usize
    }
}

impl Serial24 for Msn {
    #[inline]
    fn ahead_of(self, base: Self) -> u32 {
        self.distance_from(base)
    }

    #[inline]
    fn ring256(self) -> usize {
        (self.get() & 0xFF) as usize
    }
}

/// A point in time: units of 128 ns, 32 bits, wrapping.
pub type Tick = u32;

/// `now - then` in ticks, wrapping.
#[inline]
pub const fn elapsed(now: Tick, then: Tick) -> u32 {
    now.wrapping_sub(then)
}

/// The 16-bit time stamp of a tick.
#[inline]
pub const fn stamp(now: Tick) -> u16 {
    now as u16
}

/// `new - old` of a wrapping 16-bit counter; an older report gives `None`.
#[inline]
pub const fn counter_step(new: u16, old: u16) -> Option<u16> {
    let step = new.wrapping_sub(old);
    if step < 0x8000 {
        Some(step)
    } else {
        None
    }
}
