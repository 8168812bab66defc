//! Messages that find no receive, of whole NICs in lockstep with the golden model (N1 to N4).
//!
//! In: small scenarios on the builds `sim` and `sim_min`. Out: the statuses that both ends must see, counters. Guarantees: every message arrives
//! once, with its data, in the receive that is its own; the scenario itself checks that.
mod runs;

use mrnic_sim::world::Outcome;
use runs::count;

fn run_on(build: &str, sections: &str) -> Outcome {
    runs::run("rnr", build, 40_000, sections)
}

fn run(sections: &str) -> Outcome {
    run_on("sim", sections)
}

/// Messages from node 0 whose receives are posted one in each `gap_us`.
fn late(op: &str, bytes: u32, message_bytes: u32, more: &str) -> String {
    format!("[[traffic]]\nfrom = 0\nto = 1\nop = \"{op}\"\nbytes = {bytes}\nmessage_bytes = {message_bytes}\nrnr_retry = 7\n{more}\n")
}

/// They begin once the first messages were refused.
const WRITES: &str = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 200000\nmessage_bytes = 10000\nstart_ns = 30000\n";
const LOSS: &str = "[fabric]\nloss_data = 0.1\nloss_ack = 0.1\nduplicate = 0.02\nreorder = 0.05\n";

fn healthy(o: &Outcome) {
    assert!(count(o, 1, "RX_NAK") > 0 && count(o, 0, "TX_NOP") > 0, "{:?}", o.nodes);
    for node in [0, 1] {
        assert_eq!(count(o, node, "QP_ERROR"), 0);
        assert_eq!(count(o, node, "TX_NEW"), count(o, node, "RETIRED"));
    }
}

/// N1, N2: each message is refused until its receive is there, and begins again; another queue pair of the connection is not held up.
#[test]
fn n2_late_receives_again_and_again() {
    for (op, bytes, message_bytes) in [("send", 60_000, 10_000), ("send_imm", 6_000, 500), ("write_imm", 60_000, 10_000)] {
        healthy(&run(&format!("{WRITES}{}", late(op, bytes, message_bytes, "receive_gap_ns = 35000"))));
    }
}

/// N1 to N4 with 10 % loss, copies and reordering: refusals come late and twice, in any order.
#[test]
fn n4_late_receives_and_loss() {
    healthy(&run(&format!("{LOSS}{WRITES}{}", late("send", 120_000, 9_000, "receive_gap_ns = 30000\nqps = 2"))));
}

/// N2: several queue pairs of one connection wait and begin again, in both directions.
#[test]
fn n2_several_queue_pairs_of_one_connection() {
    let back = "[[traffic]]\nfrom = 1\nto = 0\nop = \"send_imm\"\nbytes = 40000\nmessage_bytes = 4000\nrnr_retry = 7\nreceive_gap_ns = 20000\n";
    let sections = format!(
        "[connection]\npaths = 2\nmtu_bytes = 1024\ninit_window = 8\n{back}{WRITES}{}{}",
        late("send", 60_000, 3_000, "qps = 3\nreceive_gap_ns = 30000"),
        late("write_imm", 40_000, 8_000, "qps = 2\nrnr_timer = 2\nreceive_gap_ns = 25000"),
    );
    healthy(&run(&sections));
}

/// The same where every buffer is as small as it can be.
#[test]
fn n2_with_the_smallest_buffers() {
    let sections =
        format!("[connection]\npaths = 4\n{LOSS}{WRITES}{}", late("send", 48_000, 3_000, "qps = 3\nreceive_gap_ns = 20000"));
    healthy(&run_on("sim_min", &sections));
}

/// N3: with so many retries and no receive the message fails with 13, and the receiver lives; other queue pairs go on.
#[test]
fn n3_retries_are_used_up() {
    for retries in [1, 3] {
        let o = run(&format!(
            "{LOSS}{WRITES}[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 9000\nmessage_bytes = 9000\nreceives = false\nrnr_retry = {retries}\n"
        ));
        assert!(count(&o, 0, "QP_ERROR") == 1 && count(&o, 1, "QP_ERROR") == 0, "{:?}", o.nodes);
        assert!(count(&o, 1, "RX_NAK") > retries);
    }
}
