//! rx_core: random traffic with loss, reordering, duplicates and every refusal, replayed step by step in the golden model;
//! the budget in clocks; the seeded faults are noticed; simulation = Verilog.
mod rx_support;

use mrnic_difftest::difftest;
use mrnic_model::{
    Aimd, ConnConfig, KeyConfig, Nic, NicConfig, OpenMr0, PathConfig, QpConfig, Rights, RxClass, RxInputs, RxStep, Stage,
};
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_core::RxCore;
use mrnic_wire::{emit_packet, Ack, Body, Msg, Msn, NetAddr, Packet, Ppsn};
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

const CONNS: u16 = 3;
const QPS: u32 = 6;
const MTU: u32 = 256;
const CAP: u32 = 40_000;

type Model = Nic<OpenMr0, Aimd>;

struct NoMemory;
impl mrnic_model::HostMemory for NoMemory {
    fn read(&self, _: u64, _: &mut [u8]) -> Result<(), mrnic_model::MemoryError> {
        Ok(())
    }
    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), mrnic_model::MemoryError> {
        Ok(())
    }
}

/// A message of a stream being sent: which packets are still to go.
#[derive(Clone, Default)]
struct Stream {
    msn: u32,
    length: u32,
    next: u32,
}

struct Rig {
    bench: Bench,
    model: Model,
    rng: Rng,
    net: NetAddr,
    now: u32,
    /// Time stands still while tables change, so that no timer falls in between.
    frozen: bool,
    cycle: u64,
    /// Headers given to the block whose commit is not seen yet.
    given: VecDeque<(Packet, bool, u32)>,
    waiting: VecDeque<(Packet, bool, u32)>,
    driving: bool,
    acks: VecDeque<mrnic_model::AckDesc>,
    places: VecDeque<(bool, u64, u32)>,
    acks_in: VecDeque<[u64; 5]>,
    got_places: VecDeque<(bool, u64, u32)>,
    got_acks_in: VecDeque<[u64; 5]>,
    got_errors: VecDeque<u32>,
    errors: VecDeque<u32>,
    qp_error: Vec<bool>,
    qperr_next: u64,
    starts: Vec<u32>,
    next: Vec<u32>,
    missing: Vec<(usize, u32, Packet, u32)>,
    streams: Vec<Stream>,
    paths: [u8; CONNS as usize],
    stall: u64,
    seen: std::collections::BTreeMap<String, u64>,
}

fn rig(build: &BuildConfig, seed: u64) -> Rig {
    let c = *build;
    let mut bench = Bench::new("rx_core", move || RxCore::new(&c));
    let config = NicConfig {
        conns: c.conns as u32,
        paths_max: 8,
        qps: c.qps as u32,
        msgs_per_stream: c.msgs_per_stream as u32,
        keys: c.keys as u32,
        ack_every: 4,
        ack_delay_ticks: 125,
        epoch_cap_bytes: CAP,
        stage: Stage::Write,
        ..NicConfig::default()
    };
    bench.set("ack_every", 4);
    bench.set("ack_delay", 125);
    bench.set("epoch_cap", CAP.into());
    bench.reset();
    let mut rig = Rig {
        bench,
        model: Nic::new(config).expect("a model"),
        rng: Rng(seed),
        net: NetAddr::v4([2; 6], [4; 6], [10, 0, 0, 1], [10, 0, 0, 2]),
        now: 0,
        frozen: false,
        cycle: 0,
        given: VecDeque::new(),
        waiting: VecDeque::new(),
        driving: false,
        acks: VecDeque::new(),
        places: VecDeque::new(),
        acks_in: VecDeque::new(),
        got_places: VecDeque::new(),
        got_acks_in: VecDeque::new(),
        got_errors: VecDeque::new(),
        errors: VecDeque::new(),
        qp_error: vec![false; c.qps],
        qperr_next: 0,
        starts: vec![],
        next: vec![],
        missing: vec![],
        streams: vec![Stream::default(); QPS as usize],
        paths: [8, 4, 1],
        stall: 20,
        seen: Default::default(),
    };
    rig.starts = (0..CONNS as usize * 8).map(|i| if i % 3 == 0 { 0xFF_FFE0 + i as u32 } else { i as u32 * 1000 }).collect();
    for conn in 0..CONNS {
        rig.open(conn);
    }
    for index in 0..4u32 {
        let key = KeyConfig {
            valid: true,
            key_low: 0xA0 + index as u8,
            pd: 7,
            rights: Rights { remote_write: index != 3, ..Rights::default() },
            base: 0x1_0000_0000 * u64::from(index + 1) + 5,
            length: 100_000,
            dma_base: 0x7000_0000 + 0x100_0000 * u64::from(index),
        };
        rig.model.register_key(index, &key).expect("a key");
        let w0 = 1 | u32::from(key.rights.remote_write) << 2 | u32::from(key.key_low) << 8 | u32::from(key.pd) << 16;
        let two = |v: u64| [v as u32, (v >> 32) as u32];
        let words = [&[w0][..], &two(key.base), &two(key.length), &two(key.dma_base)].concat();
        rig.cfg(4, index, &words);
    }
    // what lies outside the tables is ignored
    for table in 1..5 {
        rig.cfg(table, 60_000, &[1; 16]);
    }
    rig
}

