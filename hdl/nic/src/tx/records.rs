//! Records that leave the transmit core: packet descriptors and commits of the three kinds of step.
//!
//! `CommitGrant`, `CommitAck` and `CommitTimer` are what docs/microarchitecture.md lists under commit_grant, commit_ack and commit_timer.
use rust_hdl_core::prelude::*;

/// A packet to build: kind 0 data, 1 NOP, 2 PROBE.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Desc {
    pub kind: Bits<2>,
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub ppsn: Bits<24>,
    pub rtx: Bit,
    pub moved: Bit,
    pub ack_req: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    pub first: Bit,
    pub last: Bit,
    /// Of data and NOP: 0 of a message, 1 of a response, 2 ERROR_RESP (its code in `qp`, the peer's QPN in `index`).
    pub source: Bits<2>,
    /// MSGH.attempt of the message (N2); of a response it says nothing.
    pub attempt: Bit,
    pub ts: Bits<16>,
    pub port: Bits<16>,
}

/// A path after a step.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PathAfter {
    pub state: Bits<2>,
    pub next_ppsn: Bits<24>,
    pub cum: Bits<24>,
    pub pipe: Bits<9>,
    pub window: Bits<9>,
    pub credit: Bits<9>,
    pub srtt8: Bits<18>,
    pub var4: Bits<17>,
    pub backoff: Bits<4>,
    pub reo_tol: Bits<7>,
    pub mark: Bits<24>,
    pub gen_open: Bit,
    pub probe_pending: Bit,
}

/// A transmit slot that did something: kind 0 new packet, 1 resend, 2 message skipped, 3 set aside.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CommitGrant {
    pub conn: Bits<16>,
    pub kind: Bits<2>,
    pub home: Bits<3>,
    pub via: Bits<3>,
    pub ppsn: Bits<24>,
    pub rtx: Bit,
    pub moved: Bit,
    pub ack_req: Bit,
    pub nop: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    /// As in `Desc`.
    pub source: Bits<2>,
    pub now: Bits<32>,
    pub port: Bits<16>,
    pub inflight_bytes: Bits<32>,
    pub more: Bit,
    pub next_ppsn: Bits<24>,
    pub pipe: Bits<9>,
    pub window: Bits<9>,
    pub rr: Bits<3>,
}

/// An acknowledgment: verdict 0 applied, 1 disabled, 2 stale, 3 invalid.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CommitAck {
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub verdict: Bits<2>,
    pub acked: Bits<9>,
    pub lost_l1: Bits<9>,
    pub lost_l2: Bits<9>,
    pub now: Bits<32>,
    pub hint: Bits<24>,
    pub path: PathAfter,
}

/// A timer that was due; the actions are those of `timer_check`.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CommitTimer {
    pub conn: Bits<16>,
    pub path_index: Bits<3>,
    pub action: Bits<4>,
    pub now: Bits<32>,
    pub port: Bits<16>,
    pub probe_ppsn: Bits<24>,
    /// D8: the path watched over awaited responses, and the last sign of life.
    pub watched: Bit,
    pub alive: Bits<32>,
    pub path: PathAfter,
}
