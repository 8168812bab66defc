//! Two NICs on a wire, each with its own checker, set up call by call: for tests that scenarios cannot express.
//!
//! In: regions, connections, queue pairs, WRITEs, frames made by hand. Out: what completed, counters, memory.
//! Guarantees: every step is compared with the golden model; table writes reach engine and model alike.
#![allow(dead_code)] // each test file uses its part
mod shared;

use mrnic_host_bus::rows;
use mrnic_lockstep::{Checker, Divergence, Record};
use mrnic_model::config::{key_of, ConnConfig, KeyConfig, NicConfig, QpAccess, QpConfig, Rights};
use mrnic_nic::config::{self, BuildConfig};
use mrnic_regs::{code, counter, reg, table};
use mrnic_sim::memory::HostMemory;
use mrnic_sim::models;
use mrnic_sim::nic::{NicSim, Observer};
use mrnic_sim::scenario::HostConfig;
use mrnic_sim::setup::{NodeSetup, RowReader, TableWrite};
use mrnic_sim::software::{pattern, Stream, Write};
use mrnic_sim::world::reference_config;
use mrnic_verilated::Model;
use mrnic_wire::NetAddr;
use std::collections::VecDeque;
use std::sync::OnceLock;

/// Difference between the addresses of software and those of the bus.
pub const TRANSLATION: u64 = 0x7000_0000_0000;
/// One way.
const DELAY_PS: u64 = 1_000_000;
const POLL_CYCLES: u64 = 16;
/// PPSNs start shortly before they wrap.
pub const START_PPSN: u32 = 0xFF_FFF0;
/// So do the MSNs.
const START_MSN: u32 = 0xFF_FFFE;

/// The simulation build.
pub fn build() -> BuildConfig {
    config::build("sim").expect("the simulation build")
}

/// The build with READ and atomics.
pub fn build_with_reads() -> BuildConfig {
    config::build("sim_reads").expect("the build of READs")
}

fn model(build: &BuildConfig) -> &'static Model {
    static MODELS: [OnceLock<Model>; 2] = [OnceLock::new(), OnceLock::new()];
    MODELS[usize::from(build.reads)].get_or_init(|| models::model(build, false, true).expect("the build can be Verilated"))
}

/// A registered memory region.
#[derive(Debug, Clone, Copy)]
pub struct Region {
    pub base: u64,
    pub va: u64,
    pub key: u32,
    pub len: usize,
}

/// Rights of a region that peers may write.
pub fn writable() -> Rights {
    Rights { remote_write: true, ..Rights::default() }
}

struct Watch {
    checker: Checker,
    failed: Option<Box<Divergence>>,
    records: Option<Vec<Record>>,
}

impl Watch {
    fn new(build: &BuildConfig) -> Self {
        Self::with_rto_min(build, reg::rto_min::RESET)
    }

    fn with_rto_min(build: &BuildConfig, ticks: u32) -> Self {
        Self { checker: checker(build, ticks), failed: None, records: None }
    }
}

impl Watch {
    fn check(&mut self, f: impl FnOnce(&mut Checker) -> Result<(), Box<Divergence>>) {
        if self.failed.is_none() {
            self.failed = f(&mut self.checker).err();
        }
    }
}

impl Observer for Watch {
    fn frame_in(&mut self, cycle: u64, frame: &[u8]) {
        self.check(|c| c.frame_in(cycle, frame));
    }
    fn record(&mut self, record: &Record, memory: &HostMemory) {
        if let Some(log) = &mut self.records {
            log.push(record.clone());
        }
        self.check(|c| c.record(record, memory));
    }
    fn dma_read(&mut self, cycle: u64, addr: u64, len: usize) {
        self.check(|c| c.dma_read(cycle, addr, len));
    }
    fn dma_write(&mut self, cycle: u64, addr: u64, data: &[u8]) {
        self.check(|c| c.dma_write(cycle, addr, data));
    }
    fn write_visible(&mut self) {
        self.check(|c| {
            c.write_visible();
            Ok(())
        });
    }
    fn wqe_read(&mut self, _: u64, _: u64, _: usize) {}
    fn cqe_write(&mut self, cycle: u64, addr: u64, data: &[u8]) {
        self.check(|c| c.cqe_write(cycle, addr, data));
    }
    fn frame_out(&mut self, cycle: u64, frame: &[u8], memory: &HostMemory) {
        self.check(|c| c.frame_out(cycle, frame, memory));
    }
}

