//! The random source of the stimuli.
//! Comes in: a seed. Goes out: bits with the corners that hardware fails at.
//! Guarantees that a seed gives the same sequence on every machine.

use rand::{rngs::StdRng, Rng, SeedableRng};

/// A seeded generator with the few forms a test bench needs.
pub struct Random(StdRng);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(StdRng::seed_from_u64(seed))
    }

    /// 0 or 1 with equal chances.
    pub fn bool(&mut self) -> bool {
        self.0.random()
    }

    /// True with probability `p` (0.0 to 1.0).
    pub fn chance(&mut self, p: f64) -> bool {
        self.0.random_bool(p.clamp(0.0, 1.0))
    }

    /// 0 to `n` - 1; 0 when `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        if n == 0 {
            0
        } else {
            self.0.random_range(0..n)
        }
    }

    pub fn u64(&mut self) -> u64 {
        self.0.random()
    }

    /// One of the elements.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        assert!(!from.is_empty(), "nothing to pick from");
        &from[self.below(from.len() as u64) as usize]
    }

    /// `bits` uniformly random bits as words.
    pub fn words(&mut self, bits: usize) -> Vec<u32> {
        let mut w: Vec<u32> = (0..bits.div_ceil(32).max(1)).map(|_| self.0.random()).collect();
        crate::drive::cut(&mut w, bits);
        w
    }

    /// Like `words`, but in 30 % of the calls a corner: zero, all ones, one bit, the previous value, the previous value
    /// plus or minus one, or a number below 8.
    pub fn words_with_corners(&mut self, bits: usize, previous: &[u32]) -> Vec<u32> {
        if bits == 1 || !self.chance(0.3) {
            return self.words(bits);
        }
        let mut w = vec![0u32; bits.div_ceil(32).max(1)];
        match self.below(7) {
            0 => {}
            1 => w.fill(u32::MAX),
            2 => {
                let bit = self.below(bits as u64) as usize;
                w[bit / 32] = 1 << (bit % 32);
            }
            3 => w.copy_from_slice(previous),
            4 => step(&mut w, previous, 1),
            5 => step(&mut w, previous, u32::MAX),
            _ => w[0] = self.below(8) as u32,
        }
        crate::drive::cut(&mut w, bits);
        w
    }
}

/// `out = from + 1`, or `from - 1` for `first` = all ones.
fn step(out: &mut [u32], from: &[u32], first: u32) {
    let extension = if first == 1 { 0 } else { u32::MAX };
    let mut carry = 0u64;
    for (i, (o, f)) in out.iter_mut().zip(from).enumerate() {
        let sum = u64::from(*f) + u64::from(if i == 0 { first } else { extension }) + carry;
        *o = sum as u32;
        carry = sum >> 32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn corners_occur_and_stay_inside_the_width() {
        let mut r = Random::new(3);
        let previous = [u32::MAX, 0xff];
        let (mut zero, mut ones, mut same, mut next, mut before) = (0, 0, 0, 0, 0);
        for _ in 0..10_000 {
            let w = r.words_with_corners(40, &previous);
            assert_eq!(w[1] >> 8, 0);
            zero += u32::from(w == [0, 0]);
            ones += u32::from(w == [u32::MAX, 0xff]);
            same += u32::from(w == previous);
            next += u32::from(w == [0, 0]);
            before += u32::from(w == [u32::MAX - 1, 0xff]);
        }
        for n in [zero, ones, same, next, before] {
            assert!(n > 200, "{zero} {ones} {same} {next} {before}");
        }
    }
}
