//! A device inside the process: memory copies instead of a network. For this crate's own tests.
//!
//! In: the calls of [`crate::device`]. Out: full RC semantics between QPs of one process (also of several contexts): SEND, WRITE, READ,
//! atomics, shared receive queues, receiver-not-ready, access errors, retries and flushes. No packets, no loss; a QP is found by its number.
mod device;
mod engine;
mod memory;
mod qp;
mod receive;

use crate::device::{Device, DeviceError, DeviceIdentity, EventSink, Limits, Operations, Provider};
use engine::Fabric;
use std::sync::Arc;

/// The name of the one device.
const NAME: &str = "mrnic0";
/// No vendor's: an organisation number with the bit for local administration set.
const VENDOR: u32 = 0x02_0000;
/// A locally administered EUI-64.
const GUID: u64 = 0x0200_00ff_fe00_0001;

/// The loopback device, whose opens meet on one fabric.
#[derive(Default)]
pub struct LoopbackProvider {
    fabric: Arc<Fabric>,
}

impl Provider for LoopbackProvider {
    fn devices(&self) -> Vec<DeviceIdentity> {
        vec![DeviceIdentity { name: NAME.to_owned(), guid: GUID }]
    }

    fn open(&self, name: &str, events: Arc<dyn EventSink>) -> Result<Arc<dyn Device>, DeviceError> {
        if name != NAME {
            return Err(DeviceError::NoDevice { name: name.to_owned() });
        }
        Ok(Arc::new(device::Loopback::new(self.fabric.clone(), events)))
    }
}

/// What the loopback device can do.
pub fn limits() -> Limits {
    Limits {
        firmware: env!("CARGO_PKG_VERSION").to_owned(),
        guid: GUID,
        vendor_id: VENDOR,
        part_id: 1,
        hardware_version: 1,
        max_qp: 4096,
        max_qp_wr: 16_384,
        max_sge: Limits::SGES_MAX as u32,
        max_send_sge: Limits::SGES_MAX as u32,
        max_inline_bytes: Limits::INLINE_BYTES_MAX as u32,
        max_cq: 4096,
        max_cqe: 1 << 20,
        max_mr: crate::table::SLOTS_MAX,
        max_mr_bytes: 1 << 46,
        max_pd: 4096,
        max_srq: 1024,
        max_srq_wr: 16_384,
        max_rd_atomic: 16,
        max_rd_atomic_total: 16 * 4096,
        operations: Operations::ALL,
        ports: 1,
    }
}
