//! Nodes, network and checkers, advanced cycle by cycle.
//!
//! In: a scenario and a Verilated model. Out: an [`Outcome`], or the first thing that went wrong as a [`RunError`].
//! Guarantees: every commit of every node is compared with the golden model; at the end memory, placement, completions and
//! the conservation of frames are checked independently of the model.
use crate::atomics::{AtomicError, Atomics, WORD};
use crate::attempts::Attempts;
use crate::capture::{Capture, CaptureError};
use crate::fabric::{Fabric, PlaneStats};
use crate::memory::{HostMemory, OutsideMemory};
use crate::nic::corundum::CoreReport;
use crate::nic::{NicError, NicSim, Observer};
use crate::outstanding::Outstanding;
use crate::receiver::Receiver;
use crate::recorder::{Log, PathSeries, PathStats, Recorder};
use crate::scenario::Scenario;
use crate::setup::{NodeSetup, RowReader};
use crate::software::{SoftwareError, Stream, Transfer};
use mrnic_lockstep::{Checker, Divergence, Record};
use mrnic_model::config::{NicConfig, Stage};
use mrnic_nic::config::BuildConfig;
use mrnic_regs::{counter, reg};
use mrnic_verilated::{FileError, Model};
use mrnic_wire::Opcode;
use rand::rngs::SmallRng;
use rand::SeedableRng;
use std::collections::BTreeMap;
use std::path::PathBuf;
use thiserror::Error;
use traffic::{connections, traffic};

mod traffic;

