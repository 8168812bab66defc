//! The `[workload]` table and what runs beside it.
//!
//! In: TOML values. Out: a checked [`WorkloadConfig`], or a [`ConfigFault`] which names key, value and remedy.
use crate::network::config::{refuse, ConfigFault, NetworkConfig};
use serde::{Deserialize, Serialize};

/// Pattern of a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pattern {
    /// One host to one in another leaf (if there is one).
    Pair,
    /// Every host to one other host.
    Permutation,
    /// `fan_in` hosts to one.
    Incast,
    /// Every host to every other; `bytes` are those of a host, to all others together.
    AllToAll,
    /// Ring All-Reduce of `bytes`: 2 (n - 1) steps of bytes / n.
    RingAllReduce,
    /// Recursive-doubling All-Reduce: log2 n exchanges of all `bytes`.
    DoublingAllReduce,
    /// Chakra execution traces, one file a host.
    Trace,
}

/// The `[workload]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkloadConfig {
    pub pattern: Pattern,
    /// Payload, as the pattern says; else of each message. A trace has its own.
    #[serde(default)]
    pub bytes: u64,
    /// Messages of each flow, one after the other.
    #[serde(default = "one")]
    pub messages: u32,
    /// Messages of a flow that are posted at a time.
    #[serde(default = "two")]
    pub depth: u32,
    /// Senders of an incast; absent: all other hosts.
    pub fan_in: Option<usize>,
    /// Flows begin at random times within this.
    #[serde(default)]
    pub start_spread_us: u64,
    /// Of a trace: the files are TRACE.0.et and so on, beside the experiment's file.
    pub trace: Option<String>,
    /// Load that is not measured; the run ends without it.
    #[serde(default)]
    pub background: Vec<BackgroundConfig>,
}

/// Where the receiver of a background incast is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Receiver {
    /// Any host.
    #[default]
    Anywhere,
    /// In the leaf of the workload's first receiver, which is another host. The ends of the first flow take no part.
    Neighbour,
}

/// A `[[workload.background]]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackgroundConfig {
    /// pair, permutation, incast or all-to-all.
    pub pattern: Pattern,
    pub bytes: u64,
    /// Of each flow; absent: one after the other until the workload is done.
    pub messages: Option<u32>,
    #[serde(default = "two")]
    pub depth: u32,
    pub fan_in: Option<usize>,
    #[serde(default)]
    pub at_us: u64,
    #[serde(default)]
    pub receiver: Receiver,
}

fn one() -> u32 {
    1
}

fn two() -> u32 {
    2
}

/// Longest message: W1 of docs/protocol.md.
pub const MESSAGE_BYTES_MAX: u64 = 1 << 31;

impl WorkloadConfig {
    /// One message of each flow, two posted at a time.
    pub fn new(pattern: Pattern, bytes: u64) -> Self {
        WorkloadConfig {
            pattern,
            bytes,
            messages: 1,
            depth: 2,
            fan_in: None,
            start_spread_us: 0,
            trace: None,
            background: Vec::new(),
        }
    }

    /// Checks every value against the network. Keys are those of the `[workload]` table.
    pub fn check(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        self.check_trace()?;
        self.check_sizes(network)?;
        if self.pattern == Pattern::DoublingAllReduce && !network.hosts.is_power_of_two() {
            let remedy = "set network.hosts to 64 for example";
            return refuse("pattern", "doubling-all-reduce", "needs a power of two of hosts", remedy);
        }
        let ordered = matches!(self.pattern, Pattern::RingAllReduce | Pattern::DoublingAllReduce | Pattern::Trace);
        if ordered && (self.messages > 1 || self.start_spread_us > 0) {
            let (key, value) = match self.messages {
                0 | 1 => ("start_spread_us", self.start_spread_us),
                messages => ("messages", messages.into()),
            };
            return refuse(key, value, "an All-Reduce, or a trace, has its own order", "leave it out");
        }
        match self.fan_in {
            Some(n) if self.pattern != Pattern::Incast => {
                return refuse("fan_in", n, "means something for an incast only", "leave it out")
            }
            Some(n) if n == 0 || n >= network.hosts => {
                let remedy = format!("choose from 1 to {}, the other hosts", network.hosts - 1);
                return refuse("fan_in", n, "not a number of senders", &remedy);
            }
            _ => {}
        }
        for (i, background) in self.background.iter().enumerate() {
            let named = |fault: ConfigFault| ConfigFault { key: format!("background[{i}].{}", fault.key), ..fault };
            background.check(network).map_err(named)?;
        }
        Ok(())
    }

