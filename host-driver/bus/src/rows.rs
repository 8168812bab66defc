//! Rows of the tables that software writes: connections, queue pairs, memory regions.
//!
//! In: the configurations that the golden model takes. Out: rows for the engine, and back again. Model and engine are configured from the
//! same values; field positions come from the register map only.
use mrnic_model::config::{ConnConfig, KeyConfig, PathConfig, QpAccess, QpConfig, Rights};
use mrnic_regs::{ring, table, Field};
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rings {
    pub sq_base: u64,
    pub sq_log2: u8,
    /// Entries of the send queue have 128 bytes: a WQE, then four SGEs.
    pub sq_lists: bool,
    pub cq_base: u64,
    pub cq_log2: u8,
    pub rq_base: u64,
    pub rq_log2: u8,
    /// Entries of the receive queue have 128 bytes: a receive, then four SGEs at byte 64.
    pub rq_lists: bool,
    /// Receives complete here; as many entries as at `cq_base`.
    pub rcq_base: u64,
}

impl Rings {
    /// Bytes of an entry of the send queue.
    pub fn sq_entry_bytes(&self) -> u64 {
        (ring::wqe::BYTES as u64) << u8::from(self.sq_lists)
    }

    /// Bytes of an entry of the receive queue.
    pub fn rq_entry_bytes(&self) -> u64 {
        recv_entry_bytes(self.rq_lists)
    }
}

/// Bytes of an entry of a receive queue, with or without lists.
pub fn recv_entry_bytes(lists: bool) -> u64 {
    if lists {
        2 * ring::wqe::BYTES as u64
    } else {
        ring::recv::BYTES as u64
    }
}

/// A shared receive queue and its ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SrqRow {
    pub pd: u16,
    pub base: u64,
    pub log2: u8,
    /// As `rq_lists` of [`Rings`].
    pub lists: bool,
}

