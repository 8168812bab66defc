//! No block has grown unnoticed: a few that synthesise in seconds, against the committed baseline.
//!
//! In: the emitted builds, baseline.toml. Out: block, figure and remedy of everything that grew by more than 5 %.
//! Guarantees: cells, memories and levels are compared, times never. All blocks: `mrnic synth --check`.
use mrnic_synth::baseline::{Baseline, COMMITTED};
use mrnic_synth::design::Emitted;
use mrnic_synth::figures::Figures;
use mrnic_synth::run::{Job, Runner};
use mrnic_synth::target::Target;
use mrnic_synth::tools::Tools;

/// Small blocks of several kinds: a list in memory, masks, arithmetic with multipliers, tables.
const CHECKED: &[(Target, &[&str])] =
    &[(Target::Ecp5, &["run_list", "ring_mask", "rate_limiter", "key_check"]), (Target::Xcup, &["rate_limiter"])];

fn runner() -> Option<Runner> {
    match Tools::find() {
        Ok(tools) => Some(Runner::new(tools).unwrap()),
        Err(e) => {
            eprintln!("not run: synthesis ({e})");
            None
        }
    }
}

fn measure(runner: &Runner, target: Target, build: &Emitted, block: &str, change: impl Fn(String) -> String) -> Figures {
    let verilog = change(build.text_of(block).unwrap());
    let job = Job { target, build: target.build(), block, verilog: &verilog, place_and_route: false };
    runner.measure(&job, &|_| {}).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn no_block_has_grown() {
    let Some(runner) = runner() else { return };
    let baseline = Baseline::parse(COMMITTED).unwrap();
    let mut grown = Vec::new();
    for (target, blocks) in CHECKED {
        let build = Emitted::new(target.build()).unwrap();
        for block in *blocks {
            let figures = measure(&runner, *target, &build, block, |text| text);
            assert!(figures.lut > 0, "{block} on {}: no LUT at all", target.name());
            grown.extend(baseline.growth(&figures));
        }
    }
    assert!(grown.is_empty(), "\n{}", grown.join("\n"));
}

/// The check can fail: a block with one more adder is caught.
#[test]
fn a_block_with_more_logic_is_caught() {
    let Some(runner) = runner() else { return };
    let build = Emitted::new("ecp5").unwrap();
    let longer = |text: String| {
        let (head, last) = text.rsplit_once("endmodule").unwrap();
        let more = "reg [31:0] more, sum; always @(posedge clock) begin more <= more * 3 + 1; sum <= sum + (more ^ sum); end\n\
                    (* keep *) wire parity = ^sum;\n";
        format!("{head}{more}endmodule{last}")
    };
    let figures = measure(&runner, Target::Ecp5, &build, "run_list", longer);
    let grown = Baseline::parse(COMMITTED).unwrap().growth(&figures);
    let remedy = "mrnic synth ecp5/run_list --target ecp5 --update";
    assert!(grown.iter().any(|g| g.starts_with("ecp5/run_list on ecp5: ff grew") && g.ends_with(remedy)), "{grown:?}");
}

/// What cannot be synthesised is told in the tool's own line, with the place of the whole log.
#[test]
fn a_failure_of_the_tool_is_one_line() {
    let Some(runner) = runner() else { return };
    let job =
        Job { target: Target::Ecp5, build: "ecp5", block: "b", verilog: "module b(input a); nonsense", place_and_route: false };
    let message = runner.measure(&job, &|_| {}).unwrap_err().to_string();
    assert!(message.starts_with("synthesis of b failed: ") && message.contains("syntax error"), "{message}");
    assert_eq!(message.lines().count(), 1, "{message}");
    // a loop without a register has no depth
    let verilog = "module b(input a, output y); assign y = !(y & a); endmodule";
    let job = Job { verilog, ..job };
    let message = runner.measure(&job, &|_| {}).unwrap_err().to_string();
    assert!(message.starts_with("synthesis of b failed: ") && message.contains("loop"), "{message}");
}

/// A block that is too large for the part is refused before place and route.
#[test]
fn a_netlist_that_does_not_fit_is_named() {
    let Some(runner) = runner() else { return };
    if runner.tools.need_nextpnr().is_err() {
        eprintln!("not run: place and route (scripts/setup.sh --synth)");
        return;
    }
    // 2^18 words of 16 bits need 256 block RAMs of 18 kbit
    let verilog = "module b(input clock, input [17:0] at, input w, input [15:0] d, output reg [15:0] q);\n\
                   (* ram_style = \"block\" *) reg [15:0] mem [0:262143];\n\
                   always @(posedge clock) begin if (w) mem[at] <= d; q <= mem[at]; end\nendmodule";
    let job = Job { target: Target::Ecp5, build: "ecp5", block: "b", verilog, place_and_route: true };
    let message = runner.measure(&job, &|_| {}).unwrap_err().to_string();
    assert!(message.starts_with("b does not fit LFE5U-85F: BRAM 256 of 208"), "{message}");
}
