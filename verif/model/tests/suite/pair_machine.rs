//! Two NICs as a state machine: messages both ways, frames that arrive in any order, vanish or arrive twice, paths that die.
//! Reference: which messages were posted, where their bytes go. Every work request completes once and in order, memory is right at
//! that moment, something always drives outstanding work, and when the faults end everything is done.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::marker::PhantomData;

use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::*;
use proptest::prelude::*;
use proptest_state_machine::{ReferenceStateMachine, StateMachineTest};

use crate::pair::{check_liveness, conn_config, keys, write, Memory, Setup};
use crate::profiles::run_machine;

const PATHS: usize = 2;
const QPS: usize = 2;
/// M: few, so that a stream is often full.
const MESSAGES: usize = 4;
const LENGTH_MAX: u16 = 3000;
const BYTES: usize = 1 << 18;
const RETRIES: u8 = 4;

#[derive(Clone, Debug)]
pub enum Op {
    Post {
        side: u8,
        qp: u8,
        length: u16,
        signaled: bool,
    },
    /// The oldest frames arrive in order.
    Deliver {
        count: u8,
    },
    /// Any one frame arrives, vanishes or is copied; `pick` / 256 of the way from the oldest to the newest.
    DeliverOne {
        pick: u8,
    },
    Drop {
        pick: u8,
    },
    Duplicate {
        pick: u8,
    },
    Wait {
        ticks: u16,
    },
    /// From now on what is sent on this path vanishes, or no longer.
    Kill {
        path: u8,
    },
    Revive {
        path: u8,
    },
}

#[derive(Clone, Debug, Default)]
pub struct Reference {
    start: u32,
    /// Bytes given out on each side, and where the last message begins.
    used: [usize; 2],
    at: usize,
    posts: u64,
}

pub struct Machine<P>(PhantomData<P>);

impl<P: Profile> ReferenceStateMachine for Machine<P> {
    type State = Reference;
    type Transition = Op;

    fn init_state() -> BoxedStrategy<Reference> {
        let start = prop_oneof![0u32..300, 0xFF_FFC0u32..0x100_0000];
        start.prop_map(|start| Reference { start, ..Reference::default() }).boxed()
    }

    fn transitions(_: &Reference) -> BoxedStrategy<Op> {
        let length = prop_oneof![1 => Just(0u16), 4 => 1u16..600, 2 => 600..LENGTH_MAX];
        let path = || 0..PATHS as u8;
        prop_oneof![
            6 => (0u8..2, 0..QPS as u8, length, prop::bool::weighted(0.8))
                .prop_map(|(side, qp, length, signaled)| Op::Post { side, qp, length, signaled }),
            8 => (1u8..12).prop_map(|count| Op::Deliver { count }),
            4 => any::<u8>().prop_map(|pick| Op::DeliverOne { pick }),
            3 => any::<u8>().prop_map(|pick| Op::Drop { pick }),
            2 => any::<u8>().prop_map(|pick| Op::Duplicate { pick }),
            6 => prop_oneof![3 => 1u16..80, 2 => 80u16..3000, 1 => 3000u16..20_000].prop_map(|ticks| Op::Wait { ticks }),
            2 => path().prop_map(|path| Op::Kill { path }),
            1 => path().prop_map(|path| Op::Revive { path }),
        ]
        .boxed()
    }

    fn preconditions(state: &Reference, op: &Op) -> bool {
        !matches!(*op, Op::Post { side, length, .. } if state.used[side as usize] + usize::from(length) > BYTES)
    }

    fn apply(mut state: Reference, op: &Op) -> Reference {
        if let Op::Post { side, length, .. } = *op {
            let used = &mut state.used[side as usize];
            state.at = *used;
            *used += usize::from(length);
            state.posts += 1;
        }
        state
    }
}

#[derive(Clone, Debug)]
struct Posted {
    id: u64,
    at: usize,
    length: usize,
    signaled: bool,
}

#[derive(Clone)]
struct Frame {
    to: usize,
    bytes: Vec<u8>,
}

/// What happened in all histories of a test, so that it is known to have happened at all.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    resent: u64,
    moved: u64,
    ports: u64,
    downs: u64,
    duplicates: u64,
    broken: u64,
    refused_posts: u64,
}

thread_local!(static SEEN: RefCell<Seen> = RefCell::default());

