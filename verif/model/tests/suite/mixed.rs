//! Everything at once: random mixtures of all opcodes with every byte checked (Q1..Q5, N1..N4, D1..D6), and with queue pairs
//! that fail, are reset or destroyed in the middle (Q6, D7).

use mrnic_model::*;
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestRunner};
use rand::Rng;

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, LONG};
use crate::pair::seed;
use crate::workload::{Load, Workload};

fn soak<P: Profile>(load: &Load, setup: &DuoSetup) {
    let mut workload = Workload::<P>::new(load, setup);
    workload.run(|_| {});
    assert!(workload.done_of.iter().all(|n| *n > 0), "every opcode: {:?}", workload.done_of);
}

/// The short version of the example `soak`.
#[test]
fn soak_short() {
    soak::<OpenMr0>(
        &Load { messages: 6000, ..Load::default() },
        &DuoSetup { retry: 15, seed: seed(1000), ..DuoSetup::default() },
    );
}

#[test]
fn soak_short_with_shared_receives() {
    let load = Load { messages: 3000, srq: true, ..Load::default() };
    soak::<OpenMr0>(&load, &DuoSetup { retry: 15, seed: seed(1001), ..DuoSetup::default() });
}

#[test]
fn soak_short_in_the_second_profile() {
    let load = Load { messages: 3000, ..Load::default() };
    soak::<MrcLike>(&load, &DuoSetup { retry: 15, seed: seed(1002), mtu_log2: 10, ..DuoSetup::default() });
}

/// Random sizes of everything; the seed of a failure is printed.
#[test]
fn soak_of_random_configurations() {
    let config = ProptestConfig {
        cases: 24,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(seed(1003)),
        max_shrink_iters: 8,
        ..ProptestConfig::default()
    };
    let sizes = (0..4u32, 8..13u8, 1..33u16, 1..5u32, any::<u64>(), 2..12usize);
    let limits = (1..5u8, 1..5u8, 1..9u32, any::<bool>(), 0..3u8, 0..0x100_0000u32);
    TestRunner::new(config)
        .run(
            &(sizes, limits),
            |((paths_log2, mtu_log2, window, qps, seed, depth), (rd, dest_rd, responses, srq, timer, start))| {
                let usual = DuoSetup::default();
                let qp = QpConfig {
                    max_rd_atomic: rd,
                    max_dest_rd_atomic: dest_rd,
                    min_rnr_timer: 1 + timer,
                    tx_start_msn: start,
                    rx_start_msn: start,
                    ..usual.qp
                };
                let nic = NicConfig { responses, msgs_per_stream: 4 << (seed % 5), ..usual.nic };
                let start_ppsn = (start ^ 0xFF_FFF0) & 0xFF_FFFF;
                let setup =
                    DuoSetup { paths: 1 << paths_log2, mtu_log2, window, retry: 15, qp, nic, start_ppsn, seed, ..usual };
                let load = Load { messages: 250, qps, depth, srq, longest: 30_000, longest_send: 12_000, ..Load::default() };
                Workload::<OpenMr0>::new(&load, &setup).run(|_| {});
                Ok(())
            },
        )
        .unwrap();
}

