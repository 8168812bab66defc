//! recv_queue: simulation = Verilog; Q1, Q2, Q5, Q6 against a list, with looks, arrivals, completions and errors at any time.
mod recv_support;
mod tx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::host::recv_queue::RecvQueue;
use recv_support::World;

fn config(name: &str) -> BuildConfig {
    BuildConfig { sends: true, ..build(name).expect("a named build") }
}

fn seed(own: u64) -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(own);
    println!("seed {seed} (MRNIC_SEED={seed} runs it again)");
    seed
}

fn check<const W: usize>(name: &str, own_seed: u64) {
    let mut w = World::new::<W>(&config(name), seed(own_seed));
    for (hurry, late, slow) in [(false, 0.1, 0.2), (true, 0.0, 0.0), (true, 0.9, 0.5), (true, 0.2, 0.1)] {
        (w.hurry, w.late, w.slow) = (hurry, late, slow);
        w.run(6000);
    }
    w.finish();
    println!("{} completed, {} missing, {} wrong", w.completed, w.missing, w.wrong);
    assert!(w.completed > 300 && w.missing > 50 && w.wrong > 20 && w.flushed == 0);
}

/// Q1, Q2, Q5: looks find what has arrived, CQEs come in order and after their data.
#[test]
fn receives_are_found_and_complete_in_order() {
    check::<64>("ecp5", 1);
    check::<128>("sim", 2);
    check::<128>("sim_min", 3);
    check::<512>("bench512", 4);
}

/// Q3, Q6: in Error everything is flushed in order, what arrives later too; a queue pair that is opened again starts anew.
#[test]
fn receives_of_a_failed_queue_pair_are_flushed() {
    let mut w = World::new::<64>(&config("ecp5"), seed(11));
    (w.hurry, w.errors) = (true, 0.02);
    for round in 0..40 {
        w.slow = [0.0, 0.1, 0.5][round % 3];
        w.run(600);
        if let Some(qp) = w.failed().filter(|_| round % 2 == 1) {
            w.close(qp);
            w.open(qp);
        }
    }
    w.finish();
    println!("{} completed, {} flushed", w.completed, w.flushed);
    assert!(w.completed > 100 && w.flushed > 200);
}

/// A queue pair is closed with receives in it and on their way: no record of it comes any more, and it opens empty.
#[test]
fn a_closed_queue_pair_leaves_nothing_behind() {
    let mut w = World::new::<128>(&config("sim"), seed(21));
    for round in 0..60 {
        w.slow = [0.0, 0.3][round % 2];
        w.run(150);
        w.post(round % 16, 30);
        w.run(round as u64 % 30);
        w.close(round % 16);
        w.run(20);
        w.open(round % 16);
    }
    w.finish();
    assert!(w.completed > 20);
}

/// Software that posts many receives with a doorbell each keeps the NIC from none of them: a message may come for the first one.
#[test]
fn receives_are_fetched_while_doorbells_keep_coming() {
    let mut w = World::new::<128>(&config("sim"), seed(31));
    (w.slow, w.late) = (0.0, 0.0);
    let waiting = w.post_one_by_one(3, 60);
    assert!(waiting > 50, "only {waiting} of 60 doorbells wait when the first receive is asked for");
    w.run(2000);
    w.finish();
}

fn check_shared<const W: usize>(name: &str, own_seed: u64, pools: usize) {
    let mut w = World::with_shared::<W>(&BuildConfig { srqs: pools, ..config(name) }, seed(own_seed), pools);
    w.errors = 0.005;
    for round in 0..24 {
        (w.hurry, w.late, w.slow) = [(false, 0.1, 0.2), (true, 0.0, 0.0), (true, 0.8, 0.5)][round % 3];
        w.run(800);
        if let Some(qp) = w.failed() {
            w.close(qp);
            w.open(qp);
        }
        // one that is at work
        let qp = round % 8;
        w.close(qp);
        w.open(qp);
    }
    w.finish();
    println!("{} completed, {} flushed, {} missing, {} wrong, {} taken", w.completed, w.flushed, w.missing, w.wrong, w.shared);
    assert!(w.completed > 200 && w.flushed > 20 && w.missing > 50 && w.shared > 200);
}

