//! The checker of one NIC: the golden model, driven by the records.
//!
//! In: records and outputs of the RTL in its order. Out: the first difference. Guarantees: after a difference nothing more
//! is compared; at the end nothing that the model expects is missing.
use crate::divergence::{Divergence, Field};
use crate::outputs::Expected;
use crate::record::{Kind, Record};
use crate::rules::rule_of;
use crate::Memory;
use mrnic_model::{
    AckDesc, AckVerdict, ConfigError, ConnConfig, DropReason, Grant, GrantInputs, HostMemory, KeyConfig, MemoryError, NetAddr,
    Nic, NicConfig, OpenMr0, Outgoing, QpConfig, RxClass, RxInputs, RxStep, StepError, TimerAction,
};
use mrnic_wire::{parse_packet, Body};
use std::collections::VecDeque;

/// Records kept for a report.
const HISTORY: usize = 512;
/// Records of the connection that a report shows.
const SHOWN: usize = 20;
/// Nanoseconds of waveform before and after a difference.
const WINDOW_NS: u64 = 2_000;
/// Largest frame.
const FRAME_BYTES: usize = 8192;

type Result<T = ()> = std::result::Result<T, Box<Divergence>>;

/// Reads come from the RTL's host memory; writes are collected, to be compared with the RTL's.
struct ModelMemory<'a> {
    memory: Option<&'a dyn Memory>,
    writes: Vec<(u64, Vec<u8>)>,
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

/// The comparison of one step.
struct Step<'a> {
    record: &'a Record,
    fields: Vec<Field>,
}

impl<'a> Step<'a> {
    fn new(record: &'a Record) -> Self {
        Self { record, fields: Vec::new() }
    }

    fn field(&mut self, name: &str, model: impl Into<u64>) {
        let (rtl, model) = (self.record.get(name), model.into());
        self.fields.push(Field { name: name.into(), rtl: show(rtl), model: show(model) });
    }

    fn text(&mut self, name: &str, rtl: impl Into<String>, model: impl Into<String>) {
        self.fields.push(Field { name: name.into(), rtl: rtl.into(), model: model.into() });
    }

    fn agrees(&self) -> bool {
        self.fields.iter().all(Field::agrees)
    }
}

fn show(v: u64) -> String {
    if v > 0xFFFF {
        format!("{v:#x}")
    } else {
        v.to_string()
    }
}

/// Ring of the completion queue of a QP.
#[derive(Debug, Clone, Copy)]
struct CompletionRing {
    base: u64,
    log2: u8,
    count: u64,
}

/// Compares one NIC with the golden model.
pub struct Checker {
    model: Nic<OpenMr0>,
    period_ps: u64,
    expected: Expected,
    /// Frames that passed the model's parser and await their record.
    good: VecDeque<Vec<u8>>,
    /// Numbers of the checks that bad frames failed, awaiting their record.
    bad: VecDeque<u8>,
    history: VecDeque<Record>,
    rings: Vec<Option<CompletionRing>>,
    commits: u64,
    buffer: Vec<u8>,
    open_pending: bool,
}

impl Checker {
    /// A checker for a NIC of that size whose clock has that period.
    pub fn new(config: &NicConfig, period_ps: u64) -> std::result::Result<Self, ConfigError> {
        Ok(Self {
            model: Nic::new(*config)?,
            period_ps,
            expected: Expected::default(),
            good: VecDeque::new(),
            bad: VecDeque::new(),
            history: VecDeque::new(),
            rings: vec![None; config.qps as usize],
            commits: 0,
            buffer: vec![0; FRAME_BYTES],
            open_pending: false,
        })
    }

    /// Opens a connection at tick 0, as software did.
    pub fn open_connection(&mut self, conn: u16, config: &ConnConfig<NetAddr>) -> std::result::Result<(), ConfigError> {
        self.open_pending = true;
        self.model.open_connection(0, conn, config)
    }

