//! A transport packet as plain values, independent of any profile.
//! The model and the simulator work on these only; a profile decides where each value stands on the wire.

use crate::{Msn, Ppsn, SackVector};

/// Everything between UDP and payload, except what the codec derives (opcode number, pad, ICRC).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packet {
    /// Solicited event.
    pub se: bool,
    /// Migration state; carried and not interpreted.
    pub m: bool,
    pub pkey: u16,
    /// 24 bits; `Profile::PATH_QP` in path-level packets.
    pub dest_qp: u32,
    /// The receiver acknowledges at once.
    pub ack_req: bool,
    /// Number on the home path; cumulative in ACK, next to be sent in PROBE.
    pub ppsn: Ppsn,
    pub mph: PathHeader,
    pub body: Body,
}

/// The multipath header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PathHeader {
    /// This is a resend.
    pub rtx: bool,
    /// Travels another path than its home path.
    pub moved: bool,
    /// Path whose PPSN this is.
    pub home: u8,
    /// Sender's clock in `Profile::TIME_UNIT_NS`.
    pub tx_ts: u16,
    /// Connection number of the receiver.
    pub conn: u16,
    /// Path travelled.
    pub via: u8,
}

/// What all data packets say about their message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Msg {
    pub first: bool,
    pub last: bool,
    /// Solicited completion.
    pub sol: bool,
    /// Toggles when a withdrawn message begins again.
    pub attempt: bool,
    pub msn: Msn,
}

impl Msg {
    /// The only packet of a message.
    pub const fn only(msn: Msn) -> Self {
        Self { first: true, last: true, sol: false, attempt: false, msn }
    }
}

/// What is particular to an opcode. Lengths are bytes of the whole message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// `va` is the address of this packet's payload.
    Write {
        msg: Msg,
        va: u64,
        rkey: u32,
        length: u32,
        imm: Option<WriteImm>,
    },
    /// `rq_seq` (24 bits) is the index of the posted receive, `offset` the place of this packet in the message.
    Send {
        msg: Msg,
        rq_seq: u32,
        offset: u32,
        length: u32,
        imm: Option<u32>,
    },
    ReadReq {
        msg: Msg,
        va: u64,
        rkey: u32,
        length: u32,
        tag: u32,
    },
    /// `tag` is the request's, `offset` the byte offset in the response.
    ReadResp {
        msg: Msg,
        offset: u64,
        tag: u32,
        length: u32,
    },
    AtomicReq {
        msg: Msg,
        op: AtomicOp,
        va: u64,
        rkey: u32,
        swap_add: u64,
        compare: u64,
    },
    /// `value` is what stood there before.
    AtomicResp {
        msg: Msg,
        value: u64,
    },
    /// The READ or atomic of this MSN failed.
    ErrorResp {
        msg: Msg,
        code: MakCode,
    },
    /// Consumes a PPSN and touches no memory.
    Nop {
        msg: Msg,
    },
    Ack(Ack),
    Probe,
    PortStatus,
    Connect(ConnInfo),
    Accept(ConnInfo),
    Close(ConnInfo),
}

/// Immediate data of a WRITE. A SEND has its `rq_seq` in any case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WriteImm {
    pub immediate: u32,
    /// 24 bits: index of the posted receive.
    pub rq_seq: u32,
}

/// One for each kind of [`Body`]; a profile gives it a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Opcode {
    Write,
    Send,
    ReadReq,
    ReadResp,
    AtomicReq,
    AtomicResp,
    ErrorResp,
    Nop,
    Ack,
    Probe,
    PortStatus,
    Connect,
    Accept,
    Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtomicOp {
    /// If the value equals `compare`, it becomes `swap_add`.
    CompareSwap,
    /// `swap_add` is added.
    FetchAdd,
}

/// Acknowledgment. The packet counters wrap; the sender uses differences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Ack {
    /// `tx_ts` of the packet that caused this.
    pub ts_echo: u16,
    /// Time between its arrival and this acknowledgment, in `Profile::TIME_UNIT_NS`.
    pub service: u16,
    pub ce_packets: u16,
    pub dup_packets: u16,
    pub rx_packets: u16,
    pub flags: AckFlags,
    /// Fair share in Mbit/s, 24 bits; `Profile::RATE_UNLIMITED` sets no limit.
    pub rate: u32,
    pub epoch: u8,
    pub vector: SackVector,
    pub mak: Mak,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AckFlags {
    /// The receive this SEND needs is not posted yet.
    pub rnr: bool,
    pub probe_reply: bool,
    /// `ts_echo` comes from a packet that was not a resend.
    pub ts_valid: bool,
    /// `mak` reports an error.
    pub nak: bool,
}

