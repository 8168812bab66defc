//! Blocks through the emitter: the ordinary use of the harness.

mod blocks;

use blocks::{Mix, Slice, Wrong};
use mrnic_difftest::{difftest, Difftest, DifftestError};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

fn slice() -> Difftest<Slice> {
    difftest!(Slice::default(), clock: clock, inputs: { reset, i.valid, i.data, o.ready })
        .top("emitted_slice")
        .source("i_valid", "i_ready", &["i_data"])
        .sink("o_ready")
        .cycles(2000)
}

#[test]
fn a_stream_block_equals_its_verilog() {
    let report = slice().run();
    assert!(report.stuck().is_empty(), "{:?}", report.output_changes);
    assert!(report.verilog.contains("module emitted_slice"), "{}", report.verilog);
}

#[test]
fn structs_enums_arrays_and_signed_values_equal_their_verilog() {
    let inputs = difftest!(Mix::default(), clock: none, inputs: { kind, entry, lane[0], lane[1], level });
    let report = inputs.top("emitted_mix").cycles(3000).run();
    assert!(report.stuck().is_empty(), "{:?}", report.output_changes);
}

#[test]
fn a_custom_body_that_differs_from_its_rust_is_noticed() {
    let test = difftest!(Wrong::default(), clock: clock, inputs: { enable });
    let e = test.top("emitted_wrong").try_run().unwrap_err();
    let DifftestError::Mismatch(m) = e else { panic!("{e}") };
    assert_eq!((m.port.as_str(), m.rust.as_str(), m.verilog.as_str()), ("count", "0b", "0a"));
}

#[test]
fn every_register_and_gate_of_the_emitted_text_matters() {
    let text = slice().cycles(10).reset_chance(0.0).run().verilog;
    let mut noticed = 0;
    // each operator once replaced by another
    for (from, to) in [("+", "-"), ("|", "&"), ("posedge", "negedge"), ("!", ""), ("~", "")] {
        for (at, _) in text.match_indices(from) {
            let line = text[..at].rsplit('\n').next().unwrap_or("");
            if line.contains("//") || line.contains("/*") || text[at..].starts_with("||") || text[..at].ends_with('|') {
                continue;
            }
            let mutant = format!("{}{to}{}", &text[..at], &text[at + from.len()..]);
            match slice().against(&mutant).no_lint().try_run() {
                Err(DifftestError::Mismatch(_)) => noticed += 1,
                Err(DifftestError::Build(_)) => {} // not Verilog any more
                Err(e) => panic!("{e}"),
                Ok(_) => panic!("not noticed: {from} at {line}"),
            }
        }
    }
    assert!(noticed >= 4, "only {noticed} mutants were built");
}

/// One structural level more: sub-blocks, a memory, and a clock that travels down.
#[derive(LogicBlock, Default)]
struct Pair {
    clock: Signal<In, Clock>,
    reset: Signal<In, Bit>,
    write: Signal<In, Bit>,
    address: Signal<In, Bits<4>>,
    data: Signal<In, Bits<33>>,
    read: Signal<Out, Bits<33>>,
    delayed: Signal<Out, Bits<33>>,
    memory: RAM<Bits<33>, 4>,
    first: DFF<Bits<33>>,
    inner: Delay,
}

#[derive(LogicBlock, Default)]
struct Delay {
    clock: Signal<In, Clock>,
    d: Signal<In, Bits<33>>,
    q: Signal<Out, Bits<33>>,
    stage: DFF<Bits<33>>,
}

impl Logic for Delay {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, stage);
        self.stage.d.next = self.d.val();
        self.q.next = self.stage.q.val();
    }
}

impl Logic for Pair {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, first);
        self.inner.clock.next = self.clock.val();
        self.memory.read_clock.next = self.clock.val();
        self.memory.write_clock.next = self.clock.val();
        self.memory.read_address.next = self.address.val();
        self.memory.write_address.next = self.address.val();
        self.memory.write_data.next = self.data.val();
        self.memory.write_enable.next = self.write.val() & !self.reset.val();
        self.read.next = self.memory.read_data.val();
        self.first.d.next = self.data.val();
        self.inner.d.next = self.first.q.val();
        self.delayed.next = self.inner.q.val();
    }
}

fn pair() -> Difftest<Pair> {
    difftest!(Pair::default(), clock: clock, inputs: { reset, write, address, data }).top("emitted_pair")
}

#[test]
fn a_memory_that_was_never_written_shows_with_random_state() {
    let e = pair().random_state().try_run().unwrap_err();
    assert!(matches!(&e, DifftestError::Mismatch(m) if m.port == "read"), "{e}");
}

#[test]
fn a_hierarchy_with_a_memory_equals_its_verilog() {
    let report = pair()
        .cycles(3000)
        .stimulus(|random, _, inputs| {
            if random.chance(0.5) {
                inputs.hold("address"); // read what was just written
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.output_changes);
}
