//! rx_config against the tables written by software (docs/microarchitecture.md): each write once, in range only, path rows
//! with their start PPSNs; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, seed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_config::RxConfig;
use rx_support::{Bench, Rng};

fn small() -> BuildConfig {
    BuildConfig { conns: 2, qps: 4, keys: 8, ..build("sim").unwrap() }
}

fn bench() -> Bench {
    let mut b = Bench::new("rx_config", || RxConfig::new(&small()));
    b.reset();
    b
}

/// What the tables of the receive side are told.
#[derive(Debug, Clone, PartialEq)]
enum Strobe {
    Conn { index: u64, words: Vec<u32> },
    Qp { index: u64, words: Vec<u32>, start_msn: u64 },
    Key { index: u64, words: Vec<u32> },
    Access { index: u64, words: Vec<u32> },
    Path { row: u64, number: u64, start: u64 },
}

/// The reference: what a write causes; `starts` are the start PPSNs of the path rows (table 2, w2).
fn want(config: &BuildConfig, starts: &mut [u64], table: u64, index: u64, data: &[u32]) -> Vec<Strobe> {
    let words = data[..8].to_vec();
    match table {
        1 if index < config.conns as u64 => {
            let rows = (0..8).map(|number| index * 8 + number);
            let path = |row: u64| Strobe::Path { row, number: row % 8, start: starts[row as usize] };
            std::iter::once(Strobe::Conn { index, words }).chain(rows.map(path)).collect()
        }
        2 if index < 8 * config.conns as u64 => {
            starts[index as usize] = u64::from(data[2] & 0xFF_FFFF);
            Vec::new()
        }
        3 if index < config.qps as u64 => vec![Strobe::Qp { index, words, start_msn: u64::from(data[9] & 0xFF_FFFF) }],
        4 if index < config.keys as u64 => vec![Strobe::Key { index, words }],
        6 if index < config.qps as u64 => vec![Strobe::Access { index, words }],
        _ => Vec::new(),
    }
}

/// The strobes of this clock; only allowed during the step.
fn strobes(b: &mut Bench, out: &mut Vec<Strobe>) {
    let before = out.len();
    let (index, words) = (b.get("index"), b.get_words("words"));
    if b.get("conn_write") == 1 {
        out.push(Strobe::Conn { index, words: words.clone() });
    }
    if b.get("qp_write") == 1 {
        out.push(Strobe::Qp { index, words: words.clone(), start_msn: b.get("start_msn") });
    }
    if b.get("key_write") == 1 {
        out.push(Strobe::Key { index, words: words.clone() });
    }
    if b.get("access_write") == 1 {
        out.push(Strobe::Access { index, words });
    }
    if b.get("path_write") == 1 {
        out.push(Strobe::Path { row: b.get("path_row"), number: b.get("path_number"), start: b.get("path_start") });
    }
    assert!(out.len() == before || b.get("active") == 1, "a table is written outside the step");
}

/// One write by csr: broadcast, a wait, the step, the tables that clear. Returns the strobes.
fn apply(b: &mut Bench, rng: &mut Rng, table: u64, index: u64, data: &[u32], known: bool) -> Vec<Strobe> {
    let mut seen = Vec::new();
    let waits = [1, 3].contains(&table);
    for (name, value) in [("cfg_valid", 1), ("cfg_table", table), ("cfg_index", index)] {
        b.set(name, value);
    }
    b.set_words("cfg_data", data);
    b.eval();
    assert_eq!((b.get("cfg_busy"), b.get("active")), (0, 0));
    b.cycle();
    // the broadcast lasts one clock
    b.set("cfg_valid", 0);
    b.set_words("cfg_data", &[rng.next() as u32; 16]);
    b.set("cfg_index", rng.below(1 << 16));
    if !known {
        for _ in 0..rng.below(12) {
            assert_eq!((b.get("cfg_busy"), b.get("pending"), b.get("active")), (0, 0, 0), "table {table} is not ours");
            b.set("go", rng.below(2));
            b.cycle();
            strobes(b, &mut seen);
        }
        b.set("go", 0);
        return seen;
    }
    // what the clock before saw decides
    let mut pending = 0;
    for _ in 0..rng.below(6) {
        // the row of a queue pair or connection waits for the other blocks too
        let others = rng.below(2);
        b.set("others_busy", others);
        b.eval();
        assert_eq!((b.get("cfg_busy"), b.get("pending"), b.get("active")), (1, pending, 0), "waits for go");
        b.set("go", u64::from(pending == 0 && rng.chance(50)));
        b.cycle();
        b.set("go", 0);
        pending = u64::from(!waits || others == 0);
    }
    b.set("others_busy", u64::from(!waits && rng.chance(50)));
    if pending == 0 {
        b.cycle();
    }
    assert_eq!(b.get("pending"), 1, "a clock after the others are done");
    b.set("go", 1);
    b.cycle();
    b.set("go", 0);
    // whoever has to clear something after the first strobe takes its time
    let (mut clearing, mut clocks) = (rng.below(25), 0);
    let slow = clearing;
    let mut taken = 0;
    while b.get("cfg_busy") == 1 {
        assert_eq!((b.get("active"), b.get("pending")), (1, 0));
        strobes(b, &mut seen);
        assert_eq!(taken, 0, "nothing follows the clock that tells of the write");
        b.set("clearing", u64::from(clearing > 0));
        b.eval();
        if b.get("taken") == 1 {
            taken += 1;
            assert_eq!((b.get("taken_table"), b.get("index")), (table, index));
        }
        // go means nothing during the step
        b.set("go", rng.below(2));
        clearing = clearing.saturating_sub(1);
        b.cycle();
        clocks += 1;
        assert!(clocks < 80, "table {table} index {index} is never done");
    }
    b.set("go", 0);
    assert_eq!((taken, b.get("taken")), (1, 0), "told once");
    assert!(clocks > slow, "busy while clearing");
    assert_eq!(b.get("active"), 0);
    seen
}

