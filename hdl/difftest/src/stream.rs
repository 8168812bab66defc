//! Well-behaved partners for valid/ready streams.
//! Comes in: the names of a stream's ports. Goes out: each cycle's valid, payload or ready.
//! Guarantees the stream rules: a source holds valid and payload until ready; density changes from bursts to silence.

use crate::{inputs::Inputs, random::Random};

/// Chances of valid or ready; one is chosen anew every 16 to 127 cycles, so that full, empty, streaming and trickling
/// all occur.
const DENSITIES: [f64; 5] = [0.0, 0.1, 0.5, 0.9, 1.0];

struct Density {
    p: f64,
    left: u64,
}

impl Density {
    fn next(&mut self, random: &mut Random) -> bool {
        if self.left == 0 {
            self.p = *random.pick(&DENSITIES);
            self.left = 16 + random.below(112);
        }
        self.left -= 1;
        random.chance(self.p)
    }
}

/// Drives `valid` and the payload of a stream into the block.
pub(crate) struct Source {
    pub valid: String,
    pub ready: String,
    pub payload: Vec<String>,
    density: Density,
}

impl Source {
    pub fn new(valid: &str, ready: &str, payload: &[&str]) -> Source {
        Source {
            valid: valid.into(),
            ready: ready.into(),
            payload: payload.iter().map(|p| p.to_string()).collect(),
            density: Density { p: 0.0, left: 0 },
        }
    }

    /// `in_reset`: the last edge or this one resets the block, a pending word is void.
    pub fn drive(&mut self, random: &mut Random, inputs: &mut Inputs, in_reset: bool) {
        let wish = self.density.next(random);
        let pending = inputs.previous(&self.valid) != 0 && inputs.sampled(&self.ready) == 0;
        if pending && !in_reset {
            inputs.hold(&self.valid);
            for p in &self.payload {
                inputs.hold(p);
            }
        } else {
            inputs.set(&self.valid, wish);
        }
    }
}

/// Drives the `ready` of a stream out of the block.
pub(crate) struct Sink {
    pub ready: String,
    density: Density,
}

impl Sink {
    pub fn new(ready: &str) -> Sink {
        Sink { ready: ready.into(), density: Density { p: 0.0, left: 0 } }
    }

    pub fn drive(&mut self, random: &mut Random, inputs: &mut Inputs) {
        let ready = self.density.next(random);
        inputs.set(&self.ready, ready);
    }
}
