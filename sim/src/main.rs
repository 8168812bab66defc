//! The `mrnic` command.
use std::process::ExitCode;

fn main() -> ExitCode {
    mrnic_sim::cli::main()
}
