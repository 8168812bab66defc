//! Named builds, emitted and Verilated.
//!
//! In: a build. Out: its Verilog, or a model ready to be instantiated. Guarantees: built once, then taken from the cache;
//! long work shows progress.
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use mrnic_emit::Design;
use mrnic_nic::config::BuildConfig;
use mrnic_verilated::{build as verilate, Model, ModelSpec, Stage};
use std::ffi::OsString;
use std::time::Duration;

/// `-O` level of the C++ compiler for NICs, 0 to 3. A lower one is sooner built and runs slower: 1 takes half the time of 2, and runs at nine
/// tenths of its speed; 3 gains nothing over 2.
const OPT_VARIABLE: &str = "MRNIC_MODEL_OPT";
const OPT_LEVEL: u8 = 2;

fn opt_level(chosen: Option<OsString>) -> Result<u8> {
    let Some(text) = chosen.filter(|text| !text.is_empty()) else { return Ok(OPT_LEVEL) };
    let level = text.to_str().and_then(|text| text.parse().ok()).filter(|level| *level <= 3);
    level.with_context(|| format!("{OPT_VARIABLE}={}: it is 0, 1, 2 or 3", text.to_string_lossy()))
}

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
    let spec = ModelSpec { opt_level: opt_level(std::env::var_os(OPT_VARIABLE))?, ..spec };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_optimisation_level_is_one_of_four_and_another_is_refused_with_them() {
        let level = |text: &str| opt_level(Some(text.into()));
        assert_eq!((opt_level(None).unwrap(), level("").unwrap(), level("1").unwrap(), level("3").unwrap()), (2, 2, 1, 3));
        for text in ["4", "-1", "fast", "O2"] {
            assert_eq!(level(text).unwrap_err().to_string(), format!("MRNIC_MODEL_OPT={text}: it is 0, 1, 2 or 3"));
        }
    }
}
