//! Shipped experiments hold in their short form; bad files are refused with file, key and remedy.
use crate::support::TINY;
use mrnic_cluster::experiment::{shipped, Experiment};
use mrnic_cluster::figures::figures;
use mrnic_cluster::report::Results;
use mrnic_cluster::run::run;

#[test]
fn shipped_experiments_show_their_shapes_in_the_short_form() {
    let folder = tempfile::tempdir().unwrap();
    for &(name, text) in shipped::all() {
        let experiment = Experiment::parse(name, text).unwrap();
        assert_eq!(experiment.name, name);
        let quick = experiment.quick();
        assert!(!quick.figure.is_empty(), "{name} checks nothing");
        let runs = run(name, &quick, &|| {}).unwrap();
        assert!(runs.iter().all(|r| r.outcome.failed_messages == 0), "{name}: a message failed");
        let figures = figures(&quick, &runs);
        for f in &figures {
            assert!(f.reached, "{name}: {} is {:?}, to reach {}", f.name, f.value, f.target());
        }
        let results = Results { experiment: &quick, runs: &runs, figures: &figures, quick: true };
        let [page, json] = results.write(folder.path()).unwrap();
        let page = std::fs::read_to_string(page).unwrap();
        assert_eq!(page.matches("<svg").count(), quick.plot.len(), "{name}");
        let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(json).unwrap()).unwrap();
        assert_eq!(json["points"].as_array().map(Vec::len), Some(quick.point.len()), "{name}");
    }
}

/// TINY with a line of it replaced.
fn error(from: &str, to: &str) -> String {
    assert!(TINY.contains(from), "{from}");
    Experiment::parse("my.toml", &TINY.replacen(from, to, 1)).expect_err(to).to_string()
}

