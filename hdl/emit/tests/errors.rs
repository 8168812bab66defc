//! Generation fails, with module path, signal and reason, on everything that would give wrong or doubtful hardware.
use mrnic_emit::{emit, EmitError, Reason};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A block with the given fields and `update`, emitted as `top`: (module, signal, reason) of the error.
macro_rules! error_of {
    ({ $($field:ident : $ty:ty = $value:expr),* $(,)? } $($kernel:tt)*) => {{
        #[derive(LogicBlock)]
        struct Bad { $($field: $ty),* }
        impl Logic for Bad {
            $($kernel)*
        }
        let error: EmitError = emit(&Bad { $($field: $value),* }, "top").expect_err("must be refused");
        let text = error.to_string();
        assert!(text.contains(&error.module) && text.contains(&error.signal), "{text}");
        (error.module.clone(), error.signal.clone(), error.reason.clone())
    }};
    ({ $($field:ident : $ty:ty),* $(,)? } $($kernel:tt)*) => {
        error_of!({ $($field: $ty = Default::default()),* } $($kernel)*)
    };
}

fn at(module: &str, signal: &str, reason: Reason) -> (String, String, Reason) {
    (module.into(), signal.into(), reason)
}

#[test]
fn unknown_name() {
    const LIMIT: u64 = 3;
    let error = error_of!({ a: Signal<In, Bits<8>>, y: Signal<Out, Bits<8>> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val() + LIMIT; });
    assert_eq!(error, at("top", "y", Reason::UnknownName("LIMIT".into())));
}

#[test]
fn const_generic_in_an_expression() {
    #[derive(LogicBlock, Default)]
    struct Generic<const N: usize> {
        y: Signal<Out, Bits<8>>,
    }
    impl<const N: usize> Logic for Generic<N> {
        #[hdl_gen]
        fn update(&mut self) {
            self.y.next = N.to_bits();
        }
    }
    let error = emit(&Generic::<4>::default(), "top").unwrap_err();
    assert_eq!(error.reason, Reason::UnknownName("N".into()));
}

#[test]
fn array_index_by_a_signal() {
    let error = error_of!({ i: Signal<In, Bits<1>>, x: [Signal<In, Bit>; 2], y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.x[self.i.val().index()].val(); });
    assert_eq!((error.0.as_str(), error.1.as_str()), ("top", "y"));
    assert!(matches!(error.2, Reason::ArrayIndex(_)));
}

#[test]
fn array_index_outside() {
    let error = error_of!({ x: [Signal<In, Bit>; 2], y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { for k in 0..2 {
            self.y.next = self.x[k + 1].val();
        } });
    assert!(matches!(error.2, Reason::UnknownName(_)), "{error:?}");
}

#[test]
fn literal_too_large() {
    // rust-hdl would panic too, but only when simulated
    let error = error_of!({ a: Signal<In, Bits<4>>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val() == 16; });
    assert_eq!(error, at("top", "y", Reason::LiteralTooLarge { literal: "16".into(), width: 4 }));
    let error = error_of!({ a: Signal<In, Bits<40>>, y: Signal<Out, Bits<40>> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val() + 0x100_0000_0000u64; });
    assert!(matches!(error.2, Reason::LiteralTooLarge { width: 40, .. }), "{error:?}");
    let error = error_of!({ y: Signal<Out, Signed<4>> }
            #[hdl_gen] fn update(&mut self) { self.y.next = (-9).to_signed_bits(); });
    assert!(matches!(error.2, Reason::LiteralTooLarge { width: 4, .. }), "{error:?}");
}

#[test]
fn width_mismatch() {
    // Rust's types refuse mismatches in kernels, so the AST is made by hand.
    struct Crooked {
        a: Signal<In, Bits<8>>,
        y: Signal<Out, Bits<4>>,
    }
    impl Logic for Crooked {
        fn update(&mut self) {}
        fn hdl(&self) -> Verilog {
            use ast::VerilogExpression::Signal;
            Verilog::Combinatorial(vec![ast::VerilogStatement::Assignment(Signal("y$next".into()), Signal("a".into()))])
        }
    }
    impl Block for Crooked {
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
    let crooked = Crooked { a: Default::default(), y: Default::default() };
    let error = emit(&crooked, "top").unwrap_err();
    assert_eq!((error.module.as_str(), error.signal.as_str()), ("top", "y"));
    assert_eq!(error.reason, Reason::WidthMismatch { left: 4, between: "assigned".into(), right: 8 });
}

#[test]
fn undriven_output() {
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, z: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val(); });
    assert_eq!(error, at("top", "z", Reason::Undriven));
}

#[test]
fn undriven_local() {
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, t: Signal<Local, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.a.val(); });
    assert_eq!(error, at("top", "t", Reason::Undriven));
}

#[test]
fn undriven_input_of_a_sub_module() {
    let error = error_of!({ clock: Signal<In, Clock>, y: Signal<Out, Bit>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { self.r.clock.next = self.clock.val();
        self.y.next = self.r.q.val(); });
    assert_eq!(error, at("top", "r$d", Reason::Undriven));
}

#[test]
fn undriven_clock_of_a_sub_module() {
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { self.r.d.next = self.a.val();
        self.y.next = self.r.q.val(); });
    assert_eq!(error, at("top", "r$clock", Reason::Undriven));
}

