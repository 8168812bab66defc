//! The receiver as a state machine: packets in any order, twice, outside the window, refused, NOPs, probes, time.
//! Reference: the set of received PPSNs of each path, a map of written bytes and the bytes of each message, without any ring.
//! Every acknowledgment is compared whole (R2..R10).

use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use mrnic_model::*;
use mrnic_wire::{Ack, AckFlags, Body, Mak, MakCode, Packet, PathHeader, Ppsn, SackVector};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::pair::{Setup, RKEY, TARGET};
use crate::profiles::run_machine;
use crate::rules_rx::{by_port, data, frame, Data, Receiver};

const PATHS: usize = 2;
const HELD_PKTS: u8 = 4;
const HELD_TICKS: u32 = 125;
/// Addresses that writes go to, eight bytes each: few, so that writes overlap.
const SLOTS: u64 = 32;

/// What is wrong with a WRITE.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    None,
    Key,
    Bounds,
    UnknownQp,
}

/// Which PPSN: counted from the oldest missing one, or from the one after the highest received.
#[derive(Clone, Copy, Debug)]
pub enum At {
    Missing(i16),
    Highest(i16),
}

#[derive(Clone, Debug)]
pub enum Op {
    /// A WRITE of eight bytes; `msn` counts from the oldest incomplete message.
    Write {
        path: u8,
        at: At,
        qpn: u32,
        msn: i8,
        slot: u8,
        ce: bool,
        ack_req: bool,
        rtx: bool,
        fault: Fault,
    },
    Nop {
        path: u8,
        at: At,
        ce: bool,
    },
    Probe {
        path: u8,
        via: u8,
        ts: u16,
    },
    /// The error of a refusal reaches the QP.
    Fail {
        qpn: u32,
    },
    Wait {
        ticks: u16,
    },
}

#[derive(Clone, Debug, Default)]
struct PathRef {
    received: BTreeSet<i64>,
    high: i64,
    dup: u16,
    ce: u16,
    ce_state: bool,
    held: u8,
    held_since: u32,
    echo: (u16, bool),
    via: u8,
    arrival: u32,
    last_qp: Option<u32>,
    /// UDP source port of the last packet that travelled by this path.
    port: u16,
}

impl PathRef {
    fn cum(&self) -> i64 {
        (0..).find(|n| !self.received.contains(n)).unwrap_or(0)
    }

    fn number(&self, at: At) -> i64 {
        match at {
            At::Missing(by) => self.cum() + i64::from(by),
            At::Highest(by) => self.high + 1 + i64::from(by),
        }
    }
}

#[derive(Clone, Debug, Default)]
struct StreamRef {
    /// Messages completed in order.
    exp: i64,
    bytes: BTreeMap<i64, u32>,
    failed: bool,
}

/// What the last operation must give.
#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Nothing,
    Data { class: RxClass, place: Option<Place>, nak: u8, ack: Option<AckDesc> },
    Probe(AckDesc),
    Timers(Vec<AckDesc>),
}

#[derive(Clone, Debug)]
pub struct Reference {
    start: u32,
    now: u32,
    vector_bits: i64,
    paths: [PathRef; PATHS],
    streams: [StreamRef; 2],
    memory: BTreeMap<u64, u8>,
    outcome: Outcome,
}

/// UDP source port of a packet: not always the same.
fn data_port(ppsn: u32) -> u16 {
    0xC000 | (ppsn & 3) as u16
}

/// Bytes of message `msn`.
fn length(msn: i64) -> u32 {
    8 * (1 + msn.rem_euclid(3) as u32)
}

impl Reference {
    fn ppsn(&self, n: i64) -> u32 {
        (i64::from(self.start) + n).rem_euclid(1 << 24) as u32
    }

    fn class(&self, path: usize, n: i64) -> RxClass {
        let p = &self.paths[path];
        if n < p.cum() || p.received.contains(&n) {
            RxClass::Duplicate
        } else if n >= p.cum() + self.vector_bits {
            RxClass::OutOfWindow
        } else {
            RxClass::New
        }
    }

