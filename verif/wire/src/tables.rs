//! The layout as constant data, for code that builds hardware, tools or documents from it.
//! Bit 0 of a header is the most significant bit of its first byte; bytes come in wire order.

/// A field of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldInfo {
    pub header: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    /// Offset of the field's most significant bit in its header.
    pub bit_offset: usize,
    /// Width in bits.
    pub width: usize,
    pub kind: FieldKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FieldKind {
    /// A value of the packet; `send` is what this implementation sends by default.
    Number { send: u64 },
    /// Whole bytes: an address or a vector.
    Bytes,
    /// Always this value; a packet with another one is dropped.
    Expect { value: u64 },
    /// Sent as zero, ignored by the receiver.
    Reserved,
}

impl FieldInfo {
    /// First and last byte the field touches, in its header.
    pub const fn byte_range(&self) -> (usize, usize) {
        (self.bit_offset / 8, (self.bit_offset + self.width - 1) / 8)
    }

    /// How far the field is shifted left in the big-endian number of the bytes it touches.
    pub const fn shift(&self) -> usize {
        7 - (self.bit_offset + self.width - 1) % 8
    }

    /// Value of a field of at most 64 bits in its header's bytes; none if there are too few.
    pub fn read(&self, header: &[u8]) -> Option<u64> {
        let (first, last) = self.byte_range();
        let bytes = header.get(first..=last).filter(|b| b.len() <= 8)?;
        let number = bytes.iter().fold(0u64, |n, b| n << 8 | u64::from(*b));
        let mask = if self.width >= 64 { u64::MAX } else { (1 << self.width) - 1 };
        Some(number >> self.shift() & mask)
    }
}

#[derive(Debug, Clone, Copy)]
pub struct HeaderInfo {
    pub name: &'static str,
    pub about: &'static str,
    pub len_bytes: usize,
    pub fields: &'static [FieldInfo],
}

#[derive(Debug, Clone, Copy)]
pub struct OpcodeInfo {
    pub name: &'static str,
    pub value: u8,
    pub about: &'static str,
    /// All headers between UDP and payload, in wire order.
    pub headers: &'static [&'static str],
    /// Header that follows them when the `imm` flag is set.
    pub when_imm: Option<&'static str>,
    pub payload: bool,
    /// Bytes of `headers`, without `when_imm`.
    pub header_bytes: usize,
}

/// Where a header stands in an opcode's packet, in bytes. `ipv4_bytes` and `ipv6_bytes` count from the start of an untagged
/// Ethernet frame.
#[derive(Debug, Clone, Copy)]
pub struct HeaderOffset {
    pub opcode: &'static str,
    pub opcode_value: u8,
    pub header: &'static str,
    pub only_with_imm: bool,
    pub udp_payload_bytes: usize,
    pub ipv4_bytes: usize,
    pub ipv6_bytes: usize,
}

#[derive(Debug, Clone, Copy)]
pub struct OpcodeRange {
    pub first: u8,
    pub last: u8,
}

#[derive(Debug, Clone, Copy)]
pub struct ConstantInfo {
    pub name: &'static str,
    pub value: u64,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct FlagInfo {
    pub name: &'static str,
    /// "HEADER.field" that holds the flag.
    pub field: &'static str,
    /// Bit of the field's value; 0 is the least significant.
    pub bit: u32,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct CodeInfo {
    pub name: &'static str,
    /// "HEADER.field" that holds the code.
    pub field: &'static str,
    pub value: u64,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy)]
pub struct IcrcInfo {
    pub polynomial: u32,
    pub seed_bytes: usize,
    pub len_bytes: usize,
    /// Fields that the ICRC reads as ones.
    pub masked: &'static [&'static str],
}

/// Everything a layout file says.
#[derive(Debug, Clone, Copy)]
pub struct LayoutInfo {
    pub profile: &'static str,
    pub about: &'static str,
    pub outer: &'static [&'static str],
    pub common: &'static [&'static str],
    pub constants: &'static [ConstantInfo],
    pub headers: &'static [HeaderInfo],
    pub opcodes: &'static [OpcodeInfo],
    pub reserved_opcodes: &'static [OpcodeRange],
    pub header_offsets: &'static [HeaderOffset],
    pub flags: &'static [FlagInfo],
    pub codes: &'static [CodeInfo],
    pub icrc: IcrcInfo,
}

impl LayoutInfo {
    pub fn header(&self, name: &str) -> Option<&'static HeaderInfo> {
        self.headers.iter().find(|h| h.name == name)
    }

    pub fn field(&self, header: &str, name: &str) -> Option<&'static FieldInfo> {
        self.header(header)?.fields.iter().find(|f| f.name == name)
    }

    pub fn opcode(&self, name: &str) -> Option<&'static OpcodeInfo> {
        self.opcodes.iter().find(|o| o.name == name)
    }

    /// Where `header` stands in packets of `opcode`; none if they do not have it.
    pub fn offset(&self, opcode: &str, header: &str) -> Option<&'static HeaderOffset> {
        self.header_offsets.iter().find(|o| o.opcode == opcode && o.header == header)
    }
}
