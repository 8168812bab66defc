//! Thin binding: Verilog in, a Verilated model as a Rust value out.
