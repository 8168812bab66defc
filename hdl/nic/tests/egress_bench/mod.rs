//! Bench around `Egress` in Verilator: descriptors and payload in, frames out, expected frames from `mrnic_wire`.
//! In: lists of packets and acknowledgments, probabilities of back-pressure. Out: frames in order of leaving, and cycles.
//! Guarantees that streams of the block stay stable while they wait.
#![allow(dead_code)]
use mrnic_emit::emit_new;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::packet::Egress;
use mrnic_verilated::{build as verilate, Dut, ModelSpec, Port};
use mrnic_wire::{
    Ack, AckFlags, AtomicOp, Body, Mak, MakCode, Msg, Msn, NetAddr, OpenMr0, Packet, PathHeader, Ppsn, Profile, SackVector,
    WriteImm,
};
use rand::{rngs::SmallRng, Rng, SeedableRng};
use std::collections::{HashMap, VecDeque};

pub const KIND_DATA: u64 = 0;
pub const KIND_NOP: u64 = 1;
pub const KIND_PROBE: u64 = 2;

/// A connection as configured.
#[derive(Clone, Copy)]
pub struct Conn {
    pub net: NetAddr,
    pub mtu_log2: u64,
    pub peer_conn: u16,
}

/// Pieces of a message's payload: address and bytes; none if it is in one place.
pub type Pieces = [Option<(u64, u32)>; 4];

/// A message as work_fetch writes it.
#[derive(Clone, Copy)]
pub struct Message {
    pub laddr: u64,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
    pub peer_qpn: u32,
    /// 0 WRITE, 1 WRITE with immediate, 2 SEND, 3 SEND with immediate, 4 READ, 5 compare-and-swap, 6 fetch-and-add.
    pub opcode: u64,
    pub tag: u32,
    pub swap_add: u64,
    pub compare: u64,
    pub imm: u32,
    pub rq_seq: u32,
    pub sol: bool,
    /// It has begun again once (N2); its descriptors say so.
    pub attempt: bool,
    pub pieces: Pieces,
}

impl Message {
    /// Where byte `offset` of it is.
    fn place(&self, offset: u64) -> u64 {
        let mut begins = 0;
        for (addr, bytes) in self.pieces.into_iter().flatten() {
            if offset < begins + u64::from(bytes) {
                return addr.wrapping_add(offset - begins);
            }
            begins += u64::from(bytes);
        }
        self.laddr.wrapping_add(offset)
    }
}

/// A response as request_places writes it.
#[derive(Clone, Copy)]
pub struct Response {
    pub atomic: bool,
    /// Address of the data, or the old value.
    pub base: u64,
    pub length: u32,
    pub tag: u32,
    pub peer_qpn: u32,
}

#[derive(Clone, Copy, Debug)]
pub struct Desc {
    pub kind: u64,
    pub conn: u64,
    pub home: u8,
    pub via: u8,
    pub ppsn: u32,
    pub rtx: bool,
    pub moved: bool,
    pub ack_req: bool,
    pub qp: u64,
    pub msn: u32,
    pub index: u64,
    pub bytes: u64,
    pub first: bool,
    pub last: bool,
    /// 0 of a message, 1 of a response, 2 ERROR_RESP.
    pub source: u64,
    pub ts: u16,
    pub port: u16,
}

#[derive(Clone, Copy)]
pub struct AckDesc {
    pub conn: u64,
    pub home: u8,
    pub via: u8,
    pub cum: u32,
    pub ack: Ack,
}

/// What memory holds at an address.
pub fn memory_byte(address: u64) -> u8 {
    (address.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 37) as u8
}

pub fn random_conn(rng: &mut SmallRng, ipv6: bool) -> Conn {
    let net = if ipv6 {
        NetAddr::v6(rng.random(), rng.random(), rng.random(), rng.random())
    } else {
        NetAddr::v4(rng.random(), rng.random(), rng.random(), rng.random())
    };
    Conn { net, mtu_log2: rng.random_range(8..=12), peer_conn: rng.random() }
}

