//! Scenario files: what is built, how the network behaves, what is sent.
//!
//! In: TOML text. Out: a checked [`Scenario`], or a [`ScenarioError`] which names file, place and remedy.
//! Guarantees: a checked scenario can be run; unknown keys are refused.
use crate::software::RING_LOG2;
pub use mrnic_fabric::{Action, Burst, Event, FabricConfig};
use serde::{Deserialize, Serialize};
use std::io::ErrorKind;
use thiserror::Error;

/// Why a scenario was refused.
#[derive(Debug, Error)]
pub enum ScenarioError {
    #[error(
        "there is no scenario {name}: neither a file nor one of the shipped ones ({}; `mrnic scenarios` describes them)",
        shipped_names()
    )]
    Unknown { name: String },
    #[error("cannot read scenario {file}: {cause}; give a TOML file, or one of the shipped ones ({})", shipped_names())]
    Read { file: String, cause: std::io::Error },
    #[error("{file}: {message}; the shipped ones in sim/scenarios are examples")]
    Syntax { file: String, message: String },
    #[error("{file}: {key} = {value}: {reason}; {remedy}")]
    Value { file: String, key: String, value: String, reason: String, remedy: String },
}

/// A run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    pub name: String,
    pub description: String,
    /// Nodes, 2 to 8.
    #[serde(default = "two")]
    pub nics: usize,
    /// Named build of the engine.
    #[serde(default = "sim_build")]
    pub build: String,
    #[serde(default = "one_u64")]
    pub seed: u64,
    /// The run fails if it has not finished by then.
    #[serde(default = "limit")]
    pub limit_us: u64,
    #[serde(default)]
    pub connection: ConnectionConfig,
    #[serde(default)]
    pub fabric: FabricConfig,
    #[serde(default)]
    pub host: HostConfig,
    pub traffic: Vec<Traffic>,
}

/// How connections are opened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionConfig {
    /// 1, 2, 4 or 8; spread round robin over the planes.
    pub paths: usize,
    pub mtu_bytes: usize,
    /// Packets of each path.
    pub init_window: u32,
    pub retry_cnt: u32,
    /// Mbit/s; absent: unlimited.
    pub init_hint_mbps: Option<u32>,
    /// Receive capacity that the rate hint shares out, Mbit/s; 0: no hint.
    pub hint_capacity_mbps: u32,
    /// Use IPv6.
    pub ipv6: bool,
}

impl Default for ConnectionConfig {
    fn default() -> Self {
        Self {
            paths: 8,
            mtu_bytes: 4096,
            init_window: 16,
            retry_cnt: 7,
            init_hint_mbps: None,
            hint_capacity_mbps: 0,
            ipv6: false,
        }
    }
}

/// The host's memory system as the NIC sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HostConfig {
    /// DMA read latency, uniform between the two.
    pub read_latency_ns: [u64; 2],
    /// Probability in each cycle that a port that is free becomes stalled.
    pub stall: f64,
    /// Length of such a stall in cycles, uniform from 1.
    pub stall_cycles: u32,
    /// Time until a payload write is in memory, uniform between the two; writes stay in order.
    pub write_latency_ns: [u64; 2],
}

impl Default for HostConfig {
    fn default() -> Self {
        Self { read_latency_ns: [300, 600], stall: 0.0, stall_cycles: 64, write_latency_ns: [0, 300] }
    }
}

/// What messages are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    #[default]
    Write,
    WriteImm,
    Send,
    SendImm,
    /// The data comes from the peer.
    Read,
    /// Each message is one operation on 8 bytes of the peer; the value before goes to the local buffer.
    CompareSwap,
    FetchAdd,
}

impl Op {
    /// The opcode of its WQE.
    pub fn opcode(self) -> u8 {
        self as u8
    }

    /// It uses a receive of the peer.
    pub fn is_consuming(self) -> bool {
        matches!(self, Op::WriteImm | Op::Send | Op::SendImm)
    }

    /// It carries an immediate.
    pub fn has_imm(self) -> bool {
        matches!(self, Op::WriteImm | Op::SendImm)
    }

    /// It is answered by the peer.
    pub fn is_request(self) -> bool {
        matches!(self, Op::Read | Op::CompareSwap | Op::FetchAdd)
    }

