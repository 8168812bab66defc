//! Whole transfers over the test fabric: every byte placed exactly once, every work request completed exactly once.

use mrnic_model::*;

use crate::fabric::FabricConfig;
use crate::pair::{conn_config, keys, seed, write, Pair, Setup, LKEY};

const SIZES: [u32; 9] = [0, 1, 4095, 4096, 4097, 8192, 65_536, 12_345, 1 << 20];
const LONG: u64 = 20_000_000;

/// Posts one WRITE of each size to the target, unaligned, alternating over two QPs, and checks everything.
fn all_sizes<P: Profile>(setup: &Setup) -> Pair<P> {
    let bytes = SIZES.iter().sum::<u32>() as usize + 64;
    let mut pair = Pair::<P>::new(&Setup { bytes, ..setup.clone() });
    let mut at = 3;
    let mut places = vec![];
    for (i, &len) in SIZES.iter().enumerate() {
        pair.post(0, i as u32 % 2, write(i as u64, at, at + 5, len));
        places.push((at, len));
        at += u64::from(len);
    }
    pair.run_until_cqes(0, SIZES.len(), LONG);
    pair.run(LONG);
    for (from, len) in places {
        pair.assert_placed(0, from as usize, from as usize + 5, len as usize);
    }
    let mut ids: Vec<u64> = pair.cqes[0].iter().map(|c| c.wr_id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..SIZES.len() as u64).collect::<Vec<_>>(), "one completion each");
    assert!(pair.cqes[0].iter().all(|c| c.status == Status::Success && c.byte_len == SIZES[c.wr_id as usize]));
    pair.assert_quiet();
    pair
}

fn rough(loss: f64) -> FabricConfig {
    FabricConfig {
        loss,
        burst: 2.0,
        duplicate: 0.02,
        reorder: 0.05,
        reorder_ticks: 40,
        skew_ticks: 9,
        ..FabricConfig::default()
    }
}

fn sizes_without_faults<P: Profile>() {
    for paths in [1, 2, 4, 8] {
        for mtu_log2 in [8, 10, 12] {
            let pair = all_sizes::<P>(&Setup { paths, mtu_log2, ..Setup::default() });
            let c = pair.nic[0].counters();
            assert_eq!((c.tx_resent, c.tx_nops, c.tx_probes_timeout), (0, 0, 0), "{paths} paths: {c:?}");
        }
    }
}

fn sizes_under_loss_duplication_and_reordering<P: Profile>() {
    let seed = seed(100);
    for (i, paths) in [1, 2, 4, 8].into_iter().enumerate() {
        let setup = Setup { paths, seed: seed + i as u64, fabric: rough(0.05), ..Setup::default() };
        let pair = all_sizes::<P>(&setup);
        assert!(pair.nic[0].counters().tx_resent > 0);
    }
}

fn sizes_near_the_wrap_under_loss<P: Profile>() {
    let seed = seed(200);
    for (i, loss) in [0.0, 0.05, 0.1].into_iter().enumerate() {
        let setup = Setup { seed: seed + i as u64, fabric: rough(loss), start_ppsn: 0xFF_FFF0, ..Setup::default() };
        all_sizes::<P>(&setup);
    }
}

fn sequence_numbers_wrap<P: Profile>() {
    let seed = seed(300);
    let v = P::VECTOR_BITS;
    for k in [1u32, 2, 63, 100, v - 1, v, v + 1] {
        let start = (1 << 24) - k;
        let setup = Setup {
            paths: 2,
            start_ppsn: start,
            start_msn: (1 << 24) - 1 - k % 5,
            seed: seed + u64::from(k),
            fabric: rough(0.03),
            ..Setup::default()
        };
        all_sizes::<P>(&setup);
    }
}

