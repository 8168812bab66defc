//! Blocks of the engine: host.
