//! The verbs device: how software sees the NIC.
//!
//! In: calls of unmodified verbs programs (through the drop-in `libibverbs.so.1`). Out: calls of the safe trait [`device::Device`],
//! behind which stands a carrier of the transport. What lies on the program's side of that seam is here: the C ABI, argument
//! checks, object lifetimes, the QP state machine, completion channels and events.
//!
//! Layers, top to bottom: [`verbs`] (exported C functions), [`rules`] (checks, no C types), [`device`] (the seam), and
//! [`model`] (the golden model in the process), [`rtl`] (the RTL, over a bus) and [`loopback`] (the device of this crate's tests). [`link`] makes the shared object.
pub mod abi;
pub mod accept;
pub mod cli;
mod completions;
pub mod device;
mod keys;
pub mod launch;
pub mod link;
pub mod loopback;
pub mod model;
pub mod provider;
pub mod rtl;
pub mod rules;
pub mod soak;
pub mod table;
#[cfg(test)]
mod testing;
pub mod verbs;