/// The n-th new packet, or the n-th acknowledgment, of a short transfer is dropped, for every n.
fn every_single_packet_may_be_lost<P: Profile>() {
    for kind in [TransmitKind::New, TransmitKind::Ack] {
        for n in 0..24 {
            let mut pair = Pair::<P>::new(&Setup { paths: 2, ..Setup::default() });
            let side = usize::from(kind == TransmitKind::Ack);
            pair.fabric.drop_rule = Some(Box::new(move |from, k, before| from == side && k == kind && before == n));
            pair.post(0, 0, write(1, 0, 0, 20 * 4096));
            pair.run_until_cqes(0, 1, 100_000);
            pair.run(100_000);
            pair.assert_placed(0, 0, 0, 20 * 4096);
            pair.assert_quiet();
        }
    }
}

/// The first copies and the first resends of one packet are lost: nested retries end.
fn resends_may_be_lost_too<P: Profile>() {
    for n in 0..20 {
        let mut pair = Pair::<P>::new(&Setup { paths: 1, ..Setup::default() });
        pair.fabric.drop_rule = Some(Box::new(move |_, kind, before| match kind {
            TransmitKind::New => before == n,
            TransmitKind::Resend => before < 4,
            TransmitKind::Probe => before % 2 == 0,
            _ => false,
        }));
        pair.post(0, 0, write(1, 0, 0, 20 * 4096));
        pair.run(LONG);
        assert_eq!(pair.cqes[0][0].status, Status::Success);
        pair.assert_placed(0, 0, 0, 20 * 4096);
        pair.assert_quiet();
    }
}

fn all_acknowledgments_lost_then_healed<P: Profile>() {
    let mut pair = Pair::<P>::new(&Setup::default());
    pair.fabric.drop_rule = Some(Box::new(|_, kind, _| kind == TransmitKind::Ack));
    pair.post(0, 0, write(1, 0, 0, 300_000));
    pair.run_for(3_000);
    assert!(pair.cqes[0].is_empty());
    pair.fabric.drop_rule = None;
    pair.run_until_cqes(0, 1, 200_000);
    pair.run(LONG);
    pair.assert_placed(0, 0, 0, 300_000);
    pair.assert_quiet();
}

/// A plane dies in the middle of a transfer: its packets move, nothing fails; it comes back and is used again (L3, L4, L5).
fn a_plane_dies_and_comes_back<P: Profile>() {
    for paths in [2, 8] {
        let bytes = 4 << 20;
        let mut pair = Pair::<P>::new(&Setup { paths, bytes, ..Setup::default() });
        pair.post(0, 0, write(1, 0, 0, bytes as u32 / 2));
        pair.run_for(100);
        pair.fabric.dead[1] = true;
        pair.run_until_cqes(0, 1, 200_000);
        // L3: the transfer does not wait for a timeout
        let c = *pair.nic[0].counters();
        assert!(c.tx_moved > 0 && c.path_suspect >= 1 && c.path_down == 0, "{c:?}");
        pair.run_for(8 * u64::from(Setup::default().nic.rto_min_ticks));
        let c = *pair.nic[0].counters();
        assert!(c.path_suspect >= 1 && c.path_down == 1 && c.port_changes > 0, "{c:?}");
        assert_eq!(pair.nic[0].tx_path(0, 1).unwrap().state, PathState::Down);
        pair.fabric.dead[1] = false;
        pair.run(LONG);
        assert_eq!(pair.nic[0].tx_path(0, 1).unwrap().state, PathState::Up);
        let before = pair.nic[0].tx_path(0, 1).unwrap().next;
        pair.post(0, 0, write(2, bytes as u64 / 2, bytes as u64 / 2, bytes as u32 / 2));
        pair.run_until_cqes(0, 2, 200_000);
        assert_ne!(pair.nic[0].tx_path(0, 1).unwrap().next, before, "the path is used again");
        pair.run(LONG);
        pair.assert_placed(0, 0, 0, bytes);
        pair.assert_quiet();
    }
}

