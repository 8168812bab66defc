//! A transmit slot for a connection (section 7, S1..S6, C3, C4).
//! In: the connection and, in step mode, values that the hardware sampled early. Out: one packet, a skipped message, or why not.

use super::desc::PacketDesc;
use super::describe::Slot;
use super::qp::Qp;
use super::Nic;
use crate::error::StepError;
use crate::event::Event;
use crate::seq::Tick;
use crate::tx::conn::{MsgRef, TxConn};
use crate::tx::pool::{Record, RecordKind};
use crate::tx::responses::ResponseKind;
use crate::tx::slot::{choose_path, choose_resend, Resend};
use crate::{CongestionControl, Profile};

/// Values that hardware samples a few cycles before the slot. `None` takes the exact value.
///
/// Tolerance: bytes in flight may only have been higher; what else there is to see may have been overlooked, never invented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GrantInputs {
    pub inflight_bytes_seen: Option<u32>,
    pub more_waiting: Option<bool>,
    /// The QP is in Error; of a resend: or its message is withdrawn (N1).
    pub qp_error_seen: Option<bool>,
    /// N1: the QP waits.
    pub waiting_seen: Option<bool>,
    /// D4: a new packet, a skip is of a response (else of a message): what came to the other FIFO may have been overlooked.
    pub response_seen: Option<bool>,
}

/// Why a slot sends nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockReason {
    /// Nothing to send.
    Idle,
    /// Nothing may be sent on any path.
    Paths,
    /// C3: the window of the connection is full.
    ConnWindow,
    /// C4: the pacer; try again after this many ticks.
    Pacer { wait_ticks: u32 },
    /// The pool of outstanding packets is full.
    Pool,
    /// The connection is in error: nothing is sent, and there is nothing to skip.
    ConnError,
}

