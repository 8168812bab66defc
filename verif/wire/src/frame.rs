//! Whole Ethernet frames: what surrounds the transport headers, and the receiver's checks in their order.
//! In: a frame, or a packet and its payload. Out: the other of the two. The RTL parser makes the same checks in the same order.

use crate::error::{EmitError, Expected, Mismatch, ParseError};
use crate::icrc::icrc;
use crate::open_mr_0::{
    field, Eth, Ipv4, Ipv6, Udp, Vlan, ECN_CE, ETHERTYPE_IPV4, ETHERTYPE_IPV6, ETHERTYPE_VLAN, ICRC_LEN, IP_PROTO_UDP,
    PAD_TO_BYTES,
};
use crate::{IpPair, IpVersion, NetAddr, Packet, Profile};

/// An accepted packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parsed<'a> {
    pub net: NetAddr,
    pub udp_src: u16,
    /// The two ECN bits of the IP header.
    pub ecn: u8,
    pub ecn_ce: bool,
    pub packet: Packet,
    pub payload: &'a [u8],
}

/// A UDP datagram that passed checks 1 to 4.
#[derive(Debug, Clone, Copy)]
struct Datagram<'a> {
    net: NetAddr,
    ecn: u8,
    /// IP header and everything it counts, without Ethernet padding.
    ip_packet: &'a [u8],
    /// Offset of the UDP header in `ip_packet`, and of `ip_packet` in the frame.
    udp_at: usize,
    ip_at: usize,
}

/// Bytes before the UDP header of an untagged frame.
pub const fn before_udp(ip: IpVersion) -> usize {
    Eth::LEN + ip_len(ip)
}

const fn ip_len(ip: IpVersion) -> usize {
    match ip {
        IpVersion::V4 => Ipv4::LEN,
        IpVersion::V6 => Ipv6::LEN,
    }
}

pub(crate) const fn pad_len(payload_len: usize) -> usize {
    payload_len.wrapping_neg() % PAD_TO_BYTES as usize
}

/// The one place where the length of a packet is put together.
pub(crate) const fn udp_len(header_len: usize, payload_len: usize) -> usize {
    Udp::LEN + header_len + payload_len + pad_len(payload_len) + ICRC_LEN
}

pub(crate) fn emit<P: Profile>(
    buf: &mut [u8],
    net: &NetAddr,
    udp_src: u16,
    packet: &Packet,
    payload_len: usize,
    fill: impl FnOnce(&mut [u8]),
) -> Result<usize, EmitError> {
    let (opcode, imm, ip) = (packet.opcode(), packet.body.imm().is_some(), net.ip.version());
    if payload_len > 0 && !P::carries_payload(opcode) {
        return Err(EmitError::UnexpectedPayload { opcode, payload_len });
    }
    if payload_len > usize::from(u16::MAX) {
        return Err(EmitError::TooLong { payload_len });
    }
    let udp_length = P::udp_len(opcode, imm, payload_len);
    // IPv4 counts its header in its length, IPv6 does not.
    let ip_length = match ip {
        IpVersion::V4 => Ipv4::LEN + udp_length,
        IpVersion::V6 => udp_length,
    };
    let ip_length = u16::try_from(ip_length).map_err(|_| EmitError::TooLong { payload_len })?;
    let (need, have) = (before_udp(ip) + udp_length, buf.len());
    let frame = buf.get_mut(..need).ok_or(EmitError::BufferTooSmall { need, have })?;

    emit_network(&mut frame[..before_udp(ip)], net, ip_length)?;
    let datagram = &mut frame[before_udp(ip)..];
    let udp = Udp { src_port: udp_src, dst_port: P::UDP_PORT, length: udp_length as u16, ..Udp::default() };
    udp.emit(datagram)?;
    let payload_and_after = &mut datagram[Udp::LEN..];
    let pad = pad_len(payload_len);
    let header_len = P::emit_headers(packet, pad as u8, payload_and_after)?;
    let (payload, after) = payload_and_after[header_len..].split_at_mut(payload_len);
    fill(payload);
    after[..pad].fill(0);

    let (covered, crc) = frame[Eth::LEN..].split_at_mut(need - Eth::LEN - ICRC_LEN);
    crc.copy_from_slice(&icrc(P::ICRC_MASKS, ip, covered).to_le_bytes());
    Ok(need)
}

/// Ethernet and IP headers; `ip_length` is the length the IP header states.
fn emit_network(out: &mut [u8], net: &NetAddr, ip_length: u16) -> Result<(), EmitError> {
    let (eth, ip) = out.split_at_mut(Eth::LEN);
    let ethertype = match net.ip {
        IpPair::V4 { .. } => ETHERTYPE_IPV4,
        IpPair::V6 { .. } => ETHERTYPE_IPV6,
    };
    Eth { dst_mac: net.dst_mac, src_mac: net.src_mac, ethertype }.emit(eth)?;
    match net.ip {
        IpPair::V4 { src, dst } => {
            Ipv4 { total_length: ip_length, src, dst, ..Ipv4::default() }.emit(ip)?;
            write_checksum(ip);
            Ok(())
        }
        IpPair::V6 { src, dst } => Ipv6 { payload_length: ip_length, src, dst, ..Ipv6::default() }.emit(ip),
    }
}

