//! The second stage driven step by step, as a comparison with hardware does it: nothing happens that no step says.
//! Q5, D3, D6, N1 and N2 each as a step of its own, in an order that the caller chooses.

use mrnic_model::*;

use crate::duo::{sge, wqe, Duo, DuoSetup};

/// Everything that may be sent by `side` is sent and received by the other, step by step; acknowledgments stay queued.
struct Stepper {
    duo: Duo,
    now: Tick,
    /// Acknowledgments that each side made.
    acks: [Vec<AckDesc>; 2],
    effects: Vec<(usize, RxEffect)>,
}

impl Stepper {
    fn new() -> Self {
        let duo = Duo::new(&DuoSetup { paths: 1, qps: 1, ..DuoSetup::default() });
        Stepper { duo, now: 100, acks: Default::default(), effects: vec![] }
    }

    fn take(&mut self, side: usize, index: u16, wqe: &Wqe, list: &[Sge]) -> WqeStep {
        let wqe = Wqe { num_sge: list.len() as u8, ..*wqe };
        self.duo.nic[side].step_wqe_list(0, index, &wqe.to_bytes(), list).unwrap()
    }

    fn frame(&self, side: usize, outgoing: &Outgoing) -> Vec<u8> {
        let mut buf = vec![0; 5000];
        let len = self.duo.nic[side].encode(outgoing, None, &self.duo.mem[side], &mut buf).unwrap();
        buf.truncate(len);
        buf
    }

    /// One packet from `side` to the other. None if there is nothing to send.
    fn packet(&mut self, side: usize) -> Option<RxStep> {
        self.now += 10;
        let Grant::Packet(packet) = self.duo.nic[side].step_grant(self.now, 0, &GrantInputs::default()).unwrap() else {
            return None;
        };
        let frame = self.frame(side, &Outgoing::Data(packet));
        let to = 1 - side;
        let step = self.duo.nic[to].step_rx(self.now, &frame, &mut self.duo.mem[to]);
        let RxStep::Data { ack, effect, .. } = step else { panic!("{step:?}") };
        self.acks[to].extend(ack);
        self.effects.push((to, effect));
        Some(step)
    }

    /// The acknowledgments that `side` made reach the other; its packets are retired in reverse order.
    fn acknowledge(&mut self, side: usize) -> Vec<AckStep> {
        let to = 1 - side;
        let mut steps = vec![];
        for ack in std::mem::take(&mut self.acks[side]) {
            let frame = self.frame(side, &Outgoing::Ack(ack));
            self.duo.nic[to].step_rx(self.now, &frame, &mut self.duo.mem[to]);
            let step = self.duo.nic[to].step_ack(self.now).unwrap();
            let mut newly: Vec<u32> = step.newly_acked().collect();
            newly.reverse();
            for ppsn in newly {
                self.duo.nic[to].step_retire(0, 0, ppsn).unwrap();
            }
            steps.push(step);
        }
        steps
    }
}

/// D3, D6: a READ is executed by its own step, behind the WRITE before it; its completion waits for data and acknowledgment.
#[test]
fn d3_read_step_by_step() {
    let mut s = Stepper::new();
    s.take(0, 0, &wqe(WQE_WRITE, 0, 0, 50_000, 100), &[]);
    s.take(0, 1, &wqe(WQE_READ, 1, 0, 50_000, 5000), &[sge(10_000, 3000), sge(20_000, 2000)]);
    assert!(s.packet(0).is_some() && s.packet(0).is_some() && s.packet(0).is_none());
    assert!(s.duo.nic[1].has_request(0));
    assert!(s.packet(1).is_none(), "no response before the step");
    let [_, nic] = &mut s.duo.nic;
    let [_, mem] = &mut s.duo.mem;
    let executed = nic.step_execute(0, mem).unwrap().unwrap();
    assert_eq!((executed.msn, executed.code), (0xFF_FFF1, 0));
    assert_eq!(nic.step_execute(0, mem), Ok(None), "D5: once");
    // Two packets of 4096 and 904 bytes; the second one first is no matter of the test fabric but of the SGEs.
    assert!(s.packet(1).is_some());
    assert_eq!(s.duo.nic[0].step_cqe(0), Ok(None), "half of the data");
    assert!(s.packet(1).is_some() && s.packet(1).is_none());
    assert_eq!(s.effects.last(), Some(&(0, RxEffect::Response { qpn: 0, whole: Some(0xFF_FFF1) })));
    s.acknowledge(1);
    assert_eq!(s.duo.nic[0].step_cqe(0).unwrap().map(|(c, _)| c.wqe_index), Some(0));
    assert_eq!(s.duo.nic[0].step_cqe(0), Ok(None), "D6: the data is not yet visible");
    assert_eq!(s.duo.nic[0].step_answered(0, 0xFF_FFF1), Ok(true));
    assert!(s.duo.nic[0].step_answered(0, 0xFF_FFF1).is_err(), "once");
    let cqes: Vec<_> = std::iter::from_fn(|| s.duo.nic[0].step_cqe(0).unwrap()).map(|(c, _)| (c.wqe_index, c.status)).collect();
    assert_eq!(cqes, [(1, Status::Success)]);
    assert_eq!(s.duo.bytes(0, 10_000, 3000), s.duo.bytes(1, 50_000, 3000));
    assert_eq!(s.duo.bytes(0, 20_000, 2000), s.duo.bytes(1, 53_000, 2000));
    assert_eq!(s.duo.nic[1].requests_held(0), Ok(1), "until the response is acknowledged");
    s.acknowledge(0);
    assert_eq!(s.duo.nic[1].requests_held(0), Ok(0));
}

