//! Memory that a NIC may access: the IOMMU of the simulated host.
//!
//! In: ranges that the program maps and unmaps. Out: whether an access lies inside one. The same range may be mapped several times.

#[derive(Debug, Default)]
pub struct Ranges {
    /// First address, and the one behind the last.
    ranges: Vec<(u64, u64)>,
}

/// Ranges of a program at most.
const RANGES_MAX: usize = 4096;

impl Ranges {
    /// False if no memory can have these addresses, or there is no room.
    pub fn add(&mut self, addr: u64, bytes: u64) -> bool {
        let Some(end) = addr.checked_add(bytes).filter(|_| self.ranges.len() < RANGES_MAX) else { return false };
        self.ranges.push((addr, end));
        true
    }

    fn position(&self, addr: u64, bytes: u64) -> Option<usize> {
        let wanted = (addr, addr.wrapping_add(bytes));
        self.ranges.iter().position(|range| *range == wanted)
    }

    /// Whether exactly this was added.
    pub fn has(&self, addr: u64, bytes: u64) -> bool {
        self.position(addr, bytes).is_some()
    }

    /// Takes back what was added once.
    pub fn remove(&mut self, addr: u64, bytes: u64) {
        if let Some(at) = self.position(addr, bytes) {
            self.ranges.swap_remove(at);
        }
    }

    pub fn contain(&self, addr: u64, bytes: u64) -> bool {
        let Some(end) = addr.checked_add(bytes) else { return false };
        self.ranges.iter().any(|range| range.0 <= addr && end <= range.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_stay_inside_what_is_mapped_now() {
        let mut ranges = Ranges::default();
        assert!(!ranges.contain(0x1000, 1));
        assert!(ranges.add(0x1000, 0x100) && ranges.add(0x1000, 0x100) && ranges.add(0x1080, 0x100));
        assert!(ranges.contain(0x1000, 0x100) && ranges.contain(0x10ff, 0x81));
        assert!(!ranges.contain(0x1000, 0x101) && !ranges.contain(0xfff, 1) && !ranges.contain(u64::MAX, 2));
        ranges.remove(0x1000, 0x100);
        assert!(ranges.contain(0x1000, 1) && ranges.has(0x1000, 0x100), "it was mapped twice");
        ranges.remove(0x1000, 0x100);
        assert!(!ranges.contain(0x1000, 1) && !ranges.has(0x1000, 0x100));
        assert!(!ranges.has(0x1080, 0x80) && !ranges.add(u64::MAX, 2));
    }
}
