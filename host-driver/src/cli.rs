//! The verbs device on the command line: the subcommands `run`, `pair`, `accept`, `soak` and `library` of the program `mrnic`.
//!
//! In: their arguments. Out: `libibverbs.so.1`, and the exit status of the programs that were run with it. Devices and scenarios are checked
//! here, where the user sees it, and not in the program that is run.
use crate::model::{faults, settings, Settings};
use crate::{accept, launch, link, provider, rtl, soak};
use anyhow::{ensure, Context, Result};
use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use mrnic_say::say;
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Results of the acceptance ladder, if no other place is named.
const JSON: &str = "accept.json";

/// Where the library is.
#[derive(Debug, Args)]
pub struct LibraryFolder {
    /// Folder of libibverbs.so.1, which is built there first.
    #[arg(long = "out", value_name = "DIR", default_value = "build/verbs")]
    folder: PathBuf,
}

impl LibraryFolder {
    fn build(&self) -> Result<&Path> {
        link::build(&self.folder)?;
        Ok(&self.folder)
    }
}

/// What stands behind the library.
#[derive(Debug, Args)]
pub struct Nic {
    /// What programs see as mrnic0.
    #[arg(long, default_value = provider::CARRIERS[0], value_parser = PossibleValuesParser::new(provider::CARRIERS))]
    device: String,
    /// Faults of the network: a shipped scenario (see `mrnic scenarios`) or a TOML file; its [fabric] table counts.
    #[arg(long, value_name = "FILE")]
    scenario: Option<String>,
    /// Paths of each connection: 1, 2, 4 or 8.
    #[arg(long, value_name = "N")]
    paths: Option<u8>,
    /// Planes that paths start on, as 0,2; needs a scenario.
    #[arg(long, value_name = "LIST")]
    planes: Option<String>,
    /// Congestion control: aimd or dctcp.
    #[arg(long, value_name = "NAME")]
    congestion: Option<String>,
    /// Counters of each path as JSON, written when the NIC leaves; `pair` writes one file for each side, NAME.server.json and NAME.client.json.
    #[arg(long, value_name = "NAME.json")]
    stats: Option<PathBuf>,
}

impl Nic {
    /// The settings as the NIC will understand them; a wrong one is refused here.
    fn settings(&self) -> Result<Settings> {
        let mut settings = Settings { fabric: self.scenario.as_deref().map(faults::load).transpose()?, ..Settings::default() };
        settings.paths = self.paths.unwrap_or(settings.paths);
        if let Some(planes) = &self.planes {
            settings.plane_mask = settings::plane_mask(planes)?;
        }
        if let Some(name) = &self.congestion {
            settings.congestion = settings::congestion(name)?;
        }
        settings.check()?;
        Ok(settings)
    }

    /// What programs learn from their environment. `side` names one of two programs.
    fn environment(&self, side: Option<&str>) -> Result<Vec<(&'static str, OsString)>> {
        self.settings()?;
        let mut variables = vec![(provider::VARIABLE, self.device.as_str().into())];
        let texts = [(settings::PATHS, self.paths.map(|n| n.to_string())), (settings::PLANES, self.planes.clone())];
        let named = [(settings::CONGESTION, self.congestion.clone())];
        variables.extend(texts.into_iter().chain(named).filter_map(|(name, text)| Some((name, text?.into()))));
        if let Some(stats) = &self.stats {
            let file = side.map_or(stats.clone(), |side| stats.with_extension(format!("{side}.json")));
            variables.push((settings::STATS, std::path::absolute(file)?.into()));
        }
        if let Some(scenario) = &self.scenario {
            // A file is found from any folder.
            let path = std::path::absolute(scenario)?;
            variables.push((faults::VARIABLE, if path.exists() { path.into() } else { scenario.into() }));
        }
        Ok(variables)
    }

