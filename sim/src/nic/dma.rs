//! The host's side of the engine's four DMA ports: payload read and write, WQE read, CQE write.
//!
//! In: descriptors and data of the engine. Out: reads and writes of host memory with random latency and stalls.
//! Guarantees: data returns in the order of the descriptors; an access that the host does not allow is an error with its address.
use super::stream::{Descriptors, Names, Sink, Source};
use super::Host;
use crate::memory::OutsideMemory;
use crate::scenario::HostConfig;
use mrnic_verilated::{Dut, PortError};
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::VecDeque;

/// Reads that may be under way on one port.
const READS: usize = 64;

/// Holds a port up at random.
#[derive(Default)]
struct Stall {
    left: u32,
}

impl Stall {
    fn step(&mut self, config: &HostConfig, rng: &mut SmallRng) -> bool {
        if self.left > 0 {
            self.left -= 1;
        } else if config.stall > 0.0 && rng.random_bool(config.stall) {
            self.left = rng.random_range(1..=config.stall_cycles);
        }
        self.left > 0
    }
}

fn names(prefix: &str) -> [String; 4] {
    ["valid", "ready", "data", "last"].map(|n| format!("{prefix}_{n}"))
}

fn stream(n: &[String; 4], last: bool) -> Names<'_> {
    Names { valid: &n[0], ready: &n[1], data: &n[2], last: last.then_some(n[3].as_str()), keep: None }
}

/// A read port.
pub struct ReadPort {
    descriptors: Descriptors,
    data: Source,
    waiting: VecDeque<(u64, u64, usize)>,
    stalls: [Stall; 2],
}

impl ReadPort {
    /// The ports `prefix_desc_*` and `prefix_*`, with or without `prefix_last`.
    pub fn new(dut: &Dut, prefix: &str, last: bool) -> Result<Self, PortError> {
        Ok(Self {
            descriptors: Descriptors::new(dut, prefix)?,
            data: Source::new(dut, &stream(&names(prefix), last))?,
            waiting: VecDeque::new(),
            stalls: Default::default(),
        })
    }

    /// Sets the inputs of this cycle.
    pub fn drive<H: Host>(
        &mut self,
        now_ps: u64,
        memory: &mut H,
        config: &HostConfig,
        rng: &mut SmallRng,
    ) -> Result<(), OutsideMemory> {
        let [a, b] = &mut self.stalls;
        self.descriptors.drive(self.waiting.len() < READS && !a.step(config, rng));
        while let Some(&(at, addr, len)) = self.waiting.front() {
            if at > now_ps {
                break;
            }
            self.waiting.pop_front();
            self.data.push(memory.dma_read(addr, len)?);
        }
        self.data.drive(b.step(config, rng));
        Ok(())
    }

    /// Before the rising edge: the descriptor that is taken.
    pub fn sample(&mut self, now_ps: u64, config: &HostConfig, rng: &mut SmallRng) -> Option<(u64, usize)> {
        self.data.sample();
        let (addr, len) = self.descriptors.sample()?;
        let [least, most] = config.read_latency_ns;
        let at = now_ps + 1000 * rng.random_range(least..=most);
        let at = self.waiting.back().map_or(at, |w| at.max(w.0));
        self.waiting.push_back((at, addr, len));
        Some((addr, len))
    }

    /// Nothing is under way.
    pub fn idle(&self) -> bool {
        self.waiting.is_empty() && self.data.backlog() == 0
    }
}

/// A write port.
pub struct WritePort {
    descriptors: Descriptors,
    data: Sink,
    waiting: VecDeque<(u64, usize)>,
    complete: VecDeque<Vec<u8>>,
    stalls: [Stall; 2],
}

impl WritePort {
    /// The ports `prefix_desc_*` and `prefix_*`.
    pub fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        Ok(Self {
            descriptors: Descriptors::new(dut, prefix)?,
            data: Sink::new(dut, &stream(&names(prefix), true))?,
            waiting: VecDeque::new(),
            complete: VecDeque::new(),
            stalls: Default::default(),
        })
    }

    /// Sets the inputs of this cycle.
    pub fn drive(&mut self, config: &HostConfig, rng: &mut SmallRng) {
        let [a, b] = &mut self.stalls;
        self.descriptors.drive(self.waiting.len() < READS && !a.step(config, rng));
        self.data.drive(b.step(config, rng));
    }

    /// Before the rising edge: a write that is complete: address and bytes.
    pub fn sample(&mut self) -> Option<(u64, Vec<u8>)> {
        if let Some(d) = self.descriptors.sample() {
            self.waiting.push_back(d);
        }
        if let Some(p) = self.data.sample() {
            self.complete.push_back(p);
        }
        if self.waiting.is_empty() || self.complete.is_empty() {
            return None;
        }
        let (addr, len) = self.waiting.pop_front()?;
        let mut data = self.complete.pop_front()?;
        // the stream carries whole beats; a stream shorter than its descriptor shows as a short write and fails later checks
        data.truncate(len);
        Some((addr, data))
    }

    /// Nothing is under way.
    pub fn idle(&self) -> bool {
        self.waiting.is_empty() && self.complete.is_empty()
    }
}
