//! The key table: memory regions named by lkey and rkey.
//! In: an access. Out: the bus address it may use, or why not (W1 and R3 in their order).
//! Guarantees that no address arithmetic wraps.

use crate::config::KeyConfig;

/// Why an access was refused, in the order of the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyFault {
    /// Index out of range, region not valid, or low byte of the key differs.
    BadKey,
    /// Another protection domain, or the right is missing.
    Access,
    /// Outside the region, or the end of the range wraps.
    Bounds,
}

/// Which right an access needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Right {
    /// Always allowed.
    LocalRead,
    LocalWrite,
    RemoteWrite,
    RemoteRead,
    RemoteAtomic,
}

/// All regions of a NIC.
#[derive(Clone, Debug)]
pub struct KeyTable {
    keys: alloc::vec::Vec<KeyConfig>,
}

impl KeyTable {
    pub fn new(count: usize) -> Self {
        KeyTable { keys: alloc::vec![KeyConfig::default(); count] }
    }

    pub fn len(&self) -> usize {
        self.keys.len()
    }

    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    pub fn get(&self, index: usize) -> Option<&KeyConfig> {
        self.keys.get(index)
    }

    pub(crate) fn set(&mut self, index: usize, key: KeyConfig) {
        self.keys[index] = key;
    }

    /// Checks an access of `len` bytes at `addr` and translates it: addr - base + dma_base.
    pub fn translate(&self, key: u32, pd: u16, right: Right, addr: u64, len: u32) -> Result<u64, KeyFault> {
        let region = self.keys.get((key >> 8) as usize).ok_or(KeyFault::BadKey)?;
        if !region.valid || region.key_low != key as u8 {
            return Err(KeyFault::BadKey);
        }
        let allowed = match right {
            Right::LocalRead => true,
            Right::LocalWrite => region.rights.local_write,
            Right::RemoteWrite => region.rights.remote_write,
            Right::RemoteRead => region.rights.remote_read,
            Right::RemoteAtomic => region.rights.remote_atomic,
        };
        if region.pd != pd || !allowed {
            return Err(KeyFault::Access);
        }
        let offset = addr.checked_sub(region.base).ok_or(KeyFault::Bounds)?;
        let end = offset.checked_add(u64::from(len)).ok_or(KeyFault::Bounds)?;
        // The end of the range must not wrap either, whatever the region says.
        if end > region.length || addr.checked_add(u64::from(len)).is_none() {
            return Err(KeyFault::Bounds);
        }
        Ok(region.dma_base.wrapping_add(offset))
    }
}
