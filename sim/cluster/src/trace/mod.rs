//! Chakra execution traces as a workload: computation, messages and collectives of each rank, and what waits for what.
//!
//! In: one file a rank. Out: a [`Trace`], whose [`Progress`] says what to post when. Guarantees: a trace that was read comes to
//! its end if every message arrives; what is not supported is refused with file, node and remedy. docs/experiments.md has the
//! subset.
mod build;
mod expand;
pub mod format;
mod progress;

pub use progress::Progress;

use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a trace was refused.
#[derive(Debug, Error)]
pub enum TraceError {
    #[error(
        "cannot read {}: {cause}; workload.trace is the part before .0.et, and network.hosts the number of files ({hosts} now)",
        file.display()
    )]
    Read { file: PathBuf, cause: std::io::Error, hosts: usize },
    #[error("{}: ends within message {message}, at byte {byte}; the file was cut off: copy it again", file.display())]
    Truncated { file: PathBuf, message: usize, byte: usize },
    #[error("{}: message {message} at byte {byte} is no node of a Chakra trace ({cause}); convert the trace to the .et form", file.display())]
    Syntax { file: PathBuf, message: usize, byte: usize, cause: String },
    #[error("{}: node {node}: {key} = {value}: {reason}; {remedy}", file.display())]
    Node { file: PathBuf, node: String, key: &'static str, value: String, reason: &'static str, remedy: Box<str> },
    #[error("{}: rank {rank} has no partner for node {id} ({name}): {reason}; give the traces of one run, all of its ranks", file.display())]
    Alone { file: PathBuf, rank: usize, id: u64, name: String, reason: String },
    #[error("{}: node {id} ({name}) never starts: what it depends on waits for it; correct ctrl_deps and data_deps", file.display())]
    Circle { file: PathBuf, id: u64, name: String },
    #[error("{}.*.et: more than {limit} steps of messages; give a shorter part of the run", prefix.display())]
    TooLong { prefix: PathBuf, limit: usize },
}

/// What a step of a trace does once nothing is left for it to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Takes this time, in ps; a computation, or nothing.
    Time(u64),
    /// A message is posted; `arrival` is the step that waits for it to be received. Done when it is acknowledged.
    Message { flow: u32, bytes: u32, arrival: u32 },
}

/// Steps in the limits of a `u32`, and of memory.
pub(crate) const STEPS_MAX: usize = 20_000_000;

/// The traces of all ranks, put together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trace {
    kinds: Vec<Kind>,
    /// Steps (and messages) that each waits for.
    waits: Vec<u32>,
    /// Where the steps that wait for each begin in `next`; one more at the end.
    first: Vec<u32>,
    next: Vec<u32>,
    /// Ranks of each flow, and its messages.
    flows: Vec<(u32, u32, u32)>,
    bytes: u64,
}

impl Trace {
    /// Reads PREFIX.0.et to PREFIX.(hosts - 1).et.
    pub fn load(prefix: &Path, hosts: usize) -> Result<Trace, TraceError> {
        let file = |rank: usize| {
            let mut name = prefix.as_os_str().to_os_string();
            name.push(format!(".{rank}.et"));
            PathBuf::from(name)
        };
        let read = |rank: usize| {
            let bytes = std::fs::read(file(rank)).map_err(|cause| TraceError::Read { file: file(rank), cause, hosts })?;
            Ok((file(rank), format::decode(&file(rank), &bytes)?))
        };
        let ranks = (0..hosts).map(read).collect::<Result<Vec<_>, TraceError>>()?;
        expand::trace(prefix, &ranks)
    }

    /// Steps of all ranks.
    pub fn steps(&self) -> usize {
        self.kinds.len()
    }

    /// Messages of all ranks.
    pub fn messages(&self) -> u64 {
        self.flows.iter().map(|f| u64::from(f.2)).sum()
    }
}
