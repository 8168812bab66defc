//! Two golden models that take hand-made steps over a bad network, and what an engine would have shown of them.
//!
//! In: WQEs, a list of accidents. Out: for each side the records, frames and DMA accesses in order. Guarantees: no random
//! numbers; every kind of record occurs.
use crate::records::{self, record};
use mrnic_lockstep::{Checker, Divergence, HostRings, Kind, Memory, Record, RowChange, RowWrite};
use mrnic_model::{
    key_of, ConnConfig, Grant, GrantInputs, HostMemory, KeyConfig, MemoryError, NetAddr, Nic, NicConfig, OpenMr0, Outgoing,
    PathConfig, QpConfig, RecvWr, Rights, RxStep, Sge, Stage, TimerAction, Wqe, WQE_SEND, WQE_SEND_IMM, WQE_WRITE_IMM,
};
use mrnic_wire::parse_packet;

pub const PATHS: u8 = 2;
const QPS: u16 = 4;
const DELAY_TICKS: u32 = 20;
const SOURCE: u64 = 0x1000_0000;
const TARGET: u64 = 0x2000_0000;
const BYTES: u64 = 0x2_0000;
const SQ: u64 = 0x3000_0000;
const CQ: u64 = 0x4000_0000;
const RQ: u64 = 0x5000_0000;
const RCQ: u64 = 0x6000_0000;
/// Bytes of memory of each receive but the last, which has none.
const RECV_BYTES: u32 = 3000;
const RING_LOG2: u8 = 4;
/// From this tick on the network loses everything.
const DEAD_TICK: u32 = 3000;
const END_TICK: u32 = 30_000;

/// What an engine shows.
#[derive(Debug, Clone)]
pub enum Shown {
    FrameIn(Vec<u8>),
    Record(Record),
    Read(u64, usize),
    Write(u64, Vec<u8>),
    Cqe(u64, Vec<u8>),
    FrameOut(Vec<u8>),
}

/// Host memory: a send ring for each QP, a buffer to send from; writes are taken out.
#[derive(Default)]
pub struct Host {
    rings: Vec<Vec<u8>>,
    recv_rings: Vec<Vec<u8>>,
    written: Vec<(u64, Vec<u8>)>,
}

impl Memory for Host {
    fn read_into(&self, addr: u64, out: &mut [u8]) -> bool {
        if (SOURCE..SOURCE + BYTES).contains(&addr) {
            for (i, b) in out.iter_mut().enumerate() {
                *b = ((addr + i as u64).wrapping_mul(0x9E37_79B1) >> 13) as u8;
            }
            return true;
        }
        let (rings, at) = match addr {
            RQ.. => (&self.recv_rings, addr - RQ),
            SQ.. => (&self.rings, addr - SQ),
            _ => return false,
        };
        let (qp, at) = ((at >> 16) as usize, at as usize & 0xFFFF);
        match rings.get(qp).and_then(|r| r.get(at..at + out.len())) {
            Some(bytes) => {
                out.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }
}

impl HostMemory for Host {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        let len = buf.len() as u32;
        if self.read_into(addr, buf) {
            Ok(())
        } else {
            Err(MemoryError { addr, len })
        }
    }
    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.written.push((addr, data.to_vec()));
        Ok(())
    }
}

fn nic_config() -> NicConfig {
    NicConfig {
        conns: 2,
        qps: QPS.into(),
        keys: 4,
        pool_packets: 256,
        epoch_cap_bytes: 60_000,
        events: false,
        ack_delay_ticks: 10,
        stage: Stage::Send,
        ..NicConfig::default()
    }
}

fn connection(side: u8) -> ConnConfig<NetAddr> {
    let addr = |a: u8, b: u8| NetAddr::v4([2, 0, 0, 0, 0, a], [2, 0, 0, 0, 0, b], [10, 0, 0, a], [10, 0, 0, b]);
    let mut c = ConnConfig::new(0, PATHS, addr(side + 1, 2 - side));
    c.mtu_log2 = 10;
    c.init_window_pkts = 6;
    c.retry_cnt = 2;
    // numbers close to their wrap
    c.path = core::array::from_fn(|i| PathConfig::new(i as u8, 0xFF_FFFA));
    c
}

