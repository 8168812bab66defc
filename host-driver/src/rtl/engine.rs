//! The driver of one NIC: its tables, queue pairs and connections under one lock, and what all opens of the device share.
//!
//! In: calls of the device's objects, frames of connection control, time, completions in rings. Out: register writes, frames, completions, events.
//! [`Engine::run`] does all that can be done now.
use super::carrier::Carrier;
use super::qp::Entry;
use super::rings::SGES_MAX;
use super::srq::SrqEntry;
use super::{random, Sizes, FIRST_QPN};
use crate::completions::{self, Cq};
use crate::device::*;
use crate::keys::RegionKeys;
use crate::model::endpoint_of;
use crate::table::Table;
use crate::verbs::{lock, try_lock};
use mrnic_firmware::{Config, Manager};
use mrnic_host_bus::rows::TableWrite;
use mrnic_model::OpenMr0;
use mrnic_regs::reg;
use mrnic_wire::Profile;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Largest frame of connection control.
const FRAME_BYTES: usize = 512;
/// Polls for nothing in a row after which a poll sleeps a moment: the NIC's process needs the processor to simulate it.
const POLLS_FOR_NOTHING: u32 = 16;
const POLL_SLEEP: Duration = Duration::from_micros(50);

/// What all opens of the device share.
pub struct Shared {
    pub engine: Mutex<Engine>,
    pub carrier: Arc<dyn Carrier>,
    pub limits: Limits,
    pub pds: Mutex<Table<()>>,
    pub cqs: Mutex<Table<Arc<Cq<Shared>>>>,
    /// Opens that are not closed; at 0 the NIC was given back.
    opens: AtomicU32,
    stopped: AtomicBool,
    /// Programs sleep until completions come.
    events_used: AtomicBool,
    polls_for_nothing: AtomicU32,
}

/// Everything under the lock.
pub struct Engine {
    pub carrier: Arc<dyn Carrier>,
    pub manager: Manager,
    start: Instant,
    /// By QP number.
    pub qps: Vec<Option<Box<Entry>>>,
    /// By the number of the shared receive queue.
    pub srqs: Vec<Option<SrqEntry>>,
    /// The number that was not in use for the longest time first: packets of an old queue pair must not meet a new one.
    pub free_qpns: VecDeque<u32>,
    pub keys: RegionKeys,
    /// Where events of the opens go.
    pub sinks: Vec<(u64, Arc<dyn EventSink>)>,
    /// Queue pair numbers that were open in the NIC and are closed: packets of that life may still be under way.
    pub undrained: BTreeSet<u32>,
    /// Queue pairs that wait for their number to be drained: since when, and for which connection they are.
    pub deferred: BTreeMap<u32, (Instant, u16)>,
    /// What the staging words of the tables hold.
    staged: [Option<u32>; 16],
    /// The NIC is gone, and everybody was told.
    pub fatal: bool,
}

impl Shared {
    /// Takes the NIC into use and starts its thread. It is open once.
    pub fn start(carrier: Arc<dyn Carrier>) -> Result<Arc<Self>, DeviceError> {
        let (engine, limits) = Engine::new(&carrier)?;
        let shared = Arc::new(Shared {
            engine: Mutex::new(engine),
            pds: Mutex::new(Table::new(limits.max_pd)),
            cqs: Mutex::new(Table::new(limits.max_cq)),
            carrier,
            limits,
            opens: AtomicU32::new(1),
            stopped: AtomicBool::new(false),
            events_used: AtomicBool::new(false),
            polls_for_nothing: AtomicU32::new(0),
        });
        super::thread::start(&shared)?;
        Ok(shared)
    }