#[test]
fn every_write_reaches_its_table_once() {
    let config = small();
    let mut rng = Rng(seed(3));
    let mut b = bench();
    let mut starts = vec![0u64; config.path_rows()];
    let limits =
        [0, config.conns as u64, config.path_rows() as u64, config.qps as u64, config.keys as u64, 4, config.qps as u64, 4];
    let (mut in_range, mut outside) = (0, 0);
    for round in 0..3000 {
        let table =
            if rng.chance(95) { pick(&mut rng, &[1, 2, 3, 4, 6]) } else { pick(&mut rng, &[0, 5, 7, 0x81, 0x86, 0xFF]) };
        let limit = limits[(table as usize).min(7)];
        let index = match rng.below(12) {
            0 => limit,
            1 => 0xFFFF,
            2 => limit + rng.below(300),
            3 => limit.saturating_sub(1),
            _ => rng.below(limit.max(1)),
        };
        let data: Vec<u32> = match rng.below(6) {
            0 => vec![0; 16],
            1 => vec![u32::MAX; 16],
            _ => (0..16).map(|_| rng.next() as u32).collect(),
        };
        if rng.below(300) == 0 {
            b.reset();
            starts.fill(0);
        }
        let known = [1, 2, 3, 4, 6].contains(&table);
        let want = want(&config, &mut starts, table, index, &data);
        let got = apply(&mut b, &mut rng, table, index, &data, known);
        assert_eq!(got, want, "round {round}: table {table} index {index}");
        in_range += u64::from(!want.is_empty());
        outside += u64::from(known && index >= limit);
    }
    assert!(in_range > 1000 && outside > 300, "{in_range} {outside}");
}

/// Reset while path rows are being written: nothing more is written, and the starts are zero again.
#[test]
fn reset_in_the_middle_of_a_step() {
    let mut rng = Rng(5);
    for clocks in 1..24 {
        let mut b = bench();
        let mut data = vec![0u32; 16];
        data[2] = 0xFF_FFFF;
        assert_eq!(apply(&mut b, &mut rng, 2, 15, &data, true), vec![]);
        b.set("cfg_valid", 1);
        b.set("cfg_table", 1);
        b.set("cfg_index", 1);
        b.cycle();
        b.set("cfg_valid", 0);
        b.set("go", 1);
        b.dut.cycles(clocks);
        b.reset();
        let mut seen = Vec::new();
        for _ in 0..40 {
            assert_eq!((b.get("cfg_busy"), b.get("active"), b.get("pending")), (0, 0, 0), "{clocks} clocks");
            strobes(&mut b, &mut seen);
            b.cycle();
        }
        assert_eq!(seen, vec![]);
        b.set("go", 0);
        let rows = apply(&mut b, &mut rng, 1, 1, &[1; 16], true);
        assert_eq!(rows.last(), Some(&Strobe::Path { row: 15, number: 7, start: 0 }));
    }
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(RxConfig::new(&small()), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_data, others_busy, go, clearing
    })
    .top("rx_config")
    .cycles(6000)
    .seed(3)
    .limit("cfg_table", 0..=7)
    .limit("cfg_index", 0..=17)
    .stimulus(|random, _, inputs| {
        // csr sends nothing while a write is not applied; now and then it does, which must not differ either
        let idle = inputs.sampled("cfg_busy") == 0;
        inputs.set("cfg_valid", random.chance(if idle { 0.3 } else { 0.002 }));
        inputs.set("go", random.chance(0.5));
        inputs.set("clearing", random.chance(0.3));
        inputs.set("others_busy", random.chance(0.3));
        if random.chance(0.4) {
            inputs.set("cfg_index", random.below(2));
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
