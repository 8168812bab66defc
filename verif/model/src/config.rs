//! Sizes of a NIC and the configuration of its connections, queue pairs and memory regions.
//! In: numbers from software. Out: checked numbers. The defaults are those of docs/protocol.md.

use crate::error::ConfigError;
use crate::sge::SGES_MAX;

/// Paths of a connection at most.
pub const PATHS_MAX: usize = 8;
/// A rate hint that limits nothing.
pub const RATE_UNLIMITED: u32 = 0x00FF_FFFF;

/// Operations that a NIC knows (section 11). Each stage has those of the ones before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// WRITE without immediate, NOP, ACK, PROBE; every other opcode is dropped (R1).
    Write,
    /// SEND and WRITE with immediate too, without D8 and fence; a receive has one SGE.
    Send,
    /// Everything.
    Full,
}

/// Sizes and registers of a NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NicConfig {
    /// Connections.
    pub conns: u32,
    /// Paths a connection may have: 1, 2, 4 or 8.
    pub paths_max: u8,
    /// Queue pairs.
    pub qps: u32,
    /// M: messages a stream may have outstanding. A power of two, 4..=64.
    pub msgs_per_stream: u32,
    /// Messages that wait in a connection.
    pub conn_fifo: u32,
    /// Memory regions.
    pub keys: u32,
    /// W: packets a path may have outstanding: 64, 128 or 256, and never more than the vector of the profile holds.
    pub window_pkts: u16,
    /// Outstanding packets of the whole NIC.
    pub pool_packets: u32,
    /// N of R8.
    pub ack_every: u8,
    /// Delay of a held acknowledgment (R8).
    pub ack_delay_ticks: u32,
    /// RTO_MIN of section 8.
    pub rto_min_ticks: u32,
    /// cap of R11: 0.95 * line rate * 16.384 us; 0 switches the hint off.
    pub epoch_cap_bytes: u32,
    /// Shared receive queues.
    pub srqs: u32,
    /// Requests (READ, atomic) of a connection's peer whose responses are not yet acknowledged, at most (D3).
    pub responses: u32,
    /// Which operations there are; less than all of them is for lockstep with RTL that has only these.
    pub stage: Stage,
    /// SGEs that a SEND or WRITE may have, 1 to 8, and a READ or atomic; less than 8 is for lockstep with RTL that has only these.
    pub sges: u8,
    pub request_sges: u8,
    /// Whether typed events are recorded.
    pub events: bool,
    /// Rule L3. Without it a burst's tail waits for the timer: only to measure what the rule is worth, no RTL lacks it.
    pub tail_probes: bool,
}

impl Default for NicConfig {
    fn default() -> Self {
        NicConfig {
            conns: 64,
            paths_max: 8,
            qps: 64,
            msgs_per_stream: 64,
            conn_fifo: 64,
            keys: 64,
            window_pkts: 256,
            pool_packets: 16_384,
            ack_every: 4,
            ack_delay_ticks: 125,
            rto_min_ticks: 782,
            epoch_cap_bytes: 0,
            srqs: 16,
            responses: 1024,
            stage: Stage::Full,
            sges: SGES_MAX as u8,
            request_sges: SGES_MAX as u8,
            events: false,
            tail_probes: true,
        }
    }
}

pub(crate) fn in_range(what: &'static str, value: u64, min: u64, max: u64) -> Result<(), ConfigError> {
    if value < min || value > max {
        return Err(ConfigError::Range { what, value, min, max });
    }
    Ok(())
}

fn power_of_two(what: &'static str, value: u64) -> Result<(), ConfigError> {
    if !value.is_power_of_two() {
        return Err(ConfigError::PowerOfTwo { what, value });
    }
    Ok(())
}

