//! `mrnic-verbs`: makes the drop-in library and runs programs with it.
//!
//! In: a command line. Out: `libibverbs.so.1`, and the exit status of the program that was run.
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use mrnic_host_driver::model::faults;
use mrnic_host_driver::{accept, launch, link, provider, soak};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;

/// The verbs device: unmodified RDMA programs on the NIC, without a kernel module and without root.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    #[command(subcommand)]
    action: Action,
    /// Where the library is put.
    #[arg(long, global = true, default_value = "build/verbs")]
    out: PathBuf,
    /// What stands behind the library: model or loopback.
    #[arg(long, global = true)]
    device: Option<String>,
    /// Faults of the network: a shipped scenario (loss-1, loss-10, reorder, plane-kill, ...) or a TOML file.
    #[arg(long, global = true)]
    scenario: Option<String>,
}

impl Arguments {
    /// What programs learn from their environment. Checked here, where the user sees it.
    fn environment(&self) -> Result<Vec<(&'static str, OsString)>> {
        let mut variables = Vec::new();
        if let Some(device) = &self.device {
            provider::check(device).map_err(anyhow::Error::msg)?;
            variables.push((provider::VARIABLE, device.into()));
        }
        if let Some(scenario) = &self.scenario {
            faults::load(scenario)?;
            // A file is found from any folder.
            let path = std::path::absolute(scenario)?;
            variables.push((faults::VARIABLE, if path.exists() { path.into() } else { scenario.into() }));
        }
        Ok(variables)
    }
}

#[derive(Subcommand)]
enum Action {
    /// Build libibverbs.so.1.
    Build,
    /// Build it and run a program with it: mrnic-verbs run ibv_devinfo -v
    #[command(trailing_var_arg = true)]
    Run {
        #[arg(required = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Build it and run a program twice, as server and as client (which gets the address as its last argument):
    /// mrnic-verbs pair ib_write_bw -a
    #[command(trailing_var_arg = true)]
    Pair {
        #[arg(required = true, allow_hyphen_values = true)]
        command: Vec<String>,
    },
    /// Build it and run the acceptance ladder: programs of ibverbs-utils and perftest, rdma-core's tests, a soak; a table of results.
    Accept {
        /// In the network: none, plane-kill (at times that fall into a run), or as --scenario.
        #[arg(long, value_delimiter = ',', default_value = "none,loss-1,plane-kill")]
        faults: Vec<String>,
        /// A program of each kind, with few iterations.
        #[arg(long)]
        quick: bool,
        /// Only programs whose command contains this text.
        #[arg(long)]
        only: Option<String>,
        /// Fail if a package is missing.
        #[arg(long)]
        require: bool,
        /// Where the results are put as JSON; without it, beside the library.
        #[arg(long)]
        json: Option<PathBuf>,
        /// Of the soak.
        #[arg(long, env = "MRNIC_SEED", default_value_t = 1)]
        seed: u64,
    },
    /// One end of the soak: random requests of all opcodes both ways, every byte checked. The client names the server.
    Soak {
        server: Option<String>,
        #[arg(short, long, default_value_t = 18700)]
        port: u16,
        #[arg(long, default_value_t = 50)]
        rounds: u32,
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
}

/// Results, if no other place is named.
const JSON: &str = "accept.json";

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let environment = arguments.environment()?;
    match arguments.action {
        Action::Build => {
            let made = link::build(&arguments.out)?;
            println!("{}: {} functions; {} symbols that only refuse", made.library.display(), made.functions, made.refusals);
            Ok(ExitCode::SUCCESS)
        }
        Action::Run { command } => {
            link::build(&arguments.out)?;
            let error = launch::command(&arguments.out, &command)?.envs(environment).exec();
            Err(error).with_context(|| format!("cannot run {}", command[0]))
        }
        Action::Pair { mut command } => {
            link::build(&arguments.out)?;
            let mut server = launch::command(&arguments.out, &command)?;
            server.envs(environment.clone());
            command.push("127.0.0.1".to_owned());
            let mut client = launch::command(&arguments.out, &command)?;
            client.envs(environment);
            let (server, client) = launch::pair(server, client, true)?;
            let both = server.status.success() && client.status.success();
            Ok(if both { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Action::Accept { faults, quick, only, require, json, seed } => {
            link::build(&arguments.out)?;
            let options = accept::Options {
                soak: std::env::current_exe().context("find this program")?,
                seed,
                device: arguments.device.unwrap_or_else(|| provider::CARRIERS[0].to_owned()),
                faults,
                quick,
                only,
                require,
                json: json.unwrap_or_else(|| arguments.out.join(JSON)),
                library_folder: arguments.out,
            };
            Ok(if accept::run(&options)? { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
        Action::Soak { server, port, rounds, seed } => {
            println!("soak: {}", soak::run(&soak::Options { port, seed, rounds, server })?);
            Ok(ExitCode::SUCCESS)
        }
    }
}
