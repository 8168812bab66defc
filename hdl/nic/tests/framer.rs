//! The whole way from descriptors to frames: byte for byte what `mrnic_wire` emits, at every width, and its speed.
mod egress_bench;

use egress_bench::*;
use mrnic_difftest::difftest;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::packet::Framer;
use rand::{rngs::SmallRng, Rng, SeedableRng};

const QPS: u64 = 4;
const WRITE: Message = Message {
    laddr: 0x1000,
    raddr: 0x2000,
    rkey: 1,
    length: 1 << 30,
    peer_qpn: 7,
    opcode: 0,
    tag: 0,
    swap_add: 0,
    compare: 0,
    imm: 0,
    rq_seq: 0,
    sol: false,
    attempt: false,
    pieces: [None; 4],
};

fn sizes(mtu: u64) -> Vec<u64> {
    let mut sizes: Vec<u64> = (0..=9).chain(60..=68).chain([127, 128, 129, 255]).collect();
    sizes.extend([mtu - 1, mtu, mtu - 61, mtu - 82 % 64]);
    sizes.retain(|s| *s <= mtu);
    sizes
}

/// Opens connections of both IP versions and one message for each (QP, MSN).
fn prepared(config: BuildConfig, seed: u64) -> (Bench, Vec<Conn>, SmallRng) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut bench = Bench::new(config, seed);
    let conns: Vec<Conn> = (0..4).map(|k| random_conn(&mut rng, k % 2 == 1)).collect();
    for (k, conn) in conns.iter().enumerate() {
        bench.open(k as u64, *conn);
        for path in 0..8 {
            bench.set_path(k as u64, path, rng.random());
        }
    }
    for qp in 0..QPS {
        for msn in 0..4 {
            let message = Message {
                laddr: if msn == 3 { u64::MAX - 5000 } else { rng.random() },
                raddr: rng.random(),
                rkey: rng.random(),
                length: rng.random(),
                peer_qpn: rng.random_range(0..1 << 24),
                ..WRITE
            };
            let message = match config.sends {
                true => {
                    let opcode = (qp * 4 + u64::from(msn)) % if config.reads { 7 } else { 4 };
                    let sol = (1..4).contains(&opcode) && rng.random();
                    let (tag, swap_add, compare) = (rng.random(), rng.random(), rng.random());
                    let message = Message { tag, swap_add, compare, ..message };
                    let attempt = rng.random();
                    Message { opcode, sol, attempt, imm: rng.random(), rq_seq: rng.random_range(0..1 << 24), ..message }
                }
                false => message,
            };
            let pieces = config.sges > 1 && message.opcode < 4 && rng.random_bool(0.8);
            let message = match pieces {
                true => Message { pieces: random_pieces(&mut rng, config.sges), ..message },
                false => message,
            };
            bench.write_message(qp, msn, message);
            if config.reads {
                let (base, length, tag, peer_qpn) = (rng.random(), rng.random(), rng.random(), rng.random_range(0..1 << 24));
                bench.write_response(qp, msn, Response { atomic: rng.random(), base, length, tag, peer_qpn });
            }
        }
    }
    (bench, conns, rng)
}

/// At least two; short and long ones, some without bytes.
fn random_pieces(rng: &mut SmallRng, most: usize) -> Pieces {
    let count = rng.random_range(2..=most);
    std::array::from_fn(|k| {
        let bytes = match rng.random_range(0..6) {
            0 => 0,
            1 | 2 => rng.random_range(1..20),
            3 => 64 * rng.random_range(1..4),
            _ => rng.random_range(1..5000),
        };
        (k < count).then(|| (rng.random(), if k == 0 { bytes.max(1) } else { bytes }))
    })
}

