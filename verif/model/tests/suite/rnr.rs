//! RNR: Q2, N1..N4.

use std::cell::Cell;
use std::rc::Rc;

use mrnic_model::*;
use mrnic_wire::{parse_packet, Ack, AckFlags, Body, Mak, Msg, Packet, PathHeader, Ppsn};

use crate::duo::{rough, sge, wqe, Duo, DuoSetup, BASE, KEY, LONG};
use crate::pair::seed;
use crate::rules_rx::frame;

fn qp(rnr_retry: u8, min_rnr_timer: u8) -> QpConfig {
    QpConfig { rnr_retry, min_rnr_timer, ..DuoSetup::default().qp }
}

/// Q2, N1, N2: a slow receiver; every message arrives once and in order, and other QPs are not held up.
fn slow_receiver<P: Profile>(loss: f64, seed: u64) {
    let mut duo = Duo::<P>::new(&DuoSetup { qp: qp(7, 1), fabric: rough(loss), seed, ..DuoSetup::default() });
    let len = 30_000;
    let mut sent = vec![];
    for i in 0..30u64 {
        let from = duo.alloc(0, len);
        let opcode = [WQE_SEND, WQE_SEND_IMM][i as usize % 2];
        duo.post(0, 0, &Wqe { imm: i as u32, ..wqe(opcode, i, from, 0, len - i as u32) });
        sent.push(from);
    }
    let (from, to) = (duo.alloc(0, 500_000), duo.alloc(1, 500_000));
    duo.post(0, 1, &wqe(WQE_WRITE, 99, from, to, 500_000));
    duo.run_until(LONG, "the other QP", |d| d.cqes[0].iter().any(|c| c.wr_id == 99));
    let mut bufs = vec![];
    for i in 0..30u64 {
        duo.run_for(400 + i * 13);
        let to = duo.alloc(1, len);
        duo.post_recv(1, 0, i, &[sge(to, 20_000), sge(to + 20_000, len - 20_000)]);
        bufs.push(to);
    }
    duo.run(LONG);
    assert_eq!(duo.statuses(1, true), (0..30).map(|i| (i, 0)).collect::<Vec<_>>());
    let sends: Vec<_> = duo.statuses(0, false).into_iter().filter(|c| c.0 != 99).collect();
    assert_eq!(sends, (0..30).map(|i| (i, 0)).collect::<Vec<_>>());
    for i in 0..30 {
        assert!(duo.bytes(0, sent[i], len - i as u32) == duo.bytes(1, bufs[i], len - i as u32), "message {i}");
    }
    let c = duo.nic[0].counters();
    assert!(c.messages_withdrawn > 0 && c.messages_begun_again == c.messages_withdrawn, "{c:?}");
    assert!(duo.nic[1].counters().rx_rnr > 0);
    duo.assert_quiet();
}

#[test]
fn n2_slow_receiver() {
    for (i, loss) in [0.0, 0.05, 0.2].into_iter().enumerate() {
        slow_receiver::<OpenMr0>(loss, seed(300 + i as u64));
        slow_receiver::<MrcLike>(loss, seed(310 + i as u64));
    }
}

/// N3: no retry is left: that message fails with 13, the rest is flushed; the receiver lives.
#[test]
fn n3_retries_exhausted() {
    for retries in [0u8, 1, 6] {
        let mut duo =
            Duo::<OpenMr0>::new(&DuoSetup { qp: qp(retries, 5), fabric: rough(0.05), seed: seed(320), ..DuoSetup::default() });
        let to = duo.alloc(1, 10_000);
        duo.post_recv(1, 0, 50, &[sge(to, 10_000)]);
        duo.post(0, 0, &wqe(WQE_SEND, 0, 0, 0, 10_000));
        duo.run(LONG);
        for i in 1..5 {
            duo.post(0, 0, &wqe(WQE_SEND, i, 0, 0, 10_000));
        }
        duo.run(LONG);
        let status = duo.statuses(0, false);
        assert_eq!(status[0], (0, 0));
        assert_eq!(status.iter().filter(|c| c.1 == 13).count(), 1, "{status:?}");
        assert_eq!(status.iter().filter(|c| c.1 == 5).count(), 3, "{status:?}");
        assert_eq!(duo.statuses(1, true), [(50, 0)]);
        assert_eq!(duo.nic[1].qp_state(0), Ok(QpState::Rts));
        duo.assert_quiet();
    }
}