pub fn random_ack(rng: &mut SmallRng, conn: u64) -> AckDesc {
    let codes = [MakCode::Ok, MakCode::BadKey, MakCode::Bounds, MakCode::MsgLength, MakCode::QpError];
    let ack = Ack {
        ts_echo: rng.random(),
        service: rng.random(),
        ce_packets: rng.random(),
        dup_packets: rng.random(),
        rx_packets: rng.random(),
        flags: AckFlags { rnr: false, probe_reply: rng.random(), ts_valid: rng.random(), nak: rng.random() },
        rate: rng.random_range(0..1 << 24),
        epoch: rng.random(),
        vector: SackVector::from_words(if rng.random_bool(0.2) { [0; 4] } else { rng.random() }),
        mak: Mak {
            qp: rng.random_range(0..1 << 24),
            code: codes[rng.random_range(0..codes.len())],
            msn: Msn::new(rng.random_range(0..1 << 24)),
        },
    };
    AckDesc { conn, home: rng.random_range(0..8), via: rng.random_range(0..8), cum: rng.random_range(0..1 << 24), ack }
}

fn code_value(code: MakCode) -> u64 {
    match code {
        MakCode::Ok => 0,
        MakCode::BadKey => 1,
        MakCode::Access => 2,
        MakCode::Bounds => 3,
        MakCode::BadQp => 4,
        MakCode::BadOpcode => 5,
        MakCode::QpError => 6,
        MakCode::MsgLength => 7,
        MakCode::Reserved(value) => value.into(),
    }
}

fn flag_bits(flags: AckFlags) -> u64 {
    u64::from(flags.rnr) | u64::from(flags.probe_reply) << 1 | u64::from(flags.ts_valid) << 2 | u64::from(flags.nak) << 3
}

/// Probabilities that a side is willing in a cycle.
#[derive(Clone, Copy)]
pub struct Pace {
    pub desc: f64,
    pub ack: f64,
    pub dma_desc: f64,
    pub dma_data: f64,
    pub mac: f64,
}

impl Pace {
    pub const FULL: Pace = Pace { desc: 1.0, ack: 1.0, dma_desc: 1.0, dma_data: 1.0, mac: 1.0 };
}

pub struct Bench {
    dut: Dut,
    ports: HashMap<String, Port>,
    pub config: BuildConfig,
    rng: SmallRng,
    conns: HashMap<u64, Conn>,
    messages: HashMap<u64, Message>,
    responses: HashMap<u64, Response>,
    udp_ports: HashMap<u64, u16>,
    held: HashMap<&'static str, Vec<u32>>,
}

/// Streams whose payload must not change while they wait.
const WAITING: [(&str, &str, &[&str]); 2] = [
    ("dr_desc_valid", "dr_desc_ready", &["dr_desc_addr", "dr_desc_len"]),
    ("mac_tx_tvalid", "mac_tx_tready", &["mac_tx_tdata", "mac_tx_tkeep", "mac_tx_tlast"]),
];

pub fn verilog(config: &BuildConfig) -> String {
    let design = match config.data_width {
        64 => emit_new("egress", || Egress::<64, 8>::new(config)),
        128 => emit_new("egress", || Egress::<128, 16>::new(config)),
        _ => emit_new("egress", || Egress::<512, 64>::new(config)),
    };
    design.expect("egress is emitted").verilog
}

/// The "sim" build with another width and FIFO set.
pub fn config(width: usize, fifos_of: &str) -> BuildConfig {
    let fifo = build(fifos_of).expect("a named build").fifo;
    BuildConfig { data_width: width, fifo, ..build("sim").expect("a named build") }
}

