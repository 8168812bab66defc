//! Bits into the Rust types that rust-hdl signals carry.
//! Comes in: 32-bit words, the lowest first. Goes out: a value of the signal's type, and back.
//! Guarantees that both simulations are driven with the same bits: the value's own `verilog()` is what Verilator gets.

use rust_hdl_core::prelude::*;

/// A signal type that can be made of bits. Implemented for `Bit`, `Bits<N>` and `Signed<N>`; `drive_struct!` and
/// `drive_enum!` implement it for an own `LogicStruct` or `LogicState`.
pub trait Drive: Synth {
    /// `words` holds at least `BITS` bits; higher ones are to be ignored. A pattern that the type does not have (an enum
    /// with three variants) may become any value that it has.
    fn from_words(words: &[u32]) -> Self;
}

impl Drive for Bit {
    fn from_words(words: &[u32]) -> Self {
        words[0] & 1 != 0
    }
}

impl<const N: usize> Drive for Bits<N> {
    fn from_words(words: &[u32]) -> Self {
        if N <= 32 {
            let mask = u64::MAX >> (64 - N.clamp(1, 64));
            return Bits::from(u64::from(words[0]) & mask);
        }
        let mut bits = [false; N];
        for (i, b) in bits.iter_mut().enumerate() {
            *b = words[i / 32] >> (i % 32) & 1 != 0;
        }
        Bits::Long(bits.into())
    }
}

impl<const N: usize> Drive for Signed<N> {
    fn from_words(words: &[u32]) -> Self {
        signed_cast(Bits::<N>::from_words(words))
    }
}

/// The next field of a struct: used by `drive_struct!`.
pub fn take_field<T: Drive>(words: &[u32], at: &mut usize) -> T {
    let mut field = vec![0u32; T::BITS.div_ceil(32).max(1)];
    for i in 0..T::BITS {
        let from = *at + i;
        field[i / 32] |= (words[from / 32] >> (from % 32) & 1) << (i % 32);
    }
    *at += T::BITS;
    T::from_words(&field)
}

/// The bits of a signal's value.
pub(crate) fn literal_words(literal: &VerilogLiteral, bits: usize) -> Vec<u32> {
    // the only public way to the number: "24'h1f", and "24'h-3" for a negative one
    let text = format!("{literal:x}");
    let digits = text.split("'h").nth(1).unwrap_or("0");
    let (negative, digits) = digits.strip_prefix('-').map_or((false, digits), |d| (true, d));
    let mut words = vec![0u32; bits.div_ceil(32).max(1)];
    for (i, c) in digits.chars().rev().enumerate() {
        if let Some(w) = words.get_mut(i / 8) {
            *w |= c.to_digit(16).unwrap_or(0) << (4 * (i % 8));
        }
    }
    if negative {
        let mut carry = true;
        for w in &mut words {
            (*w, carry) = (!*w).overflowing_add(u32::from(carry));
        }
    }
    cut(&mut words, bits);
    words
}

/// Clears what lies above `bits`.
pub(crate) fn cut(words: &mut [u32], bits: usize) {
    for (i, w) in words.iter_mut().enumerate() {
        let left = bits.saturating_sub(32 * i);
        if left < 32 {
            *w &= (1u32 << left) - 1;
        }
    }
}

/// `drive_struct!(Descriptor { connection, psn, last });`: all fields, in the order of the declaration (the first is
/// the lowest); their types implement `Drive`.
#[macro_export]
macro_rules! drive_struct {
    ($name:ident { $($field:ident),+ $(,)? }) => {
        impl $crate::Drive for $name {
            fn from_words(words: &[u32]) -> Self {
                let mut at = 0;
                $name { $($field: $crate::take_field(words, &mut at)),+ }
            }
        }
    };
}

/// `drive_enum!(Kind { Data, Ack, Probe });`: all variants, in the order of the declaration.
#[macro_export]
macro_rules! drive_enum {
    ($name:ident { $($variant:ident),+ $(,)? }) => {
        impl $crate::Drive for $name {
            fn from_words(words: &[u32]) -> Self {
                let all = [$($name::$variant),+];
                all[words[0] as usize % all.len()]
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_the_way_through_every_type() {
        fn check<T: Drive>(words: &[u32]) {
            let mut want = words[..T::BITS.div_ceil(32)].to_vec();
            cut(&mut want, T::BITS);
            assert_eq!(literal_words(&T::from_words(words).verilog(), T::BITS), want, "{} bits", T::BITS);
        }
        for w in [[0x8765_4321, 0xfedc_ba98, 0x1357_9bdf], [u32::MAX; 3], [0; 3], [0x8000_0000, 0x8000_0000, 1 << 15]] {
            check::<Bit>(&w);
            check::<Bits<1>>(&w);
            check::<Bits<7>>(&w);
            check::<Bits<32>>(&w);
            check::<Bits<33>>(&w);
            check::<Bits<64>>(&w);
            check::<Bits<80>>(&w);
            check::<Signed<8>>(&w);
            check::<Signed<32>>(&w);
            check::<Signed<40>>(&w);
        }
    }
}