/// Closes a row: a connection, a queue pair or a memory region.
pub fn closed(table: u8, index: u16) -> TableWrite {
    TableWrite { table, index, row: [0; 16] }
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

/// The rows that open connection `index`: its paths, then itself.
pub fn connection(index: u16, c: &ConnConfig<NetAddr>) -> Vec<TableWrite> {
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

/// The row that opens a queue pair.
pub fn qp(number: u16, q: &QpConfig, r: &Rings) -> TableWrite {
    use table::qp as f;
    RowWriter::new(f::NUMBER, number)
        .set(f::VALID, 1u8)
        .set(f::SHARED, u8::from(q.srq.is_some()))
        .set(f::SRQ, q.srq.unwrap_or(0))
        .set(f::REMOTE_WRITE, u8::from(q.access.remote_write))
        .set(f::REMOTE_READ, u8::from(q.access.remote_read))
        .set(f::REMOTE_ATOMIC, u8::from(q.access.remote_atomic))
        .set(f::CONN, q.conn)
        .set(f::PEER_QPN, q.peer_qpn)
        .set(f::LISTS, u8::from(r.sq_lists))
        .set(f::RECV_LISTS, u8::from(r.rq_lists))
        .set(f::SQ_BASE, r.sq_base)
        .set(f::SQ_LOG2, r.sq_log2)
        .set(f::CQ_LOG2, r.cq_log2)
        .set(f::CQ_BASE, r.cq_base)
        .set(f::RQ_LOG2, r.rq_log2)
        .set(f::RCQ_LOG2, r.cq_log2)
        .set(f::RQ_BASE, r.rq_base)
        .set(f::RCQ_BASE, r.rcq_base)
        .set(f::MIN_RNR_TIMER, q.min_rnr_timer)
        .set(f::RNR_RETRY, q.rnr_retry)
        .set(f::PD, q.pd)
        .set(f::TX_MSN, q.tx_start_msn)
        .set(f::MAX_RD_ATOMIC, q.max_rd_atomic)
        .set(f::RX_MSN, q.rx_start_msn)
        .set(f::MAX_DEST_RD_ATOMIC, q.max_dest_rd_atomic)
        .write
}

/// What a program names on the way to RTS, of a queue pair that is open: how often a message may find no receive (N3), and how many READs and
/// atomics may be outstanding (D1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendLimits {
    pub rnr_retry: u8,
    pub max_rd_atomic: u8,
}

/// The row that names the limits of an open queue pair.
pub fn send_limits(number: u16, limits: SendLimits) -> TableWrite {
    use table::rts as f;
    RowWriter::new(f::NUMBER, number).set(f::RNR_RETRY, limits.rnr_retry).set(f::MAX_RD_ATOMIC, limits.max_rd_atomic).write
}

/// The row that changes what an open queue pair allows its peer (D2), and its RNR timer (Q2).
pub fn access(number: u16, access: QpAccess, min_rnr_timer: u8) -> TableWrite {
    use table::access as f;
    RowWriter::new(f::NUMBER, number)
        .set(f::REMOTE_WRITE, u8::from(access.remote_write))
        .set(f::REMOTE_READ, u8::from(access.remote_read))
        .set(f::REMOTE_ATOMIC, u8::from(access.remote_atomic))
        .set(f::MIN_RNR_TIMER, min_rnr_timer)
        .write
}

/// The row that opens a shared receive queue.
pub fn srq(number: u16, srq: &SrqRow) -> TableWrite {
    use table::srq as f;
    RowWriter::new(f::NUMBER, number)
        .set(f::VALID, 1u8)
        .set(f::RECV_LISTS, u8::from(srq.lists))
        .set(f::PD, srq.pd)
        .set(f::RQ_BASE, srq.base)
        .set(f::RQ_LOG2, srq.log2)
        .write
}

/// The row of a memory region.
pub fn key(index: u32, k: &KeyConfig) -> TableWrite {
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

fn bytes<const N: usize>(number: u128) -> [u8; N] {
    let all = number.to_be_bytes();
    std::array::from_fn(|i| all[16 - N + i])
}

/// A field that may be wider than 64 bits, up to 128.
fn wide(field: Field, row: &Row) -> u128 {
    let half = |bit| u128::from(Field { bit, width: 64 }.get(row));
    half(field.bit) | half(field.bit + 64) << 64
}

/// What [`connection`] wrote; `None` closes it. `paths` are the rows of its paths.
pub fn read_connection(row: &Row, paths: &[Row; 8]) -> Option<ConnConfig<NetAddr>> {
    use table::conn as f;
    if f::VALID.get(row) == 0 {
        return None;
    }
    let mac = |high: u64, low: u64, shift| bytes::<6>(u128::from(high << shift | low));
    let src_mac = mac(f::LOCAL_MAC_HI.get(row), f::LOCAL_MAC_LO.get(row), 32);
    let dst_mac = mac(f::PEER_MAC_HI.get(row), f::PEER_MAC_LO.get(row), 16);
    let (local, peer) = (wide(f::LOCAL_IP, row), wide(f::PEER_IP, row));
    let ip = match f::IPV6.get(row) {
        0 => IpPair::V4 { src: bytes(local), dst: bytes(peer) },
        _ => IpPair::V6 { src: bytes(local), dst: bytes(peer) },
    };
    let addr = NetAddr { src_mac, dst_mac, ip };
    let mut config = ConnConfig::new(f::PEER_CONN.get(row) as u16, 1 << f::PATHS_LOG2.get(row), addr);
    config.mtu_log2 = f::MTU_LOG2.get(row) as u8;
    config.retry_cnt = f::RETRY_CNT.get(row) as u8;
    config.init_window_pkts = f::INIT_WINDOW.get(row) as u16;
    config.init_hint_mbps = f::INIT_HINT.get(row) as u32;
    config.path = paths.map(|row| {
        use table::path as f;
        PathConfig {
            enabled: f::ENABLE.get(&row) == 1,
            udp_port: f::UDP_PORT.get(&row) as u16,
            tx_start_ppsn: f::TX_START.get(&row) as u32,
            rx_start_ppsn: f::RX_START.get(&row) as u32,
        }
    });
    Some(config)
}

/// What [`qp`] wrote; `None` closes it.
pub fn read_qp(row: &Row) -> Option<(QpConfig, Rings)> {
    use table::qp as f;
    if f::VALID.get(row) == 0 {
        return None;
    }
    let bit = |field: Field| field.get(row) == 1;
    let mut config = QpConfig::new(f::CONN.get(row) as u16, f::PEER_QPN.get(row) as u32);
    config.access =
        QpAccess { remote_write: bit(f::REMOTE_WRITE), remote_read: bit(f::REMOTE_READ), remote_atomic: bit(f::REMOTE_ATOMIC) };
    config.max_rd_atomic = f::MAX_RD_ATOMIC.get(row) as u8;
    config.max_dest_rd_atomic = f::MAX_DEST_RD_ATOMIC.get(row) as u8;
    config.pd = f::PD.get(row) as u16;
    config.srq = bit(f::SHARED).then(|| f::SRQ.get(row) as u32);
    config.tx_start_msn = f::TX_MSN.get(row) as u32;
    config.rx_start_msn = f::RX_MSN.get(row) as u32;
    config.cq_log2 = f::CQ_LOG2.get(row) as u8;
    config.min_rnr_timer = f::MIN_RNR_TIMER.get(row) as u8;
    config.rnr_retry = f::RNR_RETRY.get(row) as u8;
    let rings = Rings {
        sq_base: f::SQ_BASE.get(row),
        sq_log2: f::SQ_LOG2.get(row) as u8,
        sq_lists: bit(f::LISTS),
        cq_base: f::CQ_BASE.get(row),
        cq_log2: config.cq_log2,
        rq_base: f::RQ_BASE.get(row),
        rq_log2: f::RQ_LOG2.get(row) as u8,
        rq_lists: bit(f::RECV_LISTS),
        rcq_base: f::RCQ_BASE.get(row),
    };
    Some((config, rings))
}

/// What [`send_limits`] wrote.
pub fn read_send_limits(row: &Row) -> SendLimits {
    use table::rts as f;
    SendLimits { rnr_retry: f::RNR_RETRY.get(row) as u8, max_rd_atomic: f::MAX_RD_ATOMIC.get(row) as u8 }
}

/// What [`access`] wrote.
pub fn read_access(row: &Row) -> (QpAccess, u8) {
    use table::access as f;
    let bit = |field: Field| field.get(row) == 1;
    let access =
        QpAccess { remote_write: bit(f::REMOTE_WRITE), remote_read: bit(f::REMOTE_READ), remote_atomic: bit(f::REMOTE_ATOMIC) };
    (access, f::MIN_RNR_TIMER.get(row) as u8)
}

/// What [`srq`] wrote; `None` closes it.
pub fn read_srq(row: &Row) -> Option<SrqRow> {
    use table::srq as f;
    let open = f::VALID.get(row) == 1;
    open.then(|| SrqRow {
        pd: f::PD.get(row) as u16,
        base: f::RQ_BASE.get(row),
        log2: f::RQ_LOG2.get(row) as u8,
        lists: f::RECV_LISTS.get(row) == 1,
    })
}

/// What [`key`] wrote.
pub fn read_key(row: &Row) -> KeyConfig {
    use table::key as f;
    let bit = |field: Field| field.get(row) == 1;
    KeyConfig {
        valid: bit(f::VALID),
        key_low: f::KEY_LOW.get(row) as u8,
        pd: f::PD.get(row) as u16,
        rights: Rights {
            local_write: bit(f::LOCAL_WRITE),
            remote_write: bit(f::REMOTE_WRITE),
            remote_read: bit(f::REMOTE_READ),
            remote_atomic: bit(f::REMOTE_ATOMIC),
        },
        base: f::BASE.get(row),
        length: f::LENGTH.get(row),
        dma_base: f::DMA_BASE.get(row),
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

    #[test]
    fn rows_can_be_read_back() {
        let mut v6 = [7; 16];
        v6[0] = 0xfd;
        for addr in [
            NetAddr::v4([2, 0, 0, 0, 0, 1], [0xf2, 3, 4, 5, 6, 7], [10, 0, 0, 1], [210, 0, 0, 2]),
            NetAddr::v6([2, 9, 0, 0, 0, 1], [2, 3, 4, 5, 6, 7], v6, [9; 16]),
        ] {
            let mut config = ConnConfig::new(0xfff1, 4, addr);
            config.path.iter_mut().enumerate().for_each(|(p, path)| {
                *path = PathConfig { enabled: p < 4, ..PathConfig::new(p as u8, 0xff_fff0) };
            });
            let rows = connection(3, &config);
            let paths = std::array::from_fn(|p| rows[p].row);
            assert_eq!(read_connection(&rows[8].row, &paths), Some(config));
            assert_eq!(read_connection(&closed(1, 3).row, &paths), None);
        }
        let access = QpAccess { remote_write: false, remote_read: true, remote_atomic: false };
        let limits = QpConfig { access, max_rd_atomic: 3, max_dest_rd_atomic: 0xfe, ..QpConfig::new(5, 0xabcdef) };
        let config = QpConfig { pd: 9, cq_log2: 7, tx_start_msn: 0xff_ffff, rx_start_msn: 1, ..limits };
        let (cq_base, rq_base, rcq_base) = (0x7fff_0000_1000, 0x7fff_0000_2000, 1 << 62);
        let sends = Rings { sq_base: 1 << 63, sq_log2: 6, sq_lists: true, ..Rings::default() };
        let rings = Rings { cq_base, cq_log2: 7, rq_base, rq_log2: 5, rcq_base, ..sends };
        assert_eq!(read_qp(&qp(11, &config, &rings).row), Some((config, rings)));
        assert_eq!(read_qp(&closed(3, 11).row), None);
        let rings = Rings { sq_lists: false, rq_lists: true, ..rings };
        let rights = Rights { remote_write: true, ..Rights::default() };
        let region = KeyConfig { valid: true, key_low: 0x5a, pd: 3, rights, base: 1, length: u64::MAX, dma_base: 1 << 62 };
        assert_eq!(read_key(&key(63, &region).row), region);
        let shared = QpConfig { srq: Some(3), ..config };
        assert_eq!(read_qp(&qp(11, &shared, &rings).row), Some((shared, rings)));
        for lists in [false, true] {
            let row = SrqRow { pd: 7, base: 1 << 61, log2: 9, lists };
            assert_eq!((srq(3, &row).table, read_srq(&srq(3, &row).row), read_srq(&closed(7, 3).row)), (7, Some(row), None));
        }
        let written = super::access(11, access, 31);
        assert_eq!((written.table, written.index, read_access(&written.row)), (6, 11, (access, 31)));
        let limits = SendLimits { rnr_retry: 6, max_rd_atomic: 0xfd };
        let write = send_limits(11, limits);
        assert_eq!((write.table, write.index, read_send_limits(&write.row)), (5, 11, limits));
    }
}
