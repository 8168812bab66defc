//! Who sends what to whom, and what must have arrived before.
//!
//! In: the `[workload]` table, notices of messages that were sent or received. Out: flows and messages to post. A flow is one
//! direction of a pair of hosts; its messages have one size. Ranks are placed on hosts at random.
use crate::network::config::{refuse, ConfigFault, NetworkConfig};
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Pattern of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One host to one in another leaf (if there is one).
    Pair,
    /// Every host to one other host.
    Permutation,
    /// `fan_in` hosts to one.
    Incast,
    /// Every host to every other; `bytes` are those of a host, to all others together.
    AllToAll,
    /// Ring All-Reduce of `bytes`: 2 (n - 1) steps of bytes / n.
    RingAllReduce,
    /// Recursive-doubling All-Reduce: log2 n exchanges of all `bytes`.
    DoublingAllReduce,
}

/// The `[workload]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    pub pattern: Pattern,
    /// Payload, as the pattern says; else of each message.
    pub bytes: u64,
    /// Messages of each flow, one after the other.
    #[serde(default = "one")]
    pub messages: u32,
    /// Messages of a flow that are posted at a time.
    #[serde(default = "two")]
    pub depth: u32,
    /// Senders of an incast; absent: all other hosts.
    pub fan_in: Option<usize>,
    /// Flows begin at random times within this.
    #[serde(default)]
    pub start_spread_us: u64,
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

/// Longest message: W1 of docs/protocol.md.
const MESSAGE_BYTES_MAX: u64 = 1 << 31;

impl WorkloadConfig {
    /// Checks every value against the network. Keys are those of the `[workload]` table.
    pub fn check(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        if self.bytes == 0 {
            return refuse("bytes", 0, "nothing is sent", "choose at least 1");
        }
        if self.messages == 0 || self.depth == 0 {
            let key = if self.messages == 0 { "messages" } else { "depth" };
            return refuse(key, 0, "nothing is sent", "choose at least 1");
        }
        if self.message_bytes(network.hosts) > MESSAGE_BYTES_MAX {
            return refuse("bytes", self.bytes, "a message would be longer than 2^31 bytes", "use several messages");
        }
        let hosts = network.hosts as u64;
        let parts = match self.pattern {
            Pattern::AllToAll => hosts - 1,
            Pattern::RingAllReduce => hosts,
            _ => 1,
        };
        if self.bytes < parts {
            let remedy = format!("choose at least {parts}, a byte for each of the parts it is cut into");
            return refuse("bytes", self.bytes, "fewer than parts", &remedy);
        }
        if self.pattern == Pattern::DoublingAllReduce && !network.hosts.is_power_of_two() {
            return refuse(
                "pattern",
                "doubling-all-reduce",
                "needs a power of two of hosts",
                "set network.hosts to 64 for example",
            );
        }
        let collective = matches!(self.pattern, Pattern::RingAllReduce | Pattern::DoublingAllReduce);
        if collective && (self.messages > 1 || self.start_spread_us > 0) {
            let key = if self.messages > 1 { "messages" } else { "start_spread_us" };
            return refuse(key, self.messages, "an All-Reduce has its own order", "leave it out");
        }
        match self.fan_in {
            Some(_) if self.pattern != Pattern::Incast => {
                refuse("fan_in", self.fan_in.unwrap_or(0), "means something for an incast only", "leave it out")
            }
            Some(n) if n == 0 || n >= network.hosts => {
                let remedy = format!("choose from 1 to {}, the other hosts", network.hosts - 1);
                refuse("fan_in", n, "not a number of senders", &remedy)
            }
            _ => Ok(()),
        }
    }

    fn message_bytes(&self, hosts: usize) -> u64 {
        match self.pattern {
            Pattern::AllToAll => self.bytes.div_ceil(hosts as u64 - 1),
            Pattern::RingAllReduce => self.bytes.div_ceil(hosts as u64),
            _ => self.bytes,
        }
    }
}

/// One direction of a pair of hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flow {
    pub src: u32,
    pub dst: u32,
    /// Messages in all, posted and received.
    pub total: u32,
    pub posted: u32,
    pub received: u32,
    /// Messages to post at the start.
    initial: u32,
    /// The flow that goes on with each message received here.
    successor: Option<u32>,
}

/// A workload that runs.
#[derive(Debug, Clone)]
pub struct Workload {
    pub flows: Vec<Flow>,
    pub message_bytes: u32,
    /// Start of each flow, in ps.
    pub starts: Vec<u64>,
    missing: u64,
}

