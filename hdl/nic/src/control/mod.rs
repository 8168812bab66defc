//! Control side of the engine: registers and time.
pub mod csr;
pub mod event_counters;
