//! run_list against a queue whose members are known by their push and pop clocks; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::run_list::RunList;
use rx_support::{Bench, Rng};
use std::collections::VecDeque;

/// The rule: a push enters the identifier unless it is waiting or is popped in the very clock of the push; it shows two
/// clocks later. The oldest push is popped first.
struct Reference {
    /// (clock of the push, identifier), oldest first.
    queue: VecDeque<(u64, u64)>,
}

impl Reference {
    fn head(&self, clock: u64) -> Option<u64> {
        self.queue.front().filter(|(pushed, _)| pushed + 2 <= clock).map(|(_, id)| *id)
    }

    fn step(&mut self, clock: u64, push: Option<u64>, pop: bool) {
        let popped = self.head(clock).filter(|_| pop);
        if let Some(id) = push.filter(|id| self.queue.iter().all(|(_, waiting)| waiting != id)) {
            self.queue.push_back((clock, id));
        }
        if popped.is_some() {
            self.queue.pop_front();
        }
    }
}

fn bench(ids: usize) -> Bench {
    let mut b = Bench::new(&format!("run_list_{ids}"), move || RunList::new(ids));
    b.reset();
    b
}

/// One clock of both; returns the head before it.
fn step(b: &mut Bench, reference: &mut Reference, clock: u64, push: Option<u64>, pop: bool) -> Option<u64> {
    b.set("push_valid", push.is_some().into());
    b.set("push_id", push.unwrap_or(0));
    b.set("pop", pop.into());
    b.eval();
    let got = (b.get("empty") == 0).then(|| b.get("id"));
    assert_eq!(got, reference.head(clock), "clock {clock}: push {push:?} pop {pop} of {:?}", reference.queue);
    b.cycle();
    reference.step(clock, push, pop);
    got
}

#[test]
fn each_identifier_waits_at_most_once_and_in_order() {
    let start = seed(1);
    for ids in [1u64, 5] {
        let mut rng = Rng(start + ids);
        let mut b = bench(ids as usize);
        let mut reference = Reference { queue: VecDeque::new() };
        let (mut full, mut refused, mut popped) = (0, 0, 0);
        let (mut pushes, mut pops, mut last) = (50, 50, 0);
        for clock in 0..20_000u64 {
            if clock % 64 == 0 {
                (pushes, pops) = (pick(&mut rng, &[0, 10, 50, 100]), pick(&mut rng, &[0, 10, 50, 100]));
            }
            if rng.below(4000) == 0 {
                // reset in the middle of the work: all is forgotten
                b.set("push_valid", 0);
                b.set("pop", 0);
                b.reset();
                reference.queue.clear();
            }
            // the same identifier back to back, the one at the head, or any
            let id = match rng.below(4) {
                0 => last,
                1 => reference.queue.front().map_or(0, |f| f.1),
                _ => rng.below(ids),
            };
            let push = rng.chance(pushes).then_some(id);
            full += u64::from(reference.queue.len() as u64 == ids);
            refused += u64::from(push.is_some_and(|id| reference.queue.iter().any(|w| w.1 == id)));
            last = push.unwrap_or(last);
            let pop = rng.chance(pops);
            popped += u64::from(step(&mut b, &mut reference, clock, push, pop).is_some() && pop);
        }
        assert!(full > 500 && refused > 500 && popped > 500, "{ids} ids: full {full} refused {refused} popped {popped}");
    }
}

/// What led to a push in the clock of the pop or before it is seen by the one who pops; a later push is a new entry.
#[test]
fn a_push_one_clock_after_the_pop_is_not_lost() {
    for (late, want) in [(0, None), (1, Some(2))] {
        let mut b = bench(5);
        let mut reference = Reference { queue: VecDeque::new() };
        step(&mut b, &mut reference, 0, Some(2), false);
        step(&mut b, &mut reference, 1, None, false);
        for clock in 2..8 {
            let push = (clock == 2 + late).then_some(2);
            let head = step(&mut b, &mut reference, clock, push, clock == 2);
            if clock >= 4 + late {
                assert_eq!(head, want, "pushed {late} clocks after the pop, clock {clock}");
            }
        }
    }
}

#[test]
fn pushes_before_the_marks_are_cleared_are_ignored() {
    let mut b = bench(5);
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    b.set("push_valid", 1);
    b.set("push_id", 3);
    while b.get("init_done") == 0 {
        assert_eq!(b.get("empty"), 1);
        b.cycle();
    }
    b.set("push_valid", 0);
    b.dut.cycles(3);
    assert_eq!(b.get("empty"), 1);
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(RunList::new(5), clock: clock, inputs: { reset, push_valid, push_id, pop })
        .top("run_list_5")
        .cycles(6000)
        .seed(1)
        .limit("push_id", 0..=4)
        .stimulus({
            let (mut pushes, mut pops) = (0.5, 0.5);
            move |random, cycle, inputs| {
                if cycle % 50 == 0 {
                    (pushes, pops) = (*random.pick(&[0.1, 0.5, 1.0]), *random.pick(&[0.0, 0.3, 1.0]));
                }
                inputs.set("push_valid", random.chance(pushes));
                inputs.set("pop", random.chance(pops));
                if random.chance(0.2) {
                    inputs.hold("push_id");
                }
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
