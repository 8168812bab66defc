//! An open RTL device.
//!
//! In: control calls. Out: objects on the NIC that all opens of the process share; closing ends this open's queue pairs.
use super::engine::{Engine, Shared};
use super::qp::Qp;
use crate::completions::Cq;
use crate::device::*;
use crate::model::endpoint_of;
use crate::table::TableFull;
use crate::verbs::lock;
use mrnic_host_bus::rows;
use mrnic_model::{key_of, KeyConfig, Rights};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::Arc;

pub struct RtlDevice {
    shared: Arc<Shared>,
    events: Arc<dyn EventSink>,
    /// Names this open.
    owner: u64,
    closed: AtomicBool,
}

/// What the port reports: four planes of 10 Gbit/s, as a simulated network has by default.
const SPEED_MBPS: u32 = 40_000;

impl RtlDevice {
    pub fn new(shared: Arc<Shared>, events: Arc<dyn EventSink>) -> Self {
        static OPENS: AtomicU64 = AtomicU64::new(0);
        let owner = OPENS.fetch_add(1, Ordering::Relaxed);
        lock(&shared.engine).sinks.push((owner, events.clone()));
        RtlDevice { shared, events, owner, closed: AtomicBool::new(false) }
    }
}

fn full(what: &'static str) -> impl Fn(TableFull) -> DeviceError {
    move |_| DeviceError::Exhausted { what }
}

/// Bus addresses are addresses of the process, so that a region of any pages is one range for the NIC.
fn key_config(region: &MemoryRegion, key_low: u8) -> KeyConfig {
    let access = region.access;
    KeyConfig {
        valid: true,
        key_low,
        pd: region.pd.0 as u16,
        rights: Rights {
            local_write: access.local_write,
            remote_write: access.remote_write,
            remote_read: access.remote_read,
            remote_atomic: access.remote_atomic,
        },
        base: region.iova,
        length: region.length_bytes,
        dma_base: region.addr,
    }
}

impl Engine {
    /// Makes keys for a region.
    pub fn register(&mut self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        let index = self.free_keys.pop_front().ok_or(DeviceError::Exhausted { what: "memory regions" })?;
        if let Err(error) = self.carrier.map_dma(region.addr, region.length_bytes) {
            self.free_keys.push_front(index);
            return Err(error);
        }
        let slot = &mut self.regions[index as usize];
        slot.0 = slot.0.wrapping_add(1);
        slot.1 = Some(*region);
        let low = slot.0;
        self.write_row(&rows::key(index, &key_config(region, low)));
        self.settle();
        let key = key_of(index, low);
        Ok(MrKeys { lkey: key, rkey: key })
    }

    fn region(&self, key: u32) -> Result<MemoryRegion, DeviceError> {
        let slot = self.regions.get((key >> 8) as usize).filter(|slot| slot.0 == key as u8);
        slot.and_then(|slot| slot.1).ok_or_else(|| DeviceError::invalid("memory region", "its key is not registered"))
    }

    fn replace(&mut self, key: u32, region: &MemoryRegion) -> Result<(), DeviceError> {
        let old = self.region(key)?;
        self.carrier.map_dma(region.addr, region.length_bytes)?;
        self.write_row(&rows::key(key >> 8, &key_config(region, key as u8)));
        self.settle();
        self.carrier.unmap_dma(old.addr, old.length_bytes);
        self.regions[(key >> 8) as usize].1 = Some(*region);
        Ok(())
    }

    /// Takes a key back; its memory is no longer touched.
    pub fn unregister_index(&mut self, index: u32) {
        let Some(region) = self.regions.get_mut(index as usize).and_then(|slot| slot.1.take()) else { return };
        if !self.fatal {
            self.write_row(&rows::key(index, &KeyConfig::default()));
            self.settle();
        }
        self.carrier.unmap_dma(region.addr, region.length_bytes);
        self.free_keys.push_back(index);
    }
}

impl Device for RtlDevice {
    fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError> {
        self.shared.limits.check_port(port)?;
        let state = if lock(&self.shared.engine).fatal { LinkState::Down } else { LinkState::Active };
        Ok(PortStatus {
            state,
            max_mtu: Mtu::B4096,
            active_mtu: Mtu::B4096,
            gids: 1,
            max_message_bytes: 1 << 30,
            speed_mbps: SPEED_MBPS,
        })
    }

    /// The NIC's IPv4 address.
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        self.shared.limits.check_port(port)?;
        if index != 0 {
            return Err(DeviceError::invalid("GID index", format!("{index}: the port has 1")));
        }
        let gid = match endpoint_of(self.shared.carrier.identity().place.into()).ip {
            std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            std::net::IpAddr::V6(ip) => ip.octets(),
        };
        Ok(GidEntry { gid, index, port, interface: 0 })
    }

    fn alloc_pd(&self) -> Result<PdId, DeviceError> {
        lock(&self.shared.pds).insert_with(|_| ()).map(PdId).map_err(full("PDs"))
    }

    fn dealloc_pd(&self, pd: PdId) -> Result<(), DeviceError> {
        lock(&self.shared.pds).remove(pd.0).ok_or_else(|| DeviceError::invalid("PD", "it is not allocated"))
    }

    fn reg_mr(&self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        lock(&self.shared.engine).register(region)
    }

    fn rereg_mr(&self, keys: MrKeys, region: &MemoryRegion) -> Result<(), DeviceError> {
        lock(&self.shared.engine).replace(keys.lkey, region)
    }

    fn dereg_mr(&self, keys: MrKeys) -> Result<(), DeviceError> {
        let mut engine = lock(&self.shared.engine);
        engine.region(keys.lkey)?;
        engine.unregister_index(keys.lkey >> 8);
        Ok(())
    }

    fn create_cq(&self, spec: &CqSpec) -> Result<Arc<dyn CompletionQueue>, DeviceError> {
        let mut cqs = lock(&self.shared.cqs);
        let make = |id| Arc::new(Cq::new(CqId(id), spec, self.shared.clone(), self.events.clone()));
        let id = cqs.insert_with(make).map_err(full("CQs"))?;
        cqs.get(id).cloned().map(|cq| cq as _).ok_or(DeviceError::Exhausted { what: "CQs" })
    }

    fn create_srq(&self, _: &SrqSpec) -> Result<Arc<dyn SharedReceiveQueue>, DeviceError> {
        Err(DeviceError::Unsupported { what: "a shared receive queue" })
    }

    fn create_qp(&self, spec: &QpSpec) -> Result<Arc<dyn QueuePair>, DeviceError> {
        let cq = lock(&self.shared.cqs).get(spec.send_cq.0).cloned();
        let cq = cq.ok_or_else(|| DeviceError::invalid("CQ", "it is of another device"))?;
        Ok(Qp::create(&self.shared, spec, cq, self.events.clone(), self.owner)?)
    }

    fn progress(&self) {
        self.shared.progress();
    }

    fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        {
            let mut engine = lock(&self.shared.engine);
            let mine = |entry: &super::qp::Entry| entry.owner == self.owner;
            let of_me = |qp: &Option<Box<super::qp::Entry>>| qp.as_deref().is_some_and(mine);
            let qpns: Vec<u32> = (0..engine.qps.len()).filter(|&at| of_me(&engine.qps[at])).map(|at| at as u32).collect();
            for qpn in qpns {
                engine.remove_qp(qpn);
            }
            engine.sinks.retain(|(owner, _)| *owner != self.owner);
        }
        self.shared.closed();
    }
}
