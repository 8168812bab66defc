//! Priority flow control: queues that can be held, and switches that pause who sends to them.
//!
//! In: packets for links, ends of transmissions, pauses. Out: transmissions that begin, pauses to send. A switch counts the
//! bytes that came in by each link and wait in it, by priority; above `xoff_bytes` it pauses that link's priority, at or below
//! `xon_bytes` it lets it go on. Guarantees that nothing is dropped for want of room as long as the headroom suffices.
use super::config::{refuse, ConfigFault, NetworkConfig, PACKET_BYTES_MAX};
use crate::time::Ps;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The `[network.pfc]` table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PfcConfig {
    /// Bytes from one link, of one priority, that wait in a switch before it pauses that priority of the link.
    pub xoff_bytes: u64,
    /// It goes on when there are no more than this.
    pub xon_bytes: u64,
    /// Room above `xoff_bytes` for what is under way when the pause is sent.
    pub headroom_bytes: u64,
    /// Acknowledgments and notifications have a priority of their own, which is served first; else they share that of data.
    pub acks_apart: bool,
}

impl Default for PfcConfig {
    fn default() -> Self {
        PfcConfig { xoff_bytes: 100_000, xon_bytes: 80_000, headroom_bytes: 100_000, acks_apart: true }
    }
}

impl PfcConfig {
    /// What arrives after a pause was sent: of a round trip, and the packets that both ends cannot interrupt.
    fn needed(network: &NetworkConfig) -> u64 {
        let gbps = network.rate_gbps.max(network.spine_gbps());
        (2.0 * network.delay_ns as f64 * gbps / 8.0).ceil() as u64 + 3 * PACKET_BYTES_MAX
    }

    pub(super) fn check(&self, network: &NetworkConfig) -> Result<(), ConfigFault> {
        if self.xoff_bytes < PACKET_BYTES_MAX {
            return refuse("pfc.xoff_bytes", self.xoff_bytes, "less than a packet", "choose 100000 for a start");
        }
        if self.xon_bytes > self.xoff_bytes {
            let remedy = "choose it at or below xoff_bytes";
            return refuse("pfc.xon_bytes", self.xon_bytes, "above xoff_bytes", remedy);
        }
        let needed = Self::needed(network);
        if self.headroom_bytes < needed {
            let remedy = format!("choose at least {needed}: a round trip of the link at its rate, and 3 packets");
            return refuse("pfc.headroom_bytes", self.headroom_bytes, "packets would be dropped after a pause", &remedy);
        }
        Ok(())
    }
}

/// Priorities: data, and acknowledgments.
const PRIORITIES: usize = 2;
/// No link: the packet comes from a host.
const HOST: u32 = u32::MAX;

/// A packet that waits for a link.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    pub flight: u32,
    pub bytes: u32,
    /// The link it came by.
    pub from: Option<u32>,
    pub is_ack: bool,
}

#[derive(Debug, Clone, Copy)]
struct Queued {
    flight: u32,
    bytes: u32,
    from: u32,
    priority: u8,
}

/// The beginning of a link.
#[derive(Debug, Clone, Default)]
struct Output {
    queues: [VecDeque<Queued>; PRIORITIES],
    /// In the queues, and what is leaving.
    bytes: u64,
    leaving: Option<Queued>,
    paused: [bool; PRIORITIES],
    paused_since: Ps,
}

/// The end of a link in a switch.
#[derive(Debug, Clone, Copy, Default)]
struct Input {
    bytes: [u64; PRIORITIES],
    pausing: [bool; PRIORITIES],
}

/// What the simulation has to see to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PfcAction {
    /// The transmission of `flight` on `link` ends at `end`.
    Leaves { link: u32, flight: u32, bytes: u32, end: Ps },
    /// [`Pfc::pause`] is due at `at` with `code`.
    Pause { at: Ps, code: u32 },
    /// A transmission of a host's port has ended.
    Room { link: u32 },
}

/// Rates and delay of links.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    pub delay: Ps,
    /// Below this number links have the rate of hosts.
    pub first_spine_link: usize,
    pub host_fs_per_byte: u64,
    pub spine_fs_per_byte: u64,
    /// Links below this begin at hosts.
    pub uplinks: usize,
}

/// Bytes of a pause frame.
const PAUSE_BYTES: u64 = 64 + 24;

/// All queues.
#[derive(Debug)]
pub struct Pfc {
    config: PfcConfig,
    timing: Timing,
    outputs: Vec<Output>,
    inputs: Vec<Input>,
    actions: VecDeque<PfcAction>,
    /// Pauses sent, and time that links stood still for them.
    pub pauses: u64,
    pub paused_ps: u64,
}

impl Pfc {
    pub fn new(config: PfcConfig, timing: Timing, links: usize) -> Self {
        Pfc {
            config,
            timing,
            outputs: vec![Output::default(); links],
            inputs: vec![Input::default(); links],
            actions: VecDeque::with_capacity(64),
            pauses: 0,
            paused_ps: 0,
        }
    }

