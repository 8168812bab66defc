//! The wrapper for Corundum boards: whole NICs in it, its text, and how it is attached to a board.
//!
//! In: `constraints/corundum`. Out: verified traffic of two wrapped NICs beside that of others. Guarantees: one width here; all
//! widths with `mrnic corundum`.
use mrnic_emit::Direction;
use mrnic_sim::corundum::{self, Shape, SHAPES, SOURCES};
use mrnic_sim::models;
use mrnic_sim::world::{NodeOutcome, Options, World};
use mrnic_verilated::ModelSpec;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../constraints/corundum")
}

/// WRITEs and SENDs with loss through two wrapped NICs in lockstep with the golden model; others pass untouched.
#[test]
fn traffic_passes_two_wrapped_nics() {
    let shape = Shape::find(128).expect("a width");
    let scenario = shape.scenario().expect("a good scenario");
    let spec = ModelSpec { opt_level: 1, ..corundum::spec(&shape).expect("the wrapper with its engine") };
    let model = mrnic_verilated::build(&spec, &mut |_| {}).expect("the wrapper can be Verilated");
    // software comes after some epochs of the rate hint (R11), as on a board, whose memories are cleared for longer than one
    let options = Options { lockstep: true, late_cycles: 12_000, ..Options::default() };
    let mut world = World::new(&scenario, &shape.config().expect("a build"), &model, &options).expect("a world");
    let outcome = world.run(&mut |_, _| {}).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(outcome.bytes_verified, scenario.traffic.iter().map(|t| t.bytes).sum::<u64>());
    for n in &outcome.nodes {
        let c = n.core.expect("a core");
        assert!(c.rx_others > 100 && c.tx_others > 100 && c.cpl_others == c.tx_others, "{c:?}");
        assert!(c.rx_ours > 50 && c.tx_ours > 50, "{c:?}");
        assert!(c.dma_out_of_order.iter().all(|n| *n > 10), "{c:?}");
    }
    let resent = |n: &NodeOutcome| n.counters.iter().find(|c| c.0.eq_ignore_ascii_case("TX_RESEND")).map_or(0, |c| *c.1);
    assert!(outcome.nodes.iter().map(resent).sum::<u32>() > 0, "nothing was lost");
}

/// `verilator -Wall` at every width, two ports; the engine is an empty module with its ports.
#[test]
fn the_wrapper_lints_clean() {
    for shape in SHAPES {
        let design = models::emit(&shape.config().expect("a build")).expect("the engine can be emitted");
        let mut engine = format!("module {} (\n", shape.build);
        for (i, p) in design.ports.iter().enumerate() {
            let direction = if p.direction == Direction::Input { "input" } else { "output" };
            let comma = if i + 1 == design.ports.len() { "" } else { "," };
            writeln!(engine, "    {direction} wire [{}:0] {}{comma}", p.width - 1, p.name).expect("a string");
        }
        engine += ");\n";
        let (outputs, inputs): (Vec<_>, Vec<_>) = design.ports.iter().partition(|p| p.direction == Direction::Output);
        for p in outputs {
            writeln!(engine, "assign {} = 0;", p.name).expect("a string");
        }
        let names: Vec<_> = inputs.iter().map(|p| p.name.as_str()).collect();
        writeln!(engine, "wire unused = &{{1'b0, {}}};\nendmodule", names.join(", ")).expect("a string");
        // the parameters of a board, over the defaults
        let mut app = corundum::wrapper(shape);
        for set in shape.parameters().iter().map(|p| p.trim_start_matches("-G")).chain(["IF_COUNT=2"]) {
            let (name, value) = set.split_once('=').expect("a value");
            let (head, tail) = app.split_once(&format!("    parameter {name} = ")).expect("a parameter");
            let rest = tail.split_once(',').expect("another parameter").1;
            app = format!("{head}    parameter {name} = {value},{rest}");
        }
        mrnic_verilated::lint(&(app + &engine), "mqnic_app_block").unwrap_or_else(|e| panic!("{} bits: {e}", shape.width));
        // an input that is left open would be an error of synthesis only
        let app = SOURCES.iter().find(|s| s.0 == "mrnic_app").expect("the file").1;
        let engine = app.split_once("`MRNIC_ENGINE engine (").expect("the engine").1;
        for input in names {
            assert!(engine.contains(&format!(".{input}(")), "input {input} of the engine is not connected in mrnic_app.v");
        }
    }
}

/// A configuration that cannot work does not elaborate.
#[test]
fn a_wrong_width_does_not_elaborate() {
    let shape = Shape::find(64).expect("a width");
    let wrong = corundum::wrapper(&shape).replace("`define MRNIC_ENGINE_WIDTH 64", "`define MRNIC_ENGINE_WIDTH 128");
    let said = mrnic_verilated::lint(&wrong, "mqnic_app_block").expect_err("refused").to_string();
    assert!(said.contains("AXIS_SYNC_DATA_WIDTH_differs_from_MRNIC_ENGINE_WIDTH"), "{said}");
}

