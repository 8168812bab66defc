//! The test itself: both simulations side by side.
//! Comes in: a block behind `Rust` and a `Plan`. Goes out: a `Report`, or the first difference.
//! Guarantees that every output is compared twice a cycle, before and after the rising edge.

use std::{collections::VecDeque, fs, ops::RangeInclusive};

use mrnic_verilated::{build, lint, Dut, Initial, ModelSpec, Port};
use rust_hdl_core::prelude::*;

use crate::{
    inputs::{hex, Inputs, PortSpec},
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
pub(crate) type Stimulus = Box<dyn FnMut(&mut Random, u64, &mut Inputs) + Send>;
/// One value a port.
type Values = Vec<Vec<u32>>;
/// Cycle, inputs and outputs before its edge.
type History = VecDeque<(u64, Values, Values)>;

/// What the run needs to know besides the block.
pub(crate) struct Plan {
    pub top: String,
    pub cycles: u64,
    pub seed: u64,
    pub reset: Option<String>,
    pub reset_cycles: u64,
    pub reset_chance: f64,
    pub limits: Vec<(String, RangeInclusive<u64>)>,
    pub sources: Vec<Source>,
    pub sinks: Vec<Sink>,
    pub stimulus: Option<Stimulus>,
    pub verilog: Option<String>,
    pub mutate: Option<Box<dyn Fn(String) -> String + Send>>,
    pub opt_level: u8,
    pub lint: bool,
    pub initial: Initial,
}

/// The Rust side without its type: the code below is compiled once, not once a block.
pub(crate) trait Rust {
    fn block(&mut self) -> &mut dyn Block;
    fn emit(&self, top: &str) -> Result<String, String>;
    fn clocked(&self) -> bool;
    fn set_clock(&mut self, level: bool);
    fn setter_names(&self) -> Vec<String>;
    fn set(&mut self, setter: usize, words: &[u32]) -> Vec<u32>;
}

struct Wiring {
    inputs: Vec<PortSpec>,
    outputs: Vec<PortSpec>,
    clock: Option<String>,
    /// For each input, which setter drives it.
    setter_of: Vec<usize>,
}

/// The ports of the block, checked against what the test provides.
fn wire_up(rig: &mut dyn Rust, top: &str) -> Result<Wiring, DifftestError> {
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
    Ok(Wiring { inputs, outputs: found.outputs, clock, setter_of })
}

fn from_env(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

pub(crate) fn run(rig: &mut dyn Rust, mut plan: Plan) -> Result<Report, DifftestError> {
    plan.seed = from_env("MRNIC_SEED").unwrap_or(plan.seed);
    plan.cycles = from_env("MRNIC_CYCLES").unwrap_or(plan.cycles);
    let top = plan.top.clone();
    let Wiring { inputs: input_ports, outputs: output_ports, clock, setter_of } = wire_up(rig, &top)?;

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
    let mut dut = build(&spec, &mut |_| {})?.instance_with("dut", plan.seed, plan.initial);
    let dut_inputs = input_ports.iter().map(|p| port(&dut, p, true)).collect::<Result<Vec<_>, _>>()?;
    let dut_outputs = output_ports.iter().map(|p| port(&dut, p, false)).collect::<Result<Vec<_>, _>>()?;

    rig.block().connect_all();
    settle(rig, &top, 0)?;
    let zeros = |ports: &[PortSpec]| ports.iter().map(|p| vec![0u32; p.width.div_ceil(32).max(1)]).collect::<Values>();
    let mut inputs = Inputs {
        values: zeros(&input_ports),
        previous: zeros(&input_ports),
        sampled: zeros(&output_ports),
        ports: input_ports,
        outputs: output_ports,
    };
    let mut random = Random::new(plan.seed);
    let mut history: History = History::new();
    let mut changes = vec![0u64; inputs.outputs.len()];
    let mut last_seen: Option<Values> = None;
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
    history: &History,
    output: usize,
    cycle: u64,
    phase: Phase,
    rust: &[u32],
    dut: &[u32],
    verilog: &str,
) -> DifftestError {
    let port = &inputs.outputs[output];
    let list = |ports: &[PortSpec], values: &[Vec<u32>]| {
        ports.iter().zip(values).map(|(p, v)| format!("{}={}", p.name, hex(v, p.width))).collect::<Vec<_>>().join(" ")
    };
    let mut lines: Vec<String> =
        history.iter().map(|(c, i, o)| format!("{c:>6}: {} | {}", list(&inputs.ports, i), list(&inputs.outputs, o))).collect();
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
