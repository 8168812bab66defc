//! The emitter, behind one function.
//! Comes in: a block. Goes out: the text of all its modules.
//! Guarantees that a refusal keeps the emitter's own words.

use rust_hdl_core::prelude::*;

pub(crate) fn verilog<B: Block>(block: &B, top: &str) -> Result<String, String> {
    mrnic_emit::emit(block, top).map(|design| design.verilog).map_err(|e| e.to_string())
}
