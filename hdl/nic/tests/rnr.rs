//! rnr against lists of messages and packets (N1, N2): who waits, when a wait ends, what enters the rings again; simulation = Verilog.
mod tx_support;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::rnr::Rnr;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

const QPS: usize = 4;
const M: usize = 4;

fn small() -> BuildConfig {
    BuildConfig { conns: 2, qps: QPS, msgs_per_stream: M, conn_fifo: M, ..build("sim").unwrap() }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Rnr::new(&small()), clock: clock, inputs: {
        reset, fault, now, cfg_valid, cfg_table, cfg_index, cfg_word0, put_valid, put_qp, put_msn, put_npkts, put_length, out_sent,
        out_left, out_aside, out_returns, out_conn, out_qp, out_msn, out_index, ret_valid, ret_qp, withdraw_valid, withdraw_qp,
        withdraw_msn, withdraw_code, withdraw_began, over_ready, over_done, over_failed, over_head, again_ready, msg_ready,
        wait_addr, withdrawn_qp, withdrawn_msn
    })
    .top("rnr")
    .cycles(8000)
    .seed(1)
    .reset_chance(0.0005)
    .limit("cfg_index", 0..=3)
    .limit("put_qp", 0..=3)
    .limit("out_qp", 0..=3)
    .limit("out_conn", 0..=1)
    .limit("ret_qp", 0..=3)
    .limit("withdraw_qp", 0..=3)
    .limit("withdraw_code", 0..=2)
    .limit("wait_addr", 0..=3)
    .limit("withdrawn_qp", 0..=3)
    .stimulus(|random, cycle, inputs| {
        inputs.set("now", cycle);
        inputs.set("fault", if random.chance(0.5) { 18u32 } else { 0u32 });
        inputs.set("cfg_table", 3u32);
        inputs.set("cfg_word0", random.below(2) | random.below(2) << 16);
        inputs.set("cfg_valid", random.chance(0.005));
        // seldom enough that counts agree at times
        for event in ["put_valid", "out_sent", "out_left", "ret_valid"] {
            inputs.set(event, random.chance(0.02));
        }
        inputs.set("withdraw_valid", random.chance(0.05));
        inputs.set("over_done", random.chance(0.3));
    })
    .run();
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Message {
    msn: u64,
    npkts: u64,
    length: u64,
    index: u64,
    aside: bool,
    withdrawn: bool,
    attempt: u64,
    returns: bool,
}

#[derive(Clone, Debug, Default)]
struct Stream {
    head: u64,
    tail: u64,
    /// Without a completion: at MSN mod M.
    messages: [Message; M],
    /// MSN of each packet that is not retired.
    flying: Vec<u64>,
    in_ring: usize,
    waits_until: Option<u64>,
    failed: bool,
}

/// The segmenter, the sequencer and completion, as lists.
struct World {
    bench: Bench,
    rng: StdRng,
    now: u64,
    streams: Vec<Stream>,
    rings: Vec<VecDeque<(usize, u64)>>,
    /// (msn, index) that must enter, and the messages that count from 0.
    due: VecDeque<(usize, u64, u64)>,
    again: VecDeque<(usize, u64)>,
    answer: Option<(usize, u32)>,
    next_event: [u64; 3],
    ended: u32,
    clock: u64,
}

fn conn_of(qp: usize) -> usize {
    qp % 2
}

impl World {
    fn new(seed: u64) -> World {
        let mut bench = Bench::new(&Rnr::new(&small()), "rnr");
        bench.until("init_done", 100);
        let mut w = World {
            bench,
            rng: StdRng::seed_from_u64(seed),
            now: 0xFFFF_FF00,
            streams: (0..QPS)
                .map(|q| Stream { head: 0xFF_FFF0 + q as u64, tail: 0xFF_FFF0 + q as u64, ..Stream::default() })
                .collect(),
            rings: vec![VecDeque::new(); 2],
            due: VecDeque::new(),
            again: VecDeque::new(),
            answer: None,
            next_event: [0; 3],
            ended: 0,
            clock: 0,
        };
        for qp in 0..QPS {
            w.configure(qp, true);
        }
        w
    }

