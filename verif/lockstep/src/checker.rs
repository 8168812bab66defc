//! The checker of one NIC: the golden model, driven by the records.
//!
//! In: records and outputs of the RTL in its order. Out: the first difference. Guarantees: after a difference nothing more
//! is compared; at the end nothing that the model expects is missing.
use crate::divergence::{Divergence, Field};
use crate::lanes::Lanes;
use crate::outputs::Expected;
use crate::record::{Kind, Record};
use crate::rows::RowWrite;
use crate::rules::rule_of;
use crate::silence::Silence;
use crate::step::{show, Step};
use crate::Memory;
use mrnic_model::{
    ConfigError, ConnConfig, HostMemory, KeyConfig, MemoryError, NetAddr, Nic, NicConfig, OpenMr0, QpConfig, RnrEvent,
    SrqConfig,
};
use mrnic_wire::parse_packet;
use std::collections::{HashMap, VecDeque};

/// Records kept for a report.
const HISTORY: usize = 512;
/// Records of the connection that a report shows.
const SHOWN: usize = 20;
/// Nanoseconds of waveform before and after a difference.
const WINDOW_NS: u64 = 2_000;
/// Largest frame.
const FRAME_BYTES: usize = 8192;

pub(crate) type Result<T = ()> = std::result::Result<T, Box<Divergence>>;

/// Reads come from the RTL's host memory; writes are collected, to be compared with the RTL's.
pub(crate) struct ModelMemory<'a> {
    pub memory: Option<&'a dyn Memory>,
    pub writes: Vec<(u64, Vec<u8>)>,
}

impl HostMemory for ModelMemory<'_> {
    fn read(&self, addr: u64, buf: &mut [u8]) -> std::result::Result<(), MemoryError> {
        match self.memory {
            Some(m) if m.read_into(addr, buf) => Ok(()),
            _ => Err(MemoryError { addr, len: buf.len() as u32 }),
        }
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> std::result::Result<(), MemoryError> {
        self.writes.push((addr, data.to_vec()));
        Ok(())
    }
}

/// Rings of a queue pair in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRings {
    pub sq_base: u64,
    pub sq_log2: u8,
    /// Entries of the send queue have 128 bytes: a WQE and a list.
    pub sq_lists: bool,
    pub cq_base: u64,
    pub rq_base: u64,
    pub rq_log2: u8,
    /// Entries of the receive queue have 128 bytes: a receive, and a list at byte 64.
    pub rq_lists: bool,
    /// As many entries as the ring at `cq_base`.
    pub rcq_base: u64,
}

/// The ring of a shared receive queue in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HostRing {
    pub base: u64,
    pub log2: u8,
    /// As `rq_lists` of [`HostRings`].
    pub lists: bool,
}

/// The rings of a queue pair and how far they were used.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RingState {
    pub rings: HostRings,
    pub cq_log2: u8,
    pub wqes: u64,
    pub cqes: u64,
    pub recvs: u64,
    pub recv_cqes: u64,
}

/// A retired packet that completion has not counted yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Retired {
    pub qp: u32,
    pub msn: u32,
    pub bytes: u32,
}

/// Causes whose effects show in the records of completion.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    /// Refusals of the peer, in order: QP, code, MSN.
    pub naks: VecDeque<(u32, u8, u32)>,
    /// The same by an ERROR_RESP.
    pub remote_naks: VecDeque<(u32, u8, u32)>,
    /// Whole responses that software cannot see yet: QP, MSN, payload writes up to the last one of it.
    pub answers: VecDeque<(u32, u32, u64)>,
    /// The same for want of a receive.
    pub rnrs: VecDeque<RnrEvent>,
    /// QP that waits (N1) -> the tick at which its wait began.
    pub waits: HashMap<u32, u32>,
    /// QP -> packets refused by it (R4) less error events seen; the event may come before the step's record.
    pub refusals: HashMap<u32, i64>,
    /// Retired packets that completion has yet to count.
    pub retired: VecDeque<Retired>,
    /// (QP, MSN) -> packets of the message that completion has yet to count.
    pub packets_left: HashMap<(u32, u32), u32>,
    /// Connection -> payload of the packets retired last, the latest first.
    pub freed: HashMap<u16, VecDeque<u32>>,
}

