//! rx_core with READs and atomics (docs/protocol.md, section 11, D2, D3, D6, D7): when a request is taken and reached, what its CHECK and
//! FINISH do, which responses are placed where, which fail their message. The blocks behind it (request_places, executor, read_table) are
//! played by the test.
mod rx_support;

use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_core::RxCore;
use rx_support::Bench;
use std::collections::BTreeMap;

const WRITE: u64 = 0xE0;
const READ_REQ: u64 = 0xE2;
const READ_RESP: u64 = 0xE3;
const ATOMIC_REQ: u64 = 0xE4;
const ATOMIC_RESP: u64 = 0xE5;
const ERROR_RESP: u64 = 0xE6;
const VA: u64 = 0x1000;
const BUS: u64 = 0x8000_0000;
/// Of one clock of a step: which outputs, and their fields.
const OUTPUTS: &[(&str, &[&str])] = &[
    ("ask_look", &["ask_conn", "ask_qp", "ask_msn"]),
    ("ask_take", &[]),
    ("reached", &["reached_qp", "reached_msn", "reached_ticket"]),
    ("rsp_look", &["rsp_qp", "rsp_msn"]),
    ("rsp_take", &["rsp_kind", "rsp_offset", "rsp_length", "rsp_tag", "rsp_bytes"]),
    ("place_valid", &["place_write", "place_addr", "place_bytes", "place_own", "place_swap"]),
    ("nak_valid", &["nak_qp", "nak_msn", "nak_code"]),
    ("rxerr_valid", &["rxerr_qp"]),
    ("ackdesc_valid", &["ackdesc_flags", "ackdesc_mak_code", "ackdesc_mak_msn"]),
    ("check_done", &["check_code", "check_addr", "check_failed"]),
    ("finish_done", &["finish_ticket"]),
    (
        "commit_rx_valid",
        &["commit_rx_kind", "commit_rx_code", "commit_rx_rnr", "commit_rx_placed", "commit_rx_used", "commit_rx_exp"],
    ),
];

struct Core {
    bench: Bench,
    ppsn: u64,
}

/// The outputs of a step by name; none comes twice.
type Seen = BTreeMap<&'static str, Vec<u64>>;

impl Core {
    /// Queue pair 1 of connection 0, which may do everything; a key of 256 bytes with all rights, one without remote rights.
    fn new() -> Core {
        let config = BuildConfig { conns: 2, qps: 4, keys: 4, msgs_per_stream: 4, reads: true, ..build("sim").unwrap() };
        let bench = Bench::new("rx_core", move || RxCore::new(&config));
        let mut core = Core { bench, ppsn: 0 };
        let ready = ["place_ready", "ack_ready", "ackdesc_ready", "rxerr_ready", "pass_ready", "nak_ready"];
        for name in ready.into_iter().chain(["ask_reached_ok", "ask_early_ok", "rsp_room"]) {
            core.bench.set(name, 1);
        }
        core.bench.set("ack_every", 1);
        core.bench.set("ack_delay", 1000);
        core.bench.reset();
        core.cfg(2, 0, &[1, 0, 0]);
        core.cfg(1, 0, &[1 | 10 << 8]);
        core.open_qp();
        core.cfg(4, 0, &[0x1F | 7 << 8 | 9 << 16, VA as u32, 0, 256, 0, BUS as u32, 0]);
        core.cfg(4, 1, &[0x03 | 7 << 8 | 9 << 16, VA as u32, 0, 256, 0, BUS as u32, 0]);
        core
    }

    fn open_qp(&mut self) {
        self.cfg(3, 1, &[1 | 7 << 2, 0x55, 0, 0, 0, 0, 0, 9, 0, 0]);
    }

    /// With which code QP 1 has refused its peer, as software learns it; of QP 0 none.
    fn refusal(&mut self) -> u64 {
        let [other, own] = [0, 1].map(|qp| {
            self.bench.set("asked_qp", qp);
            self.bench.cycle();
            self.bench.get("refusal")
        });
        assert_eq!(other, 0);
        own
    }

    fn allow(&mut self, bits: u32) {
        self.cfg(6, 1, &[bits << 2]);
    }

    fn write_table(&mut self, table: u64, index: u64, words: &[u32]) {
        let mut data = [0; 16];
        data[..words.len()].copy_from_slice(words);
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", index);
        self.bench.set_words("cfg_data", &data);
        self.bench.set("cfg_valid", 1);
        self.bench.cycle();
        self.bench.set("cfg_valid", 0);
    }

