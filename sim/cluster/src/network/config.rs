//! What the network of an experiment is like.
//!
//! In: the `[network]` table. Out: a checked [`NetworkConfig`], or a [`ConfigFault`] which names key, value and remedy.
use super::faults::FaultConfig;
use super::pfc::PfcConfig;
pub use mrnic_fabric::{Burst, ConfigFault};
use serde::{Deserialize, Serialize};

/// The network: every host has one port of `rate_gbps` on each plane.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct NetworkConfig {
    pub hosts: usize,
    pub hosts_per_leaf: usize,
    /// In each plane. 0 only if one leaf holds all hosts.
    pub spines: usize,
    pub planes: usize,
    /// Of a host's port.
    pub rate_gbps: f64,
    /// Of the links between leaf and spine; absent: as a host's port.
    pub spine_rate_gbps: Option<f64>,
    /// Of each link, in addition to serialisation; a switch's own time is part of it.
    pub delay_ns: u64,
    /// Of each output queue of a switch; a packet that does not fit is dropped.
    pub buffer_bytes: u64,
    /// Queue from which packets are marked with CE ...
    pub ecn_min_bytes: u64,
    /// ... and from which every packet is; between the two the probability grows linearly.
    pub ecn_max_bytes: u64,
    /// Priority flow control; absent: queues that are full drop.
    pub pfc: Option<PfcConfig>,
    pub loss: LossConfig,
    pub fault: Vec<FaultConfig>,
}

/// Loss on the last link of the way, each direction of a connection for itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LossConfig {
    /// Probability for a data packet.
    pub data: f64,
    /// Probability for an acknowledgment; absent: as for data.
    pub ack: Option<f64>,
    /// Bursts (Gilbert-Elliott): a chain for each port of a host, stepped at each packet.
    pub burst: Option<Burst>,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        NetworkConfig {
            hosts: 64,
            hosts_per_leaf: 8,
            spines: 8,
            planes: 8,
            rate_gbps: 50.0,
            spine_rate_gbps: None,
            delay_ns: 500,
            buffer_bytes: 1_000_000,
            ecn_min_bytes: 40_000,
            ecn_max_bytes: 160_000,
            pfc: None,
            loss: LossConfig::default(),
            fault: Vec::new(),
        }
    }
}

/// Largest packet of any endpoint on the wire.
pub(crate) const PACKET_BYTES_MAX: u64 = 4400;

pub(crate) fn refuse<T>(key: &str, value: impl ToString, reason: &'static str, remedy: &str) -> Result<T, ConfigFault> {
    Err(ConfigFault { key: key.into(), value: value.to_string(), reason, remedy: remedy.into() })
}

fn check_rate(key: &str, gbps: f64) -> Result<(), ConfigFault> {
    if gbps.is_finite() && (0.1..=10_000.0).contains(&gbps) {
        return Ok(());
    }
    refuse(key, gbps, "not a possible rate", "choose from 0.1 to 10000 Gbit/s")
}

impl NetworkConfig {
    /// Rate of the links between leaf and spine.
    pub fn spine_gbps(&self) -> f64 {
        self.spine_rate_gbps.unwrap_or(self.rate_gbps)
    }

    /// Checks every value. Keys are those of the `[network]` table.
    pub fn check(&self) -> Result<(), ConfigFault> {
        if !(2..=16_384).contains(&self.hosts) {
            return refuse("hosts", self.hosts, "outside 2..=16384", "choose 64 for a start");
        }
        if self.hosts_per_leaf == 0 {
            return refuse("hosts_per_leaf", 0, "no host is connected", "choose at least 1, for example 8");
        }
        if self.spines == 0 && self.hosts > self.hosts_per_leaf {
            let remedy = format!("set spines to at least 1, or hosts_per_leaf to {} (one switch a plane)", self.hosts);
            return refuse("spines", 0, "the leaves are not connected with each other", &remedy);
        }
        if self.spines > 4096 {
            return refuse("spines", self.spines, "more than 4096", "choose 8 for a start");
        }
        if !(1..=32).contains(&self.planes) {
            return refuse("planes", self.planes, "outside 1..=32", "choose 8 for a start");
        }
        check_rate("rate_gbps", self.rate_gbps)?;
        check_rate("spine_rate_gbps", self.spine_gbps())?;
        if self.delay_ns > 1_000_000 {
            return refuse("delay_ns", self.delay_ns, "longer than 1 ms", "choose 500 for a start");
        }
        if self.buffer_bytes < 2 * PACKET_BYTES_MAX {
            return refuse("buffer_bytes", self.buffer_bytes, "does not hold two packets", "choose at least 8800");
        }
        if self.ecn_min_bytes > self.ecn_max_bytes {
            return refuse(
                "ecn_min_bytes",
                self.ecn_min_bytes,
                "above ecn_max_bytes",
                "choose it at or below ecn_max_bytes; equal values give a step",
            );
        }
        if self.ecn_min_bytes >= self.buffer_bytes {
            let remedy = "choose it below buffer_bytes, or packets are dropped before any is marked";
            return refuse("ecn_min_bytes", self.ecn_min_bytes, "not below buffer_bytes", remedy);
        }
        if let Some(pfc) = &self.pfc {
            pfc.check(self)?;
        }
        let probabilities = [
            ("loss.data", self.loss.data),
            ("loss.ack", self.loss.ack.unwrap_or(0.0)),
            ("loss.burst.enter", self.loss.burst.map_or(0.0, |b| b.enter)),
            ("loss.burst.leave", self.loss.burst.map_or(0.0, |b| b.leave)),
            ("loss.burst.loss", self.loss.burst.map_or(0.0, |b| b.loss)),
        ];
        for (key, p) in probabilities {
            if !(0.0..=1.0).contains(&p) {
                return refuse(key, p, "not a probability", "choose from 0.0 to 1.0");
            }
        }
        for (i, fault) in self.fault.iter().enumerate() {
            fault.check(self).map_err(|fault| ConfigFault { key: format!("fault[{i}].{}", fault.key), ..fault })?;
        }
        Ok(())
    }
}
