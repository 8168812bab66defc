//! The engine: the golden model, its memory, its connections and its link under one lock, and what all opens of the device share.
//!
//! In: calls of the device's objects, frames, time. Out: frames, completions, events. [`Engine::run`] does all that can be done now.
use super::link::Link;
use super::memory::ProcessMemory;
use super::paths::PathLog;
use super::qp::{finish, Entry};
use super::settings::Settings;
use super::thread::SLEEP_MAX;
use super::{FIRST_QPN, KEYS, QPS, SRQS};
use crate::completions::{self, Cq};
use crate::device::*;
use crate::keys::RegionKeys;
use crate::table::Table;
use crate::verbs::{lock, lock_soon, try_lock};
use mrnic_firmware::{Config, Manager};
use mrnic_host_net::{Rings, Sleeper};
use mrnic_model::nic::driver::FRAME_BYTES_MAX;
use mrnic_model::{AsyncEvent as ModelEvent, Congestion, Nic, NicConfig, OpenMr0, Received, RxOutcome, Tick, TransmitKind};
use mrnic_wire::{Body, Profile};
use std::collections::VecDeque;
use std::ops::{Deref, DerefMut};
use std::sync::atomic::{fence, AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Frames that one run takes of each sender, and gives, at most.
const FRAMES_A_RUN: usize = 64;
/// A program that polls is expected to poll again within this time.
const POLL_AGAIN_NS: u64 = 50_000;
/// The thread does not sleep without limit as long as a program has polled within this time.
const POLLED_LATELY_NS: u64 = 5_000_000;
/// Wake-ups of the thread for nothing, in a row, after which the program is trusted to poll at first.
const WAKES_FOR_NOTHING: u32 = 8;
/// A trust that was broken needs so many times more of them, up to the limit: such a program looks at its memory between polls.
const DISTRUST: u32 = 8;
const DISTRUST_MAX: u32 = 1 << 20;

/// The last number given, by any NIC of the process: a number is not given again soon, though all devices were closed meanwhile.
static LAST_QPN: AtomicU32 = AtomicU32::new(QPS - 1);

/// What all opens of the device share.
pub struct Shared {
    engine: Mutex<Engine>,
    pub pds: Mutex<Table<()>>,
    pub cqs: Mutex<Table<Arc<Cq<Shared>>>>,
    /// Opens that are not closed; at 0 the NIC has left the network.
    opens: AtomicU32,
    /// The process that has the NIC; a child that it forks has not.
    process: u32,
    stopped: AtomicBool,
    /// Somebody wants a run and has not waited for the lock.
    asked: AtomicBool,
    pub sleeper: Sleeper,
    /// The thread sleeps without limit.
    pub deep_sleep: AtomicBool,
    last_poll_ns: AtomicU64,
    wakes_for_nothing: AtomicU32,
    /// So many make it trusted.
    trusted_after: AtomicU32,
}

/// Everything under the lock.
pub struct Engine {
    pub nic: Nic<OpenMr0, Congestion>,
    pub memory: ProcessMemory,
    pub manager: Manager,
    pub link: Link,
    /// By QP number.
    pub qps: Vec<Option<Box<Entry>>>,
    pub keys: RegionKeys,
    /// Event sinks of the shared receive queues.
    pub srqs: Vec<Option<(Arc<dyn EventSink>, Token)>>,
    /// QPs whose requests wait for the model, each once.
    pub backlogged: VecDeque<u32>,
    /// Place of the peer by connection.
    pub places: Vec<Option<usize>>,
    frame: Box<[u8; FRAME_BYTES_MAX]>,
    /// When a packet last came that asks for an acknowledgment.
    pub heard_ns: u64,
    /// When it was made.
    pub start_ns: u64,
    pub settings: Settings,
    pub paths: PathLog,
}

/// The engine for one caller. Receivers of what it sent are woken after the lock is free: on the processor of the caller they may run before it,
/// and answer the NIC that they would find locked.
pub struct Held<'a> {
    engine: MutexGuard<'a, Engine>,
    // Dropped last.
    bell: Bell<'a>,
}