fn random_desc(rng: &mut SmallRng, conns: &[Conn], kind: u64, bytes: u64) -> Desc {
    let conn = rng.random_range(0..conns.len());
    Desc {
        kind,
        conn: conn as u64,
        home: rng.random_range(0..8),
        via: rng.random_range(0..8),
        ppsn: if rng.random_bool(0.1) { 0xFF_FFFF } else { rng.random_range(0..1 << 24) },
        rtx: rng.random(),
        moved: rng.random(),
        ack_req: rng.random(),
        qp: rng.random_range(0..QPS),
        msn: rng.random_range(0..4),
        index: rng.random_range(0..1 << (31 - conns[conn].mtu_log2)),
        bytes: bytes.min(1 << conns[conn].mtu_log2),
        first: rng.random(),
        last: rng.random(),
        source: 0,
        ts: rng.random(),
        port: rng.random(),
    }
}

/// Of a message, of a response or an ERROR_RESP; without payload where there is none.
fn of_some_source(bench: &Bench, rng: &mut SmallRng, desc: Desc) -> Desc {
    if !bench.config.reads {
        return inside(bench, desc);
    }
    let desc = match rng.random_range(0..3) {
        2 if desc.kind == KIND_DATA => {
            Desc { source: 2, qp: rng.random_range(1..7), index: rng.random_range(0..1 << 24), ..desc }
        }
        source => Desc { source: source % 2, ..desc },
    };
    match bench.has_payload(&desc) {
        true => inside(bench, desc),
        // one packet; the index of an ERROR_RESP says whom it is for
        false => Desc { bytes: 0, index: if desc.source == 2 { desc.index } else { 0 }, ..desc },
    }
}

/// A packet of a message in pieces has no more than those.
fn inside(bench: &Bench, desc: Desc) -> Desc {
    let Some(bytes) = bench.bytes_in_pieces(&desc) else { return desc };
    let mtu = bench.mtu_bytes(desc.conn);
    let index = desc.index % bytes.div_ceil(mtu);
    Desc { index, bytes: desc.bytes.min(bytes - index * mtu), ..desc }
}

fn frames_are_those_of_the_codec(config: BuildConfig, seed: u64) {
    let (mut bench, conns, mut rng) = prepared(config, seed);
    let mut descs = Vec::new();
    for conn in &conns {
        for size in sizes(1 << conn.mtu_log2) {
            let desc = random_desc(&mut rng, &conns, KIND_DATA, size);
            descs.push(of_some_source(&bench, &mut rng, desc));
            if rng.random_bool(0.3) {
                let bytes = rng.random_range(0..4096);
                let kind = if rng.random() { KIND_NOP } else { KIND_PROBE };
                let desc = random_desc(&mut rng, &conns, kind, bytes);
                descs.push(of_some_source(&bench, &mut rng, desc));
            }
        }
    }
    let acks: Vec<AckDesc> = (0..descs.len()).map(|k| random_ack(&mut rng, k as u64 % 4)).collect();
    let paces = [
        Pace::FULL,
        Pace { desc: 0.5, ack: 0.1, dma_desc: 0.5, dma_data: 0.7, mac: 0.6 },
        Pace { mac: 0.2, ..Pace::FULL },
        Pace { dma_desc: 0.05, dma_data: 0.3, ..Pace::FULL },
    ];
    for pace in paces {
        bench.check(&descs, &acks, pace);
    }
    // Each alone.
    bench.check(&descs, &[], Pace::FULL);
    bench.check(&[], &acks, Pace::FULL);
}

#[test]
fn frames_64() {
    frames_are_those_of_the_codec(config(64, "sim"), 1);
}

#[test]
fn frames_128() {
    frames_are_those_of_the_codec(config(128, "sim"), 2);
}

#[test]
fn frames_512() {
    frames_are_those_of_the_codec(config(512, "bench512"), 3);
}

#[test]
fn frames_with_the_smallest_fifos() {
    frames_are_those_of_the_codec(config(128, "sim_min"), 4);
}

/// Section 11: WRITE and SEND, with and without immediate; with the smallest FIFOs also out of up to four pieces.
#[test]
fn frames_of_all_operations() {
    for (width, fifos, sges, seed) in [(64, "sim", 1, 5), (128, "sim_min", 4, 6), (512, "bench512", 1, 7)] {
        frames_are_those_of_the_codec(BuildConfig { sends: true, sges, ..config(width, fifos) }, seed);
    }
}

