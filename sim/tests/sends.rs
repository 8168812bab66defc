//! Two-sided operations of whole NICs: what goes wrong for a receive, in lockstep with the golden model.
//!
//! In: small scenarios on build `sim`. Out: the statuses that both ends must see, counters. Guarantees: the scenario itself names the
//! statuses; a run that ends well has seen them.
mod runs;

use mrnic_sim::world::Outcome;
use runs::count;

fn run(sections: &str) -> Outcome {
    runs::run("sends", "sim", 20_000, sections)
}

const WRITES: &str = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 100000\nmessage_bytes = 10000\n";

/// Q2, N3: no receive is posted: the message fails with 13, nothing is placed; other queue pairs go on.
#[test]
fn a_message_without_a_receive_fails_with_13() {
    for op in ["send", "send_imm", "write_imm"] {
        for bytes in [0, 64, 30_000] {
            let o = run(&format!(
                "{WRITES}[[traffic]]\nfrom = 0\nto = 1\nop = \"{op}\"\nbytes = {bytes}\nmessage_bytes = {bytes}\nreceives = false\n"
            ));
            assert!(count(&o, 1, "RX_NAK") > 0 && count(&o, 0, "QP_ERROR") > 0, "{:?}", o.nodes);
            assert_eq!(count(&o, 1, "QP_ERROR"), 0, "the receiver stays as it is");
        }
    }
}

/// The same where acknowledgments get lost: the refusal comes again with the resend.
#[test]
fn a_lost_refusal_comes_again() {
    let o = run(&format!(
        "{WRITES}[fabric]\nloss_data = 0.1\nloss_ack = 0.4\n[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 20000\nmessage_bytes = 20000\nreceives = false\n"
    ));
    assert!(count(&o, 0, "QP_ERROR") > 0);
}

/// Q3: memory of a receive that ends too early: both ends fail, the receive with 4, the message with 11.
#[test]
fn a_receive_beyond_its_region_fails_both_ends() {
    let o = run(&format!(
        "{WRITES}[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 20000\nmessage_bytes = 20000\nbeyond_bytes = 3000\n"
    ));
    assert!(count(&o, 0, "QP_ERROR") > 0 && count(&o, 1, "QP_ERROR") > 0);
}

/// A zero-length message uses a receive too.
#[test]
fn messages_without_bytes_complete_receives() {
    for op in ["send", "send_imm", "write_imm"] {
        run(&format!("[[traffic]]\nfrom = 0\nto = 1\nop = \"{op}\"\nbytes = 0\nmessage_bytes = 0\n"));
    }
}
