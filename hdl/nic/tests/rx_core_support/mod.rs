//! A bench for the receive core: the Verilated block, the golden model beside it, random streams, receives.
//! In: a build and a seed. Out: `Rig` and `traffic`, which compare every step, output and acknowledgment with the model.
//! Guarantees: the model is asked when a step's commit record leaves, so both see the same order of things.
#![allow(dead_code)] // each test uses its part
pub mod receives;
pub mod setup;
pub mod traffic;

use crate::rx_support::{Bench, Rng};
use mrnic_model::{Aimd, Nic, OpenMr0, QpState, RecvWr, RxClass, RxInputs, RxStep, Sge};
use mrnic_wire::{emit_packet, Ack, Body, Msg, NetAddr, Packet};
use receives::{Mark, Posted, Receives};
use std::collections::VecDeque;
use traffic::ODD_IMM;

pub const CONNS: u16 = 3;
pub const QPS: u32 = 6;
pub const MTU: u32 = 256;
pub const CAP: u32 = 40_000;

pub type Model = Nic<OpenMr0, Aimd>;

/// What the model writes: address and bytes.
#[derive(Default)]
pub struct Written(Vec<(u64, u32)>);

impl mrnic_model::HostMemory for Written {
    fn read(&self, _: u64, _: &mut [u8]) -> Result<(), mrnic_model::MemoryError> {
        Ok(())
    }
    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), mrnic_model::MemoryError> {
        self.0.push((addr, data.len() as u32));
        Ok(())
    }
}

/// A message of a stream being sent: which packets are still to go.
#[derive(Clone, Default)]
pub struct Stream {
    pub msn: u32,
    pub length: u32,
    pub next: u32,
    pub kind: Kind,
    /// Of the message that is being sent, if it is consuming; and of the next one that is.
    pub rq_seq: u32,
    pub next_rq_seq: u32,
}

/// What a message is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    #[default]
    Write,
    WriteImm,
    Send,
    SendImm,
}

/// The UDP source port of a packet: that of its path changes from time to time.
fn udp_src(packet: &Packet) -> u16 {
    0xC000 | u16::from(packet.mph.via) << 8 | (packet.ppsn.get() >> 4) as u16 & 0xFF
}

pub struct Rig {
    pub bench: Bench,
    pub model: Model,
    pub rng: Rng,
    pub net: NetAddr,
    pub now: u32,
    /// Time stands still while tables change, so that no timer falls in between.
    pub frozen: bool,
    pub cycle: u64,
    /// Headers given to the block whose commit is not seen yet.
    pub given: VecDeque<(Packet, bool, u32)>,
    pub waiting: VecDeque<(Packet, bool, u32)>,
    pub driving: bool,
    pub acks: VecDeque<mrnic_model::AckDesc>,
    /// `portset` of a step whose commit record is still to come: connection, path, port.
    pub port: Option<(u16, u8, u16)>,
    pub places: VecDeque<(bool, u64, u32)>,
    pub acks_in: VecDeque<[u64; 5]>,
    pub got_places: VecDeque<(bool, u64, u32)>,
    pub got_acks_in: VecDeque<[u64; 5]>,
    pub got_errors: VecDeque<u32>,
    pub errors: VecDeque<u32>,
    pub qp_error: Vec<bool>,
    /// R4: the code with which a QP has refused its peer.
    pub refusals: Vec<u8>,
    pub qperr_next: u64,
    pub starts: Vec<u32>,
    pub next: Vec<u32>,
    pub missing: Vec<(usize, u32, Packet, u32)>,
    pub streams: Vec<Stream>,
    pub paths: [u8; CONNS as usize],
    pub stall: u64,
    pub seen: std::collections::BTreeMap<String, u64>,
    pub sends: bool,
    /// Receives may have lists.
    pub lists: bool,
    /// Payload writes that the model has made.
    pub writes: u64,
    /// Tickets of messages that the step under way has passed.
    pub tickets: Vec<u64>,
    pub receives: Receives,
}

impl Rig {
    pub fn settle(&mut self) {
        for _ in 0..5000 {
            let idle = self.waiting.is_empty() && self.given.is_empty() && self.acks.is_empty() && self.places.is_empty();
            if idle && self.acks_in.is_empty() && self.errors.is_empty() {
                return;
            }
            self.step();
        }
        panic!("work is left: {} headers, {} acks, {} places", self.given.len(), self.acks.len(), self.places.len());
    }

