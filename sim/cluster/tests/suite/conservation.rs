//! Every packet is accounted for, and a run is determined by its seed.
use crate::support::{run, seed, sim, small, workload};
use mrnic_cluster::network::config::{Burst, LossConfig};
use mrnic_cluster::queue::{BinaryQueue, EventQueue, RadixQueue};
use mrnic_cluster::{MetaRoce256, MetaRoce64, NetworkConfig, Outcome, Pattern};

fn lossy() -> NetworkConfig {
    let burst = Some(Burst { enter: 0.001, leave: 0.1, loss: 0.5 });
    NetworkConfig { loss: LossConfig { data: 0.01, ack: Some(0.005), burst }, ..small() }
}

#[test]
fn every_packet_is_delivered_or_dropped_for_a_counted_reason() {
    let seed = seed(5);
    let tight = NetworkConfig { buffer_bytes: 20_000, ecn_min_bytes: 15_000, ecn_max_bytes: 20_000, ..lossy() };
    for (network, pattern) in [
        (small(), Pattern::Permutation),
        (lossy(), Pattern::AllToAll),
        (tight, Pattern::Incast),
        (lossy(), Pattern::RingAllReduce),
        (lossy(), Pattern::DoublingAllReduce),
    ] {
        let mut sim = sim::<MetaRoce256, RadixQueue>(&network, &workload(pattern, 1 << 20), seed);
        sim.run();
        assert!(sim.is_done(), "{pattern:?} did not end");
        // while packets are on their way, and when none is
        let s = sim.network_stats();
        assert_eq!(s.sent, s.delivered + s.dropped() + sim.in_flight() as u64, "{pattern:?}: {s:?}");
        let outcome = sim.outcome();
        assert_eq!(outcome.received_bytes, total(pattern), "{pattern:?}: each byte once");
        assert_eq!(outcome.failed_messages, 0);
        sim.drain();
        let s = sim.network_stats();
        assert_eq!(sim.in_flight(), 0, "{pattern:?}");
        assert_eq!(s.sent, s.delivered + s.dropped(), "{pattern:?}: {s:?}");
    }
}

fn total(pattern: Pattern) -> u64 {
    let bytes = 1u64 << 20;
    match pattern {
        Pattern::Pair => bytes,
        Pattern::Permutation => 16 * bytes,
        Pattern::Incast => 15 * bytes,
        Pattern::AllToAll => 16 * 15 * bytes.div_ceil(15),
        Pattern::RingAllReduce => 16 * 30 * (bytes / 16),
        Pattern::DoublingAllReduce => 64 * bytes,
        Pattern::Trace => 0,
    }
}

fn outcome<Q: EventQueue>(seed: u64) -> Outcome {
    let mut sim = sim::<MetaRoce256, Q>(&lossy(), &workload(Pattern::AllToAll, 1 << 20), seed);
    sim.run();
    sim.outcome()
}

#[test]
fn the_same_seed_gives_the_same_outcome_whatever_the_queue() {
    let seed = seed(9);
    let first = outcome::<RadixQueue>(seed);
    assert_eq!(first, outcome::<RadixQueue>(seed));
    assert_eq!(first, outcome::<BinaryQueue>(seed));
    assert_ne!(first.events, outcome::<RadixQueue>(seed + 1).events);
}

#[test]
fn the_short_vector_works_too() {
    let mut sim = sim::<MetaRoce64, RadixQueue>(&lossy(), &workload(Pattern::Permutation, 1 << 20), seed(2));
    sim.run();
    assert!(sim.is_done() && sim.outcome().failed_messages == 0);
}

#[test]
fn flows_share_a_link_fairly() {
    let outcome = run(&small(), &workload(Pattern::Incast, 4 << 20), seed(4));
    assert!(outcome.jain > 0.9, "{}", outcome.jain);
}
