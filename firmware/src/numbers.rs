//! Connection numbers and random numbers.
//! In: a seed. Out: the number that was not in use for the longest time (H1), so that a stale packet meets a closed one; SplitMix64.

use alloc::collections::VecDeque;

/// Numbers that are free, the longest unused first.
#[derive(Debug)]
pub struct Numbers {
    free: VecDeque<u16>,
}

impl Numbers {
    pub fn new(count: u16) -> Self {
        Numbers { free: (0..count).collect() }
    }

    pub fn take(&mut self) -> Option<u16> {
        self.free.pop_front()
    }

    pub fn give(&mut self, number: u16) {
        self.free.push_back(number);
    }
}

/// SplitMix64: a small generator with a full period; statistical quality is all that is asked of it here.
#[derive(Debug)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut x = self.0;
        x = (x ^ x >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        x = (x ^ x >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        x ^ x >> 31
    }
}
