//! Priority flow control: nothing is dropped, and who waits for it.
use crate::support::{seed, sim_with, small, workload};
use mrnic_cluster::network::config::LossConfig;
use mrnic_cluster::network::faults::{FaultConfig, Part};
use mrnic_cluster::network::pfc::PfcConfig;
use mrnic_cluster::queue::CalendarQueue;
use mrnic_cluster::rocev2::config::RoceConfig;
use mrnic_cluster::workload::{BackgroundConfig, Receiver};
use mrnic_cluster::{Endpoint, MetaRoce256, MetaRoceConfig, NetworkConfig, Outcome, Pattern, RoceV2, WorkloadConfig};

fn lossless() -> NetworkConfig {
    NetworkConfig { pfc: Some(PfcConfig::default()), ..small() }
}

fn run<E: Endpoint>(network: &NetworkConfig, load: &WorkloadConfig, seed: u64, config: &E::Config) -> Outcome {
    let mut sim = sim_with::<E, CalendarQueue>(network, load, seed, config);
    sim.run();
    let s = sim.network_stats();
    assert_eq!(s.sent, s.delivered + s.dropped() + sim.in_flight() as u64, "{s:?}");
    let outcome = sim.outcome();
    assert!(outcome.finished && outcome.failed_messages == 0, "{outcome:?}");
    if !load.background.is_empty() {
        return outcome;
    }
    sim.drain();
    let s = sim.network_stats();
    assert_eq!((sim.in_flight(), s.sent), (0, s.delivered + s.dropped()), "{s:?}");
    outcome
}

fn unlimited() -> RoceConfig {
    RoceConfig { qps: 4, dcqcn: false, ..RoceConfig::default() }
}

#[test]
fn an_incast_that_drops_without_flow_control_drops_nothing_with_it() {
    let (seed, incast) = (seed(3), workload(Pattern::Incast, 4 << 20));
    let without = run::<RoceV2>(&small(), &incast, seed, &unlimited());
    let with = run::<RoceV2>(&lossless(), &incast, seed, &unlimited());
    assert!(without.network.dropped_queue > 1000 && without.network.pauses == 0, "{:?}", without.network);
    assert!(with.network.dropped() == 0 && with.network.pauses > 10 && with.endpoints.resent == 0, "{:?}", with.network);
    assert!(with.network.paused_us > 100.0 && with.duration_us < without.duration_us, "{:?}", with.network);
    // headroom that is too small is what drops (the check of a file refuses it)
    let tight = PfcConfig { headroom_bytes: 0, ..PfcConfig::default() };
    let mut sim = mrnic_cluster::Sim::<RoceV2, CalendarQueue>::new(
        &mrnic_cluster::Setup {
            network: &NetworkConfig { pfc: Some(tight), ..small() },
            workload: &incast,
            trace: None,
            seed,
            limit: 50_000_000_000,
            sample: 0,
        },
        &unlimited(),
    )
    .unwrap();
    sim.run();
    assert!(sim.network_stats().dropped_queue > 0);
}

#[test]
fn a_flow_waits_behind_an_incast_that_it_takes_no_part_in() {
    let incast = BackgroundConfig {
        pattern: Pattern::Incast,
        bytes: 1 << 20,
        messages: None,
        depth: 2,
        fan_in: Some(10),
        at_us: 0,
        receiver: Receiver::Neighbour,
    };
    let seed = seed(7);
    let time = |network: &NetworkConfig, background: &[BackgroundConfig]| {
        let load = WorkloadConfig { background: background.to_vec(), ..workload(Pattern::Pair, 8 << 20) };
        run::<RoceV2>(network, &load, seed, &unlimited())
    };
    let alone = time(&lossless(), &[]);
    let beside = time(&lossless(), std::slice::from_ref(&incast));
    assert!(beside.duration_us > 2.0 * alone.duration_us, "{} {}", alone.duration_us, beside.duration_us);
    assert!(beside.background_gbps > 50.0 && beside.network.dropped() == 0, "{beside:?}");
    // what is measured is the flow's
    assert_eq!((beside.received_bytes, beside.receivers), (8 << 20, 1));
}

#[test]
fn an_idle_network_is_as_fast_with_flow_control_as_without() {
    for pattern in [Pattern::Pair, Pattern::Permutation, Pattern::AllToAll] {
        let load = workload(pattern, 2 << 20);
        let config = MetaRoceConfig::default();
        let [with, without] = [lossless(), small()].map(|n| run::<MetaRoce256>(&n, &load, 5, &config).duration_us);
        assert!((0.9..1.1).contains(&(with / without)), "{pattern:?}: {with} us with, {without} us without");
    }
}

#[test]
fn losses_and_failures_are_found_with_flow_control_too() {
    let seed = seed(8);
    let flap = FaultConfig {
        what: Part::Plane,
        plane: 1,
        leaf: None,
        spine: None,
        host: None,
        at_us: 20,
        until_us: Some(200),
        period_us: Some(40),
        down_us: Some(15),
    };
    let loss = LossConfig { data: 0.01, ack: None, burst: None };
    let network = NetworkConfig { loss, fault: vec![flap], ..lossless() };
    let outcome = run::<MetaRoce256>(&network, &workload(Pattern::Incast, 1 << 20), seed, &MetaRoceConfig::default());
    assert!(outcome.network.dropped_down > 0 && outcome.network.dropped_random > 0, "{:?}", outcome.network);
}
