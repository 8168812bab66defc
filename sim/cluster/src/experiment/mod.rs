//! Experiment files: a network, a workload, the transports that are compared, the points of a sweep, plots and figures.
//!
//! In: TOML text. Out: a checked [`Experiment`], or an [`ExperimentError`] which names file, key and remedy. Guarantees: each
//! [`Case`] of a checked experiment can be run; unknown keys are refused, also in overrides.
pub mod shipped;

use crate::metaroce::MetaRoceConfig;
use crate::network::config::{ConfigFault, NetworkConfig};
use crate::outcome::METRICS;
use crate::rocev2::config::RoceConfig;
use crate::time::{LIMIT_PS, PS_PER_US};
use crate::workload::WorkloadConfig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use thiserror::Error;

/// Why an experiment was refused.
#[derive(Debug, Error)]
pub enum ExperimentError {
    #[error(
        "there is no experiment {name}: neither a file nor one of the shipped ones ({}); `mrnic cluster list` describes them",
        shipped::names()
    )]
    Unknown { name: String },
    #[error("cannot read experiment {file}: {cause}; give a TOML file, or one of the shipped ones ({})", shipped::names())]
    Read { file: String, cause: std::io::Error },
    #[error("{file}: {message}; the shipped ones in sim/cluster/experiments are examples")]
    Syntax { file: String, message: String },
    #[error("{file}: {key} = {value}: {reason}; {remedy}")]
    Value { file: String, key: String, value: String, reason: String, remedy: String },
}

/// Values by their place, such as `network.loss.data`.
pub type Overrides = BTreeMap<String, toml::Value>;

/// Which transport a series runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Transport {
    MetaRoce,
    RoceV2,
}

/// What is compared at every point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Series {
    pub label: String,
    pub transport: Transport,
    #[serde(default)]
    pub set: Overrides,
}

/// A point of the sweep.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    pub label: String,
    /// Its place on the x axis; absent: its number.
    pub x: Option<f64>,
    #[serde(default)]
    pub set: Overrides,
}

/// Changes of the short form.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Quick {
    pub seeds: Option<u64>,
    pub set: Overrides,
    /// Labels of the points that are run; empty: all.
    pub points: Vec<String>,
}

/// Kind of a plot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlotKind {
    /// A metric over the points, a line for each series.
    Points,
    /// Goodput over time, a line for each series, at one point.
    Goodput,
    /// The queue towards the watched host over time, at one point.
    Queue,
    /// Smallest and largest rate that the receiver allows its senders, over time, at one point.
    Rates,
}

/// A plot of the report.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plot {
    pub title: String,
    pub kind: PlotKind,
    pub metric: Option<String>,
    #[serde(default)]
    pub x_label: String,
    #[serde(default)]
    pub y_label: String,
    #[serde(default)]
    pub log_x: bool,
    /// Values are shown in percent of this series at the same point, or of `relative_point` of the same series.
    pub relative_series: Option<String>,
    pub relative_point: Option<String>,
    /// Of the plots over time.
    pub point: Option<String>,
}

/// A number that is to be reached: the median over the seeds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    pub name: String,
    pub metric: String,
    pub series: String,
    pub point: String,
    /// The value is divided by that of this series (the same one if absent) ...
    pub relative_series: Option<String>,
    /// ... at this point (the same one if absent), seed by seed.
    pub relative_point: Option<String>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    /// Bounds of the short form; absent: as above.
    pub quick_least: Option<f64>,
    pub quick_most: Option<f64>,
    /// Why the transport is known to miss it in the full form.
    pub missed_because: Option<String>,
}

/// A file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    pub name: String,
    pub title: String,
    pub description: String,
    /// Runs of each point and series: seeds 1 to this.
    #[serde(default = "five")]
    pub seeds: u64,
    /// A run that is not done by then ends.
    #[serde(default = "limit")]
    pub limit_us: u64,
    /// Interval of what is measured over time; 0: nothing is.
    #[serde(default)]
    pub sample_us: f64,
    /// Time of the failure that `recovery_us` counts from, and the share of goodput that counts as recovered.
    #[serde(default)]
    pub fault_us: f64,
    #[serde(default)]
    pub recovered_share: f64,
    #[serde(default)]
    pub network: toml::Table,
    pub workload: toml::Table,
    #[serde(default)]
    pub metaroce: toml::Table,
    #[serde(default)]
    pub rocev2: toml::Table,
    pub series: Vec<Series>,
    pub point: Vec<Point>,
    #[serde(default)]
    pub quick: Quick,
    #[serde(default)]
    pub plot: Vec<Plot>,
    #[serde(default)]
    pub figure: Vec<Target>,
}

fn five() -> u64 {
    5
}

fn limit() -> u64 {
    1_000_000
}

