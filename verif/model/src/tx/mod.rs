//! The sending side: paths, connections, messages and the pool of outstanding packets.
//! Each module is one concern of docs/protocol.md, sections 5 to 9, and knows nothing of bytes.

pub mod ack;
pub mod conn;
pub mod entering;
pub mod messages;
pub mod path;
pub mod pool;
pub mod responses;
pub mod slot;
pub mod timer;