/// L3: one plane swallows every frame, probes too, for a while: the transfer takes the others, and the plane is used again.
fn a_burst_that_swallows_probes_does_not_hold_a_transfer<P: Profile>() {
    let bytes = 4 << 20;
    for kind in [None, Some(0.1)] {
        let fabric = FabricConfig { loss: kind.unwrap_or(0.0), ..FabricConfig::default() };
        let mut pair = Pair::<P>::new(&Setup { bytes, fabric, ..Setup::default() });
        pair.post(0, 0, write(1, 0, 0, bytes as u32));
        pair.run_for(200);
        pair.fabric.dead[3] = true;
        pair.run_for(500);
        let c = *pair.nic[0].counters();
        assert!(c.path_suspect == 1 && c.tx_moved > 0 && c.tx_probes_timeout == 0, "{c:?}");
        pair.fabric.dead[3] = false;
        let before = pair.nic[0].tx_path(0, 3).unwrap().next;
        pair.run_until_cqes(0, 1, 1000);
        assert!(pair.nic[0].counters().tx_probes_timeout == 0, "within RTO_MIN");
        assert_ne!(pair.nic[0].tx_path(0, 3).unwrap().next, before, "the path is used again");
        pair.run(LONG);
        pair.assert_placed(0, 0, 0, bytes);
        pair.assert_quiet();
    }
}

/// All paths die: an orderly error, every work request completed exactly once (L4, W3, W4).
fn all_paths_dead_is_an_orderly_error<P: Profile>() {
    for retry in [0, 2, 7] {
        let mut pair = Pair::<P>::new(&Setup { paths: 4, retry, ..Setup::default() });
        for i in 0..10 {
            pair.post(0, i as u32 % 2, write(i, i * 50_000, i * 50_000, 50_000));
        }
        pair.run_for(60);
        pair.fabric.dead = vec![true; 4];
        pair.run(LONG);
        let mut ids: Vec<u64> = pair.cqes[0].iter().map(|c| c.wr_id).collect();
        ids.sort_unstable();
        assert_eq!(ids, (0..10).collect::<Vec<_>>());
        for qpn in 0..2 {
            let of_qp: Vec<Status> = pair.cqes[0].iter().filter(|c| c.qpn == qpn).map(|c| c.status).collect();
            let failed = of_qp.iter().filter(|&&s| s == Status::RetryExcErr).count();
            assert_eq!(failed, 1, "{of_qp:?}");
            assert_eq!(of_qp.last(), Some(&Status::WrFlushErr));
        }
        pair.post(0, 0, write(99, 0, 0, 1));
        assert_eq!(pair.cqes[0].last().unwrap().status, Status::WrFlushErr, "later ones are flushed at once");
    }
}

fn stages() -> [NicConfig; 3] {
    [Stage::Write, Stage::Send, Stage::Full].map(|stage| NicConfig { stage, ..Setup::default().nic })
}

/// L4: one small message uses one path, and all are dead: the idle ones are found out too, and the error comes in time.
fn a_lone_packet_on_dead_paths_is_an_orderly_error<P: Profile>() {
    for (paths, nic) in [2, 8].into_iter().flat_map(|paths| stages().map(|nic| (paths, nic))) {
        let mut pair = Pair::<P>::new(&Setup { paths, nic, ..Setup::default() });
        pair.fabric.dead = vec![true; paths.into()];
        pair.post(0, 0, write(7, 0, 0, 64));
        // 1 + 2 + 4 RTO until the first is DOWN, then 1 + 2 + .. + 64 + 64 of the one that stays UP to the last; RTO is more than
        // RTO_MIN only where a round trip is known
        let ticks = pair.run_until_cqes(0, 1, LONG);
        assert_eq!((pair.cqes[0][0].wr_id, pair.cqes[0][0].status), (7, Status::RetryExcErr));
        assert!(ticks < 300 * u64::from(nic.rto_min_ticks), "{ticks} ticks");
    }
}

