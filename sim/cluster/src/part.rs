//! A sweep cut into parts that run on their own, and the parts put together again.
//!
//! In: `I/N`, or the files of all parts. Out: which runs a part has; a file for each part; the runs of the whole, in the same
//! order as from one process. Guarantees: parts of different experiments, forms or versions are refused, runs that stand there
//! twice or not at all too, with file, key and remedy.
use crate::experiment::{Experiment, ExperimentError};
use crate::run::Run;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use thiserror::Error;

/// Part `index` of `of`: the runs whose number, modulo `of`, is `index`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    pub index: u64,
    pub of: u64,
}

impl Share {
    /// Everything.
    pub const ALL: Share = Share { index: 0, of: 1 };

    /// Whether run number `run` belongs to it.
    pub fn has(&self, run: u64) -> bool {
        run % self.of == self.index
    }

    /// Runs of it, of `runs` in all.
    pub fn count(&self, runs: u64) -> u64 {
        (runs + self.of - 1 - self.index) / self.of
    }
}

impl FromStr for Share {
    type Err = String;

    fn from_str(text: &str) -> Result<Share, String> {
        let numbers = text.split_once('/').and_then(|(i, n)| Some((i.parse().ok()?, n.parse().ok()?)));
        match numbers {
            Some((index, of)) if index < of && of <= 1_000_000 => Ok(Share { index, of }),
            Some((_, 0)) => Err("there are no parts; give I/N with N of at least 1".into()),
            Some((_, of)) if of <= 1_000_000 => Err(format!("parts are counted from 0: choose 0/{of} to {}/{of}", of - 1)),
            _ => Err("not I/N, such as 3/16; parts are counted from 0".into()),
        }
    }
}

/// Why parts could not be put together.
#[derive(Debug, Error)]
pub enum PartError {
    #[error("cannot read {}: {cause}; give the files that `mrnic cluster EXPERIMENT --point I/N` wrote", file.display())]
    Read { file: PathBuf, cause: std::io::Error },
    #[error("cannot write {}: {cause}; choose a folder that may be written with --out", file.display())]
    Write { file: PathBuf, cause: std::io::Error },
    #[error("{}: {reason}; it is no complete part: run it again with `mrnic cluster EXPERIMENT --point I/N`", file.display())]
    Syntax { file: PathBuf, reason: String },
    #[error("{}: {key} = {value}, but {} has {other}; {remedy}", file.display(), first.display())]
    Differs { file: PathBuf, key: &'static str, value: Box<str>, first: PathBuf, other: Box<str>, remedy: &'static str },
    #[error("{}: {what} stands in {} too; give each part once", file.display(), first.display())]
    Twice { file: PathBuf, what: String, first: PathBuf },
    #[error("{}: {key} = {value}: there is none in the experiment; run the part again", file.display())]
    Outside { file: PathBuf, key: &'static str, value: String },
    #[error("{experiment}: {missing} of {all} runs are missing, the first is {first}; {remedy}")]
    Missing { experiment: String, missing: usize, all: usize, first: String, remedy: String },
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    #[error("no files were given; name the files of all parts after `merge`")]
    Nothing,
}

/// What the file of a part holds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Of the program.
    pub version: String,
    /// Name or file of the experiment, and its text.
    pub experiment: String,
    pub text: String,
    pub quick: bool,
    pub seeds: u64,
    pub share: Share,
    pub runs: Vec<Run>,
}

/// An experiment that was put together.
#[derive(Debug)]
pub struct Merged {
    pub experiment: Experiment,
    pub quick: bool,
    pub runs: Vec<Run>,
}

/// The version that parts of this program carry.
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").into()
}

impl Part {
    /// The experiment in the form that was run.
    pub fn form(&self) -> Result<Experiment, ExperimentError> {
        let mut experiment = Experiment::parse(&self.experiment, &self.text)?;
        if self.quick {
            experiment = experiment.quick();
        }
        experiment.seeds = self.seeds;
        Ok(experiment)
    }

    /// Writes NAME.I-of-N.json into `folder`.
    pub fn write(&self, name: &str, folder: &Path) -> Result<PathBuf, PartError> {
        let file = folder.join(format!("{name}.{}-of-{}.json", self.share.index, self.share.of));
        let written = serde_json::to_string(self).map_err(std::io::Error::from).and_then(|text| std::fs::write(&file, text));
        match written {
            Ok(()) => Ok(file),
            Err(cause) => Err(PartError::Write { file, cause }),
        }
    }

    fn read(file: &Path) -> Result<Part, PartError> {
        let text = std::fs::read_to_string(file).map_err(|cause| PartError::Read { file: file.into(), cause })?;
        serde_json::from_str(&text).map_err(|e| PartError::Syntax { file: file.into(), reason: e.to_string() })
    }

