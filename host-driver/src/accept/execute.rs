//! Carries out one row.
//!
//! In: a row, the library, the fault. Out: its record. Programs meet in a folder of their own, on a port of their own, and have a time limit: one
//! that hangs has failed, and is ended.
use super::ladder::{Kind, Row, TESTS};
use super::pyverbs::{self, Summary};
use super::report::{Outcome, Record};
use super::{Fault, Options};
use crate::launch::{self, Ended};
use crate::link::{exports, find};
use crate::model::faults;
use crate::rtl;
use anyhow::{ensure, Context, Result};
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// For one row. Most take a second; a latency over all sizes takes one for each size, and more under loss.
const LIMIT: Duration = Duration::from_secs(180);
/// On a simulated NIC, where all sizes (168 MB) are 11 million clock cycles: a minute and a half on two idle processors, many times that on busy ones.
const LIMIT_RTL: Duration = Duration::from_secs(1200);
/// Of each output, in the report of a failure.
const LAST_LINES: usize = 15;

/// The environment variable that names the folder where processes meet.
const SESSION: &str = "MRNIC_SESSION";

/// What a row that passed has to show.
#[derive(Default)]
struct Shown {
    figure: String,
    tests: Option<Summary>,
}

/// Runs a row; what goes wrong is in the record.
pub fn row(row: &Row, fault: &Fault, options: &Options, scratch: &Path) -> Record {
    let start = Instant::now();
    let (outcome, shown) = if let Some(package) = row.missing() {
        (Outcome::NotRun(package), Shown::default())
    } else if let Some(why) = row.not_for(&options.device) {
        (Outcome::NotForDevice(why), Shown::default())
    } else {
        match run(row, fault, options, scratch) {
            Ok(shown) => (Outcome::Passed, shown),
            Err(error) => (Outcome::Failed(format!("{error:#}")), Shown::default()),
        }
    };
    let arguments = arguments_of(row, options).join(" ");
    Record {
        program: format!("{} {arguments}", row.program()).trim_end().to_owned(),
        device: options.device.clone(),
        fault: fault.name.clone(),
        outcome,
        figure: shown.figure,
        seconds: start.elapsed().as_secs_f64(),
        tests: shown.tests,
    }
}

fn arguments_of(row: &Row, options: &Options) -> Vec<String> {
    row.arguments(&options.device, options.quick)
}

fn limit_of(options: &Options) -> Duration {
    if options.device == "rtl" {
        LIMIT_RTL
    } else {
        LIMIT
    }
}

fn run(row: &Row, fault: &Fault, options: &Options, scratch: &Path) -> Result<Shown> {
    // Removed with all that the programs left in it.
    let session = tempfile::tempdir_in(scratch).context("a folder for the programs to meet in")?;
    let (arguments, limit) = (arguments_of(row, options), limit_of(options));
    if options.device == "rtl" && row.kind != Kind::Symbols {
        let scenario = fault.scenario.as_ref().map(|path| path.as_os_str());
        rtl::serve::ensure_served(&rtl::serve::program()?, session.path(), scenario)?;
    }
    let command = |program: &str, rest: &[String]| -> Result<Command> {
        let line: Vec<String> = std::iter::once(program.to_owned()).chain(rest.iter().cloned()).collect();
        let mut command = launch::command(&options.library_folder, &line)?;
        command.env(crate::provider::VARIABLE, &options.device).env(SESSION, session.path()).env_remove(faults::VARIABLE);
        if let Some(scenario) = &fault.scenario {
            command.env(faults::VARIABLE, scenario);
        }
        Ok(command)
    };
    match row.kind {
        Kind::Symbols => symbols(&options.library_folder.join(crate::link::SONAME)),
        Kind::Single => {
            let ended = succeed(launch::single(command(row.program(), &arguments)?, limit)?, "the program", limit)?;
            ensure!(ended.output.contains("mrnic0"), "it does not name the device mrnic0:\n{}", ended.output);
            Ok(Shown::default())
        }
        Kind::Refused => refused(row.program(), arguments, limit, command),
        Kind::Pair => pair(row, row.program(), arguments, fault, limit, command),
        Kind::Soak => {
            let own = options.soak.to_str().context("this program's path is no text")?;
            let seed = ["--seed".to_owned(), options.seed.to_string()];
            pair(row, own, [vec!["soak".to_owned()], arguments, seed.to_vec()].concat(), fault, limit, command)
        }
        Kind::Pyverbs => {
            let tests = session.path().join("tests");
            pyverbs::unpack(Path::new(TESTS), &tests)?;
            let script = tests.join("run_tests.py").display().to_string();
            let module = arguments.first().filter(|m| m.starts_with("test_"));
            let words: Vec<String> = [Some(script), Some("-v".to_owned()), module.cloned()].into_iter().flatten().collect();
            // The distribution's Python: the bindings are its.
            let mut python = command("/usr/bin/python3", &words)?;
            python.current_dir(session.path());
            let ended = succeed(launch::single(python, limit)?, "Python", limit)?;
            let summary =
                pyverbs::read(&ended.output).map_err(|why| anyhow::anyhow!("{why}:\n{}", last_lines(&ended.output)))?;
            ensure!(summary.passed > 0, "no test ran:\n{}", last_lines(&ended.output));
            Ok(Shown { figure: summary.figure(), tests: Some(summary) })
        }
    }
}

