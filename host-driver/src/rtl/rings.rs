//! The rings of a queue pair in this process's memory: send queue and receive queue, and a completion queue for each.
//!
//! In: WQEs and receives to write. Out: CQEs that the NIC has written, each once, in order. A slot is written again only after its CQE was taken.
use super::pages::Pages;
use mrnic_host_bus::rows::{recv_entry_bytes, Rings};
use mrnic_model::{Sge, Wqe};
use mrnic_regs::ring;
use std::sync::atomic::{fence, AtomicU32, Ordering};

/// Smaller rings save nothing.
const LOG2_MIN: u8 = 4;

/// Pieces that an entry of a send queue or receive queue has room for.
pub const SGES_MAX: u32 = 4;
/// Words of a WQE, of an SGE, and of both in an entry.
const WQE_WORDS: usize = ring::wqe::BYTES / 4;
const SGE_WORDS: usize = ring::sge::BYTES / 4;
const ENTRY_WORDS: usize = WQE_WORDS + SGES_MAX as usize * SGE_WORDS;

/// A request as it lies in the send queue, with the list behind it.
fn words_of(wqe: &Wqe, list: &[Sge]) -> [u32; ENTRY_WORDS] {
    let mut words = [0; ENTRY_WORDS];
    ring::wqe::OPCODE.set(&mut words, wqe.opcode.into());
    // Also those whose completion the program does not want to see: it frees their slot.
    ring::wqe::SIGNALED.set(&mut words, 1);
    ring::wqe::FENCE.set(&mut words, wqe.fence.into());
    ring::wqe::SOLICITED.set(&mut words, wqe.solicited.into());
    ring::wqe::LKEY.set(&mut words, wqe.lkey.into());
    ring::wqe::LADDR.set(&mut words, wqe.laddr.into());
    ring::wqe::RADDR.set(&mut words, wqe.raddr.into());
    ring::wqe::RKEY.set(&mut words, wqe.rkey.into());
    ring::wqe::LENGTH.set(&mut words, wqe.length.into());
    ring::wqe::IMM.set(&mut words, wqe.imm.into());
    ring::wqe::WR_ID.set(&mut words, wqe.wr_id.into());
    ring::wqe::SWAP_ADD.set(&mut words, wqe.swap_add.into());
    ring::wqe::COMPARE.set(&mut words, wqe.compare.into());
    ring::wqe::NUM_SGE.set(&mut words, list.len() as u128);
    set_list(&mut words, list);
    words
}

/// The list behind a request or a receive.
fn set_list(words: &mut [u32; ENTRY_WORDS], list: &[Sge]) {
    for (piece, sge) in words[WQE_WORDS..].chunks_exact_mut(SGE_WORDS).zip(list) {
        ring::sge::ADDR.set(piece, sge.addr.into());
        ring::sge::LENGTH.set(piece, sge.len.into());
        ring::sge::LKEY.set(piece, sge.lkey.into());
    }
}

/// A receive: its pieces, all with bytes; none: it is without memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recv {
    pub wr_id: u64,
    pub count: usize,
    pub list: [Sge; SGES_MAX as usize],
}

impl Recv {
    /// As it lies in a ring, with the list behind it if it has more than one piece.
    fn words(&self) -> [u32; ENTRY_WORDS] {
        let mut words = [0; ENTRY_WORDS];
        let only = self.list[0];
        ring::recv::LKEY.set(&mut words, only.lkey.into());
        ring::recv::ADDR.set(&mut words, only.addr.into());
        ring::recv::LENGTH.set(&mut words, only.len.into());
        ring::recv::WR_ID.set(&mut words, self.wr_id.into());
        if self.count > 1 {
            ring::recv::NUM_SGE.set(&mut words, self.count as u128);
            set_list(&mut words, &self.list[..self.count]);
        }
        words
    }
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    pub status: u8,
    pub opcode: u8,
    pub solicited: bool,
    pub wr_id: u64,
    pub byte_len: u32,
    /// Of the WQE or the receive, modulo 2^16.
    pub index: u16,
    pub nak_code: u8,
    pub imm: Option<u32>,
}

/// A ring that the NIC reads.
struct WorkRing {
    start: *mut u8,
    entry_bytes: usize,
    log2: u8,
    produced: u64,
}

/// A ring that the NIC writes.
struct CompletionRing {
    start: *mut u8,
    log2: u8,
    consumed: u64,
}

// SAFETY: both point into the pages of the queue pair's rings, which own them.
unsafe impl Send for WorkRing {}
unsafe impl Sync for WorkRing {}
unsafe impl Send for CompletionRing {}
unsafe impl Sync for CompletionRing {}