    /// Opens a queue pair.
    pub fn open_qp(&mut self, qpn: u16, config: &QpConfig, cq_base: u64) -> std::result::Result<(), ConfigError> {
        self.model.open_qp(qpn.into(), config)?;
        self.rings[usize::from(qpn)] = Some(CompletionRing { base: cq_base, log2: config.cq_log2, count: 0 });
        Ok(())
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
        match parse_packet(frame) {
            Ok(_) => self.good.push_back(frame.to_vec()),
            Err(e) => self.bad.push_back(e.check()),
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
            Kind::Drop => self.drop(&mut step),
            Kind::Rx => self.rx(&mut step),
            Kind::Err => self.error(&mut step),
            Kind::Wqe => self.wqe(&mut step),
            Kind::Ack => self.ack(&mut step),
            Kind::Timer => self.timer(&mut step),
            Kind::Grant => self.grant(&mut step, memory),
            Kind::Retire => self.retire(&mut step),
            Kind::Ret => {}
            Kind::Cqe => self.cqe(&mut step),
        }
        if step.agrees() {
            return Ok(());
        }
        let mut fields = step.fields;
        fields.sort_by_key(Field::agrees);
        let rule = rule_of(record.kind, &fields[0].name);
        Err(self.divergence(rule, format!("a {} step", record.kind), record.cycle, fields, Some(record.clone())))
    }

    fn drop(&mut self, s: &mut Step) {
        match self.bad.pop_front() {
            Some(check) => s.field("reason", check),
            None => s.text("reason", s.record.get("reason").to_string(), "no frame to drop"),
        }
    }

    fn rx(&mut self, s: &mut Step) {
        let now = s.record.get("now") as u32;
        match s.record.get("kind") {
            4 => self.rx_timer(s, now),
            5 => {
                self.model.step_epoch_swap();
            }
            6 => match self.model.step_epoch_publish() {
                Ok(share) => s.field("share", share),
                Err(e) => s.text("share", "published", e.to_string()),
            },
            kind => self.rx_frame(s, now, kind),
        }
    }

    fn rx_timer(&mut self, s: &mut Step, now: u32) {
        let (conn, home) = (s.record.get("conn") as u16, s.record.get("home") as u8);
        match self.model.step_rx_timer(now, conn, home) {
            Ok(Some(ack)) => self.expect_ack(ack),
            Ok(None) => s.text("acked", "by the timer", "not due"),
            Err(e) => s.text("conn", conn.to_string(), e.to_string()),
        }
        self.rx_state(s, conn, home);
    }

    fn rx_frame(&mut self, s: &mut Step, now: u32, kind: u64) {
        let Some(frame) = self.good.pop_front() else {
            s.text("kind", kind.to_string(), "no frame was received");
            return;
        };
        // R3: an Error that hardware saw late shows as a packet that was not refused for it
        let inputs = RxInputs { qp_error_seen: (kind == 0).then_some(s.record.get("code") == 6) };
        let mut memory = ModelMemory { memory: None, writes: Vec::new() };
        let step = self.model.step_rx_with(now, &frame, &inputs, &mut memory);
        self.expected.writes.extend(memory.writes);
        match step {
            RxStep::Dropped { reason } => {
                s.field("kind", 3u64);
                debug_assert!(!matches!(reason, DropReason::Codec(_)), "frames were parsed when they came in");
            }
            RxStep::AckQueued { conn, home } => {
                s.field("kind", 2u64);
                s.field("conn", conn);
                s.field("home", home);
            }
            RxStep::Probe { conn, home, ack } => {
                s.field("kind", 1u64);
                s.field("conn", conn);
                s.field("home", home);
                s.field("acked", 1u64);
                self.expect_ack(ack);
                self.rx_state(s, conn, home);
            }
            RxStep::Data { conn, home, ppsn, class, place, nak, rx_error, ack, .. } => {
                s.field("kind", 0u64);
                s.field("conn", conn);
                s.field("home", home);
                s.field("ppsn", ppsn);
                let class = match class {
                    RxClass::New => 0u64,
                    RxClass::Duplicate => 1,
                    RxClass::OutOfWindow => 2,
                };
                s.field("class", class);
                s.field("code", nak);
                s.field("placed", place.is_some());
                if let Some(p) = place {
                    s.field("addr", p.addr);
                    s.field("bytes", p.len);
                }
                s.field("acked", ack.is_some());
                if let Some(a) = ack {
                    self.expect_ack(a);
                }
                self.rx_state(s, conn, home);
                if class == 0 && nak == 0 {
                    self.rx_message(s, &frame);
                }
                // the QP's move to Error is the step of its own record; the receiver refuses from now on
                if let Some(qpn) = rx_error {
                    let _: std::result::Result<bool, StepError> = self.model.step_rx_error(qpn);
                }
            }
        }
    }

    fn rx_message(&self, s: &mut Step, frame: &[u8]) {
        let Ok(parsed) = parse_packet(frame) else { return };
        if let Body::Write { .. } = parsed.packet.body {
            if let Ok(stream) = self.model.recv_stream(parsed.packet.dest_qp) {
                s.field("exp", stream.exp.get());
            }
        }
    }

