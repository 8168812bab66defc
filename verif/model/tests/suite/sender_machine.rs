//! The sender as a state machine: messages, transmit slots, arrivals, acknowledgments (valid, old, impossible), time.
//! Reference: `sender_reference`. After every operation each path equals it; exactly the packets it holds lost are sent again.

use std::collections::{BTreeSet, VecDeque};
use std::marker::PhantomData;

use mrnic_model::bits256::Bits256;
use mrnic_model::seq::Serial24;
use mrnic_model::*;
use mrnic_wire::{Ack, Body, Packet, PathHeader, Ppsn, SackVector};
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::pair::{conn_config, keys, write, Memory, Setup};
use crate::profiles::run_machine;
use crate::rules_rx::frame;
use crate::sender_reference::{self as reference, AckRef, Fate, PathRef, Verdict, PATHS, RETRIES};

const WINDOW: u16 = 12;
const MESSAGES_MAX: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// What the receiver has now.
    Now,
    /// What it had before its last arrivals.
    Before,
    /// It acknowledges `1 +` this many packets that were never sent.
    BeyondNext(u8),
    /// Its vector names a packet that was never sent.
    BeyondVector,
}

#[derive(Clone, Debug)]
pub enum Op {
    Post {
        packets: u8,
    },
    Grant {
        slots: u8,
    },
    /// Of what was sent and has not arrived, all but every packet i with bit i mod 16 set arrives.
    Arrive {
        path: u8,
        holes: u16,
    },
    Ack {
        path: u8,
        kind: Kind,
        rtt: Option<u8>,
        reply: bool,
        ce: bool,
        dup: bool,
    },
    Wait {
        ticks: u16,
    },
}

/// What a slot sends: home, via, PPSN, resend, acknowledgment wanted, message, packet of the message.
type Sent = (u8, u8, u64, bool, bool, usize, u32);

#[derive(Clone, Debug, PartialEq)]
enum Outcome {
    Nothing,
    Sent(Vec<Sent>),
    Ack(Verdict, Vec<u64>),
    Timers(Vec<TimerAction>),
}

#[derive(Clone, Debug, Default)]
struct Peer {
    arrived: BTreeSet<i64>,
    before: BTreeSet<i64>,
    ce: u16,
    dup: u16,
}

#[derive(Clone, Debug)]
pub struct Reference {
    start: u32,
    now: u32,
    vector_bits: u32,
    paths: [PathRef; PATHS],
    peers: [Peer; PATHS],
    rr: usize,
    /// Messages with packets to send: (number, packets, next packet).
    fifo: VecDeque<(usize, u32, u32)>,
    /// Packets of each message that are not acknowledged.
    remaining: Vec<u32>,
    completed: usize,
    failed: bool,
    sent_ack: Option<AckRef>,
    outcome: Outcome,
}

impl Reference {
    fn ok(&self, p: usize) -> bool {
        let path = &self.paths[p];
        path.state == PathState::Up && path.pipe() < path.window && path.next - path.cum < self.vector_bits.into()
    }

    /// S3
    fn choose(&self) -> Option<usize> {
        let open = (0..PATHS).map(|i| (self.rr + i) % PATHS).filter(|&p| self.ok(p));
        // The first of the least loaded; loads compare as fractions.
        open.min_by(|&a, &b| {
            let load = |x: usize, y: usize| self.paths[x].pipe() * self.paths[y].window;
            load(a, b).cmp(&load(b, a))
        })
    }

    /// S1
    fn resend(&mut self) -> Option<Sent> {
        for home in (0..PATHS).map(|i| (self.rr + i) % PATHS) {
            let path = &self.paths[home];
            let Some(&n) = path.lost().first() else { continue };
            let via = match path.state {
                PathState::Up => (path.pipe() < path.window).then_some(home),
                PathState::Suspect if path.asks() => None,
                _ => self.choose(),
            };
            let Some(via) = via else { continue };
            self.paths[home].resend(self.now, n);
            if via != home {
                self.rr = (via + 1) % PATHS;
            }
            let packet = &self.paths[home].packets[&n];
            return Some((home as u8, via as u8, n, true, true, packet.msn, packet.index));
        }
        None
    }

    /// S2..S5
    fn new_packet(&mut self) -> Option<Sent> {
        let &(msn, count, index) = self.fifo.front()?;
        let home = self.choose()?;
        let (now, last) = (self.now, index + 1 == count);
        let path = &mut self.paths[home];
        path.last_send = now;
        if path.next == path.cum {
            path.t_base = now;
        }
        let n = path.next;
        path.packets.insert(n, reference::Packet { fate: Fate::Flying, msn, index });
        path.next += 1;
        let full = path.pipe() == path.window || path.next - path.cum == u64::from(self.vector_bits);
        let ack_req = full || (index + PATHS as u32 >= count && self.fifo.len() == 1);
        self.rr = (self.rr + 1) % PATHS;
        if last {
            self.fifo.pop_front();
        } else {
            self.fifo[0].2 += 1;
        }
        Some((home as u8, home as u8, n, false, ack_req, msn, index))
    }

