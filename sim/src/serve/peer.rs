//! A program that has a NIC: its socket, and its memory as the NIC reaches it.
//!
//! In: messages, DMA of the NIC. Out: messages, bytes. Only memory that the program has mapped is touched: other writes are dropped. A read that
//! fails cuts the program off, because its NIC must not send what it could not read; so does a program that does not answer.
use super::log::{Direction, Log};
use super::ranges::Ranges;
use super::script::Script;
use crate::memory::OutsideMemory;
use crate::nic::Host;
use mrnic_host_bus::{Inbox, Malformed, Message, Received, DMA_BYTES_MAX};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Write;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;

/// A program that leaves so many bytes unread is cut off.
const OUTBOX_BYTES_MAX: usize = 16 << 20;
/// How long a program may take to serve a DMA message.
const DMA_PATIENCE_MS: i32 = 10_000;
/// Messages that may come while a DMA message is being answered.
const DEFERRED_MAX: usize = 65_536;
/// Reads that are remembered for the golden model.
const READS_KEPT: usize = 4096;

/// Address and bytes of a read.
type Read = (u64, Vec<u8>);

pub struct Peer {
    stream: UnixStream,
    pub pid: i32,
    /// In messages of the log: the place of its NIC.
    pub name: u16,
    inbox: Inbox,
    /// Messages that came while a DMA message was being answered.
    deferred: VecDeque<Vec<u8>>,
    outbox: Vec<u8>,
    /// Its memory is accessed without messages.
    pub direct: bool,
    maps: Ranges,
    /// Why it is no longer served.
    gone: Option<String>,
    /// What the NIC has read, in order, if the golden model wants to see the same.
    reads: Option<RefCell<VecDeque<Read>>>,
    /// Writes outside mapped memory.
    pub faults: u64,
    log: Option<Rc<RefCell<Log>>>,
    /// Instead of a program, when a log is replayed.
    script: Option<Script>,
}