#[test]
fn the_file_list_is_complete() {
    let list = std::fs::read_to_string(folder().join("common/files.mk")).expect("the list");
    let mut on_disk: Vec<_> = std::fs::read_dir(folder().join("rtl"))
        .expect("the folder")
        .map(|e| e.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    on_disk.sort();
    let mut known: Vec<_> = SOURCES.iter().map(|s| format!("{}.v", s.0)).collect();
    known.sort();
    assert_eq!(on_disk, known);
    for name in &on_disk {
        assert!(list.contains(&format!("$(MRNIC)/rtl/{name}\n")), "{name} is not in files.mk");
    }
}

/// Every board has a build of the width that it says, and an engine whose ticks are right at Corundum's 250 MHz.
#[test]
fn every_board_has_its_build() {
    let mut boards = 0;
    for entry in std::fs::read_dir(folder().join("boards")).expect("the folder") {
        let board = entry.expect("an entry").path();
        let text = |file: &str| std::fs::read_to_string(board.join(file)).unwrap_or_else(|e| panic!("{board:?}/{file}: {e}"));
        let (make, tcl) = (text("board.mk"), text("config.tcl"));
        let value = |text: &str, key: &str| {
            let line = text.lines().find_map(|l| l.strip_prefix(key)).unwrap_or_else(|| panic!("{board:?}: no {key}"));
            line.trim().to_string()
        };
        let build = value(&make, "MRNIC_BUILD = ");
        assert_eq!(build, value(&tcl, "set mrnic_build "));
        let config = mrnic_nic::config::build(&build).expect("a named build");
        assert_eq!(config.data_width.to_string(), value(&tcl, "set mrnic_width "));
        assert_eq!(config.clock_ps, 4000, "{build}");
        assert_eq!(value(&make, "MRNIC_BOARD = "), board.file_name().expect("a name").to_string_lossy());
        boards += 1;
    }
    assert_eq!(boards, 9);
}

fn attach(board: &str, corundum: &Path, engine: &Path) -> Output {
    let script = folder().join("attach.sh");
    Command::new("bash").arg(script).arg(board).arg(corundum).arg(engine).output().expect("bash")
}

/// A tree that looks like Corundum's: the variant takes its Makefile, and adds our lines.
#[test]
fn a_board_variant_is_made_beside_corundums() {
    let temp = tempfile::tempdir().expect("a folder");
    let board = temp.path().join("corundum/fpga/mqnic/Alveo/fpga_100g");
    let stock = "FPGA_PART = part\nSYN_FILES = rtl/fpga_au50.v\nSYN_FILES += rtl/common/rx_engine.v\nXDC_FILES = fpga.xdc\n\
        CONFIG_TCL_FILES = ./config.tcl\n\ninclude ../common/vivado.mk\n\nprogram: fpga.bit\n\ttrue\n";
    let vivado = "all:\n\t@echo $(FPGA_PART)\n\t@echo $(SYN_FILES)\n\t@echo $(XDC_FILES)\n\t@echo $(CONFIG_TCL_FILES)\n";
    for (folder, file, text) in [("fpga_AU50", "Makefile", stock), ("common", "vivado.mk", vivado)] {
        std::fs::create_dir_all(board.join(folder)).expect("a folder");
        std::fs::write(board.join(folder).join(file), text).expect("a file");
    }
    let engine = temp.path().join("engine");
    std::fs::create_dir(&engine).expect("a folder");
    let corundum = temp.path().join("corundum");
    let refused = |board: &str, corundum: &Path, what: &str| {
        let o = attach(board, corundum, &engine);
        let said = String::from_utf8_lossy(&o.stderr).into_owned();
        assert!(!o.status.success() && said.contains(what) && said.lines().count() == 1, "{said}");
    };
    refused("U50", &corundum, "mrnic emit --build corundum100g");
    std::fs::write(engine.join("corundum100g.v"), "module rx_engine ();\nendmodule\n").expect("a file");
    refused("U50", &corundum, "the same names: rx_engine");
    std::fs::write(engine.join("corundum100g.v"), "module corundum100g ();\nendmodule\n").expect("a file");
    refused("U51", &corundum, "there is no board U51; choose one of ADM_PCIE_9V3");
    refused("U200", &corundum, "Alveo/fpga_100g/fpga_AU200 or AU200/fpga_100g/fpga is missing");
    refused("U50", temp.path(), "is not a Corundum checkout");

    let o = attach("U50", &corundum, &engine);
    assert!(o.status.success(), "{}", String::from_utf8_lossy(&o.stderr));
    let variant = PathBuf::from(String::from_utf8_lossy(&o.stdout).trim());
    assert!(variant.ends_with("fpga_AU50_app_mrnic"));
    let o = Command::new("make").arg("-s").arg("-C").arg(&variant).output().expect("make");
    let lines: Vec<_> = String::from_utf8_lossy(&o.stdout).lines().map(str::to_string).collect();
    let [part, syn, xdc, config] = lines.as_slice() else { panic!("{lines:?}") };
    assert_eq!(part, "part");
    let files: Vec<_> = syn.split(' ').collect();
    assert_eq!(files[..2], ["rtl/fpga_au50.v", "rtl/common/rx_engine.v"]);
    assert_eq!(files.len(), 2 + SOURCES.len() + 1);
    assert!(files[2..].iter().all(|f| Path::new(f).is_absolute() && Path::new(f).exists()), "{files:?}");
    assert!(xdc.starts_with("fpga.xdc /") && xdc.ends_with("/common/clocks.tcl"));
    let (theirs, ours) = config.split_once(' ').expect("two files");
    assert_eq!(theirs, "./../fpga_AU50/config.tcl");
    assert!(Path::new(ours).ends_with("boards/U50/config.tcl") && Path::new(ours).exists());
}

#[test]
fn a_width_that_corundum_has_not_is_refused() {
    let o = Command::new(env!("CARGO_BIN_EXE_mrnic")).args(["corundum", "--width", "100"]).output().expect("the command");
    let said = String::from_utf8_lossy(&o.stderr).into_owned();
    assert!(!o.status.success() && said.contains("choose 64, 128 or 512") && said.lines().count() == 1, "{said}");
}
