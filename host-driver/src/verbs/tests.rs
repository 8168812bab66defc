//! Programs of the C API against the loopback device, through the exported functions and the tables of operations.
//!
//! Each test is what a verbs program does; nothing reaches around the ABI.
#![allow(clippy::undocumented_unsafe_blocks)] // All is C API; the harness keeps the objects alive.
mod accounting;
mod data;
mod errors;
mod extended;
mod harness;
mod lifetimes;
mod notifications;
mod queries;
mod soak;
