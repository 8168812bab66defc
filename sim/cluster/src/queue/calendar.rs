//! A calendar queue: a day for each 8 ns, in which events lie unsorted until the day comes.
//!
//! In and out: as the trait says. The days of the next 134 us are lists in one array whose places are used again, so what is
//! touched is as small as the number of events that wait; later events are in a heap. Today's events are sorted once.
use super::{Event, EventQueue};
use crate::time::Ps;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A day is 2^13 ps.
const DAY_LOG2: u32 = 13;
const DAYS: usize = 1 << 14;
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy)]
struct Entry {
    at: Ps,
    order: u64,
    event: Event,
}

impl Entry {
    fn key(&self) -> (Ps, u64) {
        (self.at, self.order)
    }
}

/// The queue.
pub struct CalendarQueue {
    /// Events of the coming days, each with the next of its day.
    entries: Vec<(Entry, u32)>,
    free: u32,
    /// First event of each day.
    days: Vec<u32>,
    /// A bit for each day that has events.
    full: Vec<u64>,
    waiting: usize,
    /// The day that `today` is.
    day: u64,
    /// The last is the next.
    today: Vec<Entry>,
    /// Beyond the days.
    late: BinaryHeap<Reverse<(Ps, u64, Event)>>,
    order: u64,
}

impl Default for CalendarQueue {
    fn default() -> Self {
        CalendarQueue {
            entries: Vec::new(),
            free: NONE,
            days: vec![NONE; DAYS],
            full: vec![0; DAYS / 64],
            waiting: 0,
            day: 0,
            today: Vec::new(),
            late: BinaryHeap::new(),
            order: 0,
        }
    }
}

impl CalendarQueue {
    fn put(&mut self, day: u64, entry: Entry) {
        let slot = day as usize % DAYS;
        let next = std::mem::replace(&mut self.days[slot], self.free);
        if self.free == NONE {
            self.days[slot] = self.entries.len() as u32;
            self.entries.push((entry, next));
        } else {
            let place = &mut self.entries[self.free as usize];
            self.free = place.1;
            *place = (entry, next);
        }
        self.full[slot / 64] |= 1 << (slot % 64);
        self.waiting += 1;
    }

    /// The first day after `day` that has events. Call it only if one has.
    fn next_day(&self) -> u64 {
        let from = (self.day as usize + 1) % DAYS;
        let word = from / 64;
        let words = self.full.len();
        let masked = |i: usize| match i {
            0 => self.full[word] & (!0 << (from % 64)),
            _ => self.full[(word + i) % words],
        };
        let found = (0..=words).find(|&i| masked(i) != 0).unwrap_or(0);
        let slot = (word + found) % words * 64 + masked(found).trailing_zeros() as usize;
        self.day + 1 + ((slot + DAYS - from) % DAYS) as u64
    }

    /// Makes the next day that has events today.
    fn turn(&mut self) -> bool {
        let late = self.late.peek().map(|Reverse((at, ..))| at >> DAY_LOG2);
        let listed = (self.waiting > 0).then(|| self.next_day());
        let Some(day) = listed.into_iter().chain(late).min() else { return false };
        self.day = day;
        let slot = day as usize % DAYS;
        if listed == Some(day) {
            let mut at = std::mem::replace(&mut self.days[slot], NONE);
            self.full[slot / 64] &= !(1 << (slot % 64));
            while at != NONE {
                let (entry, next) = self.entries[at as usize];
                self.entries[at as usize].1 = self.free;
                self.free = at;
                self.today.push(entry);
                self.waiting -= 1;
                at = next;
            }
        }
        while let Some(&Reverse((at, order, event))) = self.late.peek() {
            if at >> DAY_LOG2 > day {
                break;
            }
            self.late.pop();
            self.today.push(Entry { at, order, event });
        }
        self.today.sort_unstable_by_key(|e| Reverse(e.key()));
        true
    }
}

impl EventQueue for CalendarQueue {
    fn push(&mut self, at: Ps, event: Event) {
        self.order += 1;
        let entry = Entry { at, order: self.order, event };
        let day = at >> DAY_LOG2;
        if day <= self.day {
            let place = self.today.partition_point(|e| e.key() > entry.key());
            self.today.insert(place, entry);
        } else if day < self.day + DAYS as u64 {
            self.put(day, entry);
        } else {
            self.late.push(Reverse((at, entry.order, event)));
        }
    }

    fn pop(&mut self) -> Option<(Ps, Event)> {
        if self.today.is_empty() && !self.turn() {
            return None;
        }
        self.today.pop().map(|e| (e.at, e.event))
    }
}