/// S3, L4: paths die while nearly all are idle; single small messages still arrive, each way round, even by a single path.
fn moved_packets_find_the_paths_that_live<P: Profile>() {
    let deaths = [&[1usize, 3, 5, 7][..], &[0, 1, 2, 3], &[4, 5, 6, 7], &[0, 1, 2, 3, 4, 5, 6], &[1, 2, 3, 4, 5, 6, 7]];
    let mut tried_again = 0;
    for (dead, nic) in deaths.into_iter().flat_map(|dead| stages().map(|nic| (dead, nic))) {
        let mut pair = Pair::<P>::new(&Setup { nic, ..Setup::default() });
        for n in 0..40 {
            if n == 5 {
                dead.iter().for_each(|&p| pair.fabric.dead[p] = true);
            }
            pair.post(0, 0, write(n, n * 64, n * 64, 64));
            pair.run_until_cqes(0, n as usize + 1, LONG);
        }
        assert!(pair.cqes[0].iter().all(|c| c.status == Status::Success), "{:?}", pair.cqes[0]);
        pair.assert_placed(0, 0, 0, 40 * 64);
        let moved = |e: &Event| match *e {
            Event::Resend { home, via, ppsn, .. } if via != home => Some((home, ppsn, via)),
            _ => None,
        };
        let moved: Vec<_> = pair.events[0].iter().filter_map(moved).collect();
        assert!(!moved.is_empty());
        for pair in moved.windows(2).filter(|p| (p[0].0, p[0].1) == (p[1].0, p[1].1)) {
            assert_ne!(pair[0].2, pair[1].2, "the next try takes another path: {moved:?}");
            tried_again += 1;
        }
    }
    assert!(tried_again > 0, "no packet was tried a second time");
}

/// S3, L4: one path of eight lives, and loses 15 % of its frames; one small message after another still arrives.
fn one_lossy_path_that_lives_is_enough<P: Profile>() {
    let seed = seed(310);
    for (round, nic) in (0..6).flat_map(|round| stages().map(|nic| (round, nic))) {
        let fabric = FabricConfig { loss: 0.15, ..FabricConfig::default() };
        let mut pair = Pair::<P>::new(&Setup { nic, fabric, seed: seed + round, ..Setup::default() });
        for n in 0..20 {
            if n == 3 {
                (0..8).filter(|&p| p != round as usize).for_each(|p| pair.fabric.dead[p] = true);
            }
            pair.post(0, 0, write(n, n * 64, n * 64, 64));
            pair.run_until_cqes(0, n as usize + 1, LONG);
        }
        assert!(pair.cqes[0].iter().all(|c| c.status == Status::Success), "{:?}", pair.cqes[0]);
        pair.assert_placed(0, 0, 0, 20 * 64);
    }
}

/// A QP fails; the other QP of the same connection completes, and the sequence is filled by NOPs (R4, S6).
fn a_failed_qp_leaves_the_others_alone<P: Profile>() {
    let seed = seed(400);
    for round in 0..6 {
        let bytes = 1 << 20;
        let fabric = rough(if round % 2 == 0 { 0.0 } else { 0.05 });
        let mut pair = Pair::<P>::new(&Setup { bytes, fabric, seed: seed + round, ..Setup::default() });
        pair.post(0, 1, write(100, 0, 0, 400_000));
        pair.post(0, 0, Wqe { rkey: 0x7777, ..write(1, 0, 0, 100_000) });
        pair.post(0, 0, write(2, 0, 500_000, 10));
        pair.post(0, 1, write(101, 400_000, 400_000, 400_000));
        pair.run_until_cqes(0, 4, LONG);
        pair.run(LONG);
        let status = |id: u64| pair.cqes[0].iter().find(|c| c.wr_id == id).unwrap().status;
        let got = [status(100), status(101), status(1), status(2)];
        assert_eq!(got[..2], [Status::Success; 2]);
        // The refusal that arrives first decides: the bad key itself, or "QP in Error" of a packet behind it.
        let remote = |s: Status| matches!(s, Status::RemAccessErr | Status::RemOpErr);
        let flushed = |s: Status| s == Status::WrFlushErr;
        assert!(remote(got[2]) && flushed(got[3]) || flushed(got[2]) && remote(got[3]), "{got:?}");
        pair.assert_placed(0, 0, 0, 800_000);
        assert!(pair.nic[0].counters().tx_nops > 0);
        pair.assert_quiet();
        assert!(pair.nic[1].send_queue(0).unwrap().in_error(), "the refusing QP is in Error too");
        pair.post(1, 0, write(7, 0, 0, 1));
        assert_eq!(pair.cqes[1][0].status, Status::WrFlushErr);
    }
}

