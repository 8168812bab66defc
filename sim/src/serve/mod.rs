//! Verilated NICs for verbs programs: `mrnic serve`.
//!
//! In: programs with the drop-in library and `MRNIC_VERBS=rtl`, at the socket of a session (crate mrnic-host-bus). Out: a NIC for each, all on one
//! simulated network; at the end figures as JSON. The server ends when the last program has left.
mod figures;
pub mod log;
mod peer;
mod ranges;
mod replay;
mod script;
mod server;
mod station;
mod watch;

use crate::models;
use crate::scenario::{HostConfig, SHIPPED};
use anyhow::{anyhow, bail, Context, Result};
use mrnic_fabric::FabricConfig;
use mrnic_host_bus::{scenario_of, socket_of};
use mrnic_nic::config::BuildConfig;
use serde::Deserialize;
use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

pub use replay::replay;
pub use server::ServeError;

/// How long the first program is waited for.
pub const FIRST_PROGRAM: Duration = Duration::from_secs(60);

/// How the NICs are served.
#[derive(Debug, Clone)]
pub struct Options {
    /// The folder where programs find the socket.
    pub session: PathBuf,
    pub build: BuildConfig,
    /// What the network was taken from, for those who want to know.
    pub scenario: String,
    pub fabric: FabricConfig,
    pub host: HostConfig,
    pub seed: u64,
    /// Compare every step of every NIC with the golden model.
    pub lockstep: bool,
    /// Do not access the memory of programs directly.
    pub dma_by_messages: bool,
    /// Log of all messages.
    pub log: Option<PathBuf>,
    /// Figures, at the end.
    pub json: PathBuf,
    /// How long another program is waited for after the last one (the first one: at least [`FIRST_PROGRAM`]).
    pub linger: Duration,
}

/// What of a scenario counts here.
#[derive(Deserialize)]
struct Network {
    #[serde(default)]
    fabric: FabricConfig,
    #[serde(default)]
    host: HostConfig,
}

/// Network and host memory of a scenario: a shipped one, or a file with a `[fabric]` table.
pub fn network(name_or_file: &str) -> Result<(FabricConfig, HostConfig)> {
    let text = match SHIPPED.iter().find(|(name, _)| *name == name_or_file) {
        Some((_, text)) => (*text).to_owned(),
        None => std::fs::read_to_string(name_or_file)
            .with_context(|| format!("cannot read scenario {name_or_file}; list the shipped ones with: mrnic scenarios"))?,
    };
    let network: Network = toml::from_str(&text).map_err(|error| anyhow!("{name_or_file}: {}", error.to_string().trim()))?;
    network.fabric.check().map_err(|fault| anyhow!("{name_or_file}: fabric.{fault}"))?;
    Ok((network.fabric, network.host))
}

/// The session is this server's as long as the file is open.
fn claim(session: &Path) -> Result<Option<File>> {
    std::fs::create_dir_all(session).with_context(|| format!("cannot make the folder {}", session.display()))?;
    let path = session.join("rtl.lock");
    let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path);
    let file = file.with_context(|| format!("cannot open {}", path.display()))?;
    // SAFETY: the descriptor is open.
    let locked = unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
    Ok(locked.then_some(file))
}

/// Serves a session until its last program has left.
pub fn run(options: &Options) -> Result<()> {
    let Some(_claim) = claim(&options.session)? else {
        bail!("{} is served already; take another folder with --session", options.session.display());
    };
    let socket = socket_of(&options.session);
    let now = log::Now::default();
    let header = log::Header {
        build: options.build.name.to_owned(),
        scenario: options.scenario.clone(),
        fabric: options.fabric.clone(),
        host: options.host.clone(),
        seed: options.seed,
    };
    let log = match &options.log {
        Some(path) => {
            Some(log::Log::create(path, &header, &now).with_context(|| format!("cannot write the log {}", path.display()))?)
        }
        None => None,
    };
    let model = models::model(&options.build, false, false)?;
    let path = scenario_of(&options.session);
    std::fs::write(&path, &options.scenario).with_context(|| format!("cannot write {}", path.display()))?;
    // What a server that was killed has left; the lock says that there is no other.
    std::fs::remove_file(&socket).ok();
    let listener = UnixListener::bind(&socket)
        .with_context(|| format!("cannot listen at {} (the path may have 107 bytes)", socket.display()))?;
    // Programs are served whether or not anybody reads this.
    let _heard = mrnic_say::line(format_args!("serving {} (build {})", socket.display(), options.build.name));
    let start = Instant::now();
    let mut server = server::Server::new(options, &model, Some(listener), log, now)?;
    let result = server.run();
    std::fs::remove_file(&socket).ok();
    let report = serde_json::json!({
        "build": options.build.name,
        "seconds": start.elapsed().as_secs_f64(),
        "programs": server.programs,
        "cycles": server.cycle,
        "nic_cycles": server.nic_cycles,
        "clock_ps": options.build.clock_ps,
        "lockstep_commits": options.lockstep.then_some(server.commits),
        "latency": server.figures.latency(),
        "bandwidth": server.figures.bandwidth(),
        "planes": server.planes(),
        "failure": result.as_ref().err().map(ToString::to_string),
    });
    let text = serde_json::to_string_pretty(&report)?;
    std::fs::write(&options.json, text).with_context(|| format!("cannot write {}", options.json.display()))?;
    result?;
    let _heard = mrnic_say::line(format_args!("figures: {}", options.json.display()));
    Ok(())
}
