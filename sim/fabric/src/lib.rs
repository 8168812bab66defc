//! The network between the NICs: planes of one switch each, links with rate and delay, queues with ECN, and faults.
//!
//! In: frames with the time at which their last bit left the NIC, scheduled events. Out: frames with their arrival times.
//! Guarantees: deterministic from the seed; every frame sent is delivered, dropped for a counted reason, or in flight;
//! frames of one path keep their order unless a fault says otherwise.
mod config;
mod faults;

pub use config::{Action, Burst, ConfigFault, Event, FabricConfig};
use faults::{Faults, Verdict};
use mrnic_wire::frame::set_ecn;
use mrnic_wire::open_mr_0::ECN_CE;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Ethernet bytes on the wire that are not part of a frame: preamble, FCS, gap.
const FRAMING_BYTES: u64 = 24;
const UDP_SOURCE: std::ops::Range<usize> = 34..36;
const UDP_SOURCE_V6: std::ops::Range<usize> = 54..56;

/// What became of the frames, by plane.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize)]
pub struct PlaneStats {
    pub sent: u64,
    pub delivered: u64,
    pub lost_random: u64,
    pub lost_burst: u64,
    pub lost_down: u64,
    pub lost_queue: u64,
    pub duplicated: u64,
    pub corrupted: u64,
    pub reordered: u64,
    pub marked: u64,
    pub max_queue_bytes: u64,
}

impl PlaneStats {
    /// Frames dropped for any reason.
    pub fn dropped(&self) -> u64 {
        self.lost_random + self.lost_burst + self.lost_down + self.lost_queue
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Link {
    free_ps: u64,
    last_arrival_ps: u64,
}

struct InFlight {
    at_ps: u64,
    order: u64,
    to: usize,
    plane: usize,
    frame: Vec<u8>,
}

impl PartialEq for InFlight {
    fn eq(&self, other: &Self) -> bool {
        self.order == other.order
    }
}
impl Eq for InFlight {}
impl PartialOrd for InFlight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for InFlight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ps, self.order).cmp(&(other.at_ps, other.order))
    }
}

/// The plane that a UDP source port is hashed to. All switches of a plane use the same hash.
pub fn plane_of_port(port: u16, planes: usize) -> usize {
    let mut h = u32::from(port).wrapping_mul(0x9E37_79B1);
    h ^= h >> 15;
    h = h.wrapping_mul(0x85EB_CA77);
    h ^= h >> 13;
    (h % planes as u32) as usize
}

/// The first port from `from` upwards (dynamic range) that hashes to `plane`.
pub fn port_on_plane(from: u16, plane: usize, planes: usize) -> u16 {
    let mut port = 0xC000 | (from & 0x3FFF);
    while plane_of_port(port, planes) != plane {
        port = 0xC000 | (port.wrapping_add(1) & 0x3FFF);
    }
    port
}

/// The UDP source port of a frame; 0 where there is none.
pub fn source_port(frame: &[u8]) -> u16 {
    let range = match frame.get(12..14) {
        Some([0x86, 0xdd]) => UDP_SOURCE_V6,
        _ => UDP_SOURCE,
    };
    frame.get(range).map_or(0, |b| u16::from_be_bytes([b[0], b[1]]))
}

/// The network.
pub struct Fabric {
    config: FabricConfig,
    rng: SmallRng,
    faults: Vec<Faults>,
    up: Vec<Link>,
    down: Vec<Link>,
    alive: Vec<bool>,
    flight: BinaryHeap<Reverse<InFlight>>,
    order: u64,
    next_event: usize,
    nics: usize,
    spare: Vec<Vec<u8>>,
    pub stats: Vec<PlaneStats>,
}

impl Fabric {
    /// A network of `nics` nodes.
    pub fn new(config: &FabricConfig, nics: usize, seed: u64) -> Self {
        let planes = config.planes;
        let mut config = config.clone();
        config.events.sort_by_key(|e| e.at_ns);
        Self {
            rng: SmallRng::seed_from_u64(seed ^ 0xFAB0_0FAB),
            faults: (0..planes).map(|_| Faults::new(&config)).collect(),
            up: vec![Link::default(); planes * nics],
            down: vec![Link::default(); planes * nics],
            alive: vec![true; planes],
            flight: BinaryHeap::new(),
            order: 0,
            next_event: 0,
            nics,
            spare: Vec::new(),
            stats: vec![PlaneStats::default(); planes],
            config,
        }
    }

