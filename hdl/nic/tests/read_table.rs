//! read_table: looks, takes and answers against maps (D6), with WQEs, sent packets and visible writes at any time; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{maker, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::read_table::{ReadRow, ReadTable};
use rx_support::{Bench, Rng};
use std::collections::{HashMap, VecDeque};

const M: u64 = 4;
const QPS: u64 = 4;

fn config() -> BuildConfig {
    BuildConfig { qps: QPS as usize, msgs_per_stream: M as usize, sges: 4, ..build("sim").unwrap() }
}

#[derive(Clone, Copy)]
struct Message {
    request: bool,
    atomic: bool,
    msn: u64,
    laddr: u64,
    length: u64,
    tag: u64,
    sent: bool,
    left: u64,
    whole: bool,
    /// Bus address and end of each piece, if it has such.
    pieces: Option<[(u64, u64); 4]>,
}

/// A response as its look and its header have it.
#[derive(Clone, Copy, Debug)]
struct Response {
    qp: u64,
    msn: u64,
    kind: u64,
    offset: u64,
    length: u64,
    tag: u64,
    bytes: u64,
}

struct World {
    b: Bench,
    rng: Rng,
    /// By (qp, msn mod M).
    messages: HashMap<(u64, u64), Message>,
    next_msn: Vec<u64>,
    /// Payload writes ordered and done.
    tickets: u64,
    done: u64,
    answers: VecDeque<(u64, u64, u64)>,
    answered: u64,
    used: u64,
    refused: u64,
    firsts: VecDeque<u64>,
    /// A WQE whose pieces are told, and how many of them were.
    coming: Option<(u64, Message)>,
    told: usize,
    since_sent: u64,
    /// No WQE and no sent packet of this one while a response to it is looked at.
    stepping: u64,
}

impl World {
    fn new(own_seed: u64) -> World {
        let mut b = Bench::new("read_table", || ReadTable::new(&config()));
        b.reset();
        let start = vec![0xFF_FFF0; QPS as usize];
        World {
            b,
            rng: Rng(own_seed),
            messages: HashMap::new(),
            next_msn: start,
            // serial numbers wrap on the way
            tickets: 65_000,
            done: 65_000,
            answers: VecDeque::new(),
            answered: 0,
            used: 0,
            refused: 0,
            firsts: VecDeque::new(),
            coming: None,
            told: 0,
            since_sent: 0,
            stepping: QPS,
        }
    }

    fn other_qp(&mut self) -> u64 {
        loop {
            let qp = self.rng.below(QPS);
            if qp != self.stepping {
                return qp;
            }
        }
    }

    /// One clock, with whatever else goes on.
    fn clock(&mut self) {
        let b = &mut self.b;
        for name in ["row_write", "sent_valid"] {
            b.set(name, 0);
        }
        let (mut write, mut sent) = (None, None);
        if self.coming.is_none() && self.rng.chance(8) {
            let qp = self.other_qp();
            let msn = self.next_msn[qp as usize];
            let old = self.messages.get(&(qp, msn % M));
            // its place is free: the message before it was answered, or asks for nothing
            if old.is_none_or(|o| !o.request || o.whole) {
                self.next_msn[qp as usize] = (msn + 1) & 0xFF_FFFF;
                let (request, atomic) = (self.rng.chance(80), self.rng.chance(30));
                let length = if atomic { 8 } else { [0, 1, 100, 5000, 5000, 9000, 1, 1 << 31][self.rng.below(8) as usize] };
                let (laddr, tag) = (self.rng.next(), self.rng.below(1 << 32));
                let pieces = self.rng.chance(50).then(|| {
                    let mut ends = [0; 3].map(|_: u64| self.rng.below(length + 1));
                    ends.sort_unstable();
                    [ends[0], ends[1], ends[2], length].map(|end| (self.rng.next(), end))
                });
                let message =
                    Message { request, atomic, msn, laddr, length, tag, sent: false, left: length, whole: false, pieces };
                self.coming = Some((qp, message));
            }
        }
        // its pieces come before it, one a clock
        self.b.set("piece_write", 0);
        if let Some((qp, message)) = self.coming.filter(|(qp, _)| *qp != self.stepping) {
            let b = &mut self.b;
            match message.pieces.filter(|_| self.told < 4) {
                Some(pieces) => {
                    let (addr, end) = pieces[self.told];
                    b.set("piece_write", 1);
                    b.set("piece_row", qp * M + message.msn % M);
                    b.set("piece_number", self.told as u64);
                    b.set("piece_addr", addr);
                    b.set("piece_end", end);
                    self.told += 1;
                }
                None => {
                    (write, self.coming, self.told) = (Some((qp, message)), None, 0);
                }
            }
        }
        // transmit slots are more than two clocks apart
        self.since_sent += 1;
        if self.since_sent > 2 && self.rng.chance(8) {
            self.since_sent = 0;
            let qp = self.other_qp();
            let slot = self.rng.below(M);
            sent = self.messages.get_mut(&(qp, slot)).map(|m| (qp, m));
        }
        let b = &mut self.b;
        if let Some((qp, m)) = sent {
            b.set("sent_valid", 1);
            b.set("sent_qp", qp);
            b.set("sent_msn", m.msn);
            if m.request && !m.sent {
                self.firsts.push_back(qp);
            }
            m.sent = true;
        }
        if let Some((qp, m)) = write {
            b.set("row_write", 1);
            b.set("row_qp", qp);
            let row = [
                ("request", m.request.into()),
                ("atomic", m.atomic.into()),
                ("msn", m.msn),
                ("laddr", m.laddr),
                ("length", m.length),
                ("tag", m.tag),
                ("listed", m.pieces.is_some().into()),
            ];
            b.set_words("row", Packed::of::<ReadRow>(&row).words());
            self.messages.insert((qp, m.msn % M), m);
        }
        if self.done < self.tickets && self.rng.chance(15) {
            self.done += 1;
        }
        b.set("done_count", self.done & 0xFFFF);
        b.set("answered_ready", self.rng.chance(40).into());
        b.eval();
        if b.get("first_valid") == 1 {
            assert_eq!(Some(b.get("first_qp")), self.firsts.pop_front(), "D8: first packet of a request");
        }
        if b.get("answered_valid") == 1 && b.get("answered_ready") == 1 {
            let (qp, msn, ticket) = self.answers.pop_front().expect("nothing was answered");
            assert_eq!((b.get("answered_qp"), b.get("answered_msn")), (qp, msn));
            assert!(self.done >= ticket, "answered before its data is visible");
            self.answered += 1;
        }
        b.cycle();
        self.b.set("look", 0);
        self.b.set("take", 0);
    }

