//! A sweep cut into parts: together they give what one process gives; what does not fit together is refused. The files for
//! schedulers are tried without a scheduler: their command lines are run here.
use crate::support::{cluster, TINY};
use std::path::{Path, PathBuf};
use std::process::Command;
use yaml_rust2::{Yaml, YamlLoader};

const SLURM: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schedulers/slurm-array.sh");
const KUBERNETES: &str = include_str!("../../schedulers/kubernetes-job.yaml");

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

/// A folder with an experiment of 2 points x 1 series x 2 seeds, which reaches its figure.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("tiny.toml");
    let more = "[[point]]\nlabel = \"q\"\nset = { \"network.loss.data\" = 0.01 }\n";
    std::fs::write(&file, TINY.replace("seeds = 1", "seeds = 2").replace("least = 1e9", "least = 1.0") + more).unwrap();
    (folder, file)
}

fn part(file: &Path, share: &str, out: &Path, more: &[&str]) -> PathBuf {
    let args = [&[text(file), "--point", share, "--out", text(out)], more].concat();
    assert_eq!(cluster(&args), None);
    out.join(format!("tiny.{}.json", share.replace('/', "-of-")))
}

fn merge(files: &[&PathBuf], out: &Path) -> Option<String> {
    let mut args = vec!["merge"];
    args.extend(files.iter().map(|f| text(f)));
    cluster(&[args.as_slice(), &["--out", text(out)]].concat())
}

#[test]
fn parts_give_what_one_process_gives() {
    let (folder, file) = folder();
    let (whole, parts) = (folder.path().join("whole"), folder.path().join("parts"));
    assert_eq!(cluster(&[text(&file), "--out", text(&whole)]), None);
    let files: Vec<_> = ["2/3", "0/3", "1/3"].map(|share| part(&file, share, &parts, &[])).into();
    // the experiment's own file is not needed any more
    std::fs::remove_file(&file).unwrap();
    assert_eq!(merge(&files.iter().collect::<Vec<_>>(), &parts), None);
    for name in ["tiny.json", "tiny.html"] {
        let read = |folder: &Path| std::fs::read_to_string(folder.join(name)).unwrap();
        assert_eq!(read(&whole), read(&parts), "{name}");
    }
}

#[test]
fn parts_that_do_not_fit_together_are_refused_with_file_and_remedy() {
    let (folder, file) = folder();
    let out = folder.path().join("out");
    let (zero, one) = (part(&file, "0/2", &out, &[]), part(&file, "1/2", &out, &[]));
    let refused = |files: &[&PathBuf], named: &[&str]| {
        let error = merge(files, &out).expect_err_or(named);
        for name in named {
            assert!(error.contains(name), "{name}: {error}");
        }
    };
    refused(&[], &["no files", "after `merge`"]);
    refused(&[&zero], &["tiny: 2 of 4 runs are missing", "seed 2", "run the parts 1/2"]);
    refused(&[&zero, &one, &zero], &["tiny.0-of-2.json", "part 0/2", "stands in", "each part once"]);
    refused(&[&zero, &out.join("none.json")], &["none.json", "--point I/N"]);
    // changed: another seed count, another experiment of that name, another program, a file that was cut off
    let change = |from: &str, to: &str| {
        let changed = out.join("changed.json");
        let text = std::fs::read_to_string(&one).unwrap();
        assert!(text.contains(from), "{from}");
        std::fs::write(&changed, text.replacen(from, to, 1)).unwrap();
        changed
    };
    let seeds = change("\"seeds\":2", "\"seeds\":3");
    refused(&[&zero, &seeds], &["changed.json: seeds = 3", "tiny.0-of-2.json has 2", "parts of one sweep"]);
    let other = change("bytes = 100000", "bytes = 200000");
    refused(&[&zero, &other], &["changed.json: text", "the same experiment file"]);
    let version = change("\"version\":\"", "\"version\":\"9");
    refused(&[&zero, &version], &["changed.json: version = 9", "the same program"]);
    let quick = change("\"quick\":false", "\"quick\":true");
    refused(&[&zero, &quick], &["changed.json: quick = true", "parts of one sweep"]);
    let thirds = part(&file, "1/3", &out, &[]);
    refused(&[&zero, &thirds], &["tiny.1-of-3.json: share.of = 3", "and N"]);
    let seed = change("\"seed\":2", "\"seed\":7");
    refused(&[&zero, &seed], &["changed.json: runs.seed = 7", "run the part again"]);
    let again = change("\"seed\":2", "\"seed\":1");
    refused(&[&zero, &again], &["changed.json", "seed 1", "stands in", "tiny.0-of-2.json"]);
    let whole = std::fs::read_to_string(&one).unwrap();
    std::fs::write(&one, &whole[..whole.len() / 2]).unwrap();
    refused(&[&zero, &one], &["tiny.1-of-2.json", "no complete part", "run it again"]);
    for (args, named) in [
        (vec!["tiny.toml", "--point", "2/2"], "0/2 to 1/2"),
        (vec!["tiny.toml", "x.json"], "after `merge` only"),
        (vec!["merge", "x.json", "--quick"], "leave them out"),
    ] {
        let error = cluster(&args).expect("refused");
        assert!(error.contains(named), "{args:?}: {error}");
    }
}

