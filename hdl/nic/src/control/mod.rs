//! Blocks of the engine: control.
