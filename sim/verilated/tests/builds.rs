//! Building: cache hits and misses, errors with a place, concurrency, lint.

mod common;

use std::time::Instant;

use common::{spec_built, WIDE};
use mrnic_verilated::{build, lint, BuildError, ModelSpec, Stage};

/// A text that no earlier run has built.
fn fresh(tag: &str) -> ModelSpec {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_nanos();
    let text =
        format!("// {tag} {now}\nmodule m(input clock, input d, output reg q); always @(posedge clock) q <= d; endmodule\n");
    ModelSpec { opt_level: 0, ..ModelSpec::new("m", text) }
}

#[test]
fn the_second_build_is_a_cache_hit_and_fast() {
    let spec = fresh("hit");
    let (_, stages) = spec_built(&spec);
    assert_eq!(stages, [Stage::WaitForLock, Stage::Verilate, Stage::Compile, Stage::Link, Stage::Done]);
    let start = Instant::now();
    let (model, stages) = spec_built(&spec);
    assert_eq!(stages, [Stage::CacheHit]);
    assert!(start.elapsed().as_millis() < 100, "{:?}", start.elapsed());
    let mut dut = model.instance("t", 3);
    dut.input("d").unwrap().set_bit(true);
    dut.cycle();
    assert!(dut.output("q").unwrap().get_bit());
    // another option is another model
    let (_, stages) = spec_built(&ModelSpec { opt_level: 1, ..spec });
    assert!(stages.contains(&Stage::Compile));
}

#[test]
fn two_builders_of_one_model_do_the_work_once() {
    let spec = fresh("race");
    let all: Vec<Vec<Stage>> = std::thread::scope(|s| {
        let handles: Vec<_> = (0..4).map(|_| s.spawn(|| spec_built(&spec).1)).collect();
        handles.into_iter().map(|h| h.join().unwrap()).collect()
    });
    let compiled = all.iter().filter(|s| s.contains(&Stage::Compile)).count();
    assert_eq!(compiled, 1, "{all:?}");
}

#[test]
fn progress_counts_up_to_its_total() {
    let mut events = Vec::new();
    build(&fresh("progress"), &mut |e| events.push(e)).unwrap();
    let compile: Vec<_> = events.iter().filter(|e| e.stage == Stage::Compile).collect();
    let total = compile[0].total;
    assert_eq!(compile.iter().map(|e| e.done).collect::<Vec<_>>(), (0..=total).collect::<Vec<_>>());
}

#[test]
fn broken_verilog_gives_file_and_line() {
    let spec = ModelSpec::new("broken", "module broken(input clock,\n output q);\n assign q = not_there;\nendmodule\n");
    let e = build(&spec, &mut |_| {}).unwrap_err();
    assert!(matches!(e, BuildError::Verilog { .. }));
    let text = e.to_string();
    assert!(text.contains("broken.v:3:") && text.contains("not_there"), "{text}");
    assert!(!text.contains("/tmp/"), "only the file's own name: {text}");
}

#[test]
fn a_warning_is_an_error() {
    let spec = ModelSpec::new("w", "module w(input clock, input [7:0] a, output [3:0] q);\nassign q = a;\nendmodule\n");
    let text = build(&spec, &mut |_| {}).unwrap_err().to_string();
    assert!(text.contains("WIDTH") && text.contains("w.v:2:"), "{text}");
    let allowed = ModelSpec { extra_args: vec!["-Wno-WIDTH".into()], ..spec };
    build(&allowed, &mut |_| {}).unwrap();
}

#[test]
fn a_missing_clock_names_the_inputs_and_a_combinational_top_needs_none() {
    let spec = ModelSpec::new("inv", "module inv(input clk, input a, output q); assign q = a ^ clk; endmodule");
    let text = build(&spec, &mut |_| {}).unwrap_err().to_string();
    assert!(text.contains("\"clock\"") && text.contains("clk, a"), "{text}");
    let (model, _) = spec_built(&ModelSpec { clock: None, opt_level: 0, ..spec });
    assert!(!model.clocked());
    let mut dut = model.instance("t", 1);
    dut.input("a").unwrap().set_bit(true);
    dut.eval();
    assert!(dut.output("q").unwrap().get_bit());
}

#[test]
fn lint_is_silent_on_clean_text_and_exact_on_the_rest() {
    lint("module ok(input a, output q); assign q = ~a; endmodule\n", "ok").unwrap();
    let text = lint("module un(input a, input b, output q);\nassign q = ~a;\nendmodule\n", "un").unwrap_err().to_string();
    assert!(text.contains("UNUSED") && text.contains("un.v:1:"), "{text}");
    lint(WIDE, "wide").unwrap_err(); // a register that nobody drives
}

/// Enough generated C++ for several compiler runs, some of them for code that is only used at the start.
#[test]
fn a_large_design_is_compiled_in_parts() {
    let mut v = String::from("module long_pipe(input clock, input [63:0] a, output [63:0] q);\nwire [63:0] w0 = a;\n");
    const STAGES: usize = 400;
    for i in 0..STAGES {
        v += &format!("reg [63:0] r{i}; initial r{i} = 64'd0;\nreg [63:0] m{i} [0:3];\n");
        v += &format!(
            "always @(posedge clock) begin m{i}[w{i}[1:0]] <= w{i}; r{i} <= (w{i} ^ 64'd{i}) + m{i}[w{i}[3:2]]; end\n"
        );
        v += &format!("wire [63:0] w{} = r{i};\n", i + 1);
    }
    v += &format!("assign q = w{STAGES};\nendmodule\n");
    let mut parts = 0;
    let spec = ModelSpec { opt_level: 0, ..ModelSpec::new("long_pipe", &v) };
    let spec = ModelSpec { verilog: format!("// {}\n{v}", fresh("large").verilog.lines().next().unwrap()), ..spec };
    let model = build(&spec, &mut |e| {
        if e.stage == Stage::Compile {
            parts = e.total
        }
    })
    .unwrap();
    assert!(parts >= 3, "{parts} compiler runs");
    let mut dut = model.instance_with("t", 1, mrnic_verilated::Initial::Zeros);
    // the same in Rust
    let (mut r, mut m) = (vec![0u64; STAGES], vec![[0u64; 4]; STAGES]);
    let (a, q) = (dut.input("a").unwrap(), dut.output("q").unwrap());
    for cycle in 0..1000u64 {
        let input = cycle.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        a.set_u64(input);
        for i in (0..STAGES).rev() {
            let w = if i == 0 { input } else { r[i - 1] };
            r[i] = (w ^ i as u64).wrapping_add(m[i][(w >> 2 & 3) as usize]);
            m[i][(w & 3) as usize] = w;
        }
        dut.cycle();
        assert_eq!(q.get_u64(), r[STAGES - 1], "cycle {cycle}");
    }
}
