//! The network's faults, where a scenario asks for them: planes with loss, delay, queues and death stand between this NIC and the rings.
//!
//! In: the variable `MRNIC_SCENARIO` (a shipped scenario or a file; only its `[fabric]` table counts here), frames. Out: frames when they
//! arrive, if they do. Each NIC applies the faults to what it sends; times count from its start.
use crate::device::DeviceError;
use mrnic_fabric::{Fabric, FabricConfig, PlaneStats};
use mrnic_host_net::PLACES;
use serde::Deserialize;

/// The environment variable that names a scenario.
pub const VARIABLE: &str = "MRNIC_SCENARIO";

/// What of a scenario file is looked at.
#[derive(Deserialize)]
struct Scenario {
    #[serde(default)]
    fabric: FabricConfig,
}

macro_rules! shipped {
    ($($name:literal),*) => {
        &[$(($name, include_str!(concat!("../../../sim/scenarios/", $name, ".toml")))),*]
    };
}

/// The scenarios that come with the project: name and text.
const SHIPPED: &[(&str, &str)] = shipped!("clean", "loss-1", "loss-10", "reorder", "plane-kill", "incast", "bit-errors");

/// The network between this NIC and the others.
pub struct Faults {
    fabric: Fabric,
    place: usize,
    start_ns: u64,
}

/// The fabric of a scenario.
pub fn load(name_or_file: &str) -> Result<FabricConfig, DeviceError> {
    let refused = |detail: String| DeviceError::invalid("scenario", format!("{name_or_file}: {detail}"));
    let text = match SHIPPED.iter().find(|(name, _)| *name == name_or_file) {
        Some((_, text)) => (*text).to_owned(),
        None => std::fs::read_to_string(name_or_file).map_err(|error| {
            let names: Vec<_> = SHIPPED.iter().map(|(name, _)| *name).collect();
            refused(format!("{error}; give a TOML file or one of {}", names.join(", ")))
        })?,
    };
    let scenario: Scenario = toml::from_str(&text).map_err(|error| refused(error.to_string().trim().to_owned()))?;
    scenario.fabric.check().map_err(|fault| refused(format!("fabric.{fault}")))?;
    Ok(scenario.fabric)
}

/// The network that the environment asks for, if it does.
pub fn from_environment() -> Result<Option<FabricConfig>, DeviceError> {
    let name = std::env::var_os(VARIABLE).filter(|name| !name.is_empty());
    name.map(|name| load(&name.to_string_lossy())).transpose()
}

impl Faults {
    pub fn new(config: &FabricConfig, place: usize, start_ns: u64) -> Self {
        // Different NICs lose different packets; the same run loses the same.
        Faults { fabric: Fabric::new(config, PLACES, place as u64 + 1), place, start_ns }
    }

    /// What became of the frames, by plane.
    pub fn planes(&self) -> &[PlaneStats] {
        &self.fabric.stats
    }

    fn now_ps(&self, now_ns: u64) -> u64 {
        now_ns.saturating_sub(self.start_ns) * 1000
    }

    pub fn send(&mut self, now_ns: u64, to: usize, frame: &[u8], is_ack: bool) {
        let mut copy = self.fabric.buffer();
        copy.extend_from_slice(frame);
        self.fabric.send(self.now_ps(now_ns), self.place, to, copy, is_ack);
    }

    /// Hands over the frames that have arrived. Returns how many.
    pub fn deliver(&mut self, now_ns: u64, mut give: impl FnMut(usize, &mut [u8])) -> usize {
        let now_ps = self.now_ps(now_ns);
        let mut count = 0;
        while let Some((to, _, mut frame)) = self.fabric.deliver(now_ps) {
            give(to, &mut frame);
            self.fabric.recycle(frame);
            count += 1;
        }
        count
    }

    /// How long until the next frame arrives.
    pub fn next_ns(&self, now_ns: u64) -> Option<u64> {
        self.fabric.next_arrival_ps().map(|at| at.saturating_sub(self.now_ps(now_ns)).div_ceil(1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_scenarios_are_usable_and_bad_ones_name_key_and_remedy() {
        for (name, _) in SHIPPED {
            load(name).unwrap();
        }
        let missing = load("no-such").unwrap_err().to_string();
        assert!(missing.contains("no-such") && missing.contains("loss-1"), "{missing}");
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, words) in [
            ("[fabric]\nloss_data = 2.0", "fabric.loss_data = 2"),
            ("[fabric]\nlos_data = 0.1", "los_data"),
            ("[fabric", "line 1"),
        ] {
            std::fs::write(file.path(), text).unwrap();
            let error = load(&file.path().to_string_lossy()).unwrap_err().to_string();
            assert!(error.contains(words), "{error}");
        }
    }

    #[test]
    fn frames_arrive_late_or_not_at_all() {
        let config = FabricConfig { planes: 1, loss_data: 0.5, delay_ns: 5000, ..FabricConfig::default() };
        let mut faults = Faults::new(&config, 3, 1_000_000);
        for _ in 0..200 {
            faults.send(1_000_000, 7, &[0; 100], false);
        }
        assert_eq!(faults.deliver(1_000_000, |_, _| ()), 0);
        assert!(faults.next_ns(1_000_000).is_some_and(|ns| ns >= 5000));
        let arrived = faults.deliver(2_000_000, |to, frame| assert_eq!((to, frame.len()), (7, 100)));
        assert!((50..150).contains(&arrived), "{arrived}");
        assert_eq!(faults.next_ns(2_000_000), None);
    }
}
