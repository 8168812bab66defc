//! What a block costs and how fast it is.
//!
//! In: the cells, memories and paths that scripts/synth.py measured, and the frequency after place and route. Out: [`Figures`].
//! Guarantees: LUTs count what they occupy, carry chains and LUT memories included.
use crate::target::Target;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The deepest path of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DeepPath {
    /// LUTs and carry chains.
    pub levels: u64,
    pub from: String,
    pub to: String,
    /// Signals of the source on the way.
    pub through: Vec<String>,
    pub cells: BTreeMap<String, u64>,
}

/// What scripts/synth.py writes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    pub cells: BTreeMap<String, u64>,
    pub memory_bits: u64,
    pub paths: BTreeMap<String, DeepPath>,
}

/// What place and route found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Routed {
    /// None if no register drives another one.
    pub fmax_mhz: Option<f64>,
    pub from: String,
    pub to: String,
    /// Where the longest paths end, the longest first; only where asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slowest: Vec<SlowEnd>,
}

/// Registers of one name, or a memory: how long after the clock's edge the last of their inputs settles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SlowEnd {
    pub to: String,
    pub ns: f64,
}

/// The figures of one block in one build on one part.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figures {
    pub target: Target,
    pub build: String,
    pub block: String,
    pub lut: u64,
    pub ff: u64,
    /// In half units: an 18-kbit half of a 36-kbit block RAM is 0.5.
    pub bram: f64,
    pub uram: u64,
    pub dsp: u64,
    /// Between two registers.
    pub levels: u64,
    /// On any path that begins or ends at a port.
    pub port_levels: u64,
    pub memory_bits: u64,
    pub fmax_mhz: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub routed: Option<Routed>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub critical: Option<DeepPath>,
    pub cells: BTreeMap<String, u64>,
}

/// LUTs that a cell occupies.
fn luts(cell: &str) -> u64 {
    match cell {
        "CCU2C" => 2,
        // four LUTs hold the bits, the two beside them serve the write port
        "TRELLIS_DPR16X4" => 6,
        "SRL16E" | "SRLC32E" => 1,
        "RAM32X1D" | "RAM64X1D" => 2,
        "RAM32M" | "RAM64M" | "RAM128X1D" => 4,
        "RAM32M16" | "RAM64M8" | "RAM256X1D" => 8,
        _ => u64::from(cell.starts_with("LUT") || cell == "INV"),
    }
}

fn is_ff(cell: &str) -> bool {
    matches!(cell, "TRELLIS_FF" | "FDRE" | "FDSE" | "FDCE" | "FDPE")
}

fn brams(cell: &str) -> f64 {
    match cell {
        "DP16KD" | "PDPW16KD" | "RAMB36E2" => 1.0,
        "RAMB18E2" => 0.5,
        _ => 0.0,
    }
}

impl Figures {
    pub fn new(target: Target, build: &str, block: &str, measured: &Measured, routed: Option<Routed>) -> Figures {
        let cells = &measured.cells;
        let sum = |of: &dyn Fn(&str) -> u64| cells.iter().map(|(cell, n)| of(cell) * n).sum();
        const BETWEEN: &str = "register_to_register";
        Figures {
            target,
            build: build.into(),
            block: block.into(),
            lut: sum(&luts),
            ff: sum(&|c| u64::from(is_ff(c))),
            bram: cells.iter().map(|(cell, n)| brams(cell) * *n as f64).sum(),
            uram: sum(&|c| u64::from(c.starts_with("URAM288"))),
            dsp: sum(&|c| u64::from(matches!(c, "MULT18X18D" | "DSP48E2"))),
            levels: measured.paths.get(BETWEEN).map_or(0, |p| p.levels),
            port_levels: measured.paths.iter().filter(|p| p.0 != BETWEEN).map(|p| p.1.levels).max().unwrap_or(0),
            memory_bits: measured.memory_bits,
            fmax_mhz: routed.as_ref().and_then(|r| r.fmax_mhz),
            routed,
            critical: measured.paths.get(BETWEEN).cloned(),
            cells: cells.clone(),
        }
    }

    /// What the part has too little of; empty if the block fits.
    pub fn excess(&self) -> String {
        let c = self.target.capacity();
        let all = [
            ("LUT", self.lut as f64, c.lut as f64),
            ("FF", self.ff as f64, c.ff as f64),
            ("BRAM", self.bram, c.bram),
            ("URAM", self.uram as f64, c.uram as f64),
            ("DSP", self.dsp as f64, c.dsp as f64),
        ];
        let over = all.iter().filter(|(_, used, there)| used > there);
        over.map(|(name, used, there)| format!("{name} {used} of {there}")).collect::<Vec<_>>().join(", ")
    }

    /// Whether the block misses what docs/synthesis.md asks of every block, and by what.
    pub fn misses(&self) -> Option<String> {
        if let (Some(min), Some(mhz)) = (self.target.min_mhz(), self.fmax_mhz) {
            if mhz < min {
                return Some(format!("{mhz:.0} MHz, needs {min:.0}"));
            }
        }
        let max = self.target.max_levels().filter(|max| self.levels > *max)?;
        Some(format!("{} levels, at most {max}", self.levels))
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    pub fn measured(cells: &[(&str, u64)], levels: u64) -> Measured {
        Measured {
            cells: cells.iter().map(|(n, c)| (n.to_string(), *c)).collect(),
            memory_bits: 100,
            paths: [
                ("register_to_register".to_string(), DeepPath { levels, ..DeepPath::default() }),
                ("input_to_register".to_string(), DeepPath { levels: 3, ..DeepPath::default() }),
            ]
            .into(),
        }
    }

    #[test]
    fn cells_are_counted_by_what_they_occupy() {
        let m =
            measured(&[("LUT4", 10), ("CCU2C", 3), ("TRELLIS_DPR16X4", 2), ("TRELLIS_FF", 7), ("DP16KD", 4), ("PFUMX", 9)], 5);
        let f = Figures::new(Target::Ecp5, "ecp5", "b", &m, None);
        assert_eq!((f.lut, f.ff, f.bram, f.uram, f.levels, f.port_levels), (10 + 6 + 12, 7, 4.0, 0, 5, 3));
        let m = measured(
            &[("LUT6", 1), ("LUT2", 2), ("INV", 1), ("RAM64M8", 1), ("RAMB18E2", 3), ("URAM288", 2), ("CARRY4", 9)],
            13,
        );
        let f = Figures::new(Target::Xcup, "corundum100g", "b", &m, None);
        assert_eq!((f.lut, f.bram, f.uram), (4 + 8, 1.5, 2));
        assert_eq!(f.misses().unwrap(), "13 levels, at most 12");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let f = Figures::new(Target::Ecp5, "ecp5", "b", &measured(&[("DP16KD", 300), ("LUT4", 100_000)], 1), None);
        assert_eq!(f.excess(), "LUT 100000 of 83640, BRAM 300 of 208");
        let slow = Routed { fmax_mhz: Some(81.6), from: String::new(), to: String::new(), slowest: Vec::new() };
        let f = Figures::new(Target::Ecp5, "ecp5", "b", &measured(&[("LUT4", 1)], 1), Some(slow));
        assert_eq!((f.excess().as_str(), f.misses().unwrap().as_str()), ("", "82 MHz, needs 100"));
    }
}
