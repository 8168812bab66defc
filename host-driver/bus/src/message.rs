//! Messages between a program's driver and a NIC in another process, in the manner of vfio-user.
//!
//! In: bytes of a stream socket, or a message. Out: the other of the two. Each message states version and length; what does not fit is a
//! [`Malformed`] which names the fault, so that the peer can be told before it is cut off.
use thiserror::Error;

/// The first two bytes of a message.
pub const MAGIC: u16 = 0x524d;
/// Of this set of messages.
pub const VERSION: u16 = 1;
/// Magic, version, kind, reserved (2 bytes each), bytes of the body (4).
pub const HEADER_BYTES: usize = 12;
/// No body is longer.
pub const BODY_BYTES_MAX: usize = 16 * 1024;

/// A message. Numbers are little-endian on the socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// The first message of a program. The NIC may read `probe` at `probe_addr` of the program's memory, to find out whether it can.
    Attach {
        probe_addr: u64,
        probe: u64,
    },
    /// The program has a NIC: at this place, with so many memory keys, of that build. `direct`: it accesses the program's memory without
    /// messages.
    Attached {
        place: u16,
        direct: bool,
        keys: u32,
        build: &'a str,
    },
    /// Answered by [`Message::RegisterValue`].
    RegisterRead {
        offset: u16,
    },
    RegisterValue {
        offset: u16,
        value: u32,
    },
    /// Posted: no answer. Writes and reads take effect in order.
    RegisterWrite {
        offset: u16,
        value: u32,
    },
    /// The NIC may access this memory from now on. Answered by [`Message::Done`].
    Map {
        addr: u64,
        bytes: u64,
    },
    /// It may no longer. After [`Message::Done`] no access is under way.
    Unmap {
        addr: u64,
        bytes: u64,
    },
    Done,
    /// A frame of connection control: it takes the host's ordinary network path, both ways.
    Frame(&'a [u8]),
    /// The NIC reads memory. Answered by [`Message::DmaData`].
    DmaRead {
        addr: u64,
        bytes: u32,
    },
    DmaData {
        ok: bool,
        data: &'a [u8],
    },
    /// The NIC writes memory. Answered by [`Message::DmaDone`].
    DmaWrite {
        addr: u64,
        data: &'a [u8],
    },
    DmaDone {
        ok: bool,
    },
    /// Completions were written; not repeated until unmasked.
    Interrupt,
    Unmask,
    /// The program leaves. Answered by [`Message::Done`].
    Detach,
    /// The peer is cut off, for this reason.
    Refused(&'a str),
}

/// Bytes that are no message.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Malformed {
    #[error("a message begins with {found:#06x} instead of {MAGIC:#06x}: this is another protocol")]
    Magic { found: u16 },
    #[error("version {found} of the messages, {VERSION} is spoken here: use library and mrnic of the same release")]
    Version { found: u16 },
    #[error("message kind {kind} is unknown")]
    Kind { kind: u16 },
    #[error("a body of {bytes} bytes: at most {BODY_BYTES_MAX} are allowed")]
    TooLong { bytes: u32 },
    #[error("message kind {kind} with a body of {bytes} bytes: its fields do not fit")]
    Body { kind: u16, bytes: usize },
}

/// Takes fields from the front of a body.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*head)
    }
    fn u16(&mut self) -> Option<u16> {
        self.take().map(u16::from_le_bytes)
    }
    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }
    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }
    fn flag(&mut self) -> Option<bool> {
        match self.take::<1>()? {
            [0] => Some(false),
            [1] => Some(true),
            _ => None,
        }
    }
    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

impl<'a> Message<'a> {
    fn kind(&self) -> u16 {
        match self {
            Message::Attach { .. } => 1,
            Message::Attached { .. } => 2,
            Message::RegisterRead { .. } => 3,
            Message::RegisterValue { .. } => 4,
            Message::RegisterWrite { .. } => 5,
            Message::Map { .. } => 6,
            Message::Unmap { .. } => 7,
            Message::Done => 8,
            Message::Frame(_) => 9,
            Message::DmaRead { .. } => 10,
            Message::DmaData { .. } => 11,
            Message::DmaWrite { .. } => 12,
            Message::DmaDone { .. } => 13,
            Message::Interrupt => 14,
            Message::Unmask => 15,
            Message::Detach => 16,
            Message::Refused(_) => 17,
        }
    }

