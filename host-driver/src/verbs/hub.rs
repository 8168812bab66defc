//! Where the device's events meet the program's objects.
//!
//! In: events with tokens, from any thread and with the device's locks held. Out: entries of channels and of the asynchronous queue;
//! tokens become pointers only when the program takes an event, and only while the object lives.
use super::channel::EventQueue;
use super::cq::cq_own;
use super::qp::qp_own;
use super::srq::srq_own;
use super::sync::Acks;
use crate::abi::*;
use crate::device::{AsyncEvent, DeviceError, EventSink, Token};
use crate::table::Table;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A pointer to a C object of ours, which may travel between threads: what is read through it is atomic or locked.
pub struct Shared<T>(pub *mut T);
// SAFETY: see above; lifetimes are the tables' concern: an object is removed before it is freed.
unsafe impl<T> Send for Shared<T> {}
unsafe impl<T> Sync for Shared<T> {}

/// A completion queue with the channel's queue beside it, so that raising an event needs no pointer of the program.
pub struct CqEntry {
    cq: Shared<ibv_cq>,
    channel: Option<Arc<EventQueue<Token>>>,
}

/// All objects of a context that can have events.
pub struct Hub {
    cqs: RwLock<Table<CqEntry>>,
    qps: RwLock<Table<Shared<ibv_qp>>>,
    srqs: RwLock<Table<Shared<ibv_srq>>>,
    pub asynchronous: EventQueue<AsyncEvent>,
}

fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

/// What an asynchronous event is about, while it is alive.
pub enum Element<'a> {
    Cq(*mut ibv_cq, &'a Acks),
    Qp(*mut ibv_qp, &'a Acks),
    Srq(*mut ibv_srq, &'a Acks),
    Port(u8),
}

impl Hub {
    pub fn new() -> Result<Hub, DeviceError> {
        let most = crate::table::SLOTS_MAX;
        Ok(Hub {
            cqs: RwLock::new(Table::new(most)),
            qps: RwLock::new(Table::new(most)),
            srqs: RwLock::new(Table::new(most)),
            asynchronous: EventQueue::new()?,
        })
    }

    /// Adds a CQ before the device makes its own: events may come at once.
    pub fn add_cq(&self, cq: *mut ibv_cq, channel: Option<Arc<EventQueue<Token>>>) -> Result<Token, DeviceError> {
        let entry = CqEntry { cq: Shared(cq), channel };
        let added = write(&self.cqs).insert_with(|_| entry);
        added.map(Token).map_err(|_| DeviceError::Exhausted { what: "completion queues" })
    }

    pub fn add_qp(&self, qp: *mut ibv_qp) -> Result<Token, DeviceError> {
        let added = write(&self.qps).insert_with(|_| Shared(qp));
        added.map(Token).map_err(|_| DeviceError::Exhausted { what: "queue pairs" })
    }

    pub fn add_srq(&self, srq: *mut ibv_srq) -> Result<Token, DeviceError> {
        let added = write(&self.srqs).insert_with(|_| Shared(srq));
        added.map(Token).map_err(|_| DeviceError::Exhausted { what: "shared receive queues" })
    }

    /// Removes a CQ and its waiting events.
    pub fn remove_cq(&self, token: Token) {
        let entry = write(&self.cqs).remove(token.0);
        if let Some(channel) = entry.and_then(|e| e.channel) {
            channel.remove(|t| *t == token);
        }
        self.asynchronous.remove(|e| *e == AsyncEvent::CqError(token));
    }

    pub fn remove_qp(&self, token: Token) {
        write(&self.qps).remove(token.0);
        self.asynchronous.remove(|e| {
            use AsyncEvent::*;
            matches!(e, QpFatal(t) | QpRequestError(t) | QpAccessError(t) | CommunicationEstablished(t)
                | SendQueueDrained(t) | LastWqeReached(t) if *t == token)
        });
    }

    pub fn remove_srq(&self, token: Token) {
        write(&self.srqs).remove(token.0);
        self.asynchronous.remove(|e| matches!(e, AsyncEvent::SrqError(t) | AsyncEvent::SrqLimitReached(t) if *t == token));
    }

    /// The CQ of an event that a program takes; counted as delivered while the table is held, so that destroy waits for it.
    pub fn take_completion_event(&self, token: Token) -> Option<*mut ibv_cq> {
        let cqs = read(&self.cqs);
        let cq = cqs.get(token.0)?.cq.0;
        // SAFETY: an object in the table is not freed.
        unsafe { cq_own(cq) }.completion_acks.deliver();
        Some(cq)
    }

    /// Finds what an asynchronous event is about and calls `take` with it, or returns `None` when it is gone.
    pub fn with_element<R>(&self, event: AsyncEvent, take: impl FnOnce(Element<'_>) -> R) -> Option<R> {
        use AsyncEvent::*;
        // SAFETY (all three): an object in the table is not freed while the table is held.
        Some(match event {
            CqError(token) => {
                let cqs = read(&self.cqs);
                let cq = cqs.get(token.0)?.cq.0;
                take(Element::Cq(cq, &unsafe { cq_own(cq) }.async_acks))
            }
            SrqError(token) | SrqLimitReached(token) => {
                let srqs = read(&self.srqs);
                let srq = srqs.get(token.0)?.0;
                take(Element::Srq(srq, &unsafe { srq_own(srq) }.acks))
            }
            QpFatal(token)
            | QpRequestError(token)
            | QpAccessError(token)
            | CommunicationEstablished(token)
            | SendQueueDrained(token)
            | LastWqeReached(token) => {
                let qps = read(&self.qps);
                let qp = qps.get(token.0)?.0;
                take(Element::Qp(qp, &unsafe { qp_own(qp) }.acks))
            }
            PortActive { port } | PortError { port } | GidChange { port } => take(Element::Port(port)),
            DeviceFatal => take(Element::Port(0)),
        })
    }
}

impl EventSink for Hub {
    fn completion(&self, cq: Token) {
        if let Some(channel) = read(&self.cqs).get(cq.0).and_then(|e| e.channel.as_ref()) {
            channel.push(cq);
        }
    }

    fn asynchronous(&self, event: AsyncEvent) {
        self.asynchronous.push(event);
    }
}