    fn make_ack(&self, path: usize, kind: Kind, rtt: Option<u8>, reply: bool) -> AckRef {
        let (peer, own) = (&self.peers[path], &self.paths[path]);
        let known = if kind == Kind::Before { &peer.before } else { &peer.arrived };
        let mut cum = (0..).find(|n| !known.contains(n)).unwrap_or(0);
        let mut received: BTreeSet<i64> = known.iter().copied().filter(|&n| n > cum).collect();
        match kind {
            Kind::BeyondNext(more) => {
                cum = own.next as i64 + 1 + i64::from(more);
                received.clear();
            }
            Kind::BeyondVector => {
                received.insert((own.next as i64).max(cum + 1));
            }
            _ => {}
        }
        let stamp = self.now as u16;
        let (ts_echo, ts_valid) = match (reply, own.probe, rtt) {
            (true, Some((ts, _)), _) => (ts, true),
            (_, _, Some(rtt)) => (stamp.wrapping_sub(rtt.into()), true),
            _ => (0, false),
        };
        AckRef { cum, received, ts_echo, ts_valid, reply, ce: peer.ce, dup: peer.dup }
    }

    fn complete(&mut self) {
        while self.completed < self.remaining.len() && (self.failed || self.remaining[self.completed] == 0) {
            self.completed += 1;
        }
    }
}

pub struct Machine<P>(PhantomData<P>);

impl<P: Profile> ReferenceStateMachine for Machine<P> {
    type State = Reference;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Reference> {
        let start = prop_oneof![0u32..300, 0xFF_FF00u32..0x100_0000];
        start
            .prop_map(|start| Reference {
                start,
                now: 1,
                vector_bits: P::VECTOR_BITS,
                paths: [PathRef::new(WINDOW.into()), PathRef::new(WINDOW.into())],
                peers: Default::default(),
                rr: 0,
                fifo: VecDeque::new(),
                remaining: vec![],
                completed: 0,
                failed: false,
                sent_ack: None,
                outcome: Outcome::Nothing,
            })
            .boxed()
    }

    fn transitions(_: &Reference) -> BoxedStrategy<Op> {
        // Nothing is missing; any packets; all after the first few too, so that later ones are still under way when a gap shows.
        let few = (any::<u16>(), 1u32..14).prop_map(|(holes, count)| holes | u16::MAX << count);
        let holes = prop_oneof![2 => Just(0u16), 2 => any::<u16>(), 4 => few, 1 => Just(u16::MAX)];
        let kind = prop_oneof![
            12 => Just(Kind::Now),
            2 => Just(Kind::Before),
            1 => (0u8..9).prop_map(Kind::BeyondNext),
            1 => Just(Kind::BeyondVector),
        ];
        let marks = (prop::bool::weighted(0.1), prop::bool::weighted(0.15));
        let ack = (0u8..2, kind, prop::option::of(0u8..90), any::<bool>(), marks)
            .prop_map(|(path, kind, rtt, reply, (ce, dup))| Op::Ack { path, kind, rtt, reply, ce, dup });
        prop_oneof![
            2 => (1u8..40).prop_map(|packets| Op::Post { packets }),
            5 => (1u8..20).prop_map(|slots| Op::Grant { slots }),
            4 => (0u8..2, holes).prop_map(|(path, holes)| Op::Arrive { path, holes }),
            5 => ack,
            3 => prop_oneof![3 => 1u16..60, 1 => 60u16..4000].prop_map(|ticks| Op::Wait { ticks }),
        ]
        .boxed()
    }

    fn preconditions(state: &Reference, op: &Op) -> bool {
        match op {
            Op::Post { .. } => !state.failed && state.remaining.len() - state.completed < MESSAGES_MAX,
            _ => true,
        }
    }

