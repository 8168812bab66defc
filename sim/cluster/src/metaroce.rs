//! The golden model as an endpoint: one connection and one queue pair for each flow, RDMA WRITE without payload bytes.
//!
//! In and out: as the trait says. Path `i` of a connection uses plane `i` modulo the planes, from a random first one on.
//! All decisions are the model's; this file only translates.
use crate::endpoint::{Arrival, BuildError, Departure, Endpoint, EndpointStats, FlowEnd, Host, Next, Notice};
use crate::network::config::{refuse, ConfigFault};
use crate::time::{tick, time_of_tick, Ps};
use crate::topology::mix;
use mrnic_model::memory::NoMemory;
use mrnic_model::{
    Aimd, CongestionControl, ConnConfig, KeyConfig, LossCuts, MrcLike, NetAddr, Nic, NicConfig, OpenMr0, Outgoing, PathConfig,
    PostError, Profile, QpConfig, Received, Rights, Status, Wqe, RATE_UNLIMITED,
};
use mrnic_wire::{Body, IpVersion, Packet};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Preamble, FCS and gap of Ethernet.
pub const FRAMING_BYTES: u32 = 24;

/// The `[metaroce]` table.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MetaRoceConfig {
    /// 1, 2, 4 or 8.
    pub paths: u8,
    pub mtu_bytes: u32,
    /// Of each path, in packets.
    pub init_window_pkts: u16,
    pub retry_cnt: u8,
    pub rto_min_us: f64,
    pub ack_every: u8,
    pub ack_delay_us: f64,
    /// Share of the line rate that the receiver's rate hint gives out; 0: no hint.
    pub hint_share: f64,
    /// Messages that a flow may have outstanding.
    pub messages: u32,
    /// What may wait in each port of the host. The engine is one pipeline: it waits while any port is full.
    pub port_bytes: u64,
    /// The vector of acknowledgments has 64 bits instead of 256.
    pub short_vector: bool,
    /// Rule L3; without it only the timer finds a loss at the end of a burst.
    pub tail_probes: bool,
    /// A loss halves the window, against rule C1.
    pub loss_cuts: bool,
}

impl Default for MetaRoceConfig {
    fn default() -> Self {
        MetaRoceConfig {
            paths: 8,
            mtu_bytes: 4096,
            init_window_pkts: 2,
            retry_cnt: 7,
            rto_min_us: 100.0,
            ack_every: 4,
            ack_delay_us: 4.0,
            hint_share: 0.95,
            messages: 16,
            port_bytes: 64_000,
            short_vector: false,
            tail_probes: true,
            loss_cuts: false,
        }
    }
}

impl MetaRoceConfig {
    /// Checks every value. Keys are those of the `[metaroce]` table.
    pub fn check(&self) -> Result<(), ConfigFault> {
        if ![1, 2, 4, 8].contains(&self.paths) {
            return refuse("paths", self.paths, "not a number of paths", "choose 1, 2, 4 or 8");
        }
        if !self.mtu_bytes.is_power_of_two() || !(256..=4096).contains(&self.mtu_bytes) {
            return refuse("mtu_bytes", self.mtu_bytes, "not an MTU", "choose 256, 512, 1024, 2048 or 4096");
        }
        let window_max = if self.short_vector { 64 } else { 256 };
        if !(1..=window_max).contains(&self.init_window_pkts) {
            let remedy = format!("choose from 1 to {window_max}, the bits of the vector");
            return refuse("init_window_pkts", self.init_window_pkts, "not a window", &remedy);
        }
        if self.retry_cnt > 15 {
            return refuse("retry_cnt", self.retry_cnt, "more than 15", "choose 7 for a start");
        }
        if !(2.1..=100_000.0).contains(&self.rto_min_us) {
            return refuse("rto_min_us", self.rto_min_us, "not a timeout", "choose from 2.1 to 100000");
        }
        if !(1..=7).contains(&self.ack_every) {
            return refuse("ack_every", self.ack_every, "outside 1..=7", "choose 4 for a start");
        }
        if !(0.2..=100_000.0).contains(&self.ack_delay_us) {
            return refuse("ack_delay_us", self.ack_delay_us, "not a delay", "choose from 0.2 to 100000");
        }
        if !(0.0..=1.0).contains(&self.hint_share) {
            return refuse("hint_share", self.hint_share, "not a share of the line rate", "choose from 0.0 to 1.0");
        }
        if !self.messages.is_power_of_two() || !(4..=64).contains(&self.messages) {
            return refuse("messages", self.messages, "not a depth of the model", "choose 4, 8, 16, 32 or 64");
        }
        if self.loss_cuts && self.short_vector {
            return refuse("loss_cuts", "true", "short_vector is set too", "change one of the two at a time");
        }
        check_port(self.port_bytes)
    }
}

/// A port holds a packet, and no more than the model can say.
pub(crate) fn check_port(port_bytes: u64) -> Result<(), ConfigFault> {
    if (4400..=1_000_000_000).contains(&port_bytes) {
        return Ok(());
    }
    refuse("port_bytes", port_bytes, "does not hold a packet, or is no queue of a port", "choose from 4400 to 1000000000")
}

