//! Control plane of the NIC: opens and closes connections between pairs of NICs (docs/protocol.md section 12, H1..H7).
//!
//! In: wishes of queue pairs ([`Manager::acquire`], [`Manager::release`]), control packets and the time. Out: [`Action`]s: packets to
//! send, connections to open or close in the engine. No clock, socket, thread or randomness of its own, so the same code serves
//! the verbs device, the simulator and a soft core beside the engine.
#![no_std]

extern crate alloc;

mod action;
mod config;
mod endpoint;
mod manager;
mod numbers;
mod peer;

pub use action::{Action, ControlPacket, DownReason};
pub use config::{Config, ConfigError};
pub use endpoint::Endpoint;
pub use manager::{Lease, Manager, State};

/// Version of the transport that CONNECT and ACCEPT state.
pub const VERSION: u8 = 0;
/// MPH.conn of a packet whose receiver has no number yet.
pub const NO_CONN: u16 = 0xFFFF;
