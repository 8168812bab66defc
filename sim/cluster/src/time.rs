//! Time of the simulation: picoseconds since its start, and the ticks of 128 ns that the transport counts.
//!
//! In: one of the two. Out: the other. Guarantees that no conversion panics; a run is shorter than [`LIMIT_PS`].

/// Picoseconds since the start.
pub type Ps = u64;

pub const PS_PER_NS: u64 = 1_000;
pub const PS_PER_US: u64 = 1_000_000;
/// A time that is never reached.
pub const NEVER: Ps = u64::MAX;
/// The longest run: 10 s.
pub const LIMIT_PS: Ps = 10_000_000 * PS_PER_US;
/// MPH.tx_ts counts these.
pub const TICK_PS: u64 = 128 * PS_PER_NS;

/// The tick that `now` lies in.
pub fn tick(now: Ps) -> u32 {
    (now / TICK_PS) as u32
}

/// The start of `tick`, but of the next tick at the earliest: what is due in a tick is done once in it.
pub fn time_of_tick(now: Ps, due: u32) -> Ps {
    let current = now / TICK_PS;
    let ahead = due.wrapping_sub(current as u32) as i32;
    (current + ahead.max(1) as u64) * TICK_PS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tick_that_is_due_or_past_means_the_next_one() {
        let now = 10 * TICK_PS + 7;
        assert_eq!(time_of_tick(now, 12), 12 * TICK_PS);
        assert_eq!(time_of_tick(now, 10), 11 * TICK_PS);
        assert_eq!(time_of_tick(now, 3), 11 * TICK_PS);
        // the 32 bits of a tick wrap, the time does not
        let late = (u64::from(u32::MAX) + 5) * TICK_PS;
        assert_eq!(time_of_tick(late, tick(late).wrapping_add(9)), late + 9 * TICK_PS);
    }
}
