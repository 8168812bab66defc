//! What each packet means, independent of any layout: the fields an opcode must carry, in whatever headers and order.
//! The names on the left are the layout's, those on the right the places in `mrnic_wire::Packet`.
//! This is what makes a layout replaceable: the mapping is found by field name.

/// A field of the packet: its layout name, its greatest width, and where its value lives in Rust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    pub field: &'static str,
    pub max_bits: usize,
    /// Expression below the body's (or the packet's) variables.
    pub place: &'static str,
    pub kind: SlotKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SlotKind {
    Bool,
    U8,
    U16,
    U32,
    U64,
    Ppsn,
    Msn,
    Vector,
    AckFlags,
    MakCode,
    AtomicOp,
    /// Filled in by the codec, not by the packet.
    Derived,
}

use SlotKind::*;

const fn slot(field: &'static str, max_bits: usize, place: &'static str, kind: SlotKind) -> Slot {
    Slot { field, max_bits, place, kind }
}

/// Fields of the common headers.
pub const COMMON: &[Slot] = &[
    slot("opcode", 8, "opcode", Derived),
    slot("se", 1, "se", Bool),
    slot("m", 1, "m", Bool),
    slot("pad", 2, "pad", Derived),
    slot("pkey", 16, "pkey", U16),
    slot("dest_qp", 24, "dest_qp", U32),
    slot("ack_req", 1, "ack_req", Bool),
    slot("ppsn", 24, "ppsn", Ppsn),
    slot("rtx", 1, "mph.rtx", Bool),
    slot("moved", 1, "mph.moved", Bool),
    slot("home", 8, "mph.home", U8),
    slot("tx_ts", 16, "mph.tx_ts", U16),
    slot("conn", 16, "mph.conn", U16),
    slot("via", 8, "mph.via", U8),
];

const FIRST: Slot = slot("first", 1, "msg.first", Bool);
const LAST: Slot = slot("last", 1, "msg.last", Bool);
const SOL: Slot = slot("sol", 1, "msg.sol", Bool);
const ATTEMPT: Slot = slot("attempt", 1, "msg.attempt", Bool);
const MSN: Slot = slot("msn", 24, "msg.msn", Msn);
const IMM: Slot = slot("imm", 1, "imm.is_some()", Derived);
const LENGTH: Slot = slot("length", 32, "length", U32);
const VA: Slot = slot("va", 64, "va", U64);
const RKEY: Slot = slot("rkey", 32, "rkey", U32);
const TAG: Slot = slot("tag", 32, "tag", U32);

const CONN: &[Slot] = &[
    slot("version", 8, "info.version", U8),
    slot("paths", 8, "info.paths", U8),
    slot("vector_bits", 16, "info.vector_bits", U16),
    slot("mtu_log2", 8, "info.mtu_log2", U8),
    slot("conn", 16, "info.conn", U16),
    slot("epoch", 8, "info.epoch", U8),
    slot("start_ppsn_seed", 32, "info.start_ppsn_seed", U32),
];

impl Slot {
    /// A narrower sequence number would wrap where the transport's arithmetic does not; other numbers may be shorter.
    pub fn min_bits(&self) -> usize {
        match self.kind {
            Ppsn | Msn => self.max_bits,
            MakCode | Vector => 8,
            _ => self.max_bits.min(2),
        }
    }
}

/// One opcode: its layout name, its variant of `Opcode` and `Body`, and its fields.
#[derive(Debug, Clone, Copy)]
pub struct Kind {
    pub name: &'static str,
    pub variant: &'static str,
    /// How the body is taken apart and put together.
    pub pattern: &'static str,
    pub slots: &'static [Slot],
    /// May carry immediate data: an `imm` flag and a `when_imm` header.
    pub imm: bool,
}

/// Flags and lengths a shared header may have although this opcode does not use them: sent as zero, ignored.
pub const IGNORED: &[&str] = &["imm", "fetch_add", "length"];

