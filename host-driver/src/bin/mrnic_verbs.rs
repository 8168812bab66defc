//! `mrnic-verbs`: makes the drop-in library and runs programs with it.
//!
//! In: a command line. Out: `libibverbs.so.1`, and the exit status of the program that was run.
use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use mrnic_host_driver::link;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

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
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let made = link::build(&arguments.out)?;
    match arguments.action {
        Action::Build => {
            println!("{}: {} functions; {} symbols that only refuse", made.library.display(), made.functions, made.refusals);
            Ok(())
        }
        Action::Run { command } => {
            let folder = arguments.out.canonicalize().context("the output folder")?;
            let mut path = folder.into_os_string();
            if let Some(rest) = std::env::var_os("LD_LIBRARY_PATH").filter(|v| !v.is_empty()) {
                path.push(":");
                path.push(rest);
            }
            let error = Command::new(&command[0]).args(&command[1..]).env("LD_LIBRARY_PATH", path).exec();
            Err(error).with_context(|| format!("cannot run {}", command[0]))
        }
    }
}
