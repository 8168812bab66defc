//! retransmit_queue with requests of both users at any time.
//! In: W. Out: the test; 16 paths, numbers across the wrap of the PPSN, a pool of 128 packets, rare flushes.
use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::config::BuildConfig;
use mrnic_nic::tx::retransmit_queue::RetransmitQueue;

pub fn difftest(window: u64) -> Difftest<RetransmitQueue> {
    let small = BuildConfig { conns: 2, pool_packets: 128, ..crate::of_window(window) };
    difftest!(RetransmitQueue::new(&small), clock: clock, inputs: {
        reset, fault, seq_valid, seq_op, seq_row, seq_ppsn, seq_qp, seq_msn, seq_index, seq_bytes, seq_first, seq_last, seq_kind,
        ret_valid, ret_row, ret_ppsn, flush_valid, flush_conn
    })
    .top("retransmit_queue")
    .cycles(6000)
    .seed(1)
    .reset_chance(0.0)
    .limit("seq_row", 0..=15)
    .limit("ret_row", 0..=15)
    .limit("flush_conn", 0..=1)
    .stimulus(|random, _, inputs| {
        inputs.set("seq_ppsn", 0xff_fff8u32.wrapping_add(random.below(16) as u32) & 0xff_ffff);
        inputs.set("ret_ppsn", 0xff_fff8u32.wrapping_add(random.below(16) as u32) & 0xff_ffff);
        if random.chance(0.999) {
            inputs.set("flush_valid", 0u32);
        }
        if random.chance(0.9) {
            inputs.set("fault", 0u32);
        }
    })
}
