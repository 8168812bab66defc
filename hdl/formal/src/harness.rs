//! The list of harnesses.
//!
//! In: nothing. Out: for each its text, the sizes it is proven in, depths, and a fault that it has to find. Guarantees: names are unique, every
//! property of the text has a name.
use crate::blocks::BlockName;

/// How large a block is made.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    /// W, where the block has a window.
    pub window_bits: usize,
    pub conns: usize,
    pub pool_packets: usize,
    /// Of a FIFO.
    pub depth: usize,
    /// Parameters of the harness.
    pub parameters: &'static [(&'static str, u64)],
    /// Changes of the block's text that cut a table short.
    pub edits: &'static [(&'static str, &'static str)],
}

/// A change of the block's text that makes it wrong.
#[derive(Clone, Copy, Debug)]
pub struct Fault {
    pub what: &'static str,
    /// Text that is there once, and what takes its place.
    pub edits: &'static [(&'static str, &'static str)],
}

/// One block and what is claimed of it.
#[derive(Debug)]
pub struct Harness {
    pub name: &'static str,
    pub block: BlockName,
    /// In hdl/formal.
    pub file: &'static str,
    pub text: &'static str,
    /// Full size: induction, and the base case as deep as induction needs.
    pub full: Size,
    /// Clocks of the induction; 0: all that the block remembers is in `reach` clocks, so looking that far from any state is a proof (`bmc`).
    pub induction: u32,
    /// Narrow tables, so that what is reached through the clearing of all rows after reset is near: cover statements, faults.
    pub small: Size,
    /// Clocks from reset for cover statements and faults.
    pub reach: u32,
    pub faults: &'static [Fault],
    /// Part of the quick subset (tests).
    pub quick: bool,
}

const SIM: Size = Size { window_bits: 256, conns: 8, pool_packets: 2048, depth: 0, parameters: &[], edits: &[] };
const ONE_CONN: Size = Size { conns: 1, ..SIM };

/// All of them.
pub const HARNESSES: &[Harness] = &[
    Harness {
        name: "path_tracker",
        block: BlockName::PathTracker,
        file: "path_tracker.sv",
        text: include_str!("../path_tracker.sv"),
        full: SIM,
        induction: 2,
        small: Size { window_bits: 64, parameters: &[("W", 64), ("ROWS", 8)], ..ONE_CONN },
        reach: 28,
        faults: &[
            Fault {
                what: "in order, the cumulative point moves by two",
                edits: &[("assign first = cum_r_q + 24'd1;", "assign first = cum_r_q + 24'd2;")],
            },
            Fault {
                what: "the window is twice as wide as its set",
                edits: &[("localparam [23:0] far = 24'h7fffc0;", "localparam [23:0] far = 24'h7fff80;")],
            },
        ],
        quick: false,
    },
    Harness {
        name: "sack_scoreboard",
        block: BlockName::SackScoreboard,
        file: "sack_scoreboard.sv",
        text: include_str!("../sack_scoreboard.sv"),
        full: SIM,
        induction: 2,
        small: Size { window_bits: 64, parameters: &[("W", 64), ("ROWS", 8)], ..ONE_CONN },
        reach: 16,
        faults: &[
            Fault {
                what: "a lost packet that is acknowledged stays lost",
                edits: &[("lost = word[/*lost*/ 127:64] & live;", "lost = word[/*lost*/ 127:64] & ~passed;")],
            },
            Fault {
                what: "what was acknowledged before is told again",
                edits: &[("fresh = (passed | sav) & ~word[/*sacked*/ 63:0];", "fresh = passed | sav;")],
            },
        ],
        quick: false,
    },
    Harness {
        name: "retransmit_queue",
        block: BlockName::RetransmitQueue,
        file: "retransmit_queue.sv",
        text: include_str!("../retransmit_queue.sv"),
        full: SIM,
        induction: 2,
        small: Size {
            window_bits: 64,
            pool_packets: 16,
            parameters: &[("CHUNKS", 2), ("ROWS", 8), ("PER_ROW", 8)],
            // one path: the walker after reset clears its 8 rows only, and the harness uses no other
            edits: &[("localparam [23:0] last_row = 24'h3f;", "localparam [23:0] last_row = 24'h7;")],
            ..ONE_CONN
        },
        reach: 20,
        faults: &[Fault {
            what: "a chunk goes back while packets of it live",
            edits: &[("unused_write = !(|left);", "unused_write = 1'b1;")],
        }],
        quick: false,
    },
    Harness {
        name: "fifo",
        block: BlockName::Fifo,
        file: "fifo.sv",
        text: include_str!("../fifo.sv"),
        full: Size { depth: 13, parameters: &[("DEPTH", 13)], ..SIM },
        induction: 2,
        small: Size { depth: 13, parameters: &[("DEPTH", 13)], ..SIM },
        reach: 20,
        faults: &[Fault { what: "empty after any read", edits: &[("is_empty <= held == 16'd1;", "is_empty <= 1'b1;")] }],
        quick: true,
    },
    Harness {
        name: "fifo_deep",
        block: BlockName::Fifo,
        file: "fifo.sv",
        text: include_str!("../fifo.sv"),
        full: Size { depth: 100, parameters: &[("DEPTH", 100)], ..SIM },
        induction: 2,
        small: Size { depth: 100, parameters: &[("DEPTH", 100)], ..SIM },
        reach: 8,
        faults: &[Fault {
            what: "a word written to the row being fetched does not go around the memory",
            edits: &[("pass <= do_write && write_at == read_next;", "pass <= 1'b0;")],
        }],
        quick: false,
    },
    Harness {
        name: "fifo_single",
        block: BlockName::Fifo,
        file: "fifo.sv",
        text: include_str!("../fifo.sv"),
        full: Size { depth: 1, parameters: &[("DEPTH", 1)], ..SIM },
        induction: 2,
        small: Size { depth: 1, parameters: &[("DEPTH", 1)], ..SIM },
        reach: 8,
        faults: &[Fault {
            what: "a write while full replaces the entry",
            edits: &[("if (write && !held) entry <= data_in;", "if (write) entry <= data_in;")],
        }],
        quick: true,
    },
    Harness {
        name: "rate_limiter",
        block: BlockName::RateLimiter,
        file: "rate_limiter.sv",
        text: include_str!("../rate_limiter.sv"),
        full: SIM,
        induction: 2,
        small: SIM,
        reach: 16,
        faults: &[
            Fault {
                what: "an idle connection fills its bucket beyond the burst",
                edits: &[(
                    "        if (full) begin\n            result = limit2_q - cost2_q;",
                    "        if (full) begin\n            result = bucket - cost2_q;",
                )],
            },
            Fault {
                what: "a packet costs less than its headers",
                edits: &[("cost1_q <= {3'd0, bytes} + 16'h60;", "cost1_q <= {3'd0, bytes} + 16'h5f;")],
            },
        ],
        quick: false,
    },
    Harness {
        name: "timer_step",
        block: BlockName::TimerStep,
        file: "timer_step.sv",
        text: include_str!("../timer_step.sv"),
        full: SIM,
        induction: 0,
        small: SIM,
        reach: 42,
        faults: &[Fault {
            what: "a path that is due is not seen",
            edits: &[("due_rto_d = (calm_q >= limit_q) & !calm_q[31];", "due_rto_d = (calm_q == limit_q) & !calm_q[31];")],
        }],
        quick: false,
    },
    Harness {
        name: "skid",
        block: BlockName::Skid,
        file: "skid.sv",
        text: include_str!("../skid.sv"),
        full: SIM,
        induction: 2,
        small: SIM,
        reach: 8,
        faults: &[Fault {
            what: "the spare word is dropped when the output moves",
            edits: &[("head_d = spare_q;", "head_d = in_data;")],
        }],
        quick: true,
    },
];

