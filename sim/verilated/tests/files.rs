//! Traces and coverage.

mod common;

use common::{spec_built, wide, WIDE};
use mrnic_verilated::{FileError, ModelSpec};

fn values(path: &std::path::Path, name: &str) -> Vec<(u64, String)> {
    let mut w = wellen::simple::read(path).unwrap();
    let h = w.hierarchy();
    let var = h.all_vars().find(|v| h[*v].name(h) == name).unwrap_or_else(|| panic!("no {name} in the trace"));
    let var = h[var].signal_ref();
    w.load_signals(&[var]);
    let times = w.time_table().to_vec();
    w.get_signal(var).unwrap().iter_changes().map(|(t, v)| (times[t as usize], v.to_bit_string().unwrap())).collect()
}

#[test]
fn a_trace_is_switched_at_run_time_and_shows_inputs_before_their_edge() {
    let dir = tempfile::tempdir().unwrap();
    let (one, two) = (dir.path().join("one.fst"), dir.path().join("two.fst"));
    let (model, _) = spec_built(&ModelSpec { trace: true, opt_level: 0, ..ModelSpec::new("wide", WIDE) });
    let mut dut = model.instance("t", 1);
    let a = dut.input("a8").unwrap();
    dut.cycles(10); // 40 ns without a file
    dut.trace_open(&one).unwrap();
    for v in [1, 2, 3] {
        a.set_u64(v);
        dut.cycle();
    }
    dut.trace_close();
    dut.cycles(5);
    dut.trace_open(&two).unwrap();
    a.set_u64(77);
    dut.cycle();
    dut.trace_pause(true);
    a.set_u64(78);
    dut.cycle();
    dut.trace_pause(false);
    dut.cycle();
    drop(dut); // closes the file

    let hex = |v: u64| format!("{v:08b}");
    assert_eq!(values(&one, "a8"), [(40_000, hex(1)), (44_000, hex(2)), (48_000, hex(3))]);
    let q = values(&one, "q8");
    assert_eq!(q[1..], [(42_000, hex(1)), (46_000, hex(2)), (50_000, hex(3))]);
    assert_eq!(values(&one, "clock").len(), 7, "three cycles: low, high, low ... low");
    assert_eq!(values(&two, "a8"), [(72_000, hex(77)), (80_000, hex(78))]);
}

#[test]
fn a_trace_has_wide_values() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("w.fst");
    let (model, _) = spec_built(&ModelSpec { trace: true, opt_level: 0, ..ModelSpec::new("wide", WIDE) });
    let mut dut = model.instance("t", 1);
    dut.trace_open(&path).unwrap();
    dut.input("a256").unwrap().set_bits(250, 2, 3);
    dut.cycle();
    dut.trace_close();
    let want = format!("{}11{}", "0".repeat(4), "0".repeat(250));
    assert_eq!(values(&path, "q256").last().unwrap().1, want);
}

#[test]
fn without_tracing_and_in_a_missing_folder_the_error_says_what_to_do() {
    let mut dut = wide().instance("t", 1);
    let e = dut.trace_open("x.fst").unwrap_err();
    assert!(matches!(e, FileError::NotBuilt { .. }) && e.to_string().contains("ModelSpec::trace"), "{e}");
    assert!(dut.coverage_write("x.dat").is_err());
    let (model, _) = spec_built(&ModelSpec { trace: true, opt_level: 0, ..ModelSpec::new("wide", WIDE) });
    let mut dut = model.instance("t", 1);
    assert!(matches!(dut.trace_open("/nonexistent/x.fst").unwrap_err(), FileError::Open { .. }));
    dut.cycle(); // and the instance goes on
}

#[test]
fn coverage_counts_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("c.dat");
    let (model, _) = spec_built(&ModelSpec { coverage: true, opt_level: 0, ..ModelSpec::new("wide", WIDE) });
    let mut dut = model.instance("t", 1);
    dut.cycles(12);
    dut.coverage_write(&path).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text.contains("wide.v") && text.lines().any(|l| l.trim_end().ends_with(" 12")), "{text}");
}
