//! Registered memory of the loopback device.
//!
//! In: keys and ranges. Out: addresses when key, protection domain, bounds and rights all fit, else nothing; copies between lists of
//! pieces. A zero-length range touches no key.
use crate::device::{DeviceError, Limits, MemoryRegion, MrKeys, PdId, Sge};
use crate::rules::Access;
use crate::table::Table;
use std::sync::{PoisonError, RwLock};

/// A piece of this process's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Piece {
    pub addr: u64,
    pub length: u64,
}

/// Up to as many pieces as a request has.
#[derive(Clone, Copy)]
pub struct Pieces {
    list: [Piece; Limits::SGES_MAX],
    count: usize,
}

impl Pieces {
    pub fn of(one: Piece) -> Pieces {
        let mut list = [Piece::default(); Limits::SGES_MAX];
        list[0] = one;
        Pieces { list, count: 1 }
    }

    pub fn as_slice(&self) -> &[Piece] {
        &self.list[..self.count]
    }
}

/// All regions of the fabric; both keys of a region are its handle.
#[derive(Debug)]
pub struct Regions(RwLock<Table<MemoryRegion>>);

impl Regions {
    pub fn starting_at(generation: u8) -> Self {
        Regions(RwLock::new(Table::starting_at(crate::table::SLOTS_MAX, generation)))
    }

    pub fn add(&self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        let key = self.0.write().unwrap_or_else(PoisonError::into_inner).insert_with(|_| *region);
        let key = key.map_err(|_| DeviceError::Exhausted { what: "memory regions" })?;
        Ok(MrKeys { lkey: key, rkey: key })
    }

    pub fn replace(&self, keys: MrKeys, region: &MemoryRegion) -> Result<(), DeviceError> {
        let mut regions = self.0.write().unwrap_or_else(PoisonError::into_inner);
        let old = regions.get_mut(keys.lkey);
        *old.ok_or_else(|| DeviceError::invalid("memory region", "its key is not registered"))? = *region;
        Ok(())
    }

    pub fn remove(&self, keys: MrKeys) -> Result<(), DeviceError> {
        let removed = self.0.write().unwrap_or_else(PoisonError::into_inner).remove(keys.lkey);
        removed.map(|_| ()).ok_or_else(|| DeviceError::invalid("memory region", "its key is not registered"))
    }

    /// The address of a range, if `allowed` says yes to the region's rights.
    pub fn resolve(&self, key: u32, pd: PdId, addr: u64, length: u64, allowed: impl Fn(Access) -> bool) -> Option<u64> {
        if length == 0 {
            return Some(addr);
        }
        let regions = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let region = regions.get(key)?;
        let offset = addr.checked_sub(region.iova)?;
        let end = offset.checked_add(length)?;
        (region.pd == pd && end <= region.length_bytes && allowed(region.access)).then(|| region.addr + offset)
    }

    /// The pieces of a scatter/gather list.
    pub fn local(&self, sges: &[Sge], pd: PdId, write: bool) -> Option<Pieces> {
        let mut list = [Piece::default(); Limits::SGES_MAX];
        for (piece, sge) in list.iter_mut().zip(sges) {
            let length = u64::from(sge.length);
            let addr = self.resolve(sge.lkey, pd, sge.addr, length, |a| a.local_write || !write)?;
            *piece = Piece { addr, length };
        }
        Some(Pieces { list, count: sges.len().min(Limits::SGES_MAX) })
    }
}

/// Copies `length` bytes, piece by piece.
pub fn copy(to: &[Piece], from: &[Piece], mut length: u64) {
    let (mut to, mut from) = (to.iter().copied(), from.iter().copied());
    let (mut target, mut source) = (Piece::default(), Piece::default());
    while length > 0 {
        while target.length == 0 {
            let Some(next) = to.next() else { return };
            target = next;
        }
        while source.length == 0 {
            let Some(next) = from.next() else { return };
            source = next;
        }
        let part = length.min(target.length).min(source.length);
        // SAFETY: both ranges lie within regions that the program registered and keeps mapped; they may overlap.
        unsafe { std::ptr::copy(source.addr as *const u8, target.addr as *mut u8, part as usize) };
        length -= part;
        target = Piece { addr: target.addr + part, length: target.length - part };
        source = Piece { addr: source.addr + part, length: source.length - part };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const REGION: MemoryRegion =
        MemoryRegion { pd: PdId(1), addr: 0x10_0000, length_bytes: 100, iova: 0x500, access: Access::ALL };

    #[test]
    fn a_range_must_lie_within_its_region() {
        let regions = Regions::starting_at(1);
        let key = regions.add(&REGION).unwrap().rkey;
        let find = |addr, length| regions.resolve(key, PdId(1), addr, length, |_| true);
        assert_eq!(find(0x500, 100), Some(0x10_0000));
        assert_eq!(find(0x501, 99), Some(0x10_0001));
        for (addr, length) in [(0x500, 101), (0x4ff, 1), (0x501, 100), (0x563, u64::MAX), (0, 1), (u64::MAX, 1)] {
            assert_eq!(find(addr, length), None, "{addr:#x} {length}");
        }
        assert_eq!(regions.resolve(key, PdId(2), 0x500, 1, |_| true), None, "another protection domain");
        assert_eq!(regions.resolve(key, PdId(1), 0x500, 1, |_| false), None, "no right");
        assert_eq!(regions.resolve(key + 1, PdId(9), 7, 0, |_| false), Some(7), "no byte touches no key");
    }

    #[test]
    fn a_key_is_dead_after_removal() {
        let regions = Regions::starting_at(1);
        let keys = regions.add(&REGION).unwrap();
        regions.remove(keys).unwrap();
        assert!(regions.remove(keys).is_err());
        assert_eq!(regions.resolve(keys.rkey, PdId(1), 0x500, 1, |_| true), None);
    }

    proptest! {
        #![proptest_config(crate::testing::config(256))]
        /// Any cut into pieces gives the same bytes as one copy.
        #[test]
        fn copies_do_not_depend_on_the_cuts(
            data in prop::collection::vec(any::<u8>(), 0..300),
            cuts in prop::collection::vec(0usize..40, 0..16),
            cuts_to in prop::collection::vec(0usize..40, 0..16),
        ) {
            let pieces = |base: u64, cuts: &[usize]| {
                let (mut at, mut list) = (0, Vec::new());
                for cut in cuts.iter().copied().chain([data.len()]) {
                    let length = cut.min(data.len() - at);
                    list.push(Piece { addr: base + at as u64, length: length as u64 });
                    at += length;
                }
                list
            };
            let mut target = vec![0u8; data.len()];
            let (from, to) = (data.as_ptr() as u64, target.as_mut_ptr() as u64);
            copy(&pieces(to, &cuts_to), &pieces(from, &cuts), data.len() as u64);
            prop_assert_eq!(target, data);
        }
    }
}
