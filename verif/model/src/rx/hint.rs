//! The fair share of the inbound bandwidth (R11), computed once an epoch over the connections that sent something.
//! In: placed bytes of each connection. Out: a rate for each connection. 32-bit integer arithmetic without loops over pairs.
//! Guarantees that at least 4/5 of what a connection is given over a stretch of epochs is used, but for [`SPARE_MAX`] bytes.

use crate::config::RATE_UNLIMITED;

/// Ticks of an epoch.
pub const EPOCH_TICKS: u32 = 128;
const USED_MAX: u32 = (1 << 24) - 1;
/// What a connection may have wanted above its shares and not yet fallen below them: 8 packets of 4096 bytes.
pub const SPARE_MAX: u32 = (1 << 15) - 1;

/// What R11 keeps for each connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct ConnUse {
    /// Payload bytes placed in the running epoch, saturating at 2^24 - 1.
    pub used: u32,
    /// What it wanted above its share in epochs before, at most [`SPARE_MAX`] bytes.
    pub spare: u32,
    /// Published limit in bytes per epoch; 0 if the share applies.
    pub lim: u32,
    next_lim: u32,
}

impl ConnUse {
    pub fn placed(&mut self, bytes: u32) {
        self.used = self.used.saturating_add(bytes).min(USED_MAX);
    }
}

/// What R11 keeps for the NIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct RateHint {
    /// 0.95 * line rate * 16.384 us, in bytes; 0 gives no hint.
    pub cap: u32,
    /// Published share in bytes per epoch.
    pub share: u32,
    /// Epochs published, modulo 256.
    pub epoch: u8,
    published: bool,
    next_share: u32,
    swapped: bool,
}

impl RateHint {
    pub fn new(cap: u32) -> Self {
        RateHint { cap, ..RateHint::default() }
    }

    /// An epoch ends: takes and clears the counters and computes the next share. Returns whether any connection wanted something.
    pub fn swap<'a>(&mut self, conns: impl Iterator<Item = &'a mut ConnUse>) -> bool {
        let (mut sum, mut greedy, mut any) = (0u32, 0u32, false);
        for conn in conns {
            let used = core::mem::take(&mut conn.used);
            // `spare`: a share of a few packets is met on average, not in each epoch.
            let want = used + used / 4 + conn.spare;
            any |= want > 0;
            if want < self.share.max(1) {
                (conn.next_lim, conn.spare) = (want, 0);
                sum = sum.saturating_add(want);
            } else {
                (conn.next_lim, conn.spare) = (0, (want - self.share).min(SPARE_MAX));
                greedy += 1;
            }
        }
        let remain = self.cap.saturating_sub(sum);
        self.next_share = (remain / greedy.max(1)).max(self.cap / 64);
        self.swapped = true;
        any
    }

    /// The new rates become visible. Returns the share, or none if no epoch was swapped.
    pub fn publish<'a>(&mut self, conns: impl Iterator<Item = &'a mut ConnUse>) -> Option<u32> {
        if !core::mem::take(&mut self.swapped) {
            return None;
        }
        for conn in conns {
            conn.lim = conn.next_lim;
        }
        self.share = self.next_share;
        self.published = true;
        self.epoch = self.epoch.wrapping_add(1);
        Some(self.share)
    }

    /// An epoch was swapped and is not published yet.
    pub fn pending(&self) -> bool {
        self.swapped
    }

    /// The rate of a connection in Mbit/s.
    pub fn rate_mbps(&self, conn: &ConnUse) -> u32 {
        if self.cap == 0 || !self.published {
            return RATE_UNLIMITED;
        }
        let bytes = u64::from(conn.lim.max(self.share));
        // 1 byte per 128 ticks of 128 ns = 125 / 256 Mbit/s.
        ((bytes * 125) >> 8).min(u64::from(RATE_UNLIMITED) - 1) as u32
    }
}
