//! work_fetch: simulation = Verilog; rule W1 against a host with rings, keys and slow memory.
mod tx_support;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::host::work_fetch::WorkFetch;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::{HashMap, VecDeque};
use tx_support::Bench;

/// A WQE and what stands behind it: a list of four pieces.
type Entry = [u32; 32];

fn with_sends(name: &str) -> BuildConfig {
    BuildConfig { sends: true, ..build(name).unwrap() }
}

fn with_reads(name: &str) -> BuildConfig {
    BuildConfig { reads: true, ..with_sends(name) }
}

/// D1, of each queue pair: READs and atomics outstanding at most.
fn most(qp: usize) -> u32 {
    [2, 0, 1, 3][qp % 4]
}

/// Tables 1, 3, 4 and 5 with small indices; doorbells and releases of the same few rows; requests that are over, in every second clock at most.
#[test]
fn simulation_equals_verilog() {
    difftest!(WorkFetch::<64>::new(&BuildConfig { sges: 4, ..with_reads("ecp5") }), clock: clock, inputs: {
        reset, fault, doorbell_valid, doorbell_qp, doorbell_index, cfg_valid, cfg_table, cfg_index, cfg_data, rel_conn_valid, rel_conn,
        rel_qp_valid, rel_qp, request_done, request_done_qp, qperr_data, cr_desc_ready, cr_valid, cr_data, cr_last, cmsg_ready, msg_ready, msgrow_ready
    })
    .top("work_fetch")
    .cycles(2500)
    .seed(1)
    .reset_chance(0.0)
    .limit("fault", 0..=0)
    .limit("doorbell_qp", 0..=7)
    .limit("rel_conn", 0..=3)
    .limit("rel_qp", 0..=7)
    .limit("request_done_qp", 0..=3)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 1..=5)
    .source("doorbell_valid", "doorbell_ready", &["doorbell_qp", "doorbell_index"])
    .source("rel_conn_valid", "rel_conn_ready", &["rel_conn"])
    .source("rel_qp_valid", "rel_qp_ready", &["rel_qp"])
    .source("cr_valid", "cr_ready", &["cr_data", "cr_last"])
    .sink("cr_desc_ready")
    .sink("cmsg_ready")
    .sink("msg_ready")
    .sink("msgrow_ready")
    .stimulus(|random, cycle, inputs| {
        // rows are valid, connections small, rings of 16 entries
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] = data[0] & 0xFF00_0F40 | 1 | (random.below(4) as u32) << 16;
        data[4] = 0x44;
        data[8] &= 0x03FF_FFFF;
        inputs.set("cfg_data", data);
        if inputs.previous("request_done") == 1 || random.chance(0.8) {
            inputs.set("request_done", 0u32);
        }
        // opcodes are often known
        if random.chance(0.7) && !(inputs.previous("cr_valid") == 1 && inputs.sampled("cr_ready") == 0) {
            let mut data = inputs.words("cr_data").to_vec();
            data[0] = data[0] & 0xFF00_FF00 | (random.below(6) as u32) << 16 | random.below(8) as u32;
            inputs.set("cr_data", data);
        }
        if cycle > 200 && random.chance(0.95) {
            inputs.set("cfg_valid", 0u32);
        }
    })
    .run();
}

/// Rings, keys and connections as software wrote them, and what W1 makes of a WQE.
struct Host {
    bench: Bench,
    width: usize,
    rng: StdRng,
    config: BuildConfig,
    /// Ring memory by bus address.
    memory: HashMap<u64, Entry>,
    producer: Vec<u16>,
    /// WQEs posted and not yet seen, per QP: index and words.
    posted: Vec<VecDeque<(u16, Entry)>>,
    msn: Vec<u32>,
    /// Accepted messages that use a receive of the peer.
    rq_seq: Vec<u32>,
    /// D1: READs and atomics that are not over; the tag of each queue pair's life; queue pairs opened.
    requests: Vec<u32>,
    tags: Vec<u64>,
    opened: u64,
    /// Accepted WQEs with a fence.
    fences: u32,
    over: bool,
    /// Reads on their way: the clock they may answer, the address.
    reads: VecDeque<(u64, u64)>,
    /// Words of an entry, those that were read, those on their way.
    beats: VecDeque<(Entry, usize, usize)>,
    /// Pieces told of since the last WQE came out: place, and where each ends in the message.
    pieces: [(u64, u64); 4],
    lists_taken: usize,
    /// Doorbells rung and not yet taken.
    bells: VecDeque<(usize, u16)>,
    outstanding_qp: Vec<usize>,
    outstanding_conn: Vec<usize>,
    clock: u64,
    latency: u64,
}

