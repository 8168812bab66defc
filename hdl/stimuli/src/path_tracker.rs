//! path_tracker in steps as rx_core makes them: start, three clocks, take.
//! In: W. Out: the test; one connection, two rows, numbers near cum and across the wrap.
use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::config::BuildConfig;
use mrnic_nic::rx::path_tracker::PathTracker;

pub fn difftest(window: u64) -> Difftest<PathTracker> {
    let small = BuildConfig { conns: 1, ..crate::of_window(window) };
    difftest!(PathTracker::new(&small), clock: clock, inputs: { reset, fault, start, row, ppsn, take, clear })
        .top("path_tracker")
        .cycles(6000)
        .seed(2)
        .reset_chance(0.0003)
        .limit("row", 0..=1)
        .stimulus({
            let mut phase = 0;
            move |random, cycle, inputs| {
                inputs.set("fault", if random.chance(0.03) { 2u32 } else { 0 });
                let near = (inputs.sampled("cum") + *random.pick(&[0u64, 0, 1, 2, 63, 64, 200, 255, 256])) & 0xFF_FFFF;
                inputs.set("ppsn", if cycle < 60 { 0xFF_FFF0 } else { near });
                // a step: start, three clocks, take, then until it is done
                phase = if inputs.sampled("busy") == 1 { phase } else { (phase + 1) % 12 };
                inputs.set("start", phase == 1);
                inputs.set("take", phase == 4 && inputs.sampled("verdict") == 0 && random.chance(0.9));
                inputs.set("clear", phase == 0 && (cycle < 100 || random.chance(0.01)));
            }
        })
}