/// Ones' complement sum of an IPv4 header; 0xFFFF if its checksum is right.
fn ones_sum(header: &[u8]) -> u16 {
    let words = header.chunks_exact(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]));
    let sum: u32 = words.sum();
    let folded = (sum & 0xFFFF) + (sum >> 16);
    ((folded & 0xFFFF) + (folded >> 16)) as u16
}

/// Puts the checksum into an IPv4 header.
fn write_checksum(header: &mut [u8]) {
    let (first, last) = field::IPV4_CHECKSUM.byte_range();
    header[first..=last].fill(0);
    let sum = !ones_sum(&header[..Ipv4::LEN]);
    header[first..=last].copy_from_slice(&sum.to_be_bytes());
}

pub(crate) fn parse<P: Profile>(frame: &[u8]) -> Result<Parsed<'_>, ParseError> {
    let datagram = parse_network(frame)?;
    let Datagram { net, ecn, ip_packet, udp_at, ip_at } = datagram;
    let at = |field: crate::tables::FieldInfo| ip_at + udp_at + field.byte_range().0;
    let mismatch = |field, offset, found: usize, expected| Mismatch { field, offset, found: found as u64, expected };

    // Check 5.
    let udp = Udp::parse(&ip_packet[udp_at..]).map_err(|e| ParseError::Frame(e.after(ip_at + udp_at)))?;
    if udp.dst_port != P::UDP_PORT {
        let expected = Expected::Exactly(u64::from(P::UDP_PORT));
        let (offset, found) = (at(field::UDP_DST_PORT), usize::from(udp.dst_port));
        return Err(ParseError::UdpPort(mismatch("UDP.dst_port", offset, found, expected)));
    }
    // Check 6.
    let in_ip = ip_packet.len() - udp_at;
    let (length, smallest) = (usize::from(udp.length), Udp::LEN + P::COMMON_LEN + ICRC_LEN);
    let expected = if length != in_ip {
        Some(Expected::Exactly(in_ip as u64))
    } else if length < smallest {
        Some(Expected::AtLeast(smallest as u64))
    } else if length % PAD_TO_BYTES as usize != 0 {
        Some(Expected::MultipleOf(u64::from(PAD_TO_BYTES)))
    } else {
        None
    };
    if let Some(expected) = expected {
        return Err(ParseError::UdpLength(mismatch("UDP.length", at(field::UDP_LENGTH), length, expected)));
    }
    // Checks 7 to 9.
    let (udp_payload, payload_at) = (&ip_packet[udp_at + Udp::LEN..], ip_at + udp_at + Udp::LEN);
    let headers = P::parse_headers(udp_payload).map_err(|e| e.after(payload_at))?;
    // Check 10.
    let region = &udp_payload[headers.header_len..udp_payload.len() - ICRC_LEN];
    let Some(payload_len) = region.len().checked_sub(usize::from(headers.pad)) else {
        let expected = Expected::AtMost(region.len() as u64);
        return Err(ParseError::Pad(mismatch("BTH.pad", payload_at, usize::from(headers.pad), expected)));
    };
    // Check 11.
    let (covered, crc) = ip_packet.split_at(ip_packet.len() - ICRC_LEN);
    let found = crc.iter().rev().fold(0, |n, b| n << 8 | u64::from(*b));
    let expected = u64::from(icrc(P::ICRC_MASKS, net.ip.version(), covered));
    if found != expected {
        let (offset, expected) = (ip_at + covered.len(), Expected::Exactly(expected));
        return Err(ParseError::Icrc(Mismatch { field: "ICRC", offset, found, expected }));
    }
    let (udp_src, payload, packet) = (udp.src_port, &region[..payload_len], headers.packet);
    Ok(Parsed { net, udp_src, ecn, ecn_ce: ecn == ECN_CE, packet, payload })
}

/// Ethernet header with at most one VLAN tag: addresses, ethertype and offset of what follows.
fn parse_ethernet(frame: &[u8]) -> Result<(Eth, u16, usize), ParseError> {
    let eth = Eth::parse(frame).map_err(ParseError::Frame)?;
    if eth.ethertype != ETHERTYPE_VLAN {
        return Ok((eth, eth.ethertype, Eth::LEN));
    }
    // The tag's identifier is in the place of the ethertype, which follows the tag.
    let (tag_at, ip_at) = (field::ETH_ETHERTYPE.byte_range().1 + 1, Eth::LEN + Vlan::LEN);
    let tag = Vlan::parse(&frame[tag_at..]).map_err(|e| ParseError::Frame(e.after(tag_at)))?;
    Ok((eth, tag.ethertype, ip_at))
}