impl Rig {
    /// Nothing is going on or will until time moves on.
    fn freeze(&mut self) {
        self.settle();
        self.frozen = true;
        for _ in 0..300 {
            self.step();
        }
        self.settle();
    }

    fn open(&mut self, conn: u16) {
        self.freeze();
        let mut config = ConnConfig::new(conn + 100, self.paths[conn as usize], self.net);
        config.mtu_log2 = 8;
        let at = conn as usize * 8;
        for p in 0..8 {
            config.path[p] = PathConfig::new(p as u8, self.starts[at + p]);
            self.cfg(2, (at + p) as u32, &[1, 0, self.starts[at + p]]);
        }
        self.model.open_connection(self.now, conn, &config).expect("a connection");
        let log2 = self.paths[conn as usize].ilog2();
        self.cfg(1, conn.into(), &[1 | log2 << 4 | 8 << 8]);
        self.next.resize(CONNS as usize * 8, 0);
        self.next[at..at + 8].copy_from_slice(&self.starts[at..at + 8]);
        self.missing.retain(|m| m.0 / 8 != conn as usize);
        for qp in (0..QPS).filter(|qp| qp % u32::from(CONNS) == u32::from(conn)) {
            self.open_qp(qp);
        }
        self.frozen = false;
    }

    fn open_qp(&mut self, qp: u32) {
        self.freeze();
        let conn = (qp % u32::from(CONNS)) as u16;
        let start = 0xFF_FFF0 + qp;
        let config = QpConfig { pd: 7, rx_start_msn: start & 0xFF_FFFF, ..QpConfig::new(conn, 0x200 + qp) };
        self.model.open_qp(qp, &config).expect("a queue pair");
        let mut words = [0; 10];
        words[0] = 1 | u32::from(conn) << 16;
        words[1] = 0x200 + qp;
        words[7] = 7;
        words[9] = start & 0xFF_FFFF;
        self.cfg(3, qp, &words);
        self.qp_error[qp as usize] = false;
        self.streams[qp as usize] = Stream { msn: start & 0xFF_FFFF, ..Stream::default() };
        self.missing.retain(|m| m.2.dest_qp != qp || matches!(m.2.body, Body::Nop { .. }));
        self.frozen = false;
    }

    /// Writes a table entry when nothing is going on.
    fn cfg(&mut self, table: u64, index: u32, words: &[u32]) {
        self.settle();
        let mut data = [0; 16];
        data[..words.len().min(16)].copy_from_slice(&words[..words.len().min(16)]);
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", index.into());
        self.bench.set_words("cfg_data", &data);
        self.bench.set("cfg_valid", 1);
        self.step();
        self.bench.set("cfg_valid", 0);
        for _ in 0..2000 {
            if self.bench.get("cfg_busy") == 0 {
                return;
            }
            self.step();
        }
        panic!("cfg_busy for ever");
    }

    fn settle(&mut self) {
        for _ in 0..5000 {
            let idle = self.waiting.is_empty() && self.given.is_empty() && self.acks.is_empty() && self.places.is_empty();
            if idle && self.acks_in.is_empty() && self.errors.is_empty() {
                return;
            }
            self.step();
        }
        panic!("work is left: {} headers, {} acks, {} places", self.given.len(), self.acks.len(), self.places.len());
    }