pub const KINDS: &[Kind] = &[
    Kind {
        name: "WRITE",
        variant: "Write",
        pattern: "{ msg, va, rkey, length, imm }",
        slots: &[FIRST, LAST, SOL, ATTEMPT, MSN, IMM, VA, RKEY, LENGTH],
        imm: true,
    },
    Kind {
        name: "SEND",
        variant: "Send",
        pattern: "{ msg, rq_seq, offset, length, imm }",
        slots: &[
            FIRST,
            LAST,
            SOL,
            ATTEMPT,
            MSN,
            IMM,
            slot("rq_seq", 24, "rq_seq", U32),
            slot("offset", 32, "offset", U32),
            LENGTH,
        ],
        imm: true,
    },
    Kind {
        name: "READ_REQ",
        variant: "ReadReq",
        pattern: "{ msg, va, rkey, length, tag }",
        slots: &[FIRST, LAST, SOL, ATTEMPT, MSN, VA, RKEY, LENGTH, TAG],
        imm: false,
    },
    Kind {
        name: "READ_RESP",
        variant: "ReadResp",
        pattern: "{ msg, offset, tag, length }",
        slots: &[FIRST, LAST, SOL, ATTEMPT, MSN, slot("va", 64, "offset", U64), slot("rkey", 32, "tag", U32), LENGTH],
        imm: false,
    },
    Kind {
        name: "ATOMIC_REQ",
        variant: "AtomicReq",
        pattern: "{ msg, op, va, rkey, swap_add, compare }",
        slots: &[
            FIRST,
            LAST,
            SOL,
            ATTEMPT,
            MSN,
            slot("fetch_add", 1, "op", AtomicOp),
            VA,
            RKEY,
            slot("swap_add", 64, "swap_add", U64),
            slot("compare", 64, "compare", U64),
        ],
        imm: false,
    },
    Kind {
        name: "ATOMIC_RESP",
        variant: "AtomicResp",
        pattern: "{ msg, value }",
        slots: &[FIRST, LAST, SOL, ATTEMPT, MSN, slot("value", 64, "value", U64)],
        imm: false,
    },
    Kind {
        name: "ERROR_RESP",
        variant: "ErrorResp",
        pattern: "{ msg, code }",
        slots: &[FIRST, LAST, SOL, ATTEMPT, MSN, slot("code", 8, "code", MakCode)],
        imm: false,
    },
    Kind { name: "NOP", variant: "Nop", pattern: "{ msg }", slots: &[FIRST, LAST, SOL, ATTEMPT, MSN], imm: false },
    Kind {
        name: "ACK",
        variant: "Ack",
        pattern: "(ack)",
        slots: &[
            slot("ts_echo", 16, "ack.ts_echo", U16),
            slot("service", 16, "ack.service", U16),
            slot("ce_packets", 16, "ack.ce_packets", U16),
            slot("dup_packets", 16, "ack.dup_packets", U16),
            slot("rx_packets", 16, "ack.rx_packets", U16),
            slot("flags", 16, "ack.flags", AckFlags),
            slot("rate", 24, "ack.rate", U32),
            slot("epoch", 8, "ack.epoch", U8),
            slot("vector", 256, "ack.vector", Vector),
            slot("qp", 24, "ack.mak.qp", U32),
            slot("code", 8, "ack.mak.code", MakCode),
            slot("msn", 24, "ack.mak.msn", Msn),
        ],
        imm: false,
    },
    Kind { name: "PROBE", variant: "Probe", pattern: "", slots: &[], imm: false },
    Kind { name: "PORT_STATUS", variant: "PortStatus", pattern: "", slots: &[], imm: false },
    Kind { name: "CONNECT", variant: "Connect", pattern: "(info)", slots: CONN, imm: false },
    Kind { name: "ACCEPT", variant: "Accept", pattern: "(info)", slots: CONN, imm: false },
    Kind { name: "CLOSE", variant: "Close", pattern: "(info)", slots: CONN, imm: false },
];

/// Flags of the acknowledgment and error codes of its message part.
pub const FLAGS: &[&str] = &["rnr", "probe_reply", "ts_valid", "nak"];
pub const CODES: &[&str] = &["ok", "bad_key", "access", "bounds", "bad_qp", "bad_opcode", "qp_error", "msg_length"];

/// Outer headers and the fields the codec reads and writes by name.
pub const OUTER: &[(&str, &[&str])] = &[
    ("ETH", &["dst_mac", "src_mac", "ethertype"]),
    ("VLAN", &["ethertype"]),
    ("IPV4", &["ecn", "total_length", "protocol", "checksum", "src", "dst"]),
    ("IPV6", &["ecn", "payload_length", "next_header", "src", "dst"]),
    ("UDP", &["src_port", "dst_port", "length"]),
];

/// Constants the codec uses by name.
pub const CONSTANTS: &[&str] = &[
    "ETHERTYPE_IPV4",
    "ETHERTYPE_IPV6",
    "ETHERTYPE_VLAN",
    "IP_PROTO_UDP",
    "ECN_ECT0",
    "ECN_CE",
    "UDP_PORT",
    "PATH_QP",
    "DEFAULT_PKEY",
    "RATE_UNLIMITED",
    "TIME_UNIT_NS",
    "PAD_TO_BYTES",
];

pub fn kind(name: &str) -> Option<&'static Kind> {
    KINDS.iter().find(|k| k.name == name)
}
