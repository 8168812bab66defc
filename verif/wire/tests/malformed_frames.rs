//! No input makes the parser panic, and each check has its own drop reason, in the documented order.

mod strategies;

use mrnic_wire::open_mr_0::{field, LAYOUT};
use mrnic_wire::tables::FieldInfo;
use mrnic_wire::*;
use proptest::prelude::*;
use strategies::{config, net, packet_and_payload};

const V4: NetAddr = NetAddr::v4([2; 6], [4; 6], [10, 0, 0, 1], [10, 0, 0, 2]);
const V6: NetAddr = NetAddr::v6([2; 6], [4; 6], [0xFD; 16], [0xFC; 16]);

fn frame(net: &NetAddr, packet: &Packet, payload: &[u8]) -> Vec<u8> {
    let mut buf = vec![0; 2048];
    let len = emit_packet(&mut buf, net, 50_000, packet, payload).expect("fits");
    buf.truncate(len);
    buf
}

fn write(imm: Option<u32>) -> Packet {
    Packet::new(Body::Write {
        msg: Msg::only(Msn::new(1)),
        va: 0x1000,
        rkey: 1,
        length: 5,
        imm: imm.map(|immediate| WriteImm { immediate, rq_seq: 3 }),
    })
}

/// Offset of a header of a WRITE packet in its untagged frame.
fn header_at(header: &str, ip: IpVersion) -> usize {
    let ip_len = if ip == IpVersion::V4 { 20 } else { 40 };
    match header {
        "ETH" => 0,
        "IPV4" | "IPV6" => 14,
        "UDP" => 14 + ip_len,
        _ => {
            let offset = LAYOUT.offset("WRITE", header).expect("a header of WRITE");
            if ip == IpVersion::V4 {
                offset.ipv4_bytes
            } else {
                offset.ipv6_bytes
            }
        }
    }
}

/// Overwrites a field of at most 64 bits.
fn patch(frame: &mut [u8], field: FieldInfo, value: u64, ip: IpVersion) {
    let at = header_at(field.header, ip);
    for i in 0..field.width {
        let bit = field.bit_offset + i;
        let mask = 0x80 >> (bit % 8);
        let one = value >> (field.width - 1 - i) & 1 == 1;
        let byte = &mut frame[at + bit / 8];
        *byte = if one { *byte | mask } else { *byte & !mask };
    }
}

/// Corrects the IPv4 checksum, so that a later check is reached.
fn fix_checksum(frame: &mut [u8]) {
    let ecn = frame[15] & 3;
    assert!(frame::set_ecn(frame, ecn));
}

fn dropped(frame: &[u8]) -> &'static str {
    parse_packet(frame).expect_err("must be dropped").name()
}

