//! completion: simulation = Verilog; rules W2 to W4, N3 without retries and Q6's flushes against a plain list of messages.
mod tx_support;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::host::completion::Completion;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

fn with_sends(name: &str) -> BuildConfig {
    BuildConfig { sends: true, ..build(name).unwrap() }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Completion::<64>::new(&BuildConfig { reads: true, ..with_sends("ecp5") }), clock: clock, inputs: {
        reset, fault, cmsg_valid, cmsg_qp, cmsg_msn, cmsg_npkts, cmsg_length, cmsg_wqe_index, cmsg_wr_id, cmsg_signaled, cmsg_opcode,
        cmsg_status, ret_valid, ret_qp, ret_msn, ret_bytes, nak_valid, nak_qp, nak_code, nak_msn, cerr_valid, cerr_conn, rxerr_valid,
        rxerr_qp, nak_conn, nak_rnr, quiet, cfg_valid, cfg_table, cfg_index, cfg_data, rel_qp_ready, qperr_tx_addr, qperr_rx_addr, qperr_host_addr,
        cw_desc_ready, cw_ready, flush_ready, over_valid, over_qp, again_valid, again_qp, again_msn, rnr_hold, rcqe_valid, rcqe_addr, rcqe_data,
        answered_valid, answered_qp, answered_msn, rnak_valid, rnak_qp, rnak_code, rnak_msn
    })
    .top("completion")
    .cycles(3000)
    .seed(1)
    .reset_chance(0.0)
    .limit("cmsg_qp", 0..=3)
    .limit("cmsg_npkts", 1..=2)
    .limit("cmsg_msn", 0..=7)
    .limit("cmsg_opcode", 0..=7)
    .limit("answered_qp", 0..=3)
    .limit("answered_msn", 0..=7)
    .limit("rnak_qp", 0..=3)
    .limit("rnak_msn", 0..=7)
    .limit("ret_qp", 0..=3)
    .limit("ret_msn", 0..=7)
    .limit("nak_conn", 0..=1)
    .limit("nak_qp", 0..=7)
    .limit("nak_msn", 0..=7)
    .limit("cerr_conn", 0..=3)
    .limit("over_qp", 0..=3)
    .limit("again_qp", 0..=3)
    .limit("again_msn", 0..=7)
    .limit("rxerr_qp", 0..=7)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 1..=5)
    .limit("qperr_tx_addr", 0..=7)
    .limit("qperr_rx_addr", 0..=7)
    .limit("qperr_host_addr", 0..=7)
    .source("cmsg_valid", "cmsg_ready", &["cmsg_qp", "cmsg_msn", "cmsg_npkts", "cmsg_length", "cmsg_wqe_index", "cmsg_wr_id", "cmsg_signaled", "cmsg_opcode", "cmsg_status"])
    .source("ret_valid", "ret_ready", &["ret_qp", "ret_msn", "ret_bytes"])
    .source("answered_valid", "answered_ready", &["answered_qp", "answered_msn"])
    .source("rnak_valid", "rnak_ready", &["rnak_qp", "rnak_code", "rnak_msn"])
    .source("nak_valid", "nak_ready", &["nak_conn", "nak_qp", "nak_code", "nak_msn", "nak_rnr"])
    .source("rcqe_valid", "rcqe_ready", &["rcqe_addr", "rcqe_data"])
    .sink("flush_ready")
    .source("cerr_valid", "cerr_ready", &["cerr_conn"])
    .source("rxerr_valid", "rxerr_ready", &["rxerr_qp"])
    .sink("rel_qp_ready")
    .sink("cw_desc_ready")
    .sink("cw_ready")
    .stimulus(|random, _, inputs| {
        // errors are rare, statuses mostly 0, rows valid, MSNs start at 0
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] = 1 | (random.below(4) as u32) << 16;
        data[8] = 0;
        inputs.set("cfg_data", data);
        inputs.set("rnr_hold", random.chance(0.2));
        inputs.set("over_valid", random.chance(0.1));
        inputs.set("again_valid", random.chance(0.1));
        for v in ["cfg_valid"] {
            if random.chance(0.98) {
                inputs.set(v, 0u32);
            }
        }
        for (v, r) in [("nak_valid", "nak_ready"), ("cerr_valid", "cerr_ready"), ("rxerr_valid", "rxerr_ready"), ("rnak_valid", "rnak_ready")] {
            let waiting = inputs.previous(v) == 1 && inputs.sampled(r) == 0;
            if !waiting && random.chance(0.97) {
                inputs.set(v, 0u32);
            }
        }
    })
    .run();
}

