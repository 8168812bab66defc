//! responder: streams of READs and fetch-and-adds that arrive out of order, with errors, closing and slow memory at any time: each is
//! executed at most once and in order, each is answered (D3 to D5, D7), nothing holds a place for ever; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::executor::{Reached, RequestRow};
use mrnic_nic::rx::request_places::rows::{Executed, ResponseOrder, RetiredResponse};
use mrnic_nic::rx::responder::Responder;
use rx_support::{Bench, Rng};
use std::collections::{BTreeMap, VecDeque};

const M: u64 = 4;
const QPS: u64 = 4;
const CONNS: u64 = 2;
const FIRST_MSN: u64 = 0xFF_FFFD;
const ADDR: u64 = 0x9000;

fn config() -> BuildConfig {
    let (qps, conns) = (QPS as usize, CONNS as usize);
    BuildConfig { qps, conns, msgs_per_stream: M as usize, responses: 4, ..build("ecp5").unwrap() }
}

#[derive(Clone, Copy, Default, Debug)]
struct Request {
    atomic: bool,
    word: u64,
    executed: bool,
    before: u64,
    responses: u32,
    errors: u32,
}

#[derive(Default)]
struct Stream {
    exp: u64,
    /// Accepted and not answered.
    accepted: BTreeMap<u64, Request>,
    error: bool,
    flush_at: Option<u64>,
}

#[derive(Clone, Copy, PartialEq)]
enum Core {
    Idle,
    Check(u64),
    Finish(u64),
}

struct World {
    b: Bench,
    rng: Rng,
    now: u64,
    streams: Vec<Stream>,
    offers: VecDeque<(u64, u64, u64)>,
    core: Core,
    /// A step of a request is under way.
    in_step: bool,
    memory: [u64; 2],
    /// Additions so far, of each word.
    added: [u64; 2],
    writes: VecDeque<(u64, u64)>,
    ordered: u64,
    done: u64,
    read: Option<(u64, u64)>,
    sent: Vec<(bool, u64, u64, u64)>,
    offer: Option<(bool, u64, u64, u64)>,
    fail_chance: u64,
    answered: u64,
    errors: u64,
}

impl World {
    fn new(own_seed: u64) -> World {
        let mut b = Bench::new("responder", || Responder::<64>::new(&config()));
        b.reset();
        let mut w = World {
            b,
            rng: Rng(own_seed),
            now: 0,
            streams: (0..QPS).map(|_| Stream { exp: FIRST_MSN, ..Stream::default() }).collect(),
            offers: VecDeque::new(),
            core: Core::Idle,
            in_step: false,
            memory: [0; 2],
            added: [0; 2],
            writes: VecDeque::new(),
            ordered: 65_530,
            done: 65_530,
            read: None,
            sent: Vec::new(),
            offer: None,
            fail_chance: 0,
            answered: 0,
            errors: 0,
        };
        (0..CONNS).for_each(|conn| w.table(1, conn, &[1 | 10 << 8; 1]));
        (0..QPS).for_each(|qp| w.open(qp));
        w
    }

    fn table(&mut self, number: u64, index: u64, some: &[u32]) {
        let mut words = [0; 16];
        words[..some.len()].copy_from_slice(some);
        self.b.set_words("cfg_data", &words);
        for (name, value) in [("cfg_valid", 1), ("cfg_table", number), ("cfg_index", index), ("others_busy", 1)] {
            self.b.set(name, value);
        }
        self.clock();
        for clock in 0.. {
            assert!(clock < 20_000, "never applied");
            self.b.set("others_busy", u64::from(clock < 6));
            self.b.eval();
            if self.b.get("cfg_busy") == 0 {
                return;
            }
            self.clock();
        }
    }

    /// A closed queue pair's packets are drained before it opens again; its requests are answered with errors meanwhile.
    fn open(&mut self, qp: u64) {
        self.streams[qp as usize].error = true;
        let mut words = [1 | (qp as u32 % CONNS as u32) << 16, 100 + qp as u32, 0, 0, 0, 0, 0, 0, 0, 3 << 24];
        let valid = std::mem::replace(&mut words[0], 0);
        self.table(3, qp, &words);
        self.drain(qp);
        words[0] = valid;
        self.table(3, qp, &words);
        self.streams[qp as usize] = Stream { exp: FIRST_MSN, ..Stream::default() };
    }

    fn drain(&mut self, qp: u64) {
        for clock in 0.. {
            assert!(clock < 20_000, "packets of a closed queue pair are left");
            self.forget();
            let mine = |s: &(bool, u64, u64, u64)| !s.0 && s.2 == qp;
            let left = self.sent.iter().chain(&self.offer).any(mine);
            if !left && self.streams[qp as usize].accepted.is_empty() && self.streams[qp as usize].flush_at.is_none() {
                return;
            }
            self.clock();
        }
    }