/// D3: a request has the place of its MSN mod M; while the one M before it holds that place it is refused as busy.
#[test]
fn d3_place_of_an_msn() {
    let mut s = Stepper::new();
    let messages = s.duo.setup.nic.msgs_per_stream;
    s.take(0, 0, &wqe(WQE_READ, 0, 0, 50_000, 100), &[]);
    assert!(s.packet(0).is_some());
    let [_, nic] = &mut s.duo.nic;
    let [_, mem] = &mut s.duo.mem;
    nic.step_execute(0, mem).unwrap().unwrap();
    // The response arrives and is not acknowledged: its place stays taken.
    assert!(s.packet(1).is_some());
    assert_eq!(s.duo.nic[0].step_answered(0, 0xFF_FFF0), Ok(false), "the request is not acknowledged");
    s.acknowledge(1);
    assert!(s.duo.nic[0].step_cqe(0).unwrap().is_some());
    for i in 1..=messages {
        let opcode = if i < messages { WQE_WRITE } else { WQE_READ };
        s.take(0, i as u16, &wqe(opcode, i.into(), 0, 50_000, 8), &[]);
        let Some(RxStep::Data { rnr, nak, .. }) = s.packet(0) else { panic!() };
        assert_eq!((rnr, nak), (if i < messages { None } else { Some(0x21) }, 0), "message {i}");
        s.acknowledge(1);
        while s.duo.nic[0].step_cqe(0).unwrap().is_some() {}
    }
    assert_eq!(s.duo.nic[1].requests_held(0), Ok(1));
    s.acknowledge(0);
    assert_eq!(s.duo.nic[1].requests_held(0), Ok(0));
}

/// D7: the requests of a QP that moved to Error are answered by a step of its own; one that is executed before has two answers.
#[test]
fn d7_answers_are_a_step() {
    let mut s = Stepper::new();
    for i in 0..3 {
        s.take(0, i, &wqe(WQE_READ, i.into(), 0, 50_000, 100), &[]);
        assert!(s.packet(0).is_some());
    }
    let [_, nic] = &mut s.duo.nic;
    let [_, mem] = &mut s.duo.mem;
    nic.step_execute(0, mem).unwrap().unwrap();
    assert!(nic.step_answer(0).is_err(), "it is not in Error");
    assert_eq!(nic.step_rx_error(0), Ok(true));
    assert_eq!(nic.step_execute(0, mem), Ok(None), "nothing is executed any more");
    assert_eq!((nic.requests_held(0), nic.tx_conn(0).unwrap().responses.fifo.len()), (Ok(3), 1));
    assert_eq!(nic.step_answer(0), Ok(3));
    assert_eq!((nic.requests_held(0), nic.tx_conn(0).unwrap().responses.fifo.len()), (Ok(0), 4));
    assert_eq!(nic.step_answer(0), Ok(0), "once");
}