    /// R9: the acknowledgment of a path.
    fn ack(&mut self, path: usize, mak: Option<Mak>, probe: Option<u16>) -> AckDesc {
        let p = &mut self.paths[path];
        p.held = 0;
        let p = &self.paths[path];
        let cum = p.cum();
        let mut vector = SackVector::EMPTY;
        for n in p.received.iter().filter(|&&n| n > cum) {
            assert!(vector.set((n - cum - 1) as u32));
        }
        let plain = p.last_qp.map_or(Mak::default(), |qpn| Mak {
            qp: 0x40 + qpn,
            code: MakCode::Ok,
            msn: ((self.streams[qpn as usize].exp - 1).rem_euclid(1 << 24) as u32).into(),
        });
        let flags = AckFlags {
            ts_valid: probe.is_some() || p.echo.1,
            probe_reply: probe.is_some(),
            nak: mak.is_some(),
            ..AckFlags::default()
        };
        let ack = Ack {
            ts_echo: probe.unwrap_or(p.echo.0),
            service: if probe.is_some() { 0 } else { (self.now - p.arrival).min(0xFFFF) as u16 },
            ce_packets: p.ce,
            dup_packets: p.dup,
            rx_packets: p.dup + p.received.len() as u16,
            flags,
            vector,
            rate: RATE_UNLIMITED,
            epoch: 0,
            mak: mak.unwrap_or(plain),
        };
        let udp_port = self.paths[p.via as usize].port;
        AckDesc { conn: 0, peer_conn: 0, home: path as u8, via: p.via, udp_port, cum: Ppsn::new(self.ppsn(cum)), ack }
    }

    /// R3 for a new WRITE: the refusal code.
    fn refusal(&self, qpn: u32, msn: i64, fault: Fault) -> u8 {
        if fault == Fault::UnknownQp {
            return 4;
        }
        let stream = &self.streams[qpn as usize];
        let known = stream.bytes.get(&msn).copied().unwrap_or(0);
        if stream.failed {
            6
        } else if !(stream.exp..stream.exp + 64).contains(&msn) || known + 8 > length(msn) {
            7
        } else {
            match fault {
                Fault::Key => 1,
                Fault::Bounds => 3,
                _ => 0,
            }
        }
    }

    fn place(&mut self, qpn: u32, msn: i64, slot: u8, value: u8) -> Place {
        let at = u64::from(slot) * 8;
        self.memory.extend((at..at + 8).map(|a| (a, value)));
        let stream = &mut self.streams[qpn as usize];
        *stream.bytes.entry(msn).or_default() += 8;
        while stream.bytes.get(&stream.exp) == Some(&length(stream.exp)) {
            stream.exp += 1;
        }
        Place { addr: TARGET + at, len: 8 }
    }

    /// R2, R5, R8, R10 for a WRITE (with its QP, MSN, slot, ...) or a NOP.
    fn data(&mut self, path: usize, n: i64, ce: bool, ack_req: bool, rtx: bool, write: Option<(u32, i64, u8, Fault)>) {
        let class = self.class(path, n);
        let ppsn = self.ppsn(n);
        let (mut place, mut nak, mut mak) = (None, 0, None);
        if class != RxClass::OutOfWindow {
            let p = &mut self.paths[path];
            (p.echo, p.via, p.arrival) = ((ppsn as u16, !rtx), path as u8, self.now);
            p.port = data_port(ppsn);
        }
        if let (RxClass::New, Some((qpn, msn, slot, fault))) = (class, write) {
            nak = self.refusal(qpn, msn, fault);
            if nak != 4 {
                self.paths[path].last_qp = Some(qpn);
            }
            let code = [MakCode::Ok, MakCode::BadKey, MakCode::Access, MakCode::Bounds, MakCode::BadQp];
            let code = code.get(nak as usize).copied().unwrap_or(if nak == 6 { MakCode::QpError } else { MakCode::MsgLength });
            let qp = if nak == 4 { ppsn } else { 0x40 + qpn };
            match nak {
                0 => place = Some(self.place(qpn, msn, slot, ppsn as u8)),
                _ => mak = Some(Mak { qp, code, msn: (msn.rem_euclid(1 << 24) as u32).into() }),
            }
        }
        let p = &mut self.paths[path];
        let mut at_once = ack_req;
        match class {
            RxClass::New if nak == 0 => {
                at_once |= n != p.high + 1 || ce != p.ce_state;
                p.received.insert(n);
                p.high = p.high.max(n);
                p.ce += u16::from(ce);
                p.ce_state = ce;
            }
            RxClass::New => at_once = true,
            RxClass::Duplicate => {
                p.dup += 1;
                at_once = true;
            }
            RxClass::OutOfWindow => at_once = true,
        }
        if !at_once {
            if p.held == 0 {
                p.held_since = self.now;
            }
            p.held += 1;
            at_once = p.held == HELD_PKTS;
        }
        let ack = at_once.then(|| self.ack(path, mak, None));
        self.outcome = Outcome::Data { class, place, nak, ack };
    }
}

