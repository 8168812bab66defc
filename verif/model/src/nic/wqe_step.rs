//! A work request is taken (W1).
//! In: a WQE. Out: its MSN and whether it was accepted or refused; an accepted one waits in its connection's FIFO.

use crate::config::{QpState, Stage};
use crate::error::{PostError, StepError};
use crate::keys::Right;
use crate::sge::{total_bytes, Sge, SGES_MAX};
use crate::tx::conn::MsgRef;
use crate::tx::entering::Entering;
use crate::tx::messages::{MsgRow, NewMessage};
use crate::wqe::{atomic_op, is_consuming, is_request, Status, Wqe, WQE_FETCH_ADD, WQE_SEND_IMM, WQE_WRITE};
use crate::{CongestionControl, Profile};

/// A work request was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WqeStep {
    pub qpn: u32,
    pub conn: u16,
    pub msn: u32,
    pub wqe_index: u16,
    /// The status of the refusal; none if it was accepted.
    pub refused: Option<Status>,
    /// Packets of the message; 0 if refused.
    pub npkts: u32,
    pub length: u32,
}

/// Longest message.
pub const LENGTH_MAX: u32 = 1 << 31;

impl<P: Profile, C: CongestionControl> super::Nic<P, C> {
    /// Takes the WQE that the host wrote at `wqe_index` of the send ring of `qpn`.
    pub fn step_wqe(&mut self, qpn: u32, wqe_index: u16, bytes: &[u8; 64]) -> Result<WqeStep, StepError> {
        self.step_wqe_list(qpn, wqe_index, bytes, &[])
    }

    /// The same where hardware has overlooked that the QP has just moved to Error (W3): the WQE is checked as any other.
    pub fn step_wqe_overlooking(
        &mut self,
        qpn: u32,
        wqe_index: u16,
        bytes: &[u8; 64],
        list: &[Sge],
    ) -> Result<WqeStep, StepError> {
        self.step_listed(qpn, wqe_index, bytes, list, true)
    }

    /// The same with the SGE list that stands behind the WQE, if it has more than one SGE.
    pub fn step_wqe_list(&mut self, qpn: u32, wqe_index: u16, bytes: &[u8; 64], list: &[Sge]) -> Result<WqeStep, StepError> {
        self.step_listed(qpn, wqe_index, bytes, list, false)
    }

    fn step_listed(
        &mut self,
        qpn: u32,
        wqe_index: u16,
        bytes: &[u8; 64],
        list: &[Sge],
        overlooks_error: bool,
    ) -> Result<WqeStep, StepError> {
        let mut wqe = Wqe::from_bytes(bytes);
        if self.config.stage == Stage::Write || self.config.sges == 1 {
            wqe.num_sge = 1;
        }
        // one that is too long is refused, whatever it says
        let listed = (2..=self.config.sges).contains(&wqe.num_sge);
        if listed && list.len() != usize::from(wqe.num_sge) {
            return Err(PostError::Sges { count: list.len() }.into());
        }
        let list = if listed { list } else { &[] };
        Ok(self.take_checked(qpn, wqe_index, &wqe, list, overlooks_error)?)
    }

    /// Takes a work request; an empty `list` means the SGE that stands in it.
    pub(super) fn take_wqe(&mut self, qpn: u32, wqe_index: u16, wqe: &Wqe, list: &[Sge]) -> Result<WqeStep, PostError> {
        self.take_checked(qpn, wqe_index, wqe, list, false)
    }

