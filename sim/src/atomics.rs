//! Atomics of a scenario: what each operation does, and what must have come of all of them.
//!
//! In: a transfer's messages and streams. Out: the operands of each message; a check of the values that came back and of those that are
//! left. Guarantees: the expectation comes from the order of the streams alone, not from the golden model.
use crate::memory::{HostMemory, OutsideMemory};
use rand::rngs::SmallRng;
use rand::Rng;
use thiserror::Error;

/// Bytes of an operand.
pub const WORD: u64 = 8;
/// Of so many compare-and-swaps one names a value that does not stand there.
const MISMATCH_EVERY: usize = 3;

/// What came of atomics that must not.
#[derive(Debug, Error)]
pub enum AtomicError {
    #[error("atomics check failed: node {node}, message {message} brought back {got:#018x} instead of {expected:#018x}")]
    Value { node: usize, message: usize, got: u64, expected: u64 },
    #[error(
        "atomics check failed: node {node}, {} values were brought back twice or never stood there, first {first:#018x}",
        count
    )]
    Order { node: usize, count: usize, first: u64 },
    #[error("atomics check failed: node {node}, word {word} is {got:#018x} in the end instead of {expected:#018x}")]
    Left { node: usize, word: usize, got: u64, expected: u64 },
    #[error("atomics check failed: node {node}, the value of message {message} was written {count} times")]
    Placement { node: usize, message: usize, count: u8 },
    #[error(transparent)]
    Memory(#[from] OutsideMemory),
}

/// One operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Word of the remote buffer.
    pub word: usize,
    pub swap_add: u64,
    pub compare: u64,
}

/// All atomics of a transfer.
#[derive(Debug, Clone)]
pub struct Atomics {
    /// Who asks, and where its values go.
    pub from: usize,
    pub local: u64,
    /// Whose words they are.
    pub to: usize,
    pub remote: u64,
    /// What each message brings back; of fetch-and-adds on a shared word in any order.
    values: Vec<u64>,
    any_order: bool,
    left: Vec<u64>,
    pub operations: Vec<Operation>,
    /// What stands in the words at first.
    pub start: Vec<u64>,
}

impl Atomics {
    /// Fetch-and-adds of all streams on one word.
    pub fn fetch_adds(messages: usize, rng: &mut SmallRng) -> Self {
        let (start, add): (u64, u64) = (rng.random(), rng.random::<u64>() | 1);
        let value = |n: usize| start.wrapping_add(add.wrapping_mul(n as u64));
        Self {
            values: (0..messages).map(value).collect(),
            any_order: true,
            left: vec![value(messages)],
            operations: vec![Operation { word: 0, swap_add: add, compare: 0 }; messages],
            start: vec![start],
            from: 0,
            local: 0,
            to: 0,
            remote: 0,
        }
    }

    /// Compare-and-swaps, each stream on a word of its own.
    pub fn compare_swaps(messages: usize, streams: usize, rng: &mut SmallRng) -> Self {
        let start: Vec<u64> = (0..streams).map(|_| rng.random()).collect();
        let mut words = start.clone();
        let (mut values, mut operations) = (Vec::new(), Vec::new());
        for m in 0..messages {
            let (word, swap) = (m % streams, rng.random());
            let before = words[word];
            let hits = (m / streams) % MISMATCH_EVERY != MISMATCH_EVERY - 1;
            values.push(before);
            operations.push(Operation { word, swap_add: swap, compare: if hits { before } else { !before } });
            words[word] = if hits { swap } else { before };
        }
        Self { values, any_order: false, left: words, operations, start, from: 0, local: 0, to: 0, remote: 0 }
    }

    /// Checks values and words at the end.
    pub fn verify(&self, asker: &HostMemory, owner: &HostMemory) -> Result<(), AtomicError> {
        let word = |memory: &HostMemory, at: u64| -> Result<u64, OutsideMemory> {
            let mut bytes = [0; WORD as usize];
            bytes.copy_from_slice(memory.read(at, WORD as usize)?);
            Ok(u64::from_le_bytes(bytes))
        };
        let counts = asker.write_counts(self.local).unwrap_or_default();
        if let Some(at) = counts.iter().position(|c| *c != 1) {
            return Err(AtomicError::Placement { node: self.from, message: at / WORD as usize, count: counts[at] });
        }
        let mut got = Vec::with_capacity(self.values.len());
        for m in 0..self.values.len() {
            got.push(word(asker, self.local + m as u64 * WORD)?);
        }
        if self.any_order {
            let (mut sorted, mut expected) = (got, self.values.clone());
            sorted.sort_unstable();
            expected.sort_unstable();
            let wrong: Vec<u64> = sorted.iter().zip(&expected).filter(|(a, b)| a != b).map(|(a, _)| *a).collect();
            if let Some(first) = wrong.first() {
                return Err(AtomicError::Order { node: self.from, count: wrong.len(), first: *first });
            }
        } else if let Some(message) = got.iter().zip(&self.values).position(|(a, b)| a != b) {
            let (got, expected) = (got[message], self.values[message]);
            return Err(AtomicError::Value { node: self.from, message, got, expected });
        }
        for (i, &expected) in self.left.iter().enumerate() {
            let got = word(owner, self.remote + i as u64 * WORD)?;
            if got != expected {
                return Err(AtomicError::Left { node: self.to, word: i, got, expected });
            }
        }
        Ok(())
    }
}
