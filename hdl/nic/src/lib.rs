//! The NIC transport engine in Rust HDL.
