//! Verilated NICs on a simulated multi-plane fabric, and the `mrnic` command.
//!
//! In: scenario files, emitted Verilog. Out: runs of whole NICs in lockstep with the golden model, with tables, waveforms,
//! captures and reports. Guarantees: deterministic from scenario and seed.
pub use mrnic_fabric as fabric;

pub mod atomics;
pub mod attempts;
pub mod bench;
pub mod capture;
pub mod cli;
pub mod corundum;
pub mod memory;
pub mod models;
pub mod nic;
pub mod outstanding;
pub mod receiver;
pub mod recorder;
pub mod report;
pub mod scenario;
pub mod serve;
pub mod setup;
pub mod software;
pub mod world;
