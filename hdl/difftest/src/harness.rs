//! The test itself: both simulations side by side.
//! Comes in: a block and a stimulus. Goes out: a `Report`, or the first difference.
//! Guarantees that every output is compared twice a cycle, before and after the rising edge.

use std::{collections::VecDeque, fs, ops::RangeInclusive};

use mrnic_verilated::{build, lint, Dut, ModelSpec, Port};
use rust_hdl_core::prelude::*;

use crate::{
    drive::{literal_words, Drive},
    inputs::{find, hex, Inputs, PortSpec},
    ports::{output_values, ports},
    random::Random,
    report::{DifftestError, Mismatch, Phase, Report},
    stream::{Sink, Source},
};

/// Cycles shown when a difference is found.
const HISTORY_CYCLES: usize = 5;
/// Passes after which a block that still changes has a loop. rust-hdl's own simulation gives up after 100; deep
/// hierarchies of adders need more.
const MAX_PASSES: usize = 1000;
/// A big block lives on the stack while it is made.
const STACK_BYTES: usize = 64 << 20;

/// Sets one input and returns the bits that were set.
type Setter<B> = Box<dyn Fn(&mut B, &[u32]) -> Vec<u32> + Send>;
type Stimulus = Box<dyn FnMut(&mut Random, u64, &mut Inputs) + Send>;
type ClockSetter<B> = Box<dyn Fn(&mut B, bool) + Send>;

/// What the run needs to know besides the block.
struct Plan {
    top: String,
    cycles: u64,
    seed: u64,
    reset: Option<String>,
    reset_cycles: u64,
    reset_chance: f64,
    limits: Vec<(String, RangeInclusive<u64>)>,
    sources: Vec<Source>,
    sinks: Vec<Sink>,
    stimulus: Option<Stimulus>,
    verilog: Option<String>,
    mutate: Option<Box<dyn Fn(String) -> String + Send>>,
    opt_level: u8,
    lint: bool,
}

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
        std::thread::scope(|s| {
            let work = move || {
                let mut rig = Rig { block: Box::new(make()), clock, setters };
                run(&mut rig, plan)
            };
            let thread = std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(s, work);
            match thread.expect("a thread with 64 MiB of stack").join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic), // from the user's functions or the block itself
            }
        })
    }
}

/// The Rust side without its type: the code below is compiled once, not once a block.
trait Rust {
    fn block(&mut self) -> &mut dyn Block;
    fn emit(&self, top: &str) -> Result<String, String>;
    fn clocked(&self) -> bool;
    fn set_clock(&mut self, level: bool);
    fn setter_names(&self) -> Vec<String>;
    fn set(&mut self, setter: usize, words: &[u32]) -> Vec<u32>;
}

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