    fn drive(&mut self) {
        if !self.driving && !self.waiting.is_empty() && !self.rng.chance(self.stall) {
            let (p, ce, bytes) = self.waiting[0];
            let (msg, va, rkey, length) = match p.body {
                Body::Write { msg, va, rkey, length, .. } => (msg, va, rkey, length),
                Body::Nop { msg } => (msg, 1, 2, 3),
                _ => (Msg::default(), 4, 5, 6),
            };
            let opcode = match p.body {
                Body::Write { .. } => 0xE0,
                Body::Nop { .. } => 0xF7,
                Body::Ack(_) => 0xF0,
                Body::Probe => 0xF2,
                _ => 0,
            };
            let ack = if let Body::Ack(a) = p.body { a } else { Ack::default() };
            let fields = [
                ("opcode", opcode),
                ("ack_req", p.ack_req.into()),
                ("ppsn", p.ppsn.get().into()),
                ("dest_qp", p.dest_qp.into()),
                ("ecn_ce", ce.into()),
                ("home", p.mph.home.into()),
                ("via", p.mph.via.into()),
                ("conn", p.mph.conn.into()),
                ("rtx", p.mph.rtx.into()),
                ("tx_ts", p.mph.tx_ts.into()),
                ("msn", msg.msn.get().into()),
                ("va", va),
                ("rkey", rkey.into()),
                ("length", length.into()),
                ("payload_bytes", bytes.into()),
                ("ts_echo", ack.ts_echo.into()),
                ("mak_qp", ack.mak.qp.into()),
            ];
            for (name, value) in fields {
                self.bench.set(&format!("hdr_{name}"), value);
            }
            self.driving = true;
        }
        self.bench.set("hdr_valid", self.driving.into());
    }

    /// One clock: inputs, handshakes, the commit record.
    fn step(&mut self) {
        self.cycle += 1;
        if self.cycle.is_multiple_of(3) && !self.frozen {
            self.now += 1;
        }
        self.bench.set("now", self.now.into());
        self.drive();
        for stream in ["place", "ack", "ackdesc", "rxerr"] {
            let ready = !self.rng.chance(self.stall);
            self.bench.set(&format!("{stream}_ready"), ready.into());
        }
        self.bench.set("qperr_data", self.qperr_next);
        self.bench.eval();
        let qp = self.bench.get("qperr_addr") as usize;
        self.qperr_next = self.qp_error.get(qp).copied().unwrap_or(false).into();
        if self.driving && self.bench.get("hdr_ready") == 1 {
            self.driving = false;
            let h = self.waiting.pop_front().expect("a header");
            self.given.push_back(h);
        }
        if self.bench.get("commit_rx_valid") == 1 {
            self.commit();
        }
        self.outputs();
        self.bench.cycle();
    }

    fn taken(&mut self, stream: &str) -> bool {
        self.bench.get(&format!("{stream}_valid")) == 1 && self.bench.get(&format!("{stream}_ready")) == 1
    }

    fn field(&mut self, name: &str, want: impl Into<u64>) {
        let (got, want) = (self.bench.get(name), want.into());
        assert_eq!(got, want, "{name} at cycle {}", self.cycle);
    }

