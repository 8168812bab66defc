//! `mrnic-verbs`: makes the drop-in library and runs programs with it.
//!
//! In: a command line. Out: `libibverbs.so.1`, and the exit status of the program that was run.
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use mrnic_host_driver::{launch, link};
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
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    let made = link::build(&arguments.out)?;
    match arguments.action {
        Action::Build => {
            println!("{}: {} functions; {} symbols that only refuse", made.library.display(), made.functions, made.refusals);
            Ok(ExitCode::SUCCESS)
        }
        Action::Run { command } => {
            let error = launch::command(&arguments.out, &command)?.exec();
            Err(error).with_context(|| format!("cannot run {}", command[0]))
        }
        Action::Pair { mut command } => {
            let server = launch::command(&arguments.out, &command)?;
            command.push("127.0.0.1".to_owned());
            let client = launch::command(&arguments.out, &command)?;
            let (server, client) = launch::pair(server, client, true)?;
            let both = server.status.success() && client.status.success();
            Ok(if both { ExitCode::SUCCESS } else { ExitCode::FAILURE })
        }
    }
}
