//! rx_fields against the codec of mrnic_wire on good frames and, on any bytes, against docs/wire.md read field by field;
//! simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{combinational, pick, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::rx::rx_fields::{RxChecked, RxFields, Uses};
use mrnic_nic::rx::rx_rows::{RxAckHeader, RxHeader, RxRequestHeader};
use mrnic_verilated::Dut;
use mrnic_wire::{
    emit_packet, parse_packet, Ack, AckFlags, AtomicOp, Body, Mak, MakCode, Msg, Msn, NetAddr, OpenMr0, Packet, Ppsn, Profile,
    SackVector, WriteImm,
};
use rx_support::Rng;

/// The beats of the simulation build.
const W: usize = 128;
const NB: usize = 9;
const BYTES: usize = W / 8 * NB;

/// A field of a frame by the tables of docs/wire.md; `opcode` is one whose packets have the header.
fn read(frame: &[u8], vlan: bool, ipv6: bool, opcode: &str, header: &str, name: &str) -> u64 {
    let layout = OpenMr0::LAYOUT;
    let field = layout.field(header, name).expect("a field of the layout");
    let tag = if vlan { 4 } else { 0 };
    let ip = 14 + tag;
    let at = match header {
        "IPV4" | "IPV6" => ip,
        "UDP" => ip + if ipv6 { 40 } else { 20 },
        _ => {
            let place = layout.offset(opcode, header).expect("a header of the opcode");
            tag + if ipv6 { place.ipv6_bytes } else { place.ipv4_bytes }
        }
    };
    field.read(&frame[at..]).expect("at most 64 bits")
}

const HEADER: &[(&str, &str, &str)] = &[
    ("opcode", "BTH", "opcode"),
    ("ack_req", "BTH", "ack_req"),
    ("ppsn", "BTH", "ppsn"),
    ("dest_qp", "BTH", "dest_qp"),
    ("home", "MPH", "home"),
    ("via", "MPH", "via"),
    ("conn", "MPH", "conn"),
    ("rtx", "MPH", "rtx"),
    ("tx_ts", "MPH", "tx_ts"),
    ("msn", "MSGH", "msn"),
    ("first", "MSGH", "first"),
    ("last", "MSGH", "last"),
    ("va", "PLH", "va"),
    ("rkey", "PLH", "rkey"),
    ("length", "PLH", "length"),
];
const ACK: &[(&str, &str, &str)] = &[
    ("ts_echo", "AKH", "ts_echo"),
    ("service", "AKH", "service"),
    ("ce", "AKH", "ce_packets"),
    ("dup", "AKH", "dup_packets"),
    ("flags", "AKH", "flags"),
    ("rate", "AKH", "rate"),
    ("mak_qp", "MAK", "qp"),
    ("mak_code", "MAK", "code"),
    ("mak_msn", "MAK", "msn"),
];

/// Of a SEND: the same names, and those that a WRITE has in IMMH.
const SEND: &[(&str, &str, &str)] = &[("va", "SNDH", "offset"), ("length", "SNDH", "length"), ("rq_seq", "SNDH", "rq_seq")];

