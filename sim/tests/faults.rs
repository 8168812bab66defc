//! Faults planted in the RTL must be caught, and by the rule they break.
//!
//! In: build `sim_reads`, one small scenario for each fault, which makes node 0 take the faulty step. Out: the lockstep
//! checker's divergence. Guarantees: the same scenario passes without the fault, so that it is the fault that is caught.
use mrnic_lockstep::Divergence;
use mrnic_nic::config;
use mrnic_sim::models;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::software::SoftwareError;
use mrnic_sim::world::{Options, Outcome, RunError, World};
use mrnic_verilated::Model;
use std::sync::OnceLock;

const BUILD: &str = "sim_reads";

/// One model, Verilated once for all tests.
fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let build = config::build(BUILD).expect("the build of the faults");
        models::model(&build, false, true).expect("the build can be Verilated")
    })
}

fn run(name: &str, sections: &str, fault: u32) -> Result<Outcome, RunError> {
    let text = format!("name = \"{name}\"\ndescription = \"fault {fault}\"\nbuild = \"{BUILD}\"\nlimit_us = 3000\n{sections}");
    let scenario = Scenario::parse(name, &text).expect("a good scenario");
    let build = config::build(BUILD).expect("the build of the faults");
    let options = Options { lockstep: true, fault, ..Options::default() };
    World::new(&scenario, &build, model(), &options)?.run(&mut |_, _| {})
}

/// The divergence that `fault` causes in node 0, after the scenario has passed without it.
fn caught(name: &str, sections: &str, fault: u32) -> Box<Divergence> {
    let good = run(name, sections, 0).unwrap_or_else(|e| panic!("{name} fails without a fault: {e}"));
    assert!(good.commits > 20, "{name}: only {} steps were compared", good.commits);
    match run(name, sections, fault) {
        Err(RunError::Lockstep { node: 0, report }) => report,
        Err(e) => panic!("fault {fault} ({name}) was seen, but not by the lockstep checker of node 0: {e}"),
        Ok(o) => panic!("fault {fault} ({name}) was not caught in {} steps", o.commits),
    }
}

/// `name`: fault number, rule of docs/protocol.md, field, sections of the scenario.
macro_rules! faults {
    ($($(#[$doc:meta])* $name:ident = $fault:literal, $rule:literal, $field:literal, $sections:expr;)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            let d = caught(stringify!($name), $sections, $fault);
            println!("fault {} {}: rule {}, field {}, cycle {}", $fault, stringify!($name), d.rule, d.field(), d.cycle);
            assert!(d.rule.starts_with($rule), "expected rule {}:\n{d}", $rule);
            assert!(d.field().starts_with($field), "expected field {}:\n{d}", $field);
        }
    )*};
}

/// Node 0 sends or receives 64 KiB in messages of 16 KiB.
const SENDS: &str = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 65536\nmessage_bytes = 16384\n";
const ALSO_SENDS: &str = "[[traffic]]\nfrom = 2\nto = 1\nbytes = 65536\nmessage_bytes = 16384\n";
const RECEIVES: &str = "[[traffic]]\nfrom = 1\nto = 0\nbytes = 65536\nmessage_bytes = 16384\n";
/// Node 0 receives SENDs and WRITEs with immediate.
const RECEIVES_SENDS: &str =
    "[[traffic]]\nfrom = 1\nto = 0\nop = \"send_imm\"\nbytes = 40000\nmessage_bytes = 2500\n[host]\nwrite_latency_ns = [500, 2000]\n";
/// For want of a receive.
const RECEIVES_NOTHING: &str =
    "[[traffic]]\nfrom = 1\nto = 0\nop = \"write_imm\"\nbytes = 2500\nmessage_bytes = 2500\nreceives = false\n";
/// Node 0 sends messages whose receives are posted late.
const BEGINS_AGAIN: &str =
    "[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 12000\nmessage_bytes = 3000\nrnr_retry = 7\nreceive_gap_ns = 60000\n";
