//! The event queue: what happens next.
//!
//! In: events with their time, never earlier than the last one taken. Out: the earliest; of several at one time the one that
//! was put in first. Three implementations: a calendar queue (the one in use), a radix heap and a binary heap;
//! `examples/queue_rate.rs` measures them, and others, on whole simulations.
pub mod calendar;

use crate::time::Ps;
use radix_heap::RadixHeapMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

pub use calendar::CalendarQueue;

/// Something that happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Event {
    /// The last bit of a packet arrives at the end of a link.
    Arrive { flight: u32 },
    /// A port of a node may have room again.
    Port { node: u32 },
    /// Timers of a node's endpoint are due.
    Timer { node: u32 },
    /// The workload's own times: a flow begins.
    Start { token: u32 },
    /// With flow control: a transmission ends.
    Left { link: u32 },
    /// With flow control: a pause, or its end, arrives.
    Pause { code: u32 },
    /// A link dies or comes back.
    Fault { index: u32 },
    /// Time to look at queues and rates.
    Sample,
}

/// Takes events out in the order of their times.
pub trait EventQueue: Default {
    fn push(&mut self, at: Ps, event: Event);
    fn pop(&mut self) -> Option<(Ps, Event)>;
}

/// A monotone radix heap.
pub struct RadixQueue {
    heap: RadixHeapMap<Reverse<u128>, Event>,
    order: u64,
}

impl Default for RadixQueue {
    fn default() -> Self {
        RadixQueue { heap: RadixHeapMap::new(), order: 0 }
    }
}

impl EventQueue for RadixQueue {
    fn push(&mut self, at: Ps, event: Event) {
        self.order += 1;
        self.heap.push(Reverse(u128::from(at) << 64 | u128::from(self.order)), event);
    }

    fn pop(&mut self) -> Option<(Ps, Event)> {
        self.heap.pop().map(|(Reverse(key), event)| ((key >> 64) as u64, event))
    }
}

/// The standard library's heap.
#[derive(Default)]
pub struct BinaryQueue {
    heap: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    order: u64,
}

impl EventQueue for BinaryQueue {
    fn push(&mut self, at: Ps, event: Event) {
        self.order += 1;
        self.heap.push(Reverse((at, self.order, event)));
    }

    fn pop(&mut self) -> Option<(Ps, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Times of a network: now, a little later, much later.
    fn order(queue: &mut impl EventQueue) -> Vec<(Ps, Event)> {
        let mut taken = Vec::new();
        let mut state = 1u64;
        for flight in 0..50 {
            queue.push(0, Event::Arrive { flight });
        }
        while let Some((at, event)) = queue.pop() {
            taken.push((at, event));
            if taken.len() < 2000 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                // the last two: at the end of the calendar's days, and far beyond them
                let far = 134_000_000 + (state >> 32) % 400_000;
                let ahead = [0, 1, 83_200, 665_600, 100_000_000, far, 134_217_728, 9_000_000_000][(state >> 61) as usize];
                queue.push(at + ahead, Event::Port { node: taken.len() as u32 });
            }
        }
        taken
    }

    #[test]
    fn all_queues_give_the_same_order_and_ties_keep_theirs() {
        let calendar = order(&mut CalendarQueue::default());
        assert_eq!(calendar, order(&mut RadixQueue::default()));
        assert_eq!(calendar, order(&mut BinaryQueue::default()));
        assert!(calendar.is_sorted_by_key(|(at, _)| *at));
        let first: Vec<_> = calendar.iter().take(50).map(|(_, e)| *e).collect();
        assert_eq!(first, (0..50).map(|flight| Event::Arrive { flight }).collect::<Vec<_>>());
    }
}