/// N3: refusals of several messages in one round use one retry, and a completed message restores the count.
#[test]
fn n3_one_round_uses_one_retry() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp: qp(1, 10), ..DuoSetup::default() });
    for round in 0..5u64 {
        for i in 0..4 {
            duo.post(0, 0, &wqe(WQE_SEND, 4 * round + i, 0, 0, 9_000));
        }
        // All four are refused, then their receives are there.
        duo.run_for(1_000);
        assert_eq!(duo.nic[0].counters().messages_withdrawn, 4 * (round + 1));
        for i in 0..4 {
            let to = duo.alloc(1, 9_000);
            duo.post_recv(1, 0, 4 * round + i, &[sge(to, 9_000)]);
        }
        duo.run(LONG);
    }
    assert_eq!(duo.statuses(0, false), (0..20).map(|i| (i, 0)).collect::<Vec<_>>());
    duo.assert_quiet();
}

/// N2: the time of the code is waited for.
#[test]
fn n2_time_of_the_code() {
    assert_eq!([0u8, 1, 2, 13, 31].map(rnr_ticks), [5_120_000, 78, 156, 7_500, 3_840_000]);
    for code in [1u8, 14, 18] {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp: qp(7, code), ..DuoSetup::default() });
        duo.post(0, 0, &wqe(WQE_SEND, 1, 0, 0, 100));
        duo.run_until(LONG, "withdrawn", |d| d.nic[0].counters().messages_withdrawn == 1);
        let from = duo.tick();
        duo.post_recv(1, 0, 1, &[sge(0, 100)]);
        duo.run_until(LONG, "again", |d| d.nic[0].counters().messages_begun_again == 1);
        let took = duo.tick() - from;
        assert!((rnr_ticks(code)..rnr_ticks(code) + 900).contains(&took), "{took} {}", rnr_ticks(code));
        duo.run(LONG);
        duo.assert_quiet();
    }
}

/// Q2: a QP in INIT answers every request with RNR; when it is ready all of them succeed, each atomic once.
#[test]
fn q2_not_yet_ready() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp: qp(7, 3), fabric: rough(0.05), seed: seed(330), ..DuoSetup::default() });
    let config = QpConfig { peer_qpn: 0, ..duo.setup.qp };
    duo.nic[1].open_qp(0, &QpConfig { state: QpState::Init, ..config }).unwrap();
    let buffer = duo.alloc(1, 5000);
    duo.post_recv(1, 0, 1, &[sge(buffer, 5000)]);
    let word = duo.alloc8(1, 1);
    duo.set_word(1, word, 5);
    let (to, back) = (duo.alloc(1, 9000), duo.alloc(0, 9000));
    duo.post(0, 0, &wqe(WQE_WRITE, 10, 100, to, 9000));
    duo.post(0, 0, &Wqe { swap_add: 1, ..wqe(WQE_FETCH_ADD, 11, 40_000, word, 8) });
    duo.post(0, 0, &wqe(WQE_READ, 12, back, to, 9000));
    duo.post(0, 0, &wqe(WQE_SEND, 13, 0, 0, 5000));
    duo.run_for(5_000);
    assert_eq!(duo.cqes[0], []);
    duo.nic[1].connect_qp(0, &config).unwrap();
    duo.run(LONG);
    assert_eq!(duo.statuses(0, false), [(10, 0), (11, 0), (12, 0), (13, 0)]);
    assert_eq!(duo.statuses(1, true), [(1, 0)]);
    assert_eq!((duo.word(1, word), duo.mem[1].atomics), (6, 1));
    assert!(duo.bytes(0, back, 9000) == duo.bytes(1, to, 9000));
    assert_eq!(duo.asyncs[1], [AsyncEvent::CommEst { qpn: 0 }]);
    duo.assert_quiet();
}