#[derive(Clone, Debug)]
struct Msg {
    msn: u32,
    remaining: u32,
    status: u8,
    signaled: bool,
    opcode: u8,
    wqe_index: u16,
    length: u32,
    wr_id: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Fail {
    Spent,
    Message(u32),
    FirstNotDone,
}

/// W2 to W4 for one queue pair, in plain words.
#[derive(Clone, Debug)]
struct Stream {
    messages: VecDeque<Msg>,
    tail: u32,
    cq_count: u32,
    error: Option<(Fail, u8, u8)>,
}

const CQ_LOG2: u32 = 4;

impl Stream {
    fn new(msn: u32) -> Stream {
        Stream { messages: VecDeque::new(), tail: msn, cq_count: 0, error: None }
    }

    fn fail(&mut self, fail: Fail, status: u8, code: u8) {
        if let Fail::Message(msn) = fail {
            if !self.messages.iter().any(|m| m.msn == msn) {
                return;
            }
        }
        if self.error.is_none() {
            self.error = Some((fail, status, code));
        }
    }

    fn retire(&mut self, msn: u32) {
        if let Some(m) = self.messages.iter_mut().find(|m| m.msn == msn) {
            m.remaining = m.remaining.saturating_sub(1);
        }
    }

    /// Completes what can be: the CQEs, and how many messages left.
    fn run(&mut self, qp: u32, cqes: &mut VecDeque<(u64, [u32; 8])>, released: &mut VecDeque<u32>) {
        while let Some(m) = self.messages.front().cloned() {
            let done = m.remaining == 0;
            let (status, code) = match self.error {
                None if !done => return,
                None => (m.status, 0),
                Some((Fail::Spent, ..)) => (5, 0),
                Some((fail, status, code)) if fail == Fail::Message(m.msn) || (fail == Fail::FirstNotDone && !done) => {
                    self.error = Some((Fail::Spent, 0, 0));
                    (status, code)
                }
                Some(_) if done => (m.status, 0),
                Some(_) => (5, 0),
            };
            if self.error.is_none() && m.status != 0 {
                self.error = Some((Fail::Spent, 0, 0));
            }
            self.messages.pop_front();
            released.push_back(qp);
            if status != 0 || m.signaled {
                let phase = 1 ^ (self.cq_count >> CQ_LOG2 & 1);
                let at = cq_base(qp) + 32 * u64::from(self.cq_count % (1 << CQ_LOG2));
                let words = [
                    u32::from(status) | u32::from(m.opcode) << 8 | phase << 16,
                    qp,
                    m.wr_id as u32,
                    (m.wr_id >> 32) as u32,
                    if status == 0 { m.length } else { 0 },
                    m.wqe_index.into(),
                    code.into(),
                    m.msn,
                ];
                cqes.push_back((at, words));
                self.cq_count += 1;
            }
        }
    }
}

fn status_of_nak(code: u8) -> u8 {
    match code {
        1..=3 => 10,
        6 => 11,
        _ => 9,
    }
}

fn cq_base(qp: u32) -> u64 {
    0x1234_5678_0000 + 0x1000 * u64::from(qp)
}

/// The fields of a nak or of an RNR.
fn refusal(conn: u32, qp: u32, code: u8, msn: u32, rnr: u64) -> Vec<(&'static str, u64)> {
    vec![("conn", conn.into()), ("qp", qp.into()), ("code", code.into()), ("msn", msn.into()), ("rnr", rnr)]
}

/// An event that waits on its port until it is taken.
#[derive(Clone, Debug)]
enum Event {
    Message(u32, Msg),
    Retired(u32, u32),
    /// Connection, QP, code, MSN.
    Nak(u32, u32, u8, u32),
    /// The same for an RNR.
    Rnr(u32, u32, u8, u32),
    ConnError(u32),
    Refused(u32),
}

const PORTS: [&str; 5] = ["cmsg", "ret", "nak", "cerr", "rxerr"];

struct World {
    bench: Bench,
    rng: StdRng,
    width: usize,
    m: usize,
    streams: Vec<Stream>,
    /// Messages given and not released.
    outstanding: Vec<usize>,
    waiting: [Option<Event>; 5],
    /// The packet last taken as retired, until its record comes: QP, MSN, bytes.
    retired: Option<(u64, u64, u64)>,
    /// Expected on the commit port, the descriptor port and the data port.
    records: VecDeque<(u64, [u32; 8])>,
    descs: VecDeque<(u64, [u32; 8])>,
    datas: VecDeque<(u64, [u32; 8])>,
    released: VecDeque<u32>,
    /// Queue pairs whose receives are to be flushed.
    flushes: VecDeque<u32>,
    /// A CQE of a receive that waits to be taken, and how many were.
    receive: Option<(u64, [u32; 8])>,
    receives: usize,
    beat: usize,
    completed: usize,
    sends: bool,
    slow: f64,
}

impl World {
    fn new<const W: usize>(config: BuildConfig, seed: u64) -> World {
        let mut bench = Bench::new(&Completion::<W>::new(&config), &format!("completion_{W}"));
        bench.until("init_done", 20_000);
        let mut world = World {
            bench,
            rng: StdRng::seed_from_u64(seed),
            width: W,
            m: config.msgs_per_stream,
            streams: vec![],
            outstanding: vec![0; config.qps],
            waiting: [const { None }; 5],
            records: VecDeque::new(),
            descs: VecDeque::new(),
            datas: VecDeque::new(),
            released: VecDeque::new(),
            flushes: VecDeque::new(),
            receive: None,
            receives: 0,
            retired: None,
            beat: 0,
            completed: 0,
            sends: config.sends,
            slow: 0.0,
        };
        world.open(0xff_fff0);
        world
    }

