//! Flows of each pattern.
//!
//! In: a checked table and where each rank is. Out: flows in the order in which they begin.
use super::{BackgroundConfig, Flow, Pattern, Receiver, WorkloadConfig};
use crate::network::config::NetworkConfig;
use rand::rngs::SmallRng;
use rand::seq::SliceRandom;

/// A flow of a trace: its messages come from there.
pub fn of_trace(src: u32, dst: u32, total: u32) -> Flow {
    Flow { src, dst, bytes: 0, total, posted: 0, received: 0, initial: 0, successor: None }
}

/// Flows of a pattern among `rank`s.
pub fn of_pattern(config: &WorkloadConfig, network: &NetworkConfig, rank: &[u32]) -> Vec<Flow> {
    let hosts = rank.len();
    let initial = config.messages.min(config.depth);
    let bytes = config.message_bytes(hosts) as u32;
    let flow =
        |src: u32, dst: u32| Flow { src, dst, bytes, total: config.messages, posted: 0, received: 0, initial, successor: None };
    match config.pattern {
        Pattern::Trace => Vec::new(),
        Pattern::Pair => {
            let leaf = |host: u32| host as usize / network.hosts_per_leaf;
            let far = rank.iter().find(|&&host| leaf(host) != leaf(rank[0])).copied().unwrap_or(rank[1]);
            vec![flow(rank[0], far)]
        }
        Pattern::Permutation => (0..hosts).map(|i| flow(rank[i], rank[(i + 1) % hosts])).collect(),
        Pattern::Incast => {
            let senders = config.fan_in.unwrap_or(hosts - 1).min(hosts - 1);
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
    }
}

/// Flows beside a workload whose first flow is `first`; ranks are placed anew.
pub fn of_background(config: &BackgroundConfig, network: &NetworkConfig, first: Option<Flow>, rng: &mut SmallRng) -> Vec<Flow> {
    let mut rank: Vec<u32> = (0..network.hosts as u32).collect();
    rank.shuffle(rng);
    if let (Receiver::Neighbour, Some(first)) = (config.receiver, first) {
        let leaf = |host: u32| host as usize / network.hosts_per_leaf;
        rank.retain(|host| ![first.src, first.dst].contains(host));
        // checked: a leaf has two hosts; the last one may be alone in its leaf
        let near = rank.iter().position(|&host| leaf(host) == leaf(first.dst)).unwrap_or(0);
        rank.swap(0, near);
    }
    of_pattern(&config.load(), network, &rank)
}