/// N4: the refusal is late and a resend of the packet was accepted before it: the message begins again without need, and
/// nothing is placed, received or executed twice.
#[test]
fn n4_late_refusal() {
    let consuming = [WQE_SEND, WQE_WRITE_IMM, WQE_WRITE].map(|opcode| (opcode, Stage::Send));
    for (opcode, stage) in
        [WQE_SEND, WQE_WRITE_IMM, WQE_FETCH_ADD, WQE_READ, WQE_WRITE].map(|o| (o, Stage::Full)).into_iter().chain(consuming)
    {
        let qp = qp(7, 1);
        let mut nic = [0u8, 1].map(|side| {
            let mut nic = Nic::<OpenMr0>::new(NicConfig { events: true, stage, ..NicConfig::default() }).unwrap();
            let conn = ConnConfig::new(0, 1, crate::pair::address(side + 1, 2 - side));
            nic.open_connection(0, 0, &conn).unwrap();
            let rights = Rights::from_bits(0xF);
            let key =
                KeyConfig { valid: true, key_low: 0x5A, rights, base: BASE, length: 1 << 16, dma_base: crate::duo::BUS, pd: 0 };
            nic.register_key(1, &key).unwrap();
            nic.open_qp(0, &QpConfig { peer_qpn: 0, tx_start_msn: 0, rx_start_msn: 0, ..qp }).unwrap();
            nic
        });
        let [a, b] = &mut nic;
        let flat = || crate::duo::Flat { bytes: vec![0; 1 << 16], broken: None, atomics: 0 };
        let mut mem = [flat(), flat()];
        let mut buf = vec![0; 5000];
        let mut now = 10;
        // A packet of the message goes out; the receiver refuses it (here: the test does in its name).
        let target = 7 + 8 * 100;
        a.post_send(0, &Wqe { swap_add: 1, ..wqe(opcode, 1, 0, target, 8) }).unwrap();
        let first = a.poll_transmit(now, &mut buf, &mem[0]).unwrap();
        let copy = buf[..first.len].to_vec();
        if matches!(opcode, WQE_SEND | WQE_WRITE_IMM) {
            b.post_recv(0, &RecvWr { wr_id: 5, sges: &[sge(target, 8)] }).unwrap();
        }
        let refusal = |ppsn: u32, code: u8| {
            let mak = Mak { qp: ppsn, code: mrnic_wire::MakCode::Reserved(code), msn: 0.into() };
            let flags = AckFlags { rnr: true, ..AckFlags::default() };
            let ack = Ack { flags, mak, rate: RATE_UNLIMITED, ..Ack::default() };
            frame::<OpenMr0>(
                &Packet { dest_qp: 2, ppsn: Ppsn::new(0), mph: PathHeader::default(), ..Packet::new(Body::Ack(ack)) },
                &[],
                false,
            )
        };
        // The receiver accepts the (second copy of the) packet; its acknowledgment is slow.
        b.handle_packet(now, &copy, &mut mem[1]);
        let before = (mem[1].bytes.clone(), b.counters().requests_executed, b.counters().recv_cqes);
        a.handle_packet(now, &refusal(0, 13), &mut mem[0]);
        assert_eq!(a.counters().messages_withdrawn, 1);
        // N1: a copy of the same refusal changes nothing.
        a.handle_packet(now, &refusal(0, 13), &mut mem[0]);
        assert_eq!(a.counters().messages_withdrawn, 1);
        let mut attempts = vec![];
        for _ in 0..400 {
            now += 100;
            for side in 0..2 {
                let (me, other) = (side, 1 - side);
                nic[me].handle_timeout(now);
                while let Some(t) = nic[me].poll_transmit(now, &mut buf, &mem[me]) {
                    let bytes = buf[..t.len].to_vec();
                    if let Some(Msg { attempt, .. }) = parse_packet(&bytes).unwrap().packet.body.msg().filter(|_| side == 0) {
                        attempts.push((t.kind, attempt));
                    }
                    nic[other].handle_packet(now, &bytes, &mut mem[other]);
                }
            }
        }
        assert!(attempts.contains(&(TransmitKind::New, true)), "it began again: {attempts:?}");
        let [a, b] = &mut nic;
        assert_eq!(a.poll_completion().map(|c| c.status), Some(Status::Success), "{opcode}");
        assert_eq!(a.poll_completion(), None);
        assert_eq!(b.counters().rx_late, 1);
        let after = (mem[1].bytes.clone(), b.counters().requests_executed, b.counters().recv_cqes);
        assert!(before == after, "nothing happens twice: {opcode}");
        // N1: a refusal of an acknowledged packet is ignored.
        a.handle_packet(now, &refusal(0, 13), &mut mem[0]);
        assert_eq!(a.counters().messages_withdrawn, 1);
    }
}

