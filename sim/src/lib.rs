//! Verilated NICs on a simulated multi-plane fabric, and the mrnic command.
