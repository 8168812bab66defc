//! Runs Verilator on emitted designs. `VERILATOR` names the program (default `verilator`).
use mrnic_emit::Design;
use std::path::PathBuf;
use std::process::Command;

pub fn verilator() -> String {
    std::env::var("VERILATOR").unwrap_or_else(|_| "verilator".into())
}

/// Writes the design to a directory of its own.
pub fn write(design: &Design) -> (PathBuf, PathBuf) {
    let name = format!("emit-{}-{}", design.top, std::process::id());
    let directory = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&directory).unwrap();
    let file = directory.join(format!("{}.v", design.top));
    std::fs::write(&file, &design.verilog).unwrap();
    (directory, file)
}

/// Panics with Verilator's messages and the text if there is any warning.
pub fn lint(design: &Design) {
    let (directory, file) = write(design);
    let output = Command::new(verilator())
        .args(["--lint-only", "-Wall", "--top-module", &design.top])
        .arg(&file)
        .output()
        .expect("Verilator is needed: set VERILATOR or put verilator into PATH");
    let messages = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && messages.trim().is_empty(), "{messages}\n{}", design.verilog);
    std::fs::remove_dir_all(directory).unwrap();
}
