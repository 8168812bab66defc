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
        others_busy, drain_valid, drain_qp, wait_addr, withdrawn_qp, withdrawn_msn
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
    .limit("drain_qp", 0..=3)
    .limit("wait_addr", 0..=3)
    .limit("withdrawn_qp", 0..=3)
    .stimulus(|random, cycle, inputs| {
        inputs.set("now", cycle);
        inputs.set("fault", if random.chance(0.5) { 18u32 } else { 0u32 });
        inputs.set("cfg_table", random.pick(&[1u32, 3, 3, 3]).to_owned());
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
        self.write(3, qp, u64::from(valid) | (conn_of(qp) as u64) << 16);
        self.bench.clock();
        self.applied();
    }

    /// Software writes a row in this clock.
    fn write(&mut self, table: u64, index: usize, word0: u64) {
        for (name, value) in [("cfg_table", table), ("cfg_index", index as u64), ("cfg_word0", word0), ("cfg_valid", 1)] {
            self.bench.set(name, value);
        }
    }

    fn applied(&mut self) {
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
                let want = [s.waits_until.is_some(), s.messages[n].withdrawn, s.messages[n].attempt == 1];
                let got = ["wait_data", "withdrawn_data", "attempt_data"].map(|name| self.bench.high(name));
                // of a message of an earlier life, or of none, the attempt does not matter
                let known = s.head <= s.messages[n].msn && s.messages[n].msn < s.tail;
                assert_eq!(got[..2], want[..2], "QP {qp} message {n}");
                assert!(!known || got[2] == want[2], "N2: each attempt has the other bit: QP {qp} message {n}");
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
    let (mut failures, mut others) = (0, 0);
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
            // the others go on to wait and to begin again meanwhile
            for valid in [0, 1] {
                w.write(3, 0, valid);
                w.step(false);
                w.set("cfg_valid", 0);
                while w.bench.high("cfg_busy") {
                    others += usize::from(w.streams[1..].iter().any(|s| s.waits_until.is_some()));
                    w.step(false);
                    assert!(w.clock < 400_000, "cfg_busy never falls");
                }
            }
            let at = w.streams[0].tail;
            w.streams[0] = Stream { head: at, tail: at, ..Stream::default() };
            while w.answer.is_some() || !w.due.is_empty() || !w.again.is_empty() || w.bench.high("hold") {
                w.step(true);
            }
            w.marks_agree();
        }
    }
    assert!(failures > 5 && others > 100, "{failures} failures, others waited in {others} clocks of cfg_busy");
}

/// rnr alone, event by event; nothing happens but what a test does.
struct Events {
    bench: Bench,
}

impl Events {
    /// QPs 0 to 3 are open, the even ones on connection 0.
    fn new() -> Events {
        Events { bench: World::new(0).bench }
    }

    fn event(&mut self, valid: &str, values: &[(&str, u64)]) {
        for (name, value) in values {
            self.bench.set(name, *value);
        }
        self.bench.set(valid, 1);
        self.bench.clock();
        for name in [valid, "out_left"] {
            self.bench.set(name, 0);
        }
        (0..3).for_each(|_| self.bench.clock());
    }

    /// A message of so many packets enters the ring of its connection, and all of them are sent.
    fn send(&mut self, qp: u64, msn: u64, packets: u64) {
        self.event("put_valid", &[("put_qp", qp), ("put_msn", msn), ("put_npkts", packets), ("put_length", 9)]);
        for n in 0..packets {
            let left = u64::from(n + 1 == packets);
            self.event("out_sent", &[("out_left", left), ("out_qp", qp), ("out_msn", msn), ("out_conn", qp % 2)]);
        }
    }

    fn retire(&mut self, qp: u64, packets: usize) {
        (0..packets).for_each(|_| self.event("ret_valid", &[("ret_qp", qp)]));
    }

    fn refuse(&mut self, qp: u64, msn: u64, code: u64) {
        let names = [("withdraw_qp", qp), ("withdraw_msn", msn), ("withdraw_code", code), ("withdraw_began", 1)];
        self.event("withdraw_valid", &names);
    }

    fn write(&mut self, table: u64, index: u64, word0: u64) {
        let row = [("cfg_table", table), ("cfg_index", index), ("cfg_word0", word0)];
        self.event("cfg_valid", &row);
        (0..100).for_each(|_| self.bench.clock());
        assert!(!self.bench.high("cfg_busy"));
    }

    /// Whether the queue pair's marks say that it waits, or that message 0 is withdrawn.
    fn marks(&mut self, qp: u64) -> (bool, bool) {
        for (name, value) in [("wait_addr", qp), ("withdrawn_qp", qp), ("withdrawn_msn", 0)] {
            self.bench.set(name, value);
        }
        self.bench.clock();
        (self.bench.high("wait_data"), self.bench.high("withdrawn_data"))
    }

    /// Whether a wait is about to end.
    fn ends(&mut self) -> bool {
        (0..60).for_each(|_| self.bench.clock());
        self.bench.high("over_valid")
    }

