//! Differential test harness: rust-hdl simulation against the Verilated output.
