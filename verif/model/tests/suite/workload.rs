//! A random mixture of all opcodes over a pair of NICs, in both directions and several queue pairs, with every byte checked.
//! In: a seed and a number of messages. Out: nothing, or the first thing that is wrong. Receives are posted late at random,
//! planes lose, double, reorder and die. At the end nothing is outstanding and all counters agree.

use std::collections::VecDeque;

use mrnic_model::*;
use rand::Rng;

use crate::duo::{wqe, Duo, DuoSetup};
use crate::fabric::FabricConfig;

/// What a run consists of.
#[derive(Clone, Debug)]
pub struct Load {
    pub messages: u64,
    pub qps: u32,
    /// Longest message, and longest SEND.
    pub longest: u32,
    pub longest_send: u32,
    /// Messages of a queue pair in flight.
    pub depth: usize,
    /// Faults change in the middle of the run.
    pub faults: bool,
    pub srq: bool,
}

impl Default for Load {
    fn default() -> Self {
        Load { messages: 1000, qps: 4, longest: 100_000, longest_send: 20_000, depth: 12, faults: true, srq: false }
    }
}

/// A message whose completion was not yet seen.
#[derive(Clone, Debug)]
struct Op {
    id: u64,
    opcode: u8,
    len: u32,
    /// Slot of the sender's memory, and of the peer's.
    local: usize,
    remote: usize,
    /// Compare-and-swap: the value that must have stood there.
    before: u64,
    signaled: bool,
    /// The far receive completed.
    received: bool,
}

#[derive(Default)]
struct Stream {
    ops: VecDeque<Op>,
    /// Value of the word that only this stream's compare-and-swaps change.
    word: u64,
    /// Receives posted by the *peer* for this stream (own queues only).
    receives: usize,
    posted: u64,
}

/// Places of one size in a memory.
struct Slots {
    base: u64,
    size: u32,
    free: Vec<usize>,
}

impl Slots {
    fn new(base: u64, size: u32, count: usize) -> Self {
        Slots { base, size, free: (0..count).collect() }
    }

    fn at(&self, slot: usize) -> u64 {
        self.base + slot as u64 * u64::from(self.size)
    }
}

struct Side {
    locals: Slots,
    /// In this side's memory, for the peer's messages.
    targets: Slots,
    buffers: Slots,
    streams: Vec<Stream>,
    shared_receives: usize,
    /// Sum of what the peer's fetch-and-adds must have added to this side's word.
    sum: u64,
}

pub struct Workload<P: Profile> {
    pub duo: Duo<P>,
    load: Load,
    sides: [Side; 2],
    posted: u64,
    pub done: u64,
    steps: u64,
    pub done_of: [u64; 7],
}

/// Receives that are kept posted, at most.
const RECEIVES: usize = 8;
/// The word of all fetch-and-adds; those of the streams follow.
const WORDS: u64 = 7;

impl<P: Profile> Workload<P> {
    pub fn new(load: &Load, setup: &DuoSetup) -> Self {
        let count = load.qps as usize * load.depth;
        let size = load.longest + 16;
        let words = WORDS + 8 * (1 + u64::from(load.qps));
        let targets = words + u64::from(size) * count as u64;
        let buffers = targets + u64::from(size) * count as u64;
        let buffer = load.longest_send + 16;
        let places = load.qps as usize * (RECEIVES + load.depth) * 2;
        let bytes = buffers as usize + buffer as usize * places;
        let srq = load.srq.then_some(SrqConfig { pd: 0, depth: 256, limit: 0 });
        let duo = Duo::<P>::new(&DuoSetup { bytes, qps: load.qps, srq, ..setup.clone() });
        let side = || Side {
            locals: Slots::new(words, size, count),
            targets: Slots::new(targets, size, count),
            buffers: Slots::new(buffers, buffer, places),
            streams: (0..load.qps).map(|_| Stream::default()).collect(),
            shared_receives: 0,
            sum: 0,
        };
        let mut workload =
            Workload { duo, load: load.clone(), sides: [side(), side()], posted: 0, done: 0, steps: 0, done_of: [0; 7] };
        for side in 0..2 {
            for word in 0..=u64::from(load.qps) {
                workload.duo.set_word(side, WORDS + 8 * word, 0);
            }
        }
        workload
    }