impl Bench {
    pub fn new(config: BuildConfig, seed: u64) -> Self {
        println!("egress: width {}, seed {seed}", config.data_width);
        let spec = ModelSpec { opt_level: 1, ..ModelSpec::new("egress", verilog(&config)) };
        let model = verilate(&spec, &mut |_| {}).expect("egress compiles");
        let names: Vec<String> = model.ports().iter().map(|p| p.name.clone()).filter(|n| n != "clock").collect();
        let mut dut = model.instance("egress", seed);
        let ports: HashMap<String, Port> =
            names.into_iter().map(|n| (n.clone(), dut.port(&n).expect("a port of the model"))).collect();
        ports["reset"].set_u64(1);
        dut.cycles(3);
        ports["reset"].set_u64(0);
        let rng = SmallRng::seed_from_u64(seed);
        let (conns, messages, responses, udp_ports, held) = Default::default();
        Self { dut, ports, config, rng, conns, messages, responses, udp_ports, held }
    }

    pub fn set(&self, name: &str, value: u64) {
        self.ports[name].set_u64(value);
    }

    fn get(&self, name: &str) -> u64 {
        self.ports[name].get_u64()
    }

    fn configure(&mut self, table: u64, index: u64, words: [u32; 16]) {
        self.dut.eval();
        assert_eq!(self.get("cfg_busy"), 0);
        self.set("cfg_valid", 1);
        self.set("cfg_table", table);
        self.set("cfg_index", index);
        self.ports["cfg_data"].set_words(&words);
        self.dut.cycle();
        self.set("cfg_valid", 0);
        for _ in 0..20 {
            self.dut.eval();
            if self.get("cfg_busy") == 0 {
                return;
            }
            self.dut.cycle();
        }
        panic!("cfg_busy stays high");
    }

    /// Table 1.
    pub fn open(&mut self, index: u64, conn: Conn) {
        let mac = |m: [u8; 6]| m.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let (local, peer) = (mac(conn.net.src_mac), mac(conn.net.dst_mac));
        let ip = |bytes: &[u8]| bytes.iter().fold(0u128, |n, b| n << 8 | u128::from(*b));
        let (ipv6, src, dst) = match conn.net.ip {
            mrnic_wire::IpPair::V4 { src, dst } => (0, ip(&src), ip(&dst)),
            mrnic_wire::IpPair::V6 { src, dst } => (1, ip(&src), ip(&dst)),
        };
        let mut words = [0u32; 16];
        words[0] = 1 | ipv6 << 1 | 3 << 4 | (conn.mtu_log2 as u32) << 8 | 7 << 12 | u32::from(conn.peer_conn) << 16;
        words[3] = local as u32;
        words[4] = (local >> 32) as u32 | (peer as u32) << 16;
        words[5] = (peer >> 16) as u32;
        for k in 0..4 {
            words[6 + k] = (src >> (32 * k)) as u32;
            words[10 + k] = (dst >> (32 * k)) as u32;
        }
        self.configure(1, index, words);
        self.conns.insert(index, conn);
    }

    /// Table 2.
    pub fn set_path(&mut self, conn: u64, path: u64, port: u16) {
        let mut words = [0u32; 16];
        words[0] = 1 | u32::from(port) << 16;
        self.configure(2, conn * 8 + path, words);
        self.udp_ports.insert(conn * 8 + path, port);
    }

    /// A packet came by the path, with this port.
    pub fn change_port(&mut self, conn: u64, path: u64, port: u16) {
        self.set("portset_valid", 1);
        self.set("portset_conn", conn);
        self.set("portset_path", path);
        self.set("portset_port", port.into());
        self.dut.cycle();
        self.set("portset_valid", 0);
        self.udp_ports.insert(conn * 8 + path, port);
    }