/// Result of a transmit slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    Blocked(BlockReason),
    Packet(PacketDesc),
    /// S2: the oldest message (or response) belongs to a QP in Error and is dropped whole, or the response to a connection in error.
    SkippedMessage {
        qpn: u32,
        msn: u32,
    },
    /// N1: the oldest message belongs to a QP that waits; it is out of the FIFO until N2.
    SetAside {
        qpn: u32,
        msn: u32,
    },
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// One transmit slot of `conn` at `now`. A refused slot changes nothing.
    pub fn step_grant(&mut self, now: Tick, conn: u16, inputs: &GrantInputs) -> Result<Grant, StepError> {
        let connection = self.connection(conn)?;
        let exact = connection.tx.inflight_bytes();
        let inflight = match inputs.inflight_bytes_seen {
            Some(seen) if seen < exact => return Err(StepError::InflightTooSmall { conn, seen, exact }),
            Some(seen) => seen,
            None => exact,
        };
        // A connection in error sends nothing; S2's skip alone empties its FIFO, so that W1 takes what waits (W4).
        let error = connection.tx.error;
        // S1: resends come first.
        let resend = choose_resend(&connection.tx_paths, connection.tx.rr, self.window_pkts).filter(|_| !error);
        if let Some(resend) = resend {
            return self.grant_resend(now, conn, resend, inputs);
        }
        let Some((head, waits)) = connection.tx.next_source(inputs.response_seen) else {
            return Ok(Grant::Blocked(if error { BlockReason::ConnError } else { BlockReason::Idle }));
        };
        // S2: a message of a QP in Error is skipped whole, a response too; in a connection in error every response.
        let skipped = match head.kind {
            RecordKind::Error => error,
            RecordKind::Response { .. } if error => true,
            _ => self.sees_error(head.qpn, head.incarnation, inputs)?,
        };
        if skipped {
            self.connection_mut(conn)?.tx.skip(head.kind);
            if let Some(qp) = self.qp_of(&head) {
                qp.send.skipped();
            }
            self.counters.tx_skipped_messages += 1;
            return Ok(Grant::SkippedMessage { qpn: head.qpn, msn: head.msn });
        }
        if error {
            return Ok(Grant::Blocked(BlockReason::ConnError));
        }
        // N1: a message of a QP that waits is set aside, whatever the windows say.
        if head.kind == RecordKind::Message && self.sees_wait(&head, inputs)? {
            self.connection_mut(conn)?.tx.pop_message();
            if let Some(qp) = self.qp_of(&head) {
                qp.send.set_aside(head.msn.into(), head.index);
            }
            return Ok(Grant::SetAside { qpn: head.qpn, msn: head.msn });
        }
        self.grant_new(now, conn, &head, waits, inflight, inputs)
    }

    /// Whether the slot treats the QP as being in Error.
    fn sees_error(&self, qpn: u32, incarnation: u32, inputs: &GrantInputs) -> Result<bool, StepError> {
        let (exact, closing) = match self.qp(qpn) {
            Ok(qp) => (qp.incarnation != incarnation || qp.send.in_error(), qp.closing),
            Err(_) => (true, false),
        };
        match inputs.qp_error_seen {
            // section 10: one that is being closed may be seen in Error
            Some(true) if !exact && !closing => Err(StepError::QpNotInError { qpn }),
            Some(seen) => Ok(seen),
            None => Ok(exact),
        }
    }

    /// Whether the slot treats the QP as waiting (N1).
    fn sees_wait(&self, head: &Source, inputs: &GrantInputs) -> Result<bool, StepError> {
        let qp = self.qp(head.qpn).ok().filter(|qp| qp.incarnation == head.incarnation);
        let exact = qp.is_some_and(|qp| qp.send.waits_until.is_some());
        match inputs.waiting_seen {
            Some(true) if !exact => Err(StepError::QpNotWaiting { qpn: head.qpn }),
            Some(seen) => Ok(seen),
            None => Ok(exact),
        }
    }

    /// The QP of a message at the head of the FIFO, unless another has its number now.
    fn qp_of(&mut self, head: &Source) -> Option<&mut Qp> {
        let message = head.kind == RecordKind::Message;
        self.qp_mut(head.qpn).ok().filter(|qp| message && qp.incarnation == head.incarnation)
    }

    fn grant_resend(&mut self, now: Tick, conn: u16, resend: Resend, inputs: &GrantInputs) -> Result<Grant, StepError> {
        let Resend { home, via, ppsn, moved } = resend;
        let connection = self.connection(conn)?;
        let record = self.pool.get(&connection.chunks[home as usize], ppsn).unwrap_or_default();
        // S6: packets of a QP in Error keep their PPSN and go out as NOP; N1: those of a withdrawn message too.
        let nop = match record.kind {
            RecordKind::Error => false,
            RecordKind::Message if self.is_withdrawn(&record) => inputs.qp_error_seen.unwrap_or(true),
            _ => self.sees_error(record.qpn, record.incarnation, inputs)?,
        };
        let payload = if nop { 0 } else { u32::from(record.len) };
        let connection = self.connection_mut(conn)?;
        let mtu = connection.mtu();
        // C4: resends are paced; C3 does not bound them, as their bytes are in flight already.
        let tokens = match connection.tx.pace(now, payload, mtu) {
            Ok(tokens) => tokens,
            Err(paced) => return Ok(Grant::Blocked(BlockReason::Pacer { wait_ticks: paced.wait_ticks })),
        };
        connection.tx.spend(now, tokens);
        connection.tx_paths[home as usize].note_send(now);
        connection.tx_paths[home as usize].resend(ppsn);
        // S3: this path may be dead too, and idle, so it comes last for the next moved packet, or for this one again.
        if moved {
            connection.tx.rr = (via + 1) % connection.tx_paths.len() as u8;
        }
        self.counters.tx_resent += 1;
        self.counters.tx_moved += u64::from(moved);
        self.counters.tx_nops += u64::from(nop);
        self.emit(Event::Resend { conn, home, via, ppsn: ppsn.get(), nop });
        let slot = Slot { home, via, ppsn, rtx: true, moved, ack_req: true, nop };
        Ok(Grant::Packet(self.describe(now, conn, &slot, &record)?))
    }

    fn grant_new(
        &mut self,
        now: Tick,
        conn: u16,
        head: &Source,
        waits: bool,
        inflight: u32,
        inputs: &GrantInputs,
    ) -> Result<Grant, StepError> {
        let connection = self.connection(conn)?;
        let mtu = connection.mtu();
        // C3: the window of the connection.
        let cap = connection.tx.cap_bytes(&connection.tx_paths, mtu);
        if cap.is_some_and(|cap| u64::from(inflight) >= cap) {
            return Ok(Grant::Blocked(BlockReason::ConnWindow));
        }
        let more = match inputs.more_waiting {
            Some(true) if !waits => return Err(StepError::NoMessageWaits { conn }),
            Some(seen) => seen,
            None => waits,
        };
        // S3: the path.
        let count = connection.tx_paths.len();
        let Some(home) = choose_path(&connection.tx_paths, connection.tx.rr, self.window_pkts) else {
            return Ok(Grant::Blocked(BlockReason::Paths));
        };
        if !self.pool.has_room(&connection.chunks[home], connection.tx_paths[home].next) {
            return Ok(Grant::Blocked(BlockReason::Pool));
        }
        let index = head.index;
        let error = head.kind == RecordKind::Error;
        let offset = if error { 0 } else { index << connection.mtu_log2 };
        let len = head.length.saturating_sub(offset).min(mtu);
        let last = error || index + 1 == head.npkts;
        // S4: the last packets of a message go one by each path.
        let late = last || index + count as u32 >= head.npkts;
        let tokens = match connection.tx.pace(now, len, mtu) {
            Ok(tokens) => tokens,
            Err(paced) => return Ok(Grant::Blocked(BlockReason::Pacer { wait_ticks: paced.wait_ticks })),
        };

        // S5: effects.
        let record = Record {
            qpn: head.qpn,
            incarnation: head.incarnation,
            msn: head.msn,
            index,
            len: len as u16,
            first: error || index == 0,
            last,
            kind: head.kind,
        };
        let connection =
            self.conns.get_mut(conn as usize).and_then(Option::as_deref_mut).ok_or(StepError::NoSuchConnection { conn })?;
        let path = &mut connection.tx_paths[home];
        let ppsn = path.send_new(now);
        let stored = self.pool.insert(&mut connection.chunks[home], ppsn, record);
        debug_assert!(stored);
        // S4: when the receiver is to acknowledge at once.
        let path_full = path.pipe() == u32::from(path.win.window) || path.span() == self.window_pkts;
        let conn_full = cap.is_some_and(|cap| u64::from(inflight) + u64::from(len) >= cap);
        let ack_req = (late && !more) || path_full || conn_full;
        let tx = &mut connection.tx;
        tx.spend(now, tokens);
        tx.sent_bytes = tx.sent_bytes.wrapping_add(len);
        // S3: the round robin moves on.
        tx.rr = ((tx.rr as usize + 1) % count) as u8;
        tx.took_packet(head.kind, last);
        if head.kind == RecordKind::Message {
            // D8: from the first request on a response is awaited.
            let qp = self.qps.get_mut(head.qpn as usize).and_then(Option::as_deref_mut);
            let qp = qp.filter(|qp| qp.incarnation == head.incarnation);
            if qp.is_some_and(|qp| qp.send.sent(head.msn.into(), last)) {
                tx.responses.awaited += 1;
                tx.responses.alive = now;
            }
        } else {
            self.counters.tx_responses += 1;
            self.counters.tx_error_responses += u64::from(head.kind == RecordKind::Error);
        }
        self.counters.tx_new += 1;
        self.counters.tx_payload_bytes += u64::from(len);
        let home = home as u8;
        let slot = Slot { home, via: home, ppsn, rtx: false, moved: false, ack_req, nop: false };
        Ok(Grant::Packet(self.describe(now, conn, &slot, &record)?))
    }

    fn is_withdrawn(&self, record: &Record) -> bool {
        let qp = self.qp(record.qpn).ok().filter(|qp| qp.incarnation == record.incarnation);
        qp.and_then(|qp| qp.send.message(record.msn.into())).is_some_and(|m| m.withdrawn)
    }
}

