//! Wire format of the transport: codec, header tables and ICRC, generated from one layout file (`layouts/open-mr-0.ron`).
//!
//! In: Ethernet frames or plain [`Packet`] values. Out: the other of the two, in the caller's buffer, without allocation.
//! Guarantees: `parse(emit(x)) == x`; no input makes a parser panic; no other crate needs to know a bit position.
//!
//! ```
//! use mrnic_wire::{emit_packet, parse_packet, Body, Msg, NetAddr, Packet, Ppsn};
//!
//! let net = NetAddr::v4([2, 0, 0, 0, 0, 1], [2, 0, 0, 0, 0, 2], [10, 0, 0, 1], [10, 0, 0, 2]);
//! let body = Body::Write { msg: Msg::only(7.into()), va: 0x1000, rkey: 42, length: 5, imm: None };
//! let packet = Packet { dest_qp: 17, ppsn: Ppsn::new(3), ..Packet::new(body) };
//! let mut frame = [0; 256];
//! let len = emit_packet(&mut frame, &net, 49152, &packet, b"hello")?;
//! let parsed = parse_packet(&frame[..len])?;
//! assert_eq!((parsed.packet, parsed.payload), (packet, &b"hello"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(feature = "alloc")]
extern crate alloc;

mod addr;
mod bits;
#[cfg(feature = "alloc")]
pub mod crc_matrix;
#[cfg(feature = "alloc")]
pub mod dissector;
#[cfg(feature = "alloc")]
pub mod doc;
pub mod error;
pub mod frame;
pub mod icrc;
mod packet;
mod profile;
mod sack;
mod seq;
pub mod tables;

pub use addr::{IpPair, IpVersion, NetAddr};
#[cfg(feature = "alloc")]
pub use crc_matrix::crc32_matrix;
#[cfg(feature = "alloc")]
pub use dissector::dissector;
pub use error::{EmitError, ParseError};
pub use frame::Parsed;
pub use mrc_like::MrcLike;
pub use open_mr_0::OpenMr0;
pub use packet::{
    Ack, AckFlags, AtomicOp, Body, ConnInfo, Mak, MakCode, Msg, Opcode, Packet, ParsedHeaders, PathHeader, WriteImm,
};
pub use profile::Profile;
pub use sack::SackVector;
pub use seq::{start_ppsn, Msn, Ppsn};

/// Profile `open-mr-0`, generated: header structs, constants and tables.
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod open_mr_0 {
    include!(concat!(env!("OUT_DIR"), "/open_mr_0.rs"));
}

/// Profile `mrc-like`, generated: the proof that the layout can be swapped.
#[allow(clippy::all, unused_imports)]
#[rustfmt::skip]
pub mod mrc_like {
    include!(concat!(env!("OUT_DIR"), "/mrc_like.rs"));
}

/// [`Profile::emit_packet`] of `open-mr-0`.
pub fn emit_packet(buf: &mut [u8], net: &NetAddr, udp_src: u16, packet: &Packet, payload: &[u8]) -> Result<usize, EmitError> {
    OpenMr0::emit_packet(buf, net, udp_src, packet, payload)
}

/// [`Profile::parse_packet`] of `open-mr-0`.
pub fn parse_packet(frame: &[u8]) -> Result<Parsed<'_>, ParseError> {
    OpenMr0::parse_packet(frame)
}

/// [`Profile::frame_len`] of `open-mr-0`.
pub fn frame_len(opcode: Opcode, imm: bool, payload_len: usize, ip: IpVersion) -> usize {
    OpenMr0::frame_len(opcode, imm, payload_len, ip)
}

/// [`Profile::payload_len_from_udp`] of `open-mr-0`.
pub fn payload_len_from_udp(opcode: Opcode, imm: bool, pad: u8, udp_length: u16) -> Option<usize> {
    OpenMr0::payload_len_from_udp(opcode, imm, pad, udp_length)
}
