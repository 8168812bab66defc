//! A work request is taken (W1).
//! In: a WQE. Out: its MSN and whether it was accepted or refused; an accepted one waits in its connection's FIFO.

use crate::error::{PostError, StepError};
use crate::keys::Right;
use crate::tx::conn::MsgRef;
use crate::tx::messages::{Message, MsgRow};
use crate::wqe::{Status, Wqe, WQE_WRITE};
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
        Ok(self.take_wqe(qpn, wqe_index, &Wqe::from_bytes(bytes))?)
    }

    pub(super) fn take_wqe(&mut self, qpn: u32, wqe_index: u16, wqe: &Wqe) -> Result<WqeStep, PostError> {
        let depth = self.config.conn_fifo;
        let Ok(qp) = self.qp_mut(qpn) else { return Err(PostError::NoSuchQp { qpn }) };
        qp.send.reap_unsignaled();
        // W1: room for the message.
        if qp.send.count >= qp.send.capacity() {
            return Err(PostError::QpFull { qpn, limit: qp.send.capacity() });
        }
        let (conn, pd, incarnation, in_error) = (qp.conn, qp.pd, qp.incarnation, qp.send.in_error());
        let Ok(connection) = self.connection(conn) else { return Err(PostError::NoSuchQp { qpn }) };
        if connection.tx.fifo.len() >= depth as usize {
            return Err(PostError::ConnFull { conn, depth });
        }
        let mtu_log2 = connection.mtu_log2;
        let checked = if in_error { Err(Status::WrFlushErr) } else { self.check_wqe(wqe, pd) };
        let refused = checked.err();
        let npkts = match refused {
            Some(_) => 0,
            None => (wqe.length.div_ceil(1 << mtu_log2)).max(1),
        };
        let message = Message {
            wqe_index,
            wr_id: wqe.wr_id,
            signaled: wqe.signaled,
            opcode: wqe.opcode,
            length: wqe.length,
            refused,
            remaining: npkts,
        };
        let row = checked.ok().map(|laddr| MsgRow { laddr, raddr: wqe.raddr, rkey: wqe.rkey, length: wqe.length });
        self.counters.wqes += 1;
        self.counters.wqes_refused += u64::from(refused.is_some());
        let Ok(qp) = self.qp_mut(qpn) else { return Err(PostError::NoSuchQp { qpn }) };
        let msn = qp.send.push(message, row).get();
        if refused.is_none() {
            if let Ok(connection) = self.connection_mut(conn) {
                connection.tx.fifo.push_back(MsgRef { qpn, incarnation, msn, npkts, length: wqe.length });
            }
        }
        Ok(WqeStep { qpn, conn, msn, wqe_index, refused, npkts, length: wqe.length })
    }

    /// W1: the checks in their order. Returns the bus address of the payload.
    fn check_wqe(&self, wqe: &Wqe, pd: u16) -> Result<u64, Status> {
        if wqe.opcode != WQE_WRITE {
            return Err(Status::LocQpOpErr);
        }
        if wqe.length > LENGTH_MAX {
            return Err(Status::LocLenErr);
        }
        if wqe.length == 0 {
            return Ok(0);
        }
        self.keys.translate(wqe.lkey, pd, Right::LocalRead, wqe.laddr, wqe.length).map_err(|_| Status::LocProtErr)
    }
}