    fn ps_of_bytes(&self, bytes: u64) -> u64 {
        (bytes as f64 * 8000.0 / self.config.rate_gbps).round() as u64
    }

    fn apply_events(&mut self, now_ps: u64) {
        while let Some(e) = self.config.events.get(self.next_event) {
            if e.at_ns * 1000 > now_ps {
                break;
            }
            self.alive[e.plane] = e.action == Action::Revive;
            self.next_event += 1;
        }
    }

    /// An empty buffer for a frame, reused where possible.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Gives a delivered frame's buffer back.
    pub fn recycle(&mut self, mut frame: Vec<u8>) {
        if self.spare.len() < 4096 {
            frame.clear();
            self.spare.push(frame);
        }
    }

    /// Takes a frame from `from`; `is_ack` selects the loss rate. Returns the plane it takes.
    pub fn send(&mut self, now_ps: u64, from: usize, to: usize, mut frame: Vec<u8>, is_ack: bool) -> usize {
        self.apply_events(now_ps);
        let planes = self.config.planes;
        let plane = plane_of_port(source_port(&frame), planes);
        self.stats[plane].sent += 1;
        let wire = self.ps_of_bytes(frame.len() as u64 + FRAMING_BYTES);
        let up = &mut self.up[plane * self.nics + from];
        let at_switch = up.free_ps.max(now_ps) + wire;
        up.free_ps = at_switch;
        if !self.alive[plane] {
            self.stats[plane].lost_down += 1;
            self.recycle(frame);
            return plane;
        }
        match self.faults[plane].judge(&mut self.rng, is_ack) {
            Verdict::Pass => {}
            Verdict::LostRandom => {
                self.stats[plane].lost_random += 1;
                self.recycle(frame);
                return plane;
            }
            Verdict::LostBurst => {
                self.stats[plane].lost_burst += 1;
                self.recycle(frame);
                return plane;
            }
        }
        let queue_ps = self.down[plane * self.nics + to].free_ps.saturating_sub(at_switch);
        let queue_bytes = (queue_ps as f64 * self.config.rate_gbps / 8000.0) as u64;
        let s = &mut self.stats[plane];
        s.max_queue_bytes = s.max_queue_bytes.max(queue_bytes);
        if queue_bytes + frame.len() as u64 > self.config.buffer_bytes {
            s.lost_queue += 1;
            self.recycle(frame);
            return plane;
        }
        if queue_bytes > self.config.ecn_threshold_bytes && set_ecn(&mut frame, ECN_CE) {
            s.marked += 1;
        }
        if self.config.bit_error > 0.0 && self.rng.random_bool(self.config.bit_error) {
            let bit = self.rng.random_range(0..frame.len() * 8);
            frame[bit / 8] ^= 1 << (bit % 8);
            self.stats[plane].corrupted += 1;
        }
        let copy = (self.config.duplicate > 0.0 && self.rng.random_bool(self.config.duplicate)).then(|| frame.clone());
        self.arrive(at_switch, wire, plane, to, frame);
        if let Some(copy) = copy {
            self.stats[plane].duplicated += 1;
            self.arrive(at_switch, wire, plane, to, copy);
        }
        plane
    }

    fn arrive(&mut self, at_switch: u64, wire: u64, plane: usize, to: usize, frame: Vec<u8>) {
        let jitter = match self.config.jitter_ns {
            0 => 0,
            j => self.rng.random_range(0..=j * 1000),
        };
        let late = self.config.reorder > 0.0 && self.rng.random_bool(self.config.reorder);
        let down = &mut self.down[plane * self.nics + to];
        let left = down.free_ps.max(at_switch) + wire;
        down.free_ps = left;
        let mut at_ps = left + self.config.delay_ns * 1000 + jitter;
        if late {
            // a late frame is overtaken: it does not hold back those behind it
            at_ps += self.config.reorder_extra_ns * 1000;
            self.stats[plane].reordered += 1;
        } else {
            at_ps = at_ps.max(down.last_arrival_ps + 1);
            down.last_arrival_ps = at_ps;
        }
        self.order += 1;
        self.flight.push(Reverse(InFlight { at_ps, order: self.order, to, plane, frame }));
    }

    /// The next frame that has arrived by `now_ps`: node, plane, frame.
    pub fn deliver(&mut self, now_ps: u64) -> Option<(usize, usize, Vec<u8>)> {
        self.apply_events(now_ps);
        while self.flight.peek()?.0.at_ps <= now_ps {
            let Reverse(f) = self.flight.pop()?;
            if !self.alive[f.plane] {
                self.stats[f.plane].lost_down += 1;
                self.recycle(f.frame);
                continue;
            }
            self.stats[f.plane].delivered += 1;
            return Some((f.to, f.plane, f.frame));
        }
        None
    }

