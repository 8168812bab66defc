//! The receive core and its model before the first packet, and tables that change later: connections, QPs, keys.
//! In: a build and a seed. Out: a rig. Guarantees: tables change only while nothing is under way, in block and model alike.
use super::receives::{Queue, Receives};
use super::{Rig, Stream, CAP, CONNS, QPS};
use crate::rx_support::{Bench, Rng};
use mrnic_model::{ConnConfig, KeyConfig, Nic, NicConfig, PathConfig, QpAccess, QpConfig, Rights, Stage};
use mrnic_nic::config::BuildConfig;
use mrnic_nic::rx::rx_core::RxCore;
use mrnic_wire::{Body, NetAddr};
use std::collections::VecDeque;

pub fn rig(build: &BuildConfig, seed: u64) -> Rig {
    let c = *build;
    let mut bench = Bench::new("rx_core", move || RxCore::new(&c));
    let config = NicConfig {
        conns: c.conns as u32,
        paths_max: 8,
        qps: c.qps as u32,
        msgs_per_stream: c.msgs_per_stream as u32,
        keys: c.keys as u32,
        window_pkts: c.window_bits as u16,
        ack_every: 4,
        ack_delay_ticks: 125,
        epoch_cap_bytes: CAP,
        stage: if c.sends { Stage::Send } else { Stage::Write },
        ..NicConfig::default()
    };
    bench.set("ack_every", 4);
    bench.set("ack_delay", 125);
    bench.set("epoch_cap", CAP.into());
    bench.reset();
    let mut rig = Rig {
        bench,
        model: Nic::new(config).expect("a model"),
        rng: Rng(seed),
        net: NetAddr::v4([2; 6], [4; 6], [10, 0, 0, 1], [10, 0, 0, 2]),
        now: 0,
        frozen: false,
        cycle: 0,
        given: VecDeque::new(),
        waiting: VecDeque::new(),
        driving: false,
        acks: VecDeque::new(),
        port: None,
        places: VecDeque::new(),
        acks_in: VecDeque::new(),
        got_places: VecDeque::new(),
        got_acks_in: VecDeque::new(),
        got_errors: VecDeque::new(),
        errors: VecDeque::new(),
        qp_error: vec![false; c.qps],
        refusals: vec![0; c.qps],
        qperr_next: 0,
        starts: vec![],
        next: vec![],
        missing: vec![],
        streams: vec![Stream::default(); QPS as usize],
        paths: [8, 4, 1],
        stall: 20,
        seen: Default::default(),
        sends: c.sends,
        lists: c.sges > 1,
        writes: 0,
        tickets: vec![],
        receives: Receives::default(),
    };
    rig.receives.queues = vec![Queue::default(); QPS as usize];
    rig.starts = (0..CONNS as usize * 8).map(|i| if i % 3 == 0 { 0xFF_FFE0 + i as u32 } else { i as u32 * 1000 }).collect();
    for conn in 0..CONNS {
        rig.open(conn);
    }
    for index in 0..4u32 {
        let key = KeyConfig {
            valid: true,
            key_low: 0xA0 + index as u8,
            pd: 7,
            rights: Rights { remote_write: index != 3, local_write: index != 2, ..Rights::default() },
            base: 0x1_0000_0000 * u64::from(index + 1) + 5,
            length: 100_000,
            dma_base: 0x7000_0000 + 0x100_0000 * u64::from(index),
        };
        rig.model.register_key(index, &key).expect("a key");
        let rights = u32::from(key.rights.local_write) << 1 | u32::from(key.rights.remote_write) << 2;
        let w0 = 1 | rights | u32::from(key.key_low) << 8 | u32::from(key.pd) << 16;
        let two = |v: u64| [v as u32, (v >> 32) as u32];
        let words = [&[w0][..], &two(key.base), &two(key.length), &two(key.dma_base)].concat();
        rig.cfg(4, index, &words);
    }
    // what lies outside the tables is ignored
    for table in [1, 2, 3, 4, 6] {
        rig.cfg(table, 60_000, &[1; 16]);
    }
    rig
}

