//! Shared receive queues: Q1, Q6, Q7.

use std::collections::BTreeSet;

use mrnic_model::*;

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, LONG};
use crate::fabric::FabricConfig;
use crate::pair::seed;

fn setup(depth: u32, limit: u32) -> DuoSetup {
    DuoSetup { qps: 4, srq: Some(SrqConfig { pd: 0, depth, limit }), seed: seed(400), ..DuoSetup::default() }
}

fn post(duo: &mut Duo, side: usize, wr_id: u64, at: u64, len: u32) {
    duo.nic[side].post_srq_recv(0, &RecvWr { wr_id, sges: &[sge(at, len)] }).unwrap();
}

/// Q1: several QPs share the receives; each message has one of its own, with its bytes, and each QP reports in its order.
#[test]
fn q1_shared_by_several_qps() {
    for (n, loss) in [0.0, 0.05, 0.15].into_iter().enumerate() {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(loss), seed: seed(400) + n as u64, ..setup(64, 0) });
        let len = 12_000;
        let mut sent = vec![];
        for i in 0..60u64 {
            let from = duo.alloc(0, len);
            duo.post(0, i as u32 % 4, &Wqe { imm: i as u32, ..wqe(WQE_SEND_IMM, i, from, 0, len) });
            sent.push(from);
        }
        let mut bufs = vec![];
        for i in 0..60u64 {
            let to = duo.alloc(1, len);
            post(&mut duo, 1, i, to, len);
            bufs.push(to);
            duo.run_for(if i % 10 == 9 { 300 } else { 0 });
        }
        duo.run(LONG);
        assert!(duo.statuses(0, false).iter().all(|c| c.1 == 0) && duo.cqes[0].len() == 60);
        let used: BTreeSet<u64> = duo.cqes[1].iter().map(|c| c.wr_id).collect();
        assert_eq!(used.len(), 60, "each receive once");
        for cqe in &duo.cqes[1] {
            let message = cqe.imm.unwrap() as usize;
            assert_eq!((cqe.status, cqe.byte_len, cqe.qpn), (Status::Success, len, message as u32 % 4));
            assert!(duo.bytes(0, sent[message], len) == duo.bytes(1, bufs[cqe.wr_id as usize], len));
        }
        for qpn in 0..4 {
            assert!(duo.cqes[1].iter().filter(|c| c.qpn == qpn).map(|c| c.imm).is_sorted());
        }
        assert_eq!(duo.nic[1].srq_posted(0), Some(0));
        duo.assert_quiet();
    }
}

/// Q1: the last receive waits for the message that completes next: with a single receive at a time, and messages that arrive
/// in any order, the software that posts the next one only after a completion always gets one. Retries are not used up by it.
#[test]
fn q1_last_receive_is_for_the_oldest() {
    let qp = QpConfig { rnr_retry: 0, min_rnr_timer: 1, ..DuoSetup::default().qp };
    let fabric = FabricConfig { reorder: 0.5, reorder_ticks: 300, skew_ticks: 20, loss: 0.05, ..FabricConfig::default() };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp, fabric, seed: seed(430), ..setup(4, 0) });
    post(&mut duo, 1, 0, 0, 9_000);
    duo.post(0, 0, &wqe(WQE_SEND, 0, 0, 0, 9_000));
    for i in 1..8 {
        duo.post(0, 0, &wqe(WQE_WRITE, i, 0, 100_000, 9_000));
        post(&mut duo, 1, i, 0, 9_000);
        let got = duo.cqes[1].len();
        duo.post(0, 0, &wqe(WQE_SEND, 10 + i, 0, 0, 9_000));
        duo.run_until(LONG, "a completion", |d| d.cqes[1].len() > got);
    }
    duo.run(LONG);
    assert!(duo.cqes[0].iter().all(|c| c.status == Status::Success));
    assert!(duo.nic[1].counters().rx_busy > 0 && duo.nic[1].counters().rx_rnr == 0);
    duo.assert_quiet();
}