    fn random_len(&mut self, longest: u32) -> u32 {
        let mtu = 1 << self.duo.setup.mtu_log2;
        let rng = &mut self.duo.rng;
        match rng.random_range(0..20) {
            0 => 0,
            1 => 1,
            2 => mtu - 1,
            3 => mtu,
            4 => mtu + 1,
            5 => 2 * mtu,
            6 => longest,
            7..=9 => rng.random_range(0..=longest),
            _ => rng.random_range(0..=2048),
        }
        .min(longest)
    }

    /// Posts one random message, if there is room. False if there is none.
    fn post(&mut self) -> bool {
        let side = self.duo.rng.random_range(0..2);
        let qpn = self.duo.rng.random_range(0..self.load.qps);
        if self.sides[side].streams[qpn as usize].ops.len() >= self.load.depth {
            return false;
        }
        let opcode = self.duo.rng.random_range(0..7u8);
        let longest = if matches!(opcode, WQE_SEND | WQE_SEND_IMM) { self.load.longest_send } else { self.load.longest };
        let len = if opcode >= WQE_COMPARE_SWAP { 8 } else { self.random_len(longest) };
        let parts = if self.duo.rng.random_bool(0.5) { 1 } else { self.duo.rng.random_range(2..=8) };
        let (Some(local), Some(remote)) = (self.sides[side].locals.free.pop(), self.sides[1 - side].targets.free.pop()) else {
            unreachable!("there are as many places as messages in flight");
        };
        let shift = u64::from(self.duo.rng.random_range(0..8u8));
        let (from, to) = (self.sides[side].locals.at(local) + shift, self.sides[1 - side].targets.at(remote) + shift);
        // The side whose bytes are carried gets fresh ones.
        let (owner, place) = if opcode == WQE_READ { (1 - side, to) } else { (side, from) };
        let fresh = &mut self.duo.mem[owner].bytes[place as usize..place as usize + len as usize];
        self.duo.rng.fill(fresh);
        let list = self.duo.split(from, len, parts);
        let id = self.posted;
        let stream = &mut self.sides[side].streams[qpn as usize];
        let mut w = wqe(opcode, id, from, to, len);
        w.signaled = self.duo.rng.random_bool(0.7) || stream.ops.len() + 1 == self.load.depth;
        w.fence = self.duo.rng.random_bool(0.1);
        w.solicited = self.duo.rng.random_bool(0.2);
        w.imm = id as u32;
        let mut before = 0;
        if opcode == WQE_FETCH_ADD {
            w.raddr = crate::duo::BASE + WORDS;
            w.swap_add = self.duo.rng.random();
        } else if opcode == WQE_COMPARE_SWAP {
            w.raddr = crate::duo::BASE + WORDS + 8 * (1 + u64::from(qpn));
            before = stream.word;
            // Every third one does not find what it compares with.
            w.compare = if id.is_multiple_of(3) { before.wrapping_add(1) } else { before };
            w.swap_add = self.duo.rng.random();
        }
        if self.duo.nic[side].post_send_list(qpn, &w, &list).is_err() {
            self.sides[side].locals.free.push(local);
            self.sides[1 - side].targets.free.push(remote);
            return false;
        }
        if opcode == WQE_FETCH_ADD {
            self.sides[1 - side].sum = self.sides[1 - side].sum.wrapping_add(w.swap_add);
        }
        let stream = &mut self.sides[side].streams[qpn as usize];
        if opcode == WQE_COMPARE_SWAP && w.compare == before {
            stream.word = w.swap_add;
        }
        let received = !matches!(opcode, WQE_SEND | WQE_SEND_IMM | WQE_WRITE_IMM);
        // The shift is kept in the place's low digits.
        let (local, remote) = (local * 8 + shift as usize, remote * 8 + shift as usize);
        stream.ops.push_back(Op { id, opcode, len, local, remote, before, signaled: w.signaled, received });
        stream.posted += 1;
        self.posted += 1;
        true
    }

