//! Netlists behave as the RTL they are made of: one fast block here, all five with `mrnic synth --check-netlists`; and the block RAM's model.
//!
//! In: emitted blocks, Yosys. Out: the first difference between rust-hdl's simulation and the netlist in Verilator. Guarantees: a fault planted
//! in the netlist is found.
use mrnic_difftest::{difftest, Difftest};
use mrnic_synth::check::{check, choose};
use mrnic_synth::run::Runner;
use mrnic_synth::tools::Tools;
use mrnic_widgets::{Ram, RamStyle};
use rust_hdl_core::prelude::*;

fn runner() -> Option<Runner> {
    match Tools::find() {
        Ok(tools) => Some(Runner::new(tools).unwrap()),
        Err(e) => {
            eprintln!("not run: netlists ({e})");
            None
        }
    }
}

/// S3 in LUTs and multipliers.
#[test]
fn the_netlist_of_path_scheduler_is_the_rtl_and_a_fault_in_it_is_found() {
    let Some(runner) = runner() else { return };
    let test = choose(&["path_scheduler".into()]).unwrap()[0];
    let checked = check(&runner, test, 256).unwrap_or_else(|e| panic!("{e}"));
    assert!(checked.luts > 100 && checked.cycles >= 3000, "{checked:?}");
}

/// A table in block RAM, read and written in the same rows most of the time.
fn ram<const N: usize>(rows: u64) -> Difftest<Ram<Bits<N>>> {
    difftest!(Ram::<Bits<N>>::new(rows as usize).with_style(RamStyle::Block), clock: clock, inputs: {
        read_address, write_enable, write_address, write_data
    })
    .top("ram")
    .no_reset()
    .cycles(3000)
    .limit("read_address", 0..=rows - 1)
    .limit("write_address", 0..=rows - 1)
    .stimulus(move |random, _, inputs| {
        if random.chance(0.7) {
            inputs.set("read_address", random.below(3) * (rows / 3));
            inputs.set("write_address", random.below(3) * (rows / 3));
        }
    })
}

/// The model of DP16KD, with one port that writes and one that reads, in every shape that a table can have, against the RTL's memory.
#[test]
fn a_table_in_block_rams_is_the_rtls_memory() {
    let Some(runner) = runner() else { return };
    fn compare<const N: usize>(runner: &Runner, rows: u64) {
        let netlist = runner.netlist("ram", &ram::<N>(rows).verilog().unwrap()).unwrap_or_else(|e| panic!("{e}"));
        let text = netlist.verilog();
        let used = text.lines().filter(|l| l.trim_start().starts_with("DP16KD #(")).count();
        assert!(used > 0, "{rows} rows of {N} bits are not in block RAM");
        let report = ram::<N>(rows).against(&text).no_lint().run();
        assert!(report.output_changes[0].1 > 2000, "{:?}", report.output_changes);
    }
    compare::<40>(&runner, 512);
    compare::<9>(&runner, 2048);
}
