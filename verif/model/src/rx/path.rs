//! State of a receiving path (section 4): which PPSNs arrived, and when to acknowledge.
//! In: PPSNs with their marks and time stamps. Out: the class of a packet, acknowledgment contents.
//! Guarantees that each PPSN is accepted once.

use alloc::vec::Vec;
use mrnic_wire::{Ppsn, SackVector};

use crate::bits256::Bits256;
use crate::seq::{elapsed, Serial24, Tick};

/// R2: what a packet is to its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RxClass {
    New = 0,
    Duplicate = 1,
    OutOfWindow = 2,
}

/// A receiving path. Field names are those of docs/protocol.md, section 4.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RxPath {
    /// Next PPSN not yet received in order.
    pub cum: Ppsn,
    /// Bit PPSN mod 256, for cum + 1 .. cum + 255.
    pub vec: Bits256,
    /// Highest PPSN received.
    pub high: Ppsn,
    pub ce: u16,
    pub dup: u16,
    pub rx: u16,
    pub last_ts: u16,
    pub last_ts_valid: bool,
    pub last_via: u8,
    pub last_arrival: Tick,
    /// Local QPN of the last WRITE whose QP was known.
    pub last_qp: Option<u32>,
    /// Packets accepted since the last acknowledgment.
    pub unacked: u8,
    pub ack_time: Tick,
    pub ce_state: bool,
    /// UDP source port of the peer's last packet that travelled by the path of this index: acknowledgments that travel by it have it.
    pub reply_port: u16,
}

impl RxPath {
    pub fn open(index: u8, start: u32, port: u16) -> Self {
        let cum = Ppsn::new(start);
        RxPath { cum, high: cum.wrapping_sub(1), last_via: index, reply_port: port, ..RxPath::default() }
    }

    /// R2: the class of a PPSN. Changes nothing.
    pub fn classify(&self, ppsn: Ppsn, window_pkts: u32) -> RxClass {
        let off = ppsn.ahead_of(self.cum);
        if off >= 1 << 23 {
            RxClass::Duplicate
        } else if off >= window_pkts {
            RxClass::OutOfWindow
        } else if off > 0 && self.vec.get(ppsn.ring256()) {
            RxClass::Duplicate
        } else {
            RxClass::New
        }
    }

    /// R2: counts a duplicate.
    pub fn duplicate(&mut self) {
        self.dup = self.dup.wrapping_add(1);
        self.rx = self.rx.wrapping_add(1);
    }

    /// R10: what the next acknowledgment echoes.
    pub fn note_arrival(&mut self, now: Tick, tx_ts: u16, rtx: bool, via: u8) {
        self.last_ts = tx_ts;
        self.last_ts_valid = !rtx;
        self.last_via = via;
        self.last_arrival = now;
    }

    /// R10: the port of a packet that travelled by the path of this index. A peer that leaves a route leaves it for the way back too.
    pub fn note_port(&mut self, port: u16) {
        self.reply_port = port;
    }

    /// R5, R6: sets the bit of a new PPSN and advances. Returns whether R8 wants an acknowledgment for a gap or a mark.
    pub fn accept(&mut self, ppsn: Ppsn, ce: bool) -> bool {
        let in_order = ppsn == self.high.next();
        if ppsn == self.cum {
            self.cum = self.cum.next();
            while self.vec.get(self.cum.ring256()) {
                self.vec.clear(self.cum.ring256());
                self.cum = self.cum.next();
            }
        } else {
            self.vec.set(ppsn.ring256());
        }
        self.high = self.high.later(ppsn);
        self.rx = self.rx.wrapping_add(1);
        if ce {
            self.ce = self.ce.wrapping_add(1);
        }
        // R8: a gap opens or is filled, or the CE state changes.
        let ce_changed = ce != self.ce_state;
        self.ce_state = ce;
        !in_order || ce_changed
    }

    /// R8: holds the acknowledgment back, or not when N packets wait.
    pub fn hold_ack(&mut self, now: Tick, ack_every: u8) -> bool {
        if self.unacked == 0 {
            self.ack_time = now;
        }
        self.unacked += 1;
        self.unacked >= ack_every
    }

    /// R8: the timer of held acknowledgments.
    pub fn ack_due(&self, now: Tick, ack_delay_ticks: u32) -> bool {
        let waited = elapsed(now, self.ack_time);
        self.unacked > 0 && waited >= ack_delay_ticks && waited < 1 << 31
    }

    /// R9: bit i = received(cum + 1 + i).
    pub fn vector(&self) -> SackVector {
        if self.vec.is_empty() {
            return SackVector::EMPTY;
        }
        SackVector::from_words(self.vec.rotate_down(self.cum.next().ring256()).0)
    }

    /// R9: ticks between the arrival of the echoed packet and now.
    pub fn service(&self, now: Tick) -> u16 {
        elapsed(now, self.last_arrival).min(0xFFFF) as u16
    }

    /// All fields for a comparison or a report: (name, up to four words).
    pub fn fields(&self) -> Vec<(&'static str, [u64; 4])> {
        let one = |v: u64| [v, 0, 0, 0];
        alloc::vec![
            ("cum", one(self.cum.get().into())),
            ("vec", self.vec.0),
            ("high", one(self.high.get().into())),
            ("ce", one(self.ce.into())),
            ("dup", one(self.dup.into())),
            ("rx", one(self.rx.into())),
            ("last_ts", one(self.last_ts.into())),
            ("last_ts_valid", one(self.last_ts_valid.into())),
            ("last_via", one(self.last_via.into())),
            ("last_arrival", one(self.last_arrival.into())),
            ("last_qp", one(self.last_qp.unwrap_or(0).into())),
            ("unacked", one(self.unacked.into())),
            ("ack_time", one(self.ack_time.into())),
            ("ce_state", one(self.ce_state.into())),
            ("reply_port", one(self.reply_port.into())),
        ]
    }
}
