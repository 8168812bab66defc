//! Completion queues, the same for every carrier.
//!
//! In: completions of a carrier's engine. Out: completions in that order, at most `depth` waiting; an event for the first after arming. An
//! overrun is an error of the queue, and stays.
use crate::device::{AsyncEvent, Completion, CompletionKind, CompletionQueue, CqId, CqSpec, DeviceError, EventSink, WcStatus};
use crate::verbs::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a completion queue asks of the engine that fills it.
pub trait Engine: Send + Sync {
    /// The program found nothing: works on what can be done now.
    fn poll(&self);
    /// The program is about to sleep: from now on work advances by itself.
    fn keep_going(self: &Arc<Self>);
    /// The queue is destroyed.
    fn remove_cq(&self, id: CqId);
}

pub struct Cq<E> {
    id: CqId,
    spec: CqSpec,
    engine: Arc<E>,
    events: Arc<dyn EventSink>,
    ring: Mutex<Ring>,
    /// Completions in the ring, so that an empty poll takes no lock.
    waiting: AtomicUsize,
}

struct Ring {
    entries: VecDeque<(Completion, Option<Slot>)>,
    depth: u32,
    armed: Armed,
    overrun: bool,
}

/// A place in a send queue, taken until this is dropped.
pub struct Slot(Arc<AtomicU32>);

impl Slot {
    pub fn take(of: &Arc<AtomicU32>) -> Slot {
        of.fetch_add(1, Ordering::AcqRel);
        Slot(of.clone())
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Armed {
    No,
    Any,
    Solicited,
}

impl<E: Engine> Cq<E> {
    pub fn new(id: CqId, spec: &CqSpec, engine: Arc<E>, events: Arc<dyn EventSink>) -> Self {
        let entries = VecDeque::with_capacity(spec.depth as usize);
        let ring = Mutex::new(Ring { entries, depth: spec.depth, armed: Armed::No, overrun: false });
        Cq { id, spec: *spec, engine, events, ring, waiting: AtomicUsize::new(0) }
    }

    /// Adds a completion; `false` on an overrun. The slot is free when it is polled.
    pub fn push(&self, completion: Completion, solicited: bool, slot: Option<Slot>) -> bool {
        let mut ring = lock(&self.ring);
        if ring.entries.len() >= ring.depth as usize {
            if !ring.overrun {
                ring.overrun = true;
                self.events.asynchronous(AsyncEvent::CqError(self.spec.token));
            }
            return false;
        }
        ring.entries.push_back((completion, slot));
        self.waiting.store(ring.entries.len(), Ordering::Release);
        let receive = matches!(completion.kind, CompletionKind::Recv | CompletionKind::RecvWrite);
        let wakes = match ring.armed {
            Armed::No => false,
            Armed::Any => true,
            Armed::Solicited => (receive && solicited) || completion.status != WcStatus::Success,
        };
        if wakes {
            ring.armed = Armed::No;
            self.events.completion(self.spec.token);
        }
        true
    }

    /// Removes the completions of a QP that is gone.
    pub fn forget(&self, qpn: u32) {
        let mut ring = lock(&self.ring);
        ring.entries.retain(|(c, _)| c.qpn != qpn);
        self.waiting.store(ring.entries.len(), Ordering::Release);
    }
}

impl<E: Engine> CompletionQueue for Cq<E> {
    fn id(&self) -> CqId {
        self.id
    }

    fn depth(&self) -> u32 {
        lock(&self.ring).depth
    }

    fn poll(&self, out: &mut [Completion]) -> Result<usize, DeviceError> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            self.engine.poll();
            if self.waiting.load(Ordering::Acquire) == 0 {
                // Programs poll without end; others need the processor to produce what is waited for.
                std::thread::yield_now();
            }
        }
        let mut ring = lock(&self.ring);
        let count = out.len().min(ring.entries.len());
        for (place, (completion, _slot)) in out.iter_mut().zip(ring.entries.drain(..count)) {
            *place = completion;
        }
        self.waiting.store(ring.entries.len(), Ordering::Release);
        if count == 0 && ring.overrun {
            return Err(DeviceError::Gone { detail: format!("the CQ of {} entries overran", ring.depth) });
        }
        Ok(count)
    }

    fn arm(&self, solicited_only: bool) -> Result<(), DeviceError> {
        {
            let mut ring = lock(&self.ring);
            // The wider of two requests stays.
            if !(solicited_only && ring.armed == Armed::Any) {
                ring.armed = if solicited_only { Armed::Solicited } else { Armed::Any };
            }
        }
        self.engine.keep_going();
        Ok(())
    }

    fn resize(&self, depth: u32) -> Result<u32, DeviceError> {
        let mut ring = lock(&self.ring);
        if ring.entries.len() > depth as usize {
            return Err(DeviceError::invalid("cqe", format!("{} completions wait", ring.entries.len())));
        }
        let missing = (depth as usize).saturating_sub(ring.entries.len());
        ring.entries.reserve(missing);
        ring.depth = depth;
        Ok(depth)
    }

    fn destroy(&self) -> Result<(), DeviceError> {
        self.engine.remove_cq(self.id);
        Ok(())
    }
}
