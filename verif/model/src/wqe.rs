//! Work queue entries (64 bytes) and completion queue entries (32 bytes) as host memory holds them.
//! In: little-endian words. Out: typed requests and completions, and back. Bytes that are not assigned are ignored.

/// Opcode of an RDMA WRITE.
pub const WQE_WRITE: u8 = 0;

/// A work request. `opcode` is not checked here: rule W1 does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Wqe {
    pub opcode: u8,
    pub signaled: bool,
    pub lkey: u32,
    pub laddr: u64,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
    pub imm: u32,
    pub wr_id: u64,
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
            lkey: word(bytes, 1),
            laddr: pair(bytes, 2),
            raddr: pair(bytes, 4),
            rkey: word(bytes, 6),
            length: word(bytes, 7),
            imm: word(bytes, 8),
            wr_id: pair(bytes, 10),
        }
    }

    /// Writes the 16 words of a ring entry.
    pub fn to_bytes(&self) -> [u8; 64] {
        let mut bytes = [0; 64];
        bytes[0] = self.opcode;
        bytes[1] = u8::from(self.signaled);
        bytes[4..8].copy_from_slice(&self.lkey.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.laddr.to_le_bytes());
        bytes[16..24].copy_from_slice(&self.raddr.to_le_bytes());
        bytes[24..28].copy_from_slice(&self.rkey.to_le_bytes());
        bytes[28..32].copy_from_slice(&self.length.to_le_bytes());
        bytes[32..36].copy_from_slice(&self.imm.to_le_bytes());
        bytes[40..48].copy_from_slice(&self.wr_id.to_le_bytes());
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
    pub opcode: u8,
    /// 1 on the first pass over the completion ring, toggles with each pass.
    pub phase: bool,
    pub qpn: u32,
    pub wr_id: u64,
    /// Bytes of the message, 0 on an error.
    pub byte_len: u32,
    pub wqe_index: u16,
    /// The peer's refusal code, 0 if there is none.
    pub nak_code: u8,
    pub msn: u32,
}

impl Cqe {
    /// Writes the 8 words of a ring entry.
    pub fn to_bytes(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        bytes[0] = self.status as u8;
        bytes[1] = self.opcode;
        bytes[2] = u8::from(self.phase);
        bytes[4..8].copy_from_slice(&self.qpn.to_le_bytes());
        bytes[8..16].copy_from_slice(&self.wr_id.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.byte_len.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.wqe_index.to_le_bytes());
        bytes[24] = self.nak_code;
        bytes[28..32].copy_from_slice(&self.msn.to_le_bytes());
        bytes
    }
}
