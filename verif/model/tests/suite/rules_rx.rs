//! Rules of the receiver, one named test each: R1..R11.

use mrnic_model::*;
use mrnic_wire::frame::set_ecn;
use mrnic_wire::{AtomicOp, Body, MakCode, Msg, Packet, PathHeader, Ppsn};

use crate::pair::{address, conn_config, keys, write, Memory, Setup, RBASE, RKEY, TARGET};

/// A receiver with one connection (0), QPs 0 and 1 on it, and keys.
pub struct Receiver<P: Profile> {
    pub nic: Nic<P>,
    pub mem: Memory,
    pub now: Tick,
}

/// What a test says about a data packet.
#[derive(Clone)]
pub struct Data {
    pub ppsn: u32,
    pub msn: u32,
    pub qpn: u32,
    pub offset: u64,
    pub payload: Vec<u8>,
    pub length: u32,
    pub rkey: u32,
    pub ack_req: bool,
    pub ce: bool,
    pub rtx: bool,
    pub home: u8,
    pub via: u8,
    pub conn: u16,
    pub nop: bool,
    /// UDP source port.
    pub port: u16,
}

pub fn data(ppsn: u32) -> Data {
    Data {
        ppsn,
        msn: 0,
        qpn: 0,
        offset: u64::from(ppsn & 0xFF) * 8,
        payload: vec![ppsn as u8; 8],
        length: 1 << 20,
        rkey: RKEY,
        ack_req: false,
        ce: false,
        rtx: false,
        home: 0,
        via: 0,
        conn: 0,
        nop: false,
        port: 0xC000,
    }
}

pub fn frame<P: Profile>(packet: &Packet, payload: &[u8], ce: bool) -> Vec<u8> {
    let mut buf = vec![0; 5000];
    let len = P::emit_packet(&mut buf, &address(1, 2), 0xC000, packet, payload).unwrap();
    buf.truncate(len);
    if ce {
        set_ecn(&mut buf, 3);
    }
    buf
}

/// The same packet by another UDP source port.
pub fn by_port<P: Profile>(frame: &[u8], port: u16) -> Vec<u8> {
    let parsed = P::parse_packet(frame).unwrap();
    let mut buf = vec![0; 5000];
    let len = P::emit_packet(&mut buf, &address(1, 2), port, &parsed.packet, parsed.payload).unwrap();
    buf.truncate(len);
    if parsed.ecn_ce {
        set_ecn(&mut buf, 3);
    }
    buf
}

impl Data {
    pub fn frame<P: Profile>(&self) -> Vec<u8> {
        let msg = Msg { msn: self.msn.into(), ..Msg::default() };
        let body = match self.nop {
            true => Body::Nop { msg },
            false => Body::Write { msg, va: RBASE.wrapping_add(self.offset), rkey: self.rkey, length: self.length, imm: None },
        };
        let mph = PathHeader {
            rtx: self.rtx,
            moved: false,
            home: self.home,
            tx_ts: self.ppsn as u16,
            conn: self.conn,
            via: self.via,
        };
        let packet = Packet { dest_qp: self.qpn, ack_req: self.ack_req, ppsn: Ppsn::new(self.ppsn), mph, ..Packet::new(body) };
        let payload = if self.nop { &[][..] } else { &self.payload };
        by_port::<P>(&frame::<P>(&packet, payload, self.ce), self.port)
    }
}

impl<P: Profile> Receiver<P> {
    pub fn new(setup: &Setup) -> Self {
        let mut nic = Nic::new(setup.nic).unwrap();
        nic.open_connection(0, 0, &conn_config(1, setup)).unwrap();
        nic.open_connection(0, 1, &conn_config(1, setup)).unwrap();
        for qpn in 0..2 {
            let qp = QpConfig { rx_start_msn: setup.start_msn, ..QpConfig::new(0, 0x40 + qpn) };
            nic.open_qp(qpn, &qp).unwrap();
        }
        nic.open_qp(2, &QpConfig { pd: 7, ..QpConfig::new(0, 0x42) }).unwrap();
        nic.open_qp(3, &QpConfig::new(1, 0x43)).unwrap();
        keys(&mut nic, 1 << 20);
        Receiver { nic, mem: Memory::new(1 << 20), now: 1000 }
    }

