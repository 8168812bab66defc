//! Whole NICs in lockstep with the golden model: every shipped scenario, and random ones.
//!
//! In: the shipped scenarios; a seed (`MRNIC_SEED` overrides it, and then only that one runs). Out: verified memory, no
//! mismatch, counters that balance. Guarantees: a failure names scenario, seed and the text that repeats it.
mod runs;

use mrnic_nic::config;
use mrnic_sim::models;
use mrnic_sim::scenario::{Scenario, SHIPPED};
use mrnic_sim::world::{NodeOutcome, Options, Outcome, World};
use mrnic_verilated::Model;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::HashMap;
use std::fmt::Write;
use std::sync::Mutex;

/// One model of each build, Verilated once for all tests.
fn model(build: &str) -> Model {
    static MODELS: Mutex<Option<HashMap<String, Model>>> = Mutex::new(None);
    let mut models = MODELS.lock().unwrap_or_else(|e| e.into_inner());
    let models = models.get_or_insert_default();
    let make =
        || models::model(&config::build(build).expect("a named build"), false, true).expect("the build can be Verilated");
    models.entry(build.to_string()).or_insert_with(make).clone()
}

fn run(scenario: &Scenario) -> Result<Outcome, String> {
    let outcome = unbalanced(scenario)?;
    balance(&outcome, scenario.traffic.iter().any(|t| t.shared))?;
    Ok(outcome)
}

fn unbalanced(scenario: &Scenario) -> Result<Outcome, String> {
    let build = config::build(&scenario.build).expect("a checked scenario names a build");
    let options = Options { lockstep: true, ..Options::default() };
    let mut world = World::new(scenario, &build, &model(&scenario.build), &options).map_err(|e| e.to_string())?;
    world.run(&mut |_, _| {}).map_err(|e| e.to_string())
}

fn count(n: &NodeOutcome, name: &str) -> u64 {
    u64::from(runs::counter(n, name))
}

/// Every frame, acknowledgment, packet and WQE is accounted for in the counters of docs/registers.md. Where receives are shared, the last one is
/// kept for the oldest message (Q1), so that others may be refused for now and begin again.
fn balance(o: &Outcome, shared: bool) -> Result<(), String> {
    let sum = |n: &NodeOutcome, names: &[&str]| -> u64 { names.iter().map(|c| count(n, c)).sum() };
    let equal =
        |what: String, a: u64, b: u64| if a == b { Ok(()) } else { Err(format!("{what}: {a} and {b}\n{:#?}", o.nodes)) };
    let (mut sent, mut acks, mut received) = (0, 0, 0);
    for n in &o.nodes {
        let at = |what: &str| format!("counters of node {}: {what}", n.node);
        sent += sum(n, &["TX_NEW", "TX_RESEND", "PROBE_TAIL", "PROBE_TIMEOUT"]) - sum(n, &["CONN_ERROR"]);
        acks += sum(n, &["ACK_SENT"]);
        received += sum(
            n,
            &[
                "RX_DATA_NEW",
                "RX_DUPLICATE",
                "RX_OUT_OF_WINDOW",
                "RX_NAK",
                "RX_PROBE",
                "RX_ACK",
                "RX_DROP_FRAME",
                "RX_DROP_ICRC",
                "RX_DROP_CONN",
            ],
        );
        equal(
            at("acknowledgments received = applied + stale + invalid"),
            sum(n, &["RX_ACK"]),
            sum(n, &["ACK_APPLIED", "ACK_STALE", "ACK_INVALID"]),
        )?;
        equal(at("no acknowledgment is invalid"), sum(n, &["ACK_INVALID"]), 0)?;
        equal(at("every new packet is retired"), sum(n, &["TX_NEW"]), sum(n, &["RETIRED"]))?;
        equal(at("every WQE has its CQE"), sum(n, &["WQE"]), sum(n, &["CQE"]))?;
        equal(at("nothing fails"), sum(n, &["WQE_REFUSED", "QP_ERROR", "CONN_ERROR", "TX_SKIPPED"]), 0)?;
        if !shared {
            equal(at("nothing is refused"), sum(n, &["RX_NAK", "TX_NOP"]), 0)?;
        }
    }
    let new: u64 = o.nodes.iter().map(|n| sum(n, &["TX_NEW"])).sum();
    equal("new packets sent = placed".into(), new, o.nodes.iter().map(|n| sum(n, &["RX_DATA_NEW"])).sum())?;
    // an acknowledgment that waits is replaced by the next one of its path, so not each one becomes a frame
    let taken: u64 = o.planes.iter().map(|p| p.sent).sum();
    if taken < sent || taken > sent + acks {
        return Err(format!(
            "the planes took {taken} frames, the NICs sent {sent} and at most {acks} acknowledgments\n{:#?}",
            o.nodes
        ));
    }
    equal("frames the planes delivered = frames the NICs counted".into(), o.planes.iter().map(|p| p.delivered).sum(), received)
}

