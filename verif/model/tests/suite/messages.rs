//! Work requests and completions: W1..W4, every refusal code, flushing.

use mrnic_model::*;
use mrnic_wire::MakCode;

use crate::pair::{write, LBASE, LKEY};
use crate::slots::{sender, Sender};

fn refused<P: Profile>(change: impl FnOnce(&mut Wqe)) -> u8 {
    let mut s = sender::<P>(1, 16);
    let mut wqe = write(1, 0, 0, 100);
    change(&mut wqe);
    let step = s.nic.step_wqe(0, 0, &wqe.to_bytes()).unwrap();
    step.refused.map_or(0, |status| status as u8)
}

/// W1: the checks of a work request.
fn w1_refusals<P: Profile>() {
    assert_eq!(refused::<P>(|_| {}), 0);
    assert_eq!(refused::<P>(|w| w.opcode = 1), 2);
    assert_eq!(refused::<P>(|w| w.length = (1 << 31) + 1), 1);
    assert_eq!(refused::<P>(|w| w.lkey = LKEY ^ 1), 4);
    assert_eq!(refused::<P>(|w| w.lkey = u32::MAX), 4);
    assert_eq!(refused::<P>(|w| w.laddr = LBASE - 1), 4);
    assert_eq!(refused::<P>(|w| w.length = 1 << 20), 0, "the whole region");
    assert_eq!(refused::<P>(|w| w.length = (1 << 20) + 1), 4);
    assert_eq!(refused::<P>(|w| w.laddr = u64::MAX), 4);
    assert_eq!(refused::<P>(|w| (w.length, w.lkey) = (0, 0)), 0, "a zero-length message touches no key");
    assert_eq!(refused::<P>(|w| (w.opcode, w.length) = (9, u32::MAX)), 2, "the opcode is looked at first");
}

/// W1: a stream has at most M messages outstanding, a connection at most its FIFO.
fn w1_bounds<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    for i in 0..64 {
        s.wqe(0, i, 1);
    }
    let full = s.nic.step_wqe(0, 64, &write(0, 0, 0, 1).to_bytes());
    assert_eq!(full, Err(StepError::Post(PostError::QpFull { qpn: 0, limit: 64 })));
    let full = s.nic.step_wqe(1, 0, &write(0, 0, 0, 1).to_bytes());
    assert_eq!(full, Err(StepError::Post(PostError::ConnFull { conn: 0, depth: 64 })));
    assert_eq!(s.nic.post_send(77, &write(0, 0, 0, 1)), Err(PostError::NoSuchQp { qpn: 77 }));
}

fn send_all<P: Profile>(s: &mut Sender<P>) -> u32 {
    let mut sent = 0;
    while let Grant::Packet(_) = s.grant() {
        sent += 1;
    }
    sent
}

/// W2: completions in MSN order, when the last byte is acknowledged; their bytes and phase.
fn w2_completion_order_and_bytes<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 40, 2 * 4096);
    s.wqe(0, 41, 5);
    assert_eq!(send_all(&mut s), 3);
    s.ack(0, 0, &[2], |_| {});
    assert_eq!(s.cqes(0), [], "the younger message is done, the older is not");
    s.ack(0, 1, &[2], |_| {});
    assert_eq!(s.cqes(0), [], "one packet is missing");
    s.ack(0, 3, &[], |_| {});
    let (cqe, bytes) = s.nic.step_cqe(0).unwrap().unwrap();
    assert_eq!((cqe.byte_len, cqe.msn, cqe.phase, cqe.nak_code), (8192, 0, true, 0));
    assert_eq!(bytes[..4], [0, 0, 1, 0]);
    assert_eq!(bytes[8..16], 40u64.to_le_bytes());
    assert_eq!(bytes[16..20], 8192u32.to_le_bytes());
    assert_eq!(bytes[20..22], 40u16.to_le_bytes());
    assert_eq!(s.cqes(0), [(41, 0)]);
    assert_eq!(s.nic.tx_conn(0).unwrap().inflight_bytes(), 0);
}