impl NicConfig {
    /// Checks every number.
    pub fn check(&self) -> Result<(), ConfigError> {
        in_range("conns", self.conns.into(), 1, 1 << 16)?;
        in_range("paths_max", self.paths_max.into(), 1, PATHS_MAX as u64)?;
        power_of_two("paths_max", self.paths_max.into())?;
        in_range("qps", self.qps.into(), 1, 1 << 24)?;
        in_range("msgs_per_stream", self.msgs_per_stream.into(), 4, 64)?;
        power_of_two("msgs_per_stream", self.msgs_per_stream.into())?;
        in_range("conn_fifo", self.conn_fifo.into(), 1, 1 << 20)?;
        in_range("keys", self.keys.into(), 1, 1 << 24)?;
        in_range("window_pkts", self.window_pkts.into(), 64, 256)?;
        power_of_two("window_pkts", self.window_pkts.into())?;
        in_range("pool_packets", self.pool_packets.into(), 16, 1 << 26)?;
        in_range("ack_every", self.ack_every.into(), 1, 7)?;
        in_range("ack_delay_ticks", self.ack_delay_ticks.into(), 1, 1 << 20)?;
        in_range("rto_min_ticks", self.rto_min_ticks.into(), 16, 1 << 20)?;
        in_range("srqs", self.srqs.into(), 0, 1 << 24)?;
        in_range("responses", self.responses.into(), 1, 1 << 20)?;
        in_range("sges", self.sges.into(), 1, SGES_MAX as u64)?;
        in_range("request_sges", self.request_sges.into(), 1, SGES_MAX as u64)?;
        in_range("epoch_cap_bytes", self.epoch_cap_bytes.into(), 0, (1 << 24) - 1)
    }
}

/// One path of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathConfig {
    pub enabled: bool,
    /// First UDP source port, the entropy of the path.
    pub udp_port: u16,
    /// First PPSN sent.
    pub tx_start_ppsn: u32,
    /// First PPSN expected.
    pub rx_start_ppsn: u32,
}

impl PathConfig {
    /// The usual path `index`: port 0xC000 + index, both sequences from `start`.
    pub fn new(index: u8, start: u32) -> Self {
        PathConfig { enabled: true, udp_port: 0xC000 + u16::from(index), tx_start_ppsn: start, rx_start_ppsn: start }
    }
}

/// A connection. `A` is the address type of the wire crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnConfig<A> {
    /// The number by which the peer knows this connection.
    pub peer_conn: u16,
    /// 1, 2, 4 or 8.
    pub paths: u8,
    /// 8..=12, i.e. 256..=4096 bytes.
    pub mtu_log2: u8,
    /// Packets a path may have in flight at first, 1 to W.
    pub init_window_pkts: u16,
    /// Timeouts of a path until the connection gives up, 0..=15; 15 counts as 14 (L4).
    pub retry_cnt: u8,
    /// First rate hint in Mbit/s; [`RATE_UNLIMITED`] for none.
    pub init_hint_mbps: u32,
    /// Addresses of both ends.
    pub addr: A,
    pub path: [PathConfig; PATHS_MAX],
}

impl<A> ConnConfig<A> {
    /// A connection with `paths` paths and the defaults: MTU 4096, window 16, 7 retries, no rate limit.
    pub fn new(peer_conn: u16, paths: u8, addr: A) -> Self {
        ConnConfig {
            peer_conn,
            paths,
            mtu_log2: 12,
            init_window_pkts: 16,
            retry_cnt: 7,
            init_hint_mbps: RATE_UNLIMITED,
            addr,
            path: core::array::from_fn(|i| PathConfig::new(i as u8, 0)),
        }
    }

    pub(crate) fn check(&self, nic: &NicConfig) -> Result<(), ConfigError> {
        in_range("paths", self.paths.into(), 1, nic.paths_max.into())?;
        power_of_two("paths", self.paths.into())?;
        in_range("mtu_log2", self.mtu_log2.into(), 8, 12)?;
        in_range("init_window_pkts", self.init_window_pkts.into(), 1, nic.window_pkts.into())?;
        in_range("retry_cnt", self.retry_cnt.into(), 0, 15)?;
        in_range("init_hint_mbps", self.init_hint_mbps.into(), 1, RATE_UNLIMITED.into())?;
        for path in &self.path[..self.paths as usize] {
            in_range("tx_start_ppsn", path.tx_start_ppsn.into(), 0, 0xFF_FFFF)?;
            in_range("rx_start_ppsn", path.rx_start_ppsn.into(), 0, 0xFF_FFFF)?;
        }
        Ok(())
    }
}