    fn drained(&mut self, qp: u64) -> bool {
        self.bench.set("drain_qp", qp);
        self.bench.set("drain_valid", 1);
        let told = (0..60).any(|_| {
            let told = self.bench.high("drained_valid") && self.bench.get("drained_qp") == qp;
            self.bench.clock();
            told
        });
        self.bench.set("drain_valid", 0);
        told
    }
}

/// Section 10: a refusal that completion was still about to report when its queue pair was closed leaves no mark.
#[test]
fn n1_an_error_that_waited_while_its_queue_pair_was_closed_leaves_no_mark() {
    let mut e = Events::new();
    e.send(0, 0, 2);
    e.bench.set("others_busy", 1);
    e.event("cfg_valid", &[("cfg_table", 3), ("cfg_index", 0), ("cfg_word0", 0)]);
    (0..100).for_each(|_| e.bench.clock());
    assert!(e.bench.high("cfg_busy"), "completion may yet have an error of the earlier life");
    e.refuse(0, 0, 9);
    assert_eq!(e.marks(0), (true, true));
    e.bench.set("others_busy", 0);
    (0..100).for_each(|_| e.bench.clock());
    assert!(!e.bench.high("cfg_busy"));
    assert_eq!(e.marks(0), (false, false));
}

/// N2: packets of an earlier life, which are retired late, belong to everything that the queue pair has sent.
#[test]
fn n2_a_wait_ends_after_the_packets_of_an_earlier_life_too() {
    let mut e = Events::new();
    e.send(0, 5, 3);
    e.retire(0, 1);
    e.write(3, 0, 0);
    e.write(3, 0, 1);
    e.send(0, 0, 1);
    e.refuse(0, 0, 1);
    e.bench.set("now", 0x1000);
    e.retire(0, 1);
    assert!(!e.ends(), "one of each life is outstanding");
    e.retire(0, 1);
    assert!(!e.ends());
    e.retire(0, 1);
    assert!(e.ends(), "nothing is outstanding");
}

/// Section 10: drained is what has nothing in a ring and nothing outstanding; a connection that begins anew or is closed loses what was outstanding.
#[test]
fn drained_is_what_has_nothing_in_a_ring_or_outstanding() {
    let mut e = Events::new();
    for qp in 0..4 {
        assert!(e.drained(qp));
        e.event("put_valid", &[("put_qp", qp), ("put_msn", 9), ("put_npkts", 1), ("put_length", 9)]);
        assert!(!e.drained(qp), "a message is in its ring");
        e.event("out_left", &[("out_qp", qp), ("out_msn", 9), ("out_conn", qp % 2)]);
        assert!(e.drained(qp), "it was skipped");
        e.send(qp, 10, 2);
        e.retire(qp, 1);
        assert!(!e.drained(qp));
    }
    e.retire(1, 1);
    assert!(e.drained(1) && !e.drained(3));
    e.write(3, 2, 0);
    assert!(!e.drained(2), "a queue pair that is closed still has packets on its connection");
    e.write(1, 0, 0);
    assert_eq!([0, 1, 2, 3].map(|qp| e.drained(qp)), [true, true, true, false], "connection 1 is another one");
    e.send(0, 11, 1);
    assert!(!e.drained(0));
    e.retire(0, 1);
    assert!(e.drained(0));
}

/// While one queue pair is asked for that is never drained, the waits of others end.
#[test]
fn a_question_without_an_answer_holds_up_nobody() {
    let mut e = Events::new();
    e.send(1, 0, 1);
    e.bench.set("drain_qp", 1);
    e.bench.set("drain_valid", 1);
    e.send(0, 0, 1);
    e.refuse(0, 0, 1);
    e.retire(0, 1);
    e.bench.set("now", 0x1000);
    assert!(e.ends());
}

/// N2: each code is a time of its own: milliseconds as the InfiniBand specification lists them.
#[test]
fn n2_all_32_times() {
    const TIMES_MS: [f64; 32] = [
        655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92, 2.56, 3.84, 5.12,
        7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52,
    ];
    for (code, ms) in TIMES_MS.iter().enumerate() {
        // in ticks of 128 ns, of which only whole ones are counted
        let ticks = (ms * 1e6 / 128.0 + 1e-6) as u64;
        // bit 5, busy (D3), is no part of the time
        for code in [code as u64, code as u64 | 0x20] {
            let mut e = Events::new();
            let begin = 0xFFFF_FF80;
            e.bench.set("now", begin);
            e.send(0, 0, 1);
            e.refuse(0, 0, code);
            e.retire(0, 1);
            e.bench.set("now", (begin + ticks - 1) & 0xFFFF_FFFF);
            assert!(!e.ends(), "code {code} ends a tick early");
            e.bench.set("now", (begin + ticks) & 0xFFFF_FFFF);
            assert!(e.ends(), "code {code} lasts {ms} ms");
        }
    }
}