/// Message acknowledgment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Mak {
    /// Sender-side QPN, 24 bits.
    pub qp: u32,
    pub code: MakCode,
    /// Last message fully placed, in order.
    pub msn: Msn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MakCode {
    #[default]
    Ok,
    /// rkey unknown or invalid.
    BadKey,
    /// Rights or protection domain do not allow it.
    Access,
    /// Outside the memory region, or address + length wraps.
    Bounds,
    /// QP unknown, or not of this connection.
    BadQp,
    BadOpcode,
    /// QP is in Error.
    QpError,
    /// Length inconsistent with the message.
    MsgLength,
    /// A number without a meaning in the profile.
    Reserved(u8),
}

/// Connection control.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ConnInfo {
    pub version: u8,
    /// Paths the sender can use.
    pub paths: u8,
    pub vector_bits: u16,
    pub mtu_log2: u8,
    /// Connection number the peer shall put in its packets.
    pub conn: u16,
    /// Incarnation of the connection.
    pub epoch: u8,
    /// See [`crate::start_ppsn`].
    pub start_ppsn_seed: u32,
}

/// Headers of a packet and what the codec needs to find its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ParsedHeaders {
    pub packet: Packet,
    pub pad: u8,
    pub header_len: usize,
}

impl Packet {
    /// A packet with default values around `body`.
    pub fn new(body: Body) -> Self {
        Self {
            se: false,
            m: false,
            pkey: crate::open_mr_0::DEFAULT_PKEY,
            dest_qp: 0,
            ack_req: false,
            ppsn: Ppsn::default(),
            mph: PathHeader::default(),
            body,
        }
    }

    pub const fn opcode(&self) -> Opcode {
        self.body.opcode()
    }
}

impl Body {
    pub const fn opcode(&self) -> Opcode {
        match self {
            Self::Write { .. } => Opcode::Write,
            Self::Send { .. } => Opcode::Send,
            Self::ReadReq { .. } => Opcode::ReadReq,
            Self::ReadResp { .. } => Opcode::ReadResp,
            Self::AtomicReq { .. } => Opcode::AtomicReq,
            Self::AtomicResp { .. } => Opcode::AtomicResp,
            Self::ErrorResp { .. } => Opcode::ErrorResp,
            Self::Nop { .. } => Opcode::Nop,
            Self::Ack(_) => Opcode::Ack,
            Self::Probe => Opcode::Probe,
            Self::PortStatus => Opcode::PortStatus,
            Self::Connect(_) => Opcode::Connect,
            Self::Accept(_) => Opcode::Accept,
            Self::Close(_) => Opcode::Close,
        }
    }

    /// The message a data packet belongs to; none in path-level packets.
    pub const fn msg(&self) -> Option<Msg> {
        match self {
            Self::Write { msg, .. }
            | Self::Send { msg, .. }
            | Self::ReadReq { msg, .. }
            | Self::ReadResp { msg, .. }
            | Self::AtomicReq { msg, .. }
            | Self::AtomicResp { msg, .. }
            | Self::ErrorResp { msg, .. }
            | Self::Nop { msg } => Some(*msg),
            _ => None,
        }
    }

    pub const fn imm(&self) -> Option<u32> {
        match self {
            Self::Write { imm: Some(imm), .. } => Some(imm.immediate),
            Self::Send { imm, .. } => *imm,
            _ => None,
        }
    }
}

impl Opcode {
    pub const ALL: [Self; 14] = [
        Self::Write,
        Self::Send,
        Self::ReadReq,
        Self::ReadResp,
        Self::AtomicReq,
        Self::AtomicResp,
        Self::ErrorResp,
        Self::Nop,
        Self::Ack,
        Self::Probe,
        Self::PortStatus,
        Self::Connect,
        Self::Accept,
        Self::Close,
    ];

    /// Data packets consume a PPSN and carry a message header.
    pub const fn is_data(self) -> bool {
        matches!(
            self,
            Self::Write
                | Self::Send
                | Self::ReadReq
                | Self::ReadResp
                | Self::AtomicReq
                | Self::AtomicResp
                | Self::ErrorResp
                | Self::Nop
        )
    }
}