impl WorkRing {
    /// Writes the next entry. The caller keeps count of free slots.
    fn push(&mut self, words: &[u32]) {
        let slot = (self.produced & ((1 << self.log2) - 1)) as usize;
        for (i, word) in words.iter().enumerate() {
            // SAFETY: the slot lies in the allocation; the NIC reads it only after the doorbell.
            unsafe { self.start.add(slot * self.entry_bytes + 4 * i).cast::<u32>().write_volatile(word.to_le()) };
        }
        self.produced += 1;
    }
}

impl CompletionRing {
    /// The next CQE, if the NIC has written it.
    fn pop(&mut self) -> Option<Cqe> {
        let slot = (self.consumed & ((1 << self.log2) - 1)) as usize;
        let at = (self.start as usize + slot * ring::cqe::BYTES) as *mut u32;
        // SAFETY: the slot lies in the allocation, aligned; the NIC writes it at any time.
        let word = |i: usize| u32::from_le(unsafe { AtomicU32::from_ptr(at.add(i)) }.load(Ordering::Relaxed));
        let phase = (self.consumed >> self.log2) & 1 ^ 1;
        let mut words = [0u32; ring::cqe::BYTES / 4];
        words[0] = word(0);
        if ring::cqe::PHASE.get(&words) != phase {
            return None;
        }
        // The first word is written last.
        fence(Ordering::Acquire);
        words.iter_mut().enumerate().skip(1).for_each(|(i, w)| *w = word(i));
        self.consumed += 1;
        Some(Cqe {
            status: ring::cqe::STATUS.get(&words) as u8,
            opcode: ring::cqe::OPCODE.get(&words) as u8,
            solicited: ring::cqe::SOLICITED.get(&words) == 1,
            wr_id: ring::cqe::WR_ID.get(&words),
            byte_len: ring::cqe::BYTE_LEN.get(&words) as u32,
            index: ring::cqe::WQE_INDEX.get(&words) as u16,
            nak_code: ring::cqe::NAK_CODE.get(&words) as u8,
            imm: (ring::cqe::IMM.get(&words) == 1).then(|| ring::cqe::MSN.get(&words) as u32),
        })
    }
}

/// All rings of a queue pair, and how far they were used.
pub struct QueueRings {
    sends: WorkRing,
    sent: CompletionRing,
    receives: WorkRing,
    received: CompletionRing,
    // Declared last: dropped when nothing points into them any more.
    pages: Pages,
}

/// The ring of a shared receive queue.
pub struct RecvRing {
    ring: WorkRing,
    pages: Pages,
}

impl RecvRing {
    /// With so many entries; `lists`: receives may have more than one piece.
    pub fn new(entries: u32, lists: bool) -> Self {
        let (log2, entry_bytes) = (log2_of(entries), recv_entry_bytes(lists) as usize);
        let pages = Pages::new(entry_bytes << log2);
        RecvRing { ring: WorkRing { start: pages.start(), entry_bytes, log2, produced: 0 }, pages }
    }

    /// Receives may have more than one piece.
    pub fn lists(&self) -> bool {
        self.ring.entry_bytes > ring::recv::BYTES
    }

    /// Where it lies: address and bytes.
    pub fn range(&self) -> (u64, u64) {
        (self.pages.start() as u64, self.pages.bytes() as u64)
    }

    pub fn log2(&self) -> u8 {
        self.ring.log2
    }

    /// Writes the next receive. Returns how many were written.
    pub fn push(&mut self, recv: &Recv) -> u64 {
        self.ring.push(&recv.words()[..self.ring.entry_bytes / 4]);
        self.ring.produced
    }
}

fn log2_of(entries: u32) -> u8 {
    (entries.max(1).next_power_of_two().ilog2() as u8).max(LOG2_MIN)
}

impl QueueRings {
    /// Rings for so many requests and receives; those with lists may have more than one piece.
    pub fn new((requests, lists): (u32, bool), (receives, recv_lists): (u32, bool)) -> Self {
        let entry_bytes = ring::wqe::BYTES << u8::from(lists);
        let recv_bytes = recv_entry_bytes(recv_lists) as usize;
        let (sq_log2, rq_log2) = (log2_of(requests), log2_of(receives));
        // Both completion queues have the same size: the golden model knows one for a queue pair.
        let cq_log2 = sq_log2.max(rq_log2);
        let sizes = [entry_bytes << sq_log2, ring::cqe::BYTES << cq_log2, recv_bytes << rq_log2, ring::cqe::BYTES << cq_log2];
        let pages = Pages::new(sizes.iter().sum());
        let mut at = 0;
        let starts = sizes.map(|bytes| {
            let start = pages.start().wrapping_add(at);
            at += bytes;
            start
        });
        QueueRings {
            sends: WorkRing { start: starts[0], entry_bytes, log2: sq_log2, produced: 0 },
            sent: CompletionRing { start: starts[1], log2: cq_log2, consumed: 0 },
            receives: WorkRing { start: starts[2], entry_bytes: recv_bytes, log2: rq_log2, produced: 0 },
            received: CompletionRing { start: starts[3], log2: cq_log2, consumed: 0 },
            pages,
        }
    }