fn shipped(name: &str) -> Outcome {
    let scenario = Scenario::load(name).expect("a shipped scenario");
    let o = run(&scenario).unwrap_or_else(|e| panic!("{name}: {e}"));
    // what goes to receives of a shared queue is compared as each of them completes
    let apart = scenario.traffic.iter().filter(|t| !(t.shared && t.op.is_send()));
    let bytes: u64 = apart.map(|t| t.bytes).sum();
    println!("{name}: {} commits, {} cycles, {:.1} Gbit/s", o.commits, o.nic_cycles, o.goodput_gbps());
    assert_eq!(o.bytes_verified, bytes, "{name}");
    assert!(o.commits > bytes / 4096, "{name}: only {} steps were compared", o.commits);
    o
}

fn total(o: &Outcome, name: &str) -> u64 {
    o.nodes.iter().map(|n| count(n, name)).sum()
}

macro_rules! shipped_scenarios {
    ($($test:ident = $name:literal: $($counter:literal)*;)*) => {
        $(#[test]
        fn $test() {
            let o = shipped($name);
            // the scenario does what it is for
            $(assert!(total(&o, $counter) > 0, "{}: {} is 0", $name, $counter);)*
            let _ = &o;
        })*

        #[test]
        fn no_shipped_scenario_is_left_out() {
            let tested = [$($name),*];
            for (name, _) in SHIPPED {
                assert!(tested.contains(name), "scenario {name} has no test");
            }
        }
    };
}

shipped_scenarios! {
    clean = "clean":;
    demo = "demo": "TX_RESEND";
    loss_1 = "loss-1": "TX_RESEND";
    loss_10 = "loss-10": "TX_RESEND" "PROBE_TAIL";
    burst_loss = "burst-loss": "PROBE_TAIL" "PATH_SUSPECT" "TX_MOVED";
    reorder = "reorder": "RX_DATA_NEW";
    plane_kill = "plane-kill": "PATH_SUSPECT" "TX_MOVED";
    incast = "incast": "EPOCH";
    bit_errors = "bit-errors": "RX_DROP_ICRC" "RX_DUPLICATE";
    min_fifos = "min-fifos": "TX_RESEND";
    sends = "sends": "RX_DATA_NEW";
    lists_with_loss = "lists-loss": "TX_RESEND" "RX_DUPLICATE";
    reads = "reads": "RX_DATA_NEW";
    reads_with_loss = "reads-loss": "TX_RESEND";
    atomics_with_loss = "atomics-loss": "TX_RESEND" "RX_DUPLICATE";
    sends_loss = "sends-loss": "TX_RESEND" "RX_DUPLICATE";
}

/// D6 where every buffer is as small as it can be: an acknowledgment waits for room while the response of its packet is told already.
#[test]
fn reads_with_the_smallest_buffers() {
    for name in ["reads-loss", "atomics-loss"] {
        let scenario = Scenario::load(name).expect("a shipped scenario");
        let smallest = Scenario { build: "sim_min".into(), seed: 2, ..scenario };
        // requests may find no place and come again (D3)
        unbalanced(&smallest).unwrap_or_else(|e| panic!("{name}: {e}"));
    }
}

