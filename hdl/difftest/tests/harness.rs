//! The harness against hand-written Verilog: it passes what is equal, and notices what is not.

mod blocks;

use blocks::{Mix, Slice, Wrong, MIX, SLICE, WRONG_BODY};
use mrnic_difftest::{difftest, Difftest, DifftestError, Phase};
use rust_hdl_core::prelude::*;

fn slice() -> Difftest<Slice> {
    difftest!(Slice::default(), clock: clock, inputs: { reset, i.valid, i.data, o.ready })
        .top("slice")
        .against(SLICE)
        .source("i_valid", "i_ready", &["i_data"])
        .sink("o_ready")
        .cycles(2000)
}

fn mix() -> Difftest<Mix> {
    difftest!(Mix::default(), clock: none, inputs: { kind, entry, lane[0], lane[1], level }).top("mix").against(MIX)
}

fn fault(test: Difftest<Slice>, from: &'static str, to: &'static str) -> Box<mrnic_difftest::Mismatch> {
    let mutant = move |v: String| {
        assert!(v.contains(from), "nothing to mutate");
        v.replace(from, to)
    };
    match test.mutate(mutant).no_lint().try_run() {
        Err(DifftestError::Mismatch(m)) => m,
        Err(e) => panic!("{from} -> {to}: {e}"),
        Ok(_) => panic!("{from} -> {to} was not noticed"),
    }
}

#[test]
fn equal_blocks_pass_and_every_output_moves() {
    let report = slice().run();
    assert_eq!(report.cycles, 2000);
    assert!(report.stuck().is_empty(), "{:?}", report.output_changes);
    let report = mix().cycles(3000).run();
    assert!(report.stuck().is_empty(), "{:?}", report.output_changes);
}

#[test]
fn a_planted_fault_is_noticed_wherever_it_is() {
    for (from, to) in [
        ("taken + 16'd1", "taken + 16'd2"),
        ("assign i_ready = ~full | o_ready", "assign i_ready = ~full"),
        ("taken <= 16'd0;", ""),
        ("full <= 1'b0;", ""),
        ("data <= i_data", "data <= {1'b0, i_data[70:0]}"),
        ("data = 72'd0", "data = 72'd1"),
        ("posedge", "negedge"),
    ] {
        fault(slice(), from, to);
    }
}

#[test]
fn a_difference_names_cycle_port_values_seed_and_the_last_cycles() {
    let m = fault(slice().seed(77), "assign o_valid = full", "assign o_valid = full | reset");
    assert_eq!((m.port.as_str(), m.phase, m.cycle, m.seed, m.width), ("o_valid", Phase::BeforeEdge, 0, 77, 1));
    assert_eq!((m.rust.as_str(), m.verilog.as_str()), ("0", "1"));
    let text = m.to_string();
    assert!(text.contains("MRNIC_SEED=77") && text.contains("i_data=") && text.contains("before the rising edge"), "{text}");
    let again = fault(slice().seed(77), "assign o_valid = full", "assign o_valid = full | reset");
    assert_eq!(m, again, "a seed reproduces the run");

    let m = fault(slice(), "taken + 16'd1", "taken + (taken == 16'd6 ? 16'd2 : 16'd1)");
    assert_eq!((m.port.as_str(), m.phase, m.rust.as_str(), m.verilog.as_str()), ("count", Phase::AfterEdge, "0007", "0008"));
    assert!(m.history.len() >= 5);
}

#[test]
fn a_custom_body_that_differs_is_noticed() {
    let verilog =
        format!("module wrong(input wire clock, input wire enable, output reg [7:0] count);\n{WRONG_BODY}\nendmodule\n");
    let e = difftest!(Wrong::default(), clock: clock, inputs: { enable }).top("wrong").against(&verilog).try_run().unwrap_err();
    let DifftestError::Mismatch(m) = e else { panic!("{e}") };
    assert_eq!((m.port.as_str(), m.rust.as_str(), m.verilog.as_str()), ("count", "0b", "0a"));
}

