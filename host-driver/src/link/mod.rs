//! Makes `libibverbs.so.1`.
//!
//! In: this crate's static library (built here by cargo), the symbol list, and what the installed libibverbs exports besides. Out: a shared
//! object whose symbols carry the versions that programs look up. rustc cannot make it: a version script of a cdylib is either refused or
//! silently dropped, so gcc links a static library.
mod installed;
mod refusals;
mod symbols;

pub use installed::{exports, find, Exported};
pub use symbols::NODES;

use anyhow::{bail, ensure, Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name that programs load.
pub const SONAME: &str = "libibverbs.so.1";

/// What was made.
#[derive(Debug)]
pub struct Made {
    pub library: PathBuf,
    /// Functions that answer.
    pub functions: usize,
    /// Symbols that only refuse.
    pub refusals: usize,
}

/// Builds the library into `out`.
pub fn build(out: &Path) -> Result<Made> {
    std::fs::create_dir_all(out).with_context(|| format!("create {}", out.display()))?;
    let archive = static_library()?;
    let installed = find().map(|library| exports(&library)).transpose()?.unwrap_or_default();
    let missing = refusals::missing(&installed);
    let (c, script) = (out.join("refusals.c"), out.join("versions.map"));
    write(&c, &refusals::c_text(&missing))?;
    write(&script, &refusals::version_script(&missing, &installed))?;
    // Linked beside its place and moved there: a running program keeps the file that it has mapped.
    let (library, fresh) = (out.join(SONAME), out.join(format!(".{SONAME}.{}", std::process::id())));
    let functions: Vec<_> = NODES.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let gcc = Command::new("gcc")
        .args(["-shared", "-O2", "-fPIC", "-o"])
        .arg(&fresh)
        .arg(format!("-Wl,-soname,{SONAME}"))
        .arg(format!("-Wl,--version-script={}", script.display()))
        .args(functions.iter().map(|name| format!("-Wl,--undefined={name}")))
        .args(["-Wl,--gc-sections", "-Wl,--no-undefined"])
        .arg(&c)
        .arg(&archive)
        .args(["-lpthread", "-ldl", "-lm", "-lgcc_s", "-lc"])
        .output()
        .context("gcc does not start: apt-get install gcc")?;
    ensure!(gcc.status.success(), "gcc cannot link {SONAME}:\n{}", String::from_utf8_lossy(&gcc.stderr));
    check(&fresh, &installed)?;
    std::fs::rename(&fresh, &library).with_context(|| format!("put {} in place", library.display()))?;
    Ok(Made { library, functions: functions.len(), refusals: missing.len() })
}

fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

/// Every function is there in its version: a linker that ignores the script would go unnoticed until a program fails.
fn check(library: &Path, installed: &[Exported]) -> Result<()> {
    let exported = exports(library)?;
    for (version, names) in NODES {
        let version = refusals::node_of(version, installed);
        for name in *names {
            let found = exported.iter().any(|e| e.name == *name && e.version == version && !e.hidden);
            ensure!(found, "{} does not export {name}@{version}: is the linker GNU ld?", library.display());
        }
    }
    Ok(())
}

/// Has cargo build the static library, and takes its path from cargo's own report.
fn static_library() -> Result<PathBuf> {
    let package = env!("CARGO_PKG_NAME");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--package", package, "--lib", "--message-format=json"])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .output()
        .context("cargo does not start: install Rust")?;
    ensure!(output.status.success(), "cargo build fails:\n{}", String::from_utf8_lossy(&output.stderr));
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(message) = serde_json::from_str::<serde_json::Value>(line) else { continue };
        let files = message["filenames"].as_array().into_iter().flatten().filter_map(|f| f.as_str());
        let name = message["target"]["name"].as_str().unwrap_or_default();
        if let (true, Some(file)) = (name == package.replace('-', "_"), files.clone().find(|f| f.ends_with(".a"))) {
            return Ok(file.into());
        }
    }
    bail!("cargo built no static library of {package}: see crate-type in its Cargo.toml")
}
