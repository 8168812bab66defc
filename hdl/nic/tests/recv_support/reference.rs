//! What the receives of one queue pair must do, as a list: Q1, Q2, Q5, Q6 without any hardware.
//! In: events in the order of the commit records. Out: what a look finds, which CQE comes next. Guarantees: it knows no RAM, row or ticket.
use std::collections::{BTreeMap, VecDeque};

/// An entry of a receive queue; one of 32 bytes has zeros behind them.
pub type Entry = [u32; 32];

/// A shared queue: receives that no message has taken.
#[derive(Clone, Debug, Default)]
pub struct Pool {
    pub left: VecDeque<Entry>,
    /// Receives taken.
    pub taken: u32,
}

/// A receive that arrived, or the place of one that is still to be taken from a shared queue.
#[derive(Clone, Debug)]
pub struct Receive {
    pub there: bool,
    /// Its number in the shared queue.
    pub index: Option<u32>,
    pub words: Entry,
    /// Its entry has 128 bytes.
    pub long: bool,
    pub msn: Option<u32>,
    pub complete: bool,
    pub failed: u8,
    /// Of the last accepted packet: length, immediate, solicited, by WRITE.
    pub accepted: Option<(u32, Option<u32>, bool, bool)>,
}

/// The receives of a queue pair.
#[derive(Clone, Debug, Default)]
pub struct Receives {
    pub head: u32,
    pub list: VecDeque<Receive>,
    pub in_error: bool,
    pub cqes: u32,
    /// Its receives come from this shared queue.
    pub source: Option<usize>,
    /// Entries of its queue, or of the shared one, have 128 bytes.
    pub long: bool,
}

/// A packet that is accepted, or not.
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    pub accept: bool,
    pub length: u32,
    pub imm: Option<u32>,
    pub sol: bool,
    pub by_write: bool,
    pub failed: u8,
}

impl Receive {
    /// Its pieces, those that it does not have without bytes, if it is a list.
    pub fn list(&self, most: u32) -> Option<[[u32; 4]; 4]> {
        let many = self.words[0] >> 16 & 0xFF;
        (self.long && many > 1).then(|| {
            std::array::from_fn(|k| {
                let w = &self.words[16 + 4 * k..20 + 4 * k];
                let there = (k as u32) < many.min(most);
                [w[0], w[1], if there { w[2] } else { 0 }, w[3]]
            })
        })
    }
}

impl Receives {
    /// Receives that have arrived in all.
    pub fn arrived(&self) -> u32 {
        self.head + self.list.len() as u32
    }

    pub fn arrive(&mut self, words: Entry) {
        let long = self.long;
        self.list.push_back(Receive {
            there: true,
            index: None,
            words,
            long,
            msn: None,
            complete: false,
            failed: 0,
            accepted: None,
        });
    }

    /// Q1: the message of `seq` takes the oldest receive of the shared queue.
    pub fn take(&mut self, seq: u32, pool: &mut Pool) {
        let (words, long) = ([0; 32], self.long);
        let place = Receive { there: false, index: None, words, long, msn: None, complete: false, failed: 0, accepted: None };
        let index = self.index(seq);
        while self.list.len() <= index {
            self.list.push_back(place.clone());
        }
        let words = pool.left.pop_front().expect("a receive that is left");
        self.list[index] = Receive { there: true, index: Some(pool.taken), words, ..place };
        pool.taken += 1;
    }

    /// Receives that it has taken and that have no completion.
    pub fn held(&self) -> usize {
        self.list.iter().filter(|r| r.there).count()
    }

    fn index(&self, seq: u32) -> usize {
        (seq.wrapping_sub(self.head) & 0xFF_FFFF) as usize
    }

    /// 0 the receive, 1 missing, 2 wrong, 3 the oldest of the shared queue.
    pub fn look(&self, seq: u32, msn: u32, pool: Option<&Pool>) -> u64 {
        match (self.index(seq), self.list.get(self.index(seq)).filter(|r| r.there)) {
            (0x80_0000.., _) => 2,
            (_, None) if pool.is_some_and(|pool| !pool.left.is_empty()) => 3,
            (_, Some(r)) if !r.complete && r.msn.is_none_or(|m| m == msn) => 0,
            (_, Some(_)) => 2,
            (_, None) => 1,
        }
    }

    pub fn mark(&mut self, seq: u32, msn: u32, mark: &Mark) {
        let index = self.index(seq);
        let r = &mut self.list[index];
        r.msn = Some(msn);
        if mark.accept {
            r.accepted = Some((mark.length, mark.imm, mark.sol, mark.by_write));
        }
        if mark.failed != 0 {
            r.failed = mark.failed;
        }
    }

    pub fn complete(&mut self, seq: u32) {
        let index = self.index(seq);
        if let Some(r) = self.list.get_mut(index) {
            r.complete = true;
        }
    }

    /// The words of the next CQE.
    pub fn pop(&mut self, qp: usize, cq_log2: u32) -> Option<[u32; 8]> {
        if self.in_error && self.held() > 0 {
            while self.list.front().is_some_and(|r| !r.there) {
                self.list.pop_front();
                self.head = (self.head + 1) & 0xFF_FFFF;
            }
        }
        let r = self.list.front()?.clone();
        if !(r.complete || self.in_error && r.there) {
            return None;
        }
        self.list.pop_front();
        let seq = self.head;
        self.head = (self.head + 1) & 0xFF_FFFF;
        let (length, imm, sol, by_write) = r.accepted.unwrap_or((0, None, false, false));
        let mut w = [0; 8];
        w[0] = (128 + u32::from(by_write)) << 8 | (1 - (self.cqes >> cq_log2 & 1)) << 16;
        w[1] = qp as u32;
        (w[2], w[3]) = (r.words[6], r.words[7]);
        w[5] = r.index.unwrap_or(seq) & 0xFFFF;
        w[7] = r.msn.unwrap_or(0);
        if r.complete {
            w[0] |= u32::from(imm.is_some()) << 24 | u32::from(sol) << 25;
            w[4] = length;
            w[7] = imm.unwrap_or(w[7]);
        } else {
            w[0] |= if r.failed > 0 { u32::from(r.failed) } else { 5 };
        }
        self.cqes += 1;
        Some(w)
    }
}

/// A message of a stream.
#[derive(Clone, Debug)]
pub struct Message {
    pub seq: Option<u32>,
    pub packets: u32,
    pub accepted: u32,
    pub mark: Mark,
}

/// The messages that a peer sends on one queue pair, and R7's `exp`.
#[derive(Clone, Debug, Default)]
pub struct Stream {
    pub exp: u32,
    pub next: u32,
    pub next_seq: u32,
    pub open: BTreeMap<u32, Message>,
}

impl Stream {
    /// Counts a packet of `msn`; the rq_seqs of the consuming messages that `exp` passes.
    pub fn accept(&mut self, msn: u32) -> Vec<u32> {
        self.open.get_mut(&msn).expect("an open message").accepted += 1;
        let mut passed = vec![];
        while self.open.get(&self.exp).is_some_and(|m| m.accepted == m.packets) {
            passed.extend(self.open.remove(&self.exp).and_then(|m| m.seq));
            self.exp += 1;
        }
        passed
    }
}