    fn configure(&mut self, qp: usize, valid: bool) {
        for (name, value) in [
            ("cfg_table", 3),
            ("cfg_index", qp as u64),
            ("cfg_word0", u64::from(valid) | (conn_of(qp) as u64) << 16),
            ("cfg_valid", 1),
        ] {
            self.bench.set(name, value);
        }
        self.bench.clock();
        self.bench.set("cfg_valid", 0);
        for _ in 0..200 {
            if !self.bench.high("cfg_busy") {
                return;
            }
            self.bench.clock();
        }
        panic!("cfg_busy never falls");
    }

    fn set(&mut self, name: &str, value: u64) {
        self.bench.set(name, value);
    }

    /// One clock of random traffic; `calm`: nothing new and no refusal.
    fn step(&mut self, calm: bool) {
        self.clock += 1;
        self.now = (self.now + u64::from(self.clock.is_multiple_of(4))) & 0xFFFF_FFFF;
        let now = self.now;
        self.set("now", now);
        for name in ["put_valid", "out_sent", "out_left", "out_aside", "ret_valid", "withdraw_valid", "over_done", "msg_ready"]
        {
            self.set(name, 0);
        }
        let hold = self.bench.high("hold");
        self.enters();
        if !calm && !hold && self.clock >= self.next_event[0] && self.rng.random_bool(0.3) {
            self.put();
        }
        if self.clock >= self.next_event[1] && self.rng.random_bool(0.5) {
            self.slot();
        }
        if self.clock >= self.next_event[2] && self.rng.random_bool(0.3) {
            self.retire();
        }
        if !calm && !hold && self.rng.random_bool(0.05) {
            self.withdraw();
        }
        self.requests();
        self.look();
        self.bench.clock();
    }

    /// A message of work_fetch.
    fn put(&mut self) {
        let qp = self.rng.random_range(0..QPS);
        let s = &mut self.streams[qp];
        if s.failed || (s.tail - s.head) as usize == M || self.rings[conn_of(qp)].len() >= M {
            return;
        }
        let (msn, npkts, length) = (s.tail, self.rng.random_range(1..5), self.rng.random_range(0..1 << 20));
        s.messages[msn as usize % M] = Message { msn, npkts, length, ..Message::default() };
        s.tail += 1;
        s.in_ring += 1;
        self.rings[conn_of(qp)].push_back((qp, msn));
        for (name, value) in [
            ("put_valid", 1),
            ("put_qp", qp as u64),
            ("put_msn", msn & 0xFF_FFFF),
            ("put_npkts", npkts),
            ("put_length", length),
        ] {
            self.set(name, value);
        }
        self.next_event[0] = self.clock + 3;
    }

    /// A transmit slot; it may see late that the queue pair waits.
    fn slot(&mut self) {
        let conn = self.rng.random_range(0..2);
        let Some(&(qp, msn)) = self.rings[conn].front() else { return };
        let late = self.rng.random_bool(0.1);
        let s = &mut self.streams[qp];
        let m = &mut s.messages[msn as usize % M];
        let aside = s.waits_until.is_some() && !late && !s.failed;
        let skip = s.failed && !late;
        let (index, returns) = (m.index, m.returns);
        let mut left = aside || skip;
        if aside {
            m.aside = true;
        } else if !skip {
            m.index += 1;
            s.flying.push(msn);
            left = m.index == m.npkts;
        }
        if left {
            s.in_ring -= 1;
            self.rings[conn].pop_front();
        }
        for (name, value) in [
            ("out_sent", u64::from(!aside && !skip)),
            ("out_left", left.into()),
            ("out_aside", aside.into()),
            ("out_returns", returns.into()),
            ("out_conn", conn as u64),
            ("out_qp", qp as u64),
            ("out_msn", msn & 0xFF_FFFF),
            ("out_index", index),
        ] {
            self.set(name, value);
        }
        self.next_event[1] = self.clock + 3;
    }

    /// completion counts a packet; the oldest message completes when all of its packets are.
    fn retire(&mut self) {
        let qp = self.rng.random_range(0..QPS);
        let s = &mut self.streams[qp];
        if s.flying.is_empty() {
            return;
        }
        let at = self.rng.random_range(0..s.flying.len());
        s.flying.swap_remove(at);
        self.complete(qp);
        self.set("ret_valid", 1);
        self.set("ret_qp", qp as u64);
        self.next_event[2] = self.clock + 2;
    }