/// One NIC, its software and its checker.
pub struct Node {
    pub nic: NicSim,
    watch: Watch,
    pub streams: Vec<Stream>,
    rows: RowReader,
    keys: u32,
    qps: u16,
}

impl Node {
    fn write(&mut self, write: &TableWrite) {
        self.watch.checker.row_written(self.rows.read(write));
        self.nic.write_table(write);
    }

    /// From now on the commit records are kept.
    pub fn keep_records(&mut self) {
        self.watch.records = Some(Vec::new());
    }

    /// The records kept so far, in order.
    pub fn records(&self) -> &[Record] {
        self.watch.records.as_deref().unwrap_or_default()
    }

    /// What the golden model of this node holds.
    pub fn model(&self) -> &mrnic_model::Nic<mrnic_model::OpenMr0> {
        self.watch.checker.model()
    }
}

/// Sender and frame: is it lost?
pub type Lose = Box<dyn FnMut(usize, &[u8]) -> bool>;

/// Both.
pub struct Rig {
    build: BuildConfig,
    pub nodes: [Node; 2],
    wires: [VecDeque<(u64, Vec<u8>)>; 2],
    /// The wire loses everything.
    pub cut: bool,
    /// The wire loses the frames of a node for which this says so.
    pub lose: Option<Lose>,
    /// Copies of the frames that node 0 sent, where wanted.
    pub tapped: Option<Vec<Vec<u8>>>,
    /// Queue pairs were closed that had WQEs without a CQE.
    pub abandons: bool,
    /// Queue pairs that are opened have lists.
    pub lists: bool,
    pub frames_sent: u64,
    pub frames_received: [u64; 2],
    pub limit_us: u64,
}

fn checker(build: &BuildConfig, rto_min_ticks: u32) -> Checker {
    let config = NicConfig { rto_min_ticks, ..reference_config(build, 0) };
    Checker::new(&config, build.clock_ps).expect("the build's sizes suit the model")
}

pub fn address(from: usize, ipv6: bool) -> NetAddr {
    let (a, b) = (from as u8 + 1, 2 - from as u8);
    if ipv6 {
        let ip = |n: u8| [0xFD, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, n];
        NetAddr::v6([2, 0, 0, 0, 0, a], [2, 0, 0, 0, 0, b], ip(a), ip(b))
    } else {
        NetAddr::v4([2, 0, 0, 0, 0, a], [2, 0, 0, 0, 0, b], [10, 0, 0, a], [10, 0, 0, b])
    }
}

impl Rig {
    /// Two NICs with nothing set up.
    pub fn new() -> Self {
        Self::of(build())
    }

    /// Two NICs of a build.
    pub fn of(build: BuildConfig) -> Self {
        let nodes = [0, 1].map(|n| Node {
            nic: NicSim::new(model(&build), n, build.clock_ps, &HostConfig::default(), 1).expect("the NIC starts"),
            watch: Watch::new(&build),
            streams: Vec::new(),
            rows: RowReader::new(&build),
            keys: 0,
            qps: 0,
        });
        Self {
            build,
            nodes,
            wires: [VecDeque::new(), VecDeque::new()],
            cut: false,
            lose: None,
            tapped: None,
            abandons: false,
            lists: false,
            frames_sent: 0,
            frames_received: [0; 2],
            limit_us: 20_000,
        }
    }

    /// Sets RTO_MIN of both NICs, before anything is opened.
    pub fn set_rto_min(&mut self, ticks: u32) {
        for node in &mut self.nodes {
            node.nic.write_register(reg::rto_min::OFFSET, ticks);
            node.watch = Watch::with_rto_min(&self.build, ticks);
        }
    }

