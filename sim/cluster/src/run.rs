//! Runs an experiment: every series at every point with every seed, several at a time.
//!
//! In: a checked [`Experiment`]. Out: all outcomes in a fixed order, whatever ran beside what. Each run is simulated alone, so
//! the number of threads changes nothing.
use crate::endpoint::{BuildError, Endpoint};
use crate::experiment::{Case, Experiment, ExperimentError, Transport};
use crate::metaroce::{MetaRoce256, MetaRoce64};
use crate::outcome::Outcome;
use crate::rocev2::RoceV2;
use crate::sim::{Setup, Sim};
use crate::time::PS_PER_US;
use rayon::prelude::*;
use thiserror::Error;

/// Why a run did not take place.
#[derive(Debug, Error)]
pub enum RunError {
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("point \"{point}\", series \"{series}\": {cause}; correct the table of this transport")]
    Build { point: String, series: String, cause: BuildError },
}

/// A run: which one it was, and its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    /// Places in the experiment.
    pub point: usize,
    pub series: usize,
    pub seed: u64,
    pub outcome: Outcome,
}

fn simulate<E: Endpoint>(case: &Case, seed: u64, config: &E::Config) -> Result<Outcome, BuildError> {
    let setup = Setup {
        network: &case.network,
        workload: &case.workload,
        seed,
        limit: case.limit_us * PS_PER_US,
        sample: (case.sample_us * PS_PER_US as f64) as u64,
    };
    let mut sim = Sim::<E>::new(&setup, config)?;
    sim.run();
    Ok(sim.outcome())
}

/// One run of a case.
pub fn run_case(case: &Case, transport: Transport, seed: u64) -> Result<Outcome, BuildError> {
    match transport {
        Transport::MetaRoce if case.metaroce.short_vector => simulate::<MetaRoce64>(case, seed, &case.metaroce),
        Transport::MetaRoce => simulate::<MetaRoce256>(case, seed, &case.metaroce),
        Transport::RoceV2 => simulate::<RoceV2>(case, seed, &case.rocev2),
    }
}

/// How many runs an experiment has.
pub fn count(experiment: &Experiment) -> u64 {
    experiment.seeds * (experiment.series.len() * experiment.point.len()) as u64
}

/// Runs all; `done` is called after each run, from any thread.
pub fn run(file: &str, experiment: &Experiment, done: &(dyn Fn() + Sync)) -> Result<Vec<Run>, RunError> {
    let mut jobs = Vec::new();
    for (point, p) in experiment.point.iter().enumerate() {
        for (series, s) in experiment.series.iter().enumerate() {
            let case = experiment.case(file, s, p)?;
            jobs.extend((1..=experiment.seeds).map(|seed| (point, series, seed, case.clone())));
        }
    }
    jobs.into_par_iter()
        .map(|(point, series, seed, case)| {
            let transport = experiment.series[series].transport;
            let outcome = run_case(&case, transport, seed).map_err(|cause| RunError::Build {
                point: experiment.point[point].label.clone(),
                series: experiment.series[series].label.clone(),
                cause,
            })?;
            done();
            Ok(Run { point, series, seed, outcome })
        })
        .collect()
}
