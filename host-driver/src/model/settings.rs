//! What a NIC is made with, beyond what the verbs API can say.
//!
//! In: fields set by a Rust program, or environment variables of any program. Out: checked settings; a refusal names the variable, its
//! value and what to choose.
use super::faults;
use crate::device::DeviceError;
use mrnic_fabric::FabricConfig;
use mrnic_model::{Congestion, PATHS_MAX};
use std::path::PathBuf;

/// Paths of a connection at most: a power of two.
pub const PATHS: &str = "MRNIC_PATHS";
/// Planes that paths start on, as a list: `0,2`.
pub const PLANES: &str = "MRNIC_PLANES";
/// Congestion control: `aimd` or `dctcp`.
pub const CONGESTION: &str = "MRNIC_CONGESTION";
/// A file for counters of each path, written when the NIC leaves; `{pid}` in its name is the process.
pub const STATS: &str = "MRNIC_STATS";

/// Settings of one NIC.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The folder where NICs meet; without it that of [`mrnic_host_net::Segment::default_dir`].
    pub session: Option<PathBuf>,
    /// The network that this NIC sends through; none: nothing is lost, and there is one plane.
    pub fabric: Option<FabricConfig>,
    /// Paths of each connection, 1, 2, 4 or 8; the smaller number of both ends counts.
    pub paths: u8,
    /// Bit p: paths may start on plane p. Needs a network. A path whose route fails looks for another anywhere (L5).
    pub plane_mask: u8,
    pub congestion: Congestion,
    pub stats: Option<PathBuf>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            session: None,
            fabric: None,
            paths: PATHS_MAX as u8,
            plane_mask: u8::MAX,
            congestion: Congestion::default(),
            stats: None,
        }
    }
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|text| !text.is_empty()).map(|text| text.to_string_lossy().into_owned())
}

impl Settings {
    /// What the environment asks for.
    pub fn from_environment() -> Result<Self, DeviceError> {
        let mut settings = Settings { fabric: faults::from_environment()?, ..Settings::default() };
        if let Some(text) = variable(PATHS) {
            settings.paths = text.trim().parse().map_err(|_| bad_paths(&text))?;
        }
        if let Some(text) = variable(PLANES) {
            settings.plane_mask = plane_mask(&text)?;
        }
        if let Some(text) = variable(CONGESTION) {
            settings.congestion = congestion(&text)?;
        }
        settings.stats = variable(STATS).map(|text| text.replace("{pid}", &std::process::id().to_string()).into());
        settings.check()?;
        Ok(settings)
    }

    /// Checks every field.
    pub fn check(&self) -> Result<(), DeviceError> {
        if !self.paths.is_power_of_two() || usize::from(self.paths) > PATHS_MAX {
            return Err(bad_paths(&self.paths.to_string()));
        }
        let refused = |detail: String| Err(DeviceError::invalid(PLANES, detail));
        match &self.fabric {
            None if self.plane_mask != u8::MAX => {
                refused(format!("there is one plane without a network; set {}", faults::VARIABLE))
            }
            Some(fabric) if self.planes(fabric.planes).is_empty() => {
                refused(format!("none of them is there; planes are 0 to {}", fabric.planes - 1))
            }
            Some(fabric) => fabric.check().map_err(|fault| DeviceError::invalid(faults::VARIABLE, format!("fabric.{fault}"))),
            None => Ok(()),
        }
    }

    /// The planes of the mask among `count`.
    pub fn planes(&self, count: usize) -> Vec<usize> {
        (0..count).filter(|plane| self.plane_mask >> plane & 1 != 0).collect()
    }
}

fn bad_paths(value: &str) -> DeviceError {
    DeviceError::invalid(PATHS, format!("{value}: choose 1, 2, 4 or 8"))
}

/// A list of planes as a mask.
pub fn plane_mask(text: &str) -> Result<u8, DeviceError> {
    let bad = || DeviceError::invalid(PLANES, format!("{text}: give planes from 0 to 7 as in 0,2"));
    text.split(',').try_fold(0, |mask, word| match word.trim().parse::<u32>() {
        Ok(plane) if plane < 8 => Ok(mask | 1 << plane),
        _ => Err(bad()),
    })
}

/// The congestion control of that name.
pub fn congestion(name: &str) -> Result<Congestion, DeviceError> {
    Congestion::from_name(name.trim()).ok_or_else(|| {
        let names: Vec<_> = Congestion::ALL.iter().map(|c| c.name()).collect();
        DeviceError::invalid(CONGESTION, format!("{name}: there are {}", names.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_values_are_refused_with_name_value_and_remedy() {
        let fabric = Some(FabricConfig { planes: 2, ..FabricConfig::default() });
        let paths = |paths| Settings { paths, ..Settings::default() }.check().map_err(|e| e.to_string());
        for good in [1, 2, 4, 8] {
            assert_eq!(paths(good), Ok(()));
        }
        for bad in [0, 3, 16, 255] {
            assert!(paths(bad).unwrap_err().contains("1, 2, 4 or 8"));
        }
        assert_eq!(plane_mask("0, 2"), Ok(0b101));
        for bad in ["", "8", "-1", "a", "0,,1"] {
            assert!(plane_mask(bad).is_err_and(|e| e.to_string().contains("0,2")), "{bad}");
        }
        let error = |settings: Settings| settings.check().unwrap_err().to_string();
        assert!(error(Settings { plane_mask: 1, ..Settings::default() }).contains("MRNIC_SCENARIO"));
        assert!(error(Settings { plane_mask: 0b100, fabric: fabric.clone(), ..Settings::default() }).contains("0 to 1"));
        assert_eq!(Settings { plane_mask: 0b110, fabric, ..Settings::default() }.planes(2), [1]);
        assert!(congestion("reno").unwrap_err().to_string().contains("aimd, dctcp"));
        assert_eq!(congestion("dctcp"), Ok(Congestion::Dctcp));
    }
}