    /// Both in the same clock, on different paths.
    pub fn set_path_and_change_port(&mut self, conn: u64, path: u64, port: u16, changed: (u64, u16)) {
        let mut words = [0u32; 16];
        words[0] = 1 | u32::from(port) << 16;
        self.set("cfg_valid", 1);
        self.set("cfg_table", 2);
        self.set("cfg_index", conn * 8 + path);
        self.ports["cfg_data"].set_words(&words);
        self.dut.cycle();
        self.set("cfg_valid", 0);
        self.udp_ports.insert(conn * 8 + path, port);
        self.change_port(conn, changed.0, changed.1);
        self.dut.eval();
        assert_eq!(self.get("cfg_busy"), 1, "the configured port waits for the port change");
        self.dut.cycle();
        self.dut.eval();
        assert_eq!(self.get("cfg_busy"), 0);
    }

    pub fn write_message(&mut self, qp: u64, msn: u32, message: Message) {
        let m = self.config.msgs_per_stream as u64;
        let row = qp * m + u64::from(msn) % m;
        self.set("msgrow_addr", row);
        let mut end = 0;
        for (at, (addr, bytes)) in message.pieces.into_iter().flatten().enumerate() {
            end += u64::from(bytes);
            for (name, value) in [("write", 1), ("at", at as u64), ("addr", addr), ("end", end)] {
                self.set(&format!("msgpiece_{name}"), value);
            }
            self.dut.cycle();
        }
        self.set("msgpiece_write", 0);
        self.set("msgrow_listed", message.pieces[0].is_some().into());
        self.set("msgrow_valid", 1);
        self.set("msgrow_laddr", message.laddr);
        self.set("msgrow_raddr", message.raddr);
        self.set("msgrow_rkey", message.rkey.into());
        self.set("msgrow_length", message.length.into());
        self.set("msgrow_peer_qpn", message.peer_qpn.into());
        self.set("msgrow_opcode", message.opcode);
        self.set("msgrow_imm", message.imm.into());
        self.set("msgrow_rq_seq", message.rq_seq.into());
        self.set("msgrow_sol", message.sol.into());
        self.set("msgrow_tag", message.tag.into());
        self.set("msgrow_swap_add", message.swap_add);
        self.set("msgrow_compare", message.compare);
        self.dut.cycle();
        self.set("msgrow_valid", 0);
        self.messages.insert(row, message);
    }

    pub fn write_response(&mut self, qp: u64, msn: u32, response: Response) {
        let m = self.config.msgs_per_stream as u64;
        let row = qp * m + u64::from(msn) % m;
        self.set("rsprow_valid", 1);
        self.set("rsprow_addr", row);
        self.set("rsprow_atomic", response.atomic.into());
        self.set("rsprow_base", response.base);
        self.set("rsprow_length", response.length.into());
        self.set("rsprow_tag", response.tag.into());
        self.set("rsprow_peer_qpn", response.peer_qpn.into());
        self.dut.cycle();
        self.set("rsprow_valid", 0);
        self.responses.insert(row, response);
    }

    /// D4, D7: what a packet of a response says, whom it is for, where its payload is.
    fn expected_response(&self, d: &Desc, offset: u64) -> (Body, u32, Option<u64>) {
        let msg = Msg { first: d.first, last: d.last, sol: false, attempt: false, msn: Msn::new(d.msn) };
        if d.source == 2 {
            let codes =
                [MakCode::BadKey, MakCode::Access, MakCode::Bounds, MakCode::BadQp, MakCode::BadOpcode, MakCode::QpError];
            let code = codes.into_iter().find(|code| code_value(*code) == d.qp).expect("a code");
            return (Body::ErrorResp { msg, code }, d.index as u32, None);
        }
        let m = self.config.msgs_per_stream as u64;
        let Response { atomic, base, length, tag, peer_qpn } = self.responses[&(d.qp * m + u64::from(d.msn) % m)];
        match atomic {
            true => (Body::AtomicResp { msg, value: base }, peer_qpn, None),
            false => (Body::ReadResp { msg, offset, tag, length }, peer_qpn, Some(base.wrapping_add(offset))),
        }
    }