    /// Posts receives, not always enough.
    fn post_receives(&mut self, share: f64) {
        for side in 0..2 {
            for qpn in 0..self.load.qps {
                let posted = match self.load.srq {
                    true => self.sides[side].shared_receives / self.load.qps as usize,
                    false => self.sides[1 - side].streams[qpn as usize].receives,
                };
                if posted >= RECEIVES || !self.duo.rng.random_bool(share) {
                    continue;
                }
                let Some(slot) = self.sides[side].buffers.free.pop() else { continue };
                let at = self.sides[side].buffers.at(slot);
                let parts = self.duo.rng.random_range(1..=8);
                let sges = self.duo.split(at, self.load.longest_send, parts);
                let wr = RecvWr { wr_id: slot as u64, sges: &sges };
                if self.load.srq {
                    self.duo.nic[side].post_srq_recv(0, &wr).unwrap();
                    self.sides[side].shared_receives += 1;
                } else {
                    self.duo.nic[side].post_recv(qpn, &wr).unwrap();
                    self.sides[1 - side].streams[qpn as usize].receives += 1;
                }
            }
        }
    }

    fn places(&self, side: usize, op: &Op) -> (u64, u64) {
        let local = self.sides[side].locals.at(op.local / 8) + op.local as u64 % 8;
        let remote = self.sides[1 - side].targets.at(op.remote / 8) + op.remote as u64 % 8;
        (local, remote)
    }

    fn received(&mut self, side: usize, cqe: &Cqe) {
        let from = 1 - side;
        let slot = cqe.wr_id as usize;
        let buffer = self.sides[side].buffers.at(slot);
        let stream = &mut self.sides[from].streams[cqe.qpn as usize];
        match self.load.srq {
            true => self.sides[side].shared_receives -= 1,
            false => stream.receives -= 1,
        }
        let stream = &mut self.sides[from].streams[cqe.qpn as usize];
        let op = stream.ops.iter_mut().find(|op| !op.received).expect("a message for the receive");
        op.received = true;
        let op = op.clone();
        let (local, remote) = self.places(from, &op);
        let write = op.opcode == WQE_WRITE_IMM;
        let imm = (op.opcode != WQE_SEND).then_some(op.id as u32);
        assert_eq!((cqe.status, cqe.byte_len, cqe.imm), (Status::Success, op.len, imm), "{op:?}");
        assert_eq!(cqe.opcode, if write { CQE_RECV_WRITE_IMM } else { CQE_RECV });
        let place = if write { remote } else { buffer };
        assert!(self.duo.bytes(from, local, op.len) == self.duo.bytes(side, place, op.len), "data of {op:?}");
        self.sides[side].buffers.free.push(slot);
    }

    fn completed(&mut self, side: usize, cqe: &Cqe) {
        assert_eq!(cqe.status, Status::Success, "{cqe:?}");
        loop {
            let stream = &mut self.sides[side].streams[cqe.qpn as usize];
            let op = stream.ops.pop_front().expect("a message for the completion");
            assert!(op.id == cqe.wr_id || !op.signaled, "{op:?} has no completion");
            // A sender's success means that the receive was completed.
            assert!(op.received, "{op:?} is done, its receive is not");
            let (local, remote) = self.places(side, &op);
            match op.opcode {
                WQE_WRITE | WQE_READ => {
                    assert!(self.duo.bytes(side, local, op.len) == self.duo.bytes(1 - side, remote, op.len), "data of {op:?}");
                }
                WQE_COMPARE_SWAP => assert_eq!(self.duo.word(side, local), op.before, "{op:?}"),
                _ => {}
            }
            self.sides[side].locals.free.push(op.local / 8);
            self.sides[1 - side].targets.free.push(op.remote / 8);
            self.done += 1;
            self.done_of[op.opcode as usize] += 1;
            if op.id == cqe.wr_id {
                return;
            }
        }
    }

    fn pump(&mut self) {
        self.duo.collect();
        for side in 0..2 {
            self.duo.events[side].clear();
        }
        let cqes = core::mem::take(&mut self.duo.cqes);
        for recv in [true, false] {
            for (side, cqes) in cqes.iter().enumerate() {
                for cqe in cqes.iter().filter(|c| c.is_recv() == recv) {
                    if recv {
                        self.received(side, cqe);
                    } else {
                        self.completed(side, cqe);
                    }
                }
            }
        }
    }

