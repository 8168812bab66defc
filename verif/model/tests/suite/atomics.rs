//! Atomics: D2, D3, D5, D6.

use mrnic_model::*;

use crate::duo::{rough, wqe, Duo, DuoSetup, BARE_KEY, LONG};
use crate::pair::seed;

fn fetch_add(wr_id: u64, local: u64, remote: u64, add: u64) -> Wqe {
    Wqe { swap_add: add, ..wqe(WQE_FETCH_ADD, wr_id, local, remote, 8) }
}

fn compare_swap(wr_id: u64, local: u64, remote: u64, compare: u64, swap: u64) -> Wqe {
    Wqe { swap_add: swap, compare, ..wqe(WQE_COMPARE_SWAP, wr_id, local, remote, 8) }
}

/// D3, D6: values before and after, also split over several SGEs.
#[test]
fn d6_values() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup::default());
    let (word, old) = (duo.alloc8(1, 1), duo.alloc(0, 64));
    duo.set_word(1, word, 40);
    duo.post(0, 0, &fetch_add(1, old, word, 2));
    duo.post(0, 0, &compare_swap(2, old + 8, word, 42, u64::MAX));
    duo.post(0, 0, &compare_swap(3, old + 16, word, 42, 7));
    duo.post(0, 0, &fetch_add(4, old + 24, word, 3));
    let parts = duo.split(old + 32, 8, 5);
    duo.nic[0].post_send_list(0, &fetch_add(5, 0, word, 0), &parts).unwrap();
    duo.run(LONG);
    let before: Vec<u64> = (0..5).map(|i| duo.word(0, old + 8 * i)).collect();
    assert_eq!(before, [40, 42, u64::MAX, u64::MAX, 2]);
    assert_eq!(duo.word(1, word), 2);
    assert_eq!(duo.statuses(0, false), (1..=5).map(|i| (i, 0)).collect::<Vec<_>>());
    assert_eq!((duo.cqes[0][0].wc_opcode(), duo.cqes[0][1].wc_opcode(), duo.cqes[0][0].byte_len), (4, 3, 8));
    duo.assert_quiet();
}

/// D5: each atomic is executed exactly once, whatever is lost, doubled or late: sums of several QPs in both wire profiles.
#[test]
fn d5_exactly_once() {
    fn run<P: Profile>(loss: f64, seed: u64) {
        let mut duo = Duo::<P>::new(&DuoSetup { qps: 4, fabric: rough(loss), seed, retry: 15, ..DuoSetup::default() });
        let word = duo.alloc8(1, 1);
        duo.set_word(1, word, 0);
        let mut places = vec![];
        for i in 0..200u64 {
            let old = duo.alloc(0, 8);
            let mut posted = duo.nic[0].post_send(i as u32 % 4, &fetch_add(i, old, word, 1 << (i % 3 * 20)));
            while posted.is_err() {
                assert!(duo.step());
                posted = duo.nic[0].post_send(i as u32 % 4, &fetch_add(i, old, word, 1 << (i % 3 * 20)));
            }
            places.push(old);
        }
        duo.run(LONG);
        assert_eq!(duo.cqes[0].len(), 200);
        assert!(duo.cqes[0].iter().all(|c| c.status == Status::Success));
        assert_eq!(duo.word(1, word), 67 + (67 << 20) + (66 << 40), "the sum");
        assert_eq!(duo.mem[1].atomics, 200);
        let mut before: Vec<u64> = places.iter().map(|&p| duo.word(0, p)).collect();
        before.sort_unstable();
        before.dedup();
        assert_eq!(before.len(), 200, "each saw a value of its own");
        duo.assert_quiet();
    }
    for (i, loss) in [0.0, 0.1, 0.3].into_iter().enumerate() {
        run::<OpenMr0>(loss, seed(20 + i as u64));
        run::<MrcLike>(loss, seed(20 + i as u64));
    }
}

/// D3: the atomics of a stream are executed in its order: a chain of compare-and-swaps, each of which needs the one before.
#[test]
fn d3_order_of_a_stream() {
    let mut duo = Duo::<OpenMr0>::new(&DuoSetup { fabric: rough(0.2), retry: 15, seed: seed(30), ..DuoSetup::default() });
    let word = duo.alloc8(1, 1);
    duo.set_word(1, word, 0);
    let old = duo.alloc(0, 8 * 50);
    for i in 0..50 {
        duo.post(0, 0, &compare_swap(i, old + 8 * i, word, i, i + 1));
    }
    duo.run(LONG);
    assert_eq!(duo.word(1, word), 50);
    assert_eq!((0..50).map(|i| duo.word(0, old + 8 * i)).collect::<Vec<_>>(), (0..50).collect::<Vec<_>>());
    duo.assert_quiet();
}

/// D2: alignment, rights, key, the QP's flag; W1: the length.
#[test]
fn d2_refusals() {
    let run = |qp: QpConfig, change: &dyn Fn(&mut Wqe)| {
        let mut duo = Duo::<OpenMr0>::new(&DuoSetup { qp, ..DuoSetup::default() });
        let word = duo.alloc8(1, 2);
        let mut w = fetch_add(1, 0, word, 1);
        change(&mut w);
        duo.post(0, 0, &w);
        duo.run(LONG);
        duo.assert_quiet();
        assert_eq!(duo.mem[1].atomics, u64::from(duo.cqes[0][0].status == Status::Success));
        (duo.cqes[0][0].status as u8, duo.cqes[0][0].nak_code)
    };
    let usual = DuoSetup::default().qp;
    assert_eq!(run(usual, &|_| {}), (0, 0));
    assert_eq!(run(usual, &|w| w.raddr += 4), (9, 5));
    assert_eq!(run(usual, &|w| w.rkey = BARE_KEY), (10, 2));
    assert_eq!(run(usual, &|w| w.rkey = 0), (10, 1));
    assert_eq!(run(usual, &|w| w.raddr = u64::MAX - 7), (10, 3));
    let access = QpAccess { remote_atomic: false, ..QpAccess::ALL };
    assert_eq!(run(QpConfig { access, ..usual }, &|_| {}), (10, 2));
    assert_eq!(run(usual, &|w| w.length = 4), (1, 0));
    assert_eq!(run(usual, &|w| w.lkey = BARE_KEY), (4, 0));
}

/// The default of `HostMemory` for both atomics.
#[test]
fn default_atomics_of_host_memory() {
    struct Plain([u8; 16]);
    impl HostMemory for Plain {
        fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
            let at = addr as usize;
            buf.copy_from_slice(self.0.get(at..at + buf.len()).ok_or(MemoryError { addr, len: buf.len() as u32 })?);
            Ok(())
        }
        fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
            let at = addr as usize;
            self.0[at..at + data.len()].copy_from_slice(data);
            Ok(())
        }
    }
    let mut mem = Plain([0; 16]);
    assert_eq!(mem.fetch_add(8, 5), Ok(0));
    assert_eq!(mem.fetch_add(8, u64::MAX), Ok(5));
    assert_eq!(mem.compare_swap(8, 5, 9), Ok(4), "not equal: unchanged");
    assert_eq!(mem.compare_swap(8, 4, 0x0102), Ok(4));
    assert_eq!(mem.0[8..12], [2, 1, 0, 0], "little-endian");
    assert!(mem.fetch_add(12, 1).is_err());
}
