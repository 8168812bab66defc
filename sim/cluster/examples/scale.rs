//! How a simulation grows with the number of hosts: speed, memory and events a packet, with the fitted exponents.
//! Run: `cargo run -p mrnic-cluster --example scale [HOSTS...]` (16 64 256 1024 without arguments). Every host sends 4 MiB to
//! another, over 8 planes; memory is what the allocator was asked for, processor time that of this thread.
use mrnic_cluster::queue::CalendarQueue;
use mrnic_cluster::time::LIMIT_PS;
use mrnic_cluster::{MetaRoce256, MetaRoceConfig, NetworkConfig, Pattern, Setup, Sim, WorkloadConfig};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

fn grow(bytes: usize) {
    let live = LIVE.fetch_add(bytes, Ordering::Relaxed) + bytes;
    MOST.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        grow(layout.size());
        System.alloc(layout)
    }

    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        System.dealloc(ptr, layout)
    }

    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        grow(new_size);
        System.realloc(ptr, layout, new_size)
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// What one size shows.
struct Row {
    hosts: f64,
    events_a_packet: f64,
    bytes: f64,
    ns_a_packet: f64,
}

/// Processor time of this thread, where the system tells it.
fn processor_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    text.split_whitespace().next()?.parse::<f64>().ok().map(|ns| ns / 1e9)
}

fn measure(hosts: usize) -> Result<Row, Box<dyn std::error::Error>> {
    // As many spines as hosts a leaf: no link is oversubscribed, whatever the size.
    let side = (hosts as f64).sqrt().ceil() as usize;
    let side = side.next_power_of_two();
    let network = NetworkConfig { hosts, hosts_per_leaf: side, spines: side, ..NetworkConfig::default() };
    network.check().map_err(|fault| format!("{}: {}; {}", fault.key, fault.reason, fault.remedy))?;
    let workload = WorkloadConfig::new(Pattern::Permutation, 4 << 20);
    let before = LIVE.load(Ordering::Relaxed);
    MOST.store(before, Ordering::Relaxed);
    let setup = Setup { network: &network, workload: &workload, trace: None, seed: 1, limit: LIMIT_PS, sample: 0 };
    let mut sim = Sim::<MetaRoce256, CalendarQueue>::new(&setup, &MetaRoceConfig::default())?;
    let (wall, from) = (Instant::now(), processor_seconds());
    sim.run();
    let seconds = match (from, processor_seconds()) {
        (Some(from), Some(to)) => to - from,
        _ => wall.elapsed().as_secs_f64(),
    };
    let bytes = (MOST.load(Ordering::Relaxed) - before) as f64;
    let outcome = sim.outcome();
    let packets = outcome.network.sent as f64;
    let row = Row {
        hosts: hosts as f64,
        events_a_packet: outcome.events as f64 / packets,
        bytes,
        ns_a_packet: seconds * 1e9 / packets,
    };
    println!(
        "{hosts:>5} hosts: {:>6.0} k packets/s, {:>5.2} events a packet, {:>7.1} MB ({:.0} kB a host), {:.1} s, {:.0} us simulated, finished: {}",
        1e6 / row.ns_a_packet,
        row.events_a_packet,
        bytes / 1e6,
        bytes / 1e3 / row.hosts,
        seconds,
        outcome.duration_us,
        outcome.finished,
    );
    Ok(row)
}

/// Exponent of y = a * hosts^b: the slope of the line of least squares through the logarithms.
fn exponent(rows: &[Row], y: impl Fn(&Row) -> f64) -> f64 {
    let points: Vec<_> = rows.iter().map(|r| (r.hosts.ln(), y(r).ln())).collect();
    let n = points.len() as f64;
    let (mx, my) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let over: f64 = points.iter().map(|p| (p.0 - mx) * (p.1 - my)).sum();
    over / points.iter().map(|p| (p.0 - mx).powi(2)).sum::<f64>()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|a| a.parse()).collect::<Result<_, _>>()?;
    let sizes = if sizes.is_empty() { vec![16, 64, 256, 1024] } else { sizes };
    let rows = sizes.into_iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    if rows.len() > 1 {
        println!(
            "fitted exponents over hosts: events a packet {:.3}, memory {:.3}, time a packet {:.3}",
            exponent(&rows, |r| r.events_a_packet),
            exponent(&rows, |r| r.bytes),
            exponent(&rows, |r| r.ns_a_packet)
        );
    }
    Ok(())
}