const MTU_LOG2: [u32; 4] = [8, 10, 12, 9];
/// base, length, bus address, PD of the keys with index 0 to 3; their low byte is 0x50 + index.
const KEYS: [(u64, u64, u64, u32); 4] = [
    (0x1_0000_0000, 0x10000, 0x7_0000_0000, 5),
    (0xffff_ffff_ffff_0000, 1 << 20, 0x100, 5),
    (0x2000, 1 << 33, 0x9_0000_0000, 5),
    (0x5000, 0x1000, 0x5000, 6),
];
const SQ_LOG2: u32 = 5;

fn sq_base(qp: usize) -> u64 {
    0xabcd_0000_0000 + qp as u64 * 0x10_0000
}

impl Host {
    fn new<const W: usize>(config: BuildConfig, latency: u64, seed: u64) -> Host {
        let mut bench = Bench::new(&WorkFetch::<W>::new(&config), &format!("work_fetch_{W}"));
        bench.until("init_done", 5000);
        let mut host = Host {
            bench,
            width: W,
            rng: StdRng::seed_from_u64(seed),
            memory: HashMap::new(),
            producer: vec![0; config.qps],
            posted: vec![VecDeque::new(); config.qps],
            msn: (0..config.qps as u32).map(|q| 0xff_fff0 + q).collect(),
            rq_seq: vec![0; config.qps],
            requests: vec![0; config.qps],
            tags: vec![0; config.qps],
            opened: 0,
            fences: 0,
            over: false,
            reads: VecDeque::new(),
            beats: VecDeque::new(),
            pieces: [(0, 0); 4],
            lists_taken: 0,
            bells: VecDeque::new(),
            outstanding_qp: vec![0; config.qps],
            outstanding_conn: vec![0; config.conns],
            clock: 0,
            latency,
            config,
        };
        for (conn, &mtu) in MTU_LOG2.iter().enumerate() {
            host.table(1, conn, &[1 | mtu << 8]);
        }
        for (index, &(base, length, dma, pd)) in KEYS.iter().enumerate() {
            let words = [
                1 | u32::from(index != 1) << 1 | (0x50 + index as u32) << 8 | pd << 16,
                base as u32,
                (base >> 32) as u32,
                length as u32,
                (length >> 32) as u32,
                dma as u32,
                (dma >> 32) as u32,
            ];
            host.table(4, index, &words);
        }
        for qp in 0..host.config.qps {
            host.open(qp);
        }
        host
    }

    fn open(&mut self, qp: usize) {
        self.opened += 1;
        self.tags[qp] = self.opened;
        let row = self.row(qp);
        self.table(3, qp, &row);
        if self.config.reads && qp.is_multiple_of(2) {
            // as programs name it, on the way to RTS
            self.table(5, qp, &[7 | most(qp) << 8]);
        }
    }

    /// Every other queue pair has lists, if the build has.
    fn lists(&self, qp: usize) -> bool {
        self.config.sges > 1 && !qp.is_multiple_of(2)
    }

    fn entry_bytes(&self, qp: usize) -> u64 {
        if self.lists(qp) {
            128
        } else {
            64
        }
    }

    /// The row of an open queue pair. The limit of every other one is named after it (D1).
    fn row(&self, qp: usize) -> [u32; 10] {
        let base = sq_base(qp);
        let conn = qp as u32 % 4;
        [
            1 | u32::from(self.lists(qp)) << 6 | conn << 16,
            0x777 + qp as u32,
            base as u32,
            (base >> 32) as u32,
            SQ_LOG2,
            0,
            0,
            5,
            self.msn[qp] | if qp.is_multiple_of(2) { 5 } else { most(qp) } << 24,
            0,
        ]
    }

