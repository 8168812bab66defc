//! What software sets up on a node of a scenario.
//!
//! In: the configurations that the golden model takes. Out: table rows for the engine, in the order in which they are to be written.
use mrnic_host_bus::rows;
use mrnic_lockstep::{HostRing, HostRings, RowChange, RowWrite};
use mrnic_model::config::{ConnConfig, KeyConfig, QpConfig};
use mrnic_nic::config::BuildConfig;
use mrnic_regs::table;
use mrnic_wire::NetAddr;

pub use mrnic_host_bus::rows::{Rings, Row, SrqRow, TableWrite};

/// The same rings, for the checker.
pub fn host_rings(r: &Rings) -> HostRings {
    HostRings {
        sq_base: r.sq_base,
        sq_log2: r.sq_log2,
        sq_lists: r.sq_lists,
        cq_base: r.cq_base,
        rq_base: r.rq_base,
        rq_log2: r.rq_log2,
        rq_lists: r.rq_lists,
        rcq_base: r.rcq_base,
    }
}

/// Reads what software writes, for the checker.
#[derive(Debug, Clone)]
pub struct RowReader {
    /// The rows of the paths of each connection.
    paths: Vec<[Row; 8]>,
    recvs_per_qp: u32,
}

impl RowReader {
    /// For a NIC of this build.
    pub fn new(build: &BuildConfig) -> Self {
        Self { paths: vec![[[0; 16]; 8]; build.conns], recvs_per_qp: build.recvs_per_qp as u32 }
    }

    /// What a write changes.
    pub fn read(&mut self, write: &TableWrite) -> RowWrite {
        let (table, index, row) = (write.table, write.index, &write.row);
        let change = match table {
            table::conn::NUMBER => {
                let paths = self.paths.get(usize::from(index)).copied().unwrap_or([[0; 16]; 8]);
                rows::read_connection(row, &paths)
                    .map_or(RowChange::CloseConnection, |c| RowChange::OpenConnection(Box::new(c)))
            }
            table::path::NUMBER => {
                if let Some(paths) = self.paths.get_mut(usize::from(index / 8)) {
                    paths[usize::from(index % 8)] = *row;
                }
                RowChange::Nothing
            }
            table::qp::NUMBER => rows::read_qp(row).map_or(RowChange::CloseQp, |(mut config, rings)| {
                // Q1: what the NIC keeps, however many software posts
                config.recv_depth = self.recvs_per_qp;
                RowChange::OpenQp(Box::new((config, host_rings(&rings))))
            }),
            table::key::NUMBER => RowChange::Key(rows::read_key(row)),
            table::rts::NUMBER => {
                let limits = rows::read_send_limits(row);
                RowChange::SendLimits { rnr_retry: limits.rnr_retry, max_rd_atomic: limits.max_rd_atomic }
            }
            table::srq::NUMBER => rows::read_srq(row).map_or(RowChange::CloseSrq, |srq| RowChange::OpenSrq {
                pd: srq.pd,
                ring: HostRing { base: srq.base, log2: srq.log2, lists: srq.lists },
            }),
            table::access::NUMBER => {
                let (access, min_rnr_timer) = rows::read_access(row);
                RowChange::Access(access, min_rnr_timer)
            }
            _ => RowChange::Nothing,
        };
        RowWrite { table, index, change }
    }
}

/// Everything software sets up on one node.
#[derive(Debug, Clone, Default)]
pub struct NodeSetup {
    /// Connections by their index.
    pub connections: Vec<(u16, ConnConfig<NetAddr>)>,
    /// Shared receive queues by their number.
    pub srqs: Vec<(u16, SrqRow)>,
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
        w.extend(self.srqs.iter().map(|(n, srq)| rows::srq(*n, srq)));
        w.extend(self.qps.iter().map(|(n, q, r)| rows::qp(*n, q, r)));
        w
    }
}