    fn apply(mut state: Reference, op: &Op) -> Reference {
        state.outcome = Outcome::Nothing;
        match *op {
            Op::Post { packets } => {
                state.fifo.push_back((state.remaining.len(), packets.into(), 0));
                state.remaining.push(packets.into());
            }
            Op::Grant { slots } => {
                let mut sent = vec![];
                for _ in 0..slots {
                    if state.failed {
                        break;
                    }
                    sent.extend(state.resend().or_else(|| state.new_packet()));
                }
                state.outcome = Outcome::Sent(sent);
            }
            Op::Arrive { path, holes } => {
                let next = state.paths[path as usize].next as i64;
                let peer = &mut state.peers[path as usize];
                peer.before = peer.arrived.clone();
                let missing: Vec<i64> = (0..next).filter(|n| !peer.arrived.contains(n)).collect();
                let got = missing.iter().enumerate().filter(|(i, _)| holes >> (i % 16) & 1 == 0);
                peer.arrived.extend(got.map(|(_, n)| *n));
            }
            Op::Ack { path, kind, rtt, reply, ce, dup } => {
                let p = path as usize;
                state.peers[p].ce += u16::from(ce);
                state.peers[p].dup += u16::from(dup);
                let ack = state.make_ack(p, kind, rtt, reply);
                let (now, bits) = (state.now, state.vector_bits);
                let (verdict, newly) = state.paths[p].ack(now, &ack, bits);
                for n in &newly {
                    let msn = state.paths[p].packets[n].msn;
                    state.remaining[msn] -= 1;
                }
                state.complete();
                state.sent_ack = Some(ack);
                state.outcome = Outcome::Ack(verdict, newly);
            }
            Op::Wait { ticks } => {
                state.now += u32::from(ticks);
                let mut actions = vec![];
                for p in 0..PATHS {
                    let other = &state.paths[1 - p];
                    let (up, stranded, now) = (other.state == PathState::Up, other.strands(), state.now);
                    let their_rtt = if up { other.srtt() } else { 0 };
                    let action =
                        if state.failed { TimerAction::None } else { state.paths[p].timer(now, up, stranded, their_rtt) };
                    state.failed |= action == TimerAction::ConnError;
                    let other = &mut state.paths[1 - p];
                    if action == TimerAction::Down && other.state == PathState::Up && other.next == other.cum {
                        other.t_base = now;
                    }
                    actions.push(action);
                }
                state.complete();
                state.outcome = Outcome::Timers(actions);
            }
        }
        state
    }
}

pub struct Sut<P: Profile> {
    nic: Nic<P>,
    mem: Memory,
    posted: u16,
    completed: usize,
    start: u32,
}

impl<P: Profile> Sut<P> {
    fn number(&self, ppsn: u32) -> u64 {
        u64::from(Ppsn::new(ppsn).ahead_of(Ppsn::new(self.start)))
    }

    fn ppsn(&self, n: i64) -> Ppsn {
        Ppsn::new((i64::from(self.start) + n).rem_euclid(1 << 24) as u32)
    }

    fn grant(&mut self, now: u32, slots: u8) -> Outcome {
        let mut sent = vec![];
        for _ in 0..slots {
            let grant = self.nic.step_grant(now, 0, &GrantInputs::default()).unwrap();
            if let Grant::Packet(p) = grant {
                assert!(!p.nop && p.moved == (p.home != p.via));
                sent.push((p.home, p.via, self.number(p.ppsn), p.rtx, p.ack_req, p.msn as usize, p.index));
            }
        }
        Outcome::Sent(sent)
    }

    fn ack(&mut self, now: u32, path: u8, ack: &AckRef) -> Outcome {
        let mut vector = SackVector::EMPTY;
        for n in &ack.received {
            assert!(vector.set((n - ack.cum - 1) as u32));
        }
        let mut wire = Ack { vector, ts_echo: ack.ts_echo, rate: RATE_UNLIMITED, ..Ack::default() };
        (wire.ce_packets, wire.dup_packets) = (ack.ce, ack.dup);
        (wire.flags.ts_valid, wire.flags.probe_reply) = (ack.ts_valid, ack.reply);
        let mph = PathHeader { home: path, via: path, ..PathHeader::default() };
        let packet = Packet { dest_qp: P::PATH_QP, ppsn: self.ppsn(ack.cum), mph, ..Packet::new(Body::Ack(wire)) };
        self.nic.step_rx(now, &frame::<P>(&packet, &[], false), &mut self.mem);
        let step = self.nic.step_ack(now).unwrap();
        let newly: Vec<u32> = step.newly_acked().collect();
        for ppsn in &newly {
            self.nic.step_retire(0, path, *ppsn).unwrap();
        }
        let verdict = match step.outcome.verdict {
            AckVerdict::Applied => Verdict::Applied,
            AckVerdict::Stale => Verdict::Stale,
            AckVerdict::Invalid => Verdict::Invalid,
            AckVerdict::Disabled => panic!("no path is disabled"),
        };
        Outcome::Ack(verdict, newly.into_iter().map(|p| self.number(p)).collect())
    }
}

impl<P: Profile> StateMachineTest for Machine<P> {
    type SystemUnderTest = Sut<P>;
    type Reference = Self;

