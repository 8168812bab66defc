//! What a differential test ends with.
//! Comes in: counts, or the first difference. Goes out: text that says where, what and how to see it again.
//! Guarantees that a difference names the cycle, the port, both values, the seed and the last cycles.

use std::fmt;

use mrnic_verilated::{BuildError, LintError, PortError};

/// A test that found no difference.
#[derive(Debug, Clone)]
pub struct Report {
    pub cycles: u64,
    pub seed: u64,
    /// Changes seen on each output, by name: an output at 0 was never really tested.
    pub output_changes: Vec<(String, u64)>,
    /// The emitted text.
    pub verilog: String,
}

impl Report {
    /// Outputs that never changed.
    pub fn stuck(&self) -> Vec<&str> {
        self.output_changes.iter().filter(|o| o.1 == 0).map(|o| o.0.as_str()).collect()
    }
}

/// When in the cycle two values differed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Inputs settled, before the rising edge: combinational paths.
    BeforeEdge,
    /// After the rising edge, with the same inputs: registers.
    AfterEdge,
}

/// The first difference.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    pub top: String,
    pub cycle: u64,
    pub phase: Phase,
    pub port: String,
    pub width: usize,
    /// Hexadecimal.
    pub rust: String,
    /// Hexadecimal.
    pub verilog: String,
    pub seed: u64,
    /// The last cycles, one line each.
    pub history: Vec<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match self.phase {
            Phase::BeforeEdge => "before the rising edge (combinational path)",
            Phase::AfterEdge => "after the rising edge",
        };
        writeln!(f, "{}: the Verilog differs from the rust-hdl simulation", self.top)?;
        writeln!(f, "  cycle {}, {when}, output {} ({} bits)", self.cycle, self.port, self.width)?;
        writeln!(f, "  rust-hdl  0x{}", self.rust)?;
        writeln!(f, "  Verilator 0x{}", self.verilog)?;
        writeln!(f, "  seed {} (MRNIC_SEED={} runs it again)", self.seed, self.seed)?;
        writeln!(f, "  last cycles, inputs | outputs of rust-hdl before the edge:")?;
        for line in &self.history {
            writeln!(f, "  {line}")?;
        }
        Ok(())
    }
}

/// Why a differential test did not pass.
#[derive(Debug, thiserror::Error)]
pub enum DifftestError {
    #[error("{0}")]
    Mismatch(Box<Mismatch>),
    #[error("the harness is not set up for {top}: {problem}")]
    Setup { top: String, problem: String },
    #[error("{top} cannot be emitted as Verilog: {reason}")]
    Emit { top: String, reason: String },
    #[error("the Verilog of {top} is not clean\n{lint}")]
    Lint { top: String, lint: Box<LintError> },
    #[error("{0}")]
    Build(Box<BuildError>),
    #[error("{0}")]
    Port(#[from] PortError),
    #[error("{top} did not settle in cycle {cycle} after {passes} passes: a combinational loop in the Rust description")]
    Unsettled { top: String, cycle: u64, passes: usize },
    #[error("no output of {top} ever changed in {cycles} cycles: the stimulus exercises nothing")]
    Vacuous { top: String, cycles: u64 },
}

impl From<BuildError> for DifftestError {
    fn from(e: BuildError) -> Self {
        DifftestError::Build(Box::new(e))
    }
}
