//! The meaning: rust-hdl's simulation and the Verilated output agree on random inputs and corners, for every construct
//! of the dialect and for the kernels that rust-hdl's own generator gets wrong (`traps`).
mod blocks;

use blocks::*;
use mrnic_difftest::{difftest, Difftest};
use mrnic_difftest::{drive_enum, drive_struct};
use mrnic_emit::emit;
use rust_hdl_core::prelude::*;
use structs::{CounterConfig, Header, Kind, Psn};

drive_enum!(Kind { Data, Ack, Nack });
drive_struct!(Psn { value, valid });
drive_struct!(Header { kind, length, psn, skew });

/// Emits the block, runs the comparison, expects every output to have moved except the constant ones.
fn same<B: Block + Default + Send + 'static>(test: Difftest<B>, top: &str, constant: &[&str]) {
    let design = emit(&B::default(), top).unwrap();
    check(test, &design, constant);
}

fn check<B: Block + Send + 'static>(test: Difftest<B>, design: &mrnic_emit::Design, constant: &[&str]) {
    let report = test.against(&design.verilog).top(&design.top).run();
    let stuck: Vec<_> = report.stuck().into_iter().filter(|port| !constant.contains(&port.to_string().as_str())).collect();
    assert!(stuck.is_empty(), "never moved: {stuck:?}");
}

#[test]
fn traps_of_the_stock_generator() {
    let test = difftest!(traps::Traps::default(), clock: none, inputs: { a, b, p, q, s, t })
        .cycles(1500)
        // equal operands and neighbours are rare by chance
        .stimulus(|random, cycle, inputs| match cycle % 4 {
            0 => inputs.set("b", inputs.get("a")),
            1 => inputs.set("b", (inputs.get("a") + 1) & 0xff),
            2 if random.chance(0.5) => inputs.set("q", inputs.get("p") ^ 0x80_0000),
            _ => {}
        });
    same(test, "traps", &[]);
}

#[test]
fn operators() {
    let test = difftest!(structs::Operators::default(), clock: none, inputs: { a, b, w, f, sa, sb }).cycles(1500).stimulus(
        |_, cycle, inputs| {
            if cycle % 50 == 0 {
                inputs.set("w", 0xFEDC_BA98_7654u64);
            }
        },
    );
    same(test, "operators", &["ge_zero", "sign_literal"]);
}

#[test]
fn registers_with_reset_and_build_parameters() {
    let make = || structs::Counter::<12>::new(CounterConfig { limit: 40, reset_value: 3 });
    let test = difftest!(make(), clock: clock, inputs: { reset, enable }).cycles(1000);
    check(test, &emit(&make(), "counter").unwrap(), &[]);
}

#[test]
fn edge_register_with_initial_value() {
    let test = difftest!(memory::EdgeHold::default(), clock: clock, inputs: { x }).cycles(400);
    same(test, "edge_hold", &[]);
}

#[test]
fn fields_of_structs_and_enums() {
    let test = difftest!(structs::Fields::default(), clock: clock, inputs: { i, bump, limit }).cycles(1500);
    same(test, "fields", &[]);
}

#[test]
fn arrays_loops_and_scratch_signals() {
    let test = difftest!(arrays::Chain::<5>::default(), clock: clock, inputs: { x, v, pick }).cycles(800);
    same(test, "chain", &[]);
}

#[test]
fn state_machine() {
    let test =
        difftest!(fsm::Fsm::default(), clock: clock, inputs: { reset, opcode, valid }).cycles(1500).limit("opcode", 0..=11);
    same(test, "fsm", &[]);
}

#[test]
fn memories() {
    let test = difftest!(memory::Table::default(), clock: clock, inputs: { read_at, write_at, write, value }).cycles(1500);
    same(test, "psn_table", &[]);
    let test = difftest!(memory::Lookup::default(), clock: clock, inputs: { at }).cycles(400);
    same(test, "lookup", &[]);
}

#[test]
fn custom_bodies_and_wrapped_cores() {
    let test = difftest!(memory::External::default(), clock: clock, inputs: { x, z }).cycles(400);
    same(test, "external", &[]);
}

#[test]
fn interfaces_wired_linked_and_joined() {
    let test = difftest!(streams::Pipe::<2>::default(), clock: clock, inputs: {
        reset, i.data, i.valid, o.ready, li[0].data, li[0].valid, li[1].data, li[1].valid, lo[0].ready, lo[1].ready
    });
    let test = test.cycles(1500).source("i_valid", "i_ready", &["i_data"]).sink("o_ready");
    same(test, "pipe", &[]);
}

#[test]
fn framer() {
    let test = difftest!(streams::Framer::default(), clock: clock, inputs: { reset, i.data, i.valid, o.ready });
    let test = test.cycles(1500).source("i_valid", "i_ready", &["i_data"]).sink("o_ready");
    same(test, "framer", &[]);
}

#[test]
fn fifo_with_clocks_through_outputs() {
    let test = difftest!(memory::Queue::default(), clock: clock, inputs: { write, read, data }).cycles(1500);
    same(test, "queue_top", &[]);
}

#[test]
fn corners_of_the_dialect() {
    let test = difftest!(corners::Corners::default(), clock: none, inputs: { a, b, f, g, w, s, s24 }).cycles(3000);
    same(test, "corners", &["constant_field"]);
}

#[test]
fn the_comparison_notices_what_the_stock_generator_gets_wrong() {
    let mut block = traps::Traps::default();
    block.connect_all();
    // it is full of width warnings, which is how one could have known
    let stock = format!("/* verilator lint_off WIDTH */\n{}", generate_verilog_unchecked(&block));
    let test = difftest!(traps::Traps::default(), clock: none, inputs: { a, b, p, q, s, t });
    let outcome = test.cycles(400).against(&stock).top("top").no_lint().try_run();
    assert!(matches!(outcome, Err(mrnic_difftest::DifftestError::Mismatch(_))), "{outcome:?}");
}