    /// It is an operation on 8 bytes of the peer.
    pub fn is_atomic(self) -> bool {
        matches!(self, Op::CompareSwap | Op::FetchAdd)
    }

    /// Its data goes to memory that the peer has posted.
    pub fn is_send(self) -> bool {
        matches!(self, Op::Send | Op::SendImm)
    }
}

/// Messages from one node to another.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    pub from: usize,
    pub to: usize,
    /// This message, from 0, names a key that is not there: its queue pair fails at both ends in the midst of what is under way. The statuses
    /// of the other messages and their data are left to the golden model.
    #[serde(default)]
    pub bad_message: Option<u64>,
    /// READs and atomics of a stream that are outstanding at most (D1), and that the peer keeps at most (D3).
    #[serde(default = "sixteen")]
    pub outstanding: u8,
    #[serde(default = "sixteen")]
    pub places: u8,
    /// Every so many messages one waits until all READs and atomics before it are done (D1); 0: none.
    #[serde(default)]
    pub fence_every: u64,
    /// RDMA WRITE if absent. SENDs and immediates use receives, which the peer posts at once; their first WQE waits 10 us for them.
    #[serde(default)]
    pub op: Op,
    /// The peer posts receives. Without them one message is refused for want of a receive (Q2).
    #[serde(default = "yes")]
    pub receives: bool,
    /// The peer posts a receive each time this has passed, instead of all at once: messages that find none begin again (N1 to N4).
    #[serde(default)]
    pub receive_gap_ns: u64,
    /// How often in a row a message may begin again (N3); 7 is without limit.
    #[serde(default)]
    pub rnr_retry: u8,
    /// Code of the time after which it does (Q2); 1 is 10 us.
    #[serde(default = "one_u8")]
    pub rnr_timer: u8,
    /// In all.
    pub bytes: u64,
    /// Of each message; the last one may be shorter.
    pub message_bytes: u64,
    /// Streams the messages are dealt to in turn.
    #[serde(default = "one")]
    pub qps: usize,
    /// The data of each message is in up to so many pieces of memory, of any length and place; that of a READ or atomic goes to so many.
    #[serde(default = "one")]
    pub pieces: usize,
    /// The memory of each receive is in up to so many pieces, of any length.
    #[serde(default = "one")]
    pub receive_pieces: usize,
    /// Added to the start of the local and the remote buffer.
    #[serde(default)]
    pub misalign: [u64; 2],
    /// When the first WQE is posted.
    #[serde(default)]
    pub start_ns: u64,
    /// The remote region is that much shorter than the transfer: the message is refused by the peer (R3, bounds; Q3 of a SEND).
    #[serde(default)]
    pub beyond_bytes: u64,
    /// The peer's queue pair does not allow what is asked: the message is refused (D2).
    #[serde(default)]
    pub denied: bool,
    /// The receives of all its streams are those of one shared receive queue (Q1).
    #[serde(default)]
    pub shared: bool,
}

impl Traffic {
    /// Messages in all (a zero-length transfer is one message).
    pub fn messages(&self) -> u64 {
        self.bytes.div_ceil(self.message_bytes.max(1)).max(1)
    }
}

fn two() -> usize {
    2
}
fn yes() -> bool {
    true
}
fn one() -> usize {
    1
}
fn one_u8() -> u8 {
    1
}
fn sixteen() -> u8 {
    16
}
fn one_u64() -> u64 {
    1
}
fn limit() -> u64 {
    100_000
}
fn sim_build() -> String {
    "sim".into()
}

/// The scenarios that come with the project: name and text.
pub const SHIPPED: &[(&str, &str)] = &[
    ("clean", include_str!("../scenarios/clean.toml")),
    ("demo", include_str!("../scenarios/demo.toml")),
    ("loss-1", include_str!("../scenarios/loss-1.toml")),
    ("loss-10", include_str!("../scenarios/loss-10.toml")),
    ("burst-loss", include_str!("../scenarios/burst-loss.toml")),
    ("reorder", include_str!("../scenarios/reorder.toml")),
    ("plane-kill", include_str!("../scenarios/plane-kill.toml")),
    ("incast", include_str!("../scenarios/incast.toml")),
    ("bit-errors", include_str!("../scenarios/bit-errors.toml")),
    ("min-fifos", include_str!("../scenarios/min-fifos.toml")),
    ("sends", include_str!("../scenarios/sends.toml")),
    ("sends-loss", include_str!("../scenarios/sends-loss.toml")),
    ("lists-loss", include_str!("../scenarios/lists-loss.toml")),
    ("reads", include_str!("../scenarios/reads.toml")),
    ("reads-loss", include_str!("../scenarios/reads-loss.toml")),
    ("atomics-loss", include_str!("../scenarios/atomics-loss.toml")),
];

