//! The `mrnic` command with bad arguments: the exit status is not zero, and the message says what is wrong and what to do.
//! None of these runs gets as far as Verilator.
use std::process::{Command, Output};

fn mrnic(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mrnic")).args(args).output().expect("the mrnic command starts")
}

/// The command fails with that status and all these words on standard error.
fn refused(args: &[&str], status: i32, words: &[&str]) {
    let o = mrnic(args);
    let message = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(status), "mrnic {args:?}: {message}");
    for w in words {
        assert!(message.contains(w), "mrnic {args:?}: no '{w}' in: {message}");
    }
}

#[test]
fn unknown_scenario_names_the_command_that_lists_them() {
    refused(&["sim", "no-such-scenario"], 1, &["no-such-scenario", "mrnic scenarios"]);
}

#[test]
fn unknown_build_names_the_known_ones() {
    refused(&["emit", "--build", "nope"], 1, &["no build nope", "sim", "corundum100g"]);
    refused(&["model", "--build", "nope"], 1, &["no build nope", "sim"]);
}

#[test]
fn broken_toml_names_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("broken.toml");
    let name = file.to_str().unwrap();
    std::fs::write(&file, "name = \"x\"\nnics = \n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "line 2"]);
    std::fs::write(&file, "name = \"x\"\ndescription = \"x\"\nnicks = 3\ntraffic = []\n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "line 3", "nicks", "nics"]);
    std::fs::write(&file, "name = \"x\"\ndescription = \"x\"\nnics = 3\ntraffic = []\n[fabric]\nloss_data = 1.5\n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "fabric.loss_data = 1.5", "choose from 0.0 to 1.0"]);
}

#[test]
fn unwritable_output_is_found_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    // a file where a folder is needed: nobody can write below it, not even root
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    let below = file.join("below");
    let below = below.to_str().unwrap();
    for args in [["demo", "--out", below].as_slice(), &["bench", "--out", below], &["emit", "--build", "sim", "--out", below]] {
        refused(args, 1, &["cannot make the folder", below, "--out"]);
    }
    for option in ["--wave", "--pcap", "--report"] {
        refused(&["sim", "clean", option, below], 1, &["cannot write", below, "choose"]);
    }
}

#[test]
fn wrong_usage_has_its_own_status() {
    refused(&[], 2, &["Usage"]);
    refused(&["fly"], 2, &["fly"]);
    refused(&["bench", "--only", "nope"], 2, &["nope", "mtu", "goodput"]);
    refused(&["sim", "clean", "--seed", "x"], 2, &["--seed"]);
}

#[test]
fn help_and_list_succeed() {
    let o = mrnic(&["--help"]);
    let text = String::from_utf8_lossy(&o.stdout).into_owned();
    assert!(o.status.success());
    for word in ["sim", "demo", "emit", "bench", "scenarios", "mrnic sim loss-1"] {
        assert!(text.contains(word), "no {word} in: {text}");
    }
    let o = mrnic(&["scenarios"]);
    assert!(o.status.success());
    assert!(String::from_utf8_lossy(&o.stdout).contains("loss-1"));
}
