//! executor: streams of READs and atomics against plain memory (D3): order, visibility, refusals, queue pairs that fail; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::executor::{Executor, Reached, RequestRow};
use mrnic_nic::rx::request_places::rows::Executed;
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

const M: u64 = 4;
const QPS: usize = 4;
const WORDS: u64 = 3;

fn config() -> BuildConfig {
    BuildConfig { qps: QPS, msgs_per_stream: M as usize, ..build("sim").unwrap() }
}

#[derive(Clone, Copy, Debug)]
struct Request {
    msn: u64,
    atomic: bool,
    add: bool,
    word: u64,
    operand: u64,
    compare: u64,
    length: u64,
    /// What the key check says.
    code: u64,
}

#[derive(Default)]
struct Stream {
    /// Accepted and not executed; the first is at `exp`.
    waiting: VecDeque<Request>,
    next_msn: u64,
    failed: bool,
}

/// rx_core, the atomic unit and host memory, as far as the executor knows them.
struct World {
    b: Bench,
    rng: Rng,
    streams: Vec<Stream>,
    /// Reached requests on their way to the executor, and those it has, with the writes they wait for.
    offers: VecDeque<(usize, u64, u64)>,
    reached: VecDeque<(usize, u64, u64)>,
    /// Values as software sees them, and as they will be once every write is visible.
    memory: Vec<u64>,
    final_memory: Vec<u64>,
    /// Writes ordered and not visible: (word, value), or a payload.
    writes: VecDeque<Option<(u64, u64)>>,
    ordered: u64,
    done: u64,
    /// (clocks to go, qp) of a check; the qp of a pass.
    check: Option<(u64, usize)>,
    finish: Option<u64>,
    current: Option<(usize, Request, u64)>,
    operation: Option<(u64, u64, u64, bool)>,
    executed: u64,
    refused: u64,
    dropped: u64,
}

impl World {
    fn new(own_seed: u64) -> World {
        let mut b = Bench::new("executor", || Executor::new(&config()));
        b.set("reset", 1);
        b.dut.cycles(2);
        b.set("reset", 0);
        World {
            b,
            rng: Rng(own_seed),
            streams: (0..QPS).map(|_| Stream { next_msn: 0xFF_FFFE, ..Stream::default() }).collect(),
            offers: VecDeque::new(),
            reached: VecDeque::new(),
            memory: vec![5; WORDS as usize],
            final_memory: vec![5; WORDS as usize],
            writes: VecDeque::new(),
            ordered: 40_000,
            done: 40_000,
            check: None,
            finish: None,
            current: None,
            operation: None,
            executed: 0,
            refused: 0,
            dropped: 0,
        }
    }

    /// A request is accepted, of one stream.
    fn accept(&mut self) {
        let qp = self.rng.below(QPS as u64) as usize;
        if self.streams[qp].waiting.len() as u64 >= M || self.streams[qp].failed {
            return;
        }
        let (atomic, word) = (self.rng.chance(60), self.rng.below(WORDS));
        let compare = if self.rng.chance(50) { self.final_memory[word as usize] } else { self.rng.below(9) };
        let msn = self.streams[qp].next_msn;
        let r = Request {
            msn,
            atomic,
            add: self.rng.chance(60),
            word,
            operand: self.rng.below(1 << 32),
            compare,
            length: if atomic { 8 } else { self.rng.below(1 << 20) },
            code: if self.rng.chance(5) { 1 + self.rng.below(3) } else { 0 },
        };
        let row = [
            ("atomic", r.atomic.into()),
            ("add", r.add.into()),
            ("va", 0x1000 + 8 * r.word),
            ("rkey", r.code),
            ("length", r.length),
            ("operand", r.operand),
            ("compare", r.compare),
        ];
        self.b.set_words("store_row", Packed::of::<RequestRow>(&row).words());
        for (name, value) in [("store", 1), ("store_qp", qp as u64), ("store_msn", msn)] {
            self.b.set(name, value);
        }
        let s = &mut self.streams[qp];
        s.next_msn = (msn + 1) & 0xFF_FFFF;
        s.waiting.push_back(r);
        if s.waiting.len() == 1 {
            self.offers.push_back((qp, msn, self.ordered));
        }
    }

    fn see_writes(&mut self) {
        if self.rng.chance(20) {
            if let Some(write) = self.writes.pop_front() {
                self.done += 1;
                if let Some((word, value)) = write {
                    self.memory[word as usize] = value;
                }
            }
        }
        self.b.set("done_count", self.done & 0xFFFF);
    }