    /// Where they lie: address and bytes.
    pub fn range(&self) -> (u64, u64) {
        (self.pages.start() as u64, self.pages.bytes() as u64)
    }

    pub fn rings(&self) -> Rings {
        Rings {
            sq_base: self.sends.start as u64,
            sq_log2: self.sends.log2,
            sq_lists: self.sends.entry_bytes > ring::wqe::BYTES,
            cq_base: self.sent.start as u64,
            cq_log2: self.sent.log2,
            rq_base: self.receives.start as u64,
            rq_log2: self.receives.log2,
            rq_lists: self.receives.entry_bytes > ring::recv::BYTES,
            rcq_base: self.received.start as u64,
        }
    }

    /// Entries of the send queue and of the receive queue.
    pub fn depths(&self) -> (u32, u32) {
        (1 << self.sends.log2, 1 << self.receives.log2)
    }

    /// WQEs and receives written.
    pub fn produced(&self) -> (u64, u64) {
        (self.sends.produced, self.receives.produced)
    }

    /// All begin anew; the NIC must not have them.
    pub fn reset(&mut self) {
        self.pages.clear();
        (self.sends.produced, self.sent.consumed) = (0, 0);
        (self.receives.produced, self.received.consumed) = (0, 0);
    }

    /// `list` is empty, or the pieces of a request that has more than one; then the rings have lists.
    pub fn push(&mut self, wqe: &Wqe, list: &[Sge]) {
        let words = words_of(wqe, list);
        self.sends.push(&words[..self.sends.entry_bytes / 4]);
    }

    pub fn push_recv(&mut self, recv: &Recv) {
        self.receives.push(&recv.words()[..self.receives.entry_bytes / 4]);
    }

    /// The next completion of a request.
    pub fn pop(&mut self) -> Option<Cqe> {
        self.sent.pop()
    }

    /// The next completion of a receive.
    pub fn pop_recv(&mut self) -> Option<Cqe> {
        self.received.pop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The NIC writes completion `index` of a ring: words 0, 2, 5 and 7.
    fn complete(base: u64, log2: u8, index: u64, first: u32, wr_id: u32, last: u32) {
        let slot = index & ((1 << log2) - 1);
        let at = (base + slot * ring::cqe::BYTES as u64) as *mut u32;
        let phase = ((index >> log2) & 1 ^ 1) as u32;
        unsafe {
            at.add(2).write(wr_id);
            at.add(5).write(index as u32 & 0xffff);
            at.add(7).write(last);
            at.write(phase << 16 | first);
        }
    }

    #[test]
    fn completions_are_taken_once_over_many_rounds_and_the_rings_are_apart() {
        let mut rings = QueueRings::new((5, false), (40, false));
        assert_eq!((rings.depths(), rings.range().0 % 4096), ((16, 64), 0));
        let message =
            Wqe { opcode: 3, wr_id: 3, laddr: 1 << 40, lkey: 7, length: 77, imm: 5, solicited: true, ..Wqe::default() };
        let wqe = Wqe { raddr: 9, rkey: 8, fence: true, compare: 1 << 33, swap_add: 6, ..message };
        let only = Sge { addr: 1 << 41, lkey: 6, len: 78 };
        let recv = Recv { wr_id: 1 << 33, count: 1, list: [only, Sge::default(), Sge::default(), Sge::default()] };
        let at = rings.rings();
        for i in 0..1000u64 {
            assert_eq!((rings.pop(), rings.pop_recv()), (None, None));
            rings.push(&wqe, &[]);
            rings.push_recv(&recv);
            complete(at.rcq_base, at.cq_log2, i, 128 << 8 | 3 << 24, !i as u32, i as u32);
            assert_eq!(rings.pop(), None);
            complete(at.cq_base, at.cq_log2, i, 0, i as u32, 9);
            let cqe = rings.pop().expect("it is there");
            assert_eq!((cqe.wr_id, cqe.index, cqe.opcode, cqe.imm), (i, i as u16, 0, None));
            let cqe = rings.pop_recv().expect("it is there");
            assert_eq!((cqe.wr_id, cqe.opcode, cqe.imm, cqe.solicited), (u64::from(!i as u32), 128, Some(i as u32), true));
        }
        let word = |base: u64, i| unsafe { (base as *const u32).add(i).read() };
        let of_wqe = [0, 1, 3, 7, 8, 10, 12, 15].map(|i| word(at.sq_base, i));
        assert_eq!(of_wqe, [0x703, 7, 0x100, 77, 5, 3, 6, 2]);
        assert_eq!([0, 1, 3, 4, 6, 7].map(|i| word(at.rq_base, i)), [0, 6, 0x200, 78, 0, 2]);
        rings.reset();
        assert_eq!((rings.pop(), rings.pop_recv(), rings.produced()), (None, None, (0, 0)));
    }
}
