//! What leaves the NIC, as values: a data packet, a probe, an acknowledgment.
//! In: the decisions of a step. Out: everything a frame is built from, so that later changes of state do not alter it.

use mrnic_wire::{Ack, AtomicOp, MakCode, Ppsn, WriteImm};

/// What a data packet is, with what only its opcode has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    Write { imm: Option<WriteImm> },
    Send { rq_seq: u32, imm: Option<u32> },
    ReadReq { tag: u32 },
    AtomicReq { op: AtomicOp, swap_add: u64, compare: u64 },
    ReadResp { tag: u32 },
    AtomicResp { value: u64 },
    ErrorResp { code: MakCode },
}

impl PacketKind {
    /// A response to a request of the peer (D4).
    pub fn is_response(&self) -> bool {
        matches!(self, PacketKind::ReadResp { .. } | PacketKind::AtomicResp { .. } | PacketKind::ErrorResp { .. })
    }
}

/// A data packet or a NOP, as granted by a transmit slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketDesc {
    pub conn: u16,
    pub home: u8,
    pub via: u8,
    pub ppsn: u32,
    pub rtx: bool,
    pub moved: bool,
    pub ack_req: bool,
    pub nop: bool,
    pub kind: PacketKind,
    pub solicited: bool,
    pub attempt: bool,
    /// The local QP, also of a response.
    pub qpn: u32,
    pub msn: u32,
    /// Packet of the message, from 0.
    pub index: u32,
    /// First byte of the message in this packet.
    pub offset: u32,
    /// Payload bytes; 0 in a NOP.
    pub len: u32,
    pub first: bool,
    pub last: bool,
    /// tx_ts.
    pub ts: u16,
    pub udp_port: u16,
    pub peer_conn: u16,
    pub peer_qpn: u32,
    /// Bus address of the payload; not used if there is a list.
    pub laddr: u64,
    /// The SGE list that the payload comes from, in the NIC's table.
    pub list: Option<u32>,
    /// Remote address of the payload.
    pub va: u64,
    pub rkey: u32,
    /// Bytes of the whole message.
    pub message_length: u32,
}

/// A PROBE.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProbeDesc {
    pub conn: u16,
    pub path: u8,
    pub ppsn: u32,
    pub ts: u16,
    pub udp_port: u16,
    pub peer_conn: u16,
}

/// An acknowledgment (R9).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AckDesc {
    /// Local number of the connection.
    pub conn: u16,
    pub peer_conn: u16,
    pub home: u8,
    pub via: u8,
    /// As it is at the step; hardware reads it when it makes the frame.
    pub udp_port: u16,
    pub cum: Ppsn,
    pub ack: Ack,
}

/// One frame to be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outgoing {
    Ack(AckDesc),
    Probe(ProbeDesc),
    Data(PacketDesc),
}
