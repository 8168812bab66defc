//! The `mrnic` command with bad arguments: the exit status is not zero, and the message says what is wrong and what to do.
//! None of these runs gets as far as a model.
use std::process::{Command, Output};

fn mrnic(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_mrnic")).args(args).output().expect("the mrnic command starts")
}

/// The command fails with that status and all these words on standard error.
fn refused(args: &[&str], status: i32, words: &[&str]) {
    told(args, &mrnic(args), status, words);
}

fn told(args: &[&str], o: &Output, status: i32, words: &[&str]) {
    let message = String::from_utf8_lossy(&o.stderr);
    assert_eq!(o.status.code(), Some(status), "mrnic {args:?}: {message}");
    for w in words {
        assert!(message.contains(w), "mrnic {args:?}: no '{w}' in: {message}");
    }
    // a cause is named once
    let parts: Vec<&str> = message.split(": ").flat_map(|p| p.split("; ")).map(str::trim).filter(|p| p.len() > 12).collect();
    for (i, part) in parts.iter().enumerate() {
        assert!(!parts[..i].contains(part), "mrnic {args:?}: '{part}' twice in: {message}");
    }
}

#[test]
fn unknown_scenario_names_the_shipped_ones_and_the_command_that_describes_them() {
    refused(&["sim", "no-such-scenario"], 1, &["no scenario no-such-scenario", "clean, demo, loss-1", "mrnic scenarios"]);
    refused(&["sim", "no/such.toml"], 1, &["no scenario no/such.toml", "neither a file"]);
}

#[test]
fn what_is_no_text_file_is_refused_with_its_cause() {
    let dir = tempfile::tempdir().unwrap();
    let name = dir.path().to_str().unwrap();
    refused(&["sim", name], 1, &["cannot read", name, "directory", "give a TOML file", "loss-1"]);
    let file = dir.path().join("binary.toml");
    std::fs::write(&file, b"name = \xFF\x00").unwrap();
    refused(&["sim", file.to_str().unwrap()], 1, &["cannot read", "binary.toml", "UTF-8", "give a TOML file"]);
}

#[test]
fn one_command_lists_all_that_there_is() {
    let help = String::from_utf8_lossy(&mrnic(&["--help"]).stdout).into_owned();
    for name in ["sim", "demo", "emit", "model", "bench", "scenarios", "cluster", "run", "pair", "accept", "soak", "library"] {
        assert!(help.lines().any(|line| line.trim_start().starts_with(&format!("{name} "))), "no {name} in: {help}");
        assert!(mrnic(&[name, "--help"]).status.success(), "mrnic {name} --help fails");
    }
}

#[test]
fn a_wrong_device_scenario_or_program_is_refused_before_anything_runs() {
    for action in ["run", "pair"] {
        refused(&[action, "--device", "nope", "--", "true"], 2, &["nope", "model", "loopback"]);
        refused(&[action, "--scenario", "nope", "--", "true"], 1, &["nope", "loss-1", "TOML"]);
        refused(&[action], 2, &["COMMAND"]);
    }
    refused(&["accept", "--device", "nope"], 2, &["nope", "model"]);
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
    std::fs::write(&file, "name = \"x\"\ndescription = \"x\"\nnics = \"three\"\ntraffic = []\n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "line 3", "nics = ", "three", "expected a whole number", "sim/scenarios"]);
    std::fs::write(&file, "name = \"x\"\ndescription = \"x\"\ntraffic = [{ from = 0, to = 1, bytes = 9 }]\n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "line 3", "missing", "message_bytes"]);
    std::fs::write(&file, "").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "missing", "name"]);
    std::fs::write(&file, "name = \"x\"\ndescription = \"x\"\nbuild = \"nope\"\ntraffic = []\n").unwrap();
    refused(&["sim", name], 1, &["broken.toml", "build = nope", "choose one of sim"]);
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
        let folder = dir.path().to_str().unwrap();
        refused(&["sim", "clean", option, folder], 1, &["cannot write", folder, "directory", "choose"]);
    }
}

