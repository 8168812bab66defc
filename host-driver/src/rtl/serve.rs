//! Starts the process with the Verilated NICs, when a program needs it.
//!
//! In: the program `mrnic`, a session's folder, a scenario. Out: NICs that are served there: those that are, or new ones. Building the Verilated
//! model shows its progress on standard error; what the server says later is in the session's folder. It ends by itself after the last program.
use crate::verbs::lock;
use anyhow::{bail, ensure, Context, Result};
use mrnic_host_bus::{scenario_of, socket_of};
use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The build of the NICs: the one that does all that programs may ask for.
pub const BUILD: &str = "sim_reads";

/// How long a server may take until it listens: its model is built by then.
const PATIENCE: Duration = Duration::from_secs(120);

/// How long the end of a server of another network is waited for.
const OTHER_PATIENCE: Duration = Duration::from_secs(10);

/// What the server says.
fn log_of(session: &Path) -> PathBuf {
    session.join("rtl.log")
}

/// The scenario with which NICs are served in the session, if they are.
fn served(session: &Path) -> Option<String> {
    UnixStream::connect(socket_of(session)).ok()?;
    Some(std::fs::read_to_string(scenario_of(session)).unwrap_or_default())
}

/// The program `mrnic`: this one, or the one beside it.
pub fn program() -> Result<PathBuf> {
    let own = std::env::current_exe().context("find this program")?;
    let beside = own.with_file_name("mrnic");
    ensure!(beside.is_file(), "there is no {}: cargo build -p mrnic-sim --bin mrnic", beside.display());
    Ok(beside)
}

/// Makes sure that there is a Verilated model. Once a process: it stays in the cache.
fn ensure_built(mrnic: &Path) -> Result<()> {
    static BUILT: Mutex<bool> = Mutex::new(false);
    let mut built = lock(&BUILT);
    if !*built {
        let mut model = Command::new(mrnic);
        model.args(["model", "--build", BUILD]).stdout(Stdio::null());
        let status = model.status().with_context(|| format!("start {}", mrnic.display()))?;
        ensure!(status.success(), "{} cannot make the Verilated model: see above", mrnic.display());
        *built = true;
    }
    Ok(())
}

/// Makes sure that NICs are served, on the network of that scenario.
pub fn ensure_served(mrnic: &Path, session: &Path, scenario: Option<&OsStr>) -> Result<()> {
    let scenario = scenario.unwrap_or_default();
    let end = Instant::now() + OTHER_PATIENCE;
    while let Some(theirs) = served(session) {
        if *theirs == *scenario {
            return Ok(());
        }
        ensure!(
            Instant::now() < end,
            "the NICs in {} are served with the scenario '{theirs}': end the programs there, or name another folder in MRNIC_SESSION",
            session.display()
        );
        std::thread::sleep(Duration::from_millis(50));
    }
    ensure_built(mrnic)?;
    std::fs::create_dir_all(session).with_context(|| format!("make the folder {}", session.display()))?;
    let path = log_of(session);
    let log = File::create(&path).with_context(|| format!("create {}", path.display()))?;
    let mut server = Command::new(mrnic);
    server.args(["serve", "--build", BUILD, "--session"]).arg(session).arg("--scenario").arg(scenario);
    // In a group of its own: an interrupt from the keyboard ends the programs, and then the server by itself.
    server.stdin(Stdio::null()).stdout(log.try_clone().context("the log's file")?).stderr(log).process_group(0);
    let mut server = server.spawn().with_context(|| format!("start {} serve", mrnic.display()))?;
    let end = Instant::now() + PATIENCE;
    while served(session).is_none() {
        // Another one may have been faster; then this one has ended, and that one will listen.
        if server.try_wait().context("look at the server")?.is_some_and(|status| !status.success()) {
            let said = std::fs::read_to_string(&path).unwrap_or_default();
            let last: Vec<_> = said.lines().rev().take(5).collect();
            if !said.contains("is served already") {
                bail!("mrnic serve has failed:\n{}", last.into_iter().rev().collect::<Vec<_>>().join("\n"));
            }
        }
        ensure!(Instant::now() < end, "mrnic serve does not listen after {PATIENCE:?}: see {}", path.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}
