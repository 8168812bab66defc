//! Loss models of one plane: independent loss and bursts (Gilbert-Elliott).
//!
//! In: one call per frame. Out: whether it is lost, and by which model. Guarantees: draws nothing where the rate is 0.
use crate::{Burst, FabricConfig};
use rand::rngs::SmallRng;
use rand::Rng;

/// Fate of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Pass,
    LostRandom,
    LostBurst,
}

/// Loss of one plane.
pub struct Faults {
    data: f64,
    ack: f64,
    burst: Option<Burst>,
    bad: bool,
}

impl Faults {
    /// Starts in the good state.
    pub fn new(config: &FabricConfig) -> Self {
        Self { data: config.loss_data, ack: config.loss_ack, burst: config.burst, bad: false }
    }

    /// Judges the next frame.
    pub fn judge(&mut self, rng: &mut SmallRng, is_ack: bool) -> Verdict {
        if let Some(b) = self.burst {
            let change = if self.bad { b.leave } else { b.enter };
            if rng.random_bool(change) {
                self.bad = !self.bad;
            }
            if self.bad && rng.random_bool(b.loss) {
                return Verdict::LostBurst;
            }
        }
        let p = if is_ack { self.ack } else { self.data };
        if p > 0.0 && rng.random_bool(p) {
            return Verdict::LostRandom;
        }
        Verdict::Pass
    }
}
