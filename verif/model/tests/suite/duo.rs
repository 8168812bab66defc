//! Two NICs of the second stage, one flat host memory each, and the fabric between them, in virtual time.
//! Checks after every event that something will happen as long as work is outstanding.

use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::*;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::fabric::{Fabric, FabricConfig, UNITS};
use crate::pair::{address, check_liveness, seed};

/// The region that every right is given to, as its users see it and on the bus.
pub const KEY: u32 = key_of(1, 0x5A);
pub const BASE: u64 = 0x5000_0000_0001;
pub const BUS: u64 = 0x2_0000_0000;
/// The same memory, local read only.
pub const BARE_KEY: u32 = key_of(2, 0xA5);
pub const LONG: u64 = 60_000_000;

/// Host memory; `broken` addresses cannot be accessed.
pub struct Flat {
    pub bytes: Vec<u8>,
    pub broken: Option<std::ops::Range<u64>>,
    pub atomics: u64,
}

impl Flat {
    fn at(&self, addr: u64, len: usize) -> Result<usize, MemoryError> {
        let fault = MemoryError { addr, len: len as u32 };
        let at = addr.checked_sub(BUS).ok_or(fault)?;
        let end = at + len as u64;
        let broken = self.broken.as_ref().is_some_and(|b| at < b.end && b.start < end);
        if broken || end > self.bytes.len() as u64 {
            return Err(fault);
        }
        Ok(at as usize)
    }
}

impl HostMemory for Flat {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        let at = self.at(addr, buf.len())?;
        buf.copy_from_slice(&self.bytes[at..at + buf.len()]);
        Ok(())
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        let at = self.at(addr, data.len())?;
        self.bytes[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn fetch_add(&mut self, addr: u64, add: u64) -> Result<u64, MemoryError> {
        let at = self.at(addr, 8)?;
        let before = u64::from_le_bytes(self.bytes[at..at + 8].try_into().unwrap());
        self.bytes[at..at + 8].copy_from_slice(&before.wrapping_add(add).to_le_bytes());
        self.atomics += 1;
        Ok(before)
    }
}

#[derive(Clone)]
pub struct DuoSetup {
    pub paths: u8,
    pub mtu_log2: u8,
    pub window: u16,
    pub retry: u8,
    pub qps: u32,
    pub bytes: usize,
    pub start_ppsn: u32,
    pub qp: QpConfig,
    pub srq: Option<SrqConfig>,
    pub nic: NicConfig,
    pub fabric: FabricConfig,
    pub seed: u64,
}

impl Default for DuoSetup {
    fn default() -> Self {
        DuoSetup {
            paths: 8,
            mtu_log2: 12,
            window: 16,
            retry: 7,
            qps: 2,
            bytes: 8 << 20,
            start_ppsn: 0xFF_FFC0,
            qp: QpConfig { tx_start_msn: 0xFF_FFF0, rx_start_msn: 0xFF_FFF0, ..QpConfig::new(0, 0) },
            srq: None,
            nic: NicConfig { conns: 2, qps: 32, keys: 8, pool_packets: 4096, events: true, ..NicConfig::default() },
            fabric: FabricConfig::default(),
            seed: seed(1),
        }
    }
}

/// A fabric with loss, duplicates and reordering on every plane.
pub fn rough(loss: f64) -> FabricConfig {
    FabricConfig {
        loss,
        burst: 2.0,
        duplicate: 0.02,
        reorder: 0.05,
        reorder_ticks: 40,
        skew_ticks: 9,
        ..FabricConfig::default()
    }
}

pub struct Duo<P: Profile = OpenMr0> {
    pub nic: [Nic<P>; 2],
    pub mem: [Flat; 2],
    pub fabric: Fabric,
    pub now: u64,
    pub cqes: [Vec<Cqe>; 2],
    pub asyncs: [Vec<AsyncEvent>; 2],
    pub events: [Vec<Event>; 2],
    pub rng: SmallRng,
    pub setup: DuoSetup,
    link_free: [u64; 2],
    top: [u64; 2],
    buf: Vec<u8>,
}

impl<P: Profile> Duo<P> {
    pub fn new(setup: &DuoSetup) -> Self {
        let nic = [0u8, 1].map(|side| {
            let mut nic = Nic::<P>::new(setup.nic).unwrap();
            let mut conn = ConnConfig::new(0, setup.paths, address(side + 1, 2 - side));
            conn.mtu_log2 = setup.mtu_log2;
            conn.init_window_pkts = setup.window;
            conn.retry_cnt = setup.retry;
            conn.path = core::array::from_fn(|i| PathConfig::new(i as u8, setup.start_ppsn));
            nic.open_connection(0, 0, &conn).unwrap();
            let all = Rights::from_bits(0xF);
            let bytes = setup.bytes as u64;
            let key = KeyConfig {
                valid: true,
                key_low: 0x5A,
                rights: all,
                base: BASE,
                length: bytes,
                dma_base: BUS,
                pd: setup.qp.pd,
            };
            nic.register_key(1, &key).unwrap();
            nic.register_key(2, &KeyConfig { key_low: 0xA5, rights: Rights::default(), ..key }).unwrap();
            if let Some(srq) = &setup.srq {
                nic.create_srq(0, srq).unwrap();
            }
            for qpn in 0..setup.qps {
                let srq = setup.srq.map(|_| 0);
                nic.open_qp(qpn, &QpConfig { peer_qpn: qpn, srq, ..setup.qp }).unwrap();
            }
            nic
        });
        let mut rng = SmallRng::seed_from_u64(setup.seed);
        let mut memory = || {
            let mut bytes = vec![0; setup.bytes];
            rng.fill(&mut bytes[..]);
            Flat { bytes, broken: None, atomics: 0 }
        };
        let mem = [memory(), memory()];
        Duo {
            nic,
            mem,
            fabric: Fabric::new(setup.fabric.clone(), setup.paths as usize, setup.seed),
            now: 0,
            cqes: Default::default(),
            asyncs: Default::default(),
            events: Default::default(),
            rng,
            setup: setup.clone(),
            link_free: [0; 2],
            top: [0; 2],
            buf: vec![0; FRAME_BYTES_MAX],
        }
    }

