//! Area and speed of the engine, block by block, with open tools.
//!
//! In: the emitted Verilog of named builds. Out: cells, memories, logic depth and the frequency after place and route of each
//! block, derived figures, and a comparison with the committed baseline (`baseline.toml`).
//! Guarantees: figures that do not depend on the machine (the frequency apart), taken from a cache when nothing changed.
//!
//! docs/synthesis.md explains the figures.
pub mod baseline;
mod cache;
pub mod check;
pub mod command;
pub mod derived;
pub mod design;
pub mod error;
pub mod figures;
pub mod full;
pub mod netlist;
pub mod report;
pub mod run;
pub mod target;
pub mod tools;
