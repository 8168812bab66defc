//! Finds Verilator and the C++ compiler.
//! Comes in: $VERILATOR, $VERILATOR_ROOT, $CXX, the workspace's `.venv` and PATH, in that order. Goes out: a `Tool`.
//! Guarantees that the Verilator it returns has been started once and is 5.006 or newer.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

use crate::error::BuildError;

/// The tools one process builds with.
#[derive(Debug, Clone)]
pub struct Tool {
    /// `verilator_bin`, the program behind the perl wrapper `verilator`: no perl is needed.
    pub verilator: PathBuf,
    /// Where `include/verilated.h` is.
    pub root: PathBuf,
    /// For example `Verilator 5.052 2026-09-05 rev v5.052`.
    pub version: String,
    /// The C++ compiler with its leading words, for example `["ccache", "g++"]`.
    pub cxx: Vec<String>,
}

impl Tool {
    /// Looks once a process; later calls return the first answer.
    pub fn find() -> Result<&'static Tool, BuildError> {
        static FOUND: OnceLock<Tool> = OnceLock::new();
        if let Some(t) = FOUND.get() {
            return Ok(t);
        }
        let tool = search()?;
        Ok(FOUND.get_or_init(|| tool))
    }

    /// A command that runs Verilator with its root set.
    pub fn command(&self) -> Command {
        let mut c = Command::new(&self.verilator);
        c.env("VERILATOR_ROOT", &self.root);
        c
    }
}

/// The workspace this program belongs to: the outermost folder with a Cargo.toml that has a `[workspace]`,
/// seen from the current folder, from cargo's `CARGO_MANIFEST_DIR` and from the program itself.
pub fn workspace_root() -> Option<PathBuf> {
    let starts = [env::current_dir().ok(), env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from), env::current_exe().ok()];
    starts.into_iter().flatten().find_map(|s| {
        s.ancestors()
            .filter(|d| std::fs::read_to_string(d.join("Cargo.toml")).is_ok_and(|t| t.contains("[workspace]")))
            .last()
            .map(Path::to_path_buf)
    })
}

fn search() -> Result<Tool, BuildError> {
    let env_root = env::var_os("VERILATOR_ROOT").map(PathBuf::from);
    let mut looked = Vec::new();
    let mut candidates: Vec<(PathBuf, Option<PathBuf>)> = Vec::new();
    if let Some(v) = env::var_os("VERILATOR") {
        candidates.push((v.into(), env_root.clone()));
        looked.push("$VERILATOR".to_string());
    } else {
        if let Some(r) = &env_root {
            candidates.push((r.join("bin/verilator_bin"), Some(r.clone())));
            looked.push("$VERILATOR_ROOT/bin".to_string());
        }
        if let Some(ws) = workspace_root() {
            looked.push(ws.join(".venv").display().to_string());
            candidates.extend(in_venv(&ws.join(".venv")).map(|v| (v, None)));
        }
        looked.push("PATH".to_string());
        candidates.push(("verilator_bin".into(), None));
        candidates.push(("verilator".into(), None));
    }
    for (program, root) in candidates {
        let Some(program) = resolve(&program) else { continue };
        let root = root.or_else(|| beside(&program)).or_else(|| ask_root(&program));
        let Some(root) = root.filter(|r| r.join("include/verilated.h").exists()) else {
            looked.push(format!("{} (its include/verilated.h is missing: set VERILATOR_ROOT)", program.display()));
            continue;
        };
        let version = version(&program, &root)?;
        return Ok(Tool { verilator: program, root, version, cxx: compiler()? });
    }
    Err(BuildError::NoVerilator { looked_at: looked.join(", ") })
}

/// Both the venv layout and the layout of `pip install --target .venv/lib/python3/site-packages`.
fn in_venv(venv: &Path) -> Option<PathBuf> {
    let mut dirs: Vec<_> = std::fs::read_dir(venv.join("lib")).ok()?.flatten().map(|e| e.path()).collect();
    dirs.sort();
    dirs.iter().map(|d| d.join("site-packages/verilator/bin/verilator_bin")).find(|p| p.exists())
}

/// The full path of a program, and `verilator_bin` instead of the perl wrapper when it stands next to it.
fn resolve(program: &Path) -> Option<PathBuf> {
    let found =
        if program.components().count() > 1 { program.exists().then(|| program.to_path_buf()) } else { on_path(program) }?;
    let native = found.with_file_name("verilator_bin");
    Some(if native.exists() { native } else { found })
}

pub(crate) fn on_path(program: impl AsRef<Path>) -> Option<PathBuf> {
    env::split_paths(&env::var_os("PATH")?).map(|d| d.join(program.as_ref())).find(|p| p.is_file())
}

fn beside(program: &Path) -> Option<PathBuf> {
    let prefix = program.canonicalize().ok()?.parent()?.parent()?.to_path_buf();
    [prefix.join("share/verilator"), prefix].into_iter().find(|r| r.join("include/verilated.h").exists())
}

fn ask_root(program: &Path) -> Option<PathBuf> {
    let o = Command::new(program).args(["--getenv", "VERILATOR_ROOT"]).output().ok()?;
    Some(PathBuf::from(String::from_utf8(o.stdout).ok()?.trim()))
}

fn version(program: &Path, root: &Path) -> Result<String, BuildError> {
    let o = Command::new(program).env("VERILATOR_ROOT", root).arg("--version").output();
    let text = match &o {
        Ok(o) => String::from_utf8_lossy(&o.stdout).trim().to_string(),
        Err(e) => e.to_string(),
    };
    let number = text.split_whitespace().nth(1).and_then(|v| {
        let (major, minor) = v.split_once('.')?;
        Some((major.parse::<u32>().ok()?, minor.parse::<u32>().ok()?))
    });
    match number {
        Some(n) if n >= (5, 6) => Ok(text),
        _ => Err(BuildError::VerilatorVersion { tool: program.display().to_string(), found: text }),
    }
}

/// $CXX (which may hold several words) or g++, behind ccache when that is installed.
fn compiler() -> Result<Vec<String>, BuildError> {
    let mut words: Vec<String> = match env::var("CXX") {
        Ok(c) if !c.trim().is_empty() => c.split_whitespace().map(str::to_string).collect(),
        _ => vec!["g++".to_string()],
    };
    let first = PathBuf::from(&words[0]);
    if first.components().count() == 1 && on_path(&first).is_none() {
        return Err(BuildError::NoCompiler { command: words.join(" "), reason: "not on PATH".to_string() });
    }
    if words[0] != "ccache" && on_path("ccache").is_some() {
        words.insert(0, "ccache".to_string());
    }
    Ok(words)
}
