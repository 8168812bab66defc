//! A ring of frames from one process to another: one writes, one reads, in a file of its own.
//! In: frames. Out: the same in the same order. A writer that dies in the middle of a frame has not sent it.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};

use memmap2::{MmapOptions, MmapRaw};

use crate::FRAME_BYTES_MAX;

/// Frames of a ring; a power of two.
pub const ENTRIES: u32 = 256;
/// Bytes of an entry: its length, then the frame, on cache lines of its own.
const ENTRY_BYTES: usize = 64 + FRAME_BYTES_MAX;
const HEAD_AT: usize = 0;
const TAIL_AT: usize = 64;
const ENTRIES_AT: usize = 128;
const FILE_BYTES: usize = ENTRIES_AT + ENTRIES as usize * ENTRY_BYTES;

const _: () = assert!(ENTRY_BYTES & 63 == 0 && ENTRIES.is_power_of_two());

/// The mapped file.
#[derive(Debug)]
struct Map(MmapRaw);

impl Map {
    fn of(file: &std::fs::File) -> std::io::Result<Self> {
        MmapOptions::new().len(FILE_BYTES).map_raw(file).map(Map)
    }

    fn index(&self, at: usize) -> &AtomicU32 {
        // SAFETY: `at` is HEAD_AT or TAIL_AT: inside the map, aligned, and only ever used as an atomic.
        unsafe { AtomicU32::from_ptr(self.0.as_mut_ptr().add(at).cast()) }
    }

    fn entry(&self, index: u32) -> *mut u8 {
        let at = ENTRIES_AT + (index % ENTRIES) as usize * ENTRY_BYTES;
        // SAFETY: `at` is below FILE_BYTES.
        unsafe { self.0.as_mut_ptr().add(at) }
    }
}

/// The writing end.
#[derive(Debug)]
pub struct Writer {
    map: Map,
    tail: u32,
}

impl Writer {
    /// Makes the ring. The file appears under its name only when it is complete.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        let draft = path.with_extension("draft");
        let file = std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&draft)?;
        file.set_len(FILE_BYTES as u64)?;
        let map = Map::of(&file)?;
        std::fs::rename(&draft, path)?;
        Ok(Writer { map, tail: 0 })
    }

    /// Frames that the reader has not yet taken.
    pub fn waiting(&self) -> u32 {
        self.tail.wrapping_sub(self.map.index(HEAD_AT).load(Ordering::Acquire))
    }

    /// Whether there is room for a frame.
    pub fn has_room(&self) -> bool {
        self.waiting() < ENTRIES
    }

    /// Writes a frame of `len` bytes by `fill`. The caller has checked that there is room and that it is not too long.
    pub fn push(&mut self, len: usize, fill: impl FnOnce(&mut [u8])) {
        assert!(len <= FRAME_BYTES_MAX);
        let entry = self.map.entry(self.tail);
        // SAFETY: the reader does not touch an entry at or behind the tail, so this process alone uses it; it is large enough.
        unsafe {
            fill(std::slice::from_raw_parts_mut(entry.add(64), len));
            entry.cast::<u32>().write(len as u32);
        }
        self.tail = self.tail.wrapping_add(1);
        self.map.index(TAIL_AT).store(self.tail, Ordering::Release);
    }
}

/// The reading end.
#[derive(Debug)]
pub struct Reader {
    map: Map,
    head: u32,
}

impl Reader {
    /// Opens a ring that a writer has made.
    pub fn open(path: &Path) -> std::io::Result<Self> {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        if file.metadata()?.len() < FILE_BYTES as u64 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        let map = Map::of(&file)?;
        let head = map.index(HEAD_AT).load(Ordering::Acquire);
        Ok(Reader { map, head })
    }

    /// Takes up to `limit` frames; `take` may change them. Returns how many there were.
    pub fn drain(&mut self, limit: usize, mut take: impl FnMut(&mut [u8])) -> usize {
        let tail = self.map.index(TAIL_AT).load(Ordering::Acquire);
        // A writer gone mad must not make us read for ever: there are never more than ENTRIES.
        let waiting = tail.wrapping_sub(self.head).min(ENTRIES) as usize;
        let count = waiting.min(limit);
        for _ in 0..count {
            let entry = self.map.entry(self.head);
            // SAFETY: the writer does not touch an entry between head and tail. A length that is too large is cut.
            unsafe {
                let len = entry.cast::<u32>().read() as usize;
                take(std::slice::from_raw_parts_mut(entry.add(64), len.min(FRAME_BYTES_MAX)));
            }
            self.head = self.head.wrapping_add(1);
            self.map.index(HEAD_AT).store(self.head, Ordering::Release);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Reader {
        fn is_empty(&self) -> bool {
            self.map.index(TAIL_AT).load(Ordering::Acquire) == self.head
        }
    }

    fn pair() -> (tempfile::TempDir, Writer, Reader) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ring");
        let writer = Writer::create(&path).unwrap();
        let reader = Reader::open(&path).unwrap();
        (dir, writer, reader)
    }

    #[test]
    fn a_ring_holds_its_entries_and_no_more() {
        let (_dir, mut writer, mut reader) = pair();
        for round in 0..3u32 {
            let mut sent = 0u32;
            while writer.has_room() {
                writer.push(4, |buf| buf.copy_from_slice(&(round * 1000 + sent).to_le_bytes()));
                sent += 1;
            }
            assert_eq!(sent, ENTRIES);
            let mut got = 0u32;
            reader.drain(usize::MAX, |frame| {
                assert_eq!(frame, (round * 1000 + got).to_le_bytes());
                got += 1;
            });
            assert_eq!(got, ENTRIES);
            assert!(reader.is_empty());
        }
    }

    #[test]
    fn frames_keep_order_and_content_between_threads() {
        let (_dir, mut writer, mut reader) = pair();
        const FRAMES: u32 = 50_000;
        let sender = std::thread::spawn(move || {
            for n in 0..FRAMES {
                while !writer.has_room() {
                    std::thread::yield_now();
                }
                let len = 8 + (n as usize * 37) % (FRAME_BYTES_MAX - 8);
                writer.push(len, |buf| {
                    buf.fill(n as u8);
                    buf[..4].copy_from_slice(&n.to_le_bytes());
                });
            }
        });
        let mut next = 0u32;
        while next < FRAMES {
            let got = reader.drain(16, |frame| {
                assert_eq!(frame[..4], next.to_le_bytes());
                assert_eq!(frame.len(), 8 + (next as usize * 37) % (FRAME_BYTES_MAX - 8));
                assert!(frame[4..].iter().all(|&b| b == next as u8));
                next += 1;
            });
            if got == 0 {
                std::thread::yield_now();
            }
        }
        sender.join().unwrap();
    }

    #[test]
    fn nonsense_in_the_ring_makes_nobody_read_beyond_it() {
        let (_dir, mut writer, mut reader) = pair();
        writer.push(8, |buf| buf.fill(1));
        // SAFETY: the entry is inside the map.
        unsafe { writer.map.entry(0).cast::<u32>().write(u32::MAX) };
        writer.map.index(TAIL_AT).store(0x8000_0000, Ordering::Release);
        let mut lengths = Vec::new();
        let count = reader.drain(usize::MAX, |frame| lengths.push(frame.len()));
        assert_eq!(count, ENTRIES as usize);
        assert_eq!(lengths[0], FRAME_BYTES_MAX);
    }

    #[test]
    fn a_truncated_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("ring");
        std::fs::write(&path, [0; 4096]).unwrap();
        assert!(Reader::open(&path).is_err());
    }
}
