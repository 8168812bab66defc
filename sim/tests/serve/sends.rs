//! Messages that use receives: SEND and immediates, each with its data, completion and event; receives that are flushed.
use crate::end::{fill, End, RECVS};
use crate::Server;
use mrnic_host_driver::device::*;

/// A size of each class: nothing, below and around a beat, a cache line, packets of an MTU, and several.
const SIZES: [usize; 16] = [0, 1, 7, 8, 15, 16, 17, 63, 64, 65, 1024, 4095, 4096, 4097, 12_288, 65_539];
/// Memory of one message.
const SLOT: usize = 66_000;

fn op(i: usize, to: &End, at: usize) -> SendOp {
    let imm = Some([i as u8, 2, 3, 0x80]);
    let remote = Remote { addr: to.buffer.as_ptr() as u64 + at as u64, rkey: to.keys.rkey };
    match i % 3 {
        0 => SendOp::Send { imm: None },
        1 => SendOp::Send { imm },
        _ => SendOp::Write { remote, imm },
    }
}

fn recv(wr_id: u64, status: WcStatus, qpn: u32) -> Completion {
    Completion { wr_id, status, qpn, kind: CompletionKind::Recv, ..Completion::default() }
}

/// The receives among them.
fn received(completions: Vec<Completion>) -> Vec<Completion> {
    completions.into_iter().filter(|c| matches!(c.kind, CompletionKind::Recv | CompletionKind::RecvWrite)).collect()
}

/// Messages of all sizes and kinds, both ways at once, into receives that were posted in INIT. The first half of each buffer is sent from.
fn every_size(server: &Server) {
    let half = SIZES.len() * SLOT;
    let mut ends = [End::open(server.session(), 2 * half), End::open(server.session(), 2 * half)];
    fill(&mut ends[0], 1);
    fill(&mut ends[1], 77);
    for end in &ends {
        end.init();
        for (i, size) in SIZES.into_iter().enumerate() {
            // A receive may be longer than its message, and that of a WRITE stays as it is.
            end.post_recv(1000 + i as u64, half + i * SLOT + i, size + i % 2 * 5).unwrap();
        }
    }
    End::connect_both(&ends);
    let before = [ends[0].buffer.clone(), ends[1].buffer.clone()];
    for (i, size) in SIZES.into_iter().enumerate() {
        for (from, to) in [(0, 1), (1, 0)] {
            let op = op(i, &ends[to], half + i * SLOT + i);
            ends[from].message(op, i as u64, i * SLOT, size, false).unwrap();
        }
    }
    for (own, other) in [(0, 1), (1, 0)] {
        let (all, qpn) = (ends[own].completions(2 * SIZES.len()), ends[own].qp.number());
        let receives = received(all.clone());
        let sends: Vec<_> = all.iter().filter(|c| !receives.contains(c)).collect();
        for (i, size) in SIZES.into_iter().enumerate() {
            let of_write = i % 3 == 2;
            let kind = if of_write { CompletionKind::Write } else { CompletionKind::Send };
            assert_eq!((sends[i].wr_id, sends[i].status, sends[i].kind), (i as u64, WcStatus::Success, kind));
            let expected = Completion {
                kind: if of_write { CompletionKind::RecvWrite } else { CompletionKind::Recv },
                byte_len: size as u32,
                imm: (i % 3 > 0).then_some([i as u8, 2, 3, 0x80]),
                src_qpn: ends[other].qp.number(),
                ..recv(1000 + i as u64, WcStatus::Success, qpn)
            };
            assert_eq!(receives[i], expected);
        }
        let mut after = before[own].clone();
        for (i, size) in SIZES.into_iter().enumerate() {
            let at = half + i * SLOT + i;
            after[at..at + size].copy_from_slice(&before[other][i * SLOT..][..size]);
        }
        // What lies between the pieces is untouched.
        assert!(ends[own].buffer == after);
    }
    ends.into_iter().for_each(End::close);
}

#[test]
fn messages_of_every_size_arrive_in_their_receives() {
    let mut server = Server::start("clean", |_| ());
    every_size(&server);
    let figures = server.finish();
    assert_eq!((&figures["programs"], &figures["failure"]), (&2.into(), &serde_json::Value::Null));
}

