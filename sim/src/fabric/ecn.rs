//! ECN marking of a frame, as a switch does it.
//!
//! In: a frame. Out: the frame with ECN = CE and a correct IPv4 header checksum. Guarantees: frames that are not
//! ECN-capable stay as they are.
use etherparse::{EtherType, Ethernet2HeaderSlice, Ipv4Header, Ipv6Header};

const CE: u8 = 3;

/// Marks `frame`; false if it is not ECN-capable.
pub fn mark(frame: &mut [u8]) -> bool {
    let Ok(eth) = Ethernet2HeaderSlice::from_slice(frame) else { return false };
    let at = eth.slice().len();
    match eth.ether_type() {
        EtherType::IPV4 => {
            let Ok((mut ip, _)) = Ipv4Header::from_slice(&frame[at..]) else { return false };
            if ip.ecn.value() == 0 {
                return false;
            }
            let Ok(ce) = CE.try_into() else { return false };
            ip.ecn = ce;
            ip.header_checksum = ip.calc_header_checksum();
            let bytes = ip.to_bytes();
            frame[at..at + bytes.len()].copy_from_slice(&bytes);
            true
        }
        EtherType::IPV6 => {
            let Ok((mut ip, _)) = Ipv6Header::from_slice(&frame[at..]) else { return false };
            if ip.traffic_class & 3 == 0 {
                return false;
            }
            ip.traffic_class |= CE;
            let bytes = ip.to_bytes();
            frame[at..at + bytes.len()].copy_from_slice(&bytes);
            true
        }
        _ => false,
    }
}