    fn want(&self, r: &Response) -> Option<u64> {
        let m = self.messages.get(&(r.qp, r.msn % M)).filter(|m| m.request && m.msn == r.msn && m.sent && !m.whole)?;
        match r.kind {
            0 => {
                let right = !m.atomic && m.length == r.length && m.tag == r.tag && r.bytes <= m.left;
                let inside = u128::from(r.offset) + u128::from(r.bytes) <= u128::from(r.length);
                (right && inside).then(|| m.laddr.wrapping_add(r.offset))
            }
            1 => m.atomic.then_some(m.laddr),
            _ => Some(m.laddr),
        }
    }

    /// A response that is right but for one mistake in three.
    fn invent(&mut self) -> Response {
        let qp = self.rng.below(QPS);
        let slot = self.rng.below(M);
        let Some(m) = self.messages.get(&(qp, slot)).copied() else {
            return Response { qp, msn: slot, kind: 0, offset: 0, length: 0, tag: 0, bytes: 0 };
        };
        let most = m.left.min(4096);
        let bytes = if m.atomic {
            8
        } else if self.rng.chance(60) {
            most
        } else {
            self.rng.below(most + 1)
        };
        let offset = if m.length > bytes { self.rng.below(m.length - bytes + 1) } else { 0 };
        let kind = if self.rng.chance(5) { 2 } else { m.atomic.into() };
        let mut r = Response { qp, msn: m.msn, kind, offset, length: m.length, tag: m.tag, bytes };
        if self.rng.chance(33) {
            match self.rng.below(6) {
                0 => r.msn = (r.msn + M) & 0xFF_FFFF,
                1 => r.tag ^= 1 << self.rng.below(32),
                2 => r.length ^= 1 << self.rng.below(32),
                3 => r.offset = r.length.wrapping_sub(r.bytes).wrapping_add(1),
                4 => r.offset |= 1 << (32 + self.rng.below(32)),
                _ => r.kind = 1 - r.kind.min(1),
            }
            if r.kind == 1 {
                r.bytes = 8;
            }
        }
        r
    }