/// Compares one NIC with the golden model.
pub struct Checker {
    pub(crate) model: Nic<OpenMr0>,
    period_ps: u64,
    pub(crate) expected: Expected,
    pub(crate) causes: Causes,
    pub(crate) lanes: Lanes,
    pub(crate) silence: Silence,
    /// Frames in all.
    frames: u64,
    /// Numbers and bytes of frames that passed the model's parser and await their record.
    pub(crate) good: VecDeque<(u64, Vec<u8>)>,
    /// Numbers of bad frames and of the checks that they failed, awaiting their record.
    pub(crate) bad: VecDeque<(u64, u8)>,
    history: VecDeque<Record>,
    pub(crate) rings: Vec<Option<RingState>>,
    /// Of each shared receive queue, and the receives that were fetched from it.
    pub(crate) srqs: Vec<Option<(HostRing, u64)>>,
    /// Rows that software has written and the receiver has yet to take.
    pub(crate) rows: VecDeque<RowWrite>,
    pub(crate) refused_row: Option<String>,
    commits: u64,
    pub(crate) buffer: Vec<u8>,
}

impl Checker {
    /// A checker for a NIC of that size whose clock has that period.
    pub fn new(config: &NicConfig, period_ps: u64) -> std::result::Result<Self, ConfigError> {
        Ok(Self {
            model: Nic::new(*config)?,
            period_ps,
            expected: Expected::default(),
            causes: Causes::default(),
            lanes: Lanes::default(),
            silence: Silence::default(),
            frames: 0,
            good: VecDeque::new(),
            bad: VecDeque::new(),
            history: VecDeque::new(),
            rings: vec![None; config.qps as usize],
            srqs: vec![None; config.srqs as usize],
            rows: VecDeque::new(),
            refused_row: None,
            commits: 0,
            buffer: vec![0; FRAME_BYTES],
        })
    }

    /// Opens a connection at tick 0, as software did.
    pub fn open_connection(&mut self, conn: u16, config: &ConnConfig<NetAddr>) -> std::result::Result<(), ConfigError> {
        self.model.open_connection(0, conn, config)
    }

    /// Opens a queue pair.
    pub fn open_qp(&mut self, qpn: u16, config: &QpConfig, rings: HostRings) -> std::result::Result<(), ConfigError> {
        self.model.open_qp(qpn.into(), config)?;
        self.causes.waits.remove(&u32::from(qpn));
        self.rings[usize::from(qpn)] =
            Some(RingState { rings, cq_log2: config.cq_log2, wqes: 0, cqes: 0, recvs: 0, recv_cqes: 0 });
        Ok(())
    }

    /// Closes a queue pair; what it had under way has no further effect.
    pub fn close_qp(&mut self, qpn: u16) {
        self.model.close_qp(qpn.into());
        if let Some(rings) = self.rings.get_mut(usize::from(qpn)) {
            *rings = None;
        }
        self.causes.naks.retain(|nak| nak.0 != u32::from(qpn));
        self.causes.remote_naks.retain(|nak| nak.0 != u32::from(qpn));
        self.causes.rnrs.retain(|rnr| rnr.qpn != u32::from(qpn));
        self.causes.waits.remove(&u32::from(qpn));
        self.causes.packets_left.retain(|message, _| message.0 != u32::from(qpn));
        // completion, which closes it before the receiver does, tells of no refusal of it any more
        self.causes.refusals.remove(&u32::from(qpn));
    }

    /// Opens a shared receive queue. How many receives may be posted is software's matter.
    pub fn open_srq(&mut self, srq: u16, pd: u16, ring: HostRing) -> std::result::Result<(), ConfigError> {
        self.model.create_srq(srq.into(), &SrqConfig { pd, depth: 1 << ring.log2, limit: 0 })?;
        self.srqs[usize::from(srq)] = Some((ring, 0));
        Ok(())
    }