#[test]
fn messages_of_every_size_arrive_with_loss() {
    let mut server = Server::start("sends-loss", |_| ());
    every_size(&server);
    server.finish();
}

/// More messages than the rings have entries and than the NIC keeps receives, with as many posted as may be.
#[test]
fn receives_come_round_many_times() {
    const MESSAGES: u64 = 3 * RECVS as u64;
    let mut server = Server::start("clean", |_| ());
    let [a, b] = End::pair(server.session(), 4096);
    let mut posted = 0;
    while posted < u64::from(RECVS) {
        b.post_recv(posted, posted as usize, 8).unwrap();
        posted += 1;
    }
    assert_eq!(b.post_recv(posted, 0, 8), Err(PostError::Full));
    // The NIC takes doorbells one after the other: it knows of all receives when it has done this.
    b.write(&a, 0, 8, true).unwrap();
    assert_eq!(b.completions(1)[0].status, WcStatus::Success);
    let (mut sent, mut heard) = (0, 0);
    while heard < MESSAGES {
        while sent < MESSAGES && sent < posted && a.message(SendOp::Send { imm: None }, sent, 0, 8, false).is_ok() {
            sent += 1;
        }
        let mut some = [Completion::default(); 16];
        let count = a.cq.poll(&mut some).unwrap();
        assert!(some[..count].iter().all(|c| c.status == WcStatus::Success), "{some:?}");
        let mut some = [Completion::default(); 16];
        let count = b.cq.poll(&mut some).unwrap();
        for completion in &some[..count] {
            assert_eq!((completion.wr_id, completion.status), (heard, WcStatus::Success));
            heard += 1;
            if posted < MESSAGES {
                b.post_recv(posted, (posted % 400) as usize, 8).unwrap();
                posted += 1;
            }
        }
    }
    a.close();
    b.close();
    server.finish();
}

#[test]
fn a_program_that_sleeps_until_something_is_solicited_is_woken_by_that_alone() {
    let mut server = Server::start("clean", |_| ());
    let [a, b] = End::pair(server.session(), 4096);
    for i in 0..4 {
        b.post_recv(i, 0, 100).unwrap();
    }
    for solicited in [false, true, true] {
        b.cq.arm(true).unwrap();
        a.message(SendOp::Send { imm: None }, 0, 0, 10, solicited).unwrap();
        if solicited {
            b.events.wait_for_completion();
        }
        assert_eq!((b.completions(1)[0].status, b.events.completion_events()), (WcStatus::Success, 0));
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
    }
    b.cq.arm(false).unwrap();
    a.message(op(2, &b, 0), 0, 0, 10, false).unwrap();
    b.events.wait_for_completion();
    assert_eq!(b.completions(1)[0].kind, CompletionKind::RecvWrite);
    a.close();
    b.close();
    server.finish();
}

/// By command, before there is a connection and with one; what is posted afterwards too.
#[test]
fn receives_are_flushed_in_order_when_the_queue_pair_is_moved_to_error() {
    let mut server = Server::start("clean", |_| ());
    let to = |state| QpChange { state: Some(state), ..QpChange::default() };
    for connected in [false, true] {
        let ends = [End::open(server.session(), 4096), End::open(server.session(), 4096)];
        let [a, b] = &ends;
        assert_eq!(b.post_recv(0, 0, 8), Err(PostError::WrongState));
        ends.iter().for_each(End::init);
        if connected {
            End::connect_both(&ends);
        }
        let mut expected = Vec::new();
        let mut flush = |first: u64, last: u64| {
            for wr_id in first..last {
                b.post_recv(wr_id, 0, 8).unwrap();
                expected.push(recv(wr_id, WcStatus::Flushed, b.qp.number()));
            }
        };
        flush(0, 5);
        b.qp.modify(&to(QpState::Error)).unwrap();
        flush(5, 7);
        assert_eq!(b.completions(7), expected);
        // Afterwards it is as good as new: nothing of what was dropped comes back.
        for end in &ends {
            end.qp.modify(&to(QpState::Reset)).unwrap();
            end.init();
        }
        b.post_recv(70, 0, 8).unwrap();
        End::connect_both(&ends);
        a.message(SendOp::Send { imm: None }, 1, 0, 8, false).unwrap();
        assert_eq!(
            b.completions(1),
            [Completion { byte_len: 8, src_qpn: a.qp.number(), ..recv(70, WcStatus::Success, b.qp.number()) }]
        );
        assert_eq!(a.completions(1)[0].status, WcStatus::Success);
        ends.into_iter().for_each(End::close);
    }
    server.finish();
}

