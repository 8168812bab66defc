//! Every block of the engine and every widget has a differential test: the lists are read from the sources and the tests.
//! In: the folders src and tests of hdl/nic and hdl/widgets. Out: a failure that names the blocks without one.
//! Guarantees: a new block without a test, and a stated aggregate that is gone or tested after all, stop the run.
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

/// Blocks that only wire up others, and what runs them as a whole instead.
const AGGREGATES: &[(&str, &str)] = &[
    ("Sequencer", "TxCore in tests/tx_blocks.rs is this block and its queues; tests/tx_core.rs has the functional checks"),
    ("Egress", "its builders and the framer have their own; tests/framer.rs sends whole frames through it"),
    ("Engine", "runs in lockstep with the golden model: sim/tests/scenarios.rs"),
    ("Top", "Engine and its ports: sim/tests/scenarios.rs"),
];

fn sources(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.expect("a folder entry").path();
        if path.is_dir() {
            sources(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

fn name_at(text: &str) -> String {
    text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

/// The structs that derive `LogicBlock`.
fn blocks_of(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut derived = false;
    for line in text.lines().map(str::trim_start) {
        if line.starts_with("#[derive(") && line.contains("LogicBlock") {
            derived = true;
        } else if let Some((_, rest)) = line.split_once("struct ").filter(|_| derived && !line.starts_with("//")) {
            names.push(name_at(rest));
            derived = false;
        }
    }
    names
}

/// The types given to `difftest!`.
fn tested_in(text: &str) -> Vec<String> {
    text.split("difftest!(").skip(1).map(name_at).collect()
}

/// The types given to `difftest!` here, and those of the modules of mrnic-stimuli that are run here.
fn run_in(text: &str) -> Vec<String> {
    let stimuli = Path::new(env!("CARGO_MANIFEST_DIR")).join("../stimuli/src");
    let mut names = tested_in(text);
    for rest in text.split("mrnic_stimuli::").skip(1) {
        let module = name_at(rest);
        if !rest[module.len()..].starts_with("::difftest(") {
            continue;
        }
        let file = stimuli.join(&module).with_extension("rs");
        names.extend(tested_in(&fs::read_to_string(&file).unwrap_or_else(|e| panic!("{}: {e}", file.display()))));
    }
    names
}

fn read(dir: &Path, names: fn(&str) -> Vec<String>) -> BTreeMap<String, PathBuf> {
    let mut files = Vec::new();
    sources(dir, &mut files);
    let text = |file: &PathBuf| fs::read_to_string(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    files.iter().flat_map(|file| names(&text(file)).into_iter().map(|name| (name, file.clone()))).collect()
}

#[test]
fn every_block_has_a_differential_test() {
    let hdl = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut missing = Vec::new();
    for part in ["nic", "widgets"] {
        let blocks = read(&hdl.join(part).join("src"), blocks_of);
        let tested = read(&hdl.join(part).join("tests"), run_in);
        assert!(blocks.len() > 8, "only {} blocks found in {part}: the sources are not read as they are written", blocks.len());
        for (name, file) in &blocks {
            let aggregate = AGGREGATES.iter().any(|a| a.0 == name);
            assert!(!(aggregate && tested.contains_key(name)), "{name} has a differential test: it is no aggregate any more");
            if !aggregate && !tested.contains_key(name) {
                missing.push(format!("{name} of {}: write tests/{}", file.display(), file.file_name().unwrap().display()));
            }
        }
        if part == "nic" {
            let gone: Vec<_> = AGGREGATES.iter().filter(|a| !blocks.contains_key(a.0)).collect();
            assert!(gone.is_empty(), "aggregates without a block: {gone:?}");
        }
    }
    assert!(missing.is_empty(), "blocks without difftest!:\n{}", missing.join("\n"));
}

#[test]
fn blocks_and_tests_are_found_in_their_usual_forms() {
    let source =
        "/// A struct in a comment.\n#[derive(LogicBlock, Default)]\npub struct First<const W: usize> {\n}\n#[derive(Clone)]\n\
                  pub struct Row {}\n#[derive(LogicBlock)]\n/// Text.\nstruct Second {}\n";
    assert_eq!(blocks_of(source), ["First", "Second"]);
    let test = "difftest!(First::<64>::new(), clock: clock)\nlet r = difftest!(\n    Second::default(), ..)";
    assert_eq!(tested_in(test), ["First", "Second"]);
}
