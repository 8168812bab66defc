//! Descriptions of granted packets: from a record of the pool to everything a frame is built from.
//! In: a slot's header choices and the record. Out: a [`PacketDesc`]. A resend is described anew from the same record, so a
//! message's row, or a request's slot, is kept until its packets are retired.

use mrnic_wire::{Ppsn, WriteImm};

use super::desc::{PacketDesc, PacketKind};
use super::Nic;
use crate::error::StepError;
use crate::rx::check::code_of_number;
use crate::rx::requests::Operation;
use crate::seq::{stamp, Tick};
use crate::tx::messages::MsgRow;
use crate::tx::pool::{Record, RecordKind};
use crate::wqe::{atomic_op, has_immediate, WQE_READ, WQE_SEND, WQE_SEND_IMM};
use crate::{CongestionControl, Profile};

/// The header choices of a slot.
pub(super) struct Slot {
    pub home: u8,
    pub via: u8,
    pub ppsn: Ppsn,
    pub rtx: bool,
    pub moved: bool,
    pub ack_req: bool,
    pub nop: bool,
}

/// D1: what a request is answered with; it tells a response of an earlier QP of the same number.
pub(super) fn tag_of(incarnation: u32) -> u32 {
    incarnation
}

fn kind_of(row: &MsgRow, incarnation: u32) -> PacketKind {
    let imm = has_immediate(row.opcode).then_some(row.imm);
    match row.opcode {
        WQE_SEND | WQE_SEND_IMM => PacketKind::Send { rq_seq: row.rq_seq, imm },
        WQE_READ => PacketKind::ReadReq { tag: tag_of(incarnation) },
        opcode => match atomic_op(opcode) {
            Some(op) => PacketKind::AtomicReq { op, swap_add: row.swap_add, compare: row.compare },
            None => PacketKind::Write { imm: imm.map(|immediate| WriteImm { immediate, rq_seq: row.rq_seq }) },
        },
    }
}

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    pub(super) fn describe(&self, now: Tick, conn: u16, slot: &Slot, record: &Record) -> Result<PacketDesc, StepError> {
        let connection = self.connection(conn)?;
        let error = record.kind == RecordKind::Error;
        let offset = if error { 0 } else { record.index << connection.mtu_log2 };
        let mut desc = PacketDesc {
            conn,
            home: slot.home,
            via: slot.via,
            ppsn: slot.ppsn.get(),
            rtx: slot.rtx,
            moved: slot.moved,
            ack_req: slot.ack_req,
            nop: slot.nop,
            kind: PacketKind::Write { imm: None },
            solicited: false,
            attempt: false,
            qpn: record.qpn,
            msn: record.msn,
            index: if error { 0 } else { record.index },
            offset,
            len: if slot.nop { 0 } else { record.len.into() },
            first: record.first,
            last: record.last,
            ts: stamp(now),
            udp_port: connection.tx_paths[slot.via as usize].port,
            peer_conn: connection.peer_conn,
            peer_qpn: 0,
            laddr: 0,
            list: None,
            va: 0,
            rkey: 0,
            message_length: 0,
        };
        let qp = self.qp(record.qpn).ok();
        if let Some(qp) = qp.filter(|_| !error) {
            desc.peer_qpn = qp.peer_qpn;
        }
        if slot.nop {
            // S6: a NOP belongs to its path alone.
            desc.peer_qpn = P::PATH_QP;
        }
        match record.kind {
            RecordKind::Message => {
                let Some(qp) = qp else { return Ok(desc) };
                let row = qp.send.row(record.msn.into());
                desc.kind = kind_of(row, qp.incarnation);
                desc.solicited = row.solicited;
                desc.attempt = row.attempt;
                desc.laddr = row.laddr.wrapping_add(offset.into());
                desc.list = row.list;
                desc.va = row.raddr.wrapping_add(offset.into());
                desc.rkey = row.rkey;
                desc.message_length = row.length;
            }
            RecordKind::Response { slot } => {
                let Some(request) = qp.and_then(|qp| qp.requests.get(slot)) else { return Ok(desc) };
                desc.kind = match request.operation {
                    Operation::Read { tag } => PacketKind::ReadResp { tag },
                    Operation::Atomic { .. } => PacketKind::AtomicResp { value: request.value },
                };
                // D4: payload comes from memory, resends too.
                desc.laddr = request.laddr.wrapping_add(offset.into());
                desc.message_length = request.length;
            }
            RecordKind::Error => {
                desc.peer_qpn = record.qpn;
                desc.kind = PacketKind::ErrorResp { code: code_of_number(record.index as u8) };
            }
        }
        Ok(desc)
    }
}
