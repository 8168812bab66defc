//! What a host's transport looks like to the simulator. The golden model is one endpoint, the RoCEv2 baseline another.
//!
//! In: messages to send, packets that arrive, the time. Out: packets to send, the time of the next timer, notices of what
//! completed. Sans IO and deterministic: the same calls give the same answers.
use crate::time::Ps;
use serde::{Deserialize, Serialize};

/// One end of a flow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FlowEnd {
    /// Number in the whole simulation.
    pub flow: u32,
    /// This end sends the messages.
    pub sends: bool,
    pub host: u32,
    pub peer: u32,
    /// Number of the flow at the peer's endpoint.
    pub peer_slot: u32,
    /// Random, the same at both ends.
    pub entropy: u64,
}

/// What an endpoint is made from. A flow is known to it by its `slot`, its place in `flows`.
#[derive(Debug, Clone, Copy)]
pub struct Host<'a> {
    pub host: u32,
    pub flows: &'a [FlowEnd],
    pub planes: usize,
    /// Of all ports together.
    pub rate_gbps: f64,
}

/// A packet that leaves.
#[derive(Debug, Clone, Copy)]
pub struct Departure<H> {
    pub header: H,
    pub slot: u32,
    pub plane: u8,
    /// UDP source port: the entropy of its route.
    pub source_port: u16,
    /// On the wire, with preamble, FCS and gap.
    pub bytes: u32,
    pub is_ack: bool,
}

/// Answer to the question for the next packet.
#[derive(Debug, Clone, Copy)]
pub enum Next<H> {
    Packet(Departure<H>),
    /// Nothing to send before something else happens.
    Idle,
    /// There may be more when a full port has room.
    PortFull,
}

/// A packet that arrives.
#[derive(Debug, Clone, Copy)]
pub struct Arrival<'a, H> {
    pub header: &'a H,
    pub ecn_ce: bool,
}

/// What happened to messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notice {
    /// The next message of the flow, in order, was received completely.
    Received { slot: u32 },
    /// The next message of the flow, in order, was acknowledged.
    Sent { slot: u32 },
    /// A message failed.
    Failed { slot: u32 },
}

/// Counters of an endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointStats {
    /// Data packets sent for the first time.
    pub new: u64,
    pub resent: u64,
    pub acks: u64,
    pub probes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Data packets that had arrived before.
    pub duplicates: u64,
    /// Paths given up, and taken back.
    pub paths_down: u64,
    pub paths_up: u64,
}

impl std::ops::AddAssign for EndpointStats {
    fn add_assign(&mut self, other: Self) {
        self.new += other.new;
        self.resent += other.resent;
        self.acks += other.acks;
        self.probes += other.probes;
        self.timeouts += other.timeouts;
        self.duplicates += other.duplicates;
        self.paths_down += other.paths_down;
        self.paths_up += other.paths_up;
    }
}

/// The endpoint could not be made from its configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("host {host}: {reason}")]
pub struct BuildError {
    pub host: u32,
    pub reason: String,
}

/// A host's transport.
pub trait Endpoint: Sized {
    /// Header values of a packet; no bytes are carried.
    type Header: Copy;
    type Config;

    /// What may wait in each port of a host before the port counts as full.
    fn port_bytes(config: &Self::Config) -> u64;

    fn build(config: &Self::Config, host: &Host<'_>) -> Result<Self, BuildError>;

    /// A message of `bytes` is to be sent on the flow of `slot`.
    fn post(&mut self, now: Ps, slot: u32, bytes: u32);

    fn receive(&mut self, now: Ps, arrival: &Arrival<'_, Self::Header>);

    /// The next packet to send; `full_ports` has a bit for each plane whose port is full.
    fn next(&mut self, now: Ps, full_ports: u32) -> Next<Self::Header>;

    /// When [`Endpoint::on_timer`] is due, later than `now`.
    fn timer(&self, now: Ps) -> Option<Ps>;

    fn on_timer(&mut self, now: Ps);

    /// The oldest notice not yet taken.
    fn notice(&mut self) -> Option<Notice>;

    /// Payload bytes accepted so far, each byte once.
    fn received_bytes(&self) -> u64;

    fn stats(&self) -> EndpointStats;

    /// Round trips of the sender of `slot` that are over, as it measures them: one begins with the first packet that is sent after
    /// the one before ended, and ends with that packet's acknowledgment. None if it does not measure them.
    fn round_trips(&self, slot: u32) -> Option<u32>;

    /// What the sender of `slot` may send at most, as its receiver says, in Mbit/s; none without such a limit.
    fn allowed_mbps(&self, slot: u32) -> Option<f64>;
}
