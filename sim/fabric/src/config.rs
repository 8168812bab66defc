//! What a network is like: planes, links, queues, faults, and when planes die.
//!
//! In: the `[fabric]` table of a scenario file. Out: a checked [`FabricConfig`], or a [`ConfigFault`] which names key and remedy.
use serde::{Deserialize, Serialize};

/// Loss in bursts: a two-state chain, stepped at each frame.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// Probability of entering the bad state.
    pub enter: f64,
    /// Probability of leaving it.
    pub leave: f64,
    /// Loss in the bad state.
    pub loss: f64,
}

/// What happens to a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    Kill,
    Revive,
}

/// A plane dies or comes back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    pub at_ns: u64,
    pub plane: usize,
    pub action: Action,
}

/// The network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FabricConfig {
    pub planes: usize,
    /// Of each link of each plane.
    pub rate_gbps: f64,
    /// One way, in addition to serialisation.
    pub delay_ns: u64,
    /// Uniform, added to the delay; order within a plane and receiver is kept.
    pub jitter_ns: u64,
    pub ecn_threshold_bytes: u64,
    pub buffer_bytes: u64,
    /// Probability for a data frame.
    pub loss_data: f64,
    /// Probability for an acknowledgment.
    pub loss_ack: f64,
    pub burst: Option<Burst>,
    /// Probability that a frame arrives twice.
    pub duplicate: f64,
    /// Probability that one bit of a frame is inverted.
    pub bit_error: f64,
    /// Probability that a frame is overtaken by those behind it.
    pub reorder: f64,
    /// How much later such a frame arrives.
    pub reorder_extra_ns: u64,
    pub events: Vec<Event>,
}

impl Default for FabricConfig {
    fn default() -> Self {
        Self {
            planes: 4,
            rate_gbps: 10.0,
            delay_ns: 1000,
            jitter_ns: 0,
            ecn_threshold_bytes: 100_000,
            buffer_bytes: 400_000,
            loss_data: 0.0,
            loss_ack: 0.0,
            burst: None,
            duplicate: 0.0,
            bit_error: 0.0,
            reorder: 0.0,
            reorder_extra_ns: 3000,
            events: Vec::new(),
        }
    }
}

/// Why a configuration was refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} = {value}: {reason}; {remedy}")]
pub struct ConfigFault {
    /// Within the table.
    pub key: String,
    pub value: String,
    pub reason: &'static str,
    pub remedy: String,
}

impl FabricConfig {
    /// Checks every value.
    pub fn check(&self) -> Result<(), ConfigFault> {
        let fail = |key: &str, value: String, reason, remedy: &str| {
            Err(ConfigFault { key: key.into(), value, reason, remedy: remedy.into() })
        };
        if !(1..=8).contains(&self.planes) {
            return fail("planes", self.planes.to_string(), "outside 1..=8", "choose 4 for a start");
        }
        if !(self.rate_gbps.is_finite() && (0.001..=10_000.0).contains(&self.rate_gbps)) {
            return fail("rate_gbps", self.rate_gbps.to_string(), "not a possible rate", "choose from 0.001 to 10000");
        }
        if self.buffer_bytes < 8192 {
            return fail("buffer_bytes", self.buffer_bytes.to_string(), "does not hold two packets", "choose at least 8192");
        }
        let probabilities = [
            ("loss_data", self.loss_data),
            ("loss_ack", self.loss_ack),
            ("duplicate", self.duplicate),
            ("bit_error", self.bit_error),
            ("reorder", self.reorder),
            ("burst.enter", self.burst.map_or(0.0, |b| b.enter)),
            ("burst.leave", self.burst.map_or(0.0, |b| b.leave)),
            ("burst.loss", self.burst.map_or(0.0, |b| b.loss)),
        ];
        for (key, p) in probabilities {
            if !(0.0..=1.0).contains(&p) {
                return fail(key, p.to_string(), "not a probability", "choose from 0.0 to 1.0");
            }
        }
        for (i, event) in self.events.iter().enumerate() {
            if event.plane >= self.planes {
                let remedy = format!("planes are 0..={}", self.planes - 1);
                return fail(&format!("events[{i}].plane"), event.plane.to_string(), "no such plane", &remedy);
            }
        }
        Ok(())
    }
}
