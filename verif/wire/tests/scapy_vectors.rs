//! Frames built by scapy and by hand-packed headers: an independent witness of ICRC, layout and tables.

use mrnic_wire::open_mr_0::LAYOUT;
use mrnic_wire::*;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Deserialize)]
#[serde(untagged)]
enum Value {
    Number(u64),
    Bytes(String),
}

#[derive(Deserialize)]
struct Vector {
    name: String,
    opcode: String,
    ip_version: u8,
    vlan: bool,
    as_sent: bool,
    ecn: u8,
    udp_src: u16,
    headers: BTreeMap<String, BTreeMap<String, Value>>,
    payload: String,
    frame: String,
}

fn unhex(text: &str) -> Vec<u8> {
    (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect()
}

fn vectors() -> Vec<Vector> {
    serde_json::from_str(include_str!("../vectors/scapy-icrc.json")).expect("generate.py writes this form")
}

/// Every field of the vector stands where the tables say.
fn check_fields(v: &Vector, frame: &[u8]) {
    for (header, fields) in &v.headers {
        let info = LAYOUT.header(header).expect("known header");
        let offset = LAYOUT.offset(&v.opcode, header).expect("header of this opcode");
        let untagged = if v.ip_version == 4 { offset.ipv4_bytes } else { offset.ipv6_bytes };
        let at = untagged + if v.vlan { 4 } else { 0 };
        let bytes = &frame[at..at + info.len_bytes];
        let values = info.fields.iter().filter(|f| f.kind != tables::FieldKind::Reserved);
        assert_eq!(values.count(), fields.len(), "{} of {} is complete", header, v.name);
        for (name, value) in fields {
            let field = LAYOUT.field(header, name).expect("known field");
            match value {
                Value::Number(n) => assert_eq!(field.read(bytes), Some(*n), "{}: {header}.{name}", v.name),
                Value::Bytes(hex) => {
                    let (first, last) = field.byte_range();
                    assert_eq!(bytes[first..=last], unhex(hex), "{}: {header}.{name}", v.name);
                }
            }
        }
    }
}

#[test]
fn every_frame_is_accepted_and_says_what_scapy_put_in() {
    for v in vectors() {
        let frame = unhex(&v.frame);
        check_fields(&v, &frame);
        let parsed = parse_packet(&frame).unwrap_or_else(|e| panic!("{}: {e}", v.name));
        assert_eq!(parsed.payload, unhex(&v.payload), "{}", v.name);
        assert_eq!((parsed.udp_src, parsed.ecn), (v.udp_src, v.ecn), "{}", v.name);
        assert_eq!(parsed.ecn_ce, v.ecn == 3, "{}", v.name);
        let number = LAYOUT.opcode(&v.opcode).expect("known opcode").value;
        assert_eq!(OpenMr0::opcode_value(parsed.packet.opcode()), number, "{}", v.name);
    }
}

#[test]
fn we_send_the_same_bytes() {
    for v in vectors().iter().filter(|v| v.as_sent) {
        let frame = unhex(&v.frame);
        let p = parse_packet(&frame).unwrap_or_else(|e| panic!("{}: {e}", v.name));
        let mut buf = vec![0; frame.len()];
        let len = emit_packet(&mut buf, &p.net, p.udp_src, &p.packet, p.payload).expect("fits");
        assert_eq!((len, &buf), (frame.len(), &frame), "{}", v.name);
    }
}

#[test]
fn one_changed_bit_outside_the_masks_is_found() {
    for v in vectors().iter().filter(|v| v.frame.len() < 2 * 200) {
        let frame = unhex(&v.frame);
        let udp_payload = if v.ip_version == 4 { 14 + 20 + 8 } else { 14 + 40 + 8 } + if v.vlan { 4 } else { 0 };
        let masked = udp_payload + 4;
        for bit in (udp_payload + 5) * 8..frame.len() * 8 {
            assert_ne!(bit / 8, masked);
            let mut changed = frame.clone();
            changed[bit / 8] ^= 0x80 >> (bit % 8);
            assert!(parse_packet(&changed).is_err(), "{}: bit {bit}", v.name);
        }
    }
}

#[test]
fn the_set_is_as_wide_as_promised() {
    let all = vectors();
    assert!(all.len() >= 24, "{} vectors", all.len());
    for ip in [4, 6] {
        let of_ip = || all.iter().filter(|v| v.ip_version == ip);
        let pads: BTreeSet<usize> = of_ip().map(|v| OpenMr0::pad_len(v.payload.len() / 2)).collect();
        assert_eq!(pads.len(), 4, "pads 0 to 3 on IPv{ip}");
        let opcodes: BTreeSet<&str> = of_ip().map(|v| v.opcode.as_str()).collect();
        assert_eq!(opcodes.len(), Opcode::ALL.len(), "all opcodes on IPv{ip}");
        assert!(of_ip().any(|v| v.vlan) && of_ip().any(|v| !v.as_sent && !v.vlan));
        assert!(of_ip().any(|v| v.payload.is_empty()) && of_ip().any(|v| v.payload.len() > 2048));
    }
}
