//! request_places against lists (D3, D4, D7): places and responses are counted, each request is answered, unless it was acknowledged before, errors and closing at any time;
//! simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{maker, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::request_places::rows::{Executed, ResponseOrder, ResponseRow, RetiredResponse};
use mrnic_nic::rx::request_places::RequestPlaces;
use rx_support::{Bench, Rng};
use std::collections::{BTreeMap, VecDeque};

const M: u64 = 4;
const QPS: u64 = 4;
const CONNS: u64 = 2;
const LIMIT: u64 = 4;
const MTU_LOG2: u64 = 10;
const FIRST_MSN: u64 = 0xFF_FFFE;

fn config() -> BuildConfig {
    let sim = build("sim").unwrap();
    BuildConfig { qps: QPS as usize, conns: CONNS as usize, msgs_per_stream: M as usize, responses: LIMIT as usize, ..sim }
}

#[derive(Clone, Copy, Debug)]
struct Live {
    msn: u64,
    executed: bool,
    /// Packets of its response that are not retired; none before it was executed.
    left: u64,
}

#[derive(Clone, Default)]
struct Qp {
    open: bool,
    /// completion's error bit, which is set before the flush: nothing is executed from then on.
    error: bool,
    failed: bool,
    places: u64,
    /// By place.
    live: BTreeMap<u64, Live>,
    next_msn: u64,
    /// Oldest request that was not executed.
    exp: u64,
}

struct World {
    b: Bench,
    rng: Rng,
    qps: Vec<Qp>,
    /// Responses a connection holds.
    held: Vec<u64>,
    /// What the response port must show next, one list for what was executed and one for errors of a walk.
    want: VecDeque<(u64, u64, u64, u64, u64)>,
    /// Packets on their way to being retired: (error, conn, qp, msn).
    sent: Vec<(bool, u64, u64, u64)>,
    offer: Option<(bool, u64, u64, u64)>,
    execute: Option<(u64, u64, u64, bool, u64)>,
    /// Since something was last retired, executed or flushed.
    quiet: u64,
    rows: BTreeMap<u64, (u64, u64, u64, u64)>,
    responses: u64,
    errors: u64,
    answers: u64,
    seen: [u64; 4],
    stall: u64,
}

fn conn_of(qp: u64) -> u64 {
    qp % CONNS
}

impl World {
    fn new(own_seed: u64) -> World {
        let mut b = Bench::new("request_places", || RequestPlaces::new(&config()));
        b.reset();
        b.set("older_done", 1);
        let mut w = World {
            b,
            rng: Rng(own_seed),
            qps: vec![Qp::default(); QPS as usize],
            held: vec![0; CONNS as usize],
            want: VecDeque::new(),
            sent: Vec::new(),
            offer: None,
            execute: None,
            quiet: 0,
            rows: BTreeMap::new(),
            responses: 0,
            errors: 0,
            answers: 0,
            seen: [0; 4],
            stall: 50,
        };
        for conn in 0..CONNS {
            let mut words = [0; 16];
            words[0] = 1 | (MTU_LOG2 as u32) << 8;
            w.table(1, conn, &words);
        }
        (0..QPS).for_each(|qp| w.open(qp));
        w
    }

    /// One clock; what goes on besides.
    fn clock(&mut self) {
        self.quiet += 1;
        if self.offer.is_none() && !self.sent.is_empty() && self.rng.chance(30) {
            let at = self.rng.below(self.sent.len() as u64) as usize;
            let (error, conn, qp, msn) = self.sent.swap_remove(at);
            self.offer = Some((error, conn, qp, msn));
            // as it is committed: an answer that is committed later has to know of it
            self.retire(error, conn, qp, msn);
        }
        if let Some((error, conn, qp, msn)) = self.offer {
            let row = [("error", error.into()), ("conn", conn), ("qp", qp), ("msn", msn)];
            self.b.set_words("retired", Packed::of::<RetiredResponse>(&row).words());
        }
        self.b.set("retired_valid", self.offer.is_some().into());
        self.b.set("retiring", self.offer.is_some().into());
        self.quiet = if self.offer.is_some() { 0 } else { self.quiet };
        self.b.set("executed_valid", self.execute.is_some().into());
        let ready = !self.rng.chance(self.stall);
        self.b.set("response_ready", ready.into());
        self.b.eval();
        if self.b.get("commit_answer_valid") == 1 {
            self.answer();
        }
        if self.b.get("row_write") == 1 {
            let row = Packed::from_words::<ResponseRow>(&self.b.get_words("row"));
            let value = (row.get("atomic"), row.get("base"), row.get("tag"), row.get("peer_qpn"));
            let addr = self.b.get("row_addr");
            self.rows.insert(addr, value);
        }
        if self.b.get("response_valid") == 1 && ready {
            self.respond();
        }
        if self.offer.is_some() && self.b.get("retired_ready") == 1 {
            self.offer = None;
        }
        if self.execute.is_some() && self.b.get("executed_ready") == 1 {
            self.executed();
        }
        self.b.cycle();
        for name in ["look", "take", "flush_valid", "cfg_valid"] {
            self.b.set(name, 0);
        }
    }

