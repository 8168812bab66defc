//! The network: links with rate, delay and output queues; what they drop and mark.
//!
//! In: a packet at the beginning of a link. Out: when its last bit arrives at the end, or why it was dropped. Queues are FIFO
//! and counted in bytes; a link's queue is known from the time at which it will be free, so a hop is one event. With priority
//! flow control ([`pfc`]) queues are kept packet by packet, as they can be held.
//! Guarantees that every packet that was offered is counted once as passed on or dropped.
pub mod config;
pub mod faults;
pub mod loss;
pub mod pfc;

use crate::time::{Ps, PS_PER_NS};
use crate::topology::Topology;
use config::{LossConfig, NetworkConfig};
use faults::Change;
use loss::{Lost, PortLoss};
use pfc::{Pfc, Timing, Waiting};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

/// Why a packet was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drop {
    /// The output queue was full.
    Queue,
    Random,
    Burst,
    /// The link was down.
    Down,
}

/// What became of packets.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkStats {
    /// Given to the network by hosts.
    pub sent: u64,
    pub sent_bytes: u64,
    /// Given to hosts by the network.
    pub delivered: u64,
    pub dropped_queue: u64,
    pub dropped_random: u64,
    pub dropped_burst: u64,
    pub dropped_down: u64,
    pub marked: u64,
    /// Longest output queue of a switch.
    pub max_queue_bytes: u64,
    /// Pauses that switches sent, and time that links stood still for them, together.
    pub pauses: u64,
    pub paused_us: f64,
}

impl NetworkStats {
    pub fn dropped(&self) -> u64 {
        self.dropped_queue + self.dropped_random + self.dropped_burst + self.dropped_down
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    free: Ps,
    /// Faults that hold it down.
    down: u16,
}

/// A packet on its way, as far as links care.
#[derive(Debug, Clone, Copy)]
pub struct Wire {
    pub bytes: u32,
    pub is_ack: bool,
}

/// Where a link stands in the way of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hop {
    First,
    Middle,
    Last,
}

/// When a packet arrives at the end of its link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Passed {
    pub at: Ps,
    /// The switch marks it with CE.
    pub marked: bool,
}

/// All links.
pub struct Network {
    pub topology: Topology,
    stats: NetworkStats,
    config: NetworkConfig,
    links: Vec<Link>,
    /// First link between leaf and spine.
    first_spine_link: usize,
    host_fs_per_byte: u64,
    spine_fs_per_byte: u64,
    losses: Option<Vec<PortLoss>>,
    loss: LossConfig,
    changes: Vec<Change>,
    /// Links have queues that can be held.
    pub pfc: Option<Pfc>,
    rng: SmallRng,
}

fn fs_per_byte(gbps: f64) -> u64 {
    (8e6 / gbps).round() as u64
}

impl Network {
    /// A network of a checked configuration.
    pub fn new(config: &NetworkConfig, seed: u64) -> Self {
        let topology = Topology::of(config);
        let lossy = config.loss.data > 0.0 || config.loss.ack.is_some_and(|p| p > 0.0) || config.loss.burst.is_some();
        let ports = topology.planes * topology.hosts;
        let timing = Timing {
            delay: config.delay_ns * PS_PER_NS,
            first_spine_link: 2 * ports,
            host_fs_per_byte: fs_per_byte(config.rate_gbps),
            spine_fs_per_byte: fs_per_byte(config.spine_gbps()),
            uplinks: ports,
        };
        Network {
            pfc: config.pfc.map(|pfc| Pfc::new(pfc, timing, topology.links())),
            stats: NetworkStats::default(),
            links: vec![Link::default(); topology.links()],
            first_spine_link: 2 * ports,
            host_fs_per_byte: fs_per_byte(config.rate_gbps),
            spine_fs_per_byte: fs_per_byte(config.spine_gbps()),
            losses: lossy.then(|| vec![PortLoss::default(); ports]),
            loss: config.loss,
            changes: faults::changes(&config.fault, &topology),
            rng: SmallRng::seed_from_u64(seed ^ 0x1D_7E_77_0F_F0),
            config: config.clone(),
            topology,
        }
    }

    fn fs_per_byte(&self, link: usize) -> u64 {
        if link < self.first_spine_link {
            self.host_fs_per_byte
        } else {
            self.spine_fs_per_byte
        }
    }

    /// Bytes that wait at the beginning of `link`, the packet that is leaving included.
    pub fn backlog_bytes(&self, now: Ps, link: usize) -> u64 {
        if let Some(pfc) = &self.pfc {
            return pfc.backlog_bytes(link);
        }
        self.links[link].free.saturating_sub(now) * 1000 / self.fs_per_byte(link)
    }

    /// When the backlog of `link` will not be above `bytes`.
    pub fn below(&self, link: usize, bytes: u64) -> Ps {
        self.links[link].free.saturating_sub(bytes * self.fs_per_byte(link) / 1000)
    }

    /// Ports of `host` whose backlog is above `port_bytes`, and when the first of them has room again; never, if that is not
    /// known, because it may be paused.
    pub fn full_ports(&self, now: Ps, host: usize, port_bytes: u64) -> (u32, Ps) {
        let (mut mask, mut first) = (0, Ps::MAX);
        if let Some(pfc) = &self.pfc {
            let full = |plane: &usize| pfc.backlog_bytes(self.topology.uplink(*plane, host)) > port_bytes;
            return ((0..self.topology.planes).filter(full).fold(0, |mask, plane| mask | 1 << plane), first);
        }
        let allowed = port_bytes * self.host_fs_per_byte / 1000;
        for plane in 0..self.topology.planes {
            let free = self.links[self.topology.uplink(plane, host)].free;
            if free > now + allowed {
                mask |= 1 << plane;
                first = first.min(free - allowed);
            }
        }
        (mask, first)
    }