/// Header of a packet on its way.
#[derive(Debug, Clone, Copy)]
pub struct Header {
    packet: Packet,
    payload_bytes: u32,
    source_port: u16,
}

/// Round trips that a sender has measured.
#[derive(Debug, Clone, Copy, Default)]
struct RoundTrips {
    over: u32,
    /// Time stamp of the first packet of the one that is under way.
    since: Option<u16>,
}

impl RoundTrips {
    fn sent(&mut self, ts: u16) {
        self.since.get_or_insert(ts);
    }

    /// An acknowledgment echoes the time stamp of a packet.
    fn acknowledged(&mut self, ts_echo: u16) {
        if self.since.is_some_and(|since| (ts_echo.wrapping_sub(since) as i16) >= 0) {
            self.over += 1;
            self.since = None;
        }
    }
}

/// The golden model at a host.
pub struct MetaRoce<P: Profile, C: CongestionControl = Aimd> {
    nic: Nic<P, C>,
    ends: Vec<FlowEnd>,
    planes: usize,
    /// Messages that the model had no room for, and what posted them.
    waiting: Vec<VecDeque<u32>>,
    round_trips: Vec<RoundTrips>,
    notices: VecDeque<Notice>,
}

/// The usual vector of 256 bits.
pub type MetaRoce256 = MetaRoce<OpenMr0>;
/// The vector of 64 bits.
pub type MetaRoce64 = MetaRoce<MrcLike>;
/// With a window that losses cut.
pub type MetaRoceLossCuts = MetaRoce<OpenMr0, LossCuts>;

fn address(from: u32, to: u32) -> NetAddr {
    let mac = |host: u32| {
        let b = host.to_be_bytes();
        [2, 0, b[0], b[1], b[2], b[3]]
    };
    let ip = |host: u32| {
        let b = host.to_be_bytes();
        [10, b[1], b[2], b[3]]
    };
    NetAddr::v4(mac(from), mac(to), ip(from), ip(to))
}

fn ticks(us: f64) -> u32 {
    (us * 1000.0 / 128.0).ceil() as u32
}

/// The NIC of a host.
fn nic_config(config: &MetaRoceConfig, host: &Host<'_>) -> NicConfig {
    let flows = host.flows.len().max(1) as u32;
    // R11: bytes of 16.384 us at this share of the line rate.
    let cap = config.hint_share * host.rate_gbps * 1000.0 / 8.0 * 16.384;
    NicConfig {
        conns: flows,
        paths_max: 8,
        qps: flows,
        msgs_per_stream: config.messages,
        conn_fifo: config.messages,
        keys: 1,
        pool_packets: (flows * 8 * 64).clamp(1 << 12, 1 << 16),
        ack_every: config.ack_every,
        ack_delay_ticks: ticks(config.ack_delay_us),
        rto_min_ticks: ticks(config.rto_min_us),
        epoch_cap_bytes: cap as u32,
        tail_probes: config.tail_probes,
        srqs: 0,
        responses: 1,
        ..NicConfig::default()
    }
}

fn conn_config(config: &MetaRoceConfig, end: &FlowEnd) -> ConnConfig<NetAddr> {
    let mut conn = ConnConfig::new(end.peer_slot as u16, config.paths, address(end.host, end.peer));
    conn.mtu_log2 = config.mtu_bytes.trailing_zeros() as u8;
    conn.init_window_pkts = config.init_window_pkts;
    conn.retry_cnt = config.retry_cnt;
    conn.init_hint_mbps = RATE_UNLIMITED;
    let direction = u64::from(end.sends) << 32;
    conn.path = std::array::from_fn(|i| PathConfig {
        udp_port: 0xC000 | (mix(end.entropy ^ direction ^ i as u64) & 0x3FFF) as u16,
        ..PathConfig::new(i as u8, 0)
    });
    conn
}

impl<P: Profile, C: CongestionControl> MetaRoce<P, C> {
    fn plane(&self, end: &FlowEnd, path: u8) -> u8 {
        ((end.entropy as usize % self.planes + path as usize) % self.planes) as u8
    }

    fn collect(&mut self) {
        while let Some(cqe) = self.nic.poll_completion() {
            let slot = cqe.qpn;
            let done = if cqe.status == Status::Success { Notice::Sent { slot } } else { Notice::Failed { slot } };
            self.notices.push_back(done);
            if let Some(bytes) = self.waiting[slot as usize].pop_front() {
                self.try_post(slot, bytes, true);
            }
        }
    }

    fn try_post(&mut self, slot: u32, bytes: u32, first: bool) {
        let wqe = Wqe { signaled: true, length: bytes, ..Wqe::default() };
        let waiting = &mut self.waiting[slot as usize];
        if !first && !waiting.is_empty() {
            waiting.push_back(bytes);
            return;
        }
        match self.nic.post_send(slot, &wqe) {
            Ok(()) => {}
            Err(PostError::QpFull { .. } | PostError::ConnFull { .. }) => waiting.push_front(bytes),
            Err(_) => self.notices.push_back(Notice::Failed { slot }),
        }
    }
}

