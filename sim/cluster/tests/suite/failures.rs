//! Failures in silence: what dies, what comes back, and that no message is lost by it.
use crate::support::{run, seed, small, workload};
use mrnic_cluster::network::faults::{changes, FaultConfig, Part};
use mrnic_cluster::network::{Drop, Hop, Network, Wire};
use mrnic_cluster::time::PS_PER_US;
use mrnic_cluster::topology::Topology;
use mrnic_cluster::{NetworkConfig, Pattern};

fn fault(what: Part) -> FaultConfig {
    FaultConfig {
        what,
        plane: 1,
        leaf: None,
        spine: None,
        host: None,
        at_us: 30,
        until_us: None,
        period_us: None,
        down_us: None,
    }
}

#[test]
fn each_part_takes_its_own_links_with_it() {
    let t = Topology::of(&small());
    let count = |fault: FaultConfig| changes(&[fault], &t)[0].links.len();
    assert_eq!(count(fault(Part::Plane)), t.links() / 4);
    assert_eq!(count(FaultConfig { spine: Some(2), ..fault(Part::Spine) }), 8);
    assert_eq!(count(FaultConfig { leaf: Some(3), ..fault(Part::Leaf) }), 8);
    assert_eq!(count(FaultConfig { leaf: Some(3), spine: Some(0), ..fault(Part::Link) }), 2);
    assert_eq!(count(FaultConfig { host: Some(3), ..fault(Part::Port) }), 2);
    let flapping = FaultConfig { until_us: Some(100), period_us: Some(20), down_us: Some(5), ..fault(Part::Plane) };
    let times: Vec<_> = changes(&[flapping], &t).iter().map(|c| (c.at / PS_PER_US, c.down)).collect();
    assert_eq!(times, [(30, true), (35, false), (50, true), (55, false), (70, true), (75, false), (90, true), (95, false)]);
}

#[test]
fn a_link_is_up_again_when_no_failure_holds_it_down() {
    let until = |until_us| FaultConfig { until_us: Some(until_us), ..fault(Part::Plane) };
    let config = NetworkConfig { fault: vec![until(50), until(70)], ..small() };
    let mut network = Network::new(&config, 1);
    let link = network.topology.downlink(1, 3);
    let wire = Wire { bytes: 100, is_ack: false };
    let mut seen = Vec::new();
    for index in 0..network.change_times().count() {
        network.change(0, index);
        seen.push(network.pass(0, link, Hop::Last, &wire).err());
    }
    let down = Some(Drop::Down);
    assert_eq!(seen, [down, down, down, None]);
    assert_eq!(network.stats().dropped_down, 3);
    // what was under way when it died is lost too
    network.change(0, 0);
    assert!(!network.arrived(link, Hop::Last));
}

#[test]
fn no_message_is_lost_by_any_failure() {
    let parts = [
        fault(Part::Plane),
        FaultConfig { spine: Some(2), ..fault(Part::Spine) },
        FaultConfig { leaf: Some(1), until_us: Some(400), ..fault(Part::Leaf) },
        FaultConfig { leaf: Some(0), spine: Some(1), ..fault(Part::Link) },
        FaultConfig { host: Some(5), ..fault(Part::Port) },
        FaultConfig { until_us: Some(300), period_us: Some(50), down_us: Some(20), ..fault(Part::Plane) },
    ];
    let seed = seed(6);
    for part in parts {
        let network = NetworkConfig { fault: vec![part.clone()], ..small() };
        network.check().unwrap();
        let outcome = run(&network, &workload(Pattern::AllToAll, 8 << 20), seed);
        assert!(outcome.finished && outcome.failed_messages == 0, "{part:?}: {outcome:?}");
        assert!(outcome.network.dropped_down > 0, "{part:?} dropped nothing");
    }
}