    fn check_trace(&self) -> Result<(), ConfigFault> {
        match (&self.trace, self.pattern == Pattern::Trace) {
            (None, true) => refuse("trace", "(absent)", "which files are meant is not said", "add the part before .0.et"),
            (Some(trace), false) => refuse("trace", trace, "means something for pattern = \"trace\" only", "leave it out"),
            (Some(_), true) if self.bytes > 0 => refuse("bytes", self.bytes, "a trace has its own sizes", "leave it out"),
            _ => Ok(()),
        }
    }

    fn check_sizes(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        if self.pattern == Pattern::Trace {
            return Ok(());
        }
        if self.bytes == 0 {
            return refuse("bytes", 0, "nothing is sent", "choose at least 1");
        }
        if self.messages == 0 || self.depth == 0 {
            let key = if self.messages == 0 { "messages" } else { "depth" };
            return refuse(key, 0, "nothing is sent", "choose at least 1");
        }
        if self.message_bytes(network.hosts) > MESSAGE_BYTES_MAX {
            return refuse("bytes", self.bytes, "a message would be longer than 2^31 bytes", "use several messages");
        }
        let hosts = network.hosts as u64;
        let parts = match self.pattern {
            Pattern::AllToAll => hosts - 1,
            Pattern::RingAllReduce => hosts,
            _ => 1,
        };
        if self.bytes < parts {
            let remedy = format!("choose at least {parts}, a byte for each of the parts it is cut into");
            return refuse("bytes", self.bytes, "fewer than parts", &remedy);
        }
        Ok(())
    }

    /// Payload of each message.
    pub fn message_bytes(&self, hosts: usize) -> u64 {
        match self.pattern {
            Pattern::AllToAll => self.bytes.div_ceil(hosts as u64 - 1),
            Pattern::RingAllReduce => self.bytes.div_ceil(hosts as u64),
            _ => self.bytes,
        }
    }
}

impl BackgroundConfig {
    /// The same as a workload.
    pub fn load(&self) -> WorkloadConfig {
        let messages = self.messages.unwrap_or(u32::MAX);
        WorkloadConfig { messages, depth: self.depth, fan_in: self.fan_in, ..WorkloadConfig::new(self.pattern, self.bytes) }
    }

    fn check(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        let simple = [Pattern::Pair, Pattern::Permutation, Pattern::Incast, Pattern::AllToAll];
        if !simple.contains(&self.pattern) {
            let name = format!("{:?}", self.pattern);
            return refuse("pattern", name, "has an order of its own", "choose pair, permutation, incast or all-to-all");
        }
        if self.receiver == Receiver::Neighbour {
            if self.pattern != Pattern::Incast {
                return refuse("receiver", "neighbour", "means something for an incast only", "leave it out");
            }
            if network.hosts_per_leaf < 2 || network.hosts < 4 {
                let remedy = "set network.hosts_per_leaf to at least 2, and network.hosts to at least 4";
                return refuse("receiver", "neighbour", "there is no other host in the leaf", remedy);
            }
            if let Some(n) = self.fan_in.filter(|&n| n > network.hosts - 3) {
                let remedy = format!("choose at most {}: two hosts take no part", network.hosts - 3);
                return refuse("fan_in", n, "not a number of senders", &remedy);
            }
        }
        self.load().check(network)
    }
}