/// N4: some packets of the first attempt were placed, then the message begins again with other packets first.
#[test]
fn n4_partly_placed_message_begins_again() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp: qp(7, 8), ..DuoSetup::default() });
    let len = 40 * 4096;
    let to = duo.alloc(1, len);
    duo.post(0, 0, &wqe(WQE_SEND, 1, 0, 0, len));
    // The receive comes while packets are arriving.
    duo.run_until(LONG, "the first refusal", |d| d.nic[1].counters().rx_rnr > 2);
    duo.post_recv(1, 0, 9, &[sge(to, len)]);
    duo.run(LONG);
    let c = duo.nic[1].counters();
    assert!(c.rx_placed_bytes > u64::from(len), "some bytes were placed twice: {c:?}");
    assert!(duo.bytes(0, 0, len) == duo.bytes(1, to, len));
    assert_eq!((duo.statuses(0, false), duo.statuses(1, true)), (vec![(1, 0)], vec![(9, 0)]));
    duo.assert_quiet();
}

/// N1, W3: the sender's QP fails while a message is withdrawn; N1 of a QP in Error is ignored.
#[test]
fn n1_error_while_withdrawn() {
    for n in 0..5 {
        let mut duo =
            Duo::<OpenMr0>::new(&DuoSetup { qp: qp(7, 12), fabric: rough(0.1), seed: seed(340) + n, ..DuoSetup::default() });
        for i in 0..8 {
            duo.post(0, 0, &wqe(WQE_SEND, i, 0, 0, 20_000));
        }
        duo.run_until(LONG, "withdrawn", |d| d.nic[0].counters().messages_withdrawn > n % 4);
        duo.nic[0].modify_qp(0, QpState::Error).unwrap();
        for i in 0..8 {
            duo.post_recv(1, 0, i, &[sge(0, 20_000)]);
        }
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), (0..8).map(|i| (i, 5)).collect::<Vec<_>>());
        duo.assert_quiet();
    }
}

/// N1: the receiver's QP fails, or is destroyed, while a message is withdrawn.
#[test]
fn n1_receiver_goes_away_while_withdrawn() {
    for destroy in [false, true] {
        let mut duo =
            Duo::<OpenMr0>::new(&DuoSetup { qp: qp(7, 8), fabric: rough(0.1), seed: seed(350), ..DuoSetup::default() });
        for i in 0..8 {
            duo.post(0, 0, &wqe(WQE_SEND, i, 0, 0, 20_000));
        }
        duo.run_until(LONG, "withdrawn", |d| d.nic[0].counters().messages_withdrawn > 3);
        match destroy {
            true => duo.nic[1].close_qp(0),
            false => duo.nic[1].modify_qp(0, QpState::Error).unwrap(),
        }
        duo.run(LONG);
        let status = duo.statuses(0, false);
        assert_eq!(status.len(), 8);
        assert!(status.iter().all(|c| [5, 9, 11].contains(&c.1)), "{status:?}");
        duo.assert_quiet();
    }
}

