//! The golden model as a device: one NIC for this process, inside the process, on the segment of shared memory that joins it with
//! the NICs of other processes.
//!
//! In: the calls of [`crate::device`]. Out: completions and events. All work is done under one lock, by whoever polls or posts, and by
//! a thread of its own when nobody does.
mod connect;
mod device;
mod engine;
pub mod faults;
mod leave;
mod link;
mod memory;
mod operation;
mod paths;
mod qp;
mod receive;
mod requests;
pub mod settings;
mod stats;
#[cfg(test)]
mod tests;
mod thread;

pub use settings::Settings;

use crate::device::{Device, DeviceError, DeviceIdentity, EventSink, Limits, Operations, Provider};
use engine::Shared;
use std::sync::{Arc, Mutex, Weak};

/// The name of the one device.
const NAME: &str = "mrnic0";
/// No vendor's: an organisation number with the bit for local administration set.
const VENDOR: u32 = 0x02_0000;
/// A locally administered EUI-64.
const GUID: u64 = 0x024d_52ff_fe00_0001;

/// The model device. All opens of a process share one NIC; it leaves the network when the last one is closed.
#[derive(Default)]
pub struct ModelProvider {
    /// Without them, the environment counts.
    settings: Option<Settings>,
    nic: Mutex<Weak<Shared>>,
}

impl ModelProvider {
    /// A provider whose NIC has these settings, whatever the environment says. Each provider has a NIC of its own.
    pub fn with(settings: Settings) -> Self {
        ModelProvider { settings: Some(settings), nic: Mutex::default() }
    }
}

impl Provider for ModelProvider {
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
                let settings = self.settings.clone().map_or_else(Settings::from_environment, Ok)?;
                let shared = Shared::start(settings)?;
                *nic = Arc::downgrade(&shared);
                shared
            }
        };
        Ok(Arc::new(device::ModelDevice::new(shared, events)))
    }
}

// What the driver of the RTL does in the same way: addresses, mapped memory, operations, inline data.
pub(crate) use {
    link::{endpoint_of, ip_of_gid, place_of},
    memory::ProcessMemory,
    operation::wqe_of,
    qp::access_of,
    requests::InlineSlab,
};

/// Queue pairs, and the numbers that the standard keeps for itself.
const QPS: u32 = 4096;
const FIRST_QPN: u32 = 16;
const KEYS: u32 = 65_536;
const SRQS: u32 = 1024;

/// What the model device can do.
fn limits() -> Limits {
    Limits {
        firmware: env!("CARGO_PKG_VERSION").to_owned(),
        guid: GUID,
        vendor_id: VENDOR,
        part_id: 2,
        hardware_version: 1,
        max_qp: QPS - FIRST_QPN,
        max_qp_wr: 16_384,
        max_sge: mrnic_model::SGES_MAX as u32,
        max_send_sge: mrnic_model::SGES_MAX as u32,
        max_inline_bytes: Limits::INLINE_BYTES_MAX as u32,
        max_cq: 4096,
        max_cqe: 1 << 20,
        max_mr: KEYS - 1,
        max_mr_bytes: 1 << 46,
        max_pd: 4096,
        max_srq: SRQS,
        max_srq_wr: 16_384,
        max_rd_atomic: 16,
        max_rd_atomic_total: 16 * QPS,
        operations: Operations::ALL,
        ports: 1,
    }
}
