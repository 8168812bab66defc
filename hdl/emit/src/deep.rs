//! Room for big blocks: a rust-hdl block is one structure on the stack while it is made, and walking it goes deep.
//!
//! In: work. Out: its result. Guarantees: the work has 256 MiB of stack in a thread named as the caller's; its panic goes on in the caller.
use crate::{emit, Design, EmitError};
use rust_hdl_core::block::Block;
use std::panic::resume_unwind;
use std::thread::{current, scope, Builder};

/// Enough for the whole engine in its widest build; pages that are not touched cost nothing.
const STACK_BYTES: usize = 256 << 20;

/// Does `work` with 256 MiB of stack.
///
/// # Panics
/// If `work` does, or if the system gives no thread.
pub fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    let name = current().name().unwrap_or("deep stack").to_string();
    scope(|s| {
        let thread = Builder::new().name(name).stack_size(STACK_BYTES).spawn_scoped(s, work);
        thread
            .expect("the system gives a thread with 256 MiB of address space")
            .join()
            .unwrap_or_else(|panic| resume_unwind(panic))
    })
}

/// Makes a block and emits it as `top_name`, with a stack that is large enough for any block.
pub fn emit_new<B: Block>(top_name: &str, make: impl FnOnce() -> B + Send) -> Result<Design, EmitError> {
    on_deep_stack(|| emit(&make(), top_name))
}
