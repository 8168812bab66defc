//! Links and queues: rate, delay, bounds, marking.
use crate::support::{seed, sim_with, small, workload};
use mrnic_cluster::network::{Drop, Hop, Network, Wire};
use mrnic_cluster::queue::RadixQueue;
use mrnic_cluster::time::PS_PER_NS;
use mrnic_cluster::{MetaRoce256, MetaRoceConfig, NetworkConfig, Pattern};

const DATA: Wire = Wire { bytes: 4160, is_ack: false };

#[test]
fn a_link_passes_bits_at_exactly_its_rate() {
    let config = NetworkConfig { rate_gbps: 50.0, spine_rate_gbps: Some(400.0), delay_ns: 700, ..NetworkConfig::default() };
    let mut network = Network::new(&config, 1);
    let port = network.topology.uplink(3, 9);
    for i in 1..=100u64 {
        let passed = network.pass(0, port, Hop::First, &DATA).unwrap();
        // 4160 bytes at 50 Gbit/s are 665.6 ns
        assert_eq!(passed.at, i * 665_600 + 700 * PS_PER_NS);
    }
    let spine = network.topology.leaf_to_spine(3, 1, 2);
    assert_eq!(network.pass(5, spine, Hop::Middle, &DATA).unwrap().at, 5 + 83_200 + 700 * PS_PER_NS);
    // an idle link begins at once
    let later = 1_000_000_000;
    assert_eq!(network.pass(later, port, Hop::First, &DATA).unwrap().at, later + 665_600 + 700 * PS_PER_NS);
}

#[test]
fn a_queue_never_exceeds_its_buffer_and_what_does_not_fit_is_dropped() {
    let config =
        NetworkConfig { buffer_bytes: 10 * 4160, ecn_min_bytes: 4160, ecn_max_bytes: 4160, ..NetworkConfig::default() };
    let mut network = Network::new(&config, 1);
    let link = network.topology.downlink(0, 5);
    let results: Vec<_> = (0..25).map(|_| network.pass(0, link, Hop::Last, &DATA)).collect();
    assert!(results[..10].iter().all(Result::is_ok) && results[10..].iter().all(|r| *r == Err(Drop::Queue)));
    // marked from the step on: the third packet finds more than one before it
    let marked: Vec<_> = results[..10].iter().map(|r| r.is_ok_and(|p| p.marked)).collect();
    assert_eq!(marked, [false, false, true, true, true, true, true, true, true, true]);
    assert_eq!((network.stats().max_queue_bytes, network.stats().dropped_queue, network.stats().marked), (41_600, 15, 8));
    // one packet leaves, one has room
    assert!(network.pass(665_600, link, Hop::Last, &DATA).is_ok());
    assert!(network.pass(665_600, link, Hop::Last, &DATA).is_err());
}

#[test]
fn marking_grows_linearly_between_its_bounds() {
    let config = NetworkConfig { ecn_min_bytes: 0, ecn_max_bytes: 2 * 41_600, ..NetworkConfig::default() };
    let mut network = Network::new(&config, seed(3));
    let link = network.topology.downlink(0, 5);
    let full = Wire { bytes: 41_600, is_ack: false };
    let mut marked = 0;
    for i in 0..2000u64 {
        let now = i * 1_000_000_000;
        network.pass(now, link, Hop::Last, &full).unwrap();
        marked += u32::from(network.pass(now, link, Hop::Last, &DATA).unwrap().marked);
    }
    // 41,600 bytes wait: half the way
    assert!((900..1100).contains(&marked), "{marked}");
}

#[test]
fn full_ports_are_known_and_when_they_have_room() {
    let mut network = Network::new(&NetworkConfig::default(), 1);
    let port = network.topology.uplink(2, 7);
    network.pass(0, port, Hop::First, &DATA).unwrap();
    assert_eq!(network.full_ports(0, 7, 4160).0, 0);
    network.pass(0, port, Hop::First, &DATA).unwrap();
    assert_eq!(network.full_ports(0, 7, 4160), (1 << 2, 665_600));
    assert_eq!(network.full_ports(665_600, 7, 4160).0, 0);
    assert_eq!(network.full_ports(0, 6, 4160).0, 0);
}

#[test]
fn a_pair_fills_its_line_without_loss() {
    // without the hint, whose capacity is below the line rate
    let free = MetaRoceConfig { hint_share: 0.0, ..MetaRoceConfig::default() };
    for planes in [1, 4] {
        let network = NetworkConfig { planes, hosts: 2, hosts_per_leaf: 2, spines: 0, ..small() };
        let mut sim = sim_with::<MetaRoce256, RadixQueue>(&network, &workload(Pattern::Pair, 32 << 20), 1, &free);
        sim.run();
        let outcome = sim.outcome();
        assert!(outcome.finished && outcome.network.dropped() == 0, "{:?}", outcome.network);
        assert!(outcome.link_share > 0.99 && outcome.link_share <= 1.0, "{} of {planes} planes", outcome.link_share);
    }
}
