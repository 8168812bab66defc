//! Commit records: one architectural step of the RTL, as it left the engine's commit port.
//!
//! In: values of the `commit_<kind>_<field>` outputs in a cycle in which `commit_<kind>_valid` is high. Out: a [`Record`].
//! Guarantees: every field the checker compares is named here, so that a build without it is refused before it runs.
use std::fmt;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $prefix:literal [$($field:ident),* $(,)?] wide $wide:expr;)*) => {
        /// What kind of step was committed. Records of one cycle are replayed in this order.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        #[serde(rename_all = "lowercase")]
        pub enum Kind { $($(#[$doc])* $kind,)* }
        impl Kind {
            /// All kinds.
            pub const ALL: &'static [Kind] = &[$(Kind::$kind,)*];
            /// The middle part of the port names.
            pub const fn prefix(self) -> &'static str { match self { $(Kind::$kind => $prefix,)* } }
            /// The fields of at most 64 bits.
            pub const fn fields(self) -> &'static [&'static str] { match self { $(Kind::$kind => &[$(stringify!($field),)*],)* } }
            /// The wide field, if there is one.
            pub const fn wide(self) -> Option<&'static str> { match self { $(Kind::$kind => $wide,)* } }
        }
    };
}

kinds! {
    /// The receiver has taken a table row.
    Row "row" [table, index] wide None;
    /// A frame was dropped by the parser.
    Drop "drop" [reason] wide None;
    /// rx_core took a step.
    Rx "rx" [kind, class, conn, home, via, opcode, ppsn, code, placed, addr, bytes, acked, now, share, cum, high, ce, dup, rx, unacked, exp, rnr, qp_failed, used] wide None;
    /// An error event reached completion.
    Err "err" [kind, qp, conn, code, msn, now] wide None;
    /// The requests of a QP that moved to Error are answered with errors.
    Answer "answer" [qp] wide None;
    /// The wait of a QP ended, and its messages begin again.
    Rnr "rnr" [qp, now] wide None;
    /// A WQE was taken.
    Wqe "wqe" [qp, wqe_index, msn, conn, status] wide Some("data");
    /// An acknowledgment was applied or dropped.
    Ack "ack" [conn, home, verdict, acked, lost_l1, lost_l2, now, state, next, cum, pipe, window, credit, srtt8, var4, backoff, reo_tol, mark, gen_open, probe_pending, hint] wide None;
    /// A timer acted.
    Timer "timer" [conn, path, action, now, port, probe_ppsn, watched, alive, state, next, cum, pipe, window, credit, srtt8, var4, backoff, reo_tol, mark, gen_open, probe_pending] wide None;
    /// A transmit slot was granted.
    Grant "grant" [conn, kind, home, via, ppsn, rtx, moved, ack_req, nop, qp, msn, index, bytes, source, now, port, inflight_bytes, more, next, pipe, window, rr] wide None;
    /// A packet was retired.
    Retire "retire" [conn, home, ppsn, qp, msn, bytes] wide None;
    /// completion counted a retired packet.
    Ret "ret" [qp, msn, bytes] wide None;
    /// The whole response to a READ or an atomic is visible to software.
    Answered "answered" [qp, msn] wide None;
    /// A CQE was written.
    Cqe "cqe" [qp, msn] wide Some("data");
    /// A receive arrived in its queue.
    Recv "recv" [qp, index] wide Some("data");
    /// The CQE of a receive was written.
    Rcqe "rcqe" [qp] wide Some("data");
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix())
    }
}

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    pub kind: Kind,
    /// Clock cycle in which it was committed.
    pub cycle: u64,
    /// In the order of [`Kind::fields`].
    pub values: Vec<u64>,
    /// Little-endian 32-bit words of the wide field.
    pub wide: Vec<u32>,
}

impl Record {
    /// The value of a field of this kind.
    ///
    /// # Panics
    /// If the kind has no such field (a mistake of the caller).
    pub fn get(&self, field: &str) -> u64 {
        match self.kind.fields().iter().position(|f| *f == field) {
            Some(i) => self.values[i],
            None => panic!("a {} record has no field {field}", self.kind),
        }
    }

    /// The bytes of the wide field.
    pub fn wide_bytes(&self) -> Vec<u8> {
        self.wide.iter().flat_map(|w| w.to_le_bytes()).collect()
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "cycle {:>8} {:<6}", self.cycle, self.kind.prefix())?;
        for (name, v) in self.kind.fields().iter().zip(&self.values) {
            if *v > 0xFFFF {
                write!(f, " {name}={v:#x}")?;
            } else {
                write!(f, " {name}={v}")?;
            }
        }
        Ok(())
    }
}
