//! What is written is read back unchanged, in both profiles; lengths agree with the bytes.

mod strategies;

use mrnic_wire::frame::set_ecn;
use mrnic_wire::*;
use proptest::prelude::*;
use strategies::{config, net, packet_and_payload};

fn round_trip<P: Profile>(net: NetAddr, udp_src: u16, packet: Packet, payload: &[u8]) -> Result<(), TestCaseError> {
    let mut buf = [0xEE; 1024];
    let len = P::emit_packet(&mut buf, &net, udp_src, &packet, payload).expect("fits");
    let imm = packet.body.imm().is_some();
    prop_assert_eq!(len, P::frame_len(packet.opcode(), imm, payload.len(), net.ip.version()));
    prop_assert!(buf[len..].iter().all(|b| *b == 0xEE), "nothing is written after the frame");
    let parsed = P::parse_packet(&buf[..len]).expect("own frames are accepted");
    let expected = Parsed { net, udp_src, ecn: 2, ecn_ce: false, packet, payload };
    prop_assert_eq!(parsed, expected);

    // Ethernet padding after the frame changes nothing, nor does a mark of the fabric.
    prop_assert_eq!(P::parse_packet(&buf[..len + 60]).expect("padding is ignored"), expected);
    let mut marked = buf;
    prop_assert!(set_ecn(&mut marked[..len], 3));
    let expected = Parsed { ecn: 3, ecn_ce: true, ..expected };
    prop_assert_eq!(P::parse_packet(&marked[..len]).expect("the mark is not covered by the ICRC"), expected);

    // One VLAN tag is tolerated.
    let mut tagged = buf[..12].to_vec();
    tagged.extend([0x81, 0x00, 0x60, 0x2A]);
    tagged.extend(&marked[12..len]);
    prop_assert_eq!(P::parse_packet(&tagged).expect("one tag is tolerated"), expected);

    let udp_length = P::udp_len(packet.opcode(), imm, payload.len()) as u16;
    let pad = P::pad_len(payload.len()) as u8;
    prop_assert_eq!(P::payload_len_from_udp(packet.opcode(), imm, pad, udp_length), Some(payload.len()));
    Ok(())
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn open_mr_0((packet, payload) in packet_and_payload::<OpenMr0>(), net in net(), port: u16) {
        round_trip::<OpenMr0>(net, port, packet, &payload)?;
    }

    #[test]
    fn mrc_like((packet, payload) in packet_and_payload::<MrcLike>(), net in net(), port: u16) {
        round_trip::<MrcLike>(net, port, packet, &payload)?;
    }
}

fn write(length: u32) -> Packet {
    Packet::new(Body::Write { msg: Msg::only(Msn::new(1)), va: 0, rkey: 1, length, imm: None })
}

const NET: NetAddr = NetAddr::v4([2; 6], [4; 6], [10, 0, 0, 1], [10, 0, 0, 2]);

#[test]
fn a_small_buffer_is_refused_at_every_size() {
    let need = frame_len(Opcode::Write, false, 5, IpVersion::V4);
    for have in 0..need {
        let refused = emit_packet(&mut vec![0; have], &NET, 1, &write(5), b"12345");
        assert_eq!(refused, Err(EmitError::BufferTooSmall { need, have }));
    }
}

#[test]
fn values_beyond_a_field_are_refused() {
    let mut buf = [0; 256];
    let packet = Packet { dest_qp: 1 << 24, ..write(0) };
    let refused = emit_packet(&mut buf, &NET, 1, &packet, &[]);
    assert_eq!(refused, Err(EmitError::ValueTooLarge { field: "BTH.dest_qp", value: 1 << 24 }));
    // The 64-bit vector of the second profile cannot carry bit 64.
    let mut ack = Ack::default();
    ack.vector.set(64);
    let packet = Packet::new(Body::Ack(ack));
    assert!(OpenMr0::emit_packet(&mut buf, &NET, 1, &packet, &[]).is_ok());
    let refused = MrcLike::emit_packet(&mut buf, &NET, 1, &packet, &[]);
    assert_eq!(refused, Err(EmitError::ValueTooLarge { field: "SAV.vector", value: 64 }));
}

#[test]
fn payload_is_refused_where_the_opcode_has_none_or_it_is_too_long() {
    let mut buf = vec![0; 70_000];
    let refused = emit_packet(&mut buf, &NET, 1, &Packet::new(Body::Probe), &[0]);
    assert_eq!(refused, Err(EmitError::UnexpectedPayload { opcode: Opcode::Probe, payload_len: 1 }));
    let most = 65_535 - 20 - 8 - 40 - 4;
    for (payload_len, fits) in [(most & !3, true), ((most & !3) + 1, false), (66_000, false)] {
        let written = emit_packet(&mut buf, &NET, 1, &write(0), &vec![7; payload_len]);
        assert_eq!(written.is_ok(), fits, "{payload_len}: {written:?}");
    }
}

#[test]
fn every_opcode_has_one_number_and_reserved_ones_have_none() {
    fn check<P: Profile>() {
        let mut used = 0;
        for value in 0..=255u8 {
            if let Some(opcode) = P::opcode_from(value) {
                assert_eq!(P::opcode_value(opcode), value);
                used += 1;
            }
        }
        assert_eq!(used, Opcode::ALL.len());
        let reserved: usize = P::LAYOUT.reserved_opcodes.iter().map(|r| usize::from(r.last - r.first) + 1).sum();
        assert_eq!(used + reserved, 32);
    }
    check::<OpenMr0>();
    check::<MrcLike>();
}
