//! congestion with any acknowledgment on any state of a path that can be.
//! In: W. Out: the test.
use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::tx::congestion::Congestion;

pub fn difftest(window: u64) -> Difftest<Congestion> {
    let config = crate::of_window(window);
    difftest!(Congestion::new(&config), clock: clock, inputs: {
        fault, now, ts_valid, ts_echo, service, ce, dup, srtt8, var4, rtt_valid, window, credit, last_cut, ce_seen, dup_seen,
        reo_tol, reo_base, l1_since_dup, acked, found_l1
    })
    .top("congestion")
    .no_reset()
    .cycles(6000)
    .seed(3)
    .limit("window", 1..=window)
    .limit("reo_tol", 0..=window / 4)
    .limit("acked", 0..=256)
}