/// For messages.
fn shipped_names() -> String {
    SHIPPED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// The parser names Rust's types.
fn plain(message: &str) -> String {
    let kinds = [("usize", "a whole number"), ("u64", "a whole number"), ("u32", "a whole number"), ("f64", "a number")];
    kinds
        .iter()
        .fold(message.into(), |m: String, (rust, text)| m.replace(&format!("expected {rust}"), &format!("expected {text}")))
}

impl Scenario {
    /// A shipped scenario by name, or a file.
    pub fn load(name_or_file: &str) -> Result<Self, ScenarioError> {
        if let Some((name, text)) = SHIPPED.iter().find(|(n, _)| *n == name_or_file) {
            return Self::parse(&format!("shipped scenario {name}"), text);
        }
        let text = std::fs::read_to_string(name_or_file).map_err(|cause| match cause.kind() {
            ErrorKind::NotFound => ScenarioError::Unknown { name: name_or_file.into() },
            _ => ScenarioError::Read { file: name_or_file.into(), cause },
        })?;
        Self::parse(name_or_file, &text)
    }

    /// Parses and checks; `file` is for messages.
    pub fn parse(file: &str, text: &str) -> Result<Self, ScenarioError> {
        let s: Self = toml::from_str(text)
            .map_err(|e| ScenarioError::Syntax { file: file.into(), message: plain(e.to_string().trim()) })?;
        s.check(file)?;
        Ok(s)
    }

    /// The same scenario on a perfect network: the reference of the goodput figure.
    pub fn lossless(&self) -> Self {
        let mut s = self.clone();
        let f = &mut s.fabric;
        (f.loss_data, f.loss_ack, f.duplicate, f.bit_error, f.reorder) = (0.0, 0.0, 0.0, 0.0, 0.0);
        f.burst = None;
        f.events.clear();
        s
    }

    fn check(&self, file: &str) -> Result<(), ScenarioError> {
        let fail = |key: &str, value: String, reason: &str, remedy: &str| {
            Err(ScenarioError::Value {
                file: file.into(),
                key: key.into(),
                value,
                reason: reason.into(),
                remedy: remedy.into(),
            })
        };
        let Some(build) = mrnic_nic::config::build(&self.build) else {
            let known: Vec<_> = mrnic_nic::config::BUILDS.iter().map(|b| b.name).collect();
            return fail("build", self.build.clone(), "no such build", &format!("choose one of {}", known.join(", ")));
        };
        if !(2..=8).contains(&self.nics) {
            return fail("nics", self.nics.to_string(), "a run has 2 to 8 nodes", "change nics");
        }
        let c = &self.connection;
        if ![1, 2, 4, 8].contains(&c.paths) || c.paths > build.paths {
            let most = build.paths;
            return fail(
                "connection.paths",
                c.paths.to_string(),
                "not a possible number of paths",
                &format!("choose 1, 2, 4 or 8, at most {most} for this build"),
            );
        }
        if !c.mtu_bytes.is_power_of_two() || !(256..=build.max_mtu_bytes).contains(&c.mtu_bytes) {
            return fail(
                "connection.mtu_bytes",
                c.mtu_bytes.to_string(),
                "not a possible MTU",
                &format!("choose a power of two from 256 to {}", build.max_mtu_bytes),
            );
        }
        if !(1..=build.window_bits as u32).contains(&c.init_window) {
            let most = build.window_bits;
            return fail(
                "connection.init_window",
                c.init_window.to_string(),
                "not a possible window",
                &format!("choose 16 for a start, at most {most} for this build"),
            );
        }
        if !(1..=15).contains(&c.retry_cnt) {
            return fail("connection.retry_cnt", c.retry_cnt.to_string(), "outside 1..=15", "choose 7 for a start");
        }
        if c.init_hint_mbps.is_some_and(|h| h == 0 || h > 0xFF_FFFF) {
            return fail(
                "connection.init_hint_mbps",
                format!("{:?}", c.init_hint_mbps),
                "outside 1..=16777215",
                "leave it out for no limit",
            );
        }
        if let Err(fault) = self.fabric.check() {
            return fail(&format!("fabric.{}", fault.key), fault.value, fault.reason, &fault.remedy);
        }
        if !(0.0..=1.0).contains(&self.host.stall) {
            return fail("host.stall", self.host.stall.to_string(), "not a probability", "choose from 0.0 to 1.0");
        }
        let h = &self.host;
        if h.read_latency_ns[0] > h.read_latency_ns[1] {
            return fail("host.read_latency_ns", format!("{:?}", h.read_latency_ns), "smallest above largest", "swap the two");
        }
        if h.write_latency_ns[0] > h.write_latency_ns[1] {
            return fail(
                "host.write_latency_ns",
                format!("{:?}", h.write_latency_ns),
                "smallest above largest",
                "swap the two",
            );
        }
        if h.stall_cycles == 0 || h.stall >= 1.0 {
            return fail(
                "host.stall",
                h.stall.to_string(),
                "memory would never answer",
                "choose stall below 1.0 and stall_cycles of at least 1",
            );
        }
        if self.traffic.is_empty() {
            return fail("traffic", "[]".into(), "nothing to send", "add a [[traffic]] section");
        }
        let mut qps = vec![0; self.nics];
        for (i, t) in self.traffic.iter().enumerate() {
            let key = |k: &str| format!("traffic[{i}].{k}");
            if t.from >= self.nics || t.to >= self.nics {
                return fail(
                    &key("from/to"),
                    format!("{} -> {}", t.from, t.to),
                    "no such node",
                    &format!("nodes are 0..={}", self.nics - 1),
                );
            }
            if t.from == t.to {
                return fail(&key("to"), t.to.to_string(), "a node does not send to itself", "choose another node");
            }
            if t.message_bytes > 1 << 31 || (t.message_bytes == 0 && t.bytes > 0) {
                return fail(
                    &key("message_bytes"),
                    t.message_bytes.to_string(),
                    "not a possible message length",
                    "choose from 1 to 2147483648",
                );
            }
            if t.bytes > 1 << 30 {
                return fail(&key("bytes"), t.bytes.to_string(), "more than 1 GiB", "choose a smaller transfer");
            }
            if t.messages() > 1 << 16 {
                return fail(
                    &key("message_bytes"),
                    t.message_bytes.to_string(),
                    "more than 65536 messages",
                    "choose longer messages",
                );
            }
            if t.qps == 0 {
                return fail(&key("qps"), "0".into(), "no stream to send on", "choose at least 1");
            }
            if t.pieces == 0 || t.pieces > build.sges {
                let most = build.sges;
                return fail(
                    &key("pieces"),
                    t.pieces.to_string(),
                    "not a number of pieces that the operation may have",
                    &format!("choose 1 to {most} in this build (4 in sim_reads)"),
                );
            }
            let lists = t.op.is_consuming() && t.receives && t.beyond_bytes == 0;
            if t.receive_pieces == 0 || t.receive_pieces > build.sges || (t.receive_pieces > 1 && !lists) {
                let most = build.sges;
                return fail(
                    &key("receive_pieces"),
                    t.receive_pieces.to_string(),
                    "not a number of pieces that a receive may have",
                    &format!("choose 1 to {most} in this build (4 in sim_reads), of a SEND or a WRITE with immediate, without beyond_bytes"),
                );
            }
            if t.misalign.iter().any(|m| *m > 4095) {
                return fail(&key("misalign"), format!("{:?}", t.misalign), "above 4095", "choose from 0 to 4095");
            }
            if t.beyond_bytes > 0 && (t.beyond_bytes > t.bytes || t.messages() > 1) {
                return fail(
                    &key("beyond_bytes"),
                    t.beyond_bytes.to_string(),
                    "not part of a transfer of one WRITE",
                    "choose at most bytes, and message_bytes = bytes",
                );
            }
            if t.denied && (t.op.is_consuming() || t.op.is_atomic() || t.messages() > 1 || t.beyond_bytes > 0) {
                return fail(
                    &key("denied"),
                    "true".into(),
                    "not a transfer of one message that needs the queue pair's leave",
                    "choose a WRITE or a READ with message_bytes = bytes, without beyond_bytes",
                );
            }
            if t.shared {
                let of_node = self.traffic[..=i].iter().filter(|other| other.shared && other.to == t.to).count();
                if of_node > build.srqs
                    || !t.op.is_consuming()
                    || !t.receives
                    || t.beyond_bytes > 0
                    || t.messages() > 1 << RING_LOG2
                {
                    return fail(
                        &key("shared"),
                        "true".into(),
                        "not a transfer into receives of a shared queue that the build has",
                        "choose a build with `srqs`, op = \"send\", at most as many messages as a ring has entries, no beyond_bytes",
                    );
                }
            }
            if t.op.is_request() && !build.reads {
                return fail(
                    &key("op"),
                    format!("{:?}", t.op),
                    "the build has neither READ nor atomics",
                    "choose a build that has them (sim_reads, corundum25g)",
                );
            }
            if t.op.is_atomic() && (t.message_bytes != 8 || t.bytes % 8 != 0 || t.misalign[1] % 8 != 0 || t.beyond_bytes > 0) {
                return fail(
                    &key("message_bytes"),
                    t.message_bytes.to_string(),
                    "an atomic has 8 bytes at a multiple of 8",
                    "choose message_bytes = 8, bytes and the second misalign as multiples of 8, no beyond_bytes",
                );
            }
            if t.op.is_consuming() && !build.sends {
                return fail(
                    &key("op"),
                    format!("{:?}", t.op),
                    "the build has WRITE only",
                    "choose a build with `sends`, or op = \"write\"",
                );
            }
            if !t.receives && (!t.op.is_consuming() || t.messages() > 1 || t.beyond_bytes > 0) {
                return fail(
                    &key("receives"),
                    "false".into(),
                    "not a transfer of one message that uses a receive",
                    "set op = \"send\" and message_bytes = bytes, without beyond_bytes",
                );
            }
            if t.receive_gap_ns > 0 && !(t.op.is_consuming() && t.receives) {
                return fail(
                    &key("receive_gap_ns"),
                    t.receive_gap_ns.to_string(),
                    "the peer posts no receives",
                    "choose op = \"send\" with receives, or leave it out",
                );
            }
            if t.rnr_retry > 7 {
                return fail(&key("rnr_retry"), t.rnr_retry.to_string(), "above 7", "choose from 0 to 7");
            }
            if t.rnr_retry == 7 && !t.receives {
                return fail(
                    &key("rnr_retry"),
                    "7".into(),
                    "without limit, of a message whose peer posts no receive: it never ends",
                    "choose from 0 to 6, or leave out receives",
                );
            }
            if t.rnr_timer > 31 {
                return fail(&key("rnr_timer"), t.rnr_timer.to_string(), "above 31", "choose from 0 to 31");
            }
            qps[t.from] += t.qps;
            qps[t.to] += t.qps;
        }
        for (n, q) in qps.iter().enumerate() {
            if *q > build.qps {
                return fail(
                    "traffic",
                    format!("{q} queue pairs on node {n}"),
                    "more than the build has",
                    &format!("use at most {} per node", build.qps),
                );
            }
        }
        if self.nics - 1 > build.conns {
            return fail(
                "nics",
                self.nics.to_string(),
                "more peers than the build has connections",
                &format!("use at most {} nodes", build.conns + 1),
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shipped_scenarios_are_good() {
        for (name, text) in SHIPPED {
            let s = Scenario::parse(name, text).unwrap();
            assert_eq!(s.name, *name);
            assert!(!s.description.is_empty());
        }
    }

    #[test]
    fn the_long_scenarios_of_e7_are_good() {
        let all = [
            ("pair-1", include_str!("../scenarios/soak/pair-1.toml"), 2),
            ("ring-10", include_str!("../scenarios/soak/ring-10.toml"), 4),
            ("all-to-all-10", include_str!("../scenarios/soak/all-to-all-10.toml"), 8),
        ];
        let mut packets = 0;
        for (name, text, nics) in all {
            let s = Scenario::parse(name, text).unwrap();
            assert_eq!((s.name.as_str(), s.nics), (name, nics));
            packets += s.traffic.iter().map(|t| t.bytes.div_ceil(s.connection.mtu_bytes as u64)).sum::<u64>();
        }
        assert!(packets >= 1_000_000, "{packets}");
    }

    fn refused(from: &str, to: &str) -> String {
        let text = SHIPPED[0].1;
        assert!(text.contains(from), "{from} is not in the clean scenario");
        Scenario::parse("x.toml", &text.replacen(from, to, 1)).expect_err(to).to_string()
    }

    #[test]
    fn bad_scenarios_are_refused_with_place_and_remedy() {
        for (from, to, words) in [
            ("nics = 2", "nics = 1", "nics = 1"),
            ("nics = 2", "nicks = 2", "nicks"),
            ("nics = 2", "nics = \"two\"", "line"),
            ("nics = 2", "nics = 2\nbuild = \"nope\"", "choose one of sim"),
            ("nics = 2", "nics = ", "line"),
            ("[fabric]", "[fabric]\nplanes = 9", "fabric.planes = 9"),
            ("[fabric]", "[fabric]\nrate_gbps = 0.0", "fabric.rate_gbps"),
            ("[fabric]", "[fabric]\nrate_gbps = nan", "fabric.rate_gbps"),
            ("[fabric]", "[fabric]\nloss_data = 1.5", "fabric.loss_data = 1.5"),
            ("[fabric]", "[fabric]\nloss_ack = -0.1", "fabric.loss_ack"),
            ("[fabric]", "[fabric]\nevents = [{ at_ns = 1, plane = 4, action = \"kill\" }]", "fabric.events[0].plane"),
            ("[fabric]", "[fabric]\nevents = [{ at_ns = 1, plane = 1, action = \"stop\" }]", "stop"),
            ("[fabric]", "[connection]\npaths = 3\n[fabric]", "connection.paths = 3"),
            ("[fabric]", "[connection]\nmtu_bytes = 1500\n[fabric]", "connection.mtu_bytes"),
            ("[fabric]", "[connection]\ninit_window = 0\n[fabric]", "connection.init_window"),
            ("[fabric]", "[host]\nstall = 1.0\n[fabric]", "host.stall"),
            ("[fabric]", "[host]\nread_latency_ns = [5, 1]\n[fabric]", "swap"),
            ("[fabric]", "[host]\nwrite_latency_ns = [5, 1]\n[fabric]", "swap"),
            ("to = 1", "to = 1\nop = \"receive\"", "write_imm"),
            ("to = 1", "to = 1\nreceives = false", "traffic[0].receives"),
            ("to = 1", "to = 1\nreceive_gap_ns = 9", "traffic[0].receive_gap_ns"),
            ("to = 1", "to = 1\nrnr_retry = 8", "traffic[0].rnr_retry"),
            (
                "to = 1\nbytes = 1048576\nmessage_bytes = 65536",
                "to = 1\nop = \"send\"\nbytes = 4096\nmessage_bytes = 4096\nreceives = false\nrnr_retry = 7",
                "traffic[0].rnr_retry = 7",
            ),
            ("to = 1", "to = 1\nrnr_timer = 32", "traffic[0].rnr_timer"),
            ("to = 1", "to = 2", "no such node"),
            ("to = 1", "to = 0", "itself"),
            ("to = 1", "to = 1\nqps = 0", "traffic[0].qps"),
            ("to = 1", "to = 1\nqps = 99", "queue pairs"),
            ("to = 1", "to = 1\npieces = 2", "traffic[0].pieces = 2"),
            ("to = 1", "to = 1\nreceive_pieces = 2", "traffic[0].receive_pieces = 2"),
            ("to = 1", "to = 1\nmisalign = [0, 5000]", "misalign"),
            ("to = 1", "to = 1\nbeyond_bytes = 1", "traffic[0].beyond_bytes"),
            ("to = 1", "to = 1\nshared = true", "traffic[0].shared"),
            ("to = 1", "to = 1\ndenied = true", "traffic[0].denied"),
        ] {
            let e = refused(from, to);
            assert!(e.contains(words), "{to}: {e}");
            assert!(e.contains("x.toml"), "{e}");
        }
    }

    #[test]
    fn a_missing_file_says_how_to_list_the_shipped_ones() {
        let e = Scenario::load("no-such-file.toml").unwrap_err().to_string();
        assert!(e.contains("mrnic scenarios"), "{e}");
    }
}