    /// Counts another open. `false` if the last one is closed already: then it stays so.
    pub fn open_again(&self) -> bool {
        let more = |opens: u32| (opens > 0).then_some(opens + 1);
        self.opens.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).is_ok()
    }

    /// The last one gives the NIC back: its peers are told.
    pub fn closed(&self) {
        if self.opens.fetch_sub(1, Ordering::AcqRel) == 1 {
            {
                let mut engine = lock(&self.engine);
                engine.manager.shutdown();
                engine.run_connections();
            }
            self.stopped.store(true, Ordering::Release);
            self.carrier.wake();
            self.carrier.close();
        }
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Does what can be done now, unless another thread is at it. Returns whether there was something.
    pub fn progress(&self) -> bool {
        try_lock(&self.engine).is_some_and(|mut engine| engine.run())
    }

    /// One round of the thread. Returns how long there is nothing to do.
    pub fn thread_round(&self) -> Option<Duration> {
        let mut engine = lock(&self.engine);
        engine.run();
        if self.events_used.load(Ordering::Acquire) && !engine.fatal {
            self.carrier.unmask();
        }
        engine.deadline()
    }
}

impl completions::Engine for Shared {
    fn poll(&self) {
        if self.progress() {
            self.polls_for_nothing.store(0, Ordering::Relaxed);
        } else if self.polls_for_nothing.fetch_add(1, Ordering::Relaxed) >= POLLS_FOR_NOTHING {
            std::thread::sleep(POLL_SLEEP);
        }
    }

    fn keep_going(self: &Arc<Self>) {
        if !self.events_used.swap(true, Ordering::AcqRel) {
            self.carrier.unmask();
        }
        lock(&self.engine).run();
    }

    fn remove_cq(&self, id: CqId) {
        lock(&self.cqs).remove(id.0);
    }
}

impl Engine {
    fn new(carrier: &Arc<dyn Carrier>) -> Result<(Self, Limits), DeviceError> {
        let gone = |detail: String| DeviceError::Gone { detail };
        let id = carrier.read32(reg::id::OFFSET)?;
        if id != reg::id::RESET {
            return Err(gone(format!("register ID reads {id:#010x} instead of {:#010x}", reg::id::RESET)));
        }
        let caps = [carrier.read32(reg::caps::OFFSET)?];
        let caps2 = [carrier.read32(reg::caps2::OFFSET)?];
        let identity = carrier.identity().clone();
        let sizes = Sizes {
            conns: 1 << reg::caps::CONNS_LOG2.get(&caps),
            paths: 1 << reg::caps::PATHS_LOG2.get(&caps),
            qps: 1 << reg::caps::QPS_LOG2.get(&caps),
            window: 1 << reg::caps::WINDOW_LOG2.get(&caps).min(8),
            keys: identity.keys,
            sends: reg::caps2::SENDS.get(&caps2) == 1,
            reads: reg::caps2::READS.get(&caps2) == 1,
            // More than an entry of the send queue has room for is of no use.
            sges: (reg::caps2::SGES.get(&caps2) as u32).clamp(1, SGES_MAX),
            messages: 1 << reg::caps::MSGS_LOG2.get(&caps),
            srqs: reg::caps2::SRQS.get(&caps2) as u32,
        };
        if sizes.qps <= FIRST_QPN || sizes.keys < 2 {
            return Err(gone(format!("a NIC of {} queue pairs and {} keys is too small", sizes.qps, sizes.keys)));
        }
        let connections = Config {
            conns: sizes.conns as u16,
            paths: sizes.paths,
            vector_bits: sizes.window,
            // H3, for a NIC that may be simulated, far slower than the clock of this process: what is late is not yet lost.
            retry_us: 50_000,
            retry_max_us: 500_000,
            idle_us: 10_000_000,
            // Of simulated time, so that a peer that died is noticed while somebody waits.
            retry_cnt: 5,
            ..Config::new(endpoint_of(identity.place.into()), random())
        };
        let manager = Manager::new(connections).map_err(|error| gone(error.to_string()))?;
        let engine = Engine {
            carrier: carrier.clone(),
            manager,
            start: Instant::now(),
            qps: (0..sizes.qps).map(|_| None).collect(),
            srqs: (0..sizes.srqs).map(|_| None).collect(),
            free_qpns: (FIRST_QPN..sizes.qps).collect(),
            keys: RegionKeys::new(sizes.keys),
            sinks: Vec::new(),
            undrained: BTreeSet::new(),
            deferred: BTreeMap::new(),
            staged: [None; 16],
            fatal: false,
        };
        Ok((engine, super::limits(&sizes, &identity.build)))
    }

