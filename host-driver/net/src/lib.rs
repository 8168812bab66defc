//! Ethernet between NICs that live in different processes of one machine: a segment of shared memory in which each NIC has a place
//! and a ring for each NIC that sends to it.
//!
//! In: frames. Out: frames, in order, each at most once; never a torn one. No daemon and no lock: a process that is killed at any
//! point leaves the others running, and its place is taken over by the next that comes.
//!
//! ```
//! use mrnic_host_net::{Port, Segment};
//!
//! let dir = tempfile::tempdir()?;
//! let segment = Segment::open(dir.path())?;
//! let (mut a, mut b) = (Port::attach(&segment)?, Port::attach(&segment)?);
//! a.send(b.place(), 5, |buf| buf.copy_from_slice(b"hello"))?;
//! let mut got = Vec::new();
//! b.receive(8, |frame| got.push(frame.to_vec()));
//! assert_eq!(got, [b"hello"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod futex;
mod near;
mod places;
mod port;
mod ring;
mod segment;

pub use error::{NetError, SendError};
pub use near::Near;
pub use port::{Port, Rings, Sleeper, Urgency};
pub use segment::Segment;

/// NICs of a segment.
pub const PLACES: usize = 64;
/// Longest frame.
pub const FRAME_BYTES_MAX: usize = 4480;