#[test]
fn a_wrong_list_of_inputs_is_refused() {
    let run = |t: Difftest<Slice>| t.top("slice").against(SLICE).try_run().unwrap_err().to_string();
    let text = run(difftest!(Slice::default(), clock: clock, inputs: { reset, i.valid, o.ready }));
    assert!(text.contains("the input i_data is not in the list"), "{text}");
    let text = run(difftest!(Slice::default(), clock: none, inputs: { reset, i.valid, i.data, o.ready }));
    assert!(text.contains("the clock clock is not given"), "{text}");
    let text = run(slice().input("i_dada", |b| &mut b.reset));
    assert!(text.contains("no input \"i_dada\"") && text.contains("i_data"), "{text}");
    let narrow = SLICE
        .replace("input wire [71:0] i_data", "input wire [70:0] i_data")
        .replace("data <= i_data", "data <= {1'b0, i_data}");
    let text = slice().against(&narrow).try_run().unwrap_err().to_string();
    assert!(text.contains("i_data has 72 bits in Rust and 71 in Verilog"), "{text}");
}

#[test]
fn unclean_verilog_and_a_vacuous_run_fail() {
    let e = slice().against(&SLICE.replace("72'd0", "64'd0")).try_run().unwrap_err();
    assert!(matches!(e, DifftestError::Lint { .. }) && e.to_string().contains("WIDTH"), "{e}");
    let e = slice().stimulus(|_, _, inputs| inputs.set("reset", true)).stimulus(|_, _, i| {
        i.set("i_valid", false);
        i.set("i_data", vec![0u32; 3]);
        i.set("o_ready", true);
    });
    let e = e.try_run().unwrap_err();
    assert!(matches!(e, DifftestError::Vacuous { .. }), "{e}");
}

#[test]
fn streams_obey_their_rules_and_stimuli_have_the_last_word() {
    use std::sync::{Arc, Mutex};
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    slice()
        .limit("i_data", 5..=9)
        .stimulus(move |random, cycle, inputs| {
            if cycle % 50 == 0 && random.bool() {
                inputs.set("reset", true);
            }
            let line = (
                inputs.get("reset") != 0,
                inputs.get("i_valid") != 0,
                inputs.get("i_data"),
                inputs.previous("i_valid") != 0,
                inputs.sampled("i_ready") != 0,
                inputs.previous("i_data"),
                inputs.previous("reset") != 0,
            );
            log.lock().unwrap().push(line);
        })
        .run();
    let seen = seen.lock().unwrap();
    let (mut held, mut idle, mut busy, mut resets) = (0, 0, 0, 0);
    for (cycle, (reset, valid, data, was_valid, was_ready, was_data, was_reset)) in seen.iter().enumerate() {
        assert!((5..=9).contains(data), "{data}");
        if *was_valid && !was_ready && !reset && !was_reset {
            assert!(*valid && data == was_data, "cycle {cycle}: an unaccepted word must stay");
            held += 1;
        }
        idle += u32::from(!valid);
        busy += u32::from(*valid && *was_valid && *was_ready);
        resets += u32::from(*reset);
    }
    assert!(held > 50 && idle > 200 && busy > 100 && resets > 10, "{held} {idle} {busy} {resets}");
}

#[test]
fn an_unknown_name_in_a_stimulus_lists_the_inputs() {
    let r = std::panic::catch_unwind(|| slice().stimulus(|_, _, i| i.set("valid", true)).run());
    let text = r.unwrap_err().downcast::<String>().unwrap();
    assert!(text.contains("\"valid\"") && text.contains("i_valid"), "{text}");
    let r = std::panic::catch_unwind(|| slice().stimulus(|_, _, i| i.set("i_valid", 2)).run());
    assert!(r.unwrap_err().downcast::<String>().unwrap().contains("does not fit"));
}

/// A ring of inverters never settles.
#[derive(LogicBlock, Default)]
struct Ring {
    a: Signal<In, Bit>,
    q: Signal<Out, Bit>,
}

impl Logic for Ring {
    fn update(&mut self) {
        self.q.next = !self.q.val() | self.a.val();
    }
    fn connect(&mut self) {
        self.q.connect();
    }
}

#[test]
fn a_combinational_loop_is_reported() {
    let v = "module ring(input wire a, output wire q); assign q = ~a; endmodule\n";
    let e = difftest!(Ring::default(), clock: none, inputs: { a }).top("ring").against(v).try_run().unwrap_err();
    assert!(matches!(e, DifftestError::Unsettled { cycle: 0, .. }), "{e}");
}
