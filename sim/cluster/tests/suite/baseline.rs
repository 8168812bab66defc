//! The go-back-N baseline against what can be worked out: a round trip and a share of timeouts for each loss.
use crate::support::{seed, sim_with, small, workload};
use mrnic_cluster::network::config::LossConfig;
use mrnic_cluster::queue::RadixQueue;
use mrnic_cluster::rocev2::config::RoceConfig;
use mrnic_cluster::{NetworkConfig, Outcome, Pattern, RoceV2};

fn run(network: &NetworkConfig, pattern: Pattern, bytes: u64, config: &RoceConfig, seed: u64) -> Outcome {
    let mut sim = sim_with::<RoceV2, RadixQueue>(network, &workload(pattern, bytes), seed, config);
    sim.run();
    let s = sim.network_stats();
    assert_eq!(s.sent, s.delivered + s.dropped() + sim.in_flight() as u64, "{s:?}");
    let outcome = sim.outcome();
    assert!(outcome.finished, "{outcome:?}");
    outcome
}

fn pair(loss: f64) -> NetworkConfig {
    NetworkConfig {
        hosts: 2,
        hosts_per_leaf: 1,
        spines: 1,
        planes: 1,
        rate_gbps: 400.0,
        delay_ns: 300,
        loss: LossConfig { data: loss, ack: Some(0.0), burst: None },
        ..NetworkConfig::default()
    }
}

#[test]
fn without_loss_a_queue_pair_fills_its_link() {
    let config = RoceConfig { dcqcn: false, ..RoceConfig::default() };
    let outcome = run(&pair(0.0), Pattern::Pair, 20_000_000, &config, 1);
    assert!(outcome.link_share > 0.99 && outcome.endpoints.resent == 0, "{}", outcome.link_share);
}

#[test]
fn go_back_n_pays_a_round_trip_for_each_loss() {
    // The timeout is shorter than a second loss of the same packet could show: nearly all losses are found by a gap.
    let config = RoceConfig { dcqcn: false, rto_us: 20.0, ..RoceConfig::default() };
    let p = 0.005;
    let clean = run(&pair(0.0), Pattern::Pair, 60_000_000, &config, 1).goodput_gbps;
    let lossy = run(&pair(p), Pattern::Pair, 60_000_000, &config, seed(2)).goodput_gbps;
    // 83.6 ns a packet of 4178 bytes; 2.95 us from a loss to the first resend at the receiver, and once in 1 / p losses a timeout
    let (packet_us, port_us) = (0.0836, 10_000.0 * 0.02e-3);
    let back_us = port_us + 4.0 * (packet_us + 0.3) + 4.0 * 0.302;
    let expected = packet_us / (packet_us + p * (back_us + p * 20.0));
    let kept = lossy / clean;
    assert!((kept - expected).abs() < 0.03, "{kept:.3} kept, {expected:.3} expected");
}

#[test]
fn messages_are_cut_into_as_many_parts_as_there_are_queue_pairs() {
    for qps in [1, 3, 8] {
        let config = RoceConfig { qps, ..RoceConfig::default() };
        let outcome = run(&small(), Pattern::AllToAll, 1 << 20, &config, seed(3));
        assert_eq!(outcome.received_bytes, 16 * 15 * (1u64 << 20).div_ceil(15), "{qps} QPs");
        let tiny = run(&small(), Pattern::Pair, 2, &config, 1);
        assert_eq!(tiny.received_bytes, 2);
    }
}

#[test]
fn rate_control_keeps_an_incast_from_dropping_for_ever() {
    let with = run(&small(), Pattern::Incast, 4 << 20, &RoceConfig { qps: 4, ..RoceConfig::default() }, seed(4));
    let free = RoceConfig { qps: 4, dcqcn: false, ..RoceConfig::default() };
    let without = run(&small(), Pattern::Incast, 4 << 20, &free, seed(4));
    assert!(with.network.dropped_queue < without.network.dropped_queue, "{with:?} {without:?}");
}
