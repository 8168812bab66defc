//! Width-aware Verilog-2005 back end over rust-hdl's public AST.
