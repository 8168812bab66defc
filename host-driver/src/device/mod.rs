//! The seam between the verbs library and whatever carries the transport.
//!
//! In: checked calls in plain Rust types. Out: completions, and events into an [`EventSink`]. A carrier implements [`Provider`],
//! [`Device`], [`QueuePair`], [`CompletionQueue`] and [`SharedReceiveQueue`]; nothing above knows which carrier it is.
//!
//! What the library guarantees to a carrier:
//! - attributes are within [`Limits`], modifications follow the RC state table, access flags are consistent;
//! - an object is destroyed once, and after everything that refers to it (QPs before their CQs, SRQ and PD, MRs before their PD);
//! - posts to one queue come one at a time; everything else may come from any thread at any time.
//!
//! What a carrier guarantees to the library:
//! - no call blocks on the peer: `post_*` copy the request (never the payload, unless inline) and return;
//! - the data path (`post_*`, `ring_*`, `poll`, `arm`) neither allocates nor waits for a lock that is held for long;
//! - work advances in [`CompletionQueue::poll`] and [`Device::progress`]; with a CQ armed it also advances by itself, because the
//!   program may be asleep in `poll(2)`;
//! - every posted request that is signalled or fails gets exactly one completion; a QP in [`QpState::Error`] flushes all it holds;
//! - a send request keeps its slot until its completion is polled (an unsignalled one until it has completed), so that a CQ as deep as
//!   the queues that it serves never overruns;
//! - after `destroy` of a QP, and after `dereg_mr`, no memory of that QP or MR is touched any more.
mod error;
mod event;
mod limits;
mod paths;
mod qp;
mod work;

pub use error::{DeviceError, PostError};
pub use event::{AsyncEvent, EventSink, NoEvents, Token};
pub use limits::{GidEntry, Limits, LinkState, Mtu, Operations, PortStatus};
pub use paths::{PathChange, PathCounters, PathHealth, PathStatus};
pub use qp::{Capacity, PathAttributes, QpAddress, QpChange, QpState, QpStatus};
pub use work::{Completion, CompletionKind, Payload, RecvRequest, Remote, SendOp, SendRequest, Sge, WcStatus};

use crate::rules::Access;
use std::sync::Arc;

/// Where devices come from: what `ibv_get_device_list` shows.
pub trait Provider: Send + Sync {
    /// The devices that can be opened now.
    fn devices(&self) -> Vec<DeviceIdentity>;
    /// Opens the device of that name. `events` gets its completions' and asynchronous events.
    fn open(&self, name: &str, events: Arc<dyn EventSink>) -> Result<Arc<dyn Device>, DeviceError>;
}

/// What is known of a device before it is opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceIdentity {
    /// As `ibv_devices` prints it, below 64 bytes.
    pub name: String,
    /// EUI-64 of the node.
    pub guid: u64,
}

/// A protection domain of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PdId(pub u32);

/// A completion queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CqId(pub u32);

/// A shared receive queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SrqId(pub u32);

/// A registered region and what its two keys allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryRegion {
    pub pd: PdId,
    /// Address in this process.
    pub addr: u64,
    pub length_bytes: u64,
    /// The address by which work requests name the first byte.
    pub iova: u64,
    pub access: Access,
}

/// The keys of a registered region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MrKeys {
    pub lkey: u32,
    pub rkey: u32,
}

/// What a completion queue is made of.
#[derive(Clone, Copy, Debug)]
pub struct CqSpec {
    /// Entries wanted; the device may give more.
    pub depth: u32,
    /// Names the queue in events.
    pub token: Token,
}

/// What a shared receive queue is made of.
#[derive(Clone, Copy, Debug)]
pub struct SrqSpec {
    pub pd: PdId,
    pub max_wr: u32,
    pub max_sge: u32,
    pub token: Token,
}

/// What an RC queue pair is made of.
#[derive(Clone, Copy, Debug)]
pub struct QpSpec {
    pub pd: PdId,
    pub send_cq: CqId,
    pub recv_cq: CqId,
    pub srq: Option<SrqId>,
    /// Wanted; the device may give more.
    pub capacity: Capacity,
    pub token: Token,
}

