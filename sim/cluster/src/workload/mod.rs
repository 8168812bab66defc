//! Who sends what to whom, and what must have arrived before.
//!
//! In: the `[workload]` table, notices of messages that were sent or received. Out: flows, and messages to post. A flow is one
//! direction of a pair of hosts, on which messages stay in order. Ranks are placed on hosts at random.
pub mod config;
mod flows;

use crate::network::config::NetworkConfig;
use crate::time::{Ps, PS_PER_US};
use crate::trace::{Progress, Trace};
pub use config::{BackgroundConfig, Pattern, Receiver, WorkloadConfig};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;

/// One direction of a pair of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Of each message; of a trace's flow, of all messages.
    pub bytes: u32,
    /// Messages in all, posted and received.
    pub total: u32,
    pub posted: u32,
    pub received: u32,
    /// Messages to post at the start.
    initial: u32,
    /// The flow that goes on with each message received here.
    successor: Option<u32>,
}

/// What is to be done now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// A message of `bytes` is posted on `flow`.
    Post { flow: u32, bytes: u32 },
    /// [`Workload::begin`] is called at `at`.
    Begin { at: Ps, token: u32 },
}

/// A workload that runs.
#[derive(Debug, Clone)]
pub struct Workload {
    /// The measured ones first.
    pub flows: Vec<Flow>,
    /// How many of them are measured.
    pub measured: usize,
    /// When and with what [`Workload::begin`] is called.
    pub starts: Vec<(Ps, u32)>,
    /// Payload of all measured messages.
    pub total_bytes: u64,
    /// What is to be done, in order.
    pub actions: VecDeque<Action>,
    missing: u64,
    trace: Option<Progress>,
    /// Tokens from here on are flows; those below are steps of the trace.
    flow_tokens: u32,
}

