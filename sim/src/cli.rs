//! Arguments of the `mrnic` command and what they do.
//!
//! In: the command line. Out: text on standard output, files where asked. Guarantees: any failed check makes the exit
//! status non-zero and names the check.
use crate::bench;
use crate::corundum;
use crate::models;
use crate::report;
use crate::scenario::{Scenario, SHIPPED};
use crate::serve;
use crate::world::{Options, Outcome, World};
use anyhow::{anyhow, bail, Context, Result};
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use mrnic_host_driver::cli::Verbs;
use mrnic_nic::config::{build, BuildConfig, BUILDS};
use mrnic_say::say;
use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use tracing::Level;
use tracing_subscriber::EnvFilter;

/// The open FPGA NIC for AI-scale Ethernet: simulate it, run RDMA programs on it, emit its Verilog, measure it.
///
/// The exit status is 0 when every check passed and 1 otherwise; standard error then names the check.
#[derive(Debug, Parser)]
#[command(name = "mrnic", version, after_help = "Start with: mrnic scenarios; mrnic sim loss-1; mrnic pair -- ib_write_bw")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run Verilated NICs through a scenario, in lockstep with the golden model.
    Sim(SimArgs),
    /// Run the demonstration and write its files.
    Demo {
        /// Folder for waveform, capture and report.
        #[arg(long, default_value = "build/demo")]
        out: PathBuf,
        /// Seed instead of the scenario's.
        #[arg(long, value_parser = seed, allow_negative_numbers = true)]
        seed: Option<u64>,
    },
    /// Write the Verilog of a build.
    Emit {
        /// Named build: sim, sim_min, sim_w128, sim_reads, bench512, ecp5, corundum10g, corundum25g, corundum100g or
        /// corundum100g_4k.
        #[arg(long)]
        build: String,
        /// Folder for NAME.v and NAME.json.
        #[arg(long, default_value = "build/verilog")]
        out: PathBuf,
    },
    /// Make the Verilator model of a build, so that later runs take it from the cache.
    Model {
        /// Named build.
        #[arg(long, default_value = "sim")]
        build: String,
        /// Compile waveforms in.
        #[arg(long)]
        trace: bool,
    },
    /// Serve Verilated NICs to verbs programs (MRNIC_VERBS=rtl) until the last one has left.
    Serve(ServeArgs),
    /// Measure the project's figures; prints a table and writes bench.json. A figure that misses its target is shown as
    /// MISSED and does not change the exit status.
    Bench {
        /// Folder for bench.json.
        #[arg(long, default_value = "build/bench")]
        out: PathBuf,
        /// Measure these figures only.
        #[arg(long)]
        only: Option<bench::Group>,
    },
    /// Run two NICs in the wrapper for Corundum boards (constraints/corundum), with traffic of others through the same ports.
    Corundum(corundum::command::CorundumArgs),
    /// List the shipped scenarios.
    Scenarios,
    /// Run experiments on a simulated cluster: the golden model at every host, beside a RoCEv2 baseline.
    Cluster(mrnic_cluster::command::ClusterArgs),
    /// Measure what blocks cost and how deep they are: synthesis with Yosys, place and route with nextpnr.
    Synth(mrnic_synth::command::SynthArgs),
    /// Prove properties of blocks on their Verilog (Yosys and an SMT solver).
    Formal(mrnic_formal::FormalArgs),
    #[command(flatten)]
    Verbs(Verbs),
}