    pub fn mtu_bytes(&self, conn: u64) -> u64 {
        1 << self.conns[&conn].mtu_log2
    }

    /// Bytes of the message that such a packet is of, if they are in pieces.
    pub fn bytes_in_pieces(&self, d: &Desc) -> Option<u64> {
        let row = d.qp * self.config.msgs_per_stream as u64 + u64::from(d.msn) % self.config.msgs_per_stream as u64;
        let pieces = self.messages[&row].pieces;
        (d.source == 0 && pieces[0].is_some()).then(|| pieces.into_iter().flatten().map(|piece| u64::from(piece.1)).sum())
    }

    /// Whether such a packet has payload, if it is data.
    pub fn has_payload(&self, d: &Desc) -> bool {
        let row = d.qp * self.config.msgs_per_stream as u64 + u64::from(d.msn) % self.config.msgs_per_stream as u64;
        match d.source {
            0 => self.messages[&row].opcode < 4,
            1 => !self.responses[&row].atomic,
            _ => false,
        }
    }

    pub fn expected_packet(&self, d: &Desc) -> Vec<u8> {
        let conn = self.conns[&d.conn];
        let m = self.config.msgs_per_stream as u64;
        let message = self.messages.get(&(d.qp * m + u64::from(d.msn) % m));
        let offset = d.index << conn.mtu_log2;
        let mut payload = Vec::new();
        let msn = Msn::new(d.msn);
        let (body, dest_qp) = match d.kind {
            KIND_DATA if d.source > 0 => {
                let (body, peer_qpn, from) = self.expected_response(d, offset);
                if let Some(from) = from {
                    payload = (0..d.bytes).map(|i| memory_byte(from.wrapping_add(i))).collect();
                }
                (body, peer_qpn)
            }
            KIND_DATA => {
                let message = message.expect("the message is known");
                payload = (offset..offset + d.bytes).map(|at| memory_byte(message.place(at))).collect();
                let msg = Msg { first: d.first, last: d.last, sol: message.sol, attempt: message.attempt, msn };
                let Message { rkey, length, rq_seq, imm: immediate, .. } = *message;
                let has_imm = message.opcode & 1 != 0;
                let Message { raddr: va, tag, swap_add, compare, .. } = *message;
                let body = if message.opcode == 4 {
                    Body::ReadReq { msg, va, rkey, length, tag }
                } else if message.opcode > 4 {
                    let op = if message.opcode == 6 { AtomicOp::FetchAdd } else { AtomicOp::CompareSwap };
                    Body::AtomicReq { msg, op, va, rkey, swap_add, compare }
                } else if message.opcode & 2 != 0 {
                    Body::Send { msg, rq_seq, offset: offset as u32, length, imm: has_imm.then_some(immediate) }
                } else {
                    let imm = has_imm.then_some(WriteImm { immediate, rq_seq });
                    Body::Write { msg, va: message.raddr.wrapping_add(offset), rkey, length, imm }
                };
                (body, message.peer_qpn)
            }
            KIND_NOP => {
                let msg = Msg { msn, ..Msg::default() };
                (Body::Nop { msg }, OpenMr0::PATH_QP)
            }
            _ => (Body::Probe, OpenMr0::PATH_QP),
        };
        let mph = PathHeader { rtx: d.rtx, moved: d.moved, home: d.home, tx_ts: d.ts, conn: conn.peer_conn, via: d.via };
        let packet = Packet { dest_qp, ack_req: d.ack_req, ppsn: Ppsn::new(d.ppsn), mph, ..Packet::new(body) };
        emit(&conn.net, d.port, &packet, &payload)
    }