    fn outputs(&mut self) {
        // these three leave before the commit record of their step: each is compared when both are there
        if self.taken("place") {
            let write = self.bench.get("place_write") == 1;
            let addr = if write { self.bench.get("place_addr") } else { 0 };
            let bytes = self.bench.get("place_bytes") as u32;
            self.got_places.push_back((write, addr, bytes));
        }
        if self.taken("rxerr") {
            let qp = self.bench.get("rxerr_qp") as u32;
            self.qp_error[qp as usize] = true;
            self.got_errors.push_back(qp);
        }
        if self.taken("ack") {
            let names = ["ack_conn", "ack_home", "ack_cum", "ack_ts_echo", "ack_mak_qp"];
            let got = names.map(|name| self.bench.get(name));
            self.got_acks_in.push_back(got);
        }
        while !self.places.is_empty() && !self.got_places.is_empty() {
            assert_eq!(self.got_places.pop_front(), self.places.pop_front(), "place at cycle {}", self.cycle);
        }
        while !self.errors.is_empty() && !self.got_errors.is_empty() {
            assert_eq!(self.got_errors.pop_front(), self.errors.pop_front(), "rxerr at cycle {}", self.cycle);
        }
        while !self.acks_in.is_empty() && !self.got_acks_in.is_empty() {
            assert_eq!(self.got_acks_in.pop_front(), self.acks_in.pop_front(), "ack at cycle {}", self.cycle);
        }
        let ahead = self.got_places.len().max(self.got_errors.len()).max(self.got_acks_in.len());
        assert!(ahead <= 1, "an output without a step at cycle {}", self.cycle);
        if self.taken("ackdesc") {
            let d = self.acks.pop_front().expect("an ackdesc too many");
            let a = d.ack;
            let flags = u64::from(a.flags.probe_reply) << 1 | u64::from(a.flags.ts_valid) << 2 | u64::from(a.flags.nak) << 3;
            let code = mrnic_model::rx::check::code_number(a.mak.code);
            let fields: [(&str, u64); 15] = [
                ("conn", d.conn.into()),
                ("home", d.home.into()),
                ("via", d.via.into()),
                ("cum", d.cum.get().into()),
                ("ts_echo", a.ts_echo.into()),
                ("service", a.service.into()),
                ("ce", a.ce_packets.into()),
                ("dup", a.dup_packets.into()),
                ("rx", a.rx_packets.into()),
                ("flags", flags),
                ("rate", a.rate.into()),
                ("epoch", a.epoch.into()),
                ("mak_qp", a.mak.qp.into()),
                ("mak_code", code.into()),
                ("mak_msn", a.mak.msn.get().into()),
            ];
            for (name, value) in fields {
                self.field(&format!("ackdesc_{name}"), value);
            }
            let sav: Vec<u32> = a.vector.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect();
            assert_eq!(self.bench.get_words("ackdesc_sav"), sav, "sav at cycle {}", self.cycle);
        }
    }

    fn count(&mut self, what: impl Into<String>) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    fn commit(&mut self) {
        let now = self.bench.get("commit_rx_now") as u32;
        let kind = self.bench.get("commit_rx_kind");
        match kind {
            4 => {
                let (conn, home) = (self.bench.get("commit_rx_conn") as u16, self.bench.get("commit_rx_home") as u8);
                let ack =
                    self.model.step_rx_timer(now, conn, home).expect("a path").expect("a held acknowledgment that is due");
                self.acks.push_back(ack);
                self.count("timer");
                self.state(conn, home);
            }
            5 => {
                self.model.step_epoch_swap();
            }
            6 => {
                let share = self.model.step_epoch_publish().expect("a swap before");
                self.field("commit_rx_share", share);
                self.count("epoch");
            }
            _ => self.packet(now),
        }
    }

    fn packet(&mut self, now: u32) {
        let (packet, ce, bytes) = self.given.pop_front().expect("a commit too many");
        let mut frame = [0; 8400];
        let payload = vec![0; bytes as usize];
        let len = emit_packet(&mut frame, &self.net, 1, &packet, &payload).expect("a frame");
        if ce {
            assert!(mrnic_wire::frame::set_ecn(&mut frame[..len], 3));
        }
        let code = self.bench.get("commit_rx_code");
        let inputs = RxInputs { qp_error_seen: Some(code == 6) };
        let step = self.model.step_rx_with(now, &frame[..len], &inputs, &mut NoMemory);
        let mut place = (bytes > 0).then_some((false, 0, bytes));
        match step {
            RxStep::Dropped { .. } => {
                self.field("commit_rx_kind", 3u64);
                self.count("dropped");
            }
            RxStep::AckQueued { conn, home } => {
                self.field("commit_rx_kind", 2u64);
                let Body::Ack(a) = packet.body else { unreachable!() };
                let cum = packet.ppsn.get().into();
                self.acks_in.push_back([conn.into(), home.into(), cum, a.ts_echo.into(), a.mak.qp.into()]);
                self.count("ack");
            }
            RxStep::Probe { conn, home, ack } => {
                self.field("commit_rx_kind", 1u64);
                self.acks.push_back(ack);
                self.count("probe");
                self.state(conn, home);
            }
            RxStep::Data { conn, home, ppsn, class, place: placed, nak, rx_error, ack, .. } => {
                self.field("commit_rx_kind", 0u64);
                self.field("commit_rx_ppsn", ppsn);
                let number = match class {
                    RxClass::New => 0u64,
                    RxClass::Duplicate => 1,
                    RxClass::OutOfWindow => 2,
                };
                self.field("commit_rx_class", number);
                self.field("commit_rx_code", nak);
                self.field("commit_rx_placed", placed.is_some());
                if let Some(p) = placed {
                    self.field("commit_rx_addr", p.addr);
                    self.field("commit_rx_bytes", p.len);
                    place = Some((true, p.addr, p.len));
                }
                self.field("commit_rx_acked", ack.is_some());
                self.count(format!("class {number} code {nak} ack {}", ack.is_some()));
                self.acks.extend(ack);
                self.state(conn, home);
                if number == 0 && nak == 0 {
                    if let Body::Write { .. } = packet.body {
                        let exp = self.model.recv_stream(packet.dest_qp).expect("a stream").exp.get();
                        self.field("commit_rx_exp", exp);
                    }
                }
                if let Some(qp) = rx_error {
                    self.model.step_rx_error(qp).expect("a queue pair");
                    if nak != 6 {
                        self.errors.push_back(qp);
                    }
                }
            }
        }
        self.places.extend(place);
    }

