//! Verilog to a loaded model: verilate, compile, link, load, or straight from the cache.
//! Comes in: a `ModelSpec`. Goes out: a `Model`.
//! Guarantees that the same spec with the same tools is compiled once per cache, whichever process asks.

use std::{
    collections::HashMap,
    fs,
    path::Path,
    sync::{Mutex, OnceLock},
};

use crate::{
    cache::{bound, digest, touch, Cache},
    compile,
    error::{io, BuildError},
    header,
    model::Model,
    tool::Tool,
};

const SHIM_CPP: &str = include_str!("cpp/shim.cpp");
const SHIM_H: &str = include_str!("cpp/shim.h");

/// What to build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSpec {
    /// Name of the top module.
    pub top: String,
    /// All modules, as text.
    pub verilog: String,
    /// Name of the top's one-bit clock input; `None` for a purely combinational top.
    pub clock: Option<String>,
    /// Compile FST tracing in (it can then be switched at run time; half the speed while off).
    pub trace: bool,
    /// Compile line, toggle and user coverage in (a tenth to a half of the speed).
    pub coverage: bool,
    /// `-O` level of the C++ compiler, 0 to 3: 0 or 1 for short module tests, 2 or 3 for long runs.
    pub opt_level: u8,
    /// More arguments for Verilator, for example `-Wno-UNOPTFLAT`.
    pub extra_args: Vec<String>,
}

impl Default for ModelSpec {
    fn default() -> Self {
        ModelSpec {
            top: "top".into(),
            verilog: String::new(),
            clock: Some("clock".into()),
            trace: false,
            coverage: false,
            opt_level: 2,
            extra_args: Vec::new(),
        }
    }
}

impl ModelSpec {
    /// Clock `clock`, -O2, no tracing, no coverage.
    pub fn new(top: impl Into<String>, verilog: impl Into<String>) -> Self {
        ModelSpec { top: top.into(), verilog: verilog.into(), ..Default::default() }
    }
}

/// Where a build is, for a progress bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Found in the cache: nothing to do.
    CacheHit,
    /// Another process or thread may be building the same model.
    WaitForLock,
    Verilate,
    Compile,
    Link,
    Done,
}

/// `done` of `total` steps of `stage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildEvent {
    pub stage: Stage,
    pub done: usize,
    pub total: usize,
}

/// Builds the model, or loads it from the cache (well below 100 ms).
pub fn build(spec: &ModelSpec, progress: &mut dyn FnMut(BuildEvent)) -> Result<Model, BuildError> {
    static LOADED: OnceLock<Mutex<HashMap<String, Model>>> = OnceLock::new();
    let loaded = LOADED.get_or_init(Mutex::default);
    let tool = Tool::find()?;
    let cache = Cache::open()?;
    let key = key(spec, tool);
    let entry = cache.entry(&key);
    let name = (cache.dir.display().to_string() + &key).to_string();
    let hit = BuildEvent { stage: Stage::CacheHit, done: 1, total: 1 };

    let in_process = || loaded.lock().unwrap_or_else(|e| e.into_inner()).get(&name).cloned();
    let remember = |m: Model| {
        let mut all = loaded.lock().unwrap_or_else(|e| e.into_inner());
        all.entry(name.clone()).or_insert(m).clone()
    };
    if let Some(m) = in_process() {
        progress(hit);
        return Ok(m);
    }
    // Without the lock first: an entry is complete as soon as it exists. Whoever loses a race against the pruning of
    // another process takes the long way below.
    if let Ok(m) = load(spec, &entry) {
        touch(&entry);
        progress(hit);
        return Ok(remember(m));
    }
    progress(BuildEvent { stage: Stage::WaitForLock, done: 0, total: 1 });
    let _lock = cache.lock(&key)?;
    if let Some(m) = in_process() {
        progress(hit);
        return Ok(m);
    }
    if let Ok(m) = load(spec, &entry) {
        touch(&entry);
        progress(hit);
        return Ok(remember(m));
    }
    let temp = cache.temp()?;
    make(spec, tool, &cache, &temp.path, progress)?;
    let _ = fs::remove_dir_all(&entry); // an entry that does not load
    fs::rename(temp.path.join("out"), &entry).map_err(io("move the model to", &entry))?;
    let model = load(spec, &entry)?;
    cache.prune(&key, bound());
    progress(BuildEvent { stage: Stage::Done, done: 1, total: 1 });
    Ok(remember(model))
}

/// Everything that decides the bytes of the model.
fn key(spec: &ModelSpec, tool: &Tool) -> String {
    let options = format!("{} {} {} {:?} {:?}", spec.trace, spec.coverage, spec.opt_level, spec.clock, spec.extra_args);
    let cxx = tool.cxx.join(" ");
    digest([
        env!("CARGO_PKG_VERSION"),
        &spec.top,
        &spec.verilog,
        &options,
        &tool.version,
        &cxx,
        SHIM_CPP,
        SHIM_H,
        &compile::flags_text(spec),
    ])
}

fn load(spec: &ModelSpec, entry: &Path) -> Result<Model, BuildError> {
    let bad = |reason: &str| BuildError::Load { path: entry.into(), reason: reason.into() };
    let text = fs::read_to_string(entry.join("ports.txt")).map_err(|e| bad(&e.to_string()))?;
    let ports = header::from_text(&text).ok_or_else(|| bad("ports.txt is damaged"))?;
    Model::load(&spec.top, &entry.join("model.so"), ports)
}

/// Fills `dir/out` with the files of the entry.
fn make(
    spec: &ModelSpec,
    tool: &Tool,
    cache: &Cache,
    dir: &Path,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<(), BuildError> {
    let write = |name: &str, text: &str| {
        let p = dir.join(name);
        fs::write(&p, text).map_err(io("write", p))
    };
    let out = dir.join("out");
    fs::create_dir_all(&out).map_err(io("create", &out))?;
    progress(BuildEvent { stage: Stage::Verilate, done: 0, total: 1 });
    write(&format!("{}.v", spec.top), &spec.verilog)?;
    compile::verilate(spec, tool, dir)?;

    let header_path = dir.join("md/Vdut.h");
    let text = fs::read_to_string(&header_path).map_err(io("read", header_path))?;
    let ports = header::parse(&spec.top, &text)?;
    if let Some(clock) = &spec.clock {
        let is_clock = |p: &&header::HeaderPort| {
            p.info.name == *clock && p.info.width == 1 && p.info.direction == header::Direction::Input
        };
        if !ports.iter().any(|p| is_clock(&p)) {
            let inputs: Vec<_> =
                ports.iter().filter(|p| p.info.direction == header::Direction::Input).map(|p| p.info.name.as_str()).collect();
            return Err(BuildError::Clock { top: spec.top.clone(), clock: clock.clone(), inputs: inputs.join(", ") });
        }
    }
    write("md/glue.inc", &header::glue(&ports, spec.clock.as_deref()))?;
    write("md/shim.h", SHIM_H)?;
    write("md/shim.cpp", SHIM_CPP)?;
    write("out/ports.txt", &header::to_text(&ports))?;
    compile::compile(spec, tool, cache, dir, progress)
}
