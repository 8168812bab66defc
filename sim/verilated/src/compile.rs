//! Runs Verilator, the C++ compiler and the linker.
//! Comes in: a work folder with `<top>.v`. Goes out: `md/*.cpp`, then `out/model.so`.
//! Guarantees that no make, perl or shell takes part and that every failure carries the tool's own words.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::mpsc,
};

use crate::{
    build::{BuildEvent, ModelSpec, Stage},
    cache::{digest, Cache},
    error::{io, BuildError},
    tool::Tool,
};

/// Generated C++ up to this size goes into one compiler run (the headers cost more than the code), more is split.
const UNIT_BYTES: u64 = 200_000;

const VERILATE: &[&str] = &[
    "--cc",
    "--no-timing",
    "--assert",
    "-O3",
    "--x-assign",
    "unique",
    "--x-initial",
    "unique",
    // one picosecond everywhere, whatever `timescale the text has: Dut::time_ps and traces use it
    "--timescale-override",
    "1ps/1ps",
    "--output-split",
    "20000",
    "--prefix",
    "Vdut",
    "--Mdir",
    "md",
];

const CXX: &[&str] = &[
    "-std=c++17",
    "-fPIC",
    "-w",
    "-faligned-new",
    "-fno-strict-aliasing",
    // each model keeps its own copy of the runtime to itself; unique symbols would be merged across models
    "-fvisibility=hidden",
    "-fvisibility-inlines-hidden",
    "-fno-gnu-unique",
    "-DVL_THREADED",
    "-DVM_SC=0",
];

/// The fixed flags, for the cache key.
pub(crate) fn flags_text(spec: &ModelSpec) -> String {
    format!("{VERILATE:?} {CXX:?} {:?} {UNIT_BYTES} {PRELUDE_TEXT}", defines(spec))
}

fn defines(spec: &ModelSpec) -> Vec<String> {
    let (t, c) = (u8::from(spec.trace), u8::from(spec.coverage));
    vec![format!("-DVM_TRACE={t}"), format!("-DVM_TRACE_FST={t}"), "-DVM_TRACE_VCD=0".into(), format!("-DVM_COVERAGE={c}")]
}

pub(crate) fn verilate(spec: &ModelSpec, tool: &Tool, dir: &Path) -> Result<(), BuildError> {
    let mut c = tool.command();
    c.current_dir(dir).args(VERILATE).args(["--top-module", &spec.top]);
    if spec.trace {
        c.args(["--trace-fst", "--trace-structs"]);
    }
    if spec.coverage {
        c.arg("--coverage");
    }
    c.args(&spec.extra_args).arg(format!("{}.v", spec.top));
    let o = c.output().map_err(io("start", &tool.verilator))?;
    if o.status.success() {
        return Ok(());
    }
    Err(BuildError::Verilog { top: spec.top.clone(), messages: text(&o) })
}

pub(crate) fn text(o: &Output) -> String {
    let all = String::from_utf8_lossy(&o.stderr) + String::from_utf8_lossy(&o.stdout);
    // Verilator's statistics are not part of an error
    all.lines().filter(|l| !l.starts_with("- V")).collect::<Vec<_>>().join("\n")
}

/// One compiler run.
struct Job {
    source: PathBuf,
    object: PathBuf,
    opt_level: u8,
    /// Read in front of the source.
    header: PathBuf,
    /// What belongs to the runtime is kept for every model; written beside and renamed, because others build it too.
    keep_as: Option<PathBuf>,
}

/// In front of the runtime's own files, whose text is the same for all models.
const SHIM: &str = "shim.h";
/// In front of the generated files: the shim and the runtime's declarations, which take a compiler longer than a block's model does. Compiled
/// once for each level: GCC takes it for no other.
const PRELUDE: &str = "prelude.h";
const PRELUDE_TEXT: &str = concat!(include_str!("cpp/shim.h"), "#include \"verilated.h\"\n");

/// Where the prelude of a level is.
fn prelude(runtime: &Path, level: u8) -> PathBuf {
    runtime.join(format!("O{level}")).join(PRELUDE)
}

/// Writes the prelude of a level; the job that compiles it, unless that is done.
fn prelude_job(runtime: &Path, level: u8) -> Result<Option<Job>, BuildError> {
    let source = prelude(runtime, level);
    let compiled = source.with_extension("h.gch");
    if compiled.exists() {
        return Ok(None);
    }
    let dir = source.parent().unwrap_or(runtime);
    fs::create_dir_all(dir).map_err(io("create", dir))?;
    replace(&source, |beside| fs::write(beside, PRELUDE_TEXT))?;
    let object = format!("{PRELUDE}-O{level}.gch").into();
    Ok(Some(Job { source, object, opt_level: level, header: SHIM.into(), keep_as: Some(compiled) }))
}

