//! The stand-alone ECP5 board: the whole `ecp5` build between a serial line and a GMII-like stream, down to a bitstream.
//!
//! In: the emitted build, the hand-written board modules and pins of constraints/ecp5. Out: mrnic_ecp5.bit and full.json.
//! Guarantees: the frequency is that of the routed board; a board that misses its clock is an error, its bitstream stays; where the longest
//! paths end is told either way; what Yosys made is kept, so that place and route can be run again alone.
use crate::command::progress;
use crate::derived::Derived;
use crate::design::Emitted;
use crate::error::{io, SynthError};
use crate::figures::Figures;
use crate::run::{Job, Runner, EVERY_PATH};
use crate::target::Target;
use crate::tools::Tools;
use anyhow::{bail, Result};
use mrnic_nic::config::{build, BuildConfig, FifoDepths};
use mrnic_say::say;
use std::fs;
use std::path::Path;

/// The top module of the board.
pub const TOP: &str = "mrnic_ecp5";
const LPF: &str = include_str!("../../../constraints/ecp5/mrnic_ecp5.lpf");
/// The board's clock, in MHz.
pub const CLOCK_MHZ: f64 = 62.5;
/// Of the placement: with 1, router2 goes round a last 200 wires without end.
const SEED: &str = "2";
/// How many of the slowest registers are printed.
const TOLD: usize = 5;

macro_rules! modules {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../constraints/ecp5/rtl/", $name, ".v")))),*]
    };
}
/// The hand-written modules: name and text.
pub const MODULES: &[(&str, &str)] = modules![
    "uart_rx",
    "uart_tx",
    "uart_bus",
    "host_memory",
    "frame_fifo",
    "fcs_step",
    "gmii_tx",
    "gmii_rx",
    "mrnic_board",
    "mrnic_ecp5",
];

/// The build `ecp5` with the time of the board's clock. The board's memory answers at once and its line carries a byte a clock, so one
/// header waiting is enough: a header is about a thousand bits, which as one entry lie in registers, else in LUT memory of 16 rows.
pub fn config() -> BuildConfig {
    let ecp5 = build("ecp5").expect("the build that the board is made for");
    let fifo = FifoDepths { hdr: 1, frame: 1, dr_outstanding: 1, ..ecp5.fifo };
    BuildConfig { clock_ps: (1e6 / CLOCK_MHZ) as u64, fifo, ..ecp5 }
}

/// Emitted build and board modules in one text.
pub fn verilog() -> Result<String, SynthError> {
    let engine = Emitted::of(config())?;
    let mut text = engine.text_of("ecp5").expect("a build has a module of its name");
    MODULES.iter().for_each(|(_, module)| text += module);
    Ok(text)
}

/// Makes the bitstream in a folder.
pub fn run(out: &Path) -> Result<()> {
    let runner = Runner::new(Tools::find()?)?;
    runner.tools.need_nextpnr()?;
    fs::create_dir_all(out).map_err(io("create", out))?;
    let text = verilog()?;
    let job = Job { target: Target::Ecp5, build: "ecp5", block: TOP, verilog: &text, place_and_route: false };
    let bar = progress(3, false)?;
    bar.set_message("Yosys (about 10 minutes)");
    let measured = runner.synthesise_or_take(&job, "netlist.json")?;
    bar.inc(1);
    let figures = Figures::new(Target::Ecp5, "ecp5", TOP, &measured, None);
    let excess = figures.excess();
    if !excess.is_empty() {
        return Err(SynthError::DoesNotFit { block: TOP.into(), part: Target::Ecp5.part().into(), what: excess }.into());
    }
    fs::write(runner.file("pins.lpf"), LPF).map_err(io("write", runner.file("pins.lpf")))?;
    let clock = CLOCK_MHZ.to_string();
    // router1 does not get to the end of a board this full, and router2 not of every placement
    let options = [
        "--seed",
        SEED,
        "--router",
        "router2",
        "--package",
        "CABGA381",
        "--lpf",
        "pins.lpf",
        "--freq",
        clock.as_str(),
        EVERY_PATH,
    ];
    bar.set_message("nextpnr (up to an hour)");
    let routed = runner.route(TOP, "netlist.json", &options, Some("board.config"))?;
    bar.inc(1);
    bar.set_message("ecppack");
    runner.pack(TOP, "board.config", "board.bit")?;
    bar.finish_and_clear();
    let bitstream = out.join(format!("{TOP}.bit"));
    fs::copy(runner.file("board.bit"), &bitstream).map_err(io("write", &bitstream))?;
    let figures = Figures::new(Target::Ecp5, "ecp5", TOP, &measured, Some(routed.clone()));
    let derived = Derived::new(&figures, &config());
    let json = out.join("full.json");
    let about = serde_json::json!({ "figures": figures, "derived": derived, "clock_mhz": CLOCK_MHZ });
    fs::write(&json, serde_json::to_string_pretty(&about)?).map_err(io("write", &json))?;
    let mhz = routed.fmax_mhz.unwrap_or(0.0);
    say!("{TOP}: {} LUTs, {} FFs, {} BRAMs, {} levels, {mhz:.1} MHz", figures.lut, figures.ff, figures.bram, figures.levels);
    say!("{}", derived.text());
    say!("files: {} {}", bitstream.display(), json.display());
    let slowest: Vec<_> = routed.slowest.iter().take(TOLD).map(|end| format!("{} {:.1}", end.to, end.ns)).collect();
    say!("slowest (ns): {}", slowest.join(", "));
    if mhz < CLOCK_MHZ {
        bail!("{TOP} misses its clock of {CLOCK_MHZ} MHz: {mhz:.1} MHz, from {} to {}", routed.from, routed.to);
    }
    Ok(())
}
