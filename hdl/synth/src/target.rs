//! The parts that blocks are synthesised for, and what they hold.
//!
//! In: the name of a part. Out: [`Target`] with its capacity and the build it is meant for.
//! Guarantees: capacities are those of the data sheets.
use crate::error::SynthError;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// Lattice ECP5, LFE5U-85F, speed grade 8.
    Ecp5,
    /// AMD UltraScale+; shares are those of an Alveo U200 (XCU200, a VU9P).
    Xcup,
}

/// What a part holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Capacity {
    pub lut: u64,
    pub ff: u64,
    /// Block RAMs: 18 kbit on ECP5, 36 kbit on UltraScale+.
    pub bram: f64,
    pub uram: u64,
    pub dsp: u64,
}

impl Target {
    pub const ALL: [Target; 2] = [Target::Ecp5, Target::Xcup];

    pub fn parse(name: &str) -> Result<Target, SynthError> {
        let found = Target::ALL.into_iter().find(|t| t.name() == name);
        found.ok_or_else(|| SynthError::UnknownPart { part: name.into(), parts: Target::ALL.map(Target::name).join(", ") })
    }

    pub fn name(self) -> &'static str {
        match self {
            Target::Ecp5 => "ecp5",
            Target::Xcup => "xcup",
        }
    }

    /// The part that figures are compared with.
    pub fn part(self) -> &'static str {
        match self {
            Target::Ecp5 => "LFE5U-85F",
            Target::Xcup => "Alveo U200",
        }
    }

    pub fn capacity(self) -> Capacity {
        match self {
            Target::Ecp5 => Capacity { lut: 83_640, ff: 83_640, bram: 208.0, uram: 0, dsp: 156 },
            Target::Xcup => Capacity { lut: 1_182_240, ff: 2_364_480, bram: 2_160.0, uram: 960, dsp: 6_840 },
        }
    }

    /// The build whose blocks are meant when only a block is named.
    pub fn build(self) -> &'static str {
        match self {
            Target::Ecp5 => "ecp5",
            Target::Xcup => "corundum100g",
        }
    }

    /// The least frequency of a block out of context, in MHz.
    pub fn min_mhz(self) -> Option<f64> {
        (self == Target::Ecp5).then_some(100.0)
    }

    /// The most logic levels between two registers.
    pub fn max_levels(self) -> Option<u64> {
        (self == Target::Xcup).then_some(12)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_known_by_name() {
        for t in Target::ALL {
            assert_eq!(Target::parse(t.name()).unwrap(), t);
            assert!(mrnic_nic::config::build(t.build()).is_some());
        }
        let message = Target::parse("stratix").unwrap_err().to_string();
        assert_eq!(message, "there is no part stratix; choose one of ecp5, xcup");
    }
}
