//! Host, receiver and completion around recv_queue, as far as it sees of them.
//! In: a block and a seed. Out: a run in which each record is checked when it appears. Guarantees: steps follow one another as closely as
//! rx_core's do, tables are written and memory answers at any time.
pub mod reference;

use crate::tx_support::Bench;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::host::recv_queue::RecvQueue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reference::{Entry, Mark, Message, Pool, Receives, Stream};
use std::collections::{HashMap, VecDeque};

pub const RQ_LOG2: u32 = 6;
const RCQ_LOG2: u32 = 7;
/// Clock of a step in which a packet is accepted.
const APPLY: u64 = 5;

fn rq_base(qp: usize) -> u64 {
    0x5a00_0000_0000 + qp as u64 * 0x1_0000
}

fn rcq_base(qp: usize) -> u64 {
    0x9900_0000_0000 + qp as u64 * 0x1_0000
}

fn rcqe_base_of(qp: usize, writes: u32) -> u64 {
    rcq_base(qp) + 32 * u64::from(writes % (1 << RCQ_LOG2))
}

/// A step of the receiver.
#[derive(Clone, Debug)]
struct Step {
    qp: usize,
    msn: u32,
    seq: Option<u32>,
    age: u64,
    /// What the block answered.
    found: u64,
    /// If it found its receive.
    mark: Option<Mark>,
    /// The QP was in Error when it began: nothing is accepted.
    refused: bool,
    passes: VecDeque<u32>,
    passed: Vec<u32>,
    strays: bool,
    ends: bool,
}

/// One queue pair in the world outside.
#[derive(Default)]
struct Outside {
    open: bool,
    posted: u32,
    receives: Receives,
    stream: Stream,
    rcqe_writes: u32,
    /// Payload writes after which the message of this rq_seq may complete.
    tickets: HashMap<u32, u64>,
    silent: bool,
    /// Clock of its error.
    failed_at: u64,
}

pub struct World {
    bench: Bench,
    width: usize,
    rng: StdRng,
    qps: Vec<Outside>,
    /// Shared queues: receives posted, and what is left.
    pools: Vec<(u32, Pool)>,
    memory: HashMap<u64, Entry>,
    reads: VecDeque<(u64, u64, usize)>,
    /// Words of an entry, how many of them there are, and how many have gone.
    beats: VecDeque<(Entry, usize, usize)>,
    /// SGEs of a list, more than 1 if some queues have such.
    sges: usize,
    bells: VecDeque<(usize, u16)>,
    flushes: VecDeque<(u64, usize)>,
    step: Option<Step>,
    /// The record of the step before, which comes one clock after its end.
    record: Option<Step>,
    writes_ordered: u64,
    writes_done: u64,
    expected: VecDeque<(u64, [u32; 8])>,
    /// Receives that the queue pairs may hold at a time.
    most: u32,
    clock: u64,
    pub slow: f64,
    pub hurry: bool,
    pub late: f64,
    pub errors: f64,
    pub completed: u64,
    pub flushed: u64,
    pub missing: u64,
    pub wrong: u64,
    /// Looks that found a receive of a shared queue.
    pub shared: u64,
    /// Those that found a list.
    pub lists: u64,
    /// Queue pairs with a shared queue that were closed.
    pub last_wqes: u64,
    /// Receives asked for.
    asked: u64,
}

impl World {
    pub fn new<const W: usize>(config: &BuildConfig, seed: u64) -> World {
        let mut bench = Bench::new(&RecvQueue::<W>::new(config), &format!("recv_queue_{W}"));
        bench.until("init_done", 20_000);
        let mut world = World {
            bench,
            width: W,
            rng: StdRng::seed_from_u64(seed),
            qps: (0..config.qps).map(|_| Outside::default()).collect(),
            pools: vec![],
            memory: HashMap::new(),
            reads: VecDeque::new(),
            beats: VecDeque::new(),
            bells: VecDeque::new(),
            flushes: VecDeque::new(),
            step: None,
            record: None,
            writes_ordered: 0,
            writes_done: 0,
            expected: VecDeque::new(),
            sges: config.sges,
            most: config.recvs_per_qp as u32,
            clock: 0,
            slow: 0.2,
            hurry: false,
            late: 0.1,
            errors: 0.0,
            completed: 0,
            flushed: 0,
            missing: 0,
            wrong: 0,
            shared: 0,
            lists: 0,
            last_wqes: 0,
            asked: 0,
        };
        for qp in 0..config.qps {
            world.open(qp);
        }
        world
    }

