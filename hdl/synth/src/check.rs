//! `mrnic synth --check-netlists`: netlists in place of the RTL in their blocks' differential tests.
//!
//! In: names of blocks. Out: a line a block and window: clocks compared, and the fault that was planted and found. Guarantees: one difference fails; so
//! does a fault that the test does not see.
use crate::command::progress;
use crate::error::SynthError;
use crate::netlist::Netlist;
use crate::run::Runner;
use crate::tools::Tools;
use anyhow::{bail, Result};
use mrnic_difftest::DifftestError;
use mrnic_stimuli::{Test, TESTS};

/// Places of a netlist that are tried with a fault.
const FAULTS: usize = 4;

/// Outcome of one block with one window.
#[derive(Clone, Debug)]
pub struct Checked {
    pub luts: usize,
    /// Clocks in which every output was compared, twice each.
    pub cycles: u64,
    /// The LUT whose table was inverted, the output and the clock that gave it away.
    pub fault: (String, String, u64),
}

/// The tests of these blocks, all without a name.
pub fn choose(names: &[String]) -> Result<Vec<&'static Test>, SynthError> {
    let find = |name: &String| {
        let known = || TESTS.iter().map(|t| t.block).collect::<Vec<_>>().join(", ");
        TESTS
            .iter()
            .find(|t| t.block == name)
            .ok_or_else(|| SynthError::NoNetlistCheck { block: name.clone(), blocks: known() })
    };
    if names.is_empty() {
        return Ok(TESTS.iter().collect());
    }
    names.iter().map(find).collect()
}

/// Runs a netlist in place of the RTL.
fn against(test: &Test, window: u64, netlist: &Netlist) -> Result<u64, DifftestError> {
    (test.against)(window, &netlist.verilog()).map(|report| report.cycles)
}

/// Synthesises a block, runs its test on the netlist, and once more with a fault in a LUT in the middle of it.
pub fn check(runner: &Runner, test: &Test, window: u64) -> Result<Checked> {
    let block = test.block;
    let netlist = runner.netlist(block, &(test.verilog)(window)?)?;
    let luts = netlist.luts();
    let cycles = against(test, window, &netlist)?;
    // an inverted table may be masked, so some places are tried until one shows
    let mut unseen = Vec::new();
    for part in 1..=FAULTS {
        let Some((wrong, lut)) = netlist.with_fault(luts * part / (FAULTS + 1)) else {
            bail!("{block}: a netlist without a LUT cannot have a fault in one")
        };
        match against(test, window, &wrong) {
            Err(DifftestError::Mismatch(m)) => return Ok(Checked { luts, cycles, fault: (lut, m.port, m.cycle) }),
            Err(other) => return Err(other.into()),
            Ok(_) => unseen.push(lut),
        }
    }
    bail!("{block}, W = {window}: the inverted tables of {} are not seen by the test", unseen.join(", "))
}

/// Runs the command.
pub fn run(names: &[String], all_windows: bool) -> Result<()> {
    let tests = choose(names)?;
    let runner = Runner::new(Tools::find()?)?;
    let windows = |t: &'static Test| if all_windows { t.windows } else { &t.windows[..1] };
    let bar = progress(tests.iter().map(|t| windows(t).len() as u64).sum(), false)?;
    let mut bad = Vec::new();
    for test in tests {
        for window in windows(test) {
            bar.set_message(format!("{} with W = {window}", test.block));
            match check(&runner, test, *window) {
                Ok(c) => {
                    let (lut, port, cycle) = &c.fault;
                    let (block, luts, cycles) = (test.block, c.luts, c.cycles);
                    let line = format!("{block:<16} W = {window:<3} {luts:>5} LUTs  {cycles} clocks, 0 mismatches; {lut} inverted: {port} differs in clock {cycle}");
                    if !bar.suspend(|| mrnic_say::line(format_args!("{line}"))) {
                        drop(runner);
                        mrnic_say::end();
                    }
                }
                Err(e) => bad.push(format!("{} with W = {window}: {e}", test.block)),
            }
            bar.inc(1);
        }
    }
    bar.finish_and_clear();
    if !bad.is_empty() {
        bail!("{}", bad.join("\n"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_block_is_answered_with_the_known_ones() {
        assert_eq!(choose(&[]).unwrap().len(), 5);
        assert_eq!(choose(&["congestion".into()]).unwrap()[0].block, "congestion");
        let message = choose(&["framer".into()]).err().unwrap().to_string();
        assert!(message.starts_with("the netlist of framer has no test; choose among path_tracker, sack_"), "{message}");
    }
}
