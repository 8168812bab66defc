//! Rows and records of the receive side that more than one block knows.
//! In: nothing. Out: structs of the tables of rx_core and of its commit record.
//! Guarantees: field widths are those of docs/microarchitecture.md ("Conventions").
use rust_hdl_core::prelude::*;

/// A packet header as rx_core keeps it during a step.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxHeader {
    pub opcode: Bits<8>,
    pub ack_req: Bit,
    pub ppsn: Bits<24>,
    pub dest_qp: Bits<24>,
    pub ecn_ce: Bit,
    pub home: Bits<8>,
    pub via: Bits<8>,
    pub conn: Bits<16>,
    pub rtx: Bit,
    pub tx_ts: Bits<16>,
    pub msn: Bits<24>,
    pub first: Bit,
    pub last: Bit,
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    pub length: Bits<32>,
    pub payload_bytes: Bits<13>,
    /// Of a consuming message (docs/protocol.md, section 11), and so are the next three (`attempt` is that of any message); of a SEND `va` is the offset.
    pub rq_seq: Bits<24>,
    pub imm: Bits<32>,
    pub has_imm: Bit,
    pub sol: Bit,
    /// MSGH.attempt (N4).
    pub attempt: Bit,
    /// UDP source port (R10).
    pub udp_src: Bits<16>,
}

/// What requests and responses carry besides (docs/protocol.md, section 11, D1 to D7).
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxRequestHeader {
    /// Of a READ_REQ; that of a READ_RESP stands in `rkey`.
    pub tag: Bits<32>,
    /// Of an ATOMIC_REQ, and so are the next two: what is added, or the new value.
    pub operand: Bits<64>,
    pub compare: Bits<64>,
    pub fetch_add: Bit,
    /// Of an ERROR_RESP.
    pub error_code: Bits<8>,
}

/// What an ACK carries besides the fields above; not interpreted by the receive side.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxAckHeader {
    pub ts_echo: Bits<16>,
    pub service: Bits<16>,
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub flags: Bits<16>,
    pub rate: Bits<24>,
    pub sav: Bits<256>,
    pub mak_qp: Bits<24>,
    pub mak_code: Bits<8>,
    pub mak_msn: Bits<24>,
}

/// cfg table 1, as far as the receiver needs it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxConnRow {
    pub open: Bit,
    pub paths_log2: Bits<2>,
    pub mtu_log2: Bits<4>,
}

/// cfg table 3, as far as the receiver needs it, and R4's error bit.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxQpRow {
    pub open: Bit,
    pub conn: Bits<16>,
    pub pd: Bits<16>,
    pub peer_qpn: Bits<24>,
    pub failed: Bit,
}

/// D2, Q2: what a queue pair tells its peer: cfg table 3, and 6 while it is open.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxAccessRow {
    pub remote_write: Bit,
    pub remote_read: Bit,
    pub remote_atomic: Bit,
    /// MIN_RNR_TIMER.
    pub rnr_timer: Bits<5>,
}

/// State of a receiving path besides cum, high and the vector (docs/protocol.md, section 4).
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxPathRow {
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub rx: Bits<16>,
    pub last_ts: Bits<16>,
    pub last_ts_valid: Bit,
    pub last_via: Bits<3>,
    pub last_arrival: Bits<32>,
    pub last_qp: Bits<16>,
    pub last_qp_known: Bit,
    pub unacked: Bits<3>,
    pub ack_time: Bits<32>,
    pub ce_state: Bit,
}

/// An acknowledgment descriptor without the vector.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AckDescRow {
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub cum: Bits<24>,
    pub ts_echo: Bits<16>,
    pub service: Bits<16>,
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub rx: Bits<16>,
    pub flags: Bits<16>,
    pub rate: Bits<24>,
    pub epoch: Bits<8>,
    pub mak_qp: Bits<24>,
    pub mak_code: Bits<8>,
    pub mak_msn: Bits<24>,
}

/// One step of the receiver, as committed.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RxCommitRow {
    pub kind: Bits<3>,
    pub class: Bits<2>,
    pub conn: Bits<16>,
    pub home: Bits<8>,
    pub via: Bits<8>,
    pub opcode: Bits<8>,
    pub ppsn: Bits<24>,
    pub code: Bits<8>,
    pub placed: Bit,
    pub addr: Bits<64>,
    pub bytes: Bits<13>,
    pub acked: Bit,
    pub now: Bits<32>,
    pub share: Bits<24>,
    pub cum: Bits<24>,
    pub high: Bits<24>,
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub rx: Bits<16>,
    pub unacked: Bits<3>,
    pub exp: Bits<24>,
    /// Q2: refused for now; `code` is 0 then.
    pub rnr: Bit,
    /// R3: the QP was seen in Error.
    pub qp_failed: Bit,
    /// D6: a response of use.
    pub used: Bit,
}

/// `commit_rx_kind`.
pub mod kind {
    pub const DATA: u64 = 0;
    pub const PROBE: u64 = 1;
    pub const ACK: u64 = 2;
    pub const DROPPED: u64 = 3;
    pub const TIMER: u64 = 4;
    pub const EPOCH_SWAP: u64 = 5;
    pub const EPOCH_PUBLISH: u64 = 6;
    /// D3: a request was executed: `conn` is its QP, `ppsn` its MSN, `addr` the value before an atomic.
    pub const EXECUTED: u64 = 7;
}
