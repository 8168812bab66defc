//! Transmit slots of a whole NIC, step by step: S2, S4, S5, S6, C2, and the values that hardware samples early.

use mrnic_model::*;
use mrnic_wire::{Body, Packet, PathHeader, Ppsn};

use crate::pair::{conn_config, keys, write, Memory, Setup};
use crate::rules_rx::frame;
use crate::rules_tx::ack_of;

pub struct Sender<P: Profile> {
    pub nic: Nic<P>,
    pub mem: Memory,
}

pub fn sender<P: Profile>(paths: u8, window: u16) -> Sender<P> {
    let setup = Setup { paths, window, ..Setup::default() };
    let mut nic = Nic::new(NicConfig { events: true, ..setup.nic }).unwrap();
    nic.open_connection(0, 0, &conn_config(0, &setup)).unwrap();
    for qpn in 0..3 {
        nic.open_qp(qpn, &QpConfig::new(0, 0x50 + qpn)).unwrap();
    }
    keys(&mut nic, 1 << 20);
    Sender { nic, mem: Memory::new(1 << 20) }
}

impl<P: Profile> Sender<P> {
    pub fn wqe(&mut self, qpn: u32, index: u16, len: u32) -> WqeStep {
        self.nic.step_wqe(qpn, index, &write(u64::from(index), 0, 0, len).to_bytes()).unwrap()
    }

    pub fn grant(&mut self) -> Grant {
        self.nic.step_grant(10, 0, &GrantInputs::default()).unwrap()
    }

    pub fn packet(&mut self) -> PacketDesc {
        match self.grant() {
            Grant::Packet(packet) => packet,
            other => panic!("{other:?}"),
        }
    }

    /// An ACK frame of path `home` arrives and is applied; its packets are retired in reverse order.
    pub fn ack(&mut self, home: u8, cum: u32, received: &[u32], change: impl FnOnce(&mut mrnic_wire::Ack)) -> AckStep {
        let (cum, mut ack) = ack_of(cum, received);
        change(&mut ack);
        let mph = PathHeader { home, via: home, ..PathHeader::default() };
        let packet = Packet { dest_qp: 2, ppsn: cum, mph, ..Packet::new(Body::Ack(ack)) };
        let step = self.nic.step_rx(20, &frame::<P>(&packet, &[], false), &mut self.mem);
        assert_eq!(step, RxStep::AckQueued { conn: 0, home });
        let step = self.nic.step_ack(20).unwrap();
        let mut newly: Vec<u32> = step.newly_acked().collect();
        newly.reverse();
        for ppsn in newly {
            self.nic.step_retire(0, home, ppsn).unwrap();
            assert!(self.nic.step_retire(0, home, ppsn).is_err(), "retired once");
        }
        if let Some(nak) = step.nak {
            self.nic.step_nak(nak.qpn, nak.code, nak.msn).unwrap();
        }
        step
    }

    pub fn cqes(&mut self, qpn: u32) -> Vec<(u16, u8)> {
        std::iter::from_fn(|| self.nic.step_cqe(qpn).unwrap()).map(|(c, _)| (c.wqe_index, c.status as u8)).collect()
    }
}

/// S2: messages go in order; one of a QP in Error is skipped whole, even when it has begun.
fn s2_order_and_skipping<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 0, 3 * 4096);
    s.wqe(1, 0, 10);
    let first = s.packet();
    assert_eq!((first.qpn, first.msn, first.index, first.first, first.last), (0, 0, 0, true, false));
    s.nic.step_conn_error(0).unwrap();
    assert_eq!(s.grant(), Grant::SkippedMessage { qpn: 0, msn: 0 });
    let next = s.packet();
    assert_eq!((next.qpn, next.len, next.last, next.ppsn), (1, 10, true, 1));
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Idle));
}

