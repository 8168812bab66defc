//! rdma-core's own tests, through pyverbs.
//!
//! In: the tests as the distribution packs them; the output of a run. Out: a folder that Python can run; how many passed, and which were
//! skipped for which reason.
use anyhow::{ensure, Context, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a run printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    pub passed: u32,
    /// By reason: names of tests.
    pub skipped: BTreeMap<String, Vec<String>>,
}

impl Summary {
    pub fn figure(&self) -> String {
        let skipped: usize = self.skipped.values().map(Vec::len).sum();
        format!("{} passed, {skipped} skipped", self.passed)
    }
}

/// Copies the tests and decompresses what is compressed.
pub fn unpack(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| format!("create {}", to.display()))?;
    for entry in std::fs::read_dir(from).with_context(|| format!("read {}", from.display()))? {
        let path: PathBuf = entry.with_context(|| format!("read {}", from.display()))?.path();
        let (Some(name), Some(stem)) = (path.file_name(), path.file_stem()) else { continue };
        if path.extension().is_some_and(|e| e == "gz") {
            let output = Command::new("gzip").arg("-dc").arg(&path).output().context("gzip does not start")?;
            ensure!(output.status.success(), "gzip cannot read {}", path.display());
            std::fs::write(to.join(stem), output.stdout).with_context(|| format!("write to {}", to.display()))?;
        } else if path.is_file() {
            std::fs::copy(&path, to.join(name)).with_context(|| format!("copy {}", path.display()))?;
        }
    }
    Ok(())
}

/// Reads the output of `unittest -v`.
pub fn read(output: &str) -> Result<Summary, String> {
    let number = |before: &str| {
        let (_, rest) = output.rsplit_once(before)?;
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().ok()
    };
    let ran = number("\nRan ").ok_or("it printed no result")?;
    let counted = number("skipped=").unwrap_or(0);
    let mut summary = Summary { passed: ran.saturating_sub(counted), ..Summary::default() };
    let mut name = "";
    for line in output.lines() {
        // "test_x (tests.test_qp.QPTest.test_x)", then a line of description or none, then "... skipped 'reason'".
        if let Some((_, rest)) = line.split_once(" (tests.") {
            name = rest.split(')').next().unwrap_or_default();
        }
        let reason = line.rsplit_once("skipped '").or_else(|| line.rsplit_once("skipped \""));
        if let Some((_, reason)) = reason {
            let reason = reason.trim_end_matches(['\'', '"']);
            summary.skipped.entry(reason.to_owned()).or_default().push(name.to_owned());
        }
    }
    let named: usize = summary.skipped.values().map(Vec::len).sum();
    if named != counted as usize {
        return Err(format!("it skipped {counted} tests, but gave a reason for {named}"));
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "\
test_cq_events_rc (tests.test_cq_events.CqEventsTestCase.test_cq_events_rc) ... ok
test_create_dm (tests.test_device.DMTest.test_create_dm)
test ibv_alloc_dm() ... skipped 'Device memory is not supported'
test_x (tests.test_y.Z.test_x) ... skipped \"Device mrnic0 doesn't have net interface\"

----------------------------------------------------------------------
Ran 3 tests in 0.034s

OK (skipped=2)
";

    #[test]
    fn skipped_tests_are_listed_with_their_reasons() {
        let summary = read(OUTPUT).unwrap();
        assert_eq!(summary.figure(), "1 passed, 2 skipped");
        assert_eq!(summary.skipped["Device memory is not supported"], ["test_device.DMTest.test_create_dm"]);
        assert_eq!(summary.skipped["Device mrnic0 doesn't have net interface"], ["test_y.Z.test_x"]);
    }

    #[test]
    fn a_skip_without_a_reason_and_a_run_without_a_result_are_failures() {
        assert!(read(&OUTPUT.replace("skipped=2", "skipped=3")).is_err());
        assert!(read("Traceback (most recent call last):\n").is_err());
    }
}
