//! Typed errors of every public call.
//! In: a refused call. Out: which number or field was wrong, where, and what to do about it.
//! No call of this crate panics on its input.

use thiserror::Error;

/// A configuration or set-up call was refused; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum ConfigError {
    #[error("{what} = {value} is outside {min}..={max}; correct the configuration")]
    Range { what: &'static str, value: u64, min: u64, max: u64 },
    #[error("{what} = {value} must be a power of two; correct the configuration")]
    PowerOfTwo { what: &'static str, value: u64 },
    #[error("{what} {index} does not exist; the NIC was built with {count}")]
    NoSuch { what: &'static str, index: u64, count: u64 },
    #[error("connection {conn} is not open; open it before its queue pairs")]
    ConnectionClosed { conn: u16 },
    #[error(
        "QP {qpn} cannot go from {from:?} to {to:?}; RTR is entered by connect_qp from INIT, the others in the order of verbs"
    )]
    Transition { qpn: u32, from: crate::QpState, to: crate::QpState },
    #[error("SRQ {srq} is used by QP {qpn}; close the QP first")]
    SrqInUse { srq: u32, qpn: u32 },
    #[error("key {index}: base {base:#x} + length {length:#x} wraps around; shorten the region")]
    KeyWraps { index: u32, base: u64, length: u64 },
}

/// A work request could not be taken; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PostError {
    #[error("QP {qpn} does not exist or is not open; open it first")]
    NoSuchQp { qpn: u32 },
    #[error("QP {qpn} has M = {limit} messages outstanding; poll completions and post again")]
    QpFull { qpn: u32, limit: u32 },
    #[error("QP {qpn} is in state {state:?}, which takes no such work request; move it on first")]
    State { qpn: u32, state: crate::QpState },
    #[error("{count} SGEs are given, 8 are possible, and as many as the work request says are needed")]
    Sges { count: usize },
    #[error("{depth} receives are posted; poll completions and post again")]
    RecvFull { depth: u32 },
    #[error("QP {qpn} uses SRQ {srq}; post the receive there")]
    UsesSrq { qpn: u32, srq: u32 },
    #[error("SRQ {srq} does not exist; create it first")]
    NoSuchSrq { srq: u32 },
    #[error("the message FIFO of connection {conn} is full ({depth}); poll completions and post again")]
    ConnFull { conn: u16, depth: u32 },
}

/// A step of the lockstep interface was refused; nothing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum StepError {
    #[error("connection {conn} does not exist or is not open")]
    NoSuchConnection { conn: u16 },
    #[error("connection {conn} has no path {path}")]
    NoSuchPath { conn: u16, path: u8 },
    #[error("QP {qpn} does not exist or is not open")]
    NoSuchQp { qpn: u32 },
    #[error("connection {conn}: {seen} bytes in flight were seen, {exact} are; an early sample can only be larger")]
    InflightTooSmall { conn: u16, seen: u32, exact: u32 },
    #[error("connection {conn}: another message was seen waiting, none does")]
    NoMessageWaits { conn: u16 },
    #[error("QP {qpn} was seen in Error, it is not")]
    QpNotInError { qpn: u32 },
    #[error("QP {qpn} was seen waiting for a receive of its peer, it does not wait")]
    QpNotWaiting { qpn: u32 },
    #[error("the response to message {msn:#08x} of QP {qpn} is not whole, or was reported already")]
    NotAnswered { qpn: u32, msn: u32 },
    #[error("no acknowledgment is queued")]
    NoAck,
    #[error("connection {conn} home {home} PPSN {ppsn:#08x} does not await retirement")]
    NotAwaitingRetirement { conn: u16, home: u8, ppsn: u32 },
    #[error("no rate epoch was swapped; swap before publishing")]
    NoSwap,
    #[error(transparent)]
    Post(#[from] PostError),
}

/// A frame could not be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EncodeError {
    #[error("connection {conn} does not exist or is not open")]
    NoSuchConnection { conn: u16 },
    #[error("the buffer holds {have} bytes, the frame needs more; use at least 4,352 bytes")]
    Buffer { have: usize },
    #[error("host memory at {addr:#x}, {len} bytes, cannot be read")]
    HostMemory { addr: u64, len: u32 },
}

/// Host memory refused an access.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("host memory at {addr:#x}, {len} bytes, is not accessible")]
pub struct MemoryError {
    pub addr: u64,
    pub len: u32,
}
