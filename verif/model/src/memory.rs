//! Host memory as the NIC sees it: bus addresses.
//! In: reads of payload, writes of placed payload. Implemented by the user; an access may fail, never panic.

use crate::error::MemoryError;

/// Memory behind the NIC's DMA.
pub trait HostMemory {
    /// Fills `buf` from `addr`.
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError>;
    /// Stores `data` at `addr`.
    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError>;

    /// If the little-endian 8 bytes at `addr` equal `compare`, they become `swap`. Returns what stood there. `addr` is a
    /// multiple of 8. This default is atomic only if nobody else writes at that moment; override it where that may be.
    fn compare_swap(&mut self, addr: u64, compare: u64, swap: u64) -> Result<u64, MemoryError> {
        let mut bytes = [0; 8];
        self.read(addr, &mut bytes)?;
        let before = u64::from_le_bytes(bytes);
        if before == compare {
            self.write(addr, &swap.to_le_bytes())?;
        }
        Ok(before)
    }

    /// Adds to the little-endian 8 bytes at `addr`, wrapping. Returns what stood there. As [`HostMemory::compare_swap`].
    fn fetch_add(&mut self, addr: u64, add: u64) -> Result<u64, MemoryError> {
        let mut bytes = [0; 8];
        self.read(addr, &mut bytes)?;
        let before = u64::from_le_bytes(bytes);
        self.write(addr, &before.wrapping_add(add).to_le_bytes())?;
        Ok(before)
    }
}

/// Memory that is never looked at: reads give zeros, writes vanish. For simulations that care about timing only.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoMemory;

impl HostMemory for NoMemory {
    fn read(&self, _: u64, buf: &mut [u8]) -> Result<(), MemoryError> {
        buf.fill(0);
        Ok(())
    }

    fn write(&mut self, _: u64, _: &[u8]) -> Result<(), MemoryError> {
        Ok(())
    }
}
