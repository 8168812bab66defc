//! sack_scoreboard: one operation in eight clocks, after all rows were cleared.
//! In: W. Out: the test; two connections, 16 rows.
use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::config::BuildConfig;
use mrnic_nic::tx::sack_scoreboard::SackScoreboard;

pub fn difftest(window: u64) -> Difftest<SackScoreboard> {
    let small = BuildConfig { conns: 2, ..crate::of_window(window) };
    let words = (window / 64).div_ceil(2) * 16;
    difftest!(SackScoreboard::new(&small), clock: clock, inputs: {
        reset, row, cum, step_cum, step_start, step_op, advance, gap_from, gap_below, turn, refuses, refused, sav0, sav1, sav2, sav3, find_start,
        find_lost_words, move_start, move_to_old, peek_start, peek_ppsn, clear, clear_address
    })
    .top("sack_scoreboard")
    .cycles(1200)
    .seed(2)
    .limit("row", 0..=15)
    .limit("clear_address", 0..=words - 1)
    .limit("advance", 0..=window)
    .limit("gap_from", 0..=window)
    .limit("gap_below", 0..=window)
    .stimulus(move |random, cycle, inputs| {
        // rows are cleared first; then one operation in eight clocks, rarely a clear
        if cycle < 40 {
            inputs.set("clear", 1u32);
            inputs.set("clear_address", (cycle % words) as u32);
        } else {
            inputs.set("clear", u32::from(random.chance(0.002)));
        }
        if cycle % 8 != 0 {
            for held in [
                "row", "cum", "step_cum", "step_op", "advance", "gap_from", "gap_below", "turn", "refuses", "refused", "find_lost_words",
            ] {
                inputs.hold(held);
            }
            (0..4).for_each(|w| inputs.hold(&format!("sav{w}")));
            for pulse in ["step_start", "find_start", "peek_start"] {
                inputs.set(pulse, 0u32);
            }
        }
    })
}
