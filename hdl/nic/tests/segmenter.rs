//! segmenter: simulation = Verilog; every message and response in order and in turns, no wake lost, prompt offers.
mod block_support;
mod rx_support;
mod tx_support;
use block_support::maker;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::segment_lane::{SegmentItem, SegmentLane};
use mrnic_nic::tx::segmenter::Segmenter;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

fn small() -> BuildConfig {
    BuildConfig { conns: 4, conn_fifo: 4, ..build("sim").unwrap() }
}

/// With responses.
fn both() -> BuildConfig {
    BuildConfig { sends: true, reads: true, responses: 2, ..small() }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Segmenter::new(&both()), clock: clock, inputs: {
        reset, msg_valid, msg_conn, msg_qp, msg_msn, msg_npkts, msg_length, msg_index, msg_returns, rsp_valid, rsp_conn, rsp_error,
        rsp_code, rsp_qp, rsp_msn, rsp_npkts, rsp_length, rsp_peer_qpn, wake_a_valid, wake_a_conn, wake_b_valid, wake_b_conn,
        done_valid, done_advance, done_skip, done_aside, done_requeue, done_respond, rel_conn_ready
    })
    .top("segmenter")
    .cycles(6000)
    .seed(1)
    .reset_chance(0.0005)
    .limit("msg_conn", 0..=3)
    .limit("wake_a_conn", 0..=3)
    .limit("wake_b_conn", 0..=3)
    .limit("msg_npkts", 1..=3)
    .limit("msg_index", 0..=2)
    .limit("rsp_conn", 0..=3)
    .limit("rsp_npkts", 1..=3)
    .source("msg_valid", "msg_ready", &["msg_conn", "msg_qp", "msg_msn", "msg_npkts", "msg_length", "msg_index", "msg_returns"])
    .source("rsp_valid", "rsp_ready", &["rsp_conn", "rsp_error", "rsp_code", "rsp_qp", "rsp_msn", "rsp_npkts", "rsp_length", "rsp_peer_qpn"])
    .sink("rel_conn_ready")
    .stimulus(|random, cycle, inputs| {
        let quiet = cycle / 300 % 2 == 0;
        for wake in ["wake_a_valid", "wake_b_valid"] {
            if quiet && random.chance(0.9) {
                inputs.set(wake, 0u32);
            }
        }
        if random.chance(0.5) {
            inputs.set("done_valid", 0u32);
        }
    })
    .run();
}

maker!(item: SegmentItem { qp, msn, npkts, length, start, special });

