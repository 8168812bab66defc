//! Small set-ups for the tests. The seed of a random test is printed and can be given as MRNIC_SEED.
use mrnic_cluster::queue::{EventQueue, RadixQueue};
use mrnic_cluster::time::PS_PER_US;
use mrnic_cluster::{Endpoint, MetaRoce256, NetworkConfig, Outcome, Pattern, Setup, Sim, WorkloadConfig};

pub fn seed(default: u64) -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(default);
    println!("seed {seed} (repeat with MRNIC_SEED={seed})");
    seed
}

pub fn workload(pattern: Pattern, bytes: u64) -> WorkloadConfig {
    WorkloadConfig { pattern, bytes, messages: 1, depth: 2, fan_in: None, start_spread_us: 0 }
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
    let setup = Setup { network, workload, seed, limit: 50_000 * PS_PER_US, sample: 10 * PS_PER_US };
    Sim::new(&setup, config).unwrap()
}

pub fn run(network: &NetworkConfig, workload: &WorkloadConfig, seed: u64) -> Outcome {
    let mut sim = sim::<MetaRoce256, RadixQueue>(network, workload, seed);
    sim.run();
    sim.outcome()
}
