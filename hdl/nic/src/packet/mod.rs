//! From descriptors to frames: packet_builder, ack_builder, framer.
pub mod headers;
