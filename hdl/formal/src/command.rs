//! `mrnic formal`: proves blocks and shows the results.
//!
//! In: the arguments. Out: a table on standard output, JSON and counterexamples in a folder. Guarantees: an error if a property is not proven, a cover
//! statement not reached or a planted fault not found.
use crate::error::FormalError;
use crate::harness::{Harness, HARNESSES};
use crate::prove::{prove, Options};
use crate::report;
use crate::tools::Tools;
use clap::Args;
use mrnic_say::say;
use std::path::PathBuf;

/// Arguments of `mrnic formal`.
#[derive(Debug, Args)]
pub struct FormalArgs {
    /// Names of harnesses; without one all of them.
    harness: Vec<String>,
    /// List the harnesses with their properties and assumptions, prove nothing.
    #[arg(long)]
    list: bool,
    /// Run only these: induction, bmc (the base case), cover, fault.
    #[arg(long, value_parser = ["induction", "bmc", "cover", "fault"])]
    engine: Vec<String>,
    /// Solver processes at a time.
    #[arg(long, default_value_t = 2)]
    jobs: usize,
    /// Limit of one solver run, in seconds.
    #[arg(long, default_value_t = 300)]
    limit: u64,
    /// Folder for formal.json, counterexamples (NAME-PROPERTY.vcd) and the files of the tools.
    #[arg(long, default_value = "build/formal")]
    out: PathBuf,
}

/// The harnesses of these names, all without one.
pub fn choose(names: &[String]) -> Result<Vec<&'static Harness>, FormalError> {
    if names.is_empty() {
        return Ok(HARNESSES.iter().collect());
    }
    let known = || HARNESSES.iter().map(|h| h.name).collect::<Vec<_>>().join(", ");
    let find =
        |name: &String| Harness::find(name).ok_or_else(|| FormalError::UnknownHarness { name: name.clone(), known: known() });
    names.iter().map(find).collect()
}

fn list(harnesses: &[&'static Harness]) {
    for h in harnesses {
        say!("{} (hdl/formal/{})", h.name, h.file);
        for (kind, names) in [
            ("proves", h.properties().iter().filter(|p| !p.lemma).map(|p| p.name).collect::<Vec<_>>()),
            ("lemmas", h.properties().iter().filter(|p| p.lemma).map(|p| p.name).collect()),
            ("assumes", h.assumptions()),
            ("finds", h.faults.iter().map(|f| f.what).collect()),
        ] {
            say!("  {kind}: {}", names.join(", "));
        }
    }
}

/// Runs the command; returns the JSON file.
pub fn run(args: &FormalArgs) -> Result<Option<PathBuf>, FormalError> {
    let harnesses = choose(&args.harness)?;
    if args.list {
        list(&harnesses);
        return Ok(None);
    }
    let tools = Tools::find()?;
    let options = Options { jobs: args.jobs, limit_s: args.limit, folder: args.out.clone(), engines: args.engine.clone() };
    say!("{}", report::heading());
    let rows = prove(&tools, &harnesses, &options, &|row, done, total| say!("{} [{done}/{total}]", report::line(row)))?;
    let file = args.out.join("formal.json");
    report::write(&file, &harnesses, &rows)?;
    report::verdict(&rows)?;
    let proven = rows.iter().filter(|r| r.engine == "induction" && !r.lemma).count();
    let lemmas = rows.iter().filter(|r| r.lemma).count();
    let seconds: f64 = rows.iter().map(|r| r.seconds).sum();
    say!("{proven} properties proven with {lemmas} lemmas, every planted fault found, {seconds:.0} s of solving");
    Ok(Some(file))
}