    fn clock(&mut self) {
        self.now += 1;
        if self.rng.below(1000) < self.fail_chance {
            let qp = self.rng.below(QPS) as usize;
            if !self.streams[qp].error {
                self.streams[qp].error = true;
                self.streams[qp].flush_at = Some(self.now + 1 + self.rng.below(8));
            }
        }
        self.b.set("flush_valid", 0);
        if let Some(qp) = (0..QPS).find(|qp| self.streams[*qp as usize].flush_at.is_some_and(|at| at <= self.now)) {
            self.streams[qp as usize].flush_at = None;
            self.b.set("flush_valid", 1);
            self.b.set("flush_qp", qp);
        }
        self.drive();
        self.b.eval();
        self.look_on();
        self.b.cycle();
        for name in ["look", "take", "cfg_valid"] {
            self.b.set(name, 0);
        }
    }

    fn drive(&mut self) {
        if self.rng.chance(15) && self.done < self.ordered {
            self.done += 1;
            let (word, value) = self.writes.pop_front().unwrap();
            if word < 2 {
                self.memory[word as usize] = value;
            }
        }
        if self.rng.chance(5) && self.writes.len() < 20 {
            self.ordered += 1;
            self.writes.push_back((9, 0));
        }
        self.b.set("done_count", self.done & 0xFFFF);
        if let Some((qp, msn, ticket)) = self.offers.front() {
            let row = [("qp", *qp), ("msn", *msn), ("ticket", *ticket & 0xFFFF)];
            self.b.set_words("reached", Packed::of::<Reached>(&row).words());
        }
        self.b.set("reached_valid", u64::from(!self.offers.is_empty()));
        let idle = self.core == Core::Idle && !self.in_step;
        let (check, finish) = (idle && self.rng.chance(50), idle && self.rng.chance(50));
        self.b.set("check_ready", check.into());
        self.b.set("finish_ready", finish.into());
        self.b.set("check_done", u64::from(self.core == Core::Check(0)));
        self.b.set("finish_done", u64::from(self.core == Core::Finish(0)));
        self.b.set("ar_desc_ready", u64::from(self.read.is_none()));
        let data = self.read.is_some_and(|r| r.0 == 0);
        self.b.set("ar_valid", data.into());
        if let Some((_, addr)) = self.read.filter(|_| data) {
            self.b.set("ar_data", self.memory[((addr - ADDR) / 8) as usize]);
        }
        if self.offer.is_none() && !self.sent.is_empty() && self.rng.chance(20) {
            let at = self.rng.below(self.sent.len() as u64) as usize;
            self.offer = Some(self.sent.swap_remove(at));
        }
        if let Some((error, conn, qp, msn)) = self.offer {
            let row = [("error", error.into()), ("conn", conn), ("qp", qp), ("msn", msn)];
            self.b.set_words("retired", Packed::of::<RetiredResponse>(&row).words());
        }
        self.b.set("retired_valid", self.offer.is_some().into());
        let ready = self.rng.chance(60);
        self.b.set("response_ready", ready.into());
    }

    fn look_on(&mut self) {
        if !self.offers.is_empty() && self.b.get("reached_ready") == 1 {
            self.offers.pop_front();
        }
        match self.core {
            Core::Check(0) => self.core = Core::Idle,
            Core::Finish(0) => self.core = Core::Idle,
            Core::Check(n) if !self.in_step => self.core = Core::Check(n - 1),
            Core::Finish(n) if !self.in_step => self.finish_soon(n - 1),
            _ => {}
        }
        if self.b.get("check_valid") == 1 && self.b.get("check_ready") == 1 {
            let qp = self.b.get("check_qp");
            let row = Packed::from_words::<RequestRow>(&self.b.get_words("check_row"));
            let s = &self.streams[qp as usize];
            let failed = s.error;
            if !failed {
                let r = &s.accepted[&s.exp];
                assert_eq!((row.get("atomic"), row.get("va")), (r.atomic.into(), 8 * r.word), "the request at exp");
            }
            self.b.set("check_failed", failed.into());
            self.b.set("check_code", 0);
            self.b.set("check_addr", ADDR + row.get("va"));
            self.core = Core::Check(2 + self.rng.below(3));
        }
        if self.b.get("finish_valid") == 1 && self.b.get("finish_ready") == 1 {
            self.core = Core::Finish(2 + self.rng.below(3));
        }
        match &mut self.read {
            Some((0, _)) if self.b.get("ar_ready") == 1 => self.read = None,
            Some((left, _)) => *left = left.saturating_sub(1),
            None => {}
        }
        if self.b.get("ar_desc_valid") == 1 && self.b.get("ar_desc_ready") == 1 {
            self.read = Some((self.rng.below(20), self.b.get("ar_desc_addr")));
        }
        if self.offer.is_some() && self.b.get("retired_ready") == 1 {
            self.offer = None;
        }
        if self.b.get("response_valid") == 1 && self.b.get("response_ready") == 1 {
            self.respond();
        }
    }

