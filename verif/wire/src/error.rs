//! Why a frame is dropped or a packet cannot be written.
//! [`ParseError`] has one variant for each check of the receiver, in the order of the checks: variant, check number and drop
//! counter are the same thing in model, simulator and RTL.

use core::fmt;

/// A field that is not what it must be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mismatch {
    /// "HEADER.field", or what was measured.
    pub field: &'static str,
    /// Byte offset of the field in the frame.
    pub offset: usize,
    pub found: u64,
    pub expected: Expected,
}

impl Mismatch {
    /// The same, seen from `offset` bytes further out.
    pub(crate) fn after(self, offset: usize) -> Self {
        Self { offset: self.offset + offset, ..self }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected {
    Exactly(u64),
    AtLeast(u64),
    AtMost(u64),
    MultipleOf(u64),
    OneOf(&'static [u64]),
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(v) => write!(f, "{v:#x}"),
            Self::AtLeast(v) => write!(f, "at least {v}"),
            Self::AtMost(v) => write!(f, "at most {v}"),
            Self::MultipleOf(v) => write!(f, "a multiple of {v}"),
            Self::OneOf(values) => write!(f, "one of {values:x?}"),
        }
    }
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { field, offset, found, expected } = self;
        write!(f, "{field} at byte {offset} is {found:#x}, expected {expected}")
    }
}

/// Why a frame is dropped. The first failing check counts, in the order of the variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParseError {
    /// 1: too short for its Ethernet, IP and UDP headers, or neither IPv4 nor IPv6.
    Frame(Mismatch),
    /// 2: IP version, IHL, fragmentation, or IP length against the frame.
    Ip(Mismatch),
    /// 3: IPv4 header checksum.
    IpChecksum(Mismatch),
    /// 4: not UDP.
    NotUdp(Mismatch),
    /// 5: UDP destination port.
    UdpPort(Mismatch),
    /// 6: UDP length against the IP length, below the common headers, or not a multiple of 4.
    UdpLength(Mismatch),
    /// 7: opcode unknown or BTH transport version.
    Bth(Mismatch),
    /// 8: version of the multipath header.
    PathHeader(Mismatch),
    /// 9: shorter than the headers of the opcode, or payload where the opcode has none.
    HeaderLength(Mismatch),
    /// 10: more pad than payload.
    Pad(Mismatch),
    /// 11: ICRC.
    Icrc(Mismatch),
}

impl ParseError {
    /// Names of the drop counters; check `n` has name `n - 1`.
    pub const NAMES: [&'static str; 11] = [
        "frame",
        "ip",
        "ip_checksum",
        "not_udp",
        "udp_port",
        "udp_length",
        "bth",
        "path_header",
        "header_length",
        "pad",
        "icrc",
    ];

    /// Number of the failed check, 1 to 11; also the code of the drop in commit records.
    pub fn check(&self) -> u8 {
        match self {
            Self::Frame(_) => 1,
            Self::Ip(_) => 2,
            Self::IpChecksum(_) => 3,
            Self::NotUdp(_) => 4,
            Self::UdpPort(_) => 5,
            Self::UdpLength(_) => 6,
            Self::Bth(_) => 7,
            Self::PathHeader(_) => 8,
            Self::HeaderLength(_) => 9,
            Self::Pad(_) => 10,
            Self::Icrc(_) => 11,
        }
    }

    /// Name of the drop counter.
    pub fn name(&self) -> &'static str {
        Self::NAMES[usize::from(self.check()) - 1]
    }

    pub fn mismatch(&self) -> &Mismatch {
        match self {
            Self::Frame(m) | Self::Ip(m) | Self::IpChecksum(m) | Self::NotUdp(m) => m,
            Self::UdpPort(m) | Self::UdpLength(m) | Self::Bth(m) | Self::PathHeader(m) => m,
            Self::HeaderLength(m) | Self::Pad(m) | Self::Icrc(m) => m,
        }
    }

    /// The same, with the offset seen from `offset` bytes further out.
    pub(crate) fn after(mut self, offset: usize) -> Self {
        match &mut self {
            Self::Frame(m) | Self::Ip(m) | Self::IpChecksum(m) | Self::NotUdp(m) => m.offset += offset,
            Self::UdpPort(m) | Self::UdpLength(m) | Self::Bth(m) | Self::PathHeader(m) => m.offset += offset,
            Self::HeaderLength(m) | Self::Pad(m) | Self::Icrc(m) => m.offset += offset,
        }
        self
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "drop {} ({}): {}", self.check(), self.name(), self.mismatch())
    }
}

impl core::error::Error for ParseError {}

/// Why a packet cannot be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmitError {
    BufferTooSmall {
        need: usize,
        have: usize,
    },
    ValueTooLarge {
        field: &'static str,
        value: u64,
    },
    /// Payload given with an opcode that carries none.
    UnexpectedPayload {
        opcode: crate::Opcode,
        payload_len: usize,
    },
    /// The packet does not fit the 16-bit length fields of IP and UDP.
    TooLong {
        payload_len: usize,
    },
}

impl fmt::Display for EmitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferTooSmall { need, have } => write!(f, "buffer of {have} bytes is too small; give at least {need}"),
            Self::ValueTooLarge { field, value } => write!(f, "{value:#x} does not fit field {field} of this profile"),
            Self::UnexpectedPayload { opcode, payload_len } => {
                write!(f, "{opcode:?} carries no payload, but {payload_len} bytes were given")
            }
            Self::TooLong { payload_len } => write!(f, "{payload_len} bytes of payload do not fit one IP packet"),
        }
    }
}

impl core::error::Error for EmitError {}
