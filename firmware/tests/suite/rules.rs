//! One named test for each rule of docs/protocol.md section 12.

use std::collections::BTreeSet;

use mrnic_firmware::{Action, Config, DownReason, Endpoint, Manager, State, NO_CONN};
use mrnic_wire::{Body, ConnInfo, NetAddr, OpenMr0, Packet, PathHeader, Profile};

use crate::network::{endpoint, Faults, Node, World};

const SECOND_US: u64 = 1_000_000;

fn quiet(count: usize) -> World {
    World::new(count, 7, Faults::default())
}

/// The addresses of a packet from node `from` to node `to`.
fn net(from: usize, to: usize) -> NetAddr {
    endpoint(from).to(&endpoint(to)).unwrap()
}

fn control(to: u16, body: Body) -> Packet {
    Packet { mph: PathHeader { conn: to, ..PathHeader::default() }, dest_qp: OpenMr0::PATH_QP, ..Packet::new(body) }
}

fn info(conn: u16, epoch: u8, seed: u32) -> ConnInfo {
    ConnInfo { version: 0, paths: 8, vector_bits: 256, mtu_log2: 12, conn, epoch, start_ppsn_seed: seed }
}

#[test]
fn h1_one_connection_serves_all_queue_pairs_of_two_nics() {
    let mut world = quiet(2);
    for _ in 0..5 {
        world.acquire(0, 1);
    }
    world.run_for(100_000);
    world.acquire(1, 0);
    world.acquire(0, 1);
    world.run_for(100_000);
    world.assert_joined(0, 1);
    assert_eq!((world.nodes[0].opened, world.nodes[1].opened), (1, 1));
    assert_eq!(world.nodes[0].ready.len(), 1, "the wishes before the answer are told once");
    assert_eq!(world.nodes[1].ready.len(), 0, "nobody waited there");
}

#[test]
fn h1_a_number_is_used_again_only_after_all_others() {
    let mut world = quiet(2);
    let mut used = Vec::new();
    for _ in 0..64 {
        let lease = world.acquire(0, 1);
        world.run_for(10_000);
        used.push(world.conn(0, 1).unwrap());
        world.release(0, lease);
        world.run_for(3 * SECOND_US);
    }
    let mut sorted = used.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), used.len());
}

#[test]
fn h2_the_smaller_sizes_count_and_first_ppsns_come_from_the_senders_seed() {
    let mut world = quiet(2);
    world.nodes[1] = Node::new(Config { paths: 4, mtu_log2: 10, ..Config::new(endpoint(1), 99) });
    world.acquire(0, 1);
    world.run_for(10_000);
    world.assert_joined(0, 1);
    let conn = world.conn(0, 1).unwrap();
    let config = &world.nodes[0].engine[&conn].1;
    assert_eq!((config.paths, config.mtu_log2), (4, 10));
    assert!(config.path[4..].iter().all(|path| !path.enabled));
}

#[test]
fn h3_connect_is_repeated_with_back_off_ten_times_then_the_wish_fails() {
    let mut manager = Manager::new(Config::new(endpoint(0), 1)).unwrap();
    manager.acquire(0, endpoint(1));
    let (mut times, mut ports, mut failed) = (Vec::new(), Vec::new(), Vec::new());
    let mut now = 0;
    loop {
        while let Some(action) = manager.poll_action() {
            match action {
                Action::Send(packet) => {
                    assert!(matches!(packet.packet.body, Body::Connect(_)));
                    assert_eq!(packet.packet.mph.conn, NO_CONN);
                    times.push(now);
                    ports.push(packet.udp_port);
                }
                Action::Failed { reason, .. } => failed.push((now, reason)),
                other => panic!("{other:?}"),
            }
        }
        let Some(next) = manager.next_timeout_us() else { break };
        now = next;
        manager.handle_timeout(now);
    }
    let gaps: Vec<u64> = times.windows(2).map(|pair| (pair[1] - pair[0]) / 1000).collect();
    assert_eq!(gaps, [1, 2, 4, 8, 16, 32, 64, 64, 64]);
    assert_eq!(failed, [(times[9] + 64_000, DownReason::NoAnswer)]);
    ports.dedup();
    assert_eq!(ports.len(), 10, "each repetition takes another route");
    assert_eq!(manager.state(endpoint(1).ip), State::Idle);
}

