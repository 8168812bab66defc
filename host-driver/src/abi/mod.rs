//! The C structures of `infiniband/verbs.h` (rdma-core 44.0, x86-64), by their C names.
//!
//! In: nothing. Out: `#[repr(C)]` types and constants. Sizes and offsets are asserted at compile time (`layout`) and compared
//! with the installed header by `tests/abi_header.rs`. Only what programs and this library touch is spelled out; the rest keeps its place.
#![allow(non_camel_case_types)]

mod attributes;
mod constants;
mod device;
pub mod layout;
mod objects;
mod work;

pub use attributes::*;
pub use constants::*;
pub use device::*;
pub use objects::*;
pub use work::*;

/// A member of a table of operations which this library never fills.
pub type Unused = Option<unsafe extern "C" fn()>;
