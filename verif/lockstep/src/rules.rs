//! Which rule of docs/protocol.md a field of a record belongs to: what a report names.
use crate::record::Kind;

/// The rule that decides `field` in a record of `kind`.
pub fn rule_of(kind: Kind, field: &str) -> &'static str {
    match (kind, field) {
        (Kind::Drop, _) => "R1 (order of checks of a frame)",
        (Kind::Rx, "class" | "dup") => "R2 (class of a packet)",
        (Kind::Rx, "code" | "qp_failed") => "R3/R4 (checks of a WRITE)",
        (Kind::Rx, "placed" | "addr" | "bytes") => "R5 (placement)",
        (Kind::Rx, "cum" | "high" | "rx" | "ce") => "R5 (advance of the receiver)",
        (Kind::Rx, "exp") => "R7/N4 (messages and their attempts)",
        (Kind::Rx, "rnr") => "Q2 (no receive)",
        (Kind::Rx, "acked" | "unacked") => "R8 (when to acknowledge)",
        (Kind::Rx, "share") => "R11 (rate hint)",
        (Kind::Rx, _) => "R1 (order of checks)",
        (Kind::Ack, "verdict") => "A1 (validity of an acknowledgment)",
        (Kind::Ack, "acked" | "cum" | "next" | "pipe") => "A3 (newly acknowledged)",
        (Kind::Ack, "lost_l1") => "L1 (gap)",
        (Kind::Ack, "lost_l2" | "mark" | "gen_open") => "L2 (resend marker)",
        (Kind::Ack, "window" | "credit") => "C1 (AIMD)",
        (Kind::Ack, "hint") => "C2 (hint)",
        (Kind::Ack, "reo_tol") => "L6 (reordering guard)",
        (Kind::Ack, "srtt8" | "var4") => "RTT",
        (Kind::Ack, _) => "progress (section 6)",
        (Kind::Timer, "port") => "L5 (port change)",
        (Kind::Timer, _) => "L3/L4 (timers)",
        (Kind::Grant, "rtx" | "home" | "ppsn") => "S1 (resend first)",
        (Kind::Grant, "via" | "moved") => "S3 (path choice)",
        (Kind::Grant, "ack_req") => "S4 (request for an acknowledgment)",
        (Kind::Grant, "nop") => "S6 (NOP)",
        (Kind::Grant, "inflight_bytes") => "C3 (window of the connection)",
        (Kind::Grant, "waits") => "N1 (no new packet while it waits)",
        (Kind::Grant, "kind") => "S1/S2, room, N1, C3, C4 (what a slot may do)",
        (Kind::Grant, _) => "S5 (effects of a slot)",
        (Kind::Wqe, _) => "W1 (checks of a WQE)",
        (Kind::Retire | Kind::Ret, _) => "W2 (retirement)",
        (Kind::Cqe, _) => "W2/W3/W4 (completions)",
        (Kind::Err, _) => "W3/N1/N3 (errors, refusals for now)",
        (Kind::Rnr, _) => "N2 (end of a wait)",
        (Kind::Recv, _) => "Q1 (posted receives)",
        (Kind::Rcqe, _) => "Q5/Q6 (completions of receives)",
    }
}
