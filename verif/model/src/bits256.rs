//! A ring of 256 bits in four 64-bit words, indexed by a sequence number modulo 256.
//! In: positions and circular ranges. Out: the sets of the sender and the vector of the receiver.
//! Every operation is one pass over the four words, as in the hardware.

/// 256 bits; bit `i` is bit `i % 64` of word `i / 64`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Hash)]
pub struct Bits256(pub [u64; 4]);

impl Bits256 {
    /// No bit set.
    pub const EMPTY: Bits256 = Bits256([0; 4]);
    /// Every bit set.
    pub const FULL: Bits256 = Bits256([u64::MAX; 4]);

    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.0[(index >> 6) & 3] >> (index & 63) & 1 != 0
    }

    #[inline]
    pub fn set(&mut self, index: usize) {
        self.0[(index >> 6) & 3] |= 1 << (index & 63);
    }

    #[inline]
    pub fn clear(&mut self, index: usize) {
        self.0[(index >> 6) & 3] &= !(1 << (index & 63));
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    #[inline]
    pub fn count(&self) -> u32 {
        let mut n = 0;
        for word in self.0 {
            if word != 0 {
                n += word.count_ones();
            }
        }
        n
    }

    #[inline]
    pub fn or(&self, other: &Bits256) -> Bits256 {
        Bits256(core::array::from_fn(|w| self.0[w] | other.0[w]))
    }

    #[inline]
    pub fn and(&self, other: &Bits256) -> Bits256 {
        Bits256(core::array::from_fn(|w| self.0[w] & other.0[w]))
    }

    #[inline]
    pub fn without(&self, other: &Bits256) -> Bits256 {
        Bits256(core::array::from_fn(|w| self.0[w] & !other.0[w]))
    }

    /// The circular range of `len` (at most 256) positions from `start` on.
    #[inline]
    pub fn range(start: usize, len: u32) -> Bits256 {
        if len == 0 {
            return Bits256::EMPTY;
        }
        if len >= 256 {
            return Bits256::FULL;
        }
        let start = start & 255;
        let end = start + len as usize;
        let low = |n: usize, w: usize| -> u64 {
            // Bits of word `w` below position `n`.
            let base = w * 64;
            if n <= base {
                0
            } else if n >= base + 64 {
                u64::MAX
            } else {
                (1 << (n - base)) - 1
            }
        };
        Bits256(core::array::from_fn(|w| {
            if end <= 256 {
                low(end, w) & !low(start, w)
            } else {
                !low(start, w) | low(end - 256, w)
            }
        }))
    }

    /// Rotates so that bit `i` of the result is bit `i + n` (mod 256) of `self`.
    #[inline]
    pub fn rotate_down(&self, n: usize) -> Bits256 {
        let words = (n >> 6) & 3;
        let shift = (n & 63) as u32;
        Bits256(core::array::from_fn(|w| {
            let low = self.0[(w + words) & 3];
            let high = self.0[(w + words + 1) & 3];
            if shift == 0 {
                low
            } else {
                low >> shift | high << (64 - shift)
            }
        }))
    }

    /// Rotates so that bit `i + n` (mod 256) of the result is bit `i` of `self`.
    #[inline]
    pub fn rotate_up(&self, n: usize) -> Bits256 {
        self.rotate_down(256 - (n & 255))
    }

    /// The highest set position.
    #[inline]
    pub fn highest(&self) -> Option<u32> {
        (0..4).rev().find(|&w| self.0[w] != 0).map(|w| w as u32 * 64 + 63 - self.0[w].leading_zeros())
    }

    /// The first set position in circular order from `start`, as the distance from `start`.
    #[inline]
    pub fn first_from(&self, start: usize) -> Option<u32> {
        let start = start & 255;
        let (w0, b0) = (start >> 6, (start & 63) as u32);
        let head = self.0[w0] >> b0;
        if head != 0 {
            return Some(head.trailing_zeros());
        }
        for i in 1..=4 {
            let mut word = self.0[(w0 + i) & 3];
            if i == 4 {
                word &= (1u64 << b0).wrapping_sub(1);
            }
            if word != 0 {
                return Some(i as u32 * 64 - b0 + word.trailing_zeros());
            }
        }
        None
    }
}
