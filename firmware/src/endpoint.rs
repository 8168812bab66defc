//! Who a NIC is: its MAC and IP address.
//! In: addresses from configuration or from a packet. Out: ordered endpoints, and the address pair of a frame between two of them.

use core::net::IpAddr;

use mrnic_wire::{IpPair, NetAddr};

/// One end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Endpoint {
    pub ip: IpAddr,
    pub mac: [u8; 6],
}

impl Endpoint {
    /// The sender of a received packet.
    pub fn source(net: &NetAddr) -> Self {
        let ip = match net.ip {
            IpPair::V4 { src, .. } => IpAddr::from(src),
            IpPair::V6 { src, .. } => IpAddr::from(src),
        };
        Endpoint { ip, mac: net.src_mac }
    }

    /// Addresses of a frame from here to `peer`; none if one end is IPv4 and the other IPv6.
    pub fn to(&self, peer: &Endpoint) -> Option<NetAddr> {
        match (self.ip, peer.ip) {
            (IpAddr::V4(src), IpAddr::V4(dst)) => Some(NetAddr::v4(self.mac, peer.mac, src.octets(), dst.octets())),
            (IpAddr::V6(src), IpAddr::V6(dst)) => Some(NetAddr::v6(self.mac, peer.mac, src.octets(), dst.octets())),
            _ => None,
        }
    }
}