    pub fn tick(&self) -> Tick {
        (self.now / UNITS) as Tick
    }

    /// A fresh range of a side's memory, unaligned.
    pub fn alloc(&mut self, side: usize, len: u32) -> u64 {
        let at = self.top[side];
        self.top[side] = at + u64::from(len) + 3;
        assert!(self.top[side] <= self.setup.bytes as u64, "the test's memory is too small");
        at
    }

    /// A fresh range at a multiple of 8, as users see it.
    pub fn alloc8(&mut self, side: usize, words: u32) -> u64 {
        self.top[side] += (8 - (BASE + self.top[side]) % 8) % 8;
        self.alloc(side, 8 * words)
    }

    pub fn bytes(&self, side: usize, at: u64, len: u32) -> &[u8] {
        &self.mem[side].bytes[at as usize..at as usize + len as usize]
    }

    pub fn word(&self, side: usize, at: u64) -> u64 {
        u64::from_le_bytes(self.bytes(side, at, 8).try_into().unwrap())
    }

    pub fn set_word(&mut self, side: usize, at: u64, value: u64) {
        self.mem[side].bytes[at as usize..at as usize + 8].copy_from_slice(&value.to_le_bytes());
    }

    pub fn post(&mut self, side: usize, qpn: u32, wqe: &Wqe) {
        self.nic[side].post_send(qpn, wqe).unwrap();
        self.collect();
    }

    /// `len` bytes at `at` in up to `parts` pieces of random sizes.
    pub fn split(&mut self, at: u64, len: u32, parts: usize) -> Vec<Sge> {
        let mut cuts: Vec<u32> = (1..parts).map(|_| self.rng.random_range(0..=len)).collect();
        cuts.extend([0, len]);
        cuts.sort_unstable();
        cuts.windows(2).map(|w| Sge { addr: BASE + at + u64::from(w[0]), len: w[1] - w[0], lkey: KEY }).collect()
    }

    pub fn post_recv(&mut self, side: usize, qpn: u32, wr_id: u64, sges: &[Sge]) {
        self.nic[side].post_recv(qpn, &RecvWr { wr_id, sges }).unwrap();
        self.collect();
    }

