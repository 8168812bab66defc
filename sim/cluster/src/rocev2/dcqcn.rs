//! Rate control of a queue pair after DCQCN (Zhu et al., SIGCOMM 2015), with its timers but without its byte counter.
//!
//! In: congestion notifications and the time. Out: the rate. Rates are shares of the port's, so that the published constants
//! (40 Mbit/s and 400 Mbit/s at 40 Gbit/s) scale with it.
use crate::time::{Ps, PS_PER_US};

/// A receiver sends at most one notification in this time for each queue pair.
pub const CNP_INTERVAL: Ps = 50 * PS_PER_US;
/// Alpha decays, and the rate grows, once in this time.
pub const UPDATE_INTERVAL: Ps = 55 * PS_PER_US;
const GAIN: f64 = 1.0 / 256.0;
const FAST_RECOVERY_STEPS: u32 = 5;
const ADDITIVE: f64 = 0.001;
const HYPER: f64 = 0.01;
const RATE_MIN: f64 = 0.001;

/// State of a queue pair.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Dcqcn {
    /// Share of the port's rate at which it sends.
    pub rate: f64,
    target: f64,
    alpha: f64,
    steps: u32,
    /// A notification arrived since the last update of alpha.
    notified: bool,
}

impl Default for Dcqcn {
    fn default() -> Self {
        Dcqcn { rate: 1.0, target: 1.0, alpha: 1.0, steps: 0, notified: false }
    }
}

impl Dcqcn {
    /// A congestion notification arrived.
    pub fn notify(&mut self) {
        self.target = self.rate;
        self.rate = (self.rate * (1.0 - self.alpha / 2.0)).max(RATE_MIN);
        self.alpha = (1.0 - GAIN) * self.alpha + GAIN;
        self.steps = 0;
        self.notified = true;
    }

    /// [`UPDATE_INTERVAL`] has passed.
    pub fn update(&mut self) {
        if !std::mem::take(&mut self.notified) {
            self.alpha *= 1.0 - GAIN;
        }
        self.steps += 1;
        if self.steps > 2 * FAST_RECOVERY_STEPS {
            self.target += HYPER;
        } else if self.steps > FAST_RECOVERY_STEPS {
            self.target += ADDITIVE;
        }
        self.target = self.target.min(1.0);
        self.rate = (self.rate + self.target) / 2.0;
    }

    /// The rate is below that of the port.
    pub fn is_limited(&self) -> bool {
        self.rate < 0.999
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_halves_on_the_first_notification_and_recovers_half_of_the_way_each_time() {
        let mut d = Dcqcn::default();
        d.notify();
        assert!((d.rate - 0.5).abs() < 1e-9);
        d.update();
        assert!((d.rate - 0.75).abs() < 1e-9);
        for _ in 0..20 {
            d.update();
        }
        assert!(!d.is_limited());
        for _ in 0..1000 {
            d.notify();
        }
        assert!(d.rate >= RATE_MIN);
    }
}
