//! The page of an experiment, and the same numbers as JSON.
//!
//! In: an experiment, its runs and figures. Out: `NAME.html` (self-contained) and `NAME.json`. Guarantees: no outside
//! resources; errors name the file.
pub mod index;
pub mod plot;

use crate::experiment::{Experiment, Plot, PlotKind, Series};
use crate::figures::{ratios, spread, values, Figure, Spread};
use crate::outcome::{Outcome, Probe, METRICS};
use crate::run::Run;
use plot::{draw, Axes, Dot, Line};
use serde_json::{json, Value};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A report could not be made.
#[derive(Debug, Error)]
pub enum ReportError {
    #[error("cannot write {}: {cause}; choose a folder that may be written with --out", file.display())]
    Write { file: PathBuf, cause: std::io::Error },
    #[error("cannot draw {plot}: {reason}")]
    Plot { plot: String, reason: String },
    #[error("cannot encode the report as JSON")]
    Json(#[from] serde_json::Error),
}

/// All there is to tell of an experiment.
pub struct Results<'a> {
    pub experiment: &'a Experiment,
    pub runs: &'a [Run],
    pub figures: &'a [Figure],
    /// The short form.
    pub quick: bool,
}

/// Metrics of the table, with their headings.
const COLUMNS: [(&str, &str); 8] = [
    ("duration_us", "time, us"),
    ("goodput_gbps", "goodput, Gbit/s"),
    ("link_share", "share of the links"),
    ("resent", "resent"),
    ("timeouts", "timeouts"),
    ("dropped_queue", "dropped in queues"),
    ("max_queue_bytes", "longest queue, bytes"),
    ("jain", "Jain"),
];

/// How a page begins.
const STYLE: &str = "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>mrnic cluster</title><style>\
    body{font-family:sans-serif;margin:24px;max-width:1100px;color:#222}table{border-collapse:collapse;font-size:13px}\
    td,th{border-bottom:1px solid #ddd;padding:3px 10px;text-align:right}svg{max-width:100%;height:auto}</style></head><body>";