/// The same with more packets than the windows have room for: some are still to be sent when the wait begins.
const WAITS: &str =
    "[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 60000\nmessage_bytes = 30000\nrnr_retry = 7\nreceive_gap_ns = 60000\n";
/// Node 0 posts receives late: some while packets of their messages arrive.
const RECEIVES_LATE: &str =
    "[[traffic]]\nfrom = 1\nto = 0\nop = \"send\"\nbytes = 122880\nmessage_bytes = 12288\nrnr_retry = 7\nreceive_gap_ns = 23000\n";
const SMALL: &str = "[connection]\npaths = 2\nmtu_bytes = 1024\ninit_window = 4\n";
const WIDE: &str = "[connection]\npaths = 2\nmtu_bytes = 1024\ninit_window = 32\n";

fn with(parts: &[&str]) -> String {
    parts.concat()
}

faults! {
    /// S2: one packet more than the window is granted.
    window_off_by_one = 1, "S1/S2, room", "kind", &with(&[SMALL, SENDS]);
    /// R5: the receiver advances over a packet it does not have.
    cumulative_advance_past_a_hole = 2, "R5 (advance", "cum", &with(&[SMALL, "[fabric]\nloss_data = 0.05\n", RECEIVES]);
    /// L2: any acknowledgment makes a resent packet lost again.
    resend_marker_ignored = 3, "L2", "lost_l2", &with(&[WIDE, "[fabric]\nloss_data = 0.1\n", SENDS]);
    /// S1: a resend leaves its home path although that is UP.
    resend_on_another_path = 4, "S3", "via", &with(&[SMALL, "[fabric]\nloss_data = 0.05\n", SENDS]);
    /// C1: each mark cuts the window, instead of one in each RTT.
    window_cut_on_every_mark = 5, "C1", "window",
        &with(&["nics = 3\n[connection]\npaths = 1\nmtu_bytes = 1024\ninit_window = 32\n", "[fabric]\ndelay_ns = 5000\necn_threshold_bytes = 4000\n", SENDS, ALSO_SENDS]);
    /// R2: a packet that came twice is written to memory twice.
    duplicate_placed_again = 6, "R5 (placement)", "placed", &with(&[SMALL, "[fabric]\nduplicate = 0.1\n", RECEIVES]);
    /// C4: the pacer lets packets go ahead of the rate.
    rate_hint_ignored = 7, "S1/S2, room, N1, C3, C4", "kind",
        &with(&["[connection]\npaths = 2\nmtu_bytes = 1024\ninit_hint_mbps = 2000\n", SENDS]);
    /// W2: a CQE is written while the last packet of its message is still out.
    completion_before_the_last_byte = 8, "W2", "packets to come", &with(&[SMALL, SENDS]);
    /// R9: the bits of the vector of an acknowledgment are in the wrong order.
    vector_bits_reversed = 9, "R9", "bytes near", &with(&[SMALL, "[fabric]\nloss_data = 0.05\n", RECEIVES]);
    /// R1: a frame with a bad ICRC is accepted.
    icrc_not_checked = 10, "R1", "kind", &with(&[SMALL, "[fabric]\nbit_error = 0.05\n", RECEIVES]);
    /// R3: a WRITE beyond its region is placed.
    bounds_ignore_the_length = 11, "R3/R4", "code",
        &with(&[SMALL, "[[traffic]]\nfrom = 1\nto = 0\nbytes = 8192\nmessage_bytes = 8192\nbeyond_bytes = 3000\n"]);
    /// S5: a resend carries the bytes of the first packet of its message.
    resend_reads_offset_zero = 12, "S5", "index", &with(&[SMALL, "[fabric]\nloss_data = 0.05\n", SENDS]);
    /// Q1: the second message lands in the receive of the first.
    receive_taken_twice = 14, "R5 (placement)", "addr", &with(&[SMALL, RECEIVES_SENDS]);
    /// Q5: the completion of a receive names the immediate of another message.
    immediate_of_another_message = 15, "Q5", "data", &with(&[SMALL, RECEIVES_SENDS]);
    /// Q2: a packet without a receive is accepted.
    refusal_for_want_of_a_receive_left_out = 16, "Q2", "rnr", &with(&[SMALL, RECEIVES_NOTHING]);
    /// N2: a message that begins again looks like its first attempt.
    attempt_not_toggled = 17, "S5 (contents", "bytes near", &with(&[SMALL, BEGINS_AGAIN]);
    /// N2: a wait ends while packets of the first attempt are under way.
    wait_ends_too_early = 18, "N2", "qp", &with(&[SMALL, "[fabric]\ndelay_ns = 20000\n", BEGINS_AGAIN]);
    /// N1: new packets of a queue pair that waits are sent.
    waits_and_sends_on = 19, "N1", "waits", &with(&[SMALL, WAITS]);
    /// N4: the bytes of the attempt before count in the next one.
    attempts_add_up = 20, "R7/N4", "exp", &with(&[SMALL, RECEIVES_LATE]);
    /// Q1: two messages take the same receive of a shared queue.
    receive_of_a_shared_queue_given_twice = 30, "R5 (placement)", "addr",
        &with(&[SMALL, "[[traffic]]\nfrom = 1\nto = 0\nop = \"send_imm\"\nshared = true\nqps = 2\nbytes = 40000\nmessage_bytes = 2500\n"]);
    /// Q4: a piece of a receive that two packets have bytes of is filled from its beginning by the second, too.
    piece_filled_from_its_beginning = 28, "R5 (placement)", "addr",
        &with(&[SMALL, "[[traffic]]\nfrom = 1\nto = 0\nop = \"send\"\nbytes = 24000\nmessage_bytes = 6000\nreceive_pieces = 4\n"]);
    /// D2: a WRITE that the queue pair does not allow is placed.
    rights_of_the_queue_pair_not_looked_at = 29, "R3/R4", "code",
        &with(&[SMALL, "[[traffic]]\nfrom = 1\nto = 0\nbytes = 3000\nmessage_bytes = 3000\ndenied = true\n"]);
}

