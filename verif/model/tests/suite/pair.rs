//! Two NICs, their host memories and the fabric between them, in virtual time.
//! Checks after every event: timers are armed where they must be, and no byte is placed twice.

use mrnic_model::congestion::CongestionControl;
use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::*;

use crate::fabric::{Fabric, FabricConfig, UNITS};

pub const LKEY: u32 = key_of(1, 0x11);
pub const RKEY: u32 = key_of(2, 0x22);
/// Addresses as the keys' users see them, and on the bus.
pub const LBASE: u64 = 0x10_0000;
pub const RBASE: u64 = 0x7700_0000_0003;
pub const SOURCE: u64 = 0x1000_0000;
pub const TARGET: u64 = 0x9000_0000;

/// Host memory: a source area and a target area that counts writes of each byte.
pub struct Memory {
    pub source: Vec<u8>,
    pub target: Vec<u8>,
    pub hits: Vec<u8>,
}

impl Memory {
    pub fn new(bytes: usize) -> Self {
        let source = (0..bytes as u32).map(|i| (i.wrapping_mul(0x9E37_79B1) >> 24) as u8).collect();
        Memory { source, target: vec![0; bytes], hits: vec![0; bytes] }
    }
}

impl HostMemory for Memory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        let fault = MemoryError { addr, len: buf.len() as u32 };
        let at = addr.checked_sub(SOURCE).ok_or(fault)? as usize;
        buf.copy_from_slice(self.source.get(at..at + buf.len()).ok_or(fault)?);
        Ok(())
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        let fault = MemoryError { addr, len: data.len() as u32 };
        let at = addr.checked_sub(TARGET).ok_or(fault)? as usize;
        let end = at + data.len();
        self.target.get_mut(at..end).ok_or(fault)?.copy_from_slice(data);
        for hit in &mut self.hits[at..end] {
            *hit = hit.saturating_add(1);
        }
        Ok(())
    }
}

/// How a pair is set up.
#[derive(Clone)]
pub struct Setup {
    pub paths: u8,
    pub mtu_log2: u8,
    pub window: u16,
    pub retry: u8,
    pub start_ppsn: u32,
    pub start_msn: u32,
    pub qps: u32,
    pub bytes: usize,
    pub hint: u32,
    pub nic: NicConfig,
    pub fabric: FabricConfig,
    pub seed: u64,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            paths: 8,
            mtu_log2: 12,
            window: 16,
            retry: 7,
            start_ppsn: 0,
            start_msn: 0,
            qps: 2,
            bytes: 1 << 20,
            hint: RATE_UNLIMITED,
            nic: NicConfig { conns: 4, qps: 16, keys: 8, pool_packets: 4096, stage: Stage::Write, ..NicConfig::default() },
            fabric: FabricConfig::default(),
            seed: seed(1),
        }
    }
}

/// The seed of a random test: MRNIC_SEED if set. Printed, so that a failure can be repeated.
pub fn seed(default: u64) -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    println!("seed {seed} (repeat with MRNIC_SEED={seed})");
    seed
}

pub struct Pair<P: Profile = OpenMr0, C: CongestionControl = Aimd> {
    pub nic: [Nic<P, C>; 2],
    pub mem: [Memory; 2],
    pub fabric: Fabric,
    /// Units of virtual time.
    pub now: u64,
    pub cqes: [Vec<Cqe>; 2],
    pub events: [Vec<Event>; 2],
    link_free: [u64; 2],
    pub paths: u8,
    buf: Vec<u8>,
}

pub fn address(from: u8, to: u8) -> NetAddr {
    NetAddr::v4([2, 0, 0, 0, 0, from], [2, 0, 0, 0, 0, to], [10, 0, 0, from], [10, 0, 0, to])
}

pub fn conn_config(side: u8, setup: &Setup) -> ConnConfig<NetAddr> {
    let mut config = ConnConfig::new(0, setup.paths, address(side + 1, 2 - side));
    config.mtu_log2 = setup.mtu_log2;
    config.init_window_pkts = setup.window;
    config.retry_cnt = setup.retry;
    config.init_hint_mbps = setup.hint;
    config.path = core::array::from_fn(|i| PathConfig::new(i as u8, setup.start_ppsn));
    config
}

