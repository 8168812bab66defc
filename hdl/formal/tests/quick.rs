//! The quick subset of the proofs, and what happens when something is missing or wrong.
//!
//! In: the harnesses marked quick. Out: a failure that names the property. Guarantees: without the tools (scripts/setup.sh --formal) the proofs are
//! named and not run; everything else is.
use mrnic_formal::command::choose;
use mrnic_formal::design::Design;
use mrnic_formal::error::FormalError;
use mrnic_formal::harness::{Harness, HARNESSES};
use mrnic_formal::prove::{fault, prove, Options};
use mrnic_formal::report;
use mrnic_formal::tools::Tools;
use std::path::Path;

fn tools(what: &str) -> Option<Tools> {
    Tools::find().map_err(|e| println!("{what} is not run: {e}")).ok()
}

fn options(folder: &Path) -> Options {
    Options { jobs: 1, limit_s: 120, folder: folder.into(), engines: Vec::new() }
}

#[test]
fn quick_harnesses_are_proven_and_find_their_faults() {
    let quick: Vec<_> = HARNESSES.iter().filter(|h| h.quick).collect();
    let names: Vec<_> = quick.iter().map(|h| h.name).collect();
    assert!(names.contains(&"skid") && names.contains(&"fifo"), "{names:?}");
    let Some(tools) = tools(&names.join(", ")) else { return };
    let folder = tempfile::tempdir().unwrap();
    let rows = prove(&tools, &quick, &options(folder.path()), &|row, _, _| println!("{}", report::line(row))).unwrap();
    report::verdict(&rows).unwrap();
    for h in quick {
        let has = |engine: &str| rows.iter().any(|r| r.harness == h.name && r.engine == engine);
        assert!(["induction", "bmc", "cover", "fault"].into_iter().all(has), "{}", h.name);
    }
}

/// A property that does not hold gives a waveform, and an exit that is not zero.
#[test]
fn a_counterexample_is_kept() {
    let Some(tools) = tools("a counterexample") else { return };
    let folder = tempfile::tempdir().unwrap();
    let h = Harness::find("skid").unwrap();
    let row = fault(&tools, h, 0, &options(folder.path())).unwrap();
    assert_eq!(row.result, "found by comes_out_unchanged");
    let trace = std::fs::read_to_string(folder.path().join("skid.fault0.vcd")).unwrap();
    assert!(trace.contains("$var") && trace.contains("out_data"), "{trace}");
    let bad = mrnic_formal::prove::Row { good: false, ..row };
    assert!(matches!(report::verdict(&[bad]), Err(FormalError::Failed { failed: 1, .. })));
}

#[test]
fn unknown_harness_and_missing_tool_are_named() {
    let error = choose(&["skid".into(), "skit".into()]).unwrap_err().to_string();
    assert!(error.starts_with("there is no harness skit; choose some of path_tracker, "), "{error}");
    let empty = tempfile::tempdir().unwrap();
    let error = Tools::find_in(&[empty.path().into()]).unwrap_err().to_string();
    assert_eq!(error, "yosys is missing: run scripts/setup.sh --formal");
    for tool in ["yosys", "yosys-smtbmc"] {
        std::fs::write(empty.path().join(tool), "").unwrap();
    }
    let error = Tools::find_in(&[empty.path().into()]).unwrap_err().to_string();
    assert_eq!(error, "yices-smt2 is missing: run scripts/setup.sh --formal");
}

/// A signal that the block has lost, a fault whose text is gone, and a harness that Yosys does not understand stop the run.
#[test]
fn harnesses_that_no_longer_fit_their_block_are_named() {
    let skid = Harness::find("skid").unwrap();
    let Some(tools) = tools("harnesses that do not fit") else { return };
    let folder = tempfile::tempdir().unwrap();
    let with_text = |text: String| -> &'static Harness {
        let text: &'static str = Box::leak(text.into_boxed_str());
        Box::leak(Box::new(Harness { text, ..*skid }))
    };
    let error =
        |h: &'static Harness, fault| Design::new(&tools, h, &h.small, fault, folder.path(), "x").unwrap_err().to_string();
    let lost = error(with_text(skid.text.replace("spare_q", "spare_z")), None);
    assert_eq!(lost, "harness skid looks at dut.spare_z, which its block does not have; correct hdl/formal/skid.sv");
    let refused = error(with_text(skid.text.replace("endmodule", "endmodul")), None);
    assert!(refused.starts_with("Yosys refuses harness skid: "), "{refused}");
    let gone = mrnic_formal::harness::Fault { what: "gone", edits: &[("no such text", "")] };
    assert!(error(skid, Some(&gone)).contains("is 0 times in its block"));
}
