//! `mrnic synth`: measures blocks and compares them with the baseline.
//!
//! In: the arguments. Out: a table on standard output, synth.json. Guarantees: bad names are refused before anything runs; the
//! exit status is that of the worst block.
use crate::baseline::Baseline;
use crate::check;
use crate::derived::Derived;
use crate::design::Emitted;
use crate::error::SynthError;
use crate::figures::Figures;
use crate::full;
use crate::report::Results;
use crate::run::{Job, Runner};
use crate::target::Target;
use crate::tools::Tools;
use anyhow::{anyhow, bail, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use mrnic_nic::config::build;
use mrnic_say::say;
use mrnic_verilated::workspace_root;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Blocks whose size depends on the width of the data path: measured at 128 bits on ECP5 too.
const DATAPATH: &[&str] = &["work_fetch", "completion", "placement_dma", "packet_builder", "framer", "rx_parser", "crc32_pipe"];
const DATAPATH_BUILD: &str = "sim";

/// Arguments of `mrnic synth`.
#[derive(Debug, Args)]
pub struct SynthArgs {
    /// Blocks (`path_tracker`, `sim/framer`) or builds (`ecp5`: all its blocks); without any, the blocks of `ecp5` and
    /// `corundum100g` and the 128-bit data path.
    names: Vec<String>,
    /// Part: ecp5 or xcup; without it every part that the build is meant for.
    #[arg(long)]
    target: Option<String>,
    /// Place and route each block out of context (ECP5 only; a minute or two each).
    #[arg(long)]
    pnr: bool,
    /// Print JSON instead of the table.
    #[arg(long)]
    json: bool,
    /// Folder for synth.json.
    #[arg(long, default_value = "build/synth")]
    out: PathBuf,
    /// Compare with the baseline: growth above 5 % fails.
    #[arg(long, conflicts_with = "update")]
    check: bool,
    /// Write the figures into the baseline, hdl/synth/baseline.toml.
    #[arg(long)]
    update: bool,
    /// Place and route the stand-alone board top with the whole `ecp5` build, to a bitstream.
    #[arg(long, conflicts_with_all = ["names", "target", "pnr", "json", "check", "update"])]
    full: bool,
    /// Run the synthesised netlists of these blocks (or of all that have a test) in place of the RTL in their differential tests.
    #[arg(long, conflicts_with_all = ["target", "pnr", "json", "check", "update", "full"])]
    check_netlists: bool,
    /// With --check-netlists: every window W, not only that of the build `sim`.
    #[arg(long, requires = "check_netlists")]
    all_windows: bool,
}

/// A block of a build on a part.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Wanted {
    target: Target,
    build: String,
    block: String,
}

/// The builds that were asked for, each emitted once.
#[derive(Default)]
struct Builds(BTreeMap<String, Emitted>);

impl Builds {
    fn get(&mut self, name: &str) -> Result<&Emitted, SynthError> {
        if !self.0.contains_key(name) {
            self.0.insert(name.into(), Emitted::new(name)?);
        }
        Ok(&self.0[name])
    }

    fn all_blocks(&mut self, target: Target, name: &str) -> Result<Vec<Wanted>, SynthError> {
        let blocks = self.get(name)?.blocks().into_iter();
        Ok(blocks.map(|b| Wanted { target, build: name.into(), block: b.into() }).collect())
    }
}

/// The parts that a build is meant for.
fn meant_for(build: &str) -> Vec<Target> {
    let own: Vec<_> = Target::ALL.into_iter().filter(|t| build.starts_with(t.build())).collect();
    if own.is_empty() {
        Target::ALL.to_vec()
    } else {
        own
    }
}

/// What the arguments ask for, in order, nothing twice.
fn wanted(names: &[String], target: Option<Target>, builds: &mut Builds) -> Result<Vec<Wanted>, SynthError> {
    let mut list = Vec::new();
    let parts = |of: Vec<Target>| target.map_or(of, |t| vec![t]);
    if names.is_empty() {
        for part in parts(Target::ALL.to_vec()) {
            list.extend(builds.all_blocks(part, part.build())?);
            if part == Target::Ecp5 {
                let wide = builds.all_blocks(part, DATAPATH_BUILD)?;
                list.extend(wide.into_iter().filter(|w| DATAPATH.contains(&w.block.as_str())));
            }
        }
    }
    for name in names {
        if build(name).is_some() {
            for part in parts(meant_for(name)) {
                list.extend(builds.all_blocks(part, name)?);
            }
            continue;
        }
        let (in_build, block) = name.split_once('/').map_or((None, name.as_str()), |(b, n)| (Some(b), n));
        for part in parts(in_build.map_or(Target::ALL.to_vec(), meant_for)) {
            let of = in_build.unwrap_or(part.build());
            builds.get(of)?.check(block)?;
            list.push(Wanted { target: part, build: of.into(), block: block.into() });
        }
    }
    let mut seen: Vec<Wanted> = Vec::new();
    for w in list {
        if !seen.contains(&w) {
            seen.push(w);
        }
    }
    Ok(seen)
}

pub(crate) fn progress(steps: u64, quiet: bool) -> Result<ProgressBar> {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(steps) };
    let style = "{msg} [{bar:30}] {percent} %, {elapsed}, {eta} left";
    bar.set_style(ProgressStyle::with_template(style)?.progress_chars("=> "));
    bar.enable_steady_tick(std::time::Duration::from_millis(500));
    Ok(bar)
}