/// What is left to do once the lock is free.
struct Bell<'a> {
    due: Rings,
    shared: &'a Shared,
}

impl Drop for Bell<'_> {
    fn drop(&mut self) {
        self.shared.sleeper.ring_all(self.due);
        fence(Ordering::SeqCst);
        if self.shared.asked.load(Ordering::Relaxed) {
            // Whoever asked has not waited.
            self.shared.run_soon();
        }
    }
}

impl Deref for Held<'_> {
    type Target = Engine;

    fn deref(&self) -> &Engine {
        &self.engine
    }
}

impl DerefMut for Held<'_> {
    fn deref_mut(&mut self) -> &mut Engine {
        &mut self.engine
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.bell.due = self.engine.link.take_due();
    }
}

/// What a run of the engine was.
#[derive(Clone, Copy, Debug, Default)]
pub struct Round {
    /// There was something to do.
    pub worked: bool,
    /// Frames that came.
    pub frames: usize,
    /// One of them asks for an acknowledgment.
    heard: bool,
    /// There may be more to do now. Else the next is a frame or a timer.
    pub more: bool,
}

/// What the thread has before it after a round.
#[derive(Clone, Copy, Debug)]
pub struct Rest {
    /// How long there is nothing to do; none: for ever, if no frame comes.
    pub limit: Option<Duration>,
    /// The program polls, or did a moment ago: its processor is not idle.
    pub program_polls: bool,
}

impl Shared {
    /// Makes the NIC, attaches it to the network and starts its thread. It is open once.
    pub fn start(settings: Settings) -> Result<Arc<Self>, DeviceError> {
        settings.check()?;
        let link = Link::attach(&settings)?;
        let counts = settings.stats.is_some();
        let sleeper = link.sleeper();
        let limits = super::limits();
        let shared = Arc::new(Shared {
            engine: Mutex::new(Engine::new(settings, link)?),
            pds: Mutex::new(Table::new(limits.max_pd)),
            cqs: Mutex::new(Table::new(limits.max_cq)),
            opens: AtomicU32::new(1),
            process: std::process::id(),
            stopped: AtomicBool::new(false),
            asked: AtomicBool::new(false),
            sleeper,
            deep_sleep: AtomicBool::new(false),
            last_poll_ns: AtomicU64::new(0),
            wakes_for_nothing: AtomicU32::new(0),
            trusted_after: AtomicU32::new(WAKES_FOR_NOTHING),
        });
        super::thread::start(&shared)?;
        if counts {
            super::stats::write_at_exit(&shared);
        }
        Ok(shared)
    }