    /// Closes a shared receive queue, whose queue pairs are closed.
    pub fn close_srq(&mut self, srq: u16) -> std::result::Result<(), ConfigError> {
        if let Some(of) = self.srqs.get_mut(usize::from(srq)) {
            *of = None;
        }
        self.model.destroy_srq(srq.into())
    }

    /// Names the retries of an open queue pair (N3), and how many READs and atomics may be outstanding (D1).
    pub fn set_send_limits(&mut self, qpn: u16, rnr_retry: u8, max_rd_atomic: u8) -> std::result::Result<(), ConfigError> {
        self.model.set_send_limits(qpn.into(), rnr_retry, max_rd_atomic)
    }

    /// Closes a connection and its queue pairs.
    pub fn close_connection(&mut self, conn: u16) {
        let qps: Vec<u32> = self.model.qps_of(conn).collect();
        for qpn in qps {
            self.close_qp(qpn as u16);
        }
        self.model.close_connection(conn);
    }

    /// Software writes the receive capacity (R11), which counts from the next epoch on.
    pub fn set_epoch_cap(&mut self, bytes: u32) -> std::result::Result<(), ConfigError> {
        self.model.set_epoch_cap(bytes)
    }

    /// Sets a memory region.
    pub fn register_key(&mut self, index: u32, key: &KeyConfig) -> std::result::Result<(), ConfigError> {
        self.model.register_key(index, key)
    }

    /// Steps compared so far.
    pub fn commits(&self) -> u64 {
        self.commits
    }

    /// The model.
    pub fn model(&self) -> &Nic<OpenMr0> {
        &self.model
    }

    /// A frame enters the NIC.
    pub fn frame_in(&mut self, _cycle: u64, frame: &[u8]) -> Result {
        self.frames += 1;
        match parse_packet(frame) {
            Ok(_) => self.good.push_back((self.frames, frame.to_vec())),
            Err(e) => self.bad.push_back((self.frames, e.check())),
        }
        Ok(())
    }

    /// A step was committed.
    pub fn record(&mut self, record: &Record, memory: &dyn Memory) -> Result {
        if self.history.len() == HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(record.clone());
        self.commits += 1;
        let mut step = Step::new(record);
        match record.kind {
            Kind::Row => self.row(&mut step),
            Kind::Drop => self.drop(&mut step),
            Kind::Rx => self.rx(&mut step, memory),
            Kind::Err => self.error(&mut step),
            Kind::Answer => self.answer(&mut step),
            Kind::Answered => self.answered(&mut step),
            Kind::Rnr => self.begin_again(&mut step),
            Kind::Wqe => self.wqe(&mut step, memory),
            Kind::Ack => self.ack(&mut step),
            Kind::Timer => self.timer(&mut step),
            Kind::Grant => self.grant(&mut step, memory),
            Kind::Retire => self.retire(&mut step),
            Kind::Ret => self.ret(&mut step),
            Kind::Cqe => self.cqe(&mut step),
            Kind::Recv => self.recv(&mut step, memory),
            Kind::Rcqe => self.recv_cqe(&mut step),
        }
        self.lanes.follow(&self.model, record.cycle, self.expected.resends.packets());
        self.silence.follow(&self.model, record.cycle);
        if step.agrees() {
            return Ok(());
        }
        let mut fields = step.fields;
        fields.sort_by_key(Field::agrees);
        let rule = rule_of(record.kind, &fields[0].name);
        Err(self.divergence(rule, format!("a {} step", record.kind), record.cycle, fields, Some(record.clone())))
    }