#[derive(Debug, Args)]
struct ServeArgs {
    /// Folder where programs find the NICs; without it one of this user's in /dev/shm.
    #[arg(long, env = "MRNIC_SESSION")]
    session: Option<PathBuf>,
    /// Named build.
    #[arg(long, default_value = mrnic_host_driver::rtl::serve::BUILD)]
    build: String,
    /// Network: a shipped scenario, or a TOML file; its [fabric] and [host] tables count.
    #[arg(long, env = "MRNIC_SCENARIO")]
    scenario: Option<String>,
    /// Of the network's faults and the host memory's latency.
    #[arg(long, value_parser = seed, default_value = "1", allow_negative_numbers = true)]
    seed: u64,
    /// Compare every step of every NIC with the golden model; a difference ends the server.
    #[arg(long)]
    reference: bool,
    /// Access the memory of programs by messages only.
    #[arg(long)]
    dma_by_messages: bool,
    /// Write all messages, with their simulated time, to this file.
    #[arg(long)]
    log: Option<PathBuf>,
    /// Instead of serving programs, do again what a log holds: the NICs must say and write the same in the same cycles.
    #[arg(long, value_name = "LOG", conflicts_with_all = ["log", "json", "dma_by_messages", "reference"])]
    replay: Option<PathBuf>,
    /// Figures, written at the end; without it rtl.json in the session's folder.
    #[arg(long)]
    json: Option<PathBuf>,
    /// Seconds to wait for another program after the last one.
    #[arg(long, default_value_t = 2.0)]
    linger: f64,
}

#[derive(Debug, Args)]
struct SimArgs {
    /// Name of a shipped scenario, or a TOML file.
    scenario: String,
    /// Seed instead of the scenario's.
    #[arg(long, value_parser = seed, allow_negative_numbers = true)]
    seed: Option<u64>,
    /// Waveform of node 0 (FST).
    #[arg(long)]
    wave: Option<PathBuf>,
    /// Cycles of the waveform.
    #[arg(long, default_value_t = 50_000)]
    wave_cycles: u64,
    /// Capture of every frame that leaves a NIC (pcapng).
    #[arg(long)]
    pcap: Option<PathBuf>,
    /// Report (HTML, with JSON of the same name beside it).
    #[arg(long)]
    report: Option<PathBuf>,
    /// Do not compare with the golden model.
    #[arg(long)]
    no_lockstep: bool,
    /// Also run without faults of the network and print the goodput kept.
    #[arg(long)]
    reference: bool,
}

fn find_build(name: &str) -> Result<BuildConfig> {
    build(name).with_context(|| {
        let known: Vec<_> = BUILDS.iter().map(|b| b.name).collect();
        format!("there is no build {name}; choose one of {}", known.join(", "))
    })
}

/// Progress in bytes.
pub fn bar(message: String) -> Result<ProgressBar> {
    let bar = ProgressBar::new(0);
    bar.set_style(ProgressStyle::with_template("{msg} [{bar:30}] {bytes}/{total_bytes} {elapsed}")?.progress_chars("=> "));
    bar.set_message(message);
    Ok(bar)
}

/// Makes a folder.
fn folder(out: &Path) -> Result<()> {
    std::fs::create_dir_all(out)
        .map_err(|e| anyhow!("cannot make the folder {}: {e}; choose another with --out", out.display()))
}

/// A seed on the command line.
pub fn seed(text: &str) -> Result<u64, String> {
    text.parse().map_err(|_| format!("a seed is a whole number from 0 to {}", u64::MAX))
}

/// Finds out before a long run whether its files can be written at its end, each to a place of its own.
fn writable(files: &[PathBuf]) -> Result<()> {
    for (i, file) in files.iter().enumerate() {
        if files[..i].contains(file) {
            bail!("{} would be written twice; give waveform, capture, report and its JSON different names", file.display());
        }
        let remedy =
            |e| anyhow!("cannot write {}: {e}; choose a file in a folder that exists and may be written", file.display());
        std::fs::OpenOptions::new().create(true).append(true).open(file).map_err(remedy)?;
    }
    Ok(())
}

/// Runs a scenario on its build.
pub fn run_scenario(scenario: &Scenario, options: &Options, label: &str) -> Result<Outcome> {
    let build = find_build(&scenario.build)?;
    let model = models::model(&build, options.wave.is_some(), false)?;
    let mut world = World::new(scenario, &build, &model, options)?;
    let bar = bar(format!("{label} (seed {})", scenario.seed))?;
    let outcome = world.run(&mut |done, total| {
        bar.set_length(total);
        bar.set_position(done);
    });
    bar.finish_and_clear();
    Ok(outcome?)
}

