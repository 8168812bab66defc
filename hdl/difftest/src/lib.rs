//! Differential test of a rust-hdl block: rust-hdl's own simulation against the emitted Verilog in Verilator.
//!
//! Every widget and module has one. Copy this:
//!
//! ```
//! use mrnic_difftest::difftest;
//! use rust_hdl_core::prelude::*;
//! use rust_hdl_widgets::prelude::*;
//!
//! /// One register on a valid/ready stream.
//! #[derive(LogicBlock, Default)]
//! struct Slice {
//!     clock: Signal<In, Clock>,
//!     reset: Signal<In, Bit>,
//!     i_valid: Signal<In, Bit>,
//!     i_data: Signal<In, Bits<40>>,
//!     i_ready: Signal<Out, Bit>,
//!     o_valid: Signal<Out, Bit>,
//!     o_data: Signal<Out, Bits<40>>,
//!     o_ready: Signal<In, Bit>,
//!     full: DFF<Bit>,
//!     data: DFF<Bits<40>>,
//! }
//! impl Logic for Slice {
//!     #[hdl_gen]
//!     fn update(&mut self) {
//!         dff_setup!(self, clock, full, data);
//!         self.o_valid.next = self.full.q.val();
//!         self.o_data.next = self.data.q.val();
//!         self.i_ready.next = !self.full.q.val() | self.o_ready.val();
//!         if !self.full.q.val() | self.o_ready.val() {
//!             self.full.d.next = self.i_valid.val();
//!             self.data.d.next = self.i_data.val();
//!         }
//!         if self.reset.val() {
//!             self.full.d.next = false;
//!         }
//!     }
//! }
//!
//! # fn main() {
//! let report = difftest!(Slice::default(), clock: clock, inputs: { reset, i_valid, i_data, o_ready })
//!     .top("slice")
//!     .cycles(2000)
//!     .seed(1)
//!     .source("i_valid", "i_ready", &["i_data"])   // valid and data are held until ready
//!     .sink("o_ready")                             // from always ready to never ready
//!     .run();                                      // panics with cycle, port, values, seed and the last cycles
//! assert!(report.stuck().is_empty());              // every output has moved
//! # }
//! ```
//!
//! # The list of inputs
//! Field paths of all inputs but the clock: `a`, `i.data`, `lane[2]`, `port[0].valid`. In names, parts are joined by `_`
//! (`i_data`, `lane_2`). Leaving one out is an error. `clock: none` is for combinational blocks. Types: `Bit`, `Bits<N>`,
//! `Signed<N>`; own structs and enums with [`drive_struct!`] and [`drive_enum!`]; types of other crates with
//! [`Difftest::input_as`].
//!
//! # Stimulus
//! Each cycle every input gets a random value, 30 % of them corners (zero, ones, one bit, the previous value and its
//! neighbours, a small number). The input `reset` is high for three cycles and rarely afterwards. Then, in this order:
//! `limit` narrows ranges, `source` and `sink` obey the stream rules, and `stimulus` sets what else is wanted:
//!
//! ```text
//! .limit("length_bytes", 1..=4096)
//! .stimulus(|random, cycle, inputs| {
//!     if cycle % 100 == 0 { inputs.set("psn", 0xff_fff0u32); }              // close to the wrap
//!     if random.chance(0.1) { inputs.hold("address"); }                      // the same address back to back
//!     let accepted = inputs.previous("valid") & inputs.sampled("ready");     // what the last edge saw
//!     if accepted == 0 { inputs.hold("tag"); }
//! })
//! ```
//!
//! # Protocol
//! In each cycle: inputs are set with the clock low, both sides settle, all outputs are compared (combinational paths);
//! rising edge, all outputs are compared (registers); falling edge. Both start from power-up state, so initial values
//! are compared too; what has none starts at zero (`random_state` shows that no output depends on it). The Verilog is
//! linted with `-Wall`. A run that never moves an output fails.
//!
//! `$MRNIC_SEED` and `$MRNIC_CYCLES` override the test's own. A first run takes two to three seconds, mostly the C++
//! compiler; later ones use the cache of `mrnic-verilated`. rust-hdl simulates values above 32 bits bit by bit: prefer a
//! few thousand cycles and narrow builds of wide modules.
//! [`Difftest::mutate`] plants a fault in the text, to prove that a test would notice.

mod drive;
mod emitted;
mod harness;
mod inputs;
mod macros;
mod ports;
mod random;
mod report;
mod run;
mod stream;

pub use drive::{take_field, Drive};
pub use harness::Difftest;
pub use inputs::{Inputs, PortSpec, Value};
pub use macros::port_name;
pub use random::Random;
pub use report::{DifftestError, Mismatch, Phase, Report};
