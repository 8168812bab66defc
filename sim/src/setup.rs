//! The tables that software writes to open connections, queue pairs and memory regions.
//!
//! In: the configurations that the golden model takes. Out: table rows for the engine. Guarantees: model and engine are
//! configured from the same values; field positions come from the register map only.
use mrnic_model::config::{ConnConfig, KeyConfig, QpConfig};
use mrnic_regs::{table, Field};
use mrnic_wire::{IpPair, NetAddr};

/// A row of 16 words.
pub type Row = [u32; 16];

/// One write to a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableWrite {
    pub table: u8,
    pub index: u16,
    pub row: Row,
}

/// Rings of a queue pair in host memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rings {
    pub sq_base: u64,
    pub sq_log2: u8,
    pub cq_base: u64,
    pub cq_log2: u8,
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

struct RowWriter {
    write: TableWrite,
}

impl RowWriter {
    fn new(table: u8, index: u16) -> Self {
        Self { write: TableWrite { table, index, row: [0; 16] } }
    }

    fn set(mut self, field: Field, value: impl Into<u128>) -> Self {
        field.set(&mut self.write.row, value.into());
        self
    }
}

fn mac(bytes: [u8; 6]) -> u64 {
    bytes.iter().fold(0, |n, b| n << 8 | u64::from(*b))
}

fn connection(index: u16, c: &ConnConfig<NetAddr>) -> Vec<TableWrite> {
    let mut writes = Vec::new();
    for (p, path) in c.path.iter().enumerate() {
        use table::path as f;
        let enabled = path.enabled && p < usize::from(c.paths);
        writes.push(
            RowWriter::new(f::NUMBER, index * 8 + p as u16)
                .set(f::ENABLE, u8::from(enabled))
                .set(f::UDP_PORT, path.udp_port)
                .set(f::TX_START, path.tx_start_ppsn)
                .set(f::RX_START, path.rx_start_ppsn)
                .write,
        );
    }
    use table::conn as f;
    let (local, peer) = (mac(c.addr.src_mac), mac(c.addr.dst_mac));
    let (ipv6, local_ip, peer_ip) = match c.addr.ip {
        IpPair::V4 { src, dst } => (0u8, u128::from(u32::from_be_bytes(src)), u128::from(u32::from_be_bytes(dst))),
        IpPair::V6 { src, dst } => (1, u128::from_be_bytes(src), u128::from_be_bytes(dst)),
    };
    writes.push(
        RowWriter::new(f::NUMBER, index)
            .set(f::VALID, 1u8)
            .set(f::IPV6, ipv6)
            .set(f::PATHS_LOG2, u128::from(c.paths.ilog2()))
            .set(f::MTU_LOG2, c.mtu_log2)
            .set(f::RETRY_CNT, c.retry_cnt)
            .set(f::PEER_CONN, c.peer_conn)
            .set(f::INIT_WINDOW, c.init_window_pkts)
            .set(f::INIT_HINT, c.init_hint_mbps)
            .set(f::LOCAL_MAC_LO, local & 0xFFFF_FFFF)
            .set(f::LOCAL_MAC_HI, local >> 32)
            .set(f::PEER_MAC_LO, peer & 0xFFFF)
            .set(f::PEER_MAC_HI, peer >> 16)
            .set(f::LOCAL_IP, local_ip)
            .set(f::PEER_IP, peer_ip)
            .write,
    );
    writes
}

fn qp(number: u16, q: &QpConfig, r: &Rings) -> TableWrite {
    use table::qp as f;
    RowWriter::new(f::NUMBER, number)
        .set(f::VALID, 1u8)
        .set(f::CONN, q.conn)
        .set(f::PEER_QPN, q.peer_qpn)
        .set(f::SQ_BASE, r.sq_base)
        .set(f::SQ_LOG2, r.sq_log2)
        .set(f::CQ_LOG2, r.cq_log2)
        .set(f::CQ_BASE, r.cq_base)
        .set(f::PD, q.pd)
        .set(f::TX_MSN, q.tx_start_msn)
        .set(f::RX_MSN, q.rx_start_msn)
        .write
}

fn key(index: u32, k: &KeyConfig) -> TableWrite {
    use table::key as f;
    RowWriter::new(f::NUMBER, index as u16)
        .set(f::VALID, u8::from(k.valid))
        .set(f::LOCAL_WRITE, u8::from(k.rights.local_write))
        .set(f::REMOTE_WRITE, u8::from(k.rights.remote_write))
        .set(f::REMOTE_READ, u8::from(k.rights.remote_read))
        .set(f::REMOTE_ATOMIC, u8::from(k.rights.remote_atomic))
        .set(f::KEY_LOW, k.key_low)
        .set(f::PD, k.pd)
        .set(f::BASE, k.base)
        .set(f::LENGTH, k.length)
        .set(f::DMA_BASE, k.dma_base)
        .write
}

impl NodeSetup {
    /// All writes, in the order in which they are to be made.
    pub fn writes(&self) -> Vec<TableWrite> {
        let mut w: Vec<_> = self.keys.iter().map(|(i, k)| key(*i, k)).collect();
        w.extend(self.connections.iter().flat_map(|(i, c)| connection(*i, c)));
        w.extend(self.qps.iter().map(|(n, q, r)| qp(*n, q, r)));
        w
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_hold_what_was_configured() {
        let addr = NetAddr::v4([2, 0, 0, 0, 0, 1], [2, 3, 4, 5, 6, 7], [10, 0, 0, 1], [10, 0, 0, 2]);
        let writes = connection(3, &ConnConfig::new(9, 4, addr));
        assert_eq!(writes.len(), 9, "eight path rows, then the connection");
        assert_eq!(table::path::ENABLE.get(&writes[3].row), 1);
        assert_eq!(table::path::ENABLE.get(&writes[4].row), 0);
        let row = &writes[8].row;
        assert_eq!(writes[8].index, 3);
        assert_eq!(table::conn::PEER_CONN.get(row), 9);
        assert_eq!(table::conn::PATHS_LOG2.get(row), 2);
        assert_eq!(table::conn::LOCAL_IP.get(row), 0x0A00_0001);
        assert_eq!(table::conn::PEER_MAC_HI.get(row) << 16 | table::conn::PEER_MAC_LO.get(row), 0x0203_0405_0607);
    }
}