/// What one run needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    pub network: NetworkConfig,
    pub workload: WorkloadConfig,
    pub metaroce: MetaRoceConfig,
    pub rocev2: RoceConfig,
    pub limit_us: u64,
    pub sample_us: f64,
}

impl Experiment {
    /// A shipped experiment by its name, or a file.
    pub fn load(name: &str) -> Result<Experiment, ExperimentError> {
        Experiment::parse(name, &Experiment::source(name)?)
    }

    /// The text of a shipped experiment, or of a file.
    pub fn source(name: &str) -> Result<String, ExperimentError> {
        if let Some((_, text)) = shipped::all().find(|(shipped, _)| *shipped == name) {
            return Ok(text.to_string());
        }
        match std::fs::read_to_string(name) {
            Ok(text) => Ok(text),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Err(ExperimentError::Unknown { name: name.into() }),
            Err(cause) => Err(ExperimentError::Read { file: name.into(), cause }),
        }
    }

    /// Reads and checks `text`; `file` is named in errors.
    pub fn parse(file: &str, text: &str) -> Result<Experiment, ExperimentError> {
        let experiment: Experiment =
            toml::from_str(text).map_err(|e| ExperimentError::Syntax { file: file.into(), message: e.to_string() })?;
        experiment.check(file)?;
        Ok(experiment)
    }

    /// The short form: fewer seeds and points, other values. Its figures have the bounds of the short form.
    pub fn quick(&self) -> Experiment {
        let mut quick = self.clone();
        quick.seeds = self.quick.seeds.unwrap_or(1);
        quick.point.retain(|p| self.quick.points.is_empty() || self.quick.points.contains(&p.label));
        for point in &mut quick.point {
            let mut set = self.quick.set.clone();
            set.append(&mut point.set);
            point.set = set;
        }
        let known = |label: &Option<String>| label.as_ref().is_none_or(|l| quick.point.iter().any(|p| p.label == *l));
        // What is known to be missed is checked only if the short form has a bound of its own.
        let bound = |f: &Target| f.missed_because.is_none() || f.quick_least.is_some() || f.quick_most.is_some();
        let here = |f: &Target| bound(f) && known(&Some(f.point.clone())) && known(&f.relative_point);
        quick.figure = self.figure.iter().filter(|f| here(f)).cloned().collect();
        quick.plot = self.plot.iter().filter(|p| known(&p.point) && known(&p.relative_point)).cloned().collect();
        for figure in &mut quick.figure {
            figure.least = figure.quick_least.or(figure.least);
            figure.most = figure.quick_most.or(figure.most);
            figure.missed_because = None;
        }
        quick.quick = Quick::default();
        quick
    }

    /// What a run of `series` at `point` needs.
    pub fn case(&self, file: &str, series: &Series, point: &Point) -> Result<Case, ExperimentError> {
        let mut base = toml::Table::new();
        for (key, table) in
            [("network", &self.network), ("workload", &self.workload), ("metaroce", &self.metaroce), ("rocev2", &self.rocev2)]
        {
            base.insert(key.into(), toml::Value::Table(table.clone()));
        }
        base.insert("limit_us".into(), toml::Value::Integer(self.limit_us as i64));
        base.insert("sample_us".into(), toml::Value::Float(self.sample_us));
        for (key, value) in point.set.iter().chain(&series.set) {
            put(&mut base, key, value).map_err(|reason| ExperimentError::Value {
                file: file.into(),
                key: key.clone(),
                value: value.to_string(),
                reason,
                remedy: "write it as table.key, such as network.loss.data".into(),
            })?;
        }
        let place = format!("point \"{}\", series \"{}\"", point.label, series.label);
        let mut case: Case = toml::Value::Table(base).try_into().map_err(|e: toml::de::Error| ExperimentError::Syntax {
            file: file.into(),
            message: format!("{place}: {}", e.message()),
        })?;
        let named = |table: &str, fault: ConfigFault| ExperimentError::Value {
            file: file.into(),
            key: format!("{table}.{}", fault.key),
            value: fault.value,
            reason: format!("{} ({place})", fault.reason),
            remedy: fault.remedy,
        };
        case.network.check().map_err(|f| named("network", f))?;
        case.workload.check(&case.network).map_err(|f| named("workload", f))?;
        case.metaroce.check().map_err(|f| named("metaroce", f))?;
        case.rocev2.check().map_err(|f| named("rocev2", f))?;
        // Traces lie beside the experiment's file.
        if let (Some(trace), Some(folder)) = (&mut case.workload.trace, std::path::Path::new(file).parent()) {
            *trace = folder.join(&trace).to_string_lossy().into_owned();
        }
        Ok(case)
    }

