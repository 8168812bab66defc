//! A small test fabric in virtual time: planes with rate, delay, loss, duplication, reordering, CE marks, kill and revive.
//! In: frames with their plane. Out: the same frames later, or not. All randomness comes from one seed.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use mrnic_model::TransmitKind;
use mrnic_wire::frame::set_ecn;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

/// Units of virtual time in a tick of 128 ns.
pub const UNITS: u64 = 1000;

/// What the fabric does to frames.
#[derive(Clone, Debug)]
pub struct FabricConfig {
    /// Rate of one plane.
    pub bytes_per_tick: u64,
    pub delay_ticks: u64,
    pub loss: f64,
    /// Mean length of a loss burst in frames; 1 is independent loss.
    pub burst: f64,
    pub duplicate: f64,
    /// Share of frames that are held back inside their plane, and for how long at most.
    pub reorder: f64,
    pub reorder_ticks: u64,
    /// Extra delay of plane p: p * skew.
    pub skew_ticks: u64,
    /// Queueing time from which on frames are marked.
    pub mark_ticks: u64,
    /// Queueing time from which on frames are dropped.
    pub drop_ticks: u64,
}

impl Default for FabricConfig {
    fn default() -> Self {
        FabricConfig {
            bytes_per_tick: 800,
            delay_ticks: 8,
            loss: 0.0,
            burst: 1.0,
            duplicate: 0.0,
            reorder: 0.0,
            reorder_ticks: 0,
            skew_ticks: 0,
            mark_ticks: 40,
            drop_ticks: 2000,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Plane {
    busy: u64,
    in_burst: bool,
}

/// A frame on its way.
pub struct InFlight {
    pub to: usize,
    pub frame: Vec<u8>,
}

/// A rule of a test: (sender, kind, how many of this sender and kind came before) -> drop it.
pub type DropRule = Box<dyn FnMut(usize, TransmitKind, u64) -> bool>;

pub struct Fabric {
    pub config: FabricConfig,
    planes: [Vec<Plane>; 2],
    pub dead: Vec<bool>,
    events: BinaryHeap<Reverse<(u64, u64)>>,
    frames: std::collections::HashMap<u64, InFlight>,
    serial: u64,
    rng: SmallRng,
    pub drop_rule: Option<DropRule>,
    seen: std::collections::HashMap<(usize, u8), u64>,
    pub sent: u64,
    pub lost: u64,
    pub duplicated: u64,
    pub delivered: u64,
}

impl Fabric {
    pub fn new(config: FabricConfig, planes: usize, seed: u64) -> Self {
        Fabric {
            config,
            planes: [vec![Plane::default(); planes], vec![Plane::default(); planes]],
            dead: vec![false; planes],
            events: BinaryHeap::new(),
            frames: Default::default(),
            serial: 0,
            rng: SmallRng::seed_from_u64(seed),
            drop_rule: None,
            seen: Default::default(),
            sent: 0,
            lost: 0,
            duplicated: 0,
            delivered: 0,
        }
    }

    pub fn next_arrival(&self) -> Option<u64> {
        self.events.peek().map(|e| e.0 .0)
    }

    fn lose(&mut self, from: usize, plane: usize) -> bool {
        let (loss, burst) = (self.config.loss, self.config.burst);
        if loss == 0.0 {
            return false;
        }
        if burst <= 1.0 {
            return self.rng.random_bool(loss);
        }
        // Gilbert-Elliott: every frame of a burst is lost; stationary share = loss.
        let leave = 1.0 / burst;
        let enter = (leave * loss / (1.0 - loss)).min(1.0);
        let state = &mut self.planes[from][plane].in_burst;
        *state = if *state { !self.rng.random_bool(leave) } else { self.rng.random_bool(enter) };
        *state
    }

    /// Sends a frame at `now` (units) from side `from` on `plane`.
    pub fn send(&mut self, now: u64, from: usize, plane: usize, kind: TransmitKind, mut frame: Vec<u8>) {
        self.sent += 1;
        let count = self.seen.entry((from, kind as u8)).or_default();
        let before = *count;
        *count += 1;
        let ruled = self.drop_rule.as_mut().is_some_and(|rule| rule(from, kind, before));
        let bytes = frame.len() as u64 + 24;
        let config = self.config.clone();
        let p = &mut self.planes[from][plane];
        let queued = p.busy.saturating_sub(now) / UNITS;
        if queued > config.drop_ticks {
            self.lost += 1;
            return;
        }
        p.busy = p.busy.max(now) + bytes * UNITS / config.bytes_per_tick;
        let mut arrival = p.busy + (config.delay_ticks + plane as u64 * config.skew_ticks) * UNITS;
        if queued >= config.mark_ticks {
            set_ecn(&mut frame, 3);
        }
        if self.lose(from, plane) || ruled || self.dead[plane] {
            self.lost += 1;
            return;
        }
        if config.reorder > 0.0 && self.rng.random_bool(config.reorder) {
            arrival += self.rng.random_range(0..=config.reorder_ticks * UNITS);
        }
        if config.duplicate > 0.0 && self.rng.random_bool(config.duplicate) {
            self.duplicated += 1;
            let late = arrival + self.rng.random_range(0..=20 * UNITS);
            self.push(late, InFlight { to: 1 - from, frame: frame.clone() });
        }
        self.push(arrival, InFlight { to: 1 - from, frame });
    }

    fn push(&mut self, at: u64, frame: InFlight) {
        self.serial += 1;
        self.events.push(Reverse((at, self.serial)));
        self.frames.insert(self.serial, frame);
    }

    /// The next frame that has arrived by `now`.
    pub fn pop(&mut self, now: u64) -> Option<InFlight> {
        let Reverse((at, serial)) = *self.events.peek()?;
        if at > now {
            return None;
        }
        self.events.pop();
        self.delivered += 1;
        self.frames.remove(&serial)
    }
}
