//! The baseline as an endpoint: RoCEv2 RC with go-back-N, one five-tuple for each queue pair, DCQCN.
//!
//! In and out: as the trait says. A flow has 1 or more queue pairs; each message is cut into as many parts, and is complete when
//! all are. Not modelled: PFC, retry limits, the adaptive retransmission of newer adapters.
pub mod config;
pub mod dcqcn;
pub mod qp;

use crate::endpoint::{Arrival, BuildError, Departure, Endpoint, EndpointStats, FlowEnd, Host, Next, Notice};
use crate::metaroce::FRAMING_BYTES;
use crate::time::{Ps, NEVER, PS_PER_US};
use crate::topology::mix;
use config::RoceConfig;
use qp::{Data, Receiver, Sender};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Ethernet, IPv4, UDP, BTH and ICRC, with framing.
const HEADER_BYTES: u32 = 14 + 20 + 8 + 12 + 4 + FRAMING_BYTES;
/// RETH, in the first packet of a message.
const RETH_BYTES: u32 = 16;
/// An acknowledgment (AETH: 4 bytes), or a congestion notification.
const CONTROL_BYTES: u32 = 64 + FRAMING_BYTES;

/// What a packet says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Data(Data),
    Ack {
        psn: u64,
    },
    Nak {
        psn: u64,
    },
    /// A congestion notification.
    Cnp,
}

/// Header of a packet on its way.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    /// Queue pair at the receiver.
    qp: u32,
    kind: Kind,
}

/// One queue pair of a flow.
#[derive(Debug)]
struct Qp {
    slot: u32,
    plane: u8,
    source_port: u16,
    sender: Sender,
    receiver: Receiver,
    /// Messages (parts) that are done here.
    done: u32,
}

/// The parts of a flow's messages.
#[derive(Debug, Clone, Copy)]
struct FlowState {
    /// Messages of which every part is done.
    done: u32,
}

const TIMEOUT: usize = 0;
const PACER: usize = 1;
const RATE: usize = 2;

/// RoCEv2 at a host.
pub struct RoceV2 {
    config: RoceConfig,
    ends: Vec<FlowEnd>,
    qps: Vec<Qp>,
    flows: Vec<FlowState>,
    /// Queue pairs that may have a packet, by plane.
    runnable: Vec<VecDeque<u32>>,
    /// Acknowledgments and notifications, by plane: queue pair and what to say.
    control: Vec<VecDeque<(u32, Kind)>>,
    timers: BinaryHeap<Reverse<(Ps, u32, u8)>>,
    notices: VecDeque<Notice>,
    /// Picoseconds of a byte at the rate of a port.
    ps_per_byte: f64,
    next_plane: usize,
    received_bytes: u64,
    stats: EndpointStats,
}

impl RoceV2 {
    fn arm(&mut self, qp: u32, timer: usize, at: Ps) {
        let armed = &mut self.qps[qp as usize].sender.armed[timer];
        if at < *armed {
            *armed = at;
            self.timers.push(Reverse((at, qp, timer as u8)));
        }
    }

    fn rto(&self) -> Ps {
        (self.config.rto_us * PS_PER_US as f64) as Ps
    }

    /// Puts a queue pair that has something to send into the queue of its plane.
    fn wake(&mut self, qp: u32) {
        let q = &mut self.qps[qp as usize];
        if !q.sender.queued && q.sender.has_packet(self.config.window_pkts) {
            q.sender.queued = true;
            self.runnable[q.plane as usize].push_back(qp);
        }
    }

    /// A part is done: the message is, when all its parts are.
    fn part_done(&mut self, qp: u32, count: u32, notice: fn(u32) -> Notice) {
        self.qps[qp as usize].done += count;
        let slot = self.qps[qp as usize].slot;
        let first = (slot * self.config.qps) as usize;
        let least = self.qps[first..first + self.config.qps as usize].iter().map(|q| q.done).min().unwrap_or(0);
        let flow = &mut self.flows[slot as usize];
        while flow.done < least {
            flow.done += 1;
            self.notices.push_back(notice(slot));
        }
    }

