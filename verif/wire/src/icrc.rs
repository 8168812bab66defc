//! Invariant CRC of RoCEv2: CRC-32 of Ethernet over everything that no switch changes.
//! In: the bytes from the IP header to the last pad byte. Out: the CRC, sent least significant byte first.
//! The fields a switch may change are read as ones, as the layout's masks say.

use crate::open_mr_0::{Ipv4, Ipv6, Udp, ICRC_SEED_BYTES};
use crate::IpVersion;
use crc32fast::Hasher;

/// Bits that count as ones, per header.
#[derive(Debug)]
pub struct Masks {
    pub ipv4: [u8; Ipv4::LEN],
    pub ipv6: [u8; Ipv6::LEN],
    pub udp: [u8; Udp::LEN],
    /// First common header (BTH).
    pub common: &'static [u8],
}

/// Room for the longest masked part: IPv6, UDP and a first common header of at most 16 bytes.
const MASKED_MAX: usize = Ipv6::LEN + Udp::LEN + 16;

/// ICRC of the bytes from the first byte of the IP header to the last pad byte.
///
/// Bytes beyond those present are not masked, so a short slice gives a number and no panic.
pub fn icrc(masks: &Masks, ip: IpVersion, ip_to_pad: &[u8]) -> u32 {
    let ip_mask: &[u8] = match ip {
        IpVersion::V4 => &masks.ipv4,
        IpVersion::V6 => &masks.ipv6,
    };
    let mask = ip_mask.iter().chain(&masks.udp).chain(masks.common);
    let mut head = [0; MASKED_MAX];
    let mut len = 0;
    for ((out, byte), ones) in head.iter_mut().zip(ip_to_pad).zip(mask) {
        *out = byte | ones;
        len += 1;
    }
    let mut hasher = Hasher::new();
    hasher.update(&[0xFF; ICRC_SEED_BYTES]);
    hasher.update(&head[..len]);
    hasher.update(&ip_to_pad[len..]);
    hasher.finalize()
}

/// State of the CRC register (reflected, before the final inversion) after the seed bytes: where hardware starts.
pub const fn seeded_state() -> u32 {
    let mut state = u32::MAX;
    let mut i = 0;
    while i < ICRC_SEED_BYTES {
        state = advance_byte(state, 0xFF);
        i += 1;
    }
    state
}

/// CRC register after one more byte, least significant bit first.
pub(crate) const fn advance_byte(state: u32, byte: u8) -> u32 {
    let mut state = state ^ byte as u32;
    let mut bit = 0;
    while bit < 8 {
        state = if state & 1 == 1 { state >> 1 ^ REFLECTED } else { state >> 1 };
        bit += 1;
    }
    state
}

/// The layout's polynomial with its bits in wire order.
const REFLECTED: u32 = crate::open_mr_0::ICRC_POLYNOMIAL.reverse_bits();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeded_state_is_the_register_after_the_seed() {
        let mut hasher = Hasher::new();
        hasher.update(&[0xFF; ICRC_SEED_BYTES]);
        assert_eq!(seeded_state(), !hasher.finalize());
    }
}
