//! Verilog text in, a Verilated model as a Rust value out: compiled at run time, kept in a cache.
//!
//! ```no_run
//! use mrnic_verilated::{build, ModelSpec};
//! let verilog = "module add(input clock, input [7:0] a, output reg [7:0] q); always @(posedge clock) q <= q + a; endmodule";
//! let model = build(&ModelSpec::new("add", verilog), &mut |event| eprintln!("{event:?}"))?;
//! let mut dut = model.instance("add", 1);
//! let (a, q) = (dut.input("a")?, dut.output("q")?);
//! a.set_u64(3);
//! let before = q.get_u64(); // random, decided by the seed: the register has no initial value
//! dut.cycle();
//! assert_eq!(q.get_u64(), (before + 3) & 0xff);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Sampling protocol
//! 1. Set inputs through their ports. Nothing happens yet.
//! 2. Where a combinational output is needed (a `ready`, say), call [`Dut::eval`] and read it.
//! 3. [`Dut::cycle`]: the rising edge samples the inputs as they are now, combinational logic before the registers
//!    included, with or without a previous `eval`; then the falling edge.
//! 4. Outputs read after `cycle()` are the values after the rising edge: new register state, old inputs.
//!
//! All inputs are 0 in a new instance and `eval` has been called once. Time is in picoseconds, two half periods a cycle
//! ([`Dut::set_period_ps`]); in a trace the inputs of a cycle appear at the falling edge before the rising edge that
//! samples them.
//!
//! # Speed
//! One foreign call a cycle; ports are read and written in place. A small model does several million cycles a second.
//! `ModelSpec::opt_level` trades compile time against speed: 0 or 1 for a test of a few thousand cycles.
//!
//! # Why at run time, and why an own binding
//! A build script would tie each Verilog top to a crate. Module tests, fault injection (many variants of one top),
//! parameter studies and the `mrnic` command all build models from text that exists only at run time; one mechanism
//! with one cache serves them all. Of the bindings on the registry, `verilated` and `verilator` carry a C++ shim that no
//! longer compiles and stop at 64-bit ports; `marlin` 0.21 is maintained, but cannot pass `--assert`, `--coverage` or
//! `--x-*` and needs Verilator 5.025. This one works from Debian's 5.006 to 5.052 and needs neither make nor perl.
//!
//! # Warnings
//! Any warning of Verilator fails the build; `ModelSpec::extra_args` can allow one (`-Wno-UNOPTFLAT`). [`lint`] is the strict
//! `-Wall` check for emitted text.
//!
//! # Cache
//! `$MRNIC_CACHE`, else `target/verilated` in the workspace, else `$XDG_CACHE_HOME/mrnic`. The key covers the Verilog, the
//! options, the tool's version and the shim. Safe with many processes; bounded to `$MRNIC_CACHE_ENTRIES` (512) models.
//! Verilator is looked for at `$VERILATOR`, `$VERILATOR_ROOT/bin`, the workspace's `.venv`, then PATH; ccache is used when
//! it is installed.

mod build;
mod cache;
mod compile;
mod dut;
mod error;
mod header;
mod lint;
mod model;
mod port;
mod tool;

pub use build::{build, BuildEvent, ModelSpec, Stage};
pub use dut::Dut;
pub use error::{BuildError, FileError, LintError, PortError, INSTALL_HINT};
pub use header::{Direction, PortInfo};
pub use lint::lint;
pub use model::{Initial, Model};
pub use port::Port;
pub use tool::{workspace_root, Tool};
