//! Small set-ups for the tests. The seed of a random test is printed and can be given as MRNIC_SEED.
use clap::Parser;
use mrnic_cluster::command::{run as run_command, ClusterArgs};
use mrnic_cluster::queue::{EventQueue, RadixQueue};
use mrnic_cluster::time::PS_PER_US;
use mrnic_cluster::{Endpoint, MetaRoce256, NetworkConfig, Outcome, Pattern, Setup, Sim, WorkloadConfig};

pub fn seed(default: u64) -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    println!("seed {seed} (repeat with MRNIC_SEED={seed})");
    seed
}

pub fn workload(pattern: Pattern, bytes: u64) -> WorkloadConfig {
    WorkloadConfig::new(pattern, bytes)
}

/// 16 hosts on 4 leaves and 4 spines, 4 planes of 100 Gbit/s.
pub fn small() -> NetworkConfig {
    NetworkConfig { hosts: 16, hosts_per_leaf: 4, spines: 4, planes: 4, rate_gbps: 100.0, ..NetworkConfig::default() }
}

pub fn sim<E: Endpoint, Q: EventQueue>(network: &NetworkConfig, workload: &WorkloadConfig, seed: u64) -> Sim<E, Q>
where
    E::Config: Default,
{
    sim_with(network, workload, seed, &E::Config::default())
}

pub fn sim_with<E: Endpoint, Q: EventQueue>(
    network: &NetworkConfig,
    workload: &WorkloadConfig,
    seed: u64,
    config: &E::Config,
) -> Sim<E, Q> {
    network.check().unwrap();
    workload.check(network).unwrap();
    let setup = Setup { network, workload, trace: None, seed, limit: 50_000 * PS_PER_US, sample: 10 * PS_PER_US };
    Sim::new(&setup, config).unwrap()
}

pub fn run(network: &NetworkConfig, workload: &WorkloadConfig, seed: u64) -> Outcome {
    let mut sim = sim::<MetaRoce256, RadixQueue>(network, workload, seed);
    sim.run();
    sim.outcome()
}

#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    args: ClusterArgs,
}

/// The error of `mrnic cluster` as text; none if the command succeeded.
pub fn cluster(args: &[&str]) -> Option<String> {
    match Cli::try_parse_from(std::iter::once(&"cluster").chain(args)) {
        Ok(cli) => run_command(&cli.args).err().map(|e| format!("{e:#}")),
        Err(e) => Some(e.to_string()),
    }
}

/// An experiment of a moment.
pub const TINY: &str = r#"
name = "tiny"
title = "tiny"
description = "tiny"
seeds = 1
[network]
hosts = 4
hosts_per_leaf = 2
[workload]
pattern = "permutation"
bytes = 100000
[[series]]
label = "a"
transport = "metaroce"
[[point]]
label = "p"
[[figure]]
name = "impossible goodput"
metric = "goodput_gbps"
series = "a"
point = "p"
least = 1e9
"#;