pub struct Sut<P: Profile> {
    nic: [Nic<P>; 2],
    mem: [Memory; 2],
    flight: VecDeque<Frame>,
    dead: [bool; PATHS],
    now: Tick,
    posted: [[VecDeque<Posted>; QPS]; 2],
    refused_posts: u64,
    buf: Vec<u8>,
}

impl<P: Profile> Sut<P> {
    fn broken(&self) -> bool {
        self.nic.iter().any(|n| n.counters().conn_errors > 0)
    }

    fn post(&mut self, side: usize, qp: usize, posted: Posted) {
        let at = posted.at as u64;
        let wqe = Wqe { signaled: posted.signaled, ..write(posted.id, at, at, posted.length as u32) };
        match self.nic[side].post_send(qp as u32, &wqe) {
            Ok(()) => self.posted[side][qp].push_back(posted),
            Err(error) => {
                assert!(matches!(error, PostError::QpFull { .. }), "{error}");
                assert!(self.posted[side][qp].len() >= MESSAGES, "refused with room");
                self.refused_posts += 1;
            }
        }
    }

    /// All that may be sent is sent.
    fn transmit(&mut self) {
        for side in 0..2 {
            while let Some(t) = self.nic[side].poll_transmit(self.now, &mut self.buf, &self.mem[side]) {
                if !self.dead[t.path as usize] {
                    self.flight.push_back(Frame { to: 1 - side, bytes: self.buf[..t.len].to_vec() });
                }
            }
        }
    }

    fn pick(&self, pick: u8) -> usize {
        usize::from(pick) * self.flight.len() / 256
    }

    fn arrive(&mut self, index: usize) {
        if let Some(frame) = self.flight.remove(index) {
            self.nic[frame.to].handle_packet(self.now, &frame.bytes, &mut self.mem[frame.to]);
            self.completions();
        }
    }

    fn wait(&mut self, ticks: Tick) {
        self.now += ticks;
        for side in 0..2 {
            self.nic[side].handle_timeout(self.now);
        }
    }

    /// W2, W4: completions come once, in order; what is unsignaled and good is passed over.
    fn completions(&mut self) {
        for side in 0..2 {
            while let Some(cqe) = self.nic[side].poll_completion() {
                let queue = &mut self.posted[side][cqe.qpn as usize];
                let mut done = vec![];
                loop {
                    let posted = queue.pop_front().expect("a completion without a work request");
                    if posted.id == cqe.wr_id {
                        if cqe.status == Status::Success {
                            assert_eq!(cqe.byte_len as usize, posted.length);
                            assert!(posted.signaled);
                            done.push(posted);
                        }
                        break;
                    }
                    assert!(!posted.signaled, "{posted:?} has no completion and {} has", cqe.wr_id);
                    done.push(posted);
                }
                assert!(cqe.status == Status::Success || self.broken(), "{cqe:?}");
                done.iter().for_each(|posted| self.placed(side, posted));
            }
        }
    }

    /// Every byte of the message is there, and was written once.
    fn placed(&self, side: usize, posted: &Posted) {
        let (mem, range) = (&self.mem[1 - side], posted.at..posted.at + posted.length);
        assert!(mem.target[range.clone()] == self.mem[side].source[range.clone()], "{posted:?}: wrong data");
        assert!(mem.hits[range].iter().all(|&h| h == 1), "{posted:?}: a byte was not written once");
    }

    /// The faults end: frames arrive in order and timers fire until nothing is left to do.
    fn settle(&mut self) {
        self.dead = [false; PATHS];
        for _ in 0..200_000 {
            self.transmit();
            if !self.flight.is_empty() {
                self.wait(1);
                self.arrive(0);
                continue;
            }
            let now = self.now;
            let timers = self.nic.iter().filter_map(|n| n.poll_timeout()).map(|t| t.wrapping_sub(now).clamp(1, 1 << 30));
            let Some(ticks) = timers.min() else { return };
            self.wait(ticks);
            self.completions();
        }
        panic!("no end after 200,000 events: {:?}", self.nic[0].counters());
    }
}

impl<P: Profile> StateMachineTest for Machine<P> {
    type SystemUnderTest = Sut<P>;
    type Reference = Self;