    pub fn now_us(&self) -> u64 {
        self.start.elapsed().as_micros() as u64
    }

    pub fn qp(&mut self, qpn: u32) -> Option<&mut Entry> {
        self.qps.get_mut(qpn as usize)?.as_deref_mut()
    }

    /// Writes a row of a table. Staging words that already hold the value are not written again.
    pub fn write_row(&mut self, write: &TableWrite) {
        for (i, word) in write.row.iter().enumerate() {
            if self.staged[i].replace(*word) != Some(*word) {
                self.carrier.write32(reg::table_data::OFFSET + 4 * i as u16, *word);
            }
        }
        let mut commit = [0];
        reg::table_commit::TABLE.set(&mut commit, write.table.into());
        reg::table_commit::INDEX.set(&mut commit, write.index.into());
        self.carrier.write32(reg::table_commit::OFFSET, commit[0]);
    }

    /// Waits until the NIC has applied all rows.
    pub fn settle(&self) {
        while let Ok(status) = self.carrier.read32(reg::status::OFFSET) {
            if reg::status::CFG_BUSY.get(&[status]) == 0 {
                return;
            }
        }
    }

    /// Tells the NIC of requests up to the producer index.
    pub fn ring(&self, qpn: u32, produced: u64) {
        let mut bell = [0];
        reg::doorbell::QP.set(&mut bell, qpn.into());
        reg::doorbell::PRODUCER.set(&mut bell, (produced & 0xffff).into());
        self.carrier.write32(reg::doorbell::OFFSET, bell[0]);
    }

    /// Tells the NIC of receives up to the producer index.
    pub fn ring_recv(&self, qpn: u32, produced: u64) {
        let mut bell = [0];
        reg::doorbell_rq::QP.set(&mut bell, qpn.into());
        reg::doorbell_rq::PRODUCER.set(&mut bell, (produced & 0xffff).into());
        self.carrier.write32(reg::doorbell_rq::OFFSET, bell[0]);
    }

    /// Does all that can be done now. Returns whether there was something.
    pub fn run(&mut self) -> bool {
        if let Some(why) = self.carrier.gone() {
            return self.end(&why);
        }
        let mut worked = self.take_frames();
        let now_us = self.now_us();
        if self.manager.next_timeout_us().is_some_and(|at| at <= now_us) {
            self.manager.handle_timeout(now_us);
            worked = true;
        }
        self.run_connections();
        worked |= self.bind_deferred();
        for qpn in FIRST_QPN..self.qps.len() as u32 {
            worked |= self.harvest(qpn);
        }
        worked
    }

    /// How long there is nothing to do; none: for ever, if nothing comes.
    pub fn deadline(&self) -> Option<Duration> {
        let at = self.manager.next_timeout_us().filter(|_| !self.fatal)?;
        Some(Duration::from_micros(at.saturating_sub(self.now_us())))
    }

    fn take_frames(&mut self) -> bool {
        let mut worked = false;
        while let Some(frame) = self.carrier.receive_frame() {
            worked = true;
            // Frames of others come by this way too, on a network that has others.
            if let Ok(parsed) = OpenMr0::parse_packet(&frame) {
                let now_us = self.now_us();
                self.manager.handle(now_us, &parsed.net, &parsed.packet);
            }
        }
        worked
    }

    /// Writes a control packet's frame and sends it.
    pub fn send_control(&mut self, packet: &mrnic_firmware::ControlPacket) {
        let mut frame = [0; FRAME_BYTES];
        if let Ok(len) = packet.emit::<OpenMr0>(&mut frame) {
            self.carrier.send_frame(&frame[..len]);
        }
    }

    /// The NIC is gone: every request ends, and every open is told, once.
    fn end(&mut self, why: &str) -> bool {
        if std::mem::replace(&mut self.fatal, true) {
            return false;
        }
        eprintln!("mrnic: the device is gone: {why}");
        for qpn in FIRST_QPN..self.qps.len() as u32 {
            self.harvest(qpn);
            self.strand(qpn, WcStatus::Flushed);
        }
        for (_, sink) in &self.sinks {
            sink.asynchronous(AsyncEvent::DeviceFatal);
        }
        true
    }
}