/// A name in a harness's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Property {
    pub name: &'static str,
    /// Only there to carry the induction.
    pub lemma: bool,
}

impl Harness {
    fn names(&self, kind: &str) -> impl Iterator<Item = (usize, &'static str)> + '_ {
        let pattern = format!(": {kind} (");
        self.text.match_indices(&pattern).map(|(at, _)| at).collect::<Vec<_>>().into_iter().map(|at| {
            let start = self.text[..at].rfind(|c: char| !c.is_alphanumeric() && c != '_').map_or(0, |s| s + 1);
            (start, &self.text[start..at])
        })
    }

    /// The assertions, in the order of the text. What stands behind a line with "for induction" is there for its sake.
    pub fn properties(&self) -> Vec<Property> {
        let lemmas = self.text.find("for induction").unwrap_or(self.text.len());
        self.names("assert").map(|(at, name)| Property { name, lemma: at > lemmas }).collect()
    }

    /// The named assumptions.
    pub fn assumptions(&self) -> Vec<&'static str> {
        self.names("assume").map(|n| n.1).collect()
    }

    /// The cover statements.
    pub fn covers(&self) -> Vec<&'static str> {
        self.names("cover").map(|n| n.1).collect()
    }

    pub fn find(name: &str) -> Option<&'static Harness> {
        HARNESSES.iter().find(|h| h.name == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Every assertion has a name of its own (an unnamed one would not be run), and every harness has faults and cover statements.
    #[test]
    fn properties_have_names() {
        for h in HARNESSES {
            let count =
                |word: &str| h.text.lines().map(|l| l.split("//").next().unwrap_or("").matches(word).count()).sum::<usize>();
            let names: BTreeSet<_> = h.properties().iter().map(|p| p.name).collect();
            assert_eq!(names.len(), count("assert ("), "{}: an assertion without a name or two of one name", h.name);
            assert_eq!(h.covers().len(), count("cover ("), "{}: a cover statement without a name", h.name);
            assert!(!h.covers().is_empty() && !h.faults.is_empty() && h.properties().iter().any(|p| !p.lemma), "{}", h.name);
        }
        let names: BTreeSet<_> = HARNESSES.iter().map(|h| h.name).collect();
        assert_eq!(names.len(), HARNESSES.len());
    }
}
