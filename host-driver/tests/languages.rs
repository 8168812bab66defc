//! The smallest program in Rust, C and Python (examples/write.*), each as a user builds and runs it.
//!
//! In: gcc with the header of libibverbs, python3-pyverbs, where they are installed. Out: the line that each prints. What is missing is named on stderr.
#[path = "../examples/write.rs"]
mod write;

use mrnic_host_driver::launch;
use mrnic_host_driver::link::build;
use std::path::{Path, PathBuf};
use std::process::Command;

const LINE: &str = "65536 bytes written by mrnic0\n";

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples").join(name)
}

/// Runs a program with the library.
fn run(library: &Path, line: &[&Path]) -> String {
    let line: Vec<String> = line.iter().map(|word| word.display().to_string()).collect();
    let output = launch::command(library, &line).expect("a command").env("MRNIC_SESSION", library.join("net")).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn rust() {
    assert_eq!(format!("{}\n", write::run().expect("it runs")), LINE);
}

#[test]
fn c() {
    if !Path::new("/usr/include/infiniband/verbs.h").exists() {
        eprintln!("not run: the program in C (apt-get install libibverbs-dev)");
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    build(dir.path()).expect("the library is built");
    let program = dir.path().join("write");
    // Linked with the installed library, as every program is; -Wall finds what the header warns of.
    let gcc =
        Command::new("gcc").args(["-Wall", "-Werror", "-o"]).arg(&program).arg(example("write.c")).arg("-libverbs").output();
    let gcc = gcc.expect("gcc starts");
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    assert_eq!(run(dir.path(), &[&program]), LINE);
}

#[test]
fn python() {
    if !Path::new("/usr/lib/python3/dist-packages/pyverbs").exists() {
        eprintln!("not run: the program in Python (apt-get install python3-pyverbs)");
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    build(dir.path()).expect("the library is built");
    assert_eq!(run(dir.path(), &[Path::new("/usr/bin/python3"), &example("write.py")]), LINE);
}