/// W2: the phase toggles with every pass over the completion ring.
fn w2_phase_bit<P: Profile>() {
    let mut s = sender::<P>(1, P::VECTOR_BITS as u16);
    s.nic.open_qp(0, &QpConfig { cq_log2: 2, ..QpConfig::new(0, 9) }).unwrap();
    let mut phases = String::new();
    for i in 0..12u16 {
        s.wqe(0, i, 0);
        send_all(&mut s);
        s.ack(0, u32::from(i) + 1, &[], |_| {});
        let (cqe, _) = s.nic.step_cqe(0).unwrap().unwrap();
        phases.push(if cqe.phase { '1' } else { '0' });
    }
    assert_eq!(phases, "111100001111");
}

/// W4: unsignaled successes make no completion and free their place; errors always make one.
fn w4_one_completion_each<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    let quiet = |i: u64| Wqe { signaled: false, ..write(i, 0, 0, 1) };
    for round in 0..3u32 {
        for i in 0..64u32 {
            s.nic.step_wqe(0, i as u16, &quiet(u64::from(i)).to_bytes()).unwrap();
            s.packet();
            s.ack(0, round * 64 + i + 1, &[], |_| {});
        }
    }
    assert_eq!(s.cqes(0), []);
    s.nic.step_wqe(0, 7, &Wqe { opcode: 9, ..quiet(7) }.to_bytes()).unwrap();
    assert_eq!(s.cqes(0), [(7, 2)], "an error always makes one");
}

/// W3: each refusal code of the peer and its status; older messages that are done keep theirs, the others are flushed.
fn w3_refusals_of_the_peer<P: Profile>() {
    let codes = [
        (MakCode::BadKey, 10u8),
        (MakCode::Access, 10),
        (MakCode::Bounds, 10),
        (MakCode::BadQp, 9),
        (MakCode::BadOpcode, 9),
        (MakCode::QpError, 11),
        (MakCode::MsgLength, 9),
    ];
    for (code, status) in codes {
        let mut s = sender::<P>(1, 16);
        for i in 0..5 {
            s.wqe(0, i, 10);
        }
        assert_eq!(send_all(&mut s), 5);
        // PPSN 0 is placed, 1 is under way, 2 is refused, 3 is placed.
        s.ack(0, 1, &[3], |a| {
            a.flags.nak = true;
            a.mak.code = code;
            // Code 4 names the packet, the others the QP.
            a.mak.qp = if code == MakCode::BadQp { 2 } else { 0 };
            a.mak.msn = 2.into();
        });
        let (first, _) = s.nic.step_cqe(0).unwrap().unwrap();
        assert_eq!((first.status, first.nak_code), (Status::Success, 0));
        let (second, _) = s.nic.step_cqe(0).unwrap().unwrap();
        assert_eq!((second.status, second.byte_len), (Status::WrFlushErr, 0), "older and not done");
        let (third, _) = s.nic.step_cqe(0).unwrap().unwrap();
        assert_eq!((third.status as u8, third.wqe_index), (status, 2), "{code:?}");
        assert_ne!(third.nak_code, 0);
        assert_eq!(s.cqes(0), [(3, 5), (4, 5)], "younger ones always");
        s.wqe(0, 5, 10);
        assert_eq!(s.cqes(0), [(5, 5)], "and those that come later");
        // What is left of the sequence goes out as NOPs.
        while let Grant::Packet(p) = s.grant() {
            assert!(p.nop, "{p:?}");
        }
        s.ack(0, 5, &[], |_| {});
        assert_eq!(s.nic.tx_conn(0).unwrap().inflight_bytes(), 0, "bytes of flushed messages leave the window");
        assert_eq!(s.cqes(0), []);
    }
}

/// W3: a refusal of a message that is no longer outstanding, or of a foreign QP, is ignored.
fn w3_late_refusals_are_ignored<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 0, 10);
    send_all(&mut s);
    let nak = |qp: u32, msn: u32| {
        move |a: &mut mrnic_wire::Ack| {
            a.flags.nak = true;
            a.mak.code = MakCode::BadKey;
            a.mak.qp = qp;
            a.mak.msn = msn.into();
        }
    };
    s.ack(0, 0, &[], nak(0, 1));
    s.ack(0, 0, &[], nak(0, 0xFF_FFFF));
    s.ack(0, 0, &[], nak(9, 0));
    s.ack(0, 0, &[], nak(0xFF_FFFF, 0));
    s.ack(0, 1, &[], |_| {});
    assert_eq!(s.cqes(0), [(0, 0)]);
}

