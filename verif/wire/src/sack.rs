//! Selective-acknowledgment vector, up to 256 bits, independent of a profile's width.
//! Bit i says that packet cumulative + 1 + i was received. On the wire bit 0 is the least significant bit of the last byte.

use crate::error::EmitError;
use core::fmt;

#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct SackVector([u64; 4]);

impl SackVector {
    pub const MAX_BITS: u32 = 256;
    pub const EMPTY: Self = Self([0; 4]);

    /// From words; bit i is bit `i % 64` of word `i / 64`.
    pub const fn from_words(words: [u64; 4]) -> Self {
        Self(words)
    }

    pub const fn words(&self) -> &[u64; 4] {
        &self.0
    }

    /// Bit `i`; false beyond the end.
    pub const fn get(&self, i: u32) -> bool {
        i < Self::MAX_BITS && self.0[(i / 64) as usize] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`; false if it lies beyond the end and nothing was set.
    pub fn set(&mut self, i: u32) -> bool {
        let inside = i < Self::MAX_BITS;
        if inside {
            self.0[(i / 64) as usize] |= 1 << (i % 64);
        }
        inside
    }

    pub const fn is_empty(&self) -> bool {
        self.0[0] | self.0[1] | self.0[2] | self.0[3] == 0
    }

    pub const fn count_ones(&self) -> u32 {
        self.0[0].count_ones() + self.0[1].count_ones() + self.0[2].count_ones() + self.0[3].count_ones()
    }

    /// Ones before the first zero, from bit 0.
    pub const fn trailing_ones(&self) -> u32 {
        let mut i = 0;
        let mut ones = 0;
        while i < 4 {
            let word = self.0[i].trailing_ones();
            ones += word;
            if word < 64 {
                return ones;
            }
            i += 1;
        }
        ones
    }

    /// The highest set bit.
    pub const fn highest(&self) -> Option<u32> {
        let mut i = 4;
        while i > 0 {
            i -= 1;
            if self.0[i] != 0 {
                return Some(i as u32 * 64 + 63 - self.0[i].leading_zeros());
            }
        }
        None
    }

    /// Drops the lowest `count` bits, as when the cumulative number advances.
    pub const fn shifted_down(&self, count: u32) -> Self {
        let mut out = [0; 4];
        if count >= Self::MAX_BITS {
            return Self(out);
        }
        let (words, bits) = ((count / 64) as usize, count % 64);
        let mut i = 0;
        while i + words < 4 {
            out[i] = self.0[i + words] >> bits;
            if bits > 0 && i + words + 1 < 4 {
                out[i] |= self.0[i + words + 1] << (64 - bits);
            }
            i += 1;
        }
        Self(out)
    }

    /// From the bytes of a profile's vector field.
    pub(crate) fn from_wire(bytes: &[u8]) -> Self {
        let mut out = [0; 4];
        for (i, byte) in bytes.iter().rev().take(32).enumerate() {
            out[i / 8] |= u64::from(*byte) << (i % 8 * 8);
        }
        Self(out)
    }

    /// As the bytes of a profile's vector field; refuses bits that it does not have.
    pub(crate) fn to_wire<const N: usize>(self, field: &'static str) -> Result<[u8; N], EmitError> {
        if let Some(highest) = self.highest().filter(|i| *i as usize >= N * 8) {
            return Err(EmitError::ValueTooLarge { field, value: u64::from(highest) });
        }
        let mut out = [0; N];
        for (i, byte) in out.iter_mut().rev().take(32).enumerate() {
            *byte = (self.0[i / 8] >> (i % 8 * 8)) as u8;
        }
        Ok(out)
    }
}

impl fmt::Debug for SackVector {
    /// One hexadecimal number, bit 0 last, as on the wire.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.0;
        write!(f, "SackVector({d:016x}_{c:016x}_{b:016x}_{a:016x})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_has_its_place_on_the_wire() {
        for i in 0..256u32 {
            let mut vector = SackVector::EMPTY;
            assert!(vector.set(i) && vector.get(i));
            let wire: [u8; 32] = vector.to_wire("SAV.vector").expect("256 bits fit");
            assert_eq!(wire[31 - i as usize / 8], 1 << (i % 8));
            assert_eq!(wire.iter().map(|b| b.count_ones()).sum::<u32>(), 1);
            assert_eq!(SackVector::from_wire(&wire), vector);
            assert_eq!((vector.highest(), vector.count_ones()), (Some(i), 1));
            let narrow = vector.to_wire::<8>("SAV.vector");
            assert_eq!(narrow.is_ok(), i < 64);
            for k in 0..=256u32 {
                let expected = (k <= i).then(|| i - k);
                assert_eq!(vector.shifted_down(k).highest(), expected);
            }
        }
    }

    #[test]
    fn nothing_is_set_beyond_the_end() {
        let mut vector = SackVector::EMPTY;
        assert!(!vector.set(256) && !vector.get(256) && vector.is_empty());
    }

    #[test]
    fn leading_ones_are_counted_across_words() {
        let mut vector = SackVector::EMPTY;
        for i in 0..256 {
            assert_eq!(vector.trailing_ones(), i);
            vector.set(i);
        }
        assert_eq!(vector.trailing_ones(), 256);
    }
}