    fn respond(&mut self) {
        self.b.eval();
        if self.b.get("room") == 0 {
            self.clock();
            return;
        }
        let r = self.invent();
        // a packet sent in the clock before the look may be overlooked
        self.stepping = r.qp;
        self.clock();
        let want = self.want(&r);
        for (name, value) in [("look", 1), ("look_qp", r.qp), ("look_msn", r.msn)] {
            self.b.set(name, value);
        }
        self.clock();
        self.b.set("look_msn", 0);
        let header = [("kind", r.kind), ("offset", r.offset), ("length", r.length), ("tag", r.tag), ("payload_bytes", r.bytes)];
        header.iter().for_each(|(name, value)| self.b.set(name, *value));
        let later = self.rng.below(3);
        for _ in 0..3 + later {
            self.clock();
        }
        self.b.eval();
        let used = self.b.get("used") == 1;
        assert_eq!(used, want.is_some(), "{r:x?}");
        if used && r.kind < 2 {
            assert_eq!(Some(self.b.get("addr")), want, "{r:x?}");
            let pieces = self.messages[&(r.qp, r.msn % M)].pieces;
            assert_eq!(self.b.get("listed") == 1, pieces.is_some(), "{r:x?}");
            for (k, (addr, end)) in pieces.iter().flatten().enumerate() {
                self.b.set("piece_at", k as u64);
                self.b.eval();
                let words = self.b.get_words("piece");
                let begins = pieces.map_or(0, |pieces| if k > 0 { pieces[k - 1].1 } else { 0 });
                let want = [*addr as u32, (addr >> 32) as u32, (end - begins) as u32, 0];
                assert_eq!(words, want, "piece {k} of {r:x?}");
            }
            self.b.set("take", 1);
            self.clock();
            self.tickets += u64::from(r.bytes > 0);
            self.b.set("ticket", self.tickets & 0xFFFF);
            self.clock();
            let m = self.messages.get_mut(&(r.qp, r.msn % M)).unwrap();
            m.left -= r.bytes;
            if m.left == 0 {
                m.whole = true;
                self.answers.push_back((r.qp, r.msn, self.tickets));
            }
        }
        (self.used, self.refused) = (self.used + u64::from(used), self.refused + u64::from(!used));
        self.stepping = QPS;
    }

    /// The queue pair starts anew: nothing of it is outstanding, and its message numbers begin again.
    fn open(&mut self, qp: u64) {
        self.messages.retain(|(of, _), _| *of != qp);
        self.next_msn[qp as usize] = 0xFF_FFF0;
        // none of its packets is sent from here on
        self.stepping = qp;
        self.clock();
        for (name, value) in [("cfg_valid", 1), ("cfg_table", 3), ("cfg_index", qp), ("rx_busy", 1)] {
            self.b.set(name, value);
        }
        self.clock();
        self.b.set("cfg_valid", 0);
        for busy in 0.. {
            assert!(busy < 10_000, "never applied");
            self.b.set("rx_busy", u64::from(busy < 5));
            self.b.eval();
            if self.b.get("cfg_busy") == 0 {
                break;
            }
            self.clock();
        }
        assert!(self.answers.iter().all(|a| a.0 != qp), "an answer of the earlier life is left");
        self.stepping = QPS;
    }
}

/// D6: a response is used exactly if a request of that number waits for it, was sent, and tag, length, place and bytes are right.
#[test]
fn responses_are_used_if_their_request_waits() {
    for own in [1, 2] {
        let mut w = World::new(seed(own));
        for round in 0..6000 {
            w.respond();
            if round % 400 == 399 {
                let qp = w.rng.below(QPS);
                w.open(qp);
            }
        }
        for _ in 0..2000 {
            w.clock();
        }
        println!("{} used, {} refused, {} answered", w.used, w.refused, w.answered);
        assert!(w.used > 500 && w.refused > 500 && w.answered > 100);
        assert!(w.answers.is_empty() && w.firsts.is_empty());
    }
}

maker!(row: ReadRow { request, atomic, msn, laddr, length, tag, listed });

#[test]
fn simulation_equals_verilog() {
    difftest!(ReadTable::new(&config()), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, rx_busy, row_write, row_qp, piece_write, piece_row, piece_number, piece_addr, piece_end, piece_at, sent_valid, sent_qp, sent_msn, look, look_qp, look_msn,
        kind, offset, length, tag, payload_bytes, take, ticket, done_count, answered_ready
    })
    .input_as("row", |b| &mut b.row, row)
    .top("read_table")
    .cycles(4000)
    .seed(1)
    .limit("row_qp", 0..=1)
    .limit("piece_row", 0..=7)
    .limit("sent_qp", 0..=1)
    .limit("look_qp", 0..=1)
    .limit("sent_msn", 0..=3)
    .limit("look_msn", 0..=3)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 2..=3)
    .limit("kind", 0..=2)
    .limit("tag", 0..=0)
    .limit("length", 8..=9)
    .limit("offset", 0..=1)
    .limit("payload_bytes", 0..=8)
    .sink("answered_ready")
    .stimulus(|random, cycle, inputs| {
        let msn = random.below(4) as u32;
        let (request, atomic) = (u32::from(random.chance(0.9)), u32::from(random.chance(0.3)));
        inputs.set("row", Packed::of::<ReadRow>(&[
            ("request", request.into()), ("atomic", atomic.into()), ("msn", msn.into()), ("length", 8 + random.below(2)),
            ("laddr", random.below(1 << 40)),
        ]).words().to_vec());
        inputs.set("look", random.chance(0.15));
        inputs.set("take", random.chance(0.1));
        inputs.set("done_count", (cycle & 0xFFFF) as u32);
        inputs.set("ticket", ((cycle + random.below(4)) & 0xFFFF) as u32);
        inputs.set("cfg_valid", random.chance(0.01));
        inputs.set("rx_busy", random.chance(0.2));
    })
    .run();
}