/// Writes a file that others may write too: beside it, then renamed.
fn replace(file: &Path, write: impl FnOnce(&Path) -> std::io::Result<()>) -> Result<(), BuildError> {
    let beside = file.with_extension(format!("{}-{:?}", std::process::id(), std::thread::current().id()));
    write(&beside).map_err(io("write", &beside))?;
    fs::rename(&beside, file).map_err(io("write", file))
}

pub(crate) fn compile(
    spec: &ModelSpec,
    tool: &Tool,
    cache: &Cache,
    dir: &Path,
    progress: &mut dyn FnMut(BuildEvent),
) -> Result<(), BuildError> {
    let md = dir.join("md");
    let (runtime_dir, runtime) = runtime_sources(spec, tool, cache, &md)?;
    fs::create_dir_all(&runtime_dir).map_err(io("create", &runtime_dir))?;
    let mut jobs = units(spec, &md, &runtime_dir)?;
    let mut first = Vec::new();
    for level in jobs.iter().map(|j| j.opt_level).collect::<BTreeSet<_>>() {
        first.extend(prelude_job(&runtime_dir, level)?);
    }
    let mut kept = Vec::new();
    for source in runtime {
        let name = source.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let keep = runtime_dir.join(format!("{name}.o"));
        if !keep.exists() {
            let object = md.join(format!("{name}.o"));
            jobs.push(Job { source, object, opt_level: 2, header: SHIM.into(), keep_as: Some(keep.clone()) });
        }
        kept.push(keep);
    }
    // the largest first: two jobs then end at about the same time
    jobs.sort_by_key(|j| std::cmp::Reverse(fs::metadata(&j.source).map_or(0, |m| m.len())));

    let (before, total) = (first.len(), first.len() + jobs.len());
    progress(BuildEvent { stage: Stage::Compile, done: 0, total });
    run_all(&first, |j| compile_one(spec, tool, &md, j), &mut |done| {
        progress(BuildEvent { stage: Stage::Compile, done, total })
    })?;
    run_all(&jobs, |j| compile_one(spec, tool, &md, j), &mut |done| {
        progress(BuildEvent { stage: Stage::Compile, done: before + done, total })
    })?;

    progress(BuildEvent { stage: Stage::Link, done: 0, total: 1 });
    let mut c = Command::new(&tool.cxx[0]);
    c.args(&tool.cxx[1..]).current_dir(&md);
    c.args(["-shared", "-s", "-Wl,-Bsymbolic", "-pthread", "-o", "../out/model.so"]);
    c.args(jobs.iter().filter(|j| j.keep_as.is_none()).map(|j| &j.object)).args(&kept);
    if spec.trace {
        c.arg("-lz");
        if tool.root.join("include/fstcpp").exists() {
            c.arg("-llz4"); // newer runtimes do not bring their own copy
        }
    }
    check(spec, &mut c)
}

/// The generated files, gathered into compiler runs. Files called Slow hold construction and initialisation: -O0.
fn units(spec: &ModelSpec, md: &Path, runtime: &Path) -> Result<Vec<Job>, BuildError> {
    let mut files: Vec<(bool, String, u64)> = Vec::new();
    for e in fs::read_dir(md).map_err(io("read", md))? {
        let e = e.map_err(io("read", md))?;
        let name = e.file_name().to_string_lossy().into_owned();
        if name.ends_with(".cpp") {
            files.push((name.contains("__Slow"), name, e.metadata().map_or(0, |m| m.len())));
        }
    }
    files.sort(); // stable units, so that ccache finds them again
    let whole = files.iter().map(|f| f.2).sum::<u64>() <= UNIT_BYTES;
    let mut units: Vec<(bool, u64, String)> = Vec::new();
    for (slow, name, bytes) in files {
        let slow = slow && !whole;
        match units.last_mut() {
            Some(u) if u.0 == slow && (whole || u.1 + bytes <= UNIT_BYTES) => {
                u.1 += bytes;
                u.2 += &format!("#include \"{name}\"\n");
            }
            _ => units.push((slow, bytes, format!("#include \"{name}\"\n"))),
        }
    }
    let mut jobs = Vec::new();
    for (i, (slow, _, includes)) in units.into_iter().enumerate() {
        let source = md.join(format!("unit{i}.cc"));
        fs::write(&source, includes).map_err(io("write", &source))?;
        let opt_level = if slow { 0 } else { spec.opt_level.min(3) };
        let (object, header) = (source.with_extension("o"), prelude(runtime, opt_level));
        jobs.push(Job { source, object, opt_level, header, keep_as: None });
    }
    Ok(jobs)
}