#[test]
fn two_outputs_do_not_share_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("out.json");
    let name = file.to_str().unwrap();
    refused(&["sim", "clean", "--report", name], 1, &[name, "twice", "different names"]);
    refused(&["sim", "clean", "--wave", name, "--pcap", name], 1, &[name, "twice", "different names"]);
}

/// The tools that a run needs, and the place for what they build.
#[test]
fn missing_verilator_and_bad_cache_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("root");
    std::fs::create_dir_all(root.join("include")).unwrap();
    std::fs::write(root.join("include/verilated.h"), "").unwrap();
    // The user's own variables must not decide what is looked at.
    let run = |key: &str, value: &str, root: Option<&std::path::Path>, words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mrnic"));
        command.args(["sim", "clean"]).env_remove("VERILATOR_ROOT").env(key, value);
        command.envs(root.map(|root| ("VERILATOR_ROOT", root)));
        told(&["sim", "clean"], &command.output().expect("the mrnic command starts"), 1, words);
    };
    let file = dir.path().join("file");
    std::fs::write(&file, "").unwrap();
    run("MRNIC_CACHE", file.to_str().unwrap(), None, &["cannot create", file.to_str().unwrap(), "MRNIC_CACHE"]);
    let none = dir.path().join("none");
    run("VERILATOR", none.to_str().unwrap(), None, &["Verilator not found", "$VERILATOR", "scripts/setup.sh"]);
    let file = file.to_str().unwrap();
    run("VERILATOR", file, None, &[file, "verilated.h is missing", "VERILATOR_ROOT", "scripts/setup.sh"]);
    run("VERILATOR", file, Some(&root), &["unusable", file, "scripts/setup.sh"]);
}

#[test]
fn wrong_usage_has_its_own_status() {
    refused(&[], 2, &["Usage"]);
    refused(&["fly"], 2, &["fly"]);
    refused(&["bench", "--only", "nope"], 2, &["nope", "mtu", "goodput"]);
    for bad in ["x", "-1", "18446744073709551616", ""] {
        refused(&["sim", "clean", "--seed", bad], 2, &["--seed", "whole number from 0"]);
        refused(&["demo", "--seed", bad], 2, &["--seed", "whole number from 0"]);
    }
}

/// `mrnic scenarios | head -1`: the command ends quietly, as by SIGPIPE, when nobody reads any more.
#[test]
fn a_reader_that_is_gone_ends_the_command_quietly() {
    for args in [["scenarios"].as_slice(), &["cluster", "list"], &["formal", "--list"], &["sim", "clean"]] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = Command::new(env!("CARGO_BIN_EXE_mrnic"));
        let o =
            command.args(args).stdout(writer).stderr(std::process::Stdio::piped()).spawn().unwrap().wait_with_output().unwrap();
        assert_eq!((o.status.code(), String::from_utf8_lossy(&o.stderr).as_ref()), (Some(141), ""), "mrnic {args:?}");
    }
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

/// Synthesis: names and tools are checked before anything runs.
#[test]
fn synthesis_names_what_it_does_not_know() {
    refused(&["synth", "--target", "stratix"], 1, &["no part stratix", "ecp5, xcup"]);
    refused(&["synth", "nope/framer"], 1, &["no build nope", "corundum100g"]);
    refused(&["synth", "path_trakker", "--target", "ecp5"], 1, &["no block or build path_trakker", "path_tracker"]);
    refused(&["synth", "framer", "--target", "xcup", "--pnr"], 1, &["ecp5 only", "--pnr"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_mrnic"));
    let args = ["synth", "run_list", "--target", "ecp5"];
    command.args(args).env("MRNIC_PYTHON", "/nowhere/python");
    let words = ["no Python with pyosys", "/nowhere/python", "scripts/setup.sh --synth"];
    told(&args, &command.output().expect("the mrnic command starts"), 1, &words);
}