    fn clock(&mut self) {
        self.b.set("store", 0);
        if self.rng.chance(20) {
            self.accept();
        }
        // payload of other messages
        if self.rng.chance(10) && self.writes.len() < 40 {
            self.ordered += 1;
            self.writes.push_back(None);
        }
        self.see_writes();
        let ready = |rng: &mut Rng| u64::from(rng.chance(40));
        for name in ["check_ready", "op_ready", "finish_ready", "executed_ready"] {
            let value = ready(&mut self.rng);
            self.b.set(name, value);
        }
        if let Some((qp, msn, ticket)) = self.offers.front() {
            let reached = [("qp", *qp as u64), ("msn", *msn), ("ticket", *ticket & 0xFFFF)];
            self.b.set_words("reached", Packed::of::<Reached>(&reached).words());
        }
        self.b.set("reached_valid", u64::from(!self.offers.is_empty()));
        // the answers of rx_core and of the atomic unit
        for name in ["check_done", "finish_done", "result_valid"] {
            self.b.set(name, 0);
        }
        if let Some((0, qp)) = self.check {
            let (_, r, _) = self.current.unwrap();
            let failed = self.streams[qp].failed;
            for (name, value) in [
                ("check_done", 1),
                ("check_code", r.code),
                ("check_addr", 0x9000 + 8 * r.word),
                ("check_failed", failed.into()),
            ] {
                self.b.set(name, value);
            }
        }
        if let Some((0, before, after, writes)) = self.operation {
            for (name, value) in
                [("result_valid", 1), ("result_before", before), ("result_after", after), ("result_writes", writes.into())]
            {
                self.b.set(name, value);
            }
        }
        self.b.eval();
        assert!(self.offers.is_empty() || self.b.get("reached_ready") == 1, "it never waits");
        if let Some(reached) = self.offers.pop_front() {
            self.reached.push_back(reached);
        }
        self.asks();
        self.operations();
        self.finishes();
        // what the executor looks at is live unless its queue pair has failed
        let qp = self.b.get("live_qp") as usize;
        let live = self.streams.get(qp).is_some_and(|s| !s.failed && !s.waiting.is_empty());
        self.b.cycle();
        self.b.set("live", live.into());
    }

    fn asks(&mut self) {
        if let Some((left, qp)) = self.check {
            self.check = (left > 0).then(|| (left - 1, qp));
            if left == 0 && self.streams[qp].failed {
                self.current = None;
                self.dropped += 1;
            }
        }
        if self.b.get("check_valid") == 1 && self.b.get("check_ready") == 1 {
            let qp = self.b.get("check_qp") as usize;
            // those of failed queue pairs are passed over
            while self.reached.front().is_some_and(|r| r.0 != qp) {
                let (other, _, _) = self.reached.pop_front().unwrap();
                assert!(self.streams[other].failed, "queue pair {other} was passed over");
                self.dropped += 1;
            }
            let (_, msn, ticket) = self.reached.pop_front().expect("nothing was reached");
            assert!(self.done >= ticket, "D3: the writes before it are visible");
            let r = *self.streams[qp].waiting.front().unwrap();
            assert_eq!(r.msn, msn);
            let row = Packed::from_words::<RequestRow>(&self.b.get_words("check_row"));
            let want = (r.atomic.into(), r.code, r.length, 0x1000 + 8 * r.word);
            assert_eq!((row.get("atomic"), row.get("rkey"), row.get("length"), row.get("va")), want);
            self.check = Some((self.rng.below(6), qp));
            self.current = Some((qp, r, 0));
        }
    }

    fn operations(&mut self) {
        if let Some((left, before, after, writes)) = self.operation {
            if left > 0 {
                self.operation = Some((left - 1, before, after, writes));
            } else if self.b.get("result_ready") == 1 {
                self.operation = None;
                let (_, r, value) = self.current.as_mut().unwrap();
                *value = before;
                assert_eq!(writes, r.add || before == r.compare);
            }
        }
        if self.b.get("op_valid") == 1 && self.b.get("op_ready") == 1 {
            let (_, r, _) = self.current.unwrap();
            assert!(r.atomic && r.code == 0);
            assert_eq!(self.b.get("op_addr"), 0x9000 + 8 * r.word);
            assert_eq!((self.b.get("op_add"), self.b.get("op_operand")), (r.add.into(), r.operand));
            let before = self.memory[r.word as usize];
            // D3: what an earlier atomic made of the word is visible
            assert_eq!(before, self.final_memory[r.word as usize], "it read too early");
            let after = if r.add { before.wrapping_add(r.operand) } else { r.operand };
            self.operation = Some((self.rng.below(9), before, after, r.add || before == r.compare));
        }
    }

