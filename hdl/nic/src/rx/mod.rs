//! Blocks of the engine: rx.