    fn cfg(&mut self, table: u64, index: u64, words: &[u32]) {
        self.write_table(table, index, words);
        for _ in 0..200 {
            if self.bench.get("cfg_busy") == 0 {
                return;
            }
            self.bench.cycle();
        }
        panic!("cfg_busy for ever");
    }

    /// 30 clocks; `valid` goes down when `ready` was seen.
    fn run(&mut self, valid: &str, ready: &str) -> Seen {
        let mut seen = Seen::new();
        self.bench.set(valid, 1);
        for _ in 0..30 {
            self.bench.eval();
            let taken = self.bench.get(ready) == 1;
            for (name, fields) in OUTPUTS {
                if self.bench.get(name) == 1 {
                    let values = fields.iter().map(|f| self.bench.get(f)).collect();
                    assert_eq!(seen.insert(*name, values), None, "{name} twice");
                }
            }
            self.bench.cycle();
            if taken {
                self.bench.set(valid, 0);
            }
        }
        seen
    }

    /// The next packet of the path, for queue pair 1.
    fn packet(&mut self, opcode: u64, msn: u64, bytes: u64, fields: &[(&str, u64)]) -> Seen {
        let of_all = [("va", VA), ("rkey", 7), ("length", bytes), ("dest_qp", 1), ("error_code", 6)];
        for (name, value) in of_all.iter().chain(fields) {
            self.bench.set(&format!("hdr_{name}"), *value);
        }
        for (name, value) in [("opcode", opcode), ("msn", msn), ("payload_bytes", bytes), ("ppsn", self.ppsn)] {
            self.bench.set(&format!("hdr_{name}"), value);
        }
        self.ppsn += 1;
        self.run("hdr_valid", "hdr_ready")
    }

    /// CHECK of the request of queue pair 1.
    fn check(&mut self, msn: u64, atomic: bool, fields: &[(&str, u64)]) -> Seen {
        let of_all = [("qp", 1), ("msn", msn), ("atomic", atomic.into()), ("va", VA + 8), ("rkey", 7), ("length", 8)];
        for (name, value) in of_all.iter().chain(fields) {
            self.bench.set(&format!("run_{name}"), *value);
        }
        self.run("check_valid", "check_ready")
    }
}

/// kind, code, for now, placed, used, exp.
fn committed(seen: &Seen) -> [u64; 6] {
    seen["commit_rx_valid"][..].try_into().unwrap()
}

#[test]
fn exp_waits_for_a_read_that_is_checked_and_finished() {
    let mut core = Core::new();
    let seen = core.packet(WRITE, 1, 64, &[]);
    assert_eq!(committed(&seen), [0, 0, 0, 1, 0, 0], "it comes before the read");
    let seen = core.packet(READ_REQ, 0, 0, &[("length", 200), ("tag", 3)]);
    assert_eq!(seen["ask_look"], [0, 1, 0]);
    assert!(seen.contains_key("ask_take"));
    assert_eq!(seen["reached"], [1, 0, 1], "one write was ordered before");
    assert_eq!(committed(&seen), [0, 0, 0, 0, 0, 0]);
    let seen = core.packet(WRITE, 2, 64, &[]);
    assert_eq!(committed(&seen)[5], 0);
    assert!(!seen.contains_key("reached"));

    let seen = core.check(0, false, &[("length", 200)]);
    assert_eq!(seen["check_done"], [0, BUS + 8, 0]);
    assert!(!seen.contains_key("commit_rx_valid"), "a CHECK leaves no record");
    let seen = core.run("finish_valid", "finish_ready");
    assert_eq!(committed(&seen), [7, 0, 0, 0, 0, 3], "and the writes behind it");
    assert_eq!(seen["finish_done"], [2]);
    assert!(!seen.contains_key("place_valid") && !seen.contains_key("ackdesc_valid"));
}