/// The n-th packet of each kind and side is lost, for every n, in a short exchange of all opcodes.
#[test]
fn every_single_packet_may_be_lost() {
    for kind in [TransmitKind::New, TransmitKind::Ack, TransmitKind::Resend, TransmitKind::Nop, TransmitKind::Probe] {
        for side in 0..2 {
            for n in 0..16 {
                let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 2, ..DuoSetup::default() });
                let other = move |before| kind != TransmitKind::New && before == 3;
                duo.fabric.drop_rule = Some(Box::new(move |from, k, before| {
                    // Without a loss there are no resends and probes.
                    (from == side && k == kind && before == n) || (k == TransmitKind::New && other(before))
                }));
                let word = duo.alloc8(1, 1);
                duo.set_word(1, word, 0);
                let (buffer, target, local) = (duo.alloc(1, 9000), duo.alloc(1, 9000), duo.alloc(0, 9000));
                duo.post(0, 0, &wqe(WQE_SEND, 0, local, 0, 9000));
                duo.post(0, 0, &Wqe { swap_add: 3, ..wqe(WQE_FETCH_ADD, 1, 20_000, word, 8) });
                duo.post(0, 0, &Wqe { imm: 4, ..wqe(WQE_WRITE_IMM, 2, local, target, 9000) });
                duo.post(0, 0, &wqe(WQE_READ, 3, 30_000, target, 9000));
                duo.run_for(n % 4 * 30);
                duo.post_recv(1, 0, 10, &[sge(buffer, 9000)]);
                duo.post_recv(1, 0, 11, &[]);
                duo.run(LONG);
                assert_eq!(duo.statuses(0, false), [(0, 0), (1, 0), (2, 0), (3, 0)], "{kind:?} {side} {n}");
                assert_eq!(duo.statuses(1, true), [(10, 0), (11, 0)]);
                assert_eq!((duo.word(1, word), duo.mem[1].atomics), (3, 1));
                assert!(duo.bytes(0, local, 9000) == duo.bytes(1, buffer, 9000));
                assert!(duo.bytes(0, local, 9000) == duo.bytes(1, target, 9000));
                assert!(duo.bytes(0, 30_000, 9000) == duo.bytes(1, target, 9000));
                duo.assert_quiet();
            }
        }
    }
}

/// Queue pairs fail or go away on either side in the middle of everything: each work request and each receive completes once
/// (or, after RESET, not at all), the other queue pairs go on, and nothing hangs.
#[test]
fn queue_pairs_go_away() {
    for n in 0..40 {
        let setup = DuoSetup { qps: 4, fabric: rough(0.08), seed: seed(1100) + n, retry: 15, ..DuoSetup::default() };
        let mut duo = Duo::<OpenMr0>::new(&setup);
        for i in 0..80u64 {
            let side = (i / 4 % 2) as usize;
            let opcode = duo.rng.random_range(0..7u8);
            let len = if opcode >= WQE_COMPARE_SWAP { 8 } else { duo.rng.random_range(0..20_000) };
            let at = duo.alloc8(0, 3000);
            duo.post(side, i as u32 % 4, &wqe(opcode, i, at, at, len));
            if i % 3 != 0 {
                duo.post_recv(1 - side, i as u32 % 4, 1000 + i, &[sge(at, 20_000)]);
            }
        }
        duo.run_for(n * 7);
        let side = n as usize % 2;
        match n / 2 % 4 {
            0 => duo.nic[side].modify_qp(1, QpState::Error).unwrap(),
            1 => duo.nic[side].modify_qp(1, QpState::Reset).unwrap(),
            2 => duo.nic[side].close_qp(1),
            _ => duo.nic[side].register_key(1, &KeyConfig::default()).unwrap(),
        }
        duo.run_for(3_000);
        // Whatever still waits for a receive gets it, or fails; then everything ends.
        for i in 0..80u32 {
            for side in 0..2 {
                let receive = RecvWr { wr_id: 5000 + u64::from(i), sges: &[] };
                let _maybe_gone = duo.nic[side].post_recv(i % 4, &receive);
            }
        }
        duo.run(LONG);
        duo.assert_quiet();
        for side in 0..2 {
            let mut ids = duo.statuses(side, false).iter().map(|c| c.0).collect::<Vec<_>>();
            ids.sort_unstable();
            let all = ids.len();
            ids.dedup();
            assert_eq!(ids.len(), all, "a completion came twice");
            let gone = n / 2 % 4 == 1 || n / 2 % 4 == 2;
            let posted = (0..80u64).filter(|i| (i / 4 % 2) as usize == side && !(gone && side == n as usize % 2 && i % 4 == 1));
            let missing: Vec<u64> = posted.filter(|i| !ids.contains(i)).collect();
            assert_eq!(missing, [], "side {side} of run {n}");
        }
    }
}