    /// The end of a run: nothing may be missing.
    pub fn finish(&mut self) -> Result {
        let cycle = self.history.back().map_or(0, |r| r.cycle);
        let unfinished =
            self.rows.front().map(|w| format!("row {} of table {}, which the receiver has not taken", w.index, w.table));
        if let Some(row) = self.refused_row.clone().or(unfinished) {
            return self.compare(
                "the end of the run",
                "every table row is taken",
                cycle,
                "rows",
                "taken or waiting".into(),
                row,
            );
        }
        if let Some(missing) = self.expected.missing().or_else(|| self.causes.missing()).or_else(|| self.spared()) {
            return self.compare(
                "the end of the run",
                "every step has its output",
                cycle,
                "missing",
                "none seen".into(),
                missing,
            );
        }
        if !self.good.is_empty() || !self.bad.is_empty() {
            let n = self.good.len() + self.bad.len();
            return self.compare("the end of the run", "R1", cycle, "frames", "not looked at".into(), n.to_string());
        }
        Ok(())
    }

    /// W3: a QP of a connection that was given up, but not in Error.
    fn spared(&self) -> Option<String> {
        let conns = self.model.config().conns as u16;
        let given_up = (0..conns).filter(|c| self.model.tx_conn(*c).is_ok_and(|x| x.error));
        let mut qps = given_up.flat_map(|c| self.model.qps_of(c));
        let qp = qps.find(|q| self.model.send_queue(*q).is_ok_and(|x| !x.in_error()))?;
        Some(format!("the error event of QP {qp}, whose connection was given up"))
    }

    pub(crate) fn divergence(
        &self,
        rule: &str,
        what: String,
        cycle: u64,
        fields: Vec<Field>,
        record: Option<Record>,
    ) -> Box<Divergence> {
        let conn_of = |r: &Record| r.kind.fields().contains(&"conn").then(|| r.get("conn"));
        let conn = record.as_ref().and_then(conn_of);
        let mut history: Vec<_> = self
            .history
            .iter()
            .rev()
            .filter(|r| conn.is_none() || conn_of(r).is_none_or(|c| Some(c) == conn))
            .take(SHOWN)
            .cloned()
            .collect();
        history.reverse();
        let time_ns = cycle * self.period_ps / 1000;
        let state = record.as_ref().map(|r| self.state_of(r)).unwrap_or_default();
        Box::new(Divergence {
            rule: rule.into(),
            what,
            cycle,
            time_ns,
            fields,
            state,
            record,
            history,
            window_ns: (time_ns.saturating_sub(WINDOW_NS), time_ns + WINDOW_NS),
        })
    }

    fn state_of(&self, r: &Record) -> Vec<(String, String)> {
        let path = match r.kind {
            Kind::Grant | Kind::Ack | Kind::Retire | Kind::Rx => "home",
            Kind::Timer => "path",
            _ => return Vec::new(),
        };
        let (conn, path) = (r.get("conn") as u16, r.get(path) as u8);
        let words = |v: [u64; 4]| {
            if v[1..] == [0; 3] {
                show(v[0])
            } else {
                format!("{:016x}_{:016x}_{:016x}_{:016x}", v[3], v[2], v[1], v[0])
            }
        };
        let fields = match r.kind {
            Kind::Rx => self.model.rx_path(conn, path).map(|p| p.fields()),
            _ => self.model.tx_path(conn, path).map(|p| p.fields()),
        };
        fields.unwrap_or_default().into_iter().map(|(n, v)| (n.to_string(), words(v))).collect()
    }
}

impl Causes {
    /// Effects that have not shown, for the end of a run.
    fn missing(&self) -> Option<String> {
        if !self.retired.is_empty() {
            return Some(format!("{} retired packets that completion has not counted", self.retired.len()));
        }
        if !self.naks.is_empty() {
            return Some(format!("{} refusals of the peer that completion has not seen", self.naks.len()));
        }
        if !self.remote_naks.is_empty() {
            return Some(format!("{} ERROR_RESPs that completion has not seen", self.remote_naks.len()));
        }
        if !self.answers.is_empty() {
            return Some(format!("{} whole responses that completion has not counted", self.answers.len()));
        }
        if !self.rnrs.is_empty() {
            return Some(format!("{} refusals for want of a receive that completion has not seen", self.rnrs.len()));
        }
        let (qp, n) = self.refusals.iter().find(|(_, n)| **n != 0)?;
        Some(format!("{n} error events of QP {qp}, which refused a packet"))
    }
}