/// State of a queue pair (section 11). `Error` is entered by the first error too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum QpState {
    /// Exists; nothing may be posted.
    Reset,
    /// Receives may be posted.
    Init,
    /// Accepts packets.
    Rtr,
    /// Sends too.
    Rts,
    /// Takes no new work request; those that were taken are completed.
    Sqd,
    Error,
}

/// What the peer may do through a queue pair (D2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpAccess {
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
}

impl QpAccess {
    /// Everything.
    pub const ALL: QpAccess = QpAccess { remote_write: true, remote_read: true, remote_atomic: true };
}

/// A queue pair: one stream of messages in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QpConfig {
    /// The first state; RTR and later need an open connection.
    pub state: QpState,
    pub access: QpAccess,
    /// READs and atomics outstanding at most (D1).
    pub max_rd_atomic: u8,
    /// READs and atomics of the peer that are kept at most (D3).
    pub max_dest_rd_atomic: u8,
    /// N3; 7 is without limit.
    pub rnr_retry: u8,
    /// Q2: the IB encoding, 0..=31.
    pub min_rnr_timer: u8,
    /// The shared receive queue; without one the QP has its own.
    pub srq: Option<u32>,
    /// Receives that may be posted at a time; with a shared queue, how many rq_seqs are kept from the oldest without a completion on (at least
    /// the messages of a stream).
    pub recv_depth: u32,
    pub conn: u16,
    pub peer_qpn: u32,
    pub pd: u16,
    /// First MSN sent.
    pub tx_start_msn: u32,
    /// First MSN expected.
    pub rx_start_msn: u32,
    /// The completion ring has 2^cq_log2 entries; gives the phase bit.
    pub cq_log2: u8,
}

impl QpConfig {
    /// A queue pair in RTS with protection domain 0, MSNs from 0, a ring of 1024 completions, all rights, 16 READs and
    /// atomics each way, RNR retries without limit and a receive queue of its own.
    pub fn new(conn: u16, peer_qpn: u32) -> Self {
        QpConfig {
            state: QpState::Rts,
            access: QpAccess::ALL,
            max_rd_atomic: 16,
            max_dest_rd_atomic: 16,
            rnr_retry: 7,
            min_rnr_timer: 1,
            srq: None,
            recv_depth: 1024,
            conn,
            peer_qpn,
            pd: 0,
            tx_start_msn: 0,
            rx_start_msn: 0,
            cq_log2: 10,
        }
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        in_range("peer_qpn", self.peer_qpn.into(), 0, 0xFF_FFFF)?;
        in_range("tx_start_msn", self.tx_start_msn.into(), 0, 0xFF_FFFF)?;
        in_range("rx_start_msn", self.rx_start_msn.into(), 0, 0xFF_FFFF)?;
        in_range("cq_log2", self.cq_log2.into(), 0, 15)?;
        in_range("max_rd_atomic", self.max_rd_atomic.into(), 0, 128)?;
        in_range("max_dest_rd_atomic", self.max_dest_rd_atomic.into(), 0, 128)?;
        in_range("rnr_retry", self.rnr_retry.into(), 0, 7)?;
        in_range("min_rnr_timer", self.min_rnr_timer.into(), 0, 31)?;
        in_range("recv_depth", self.recv_depth.into(), 0, 1 << 20)
    }
}

/// Rights of a memory region. Local read is always allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Rights {
    pub local_write: bool,
    pub remote_write: bool,
    pub remote_read: bool,
    pub remote_atomic: bool,
}

impl Rights {
    /// From the bits local_write 0, remote_write 1, remote_read 2, remote_atomic 3.
    pub fn from_bits(bits: u8) -> Self {
        Rights {
            local_write: bits & 1 != 0,
            remote_write: bits & 2 != 0,
            remote_read: bits & 4 != 0,
            remote_atomic: bits & 8 != 0,
        }
    }
}

/// A memory region. Its key is `index << 8 | key_low`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct KeyConfig {
    pub valid: bool,
    pub key_low: u8,
    pub pd: u16,
    pub rights: Rights,
    /// First address as the key's users see it.
    pub base: u64,
    pub length: u64,
    /// Bus address of `base`.
    pub dma_base: u64,
}

/// lkey or rkey of region `index`.
pub const fn key_of(index: u32, key_low: u8) -> u32 {
    index << 8 | key_low as u32
}
