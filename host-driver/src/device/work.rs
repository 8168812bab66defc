//! Work requests and completions.
//!
//! In: nothing. Out: borrowed requests (a device copies what it keeps) and plain completions.

/// A piece of local memory. The layout is that of `ibv_sge`, so that a program's list is passed on as it is.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sge {
    pub addr: u64,
    /// Bytes.
    pub length: u32,
    pub lkey: u32,
}

/// A place in the peer's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub addr: u64,
    pub rkey: u32,
}

/// What a send request does. Immediate data is passed on as the four bytes of memory that the program wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOp {
    Send { imm: Option<[u8; 4]> },
    Write { remote: Remote, imm: Option<[u8; 4]> },
    Read { remote: Remote },
    CompareSwap { remote: Remote, compare: u64, swap: u64 },
    FetchAdd { remote: Remote, add: u64 },
}

impl SendOp {
    /// The kind of its completion at the requester.
    pub fn completion(self) -> CompletionKind {
        match self {
            SendOp::Send { .. } => CompletionKind::Send,
            SendOp::Write { .. } => CompletionKind::Write,
            SendOp::Read { .. } => CompletionKind::Read,
            SendOp::CompareSwap { .. } => CompletionKind::CompareSwap,
            SendOp::FetchAdd { .. } => CompletionKind::FetchAdd,
        }
    }

    /// Does the answer bring data into local memory?
    pub fn is_read_or_atomic(self) -> bool {
        matches!(self, SendOp::Read { .. } | SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. })
    }

    pub fn is_atomic(self) -> bool {
        matches!(self, SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. })
    }

    /// Does it take a receive buffer of the peer?
    pub fn consumes_receive(self) -> bool {
        matches!(self, SendOp::Send { .. } | SendOp::Write { imm: Some(_), .. })
    }
}

/// The local side of a send request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload<'a> {
    /// Named, read when it is sent.
    Sges(&'a [Sge]),
    /// Copied now.
    Inline(&'a [u8]),
}

impl Payload<'_> {
    pub fn length_bytes(&self) -> u64 {
        match self {
            Payload::Sges(list) => list.iter().map(|s| u64::from(s.length)).sum(),
            Payload::Inline(data) => data.len() as u64,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SendRequest<'a> {
    pub wr_id: u64,
    pub op: SendOp,
    pub payload: Payload<'a>,
    /// Completes visibly also when it succeeds.
    pub signaled: bool,
    /// The peer's completion is solicited.
    pub solicited: bool,
    /// Starts after all earlier READs and atomics.
    pub fenced: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvRequest<'a> {
    pub wr_id: u64,
    pub sges: &'a [Sge],
}

/// How a request ended. The numbers are those of `enum ibv_wc_status`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum WcStatus {
    #[default]
    Success = 0,
    LocalLength = 1,
    LocalQpOperation = 2,
    LocalProtection = 4,
    Flushed = 5,
    BadResponse = 7,
    LocalAccess = 8,
    RemoteInvalidRequest = 9,
    RemoteAccess = 10,
    RemoteOperation = 11,
    RetryExceeded = 12,
    RnrRetryExceeded = 13,
    Fatal = 19,
    General = 21,
}

/// What completed. The numbers are those of `enum ibv_wc_opcode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum CompletionKind {
    #[default]
    Send = 0,
    Write = 1,
    Read = 2,
    CompareSwap = 3,
    FetchAdd = 4,
    Recv = 128,
    /// A receive buffer taken by a WRITE with immediate.
    RecvWrite = 129,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Completion {
    pub wr_id: u64,
    pub status: WcStatus,
    pub kind: CompletionKind,
    /// Received, read or written; on a failure without meaning.
    pub byte_len: u32,
    pub imm: Option<[u8; 4]>,
    pub qpn: u32,
    pub src_qpn: u32,
    /// A detail for people, 0 if there is none.
    pub vendor_error: u32,
}