    fn init_test(reference: &Reference) -> Sut<P> {
        let start = reference.start;
        let retry = RETRIES as u8;
        let setup = Setup { paths: PATHS as u8, window: WINDOW, start_ppsn: start, retry, ..Setup::default() };
        let mut nic = Nic::new(setup.nic).unwrap();
        nic.open_connection(0, 0, &conn_config(0, &setup)).unwrap();
        nic.open_qp(0, &QpConfig::new(0, 0x50)).unwrap();
        keys(&mut nic, 1 << 20);
        Sut { nic, mem: Memory::new(64), posted: 0, completed: 0, start }
    }

    fn apply(mut sut: Sut<P>, reference: &Reference, op: Op) -> Sut<P> {
        let now = reference.now;
        let outcome = match op {
            Op::Post { packets } => {
                let wqe = write(sut.posted.into(), 0, 0, u32::from(packets) * 4096);
                assert_eq!(sut.nic.step_wqe(0, sut.posted, &wqe.to_bytes()).unwrap().npkts, packets.into());
                sut.posted += 1;
                Outcome::Nothing
            }
            Op::Grant { slots } => sut.grant(now, slots),
            Op::Arrive { .. } => Outcome::Nothing,
            Op::Ack { path, .. } => sut.ack(now, path, reference.sent_ack.as_ref().unwrap()),
            Op::Wait { .. } => {
                let actions: Vec<_> = (0..PATHS as u8).map(|p| sut.nic.step_tx_timer(now, 0, p).unwrap().action).collect();
                if actions.contains(&TimerAction::ConnError) {
                    sut.nic.step_conn_error(0).unwrap();
                }
                Outcome::Timers(actions)
            }
        };
        assert_eq!(outcome, reference.outcome);
        while let Some((cqe, _)) = sut.nic.step_cqe(0).unwrap() {
            assert_eq!(usize::from(cqe.wqe_index), sut.completed, "in order");
            assert!(reference.failed || cqe.status == Status::Success);
            sut.completed += 1;
        }
        sut
    }

    fn check_invariants(sut: &Sut<P>, reference: &Reference) {
        assert_eq!(sut.completed, reference.completed, "completions");
        assert_eq!(usize::from(sut.nic.tx_conn(0).unwrap().rr), reference.rr);
        for (i, want) in reference.paths.iter().enumerate() {
            let path = sut.nic.tx_path(0, i as u8).unwrap();
            let set = |bits: &Bits256| -> Vec<u64> {
                let all = (want.cum..want.next).filter(|&n| bits.get(sut.ppsn(n as i64).ring256()));
                all.collect()
            };
            assert_eq!((path.cum, path.next), (sut.ppsn(want.cum as i64), sut.ppsn(want.next as i64)), "path {i}");
            assert_eq!(set(&path.sacked), want.with(|f| f == Fate::Acked), "path {i}: acknowledged");
            assert_eq!(set(&path.lost), want.lost(), "path {i}: lost");
            let resent = |armed: bool| want.with(|f| matches!(f, Fate::Resent { armed: a, .. } if a == armed));
            assert_eq!((set(&path.rtx_old), set(&path.rtx_new)), (resent(true), resent(false)), "path {i}: resent");
            assert_eq!(path.gen_open.then_some(path.mark), want.marker.map(|m| sut.ppsn(m as i64)), "path {i}: marker");
            let window = (path.pipe(), u32::from(path.win.window), u32::from(path.win.credit));
            assert_eq!(window, (want.pipe(), want.window, want.credit), "path {i}: pipe, window, credit");
            assert_eq!((path.state, u32::from(path.backoff), path.t_base), (want.state, want.backoff, want.t_base), "path {i}");
            assert_eq!(path.rtt_valid.then_some((path.srtt8, path.var4)), want.rtt, "path {i}");
            assert_eq!((u32::from(path.reo_tol), path.probe_pending), (want.tolerance, want.probe.is_some()), "path {i}");
        }
    }

    fn teardown(mut sut: Sut<P>, mut reference: Reference) {
        // Slots until nothing may go: exactly the lost packets went out again, lowest first, and new ones in order.
        let slots = 255;
        reference = <Self as ReferenceStateMachine>::apply(reference, &Op::Grant { slots });
        assert_eq!(sut.grant(reference.now, slots), reference.outcome);
    }
}

/// A1..A3, L1..L6, C1, S1..S5: the sender against a map of packets and their fates.
fn sender_equals_a_map_of_fates<P: Profile>() {
    run_machine::<Machine<P>>(200, 1..150);
}

crate::for_each_profile!(sender_equals_a_map_of_fates);
