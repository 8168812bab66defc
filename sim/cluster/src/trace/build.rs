//! Steps and what waits for what, while a trace is put together.
//!
//! In: steps, messages, dependencies. Out: a [`Trace`], or the step that waits for itself.
use super::{Kind, Trace};
use std::collections::BTreeMap;

/// A trace that grows.
#[derive(Debug, Default)]
pub struct Builder {
    kinds: Vec<Kind>,
    waits: Vec<u32>,
    /// Pairs (before, after).
    edges: Vec<(u32, u32)>,
    flows: Vec<(u32, u32, u32)>,
    by_ranks: BTreeMap<(u32, u32), u32>,
    bytes: u64,
}

impl Builder {
    /// A step that takes `ps`.
    pub fn time(&mut self, ps: u64) -> u32 {
        self.kinds.push(Kind::Time(ps));
        self.waits.push(0);
        self.kinds.len() as u32 - 1
    }

    /// A message from rank to rank: the step that posts it, and the one that is done when it was received.
    pub fn message(&mut self, from: u32, to: u32, bytes: u32) -> (u32, u32) {
        let flow = *self.by_ranks.entry((from, to)).or_insert_with(|| {
            self.flows.push((from, to, 0));
            self.flows.len() as u32 - 1
        });
        self.flows[flow as usize].2 += 1;
        self.bytes += u64::from(bytes);
        let arrival = self.time(0);
        self.waits[arrival as usize] = 1;
        self.kinds.push(Kind::Message { flow, bytes, arrival });
        self.waits.push(0);
        (self.kinds.len() as u32 - 1, arrival)
    }

    /// `after` waits for `before`.
    pub fn edge(&mut self, before: u32, after: u32) {
        self.edges.push((before, after));
        self.waits[after as usize] += 1;
    }

    pub fn steps(&self) -> usize {
        self.kinds.len()
    }

    /// The whole; or a step that can never start.
    pub fn build(mut self) -> Result<Trace, u32> {
        self.edges.sort_unstable();
        let mut first = vec![0u32; self.kinds.len() + 1];
        for (before, _) in &self.edges {
            first[*before as usize + 1] += 1;
        }
        for i in 1..first.len() {
            first[i] += first[i - 1];
        }
        let next: Vec<u32> = self.edges.iter().map(|(_, after)| *after).collect();
        let trace = Trace { kinds: self.kinds, waits: self.waits, first, next, flows: self.flows, bytes: self.bytes };
        match stuck(&trace) {
            None => Ok(trace),
            Some(step) => Err(step),
        }
    }
}

/// A step that is never reached although every message arrives.
fn stuck(trace: &Trace) -> Option<u32> {
    let mut waits = trace.waits.clone();
    let mut ready: Vec<u32> = (0..waits.len() as u32).filter(|&s| waits[s as usize] == 0).collect();
    let mut reached = ready.len();
    while let Some(step) = ready.pop() {
        let arrival = match trace.kinds[step as usize] {
            Kind::Message { arrival, .. } => Some(arrival),
            Kind::Time(_) => None,
        };
        let range = trace.first[step as usize] as usize..trace.first[step as usize + 1] as usize;
        for &after in trace.next[range].iter().chain(&arrival) {
            waits[after as usize] -= 1;
            if waits[after as usize] == 0 {
                reached += 1;
                ready.push(after);
            }
        }
    }
    (reached < waits.len()).then(|| waits.iter().position(|&w| w > 0).unwrap_or(0) as u32)
}