    /// The engine, for the caller alone.
    pub fn engine(&self) -> Held<'_> {
        self.held(lock_soon(&self.engine))
    }

    /// The same if nobody has it.
    pub fn idle_engine(&self) -> Option<Held<'_>> {
        Some(self.held(try_lock(&self.engine)?))
    }

    fn held<'a>(&'a self, engine: MutexGuard<'a, Engine>) -> Held<'a> {
        Held { engine, bell: Bell { due: Rings::default(), shared: self } }
    }

    /// Counts another open. `false` if the last one is closed already: then it stays so.
    pub fn open_again(&self) -> bool {
        let more = |opens: u32| (opens > 0).then_some(opens + 1);
        self.opens.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// The last one takes the NIC from the network, once its peers have what they wait for.
    pub fn closed(&self) {
        if self.opens.fetch_sub(1, Ordering::AcqRel) == 1 {
            if self.is_mine() {
                self.leave();
            }
            self.stopped.store(true, Ordering::Release);
            self.sleeper.ring();
        }
    }

    /// Whether this is the process that opened it, and not a child that was forked.
    pub fn is_mine(&self) -> bool {
        self.process == std::process::id()
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Does what can be done now, unless another thread is at it.
    pub fn progress(&self) {
        let Some(mut engine) = self.idle_engine() else { return };
        engine.run();
        self.keep_awake(&engine);
    }

    /// A run that is sure to come, without waiting for the lock: whoever has it does it on giving it back. Returns it if it was done here.
    pub fn run_soon(&self) -> Option<(Held<'_>, Round)> {
        self.asked.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        let mut engine = self.idle_engine()?;
        self.asked.store(false, Ordering::Relaxed);
        let round = engine.run();
        self.keep_awake(&engine);
        Some((engine, round))
    }

    /// A thread that sleeps without limit is woken when there is something to wait for.
    pub fn keep_awake(&self, engine: &Engine) {
        if self.deep_sleep.load(Ordering::Acquire) && engine.deadline().is_some() {
            self.sleeper.ring();
        }
    }

    /// The program polls so often that nobody wakes the thread.
    fn trusts(&self) -> bool {
        self.wakes_for_nothing.load(Ordering::Relaxed) >= self.trusted_after.load(Ordering::Relaxed)
    }

    /// One round of the thread, which was woken, or has slept until a time.
    pub fn thread_round(&self, woken: bool, slept: bool) -> (Round, Rest) {
        // Who has the engine now is about to free it, and does the round then.
        let Some((engine, round)) = self.run_soon() else {
            let rest = Rest { limit: Some(SLEEP_MAX), program_polls: true };
            return (Round { worked: true, ..Round::default() }, rest);
        };
        if slept && !woken && round.heard && self.trusts() {
            // A packet lay there, and nobody had polled.
            let more = self.trusted_after.load(Ordering::Relaxed).saturating_mul(DISTRUST).min(DISTRUST_MAX);
            self.trusted_after.store(more, Ordering::Relaxed);
        }
        if round.worked {
            self.wakes_for_nothing.store(0, Ordering::Relaxed);
        } else if woken {
            self.wakes_for_nothing.fetch_add(1, Ordering::Relaxed);
        }
        let since_poll_ns = engine.link.now_ns().saturating_sub(self.last_poll_ns.load(Ordering::Relaxed));
        let program_polls = since_poll_ns < POLLED_LATELY_NS;
        (round, Rest { limit: engine.deadline().or(program_polls.then_some(SLEEP_MAX)), program_polls })
    }
}

impl completions::Engine for Shared {
    /// A program that polls need not be woken for a while.
    fn poll(&self) {
        let Some(mut engine) = self.idle_engine() else { return };
        engine.run();
        let now = engine.link.now_ns();
        self.last_poll_ns.store(now, Ordering::Relaxed);
        engine.link.attend(now + POLL_AGAIN_NS);
        if self.trusts() {
            engine.link.polls(now + POLL_AGAIN_NS);
        }
        if self.deep_sleep.load(Ordering::Acquire) {
            self.sleeper.ring();
        }
    }

    /// The program is about to sleep, or to look at something else: it no longer polls.
    fn keep_going(self: &Arc<Self>) {
        let mut engine = self.engine();
        engine.link.attend(0);
        engine.link.polls(0);
        self.last_poll_ns.store(0, Ordering::Relaxed);
        engine.run();
        self.wakes_for_nothing.store(0, Ordering::Relaxed);
        self.keep_awake(&engine);
    }

    fn remove_cq(&self, id: CqId) {
        lock(&self.cqs).remove(id.0);
    }
}

impl Engine {
    fn new(settings: Settings, link: Link) -> Result<Self, DeviceError> {
        let start_ns = link.now_ns();
        let gone = |detail: String| DeviceError::Gone { detail };
        let config = NicConfig {
            conns: 256,
            qps: QPS,
            keys: KEYS,
            srqs: SRQS,
            msgs_per_stream: 64,
            conn_fifo: 1024,
            pool_packets: 65_536,
            // Processes share processors: a round trip takes as long as a time slice now and then.
            rto_min_ticks: 31_250,
            ..NicConfig::default()
        };
        let nic = Nic::with_congestion(config, settings.congestion).map_err(|error| gone(error.to_string()))?;
        let connections = Config {
            conns: config.conns as u16,
            paths: settings.paths,
            vector_bits: config.window_pkts,
            init_window_pkts: 32,
            ..Config::new(link.endpoint(), random())
        };
        let manager = Manager::new(connections).map_err(|error| gone(error.to_string()))?;
        Ok(Engine {
            nic,
            memory: ProcessMemory::default(),
            manager,
            link,
            qps: (0..QPS).map(|_| None).collect(),
            keys: RegionKeys::new(KEYS),
            srqs: (0..SRQS).map(|_| None).collect(),
            backlogged: VecDeque::with_capacity(QPS as usize),
            places: vec![None; config.conns as usize],
            frame: Box::new([0; FRAME_BYTES_MAX]),
            heard_ns: 0,
            start_ns,
            settings,
            paths: PathLog::default(),
        })
    }

    /// Time of the model.
    pub fn tick(&self) -> Tick {
        (self.link.now_ns() / u64::from(OpenMr0::TIME_UNIT_NS)) as Tick
    }

    pub fn now_us(&self) -> u64 {
        self.link.now_ns() / 1000
    }

    /// The number that was not in use for the longest time.
    pub fn free_qpn(&self) -> Option<u32> {
        let count = QPS - FIRST_QPN;
        let last = LAST_QPN.load(Ordering::Relaxed);
        (1..=count).map(|i| FIRST_QPN + (last - FIRST_QPN + i) % count).find(|&qpn| self.qps[qpn as usize].is_none())
    }

    pub fn note_qpn(qpn: u32) {
        LAST_QPN.store(qpn, Ordering::Relaxed);
    }

    pub fn qp(&mut self, qpn: u32) -> Option<&mut Entry> {
        self.qps.get_mut(qpn as usize)?.as_deref_mut()
    }

    /// Does what can be done now.
    pub fn run(&mut self) -> Round {
        let heard_ns = self.heard_ns;
        let taken = self.take_frames();
        let heard = self.heard_ns != heard_ns;
        let due = self.run_timers();
        self.note_path_changes();
        self.run_connections();
        self.feed();
        let given = self.give_frames();
        let soon = self.link.deliver();
        self.hand_out();
        let worked = taken > 0 || due || given > 0 || soon;
        let more = taken.max(given) >= FRAMES_A_RUN || soon || !self.backlogged.is_empty();
        Round { worked, frames: taken, heard, more: worked && more }
    }

    /// How long there is nothing to do; none: for ever, if no frame comes.
    pub fn deadline(&self) -> Option<Duration> {
        let tick = self.tick();
        let model = self.nic.poll_timeout().map(|at| {
            let ahead = (at.wrapping_sub(tick) as i32).max(0) as u64;
            Duration::from_nanos(ahead * u64::from(OpenMr0::TIME_UNIT_NS))
        });
        let now_us = self.now_us();
        let manager = self.manager.next_timeout_us().map(|at| Duration::from_micros(at.saturating_sub(now_us)));
        let network = self.link.next_delivery_ns().map(Duration::from_nanos);
        model.into_iter().chain(manager).chain(network).min()
    }

    /// Returns how many.
    fn take_frames(&mut self) -> usize {
        let (tick, now_us) = (self.tick(), self.now_us());
        let Engine { nic, memory, manager, link, .. } = self;
        let mut heard = false;
        let count = link.receive(FRAMES_A_RUN, |frame| match OpenMr0::parse_packet(frame) {
            Ok(parsed) if matches!(parsed.packet.body, Body::Connect(_) | Body::Accept(_) | Body::Close(_)) => {
                manager.handle(now_us, &parsed.net, &parsed.packet);
            }
            Ok(parsed) => {
                let received = Received {
                    packet: &parsed.packet,
                    udp_src: parsed.udp_src,
                    ecn_ce: parsed.ecn_ce,
                    payload_len: parsed.payload.len() as u32,
                    payload: Some(parsed.payload),
                };
                let outcome = nic.handle_parsed(tick, &received, memory);
                heard |= matches!(outcome, RxOutcome::Data { .. } | RxOutcome::Probe { .. });
            }
            // The model counts what is wrong with it.
            Err(_) => {
                nic.handle_packet(tick, frame, memory);
            }
        });
        if heard {
            self.heard_ns = self.link.now_ns();
        }
        count
    }

    /// Whether connections with other NICs are open.
    pub fn has_peers(&self) -> bool {
        let own = self.link.endpoint();
        self.manager.connected().any(|peer| peer.ip != own.ip)
    }

    fn run_timers(&mut self) -> bool {
        let (tick, now_us) = (self.tick(), self.now_us());
        let due = self.nic.poll_timeout().is_some_and(|at| at.wrapping_sub(tick) as i32 <= 0);
        if due {
            self.nic.handle_timeout(tick);
            self.end_failed_connections();
        }
        if self.manager.next_timeout_us().is_some_and(|at| at <= now_us) {
            self.manager.handle_timeout(now_us);
        }
        due
    }

    /// Returns how many.
    fn give_frames(&mut self) -> usize {
        let tick = self.tick();
        let mut count = 0;
        while count < FRAMES_A_RUN {
            let Some(sent) = self.nic.poll_transmit(tick, &mut self.frame[..], &self.memory) else { break };
            count += 1;
            if let Some(place) = self.places[usize::from(sent.conn)] {
                self.link.send(place, &mut self.frame[..sent.len], sent.kind == TransmitKind::Ack);
            }
        }
        count
    }

    /// Writes a control packet's frame and sends it.
    pub fn send_control(&mut self, packet: &mrnic_firmware::ControlPacket) {
        let Ok(len) = packet.emit::<OpenMr0>(&mut self.frame[..]) else { return };
        let to = mrnic_firmware::Endpoint::source(&packet.net.reversed());
        if let Some(place) = super::link::place_of(to.ip) {
            self.link.send(place, &mut self.frame[..len], false);
        }
    }

    /// Completions and events reach their queues.
    pub fn hand_out(&mut self) {
        while let Some(cqe) = self.nic.poll_completion() {
            let lost = self.qp(cqe.qpn).is_some_and(|entry| !finish(entry, &cqe));
            if lost {
                // The overrun of its CQ is the end of a QP; one that is in Error already stays so.
                let _failed = self.nic.modify_qp(cqe.qpn, mrnic_model::QpState::Error);
            }
        }
        while let Some(event) = self.nic.poll_async_event() {
            self.raise(event);
        }
    }

    fn raise(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::SrqLimitReached { srq } => {
                if let Some(Some((sink, token))) = self.srqs.get(srq as usize) {
                    sink.asynchronous(AsyncEvent::SrqLimitReached(*token));
                }
            }
            ModelEvent::LastWqeReached { qpn } => {
                if let Some(entry) = self.qp(qpn) {
                    entry.last_wqe();
                }
            }
            ModelEvent::SqDrained { qpn } => {
                if let Some(entry) = self.qp(qpn) {
                    entry.drained();
                }
            }
            ModelEvent::QpFatal { qpn, code } => {
                if let Some(entry) = self.qp(qpn) {
                    // Codes 1 to 3 are violations of keys and rights.
                    let access = (1..=3).contains(&code);
                    entry.raise(if access { AsyncEvent::QpAccessError } else { AsyncEvent::QpRequestError });
                }
            }
            ModelEvent::CommEst { qpn } => {
                if let Some(entry) = self.qp(qpn) {
                    entry.raise(AsyncEvent::CommunicationEstablished);
                }
            }
        }
    }
}

/// 64 bits that no other incarnation has.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_finds_the_engine_taken_is_done_by_whoever_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { session: Some(dir.path().to_path_buf()), ..Settings::default() };
        let shared = Shared::start(settings).unwrap();
        let held = shared.engine();
        assert!(shared.run_soon().is_none());
        assert!(shared.asked.load(Ordering::SeqCst));
        drop(held);
        // The NIC's own thread may be asking just now.
        let none_is_left = || {
            let free = || !shared.asked.load(Ordering::SeqCst);
            (0..30_000).any(|_| {
                let done = free();
                if !done {
                    std::thread::sleep(SLEEP_MAX);
                }
                done
            })
        };
        assert!(none_is_left());
        // Whoever asks in the very moment in which it is given back is not forgotten either.
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..20_000 {
                        drop(shared.run_soon());
                    }
                });
            }
        });
        assert!(none_is_left());
        shared.closed();
    }
}
