//! path_scheduler with any loads, windows and states of eight paths.
//! In: W, of which the block knows nothing. Out: the test.
use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::tx::path_scheduler::PathScheduler;

pub fn difftest(_window: u64) -> Difftest<PathScheduler> {
    difftest!(PathScheduler::new(), clock: clock, inputs: { reset, start, ok, pipe, window, rr, paths_log2 })
        .top("path_scheduler")
        .cycles(3000)
        .seed(1)
}
