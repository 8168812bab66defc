//! The NIC transport engine in Rust HDL.
//!
//! `config` holds the build parameters; `tx`, `rx`, `host`, `control` and `packet` hold the blocks of
//! docs/microarchitecture.md, one file each.
pub mod config;
mod filled;
pub mod tx;
pub mod rx;
pub mod host;
pub mod control;
pub mod packet;
pub mod top;