    pub fn collect(&mut self) {
        for side in 0..2 {
            while let Some(cqe) = self.nic[side].poll_completion() {
                self.cqes[side].push(cqe);
            }
            while let Some(event) = self.nic[side].poll_async_event() {
                self.asyncs[side].push(event);
            }
            while let Some(event) = self.nic[side].poll_event() {
                self.events[side].push(event);
            }
        }
    }

    fn check_invariants(&self) {
        for (side, nic) in self.nic.iter().enumerate() {
            check_liveness(nic, side, self.setup.paths);
        }
    }

    fn transmit(&mut self, side: usize) {
        let tick = self.tick();
        while self.link_free[side] <= self.now {
            let Some(t) = self.nic[side].poll_transmit(tick, &mut self.buf, &self.mem[side]) else { return };
            let rate = self.fabric.config.bytes_per_tick * u64::from(self.setup.paths);
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
        let links = self.link_free.iter().copied().filter(|&t| t > self.now);
        let Some(next) = timers.chain(links).chain(self.fabric.next_arrival()).min() else { return false };
        self.now = next.max(self.now);
        let tick = self.tick();
        for side in 0..2 {
            self.nic[side].handle_timeout(tick);
        }
        while let Some(arrived) = self.fabric.pop(self.now) {
            self.nic[arrived.to].handle_packet(tick, &arrived.frame, &mut self.mem[arrived.to]);
        }
        self.collect();
        true
    }

    /// Runs until nothing is left to do. Fails if that takes longer than `ticks`.
    pub fn run(&mut self, ticks: u64) {
        let end = self.now + ticks * UNITS;
        while self.step() {
            assert!(self.now < end, "not finished after {ticks} ticks: {:?}", self.nic[0].counters());
        }
    }

    pub fn run_until(&mut self, ticks: u64, what: &str, done: impl Fn(&Self) -> bool) {
        let end = self.now + ticks * UNITS;
        while !done(self) {
            let more = self.step();
            assert!(
                self.now < end && (more || done(self)),
                "{what}: {:?} {:?}",
                self.nic[0].counters(),
                self.nic[1].counters()
            );
        }
    }

    pub fn run_for(&mut self, ticks: u64) {
        let end = self.now + ticks * UNITS;
        while self.now < end && self.step() {}
        self.now = self.now.max(end);
    }

    /// (wr_id, status) of the completions of a side; `recv`: of receives, else of sends.
    pub fn statuses(&self, side: usize, recv: bool) -> Vec<(u64, u8)> {
        self.cqes[side].iter().filter(|c| c.is_recv() == recv).map(|c| (c.wr_id, c.status as u8)).collect()
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
            assert_eq!((tx.fifo.len(), tx.responses.fifo.len()), (0, 0), "nothing waits");
            // A stream that its sender gave up keeps the requests that it cannot reach.
            let held: usize = (0..self.setup.qps).filter_map(|qpn| nic.requests_held(qpn).ok()).sum();
            assert_eq!((tx.responses.reserved as usize, tx.responses.awaited), (held, 0), "every request is answered");
            let healthy = (0..self.setup.qps).all(|q| self.nic.iter().all(|n| n.qp_state(q) == Ok(QpState::Rts)));
            assert!(held == 0 || !healthy, "{held} requests are held");
            assert!(c.rx_responses <= pc.tx_responses, "responses");
            for qpn in 0..self.setup.qps {
                let Ok(send) = nic.send_queue(qpn) else { continue };
                assert_eq!(
                    (send.is_busy(), send.waits_until.is_some() && !send.in_error(), send.awaited),
                    (false, false, 0),
                    "QP {qpn}"
                );
                assert!(send.in_error() || send.requests == 0);
            }
            for p in 0..self.setup.paths {
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

/// A signaled work request over the whole-memory keys; `local` and `remote` are places in the memories.
pub fn wqe(opcode: u8, wr_id: u64, local: u64, remote: u64, len: u32) -> Wqe {
    Wqe {
        opcode,
        signaled: true,
        lkey: KEY,
        laddr: BASE + local,
        raddr: BASE + remote,
        rkey: KEY,
        length: len,
        wr_id,
        ..Wqe::default()
    }
}

/// One SGE over the whole-memory key.
pub fn sge(at: u64, len: u32) -> Sge {
    Sge { addr: BASE + at, len, lkey: KEY }
}
