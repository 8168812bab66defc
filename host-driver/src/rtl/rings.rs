//! The rings of a queue pair in this process's memory: send queue and completion queue.
//!
//! In: WQEs to write. Out: CQEs that the NIC has written, each once, in order. A slot is written again only after its CQE was taken.
use mrnic_host_bus::rows::Rings;
use mrnic_regs::ring;
use std::alloc::{alloc_zeroed, dealloc, handle_alloc_error, Layout};
use std::sync::atomic::{fence, AtomicU32, Ordering};

/// A page: the NIC's host maps memory by pages.
const ALIGN: usize = 4096;

/// Smaller rings save nothing.
const LOG2_MIN: u8 = 4;

/// A request in the send queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wqe {
    pub opcode: u8,
    pub wr_id: u64,
    pub laddr: u64,
    pub lkey: u32,
    pub raddr: u64,
    pub rkey: u32,
    pub length: u32,
}

/// A completion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cqe {
    pub status: u8,
    pub opcode: u8,
    pub wr_id: u64,
    pub byte_len: u32,
    /// Modulo 2^16.
    pub wqe_index: u16,
    pub nak_code: u8,
}

/// Zeroed memory of pages of its own.
struct Pages {
    start: *mut u8,
    layout: Layout,
}

// SAFETY: plain memory, with one owner.
unsafe impl Send for Pages {}
unsafe impl Sync for Pages {}

impl Pages {
    fn new(bytes: usize) -> Self {
        let bytes = bytes.next_multiple_of(ALIGN);
        // SAFETY: the alignment is a power of two, the size a multiple of it, and not 0.
        let layout = unsafe { Layout::from_size_align_unchecked(bytes, ALIGN) };
        let start = unsafe { alloc_zeroed(layout) };
        if start.is_null() {
            handle_alloc_error(layout);
        }
        Pages { start, layout }
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start, self.layout) }
    }
}

/// Both rings, and how far they were used.
pub struct QueueRings {
    pages: Pages,
    log2: u8,
    /// WQEs written.
    pub produced: u64,
    /// CQEs taken.
    consumed: u64,
}

impl QueueRings {
    /// Rings for so many requests.
    pub fn new(requests: u32) -> Self {
        let log2 = (requests.max(1).next_power_of_two().ilog2() as u8).max(LOG2_MIN);
        QueueRings { pages: Pages::new((ring::wqe::BYTES + ring::cqe::BYTES) << log2), log2, produced: 0, consumed: 0 }
    }

    /// Where they lie: address and bytes.
    pub fn range(&self) -> (u64, u64) {
        (self.pages.start as u64, self.pages.layout.size() as u64)
    }

    pub fn rings(&self) -> Rings {
        let base = self.pages.start as u64;
        Rings {
            sq_base: base,
            sq_log2: self.log2,
            cq_base: base + ((ring::wqe::BYTES as u64) << self.log2),
            cq_log2: self.log2,
            // this device posts no receives
            rq_base: 0,
            rq_log2: 0,
            rcq_base: 0,
        }
    }

    /// Entries of the send queue.
    pub fn depth(&self) -> u32 {
        1 << self.log2
    }

    /// Both rings begin anew; the NIC must not have them.
    pub fn reset(&mut self) {
        // SAFETY: the whole allocation, which nobody else accesses now.
        unsafe { self.pages.start.write_bytes(0, self.pages.layout.size()) };
        (self.produced, self.consumed) = (0, 0);
    }

    /// Writes the next WQE. The caller keeps count of free slots.
    pub fn push(&mut self, wqe: &Wqe) {
        let mut words = [0u32; ring::wqe::BYTES / 4];
        ring::wqe::OPCODE.set(&mut words, wqe.opcode.into());
        // Also those whose completion the program does not want to see: it frees their slot.
        ring::wqe::SIGNALED.set(&mut words, 1);
        ring::wqe::LKEY.set(&mut words, wqe.lkey.into());
        ring::wqe::LADDR.set(&mut words, wqe.laddr.into());
        ring::wqe::RADDR.set(&mut words, wqe.raddr.into());
        ring::wqe::RKEY.set(&mut words, wqe.rkey.into());
        ring::wqe::LENGTH.set(&mut words, wqe.length.into());
        ring::wqe::WR_ID.set(&mut words, wqe.wr_id.into());
        let slot = (self.produced & u64::from(self.depth() - 1)) as usize;
        for (i, word) in words.iter().enumerate() {
            // SAFETY: the slot lies in the allocation; the NIC reads it only after the doorbell.
            unsafe { self.pages.start.add(slot * ring::wqe::BYTES + 4 * i).cast::<u32>().write_volatile(word.to_le()) };
        }
        self.produced += 1;
    }

    /// The next CQE, if the NIC has written it.
    pub fn pop(&mut self) -> Option<Cqe> {
        let slot = (self.consumed & u64::from(self.depth() - 1)) as usize;
        let at = (self.rings().cq_base as usize + slot * ring::cqe::BYTES) as *mut u32;
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
            wr_id: ring::cqe::WR_ID.get(&words),
            byte_len: ring::cqe::BYTE_LEN.get(&words) as u32,
            wqe_index: ring::cqe::WQE_INDEX.get(&words) as u16,
            nak_code: ring::cqe::NAK_CODE.get(&words) as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complete(rings: &QueueRings, index: u64, wr_id: u32) {
        let slot = index & u64::from(rings.depth() - 1);
        let at = (rings.rings().cq_base + slot * ring::cqe::BYTES as u64) as *mut u32;
        let phase = ((index >> rings.log2) & 1 ^ 1) as u32;
        unsafe {
            at.add(2).write(wr_id);
            at.add(5).write(index as u32 & 0xffff);
            at.write(phase << 16);
        }
    }

    #[test]
    fn completions_are_taken_once_over_many_rounds() {
        let mut rings = QueueRings::new(5);
        assert_eq!((rings.depth(), rings.range().0 % 4096), (16, 0));
        let wqe = Wqe { opcode: 0, wr_id: 3, laddr: 1 << 40, lkey: 7, raddr: 9, rkey: 8, length: 77 };
        for i in 0..1000u64 {
            assert_eq!(rings.pop(), None);
            rings.push(&wqe);
            complete(&rings, i, i as u32);
            let cqe = rings.pop().expect("it is there");
            assert_eq!((cqe.wr_id, cqe.wqe_index), (i, i as u16));
        }
        let base = rings.rings().sq_base as *const u32;
        let word = |i| unsafe { base.add(i).read() };
        assert_eq!((word(0), word(1), word(3), word(7), word(10)), (0x100, 7, 0x100, 77, 3));
        rings.reset();
        assert_eq!((rings.pop(), rings.produced), (None, 0));
    }
}
