//! One DMA interface of Corundum's core: descriptors of the application, its segmented RAM, statuses.
//!
//! In: descriptors and RAM words of the wrapper, host memory. Out: reads and writes of host memory, RAM commands, statuses.
//! Guarantees: operations overlap and end in any order; every segment of the RAM goes at its own pace; a status comes after
//! all that it stands for.
use super::Access;
use crate::memory::OutsideMemory;
use crate::nic::Host;
use crate::scenario::HostConfig;
use mrnic_verilated::{Dut, Port, PortError};
use rand::rngs::SmallRng;
use rand::Rng;
use std::collections::{BTreeMap, VecDeque};

/// Operations that may be under way in each direction.
const OPERATIONS: usize = 32;
/// Chance in each cycle that a handshake of the core waits.
const GAP: f64 = 0.1;
/// Longest time between the end of an operation and its status.
const STATUS_NS: u64 = 200;

struct Descriptors {
    addr: Port,
    sel: Port,
    ram: Port,
    len: Port,
    tag: Port,
    valid: Port,
    ready: Port,
    status_tag: Port,
    status_error: Port,
    status_valid: Port,
    /// When they may be given, and tags.
    statuses: Vec<(u64, u64)>,
    /// Error of the next status.
    fail: u64,
}

struct Descriptor {
    addr: u64,
    ram: u64,
    len: usize,
    tag: u64,
}

impl Descriptors {
    fn new(dut: &Dut, kind: &str, dir: &str) -> Result<Self, PortError> {
        let out = |n: &str| dut.output(&format!("m_axis_{kind}_dma_{dir}_desc_{n}"));
        let status = |n: &str| dut.input(&format!("s_axis_{kind}_dma_{dir}_desc_status_{n}"));
        let new = Self {
            addr: out("dma_addr")?,
            sel: out("ram_sel")?,
            ram: out("ram_addr")?,
            len: out("len")?,
            tag: out("tag")?,
            valid: out("valid")?,
            ready: dut.input(&format!("m_axis_{kind}_dma_{dir}_desc_ready"))?,
            status_tag: status("tag")?,
            status_error: status("error")?,
            status_valid: status("valid")?,
            statuses: Vec::new(),
            fail: 0,
        };
        new.status_valid.set_bit(false);
        new.status_error.set_u64(0);
        Ok(new)
    }

    fn drive(&mut self, now: u64, room: bool, rng: &mut SmallRng) {
        self.ready.set_bit(room && !rng.random_bool(GAP));
        let due: Vec<usize> = (0..self.statuses.len()).filter(|i| self.statuses[*i].0 <= now).collect();
        self.status_valid.set_bit(!due.is_empty());
        if !due.is_empty() {
            let (_, tag) = self.statuses.swap_remove(due[rng.random_range(0..due.len())]);
            self.status_tag.set_u64(tag);
            self.status_error.set_u64(std::mem::take(&mut self.fail));
        }
    }

    fn sample(&self) -> Option<Descriptor> {
        if !self.valid.get_bit() || !self.ready.get_bit() {
            return None;
        }
        debug_assert_eq!(self.sel.get_u64(), 0);
        Some(Descriptor {
            addr: self.addr.get_u64(),
            ram: self.ram.get_u64(),
            len: self.len.get_u64() as usize,
            tag: self.tag.get_u64(),
        })
    }
}

/// What a segment is asked for: operation, row, and for a write the place of the data in the segment and the data.
struct Command {
    op: u64,
    row: u64,
    first: usize,
    data: Vec<u8>,
    /// Of a read: where its bytes belong in the operation.
    at: usize,
    len: usize,
}

#[derive(Default)]
struct Segment {
    waiting: Vec<Command>,
    offered: Option<Command>,
    /// Commands taken and not answered, in order.
    taken: VecDeque<Command>,
}

