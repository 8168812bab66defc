//! Tables and JSON of measured blocks.
//!
//! In: figures of blocks, derived figures. Out: an aligned table, a JSON file. Guarantees: blocks that miss are marked.
use crate::derived::Derived;
use crate::error::{io, SynthError};
use crate::figures::Figures;
use serde::Serialize;
use std::fs;
use std::path::{Path, PathBuf};

/// All that one call measured.
#[derive(Debug, Default, Serialize)]
pub struct Results {
    pub pyosys: String,
    pub nextpnr: String,
    pub blocks: Vec<Figures>,
    pub builds: Vec<Derived>,
}

const HEAD: [&str; 11] = ["part", "block", "LUT", "FF", "BRAM", "URAM", "DSP", "levels", "port levels", "MHz", ""];

fn row(f: &Figures) -> [String; 11] {
    let mhz = match (&f.routed, f.fmax_mhz) {
        (_, Some(mhz)) => format!("{mhz:.1}"),
        // routed, but no register drives another one
        (Some(_), None) => "-".into(),
        (None, None) => String::new(),
    };
    [
        f.target.name().into(),
        format!("{}/{}", f.build, f.block),
        f.lut.to_string(),
        f.ff.to_string(),
        f.bram.to_string(),
        f.uram.to_string(),
        f.dsp.to_string(),
        f.levels.to_string(),
        f.port_levels.to_string(),
        mhz,
        f.misses().map_or(String::new(), |m| format!("MISSED: {m}")),
    ]
}

impl Results {
    pub fn table(&self) -> String {
        let mut rows = vec![HEAD.map(String::from)];
        rows.extend(self.blocks.iter().map(row));
        let widths: Vec<_> = (0..HEAD.len()).map(|c| rows.iter().map(|r| r[c].len()).max().unwrap_or(0)).collect();
        let mut text = String::new();
        for r in rows {
            let cells: Vec<_> = r
                .iter()
                .zip(&widths)
                .enumerate()
                .map(|(c, (cell, w))| if c < 2 || c == 10 { format!("{cell:<w$}") } else { format!("{cell:>w$}") })
                .collect();
            text += cells.join("  ").trim_end();
            text.push('\n');
        }
        for derived in &self.builds {
            text += &format!("{}\n", derived.text());
        }
        text
    }

    /// The blocks that miss, worst first, with their critical path.
    pub fn missed(&self) -> String {
        let mut missed: Vec<_> = self.blocks.iter().filter(|f| f.misses().is_some()).collect();
        let worst = |f: &Figures| (f.fmax_mhz.unwrap_or(f64::MAX), -(f.levels as f64));
        missed.sort_by(|a, b| worst(a).partial_cmp(&worst(b)).expect("frequencies are numbers"));
        let mut text = String::new();
        for f in missed {
            let (from, to) = match (&f.routed, &f.critical) {
                (Some(r), _) if f.fmax_mhz.is_some() => (r.from.as_str(), r.to.as_str()),
                (_, Some(c)) => (c.from.as_str(), c.to.as_str()),
                _ => continue,
            };
            let through = f.critical.as_ref().map_or(String::new(), |c| c.through.join(", "));
            let what = f.misses().unwrap_or_default();
            text += &format!("{}/{} on {}: {what}; {from} -> {to}", f.build, f.block, f.target.name());
            text += &if through.is_empty() { "\n".into() } else { format!(" (deepest through {through})\n") };
        }
        text
    }

    /// Writes synth.json.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, SynthError> {
        fs::create_dir_all(folder).map_err(io("create", folder))?;
        let file = folder.join("synth.json");
        fs::write(&file, self.json()).map_err(io("write", &file))?;
        Ok(file)
    }

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).expect("figures are plain values")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figures::tests::measured;
    use crate::target::Target;

    #[test]
    fn what_misses_is_marked_and_listed_worst_first() {
        let f = |block, levels| Figures::new(Target::Xcup, "corundum100g", block, &measured(&[("LUT6", 9)], levels), None);
        let r = Results { blocks: vec![f("good", 12), f("bad", 13), f("worse", 19)], ..Results::default() };
        let table = r.table();
        let lines: Vec<_> = table.lines().collect();
        assert!(lines[0].starts_with("part") && lines[0].ends_with("MHz"));
        assert!(!lines[1].contains("MISSED") && lines[2].ends_with("MISSED: 13 levels, at most 12"));
        let missed = r.missed();
        assert!(missed.starts_with("corundum100g/worse on xcup: 19 levels") && missed.lines().count() == 2, "{missed}");
        assert!(serde_json::from_str::<serde_json::Value>(&r.json()).unwrap()["blocks"][1]["levels"] == 13);
    }
}