    fn table(&mut self, table: u64, index: u32, data: &[u32; 16]) {
        self.bench.set("flush_ready", 0);
        self.bench.set("rcqe_valid", 0);
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", index.into());
        self.bench.set_words("cfg_data", data);
        self.bench.set("cfg_valid", 1);
        self.bench.clock();
        self.bench.set("cfg_valid", 0);
        for _ in 0..40 {
            if !self.bench.high("cfg_busy") {
                break;
            }
            self.bench.clock();
        }
        assert!(!self.bench.high("cfg_busy"));
    }

    /// (Re)opens a queue pair: its stream starts afresh. QP q belongs to connection q mod 4.
    fn open_qp(&mut self, qp: u32, msn: u32) {
        self.streams[qp as usize] = Stream::new(msn);
        let base = cq_base(qp);
        let mut data = [0; 16];
        data[0] = 1 | (qp % 4) << 16;
        data[4] = CQ_LOG2 << 4;
        (data[5], data[6]) = (base as u32, (base >> 32) as u32);
        data[8] = msn;
        self.table(3, qp, &data);
    }

    /// (Re)opens every connection and queue pair.
    fn open(&mut self, msn: u32) {
        self.streams = vec![Stream::new(msn); self.outstanding.len()];
        for conn in 0..4 {
            self.table(1, conn, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        }
        for qp in 0..self.outstanding.len() as u32 {
            self.open_qp(qp, msn);
        }
        self.check_error_bits();
    }

    fn check_error_bits(&mut self) {
        for qp in 0..self.streams.len() {
            for port in ["tx", "rx", "host"] {
                self.bench.set(&format!("qperr_{port}_addr"), qp as u64);
            }
            self.bench.clock();
            for port in ["tx", "rx", "host"] {
                assert_eq!(
                    self.bench.high(&format!("qperr_{port}_data")),
                    self.streams[qp].error.is_some(),
                    "qp {qp} at {port}"
                );
            }
        }
    }

    /// Offers an event if its port is free.
    fn offer(&mut self, event: Event) -> bool {
        let (port, fields): (usize, Vec<(&str, u64)>) = match &event {
            Event::Message(qp, m) => (
                0,
                vec![
                    ("qp", (*qp).into()),
                    ("msn", m.msn.into()),
                    ("npkts", if m.status == 0 { m.remaining.into() } else { 7 }),
                    ("length", m.length.into()),
                    ("wqe_index", m.wqe_index.into()),
                    ("wr_id", m.wr_id),
                    ("signaled", m.signaled.into()),
                    ("opcode", m.opcode.into()),
                    ("status", m.status.into()),
                ],
            ),
            Event::Retired(qp, msn) => (1, vec![("qp", (*qp).into()), ("msn", (*msn).into()), ("bytes", 64)]),
            Event::Nak(conn, qp, code, msn) => (2, refusal(*conn, *qp, *code, *msn, 0)),
            Event::Rnr(conn, qp, code, msn) => (2, refusal(*conn, *qp, *code, *msn, 1)),
            Event::ConnError(conn) => (3, vec![("conn", (*conn).into())]),
            Event::Refused(qp) => (4, vec![("qp", (*qp).into())]),
        };
        if self.waiting[port].is_some() {
            return false;
        }
        for (name, value) in fields {
            self.bench.set(&format!("{}_{name}", PORTS[port]), value);
        }
        self.bench.set(&format!("{}_valid", PORTS[port]), 1);
        self.waiting[port] = Some(event);
        true
    }

    fn message(&mut self, qp: u32, npkts: u32, status: u8, signaled: bool) -> bool {
        if self.waiting[0].is_some() || self.outstanding[qp as usize] >= self.m {
            return false;
        }
        let stream = &mut self.streams[qp as usize];
        let msg = Msg {
            msn: stream.tail,
            remaining: if status == 0 { npkts } else { 0 },
            status,
            signaled,
            opcode: if status == 2 { 9 } else { 0 },
            wqe_index: self.rng.random(),
            length: self.rng.random(),
            wr_id: self.rng.random(),
        };
        stream.tail = (stream.tail + 1) & 0xff_ffff;
        self.outstanding[qp as usize] += 1;
        self.offer(Event::Message(qp, msg))
    }

    /// The reference takes an event.
    fn apply(&mut self, event: Event) {
        let mut touched = vec![];
        let errors = |w: &World| w.streams.iter().map(|s| s.error.is_some()).collect::<Vec<_>>();
        let before = errors(self);
        match event {
            Event::Message(qp, msg) => {
                self.streams[qp as usize].messages.push_back(msg);
                touched.push(qp);
            }
            Event::Retired(qp, msn) => {
                self.streams[qp as usize].retire(msn);
                touched.push(qp);
            }
            // section 6: a peer refuses for queue pairs of its connection only
            Event::Nak(conn, qp, ..) if qp >= self.streams.len() as u32 || conn != qp % 4 => {}
            Event::Nak(_, qp, code, msn) => {
                self.streams[qp as usize].fail(Fail::Message(msn), status_of_nak(code), code);
                touched.push(qp);
            }
            Event::Rnr(conn, qp, ..) if qp >= self.streams.len() as u32 || conn != qp % 4 => {}
            // N3: of a message that is not done
            Event::Rnr(_, qp, code, msn) => {
                if self.streams[qp as usize].messages.iter().any(|m| m.msn == msn && m.remaining > 0) {
                    self.streams[qp as usize].fail(Fail::Message(msn), 13, code);
                    touched.push(qp);
                }
            }
            Event::Refused(qp) => {
                self.streams[qp as usize].fail(Fail::FirstNotDone, 5, 0);
                touched.push(qp);
            }
            Event::ConnError(conn) => {
                for qp in (0..self.streams.len() as u32).filter(|q| q % 4 == conn) {
                    self.streams[qp as usize].fail(Fail::FirstNotDone, 12, 0);
                    touched.push(qp);
                }
            }
        }
        let mut cqes = VecDeque::new();
        for qp in touched {
            self.streams[qp as usize].run(qp, &mut cqes, &mut self.released);
        }
        self.records.extend(&cqes);
        if self.sends {
            let after = errors(self);
            self.flushes.extend((0..after.len()).filter(|&q| after[q] && !before[q]).map(|q| q as u32));
        }
    }

    fn step(&mut self) {
        for name in ["cw_desc_ready", "cw_ready", "rel_qp_ready", "quiet", "flush_ready"] {
            let ready = !self.rng.random_bool(self.slow);
            self.bench.set(name, ready.into());
        }
        self.bench.set("rcqe_valid", self.receive.is_some().into());
        if let Some((at, words)) = self.receive {
            self.bench.set("rcqe_addr", at);
            self.bench.set_words("rcqe_data", &words);
            if self.bench.high("rcqe_ready") {
                assert!(!self.bench.high("commit_cqe_valid"), "two CQEs in one clock");
                self.receive = None;
                self.receives += 1;
                self.descs.push_back((at, words));
                self.datas.push_back((at, words));
            }
        }
        if self.bench.high("flush_valid") && self.bench.dut_input("flush_ready") {
            let qp = self.flushes.pop_front().expect("a flush too many");
            assert_eq!(self.bench.get("flush_qp"), u64::from(qp));
        }
        let mut taken = None;
        for (port, name) in PORTS.iter().enumerate() {
            if self.waiting[port].is_some() && self.bench.high(&format!("{name}_ready")) {
                assert!(taken.is_none(), "two events in one clock");
                taken = Some(port);
            }
        }
        if self.bench.high("commit_ret_valid") {
            let record =
                (self.bench.get("commit_ret_qp"), self.bench.get("commit_ret_msn"), self.bench.get("commit_ret_bytes"));
            assert_eq!(Some(record), self.retired.take(), "the record of a retired packet");
        }
        if self.bench.high("commit_cqe_valid") {
            let (at, words) = self.records.pop_front().expect("a CQE too many");
            self.descs.push_back((at, words));
            self.datas.push_back((at, words));
            assert_eq!(self.bench.words("commit_cqe_data"), words);
            assert_eq!((self.bench.get("commit_cqe_qp"), self.bench.get("commit_cqe_msn")), (words[1].into(), words[7].into()));
        }
        if self.bench.high("cw_desc_valid") && self.bench.dut_input("cw_desc_ready") {
            let (at, _) = self.descs.pop_front().expect("a descriptor too many");
            assert_eq!((self.bench.get("cw_desc_addr"), self.bench.get("cw_desc_len")), (at, 32));
        }
        if self.bench.high("cw_valid") && self.bench.dut_input("cw_ready") {
            let (_, words) = *self.datas.front().expect("data too many");
            let n = (self.width / 32).min(8);
            assert_eq!(&self.bench.words("cw_data")[..n], &words[self.beat * n..(self.beat + 1) * n]);
            self.beat += 1;
            assert_eq!(self.bench.high("cw_last"), self.beat * n == 8);
            if self.beat * n == 8 {
                self.beat = 0;
                self.datas.pop_front();
            }
        }
        if self.bench.high("rel_qp_valid") && self.bench.dut_input("rel_qp_ready") {
            let qp = self.released.pop_front().expect("a release too many");
            assert_eq!(self.bench.get("rel_qp"), u64::from(qp));
            self.outstanding[qp as usize] -= 1;
            self.completed += 1;
        }
        if let Some(port) = taken {
            let event = self.waiting[port].take().unwrap();
            self.bench.clock();
            if let Event::Retired(qp, msn) = event {
                assert!(self.retired.is_none(), "the packet before has no record");
                self.retired = Some((qp.into(), msn.into(), 64));
            }
            self.bench.set(&format!("{}_valid", PORTS[port]), 0);
            self.apply(event);
        } else {
            self.bench.clock();
        }
    }

    /// Until nothing is left to come.
    fn settle(&mut self) {
        for _ in 0..600 {
            self.step();
        }
        assert!(self.waiting.iter().all(|w| w.is_none()), "not taken: {:?}", self.waiting);
        assert!(self.records.is_empty() && self.descs.is_empty() && self.datas.is_empty(), "CQEs missing: {:?}", self.records);
        assert!(self.released.is_empty() && self.flushes.is_empty() && self.receive.is_none());
        self.check_error_bits();
    }

    /// The message of a QP whose packet is retired next, if any.
    fn due(&mut self, qp: u32) -> Option<u32> {
        let all: Vec<u32> = self.streams[qp as usize].messages.iter().filter(|m| m.remaining > 0).map(|m| m.msn).collect();
        (!all.is_empty()).then(|| all[self.rng.random_range(0..all.len())])
    }
}

fn random_run<const W: usize>(config: BuildConfig, seed: u64) {
    let mut w = World::new::<W>(config, seed);
    let qps = w.streams.len() as u32;
    let (mut errors, mut forged, mut rnrs) = (0, 0, 0);
    for generation in 0..6 {
        w.slow = [0.0, 0.3, 0.7][generation % 3];
        for _ in 0..1500 {
            let qp = w.rng.random_range(0..qps);
            if w.rng.random_bool(0.2) {
                let (npkts, signaled) = (w.rng.random_range(1..5), w.rng.random_bool(0.7));
                let refused = w.rng.random_bool(0.01);
                let status = if refused { [1, 2, 4, 5][w.rng.random_range(0..4)] } else { 0 };
                w.message(qp, npkts, status, signaled);
            }
            if w.rng.random_bool(0.5) {
                if let Some(msn) = w.due(qp) {
                    w.offer(Event::Retired(qp, msn));
                }
            }
            if w.rng.random_bool(0.01) {
                // a packet of a message that is gone
                let msn = w.streams[qp as usize].tail.wrapping_sub(w.m as u32 + 1) & 0xff_ffff;
                w.offer(Event::Retired(qp, msn));
            }
            if w.rng.random_bool(0.004) {
                let msn = w.streams[qp as usize].tail.wrapping_sub(w.rng.random_range(0..8)) & 0xff_ffff;
                let code = w.rng.random_range(1..8);
                // not a nak of a message whose packets are all retired: that cannot be
                let done = w.streams[qp as usize].messages.iter().any(|m| m.msn == msn && m.remaining == 0);
                let waits = matches!(&w.waiting[1], Some(Event::Retired(q, m)) if *q == qp && *m == msn);
                errors += usize::from(!done && !waits && w.offer(Event::Nak(qp % 4, qp, code, msn)));
            }
            if w.rng.random_bool(0.01) {
                let msn = w.streams[qp as usize].tail.wrapping_sub(w.rng.random_range(0..8)) & 0xff_ffff;
                let foreign = (qp + w.rng.random_range(1..4)) % 4;
                forged += usize::from(w.offer(Event::Nak(foreign, qp, 2, msn)));
            }
            if w.sends && w.rng.random_bool(0.008) {
                // at times of a message that is gone or done
                let msn = w.streams[qp as usize].tail.wrapping_sub(w.rng.random_range(0..8)) & 0xff_ffff;
                let waits = matches!(&w.waiting[1], Some(Event::Retired(q, m)) if *q == qp && *m == msn);
                let code = w.rng.random_range(0..32);
                rnrs += usize::from(!waits && w.offer(Event::Rnr(qp % 4, qp, code, msn)));
            }
            if w.sends && w.receive.is_none() && w.rng.random_bool(0.2) {
                w.receive = Some((w.rng.random(), w.rng.random()));
            }
            if w.rng.random_bool(0.001) {
                errors += usize::from(w.offer(Event::ConnError(qp % 4)));
            }
            if w.rng.random_bool(0.002) {
                errors += usize::from(w.offer(Event::Refused(qp)));
            }
            w.step();
        }
        // every message ends: what is not retired yet is retired, then queue pairs start afresh
        while w.waiting.iter().any(|e| e.is_some()) {
            w.step();
        }
        for qp in 0..qps {
            while let Some(msn) = w.due(qp) {
                w.offer(Event::Retired(qp, msn));
                w.step();
            }
        }
        w.settle();
        assert!(w.streams.iter().all(|s| s.messages.is_empty()), "W4: messages without end");
        let msn = w.rng.random_range(0..1 << 24);
        w.open(msn);
    }
    assert!(!w.sends || (rnrs > 10 && w.receives > 300), "{rnrs} RNRs, {} receives", w.receives);
    assert!(w.completed > 300 && errors > 15 && forged > 15, "{} messages, {errors} errors, {forged} forged", w.completed);
}

#[test]
fn w2_w3_w4_64() {
    random_run::<64>(build("ecp5").unwrap(), 1);
}

#[test]
fn w2_w3_w4_128() {
    random_run::<128>(build("sim").unwrap(), 2);
    random_run::<128>(build("sim_min").unwrap(), 3);
}

#[test]
fn w2_w3_w4_512() {
    random_run::<512>(build("bench512").unwrap(), 4);
}

/// The same with RNRs, flushes of receive queues and CQEs of receives on the same port.
#[test]
fn w2_w3_w4_n3_q6() {
    random_run::<64>(with_sends("ecp5"), 11);
    random_run::<128>(with_sends("sim_min"), 12);
}

/// N3 with no retry: the message fails with 13 and the peer's code, all others are flushed; a message that is done, one that is
/// gone and a queue pair of another connection are left alone.
#[test]
fn n3_an_rnr() {
    let mut w = World::new::<128>(with_sends("sim"), 13);
    for _ in 0..4 {
        while !w.message(1, 1, 0, true) {
            w.step();
        }
        w.step();
    }
    w.settle();
    w.offer(Event::Retired(1, 0xff_fff1));
    w.settle();
    for (conn, msn, counts) in [(1, 0xff_ffef, true), (1, 0xff_fff1, true), (1, 0xff_fff4, true), (2, 0xff_fff2, false)] {
        w.offer(Event::Rnr(conn, 1, 9, msn));
        let mut records = 0;
        for _ in 0..40 {
            records += u32::from(w.bench.high("commit_err_valid"));
            w.step();
        }
        assert_eq!(records, u32::from(counts));
        assert!(w.streams[1].error.is_none());
    }
    w.offer(Event::Rnr(1, 1, 9, 0xff_fff2));
    let (mut records, mut statuses) = (vec![], vec![]);
    for _ in 0..200 {
        if w.bench.high("commit_err_valid") {
            records.push(["kind", "qp", "conn", "code", "msn"].map(|f| w.bench.get(&format!("commit_err_{f}"))));
        }
        if w.bench.high("commit_cqe_valid") {
            let cqe = w.bench.words("commit_cqe_data");
            statuses.push((cqe[7], cqe[0] & 0xff, cqe[6]));
        }
        w.step();
    }
    w.settle();
    assert_eq!(records, [[4, 1, 1, 9, 0xff_fff2]]);
    assert_eq!(statuses, [(0xff_fff0, 5, 0), (0xff_fff1, 0, 0), (0xff_fff2, 13, 9), (0xff_fff3, 5, 0)]);
}

/// Q6: while the receive queues take no flush, because a CQE of theirs must leave first, that CQE still leaves.
#[test]
fn q6_flushes_and_receives_do_not_block_each_other() {
    let mut w = World::new::<128>(with_sends("sim_min"), 14);
    for qp in [0, 4, 8, 12] {
        w.message(qp, 1, 0, true);
        w.settle();
    }
    let ports = ["cw_desc_ready", "cw_ready", "rel_qp_ready", "quiet"];
    ports.iter().for_each(|name| w.bench.set(name, 1));
    w.bench.set("flush_ready", 0);
    w.bench.set("cerr_conn", 0);
    w.bench.set("cerr_valid", 1);
    w.bench.until("cerr_ready", 20);
    w.bench.clock();
    w.bench.set("cerr_valid", 0);
    let mut cqes = 0;
    for _ in 0..200 {
        cqes += u32::from(w.bench.high("commit_cqe_valid"));
        w.bench.clock();
    }
    assert_eq!(cqes, 1, "the second queue pair waits for room");
    for _ in 0..5 {
        w.bench.set("rcqe_valid", 1);
        w.bench.until("rcqe_ready", 20);
        w.bench.clock();
        w.bench.set("rcqe_valid", 0);
    }
    // one that is opened anew waits until the flushes of its earlier life were taken
    w.bench.set("cfg_table", 3);
    w.bench.set("cfg_index", 4);
    w.bench.set("cfg_valid", 1);
    w.bench.clock();
    w.bench.set("cfg_valid", 0);
    let mut flushes = vec![];
    for clock in 0..400 {
        w.bench.set("flush_ready", u64::from(clock % 20 == 19));
        if clock % 20 == 19 && w.bench.high("flush_valid") {
            flushes.push(w.bench.get("flush_qp"));
        }
        assert!(w.bench.high("cfg_busy") || flushes.len() == 4, "applied before its flush left");
        cqes += u32::from(w.bench.high("commit_cqe_valid"));
        w.bench.clock();
    }
    assert_eq!((flushes, cqes), (vec![0, 4, 8, 12], 4));
    assert!(!w.bench.high("cfg_busy"));
}

/// Q6: a queue pair opened on a connection in error is told to flush its receives, once it is open.
#[test]
fn q6_a_queue_pair_of_a_connection_given_up() {
    let mut w = World::new::<128>(with_sends("sim"), 15);
    w.offer(Event::ConnError(1));
    w.settle();
    w.open_qp(5, 7);
    w.streams[5].fail(Fail::FirstNotDone, 12, 0);
    w.flushes.push_back(5);
    w.settle();
}

/// The failing message gets its status when it is the oldest: done ones before it succeed, all others are flushed.
#[test]
fn w3_a_nak_in_the_middle() {
    let mut w = World::new::<128>(build("sim").unwrap(), 5);
    for _ in 0..5 {
        while !w.message(0, 1, 0, true) {
            w.step();
        }
        w.step();
    }
    w.settle();
    w.offer(Event::Retired(0, 0xff_fff1));
    w.settle();
    w.offer(Event::Nak(0, 0, 3, 0xff_fff3));
    let mut statuses = vec![];
    for _ in 0..200 {
        if w.bench.high("commit_cqe_valid") {
            let cqe = w.bench.words("commit_cqe_data");
            statuses.push((cqe[7], cqe[0] & 0xff, cqe[6]));
        }
        w.step();
    }
    assert_eq!(statuses, [(0xff_fff0, 5, 0), (0xff_fff1, 0, 0), (0xff_fff2, 5, 0), (0xff_fff3, 10, 3), (0xff_fff4, 5, 0)]);
}

/// Section 6, nak: one that names a queue pair of another connection, or none that there is, is no event at all.
#[test]
fn a_forged_nak_is_ignored() {
    let mut w = World::new::<128>(build("sim").unwrap(), 8);
    for qp in 0..4 {
        w.message(qp, 1, 0, true);
        w.settle();
    }
    let qps = w.streams.len() as u32;
    for (conn, qp) in [(1, 0), (0, 1), (7, 2), (0xffff, 3), (0, qps), (0, 0xfffc), (3, qps + 3)] {
        w.offer(Event::Nak(conn, qp, 2, 0xff_fff0));
        for _ in 0..40 {
            assert!(!w.bench.high("commit_err_valid"), "an event of queue pair {qp} for connection {conn}");
            w.step();
        }
    }
    w.settle();
    assert!(w.streams.iter().all(|s| s.error.is_none()) && w.completed == 0);
    w.offer(Event::Nak(2, 2, 2, 0xff_fff0));
    w.settle();
    assert!(w.streams[2].error.is_some() && w.completed == 1, "the same from its own connection counts");
}

/// W3, W4: a queue pair opened on a connection in error is in Error from the start, until the connection is opened again.
#[test]
fn w3_a_queue_pair_of_a_connection_given_up() {
    let mut w = World::new::<128>(build("sim").unwrap(), 9);
    w.offer(Event::ConnError(1));
    w.settle();
    w.open_qp(5, 7);
    w.streams[5].fail(Fail::FirstNotDone, 12, 0);
    w.flushes.push_back(5);
    w.check_error_bits();
    w.message(5, 1, 5, true);
    w.settle();
    assert_eq!(w.completed, 1);
    w.table(1, 1, &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    w.open_qp(5, 7);
    w.check_error_bits();
}

/// Section 10: a closed queue pair counts as one in Error for S2 and S6; a WQE of it that was under way gets no CQE.
#[test]
fn a_closed_queue_pair() {
    let mut w = World::new::<128>(build("sim").unwrap(), 10);
    w.message(2, 3, 0, true);
    w.settle();
    w.table(3, 2, &[0; 16]);
    w.bench.set("qperr_tx_addr", 2);
    w.bench.clock();
    assert!(w.bench.high("qperr_tx_data"));
    for (name, value) in [("qp", 2), ("msn", 0xff_fff1), ("npkts", 1), ("status", 5)] {
        w.bench.set(&format!("cmsg_{name}"), value);
    }
    w.bench.set("cmsg_valid", 1);
    while !w.bench.high("cmsg_ready") {
        w.bench.clock();
    }
    w.bench.clock();
    w.bench.set("cmsg_valid", 0);
    for _ in 0..40 {
        assert!(!w.bench.high("commit_cqe_valid") && !w.bench.high("cw_desc_valid") && !w.bench.high("rel_qp_valid"));
        w.bench.clock();
    }
    w.outstanding[2] = 0;
    w.open_qp(2, 9);
    w.check_error_bits();
    w.message(2, 1, 0, true);
    w.settle();
    w.offer(Event::Retired(2, 9));
    w.settle();
    assert_eq!(w.completed, 1);
}

/// 64-byte messages: at most 8 clocks each.
#[test]
fn at_most_eight_clocks_a_message() {
    let mut w = World::new::<512>(build("bench512").unwrap(), 6);
    let mut clocks = 0;
    let mut qp = 0;
    while w.completed < 400 {
        if w.message(qp, 1, 0, true) {
            qp = (qp + 1) % 16;
        }
        let oldest = (0..16).map(|i| (qp + i) % 16).find(|&q| !w.streams[q as usize].messages.is_empty());
        if let Some(q) = oldest {
            let msn = w.streams[q as usize].messages[0].msn;
            w.offer(Event::Retired(q, msn));
        }
        let before = w.bench.clocks();
        w.step();
        clocks += w.bench.clocks() - before;
        assert!(clocks < 10_000);
    }
    assert!(clocks <= 8 * 400, "{clocks} clocks for 400 messages");
}

/// work_fetch gives a message when it may be taken: ready does not wait for valid, nor for an end of what is retired.
#[test]
fn ready_for_a_message_comes_before_it() {
    for retired in [0, 1] {
        let mut w = World::new::<128>(build("sim").unwrap(), 9);
        for name in ["cw_desc_ready", "cw_ready", "rel_qp_ready", "quiet"] {
            w.bench.set(name, 1);
        }
        w.bench.set("ret_valid", retired);
        w.bench.until("cmsg_ready", 10);
    }
}

/// Fault 8: the CQE comes one packet too early.
#[test]
fn fault_8_is_visible() {
    for fault in [0, 8] {
        let mut w = World::new::<128>(build("sim").unwrap(), 7);
        w.bench.set("fault", fault);
        for name in ["cw_desc_ready", "cw_ready", "rel_qp_ready", "quiet"] {
            w.bench.set(name, 1);
        }
        w.message(0, 3, 0, true);
        while w.waiting[0].is_some() {
            w.step();
        }
        w.bench.set("ret_msn", 0xff_fff0);
        let mut early = false;
        for n in 0..2 {
            w.bench.set("ret_valid", 1);
            w.bench.until("ret_ready", 10);
            w.bench.clock();
            w.bench.set("ret_valid", 0);
            for _ in 0..10 {
                early |= w.bench.high("commit_cqe_valid");
                w.bench.clock();
            }
            assert_eq!(early, fault == 8 && n == 1);
        }
    }
}