    pub fn rx(&mut self, data: &Data) -> RxStep {
        self.nic.step_rx(self.now, &data.frame::<P>(), &mut self.mem)
    }

    /// (class, place, nak, acknowledgment)
    pub fn data(&mut self, data: &Data) -> (RxClass, Option<Place>, u8, Option<AckDesc>) {
        match self.rx(data) {
            RxStep::Data { class, place, nak, ack, .. } => (class, place, nak, ack),
            other => panic!("{other:?}"),
        }
    }

    pub fn path(&self) -> &RxPath {
        self.nic.rx_path(0, 0).unwrap()
    }
}

fn receiver<P: Profile>() -> Receiver<P> {
    Receiver::new(&Setup::default())
}

/// R1: nothing but a drop counter changes.
fn r1_checks_before_any_state<P: Profile>() {
    let mut r = receiver::<P>();
    let dropped = |r: &mut Receiver<P>, d: &Data| match r.rx(d) {
        RxStep::Dropped { reason } => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(dropped(&mut r, &Data { conn: 2, ..data(0) }), DropReason::Connection(2));
    assert_eq!(dropped(&mut r, &Data { conn: 9999, ..data(0) }), DropReason::Connection(9999));
    assert_eq!(dropped(&mut r, &Data { home: 8, ..data(0) }), DropReason::Path { home: 8, via: 0 });
    assert_eq!(dropped(&mut r, &Data { via: 8, ..data(0) }), DropReason::Path { home: 0, via: 8 });
    let mut bad = data(0).frame::<P>();
    *bad.last_mut().unwrap() ^= 1;
    assert!(matches!(r.nic.step_rx(0, &bad, &mut r.mem), RxStep::Dropped { reason: DropReason::Codec(_) }));
    let msg = Msg::default();
    let atomic = Body::AtomicReq { msg, op: AtomicOp::FetchAdd, va: 0, rkey: 0, swap_add: 0, compare: 0 };
    let imm = Body::Write { msg, va: 0, rkey: 0, length: 0, imm: Some(mrnic_wire::WriteImm::default()) };
    for body in [atomic, imm] {
        let f = frame::<P>(&Packet::new(body), &[], false);
        assert!(matches!(r.nic.step_rx(0, &f, &mut r.mem), RxStep::Dropped { reason: DropReason::Unsupported(_) }));
    }
    let c = r.nic.counters();
    assert_eq!((c.drop_conn, c.drop_path, c.drop_icrc, c.drop_unsupported, c.rx_frames), (2, 2, 1, 2, 7));
    assert_eq!(r.path(), &RxPath::open(0, 0, 0xC000));
}

/// R2: duplicate, out of window, new; across the wrap of the PPSN.
fn r2_classes_of_a_ppsn<P: Profile>() {
    let v = P::VECTOR_BITS;
    for start in [0u32, 0xFF_FFFF, 0xFF_FFFF - v / 2, 0x7F_FFFF] {
        let setup = Setup { start_ppsn: start, ..Setup::default() };
        let mut r = Receiver::<P>::new(&setup);
        let at = |n: u32| data(start.wrapping_add(n) & 0xFF_FFFF);
        assert_eq!(r.data(&at(0)).0, RxClass::New);
        assert_eq!(r.data(&at(0)).0, RxClass::Duplicate, "behind cum");
        assert_eq!(r.data(&at(5)).0, RxClass::New);
        assert_eq!(r.data(&at(5)).0, RxClass::Duplicate, "bit set");
        assert_eq!(r.data(&at(v)).0, RxClass::New, "last of the window: cum + V - 1");
        let before = r.path().clone();
        let (class, place, _, ack) = r.data(&at(v + 1));
        assert_eq!((class, place), (RxClass::OutOfWindow, None));
        assert!(ack.is_some(), "acknowledged at once");
        assert_eq!(r.path(), &before, "counts nothing");
        assert_eq!(r.data(&at(0u32.wrapping_sub(300))).0, RxClass::Duplicate, "far behind");
        assert_eq!((r.path().dup, r.path().rx), (3, 6));
    }
}

/// R3: each check with its code, in the order of the page; R4: nothing is written and the bit stays clear.
fn r3_r4_refusals_and_their_codes<P: Profile>() {
    let cases: Vec<(&str, u8, Data)> = vec![
        ("QP out of range", 4, Data { qpn: 999, ..data(0) }),
        ("QP not open", 4, Data { qpn: 5, ..data(0) }),
        ("QP of another connection", 4, Data { qpn: 3, ..data(0) }),
        ("payload above MTU", 7, Data { payload: vec![1; 4097], ..data(0) }),
        ("MSN beyond M", 7, Data { msn: 64, ..data(0) }),
        ("MSN behind", 7, Data { msn: 0xFF_FFFF, ..data(0) }),
        ("longer than the message", 7, Data { length: 7, ..data(0) }),
        ("payload in a zero-length message", 7, Data { length: 0, ..data(0) }),
        ("key index out of range", 1, Data { rkey: 0x7777_7711, ..data(0) }),
        ("key not valid", 1, Data { rkey: key_of(3, 0), ..data(0) }),
        ("low byte of the key", 1, Data { rkey: RKEY ^ 1, ..data(0) }),
        ("protection domain", 2, Data { qpn: 2, ..data(0) }),
        ("no remote write", 2, Data { rkey: key_of(1, 0x11), ..data(0) }),
        ("below base", 3, Data { offset: 0u64.wrapping_sub(1), ..data(0) }),
        ("one byte past the end", 3, Data { offset: (1 << 20) - 7, ..data(0) }),
        ("wraps", 3, Data { offset: 0u64.wrapping_sub(RBASE + 4), ..data(0) }),
    ];
    for (what, code, d) in cases {
        let mut r = receiver::<P>();
        let (class, place, nak, ack) = r.data(&d);
        assert_eq!((class, place, nak), (RxClass::New, None, code), "{what}");
        let ack = ack.expect("a refusal is acknowledged at once").ack;
        assert!(ack.flags.nak, "{what}");
        assert_eq!(ack.mak.msn.get(), d.msn, "{what}");
        let named = if code == 4 { d.ppsn } else { 0x40 + d.qpn };
        assert_eq!(ack.mak.qp, named, "{what}");
        assert!(r.mem.hits.iter().all(|&h| h == 0), "{what}: nothing is written");
        assert_eq!((r.path().cum.get(), r.path().rx), (0, 0), "{what}: the bit stays clear");
    }
}

/// R4: the QP goes to Error; later packets of it are refused with 6, other QPs go on.
fn r4_the_refusing_qp_is_in_error<P: Profile>() {
    let mut r = receiver::<P>();
    let RxStep::Data { rx_error, .. } = r.rx(&Data { rkey: 0, ..data(0) }) else { panic!() };
    assert_eq!(rx_error, Some(0));
    assert!(r.nic.step_rx_error(0).unwrap());
    assert_eq!(r.data(&data(1)).2, 6);
    assert_eq!(r.data(&Data { qpn: 1, ..data(2) }).2, 0);
}

/// R5: payload to va - base + dma_base, then the bit, the advance and the counters.
fn r5_place_and_advance<P: Profile>() {
    let mut r = receiver::<P>();
    let (_, place, _, _) = r.data(&Data { ce: true, ..data(2) });
    assert_eq!(place, Some(Place { addr: TARGET + 16, len: 8 }));
    assert_eq!(&r.mem.target[16..24], &[2; 8]);
    r.data(&data(1));
    assert_eq!((r.path().cum.get(), r.path().high.get()), (0, 2));
    r.data(&data(0));
    assert_eq!((r.path().cum.get(), r.path().high.get(), r.path().rx, r.path().ce), (3, 2, 3, 1));
    assert!(r.path().vec.is_empty());
}

/// R6: a NOP needs no QP and no key, touches no memory, sets its bit.
fn r6_nop_only_fills_the_sequence<P: Profile>() {
    let mut r = receiver::<P>();
    let (class, place, nak, _) = r.data(&Data { nop: true, qpn: 0xFF_FFFF, ..data(0) });
    assert_eq!((class, place, nak), (RxClass::New, None, 0));
    assert_eq!(r.path().cum.get(), 1);
    assert_eq!(r.path().last_qp, None);
    assert_eq!(r.data(&Data { nop: true, ..data(0) }).0, RxClass::Duplicate);
}

/// R7: messages complete by their bytes in any order and advance in MSN order; a zero-length one takes one packet.
fn r7_message_contexts<P: Profile>() {
    for start in [0u32, 0xFF_FFFE] {
        let setup = Setup { start_msn: start, ..Setup::default() };
        let mut r = Receiver::<P>::new(&setup);
        let msn = |n: u32| start.wrapping_add(n) & 0xFF_FFFF;
        let exp = |r: &Receiver<P>| r.nic.recv_stream(0).unwrap().exp.get();
        r.data(&Data { msn: msn(1), length: 16, ..data(0) });
        r.data(&Data { msn: msn(2), length: 0, payload: vec![], ..data(1) });
        r.data(&Data { msn: msn(1), length: 16, ..data(2) });
        assert_eq!(exp(&r), msn(0), "MSN order");
        r.data(&Data { msn: msn(0), length: 8, ..data(3) });
        assert_eq!(exp(&r), msn(3));
        assert_eq!(r.nic.counters().rx_messages, 3);
        r.data(&Data { msn: msn(3 + 63), length: 8, ..data(4) });
        assert_eq!(exp(&r), msn(3));
    }
}

/// R8: when an acknowledgment goes at once, when it is held, and its timer.
fn r8_when_to_acknowledge<P: Profile>() {
    let mut r = receiver::<P>();
    for ppsn in 0..3 {
        assert!(r.data(&data(ppsn)).3.is_none(), "held");
    }
    assert!(r.data(&data(3)).3.is_some(), "N = 4");
    assert!(r.data(&Data { ack_req: true, ..data(4) }).3.is_some(), "ack_req");
    assert!(r.data(&data(6)).3.is_some(), "a gap opens");
    assert!(r.data(&data(7)).3.is_none(), "in order above the gap");
    assert!(r.data(&data(5)).3.is_some(), "a gap is filled");
    assert!(r.data(&Data { ce: true, ..data(8) }).3.is_some(), "CE begins");
    assert!(r.data(&Data { ce: true, ..data(9) }).3.is_none(), "CE goes on");
    assert!(r.data(&data(10)).3.is_some(), "CE ends");
    assert!(r.data(&data(10)).3.is_some(), "duplicate");
    assert!(r.data(&data(11)).3.is_none());
    r.now += 60;
    assert!(r.data(&data(12)).3.is_none());
    let due = r.now - 60 + 125;
    assert!(r.nic.step_rx_timer(due - 1, 0, 0).unwrap().is_none());
    assert!(r.nic.step_rx_timer(due, 0, 0).unwrap().is_some(), "the timer counts from the first held packet");
    assert!(r.nic.step_rx_timer(due + 500, 0, 0).unwrap().is_none(), "nothing is held any more");
}

fn probe<P: Profile>(home: u8, ts: u16) -> Vec<u8> {
    let mph = PathHeader { home, via: home, tx_ts: ts, ..PathHeader::default() };
    frame::<P>(&Packet { dest_qp: 2, mph, ..Packet::new(Body::Probe) }, &[], false)
}

/// R9: contents of an acknowledgment, of a probe's reply and of a refusal.
fn r9_contents_of_an_acknowledgment<P: Profile>() {
    let mut r = receiver::<P>();
    r.data(&Data { msn: 0, length: 8, ..data(0) });
    r.data(&Data { msn: 1, ..data(2) });
    r.data(&Data { msn: 1, ..data(P::VECTOR_BITS - 1) });
    r.now += 7;
    let (_, _, _, ack) = r.data(&Data { msn: 1, via: 3, ce: true, rtx: true, ..data(4) });
    let desc = ack.unwrap();
    assert_eq!((desc.home, desc.via, desc.cum.get(), desc.peer_conn), (0, 3, 1, 0));
    let ack = desc.ack;
    let set: Vec<u32> = (0..256).filter(|&i| ack.vector.get(i)).collect();
    assert_eq!(set, [0, 2, P::VECTOR_BITS - 3], "bit i = received(cum + 1 + i)");
    assert_eq!((ack.ts_echo, ack.service, ack.flags.ts_valid), (4, 0, false));
    assert_eq!((ack.ce_packets, ack.dup_packets, ack.rx_packets), (1, 0, 4));
    assert_eq!((ack.mak.qp, ack.mak.code, ack.mak.msn.get()), (0x40, MakCode::Ok, 0));
    assert_eq!((ack.rate, ack.epoch), (RATE_UNLIMITED, 0));

    let before = r.path().clone();
    let f = probe::<P>(0, 0xBEEF);
    let RxStep::Probe { ack, .. } = r.nic.step_rx(r.now + 100, &f, &mut r.mem) else { panic!() };
    assert_eq!((ack.ack.ts_echo, ack.ack.service), (0xBEEF, 0));
    assert!(ack.ack.flags.ts_valid && ack.ack.flags.probe_reply);
    assert_eq!(ack.via, 0, "last_via is the probe's");
    assert_eq!(r.path().last_ts, before.last_ts, "last_ts is left alone");

    let mut buf = [0; 400];
    let len = r.nic.encode(&Outgoing::Ack(ack), Some(0xC123), &r.mem, &mut buf).unwrap();
    let parsed = P::parse_packet(&buf[..len]).unwrap();
    assert_eq!((parsed.packet.dest_qp, parsed.packet.ppsn, parsed.udp_src), (2, ack.cum, 0xC123));
    assert_eq!(parsed.packet.body, Body::Ack(ack.ack));
    assert_eq!((parsed.packet.mph.tx_ts, parsed.packet.mph.rtx, parsed.packet.mph.moved), (0, false, false));
}

/// R9, R10: an acknowledgment has the port of the last packet by its path: the peer leaves a route for both ways. It follows new packets,
/// duplicates, refused ones and probes, not those out of the window.
fn r9_r10_the_port_of_an_acknowledgment<P: Profile>() {
    let mut r = receiver::<P>();
    let port = |r: &mut Receiver<P>, frame: Vec<u8>, port: u16| {
        let ack = match r.nic.step_rx(r.now, &by_port::<P>(&frame, port), &mut r.mem) {
            RxStep::Data { ack, .. } => ack.expect("an acknowledgment"),
            RxStep::Probe { ack, .. } => ack,
            other => panic!("{other:?}"),
        };
        let mut buf = [0; 400];
        let len = r.nic.encode(&Outgoing::Ack(ack), None, &r.mem, &mut buf).unwrap();
        let parsed = P::parse_packet(&buf[..len]).unwrap();
        (parsed.packet.mph.via, parsed.udp_src)
    };
    let packet = |ppsn, via| Data { via, ack_req: true, ..data(ppsn) }.frame::<P>();
    assert_eq!(port(&mut r, packet(0, 2), 0xC111), (2, 0xC111));
    assert_eq!(port(&mut r, packet(1, 1), 0xC222), (1, 0xC222), "each path its own");
    assert_eq!(port(&mut r, packet(1, 2), 0xC333), (2, 0xC333), "a duplicate");
    assert_eq!(port(&mut r, packet(1000, 1), 0xC444), (2, 0xC333), "out of the window");
    assert_eq!(port(&mut r, probe::<P>(2, 7), 0xC555), (2, 0xC555), "a probe");
    let refused = Data { via: 1, rkey: RKEY ^ 1, ..data(2) }.frame::<P>();
    assert_eq!(port(&mut r, refused, 0xC666), (1, 0xC666), "a refused packet");
    assert_eq!(r.nic.tx_path(0, 1).unwrap().port, 0xC001, "its own packets keep theirs");
}

/// R10: new and duplicate packets are echoed, others are not.
fn r10_what_is_echoed<P: Profile>() {
    let mut r = receiver::<P>();
    r.data(&Data { via: 2, ..data(0) });
    assert_eq!((r.path().last_ts, r.path().last_ts_valid, r.path().last_via, r.path().last_arrival), (0, true, 2, 1000));
    assert_eq!(r.path().last_qp, Some(0));
    r.now = 2000;
    r.data(&Data { via: 1, rtx: true, qpn: 1, ..data(0) });
    assert_eq!((r.path().last_ts_valid, r.path().last_via, r.path().last_arrival), (false, 1, 2000));
    assert_eq!(r.path().last_qp, Some(0), "a duplicate leaves it");
    r.now = 70_000;
    let (_, _, _, ack) = r.data(&data(600));
    assert_eq!(ack.unwrap().ack.service, 65_535, "68,000 ticks, bounded");
    assert_eq!(r.path().last_arrival, 2000, "out of window is not echoed");
}

/// R11 through the NIC: acknowledgments carry the published rate and epoch.
fn r11_rate_in_acknowledgments<P: Profile>() {
    let nic = NicConfig { epoch_cap_bytes: 64_000, ..Setup::default().nic };
    let mut r = Receiver::<P>::new(&Setup { nic, ..Setup::default() });
    let first = r.data(&Data { ack_req: true, ..data(0) }).3.unwrap();
    assert_eq!((first.ack.rate, first.ack.epoch), (RATE_UNLIMITED, 0));
    assert!(r.nic.step_epoch_publish().is_err(), "swap comes first");
    assert!(r.nic.step_epoch_swap());
    let between = r.data(&Data { ack_req: true, ..data(1) }).3.unwrap();
    assert_eq!(between.ack.epoch, 0, "not yet published");
    assert_eq!(r.nic.step_epoch_publish(), Ok(64_000));
    let after = r.data(&Data { ack_req: true, ..data(2) }).3.unwrap();
    assert_eq!((after.ack.rate, after.ack.epoch), (31_250, 1));
}

/// A WQE's frame arrives where it should (keeps the helper `write` honest).
#[test]
fn a_wqe_is_its_own_bytes() {
    let wqe = write(0x1122_3344_5566_7788, 5, 6, 7);
    assert_eq!(Wqe::from_bytes(&wqe.to_bytes()), wqe);
}

crate::for_each_profile!(
    r1_checks_before_any_state,
    r2_classes_of_a_ppsn,
    r3_r4_refusals_and_their_codes,
    r4_the_refusing_qp_is_in_error,
    r5_place_and_advance,
    r6_nop_only_fills_the_sequence,
    r7_message_contexts,
    r8_when_to_acknowledge,
    r9_contents_of_an_acknowledgment,
    r9_r10_the_port_of_an_acknowledgment,
    r10_what_is_echoed,
    r11_rate_in_acknowledgments,
);