/// What a report says about a planted fault: rule, field, both values, state, the last records, where to look.
#[test]
fn the_report_leads_to_the_fault() {
    let sections = with(&[WIDE, "[fabric]\nloss_data = 0.1\n", SENDS]);
    let d = caught("the_report_leads_to_the_fault", &sections, 3);
    let text = d.to_string();
    let field = d.fields.iter().find(|f| f.name == "lost_l2").expect("compared");
    for words in
        ["rule L2", "* lost_l2", &format!("RTL {}  model {}", field.rtl, field.model), "state of the model", "waveform to open"]
    {
        assert!(text.contains(words), "{words} is missing in\n{text}");
    }
    assert_eq!(d.history.len(), 20, "{text}");
    assert_eq!(d.history.last(), d.record.as_ref());
    assert!(d.window_ns.0 <= d.time_ns && d.time_ns <= d.window_ns.1);
}

/// Fault 13, Q5: the CQE of a receive does not wait for its data. The golden model knows no time; software sees it.
#[test]
fn receive_completes_before_its_data() {
    let sections = with(&[SMALL, RECEIVES_SENDS]);
    run("early", &sections, 0).unwrap_or_else(|e| panic!("fails without a fault: {e}"));
    match run("early", &sections, 13) {
        Err(RunError::Software(SoftwareError::Early { node: 0, index, offset, .. })) => {
            println!("fault 13: receive {index}, byte {offset}");
        }
        Err(e) => panic!("fault 13 was seen, but not by the software of node 0: {e}"),
        Ok(o) => panic!("fault 13 was not caught in {} steps", o.commits),
    }
}