/// The ports of the block, checked against what the test provides; the clock's name.
fn wire_up(rig: &mut dyn Rust, top: &str) -> Result<(Vec<PortSpec>, Vec<PortSpec>, Option<String>, Vec<usize>), DifftestError> {
    let setup = |problem: String| DifftestError::Setup { top: top.into(), problem };
    let found = ports(rig.block());
    if !found.other.is_empty() {
        return Err(setup(format!("in-out ports are not supported: {}", found.other.join(", "))));
    }
    let (clocks, inputs): (Vec<_>, Vec<_>) = found.inputs.into_iter().partition(|p| p.is_clock);
    let clock = match (clocks.len(), rig.clocked()) {
        (0, false) => None,
        (1, true) => Some(clocks[0].name.clone()),
        (0, true) => return Err(setup("the block has no clock input".into())),
        (1, false) => return Err(setup(format!("the clock {} is not given: .clock(|b| &mut b.{0})", clocks[0].name))),
        (n, _) => return Err(setup(format!("the block has {n} clocks, one is supported"))),
    };
    let names = rig.setter_names();
    let mut setter_of = Vec::new();
    for p in &inputs {
        match names.iter().position(|n| *n == p.name) {
            Some(i) => setter_of.push(i),
            None => return Err(setup(format!("the input {} is not in the list of inputs", p.name))),
        }
    }
    if let Some(n) = names.iter().find(|n| !inputs.iter().any(|p| p.name == **n)) {
        let all: Vec<_> = inputs.iter().map(|p| p.name.as_str()).collect();
        return Err(setup(format!("the block has no input {n:?}; there are: {}", all.join(", "))));
    }
    if found.outputs.is_empty() {
        return Err(setup("the block has no output".into()));
    }
    Ok((inputs, found.outputs, clock, setter_of))
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

fn run(rig: &mut dyn Rust, mut plan: Plan) -> Result<Report, DifftestError> {
    plan.seed = from_env("MRNIC_SEED").unwrap_or(plan.seed);
    plan.cycles = from_env("MRNIC_CYCLES").unwrap_or(plan.cycles);
    let top = plan.top.clone();
    let (input_ports, output_ports, clock, setter_of) = wire_up(rig, &top)?;

    let mut verilog = match &plan.verilog {
        Some(v) => v.clone(),
        None => rig.emit(&top).map_err(|reason| DifftestError::Emit { top: top.clone(), reason })?,
    };
    if let Some(change) = &plan.mutate {
        verilog = change(verilog);
    }
    if plan.lint {
        lint(&verilog, &top).map_err(|lint| DifftestError::Lint { top: top.clone(), lint: Box::new(lint) })?;
    }
    let spec = ModelSpec { clock, opt_level: plan.opt_level, ..ModelSpec::new(&top, &verilog) };
    let mut dut = build(&spec, &mut |_| {})?.instance("dut", plan.seed);
    let dut_inputs = input_ports.iter().map(|p| port(&dut, p, true)).collect::<Result<Vec<_>, _>>()?;
    let dut_outputs = output_ports.iter().map(|p| port(&dut, p, false)).collect::<Result<Vec<_>, _>>()?;

    rig.block().connect_all();
    settle(rig, &top, 0)?;
    let zeros = |ports: &[PortSpec]| ports.iter().map(|p| vec![0u32; p.width.div_ceil(32).max(1)]).collect::<Vec<_>>();
    let mut inputs = Inputs {
        values: zeros(&input_ports),
        previous: zeros(&input_ports),
        sampled: zeros(&output_ports),
        ports: input_ports,
        outputs: output_ports,
    };
    let mut random = Random::new(plan.seed);
    let mut history: VecDeque<(u64, Vec<Vec<u32>>, Vec<Vec<u32>>)> = VecDeque::new();
    let mut changes = vec![0u64; inputs.outputs.len()];
    let mut last_seen: Option<Vec<Vec<u32>>> = None;
    let mut was_reset = false;
    let mut scratch = Vec::new();

    for cycle in 0..plan.cycles {
        was_reset = choose(&mut plan, &mut random, &mut inputs, cycle, was_reset);
        for i in 0..inputs.ports.len() {
            let set = rig.set(setter_of[i], &inputs.values[i]);
            dut_inputs[i].set_words(&set);
            inputs.values[i] = set; // what the Rust type made of it
        }
        settle(rig, &top, cycle)?;
        dut.eval();
        let before = output_values(rig.block());
        if history.len() == HISTORY_CYCLES {
            history.pop_front();
        }
        history.push_back((cycle, inputs.values.clone(), before.clone()));
        let mut check = |values: &[Vec<u32>], phase| {
            if let Some(last) = &last_seen {
                for (n, (a, b)) in changes.iter_mut().zip(last.iter().zip(values)) {
                    *n += u64::from(a != b);
                }
            }
            last_seen = Some(values.to_vec());
            for (i, (rust, port)) in values.iter().zip(&dut_outputs).enumerate() {
                scratch.resize(rust.len(), 0);
                port.get_words(&mut scratch);
                if *rust != scratch {
                    return Err(difference(&plan, &inputs, &history, i, cycle, phase, rust, &scratch, &verilog));
                }
            }
            Ok(())
        };
        check(&before, Phase::BeforeEdge)?;
        if rig.clocked() {
            rig.set_clock(true);
            settle(rig, &top, cycle)?;
            dut.posedge();
            check(&output_values(rig.block()), Phase::AfterEdge)?;
            // what a falling edge does wrong is seen before the next rising one
            rig.set_clock(false);
            settle(rig, &top, cycle)?;
            dut.negedge();
        }
        inputs.previous.clone_from(&inputs.values);
        inputs.sampled = before;
    }
    if changes.iter().all(|c| *c == 0) {
        return Err(DifftestError::Vacuous { top, cycles: plan.cycles });
    }
    let output_changes = inputs.outputs.iter().map(|p| p.name.clone()).zip(changes).collect();
    Ok(Report { cycles: plan.cycles, seed: plan.seed, output_changes, verilog })
}

fn port(dut: &Dut, spec: &PortSpec, input: bool) -> Result<Port, DifftestError> {
    let port = if input { dut.input(&spec.name)? } else { dut.output(&spec.name)? };
    if port.width() as usize != spec.width {
        return Err(DifftestError::Setup {
            top: dut.model().top().into(),
            problem: format!("{} has {} bits in Rust and {} in Verilog", spec.name, spec.width, port.width()),
        });
    }
    Ok(port)
}

fn settle(rig: &mut dyn Rust, top: &str, cycle: u64) -> Result<(), DifftestError> {
    let block = rig.block();
    for _ in 0..MAX_PASSES {
        block.update_all();
        if !block.has_changed() {
            return Ok(());
        }
    }
    Err(DifftestError::Unsettled { top: top.into(), cycle, passes: MAX_PASSES })
}

/// Fills in this cycle's inputs; returns whether the block is in reset.
fn choose(plan: &mut Plan, random: &mut Random, inputs: &mut Inputs, cycle: u64, was_reset: bool) -> bool {
    for i in 0..inputs.ports.len() {
        inputs.values[i] = random.words_with_corners(inputs.ports[i].width, &inputs.previous[i]);
    }
    for (name, range) in &plan.limits {
        let (from, to) = (*range.start(), *range.end());
        let v = inputs.get(name);
        if !range.contains(&v) || inputs.words(name).iter().skip(2).any(|w| *w != 0) {
            let span = (to - from).wrapping_add(1);
            let v = if span == 0 { random.u64() } else { from + random.below(span) };
            inputs.set(name, v);
        }
    }
    let reset = plan.reset.clone().filter(|r| inputs.ports.iter().any(|p| p.name == *r));
    let mut in_reset = cycle < plan.reset_cycles || random.chance(plan.reset_chance);
    in_reset &= reset.is_some();
    for s in &mut plan.sources {
        s.drive(random, inputs, in_reset || was_reset);
    }
    for s in &mut plan.sinks {
        s.drive(random, inputs);
    }
    if let Some(r) = &reset {
        inputs.set(r, in_reset);
    }
    if let Some(f) = &mut plan.stimulus {
        f(random, cycle, inputs);
    }
    reset.is_some_and(|r| inputs.get(&r) != 0)
}

#[allow(clippy::too_many_arguments)] // one call, in the middle of the loop that owns all of them
fn difference(
    plan: &Plan,
    inputs: &Inputs,
    history: &VecDeque<(u64, Vec<Vec<u32>>, Vec<Vec<u32>>)>,
    output: usize,
    cycle: u64,
    phase: Phase,
    rust: &[u32],
    dut: &[u32],
    verilog: &str,
) -> DifftestError {
    let port = &inputs.outputs[find(&inputs.outputs, &inputs.outputs[output].name, "output")];
    let list = |ports: &[PortSpec], values: &[Vec<u32>]| {
        ports.iter().zip(values).map(|(p, v)| format!("{}={}", p.name, hex(v, p.width))).collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> = history
        .iter()
        .map(|(c, i, o)| format!("{c:>6}: {} | {}", list(&inputs.ports, i), list(&inputs.outputs, o)))
        .collect();
    if let Some(path) = keep(&plan.top, verilog) {
        lines.push(format!("the Verilog is in {path}"));
    }
    DifftestError::Mismatch(Box::new(Mismatch {
        top: plan.top.clone(),
        cycle,
        phase,
        port: port.name.clone(),
        width: port.width,
        rust: hex(rust, port.width),
        verilog: hex(dut, port.width),
        seed: plan.seed,
        history: lines,
    }))
}

/// Leaves the text where a person can look at it; without a workspace there is no such place.
fn keep(top: &str, verilog: &str) -> Option<String> {
    let dir = mrnic_verilated::workspace_root()?.join("target/difftest");
    let path = dir.join(format!("{top}.v"));
    fs::create_dir_all(&dir).and_then(|()| fs::write(&path, verilog)).ok()?;
    Some(path.display().to_string())
}
