//! Results for people and for programs.
//!
//! In: rows. Out: a table, JSON. Guarantees: what is bad is named once more at the end.
use crate::error::FormalError;
use crate::harness::Harness;
use crate::prove::Row;
use serde_json::json;
use std::path::Path;

/// The heading and one line a row.
pub fn line(row: &Row) -> String {
    let property = if row.lemma { format!("  ({})", row.property) } else { row.property.clone() };
    let verdict = if row.good { row.result.clone() } else { format!("BAD: {}", row.result) };
    let trace = row.trace.as_ref().map(|t| format!("; counterexample: {}", t.display())).unwrap_or_default();
    format!("{:<17} {property:<54} {:<9} {:>5} {:>7.1} s  {verdict}{trace}", row.harness, row.engine, row.depth, row.seconds)
}

pub fn heading() -> String {
    format!("{:<17} {:<54} {:<9} {:>5} {:>9}  result", "harness", "property (in brackets: lemma)", "engine", "depth", "time")
}

/// Writes all rows, with the assumptions that they rest on.
pub fn write(file: &Path, harnesses: &[&'static Harness], rows: &[Row]) -> Result<(), FormalError> {
    let about: Vec<_> = harnesses
        .iter()
        .map(
            |h| json!({ "harness": h.name, "file": h.file, "window_bits": h.full.window_bits, "assumptions": h.assumptions() }),
        )
        .collect();
    let seconds: f64 = rows.iter().map(|r| r.seconds).sum();
    let text =
        serde_json::to_string_pretty(&json!({ "harnesses": about, "seconds": seconds, "rows": rows })).unwrap_or_default();
    std::fs::write(file, text + "\n").map_err(|source| FormalError::Write { path: file.into(), source })
}

/// An error that names what is bad.
pub fn verdict(rows: &[Row]) -> Result<(), FormalError> {
    let bad: Vec<_> = rows.iter().filter(|r| !r.good).map(|r| format!("{} {}", r.harness, r.property)).collect();
    if bad.is_empty() {
        return Ok(());
    }
    Err(FormalError::Failed { failed: bad.len(), total: rows.len(), names: bad.join("; ") })
}