    pub fn expected_ack(&self, d: &AckDesc) -> Vec<u8> {
        let conn = self.conns[&d.conn];
        let mph = PathHeader { home: d.home, conn: conn.peer_conn, via: d.via, ..PathHeader::default() };
        let dest_qp = OpenMr0::PATH_QP;
        let packet = Packet { dest_qp, ppsn: Ppsn::new(d.cum), mph, ..Packet::new(Body::Ack(d.ack)) };
        emit(&conn.net, self.udp_ports[&(d.conn * 8 + u64::from(d.via))], &packet, &[])
    }

    fn drive_desc(&self, d: &Desc) {
        // as the message is when the slot is granted
        let row = d.qp * self.config.msgs_per_stream as u64 + u64::from(d.msn) % self.config.msgs_per_stream as u64;
        let attempt = d.kind == KIND_DATA && self.messages.get(&row).is_some_and(|message| message.attempt);
        for (name, value) in [
            ("kind", d.kind),
            ("conn", d.conn),
            ("home", d.home.into()),
            ("via", d.via.into()),
            ("ppsn", d.ppsn.into()),
            ("rtx", d.rtx.into()),
            ("moved", d.moved.into()),
            ("ack_req", d.ack_req.into()),
            ("qp", d.qp),
            ("msn", d.msn.into()),
            ("index", d.index),
            ("bytes", d.bytes),
            ("first", d.first.into()),
            ("last", d.last.into()),
            ("source", d.source),
            ("attempt", attempt.into()),
            ("ts", d.ts.into()),
            ("port", d.port.into()),
        ] {
            self.set(&format!("desc_{name}"), value);
        }
    }

    fn drive_ack(&self, d: &AckDesc) {
        for (name, value) in [
            ("conn", d.conn),
            ("home", d.home.into()),
            ("via", d.via.into()),
            ("cum", d.cum.into()),
            ("ts_echo", d.ack.ts_echo.into()),
            ("service", d.ack.service.into()),
            ("ce", d.ack.ce_packets.into()),
            ("dup", d.ack.dup_packets.into()),
            ("rx", d.ack.rx_packets.into()),
            ("flags", flag_bits(d.ack.flags)),
            ("rate", d.ack.rate.into()),
            ("epoch", d.ack.epoch.into()),
            ("mak_qp", d.ack.mak.qp.into()),
            ("mak_code", code_value(d.ack.mak.code)),
            ("mak_msn", d.ack.mak.msn.get().into()),
        ] {
            self.set(&format!("ackdesc_{name}"), value);
        }
        let words: Vec<u32> = d.ack.vector.words().iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect();
        self.ports["ackdesc_sav"].set_words(&words);
    }

    /// A waiting stream still holds what it held.
    fn check_stable(&mut self) {
        for (valid, ready, fields) in WAITING {
            let value: Vec<u32> = fields.iter().flat_map(|f| self.ports[*f].to_words()).collect();
            if let Some(before) = self.held.remove(valid) {
                assert_eq!(self.get(valid), 1, "{valid} fell while it waited");
                assert_eq!(before, value, "the payload of {valid} changed while it waited");
            }
            if self.get(valid) == 1 && self.get(ready) == 0 {
                self.held.insert(valid, value);
            }
        }
    }