/// A name of the block, header, field.
type Place = (&'static str, &'static str, &'static str);
/// Of requests and responses: by opcode, what has the names of a WRITE's fields.
const BY_OPCODE: &[(u64, &str, &[Place])] = &[
    (0xE2, "READ_REQ", &[("va", "RDH", "va"), ("rkey", "RDH", "rkey"), ("length", "RDH", "length")]),
    (0xE3, "READ_RESP", &[("va", "PLH", "va"), ("rkey", "PLH", "rkey"), ("length", "PLH", "length")]),
    (0xE4, "ATOMIC_REQ", &[("va", "ATH", "va"), ("rkey", "ATH", "rkey")]),
];
/// And what a WRITE does not have.
const REQUEST: &[(&str, &str, &str, &str)] = &[
    ("tag", "READ_REQ", "RDH", "tag"),
    ("operand", "ATOMIC_REQ", "ATH", "swap_add"),
    ("compare", "ATOMIC_REQ", "ATH", "compare"),
    ("fetch_add", "ATOMIC_REQ", "MSGH", "fetch_add"),
    ("error_code", "ERROR_RESP", "ERH", "code"),
];

/// What docs/wire.md says of the bytes, whatever they are: header, ACK, request, what is checked, the IPv4 header.
fn reference(frame: &[u8], vlan: bool, ipv6: bool, uses: Uses) -> (Packed, Packed, Packed, Packed, Vec<u8>) {
    let of = |opcode, header, name| read(frame, vlan, ipv6, opcode, header, name);
    let ip = |v4, v6| if ipv6 { of("WRITE", "IPV6", v6) } else { of("WRITE", "IPV4", v4) };
    let mut header = Packed::zero::<RxHeader>();
    for (name, from, field) in HEADER {
        header.set(name, of("WRITE", from, field));
    }
    header.set("udp_src", of("", "UDP", "src_port"));
    if uses.sends {
        let opcode = if of("WRITE", "BTH", "opcode") == 0xE1 { "SEND" } else { "WRITE" };
        header.set("rq_seq", of(opcode, "IMMH", "rq_seq"));
        header.set("imm", of(opcode, "IMMH", "immediate"));
        header.set("has_imm", of(opcode, "MSGH", "imm"));
        header.set("sol", of(opcode, "MSGH", "sol"));
        header.set("attempt", of(opcode, "MSGH", "attempt"));
        for (name, from, field) in SEND.iter().filter(|_| opcode == "SEND") {
            header.set(name, of("SEND", from, field));
        }
    }
    let mut request = Packed::zero::<RxRequestHeader>();
    if uses.reads {
        for (_, opcode, fields) in BY_OPCODE.iter().filter(|o| o.0 == of("WRITE", "BTH", "opcode")) {
            fields.iter().for_each(|(name, from, field)| {
                header.set(name, of(opcode, from, field));
            });
        }
        for (name, opcode, from, field) in REQUEST {
            request.set(name, of(opcode, from, field));
        }
    }
    header.set("ecn_ce", u64::from(ip("ecn", "ecn") == 3));
    let mut ack = Packed::zero::<RxAckHeader>();
    for (name, from, field) in ACK {
        ack.set(name, of("ACK", from, field));
    }
    // bit 0 is the least significant bit of the last byte
    let sav = OpenMr0::LAYOUT.offset("ACK", "SAV").expect("a header of ACK");
    let at = if ipv6 { sav.ipv6_bytes } else { sav.ipv4_bytes } + if vlan { 4 } else { 0 };
    let vector: Vec<bool> = (0..256).map(|i| frame[at + 31 - i / 8] >> (i % 8) & 1 == 1).collect();
    ack.set_vector("sav", &vector);
    let mut checked = Packed::zero::<RxChecked>();
    let ip_good = if ipv6 {
        ip("", "version") == 6
    } else {
        ip("version", "") == 4 && ip("ihl", "") == 5 && ip("more_fragments", "") == 0 && ip("fragment_offset", "") == 0
    };
    for (name, value) in [
        ("length", ip("total_length", "payload_length")),
        ("protocol", ip("protocol", "next_header")),
        ("port", of("", "UDP", "dst_port")),
        ("udp_length", of("", "UDP", "length")),
        ("pad", of("WRITE", "BTH", "pad")),
        ("imm", of("WRITE", "MSGH", "imm")),
        ("ip_good", ip_good.into()),
        ("bth_good", u64::from(of("WRITE", "BTH", "tver") == 0)),
        ("path_header_good", u64::from(of("WRITE", "MPH", "version") == 0)),
    ] {
        checked.set(name, value);
    }
    let start = if vlan { 18 } else { 14 };
    (header, ack, request, checked, frame[start..start + 20].to_vec())
}

fn dut(uses: Uses) -> Dut {
    combinational("rx_fields", move || RxFields::<W, NB>::new(uses))
}

fn feed(dut: &mut Dut, frame: &[u8], vlan: bool, ipv6: bool) {
    for (k, beat) in frame.chunks(W / 8).enumerate() {
        dut.input(&format!("beat_{k}")).unwrap().set_bytes(beat);
    }
    dut.input("vlan").unwrap().set_u64(vlan.into());
    dut.input("ipv6").unwrap().set_u64(ipv6.into());
    dut.eval();
}

fn output<T: rust_hdl_core::prelude::Synth>(dut: &Dut, name: &str) -> Packed {
    Packed::from_words::<T>(&dut.output(name).unwrap().to_words())
}

#[test]
fn every_field_of_any_bytes_stands_where_the_tables_say() {
    for (sends, reads) in [(false, false), (true, false), (true, true)] {
        every_field(Uses { sends, reads });
    }
}

fn every_field(uses: Uses) {
    let mut rng = Rng(seed(1));
    let mut dut = dut(uses);
    let mut goods = [0; 4];
    for round in 0..4000 {
        let mut frame: Vec<u8> = match round {
            0 => vec![0; BYTES],
            1 => vec![0xFF; BYTES],
            _ => (0..BYTES).map(|_| rng.next() as u8).collect(),
        };
        let (vlan, ipv6) = (rng.chance(50), rng.chance(50));
        // near what is good: the first byte of IP, fragments, the versions of BTH and MPH; then perhaps one bit of it wrong
        if rng.chance(70) && round > 1 {
            let ip = if vlan { 18 } else { 14 };
            let transport = ip + if ipv6 { 48 } else { 28 };
            frame[ip] = if ipv6 { 0x60 | frame[ip] & 0xF } else { 0x45 };
            if !ipv6 {
                frame[ip + 6] = pick(&mut rng, &[0, 0x40]);
                frame[ip + 7] = 0;
            }
            frame[transport + 1] &= 0xF0;
            frame[transport + 12] &= 0x0F;
            let at = pick(&mut rng, &[ip, ip, ip + 6, ip + 7, transport + 1, transport + 12]);
            frame[at] ^= pick(&mut rng, &[0, 1, 2, 4, 8, 16, 32, 64, 128]);
        }
        if rng.chance(40) && round > 1 {
            frame[if vlan { 18 } else { 14 } + if ipv6 { 48 } else { 28 }] =
                pick(&mut rng, &[0xE1, 0xE1, 0xE2, 0xE3, 0xE4, 0xE6]);
        }
        feed(&mut dut, &frame, vlan, ipv6);
        let (header, ack, request, checked, words) = reference(&frame, vlan, ipv6, uses);
        let form = format!("round {round}: vlan {vlan} ipv6 {ipv6} {frame:02x?}");
        assert_eq!(output::<RxHeader>(&dut, "header"), header, "{form}");
        assert_eq!(output::<RxAckHeader>(&dut, "ack"), ack, "{form}");
        assert_eq!(output::<RxRequestHeader>(&dut, "request"), request, "{form}");
        assert_eq!(output::<RxChecked>(&dut, "checked"), checked, "{form}");
        let mut ipv4_words = dut.output("ipv4_words").unwrap().to_words();
        ipv4_words.reverse();
        let got: Vec<u8> = ipv4_words.iter().flat_map(|w| w.to_be_bytes()).collect();
        assert_eq!(got, words, "{form}");
        for (n, name) in ["ip_good", "bth_good", "path_header_good"].iter().enumerate() {
            goods[n] += checked.get(name);
        }
        goods[3] += header.get("ecn_ce");
    }
    assert!(goods.iter().all(|n| (500..3500).contains(n)), "{goods:?}");
}

#[test]
fn fields_of_good_frames_are_those_of_the_codec() {
    let mut rng = Rng(seed(2));
    let mut dut = dut(Uses { sends: true, reads: true });
    for round in 0..600 {
        let (a, b) = ([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2]);
        let ipv6 = rng.chance(50);
        let net = if ipv6 { NetAddr::v6(a, b, [7; 16], [9; 16]) } else { NetAddr::v4(a, b, [10, 0, 0, 1], [10, 0, 0, 2]) };
        let msn = Msn::new(pick(&mut rng, &[0, 0xFF_FFFF, 0x12_3456]));
        let [first, last, sol, attempt] = std::array::from_fn(|_| rng.chance(50));
        let msg = Msg { first, last, sol, attempt, msn };
        let imm = rng.chance(50).then(|| rng.next() as u32);
        let tag = rng.next() as u32;
        let body = match rng.below(10) {
            0 => Body::Nop { msg },
            1 => Body::Probe,
            2 => Body::Ack(Ack {
                ts_echo: rng.next() as u16,
                service: rng.next() as u16,
                ce_packets: rng.next() as u16,
                dup_packets: rng.next() as u16,
                rx_packets: rng.next() as u16,
                flags: AckFlags {
                    rnr: rng.chance(50),
                    probe_reply: rng.chance(50),
                    ts_valid: rng.chance(50),
                    nak: rng.chance(50),
                },
                rate: rng.next() as u32 & 0xFF_FFFF,
                epoch: rng.next() as u8,
                vector: SackVector::from_words(std::array::from_fn(|_| rng.next())),
                mak: Mak { qp: rng.next() as u32 & 0xFF_FFFF, code: MakCode::Bounds, msn },
            }),
            3 => Body::Send {
                msg,
                rq_seq: rng.next() as u32 & 0xFF_FFFF,
                offset: rng.next() as u32,
                length: rng.next() as u32,
                imm,
            },
            6 => Body::ReadReq { msg, va: rng.next(), rkey: rng.next() as u32, length: rng.next() as u32, tag },
            7 => {
                let op = if rng.chance(50) { AtomicOp::CompareSwap } else { AtomicOp::FetchAdd };
                Body::AtomicReq { msg, op, va: rng.next(), rkey: rng.next() as u32, swap_add: rng.next(), compare: rng.next() }
            }
            8 => Body::ReadResp { msg, offset: rng.next(), tag, length: rng.next() as u32 },
            9 => Body::ErrorResp { msg, code: MakCode::QpError },
            n => {
                let imm = (n == 4).then(|| WriteImm { immediate: rng.next() as u32, rq_seq: rng.next() as u32 & 0xFF_FFFF });
                Body::Write { msg, va: rng.next(), rkey: rng.next() as u32, length: rng.next() as u32, imm }
            }
        };
        let payload: Vec<u8> = if matches!(body, Body::Write { .. } | Body::Send { .. } | Body::ReadResp { .. }) {
            vec![0x5A; rng.below(60) as usize]
        } else {
            Vec::new()
        };
        let mut packet = Packet { dest_qp: rng.next() as u32 & 0xFF_FFFF, ack_req: rng.chance(50), ..Packet::new(body) };
        packet.ppsn = Ppsn::new(pick(&mut rng, &[0, 1, 0xFF_FFFF, 0x80_0000, 0x65_4321]));
        (packet.mph.rtx, packet.mph.home, packet.mph.via) = (rng.chance(50), rng.next() as u8, rng.next() as u8);
        (packet.mph.conn, packet.mph.tx_ts) = (rng.next() as u16, rng.next() as u16);
        let mut frame = vec![0; 400];
        let len = emit_packet(&mut frame, &net, rng.next() as u16, &packet, &payload).expect("a frame");
        frame.truncate(len);
        let parsed = parse_packet(&frame).expect("a good frame").packet;
        let vlan = rng.chance(50);
        if vlan {
            frame.splice(12..12, [0x81, 0x00, 0x20, 0x05]);
        }
        frame.resize(BYTES, rng.next() as u8);
        feed(&mut dut, &frame, vlan, ipv6);
        let header = output::<RxHeader>(&dut, "header");
        let mut want: Vec<(&str, u64)> = vec![
            ("ppsn", parsed.ppsn.get().into()),
            ("dest_qp", parsed.dest_qp.into()),
            ("ack_req", parsed.ack_req.into()),
            ("home", parsed.mph.home.into()),
            ("via", parsed.mph.via.into()),
            ("conn", parsed.mph.conn.into()),
            ("rtx", parsed.mph.rtx.into()),
            ("tx_ts", parsed.mph.tx_ts.into()),
            ("payload_bytes", 0),
            ("ecn_ce", 0),
        ];
        match parsed.body {
            Body::Write { msg, va, rkey, length, imm } => {
                want.extend([
                    ("opcode", 0xE0),
                    ("msn", msg.msn.get().into()),
                    ("first", msg.first.into()),
                    ("last", msg.last.into()),
                ]);
                want.extend([("va", va), ("rkey", rkey.into()), ("length", length.into())]);
                want.extend([("has_imm", imm.is_some().into()), ("sol", msg.sol.into()), ("attempt", msg.attempt.into())]);
                if let Some(imm) = imm {
                    want.extend([("imm", imm.immediate.into()), ("rq_seq", imm.rq_seq.into())]);
                }
            }
            Body::Send { msg, rq_seq, offset, length, imm } => {
                want.extend([("opcode", 0xE1), ("msn", msg.msn.get().into()), ("sol", msg.sol.into())]);
                want.extend([("va", offset.into()), ("length", length.into()), ("rq_seq", rq_seq.into())]);
                want.extend([("has_imm", imm.is_some().into()), ("attempt", msg.attempt.into())]);
                want.extend(imm.map(|imm| ("imm", u64::from(imm))));
            }
            Body::ReadReq { msg, va, rkey, length, tag } => {
                want.extend([("opcode", 0xE2), ("msn", msg.msn.get().into()), ("va", va)]);
                want.extend([("rkey", rkey.into()), ("length", length.into())]);
                assert_eq!(output::<RxRequestHeader>(&dut, "request").get("tag"), u64::from(tag));
            }
            Body::ReadResp { msg, offset, tag, length } => {
                want.extend([("opcode", 0xE3), ("msn", msg.msn.get().into()), ("va", offset)]);
                want.extend([("rkey", tag.into()), ("length", length.into())]);
            }
            Body::AtomicReq { msg, op, va, rkey, swap_add, compare } => {
                want.extend([("opcode", 0xE4), ("msn", msg.msn.get().into()), ("va", va), ("rkey", rkey.into())]);
                let request = output::<RxRequestHeader>(&dut, "request");
                assert_eq!(["operand", "compare"].map(|n| request.get(n)), [swap_add, compare]);
                assert_eq!(request.get("fetch_add") == 1, op == AtomicOp::FetchAdd);
            }
            Body::ErrorResp { msg, .. } => {
                want.extend([("opcode", 0xE6), ("msn", msg.msn.get().into())]);
                assert_eq!(output::<RxRequestHeader>(&dut, "request").get("error_code"), 6);
            }
            Body::Nop { msg } => want.extend([("opcode", 0xF7), ("msn", msg.msn.get().into())]),
            Body::Ack(a) => {
                want.push(("opcode", 0xF0));
                let ack = output::<RxAckHeader>(&dut, "ack");
                let vector: Vec<bool> = a.vector.words().iter().flat_map(|w| (0..64).map(move |i| w >> i & 1 == 1)).collect();
                assert_eq!(ack.vector("sav"), vector, "round {round}");
                for (name, value) in [
                    ("ts_echo", u64::from(a.ts_echo)),
                    ("service", a.service.into()),
                    ("ce", a.ce_packets.into()),
                    ("dup", a.dup_packets.into()),
                    ("rate", a.rate.into()),
                    ("mak_qp", a.mak.qp.into()),
                    ("mak_code", 3),
                    ("mak_msn", a.mak.msn.get().into()),
                ] {
                    assert_eq!(ack.get(name), value, "round {round}: {name}");
                }
            }
            _ => want.push(("opcode", 0xF2)),
        }
        for (name, value) in want {
            assert_eq!(header.get(name), value, "round {round}: {name} of {packet:?}");
        }
        let checked = output::<RxChecked>(&dut, "checked");
        assert_eq!(["ip_good", "bth_good", "path_header_good"].map(|n| checked.get(n)), [1; 3], "round {round}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(RxFields::<W, NB>::new(Uses { sends: true, reads: true }), clock: none, inputs: { vlan, ipv6 });
    for k in 0..NB {
        test = test.input(&format!("beat_{k}"), move |b: &mut RxFields<W, NB>| &mut b.beat[k]);
    }
    let report = test
        .top("rx_fields")
        .cycles(400)
        .seed(1)
        .stimulus(|random, _, inputs| {
            // the bytes that decide a check: often the good ones
            if random.chance(0.7) {
                for k in 0..3 {
                    let name = format!("beat_{k}");
                    let mut words = inputs.words(&name).to_vec();
                    words.iter_mut().for_each(|w| *w &= *random.pick(&[0, 0x0000_0045, 0x0060_4500, u32::MAX]));
                    inputs.set(&name, words);
                }
            }
            // and where an opcode may stand: often that of a SEND
            if random.chance(0.5) {
                for (beat, byte) in [(2, 10), (2, 14), (3, 14), (4, 2)] {
                    let name = format!("beat_{beat}");
                    let mut words = inputs.words(&name).to_vec();
                    words[byte / 4] = words[byte / 4] & !(0xFF << (8 * (byte % 4))) | 0xE1 << (8 * (byte % 4));
                    inputs.set(&name, words);
                }
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