    fn state(&mut self, conn: u16, home: u8) {
        let p = self.model.rx_path(conn, home).expect("a path");
        let fields: [(&str, u64); 6] = [
            ("cum", p.cum.get().into()),
            ("high", p.high.get().into()),
            ("ce", p.ce.into()),
            ("dup", p.dup.into()),
            ("rx", p.rx.into()),
            ("unacked", p.unacked.into()),
        ];
        for (name, value) in fields {
            self.field(&format!("commit_rx_{name}"), value);
        }
    }

    /// The next packet of a random stream on a random path; often it is lost first and comes later.
    fn send(&mut self) {
        if !self.missing.is_empty() && self.rng.chance(25) {
            let at = self.rng.below(self.missing.len() as u64) as usize;
            let (row, ppsn, mut packet, bytes) = self.missing[at];
            if self.rng.chance(80) {
                self.missing.swap_remove(at);
            }
            packet.ppsn = Ppsn::new(ppsn);
            packet.mph.home = (row % 8) as u8;
            packet.mph.rtx = true;
            packet.mph.via = self.rng.below(self.paths[row / 8].into()) as u8;
            self.queue(packet, bytes);
            return;
        }
        let qp = self.rng.below(QPS.into()) as u32;
        let conn = qp % u32::from(CONNS);
        let s = &mut self.streams[qp as usize];
        if s.next == 0 {
            s.length = match self.rng.below(4) {
                0 => 0,
                1 => 1 + self.rng.below(MTU.into()) as u32,
                _ => 1 + self.rng.below(10 * u64::from(MTU)) as u32,
            };
        }
        let bytes = MTU.min(s.length - s.next);
        let key = qp % 3;
        let offset = u64::from(qp) * 10_000 + u64::from(s.next);
        let body = Body::Write {
            msg: Msg { msn: Msn::new(s.msn), ..Msg::default() },
            va: 0x1_0000_0000 * u64::from(key + 1) + 5 + offset,
            rkey: key << 8 | (0xA0 + key),
            length: s.length,
            imm: None,
        };
        s.next += bytes;
        if s.next == s.length {
            (s.next, s.msn) = (0, (s.msn + 1) & 0xFF_FFFF);
        }
        let path = self.rng.below(self.paths[conn as usize].into()) as usize;
        let row = conn as usize * 8 + path;
        let mut packet = Packet { dest_qp: qp, ack_req: self.rng.chance(5), ..Packet::new(body) };
        packet.ppsn = Ppsn::new(self.next[row]);
        packet.mph.conn = conn as u16;
        packet.mph.home = path as u8;
        packet.mph.via = path as u8;
        self.next[row] = (self.next[row] + 1) & 0xFF_FFFF;
        if self.rng.chance(10) {
            let keep = self.missing.len() < 40;
            if keep {
                self.missing.push((row, packet.ppsn.get(), packet, bytes));
                return;
            }
        }
        self.queue(packet, bytes);
        if self.rng.chance(4) {
            self.queue(packet, bytes);
        }
    }