fn print_table(outcome: &Outcome) {
    let rows = report::path_table(outcome);
    let widths: Vec<_> = (0..rows[0].len()).map(|c| rows.iter().map(|r| r[c].len()).max().unwrap_or(0)).collect();
    for r in rows {
        let cells: Vec<_> = r.iter().zip(&widths).map(|(c, w)| format!("{c:>w$}")).collect();
        say!("{}", cells.join("  "));
    }
}

/// What was verified.
pub fn print_checks(outcome: &Outcome, lockstep: bool) {
    say!("memory: verified {} bytes", outcome.bytes_verified);
    if lockstep {
        say!("lockstep: {} commits, 0 mismatches", outcome.commits);
    }
}

fn sim(args: &SimArgs) -> Result<()> {
    let mut scenario = Scenario::load(&args.scenario)?;
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    let json = args.report.as_deref().map(report::json_beside);
    let files: Vec<_> = args.wave.iter().chain(&args.pcap).chain(&args.report).chain(&json).cloned().collect();
    writable(&files)?;
    let options = Options {
        wave: args.wave.clone().map(|w| (w, args.wave_cycles)),
        pcap: args.pcap.clone(),
        lockstep: !args.no_lockstep,
        ..Options::default()
    };
    say!("{}: {} (seed {})", scenario.name, scenario.description, scenario.seed);
    let outcome = run_scenario(&scenario, &options, &scenario.name)?;
    print_table(&outcome);
    print_checks(&outcome, options.lockstep);
    say!("time: {:.1} us, {:.2} Gbit/s", outcome.duration_ns as f64 / 1000.0, outcome.goodput_gbps());
    let reference = if args.reference {
        let quiet = Options { lockstep: options.lockstep, ..Default::default() };
        let r = run_scenario(&scenario.lossless(), &quiet, "lossless reference")?;
        say!("goodput: {:.1} % of the lossless run", report::goodput_percent(&outcome, &r));
        Some(r)
    } else {
        None
    };
    if let Some(file) = &args.report {
        report::write(file, &outcome, &scenario.description, reference.as_ref())?;
    }
    if !files.is_empty() {
        print_files(&files);
    }
    Ok(())
}

fn print_files(files: &[PathBuf]) {
    let names: Vec<_> = files.iter().map(|f| f.display().to_string()).collect();
    say!("files: {}", names.join(" "));
}

fn demo(out: &Path, seed: Option<u64>) -> Result<()> {
    folder(out)?;
    let mut scenario = Scenario::load("demo")?;
    scenario.seed = seed.unwrap_or(scenario.seed);
    say!("{}", scenario.description);
    let (wave, pcap, page) = (out.join("demo.fst"), out.join("demo.pcapng"), out.join("demo.html"));
    let options =
        Options { wave: Some((wave.clone(), 20_000)), pcap: Some(pcap.clone()), lockstep: true, ..Options::default() };
    let outcome = run_scenario(&scenario, &options, "1 % loss, in lockstep with the golden model")?;
    // the same model (tracing compiled in, but off), so that nothing is built twice
    let spare = out.join("lossless.fst");
    let quiet = Options { wave: Some((spare.clone(), 1)), lockstep: true, ..Default::default() };
    let reference = run_scenario(&scenario.lossless(), &quiet, "the same without loss")?;
    std::fs::remove_file(&spare).ok();
    let json = report::write(&page, &outcome, &scenario.description, Some(&reference))?;
    print_table(&outcome);
    print_checks(&outcome, true);
    say!("goodput: {:.1} % of the lossless run", report::goodput_percent(&outcome, &reference));
    print_files(&[wave, pcap, page, json]);
    Ok(())
}

