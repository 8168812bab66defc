//! retransmit_queue: simulation = Verilog, and a map of outstanding packets as reference.
mod tx_support;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::retransmit_queue::RetransmitQueue;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::BTreeMap;
use tx_support::Bench;

fn small() -> BuildConfig {
    BuildConfig { conns: 2, pool_packets: 128, ..build("sim").unwrap() }
}

#[test]
fn simulation_equals_verilog() {
    for window in mrnic_stimuli::WINDOWS {
        mrnic_stimuli::retransmit_queue::difftest(window).run();
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Entry {
    qp: u64,
    msn: u64,
    index: u64,
    bytes: u64,
    first: u64,
    last: u64,
    kind: u64,
}

fn entry(rng: &mut StdRng) -> Entry {
    let bits = |rng: &mut StdRng, n: u32| rng.random::<u64>() >> (64 - n);
    Entry {
        qp: bits(rng, 16),
        msn: bits(rng, 24),
        index: bits(rng, 24),
        bytes: bits(rng, 13),
        first: bits(rng, 1),
        last: bits(rng, 1),
        kind: bits(rng, 2),
    }
}

struct Queue {
    bench: Bench,
}

impl Queue {
    fn new(config: &BuildConfig) -> Queue {
        let mut bench = Bench::new(&RetransmitQueue::new(config), "retransmit_queue");
        bench.until("init_done", 10_000);
        Queue { bench }
    }

    /// Two clocks a request, the answer at the end of the second.
    fn request(&mut self, port: &str, row: u64, ppsn: u64) {
        let b = &mut self.bench;
        b.set(&format!("{port}_row"), row);
        b.set(&format!("{port}_ppsn"), ppsn);
        b.set(&format!("{port}_valid"), 1);
        b.until(&format!("{port}_ready"), 5);
        b.clock();
        b.set(&format!("{port}_valid"), 0);
        b.clock();
    }

    fn alloc(&mut self, row: u64, ppsn: u64, e: Entry) {
        for (name, value) in [
            ("seq_op", 0),
            ("seq_qp", e.qp),
            ("seq_msn", e.msn),
            ("seq_index", e.index),
            ("seq_bytes", e.bytes),
            ("seq_first", e.first),
            ("seq_last", e.last),
            ("seq_kind", e.kind),
        ] {
            self.bench.set(name, value);
        }
        self.request("seq", row, ppsn);
        assert!(!self.bench.high("seq_rsp_valid"), "an alloc has no answer");
    }

    fn lookup(&mut self, row: u64, ppsn: u64) -> Entry {
        self.bench.set("seq_op", 1);
        self.request("seq", row, ppsn);
        let b = &mut self.bench;
        assert!(b.high("seq_rsp_valid"));
        Entry {
            qp: b.get("seq_rsp_qp"),
            msn: b.get("seq_rsp_msn"),
            index: b.get("seq_rsp_index"),
            bytes: b.get("seq_rsp_bytes"),
            first: b.get("seq_rsp_first"),
            last: b.get("seq_rsp_last"),
            kind: b.get("seq_rsp_kind"),
        }
    }

    fn free(&mut self, row: u64, ppsn: u64) -> (u64, u64, u64, u64) {
        self.request("ret", row, ppsn);
        let b = &mut self.bench;
        assert!(b.high("ret_rsp_valid"));
        (b.get("ret_rsp_qp"), b.get("ret_rsp_msn"), b.get("ret_rsp_bytes"), b.get("ret_rsp_kind"))
    }
}

#[test]
fn entries_come_back_until_they_are_freed() {
    for window_bits in [256, 128, 64] {
        entries_come_back(&BuildConfig { window_bits, ..small() });
    }
}

fn entries_come_back(config: &BuildConfig) {
    let ring = config.window_bits as u64 - 1;
    let mut q = Queue::new(config);
    let mut rng = StdRng::seed_from_u64(5);
    let mut held: BTreeMap<(u64, u64), Entry> = BTreeMap::new();
    let mut next: Vec<u64> = (0..16).map(|row| 0xff_ff00 + row * 29).collect();
    let (mut full, mut freed) = (0, 0);
    for round in 0..30_000 {
        // the number of chunks in use decides on room
        let chunks: std::collections::BTreeSet<_> = held.keys().map(|&(row, ppsn)| (row, ppsn & 0xff_ffff & !7)).collect();
        let groups: std::collections::BTreeSet<_> = chunks.iter().map(|&(row, base)| (row, base & ring)).collect();
        let left = groups.len() < config.pool_packets / 8;
        assert!(left || !q.bench.high("room"), "round {round}");
        if round % 2 == 0 {
            // a chunk that was just freed counts from the next clock
            q.bench.clock();
            assert_eq!(q.bench.high("room"), left, "round {round}");
        }
        let row = rng.random_range(0..16u64);
        let busy = (round / 1000) % 2 == 0;
        match rng.random_range(0..10) {
            0..=5 if busy || rng.random_bool(0.3) => {
                if !q.bench.high("room") {
                    full += 1;
                    continue;
                }
                let ppsn = next[row as usize] & 0xff_ffff;
                // at most W outstanding on a path: residues are not reused
                if held.keys().any(|&(r, p)| r == row && p & ring == ppsn & ring) {
                    continue;
                }
                next[row as usize] += 1;
                let e = entry(&mut rng);
                q.alloc(row, ppsn, e);
                held.insert((row, ppsn), e);
            }
            6..=7 if !held.is_empty() => {
                let (&(row, ppsn), &e) = held.iter().nth(rng.random_range(0..held.len())).unwrap();
                assert_eq!(q.lookup(row, ppsn), e);
            }
            _ if !held.is_empty() => {
                let (&(row, ppsn), &e) = held.iter().nth(rng.random_range(0..held.len())).unwrap();
                held.remove(&(row, ppsn));
                assert_eq!(q.free(row, ppsn), (e.qp, e.msn, e.bytes, e.kind));
                freed += 1;
            }
            _ => {}
        }
    }
    assert!(full > 100 && freed > 3000, "{full} {freed}");
    // everything freed: the whole pool can be used again
    for ((row, ppsn), _) in std::mem::take(&mut held) {
        q.free(row, ppsn);
    }
    for n in 0..config.pool_packets as u64 {
        if n % 8 == 0 {
            assert!(q.bench.high("room"), "chunk {n} is missing: a chunk was lost");
        }
        q.alloc(n >> 6, n & 0x3f, entry(&mut rng));
    }
    assert!(!q.bench.high("room"));
}

#[test]
fn flush_returns_the_chunks_of_one_connection() {
    let config = small();
    let mut q = Queue::new(&config);
    let mut rng = StdRng::seed_from_u64(6);
    let kept: Vec<Entry> = (0..8).map(|_| entry(&mut rng)).collect();
    for (n, &e) in kept.iter().enumerate() {
        q.alloc(1, n as u64, e);
    }
    let mut n = 0;
    while q.bench.high("room") {
        q.alloc(8 + n / 100, 8 * (n % 100), kept[0]);
        n += 1;
    }
    q.bench.set("flush_conn", 1);
    q.bench.set("flush_valid", 1);
    q.bench.clock();
    q.bench.set("flush_valid", 0);
    assert!(q.bench.high("flush_busy"));
    for _ in 0..600 {
        q.bench.clock();
    }
    assert!(!q.bench.high("flush_busy"));
    for (n, &e) in kept.iter().enumerate() {
        assert_eq!(q.lookup(1, n as u64), e, "the other connection keeps its packets");
    }
    for chunk in 0..config.pool_packets as u64 / 8 - 1 {
        assert!(q.bench.high("room"), "chunk {chunk}");
        q.alloc(8, 8 * chunk, kept[1]);
        assert_eq!(q.lookup(8, 8 * chunk), kept[1]);
    }
    assert!(!q.bench.high("room"));
}

/// Acknowledged is not yet retired: while completion holds retire back, a path may already send PPSN n + W. Its entry waits
/// for the free of n, and nothing else is sent until then.
#[test]
fn an_alloc_one_window_ahead_waits_for_the_free() {
    for window_bits in [256, 128, 64] {
        let config = BuildConfig { window_bits, ..small() };
        let ahead = window_bits as u64;
        let mut q = Queue::new(&config);
        let mut rng = StdRng::seed_from_u64(7);
        let (old, other, new) = (entry(&mut rng), entry(&mut rng), entry(&mut rng));
        q.alloc(3, 5, old);
        q.alloc(3, 6, other);
        q.alloc(3, 5 + ahead, new);
        q.bench.clock();
        assert!(!q.bench.high("room") && !q.bench.high("seq_ready"), "the alloc waits");
        // a free of another entry does not help
        assert_eq!(q.free(3, 6), (other.qp, other.msn, other.bytes, other.kind));
        for _ in 0..20 {
            q.bench.clock();
            assert!(!q.bench.high("room"));
        }
        assert_eq!(q.free(3, 5), (old.qp, old.msn, old.bytes, old.kind));
        for _ in 0..4 {
            q.bench.clock();
        }
        assert!(q.bench.high("room") && q.bench.high("seq_ready"));
        assert_eq!(q.lookup(3, 5 + ahead), new);
        // the free of n and that of n + W back to back: the alloc is stored in between
        q.alloc(3, 5 + 2 * ahead, old);
        assert_eq!(q.free(3, 5 + ahead), (new.qp, new.msn, new.bytes, new.kind));
        assert_eq!(q.free(3, 5 + 2 * ahead), (old.qp, old.msn, old.bytes, old.kind));
        // every chunk is back
        for chunk in 0..config.pool_packets as u64 / 8 {
            assert!(q.bench.high("room"), "chunk {chunk}");
            q.alloc(chunk / 8, 8 * (chunk % 8), old);
        }
        assert!(!q.bench.high("room"));
    }
}

/// An alloc that waits for a free when its connection is opened anew is of the life before: without this it was stored, after any other free,
/// in the new life's row (found by the proof, hdl/formal/retransmit_queue.sv).
#[test]
fn flush_forgets_an_alloc_that_waits() {
    let config = small();
    let ahead = config.window_bits as u64;
    let mut q = Queue::new(&config);
    let mut rng = StdRng::seed_from_u64(8);
    let (old, waiting, new, other) = (entry(&mut rng), entry(&mut rng), entry(&mut rng), entry(&mut rng));
    q.alloc(0, 7, other);
    q.alloc(8, 5, old);
    q.alloc(8, 5 + ahead, waiting);
    q.bench.clock();
    assert!(!q.bench.high("room"), "the alloc waits");
    q.bench.set("flush_conn", 1);
    q.bench.set("flush_valid", 1);
    q.bench.clock();
    q.bench.set("flush_valid", 0);
    q.bench.clock();
    for _ in 0..600 {
        q.bench.clock();
    }
    assert!(!q.bench.high("flush_busy") && q.bench.high("room"), "nothing waits any more");
    assert_eq!(q.free(0, 7), (other.qp, other.msn, other.bytes, other.kind));
    q.alloc(8, 5, new);
    assert_eq!(q.lookup(8, 5), new);
    assert_eq!(q.free(8, 5), (new.qp, new.msn, new.bytes, new.kind));
    for chunk in 0..config.pool_packets as u64 / 8 {
        assert!(q.bench.high("room"), "chunk {chunk}");
        q.alloc(chunk / 8, 8 * (chunk % 8), old);
    }
}

/// Fault 12: a lookup loses the index.
#[test]
fn fault_12_is_visible() {
    let mut q = Queue::new(&small());
    let e = Entry { qp: 1, msn: 2, index: 3, bytes: 4, first: 0, last: 1, kind: 2 };
    q.alloc(0, 0, e);
    q.bench.set("fault", 12);
    assert_eq!(q.lookup(0, 0), Entry { index: 0, ..e });
}