impl Segment {
    /// Chooses what to offer: of one operation in order, of several any.
    fn offer(&mut self, rng: &mut SmallRng) -> bool {
        if self.offered.is_none() && !self.waiting.is_empty() && !rng.random_bool(GAP) {
            let op = self.waiting[rng.random_range(0..self.waiting.len())].op;
            if let Some(i) = self.waiting.iter().position(|c| c.op == op) {
                self.offered = Some(self.waiting.remove(i));
            }
        }
        self.offered.is_some()
    }
}

struct Operation {
    descriptor: Descriptor,
    /// Commands that are not done.
    left: usize,
    /// When host memory is accessed; of a write only once `left` is 0.
    at: u64,
    started: bool,
    bytes: Vec<u8>,
}

/// The interface.
pub struct DmaPort {
    reads: Descriptors,
    writes: Descriptors,
    seg_bytes: usize,
    wr_be: Port,
    wr_addr: Port,
    wr_data: Port,
    wr_valid: Port,
    wr_ready: Port,
    wr_done: Port,
    rd_addr: Port,
    rd_valid: Port,
    rd_ready: Port,
    resp_data: Port,
    resp_valid: Port,
    resp_ready: Port,
    row_bits: u32,
    fill: Vec<Segment>,
    drain: Vec<Segment>,
    reading: BTreeMap<u64, Operation>,
    writing: BTreeMap<u64, Operation>,
    next: u64,
    /// Writes in the order of their descriptors, with their bytes once these are known.
    seen: VecDeque<(u64, u64, Option<Vec<u8>>)>,
    /// Writes in the order of their descriptors, from the oldest on that is not in memory.
    landing: VecDeque<u64>,
    out_of_order: [u64; 2],
}

impl DmaPort {
    /// The interface `ctrl` or `data`.
    pub fn new(dut: &Dut, kind: &str) -> Result<Self, PortError> {
        let ram = |n: &str| dut.port(&format!("{kind}_dma_ram_{n}"));
        let segments = ram("wr_cmd_valid")?.width() as usize;
        let seg_bytes = ram("wr_cmd_be")?.width() as usize / segments;
        let fresh = || (0..segments).map(|_| Segment::default()).collect();
        let port = Self {
            reads: Descriptors::new(dut, kind, "read")?,
            writes: Descriptors::new(dut, kind, "write")?,
            seg_bytes,
            wr_be: ram("wr_cmd_be")?,
            wr_addr: ram("wr_cmd_addr")?,
            wr_data: ram("wr_cmd_data")?,
            wr_valid: ram("wr_cmd_valid")?,
            wr_ready: ram("wr_cmd_ready")?,
            wr_done: ram("wr_done")?,
            row_bits: ram("rd_cmd_addr")?.width() / segments as u32,
            rd_addr: ram("rd_cmd_addr")?,
            rd_valid: ram("rd_cmd_valid")?,
            rd_ready: ram("rd_cmd_ready")?,
            resp_data: ram("rd_resp_data")?,
            resp_valid: ram("rd_resp_valid")?,
            resp_ready: ram("rd_resp_ready")?,
            fill: fresh(),
            drain: fresh(),
            reading: BTreeMap::new(),
            writing: BTreeMap::new(),
            next: 0,
            seen: VecDeque::new(),
            landing: VecDeque::new(),
            out_of_order: [0; 2],
        };
        for valid in [&port.wr_valid, &port.rd_valid] {
            valid.set_u64(0);
        }
        Ok(port)
    }

    /// Nothing is under way.
    pub fn idle(&self) -> bool {
        let statuses = self.reads.statuses.is_empty() && self.writes.statuses.is_empty();
        self.reading.is_empty() && self.writing.is_empty() && self.seen.is_empty() && statuses
    }

    /// The next read and the next write that end have failed with that code.
    #[cfg(test)]
    pub fn fail(&mut self, code: u64) {
        (self.reads.fail, self.writes.fail) = (code, code);
    }

    /// Reads and writes that ended before an older one.
    pub fn out_of_order(&self) -> [u64; 2] {
        self.out_of_order
    }

