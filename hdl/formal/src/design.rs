//! From a block and its harness to what the solver reads.
//!
//! In: the emitter's Verilog, the harness, a planted fault. Out: a flat design of Yosys with named properties, and SMT-LIB of it.
//! Guarantees: the block is as emitted, but for a port that shows one row of each memory to the harness; a name that the harness gives
//! to a signal of the block exists there.
use crate::blocks;
use crate::error::FormalError;
use crate::harness::{Fault, Harness, Size};
use crate::tools::Tools;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A flat design, ready to be cut into SMT-LIB.
#[derive(Clone, Debug)]
pub struct Design {
    pub harness: &'static Harness,
    /// `.il`; files made of it lie beside it.
    pub file: PathBuf,
}

/// Depth and width of the memory a module has.
fn memory_of(module: &str) -> Option<(usize, usize)> {
    let line = module.lines().find(|l| l.contains("] mem [0:"))?;
    let number = |after: &str| -> Option<usize> {
        let text = &line[line.find(after)? + after.len()..];
        text.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok()
    };
    Some((number("mem [0:")? + 1, number("reg [")? + 1))
}

/// Gives every memory a second view: row `tap_at`, any but always the same, as `tap`. The block itself does not use it.
pub fn with_taps(verilog: &str) -> String {
    let mut out = String::with_capacity(verilog.len() + 1000);
    for module in verilog.split_inclusive("endmodule\n") {
        let without_rows = || {
            let name = &module[module.find("module ram_0x")? + "module ram_0x".len()..];
            name.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<usize>().ok()
        };
        let tap = if let Some((depth, width)) = memory_of(module) {
            let top = (usize::BITS - (depth.max(2) - 1).leading_zeros()) as usize - 1;
            Some((width, format!("mem[tap_at[{top}:0]]")))
        } else {
            without_rows().map(|width| (width, "0".to_string()))
        };
        match (tap, module.strip_suffix("endmodule\n")) {
            (Some((width, value)), Some(body)) => {
                out.push_str(body);
                let top = width - 1;
                out.push_str(&format!(
                    "    (* anyconst *) wire [23:0] tap_at;\n    wire [{top}:0] tap = {value};\nendmodule\n"
                ));
            }
            _ => out.push_str(module),
        }
    }
    out
}

fn edited(
    verilog: String,
    harness: &'static Harness,
    what: &'static str,
    edits: &[(&'static str, &'static str)],
) -> Result<String, FormalError> {
    let mut text = verilog;
    for (from, to) in edits {
        let found = text.matches(from).count();
        if found != 1 {
            return Err(FormalError::Edit { harness: harness.name, fault: what, found, text: from });
        }
        text = text.replacen(from, to, 1);
    }
    Ok(text)
}

fn write(path: &Path, text: &str) -> Result<(), FormalError> {
    fs::write(path, text).map_err(|source| FormalError::Write { path: path.into(), source })
}

/// Runs a script; everything Yosys says goes to `log`.
fn yosys(tools: &Tools, harness: &'static Harness, script: &str, log: &Path) -> Result<String, FormalError> {
    let output = Command::new(&tools.yosys)
        .args(["-q", "-p", script])
        .output()
        .map_err(|source| FormalError::Start { tool: tools.yosys.clone(), source })?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        write(log, &text)?;
        let line = text.lines().find(|l| l.contains("ERROR")).unwrap_or("it ended without a reason").trim().to_string();
        return Err(FormalError::Yosys { harness: harness.name, line, log: log.into() });
    }
    Ok(text)
}

/// A path inside a script.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}