    /// Resets both NICs, at any time. Nothing is set up afterwards; host memory stays.
    pub fn reset(&mut self) {
        for n in &mut self.nodes {
            n.nic.reset().expect("the NIC starts again");
            n.watch = Watch::new(&self.build);
            n.streams.clear();
            (n.keys, n.qps) = (0, 0);
        }
        self.wires.iter_mut().for_each(VecDeque::clear);
        self.frames_sent = 0;
        self.frames_received = [0; 2];
    }

    fn apply(&mut self, node: usize, setup: NodeSetup) {
        let node = &mut self.nodes[node];
        setup.writes().iter().for_each(|w| node.write(w));
        self.rows_taken();
    }

    /// Closes a queue pair at both ends, whatever it has under way; its number is not used again.
    pub fn close_pair(&mut self, qp: u16) {
        self.begin_closing(qp);
        self.rows_taken();
    }

    /// The same, but the NICs have not taken it yet.
    pub fn begin_closing(&mut self, qp: u16) {
        self.abandons = true;
        for (i, n) in self.nodes.iter_mut().enumerate() {
            n.write(&rows::closed(table::qp::NUMBER, qp));
            n.streams[usize::from(qp)] = Stream::new(i, qp, &mut n.nic.memory);
        }
    }

    /// D2: what queue pair `qp` of a node allows its peer, changed while it is open.
    pub fn allow(&mut self, node: usize, qp: u16, access: QpAccess) {
        let min_rnr_timer = QpConfig::new(0, 0).min_rnr_timer;
        self.nodes[node].write(&rows::access(qp, access, min_rnr_timer));
        self.rows_taken();
    }

    /// Closes a connection at both ends.
    pub fn close(&mut self, conn: u16) {
        for n in &mut self.nodes {
            n.write(&rows::closed(table::conn::NUMBER, conn));
        }
        self.rows_taken();
    }

    /// Closes every queue pair and connection 0 at both ends (drained, section 10); regions stay.
    pub fn close_all(&mut self) {
        for n in &mut self.nodes {
            for qp in 0..n.qps {
                n.write(&rows::closed(table::qp::NUMBER, qp));
            }
            n.write(&rows::closed(table::conn::NUMBER, 0));
            n.streams.clear();
            n.qps = 0;
        }
        self.rows_taken();
    }

    /// Until both NICs have taken every row.
    pub fn rows_taken(&mut self) {
        while !self.nodes.iter().all(|n| n.nic.bus_idle() && n.watch.checker.rows_waiting() == 0) {
            self.cycle();
        }
        let refused = self.nodes.iter().find_map(|n| n.watch.checker.refused_row());
        assert_eq!(refused, None, "the model takes every row");
    }

    /// A region of audited memory.
    pub fn region(&mut self, node: usize, len: usize, misalign: u64, rights: Rights, pd: u16) -> Region {
        let base = self.nodes[node].nic.memory.allocate(len.max(1), misalign, true);
        self.nodes[node].keys += 1;
        let index = self.nodes[node].keys;
        let va = base ^ TRANSLATION;
        let key =
            KeyConfig { valid: true, key_low: 0x5A ^ index as u8, pd, rights, base: va, length: len as u64, dma_base: base };
        self.apply(node, NodeSetup { keys: vec![(index, key)], ..NodeSetup::default() });
        Region { base, va, key: key_of(index, key.key_low), len }
    }

    /// A region filled with a pattern.
    pub fn filled(&mut self, node: usize, len: usize, misalign: u64) -> Region {
        let r = self.region(node, len, misalign, Rights::default(), 1);
        self.nodes[node].nic.memory.write(r.base, &pattern(r.base, len)).expect("the region");
        r
    }

    /// Opens connection `conn` at one end.
    pub fn open_end(&mut self, node: usize, conn: u16, change: &dyn Fn(&mut ConnConfig<NetAddr>)) {
        let mut c = ConnConfig::new(conn, 8, address(node, false));
        for (p, path) in c.path.iter_mut().enumerate() {
            path.udp_port = 0xC000 + p as u16;
            path.tx_start_ppsn = START_PPSN;
            path.rx_start_ppsn = START_PPSN;
        }
        change(&mut c);
        for (p, path) in c.path.iter_mut().enumerate() {
            path.enabled = p < usize::from(c.paths);
        }
        self.apply(node, NodeSetup { connections: vec![(conn, c)], ..NodeSetup::default() });
    }

