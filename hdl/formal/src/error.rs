//! What can go wrong beside a property that does not hold.
//!
//! In: names, tools, files. Out: one line that names the place and the remedy. Guarantees nothing more.
use std::path::PathBuf;
use thiserror::Error;

/// See the module documentation.
#[derive(Debug, Error)]
pub enum FormalError {
    #[error("there is no harness {name}; choose some of {known}")]
    UnknownHarness { name: String, known: String },
    #[error("{tool} is missing: run scripts/setup.sh --formal")]
    MissingTool { tool: &'static str },
    #[error("cannot start {}: {source}; run scripts/setup.sh --formal", .tool.display())]
    Start { tool: PathBuf, source: std::io::Error },
    #[error("the emitter refuses the block of harness {harness}: {reason}")]
    Emit { harness: &'static str, reason: String },
    #[error("Yosys refuses harness {harness}: {line}; its whole output is in {}", .log.display())]
    Yosys { harness: &'static str, line: String, log: PathBuf },
    #[error("harness {harness} looks at {signal}, which its block does not have; correct hdl/formal/{file}")]
    UnknownSignal { harness: &'static str, signal: String, file: &'static str },
    #[error("harness {harness}: the text of \"{fault}\" is {found} times in its block, not once: {text}; correct hdl/formal/src/harness.rs")]
    Edit { harness: &'static str, fault: &'static str, found: usize, text: &'static str },
    #[error("cannot write {}: {source}; choose another folder with --out", .path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error("{failed} of {total} results are not as they have to be: {names}")]
    Failed { failed: usize, total: usize, names: String },
}