    fn table(&mut self, table: u64, index: usize, words: &[u32]) {
        let mut data = [0; 16];
        data[..words.len()].copy_from_slice(words);
        self.bench.set("cfg_table", table);
        self.bench.set("cfg_index", index as u64);
        self.bench.set_words("cfg_data", &data);
        self.bench.set("cfg_valid", 1);
        self.bench.clock();
        self.bench.set("cfg_valid", 0);
        for _ in 0..20 {
            if !self.bench.high("cfg_busy") {
                return;
            }
            self.bench.clock();
        }
        panic!("table {table} is never applied");
    }

    fn random_wqe(&mut self, good: bool) -> Entry {
        let mut w: Entry = std::array::from_fn(|_| self.rng.random());
        w[0] &= 0xffff_0700;
        if self.config.sges > 1 && (good || self.rng.random_bool(0.9)) {
            let most = self.config.sges as u32 + u32::from(!good);
            w[0] = w[0] & 0xff00_ffff | self.rng.random_range(0..=most) << 16;
        }
        if self.config.reads {
            w[0] |= self.rng.random_range(0..7);
            if self.rng.random_bool(0.8) {
                w[0] &= !(1 << 9);
            }
        } else if self.config.sends {
            w[0] |= self.rng.random_range(0..4);
        }
        let (lkey, at, length) = self.random_piece(good, w[0] & 4 != 0);
        (w[1], w[2], w[3], w[7]) = (lkey, at as u32, (at >> 32) as u32, length);
        // lists are mostly of pieces that are there
        let sound = self.rng.random_bool(0.8);
        for sge in 0..4 {
            let (lkey, at, length) = self.random_piece(good || sound, false);
            let length = if sound { self.rng.random_range(0..100) } else { length };
            w[16 + 4 * sge..][..4].copy_from_slice(&[at as u32, (at >> 32) as u32, length, lkey]);
        }
        if !good && self.rng.random_range(0..8) == 0 {
            w[0] |= 1 << self.rng.random_range(0..8);
        }
        w
    }

    /// Key, address and length.
    fn random_piece(&mut self, good: bool, atomic: bool) -> (u32, u64, u32) {
        let key = if good { 0 } else { self.rng.random_range(0..4usize) };
        let (base, size, ..) = KEYS[key];
        let mut lkey = (key as u32) << 8 | (0x50 + key as u32);
        let length = if good {
            64
        } else if atomic && self.rng.random_bool(0.7) {
            8
        } else {
            match self.rng.random_range(0..8) {
                0 => 0,
                1 => self.rng.random_range(0x7fff_fff0..=0x8000_0008u32),
                2 => 1 << self.rng.random_range(0..32),
                _ => self.rng.random_range(0..0x2000),
            }
        };
        let at = if good {
            base
        } else {
            match self.rng.random_range(0..6) {
                0 => base.wrapping_sub(1),
                1 => base.wrapping_add(size).wrapping_sub(u64::from(length)),
                2 => base.wrapping_add(size).wrapping_sub(u64::from(length)).wrapping_add(1),
                3 => u64::MAX.wrapping_sub(length.into()).wrapping_add(self.rng.random_range(0..3)),
                _ => base.wrapping_add(self.rng.random_range(0..0x8000)),
            }
        };
        if !good && self.rng.random_range(0..8) == 0 {
            lkey ^= 1 << self.rng.random_range(0..32);
        }
        (lkey, at, length)
    }

    /// The list of a WQE that has one: address, length, key of each piece.
    fn list(&self, qp: usize, w: &Entry) -> Option<Vec<(u64, u64, u32)>> {
        let count = (w[0] >> 16 & 0xff) as usize;
        (self.lists(qp) && count > 1).then(|| {
            let pieces = w[16..].chunks(4).take(count);
            pieces.map(|w| (u64::from(w[0]) | u64::from(w[1]) << 32, u64::from(w[2]), w[3])).collect()
        })
    }

    fn length(&self, qp: usize, w: &Entry) -> u64 {
        self.list(qp, w).map_or(u64::from(w[7]), |list| list.iter().map(|piece| piece.1).sum())
    }

