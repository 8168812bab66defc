//! Ends of the engine's streams: valid/ready with W-bit data.
//!
//! In: port handles of a model. Out: words in and out once a cycle. Guarantees: what is offered stays until taken;
//! a beat is taken exactly when valid and ready were both seen high before the rising edge.
use mrnic_verilated::{Dut, Port, PortError};
use std::collections::VecDeque;

/// `x_valid`, `x_ready` and data of a stream into the engine.
pub struct Source {
    valid: Port,
    ready: Port,
    data: Port,
    last: Option<Port>,
    keep: Option<Port>,
    bytes: usize,
    /// Bytes under way, and how many of them were sent.
    current: Option<(Vec<u8>, usize)>,
    waiting: VecDeque<Vec<u8>>,
    beat: Vec<u8>,
    offered: bool,
}

/// Names of the ports of a stream.
pub struct Names<'a> {
    pub valid: &'a str,
    pub ready: &'a str,
    pub data: &'a str,
    /// None where the engine counts.
    pub last: Option<&'a str>,
    pub keep: Option<&'a str>,
}

impl Source {
    /// A source for the stream of these names.
    pub fn new(dut: &Dut, names: &Names) -> Result<Self, PortError> {
        let data = dut.input(names.data)?;
        let bytes = data.width() as usize / 8;
        Ok(Self {
            valid: dut.input(names.valid)?,
            ready: dut.output(names.ready)?,
            last: names.last.map(|l| dut.input(l)).transpose()?,
            keep: names.keep.map(|k| dut.input(k)).transpose()?,
            bytes,
            current: None,
            waiting: VecDeque::new(),
            beat: vec![0; bytes],
            offered: false,
            data,
        })
    }

    /// Queues a packet (not empty).
    pub fn push(&mut self, packet: Vec<u8>) {
        debug_assert!(!packet.is_empty());
        self.waiting.push_back(packet);
    }

    /// Packets queued or under way.
    pub fn backlog(&self) -> usize {
        self.waiting.len() + usize::from(self.current.is_some())
    }

    /// Offers the next beat; `stall` holds it back unless it was offered before.
    pub fn drive(&mut self, stall: bool) {
        if self.offered {
            return;
        }
        self.valid.set_bit(false);
        if stall {
            return;
        }
        if self.current.is_none() {
            let Some(p) = self.waiting.pop_front() else { return };
            self.current = Some((p, 0));
        }
        let Some((packet, sent)) = &self.current else { return };
        let n = (packet.len() - sent).min(self.bytes);
        self.beat[..n].copy_from_slice(&packet[*sent..sent + n]);
        self.beat[n..].fill(0);
        self.data.set_bytes(&self.beat);
        if let Some(l) = &self.last {
            l.set_bit(sent + n == packet.len());
        }
        if let Some(k) = &self.keep {
            k.set_u64(if n == 64 { u64::MAX } else { (1 << n) - 1 });
        }
        self.valid.set_bit(true);
        self.offered = true;
    }

    /// Before the rising edge: whether the beat on offer is taken. Returns a packet whose last beat was taken.
    pub fn sample(&mut self) -> Option<Vec<u8>> {
        if !self.offered || !self.ready.get_bit() {
            return None;
        }
        self.offered = false;
        let (packet, sent) = self.current.take()?;
        let sent = (sent + self.bytes).min(packet.len());
        if sent == packet.len() {
            return Some(packet);
        }
        self.current = Some((packet, sent));
        None
    }
}

/// A stream out of the engine.
pub struct Sink {
    valid: Port,
    ready: Port,
    data: Port,
    last: Port,
    keep: Option<Port>,
    bytes: usize,
    beat: Vec<u8>,
    packet: Vec<u8>,
}

impl Sink {
    /// A sink for the stream of these names.
    pub fn new(dut: &Dut, names: &Names) -> Result<Self, PortError> {
        let data = dut.output(names.data)?;
        let bytes = data.width() as usize / 8;
        Ok(Self {
            valid: dut.output(names.valid)?,
            ready: dut.input(names.ready)?,
            last: dut.output(names.last.unwrap_or(names.valid))?,
            keep: names.keep.map(|k| dut.output(k)).transpose()?,
            bytes,
            beat: vec![0; bytes],
            packet: Vec::new(),
            data,
        })
    }

    /// Sets ready for this cycle.
    pub fn drive(&mut self, stall: bool) {
        self.ready.set_bit(!stall);
    }

    /// Before the rising edge: takes the beat if there is one. Returns a complete packet. Without `keep` the packet is a
    /// whole number of beats.
    pub fn sample(&mut self) -> Option<Vec<u8>> {
        if !self.valid.get_bit() || !self.ready.get_bit() {
            return None;
        }
        self.data.get_bytes(&mut self.beat);
        let n = match &self.keep {
            Some(k) => k.get_u64().trailing_ones() as usize,
            None => self.bytes,
        };
        self.packet.extend_from_slice(&self.beat[..n]);
        if self.last.get_bit() {
            return Some(std::mem::take(&mut self.packet));
        }
        None
    }
}

/// `x_desc_valid`, `x_desc_ready`, `x_desc_addr`, `x_desc_len`: DMA descriptors out of the engine.
pub struct Descriptors {
    valid: Port,
    ready: Port,
    addr: Port,
    len: Port,
}

impl Descriptors {
    /// The descriptor stream `prefix_desc_*`.
    pub fn new(dut: &Dut, prefix: &str) -> Result<Self, PortError> {
        let name = |n: &str| format!("{prefix}_desc_{n}");
        Ok(Self {
            valid: dut.output(&name("valid"))?,
            ready: dut.input(&name("ready"))?,
            addr: dut.output(&name("addr"))?,
            len: dut.output(&name("len"))?,
        })
    }

    /// Sets ready for this cycle.
    pub fn drive(&mut self, ready: bool) {
        self.ready.set_bit(ready);
    }

    /// Before the rising edge: the descriptor that is taken: address and length in bytes.
    pub fn sample(&mut self) -> Option<(u64, usize)> {
        (self.valid.get_bit() && self.ready.get_bit()).then(|| (self.addr.get_u64(), self.len.get_u64() as usize))
    }
}
