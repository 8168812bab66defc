//! Addresses of a frame: who sends to whom.
//! Plain values; the route's entropy (UDP source port) is not part of them.

/// MAC and IP addresses of one packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct NetAddr {
    pub src_mac: [u8; 6],
    pub dst_mac: [u8; 6],
    pub ip: IpPair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpPair {
    V4 { src: [u8; 4], dst: [u8; 4] },
    V6 { src: [u8; 16], dst: [u8; 16] },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum IpVersion {
    V4,
    V6,
}

impl NetAddr {
    pub const fn v4(src_mac: [u8; 6], dst_mac: [u8; 6], src: [u8; 4], dst: [u8; 4]) -> Self {
        Self { src_mac, dst_mac, ip: IpPair::V4 { src, dst } }
    }

    pub const fn v6(src_mac: [u8; 6], dst_mac: [u8; 6], src: [u8; 16], dst: [u8; 16]) -> Self {
        Self { src_mac, dst_mac, ip: IpPair::V6 { src, dst } }
    }

    /// The way back.
    pub const fn reversed(&self) -> Self {
        let ip = match self.ip {
            IpPair::V4 { src, dst } => IpPair::V4 { src: dst, dst: src },
            IpPair::V6 { src, dst } => IpPair::V6 { src: dst, dst: src },
        };
        Self { src_mac: self.dst_mac, dst_mac: self.src_mac, ip }
    }
}

impl IpPair {
    pub const fn version(&self) -> IpVersion {
        match self {
            Self::V4 { .. } => IpVersion::V4,
            Self::V6 { .. } => IpVersion::V6,
        }
    }
}
