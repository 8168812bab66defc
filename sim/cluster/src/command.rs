//! `mrnic cluster`: runs experiments, or parts of them, puts parts together, and shows the figures.
//!
//! In: the arguments. Out: tables on standard output, pages and JSON in a folder. Guarantees: an error if a figure was missed
//! that is not known to be missed, or if a message failed.
use crate::experiment::{shipped, Experiment};
use crate::figures::{figures, Figure};
use crate::part::{merge, version, Merged, Part, Share};
use crate::report::index::{Entry, Index};
use crate::report::{number, Results};
use crate::run::{self, Run};
use anyhow::{bail, Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use mrnic_say::say;
use std::path::PathBuf;

/// Arguments of `mrnic cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Name of a shipped experiment, a TOML file, `all`, `list` for the names, or `merge` to put parts together.
    experiment: String,
    /// After `merge`: the files of all parts.
    files: Vec<PathBuf>,
    /// Runs of each point, with seeds 1 to this, instead of the file's.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// The short form: fewer and smaller runs, checked by their shape.
    #[arg(long)]
    quick: bool,
    /// With `all`: the experiments that take long, too.
    #[arg(long)]
    long: bool,
    /// Run part I of N only (counted from 0) and write NAME.I-of-N.json, for `mrnic cluster merge`.
    #[arg(long, value_name = "I/N")]
    point: Option<Share>,
    /// Folder for NAME.html and NAME.json; several experiments also make index.html.
    #[arg(long, default_value = "build/cluster")]
    out: PathBuf,
}

fn progress(name: &str, runs: u64) -> Result<ProgressBar> {
    let bar = ProgressBar::new(runs);
    let style = "{msg} [{bar:30}] {pos}/{len} runs, {elapsed}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style)?.progress_chars("=> "));
    bar.set_message(name.to_string());
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    Ok(bar)
}

fn print_figures(all: &[Figure]) {
    let width = all.iter().map(|f| f.name.chars().count()).max().unwrap_or(0);
    for f in all {
        let value = match f.value {
            None => "no value".into(),
            Some(s) if s.min == s.max => number(s.median),
            Some(s) => format!("{} ({} .. {})", number(s.median), number(s.min), number(s.max)),
        };
        say!("  {:width$}  {value:<28}  {:<14}  {}", f.name, f.target(), f.verdict());
        if let (false, Some(why)) = (f.reached, &f.missed_because) {
            say!("  {:width$}  {why}", "");
        }
    }
}

/// Messages that failed, as texts.
fn failed(experiment: &Experiment, runs: &[Run]) -> Vec<String> {
    let text = |r: &Run| {
        let (point, series) = (&experiment.point[r.point].label, &experiment.series[r.series].label);
        let failed = r.outcome.failed_messages;
        format!("{}: {failed} messages failed ({point}, {series}, seed {})", experiment.name, r.seed)
    };
    runs.iter().filter(|r| r.outcome.failed_messages > 0).map(text).collect()
}

/// Shows what a whole experiment gave and writes its files. Returns the names of what was missed.
fn show(args: &ClusterArgs, done: &Merged, index: &mut Index) -> Result<Vec<String>> {
    let Merged { experiment, quick, runs } = done;
    let figures = figures(experiment, runs);
    print_figures(&figures);
    let results = Results { experiment, runs, figures: &figures, quick: *quick };
    let [page, json] = results.write(&args.out)?;
    say!("  files: {} {}", page.display(), json.display());
    index.entries.push(Entry::of(&results)?);
    let name = |f: &Figure| format!("{}: {}", experiment.name, f.name);
    let mut missed: Vec<String> = figures.iter().filter(|f| f.fails()).map(name).collect();
    missed.extend(failed(experiment, runs));
    Ok(missed)
}

/// Runs one experiment, or the part of it. Returns the names of what was missed.
fn one(name: &str, place: &str, args: &ClusterArgs, index: &mut Index) -> Result<Vec<String>> {
    let text = Experiment::source(name)?;
    let mut experiment = Experiment::parse(name, &text)?;
    if args.quick {
        experiment = experiment.quick();
    }
    experiment.seeds = args.seeds.unwrap_or(experiment.seeds);
    say!("{}: {}", experiment.name, experiment.title);
    let share = args.point.unwrap_or(Share::ALL);
    let bar = progress(&format!("{}{place}", experiment.name), share.count(run::count(&experiment)))?;
    let runs = run::run_share(name, &experiment, share, &|| bar.inc(1))?;
    bar.finish_and_clear();
    if args.point.is_none() {
        return show(args, &Merged { experiment, quick: args.quick, runs }, index);
    }
    let missed = failed(&experiment, &runs);
    let part =
        Part { version: version(), experiment: name.into(), text, quick: args.quick, seeds: experiment.seeds, share, runs };
    let file = part.write(&experiment.name, &args.out)?;
    say!("  part {}/{}: {} runs, file: {}", share.index, share.of, part.runs.len(), file.display());
    Ok(missed)
}

fn check(args: &ClusterArgs) -> Result<()> {
    let merges = args.experiment == "merge";
    if let (false, Some(file)) = (merges, args.files.first()) {
        bail!("{} follows {}; files are given after `merge` only", file.display(), args.experiment);
    }
    if args.long && args.experiment != "all" {
        bail!("--long adds to `all`, not to {}; leave it out", args.experiment);
    }
    if merges && (args.quick || args.seeds.is_some() || args.point.is_some()) {
        bail!("--quick, --seeds and --point mean nothing for `merge`: the parts say how they were run; leave them out");
    }
    Ok(())
}

/// Runs the command.
pub fn run(args: &ClusterArgs) -> Result<()> {
    check(args)?;
    if args.experiment == "list" {
        for (name, text) in shipped::all() {
            say!("{name:<16} {}", Experiment::parse(name, text)?.title);
        }
        return Ok(());
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}; choose another with --out", args.out.display()))?;
    let mut missed = Vec::new();
    let mut index = Index::default();
    match args.experiment.as_str() {
        "merge" => {
            for whole in merge(&args.files)? {
                say!("{}: {}", whole.experiment.name, whole.experiment.title);
                missed.extend(show(args, &whole, &mut index)?);
            }
        }
        "all" => {
            let long = if args.long { shipped::LONG } else { &[] };
            for (i, (name, _)) in shipped::SHIPPED.iter().chain(long).enumerate() {
                let place = format!(" ({} of {})", i + 1, shipped::SHIPPED.len() + long.len());
                missed.extend(one(name, &place, args, &mut index)?);
            }
        }
        name => missed.extend(one(name, "", args, &mut index)?),
    }
    if index.entries.len() > 1 {
        say!("index: {}", index.write(&args.out)?.display());
    }
    if !missed.is_empty() {
        bail!("missed: {}; the pages in {} show every run", missed.join("; "), args.out.display());
    }
    Ok(())
}
