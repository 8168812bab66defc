//! Typed errors: what could not be done, where, and what to do about it.

use std::path::PathBuf;
use thiserror::Error;

/// A segment could not be used.
#[derive(Debug, Error)]
pub enum NetError {
    #[error("{path}: {cause}; give another folder by MRNIC_SESSION, or remove this one when no program uses it")]
    File { path: PathBuf, cause: std::io::Error },
    #[error("{path} is not a segment of this version ({detail}); remove it when no program uses it")]
    Foreign { path: PathBuf, detail: String },
    #[error("all {places} places of {path} are taken by running programs; end one, or give another folder by MRNIC_SESSION")]
    Full { path: PathBuf, places: usize },
}

/// A frame was not sent; to the transport that is a lost frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    #[error("no NIC is at place {place}")]
    Nobody { place: usize },
    #[error("the ring to place {place} is full")]
    Full { place: usize },
    #[error("a frame of {len} bytes is longer than {max}")]
    TooLong { len: usize, max: usize },
    #[error("the ring to place {place} could not be made: is the disk of the segment full?")]
    NoRing { place: usize },
}
