//! Addresses of the NICs of a session.
//!
//! In: the place of a NIC, counted from 0. Out: its MAC and IPv4 address; and back. 10.77.0.0/16: place p has 10.77.0.(p + 1).
use std::net::Ipv4Addr;

/// NICs that a session has at most.
pub const PLACES: usize = 8;

const NET: [u8; 2] = [10, 77];
const MAC: [u8; 4] = [0x02, 0x4d, 0x52, 0];

pub fn ip(place: u16) -> Ipv4Addr {
    let [high, low] = (place + 1).to_be_bytes();
    Ipv4Addr::new(NET[0], NET[1], high, low)
}

pub fn mac(place: u16) -> [u8; 6] {
    let [high, low] = (place + 1).to_be_bytes();
    [MAC[0], MAC[1], MAC[2], MAC[3], high, low]
}

/// The place to which a frame is addressed.
pub fn destination(frame: &[u8]) -> Option<usize> {
    let mac = frame.get(..6)?;
    let number = usize::from(u16::from_be_bytes([mac[4], mac[5]]));
    (mac[..4] == MAC && number > 0).then(|| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_finds_its_place() {
        for place in [0, 1, 7, 300] {
            let frame = [&mac(place)[..], &[0; 60]].concat();
            assert_eq!(destination(&frame), Some(usize::from(place)));
        }
        assert_eq!(ip(0).octets(), [10, 77, 0, 1]);
        assert_eq!(destination(&[0xff; 60]), None);
        assert_eq!(destination(&[2, 0x4d, 0x52, 0, 0]), None);
        assert_eq!(destination(&[2, 0x4d, 0x52, 0, 0, 0, 1]), None);
    }
}