#[test]
fn h3_a_repeated_connect_gets_the_same_accept_and_changes_nothing() {
    let mut manager = Manager::new(Config::new(endpoint(0), 1)).unwrap();
    let connect = control(NO_CONN, Body::Connect(info(9, 33, 77)));
    let mut answers = Vec::new();
    let mut ports = BTreeSet::new();
    let mut opened = 0;
    for _ in 0..3 {
        manager.handle(0, &net(1, 0), &connect);
        while let Some(action) = manager.poll_action() {
            match action {
                Action::Send(packet) => {
                    ports.insert(packet.udp_port);
                    answers.push(packet.packet);
                }
                Action::Open { .. } => opened += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert_eq!(opened, 1);
    assert_eq!(answers.len(), 3);
    assert_eq!(ports.len(), 3, "each takes another route: that of the first may be dead");
    assert!(answers.iter().all(|answer| *answer == answers[0]));
    let Body::Accept(accept) = answers[0].body else { panic!("{:?}", answers[0]) };
    assert_eq!((answers[0].mph.conn, accept.epoch), (9, 33));
}

#[test]
fn h4_crossing_connects_make_one_connection() {
    for (first, second) in [(0, 1), (1, 0)] {
        let mut world = quiet(2);
        world.acquire(first, second);
        world.acquire(second, first);
        world.run_for(100_000);
        world.assert_joined(0, 1);
        assert_eq!((world.nodes[0].opened, world.nodes[1].opened), (1, 1));
        assert_eq!((world.nodes[0].ready.len(), world.nodes[1].ready.len()), (1, 1));
    }
}

#[test]
fn h4_the_connect_that_lost_may_arrive_late() {
    let mut world = quiet(2);
    // The larger address asks first, but its packet takes long.
    world.faults.delay_max_us = 0;
    let mut late = None;
    world.nodes[1].manager.acquire(0, endpoint(0));
    while let Some(action) = world.nodes[1].manager.poll_action() {
        if let Action::Send(packet) = action {
            late = Some(packet);
        }
    }
    world.acquire(0, 1);
    world.run_for(500);
    world.assert_joined(0, 1);
    let late = late.unwrap();
    world.nodes[0].manager.handle(world.now_us, &late.net, &late.packet);
    world.run_for(100_000);
    world.assert_joined(0, 1);
    assert!(world.nodes[0].down.is_empty());
}

#[test]
fn h5_a_peer_that_starts_anew_gets_a_new_connection_and_the_old_one_stays_until_its_queue_pairs_are_gone() {
    let mut world = quiet(2);
    let lease = world.acquire(0, 1);
    let other = world.acquire(0, 1);
    world.run_for(10_000);
    let old = world.conn(0, 1).unwrap();
    world.nodes[1] = Node::new(Config::new(endpoint(1), 4242));
    world.acquire(1, 0);
    world.run_for(100_000);
    world.assert_joined(0, 1);
    assert_ne!(world.conn(0, 1), Some(old));
    assert!(world.nodes[0].engine.contains_key(&old) && world.nodes[0].down.is_empty());
    world.release(0, lease);
    world.collect();
    assert!(world.nodes[0].engine.contains_key(&old));
    world.release(0, other);
    world.collect();
    assert!(!world.nodes[0].engine.contains_key(&old));
    world.assert_joined(0, 1);
}

#[test]
fn h5_queue_pairs_on_a_connection_that_the_peer_lost_fail_when_the_engine_gives_it_up() {
    let mut world = quiet(2);
    world.acquire(0, 1);
    world.run_for(10_000);
    let old = world.conn(0, 1).unwrap();
    world.nodes[1].manager.shutdown();
    world.collect();
    world.run_for(SECOND_US);
    assert!(world.nodes[0].engine.contains_key(&old) && world.nodes[0].down.is_empty());
    world.nodes[0].manager.engine_error(old);
    world.collect();
    assert_eq!(world.nodes[0].down, [(old, DownReason::EngineError)]);
}

#[test]
fn h5_a_delayed_connect_of_an_incarnation_that_is_over_changes_nothing() {
    let mut manager = Manager::new(Config::new(endpoint(0), 1)).unwrap();
    let connect = |conn, seed| control(NO_CONN, Body::Connect(info(conn, 1, seed)));
    for (conn, seed) in [(5, 50), (6, 60)] {
        manager.handle(0, &net(1, 0), &connect(conn, seed));
    }
    while manager.poll_action().is_some() {}
    let state = manager.state(endpoint(1).ip);
    manager.handle(1, &net(1, 0), &connect(5, 50));
    assert_eq!(manager.poll_action(), None);
    assert_eq!(manager.state(endpoint(1).ip), state);
    assert_eq!(manager.ignored(), 1);
}

#[test]
fn h6_an_unused_connection_is_closed_on_both_sides() {
    let mut world = quiet(2);
    let lease = world.acquire(0, 1);
    world.run_for(10_000);
    world.release(0, lease);
    world.run_for(SECOND_US / 2);
    world.assert_joined(0, 1);
    world.run_for(2 * SECOND_US);
    assert!(world.nodes.iter().all(|node| node.engine.is_empty() && node.down.is_empty()));
    assert_eq!(world.nodes[0].manager.next_timeout_us(), None);
}

#[test]
fn h6_a_connection_that_the_peer_uses_stays() {
    let mut world = quiet(2);
    let lease = world.acquire(0, 1);
    world.acquire(1, 0);
    world.run_for(10_000);
    world.release(0, lease);
    let conn = world.conn(0, 1);
    world.run_for(10 * SECOND_US);
    world.assert_joined(0, 1);
    assert_eq!(world.conn(0, 1), conn);
    assert_eq!(world.nodes[0].opened, 1);
}

#[test]
fn h6_a_wish_while_closing_is_fulfilled() {
    for wish_at_us in (0..60).step_by(5) {
        let mut world = quiet(2);
        let lease = world.acquire(0, 1);
        world.run_for(10_000);
        world.release(0, lease);
        world.run_for(SECOND_US - 20 + wish_at_us);
        world.acquire(0, 1);
        world.run_for(SECOND_US);
        world.assert_joined(0, 1);
        assert!(world.nodes[0].down.is_empty() && world.nodes[0].failed.is_empty(), "wish at {wish_at_us}");
    }
}

#[test]
fn h6_a_peer_that_vanished_does_not_keep_the_number() {
    let mut world = quiet(2);
    let lease = world.acquire(0, 1);
    world.run_for(10_000);
    world.faults.loss = 1.0;
    world.release(0, lease);
    world.run_for(3 * SECOND_US);
    assert!(world.nodes[0].engine.is_empty());
    assert_eq!(world.conn(0, 1), None);
}

/// A NIC that leaves closes in milliseconds what its peers do not use either, and waits for those that do.
#[test]
fn h6_a_nic_that_leaves_closes_at_once_what_nobody_uses() {
    let mut world = quiet(3);
    let leases = [1, 2].map(|n| (n, world.acquire(0, n)));
    let used = world.acquire(2, 0);
    world.run_for(10_000);
    for (_, lease) in leases {
        world.release(0, lease);
    }
    world.nodes[0].manager.hasten();
    world.run_for(10_000);
    assert_eq!((world.conn(0, 1), world.conn(1, 0)), (None, None));
    world.assert_joined(0, 2);
    assert_eq!(world.nodes[0].manager.connected().count(), 1);
    world.release(2, used);
    world.nodes[2].manager.hasten();
    world.run_for(10_000);
    assert_eq!(world.nodes[0].manager.connected().count(), 0);
    assert!(world.nodes.iter().all(|node| node.engine.is_empty() && node.down.is_empty()));
}

#[test]
fn h6_shutdown_tells_every_peer_at_once() {
    let mut world = quiet(3);
    let leases = [1, 2].map(|n| (n, world.acquire(n, 0)));
    world.run_for(10_000);
    world.nodes[0].manager.shutdown();
    world.collect();
    world.run_for(1_000);
    assert!(world.nodes[0].engine.is_empty());
    for (n, lease) in leases {
        assert_eq!(world.conn(n, 0), None, "the next wish opens another connection");
        world.release(n, lease);
        world.collect();
        assert!(world.nodes[n].engine.is_empty() && world.nodes[n].down.is_empty());
    }
}

#[test]
fn h7_another_version_or_vector_is_refused_at_once() {
    for spoil in [
        |i: &mut ConnInfo| i.version = 1,
        |i: &mut ConnInfo| i.vector_bits = 64,
        |i: &mut ConnInfo| i.mtu_log2 = 7,
        |i: &mut ConnInfo| i.mtu_log2 = 13,
        |i: &mut ConnInfo| i.paths = 0,
    ] {
        let mut manager = Manager::new(Config::new(endpoint(0), 1)).unwrap();
        let mut theirs = info(9, 1, 5);
        spoil(&mut theirs);
        manager.handle(0, &net(1, 0), &control(NO_CONN, Body::Connect(theirs)));
        let Some(Action::Send(answer)) = manager.poll_action() else { panic!("no answer to {theirs:?}") };
        assert!(matches!(answer.packet.body, Body::Close(close) if close.conn == NO_CONN));
        assert_eq!(answer.packet.mph.conn, 9);
        assert_eq!(manager.poll_action(), None);
    }
    let mut world = quiet(2);
    world.nodes[1] = Node::new(Config { vector_bits: 64, ..Config::new(endpoint(1), 3) });
    world.acquire(0, 1);
    world.run_for(100);
    assert_eq!(world.nodes[0].failed, [DownReason::Refused]);
}

#[test]
fn an_engine_error_ends_the_connection_and_the_next_wish_opens_another() {
    let mut world = quiet(2);
    let lease = world.acquire(0, 1);
    world.run_for(10_000);
    let conn = world.conn(0, 1).unwrap();
    world.nodes[0].manager.engine_error(conn);
    world.collect();
    assert_eq!(world.nodes[0].down, [(conn, DownReason::EngineError)]);
    world.acquire(0, 1);
    world.release(0, lease);
    world.run_for(5 * SECOND_US);
    world.assert_joined(0, 1);
}

#[test]
fn a_wish_without_a_free_number_or_a_common_address_family_fails() {
    let mut manager = Manager::new(Config { conns: 1, ..Config::new(endpoint(0), 1) }).unwrap();
    manager.acquire(0, endpoint(1));
    manager.acquire(0, endpoint(2));
    manager.acquire(0, Endpoint { ip: "fd00::1".parse().unwrap(), mac: [2; 6] });
    let mut failed = Vec::new();
    while let Some(action) = manager.poll_action() {
        if let Action::Failed { reason, .. } = action {
            failed.push(reason);
        }
    }
    assert_eq!(failed, [DownReason::NoNumber, DownReason::NoNumber]);
    let mut manager = Manager::new(Config::new(endpoint(0), 1)).unwrap();
    manager.acquire(0, Endpoint { ip: "fd00::1".parse().unwrap(), mac: [2; 6] });
    let Some(Action::Failed { reason, .. }) = manager.poll_action() else { panic!() };
    assert_eq!(reason, DownReason::AddressFamily);
}

#[test]
fn a_flood_of_strangers_is_bounded() {
    let mut manager = Manager::new(Config { conns: 2, ..Config::new(endpoint(0), 1) }).unwrap();
    for n in 0..1000u32 {
        let from = Endpoint { ip: std::net::IpAddr::from(0x0B00_0000u32.wrapping_add(n).to_be_bytes()), mac: [2; 6] };
        let connect = control(NO_CONN, Body::Connect(info(1, 1, n)));
        manager.handle(0, &from.to(&endpoint(0)).unwrap(), &connect);
    }
    let opened = std::iter::from_fn(|| manager.poll_action()).filter(|a| matches!(a, Action::Open { .. })).count();
    assert_eq!(opened, 2);
}

#[test]
fn a_bad_configuration_names_the_parameter() {
    let bad = Config { mtu_log2: 13, ..Config::new(endpoint(0), 1) };
    assert_eq!(Manager::new(bad).unwrap_err().to_string(), "mtu_log2 = 13 is outside 8..=12; correct the configuration");
}