/// D3, D4, D6: what hardware looked at some clocks before the step: a place that was freed and an error may have been overlooked, and what
/// came to the other FIFO.
#[test]
fn what_hardware_overlooked() {
    let mut s = Stepper::new();
    s.take(0, 0, &wqe(WQE_READ, 0, 0, 50_000, 100), &[]);
    s.take(1, 0, &wqe(WQE_WRITE, 0, 0, 50_000, 100), &[]);
    s.now += 10;
    let Ok(Grant::Packet(packet)) = s.duo.nic[0].step_grant(s.now, 0, &GrantInputs::default()) else { panic!() };
    let frame = s.frame(0, &Outgoing::Data(packet));
    let [asker, peer] = &mut s.duo.nic;
    let [asker_mem, peer_mem] = &mut s.duo.mem;
    // D3: the place was not yet seen free
    assert!(!peer.is_busy(0, 0, packet.msn));
    let busy = RxInputs { busy_seen: Some(true), ..RxInputs::default() };
    let RxStep::Data { rnr, .. } = peer.step_rx_with(s.now, &frame, &busy, peer_mem) else { panic!() };
    assert_eq!(rnr, Some(0x21));
    let RxStep::Data { rnr, .. } = peer.step_rx(s.now, &frame, peer_mem) else { panic!() };
    assert_eq!(rnr, None, "the refused packet is new still");
    // D3: its QP is in Error, as hardware saw too late
    assert_eq!(peer.step_rx_error(0), Ok(true));
    assert_eq!(peer.step_execute(0, peer_mem), Ok(None));
    assert!(peer.step_execute_overlooking(0, peer_mem).unwrap().is_some());
    // D4: the message's turn, and the response's if the message was overlooked; S2 is overlooked too
    assert!(!peer.tx_conn(0).unwrap().responds());
    let response = GrantInputs { response_seen: Some(true), qp_error_seen: Some(false), ..GrantInputs::default() };
    let Ok(Grant::Packet(answer)) = peer.step_grant(s.now, 0, &response) else { panic!() };
    assert!(answer.kind.is_response());
    // D6: the QP that asked failed meanwhile
    let mut buf = vec![0; 5000];
    let len = peer.encode(&Outgoing::Data(answer), None, peer_mem, &mut buf).unwrap();
    assert_eq!(asker.step_rx_error(0), Ok(true));
    let seen = RxInputs { used_seen: Some(true), ..RxInputs::default() };
    let RxStep::Data { effect, .. } = asker.step_rx_with(s.now, &buf[..len], &seen, asker_mem) else { panic!() };
    assert_eq!(effect, RxEffect::Response { qpn: 0, whole: Some(packet.msn) });
}

/// Q2, Q5, N1, N2: a refusal, the step that withdraws, the step that begins again, the receive's completion.
#[test]
fn n2_send_step_by_step() {
    let mut s = Stepper::new();
    s.take(0, 7, &wqe(WQE_SEND, 0, 0, 0, 100), &[]);
    let Some(RxStep::Data { rnr, nak, place, .. }) = s.packet(0) else { panic!() };
    assert_eq!((rnr, nak, place), (Some(1), 0, None));
    let steps = s.acknowledge(1);
    let rnr = steps[0].rnr.expect("the acknowledgment says so");
    assert_eq!((rnr.qpn, rnr.code, rnr.msn), (0, 1, 0xFF_FFF0));
    let at = s.now;
    assert_eq!(s.duo.nic[0].step_withdraw(at, &rnr), Ok(true));
    assert_eq!(s.duo.nic[0].step_withdraw(at, &rnr), Ok(false), "withdrawn already");
    // The refused packet keeps its PPSN and goes out as NOP.
    assert!(matches!(s.packet(0), Some(RxStep::Data { nop: true, .. })));
    assert_eq!(s.duo.nic[0].step_rnr(at + 1000, 0), Ok(false), "its packet is not acknowledged");
    s.acknowledge(1);
    assert_eq!(s.duo.nic[0].step_rnr(at + 50, 0), Ok(false), "its time has not passed");
    assert_eq!(s.duo.nic[0].step_cqe(0), Ok(None), "a withdrawn message is not done");
    s.duo.nic[1].post_recv(0, &RecvWr { wr_id: 5, sges: &[sge(900, 100)] }).unwrap();
    assert!(s.packet(0).is_none());
    assert_eq!(s.duo.nic[0].step_rnr(at + rnr_ticks(1), 0), Ok(true));
    assert_eq!(s.duo.nic[0].step_rnr(at + rnr_ticks(1), 0), Ok(false));
    assert!(s.packet(0).is_some());
    assert_eq!(s.effects.last(), Some(&(1, RxEffect::Stream { qpn: 0 })));
    let (cqe, bytes) = s.duo.nic[1].step_recv_cqe(0).unwrap().unwrap();
    assert_eq!((cqe.wr_id, cqe.byte_len, bytes[1]), (5, 100, CQE_RECV));
    assert_eq!(s.duo.nic[1].step_recv_cqe(0), Ok(None));
    s.acknowledge(1);
    assert_eq!(s.duo.nic[0].step_cqe(0).unwrap().map(|(c, _)| (c.wqe_index, c.status)), Some((7, Status::Success)));
}

