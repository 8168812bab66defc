//! Work queue entries (64 bytes) and completion queue entries (32 bytes) as host memory holds them.
//! In: little-endian words. Out: typed requests and completions, and back. Bytes that are not assigned are ignored.

use mrnic_wire::AtomicOp;

// Opcodes of a work request: the numbers of `ibv_wr_opcode`.
pub const WQE_WRITE: u8 = 0;
pub const WQE_WRITE_IMM: u8 = 1;
pub const WQE_SEND: u8 = 2;
pub const WQE_SEND_IMM: u8 = 3;
pub const WQE_READ: u8 = 4;
pub const WQE_COMPARE_SWAP: u8 = 5;
pub const WQE_FETCH_ADD: u8 = 6;
/// Opcodes of a receive's completion: the numbers of `ibv_wc_opcode`.
pub const CQE_RECV: u8 = 128;
pub const CQE_RECV_WRITE_IMM: u8 = 129;

/// SEND and WRITE with immediate use a posted receive of the peer.
pub const fn is_consuming(opcode: u8) -> bool {
    matches!(opcode, WQE_WRITE_IMM | WQE_SEND | WQE_SEND_IMM)
}

/// READ and atomics wait for a response.
pub const fn is_request(opcode: u8) -> bool {
    matches!(opcode, WQE_READ | WQE_COMPARE_SWAP | WQE_FETCH_ADD)
}

pub const fn has_immediate(opcode: u8) -> bool {
    matches!(opcode, WQE_WRITE_IMM | WQE_SEND_IMM)
}

/// The operation of an atomic.
pub const fn atomic_op(opcode: u8) -> Option<AtomicOp> {
    match opcode {
        WQE_COMPARE_SWAP => Some(AtomicOp::CompareSwap),
        WQE_FETCH_ADD => Some(AtomicOp::FetchAdd),
        _ => None,
    }
}

/// A work request. `opcode` is not checked here: rule W1 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Wqe {
    pub opcode: u8,
    pub signaled: bool,
    /// Waits until no READ or atomic before it is outstanding (D1).
    pub fence: bool,
    /// Solicited completion at the receiver.
    pub solicited: bool,
    /// 0 or 1: the SGE stands here (lkey, laddr, length). 2..=8: a list beside it.
    pub num_sge: u8,
    pub lkey: u32,
    pub laddr: u64,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
    pub imm: u32,
    pub wr_id: u64,
    /// Atomics: the new value, or what is added.
    pub swap_add: u64,
    /// Compare-and-swap: the value that must stand there.
    pub compare: u64,
}

fn word(bytes: &[u8; 64], index: usize) -> u32 {
    let at = index * 4;
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn pair(bytes: &[u8; 64], index: usize) -> u64 {
    u64::from(word(bytes, index)) | u64::from(word(bytes, index + 1)) << 32
}

impl Wqe {
    /// Reads the 16 words of a ring entry.
    pub fn from_bytes(bytes: &[u8; 64]) -> Wqe {
        Wqe {
            opcode: bytes[0],
            signaled: bytes[1] & 1 != 0,
            fence: bytes[1] & 2 != 0,
            solicited: bytes[1] & 4 != 0,
            num_sge: bytes[2],
            lkey: word(bytes, 1),
            laddr: pair(bytes, 2),
            raddr: pair(bytes, 4),
            rkey: word(bytes, 6),
            length: word(bytes, 7),
            imm: word(bytes, 8),
            wr_id: pair(bytes, 10),
            swap_add: pair(bytes, 12),
            compare: pair(bytes, 14),
        }
    }

    /// Writes the 16 words of a ring entry.
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0] = self.opcode;
        bytes[1] = u8::from(self.signaled) | u8::from(self.fence) << 1 | u8::from(self.solicited) << 2;
        bytes[2] = self.num_sge;
        bytes[4..8].copy_from_slice(&self.lkey.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.laddr.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.raddr.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.rkey.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.imm.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.wr_id.to_le_bytes());
        bytes[48..56].copy_from_slice(&self.swap_add.to_le_bytes());
        bytes[56..64].copy_from_slice(&self.compare.to_le_bytes());
        bytes
    }
}

/// Status of a completion. The numbers are those of `ibv_wc_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Status {
    Success = 0,
    LocLenErr = 1,
    LocQpOpErr = 2,
    LocProtErr = 4,
    WrFlushErr = 5,
    RemInvReqErr = 9,
    RemAccessErr = 10,
    RemOpErr = 11,
    RetryExcErr = 12,
    RnrRetryExcErr = 13,
}

impl Status {
    /// W3: the status that a refusal of the peer gives the work request.
    pub fn of_nak(code: u8) -> Status {
        match code {
            1..=3 => Status::RemAccessErr,
            6 => Status::RemOpErr,
            _ => Status::RemInvReqErr,
        }
    }
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    pub status: Status,
    /// Of a send: the work request's opcode ([`Cqe::wc_opcode`] gives ibv_wc's number). Of a receive: 128 or 129.
    pub opcode: u8,
    /// 1 on the first pass over the completion ring, toggles with each pass.
    pub phase: bool,
    pub qpn: u32,
    pub wr_id: u64,
    /// Bytes of the message, 0 on an error.
    pub byte_len: u32,
    /// Index of the work request, or of the receive, modulo 2^16.
    pub wqe_index: u16,
    /// Immediate data of a receive.
    pub imm: Option<u32>,
    /// The peer asked for a solicited event.
    pub solicited: bool,
    /// The peer's refusal code, 0 if there is none.
    pub nak_code: u8,
    pub msn: u32,
}

impl Cqe {
    /// Whether a receive completed.
    pub fn is_recv(&self) -> bool {
        self.opcode & 0x80 != 0
    }

    /// The number of `ibv_wc_opcode`.
    pub fn wc_opcode(&self) -> u8 {
        match self.opcode {
            WQE_WRITE | WQE_WRITE_IMM => 1,
            WQE_SEND | WQE_SEND_IMM => 0,
            WQE_READ => 2,
            WQE_COMPARE_SWAP => 3,
            WQE_FETCH_ADD => 4,
            other => other,
        }
    }

    /// Writes the 8 words of a ring entry. The immediate of a receive stands in place of the MSN.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[0] = self.status as u8;
        bytes[1] = self.opcode;
        bytes[2] = u8::from(self.phase);
        bytes[3] = u8::from(self.imm.is_some()) | u8::from(self.solicited) << 1;
        bytes[4..8].copy_from_slice(&self.qpn.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.wr_id.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.byte_len.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.wqe_index.to_le_bytes());
        bytes[24] = self.nak_code;
        bytes[28..32].copy_from_slice(&self.imm.unwrap_or(self.msn).to_le_bytes());
        bytes
    }
}
