//! Awaited responses and signs of life (D8), and what hardware, which counts them beside the sender's steps, may have seen of them.
//!
//! In: the model after each step. Out: whether a path watched, and since when, as the RTL says. Guarantees: only what came, or ended, a short time
//! ago may be overlooked; nothing may be invented.
use crate::checker::Checker;
use crate::step::Step;
use mrnic_model::{Nic, OpenMr0, Stage, WatchSeen};
use std::collections::VecDeque;

/// Clocks from a step to the timer that looks at what it counted.
const OVERLOOKED_CYCLES: u64 = 2_000;

/// Of a connection: values and the cycles since which they hold, the latest last.
#[derive(Debug, Default, Clone)]
struct History<T>(VecDeque<(u64, T)>);

impl<T: Copy + PartialEq> History<T> {
    fn follow(&mut self, value: T, cycle: u64) {
        if self.0.back().is_none_or(|(_, last)| *last != value) {
            self.0.push_back((cycle, value));
        }
        // the value of OVERLOOKED_CYCLES ago, and all after it
        while self.0.get(1).is_some_and(|(since, _)| cycle - since > OVERLOOKED_CYCLES) {
            self.0.pop_front();
        }
    }

    fn held_lately(&self, value: T, cycle: u64) -> bool {
        let ended = |i: usize| self.0.get(i + 1).map_or(cycle, |(since, _)| *since);
        self.0.iter().enumerate().any(|(i, (_, v))| *v == value && cycle - ended(i) <= OVERLOOKED_CYCLES)
    }
}

/// See the module documentation.
#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Of each connection: the path that watches, the last sign of life.
    conns: Vec<(History<Option<u8>>, History<u32>)>,
}

impl Silence {
    /// After a step.
    pub fn follow(&mut self, model: &Nic<OpenMr0>, cycle: u64) {
        if model.config().stage != Stage::Full {
            return;
        }
        self.conns.resize(model.config().conns as usize, Default::default());
        for (conn, (watching, alive)) in self.conns.iter_mut().enumerate() {
            if let Ok(tx) = model.tx_conn(conn as u16) {
                watching.follow(model.watching_path(conn as u16), cycle);
                alive.follow(tx.responses.alive, cycle);
            }
        }
    }
}

impl Checker {
    /// D8: what a timer saw of its connection, if it may have.
    pub(crate) fn watch_seen(&self, s: &mut Step, conn: u16, path: u8) -> WatchSeen {
        let r = s.record;
        let seen = WatchSeen { watched: r.get("watched") == 1, alive: r.get("alive") as u32 };
        let (cycle, exact) = (r.cycle, self.model.watching_path(conn));
        let known = self.silence.conns.get(usize::from(conn));
        if seen.watched != (exact == Some(path)) {
            let lately = |value| known.is_some_and(|(watching, _)| watching.held_lately(value, cycle));
            let others = || (0..8).filter(|p| *p != path).map(Some).chain([None]);
            let overlooked = if seen.watched { lately(Some(path)) } else { others().any(lately) };
            if !overlooked {
                s.text("watched", seen.watched.to_string(), (exact == Some(path)).to_string());
            }
        }
        // of two signs in steps of two blocks, which overlap, the RTL takes the later one, the model the one that was committed last
        let may_be = |alive: &History<u32>| {
            [0, 1, u32::MAX].into_iter().any(|off| alive.held_lately(seen.alive.wrapping_add(off), cycle))
        };
        if seen.watched && !known.is_some_and(|(_, alive)| may_be(alive)) {
            let exact = self.model.tx_conn(conn).map_or(0, |tx| tx.responses.alive);
            s.text("alive", seen.alive.to_string(), exact.to_string());
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_held_a_short_time_ago_may_be_seen() {
        let mut history = History::default();
        assert!(!history.held_lately(7, 0));
        history.follow(7, 100);
        assert!(history.held_lately(7, 1_000_000), "it holds still");
        history.follow(8, 5_000);
        assert!(history.held_lately(8, 5_000) && history.held_lately(7, 7_000) && !history.held_lately(7, 7_001));
        assert!(!history.held_lately(9, 5_000), "it never held");
        history.follow(9, 5_100);
        history.follow(9, 50_000);
        assert!(history.held_lately(9, 50_000) && !history.held_lately(8, 50_000));
    }
}
