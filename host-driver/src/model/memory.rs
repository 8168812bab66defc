//! Memory of this process as the NIC sees it: a bus address is an address.
//!
//! In: accesses of the model, after its own checks of keys and bounds. Out: copies, within regions that are registered now: a region
//! that was deregistered meanwhile is no longer touched, because the program may have unmapped it.
use mrnic_model::{HostMemory, MemoryError};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};

/// The registered ranges.
#[derive(Debug, Default)]
pub struct ProcessMemory {
    /// Ends of the ranges that begin at an address; a range may be registered several times.
    ranges: BTreeMap<u64, Vec<u64>>,
}

impl ProcessMemory {
    pub fn add(&mut self, addr: u64, length: u64) {
        self.ranges.entry(addr).or_default().push(addr + length);
    }

    pub fn remove(&mut self, addr: u64, length: u64) {
        let Some(ends) = self.ranges.get_mut(&addr) else { return };
        if let Some(at) = ends.iter().position(|&end| end == addr + length) {
            ends.swap_remove(at);
        }
        if ends.is_empty() {
            self.ranges.remove(&addr);
        }
    }

    fn check(&self, addr: u64, len: usize) -> Result<(), MemoryError> {
        let fault = MemoryError { addr, len: len as u32 };
        let end = addr.checked_add(len as u64).ok_or(fault)?;
        let inside = |(_, ends): (&u64, &Vec<u64>)| ends.iter().any(|&e| e >= end);
        self.ranges.range(..=addr).rev().any(inside).then_some(()).ok_or(fault)
    }

    /// The word at `addr`, for atomics.
    fn word(&self, addr: u64) -> Result<&AtomicU64, MemoryError> {
        self.check(addr, 8)?;
        if addr & 7 != 0 {
            return Err(MemoryError { addr, len: 8 });
        }
        // SAFETY: registered, so mapped while it is registered; aligned; the program may use the word at the same time only atomically.
        Ok(unsafe { AtomicU64::from_ptr(addr as *mut u64) })
    }
}

impl HostMemory for ProcessMemory {
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        self.check(addr, buf.len())?;
        // SAFETY: registered, so mapped while it is registered. The program may write at the same time, as with any NIC.
        unsafe { std::ptr::copy(addr as *const u8, buf.as_mut_ptr(), buf.len()) };
        Ok(())
    }

    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError> {
        self.check(addr, data.len())?;
        // SAFETY: as above.
        unsafe { std::ptr::copy(data.as_ptr(), addr as *mut u8, data.len()) };
        Ok(())
    }

    fn compare_swap(&mut self, addr: u64, compare: u64, swap: u64) -> Result<u64, MemoryError> {
        let word = self.word(addr)?;
        let outcome = word.compare_exchange(compare.to_le(), swap.to_le(), Ordering::AcqRel, Ordering::Acquire);
        Ok(u64::from_le(outcome.unwrap_or_else(|before| before)))
    }

    fn fetch_add(&mut self, addr: u64, add: u64) -> Result<u64, MemoryError> {
        let word = self.word(addr)?;
        let sum = |before: u64| Some(u64::from_le(before).wrapping_add(add).to_le());
        let before = word.fetch_update(Ordering::AcqRel, Ordering::Acquire, sum);
        Ok(u64::from_le(before.unwrap_or_else(|before| before)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_registered_memory_is_touched_and_only_as_long_as_it_is() {
        let mut data = [1u8; 64];
        let addr = data.as_mut_ptr() as u64;
        let mut memory = ProcessMemory::default();
        let mut buf = [0; 16];
        assert!(memory.read(addr, &mut buf).is_err());
        memory.add(addr, 64);
        memory.add(addr + 8, 8);
        memory.read(addr + 48, &mut buf).unwrap();
        assert_eq!(buf, [1; 16]);
        assert!(memory.read(addr + 49, &mut buf).is_err());
        assert!(memory.read(addr - 1, &mut buf).is_err());
        assert!(memory.read(u64::MAX - 3, &mut buf).is_err());
        memory.write(addr + 10, &[7; 20]).unwrap();
        memory.remove(addr, 64);
        assert!(memory.write(addr + 10, &[9; 20]).is_err());
        memory.write(addr + 8, &[8; 8]).unwrap();
        assert_eq!(data[8..16], [8; 8]);
        assert_eq!(data[16..30], [7; 14]);
    }

    #[test]
    fn atomics_work_on_aligned_registered_words() {
        let mut words = [5u64, 0];
        let addr = words.as_mut_ptr() as u64;
        let mut memory = ProcessMemory::default();
        memory.add(addr, 16);
        assert_eq!(memory.compare_swap(addr, 4, 9), Ok(5));
        assert_eq!(memory.compare_swap(addr, 5, 9), Ok(5));
        assert_eq!(memory.fetch_add(addr, u64::MAX), Ok(9));
        assert_eq!(memory.fetch_add(addr + 8, 3), Ok(0));
        assert!(memory.fetch_add(addr + 4, 1).is_err());
        assert!(memory.compare_swap(addr + 16, 0, 1).is_err());
        assert_eq!(words, [8, 3]);
    }
}