    fn take(&mut self, now: Ps, qp: u32) -> Option<Departure<Header>> {
        let config = &self.config;
        let q = &mut self.qps[qp as usize];
        q.sender.queued = false;
        if !q.sender.has_packet(config.window_pkts) {
            return None;
        }
        if q.sender.pace_at > now {
            let at = q.sender.pace_at;
            self.arm(qp, PACER, at);
            return None;
        }
        let again = q.sender.sent;
        let data = q.sender.take(now, config.mtu_bytes)?;
        let bytes = data.payload_bytes + HEADER_BYTES + if data.first { RETH_BYTES } else { 0 };
        if config.dcqcn && q.sender.rate.is_limited() {
            let gap = f64::from(bytes) * self.ps_per_byte / q.sender.rate.rate;
            q.sender.pace_at = q.sender.pace_at.max(now) + gap as Ps;
        }
        if data.psn < again {
            self.stats.resent += 1;
        } else {
            self.stats.new += 1;
        }
        let (slot, plane, source_port) = (q.slot, q.plane, q.source_port);
        let due = q.sender.last_progress + self.rto();
        self.arm(qp, TIMEOUT, due);
        self.wake(qp);
        let header = Header { qp: self.peer_qp(qp), kind: Kind::Data(data) };
        Some(Departure { header, slot, plane, source_port, bytes, is_ack: false })
    }

    fn peer_qp(&self, qp: u32) -> u32 {
        let slot = self.qps[qp as usize].slot;
        self.ends[slot as usize].peer_slot * self.config.qps + qp % self.config.qps
    }

    fn receive_data(&mut self, now: Ps, qp: u32, data: &Data, ecn_ce: bool) {
        let q = &mut self.qps[qp as usize];
        let control = &mut self.control[q.plane as usize];
        if ecn_ce && self.config.dcqcn && q.receiver.notified.is_none_or(|at| now >= at + dcqcn::CNP_INTERVAL) {
            q.receiver.notified = Some(now);
            control.push_back((qp, Kind::Cnp));
        }
        let answer = q.receiver.receive(data, &self.config);
        if let Some(psn) = answer.nak {
            control.push_back((qp, Kind::Nak { psn }));
        }
        if let Some(psn) = answer.ack {
            control.push_back((qp, Kind::Ack { psn }));
        }
        if answer.accepted {
            self.received_bytes += u64::from(data.payload_bytes);
        } else {
            self.stats.duplicates += 1;
        }
        if answer.message {
            self.part_done(qp, 1, |slot| Notice::Received { slot });
        }
    }

    fn acknowledged(&mut self, now: Ps, qp: u32, psn: u64, back: bool) {
        let sender = &mut self.qps[qp as usize].sender;
        let done = sender.acknowledged(now, psn);
        if back {
            sender.go_back(now);
        }
        if done > 0 {
            self.part_done(qp, done, |slot| Notice::Sent { slot });
        }
        self.wake(qp);
    }

    fn due(&mut self, now: Ps, qp: u32, timer: usize) {
        let rto = self.rto();
        let sender = &mut self.qps[qp as usize].sender;
        match timer {
            TIMEOUT if sender.outstanding() => {
                if now >= sender.last_progress + rto {
                    sender.go_back(now);
                    self.stats.timeouts += 1;
                }
                let at = sender.last_progress + rto;
                self.arm(qp, TIMEOUT, at);
            }
            RATE => {
                sender.rate.update();
                if sender.rate.is_limited() {
                    self.arm(qp, RATE, now + dcqcn::UPDATE_INTERVAL);
                }
            }
            _ => {}
        }
        self.wake(qp);
    }
}

impl Endpoint for RoceV2 {
    type Header = Header;
    type Config = RoceConfig;

    fn port_bytes(config: &RoceConfig) -> u64 {
        config.port_bytes
    }

