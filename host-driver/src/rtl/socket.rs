//! A NIC in another process: `mrnic serve`, at the socket of the session.
//!
//! In: the calls of [`Carrier`]. Out: messages (crate mrnic-host-bus). A thread takes what the NIC says: it serves DMA messages out of mapped
//! memory only, keeps frames and register values for whoever asks, and notices when the NIC is gone; then nobody waits any more.
use super::carrier::{Carrier, Identity};
use crate::device::DeviceError;
use crate::model::ProcessMemory;
use crate::verbs::lock;
use mrnic_host_bus::{socket_of, Inbox, Message, Received};
use mrnic_model::HostMemory;
use std::collections::VecDeque;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long an answer may take: the NIC may be simulated on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
/// Frames that wait for the driver; further ones are lost.
const FRAMES_MAX: usize = 256;

/// What the reading thread has found.
#[derive(Default)]
struct Arrived {
    identity: Option<Identity>,
    values: VecDeque<u32>,
    done: u32,
    frames: VecDeque<Vec<u8>>,
    /// Something happened since the last wait.
    woken: bool,
    gone: Option<String>,
}

struct Inner {
    stream: UnixStream,
    /// Messages are written whole.
    writer: Mutex<Vec<u8>>,
    arrived: Mutex<Arrived>,
    news: Condvar,
    memory: Mutex<ProcessMemory>,
    /// One question at a time: answers come in the order of questions.
    question: Mutex<()>,
}

/// The driver's end of the socket.
pub struct Socket {
    inner: Arc<Inner>,
    identity: Identity,
}

fn gone(detail: impl Into<String>) -> DeviceError {
    DeviceError::Gone { detail: detail.into() }
}

impl Inner {
    fn send(&self, message: &Message<'_>) {
        let mut buffer = lock(&self.writer);
        buffer.clear();
        message.encode(&mut buffer);
        if let Err(error) = (&self.stream).write_all(&buffer) {
            self.lost(format!("the NIC's process does not take messages: {error}"));
        }
    }

    /// The NIC is gone; the first reason stays.
    fn lost(&self, why: String) {
        let mut arrived = lock(&self.arrived);
        arrived.gone.get_or_insert(why);
        arrived.woken = true;
        self.news.notify_all();
    }

    fn change(&self, change: impl FnOnce(&mut Arrived)) {
        change(&mut lock(&self.arrived));
        self.news.notify_all();
    }

