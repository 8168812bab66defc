//! Responses of a connection: what READs and atomics of the peer are answered with (D3, D4, D7).
//! In: executed requests. Out: the oldest response that waits for transmit slots. Its own FIFO, as its room was reserved when
//! the request was accepted.

use alloc::collections::VecDeque;

use crate::seq::Tick;

/// A response that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    pub kind: ResponseKind,
    /// MSN of the request.
    pub msn: u32,
    pub npkts: u32,
    /// Payload bytes.
    pub length: u32,
}

/// Whose response it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// Of the request in this slot of the QP.
    Request { qpn: u32, incarnation: u32, slot: u8 },
    /// D7: ERROR_RESP; it outlives its QP.
    Error { peer_qpn: u32, code: u8 },
}

/// The responding side of a connection, and what its requesting side waits for.
#[derive(Clone, Debug, Default)]
pub struct Responses {
    pub fifo: VecDeque<Response>,
    /// Next packet of the oldest.
    pub head_index: u32,
    /// D4: the next new packet is a response if both FIFOs wait.
    pub turn: bool,
    /// D3: requests accepted whose responses are not acknowledged.
    pub reserved: u32,
    /// D8: requests of this side that were sent and are not answered.
    pub awaited: u32,
    /// D8: the last sign of life of the peer while responses are awaited.
    pub alive: Tick,
}

impl Responses {
    pub fn push(&mut self, response: Response) {
        self.fifo.push_back(response);
    }

    pub fn pop(&mut self) {
        self.fifo.pop_front();
        self.head_index = 0;
    }

    /// A response was acknowledged whole.
    pub fn release(&mut self) {
        self.reserved = self.reserved.saturating_sub(1);
    }
}
