//! States of a queue pair: RESET, INIT, RTR, RTS, SQD, ERROR.

use mrnic_model::*;

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, LONG};
use crate::pair::seed;

fn transition(duo: &mut Duo, qpn: u32, to: QpState) -> Result<(), ConfigError> {
    let result = duo.nic[0].modify_qp(qpn, to);
    duo.collect();
    result
}

/// The usual way up, and what each state permits.
#[test]
fn reset_to_rts() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qps: 0, ..DuoSetup::default() });
    let config = QpConfig { state: QpState::Reset, conn: 1, ..QpConfig::new(1, 5) };
    duo.nic[0].open_qp(5, &config).unwrap();
    let recv = RecvWr { wr_id: 1, sges: &[] };
    assert_eq!(duo.nic[0].post_recv(5, &recv), Err(PostError::State { qpn: 5, state: QpState::Reset }));
    assert!(transition(&mut duo, 5, QpState::Rts).is_err());
    transition(&mut duo, 5, QpState::Init).unwrap();
    duo.nic[0].post_recv(5, &recv).unwrap();
    assert!(transition(&mut duo, 5, QpState::Rtr).is_err(), "RTR needs a peer");
    assert_eq!(duo.nic[0].connect_qp(5, &config), Err(ConfigError::ConnectionClosed { conn: 1 }));
    let config = QpConfig { conn: 0, ..config };
    duo.nic[0].connect_qp(5, &config).unwrap();
    assert_eq!(duo.nic[0].qp_state(5), Ok(QpState::Rtr));
    let send = wqe(WQE_SEND, 2, 0, 0, 10);
    assert_eq!(duo.nic[0].post_send(5, &send), Err(PostError::State { qpn: 5, state: QpState::Rtr }));
    duo.nic[1].open_qp(5, &QpConfig::new(0, 5)).unwrap();
    // The receive that was posted in INIT is used in RTR.
    duo.post(1, 5, &wqe(WQE_SEND, 3, 0, 0, 0));
    duo.run(LONG);
    assert_eq!(duo.statuses(0, true), [(1, 0)]);
    assert_eq!(duo.asyncs[0], [AsyncEvent::CommEst { qpn: 5 }]);
    transition(&mut duo, 5, QpState::Rts).unwrap();
    duo.post_recv(1, 5, 4, &[sge(0, 10)]);
    duo.post(0, 5, &send);
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(2, 0)]);
    for wrong in [QpState::Init, QpState::Rtr] {
        let from = QpState::Rts;
        assert_eq!(transition(&mut duo, 5, wrong), Err(ConfigError::Transition { qpn: 5, from, to: wrong }));
    }
}

/// SQD: nothing new is taken, what was taken completes, then the event comes, once; RTS goes on.
#[test]
fn sqd_drains() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), seed: seed(500), ..DuoSetup::default() });
    for i in 0..6 {
        let opcode = if i % 2 == 0 { WQE_WRITE } else { WQE_READ };
        duo.post(0, 0, &Wqe { signaled: i != 5, ..wqe(opcode, i, 100_000 * i, 100_000 * i, 50_000) });
    }
    transition(&mut duo, 0, QpState::Sqd).unwrap();
    assert_eq!(duo.asyncs[0], []);
    let refused = duo.nic[0].post_send(0, &wqe(WQE_WRITE, 9, 0, 0, 1));
    assert_eq!(refused, Err(PostError::State { qpn: 0, state: QpState::Sqd }));
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false).len(), 5);
    assert_eq!(duo.asyncs[0], [AsyncEvent::SqDrained { qpn: 0 }]);
    transition(&mut duo, 0, QpState::Rts).unwrap();
    duo.post(0, 0, &wqe(WQE_WRITE, 10, 0, 0, 1));
    duo.run(LONG);
    transition(&mut duo, 0, QpState::Sqd).unwrap();
    assert_eq!(duo.asyncs[0].len(), 2, "an idle QP is drained at once");
    duo.assert_quiet();
}

