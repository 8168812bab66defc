//! Which message of a stream may be sent next: READs, atomics and fences (D1), messages that are withdrawn (N1..N3).
//! In: refusals for now, ends of waits. Out: messages in MSN order for the FIFO of their connection.

use mrnic_wire::Msn;

use crate::seq::{Serial24, Tick};
use crate::tx::messages::SendQueue;
use crate::wqe::is_request;

/// A message that enters its connection's FIFO.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entering {
    pub msn: u32,
    pub npkts: u32,
    /// First packet to send.
    pub index: u32,
    /// Payload bytes to send.
    pub length: u32,
    /// N2: it was withdrawn and begins again.
    pub again: bool,
    /// N2: it was in the FIFO before, so W1 does not count it there.
    pub returns: bool,
}

/// What N1 did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Withdrawal {
    /// The message is done, or withdrawn already.
    Ignored,
    /// The QP waits already.
    Joined,
    /// The QP begins to wait.
    Began,
}

/// N3: no retry is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetriesSpent;

impl SendQueue {
    /// D1, N1, N2: the next message that may enter the FIFO; also while the QP waits, to be set aside in its turn.
    pub fn enter(&mut self) -> Option<Entering> {
        if self.in_error() {
            return None;
        }
        if self.fed.is_behind(self.head) {
            self.fed = self.head;
        }
        while self.fed != self.next_msn() {
            let msn = self.fed;
            let slot = self.slot(msn);
            let message = &mut self.ring[slot];
            let all_sent = message.entered && !message.withdrawn && message.sent == message.npkts;
            if message.refused.is_some() || all_sent {
                self.fed = msn.next();
                continue;
            }
            let returns = message.entered;
            if !returns {
                let request = is_request(message.opcode);
                // D1: a fence waits for every READ and atomic before it; a READ or atomic for its turn.
                if (message.fence && self.requests > 0) || (request && self.requests >= self.max_requests) {
                    return None;
                }
                self.requests += u32::from(request);
                message.entered = true;
            }
            // N2: its packets count again from 0.
            let again = message.withdrawn;
            if again {
                message.withdrawn = false;
                self.rows[slot].attempt = !self.rows[slot].attempt;
                message.sent = 0;
                message.remaining = message.npkts;
            }
            let length = if is_request(message.opcode) { 0 } else { message.length };
            self.fed = msn.next();
            self.in_fifo += 1;
            return Some(Entering { msn: msn.get(), npkts: message.npkts, index: message.sent, length, again, returns });
        }
        None
    }

    /// W3: a message that was taken although its QP is in Error enters the FIFO, from where it is skipped (S2). Hardware had overlooked the error.
    pub fn enter_in_error(&mut self, msn: Msn) -> Option<Entering> {
        let message = self.outstanding_mut(msn).filter(|m| m.refused.is_none() && !m.entered)?;
        message.entered = true;
        let length = if is_request(message.opcode) { 0 } else { message.length };
        let npkts = message.npkts;
        self.in_fifo += 1;
        Some(Entering { msn: msn.get(), npkts, index: 0, length, again: false, returns: false })
    }

    /// N1, N3: withdraws a message until `until`. `counts`: it uses a retry. Returns whether the QP begins to wait; an error
    /// if no retry is left.
    pub fn withdraw(&mut self, msn: Msn, until: Tick, counts: bool) -> Result<Withdrawal, RetriesSpent> {
        let in_error = self.in_error();
        let waits = self.waits_until.is_some();
        let Some(message) = self.outstanding_mut(msn).filter(|m| !m.withdrawn && !m.is_done() && !in_error) else {
            return Ok(Withdrawal::Ignored);
        };
        message.withdrawn = true;
        if waits {
            return Ok(Withdrawal::Joined);
        }
        if counts && self.rnr_retry < 7 {
            self.rnr_left = self.rnr_left.checked_sub(1).ok_or(RetriesSpent)?;
        }
        self.waits_until = Some(until);
        Ok(Withdrawal::Began)
    }

    /// N3, D1: so many retries, so many READs and atomics outstanding from now on.
    pub fn set_limits(&mut self, rnr_retry: u8, max_requests: u8) {
        (self.rnr_retry, self.rnr_left) = (rnr_retry, rnr_retry);
        self.max_requests = max_requests.into();
    }

    /// N1: a slot set a message aside; its next packet is `index`.
    pub fn set_aside(&mut self, msn: Msn, index: u32) {
        self.in_fifo = self.in_fifo.saturating_sub(1);
        if let Some(message) = self.outstanding_mut(msn) {
            message.sent = index;
        }
    }

    /// N2: the wait is over. Every message that has packets to send enters the FIFO again.
    pub fn end_wait(&mut self) {
        self.waits_until = None;
        self.fed = self.head;
    }
}
