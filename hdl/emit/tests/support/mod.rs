//! Runs Verilator on emitted designs, found as everywhere (`$VERILATOR`, the workspace's `.venv`, PATH).
use mrnic_emit::Design;

/// Panics with Verilator's messages and the text if there is any warning.
pub fn lint(design: &Design) {
    if let Err(e) = mrnic_verilated::lint(&design.verilog, &design.top) {
        panic!("{e}\n{}", design.verilog);
    }
}
