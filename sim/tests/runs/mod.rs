//! Scenarios that a test writes itself, run in lockstep with the golden model.
//!
//! In: a build, the sections behind the head of a scenario. Out: the outcome, and counters of it. Guarantees: a run that does not end well panics.
#![allow(dead_code)] // each test file uses its part

use mrnic_nic::config;
use mrnic_sim::models;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::world::{NodeOutcome, Options, Outcome, World};

pub fn run(name: &str, build: &str, limit_us: u32, sections: &str) -> Outcome {
    let head = format!("name = \"{name}\"\ndescription = \"-\"\nbuild = \"{build}\"\nlimit_us = {limit_us}\n");
    let scenario = Scenario::parse(&format!("{name}.toml"), &format!("{head}{sections}")).expect("a good scenario");
    let build = config::build(build).expect("a named build");
    let model = models::model(&build, false, true).expect("the build can be Verilated");
    let options = Options { lockstep: true, ..Options::default() };
    let mut world = World::new(&scenario, &build, &model, &options).expect("the scenario suits the build");
    world.run(&mut |_, _| {}).unwrap_or_else(|e| panic!("{e}"))
}

/// A counter by its name in docs/registers.md.
pub fn counter(n: &NodeOutcome, name: &str) -> u32 {
    let found = n.counters.iter().find(|(k, _)| k.eq_ignore_ascii_case(name));
    *found.unwrap_or_else(|| panic!("no counter {name}")).1
}

/// The same of a node by its number.
pub fn count(o: &Outcome, node: usize, name: &str) -> u32 {
    counter(&o.nodes[node], name)
}
