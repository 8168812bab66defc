//! What rx_parser needs of the wire layout: where the headers of a frame stand, which opcodes there are, which bytes are masked.
//! In: mrnic_wire's tables. Out: numbers for `new()` and for generated text. Guarantees: no other file of this folder knows a position.
use mrnic_wire::tables::{FieldInfo, FieldKind, LayoutInfo};
use mrnic_wire::{OpenMr0, Profile};

/// A frame's outer form: VLAN tag, IPv6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    pub vlan: bool,
    pub ipv6: bool,
}

/// All forms; the index is vlan + 2 * ipv6.
pub const FORMS: [Form; 4] = [
    Form { vlan: false, ipv6: false },
    Form { vlan: true, ipv6: false },
    Form { vlan: false, ipv6: true },
    Form { vlan: true, ipv6: true },
];

/// The layout all blocks here are built for.
pub fn layout() -> &'static LayoutInfo {
    OpenMr0::LAYOUT
}

/// A constant of the layout; every name used here is one that the layout loader insists on.
pub fn constant(name: &str) -> u64 {
    layout().constants.iter().find(|c| c.name == name).map_or(0, |c| c.value)
}

pub fn opcode_value(name: &str) -> u64 {
    layout().opcode(name).map_or(0, |o| u64::from(o.value))
}

/// Mask of a flag of AKH.flags.
pub fn flag_mask(name: &str) -> u64 {
    layout().flags.iter().find(|f| f.name == name).map_or(0, |f| 1 << f.bit)
}

pub fn header_bytes(name: &str) -> usize {
    layout().header(name).map_or(0, |h| h.len_bytes)
}

/// A field by its name; the generator of the wire crate has checked that those used here exist.
pub fn field(header: &str, name: &str) -> FieldInfo {
    *layout().field(header, name).unwrap_or_else(|| panic!("layout {} has no field {header}.{name}", layout().profile))
}

/// First byte of a header of an opcode, from the start of the UDP payload.
pub fn header_at(opcode: &str, header: &str) -> usize {
    layout().offset(opcode, header).map_or(0, |o| o.udp_payload_bytes)
}

/// Bytes of all headers of an opcode.
pub fn opcode_header_bytes(opcode: &str) -> usize {
    layout().opcode(opcode).map_or(0, |o| o.header_bytes)
}

/// First byte of the payload in a frame.
pub fn payload_at(form: Form, opcode: &str, imm: bool) -> usize {
    let when_imm = layout().opcode(opcode).and_then(|o| o.when_imm).map_or(0, header_bytes);
    form.transport_at() + opcode_header_bytes(opcode) + if imm { when_imm } else { 0 }
}

/// Fields of a header with the only value they may have.
pub fn expected(header: &str) -> Vec<(FieldInfo, u64)> {
    let fields = layout().header(header).map_or(&[][..], |h| h.fields);
    let expected = |f: &FieldInfo| match f.kind {
        FieldKind::Expect { value } => Some((*f, value)),
        _ => None,
    };
    fields.iter().filter_map(expected).collect()
}

impl Form {
    pub fn ip(self) -> &'static str {
        if self.ipv6 {
            "IPV6"
        } else {
            "IPV4"
        }
    }

    /// First byte of the IP header in the frame.
    pub fn ip_at(self) -> usize {
        header_bytes("ETH") + if self.vlan { header_bytes("VLAN") } else { 0 }
    }

    pub fn udp_at(self) -> usize {
        self.ip_at() + header_bytes(self.ip())
    }

    /// First byte of the common headers.
    pub fn transport_at(self) -> usize {
        self.udp_at() + header_bytes("UDP")
    }

    /// First byte of the IP header's length field in the frame.
    pub fn length_at(self) -> usize {
        let name = if self.ipv6 { "payload_length" } else { "total_length" };
        self.ip_at() + field(self.ip(), name).bit_offset / 8
    }

    /// What the length field does not count of the IP packet.
    pub fn uncounted_bytes(self) -> usize {
        if self.ipv6 {
            header_bytes("IPV6")
        } else {
            0
        }
    }

    /// The frame's first bytes as the CRC reads them: (bits that stay, bits that are set).
    pub fn crc_masks(self) -> (Vec<u8>, Vec<u8>) {
        let eth = header_bytes("ETH");
        let mut ones = vec![0xFF; eth];
        let mut keep = vec![0; eth];
        if self.vlan {
            // Four bytes that lead the register from its start value back to it.
            let state = mrnic_wire::icrc::seeded_state();
            let tag = state ^ mrnic_widgets::crc32_advance(state, -32);
            ones.extend(tag.to_le_bytes());
            keep.extend([0; 4]);
        }
        for header in [self.ip(), "UDP", layout().common[0]] {
            let start = 8 * ones.len();
            ones.resize(ones.len() + header_bytes(header), 0);
            keep.resize(ones.len(), 0xFF);
            let masked = layout().icrc.masked.iter().filter_map(|m| m.split_once('.')).filter(|(h, _)| *h == header);
            for f in masked.filter_map(|(h, f)| layout().field(h, f)) {
                for bit in start + f.bit_offset..start + f.bit_offset + f.width {
                    ones[bit / 8] |= 0x80 >> (bit % 8);
                }
            }
        }
        (keep, ones)
    }
}

/// CRC register before the first byte of a frame whose Ethernet header is read as ones.
pub fn crc_initial() -> u32 {
    mrnic_widgets::crc32_before(mrnic_wire::icrc::seeded_state(), &vec![0xFF; header_bytes("ETH")])
}

/// CRC register after any data and its own CRC.
pub fn crc_residue() -> u32 {
    let state = u32::MAX;
    mrnic_widgets::crc32_append(state, &(!state).to_le_bytes())
}

/// Longest part of a frame that holds headers this receiver reads.
pub fn longest_headers() -> usize {
    FORMS[3].transport_at() + opcode_header_bytes("ACK").max(opcode_header_bytes("WRITE"))
}
