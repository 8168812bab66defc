//! One run of yosys-smtbmc.
//!
//! In: SMT-LIB, what to do, how deep. Out: what it found. Guarantees: a run that neither passed nor failed is told apart from both.
use crate::error::FormalError;
use crate::tools::Tools;
use std::path::Path;
use std::time::Instant;

/// What to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// From reset on: no assertion fails within the depth.
    Bounded,
    /// The same of the last clock alone: what comes before need not be decided.
    LastClock,
    /// Temporal induction over the depth.
    Induction,
    /// Every cover statement is reached from reset within the depth.
    Cover,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed,
    /// The time limit, or the solver gave up; with its last line.
    Undecided(String),
}

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Answer {
    pub outcome: Outcome,
    /// Assertions that fail in the trace.
    pub failed: Vec<String>,
    /// Cover statements with the clock in which they are reached.
    pub reached: Vec<(String, u32)>,
    pub unreached: Vec<String>,
    pub seconds: f64,
}

/// The name behind a text.
fn name_after(line: &str, before: &str) -> Option<String> {
    let rest = &line[line.find(before)? + before.len()..];
    let name = rest.trim_start().split([' ', '(']).next()?.trim_end_matches('.');
    let name = name.rsplit('.').next()?.to_string(); // a name inside a generate block
    (!name.is_empty()).then_some(name)
}

fn parse(text: &str, seconds: f64) -> Answer {
    let mut answer =
        Answer { outcome: Outcome::Undecided(String::new()), failed: vec![], reached: vec![], unreached: vec![], seconds };
    for line in text.lines() {
        if let Some(name) = name_after(line, "Assert failed in proof:") {
            answer.failed.push(name);
        } else if let Some(name) = name_after(line, "Unreached cover statement at") {
            answer.unreached.push(name);
        } else if let Some(name) = name_after(line, "Reached cover statement at") {
            let step = name_after(line, "in step").and_then(|s| s.parse().ok()).unwrap_or(0);
            answer.reached.push((name, step));
        }
        if line.contains("Status: PASSED") {
            answer.outcome = Outcome::Passed;
        } else if line.contains("Status: FAILED") {
            answer.outcome = Outcome::Failed;
        }
    }
    answer
}

/// Runs it. `trace`: where a counterexample goes.
pub fn solve(tools: &Tools, smt2: &Path, task: Task, depth: u32, trace: &Path, limit_s: u64) -> Result<Answer, FormalError> {
    let started = Instant::now();
    let mut command = tools.smtbmc(limit_s);
    let clocks = match task {
        Task::LastClock => format!("{}:{depth}", depth.saturating_sub(1)),
        _ => depth.to_string(),
    };
    command.args(["--noprogress", "-s", "yices", "-t"]).arg(clocks);
    match task {
        Task::Bounded | Task::LastClock => {}
        Task::Induction => drop(command.arg("-i")),
        Task::Cover => drop(command.arg("-c")),
    }
    if task != Task::Cover {
        command.arg("--dump-vcd").arg(trace);
    }
    let output = command.arg(smt2).output().map_err(|source| FormalError::Start { tool: tools.smtbmc.clone(), source })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let mut answer = parse(&text, started.elapsed().as_secs_f64());
    if let Outcome::Undecided(why) = &mut answer.outcome {
        *why = match output.status.code() {
            Some(124) => format!("not decided within {limit_s} s"),
            _ => text.lines().last().unwrap_or("no answer").trim().to_string(),
        };
    }
    Ok(answer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_smtbmc_says_is_understood() {
        let text =
            "##   0:00:00  BMC failed!\n##   0:00:00  Assert failed in proof: exactly_once\n##   0:00:00  Status: FAILED\n";
        let answer = parse(text, 0.0);
        assert_eq!((answer.outcome, answer.failed), (Outcome::Failed, vec!["exactly_once".to_string()]));
        let text = "##   0:00:00  Reached cover statement at cover_out in step 3.\n##   0:00:01  Unreached cover statement at cover_full.\n##  Status: FAILED";
        let answer = parse(text, 0.0);
        assert_eq!(answer.reached, [("cover_out".to_string(), 3)]);
        assert_eq!(answer.unreached, ["cover_full"]);
        assert_eq!(parse("##  Solver: yices\n", 0.0).outcome, Outcome::Undecided(String::new()));
    }
}