    /// Appends the message to `out`. A body that is too long loses its end (callers split what may be long).
    pub fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&MAGIC.to_le_bytes());
        out.extend_from_slice(&VERSION.to_le_bytes());
        out.extend_from_slice(&self.kind().to_le_bytes());
        out.extend_from_slice(&[0; 6]);
        match *self {
            Message::Attach { probe_addr, probe } => {
                out.extend_from_slice(&probe_addr.to_le_bytes());
                out.extend_from_slice(&probe.to_le_bytes());
            }
            Message::Attached { place, direct, keys, build } => {
                out.extend_from_slice(&place.to_le_bytes());
                out.push(direct.into());
                out.extend_from_slice(&keys.to_le_bytes());
                out.extend_from_slice(build.as_bytes());
            }
            Message::RegisterRead { offset } => out.extend_from_slice(&offset.to_le_bytes()),
            Message::RegisterValue { offset, value } | Message::RegisterWrite { offset, value } => {
                out.extend_from_slice(&offset.to_le_bytes());
                out.extend_from_slice(&value.to_le_bytes());
            }
            Message::Map { addr, bytes } | Message::Unmap { addr, bytes } => {
                out.extend_from_slice(&addr.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
            }
            Message::Frame(frame) => out.extend_from_slice(frame),
            Message::DmaRead { addr, bytes } => {
                out.extend_from_slice(&addr.to_le_bytes());
                out.extend_from_slice(&bytes.to_le_bytes());
            }
            Message::DmaData { ok, data } => {
                out.push(ok.into());
                out.extend_from_slice(data);
            }
            Message::DmaWrite { addr, data } => {
                out.extend_from_slice(&addr.to_le_bytes());
                out.extend_from_slice(data);
            }
            Message::DmaDone { ok } => out.push(ok.into()),
            Message::Refused(why) => out.extend_from_slice(why.as_bytes()),
            Message::Done | Message::Interrupt | Message::Unmask | Message::Detach => {}
        }
        out.truncate(start + HEADER_BYTES + BODY_BYTES_MAX);
        let bytes = (out.len() - start - HEADER_BYTES) as u32;
        out[start + 8..start + HEADER_BYTES].copy_from_slice(&bytes.to_le_bytes());
    }

    /// The message at the front of `bytes` and its length; none if more bytes are needed.
    pub fn decode(bytes: &'a [u8]) -> Result<Option<(Message<'a>, usize)>, Malformed> {
        let Some((header, rest)) = bytes.split_first_chunk::<HEADER_BYTES>() else { return Ok(None) };
        let mut fields = Fields(header);
        let (Some(magic), Some(version), Some(kind), Some(_), Some(length)) =
            (fields.u16(), fields.u16(), fields.u16(), fields.u16(), fields.u32())
        else {
            return Ok(None);
        };
        if magic != MAGIC {
            return Err(Malformed::Magic { found: magic });
        }
        if version != VERSION {
            return Err(Malformed::Version { found: version });
        }
        if !(1..=17).contains(&kind) {
            return Err(Malformed::Kind { kind });
        }
        if length as usize > BODY_BYTES_MAX {
            return Err(Malformed::TooLong { bytes: length });
        }
        let Some(body) = rest.get(..length as usize) else { return Ok(None) };
        let wrong = Malformed::Body { kind, bytes: body.len() };
        let mut fields = Fields(body);
        let message = Message::from_body(kind, &mut fields).filter(|_| fields.0.is_empty()).ok_or(wrong)?;
        Ok(Some((message, HEADER_BYTES + body.len())))
    }

    fn from_body(kind: u16, f: &mut Fields<'a>) -> Option<Message<'a>> {
        let text = |bytes| std::str::from_utf8(bytes).ok();
        Some(match kind {
            1 => Message::Attach { probe_addr: f.u64()?, probe: f.u64()? },
            2 => Message::Attached { place: f.u16()?, direct: f.flag()?, keys: f.u32()?, build: text(f.rest())? },
            3 => Message::RegisterRead { offset: f.u16()? },
            4 => Message::RegisterValue { offset: f.u16()?, value: f.u32()? },
            5 => Message::RegisterWrite { offset: f.u16()?, value: f.u32()? },
            6 => Message::Map { addr: f.u64()?, bytes: f.u64()? },
            7 => Message::Unmap { addr: f.u64()?, bytes: f.u64()? },
            8 => Message::Done,
            9 => Message::Frame(f.rest()),
            10 => Message::DmaRead { addr: f.u64()?, bytes: f.u32()? },
            11 => Message::DmaData { ok: f.flag()?, data: f.rest() },
            12 => Message::DmaWrite { addr: f.u64()?, data: f.rest() },
            13 => Message::DmaDone { ok: f.flag()? },
            14 => Message::Interrupt,
            15 => Message::Unmask,
            16 => Message::Detach,
            17 => Message::Refused(text(f.rest())?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ALL: &[Message<'static>] = &[
        Message::Attach { probe_addr: 1, probe: u64::MAX },
        Message::Attached { place: 3, direct: true, keys: 64, build: "sim" },
        Message::RegisterRead { offset: 0x104 },
        Message::RegisterValue { offset: 4, value: 0xdead_beef },
        Message::RegisterWrite { offset: 0x44, value: 7 },
        Message::Map { addr: 0x1000, bytes: 1 << 40 },
        Message::Unmap { addr: 0x1000, bytes: 0 },
        Message::Done,
        Message::Frame(&[1, 2, 3]),
        Message::DmaRead { addr: 9, bytes: 4096 },
        Message::DmaData { ok: true, data: &[5; 100] },
        Message::DmaWrite { addr: 8, data: &[6; 33] },
        Message::DmaDone { ok: false },
        Message::Interrupt,
        Message::Unmask,
        Message::Detach,
        Message::Refused("why"),
    ];

    #[test]
    fn messages_survive_the_socket_and_wait_for_their_last_byte() {
        let mut bytes = Vec::new();
        for message in ALL {
            let start = bytes.len();
            message.encode(&mut bytes);
            for cut in start..bytes.len() {
                assert_eq!(Message::decode(&bytes[start..cut]), Ok(None), "{message:?}");
            }
            assert_eq!(Message::decode(&bytes[start..]), Ok(Some((*message, bytes.len() - start))));
        }
    }

    #[test]
    fn faults_are_named() {
        let mut good = Vec::new();
        Message::DmaDone { ok: true }.encode(&mut good);
        let changed = |at: usize, to: u8| {
            let mut bad = good.clone();
            bad[at] = to;
            Message::decode(&bad).map(|_| ()).unwrap_err()
        };
        assert_eq!(changed(0, 0x47), Malformed::Magic { found: 0x5247 });
        assert_eq!(changed(2, 9), Malformed::Version { found: 9 });
        assert!(changed(2, 9).to_string().contains("same release"));
        assert_eq!(changed(4, 99), Malformed::Kind { kind: 99 });
        assert_eq!(changed(4, 0), Malformed::Kind { kind: 0 });
        assert_eq!(changed(10, 1), Malformed::TooLong { bytes: 0x1_0001 });
        assert_eq!(changed(8, 0), Malformed::Body { kind: 13, bytes: 0 });
        assert_eq!(changed(12, 2), Malformed::Body { kind: 13, bytes: 1 });
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoder_panic(bytes in proptest::collection::vec(any::<u8>(), 0..64), cut in 0usize..40, at in 0usize..17) {
            let _ = Message::decode(&bytes);
            let mut good = Vec::new();
            ALL[at].encode(&mut good);
            good.truncate(cut);
            good.extend_from_slice(&bytes);
            let _ = Message::decode(&good);
        }
    }
}