    /// Waits until there is an answer, and takes it.
    fn answer<R>(&self, mut take: impl FnMut(&mut Arrived) -> Option<R>) -> Result<R, DeviceError> {
        let end = Instant::now() + PATIENCE;
        let mut arrived = lock(&self.arrived);
        loop {
            if let Some(result) = take(&mut arrived) {
                return Ok(result);
            }
            if let Some(why) = &arrived.gone {
                return Err(gone(why.clone()));
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(gone(format!("the NIC's process has not answered for {PATIENCE:?}")));
            }
            arrived = self.news.wait_timeout(arrived, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn handle(&self, message: &Message<'_>, bytes: &mut Vec<u8>) {
        match *message {
            Message::Attached { place, keys, build, .. } => {
                let identity = Identity { place, keys, build: build.to_owned() };
                self.change(|arrived| arrived.identity = Some(identity));
            }
            Message::RegisterValue { value, .. } => self.change(|arrived| arrived.values.push_back(value)),
            Message::Done => self.change(|arrived| arrived.done += 1),
            Message::Frame(frame) => self.change(|arrived| {
                if arrived.frames.len() < FRAMES_MAX {
                    arrived.frames.push_back(frame.to_vec());
                }
                arrived.woken = true;
            }),
            Message::DmaRead { addr, bytes: count } => {
                bytes.clear();
                bytes.resize((count as usize).min(mrnic_host_bus::DMA_BYTES_MAX), 0);
                let ok = lock(&self.memory).read(addr, bytes).is_ok();
                self.send(&Message::DmaData { ok, data: bytes });
            }
            Message::DmaWrite { addr, data } => {
                let ok = lock(&self.memory).write(addr, data).is_ok();
                self.send(&Message::DmaDone { ok });
            }
            Message::Interrupt => self.change(|arrived| arrived.woken = true),
            Message::Refused(why) => self.lost(format!("the NIC's process refuses this one: {why}")),
            _ => self.lost("the NIC's process sends messages that only a driver sends".to_owned()),
        }
    }

    /// The reading thread: until the socket ends.
    fn read(&self) {
        let (mut inbox, mut bytes) = (Inbox::default(), Vec::new());
        loop {
            match inbox.fill(&mut &self.stream) {
                Ok(Received::Closed { .. }) => return self.lost("the NIC's process (mrnic serve) has ended".to_owned()),
                Ok(_) => {}
                Err(error) => return self.lost(format!("the socket to the NIC's process fails: {error}")),
            }
            loop {
                match inbox.take() {
                    Ok(Some(message)) => self.handle(&message, &mut bytes),
                    Ok(None) => break,
                    Err(fault) => return self.lost(fault.to_string()),
                }
            }
        }
    }
}

/// The other process may read and write this one's memory, as a NIC does.
fn allow(stream: &UnixStream) {
    use std::os::fd::AsRawFd;
    let mut credentials = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: the value has the type and size that the option asks for; the second call takes numbers only.
    unsafe {
        let (fd, value) = (stream.as_raw_fd(), (&raw mut credentials).cast());
        if libc::getsockopt(fd, libc::SOL_SOCKET, libc::SO_PEERCRED, value, &mut length) == 0 {
            // Where this is refused or unknown, DMA goes by messages.
            libc::prctl(libc::PR_SET_PTRACER, credentials.pid, 0, 0, 0);
        }
    }
}

impl Socket {
    /// Asks the server of a session for a NIC.
    pub fn attach(session: &Path) -> Result<Self, DeviceError> {
        let path = socket_of(session);
        let stream = UnixStream::connect(&path).map_err(|error| {
            gone(format!(
                "no NIC is served at {}: {error}; run the program with `mrnic run --device rtl`, or start `mrnic serve` first",
                path.display()
            ))
        })?;
        allow(&stream);
        let inner = Arc::new(Inner {
            stream,
            writer: Mutex::default(),
            arrived: Mutex::default(),
            news: Condvar::new(),
            memory: Mutex::default(),
            question: Mutex::default(),
        });
        let reader = inner.clone();
        let thread = std::thread::Builder::new().name("mrnic-rtl-bus".to_owned());
        thread.spawn(move || reader.read()).map_err(|error| gone(format!("a thread does not start: {error}")))?;
        let probe = Box::new(super::random());
        inner.send(&Message::Attach { probe_addr: &raw const *probe as u64, probe: *probe });
        let identity = inner.answer(|arrived| arrived.identity.take());
        std::hint::black_box(&probe);
        match identity {
            Ok(identity) => Ok(Socket { inner, identity }),
            Err(error) => {
                inner.stream.shutdown(std::net::Shutdown::Both).ok();
                Err(error)
            }
        }
    }

    /// Asks for something that is answered with "done".
    fn ask(&self, message: &Message<'_>) -> Result<(), DeviceError> {
        let _one = lock(&self.inner.question);
        self.inner.send(message);
        self.inner.answer(|arrived| {
            let left = arrived.done.checked_sub(1)?;
            arrived.done = left;
            Some(())
        })
    }
}

impl Carrier for Socket {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn read32(&self, offset: u16) -> Result<u32, DeviceError> {
        let _one = lock(&self.inner.question);
        self.inner.send(&Message::RegisterRead { offset });
        self.inner.answer(|arrived| arrived.values.pop_front())
    }

    fn write32(&self, offset: u16, value: u32) {
        self.inner.send(&Message::RegisterWrite { offset, value });
    }

    fn map_dma(&self, addr: u64, bytes: u64) -> Result<(), DeviceError> {
        lock(&self.inner.memory).add(addr, bytes);
        self.ask(&Message::Map { addr, bytes }).inspect_err(|_| lock(&self.inner.memory).remove(addr, bytes))
    }

    fn unmap_dma(&self, addr: u64, bytes: u64) {
        // A NIC that is gone accesses nothing.
        let _done = self.ask(&Message::Unmap { addr, bytes });
        lock(&self.inner.memory).remove(addr, bytes);
    }

    fn send_frame(&self, frame: &[u8]) {
        self.inner.send(&Message::Frame(frame));
    }

    fn receive_frame(&self) -> Option<Vec<u8>> {
        lock(&self.inner.arrived).frames.pop_front()
    }

    fn unmask(&self) {
        self.inner.send(&Message::Unmask);
    }

    fn wait(&self, most: Duration) {
        let arrived = lock(&self.inner.arrived);
        let waited = self.inner.news.wait_timeout_while(arrived, most, |arrived| !arrived.woken);
        waited.unwrap_or_else(PoisonError::into_inner).0.woken = false;
    }

    fn wake(&self) {
        self.inner.change(|arrived| arrived.woken = true);
    }

    fn gone(&self) -> Option<String> {
        lock(&self.inner.arrived).gone.clone()
    }

    fn close(&self) {
        let _left = self.ask(&Message::Detach);
        self.inner.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // The reading thread ends with the socket.
        self.inner.stream.shutdown(std::net::Shutdown::Both).ok();
    }
}