    /// When the next frame arrives.
    pub fn next_arrival_ps(&self) -> Option<u64> {
        self.flight.peek().map(|next| next.0.at_ps)
    }

    /// Frames under way.
    pub fn in_flight(&self) -> u64 {
        self.flight.len() as u64
    }

    /// Checks that every frame is accounted for.
    pub fn conserved(&self) -> bool {
        let entered: u64 = self.stats.iter().map(|s| s.sent + s.duplicated).sum();
        let left: u64 = self.stats.iter().map(|s| s.delivered + s.dropped()).sum();
        entered == left + self.in_flight()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(port: u16) -> Vec<u8> {
        let mut f = vec![0u8; 200];
        f[12..14].copy_from_slice(&[8, 0]);
        f[14] = 0x45;
        f[15] = 2;
        f[34..36].copy_from_slice(&port.to_be_bytes());
        f
    }

    fn drain(f: &mut Fabric) -> usize {
        std::iter::from_fn(|| f.deliver(u64::MAX / 2)).count()
    }

    #[test]
    fn every_plane_has_ports() {
        for planes in 1..=8 {
            for plane in 0..planes {
                let p = port_on_plane(77, plane, planes);
                assert!(p >= 0xC000);
                assert_eq!(plane_of_port(p, planes), plane);
            }
        }
    }

    #[test]
    fn loss_duplication_and_death_are_conserved() {
        let config = FabricConfig {
            planes: 2,
            loss_data: 0.1,
            duplicate: 0.1,
            reorder: 0.1,
            buffer_bytes: u64::MAX,
            events: vec![Event { at_ns: 1000, plane: 1, action: Action::Kill }],
            ..Default::default()
        };
        let mut f = Fabric::new(&config, 2, 1);
        for i in 0..10_000u64 {
            f.send(i * 100_000, 0, 1, frame(0xC000 + (i % 64) as u16), false);
            assert!(f.conserved());
        }
        drain(&mut f);
        assert!(f.conserved());
        assert_eq!(f.in_flight(), 0);
        let (a, b) = (&f.stats[0], &f.stats[1]);
        assert!(a.lost_random > 300 && a.lost_random < 700, "{a:?}");
        assert!(b.lost_down * 2 > b.sent, "{b:?}");
    }

    #[test]
    fn a_path_keeps_its_order_unless_reordering_is_asked_for() {
        for (reorder, kept) in [(0.0, true), (0.2, false)] {
            let config = FabricConfig { planes: 1, jitter_ns: 3000, reorder, ..Default::default() };
            let mut f = Fabric::new(&config, 2, 3);
            for i in 0..200u64 {
                let mut x = frame(0xC000);
                x[100..108].copy_from_slice(&i.to_be_bytes());
                f.send(i * 1_000_000, 0, 1, x, false);
            }
            let got: Vec<u64> = std::iter::from_fn(|| f.deliver(u64::MAX / 2))
                .map(|(_, _, x)| u64::from_be_bytes(x[100..108].try_into().unwrap()))
                .collect();
            assert_eq!(got.is_sorted(), kept);
        }
    }

    #[test]
    fn a_long_queue_is_marked_and_a_full_one_drops() {
        let config =
            FabricConfig { planes: 1, ecn_threshold_bytes: 1000, buffer_bytes: 5000, rate_gbps: 10.0, ..Default::default() };
        let mut f = Fabric::new(&config, 3, 1);
        for _ in 0..100 {
            f.send(0, 0, 2, frame(0xC000), false);
            f.send(0, 1, 2, frame(0xC000), false);
        }
        drain(&mut f);
        assert!(f.stats[0].marked > 0 && f.stats[0].lost_queue > 0, "{:?}", f.stats[0]);
        assert!(f.stats[0].max_queue_bytes <= 5000);
        assert!(f.conserved());
        // frames of senders that are not ECN-capable are dropped, never marked
        let mut incapable = frame(0xC000);
        incapable[15] = 0;
        let mut f = Fabric::new(&config, 3, 1);
        for _ in 0..100 {
            f.send(0, 0, 2, incapable.clone(), false);
            f.send(0, 1, 2, incapable.clone(), false);
        }
        drain(&mut f);
        assert!(f.stats[0].marked == 0 && f.stats[0].lost_queue > 0, "{:?}", f.stats[0]);
    }
}