    /// One clock before `finish_done`: exp passes the request.
    fn finish_soon(&mut self, left: u64) {
        self.core = Core::Finish(left);
        if left > 0 {
            return;
        }
        let done = Packed::from_words::<Executed>(&self.b.get_words("executed"));
        let (qp, msn) = (done.get("qp"), done.get("msn"));
        let s = &mut self.streams[qp as usize];
        assert_eq!((msn, done.get("code")), (s.exp, 0));
        let r = s.accepted.get_mut(&msn).expect("it was accepted and not answered with an error");
        assert!(!r.executed, "D5: executed twice");
        r.executed = true;
        if r.atomic {
            r.before = done.get("base");
            // one after the other, whatever the queue pairs
            assert_eq!(r.before, self.added[r.word as usize], "an addition was lost");
            self.added[r.word as usize] += 1;
            self.ordered += 1;
            self.writes.push_back((r.word, self.b.get("finish_data")));
        }
        self.b.set("finish_ticket", self.ordered & 0xFFFF);
        s.exp = (msn + 1) & 0xFF_FFFF;
        if s.accepted.contains_key(&s.exp) {
            self.offers.push_back((qp, s.exp, self.ordered));
        }
    }

    fn respond(&mut self) {
        let r = Packed::from_words::<ResponseOrder>(&self.b.get_words("response"));
        let (qp, msn, error) = (r.get("qp"), r.get("msn"), r.get("error") == 1);
        assert_eq!((r.get("conn"), r.get("peer_qpn")), (qp % CONNS, 100 + qp));
        let s = &mut self.streams[qp as usize];
        let request = s.accepted.get_mut(&msn).expect("a response to a request that waits");
        if error {
            assert!(s.error && r.get("code") == 6, "D7: only of a queue pair in Error");
            request.errors += 1;
            self.errors += 1;
        } else {
            assert!(request.executed);
            request.responses += 1;
            self.answered += 1;
        }
        assert!(request.errors <= 1 && request.responses <= 1);
        if error {
            s.accepted.remove(&msn);
        }
        for _ in 0..r.get("npkts") {
            self.sent.push((error, qp % CONNS, qp, msn));
        }
    }

    /// A request of the peer arrives, in or out of order.
    fn arrive(&mut self) {
        let qp = self.rng.below(QPS);
        let msn = (self.streams[qp as usize].exp + self.rng.below(3)) & 0xFF_FFFF;
        self.step(qp, msn);
    }

    fn step(&mut self, qp: u64, msn: u64) {
        if self.streams[qp as usize].error || self.streams[qp as usize].accepted.contains_key(&msn) {
            return;
        }
        self.in_step = true;
        for (name, value) in [("look", 1), ("step", 1), ("look_qp", qp), ("look_conn", qp % CONNS), ("look_msn", msn)] {
            self.b.set(name, value);
        }
        (0..5).for_each(|_| self.clock());
        self.b.eval();
        let exp = self.streams[qp as usize].exp == msn;
        let ok = self.b.get(if exp { "reached_ok" } else { "early_ok" }) == 1 && self.b.get("failed") == 0;
        if ok {
            let (atomic, word) = (self.rng.chance(60), self.rng.below(2));
            let length = if atomic { 8 } else { 2500 };
            let row =
                [("atomic", atomic.into()), ("add", 1), ("va", 8 * word), ("rkey", 0), ("length", length), ("operand", 1)];
            self.b.set_words("take_row", Packed::of::<RequestRow>(&row).words());
            self.b.set("take", 1);
            let s = &mut self.streams[qp as usize];
            s.accepted.insert(msn, Request { atomic, word, ..Request::default() });
            if exp {
                self.offers.push_back((qp, msn, self.ordered));
            }
            self.clock();
        }
        self.clock();
        self.b.set("step", 0);
        self.in_step = false;
        self.forget();
    }

    /// The requester has seen the acknowledged responses; those are of no concern any more.
    fn forget(&mut self) {
        for qp in 0..QPS {
            let under_way = |msn: &u64| self.sent.iter().chain(&self.offer).any(|s| !s.0 && s.2 == qp && s.3 == *msn);
            let s = &mut self.streams[qp as usize];
            s.accepted.retain(|msn, r| r.responses == 0 || under_way(msn));
        }
    }

