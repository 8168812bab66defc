//! One queue pair of the baseline: a go-back-N sender and its receiver.
//!
//! In: messages, acknowledgments, packets. Out: the next packet, what to answer. PSNs are counted from 0 without wrap.
use super::config::RoceConfig;
use super::dcqcn::Dcqcn;
use crate::time::{Ps, NEVER};
use std::collections::VecDeque;

/// A message in the send queue.
#[derive(Debug, Clone, Copy)]
struct Message {
    first: u64,
    packets: u64,
    bytes: u32,
}

/// A data packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Data {
    pub psn: u64,
    pub payload_bytes: u32,
    /// The first packet of a message carries its address.
    pub first: bool,
    pub last: bool,
}

/// The sending half.
#[derive(Debug)]
pub struct Sender {
    messages: VecDeque<Message>,
    /// PSN after the last posted packet.
    end: u64,
    next: u64,
    /// Oldest PSN that is not acknowledged.
    una: u64,
    /// Highest PSN ever sent, plus one.
    pub sent: u64,
    pub last_progress: Ps,
    pub rate: Dcqcn,
    /// The pacer lets nothing go before.
    pub pace_at: Ps,
    /// It stands in the run queue of its plane.
    pub queued: bool,
    /// Times of the valid timers: timeout, pacer, rate.
    pub armed: [Ps; 3],
}

impl Default for Sender {
    fn default() -> Self {
        Sender {
            messages: VecDeque::new(),
            end: 0,
            next: 0,
            una: 0,
            sent: 0,
            last_progress: 0,
            rate: Dcqcn::default(),
            pace_at: 0,
            queued: false,
            armed: [NEVER; 3],
        }
    }
}

impl Sender {
    pub fn post(&mut self, bytes: u32, mtu: u32) {
        let packets = u64::from(bytes.div_ceil(mtu).max(1));
        self.messages.push_back(Message { first: self.end, packets, bytes });
        self.end += packets;
    }

    /// Packets are not acknowledged.
    pub fn outstanding(&self) -> bool {
        self.next > self.una || self.sent > self.una
    }

    /// It could send, as far as its window goes.
    pub fn has_packet(&self, window: u32) -> bool {
        self.next < self.end && self.next - self.una < u64::from(window)
    }

    /// The next packet. Call it only if there is one.
    pub fn take(&mut self, now: Ps, mtu: u32) -> Option<Data> {
        let psn = self.next;
        let message = self.messages.iter().find(|m| psn < m.first + m.packets)?;
        let index = psn - message.first;
        let before = index * u64::from(mtu);
        let payload_bytes = (u64::from(message.bytes) - before).min(u64::from(mtu)) as u32;
        let data = Data { psn, payload_bytes, first: index == 0, last: index + 1 == message.packets };
        if self.next == self.una {
            self.last_progress = now;
        }
        self.next += 1;
        self.sent = self.sent.max(self.next);
        Some(data)
    }

    /// Everything below `psn` was received. Returns how many messages that completes.
    pub fn acknowledged(&mut self, now: Ps, psn: u64) -> u32 {
        if psn <= self.una || psn > self.sent {
            return 0;
        }
        self.una = psn;
        self.next = self.next.max(psn);
        self.last_progress = now;
        let mut done = 0;
        while self.messages.front().is_some_and(|m| m.first + m.packets <= psn) {
            self.messages.pop_front();
            done += 1;
        }
        done
    }

    /// Go back to the oldest packet that is not acknowledged.
    pub fn go_back(&mut self, now: Ps) {
        self.next = self.una;
        self.last_progress = now;
    }
}

/// What a received data packet is the cause of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Answer {
    pub accepted: bool,
    /// Acknowledge everything below this.
    pub ack: Option<u64>,
    /// This one is missing.
    pub nak: Option<u64>,
    /// A message is complete.
    pub message: bool,
}

/// The receiving half.
#[derive(Debug, Default)]
pub struct Receiver {
    expected: u64,
    /// The gap was reported; it is not reported again before it is filled.
    nak_sent: bool,
    unacked: u32,
    /// Time of the last congestion notification.
    pub notified: Option<Ps>,
}

impl Receiver {
    pub fn receive(&mut self, data: &Data, config: &RoceConfig) -> Answer {
        let none = Answer::default();
        if data.psn < self.expected {
            // A duplicate: tell where we are.
            self.unacked = 0;
            return Answer { ack: Some(self.expected), ..none };
        }
        if data.psn > self.expected {
            let first = !std::mem::replace(&mut self.nak_sent, true);
            return Answer { nak: first.then_some(self.expected), ..none };
        }
        self.expected += 1;
        self.nak_sent = false;
        self.unacked += 1;
        let ack = data.last || self.unacked >= config.ack_every;
        if ack {
            self.unacked = 0;
        }
        Answer { accepted: true, ack: ack.then_some(self.expected), nak: None, message: data.last }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn psns(sender: &mut Sender, count: usize) -> Vec<u64> {
        (0..count).filter_map(|_| sender.has_packet(4).then(|| sender.take(0, 1000)).flatten()).map(|d| d.psn).collect()
    }

    #[test]
    fn the_sender_goes_back_to_the_oldest_packet() {
        let mut s = Sender::default();
        s.post(2500, 1000);
        s.post(3000, 1000);
        assert_eq!(psns(&mut s, 9), [0, 1, 2, 3]);
        assert_eq!(s.acknowledged(1, 1), 0);
        s.go_back(1);
        assert_eq!(psns(&mut s, 9), [1, 2, 3, 4]);
        assert_eq!(s.acknowledged(2, 5), 1);
        assert_eq!(psns(&mut s, 9), [5]);
        assert_eq!((s.acknowledged(3, 6), s.outstanding()), (1, false));
        // old and impossible acknowledgments change nothing
        assert_eq!((s.acknowledged(4, 2), s.acknowledged(4, 60)), (0, 0));
    }

    #[test]
    fn packets_cut_a_message_at_the_mtu() {
        let mut s = Sender::default();
        s.post(2500, 1000);
        s.post(0, 1000);
        let cut: Vec<_> = (0..4).filter_map(|_| s.take(0, 1000)).map(|d| (d.payload_bytes, d.first, d.last)).collect();
        assert_eq!(cut, [(1000, true, false), (1000, false, false), (500, false, true), (0, true, true)]);
    }

    #[test]
    fn a_gap_is_reported_once_and_nothing_behind_it_is_taken() {
        let config = RoceConfig { ack_every: 2, ..RoceConfig::default() };
        let mut r = Receiver::default();
        let mut get = |psn, last| r.receive(&Data { psn, payload_bytes: 1, first: false, last }, &config);
        assert_eq!(get(0, false), Answer { accepted: true, ..Answer::default() });
        assert_eq!(get(2, false), Answer { nak: Some(1), ..Answer::default() });
        assert_eq!(get(3, false), Answer::default());
        assert_eq!(get(1, false), Answer { accepted: true, ack: Some(2), ..Answer::default() });
        assert_eq!(get(3, false).nak, Some(2));
        assert_eq!(get(2, true), Answer { accepted: true, ack: Some(3), nak: None, message: true });
        assert_eq!(get(0, false), Answer { ack: Some(3), ..Answer::default() });
    }
}