    fn take_checked(
        &mut self,
        qpn: u32,
        wqe_index: u16,
        wqe: &Wqe,
        list: &[Sge],
        overlooks_error: bool,
    ) -> Result<WqeStep, PostError> {
        if list.len() > SGES_MAX {
            return Err(PostError::Sges { count: list.len() });
        }
        let (depth, full) = (self.config.conn_fifo, self.config.stage == Stage::Full);
        let Ok(qp) = self.qp_mut(qpn) else { return Err(PostError::NoSuchQp { qpn }) };
        if !qp.send.in_error() && qp.state != QpState::Rts {
            return Err(PostError::State { qpn, state: qp.state });
        }
        qp.send.reap_unsignaled();
        // W1: room for the message.
        if qp.send.count >= qp.send.capacity() {
            return Err(PostError::QpFull { qpn, limit: qp.send.capacity() });
        }
        let (conn, pd, incarnation, in_error) = (qp.conn, qp.pd, qp.incarnation, qp.send.in_error());
        let max_requests = qp.max_requests;
        let Ok(connection) = self.connection(conn) else { return Err(PostError::NoSuchQp { qpn }) };
        if connection.tx.counted() >= depth as usize {
            return Err(PostError::ConnFull { conn, depth });
        }
        let mtu_log2 = connection.mtu_log2;
        let checked = match in_error && !overlooks_error {
            true => Err(Status::WrFlushErr),
            false => self.check_wqe(wqe, list, pd, max_requests),
        };
        let refused = checked.err();
        let length = if list.is_empty() { wqe.length } else { total_bytes(list).min(u32::MAX.into()) as u32 };
        let npkts = match refused {
            Some(_) => 0,
            // D1: a request is one packet.
            None if is_request(wqe.opcode) => 1,
            None => length.div_ceil(1 << mtu_log2).max(1),
        };
        let message = NewMessage {
            wqe_index,
            wr_id: wqe.wr_id,
            signaled: wqe.signaled,
            fence: wqe.fence && full,
            opcode: wqe.opcode,
            length,
            npkts,
            refused,
        };
        let list = match checked {
            Ok(_) if list.len() > 1 => Some(self.sges.insert(&self.resolved(list, pd)[..list.len()])),
            _ => None,
        };
        self.counters.wqes += 1;
        self.counters.wqes_refused += u64::from(refused.is_some());
        let Ok(qp) = self.qp_mut(qpn) else { return Err(PostError::NoSuchQp { qpn }) };
        let row = checked.ok().map(|laddr| MsgRow {
            laddr,
            raddr: wqe.raddr,
            rkey: wqe.rkey,
            length,
            opcode: wqe.opcode,
            solicited: wqe.solicited && is_consuming(wqe.opcode),
            imm: wqe.imm,
            rq_seq: qp.send.rq_seq,
            list,
            attempt: false,
            swap_add: wqe.swap_add,
            compare: wqe.compare,
        });
        if row.is_some() && is_consuming(wqe.opcode) {
            qp.send.rq_seq = qp.send.rq_seq.wrapping_add(1) & 0xFF_FFFF;
        }
        let (msn, freed) = qp.send.push(&message, row);
        self.sges.release(freed);
        debug_assert!(self.qp(qpn).is_ok_and(|qp| qp.incarnation == incarnation));
        if in_error {
            if let Some(message) = self.qp_mut(qpn).ok().and_then(|qp| qp.send.enter_in_error(msn)) {
                self.enter_fifo(qpn, &message);
            }
        }
        self.feed(qpn);
        Ok(WqeStep { qpn, conn, msn: msn.get(), wqe_index, refused, npkts, length })
    }

    /// D1, N2: messages of a QP that may enter the FIFO of its connection do so.
    pub(super) fn feed(&mut self, qpn: u32) {
        while let Some(message) = self.qp_of_connection(qpn).and_then(|qp| qp.send.enter()) {
            self.counters.messages_begun_again += u64::from(message.again);
            self.enter_fifo(qpn, &message);
        }
    }

    /// A QP whose connection is there.
    fn qp_of_connection(&mut self, qpn: u32) -> Option<&mut super::qp::Qp> {
        let qp = self.qps.get_mut(qpn as usize).and_then(Option::as_deref_mut)?;
        self.conns.get(qp.conn as usize)?.as_deref().map(|_| qp)
    }

    fn enter_fifo(&mut self, qpn: u32, message: &Entering) {
        let Some(qp) = self.qps.get(qpn as usize).and_then(Option::as_deref) else { return };
        let Some(connection) = self.conns.get_mut(qp.conn as usize).and_then(Option::as_deref_mut) else { return };
        connection.tx.push_message(MsgRef {
            qpn,
            incarnation: qp.incarnation,
            msn: message.msn,
            npkts: message.npkts,
            length: message.length,
            index: message.index,
            returns: message.returns,
        });
    }

    /// A list with bus addresses; it was checked.
    fn resolved(&self, list: &[Sge], pd: u16) -> [Sge; SGES_MAX] {
        let mut resolved = [Sge::default(); SGES_MAX];
        for (to, sge) in resolved.iter_mut().zip(list) {
            let addr = match sge.len {
                0 => 0,
                len => self.keys.translate(sge.lkey, pd, Right::LocalRead, sge.addr, len).unwrap_or_default(),
            };
            *to = Sge { addr, len: sge.len, lkey: sge.lkey };
        }
        resolved
    }

    /// W1: the checks in their order. Returns the bus address of the payload, if it is in one place.
    fn check_wqe(&self, wqe: &Wqe, list: &[Sge], pd: u16, max_requests: u8) -> Result<u64, Status> {
        let highest = match self.config.stage {
            Stage::Write => WQE_WRITE,
            Stage::Send => WQE_SEND_IMM,
            Stage::Full => WQE_FETCH_ADD,
        };
        if wqe.opcode > highest || (is_request(wqe.opcode) && max_requests == 0) {
            return Err(Status::LocQpOpErr);
        }
        let most = if is_request(wqe.opcode) { self.config.request_sges } else { self.config.sges };
        if list.len().max(wqe.num_sge.into()) > most.max(1).into() {
            return Err(Status::LocQpOpErr);
        }
        let only = [Sge { addr: wqe.laddr, len: wqe.length, lkey: wqe.lkey }];
        let list = if list.is_empty() { &only } else { list };
        let length = total_bytes(list);
        if length > LENGTH_MAX.into() || (atomic_op(wqe.opcode).is_some() && length != 8) {
            return Err(Status::LocLenErr);
        }
        // The NIC writes the memory of READs and atomics.
        let right = if is_request(wqe.opcode) { Right::LocalWrite } else { Right::LocalRead };
        let mut first = 0;
        for (i, sge) in list.iter().enumerate().filter(|(_, sge)| sge.len > 0) {
            let addr = self.keys.translate(sge.lkey, pd, right, sge.addr, sge.len).map_err(|_| Status::LocProtErr)?;
            if i == 0 {
                first = addr;
            }
        }
        Ok(first)
    }
}