/// The same with READs, atomics, their responses and ERROR_RESPs; lists of two and of four pieces.
#[test]
fn frames_of_reads_atomics_and_lists() {
    for (width, fifos, sges, seed) in [(64, "sim", 2, 8), (512, "bench512", 4, 9)] {
        frames_are_those_of_the_codec(BuildConfig { sends: true, reads: true, sges, ..config(width, fifos) }, seed);
    }
}

/// Frames of one size at full speed: beats and cycles of `count` of them.
fn speed(width: usize, bytes: u64, ipv6: bool, opcode: u64, count: u64) -> (u64, u64) {
    let mut bench = Bench::new(BuildConfig { sends: opcode > 0, ..config(width, "bench512") }, 9);
    let conn = Conn { mtu_log2: 12, ..random_conn(&mut SmallRng::seed_from_u64(9), ipv6) };
    bench.open(0, conn);
    bench.write_message(0, 0, Message { opcode, ..WRITE });
    let desc = |index| Desc {
        kind: KIND_DATA,
        conn: 0,
        home: 0,
        via: 0,
        ppsn: index as u32,
        rtx: false,
        moved: false,
        ack_req: false,
        qp: 0,
        msn: 0,
        index,
        bytes,
        first: false,
        last: false,
        source: 0,
        ts: 0,
        port: 0xC000,
    };
    let descs: Vec<Desc> = (0..count).map(desc).collect();
    let cycles = bench.check(&descs, &[], Pace::FULL);
    let frame_bytes = bench.expected_packet(&descs[0]).len() as u64;
    let beats = frame_bytes.div_ceil(width as u64 / 8) * count;
    println!("width {width}, payload {bytes}, ipv6 {ipv6}: {count} frames, {beats} beats, {cycles} cycles");
    (beats, cycles)
}

#[test]
fn no_more_than_two_idle_cycles_a_full_packet() {
    for width in [64, 128, 512] {
        for ipv6 in [false, true] {
            for opcode in [0, 3] {
                let (beats, cycles) = speed(width, 4096, ipv6, opcode, 40);
                assert!(cycles <= beats + 2 * 40, "width {width}: {cycles} cycles for {beats} beats");
            }
        }
    }
}

#[test]
fn a_small_write_takes_at_most_eight_cycles_at_512_bits() {
    let count = 200;
    for opcode in [0, 2] {
        let (_, cycles) = speed(512, 64, false, opcode, count);
        assert!(cycles <= 8 * count, "{cycles} cycles for {count} frames");
    }
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(Framer::<64, 8>::new(true), clock: clock, inputs: {
        reset, ack_valid, ack_header, ack_header_bytes, ack_ipv6, packet_valid, packet_header, packet_header_bytes,
        packet_payload_bytes, packet_ipv6, packet_layout, dr_valid, dr_data, mac_tx_tready
    })
    .top("framer")
    .cycles(2500)
    .seed(1)
    .source("ack_valid", "ack_ready", &["ack_header", "ack_header_bytes", "ack_ipv6"])
    .source(
        "packet_valid",
        "packet_ready",
        &["packet_header", "packet_header_bytes", "packet_payload_bytes", "packet_ipv6", "packet_layout"],
    )
    .source("dr_valid", "dr_ready", &["dr_data"])
    .sink("mac_tx_tready")
    .stimulus(|random, _, inputs| {
        // Headers of the lengths there are; payloads mostly short, so that many frames fit into the run.
        for (stream, lengths) in [("ack", &[118u32, 138][..]), ("packet", &[82, 102, 66, 86, 62, 78, 90, 98, 110])] {
            let waiting = inputs.previous(&format!("{stream}_valid")) == 1 && inputs.sampled(&format!("{stream}_ready")) == 0;
            if !waiting {
                inputs.set(&format!("{stream}_header_bytes"), *random.pick(lengths));
                if stream == "packet" {
                    inputs.set("packet_payload_bytes", *random.pick(&[0u32, 1, 2, 3, 4, 7, 8, 9, 63, 64, 65, 200]));
                }
            }
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}
