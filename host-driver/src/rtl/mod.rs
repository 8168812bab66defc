//! The RTL as a device: a Verilated NIC for this process, in another process; the same driver serves a board.
//!
//! In: the calls of [`crate::device`]. Out: WQEs in rings, doorbells, rows of the NIC's tables; completions out of rings, and events. Everything goes
//! through [`carrier::Carrier`], the bus. Connections are opened and closed by the control plane (crate mrnic-firmware) in this process, whose
//! frames take the ordinary network path.
pub mod carrier;
mod connect;
mod device;
mod engine;
mod harvest;
mod pages;
mod qp;
mod queue;
mod rings;
pub mod serve;
mod socket;
mod srq;
mod thread;

use crate::device::{Device, DeviceError, DeviceIdentity, EventSink, Limits, Operations, Provider};
use engine::Shared;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, Weak};

/// The name of the one device.
const NAME: &str = "mrnic0";
/// No vendor's: an organisation number with the bit for local administration set.
const VENDOR: u32 = 0x02_0000;
/// A locally administered EUI-64.
const GUID: u64 = 0x024d_52ff_fe00_0002;
/// Numbers that the standard keeps for itself.
const FIRST_QPN: u32 = 2;
/// 2^13 entries of the send queue.
const WR_MAX: u32 = 8192;

/// What the NIC's registers and its carrier tell of its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    pub conns: u32,
    pub paths: u8,
    pub qps: u32,
    /// W: packets of a path that may be outstanding.
    pub window: u16,
    pub keys: u32,
    /// It has SEND, immediates, and receive queues.
    pub sends: bool,
    /// It has READ and atomics.
    pub reads: bool,
    /// Pieces of memory that a SEND or WRITE may take its data from.
    pub sges: u32,
    /// Requests of a queue pair that may be outstanding.
    pub messages: u32,
    /// Shared receive queues.
    pub srqs: u32,
}

/// The folder where the NICs are served.
pub fn session() -> PathBuf {
    match std::env::var_os("MRNIC_SESSION").filter(|dir| !dir.is_empty()) {
        Some(dir) => dir.into(),
        None => mrnic_host_bus::default_session(),
    }
}

/// The RTL device. All opens of a provider share one NIC; it is given back when the last one is closed.
pub struct RtlProvider {
    session: PathBuf,
    nic: Mutex<Weak<Shared>>,
}

impl RtlProvider {
    /// NICs that are served in this folder.
    pub fn new(session: PathBuf) -> Self {
        RtlProvider { session, nic: Mutex::default() }
    }
}

impl Provider for RtlProvider {
    fn devices(&self) -> Vec<DeviceIdentity> {
        vec![DeviceIdentity { name: NAME.to_owned(), guid: GUID }]
    }

    fn open(&self, name: &str, events: Arc<dyn EventSink>) -> Result<Arc<dyn Device>, DeviceError> {
        if name != NAME {
            return Err(DeviceError::NoDevice { name: name.to_owned() });
        }
        let mut nic = crate::verbs::lock(&self.nic);
        let shared = match nic.upgrade().filter(|shared| shared.open_again()) {
            Some(shared) => shared,
            None => {
                let shared = Shared::start(Arc::new(socket::Socket::attach(&self.session)?))?;
                *nic = Arc::downgrade(&shared);
                shared
            }
        };
        Ok(Arc::new(device::RtlDevice::new(shared, events)))
    }
}

/// What the RTL can do: RDMA WRITE and SEND with and without immediate, READ and atomics, all of them and receives with several pieces of memory.
fn limits(sizes: &Sizes, build: &str) -> Limits {
    // Programs state at least 1, also where they read nothing.
    let max_rd_atomic = if sizes.reads { sizes.messages } else { 1 };
    Limits {
        firmware: format!("{} {build}", env!("CARGO_PKG_VERSION")),
        guid: GUID,
        vendor_id: VENDOR,
        part_id: 3,
        hardware_version: 1,
        max_qp: sizes.qps - FIRST_QPN,
        max_qp_wr: WR_MAX,
        max_sge: sizes.sges,
        max_send_sge: sizes.sges,
        max_inline_bytes: Limits::INLINE_BYTES_MAX as u32,
        max_cq: 256,
        max_cqe: 1 << 18,
        // Key 0 is given to nobody: programs take it for "none".
        max_mr: sizes.keys - 1,
        max_mr_bytes: 1 << 46,
        max_pd: 256,
        max_srq: sizes.srqs,
        max_srq_wr: if sizes.srqs > 0 { srq::WR_MAX } else { 0 },
        max_rd_atomic,
        max_rd_atomic_total: max_rd_atomic * sizes.qps,
        operations: Operations {
            send: sizes.sends,
            write: true,
            immediate: sizes.sends,
            read: sizes.reads,
            atomic: sizes.reads,
        },
        ports: 1,
    }
}

/// 64 bits that no other incarnation has.
fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}