/// Q1, Q5, Q6 of shared queues: the first packet of a message takes the oldest receive; what a queue pair has taken is flushed when it fails or
/// closes, and nothing else; those with receives of their own go on beside them.
#[test]
fn receives_of_a_shared_queue_are_taken_once() {
    check_shared::<64>("ecp5", 41, 1);
    check_shared::<128>("sim", 42, 4);
}

/// Q3, Q4: receives with lists arrive whole, in queues that have such, and come out as they were posted, those of shared queues too.
#[test]
fn lists_come_out_as_they_were_posted() {
    fn run<const W: usize>(name: &str, sges: usize, pools: usize, own_seed: u64) {
        let config = BuildConfig { sges, srqs: pools, ..config(name) };
        let mut w = World::with_shared::<W>(&config, seed(own_seed), pools);
        for (hurry, late, slow) in [(false, 0.1, 0.2), (true, 0.0, 0.0), (true, 0.2, 0.1)] {
            (w.hurry, w.late, w.slow) = (hurry, late, slow);
            w.run(4000);
        }
        w.finish();
        println!("{} completed, {} lists, {} taken", w.completed, w.lists, w.shared);
        assert!(w.completed > 200 && w.lists > 50 && (pools == 0 || w.shared > 50));
    }
    run::<64>("ecp5", 4, 0, 51);
    run::<128>("sim", 4, 4, 52);
    run::<512>("bench512", 2, 2, 53);
}

#[test]
fn simulation_equals_verilog() {
    difftest!(RecvQueue::<64>::new(&BuildConfig { srqs: 2, sges: 4, ..config("ecp5") }), clock: clock, inputs: {
        reset, fault, rq_at, rdoorbell_valid, rdoorbell_qp, rdoorbell_index, cfg_valid, cfg_table, cfg_index, cfg_data, completion_busy,
        rq_near, rq_look, rq_qp, rq_seq, rq_msn, rq_step, rx_commit, rq_mark, rq_accept, rq_length, rq_imm, rq_has_imm, rq_sol, rq_by_write,
        rq_failed, pass_valid, pass_qp, pass_slot, pass_ticket, flush_valid, flush_qp, done_count, rr_desc_ready, rr_valid, rr_data,
        rr_last, rcqe_ready
    })
    .top("recv_queue")
    .cycles(4000)
    .seed(1)
    .reset_chance(0.0)
    .limit("fault", 0..=0)
    .limit("rdoorbell_qp", 0..=3)
    .limit("rdoorbell_index", 0..=40)
    .limit("cfg_index", 0..=3)
    .limit("cfg_table", 2..=7)
    .limit("rq_qp", 0..=3)
    .limit("rq_seq", 0..=20)
    .limit("rq_msn", 0..=3)
    .limit("pass_qp", 0..=3)
    .limit("pass_slot", 0..=20)
    .limit("flush_qp", 0..=3)
    .source("rdoorbell_valid", "rdoorbell_ready", &["rdoorbell_qp", "rdoorbell_index"])
    .source("pass_valid", "pass_ready", &["pass_qp", "pass_slot", "pass_ticket"])
    .source("flush_valid", "flush_ready", &["flush_qp"])
    .source("rr_valid", "rr_ready", &["rr_data", "rr_last"])
    .sink("rr_desc_ready")
    .sink("rcqe_ready")
    .stimulus(|random, cycle, inputs| {
        let mut data = inputs.words("cfg_data").to_vec();
        data[0] |= 1;
        data[4] = 0x4500 | (data[4] & 0x1_0000);
        inputs.set("cfg_data", data);
        inputs.set("completion_busy", random.chance(0.1));
        inputs.set("rq_near", random.chance(0.2));
        inputs.set("rq_look", random.chance(0.1));
        inputs.set("rq_mark", random.chance(0.1));
        inputs.set("rx_commit", random.chance(0.3));
        inputs.set("done_count", (cycle & 0xFFFF) as u32);
        if random.chance(0.9) || inputs.previous("flush_valid") == 1 && inputs.sampled("flush_ready") == 1 {
            inputs.set("flush_valid", inputs.previous("flush_valid") == 1 && inputs.sampled("flush_ready") == 0);
        }
        if cycle > 300 && random.chance(0.98) {
            inputs.set("cfg_valid", 0u32);
        }
    })
    .run();
}