/// ERROR by command: each work request and each receive completes once; later ones at once.
#[test]
fn error_flushes() {
    for n in 0..6 {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.1), seed: seed(510) + n, ..DuoSetup::default() });
        for i in 0..40 {
            let opcode = [WQE_WRITE, WQE_SEND, WQE_READ, WQE_WRITE_IMM, WQE_FETCH_ADD][i as usize % 5];
            let at = 8 * 1000 * i + 7;
            let len = if opcode == WQE_FETCH_ADD { 8 } else { 7000 };
            duo.post(0, 0, &wqe(opcode, i, at, at, len));
            duo.post_recv(1, 0, i, &[sge(2_000_000, 7000)]);
            duo.post_recv(0, 0, 100 + i, &[]);
        }
        duo.run_for(20 * n);
        transition(&mut duo, 0, QpState::Error).unwrap();
        duo.post(0, 0, &wqe(WQE_SEND, 40, 0, 0, 1));
        duo.post_recv(0, 0, 140, &[]);
        let done = duo.statuses(0, false).iter().filter(|c| c.1 == 0).count() as u64;
        let expect: Vec<_> = (0..=40).map(|i| (i, if i < done { 0 } else { 5 })).collect();
        assert_eq!(duo.statuses(0, false), expect);
        assert_eq!(duo.statuses(0, true), (100..=140).map(|i| (i, 5)).collect::<Vec<_>>());
        duo.run(LONG);
        assert_eq!(duo.cqes[0].len(), 82, "nothing more");
        duo.assert_quiet();
    }
}

/// RESET: no completions; the packets drain as NOPs; the number is used again, a hundred times, and each time all is new.
#[test]
fn reset_and_reuse() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.05), seed: seed(520), ..DuoSetup::default() });
    for round in 0..100u64 {
        for i in 0..4 {
            duo.post_recv(1, 0, i, &[sge(1_000_000, 20_000)]);
            duo.post(0, 0, &wqe([WQE_SEND, WQE_READ, WQE_WRITE][i as usize % 3], 10 + i, 0, 50_000, 20_000));
        }
        duo.run_for(round % 20 * 6);
        for side in 0..2 {
            duo.nic[side].modify_qp(0, QpState::Reset).unwrap();
        }
        duo.collect();
        let before = (duo.cqes[0].len(), duo.cqes[1].len());
        duo.run(LONG);
        assert_eq!(before, (duo.cqes[0].len(), duo.cqes[1].len()), "no completions after RESET");
        duo.assert_quiet();
        for side in 0..2 {
            duo.nic[side].modify_qp(0, QpState::Init).unwrap();
            let config = QpConfig { peer_qpn: 0, ..duo.setup.qp };
            duo.nic[side].connect_qp(0, &config).unwrap();
            duo.nic[side].modify_qp(0, QpState::Rts).unwrap();
        }
        duo.cqes = Default::default();
        duo.post_recv(1, 0, 1, &[sge(1_000_000, 20_000)]);
        duo.post(0, 0, &wqe(WQE_SEND, 1, 0, 0, 20_000));
        duo.post(0, 0, &wqe(WQE_READ, 2, 30_000, 60_000, 20_000));
        duo.run(LONG);
        assert_eq!((duo.statuses(0, false), duo.statuses(1, true)), (vec![(1, 0), (2, 0)], vec![(1, 0)]));
    }
}

/// A request to a QP in RESET, or to none, is refused with code 4.
#[test]
fn reset_refuses() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    duo.nic[1].modify_qp(0, QpState::Reset).unwrap();
    duo.nic[1].close_qp(1);
    for qpn in 0..2 {
        duo.post(0, qpn, &wqe(WQE_READ, 1, 0, 0, 10));
    }
    duo.run(LONG);
    assert_eq!(duo.cqes[0].iter().map(|c| (c.status as u8, c.nak_code)).collect::<Vec<_>>(), [(9, 4), (9, 4)]);
    duo.assert_quiet();
}
