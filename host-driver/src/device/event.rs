//! Events that a device raises on its own account.
//!
//! In: calls by the device. Out: entries in completion channels and the asynchronous event queue. A sink never calls back into the
//! device, so that it may be called with the device's locks held.

/// A name that the library gives an object and the device gives back in events. Stale tokens are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub u32);

/// What happened to an object or a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AsyncEvent {
    /// A completion queue overran.
    CqError(Token),
    QpFatal(Token),
    /// The peer's request could not be served (not an access violation).
    QpRequestError(Token),
    /// The peer's request violated access rights.
    QpAccessError(Token),
    CommunicationEstablished(Token),
    SendQueueDrained(Token),
    /// A QP on an SRQ is in the error state and will take no further buffer from it.
    LastWqeReached(Token),
    SrqError(Token),
    SrqLimitReached(Token),
    PortActive {
        port: u8,
    },
    PortError {
        port: u8,
    },
    GidChange {
        port: u8,
    },
    DeviceFatal,
}

/// Where events go.
pub trait EventSink: Send + Sync {
    /// An armed completion queue got a completion; it is no longer armed.
    fn completion(&self, cq: Token);
    fn asynchronous(&self, event: AsyncEvent);
}

/// For programs that poll, and want no events.
pub struct NoEvents;

impl EventSink for NoEvents {
    fn completion(&self, _: Token) {}
    fn asynchronous(&self, _: AsyncEvent) {}
}
