//! What happened on each path, for the table and the plots.
//!
//! In: records and frames of one node. Out: counts by path and bounded time series. Guarantees: memory use is bounded
//! whatever the length of the run.
use mrnic_lockstep::{Kind, Record};
use serde::Serialize;
use std::collections::BTreeMap;

/// Nanoseconds of a tick.
pub const TICK_NS: u64 = 128;
const POINTS: usize = 6000;

/// A path of the sender.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PathStats {
    pub plane: usize,
    pub packets: u64,
    pub resent: u64,
    pub moved: u64,
    pub bytes: u64,
    /// Duplicates that the receiver of this path counted.
    pub duplicates: u64,
    /// Packets that arrived marked.
    pub ce_marks: u64,
    pub rtt_ns: u64,
    pub window_pkts: u64,
    pub probes: u64,
    pub lost_l1: u64,
    pub lost_l2: u64,
    pub state: u64,
}

/// A series that halves its resolution when it is full.
#[derive(Debug, Clone, Serialize)]
pub struct Series {
    pub points: Vec<(f64, f64)>,
    #[serde(skip)]
    keep_every: usize,
    #[serde(skip)]
    seen: usize,
}

impl Default for Series {
    fn default() -> Self {
        Self { points: Vec::new(), keep_every: 1, seen: 0 }
    }
}

impl Series {
    fn push(&mut self, x: f64, y: f64) {
        if self.seen.is_multiple_of(self.keep_every) {
            self.points.push((x, y));
            if self.points.len() >= POINTS {
                let mut i = 0;
                self.points.retain(|_| {
                    i += 1;
                    i % 2 == 1
                });
                self.keep_every *= 2;
            }
        }
        self.seen += 1;
    }
}

/// The series of one path: microseconds against packets.
#[derive(Debug, Clone, Default, Serialize)]
pub struct PathSeries {
    pub sent: Series,
    pub resent: Series,
    pub window: Series,
}

/// Cycle counts of one node, for the figures of `mrnic bench`.
#[derive(Debug, Clone, Default)]
pub struct Timing {
    /// Cycle of the last beat, and length, of each frame sent.
    pub frames: Vec<(u64, usize)>,
    /// Cycles from the acknowledgment that revealed a loss to the slot of the first resend.
    pub resend_slots: Vec<u64>,
    /// Cycle of each slot that sent a new packet.
    pub slots: Vec<u64>,
    /// Cycle of each data packet accepted for the first time.
    pub accepted: Vec<u64>,
    revealed: BTreeMap<(u64, u64), u64>,
}

/// Entries of each list of [`Timing`].
const TIMINGS: usize = 200_000;

impl Timing {
    /// Takes a frame that was sent.
    pub fn frame(&mut self, cycle: u64, len: usize) {
        if self.frames.len() < TIMINGS {
            self.frames.push((cycle, len));
        }
    }

    fn record(&mut self, r: &Record) {
        match r.kind {
            // a window that is full keeps the resend back for another reason than the engine's speed
            Kind::Ack if r.get("lost_l1") > 0 && r.get("pipe") < r.get("window") => {
                self.revealed.entry((r.get("conn"), r.get("home"))).or_insert(r.cycle);
            }
            Kind::Grant if r.get("kind") == 1 => {
                if let Some(at) = self.revealed.remove(&(r.get("conn"), r.get("home"))) {
                    push(&mut self.resend_slots, r.cycle - at);
                }
            }
            Kind::Grant if r.get("kind") == 0 => push(&mut self.slots, r.cycle),
            Kind::Rx if r.get("kind") == 0 && r.get("class") == 0 => push(&mut self.accepted, r.cycle),
            _ => {}
        }
    }
}

/// Everything of one node, in order, where a test asks for it.
#[derive(Debug, Clone, Default)]
pub struct Log {
    pub records: Vec<Record>,
    /// Cycle of the last beat, and bytes, of each frame sent.
    pub frames: Vec<(u64, Vec<u8>)>,
}

fn push(list: &mut Vec<u64>, value: u64) {
    if list.len() < TIMINGS {
        list.push(value);
    }
}

/// Counts and series of one node as a sender.
#[derive(Debug, Clone, Default)]
pub struct Recorder {
    pub timing: Timing,
    period_ps: u64,
    pub paths: BTreeMap<(u64, u64), PathStats>,
    pub series: BTreeMap<(u64, u64), PathSeries>,
    first: BTreeMap<(u64, u64), u64>,
    rx: BTreeMap<(u64, u64), (u64, u64)>,
    pub records: u64,
    /// Not bounded; kept only if asked for.
    pub log: Option<Log>,
}

impl Recorder {
    /// A recorder for a clock of that period.
    pub fn new(period_ps: u64) -> Self {
        Self { period_ps, ..Default::default() }
    }

    /// Takes a frame that was sent.
    pub fn frame(&mut self, cycle: u64, frame: &[u8]) {
        self.timing.frame(cycle, frame.len());
        if let Some(log) = &mut self.log {
            log.frames.push((cycle, frame.to_vec()));
        }
    }

    /// Takes a record.
    pub fn record(&mut self, r: &Record) {
        self.records += 1;
        if let Some(log) = &mut self.log {
            log.records.push(r.clone());
        }
        self.timing.record(r);
        let us = (r.cycle * self.period_ps) as f64 / 1e6;
        match r.kind {
            Kind::Grant if r.get("kind") < 2 => {
                let key = (r.get("conn"), r.get("home"));
                let first = *self.first.entry(key).or_insert(r.get("ppsn"));
                let offset = (r.get("ppsn").wrapping_sub(first) & 0xFF_FFFF) as f64;
                let p = self.paths.entry(key).or_default();
                let s = self.series.entry(key).or_default();
                if r.get("rtx") == 1 {
                    p.resent += 1;
                    p.moved += r.get("moved");
                    s.resent.push(us, offset);
                } else {
                    p.packets += 1;
                    p.bytes += r.get("bytes");
                    s.sent.push(us, offset);
                }
            }
            Kind::Ack if r.get("verdict") == 0 => {
                let key = (r.get("conn"), r.get("home"));
                let p = self.paths.entry(key).or_default();
                p.rtt_ns = (r.get("srtt8") >> 3) * TICK_NS;
                p.window_pkts = r.get("window");
                p.lost_l1 += r.get("lost_l1");
                p.lost_l2 += r.get("lost_l2");
                p.state = r.get("state");
                self.series.entry(key).or_default().window.push(us, r.get("window") as f64);
            }
            Kind::Timer => {
                let key = (r.get("conn"), r.get("path"));
                let p = self.paths.entry(key).or_default();
                p.probes += 1;
                p.state = r.get("state");
                p.window_pkts = r.get("window");
                self.series.entry(key).or_default().window.push(us, r.get("window") as f64);
            }
            Kind::Rx if r.get("kind") == 0 => {
                self.rx.insert((r.get("conn"), r.get("home")), (r.get("dup"), r.get("ce")));
            }
            _ => {}
        }
    }

    /// Duplicates and CE marks that this node counted as a receiver, by (connection, path).
    pub fn received(&self) -> &BTreeMap<(u64, u64), (u64, u64)> {
        &self.rx
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_series_stays_bounded_and_keeps_its_ends() {
        let mut s = Series::default();
        for i in 0..1_000_000 {
            s.push(f64::from(i), 1.0);
        }
        assert!(s.points.len() < POINTS);
        assert_eq!(s.points[0].0, 0.0);
        assert!(s.points.last().unwrap().0 > 999_000.0);
    }
}
