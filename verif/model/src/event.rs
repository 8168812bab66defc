//! Typed events and counters: what happened inside, for logs, tests and statistics.
//! Out only; nothing in the model depends on them. Events can be switched off (`NicConfig::events`), counters cannot.

use mrnic_wire::{Opcode, ParseError};

use crate::tx::path::PathState;
use crate::wqe::Status;

/// Why a frame had no effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A check of the codec (docs/wire.md) failed.
    Codec(ParseError),
    /// R1: an opcode, or immediate data, that this stage does not use.
    Unsupported(Opcode),
    /// R1: the connection number is out of range or not open.
    Connection(u16),
    /// R1: home or via is not a path of the connection.
    Path { home: u8, via: u8 },
}

/// Which rule found a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossRule {
    /// A gap below a later packet of the path, or below an answered probe (L1, L3).
    L1,
    /// A resend was overtaken by a packet first sent after it (L2).
    L2,
}

/// Something worth a line in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Dropped {
        reason: DropReason,
    },
    Acked {
        conn: u16,
        path: u8,
        packets: u32,
    },
    Loss {
        conn: u16,
        path: u8,
        rule: LossRule,
        packets: u32,
    },
    Resend {
        conn: u16,
        home: u8,
        via: u8,
        ppsn: u32,
        nop: bool,
    },
    Probe {
        conn: u16,
        path: u8,
        tail: bool,
    },
    Timeout {
        conn: u16,
        path: u8,
        backoff: u8,
    },
    PortChange {
        conn: u16,
        path: u8,
        port: u16,
    },
    PathState {
        conn: u16,
        path: u8,
        from: PathState,
        to: PathState,
    },
    /// A packet of the peer was refused (R4).
    Refused {
        conn: u16,
        qpn: u32,
        code: u8,
        msn: u32,
    },
    /// The peer refused a packet of ours.
    Nak {
        conn: u16,
        qpn: u32,
        code: u8,
        msn: u32,
    },
    QpError {
        qpn: u32,
        status: Status,
    },
    ConnError {
        conn: u16,
    },
    /// N1: a message of ours was withdrawn, as the peer has no receive (or no room) for it.
    Withdrawn {
        qpn: u32,
        msn: u32,
        code: u8,
    },
    /// N2: withdrawn messages begin again.
    BegunAgain {
        qpn: u32,
    },
    /// D3: a READ or an atomic of the peer was executed; `code` is the refusal, 0 if there is none.
    Executed {
        qpn: u32,
        msn: u32,
        code: u8,
    },
    /// Messages of the peer that were placed completely, in order.
    Received {
        qpn: u32,
        messages: u32,
    },
}

/// What software is told beside completions: the asynchronous events of verbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncEvent {
    /// Q7.
    SrqLimitReached { srq: u32 },
    /// Q6: a QP with a shared receive queue is in Error and will use no further receive.
    LastWqeReached { qpn: u32 },
    /// SQD: every work request that was taken is complete.
    SqDrained { qpn: u32 },
    /// R4: the QP refused a packet of its peer with this code and moved to Error.
    QpFatal { qpn: u32, code: u8 },
    /// The first packet of the peer arrived while the QP was in RTR.
    CommEst { qpn: u32 },
}

/// Counters; they wrap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    pub rx_frames: u64,
    pub rx_new: u64,
    pub rx_nops: u64,
    pub rx_duplicates: u64,
    pub rx_out_of_window: u64,
    pub rx_refused: u64,
    pub rx_probes: u64,
    pub rx_acks: u64,
    pub rx_placed_bytes: u64,
    pub rx_messages: u64,
    pub drop_codec: u64,
    pub drop_icrc: u64,
    pub drop_unsupported: u64,
    pub drop_conn: u64,
    pub drop_path: u64,
    pub acks_made: u64,
    pub acks_by_timer: u64,
    pub ack_applied: u64,
    pub ack_stale: u64,
    pub ack_disabled: u64,
    pub ack_invalid: u64,
    pub tx_new: u64,
    pub tx_resent: u64,
    pub tx_moved: u64,
    pub tx_nops: u64,
    pub tx_skipped_messages: u64,
    pub tx_payload_bytes: u64,
    pub tx_probes_tail: u64,
    pub tx_probes_timeout: u64,
    pub lost_l1: u64,
    pub lost_l2: u64,
    pub lost_timeout: u64,
    pub retired_packets: u64,
    pub retired_bytes: u64,
    pub path_suspect: u64,
    pub path_down: u64,
    pub path_up: u64,
    pub port_changes: u64,
    pub conn_errors: u64,
    pub qp_errors: u64,
    pub wqes: u64,
    pub wqes_refused: u64,
    pub cqes: u64,
    pub epochs: u64,
    pub acks_overflowed: u64,
    /// Packets refused for want of a receive (Q2), and for want of a place for the request (D3).
    pub rx_rnr: u64,
    pub rx_busy: u64,
    /// Packets of messages that were complete already (N4).
    pub rx_late: u64,
    /// Response packets accepted, and those of them that were placed (D6).
    pub rx_responses: u64,
    pub rx_responses_used: u64,
    /// New response packets sent (D4), ERROR_RESP included.
    pub tx_responses: u64,
    pub tx_error_responses: u64,
    pub requests_executed: u64,
    pub messages_withdrawn: u64,
    pub messages_begun_again: u64,
    pub recv_posted: u64,
    pub recv_cqes: u64,
}

/// What happened on one sending path since its connection was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathCounters {
    /// New packets of the path.
    pub sent: u64,
    /// Packets of the path that were sent again, by whichever path.
    pub resent: u64,
    /// Of these: by another path, as this one was DOWN (S3).
    pub moved: u64,
    pub probes: u64,
    pub acked: u64,
    /// Packets found lost by L1 and L2.
    pub lost: u64,
    /// Timeouts (L4).
    pub timeouts: u64,
    /// Packets that the peer received more than once.
    pub duplicates: u64,
    /// Packets that reached the peer with ECN CE.
    pub marks: u64,
}

/// A path changed its health, or (`from` = `to`) its route only (L4, L5).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathChange {
    pub conn: u16,
    pub path: u8,
    pub from: PathState,
    pub to: PathState,
    /// UDP source port after the change.
    pub port: u16,
}
