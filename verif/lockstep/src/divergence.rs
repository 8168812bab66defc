//! The report of the first difference between RTL and model.
use crate::record::Record;
use std::fmt;

/// A field on both sides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    pub name: String,
    pub rtl: String,
    pub model: String,
}

impl Field {
    /// Whether both sides agree.
    pub fn agrees(&self) -> bool {
        self.rtl == self.model
    }
}

/// RTL and model differ: where, in what, and what led to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Divergence {
    /// The rule of docs/protocol.md that decides the first field that differs.
    pub rule: String,
    /// What was compared: a record, a frame, a DMA access.
    pub what: String,
    pub cycle: u64,
    pub time_ns: u64,
    /// All fields compared, the differing ones first.
    pub fields: Vec<Field>,
    /// State of the model after the step.
    pub state: Vec<(String, String)>,
    pub record: Option<Record>,
    /// The last records of that connection, oldest first.
    pub history: Vec<Record>,
    /// Nanoseconds of waveform to look at.
    pub window_ns: (u64, u64),
}

impl Divergence {
    /// Name of the first field that differs.
    pub fn field(&self) -> &str {
        self.fields.iter().find(|f| !f.agrees()).map_or("", |f| f.name.as_str())
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "RTL and model differ in {}, rule {}", self.what, self.rule)?;
        writeln!(
            f,
            "  at cycle {} ({} ns); waveform to open: {} to {} ns",
            self.cycle, self.time_ns, self.window_ns.0, self.window_ns.1
        )?;
        for x in self.fields.iter().filter(|x| !x.agrees()) {
            writeln!(f, "  * {:<16} RTL {}  model {}", x.name, x.rtl, x.model)?;
        }
        for x in self.fields.iter().filter(|x| x.agrees()) {
            writeln!(f, "    {:<16} {}", x.name, x.rtl)?;
        }
        if !self.state.is_empty() {
            writeln!(f, "  state of the model after the step:")?;
            for (name, value) in &self.state {
                writeln!(f, "    {name:<16} {value}")?;
            }
        }
        if let Some(r) = &self.record {
            writeln!(f, "  record: {r}")?;
        }
        writeln!(f, "  last records of this connection:")?;
        for r in &self.history {
            writeln!(f, "    {r}")?;
        }
        Ok(())
    }
}

impl std::error::Error for Divergence {}
