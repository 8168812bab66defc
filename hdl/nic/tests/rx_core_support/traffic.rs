//! Random streams of packets for the receive core: of every kind, some lost at first, some that must be refused or dropped.
//! In: a rig. Out: packets in its queue. Guarantees: the same seed gives the same packets.
use super::setup::rig;
use super::{Kind, Rig, CONNS, MTU, QPS};
use mrnic_nic::config::BuildConfig;
use mrnic_wire::{Ack, Body, Msg, Msn, Packet, Ppsn, WriteImm};

/// Immediate of a SEND that is to be refused.
pub const ODD_IMM: Option<u32> = Some(5);

impl Rig {
    /// The next packet of a random stream on a random path; often it is lost first and comes later.
    pub fn send(&mut self) {
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
        let ahead = self.receives.queues[qp as usize].posted as i64 - i64::from(self.streams[qp as usize].next_rq_seq);
        if self.sends && self.given.is_empty() && ahead < 3 && self.rng.chance(80) {
            self.post(qp, 25);
        }
        let s = &mut self.streams[qp as usize];
        if s.next == 0 {
            s.length = match self.rng.below(4) {
                0 => 0,
                1 => 1 + self.rng.below(MTU.into()) as u32,
                _ => 1 + self.rng.below(10 * u64::from(MTU)) as u32,
            };
            let kinds = [Kind::Write, Kind::WriteImm, Kind::Send, Kind::SendImm];
            s.kind = if self.sends { kinds[self.rng.below(4) as usize] } else { Kind::Write };
            if s.kind != Kind::Write {
                s.rq_seq = s.next_rq_seq;
                s.next_rq_seq += 1;
            }
        }
        let bytes = MTU.min(s.length - s.next);
        let key = qp % 3;
        let offset = u64::from(qp) * 10_000 + u64::from(s.next);
        let attempt = self.sends && s.msn & 4 != 0;
        let msg = Msg { msn: Msn::new(s.msn), sol: s.msn.is_multiple_of(3), attempt, ..Msg::default() };
        let (length, rq_seq, immediate) = (s.length, s.rq_seq, s.msn.wrapping_mul(0x9E37_79B1));
        let imm = matches!(s.kind, Kind::WriteImm | Kind::SendImm).then_some(immediate);
        let body = match s.kind {
            Kind::Send | Kind::SendImm => Body::Send { msg, rq_seq, offset: s.next, length, imm },
            _ => Body::Write {
                msg,
                va: 0x1_0000_0000 * u64::from(key + 1) + 5 + offset,
                rkey: key << 8 | (0xA0 + key),
                length,
                imm: imm.map(|immediate| WriteImm { immediate, rq_seq }),
            },
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
    pub fn odd(&mut self) {
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
        match self.rng.below(if self.sends { 27 } else { 19 }) {
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
            n @ 19..=26 => {
                // a SEND that fits no receive, no message, or not its place in it
                let queue = &self.receives.queues[qp as usize];
                let posted = queue.posted;
                let (mut rq_seq, mut offset) = (posted.wrapping_sub(1) & 0xFF_FFFF, 0);
                match n {
                    19 => rq_seq = posted + self.rng.below(3) as u32,
                    20 => rq_seq = 0x80_0000 + self.rng.below(0x7F_0000) as u32,
                    21 => length = 63,
                    22 => offset = length - 63,
                    23 => offset = u32::MAX - 10,
                    24 => bytes = MTU + 4,
                    25 => via = 8 + path as u8,
                    _ => dest_qp = (qp + 1) % QPS,
                }
                if n == 21 || n == 22 || n == 23 {
                    length = length.min(2000);
                }
                body = Some(Body::Send { msg, rq_seq, offset, length, imm: ODD_IMM });
            }
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

    pub fn queue(&mut self, mut packet: Packet, bytes: u32) {
        packet.mph.tx_ts = self.rng.next() as u16;
        let ce = self.rng.chance(10);
        self.waiting.push_back((packet, ce, bytes));
    }
}
pub fn traffic(build: &BuildConfig, seed: u64, rounds: u64, odd: u64, fault: u64) -> Rig {
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
            for qp in 0..QPS {
                if rig.rng.chance(8) {
                    let (allowed, timer) = (rig.rng.chance(60), (round % 32) as u8);
                    rig.allow(qp, allowed, timer);
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
