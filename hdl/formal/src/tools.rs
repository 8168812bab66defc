//! Finds Yosys, yosys-smtbmc and the solver.
//!
//! In: PATH, the folder of the Python that MRNIC_PYTHON names, the workspace's `.venv`. Out: their places. Guarantees: the first tool that is
//! missing is named.
use crate::error::FormalError;
use mrnic_verilated::workspace_root;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// See the module documentation.
#[derive(Clone, Debug)]
pub struct Tools {
    pub yosys: PathBuf,
    pub smtbmc: PathBuf,
    pub solver: PathBuf,
}

fn folders() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = env::var_os("PATH").map(|p| env::split_paths(&p).collect()).unwrap_or_default();
    all.extend(env::var_os("MRNIC_PYTHON").and_then(|p| PathBuf::from(p).parent().map(Path::to_path_buf)));
    if let Some(venv) = workspace_root().map(|w| w.join(".venv")) {
        all.push(venv.join("bin"));
        // what pip --target lays down
        let pythons = std::fs::read_dir(venv.join("lib")).into_iter().flatten().flatten();
        all.extend(pythons.map(|p| p.path().join("site-packages/bin")));
    }
    all
}

impl Tools {
    /// Looks for all three.
    pub fn find() -> Result<Tools, FormalError> {
        Tools::find_in(&folders())
    }

    /// Looks for all three in these folders.
    pub fn find_in(folders: &[PathBuf]) -> Result<Tools, FormalError> {
        let find = |tool: &'static str| {
            let found = folders.iter().map(|f| f.join(tool)).find(|p| p.is_file());
            found.ok_or(FormalError::MissingTool { tool })
        };
        Ok(Tools { yosys: find("yosys")?, smtbmc: find("yosys-smtbmc")?, solver: find("yices-smt2")? })
    }

    /// yosys-smtbmc behind a time limit; it starts the solver by its name.
    pub fn smtbmc(&self, limit_s: u64) -> Command {
        let mut command = Command::new("timeout");
        command.arg(limit_s.to_string()).arg(&self.smtbmc);
        let mut path: Vec<PathBuf> = self.solver.parent().map(Path::to_path_buf).into_iter().collect();
        path.extend(env::var_os("PATH").map(|p| env::split_paths(&p).collect::<Vec<_>>()).unwrap_or_default());
        if let Ok(path) = env::join_paths(path) {
            command.env("PATH", path);
        }
        command
    }
}