/// Q3: what a peer does wrong ends both queue pairs, each with its own status, and the receiver is told.
#[test]
fn a_message_that_does_not_fit_its_receive_fails_at_both_ends() {
    let mut server = Server::start("clean", |_| ());
    type KeyOf = fn(&End) -> u32;
    let (good, low_byte, foreign): (KeyOf, KeyOf, KeyOf) = (|b| b.keys.lkey, |b| b.keys.lkey ^ 1, |b| b.of_another_pd().1.lkey);
    let cases = [
        (WcStatus::LocalLength, 9, good, WcStatus::RemoteInvalidRequest),
        (WcStatus::LocalProtection, 8, low_byte, WcStatus::RemoteOperation),
        (WcStatus::LocalProtection, 8, foreign, WcStatus::RemoteOperation),
    ];
    for (status, bytes, key, remote) in cases {
        let [mut a, b] = End::pair(server.session(), 4096);
        fill(&mut a, 3);
        let key = key(&b);
        b.post_recv_with(0, 0, 8, key).unwrap();
        b.post_recv(1, 8, 8).unwrap();
        a.message(SendOp::Send { imm: None }, 7, 0, bytes, false).unwrap();
        a.message(SendOp::Send { imm: None }, 8, 0, 8, false).unwrap();
        let sent = a.completions(2);
        assert_eq!([(sent[0].wr_id, sent[0].status), (sent[1].wr_id, sent[1].status)], [(7, remote), (8, WcStatus::Flushed)]);
        b.events.wait_for(AsyncEvent::QpRequestError(Token(2)));
        b.post_recv(2, 8, 8).unwrap();
        let got: Vec<_> = b.completions(3).iter().map(|c| (c.wr_id, c.status)).collect();
        assert_eq!(got, [(0, status), (1, WcStatus::Flushed), (2, WcStatus::Flushed)]);
        assert_eq!(b.qp.status().state, QpState::Error);
        assert!(b.buffer.iter().all(|byte| *byte == 0), "nothing was placed");
        a.close();
        b.close();
    }
    server.finish();
}

/// R4: what the peer names is refused, for its key or for its form. The queue pair that refuses fails, and shows it by its receives, or else by
/// its next request, with the event for the reason.
#[test]
fn r4_a_refused_request_flushes_what_is_posted_and_its_reason_is_told() {
    let mut server = Server::start("clean", |_| ());
    for (of_key, has_receive) in [(true, true), (true, false), (false, true), (false, false)] {
        let [a, b] = End::pair(server.session(), 4096);
        let (addr, rkey, own) = (b.buffer.as_ptr() as u64 & !7, b.keys.rkey, b.qp.number());
        let (op, status, event) = if of_key {
            let op = SendOp::Write { remote: Remote { addr, rkey: rkey ^ 1 }, imm: None };
            (op, WcStatus::RemoteAccess, AsyncEvent::QpAccessError(Token(2)))
        } else {
            // not on a boundary of eight bytes
            let op = SendOp::FetchAdd { remote: Remote { addr: addr + 12, rkey }, add: 1 };
            (op, WcStatus::RemoteInvalidRequest, AsyncEvent::QpRequestError(Token(2)))
        };
        if has_receive {
            b.post_recv(5, 0, 8).unwrap();
        }
        a.message(op, 1, 0, 8, false).unwrap();
        assert_eq!(a.completions(1)[0].status, status);
        if has_receive {
            assert_eq!(b.completions(1), [recv(5, WcStatus::Flushed, own)]);
        } else {
            b.write(&a, 0, 100, true).unwrap();
            assert_eq!(b.completions(1)[0].status, WcStatus::Flushed);
        }
        b.events.wait_for(event);
        a.close();
        b.close();
    }
    server.finish();
}

