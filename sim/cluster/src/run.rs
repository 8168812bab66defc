//! Runs an experiment, or a part of it: every series at every point with every seed, several at a time.
//!
//! In: a checked [`Experiment`]. Out: all outcomes in a fixed order, whatever ran beside what. Each run is simulated alone, so
//! the number of threads changes nothing.
use crate::endpoint::{BuildError, Endpoint};
use crate::experiment::{Case, Experiment, ExperimentError, Transport};
use crate::metaroce::{MetaRoce256, MetaRoce64, MetaRoceLossCuts};
use crate::outcome::Outcome;
use crate::part::{places, Share};
use crate::rocev2::RoceV2;
use crate::sim::{Setup, Sim};
use crate::time::PS_PER_US;
use crate::trace::{Trace, TraceError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use thiserror::Error;

/// Why a run did not take place.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error(transparent)]
    Trace(#[from] TraceError),
    #[error("point \"{point}\", series \"{series}\": {cause}; correct the table of this transport")]
    Build { point: String, series: String, cause: BuildError },
}

/// A run: which one it was, and its result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Places in the experiment.
    pub point: usize,
    pub series: usize,
    pub seed: u64,
    pub outcome: Outcome,
}

fn simulate<E: Endpoint>(case: &Case, trace: Option<&Trace>, seed: u64, config: &E::Config) -> Result<Outcome, BuildError> {
    let setup = Setup {
        network: &case.network,
        workload: &case.workload,
        trace,
        seed,
        limit: case.limit_us * PS_PER_US,
        sample: (case.sample_us * PS_PER_US as f64) as u64,
    };
    let mut sim = Sim::<E>::new(&setup, config)?;
    sim.run();
    Ok(sim.outcome())
}

/// One run of a case; `trace` is what its workload names.
pub fn run_case(case: &Case, transport: Transport, trace: Option<&Trace>, seed: u64) -> Result<Outcome, BuildError> {
    let metaroce = &case.metaroce;
    match transport {
        Transport::MetaRoce if metaroce.short_vector => simulate::<MetaRoce64>(case, trace, seed, metaroce),
        Transport::MetaRoce if metaroce.loss_cuts => simulate::<MetaRoceLossCuts>(case, trace, seed, metaroce),
        Transport::MetaRoce => simulate::<MetaRoce256>(case, trace, seed, metaroce),
        Transport::RoceV2 => simulate::<RoceV2>(case, trace, seed, &case.rocev2),
    }
}

/// How many runs an experiment has.
pub fn count(experiment: &Experiment) -> u64 {
    experiment.seeds * (experiment.series.len() * experiment.point.len()) as u64
}

/// Runs all; `done` is called after each run, from any thread.
pub fn run(file: &str, experiment: &Experiment, done: &(dyn Fn() + Sync)) -> Result<Vec<Run>, RunError> {
    run_share(file, experiment, Share::ALL, done)
}

/// Runs a part, as [`run`] does.
pub fn run_share(file: &str, experiment: &Experiment, share: Share, done: &(dyn Fn() + Sync)) -> Result<Vec<Run>, RunError> {
    let mut jobs = Vec::new();
    // Each trace is read once, and before anything is run.
    let mut traces: BTreeMap<(String, usize), Arc<Trace>> = BTreeMap::new();
    for (number, (point, series, seed)) in places(experiment).into_iter().enumerate() {
        if share.has(number as u64) {
            let case = experiment.case(file, &experiment.series[series], &experiment.point[point])?;
            let trace = match &case.workload.trace {
                None => None,
                Some(prefix) => {
                    let key = (prefix.clone(), case.network.hosts);
                    if !traces.contains_key(&key) {
                        traces.insert(key.clone(), Arc::new(Trace::load(Path::new(prefix), key.1)?));
                    }
                    traces.get(&key).cloned()
                }
            };
            jobs.push((point, series, seed, case, trace));
        }
    }
    jobs.into_par_iter()
        .map(|(point, series, seed, case, trace)| {
            let transport = experiment.series[series].transport;
            let outcome = run_case(&case, transport, trace.as_deref(), seed).map_err(|cause| RunError::Build {
                point: experiment.point[point].label.clone(),
                series: experiment.series[series].label.clone(),
                cause,
            })?;
            done();
            Ok(Run { point, series, seed, outcome })
        })
        .collect()
}
