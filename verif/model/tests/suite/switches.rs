//! Switches that only measure what a rule is worth: each takes its one rule away and nothing else.
use crate::rules_tx::{ack_of, open, Path, RTO_MIN};
use mrnic_model::tx::ack::apply;
use mrnic_model::tx::timer::{deadline, step, Others};
use mrnic_model::*;

/// Five packets out, the first lost, with a round trip of 8 ticks known.
fn gap<C: CongestionControl<Path = ()>>(cc: &C, now: Tick) -> Path {
    let mut path = open(0, 8);
    (0..5).for_each(|_| {
        path.send_new(now);
    });
    path.srtt8 = 64;
    path.rtt_valid = true;
    let (cum, ack) = ack_of(0, &[1, 2]);
    let outcome = apply(cc, &mut path, now + 100, cum, &ack, RTO_MIN, 256);
    assert_eq!((outcome.lost_l1.count(), path.nlost), (1, 1));
    path
}

#[test]
fn a_loss_cuts_the_window_only_with_the_switch_and_once_a_round_trip() {
    assert_eq!(gap(&Aimd, 0).win.window, 8, "C1");
    let mut path = gap(&LossCuts, 0);
    assert_eq!(path.win.window, 4);
    LossCuts.on_loss(&mut path.win, &mut (), 107, 8);
    assert_eq!(path.win.window, 4, "within a round trip");
    LossCuts.on_loss(&mut path.win, &mut (), 108, 8);
    assert_eq!(path.win.window, 2);
}

#[test]
fn without_l3_only_the_timer_asks() {
    let due = |without_l3: bool| {
        let mut path = Path { without_l3, ..gap(&Aimd, 0) };
        let at = deadline(&path, 100, RTO_MIN, Others::default()).expect("packets are out");
        let action = step(&Aimd, &mut path, at, RTO_MIN, 7, Others::default());
        (at - 100, action)
    };
    let (tail, probe) = due(false);
    assert!(tail < RTO_MIN && probe == TimerAction::TailProbe);
    let (timer, probe) = due(true);
    assert!(timer >= RTO_MIN && probe == TimerAction::TimeoutProbe, "{timer} {probe:?}");
}