    /// Starts what stands behind the library, where that is a process of its own.
    fn start(&self, environment: &[(&'static str, OsString)]) -> Result<()> {
        if self.device != "rtl" {
            return Ok(());
        }
        let of_model = self.paths.is_some() || self.planes.is_some() || self.congestion.is_some() || self.stats.is_some();
        ensure!(!of_model, "--paths, --planes, --congestion and --stats are for the device model: leave them out");
        let scenario = environment.iter().find(|(name, _)| *name == faults::VARIABLE).map(|(_, value)| value.as_os_str());
        rtl::serve::ensure_served(&rtl::serve::program()?, &rtl::session(), scenario)
    }
}

/// What the verbs device adds to the command line.
#[derive(Debug, Subcommand)]
pub enum Verbs {
    /// Run an RDMA program on the verbs device: mrnic run -- ibv_devinfo -v
    #[command(trailing_var_arg = true)]
    Run {
        #[command(flatten)]
        nic: Nic,
        #[command(flatten)]
        library: LibraryFolder,
        #[arg(required = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run an RDMA program twice, as server and as client (which gets the address as its last argument):
    /// mrnic pair --scenario loss-1 -- ib_write_bw -a
    #[command(trailing_var_arg = true)]
    Pair {
        #[command(flatten)]
        nic: Nic,
        #[command(flatten)]
        library: LibraryFolder,
        #[arg(required = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Run the acceptance ladder: programs of ibverbs-utils and perftest, rdma-core's tests, a soak; prints a table of results.
    Accept {
        #[command(flatten)]
        library: LibraryFolder,
        /// What programs see as mrnic0.
        #[arg(long, default_value = provider::CARRIERS[0], value_parser = PossibleValuesParser::new(provider::CARRIERS))]
        device: String,
        /// In the network: none, plane-kill (at times that fall into a run), a shipped scenario or a TOML file.
        #[arg(long, value_delimiter = ',', default_value = "none,loss-1,plane-kill")]
        faults: Vec<String>,
        /// A program of each kind, with few iterations.
        #[arg(long)]
        quick: bool,
        /// Only programs whose command contains this text.
        #[arg(long, value_name = "TEXT")]
        only: Option<String>,
        /// Fail if a package is missing.
        #[arg(long)]
        require: bool,
        /// Rows beside one another; what programs say of their speed is then worth less.
        #[arg(long, value_name = "N", default_value = "1")]
        jobs: NonZeroUsize,
        /// Where the results are put as JSON; without it, beside the library.
        #[arg(long, value_name = "FILE")]
        json: Option<PathBuf>,
        /// Of the soak.
        #[arg(long, env = "MRNIC_SEED", default_value_t = 1)]
        seed: u64,
    },
    /// One end of the soak: random requests of all opcodes both ways, every byte checked. The client names the server:
    /// mrnic pair -- mrnic soak
    Soak {
        server: Option<String>,
        #[arg(short, long, default_value_t = 18700)]
        port: u16,
        #[arg(long, default_value_t = 50)]
        rounds: u32,
        #[arg(long, env = "MRNIC_SEED", default_value_t = 1)]
        seed: u64,
        /// All opcodes; SEND and RDMA WRITE out of several pieces of memory, everything else out of one and into one: what the device rtl does.
        #[arg(long, conflicts_with_all = ["one_piece", "sends", "writes"])]
        send_lists: bool,
        /// All opcodes out of one piece of memory and into one.
        #[arg(long)]
        one_piece: bool,
        /// Only SEND and RDMA WRITE, with and without immediate, out of one piece of memory and into one.
        #[arg(long, conflicts_with = "one_piece")]
        sends: bool,
        /// Only RDMA WRITE without immediate, out of one piece of memory.
        #[arg(long, conflicts_with_all = ["one_piece", "sends"])]
        writes: bool,
    },
    /// Build libibverbs.so.1, to be used through LD_LIBRARY_PATH.
    Library {
        #[command(flatten)]
        library: LibraryFolder,
    },
}

impl Verbs {
    /// Does it. The status is that of the programs.
    pub fn run(self) -> Result<ExitCode> {
        match self {
            Verbs::Run { nic, library, command } => {
                let environment = nic.environment(None)?;
                let folder = library.build()?;
                nic.start(&environment)?;
                let error = launch::command(folder, &command)?.envs(environment).exec();
                Err(error).with_context(|| format!("cannot run {}", command[0]))
            }
            Verbs::Pair { nic, library, mut command } => {
                let (for_server, for_client) = (nic.environment(Some("server"))?, nic.environment(Some("client"))?);
                let folder = library.build()?;
                nic.start(&for_server)?;
                let mut server = launch::command(folder, &command)?;
                server.envs(for_server);
                command.push("127.0.0.1".to_owned());
                let mut client = launch::command(folder, &command)?;
                client.envs(for_client);
                let (server, client) = launch::pair(server, client, true)?;
                Ok(status(server.status.success() && client.status.success()))
            }
            Verbs::Accept { library, device, faults, quick, only, require, jobs, json, seed } => {
                library.build()?;
                let options = accept::Options {
                    soak: std::env::current_exe().context("find this program")?,
                    seed,
                    device,
                    faults,
                    quick,
                    only,
                    require,
                    jobs: jobs.get(),
                    json: json.unwrap_or_else(|| library.folder.join(JSON)),
                    library_folder: library.folder,
                };
                accept::run(&options).map(status)
            }
            Verbs::Soak { server, port, rounds, seed, send_lists, one_piece, sends, writes } => {
                let kinds = match (one_piece, sends, writes) {
                    (true, ..) => soak::Kinds::OnePiece,
                    (_, true, _) => soak::Kinds::SendsAndWrites,
                    (.., true) => soak::Kinds::Writes,
                    _ if send_lists => soak::Kinds::SendLists,
                    _ => soak::Kinds::All,
                };
                say!("soak: {}", soak::run(&soak::Options { port, seed, rounds, kinds, server })?);
                Ok(ExitCode::SUCCESS)
            }
            Verbs::Library { library } => {
                let made = link::build(&library.folder)?;
                say!("{}: {} functions; {} symbols that only refuse", made.library.display(), made.functions, made.refusals);
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}

fn status(good: bool) -> ExitCode {
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