    /// A world in which every other queue pair takes its receives from one of `pools` shared queues.
    pub fn with_shared<const W: usize>(config: &BuildConfig, seed: u64, pools: usize) -> World {
        let mut world = Self::new::<W>(config, seed);
        for srq in 0..pools {
            let mut words = [0; 16];
            words[0] = 1;
            words[4] = RQ_LOG2 << 8;
            words[7] = 40 + srq as u32;
            words[0] |= u32::from(world.long(config.qps + srq)) << 7;
            let base = rq_base(config.qps + srq);
            (words[10], words[11]) = (base as u32, (base >> 32) as u32);
            world.pools.push((0, Pool::default()));
            world.table(7, srq, words);
        }
        for qp in (1..config.qps).step_by(2) {
            world.close(qp);
            world.open(qp);
        }
        world
    }

    /// The shared queue that a queue pair is opened with.
    fn source_of(&self, qp: usize) -> Option<usize> {
        (qp % 2 == 1 && !self.pools.is_empty()).then(|| qp / 2 % self.pools.len())
    }

    /// Entries of a queue have 128 bytes.
    fn long(&self, queue: usize) -> bool {
        self.sges > 1 && queue % 4 < 2
    }

    /// Receive `n` of a queue.
    fn address(&self, queue: usize, n: u32) -> u64 {
        rq_base(queue) + u64::from(n % (1 << RQ_LOG2)) * if self.long(queue) { 128 } else { 32 }
    }

    /// Words of a new receive; lists are of all lengths, some of which are more than 32 bits hold together.
    fn new_entry(&mut self, queue: usize) -> Entry {
        let used = if self.long(queue) { 32 } else { 8 };
        let mut words: Entry = std::array::from_fn(|i| if i < used { self.rng.random() } else { 0 });
        if self.long(queue) {
            let many = [0, 1, 2, 3, 4, 5, 255][self.rng.random_range(0..7)];
            words[0] = words[0] & 0xFF00_FFFF | many << 16;
            if self.rng.random() {
                (0..4).for_each(|k| words[18 + 4 * k] >>= 8);
            }
        }
        words
    }

    fn table(&mut self, table: u64, qp: usize, words: [u32; 16]) {
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", qp as u64);
        self.bench.set_words("cfg_data", &words);
        self.bench.set("cfg_valid", 1);
        self.clock();
        self.bench.set("cfg_valid", 0);
        for _ in 0..4000 {
            if !self.bench.high("cfg_busy") {
                return;
            }
            self.clock();
        }
        panic!("the table write of QP {qp} is never applied");
    }

    /// Opens a queue pair that is closed: everything about it starts anew.
    pub fn open(&mut self, qp: usize) {
        let (rq, rcq) = (rq_base(qp), rcq_base(qp));
        let mut words = [0; 16];
        words[0] = 1;
        words[4] = RQ_LOG2 << 8 | RCQ_LOG2 << 12;
        words[7] = (qp as u32 % 32) << 16;
        let source = self.source_of(qp);
        words[0] |= u32::from(self.long(qp)) << 7;
        if let Some(source) = source {
            words[0] |= 1 << 5;
            words[4] |= (source as u32) << 16;
        }
        (words[10], words[11]) = (rq as u32, (rq >> 32) as u32);
        (words[12], words[13]) = (rcq as u32, (rcq >> 32) as u32);
        self.table(3, qp, words);
        let next = self.rng.random_range(0..1000);
        let stream = Stream { exp: next, next, ..Stream::default() };
        let long = self.long(source.map_or(qp, |source| self.qps.len() + source));
        let receives = Receives { source, long, ..Receives::default() };
        self.qps[qp] = Outside { open: true, stream, receives, ..Outside::default() };
    }

    /// Closes a queue pair with receives in it; from now on it has no records, but for what it has taken from a shared queue: that is flushed.
    pub fn close(&mut self, qp: usize) {
        self.qps[qp].silent = true;
        while self.step.as_ref().is_some_and(|s| s.qp == qp)
            || self.record.as_ref().is_some_and(|s| s.qp == qp)
            || self.bells.iter().any(|b| b.0 == qp)
        {
            self.clock();
        }
        let shared = self.qps[qp].receives.source.is_some();
        if shared {
            self.qps[qp].receives.in_error = true;
        }
        let before = self.last_wqes;
        self.table(3, qp, [0; 16]);
        if shared {
            assert_eq!((self.qps[qp].receives.held(), self.last_wqes), (0, before + 1), "nothing that it took is lost");
        }
        self.qps[qp].open = false;
        self.flushes.retain(|f| f.1 != qp);
    }