#[test]
fn fault_inside_a_sub_module_names_its_path() {
    #[derive(LogicBlock, Default)]
    struct Inner {
        a: Signal<In, Bit>,
        y: Signal<Out, Bit>,
    }
    impl Logic for Inner {
        #[hdl_gen]
        fn update(&mut self) {}
    }
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, lane: [Inner; 2] }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.lane[0].y.val() & self.lane[1].y.val();
        for k in 0..2 {
            self.lane[k].a.next = self.a.val();
        } });
    assert_eq!(error, at("top.lane_0", "y", Reason::Undriven));
}

#[test]
fn latch() {
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bits<4>> }
            #[hdl_gen] fn update(&mut self) { if self.a.val() {
            self.y.next = 3.into();
        } });
    assert_eq!(error, at("top", "y", Reason::Latch { bits: "3:0".into() }));
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
enum Three {
    A,
    B,
    C,
}

#[test]
fn latch_in_one_arm_of_a_match() {
    let error = error_of!({ s: Signal<In, Three>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { match self.s.val() {
            Three::A => self.y.next = true,
            Three::B => {}
            _ => self.y.next = false,
        } });
    assert_eq!(error, at("top", "y", Reason::Latch { bits: "0".into() }));
}

#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
struct Pair {
    low: Bits<4>,
    high: Bits<4>,
}

#[test]
fn field_that_is_never_assigned() {
    let error = error_of!({ a: Signal<In, Bits<4>>, y: Signal<Out, Pair> }
            #[hdl_gen] fn update(&mut self) { self.y.next.low = self.a.val(); });
    assert_eq!(error, at("top", "y", Reason::Latch { bits: "7:4".into() }));
}

#[test]
fn local_read_before_it_is_assigned() {
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, t: Signal<Local, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.t.val();
        self.t.next = self.a.val(); });
    assert_eq!(error, at("top", "y", Reason::ReadBeforeWrite { read: "t".into() }));
    // assigned on one path only
    let error = error_of!({ a: Signal<In, Bit>, y: Signal<Out, Bit>, t: Signal<Local, Bit> }
            #[hdl_gen] fn update(&mut self) { if self.a.val() {
            self.t.next = true;
        }
        self.y.next = self.t.val();
        self.t.next = self.a.val(); });
    assert_eq!(error, at("top", "y", Reason::ReadBeforeWrite { read: "t".into() }));
}

#[test]
fn input_of_a_sub_module_computed_from_itself() {
    let error = error_of!({ clock: Signal<In, Clock>, y: Signal<Out, Bits<4>>, r: DFF<Bits<4>> }
            #[hdl_gen] fn update(&mut self) { self.r.clock.next = self.clock.val();
        self.r.d.next = self.r.d.val() + 1;
        self.y.next = self.r.q.val(); });
    assert_eq!(error, at("top", "r$d", Reason::SettledRead("r$d".into())));
}

#[test]
fn two_drivers() {
    let own_input = error_of!({ a: Signal<In, Bit> }
            #[hdl_gen] fn update(&mut self) { self.a.next = true; });
    assert!(matches!(&own_input.2, Reason::TwoDrivers(_)) && own_input.1 == "a", "{own_input:?}");
    let kid_output = error_of!({ clock: Signal<In, Clock>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { dff_setup!(self, clock, r);
        self.r.q.next = true; });
    assert!(matches!(&kid_output.2, Reason::TwoDrivers(_)) && kid_output.1 == "r$q", "{kid_output:?}");
    let two_clocks = error_of!({ c: Signal<In, Clock>, d: Signal<In, Clock>, y: Signal<Out, Bit>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { self.r.clock.next = self.c.val();
        self.r.clock.next = self.d.val();
        self.r.d.next = true;
        self.y.next = self.r.q.val(); });
    assert!(matches!(&two_clocks.2, Reason::TwoDrivers(_)) && two_clocks.1 == "r$clock", "{two_clocks:?}");
}

#[derive(Clone, Debug, Default, LogicInterface)]
struct Wire {
    x: Signal<In, Bit>,
    y: Signal<Out, Bit>,
}

#[derive(LogicBlock, Default)]
struct Through {
    w: Wire,
}

impl Logic for Through {
    #[hdl_gen]
    fn update(&mut self) {
        self.w.y.next = self.w.x.val();
    }
}

#[test]
fn linked_and_assigned() {
    let error = error_of!({ w: Wire, t: Through }
            #[hdl_gen] fn update(&mut self) { Wire::link(&mut self.w, &mut self.t.w);
        self.t.w.x.next = true; });
    assert!(matches!(&error.2, Reason::TwoDrivers(_)) && error.1 == "t$w$x", "{error:?}");
    let error = error_of!({ w: Wire, t: Through }
            #[hdl_gen] fn update(&mut self) { self.w.y.next = true;
        Wire::link(&mut self.w, &mut self.t.w); });
    assert!(matches!(&error.2, Reason::TwoDrivers(_)) && error.1 == "w$y", "{error:?}");
}

#[test]
fn clock_that_is_not_a_plain_signal() {
    let inverted = error_of!({ clock: Signal<In, Clock>, y: Signal<Out, Bit>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { self.r.clock.next = !self.clock.val();
        self.r.d.next = !self.r.q.val();
        self.y.next = self.r.q.val(); });
    assert_eq!(inverted, at("top", "r$clock", Reason::ClockNotPlain));
    let gated = error_of!({ clock: Signal<In, Clock>, e: Signal<In, Bit>, y: Signal<Out, Bit>, r: DFF<Bit> }
            #[hdl_gen] fn update(&mut self) { if self.e.val() {
            self.r.clock.next = self.clock.val();
        }
        self.r.d.next = !self.r.q.val();
        self.y.next = self.r.q.val(); });
    assert_eq!(gated, at("top", "r$clock", Reason::ClockNotPlain));
}

