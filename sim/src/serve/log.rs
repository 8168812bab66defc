//! A log of everything that passed between the programs and their NICs, from which the run can be repeated without the programs.
//!
//! In: messages, with the simulated time at which they took effect. Out: a file: a line that names the format, a line of JSON ([`Header`]), then
//! records: cycle (8 bytes), phase (8), place (2), direction (0 to the NIC, 1 to the program, 2 the program was cut off), 1 byte reserved,
//! and the message as on the socket. DMA without messages is logged as if there were.
use crate::scenario::HostConfig;
use mrnic_fabric::FabricConfig;
use mrnic_host_bus::Message;
use serde::{Deserialize, Serialize};
use std::cell::Cell;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::rc::Rc;

const FORMAT: &str = "mrnic serve log 2\n";
const HEAD_BYTES: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    FromProgram,
    ToProgram,
    /// No message: the program was no longer served, for the reason that a REFUSED names.
    CutOff,
}

/// What was served.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Header {
    pub build: String,
    pub scenario: String,
    pub fabric: FabricConfig,
    pub host: HostConfig,
    pub seed: u64,
}

/// Where the server is: its phase and the cycle of the simulation. Phases count its rounds: even while it looks at the sockets, odd while the
/// clock runs.
pub type Now = Rc<Cell<(u64, u64)>>;

pub struct Log {
    file: BufWriter<File>,
    now: Now,
    record: Vec<u8>,
    failed: bool,
}

impl Log {
    pub fn create(path: &Path, header: &Header, now: &Now) -> io::Result<Self> {
        let mut file = BufWriter::new(File::create(path)?);
        file.write_all(FORMAT.as_bytes())?;
        serde_json::to_writer(&mut file, header)?;
        file.write_all(b"\n")?;
        Ok(Log { file, now: now.clone(), record: Vec::new(), failed: false })
    }

    /// Appends a message. The first failure is reported, and ends the log.
    pub fn message(&mut self, place: u16, direction: Direction, message: &Message<'_>) {
        if self.failed {
            return;
        }
        self.record.clear();
        let (phase, cycle) = self.now.get();
        self.record.extend_from_slice(&cycle.to_le_bytes());
        self.record.extend_from_slice(&phase.to_le_bytes());
        self.record.extend_from_slice(&place.to_le_bytes());
        self.record.extend_from_slice(&[direction as u8, 0]);
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
    pub phase: u64,
    pub place: u16,
    pub direction: Direction,
    pub message: Message<'a>,
}

/// What was served, and the records in the bytes of a log; the text says where they end otherwise than at the end.
pub fn read(bytes: &[u8]) -> Result<(Header, Vec<Entry<'_>>), String> {
    let rest = bytes.strip_prefix(FORMAT.as_bytes()).ok_or("it is no log of `mrnic serve --log` of this release")?;
    let line = rest.iter().position(|byte| *byte == b'\n').ok_or("the log is cut off in its header")?;
    let header = serde_json::from_slice(&rest[..line]).map_err(|error| format!("the log's header: {error}"))?;
    let (whole, mut bytes) = (bytes.len(), &rest[line + 1..]);
    let mut entries = Vec::new();
    while !bytes.is_empty() {
        let at = whole - bytes.len();
        let cut = || format!("the log is cut off at byte {at}");
        let (head, rest) = bytes.split_first_chunk::<HEAD_BYTES>().ok_or_else(cut)?;
        let (message, used) =
            Message::decode(rest).map_err(|fault| format!("byte {at} of the log: {fault}"))?.ok_or_else(cut)?;
        let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|i| head[at + i]));
        let direction = match head[18] {
            0 => Direction::FromProgram,
            1 => Direction::ToProgram,
            2 => Direction::CutOff,
            other => return Err(format!("byte {at} of the log: direction {other}")),
        };
        let place = u16::from_le_bytes([head[16], head[17]]);
        entries.push(Entry { cycle: number(0), phase: number(8), place, direction, message });
        bytes = &rest[used..];
    }
    Ok((header, entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_can_be_read_back_and_a_cut_one_says_so() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let header = Header {
            build: "sim".to_owned(),
            scenario: "loss-1".to_owned(),
            fabric: FabricConfig { loss_data: 0.1 + 0.2, ..Default::default() },
            host: HostConfig::default(),
            seed: u64::MAX,
        };
        let now = Now::default();
        let mut log = Log::create(file.path(), &header, &now).unwrap();
        now.set((0, 77));
        log.message(3, Direction::FromProgram, &Message::RegisterWrite { offset: 0x44, value: 9 });
        now.set((5, 1 << 40));
        log.message(4, Direction::ToProgram, &Message::DmaWrite { addr: 1, data: &[1, 2, 3] });
        log.message(4, Direction::CutOff, &Message::Refused("x"));
        log.flush().unwrap();
        let bytes = std::fs::read(file.path()).unwrap();
        let (read_header, entries) = read(&bytes).unwrap();
        assert_eq!(read_header, header);
        assert_eq!((entries[0].cycle, entries[0].place, entries[0].direction), (77, 3, Direction::FromProgram));
        assert_eq!(entries[1].message, Message::DmaWrite { addr: 1, data: &[1, 2, 3] });
        assert_eq!((entries.len(), entries[1].cycle, entries[1].phase), (3, 1 << 40, 5));
        assert_eq!((entries[1].direction, entries[2].direction), (Direction::ToProgram, Direction::CutOff));
        assert!(read(&bytes[..bytes.len() - 1]).unwrap_err().contains("cut off"));
        let start = bytes.iter().rposition(|byte| *byte == b'\n').unwrap() + 1;
        assert!(read(&[&bytes[..start], &[0; 40]].concat()).unwrap_err().contains("another protocol"));
        assert!(read(&[0; 40]).unwrap_err().contains("no log"));
    }
}
