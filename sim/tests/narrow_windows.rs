//! Builds whose paths may have 64 or 128 packets outstanding, in lockstep with a golden model of the same window.
//!
//! In: shipped scenarios, made to fit the build (`ecp5`: 64 bits wide, W = 64; `sim_w128`). Out: verified memory, no mismatch.
//! Guarantees: the scenario does on this build what it is for, and the window was the limit where losses hold it up.
mod runs;

use mrnic_nic::config::{build, BuildConfig};
use mrnic_sim::models;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::world::{Options, Outcome, World};
use mrnic_verilated::Model;
use std::sync::OnceLock;

fn of(name: &str, window_bits: usize) -> BuildConfig {
    let build = build(name).expect("a named build");
    assert_eq!(build.window_bits, window_bits);
    build
}

fn model(build: &BuildConfig) -> Model {
    static MODELS: [OnceLock<Model>; 2] = [OnceLock::new(), OnceLock::new()];
    let make = || models::model(build, false, true).expect("the build can be Verilated");
    MODELS[build.window_bits / 128].get_or_init(make).clone()
}

fn total(o: &Outcome, name: &str) -> u64 {
    o.nodes.iter().map(|n| u64::from(runs::counter(n, name))).sum()
}

/// Runs a shipped scenario with an initial window of W.
fn run(build: &BuildConfig, name: &str) -> Outcome {
    let mut scenario = Scenario::load(name).expect("a shipped scenario");
    let c = &mut scenario.connection;
    c.paths = c.paths.min(build.paths);
    c.mtu_bytes = c.mtu_bytes.min(build.max_mtu_bytes);
    c.init_window = build.window_bits as u32;
    let options = Options { lockstep: true, ..Options::default() };
    let mut world = World::new(&scenario, build, &model(build), &options).unwrap_or_else(|e| panic!("{name}: {e}"));
    let o = world.run(&mut |_, _| {}).unwrap_or_else(|e| panic!("{name} with W = {}: {e}", build.window_bits));
    println!(
        "{name}, W = {}: {} commits, {} cycles, {:.1} Gbit/s",
        build.window_bits,
        o.commits,
        o.nic_cycles,
        o.goodput_gbps()
    );
    let bytes: u64 = scenario.traffic.iter().map(|t| t.bytes).sum();
    assert_eq!(o.bytes_verified, bytes, "{name}");
    assert_eq!(total(&o, "ACK_INVALID") + total(&o, "RX_OUT_OF_WINDOW") + total(&o, "CONN_ERROR"), 0, "{name}: A1, R2");
    o
}

/// All; the last one, plane-kill, is returned.
fn all_four(build: &BuildConfig) -> Outcome {
    assert!(total(&run(build, "loss-1"), "TX_RESEND") > 0);
    assert!(total(&run(build, "reorder"), "RX_DATA_NEW") > 0);
    assert!(total(&run(build, "incast"), "EPOCH") > 0);
    run(build, "plane-kill")
}

#[test]
fn scenarios_with_64() {
    // at this rate a round trip takes as long as the kill: a change of the port brings the path back before L4 calls it DOWN
    assert!(total(&all_four(&of("ecp5", 64)), "PATH_SUSPECT") > 0);
}

#[test]
fn scenarios_with_128() {
    let killed = all_four(&of("sim_w128", 128));
    assert!(total(&killed, "PATH_SUSPECT") > 0 && total(&killed, "TX_MOVED") > 0);
}

/// An initial window above W is refused before anything runs.
#[test]
fn an_initial_window_above_w_is_refused() {
    let text = "name = \"wide\"\ndescription = \"\"\nnics = 2\nbuild = \"ecp5\"\n[connection]\npaths = 4\nmtu_bytes = 1024\ninit_window = 65\n\n[[traffic]]\nfrom = 0\nto = 1\nbytes = 1024\nmessage_bytes = 1024\n";
    let refused = Scenario::parse("wide.toml", text).expect_err("65 is above 64").to_string();
    assert!(refused.contains("connection.init_window") && refused.contains("at most 64"), "{refused}");
}