    fn rx_state(&self, s: &mut Step, conn: u16, home: u8) {
        if let Ok(p) = self.model.rx_path(conn, home) {
            s.field("cum", p.cum.get());
            s.field("high", p.high.get());
            s.field("ce", p.ce);
            s.field("dup", p.dup);
            s.field("rx", p.rx);
            s.field("unacked", p.unacked);
        }
    }

    fn expect_ack(&mut self, ack: AckDesc) {
        self.expected.acks.push_back(Outgoing::Ack(ack));
    }

    fn error(&mut self, s: &mut Step) {
        let (qp, code, msn) = (s.record.get("qp") as u32, s.record.get("code") as u8, s.record.get("msn") as u32);
        let result = match s.record.get("kind") {
            1 => self.model.step_nak(qp, code, msn),
            2 => self.model.step_conn_error(qp),
            // the receiver's step has moved the QP already
            3 => Ok(false),
            k => {
                s.text("kind", k.to_string(), "1, 2 or 3");
                return;
            }
        };
        if let Err(e) = result {
            s.text("qp", qp.to_string(), e.to_string());
        }
    }

    fn wqe(&mut self, s: &mut Step) {
        let mut bytes = [0; 64];
        let wide = s.record.wide_bytes();
        bytes.copy_from_slice(&wide[..64]);
        match self.model.step_wqe(s.record.get("qp") as u32, s.record.get("wqe_index") as u16, &bytes) {
            Ok(w) => {
                s.field("conn", w.conn);
                s.field("msn", w.msn);
                s.field("status", w.refused.map_or(0, |r| r as u64));
            }
            Err(e) => s.text("qp", s.record.get("qp").to_string(), e.to_string()),
        }
    }

    fn ack(&mut self, s: &mut Step) {
        match self.model.step_ack(s.record.get("now") as u32) {
            Ok(a) => {
                s.field("conn", a.conn);
                s.field("home", a.home);
                s.field("verdict", a.outcome.verdict as u64);
                if a.outcome.verdict == AckVerdict::Applied {
                    s.field("acked", a.outcome.acked);
                    s.field("lost_l1", a.outcome.lost_l1.count());
                    s.field("lost_l2", a.outcome.lost_l2.count());
                    self.tx_state(s, a.conn, a.home);
                    if let Ok(c) = self.model.tx_conn(a.conn) {
                        s.field("hint", c.hint);
                    }
                }
            }
            Err(e) => s.text("verdict", s.record.get("verdict").to_string(), e.to_string()),
        }
    }

    fn tx_state(&self, s: &mut Step, conn: u16, path: u8) {
        let Ok(p) = self.model.tx_path(conn, path) else { return };
        s.field("state", p.state as u64);
        s.field("next", p.next.get());
        s.field("cum", p.cum.get());
        s.field("pipe", p.pipe());
        s.field("window", p.win.window);
        s.field("credit", p.win.credit);
        s.field("srtt8", p.srtt8);
        s.field("var4", p.var4);
        s.field("backoff", p.backoff);
        s.field("reo_tol", p.reo_tol);
        s.field("mark", p.mark.get());
        s.field("gen_open", p.gen_open);
        s.field("probe_pending", p.probe_pending);
    }

    fn timer(&mut self, s: &mut Step) {
        let (conn, path) = (s.record.get("conn") as u16, s.record.get("path") as u8);
        match self.model.step_tx_timer(s.record.get("now") as u32, conn, path) {
            Ok(t) => {
                s.field("action", t.action as u64);
                if t.action != TimerAction::ConnError {
                    if let Ok((port, _)) = self.model.ports(conn, path) {
                        s.field("port", port);
                    }
                }
                if let Some(probe) = t.probe {
                    s.field("probe_ppsn", probe.ppsn);
                    self.expected.packets.push_back(Outgoing::Probe(probe));
                }
                self.tx_state(s, conn, path);
            }
            Err(e) => s.text("action", s.record.get("action").to_string(), e.to_string()),
        }
    }

