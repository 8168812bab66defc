//! The end of a rate epoch (R11), in two steps: the counters are taken, then the new rates become visible.

use super::Nic;
use crate::config::NicConfig;
use crate::error::{ConfigError, StepError};
use crate::{CongestionControl, Profile};

impl<P: Profile, C: CongestionControl> Nic<P, C> {
    /// R11: takes and clears the byte counters. Returns whether any connection was active.
    pub fn step_epoch_swap(&mut self) -> bool {
        let conns = self.conns.iter_mut().filter_map(Option::as_deref_mut);
        self.hint.swap(conns.map(|conn| &mut conn.rx_use))
    }

    /// R11: software writes the receive capacity of an epoch, in bytes; shares that were published stay until the next epoch.
    pub fn set_epoch_cap(&mut self, bytes: u32) -> Result<(), ConfigError> {
        let config = NicConfig { epoch_cap_bytes: bytes, ..self.config };
        config.check()?;
        self.config = config;
        self.hint.cap = bytes;
        Ok(())
    }

    /// R11: an epoch was swapped and is not published yet.
    pub fn epoch_pending(&self) -> bool {
        self.hint.pending()
    }

    /// R11: the new rates become visible. Returns the share in bytes per epoch.
    pub fn step_epoch_publish(&mut self) -> Result<u32, StepError> {
        let conns = self.conns.iter_mut().filter_map(Option::as_deref_mut);
        let share = self.hint.publish(conns.map(|conn| &mut conn.rx_use)).ok_or(StepError::NoSwap)?;
        self.counters.epochs += 1;
        Ok(share)
    }
}