/// A QP that the peer does not have: refused with code 4, an orderly error instead of an endless resend (R9).
fn an_unknown_peer_qp_is_an_orderly_error<P: Profile>() {
    let mut pair = Pair::<P>::new(&Setup::default());
    pair.nic[1].close_qp(0);
    pair.post(0, 0, write(1, 0, 0, 100_000));
    pair.post(0, 1, write(2, 0, 0, 100_000));
    pair.run(LONG);
    let mut got: Vec<(u64, Status, u8)> = pair.cqes[0].iter().map(|c| (c.wr_id, c.status, c.nak_code)).collect();
    got.sort_by_key(|c| c.0);
    assert_eq!(got, [(1, Status::RemInvReqErr, 4), (2, Status::Success, 0)]);
    pair.assert_placed(0, 0, 0, 100_000);
    pair.assert_quiet();
}

/// A QP is closed while its packets are under way and opened again when they are drained: nothing of the old one is left.
fn a_reopened_qp_starts_anew<P: Profile>() {
    let mut pair = Pair::<P>::new(&Setup::default());
    for round in 0..100u64 {
        pair.post(0, 0, write(round, 0, 0, 300_000));
        pair.run_for(round % 17);
        for side in [1, 0] {
            pair.nic[side].close_qp(0);
        }
        pair.run(LONG);
        pair.assert_quiet();
        pair.cqes[0].clear();
        pair.mem[1].hits.fill(0);
        let msn = (round as u32 * 0x10_3001) & 0xFF_FFFF;
        for side in 0..2 {
            let qp = QpConfig { tx_start_msn: msn, rx_start_msn: msn, ..QpConfig::new(0, 0) };
            pair.nic[side].open_qp(0, &qp).unwrap();
        }
        pair.post(0, 0, write(7, 0, 0, 30_000));
        pair.run(LONG);
        let got: Vec<_> = pair.cqes[0].iter().map(|c| (c.wr_id, c.status, c.wqe_index)).collect();
        assert_eq!(got, [(7, Status::Success, 0)]);
        pair.assert_placed(0, 0, 0, 30_000);
    }
}

/// A connection is opened anew a hundred times in the middle of a transfer: every field starts anew.
fn a_reopened_connection_starts_anew<P: Profile>() {
    let setup = Setup { paths: 4, ..Setup::default() };
    let mut pair = Pair::<P>::new(&setup);
    for round in 0..100u32 {
        pair.post(0, 0, write(1, 0, 0, 500_000));
        pair.run_for(u64::from(round % 23));
        let start = round.wrapping_mul(0x9E_3779) & 0xFF_FFFF;
        for side in 0..2 {
            pair.nic[side].close_connection(0);
        }
        pair.run(LONG);
        for side in 0..2 {
            assert_eq!(pair.nic[side].pool_packets(), 0);
            let setup = Setup { start_ppsn: start, ..setup.clone() };
            let now = pair.tick();
            pair.nic[side].open_connection(now, 0, &conn_config(side as u8, &setup)).unwrap();
            for qpn in 0..2 {
                pair.nic[side].open_qp(qpn, &QpConfig::new(0, qpn)).unwrap();
            }
            assert_eq!(
                pair.nic[side].tx_path(0, 1).unwrap().fields(),
                TxPath::<()>::open(true, 0xC001, start, 16, now).fields()
            );
            assert_eq!(pair.nic[side].rx_path(0, 1).unwrap(), &RxPath::open(1, start, 0xC001));
        }
        pair.cqes[0].clear();
        pair.mem[1].hits.fill(0);
        pair.post(0, 0, write(2, 0, 0, 30_000));
        pair.run(LONG);
        assert_eq!(pair.cqes[0].iter().map(|c| (c.wr_id, c.status)).collect::<Vec<_>>(), [(2, Status::Success)]);
        pair.assert_placed(0, 0, 0, 30_000);
    }
}

