//! SEND, SEND with immediate, WRITE with immediate: Q1, Q3..Q6.

use mrnic_model::*;

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, BARE_KEY, BASE, LONG};

const SIZES: [u32; 9] = [0, 1, 4095, 4096, 4097, 8192, 8 << 10, 65_536, 1 << 20];

/// Every size of one opcode, with lists on both sides, over two QPs; every byte, completion and counter is checked.
fn all_sizes<P: Profile>(opcode: u8, setup: &DuoSetup) {
    let mut duo = Duo::<P>::new(setup);
    let imm = matches!(opcode, WQE_SEND_IMM | WQE_WRITE_IMM);
    let mut places = vec![];
    for (i, &len) in SIZES.iter().enumerate() {
        let (qpn, wr_id) = (i as u32 % 2, i as u64);
        let (from, to) = (duo.alloc(0, len), duo.alloc(1, len));
        let parts = 1 + i % 8;
        let (local, remote) = (duo.split(from, len, parts), duo.split(to, len, 1 + (i + 3) % 8));
        let recv = if opcode == WQE_WRITE_IMM { &[][..] } else { &remote[..] };
        duo.post_recv(1, qpn, 100 + wr_id, recv);
        let mut w = wqe(opcode, wr_id, from, to, len);
        (w.imm, w.solicited) = (0xAB00 + i as u32, i % 2 == 0);
        duo.nic[0].post_send_list(qpn, &w, &local).unwrap();
        places.push((from, to, len));
    }
    duo.run_until(LONG, "all sizes", |d| d.cqes[0].len() == SIZES.len());
    duo.run(LONG);
    for (i, &(from, to, len)) in places.iter().enumerate() {
        assert!(duo.bytes(0, from, len) == duo.bytes(1, to, len), "message {i} of {len} bytes");
        let recv: Vec<_> = duo.cqes[1].iter().filter(|c| c.wr_id == 100 + i as u64).collect();
        // Q5: one completion, with everything that the message said.
        assert_eq!(recv.len(), 1);
        let cqe = recv[0];
        assert_eq!((cqe.status, cqe.byte_len, cqe.qpn), (Status::Success, len, i as u32 % 2));
        assert_eq!(cqe.imm, imm.then_some(0xAB00 + i as u32));
        assert_eq!(cqe.solicited, i % 2 == 0);
        assert_eq!(cqe.opcode, if opcode == WQE_WRITE_IMM { CQE_RECV_WRITE_IMM } else { CQE_RECV });
    }
    let send: Vec<_> = duo.statuses(0, false);
    assert_eq!(send.len(), SIZES.len());
    assert!(send.iter().all(|(_, status)| *status == 0));
    for qpn in 0..2 {
        // Q5: in the order of the stream.
        let of_qp = duo.cqes[1].iter().filter(|c| c.qpn == qpn).map(|c| c.wr_id).collect::<Vec<_>>();
        assert!(of_qp.is_sorted(), "{of_qp:?}");
    }
    assert_eq!(duo.nic[1].counters().recv_cqes, SIZES.len() as u64);
    duo.assert_quiet();
}

/// Q1, Q4, Q5: all sizes on a good network.
#[test]
fn q4_sizes_without_faults() {
    for opcode in [WQE_SEND, WQE_SEND_IMM, WQE_WRITE_IMM] {
        for (paths, mtu_log2) in [(1, 12), (8, 12), (4, 8)] {
            all_sizes::<OpenMr0>(opcode, &DuoSetup { paths, mtu_log2, ..DuoSetup::default() });
        }
    }
}

/// Q1, Q4, Q5: all sizes with loss, duplicates and reordering over 8 paths, in both wire profiles.
#[test]
fn q4_sizes_under_faults() {
    for (i, loss) in [0.0, 0.03, 0.1].into_iter().enumerate() {
        for opcode in [WQE_SEND, WQE_SEND_IMM, WQE_WRITE_IMM] {
            let setup = DuoSetup { fabric: rough(loss), seed: crate::pair::seed(10 + i as u64), ..DuoSetup::default() };
            all_sizes::<OpenMr0>(opcode, &setup);
            all_sizes::<MrcLike>(opcode, &setup);
        }
    }
}