    /// The pieces of `len` bytes from byte `ram` of the RAM on: segment, row, first byte in the segment, offset, bytes.
    fn pieces(&self, ram: u64, len: usize) -> Vec<(usize, u64, usize, usize, usize)> {
        let mut pieces = Vec::new();
        let (seg, count) = (self.seg_bytes as u64, self.fill.len() as u64);
        let mut at = 0;
        while at < len {
            let byte = ram + at as u64;
            let first = (byte % seg) as usize;
            let n = (self.seg_bytes - first).min(len - at);
            pieces.push(((byte / seg % count) as usize, byte / seg / count, first, at, n));
            at += n;
        }
        pieces
    }

    /// Sets the inputs of this cycle; `cqe` tells how writes reach memory. Returns how many more writes are there with all that are older.
    pub fn drive<H: Host>(&mut self, now: u64, memory: &mut H, cqe: bool, rng: &mut SmallRng) -> Result<usize, OutsideMemory> {
        self.reads.drive(now, self.reading.len() < OPERATIONS, rng);
        self.writes.drive(now, self.writing.len() < OPERATIONS, rng);
        // host memory answers reads: their bytes go into the RAM
        let due: Vec<u64> = self.reading.iter().filter(|(_, o)| !o.started && o.at <= now).map(|(id, _)| *id).collect();
        for id in due {
            let Some(o) = self.reading.get_mut(&id) else { continue };
            let bytes = memory.dma_read(o.descriptor.addr, o.descriptor.len)?;
            o.started = true;
            let (ram, len) = (o.descriptor.ram, o.descriptor.len);
            let pieces = self.pieces(ram, len);
            if let Some(o) = self.reading.get_mut(&id) {
                o.left = pieces.len();
            }
            for (s, row, first, at, n) in pieces {
                let data = bytes[at..at + n].to_vec();
                self.fill[s].waiting.push(Command { op: id, row, first, data, at, len: n });
            }
        }
        // writes whose bytes are all here
        let due: Vec<u64> = self.writing.iter().filter(|(_, o)| o.left == 0 && o.at <= now).map(|(id, _)| *id).collect();
        for id in due {
            if self.writing.keys().next().is_some_and(|first| *first != id) {
                self.out_of_order[1] += 1;
            }
            let Some(o) = self.writing.remove(&id) else { continue };
            if cqe {
                memory.cqe_write(o.descriptor.addr, &o.bytes)?;
            } else {
                memory.dma_write(o.descriptor.addr, &o.bytes)?;
            }
            self.writes.statuses.push((now + 1000 * rng.random_range(0..=STATUS_NS), o.descriptor.tag));
        }
        self.drive_ram(rng);
        let waiting = self.landing.len();
        while self.landing.front().is_some_and(|id| !self.writing.contains_key(id)) {
            self.landing.pop_front();
        }
        Ok(waiting - self.landing.len())
    }

    fn drive_ram(&mut self, rng: &mut SmallRng) {
        let bytes = self.seg_bytes;
        let (mut valid, mut ask, mut take) = (0, 0, 0);
        let mut data = vec![0; bytes * self.fill.len()];
        for s in 0..self.fill.len() {
            if self.fill[s].offer(rng) {
                if let Some(c) = &self.fill[s].offered {
                    let be = if c.data.len() == 64 { u64::MAX } else { ((1 << c.data.len()) - 1) << c.first };
                    self.wr_be.set_bits((s * bytes) as u32, bytes as u32, be);
                    self.wr_addr.set_bits(s as u32 * self.row_bits, self.row_bits, c.row);
                    data[s * bytes + c.first..][..c.data.len()].copy_from_slice(&c.data);
                    valid |= 1 << s;
                }
            }
            if self.drain[s].offer(rng) {
                if let Some(c) = &self.drain[s].offered {
                    self.rd_addr.set_bits(s as u32 * self.row_bits, self.row_bits, c.row);
                    ask |= 1 << s;
                }
            }
            if !rng.random_bool(GAP) {
                take |= 1 << s;
            }
        }
        if valid != 0 {
            self.wr_data.set_bytes(&data);
        }
        self.wr_valid.set_u64(valid);
        self.rd_valid.set_u64(ask);
        self.resp_ready.set_u64(take);
    }