/// Host memory that cannot be read fails the message, not the connection.
fn unreadable_host_memory_fails_the_message<P: Profile>() {
    let mut pair = Pair::<P>::new(&Setup::default());
    let key = KeyConfig { valid: true, key_low: 0x11, base: 0, length: 1 << 40, dma_base: 0, ..KeyConfig::default() };
    pair.nic[0].register_key(1, &key).unwrap();
    pair.post(0, 0, Wqe { laddr: 1 << 33, lkey: LKEY, ..write(1, 0, 0, 9000) });
    pair.run(LONG);
    assert_eq!(pair.cqes[0][0].status, Status::LocProtErr);
    pair.assert_quiet();
}

/// The hint and the pacer on a whole transfer: the receiver's share is kept (R11, C2..C4).
fn a_receiver_share_is_kept<P: Profile>() {
    let cap = 20_000u32;
    let bytes = 2 << 20;
    let nic = NicConfig { epoch_cap_bytes: cap, ..Setup::default().nic };
    let hint = cap * 125 / 256;
    let mut pair = Pair::<P>::new(&Setup { nic, bytes, hint, ..Setup::default() });
    pair.post(0, 0, write(1, 0, 0, bytes as u32));
    let ticks = pair.run_until_cqes(0, 1, LONG);
    pair.run(LONG);
    pair.assert_placed(0, 0, 0, bytes);
    let ideal = bytes as u64 * 128 / u64::from(cap);
    assert!(ticks > ideal * 85 / 100 && ticks < ideal * 120 / 100, "{ticks} ticks, {ideal} at the share");
    pair.assert_quiet();
}

/// Congestion marks of the fabric keep the queues short, with both congestion controls.
fn marks_bound_the_queues<P: Profile>() {
    let fabric = FabricConfig { drop_ticks: 400, ..FabricConfig::default() };
    let bytes = 4 << 20;
    let setup = Setup { paths: 1, bytes, fabric, ..Setup::default() };
    let mut aimd = Pair::<P>::new(&setup);
    aimd.post(0, 0, write(1, 0, 0, bytes as u32));
    aimd.run(LONG);
    assert_eq!(aimd.fabric.lost, 0);
    let mut dctcp = Pair::<P, DctcpLike>::with(&setup);
    dctcp.post(0, 0, write(1, 0, 0, bytes as u32));
    dctcp.run(LONG);
    assert_eq!(dctcp.fabric.lost, 0);
    dctcp.assert_placed(0, 0, 0, bytes);
    dctcp.assert_quiet();
}

/// Both directions at once, many messages, under loss.
fn both_directions_many_messages<P: Profile>() {
    let seed = seed(500);
    let bytes = 1 << 20;
    let mut pair = Pair::<P>::new(&Setup { bytes, seed, fabric: rough(0.03), ..Setup::default() });
    let mut at = [0u64; 2];
    for i in 0..120u64 {
        let len = (i * 977) % 8000;
        for (side, at) in at.iter_mut().enumerate() {
            pair.post(side, (i % 2) as u32, write(i, *at, *at, len as u32));
            *at += len;
        }
        pair.run_for(50);
        while pair.cqes.iter().any(|c| (c.len() as u64) + 30 < i) {
            pair.step();
        }
    }
    pair.run(LONG);
    for (side, &bytes) in at.iter().enumerate() {
        assert_eq!(pair.cqes[side].len(), 120);
        assert!(pair.cqes[side].iter().all(|c| c.status == Status::Success));
        for qpn in 0..2 {
            let ids: Vec<u64> = pair.cqes[side].iter().filter(|c| c.qpn == qpn).map(|c| c.wr_id).collect();
            assert!(ids.is_sorted(), "completions of a stream come in order");
        }
        pair.assert_placed(side, 0, 0, bytes as usize);
    }
    pair.assert_quiet();
}