    /// A packet is put on `link` at `now`.
    pub fn pass(&mut self, now: Ps, link: usize, hop: Hop, wire: &Wire) -> Result<Passed, Drop> {
        if hop == Hop::First {
            self.stats.sent += 1;
            self.stats.sent_bytes += u64::from(wire.bytes);
        }
        let verdict = self.judge(now, link, hop, wire);
        if let Err(drop) = verdict {
            self.count(drop);
        }
        verdict
    }

    fn judge(&mut self, now: Ps, link: usize, hop: Hop, wire: &Wire) -> Result<Passed, Drop> {
        let fs = self.fs_per_byte(link);
        let state = self.links[link];
        let mut marked = false;
        if hop != Hop::First {
            // A port of a host has no limit here: its engine stops in time.
            let backlog = state.free.saturating_sub(now) * 1000 / fs;
            let queue = backlog + u64::from(wire.bytes);
            if queue > self.config.buffer_bytes {
                return Err(Drop::Queue);
            }
            self.stats.max_queue_bytes = self.stats.max_queue_bytes.max(queue);
            marked = self.marks(backlog);
            self.stats.marked += u64::from(marked);
        }
        let end = state.free.max(now) + u64::from(wire.bytes) * fs / 1000;
        self.links[link].free = end;
        self.travels(link, hop, wire)?;
        Ok(Passed { at: end + self.config.delay_ns * PS_PER_NS, marked })
    }

    /// Whether a packet gets to the end of its link.
    fn travels(&mut self, link: usize, hop: Hop, wire: &Wire) -> Result<(), Drop> {
        if self.links[link].down > 0 {
            return Err(Drop::Down);
        }
        if hop == Hop::Last {
            if let Some(losses) = &mut self.losses {
                let port = link - losses.len();
                match losses[port].judge(&self.loss, &mut self.rng, wire.is_ack) {
                    None => {}
                    Some(Lost::Random) => return Err(Drop::Random),
                    Some(Lost::Burst) => return Err(Drop::Burst),
                }
            }
        }
        Ok(())
    }

    /// With flow control: a packet waits for `link`. Whether it was marked, or why it was dropped.
    pub fn put(&mut self, now: Ps, link: usize, hop: Hop, packet: &Waiting) -> Result<bool, Drop> {
        if hop == Hop::First {
            self.stats.sent += 1;
            self.stats.sent_bytes += u64::from(packet.bytes);
        }
        let Some(pfc) = &mut self.pfc else { return Ok(false) };
        let backlog = pfc.backlog_bytes(link);
        if !pfc.put(now, link as u32, packet) {
            self.count(Drop::Queue);
            return Err(Drop::Queue);
        }
        if hop == Hop::First {
            return Ok(false);
        }
        self.stats.max_queue_bytes = self.stats.max_queue_bytes.max(backlog + u64::from(packet.bytes));
        let marked = self.marks(backlog);
        self.stats.marked += u64::from(marked);
        Ok(marked)
    }

    /// With flow control: the transmission of a packet on `link` ends at `end`. When it arrives, or why it does not.
    pub fn launch(&mut self, end: Ps, link: usize, hop: Hop, wire: &Wire) -> Result<Ps, Drop> {
        let verdict = self.travels(link, hop, wire);
        if let Err(drop) = verdict {
            self.count(drop);
        }
        verdict.map(|()| end + self.config.delay_ns * PS_PER_NS)
    }

    /// With flow control: a pause, or its end, arrives.
    pub fn pause(&mut self, now: Ps, code: u32) {
        let down = self.links[(code >> 2) as usize].down > 0;
        if let Some(pfc) = &mut self.pfc {
            pfc.pause(now, code, down);
        }
    }

    /// What became of packets so far.
    pub fn stats(&self) -> NetworkStats {
        match &self.pfc {
            None => self.stats,
            Some(pfc) => NetworkStats { pauses: pfc.pauses, paused_us: pfc.paused_ps as f64 / 1e6, ..self.stats },
        }
    }

    fn marks(&mut self, backlog: u64) -> bool {
        let (min, max) = (self.config.ecn_min_bytes, self.config.ecn_max_bytes);
        if backlog <= min {
            return false;
        }
        backlog >= max || self.rng.random_range(0..max - min) < backlog - min
    }

    fn count(&mut self, drop: Drop) {
        match drop {
            Drop::Queue => self.stats.dropped_queue += 1,
            Drop::Random => self.stats.dropped_random += 1,
            Drop::Burst => self.stats.dropped_burst += 1,
            Drop::Down => self.stats.dropped_down += 1,
        }
    }

    /// A packet arrives at the end of `link`. False: the link died while it travelled.
    pub fn arrived(&mut self, link: usize, hop: Hop) -> bool {
        if self.links[link].down > 0 {
            self.count(Drop::Down);
            return false;
        }
        self.stats.delivered += u64::from(hop == Hop::Last);
        true
    }

    /// Times of the changes, in order.
    pub fn change_times(&self) -> impl Iterator<Item = Ps> + '_ {
        self.changes.iter().map(|change| change.at)
    }

    /// Change `index` happens.
    pub fn change(&mut self, now: Ps, index: usize) {
        let Some(change) = self.changes.get(index) else { return };
        for &link in &change.links {
            let down = &mut self.links[link as usize].down;
            *down = if change.down { down.saturating_add(1) } else { down.saturating_sub(1) };
            if let Some(pfc) = &mut self.pfc {
                pfc.changed(now, link);
            }
        }
    }
}