    /// Before the rising edge: descriptors that are taken, writes in their order.
    pub fn sample(&mut self, now: u64, host: &HostConfig, rng: &mut SmallRng) -> Result<Vec<Access>, String> {
        let mut accesses = Vec::new();
        let [least, most] = host.read_latency_ns;
        if let Some(d) = self.reads.sample() {
            accesses.push(Access::Read(d.addr, d.len));
            let at = now + 1000 * rng.random_range(least..=most);
            self.reading.insert(self.next, Operation { descriptor: d, left: 0, at, started: false, bytes: Vec::new() });
            self.next += 1;
        }
        if let Some(d) = self.writes.sample() {
            let pieces = self.pieces(d.ram, d.len);
            let left = pieces.len();
            for (s, row, first, at, len) in pieces {
                self.drain[s].waiting.push(Command { op: self.next, row, first, data: Vec::new(), at, len });
            }
            self.seen.push_back((self.next, d.addr, None));
            let bytes = vec![0; d.len];
            self.writing.insert(self.next, Operation { descriptor: d, left, at: 0, started: true, bytes });
            self.landing.push_back(self.next);
            self.next += 1;
        }
        self.sample_fill(now, rng)?;
        self.sample_drain(now, host, rng)?;
        while let Some((_, addr, Some(_))) = self.seen.front() {
            let addr = *addr;
            if let Some((_, _, Some(bytes))) = self.seen.pop_front() {
                accesses.push(Access::Write(addr, bytes));
            }
        }
        Ok(accesses)
    }

    fn sample_fill(&mut self, now: u64, rng: &mut SmallRng) -> Result<(), String> {
        let (ready, done) = (self.wr_ready.get_u64(), self.wr_done.get_u64());
        for s in 0..self.fill.len() {
            if done >> s & 1 == 1 {
                let c = self.fill[s].taken.pop_front().ok_or("wr_done without a command")?;
                let o = self.reading.get_mut(&c.op).ok_or("wr_done after the end of its read")?;
                o.left -= 1;
                if o.left == 0 {
                    self.reads.statuses.push((now + 1000 * rng.random_range(0..=STATUS_NS), o.descriptor.tag));
                    if self.reading.keys().next().is_some_and(|first| *first != c.op) {
                        self.out_of_order[0] += 1;
                    }
                    self.reading.remove(&c.op);
                }
            }
            if ready >> s & 1 == 1 {
                if let Some(c) = self.fill[s].offered.take() {
                    self.fill[s].taken.push_back(c);
                }
            }
        }
        Ok(())
    }

    fn sample_drain(&mut self, now: u64, host: &HostConfig, rng: &mut SmallRng) -> Result<(), String> {
        let ready = self.rd_ready.get_u64();
        let answered = self.resp_valid.get_u64() & self.resp_ready.get_u64();
        let mut words = Vec::new();
        if answered != 0 {
            words = vec![0; self.seg_bytes * self.drain.len()];
            self.resp_data.get_bytes(&mut words);
        }
        for s in 0..self.drain.len() {
            if answered >> s & 1 == 1 {
                let c = self.drain[s].taken.pop_front().ok_or("a RAM word that was not asked for")?;
                let o = self.writing.get_mut(&c.op).ok_or("a RAM word after the end of its write")?;
                o.bytes[c.at..c.at + c.len].copy_from_slice(&words[s * self.seg_bytes + c.first..][..c.len]);
                o.left -= 1;
                if o.left == 0 {
                    let [least, most] = host.write_latency_ns;
                    o.at = now + 1000 * rng.random_range(least..=most);
                    if let Some(w) = self.seen.iter_mut().find(|w| w.0 == c.op) {
                        w.2 = Some(o.bytes.clone());
                    }
                }
            }
            if ready >> s & 1 == 1 {
                if let Some(c) = self.drain[s].offered.take() {
                    self.drain[s].taken.push_back(c);
                }
            }
        }
        Ok(())
    }
}
