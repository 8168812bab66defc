//! A table of objects with handles that go stale.
//!
//! In: objects. Out: 24-bit handles: 16 bits of slot, 8 bits of generation. A freed slot is given again as late as possible, and then
//! under another generation, so that an old handle finds nothing instead of a stranger. No allocation once full size is reached.
use std::collections::VecDeque;
use thiserror::Error;

/// Largest number of slots; slot 0xffff stays free.
pub const SLOTS_MAX: u32 = 0xffff;

/// All slots are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the table is full ({capacity} entries): remove one first")]
pub struct TableFull {
    pub capacity: u32,
}

/// Objects by handle.
#[derive(Debug)]
pub struct Table<T> {
    slots: Vec<Slot<T>>,
    free: VecDeque<u32>,
    capacity: u32,
    len: u32,
    first_generation: u8,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u8,
    value: Option<T>,
}

/// The slot of a handle.
fn slot_of(handle: u32) -> usize {
    (handle & 0xffff) as usize
}

impl<T> Table<T> {
    /// An empty table of at most `capacity` objects (at most [`SLOTS_MAX`]).
    pub fn new(capacity: u32) -> Self {
        Table::starting_at(capacity, 1)
    }

    /// As [`Table::new`], with another first generation (1 to 255): tables whose handles should not be taken for each other's.
    pub fn starting_at(capacity: u32, first_generation: u8) -> Self {
        let capacity = capacity.min(SLOTS_MAX);
        Table { slots: Vec::new(), free: VecDeque::new(), capacity, len: 0, first_generation: first_generation.max(1) }
    }

    pub fn len(&self) -> u32 {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Adds the object that `make` gives for its handle. Handles are never 0.
    pub fn insert_with(&mut self, make: impl FnOnce(u32) -> T) -> Result<u32, TableFull> {
        // New slots first: reuse comes as late as possible.
        let index = if (self.slots.len() as u32) < self.capacity {
            self.slots.push(Slot { generation: self.first_generation - 1, value: None });
            self.slots.len() as u32 - 1
        } else {
            self.free.pop_front().ok_or(TableFull { capacity: self.capacity })?
        };
        let slot = &mut self.slots[index as usize];
        slot.generation = if slot.generation == u8::MAX { 1 } else { slot.generation + 1 };
        let handle = u32::from(slot.generation) << 16 | index;
        slot.value = Some(make(handle));
        self.len += 1;
        Ok(handle)
    }

    fn slot(&self, handle: u32) -> Option<&Slot<T>> {
        self.slots.get(slot_of(handle)).filter(|s| u32::from(s.generation) == handle >> 16)
    }

    pub fn get(&self, handle: u32) -> Option<&T> {
        self.slot(handle)?.value.as_ref()
    }

    pub fn get_mut(&mut self, handle: u32) -> Option<&mut T> {
        self.slots.get_mut(slot_of(handle)).filter(|s| u32::from(s.generation) == handle >> 16)?.value.as_mut()
    }

    pub fn remove(&mut self, handle: u32) -> Option<T> {
        let slot = self.slots.get_mut(slot_of(handle)).filter(|s| u32::from(s.generation) == handle >> 16)?;
        let value = slot.value.take()?;
        self.free.push_back(handle & 0xffff);
        self.len -= 1;
        Some(value)
    }

    /// All objects with their handles.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &T)> {
        self.slots.iter().enumerate().filter_map(|(i, s)| Some((u32::from(s.generation) << 16 | i as u32, s.value.as_ref()?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    #[test]
    fn a_stale_handle_finds_nothing_even_after_its_slot_was_given_again() {
        let mut table = Table::new(2);
        let a = table.insert_with(|_| 'a').unwrap();
        table.insert_with(|_| 'b').unwrap();
        assert_eq!(table.remove(a), Some('a'));
        let c = table.insert_with(|_| 'c').unwrap();
        assert_eq!(slot_of(a), slot_of(c));
        assert_eq!(table.remove(a), None);
        assert_eq!((table.get(a), table.get(c)), (None, Some(&'c')));
        assert_eq!(table.insert_with(|_| 'd'), Err(TableFull { capacity: 2 }));
    }

    #[test]
    fn tables_with_other_first_generations_share_no_first_handles() {
        let first = |generation| Table::starting_at(4, generation).insert_with(|_| ()).unwrap();
        assert_ne!(first(1), first(2));
        assert_eq!((first(255) >> 16, first(0) >> 16), (255, 1));
    }

    #[test]
    fn handles_fit_24_bits_and_are_never_zero() {
        let mut table = Table::new(1);
        for _ in 0..1000 {
            let handle = table.insert_with(|h| h).unwrap();
            assert!(handle != 0 && handle < 1 << 24 && table.get(handle) == Some(&handle));
            table.remove(handle);
        }
    }

    proptest! {
        #![proptest_config(crate::testing::config(256))]
        /// Against a map: what is in is found, what is out is not.
        #[test]
        fn behaves_as_a_map(ops in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 1..200)) {
            let mut table = Table::new(16);
            let mut reference = BTreeMap::new();
            let mut all = Vec::new();
            for (number, (insert, which)) in ops.into_iter().enumerate() {
                if insert {
                    match table.insert_with(|_| number) {
                        Ok(h) => { prop_assert!(reference.insert(h, number).is_none()); all.push(h); }
                        Err(_) => prop_assert_eq!(reference.len(), 16),
                    }
                } else if !all.is_empty() {
                    let h = *which.get(&all);
                    prop_assert_eq!(table.remove(h), reference.remove(&h));
                }
                prop_assert_eq!(table.len() as usize, reference.len());
                prop_assert!(table.iter().map(|(h, v)| (h, *v)).collect::<BTreeMap<_, _>>() == reference);
            }
        }
    }
}