    /// Opens connection `conn` at both ends.
    pub fn open(&mut self, conn: u16, change: &dyn Fn(&mut ConnConfig<NetAddr>)) {
        self.open_end(0, conn, change);
        self.open_end(1, conn, change);
    }

    /// Opens a queue pair at one end.
    pub fn open_qp(&mut self, node: usize, conn: u16, peer: u16, pd: u16) -> u16 {
        let n = &mut self.nodes[node];
        let qp = n.qps;
        n.qps += 1;
        let mut stream = Stream::new(node, qp, &mut n.nic.memory);
        (stream.rings.sq_lists, stream.rings.rq_lists) = (self.lists, self.lists);
        let mut q = QpConfig::new(conn, peer.into());
        q.pd = pd;
        q.tx_start_msn = START_MSN;
        q.rx_start_msn = START_MSN;
        q.cq_log2 = stream.rings.cq_log2;
        let rings = stream.rings;
        n.streams.push(stream);
        self.apply(node, NodeSetup { qps: vec![(qp, q, rings)], ..NodeSetup::default() });
        qp
    }

    /// Opens a queue pair at both ends, in protection domain 1; it has the same number at both.
    pub fn pair(&mut self, conn: u16) -> u16 {
        let qp = self.nodes[0].qps;
        assert_eq!(qp, self.nodes[1].qps, "both ends number alike");
        self.open_qp(0, conn, qp, 1);
        self.open_qp(1, conn, qp, 1)
    }

    /// Posts a WRITE of the first `len` bytes of `from` to `to`.
    pub fn post(&mut self, node: usize, qp: u16, from: &Region, to: &Region, len: usize) {
        self.post_write(node, qp, write(from, to, len as u32));
    }

    pub fn post_write(&mut self, node: usize, qp: u16, write: Write) {
        self.nodes[node].streams[usize::from(qp)].add(write, 0);
    }

    /// Puts a frame made by hand on the wire to `node`.
    pub fn inject(&mut self, node: usize, frame: Vec<u8>) {
        let n = &mut self.nodes[node];
        if n.nic.receive(frame, &mut n.watch) {
            self.frames_received[node] += 1;
        }
    }

    /// One clock of both.
    pub fn cycle(&mut self) {
        let now = self.nodes[0].nic.now_ps();
        for to in 0..2 {
            while self.wires[to].front().is_some_and(|f| f.0 <= now) {
                let Some((_, frame)) = self.wires[to].pop_front() else { break };
                self.inject(to, frame);
            }
        }
        for n in 0..2 {
            let node = &mut self.nodes[n];
            let frame = node.nic.step(&mut node.watch).unwrap_or_else(|e| panic!("{e}"));
            if let Some(d) = &node.watch.failed {
                panic!("node {n} differs from the golden model:\n{d}");
            }
            let Some(frame) = frame else { continue };
            self.frames_sent += 1;
            if let Some(t) = self.tapped.as_mut().filter(|_| n == 0) {
                t.push(frame.clone());
            }
            let lost = self.lose.as_mut().is_some_and(|lose| lose(n, &frame));
            if !self.cut && !lost {
                self.wires[1 - n].push_back((now + DELAY_PS, frame));
            }
        }
    }

    pub fn cycles(&mut self, n: u64) {
        for _ in 0..n {
            self.cycle();
        }
    }

    /// Software looks at its rings once.
    pub fn poll(&mut self) {
        for n in &mut self.nodes {
            for s in &mut n.streams {
                s.poll(&mut n.nic).unwrap_or_else(|e| panic!("{e}"));
            }
        }
    }

    /// Until every WQE has its CQE.
    pub fn run(&mut self) {
        let limit = self.nodes[0].nic.now_ps() + self.limit_us * 1_000_000;
        loop {
            self.poll();
            if self.nodes.iter().all(|n| n.streams.iter().all(Stream::done)) {
                return;
            }
            if self.nodes[0].nic.now_ps() >= limit {
                let counters = [0, 1].map(|n| self.counters(n).named());
                panic!("not everything completed within {} us: {counters:?}", self.limit_us);
            }
            self.cycles(POLL_CYCLES);
        }
    }