/// What the next new packet is taken from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Source {
    kind: RecordKind,
    qpn: u32,
    incarnation: u32,
    msn: u32,
    npkts: u32,
    length: u32,
    index: u32,
}

impl TxConn {
    /// D4: the oldest message or the oldest response; in turns if both wait. Also whether anything waits behind it (S4).
    fn next_source(&self, response_seen: Option<bool>) -> Option<(Source, bool)> {
        let (messages, responses) = (self.fifo.len(), self.responses.fifo.len());
        // In error no response waits for the QP of a message to be in Error.
        let respond = match response_seen {
            Some(true) => responses > 0,
            Some(false) => messages == 0 && responses > 0,
            None => self.responds(),
        };
        let waits = messages + responses > 1;
        if respond {
            let response = self.responses.fifo.front()?;
            let (kind, qpn, incarnation) = match response.kind {
                ResponseKind::Request { qpn, incarnation, slot } => (RecordKind::Response { slot }, qpn, incarnation),
                ResponseKind::Error { peer_qpn, .. } => (RecordKind::Error, peer_qpn, 0),
            };
            // The code of an ERROR_RESP takes the place of the index.
            let index = match response.kind {
                ResponseKind::Error { code, .. } => code.into(),
                _ => self.responses.head_index,
            };
            let (npkts, length) = (response.npkts, response.length);
            return Some((Source { kind, qpn, incarnation, msn: response.msn, npkts, length, index }, waits));
        }
        let MsgRef { qpn, incarnation, msn, npkts, length, .. } = *self.fifo.front()?;
        let index = self.head_index;
        Some((Source { kind: RecordKind::Message, qpn, incarnation, msn, npkts, length, index }, waits))
    }

    /// D4: what is sent next is a response.
    pub fn responds(&self) -> bool {
        !self.responses.fifo.is_empty() && (self.fifo.is_empty() || self.responses.turn || self.error)
    }

    /// S2: the oldest message or response is dropped whole.
    fn skip(&mut self, kind: RecordKind) {
        match kind {
            RecordKind::Message => self.pop_message(),
            // The place of the request went over to the ERROR_RESP that follows.
            RecordKind::Response { .. } => self.responses.pop(),
            RecordKind::Error => {
                self.responses.pop();
                self.responses.release();
            }
        }
    }

    /// S5: a packet of the chosen source was sent.
    fn took_packet(&mut self, kind: RecordKind, last: bool) {
        let message = kind == RecordKind::Message;
        self.responses.turn = message;
        match (message, last) {
            (true, true) => self.pop_message(),
            (true, false) => self.head_index += 1,
            (false, true) => self.responses.pop(),
            (false, false) => self.responses.head_index += 1,
        }
    }
}
