//! What is run for a harness.
//!
//! In: harnesses. Out: one result a property, base case, set of cover statements and planted fault. Guarantees: a property counts as proven only
//! with its base case; a harness whose cover statements are not reached or that misses its fault is reported as bad.
use crate::design::Design;
use crate::error::FormalError;
use crate::harness::{Fault, Harness};
use crate::solver::{solve, Answer, Outcome, Task};
use crate::tools::Tools;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// One line of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub harness: &'static str,
    pub property: String,
    /// Only there to carry the induction.
    pub lemma: bool,
    /// `induction`, `bmc`, `cover` or `fault`.
    pub engine: &'static str,
    /// Clocks.
    pub depth: u32,
    pub good: bool,
    pub result: String,
    pub seconds: f64,
    /// Counterexample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trace: Option<PathBuf>,
}

/// Work that needs one solver process.
#[derive(Clone, Debug)]
enum Job {
    Induction(usize, &'static str),
    /// One assertion from any state, where that is a proof.
    Bounded(usize, &'static str),
    Base(usize),
    Cover(usize),
    Fault(usize, usize),
}

impl Job {
    fn engine(&self) -> &'static str {
        match self {
            Job::Induction(..) => "induction",
            Job::Base(_) | Job::Bounded(..) => "bmc",
            Job::Cover(_) => "cover",
            Job::Fault(..) => "fault",
        }
    }
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Solver processes at a time.
    pub jobs: usize,
    /// Limit of one solver run, in seconds.
    pub limit_s: u64,
    /// Files of Yosys and the solver; counterexamples.
    pub folder: PathBuf,
    /// Only these engines; all if there is none.
    pub engines: Vec<String>,
}

struct Prepared {
    harness: &'static Harness,
    full: Design,
    small: Design,
    asserts: Vec<&'static str>,
    covers: Vec<&'static str>,
}

fn prepare(tools: &Tools, harness: &'static Harness, folder: &Path) -> Result<Prepared, FormalError> {
    let full = Design::new(tools, harness, &harness.full, None, folder, harness.name)?;
    let small = Design::new(tools, harness, &harness.small, None, folder, &format!("{}.small", harness.name))?;
    let names: Vec<_> = harness.properties().iter().map(|p| p.name).collect();
    let asserts = full.present("assert", &names)?;
    let covers = small.present("cover", &harness.covers())?;
    Ok(Prepared { harness, full, small, asserts, covers })
}

/// A row of an answer where passing is good.
fn row(p: &Prepared, property: &str, lemma: bool, engine: &'static str, depth: u32, answer: &Answer, trace: PathBuf) -> Row {
    let failed = if answer.failed.is_empty() { String::new() } else { format!(": {}", answer.failed.join(", ")) };
    let (good, result, trace) = match (&answer.outcome, engine) {
        (Outcome::Passed, "induction") => (true, "proven".to_string(), None),
        (Outcome::Passed, _) => (true, "holds".to_string(), None),
        (Outcome::Failed, "induction") => (false, format!("not inductive{failed}"), Some(trace)),
        (Outcome::Failed, _) => (false, format!("fails{failed}"), Some(trace)),
        (Outcome::Undecided(why), _) => (false, why.clone(), None),
    };
    Row {
        harness: p.harness.name,
        property: property.to_string(),
        lemma,
        engine,
        depth,
        good,
        result,
        seconds: answer.seconds,
        trace: trace.filter(|t| t.exists()),
    }
}

fn cover_row(p: &Prepared, answer: &Answer) -> Row {
    let missed: Vec<_> = p.covers.iter().filter(|c| !answer.reached.iter().any(|r| r.0 == **c)).copied().collect();
    let good = missed.is_empty() && answer.outcome == Outcome::Passed && !p.covers.is_empty();
    let last = answer.reached.iter().map(|r| r.1).max().unwrap_or(0);
    let result = match &answer.outcome {
        _ if good => format!("all {} reached, the last in clock {last}", p.covers.len()),
        Outcome::Undecided(why) => why.clone(),
        _ if missed.is_empty() => "an assertion fails on the way".to_string(),
        _ => format!("not reached: {}", missed.join(", ")),
    };
    Row {
        harness: p.harness.name,
        property: "cover statements".into(),
        lemma: false,
        engine: "cover",
        depth: p.harness.reach,
        good,
        result,
        seconds: answer.seconds,
        trace: None,
    }
}

fn fault_row(h: &'static Harness, fault: &Fault, answer: &Answer) -> Row {
    let (good, result) = match &answer.outcome {
        Outcome::Failed => (true, format!("found by {}", answer.failed.first().map_or("?", String::as_str))),
        Outcome::Passed => (false, "not found".to_string()),
        Outcome::Undecided(why) => (false, why.clone()),
    };
    let property = format!("finds: {}", fault.what);
    Row {
        harness: h.name,
        property,
        lemma: false,
        engine: "fault",
        depth: h.reach,
        good,
        result,
        seconds: answer.seconds,
        trace: None,
    }
}

/// Runs a planted fault alone; tests use it too.
pub fn fault(tools: &Tools, h: &'static Harness, index: usize, options: &Options) -> Result<Row, FormalError> {
    let stem = format!("{}.fault{index}", h.name);
    let fault = &h.faults[index];
    let design = Design::new(tools, h, &h.small, Some(fault), &options.folder, &stem)?;
    let lemmas: Vec<_> = h.properties().iter().filter(|p| p.lemma).map(|p| p.name).collect();
    let smt2 = design.search(tools, &lemmas)?; // what is claimed has to find it, not what carries the induction
    let trace = options.folder.join(format!("{stem}.vcd"));
    let search = |task| solve(tools, &smt2, task, h.reach, &trace, options.limit_s);
    // a failure that can be put off is there in the last clock, and found sooner, as no clock before it has to be proven
    let mut answer = search(Task::LastClock)?;
    if answer.outcome == Outcome::Passed {
        let seconds = answer.seconds;
        answer = search(Task::Bounded)?;
        answer.seconds += seconds;
    }
    Ok(fault_row(h, fault, &answer))
}

fn run_job(tools: &Tools, prepared: &[Prepared], job: &Job, options: &Options) -> Result<Row, FormalError> {
    let trace = |p: &Prepared, name: &str| options.folder.join(format!("{}-{name}.vcd", p.harness.name));
    match job {
        Job::Induction(i, name) => {
            let p = &prepared[*i];
            let lemma = p.harness.properties().iter().any(|q| q.name == *name && q.lemma);
            let (smt2, trace) = (p.full.single(tools, name, &p.asserts)?, trace(p, name));
            let answer = solve(tools, &smt2, Task::Induction, p.harness.induction, &trace, options.limit_s)?;
            Ok(row(p, name, lemma, "induction", p.harness.induction, &answer, trace))
        }
        Job::Bounded(i, name) => {
            let p = &prepared[*i];
            let others: Vec<_> = p.asserts.iter().filter(|n| *n != name).copied().collect();
            let (smt2, trace) = (p.full.only(tools, name, &others)?, trace(p, name));
            let answer = solve(tools, &smt2, Task::Bounded, p.harness.reach, &trace, options.limit_s)?;
            Ok(row(p, name, false, "bmc", p.harness.reach, &answer, trace))
        }
        Job::Base(i) => {
            let p = &prepared[*i];
            let (smt2, trace, depth) = (p.full.whole(tools)?, trace(p, "base"), p.harness.induction + 2);
            let answer = solve(tools, &smt2, Task::Bounded, depth, &trace, options.limit_s)?;
            Ok(row(p, "base case of all", false, "bmc", depth, &answer, trace))
        }
        Job::Cover(i) => {
            let p = &prepared[*i];
            let smt2 = p.small.search(tools, &p.harness.properties().iter().map(|p| p.name).collect::<Vec<_>>())?;
            Ok(cover_row(p, &solve(tools, &smt2, Task::Cover, p.harness.reach, &trace(p, "cover"), options.limit_s)?))
        }
        Job::Fault(i, fault_index) => fault(tools, prepared[*i].harness, *fault_index, options),
    }
}

/// Runs all of it, in the order of the list; `done` is called after each result.
pub fn prove(
    tools: &Tools,
    harnesses: &[&'static Harness],
    options: &Options,
    done: &(dyn Fn(&Row, usize, usize) + Sync),
) -> Result<Vec<Row>, FormalError> {
    std::fs::create_dir_all(&options.folder).map_err(|source| FormalError::Write { path: options.folder.clone(), source })?;
    let prepared = harnesses.iter().map(|h| prepare(tools, h, &options.folder)).collect::<Result<Vec<_>, _>>()?;
    let mut jobs = Vec::new();
    for (i, p) in prepared.iter().enumerate() {
        if p.harness.induction == 0 {
            jobs.extend(p.asserts.iter().map(|name| Job::Bounded(i, name)));
        } else {
            jobs.extend(p.asserts.iter().map(|name| Job::Induction(i, name)));
            jobs.push(Job::Base(i));
        }
        jobs.push(Job::Cover(i));
        jobs.extend((0..p.harness.faults.len()).map(|f| Job::Fault(i, f)));
    }
    jobs.retain(|job| options.engines.is_empty() || options.engines.iter().any(|e| e == job.engine()));
    let total = jobs.len();
    let next = Mutex::new(0);
    let rows: Mutex<Vec<Option<Result<Row, FormalError>>>> = Mutex::new(jobs.iter().map(|_| None).collect());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, total.max(1)) {
            scope.spawn(|| loop {
                let at = {
                    let mut next = next.lock().unwrap_or_else(|e| e.into_inner());
                    *next += 1;
                    *next - 1
                };
                let Some(job) = jobs.get(at) else { return };
                let row = run_job(tools, &prepared, job, options);
                let mut rows = rows.lock().unwrap_or_else(|e| e.into_inner());
                if let Ok(row) = &row {
                    let finished = rows.iter().filter(|r| r.is_some()).count() + 1;
                    done(row, finished, total);
                }
                rows[at] = Some(row);
            });
        }
    });
    rows.into_inner().unwrap_or_else(|e| e.into_inner()).into_iter().flatten().collect()
}