impl Rig {
    /// Nothing is going on or will until time moves on.
    pub fn freeze(&mut self) {
        self.settle();
        self.frozen = true;
        for qp in (0..300).map(|step| step % QPS) {
            self.bench.set("asked_qp", qp.into());
            self.step();
            assert_eq!(self.bench.get("refusal"), u64::from(self.refusals[qp as usize]), "QP {qp} at cycle {}", self.cycle);
        }
        self.settle();
    }

    pub fn open(&mut self, conn: u16) {
        self.freeze();
        let mut config = ConnConfig::new(conn + 100, self.paths[conn as usize], self.net);
        config.mtu_log2 = 8;
        let at = conn as usize * 8;
        for p in 0..8 {
            config.path[p] = PathConfig::new(p as u8, self.starts[at + p]);
            self.cfg(2, (at + p) as u32, &[1, 0, self.starts[at + p]]);
        }
        self.model.open_connection(self.now, conn, &config).expect("a connection");
        let log2 = self.paths[conn as usize].ilog2();
        self.cfg(1, conn.into(), &[1 | log2 << 4 | 8 << 8]);
        self.next.resize(CONNS as usize * 8, 0);
        self.next[at..at + 8].copy_from_slice(&self.starts[at..at + 8]);
        self.missing.retain(|m| m.0 / 8 != conn as usize);
        for qp in (0..QPS).filter(|qp| qp % u32::from(CONNS) == u32::from(conn)) {
            self.open_qp(qp);
        }
        self.frozen = false;
    }

    pub fn open_qp(&mut self, qp: u32) {
        self.freeze();
        let conn = (qp % u32::from(CONNS)) as u16;
        let start = 0xFF_FFF0 + qp;
        let (min_rnr_timer, rx_start_msn) = (3 + 5 * qp as u8, start & 0xFF_FFFF);
        let config = QpConfig { pd: 7, rx_start_msn, min_rnr_timer, ..QpConfig::new(conn, 0x200 + qp) };
        self.receives.queues[qp as usize] = Queue::new(qp);
        self.model.open_qp(qp, &config).expect("a queue pair");
        let mut words = [0; 10];
        words[0] = 1 | 7 << 2 | u32::from(conn) << 16;
        words[1] = 0x200 + qp;
        words[7] = 7 | u32::from(min_rnr_timer) << 16;
        words[9] = start & 0xFF_FFFF;
        self.cfg(3, qp, &words);
        self.qp_error[qp as usize] = false;
        self.refusals[qp as usize] = 0;
        self.streams[qp as usize] = Stream { msn: start & 0xFF_FFFF, ..Stream::default() };
        self.missing.retain(|m| m.2.dest_qp != qp || matches!(m.2.body, Body::Nop { .. }));
        self.frozen = false;
    }

    /// D2, Q2: what an open queue pair allows changes, and its RNR timer; the packets under way come before.
    pub fn allow(&mut self, qp: u32, remote_write: bool, min_rnr_timer: u8) {
        self.freeze();
        self.model.set_terms(qp, QpAccess { remote_write, ..QpAccess::ALL }, min_rnr_timer);
        let word = 3 << 3 | u32::from(remote_write) << 2;
        self.cfg(6, qp, &[word, 0, 0, 0, 0, 0, 0, u32::from(min_rnr_timer) << 16]);
        self.frozen = false;
    }

    /// Writes a table entry when nothing is going on.
    pub fn cfg(&mut self, table: u64, index: u32, words: &[u32]) {
        self.settle();
        let mut data = [0; 16];
        data[..words.len().min(16)].copy_from_slice(&words[..words.len().min(16)]);
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", index.into());
        self.bench.set_words("cfg_data", &data);
        self.bench.set("cfg_valid", 1);
        self.step();
        self.bench.set("cfg_valid", 0);
        for _ in 0..2000 {
            if self.bench.get("cfg_busy") == 0 {
                return;
            }
            self.step();
        }
        panic!("cfg_busy for ever");
    }
}
