//! Speed of the verbs device: perftest's server and client on the golden model, two processes that meet in a folder of their own.
//!
//! In: perftest, where it is installed. Out: bandwidth and latency; the former beside copies in memory. Guarantees: several runs each, the
//! best is the figure and the spread is shown, since everything else that runs on the machine takes time from two processes and two NICs.
use super::{Figure, Spread};
use anyhow::{ensure, Context, Result};
use mrnic_host_driver::accept::figure;
use mrnic_host_driver::{launch, link};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const RUNS: usize = 7;
const LIMIT: Duration = Duration::from_secs(60);
const MIB: usize = 1 << 20;
/// Copies of 1 MiB in a run, and pieces that are handed over.
const COPIES: usize = 500;
const PIECE: usize = 64 << 10;
/// perftest counts megabytes of 2^20 bytes.
const GB_PER_MIB: f64 = MIB as f64 / 1e9;
/// Columns of perftest's results: bytes, iterations, peak, average; bytes, iterations, minimum, maximum, median.
const AVERAGE: usize = 3;
const MEDIAN: usize = 4;

/// Where two processes run.
#[derive(Clone, Copy)]
enum Processors {
    Any,
    /// Server and client on the first one.
    One,
}

/// Server and client of a program, once; the value in a column of the client's result.
fn once(library: &Path, line: &[&str], processors: Processors, column: usize) -> Result<f64> {
    let session = tempfile::tempdir().context("a folder for the programs to meet in")?;
    let port = launch::free_port()?.to_string();
    let command = |last: Option<&str>| -> Result<Command> {
        let pinned: &[&str] = match processors {
            Processors::Any => &[],
            Processors::One => &["taskset", "-c", "0"],
        };
        let at_port = ["-p", port.as_str()];
        let words = pinned.iter().chain(line).chain(&at_port).copied().chain(last);
        let line: Vec<String> = words.map(str::to_owned).collect();
        let mut command = launch::command(library, &line)?;
        command.env("MRNIC_SESSION", session.path()).env("MRNIC_VERBS", "model").env_remove("MRNIC_SCENARIO");
        Ok(command)
    };
    let (server, client) = launch::pair_within(command(None)?, command(Some("127.0.0.1"))?, false, Some(LIMIT))?;
    ensure!(server.status.success() && client.status.success(), "{line:?} failed:\n{}{}", server.output, client.output);
    let value = figure::rows(&client.output).first().and_then(|row| row.get(column).copied());
    value.with_context(|| format!("{line:?} printed no result:\n{}", client.output))
}

/// All runs, sorted from the best; `best` says which of two values is better.
fn runs(library: &Path, line: &[&str], processors: Processors, column: usize) -> Result<Spread> {
    let values = (0..RUNS).map(|_| once(library, line, processors, column)).collect::<Result<Vec<_>>>()?;
    Spread::of(values).context("no run")
}

/// Gigabytes a second of a copy of 1 MiB by one thread: all of it stays in the cache of its processor, nothing is told to anybody.
fn plain_copy() -> Result<Spread> {
    let (from, mut to) = (vec![0xa5u8; MIB], vec![0u8; MIB]);
    let run = || {
        let start = Instant::now();
        for _ in 0..COPIES {
            to.copy_from_slice(std::hint::black_box(&from));
            std::hint::black_box(&to);
        }
        rate(start)
    };
    Spread::of(std::iter::repeat_with(run).take(RUNS)).context("no run")
}

/// Gigabytes a second of 1 MiB from one thread to another through shared pieces of memory, copied in and copied out, as programs on one machine do
/// that have no NIC.
fn shared_copy() -> Result<Spread> {
    let run = || {
        let pieces: [_; 4] = std::array::from_fn(|_| Mutex::new(vec![0u8; PIECE]));
        let (written, taken) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let total = COPIES * MIB / PIECE;
        let wait = |until: &dyn Fn() -> bool| {
            while !until() {
                std::thread::yield_now();
            }
        };
        let locked = |n: usize| pieces[n % pieces.len()].lock().unwrap_or_else(PoisonError::into_inner);
        let start = Instant::now();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let from = vec![0xa5u8; MIB];
                for n in 0..total {
                    wait(&|| n < taken.load(Ordering::Acquire) + pieces.len());
                    let at = n * PIECE % MIB;
                    locked(n).copy_from_slice(&from[at..at + PIECE]);
                    written.store(n + 1, Ordering::Release);
                }
            });
            let mut to = vec![0u8; MIB];
            for n in 0..total {
                wait(&|| n < written.load(Ordering::Acquire));
                let at = n * PIECE % MIB;
                to[at..at + PIECE].copy_from_slice(&locked(n));
                taken.store(n + 1, Ordering::Release);
            }
            std::hint::black_box(&to);
        });
        rate(start)
    };
    Spread::of(std::iter::repeat_with(run).take(RUNS)).context("no run")
}

fn rate(start: Instant) -> f64 {
    (COPIES * MIB) as f64 / 1e9 / start.elapsed().as_secs_f64()
}

fn scaled(s: Spread, by: f64) -> Spread {
    let Spread { values, min, median, p99, max, mean } = s;
    Spread { values, min: min * by, median: median * by, p99: p99 * by, max: max * by, mean: mean * by }
}

/// The figures; the library is built into `out`.
pub fn all(out: &Path) -> Result<Vec<Figure>> {
    if Command::new("ib_write_bw").arg("--version").output().is_err() {
        eprintln!("not measured, as perftest is not installed: scripts/setup.sh --verbs (apt-get install perftest)");
        return Ok(Vec::new());
    }
    let library = out.join("verbs");
    link::build(&library)?;
    let bandwidth = |size: &str, count: &str| -> Result<Spread> {
        let line = ["ib_write_bw", "-s", size, "-n", count];
        Ok(scaled(runs(&library, &line, Processors::Any, AVERAGE)?, GB_PER_MIB))
    };
    let latency = |program: &str, processors| runs(&library, &[program, "-s", "8", "-n", "20000"], processors, MEDIAN);
    let (small, large) = (bandwidth("65536", "10000")?, bandwidth("1048576", "2000")?);
    let (copy, plain) = (shared_copy()?, plain_copy()?);
    let figure = |name: &str, value: f64, unit, spread| Figure::new(name, value, unit).spread(spread);
    let mut figures = vec![
        figure("verbs on the model, ib_write_bw, 64 KiB (best run)", small.max, "GB/s", small).at_least(1.5),
        figure("verbs on the model, ib_write_bw, 1 MiB (best run)", large.max, "GB/s", large),
        figure("1 MiB through shared memory, copied in and out (best run)", copy.max, "GB/s", copy),
        Figure::new("shared memory / ib_write_bw, 1 MiB (best runs)", copy.max / large.max, "times").at_most(3.0),
        figure("copy of 1 MiB by one thread, in its cache (best run)", plain.max, "GB/s", plain),
    ];
    for (program, processors, name, target) in [
        ("ib_write_lat", Processors::Any, "verbs on the model, ib_write_lat, 8 bytes, median of the best run", Some(8.0)),
        ("ib_write_lat", Processors::One, "the same, both programs on one processor", None),
        ("ib_send_lat", Processors::Any, "verbs on the model, ib_send_lat, 8 bytes, median of the best run", None),
    ] {
        let spread = latency(program, processors)?;
        let one = figure(name, spread.min, "us", spread);
        figures.push(match target {
            Some(target) => one.at_most(target),
            None => one,
        });
    }
    Ok(figures)
}