    fn fs_per_byte(&self, link: u32) -> u64 {
        match (link as usize) < self.timing.first_spine_link {
            true => self.timing.host_fs_per_byte,
            false => self.timing.spine_fs_per_byte,
        }
    }

    /// The oldest thing to see to.
    pub fn action(&mut self) -> Option<PfcAction> {
        self.actions.pop_front()
    }

    /// Bytes that wait for `link`.
    pub fn backlog_bytes(&self, link: usize) -> u64 {
        self.outputs[link].bytes
    }

    /// A packet waits for `link`. False: its switch has no room for it.
    pub fn put(&mut self, now: Ps, link: u32, packet: &Waiting) -> bool {
        let priority = usize::from(packet.is_ack && self.config.acks_apart);
        if let Some(from) = packet.from {
            let input = &mut self.inputs[from as usize];
            let bytes = input.bytes[priority] + u64::from(packet.bytes);
            if bytes > self.config.xoff_bytes + self.config.headroom_bytes {
                return false;
            }
            input.bytes[priority] = bytes;
            if bytes > self.config.xoff_bytes && !input.pausing[priority] {
                input.pausing[priority] = true;
                self.tell(now, from, priority, true);
            }
        }
        let from = packet.from.unwrap_or(HOST);
        let queued = Queued { flight: packet.flight, bytes: packet.bytes, from, priority: priority as u8 };
        let output = &mut self.outputs[link as usize];
        output.queues[priority].push_back(queued);
        output.bytes += u64::from(packet.bytes);
        self.begin(now, link);
        true
    }

    /// Sends a pause, or its end, against the direction of `link`: after a packet that may be leaving there.
    fn tell(&mut self, now: Ps, link: u32, priority: usize, on: bool) {
        self.pauses += u64::from(on);
        let before = (PACKET_BYTES_MAX / 2 + PAUSE_BYTES) * self.fs_per_byte(link) / 1000;
        let code = link << 2 | (priority as u32) << 1 | u32::from(on);
        self.actions.push_back(PfcAction::Pause { at: now + before + self.timing.delay, code });
    }

    /// Begins a transmission, if one can.
    fn begin(&mut self, now: Ps, link: u32) {
        let fs = self.fs_per_byte(link);
        let output = &mut self.outputs[link as usize];
        if output.leaving.is_some() {
            return;
        }
        let Some(priority) = (0..PRIORITIES).rev().find(|&p| !output.paused[p] && !output.queues[p].is_empty()) else { return };
        output.leaving = output.queues[priority].pop_front();
        if let Some(packet) = output.leaving {
            let end = now + u64::from(packet.bytes) * fs / 1000;
            self.actions.push_back(PfcAction::Leaves { link, flight: packet.flight, bytes: packet.bytes, end });
        }
    }

    /// The transmission on `link` has ended: its packet is no longer in the switch.
    pub fn left(&mut self, now: Ps, link: u32) {
        let output = &mut self.outputs[link as usize];
        let Some(packet) = output.leaving.take() else { return };
        output.bytes -= u64::from(packet.bytes);
        if packet.from != HOST {
            let priority = packet.priority as usize;
            let input = &mut self.inputs[packet.from as usize];
            input.bytes[priority] = input.bytes[priority].saturating_sub(packet.bytes.into());
            if input.pausing[priority] && input.bytes[priority] <= self.config.xon_bytes {
                input.pausing[priority] = false;
                self.tell(now, packet.from, priority, false);
            }
        }
        self.begin(now, link);
        if (link as usize) < self.timing.uplinks {
            self.actions.push_back(PfcAction::Room { link });
        }
    }

    /// A pause, or its end, arrives where the link begins.
    pub fn pause(&mut self, now: Ps, code: u32, link_is_down: bool) {
        let (link, priority, on) = (code >> 2, (code >> 1 & 1) as usize, code & 1 != 0);
        // The other direction dies with it.
        if !link_is_down {
            self.set(now, link, priority, on);
            self.begin(now, link);
        }
    }

    fn set(&mut self, now: Ps, link: u32, priority: usize, on: bool) {
        let output = &mut self.outputs[link as usize];
        let was = output.paused[0];
        output.paused[priority] = on;
        match (was, output.paused[0]) {
            (false, true) => output.paused_since = now,
            (true, false) => self.paused_ps += now - output.paused_since,
            _ => {}
        }
    }

    /// The link died, or came back: neither end knows of pauses before.
    pub fn changed(&mut self, now: Ps, link: u32) {
        for priority in 0..PRIORITIES {
            self.set(now, link, priority, false);
        }
        self.inputs[link as usize].pausing = [false; PRIORITIES];
        self.begin(now, link);
    }
}