/// One lane alone, answered without sense.
#[test]
fn lane_simulation_equals_verilog() {
    for (responses, seed) in [(false, 2), (true, 3)] {
        let report = difftest!(SegmentLane::new(&both(), 4, responses, true), clock: clock, inputs: {
            reset, enable, put_valid, put_conn, ran, fetch_conn, fetch_read, fetch_row, fetch_address, fetch_entry, held, taking,
            advance, drops, stays, turn_over
        })
        .input_as("put_item", |b| &mut b.put_item, item)
        .top("segment_lane")
        .cycles(3000)
        .seed(seed)
        .reset_chance(0.0005)
        .limit("put_conn", 0..=3)
        .limit("fetch_conn", 0..=3)
        .stimulus(|random, _, inputs| {
            for name in ["fetch_read", "turn_over", "taking"] {
                inputs.set(name, random.chance(0.2));
            }
            inputs.set("held", random.chance(0.8));
        })
        .run();
        assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Msg {
    qp: u64,
    msn: u64,
    npkts: u64,
    length: u64,
    /// First packet to send.
    start: u64,
    /// It came back: it takes none of work_fetch's places.
    returns: bool,
    /// Of the offer: 0 a message, 1 a response, 2 ERROR_RESP.
    kind: u64,
}

/// The sequencer's side, with a list of messages per connection as reference.
struct World {
    bench: Bench,
    rng: StdRng,
    /// Messages accepted and not yet left, with the next packet of the first.
    conns: Vec<(VecDeque<Msg>, u64)>,
    /// The same of responses, and whether a response is next if both wait.
    responses: Vec<(VecDeque<Msg>, u64)>,
    turn: Vec<bool>,
    /// Responses that a connection may hold.
    most_responses: usize,
    /// Offers made while both waited.
    contested: u64,
    /// A wake, message or requeue since the last offer made after it.
    owed: Vec<bool>,
    /// Room as work_fetch counts it.
    room: Vec<usize>,
    /// Room for messages that come back.
    back: Vec<usize>,
    clock: u64,
}

impl World {
    fn new(config: &BuildConfig, seed: u64) -> World {
        let mut bench = Bench::new(&Segmenter::new(config), "segmenter");
        bench.until("init_done", 100);
        World {
            bench,
            rng: StdRng::seed_from_u64(seed),
            conns: vec![(VecDeque::new(), 0); config.conns],
            responses: vec![(VecDeque::new(), 0); config.conns],
            turn: vec![false; config.conns],
            most_responses: if config.reads { 2 * config.responses } else { 0 },
            contested: 0,
            owed: vec![false; config.conns],
            room: vec![config.conn_fifo; config.conns],
            back: vec![config.conn_fifo; config.conns],
            clock: 0,
        }
    }

    fn idle_inputs(&mut self) {
        for name in [
            "msg_valid",
            "rsp_valid",
            "wake_a_valid",
            "wake_b_valid",
            "done_valid",
            "done_advance",
            "done_skip",
            "done_aside",
            "done_requeue",
            "done_respond",
        ] {
            self.bench.set(name, 0);
        }
    }

    /// Puts a message in if the block takes one in this clock.
    fn message(&mut self, conn: usize, npkts: u64) -> bool {
        self.some_message(conn, npkts, false)
    }

    /// The same; with `returns` one that comes back in the middle of it, or from its start.
    fn some_message(&mut self, conn: usize, npkts: u64, returns: bool) -> bool {
        let room = if returns { self.back[conn] } else { self.room[conn] };
        if room == 0 || !self.bench.high("msg_ready") {
            return false;
        }
        let m = Msg {
            qp: self.rng.random_range(0..1 << 16),
            msn: self.rng.random_range(0..1 << 24),
            npkts,
            length: self.rng.random_range(0..1 << 32),
            start: if returns { self.rng.random_range(0..npkts) } else { 0 },
            returns,
            kind: 0,
        };
        for (name, value) in [
            ("msg_valid", 1),
            ("msg_conn", conn as u64),
            ("msg_qp", m.qp),
            ("msg_msn", m.msn),
            ("msg_npkts", m.npkts),
            ("msg_length", m.length),
            ("msg_index", m.start),
            ("msg_returns", m.returns.into()),
        ] {
            self.bench.set(name, value);
        }
        match returns {
            true => self.back[conn] -= 1,
            false => self.room[conn] -= 1,
        }
        if self.conns[conn].0.is_empty() {
            self.conns[conn].1 = m.start;
        }
        self.conns[conn].0.push_back(m);
        self.owed[conn] = true;
        true
    }

    /// Puts a response in if the block takes one in this clock: of `npkts`, or an ERROR_RESP (0).
    fn response(&mut self, conn: usize, npkts: u64) -> bool {
        if self.responses[conn].0.len() == self.most_responses || !self.bench.high("rsp_ready") {
            return false;
        }
        let error = npkts == 0;
        let [qp, code, msn] = [16, 8, 24].map(|bits| self.rng.random_range(0..1u64 << bits));
        let [length, peer_qpn] = [32, 24].map(|bits| self.rng.random_range(0..1u64 << bits));
        for (name, value) in [
            ("rsp_valid", 1),
            ("rsp_conn", conn as u64),
            ("rsp_error", error.into()),
            ("rsp_code", code),
            ("rsp_qp", qp),
            ("rsp_msn", msn),
            ("rsp_npkts", npkts),
            ("rsp_length", length),
            ("rsp_peer_qpn", peer_qpn),
        ] {
            self.bench.set(name, value);
        }
        let offered = match error {
            true => Msg { qp: code, msn, npkts: 1, length: 0, start: peer_qpn, returns: false, kind: 2 },
            false => Msg { qp, msn, npkts, length, start: 0, returns: false, kind: 1 },
        };
        if self.responses[conn].0.is_empty() {
            self.responses[conn].1 = offered.start;
        }
        self.responses[conn].0.push_back(offered);
        self.owed[conn] = true;
        true
    }

    fn wake(&mut self, port: &str, conn: usize) {
        self.bench.set(&format!("wake_{port}_valid"), 1);
        self.bench.set(&format!("wake_{port}_conn"), conn as u64);
        self.owed[conn] = true;
    }

    /// Checks the offer against the reference; true if there is one.
    fn check_offer(&mut self) -> Option<usize> {
        if !self.bench.high("next_valid") {
            return None;
        }
        let conn = self.bench.get("next_conn") as usize;
        let b = &mut self.bench;
        let got = ["next_qp", "next_msn", "next_npkts", "next_length"].map(|name| b.get(name));
        let (has, index, more) = (b.high("next_has_msg"), b.get("next_index"), b.high("next_more"));
        let (kind, contested) = (b.get("next_kind"), b.high("next_both"));
        let waiting = self.conns[conn].0.len() + self.responses[conn].0.len();
        let (queue, sent) = if kind == 0 { &self.conns[conn] } else { &self.responses[conn] };
        if has {
            let oldest = queue.front().map(|m| ([m.qp, m.msn, m.npkts, m.length], m.kind));
            assert_eq!(Some((got, kind)), oldest, "clock {}: the oldest message or response of {conn}", self.clock);
            assert_eq!(index, *sent, "clock {}: progress of {conn}", self.clock);
            if more {
                assert!(waiting > 1);
            }
        }
        if contested {
            // D4
            assert!(has && !self.conns[conn].0.is_empty() && !self.responses[conn].0.is_empty());
            assert_eq!(kind != 0, self.turn[conn], "clock {}: whose turn it is in {conn}", self.clock);
        }
        Some(conn)
    }

    fn done(&mut self, conn: usize, advance: bool, skip: bool, requeue: bool) {
        self.leave(conn, advance, (skip, false), requeue);
    }

    /// `leaves`: it is skipped, it is set aside.
    fn leave(&mut self, conn: usize, advance: bool, (skip, aside): (bool, bool), requeue: bool) {
        let has = self.bench.high("next_has_msg");
        self.bench.set("done_valid", 1);
        self.bench.set("done_advance", (advance && has).into());
        // no response is set aside
        let responds = self.bench.get("next_kind") != 0;
        self.bench.set("done_skip", ((skip || aside && responds) && has).into());
        self.bench.set("done_aside", (aside && !responds && has).into());
        self.bench.set("done_requeue", requeue.into());
        let kind = self.bench.get("next_kind");
        self.contested += u64::from(self.bench.high("next_both"));
        let out = ["out_sent", "out_left", "out_aside"].map(|name| self.bench.high(name));
        if !has {
            assert_eq!(out, [false; 3], "nothing becomes of no message");
        }
        if has && advance {
            self.turn[conn] = kind == 0;
        }
        if has && kind != 0 {
            assert_eq!(out, [false; 3], "rnr knows no responses");
            let (queue, sent) = &mut self.responses[conn];
            *sent += u64::from(advance);
            if skip || aside || kind == 2 && advance || kind == 1 && *sent == queue[0].npkts {
                queue.pop_front();
                *sent = queue.front().map_or(0, |m| m.start);
            }
        } else if has {
            let (queue, sent) = &mut self.conns[conn];
            *sent += u64::from(advance);
            let leaves = skip || aside || *sent == queue[0].npkts;
            assert_eq!(out, [advance, leaves, aside], "clock {}: what became of the message of {conn}", self.clock);
            if leaves {
                let returns = queue.pop_front().is_some_and(|m| m.returns);
                assert_eq!(self.bench.high("out_returns"), returns);
                self.back[conn] += usize::from(returns);
                *sent = queue.front().map_or(0, |m| m.start);
            }
        }
    }

    fn clock(&mut self) {
        let ready = self.rng.random_bool(0.7);
        self.bench.set("rel_conn_ready", ready.into());
        if ready && self.bench.high("rel_conn_valid") {
            let conn = self.bench.get("rel_conn") as usize;
            self.room[conn] += 1;
        }
        self.bench.clock();
        self.clock += 1;
        self.idle_inputs();
    }
}

/// Messages, wakes on both ports and random verdicts: nothing is lost, nothing reordered.
#[test]
fn messages_in_order_and_no_wake_lost() {
    all_in_order(&small(), 0..6);
}

/// D4: the same with responses, in turns with the messages.
#[test]
fn messages_and_responses_in_turns() {
    all_in_order(&both(), 10..14);
}

fn all_in_order(config: &BuildConfig, seeds: std::ops::Range<u64>) {
    for seed in seeds {
        let mut w = World::new(config, seed);
        let wake_chance = [0.02, 0.2, 1.0][seed as usize % 3];
        let storm = |clock: u64| clock % 2000 < 500;
        let mut last_event = [0u64; 4];
        let mut held_since: Option<(usize, u64)> = None;
        let mut pending_done: u64 = 0;
        let mut offers = 0;
        for _ in 0..20_000 {
            if w.rng.random_bool(0.15) {
                let conn = w.rng.random_range(0..4);
                let npkts = w.rng.random_range(1..4);
                let returns = w.rng.random_bool(0.3);
                if w.some_message(conn, npkts, returns) {
                    last_event[conn] = w.clock;
                }
            }
            if config.reads && w.rng.random_bool(0.2) {
                let conn = w.rng.random_range(0..4);
                let npkts = w.rng.random_range(0..4);
                if w.response(conn, npkts) {
                    last_event[conn] = w.clock;
                }
            }
            for port in ["a", "b"] {
                if storm(w.clock) && w.rng.random_bool(wake_chance) {
                    let conn = w.rng.random_range(0..4);
                    w.wake(port, conn);
                    last_event[conn] = w.clock;
                }
            }
            match w.check_offer() {
                Some(conn) => {
                    // an offer that lasts is one that was made at its first clock
                    if held_since.is_none() {
                        held_since = Some((conn, w.clock));
                        pending_done = w.clock + w.rng.random_range(0..8);
                    }
                    let (held, since) = held_since.unwrap();
                    assert_eq!(held, conn, "an offer stays until it is answered");
                    if w.clock >= pending_done {
                        let (advance, leaves) = match w.rng.random_range(0..10) {
                            0 => (false, (true, false)),
                            1 => (false, (false, true)),
                            2 | 3 => (false, (false, false)),
                            _ => (true, (false, false)),
                        };
                        let requeue = w.rng.random_bool(0.5);
                        w.leave(conn, advance, leaves, requeue);
                        // settled only if nothing happened after the offer was made
                        w.owed[conn] = requeue || last_event[conn] >= since;
                        if requeue {
                            last_event[conn] = w.clock;
                        }
                        held_since = None;
                        offers += 1;
                    }
                }
                None => held_since = None,
            }
            w.clock();
        }
        assert!(offers > 500, "{offers}");
        assert_eq!(w.contested > 100, config.reads, "{} offers while both waited", w.contested);
        // now only answer: everything owed is offered, and every message can be drained
        let mut quiet = 0;
        for _ in 0..4000 {
            if let Some(conn) = w.check_offer() {
                w.owed[conn] = false;
                let left = w.conns[conn].0.len() + w.responses[conn].0.len();
                let of_head = |m: &(VecDeque<Msg>, u64)| m.0.front().is_some_and(|h| h.kind < 2 && m.1 + 1 < h.npkts);
                let requeue = left > 1 || of_head(&w.conns[conn]) || of_head(&w.responses[conn]);
                w.done(conn, true, false, requeue);
                quiet = 0;
            } else {
                quiet += 1;
            }
            w.clock();
        }
        assert!(quiet > 50, "offers without end");
        assert_eq!(w.owed, vec![false; 4], "seed {seed}: a wake, message or requeue was lost");
        for c in 0..4 {
            if !w.conns[c].0.is_empty() || !w.responses[c].0.is_empty() {
                // parked by the random answers: a wake brings it back
                w.wake("a", c);
                w.clock();
            }
        }
        for _ in 0..4000 {
            if let Some(conn) = w.check_offer() {
                w.done(conn, true, false, true);
            }
            w.clock();
        }
        assert!(w.conns.iter().all(|c| c.0.is_empty()), "messages left behind: {:?}", w.conns);
        assert!(w.responses.iter().all(|c| c.0.is_empty()), "responses left behind: {:?}", w.responses);
        assert_eq!(w.room, vec![config.conn_fifo; 4], "every message that left was reported");
        assert_eq!(w.back, vec![config.conn_fifo; 4], "every message that came back left again, and without rel_conn");
    }
}

/// A single busy connection is offered again in the clock after done, even across messages; of two, none gets
/// more than two slots in a row (the next one is being fetched during the second).
#[test]
fn the_next_offer_is_prompt() {
    let config = small();
    for conns in [1usize, 2] {
        let mut w = World::new(&config, 11);
        for c in 0..conns {
            for _ in 0..4 {
                while !w.message(c, 2) {
                    w.clock();
                }
                w.clock();
            }
        }
        let mut order = vec![];
        let mut worst = 0;
        while order.len() < 8 * conns {
            for _ in 0..5 {
                w.clock(); // the sequencer works on the slot
            }
            let mut waited = 0;
            while w.check_offer().is_none() {
                w.clock();
                waited += 1;
                assert!(waited < 20);
            }
            let conn = w.check_offer().unwrap();
            order.push(conn);
            w.done(conn, true, false, true);
            w.clock();
            let mut gap = 1;
            while w.check_offer().is_none() && w.conns.iter().any(|c| !c.0.is_empty()) {
                w.clock();
                gap += 1;
            }
            worst = worst.max(gap);
        }
        assert!(worst <= 3, "{conns} connections: {worst} clocks from done to the next offer");
        if conns == 2 {
            assert!(order.windows(3).all(|o| o[0] != o[1] || o[1] != o[2]), "turns: {order:?}");
        }
    }
}

/// A wake between offer and done leads to another offer, though the connection was parked.
#[test]
fn a_wake_during_the_offer_counts() {
    for port in ["a", "b"] {
        for delay in 0..6 {
            let mut w = World::new(&small(), 12);
            w.wake("a", 2);
            w.clock();
            while w.check_offer().is_none() {
                w.clock();
            }
            assert!(!w.bench.high("next_has_msg"), "a woken connection without messages is offered");
            w.clock();
            w.wake(port, 2);
            w.clock();
            for _ in 0..delay {
                w.clock();
            }
            assert_eq!(w.check_offer(), Some(2));
            w.done(2, false, false, false);
            w.clock();
            let again = (0..12).any(|_| {
                let offered = w.check_offer() == Some(2);
                w.clock();
                offered
            });
            assert!(again, "port {port}, done {delay} clocks after the wake");
        }
    }
}
