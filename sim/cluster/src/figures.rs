//! Numbers out of many runs: medians with their spread, and whether a figure was reached.
//!
//! In: the runs of an experiment. Out: a [`Spread`] for each metric, series and point, and the [`Figure`]s of the file.
use crate::experiment::{Experiment, Target};
use crate::run::Run;
use serde::Serialize;

/// Median, smallest and largest of several seeds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
}

impl Spread {
    /// None without values.
    pub fn of(mut values: Vec<f64>) -> Option<Spread> {
        values.sort_by(f64::total_cmp);
        let (min, max) = (*values.first()?, *values.last()?);
        let middle = values.len() / 2;
        let median = if values.len() % 2 == 1 { values[middle] } else { (values[middle - 1] + values[middle]) / 2.0 };
        Some(Spread { median, min, max })
    }
}

/// A figure of the file and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    pub name: String,
    /// None if a run did not end, or did not show the metric.
    pub value: Option<Spread>,
    pub least: Option<f64>,
    pub most: Option<f64>,
    pub reached: bool,
    pub missed_because: Option<String>,
}

impl Figure {
    /// The target as text.
    pub fn target(&self) -> String {
        match (self.least, self.most) {
            (Some(least), Some(most)) => format!("{least} .. {most}"),
            (Some(least), None) => format!(">= {least}"),
            (None, Some(most)) => format!("<= {most}"),
            (None, None) => String::new(),
        }
    }

    /// It was missed, and nobody knew that it would be.
    pub fn fails(&self) -> bool {
        !self.reached && self.missed_because.is_none()
    }

    /// In a word.
    pub fn verdict(&self) -> &'static str {
        match (self.reached, &self.missed_because) {
            (true, _) => "reached",
            (false, Some(_)) => "MISSED (known)",
            (false, None) => "MISSED",
        }
    }
}

/// The values of a metric, seed by seed.
pub fn values(experiment: &Experiment, runs: &[Run], metric: &str, series: usize, point: usize) -> Vec<Option<f64>> {
    runs.iter()
        .filter(|r| r.series == series && r.point == point)
        .map(|r| {
            let ended = r.outcome.finished || metric == "failed_messages";
            ended.then(|| r.outcome.metric(metric, experiment.fault_us, experiment.recovered_share)).flatten()
        })
        .collect()
}

/// The values of a metric over those of another series or point.
pub fn ratios(
    experiment: &Experiment,
    runs: &[Run],
    metric: &str,
    of: (usize, usize),
    over: Option<(usize, usize)>,
) -> Vec<Option<f64>> {
    let values_of = |(series, point)| values(experiment, runs, metric, series, point);
    let upper = values_of(of);
    let Some(over) = over else { return upper };
    upper.into_iter().zip(values_of(over)).map(|(a, b)| Some(a? / b?)).collect()
}

/// Median and spread; none if a run did not end.
pub fn spread(values: Vec<Option<f64>>) -> Option<Spread> {
    Spread::of(values.into_iter().collect::<Option<Vec<_>>>()?)
}

fn figure(experiment: &Experiment, runs: &[Run], target: &Target) -> Figure {
    let series = |label: &String| experiment.series.iter().position(|s| s.label == *label);
    let point = |label: &String| experiment.point.iter().position(|p| p.label == *label);
    let value = (|| {
        let of = (series(&target.series)?, point(&target.point)?);
        let over = match (&target.relative_series, &target.relative_point) {
            (None, None) => None,
            (s, p) => Some((s.as_ref().map_or(Some(of.0), series)?, p.as_ref().map_or(Some(of.1), point)?)),
        };
        spread(ratios(experiment, runs, &target.metric, of, over))
    })();
    let inside = |v: &Spread| target.least.is_none_or(|l| v.median >= l) && target.most.is_none_or(|m| v.median <= m);
    Figure {
        name: target.name.clone(),
        reached: value.as_ref().is_some_and(inside),
        value,
        least: target.least,
        most: target.most,
        missed_because: target.missed_because.clone(),
    }
}

/// All figures of the file.
pub fn figures(experiment: &Experiment, runs: &[Run]) -> Vec<Figure> {
    experiment.figure.iter().map(|target| figure(experiment, runs, target)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_lies_between_the_middle_two() {
        let s = Spread::of(vec![4.0, 1.0, 3.0, 2.0]).unwrap();
        assert_eq!((s.median, s.min, s.max), (2.5, 1.0, 4.0));
        assert_eq!(Spread::of(vec![7.0]).unwrap().median, 7.0);
        assert_eq!(Spread::of(Vec::new()), None);
        assert_eq!(spread(vec![Some(1.0), None]), None);
    }
}
