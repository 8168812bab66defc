//! Blocks in the dialect of DIALECT.md, one idiom each: they go through the emitter, the linter and the comparison of
//! the rust-hdl simulation with the Verilated output. Every snippet of DIALECT.md is taken from here.
#![allow(dead_code)]
// written so on purpose: precedence and negations are what is tested
#![allow(clippy::precedence, clippy::nonminimal_bool)]

pub mod arrays;
pub mod corners;
pub mod fsm;
pub mod memory;
pub mod streams;
pub mod structs;
pub mod traps;
