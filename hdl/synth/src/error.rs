//! What can go wrong, said in one line that names the place and the remedy.
//!
//! In: the failing step. Out: [`SynthError`]. Guarantees: a tool's own message is kept.
use std::path::PathBuf;
use thiserror::Error;

/// How to get the tools: the end of every "not found" message.
pub const INSTALL_HINT: &str = "run scripts/setup.sh --synth, or set MRNIC_PYTHON to a Python that has it";

#[derive(Debug, Error)]
pub enum SynthError {
    #[error("there is no block or build {name}; build {build} has {near}; builds: {builds}")]
    UnknownName { name: String, build: String, near: String, builds: String },
    #[error("there is no build {build}; choose one of {builds}")]
    UnknownBuild { build: String, builds: String },
    #[error("there is no part {part}; choose one of {parts}")]
    UnknownPart { part: String, parts: String },
    #[error("place and route works on ecp5 only: no open tool places and routes {part}; leave --pnr out")]
    NoPlaceAndRoute { part: String },
    #[error("the netlist of {block} has no test; choose among {blocks}")]
    NoNetlistCheck { block: String, blocks: String },
    #[error("build {build} cannot be emitted: {reason}")]
    Emit { build: String, reason: String },
    #[error("no Python with {module} (looked at {looked}); {INSTALL_HINT}")]
    NoTool { module: &'static str, looked: String },
    #[error("{block} does not fit {part}: {what}")]
    DoesNotFit { block: String, part: String, what: String },
    #[error("{step} of {block} failed: {reason}; the whole log is in {}", log.display())]
    Tool { step: &'static str, block: String, reason: String, log: PathBuf },
    #[error("cannot {action} {}: {cause}", path.display())]
    Io { action: &'static str, path: PathBuf, cause: std::io::Error },
    #[error("{} is not understood: {reason}; delete it", path.display())]
    Parse { path: PathBuf, reason: String },
}

/// An [`SynthError::Io`] for use with `map_err`.
pub fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> SynthError {
    let path = path.into();
    move |cause| SynthError::Io { action, path, cause }
}