/// W3: a refused work request fails the QP when it becomes the oldest, not before.
fn w3_refused_work_request<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 0, 10);
    s.nic.step_wqe(0, 1, &Wqe { lkey: 0, ..write(1, 0, 0, 10) }.to_bytes()).unwrap();
    s.wqe(0, 2, 10);
    assert_eq!(send_all(&mut s), 2, "the refused one has no packets");
    assert_eq!(s.cqes(0), []);
    s.ack(0, 2, &[], |_| {});
    assert_eq!(s.cqes(0), [(0, 0), (1, 4), (2, 5)]);
}

/// W3: a connection error gives 12 to the oldest message that is not done, and flushes the rest of each QP.
fn w3_connection_error<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    for (qpn, count) in [(0, 3), (1, 2)] {
        for i in 0..count {
            s.wqe(qpn, i, 10);
        }
    }
    send_all(&mut s);
    s.ack(0, 1, &[], |_| {});
    let mut now = 20;
    loop {
        now += 1 << 17;
        match s.nic.step_tx_timer(now, 0, 0).unwrap().action {
            TimerAction::ConnError => break,
            action => assert!(action.probes(), "{action:?}"),
        }
    }
    for qpn in 0..3 {
        assert!(s.nic.step_conn_error(qpn).unwrap());
        assert!(!s.nic.step_conn_error(qpn).unwrap(), "a second error changes nothing");
    }
    assert_eq!(s.cqes(0), [(0, 0), (1, 12), (2, 5)]);
    assert_eq!(s.cqes(1), [(0, 12), (1, 5)]);
    assert_eq!(s.cqes(2), []);
    s.wqe(2, 0, 10);
    assert_eq!(s.cqes(2), [(0, 5)]);
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::ConnError));
    assert_eq!(s.nic.step_tx_timer(now + (1 << 20), 0, 0).unwrap().action, TimerAction::None);
}

/// S2, W4: of a connection in error with a full FIFO the messages are skipped once their QPs are in Error, so that the work requests
/// that wait for room are taken and flushed; a QP opened later on it is in Error from the start.
fn w4_a_connection_error_with_a_full_fifo<P: Profile>() {
    let mut s = sender::<P>(1, 1);
    for i in 0..64 {
        s.wqe(0, i, 10);
    }
    assert_eq!(send_all(&mut s), 1);
    s.wqe(1, 0, 10);
    let waiting = write(1, 0, 0, 10).to_bytes();
    assert_eq!(s.nic.step_wqe(1, 1, &waiting), Err(StepError::Post(PostError::ConnFull { conn: 0, depth: 64 })));
    let mut now = 20;
    loop {
        now += 1 << 17;
        if s.nic.step_tx_timer(now, 0, 0).unwrap().action == TimerAction::ConnError {
            break;
        }
    }
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::ConnError), "its QP is not in Error yet");
    for qpn in 0..3 {
        s.nic.step_conn_error(qpn).unwrap();
    }
    for msn in 1..64 {
        assert_eq!(s.grant(), Grant::SkippedMessage { qpn: 0, msn });
    }
    assert_eq!(s.grant(), Grant::SkippedMessage { qpn: 1, msn: 0 });
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::ConnError));
    assert_eq!(s.cqes(0).len(), 64);
    assert_eq!(s.nic.step_wqe(1, 1, &waiting).unwrap().refused, Some(Status::WrFlushErr));
    assert_eq!(s.cqes(1), [(0, 12), (1, 5)]);
    s.nic.open_qp(3, &QpConfig::new(0, 0x53)).unwrap();
    s.wqe(3, 0, 10);
    assert_eq!(s.cqes(3), [(0, 5)]);
}

crate::for_each_profile!(
    w1_refusals,
    w1_bounds,
    w2_completion_order_and_bytes,
    w2_phase_bit,
    w4_one_completion_each,
    w3_refusals_of_the_peer,
    w3_late_refusals_are_ignored,
    w3_refused_work_request,
    w3_connection_error,
    w4_a_connection_error_with_a_full_fifo,
);
