//! `mrnic cluster`: runs experiments and shows their figures.
//!
//! In: the arguments. Out: tables on standard output, pages and JSON in a folder. Guarantees: an error if a figure was missed
//! that is not known to be missed, or if a message failed.
use crate::experiment::{shipped, Experiment};
use crate::figures::{figures, Figure};
use crate::report::{number, Results};
use crate::run;
use anyhow::{bail, Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;

/// Arguments of `mrnic cluster`.
#[derive(Debug, Args)]
pub struct ClusterArgs {
    /// Name of a shipped experiment, a TOML file, `all`, or `list` for the names.
    experiment: String,
    /// Runs of each point, with seeds 1 to this, instead of the file's.
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: Option<u64>,
    /// The short form: fewer and smaller runs, checked by their shape.
    #[arg(long)]
    quick: bool,
    /// Folder for NAME.html and NAME.json.
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
        println!("  {:width$}  {value:<28}  {:<14}  {}", f.name, f.target(), f.verdict());
        if let (false, Some(why)) = (f.reached, &f.missed_because) {
            println!("  {:width$}  {why}", "");
        }
    }
}

/// Runs one experiment. Returns the names of what was missed.
fn one(name: &str, args: &ClusterArgs) -> Result<Vec<String>> {
    let mut experiment = Experiment::load(name)?;
    if args.quick {
        experiment = experiment.quick();
    }
    experiment.seeds = args.seeds.unwrap_or(experiment.seeds);
    println!("{}: {}", experiment.name, experiment.title);
    let bar = progress(&experiment.name, run::count(&experiment))?;
    let runs = run::run(name, &experiment, &|| bar.inc(1))?;
    bar.finish_and_clear();
    let figures = figures(&experiment, &runs);
    print_figures(&figures);
    let results = Results { experiment: &experiment, runs: &runs, figures: &figures, quick: args.quick };
    let [page, json] = results.write(&args.out)?;
    println!("  files: {} {}", page.display(), json.display());
    let mut missed: Vec<String> =
        figures.iter().filter(|f| f.fails()).map(|f| format!("{}: {}", experiment.name, f.name)).collect();
    for r in runs.iter().filter(|r| r.outcome.failed_messages > 0) {
        let (point, series) = (&experiment.point[r.point].label, &experiment.series[r.series].label);
        let failed = r.outcome.failed_messages;
        missed.push(format!("{}: {failed} messages failed ({point}, {series}, seed {})", experiment.name, r.seed));
    }
    Ok(missed)
}

/// Runs the command.
pub fn run(args: &ClusterArgs) -> Result<()> {
    if args.experiment == "list" {
        for (name, text) in shipped::SHIPPED {
            println!("{name:<12} {}", Experiment::parse(name, text)?.title);
        }
        return Ok(());
    }
    std::fs::create_dir_all(&args.out)
        .with_context(|| format!("cannot make the folder {}; choose another with --out", args.out.display()))?;
    let names: Vec<&str> = match args.experiment.as_str() {
        "all" => shipped::SHIPPED.iter().map(|(name, _)| *name).collect(),
        name => vec![name],
    };
    let mut missed = Vec::new();
    for name in names {
        missed.extend(one(name, args)?);
    }
    if !missed.is_empty() {
        bail!("missed: {}; the pages in {} show every run", missed.join("; "), args.out.display());
    }
    Ok(())
}
