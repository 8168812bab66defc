//! A wire layout as a type, so that the transport can be generic over it.
//! In: `Packet` values or frames. Out: the other of the two. Every profile passes the same tests.

use crate::error::{EmitError, ParseError};
use crate::frame::{self, Parsed};
use crate::icrc::Masks;
use crate::tables::LayoutInfo;
use crate::{IpVersion, NetAddr, Opcode, Packet, ParsedHeaders};
use core::fmt::Debug;

/// Implemented by generated code; the required functions are the layout, the provided ones the codec on top of it.
pub trait Profile: Copy + Default + Debug + Send + Sync + 'static {
    const NAME: &'static str;
    /// Bits of the acknowledgment vector on the wire; also the limit of a path's window in packets.
    const VECTOR_BITS: u32;
    /// Bytes of the headers that every packet begins with.
    const COMMON_LEN: usize;
    /// UDP destination port.
    const UDP_PORT: u16;
    /// `dest_qp` of path-level packets.
    const PATH_QP: u32;
    /// `Ack::rate` that sets no limit.
    const RATE_UNLIMITED: u32;
    /// Unit of `tx_ts`, `ts_echo` and `service`.
    const TIME_UNIT_NS: u32;
    const LAYOUT: &'static LayoutInfo;
    const ICRC_MASKS: &'static Masks;

    fn opcode_value(opcode: Opcode) -> u8;
    fn opcode_from(value: u8) -> Option<Opcode>;
    fn carries_payload(opcode: Opcode) -> bool;
    /// Bytes between the UDP header and the payload.
    fn header_len(opcode: Opcode, imm: bool) -> usize;
    /// Reads all headers of a UDP payload that ends with its ICRC: checks 7 to 9.
    fn parse_headers(udp_payload: &[u8]) -> Result<ParsedHeaders, ParseError>;
    /// Writes all headers to the start of a UDP payload and returns their length.
    fn emit_headers(packet: &Packet, pad: u8, out: &mut [u8]) -> Result<usize, EmitError>;

    /// Writes a whole Ethernet frame without FCS and returns its length.
    fn emit_packet(buf: &mut [u8], net: &NetAddr, udp_src: u16, packet: &Packet, payload: &[u8]) -> Result<usize, EmitError> {
        Self::emit_packet_with(buf, net, udp_src, packet, payload.len(), |out| out.copy_from_slice(payload))
    }

    /// [`Profile::emit_packet`] with the payload written in place by `fill`, which gets exactly `payload_len` bytes.
    fn emit_packet_with(
        buf: &mut [u8],
        net: &NetAddr,
        udp_src: u16,
        packet: &Packet,
        payload_len: usize,
        fill: impl FnOnce(&mut [u8]),
    ) -> Result<usize, EmitError> {
        frame::emit::<Self>(buf, net, udp_src, packet, payload_len, fill)
    }

    /// Reads a whole Ethernet frame without FCS. The order of the checks is that of the variants of [`ParseError`].
    fn parse_packet(frame: &[u8]) -> Result<Parsed<'_>, ParseError> {
        frame::parse::<Self>(frame)
    }

    /// Pad bytes after `payload_len` bytes of payload.
    fn pad_len(payload_len: usize) -> usize {
        frame::pad_len(payload_len)
    }

    /// Value of UDP.length.
    fn udp_len(opcode: Opcode, imm: bool, payload_len: usize) -> usize {
        frame::udp_len(Self::header_len(opcode, imm), payload_len)
    }

    /// Bytes of the untagged Ethernet frame without FCS.
    fn frame_len(opcode: Opcode, imm: bool, payload_len: usize, ip: IpVersion) -> usize {
        frame::before_udp(ip) + Self::udp_len(opcode, imm, payload_len)
    }

    /// Payload bytes of a packet with this UDP.length; none if its headers, pad and ICRC do not fit.
    fn payload_len_from_udp(opcode: Opcode, imm: bool, pad: u8, udp_length: u16) -> Option<usize> {
        let without_payload = Self::udp_len(opcode, imm, 0) + usize::from(pad);
        usize::from(udp_length).checked_sub(without_payload)
    }
}
