//! An open model device.
//!
//! In: control calls. Out: objects on the NIC that all opens of the process share; closing ends this open's QPs.
use super::engine::{Engine, Shared};
use super::link::Link;
use super::qp::Qp;
use super::receive::Srq;
use crate::completions::Cq;
use crate::device::*;
use crate::table::TableFull;
use crate::verbs::lock;
use mrnic_model::{key_of, KeyConfig, Rights, SrqConfig};
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

    fn gid(link: &Link) -> [u8; 16] {
        match link.endpoint().ip {
            std::net::IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            std::net::IpAddr::V6(ip) => ip.octets(),
        }
    }
}

fn full(what: &'static str) -> impl Fn(TableFull) -> DeviceError {
    move |_| DeviceError::Exhausted { what }
}

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
        let slot = &mut self.regions[index as usize];
        slot.0 = slot.0.wrapping_add(1);
        let low = slot.0;
        if let Err(error) = self.nic.register_key(index, &key_config(region, low)) {
            self.free_keys.push_front(index);
            return Err(DeviceError::invalid("memory region", error.to_string()));
        }
        self.regions[index as usize].1 = Some(*region);
        self.memory.add(region.addr, region.length_bytes);
        let key = key_of(index, low);
        Ok(MrKeys { lkey: key, rkey: key })
    }

    /// The region of a key, if it is registered.
    fn region(&self, key: u32) -> Result<MemoryRegion, DeviceError> {
        let slot = self.regions.get((key >> 8) as usize).filter(|slot| slot.0 == key as u8);
        slot.and_then(|slot| slot.1).ok_or_else(|| DeviceError::invalid("memory region", "its key is not registered"))
    }

    fn replace(&mut self, key: u32, region: &MemoryRegion) -> Result<(), DeviceError> {
        let old = self.region(key)?;
        let refused = |error: mrnic_model::ConfigError| DeviceError::invalid("memory region", error.to_string());
        self.nic.register_key(key >> 8, &key_config(region, key as u8)).map_err(refused)?;
        self.memory.remove(old.addr, old.length_bytes);
        self.memory.add(region.addr, region.length_bytes);
        self.regions[(key >> 8) as usize].1 = Some(*region);
        Ok(())
    }

    fn unregister(&mut self, key: u32) -> Result<(), DeviceError> {
        let region = self.region(key)?;
        self.unregister_range(key >> 8, region.addr, region.length_bytes);
        Ok(())
    }

    /// Takes a key back; its memory is no longer touched.
    pub fn unregister_range(&mut self, index: u32, addr: u64, length: u64) {
        // The index is one that was given out.
        let _removed = self.nic.register_key(index, &KeyConfig::default());
        self.memory.remove(addr, length);
        if let Some(slot) = self.regions.get_mut(index as usize) {
            slot.1 = None;
            self.free_keys.push_back(index);
        }
    }
}

impl Device for ModelDevice {
    fn limits(&self) -> &Limits {
        &self.limits
    }

    fn query_port(&self, port: u8) -> Result<PortStatus, DeviceError> {
        self.limits.check_port(port)?;
        Ok(PortStatus {
            state: LinkState::Active,
            max_mtu: Mtu::B4096,
            active_mtu: Mtu::B4096,
            gids: 1,
            max_message_bytes: 1 << 30,
            speed_mbps: SPEED_MBPS,
        })
    }

    /// The NIC's IPv4 address.
    fn query_gid(&self, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        self.limits.check_port(port)?;
        if index != 0 {
            return Err(DeviceError::invalid("GID index", format!("{index}: the port has 1")));
        }
        let gid = Self::gid(&self.shared.engine().link);
        Ok(GidEntry { gid, index, port, interface: 0 })
    }

    fn alloc_pd(&self) -> Result<PdId, DeviceError> {
        lock(&self.shared.pds).insert_with(|_| ()).map(PdId).map_err(full("PDs"))
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
        let id = cqs.insert_with(make).map_err(full("CQs"))?;
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
