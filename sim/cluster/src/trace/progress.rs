//! A trace that runs: which steps may start.
//!
//! In: messages that were sent or received, times that are over. Out: messages to post and times to wait.
use super::{Kind, Trace};
use crate::time::Ps;
use crate::workload::Action;
use std::collections::VecDeque;

/// How far a trace is.
#[derive(Debug, Clone)]
pub struct Progress {
    trace: Trace,
    waits: Vec<u32>,
    /// Times and arrivals that are not yet over: a message counts by its arrival.
    left: u64,
    /// Messages of each flow that were posted: not yet acknowledged, not yet received.
    posted: Vec<[VecDeque<u32>; 2]>,
    /// Steps that are done; what waits for them is looked at next.
    done: Vec<u32>,
}

const SENT: usize = 0;
const RECEIVED: usize = 1;

impl Progress {
    pub fn new(trace: &Trace) -> Self {
        let waits = trace.waits.clone();
        let left = trace.kinds.iter().filter(|kind| matches!(kind, Kind::Time(_))).count() as u64;
        Progress { waits, left, posted: vec![Default::default(); trace.flows.len()], done: Vec::new(), trace: trace.clone() }
    }

    /// Hosts and number of messages of each flow.
    pub fn flows<'a>(&'a self, rank: &'a [u32]) -> impl Iterator<Item = (u32, u32, u32)> + 'a {
        self.trace.flows.iter().map(|&(from, to, total)| (rank[from as usize], rank[to as usize], total))
    }

    /// Steps that wait for nothing.
    pub fn roots(&self) -> impl Iterator<Item = u32> + '_ {
        self.waits.iter().enumerate().filter(|(_, &w)| w == 0).map(|(step, _)| step as u32)
    }

    /// Tokens of [`Progress::begin`] are below this.
    pub fn tokens(&self) -> u32 {
        2 * self.trace.kinds.len() as u32
    }

    /// What is not done, messages by their arrival; 0 at the end.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Payload of all messages.
    pub fn bytes(&self) -> u64 {
        self.trace.bytes
    }

    /// A root starts (it is called with its own number), or the time of a step is over (with the number after all steps).
    pub fn begin(&mut self, now: Ps, token: u32, actions: &mut VecDeque<Action>) {
        let steps = self.trace.kinds.len() as u32;
        match token.checked_sub(steps) {
            Some(step) => self.finish(now, step, actions),
            None => {
                self.start(now, token, actions);
                self.follow(now, actions);
            }
        }
    }

    /// The oldest message of `flow` was acknowledged.
    pub fn sent(&mut self, now: Ps, flow: u32, actions: &mut VecDeque<Action>) {
        if let Some(step) = self.posted[flow as usize][SENT].pop_front() {
            self.finish(now, step, actions);
        }
    }

    /// The next message of `flow` was received.
    pub fn received(&mut self, now: Ps, flow: u32, actions: &mut VecDeque<Action>) {
        if let Some(arrival) = self.posted[flow as usize][RECEIVED].pop_front() {
            self.release(now, arrival, actions);
            self.follow(now, actions);
        }
    }

    fn start(&mut self, now: Ps, step: u32, actions: &mut VecDeque<Action>) {
        match self.trace.kinds[step as usize] {
            Kind::Time(0) => self.done.push(step),
            Kind::Time(ps) => actions.push_back(Action::Begin { at: now + ps, token: self.trace.kinds.len() as u32 + step }),
            Kind::Message { flow, bytes, arrival } => {
                let [sent, received] = &mut self.posted[flow as usize];
                sent.push_back(step);
                received.push_back(arrival);
                actions.push_back(Action::Post { flow, bytes });
            }
        }
    }

    fn release(&mut self, now: Ps, step: u32, actions: &mut VecDeque<Action>) {
        let waits = &mut self.waits[step as usize];
        *waits = waits.saturating_sub(1);
        if *waits == 0 {
            self.start(now, step, actions);
        }
    }

    fn finish(&mut self, now: Ps, step: u32, actions: &mut VecDeque<Action>) {
        self.done.push(step);
        self.follow(now, actions);
    }

    fn follow(&mut self, now: Ps, actions: &mut VecDeque<Action>) {
        while let Some(step) = self.done.pop() {
            self.left -= u64::from(matches!(self.trace.kinds[step as usize], Kind::Time(_)));
            let (from, to) = (self.trace.first[step as usize], self.trace.first[step as usize + 1]);
            for i in from..to {
                let after = self.trace.next[i as usize];
                self.release(now, after, actions);
            }
        }
    }
}
