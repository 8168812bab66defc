//! CRC-32 as XOR sets, from which hardware is built: the register after N data bits as a function of register and data.
//! In: the data width. Out: for each register bit the register bits and data bits whose XOR it becomes.
//!
//! Bit order: register bit i is bit i of the reflected CRC register (as in `crc32fast`, before the final inversion; it starts
//! as all ones). Data bit k is bit `k % 8` of byte `k / 8`, bit 0 the least significant, byte 0 first on the wire: exactly
//! `tdata[k]` of an AXI-Stream. The CRC is the inverted register; its byte 0 (bits 7..0) is sent first.

use crate::icrc::advance_byte;
use alloc::vec::Vec;

/// XOR sets of one step of the register.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrcMatrix {
    pub width_bits: usize,
    /// One for each of the 32 register bits.
    pub rows: Vec<CrcRow>,
}

/// What one register bit becomes: the XOR of these bits, in ascending order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CrcRow {
    pub state: Vec<usize>,
    pub data: Vec<usize>,
}

/// The matrix of `width_bits` data bits, taken in one step. Widths are whole bytes (32, 64, 128, 256, 512 ...); a width that is
/// not is rounded down, so that the tail of a packet uses the matrix of its own width.
pub fn crc32_matrix(width_bits: usize) -> CrcMatrix {
    let bytes = width_bits / 8;
    let mut rows = Vec::new();
    rows.resize(32, CrcRow::default());
    // The step is linear: where each single bit goes says everything.
    for bit in 0..32 {
        for_each_one(advance_zeros(1 << bit, bytes), |row| rows[row].state.push(bit));
    }
    for byte in 0..bytes {
        for bit in 0..8 {
            let after = advance_zeros(advance_byte(0, 1 << bit), bytes - byte - 1);
            for_each_one(after, |row| rows[row].data.push(byte * 8 + bit));
        }
    }
    CrcMatrix { width_bits: bytes * 8, rows }
}

fn advance_zeros(state: u32, bytes: usize) -> u32 {
    (0..bytes).fold(state, |state, _| advance_byte(state, 0))
}

fn for_each_one(bits: u32, mut f: impl FnMut(usize)) {
    (0..32).filter(|i| bits >> i & 1 == 1).for_each(&mut f);
}

impl CrcMatrix {
    /// The register after one step, as the hardware computes it. `data` holds `width_bits / 8` bytes in wire order; missing
    /// bytes count as zero.
    pub fn apply(&self, state: u32, data: &[u8]) -> u32 {
        let data_bit = |k: usize| data.get(k / 8).is_some_and(|byte| byte >> (k % 8) & 1 == 1);
        self.rows.iter().enumerate().fold(0, |next, (i, row)| {
            let from_state = row.state.iter().filter(|j| state >> **j & 1 == 1).count();
            let from_data = row.data.iter().filter(|k| data_bit(**k)).count();
            next | ((from_state + from_data) as u32 & 1) << i
        })
    }
}