/// Measures all that is wanted. Errors of blocks are told at once and do not stop the others.
fn measure(list: &[Wanted], builds: &mut Builds, args: &SynthArgs) -> Result<(Results, usize)> {
    let runner = Runner::new(Tools::find()?)?;
    if args.pnr {
        runner.tools.need_nextpnr()?;
    }
    let mut texts = Vec::new();
    for w in list {
        texts.push(builds.get(&w.build)?.text_of(&w.block).expect("the name was checked"));
    }
    let jobs = list.iter().zip(&texts).map(|(w, verilog)| Job {
        target: w.target,
        build: &w.build,
        block: &w.block,
        verilog,
        // the whole build is placed and routed as a board top (--full), with the pins that it has there
        place_and_route: args.pnr && w.target == Target::Ecp5 && w.block != w.build,
    });
    let jobs: Vec<_> = jobs.collect();
    // time goes with the size of the source
    let size = |j: &Job| (j.verilog.len() / 100) as u64;
    let bar = progress(jobs.iter().filter(|j| runner.cached(j).is_none()).map(size).sum(), false)?;
    let mut results =
        Results { pyosys: runner.tools.pyosys.clone(), nextpnr: runner.tools.nextpnr.clone(), ..Results::default() };
    let mut failed = 0;
    for job in &jobs {
        let known = runner.cached(job).is_some();
        let measured = runner
            .measure(job, &|stage| bar.set_message(format!("{}/{} on {}: {stage}", job.build, job.block, job.target.name())));
        if !known {
            bar.inc(size(job));
        }
        match measured {
            Ok(figures) => results.blocks.push(figures),
            Err(e) => {
                failed += 1;
                bar.suspend(|| eprintln!("mrnic: {e}"));
            }
        }
    }
    bar.finish_and_clear();
    for f in results.blocks.iter().filter(|f| f.block == f.build) {
        let config = build(&f.build).expect("the build was emitted");
        results.builds.push(Derived::new(f, &config));
    }
    Ok((results, failed))
}

fn update_baseline(blocks: &[Figures]) -> Result<PathBuf> {
    let file = workspace_root().map(|w| w.join("hdl/synth/baseline.toml")).filter(|f| f.exists());
    let file = file.ok_or_else(|| anyhow!("no hdl/synth/baseline.toml here; run --update in the project's own folder"))?;
    let mut baseline = Baseline::load(&file)?;
    blocks.iter().for_each(|f| baseline.put(f));
    baseline.save(&file)?;
    Ok(file)
}

/// Runs the command.
pub fn run(args: &SynthArgs) -> Result<()> {
    if args.full {
        return full::run(&args.out);
    }
    if args.check_netlists {
        return check::run(&args.names, args.all_windows);
    }
    let target = args.target.as_deref().map(Target::parse).transpose()?;
    if let (true, Some(part)) = (args.pnr, target.filter(|t| *t != Target::Ecp5)) {
        return Err(SynthError::NoPlaceAndRoute { part: part.name().into() }.into());
    }
    let mut builds = Builds::default();
    let list = wanted(&args.names, target, &mut builds)?;
    let (results, failed) = measure(&list, &mut builds, args)?;
    let file = results.write(&args.out)?;
    if args.json {
        say!("{}", results.json());
    } else {
        say!("{}{}files: {}", results.table(), results.missed(), file.display());
    }
    let mut bad: Vec<String> = Vec::new();
    for f in results.blocks.iter().filter(|f| !f.excess().is_empty()) {
        let part = f.target.part().into();
        let error = SynthError::DoesNotFit { block: format!("{}/{}", f.build, f.block), part, what: f.excess() };
        bad.push(error.to_string());
    }
    if args.update {
        say!("baseline: {}", update_baseline(&results.blocks)?.display());
    }
    if args.check {
        let baseline = Baseline::parse(crate::baseline::COMMITTED)?;
        bad.extend(results.blocks.iter().flat_map(|f| baseline.growth(f)));
    }
    if failed > 0 {
        bad.push(format!("{failed} of {} blocks could not be measured", list.len()));
    }
    if !bad.is_empty() {
        bail!("{}", bad.join("\n       "));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::builds;

    fn ask(names: &[&str], target: Option<Target>) -> Result<Vec<String>, String> {
        let names: Vec<_> = names.iter().map(|n| n.to_string()).collect();
        let list = wanted(&names, target, &mut Builds::default()).map_err(|e| e.to_string())?;
        Ok(list.iter().map(|w| format!("{} {}/{}", w.target.name(), w.build, w.block)).collect())
    }

    #[test]
    fn a_block_is_meant_on_every_part_unless_one_is_named() {
        assert_eq!(ask(&["key_check"], None).unwrap(), ["ecp5 ecp5/key_check", "xcup corundum100g/key_check"]);
        assert_eq!(ask(&["key_check", "key_check"], Some(Target::Ecp5)).unwrap(), ["ecp5 ecp5/key_check"]);
        assert_eq!(ask(&["sim/framer"], Some(Target::Ecp5)).unwrap(), ["ecp5 sim/framer"]);
    }

    #[test]
    fn a_build_means_all_its_blocks_and_itself() {
        let all = ask(&["ecp5"], None).unwrap();
        assert!(all.len() > 40 && all.contains(&"ecp5 ecp5/path_tracker".into()), "{all:?}");
        assert_eq!(all.last().unwrap(), "ecp5 ecp5/ecp5");
        let everything = ask(&[], Some(Target::Ecp5)).unwrap();
        for block in DATAPATH {
            assert!(everything.contains(&format!("ecp5 sim/{block}")), "{block} is no block of sim");
        }
    }

    #[test]
    fn unknown_names_are_refused_with_the_known_ones() {
        let unknown = ask(&["path_trakker"], None).unwrap_err();
        assert!(unknown.starts_with("there is no block or build path_trakker; build ecp5 has path_"), "{unknown}");
        let message = ask(&["nope/framer"], None).unwrap_err();
        assert_eq!(message, format!("there is no build nope; choose one of {}", builds()));
    }
}
