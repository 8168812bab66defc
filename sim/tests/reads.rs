//! READs and atomics of whole NICs, in lockstep with the golden model: what must go wrong, what is refused for now, planted faults.
//!
//! In: small scenarios on build `sim_reads`. Out: counters, verified memory, the divergence that a fault causes. Guarantees: a scenario with a
//! fault passes without it.
mod rig;
mod runs;

use mrnic_lockstep::{Divergence, Kind};
use mrnic_model::config::Rights;
use mrnic_model::wqe::WQE_READ;
use mrnic_nic::config;
use mrnic_regs::code;
use mrnic_sim::models;
use mrnic_sim::scenario::Scenario;
use mrnic_sim::software::Write;
use mrnic_sim::world::{Options, Outcome, RunError, World};
use mrnic_verilated::Model;
use rig::{build_with_reads, write, Rig};
use runs::count;
use std::sync::OnceLock;

const BUILD: &str = "sim_reads";
const WRITES: &str = "[[traffic]]\nfrom = 0\nto = 1\nbytes = 60000\nmessage_bytes = 6000\n";

/// One model, Verilated once for all tests.
fn model() -> &'static Model {
    static MODEL: OnceLock<Model> = OnceLock::new();
    MODEL.get_or_init(|| {
        let build = config::build(BUILD).expect("the build of READs");
        models::model(&build, false, true).expect("the build can be Verilated")
    })
}

fn try_run(sections: &str, fault: u32) -> Result<Outcome, RunError> {
    let text = format!("name = \"reads\"\ndescription = \"-\"\nbuild = \"{BUILD}\"\nlimit_us = 20000\n{sections}");
    let scenario = Scenario::parse("reads.toml", &text).expect("a good scenario");
    let build = config::build(BUILD).expect("the build of READs");
    let options = Options { lockstep: true, fault, ..Options::default() };
    World::new(&scenario, &build, model(), &options)?.run(&mut |_, _| {})
}

fn run(sections: &str) -> Outcome {
    try_run(sections, 0).unwrap_or_else(|e| panic!("{e}"))
}

/// D2: a READ beyond its region is refused; both queue pairs fail, nothing is written, others go on.
#[test]
fn a_read_beyond_its_region_fails_both_ends() {
    let o = run(&format!(
        "{WRITES}[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 20000\nmessage_bytes = 20000\nbeyond_bytes = 3000\n"
    ));
    assert!(count(&o, 0, "QP_ERROR") == 1 && count(&o, 1, "QP_ERROR") == 1, "{:?}", o.nodes);
}

/// D7: a queue pair fails at the peer while READs of it are under way: each is answered, by its response or by an ERROR_RESP.
#[test]
fn requests_of_a_queue_pair_that_fails_are_answered() {
    for (op, bytes, message) in [("read", 60_000, 4000), ("fetch_add", 120, 8)] {
        for loss in ["0.0", "0.1"] {
            let o = run(&format!(
                "{WRITES}[fabric]\nreorder = 0.1\nloss_data = {loss}\nloss_ack = {loss}\n[[traffic]]\nfrom = 0\nto = 1\nop = \"{op}\"\nbytes = {bytes}\nmessage_bytes = {message}\noutstanding = 8\nbad_message = 9\n"
            ));
            assert!(count(&o, 0, "QP_ERROR") > 0 && count(&o, 1, "QP_ERROR") > 0, "{op}, {loss}: {:?}", o.nodes);
            assert_eq!(count(&o, 0, "WQE"), count(&o, 0, "CQE"));
        }
    }
}

/// D4: a zero-length READ has one response.
#[test]
fn a_read_of_zero_bytes_completes() {
    let o = run("[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 0\nmessage_bytes = 0\n");
    assert_eq!((count(&o, 0, "CQE"), count(&o, 0, "QP_ERROR")), (1, 0));
}

/// D3: the peer keeps two requests only: those that find no place begin again and are executed once.
#[test]
fn requests_without_a_place_begin_again() {
    for op in ["read", "fetch_add", "compare_swap"] {
        let (bytes, message) = if op == "read" { (48_000, 3000) } else { (256, 8) };
        let o = run(&format!(
            "{WRITES}[fabric]\nreorder = 0.1\n[[traffic]]\nfrom = 0\nto = 1\nop = \"{op}\"\nbytes = {bytes}\nmessage_bytes = {message}\noutstanding = 8\nplaces = 2\n"
        ));
        assert!(count(&o, 1, "RX_NAK") > 0, "{op}: {:?}", o.nodes);
        assert_eq!(count(&o, 0, "QP_ERROR") + count(&o, 1, "QP_ERROR"), 0);
    }
}

