//! Bit fields in network byte order, used by the generated header structs only.
//! In: a header's bytes and a field's place as constants. Out: its value. Bit 0 is the most significant bit of byte 0.

use crate::error::{EmitError, Expected, Mismatch};

/// The first `N` bytes as a header.
#[inline]
pub(crate) fn header<'a, const N: usize>(bytes: &'a [u8], name: &'static str) -> Result<&'a [u8; N], Mismatch> {
    bytes.first_chunk::<N>().ok_or(Mismatch {
        field: name,
        offset: 0,
        found: bytes.len() as u64,
        expected: Expected::AtLeast(N as u64),
    })
}

#[inline]
pub(crate) fn header_mut<const N: usize>(bytes: &mut [u8]) -> Result<&mut [u8; N], EmitError> {
    let have = bytes.len();
    bytes.first_chunk_mut::<N>().ok_or(EmitError::BufferTooSmall { need: N, have })
}

/// A field of `W` <= 64 bits that touches at most 8 bytes, which the layout guarantees.
#[inline(always)]
pub(crate) fn get<const OFFSET: usize, const W: usize>(b: &[u8]) -> u64 {
    let (first, last) = (OFFSET / 8, (OFFSET + W - 1) / 8);
    let mut value = 0u64;
    for byte in &b[first..=last] {
        value = value << 8 | u64::from(*byte);
    }
    value >> (7 - (OFFSET + W - 1) % 8) & mask::<W>()
}

/// Sets a field whose bits are still zero.
#[inline(always)]
pub(crate) fn put<const OFFSET: usize, const W: usize>(b: &mut [u8], value: u64, field: &'static str) -> Result<(), EmitError> {
    if value & !mask::<W>() != 0 {
        return Err(EmitError::ValueTooLarge { field, value });
    }
    let (first, last) = (OFFSET / 8, (OFFSET + W - 1) / 8);
    let mut rest = value << (7 - (OFFSET + W - 1) % 8);
    for byte in b[first..=last].iter_mut().rev() {
        *byte |= rest as u8;
        rest >>= 8;
    }
    Ok(())
}

#[inline(always)]
const fn mask<const W: usize>() -> u64 {
    if W >= 64 {
        u64::MAX
    } else {
        (1 << W) - 1
    }
}

#[inline(always)]
pub(crate) fn bytes<const OFFSET: usize, const N: usize>(b: &[u8]) -> [u8; N] {
    let mut out = [0; N];
    out.copy_from_slice(&b[OFFSET..OFFSET + N]);
    out
}

#[inline(always)]
pub(crate) fn put_bytes<const OFFSET: usize, const N: usize>(b: &mut [u8], value: &[u8; N]) {
    b[OFFSET..OFFSET + N].copy_from_slice(value);
}

/// A fixed value of the layout.
#[inline(always)]
pub(crate) fn expect(found: u64, value: u64, field: &'static str, offset: usize) -> Result<(), Mismatch> {
    if found == value {
        return Ok(());
    }
    Err(Mismatch { field, offset, found, expected: Expected::Exactly(value) })
}

/// A packet's value in the integer type of its field.
#[inline(always)]
pub(crate) fn fit<T: TryFrom<u64>>(value: u64, field: &'static str) -> Result<T, EmitError> {
    T::try_from(value).map_err(|_| EmitError::ValueTooLarge { field, value })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_bits_at_every_alignment() {
        fn one<const OFFSET: usize, const W: usize>() {
            for value in [0u64, 1, 0x5A5A_A5A5_1234_8765, u64::MAX] {
                let value = value & mask::<W>();
                let mut b = [0u8; 12];
                put::<OFFSET, W>(&mut b, value, "test").expect("fits");
                assert_eq!(get::<OFFSET, W>(&b), value);
                let number = b.iter().fold(0u128, |n, byte| n << 8 | u128::from(*byte));
                assert_eq!(number, u128::from(value) << (96 - OFFSET - W), "offset {OFFSET} width {W}");
            }
        }
        one::<0, 1>();
        one::<7, 1>();
        one::<3, 13>();
        one::<8, 64>();
        one::<9, 55>();
        one::<4, 60>();
        one::<90, 6>();
        one::<32, 24>();
    }

    #[test]
    fn a_value_too_large_is_refused() {
        let refused = put::<0, 4>(&mut [0; 1], 16, "T.x");
        assert_eq!(refused, Err(EmitError::ValueTooLarge { field: "T.x", value: 16 }));
    }
}
