//! Shared receive queues of whole NICs, in lockstep with the golden model: who takes which receive, what waits for one, what is refused.
//!
//! In: small scenarios. Out: counters; each completion and its data are checked by the software of the simulation. Guarantees: all messages arrive.
mod rig;
mod runs;

use mrnic_lockstep::Kind;
use mrnic_model::config::Rights;
use mrnic_regs::{code, ring};
use mrnic_sim::software::Write;
use mrnic_sim::world::Outcome;
use rig::{write, Rig};
use runs::count;
use std::collections::BTreeSet;

/// Rounds, each with a queue pair of its own that is closed some cycles later than the one before.
const ROUNDS: u64 = 12;
const LATER_CYCLES: u64 = 60;

fn run(sections: &str) -> Outcome {
    runs::run("shared", "sim", 20_000, sections)
}

/// Q1, Q4, Q5: four streams take receives of one queue as their packets come, others beside them have their own.
#[test]
fn q1_streams_share_receives() {
    for faults in ["", "[fabric]\nloss_data = 0.05\nloss_ack = 0.02\nreorder = 0.1\nduplicate = 0.02\n"] {
        let o = run(&format!(
            "{faults}[connection]\nmtu_bytes = 1024\n\
             [[traffic]]\nfrom = 0\nto = 1\nop = \"send_imm\"\nqps = 4\nshared = true\nbytes = 150000\nmessage_bytes = 2500\nrnr_retry = 7\n\
             [[traffic]]\nfrom = 0\nto = 1\nop = \"write_imm\"\nqps = 2\nshared = true\nbytes = 60000\nmessage_bytes = 3000\nrnr_retry = 7\n\
             [[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nqps = 2\nbytes = 60000\nmessage_bytes = 3000\n"
        ));
        assert_eq!(count(&o, 0, "QP_ERROR") + count(&o, 1, "QP_ERROR"), 0, "{:?}", o.nodes);
    }
}

/// Q1, Q2: receives are posted one by one: messages find none and begin again, and the last one is for the message that is next in its stream.
#[test]
fn q2_messages_wait_for_receives_of_a_shared_queue() {
    let o = run(
        "[fabric]\nreorder = 0.2\n[connection]\nmtu_bytes = 1024\n\
         [[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nqps = 3\nshared = true\nbytes = 60000\nmessage_bytes = 3000\nrnr_retry = 7\nreceive_gap_ns = 23000\n",
    );
    assert!(count(&o, 1, "RX_NAK") > 0, "{:?}", o.nodes);
    assert_eq!(count(&o, 0, "QP_ERROR") + count(&o, 1, "QP_ERROR"), 0);
}

/// Q6, section 10: a queue pair that is closed gives back what it took from its shared queue, wherever its messages are, and says when that is
/// all; another one goes on taking from the queue. No receive is lost or given twice.
#[test]
fn receives_of_a_shared_queue_come_back_from_a_queue_pair_that_closes() {
    const SEND: u8 = 2;
    const LEN: usize = 1500;
    const MESSAGES: u64 = 6;
    const POSTED: u64 = 30;
    let mut rig = Rig::new();
    rig.open(0, &|c| (c.paths, c.mtu_log2, c.init_window_pkts) = (2, 8, 32));
    let from = rig.filled(0, LEN, 3);
    let to = rig.region(1, LEN, 5, Rights { local_write: true, ..Rights::default() }, 1);
    let mut shared = rig.open_shared(1);
    let other = rig.pair_with(0, &shared);
    let mut ended = BTreeSet::new();
    let (mut flushed, mut succeeded) = (0, 0);
    for round in 0..ROUNDS {
        let qp = rig.pair_with(0, &shared);
        rig.nodes[1].keep_records();
        let missing = POSTED - (shared.posted - ended.len() as u64);
        rig.post_shared(&mut shared, &to, missing);
        rig.cycles(400);
        let send = Write { opcode: SEND, ..write(&from, &to, LEN as u32) };
        for _ in 0..MESSAGES {
            for qp in [qp, other] {
                rig.post_write(0, qp, send);
            }
        }
        rig.poll();
        rig.cycles(600 + round * LATER_CYCLES);
        rig.begin_closing(qp);
        rig.rows_taken();
        rig.run();
        rig.settle();
        let mut of_qp = Vec::new();
        for r in rig.nodes[1].records().iter().filter(|r| r.kind == Kind::Rcqe) {
            let words: Vec<u32> =
                r.wide_bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
            let opcode = ring::cqe::OPCODE.get(&words) as u8;
            if r.get("qp") == u64::from(qp) {
                of_qp.push(opcode);
            }
            if opcode == code::OPCODE_LAST_WQE {
                continue;
            }
            assert!(ended.insert(ring::cqe::WR_ID.get(&words)), "round {round}: a receive ends once");
            match ring::cqe::STATUS.get(&words) as u8 {
                code::STATUS_SUCCESS => succeeded += 1,
                code::STATUS_WR_FLUSH_ERR if r.get("qp") == u64::from(qp) => flushed += 1,
                status => panic!("round {round}: status {status} of {r:?}"),
            }
        }
        let last = of_qp.iter().position(|opcode| *opcode == code::OPCODE_LAST_WQE);
        assert_eq!(last, Some(of_qp.len() - 1), "round {round}: once, and behind the others");
    }
    // all messages of the other one, and some of those that closed
    assert!(flushed > 2 && succeeded > ROUNDS * MESSAGES, "{flushed} came back, {succeeded} were used");
    rig.finish();
}