/// N1: every single acknowledgment of an RNR round may be lost.
#[test]
fn n1_any_acknowledgment_may_be_lost() {
    for n in 0..20 {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp: qp(3, 2), paths: 2, ..DuoSetup::default() });
        let hits = Rc::new(Cell::new(0));
        let seen = hits.clone();
        duo.fabric.drop_rule = Some(Box::new(move |from, kind, before| {
            let drop = from == 1 && kind == TransmitKind::Ack && before == n;
            seen.set(seen.get() + u32::from(drop));
            drop
        }));
        for i in 0..3 {
            duo.post(0, 0, &wqe(WQE_SEND, i, 0, 0, 9_000));
        }
        duo.run_for(60);
        for i in 0..3 {
            let to = duo.alloc(1, 9_000);
            duo.post_recv(1, 0, i, &[sge(to, 9_000)]);
        }
        duo.run(LONG);
        assert_eq!(duo.statuses(0, false), [(0, 0), (1, 0), (2, 0)]);
        assert_eq!(duo.statuses(1, true), [(0, 0), (1, 0), (2, 0)]);
        assert!(hits.get() <= 1 && KEY != 0);
        duo.assert_quiet();
    }
}

/// N1, N2, step by step: slots set messages of a QP that waits aside, whatever the windows say, and go on with others; afterwards
/// each goes on where it was, in MSN order, and W1 needs no room for it.
#[test]
fn n1_messages_are_set_aside() {
    let nic = NicConfig { conn_fifo: 4, stage: Stage::Send, ..DuoSetup::default().nic };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 1, qps: 2, nic, qp: qp(1, 1), ..DuoSetup::default() });
    let nic = &mut duo.nic[0];
    let take =
        |nic: &mut Nic<OpenMr0>, qpn, index, length| nic.step_wqe(qpn, index, &wqe(WQE_SEND, 0, 0, 0, length).to_bytes());
    let msn = take(nic, 0, 0, 3 * 4096).unwrap().msn;
    take(nic, 0, 1, 100).unwrap();
    take(nic, 1, 0, 100).unwrap();
    take(nic, 0, 2, 100).unwrap();
    assert_eq!(take(nic, 1, 1, 100), Err(StepError::Post(PostError::ConnFull { conn: 0, depth: 4 })));
    let grant = |nic: &mut Nic<OpenMr0>| nic.step_grant(5, 0, &GrantInputs::default()).unwrap();
    let packet = |grant| match grant {
        Grant::Packet(p) => (p.qpn, p.msn, p.index, p.attempt),
        other => panic!("{other:?}"),
    };
    // The first packet of the first message goes out and is refused.
    let first = grant(nic);
    let Grant::Packet(PacketDesc { ppsn, .. }) = first else { panic!("{first:?}") };
    assert_eq!(packet(first), (0, msn, 0, false));
    let refusal = RnrEvent { qpn: 0, code: 1, msn: msn + 1 };
    assert_eq!(nic.step_withdraw(0, &refusal), Ok(true));
    let unseen = GrantInputs { waiting_seen: Some(false), ..GrantInputs::default() };
    assert_eq!(packet(nic.step_grant(5, 0, &unseen).unwrap()), (0, msn, 1, false), "a slot may see the wait late");
    assert_eq!(grant(nic), Grant::SetAside { qpn: 0, msn });
    assert_eq!(grant(nic), Grant::SetAside { qpn: 0, msn: msn + 1 });
    let (other, other_msn, ..) = packet(grant(nic));
    assert_eq!(other, 1, "others go on");
    let invented = GrantInputs { waiting_seen: Some(true), ..GrantInputs::default() };
    assert_eq!(grant(nic), Grant::SetAside { qpn: 0, msn: msn + 2 });
    // A message that is posted meanwhile is set aside in its turn; one of another QP is not.
    take(nic, 0, 3, 100).unwrap();
    take(nic, 1, 1, 100).unwrap();
    assert_eq!(grant(nic), Grant::SetAside { qpn: 0, msn: msn + 3 });
    assert_eq!(nic.step_grant(5, 0, &invented), Err(StepError::QpNotWaiting { qpn: 1 }));
    assert_eq!(packet(grant(nic)), (1, other_msn + 1, 0, false));
    assert_eq!(grant(nic), Grant::Blocked(BlockReason::Idle));
    // N2: what was sent is not retired.
    assert_eq!(nic.step_rnr(1_000, 0), Ok(false));
    let ack = Ack { rate: RATE_UNLIMITED, ..Ack::default() };
    let cum = Ppsn::new((ppsn + 4) & 0xFF_FFFF);
    let packet_of_ack = Packet { dest_qp: 2, ppsn: cum, mph: PathHeader::default(), ..Packet::new(Body::Ack(ack)) };
    let frame = frame::<OpenMr0>(&packet_of_ack, &[], false);
    let mut memory = crate::duo::Flat { bytes: vec![], broken: None, atomics: 0 };
    nic.step_rx(6, &frame, &mut memory);
    let step = nic.step_ack(6).unwrap();
    for ppsn in step.newly_acked().collect::<Vec<_>>() {
        nic.step_retire(0, 0, ppsn).unwrap();
    }
    assert_eq!(nic.step_rnr(rnr_ticks(1) - 1, 0), Ok(false), "N2: the time");
    for index in 2..6 {
        take(nic, 1, index, 100).unwrap();
    }
    assert_eq!(nic.step_rnr(rnr_ticks(1), 0), Ok(true), "four messages enter beside four that wait");
    assert_eq!(take(nic, 1, 6, 100), Err(StepError::Post(PostError::ConnFull { conn: 0, depth: 4 })));
    for n in 0..4 {
        assert_eq!(packet(grant(nic)), (1, other_msn + 2 + n, 0, false));
    }
    take(nic, 1, 6, 100).unwrap();
    let again = [
        (0, msn, 2, false),
        (0, msn + 1, 0, true),
        (0, msn + 2, 0, false),
        (0, msn + 3, 0, false),
        (1, other_msn + 6, 0, false),
    ];
    for wanted in again {
        assert_eq!(packet(grant(nic)), wanted);
    }
}

