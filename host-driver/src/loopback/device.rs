//! An open loopback device.
//!
//! In: control calls. Out: objects on the fabric that all opens share; closing stops this open's QPs.
use super::engine::Fabric;
use super::qp::Qp;
use super::receive::{ReceiveQueue, Srq};
use crate::completions::Cq;
use crate::device::*;
use crate::verbs::lock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;

pub struct Loopback {
    fabric: Arc<Fabric>,
    events: Arc<dyn EventSink>,
    limits: Limits,
    /// Shared with this open's QPs.
    closed: Arc<AtomicBool>,
}

impl Loopback {
    pub fn new(fabric: Arc<Fabric>, events: Arc<dyn EventSink>) -> Self {
        Loopback { fabric, events, limits: super::limits(), closed: Arc::default() }
    }
}

impl Device for Loopback {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError> {
        self.limits.check_port(port)?;
        Ok(PortStatus::active(2, 100_000))
    }

    /// A link-local address of the GUID, and that of the loopback interface.
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        self.limits.check_port(port)?;
        let gid = match index {
            0 => (0xfe80u128 << 112 | u128::from(self.limits.guid)).to_be_bytes(),
            1 => std::net::Ipv4Addr::LOCALHOST.to_ipv6_mapped().octets(),
            _ => return Err(DeviceError::invalid("GID index", format!("{index}: the port has 2"))),
        };
        Ok(GidEntry { gid, index, port, interface: 1 })
    }

    fn alloc_pd(&self) -> Result<PdId, DeviceError> {
        lock(&self.fabric.pds).insert_with(|_| ()).map(PdId).map_err(DeviceError::full("PDs"))
    }

    fn dealloc_pd(&self, pd: PdId) -> Result<(), DeviceError> {
        lock(&self.fabric.pds).remove(pd.0).ok_or_else(|| DeviceError::invalid("PD", "it is not allocated"))
    }

    fn reg_mr(&self, region: &MemoryRegion) -> Result<MrKeys, DeviceError> {
        self.fabric.regions.add(region)
    }

    fn rereg_mr(&self, keys: MrKeys, region: &MemoryRegion) -> Result<(), DeviceError> {
        let _still = lock(&self.fabric.engine);
        self.fabric.regions.replace(keys, region)
    }

    fn dereg_mr(&self, keys: MrKeys) -> Result<(), DeviceError> {
        // The engine's lock: no copy is under way.
        let _still = lock(&self.fabric.engine);
        self.fabric.regions.remove(keys)
    }

    fn create_cq(&self, spec: &CqSpec) -> Result<Arc<dyn CompletionQueue>, DeviceError> {
        let mut cqs = lock(&self.fabric.cqs);
        let make = |id| Arc::new(Cq::new(CqId(id), spec, self.fabric.clone(), self.events.clone()));
        let id = cqs.insert_with(make).map_err(DeviceError::full("CQs"))?;
        cqs.get(id).cloned().map(|cq| cq as _).ok_or(DeviceError::Exhausted { what: "CQs" })
    }

    fn create_srq(&self, spec: &SrqSpec) -> Result<Arc<dyn SharedReceiveQueue>, DeviceError> {
        let mut srqs = lock(&self.fabric.srqs);
        let make = |id| {
            Arc::new(Srq {
                id: SrqId(id),
                queue: Arc::new(ReceiveQueue::new(spec.max_wr, spec.max_sge)),
                fabric: self.fabric.clone(),
                events: self.events.clone(),
                token: spec.token,
            })
        };
        let id = srqs.insert_with(make).map_err(DeviceError::full("SRQs"))?;
        srqs.get(id).cloned().map(|srq| srq as _).ok_or(DeviceError::Exhausted { what: "SRQs" })
    }

    fn create_qp(&self, spec: &QpSpec) -> Result<Arc<dyn QueuePair>, DeviceError> {
        let cq = |id: CqId| {
            let found = lock(&self.fabric.cqs).get(id.0).cloned();
            found.ok_or_else(|| DeviceError::invalid("CQ", "it is of another device"))
        };
        let (send_cq, recv_cq) = (cq(spec.send_cq)?, cq(spec.recv_cq)?);
        let srq = spec.srq.map(|id| lock(&self.fabric.srqs).get(id.0).cloned());
        let srq = srq.map(|s| s.ok_or_else(|| DeviceError::invalid("SRQ", "it is of another device"))).transpose()?;
        let mut engine = lock(&self.fabric.engine);
        let make = |number| {
            Arc::new(Qp::new(
                number,
                spec,
                send_cq,
                recv_cq,
                srq,
                self.fabric.clone(),
                self.events.clone(),
                self.closed.clone(),
            ))
        };
        let number = engine.qps.insert_with(make).map_err(DeviceError::full("QPs"))?;
        engine.qps.get(number).cloned().map(|qp| qp as _).ok_or(DeviceError::Exhausted { what: "QPs" })
    }

    fn progress(&self) {
        self.fabric.progress();
    }

    fn close(&self) {
        // The engine's lock: what is under way ends first.
        let _still = lock(&self.fabric.engine);
        self.closed.store(true, Ordering::Release);
    }
}
