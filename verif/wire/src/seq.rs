//! Sequence numbers as types: 24 bits, wrapping, compared in serial order.
//! In: any number, of which the low 24 bits count. Guarantees that no arithmetic leaves the 24 bits.

use core::fmt;

macro_rules! serial24 {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u32);

        impl $name {
            pub const BITS: u32 = 24;
            pub const MASK: u32 = (1 << Self::BITS) - 1;
            /// Distances below this count as "ahead".
            pub const HALF: u32 = 1 << (Self::BITS - 1);

            /// The low 24 bits of `value`.
            #[inline]
            pub const fn new(value: u32) -> Self {
                Self(value & Self::MASK)
            }

            #[inline]
            pub const fn get(self) -> u32 {
                self.0
            }

            #[inline]
            pub const fn wrapping_add(self, count: u32) -> Self {
                Self::new(self.0.wrapping_add(count))
            }

            #[inline]
            pub const fn wrapping_sub(self, count: u32) -> Self {
                Self::new(self.0.wrapping_sub(count))
            }

            #[inline]
            pub const fn next(self) -> Self {
                self.wrapping_add(1)
            }

            /// `self - base` modulo 2^24: how far `self` is ahead of `base`.
            #[inline]
            pub const fn distance_from(self, base: Self) -> u32 {
                self.0.wrapping_sub(base.0) & Self::MASK
            }

            /// Whether `self` comes before `other`: `other` is 1 to 2^23 - 1 ahead.
            #[inline]
            pub const fn serial_lt(self, other: Self) -> bool {
                let ahead = other.distance_from(self);
                ahead != 0 && ahead < Self::HALF
            }

            #[inline]
            pub const fn serial_le(self, other: Self) -> bool {
                self.0 == other.0 || self.serial_lt(other)
            }
        }

        impl From<u32> for $name {
            /// The low 24 bits.
            fn from(value: u32) -> Self {
                Self::new(value)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({:#08x})"), self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{}", self.0)
            }
        }
    };
}

serial24! {
    /// Path packet sequence number: numbers the packets of one path.
    Ppsn
}
serial24! {
    /// Message sequence number: numbers the messages of one stream.
    Msn
}

/// First PPSN of a path, derived by both ends from the seed of CONNECT or ACCEPT.
///
/// A mixing step (multiply and fold) spreads the paths, so that a stale packet of another path or of an earlier connection
/// does not fall into the window.
pub const fn start_ppsn(seed: u32, path: u8) -> Ppsn {
    let mut x = seed.wrapping_add((path as u32).wrapping_mul(0x9E37_79B9));
    x ^= x >> 16;
    x = x.wrapping_mul(0x85EB_CA6B);
    x ^= x >> 13;
    Ppsn::new(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOP: u32 = 1 << 24;

    #[test]
    fn arithmetic_wraps_at_24_bits() {
        for k in 0..=512u32 {
            let base = Ppsn::new(TOP - k);
            assert_eq!(base.get(), (TOP - k) % TOP);
            for step in [0, 1, k, 255, 256, 257, TOP - 1] {
                let moved = base.wrapping_add(step);
                assert!(moved.get() < TOP);
                assert_eq!(moved.distance_from(base), step);
                assert_eq!(moved.wrapping_sub(step), base);
            }
        }
    }

    #[test]
    fn serial_order_holds_across_the_wrap() {
        for k in 0..=512u32 {
            let base = Msn::new(TOP - k);
            for ahead in [1, 2, 255, 256, Msn::HALF - 1] {
                let later = base.wrapping_add(ahead);
                assert!(base.serial_lt(later) && base.serial_le(later), "{base} + {ahead}");
                assert!(!later.serial_lt(base) && !later.serial_le(base), "{base} + {ahead}");
            }
            assert!(!base.serial_lt(base) && base.serial_le(base));
            // Exactly opposite: neither is before the other.
            let opposite = base.wrapping_add(Msn::HALF);
            assert!(!base.serial_lt(opposite) && !opposite.serial_lt(base));
        }
    }

    #[test]
    fn new_keeps_the_low_bits_only() {
        assert_eq!(Ppsn::new(u32::MAX).get(), Ppsn::MASK);
        assert_eq!(Ppsn::new(TOP).get(), 0);
        assert_eq!(Msn::from(TOP + 5).next().get(), 6);
    }

    #[test]
    fn start_ppsns_of_the_paths_lie_outside_each_others_windows() {
        for seed in [0, 1, 0x1234_5678, u32::MAX] {
            for a in 0..=255u8 {
                for b in 0..a {
                    let ahead = start_ppsn(seed, a).distance_from(start_ppsn(seed, b));
                    assert!(ahead > 0, "paths {a} and {b} of seed {seed:#x} start alike");
                }
            }
        }
        assert_ne!(start_ppsn(1, 0), start_ppsn(2, 0));
    }
}
