//! The acceptance ladder: unmodified programs on the drop-in library, without and with faults in the network.
//!
//! In: which device, faults and rows. Out: a table program x device x fault -> result, the same as JSON, and whether all is well. Each
//! program has a folder to meet in, a port and a time limit of its own.
mod execute;
pub mod figure;
mod ladder;
pub mod pyverbs;
mod report;

use crate::model::faults;
use crate::verbs::lock;
use anyhow::{ensure, Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use report::{Outcome, Record};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Planes die in mid-run, as `plane-kill` of the shipped scenarios has it, but at times that fall into the run of a program.
const PLANE_KILL: &str = "\
[fabric]
loss_data = 0.001
loss_ack = 0.001
events = [
    { at_ns = 100000000, plane = 1, action = \"kill\" },
    { at_ns = 400000000, plane = 1, action = \"revive\" },
    { at_ns = 500000000, plane = 2, action = \"kill\" },
]
";

/// The same in simulated time, which passes only while a NIC has work: a run of a program lasts one to a few milliseconds.
const PLANE_KILL_RTL: &str = "\
[fabric]
loss_data = 0.001
loss_ack = 0.001
events = [
    { at_ns = 100000, plane = 1, action = \"kill\" },
    { at_ns = 400000, plane = 1, action = \"revive\" },
    { at_ns = 500000, plane = 2, action = \"kill\" },
]
";

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where the library was built.
    pub library_folder: PathBuf,
    /// The program whose subcommand `soak` is the soak.
    pub soak: PathBuf,
    pub seed: u64,
    /// The carrier.
    pub device: String,
    /// `none`, `plane-kill`, or anything that MRNIC_SCENARIO takes.
    pub faults: Vec<String>,
    pub quick: bool,
    /// Only rows whose line contains this.
    pub only: Option<String>,
    /// Rows that were not run count as failures.
    pub require: bool,
    /// So many rows run beside one another.
    pub jobs: usize,
    pub json: PathBuf,
}

/// A fault and the value of MRNIC_SCENARIO that makes it.
struct Fault {
    name: String,
    scenario: Option<PathBuf>,
}

impl Fault {
    fn new(name: &str, device: &str, scratch: &Path) -> Result<Fault> {
        let scenario = match name {
            "none" => None,
            "plane-kill" => {
                let file = scratch.join("plane-kill.toml");
                std::fs::write(&file, if device == "rtl" { PLANE_KILL_RTL } else { PLANE_KILL })
                    .with_context(|| format!("write {}", file.display()))?;
                Some(file)
            }
            other => Some(other.into()),
        };
        if let Some(scenario) = &scenario {
            faults::load(&scenario.to_string_lossy())?;
        }
        Ok(Fault { name: name.to_owned(), scenario })
    }
}

/// Runs the ladder and prints the table. True if all that ran passed, and nothing is missing that was required.
pub fn run(options: &Options) -> Result<bool> {
    let scratch = tempfile::Builder::new().prefix("mrnic-accept-").tempdir().context("a temporary folder")?;
    let chosen = |row: &&ladder::Row| {
        (row.in_quick_list(&options.device) || !options.quick)
            && options.only.as_ref().is_none_or(|text| row.line.contains(text.as_str()))
    };
    let rows: Vec<_> = ladder::LADDER.iter().filter(chosen).collect();
    ensure!(!rows.is_empty(), "no row contains '{}'", options.only.as_deref().unwrap_or_default());
    let faults =
        options.faults.iter().map(|name| Fault::new(name, &options.device, scratch.path())).collect::<Result<Vec<_>>>()?;
    let cells: Vec<_> = faults.iter().flat_map(|fault| rows.iter().map(move |row| (*row, fault))).collect();
    let progress = Progress::new(cells.len());
    let (next, heard) = (AtomicUsize::new(0), AtomicBool::new(true));
    let done: Mutex<Vec<Option<Record>>> = Mutex::new(cells.iter().map(|_| None).collect());
    let work = || {
        while heard.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some((row, fault)) = cells.get(at) else { return };
            progress.begin(row.line, &fault.name);
            let record = execute::row(row, fault, options, scratch.path());
            let mut done = lock(&done);
            if !progress.end(&record) {
                heard.store(false, Ordering::Relaxed);
            }
            done[at] = Some(record);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.min(cells.len()) {
            scope.spawn(work);
        }
        work();
    });
    if !heard.into_inner() {
        drop(scratch);
        mrnic_say::end();
    }
    let records: Vec<_> = done.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect();
    progress.finish();
    let folder = options.json.parent().filter(|dir| !dir.as_os_str().is_empty());
    folder
        .map_or(Ok(()), std::fs::create_dir_all)
        .with_context(|| format!("create the folder of {}", options.json.display()))?;
    let text = serde_json::to_string_pretty(&report::json(&records)).context("write JSON")?;
    std::fs::write(&options.json, text).with_context(|| format!("write {}", options.json.display()))?;
    let (table, skips, notes) = (report::table(&records), report::skips(&records), report::notes(&records));
    let json = options.json.display();
    if !mrnic_say::line(format_args!("{table}{skips}{notes}the same as JSON, with the name of each skipped test: {json}")) {
        drop(scratch);
        mrnic_say::end();
    }
    Ok(records.iter().all(|record| match record.outcome {
        Outcome::Passed | Outcome::NotForDevice(_) => true,
        Outcome::NotRun(_) => !options.require,
        Outcome::Failed(_) => false,
    }))
}

/// A bar on a terminal, a line for each finished program elsewhere.
struct Progress {
    bar: Option<ProgressBar>,
    left: AtomicUsize,
}

impl Progress {
    fn new(rows: usize) -> Progress {
        let bar = std::io::stdout().is_terminal().then(|| {
            let bar = ProgressBar::new(rows as u64);
            if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} [{elapsed}] {msg}") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        Progress { bar, left: rows.into() }
    }

    fn begin(&self, line: &str, fault: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{line} ({fault})"));
        }
    }

    /// `false`: nobody reads.
    fn end(&self, record: &Record) -> bool {
        let left = self.left.fetch_sub(1, Ordering::Relaxed) - 1;
        let (program, fault, word) = (&record.program, &record.fault, record.outcome.word());
        match &self.bar {
            Some(bar) => {
                bar.inc(1);
                true
            }
            None => {
                let seconds = record.seconds;
                mrnic_say::line(format_args!("{left:>3} left; {word}: {program} ({fault}, {seconds:.1} s)"))
            }
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
