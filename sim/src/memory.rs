//! Host memory of one node: a few regions of bytes at bus addresses.
//!
//! In: reads and writes by address. Out: bytes, or an error which names the access. Guarantees: nothing outside a region
//! is read or written; every DMA write is counted per byte where asked, so that placing a byte twice is seen.
use thiserror::Error;

/// An access that touches no region.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{what} of {len} bytes at {addr:#x} lies outside every region of host memory")]
pub struct OutsideMemory {
    pub what: &'static str,
    pub addr: u64,
    pub len: usize,
}

#[derive(Debug, Clone)]
struct Region {
    base: u64,
    bytes: Vec<u8>,
    /// DMA writes per byte, where placement is audited.
    writes: Option<Vec<u8>>,
}

/// Host memory.
#[derive(Debug, Clone, Default)]
pub struct HostMemory {
    regions: Vec<Region>,
    next: u64,
}

const FIRST: u64 = 0x1_0000_0000;
const GUARD: u64 = 0x1_0000;

impl HostMemory {
    /// No memory.
    pub fn new() -> Self {
        Self { regions: Vec::new(), next: FIRST }
    }

    /// A new zeroed region, aligned to 4 KiB plus `offset`, with unmapped guard space around it. Returns its address.
    pub fn allocate(&mut self, len: usize, offset: u64, audited: bool) -> u64 {
        let base = self.next + offset;
        self.next = (base + len as u64 + GUARD).next_multiple_of(4096);
        let writes = audited.then(|| vec![0; len]);
        self.regions.push(Region { base, bytes: vec![0; len], writes });
        base
    }

    fn find(&self, what: &'static str, addr: u64, len: usize) -> Result<(usize, usize), OutsideMemory> {
        for (i, r) in self.regions.iter().enumerate() {
            if addr >= r.base {
                let at = addr - r.base;
                if at.checked_add(len as u64).is_some_and(|end| end <= r.bytes.len() as u64) {
                    return Ok((i, at as usize));
                }
            }
        }
        Err(OutsideMemory { what, addr, len })
    }

    /// The bytes at `addr`.
    pub fn read(&self, addr: u64, len: usize) -> Result<&[u8], OutsideMemory> {
        if len == 0 {
            return Ok(&[]);
        }
        let (i, at) = self.find("read", addr, len)?;
        Ok(&self.regions[i].bytes[at..at + len])
    }

    /// A write by software.
    pub fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        if data.is_empty() {
            return Ok(());
        }
        let (i, at) = self.find("write", addr, data.len())?;
        self.regions[i].bytes[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    /// A write by the NIC: as [`HostMemory::write`], counted in audited regions.
    pub fn dma_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        if data.is_empty() {
            return Ok(());
        }
        let (i, at) = self.find("DMA write", addr, data.len())?;
        let r = &mut self.regions[i];
        r.bytes[at..at + data.len()].copy_from_slice(data);
        if let Some(w) = &mut r.writes {
            for c in &mut w[at..at + data.len()] {
                *c = c.saturating_add(1);
            }
        }
        Ok(())
    }

    /// How often each byte of an audited region was written by the NIC.
    pub fn write_counts(&self, base: u64) -> Option<&[u8]> {
        self.regions.iter().find(|r| r.base == base)?.writes.as_deref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_stay_inside_a_region() {
        let mut m = HostMemory::new();
        let a = m.allocate(100, 3, true);
        let b = m.allocate(8, 0, false);
        assert_eq!(a % 4096, 3);
        m.write(a + 99, &[7]).unwrap();
        assert_eq!(m.read(a + 99, 1).unwrap(), [7]);
        assert!(m.write(a + 99, &[1, 2]).is_err());
        assert!(m.read(a - 1, 2).is_err());
        assert!(m.read(u64::MAX, 2).is_err());
        assert!(m.read(b, usize::MAX).is_err());
        assert_eq!(m.read(b + 1, 7).unwrap(), [0; 7]);
    }

    #[test]
    fn writes_by_the_nic_are_counted_per_byte() {
        let mut m = HostMemory::new();
        let a = m.allocate(4, 0, true);
        m.dma_write(a, &[1, 2, 3]).unwrap();
        m.dma_write(a + 2, &[9, 9]).unwrap();
        m.write(a, &[0; 4]).unwrap();
        assert_eq!(m.write_counts(a).unwrap(), [1, 1, 2, 1]);
    }
}