/// S3, S5: contents of the packets of a message; the round robin moves on as the page says.
fn s5_packets_of_a_message<P: Profile>() {
    let mut s = sender::<P>(8, 16);
    let step = s.wqe(0, 7, 9 * 4096 + 1);
    assert_eq!((step.msn, step.npkts, step.refused), (0, 10, None));
    let mut offset = 0;
    for index in 0..10 {
        let p = s.packet();
        assert_eq!((p.index, p.offset, p.home, p.via), (index, offset, (index % 8) as u8, (index % 8) as u8));
        assert_eq!(p.ack_req, index >= 2, "S4: the last packet of each path");
        assert_eq!((p.rtx, p.moved, p.nop, p.peer_qpn, p.ts), (false, false, false, 0x50, 10));
        assert_eq!(p.len, if index == 9 { 1 } else { 4096 });
        offset += p.len;
        let tx = s.nic.tx_conn(0).unwrap();
        assert_eq!((tx.sent_bytes, u32::from(tx.rr)), (offset, (index + 1) % 8), "one packet by each path in turn");
    }
    assert_eq!(s.nic.tx_path(0, 0).unwrap().t_base, 10, "the timer of an idle path begins");
    s.wqe(0, 8, 0);
    let zero = s.packet();
    assert_eq!((zero.len, zero.first, zero.last, zero.ack_req), (0, true, true, true));
}

/// S3: the path that a moved resend took comes last for the next try: of two idle paths each try takes the other.
fn s3_the_next_try_of_a_moved_resend_takes_another_path<P: Profile>() {
    let mut s = sender::<P>(4, 16);
    s.wqe(0, 0, 4 * 4096);
    for path in 0..4 {
        let p = s.packet();
        assert_eq!((p.home, p.moved), (path, false));
        if path == 1 || path == 2 {
            s.ack(path, p.ppsn + 1, &[], |_| {});
        }
    }
    assert_eq!(s.nic.tx_conn(0).unwrap().rr, 0);
    use TimerAction::{Down, FirstSuspect, PortChange, StillDown};
    let mut now = 20;
    for (action, via) in [(FirstSuspect, 1), (PortChange, 2), (Down, 1), (StillDown, 2)] {
        now += 1 << 17;
        assert_eq!(s.nic.step_tx_timer(now, 0, 0).unwrap().action, action);
        let p = s.packet();
        assert_eq!((p.home, p.via, p.moved), (0, via, true));
        assert_eq!(s.nic.tx_conn(0).unwrap().rr, via + 1);
    }
}

/// S4: who asks for an acknowledgment at once.
fn s4_ack_request<P: Profile>() {
    let mut s = sender::<P>(1, 3);
    s.wqe(0, 0, 10);
    s.wqe(0, 1, 10);
    s.wqe(0, 2, 10);
    assert!(!s.packet().ack_req, "another message waits");
    assert!(!s.packet().ack_req);
    assert!(s.packet().ack_req, "the last message, and the window is full");
    s.wqe(0, 3, 10);
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Paths));
    let mut s = sender::<P>(1, 2);
    s.wqe(0, 0, 4 * 4096);
    assert!(!s.packet().ack_req);
    assert!(s.packet().ack_req, "pipe = window");
}

/// C2, C3, S4: the hint of an acknowledgment limits the connection; a rate of 0 counts as 1.
fn c2_hint_limits_the_connection<P: Profile>() {
    let mut s = sender::<P>(1, 64);
    s.wqe(0, 0, 40 * 4096);
    s.packet();
    s.ack(0, 1, &[], |a| {
        a.rate = 0;
        a.flags.ts_valid = true;
    });
    assert_eq!(s.nic.tx_conn(0).unwrap().hint, 1);
    let blocked = s.nic.step_grant(20, 0, &GrantInputs::default()).unwrap();
    let Grant::Packet(p) = blocked else { panic!("{blocked:?}") };
    assert!(p.ack_req, "the window of the connection, one packet, is full after it");
    assert_eq!(s.nic.step_grant(30, 0, &GrantInputs::default()), Ok(Grant::Blocked(BlockReason::ConnWindow)));
}

/// S6: a resend of a packet whose QP is in Error goes out as a NOP with the same PPSN.
fn s6_resend_of_a_failed_qp_is_a_nop<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 0, 3 * 4096);
    for _ in 0..3 {
        s.packet();
    }
    s.ack(0, 0, &[2], |_| {});
    s.nic.step_conn_error(0).unwrap();
    let nop = s.packet();
    assert_eq!((nop.ppsn, nop.rtx, nop.nop, nop.len, nop.ack_req), (0, true, true, 0, true));
    let mut buf = [0; 5000];
    let len = s.nic.encode(&Outgoing::Data(nop), None, &s.mem, &mut buf).unwrap();
    let parsed = P::parse_packet(&buf[..len]).unwrap();
    assert!(matches!(parsed.packet.body, Body::Nop { msg } if !msg.first && !msg.last));
    assert_eq!((parsed.packet.ppsn, parsed.packet.dest_qp), (Ppsn::new(0), P::PATH_QP), "it belongs to its path alone");
    // The other lost packet, with the error overlooked by an early sample: still the data of its message.
    let late = GrantInputs { qp_error_seen: Some(false), ..GrantInputs::default() };
    let Ok(Grant::Packet(data)) = s.nic.step_grant(11, 0, &late) else { panic!() };
    assert_eq!((data.ppsn, data.nop, data.len, data.offset), (1, false, 4096, 4096));
}

