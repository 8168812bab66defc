//! What software sets up on a node of a scenario.
//!
//! In: the configurations that the golden model takes. Out: table rows for the engine, in the order in which they are to be written.
use mrnic_host_bus::rows;
use mrnic_lockstep::HostRings;
use mrnic_model::config::{ConnConfig, KeyConfig, QpConfig};
use mrnic_wire::NetAddr;

pub use mrnic_host_bus::rows::{Rings, Row, TableWrite};

/// The same rings, for the checker.
pub fn host_rings(r: &Rings) -> HostRings {
    HostRings {
        sq_base: r.sq_base,
        sq_log2: r.sq_log2,
        cq_base: r.cq_base,
        rq_base: r.rq_base,
        rq_log2: r.rq_log2,
        rcq_base: r.rcq_base,
    }
}

/// Everything software sets up on one node.
#[derive(Debug, Clone, Default)]
pub struct NodeSetup {
    /// Connections by their index.
    pub connections: Vec<(u16, ConnConfig<NetAddr>)>,
    /// Queue pairs by their number.
    pub qps: Vec<(u16, QpConfig, Rings)>,
    /// Memory regions by their index.
    pub keys: Vec<(u32, KeyConfig)>,
}

impl NodeSetup {
    /// All writes, in the order in which they are to be made.
    pub fn writes(&self) -> Vec<TableWrite> {
        let mut w: Vec<_> = self.keys.iter().map(|(i, k)| rows::key(*i, k)).collect();
        w.extend(self.connections.iter().flat_map(|(i, c)| rows::connection(*i, c)));
        w.extend(self.qps.iter().map(|(n, q, r)| rows::qp(*n, q, r)));
        w
    }
}