pub struct Machine<P>(PhantomData<P>);

impl<P: Profile> ReferenceStateMachine for Machine<P> {
    type State = Reference;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Reference> {
        let path = |via: u8| PathRef { high: -1, via, port: 0xC000 + u16::from(via), ..PathRef::default() };
        let start = prop_oneof![0u32..300, 0xFF_FF00u32..0x100_0000];
        start
            .prop_map(move |start| Reference {
                start,
                now: 1000,
                vector_bits: P::VECTOR_BITS.into(),
                paths: [path(0), path(1)],
                streams: Default::default(),
                memory: BTreeMap::new(),
                outcome: Outcome::Nothing,
            })
            .boxed()
    }

    fn transitions(_: &Reference) -> BoxedStrategy<Op> {
        let v = P::VECTOR_BITS as i16;
        let at = || {
            prop_oneof![
                14 => Just(At::Highest(0)),
                4 => (0..6i16).prop_map(At::Missing),
                1 => (1..4i16).prop_map(At::Highest),
                1 => (-9..0i16).prop_map(At::Missing),
                1 => (0..v).prop_map(At::Missing),
                1 => (v - 2..v + 9).prop_map(At::Missing),
            ]
        };
        let msn = prop_oneof![12 => 0..4i8, 1 => Just(-1i8), 1 => 60..70i8];
        let fault =
            prop_oneof![40 => Just(Fault::None), 1 => Just(Fault::Key), 1 => Just(Fault::Bounds), 1 => Just(Fault::UnknownQp)];
        let place = (0u32..2, msn, 0..SLOTS as u8);
        let flags = (prop::bool::weighted(0.1), prop::bool::weighted(0.1), any::<bool>());
        let write = (0u8..2, at(), place, flags, fault).prop_map(|(path, at, (qpn, msn, slot), (ce, ack_req, rtx), fault)| {
            Op::Write { path, at, qpn, msn, slot, ce, ack_req, rtx, fault }
        });
        prop_oneof![
            24 => write,
            4 => (0u8..2, at(), prop::bool::weighted(0.2)).prop_map(|(path, at, ce)| Op::Nop { path, at, ce }),
            2 => (0u8..2, 0u8..2, any::<u16>()).prop_map(|(path, via, ts)| Op::Probe { path, via, ts }),
            3 => (1u16..200).prop_map(|ticks| Op::Wait { ticks }),
            1 => prop::bool::weighted(0.1).prop_map(|second| Op::Fail { qpn: second.into() }),
        ]
        .boxed()
    }

    fn preconditions(state: &Reference, op: &Op) -> bool {
        // An error is the consequence of a refusal; without it most histories would end in Error early.
        !matches!(op, Op::Fail { .. }) || matches!(state.outcome, Outcome::Data { nak, .. } if nak > 0)
    }

    fn apply(mut state: Reference, op: &Op) -> Reference {
        match *op {
            Op::Write { path, at, qpn, msn, slot, ce, ack_req, rtx, fault } => {
                let n = state.paths[path as usize].number(at);
                let msn = state.streams[qpn as usize].exp + i64::from(msn);
                state.data(path as usize, n, ce, ack_req, rtx, Some((qpn, msn, slot, fault)));
            }
            Op::Nop { path, at, ce } => {
                let n = state.paths[path as usize].number(at);
                state.data(path as usize, n, ce, false, false, None);
            }
            Op::Probe { path, via, ts } => {
                state.paths[path as usize].via = via;
                state.paths[via as usize].port = ts;
                state.outcome = Outcome::Probe(state.ack(path as usize, None, Some(ts)));
            }
            Op::Fail { qpn } => {
                state.streams[qpn as usize].failed = true;
                state.outcome = Outcome::Nothing;
            }
            Op::Wait { ticks } => {
                state.now += u32::from(ticks);
                let now = state.now;
                let due = |p: &PathRef| p.held > 0 && now - p.held_since >= HELD_TICKS;
                let paths: Vec<usize> = (0..PATHS).filter(|&p| due(&state.paths[p])).collect();
                state.outcome = Outcome::Timers(paths.into_iter().map(|p| state.ack(p, None, None)).collect());
            }
        }
        state
    }
}

/// The model beside the reference. PPSN and MSN of a packet are those that the reference had before it.
pub struct Sut<P: Profile> {
    receiver: Receiver<P>,
    before: Reference,
}

