//! Steps of the sender: acknowledgments, timers, transmit slots, retirements.
//!
//! In: ack, timer, grant and retire records. Out: expected packets, payload reads, retirements to count, errors to report.
//! Guarantees: every decision of sections 6 to 8 and every state field that a record carries is compared.
use crate::checker::{Checker, Retired};
use crate::step::{show, Step};
use crate::Memory;
use mrnic_model::{code_number, AckVerdict, Grant, GrantInputs, Outgoing, PacketDesc, PacketKind, StepError, TimerAction};

/// Retirements that may fall into the time between a slot's read of the bytes in flight and its record.
const FREED: usize = 64;
/// N1: ticks for which a slot may still overlook that a queue pair waits.
const OVERLOOKED_TICKS: i32 = 2;

impl Checker {
    pub(crate) fn ack(&mut self, s: &mut Step) {
        let disabled = s.record.get("verdict") == AckVerdict::Disabled as u64;
        match self.model.step_ack_seen(s.record.get("now") as u32, disabled) {
            Ok(a) => {
                self.causes.naks.extend(a.nak.map(|n| (n.qpn, n.code, n.msn)));
                self.causes.rnrs.extend(a.rnr);
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

    pub(crate) fn tx_state(&self, s: &mut Step, conn: u16, path: u8) {
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

    pub(crate) fn timer(&mut self, s: &mut Step) {
        let (conn, path) = (s.record.get("conn") as u16, s.record.get("path") as u8);
        let seen = self.watch_seen(s, conn, path);
        match self.model.step_tx_timer_seen(s.record.get("now") as u32, conn, path, Some(seen)) {
            Ok(t) => {
                s.field("action", t.action as u64);
                if t.action != TimerAction::ConnError {
                    if let Ok(p) = self.model.tx_path(conn, path) {
                        s.field("port", p.port);
                    }
                }
                if let Some(probe) = t.probe {
                    s.field("probe_ppsn", probe.ppsn);
                    self.expected.order_packet(Outgoing::Probe(probe));
                }
                self.tx_state(s, conn, path);
            }
            Err(e) => s.text("action", s.record.get("action").to_string(), e.to_string()),
        }
    }

    pub(crate) fn grant(&mut self, s: &mut Step, memory: &dyn Memory) {
        let r = s.record;
        let conn = r.get("conn") as u16;
        let kind = r.get("kind");
        let inputs = GrantInputs {
            inflight_bytes_seen: (kind == 0).then_some(r.get("inflight_bytes") as u32),
            more_waiting: (kind == 0).then_some(r.get("more") == 1),
            qp_error_seen: Some(kind == 2 || r.get("nop") == 1),
            waiting_seen: Some(kind == 3),
            response_seen: (kind != 1).then_some(r.get("source") > 0),
        };
        if kind != 1 {
            self.turn(s, conn);
        }
        if kind == 0 {
            self.inflight(s, conn);
            if r.get("source") == 0 {
                self.not_waiting(s);
            }
        }
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
                self.packet_of(s, &p);
                s.field("msn", p.msn);
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
                let pieces: Vec<_> = self.model.payload_pieces(&p).collect();
                for (_, piece) in &pieces {
                    self.expected.reads.push_back((piece.addr, piece.len as usize));
                    if !memory.read_into(piece.addr, &mut [0]) {
                        s.text("address", format!("{:#x}", piece.addr), "inside host memory");
                    }
                }
                if p.list.is_some() && p.len > 0 {
                    self.expected.pieces.push_back(pieces);
                }
                self.expected.order_packet(Outgoing::Data(p));
            }
            Ok(Grant::SkippedMessage { qpn, msn }) => {
                s.field("kind", 2u64);
                // the entry of an ERROR_RESP has its code there
                if r.get("source") != 2 {
                    s.field("qp", qpn);
                }
                s.field("msn", msn);
            }
            Ok(Grant::SetAside { qpn, msn }) => {
                s.field("kind", 3u64);
                s.field("qp", qpn);
                s.field("msn", msn);
            }
            Ok(Grant::Blocked(reason)) => s.text("kind", kind.to_string(), format!("no slot: {reason:?}")),
            // named by the comparison of the bytes in flight
            Err(StepError::InflightTooSmall { .. }) => {}
            Err(e) => s.text("kind", kind.to_string(), e.to_string()),
        }
    }

    /// N1: no new packet of a queue pair that waits. Its slot may have begun before the wait, or shortly afterwards.
    fn not_waiting(&self, s: &mut Step) {
        let (qp, now) = (s.record.get("qp") as u32, s.record.get("now") as u32);
        let Some(began) = self.causes.waits.get(&qp) else { return };
        let late = now.wrapping_sub(*began) as i32;
        if late > OVERLOOKED_TICKS && !self.may_be_in_error(qp) {
            s.text("waits", format!("a new packet {late} ticks after the wait began"), "no new packet".to_string());
        }
    }

    /// Which message or response a packet is of.
    fn packet_of(&self, s: &mut Step, p: &PacketDesc) {
        match p.kind {
            PacketKind::ErrorResp { code } if !p.nop => {
                s.field("source", 2u64);
                // it needs no row: its entry has code and peer in the place of QP and index
                s.field("qp", code_number(code));
                s.field("index", p.peer_qpn);
            }
            PacketKind::ErrorResp { .. } => s.text("nop", "1", "an ERROR_RESP is never a NOP"),
            kind => {
                // S6: of a NOP of a QP that is closed nothing more is known
                if !p.nop {
                    s.field("source", u64::from(kind.is_response()));
                }
                s.field("qp", p.qpn);
                s.field("index", p.index);
            }
        }
    }

    /// C3: hardware reads the bytes in flight early in the slot, so they may be those before the last retirements.
    fn inflight(&self, s: &mut Step, conn: u16) {
        let Ok(c) = self.model.tx_conn(conn) else { return };
        let (exact, seen) = (c.inflight_bytes(), s.record.get("inflight_bytes") as u32);
        let mut value = exact;
        for freed in self.causes.freed.get(&conn).into_iter().flatten() {
            if seen <= value {
                break;
            }
            value += freed;
        }
        s.field("inflight_bytes", if seen >= exact && seen == value { seen } else { exact });
    }

    pub(crate) fn retire(&mut self, s: &mut Step) {
        let r = s.record;
        let conn = r.get("conn") as u16;
        match self.model.step_retire(conn, r.get("home") as u8, r.get("ppsn") as u32) {
            Ok(x) => {
                if !x.error_response {
                    s.field("qp", x.qpn);
                }
                s.field("msn", x.msn);
                s.field("bytes", x.bytes);
                if x.response {
                    self.lanes.freed(conn, r.cycle);
                } else {
                    self.causes.retired.push_back(Retired { qp: x.qpn, msn: x.msn, bytes: x.bytes });
                }
                let freed = self.causes.freed.entry(conn).or_default();
                freed.truncate(FREED - 1);
                freed.push_front(x.bytes);
            }
            Err(e) => s.text("ppsn", show(r.get("ppsn")), e.to_string()),
        }
    }
}
