//! The builder of a differential test.
//! Comes in: a block, accessors of its inputs, the choice of stimulus. Goes out: `run`.
//! Guarantees that a block of any size fits on the stack: the test runs in a thread of its own.

use std::ops::RangeInclusive;

use mrnic_verilated::Initial;
use rust_hdl_core::prelude::*;

use crate::{
    drive::{literal_words, Drive},
    inputs::Inputs,
    random::Random,
    report::{DifftestError, Report},
    run::{run, Plan, Rust},
    stream::{Sink, Source},
};

/// Sets one input and returns the bits that were set.
type Setter<B> = Box<dyn Fn(&mut B, &[u32]) -> Vec<u32> + Send>;
type ClockSetter<B> = Box<dyn Fn(&mut B, bool) + Send>;

/// A differential test under construction; the crate documentation has a full example.
pub struct Difftest<B: Block> {
    make: Box<dyn Fn() -> B + Send>,
    clock: Option<ClockSetter<B>>,
    setters: Vec<(String, Setter<B>)>,
    plan: Plan,
}

impl<B: Block + 'static> Difftest<B> {
    /// `make` returns the block under test. 1000 cycles, seed 1; the input called `reset`, if there is one, is high for
    /// three cycles and now and then later.
    pub fn new(make: impl Fn() -> B + Send + 'static) -> Self {
        let plan = Plan {
            top: "top".into(),
            cycles: 1000,
            seed: 1,
            reset: Some("reset".into()),
            reset_cycles: 3,
            reset_chance: 0.002,
            limits: Vec::new(),
            sources: Vec::new(),
            sinks: Vec::new(),
            stimulus: None,
            verilog: None,
            mutate: None,
            opt_level: 1,
            lint: true,
            initial: Initial::Zeros,
        };
        Difftest { make: Box::new(make), clock: None, setters: Vec::new(), plan }
    }

    /// The clock input: `.clock(|b| &mut b.clock)`. Left out for a combinational block.
    pub fn clock(mut self, access: impl Fn(&mut B) -> &mut Signal<In, Clock> + Send + 'static) -> Self {
        self.clock = Some(Box::new(move |b, level| access(b).next = level.into()));
        self
    }

    /// One input by its Verilog name: `.input("i_data", |b| &mut b.i.data)`. Every input but the clock needs one; the
    /// macro `difftest!` writes them from a list of field paths.
    pub fn input<T: Drive + 'static>(self, name: &str, access: impl Fn(&mut B) -> &mut Signal<In, T> + Send + 'static) -> Self {
        self.input_as(name, access, T::from_words)
    }

    /// Like `input`, for a type of another crate that does not implement `Drive`: `value` makes it of words.
    pub fn input_as<T: Synth + 'static>(
        mut self,
        name: &str,
        access: impl Fn(&mut B) -> &mut Signal<In, T> + Send + 'static,
        value: impl Fn(&[u32]) -> T + Send + 'static,
    ) -> Self {
        let set = move |b: &mut B, words: &[u32]| {
            let v = value(words);
            access(b).next = v;
            literal_words(&v.verilog(), T::BITS)
        };
        self.setters.push((name.to_string(), Box::new(set)));
        self
    }

    /// Name of the Verilog top module and of the test in messages.
    pub fn top(mut self, name: &str) -> Self {
        self.plan.top = name.into();
        self
    }

    /// Clock cycles (or input vectors of a combinational block). $MRNIC_CYCLES overrides it.
    pub fn cycles(mut self, cycles: u64) -> Self {
        self.plan.cycles = cycles;
        self
    }

    /// Seed of all random choices. $MRNIC_SEED overrides it.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Name of the active-high reset input; the default is `reset` where that exists.
    pub fn reset(mut self, name: &str) -> Self {
        self.plan.reset = Some(name.into());
        self
    }

    /// Treats every input alike.
    pub fn no_reset(mut self) -> Self {
        self.plan.reset = None;
        self
    }

    /// How long reset is high at the start.
    pub fn reset_cycles(mut self, cycles: u64) -> Self {
        self.plan.reset_cycles = cycles;
        self
    }

    /// Chance of a reset in each later cycle (default 0.002; 0.0 for none).
    pub fn reset_chance(mut self, chance: f64) -> Self {
        self.plan.reset_chance = chance;
        self
    }

    /// Keeps the random values of an input (up to 64 bits) within a range.
    pub fn limit(mut self, name: &str, range: RangeInclusive<u64>) -> Self {
        self.plan.limits.push((name.into(), range));
        self
    }

    /// A stream into the block: valid is random and held, with the payload, until ready.
    pub fn source(mut self, valid: &str, ready: &str, payload: &[&str]) -> Self {
        self.plan.sources.push(Source::new(valid, ready, payload));
        self
    }

    /// A stream out of the block: random ready, from always to never.
    pub fn sink(mut self, ready: &str) -> Self {
        self.plan.sinks.push(Sink::new(ready));
        self
    }

    /// Called each cycle after the random values, limits and streams are chosen; sets what it wants otherwise.
    pub fn stimulus(mut self, f: impl FnMut(&mut Random, u64, &mut Inputs) + Send + 'static) -> Self {
        self.plan.stimulus = Some(Box::new(f));
        self
    }

    /// Compares with this text instead of the emitter's: for hand-written Verilog.
    pub fn against(mut self, verilog: &str) -> Self {
        self.plan.verilog = Some(verilog.into());
        self
    }

    /// Changes the text before it is built: to show that the test notices a fault.
    pub fn mutate(mut self, f: impl Fn(String) -> String + Send + 'static) -> Self {
        self.plan.mutate = Some(Box::new(f));
        self
    }

    /// `-O` level of the C++ compiler: 1 unless set; 2 or 3 pay from some 100,000 cycles on.
    pub fn opt_level(mut self, level: u8) -> Self {
        self.plan.opt_level = level;
        self
    }

    /// Leaves out `verilator --lint-only -Wall`.
    pub fn no_lint(mut self) -> Self {
        self.plan.lint = false;
        self
    }

    /// Registers and memories without an initial value start random in the Verilog, not at zero as in the Rust
    /// simulation (and in an FPGA): shows that no output depends on them.
    pub fn random_state(mut self) -> Self {
        self.plan.initial = Initial::Random;
        self
    }

    /// The text that the block would be compared with: what `against` replaces, without `mutate`.
    pub fn verilog(self) -> Result<String, DifftestError> {
        let Difftest { make, clock, setters, plan } = self;
        if let Some(text) = plan.verilog {
            return Ok(text);
        }
        let top = plan.top;
        mrnic_emit::on_deep_stack(move || {
            let rig = Rig { block: Box::new(make()), clock, setters };
            rig.emit(&top).map_err(|reason| DifftestError::Emit { top, reason })
        })
    }

    /// Runs the test; panics with the whole story on a difference or a mistake in the set-up.
    pub fn run(self) -> Report {
        match self.try_run() {
            Ok(report) => report,
            Err(e) => panic!("{e}"),
        }
    }

    /// Runs the test.
    pub fn try_run(self) -> Result<Report, DifftestError> {
        let Difftest { make, clock, setters, plan } = self;
        mrnic_emit::on_deep_stack(move || {
            let mut rig = Rig { block: Box::new(make()), clock, setters };
            run(&mut rig, plan)
        })
    }
}

/// The block with its accessors.
struct Rig<B> {
    block: Box<B>,
    clock: Option<ClockSetter<B>>,
    setters: Vec<(String, Setter<B>)>,
}

impl<B: Block> Rust for Rig<B> {
    fn block(&mut self) -> &mut dyn Block {
        &mut *self.block
    }

    fn emit(&self, top: &str) -> Result<String, String> {
        crate::emitted::verilog(&*self.block, top)
    }

    fn clocked(&self) -> bool {
        self.clock.is_some()
    }

    fn set_clock(&mut self, level: bool) {
        if let Some(set) = &self.clock {
            set(&mut self.block, level);
        }
    }

    fn setter_names(&self) -> Vec<String> {
        self.setters.iter().map(|s| s.0.clone()).collect()
    }

    fn set(&mut self, setter: usize, words: &[u32]) -> Vec<u32> {
        (self.setters[setter].1)(&mut self.block, words)
    }
}
