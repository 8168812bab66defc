//! The NIC transport engine in Rust HDL.
//!
//! `config` holds the build parameters; `tx`, `rx`, `host`, `control` and `packet` hold the blocks of
//! docs/microarchitecture.md, one file each.
pub mod config;
pub mod control;
mod filled;
pub mod host;
pub mod packet;
pub mod rx;
pub mod top;
pub mod tx;