/// Verilator's own runtime: the list that it wrote for its makefile.
fn runtime_sources(spec: &ModelSpec, tool: &Tool, cache: &Cache, md: &Path) -> Result<(PathBuf, Vec<PathBuf>), BuildError> {
    let list = md.join("Vdut_classes.mk");
    let mk = fs::read_to_string(&list).map_err(io("read", list))?;
    let mut names = Vec::new();
    let mut global = false;
    for l in mk.lines() {
        if l.starts_with("VM_") {
            global = l.starts_with("VM_GLOBAL");
        } else if global && !l.trim().is_empty() && !l.starts_with('#') {
            names.push(l.trim().trim_end_matches('\\').trim().to_string());
        }
    }
    let include = tool.root.join("include");
    let root = include.display().to_string();
    let key = digest([&tool.version, &root, &tool.cxx.join(" "), &flags_text(spec), include_str!("cpp/shim.h")]);
    Ok((cache.runtime(&key[..16]), names.into_iter().map(|n| include.join(n + ".cpp")).collect()))
}

fn compile_one(spec: &ModelSpec, tool: &Tool, md: &Path, job: &Job) -> Result<(), BuildError> {
    let include = tool.root.join("include");
    let run = |cxx: &[String]| {
        let mut c = Command::new(&cxx[0]);
        // relative names and a fixed current folder: the same text gives the same ccache key
        c.args(&cxx[1..]).current_dir(md).args(CXX).args(defines(spec)).arg(format!("-O{}", job.opt_level));
        c.arg("-include").arg(&job.header).arg("-fpch-preprocess");
        // a compiled header is in the key by its content, not by its time
        c.env("CCACHE_SLOPPINESS", "pch_defines,time_macros,include_file_mtime,include_file_ctime");
        if job.source.extension().is_some_and(|e| e == "h") {
            c.args(["-x", "c++-header"]);
        }
        c.arg("-I.").arg("-I").arg(&include).arg("-I").arg(include.join("vltstd"));
        c.arg("-c").arg(job.source.strip_prefix(md).unwrap_or(&job.source));
        c.arg("-o").arg(job.object.strip_prefix(md).unwrap_or(&job.object));
        check(spec, &mut c)
    };
    match run(&tool.cxx) {
        // a cache that cannot be written (a home that is read-only, a full disk) must not stop the build
        Err(BuildError::Compile { messages, .. }) if tool.cxx[0] == "ccache" && messages.contains("ccache: error") => {
            run(&tool.cxx[1..])?;
        }
        r => r?,
    }
    match &job.keep_as {
        Some(keep) => replace(keep, |beside| fs::copy(md.join(&job.object), beside).map(|_| ())),
        None => Ok(()),
    }
}

fn check(spec: &ModelSpec, c: &mut Command) -> Result<(), BuildError> {
    let name = c.get_program().to_string_lossy().into_owned();
    let o = c.output().map_err(|e| BuildError::NoCompiler { command: name, reason: e.to_string() })?;
    if o.status.success() {
        return Ok(());
    }
    Err(BuildError::Compile { top: spec.top.clone(), command: format!("{c:?}"), messages: text(&o) })
}

/// Runs the jobs on as many threads as there are cores (at most four: memory), and reports as each one ends.
fn run_all(
    jobs: &[Job],
    work: impl Fn(&Job) -> Result<(), BuildError> + Sync,
    ended: &mut dyn FnMut(usize),
) -> Result<(), BuildError> {
    use std::sync::atomic::{AtomicUsize, Ordering};
    let threads = std::thread::available_parallelism().map_or(2, usize::from).clamp(1, 4);
    let next = AtomicUsize::new(0);
    let (tx, rx) = mpsc::channel();
    std::thread::scope(|s| {
        for _ in 0..threads.min(jobs.len()) {
            let (tx, next, work) = (tx.clone(), &next, &work);
            s.spawn(move || {
                while let Some(j) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let r = work(j);
                    let stop = r.is_err();
                    if stop {
                        next.store(jobs.len(), Ordering::Relaxed); // no new work after a failure
                    }
                    if tx.send(r).is_err() || stop {
                        break;
                    }
                }
            });
        }
        drop(tx);
        let mut first_error = Ok(());
        for (n, r) in rx.iter().enumerate() {
            if first_error.is_ok() {
                first_error = r;
            }
            ended(n + 1);
        }
        first_error
    })
}