/// A WQE with a list needs the list; what the stage does not know it ignores.
#[test]
fn lists_of_a_step() {
    let mut s = Stepper::new();
    let listed = Wqe { num_sge: 3, ..wqe(WQE_SEND, 0, 0, 0, 10) };
    let missing = s.duo.nic[0].step_wqe_list(0, 0, &listed.to_bytes(), &[sge(0, 1)]);
    assert_eq!(missing, Err(StepError::Post(PostError::Sges { count: 1 })));
    let nic = NicConfig { stage: Stage::Write, ..DuoSetup::default().nic };
    let mut old = Duo::<OpenMr0>::new(&DuoSetup { nic, ..DuoSetup::default() });
    let write = Wqe { fence: true, solicited: true, num_sge: 9, ..wqe(WQE_WRITE, 0, 0, 0, 10) };
    assert_eq!(old.nic[0].step_wqe(0, 0, &write.to_bytes()).unwrap().refused, None);
    assert_eq!(old.nic[0].step_wqe(0, 1, &wqe(WQE_SEND, 0, 0, 0, 10).to_bytes()).unwrap().refused, Some(Status::LocQpOpErr));
}

/// W1: RTL may have fewer pieces, and one only of a READ; a list that is too long is refused before it is looked at.
#[test]
fn w1_lists_are_as_long_as_the_build_has_them() {
    let nic = NicConfig { sges: 2, request_sges: 1, ..DuoSetup::default().nic };
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { nic, ..DuoSetup::default() });
    let mut take = |opcode, num_sge, list: &[Sge], index| {
        let listed = Wqe { num_sge, ..wqe(opcode, 0, 0, 0, 10) };
        duo.nic[0].step_wqe_list(0, index, &listed.to_bytes(), list).unwrap().refused
    };
    let pieces = [Sge { len: 0, ..sge(0, 0) }, Sge { len: 0, ..sge(0, 0) }];
    assert_eq!(take(WQE_SEND, 2, &pieces, 0), None);
    assert_eq!(take(WQE_SEND, 3, &[], 1), Some(Status::LocQpOpErr));
    assert_eq!(take(WQE_READ, 2, &pieces, 2), Some(Status::LocQpOpErr));
    assert_eq!(take(WQE_READ, 1, &[], 3), None);
}

/// W3: hardware takes a WQE before it sees that the one before it has moved the QP to Error: checked as any other, skipped (S2), flushed.
#[test]
fn w3_a_wqe_that_overlooks_the_error_is_skipped_and_flushed() {
    for opcode in [WQE_WRITE, WQE_READ] {
        let mut s = Stepper::new();
        assert_eq!(s.take(0, 0, &wqe(99, 0, 0, 0, 8), &[]).refused, Some(Status::LocQpOpErr));
        let nic = &mut s.duo.nic[0];
        assert_eq!(nic.step_cqe(0).unwrap().map(|(c, _)| c.status), Some(Status::LocQpOpErr));
        let good = wqe(opcode, 0, 0, 0, 0);
        let overlooking = nic.step_wqe_overlooking(0, 1, &good.to_bytes(), &[]).unwrap();
        let seeing = nic.step_wqe(0, 2, &good.to_bytes()).unwrap();
        assert_eq!((overlooking.refused, seeing.refused), (None, Some(Status::WrFlushErr)));
        for msn in [overlooking.msn, seeing.msn] {
            let (cqe, _) = nic.step_cqe(0).unwrap().expect("it is flushed");
            assert_eq!((cqe.msn, cqe.status), (msn, Status::WrFlushErr));
        }
        let skipped = Grant::SkippedMessage { qpn: 0, msn: overlooking.msn };
        assert_eq!(nic.step_grant(110, 0, &GrantInputs::default()), Ok(skipped));
        assert!(matches!(nic.step_grant(111, 0, &GrantInputs::default()), Ok(Grant::Blocked(BlockReason::Idle))));
    }
}