impl Workload {
    /// The flows of a checked configuration; `trace` belongs to the pattern of that name.
    pub fn new(config: &WorkloadConfig, network: &NetworkConfig, seed: u64, trace: Option<&Trace>) -> Self {
        let hosts = network.hosts;
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x3C_0A_D5_EE_D0);
        let mut rank: Vec<u32> = (0..hosts as u32).collect();
        rank.shuffle(&mut rng);
        let progress = trace.filter(|_| config.pattern == Pattern::Trace).map(Progress::new);
        let mut flows = match &progress {
            Some(progress) => progress.flows(&rank).map(|(src, dst, total)| flows::of_trace(src, dst, total)).collect(),
            None => flows::of_pattern(config, network, &rank),
        };
        let measured = flows.len();
        let spread = config.start_spread_us * PS_PER_US;
        let start = |flow| (if spread == 0 { 0 } else { rng.random_range(0..spread) }, flow);
        let mut starts: Vec<(Ps, u32)> = match &progress {
            Some(progress) => progress.roots().map(|node| (0, node)).collect(),
            None => (0..measured as u32).map(start).collect(),
        };
        let (missing, total_bytes) = match &progress {
            Some(progress) => (progress.left(), progress.bytes()),
            None => {
                let bytes = flows.iter().map(|f| u64::from(f.total) * u64::from(f.bytes)).sum();
                (flows.iter().map(|f| u64::from(f.total)).sum(), bytes)
            }
        };
        let flow_tokens = progress.as_ref().map_or(0, Progress::tokens);
        for background in &config.background {
            let first = flows.first().copied();
            let more = flows::of_background(background, network, first, &mut rng);
            starts.extend((0..more.len()).map(|i| (background.at_us * PS_PER_US, flow_tokens + (flows.len() + i) as u32)));
            flows.extend(more);
        }
        let actions = VecDeque::with_capacity(16);
        Workload { flows, measured, starts, total_bytes, actions, missing, trace: progress, flow_tokens }
    }

    /// A flow begins; or, of a trace, something that took its time is done.
    pub fn begin(&mut self, now: Ps, token: u32) {
        if let (Some(trace), true) = (&mut self.trace, token < self.flow_tokens) {
            trace.begin(now, token, &mut self.actions);
            self.missing = trace.left();
            return;
        }
        let flow = token - self.flow_tokens;
        let f = &mut self.flows[flow as usize];
        f.posted += f.initial;
        self.actions.extend(std::iter::repeat_n(Action::Post { flow, bytes: f.bytes }, f.initial as usize));
    }

    /// The oldest message of `flow` was acknowledged.
    pub fn sent(&mut self, now: Ps, flow: u32) {
        if let (Some(trace), true) = (&mut self.trace, (flow as usize) < self.measured) {
            trace.sent(now, flow, &mut self.actions);
            self.missing = trace.left();
            return;
        }
        let f = &mut self.flows[flow as usize];
        if f.successor.is_none() && f.initial > 0 && f.posted < f.total {
            f.posted += 1;
            self.actions.push_back(Action::Post { flow, bytes: f.bytes });
        }
    }

    /// The next message of `flow` was received. What follows from it is posted where it was received.
    pub fn received(&mut self, now: Ps, flow: u32) {
        let f = &mut self.flows[flow as usize];
        f.received += 1;
        if (flow as usize) >= self.measured {
            return;
        }
        if let Some(trace) = &mut self.trace {
            trace.received(now, flow, &mut self.actions);
            self.missing = trace.left();
            return;
        }
        self.missing -= 1;
        let Some(next) = f.successor else { return };
        let f = &mut self.flows[next as usize];
        if f.posted < f.total {
            f.posted += 1;
            self.actions.push_back(Action::Post { flow: next, bytes: f.bytes });
        }
    }

    /// Every measured message was received, and everything else of a trace is done.
    pub fn is_done(&self) -> bool {
        self.missing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pattern: Pattern, bytes: u64) -> WorkloadConfig {
        WorkloadConfig::new(pattern, bytes)
    }

    /// Delivers every posted message at once, in order of posting.
    fn run(w: &mut Workload) -> Vec<u32> {
        let mut order = Vec::new();
        for (at, token) in w.starts.clone() {
            w.begin(at, token);
        }
        while let Some(action) = w.actions.pop_front().filter(|_| !w.is_done()) {
            let Action::Post { flow, .. } = action else { continue };
            order.push(flow);
            w.received(0, flow);
            w.sent(0, flow);
        }
        order
    }

    #[test]
    fn every_pattern_ends_with_all_its_messages() {
        let network = NetworkConfig { hosts: 16, ..NetworkConfig::default() };
        let expected = [
            (Pattern::Pair, 1, 1),
            (Pattern::Permutation, 16, 1),
            (Pattern::Incast, 15, 1),
            (Pattern::AllToAll, 240, 1),
            (Pattern::RingAllReduce, 16, 30),
            (Pattern::DoublingAllReduce, 64, 1),
        ];
        for (pattern, flows, each) in expected {
            let c = config(pattern, 1 << 20);
            c.check(&network).unwrap();
            let mut w = Workload::new(&c, &network, 1, None);
            assert_eq!(w.flows.len(), flows, "{pattern:?}");
            let order = run(&mut w);
            assert!(w.is_done() && order.len() == flows * each, "{pattern:?}");
            assert!(w.flows.iter().all(|f| f.received == each as u32 && f.src != f.dst));
        }
        let mut many = Workload::new(&WorkloadConfig { messages: 7, ..config(Pattern::Pair, 4096) }, &network, 1, None);
        assert_eq!(run(&mut many).len(), 7);
    }

    #[test]
    fn a_ring_step_waits_for_the_one_before() {
        let network = NetworkConfig { hosts: 4, ..NetworkConfig::default() };
        let mut w = Workload::new(&config(Pattern::RingAllReduce, 4000), &network, 1, None);
        for flow in 0..4 {
            assert_eq!(w.flows[flow as usize].bytes, 1000);
            w.begin(0, flow);
        }
        assert_eq!(std::mem::take(&mut w.actions).len(), 4);
        w.received(0, 0);
        assert_eq!(w.actions.pop_front(), Some(Action::Post { flow: 1, bytes: 1000 }));
        w.sent(0, 0);
        assert_eq!((w.actions.pop_front(), w.flows[1].posted), (None, 2));
    }

    #[test]
    fn a_background_goes_on_until_the_workload_is_done_and_a_neighbour_leaves_its_flow_alone() {
        let network = NetworkConfig { hosts: 16, hosts_per_leaf: 4, spines: 4, ..NetworkConfig::default() };
        let incast = BackgroundConfig {
            pattern: Pattern::Incast,
            bytes: 1000,
            messages: None,
            depth: 2,
            fan_in: Some(13),
            at_us: 5,
            receiver: Receiver::Neighbour,
        };
        let c = WorkloadConfig { messages: 50, background: vec![incast], ..config(Pattern::Pair, 4096) };
        c.check(&network).unwrap();
        for seed in 1..20 {
            let mut w = Workload::new(&c, &network, seed, None);
            assert_eq!((w.flows.len(), w.measured, w.total_bytes), (14, 1, 50 * 4096));
            let (first, receiver) = (w.flows[0], w.flows[1].dst);
            assert!(receiver / 4 == first.dst / 4 && receiver != first.dst);
            let apart = |f: &Flow| ![first.src, first.dst, receiver].contains(&f.src) && f.dst == receiver;
            assert!(w.flows[1..].iter().all(apart), "{:?}", w.flows);
            assert_eq!(w.starts[1], (5 * PS_PER_US, 1));
            let order = run(&mut w);
            assert_eq!(order.iter().filter(|&&flow| flow == 0).count(), 50);
            assert!(order.iter().filter(|&&flow| flow == 5).count() > 20);
        }
    }
}