fn emit(name: &str, out: &Path) -> Result<()> {
    let build = find_build(name)?;
    folder(out)?;
    let design = models::emit(&build)?;
    mrnic_verilated::lint(&design.verilog, &design.top).with_context(|| format!("build {name} is not lint clean"))?;
    let file = out.join(format!("{name}.v"));
    std::fs::write(&file, &design.verilog).with_context(|| format!("cannot write {}", file.display()))?;
    let modules: Vec<_> = design.modules.iter().map(|m| serde_json::json!({ "name": m.name, "lines": m.lines })).collect();
    let ports: Vec<_> = design
        .ports
        .iter()
        .map(|p| serde_json::json!({ "name": p.name, "direction": format!("{:?}", p.direction), "width": p.width }))
        .collect();
    let json = out.join(format!("{name}.json"));
    let about = serde_json::json!({ "build": name, "top": design.top, "modules": modules, "ports": ports });
    std::fs::write(&json, serde_json::to_string_pretty(&about)?).with_context(|| format!("cannot write {}", json.display()))?;
    let lines = design.verilog.lines().count();
    say!("{name}: {} modules, {lines} lines, lint clean", design.modules.len());
    print_files(&[file, json]);
    Ok(())
}

fn make_model(name: &str, trace: bool) -> Result<()> {
    let model = models::model(&find_build(name)?, trace, false)?;
    say!("{name}: model of {} ready, {} ports", model.top(), model.ports().len());
    Ok(())
}

fn serve_nics(args: &ServeArgs) -> Result<()> {
    if let Some(log) = &args.replay {
        say!("{}", serve::replay(log)?);
        return Ok(());
    }
    let (fabric, host) = match args.scenario.as_deref().filter(|name| !name.is_empty()) {
        Some(name) => serve::network(name)?,
        None => Default::default(),
    };
    let session = args.session.clone().unwrap_or_else(mrnic_host_bus::default_session);
    let linger = std::time::Duration::try_from_secs_f64(args.linger)
        .map_err(|e| anyhow!("--linger {}: {e}; give seconds, at least 0", args.linger))?;
    serve::run(&serve::Options {
        build: find_build(&args.build)?,
        scenario: args.scenario.clone().unwrap_or_default(),
        fabric,
        host,
        seed: args.seed,
        lockstep: args.reference,
        dma_by_messages: args.dma_by_messages,
        log: args.log.clone(),
        json: args.json.clone().unwrap_or_else(|| session.join("rtl.json")),
        linger,
        session,
    })
}

fn formal(args: &mrnic_formal::FormalArgs) -> Result<()> {
    print_files(&mrnic_formal::run(args)?.into_iter().collect::<Vec<_>>());
    Ok(())
}

fn scenarios() -> Result<()> {
    for (name, text) in SHIPPED {
        let s = Scenario::parse(name, text)?;
        say!("{name:<12} {}", s.description);
    }
    Ok(())
}

/// Runs the command.
pub fn main() -> ExitCode {
    let command = Cli::parse().command;
    // A server's log is its output.
    let level = if matches!(command, Command::Serve(_)) { Level::INFO } else { Level::ERROR };
    tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::builder().with_default_directive(level.into()).from_env_lossy())
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    let done = |()| ExitCode::SUCCESS;
    let result = match command {
        Command::Verbs(verbs) => verbs.run(),
        Command::Sim(args) => sim(&args).map(done),
        Command::Demo { out, seed } => demo(&out, seed).map(done),
        Command::Emit { build, out } => emit(&build, &out).map(done),
        Command::Model { build, trace } => make_model(&build, trace).map(done),
        Command::Bench { out, only } => bench::run(&out, only).map(|file| print_files(&[file])).map(done),
        Command::Corundum(args) => corundum::command::run(&args).map(done),
        Command::Scenarios => scenarios().map(done),
        Command::Serve(args) => serve_nics(&args).map(done),
        Command::Synth(args) => mrnic_synth::command::run(&args).map(done),
        Command::Cluster(args) => mrnic_cluster::command::run(&args).map(done),
        Command::Formal(args) => formal(&args).map(done),
    };
    result.unwrap_or_else(|e| {
        // Nobody may read this either.
        let _said = writeln!(std::io::stderr(), "mrnic: {e:#}");
        ExitCode::FAILURE
    })
}
