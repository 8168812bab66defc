//! The checked-in layout and constants equal those of the installed `infiniband/verbs.h`.
//!
//! In: the header of libibverbs-dev and gcc. Out: a failure that names the structure and member, or the constant. Without the header the sizes
//! are still checked at compile time against the figures in `layout`; this test then says on stderr what it could not see.
use mrnic_host_driver::abi::{layout::LAYOUT, CONSTANTS};
use std::fmt::Write as _;
use std::process::Command;

#[test]
fn layout_equals_the_installed_header() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let probe = dir.path().join("probe.c");
    std::fs::write(&probe, "#include <infiniband/verbs.h>\n").expect("write probe.c");
    let found = Command::new("gcc").arg("-fsyntax-only").arg(&probe).output();
    if !found.is_ok_and(|o| o.status.success()) {
        eprintln!("not compared: no infiniband/verbs.h here (apt-get install gcc libibverbs-dev)");
        return;
    }

    let mut c = String::from("#include <stdio.h>\n#include <stddef.h>\n#include <infiniband/verbs.h>\nint main(void) {\n");
    let mut ours = String::new();
    for s in LAYOUT {
        writeln!(c, "printf(\"{0} %zu\\n\", sizeof({0}));", s.c_type).expect("format");
        writeln!(ours, "{} {}", s.c_type, s.size_bytes).expect("format");
        for (member, offset) in s.members {
            writeln!(c, "printf(\"{0}.{1} %zu\\n\", offsetof({0}, {1}));", s.c_type, member).expect("format");
            writeln!(ours, "{}.{} {}", s.c_type, member, offset).expect("format");
        }
    }
    for (name, value) in CONSTANTS {
        writeln!(c, "printf(\"{name} %lld\\n\", (long long){name});").expect("format");
        writeln!(ours, "{name} {value}").expect("format");
    }
    c.push_str("return 0; }\n");
    std::fs::write(&probe, c).expect("write probe.c");
    let program = dir.path().join("probe");
    let built = Command::new("gcc").arg("-o").arg(&program).arg(&probe).output().expect("gcc runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let theirs = Command::new(&program).output().expect("the probe runs");
    let theirs = String::from_utf8(theirs.stdout).expect("text");
    assert_eq!(theirs.lines().count(), ours.lines().count());
    for (theirs, ours) in theirs.lines().zip(ours.lines()) {
        assert_eq!(theirs, ours, "left: the installed header, right: src/abi");
    }
}
