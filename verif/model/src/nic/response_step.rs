//! A new packet of a response: READ_RESP, ATOMIC_RESP, ERROR_RESP (D6, D7).
//! In: its headers and payload. Out: what was placed through the work request's own SGEs. Guarantees that it is accepted in
//! any case and never placed at an address of the peer.

use mrnic_wire::{Body, Msg};

use super::ack_step::NakEvent;
use super::describe::tag_of;
use super::rx_request::write_bytes;
use super::rx_step::{Accepted, Place, Received, RxEffect, RxInputs};
use super::Nic;
use crate::error::StepError;
use crate::memory::HostMemory;
use crate::rx::check::code_number;
use crate::seq::Tick;
use crate::sge::{pieces, Sge};
use crate::tx::messages::{MsgRow, Progress, ReadRow};
use crate::wqe::{atomic_op, WQE_READ};
use crate::{CongestionControl, Profile};

/// What the header of a READ_RESP says.
#[derive(Clone, Copy)]
struct ReadPart {
    msg: Msg,
    offset: u64,
    tag: u32,
    length: u32,
}

/// The queue pair that a response names.
#[derive(Clone, Copy)]
struct Answering {
    conn: u16,
    qpn: u32,
    /// Also if it is in Error: hardware overlooked that.
    failed_too: bool,
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    pub(super) fn accept_response(
        &mut self,
        now: Tick,
        received: &Received<'_>,
        inputs: &RxInputs,
        mem: &mut impl HostMemory,
    ) -> Accepted {
        let packet = received.packet;
        let (conn, qpn) = (packet.mph.conn, packet.dest_qp);
        self.counters.rx_responses += 1;
        if let Ok(connection) = self.connection_mut(conn) {
            connection.tx.responses.alive = now;
        }
        let of_qp = Answering { conn, qpn, failed_too: inputs.used_seen == Some(true) };
        let used = match packet.body {
            Body::ReadResp { msg, offset, tag, length } => {
                self.read_response(received, of_qp, &ReadPart { msg, offset, tag, length }, mem)
            }
            Body::AtomicResp { msg, value } => self.atomic_response(of_qp, msg, value, mem),
            Body::ErrorResp { msg, code } => {
                // D7: it fails the message like a nak, if that still waits for its response.
                let nak = NakEvent { qpn, code: code_number(code), msn: msg.msn.get() };
                let waits = self.awaiting(of_qp, msg).is_some();
                waits.then_some(Accepted { place: None, effect: RxEffect::RemoteError(nak) })
            }
            _ => None,
        };
        self.counters.rx_responses_used += u64::from(used.is_some());
        used.unwrap_or_default()
    }

    /// D6: the READ or atomic of an open QP of the connection that a response names: what it waits for, and its row.
    fn awaiting(&self, of_qp: Answering, msg: Msg) -> Option<(&ReadRow, &MsgRow)> {
        let Answering { conn, qpn, failed_too } = of_qp;
        let qp = self.qp(qpn).ok().filter(|qp| qp.is_of(conn) && (failed_too || !qp.send.in_error()))?;
        Some((qp.send.awaiting(msg.msn)?, qp.send.row(msg.msn)))
    }

    fn read_response(
        &mut self,
        received: &Received<'_>,
        of_qp: Answering,
        part: &ReadPart,
        mem: &mut impl HostMemory,
    ) -> Option<Accepted> {
        let Answering { conn, qpn, .. } = of_qp;
        let ReadPart { msg, offset, tag, length } = *part;
        let len = received.payload_len;
        let (read, row) = self.awaiting(of_qp, msg)?;
        let right = row.opcode == WQE_READ && row.length == length && len <= read.left;
        let (connection, qp) = (self.connection(conn).ok()?, self.qp(qpn).ok()?);
        let inside = offset.checked_add(len.into()).is_some_and(|end| end <= length.into()) && len <= connection.mtu();
        if !right || !inside || tag != tag_of(qp.incarnation) {
            return None;
        }
        let row = *qp.send.row(msg.msn);
        let only = Sge { addr: row.laddr, len: row.length, lkey: 0 };
        let mut place = None;
        for (at, piece) in pieces(self.sges.get(row.list, &only), offset as u32, len) {
            if write_bytes(received, at, piece.addr, piece.len, mem).is_err() {
                let effect = RxEffect::LocalFault { qpn, msn: msg.msn.get() };
                return Some(Accepted { place: None, effect });
            }
            place = place.or(Some(Place { addr: piece.addr, len }));
        }
        if let Ok(connection) = self.connection_mut(conn) {
            connection.rx_use.placed(len);
        }
        self.counters.rx_placed_bytes += u64::from(len);
        let whole = self.responded(qpn, msg, len);
        Some(Accepted { place, effect: RxEffect::Response { qpn, whole } })
    }

    fn atomic_response(&mut self, of_qp: Answering, msg: Msg, value: u64, mem: &mut impl HostMemory) -> Option<Accepted> {
        let qpn = of_qp.qpn;
        let row = *self.awaiting(of_qp, msg)?.1;
        atomic_op(row.opcode)?;
        let only = Sge { addr: row.laddr, len: row.length, lkey: 0 };
        let bytes = value.to_le_bytes();
        for (at, piece) in pieces(self.sges.get(row.list, &only), 0, 8) {
            if mem.write(piece.addr, &bytes[at..at + piece.len as usize]).is_err() {
                let effect = RxEffect::LocalFault { qpn, msn: msg.msn.get() };
                return Some(Accepted { place: None, effect });
            }
        }
        let whole = self.responded(qpn, msg, 8);
        Some(Accepted { place: None, effect: RxEffect::Response { qpn, whole } })
    }

    /// The MSN, if its response is whole now.
    fn responded(&mut self, qpn: u32, msg: Msg, bytes: u32) -> Option<u32> {
        let whole = self.qp_mut(qpn).is_ok_and(|qp| qp.send.respond(msg.msn, bytes));
        whole.then_some(msg.msn.get())
    }

    /// D6: the whole response to message `msn` is visible to software. Returns whether the message is done.
    pub fn step_answered(&mut self, qpn: u32, msn: u32) -> Result<bool, StepError> {
        let qp = self.qp_mut(qpn)?;
        let conn = qp.conn;
        let progress = qp.send.answered(msn.into()).ok_or(StepError::NotAnswered { qpn, msn })?;
        self.note_progress(conn, qpn, progress);
        Ok(progress.done)
    }

    /// D1, D8: a message is done, so others may enter the FIFO, and one response less is awaited.
    pub(super) fn note_progress(&mut self, conn: u16, qpn: u32, progress: Progress) {
        if progress.answered {
            if let Ok(connection) = self.connection_mut(conn) {
                let responses = &mut connection.tx.responses;
                responses.awaited = responses.awaited.saturating_sub(1);
            }
        }
        if progress.done {
            self.feed(qpn);
        }
    }
}