#[test]
fn bad_files_are_refused_with_file_key_and_remedy() {
    Experiment::parse("my.toml", TINY).unwrap();
    let cases = [
        ("hosts_per_leaf = 2", "spines = 0\nhosts_per_leaf = 2", "network.spines = 0", "not connected"),
        ("hosts_per_leaf = 2", "rate_gbps = 0.0", "network.rate_gbps = 0", "choose from"),
        ("hosts_per_leaf = 2", "spine_rate_gbps = 0.0", "network.spine_rate_gbps = 0", "choose from"),
        ("hosts_per_leaf = 2", "hosts_per_leaf = 0", "network.hosts_per_leaf", "no host is connected"),
        ("hosts_per_leaf = 2", "buffer_bytes = 100", "network.buffer_bytes = 100", "two packets"),
        ("hosts_per_leaf = 2", "ecn_min_bytes = 9\necn_max_bytes = 3", "network.ecn_min_bytes = 9", "above ecn_max_bytes"),
        ("hosts_per_leaf = 2", "ecn_min_bytes = 2000000\necn_max_bytes = 2000000", "network.ecn_min_bytes", "buffer_bytes"),
        ("hosts_per_leaf = 2", "loss = { data = 1.5 }", "network.loss.data = 1.5", "0.0 to 1.0"),
        (
            "hosts_per_leaf = 2",
            "fault = [{ what = \"plane\", plane = 9, at_us = 1 }]",
            "network.fault[0].plane = 9",
            "does not exist",
        ),
        (
            "hosts_per_leaf = 2",
            "fault = [{ what = \"link\", plane = 0, leaf = 0, at_us = 1 }]",
            "network.fault[0].spine",
            "add it",
        ),
        (
            "hosts_per_leaf = 2",
            "fault = [{ what = \"plane\", plane = 0, at_us = 9, until_us = 3 }]",
            "network.fault[0].until_us = 3",
            "not after",
        ),
        (
            "hosts_per_leaf = 2",
            "fault = [{ what = \"plane\", plane = 0, at_us = 9, until_us = 30, period_us = 3 }]",
            "network.fault[0].period_us = 3",
            "down_us",
        ),
        (
            "hosts_per_leaf = 2",
            "hosts_per_leaf = 2\npfc = { headroom_bytes = 9000 }",
            "network.pfc.headroom_bytes = 9000",
            "choose at least 19450",
        ),
        ("hosts_per_leaf = 2", "hosts_per_leaf = 2\npfc = { xon_bytes = 200000 }", "network.pfc.xon_bytes", "at or below"),
        ("hosts_per_leaf = 2", "hosts_per_leaf = 2\npfc = { xoff_bytes = 7 }", "network.pfc.xoff_bytes = 7", "than a packet"),
        ("hosts_per_leaf = 2", "hosts_per_leaf = 2\npfc = { xof = 7 }", "unknown field `xof`", "xoff_bytes"),
        (
            "bytes = 100000",
            "bytes = 9\nbackground = [{ pattern = \"ring-all-reduce\", bytes = 4 }]",
            "workload.background[0].pattern",
            "choose pair",
        ),
        (
            "bytes = 100000",
            "bytes = 9\nbackground = [{ pattern = \"incast\", bytes = 4, fan_in = 2, receiver = \"neighbour\" }]",
            "workload.background[0].fan_in = 2",
            "at most 1",
        ),
        ("bytes = 100000", "bytes = 9\nbackground = [{ pattern = \"pair\", bytes = 0 }]", "background[0].bytes", "sent"),
        ("pattern = \"permutation\"\nbytes = 100000", "pattern = \"trace\"", "workload.trace = (absent)", "before .0.et"),
        ("bytes = 100000", "bytes = 9\ntrace = \"x\"", "workload.trace = x", "leave it out"),
        ("pattern = \"permutation\"", "pattern = \"trace\"\ntrace = \"x\"", "workload.bytes = 100000", "leave it out"),
        (
            "label = \"p\"",
            "label = \"p\"\nset = { \"metaroce.loss_cuts\" = true, \"metaroce.short_vector\" = true }",
            "metaroce.loss_cuts",
            "one of the two",
        ),
        ("label = \"p\"", "label = \"p\"\nx = nan", "point.x = NaN", "leave it out"),
        ("hosts = 4", "hosts = 1", "network.hosts = 1", "choose 64"),
        ("bytes = 100000", "bytes = 0", "workload.bytes = 0", "nothing is sent"),
        ("bytes = 100000", "bytes = 5000000000", "workload.bytes = 5000000000", "several messages"),
        ("bytes = 100000", "bytes = 9\nfan_in = 2", "workload.fan_in = 2", "leave it out"),
        ("pattern = \"permutation\"", "pattern = \"incast\"\nfan_in = 4", "workload.fan_in = 4", "from 1 to 3"),
        (
            "pattern = \"permutation\"\nbytes = 100000",
            "pattern = \"ring-all-reduce\"\nbytes = 2",
            "workload.bytes = 2",
            "at least 4",
        ),
        ("label = \"p\"", "label = \"p\"\nset = { \"metaroce.paths\" = 3 }", "metaroce.paths = 3", "choose 1, 2, 4 or 8"),
        ("label = \"p\"", "label = \"p\"\nset = { \"rocev2.port_bytes\" = 3 }", "rocev2.port_bytes = 3", "choose from 4400"),
        ("label = \"p\"", "label = \"p\"\nset = { \"metaroce.path\" = 4 }", "point \"p\"", "unknown field `path`"),
        ("label = \"p\"", "label = \"p\"\nset = { \"limit_us.x\" = 4 }", "limit_us.x = 4", "not a table"),
        ("metric = \"goodput_gbps\"", "metric = \"speed\"", "figure.metric = speed", "choose one of"),
        ("point = \"p\"", "point = \"q\"", "figure.point = q", "label of this file"),
        ("seeds = 1", "seeds = 0", "seeds = 0", "choose 5"),
        ("seeds = 1", "seed = 2", "my.toml", "unknown field `seed`"),
    ];
    for (from, to, place, remedy) in cases {
        let message = error(from, to);
        assert!(message.starts_with("my.toml: ") && message.contains(place) && message.contains(remedy), "{to}: {message}");
    }
    let missing = Experiment::load("no-such-experiment").expect_err("there is none").to_string();
    assert!(missing.contains("loss-pair") && missing.contains("mrnic cluster list"), "{missing}");
}

#[test]
fn overrides_of_a_series_win_over_those_of_its_point() {
    let text = TINY
        .replacen("label = \"p\"", "label = \"p\"\nset = { \"metaroce.paths\" = 4, \"network.planes\" = 2 }", 1)
        .replacen("transport = \"metaroce\"", "transport = \"metaroce\"\nset = { \"metaroce.paths\" = 2 }", 1);
    let e = Experiment::parse("my.toml", &text).unwrap();
    let case = e.case("my.toml", &e.series[0], &e.point[0]).unwrap();
    assert_eq!((case.metaroce.paths, case.network.planes, case.network.hosts), (2, 2, 4));
}

#[test]
fn the_order_of_the_runs_does_not_depend_on_threads() {
    let e = Experiment::parse("my.toml", &TINY.replacen("seeds = 1", "seeds = 2", 1)).unwrap();
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(|| run("x", &e, &|| {}).unwrap());
    let beside = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap().install(|| run("x", &e, &|| {}).unwrap());
    assert_eq!(alone, beside);
    assert_eq!(alone.iter().map(|r| r.seed).collect::<Vec<_>>(), [1, 2]);
}
