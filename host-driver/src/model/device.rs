//! An open model device.
//!
//! In: control calls. Out: objects on the NIC that all opens of the process share; closing ends this open's QPs.
use super::engine::{Engine, Shared};
use super::qp::Qp;
use super::receive::Srq;
use crate::completions::Cq;
use crate::device::*;
use crate::keys::key_config;
use crate::verbs::lock;
use mrnic_model::{KeyConfig, SrqConfig};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::Arc;

pub struct ModelDevice {
    shared: Arc<Shared>,
    events: Arc<dyn EventSink>,
    limits: Limits,
    /// Names this open.
    owner: u64,
    closed: AtomicBool,
}

/// Bits of a bus transfer a second that ports report: four planes of 100 Gbit/s.
const SPEED_MBPS: u32 = 400_000;

impl ModelDevice {
    pub fn new(shared: Arc<Shared>, events: Arc<dyn EventSink>) -> Self {
        static OPENS: AtomicU64 = AtomicU64::new(0);
        let owner = OPENS.fetch_add(1, Ordering::Relaxed);
        ModelDevice { shared, events, limits: super::limits(), owner, closed: AtomicBool::new(false) }
    }
}

impl Engine {
    /// Makes keys for a region.
    pub fn register(&mut self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        let key = self.keys.reserve()?;
        if let Err(error) = self.nic.register_key(key >> 8, &key_config(region, key)) {
            self.keys.give_back(key);
            return Err(DeviceError::invalid("memory region", error.to_string()));
        }
        self.keys.set(key, region);
        self.memory.add(region.addr, region.length_bytes);
        Ok(MrKeys { lkey: key, rkey: key })
    }

    fn replace(&mut self, key: u32, region: &MemoryRegion) -> Result<(), DeviceError> {
        let old = self.keys.region(key)?;
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("memory region", error.to_string());
        self.nic.register_key(key >> 8, &key_config(region, key)).map_err(refused)?;
        self.memory.remove(old.addr, old.length_bytes);
        self.memory.add(region.addr, region.length_bytes);
        self.keys.set(key, region);
        Ok(())
    }

    /// Takes a key back; its memory is no longer touched.
    pub fn unregister(&mut self, key: u32) -> Result<(), DeviceError> {
        let region = self.keys.remove(key)?;
        // The index is one that was given out.
        let _removed = self.nic.register_key(key >> 8, &KeyConfig::default());
        self.memory.remove(region.addr, region.length_bytes);
        Ok(())
    }
}

impl Device for ModelDevice {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError> {
        self.limits.check_port(port)?;
        Ok(PortStatus::active(1, SPEED_MBPS))
    }

    /// The NIC's IPv4 address.
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        self.limits.check_port(port)?;
        GidEntry::only(self.shared.engine().link.endpoint().ip, port, index)
    }

    fn alloc_pd(&self) -> Result<PdId, DeviceError> {
        lock(&self.shared.pds).insert_with(|_| ()).map(PdId).map_err(DeviceError::full("PDs"))
    }

    fn dealloc_pd(&self, pd: PdId) -> Result<(), DeviceError> {
        lock(&self.shared.pds).remove(pd.0).ok_or_else(|| DeviceError::invalid("PD", "it is not allocated"))
    }

    fn reg_mr(&self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        self.shared.engine().register(region)
    }

    fn rereg_mr(&self, keys: MrKeys, region: &MemoryRegion) -> Result<(), DeviceError> {
        self.shared.engine().replace(keys.lkey, region)
    }

    fn dereg_mr(&self, keys: MrKeys) -> Result<(), DeviceError> {
        self.shared.engine().unregister(keys.lkey)
    }

    fn create_cq(&self, spec: &CqSpec) -> Result<Arc<dyn CompletionQueue>, DeviceError> {
        let mut cqs = lock(&self.shared.cqs);
        let make = |id| Arc::new(Cq::new(CqId(id), spec, self.shared.clone(), self.events.clone()));
        let id = cqs.insert_with(make).map_err(DeviceError::full("CQs"))?;
        cqs.get(id).cloned().map(|cq| cq as _).ok_or(DeviceError::Exhausted { what: "CQs" })
    }

    fn create_srq(&self, spec: &SrqSpec) -> Result<Arc<dyn SharedReceiveQueue>, DeviceError> {
        let mut engine = self.shared.engine();
        let free = engine.srqs.iter().position(Option::is_none);
        let id = free.ok_or(DeviceError::Exhausted { what: "SRQs" })?;
        let config = SrqConfig { pd: spec.pd.0 as u16, depth: spec.max_wr.max(1), limit: 0 };
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("SRQ", error.to_string());
        engine.nic.create_srq(id as u32, &config).map_err(refused)?;
        engine.srqs[id] = Some((self.events.clone(), spec.token));
        let (max_wr, max_sge) = (AtomicU32::new(config.depth), spec.max_sge);
        Ok(Arc::new(Srq { id: SrqId(id as u32), shared: self.shared.clone(), max_wr, max_sge }))
    }

    fn create_qp(&self, spec: &QpSpec) -> Result<Arc<dyn QueuePair>, DeviceError> {
        let cq = |id: CqId| {
            let found = lock(&self.shared.cqs).get(id.0).cloned();
            found.ok_or_else(|| DeviceError::invalid("CQ", "it is of another device"))
        };
        let cqs = (cq(spec.send_cq)?, cq(spec.recv_cq)?);
        Ok(Qp::create(&self.shared, spec, cqs, self.events.clone(), self.owner)?)
    }

    fn take_path_changes(&self) -> Vec<PathChange> {
        let mut engine = self.shared.engine();
        engine.run();
        engine.paths.take()
    }

    fn progress(&self) {
        self.shared.progress();
    }

    fn close(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        {
            let mut engine = self.shared.engine();
            let mine = |entry: &super::qp::Entry| entry.owner == self.owner;
            let qpns: Vec<u32> = engine.qps.iter().flatten().filter(|e| mine(e)).map(|e| e.qpn).collect();
            for qpn in qpns {
                engine.remove_qp(qpn);
            }
            engine.run();
        }
        self.shared.closed();
    }
}
