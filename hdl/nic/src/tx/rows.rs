//! Rows of the sender's tables (section 5 of docs/protocol.md), each field in exactly one table.
//!
//! `PathTx` lives in eight memories, one a path index, addressed by connection: a transmit slot sees all paths at once.
//! `PathAck` (address conn*8+path) holds what only acknowledgments, timers and resends need; `WordRow` the four sets.
//! Guarantees: field widths hold every value the protocol allows.
use rust_hdl_core::prelude::*;

/// Values of `PathTx::state`.
pub const DISABLED: u64 = 0;
pub const UP: u64 = 1;
pub const SUSPECT: u64 = 2;
pub const DOWN: u64 = 3;

/// What the path choice and a new packet need; every step reads it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PathTx {
    pub state: Bits<2>,
    /// (next - cum) - |sacked| - nlost
    pub pipe: Bits<9>,
    pub window: Bits<9>,
    /// Bit w: word w holds a lost packet.
    pub lost_words: Bits<4>,
    pub next_ppsn: Bits<24>,
    pub cum: Bits<24>,
    pub port: Bits<16>,
    pub t_base: Bits<32>,
    pub srtt8: Bits<18>,
    pub rtt_valid: Bit,
    /// Since it was stranded a packet of it was acknowledged (S1).
    pub heard: Bit,
    /// When a packet of it, or a PROBE, was last sent (L3).
    pub last_send: Bits<16>,
}

/// The rest of a path's scalars.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PathAck {
    pub mark: Bits<24>,
    pub gen_open: Bit,
    pub credit: Bits<9>,
    pub last_cut: Bits<32>,
    pub var4: Bits<17>,
    pub backoff: Bits<4>,
    pub probe_pending: Bit,
    pub probe_ts: Bits<16>,
    pub probe_ppsn: Bits<24>,
    /// While DOWN: tries of its packets in a row of which nothing was acknowledged (L4).
    pub tries: Bits<7>,
    pub ce_seen: Bits<16>,
    pub dup_seen: Bits<16>,
    pub reo_tol: Bits<7>,
    pub reo_base: Bits<32>,
    pub l1_since_dup: Bit,
    pub floor_active: Bit,
    pub floor_ppsn: Bits<24>,
    pub floor_time: Bits<32>,
    pub clean: Bits<2>,
}

/// 64 packets of a path: four sets, bit = PPSN mod 64.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct WordRow {
    pub sacked: Bits<64>,
    /// Lost, not yet resent.
    pub lost: Bits<64>,
    /// Resent, not yet acknowledged: the older generation.
    pub rtx_old: Bits<64>,
    /// The newer generation.
    pub rtx_new: Bits<64>,
}

/// Tables 1 of software: what a connection was opened with.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ConnCfg {
    pub open: Bit,
    pub paths_log2: Bits<2>,
    pub mtu_log2: Bits<4>,
    pub retry_cnt: Bits<4>,
}

/// Written by transmit slots.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ConnTx {
    pub rr: Bits<3>,
    pub sent_bytes: Bits<32>,
    /// Two's complement, in 1/125 byte.
    pub tokens: Bits<36>,
    pub token_time: Bits<32>,
}

/// Written by acknowledgments and timers.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ConnAck {
    pub hint: Bits<24>,
    /// Largest sRTT in ticks over the UP paths.
    pub longest_srtt: Bits<16>,
    /// Some path has an RTT sample.
    pub any_rtt: Bit,
    pub error: Bit,
}

/// Table 2 of software: what a path starts with when its connection opens.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PathCfg {
    pub enable: Bit,
    pub port: Bits<16>,
    pub start_ppsn: Bits<24>,
}

/// An acknowledgment frame, as rx_core hands it over, without its vector.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AckFields {
    pub conn: Bits<16>,
    pub home: Bits<3>,
    pub cum: Bits<24>,
    pub ts_echo: Bits<16>,
    pub service: Bits<16>,
    pub ce: Bits<16>,
    pub dup: Bits<16>,
    pub flags: Bits<16>,
    pub rate: Bits<24>,
    pub mak_qp: Bits<24>,
    pub mak_code: Bits<8>,
    pub mak_msn: Bits<24>,
}

/// One outstanding packet, as the retransmit queue keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PacketEntry {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    pub first: Bit,
    pub last: Bit,
    /// 0 of a message, 1 of a response, 2 ERROR_RESP (then `index` is the peer's QPN and `qp` the code).
    pub kind: Bits<2>,
}
