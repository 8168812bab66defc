//! The measured figures of the project: `mrnic bench`.
//!
//! In: nothing but the machine it runs on. Out: a table (figure, measured, target) and the same as JSON. Guarantees: cycle
//! counts and goodput are deterministic; speeds are counted in processor time of one core, so that other work on the machine
//! does not spoil them; a figure that misses its target is printed as MISSED, never left out.
mod acks;
mod rates;
mod rtl;
mod verbs;

use anyhow::{Context, Result};
use clap::ValueEnum;
use mrnic_say::say;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Figures that are measured together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Group {
    /// Idle cycles between packets of the largest MTU.
    Mtu,
    /// Cycles for each message of 64 bytes, sending and receiving.
    Small,
    /// Cycles for each acknowledgment, and from a revealed loss to the resend.
    Acks,
    /// Goodput under loss against the same run without.
    Goodput,
    /// NIC cycles simulated in a second.
    Speed,
    /// Time to make a model, and to take it from the cache.
    Build,
    /// Packets a second of the golden model alone.
    Model,
    /// Bandwidth and latency of RDMA programs on the verbs device (perftest).
    Verbs,
}

/// What a figure must reach.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    AtMost(f64),
    AtLeast(f64),
}

impl Target {
    fn met(self, value: f64) -> bool {
        match self {
            Self::AtMost(t) => value <= t,
            Self::AtLeast(t) => value >= t,
        }
    }
}

/// One measured figure.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Figure {
    pub name: String,
    pub measured: f64,
    pub unit: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<Target>,
    /// How many values it comes from, and how they spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread: Option<Spread>,
}

impl Figure {
    fn new(name: &str, measured: f64, unit: &'static str) -> Self {
        Self { name: name.into(), measured, unit, target: None, spread: None }
    }

    fn at_most(mut self, t: f64) -> Self {
        self.target = Some(Target::AtMost(t));
        self
    }

    fn at_least(mut self, t: f64) -> Self {
        self.target = Some(Target::AtLeast(t));
        self
    }

    fn spread(mut self, s: Spread) -> Self {
        self.spread = Some(s);
        self
    }

    /// `ok`, `MISSED`, or nothing where there is no target.
    pub fn verdict(&self) -> &'static str {
        match self.target {
            Some(t) if t.met(self.measured) => "ok",
            Some(_) => "MISSED",
            None => "",
        }
    }
}

/// How values spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub values: usize,
    pub min: f64,
    pub median: f64,
    pub p99: f64,
    pub max: f64,
    pub mean: f64,
}

impl Spread {
    /// Of values, of which there must be one at least.
    fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut v: Vec<f64> = values.into_iter().collect();
        v.sort_by(f64::total_cmp);
        let at = |share: f64| v.get(((v.len() as f64 * share) as usize).min(v.len().saturating_sub(1))).copied();
        Some(Self {
            values: v.len(),
            min: at(0.0)?,
            median: at(0.5)?,
            p99: at(0.99)?,
            max: at(1.0)?,
            mean: v.iter().sum::<f64>() / v.len() as f64,
        })
    }

    /// Of values in cycles; `what` names what is missing when there are none.
    fn cycles(values: impl IntoIterator<Item = u64>, what: &str) -> Result<Self> {
        Self::of(values.into_iter().map(|c| c as f64))
            .with_context(|| format!("the run showed no {what}: its scenario measures nothing"))
    }
}

/// The steady state: without the first and the last tenth.
fn steady<T>(values: &[T]) -> &[T] {
    let cut = values.len() / 10;
    &values[cut..values.len() - cut]
}

fn text(value: f64) -> String {
    if value.abs() >= 10_000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}

/// The table as lines.
pub fn table(figures: &[Figure]) -> Vec<String> {
    let mut rows = vec![["figure", "measured", "unit", "target", "", "spread"].map(String::from)];
    for f in figures {
        let target = match f.target {
            Some(Target::AtMost(t)) => format!("<= {t}"),
            Some(Target::AtLeast(t)) => format!(">= {t}"),
            None => String::new(),
        };
        let spread = f.spread.map_or(String::new(), |s| {
            let [min, median, p99, max, mean] = [s.min, s.median, s.p99, s.max, s.mean].map(text);
            format!("{} values: min {min}, median {median}, p99 {p99}, max {max}, mean {mean}", s.values)
        });
        rows.push([f.name.clone(), text(f.measured), f.unit.into(), target, f.verdict().into(), spread]);
    }
    let widths: Vec<_> = (0..rows[0].len()).map(|c| rows.iter().map(|r| r[c].len()).max().unwrap_or(0)).collect();
    let line = |r: &[String; 6]| {
        r.iter().zip(&widths).map(|(c, w)| format!("{c:<w$}")).collect::<Vec<_>>().join("  ").trim_end().to_string()
    };
    rows.iter().map(line).collect()
}

/// Measures, prints and writes `bench.json` into `out`.
pub fn run(out: &Path, only: Option<Group>) -> Result<PathBuf> {
    std::fs::create_dir_all(out)
        .with_context(|| format!("cannot make the folder {}; choose another with --out", out.display()))?;
    let file = out.join("bench.json");
    let mut figures: Vec<Figure> = Vec::new();
    for group in Group::value_variants().iter().copied().filter(|g| only.is_none_or(|o| o == *g)) {
        let name = group.to_possible_value().map(|v| v.get_name().to_string()).unwrap_or_default();
        eprintln!("measuring: {name}");
        let more = match group {
            Group::Mtu => rtl::mtu(),
            Group::Small => rtl::small(),
            Group::Acks => acks::all(),
            Group::Goodput => rates::goodput(),
            Group::Speed => rates::speed(),
            Group::Build => rates::build(out),
            Group::Model => rates::model(),
            Group::Verbs => verbs::all(out),
        };
        figures.extend(more.with_context(|| format!("cannot measure {name}"))?);
    }
    for line in table(&figures) {
        say!("{line}");
    }
    let missed: Vec<_> = figures.iter().filter(|f| f.verdict() == "MISSED").map(|f| f.name.as_str()).collect();
    let json = serde_json::json!({ "figures": figures, "missed": missed });
    std::fs::write(&file, serde_json::to_string_pretty(&json)?)
        .with_context(|| format!("cannot write {}; choose another folder with --out", file.display()))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missed_target_is_shown() {
        let figures = [
            Figure::new("a", 2.0, "cycles").at_most(2.0),
            Figure::new("b", 2.1, "cycles").at_most(2.0),
            Figure::new("c", 96.9, "%").at_least(97.0),
            Figure::new("d", 1.0, "s"),
        ];
        assert_eq!(figures.each_ref().map(Figure::verdict), ["ok", "MISSED", "MISSED", ""]);
        let t = table(&figures);
        assert_eq!(t.len(), 5);
        assert!(t[2].contains("2.10") && t[2].contains("<= 2") && t[2].ends_with("MISSED"));
    }

    #[test]
    fn spread_of_known_values() {
        let s = Spread::of((1..=100).map(f64::from)).unwrap();
        assert_eq!((s.values, s.min, s.median, s.p99, s.max, s.mean), (100, 1.0, 51.0, 100.0, 100.0, 50.5));
        assert!(Spread::of([]).is_none());
        assert_eq!(steady(&[0; 20]).len(), 16);
    }
}