    /// D7: what is live of the queue pair is answered with errors.
    fn answer(&mut self) {
        let qp = self.b.get("commit_answer_qp");
        self.answers += 1;
        self.qps[qp as usize].failed = true;
        self.errors_of(qp);
    }

    fn errors_of(&mut self, qp: u64) {
        for (_, live) in std::mem::take(&mut self.qps[qp as usize].live) {
            self.want.push_back((1, 6, qp, live.msn, 1));
        }
        self.quiet = 0;
    }

    fn respond(&mut self) {
        let r = Packed::from_words::<ResponseOrder>(&self.b.get_words("response"));
        let want = self.want.pop_front().expect("a response too many");
        let got = (r.get("error"), r.get("code"), r.get("qp"), r.get("msn"), r.get("npkts"));
        assert_eq!(got, want);
        let (error, _, qp, msn, npkts) = want;
        assert_eq!((r.get("conn"), r.get("peer_qpn")), (conn_of(qp), 100 + qp));
        if error == 0 {
            assert!(self.b.get("row_write") == 1, "its packets need the row at once");
            let slot = qp * M + msn % M;
            let (atomic, base, tag, peer) = self.rows[&slot];
            assert_eq!((base, tag, peer), (msn * 3, msn & 0xFF, 100 + qp));
            assert!(atomic == 0 || npkts == 1);
            self.responses += 1;
        }
        self.errors += error;
        for _ in 0..npkts {
            self.sent.push((error == 1, conn_of(qp), qp, msn));
        }
        self.quiet = 0;
    }

    fn retire(&mut self, error: bool, conn: u64, qp: u64, msn: u64) {
        self.quiet = 0;
        if error {
            self.held[conn as usize] -= 1;
            return;
        }
        let live = &mut self.qps[qp as usize].live;
        // packets of a request that got an ERROR_RESP since count no more
        let Some(request) = live.get_mut(&(msn % M)).filter(|l| l.msn == msn && l.executed) else { return };
        request.left -= 1;
        if request.left == 0 {
            live.remove(&(msn % M));
            self.held[conn as usize] -= 1;
        }
    }

    fn executed(&mut self) {
        let (qp, msn, code, atomic, length) = self.execute.take().unwrap();
        self.quiet = 0;
        self.b.set("executing", 0);
        let q = &mut self.qps[qp as usize];
        q.exp = (msn + 1) & 0xFF_FFFF;
        if code != 0 {
            q.live.remove(&(msn % M));
            self.want.push_back((1, code, qp, msn, 1));
            return;
        }
        let npkts = if atomic { 1 } else { length.div_ceil(1 << MTU_LOG2).max(1) };
        let live = q.live.get_mut(&(msn % M)).expect("it is live");
        (live.executed, live.left) = (true, npkts);
        self.want.push_back((0, 0, qp, msn, npkts));
    }

    /// The oldest request of a stream is executed.
    fn begin_execution(&mut self) {
        let qp = self.rng.below(QPS);
        let q = &self.qps[qp as usize];
        let waits = q.live.get(&(q.exp % M)).is_some_and(|l| l.msn == q.exp && !l.executed);
        if self.execute.is_some() || q.error || !waits {
            return;
        }
        let (msn, atomic) = (q.exp, self.rng.chance(40));
        let code = if self.rng.chance(5) { 1 + self.rng.below(3) } else { 0 };
        let length = if atomic { 8 } else { [0, 1, 1024, 1025, 5000][self.rng.below(5) as usize] };
        self.b.set("executing", 1);
        self.b.set("executing_qp", qp);
        let later = self.rng.below(4);
        (0..later).for_each(|_| self.clock());
        let row = [
            ("qp", qp),
            ("msn", msn),
            ("code", code),
            ("atomic", atomic.into()),
            ("base", msn * 3),
            ("length", length),
            ("tag", msn & 0xFF),
        ];
        self.b.set_words("executed", Packed::of::<Executed>(&row).words());
        self.execute = Some((qp, msn, code, atomic, length));
    }