    /// Posts receives and rings.
    pub fn post(&mut self, qp: usize, count: u32) {
        if let Some(source) = self.source_of(qp) {
            return self.post_shared(source, count);
        }
        let q = &mut self.qps[qp];
        let count = count.min((1 << RQ_LOG2) - (q.posted - q.receives.head));
        if !q.open || count == 0 {
            return;
        }
        for _ in 0..count {
            let words = self.new_entry(qp);
            self.memory.insert(self.address(qp, self.qps[qp].posted), words);
            self.qps[qp].posted += 1;
        }
        self.bells.push_back((qp, self.qps[qp].posted as u16));
    }

    fn post_shared(&mut self, srq: usize, count: u32) {
        let queue = self.qps.len() + srq;
        let (posted, pool) = &self.pools[srq];
        let count = count.min((1 << RQ_LOG2) - (*posted - pool.taken));
        for _ in 0..count {
            let words = self.new_entry(queue);
            self.memory.insert(self.address(queue, self.pools[srq].0), words);
            self.pools[srq].0 += 1;
        }
        self.bells.push_back((queue, self.pools[srq].0 as u16));
    }

    /// Posts receives one by one, each with its doorbell. Returns how many doorbells wait when the first receive is asked for.
    pub fn post_one_by_one(&mut self, qp: usize, count: u32) -> usize {
        (0..count).for_each(|_| self.post(qp, 1));
        let before = self.asked;
        while self.asked == before && !self.bells.is_empty() {
            self.clock();
        }
        self.bells.len()
    }

    /// An error of the queue pair by another cause than its receives: completion tells it later.
    pub fn fail(&mut self, qp: usize) {
        if self.qps[qp].open && !self.qps[qp].receives.in_error {
            self.qps[qp].receives.in_error = true;
            self.qps[qp].failed_at = self.clock;
            let at = self.clock + self.rng.random_range(1..30);
            self.flushes.push_back((at, qp));
        }
    }

    fn drive_host(&mut self) {
        let now = self.clock;
        let ready = !self.rng.random_bool(self.slow);
        self.bench.set("rr_desc_ready", ready.into());
        if ready && self.bench.high("rr_desc_valid") {
            let (at, len) = (self.bench.get("rr_desc_addr"), self.bench.get("rr_desc_len"));
            assert!(len == if self.long((at >> 16 & 0xFFFF) as usize) { 128 } else { 32 });
            self.asked += 1;
            self.reads.push_back((now + self.rng.random_range(1..40), at, len as usize / 4));
        }
        if self.beats.is_empty() && self.reads.front().is_some_and(|r| r.0 <= now) {
            let (_, at, all) = self.reads.pop_front().expect("a read");
            let words = *self.memory.get(&at).unwrap_or_else(|| panic!("a read at {at:#x}, where nothing was posted"));
            self.beats.push_back((words, all, 0));
        }
        let offered = !self.beats.is_empty() && !self.rng.random_bool(self.slow);
        self.bench.set("rr_valid", offered.into());
        if offered {
            let (words, all, at) = self.beats[0];
            let n = (self.width / 32).min(all);
            let mut beat = vec![0xEEEE_EEEE; self.width / 32];
            beat[..n].copy_from_slice(&words[at..at + n]);
            self.bench.set_words("rr_data", &beat);
            self.bench.set("rr_last", (at + n == all).into());
            if self.bench.high("rr_ready") {
                self.beats[0].2 += n;
                if at + n == all {
                    self.beats.pop_front();
                }
            }
        }
        self.bench.set("rdoorbell_valid", (!self.bells.is_empty()).into());
        if let Some(&(qp, index)) = self.bells.front() {
            self.bench.set("rdoorbell_qp", qp as u64);
            self.bench.set("rdoorbell_index", index.into());
            if self.bench.high("rdoorbell_ready") {
                self.bells.pop_front();
            }
        }
        let flush = self.flushes.front().copied().filter(|f| f.0 <= now);
        self.bench.set("flush_valid", flush.is_some().into());
        if let Some((_, qp)) = flush {
            self.bench.set("flush_qp", qp as u64);
            if self.bench.high("flush_ready") {
                self.flushes.pop_front();
            }
        }
        if self.writes_done < self.writes_ordered && self.rng.random_bool(0.3) {
            self.writes_done += 1;
        }
        self.bench.set("done_count", self.writes_done & 0xFFFF);
        let ready = !self.rng.random_bool(self.slow);
        self.bench.set("rcqe_ready", ready.into());
        if ready && self.bench.high("rcqe_valid") {
            let (addr, words) = self.expected.pop_front().expect("a CQE without its record");
            assert_eq!(self.bench.get("rcqe_addr"), addr);
            assert_eq!(self.bench.words("rcqe_data"), words);
        }
    }