/// An open device.
pub trait Device: Send + Sync {
    fn limits(&self) -> &Limits;
    /// Ports count from 1.
    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError>;
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError>;

    fn alloc_pd(&self) -> Result<PdId, DeviceError>;
    fn dealloc_pd(&self, pd: PdId) -> Result<(), DeviceError>;
    fn reg_mr(&self, region: &MemoryRegion) -> Result<MrKeys, DeviceError>;
    /// Changes a region in place; its keys stay, because the peer has them. The old or the new region applies, never a mixture.
    fn rereg_mr(&self, keys: MrKeys, region: &MemoryRegion) -> Result<(), DeviceError>;
    /// Returns once no access to the region is under way.
    fn dereg_mr(&self, keys: MrKeys) -> Result<(), DeviceError>;

    fn create_cq(&self, spec: &CqSpec) -> Result<Arc<dyn CompletionQueue>, DeviceError>;
    fn create_srq(&self, spec: &SrqSpec) -> Result<Arc<dyn SharedReceiveQueue>, DeviceError>;
    fn create_qp(&self, spec: &QpSpec) -> Result<Arc<dyn QueuePair>, DeviceError>;

    /// Changes of the health of paths since the last call, in their order. Empty where the carrier does not tell.
    fn take_path_changes(&self) -> Vec<PathChange> {
        Vec::new()
    }

    /// Advances the transport by what can be done now, without waiting.
    fn progress(&self);
    /// Stops everything. Objects that are still there stay valid but dead: posts fail, nothing completes.
    fn close(&self);
}

/// An RC queue pair.
pub trait QueuePair: Send + Sync {
    /// 24 bits, unique on the device, not soon given again.
    fn number(&self) -> u32;
    fn capacity(&self) -> Capacity;
    fn status(&self) -> QpStatus;
    /// Applies all of `change` or nothing. Entering [`QpState::Reset`] forgets queued work without completions.
    fn modify(&self, change: &QpChange) -> Result<(), DeviceError>;
    /// Ends all activity; completions of this QP that were not polled disappear from its CQs.
    fn destroy(&self) -> Result<(), DeviceError>;

    /// The paths to its peer, once it is connected. Empty where the carrier does not tell.
    fn paths(&self) -> Vec<PathStatus> {
        Vec::new()
    }

    /// Send requests that fit now.
    fn send_room(&self) -> u32;
    /// Queues one request. It may start at once; it must start after [`QueuePair::ring_send`].
    fn post_send(&self, request: &SendRequest<'_>) -> Result<(), PostError>;
    /// The doorbell: once after each list of requests.
    fn ring_send(&self);
    /// Queues one buffer; no doorbell, it must be seen at once.
    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError>;
}

/// A completion queue.
pub trait CompletionQueue: Send + Sync {
    fn id(&self) -> CqId;
    fn depth(&self) -> u32;
    /// Takes up to `out.len()` completions, after a step of the transport when there are none.
    fn poll(&self, out: &mut [Completion]) -> Result<usize, DeviceError>;
    /// One [`EventSink::completion`] for the next completion that is added (with `solicited_only`: the next that is solicited or
    /// failed).
    fn arm(&self, solicited_only: bool) -> Result<(), DeviceError>;
    /// Changes the number of entries; fails when more completions wait than would fit. Returns the new number.
    fn resize(&self, depth: u32) -> Result<u32, DeviceError>;
    fn destroy(&self) -> Result<(), DeviceError>;
}

/// A shared receive queue.
pub trait SharedReceiveQueue: Send + Sync {
    fn id(&self) -> SrqId;
    /// Buffers it holds at most, and scatter entries of each.
    fn capacity(&self) -> (u32, u32);
    /// 0 when not armed.
    fn limit(&self) -> u32;
    /// Arms one [`AsyncEvent::SrqLimitReached`] for when fewer than `limit` buffers are left.
    fn set_limit(&self, limit: u32) -> Result<(), DeviceError>;
    fn resize(&self, max_wr: u32) -> Result<(), DeviceError>;
    fn post_recv(&self, request: &RecvRequest<'_>) -> Result<(), PostError>;
    fn destroy(&self) -> Result<(), DeviceError>;
}