fn escape(s: &str) -> String {
    s.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A number for people.
pub fn number(v: f64) -> String {
    match v.abs() {
        f64::INFINITY => "never".into(),
        _ if v == v.trunc() && v.abs() < 1e15 => format!("{v}"),
        a if a >= 1000.0 => format!("{v:.0}"),
        a if a >= 10.0 => format!("{v:.1}"),
        _ => format!("{v:.3}"),
    }
}

fn cell(s: Option<Spread>) -> String {
    match s {
        None => "-".into(),
        Some(s) if s.min == s.max => number(s.median),
        Some(s) => format!("{} ({} .. {})", number(s.median), number(s.min), number(s.max)),
    }
}

fn row(html: &mut String, tag: &str, cells: &[String]) {
    html.push_str("<tr>");
    for c in cells {
        let _ = write!(html, "<{tag}>{}</{tag}>", escape(c));
    }
    html.push_str("</tr>");
}

impl Results<'_> {
    fn place(labels: impl Iterator<Item = String>, wanted: &Option<String>) -> Option<usize> {
        let wanted = wanted.as_ref()?;
        labels.into_iter().position(|l| l == *wanted)
    }

    fn series_at(&self, label: &Option<String>) -> Option<usize> {
        Self::place(self.experiment.series.iter().map(|s| s.label.clone()), label)
    }

    fn point_at(&self, label: &Option<String>) -> Option<usize> {
        Self::place(self.experiment.point.iter().map(|p| p.label.clone()), label)
    }

    fn over_points(&self, p: &Plot, metric: &str, series: usize) -> Vec<Dot> {
        let over = (self.series_at(&p.relative_series), self.point_at(&p.relative_point));
        let dot = |(point, at): (usize, &crate::experiment::Point)| {
            let relative = match over {
                (None, None) => None,
                (s, q) => Some((s.unwrap_or(series), q.unwrap_or(point))),
            };
            let s = spread(ratios(self.experiment, self.runs, metric, (series, point), relative))?;
            let scale = if relative.is_some() { 100.0 } else { 1.0 };
            let x = at.x.unwrap_or(point as f64);
            Some(Dot { x, y: s.median * scale, low: s.min * scale, high: s.max * scale })
        };
        self.experiment.point.iter().enumerate().filter_map(dot).collect()
    }

    fn over_time(&self, p: &Plot, series: usize) -> Vec<Dot> {
        let Some(point) = self.point_at(&p.point) else { return Vec::new() };
        let Some(run) = self.runs.iter().find(|r| r.series == series && r.point == point) else { return Vec::new() };
        let Outcome { sample_us, goodput_series_gbps, probes, .. } = &run.outcome;
        let at = |i: usize| (i as f64 + 1.0) * sample_us;
        let probe = |f: &dyn Fn(&Probe) -> f64| probes.iter().enumerate().map(|(i, q)| Dot::at(at(i), f(q))).collect();
        match p.kind {
            PlotKind::Points => Vec::new(),
            PlotKind::Goodput => goodput_series_gbps.iter().enumerate().map(|(i, &g)| Dot::at(at(i), g)).collect(),
            PlotKind::Queue => probe(&|q| q.queue_bytes as f64 / 1000.0),
            PlotKind::Rates => {
                let limited: Vec<_> = probes.iter().enumerate().filter(|(_, q)| q.limited > 0).collect();
                let low = limited.iter().map(|(i, q)| Dot::at(at(*i), q.min_mbps / 1000.0));
                let high = limited.iter().rev().map(|(i, q)| Dot::at(at(*i), q.max_mbps / 1000.0));
                low.chain(high).collect()
            }
        }
    }

    fn plot(&self, p: &Plot) -> Result<String, ReportError> {
        let points = p.kind == PlotKind::Points;
        let line = |(i, s): (usize, &Series)| Line {
            label: s.label.clone(),
            marks: points,
            dots: match (&p.metric, points) {
                (Some(metric), true) => self.over_points(p, metric, i),
                _ => self.over_time(p, i),
            },
        };
        let lines: Vec<Line> = self.experiment.series.iter().enumerate().map(line).filter(|l| !l.dots.is_empty()).collect();
        let x = if points { p.x_label.as_str() } else { "time, us" };
        draw(&Axes { title: &p.title, x, y: &p.y_label, log_x: p.log_x }, &lines)
    }

    /// The page.
    pub fn html(&self) -> Result<String, ReportError> {
        let e = self.experiment;
        let mut s = String::from(STYLE);
        let form = if self.quick { ", short form" } else { "" };
        let _ = write!(s, "<h1>{}</h1><p>{}</p>", escape(&e.title), escape(&e.description));
        let _ = write!(s, "<p>Medians over {} seed(s) with smallest and largest value{form}.</p>", e.seeds);
        if !self.figures.is_empty() {
            s.push_str("<h2>Figures</h2><table>");
            row(&mut s, "th", &["figure", "measured", "to reach", "", "why"].map(String::from));
            for f in self.figures {
                let why = f.missed_because.clone().filter(|_| !f.reached).unwrap_or_default();
                row(&mut s, "td", &[f.name.clone(), cell(f.value), f.target(), f.verdict().into(), why]);
            }
            s.push_str("</table>");
        }
        for p in &e.plot {
            s += &self.plot(p)?;
        }
        s.push_str("<h2>All runs</h2><table>");
        let heads = ["point", "series"].into_iter().chain(COLUMNS.iter().map(|c| c.1)).map(String::from);
        row(&mut s, "th", &heads.collect::<Vec<_>>());
        for (point, p) in e.point.iter().enumerate() {
            for (series, t) in e.series.iter().enumerate() {
                let cells = COLUMNS.iter().map(|(metric, _)| cell(spread(values(e, self.runs, metric, series, point))));
                let cells: Vec<String> = [p.label.clone(), t.label.clone()].into_iter().chain(cells).collect();
                row(&mut s, "td", &cells);
            }
        }
        s.push_str("</table></body></html>\n");
        Ok(s)
    }

    /// The same as JSON.
    pub fn json(&self) -> Value {
        let e = self.experiment;
        let medians = |series, point| {
            let metric = |name: &&str| (name.to_string(), json!(spread(values(e, self.runs, name, series, point))));
            METRICS.iter().map(metric).collect::<serde_json::Map<_, _>>()
        };
        let of_series = |point: usize, series: usize| {
            let of = |r: &&Run| r.series == series && r.point == point;
            let runs: Vec<_> = self.runs.iter().filter(of).map(|r| json!({ "seed": r.seed, "outcome": r.outcome })).collect();
            json!({ "series": e.series[series].label, "metrics": medians(series, point), "runs": runs })
        };
        let points: Vec<_> = e
            .point
            .iter()
            .enumerate()
            .map(|(point, p)| {
                let all: Vec<_> = (0..e.series.len()).map(|series| of_series(point, series)).collect();
                json!({ "point": p.label, "x": p.x.unwrap_or(point as f64), "series": all })
            })
            .collect();
        json!({ "name": e.name, "title": e.title, "quick": self.quick, "seeds": e.seeds, "figures": self.figures, "points": points })
    }

    /// Writes page and JSON into `folder`. Returns both names.
    pub fn write(&self, folder: &Path) -> Result<[PathBuf; 2], ReportError> {
        let put = |file: PathBuf, text: String| match std::fs::write(&file, text) {
            Ok(()) => Ok(file),
            Err(cause) => Err(ReportError::Write { file, cause }),
        };
        let page = put(folder.join(format!("{}.html", self.experiment.name)), self.html()?)?;
        let text = serde_json::to_string(&self.json())?;
        Ok([page, put(folder.join(format!("{}.json", self.experiment.name)), text)?])
    }
}
