//! Completion queues.
//!
//! In: completions of the engine. Out: completions in that order, at most `depth` waiting; an event for the first after arming. An
//! overrun is an error of the queue, and stays.
use super::engine::Shared;
use crate::device::{AsyncEvent, Completion, CompletionKind, CompletionQueue, CqId, CqSpec, DeviceError, EventSink, WcStatus};
use crate::verbs::lock;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

pub struct Cq {
    id: CqId,
    spec: CqSpec,
    shared: Arc<Shared>,
    events: Arc<dyn EventSink>,
    ring: Mutex<Ring>,
    /// Completions in the ring, so that an empty poll takes no lock of it.
    waiting: AtomicUsize,
}

struct Ring {
    entries: VecDeque<(Completion, Unpolled)>,
    depth: u32,
    armed: Armed,
    overrun: bool,
}

/// Counts the completions of a send queue that were not polled: they keep their places in it, so that a CQ with room for a full send
/// queue never overruns.
#[derive(Clone, Default)]
pub struct Unpolled(Option<Arc<AtomicU32>>);

impl Unpolled {
    /// A counter of a send queue. The default counts nothing, as receives need no counting.
    pub fn counter() -> Self {
        Unpolled(Some(Arc::default()))
    }

    pub fn count(&self) -> u32 {
        self.0.as_ref().map_or(0, |n| n.load(Ordering::Acquire))
    }

    fn added(&self) {
        if let Some(n) = &self.0 {
            n.fetch_add(1, Ordering::AcqRel);
        }
    }

    fn polled(&self) {
        if let Some(n) = &self.0 {
            n.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Armed {
    No,
    Any,
    Solicited,
}

impl Cq {
    pub fn new(id: CqId, spec: &CqSpec, shared: Arc<Shared>, events: Arc<dyn EventSink>) -> Self {
        let entries = VecDeque::with_capacity(spec.depth as usize);
        let ring = Mutex::new(Ring { entries, depth: spec.depth, armed: Armed::No, overrun: false });
        Cq { id, spec: *spec, shared, events, ring, waiting: AtomicUsize::new(0) }
    }

    /// Adds a completion. `false` on an overrun: it is lost, and the queue is in error.
    pub fn push(&self, completion: Completion, solicited: bool, unpolled: &Unpolled) -> bool {
        let mut ring = lock(&self.ring);
        if ring.entries.len() >= ring.depth as usize {
            if !ring.overrun {
                ring.overrun = true;
                self.events.asynchronous(AsyncEvent::CqError(self.spec.token));
            }
            return false;
        }
        unpolled.added();
        ring.entries.push_back((completion, unpolled.clone()));
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
        ring.entries.retain(|(completion, unpolled)| {
            let stays = completion.qpn != qpn;
            if !stays {
                unpolled.polled();
            }
            stays
        });
        self.waiting.store(ring.entries.len(), Ordering::Release);
    }
}

impl CompletionQueue for Cq {
    fn id(&self) -> CqId {
        self.id
    }

    fn depth(&self) -> u32 {
        lock(&self.ring).depth
    }

    fn poll(&self, out: &mut [Completion]) -> Result<usize, DeviceError> {
        if self.waiting.load(Ordering::Acquire) == 0 {
            self.shared.poll();
            if self.waiting.load(Ordering::Acquire) == 0 {
                // Programs poll without end; others need the processor to produce what is waited for.
                std::thread::yield_now();
            }
        }
        let mut ring = lock(&self.ring);
        let count = out.len().min(ring.entries.len());
        for (slot, (completion, unpolled)) in out.iter_mut().zip(ring.entries.drain(..count)) {
            *slot = completion;
            unpolled.polled();
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
        self.shared.stop_polling();
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
        self.shared.remove_cq(self.id);
        Ok(())
    }
}