/// N3: the retries that a program names in RTS, after its queue pair was opened in the NIC, are those that are used up.
#[test]
fn n3_retries_named_in_rts_are_used_up() {
    let mut server = Server::start("clean", |_| ());
    for retries in [0, 2] {
        let ends = [End::open(server.session(), 4096), End::open(server.session(), 4096)];
        ends.iter().for_each(End::init);
        let [a, b] = &ends;
        std::thread::scope(|scope| {
            scope.spawn(|| a.connect_with(b.address(), Some(retries)));
            b.connect(a.address());
        });
        a.message(SendOp::Send { imm: None }, 7, 0, 8, false).unwrap();
        a.message(SendOp::Send { imm: None }, 8, 0, 8, false).unwrap();
        let sent = a.completions(2);
        assert_eq!(
            [(sent[0].wr_id, sent[0].status), (sent[1].wr_id, sent[1].status)],
            [(7, WcStatus::RnrRetryExceeded), (8, WcStatus::Flushed)]
        );
        assert_eq!(b.qp.status().state, QpState::Rts, "who has no receive stays as it was");
        ends.into_iter().for_each(End::close);
    }
    server.finish();
}

/// Q2: the RNR timer that a program names when its queue pair is open counts from then on. 14 is 1.28 ms, 1 is 10 us.
#[test]
fn q2_the_rnr_timer_of_an_open_queue_pair_may_be_named_anew() {
    for (first, then, long) in [(1, 14, true), (14, 1, false)] {
        let mut server = Server::start("clean", |_| ());
        let ends = [End::open(server.session(), 4096), End::open(server.session(), 4096)];
        ends.iter().for_each(End::init);
        let [a, b] = &ends;
        std::thread::scope(|scope| {
            scope.spawn(|| a.connect_with(b.address(), Some(1)));
            b.connect(a.address());
        });
        for timer in [first, then] {
            b.qp.modify(&QpChange { min_rnr_timer: Some(timer), ..QpChange::default() }).unwrap();
        }
        a.message(SendOp::Send { imm: None }, 7, 0, 8, false).unwrap();
        assert_eq!(a.completions(1)[0].status, WcStatus::RnrRetryExceeded);
        ends.into_iter().for_each(End::close);
        let figures = server.finish();
        let us = figures["cycles"].as_u64().unwrap() * figures["clock_ps"].as_u64().unwrap() / 1_000_000;
        assert_eq!(us >= 1280, long, "{us} us");
    }
}

/// Section 10: a queue pair that is reset in mid-traffic is opened again when the NIC has nothing of it under way; both streams begin at MSN 0 again.
#[test]
fn a_queue_pair_is_reset_in_mid_traffic_and_opened_again() {
    const BYTES: usize = 20_000;
    let mut server = Server::start("loss-10", |_| ());
    let mut ends = [End::open(server.session(), 2 * BYTES), End::open(server.session(), 2 * BYTES)];
    fill(&mut ends[0], 3);
    for round in 0..4 {
        ends.iter().for_each(End::init);
        End::connect_both(&ends);
        let [a, b] = &ends;
        let piece = 1000 * (round + 1);
        b.post_recv(7, BYTES, piece).unwrap();
        a.message(SendOp::Send { imm: None }, 5, 0, piece, false).unwrap();
        let sent = a.completions(1);
        assert_eq!((sent[0].wr_id, sent[0].status), (5, WcStatus::Success), "round {round}");
        assert_eq!(b.completions(1)[0].status, WcStatus::Success);
        assert!(b.buffer[BYTES..BYTES + piece] == a.buffer[..piece], "round {round}");
        // under way when both are reset: WRITEs, and a SEND that finds no receive
        for _ in 0..6 {
            a.write(b, 0, BYTES, true).unwrap();
        }
        a.message(SendOp::Send { imm: None }, 6, 0, 3000, false).unwrap();
        ends.iter().for_each(End::reset);
    }
    ends.into_iter().for_each(End::close);
    server.finish();
}
