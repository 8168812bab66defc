//! The synthesised netlist of a block as Verilog that Verilator runs.
//!
//! In: the text of a block. Out: its netlist of ECP5 cells together with a model of each cell; and the same with a planted fault.
//! Guarantees: LUTs, carries, registers and LUT memories are Yosys' own models; block RAM and multiplier, which Yosys has as black boxes only, are
//! those of hdl/synth/cells, which refuse what they do not model.
use crate::cache::digest;
use crate::error::{io, SynthError};
use crate::run::{Job, Runner, SYNTH};
use crate::target::Target;
use std::fs;
use std::process::Command;

const CELLS: &str = include_str!("../scripts/cells.py");
/// Models of the black boxes.
const OWN_CELLS: [&str; 2] = [include_str!("../cells/DP16KD.v"), include_str!("../cells/MULT18X18D.v")];
/// What is no fault in a netlist: open ports of cells, delays, the style of the cells' models, and vectors whose bits depend on one another (a loop of
/// cells is refused by depth.py, which looks at bits).
const ALLOWED: [&str; 7] = ["PINMISSING", "SPECIFYIGN", "WIDTHEXPAND", "WIDTHTRUNC", "INITIALDLY", "MULTIDRIVEN", "UNOPTFLAT"];
/// Before the 16 digits of a LUT's table.
const TABLE: &str = ".INIT(16'h";

/// The contents of a LUT memory at power-up if the RTL names none, and what a bitstream then has.
const ANY_CONTENTS: &str = ".INITVAL(64'hxxxxxxxxxxxxxxxx)";
const NO_CONTENTS: &str = ".INITVAL(64'h0000000000000000)";

/// A netlist, and the models of its cells.
#[derive(Clone, Debug)]
pub struct Netlist {
    pub block: String,
    text: String,
    cells: String,
}

impl Runner {
    /// Synthesises a block for ECP5; from the cache if text, scripts and tools are the same.
    pub fn netlist(&self, block: &str, verilog: &str) -> Result<Netlist, SynthError> {
        let key = digest([verilog, block, Target::Ecp5.name(), SYNTH, CELLS, &self.tools.pyosys]);
        let (text, cells) = match self.cache.get(&key, "netlist") {
            Some(known) => known,
            None => {
                let job = Job { target: Target::Ecp5, build: "ecp5", block, verilog, place_and_route: false };
                self.synthesise(&job, Some("netlist.v"))?;
                let file = self.file("netlist.v");
                let text = fs::read_to_string(&file).map_err(io("read", &file))?;
                let found = (text, self.cells(block)?);
                self.cache.put(&key, "netlist", &found)?;
                found
            }
        };
        Ok(Netlist { block: block.into(), text, cells })
    }

    /// The models that come with Yosys.
    fn cells(&self, block: &str) -> Result<String, SynthError> {
        let script = self.file("cells.py");
        fs::write(&script, CELLS).map_err(io("write", &script))?;
        let mut command: Command = self.tools.python();
        let out = command.arg(&script).output().map_err(io("run", &script))?;
        if !out.status.success() {
            let said = String::from_utf8_lossy(&out.stderr);
            let reason = said.lines().next_back().unwrap_or("no message").into();
            return Err(SynthError::Tool {
                step: "looking for Yosys' models of cells",
                block: block.into(),
                reason,
                log: script,
            });
        }
        Ok(String::from_utf8_lossy(&out.stdout).into_owned())
    }
}

impl Netlist {
    /// All of it for Verilator; the top module bears the block's name.
    pub fn verilog(&self) -> String {
        let allowed = ALLOWED.map(|a| format!("/* verilator lint_off {a} */\n")).concat();
        allowed + &self.text.replace(ANY_CONTENTS, NO_CONTENTS) + &self.cells + &OWN_CELLS.concat()
    }

    /// Number of LUTs.
    pub fn luts(&self) -> usize {
        self.text.matches(TABLE).count()
    }

    /// The same with the table of LUT number `nth` inverted, and the name of that LUT; None if there is no such one.
    pub fn with_fault(&self, nth: usize) -> Option<(Netlist, String)> {
        let at = self.text.match_indices(TABLE).nth(nth)?.0 + TABLE.len();
        let digits = self.text.get(at..at + 4)?;
        let inverted = !u16::from_str_radix(digits, 16).ok()?;
        let name = self.text[at..].split_once(')')?.1.split_once(')')?.1.split_once('(')?.0.trim();
        let text = format!("{}{inverted:04x}{}", &self.text[..at], &self.text[at + 4..]);
        Some((Netlist { text, ..self.clone() }, name.trim_start_matches('\\').into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_inverts_the_table_of_one_lut() {
        let text = "  LUT4 #(\n    .INIT(16'h00f0)\n  ) \\a[0]_LUT4  (\n    .A(x)\n  );\n  LUT4 #(\n    .INIT(16'habcd)\n  ) b (\n    .A(y)\n  );\n";
        let n = Netlist { block: "m".into(), text: text.into(), cells: String::new() };
        assert_eq!(n.luts(), 2);
        let (first, name) = n.with_fault(0).unwrap();
        assert_eq!((first.text, name.as_str()), (text.replace("00f0", "ff0f"), "a[0]_LUT4"));
        let (second, name) = n.with_fault(1).unwrap();
        assert_eq!((second.text, name.as_str()), (text.replace("abcd", "5432"), "b"));
        assert!(n.with_fault(2).is_none());
    }

    #[test]
    fn a_lut_memory_without_contents_starts_at_zero_as_in_a_bitstream() {
        let text = "  TRELLIS_DPR16X4 #(\n    .INITVAL(64'hxxxxxxxxxxxxxxxx),\n    .WCKMUX(\"WCK\")\n  ) m ();\n";
        let n = Netlist { block: "m".into(), text: text.into(), cells: String::new() };
        assert!(n.verilog().contains(".INITVAL(64'h0000000000000000)") && !n.verilog().contains("hxx"), "{}", n.verilog());
    }
}