impl Peer {
    pub fn new(stream: UnixStream, keep_reads: bool, log: Option<Rc<RefCell<Log>>>) -> std::io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Peer {
            pid: process_of(&stream)?,
            stream,
            name: u16::MAX,
            inbox: Inbox::default(),
            deferred: VecDeque::new(),
            outbox: Vec::new(),
            direct: false,
            maps: Ranges::default(),
            gone: None,
            reads: keep_reads.then(RefCell::default),
            faults: 0,
            log,
            script: None,
        })
    }

    /// What the log says instead of a program.
    pub fn replayed(script: Script) -> std::io::Result<Self> {
        // Nobody is at the other end.
        let (stream, _) = UnixStream::pair()?;
        let (name, direct) = (script.place, script.direct);
        Ok(Peer { name, direct, script: Some(script), ..Peer::new(stream, false, None)? })
    }

    /// The log's part of a program that is over, if there was one.
    pub fn take_script(&mut self) -> Option<Script> {
        self.script.take()
    }

    /// Replayed programs are cut off when they were.
    pub fn cut_off_as_before(&mut self) {
        if let Some(why) = self.script.as_mut().and_then(Script::cut_off) {
            self.drop_off(why);
        }
    }

    pub fn fd(&self) -> RawFd {
        self.stream.as_raw_fd()
    }

    /// Why it is no longer served, if it is not.
    pub fn gone(&self) -> Option<&str> {
        self.gone.as_deref()
    }

    /// No longer served; the first reason stays.
    pub fn drop_off(&mut self, why: impl Into<String>) {
        if self.gone.is_none() {
            let why = why.into();
            self.note(Direction::CutOff, &Message::Refused(&why));
            self.gone = Some(why);
        }
    }

    /// The program is told why it is cut off.
    pub fn refuse(&mut self, why: &str) {
        self.send(&Message::Refused(why));
        self.flush();
        self.drop_off(why);
    }

    fn note(&self, direction: Direction, message: &Message<'_>) {
        if let Some(log) = &self.log {
            log.borrow_mut().message(self.name, direction, message);
        }
    }

    /// Queues a message.
    pub fn send(&mut self, message: &Message<'_>) {
        if self.gone.is_some() {
            return;
        }
        if let Some(script) = &mut self.script {
            return script.output(message);
        }
        self.note(Direction::ToProgram, message);
        message.encode(&mut self.outbox);
        if self.outbox.len() > OUTBOX_BYTES_MAX {
            self.drop_off("it does not read its messages");
        }
    }

    /// Sends what the socket takes now.
    pub fn flush(&mut self) {
        while !self.outbox.is_empty() && self.gone.is_none() {
            match self.stream.write(&self.outbox) {
                Ok(count) => drop(self.outbox.drain(..count)),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(_) => self.drop_off("it has closed its socket"),
            }
        }
    }

    pub fn wants_to_write(&self) -> bool {
        !self.outbox.is_empty()
    }

    /// Takes what has arrived.
    pub fn receive(&mut self) {
        match self.inbox.fill(&mut self.stream) {
            Ok(Received::Bytes(_) | Received::Nothing) => {}
            Ok(Received::Closed { mid_message: true }) => self.drop_off("it ended in the middle of a message"),
            Ok(Received::Closed { mid_message: false }) => self.drop_off("it ended without leaving"),
            Err(error) => self.drop_off(format!("its socket fails: {error}")),
        }
    }

    /// Copies the next message that is complete into `out`.
    pub fn next(&mut self, out: &mut Vec<u8>) -> Result<bool, Malformed> {
        out.clear();
        if let Some(script) = &mut self.script {
            let input = script.input();
            return Ok(input.map(|bytes| *out = bytes).is_some());
        }
        if let Some(message) = self.deferred.pop_front() {
            *out = message;
            return Ok(true);
        }
        match self.inbox.take()? {
            Some(message) => {
                message.encode(out);
                if let Some(log) = &self.log {
                    log.borrow_mut().message(self.name, Direction::FromProgram, &message);
                }
                Ok(true)
            }
            None => Ok(false),
        }
    }

    pub fn map(&mut self, addr: u64, bytes: u64) -> bool {
        self.maps.add(addr, bytes)
    }

    pub fn is_mapped(&self, addr: u64, bytes: u64) -> bool {
        self.maps.has(addr, bytes)
    }

    /// The access right that [`Peer::is_mapped`] found ends; without a range, all of them.
    pub fn unmap(&mut self, range: Option<(u64, u64)>) {
        match range {
            Some((addr, bytes)) => self.maps.remove(addr, bytes),
            None => self.maps = Ranges::default(),
        }
    }

    /// Whether its memory can be read without messages: the value that it named must be there.
    pub fn probe(&mut self, addr: u64, value: u64) {
        let mut bytes = [0; 8];
        self.direct = read_process(self.pid, addr, &mut bytes) && u64::from_le_bytes(bytes) == value;
    }

    /// Sends a DMA message and waits for its answer; what comes meanwhile is kept for later.
    fn ask<R>(&mut self, question: &Message<'_>, mut answer: impl FnMut(&Message<'_>) -> Option<R>) -> Option<R> {
        self.send(question);
        if let Some(script) = &mut self.script {
            let bytes = script.answer()?;
            return Message::decode(&bytes).ok().flatten().and_then(|(message, _)| answer(&message));
        }
        let mut bytes = Vec::new();
        loop {
            self.flush();
            loop {
                match self.inbox.take() {
                    Ok(Some(message)) => {
                        message.encode(&mut bytes);
                        if let Some(log) = &self.log {
                            log.borrow_mut().message(self.name, Direction::FromProgram, &message);
                        }
                        if let Some(result) = Message::decode(&bytes).ok().flatten().and_then(|(m, _)| answer(&m)) {
                            return Some(result);
                        }
                        self.deferred.push_back(std::mem::take(&mut bytes));
                        if self.deferred.len() > DEFERRED_MAX {
                            self.drop_off("it sends messages and does not answer");
                        }
                    }
                    Ok(None) => break,
                    Err(fault) => self.drop_off(fault.to_string()),
                }
            }
            if self.gone.is_some() {
                return None;
            }
            let events = libc::POLLIN | if self.outbox.is_empty() { 0 } else { libc::POLLOUT };
            let mut wait = libc::pollfd { fd: self.fd(), events, revents: 0 };
            // SAFETY: one valid entry.
            if unsafe { libc::poll(&mut wait, 1, DMA_PATIENCE_MS) } == 0 {
                self.drop_off("it does not answer a DMA message");
            }
            self.receive();
        }
    }

    fn fault(&mut self, what: &str, addr: u64, len: usize) {
        self.faults += 1;
        if self.faults == 1 && self.gone.is_none() {
            tracing::warn!(
                "NIC {}: {what} of {len} bytes at {addr:#x} is outside the memory that the program has mapped",
                self.name
            );
        }
    }

    fn read_some(&mut self, addr: u64, out: &mut [u8]) -> bool {
        if self.direct && self.script.is_none() {
            let ok = read_process(self.pid, addr, out);
            self.note(Direction::ToProgram, &Message::DmaRead { addr, bytes: out.len() as u32 });
            self.note(Direction::FromProgram, &Message::DmaData { ok, data: out });
            return ok;
        }
        let length = out.len();
        self.ask(&Message::DmaRead { addr, bytes: length as u32 }, |message| match message {
            Message::DmaData { ok, data } => {
                let fits = *ok && data.len() == length;
                if fits {
                    out.copy_from_slice(data);
                }
                Some(fits)
            }
            _ => None,
        })
        .unwrap_or(false)
    }

    fn write_some(&mut self, addr: u64, data: &[u8]) -> bool {
        let message = Message::DmaWrite { addr, data };
        if self.direct && self.script.is_none() {
            let ok = write_process(self.pid, addr, data);
            self.note(Direction::ToProgram, &message);
            self.note(Direction::FromProgram, &Message::DmaDone { ok });
            return ok;
        }
        self.ask(&message, |message| match message {
            Message::DmaDone { ok } => Some(*ok),
            _ => None,
        })
        .unwrap_or(false)
    }

    fn write(&mut self, what: &str, addr: u64, data: &[u8]) {
        if self.gone.is_some() || !self.maps.contain(addr, data.len() as u64) {
            return self.fault(what, addr, data.len());
        }
        for (i, part) in data.chunks(DMA_BYTES_MAX).enumerate() {
            if !self.write_some(addr + (i * DMA_BYTES_MAX) as u64, part) {
                return self.fault(what, addr, data.len());
            }
        }
    }

    /// A ring begins anew: what was read of it and then dropped is not what the NIC reads there next.
    pub fn forget_reads(&mut self, addr: u64, bytes: u64) {
        if let Some(reads) = &mut self.reads {
            reads.get_mut().retain(|(at, _)| *at < addr || *at - addr >= bytes);
        }
    }

    /// What the NIC read there, for the golden model: as it was then.
    pub fn remembered(&self, addr: u64, out: &mut [u8]) -> bool {
        let Some(reads) = &self.reads else { return false };
        let mut reads = reads.borrow_mut();
        // Each read makes one frame, or one WQE, in the same order; the program may have changed its memory since.
        if let Some(at) = reads.iter().position(|(a, bytes)| *a == addr && bytes.len() == out.len()) {
            out.copy_from_slice(&reads[at].1);
            reads.remove(at);
            return true;
        }
        // Of a program that was killed nothing can be read any more: the NIC's own access cuts it off, and that is no difference.
        self.maps.contain(addr, out.len() as u64) && (read_process(self.pid, addr, out) || has_ended(self.pid))
    }
}

