//! The text itself: stable, readable (golden file), equal modules once, no false combinational loops.
mod blocks;
mod support;

use blocks::*;
use mrnic_emit::{comment, emit, emit_new, Direction};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;
use std::io::Write;
use support::lint;

#[test]
fn golden_text_of_a_state_machine_between_skid_buffers() {
    insta::assert_snapshot!(emit(&streams::Framer::default(), "framer").unwrap().verilog);
}

#[test]
fn same_input_gives_the_same_bytes() {
    let text = || emit(&arrays::Chain::<5>::default(), "chain").unwrap().verilog;
    assert_eq!(text(), text());
}

#[test]
fn equal_modules_are_emitted_once() {
    let design = emit(&streams::Pipe::<3>::default(), "pipe").unwrap();
    let names: Vec<_> = design.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["skid", "pipe"]);
    assert_eq!(design.verilog.matches("    skid ").count(), 5);
    // different constants make different modules of one name
    let design = emit(&arrays::Chain::<4>::default(), "chain").unwrap();
    let names: Vec<_> = design.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names, ["chain_stage", "chain_stage_2", "chain"]);
    let lines: usize = design.modules.iter().map(|module| module.lines).sum();
    assert!(lines > 50 && lines <= design.verilog.lines().count());
    // an external core once
    let design = emit(&memory::External::default(), "external").unwrap();
    assert_eq!(design.verilog.matches("module popcount16 ").count(), 1);
}

#[test]
fn ports_are_described() {
    let design = emit(&streams::Skid::<structs::Header>::default(), "top_skid").unwrap();
    assert_eq!(design.top, "top_skid");
    let ports: Vec<_> = design.ports.iter().map(|p| (p.name.as_str(), p.direction, p.width, p.is_clock)).collect();
    assert_eq!(ports[0], ("clock", Direction::Input, 1, true));
    assert_eq!(ports[2], ("i_data", Direction::Input, 47, false));
    assert_eq!(ports[4], ("i_ready", Direction::Output, 1, false));
    assert_eq!(ports[5], ("o_data", Direction::Output, 47, false));
    assert_eq!(ports.len(), 8);
}

/// Two halves that feed each other through one kernel: `ready` goes back while `valid` goes forward, a scratch signal is
/// used for both, and one output is read again. In one process all of this would look like a loop.
#[derive(LogicBlock, Default)]
struct Crossing {
    a: Signal<In, Bits<8>>,
    b: Signal<In, Bits<8>>,
    y: Signal<Out, Bits<8>>,
    z: Signal<Out, Bits<8>>,
    left: Adder,
    right: Adder,
    scratch: Signal<Local, Bits<8>>,
}

#[derive(LogicBlock, Default)]
struct Adder {
    x: Signal<In, Bits<8>>,
    sum: Signal<Out, Bits<8>>,
    back_in: Signal<In, Bits<8>>,
    back_out: Signal<Out, Bits<8>>,
}

impl Logic for Adder {
    #[hdl_gen]
    fn update(&mut self) {
        self.sum.next = self.x.val() + 1;
        self.back_out.next = self.back_in.val() + 2;
    }
}

impl Logic for Crossing {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module crossing: forward and backward paths");
        self.left.x.next = self.a.val();
        self.right.back_in.next = self.b.val();
        if self.a.val().get_bit(0) {
            self.left.x.next = self.b.val();
            self.right.back_in.next = self.a.val();
        }
        self.scratch.next = self.left.sum.val() ^ 1;
        self.right.x.next = self.scratch.val();
        self.scratch.next = self.right.back_out.val() ^ 1;
        self.left.back_in.next = self.scratch.val();
        if self.b.val().get_bit(0) {
            self.right.x.next = self.left.sum.val();
            self.left.back_in.next = self.right.back_out.val();
        }
        self.y.next = self.right.sum.val();
        self.z.next = self.left.back_out.val() + self.y.val();
    }
}

#[test]
fn paths_in_both_directions_give_no_unoptflat() {
    let design = emit(&Crossing::default(), "crossing_top").unwrap();
    lint(&design);
    assert!(design.verilog.contains("// forward and backward paths\nmodule crossing_top ("), "{}", design.verilog);
    // four inputs with a branch each, none computed together with another
    assert_eq!(design.verilog.matches("always @*").count(), 4, "{}", design.verilog);
}

/// The comment names a constant that the code does not use; an unused localparam would be a lint warning.
#[derive(LogicBlock)]
struct Commented {
    y: Signal<Out, Bit>,
    limit: Constant<Bits<4>>,
}

impl Logic for Commented {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("the limit is not used");
        self.y.next = true;
    }
}

#[test]
fn names_in_comments_declare_nothing() {
    let design = emit(&Commented { y: Default::default(), limit: Constant::new(3.into()) }, "commented").unwrap();
    lint(&design);
    assert!(design.verilog.contains("// the limit is not used") && !design.verilog.contains("localparam"));
}