    fn check(&self, file: &str) -> Result<(), ExperimentError> {
        let fail = |key: &str, value: &str, reason: &str, remedy: &str| {
            let (file, key, value) = (file.to_string(), key.to_string(), value.to_string());
            Err(ExperimentError::Value { file, key, value, reason: reason.into(), remedy: remedy.into() })
        };
        if self.seeds == 0 || self.quick.seeds == Some(0) {
            return fail("seeds", "0", "nothing would be run", "choose 5 for a start");
        }
        if self.limit_us == 0 || self.limit_us > LIMIT_PS / PS_PER_US {
            return fail("limit_us", &self.limit_us.to_string(), "not a time of a run", "choose from 1 to 10000000");
        }
        let sample_max = self.limit_us as f64;
        if !(self.sample_us == 0.0 || (0.1..=sample_max).contains(&self.sample_us)) {
            return fail("sample_us", &self.sample_us.to_string(), "not an interval", "choose 0, or from 0.1 to limit_us");
        }
        if self.series.is_empty() || self.point.is_empty() {
            let key = if self.series.is_empty() { "series" } else { "point" };
            return fail(key, "[]", "nothing would be run", "add at least one");
        }
        for (key, labels) in [
            ("series", self.series.iter().map(|s| &s.label).collect::<Vec<_>>()),
            ("point", self.point.iter().map(|p| &p.label).collect()),
        ] {
            if let Some(twice) = labels.iter().enumerate().find(|(i, label)| labels[..*i].contains(label)) {
                return fail(&format!("{key}.label"), twice.1, "stands there twice", "give each its own label");
            }
        }
        let bounds = self.figure.iter().flat_map(|f| [("figure.least", f.least), ("figure.most", f.most)]);
        for (key, number) in self.point.iter().map(|p| ("point.x", p.x)).chain(bounds) {
            if let Some(number) = number.filter(|x| !x.is_finite()) {
                return fail(key, &number.to_string(), "not a finite number", "give one, or leave it out");
            }
        }
        let has_series = |label: &String| self.series.iter().any(|s| s.label == *label);
        let has_point = |label: &String| self.point.iter().any(|p| p.label == *label);
        let wanted = |key: &str, label: &Option<String>, found: &dyn Fn(&String) -> bool| match label {
            Some(label) if !found(label) => fail(key, label, "there is none with this label", "use a label of this file"),
            _ => Ok(()),
        };
        for label in &self.quick.points {
            wanted("quick.points", &Some(label.clone()), &has_point)?;
        }
        let metric = |key: &str, name: &str| match METRICS.contains(&name) {
            true => Ok(()),
            false => fail(key, name, "there is no such metric", &format!("choose one of {}", METRICS.join(", "))),
        };
        for figure in &self.figure {
            metric("figure.metric", &figure.metric)?;
            wanted("figure.series", &Some(figure.series.clone()), &has_series)?;
            wanted("figure.point", &Some(figure.point.clone()), &has_point)?;
            wanted("figure.relative_series", &figure.relative_series, &has_series)?;
            wanted("figure.relative_point", &figure.relative_point, &has_point)?;
            if figure.least.is_none() && figure.most.is_none() {
                return fail("figure.least", &figure.name, "nothing is to be reached", "give least, most, or both");
            }
        }
        for plot in &self.plot {
            match (plot.kind, &plot.metric, &plot.point) {
                (PlotKind::Points, Some(name), _) => metric("plot.metric", name)?,
                (PlotKind::Points, None, _) => return fail("plot.metric", &plot.title, "missing", "add it"),
                (_, _, None) => return fail("plot.point", &plot.title, "missing", "say at which point"),
                (_, _, Some(_)) if self.sample_us == 0.0 => {
                    return fail("plot.kind", &plot.title, "nothing is measured over time", "set sample_us")
                }
                _ => {}
            }
            wanted("plot.point", &plot.point, &has_point)?;
            wanted("plot.relative_point", &plot.relative_point, &has_point)?;
            wanted("plot.relative_series", &plot.relative_series, &has_series)?;
        }
        // Every run of both forms.
        for form in [self.clone(), self.quick()] {
            for (series, point) in form.series.iter().flat_map(|s| form.point.iter().map(move |p| (s, p))) {
                form.case(file, series, point)?;
            }
        }
        Ok(())
    }
}

/// Puts `value` at `key` (with dots), over what stands there.
fn put(table: &mut toml::Table, key: &str, value: &toml::Value) -> Result<(), String> {
    match key.split_once('.') {
        None => {
            table.insert(key.into(), value.clone());
            Ok(())
        }
        Some((first, rest)) => {
            let inner = table.entry(first).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            match inner.as_table_mut() {
                Some(inner) => put(inner, rest, value),
                None => Err(format!("{first} is not a table")),
            }
        }
    }
}
