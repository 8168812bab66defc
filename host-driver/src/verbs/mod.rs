//! The exported C functions and the tables of operations.
//!
//! In: calls of verbs programs, with the pointers they were given before. Out: calls of the device, results in C form, errno. As in
//! any libibverbs, a pointer that did not come from this library, or was given back to it, is the program's fault.
//!
//! Every object is its public C structure followed by a part of our own; references are made to the latter only, because programs
//! write to the former at any time.
#![allow(clippy::missing_safety_doc)] // The contract of each function is its manual page.

mod address;
mod channel;
mod context;
mod convert;
mod cq;
mod cq_ex;
mod devices;
mod events;
mod hub;
mod memory;
mod post;
mod post_builder;
mod qp;
mod qp_attributes;
mod query;
mod result;
mod srq;
mod strings;
mod sync;
mod unsupported;

#[cfg(test)]
mod tests;

pub use address::*;
pub use channel::*;
pub use context::*;
pub use cq::*;
pub use devices::*;
pub use events::*;
pub use memory::*;
pub use qp::*;
pub use qp_attributes::*;
pub use query::*;
pub use srq::*;
pub use strings::*;
pub use unsupported::*;

pub(crate) use sync::{lock, lock_soon, try_lock};