/// D1: eight READs are posted, two may be outstanding: the others wait in the ring, and a fence waits for all.
#[test]
fn two_outstanding_and_fences() {
    let o = run(
        "[fabric]\nloss_data = 0.05\n[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 30000\nmessage_bytes = 1000\noutstanding = 2\nfence_every = 3\nqps = 2\n",
    );
    assert_eq!(count(&o, 0, "WQE"), 30, "a WQE that is set back counts when it is taken");
}

/// D8: the peer has acknowledged a READ and goes silent in the middle of its responses, when nothing of our own is outstanding: one path after the
/// other watches, the lowest that is UP, and in the end the connection is given up.
#[test]
fn a_peer_that_goes_silent_is_given_up() {
    for (paths, heard) in [(1u8, 20), (2, 20), (4, 1)] {
        let mut rig = Rig::of(build_with_reads());
        rig.set_rto_min(100);
        rig.open(0, &|c| (c.paths, c.retry_cnt) = (paths, 2));
        let qp = rig.pair(0);
        let len = 100_000;
        let readable = Rights { remote_read: true, ..Rights::default() };
        let writable = Rights { local_write: true, ..Rights::default() };
        let (there, here) = (rig.region(1, len, 3, readable, 1), rig.region(0, len, 5, writable, 1));
        let mut frames = 0;
        rig.lose = Some(Box::new(move |node, _| {
            frames += usize::from(node == 1);
            node == 1 && frames > heard
        }));
        rig.nodes[0].keep_records();
        let expect = code::STATUS_RETRY_EXC_ERR;
        rig.post_write(0, qp, Write { opcode: WQE_READ, expect, ..write(&here, &there, len as u32) });
        rig.run();
        let counters = rig.finish();
        assert_eq!(counters[0].get("CONN_ERROR"), 1, "{paths} paths");
        let records = rig.nodes[0].records();
        let watched: Vec<_> = records.iter().filter(|r| r.kind == Kind::Timer && r.get("watched") == 1).collect();
        for path in 0..u64::from(paths) {
            assert!(watched.iter().any(|r| r.get("path") == path), "{paths} paths: path {path} never watches: {watched:#?}");
        }
        assert_eq!(watched.last().map(|r| r.get("action")), Some(6), "{watched:#?}");
    }
}

/// The divergence that `fault` causes, after the scenario has passed without it.
fn caught(sections: &str, fault: u32) -> Box<Divergence> {
    let good = run(sections);
    assert!(good.commits > 20, "only {} steps were compared", good.commits);
    match try_run(sections, fault) {
        Err(RunError::Lockstep { node: 0, report }) => report,
        Err(e) => panic!("fault {fault} was seen, but not by the lockstep checker of node 0: {e}"),
        Ok(o) => panic!("fault {fault} was not caught in {} steps", o.commits),
    }
}

/// Fault, rule and field that must name it, scenario in which node 0 takes the faulty step.
#[test]
fn planted_faults_are_caught() {
    let asks = "[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 20000\nmessage_bytes = 4000\nfence_every = 2\n";
    let answers = "[[traffic]]\nfrom = 1\nto = 0\nop = \"fetch_add\"\nbytes = 80\nmessage_bytes = 8\n";
    let full = "[fabric]\nreorder = 0.2\n[[traffic]]\nfrom = 1\nto = 0\nop = \"read\"\nbytes = 48000\nmessage_bytes = 1000\noutstanding = 8\nplaces = 3\n";
    // each window of responses takes longer than the sender has patience with a peer that says nothing
    let slow = "[connection]\npaths = 1\nmtu_bytes = 1024\ninit_window = 1\n[fabric]\ndelay_ns = 40000\n[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 60000\nmessage_bytes = 60000\n";
    let one = "[[traffic]]\nfrom = 1\nto = 0\nop = \"fetch_add\"\nbytes = 80\nmessage_bytes = 8\noutstanding = 1\n";
    let lists = "[[traffic]]\nfrom = 0\nto = 1\nop = \"send\"\nbytes = 60000\nmessage_bytes = 6000\npieces = 4\n";
    let late = "[host]\nwrite_latency_ns = [500, 2000]\n[[traffic]]\nfrom = 0\nto = 1\nop = \"read\"\nbytes = 20000\nmessage_bytes = 4000\n";
    for (fault, rule, field, sections) in [
        (21, "S1/S2", "kind", asks),
        (22, "D6", "used", asks),
        (23, "S5 (contents", "bytes near", answers),
        (24, "Q2/D3", "rnr", full),
        (25, "D8", "alive", slow),
        (26, "D6 (whole", "visible", late),
        (27, "D3/D5", "executed", one),
        (31, "S5 (payload", "address", lists),
    ] {
        let d = caught(sections, fault);
        println!("fault {fault}: rule {}, field {}, cycle {}", d.rule, d.field(), d.cycle);
        assert!(d.rule.starts_with(rule), "fault {fault}: expected rule {rule}:\n{d}");
        assert!(d.field().starts_with(field), "fault {fault}: expected field {field}:\n{d}");
    }
}