/// Q1: the n-th receive belongs to the n-th consuming message, whatever else is sent between.
#[test]
fn q1_receives_in_order() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), ..DuoSetup::default() });
    let mut bufs = vec![];
    for i in 0..20u64 {
        let to = duo.alloc(1, 10_000);
        duo.post_recv(1, 0, i, &[sge(to, 10_000)]);
        bufs.push(to);
    }
    let mut sent = vec![];
    for i in 0..20u64 {
        let (from, plain) = (duo.alloc(0, 9_000), duo.alloc(1, 9_000));
        duo.post(0, 0, &wqe(WQE_WRITE, 100 + i, from, plain, 9_000));
        duo.post(0, 0, &wqe(WQE_SEND, i, from, 0, 8_000 + i as u32));
        sent.push(from);
    }
    duo.run(LONG);
    assert_eq!(duo.statuses(1, true), (0..20).map(|i| (i, 0)).collect::<Vec<_>>());
    for i in 0..20 {
        let len = 8_000 + i as u32;
        assert!(duo.bytes(0, sent[i], len) == duo.bytes(1, bufs[i], len));
    }
    duo.assert_quiet();
}

/// Q3: a message longer than its receive fails both QPs; the receive says why, the others are flushed (Q6).
#[test]
fn q3_message_too_long() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    let to = duo.alloc(1, 100);
    let before = duo.bytes(1, to, 100).to_vec();
    for i in 0..4 {
        duo.post_recv(1, 0, i, &[sge(to, 50), sge(to + 50, 49)]);
    }
    duo.post(0, 0, &wqe(WQE_SEND, 10, 0, 0, 99));
    duo.run(LONG);
    duo.post(0, 0, &wqe(WQE_SEND, 11, 0, 0, 100));
    duo.post(0, 0, &wqe(WQE_SEND, 12, 0, 0, 1));
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(10, 0), (11, 9), (12, 5)]);
    assert_eq!(duo.statuses(1, true), [(0, 0), (1, 1), (2, 5), (3, 5)]);
    assert_ne!(duo.bytes(1, to, 99), &before[..99]);
    assert_eq!(duo.nic[1].qp_state(0), Ok(QpState::Error));
    assert!(duo.asyncs[1].contains(&AsyncEvent::QpFatal { qpn: 0, code: 7 }));
    // Q6: receives that are posted later complete at once.
    duo.post_recv(1, 0, 9, &[]);
    assert_eq!(duo.statuses(1, true).last(), Some(&(9, 5)));
    assert_eq!(duo.nic[1].qp_state(1), Ok(QpState::Rts), "the other QP lives");
    duo.assert_quiet();
}

/// Q3: SGEs that the NIC may not write: unknown key, no local write, outside of the region.
#[test]
fn q3_receive_memory_protected() {
    let bad = [
        Sge { lkey: 0x77, ..sge(0, 100) },
        Sge { lkey: BARE_KEY, ..sge(0, 100) },
        Sge { addr: BASE - 1, ..sge(0, 100) },
        Sge { addr: u64::MAX - 2, ..sge(0, 100) },
    ];
    for bad in bad {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
        let before = duo.mem[1].bytes.clone();
        duo.post_recv(1, 0, 1, &[sge(0, 50), bad]);
        duo.post_recv(1, 0, 2, &[sge(0, 50)]);
        duo.post(0, 0, &wqe(WQE_SEND, 10, 0, 0, 60));
        duo.run(LONG);
        assert_eq!(duo.statuses(1, true), [(1, 4), (2, 5)]);
        assert_eq!(duo.statuses(0, false), [(10, 11)]);
        assert!(before == duo.mem[1].bytes, "nothing was written");
        duo.assert_quiet();
    }
    // An SGE that no byte of the message reaches touches no key.
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    duo.post_recv(1, 0, 1, &[sge(0, 50), bad[0]]);
    duo.post(0, 0, &wqe(WQE_SEND, 10, 0, 0, 50));
    duo.run(LONG);
    assert_eq!(duo.statuses(1, true), [(1, 0)]);
}

/// Q4: a WRITE with immediate leaves the receive's memory alone and completes after all of its bytes.
#[test]
fn q4_write_with_immediate() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), ..DuoSetup::default() });
    let (to, buffer) = (duo.alloc(1, 300_000), duo.alloc(1, 1000));
    let before = duo.bytes(1, buffer, 1000).to_vec();
    duo.post_recv(1, 0, 1, &[sge(buffer, 1000)]);
    duo.post(0, 0, &Wqe { imm: 7, ..wqe(WQE_WRITE_IMM, 10, 0, to, 300_000) });
    duo.run_until(LONG, "the receive", |d| !d.cqes[1].is_empty());
    assert!(duo.bytes(1, to, 300_000) == duo.bytes(0, 0, 300_000), "every byte is there before the completion");
    assert_eq!((duo.cqes[1][0].byte_len, duo.cqes[1][0].imm), (300_000, Some(7)));
    assert_eq!(duo.bytes(1, buffer, 1000), before);
    duo.run(LONG);
    duo.assert_quiet();
}