pub fn keys<P: Profile, C: CongestionControl>(nic: &mut Nic<P, C>, bytes: u64) {
    let local = KeyConfig { valid: true, key_low: 0x11, base: LBASE, length: bytes, dma_base: SOURCE, ..KeyConfig::default() };
    let remote = KeyConfig { key_low: 0x22, rights: Rights::from_bits(0b11), base: RBASE, dma_base: TARGET, ..local };
    nic.register_key(1, &local).unwrap();
    nic.register_key(2, &remote).unwrap();
}

impl<P: Profile> Pair<P, Aimd> {
    pub fn new(setup: &Setup) -> Self {
        Pair::with(setup)
    }
}

impl<P: Profile, C: CongestionControl + Default> Pair<P, C> {
    pub fn with(setup: &Setup) -> Self {
        let config = NicConfig { events: true, ..setup.nic };
        let nic = [0u8, 1].map(|side| {
            let mut nic = Nic::<P, C>::new(config).unwrap();
            nic.open_connection(0, 0, &conn_config(side, setup)).unwrap();
            for qpn in 0..setup.qps {
                let qp = QpConfig { tx_start_msn: setup.start_msn, rx_start_msn: setup.start_msn, ..QpConfig::new(0, qpn) };
                nic.open_qp(qpn, &qp).unwrap();
            }
            keys(&mut nic, setup.bytes as u64);
            nic
        });
        Pair {
            nic,
            mem: [Memory::new(setup.bytes), Memory::new(setup.bytes)],
            fabric: Fabric::new(setup.fabric.clone(), setup.paths as usize, setup.seed),
            now: 0,
            cqes: Default::default(),
            events: Default::default(),
            link_free: [0; 2],
            paths: setup.paths,
            buf: vec![0; FRAME_BYTES_MAX],
        }
    }
}

/// A signaled WRITE of `len` bytes from offset `from` of the source to offset `to` of the target.
pub fn write(wr_id: u64, from: u64, to: u64, len: u32) -> Wqe {
    Wqe {
        opcode: 0,
        signaled: true,
        lkey: LKEY,
        laddr: LBASE + from,
        raddr: RBASE + to,
        rkey: RKEY,
        length: len,
        wr_id,
        ..Wqe::default()
    }
}

/// Outstanding work means that a timer is armed, the connection will run, or a packet is in flight.
pub fn check_liveness<P: Profile, C: CongestionControl>(nic: &Nic<P, C>, side: usize, paths: u8) {
    for path in 0..paths {
        assert!(nic.timer_armed_if_needed(0, path), "side {side} path {path}: work but no timer");
    }
    let Ok(tx) = nic.tx_conn(0) else { return };
    let waits = tx.fifo.len() + tx.responses.fifo.len() > 0;
    let outstanding = (0..paths).any(|p| {
        let path = nic.tx_path(0, p).unwrap();
        path.span() > 0 || matches!(path.state, PathState::Suspect | PathState::Down)
    });
    assert!(!waits || (outstanding && !tx.error) || nic.will_run(0), "side {side}: messages wait and nothing will happen");
}

impl<P: Profile, C: CongestionControl> Pair<P, C> {
    pub fn tick(&self) -> Tick {
        (self.now / UNITS) as Tick
    }

    pub fn post(&mut self, side: usize, qpn: u32, wqe: Wqe) {
        self.nic[side].post_send(qpn, &wqe).unwrap();
        self.collect();
    }

    fn collect(&mut self) {
        for side in 0..2 {
            while let Some(cqe) = self.nic[side].poll_completion() {
                self.cqes[side].push(cqe);
            }
            while let Some(event) = self.nic[side].poll_event() {
                self.events[side].push(event);
            }
        }
    }

    fn check_invariants(&self) {
        for (side, nic) in self.nic.iter().enumerate() {
            check_liveness(nic, side, self.paths);
        }
    }