impl<P: Profile> Sut<P> {
    fn packet(&self, op: &Op) -> Option<Data> {
        let n = |path: u8, at: At| self.before.ppsn(self.before.paths[path as usize].number(at));
        match *op {
            Op::Write { path, at, qpn, msn, slot, ce, ack_req, rtx, fault } => {
                let msn = self.before.streams[qpn as usize].exp + i64::from(msn);
                let ppsn = n(path, at);
                Some(Data {
                    home: path,
                    via: path,
                    msn: msn.rem_euclid(1 << 24) as u32,
                    qpn: if fault == Fault::UnknownQp { 9 } else { qpn },
                    rkey: if fault == Fault::Key { RKEY ^ 1 } else { RKEY },
                    offset: if fault == Fault::Bounds { (1 << 20) - 7 } else { u64::from(slot) * 8 },
                    length: length(msn),
                    ce,
                    ack_req,
                    rtx,
                    port: data_port(ppsn),
                    ..data(ppsn)
                })
            }
            Op::Nop { path, at, ce } => {
                let port = data_port(n(path, at));
                Some(Data { home: path, via: path, nop: true, ce, port, ..data(n(path, at)) })
            }
            _ => None,
        }
    }

    fn outcome(&mut self, op: &Op) -> Outcome {
        if let Some(packet) = self.packet(op) {
            let (class, place, nak, ack) = self.receiver.data(&packet);
            return Outcome::Data { class, place, nak, ack };
        }
        let (nic, mem) = (&mut self.receiver.nic, &mut self.receiver.mem);
        match *op {
            Op::Probe { path, via, ts } => {
                let mph = PathHeader { home: path, via, tx_ts: ts, ..PathHeader::default() };
                let probe = frame::<P>(&Packet { dest_qp: P::PATH_QP, mph, ..Packet::new(Body::Probe) }, &[], false);
                match nic.step_rx(self.receiver.now, &by_port::<P>(&probe, ts), mem) {
                    RxStep::Probe { ack, .. } => Outcome::Probe(ack),
                    other => panic!("{other:?}"),
                }
            }
            Op::Fail { qpn } => {
                nic.step_rx_error(qpn).unwrap();
                Outcome::Nothing
            }
            Op::Wait { ticks } => {
                self.receiver.now += u32::from(ticks);
                let now = self.receiver.now;
                Outcome::Timers((0..PATHS as u8).filter_map(|p| nic.step_rx_timer(now, 0, p).unwrap()).collect())
            }
            _ => Outcome::Nothing,
        }
    }
}

impl<P: Profile> StateMachineTest for Machine<P> {
    type SystemUnderTest = Sut<P>;
    type Reference = Self;

    fn init_test(reference: &Reference) -> Sut<P> {
        let setup = Setup { paths: PATHS as u8, start_ppsn: reference.start, ..Setup::default() };
        Sut { receiver: Receiver::new(&setup), before: reference.clone() }
    }

    fn apply(mut sut: Sut<P>, reference: &Reference, op: Op) -> Sut<P> {
        assert_eq!(sut.outcome(&op), reference.outcome);
        sut.before = reference.clone();
        sut
    }

    fn check_invariants(sut: &Sut<P>, reference: &Reference) {
        let written = |at: &u64| reference.memory.get(at).copied().unwrap_or(0);
        let want: Vec<u8> = (0..SLOTS * 8).map(|at| written(&at)).collect();
        assert_eq!(sut.receiver.mem.target[..want.len()], want, "memory");
        for (i, path) in reference.paths.iter().enumerate() {
            let rx = sut.receiver.nic.rx_path(0, i as u8).unwrap();
            assert_eq!((rx.cum.get(), rx.high.get()), (reference.ppsn(path.cum()), reference.ppsn(path.high)));
            let above = path.received.iter().filter(|&&n| n > path.cum()).count();
            assert_eq!((rx.vec.count() as usize, rx.unacked), (above, path.held));
        }
        for (i, stream) in reference.streams.iter().enumerate() {
            let exp = sut.receiver.nic.recv_stream(i as u32).unwrap().exp.get();
            assert_eq!(i64::from(exp), stream.exp);
        }
    }

    fn teardown(sut: Sut<P>, _: Reference) {
        let rest = &sut.receiver.mem.hits[SLOTS as usize * 8..];
        assert!(rest.iter().all(|&h| h == 0), "nothing is written elsewhere");
    }
}

/// R2..R10: the receiver against sets and maps.
fn receiver_equals_sets_and_maps<P: Profile>() {
    run_machine::<Machine<P>>(250, 1..150);
}

crate::for_each_profile!(receiver_equals_sets_and_maps);
