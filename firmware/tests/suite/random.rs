//! Connection control under loss, duplication and reordering, with random wishes, restarts and garbage.

use mrnic_wire::{Body, ConnInfo, Packet, PathHeader};
use proptest::prelude::*;

use crate::network::{endpoint, Faults, Node, World};
use mrnic_firmware::Config;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Two NICs that want each other are joined, whatever the network does (up to 40 % loss).
    #[test]
    fn wishes_are_fulfilled_under_loss(seed: u64, loss in 0.0..0.4, both: bool) {
        let faults = Faults { loss, duplication: 0.2, delay_max_us: 5_000 };
        let mut world = World::new(2, seed & 0xFFFF_FFFF, faults);
        world.acquire(0, 1);
        if both {
            world.acquire(1, 0);
        }
        world.run_for(1_000_000);
        prop_assume!(world.nodes.iter().all(|node| node.failed.is_empty()));
        world.assert_joined(0, 1);
    }

    /// A hundred connections one after another between the same NICs: each is whole, and nothing of it stays.
    #[test]
    fn create_and_destroy_a_hundred_times(seed: u64) {
        let faults = Faults { loss: 0.1, duplication: 0.1, delay_max_us: 2_000 };
        let mut world = World::new(2, seed & 0xFFFF_FFFF, faults);
        for round in 0..100 {
            let (a, b) = (round % 2, 1 - round % 2);
            let lease = world.acquire(a, b);
            world.run_for(400_000);
            world.assert_joined(0, 1);
            world.release(a, lease);
            world.run_for(2_000_000);
            prop_assert!(world.nodes.iter().all(|node| node.engine.is_empty()), "round {}", round);
        }
        prop_assert!(world.nodes.iter().all(|node| node.down.is_empty() && node.failed.is_empty()));
    }

    /// Random wishes, restarts and forged packets: no panic, and in the end honest wishes are fulfilled.
    #[test]
    fn chaos_ends_in_order(seed: u64, ops in prop::collection::vec(op(), 1..60)) {
        let faults = Faults { loss: 0.2, duplication: 0.2, delay_max_us: 3_000 };
        let mut world = World::new(3, seed & 0xFFFF_FFFF, faults);
        let mut leases = Vec::new();
        for (step, op) in (0u64..).zip(ops) {
            match op {
                Op::Acquire(a, b) if a != b => leases.push((a, world.acquire(a, b))),
                Op::Acquire(..) => {}
                Op::Release(i) if !leases.is_empty() => {
                    let (node, lease) = leases.swap_remove(i % leases.len());
                    world.release(node, lease);
                }
                Op::Release(_) => {}
                Op::Wait(us) => world.run_for(us),
                Op::Restart(n) => {
                    // Two starts at the same time are told apart by their random seeds, as H5 has it.
                    world.nodes[n] = Node::new(Config::new(endpoint(n), world.now_us ^ step << 40 ^ 0x5EED));
                    leases.retain(|(node, _)| *node != n);
                }
                Op::Forge(from, to, conn, info, kind) if from != to => {
                    let body = [Body::Connect(info), Body::Accept(info), Body::Close(info)][kind];
                    let packet = Packet { mph: PathHeader { conn, ..PathHeader::default() }, ..Packet::new(body) };
                    let net = endpoint(from).to(&endpoint(to)).unwrap();
                    world.nodes[to].manager.handle(world.now_us, &net, &packet);
                    world.collect();
                }
                Op::Forge(..) => {}
            }
        }
        for (node, lease) in leases {
            world.release(node, lease);
        }
        // Forged connections die of idleness; then everybody can talk to everybody.
        world.run_for(8_000_000);
        world.faults = Faults::default();
        world.run_for(8_000_000);
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            world.acquire(a, b);
        }
        world.run_for(900_000);
        for (a, b) in [(0, 1), (1, 2), (2, 0)] {
            world.assert_joined(a, b);
        }
    }
}

#[derive(Clone, Debug)]
enum Op {
    Acquire(usize, usize),
    Release(usize),
    Wait(u64),
    Restart(usize),
    Forge(usize, usize, u16, ConnInfo, usize),
}

fn op() -> impl Strategy<Value = Op> {
    let info = (0..2u8, 0..=9u8, prop::sample::select(vec![64u16, 256]), 7..14u8, any::<u16>(), any::<u8>(), any::<u32>())
        .prop_map(|(version, paths, vector_bits, mtu_log2, conn, epoch, start_ppsn_seed)| ConnInfo {
            version,
            paths,
            vector_bits,
            mtu_log2,
            conn,
            epoch,
            start_ppsn_seed,
        });
    prop_oneof![
        4 => (0..3usize, 0..3usize).prop_map(|(a, b)| Op::Acquire(a, b)),
        3 => any::<usize>().prop_map(Op::Release),
        4 => (0..2_500_000u64).prop_map(Op::Wait),
        1 => (0..3usize).prop_map(Op::Restart),
        2 => (0..3usize, 0..3usize, 0..8u16, info, 0..3usize).prop_map(|(a, b, conn, info, kind)| Op::Forge(a, b, conn, info, kind)),
    ]
}
