//! A log of everything that passed between the programs and their NICs.
//!
//! In: messages, with the simulated time at which they took effect. Out: a file of records: cycle (8 bytes), place (2), direction (1: to the
//! NIC 0, to the program 1), 1 byte reserved, and the message as on the socket. DMA without messages is logged as if there were.
use mrnic_host_bus::Message;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    FromProgram,
    ToProgram,
}

pub struct Log {
    file: BufWriter<File>,
    /// Of the simulation, now.
    pub cycle: u64,
    record: Vec<u8>,
    failed: bool,
}

impl Log {
    pub fn create(path: &Path) -> io::Result<Self> {
        Ok(Log { file: BufWriter::new(File::create(path)?), cycle: 0, record: Vec::new(), failed: false })
    }

    /// Appends a message. The first failure is reported, and ends the log.
    pub fn message(&mut self, place: u16, direction: Direction, message: &Message<'_>) {
        if self.failed {
            return;
        }
        self.record.clear();
        self.record.extend_from_slice(&self.cycle.to_le_bytes());
        self.record.extend_from_slice(&place.to_le_bytes());
        self.record.extend_from_slice(&[u8::from(direction == Direction::ToProgram), 0]);
        message.encode(&mut self.record);
        if let Err(error) = self.file.write_all(&self.record) {
            self.failed = true;
            tracing::error!("the log ends here: {error}");
        }
    }

    pub fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A record of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    pub cycle: u64,
    pub place: u16,
    pub direction: Direction,
    pub message: Message<'a>,
}

/// The records in the bytes of a log; the text says where they end otherwise than at the end.
pub fn read(mut bytes: &[u8]) -> Result<Vec<Entry<'_>>, String> {
    let whole = bytes.len();
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let at = whole - bytes.len();
        let cut = || format!("the log is cut off at byte {at}");
        let (head, rest) = bytes.split_first_chunk::<12>().ok_or_else(cut)?;
        let (message, used) =
            Message::decode(rest).map_err(|fault| format!("byte {at} of the log: {fault}"))?.ok_or_else(cut)?;
        let cycle = u64::from_le_bytes([head[0], head[1], head[2], head[3], head[4], head[5], head[6], head[7]]);
        let direction = if head[10] == 0 { Direction::FromProgram } else { Direction::ToProgram };
        entries.push(Entry { cycle, place: u16::from_le_bytes([head[8], head[9]]), direction, message });
        bytes = &rest[used..];
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_can_be_read_back_and_a_cut_one_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut log = Log::create(file.path()).unwrap();
        log.cycle = 77;
        log.message(3, Direction::FromProgram, &Message::RegisterWrite { offset: 0x44, value: 9 });
        log.cycle = 1 << 40;
        log.message(4, Direction::ToProgram, &Message::DmaWrite { addr: 1, data: &[1, 2, 3] });
        log.flush().unwrap();
        let bytes = std::fs::read(file.path()).unwrap();
        let entries = read(&bytes).unwrap();
        assert_eq!((entries[0].cycle, entries[0].place, entries[0].direction), (77, 3, Direction::FromProgram));
        assert_eq!(entries[1].message, Message::DmaWrite { addr: 1, data: &[1, 2, 3] });
        assert_eq!((entries.len(), entries[1].cycle, entries[1].direction), (2, 1 << 40, Direction::ToProgram));
        assert!(read(&bytes[..bytes.len() - 1]).unwrap_err().contains("cut off"));
        assert!(read(&[0; 40]).unwrap_err().contains("another protocol"));
    }
}
