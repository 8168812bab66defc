//! What passes between host software and a NIC.
//!
//! In: configurations and accesses. Out: the rows that software writes into the NIC's tables ([`rows`]), and, where the NIC is in another
//! process, the messages that stand for accesses of its bus ([`Message`], [`Inbox`]). No input makes it panic.
mod inbox;
mod message;
pub mod place;
pub mod rows;

pub use inbox::{Inbox, Received};
pub use message::{Malformed, Message, BODY_BYTES_MAX, HEADER_BYTES, MAGIC, VERSION};

use std::path::{Path, PathBuf};

/// Bytes that one DMA message moves at most; larger accesses are split.
pub const DMA_BYTES_MAX: usize = 4096;

/// The socket at which the NICs of a session listen.
pub fn socket_of(session: &Path) -> PathBuf {
    session.join("rtl.sock")
}

/// The file that names the scenario with which the NICs of a session are served.
pub fn scenario_of(session: &Path) -> PathBuf {
    session.join("rtl.scenario")
}

/// The folder of a session when none is named: one of this user's in shared memory.
pub fn default_session() -> PathBuf {
    // SAFETY: geteuid cannot fail.
    format!("/dev/shm/mrnic-{}", unsafe { libc::geteuid() }).into()
}