/// Q5: the 32 bytes of a receive's completion.
#[test]
fn q5_completion_bytes() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    duo.post_recv(1, 1, 0x1122, &[sge(0, 64)]);
    duo.post(0, 1, &Wqe { imm: 0x0A0B_0C0D, solicited: true, ..wqe(WQE_SEND_IMM, 10, 0, 0, 64) });
    duo.run(LONG);
    let bytes = duo.cqes[1][0].to_bytes();
    assert_eq!(bytes[..8], [0, 128, 1, 3, 1, 0, 0, 0]);
    assert_eq!(bytes[8..16], 0x1122u64.to_le_bytes());
    assert_eq!(bytes[16..20], 64u32.to_le_bytes());
    assert_eq!(bytes[28..32], 0x0A0B_0C0Du32.to_le_bytes());
    let send = duo.cqes[0][0];
    assert_eq!((send.opcode, send.wc_opcode(), send.byte_len), (WQE_SEND_IMM, 0, 64));
}

/// Q6: a QP in Error completes each posted receive once; work requests too (W4).
#[test]
fn q6_flush_exactly_once() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.05), ..DuoSetup::default() });
    for i in 0..30 {
        let to = duo.alloc(1, 20_000);
        duo.post_recv(1, 0, i, &[sge(to, 20_000)]);
        duo.post(0, 0, &wqe(WQE_SEND, 100 + i, 0, 0, 20_000));
    }
    duo.run_for(60);
    duo.nic[1].modify_qp(0, QpState::Error).unwrap();
    duo.run(LONG);
    let mut recv: Vec<u64> = duo.statuses(1, true).iter().map(|c| c.0).collect();
    assert_eq!(recv, (0..30).collect::<Vec<_>>(), "in order, once each");
    recv.clear();
    let sends: Vec<u64> = duo.statuses(0, false).iter().map(|c| c.0).collect();
    assert_eq!(sends, (100..130).collect::<Vec<_>>());
    let status = duo.statuses(0, false);
    // W3: one fails by the refusal; before it what was done keeps its success, after it everything is flushed.
    let failing = status.iter().position(|c| c.1 == 11).expect("the refusal shows");
    assert!(status[..failing].iter().all(|c| [0, 5].contains(&c.1)), "{status:?}");
    assert!(status[failing + 1..].iter().all(|c| c.1 == 5), "{status:?}");
    assert_eq!(duo.nic[1].qp_state(0), Ok(QpState::Error));
    duo.assert_quiet();
}

/// Work requests and receives that cannot be: typed errors, nothing changed.
#[test]
fn refused_posts() {
    let mut duo =
        Duo::<OpenMr0>::new(&DuoSetup { qp: QpConfig { recv_depth: 2, ..DuoSetup::default().qp }, ..DuoSetup::default() });
    let nine = [sge(0, 1); 9];
    assert_eq!(duo.nic[0].post_send_list(0, &wqe(WQE_SEND, 0, 0, 0, 9), &nine), Err(PostError::Sges { count: 9 }));
    assert_eq!(duo.nic[0].post_recv(0, &RecvWr { wr_id: 0, sges: &nine }), Err(PostError::Sges { count: 9 }));
    let one = RecvWr { wr_id: 0, sges: &[] };
    assert_eq!((duo.nic[0].post_recv(0, &one), duo.nic[0].post_recv(0, &one)), (Ok(()), Ok(())));
    assert_eq!(duo.nic[0].post_recv(0, &one), Err(PostError::RecvFull { depth: 2 }));
    assert_eq!(duo.nic[0].post_recv(31, &one), Err(PostError::NoSuchQp { qpn: 31 }));
    assert_eq!(duo.nic[0].post_srq_recv(0, &one), Err(PostError::NoSuchSrq { srq: 0 }));
    duo.post(0, 1, &wqe(7, 1, 0, 0, 1));
    assert_eq!(duo.statuses(0, false), [(1, 2)], "W1: the opcode");
}