/// Checks 1 to 4.
fn parse_network(frame: &[u8]) -> Result<Datagram<'_>, ParseError> {
    // Check 1.
    let (eth, ethertype, ip_at) = parse_ethernet(frame)?;
    let version = match ethertype {
        ETHERTYPE_IPV4 => IpVersion::V4,
        ETHERTYPE_IPV6 => IpVersion::V6,
        other => {
            const KNOWN: &[u64] = &[ETHERTYPE_IPV4 as u64, ETHERTYPE_IPV6 as u64];
            let (offset, found) = (ip_at - core::mem::size_of_val(&other), u64::from(other));
            let expected = Expected::OneOf(KNOWN);
            return Err(ParseError::Frame(Mismatch { field: "ETH.ethertype", offset, found, expected }));
        }
    };
    let udp_at = ip_len(version);
    let need = udp_at + Udp::LEN;
    let ip_bytes = &frame[ip_at..];
    if ip_bytes.len() < need {
        let (found, expected) = (frame.len() as u64, Expected::AtLeast((ip_at + need) as u64));
        return Err(ParseError::Frame(Mismatch { field: "frame length", offset: 0, found, expected }));
    }
    // Checks 2 to 4. A field's offset is that of its header plus its own.
    let fail = |field: crate::tables::FieldInfo, name, found, expected| Mismatch {
        field: name,
        offset: ip_at + field.byte_range().0,
        found,
        expected,
    };
    let not_ip = |e: Mismatch| ParseError::Ip(e.after(ip_at));
    let (length_field, length_name, counted, stated) = match version {
        IpVersion::V4 => {
            let stated = usize::from(Ipv4::parse(ip_bytes).map_err(not_ip)?.total_length);
            (field::IPV4_TOTAL_LENGTH, "IPV4.total_length", 0, stated)
        }
        IpVersion::V6 => {
            let stated = usize::from(Ipv6::parse(ip_bytes).map_err(not_ip)?.payload_length);
            (field::IPV6_PAYLOAD_LENGTH, "IPV6.payload_length", Ipv6::LEN, stated)
        }
    };
    let total = counted + stated;
    if total < need {
        let expected = Expected::AtLeast((need - counted) as u64);
        return Err(ParseError::Ip(fail(length_field, length_name, stated as u64, expected)));
    }
    let Some(ip_packet) = ip_bytes.get(..total) else {
        let expected = Expected::AtMost((ip_bytes.len() - counted) as u64);
        return Err(ParseError::Ip(fail(length_field, length_name, stated as u64, expected)));
    };
    let (ip, ecn, proto_field, proto_name, protocol) = match version {
        IpVersion::V4 => {
            let sum = ones_sum(&ip_packet[..Ipv4::LEN]);
            if sum != 0xFFFF {
                let error = fail(field::IPV4_CHECKSUM, "IPV4 header sum", u64::from(sum), Expected::Exactly(0xFFFF));
                return Err(ParseError::IpChecksum(error));
            }
            let ip = Ipv4::parse(ip_packet).map_err(not_ip)?;
            (IpPair::V4 { src: ip.src, dst: ip.dst }, ip.ecn, field::IPV4_PROTOCOL, "IPV4.protocol", ip.protocol)
        }
        IpVersion::V6 => {
            let ip = Ipv6::parse(ip_packet).map_err(not_ip)?;
            let addresses = IpPair::V6 { src: ip.src, dst: ip.dst };
            (addresses, ip.ecn, field::IPV6_NEXT_HEADER, "IPV6.next_header", ip.next_header)
        }
    };
    if protocol != IP_PROTO_UDP {
        let expected = Expected::Exactly(u64::from(IP_PROTO_UDP));
        return Err(ParseError::NotUdp(fail(proto_field, proto_name, u64::from(protocol), expected)));
    }
    let net = NetAddr { src_mac: eth.src_mac, dst_mac: eth.dst_mac, ip };
    Ok(Datagram { net, ecn, ip_packet, udp_at, ip_at })
}

/// Sets the ECN bits of a frame as a switch does, and corrects the IPv4 checksum; the ICRC stays valid.
/// False, and nothing changed, if the frame is not IPv4 or IPv6, or not ECN-capable (its ECN bits are 0).
pub fn set_ecn(frame: &mut [u8], ecn: u8) -> bool {
    let Ok((_, ethertype, ip_at)) = parse_ethernet(frame) else { return false };
    let (info, len) = match ethertype {
        ETHERTYPE_IPV4 => (field::IPV4_ECN, Ipv4::LEN),
        ETHERTYPE_IPV6 => (field::IPV6_ECN, Ipv6::LEN),
        _ => return false,
    };
    let Some(ip) = frame.get_mut(ip_at..ip_at + len) else { return false };
    let (byte, _) = info.byte_range();
    let mask = 0b11 << info.shift();
    if ip[byte] & mask == 0 {
        return false;
    }
    ip[byte] = ip[byte] & !mask | (ecn << info.shift()) & mask;
    if ethertype == ETHERTYPE_IPV4 {
        write_checksum(ip);
    }
    true
}
