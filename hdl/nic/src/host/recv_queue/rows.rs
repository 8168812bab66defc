//! Rows of recv_queue's tables and what its FIFOs carry.
//! In: nothing. Out: struct types. Guarantees: a row that is zero is that of a receive which no packet has named.
use rust_hdl_core::prelude::*;

/// What software configured of a receive queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RqFixed {
    pub valid: Bit,
    pub base: Bits<64>,
    pub log2: Bits<4>,
    pub cq_base: Bits<64>,
    pub cq_log2: Bits<4>,
    /// A queue pair without receives of its own.
    pub shared: Bit,
    /// A shared queue: it has no completions.
    pub is_srq: Bit,
    /// Entries of 128 bytes.
    pub lists: Bit,
}

/// What a look needs of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RqLook {
    pub pd: Bits<16>,
    pub shared: Bit,
    /// Its shared queue.
    pub source: Bits<16>,
}

/// Where a receive queue stands. Receives are counted from 0 when the queue pair opens: the count is their rq_seq.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RqState {
    /// As software told, modulo 2^16.
    pub producer: Bits<16>,
    /// Receives asked for.
    pub fetched: Bits<24>,
    /// rq_seq of the oldest receive without a completion; of a shared queue the receives taken, as last seen.
    pub head: Bits<24>,
    /// CQEs written.
    pub cq_count: Bits<16>,
    pub in_error: Bit,
}

/// Memory of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RecvBuffer {
    pub addr: Bits<64>,
    /// Of a list its sum, 2^32 - 1 if that is more.
    pub length: Bits<32>,
    pub lkey: Bits<32>,
    /// Its memory is a list.
    pub listed: Bit,
}

/// An entry that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RecvRead {
    pub addr: Bits<64>,
    pub lists: Bit,
}

/// What packets made of a receive.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RecvMark {
    /// A packet of message `msn` has named it.
    pub valid: Bit,
    pub msn: Bits<24>,
    /// Of the message, as its last accepted packet says.
    pub length: Bits<32>,
    pub imm: Bits<32>,
    pub has_imm: Bit,
    pub sol: Bit,
    pub by_write: Bit,
    /// Q3: how it completes if its QP fails by it.
    pub failed: Bits<8>,
    /// Of a shared queue: which receive it was, modulo 2^16.
    pub index: Bits<16>,
}

/// Whether a receive's message is complete, and after which payload write.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RecvDone {
    pub complete: Bit,
    pub ticket: Bits<16>,
}

/// A message that `exp` has passed.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Passed {
    pub qp: Bits<16>,
    /// rq_seq modulo 256.
    pub slot: Bits<8>,
    pub ticket: Bits<16>,
}

/// What the FSM does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum RqStep {
    Clear,
    Idle,
    PassSet,
    Read,
    Have,
    Rows,
    Judge,
    Emit,
    Open,
    OpenRows,
}

/// What the FSM reads the state of a queue pair for.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum RqTask {
    Visit,
    Bell,
    Flush,
    /// The receives that a queue pair has taken from a shared queue are flushed before it closes.
    Close,
}
