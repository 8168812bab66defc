//! pcapng files of what was on the wire.
//!
//! In: frames with their times. Out: a file that Wireshark opens, one interface a plane and direction of view, nanosecond times.
//! Guarantees: errors name the file.
use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketBlock;
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::pcapng::PcapNgWriter;
use pcap_file::DataLink;
use std::borrow::Cow;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;

/// A capture could not be written.
#[derive(Debug, Error)]
#[error("cannot write capture {}: {reason}", file.display())]
pub struct CaptureError {
    file: PathBuf,
    reason: String,
}

/// A capture file.
pub struct Capture {
    file: PathBuf,
    writer: PcapNgWriter<BufWriter<File>>,
    frames: u64,
    limit: u64,
}

impl Capture {
    /// Creates `file` with one interface a plane; frames after the first `limit` are left out.
    pub fn create(file: &Path, planes: usize, limit: u64) -> Result<Self, CaptureError> {
        let fail = |reason: String| CaptureError { file: file.into(), reason };
        let out = File::create(file).map_err(|e| fail(e.to_string()))?;
        let mut writer = PcapNgWriter::new(BufWriter::new(out)).map_err(|e| fail(e.to_string()))?;
        for plane in 0..planes {
            writer
                .write_pcapng_block(InterfaceDescriptionBlock {
                    linktype: DataLink::ETHERNET,
                    snaplen: 0xFFFF,
                    options: vec![
                        InterfaceDescriptionOption::IfName(Cow::Owned(format!("plane{plane}"))),
                        InterfaceDescriptionOption::IfTsResol(9),
                    ],
                })
                .map_err(|e| fail(e.to_string()))?;
        }
        Ok(Self { file: file.into(), writer, frames: 0, limit })
    }

    /// Adds a frame that left a NIC.
    pub fn frame(&mut self, now_ps: u64, plane: usize, frame: &[u8]) -> Result<(), CaptureError> {
        if self.frames >= self.limit {
            return Ok(());
        }
        self.frames += 1;
        self.writer
            .write_pcapng_block(EnhancedPacketBlock {
                interface_id: plane as u32,
                timestamp: Duration::from_nanos(now_ps / 1000),
                original_len: frame.len() as u32,
                data: Cow::Borrowed(frame),
                options: vec![],
            })
            .map_err(|e| CaptureError { file: self.file.clone(), reason: e.to_string() })?;
        Ok(())
    }

    /// Everything is in the file.
    pub fn flush(&mut self) -> Result<(), CaptureError> {
        self.writer.get_mut().flush().map_err(|e| CaptureError { file: self.file.clone(), reason: e.to_string() })
    }
}