    pub fn drive(&mut self) {
        if !self.driving && !self.waiting.is_empty() && !self.rng.chance(self.stall) {
            let (p, ce, bytes) = self.waiting[0];
            let (msg, va, rkey, length) = match p.body {
                Body::Write { msg, va, rkey, length, .. } => (msg, va, rkey, length),
                Body::Send { msg, offset, length, .. } => (msg, offset.into(), 0, length),
                Body::Nop { msg } => (msg, 1, 2, 3),
                _ => (Msg::default(), 4, 5, 6),
            };
            let (rq_seq, imm) = match p.body {
                Body::Write { imm: Some(imm), .. } => (imm.rq_seq, Some(imm.immediate)),
                Body::Send { rq_seq, imm, .. } => (rq_seq, imm),
                _ => (0, None),
            };
            let opcode = match p.body {
                Body::Write { .. } => 0xE0,
                Body::Send { .. } => 0xE1,
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
                ("udp_src", udp_src(&p).into()),
                ("msn", msg.msn.get().into()),
                ("va", va),
                ("rkey", rkey.into()),
                ("length", length.into()),
                ("payload_bytes", bytes.into()),
                ("rq_seq", rq_seq.into()),
                ("imm", imm.unwrap_or(0).into()),
                ("has_imm", imm.is_some().into()),
                ("sol", msg.sol.into()),
                ("attempt", msg.attempt.into()),
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
    pub fn step(&mut self) {
        self.cycle += 1;
        if self.cycle.is_multiple_of(3) && !self.frozen {
            self.now += 1;
        }
        self.bench.set("now", self.now.into());
        self.drive();
        if self.sends {
            for (name, value) in self.receives.answer(|most| self.rng.next() & most) {
                self.bench.set(name, value);
            }
            let ready = !self.rng.chance(self.stall);
            self.bench.set("pass_ready", ready.into());
        }
        for stream in ["place", "ack", "ackdesc", "rxerr"] {
            let ready = !self.rng.chance(self.stall);
            self.bench.set(&format!("{stream}_ready"), ready.into());
        }
        self.bench.set("qperr_data", self.qperr_next);
        self.bench.eval();
        if self.lists {
            let at = self.bench.get("rq_at");
            let junk = [0; 4].map(|_: u32| self.rng.next() as u32);
            self.bench.set_words("rq_piece", &self.receives.piece(at).unwrap_or(junk));
            self.bench.eval();
        }
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
        if self.bench.get("portset_valid") == 1 {
            let [conn, path, port] = ["portset_conn", "portset_path", "portset_port"].map(|name| self.bench.get(name));
            assert_eq!(
                self.port.replace((conn as u16, path as u8, port as u16)),
                None,
                "a port too many at cycle {}",
                self.cycle
            );
        }
        self.receives();
        self.outputs();
        self.bench.cycle();
    }

    /// Looks, marks and passes of this clock.
    pub fn receives(&mut self) {
        let names = ["rq_qp", "rq_seq", "rq_msn"];
        let (look, mark, held) = (self.bench.get("rq_look"), self.bench.get("rq_mark"), self.bench.get("rq_step"));
        assert!(held == 1 || look + mark == 0, "a receive is held from its look on, at cycle {}", self.cycle);
        let [qp, seq, msn] = names.map(|n| self.bench.get(n) as u32);
        if look == 1 {
            self.receives.look(qp, seq, msn);
        }
        if mark == 1 {
            let imm = (self.bench.get("rq_has_imm") == 1).then(|| self.bench.get("rq_imm") as u32);
            let accepted = (self.bench.get("rq_accept") == 1).then(|| Mark {
                length: self.bench.get("rq_length") as u32,
                imm,
                sol: self.bench.get("rq_sol") == 1,
                by_write: self.bench.get("rq_by_write") == 1,
            });
            let failed = self.bench.get("rq_failed") as u8;
            self.receives.mark((qp, seq, msn), accepted, failed);
        }
        if self.taken("pass") {
            let qp = self.bench.get("pass_qp") as u32;
            // those of the step itself may still wait
            let ticket = self.bench.get("pass_ticket");
            self.tickets.push(ticket);
            let queue = &mut self.receives.queues[qp as usize];
            queue.complete(self.bench.get("pass_slot"));
            self.count("receive complete");
        }
    }

    /// Q5, Q6: every completion that is due now, here and in the model.
    pub fn completions(&mut self, qp: u32) {
        let in_error = self.model.qp_state(qp).expect("a queue pair") == QpState::Error;
        loop {
            let here = self.receives.queues[qp as usize].pop(in_error);
            let there = self.model.step_recv_cqe(qp).expect("a queue pair").map(|(_, bytes)| bytes);
            assert_eq!(here, there, "completion of a receive of QP {qp} at cycle {}", self.cycle);
            let Some(bytes) = here else { return };
            self.count(format!("receive status {}", bytes[0]));
        }
    }

    /// A receive for `qp`, one in `bad` of which cannot hold what comes. Nothing is being looked for.
    pub fn post(&mut self, qp: u32, bad: u64) {
        let (mut key, mut len) = ([0, 1, 3][self.rng.below(3) as usize], 10 * MTU + 100);
        let (mut low, mut at) = (0xA0 + key, self.rng.below(90_000));
        if self.rng.below(bad) == 0 {
            match self.rng.below(6) {
                0..3 => len = self.rng.below(300) as u32,
                3 => (key, low) = (2, 0xA2),
                4 => low = 0,
                _ => at = 99_990 + self.rng.below(20),
            }
        }
        let addr = 0x1_0000_0000 * u64::from(key + 1) + 5 + at;
        let mut posted = Posted { addr, len, lkey: key << 8 | low, wr_id: self.rng.next(), list: None };
        let one = [Sge { addr, len, lkey: posted.lkey }];
        let mut list = [Sge::default(); 4];
        let mut sges = &one[..];
        if self.lists && self.rng.chance(70) {
            let mut left = len;
            for piece in &mut list {
                let key = [0, 1, 3][self.rng.below(3) as usize];
                // often several of them in a packet
                let (few, any) = (1 + self.rng.below(40) as u32, 1 + self.rng.below(700) as u32);
                let len = [0, 1, 3, few, 255, 256, 257, any][self.rng.below(8) as usize].min(left);
                left -= len;
                let addr = 0x1_0000_0000 * u64::from(key + 1) + 5 + self.rng.below(90_000);
                *piece = Sge { addr, len, lkey: key << 8 | (0xA0 + key) };
            }
            let many = 2 + self.rng.below(3) as usize;
            list[many - 1].len += left;
            if self.rng.below(bad) == 0 {
                let piece = &mut list[self.rng.below(many as u64) as usize];
                piece.lkey ^= 1 << self.rng.below(10);
            }
            // pieces that the list does not have are shown without bytes
            list[many..].iter_mut().for_each(|piece| piece.len = 0);
            sges = &list[..many];
            posted.len = sges.iter().map(|piece| piece.len).sum();
            posted.list = Some(list);
            self.count("list");
        }
        self.receives.queues[qp as usize].post(posted);
        self.model.step_recv(qp, &RecvWr { wr_id: posted.wr_id, sges }).expect("room");
        self.completions(qp);
    }

    pub fn taken(&mut self, stream: &str) -> bool {
        self.bench.get(&format!("{stream}_valid")) == 1 && self.bench.get(&format!("{stream}_ready")) == 1
    }

    pub fn field(&mut self, name: &str, want: impl Into<u64>) {
        let (got, want) = (self.bench.get(name), want.into());
        assert_eq!(got, want, "{name} at cycle {}", self.cycle);
    }

    pub fn outputs(&mut self) {
        // these three leave before the commit record of their step: each is compared when both are there
        if self.taken("place") {
            let write = self.bench.get("place_write") == 1;
            let addr = if write { self.bench.get("place_addr") } else { 0 };
            let bytes = self.bench.get("place_bytes") as u32;
            self.receives.writes += u64::from(write);
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
        assert!(ahead <= if self.lists { 4 } else { 1 }, "an output without a step at cycle {}", self.cycle);
        if self.taken("ackdesc") {
            let d = self.acks.pop_front().expect("an ackdesc too many");
            let a = d.ack;
            let flags = u64::from(a.flags.rnr)
                | u64::from(a.flags.probe_reply) << 1
                | u64::from(a.flags.ts_valid) << 2
                | u64::from(a.flags.nak) << 3;
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

    pub fn count(&mut self, what: impl Into<String>) {
        *self.seen.entry(what.into()).or_default() += 1;
    }

    pub fn commit(&mut self) {
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
            _ => return self.packet(now),
        }
        assert_eq!(self.port, None, "port at cycle {}", self.cycle);
    }

    pub fn packet(&mut self, now: u32) {
        let (packet, ce, bytes) = self.given.pop_front().expect("a commit too many");
        let mut frame = [0; 8400];
        let payload = vec![0; bytes as usize];
        let len = emit_packet(&mut frame, &self.net, udp_src(&packet), &packet, &payload).expect("a frame");
        if ce {
            assert!(mrnic_wire::frame::set_ecn(&mut frame[..len], 3));
        }
        let seen = self.bench.get("commit_rx_qp_failed") == 1;
        let inputs = RxInputs { qp_error_seen: Some(seen), ..RxInputs::default() };
        let mut written = Written::default();
        let step = self.model.step_rx_with(now, &frame[..len], &inputs, &mut written);
        // R10
        let conn_of = match step {
            RxStep::Probe { conn, .. } => Some(conn),
            RxStep::Data { conn, class, .. } if class != RxClass::OutOfWindow => Some(conn),
            _ => None,
        };
        let via = packet.mph.via;
        let noted = conn_of.map(|conn| (conn, via, self.model.reply_port(conn, via).expect("a path")));
        assert_eq!(self.port.take(), noted, "port at cycle {}", self.cycle);
        self.writes += written.0.len() as u64;
        for ticket in std::mem::take(&mut self.tickets) {
            assert_eq!(ticket, self.writes & 0xFFFF, "ticket at cycle {}", self.cycle);
        }
        let mut places = vec![(false, 0, bytes)];
        places.truncate((bytes > 0).into());
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
            RxStep::Data { conn, home, ppsn, class, place: placed, nak, rnr, rx_error, ack, .. } => {
                self.field("commit_rx_kind", 0u64);
                self.field("commit_rx_ppsn", ppsn);
                let number = match class {
                    RxClass::New => 0u64,
                    RxClass::Duplicate => 1,
                    RxClass::OutOfWindow => 2,
                };
                self.field("commit_rx_class", number);
                self.field("commit_rx_code", nak);
                self.field("commit_rx_rnr", rnr.is_some());
                let odd = matches!(packet.body, Body::Send { imm: ODD_IMM, .. });
                if rnr.is_some() {
                    self.count("rnr");
                }
                if rnr.is_some() && !odd {
                    // the same packet comes again, perhaps when there is a receive
                    self.missing.push((conn as usize * 8 + home as usize, ppsn, packet, bytes));
                }
                self.field("commit_rx_placed", placed.is_some());
                if let Some(p) = placed {
                    self.field("commit_rx_addr", p.addr);
                    self.field("commit_rx_bytes", p.len);
                    places = written.0.iter().map(|&(addr, bytes)| (true, addr, bytes)).collect();
                    self.count(format!("{} pieces", places.len()));
                }
                self.field("commit_rx_acked", ack.is_some());
                self.count(format!("class {number} code {nak} ack {}", ack.is_some()));
                self.count(format!("{:?} {nak}", packet.opcode()));
                self.acks.extend(ack);
                self.state(conn, home);
                if number == 0 && nak == 0 {
                    if let Body::Write { .. } | Body::Send { .. } = packet.body {
                        let exp = self.model.recv_stream(packet.dest_qp).expect("a stream").exp.get();
                        self.field("commit_rx_exp", exp);
                    }
                }
                if let Some(qp) = rx_error {
                    self.model.step_rx_error(qp).expect("a queue pair");
                    if !seen {
                        self.errors.push_back(qp);
                        self.refusals[qp as usize] = nak;
                    }
                }
                // Q5: all that the step passed was told before its record
                if packet.dest_qp < QPS {
                    self.completions(packet.dest_qp);
                }
            }
        }
        self.places.extend(places);
    }

    pub fn state(&mut self, conn: u16, home: u8) {
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
}
