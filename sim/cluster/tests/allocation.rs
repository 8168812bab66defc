//! No memory is allocated per packet: counted by the allocator of this test.
use mrnic_cluster::queue::RadixQueue;
use mrnic_cluster::time::PS_PER_US;
use mrnic_cluster::{MetaRoce256, MetaRoceConfig, NetworkConfig, Pattern, Setup, Sim, WorkloadConfig};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        System.dealloc(ptr, layout)
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        System.realloc(ptr, layout, new_size)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn packets_allocate_nothing() {
    let network =
        NetworkConfig { hosts: 16, hosts_per_leaf: 4, spines: 4, planes: 4, rate_gbps: 100.0, ..NetworkConfig::default() };
    let workload = WorkloadConfig::new(Pattern::Permutation, 32 << 20);
    let count = |limit_us: u64| {
        let setup =
            Setup { network: &network, workload: &workload, trace: None, seed: 1, limit: limit_us * PS_PER_US, sample: 0 };
        let mut sim = Sim::<MetaRoce256, RadixQueue>::new(&setup, &MetaRoceConfig::default()).unwrap();
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        sim.run();
        (ALLOCATIONS.load(Ordering::Relaxed) - before, sim.network_stats().sent)
    };
    // the second run is the first one and 400 us more
    let ((short, few), (long, many)) = (count(100), count(500));
    let (allocations, packets) = (long - short, many - few);
    assert!(packets > 40_000, "{packets}");
    assert!(allocations < packets / 500, "{allocations} allocations for {packets} packets");
}
