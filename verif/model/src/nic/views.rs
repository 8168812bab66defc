//! State views, for comparison field by field and for reports. Read only.

use super::Nic;
use crate::error::StepError;
use crate::rx::hint::{ConnUse, RateHint};
use crate::rx::message::RecvStream;
use crate::rx::path::RxPath;
use crate::tx::conn::TxConn;
use crate::tx::messages::SendQueue;
use crate::tx::path::TxPath;
use crate::{CongestionControl, Profile};

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// A sending path (section 5).
    pub fn tx_path(&self, conn: u16, path: u8) -> Result<&TxPath<C::Path>, StepError> {
        self.connection(conn)?.tx_paths.get(path as usize).ok_or(StepError::NoSuchPath { conn, path })
    }

    /// A sending connection (section 5).
    pub fn tx_conn(&self, conn: u16) -> Result<&TxConn, StepError> {
        Ok(&self.connection(conn)?.tx)
    }

    /// D8: the path of a connection that watches over awaited responses, if one does.
    pub fn watching_path(&self, conn: u16) -> Option<u8> {
        self.connection(conn).ok().and_then(|connection| connection.watching_path())
    }

    /// A receiving path (section 4).
    pub fn rx_path(&self, conn: u16, path: u8) -> Result<&RxPath, StepError> {
        self.connection(conn)?.rx_paths.get(path as usize).ok_or(StepError::NoSuchPath { conn, path })
    }

    /// The receiving stream of a QP: oldest incomplete MSN and message contexts (R7).
    pub fn recv_stream(&self, qpn: u32) -> Result<&RecvStream, StepError> {
        Ok(&self.qp(qpn)?.recv)
    }

    /// The sending stream of a QP: messages without a completion (section 9).
    pub fn send_queue(&self, qpn: u32) -> Result<&SendQueue, StepError> {
        Ok(&self.qp(qpn)?.send)
    }

    /// The rate hint of the NIC and what it knows of a connection (R11).
    pub fn rate_hint(&self, conn: u16) -> Result<(&RateHint, &ConnUse), StepError> {
        Ok((&self.hint, &self.connection(conn)?.rx_use))
    }

    /// R9: UDP source port of acknowledgments that travel by a path: that of the peer's last packet by it.
    pub fn reply_port(&self, conn: u16, via: u8) -> Result<u16, StepError> {
        Ok(self.rx_path(conn, via)?.reply_port)
    }

    /// Packets that await [`Nic::step_retire`].
    pub fn retiring(&self) -> impl Iterator<Item = (u16, u8, u32)> + '_ {
        self.retiring.keys().copied()
    }

    /// D3: places of `qpn` that requests of the peer hold.
    pub fn requests_held(&self, qpn: u32) -> Result<usize, StepError> {
        Ok(self.qp(qpn)?.requests.live())
    }

    /// SGE lists that are held.
    pub fn sge_lists(&self) -> usize {
        self.sges.live()
    }

    /// Outstanding packets in the pool.
    pub fn pool_packets(&self) -> usize {
        self.pool.live_packets()
    }
}