#[test]
fn index_outside_of_the_signal() {
    let error = error_of!({ a: Signal<In, Bits<4>>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { for k in 0..5 {
            self.y.next = self.a.val().get_bit(k);
        } });
    assert_eq!(error, at("top", "y", Reason::IndexOutOfRange { index: 4, width: 4 }));
}

#[test]
fn ports_of_one_name() {
    let error = error_of!({ w: Wire, w_x: Signal<In, Bit> }
            #[hdl_gen] fn update(&mut self) { self.w.y.next = self.w.x.val(); });
    assert_eq!(error, at("top", "w_x", Reason::NameClash("w_x".into())));
}

#[test]
fn internal_names_give_way_to_ports() {
    #[derive(LogicBlock, Default)]
    struct Clash {
        clock: Signal<In, Clock>,
        r_q: Signal<Out, Bit>,
        logic: Signal<Local, Bit>,
        r: DFF<Bit>,
    }
    impl Logic for Clash {
        #[hdl_gen]
        fn update(&mut self) {
            dff_setup!(self, clock, r);
            self.logic.next = !self.r.q.val();
            self.r.d.next = self.logic.val();
            self.r_q.next = self.r.q.val();
        }
    }
    let text = emit(&Clash::default(), "top").unwrap().verilog;
    assert!(text.contains("reg r_q_2;") && text.contains("assign r_q = r_q_2;") && text.contains("wire logic_;"), "{text}");
}

#[test]
fn port_named_like_a_keyword() {
    let error = error_of!({ begin: Signal<In, Bit>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.begin.val(); });
    assert_eq!(error, at("top", "begin", Reason::Keyword("begin".into())));
}

#[test]
fn top_name_that_is_no_identifier() {
    for name in ["", "2x", "a-b", "module"] {
        assert_eq!(emit(&Through::default(), name).unwrap_err().reason, Reason::BadIdentifier(name.into()));
    }
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
enum Single {
    Only,
}

#[test]
fn zero_width() {
    let error = error_of!({ s: Signal<In, Single>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = true; });
    assert_eq!(error, at("top", "s", Reason::ZeroWidth));
    assert_eq!(Single::default(), Single::Only);
}

#[test]
fn two_enums_of_one_name() {
    mod other {
        use rust_hdl_core::prelude::*;
        #[derive(Clone, Copy, Debug, PartialEq, LogicState)]
        pub enum Three {
            B,
            A,
        }
        pub fn first() -> Three {
            [Three::B, Three::A][0]
        }
    }
    assert_eq!(other::first(), other::Three::default());
    let error = error_of!({ s: Signal<In, Three>, o: Signal<In, other::Three>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = (self.s.val() == Three::C) | (self.s.val() == Three::B); });
    assert_eq!(error, at("top", "o", Reason::EnumClash));
}

#[test]
fn block_without_verilog() {
    #[derive(LogicBlock, Default)]
    struct Model {
        y: Signal<Out, Bit>,
    }
    impl Logic for Model {
        fn update(&mut self) {
            self.y.next = true;
        }
    }
    let error = error_of!({ y: Signal<Out, Bit>, m: Model }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.m.y.val(); });
    assert_eq!(error, at("top.m", "m", Reason::NoVerilog));
}

#[test]
fn in_out_in_a_kernel() {
    let error = error_of!({ pin: Signal<InOut, Bit>, y: Signal<Out, Bit> }
            #[hdl_gen] fn update(&mut self) { self.y.next = self.pin.val(); });
    assert_eq!(error, at("top", "y", Reason::InOut));
}

#[test]
fn kernel_that_panics_while_it_is_translated() {
    // the operand of a cast is evaluated by hdl(); index() of more than 32 bits panics in rust-hdl
    let error = error_of!({ a: Signal<In, Bits<40>>, b: Signal<In, Bits<64>>, y: Signal<Out, Bits<8>> }
            #[hdl_gen] fn update(&mut self) { self.y.next = bit_cast::<8, 4>(self.b.val().get_bits::<4>(self.a.val().index())); });
    assert!(matches!(&error.2, Reason::HdlPanicked(text) if text.contains("long bit vector")), "{error:?}");
}