    fn init_test(reference: &Reference) -> Sut<P> {
        let base = Setup::default();
        let setup = Setup {
            paths: PATHS as u8,
            mtu_log2: 8,
            window: 8,
            retry: RETRIES,
            start_ppsn: reference.start,
            start_msn: 0xFF_FFFE,
            nic: NicConfig { msgs_per_stream: MESSAGES as u32, ..base.nic },
            ..base
        };
        let nic = [0u8, 1].map(|side| {
            let mut nic = Nic::<P>::new(setup.nic).unwrap();
            nic.open_connection(0, 0, &conn_config(side, &setup)).unwrap();
            for qpn in 0..QPS as u32 {
                let qp = QpConfig { tx_start_msn: setup.start_msn, rx_start_msn: setup.start_msn, ..QpConfig::new(0, qpn) };
                nic.open_qp(qpn, &qp).unwrap();
            }
            keys(&mut nic, BYTES as u64);
            nic
        });
        Sut {
            nic,
            mem: [Memory::new(BYTES), Memory::new(BYTES)],
            flight: VecDeque::new(),
            dead: [false; PATHS],
            now: 0,
            posted: Default::default(),
            refused_posts: 0,
            buf: vec![0; FRAME_BYTES_MAX],
        }
    }

    fn apply(mut sut: Sut<P>, reference: &Reference, op: Op) -> Sut<P> {
        match op {
            Op::Post { side, qp, length, signaled } => {
                let posted = Posted { id: reference.posts, at: reference.at, length: length.into(), signaled };
                sut.post(side.into(), qp.into(), posted);
            }
            Op::Deliver { count } => (0..count).for_each(|_| sut.arrive(0)),
            Op::DeliverOne { pick } => sut.arrive(sut.pick(pick)),
            Op::Drop { pick } => {
                sut.flight.remove(sut.pick(pick));
            }
            Op::Duplicate { pick } => {
                let copy = sut.flight.get(sut.pick(pick)).cloned();
                sut.flight.extend(copy);
            }
            Op::Wait { ticks } => sut.wait(ticks.into()),
            Op::Kill { path } => sut.dead[path as usize] = true,
            Op::Revive { path } => sut.dead[path as usize] = false,
        }
        sut.transmit();
        sut.completions();
        sut
    }

    fn check_invariants(sut: &Sut<P>, _: &Reference) {
        for (side, nic) in sut.nic.iter().enumerate() {
            check_liveness(nic, side, PATHS as u8);
        }
    }

    fn teardown(mut sut: Sut<P>, _: Reference) {
        sut.settle();
        for side in 0..2 {
            for posted in sut.posted[side].iter().flatten() {
                assert!(!posted.signaled, "{posted:?} has no completion");
                sut.placed(side, posted);
            }
            assert!(sut.mem[side].hits.iter().all(|&h| h <= 1), "a byte was written twice");
            let idle = (0..PATHS as u8).all(|p| sut.nic[side].tx_path(0, p).unwrap().span() == 0);
            let tx = sut.nic[side].tx_conn(0).unwrap();
            let done = idle && tx.fifo.is_empty() && tx.inflight_bytes() == 0 && sut.nic[side].pool_packets() == 0;
            assert!(done || tx.error, "side {side}: something is outstanding");
        }
        SEEN.with_borrow_mut(|seen| {
            for c in sut.nic.iter().map(|n| n.counters()) {
                seen.resent += c.tx_resent;
                seen.moved += c.tx_moved;
                seen.ports += c.port_changes;
                seen.downs += c.path_down;
                seen.duplicates += c.rx_duplicates;
                seen.broken += c.conn_errors;
            }
            seen.refused_posts += sut.refused_posts;
        });
    }
}

/// W1..W4, L1..L5, S1: every work request completes once, in order, with its bytes in place, whatever the network does.
fn a_pair_survives_any_network<P: Profile>() {
    SEEN.set(Seen::default());
    run_machine::<Machine<P>>(200, 1..200);
    let seen = SEEN.take();
    println!("{seen:?}");
    let Seen { resent, moved, ports, downs, duplicates, broken, refused_posts } = seen;
    for (what, count) in [
        ("resends", resent),
        ("moved packets", moved),
        ("port changes", ports),
        ("dead paths", downs),
        ("duplicates", duplicates),
        ("connection errors", broken),
        ("refused posts", refused_posts),
    ] {
        assert!(count > 0, "no history had any {what}");
    }
}

crate::for_each_profile!(a_pair_survives_any_network);
