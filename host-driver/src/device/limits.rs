//! What a device can do, and its ports.
//!
//! In: nothing. Out: plain data for queries and for the argument checks of [`crate::rules`].

use super::{DeviceError, SendOp};
use std::net::IpAddr;

/// Path MTU of RoCE: a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mtu {
    B256 = 1,
    B512 = 2,
    B1024 = 3,
    B2048 = 4,
    B4096 = 5,
}

impl Mtu {
    /// From the number in `enum ibv_mtu`.
    pub fn from_code(code: u32) -> Option<Mtu> {
        [Mtu::B256, Mtu::B512, Mtu::B1024, Mtu::B2048, Mtu::B4096].into_iter().find(|m| *m as u32 == code)
    }

    pub fn bytes(self) -> u32 {
        128 << self as u32
    }
}

/// The send operations that a device carries out. Others are refused when they are posted, or when a QP asks for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operations {
    pub send: bool,
    pub write: bool,
    /// With SEND and WRITE.
    pub immediate: bool,
    pub read: bool,
    pub atomic: bool,
}

impl Operations {
    pub const ALL: Operations = Operations { send: true, write: true, immediate: true, read: true, atomic: true };

    #[inline]
    pub fn has(&self, op: SendOp) -> bool {
        match op {
            SendOp::Send { imm } => self.send && (imm.is_none() || self.immediate),
            SendOp::Write { imm, .. } => self.write && (imm.is_none() || self.immediate),
            SendOp::Read { .. } => self.read,
            SendOp::CompareSwap { .. } | SendOp::FetchAdd { .. } => self.atomic,
        }
    }
}

/// What a device can do at most.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// At most 63 bytes.
    pub firmware: String,
    pub guid: u64,
    pub vendor_id: u32,
    pub part_id: u32,
    pub hardware_version: u32,
    pub max_qp: u32,
    pub max_qp_wr: u32,
    /// Of every request and receive; at most [`Limits::SGES_MAX`].
    pub max_sge: u32,
    /// Of SENDs and WRITEs, which may have more.
    pub max_send_sge: u32,
    /// At most [`Limits::INLINE_BYTES_MAX`].
    pub max_inline_bytes: u32,
    pub max_cq: u32,
    pub max_cqe: u32,
    pub max_mr: u32,
    pub max_mr_bytes: u64,
    pub max_pd: u32,
    pub max_srq: u32,
    pub max_srq_wr: u32,
    /// RDMA READs and atomics outstanding from one QP, and to one QP.
    pub max_rd_atomic: u32,
    /// All outstanding to the device.
    pub max_rd_atomic_total: u32,
    pub operations: Operations,
    pub ports: u8,
}

impl Limits {
    /// Whether there is such a port; they count from 1.
    pub fn check_port(&self, port: u8) -> Result<(), DeviceError> {
        if port == 0 || port > self.ports {
            return Err(DeviceError::invalid("port", format!("{port}: ports are 1 to {}", self.ports)));
        }
        Ok(())
    }

    /// Largest `max_sge` that the library's own buffers hold.
    pub const SGES_MAX: usize = 32;
    /// Largest `max_inline_bytes` that the library's own buffers hold.
    pub const INLINE_BYTES_MAX: usize = 512;
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkState {
    Down,
    Active,
}

/// A port as it is now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortStatus {
    pub state: LinkState,
    pub max_mtu: Mtu,
    pub active_mtu: Mtu,
    pub gids: u32,
    pub max_message_bytes: u32,
    /// Megabits a second, for the width and speed that programs print.
    pub speed_mbps: u32,
}

impl PortStatus {
    /// A port with link, of the largest MTU and message.
    pub fn active(gids: u32, speed_mbps: u32) -> PortStatus {
        let (max_mtu, active_mtu) = (Mtu::B4096, Mtu::B4096);
        PortStatus { state: LinkState::Active, max_mtu, active_mtu, gids, max_message_bytes: 1 << 30, speed_mbps }
    }
}

/// One address of a port: RoCEv2 always.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GidEntry {
    pub gid: [u8; 16],
    pub index: u32,
    pub port: u8,
    /// Index of the host's network interface, 0 if there is none.
    pub interface: u32,
}

impl GidEntry {
    /// Entry `index` of a port that has one GID: the NIC's address, IPv4 mapped.
    pub fn only(ip: IpAddr, port: u8, index: u32) -> Result<GidEntry, DeviceError> {
        if index != 0 {
            return Err(DeviceError::invalid("GID index", format!("{index}: the port has 1")));
        }
        let gid = match ip {
            IpAddr::V4(ip) => ip.to_ipv6_mapped().octets(),
            IpAddr::V6(ip) => ip.octets(),
        };
        Ok(GidEntry { gid, index, port, interface: 0 })
    }
}