    fn complete(&mut self, qp: usize) {
        let s = &mut self.streams[qp];
        while s.head != s.tail {
            let m = s.messages[s.head as usize % M];
            if m.withdrawn || m.index < m.npkts || s.flying.contains(&m.msn) {
                return;
            }
            s.head += 1;
        }
    }

    fn withdraw(&mut self) {
        let qp = self.rng.random_range(0..QPS);
        let code = self.rng.random_range(1..3);
        let s = &mut self.streams[qp];
        let Some(&msn) = s.flying.first() else { return };
        let m = &mut s.messages[msn as usize % M];
        if m.withdrawn || s.failed {
            return;
        }
        m.withdrawn = true;
        let began = s.waits_until.is_none();
        if began {
            s.waits_until = Some((self.now + [0, 78, 156][code as usize]) & 0xFFFF_FFFF);
        }
        for (name, value) in [
            ("withdraw_valid", 1),
            ("withdraw_qp", qp as u64),
            ("withdraw_msn", msn & 0xFF_FFFF),
            ("withdraw_code", code),
            ("withdraw_began", began.into()),
        ] {
            self.set(name, value);
        }
    }

    /// N2: a request to end a wait is answered some clocks later.
    fn requests(&mut self) {
        let ready = self.rng.random_bool(0.5);
        self.set("over_ready", ready.into());
        if let Some((qp, clocks)) = self.answer {
            self.answer = Some((qp, clocks.saturating_sub(1)));
            if clocks == 0 {
                self.answer = None;
                let (failed, head) = (self.streams[qp].failed, self.streams[qp].head);
                self.set("over_done", 1);
                self.set("over_failed", failed.into());
                self.set("over_head", head & 0xFF_FFFF);
                if !failed {
                    self.end(qp);
                }
                self.streams[qp].waits_until = None;
            }
        } else if ready && self.bench.high("over_valid") {
            let qp = self.bench.get("over_qp") as usize;
            let s = &self.streams[qp];
            assert!(self.bench.high("hold"));
            assert!(s.flying.is_empty() && s.in_ring == 0, "clock {}: QP {qp} is busy: {s:?}", self.clock);
            let passed = s.waits_until.is_some_and(|until| self.now.wrapping_sub(until) & 0xFFFF_FFFF < 1 << 31);
            assert!(passed, "clock {}: the time of QP {qp} has not passed: {s:?}", self.clock);
            let clocks = self.rng.random_range(0..4);
            self.answer = Some((qp, clocks));
        }
        let ready = self.rng.random_bool(0.5);
        self.set("again_ready", ready.into());
        if ready && self.bench.high("again_valid") {
            let got = (self.bench.get("again_qp") as usize, self.bench.get("again_msn"));
            let want = self.again.pop_front().expect("a message begins again");
            assert_eq!(got, (want.0, want.1 & 0xFF_FFFF));
            let m = &mut self.streams[want.0].messages[want.1 as usize % M];
            m.attempt ^= 1;
            let attempt = m.attempt;
            assert!(self.bench.high("attempt_write"));
            assert_eq!(self.bench.get("attempt_addr"), (want.0 * M) as u64 + want.1 % M as u64);
            assert_eq!(self.bench.get("attempt_value"), attempt, "N2: each attempt has the other bit");
        } else {
            assert!(!self.bench.high("attempt_write"));
        }
    }

    /// Everything with packets to send is to enter, in the order of the stream.
    fn end(&mut self, qp: usize) {
        self.ended += 1;
        let s = &mut self.streams[qp];
        for msn in s.head..s.tail {
            let m = &mut s.messages[msn as usize % M];
            if m.withdrawn {
                self.again.push_back((qp, msn));
                m.index = 0;
            }
            if m.withdrawn || m.aside {
                self.due.push_back((qp, msn, m.index));
            }
            (m.withdrawn, m.aside) = (false, false);
        }
    }

    fn enters(&mut self) {
        if self.clock < self.next_event[0] || !self.rng.random_bool(0.5) {
            return;
        }
        self.set("msg_ready", 1);
        if !self.bench.high("msg_valid") {
            return;
        }
        let (qp, msn, index) = self.due.pop_front().expect("nothing is to enter");
        let s = &mut self.streams[qp];
        let m = &mut s.messages[msn as usize % M];
        (m.returns, s.in_ring) = (true, s.in_ring + 1);
        let want = [conn_of(qp) as u64, qp as u64, msn & 0xFF_FFFF, m.npkts, m.length, index];
        let got = ["msg_conn", "msg_qp", "msg_msn", "msg_npkts", "msg_length", "msg_index"].map(|name| self.bench.get(name));
        assert_eq!(got, want, "clock {}", self.clock);
        self.rings[conn_of(qp)].push_back((qp, msn));
        let returned =
            self.rings[conn_of(qp)].iter().filter(|(q, n)| self.streams[*q].messages[*n as usize % M].returns).count();
        assert!(returned <= M, "as many as the ring has room for");
        self.next_event[0] = self.clock + 3;
    }

