//! State of a sending connection: its message FIFO, bytes in flight, rate hint and token bucket.
//! In: messages, grants, retirements, hints. Out: the window of the connection (C3) and the pacer's verdict (C4).

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use crate::config::RATE_UNLIMITED;
use crate::seq::{elapsed, Tick};
use crate::tx::path::{longest_srtt_ticks, TxPath};
use crate::tx::responses::Responses;

/// Bytes of headers and framing that the pacer counts for every packet.
pub const PACER_OVERHEAD_BYTES: i64 = 96;
/// A token is 1/125 byte.
const TOKENS_PER_BYTE: i64 = 125;
/// Packets the bucket can save up.
const BUCKET_PKTS: i64 = 4;
/// Longest time that earns tokens, in ticks.
const TOKEN_TIME_MAX: u32 = 1023;

/// A message that waits in a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsgRef {
    pub qpn: u32,
    pub incarnation: u32,
    pub msn: u32,
    pub npkts: u32,
    /// Payload bytes.
    pub length: u32,
    /// First packet to send; not 0 if its QP waited in the middle of it (N1).
    pub index: u32,
    /// N2: it was here before; W1 does not count it.
    pub returns: bool,
}

/// The pacer refuses a packet for at least this many ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Paced {
    pub wait_ticks: u32,
}

/// A sending connection. Field names are those of docs/protocol.md, section 5.
#[derive(Clone, Debug)]
pub struct TxConn {
    /// Where the round robin over paths begins.
    pub rr: u8,
    pub sent_bytes: u32,
    pub retired_bytes: u32,
    /// Mbit/s; 0xFFFFFF is unlimited.
    pub hint: u32,
    pub tokens: i32,
    pub token_time: Tick,
    /// The connection was given up.
    pub error: bool,
    pub fifo: VecDeque<MsgRef>,
    /// Of these, messages that W1 does not count.
    pub returned: u32,
    /// Next packet of the oldest message.
    pub head_index: u32,
    pub responses: Responses,
}

impl TxConn {
    pub fn open(hint: u32, fifo_depth: usize, now: Tick) -> Self {
        TxConn {
            rr: 0,
            sent_bytes: 0,
            retired_bytes: 0,
            hint,
            tokens: 0,
            token_time: now,
            error: false,
            fifo: VecDeque::with_capacity(2 * fifo_depth),
            returned: 0,
            head_index: 0,
            responses: Responses::default(),
        }
    }

    /// A message enters the FIFO.
    pub fn push_message(&mut self, message: MsgRef) {
        if self.fifo.is_empty() {
            self.head_index = message.index;
        }
        self.returned += u32::from(message.returns);
        self.fifo.push_back(message);
    }

    /// W1: messages that wait for their first turn.
    pub fn counted(&self) -> usize {
        self.fifo.len() - self.returned as usize
    }

    /// Bytes sent and not retired.
    pub fn inflight_bytes(&self) -> u32 {
        self.sent_bytes.wrapping_sub(self.retired_bytes)
    }

    /// C3: the window of the connection, 1.22 x hint x longest RTT of the paths that are UP; none if nothing limits it.
    pub fn cap_bytes<S>(&self, paths: &[TxPath<S>], mtu: u32) -> Option<u64> {
        if self.hint == RATE_UNLIMITED || !paths.iter().any(|p| p.rtt_valid) {
            return None;
        }
        let longest = longest_srtt_ticks(paths);
        // 1 Mbit/s x 128 ns = 0.016 bytes; 1.22 x 0.016 = 5 / 256.
        Some(((u64::from(self.hint) * u64::from(longest) * 5) >> 8).max(u64::from(mtu)))
    }

    /// C4: the tokens left after a packet of `payload` bytes, or how long it has to wait. Changes nothing.
    pub fn pace(&self, now: Tick, payload: u32, mtu: u32) -> Result<Option<i32>, Paced> {
        if self.hint == RATE_UNLIMITED {
            return Ok(None);
        }
        // 1 Mbit/s x 128 ns = 2 tokens.
        let rate = 2 * i64::from(self.hint);
        let earned = rate * i64::from(elapsed(now, self.token_time).min(TOKEN_TIME_MAX));
        let full = TOKENS_PER_BYTE * BUCKET_PKTS * i64::from(mtu);
        let tokens = (i64::from(self.tokens) + earned).min(full);
        if tokens > 0 {
            return Ok(Some((tokens - TOKENS_PER_BYTE * (i64::from(payload) + PACER_OVERHEAD_BYTES)) as i32));
        }
        let missing = 1 - tokens;
        Err(Paced { wait_ticks: missing.div_euclid(rate) as u32 + u32::from(missing % rate != 0) })
    }

    /// C4: takes the tokens that [`TxConn::pace`] computed.
    pub fn spend(&mut self, now: Tick, tokens: Option<i32>) {
        if let Some(tokens) = tokens {
            self.tokens = tokens;
            self.token_time = now;
        }
    }

    /// The oldest message leaves the FIFO.
    pub fn pop_message(&mut self) {
        let left = self.fifo.pop_front();
        self.returned -= u32::from(left.is_some_and(|m| m.returns));
        self.head_index = self.fifo.front().map_or(0, |m| m.index);
    }

    /// All fields for a comparison or a report.
    pub fn fields(&self) -> Vec<(&'static str, u64)> {
        alloc::vec![
            ("rr", self.rr.into()),
            ("sent_bytes", self.sent_bytes.into()),
            ("retired_bytes", self.retired_bytes.into()),
            ("hint", self.hint.into()),
            ("tokens", self.tokens as u32 as u64),
            ("token_time", self.token_time.into()),
            ("error", self.error.into()),
            ("fifo", self.fifo.len() as u64),
            ("head_index", self.head_index.into()),
        ]
    }
}