impl Workload {
    /// The flows of a checked configuration.
    pub fn new(config: &WorkloadConfig, network: &NetworkConfig, seed: u64) -> Self {
        let hosts = network.hosts;
        let mut rng = SmallRng::seed_from_u64(seed ^ 0x3C_0A_D5_EE_D0);
        let mut rank: Vec<u32> = (0..hosts as u32).collect();
        rank.shuffle(&mut rng);
        let initial = config.messages.min(config.depth);
        let flow =
            |src: u32, dst: u32| Flow { src, dst, total: config.messages, posted: 0, received: 0, initial, successor: None };
        let flows: Vec<Flow> = match config.pattern {
            Pattern::Pair => {
                let leaf = |host: u32| host as usize / network.hosts_per_leaf;
                let far = rank.iter().find(|&&host| leaf(host) != leaf(rank[0])).copied().unwrap_or(rank[1]);
                vec![flow(rank[0], far)]
            }
            Pattern::Permutation => (0..hosts).map(|i| flow(rank[i], rank[(i + 1) % hosts])).collect(),
            Pattern::Incast => {
                let senders = config.fan_in.unwrap_or(hosts - 1);
                rank[1..=senders].iter().map(|&src| flow(src, rank[0])).collect()
            }
            Pattern::AllToAll => {
                // Hosts begin with different peers, so that no host is the first of all others.
                let pairs = (1..hosts).flat_map(|d| (0..hosts).map(move |i| (i, (i + d) % hosts)));
                pairs.map(|(i, j)| flow(rank[i], rank[j])).collect()
            }
            Pattern::RingAllReduce => (0..hosts)
                .map(|i| Flow {
                    total: 2 * (hosts as u32 - 1),
                    initial: 1,
                    successor: Some(((i + 1) % hosts) as u32),
                    ..flow(rank[i], rank[(i + 1) % hosts])
                })
                .collect(),
            Pattern::DoublingAllReduce => {
                let steps = hosts.trailing_zeros();
                let number = |step: u32, i: usize| step * hosts as u32 + i as u32;
                let one = |step: u32, i: usize| {
                    let peer = i ^ (1 << step);
                    Flow {
                        total: 1,
                        initial: u32::from(step == 0),
                        successor: (step + 1 < steps).then(|| number(step + 1, peer)),
                        ..flow(rank[i], rank[peer])
                    }
                };
                (0..steps).flat_map(|step| (0..hosts).map(move |i| one(step, i))).collect()
            }
        };
        let spread = config.start_spread_us * crate::time::PS_PER_US;
        let starts = flows.iter().map(|_| if spread == 0 { 0 } else { rng.random_range(0..spread) }).collect();
        let missing = flows.iter().map(|f| u64::from(f.total)).sum();
        Workload { message_bytes: config.message_bytes(hosts) as u32, flows, starts, missing }
    }

    /// Messages to post when the flow begins.
    pub fn start(&mut self, flow: u32) -> u32 {
        let f = &mut self.flows[flow as usize];
        f.posted += f.initial;
        f.initial
    }

    /// A message of `flow` was acknowledged. True: post the next.
    pub fn sent(&mut self, flow: u32) -> bool {
        let f = &mut self.flows[flow as usize];
        let more = f.successor.is_none() && f.initial > 0 && f.posted < f.total;
        f.posted += u32::from(more);
        more
    }

    /// A message of `flow` was received. The flow that has to post its next message now.
    pub fn received(&mut self, flow: u32) -> Option<u32> {
        let f = &mut self.flows[flow as usize];
        f.received += 1;
        self.missing -= 1;
        let next = f.successor?;
        let f = &mut self.flows[next as usize];
        let more = f.posted < f.total;
        f.posted += u32::from(more);
        more.then_some(next)
    }

    /// Every message was received.
    pub fn is_done(&self) -> bool {
        self.missing == 0
    }

    /// Payload bytes of the whole workload.
    pub fn total_bytes(&self) -> u64 {
        self.flows.iter().map(|f| u64::from(f.total)).sum::<u64>() * u64::from(self.message_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(pattern: Pattern, bytes: u64) -> WorkloadConfig {
        WorkloadConfig { pattern, bytes, messages: 1, depth: 2, fan_in: None, start_spread_us: 0 }
    }

    /// Delivers every posted message at once, in order of posting.
    fn run(w: &mut Workload) -> Vec<u32> {
        let mut order = Vec::new();
        let mut posted: std::collections::VecDeque<u32> = Default::default();
        for flow in 0..w.flows.len() as u32 {
            posted.extend(std::iter::repeat_n(flow, w.start(flow) as usize));
        }
        while let Some(flow) = posted.pop_front() {
            order.push(flow);
            posted.extend(w.received(flow));
            if w.sent(flow) {
                posted.push_back(flow);
            }
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
            let mut w = Workload::new(&c, &network, 1);
            assert_eq!(w.flows.len(), flows, "{pattern:?}");
            let order = run(&mut w);
            assert!(w.is_done() && order.len() == flows * each, "{pattern:?}");
            assert!(w.flows.iter().all(|f| f.received == each as u32 && f.src != f.dst));
        }
        let mut many = Workload::new(&WorkloadConfig { messages: 7, ..config(Pattern::Pair, 4096) }, &network, 1);
        assert_eq!(run(&mut many).len(), 7);
    }

    #[test]
    fn a_ring_step_waits_for_the_one_before() {
        let network = NetworkConfig { hosts: 4, ..NetworkConfig::default() };
        let mut w = Workload::new(&config(Pattern::RingAllReduce, 4000), &network, 1);
        assert_eq!(w.message_bytes, 1000);
        assert_eq!((0..4).map(|f| w.start(f)).sum::<u32>(), 4);
        assert_eq!(w.received(0), Some(1));
        assert!(!w.sent(0));
        assert_eq!(w.flows[1].posted, 2);
    }
}
