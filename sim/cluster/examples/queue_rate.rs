//! Event queues on whole simulations: a calendar queue, a radix heap, the standard library's binary heap, a 4-ary and an 8-ary heap.
//! Run: `cargo run -p mrnic-cluster --example queue_rate`. Prints million events and thousand packets a second by workload.
use dary_heap::DaryHeap;
use mrnic_cluster::queue::{BinaryQueue, CalendarQueue, Event, EventQueue, RadixQueue};
use mrnic_cluster::time::{Ps, LIMIT_PS};
use mrnic_cluster::{MetaRoce256, MetaRoceConfig, NetworkConfig, Pattern, Setup, Sim, WorkloadConfig};
use std::cmp::Reverse;
use std::time::Instant;

/// A d-ary heap.
struct Dary<const D: usize> {
    heap: DaryHeap<Reverse<(Ps, u64, Event)>, D>,
    order: u64,
}

impl<const D: usize> Default for Dary<D> {
    fn default() -> Self {
        Dary { heap: DaryHeap::new(), order: 0 }
    }
}

impl<const D: usize> EventQueue for Dary<D> {
    fn push(&mut self, at: Ps, event: Event) {
        self.order += 1;
        self.heap.push(Reverse((at, self.order, event)));
    }

    fn pop(&mut self) -> Option<(Ps, Event)> {
        self.heap.pop().map(|Reverse((at, _, event))| (at, event))
    }
}

/// Processor time of this thread, where the system tells it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

fn measure<Q: EventQueue>(name: &str, network: &NetworkConfig, workload: &WorkloadConfig) {
    let setup = Setup { network, workload, trace: None, seed: 1, limit: LIMIT_PS, sample: 0 };
    let mut sim = match Sim::<MetaRoce256, Q>::new(&setup, &MetaRoceConfig::default()) {
        Ok(sim) => sim,
        Err(e) => return eprintln!("{e}"),
    };
    let (wall, before) = (Instant::now(), processor_seconds());
    sim.run();
    let seconds = match (before, processor_seconds()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed().as_secs_f64(),
    };
    let outcome = sim.outcome();
    let data = outcome.endpoints.new + outcome.endpoints.resent;
    let packets = data + outcome.endpoints.acks + outcome.endpoints.probes;
    println!(
        "{:<12} {name:<10} {:6.2} M events/s, {:6.0} k packets/s ({:.0} k of them data), {:.2} events a packet, {:.0} us simulated, {} resent, {} probes",
        format!("{:?}", workload.pattern),
        outcome.events as f64 / seconds / 1e6,
        packets as f64 / seconds / 1e3,
        data as f64 / seconds / 1e3,
        outcome.events as f64 / packets as f64,
        outcome.duration_us,
        outcome.endpoints.resent,
        outcome.endpoints.probes,
    );
}

fn main() {
    let network = NetworkConfig::default();
    for (pattern, bytes) in [(Pattern::Permutation, 16 << 20), (Pattern::AllToAll, 16 << 20), (Pattern::Incast, 1 << 20)] {
        let workload = WorkloadConfig::new(pattern, bytes);
        measure::<CalendarQueue>("calendar", &network, &workload);
        measure::<RadixQueue>("radix", &network, &workload);
        measure::<BinaryQueue>("binary", &network, &workload);
        measure::<Dary<4>>("4-ary", &network, &workload);
        measure::<Dary<8>>("8-ary", &network, &workload);
    }
}
