//! `mrnic cluster` as people call it: what is missed ends with an error that names it; pages and JSON are written all the same.
use crate::support::{cluster, TINY};
use std::path::Path;

fn in_folder(text: &str, folder: &Path) -> Option<String> {
    let (file, out) = (folder.join("tiny.toml"), folder.join("deep/out"));
    std::fs::write(&file, text).unwrap();
    let error = cluster(&[file.to_str().unwrap(), "--out", out.to_str().unwrap(), "--seeds", "2"]);
    let json: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(out.join("tiny.json")).unwrap()).unwrap();
    assert_eq!(json["seeds"], 2);
    assert_eq!(json["points"][0]["series"][0]["runs"].as_array().map(Vec::len), Some(2));
    assert!(std::fs::read_to_string(out.join("tiny.html")).unwrap().contains("impossible goodput"));
    error
}

#[test]
fn a_missed_figure_is_an_error_unless_its_reason_is_known() {
    let folder = tempfile::tempdir().unwrap();
    let error = in_folder(TINY, folder.path()).expect("it is missed");
    assert!(error.contains("missed: tiny: impossible goodput"), "{error}");
    assert_eq!(in_folder(&format!("{TINY}missed_because = \"light is too slow\"\n"), folder.path()), None);
}

#[test]
fn wrong_arguments_are_refused_by_name() {
    assert_eq!(cluster(&["list"]), None);
    for (args, named) in [
        (vec!["nothing-of-the-kind"], "nothing-of-the-kind"),
        (vec!["incast", "--seeds", "0"], "--seeds"),
        (vec!["incast", "--long"], "--long"),
        (vec!["incast", "--out", "/dev/null/x"], "--out"),
    ] {
        let error = cluster(&args).expect("refused");
        assert!(error.contains(named), "{args:?}: {error}");
    }
}
