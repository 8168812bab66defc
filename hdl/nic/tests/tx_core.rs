//! The transmit core in Verilator against the golden model's rules, commit by commit, over a fabric that loses, reorders and marks.
mod tx_core_support;

use mrnic_emit::on_deep_stack;
use mrnic_nic::config::{build, BuildConfig};
use tx_core_support::weather::{Tally, Weather};
use tx_core_support::Bench;

fn run(build_name: &'static str, weather: Weather, drain: bool) -> Tally {
    run_build(build(build_name).unwrap(), weather, drain)
}

fn run_build(config: BuildConfig, weather: Weather, drain: bool) -> Tally {
    let work = move || {
        let mut bench = Bench::new(&config, weather);
        bench.run(drain);
        println!("{} W {} seed {}: {:?}", config.name, config.window_bits, weather.seed, bench.tally);
        bench.tally
    };
    on_deep_stack(work)
}

#[test]
fn calm_fabric() {
    let t = run("sim", Weather::calm(1, 60_000), true);
    // L4: the first timeout of a path moves a packet (RTO_MIN is short here)
    assert!(
        t.new_packets > 1000 && t.resends == t.moved && t.moved * 50 < t.new_packets && t.lost_l1 + t.lost_l2 == 0,
        "{t:?}"
    );
    assert!(t.ack_clocks <= 7, "an acknowledgment took {} clocks", t.ack_clocks);
    assert!(t.grant_clocks <= 6, "a new packet took {} clocks", t.grant_clocks);
}

/// Meta's promise: exactly the missing packet is resent the moment the gap appears. One connection, so that nobody else is in the way.
#[test]
fn a_resend_leaves_at_once() {
    let work = || {
        let config = BuildConfig { conns: 1, ..build("sim").unwrap() };
        let mut bench = Bench::new(&config, Weather { loss: 0.01, ..Weather::calm(8, 100_000) });
        bench.run(true);
        println!("{:?}", bench.tally);
        bench.tally
    };
    let t = on_deep_stack(work);
    assert!(t.lost_l1 > 20 && t.resends >= t.lost_l1, "{t:?}");
    assert!(t.resend_clocks <= 64, "a resend left {} clocks after the acknowledgment that showed the gap", t.resend_clocks);
}

/// L3, L4: while the packet builder is the limit, a slot always waits for it; timers still have their turn.
#[test]
fn timers_are_on_time_while_the_packet_builder_is_the_limit() {
    let t = run("sim", Weather { loss: 0.1, desc_clocks: 40, ..Weather::calm(9, 200_000) }, true);
    assert!(t.new_packets > 1000 && t.timers[1] > 20, "{t:?}");
    // probes that are due together leave one in 40 clocks
    assert!(t.timer_late_clocks <= 1000, "a timer was {} clocks late", t.timer_late_clocks);
}

/// L1, L2, L3, L6, C1, R2: losses, duplicates, marks.
#[test]
fn rough_fabric() {
    let weather = Weather { loss: 0.05, ce: 0.02, reorder_cycles: 150, nonsense: 0.3, naks: 0.1, ..Weather::calm(2, 200_000) };
    let t = run("sim", weather, true);
    assert!(t.lost_l1 > 100 && t.lost_l2 > 10 && t.timers[1] > 5 && t.acks[2] > 5 && t.acks[3] > 5 && t.naks > 100, "{t:?}");
}

/// N1: packets that are refused for now, with and without a nak of the same acknowledgment.
#[test]
fn refusals_for_now() {
    let weather = Weather { loss: 0.05, reorder_cycles: 150, naks: 0.1, rnrs: 0.3, ..Weather::calm(10, 150_000) };
    let config = BuildConfig { sends: true, ..build("sim").unwrap() };
    let t = run_build(config, Weather { back_pressure: true, ..weather }, true);
    assert!(t.rnrs > 100 && t.naks > 100 && t.resends > 100, "{t:?}");
    let t = run_build(BuildConfig { sends: false, ..config }, weather, true);
    assert!(t.rnrs == 0 && t.naks > 100, "{t:?}");
}

/// L4, L5: paths that stop for a while; connections that are given up.
#[test]
fn outages() {
    let weather = Weather { loss: 0.02, outages: 0.4, ..Weather::calm(3, 400_000) };
    let t = run("sim", weather, false);
    assert!(
        t.timers[4] > 0 && t.timers[7] > 2 && t.timers[8] > 2 && t.timers[9] > 0 && t.timers[10] > 0 && t.moved > 0,
        "{t:?}"
    );
}

/// C2, C3, C4: rate hints.
#[test]
fn rate_hints() {
    let weather = Weather { loss: 0.01, hints: true, ..Weather::calm(4, 200_000) };
    let t = run("sim", weather, true);
    assert!(t.new_packets > 500, "{t:?}");
}

