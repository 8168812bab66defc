//! The committed figures, and what has grown since.
//!
//! In: `baseline.toml` and fresh figures. Out: a line for each figure that grew by more than 5 %, or the updated file.
//! Guarantees: frequencies are kept for people and never compared; a block that the baseline does not know is told.
use crate::error::{io, SynthError};
use crate::figures::Figures;
use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// Growth that needs no new baseline, in percent.
pub const ALLOWED_PERCENT: f64 = 5.0;
/// The baseline that this program was built with.
pub const COMMITTED: &str = include_str!("../baseline.toml");
const HEAD: &str =
    "# Figures of the blocks as committed. `mrnic synth BLOCK --update` writes this file; CI compares (docs/synthesis.md).\n\
                    # Frequencies (fmax_mhz, ECP5 speed grade 8 out of context) are information: nothing compares them.\n";

/// The figures of one block.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub lut: u64,
    pub ff: u64,
    pub bram: f64,
    pub uram: u64,
    pub dsp: u64,
    pub levels: u64,
    pub port_levels: u64,
    pub memory_bits: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fmax_mhz: Option<f64>,
}

impl From<&Figures> for Entry {
    fn from(f: &Figures) -> Entry {
        Entry {
            lut: f.lut,
            ff: f.ff,
            bram: f.bram,
            uram: f.uram,
            dsp: f.dsp,
            levels: f.levels,
            port_levels: f.port_levels,
            memory_bits: f.memory_bits,
            fmax_mhz: f.fmax_mhz.map(|mhz| (mhz * 10.0).round() / 10.0),
        }
    }
}

impl Entry {
    fn compared(&self) -> [(&'static str, f64); 8] {
        [
            ("lut", self.lut as f64),
            ("ff", self.ff as f64),
            ("bram", self.bram),
            ("uram", self.uram as f64),
            ("dsp", self.dsp as f64),
            ("levels", self.levels as f64),
            ("port_levels", self.port_levels as f64),
            ("memory_bits", self.memory_bits as f64),
        ]
    }
}

/// Part, build, block.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Baseline(BTreeMap<String, BTreeMap<String, BTreeMap<String, Entry>>>);

impl Baseline {
    pub fn parse(text: &str) -> Result<Baseline, SynthError> {
        toml::from_str(text).map_err(|e| SynthError::Parse { path: "baseline.toml".into(), reason: e.message().into() })
    }

    pub fn get(&self, target: Target, build: &str, block: &str) -> Option<&Entry> {
        self.0.get(target.name())?.get(build)?.get(block)
    }

    /// What a figure grew by more than the baseline allows, one line each; empty if all is well.
    pub fn growth(&self, now: &Figures) -> Vec<String> {
        let (target, block) = (now.target.name(), format!("{}/{}", now.build, now.block));
        let update = format!("mrnic synth {block} --target {target} --update");
        let Some(before) = self.get(now.target, &now.build, &now.block) else {
            return vec![format!("{block} on {target} has no baseline; write it with: {update}")];
        };
        let now = Entry::from(now);
        let pairs = before.compared().into_iter().zip(now.compared());
        let grown = pairs.filter(|((_, before), (_, now))| *now > before * (1.0 + ALLOWED_PERCENT / 100.0));
        grown
            .map(|((name, before), (_, now))| {
                let by = if before > 0.0 { format!(", +{:.1} %", 100.0 * (now / before - 1.0)) } else { String::new() };
                format!("{block} on {target}: {name} grew from {before} to {now}{by}; if that is meant: {update}")
            })
            .collect()
    }

    /// Takes figures in; a frequency that was not measured this time stays.
    pub fn put(&mut self, now: &Figures) {
        let blocks = self.0.entry(now.target.name().into()).or_default().entry(now.build.clone()).or_default();
        let mut entry = Entry::from(now);
        entry.fmax_mhz = entry.fmax_mhz.or_else(|| blocks.get(&now.block).and_then(|before| before.fmax_mhz));
        blocks.insert(now.block.clone(), entry);
    }

    /// Reads the file as it is now, which other calls may have written.
    pub fn load(file: &Path) -> Result<Baseline, SynthError> {
        Baseline::parse(&fs::read_to_string(file).map_err(io("read", file))?)
    }

    pub fn save(&self, file: &Path) -> Result<(), SynthError> {
        let mut text = HEAD.to_string();
        for (target, builds) in &self.0 {
            for (build, blocks) in builds {
                text += &format!("\n[{target}.{build}]\n");
                for (block, entry) in blocks {
                    let line = toml::to_string(entry).expect("an entry is a table of numbers");
                    text += &format!("{block} = {{ {} }}\n", line.trim().replace('\n', ", "));
                }
            }
        }
        fs::write(file, text).map_err(io("write", file))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::measured;

    fn figures(lut: u64, levels: u64) -> Figures {
        Figures::new(Target::Ecp5, "ecp5", "b", &measured(&[("LUT4", lut)], levels), None)
    }

    fn baseline() -> Baseline {
        let mut b = Baseline::default();
        b.put(&figures(1000, 10));
        b
    }

    #[test]
    fn growth_of_more_than_five_percent_names_block_figure_and_remedy() {
        assert_eq!(baseline().growth(&figures(1050, 10)), Vec::<String>::new());
        assert_eq!(baseline().growth(&figures(500, 3)), Vec::<String>::new());
        assert_eq!(
            baseline().growth(&figures(1051, 11)),
            [
                "ecp5/b on ecp5: lut grew from 1000 to 1051, +5.1 %; if that is meant: mrnic synth ecp5/b --target ecp5 --update",
                "ecp5/b on ecp5: levels grew from 10 to 11, +10.0 %; if that is meant: mrnic synth ecp5/b --target ecp5 --update"
            ]
        );
    }

    #[test]
    fn a_figure_that_was_zero_and_a_block_that_is_new_are_told() {
        let mut new_memory = figures(1000, 10);
        new_memory.bram = 0.5;
        assert_eq!(baseline().growth(&new_memory).len(), 1);
        let mut other = figures(1, 1);
        other.block = "c".into();
        assert!(baseline().growth(&other)[0].contains("has no baseline"));
    }

    #[test]
    fn a_frequency_is_kept_and_not_compared() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut b = Baseline::default();
        let mut routed = figures(10, 4);
        routed.fmax_mhz = Some(123.456);
        b.put(&routed);
        routed.fmax_mhz = Some(50.0);
        assert!(b.growth(&routed).is_empty());
        routed.fmax_mhz = None;
        b.put(&routed);
        b.save(file.path()).unwrap();
        let again = Baseline::load(file.path()).unwrap();
        assert_eq!(again, b);
        assert_eq!(again.get(Target::Ecp5, "ecp5", "b").unwrap().fmax_mhz, Some(123.5));
    }

    #[test]
    fn the_committed_baseline_is_understood() {
        assert!(Baseline::parse(COMMITTED).is_ok());
        assert!(Baseline::parse("[ecp5.ecp5]\nb = { lut = 1 }").is_err());
    }
}