/// Early samples: larger bytes in flight and overlooked messages are taken, inventions are refused.
fn early_samples_are_bounded<P: Profile>() {
    let mut s = sender::<P>(1, 16);
    s.wqe(0, 0, 2 * 4096);
    let seen = |bytes, more| GrantInputs { inflight_bytes_seen: bytes, more_waiting: more, ..GrantInputs::default() };
    assert!(matches!(s.nic.step_grant(1, 0, &seen(Some(99), Some(false))), Ok(Grant::Packet(_))));
    let small = StepError::InflightTooSmall { conn: 0, seen: 4095, exact: 4096 };
    assert_eq!(s.nic.step_grant(1, 0, &seen(Some(4095), None)), Err(small));
    assert_eq!(s.nic.step_grant(1, 0, &seen(None, Some(true))), Err(StepError::NoMessageWaits { conn: 0 }));
    let invented = GrantInputs { qp_error_seen: Some(true), ..GrantInputs::default() };
    assert_eq!(s.nic.step_grant(1, 0, &invented), Err(StepError::QpNotInError { qpn: 0 }));
    s.wqe(0, 1, 1);
    let Ok(Grant::Packet(p)) = s.nic.step_grant(1, 0, &seen(None, Some(false))) else { panic!() };
    assert!(p.ack_req, "it overlooked that another message waits");
    // Section 10: a QP that software is closing may be seen in Error, or not, until it is closed.
    for qpn in [0, 1] {
        s.wqe(qpn, 2, 10);
    }
    s.nic.begin_closing_qp(0);
    assert!(s.nic.is_closing(0) && !s.nic.is_closing(1));
    let overlooked = GrantInputs { qp_error_seen: Some(false), ..GrantInputs::default() };
    assert!(matches!(s.nic.step_grant(1, 0, &overlooked), Ok(Grant::Packet(_))));
    assert_eq!(s.nic.step_grant(1, 0, &invented), Ok(Grant::SkippedMessage { qpn: 0, msn: 2 }));
    assert_eq!(s.nic.step_grant(1, 0, &invented), Err(StepError::QpNotInError { qpn: 1 }));
    s.nic.close_qp(0);
    assert!(!s.nic.is_closing(0));
}

/// The pool bounds the outstanding packets of the NIC and is given back.
fn pool_is_bounded_and_given_back<P: Profile>() {
    let mut s = sender::<P>(1, P::VECTOR_BITS as u16);
    let nic = NicConfig { pool_packets: 32, ..*s.nic.config() };
    s.nic = Nic::new(nic).unwrap();
    let setup = Setup { paths: 1, window: P::VECTOR_BITS as u16, ..Setup::default() };
    s.nic.open_connection(0, 0, &conn_config(0, &setup)).unwrap();
    s.nic.open_qp(0, &QpConfig::new(0, 0x50)).unwrap();
    keys(&mut s.nic, 1 << 20);
    s.wqe(0, 0, 100 * 4096);
    for _ in 0..32 {
        s.packet();
    }
    assert_eq!(s.grant(), Grant::Blocked(BlockReason::Pool));
    s.ack(0, 16, &[], |_| {});
    assert_eq!(s.packet().ppsn, 32);
    assert_eq!(s.nic.pool_packets(), 17);
    s.nic.close_connection(0);
    assert_eq!(s.nic.pool_packets(), 0);
}

crate::for_each_profile!(
    s2_order_and_skipping,
    s5_packets_of_a_message,
    s3_the_next_try_of_a_moved_resend_takes_another_path,
    s4_ack_request,
    c2_hint_limits_the_connection,
    s6_resend_of_a_failed_qp_is_a_nop,
    early_samples_are_bounded,
    pool_is_bounded_and_given_back,
);