fn keys() -> [(u32, KeyConfig); 2] {
    let base = KeyConfig { valid: true, key_low: 0x11, base: 0x7000, length: BYTES, dma_base: SOURCE, ..KeyConfig::default() };
    [(1, base), (2, KeyConfig { key_low: 0x22, rights: Rights::from_bits(0b11), base: 0x9_0000, dma_base: TARGET, ..base })]
}

fn qp(qpn: u16) -> (QpConfig, HostRings) {
    let config = QpConfig {
        cq_log2: RING_LOG2,
        tx_start_msn: 0xFF_FFFE,
        rx_start_msn: 0xFF_FFFE,
        // QP 3 begins a refused message again, once
        rnr_retry: u8::from(qpn == 3),
        ..QpConfig::new(0, qpn.into())
    };
    let at = u64::from(qpn) << 16;
    let rings = HostRings {
        sq_base: SQ + at,
        sq_log2: RING_LOG2,
        sq_lists: false,
        rq_lists: false,
        cq_base: CQ + at,
        rq_base: RQ + at,
        rq_log2: RING_LOG2,
        rcq_base: RCQ + at,
    };
    (config, rings)
}

/// A WRITE to offset `to` of the peer's region.
pub fn write(wr_id: u64, to: u64, length: u32) -> Wqe {
    Wqe {
        signaled: true,
        lkey: key_of(1, 0x11),
        laddr: 0x7000 + to % 0x8000,
        raddr: 0x9_0000 + to,
        rkey: key_of(2, 0x22),
        length,
        wr_id,
        ..Wqe::default()
    }
}

/// A message that uses a receive: SENDs with and without immediate, at last a WRITE with immediate.
fn consuming(m: u64) -> Wqe {
    let opcode = [WQE_SEND, WQE_SEND_IMM, WQE_SEND, WQE_WRITE_IMM, WQE_SEND][m as usize];
    Wqe { opcode, imm: 0xABCD_0000 + m as u32, solicited: m % 2 == 1, ..write(m, 0x1000 * m, RECV_BYTES - 100 * m as u32) }
}

fn limits(config: &QpConfig) -> RowChange {
    RowChange::SendLimits { rnr_retry: config.rnr_retry, max_rd_atomic: config.max_rd_atomic }
}

/// What software writes at first.
fn rows(side: u8) -> Vec<RowWrite> {
    let mut rows: Vec<_> =
        keys().into_iter().map(|(i, k)| RowWrite { table: 4, index: i as u16, change: RowChange::Key(k) }).collect();
    rows.push(RowWrite { table: 2, index: 0, change: RowChange::Nothing });
    rows.push(RowWrite { table: 1, index: 0, change: RowChange::OpenConnection(Box::new(connection(side))) });
    for q in 0..QPS {
        rows.push(RowWrite { table: 3, index: q, change: RowChange::OpenQp(Box::new(qp(q))) });
        // the receiver does not take this one
        rows.push(RowWrite { table: 5, index: q, change: limits(&qp(q).0) });
    }
    rows
}

/// One side.
pub struct Side {
    pub nic: Nic<OpenMr0>,
    pub host: Host,
    pub shown: Vec<Shown>,
    posted: [u16; QPS as usize],
    completed: [u64; QPS as usize],
    receives: [u16; QPS as usize],
    received: [u64; QPS as usize],
    arriving: Vec<(u32, Vec<u8>)>,
    leaving: Vec<Vec<u8>>,
    now: u32,
}

impl Side {
    fn new(side: u8) -> Self {
        let mut nic = Nic::new(nic_config()).unwrap();
        for (i, k) in keys() {
            nic.register_key(i, &k).unwrap();
        }
        nic.open_connection(0, 0, &connection(side)).unwrap();
        for q in 0..QPS {
            nic.open_qp(q.into(), &qp(q).0).unwrap();
        }
        let taken = rows(side).into_iter().filter(|w| !matches!(w.change, RowChange::SendLimits { .. }));
        let shown = taken.map(|w| {
            let fields = [("table", w.table.into()), ("index", w.index.into())];
            Shown::Record(record(Kind::Row, 0, &fields, &[]))
        });
        let rings = |bytes: usize| vec![vec![0; bytes << RING_LOG2]; QPS.into()];
        let host = Host { rings: rings(64), recv_rings: rings(32), written: Vec::new() };
        Self {
            nic,
            host,
            shown: shown.collect(),
            posted: [0; QPS as usize],
            completed: [0; QPS as usize],
            receives: [0; QPS as usize],
            received: [0; QPS as usize],
            arriving: Vec::new(),
            leaving: Vec::new(),
            now: 0,
        }
    }