#[test]
fn an_atomic_is_written_by_its_finish_and_the_next_request_is_reached() {
    let mut core = Core::new();
    let early = core.packet(ATOMIC_REQ, 1, 0, &[("operand", 5), ("fetch_add", 1), ("length", 77)]);
    assert!(early.contains_key("ask_take") && !early.contains_key("reached"));
    assert_eq!(core.packet(ATOMIC_REQ, 0, 0, &[])["reached"], [1, 0, 0]);
    assert_eq!(core.check(0, true, &[])["check_done"], [0, BUS + 8, 0]);
    for (name, value) in [("write", 1), ("addr", BUS + 8), ("data", 0x1122), ("value", 0x11)] {
        core.bench.set(&format!("run_{name}"), value);
    }
    let seen = core.run("finish_valid", "finish_ready");
    assert_eq!(seen["place_valid"], [1, BUS + 8, 8, 1, 0]);
    assert_eq!(core.bench.get("place_data"), 0x1122);
    assert_eq!(seen["finish_done"], [1]);
    assert_eq!(seen["reached"], [1, 1, 1], "behind that write");
    assert_eq!(committed(&seen)[5], 1);
}

#[test]
fn a_request_is_refused_by_its_key_its_address_or_for_want_of_a_place() {
    let mut core = Core::new();
    for (name, place, rnr, mak) in [("ask_reached_ok", 0, 1, 0x21), ("ask_reached_ok", 1, 0, 0)] {
        core.bench.set(name, place);
        let seen = core.packet(READ_REQ, 0, 0, &[("length", 8)]);
        assert_eq!(committed(&seen)[..3], [0, 0, rnr]);
        assert_eq!(seen.contains_key("ask_take"), rnr == 0);
        if rnr == 1 {
            assert_eq!((seen["ackdesc_valid"][0] & 1, seen["ackdesc_valid"][1]), (1, mak), "busy");
        }
        assert!(!seen.contains_key("rxerr_valid"));
    }
    type Case<'a> = (u64, &'a [(&'a str, u64)], u64);
    let cases: [Case; 5] = [
        (READ_REQ, &[("length", 8), ("rkey", 0x107)], 2),
        (READ_REQ, &[("length", 257)], 3),
        (READ_REQ, &[("length", 8), ("rkey", 8)], 1),
        (ATOMIC_REQ, &[("va", VA + 4)], 5),
        (ATOMIC_REQ, &[("va", VA + 256)], 3),
    ];
    for (opcode, fields, code) in cases {
        core.open_qp();
        assert_eq!(core.refusal(), 0);
        let seen = core.packet(opcode, 0, 0, fields);
        assert_eq!(committed(&seen)[..2], [0, code], "{fields:x?}");
        assert_eq!(seen["rxerr_valid"], [1], "R4");
        assert_eq!(core.refusal(), code);
        assert!(!seen.contains_key("ask_take") && !seen.contains_key("reached"));
    }
}

/// D2: opcode by opcode, what the queue pair allows, in its own row and in the row that changes it.
#[test]
fn each_opcode_needs_the_leave_of_the_queue_pair() {
    let mut core = Core::new();
    for (opcode, bit) in [(WRITE, 1), (READ_REQ, 2), (ATOMIC_REQ, 4)] {
        for (allowed, code) in [(7 & !bit, 2), (bit, 0)] {
            core.open_qp();
            core.allow(allowed);
            let seen = core.packet(opcode, 0, if opcode == WRITE { 8 } else { 0 }, &[("length", 8)]);
            assert_eq!(committed(&seen)[..4], [0, code, 0, u64::from(code == 0 && opcode == WRITE)], "{opcode:x} {allowed}");
            assert_eq!(seen.contains_key("rxerr_valid"), code == 2, "R4");
        }
        // without bytes no key is touched, but leave is needed all the same
        core.open_qp();
        core.allow(7 & !bit);
        assert_eq!(committed(&core.packet(opcode, 0, 0, &[("length", 0)]))[1], 2, "{opcode:x}");
        core.cfg(3, 1, &[1 | (7 & !bit) << 2, 0x55, 0, 0, 0, 0, 0, 9, 0, 0]);
        assert_eq!(committed(&core.packet(opcode, 0, 0, &[("length", 8)]))[1], 2, "{opcode:x}: by the row QP");
    }
}

/// R3, D2: opcode by opcode, the key belongs to another protection domain than the queue pair.
#[test]
fn each_opcode_needs_a_key_of_its_protection_domain() {
    let mut core = Core::new();
    for (opcode, bytes) in [(WRITE, 8), (READ_REQ, 0), (ATOMIC_REQ, 0)] {
        for (pd, code) in [(9, 0), (8, 2), (0x8009, 2)] {
            core.cfg(3, 1, &[1 | 7 << 2, 0x55, 0, 0, 0, 0, 0, pd, 0, 0]);
            assert_eq!(committed(&core.packet(opcode, 0, bytes, &[("length", 8)]))[1], code, "{opcode:x} in {pd}");
        }
    }
}

#[test]
fn a_key_that_is_gone_fails_the_queue_pair_and_tables_wait_for_the_finish() {
    let mut core = Core::new();
    core.packet(READ_REQ, 0, 0, &[("length", 8)]);
    // a right that is lacking stands for a key that is gone
    assert_eq!(core.check(0, false, &[("rkey", 0x107)])["check_done"][0], 2);
    core.write_table(4, 2, &[0]);
    for _ in 0..50 {
        core.bench.cycle();
        assert_eq!(core.bench.get("cfg_busy"), 1, "between CHECK and FINISH");
    }
    core.bench.set("run_code", 2);
    let seen = core.run("finish_valid", "finish_ready");
    assert_eq!(committed(&seen)[..2], [7, 2]);
    assert_eq!((seen["rxerr_valid"][0], core.refusal()), (1, 2));
    assert_eq!(core.bench.get("cfg_busy"), 0);
    assert_eq!(core.check(1, false, &[])["check_done"][2], 1, "it is in Error");
    core.cfg(4, 2, &[0]);
}

/// D8: so that its peer gives it up, too.
#[test]
fn a_connection_that_was_given_up_is_deaf_but_for_acknowledgments() {
    let mut core = Core::new();
    let give_up = |core: &mut Core, conn| {
        core.bench.set("cerr_valid", 1);
        core.bench.set("cerr_conn", conn);
        core.bench.cycle();
        core.bench.set("cerr_valid", 0);
        core.bench.cycle();
        core.bench.cycle();
    };
    give_up(&mut core, 1);
    assert_eq!(committed(&core.packet(WRITE, 0, 64, &[]))[0], 0, "another connection");
    give_up(&mut core, 0);
    for opcode in [WRITE, READ_REQ, READ_RESP, ERROR_RESP, 0xF2] {
        let seen = core.packet(opcode, 1, 0, &[]);
        assert_eq!(committed(&seen)[0], 3, "{opcode:x} is dropped");
        assert!(!seen.contains_key("ackdesc_valid") && !seen.contains_key("ask_take"));
    }
    assert_eq!(committed(&core.packet(0xF0, 1, 0, &[]))[0], 2, "an acknowledgment");
    core.cfg(1, 0, &[1 | 10 << 8]);
    core.ppsn = 0;
    assert_eq!(committed(&core.packet(WRITE, 1, 64, &[]))[0], 0, "it was opened again");
}

#[test]
fn a_response_goes_where_its_request_says_or_nowhere() {
    let mut core = Core::new();
    core.bench.set("rsp_addr", 0x4000);
    for (used, placed) in [(0, 0), (1, 1)] {
        core.bench.set("rsp_used", used);
        let seen = core.packet(READ_RESP, 5, 64, &[("va", 128), ("rkey", 9), ("length", 192)]);
        assert_eq!(seen["rsp_look"], [1, 5]);
        assert_eq!(committed(&seen), [0, 0, 0, placed, used, 0]);
        let addr = if placed == 1 { 0x4000 } else { seen["place_valid"][1] };
        assert_eq!(seen["place_valid"], [placed, addr, 64, 0, 0]);
        assert_eq!(seen.get("rsp_take").map(|v| v.as_slice()), (used == 1).then_some(&[0, 128, 192, 9, 64][..]));
        let seen = core.packet(ATOMIC_RESP, 6, 8, &[]);
        assert_eq!((seen["place_valid"][0], seen["place_valid"][4]), (placed, 1), "a number is turned around");
        let seen = core.packet(ERROR_RESP, 7, 0, &[]);
        assert_eq!(seen.get("nak_valid").map(|v| v.as_slice()), (used == 1).then_some(&[1, 7, 6][..]));
        assert!(!seen.contains_key("rsp_take") && !seen.contains_key("place_valid"));
    }
    let seen = core.packet(READ_RESP, 5, 64, &[("dest_qp", 2)]);
    assert_eq!(committed(&seen)[..5], [0, 0, 0, 0, 0], "no such queue pair: accepted, not placed");
}