#[test]
fn each_check_has_its_reason() {
    type Case = (FieldInfo, u64, &'static str);
    let cases_v4: [Case; 15] = [
        (field::ETH_ETHERTYPE, 0x0806, "frame"),
        (field::IPV4_VERSION, 6, "ip"),
        (field::IPV4_IHL, 6, "ip"),
        (field::IPV4_MORE_FRAGMENTS, 1, "ip"),
        (field::IPV4_FRAGMENT_OFFSET, 1, "ip"),
        (field::IPV4_TOTAL_LENGTH, 27, "ip"),
        (field::IPV4_TOTAL_LENGTH, 1500, "ip"),
        (field::IPV4_PROTOCOL, 6, "not_udp"),
        (field::UDP_DST_PORT, 4792, "udp_port"),
        (field::UDP_LENGTH, 8, "udp_length"),
        (field::BTH_OPCODE, 0xF1, "bth"),
        (field::BTH_OPCODE, 0x0A, "bth"),
        (field::BTH_TVER, 1, "bth"),
        (field::MPH_VERSION, 1, "path_header"),
        (field::PLH_VA, 0x2000, "icrc"),
    ];
    for (field, value, reason) in cases_v4 {
        let mut f = frame(&V4, &write(None), b"12345");
        patch(&mut f, field, value, IpVersion::V4);
        fix_checksum_if_ip(&mut f);
        assert_eq!(dropped(&f), reason, "{field:?} = {value}");
    }
    let cases_v6: [Case; 6] = [
        (field::IPV6_VERSION, 4, "ip"),
        (field::IPV6_PAYLOAD_LENGTH, 7, "ip"),
        (field::IPV6_PAYLOAD_LENGTH, 1500, "ip"),
        (field::IPV6_NEXT_HEADER, 44, "not_udp"),
        (field::UDP_DST_PORT, 0, "udp_port"),
        (field::PLH_RKEY, 2, "icrc"),
    ];
    for (field, value, reason) in cases_v6 {
        let mut f = frame(&V6, &write(None), b"12345");
        patch(&mut f, field, value, IpVersion::V6);
        assert_eq!(dropped(&f), reason, "{field:?} = {value}");
    }
}

fn fix_checksum_if_ip(frame: &mut [u8]) {
    if frame[12..14] == [8, 0] {
        fix_checksum(frame);
    }
}

#[test]
fn a_wrong_ip_checksum_comes_before_the_protocol() {
    let mut f = frame(&V4, &write(None), &[]);
    patch(&mut f, field::IPV4_PROTOCOL, 6, IpVersion::V4);
    let error = parse_packet(&f).expect_err("checksum no longer right");
    assert_eq!((error.check(), error.name()), (3, "ip_checksum"));
}

/// Cuts the packet to `udp_length` with consistent lengths everywhere.
fn shortened(packet: &Packet, payload: &[u8], udp_length: usize) -> Vec<u8> {
    let mut f = frame(&V4, packet, payload);
    f.resize(14 + 20 + udp_length, 0);
    patch(&mut f, field::UDP_LENGTH, udp_length as u64, IpVersion::V4);
    patch(&mut f, field::IPV4_TOTAL_LENGTH, 20 + udp_length as u64, IpVersion::V4);
    fix_checksum(&mut f);
    f
}

#[test]
fn headers_must_fit_their_opcode() {
    let with_imm = write(Some(7));
    // UDP 8, headers 40 + 8, ICRC 4: one word less and IMMH does not fit.
    let cases = [(28, "udp_length"), (30, "udp_length"), (32, "header_length"), (48, "header_length"), (56, "header_length")];
    for (udp_length, reason) in cases {
        assert_eq!(dropped(&shortened(&with_imm, &[], udp_length)), reason, "{udp_length}");
    }
    // An opcode without payload has exactly its headers.
    assert_eq!(dropped(&shortened(&Packet::new(Body::Probe), &[], 36)), "header_length");
    // Lengths are a multiple of 4 on the wire.
    assert_eq!(dropped(&shortened(&write(None), b"12345678", 53)), "udp_length");
}

#[test]
fn more_pad_than_payload_is_dropped() {
    for pad in 1..=3 {
        let mut f = frame(&V4, &write(None), &[]);
        patch(&mut f, field::BTH_PAD, pad, IpVersion::V4);
        assert_eq!(dropped(&f), "pad");
    }
}

#[test]
fn an_error_names_the_place() {
    let mut f = frame(&V4, &write(None), b"12345");
    patch(&mut f, field::MPH_VERSION, 9, IpVersion::V4);
    let error = parse_packet(&f).expect_err("version 9");
    assert_eq!(error.to_string(), "drop 8 (path_header): MPH.version at byte 54 is 0x9, expected 0x0");
    patch(&mut f, field::BTH_OPCODE, 0xFF, IpVersion::V4);
    let error = parse_packet(&f).expect_err("opcode 0xff");
    assert_eq!((error.mismatch().field, error.mismatch().offset), ("BTH.opcode", 42));
}

#[test]
fn names_and_numbers_of_the_checks_agree() {
    let unique: std::collections::BTreeSet<_> = ParseError::NAMES.iter().collect();
    assert_eq!(unique.len(), ParseError::NAMES.len());
}

proptest! {
    #![proptest_config(config(200))]

    #[test]
    fn a_frame_cut_at_any_byte_is_dropped((packet, payload) in packet_and_payload::<OpenMr0>(), net in net()) {
        let f = frame(&net, &packet, &payload);
        for len in 0..f.len() {
            let error = parse_packet(&f[..len]).expect_err("cut");
            prop_assert!(error.check() <= 2, "{} of {}: {error}", len, f.len());
        }
    }

    #[test]
    fn a_udp_datagram_cut_at_any_byte_is_dropped((packet, payload) in packet_and_payload::<OpenMr0>(), net in net()) {
        let f = frame(&net, &packet, &payload);
        let at = f.len() - OpenMr0::udp_len(packet.opcode(), packet.body.imm().is_some(), payload.len()) + 8;
        for len in 0..f.len() - at {
            // Without outer lengths the parser sees less than there is; what it accepts must still be inside the slice.
            if let Ok(h) = OpenMr0::parse_headers(&f[at..at + len]) {
                prop_assert!(h.header_len + 4 <= len);
            }
        }
    }

    #[test]
    fn every_field_at_its_extremes((packet, payload) in packet_and_payload::<OpenMr0>(), net in net()) {
        let f = frame(&net, &packet, &payload);
        let ip = net.ip.version();
        let number = OpenMr0::opcode_value(packet.opcode());
        for field in open_mr_0::FIELDS.iter().filter(|f| f.width <= 64) {
            let at = match field.header {
                "ETH" | "UDP" => header_at(field.header, ip),
                "IPV4" if ip == IpVersion::V4 => 14,
                "IPV6" if ip == IpVersion::V6 => 14,
                other => match LAYOUT.header_offsets.iter().find(|o| o.opcode_value == number && o.header == other) {
                    Some(o) if !o.only_with_imm => if ip == IpVersion::V4 { o.ipv4_bytes } else { o.ipv6_bytes },
                    _ => continue,
                },
            };
            for value in [0, 1, u64::MAX >> 1, u64::MAX] {
                let mut changed = f.clone();
                for i in 0..field.width {
                    let bit = field.bit_offset + i;
                    let one = value >> (field.width - 1 - i) & 1 == 1;
                    let mask = 0x80 >> (bit % 8);
                    let byte = &mut changed[at + bit / 8];
                    *byte = if one { *byte | mask } else { *byte & !mask };
                }
                // Accepted or dropped, the payload lies inside the frame and nothing panics.
                if let Ok(parsed) = parse_packet(&changed) {
                    prop_assert!(parsed.payload.len() <= payload.len());
                }
            }
        }
    }

    #[test]
    fn random_bytes_are_dropped(mut bytes in prop::collection::vec(any::<u8>(), 0..300), v6: bool, plausible: bool) {
        // Plausible outer headers bring the random bytes to the later checks.
        if plausible && bytes.len() > 110 {
            let len = bytes.len() & !3 | 2;
            bytes.truncate(len);
            let net = if v6 { V6 } else { V4 };
            let outer = frame(&net, &write(None), &vec![0; len - 14 - if v6 { 40 } else { 20 } - 8 - 40 - 4]);
            let keep = if v6 { 14 + 40 + 8 } else { 14 + 20 + 8 };
            bytes[..keep].copy_from_slice(&outer[..keep]);
        }
        prop_assert!(parse_packet(&bytes).is_err());
        prop_assert!(MrcLike::parse_packet(&bytes).is_err());
    }
}