    /// A packet that must be refused or dropped, or carries no data.
    fn odd(&mut self) {
        let qp = self.rng.below(QPS.into()) as u32;
        let conn = (qp % u32::from(CONNS)) as usize;
        let path = self.rng.below(self.paths[conn].into()) as usize;
        let row = conn * 8 + path;
        let msn = self.model.recv_stream(qp).expect("a stream").exp;
        let msg = Msg { msn, ..Msg::default() };
        let (mut va, mut rkey, mut length, mut bytes) = (0x1_0000_0005u64, 0xA0u32, 20_000u32, 64u32);
        let mut dest_qp = qp;
        let mut ppsn = self.next[row];
        let mut fresh = true;
        let mut body = None;
        let mut packet_conn = conn as u16;
        let (mut home, mut via) = (path as u8, path as u8);
        match self.rng.below(19) {
            0 => rkey = 0xA1,
            1 => rkey = 0xFFFF_FF00,
            2 => (rkey, va) = (3 << 8 | 0xA3, 0x4_0000_0005),
            3 => va = 0x1_0000_0004,
            4 => va = 0x1_0000_0005 + 100_000 - 63,
            5 => va = u64::MAX - 10,
            6 => dest_qp = 0xFF_FFFF,
            7 => dest_qp = (qp + 1) % QPS,
            8 => bytes = MTU + 4,
            9 => length = bytes - 1,
            10 => {
                let late = msn.get() + 16;
                let msg = Msg { msn: Msn::new(late & 0xFF_FFFF), ..msg };
                body = Some(Body::Write { msg, va, rkey, length, imm: None });
            }
            11 => (packet_conn, fresh) = (7, false),
            12 => (packet_conn, fresh) = (40_000, false),
            13 => (home, fresh) = (200, false),
            14 => via = 8 + (path as u8),
            15 => (ppsn, fresh) = ((ppsn + 300) & 0xFF_FFFF, false),
            16 => (body, bytes) = (Some(Body::Nop { msg }), 0),
            17 => (body, bytes, fresh) = (Some(Body::Probe), 0, false),
            _ => {
                let ack = Ack { ts_echo: self.rng.next() as u16, ..Ack::default() };
                (body, bytes, fresh) = (Some(Body::Ack(ack)), 0, false);
            }
        }
        let body = body.unwrap_or(Body::Write { msg, va, rkey, length, imm: None });
        let mut packet = Packet { dest_qp, ..Packet::new(body) };
        packet.ppsn = Ppsn::new(ppsn);
        packet.mph.conn = packet_conn;
        packet.mph.home = home;
        packet.mph.via = via;
        if fresh {
            self.next[row] = (self.next[row] + 1) & 0xFF_FFFF;
            // the sender fills a refused number with a NOP
            let mut nop = Packet { dest_qp, ..Packet::new(Body::Nop { msg }) };
            nop.mph.conn = conn as u16;
            self.missing.push((row, ppsn, nop, 0));
        }
        self.queue(packet, bytes);
    }

    fn queue(&mut self, mut packet: Packet, bytes: u32) {
        packet.mph.tx_ts = self.rng.next() as u16;
        let ce = self.rng.chance(10);
        self.waiting.push_back((packet, ce, bytes));
    }
}

fn traffic(build: &BuildConfig, seed: u64, rounds: u64, odd: u64, fault: u64) -> Rig {
    println!("seed {seed}");
    let mut rig = rig(build, seed);
    rig.bench.set("fault", fault);
    for round in 0..rounds {
        if rig.rng.chance(odd) {
            rig.odd();
        } else {
            rig.send();
        }
        if rig.waiting.len() > 4 || rig.rng.chance(10) {
            for _ in 0..rig.rng.below(100) {
                rig.step();
            }
        }
        if round % 50 == 49 {
            rig.settle();
            // now and then silence, so that held acknowledgments fall due
            for _ in 0..rig.rng.below(1000) {
                rig.step();
            }
            rig.settle();
            for qp in 0..QPS {
                if rig.qp_error[qp as usize] && rig.rng.chance(70) {
                    rig.open_qp(qp);
                }
            }
            if rig.rng.chance(10) {
                let conn = rig.rng.below(CONNS.into()) as u16;
                rig.open(conn);
            }
            rig.stall = *[0, 20, 70].get(rig.rng.below(3) as usize).expect("three");
        }
    }
    rig.settle();
    rig
}