    /// W1, in its order.
    fn status(&self, qp: usize, w: &Entry) -> u64 {
        let list = self.list(qp, w);
        let only = (u64::from(w[2]) | u64::from(w[3]) << 32, u64::from(w[7]), w[1]);
        let pieces = list.clone().unwrap_or(vec![only]);
        let length = self.length(qp, w);
        let (opcode, highest) = (w[0] & 0xff, if self.config.reads { 6 } else { u32::from(self.config.sends) * 3 });
        let asks = (4..=6).contains(&opcode);
        if opcode > highest || asks && most(qp) == 0 {
            return 2;
        }
        if list.is_some() && w[0] >> 16 & 0xff > self.config.sges as u32 {
            return 2;
        }
        if length > 1 << 31 || asks && opcode > 4 && length != 8 {
            return 1;
        }
        let inside = |&(at, length, lkey): &(u64, u64, u32)| {
            let index = (lkey >> 8) as usize;
            let key = KEYS.get(index).filter(|_| lkey & 0xff == 0x50 + index as u32);
            key.is_some_and(|&(base, size, _, pd)| {
                (index != 1 || !asks)
                    && pd == 5
                    && at >= base
                    && u128::from(at) + u128::from(length) <= u128::from(base) + u128::from(size)
                    && at.checked_add(length).is_some()
            })
        };
        if pieces.iter().filter(|piece| piece.1 > 0).all(inside) {
            0
        } else {
            4
        }
    }

    fn post(&mut self, qp: usize, wqe: Entry) -> bool {
        if self.posted[qp].len() + self.outstanding_qp[qp] + 2 > 1 << SQ_LOG2 {
            return false;
        }
        let index = self.producer[qp];
        let slot = u64::from(index) & ((1 << SQ_LOG2) - 1);
        let at = sq_base(qp) + self.entry_bytes(qp) * slot;
        self.memory.insert(at, wqe);
        self.producer[qp] = index.wrapping_add(1);
        self.posted[qp].push_back((index, wqe));
        true
    }

    /// One clock: memory, doorbell (if any), releases, and the check of what comes out. Returns the QP and status of a WQE.
    fn step(&mut self, bell: Option<usize>, slow: f64, release: f64) -> Option<(usize, u64)> {
        let now = self.clock;
        // memory: descriptors in, beats out, in order
        let ready = !self.rng.random_bool(slow);
        self.bench.set("cr_desc_ready", ready.into());
        if ready && self.bench.high("cr_desc_valid") {
            let at = self.bench.get("cr_desc_addr");
            assert_eq!(self.bench.get("cr_desc_len"), self.entry_bytes(((at - sq_base(0)) / 0x10_0000) as usize));
            self.reads.push_back((now + self.latency, at));
        }
        if self.beats.is_empty() && self.reads.front().is_some_and(|r| r.0 <= now) {
            let at = self.reads.pop_front().unwrap().1;
            let words = *self.memory.get(&at).unwrap_or_else(|| panic!("a read at {at:#x}, where nothing was posted"));
            let bytes = self.entry_bytes(((at - sq_base(0)) / 0x10_0000) as usize);
            self.beats.push_back((words, 0, bytes as usize / 4));
        }
        let offered = !self.beats.is_empty() && !self.rng.random_bool(slow);
        self.bench.set("cr_valid", offered.into());
        if offered {
            let (words, at, end) = self.beats[0];
            let n = self.width / 32;
            self.bench.set_words("cr_data", &words[at..at + n]);
            self.bench.set("cr_last", (at + n == end).into());
            if self.bench.high("cr_ready") {
                self.beats[0].1 += n;
                if at + n == end {
                    self.beats.pop_front();
                }
            }
        }
        if let Some(qp) = bell {
            self.bells.push_back((qp, self.producer[qp]));
        }
        self.bench.set("doorbell_valid", (!self.bells.is_empty()).into());
        if let Some(&(qp, producer)) = self.bells.front() {
            self.bench.set("doorbell_qp", qp as u64);
            self.bench.set("doorbell_index", producer.into());
            if self.bench.high("doorbell_ready") {
                self.bells.pop_front();
            }
        }
        for (port, name, counts) in [("rel_qp", "rel_qp_ready", 0), ("rel_conn", "rel_conn_ready", 1)] {
            let counts = if counts == 0 { &mut self.outstanding_qp } else { &mut self.outstanding_conn };
            let n = self.rng.random_range(0..counts.len());
            let any = (0..counts.len()).map(|i| (n + i) % counts.len()).find(|&i| counts[i] > 0);
            self.bench.set(&format!("{port}_valid"), 0);
            if let Some(i) = any.filter(|_| self.rng.random_bool(release)) {
                self.bench.set(&format!("{port}_valid"), 1);
                self.bench.set(port, i as u64);
                if self.bench.high(name) {
                    counts[i] -= 1;
                }
            }
        }
        self.request_over(release);
        for name in ["cmsg_ready", "msg_ready", "msgrow_ready"] {
            let ready = !self.rng.random_bool(slow);
            self.bench.set(name, ready.into());
        }
        let seen = self.output();
        if self.bench.high("msgpiece_write") {
            let at = self.bench.get("msgpiece_at") as usize;
            self.pieces[at] = (self.bench.get("msgpiece_addr"), self.bench.get("msgpiece_end"));
        }
        self.bench.clock();
        self.clock += 1;
        seen
    }