    fn show(&mut self, kind: Kind, fields: &[(&str, u64)]) {
        self.shown.push(Shown::Record(record(kind, self.now, fields, &[])));
    }

    pub fn post(&mut self, qpn: u16, wqe: &Wqe) {
        let (index, bytes) = (self.posted[usize::from(qpn)], wqe.to_bytes());
        let at = usize::from(index) % (1 << RING_LOG2) * 64;
        self.host.rings[usize::from(qpn)][at..at + 64].copy_from_slice(&bytes);
        self.posted[usize::from(qpn)] += 1;
        let w = self.nic.step_wqe(qpn.into(), index, &bytes).unwrap();
        let status = w.refused.map_or(0, |r| r as u64);
        let fields = [("qp", qpn.into()), ("wqe_index", index.into()), ("msn", w.msn.into()), ("conn", 0), ("status", status)];
        self.shown.push(Shown::Record(record(Kind::Wqe, self.now, &fields, &bytes)));
        self.completions(qpn.into());
    }

    /// Posts a receive of `length` bytes.
    pub fn post_recv(&mut self, qpn: u16, length: u32) {
        let index = self.receives[usize::from(qpn)];
        let (at, key) = (usize::from(index) % (1 << RING_LOG2) * 32, key_of(2, 0x22));
        let sge = Sge { addr: 0x9_0000 + u64::from(index) * 0x1000, len: length, lkey: key };
        let wr_id = 0x77_0000_0001 + u64::from(index);
        let words = [0, sge.lkey, sge.addr as u32, (sge.addr >> 32) as u32, sge.len, 0, wr_id as u32, (wr_id >> 32) as u32];
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.host.recv_rings[usize::from(qpn)][at..at + 32].copy_from_slice(&bytes);
        self.receives[usize::from(qpn)] += 1;
        self.nic.step_recv(qpn.into(), &RecvWr { wr_id, sges: &[sge] }).unwrap();
        let fields = [("qp", qpn.into()), ("index", index.into())];
        self.shown.push(Shown::Record(record(Kind::Recv, self.now, &fields, &bytes)));
        self.completions(qpn.into());
    }

    fn completions(&mut self, qp: u32) {
        while let Some((cqe, bytes)) = self.nic.step_cqe(qp).unwrap() {
            let fields = [("qp", qp.into()), ("msn", cqe.msn.into())];
            self.shown.push(Shown::Record(record(Kind::Cqe, self.now, &fields, &bytes)));
            let n = &mut self.completed[qp as usize];
            let addr = CQ + (u64::from(qp) << 16) + (*n % (1 << RING_LOG2)) * 32;
            *n += 1;
            self.shown.push(Shown::Cqe(addr, bytes.to_vec()));
        }
        while let Some((_, bytes)) = self.nic.step_recv_cqe(qp).unwrap() {
            self.shown.push(Shown::Record(record(Kind::Rcqe, self.now, &[("qp", qp.into())], &bytes)));
            let n = &mut self.received[qp as usize];
            let addr = RCQ + (u64::from(qp) << 16) + (*n % (1 << RING_LOG2)) * 32;
            *n += 1;
            self.shown.push(Shown::Cqe(addr, bytes.to_vec()));
        }
    }

    fn send(&mut self, out: &Outgoing) {
        let mut buffer = vec![0; 8192];
        let len = self.nic.encode(out, None, &self.host, &mut buffer).unwrap();
        buffer.truncate(len);
        if let Outgoing::Data(p) = out {
            if p.len > 0 {
                self.shown.push(Shown::Read(p.laddr, p.len as usize));
            }
        }
        self.shown.push(Shown::FrameOut(buffer.clone()));
        self.leaving.push(buffer);
    }

