//! packet_builder, message_tail, row_gate and net_table: simulation = Verilog; the payload reads it asks for; one packet in five clocks.
mod block_support;
mod egress_bench;
mod rx_support;

use block_support::maker;
use egress_bench::config;
use mrnic_difftest::difftest;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::packet::{AskRow, MessageTail, MsgRow, NetTable, PacketBuilder, RowGate, SendRow};
use mrnic_nic::rx::request_places::rows::ResponseRow;
use mrnic_verilated::{build as verilate, Dut, ModelSpec};

/// Few rows and small FIFOs, so that addresses collide and back-pressure is frequent.
fn small() -> BuildConfig {
    let mut small =
        BuildConfig { conns: 4, qps: 4, msgs_per_stream: 4, sends: true, reads: true, sges: 4, ..config(64, "sim") };
    small.fifo.desc = 3;
    small.fifo.dr_outstanding = 2;
    small
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(PacketBuilder::new(&small()), clock: clock, inputs: {
        reset, fault, piece_room, msgrow_listed, msgpiece_write, msgpiece_at, msgpiece_addr, msgpiece_end, cfg_valid, cfg_table, cfg_index, cfg_data, msgrow_ask, msgrow_valid, msgrow_addr, msgrow_laddr, msgrow_raddr,
        msgrow_rkey, msgrow_length, msgrow_peer_qpn, msgrow_opcode, msgrow_imm, msgrow_rq_seq, msgrow_sol, msgrow_tag, msgrow_swap_add, msgrow_compare,
        rsprow_ask, rsprow_valid, rsprow_addr, rsprow_atomic, rsprow_base, rsprow_length, rsprow_tag, rsprow_peer_qpn, desc_valid, desc_kind, desc_conn, desc_home, desc_via, desc_ppsn,
        desc_rtx, desc_moved, desc_ack_req, desc_qp, desc_msn, desc_index, desc_bytes, desc_first, desc_last, desc_source, desc_attempt, desc_ts,
        desc_port, dr_desc_ready, header_ready
    })
    .top("packet_builder")
    .cycles(1500)
    .seed(1)
    .limit("cfg_table", 0..=2)
    .limit("cfg_index", 0..=3)
    .limit("msgrow_addr", 0..=15)
    .limit("rsprow_addr", 0..=15)
    .limit("msgrow_opcode", 0..=6)
    // pieces end within the first packets of a message
    .limit("msgpiece_end", 0..=3000)
    .limit("desc_index", 0..=3)
    .limit("desc_source", 0..=2)
    .limit("desc_kind", 0..=2)
    .limit("desc_conn", 0..=3)
    .limit("desc_qp", 0..=3)
    .limit("desc_bytes", 0..=4096)
    .source(
        "desc_valid",
        "desc_ready",
        &[
            "desc_kind",
            "desc_conn",
            "desc_home",
            "desc_via",
            "desc_ppsn",
            "desc_rtx",
            "desc_moved",
            "desc_ack_req",
            "desc_qp",
            "desc_msn",
            "desc_index",
            "desc_bytes",
            "desc_first",
            "desc_last",
            "desc_source",
            "desc_attempt",
            "desc_ts",
            "desc_port",
        ],
    )
    .sink("dr_desc_ready")
    .sink("header_ready")
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

maker!(msg_row: MsgRow { laddr, raddr, rkey, length, peer_qpn });
maker!(send_row: SendRow { has_imm, is_send, solicited, rq_seq, imm });
maker!(ask_row: AskRow { is_read, is_atomic, fetch_add, tag, swap_add, compare });
maker!(response_row: ResponseRow { atomic, base, length, tag, peer_qpn });

#[test]
fn message_tail_simulation_equals_verilog() {
    for (reads, operations) in [(true, 0..=7), (false, 0..=2)] {
        let report = difftest!(MessageTail::new(reads), clock: none, inputs: { operation, has_imm, va, offset, code })
            .input_as("row", |b| &mut b.row, msg_row)
            .input_as("send_row", |b| &mut b.send_row, send_row)
            .input_as("ask_row", |b| &mut b.ask_row, ask_row)
            .input_as("response_row", |b| &mut b.response_row, response_row)
            .top("message_tail")
            .cycles(500)
            .seed(4)
            .limit("operation", operations)
            .run();
        assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
    }
}

#[test]
fn row_gate_simulation_equals_verilog() {
    let report = difftest!(RowGate::new(), clock: clock, inputs: { reset, any, resends_next, outside, leaves, ask, written })
        .top("row_gate")
        .cycles(3000)
        .seed(3)
        .limit("resends_next", 0..=3)
        .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

#[test]
fn net_table_simulation_equals_verilog() {
    let report = difftest!(NetTable::new(5), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_data, read_conn
    })
    .top("net_table")
    .cycles(3000)
    .seed(2)
    .limit("cfg_table", 0..=2)
    .limit("cfg_index", 0..=4)
    .limit("read_conn", 0..=4)
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

struct Builder {
    dut: Dut,
}

impl Builder {
    fn new(config: &BuildConfig) -> Self {
        let design = mrnic_emit::emit(&PacketBuilder::new(config), "packet_builder").expect("emitted");
        let spec = ModelSpec { opt_level: 1, ..ModelSpec::new("packet_builder", design.verilog) };
        let mut dut = verilate(&spec, &mut |_| {}).expect("compiled").instance("packet_builder", 3);
        dut.input("reset").expect("a port").set_u64(1);
        dut.cycles(3);
        dut.input("reset").expect("a port").set_u64(0);
        dut.input("piece_room").expect("a port").set_u64(1);
        Self { dut }
    }

    fn set(&self, name: &str, value: u64) {
        self.dut.input(name).expect("a port").set_u64(value);
    }

    fn get(&self, name: &str) -> u64 {
        self.dut.output(name).expect("a port").get_u64()
    }

    /// Connection 1 with this MTU.
    fn open(&mut self, mtu_log2: u64) {
        self.set("cfg_valid", 1);
        self.set("cfg_table", 1);
        self.set("cfg_index", 1);
        self.set("cfg_data", 1 | mtu_log2 << 8);
        self.dut.cycle();
        self.set("cfg_valid", 0);
        self.dut.cycles(8);
    }
}

/// A resend may wait while its original is acknowledged and its message ends: the next message gets the row after it.
#[test]
fn a_row_is_written_after_the_resends_that_were_granted_before_it_asked() {
    let mut builder = Builder::new(&config(64, "sim"));
    builder.open(8);
    let desc = |builder: &mut Builder, rtx: u64| {
        for (name, value) in [("desc_conn", 1), ("desc_rtx", rtx), ("desc_bytes", 100), ("desc_valid", 1)] {
            builder.set(name, value);
        }
        builder.dut.cycle();
        builder.set("desc_valid", 0);
    };
    let ready = |builder: &Builder| builder.get("msgrow_ready") == 1;
    builder.set("dr_desc_ready", 1);
    builder.dut.cycle();
    assert!(ready(&builder), "nothing waits");
    desc(&mut builder, 0);
    builder.dut.cycle();
    assert!(ready(&builder), "what is sent for the first time cannot be acknowledged yet");
    // headers are not taken away, so descriptors stay
    builder.set("header_ready", 0);
    for _ in 0..config(64, "sim").fifo.dr_outstanding {
        desc(&mut builder, 0);
        builder.dut.cycles(8);
    }
    desc(&mut builder, 1);
    desc(&mut builder, 1);
    builder.set("msgrow_ask", 1);
    builder.dut.cycle();
    assert!(!ready(&builder));
    // it does not count for the row that has asked
    desc(&mut builder, 1);
    builder.set("header_ready", 1);
    let mut headers = 0;
    while !ready(&builder) && headers < 1000 {
        headers += builder.get("header_valid");
        builder.dut.cycle();
    }
    assert!(headers < 1000 && ready(&builder));
    builder.set("msgrow_valid", 1);
    builder.dut.cycle();
    builder.set("msgrow_valid", 0);
    builder.set("msgrow_ask", 0);
    builder.dut.cycles(50);
    assert!(ready(&builder));
}

/// The same of the row of a response; the two do not wait for one another.
#[test]
fn a_row_of_a_response_waits_for_resends_too() {
    let mut builder = Builder::new(&small());
    builder.open(8);
    builder.set("header_ready", 0);
    builder.set("dr_desc_ready", 1);
    for (name, value) in [("desc_conn", 1), ("desc_rtx", 1), ("desc_source", 2), ("desc_valid", 1)] {
        builder.set(name, value);
    }
    builder.dut.cycle();
    builder.set("desc_valid", 0);
    builder.set("rsprow_ask", 1);
    builder.dut.cycle();
    assert_eq!((builder.get("rsprow_ready"), builder.get("msgrow_ready")), (0, 0));
    builder.dut.cycles(10);
    assert_eq!(builder.get("rsprow_ready"), 1, "its header is made");
    builder.set("rsprow_valid", 1);
    builder.dut.cycle();
    for name in ["rsprow_valid", "rsprow_ask"] {
        builder.set(name, 0);
    }
    builder.dut.cycle();
    assert_eq!((builder.get("rsprow_ready"), builder.get("msgrow_ready")), (1, 1));
}

/// The same of a resend that finds no room in the FIFO: it was granted before the row asked, too.
#[test]
fn a_row_is_written_after_a_resend_that_waits_for_room() {
    let mut builder = Builder::new(&small());
    builder.open(8);
    builder.set("dr_desc_ready", 1);
    builder.set("header_ready", 0);
    for (name, value) in [("desc_conn", 1), ("desc_rtx", 0), ("desc_bytes", 100), ("desc_valid", 1)] {
        builder.set(name, value);
    }
    builder.dut.cycles(100);
    assert_eq!(builder.get("desc_ready"), 0, "the FIFO is full");
    builder.set("desc_rtx", 1);
    builder.dut.cycle();
    builder.set("msgrow_ask", 1);
    for _ in 0..20 {
        assert_eq!((builder.get("desc_ready"), builder.get("msgrow_ready")), (0, 0));
        builder.dut.cycle();
    }
    builder.set("header_ready", 1);
    // those in front of it, which the FIFO and the headers held, and the resend itself
    let (mut taken, mut headers, mut in_front) = (false, 0, 0);
    for _ in 0..1000 {
        if builder.get("msgrow_ready") == 1 {
            break;
        }
        headers += builder.get("header_valid");
        if !taken && builder.get("desc_ready") == 1 {
            (taken, in_front) = (true, small().fifo.desc as u64 - 1);
            builder.dut.cycle();
            builder.set("desc_valid", 0);
        } else {
            builder.dut.cycle();
        }
    }
    assert!(taken && builder.get("msgrow_ready") == 1);
    assert!(headers > in_front, "{headers} headers left, {in_front} descriptors were in front of the resend");
}

/// N2: a resend that was granted before its message began again leaves with the attempt of then, though it leaves afterwards.
#[test]
fn n2_a_packet_has_the_attempt_of_its_slot() {
    let config = BuildConfig { sends: true, ..config(64, "sim") };
    let mut builder = Builder::new(&config);
    builder.open(8);
    builder.set("dr_desc_ready", 1);
    let row = 3 * config.msgs_per_stream as u64 + 5;
    for (name, value) in [("msgrow_addr", row), ("msgrow_opcode", 2), ("msgrow_peer_qpn", 9), ("msgrow_valid", 1)] {
        builder.set(name, value);
    }
    builder.dut.cycle();
    builder.set("msgrow_valid", 0);
    // headers are not taken away, so the first resend is still here when the second attempt is granted
    builder.set("header_ready", 0);
    let attempts = [0, 0, 1, 0, 1, 1];
    for attempt in attempts {
        for (name, value) in [("conn", 1), ("qp", 3), ("msn", 5), ("bytes", 100), ("rtx", 1), ("attempt", attempt)] {
            builder.set(&format!("desc_{name}"), value);
        }
        builder.set("desc_valid", 1);
        builder.dut.cycle();
        builder.set("desc_valid", 0);
        builder.dut.cycles(8);
    }
    builder.set("header_ready", 1);
    let mut headers = vec![];
    for _ in 0..200 {
        builder.dut.eval();
        if builder.get("header_valid") == 1 {
            headers.push(builder.dut.output("header_bits").expect("a port").to_words());
        }
        builder.dut.cycle();
    }
    assert_eq!(headers.len(), attempts.len());
    for (n, attempt) in attempts.iter().enumerate() {
        assert_eq!(headers[n] == headers[0], *attempt == 0, "packet {n}: only the attempt tells them apart");
        assert_eq!(headers[n] == headers[2], *attempt == 1, "packet {n}");
    }
}

/// Pieces of a message in their order, those without bytes left out; a piece that ends with a packet; one that several packets are read from.
#[test]
fn reads_are_those_of_the_pieces() {
    let config = BuildConfig { sges: 4, ..config(64, "sim") };
    let mut builder = Builder::new(&config);
    builder.open(8);
    builder.set("header_ready", 1);
    builder.set("dr_desc_ready", 1);
    // 100, 0, 156 and 700 bytes: the third ends with the first packet
    let (places, ends) = ([0xFFFF_FFFF_FFFF_FFF0u64, 0x2000, 0x3001, 0x1_0000_0007], [100u64, 100, 256, 956]);
    builder.set("msgrow_addr", 5);
    builder.set("msgpiece_write", 1);
    for (at, (addr, end)) in places.into_iter().zip(ends).enumerate() {
        for (name, value) in [("at", at as u64), ("addr", addr), ("end", end)] {
            builder.set(&format!("msgpiece_{name}"), value);
        }
        builder.dut.cycle();
    }
    builder.set("msgpiece_write", 0);
    for (row, listed) in [(5, 1), (6, 0)] {
        for (name, value) in [("addr", row), ("listed", listed), ("laddr", 0x77), ("valid", 1)] {
            builder.set(&format!("msgrow_{name}"), value);
        }
        builder.dut.cycle();
    }
    builder.set("msgrow_valid", 0);
    let last = places[3];
    // address, bytes, whether the last
    type Read = (u64, u64, u64);
    // message, packet, its bytes and reads
    let cases: [(u64, u64, u64, Vec<Read>); 7] = [
        (5, 0, 256, vec![(places[0], 100, 0), (places[2], 156, 1)]),
        (5, 1, 256, vec![(last, 256, 1)]),
        (5, 3, 188, vec![(last + 512, 188, 1)]),
        (5, 0, 100, vec![(places[0], 100, 1)]),
        (5, 0, 0, vec![]),
        (6, 1, 9, vec![(0x77 + 256, 9, 1)]),
        (5, 0, 101, vec![(places[0], 100, 0), (places[2], 1, 1)]),
    ];
    for (msn, index, bytes, expected) in cases {
        for (name, value) in [("conn", 1), ("msn", msn), ("index", index), ("bytes", bytes), ("valid", 1)] {
            builder.set(&format!("desc_{name}"), value);
        }
        let (mut told, mut reads, mut headers) = (Vec::new(), Vec::new(), 0);
        for clock in 0..40 {
            builder.dut.eval();
            headers += builder.get("header_valid");
            if builder.get("piece_write") == 1 {
                told.push((builder.get("piece_bytes"), builder.get("piece_ends")));
            }
            if builder.get("dr_desc_valid") == 1 {
                assert!(headers > 0 || msn != 5, "the header goes first");
                reads.push((builder.get("dr_desc_addr"), builder.get("dr_desc_len")));
            }
            builder.dut.cycle();
            builder.set("desc_valid", 0);
            // its neighbour has room for a read now and then
            builder.set("piece_room", u64::from(clock % 3 == 0));
        }
        let all: Vec<_> = reads.iter().zip(&told).map(|(read, told)| (read.0, read.1, told.1)).collect();
        assert_eq!(all, expected, "packet {index} of message {msn}");
        assert!(reads.iter().zip(&told).all(|(read, told)| read.1 == told.0) && reads.len() == told.len() && headers == 1);
    }
}

/// Section 7, offsets; S6: no read for a NOP.
#[test]
fn reads_are_those_of_the_chunks() {
    let config = config(64, "sim");
    let mut builder = Builder::new(&config);
    let (laddr, m) = (0xFFFF_FFFF_0000_1234u64, config.msgs_per_stream as u64);
    // MSN 2^24 - 1 shares its row with none of 0 .. M-2.
    for (qp, msn) in [(3u64, 0xFF_FFFFu64), (3, 0), (0, 5)] {
        builder.set("msgrow_valid", 1);
        builder.set("msgrow_addr", qp * m + msn % m);
        builder.set("msgrow_laddr", laddr.wrapping_add(qp << 40 | msn << 4));
        builder.dut.cycle();
    }
    builder.set("msgrow_valid", 0);
    builder.set("header_ready", 1);
    builder.set("dr_desc_ready", 1);
    for mtu_log2 in 8..=12 {
        builder.open(mtu_log2);
        let mut reads = Vec::new();
        let mut expected = Vec::new();
        let last_index = (1u64 << (31 - mtu_log2)) - 1;
        let mut descs = Vec::new();
        for (qp, msn) in [(3u64, 0xFF_FFFFu64), (3, 0), (0, 5)] {
            for (kind, index, bytes) in
                [(0u64, 0u64, 1 << mtu_log2), (0, 7, 1), (1, 3, 100), (0, last_index, 255), (2, 0, 9), (0, 1, 0)]
            {
                if kind == 0 && bytes > 0 {
                    let base = laddr.wrapping_add(qp << 40 | msn << 4);
                    expected.push((base.wrapping_add(index << mtu_log2), bytes));
                }
                descs.push((kind, qp, msn, index, bytes));
            }
        }
        let (mut sent, mut headers) = (0, 0);
        for _ in 0..200 {
            if let Some((kind, qp, msn, index, bytes)) = descs.get(sent) {
                builder.set("desc_conn", 1);
                for (name, value) in [("kind", *kind), ("qp", *qp), ("msn", *msn), ("index", *index), ("bytes", *bytes)] {
                    builder.set(&format!("desc_{name}"), value);
                }
            }
            builder.set("desc_valid", u64::from(sent < descs.len()));
            builder.dut.eval();
            if sent < descs.len() {
                sent += builder.get("desc_ready") as usize;
            }
            headers += builder.get("header_valid");
            if builder.get("dr_desc_valid") == 1 {
                reads.push((builder.get("dr_desc_addr"), builder.get("dr_desc_len")));
            }
            builder.dut.cycle();
        }
        assert_eq!(reads, expected, "MTU 2^{mtu_log2}");
        assert_eq!(headers, descs.len() as u64);
    }
}

#[test]
fn as_many_reads_are_outstanding_as_configured() {
    let mut config = config(64, "sim");
    config.fifo.dr_outstanding = 6;
    let mut builder = Builder::new(&config);
    builder.open(12);
    builder.set("header_ready", 0);
    builder.set("dr_desc_ready", 1);
    builder.set("desc_valid", 1);
    builder.set("desc_conn", 1);
    builder.set("desc_bytes", 64);
    let mut reads = 0;
    let mut at = Vec::new();
    for cycle in 0..100 {
        builder.dut.eval();
        if builder.get("dr_desc_valid") == 1 {
            reads += 1;
            at.push(cycle);
        }
        builder.dut.cycle();
    }
    assert_eq!(reads, 6);
    assert!(at.windows(2).all(|w| w[1] - w[0] == 5), "one descriptor in five clocks: {at:?}");
}