    /// D1: one of the requests that are outstanding is over.
    fn request_over(&mut self, chance: f64) {
        let n = self.rng.random_range(0..self.requests.len());
        let waits = self.requests[n] > 0 && !self.over && self.rng.random_bool(chance);
        self.over = waits;
        self.bench.set("request_done", waits.into());
        self.bench.set("request_done_qp", n as u64);
        self.requests[n] -= u32::from(waits);
    }

    fn output(&mut self) -> Option<(usize, u64)> {
        let b = &mut self.bench;
        let fire = b.high("cmsg_valid") && b.dut_input("cmsg_ready");
        let msg = b.high("msg_valid") && b.dut_input("msg_ready");
        assert!(!msg || fire, "a message without its cmsg");
        if !fire {
            return None;
        }
        let qp = b.get("msg_qp") as usize;
        let (index, wqe) = self.posted[qp].pop_front().expect("a WQE that was not posted");
        let status = self.status(qp, &wqe);
        let (list, length) = (self.list(qp, &wqe), self.length(qp, &wqe));
        let b = &mut self.bench;
        let conn = qp % 4;
        let msn = u64::from(self.msn[qp] & 0xff_ffff);
        let pair = |i: usize| u64::from(wqe[i]) | u64::from(wqe[i + 1]) << 32;
        assert_eq!(b.get("cmsg_status"), status, "WQE {wqe:x?}");
        assert_eq!(msg, status == 0);
        assert_eq!(b.high("msgrow_write"), status == 0);
        assert_eq!((b.get("cmsg_wqe_index"), b.get("msg_msn"), b.get("msg_conn")), (index.into(), msn, conn as u64));
        assert_eq!(
            (b.get("cmsg_wr_id"), b.get("cmsg_signaled"), b.get("cmsg_opcode")),
            (pair(10), (wqe[0] >> 8 & 1).into(), (wqe[0] & 0xff).into())
        );
        assert!(b.high("commit_valid"));
        assert_eq!(b.words("commit_data"), wqe[..16]);
        if status == 0 {
            let opcode = wqe[0] & 0xff;
            let asks = opcode >= 4;
            assert_eq!(b.get("msg_npkts"), if asks { 1 } else { length.div_ceil(1 << MTU_LOG2[conn]).max(1) });
            assert_eq!(b.get("msg_length"), if asks { 0 } else { length });
            assert_eq!(b.get("cmsg_length"), length);
            let m = self.config.msgs_per_stream as u64;
            assert_eq!(b.get("msgrow_addr"), qp as u64 * m + msn % m);
            assert_eq!(b.high("msgrow_listed"), list.is_some() && !asks);
            assert_eq!(b.high("msgrow_spread"), list.is_some() && asks);
            if let Some(list) = &list {
                let mut end = 0;
                for ((addr, length, lkey), told) in list.iter().zip(self.pieces) {
                    end += length;
                    assert_eq!(told.1, end);
                    if *length > 0 {
                        let (base, _, dma, _) = KEYS[(lkey >> 8) as usize];
                        assert_eq!(told.0, addr - base + dma);
                    }
                }
                self.lists_taken += 1;
            } else if length > 0 {
                let (base, _, dma, _) = KEYS[(wqe[1] >> 8) as usize];
                assert_eq!(b.get("msgrow_laddr"), pair(2) - base + dma);
            }
            assert_eq!((b.get("msgrow_raddr"), b.get("msgrow_rkey"), b.get("msgrow_length")), (pair(4), wqe[6].into(), length));
            assert_eq!(b.get("msgrow_peer_qpn"), 0x777 + qp as u64);
            // section 11
            let consuming = (1..=3).contains(&opcode);
            assert_eq!(b.get("msgrow_opcode"), u64::from(opcode));
            assert_eq!((b.high("msgrow_request"), b.high("msgrow_atomic")), (asks, opcode > 4));
            if asks {
                assert_eq!(b.get("msgrow_tag"), self.tags[qp]);
                assert_eq!((b.get("msgrow_swap_add"), b.get("msgrow_compare")), (pair(12), pair(14)));
                assert!(self.requests[qp] < most(qp), "D1: a request more than the queue pair may have");
                self.requests[qp] += 1;
            }
            if self.config.reads && wqe[0] >> 9 & 1 == 1 {
                assert_eq!(self.requests[qp], u32::from(asks), "D1: a fence");
                self.fences += 1;
            }
            let b = &mut self.bench;
            assert_eq!(b.get("msgrow_imm"), u64::from(wqe[8]));
            assert_eq!(b.high("msgrow_sol"), consuming && wqe[0] >> 10 & 1 == 1);
            if self.config.sends {
                assert_eq!(b.get("msgrow_rq_seq"), u64::from(self.rq_seq[qp]));
                self.rq_seq[qp] += u32::from(consuming);
            }
            self.outstanding_conn[conn] += 1;
        }
        self.msn[qp] += 1;
        self.outstanding_qp[qp] += 1;
        assert!(self.outstanding_qp[qp] <= self.config.msgs_per_stream, "W1: more than M messages");
        assert!(self.outstanding_conn[conn] <= self.config.conn_fifo, "W1: the connection's FIFO overflows");
        Some((qp, status))
    }

