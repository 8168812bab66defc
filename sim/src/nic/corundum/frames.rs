//! Ends of AXI-Streams with tuser: whole frames in, whole frames out.
//!
//! In: frames. Out: beats once a cycle. Guarantees: a source keeps what it offers; a sink refuses a frame whose tuser changes
//! or whose bytes have holes.
use mrnic_verilated::{Dut, Port, PortError};
use std::collections::VecDeque;

/// A frame and what goes with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Vec<u8>,
    /// tuser of every beat.
    pub user: u128,
}

fn words(user: u128) -> [u32; 4] {
    [0, 32, 64, 96].map(|s| (user >> s) as u32)
}

/// The value of a port of up to 128 bits.
pub fn wide(port: &Port) -> u128 {
    port.to_words().iter().rev().fold(0, |v, w| v << 32 | u128::from(*w))
}

/// Sets a port of up to 128 bits.
pub fn set_wide(port: &Port, value: u128) {
    port.set_words(&words(value));
}

struct Ports {
    data: Port,
    keep: Port,
    valid: Port,
    ready: Port,
    last: Port,
    user: Port,
    bytes: usize,
}

impl Ports {
    fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        let port = |n: &str| dut.port(&format!("{prefix}_t{n}"));
        let data = port("data")?;
        let bytes = data.width() as usize / 8;
        let [keep, valid, ready, last, user] = ["keep", "valid", "ready", "last", "user"].map(port);
        Ok(Self { data, keep: keep?, valid: valid?, ready: ready?, last: last?, user: user?, bytes })
    }
}

/// A stream into the wrapper.
pub struct FrameSource {
    ports: Ports,
    waiting: VecDeque<Frame>,
    current: Option<(Frame, usize)>,
    offered: bool,
}

impl FrameSource {
    /// The stream `prefix_t*`.
    pub fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        let ports = Ports::new(dut, prefix)?;
        ports.valid.set_bit(false);
        Ok(Self { ports, waiting: VecDeque::new(), current: None, offered: false })
    }

    /// Queues a frame (not empty).
    pub fn push(&mut self, frame: Frame) {
        self.waiting.push_back(frame);
    }

    /// Frames queued or under way.
    pub fn backlog(&self) -> usize {
        self.waiting.len() + usize::from(self.current.is_some())
    }

    /// Offers the next beat; `stall` holds it back unless it was offered before.
    pub fn drive(&mut self, stall: bool) {
        if self.offered {
            return;
        }
        let p = &self.ports;
        p.valid.set_bit(false);
        if stall {
            return;
        }
        if self.current.is_none() {
            self.current = self.waiting.pop_front().map(|f| (f, 0));
        }
        let Some((frame, sent)) = &self.current else { return };
        let rest = &frame.bytes[*sent..];
        let n = rest.len().min(p.bytes);
        // what tkeep leaves out is not zero on a real bus
        let mut beat = vec![0xA5; p.bytes];
        beat[..n].copy_from_slice(&rest[..n]);
        p.data.set_bytes(&beat);
        p.keep.set_u64(if n == 64 { u64::MAX } else { (1 << n) - 1 });
        p.last.set_bit(n == rest.len());
        set_wide(&p.user, frame.user);
        p.valid.set_bit(true);
        self.offered = true;
    }

    /// Before the rising edge.
    pub fn sample(&mut self) {
        if !self.offered || !self.ports.ready.get_bit() {
            return;
        }
        self.offered = false;
        let bytes = self.ports.bytes;
        self.current = self.current.take().map(|(f, sent)| (f, sent + bytes)).filter(|(f, sent)| *sent < f.bytes.len());
    }
}

/// A stream out of the wrapper.
pub struct FrameSink {
    ports: Ports,
    frame: Option<Frame>,
    /// What was on offer and not taken must be there again.
    held: Option<(Vec<u8>, u64, bool, u128)>,
}

impl FrameSink {
    /// The stream `prefix_t*`.
    pub fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        Ok(Self { ports: Ports::new(dut, prefix)?, frame: None, held: None })
    }

    /// Sets ready for this cycle.
    pub fn drive(&mut self, stall: bool) {
        self.ports.ready.set_bit(!stall);
    }

    /// Before the rising edge. Returns a complete frame.
    pub fn sample(&mut self) -> Result<Option<Frame>, String> {
        let p = &self.ports;
        if !p.valid.get_bit() {
            return match self.held {
                Some(_) => Err("a beat was withdrawn".into()),
                None => Ok(None),
            };
        }
        let mut beat = vec![0; p.bytes];
        p.data.get_bytes(&mut beat);
        let (keep, last, user) = (p.keep.get_u64(), p.last.get_bit(), wide(&p.user));
        let now = (beat, keep, last, user);
        if self.held.as_ref().is_some_and(|h| *h != now) {
            return Err("a beat changed while it was on offer".into());
        }
        if !p.ready.get_bit() {
            self.held = Some(now);
            return Ok(None);
        }
        self.held = None;
        let n = keep.trailing_ones() as usize;
        if n == 0 || (n < 64 && keep >> n != 0) || (!last && n != p.bytes) {
            return Err(format!("tkeep {keep:#x} with tlast {last}"));
        }
        let mut frame = self.frame.take().unwrap_or(Frame { bytes: Vec::new(), user });
        if frame.user != user {
            return Err(format!("tuser changes within a frame from {:#x} to {user:#x}", frame.user));
        }
        frame.bytes.extend_from_slice(&now.0[..n]);
        if last {
            return Ok(Some(frame));
        }
        self.frame = Some(frame);
        Ok(None)
    }
}