#[test]
fn every_step_is_that_of_the_model() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in [1, 2, 3] {
        let rig = traffic(&build("sim").expect("a build"), seed, 4000, 6, 0);
        for (what, n) in rig.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    println!("{seen:#?}");
    for what in ["timer", "epoch", "dropped", "ack", "probe", "class 1 code 0 ack true", "class 2 code 0 ack true"] {
        assert!(seen.get(what).is_some_and(|n| *n > 5), "{what} hardly occurred");
    }
    for code in [1, 2, 3, 4, 6, 7] {
        assert!(seen.get(&format!("class 0 code {code} ack true")).is_some_and(|n| *n > 2), "code {code} hardly occurred");
    }
}

#[test]
fn smallest_buffers_change_no_step() {
    traffic(&build("sim_min").expect("a build"), 4, 1500, 6, 0);
}

/// Acknowledged or not: the acknowledgment is made beside the next packet. An ACK frame is only handed on.
#[test]
fn a_packet_takes_7_clocks_and_an_ack_frame_5() {
    let mut rig = rig(&build("sim").expect("a build"), 5);
    rig.stall = 0;
    for (what, ack_req, budget) in [("write", false, 7), ("write with ack_req", true, 7), ("ack frame", false, 5)] {
        rig.freeze();
        for _ in 0..40 {
            let msn = rig.streams[0].msn;
            let write = Body::Write {
                msg: Msg { msn: Msn::new(msn), ..Msg::default() },
                va: 0x1_0000_0005,
                rkey: 0xA0,
                length: 1_000_000,
                imm: None,
            };
            if what == "ack frame" {
                rig.waiting.push_back((Packet::new(Body::Ack(Ack::default())), false, 0));
                continue;
            }
            let mut packet = Packet { dest_qp: 0, ack_req, ..Packet::new(write) };
            packet.ppsn = Ppsn::new(rig.next[0]);
            rig.next[0] = (rig.next[0] + 1) & 0xFF_FFFF;
            rig.waiting.push_back((packet, false, 64));
        }
        let start = rig.cycle;
        rig.settle();
        let clocks = rig.cycle - start;
        println!("{what}: {clocks} clocks for 40 packets");
        // and, once, an epoch or the timer of the last packets and what is in the outputs
        assert!(clocks <= 40 * budget + 20, "{what}: {clocks} clocks for 40 packets, at most {budget} each");
    }
}

