//! Unmodified programs of the distribution on the drop-in library.
//!
//! In: ibverbs-utils, perftest, python3-pyverbs and rdma-core's own tests, where they are installed. Out: what they print. A test whose
//! program is missing says so on stderr, with the package to install.
use mrnic_host_driver::accept::pyverbs::unpack;
use mrnic_host_driver::link::build;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::OnceLock;

fn folder() -> &'static Path {
    static MADE: OnceLock<tempfile::TempDir> = OnceLock::new();
    let dir = MADE.get_or_init(|| {
        let dir = tempfile::tempdir().expect("a temporary folder");
        build(dir.path()).expect("the library is built");
        dir
    });
    dir.path()
}

/// The program with our library in front, or `None` with a note.
fn program(name: &str, package: &str) -> Option<Command> {
    let path = Path::new("/usr/bin").join(name);
    if !path.exists() {
        eprintln!("not run: {name} (apt-get install {package})");
        return None;
    }
    let mut command = Command::new(path);
    command.env("LD_LIBRARY_PATH", folder());
    Some(command)
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn ibv_devices_shows_the_device() {
    let Some(mut command) = program("ibv_devices", "ibverbs-utils") else { return };
    let output = command.output().expect("it starts");
    assert!(output.status.success() && text(&output).contains("mrnic0"), "{}", text(&output));
}

#[test]
fn a_wrong_carrier_name_shows_none_and_says_why() {
    let Some(mut command) = program("ibv_devices", "ibverbs-utils") else { return };
    let output = command.env("MRNIC_VERBS", "nothing").output().expect("it starts");
    assert!(!text(&output).contains("mrnic0") && text(&output).contains("MRNIC_VERBS=nothing"), "{}", text(&output));
}

#[test]
fn ibv_devinfo_reads_every_attribute() {
    let Some(mut command) = program("ibv_devinfo", "ibverbs-utils") else { return };
    let output = command.arg("-v").output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output));
    let words: Vec<_> = text(&output).split_whitespace().map(str::to_owned).collect();
    let has = |wanted: &[&str]| words.windows(wanted.len()).any(|w| w == wanted);
    for wanted in [
        &["hca_id:", "mrnic0"][..],
        &["atomic_cap:", "ATOMIC_HCA", "(1)"],
        &["state:", "PORT_ACTIVE", "(4)"],
        &["active_mtu:", "4096", "(5)"],
        &["link_layer:", "Ethernet"],
        &["phys_state:", "LINK_UP", "(5)"],
    ] {
        assert!(has(wanted), "{wanted:?} is not in:\n{}", text(&output));
    }
    assert!(text(&output).contains("RoCE v2"), "{}", text(&output));
}

/// perftest is linked with providers' libraries, which bind private symbols when they are loaded.
#[test]
fn perftest_loads() {
    for name in ["ib_write_bw", "ib_read_lat", "ib_send_bw", "ib_atomic_bw"] {
        let Some(mut command) = program(name, "perftest") else { return };
        let output = command.env("LD_BIND_NOW", "1").arg("--version").output().expect("it starts");
        assert!(text(&output).contains("Version"), "{name}: {}", text(&output));
    }
}

/// rdma-core's own test suite, all of it: both ends of each test are in one process.
#[test]
fn the_tests_of_rdma_core_pass() {
    let packed = Path::new("/usr/share/doc/rdma-core/tests");
    let bindings = Path::new("/usr/lib/python3/dist-packages/pyverbs");
    if !packed.exists() || !bindings.exists() {
        eprintln!("not run: rdma-core's tests (apt-get install python3-pyverbs rdma-core)");
        return;
    }
    let dir = tempfile::tempdir().expect("a temporary folder");
    let tests = dir.path().join("tests");
    unpack(packed, &tests).expect("the tests are unpacked");
    let Some(mut python) = program("python3", "python3-pyverbs") else { return };
    let output = python.arg(tests.join("run_tests.py")).arg("-v").current_dir(dir.path()).output().expect("it starts");
    let text = text(&output);
    assert!(output.status.success(), "{text}");
    // "Ran 273 tests in 0.2s" and "OK (skipped=218)"; what is skipped needs UD, XRC, memory windows, on-demand paging or a vendor.
    let number = |before: &str| {
        let rest = text.split(before).nth(1).unwrap_or_default();
        rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse::<u32>().unwrap_or(0)
    };
    let passed = number("\nRan ").saturating_sub(number("skipped="));
    assert!(passed >= 54, "only {passed} tests ran:\n{text}");
}