    fn change_faults(&mut self) {
        let rng = &mut self.duo.rng;
        let loss = [0.0, 0.0, 0.01, 0.05, 0.15][rng.random_range(0..5usize)];
        let planes = self.duo.fabric.dead.len();
        self.duo.fabric.config = FabricConfig {
            loss,
            burst: rng.random_range(1.0..4.0),
            duplicate: [0.0, 0.02, 0.2][rng.random_range(0..3usize)],
            reorder: [0.0, 0.1, 0.5][rng.random_range(0..3usize)],
            reorder_ticks: rng.random_range(0..300),
            skew_ticks: rng.random_range(0..20),
            ..FabricConfig::default()
        };
        // A plane is dead in a third of the time; one always lives.
        self.duo.fabric.dead = vec![false; planes];
        if planes > 1 && rng.random_bool(0.3) {
            let plane = rng.random_range(0..planes);
            self.duo.fabric.dead[plane] = true;
        }
    }

    /// Runs to the end. `progress` is called now and then with the messages done.
    pub fn run(&mut self, mut progress: impl FnMut(u64)) {
        let mut share = 1.0;
        let mut idle = 0u64;
        let mut last = 0;
        while self.done < self.posted || self.posted < self.load.messages {
            if self.steps.is_multiple_of(3000) {
                if self.load.faults {
                    self.change_faults();
                }
                share = [1.0, 0.05, 0.003][self.duo.rng.random_range(0..3usize)];
                progress(self.done);
            }
            self.steps += 1;
            for _ in 0..2 {
                if self.posted < self.load.messages {
                    self.post();
                }
            }
            self.post_receives(share);
            self.pump();
            let more = self.duo.step();
            self.pump();
            if self.posted == self.load.messages && !more {
                // The last messages may be unsignaled: one more of each stream reports them.
                self.finish_streams();
            }
            idle = if self.done == last { idle + 1 } else { 0 };
            last = self.done;
            let (a, b) = (self.duo.nic[0].counters(), self.duo.nic[1].counters());
            assert!(idle < 3_000_000, "{} of {} done and nothing moves: {a:?} {b:?}", self.done, self.posted);
        }
        self.duo.fabric.dead.fill(false);
        self.duo.run(crate::duo::LONG);
        self.pump();
        self.check_end();
    }

    fn finish_streams(&mut self) {
        for side in 0..2 {
            for qpn in 0..self.load.qps {
                let stream = &mut self.sides[side].streams[qpn as usize];
                let unreported = !stream.ops.is_empty() && stream.ops.iter().all(|op| !op.signaled && op.received);
                let Some(local) = self.sides[side].locals.free.pop().filter(|_| unreported) else { continue };
                let remote = self.sides[1 - side].targets.free.pop().expect("a place");
                let (from, to) = (self.sides[side].locals.at(local), self.sides[1 - side].targets.at(remote));
                let id = self.posted + u64::from(qpn) + 1_000_000_000 * (1 + side as u64);
                self.duo.nic[side].post_send(qpn, &wqe(WQE_WRITE, id, from, to, 0)).unwrap();
                let (local, remote) = (local * 8, remote * 8);
                let op = Op { id, opcode: WQE_WRITE, len: 0, local, remote, before: 0, signaled: true, received: true };
                self.sides[side].streams[qpn as usize].ops.push_back(op);
                self.posted += 1;
                self.load.messages += 1;
            }
        }
    }

    fn check_end(&self) {
        self.duo.assert_quiet();
        for side in 0..2 {
            let (nic, peer) = (self.duo.nic[side].counters(), self.duo.nic[1 - side].counters());
            assert_eq!(self.duo.word(side, WORDS), self.sides[side].sum, "the sum of all fetch-and-adds");
            assert_eq!(nic.wqes, peer.rx_messages, "every message of a side arrived at the other");
            assert_eq!((nic.qp_errors, nic.wqes_refused, nic.rx_refused), (0, 0, 0));
            assert_eq!(nic.messages_withdrawn, nic.messages_begun_again);
            assert!(peer.rx_late <= nic.messages_begun_again * 64);
            let left: usize = match self.load.srq {
                true => self.duo.nic[side].srq_posted(0).unwrap(),
                false => (0..self.load.qps as usize).map(|qpn| self.sides[1 - side].streams[qpn].receives).sum(),
            };
            assert_eq!(nic.recv_posted, nic.recv_cqes + left as u64, "receives posted = completed + left");
            for qpn in 0..self.load.qps as usize {
                assert_eq!(self.sides[side].streams[qpn].ops.len(), 0);
                let words = self.duo.word(1 - side, WORDS + 8 * (1 + qpn as u64));
                assert_eq!(words, self.sides[side].streams[qpn].word, "the chain of compare-and-swaps");
            }
        }
    }
}
