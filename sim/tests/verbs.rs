//! The quick list of the acceptance ladder, without faults and with 1 % loss.
//!
//! In: `mrnic accept --quick`, as a user runs it. Out: its table, where a program failed. Rows whose package is missing are named on
//! stderr. Nothing is asserted about time or speed.
use serde_json::Value;
use std::collections::BTreeSet;
use std::process::Command;

/// Runs the quick list and returns its records.
fn accept(arguments: &[&str]) -> Vec<Value> {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let file = dir.path().join("accept.json");
    let output = Command::new(env!("CARGO_BIN_EXE_mrnic"))
        .args(["accept", "--quick", "--json"])
        .arg(&file)
        .arg("--out")
        .arg(dir.path().join("verbs"))
        .args(arguments)
        .output()
        .expect("it starts");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{text}");
    if let Some(note) = text.lines().find(|line| line.starts_with("not run")) {
        eprintln!("{note}");
    }
    let json: Value = serde_json::from_slice(&std::fs::read(&file).expect("results")).expect("JSON");
    json["records"].as_array().expect("records").clone()
}

fn field<'a>(record: &'a Value, name: &str) -> &'a str {
    record[name].as_str().unwrap_or_default()
}

#[test]
fn the_quick_list_passes_without_faults_and_with_loss() {
    let records = accept(&["--faults", "none,loss-1"]);
    let under = |fault| -> BTreeSet<&str> {
        records.iter().filter(|r| field(r, "fault") == fault).map(|r| field(r, "program")).collect()
    };
    assert_eq!(under("none"), under("loss-1"));
    assert!(records.iter().all(|r| ["ok", "not run"].contains(&field(r, "result"))), "{records:#?}");
    // These need no package.
    for program in ["symbols and versions", "soak --rounds", "soak --send-lists", "soak --sends", "soak --writes"] {
        let passed = |r: &&Value| field(r, "program").starts_with(program) && field(r, "result") == "ok";
        assert_eq!(records.iter().filter(passed).count(), 2, "{program}");
    }
}

/// The same on Verilated NICs, as far as the RTL carries it, also with planes that die.
#[test]
fn the_quick_list_of_the_rtl_passes() {
    let faults = ["none", "loss-1", "plane-kill"];
    let records = accept(&["--device", "rtl", "--jobs", "2", "--faults", &faults.join(",")]);
    let result = |program: &str, fault: &str| {
        let found = records.iter().find(|r| field(r, "program").starts_with(program) && field(r, "fault") == fault);
        found.map(|r| field(r, "result")).unwrap_or_default()
    };
    for fault in faults {
        for program in ["soak --rounds", "soak --send-lists", "soak --sends", "soak --writes"] {
            assert_eq!(result(program, fault), "ok");
        }
        assert_eq!(result("ibv_srq_pingpong", fault), "-");
        for program in [
            "ib_read_bw",
            "ib_atomic_bw",
            "ib_atomic_lat",
            "ib_write_bw",
            "ib_send_bw -q 4 -e -n",
            "ib_send_lat",
            "ibv_rc_pingpong",
        ] {
            assert!(["ok", "not run"].contains(&result(program, fault)));
        }
    }
}

/// What cannot run is said, and neither passes nor fails.
#[test]
fn the_loopback_device_runs_what_needs_one_process() {
    let records = accept(&["--device", "loopback", "--faults", "none", "--only", "soak --rounds"]);
    assert_eq!(records.len(), 1);
    assert_eq!(field(&records[0], "result"), "-");
    assert!(field(&records[0], "detail").contains("one process"));
}

#[test]
fn a_wrong_fault_is_refused_with_the_names_there_are() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let output = Command::new(env!("CARGO_BIN_EXE_mrnic"))
        .args(["accept", "--faults", "no-such-fault", "--out"])
        .arg(dir.path())
        .output()
        .expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("no-such-fault") && text.contains("loss-1"), "{text}");
}