    /// Everything posted is taken in the end.
    fn drain(&mut self) {
        for qp in 0..self.config.qps {
            self.step(Some(qp), 0.0, 1.0);
        }
        for _ in 0..30_000 {
            if self.posted.iter().all(|p| p.is_empty()) {
                break;
            }
            self.step(None, 0.1, 0.9);
        }
        assert!(
            self.posted.iter().all(|p| p.is_empty()),
            "WQEs left: {:?}",
            self.posted.iter().map(|p| p.len()).collect::<Vec<_>>()
        );
    }
}

fn random_run<const W: usize>(config: BuildConfig, seed: u64) -> Host {
    let mut host = Host::new::<W>(config, 20, seed);
    let mut statuses = [0; 8];
    for round in 0..6_000u32 {
        let mut bell = None;
        if round % 7 == 0 {
            let qp = host.rng.random_range(0..host.config.qps);
            let good = host.rng.random_bool(0.4);
            let wqe = host.random_wqe(good);
            if host.post(qp, wqe) && host.rng.random_bool(0.7) {
                bell = Some(qp);
            }
        }
        if let Some((_, status)) = host.step(bell, 0.2, 0.25) {
            statuses[status as usize] += 1;
        }
    }
    host.drain();
    assert!([0, 1, 2, 4].iter().all(|&s| statuses[s] > 0), "{statuses:?}");
    host
}

/// Half of all queue pairs have lists, where the build has.
#[test]
fn w1_every_wqe_once_in_order_64() {
    let host = random_run::<64>(BuildConfig { sges: 2, ..build("ecp5").unwrap() }, 1);
    assert!(host.lists_taken > 20, "{}", host.lists_taken);
}

#[test]
fn w1_every_wqe_once_in_order_128() {
    random_run::<128>(build("sim").unwrap(), 2);
    let host = random_run::<128>(build("sim_min").unwrap(), 3);
    assert!(host.lists_taken > 20, "{}", host.lists_taken);
}

#[test]
fn w1_every_wqe_once_in_order_512() {
    let host = random_run::<512>(BuildConfig { sges: 4, ..build("bench512").unwrap() }, 4);
    assert!(host.lists_taken > 20, "{}", host.lists_taken);
}

