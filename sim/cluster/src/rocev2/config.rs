//! Configuration of the RoCEv2 baseline.
//!
//! In: the `[rocev2]` table. Out: a checked [`RoceConfig`], or a [`ConfigFault`] which names key, value and remedy.
use crate::metaroce::check_port;
use crate::network::config::{refuse, ConfigFault};
use serde::{Deserialize, Serialize};

/// The `[rocev2]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RoceConfig {
    /// Queue pairs of a flow; each message is cut into as many parts. A QP has one five-tuple: one plane and one spine.
    pub qps: u32,
    pub mtu_bytes: u32,
    /// Packets of a QP in flight at most.
    pub window_pkts: u32,
    /// Retransmission timeout. Retries are not limited.
    pub rto_us: f64,
    /// In-order packets for each acknowledgment; the last one of a message has its own.
    pub ack_every: u32,
    /// What may wait in each port of the host; a full port holds up only what goes out by it.
    pub port_bytes: u64,
    /// Rate control by DCQCN; without it a QP sends at the rate of its port.
    pub dcqcn: bool,
}

impl Default for RoceConfig {
    fn default() -> Self {
        RoceConfig { qps: 1, mtu_bytes: 4096, window_pkts: 4096, rto_us: 1000.0, ack_every: 4, port_bytes: 10_000, dcqcn: true }
    }
}

impl RoceConfig {
    /// Checks every value. Keys are those of the `[rocev2]` table.
    pub fn check(&self) -> Result<(), ConfigFault> {
        if !(1..=64).contains(&self.qps) {
            return refuse("qps", self.qps, "outside 1..=64", "choose 1, 4 or 8");
        }
        if !self.mtu_bytes.is_power_of_two() || !(256..=4096).contains(&self.mtu_bytes) {
            return refuse("mtu_bytes", self.mtu_bytes, "not an MTU", "choose 256, 512, 1024, 2048 or 4096");
        }
        if !(1..=1 << 20).contains(&self.window_pkts) {
            return refuse("window_pkts", self.window_pkts, "not a window", "choose 4096 for a start");
        }
        if !(1.0..=1e6).contains(&self.rto_us) {
            return refuse("rto_us", self.rto_us, "not a timeout", "choose from 1 to 1000000");
        }
        if !(1..=64).contains(&self.ack_every) {
            return refuse("ack_every", self.ack_every, "outside 1..=64", "choose 4 for a start");
        }
        check_port(self.port_bytes)
    }
}
