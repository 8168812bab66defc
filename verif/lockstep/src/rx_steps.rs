//! Steps of the receiver: frames dropped by the parser, packets, the acknowledgment timer, epochs of the rate hint.
//!
//! In: drop and rx records. Out: expected payload writes and acknowledgments. Guarantees: frames are judged in the order in
//! which they came in (R1), and every state field of section 4 that a record carries is compared.
use crate::checker::{Checker, ModelMemory};
use crate::outputs::ExpectedAck;
use crate::step::{hex, Step};
use crate::Memory;
use mrnic_model::{AckDesc, DropReason, RxClass, RxEffect, RxInputs, RxStep, StepError};
use mrnic_wire::{parse_packet, Body, OpenMr0, Parsed, Profile};

/// Code of a refusal because the QP is in Error (R3).
const QP_IN_ERROR: u8 = 6;
/// Of an atomic.
const VALUE_BYTES: u64 = 8;

impl Checker {
    pub(crate) fn drop(&mut self, s: &mut Step) {
        match self.bad.pop_front() {
            Some((_, check)) => s.field("reason", check),
            None => s.text("reason", s.record.get("reason").to_string(), "no frame to drop"),
        }
    }

    pub(crate) fn rx(&mut self, s: &mut Step, memory: &dyn Memory) {
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
            7 => self.executed(s, memory),
            kind => self.rx_frame(s, now, kind),
        }
    }

    pub(crate) fn rx_timer(&mut self, s: &mut Step, now: u32) {
        let (conn, home) = (s.record.get("conn") as u16, s.record.get("home") as u8);
        match self.model.step_rx_timer(now, conn, home) {
            Ok(Some(ack)) => {
                s.field("acked", 1u64);
                self.expect_ack(ack);
            }
            Ok(None) => s.text("acked", "by the timer", "not due"),
            Err(e) => s.text("conn", conn.to_string(), e.to_string()),
        }
        self.rx_state(s, conn, home);
    }

    pub(crate) fn rx_frame(&mut self, s: &mut Step, now: u32, kind: u64) {
        let Some((number, frame)) = self.good.pop_front() else {
            s.text("kind", kind.to_string(), "no frame was received");
            return;
        };
        // a frame in front of this one failed a check, and the parser let it pass
        if let Some((_, check)) = self.bad.front().filter(|b| b.0 < number) {
            s.text("kind", kind.to_string(), format!("a frame that fails check {check}"));
            return;
        }
        let Ok(received) = parse_packet(&frame) else { return };
        // R3: hardware may see late that the QP is in Error, but never too early
        let seen = s.record.get("qp_failed") == 1;
        let body = &received.packet.body;
        let (conn, via, qp) = (received.packet.mph.conn, received.packet.mph.via, received.packet.dest_qp);
        let asks = matches!(body, Body::ReadReq { .. } | Body::AtomicReq { .. });
        let responds = matches!(body, Body::ReadResp { .. } | Body::AtomicResp { .. } | Body::ErrorResp { .. });
        let (busy, used) = (s.record.get("rnr") == 1, s.record.get("used") == 1);
        let inputs = RxInputs {
            qp_error_seen: (kind == 0).then_some(seen),
            busy_seen: (kind == 0 && asks).then_some(busy),
            used_seen: (kind == 0 && responds).then_some(used),
            given_up_seen: Some(kind == 3),
        };
        if asks && busy {
            let msn = body.msg().map_or(0, |m| m.msn.get());
            if !self.model.is_busy(conn, qp, msn) && !self.lanes.freed_lately(conn, s.record.cycle) {
                s.text("rnr", "1", "D3: there is a place");
            }
        }
        let error_seen = seen && self.may_be_in_error(qp);
        let mut memory = ModelMemory { memory: None, writes: Vec::new() };
        let step = self.model.step_rx_with(now, &frame, &inputs, &mut memory);
        let placed = memory.writes.first().map(|w| w.0);
        self.expected.order_writes(memory.writes);
        if let Ok(port) = self.model.reply_port(conn, via) {
            self.expected.note_port(conn, via, port);
        }
        self.early_writes(s);
        match step {
            RxStep::Dropped { reason } => {
                s.field("kind", 3u64);
                Self::rx_header(s, &received, false);
                debug_assert!(!matches!(reason, DropReason::Codec(_)), "frames were parsed when they came in");
            }
            RxStep::AckQueued { conn, home } => {
                s.field("kind", 2u64);
                s.field("conn", conn);
                s.field("home", home);
                s.field("acked", 0u64);
                s.field("placed", 0u64);
                Self::rx_header(s, &received, true);
            }
            RxStep::Probe { conn, home, ack } => {
                s.field("kind", 1u64);
                s.field("conn", conn);
                s.field("home", home);
                s.field("acked", 1u64);
                s.field("placed", 0u64);
                Self::rx_header(s, &received, true);
                self.expect_ack(ack);
                self.rx_state(s, conn, home);
            }
            RxStep::Data { conn, home, ppsn, class, place, nak, rnr, effect, rx_error, ack, .. } => {
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
                s.field("rnr", rnr.is_some());
                s.field("qp_failed", error_seen);
                s.field("used", matches!(effect, RxEffect::Response { .. } | RxEffect::RemoteError(_)));
                match effect {
                    RxEffect::Response { qpn, whole } => {
                        let ordered = self.expected.writes_ordered;
                        self.causes.answers.extend(whole.map(|msn| (qpn, msn, ordered)));
                    }
                    RxEffect::RemoteError(nak) => self.causes.remote_naks.push_back((nak.qpn, nak.code, nak.msn)),
                    _ => {}
                }
                // the value of an atomic is its payload
                let value = matches!(received.packet.body, Body::AtomicResp { .. });
                let place = place.map(|p| p.addr).or_else(|| placed.filter(|_| value));
                s.field("placed", place.is_some());
                s.field("addr", place.unwrap_or(0));
                s.field("bytes", if value { VALUE_BYTES } else { received.payload.len() as u64 });
                s.field("acked", ack.is_some());
                if let Some(a) = ack {
                    self.expect_ack(a);
                }
                self.rx_state(s, conn, home);
                Self::rx_header(s, &received, true);
                self.rx_message(s, &received);
                // the QP's move to Error is the step of its own record; the receiver refuses from now on
                // R4: a QP that is in Error already makes no second event (Q3 has the same code for a receive's key)
                if let Some(qpn) = rx_error.filter(|_| nak != QP_IN_ERROR || !error_seen) {
                    *self.causes.refusals.entry(qpn).or_default() += 1;
                    let _: std::result::Result<bool, StepError> = self.model.step_rx_error(qpn);
                }
            }
        }
    }

    /// D3, D5: a request is executed. The QP's error bit was read some clocks before.
    fn executed(&mut self, s: &mut Step, memory: &dyn Memory) {
        let qp = s.record.get("conn") as u32;
        let in_error = self.model.send_queue(qp).is_ok_and(|q| q.in_error());
        let mut memory = ModelMemory { memory: Some(memory), writes: Vec::new() };
        match self.model.step_execute_overlooking(qp, &mut memory) {
            Ok(Some(done)) => {
                s.field("ppsn", done.msn);
                s.field("code", done.code);
                if done.code == 0 {
                    s.field("addr", done.value);
                }
                s.field("exp", self.model.recv_stream(qp).map_or(0, |stream| stream.exp.get()));
                self.expected.order_writes(memory.writes);
                self.early_writes(s);
                if done.code != 0 {
                    *self.causes.refusals.entry(qp).or_default() += 1;
                    if !in_error {
                        let _: std::result::Result<bool, StepError> = self.model.step_rx_error(qp);
                    }
                }
            }
            Ok(None) => s.text("executed", format!("QP {qp}"), "no request is reached"),
            Err(e) => s.text("executed", format!("QP {qp}"), e.to_string()),
        }
    }

    /// R5: the writes that were ahead of their record are those of this step.
    fn early_writes(&mut self, s: &mut Step) {
        let show = |addr: u64, data: &[u8]| format!("{addr:#x}: {}", hex(data));
        while let Some((addr, data)) = self.expected.early_writes.pop_front() {
            let model = self.expected.writes.pop_front().map_or("none".into(), |(a, d)| show(a, &d));
            s.text("written", show(addr, &data), model);
        }
    }

    /// R7: the oldest incomplete message of the QP that a WRITE or SEND names; 0 where there is none, or it is not of the connection
    /// (a duplicate is not refused for that).
    fn rx_message(&self, s: &mut Step, received: &Parsed<'_>) {
        let (conn, qp) = (received.packet.mph.conn, received.packet.dest_qp);
        let body = &received.packet.body;
        let request = matches!(body, Body::Write { .. } | Body::Send { .. } | Body::ReadReq { .. } | Body::AtomicReq { .. });
        let named = request && self.model.qps_of(conn).any(|q| q == qp);
        let exp = self.model.recv_stream(qp).ok().filter(|_| named).map_or(0, |stream| stream.exp.get());
        s.field("exp", exp);
    }

    /// R1: the record names the packet of the frame.
    fn rx_header(s: &mut Step, received: &Parsed<'_>, used: bool) {
        let p = &received.packet;
        s.field("via", p.mph.via);
        s.field("ppsn", p.ppsn.get());
        if used {
            s.field("opcode", OpenMr0::opcode_value(p.opcode()));
        } else {
            s.field("conn", p.mph.conn);
            s.field("home", p.mph.home);
        }
    }

    pub(crate) fn rx_state(&self, s: &mut Step, conn: u16, home: u8) {
        if let Ok(p) = self.model.rx_path(conn, home) {
            s.field("cum", p.cum.get());
            s.field("high", p.high.get());
            s.field("ce", p.ce);
            s.field("dup", p.dup);
            s.field("rx", p.rx);
            s.field("unacked", p.unacked);
        }
    }

    pub(crate) fn expect_ack(&mut self, ack: AckDesc) {
        self.expected.acks.push_back(ExpectedAck::new(ack));
    }
}