trait Refused {
    fn expect_err_or(self, what: &[&str]) -> String;
}

impl Refused for Option<String> {
    fn expect_err_or(self, what: &[&str]) -> String {
        self.unwrap_or_else(|| panic!("not refused: {what:?}"))
    }
}

/// The command line that the Slurm script gives to the program.
fn slurm(vars: &[(&str, &str)], args: &[&str]) -> Result<Vec<String>, String> {
    let mut command = Command::new("bash");
    command.arg(SLURM).args(args).env("MRNIC", "printf %s\\n");
    for var in ["SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN", "EXPERIMENT", "OUT"] {
        command.env_remove(var);
    }
    let done = command.envs(vars.iter().copied()).output().unwrap();
    match done.status.success() {
        true => Ok(String::from_utf8(done.stdout).unwrap().lines().map(String::from).collect()),
        false => Err(String::from_utf8(done.stderr).unwrap()),
    }
}

#[test]
fn the_slurm_array_runs_every_part_once() {
    assert!(Command::new("bash").args(["-n", SLURM]).status().unwrap().success());
    let script = std::fs::read_to_string(SLURM).unwrap();
    let array = script.lines().find_map(|l| l.strip_prefix("#SBATCH --array=0-")).expect("an array from 0");
    assert_eq!(array, "15");
    let task = |id| [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", "16"), ("SLURM_ARRAY_TASK_MIN", "0")];
    assert_eq!(slurm(&task("3"), &[]).unwrap(), ["cluster", "all", "--point", "3/16", "--out", "build/parts"]);
    assert!(slurm(&[], &[]).unwrap_err().contains("SLURM_ARRAY_TASK_ID"));
    let from_one = [("SLURM_ARRAY_TASK_ID", "1"), ("SLURM_ARRAY_TASK_COUNT", "4"), ("SLURM_ARRAY_TASK_MIN", "1")];
    assert!(slurm(&from_one, &[]).unwrap_err().contains("counted from 0"));

    let (folder, file) = folder();
    let out = folder.path().join("parts");
    for id in ["0", "1"] {
        let vars =
            [("SLURM_ARRAY_TASK_ID", id), ("SLURM_ARRAY_TASK_COUNT", "2"), ("EXPERIMENT", text(&file)), ("OUT", text(&out))];
        let line = slurm(&vars, &["--seeds", "1"]).unwrap();
        assert_eq!(cluster(&line[1..].iter().map(String::as_str).collect::<Vec<_>>()), None, "{line:?}");
    }
    assert_eq!(merge(&[&out.join("tiny.0-of-2.json"), &out.join("tiny.1-of-2.json")], &out), None);
}

#[test]
fn the_kubernetes_job_runs_every_part_once() {
    let documents = YamlLoader::load_from_str(KUBERNETES).unwrap();
    let [job] = documents.as_slice() else { panic!("one document") };
    assert_eq!((job["apiVersion"].as_str(), job["kind"].as_str()), (Some("batch/v1"), Some("Job")));
    let spec = &job["spec"];
    assert_eq!(spec["completionMode"].as_str(), Some("Indexed"));
    let parts = spec["completions"].as_i64().unwrap();
    let pod = &spec["template"]["spec"];
    assert_eq!(pod["restartPolicy"].as_str(), Some("Never"));
    let container = &pod["containers"][0];
    // the index is a variable of the pod, and the results are on a volume of the Job
    let index = "metadata.annotations['batch.kubernetes.io/job-completion-index']";
    assert_eq!(container["env"][0]["name"].as_str(), Some("PART"));
    assert_eq!(container["env"][0]["valueFrom"]["fieldRef"]["fieldPath"].as_str(), Some(index));
    assert_eq!(container["volumeMounts"][0]["name"], pod["volumes"][0]["name"]);
    let args: Vec<&str> = container["args"].as_vec().unwrap().iter().filter_map(Yaml::as_str).collect();
    let mount = container["volumeMounts"][0]["mountPath"].as_str().unwrap();
    assert_eq!(args, ["cluster", "all", "--point", &format!("$(PART)/{parts}"), "--out", mount]);

    let (folder, file) = folder();
    let out = folder.path().join("parts");
    for i in 0..parts {
        let expand = |arg: &&str| match *arg {
            "all" => text(&file).to_string(),
            arg if arg == mount => text(&out).to_string(),
            arg => arg.replace("$(PART)", &i.to_string()),
        };
        let line: Vec<String> = args[1..].iter().map(expand).collect();
        assert_eq!(cluster(&line.iter().map(String::as_str).collect::<Vec<_>>()), None, "{line:?}");
    }
    let files: Vec<PathBuf> = (0..parts).map(|i| out.join(format!("tiny.{i}-of-{parts}.json"))).collect();
    assert_eq!(merge(&files.iter().collect::<Vec<_>>(), &out), None);
}
