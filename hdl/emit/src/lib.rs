//! Width-aware Verilog-2005 back end over rust-hdl's public AST.

/// Carries text into the generated Verilog; does nothing in the simulation.
#[macro_export]
macro_rules! comment {
    ($($text:tt)*) => {};
}
