//! Differential tests of blocks that are run in more than one place: on the emitted Verilog (tests of mrnic-nic) and on the netlist made of it
//! (`mrnic synth --check-netlists`).
//! Comes in: a block's name and its window W. Goes out: its Verilog, and the result of its test against that or another text.
//! Guarantees: both places drive the same block with the same stimulus.
pub mod congestion;
pub mod path_scheduler;
pub mod path_tracker;
pub mod retransmit_queue;
pub mod sack_scoreboard;

use mrnic_difftest::{DifftestError, Report};
use mrnic_nic::config::{build, BuildConfig};

/// Every possible W (window bits of a build).
pub const WINDOWS: [u64; 3] = [256, 128, 64];

/// The build `sim` with W = `bits`.
pub(crate) fn of_window(bits: u64) -> BuildConfig {
    BuildConfig { window_bits: bits as usize, ..build("sim").expect("the build sim") }
}

/// The differential test of one block.
pub struct Test {
    /// The block, and the name of its module.
    pub block: &'static str,
    /// The windows it is tested with; the first one is that of the build `sim`.
    pub windows: &'static [u64],
    /// The emitted Verilog.
    pub verilog: fn(u64) -> Result<String, DifftestError>,
    /// Runs the test with this text in place of the emitted one.
    pub against: fn(u64, &str) -> Result<Report, DifftestError>,
}

macro_rules! test {
    ($block:ident, $windows:expr) => {
        Test {
            block: stringify!($block),
            windows: $windows,
            verilog: |window| $block::difftest(window).verilog(),
            against: |window, text| $block::difftest(window).against(text).no_lint().try_run(),
        }
    };
}

/// The blocks that are named after what they do in the protocol.
pub const TESTS: [Test; 5] = [
    test!(path_tracker, &WINDOWS),
    test!(sack_scoreboard, &WINDOWS),
    test!(retransmit_queue, &WINDOWS),
    // the same for every window
    test!(path_scheduler, &[256]),
    test!(congestion, &WINDOWS),
];