    /// A request arrives: a step of rx_core.
    fn arrive(&mut self) {
        let qp = self.rng.below(QPS);
        let conn = conn_of(qp);
        let q = &self.qps[qp as usize];
        // mostly the next one; a later one that overtook it leaves a hole that is filled later
        let msn = q.next_msn;
        let (places, used) = (q.places, q.live.len() as u64);
        let (slot_free, reached) = (!q.live.contains_key(&(msn % M)), msn == q.exp);
        let exact = self.quiet > 60 && self.want.is_empty() && self.offer.is_none() && self.execute.is_none();
        for (name, value) in [("look", 1), ("step", 1), ("look_qp", qp), ("look_conn", conn), ("look_msn", msn)] {
            self.b.set(name, value);
        }
        let held = self.held[conn as usize];
        let room = |early: u64| used + early < places && held + early < LIMIT && slot_free;
        self.clock();
        self.b.set("look_msn", 0x55);
        (0..3).for_each(|_| self.clock());
        self.b.eval();
        let got = (self.b.get("reached_ok") == 1, self.b.get("early_ok") == 1);
        // what was freed since may be overlooked, room is never invented
        let q = &self.qps[qp as usize];
        let now_used = q.live.len() as u64;
        let now_free = !q.live.contains_key(&(msn % M));
        let now_held = self.held[conn as usize];
        let now = |early: u64| now_used + early < places && now_held + early < LIMIT && now_free;
        assert!((!got.0 || now(0)) && (!got.1 || now(1)), "room was invented: {got:?}");
        if exact {
            assert_eq!(got, (room(0), room(1)), "qp {qp}: {used} of {places}, connection {held}");
            self.seen[usize::from(got.0) + 2 * usize::from(got.1)] += 1;
        }
        assert_eq!(self.b.get("none") == 1, places == 0);
        let failed = self.b.get("failed") == 1;
        assert!(!failed || q.failed);
        let ok = if reached { got.0 } else { got.1 };
        if ok && !failed && q.open {
            self.b.set("take", 1);
            self.clock();
            let q = &mut self.qps[qp as usize];
            q.live.insert(msn % M, Live { msn, executed: false, left: 0 });
            q.next_msn = (msn + 1) & 0xFF_FFFF;
            self.held[conn as usize] += 1;
        }
        self.clock();
        self.b.set("step", 0);
    }

    fn table(&mut self, number: u64, index: u64, words: &[u32; 16]) {
        self.b.set_words("cfg_data", words);
        for (name, value) in [("cfg_valid", 1), ("cfg_table", number), ("cfg_index", index), ("others_busy", 1)] {
            self.b.set(name, value);
        }
        self.clock();
        let mut marks = 0;
        for clock in 0.. {
            assert!(clock < 5000, "never applied");
            self.b.set("others_busy", u64::from(clock < 4));
            self.b.eval();
            marks += self.b.get("older_mark");
            if self.b.get("cfg_busy") == 0 {
                break;
            }
            self.clock();
        }
        assert_eq!(marks, 1);
    }

    /// Closes it if it is open: what is live is answered with errors; then it starts anew.
    fn open(&mut self, qp: u64) {
        while self.execute.is_some() {
            self.clock();
        }
        // what the walk will find; executed requests whose last packet is retired meanwhile are none of it
        let offered = std::mem::take(&mut self.sent);
        while self.offer.is_some() || !self.want.is_empty() {
            self.clock();
        }
        (0..10).for_each(|_| self.clock());
        self.errors_of(qp);
        let places = [0, 1, 2, 3, 4][self.rng.below(5) as usize];
        let mut words = [0; 16];
        words[0] = 1 | (conn_of(qp) as u32) << 16;
        words[1] = 100 + qp as u32;
        words[9] = (places as u32) << 24;
        let mine = offered.iter().filter(|s| s.2 != qp || s.0).copied().collect::<Vec<_>>();
        self.table(3, qp, &words);
        self.sent.extend(mine);
        self.qps[qp as usize] = Qp { open: true, places, next_msn: FIRST_MSN, exp: FIRST_MSN, ..Qp::default() };
    }

