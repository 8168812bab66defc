//! The table of results, and the same as JSON.
//!
//! In: records. Out: text with a line a record, what failed in full, missing packages and skipped tests in a line each.
use super::pyverbs::Summary;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// What became of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    /// With what the programs said at last.
    Failed(String),
    /// The package that is missing.
    NotRun(&'static str),
    /// Why the device cannot run it.
    NotForDevice(&'static str),
}

impl Outcome {
    pub fn word(&self) -> &'static str {
        match self {
            Outcome::Passed => "ok",
            Outcome::Failed(_) => "FAILED",
            Outcome::NotRun(_) => "not run",
            Outcome::NotForDevice(_) => "-",
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Record {
    pub program: String,
    pub device: String,
    pub fault: String,
    pub outcome: Outcome,
    pub figure: String,
    pub seconds: f64,
    pub tests: Option<Summary>,
}

/// Columns as wide as what is in them.
pub fn table(records: &[Record]) -> String {
    let head = ["program and arguments", "device", "fault", "result", "figure"].map(str::to_owned);
    let cells = |r: &Record| {
        let result = r.outcome.word().to_owned();
        [r.program.clone(), r.device.clone(), r.fault.clone(), result, r.figure.clone()]
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(records.iter().map(cells)).collect();
    let width: Vec<usize> = (0..5).map(|i| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for (number, row) in rows.iter().enumerate() {
        let columns: Vec<_> = row.iter().zip(&width).map(|(cell, width)| format!("{cell:<width$}")).collect();
        let _ = writeln!(text, "{}", columns.join(" | ").trim_end());
        if number == 0 {
            let rules: Vec<_> = width.iter().map(|width| "-".repeat(*width)).collect();
            let _ = writeln!(text, "{}", rules.join("-|-"));
        }
    }
    text
}

/// What has to be said besides the table.
pub fn notes(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records {
        if let Outcome::Failed(why) = &record.outcome {
            let _ = writeln!(text, "\nFAILED: {} (fault: {})\n{why}", record.program, record.fault);
        }
    }
    let mut missing: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for record in records {
        if let Outcome::NotRun(package) = record.outcome {
            missing.entry(package).or_default().insert(&record.program);
        }
    }
    if !missing.is_empty() {
        let packages: Vec<_> = missing.keys().copied().collect();
        let rows: Vec<_> = missing.into_values().flatten().collect();
        let _ = writeln!(
            text,
            "not run, because of missing packages (apt-get install {}): {}",
            packages.join(" "),
            rows.join("; ")
        );
    }
    let count = |word| records.iter().filter(|r| r.outcome.word() == word).count();
    let (passed, failed, not_run) = (count("ok"), count("FAILED"), count("not run"));
    let _ = writeln!(text, "{passed} passed, {failed} failed, {not_run} not run");
    text
}

/// How many tests were skipped for which reason, over all modules that ran.
pub fn skips(records: &[Record]) -> String {
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (reason, names) in records.iter().filter_map(|r| r.tests.as_ref()).flat_map(|t| &t.skipped) {
        tests.entry(reason).or_default().extend(names.iter().map(String::as_str));
    }
    let mut reasons: Vec<_> = tests.iter().map(|(reason, names)| (names.len(), *reason)).collect();
    reasons.sort_by_key(|(count, reason)| (std::cmp::Reverse(*count), *reason));
    reasons.iter().fold(String::new(), |text, (count, reason)| format!("{text}{count:>4} skipped: {reason}\n"))
}

pub fn json(records: &[Record]) -> serde_json::Value {
    let record = |r: &Record| {
        let detail = match &r.outcome {
            Outcome::Passed => None,
            Outcome::Failed(why) => Some(why.as_str()),
            Outcome::NotRun(why) | Outcome::NotForDevice(why) => Some(*why),
        };
        let tests = r.tests.as_ref().map(|t| json!({ "passed": t.passed, "skipped": t.skipped }));
        json!({
            "program": r.program, "device": r.device, "fault": r.fault, "result": r.outcome.word(), "detail": detail,
            "figure": r.figure, "seconds": r.seconds, "tests": tests,
        })
    };
    json!({ "records": records.iter().map(record).collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(program: &str, outcome: Outcome) -> Record {
        let (device, fault) = ("model".to_owned(), "none".to_owned());
        Record { program: program.to_owned(), device, fault, outcome, figure: String::new(), seconds: 0.5, tests: None }
    }

    #[test]
    fn failures_and_missing_packages_are_named() {
        let failed = Outcome::Failed("server: no route".to_owned());
        let records = [record("a -n 1", Outcome::Passed), record("b", failed), record("c -x", Outcome::NotRun("perftest"))];
        let (table, notes) = (table(&records), notes(&records));
        assert_eq!(table.lines().count(), 5);
        assert!(table.lines().nth(3).is_some_and(|l| l.starts_with("b ") && l.ends_with("| FAILED  |")), "{table}");
        for words in
            ["FAILED: b (fault: none)\nserver: no route", "apt-get install perftest): c -x", "1 passed, 1 failed, 1 not run"]
        {
            assert!(notes.contains(words), "{notes}");
        }
        assert_eq!(json(&records)["records"][2]["detail"], "perftest");
    }
}