    fn receive(&mut self, frame: &[u8]) {
        self.shown.push(Shown::FrameIn(frame.to_vec()));
        let received = match parse_packet(frame) {
            Ok(r) => r,
            Err(e) => return self.show(Kind::Drop, &[("reason", e.check().into())]),
        };
        let failed = self.nic.send_queue(received.packet.dest_qp).is_ok_and(|q| q.in_error());
        let step = self.nic.step_rx(self.now, frame, &mut self.host);
        let mut fields = records::rx(&self.nic, self.now, &received, &step);
        if let RxStep::Data { .. } = step {
            fields.push(("qp_failed", failed.into()));
        }
        self.show(Kind::Rx, &fields);
        for (addr, data) in std::mem::take(&mut self.host.written) {
            self.shown.push(Shown::Write(addr, data));
        }
        match step {
            RxStep::AckQueued { .. } => self.acknowledged(),
            RxStep::Probe { ack, .. } => self.send(&Outgoing::Ack(ack)),
            RxStep::Data { ack, rx_error, nak, .. } => {
                if let Some(ack) = ack {
                    self.send(&Outgoing::Ack(ack));
                }
                self.completions(received.packet.dest_qp.min(u32::from(QPS) - 1));
                if let Some(qp) = rx_error.filter(|_| nak != 6 || !failed) {
                    self.nic.step_rx_error(qp).unwrap();
                    self.show(Kind::Err, &[("kind", 3), ("qp", qp.into())]);
                    self.completions(qp);
                }
            }
            RxStep::Dropped { .. } => {}
        }
    }

    fn acknowledged(&mut self) {
        let step = self.nic.step_ack(self.now).unwrap();
        let fields = records::ack(&self.nic, self.now, &step);
        self.show(Kind::Ack, &fields);
        for ppsn in step.newly_acked().collect::<Vec<_>>() {
            let r = self.nic.step_retire(step.conn, step.home, ppsn).unwrap();
            let of = [("qp", r.qpn.into()), ("msn", r.msn.into()), ("bytes", r.bytes.into())];
            let named = [("conn", step.conn.into()), ("home", step.home.into()), ("ppsn", ppsn.into())];
            self.show(Kind::Retire, &[named, of].concat());
            self.show(Kind::Ret, &of);
            self.completions(r.qpn);
        }
        if let Some(n) = step.nak {
            self.nic.step_nak(n.qpn, n.code, n.msn).unwrap();
            self.show(Kind::Err, &[("kind", 1), ("qp", n.qpn.into()), ("code", n.code.into()), ("msn", n.msn.into())]);
            self.completions(n.qpn);
        }
        if let Some(n) = step.rnr {
            self.nic.step_withdraw(self.now, &n).unwrap();
            let when = ("now", self.now.into());
            self.show(Kind::Err, &[("kind", 4), ("qp", n.qpn.into()), ("code", n.code.into()), ("msn", n.msn.into()), when]);
            self.completions(n.qpn);
        }
    }

    /// N2: waits that are over end.
    fn waits(&mut self) {
        for qp in 0..QPS {
            if self.nic.step_rnr(self.now, qp.into()) == Ok(true) {
                self.show(Kind::Rnr, &[("qp", qp.into()), ("now", self.now.into())]);
            }
        }
    }

    fn timers(&mut self) {
        for path in 0..PATHS {
            if let Some(ack) = self.nic.step_rx_timer(self.now, 0, path).unwrap() {
                let fields = records::rx_timer(&self.nic, self.now, path);
                self.show(Kind::Rx, &fields);
                self.send(&Outgoing::Ack(ack));
            }
            let step = self.nic.step_tx_timer(self.now, 0, path).unwrap();
            if step.action != TimerAction::None {
                let fields = records::timer(&self.nic, self.now, path, &step);
                self.show(Kind::Timer, &fields);
            }
            if let Some(probe) = step.probe {
                self.send(&Outgoing::Probe(probe));
            }
            if step.action == TimerAction::ConnError {
                for qp in self.nic.qps_of(0).collect::<Vec<_>>() {
                    if self.nic.step_conn_error(qp).unwrap() {
                        self.show(Kind::Err, &[("kind", 2), ("qp", qp.into())]);
                    }
                    self.completions(qp);
                }
            }
        }
        if self.now.is_multiple_of(128) && self.now < DEAD_TICK {
            self.nic.step_epoch_swap();
            self.show(Kind::Rx, &[("kind", 5), ("now", self.now.into())]);
            let share = self.nic.step_epoch_publish().unwrap();
            self.show(Kind::Rx, &[("kind", 6), ("now", self.now.into()), ("share", share.into())]);
        }
    }