    /// The packet that comes next: of any message in the window of any queue pair.
    fn next_step(&mut self) -> Option<Step> {
        if !self.hurry && self.rng.random_bool(0.3) {
            return None;
        }
        let qp = self.rng.random_range(0..self.qps.len());
        if !self.qps[qp].open || self.qps[qp].silent {
            return None;
        }
        let window = self.most / 2;
        if self.qps[qp].stream.open.len() < 6 && self.qps[qp].stream.next - self.qps[qp].stream.exp < window {
            let consuming = self.rng.random_bool(0.7);
            let mark = Mark {
                accept: true,
                length: self.rng.random(),
                imm: self.rng.random_bool(0.5).then(|| self.rng.random()),
                sol: self.rng.random(),
                by_write: self.rng.random_bool(0.3),
                failed: 0,
            };
            let packets = self.rng.random_range(1..4);
            let stream = &mut self.qps[qp].stream;
            let seq = consuming.then_some(stream.next_seq);
            stream.next_seq += u32::from(consuming);
            stream.open.insert(stream.next, Message { seq, packets, accepted: 0, mark });
            stream.next += 1;
        }
        let stream = &self.qps[qp].stream;
        let all: Vec<u32> = stream.open.iter().filter(|m| m.1.accepted < m.1.packets).map(|m| *m.0).collect();
        let msn = *all.get(self.rng.random_range(0..all.len().max(1)))?;
        let mut seq = stream.open[&msn].seq;
        if seq.is_some() && self.rng.random_bool(0.05) {
            // another message's receive
            seq = Some(seq?.wrapping_add(self.rng.random_range(0..5)).wrapping_sub(2) & 0xFF_FFFF);
        }
        let step = Step {
            qp,
            msn,
            seq,
            age: 0,
            found: 0,
            mark: None,
            // an error is seen a few clocks late
            refused: self.qps[qp].receives.in_error && self.clock > self.qps[qp].failed_at + 4,
            passes: VecDeque::new(),
            passed: vec![],
            strays: false,
            ends: false,
        };
        Some(step)
    }

    fn drive_step(&mut self) {
        for name in ["rq_look", "rq_mark", "rx_commit", "pass_valid"] {
            self.bench.set(name, 0);
        }
        self.bench.set("rx_commit", self.record.is_some().into());
        if self.step.is_none() {
            self.step = self.next_step();
        }
        let Some(mut step) = self.step.take() else {
            self.bench.set("rq_step", 0);
            return;
        };
        let q = &mut self.qps[step.qp];
        self.bench.set("rq_step", step.seq.is_some().into());
        if step.age == 0 {
            if let Some(seq) = step.seq {
                self.bench.set("rq_look", 1);
                self.bench.set("rq_qp", step.qp as u64);
                self.bench.set("rq_seq", seq.into());
                self.bench.set("rq_msn", step.msn.into());
            }
        }
        if step.age == APPLY && !step.refused {
            step.found = self.bench.get("rq_found");
            let own = step.seq == q.stream.open[&step.msn].seq;
            let mut mark = q.stream.open[&step.msn].mark;
            let mut accepted = step.seq.is_none();
            // a packet that names another message's receive fails its queue pair
            let found = step.found == 0 || step.found == 3;
            step.strays = !own && found;
            if step.seq.is_some() && found && (own || self.errors > 0.0) {
                if own && !q.receives.in_error && self.rng.random_bool(self.errors) {
                    mark.failed = [1, 4][self.rng.random_range(0..2)];
                }
                mark.accept = own && mark.failed == 0 && !self.rng.random_bool(0.05);
                self.bench.set("rq_mark", 1);
                self.bench.set("rq_accept", mark.accept.into());
                self.bench.set("rq_length", mark.length.into());
                self.bench.set("rq_imm", mark.imm.unwrap_or(0x1111).into());
                self.bench.set("rq_has_imm", mark.imm.is_some().into());
                self.bench.set("rq_sol", mark.sol.into());
                self.bench.set("rq_by_write", mark.by_write.into());
                self.bench.set("rq_failed", mark.failed.into());
                step.mark = Some(mark);
                accepted = mark.accept;
            }
            if accepted {
                self.writes_ordered += self.rng.random_range(0..2);
                step.passed = q.stream.accept(step.msn);
                step.passes = step.passed.clone().into();
                for seq in &step.passed {
                    q.tickets.insert(*seq, self.writes_ordered);
                }
            }
        } else if step.age > APPLY {
            match step.passes.front() {
                None => step.ends = true,
                Some(seq) => {
                    self.bench.set("pass_valid", 1);
                    self.bench.set("pass_qp", step.qp as u64);
                    self.bench.set("pass_slot", (seq & 0xFF).into());
                    self.bench.set("pass_ticket", self.writes_ordered & 0xFFFF);
                    if self.bench.high("pass_ready") {
                        step.passes.pop_front();
                    }
                }
            }
        }
        step.age += 1;
        self.step = Some(step);
    }