    /// Sends everything; returns the frames as they left and the cycles from the first to the last beat.
    pub fn run(&mut self, descs: &[Desc], acks: &[AckDesc], pace: Pace) -> (Vec<Vec<u8>>, u64) {
        let beat_bytes = self.config.data_width / 8;
        let (mut descs, mut acks) = (descs.iter().peekable(), acks.iter().peekable());
        let wanted = descs.len() + acks.len();
        let (mut desc_up, mut ack_up, mut data_up) = (false, false, false);
        let mut reads: VecDeque<(u64, u64)> = VecDeque::new();
        let mut frames: Vec<Vec<u8>> = Vec::new();
        let mut frame = Vec::new();
        let (mut first_beat, mut cycle, mut idle) = (None, 0u64, 0u64);
        while frames.len() < wanted {
            if let (Some(d), false) = (descs.peek(), desc_up) {
                desc_up = self.rng.random_bool(pace.desc);
                self.drive_desc(d);
            }
            if let (Some(d), false) = (acks.peek(), ack_up) {
                ack_up = self.rng.random_bool(pace.ack);
                self.drive_ack(d);
            }
            if let (Some((address, left)), false) = (reads.front(), data_up) {
                data_up = self.rng.random_bool(pace.dma_data);
                // Beyond the end the beat carries whatever memory holds there.
                let beat: Vec<u8> = (0..beat_bytes as u64).map(|i| memory_byte(address.wrapping_add(i))).collect();
                self.ports["dr_data"].set_bytes(&beat);
                assert!(*left > 0);
            }
            self.set("desc_valid", desc_up.into());
            self.set("ackdesc_valid", ack_up.into());
            self.set("dr_valid", data_up.into());
            let dma_ready = self.rng.random_bool(pace.dma_desc);
            self.set("dr_desc_ready", dma_ready.into());
            let mac_ready = self.rng.random_bool(pace.mac);
            self.set("mac_tx_tready", mac_ready.into());
            self.dut.eval();
            self.check_stable();
            if desc_up && self.get("desc_ready") == 1 {
                descs.next();
                desc_up = false;
            }
            if ack_up && self.get("ackdesc_ready") == 1 {
                acks.next();
                ack_up = false;
            }
            let taken = data_up && self.get("dr_ready") == 1;
            if dma_ready && self.get("dr_desc_valid") == 1 {
                reads.push_back((self.get("dr_desc_addr"), self.get("dr_desc_len")));
            }
            if taken {
                data_up = false;
                let front = &mut reads[0];
                let moved = front.1.min(beat_bytes as u64);
                *front = (front.0.wrapping_add(moved), front.1 - moved);
                if front.1 == 0 {
                    reads.pop_front();
                }
            }
            idle += 1;
            if mac_ready && self.get("mac_tx_tvalid") == 1 {
                idle = 0;
                first_beat.get_or_insert(cycle);
                let mut beat = vec![0; beat_bytes];
                self.ports["mac_tx_tdata"].get_bytes(&mut beat);
                let keep = self.get("mac_tx_tkeep");
                let bytes = keep.trailing_ones() as usize;
                let last = self.get("mac_tx_tlast") == 1;
                assert_eq!(keep.count_ones() as usize, bytes, "keep {keep:x} has a hole");
                assert!(last || bytes == beat_bytes, "only the last beat may be partial");
                frame.extend_from_slice(&beat[..bytes]);
                if last {
                    frames.push(std::mem::take(&mut frame));
                }
            }
            assert!(idle < 2000, "nothing leaves any more after {} of {wanted} frames", frames.len());
            self.dut.cycle();
            cycle += 1;
        }
        (frames, cycle - first_beat.unwrap_or(0))
    }

    /// Runs and compares each frame with the next one expected of its kind.
    pub fn check(&mut self, descs: &[Desc], acks: &[AckDesc], pace: Pace) -> u64 {
        let mut packets: VecDeque<Vec<u8>> = descs.iter().map(|d| self.expected_packet(d)).collect();
        let mut answers: VecDeque<Vec<u8>> = acks.iter().map(|d| self.expected_ack(d)).collect();
        let (frames, cycles) = self.run(descs, acks, pace);
        for (k, frame) in frames.iter().enumerate() {
            let list = if answers.front() == Some(frame) { &mut answers } else { &mut packets };
            let expected = list.pop_front().expect("no frame more than expected");
            assert_eq!(hex(frame), hex(&expected), "frame {k}");
        }
        assert!(packets.is_empty() && answers.is_empty());
        cycles
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn emit(net: &NetAddr, port: u16, packet: &Packet, payload: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 5000];
    let length = mrnic_wire::emit_packet(&mut frame, net, port, packet, payload).expect("a legal packet");
    frame.truncate(length);
    frame
}