/// S2, S6: QPs in Error; every stream held back at random; FIFOs at their minimum.
#[test]
fn errors_and_back_pressure() {
    let weather = Weather { loss: 0.1, qp_errors: true, back_pressure: true, ..Weather::calm(5, 200_000) };
    let t = run("sim_min", weather, true);
    assert!(t.skips > 0 && t.nops > 0 && t.resends > 100, "{t:?}");
}

fn with_reads() -> BuildConfig {
    BuildConfig { sends: true, reads: true, responses: 4, ..build("sim").unwrap() }
}

/// D4, S2, S6, D7: responses beside messages; queue pairs in Error lose theirs, ERROR_RESPs stay what they are.
#[test]
fn responses() {
    let calm = run_build(with_reads(), Weather { responses: 20.0, ..Weather::calm(13, 60_000) }, true);
    assert!(calm.responses.iter().all(|n| *n > 50) && calm.lost_l1 + calm.lost_l2 == 0, "{calm:?}");
    assert_eq!(calm.responses_retired, calm.responses[1] + calm.responses[2]);
    assert!(calm.grant_clocks <= 6, "a new packet took {} clocks", calm.grant_clocks);
    let rough = Weather { loss: 0.1, qp_errors: true, back_pressure: true, naks: 0.1, rnrs: 0.2, ..Weather::calm(14, 150_000) };
    let t = run_build(with_reads(), Weather { responses: 20.0, ..rough }, true);
    assert!(t.skips > 0 && t.nops > 0 && t.responses.iter().all(|n| *n > 50), "{t:?}");
    assert_eq!(t.responses_retired, t.responses[1] + t.responses[2]);
}

/// A connection that was given up drops its responses, whatever its queue pairs are in, and tells of ERROR_RESPs.
#[test]
fn responses_of_a_connection_that_was_given_up() {
    let weather = Weather { loss: 0.02, outages: 2.0, qp_errors: true, responses: 20.0, ..Weather::calm(15, 400_000) };
    let t = run_build(with_reads(), weather, false);
    assert!(t.conn_errors > 0 && t.lost > 2 && t.skips > 0, "{t:?}");
}

fn narrow(window_bits: usize) -> BuildConfig {
    BuildConfig { window_bits, ..build("sim").unwrap() }
}

/// The same rules with W = 64 and 128: ok(p), S4, C1, L6, A1, in one and in two words a set.
#[test]
fn narrow_windows() {
    for window_bits in [64, 128] {
        let weather = Weather { loss: 0.05, ce: 0.002, reorder_cycles: 150, nonsense: 0.3, ..Weather::calm(11, 200_000) };
        let t = run_build(narrow(window_bits), weather, true);
        assert!(t.lost_l1 > 100 && t.lost_l2 > 10 && t.timers[1] > 5 && t.acks[2] > 5 && t.acks[3] > 5, "{t:?}");
        let t = run_build(narrow(window_bits), Weather { ce: 0.0, outages: 0.4, ..weather }, false);
        assert!(t.timers[2] > 5 && t.timers[4] > 0 && t.timers[8] > 2 && t.timers[9] > 0 && t.moved > 0, "{t:?}");
    }
}

/// Acknowledged packets that completion does not take for a while: their entries stay what they were, although the path has
/// sent a whole window since.
#[test]
fn a_slow_completion_gets_the_right_packets() {
    for window_bits in [256, 64] {
        let weather = Weather { ret_pauses: 2_000, ..Weather::calm(12, 200_000) };
        let t = run_build(narrow(window_bits), weather, true);
        assert!(t.retired > 1000, "{t:?}");
    }
}

/// A seeded fault must be noticed: the run with it fails, and says where.
fn is_noticed(fault: u64, why: &str, weather: Weather) {
    let work = move || {
        let mut bench = Bench::new(&BuildConfig { faults: true, ..build("sim").unwrap() }, Weather { fault, ..weather });
        bench.run(false);
    };
    let outcome = std::panic::catch_unwind(|| on_deep_stack(work));
    let panic = outcome.expect_err("the fault was not noticed");
    let text = panic.downcast_ref::<String>().expect("a message");
    assert!(text.contains(why), "fault {fault} was noticed by something else: {text}");
}

#[test]
fn seeded_faults_are_noticed() {
    let rough = Weather { loss: 0.05, ce: 0.1, reorder_cycles: 150, ..Weather::calm(7, 200_000) };
    is_noticed(1, "grant: new packet: ", Weather { ce: 0.3, ..Weather::calm(7, 100_000) });
    is_noticed(3, "ack: ack: ", Weather { ce: 0.0, ..rough });
    is_noticed(4, "grant: resend: via is", rough);
    is_noticed(5, "ack: ack: window is", rough);
    is_noticed(7, "grant: new packet: ", Weather { hints: true, ..Weather::calm(7, 100_000) });
}