    fn transmit(&mut self, side: usize) {
        let tick = self.tick();
        while self.link_free[side] <= self.now {
            let Some(t) = self.nic[side].poll_transmit(tick, &mut self.buf, &self.mem[side]) else { return };
            let rate = self.fabric.config.bytes_per_tick * u64::from(self.paths);
            self.link_free[side] = self.link_free[side].max(self.now) + (t.len as u64 + 24) * UNITS / rate;
            let frame = self.buf[..t.len].to_vec();
            self.fabric.send(self.now, side, t.path as usize, t.kind, frame);
        }
    }

    /// One event. False if nothing will ever happen again.
    pub fn step(&mut self) -> bool {
        for side in 0..2 {
            self.transmit(side);
        }
        self.collect();
        self.check_invariants();
        let tick = self.tick();
        let timers = (0..2).filter_map(|s| self.nic[s].poll_timeout()).map(|t| {
            let ahead = t.wrapping_sub(tick) as i32;
            (u64::from(tick) + ahead.max(0) as u64) * UNITS
        });
        // A link that is busy now may have more to send when it is free.
        let links = self.link_free.iter().copied().filter(|&t| t > self.now);
        let Some(next) = timers.chain(links).chain(self.fabric.next_arrival()).min() else { return false };
        self.now = next.max(self.now);
        let tick = self.tick();
        for side in 0..2 {
            self.nic[side].handle_timeout(tick);
        }
        while let Some(arrived) = self.fabric.pop(self.now) {
            self.nic[arrived.to].handle_packet(tick, &arrived.frame, &mut self.mem[arrived.to]);
            self.collect();
        }
        true
    }

    /// Runs until nothing is left to do. Fails if that takes longer than `ticks`.
    pub fn run(&mut self, ticks: u64) {
        let end = self.now + ticks * UNITS;
        while self.step() {
            assert!(self.now < end, "not finished after {ticks} ticks: {:?}", self.nic[0].counters());
        }
    }

    /// Runs until side `side` has `count` completions; returns the tick of the last one.
    pub fn run_until_cqes(&mut self, side: usize, count: usize, ticks: u64) -> u64 {
        let end = self.now + ticks * UNITS;
        while self.cqes[side].len() < count {
            let more = self.step();
            assert!(
                self.now < end && (more || self.cqes[side].len() >= count),
                "{} of {count} completions at tick {}: {:?}",
                self.cqes[side].len(),
                self.tick(),
                self.nic[side].counters()
            );
        }
        self.now / UNITS
    }

    /// Runs for a while.
    pub fn run_for(&mut self, ticks: u64) {
        let end = self.now + ticks * UNITS;
        while self.now < end && self.step() {}
        self.now = self.now.max(end);
    }

    /// Each byte of the range was placed once and is the right one.
    pub fn assert_placed(&self, from_side: usize, from: usize, to: usize, len: usize) {
        let mem = &self.mem[1 - from_side];
        assert!(mem.target[to..to + len] == self.mem[from_side].source[from..from + len], "wrong data");
        assert!(mem.hits[to..to + len].iter().all(|&h| h == 1), "a byte was not placed exactly once");
    }

    /// Nothing is outstanding, and every counter agrees with its counterpart.
    pub fn assert_quiet(&self) {
        for side in 0..2 {
            let (nic, peer) = (&self.nic[side], &self.nic[1 - side]);
            let (c, pc) = (nic.counters(), peer.counters());
            assert_eq!(nic.pool_packets(), 0, "packets left in the pool");
            let tx = nic.tx_conn(0).unwrap();
            assert_eq!(tx.inflight_bytes(), 0);
            assert_eq!(c.tx_new, c.retired_packets, "packets sent and retired");
            assert_eq!(c.tx_payload_bytes, c.retired_bytes);
            assert_eq!(c.tx_new, pc.rx_new, "packets sent and accepted");
            for p in 0..self.paths {
                let path = nic.tx_path(0, p).unwrap();
                assert_eq!((path.span(), path.pipe(), path.nlost), (0, 0, 0));
                assert_eq!(path.cum, peer.rx_path(0, p).unwrap().cum);
            }
        }
        let (sent, lost) = (self.fabric.sent + self.fabric.duplicated, self.fabric.lost);
        let received: u64 = self.nic.iter().map(|n| n.counters().rx_frames).sum();
        assert_eq!(sent, lost + received, "frames sent = lost + received");
    }
}
