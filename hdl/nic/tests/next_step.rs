//! next_step against a plain list of priorities; a slot is never kept waiting by more than four other steps; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::next_step::NextStep;
use rx_support::{Bench, Rng};

const MAY: [&str; 4] = ["ack_may", "open_may", "timer_may", "slot_may"];
const START: [&str; 4] = ["start_ack", "start_open", "start_timer", "start_slot"];
const SLOT: usize = 3;

/// The step that begins, and how many others have begun since the last slot.
fn reference(may: [bool; 4], choose: bool, idle: bool, others: &mut u64) -> Option<usize> {
    let slot_first = may[SLOT] && *others >= 4;
    let wanted = if slot_first { Some(SLOT) } else { (0..4).find(|&i| may[i]) };
    // openings and timers wait for an idle clock, and nothing overtakes them
    let step = wanted.filter(|&s| choose && (idle || s == 0 || s == SLOT));
    match step {
        Some(SLOT) => *others = 0,
        Some(_) => *others += 1,
        None => {}
    }
    step
}

#[test]
fn one_step_begins_in_the_order_of_priorities() {
    let mut rng = Rng(seed(6));
    let mut b = Bench::new("next_step", NextStep::new);
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    let (mut others, mut waited, mut begun) = (0, 0, [0u32; 4]);
    for clock in 0..20_000 {
        let percent = pick(&mut rng, &[10, 50, 90]);
        let may: [bool; 4] = std::array::from_fn(|_| rng.chance(percent));
        let (choose, idle) = (rng.chance(60), rng.chance(50));
        for (name, value) in MAY.iter().zip(may) {
            b.set(name, value.into());
        }
        b.set("choose", choose.into());
        b.set("idle", idle.into());
        b.eval();
        let got: Vec<usize> = (0..4).filter(|&i| b.get(START[i]) == 1).collect();
        let want = reference(may, choose, idle, &mut others);
        assert_eq!(got, want.into_iter().collect::<Vec<_>>(), "clock {clock}: may {may:?} choose {choose} idle {idle}");
        if let Some(step) = want {
            assert_eq!(
                (b.get("first_ack") == 1, b.get("first_timer") == 1),
                (step == 0, step == 1 || step == 2),
                "clock {clock}"
            );
            begun[step] += 1;
            waited = if step == SLOT || !may[SLOT] { 0 } else { waited + 1 };
            assert!(waited <= 4, "clock {clock}: {waited} steps overtook a slot");
        }
        b.cycle();
    }
    assert!(begun.iter().all(|&n| n > 200), "{begun:?}");
}

#[test]
fn simulation_equals_verilog() {
    let report =
        difftest!(NextStep::new(), clock: clock, inputs: { reset, choose, idle, ack_may, open_may, timer_may, slot_may })
            .top("next_step")
            .cycles(3000)
            .seed(6)
            .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