    fn flush(&mut self, qp: u64) {
        self.qps[qp as usize].error = true;
        self.b.set("flush_valid", 1);
        self.b.set("flush_qp", qp);
        self.clock();
    }

    fn finish(&mut self) {
        for _ in 0..20_000 {
            if self.want.is_empty() && self.sent.is_empty() && self.offer.is_none() && self.execute.is_none() {
                break;
            }
            self.clock();
        }
        assert!(self.want.is_empty() && self.sent.is_empty() && self.offer.is_none());
    }
}

/// D3: places are given and come back, the last one only to the request that exp has reached.
#[test]
fn places_are_counted() {
    let mut w = World::new(seed(1));
    for round in 0..5000 {
        w.stall = [20, 90][round / 200 % 2];
        w.arrive();
        let wait = [0, 0, 5, 90][w.rng.below(4) as usize];
        (0..wait).for_each(|_| w.clock());
        w.begin_execution();
        if round % 500 == 499 {
            let qp = w.rng.below(QPS);
            w.open(qp);
        }
    }
    w.finish();
    println!("{} responses, {} errors, rooms {:?}", w.responses, w.errors, w.seen);
    assert!(w.responses > 300 && w.errors > 20);
    assert!(w.seen[0] > 20 && w.seen[1] > 20 && w.seen[3] > 20, "no room, room for a reached request, room for any");
}

/// D7: a queue pair that fails answers each of its requests with an ERROR_RESP, once, and takes no further ones.
#[test]
fn requests_of_a_failed_queue_pair_are_answered_with_errors() {
    let mut w = World::new(seed(2));
    for round in 0..1500 {
        for _ in 0..6 {
            w.arrive();
            w.begin_execution();
        }
        let qp = w.rng.below(QPS);
        if round % 4 == 3 {
            w.flush(qp);
        }
        if round % 16 == 15 {
            w.open(qp);
        }
    }
    w.finish();
    println!("{} responses, {} errors, {} answers", w.responses, w.errors, w.answers);
    assert!(w.responses > 100 && w.errors > 100 && w.answers > 50);
}

maker!(executed_row: Executed { qp, msn, code, atomic, base, length, tag });

#[test]
fn simulation_equals_verilog() {
    difftest!(RequestPlaces::new(&config()), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_data, others_busy, look, look_conn, look_qp, look_msn, step, take,
        executed_valid, executing, executing_qp, older_done, live_qp, live_msn, retired_valid, retiring, flush_valid, flush_qp, response_ready
    })
    .input_as("executed", |b| &mut b.executed, executed_row)
    .input_as("retired", |b| &mut b.retired, rows::retired_response)
    .top("request_places")
    .cycles(4000)
    .seed(1)
    .reset_chance(0.0)
    .limit("cfg_table", 1..=3)
    .limit("cfg_index", 0..=1)
    .limit("look_conn", 0..=1)
    .limit("look_qp", 0..=3)
    .limit("look_msn", 0..=3)
    .limit("executing_qp", 0..=3)
    .limit("live_qp", 0..=3)
    .limit("live_msn", 0..=3)
    .limit("flush_qp", 0..=3)
    .sink("response_ready")
    .stimulus(|random, cycle, inputs| {
        let (qp, msn, length) = (random.below(4), random.below(4), random.below(5000));
        let code = random.below(2) * random.below(4);
        let row = [("qp", qp), ("msn", msn), ("code", code), ("atomic", random.below(2)), ("length", length)];
        inputs.set("executed", Packed::of::<Executed>(&row).words().to_vec());
        let row = [("error", random.below(2)), ("conn", random.below(2)), ("qp", qp), ("msn", msn)];
        inputs.set("retired", Packed::of::<RetiredResponse>(&row).words().to_vec());
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] |= 1;
        data[9] = 0x0300_0000;
        inputs.set("cfg_data", data);
        for (name, chance) in [
            ("look", 0.1), ("take", 0.05), ("step", 0.3), ("executed_valid", 0.1), ("retired_valid", 0.1), ("retiring", 0.3), ("flush_valid", 0.02),
            ("executing", 0.2), ("others_busy", 0.2),
        ] {
            inputs.set(name, random.chance(chance));
        }
        if cycle > 100 && random.chance(0.98) {
            inputs.set("cfg_valid", 0u32);
        }
    })
    .run();
}