/// A scenario drawn from everything that a fabric, a host and a configuration may do at once.
fn random(seed: u64) -> String {
    let mut r = SmallRng::seed_from_u64(seed);
    fn pick<T: Copy>(r: &mut SmallRng, of: &[T]) -> T {
        of[r.random_range(0..of.len())]
    }
    let mut t = format!("name = \"random\"\ndescription = \"drawn\"\nseed = {seed}\nlimit_us = 60000\n");
    let build = pick(&mut r, &["sim", "sim", "sim_min"]);
    let planes = pick(&mut r, &[1usize, 2, 4, 4]);
    let mtu: u64 = pick(&mut r, &[256, 512, 1024, 2048, 4096]);
    let _ = writeln!(t, "build = \"{build}\"\n[connection]");
    let _ = writeln!(t, "paths = {}\nmtu_bytes = {mtu}\nipv6 = {}", pick(&mut r, &[1, 2, 4, 8]), r.random_bool(0.4));
    let _ = writeln!(t, "init_window = {}\nretry_cnt = 15", pick(&mut r, &[1, 2, 16, 64, 256]));
    if r.random_bool(0.3) {
        let _ = writeln!(t, "init_hint_mbps = {}", pick(&mut r, &[2000, 10_000, 40_000]));
    }
    if r.random_bool(0.3) {
        let _ = writeln!(t, "hint_capacity_mbps = {}", pick(&mut r, &[4000, 20_000]));
    }
    let _ = writeln!(t, "[fabric]\nplanes = {planes}\nrate_gbps = {}", pick(&mut r, &[5.0, 10.0, 40.0]));
    let _ = writeln!(t, "delay_ns = {}\njitter_ns = {}", pick(&mut r, &[200, 1000, 5000]), pick(&mut r, &[0, 0, 2000]));
    if r.random_bool(0.4) {
        let _ = writeln!(t, "ecn_threshold_bytes = 20000\nbuffer_bytes = {}", pick(&mut r, &[16_000, 40_000, 400_000]));
    }
    for (key, values) in [
        ("loss_data", [0.0, 0.01, 0.05, 0.15]),
        ("loss_ack", [0.0, 0.01, 0.05, 0.15]),
        ("duplicate", [0.0, 0.0, 0.02, 0.2]),
        ("bit_error", [0.0, 0.0, 0.01, 0.05]),
        ("reorder", [0.0, 0.0, 0.05, 0.2]),
    ] {
        let _ = writeln!(t, "{key} = {:?}", pick(&mut r, &values));
    }
    if planes > 1 && r.random_bool(0.4) {
        let plane = r.random_range(0..planes);
        let at = r.random_range(1_000..60_000);
        let _ = write!(t, "events = [{{ at_ns = {at}, plane = {plane}, action = \"kill\" }}");
        if r.random_bool(0.7) {
            let _ =
                write!(t, ", {{ at_ns = {}, plane = {plane}, action = \"revive\" }}", at + r.random_range(1_000u64..1_500_000));
        }
        let _ = writeln!(t, "]");
    }
    let _ = writeln!(
        t,
        "[host]\nread_latency_ns = [{}, 900]\nstall = {:?}",
        pick(&mut r, &[20, 300]),
        pick(&mut r, &[0.0, 0.0, 0.02])
    );
    for from in 0..pick(&mut r, &[1, 2]) {
        let bytes = r.random_range(1..30) * mtu + r.random_range(0..mtu);
        let message = pick(&mut r, &[mtu / 3 + 1, mtu, 3 * mtu + 1, 17 * mtu]);
        let _ = writeln!(t, "[[traffic]]\nfrom = {from}\nto = {}\nbytes = {bytes}\nmessage_bytes = {message}", 1 - from);
        if build == "sim_min" {
            let _ = writeln!(t, "pieces = {}", pick(&mut r, &[1, 4]));
        }
        // with minimal FIFOs receives come too slowly: the sender would need to try again (N1)
        if build == "sim" {
            let _ = writeln!(t, "op = \"{}\"", pick(&mut r, &["write", "write", "send", "send_imm", "write_imm"]));
        }
        let _ = writeln!(
            t,
            "qps = {}\nmisalign = [{}, {}]",
            pick(&mut r, &[1, 2, 3]),
            r.random_range(0..4096),
            r.random_range(0..4096)
        );
        let _ = writeln!(t, "start_ns = {}", pick(&mut r, &[0, 0, 700, 40_000]));
    }
    t
}

fn random_scenario(seed: u64) -> Result<(), String> {
    let text = random(seed);
    let s = Scenario::parse("drawn.toml", &text).map_err(|e| e.to_string())?;
    let o = run(&s).map_err(|e| format!("{e}\nMRNIC_SEED={seed}, the scenario was:\n{text}"))?;
    println!("seed {seed}: {} commits, {} cycles", o.commits, o.nic_cycles);
    Ok(())
}

/// Random scenarios `first` to `first + count - 1`, or the one of `MRNIC_SEED`.
fn random_scenarios(first: u64, count: u64) {
    let only: Option<u64> = std::env::var("MRNIC_SEED").ok().map(|s| s.parse().expect("MRNIC_SEED is a number"));
    let more: u64 = std::env::var("MRNIC_SCENARIOS").map_or(count, |n| n.parse().expect("MRNIC_SCENARIOS is a number"));
    let seeds: Vec<u64> = only.map_or_else(|| (first..first + more).collect(), |s| vec![s]);
    let failed: Vec<String> = seeds.into_iter().filter_map(|s| random_scenario(s).err()).collect();
    assert!(failed.is_empty(), "{} random scenarios failed, the first:\n{}", failed.len(), failed[0]);
}

#[test]
fn random_scenarios_run_in_lockstep() {
    random_scenarios(1000, 12);
}

#[test]
fn more_random_scenarios_run_in_lockstep() {
    random_scenarios(2000, 12);
}