/// The stage of SENDs: no requests; a refusal for want of a receive fails its message with 13, and the refused packet is
/// lost (N1, N3 without retries).
#[test]
fn n3_in_the_stage_of_sends() {
    let base = DuoSetup::default();
    let nic = NicConfig { stage: Stage::Send, ..base.nic };
    let qp = QpConfig { rnr_retry: 0, min_rnr_timer: 9, ..base.qp };
    let duo = Duo::new(&DuoSetup { paths: 1, qps: 1, nic, qp, ..base });
    let mut s = Stepper { duo, now: 100, acks: Default::default(), effects: vec![] };
    assert_eq!(s.take(0, 0, &wqe(WQE_READ, 0, 0, 0, 8), &[]).refused, Some(Status::LocQpOpErr));
    assert_eq!(s.duo.nic[0].step_cqe(0).unwrap().map(|(c, _)| c.status), Some(Status::LocQpOpErr));

    let duo = Duo::new(&DuoSetup { paths: 1, qps: 1, nic, qp, ..DuoSetup::default() });
    let mut s = Stepper { duo, now: 100, acks: Default::default(), effects: vec![] };
    s.duo.nic[1].step_recv(0, &RecvWr { wr_id: 5, sges: &[sge(900, 100)] }).unwrap();
    s.take(0, 0, &Wqe { imm: 77, solicited: true, ..wqe(WQE_SEND_IMM, 0, 0, 0, 60) }, &[]);
    s.take(0, 1, &wqe(WQE_WRITE_IMM, 1, 0, 50_000, 100), &[]);
    assert!(s.packet(0).is_some());
    let (cqe, _) = s.duo.nic[1].step_recv_cqe(0).unwrap().unwrap();
    assert_eq!((cqe.wr_id, cqe.byte_len, cqe.imm, cqe.solicited), (5, 60, Some(77), true));
    assert!(matches!(s.packet(0), Some(RxStep::Data { rnr: Some(9), nak: 0, place: None, .. })));
    let steps = s.acknowledge(1);
    let rnr = steps.iter().find_map(|step| step.rnr).expect("the acknowledgment says so");
    assert_eq!(s.duo.nic[0].tx_path(0, 0).unwrap().nlost, 1, "N1");
    assert_eq!(s.duo.nic[0].step_withdraw(s.now, &rnr), Ok(false), "nothing waits");
    let status: Vec<_> =
        std::iter::from_fn(|| s.duo.nic[0].step_cqe(0).unwrap()).map(|(c, _)| (c.status, c.nak_code)).collect();
    assert_eq!(status, [(Status::Success, 0), (Status::RnrRetryExcErr, 9)]);
    // Q6 on the other side: a receive that is posted in Error is a step, and its completion another.
    s.duo.nic[1].step_rx_error(0).unwrap();
    s.duo.nic[1].step_recv(0, &RecvWr { wr_id: 6, sges: &[] }).unwrap();
    let (cqe, _) = s.duo.nic[1].step_recv_cqe(0).unwrap().unwrap();
    assert_eq!((cqe.wr_id, cqe.status), (6, Status::WrFlushErr));
}

/// Section 10, A1: what a connection has under way when it is closed: its frames have their addresses, an acknowledgment that waits is one
/// of a disabled path. While software is closing it hardware may be ahead, but not before.
#[test]
fn what_a_closed_connection_has_under_way() {
    let mut s = Stepper::new();
    for index in 0..8 {
        s.take(0, index, &wqe(WQE_WRITE, index.into(), 0, 50_000, 100), &[]);
        assert!(s.packet(0).is_some());
    }
    let acks = std::mem::take(&mut s.acks[1]);
    let frames: Vec<_> = acks.iter().map(|ack| s.frame(1, &Outgoing::Ack(*ack))).collect();
    for frame in &frames {
        s.duo.nic[0].step_rx(s.now, frame, &mut s.duo.mem[0]);
    }
    assert!(s.duo.nic[0].acks_waiting() >= 2);
    let verdict = |s: &mut Stepper| s.duo.nic[0].step_ack_seen(s.now, true).unwrap().outcome.verdict;
    assert_eq!(verdict(&mut s), AckVerdict::Applied, "nobody closes it");
    s.duo.nic[0].begin_closing_connection(0);
    let open = s.duo.nic[0].counters().ack_disabled;
    s.duo.nic.iter_mut().for_each(|nic| nic.close_connection(0));
    for (ack, frame) in acks.iter().zip(&frames) {
        assert_eq!(&s.frame(1, &Outgoing::Ack(*ack)), frame);
    }
    assert_eq!(verdict(&mut s), AckVerdict::Disabled);
    assert_eq!(s.duo.nic[0].counters().ack_disabled, open + 1);
}
