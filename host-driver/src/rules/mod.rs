//! The checks of the verbs API, without C types and without side effects.
//!
//! In: what a program asked for. Out: it is allowed, or a typed error. A refused call has changed nothing.
mod access;
mod capacity;
mod transition;
mod usage;

pub use access::Access;
pub use capacity::{check_capacity, check_request, check_srq, Sizes};
pub use transition::{check_values, transition};
pub use usage::Usage;