impl<P: Profile, C: CongestionControl + Default> Endpoint for MetaRoce<P, C> {
    type Header = Header;
    type Config = MetaRoceConfig;

    fn port_bytes(config: &MetaRoceConfig) -> u64 {
        config.port_bytes
    }

    fn build(config: &MetaRoceConfig, host: &Host<'_>) -> Result<Self, BuildError> {
        let fail = |e: mrnic_model::ConfigError| BuildError { host: host.host, reason: e.to_string() };
        let mut nic = Nic::new(nic_config(config, host)).map_err(fail)?;
        let rights = Rights { local_write: true, remote_write: true, ..Rights::default() };
        nic.register_key(0, &KeyConfig { valid: true, rights, length: 1 << 40, ..KeyConfig::default() }).map_err(fail)?;
        for (slot, end) in host.flows.iter().enumerate() {
            nic.open_connection(0, slot as u16, &conn_config(config, end)).map_err(fail)?;
            let qp = QpConfig {
                recv_depth: 0,
                max_rd_atomic: 0,
                max_dest_rd_atomic: 0,
                ..QpConfig::new(slot as u16, end.peer_slot)
            };
            nic.open_qp(slot as u32, &qp).map_err(fail)?;
        }
        Ok(MetaRoce {
            nic,
            ends: host.flows.to_vec(),
            planes: host.planes,
            waiting: vec![VecDeque::new(); host.flows.len()],
            round_trips: vec![RoundTrips::default(); host.flows.len()],
            notices: VecDeque::with_capacity(16),
        })
    }

    fn post(&mut self, _: Ps, slot: u32, bytes: u32) {
        self.try_post(slot, bytes, false);
        self.collect();
    }

    fn receive(&mut self, now: Ps, arrival: &Arrival<'_, Header>) {
        let before = self.nic.counters().rx_messages;
        let Header { packet, payload_bytes, source_port } = arrival.header;
        if let Body::Ack(ack) = &packet.body {
            if let (true, Some(trips)) = (ack.flags.ts_valid, self.round_trips.get_mut(usize::from(packet.mph.conn))) {
                trips.acknowledged(ack.ts_echo);
            }
        }
        let ecn_ce = arrival.ecn_ce;
        let received = Received { packet, udp_src: *source_port, ecn_ce, payload_len: *payload_bytes, payload: None };
        self.nic.handle_parsed(tick(now), &received, &mut NoMemory);
        for _ in before..self.nic.counters().rx_messages {
            self.notices.push_back(Notice::Received { slot: packet.dest_qp });
        }
        self.collect();
    }

    fn next(&mut self, now: Ps, full_ports: u32) -> Next<Header> {
        // The engine is one pipeline for all ports: it waits for each of them.
        if full_ports != 0 {
            return Next::PortFull;
        }
        let Some(outgoing) = self.nic.poll_outgoing(tick(now)) else { return Next::Idle };
        let (packet, slot, path, source_port, payload_bytes) = match &outgoing {
            Outgoing::Ack(ack) => (ack.packet::<P>(), ack.conn, ack.via, ack.udp_port, 0),
            Outgoing::Probe(probe) => (probe.packet::<P>(), probe.conn, probe.path, probe.udp_port, 0),
            Outgoing::Data(data) => {
                self.round_trips[usize::from(data.conn)].sent(data.ts);
                (data.packet(), data.conn, data.via, data.udp_port, data.len)
            }
        };
        let frame = P::frame_len(packet.opcode(), false, payload_bytes as usize, IpVersion::V4) as u32;
        Next::Packet(Departure {
            header: Header { packet, payload_bytes, source_port },
            slot: slot.into(),
            plane: self.plane(&self.ends[slot as usize], path),
            source_port,
            bytes: frame.max(60) + FRAMING_BYTES,
            is_ack: matches!(outgoing, Outgoing::Ack(_)),
        })
    }

    fn timer(&self, now: Ps) -> Option<Ps> {
        self.nic.poll_timeout().map(|due| time_of_tick(now, due))
    }

    fn on_timer(&mut self, now: Ps) {
        self.nic.handle_timeout(tick(now));
        self.collect();
    }

    fn notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    fn received_bytes(&self) -> u64 {
        self.nic.counters().rx_placed_bytes
    }

    fn stats(&self) -> EndpointStats {
        let c = self.nic.counters();
        EndpointStats {
            new: c.tx_new,
            resent: c.tx_resent,
            acks: c.acks_made,
            probes: c.tx_probes_tail + c.tx_probes_timeout,
            timeouts: c.tx_probes_timeout,
            duplicates: c.rx_duplicates,
            paths_down: c.path_down,
            paths_up: c.path_up,
        }
    }

    fn round_trips(&self, slot: u32) -> Option<u32> {
        self.round_trips.get(slot as usize).map(|trips| trips.over)
    }

    fn allowed_mbps(&self, slot: u32) -> Option<f64> {
        let hint = self.nic.tx_conn(slot as u16).ok()?.hint;
        (hint != RATE_UNLIMITED).then_some(f64::from(hint))
    }
}