    fn build(config: &RoceConfig, host: &Host<'_>) -> Result<Self, BuildError> {
        let mut qps = Vec::with_capacity(host.flows.len() * config.qps as usize);
        for (slot, end) in host.flows.iter().enumerate() {
            for part in 0..config.qps {
                let hash = mix(end.entropy ^ mix(u64::from(part) + 1));
                qps.push(Qp {
                    slot: slot as u32,
                    plane: (hash % host.planes as u64) as u8,
                    source_port: 0xC000 | (hash >> 32 & 0x3FFF) as u16,
                    sender: Sender::default(),
                    receiver: Receiver::default(),
                    done: 0,
                });
            }
        }
        Ok(RoceV2 {
            config: config.clone(),
            ends: host.flows.to_vec(),
            qps,
            flows: vec![FlowState { done: 0 }; host.flows.len()],
            runnable: vec![VecDeque::new(); host.planes],
            control: vec![VecDeque::new(); host.planes],
            timers: BinaryHeap::new(),
            notices: VecDeque::new(),
            ps_per_byte: 8000.0 / (host.rate_gbps / host.planes as f64),
            next_plane: 0,
            received_bytes: 0,
            stats: EndpointStats::default(),
        })
    }

    fn post(&mut self, _: Ps, slot: u32, bytes: u32) {
        let parts = self.config.qps;
        for part in 0..parts {
            let qp = slot * parts + part;
            let from = u64::from(bytes) * u64::from(part) / u64::from(parts);
            let to = u64::from(bytes) * u64::from(part + 1) / u64::from(parts);
            self.qps[qp as usize].sender.post((to - from) as u32, self.config.mtu_bytes);
            self.wake(qp);
        }
    }

    fn receive(&mut self, now: Ps, arrival: &Arrival<'_, Header>) {
        let Header { qp, kind } = *arrival.header;
        match kind {
            Kind::Data(data) => self.receive_data(now, qp, &data, arrival.ecn_ce),
            Kind::Ack { psn } => self.acknowledged(now, qp, psn, false),
            Kind::Nak { psn } => self.acknowledged(now, qp, psn, true),
            Kind::Cnp => {
                self.qps[qp as usize].sender.rate.notify();
                self.arm(qp, RATE, now + dcqcn::UPDATE_INTERVAL);
            }
        }
    }

    fn next(&mut self, now: Ps, full_ports: u32) -> Next<Header> {
        let planes = self.runnable.len();
        let mut held = false;
        for i in 0..planes {
            let plane = (self.next_plane + i) % planes;
            if full_ports & (1 << plane) != 0 {
                held |= !self.control[plane].is_empty() || !self.runnable[plane].is_empty();
                continue;
            }
            if let Some((qp, kind)) = self.control[plane].pop_front() {
                self.stats.acks += 1;
                let header = Header { qp: self.peer_qp(qp), kind };
                let q = &self.qps[qp as usize];
                let (slot, source_port) = (q.slot, q.source_port);
                let departure = Departure { header, slot, plane: plane as u8, source_port, bytes: CONTROL_BYTES, is_ack: true };
                return Next::Packet(departure);
            }
            while let Some(qp) = self.runnable[plane].pop_front() {
                if let Some(departure) = self.take(now, qp) {
                    self.next_plane = (plane + 1) % planes;
                    return Next::Packet(departure);
                }
            }
        }
        if held {
            Next::PortFull
        } else {
            Next::Idle
        }
    }

    fn timer(&self, now: Ps) -> Option<Ps> {
        self.timers.peek().map(|Reverse((at, ..))| (*at).max(now + 1))
    }

    fn on_timer(&mut self, now: Ps) {
        while let Some(&Reverse((at, qp, timer))) = self.timers.peek() {
            if at > now {
                break;
            }
            self.timers.pop();
            let timer = timer as usize;
            let armed = &mut self.qps[qp as usize].sender.armed[timer];
            if *armed == at {
                *armed = NEVER;
                self.due(now, qp, timer);
            }
        }
    }

    fn notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn received_bytes(&self) -> u64 {
        self.received_bytes
    }

    fn stats(&self) -> EndpointStats {
        self.stats
    }

    fn round_trips(&self, _: u32) -> Option<u32> {
        None
    }

    fn allowed_mbps(&self, _: u32) -> Option<f64> {
        None
    }
}