    fn grant(&mut self, s: &mut Step, memory: &dyn Memory) {
        let r = s.record;
        let conn = r.get("conn") as u16;
        let kind = r.get("kind");
        let inputs = GrantInputs {
            inflight_bytes_seen: (kind == 0).then_some(r.get("inflight_bytes") as u32),
            more_waiting: (kind == 0).then_some(r.get("more") == 1),
            qp_error_seen: Some(kind == 2 || r.get("nop") == 1),
        };
        match self.model.step_grant(r.get("now") as u32, conn, &inputs) {
            Ok(Grant::Packet(p)) => {
                s.field("kind", u64::from(p.rtx));
                s.field("home", p.home);
                s.field("via", p.via);
                s.field("ppsn", p.ppsn);
                s.field("rtx", p.rtx);
                s.field("moved", p.moved);
                s.field("ack_req", p.ack_req);
                s.field("nop", p.nop);
                s.field("qp", p.qpn);
                s.field("msn", p.msn);
                s.field("index", p.index);
                s.field("bytes", p.len);
                s.field("port", p.udp_port);
                if let Ok(t) = self.model.tx_path(conn, p.home) {
                    s.field("next", t.next.get());
                    s.field("pipe", t.pipe());
                    s.field("window", t.win.window);
                }
                if let Ok(c) = self.model.tx_conn(conn) {
                    s.field("rr", c.rr);
                }
                if p.len > 0 {
                    self.expected.reads.push_back((p.laddr, p.len as usize));
                    let mut byte = [0];
                    if !memory.read_into(p.laddr, &mut byte) {
                        s.text("address", format!("{:#x}", p.laddr), "inside host memory");
                    }
                }
                self.expected.packets.push_back(Outgoing::Data(p));
            }
            Ok(Grant::SkippedMessage { qpn, msn }) => {
                s.field("kind", 2u64);
                s.field("qp", qpn);
                s.field("msn", msn);
            }
            Ok(Grant::Blocked(reason)) => s.text("kind", kind.to_string(), format!("no slot: {reason:?}")),
            Err(StepError::InflightTooSmall { exact, .. }) => s.field("inflight_bytes", exact),
            Err(e) => s.text("kind", kind.to_string(), e.to_string()),
        }
    }

    fn retire(&mut self, s: &mut Step) {
        let r = s.record;
        match self.model.step_retire(r.get("conn") as u16, r.get("home") as u8, r.get("ppsn") as u32) {
            Ok(x) => {
                s.field("qp", x.qpn);
                s.field("msn", x.msn);
                s.field("bytes", x.bytes);
            }
            Err(e) => s.text("ppsn", show(r.get("ppsn")), e.to_string()),
        }
    }

    fn cqe(&mut self, s: &mut Step) {
        let qp = s.record.get("qp") as u32;
        let rtl = hex(&s.record.wide_bytes()[..32]);
        match self.model.step_cqe(qp) {
            Ok(Some((_, bytes))) => {
                s.text("data", rtl, hex(&bytes));
                if let Some(Some(ring)) = self.rings.get_mut(qp as usize) {
                    let slot = ring.count & ((1 << ring.log2) - 1);
                    self.expected.cqes.push_back((ring.base + slot * 32, bytes.to_vec()));
                    ring.count += 1;
                }
            }
            Ok(None) => s.text("data", rtl, "no completion is due"),
            Err(e) => s.text("qp", qp.to_string(), e.to_string()),
        }
    }

    /// A payload read was asked for.
    pub fn dma_read(&mut self, cycle: u64, addr: u64, len: usize) -> Result {
        let model = self.expected.reads.pop_front();
        let show = |x: Option<(u64, usize)>| x.map_or("none".into(), |(a, l)| format!("{a:#x} + {l}"));
        self.compare("a payload read", "S5 (payload of a packet)", cycle, "address", show(Some((addr, len))), show(model))
    }

    /// A payload write was made.
    pub fn dma_write(&mut self, cycle: u64, addr: u64, data: &[u8]) -> Result {
        let model = self.expected.writes.pop_front();
        self.compare_bytes("a payload write", "R5 (placement)", cycle, (addr, data), model)
    }

    /// A CQE was written.
    pub fn cqe_write(&mut self, cycle: u64, addr: u64, data: &[u8]) -> Result {
        let model = self.expected.cqes.pop_front();
        self.compare_bytes("a CQE write", "W2 (completions)", cycle, (addr, data), model)
    }