impl Host for Peer {
    fn dma_read(&mut self, addr: u64, len: usize) -> Result<Vec<u8>, OutsideMemory> {
        let mut bytes = vec![0; len];
        let mut parts = bytes.chunks_mut(DMA_BYTES_MAX).enumerate();
        let readable = self.gone.is_none() && self.maps.contain(addr, len as u64);
        if !readable || !parts.all(|(i, part)| self.read_some(addr + (i * DMA_BYTES_MAX) as u64, part)) {
            self.drop_off(format!(
                "its NIC cannot read the {len} bytes at {addr:#x} that a request names: were they deregistered too early?"
            ));
        }
        if let Some(reads) = &self.reads {
            let mut reads = reads.borrow_mut();
            if reads.len() == READS_KEPT {
                reads.pop_front();
            }
            reads.push_back((addr, bytes.clone()));
        }
        Ok(bytes)
    }

    fn dma_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        self.write("a write", addr, data);
        Ok(())
    }

    fn cqe_write(&mut self, addr: u64, data: &[u8]) -> Result<(), OutsideMemory> {
        let (first, rest) = data.split_at(data.len().min(4));
        self.write("a completion", addr + first.len() as u64, rest);
        self.write("a completion", addr, first);
        Ok(())
    }
}

impl mrnic_lockstep::Memory for Peer {
    fn read_into(&self, addr: u64, out: &mut [u8]) -> bool {
        self.remembered(addr, out)
    }

    fn read_last(&self, addr: u64, out: &mut [u8]) -> bool {
        if let Some(reads) = &self.reads {
            let mut reads = reads.borrow_mut();
            let same = |read: &Read| read.0 == addr && read.1.len() == out.len();
            let last = reads.iter().rposition(same);
            let mut at = 0..;
            reads.retain(|read| at.next() == last || !same(read));
        }
        self.remembered(addr, out)
    }
}

/// Who is at the other end.
fn process_of(stream: &UnixStream) -> std::io::Result<i32> {
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the value has the type and the size that the option asks for.
    let result = unsafe {
        libc::getsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut credentials).cast(), &mut length)
    };
    if result != 0 {
        return Err(std::io::Error::last_os_error());
    }
    Ok(credentials.pid)
}

fn read_process(pid: i32, addr: u64, out: &mut [u8]) -> bool {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: addr as *mut _, iov_len: out.len() };
    // SAFETY: the local buffer is valid; the other address is that of another process, checked by the system.
    let count = unsafe { libc::process_vm_readv(pid, &local, 1, &remote, 1, 0) };
    usize::try_from(count) == Ok(out.len())
}

/// A process that was killed has no memory, even while its parent has not waited for it.
fn has_ended(pid: i32) -> bool {
    let mut byte = [0u8];
    !read_process(pid, byte.as_mut_ptr() as u64, &mut byte)
        && std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH)
}

fn write_process(pid: i32, addr: u64, data: &[u8]) -> bool {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: addr as *mut _, iov_len: data.len() };
    // SAFETY: as above; the local buffer is only read.
    let count = unsafe { libc::process_vm_writev(pid, &local, 1, &remote, 1, 0) };
    usize::try_from(count) == Ok(data.len())
}