    /// The records of this clock, in the order in which they are replayed.
    fn records(&mut self) {
        if let Some(step) = self.record.take() {
            let source = self.source_of(step.qp);
            let q = &mut self.qps[step.qp];
            if let Some(seq) = step.seq.filter(|_| !step.refused) {
                let pool = source.map(|source| &self.pools[source].1);
                if step.found == 3 {
                    let left = pool.map(|pool| pool.left.len());
                    assert_eq!(
                        (self.bench.get("rq_last") == 1, self.bench.get("rq_pd")),
                        (left == Some(1), 40 + source.unwrap_or(0) as u64)
                    );
                    self.shared += 1;
                }
                assert_eq!(
                    step.found,
                    q.receives.look(seq, step.msn, pool),
                    "clock {}: {step:x?}, {:x?}",
                    self.clock,
                    q.receives
                );
                self.missing += u64::from(step.found == 1);
                self.wrong += u64::from(step.found == 2);
                if let Some(mark) = &step.mark {
                    if let Some(source) = source.filter(|_| step.found == 3) {
                        q.receives.take(seq, &mut self.pools[source].1);
                    }
                    let receive = &q.receives.list[(seq - q.receives.head) as usize];
                    let (r, list) = (receive.words, receive.list(self.sges as u32));
                    let addr = u64::from(r[2]) | u64::from(r[3]) << 32;
                    assert_eq!((self.bench.get("rq_lkey"), self.bench.get("rq_addr")), (r[1].into(), addr));
                    assert_eq!(self.bench.high("rq_listed"), list.is_some());
                    let mut length = u64::from(r[4]);
                    for (k, piece) in list.iter().flatten().enumerate() {
                        self.bench.set("rq_at", k as u64);
                        assert_eq!(self.bench.words("rq_piece"), piece);
                    }
                    if let Some(list) = list {
                        length = list.iter().map(|piece| u64::from(piece[2])).sum::<u64>().min(0xFFFF_FFFF);
                        self.lists += 1;
                    }
                    assert_eq!(self.bench.get("rq_len"), length);
                    q.receives.mark(seq, step.msn, mark);
                }
            }
            for seq in &step.passed {
                q.receives.complete(*seq);
            }
            if step.mark.is_some_and(|m| m.failed != 0 || step.strays) {
                self.fail(step.qp);
            }
        }
        if self.bench.high("commit_recv_valid") {
            let qp = self.bench.get("commit_recv_qp") as usize;
            let index = self.bench.get("commit_recv_index");
            let words: [u32; 8] = self.bench.words("commit_recv_data").try_into().expect("32 bytes");
            if let Some(srq) = qp.checked_sub(self.qps.len()) {
                let (posted, pool) = &self.pools[srq];
                let n = pool.taken + pool.left.len() as u32;
                assert!(index == u64::from(n & 0xFFFF) && n < *posted, "receives arrive in order");
                let entry = self.memory[&self.address(qp, n)];
                assert_eq!(words, entry[..8]);
                let pool = &mut self.pools[srq].1;
                pool.left.push_back(entry);
                assert!(pool.left.len() as u32 <= self.most);
                return self.rcqe_record();
            }
            let n = self.qps[qp].receives.arrived();
            let entry = *self.memory.get(&self.address(qp, n)).expect("a receive that was posted");
            let q = &mut self.qps[qp];
            assert_eq!(index, u64::from(n & 0xFFFF), "receives arrive in order");
            assert!(n < q.posted, "a receive that was not posted");
            assert_eq!(words, entry[..8]);
            q.receives.arrive(entry);
            assert!(q.receives.list.len() as u32 <= self.most);
        }
        self.rcqe_record();
    }