/// Q7: the event comes once when fewer receives than the limit are left, and again after it was armed anew.
#[test]
fn q7_limit() {
    let mut duo = Duo::<OpenMr0>::new(&setup(16, 3));
    for i in 0..8 {
        post(&mut duo, 1, i, 0, 100);
    }
    for i in 0..5 {
        duo.post(0, i as u32 % 4, &wqe(WQE_SEND, i, 0, 0, 10));
    }
    duo.run(LONG);
    assert_eq!((duo.nic[1].srq_posted(0), &duo.asyncs[1][..]), (Some(3), &[][..]), "3 is not below 3");
    duo.post(0, 0, &wqe(WQE_SEND, 5, 0, 0, 10));
    duo.post(0, 0, &wqe(WQE_SEND, 6, 0, 0, 10));
    duo.run(LONG);
    assert_eq!(duo.asyncs[1], [AsyncEvent::SrqLimitReached { srq: 0 }], "disarmed after the first");
    duo.nic[1].arm_srq(0, 1).unwrap();
    duo.collect();
    assert_eq!(duo.asyncs[1].len(), 1, "1 is not below 1");
    duo.nic[1].arm_srq(0, 5).unwrap();
    duo.collect();
    assert_eq!(duo.asyncs[1].len(), 2, "at once, as there are fewer already");
    assert!(duo.nic[1].arm_srq(0, 17).is_err() && duo.nic[1].arm_srq(9, 1).is_err());
}

/// Q6: a QP in Error flushes the receives it has taken and no other; then LAST_WQE_REACHED.
#[test]
fn q6_taken_receives_only() {
    for n in 0..5 {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.05), seed: seed(410) + n, ..setup(64, 0) });
        for i in 0..40 {
            let to = duo.alloc(1, 100_000);
            post(&mut duo, 1, i, to, 100_000);
        }
        for i in 0..10 {
            duo.post(0, 0, &wqe(WQE_SEND, i, 0, 0, 100_000));
            duo.post(0, 1, &wqe(WQE_SEND, 100 + i, 0, 0, 100_000));
        }
        duo.run_for(150 + 20 * n);
        duo.nic[1].modify_qp(0, QpState::Error).unwrap();
        duo.run(LONG);
        let of_zero: Vec<_> = duo.cqes[1].iter().filter(|c| c.qpn == 0).collect();
        assert!(of_zero.iter().any(|c| c.status == Status::WrFlushErr));
        let of_one: Vec<_> = duo.cqes[1].iter().filter(|c| c.qpn == 1).collect();
        assert!(of_one.len() == 10 && of_one.iter().all(|c| c.status == Status::Success));
        assert_eq!(of_zero.len() + 10 + duo.nic[1].srq_posted(0).unwrap(), 40, "taken, or still there");
        assert_eq!(duo.asyncs[1], [AsyncEvent::LastWqeReached { qpn: 0 }]);
        duo.assert_quiet();
    }
}

/// Set-up of shared queues: errors are typed, one in use stays.
#[test]
fn create_and_destroy() {
    let mut duo = Duo::<OpenMr0>::new(&setup(2, 0));
    post(&mut duo, 1, 0, 0, 1);
    post(&mut duo, 1, 1, 0, 1);
    let full = duo.nic[1].post_srq_recv(0, &RecvWr { wr_id: 2, sges: &[] });
    assert_eq!(full, Err(PostError::RecvFull { depth: 2 }));
    assert_eq!(duo.nic[1].post_recv(0, &RecvWr { wr_id: 2, sges: &[] }), Err(PostError::UsesSrq { qpn: 0, srq: 0 }));
    assert_eq!(duo.nic[1].destroy_srq(0), Err(ConfigError::SrqInUse { srq: 0, qpn: 0 }));
    assert!(duo.nic[1].open_qp(9, &QpConfig { srq: Some(1), ..QpConfig::new(0, 9) }).is_err());
    for qpn in 0..4 {
        duo.nic[1].close_qp(qpn);
    }
    duo.nic[1].destroy_srq(0).unwrap();
    assert_eq!(duo.nic[1].post_srq_recv(0, &RecvWr { wr_id: 2, sges: &[] }), Err(PostError::NoSuchSrq { srq: 0 }));
    assert!(duo.nic[1].create_srq(99, &SrqConfig { pd: 0, depth: 1, limit: 0 }).is_err());
    assert!(duo.nic[1].create_srq(0, &SrqConfig { pd: 0, depth: 1, limit: 2 }).is_err());
}
