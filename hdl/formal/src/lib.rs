//! Proofs about blocks of the engine, on the Verilog that the emitter writes.
//!
//! In: the harnesses `hdl/formal/*.sv`, one a block: its assumptions, what it guarantees, what shows that this is not empty. Out: for each property a
//! proof by induction, or a counterexample as a waveform. Guarantees: every harness also finds a fault planted in its block; docs/formal.md.
pub mod blocks;
pub mod command;
pub mod design;
pub mod error;
pub mod harness;
pub mod prove;
pub mod report;
pub mod solver;
pub mod tools;

pub use command::{run, FormalArgs};
