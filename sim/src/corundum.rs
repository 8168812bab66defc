//! The wrapper for Corundum (`constraints/corundum`) in simulation: its model, and the run of `mrnic corundum`.
//!
//! In: a width of the streams. Out: a model of the wrapped engine, or a verified run of two of them. Guarantees: the ports are
//! those of `mqnic_app_block`, taken from its text; the engine's commit port is led out beside them, so that lockstep works.
pub mod command;

use crate::models;
use crate::scenario::Scenario;
use anyhow::{bail, Context, Result};
use mrnic_emit::{Design, Direction};
use mrnic_nic::config::{build, BuildConfig};
use mrnic_verilated::{Model, ModelSpec};
use std::fmt::Write;

/// A file of the wrapper: name and text.
macro_rules! source {
    ($name:literal) => {
        ($name, include_str!(concat!("../../constraints/corundum/rtl/", $name, ".v")))
    };
}

/// The wrapper's files; the application block itself is the first.
pub const SOURCES: &[(&str, &str)] = &[
    source!("mqnic_app_block"),
    source!("mrnic_app"),
    source!("mrnic_app_regs"),
    source!("mrnic_axil"),
    source!("mrnic_dma_read"),
    source!("mrnic_dma_write"),
    source!("mrnic_fifo"),
    source!("mrnic_ram"),
    source!("mrnic_ram_reads"),
    source!("mrnic_rx_match"),
    source!("mrnic_rx_split"),
    source!("mrnic_skid"),
    source!("mrnic_tx_cpl"),
    source!("mrnic_tx_merge"),
];

/// A configuration of Corundum that the wrapper is simulated in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Bits of the `sync` streams, and of the engine.
    pub width: usize,
    /// Build of the engine.
    pub build: &'static str,
    /// Bits of a segment of the DMA RAM: those of the PCIe interface.
    pub segment: usize,
    pub ram_addr: usize,
}

/// One for each width: 100G boards with PCIe x16, 25G with x8, small ones with x4.
pub const SHAPES: &[Shape] = &[
    Shape { width: 512, build: "corundum100g", segment: 512, ram_addr: 17 },
    Shape { width: 128, build: "corundum25g", segment: 256, ram_addr: 16 },
    Shape { width: 64, build: "corundum10g", segment: 128, ram_addr: 15 },
];

impl Shape {
    /// The shape of that width.
    pub fn find(width: usize) -> Result<Self> {
        match SHAPES.iter().find(|s| s.width == width) {
            Some(s) => Ok(*s),
            None => bail!("Corundum's streams are not {width} bits wide; choose 64, 128 or 512"),
        }
    }

    /// Build of the engine.
    pub fn config(&self) -> Result<BuildConfig> {
        build(self.build).with_context(|| format!("build {} is missing", self.build))
    }

    /// Parameters of `mqnic_app_block` that differ from their defaults, as `-G` arguments of Verilator.
    pub fn parameters(&self) -> Vec<String> {
        let set = [
            ("AXIS_DATA_WIDTH", self.width),
            ("RAM_SEG_DATA_WIDTH", self.segment),
            ("RAM_ADDR_WIDTH", self.ram_addr),
            ("AXIL_APP_CTRL_ADDR_WIDTH", 24),
            ("TX_TAG_WIDTH", 6),
            ("DMA_TAG_WIDTH", 14),
            ("RAM_SEL_WIDTH", 2),
        ];
        set.iter().map(|(name, value)| format!("-G{name}={value}")).collect()
    }

    /// The same with another engine of that width.
    pub fn with_build(&self, name: &str) -> Result<Self> {
        let config = build(name).with_context(|| format!("there is no build {name}"))?;
        if config.data_width != self.width {
            bail!("build {name} is {} bits wide; choose --width {}, or another build", config.data_width, config.data_width);
        }
        Ok(Self { build: config.name, ..*self })
    }

    /// The scenario of `mrnic corundum`, within what the engine can do.
    pub fn scenario(&self) -> Result<Scenario> {
        let config = self.config()?;
        let mut s = Scenario::parse("corundum.toml", include_str!("../scenarios/corundum.toml"))?;
        s.build = self.build.into();
        s.connection.paths = s.connection.paths.min(config.paths);
        s.connection.mtu_bytes = s.connection.mtu_bytes.min(config.max_mtu_bytes);
        s.traffic.retain(|t| config.reads || !t.op.is_request());
        Ok(s)
    }
}

/// All of the wrapper's text, for that engine.
pub fn wrapper(shape: &Shape) -> String {
    let mut text = format!("`define MRNIC_ENGINE {}\n`define MRNIC_ENGINE_WIDTH {}\n", shape.build, shape.width);
    for (_, source) in SOURCES {
        text += source;
    }
    text
}

/// Names in a list of declarations, one a line: the last word before the comma.
fn names<'a>(lines: &'a str, keyword: &str) -> Vec<&'a str> {
    let declared = lines.lines().map(str::trim).filter(|l| l.starts_with(keyword));
    let head = |l: &'a str| l.split(" = ").next().unwrap_or(l);
    declared.filter_map(|l| head(l).trim_end_matches(',').split_whitespace().last()).collect()
}

/// Top of the simulation: `mqnic_app_block` with its own parameters and ports, and the commit port of its engine.
pub fn bench(design: &Design) -> Result<String> {
    let text = SOURCES[0].1;
    let cut = |from: &str, to: &str| -> Result<&str> {
        let rest = text.split_once(from).with_context(|| format!("mqnic_app_block.v has no {from:?}"))?.1;
        Ok(rest.split_once(to).with_context(|| format!("mqnic_app_block.v has no {to:?}"))?.0)
    };
    let parameters = cut("module mqnic_app_block #(\n", "\n/* verilator")?;
    let ports = cut("UNUSEDPARAM */\n) (\n", "\n);\n")?;
    let commits: Vec<_> =
        design.ports.iter().filter(|p| p.direction == Direction::Output && p.name.starts_with("commit_")).collect();
    let mut out = format!("module corundum_bench #(\n{parameters}\n) (\n{ports}");
    for c in &commits {
        write!(out, ",\n    output wire [{}:0] {}", c.width - 1, c.name)?;
    }
    let list = |names: Vec<&str>| names.iter().map(|n| format!(".{n}({n})")).collect::<Vec<_>>().join(",\n    ");
    let pins = [names(ports, "input"), names(ports, "output")].concat();
    write!(out, "\n);\nmqnic_app_block #(\n    {}\n) block (\n    {}\n);\n", list(names(parameters, "parameter")), list(pins))?;
    for c in &commits {
        writeln!(out, "assign {0} = block.app.engine.{0};", c.name)?;
    }
    out += "endmodule\n";
    Ok(out)
}

/// What is Verilated for a shape.
pub fn spec(shape: &Shape) -> Result<ModelSpec> {
    let design = models::emit(&shape.config()?)?;
    let verilog = format!("{}{}{}", design.verilog, wrapper(shape), bench(&design)?);
    Ok(ModelSpec { clock: Some("clk".into()), extra_args: shape.parameters(), ..ModelSpec::new("corundum_bench", verilog) })
}

/// The model of a wrapped engine, for [`crate::nic::NicSim`].
pub fn model(shape: &Shape, trace: bool, quiet: bool) -> Result<Model> {
    models::verilated(&format!("wrapped {}", shape.build), ModelSpec { trace, ..spec(shape)? }, quiet)
}