    /// Refuses a part that was not made from the same as `first`.
    fn fits(&self, file: &Path, first: &Part, first_file: &Path) -> Result<(), PartError> {
        let same_runs = "give parts of one sweep: the same experiment, --quick, --seeds and N";
        let pairs = [
            ("version", self.version.clone(), first.version.clone(), "run all parts with the same program"),
            ("quick", self.quick.to_string(), first.quick.to_string(), same_runs),
            ("seeds", self.seeds.to_string(), first.seeds.to_string(), same_runs),
            ("share.of", self.share.of.to_string(), first.share.of.to_string(), same_runs),
        ];
        for (key, value, other, remedy) in pairs {
            if value != other {
                let (file, first) = (file.into(), first_file.into());
                let (value, other) = (value.into(), other.into());
                return Err(PartError::Differs { file, key, value, first, other, remedy });
            }
        }
        if self.text != first.text {
            return Err(PartError::Differs {
                file: file.into(),
                key: "text",
                value: self.experiment.as_str().into(),
                first: first_file.into(),
                other: "another text of that name".into(),
                remedy: "run all parts with the same experiment file",
            });
        }
        Ok(())
    }
}

/// Reads the files of parts, of one or more experiments, and puts them together, experiments in the order of their files.
pub fn merge(files: &[PathBuf]) -> Result<Vec<Merged>, PartError> {
    let mut groups: Vec<(Experiment, Vec<(&Path, Part)>)> = Vec::new();
    for file in files {
        let part = Part::read(file)?;
        if part.version != version() {
            return Err(PartError::Differs {
                file: file.clone(),
                key: "version",
                value: part.version.into(),
                first: PathBuf::from("this program"),
                other: version().into(),
                remedy: "run all parts, and merge, with the same program",
            });
        }
        let experiment = part.form()?;
        match groups.iter_mut().find(|(e, _)| e.name == experiment.name) {
            None => groups.push((experiment, vec![(file, part)])),
            Some((_, parts)) => {
                part.fits(file, &parts[0].1, parts[0].0)?;
                if let Some((first, _)) = parts.iter().find(|(_, p)| p.share == part.share) {
                    let what = format!("part {}/{}", part.share.index, part.share.of);
                    return Err(PartError::Twice { file: file.clone(), what, first: first.to_path_buf() });
                }
                parts.push((file, part));
            }
        }
    }
    if groups.is_empty() {
        return Err(PartError::Nothing);
    }
    groups.into_iter().map(|(experiment, parts)| whole(experiment, parts)).collect()
}

fn whole(experiment: Experiment, parts: Vec<(&Path, Part)>) -> Result<Merged, PartError> {
    let quick = parts[0].1.quick;
    let of = parts[0].1.share.of;
    let present: Vec<u64> = parts.iter().map(|(_, p)| p.share.index).collect();
    let mut all: BTreeMap<(usize, usize, u64), (&Path, Run)> = BTreeMap::new();
    for (file, part) in parts {
        for run in part.runs {
            let outside = [
                ("runs.point", run.point as u64, run.point < experiment.point.len()),
                ("runs.series", run.series as u64, run.series < experiment.series.len()),
                ("runs.seed", run.seed, (1..=experiment.seeds).contains(&run.seed)),
            ];
            if let Some((key, value, _)) = outside.into_iter().find(|(.., known)| !known) {
                return Err(PartError::Outside { file: file.into(), key, value: value.to_string() });
            }
            let place = (run.point, run.series, run.seed);
            if let Some((first, _)) = all.insert(place, (file, run)) {
                let what = name_of(&experiment, place);
                return Err(PartError::Twice { file: file.into(), what, first: first.into() });
            }
        }
    }
    let places = places(&experiment);
    let missing: Vec<_> = places.iter().filter(|place| !all.contains_key(place)).collect();
    if let Some(&&first) = missing.first() {
        let absent: Vec<String> = (0..of).filter(|i| !present.contains(i)).take(20).map(|i| format!("{i}/{of}")).collect();
        let remedy = match absent.is_empty() {
            true => "a part is not complete: run it again".into(),
            false => format!("run the parts {} too and give their files", absent.join(", ")),
        };
        return Err(PartError::Missing {
            missing: missing.len(),
            all: places.len(),
            first: name_of(&experiment, first),
            experiment: experiment.name,
            remedy,
        });
    }
    Ok(Merged { experiment, quick, runs: all.into_values().map(|(_, run)| run).collect() })
}

/// Every run of an experiment in order: point, series, seed.
pub fn places(experiment: &Experiment) -> Vec<(usize, usize, u64)> {
    let (points, series, seeds) = (experiment.point.len(), experiment.series.len(), experiment.seeds);
    let of_point = |p| (0..series).flat_map(move |s| (1..=seeds).map(move |seed| (p, s, seed)));
    (0..points).flat_map(of_point).collect()
}

fn name_of(experiment: &Experiment, (point, series, seed): (usize, usize, u64)) -> String {
    format!("point \"{}\", series \"{}\", seed {seed}", experiment.point[point].label, experiment.series[series].label)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_disjoint_and_complete() {
        for of in [1, 2, 7, 40] {
            let shares: Vec<Share> = (0..of).map(|index| Share { index, of }).collect();
            for runs in [0, 1, 6, 7, 8, 39] {
                let counted: Vec<u64> = shares.iter().map(|s| (0..runs).filter(|&r| s.has(r)).count() as u64).collect();
                assert_eq!(counted, shares.iter().map(|s| s.count(runs)).collect::<Vec<_>>());
                assert_eq!(counted.iter().sum::<u64>(), runs);
            }
        }
        assert_eq!("3/16".parse(), Ok(Share { index: 3, of: 16 }));
        for (text, reason) in [("16/16", "0/16 to 15/16"), ("1", "I/N"), ("-1/3", "I/N"), ("0/0", "at least 1")] {
            let error = text.parse::<Share>().expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
