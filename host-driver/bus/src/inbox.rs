//! The receiving end of a stream of messages.
//!
//! In: a socket. Out: whole messages, in order, without a copy. Messages may come in pieces or several at once.
use crate::{Malformed, Message};
use std::io::{self, Read};

const CHUNK_BYTES: usize = 64 * 1024;

/// Bytes that were received and not yet taken.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    /// Bytes before it were taken.
    start: usize,
}

/// What a read brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    Bytes(usize),
    /// Nothing is there now.
    Nothing,
    /// The peer has closed; `mid_message`: it did so within a message.
    Closed {
        mid_message: bool,
    },
}

impl Inbox {
    /// Reads once.
    pub fn fill(&mut self, from: &mut impl Read) -> io::Result<Received> {
        if self.start > 0 {
            self.bytes.drain(..self.start);
            self.start = 0;
        }
        let have = self.bytes.len();
        self.bytes.resize(have + CHUNK_BYTES, 0);
        let result = from.read(&mut self.bytes[have..]);
        self.bytes.truncate(have + *result.as_ref().unwrap_or(&0));
        match result {
            Ok(0) => Ok(Received::Closed { mid_message: have > 0 }),
            Ok(count) => Ok(Received::Bytes(count)),
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => {
                Ok(Received::Nothing)
            }
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(Received::Closed { mid_message: have > 0 }),
            Err(error) => Err(error),
        }
    }

    /// The next message, if it is complete.
    pub fn take(&mut self) -> Result<Option<Message<'_>>, Malformed> {
        let Some((message, used)) = Message::decode(&self.bytes[self.start..])? else { return Ok(None) };
        self.start += used;
        Ok(Some(message))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_put_together_and_the_end_is_told() {
        let mut bytes = Vec::new();
        Message::Unmask.encode(&mut bytes);
        Message::Frame(&[7; 100]).encode(&mut bytes);
        Message::Detach.encode(&mut bytes);
        let mut inbox = Inbox::default();
        let mut seen = Vec::new();
        for piece in bytes.chunks(5) {
            assert_eq!(inbox.fill(&mut &piece[..]).unwrap(), Received::Bytes(piece.len()));
            while let Some(message) = inbox.take().unwrap() {
                seen.push(format!("{message:?}"));
            }
        }
        assert_eq!(seen.len(), 3);
        assert_eq!(inbox.fill(&mut &[][..]).unwrap(), Received::Closed { mid_message: false });
        inbox.fill(&mut &bytes[..3]).unwrap();
        assert_eq!(inbox.fill(&mut &[][..]).unwrap(), Received::Closed { mid_message: true });
    }
}
