//! Blocks of the engine: packet.
