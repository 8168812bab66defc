//! Headers as the packet builders see them: structs generated from the wire layout, and the numbers derived from it.
//! In: `mrnic_wire`'s tables, at build time. Out: field structs (big-endian numbers), lengths, opcodes, ICRC constants.
//! No other file of this folder knows a position, a length or a constant of the wire layout.
use mrnic_wire::tables::LayoutInfo;
use mrnic_wire::{OpenMr0, Profile};
use rust_hdl_core::prelude::*;

include!(concat!(env!("OUT_DIR"), "/headers.rs"));

/// Longest header of all frames sent here: an ACK over IPv6.
pub const HEADER_BYTES_MAX: usize = Ipv6Front::BYTES + AckBack::BYTES;
/// Width of a header on its way to the framer: first byte of the frame in the most significant bits.
pub const HEADER_BITS: usize = 8 * HEADER_BYTES_MAX;
/// Bits behind the headers of every message: the longest of the operations, of which some have an immediate.
pub const TAIL_BITS: usize = longest(&[
    ImmTail::BITS + WriteTail::BITS,
    ImmTail::BITS + SendTail::BITS,
    ReadReqTail::BITS,
    AtomicReqTail::BITS,
    AtomicRespTail::BITS,
    ErrorRespTail::BITS,
]);
/// Longest header that the packet builder makes, over IPv6.
pub const PACKET_HEADER_BITS: usize = Ipv6Front::BITS + MessageBack::BITS + TAIL_BITS;

const fn longest(bits: &[usize]) -> usize {
    match bits {
        [first, rest @ ..] if *first > longest(rest) => *first,
        [_, rest @ ..] => longest(rest),
        [] => 0,
    }
}

/// A build parameter as the hardware sees it.
pub fn number<const N: usize>(value: usize) -> Constant<Bits<N>> {
    Constant::new((value as u64).into())
}

/// The layout all blocks here are built for.
pub fn layout() -> &'static LayoutInfo {
    OpenMr0::LAYOUT
}

/// A constant of the layout; every name used here is one that the layout loader insists on.
pub fn constant(name: &str) -> u64 {
    layout().constants.iter().find(|c| c.name == name).map_or(0, |c| c.value)
}

pub fn opcode_value(name: &str) -> u64 {
    layout().opcode(name).map_or(0, |o| u64::from(o.value))
}

/// Bytes between the UDP header and the payload.
fn opcode_header_bytes(name: &str) -> usize {
    layout().opcode(name).map_or(0, |o| o.header_bytes)
}

fn header_bytes(name: &str) -> usize {
    layout().header(name).map_or(0, |h| h.len_bytes)
}

/// Bytes of the frame before the payload.
pub fn frame_header_bytes(opcode: &str, ipv6: bool) -> usize {
    let front = if ipv6 { Ipv6Front::BYTES } else { Ipv4Front::BYTES };
    front + header_bytes("UDP") + opcode_header_bytes(opcode)
}

/// The same with an immediate, if `imm`.
pub fn packet_header_bytes(opcode: &str, imm: bool, ipv6: bool) -> usize {
    frame_header_bytes(opcode, ipv6) + if imm { ImmTail::BYTES } else { 0 }
}

/// UDP.length of a packet without payload.
pub fn udp_bytes(opcode: &str) -> usize {
    header_bytes("UDP") + opcode_header_bytes(opcode) + layout().icrc.len_bytes
}

pub fn icrc_bytes() -> usize {
    layout().icrc.len_bytes
}

pub fn ipv4_header_bytes() -> usize {
    header_bytes("IPV4")
}

/// Bytes of a frame that the ICRC does not cover.
fn uncovered_bytes() -> usize {
    header_bytes("ETH")
}

/// The bits of a frame, from its first byte, that enter the ICRC as ones: its masked fields, and all of Ethernet
/// (which it does not cover; `icrc_initial` undoes that).
pub fn icrc_ones(ipv6: bool) -> Vec<u8> {
    let ip = if ipv6 { "IPV6" } else { "IPV4" };
    let mut ones = vec![0xFF; uncovered_bytes()];
    for name in [ip, "UDP", layout().common[0]] {
        let start = 8 * ones.len();
        ones.resize(ones.len() + header_bytes(name), 0);
        let masked = layout().icrc.masked.iter().filter_map(|m| m.split_once('.')).filter(|(h, _)| *h == name);
        for field in masked.filter_map(|(h, f)| layout().field(h, f)) {
            for bit in start + field.bit_offset..start + field.bit_offset + field.width {
                ones[bit / 8] |= 0x80 >> (bit % 8);
            }
        }
    }
    ones
}

/// CRC state before the first byte of a frame whose uncovered bytes are fed as ones.
pub fn icrc_initial() -> u32 {
    mrnic_widgets::crc32_before(mrnic_wire::icrc::seeded_state(), &vec![0xFF; uncovered_bytes()])
}
