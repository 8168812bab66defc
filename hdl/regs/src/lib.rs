//! Registers, tables, rings and codes of the NIC, generated from one file, `map/nic.ron`.
//!
//! In: the register-map file (at build time). Out: constants for the HDL's decode, the driver and the simulator
//! ([`reg`], [`table`], [`ring`], [`counter`], [`code`]), and docs/registers.md ([`markdown`]).
//! Guarantees: nothing else in the project writes down an offset of a register, a table field or a ring entry.
pub mod map;
mod markdown;

pub use map::{Map, MapError};
pub use markdown::markdown;

/// The text of the map file this crate was built from.
pub const SOURCE: &str = include_str!("../map/nic.ron");

/// A bit field: `width` bits from bit `bit` (counted from bit 0 of word 0; may span 32-bit words).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    pub bit: usize,
    pub width: usize,
}

impl Field {
    /// The field's value in little-endian `words` (the low 64 bits of a wider field).
    pub fn get(&self, words: &[u32]) -> u64 {
        let mut v = 0u64;
        for i in 0..self.width.min(64) {
            let b = self.bit + i;
            if words[b / 32] >> (b % 32) & 1 == 1 {
                v |= 1 << i;
            }
        }
        v
    }

    /// Puts `value` into the field; bits of `value` beyond the width are dropped.
    pub fn set(&self, words: &mut [u32], value: u128) {
        for i in 0..self.width {
            let b = self.bit + i;
            let bit = if i < 128 { (value >> i & 1) as u32 } else { 0 };
            words[b / 32] = words[b / 32] & !(1 << (b % 32)) | bit << (b % 32);
        }
    }

    /// Byte offset of a field that starts at a byte boundary.
    pub const fn byte(&self) -> usize {
        assert!(self.bit.is_multiple_of(8), "the field does not start at a byte");
        self.bit / 8
    }
}

include!(concat!(env!("OUT_DIR"), "/map.rs"));