    /// The marks that the sequencer reads: never one that is not there, and at last all of them.
    fn look(&mut self) {
        let qp = self.rng.random_range(0..QPS);
        let n = self.rng.random_range(0..M);
        self.set("wait_addr", qp as u64);
        self.set("withdrawn_qp", qp as u64);
        self.set("withdrawn_msn", n as u64);
    }

    fn marks_agree(&mut self) {
        for qp in 0..QPS {
            for n in 0..M {
                self.set("wait_addr", qp as u64);
                self.set("withdrawn_qp", qp as u64);
                self.set("withdrawn_msn", n as u64);
                for name in
                    ["put_valid", "out_sent", "out_left", "out_aside", "ret_valid", "withdraw_valid", "over_done", "msg_ready"]
                {
                    self.set(name, 0);
                }
                self.set("over_ready", 0);
                self.set("again_ready", 0);
                self.bench.clock();
                let s = &self.streams[qp];
                let want = (s.waits_until.is_some(), s.messages[n].withdrawn);
                assert_eq!((self.bench.high("wait_data"), self.bench.high("withdrawn_data")), want, "QP {qp} message {n}");
            }
        }
    }
}

/// N1, N2: waits end when they may and not before; what enters again is all that has packets to send, from the right packet, in order.
#[test]
fn n2_waits_end_when_nothing_is_outstanding_and_all_goes_out_again() {
    for seed in 0..4 {
        let mut w = World::new(seed);
        for round in 0..12 {
            for _ in 0..1500 {
                w.step(false);
            }
            if w.answer.is_none() && w.due.is_empty() && w.again.is_empty() && !w.bench.high("hold") {
                w.marks_agree();
            }
            let mut quiet = 0;
            while quiet < 40 {
                w.step(true);
                let idle = w
                    .streams
                    .iter()
                    .all(|s| s.waits_until.is_none() && s.flying.is_empty() && s.in_ring == 0 && s.head == s.tail);
                quiet = if idle && w.due.is_empty() && !w.bench.high("hold") { quiet + 1 } else { 0 };
                assert!(w.clock < 200_000, "seed {seed}, round {round}: it never ends: {:?}", w.streams);
            }
            w.marks_agree();
        }
        assert!(w.ended > 30, "{} waits", w.ended);
    }
}

/// A queue pair in Error does not begin again; one that is closed and opened has no mark of its earlier life.
#[test]
fn n2_what_failed_or_was_closed_stays() {
    let mut w = World::new(9);
    let mut failures = 0;
    for _ in 0..40 {
        let mut begun = 0;
        while begun < 400 {
            w.step(false);
            begun += usize::from(w.streams[0].waits_until.is_some());
            assert!(w.clock < 400_000);
        }
        if w.streams[0].waits_until.is_some() && w.answer.is_none() && w.due.is_empty() && w.again.is_empty() {
            w.streams[0].failed = true;
            failures += 1;
            while w.streams[0].in_ring > 0 || !w.streams[0].flying.is_empty() || w.streams[0].waits_until.is_some() {
                w.step(true);
                assert!(w.clock < 400_000, "{:?}", w.streams[0]);
            }
            // the table is written when nobody waits for an answer
            while w.streams.iter().any(|s| s.waits_until.is_some()) || !w.due.is_empty() || w.bench.high("hold") {
                w.step(true);
            }
            for name in
                ["put_valid", "out_sent", "out_left", "out_aside", "ret_valid", "withdraw_valid", "over_done", "msg_ready"]
            {
                w.set(name, 0);
            }
            w.configure(0, false);
            w.configure(0, true);
            let at = w.streams[0].tail;
            w.streams[0] = Stream { head: at, tail: at, ..Stream::default() };
            w.marks_agree();
        }
    }
    assert!(failures > 5, "{failures}");
}
