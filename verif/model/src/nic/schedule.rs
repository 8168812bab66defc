//! When the autonomous driver has to look at something: a heap of times with at most one valid entry for each thing.
//! In: things and ticks. Out: the next tick, and what is due. Moving a time later costs nothing until it is reached.

use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

use crate::config::{NicConfig, PATHS_MAX};
use crate::seq::Tick;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timer {
    TxPath {
        conn: u16,
        path: u8,
    },
    RxPath {
        conn: u16,
        path: u8,
    },
    Pacer {
        conn: u16,
    },
    /// N2: a QP of the connection waits.
    Rnr {
        conn: u16,
    },
    Epoch,
}

const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub struct Schedule {
    /// Ticks since the start, without wrap.
    now: u64,
    last: Option<Tick>,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    /// Time of the valid entry of each thing.
    armed: Vec<u64>,
    conns: u32,
}

impl Schedule {
    pub fn new(config: &NicConfig) -> Self {
        let slots = config.conns as usize * (2 * PATHS_MAX + 2) + 1;
        Schedule {
            now: 0,
            last: None,
            heap: BinaryHeap::with_capacity(256),
            armed: alloc::vec![NEVER; slots],
            conns: config.conns,
        }
    }

    fn slot(&self, timer: Timer) -> u32 {
        let paths = PATHS_MAX as u32;
        match timer {
            Timer::TxPath { conn, path } => u32::from(conn) * paths + u32::from(path),
            Timer::RxPath { conn, path } => (self.conns + u32::from(conn)) * paths + u32::from(path),
            Timer::Pacer { conn } => 2 * self.conns * paths + u32::from(conn),
            Timer::Rnr { conn } => 2 * self.conns * paths + self.conns + u32::from(conn),
            Timer::Epoch => 2 * self.conns * paths + 2 * self.conns,
        }
    }

    fn timer(&self, slot: u32) -> Timer {
        let paths = PATHS_MAX as u32;
        let (tx, rx) = (self.conns * paths, 2 * self.conns * paths);
        if slot < tx {
            Timer::TxPath { conn: (slot / paths) as u16, path: (slot % paths) as u8 }
        } else if slot < rx {
            Timer::RxPath { conn: ((slot - tx) / paths) as u16, path: (slot % paths) as u8 }
        } else if slot < rx + self.conns {
            Timer::Pacer { conn: (slot - rx) as u16 }
        } else if slot < rx + 2 * self.conns {
            Timer::Rnr { conn: (slot - rx - self.conns) as u16 }
        } else {
            Timer::Epoch
        }
    }

    /// The time is `now`; an older one changes nothing.
    pub fn advance(&mut self, now: Tick) {
        let last = *self.last.get_or_insert(now);
        let step = now.wrapping_sub(last);
        if step < 1 << 31 {
            self.now += u64::from(step);
            self.last = Some(now);
        }
    }

    /// Looks at `timer` at `at` or earlier. A time in the past means the next tick.
    pub fn arm(&mut self, timer: Timer, at: Tick) {
        let ahead = at.wrapping_sub(self.last.unwrap_or(at)) as i32;
        let time = self.now + ahead.max(1) as u64;
        let slot = self.slot(timer);
        let armed = &mut self.armed[slot as usize];
        if time < *armed {
            *armed = time;
            self.heap.push(Reverse((time, slot)));
        }
    }

    /// The next thing that is due.
    pub fn pop_due(&mut self) -> Option<Timer> {
        while let Some(Reverse((time, slot))) = self.heap.peek().copied() {
            if time > self.now {
                return None;
            }
            self.heap.pop();
            if self.armed[slot as usize] == time {
                self.armed[slot as usize] = NEVER;
                return Some(self.timer(slot));
            }
        }
        None
    }

    /// The next tick at which something may be due.
    pub fn next(&self) -> Option<Tick> {
        let Reverse((time, _)) = self.heap.peek()?;
        let ahead = time.saturating_sub(self.now).min(1 << 30) as u32;
        Some(self.last?.wrapping_add(ahead))
    }

    /// Whether `timer` will be looked at.
    pub fn is_armed(&self, timer: Timer) -> bool {
        self.armed[self.slot(timer) as usize] != NEVER
    }
}
