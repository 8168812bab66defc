//! Rows of request_places' tables, and what it is told and tells.
//! In: nothing. Out: struct types. Guarantees: a queue pair whose row is zero has no places.
use rust_hdl_core::prelude::*;

/// What software configured of a responding queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PlacesQp {
    pub open: Bit,
    /// It is in Error and its requests were answered (D7).
    pub failed: Bit,
    pub conn: Bits<16>,
    pub peer_qpn: Bits<24>,
    /// max_dest_rd_atomic.
    pub places: Bits<8>,
}

/// Which request took this place last; it is live while `mark` differs from the mark of who frees it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct TakenMark {
    pub mark: Bit,
    pub msn: Bits<24>,
}

/// A request was executed, or could not be (`code`).
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Executed {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub code: Bits<3>,
    pub atomic: Bit,
    /// Bus address of a READ, value before an atomic.
    pub base: Bits<64>,
    /// Bytes of a READ.
    pub length: Bits<32>,
    pub tag: Bits<32>,
}

/// A response joins its connection.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ResponseOrder {
    pub conn: Bits<16>,
    /// D7: ERROR_RESP with `code`.
    pub error: Bit,
    pub code: Bits<8>,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub npkts: Bits<24>,
    pub length: Bits<32>,
    pub peer_qpn: Bits<24>,
}

/// What the packets of a response are built from, at qp * M + msn mod M.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ResponseRow {
    pub atomic: Bit,
    pub base: Bits<64>,
    pub length: Bits<32>,
    pub tag: Bits<32>,
    pub peer_qpn: Bits<24>,
}

/// A packet of a response was retired.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RetiredResponse {
    pub error: Bit,
    pub conn: Bits<16>,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
}

/// What the FSM does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PlacesStep {
    Clear,
    Idle,
    Read,
    Have,
    Round,
    Push,
    Begin,
    WalkRead,
    WalkHave,
    WalkPush,
    Install,
    InstallConn,
}

/// What rows are read for.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum PlacesTask {
    Retired,
    Executed,
    Flush,
    Close,
}