/// The faults of this block, and the first field in which each shows.
#[test]
fn seeded_faults_are_noticed() {
    for (fault, shows) in [(2u64, "cum"), (6, "place"), (11, "code")] {
        let result = std::panic::catch_unwind(|| {
            traffic(&build("sim").expect("a build"), 1, 3000, 6, fault);
        });
        let message = match result {
            Ok(()) => panic!("fault {fault} was not noticed"),
            Err(e) => e.downcast_ref::<String>().cloned().unwrap_or_default(),
        };
        println!("fault {fault}: {message}");
        assert!(message.contains(shows), "fault {fault} was expected to show in {shows}: {message}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let small = BuildConfig { conns: 2, qps: 2, keys: 2, msgs_per_stream: 4, ..build("sim").expect("a build") };
    let report = difftest!(RxCore::new(&small), clock: clock, inputs: {
        reset, fault, now, ack_delay, ack_every, epoch_cap, cfg_valid, cfg_table, cfg_index, cfg_data, hdr_valid, hdr_opcode,
        hdr_ack_req, hdr_ppsn, hdr_dest_qp, hdr_ecn_ce, hdr_home, hdr_via, hdr_conn, hdr_rtx, hdr_tx_ts, hdr_msn, hdr_first,
        hdr_last, hdr_va, hdr_rkey, hdr_length, hdr_payload_bytes, hdr_ts_echo, hdr_service, hdr_ce, hdr_dup, hdr_flags,
        hdr_rate, hdr_sav, hdr_mak_qp, hdr_mak_code, hdr_mak_msn, place_ready, ack_ready, ackdesc_ready, rxerr_ready, qperr_data
    })
    .top("rx_core")
    .cycles(2500)
    .seed(7)
    .reset_chance(0.0002)
    .sink("place_ready")
    .sink("ack_ready")
    .sink("ackdesc_ready")
    .sink("rxerr_ready")
    .stimulus({
        let mut started = 0u64;
        move |random, cycle, inputs| {
            inputs.set("fault", *random.pick(&[0u32, 0, 0, 0, 2, 6, 11]));
            inputs.set("now", (cycle / 4 + 0xFFFF_FF00) & 0xFFFF_FFFF);
            inputs.set("ack_delay", 20u32);
            inputs.set("ack_every", 4u32);
            inputs.set("epoch_cap", 50_000u32);
            inputs.set("cfg_valid", false);
            inputs.set("qperr_data", random.chance(0.02));
            // tables first: both connections, paths close to the wrap, QPs, keys; later now and then one again
            let write = [(2u32, 0u32), (2, 1), (2, 8), (1, 0), (1, 1), (3, 0), (3, 1), (4, 0), (4, 1)];
            if cycle >= 100 && (started < 9 || random.chance(0.3)) && cycle % 60 == 0 {
                let (table, index) = write[(started % 9) as usize];
                started += 1;
                inputs.set("cfg_valid", true);
                inputs.set("cfg_table", table);
                inputs.set("cfg_index", index);
                let words: Vec<u32> = match table {
                    1 => vec![1 | 3 << 4 | 12 << 8],
                    2 => vec![1, 0, 0xFF_FFF8],
                    3 => vec![1 | index << 16, 0x55, 0, 0, 0, 0, 0, 9, 0, 0xFF_FFFF],
                    _ => vec![5 | 7 << 8 | 9 << 16, 0x1000, 0, 0x100_0000, 0, 0x8000_0000, 1],
                };
                inputs.set("cfg_data", words);
            }
            let waiting = inputs.previous("hdr_valid") == 1 && inputs.sampled("hdr_ready") == 0;
            let names = [
                "hdr_opcode",
                "hdr_ack_req",
                "hdr_ppsn",
                "hdr_dest_qp",
                "hdr_ecn_ce",
                "hdr_home",
                "hdr_via",
                "hdr_conn",
                "hdr_rtx",
                "hdr_tx_ts",
                "hdr_msn",
                "hdr_first",
                "hdr_last",
                "hdr_va",
                "hdr_rkey",
                "hdr_length",
                "hdr_payload_bytes",
            ];
            if waiting {
                inputs.hold("hdr_valid");
                names.iter().for_each(|n| inputs.hold(n));
            } else {
                inputs.set("hdr_valid", random.chance(0.9) && cycle > 700);
                let opcode = *random.pick(&[0xE0u32, 0xE0, 0xE0, 0xE0, 0xE0, 0xF7, 0xF0, 0xF2, 0x11]);
                inputs.set("hdr_opcode", opcode);
                if random.chance(0.95) {
                    // around where the path stands; at the start it stands just before the wrap
                    let cum = if random.chance(0.2) { 0xFF_FFF8 } else { inputs.sampled("commit_rx_cum") };
                    let jump = *random.pick(&[0u64, 0, 0, 0, 1, 2, 70, 255, 0xFF_FFFF]);
                    inputs.set("hdr_ppsn", (cum + jump) & 0xFF_FFFF);
                    inputs.set("hdr_conn", random.below(2));
                    inputs.set("hdr_home", 0u32);
                    inputs.set("hdr_via", random.below(8));
                    inputs.set("hdr_dest_qp", random.below(2));
                    let exp = if random.chance(0.3) { 0xFF_FFFF } else { inputs.sampled("commit_rx_exp") };
                    inputs.set("hdr_msn", (exp + random.below(3)) & 0xFF_FFFF);
                    inputs.set("hdr_length", random.below(3) * 64);
                    inputs.set("hdr_payload_bytes", random.below(2) * 64);
                    inputs.set("hdr_rkey", random.below(2) << 8 | if random.chance(0.99) { 7 } else { 8 });
                    inputs.set("hdr_va", 0x1000 + random.below(0x1000));
                }
            }
        }
    })
    .run();
    for port in ["place_valid", "ackdesc_valid", "ack_valid", "rxerr_valid", "commit_rx_valid", "commit_rx_cum"] {
        assert!(!report.stuck().iter().any(|s| s.contains(port)), "{port} never moved");
    }
}