impl Design {
    /// Emits the block in this size, plants the fault, adds the harness.
    pub fn new(
        tools: &Tools,
        harness: &'static Harness,
        size: &Size,
        fault: Option<&Fault>,
        folder: &Path,
        stem: &str,
    ) -> Result<Design, FormalError> {
        let emitted =
            blocks::verilog(harness.block, size).map_err(|reason| FormalError::Emit { harness: harness.name, reason })?;
        let (block, properties) = (folder.join(format!("{stem}.v")), folder.join(format!("{stem}.sv")));
        let mut text = edited(emitted, harness, "smaller tables", size.edits)?;
        if let Some(fault) = fault {
            text = edited(text, harness, fault.what, fault.edits)?;
        }
        write(&block, &with_taps(&text))?;
        write(&properties, harness.text)?;
        let file = folder.join(format!("{stem}.il"));
        let set: String = size.parameters.iter().map(|(k, v)| format!("chparam -set {k} {v} proof; ")).collect();
        let script = format!(
            "read_verilog -formal {}; read_verilog -sv -formal {}; {set}hierarchy -check -top proof; proc; flatten; opt -keepdc; check; \
             async2sync; dffunmap; opt_clean; write_ilang {}",
            quoted(&block),
            quoted(&properties),
            quoted(&file)
        );
        let said = yosys(tools, harness, &script, &folder.join(format!("{stem}.log")))?;
        if let Some(line) = said.lines().find(|l| l.contains("is used but has no driver")) {
            let signal = line.split("Wire ").nth(1).unwrap_or(line).replace("proof.\\", "");
            let signal = signal.split([' ', '[']).next().unwrap_or_default().to_string();
            return Err(FormalError::UnknownSignal { harness: harness.name, signal, file: harness.file });
        }
        Ok(Design { harness, file })
    }

    /// Those of the names that are cells of this kind (`assert`, `cover`) in this size of the block.
    pub fn present(&self, kind: &str, names: &[&'static str]) -> Result<Vec<&'static str>, FormalError> {
        let text = fs::read_to_string(&self.file).map_err(|source| FormalError::Write { path: self.file.clone(), source })?;
        let cell = format!("cell ${kind} ");
        let cells: Vec<_> = text.lines().filter_map(|l| l.trim_start().strip_prefix(&cell)).collect();
        let has = |name: &str| cells.iter().any(|c| c.strip_suffix(name).is_some_and(|c| c.ends_with(['\\', '.'])));
        Ok(names.iter().copied().filter(|n| has(n)).collect())
    }

    /// SMT-LIB of the whole design.
    pub fn whole(&self, tools: &Tools) -> Result<PathBuf, FormalError> {
        self.smt2(tools, "all", "")
    }

    /// SMT-LIB with one property; all others are known of earlier clocks only, which is what induction may assume.
    pub fn single(&self, tools: &Tools, property: &str, all: &[&str]) -> Result<PathBuf, FormalError> {
        let others: Vec<_> = all.iter().filter(|p| **p != property).map(|p| format!("c:{p} c:*.{p}")).collect();
        let mut pass = String::new();
        if !others.is_empty() {
            let others = others.join(" ");
            pass = format!("chformal -assert -delay 1 {others}; chformal -assert2assume {others}; ");
        }
        self.smt2(tools, property, &pass)
    }

    /// SMT-LIB with one property and nothing of the others.
    pub fn only(&self, tools: &Tools, property: &str, others: &[&str]) -> Result<PathBuf, FormalError> {
        let without: String = others.iter().map(|p| format!("chformal -assert -remove c:{p} c:*.{p}; ")).collect();
        self.smt2(tools, property, &without)
    }

    /// SMT-LIB for a search from reset: without these assertions, memories as registers, which the solver follows better over many clocks.
    pub fn search(&self, tools: &Tools, without: &[&str]) -> Result<PathBuf, FormalError> {
        let without: String = without.iter().map(|p| format!("chformal -assert -remove c:{p} c:*.{p}; ")).collect();
        self.smt2(tools, "search", &format!("{without}memory_map; opt -fast; dffunmap; "))
    }

    fn smt2(&self, tools: &Tools, name: &str, pass: &str) -> Result<PathBuf, FormalError> {
        let file = self.file.with_extension(format!("{name}.smt2"));
        let script = format!("read_ilang {}; {pass}opt_clean; write_smt2 -wires {}", quoted(&self.file), quoted(&file));
        yosys(tools, self.harness, &script, &self.file.with_extension("log"))?;
        Ok(file)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memories_get_a_second_view_and_nothing_else_changes() {
        let text = "module ram_3x8 (\n);\n    reg [7:0] mem [0:2];\nendmodule\n\nmodule x;\nendmodule\nmodule ram_0x5 (\n);\nendmodule\n";
        let tapped = with_taps(text);
        assert!(tapped.contains("wire [7:0] tap = mem[tap_at[1:0]];\nendmodule\n\nmodule x;\nendmodule\n"), "{tapped}");
        assert!(tapped.contains("wire [4:0] tap = 0;"), "{tapped}");
        let back: String = tapped.lines().filter(|l| !l.contains("tap")).map(|l| format!("{l}\n")).collect();
        assert_eq!(back, text);
    }
}
