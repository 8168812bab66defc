//! ack_check against section 6 of docs/protocol.md on unbounded numbers (A1, A2, N1, and the bounds of L1, L2, L5); fault 3;
//! simulation = Verilog.
mod ack_support;
mod block_support;
mod rx_support;

use ack_support::{case, ports, reference, Case, Verdict};
use block_support::{rows, seed};
use mrnic_difftest::{difftest, Inputs};
use mrnic_nic::tx::ack_check::AckCheck;
use rx_support::{Bench, Rng};

fn verdict(b: &mut Bench) -> Verdict {
    match b.get("verdict") {
        0 => {
            let (from, below) = (b.get("gap_from") as i64, b.get("gap_below") as i64);
            Verdict::Applied {
                probe: b.get("probe") == 1,
                probe_edge: b.get("probe_edge") == 1,
                floor_active: b.get("floor_active") == 1,
                turn: b.get("turn") == 1,
                advance: b.get("advance") as i64,
                gap: if below > from { from..below } else { 0..0 },
                refuses: b.get("refuses") == 1,
            }
        }
        1 => Verdict::Disabled,
        2 => Verdict::Stale,
        _ => Verdict::Invalid,
    }
}

#[test]
fn verdict_and_bounds_are_those_of_unbounded_numbers() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("ack_check", AckCheck::new);
    let (mut counts, mut turns, mut gaps, mut floors, mut refusals) = ([0; 4], 0, 0, 0, 0);
    for round in 0..15_000 {
        let c = case(&mut rng);
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(name, &value);
        }
        b.dut.cycles(2);
        let want = reference(&c);
        assert_eq!(verdict(&mut b), want, "round {round}: {c:?}");
        match want {
            Verdict::Applied { turn, gap, floor_active, refuses, .. } => {
                refusals += u64::from(refuses);
                counts[0] += 1;
                turns += u64::from(turn);
                gaps += u64::from(!gap.is_empty());
                floors += u64::from(floor_active && gap.start + c.cum == c.floor && !gap.is_empty());
            }
            Verdict::Disabled => counts[1] += 1,
            Verdict::Stale => counts[2] += 1,
            Verdict::Invalid => counts[3] += 1,
        }
    }
    assert!(counts.iter().all(|n| *n > 500) && turns > 500 && gaps > 500 && floors > 50, "{counts:?} {turns} {gaps} {floors}");
    assert!(refusals > 500 && refusals < counts[0], "{refusals}");
}

/// Fault 3: the marker is ignored, a resend is lost again at any acknowledgment.
#[test]
fn fault_3_turns_without_the_marker() {
    let mut rng = Rng(9);
    let mut b = Bench::new("ack_check", AckCheck::new);
    let quiet = Case {
        state: 1,
        cum: 100,
        next: 110,
        gen_open: true,
        mark: 110,
        probe_pending: false,
        probe_ts: 0,
        probe_ppsn: 100,
        floor_active: false,
        floor: 100,
        floor_time: 0,
        reo_tol: 0,
        now: 50,
        rto_min: 782,
        ack_cum: 101,
        sav: Some(3),
        probe_reply: false,
        ts_echo: 5,
        refused: None,
        fault: 0,
    };
    for (fault, mark, turn) in [(0, 110, 0), (3, 110, 1), (0, 105, 1), (0, 106, 0)] {
        for (name, value) in ports(&Case { fault, mark, ..quiet.clone() }, &mut rng) {
            b.set_words(name, &value);
        }
        b.dut.cycles(2);
        assert_eq!((b.get("verdict"), b.get("turn")), (0, turn), "fault {fault} mark {mark}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let set = |inputs: &mut Inputs, rng: &mut Rng| {
        let c = case(rng);
        ports(&c, rng).into_iter().for_each(|(name, value)| inputs.set(name, value));
    };
    let report = difftest!(AckCheck::new(), clock: clock, inputs: { fault, now, rto_min, high, any })
        .input_as("ack", |b| &mut b.ack, rows::ack_fields)
        .input_as("path", |b| &mut b.path, rows::path_tx)
        .input_as("row", |b| &mut b.row, rows::path_ack)
        .top("ack_check")
        .cycles(4000)
        .seed(1)
        .stimulus(move |random, _, inputs| {
            // one time in four everything is random
            if random.chance(0.75) {
                set(inputs, &mut Rng(random.u64() | 1));
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