    fn finish(&mut self) {
        self.fail_chance = 0;
        for _ in 0..20_000 {
            self.forget();
            if self.streams.iter().all(|s| s.accepted.is_empty()) && self.sent.is_empty() && self.offer.is_none() {
                break;
            }
            // those that came early wait for the ones before them
            let gap = (0..QPS).find(|qp| {
                let s = &self.streams[*qp as usize];
                s.accepted.values().any(|r| !r.executed) && !s.accepted.contains_key(&s.exp)
            });
            if let Some(qp) = gap {
                self.step(qp, self.streams[qp as usize].exp);
            }
            self.clock();
        }
        let left: Vec<_> = self.streams.iter().flat_map(|s| s.accepted.values()).collect();
        assert!(left.is_empty() && self.sent.is_empty(), "{left:?} were never answered");
        (0..100).for_each(|_| self.clock());
    }
}

/// D3, D5: out of order in, in order executed, every addition counts once.
#[test]
fn requests_are_executed_in_order_and_answered() {
    let mut w = World::new(seed(1));
    for _ in 0..4000 {
        w.arrive();
        let wait = w.rng.below(12);
        (0..wait).for_each(|_| w.clock());
    }
    w.finish();
    println!("{} answered, {:?} added", w.answered, w.added);
    assert!(w.answered > 500 && w.errors == 0);
    // every place is free again
    for qp in 0..QPS {
        w.b.set("look", 1);
        w.b.set("look_qp", qp);
        w.b.set("look_conn", qp % CONNS);
        (0..4).for_each(|_| w.clock());
        w.b.eval();
        assert_eq!((w.b.get("reached_ok"), w.b.get("early_ok")), (1, 1));
    }
}

/// D7: queue pairs fail and are closed with requests in every state: each is answered once, and nothing is executed afterwards.
#[test]
fn failing_and_closing_answer_everything() {
    let mut w = World::new(seed(2));
    for round in 0..2500 {
        w.fail_chance = 4;
        w.arrive();
        let wait = w.rng.below(20);
        (0..wait).for_each(|_| w.clock());
        if round % 8 == 7 {
            let failed = (0..QPS).find(|qp| w.streams[*qp as usize].error);
            let qp = failed.unwrap_or(w.rng.below(QPS));
            w.fail_chance = 0;
            w.open(qp);
        }
    }
    w.finish();
    println!("{} answered, {} errors", w.answered, w.errors);
    assert!(w.answered > 200 && w.errors > 100);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Responder::<64>::new(&config()), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_data, others_busy, look, look_conn, look_qp, look_msn, step, take, reached_valid,
        done_count, check_ready, check_done, check_code, check_addr, check_failed, finish_ready, finish_done, finish_ticket,
        ar_desc_ready, ar_valid, ar_data, retired_valid, retiring, flush_valid, flush_qp, response_ready
    })
    .input_as("take_row", |b| &mut b.take_row, rows::request_row)
    .input_as("reached", |b| &mut b.reached, rows::reached)
    .input_as("retired", |b| &mut b.retired, rows::retired_response)
    .top("responder")
    .cycles(2500)
    .seed(1)
    .reset_chance(0.0)
    .limit("cfg_table", 1..=3)
    .limit("cfg_index", 0..=1)
    .limit("look_conn", 0..=1)
    .limit("look_qp", 0..=3)
    .limit("look_msn", 0..=3)
    .limit("flush_qp", 0..=3)
    .limit("check_code", 0..=1)
    .stimulus(|random, cycle, inputs| {
        let (qp, msn) = (random.below(4), random.below(4));
        let row = Packed::of::<Reached>(&[("qp", qp), ("msn", msn), ("ticket", cycle & 0xFFFF)]);
        inputs.set("reached", row.words().to_vec());
        let row = Packed::of::<RetiredResponse>(&[("error", random.below(2)), ("conn", qp % 2), ("qp", qp), ("msn", msn)]);
        inputs.set("retired", row.words().to_vec());
        inputs.set("done_count", (cycle & 0xFFFF) as u32);
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] |= 1;
        data[9] = 0x0300_0000;
        inputs.set("cfg_data", data);
        for (name, chance) in [
            ("look", 0.1), ("take", 0.1), ("step", 0.3), ("reached_valid", 0.2), ("retired_valid", 0.1), ("retiring", 0.3), ("flush_valid", 0.01),
            ("others_busy", 0.2), ("check_failed", 0.1),
        ] {
            inputs.set(name, random.chance(chance));
        }
        if cycle > 60 && random.chance(0.98) {
            inputs.set("cfg_valid", 0u32);
        }
    })
    .run();
}