/// W4: all paths die while more work requests wait than the FIFO of the connection holds.
fn all_paths_dead_with_more_work_than_fits<P: Profile>() {
    let nic = NicConfig { conn_fifo: 4, ..Setup::default().nic };
    let mut pair = Pair::<P>::new(&Setup { paths: 2, retry: 1, nic, ..Setup::default() });
    pair.fabric.dead = vec![true; 2];
    for i in 0..40 {
        for _ in 0..1000 {
            match pair.nic[0].post_send(i as u32 % 2, &write(i, 0, 0, 200_000)) {
                Ok(()) => break,
                Err(why) => assert_eq!(why, PostError::ConnFull { conn: 0, depth: 4 }),
            }
            pair.run_for(1000);
        }
    }
    pair.run(LONG);
    let mut ids: Vec<u64> = pair.cqes[0].iter().map(|c| c.wr_id).collect();
    ids.sort_unstable();
    assert_eq!(ids, (0..40).collect::<Vec<_>>());
    assert!(pair.nic[0].tx_conn(0).unwrap().fifo.is_empty());
}

/// S2, S6: a QP is closed at both ends while its messages are the oldest of a connection whose windows are full.
fn a_closed_qp_holds_up_nobody<P: Profile>() {
    let mut pair = Pair::<P>::new(&Setup::default());
    for i in 0..5 {
        pair.post(0, 0, write(i, 0, 0, 200_000));
    }
    pair.post(0, 1, write(9, 300_000, 300_000, 100_000));
    pair.run_for(3);
    for side in [1, 0] {
        pair.nic[side].close_qp(0);
    }
    pair.run(LONG);
    assert_eq!(pair.cqes[0].iter().map(|c| (c.wr_id, c.status)).collect::<Vec<_>>(), [(9, Status::Success)]);
    pair.assert_placed(0, 300_000, 300_000, 100_000);
    pair.assert_quiet();
}

/// A connection that waits for room in the pool goes on when the one that holds it is closed.
fn a_closed_connection_frees_the_pool<P: Profile>() {
    let setup = Setup { paths: 1, window: 64, ..Setup::default() };
    let mut nic = Nic::<P>::new(NicConfig { pool_packets: 16, ..setup.nic }).unwrap();
    for conn in 0..2 {
        nic.open_connection(0, conn, &conn_config(0, &setup)).unwrap();
        nic.open_qp(conn.into(), &QpConfig::new(conn, 0)).unwrap();
    }
    keys(&mut nic, 1 << 20);
    nic.post_send(0, &write(0, 0, 0, 100_000)).unwrap();
    let sent = std::iter::from_fn(|| nic.poll_outgoing(1)).count();
    assert_eq!(sent, 16, "the pool is full");
    nic.post_send(1, &write(1, 0, 0, 100_000)).unwrap();
    assert_eq!(nic.poll_outgoing(1), None);
    nic.close_connection(0);
    assert!(matches!(nic.poll_outgoing(1), Some(Outgoing::Data(p)) if p.conn == 1));
}

crate::for_each_profile!(
    sizes_without_faults,
    sizes_under_loss_duplication_and_reordering,
    sizes_near_the_wrap_under_loss,
    sequence_numbers_wrap,
    every_single_packet_may_be_lost,
    resends_may_be_lost_too,
    all_acknowledgments_lost_then_healed,
    a_plane_dies_and_comes_back,
    a_burst_that_swallows_probes_does_not_hold_a_transfer,
    all_paths_dead_is_an_orderly_error,
    a_lone_packet_on_dead_paths_is_an_orderly_error,
    moved_packets_find_the_paths_that_live,
    one_lossy_path_that_lives_is_enough,
    a_failed_qp_leaves_the_others_alone,
    an_unknown_peer_qp_is_an_orderly_error,
    a_reopened_qp_starts_anew,
    a_reopened_connection_starts_anew,
    unreadable_host_memory_fails_the_message,
    a_receiver_share_is_kept,
    marks_bound_the_queues,
    both_directions_many_messages,
    all_paths_dead_with_more_work_than_fits,
    a_closed_qp_holds_up_nobody,
    a_closed_connection_frees_the_pool,
);