    fn rcqe_record(&mut self) {
        if self.bench.high("commit_rcqe_valid") {
            let qp = self.bench.get("commit_rcqe_qp") as usize;
            let words = self.bench.words("commit_rcqe_data");
            let q = &mut self.qps[qp];
            if words[0] >> 8 & 0xFF == 130 {
                assert!(q.silent && q.receives.source.is_some() && q.receives.held() == 0, "LAST_WQE of QP {qp}");
                let phase = 1 - (q.receives.cqes >> RCQ_LOG2 & 1);
                let want = [130 << 8 | phase << 16, qp as u32, 0, 0, 0, 0, 0, 0];
                assert_eq!(words, want);
                self.expected.push_back((rcqe_base_of(qp, q.rcqe_writes), want));
                q.rcqe_writes += 1;
                self.last_wqes += 1;
                return;
            }
            let seq = q.receives.head;
            let want = q.receives.pop(qp, RCQ_LOG2).unwrap_or_else(|| panic!("no CQE of QP {qp} is due: {words:x?}"));
            assert_eq!(words, want);
            if want[0] & 0xFF == 0 {
                assert!(self.writes_done >= q.tickets[&seq], "Q5: a CQE before its data");
                self.completed += 1;
            } else {
                self.flushed += 1;
            }
            self.expected.push_back((rcqe_base_of(qp, q.rcqe_writes), want));
            q.rcqe_writes += 1;
        }
    }

    /// One clock.
    pub fn clock(&mut self) {
        self.drive_step();
        self.drive_host();
        self.records();
        self.bench.clock();
        self.clock += 1;
        if self.step.as_ref().is_some_and(|s| s.ends) {
            self.record = self.step.take();
        }
    }

    /// Random clocks: receives are posted in time, or late.
    pub fn run(&mut self, clocks: u64) {
        for _ in 0..clocks {
            if self.rng.random_bool(0.05) {
                let (qp, count) = (self.rng.random_range(0..self.qps.len()), self.rng.random_range(1..20));
                let short = match self.source_of(qp) {
                    Some(srq) => self.pools[srq].1.left.len() < 10,
                    None => self.qps[qp].posted < self.qps[qp].stream.next_seq + 20,
                };
                if short && !self.rng.random_bool(self.late) {
                    self.post(qp, count);
                }
            }
            if self.rng.random_bool(self.errors / 50.0) {
                let qp = self.rng.random_range(0..self.qps.len());
                self.fail(qp);
            }
            self.clock();
        }
    }

    /// A queue pair in Error, if there is one.
    pub fn failed(&self) -> Option<usize> {
        self.qps.iter().position(|q| q.open && q.receives.in_error)
    }

    /// What a queue pair still has to do.
    fn left(&self, q: &Outside) -> Option<&'static str> {
        let (head, in_error) = (q.receives.head, q.receives.in_error);
        if !q.open {
            return None;
        }
        if q.receives.list.front().is_some_and(|r| r.complete) {
            return Some("a completion");
        }
        if q.receives.source.is_some() {
            return (in_error && q.receives.held() > 0).then_some("flushes of what it took");
        }
        if in_error && head != q.posted {
            return Some("flushes");
        }
        (!in_error && q.receives.arrived() != q.posted.min(head + self.most)).then_some("receives to fetch ahead")
    }

    /// The peers stop; everything that can complete does.
    pub fn finish(&mut self) {
        self.qps.iter_mut().for_each(|q| q.silent = true);
        for _ in 0..100_000 {
            self.clock();
            if self.expected.is_empty() && self.qps.iter().all(|q| self.left(q).is_none()) {
                break;
            }
        }
        for _ in 0..300 {
            self.clock();
        }
        assert!(self.expected.is_empty(), "{} CQEs have not left", self.expected.len());
        for (qp, q) in self.qps.iter().enumerate() {
            assert_eq!(self.left(q), None, "QP {qp}");
        }
    }
}
