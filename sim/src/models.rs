//! Named builds, emitted and Verilated.
//!
//! In: a build. Out: its Verilog, or a model ready to be instantiated. Guarantees: built once, then taken from the cache;
//! long work shows progress.
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use mrnic_emit::Design;
use mrnic_nic::config::BuildConfig;
use mrnic_verilated::{build as verilate, Model, ModelSpec, Stage};
use std::time::Duration;

/// The Verilog of a build.
pub fn emit(build: &BuildConfig) -> Result<Design> {
    mrnic_nic::top::emit(build).with_context(|| format!("build {} cannot be emitted", build.name))
}

/// The model of a build.
pub fn model(build: &BuildConfig, trace: bool, quiet: bool) -> Result<Model> {
    let design = emit(build)?;
    let spec = ModelSpec { trace, ..ModelSpec::new(design.top.as_str(), design.verilog) };
    verilated(build.name, spec, quiet)
}

/// A model that runs for long, called `name`.
pub fn verilated(name: &str, spec: ModelSpec, quiet: bool) -> Result<Model> {
    let bar = if quiet { ProgressBar::hidden() } else { ProgressBar::new(0) };
    bar.set_style(ProgressStyle::with_template("{msg} [{bar:30}] {pos}/{len} {elapsed}")?.progress_chars("=> "));
    bar.enable_steady_tick(Duration::from_millis(200));
    let spec = ModelSpec { opt_level: 3, ..spec };
    let model = verilate(&spec, &mut |event| {
        bar.set_message(format!("model {name}: {}", stage_name(event.stage)));
        bar.set_length(event.total as u64);
        bar.set_position(event.done as u64);
    })
    .with_context(|| format!("build {name} cannot be Verilated"))?;
    bar.finish_and_clear();
    Ok(model)
}

fn stage_name(stage: Stage) -> &'static str {
    match stage {
        Stage::CacheHit => "from the cache",
        Stage::WaitForLock => "waiting for another build",
        Stage::Verilate => "Verilator",
        Stage::Compile => "C++ compiler",
        Stage::Link => "linker",
        Stage::Done => "done",
    }
}
