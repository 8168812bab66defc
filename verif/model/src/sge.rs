//! Scatter/gather lists: a table of fixed-size lists for work requests with more than one SGE.
//! In: at most 8 SGEs. Out: the pieces of a byte range. A request with one SGE needs no list, so a NIC with many queue pairs
//! holds little; the table grows when requests are posted, never for a packet.

use alloc::vec::Vec;

/// SGEs of a work request at most.
pub const SGES_MAX: usize = 8;

/// A local buffer. Once a send was taken `addr` is a bus address and `lkey` no longer used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Sge {
    pub addr: u64,
    pub len: u32,
    pub lkey: u32,
}

/// Bytes of a list; they may be more than 32 bits hold.
pub fn total_bytes(sges: &[Sge]) -> u64 {
    sges.iter().map(|sge| u64::from(sge.len)).sum()
}

#[derive(Clone, Copy, Debug)]
struct List {
    count: u8,
    sges: [Sge; SGES_MAX],
}

/// All lists of a NIC.
#[derive(Clone, Debug)]
pub struct SgeTable {
    lists: Vec<List>,
    free: Vec<u32>,
}

/// Lists for which room is made at first.
const LISTS_AT_FIRST: usize = 64;

impl Default for SgeTable {
    fn default() -> Self {
        SgeTable { lists: Vec::with_capacity(LISTS_AT_FIRST), free: Vec::with_capacity(LISTS_AT_FIRST) }
    }
}

impl SgeTable {
    /// Stores a list of 2 to 8 SGEs. The caller has checked their number; what is too much is left out.
    pub fn insert(&mut self, sges: &[Sge]) -> u32 {
        let mut list = List { count: sges.len().min(SGES_MAX) as u8, sges: [Sge::default(); SGES_MAX] };
        for (place, sge) in list.sges.iter_mut().zip(sges) {
            *place = *sge;
        }
        match self.free.pop() {
            Some(id) => {
                self.lists[id as usize] = list;
                id
            }
            None => {
                self.lists.push(list);
                self.lists.len() as u32 - 1
            }
        }
    }

    pub fn release(&mut self, list: Option<u32>) {
        self.free.extend(list);
    }

    /// The SGEs of a request: its list, or the only one.
    pub fn get<'a>(&'a self, list: Option<u32>, only: &'a Sge) -> &'a [Sge] {
        match list.and_then(|id| self.lists.get(id as usize)) {
            Some(list) => &list.sges[..list.count as usize],
            None => core::slice::from_ref(only),
        }
    }

    /// The SGEs of a list.
    pub fn list(&self, id: u32) -> &[Sge] {
        self.lists.get(id as usize).map_or(&[], |list| &list.sges[..list.count as usize])
    }

    /// Lists in use.
    pub fn live(&self) -> usize {
        self.lists.len() - self.free.len()
    }
}

/// The pieces of `len` bytes from `offset` on: each with the place of its first byte in the range. Empty SGEs have none.
pub fn pieces(sges: &[Sge], offset: u32, len: u32) -> impl Iterator<Item = (usize, Sge)> + '_ {
    let (start, end) = (u64::from(offset), u64::from(offset) + u64::from(len));
    let mut at = 0u64;
    sges.iter().filter_map(move |sge| {
        let (first, next) = (at, at + u64::from(sge.len));
        at = next;
        let (from, to) = (first.max(start), next.min(end));
        (from < to).then(|| {
            let piece = Sge { addr: sge.addr.wrapping_add(from - first), len: (to - from) as u32, lkey: sge.lkey };
            ((from - start) as usize, piece)
        })
    })
}