/// A chain of operators as generated code has them: emitting takes time proportional to its length.
#[test]
fn long_expressions_are_emitted_quickly() {
    use ast::VerilogExpression::{Binary, Index, Literal, Signal as Name};
    struct Long {
        a: Signal<In, Bits<32>>,
        y: Signal<Out, Bit>,
    }
    impl Logic for Long {
        fn update(&mut self) {}
        fn hdl(&self) -> Verilog {
            let bit = |k: usize| Index(Box::new(Name("a".into())), Box::new(Literal((k % 32).into())));
            let xor = |l, k| Binary(Box::new(l), ast::VerilogOp::BitXor, Box::new(bit(k)));
            let value = (1..1500).fold(bit(0), xor);
            Verilog::Combinatorial(vec![ast::VerilogStatement::Assignment(Name("y$next".into()), value)])
        }
    }
    impl Block for Long {
        fn connect_all(&mut self) {}
        fn update_all(&mut self) {}
        fn has_changed(&self) -> bool {
            false
        }
        fn accept(&self, name: &str, probe: &mut dyn Probe) {
            probe.visit_start_scope(name, self);
            self.a.accept("a", probe);
            self.y.accept("y", probe);
            probe.visit_end_scope(name, self);
        }
    }
    let start = std::time::Instant::now();
    let design = emit_new("long", || Long { a: Default::default(), y: Default::default() }).unwrap();
    assert_eq!(design.verilog.matches(" ^ ").count(), 1499);
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

/// A vendor primitive: declared elsewhere, instantiated under its own name.
#[derive(LogicBlock, Default)]
struct Buffer {
    i: Signal<In, Bit>,
    o: Signal<Out, Bit>,
}

impl Logic for Buffer {
    fn update(&mut self) {
        self.o.next = self.i.val();
    }
    fn connect(&mut self) {
        self.o.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Blackbox(BlackBox {
            code: "(* blackbox *)\nmodule VENDOR_BUF (input wire i, output wire o);\nassign o = i;\nendmodule".into(),
            name: "VENDOR_BUF".into(),
        })
    }
}

/// Clock through a local and to an output; a primitive twice.
#[derive(LogicBlock, Default)]
struct ClockTree {
    clock: Signal<In, Clock>,
    x: Signal<In, Bit>,
    y: Signal<Out, Bit>,
    clock_out: Signal<Out, Clock>,
    branch: Signal<Local, Clock>,
    r: DFF<Bit>,
    first: Buffer,
    second: Buffer,
}

impl Logic for ClockTree {
    #[hdl_gen]
    fn update(&mut self) {
        self.branch.next = self.clock.val();
        self.clock_out.next = self.branch.val();
        self.r.clock.next = self.branch.val();
        self.first.i.next = self.x.val();
        self.second.i.next = self.first.o.val();
        self.r.d.next = self.second.o.val();
        self.y.next = self.r.q.val();
    }
}

#[test]
fn clocks_through_locals_and_outputs_and_black_boxes_once() {
    let design = emit(&ClockTree::default(), "clock_tree").unwrap();
    lint(&design);
    assert_eq!(design.verilog.matches("module VENDOR_BUF").count(), 1);
    assert_eq!(design.verilog.matches("    VENDOR_BUF ").count(), 2);
    assert!(design.verilog.contains("always @(posedge branch)") && design.verilog.contains("assign clock_out = branch;"));
}

/// Signs beside one another: `!!x` is refused by parsers that follow the standard, `^~x` is another operator than `^(~x)`.
#[derive(LogicBlock, Default)]
struct Signs {
    a: Signal<In, Bit>,
    x: Signal<In, Bits<8>>,
    twice: Signal<Out, Bit>,
    wide_twice: Signal<Out, Bits<8>>,
    reduced: Signal<Out, Bits<4>>,
    in_else: Signal<Out, Bit>,
}

#[allow(clippy::nonminimal_bool)] // two signs are what is tested
impl Logic for Signs {
    #[hdl_gen]
    fn update(&mut self) {
        self.twice.next = !!self.a.val();
        self.wide_twice.next = !(!(self.x.val() & 0x3c));
        self.reduced.next = 0.into();
        if (!self.x.val()).xor() {
            self.reduced.next = 1.into();
        }
        if (!self.x.val()).any() && !(!self.x.val()).all() {
            self.reduced.next = 2.into();
        }
        self.in_else.next = false;
        if !self.a.val() {
        } else {
            self.in_else.next = true;
        }
    }
}

#[test]
fn signs_never_stand_beside_one_another() {
    let design = emit(&Signs::default(), "signs").unwrap();
    lint(&design);
    let text = &design.verilog;
    for first in "!~-&|^".chars() {
        for second in "!~-".chars() {
            assert!(!text.contains(&format!("{first}{second}")), "{first}{second} in\n{text}");
        }
    }
    for wanted in ["assign twice = a;", "^(~x)", "if (a) begin"] {
        assert!(text.contains(wanted), "no {wanted} in\n{text}");
    }
    parse_with_icarus(text);
}

/// A second opinion where Icarus Verilog is installed; the text itself is checked everywhere.
fn parse_with_icarus(text: &str) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("design.v");
    std::fs::write(&file, text).unwrap();
    match std::process::Command::new("iverilog").args(["-g2005", "-Wall", "-tnull"]).arg(&file).output() {
        Ok(o) => {
            let said = String::from_utf8_lossy(&o.stderr);
            assert!(o.status.success() && said.is_empty(), "{said}\n{text}");
        }
        // past the capture of the test's output, so that it is seen
        Err(e) => writeln!(std::io::stderr(), "not parsed by Icarus Verilog: iverilog: {e}").expect("stderr"),
    }
}
