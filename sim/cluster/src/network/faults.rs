//! Failures in silence: links, spines, leaves and planes that die, come back, or flap. No switch and no host is told.
//!
//! In: `[[network.fault]]` tables. Out: a list of times at which links go down or up, in order. Faults may overlap: a link
//! is up again when none of them holds it down.
use super::config::{refuse, ConfigFault, NetworkConfig};
use crate::time::{Ps, LIMIT_PS, PS_PER_US};
use crate::topology::Topology;
use serde::{Deserialize, Serialize};

/// What fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Part {
    /// Every link of a plane.
    Plane,
    /// Every link of a spine.
    Spine,
    /// The links of a leaf to all spines: its hosts are cut off from the rest of the plane (a partition).
    Leaf,
    /// Both directions between a leaf and a spine.
    Link,
    /// Both directions between a host and its leaf.
    Port,
}

/// One failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultConfig {
    pub what: Part,
    pub plane: usize,
    pub leaf: Option<usize>,
    pub spine: Option<usize>,
    pub host: Option<usize>,
    pub at_us: u64,
    /// Absent: for ever.
    pub until_us: Option<u64>,
    /// Flapping: down for `down_us` of every `period_us`.
    pub period_us: Option<u64>,
    pub down_us: Option<u64>,
}

/// Links go down or come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub at: Ps,
    pub down: bool,
    pub links: Vec<u32>,
}

/// Changes of one failure at most.
const CHANGES_MAX: u64 = 100_000;

impl FaultConfig {
    pub(super) fn check(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        let leaves = network.hosts.div_ceil(network.hosts_per_leaf);
        let below = |key: &str, value: usize, count: usize| match value < count {
            true => Ok(()),
            false => refuse(key, value, "does not exist", &format!("the network has {count} of them, counted from 0")),
        };
        below("plane", self.plane, network.planes)?;
        let (leaf, spine, host) = match self.what {
            Part::Plane => (false, false, false),
            Part::Spine => (false, true, false),
            Part::Leaf => (true, false, false),
            Part::Link => (true, true, false),
            Part::Port => (false, false, true),
        };
        let given = [
            ("leaf", self.leaf, leaf, leaves),
            ("spine", self.spine, spine, network.spines),
            ("host", self.host, host, network.hosts),
        ];
        for (key, value, needed, count) in given {
            match value {
                Some(value) if needed => below(key, value, count)?,
                Some(value) => return refuse(key, value, "means nothing for this `what`", "leave it out")?,
                None if needed => return refuse(key, "(absent)", "which one fails is not said", "add it")?,
                None => {}
            }
        }
        let end = LIMIT_PS / PS_PER_US;
        if self.at_us >= end {
            return refuse("at_us", self.at_us, "later than any run", "choose a time within limit_us");
        }
        if self.until_us.is_some_and(|until| until <= self.at_us || until > end) {
            return refuse("until_us", self.until_us.unwrap_or(0), "not after at_us", "choose a later time, or leave it out");
        }
        match (self.period_us, self.down_us, self.until_us) {
            (None, None, _) => Ok(()),
            (Some(period), Some(down), Some(until)) if down > 0 && down < period => {
                match (until - self.at_us) / period < CHANGES_MAX {
                    true => Ok(()),
                    false => refuse("period_us", period, "more than 100,000 failures", "choose a longer one"),
                }
            }
            (period, ..) => refuse(
                "period_us",
                period.unwrap_or(0),
                "flapping is not described",
                "give period_us, down_us (above 0 and below period_us) and until_us, or none of the first two",
            ),
        }
    }

    fn links(&self, t: &Topology) -> Vec<u32> {
        let plane = self.plane;
        let both = |leaf, spine| [t.leaf_to_spine(plane, leaf, spine), t.spine_to_leaf(plane, spine, leaf)];
        // checked: what is needed is there
        let (leaf, spine, host) = (self.leaf.unwrap_or(0), self.spine.unwrap_or(0), self.host.unwrap_or(0));
        let links: Vec<usize> = match self.what {
            Part::Plane => (0..t.links()).filter(|&link| t.kind(link).0 == plane).collect(),
            Part::Spine => (0..t.leaves).flat_map(|leaf| both(leaf, spine)).collect(),
            Part::Leaf => (0..t.spines).flat_map(|spine| both(leaf, spine)).collect(),
            Part::Link => both(leaf, spine).to_vec(),
            Part::Port => vec![t.uplink(plane, host), t.downlink(plane, host)],
        };
        links.into_iter().map(|link| link as u32).collect()
    }

    fn times(&self) -> Vec<(Ps, bool)> {
        let ps = |us: u64| us * PS_PER_US;
        match (self.period_us, self.down_us, self.until_us) {
            (Some(period), Some(down), Some(until)) => (0..)
                .map(|i| self.at_us + i * period)
                .take_while(|&at| at < until)
                .flat_map(|at| [(ps(at), true), (ps((at + down).min(until)), false)])
                .collect(),
            (.., Some(until)) => vec![(ps(self.at_us), true), (ps(until), false)],
            _ => vec![(ps(self.at_us), true)],
        }
    }
}

/// All changes in the order of their times.
pub fn changes(faults: &[FaultConfig], topology: &Topology) -> Vec<Change> {
    let mut all = Vec::new();
    for fault in faults {
        let links = fault.links(topology);
        all.extend(fault.times().into_iter().map(|(at, down)| Change { at, down, links: links.clone() }));
    }
    all.sort_by_key(|change| change.at);
    all
}