    fn grant(&mut self) {
        let before = records::before_grant(&self.nic);
        let step = self.nic.step_grant(self.now, 0, &GrantInputs::default()).unwrap();
        if let Some(fields) = records::grant(&self.nic, self.now, before, &step) {
            self.show(Kind::Grant, &fields);
        }
        if let Grant::Packet(p) = step {
            self.send(&Outgoing::Data(p));
        }
    }
}

/// Runs both sides: losses, doubled and damaged frames, refusals, at last a dead network.
pub fn run() -> [Side; 2] {
    let mut sides = [Side::new(0), Side::new(1)];
    let mut sent = 0u32;
    for now in 1..END_TICK {
        for s in 0..2 {
            sides[s].now = now;
            match (s, now) {
                (0, 1) => (0..4).for_each(|m| sides[0].post(0, &write(m, m * 0x2000, 5000))),
                (0, 2) => sides[0].post(2, &write(0, 0, 0)),
                (1, 3) => (0..2).for_each(|m| sides[1].post(0, &write(m, m * 0x2000 + 5, 2500))),
                // beyond the peer's region: refused by the peer
                (0, 300) => (0..6).for_each(|m| sides[0].post(1, &write(m, BYTES - 3000, 4000))),
                // no such opcode: refused at once
                (0, 1500) => sides[0].post(2, &Wqe { opcode: 9, ..write(1, 0, 10) }),
                // receives for all but the last message of the QP
                (1, 1600) => [RECV_BYTES, RECV_BYTES, RECV_BYTES, 0].iter().for_each(|len| sides[1].post_recv(3, *len)),
                (0, 1700) => (0..4).for_each(|m| sides[0].post(3, &consuming(m))),
                (0, 2300) => sides[0].post(3, &consuming(4)),
                // N1: posted while the QP waits
                (0, 2340) => sides[0].post(3, &consuming(3)),
                // both ends' receives of a QP in Error are flushed
                (1, 2500) => sides[1].post_recv(1, 10),
                (0, 2800) => sides[0].post_recv(3, 10),
                (0, DEAD_TICK) => sides[0].post(0, &write(4, 0x100, 10_000)),
                _ => {}
            }
            let (due, later): (Vec<_>, Vec<_>) = std::mem::take(&mut sides[s].arriving).into_iter().partition(|f| f.0 <= now);
            sides[s].arriving = later;
            for (_, frame) in due {
                sides[s].receive(&frame);
            }
            sides[s].timers();
            sides[s].waits();
            if now % 3 == 0 {
                sides[s].grant();
            }
            for mut frame in std::mem::take(&mut sides[s].leaving) {
                sent += 1;
                let at = now + DELAY_TICKS;
                let peer = &mut sides[1 - s].arriving;
                match sent % 31 {
                    _ if now >= DEAD_TICK => {}
                    4 | 17 => {}
                    8 => peer.extend([(at, frame.clone()), (at + 3, frame)]),
                    13 => {
                        let last = frame.len() - 1;
                        frame[last] ^= 1;
                        peer.push((at, frame));
                    }
                    _ => peer.push((at, frame)),
                }
            }
        }
    }
    sides
}

/// Replays what side `side` showed.
pub fn replay(side: u8, shown: &[Shown], host: &Host) -> Result<(), Box<Divergence>> {
    let mut checker = Checker::new(&nic_config(), 4000).unwrap();
    rows(side).into_iter().for_each(|w| checker.row_written(w));
    for (i, x) in shown.iter().enumerate() {
        let cycle = i as u64;
        match x {
            Shown::FrameIn(f) => checker.frame_in(cycle, f)?,
            Shown::Record(r) => checker.record(r, host)?,
            Shown::Read(addr, len) => checker.dma_read(cycle, *addr, *len)?,
            Shown::Write(addr, data) => checker.dma_write(cycle, *addr, data)?,
            Shown::Cqe(addr, data) => checker.cqe_write(cycle, *addr, data)?,
            Shown::FrameOut(f) => checker.frame_out(cycle, f, host)?,
        }
    }
    checker.finish()
}