/// N2: a message of the QP that still is in the FIFO keeps the wait from ending.
#[test]
fn n2_waits_for_messages_in_the_fifo() {
    let nic = NicConfig { stage: Stage::Send, ..DuoSetup::default().nic };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 1, qps: 2, nic, qp: qp(7, 1), ..DuoSetup::default() });
    let nic = &mut duo.nic[0];
    for index in 0..2 {
        nic.step_wqe(0, index, &wqe(WQE_SEND, 0, 0, 0, 100).to_bytes()).unwrap();
    }
    let msn = nic.send_queue(0).unwrap().head.get();
    assert_eq!(nic.step_withdraw(0, &RnrEvent { qpn: 0, code: 1, msn }), Ok(true));
    for n in 0..2 {
        assert_eq!(nic.step_rnr(1_000, 0), Ok(false));
        assert_eq!(nic.step_grant(5, 0, &GrantInputs::default()), Ok(Grant::SetAside { qpn: 0, msn: msn + n }));
    }
    assert_eq!(nic.step_rnr(1_000, 0), Ok(true));
}

/// N1, W3: an error does not end the wait for slots that saw it, and nothing begins again.
#[test]
fn n1_an_error_while_messages_are_set_aside() {
    let nic = NicConfig { stage: Stage::Send, ..DuoSetup::default().nic };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { paths: 1, qps: 1, nic, qp: qp(7, 1), ..DuoSetup::default() });
    let nic = &mut duo.nic[0];
    for index in 0..2 {
        nic.step_wqe(0, index, &wqe(WQE_SEND, 0, 0, 0, 100).to_bytes()).unwrap();
    }
    let msn = nic.send_queue(0).unwrap().head.get();
    assert_eq!(nic.step_withdraw(0, &RnrEvent { qpn: 0, code: 1, msn }), Ok(true));
    assert_eq!(nic.step_rx_error(0), Ok(true));
    let late = GrantInputs { qp_error_seen: Some(false), waiting_seen: Some(true), ..GrantInputs::default() };
    assert_eq!(nic.step_grant(5, 0, &late), Ok(Grant::SetAside { qpn: 0, msn }));
    assert_eq!(nic.step_grant(5, 0, &GrantInputs::default()), Ok(Grant::SkippedMessage { qpn: 0, msn: msn + 1 }));
    assert_eq!(nic.step_rnr(1_000, 0), Ok(false));
    assert_eq!(nic.step_withdraw(0, &RnrEvent { qpn: 0, code: 1, msn }), Ok(false));
}