    /// A frame left the NIC. `memory` is the host memory at that time.
    pub fn frame_out(&mut self, cycle: u64, frame: &[u8], memory: &dyn Memory) -> Result {
        let parsed = parse_packet(frame);
        let is_ack = matches!(&parsed, Ok(p) if matches!(p.packet.body, Body::Ack(_)));
        let next = if is_ack { self.expected.acks.pop_front() } else { self.expected.packets.pop_front() };
        let Some(outgoing) = next else {
            let rtl = hex(&frame[..frame.len().min(96)]);
            return self.compare("a frame", "no step makes this frame", cycle, "frame", rtl, "none".into());
        };
        // R9: the port of an acknowledgment is read when the frame is made, and may be the one before the last change
        let port = match (&outgoing, &parsed) {
            (Outgoing::Ack(a), Ok(p)) => {
                let ports = self.model.ports(a.conn, a.via).unwrap_or_default();
                (p.udp_src == ports.1).then_some(ports.1)
            }
            _ => None,
        };
        let mut buffer = std::mem::take(&mut self.buffer);
        let encoded = self.model.encode(&outgoing, port, &ModelMemory { memory: Some(memory), writes: Vec::new() }, &mut buffer);
        let result = match encoded {
            Ok(len) if buffer[..len] == *frame => Ok(()),
            Ok(len) => self.frame_differs(cycle, frame, &buffer[..len], &outgoing),
            Err(e) => self.compare("a frame", "S5", cycle, "frame", hex(&frame[..frame.len().min(96)]), e.to_string()),
        };
        self.buffer = buffer;
        result
    }

    fn frame_differs(&self, cycle: u64, rtl: &[u8], model: &[u8], outgoing: &Outgoing) -> Result {
        let at = rtl.iter().zip(model).position(|(a, b)| a != b).unwrap_or(rtl.len().min(model.len()));
        let part = |x: &[u8]| hex(&x[at.saturating_sub(4).min(x.len())..(at + 12).min(x.len())]);
        let headers = |x: &[u8]| parse_packet(x).map_or_else(|e| e.to_string(), |p| format!("{:?}", p.packet));
        let fields = vec![
            Field { name: format!("bytes near {at}"), rtl: part(rtl), model: part(model) },
            Field { name: "length".into(), rtl: rtl.len().to_string(), model: model.len().to_string() },
            Field { name: "headers".into(), rtl: headers(rtl), model: headers(model) },
        ];
        let rule = match outgoing {
            Outgoing::Ack(_) => "R9 (contents of an acknowledgment)",
            Outgoing::Probe(_) => "L3/L4 (probe)",
            Outgoing::Data(_) => "S5 (contents of a packet)",
        };
        Err(self.divergence(rule, "a frame".into(), cycle, fields, None))
    }

    fn compare(&self, what: &str, rule: &str, cycle: u64, name: &str, rtl: String, model: String) -> Result {
        if rtl == model {
            return Ok(());
        }
        Err(self.divergence(rule, what.into(), cycle, vec![Field { name: name.into(), rtl, model }], None))
    }

    fn compare_bytes(&self, what: &str, rule: &str, cycle: u64, rtl: (u64, &[u8]), model: Option<(u64, Vec<u8>)>) -> Result {
        let Some((addr, data)) = model else {
            return self.compare(what, rule, cycle, "address", format!("{:#x} + {}", rtl.0, rtl.1.len()), "none".into());
        };
        if addr == rtl.0 && data == rtl.1 {
            return Ok(());
        }
        let at = rtl.1.iter().zip(&data).position(|(a, b)| a != b).unwrap_or(0);
        let part = |x: &[u8]| hex(&x[at.min(x.len())..(at + 16).min(x.len())]);
        let fields = vec![
            Field { name: "address".into(), rtl: format!("{:#x}", rtl.0), model: format!("{addr:#x}") },
            Field { name: "length".into(), rtl: rtl.1.len().to_string(), model: data.len().to_string() },
            Field { name: format!("data at {at}"), rtl: part(rtl.1), model: part(&data) },
        ];
        Err(self.divergence(rule, what.into(), cycle, fields, None))
    }

    /// The end of a run: nothing may be missing.
    pub fn finish(&mut self) -> Result {
        let cycle = self.history.back().map_or(0, |r| r.cycle);
        if let Some(missing) = self.expected.missing() {
            return self.compare("the end of the run", "every step has its output", cycle, "missing", "none seen".into(), missing);
        }
        if !self.good.is_empty() || !self.bad.is_empty() {
            let n = self.good.len() + self.bad.len();
            return self.compare("the end of the run", "R1", cycle, "frames", "not looked at".into(), n.to_string());
        }
        Ok(())
    }

    fn divergence(&self, rule: &str, what: String, cycle: u64, fields: Vec<Field>, record: Option<Record>) -> Box<Divergence> {
        let conn_of = |r: &Record| r.kind.fields().contains(&"conn").then(|| r.get("conn"));
        let conn = record.as_ref().and_then(conn_of);
        let mut history: Vec<_> =
            self.history.iter().rev().filter(|r| conn.is_none() || conn_of(r).is_none_or(|c| Some(c) == conn)).take(SHOWN).cloned().collect();
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

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}