    fn finishes(&mut self) {
        if self.b.get("executed_valid") == 1 && self.b.get("executed_ready") == 1 {
            let (qp, r, before) = self.current.take().unwrap();
            let done = Packed::from_words::<Executed>(&self.b.get_words("executed"));
            assert_eq!((done.get("qp"), done.get("msn"), done.get("code")), (qp as u64, r.msn, r.code));
            if r.code == 0 {
                let base = if r.atomic { before } else { 0x9000 + 8 * r.word };
                assert_eq!((done.get("atomic"), done.get("base")), (r.atomic.into(), base));
                if !r.atomic {
                    assert_eq!((done.get("length"), done.get("tag")), (r.length, r.operand));
                }
            }
            self.executed += 1;
            self.refused += u64::from(r.code != 0);
        }
        if let Some(left) = self.finish {
            self.finish = left.checked_sub(1);
            if left == 1 {
                self.b.set("finish_done", 1);
                self.pass();
                self.finish = None;
            }
        }
        if self.b.get("finish_valid") == 1 && self.b.get("finish_ready") == 1 {
            self.finish = Some(2 + self.rng.below(5));
        }
    }

    /// `exp` passes the request: its write is ordered, and the next request may be reached.
    fn pass(&mut self) {
        let (qp, r, before) = self.current.unwrap();
        let writes = self.b.get("finish_write") == 1;
        assert_eq!(writes, r.code == 0 && r.atomic && (r.add || before == r.compare));
        if writes {
            let value = self.b.get("finish_data");
            assert_eq!(value, if r.add { before.wrapping_add(r.operand) } else { r.operand });
            self.ordered += 1;
            self.writes.push_back(Some((r.word, value)));
            self.final_memory[r.word as usize] = value;
        }
        self.b.set("finish_ticket", self.ordered & 0xFFFF);
        let s = &mut self.streams[qp];
        s.waiting.pop_front();
        if let Some(next) = s.waiting.front() {
            self.offers.push_back((qp, next.msn, self.ordered));
        }
    }
}

/// D3: in the order of each stream, each once, atomics one after the other.
#[test]
fn requests_are_executed_once_and_in_order() {
    for own in [1, 2] {
        let mut w = World::new(seed(own));
        for _ in 0..60_000 {
            w.clock();
        }
        println!("{} executed, {} refused", w.executed, w.refused);
        assert!(w.executed > 800 && w.refused > 20 && w.dropped == 0);
    }
}

/// W3: nothing is executed for a queue pair in Error; the others go on.
#[test]
fn a_failed_queue_pair_executes_nothing() {
    let mut w = World::new(seed(3));
    for round in 0..300 {
        for _ in 0..80 {
            w.clock();
        }
        let qp = round % QPS;
        if w.current.is_none_or(|c| c.0 != qp) {
            w.streams[qp].failed = true;
        }
        for _ in 0..40 {
            w.clock();
        }
        // it is opened anew once nothing of it is left with the executor
        let gone = w.offers.iter().chain(&w.reached).all(|r| r.0 != qp) && w.current.is_none_or(|c| c.0 != qp);
        if w.streams[qp].failed && gone {
            w.streams[qp] = Stream { next_msn: 0xFF_FFFE, ..Stream::default() };
        }
    }
    println!("{} executed, {} dropped", w.executed, w.dropped);
    assert!(w.executed > 200 && w.dropped > 10);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Executor::new(&config()), clock: clock, inputs: {
        reset, store, store_qp, store_msn, reached_valid, done_count, live, check_ready, check_done, check_code, check_addr,
        check_failed, op_ready, result_valid, result_before, result_after, result_writes, finish_ready, finish_done, finish_ticket,
        executed_ready, older_mark
    })
    .input_as("store_row", |b| &mut b.store_row, rows::request_row)
    .input_as("reached", |b| &mut b.reached, rows::reached)
    .top("executor")
    .cycles(4000)
    .seed(1)
    .limit("store_qp", 0..=3)
    .limit("store_msn", 0..=3)
    .limit("check_code", 0..=1)
    .stimulus(|random, cycle, inputs| {
        let (qp, msn) = (random.below(4), random.below(4));
        let row = Packed::of::<Reached>(&[("qp", qp), ("msn", msn), ("ticket", cycle & 0xFFFF)]);
        inputs.set("reached", row.words().to_vec());
        inputs.set("reached_valid", random.chance(0.1));
        inputs.set("done_count", (cycle & 0xFFFF) as u32);
        inputs.set("finish_ticket", ((cycle + random.below(20)) & 0xFFFF) as u32);
        inputs.set("older_mark", random.chance(0.02));
        inputs.set("live", random.chance(0.9));
        inputs.set("check_failed", random.chance(0.2));
    })
    .run();
}