fn pair(
    row: &Row,
    program: &str,
    mut arguments: Vec<String>,
    fault: &Fault,
    limit: Duration,
    command: impl Fn(&str, &[String]) -> Result<Command>,
) -> Result<Shown> {
    // Not the port of an earlier server, should that linger.
    arguments.extend(["-p".to_owned(), launch::free_port()?.to_string()]);
    let server = command(program, &arguments)?;
    arguments.push("127.0.0.1".to_owned());
    let client = command(program, &arguments)?;
    let (server, client) = launch::pair_within(server, client, false, Some(limit))?;
    let both = |what: String| format!("{what}\n{}{}", said("server", &server), said("client", &client));
    ensure!(!client.overdue, both(format!("the client has not ended after {limit:?}: ended")));
    // This program posts on each of its 16 QPs until enough sends are complete, and leaves with those of the other side under way: what was lost
    // then meets a QP that is gone. So whoever is second may fail, on any network that loses packets.
    let one_is_enough = row.program() == "ibv_srq_pingpong" && fault.scenario.is_some();
    if !(one_is_enough && (client.status.success() || server.status.success())) {
        ensure!(client.status.success(), both(format!("the client failed ({})", client.status)));
        ensure!(!server.overdue, both("the server does not end after its client: ended".to_owned()));
        ensure!(server.status.success(), both(format!("the server failed ({})", server.status)));
    }
    let done = if client.status.success() { &client } else { &server };
    match super::figure::figure(row.program(), row.all_sizes(), &done.output) {
        Ok(figure) => Ok(Shown { figure, tests: None }),
        Err(why) => anyhow::bail!("{}", both(why)),
    }
}

/// Without a GID index the peer has no address: the programs fail, and are told which option is missing.
fn refused(
    program: &str,
    mut arguments: Vec<String>,
    limit: Duration,
    command: impl Fn(&str, &[String]) -> Result<Command>,
) -> Result<Shown> {
    arguments.extend(["-p".to_owned(), launch::free_port()?.to_string()]);
    let logged = |arguments: &[String]| -> Result<Command> {
        let mut command = command(program, arguments)?;
        command.env("MRNIC_VERBS_LOG", "1");
        Ok(command)
    };
    let server = logged(&arguments)?;
    arguments.push("127.0.0.1".to_owned());
    let client = logged(&arguments)?;
    let (server, client) = launch::pair_within(server, client, false, Some(limit))?;
    let both = |what: &str| format!("{what}\n{}{}", said("server", &server), said("client", &client));
    ensure!(!client.status.success() && !client.overdue, both("the client was not refused"));
    // The side that was refused ends, and the other one then misses it.
    let told = [&server, &client].iter().any(|side| side.output.contains("-g 0"));
    ensure!(told, both("neither side was told what to do"));
    Ok(Shown { figure: "refused: it needs -g 0".to_owned(), tests: None })
}

fn succeed(ended: Ended, who: &str, limit: Duration) -> Result<Ended> {
    ensure!(!ended.overdue, "{who} has not ended after {limit:?}: ended\n{}", last_lines(&ended.output));
    ensure!(ended.status.success(), "{who} failed ({})\n{}", ended.status, last_lines(&ended.output));
    Ok(ended)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
}

fn said(name: &str, ended: &Ended) -> String {
    last_lines(&ended.output).lines().map(|line| format!("  {name}: {line}\n")).collect()
}

/// Every symbol has a version, and all that the installed library exports is there in the same version.
fn symbols(library: &Path) -> Result<Shown> {
    let own = exports(library)?;
    let bare: Vec<_> = own.iter().filter(|e| !e.version.starts_with("IBVERBS_")).map(|e| e.name.as_str()).collect();
    ensure!(!own.is_empty() && bare.is_empty(), "symbols without a version: {}", bare.join(", "));
    let Some(installed) = find() else { return Ok(Shown { figure: format!("{} symbols", own.len()), tests: None }) };
    let of = |all: &[crate::link::Exported]| -> BTreeSet<String> {
        all.iter().filter(|e| !e.hidden).map(|e| format!("{}@{}", e.name, e.version)).collect()
    };
    let (theirs, ours) = (of(&exports(&installed)?), of(&own));
    let missing: Vec<_> = theirs.difference(&ours).map(String::as_str).collect();
    ensure!(missing.is_empty(), "missing, but in {}: {}", installed.display(), missing.join(", "));
    Ok(Shown { figure: format!("{} symbols, with all {} of the installed library", own.len(), theirs.len()), tests: None })
}