/// Why a run failed: which check.
#[derive(Debug, Error)]
pub enum RunError {
    #[error("lockstep check failed on node {node}:\n{report}")]
    Lockstep { node: usize, report: Box<Divergence> },
    #[error(transparent)]
    Software(#[from] SoftwareError),
    #[error(transparent)]
    Atomics(#[from] AtomicError),
    #[error(transparent)]
    Nic(#[from] NicError),
    #[error("memory check failed: node {node}, byte {offset} of transfer {transfer} is {got:#04x} instead of {expected:#04x} (first of {wrong} wrong bytes)")]
    Data { node: usize, transfer: usize, offset: usize, got: u8, expected: u8, wrong: usize },
    #[error("placement check failed: node {node}, byte {offset} of transfer {transfer} was written {count} times instead of {expected} (R5, N2)")]
    Placement { node: usize, transfer: usize, offset: usize, count: u8, expected: String },
    #[error("conservation check failed: {0}")]
    Conservation(String),
    #[error("progress check failed: {done} of {total} bytes completed after {limit_us} us (limit_us of the scenario); nothing completed for {idle_us} us")]
    Stalled { done: u64, total: u64, limit_us: u64, idle_us: u64 },
    #[error(transparent)]
    Memory(#[from] OutsideMemory),
    #[error(transparent)]
    Capture(#[from] CaptureError),
    #[error(transparent)]
    Trace(#[from] FileError),
    #[error("the scenario cannot be set up: {0}")]
    Setup(String),
}

/// How a run is watched.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Waveform of node 0, and how many cycles of it.
    pub wave: Option<(PathBuf, u64)>,
    pub pcap: Option<PathBuf>,
    /// Compare with the golden model.
    pub lockstep: bool,
    /// Fault planted in node 0 (builds with faults).
    pub fault: u32,
    /// Keep every commit record and every frame sent (short runs only).
    pub log: bool,
    /// Cycles between the engine's readiness and the first access of software.
    pub late_cycles: u64,
}

/// Frames written to a capture at most.
const PCAP_FRAMES: u64 = 20_000;
/// Cycles between two polls of the completion queues.
const POLL_CYCLES: u64 = 16;
/// Cycles between two reports of progress.
const PROGRESS_CYCLES: u64 = 4096;
/// Cycles after the last completion in which what is still under way must settle.
const SETTLE_CYCLES: u64 = 40_000;

/// What a run showed.
#[derive(Debug, Clone, serde::Serialize)]
pub struct Outcome {
    pub scenario: String,
    pub seed: u64,
    /// From the first WQE to the last CQE.
    pub duration_ns: u64,
    pub bytes_verified: u64,
    pub commits: u64,
    pub nic_cycles: u64,
    pub nodes: Vec<NodeOutcome>,
    pub planes: Vec<PlaneStats>,
}

/// What a run showed on one node.
#[derive(Debug, Clone, serde::Serialize)]
pub struct NodeOutcome {
    pub node: usize,
    pub commits: u64,
    pub counters: BTreeMap<String, u32>,
    /// Of the core around the engine, where it is wrapped.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core: Option<CoreReport>,
    /// As a sender, with the peer of the connection.
    pub paths: Vec<PathOutcome>,
}

/// One path of one node as a sender.
#[derive(Debug, Clone, serde::Serialize)]
pub struct PathOutcome {
    pub peer: usize,
    pub path: u64,
    #[serde(flatten)]
    pub stats: PathStats,
    pub series: PathSeries,
}

impl Outcome {
    /// Payload bits per nanosecond.
    pub fn goodput_gbps(&self) -> f64 {
        self.bytes_verified as f64 * 8.0 / self.duration_ns.max(1) as f64
    }
}

struct Node {
    nic: NicSim,
    streams: Vec<Stream>,
    receivers: Vec<Receiver>,
    watch: Watch,
}

impl Node {
    /// Nothing is under way in it; what it sent, responses too, was acknowledged.
    fn is_quiet(&self) -> bool {
        self.nic.dma_idle() && self.nic.rx_backlog() == 0 && !self.watch.outstanding.any()
    }
}

/// The observer of one node.
struct Watch {
    recorder: Recorder,
    attempts: Attempts,
    outstanding: Outstanding,
    checker: Option<Checker>,
    failed: Option<Box<Divergence>>,
}

impl Watch {
    fn check(&mut self, f: impl FnOnce(&mut Checker) -> Result<(), Box<Divergence>>) {
        if self.failed.is_none() {
            if let Some(c) = &mut self.checker {
                self.failed = f(c).err();
            }
        }
    }
}

impl mrnic_lockstep::Memory for HostMemory {
    fn read_into(&self, addr: u64, out: &mut [u8]) -> bool {
        match self.read(addr, out.len()) {
            Ok(bytes) => {
                out.copy_from_slice(bytes);
                true
            }
            Err(_) => false,
        }
    }
}

impl Observer for Watch {
    fn frame_in(&mut self, cycle: u64, frame: &[u8]) {
        self.check(|c| c.frame_in(cycle, frame));
    }
    fn record(&mut self, record: &Record, memory: &HostMemory) {
        self.recorder.record(record);
        self.attempts.record(record);
        self.outstanding.record(record);
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
        self.recorder.frame(cycle, frame);
        self.check(|c| c.frame_out(cycle, frame, memory));
    }
}

/// The golden model of a NIC of that build, with its registers as after reset but for the receive capacity.
pub fn reference_config(build: &BuildConfig, epoch_cap_bytes: u32) -> NicConfig {
    NicConfig {
        conns: build.conns as u32,
        paths_max: build.paths as u8,
        qps: build.qps as u32,
        msgs_per_stream: build.msgs_per_stream as u32,
        conn_fifo: build.conn_fifo as u32,
        keys: build.keys as u32,
        window_pkts: build.window_bits as u16,
        pool_packets: build.pool_packets as u32,
        ack_every: reg::ack_every::RESET as u8,
        ack_delay_ticks: reg::ack_delay::RESET,
        rto_min_ticks: reg::rto_min::RESET,
        epoch_cap_bytes,
        events: false,
        responses: build.responses as u32,
        sges: build.sges as u8,
        request_sges: build.sges as u8,
        srqs: build.srqs as u32,
        stage: match (build.reads, build.sends) {
            (true, _) => Stage::Full,
            (false, true) => Stage::Send,
            (false, false) => Stage::Write,
        },
        ..NicConfig::default()
    }
}

/// Index of the connection of `node` to `peer`.
fn conn_index(node: usize, peer: usize) -> u16 {
    (if peer < node { peer } else { peer - 1 }) as u16
}

/// The node a connection of `node` leads to.
fn peer_of(node: usize, conn: u64) -> usize {
    let c = conn as usize;
    if c < node {
        c
    } else {
        c + 1
    }
}

const MAC_NODE_BYTE: usize = 5;

/// Everything.
pub struct World {
    scenario: Scenario,
    options: Options,
    nodes: Vec<Node>,
    fabric: Fabric,
    transfers: Vec<Transfer>,
    atomics: Vec<Atomics>,
    capture: Option<Capture>,
    total: u64,
    link_drops: u64,
}

impl World {
    /// Opens all connections of a scenario.
    pub fn new(scenario: &Scenario, build: &BuildConfig, model: &Model, options: &Options) -> Result<Self, RunError> {
        let seed = scenario.seed;
        let mut rng = SmallRng::seed_from_u64(seed);
        let fabric = Fabric::new(&scenario.fabric, scenario.nics, seed);
        let mut nodes = Vec::new();
        for n in 0..scenario.nics {
            let nic = NicSim::new(model, n, build.clock_ps, &scenario.host, seed)?;
            let mut recorder = Recorder::new(build.clock_ps);
            recorder.log = options.log.then(Log::default);
            let outstanding = Outstanding::new(build.conns);
            let watch = Watch { recorder, attempts: Attempts::default(), outstanding, checker: None, failed: None };
            nodes.push(Node { nic, streams: Vec::new(), receivers: Vec::new(), watch });
        }
        if options.fault != 0 && !nodes[0].nic.set_fault(options.fault) {
            return Err(RunError::Setup(format!("build {} has no fault input", build.name)));
        }
        let mut setups = connections(scenario, &mut rng);
        let (transfers, atomics) = traffic(scenario, build, &mut nodes, &mut setups, &mut rng)?;
        let capture = match &options.pcap {
            Some(file) => Some(Capture::create(file, scenario.fabric.planes, PCAP_FRAMES)?),
            None => None,
        };
        let mut world = Self {
            total: scenario.traffic.iter().map(|t| t.bytes).sum(),
            scenario: scenario.clone(),
            options: options.clone(),
            nodes,
            fabric,
            transfers,
            atomics,
            capture,
            link_drops: 0,
        };
        world.configure(build, &setups)?;
        Ok(world)
    }

    fn configure(&mut self, build: &BuildConfig, setups: &[NodeSetup]) -> Result<(), RunError> {
        // R11: 0.95 of the line rate in an epoch of 16.384 us
        let cap = (u64::from(self.scenario.connection.hint_capacity_mbps) * 16_384 / 8000 * 95 / 100) as u32;
        self.join(build)?;
        for (node, setup) in self.nodes.iter_mut().zip(setups) {
            node.nic.write_register(reg::epoch_cap::OFFSET, cap);
            if let Some(checker) = &mut node.watch.checker {
                checker.set_epoch_cap(cap).map_err(|e| RunError::Setup(e.to_string()))?;
                let mut rows = RowReader::new(build);
                setup.writes().iter().for_each(|w| checker.row_written(rows.read(w)));
            }
            for w in setup.writes() {
                node.nic.write_table(&w);
            }
        }
        let rows_wait = |n: &Node| n.watch.checker.as_ref().is_some_and(|c| c.rows_waiting() > 0);
        while self.nodes.iter().any(|n| !n.nic.bus_idle() || rows_wait(n)) {
            self.cycle()?;
        }
        let mut checkers = self.nodes.iter().filter_map(|n| n.watch.checker.as_ref());
        match checkers.find_map(|c| c.refused_row()) {
            Some(row) => Err(RunError::Setup(row.to_owned())),
            None => Ok(()),
        }
    }

    /// Checkers begin where the engines are: a build that clears its memories for longer than an epoch of the rate hint has counted some (R11). The capacity
    /// is written between two epochs, because the engine reads it while it computes a share.
    fn join(&mut self, build: &BuildConfig) -> Result<(), RunError> {
        if self.options.lockstep {
            for node in &mut self.nodes {
                let checker = Checker::new(&reference_config(build, 0), build.clock_ps);
                node.watch.checker = Some(checker.map_err(|e| RunError::Setup(e.to_string()))?);
                for record in node.nic.early_records() {
                    node.watch.check(|c| c.record(record, &node.nic.memory));
                }
            }
        }
        for _ in 0..self.options.late_cycles {
            self.cycle()?;
        }
        while self.nodes.iter().any(|n| n.watch.checker.as_ref().is_some_and(|c| c.model().epoch_pending())) {
            self.cycle()?;
        }
        Ok(())
    }

    /// One clock cycle of all nodes.
    fn cycle(&mut self) -> Result<(), RunError> {
        let now = self.nodes[0].nic.now_ps();
        while let Some((to, _, frame)) = self.fabric.deliver(now) {
            let node = &mut self.nodes[to];
            if !node.nic.receive(frame, &mut node.watch) {
                self.link_drops += 1;
            }
        }
        for n in 0..self.nodes.len() {
            let node = &mut self.nodes[n];
            let frame = node.nic.step(&mut node.watch)?;
            if let Some(report) = node.watch.failed.take() {
                return Err(RunError::Lockstep { node: n, report });
            }
            let Some(frame) = frame else { continue };
            let to = usize::from(frame.get(MAC_NODE_BYTE).copied().unwrap_or(0)).wrapping_sub(1);
            if to >= self.nodes.len() || to == n {
                return Err(RunError::Conservation(format!("node {n} sent a frame to no node")));
            }
            let is_ack = mrnic_wire::parse_packet(&frame).is_ok_and(|p| p.packet.opcode() == Opcode::Ack);
            let copy = self.capture.is_some().then(|| frame.clone());
            let plane = self.fabric.send(now, n, to, frame, is_ack);
            if let (Some(c), Some(copy)) = (&mut self.capture, copy) {
                c.frame(now, plane, &copy)?;
            }
        }
        Ok(())
    }

    /// Runs until everything has completed; `progress` gets bytes completed and bytes in all.
    pub fn run(&mut self, progress: &mut dyn FnMut(u64, u64)) -> Result<Outcome, RunError> {
        if let Some((file, _)) = &self.options.wave {
            self.nodes[0].nic.trace_open(file)?;
        }
        let start_ps = self.nodes[0].nic.now_ps();
        let start_cycle = self.nodes[0].nic.cycle();
        let limit_ps = start_ps + self.scenario.limit_us * 1_000_000;
        let (mut cycles, mut last_done, mut last_change, mut completed) = (0u64, 0, start_ps, 0);
        loop {
            let now = self.nodes[0].nic.now_ps();
            if cycles.is_multiple_of(POLL_CYCLES) {
                let mut done = 0;
                let mut all = true;
                let mut count = 0;
                for node in &mut self.nodes {
                    for s in &mut node.streams {
                        s.poll(&mut node.nic)?;
                        done += s.bytes();
                        count += s.completed();
                        all &= s.done();
                    }
                    for r in &mut node.receivers {
                        r.poll(&mut node.nic)?;
                        count += r.completed();
                        all &= r.done();
                    }
                }
                if count != completed {
                    (completed, last_change) = (count, now);
                }
                if all {
                    break;
                }
                if now > limit_ps {
                    let idle_us = (now - last_change) / 1_000_000;
                    return Err(RunError::Stalled { done, total: self.total, limit_us: self.scenario.limit_us, idle_us });
                }
                if cycles.is_multiple_of(PROGRESS_CYCLES) || done != last_done {
                    progress(done, self.total);
                    last_done = done;
                }
            }
            self.cycle()?;
            cycles += 1;
            if self.options.wave.as_ref().is_some_and(|w| w.1 == cycles) {
                self.nodes[0].nic.trace_close();
            }
        }
        let end_ps = self.nodes[0].nic.now_ps();
        self.nodes[0].nic.trace_close();
        progress(self.total, self.total);
        self.settle()?;
        if let Some(c) = &mut self.capture {
            c.flush()?;
        }
        let bytes_verified = self.verify()?;
        self.outcome(end_ps - start_ps, bytes_verified, start_cycle)
    }

    /// Lets everything under way arrive.
    fn settle(&mut self) -> Result<(), RunError> {
        self.nodes.iter_mut().for_each(|n| n.nic.quiesce());
        for _ in 0..SETTLE_CYCLES {
            let quiet = self.fabric.in_flight() == 0 && self.nodes.iter().all(Node::is_quiet);
            if quiet {
                break;
            }
            self.cycle()?;
        }
        // what the pipelines still hold
        for _ in 0..2000 {
            self.cycle()?;
        }
        Ok(())
    }

    fn verify(&self) -> Result<u64, RunError> {
        if !self.fabric.conserved() {
            return Err(RunError::Conservation(format!(
                "frames: {:?}, {} in flight",
                self.fabric.stats,
                self.fabric.in_flight()
            )));
        }
        let mut verified = 0;
        for (i, t) in self.transfers.iter().enumerate() {
            let sent = self.nodes[t.from].nic.memory.read(t.local, t.bytes as usize)?;
            let memory = &self.nodes[t.to].nic.memory;
            if t.beyond > 0 {
                // R4: nothing of a refused packet is in memory
                let counts = memory.write_counts(t.remote).unwrap_or_default();
                if let Some(offset) = ((t.bytes - t.beyond) as usize..counts.len()).find(|o| counts[*o] != 0) {
                    let expected = "never".to_owned();
                    return Err(RunError::Placement { node: t.to, transfer: i, offset, count: counts[offset], expected });
                }
                continue;
            }
            let got = memory.read(t.remote, t.bytes as usize)?;
            if let Some(offset) = sent.iter().zip(got).position(|(a, b)| a != b) {
                let wrong = sent.iter().zip(got).filter(|(a, b)| a != b).count();
                let (got, expected) = (got[offset], sent[offset]);
                return Err(RunError::Data { node: t.to, transfer: i, offset, got, expected, wrong });
            }
            if let Some(counts) = memory.write_counts(t.remote) {
                let attempts = &self.nodes[t.from].watch.attempts;
                for (m, message) in counts[..t.bytes as usize].chunks((t.message_bytes as usize).max(1)).enumerate() {
                    let (qp, first_msn) = t.streams[m % t.streams.len()];
                    // each attempt writes a byte once at most, and the last one what no other has written
                    let begun = attempts.of(qp, first_msn.wrapping_add((m / t.streams.len()) as u32));
                    let most = if t.answers { 1 } else { begun };
                    if let Some(at) = message.iter().position(|count| *count == 0 || u32::from(*count) > most) {
                        let (offset, count) = (m * t.message_bytes as usize + at, message[at]);
                        let expected = if most == 1 { "once".to_owned() } else { format!("1 to {most} times") };
                        return Err(RunError::Placement { node: t.to, transfer: i, offset, count, expected });
                    }
                }
            }
            verified += t.bytes;
        }
        for atomics in &self.atomics {
            atomics.verify(&self.nodes[atomics.from].nic.memory, &self.nodes[atomics.to].nic.memory)?;
            verified += atomics.operations.len() as u64 * WORD;
        }
        Ok(verified)
    }

    fn outcome(&mut self, duration_ps: u64, bytes_verified: u64, start_cycle: u64) -> Result<Outcome, RunError> {
        let mut nodes = Vec::new();
        let received: Vec<_> = self.nodes.iter().map(|n| n.watch.recorder.received().clone()).collect();
        let mut commits = 0;
        for (n, node) in self.nodes.iter_mut().enumerate() {
            let values = node.nic.counters(&mut node.watch)?;
            let core = node.nic.core_report(&mut node.watch)?;
            // a timer may have acted while the counters were read: its probe is still being built
            for _ in 0..2000 {
                if node.watch.checker.as_mut().is_none_or(|c| c.finish().is_ok()) {
                    break;
                }
                node.nic.step(&mut node.watch)?;
            }
            if let Some(report) = node.watch.failed.take() {
                return Err(RunError::Lockstep { node: n, report });
            }
            if let Some(c) = &mut node.watch.checker {
                c.finish().map_err(|report| RunError::Lockstep { node: n, report })?;
                commits += c.commits();
            }
            let r = &node.watch.recorder;
            let paths = r.paths.iter().map(|(&(conn, path), stats)| {
                let peer = peer_of(n, conn);
                let mut stats = stats.clone();
                let key = (u64::from(conn_index(peer, n)), path);
                (stats.duplicates, stats.ce_marks) = received[peer].get(&key).copied().unwrap_or_default();
                stats.plane = path as usize % self.scenario.fabric.planes;
                PathOutcome { peer, path, stats, series: r.series.get(&(conn, path)).cloned().unwrap_or_default() }
            });
            nodes.push(NodeOutcome {
                node: n,
                commits: node.watch.checker.as_ref().map_or(0, Checker::commits),
                paths: paths.collect(),
                core,
                counters: counter::NAMES.iter().map(|n| n.to_string()).zip(values).collect(),
            });
        }
        let cycles = self.nodes[0].nic.cycle() - start_cycle;
        Ok(Outcome {
            scenario: self.scenario.name.clone(),
            seed: self.scenario.seed,
            duration_ns: duration_ps / 1000,
            bytes_verified,
            commits,
            nic_cycles: cycles * self.nodes.len() as u64,
            nodes,
            planes: self.fabric.stats.clone(),
        })
    }

    /// What was recorded of a node.
    pub fn recorder(&self, node: usize) -> &Recorder {
        &self.nodes[node].watch.recorder
    }
}
