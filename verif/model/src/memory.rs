//! Host memory as the NIC sees it: bus addresses.
//! In: reads of payload, writes of placed payload. Implemented by the user; an access may fail, never panic.

use crate::error::MemoryError;

/// Memory behind the NIC's DMA.
pub trait HostMemory {
    /// Fills `buf` from `addr`.
    fn read(&self, addr: u64, buf: &mut [u8]) -> Result<(), MemoryError>;
    /// Stores `data` at `addr`.
    fn write(&mut self, addr: u64, data: &[u8]) -> Result<(), MemoryError>;
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