/// Section 11: SENDs and immediates, and the number of the receive that each uses; a refused one uses none.
#[test]
fn w1_opcodes_that_use_a_receive() {
    let mut host = random_run::<128>(BuildConfig { reads: false, ..with_sends("sim_min") }, 7);
    assert!(host.rq_seq.iter().sum::<u32>() > 200, "{:?}", host.rq_seq);
    // a queue pair that is opened again counts from 0
    (host.producer[3], host.msn[3], host.rq_seq[3]) = (0, 9, 0);
    host.open(3);
    for opcode in [2, 0, 1, 3] {
        let mut wqe = host.random_wqe(true);
        wqe[0] = wqe[0] & !3 | opcode;
        assert!(host.post(3, wqe));
    }
    host.drain();
    assert_eq!(host.rq_seq[3], 3);
}

/// D1: READs and atomics wait in their ring until they may enter, with everything behind them, and a fence for all before it.
#[test]
fn d1_what_may_not_enter_is_set_back() {
    for (name, seed) in [("sim_min", 8), ("sim", 9)] {
        let mut host = random_run::<128>(with_reads(name), seed);
        assert!(host.fences > 10, "{}", host.fences);
        // one place, ten READs: each enters when the one before it is over
        while host.requests.iter().any(|n| *n > 0) {
            host.step(None, 0.0, 1.0);
        }
        for _ in 0..10 {
            let mut wqe = host.random_wqe(true);
            wqe[0] = wqe[0] & !0x2ff | 4;
            assert!(host.post(2, wqe));
        }
        let mut taken = 0;
        for i in 0..400 {
            taken += usize::from(host.step((i == 0).then_some(2), 0.0, 0.0).is_some());
        }
        assert_eq!(taken, 1);
        host.drain();
    }
}

/// Section 10: the row of a queue pair is applied after the WQEs of its earlier life that are under way; those not yet read
/// are not read. Their messages count for the connection until they leave.
#[test]
fn a_queue_pair_is_closed_with_wqes_under_way() {
    let mut host = Host::new::<128>(build("sim").unwrap(), 300, 6);
    for _ in 0..12 {
        let wqe = host.random_wqe(true);
        assert!(host.post(0, wqe));
    }
    for i in 0..100 {
        host.step((i == 0).then_some(0), 0.0, 0.0);
    }
    let under_way = host.reads.len();
    assert_eq!(under_way, host.config.fifo.dr_outstanding);
    host.bench.set("cfg_table", 3);
    host.bench.set("cfg_index", 0);
    host.bench.set_words("cfg_data", &[0; 16]);
    host.bench.set("cfg_valid", 1);
    host.step(None, 0.0, 0.0);
    host.bench.set("cfg_valid", 0);
    let mut taken = 0;
    while host.bench.high("cfg_busy") {
        taken += usize::from(host.step(None, 0.0, 0.0).is_some());
        assert!(host.clock < 5000, "the row is never applied");
    }
    assert_eq!(taken, under_way);
    for _ in 0..1000 {
        assert!(host.step(None, 0.0, 0.0).is_none(), "a WQE of a closed queue pair");
    }
    assert_eq!(host.outstanding_conn[0], under_way);
    host.posted[0].clear();
    (host.producer[0], host.outstanding_qp[0], host.msn[0], host.rq_seq[0]) = (0, 0, 0x55, 0);
    host.open(0);
    for _ in 0..20 {
        let wqe = host.random_wqe(true);
        assert!(host.post(0, wqe));
    }
    host.drain();
}

/// 64-byte messages: at most 8 clocks each, whatever memory takes to answer.
#[test]
fn at_most_eight_clocks_a_wqe() {
    let mut host = Host::new::<512>(build("bench512").unwrap(), 200, 5);
    let (mut taken, mut first, mut last) = (0u64, 0, 0);
    for qp in 0..16 {
        for _ in 0..16 {
            let wqe = host.random_wqe(true);
            assert!(host.post(qp, wqe));
        }
    }
    for qp in 0..16 {
        host.step(Some(qp), 0.0, 1.0);
    }
    while taken < 256 && host.clock < 20_000 {
        if host.step(None, 0.0, 1.0).is_some() {
            first = if taken == 0 { host.clock } else { first };
            taken += 1;
            last = host.clock;
        }
    }
    assert_eq!(taken, 256);
    assert!(last - first <= 8 * 255, "{} clocks for 255 WQEs", last - first);
}
