//! Keys of the memory regions of a NIC that has a table of them.
//!
//! In: regions of the program. Out: keys (index << 8 | generation), and the row that tells the NIC of one. An index is given again as late
//! as possible and under another generation, so that an old key finds nothing; key 0 is given to nobody: programs take it for "none".
use crate::device::{DeviceError, MemoryRegion};
use mrnic_model::{key_of, KeyConfig, Rights};
use std::collections::VecDeque;

pub struct RegionKeys {
    /// By index: the generation, which is the low byte of the key, and the region.
    slots: Vec<(u8, Option<MemoryRegion>)>,
    free: VecDeque<u32>,
}

impl RegionKeys {
    /// For a table of so many keys.
    pub fn new(keys: u32) -> Self {
        RegionKeys { slots: vec![(0, None); keys as usize], free: (1..keys).collect() }
    }

    /// A key for a region that the NIC is told of next; then [`RegionKeys::set`], or [`RegionKeys::give_back`] if it refuses.
    pub fn reserve(&mut self) -> Result<u32, DeviceError> {
        let index = self.free.pop_front().ok_or(DeviceError::Exhausted { what: "memory regions" })?;
        let generation = &mut self.slots[index as usize].0;
        *generation = generation.wrapping_add(1);
        Ok(key_of(index, *generation))
    }

    pub fn give_back(&mut self, key: u32) {
        self.free.push_front(key >> 8);
    }

    pub fn set(&mut self, key: u32, region: &MemoryRegion) {
        self.slots[(key >> 8) as usize].1 = Some(*region);
    }

    /// The region of a key, if it is registered.
    pub fn region(&self, key: u32) -> Result<MemoryRegion, DeviceError> {
        let slot = self.slots.get((key >> 8) as usize).filter(|slot| slot.0 == key as u8);
        slot.and_then(|slot| slot.1).ok_or_else(|| DeviceError::invalid("memory region", "its key is not registered"))
    }

    /// Takes a key back. Returns its region.
    pub fn remove(&mut self, key: u32) -> Result<MemoryRegion, DeviceError> {
        let region = self.region(key)?;
        self.slots[(key >> 8) as usize].1 = None;
        self.free.push_back(key >> 8);
        Ok(region)
    }
}

/// The row of a key. Bus addresses are addresses of the process, so that a region of any pages is one range for the NIC.
pub fn key_config(region: &MemoryRegion, key: u32) -> KeyConfig {
    let access = region.access;
    KeyConfig {
        valid: true,
        key_low: key as u8,
        pd: region.pd.0 as u16,
        rights: Rights {
            local_write: access.local_write,
            remote_write: access.remote_write,
            remote_read: access.remote_read,
            remote_atomic: access.remote_atomic,
        },
        base: region.iova,
        length: region.length_bytes,
        dma_base: region.addr,
    }
}
