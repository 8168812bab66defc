//! An open RTL device.
//!
//! In: control calls. Out: objects on the NIC that all opens of the process share; closing ends this open's queue pairs.
use super::engine::{Engine, Shared};
use super::qp::Qp;
use super::srq::Srq;
use crate::completions::Cq;
use crate::device::*;
use crate::keys::key_config;
use crate::model::endpoint_of;
use crate::verbs::lock;
use mrnic_host_bus::rows;
use mrnic_model::KeyConfig;
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

impl Engine {
    /// Makes keys for a region.
    pub fn register(&mut self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        let key = self.keys.reserve()?;
        if let Err(error) = self.carrier.map_dma(region.addr, region.length_bytes) {
            self.keys.give_back(key);
            return Err(error);
        }
        self.keys.set(key, region);
        self.write_row(&rows::key(key >> 8, &key_config(region, key)));
        self.settle();
        Ok(MrKeys { lkey: key, rkey: key })
    }

    fn replace(&mut self, key: u32, region: &MemoryRegion) -> Result<(), DeviceError> {
        let old = self.keys.region(key)?;
        self.carrier.map_dma(region.addr, region.length_bytes)?;
        self.write_row(&rows::key(key >> 8, &key_config(region, key)));
        self.settle();
        self.carrier.unmap_dma(old.addr, old.length_bytes);
        self.keys.set(key, region);
        Ok(())
    }

    /// Takes a key back; its memory is no longer touched.
    pub fn unregister(&mut self, key: u32) -> Result<(), DeviceError> {
        let region = self.keys.remove(key)?;
        if !self.fatal {
            self.write_row(&rows::key(key >> 8, &KeyConfig::default()));
            self.settle();
        }
        self.carrier.unmap_dma(region.addr, region.length_bytes);
        Ok(())
    }
}

impl Device for RtlDevice {
    fn limits(&self) -> &Limits {
        &self.shared.limits
    }

    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError> {
        self.shared.limits.check_port(port)?;
        let state = if lock(&self.shared.engine).fatal { LinkState::Down } else { LinkState::Active };
        Ok(PortStatus { state, ..PortStatus::active(1, SPEED_MBPS) })
    }

    /// The NIC's IPv4 address.
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        self.shared.limits.check_port(port)?;
        GidEntry::only(endpoint_of(self.shared.carrier.identity().place.into()).ip, port, index)
    }

    fn alloc_pd(&self) -> Result<PdId, DeviceError> {
        lock(&self.shared.pds).insert_with(|_| ()).map(PdId).map_err(DeviceError::full("PDs"))
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
        lock(&self.shared.engine).unregister(keys.lkey)
    }

    fn create_cq(&self, spec: &CqSpec) -> Result<Arc<dyn CompletionQueue>, DeviceError> {
        let mut cqs = lock(&self.shared.cqs);
        let make = |id| Arc::new(Cq::new(CqId(id), spec, self.shared.clone(), self.events.clone()));
        let id = cqs.insert_with(make).map_err(DeviceError::full("CQs"))?;
        cqs.get(id).cloned().map(|cq| cq as _).ok_or(DeviceError::Exhausted { what: "CQs" })
    }

    fn create_srq(&self, spec: &SrqSpec) -> Result<Arc<dyn SharedReceiveQueue>, DeviceError> {
        if self.shared.limits.max_srq == 0 {
            return Err(DeviceError::Unsupported { what: "a shared receive queue" });
        }
        Ok(Srq::create(&self.shared, spec, self.events.clone(), self.owner)?)
    }

    fn create_qp(&self, spec: &QpSpec) -> Result<Arc<dyn QueuePair>, DeviceError> {
        let find = |id: CqId| {
            let cq = lock(&self.shared.cqs).get(id.0).cloned();
            cq.ok_or_else(|| DeviceError::invalid("CQ", "it is of another device"))
        };
        let cqs = (find(spec.send_cq)?, find(spec.recv_cq)?);
        Ok(Qp::create(&self.shared, spec, cqs, self.events.clone(), self.owner)?)
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
            for srq in 0..engine.srqs.len() {
                if engine.srqs[srq].as_ref().is_some_and(|entry| entry.owner == self.owner) {
                    engine.remove_srq(srq as u32);
                }
            }
            engine.sinks.retain(|(owner, _)| *owner != self.owner);
        }
        self.shared.closed();
    }
}
