//! The pool of outstanding packets of a NIC: what is needed to send one again.
//! In: (path's chunk map, PPSN, record). Out: the record. A slab of chunks of 16, so that a path with few packets in flight
//! holds little; no allocation after construction.

use alloc::vec::Vec;
use mrnic_wire::Ppsn;

use crate::seq::Serial24;

const CHUNK: usize = 8;
const CHUNKS_OF_PATH: usize = 256 / CHUNK;
const NONE: u32 = u32::MAX;

/// An outstanding packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Record {
    pub qpn: u32,
    /// Incarnation of the QP, so that a reopened QP is not confused with the old one.
    pub incarnation: u32,
    pub msn: u32,
    /// Packet of the message, from 0.
    pub index: u32,
    pub len: u16,
    pub first: bool,
    pub last: bool,
    pub kind: RecordKind,
}

/// What an outstanding packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RecordKind {
    /// A message of `qpn`.
    #[default]
    Message,
    /// The response to a request of the peer, in this slot of `qpn`.
    Response { slot: u8 },
    /// D7: ERROR_RESP; `qpn` is the peer's, `index` the code.
    Error,
}

#[derive(Clone, Debug)]
struct Chunk {
    live: u16,
    records: [Record; CHUNK],
}

/// Which chunks a path holds.
#[derive(Clone, Debug)]
pub struct ChunkMap([u32; CHUNKS_OF_PATH]);

impl Default for ChunkMap {
    fn default() -> Self {
        ChunkMap([NONE; CHUNKS_OF_PATH])
    }
}

/// All chunks.
#[derive(Clone, Debug)]
pub struct Pool {
    chunks: Vec<Chunk>,
    free: Vec<u32>,
}

fn place(ppsn: Ppsn) -> (usize, usize) {
    let ring = ppsn.ring256();
    (ring / CHUNK, ring % CHUNK)
}

impl Pool {
    pub fn new(packets: usize) -> Self {
        let count = packets.div_ceil(CHUNK);
        Pool {
            chunks: alloc::vec![Chunk { live: 0, records: [Record::default(); CHUNK] }; count],
            free: (0..count as u32).rev().collect(),
        }
    }

    /// Whether the next packet of this path finds a place.
    pub fn has_room(&self, map: &ChunkMap, ppsn: Ppsn) -> bool {
        map.0[place(ppsn).0] != NONE || !self.free.is_empty()
    }

    /// Stores a record; false if the pool is full.
    #[must_use]
    pub fn insert(&mut self, map: &mut ChunkMap, ppsn: Ppsn, record: Record) -> bool {
        let (slot, entry) = place(ppsn);
        if map.0[slot] == NONE {
            let Some(chunk) = self.free.pop() else { return false };
            map.0[slot] = chunk;
            self.chunks[chunk as usize].live = 0;
        }
        let chunk = &mut self.chunks[map.0[slot] as usize];
        // A live entry is never overwritten: the window of a path is at most 256.
        debug_assert!(chunk.live & 1 << entry == 0);
        chunk.live |= 1 << entry;
        chunk.records[entry] = record;
        true
    }

    /// The record of an outstanding packet.
    pub fn get(&self, map: &ChunkMap, ppsn: Ppsn) -> Option<Record> {
        let (slot, entry) = place(ppsn);
        let chunk = self.chunks.get(map.0[slot] as usize)?;
        (chunk.live & 1 << entry != 0).then_some(chunk.records[entry])
    }

    /// Takes the record out.
    pub fn remove(&mut self, map: &mut ChunkMap, ppsn: Ppsn) -> Option<Record> {
        let (slot, entry) = place(ppsn);
        let id = map.0[slot];
        let chunk = self.chunks.get_mut(id as usize)?;
        if chunk.live & 1 << entry == 0 {
            return None;
        }
        chunk.live &= !(1 << entry);
        let record = chunk.records[entry];
        if chunk.live == 0 {
            map.0[slot] = NONE;
            self.free.push(id);
        }
        Some(record)
    }

    /// Frees everything of a path (its connection is closed).
    pub fn release(&mut self, map: &mut ChunkMap) {
        for id in &mut map.0 {
            if *id != NONE {
                self.chunks[*id as usize].live = 0;
                self.free.push(*id);
                *id = NONE;
            }
        }
    }

    /// Chunks in use, times their size: an upper bound of the packets held.
    pub fn held_packets(&self) -> usize {
        (self.chunks.len() - self.free.len()) * CHUNK
    }

    /// Records in use.
    pub fn live_packets(&self) -> usize {
        self.chunks.iter().map(|c| c.live.count_ones() as usize).sum()
    }
}