    /// Until nothing is under way.
    pub fn settle(&mut self) {
        for _ in 0..400 {
            self.cycles(100);
            let quiet = self.wires.iter().all(VecDeque::is_empty)
                && self.nodes.iter().all(|n| n.nic.dma_idle() && n.nic.rx_backlog() == 0);
            if quiet {
                break;
            }
        }
        self.cycles(6000);
    }

    /// Settles, ends the comparison and returns the counters of both.
    pub fn finish(&mut self) -> [Counters; 2] {
        self.settle();
        let counters = [0, 1].map(|n| self.counters(n));
        for (n, node) in self.nodes.iter_mut().enumerate() {
            node.watch.checker.finish().unwrap_or_else(|d| panic!("node {n}:\n{d}"));
        }
        for (n, c) in counters.iter().enumerate() {
            let received = c.sum(&RECEIVED);
            assert_eq!(received, self.frames_received[n], "node {n}: frames counted and frames received: {c:?}");
            assert_eq!(
                c.get("RX_ACK"),
                c.sum(&["ACK_APPLIED", "ACK_STALE", "ACK_INVALID"]),
                "node {n}: acknowledgments: {c:?}"
            );
            let (wqes, cqes) = (c.get("WQE"), c.get("CQE"));
            assert!(wqes == cqes || (self.abandons && wqes > cqes), "node {n}: every WQE has its CQE: {c:?}");
        }
        counters
    }

    pub fn counters(&mut self, n: usize) -> Counters {
        let node = &mut self.nodes[n];
        Counters(node.nic.counters(&mut node.watch).expect("the counters"))
    }

    /// `to` holds what `from` holds, each byte written once, and nothing beyond `len`.
    pub fn assert_copied(&self, from: (usize, &Region), to: (usize, &Region), len: usize) {
        let sent = self.nodes[from.0].nic.memory.read(from.1.base, len).expect("the local region");
        let got = self.nodes[to.0].nic.memory.read(to.1.base, len).expect("the remote region");
        assert!(sent == got, "{len} bytes differ, the first at {:?}", sent.iter().zip(got).position(|(a, b)| a != b));
        let writes = self.nodes[to.0].nic.memory.write_counts(to.1.base).expect("an audited region");
        let wrong = (0..to.1.len).find(|i| writes[*i] != u8::from(*i < len));
        assert_eq!(wrong, None, "bytes of {} written other than once", len);
    }

    /// Nothing was ever written to `r`.
    pub fn assert_untouched(&self, node: usize, r: &Region) {
        let writes = self.nodes[node].nic.memory.write_counts(r.base).expect("an audited region");
        assert!(writes.iter().all(|w| *w == 0), "{r:x?} was written");
    }
}

/// Counters of what came in.
const RECEIVED: [&str; 9] = [
    "RX_DATA_NEW",
    "RX_DUPLICATE",
    "RX_OUT_OF_WINDOW",
    "RX_NAK",
    "RX_PROBE",
    "RX_ACK",
    "RX_DROP_FRAME",
    "RX_DROP_ICRC",
    "RX_DROP_CONN",
];

/// Counters by name.
#[derive(Debug, Clone)]
pub struct Counters(Vec<u32>);

impl Counters {
    pub fn get(&self, name: &str) -> u64 {
        let i = counter::NAMES.iter().position(|n| n.eq_ignore_ascii_case(name)).unwrap_or_else(|| panic!("no counter {name}"));
        self.0[i].into()
    }

    /// Those that are not 0.
    fn named(&self) -> Vec<(&'static str, u32)> {
        counter::NAMES.into_iter().zip(self.0.iter().copied()).filter(|c| c.1 > 0).collect()
    }

    pub fn sum(&self, names: &[&str]) -> u64 {
        names.iter().map(|n| self.get(n)).sum()
    }
}

/// A WRITE of the first `length` bytes of `from` to `to` that succeeds.
pub fn write(from: &Region, to: &Region, length: u32) -> Write {
    Write {
        local: from.va,
        lkey: from.key,
        remote: to.va,
        rkey: to.key,
        length,
        expect: code::STATUS_SUCCESS,
        ..Write::default()
    }
}
