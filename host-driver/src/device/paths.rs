//! What a verbs program cannot see: the paths that the packets of a connection are sprayed over.
//!
//! In: nothing. Out: plain data of each path, by [`super::QueuePair::paths`], and changes of health, by
//! [`super::Device::take_path_changes`]. Queue pairs to the same peer share its paths.
use std::net::IpAddr;

/// Health of a path (rules L4, L5).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum PathHealth {
    Disabled,
    Up,
    /// Timeouts: new packets take other paths, and this one looks for another route.
    Suspect,
    /// Given up for now: its packets travel by other paths.
    Down,
}

impl PathHealth {
    pub fn name(self) -> &'static str {
        match self {
            PathHealth::Disabled => "DISABLED",
            PathHealth::Up => "UP",
            PathHealth::Suspect => "SUSPECT",
            PathHealth::Down => "DOWN",
        }
    }
}

/// What happened on a path since its connection was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct PathCounters {
    /// New packets.
    pub sent: u64,
    /// Packets of this path that were sent again, by whichever path.
    pub resent: u64,
    /// Of these: by another path, because this one was DOWN.
    pub moved: u64,
    pub probes: u64,
    pub acked: u64,
    pub lost: u64,
    pub timeouts: u64,
    /// Packets that the peer received more than once.
    pub duplicates: u64,
    /// Packets that reached the peer marked (ECN CE).
    pub marks: u64,
}

/// A path as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PathStatus {
    pub path: u8,
    /// The UDP source port: what switches choose the route by.
    pub udp_port: u16,
    /// The plane that the port leads to, where the network is known (a scenario).
    pub plane: Option<u8>,
    pub state: PathHealth,
    /// Packets that may be in flight.
    pub window_pkts: u16,
    pub in_flight_pkts: u32,
    /// Smoothed round-trip time; none before the first sample.
    pub rtt_ns: Option<u64>,
    #[serde(flatten)]
    pub counters: PathCounters,
}

/// A path changed its health, or (`from` = `to`) its route only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PathChange {
    /// Since the NIC was started.
    pub at_ns: u64,
    pub peer: IpAddr,
    pub path: u8,
    pub from: PathHealth,
    pub to: PathHealth,
    /// After the change.
    pub udp_port: u16,
    pub plane: Option<u8>,
}
