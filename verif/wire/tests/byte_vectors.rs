//! The committed byte vectors are what the code gives, and the code reads them back.

mod vector_set;

use mrnic_wire::*;
use std::collections::BTreeSet;

fn check<P: Profile>(committed: &str) {
    let file = format!("verif/wire/vectors/{}.json", P::NAME);
    // Compared as values: the order of keys is a build option of serde_json.
    let vectors: Vec<serde_json::Value> = serde_json::from_str(committed).expect("valid JSON");
    let current: Vec<serde_json::Value> = serde_json::from_str(&vector_set::json::<P>()).expect("valid JSON");
    assert!(
        vectors == current,
        "{file} is out of date: the wire format changed. If that is meant, run `cargo run -p mrnic-wire --example vectors`"
    );
    let mut opcodes = BTreeSet::new();
    for vector in &vectors {
        let text = vector["frame"].as_str().expect("a frame");
        let frame: Vec<u8> =
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect();
        let parsed = P::parse_packet(&frame).unwrap_or_else(|e| panic!("{}: {e}", vector["name"]));
        opcodes.insert(parsed.packet.opcode());
        let mut again = vec![0; frame.len()];
        P::emit_packet(&mut again, &parsed.net, parsed.udp_src, &parsed.packet, parsed.payload).expect("fits");
        assert_eq!(again, frame, "{}", vector["name"]);
    }
    assert_eq!(opcodes.len(), Opcode::ALL.len(), "{file} has every opcode");
}

#[test]
fn open_mr_0() {
    check::<OpenMr0>(include_str!("../vectors/open-mr-0.json"));
}

#[test]
fn mrc_like() {
    check::<MrcLike>(include_str!("../vectors/mrc-like.json"));
}

/// What the outer headers say is checked by another library.
#[test]
fn etherparse_reads_the_outer_headers() {
    let vectors: Vec<serde_json::Value> = serde_json::from_str(include_str!("../vectors/open-mr-0.json")).expect("valid JSON");
    for vector in vectors {
        let text = vector["frame"].as_str().expect("a frame");
        let frame: Vec<u8> =
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect();
        let sliced = etherparse::SlicedPacket::from_ethernet(&frame).expect("a valid frame");
        let Some(etherparse::TransportSlice::Udp(udp)) = sliced.transport else { panic!("not UDP") };
        assert_eq!((udp.source_port(), udp.destination_port(), udp.checksum()), (0xC0DE, 4791, 0));
        match sliced.net.expect("an IP header") {
            etherparse::NetSlice::Ipv4(ip) => {
                let header = ip.header().to_header();
                assert_eq!(header.header_checksum, header.calc_header_checksum());
                assert_eq!((header.dscp.value(), header.ecn.value(), header.time_to_live), (26, 2, 64));
                assert!(header.dont_fragment && !header.more_fragments && header.identification == 0);
                assert_eq!(usize::from(header.total_len), frame.len() - 14);
            }
            etherparse::NetSlice::Ipv6(ip) => {
                let header = ip.header().to_header();
                assert_eq!((header.traffic_class, header.hop_limit), (26 << 2 | 2, 64));
                assert_eq!(header.flow_label.value(), 0);
                assert_eq!(usize::from(header.payload_length), frame.len() - 14 - 40);
            }
            other => panic!("unexpected {other:?}"),
        }
    }
}

/// What a switch does to a frame: ECN and checksum are right for another library, nothing else changes; a frame whose sender
/// is not ECN-capable, or which is not IP, stays as it is.
#[test]
fn a_mark_changes_the_ecn_bits_of_capable_frames_only() {
    let vectors: Vec<serde_json::Value> = serde_json::from_str(include_str!("../vectors/open-mr-0.json")).expect("valid JSON");
    let (mut v4, mut v6) = (0, 0);
    for vector in vectors {
        let text = vector["frame"].as_str().expect("a frame");
        let frame: Vec<u8> =
            (0..text.len()).step_by(2).map(|i| u8::from_str_radix(&text[i..i + 2], 16).expect("hex digits")).collect();
        let mut marked = frame.clone();
        assert!(frame::set_ecn(&mut marked, 3));
        let sliced = etherparse::SlicedPacket::from_ethernet(&marked).expect("a valid frame");
        let mut incapable = marked.clone();
        let changed: Vec<usize> = (0..frame.len()).filter(|i| frame[*i] != marked[*i]).collect();
        match sliced.net.expect("an IP header") {
            etherparse::NetSlice::Ipv4(ip) => {
                let header = ip.header().to_header();
                assert_eq!(header.ecn.value(), 3);
                assert_eq!(header.header_checksum, header.calc_header_checksum());
                assert!(changed.iter().all(|i| [15, 24, 25].contains(i)), "{changed:?}");
                incapable[15] &= !3;
                v4 += 1;
            }
            etherparse::NetSlice::Ipv6(ip) => {
                assert_eq!(ip.header().traffic_class() & 3, 3);
                assert_eq!(changed, [15]);
                incapable[15] &= !0x30;
                v6 += 1;
            }
            other => panic!("unexpected {other:?}"),
        }
        let mut arp = frame.clone();
        arp[12..14].copy_from_slice(&[0x08, 0x06]);
        for mut untouched in [incapable, arp, frame[..16].to_vec()] {
            let before = untouched.clone();
            assert!(!frame::set_ecn(&mut untouched, 3));
            assert_eq!(untouched, before);
        }
    }
    assert!(v4 > 0 && v6 > 0);
}
