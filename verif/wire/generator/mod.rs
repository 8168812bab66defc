//! The layout generator, shared by `build.rs` and by the tests of malformed layouts.
//! In: RON text. Out: a checked [`Layout`] and from it Rust source. A layout that loads is complete: code generation cannot fail.

pub mod codegen;
mod codegen_packet;
mod error;
mod layout;
mod read;
pub mod schema;
mod validate;

pub use error::{LayoutError, Reason};
pub use layout::{Code, Constant, Field, FieldKind, Flag, Header, Icrc, Layout, Opcode, Range};
pub use read::{load, parse};
