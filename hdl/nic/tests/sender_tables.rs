//! sender_tables against arrays: what was written in the same and in earlier clocks is read (of the two cfg tables: in earlier
//! clocks), all is zero after reset; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::rows::{ConnAck, ConnCfg, ConnTx, PathAck, PathCfg, PathTx};
use mrnic_nic::tx::sender_tables::SenderTables;
use rx_support::{Bench, Rng};

const CONNS: u64 = 2;

fn small() -> BuildConfig {
    BuildConfig { conns: CONNS as usize, ..build("sim").unwrap() }
}

/// The tables, one entry a row.
struct Tables {
    path_tx: Vec<Packed>,
    path_ack: Vec<Packed>,
    path_cfg: Vec<Packed>,
    conn_cfg: Vec<Packed>,
    conn_tx: Vec<Packed>,
    conn_ack: Vec<Packed>,
}

impl Tables {
    fn cleared() -> Tables {
        let (conns, rows) = (CONNS as usize, 8 * CONNS as usize);
        Tables {
            path_tx: vec![Packed::zero::<PathTx>(); rows],
            path_ack: vec![Packed::zero::<PathAck>(); rows],
            path_cfg: vec![Packed::zero::<PathCfg>(); rows],
            conn_cfg: vec![Packed::zero::<ConnCfg>(); conns],
            conn_tx: vec![Packed::zero::<ConnTx>(); conns],
            conn_ack: vec![Packed::zero::<ConnAck>(); conns],
        }
    }

    /// What the outputs show for a connection and a path.
    fn read(&self, conn: usize, path: usize, select: usize) -> Vec<(String, Packed)> {
        let row = 8 * conn + path;
        let mut all: Vec<_> = (0..8).map(|p| (format!("path_tx_{p}"), self.path_tx[8 * conn + p].clone())).collect();
        all.extend([
            ("here".into(), self.path_tx[8 * conn + select].clone()),
            ("path_ack".into(), self.path_ack[row].clone()),
            ("path_cfg".into(), self.path_cfg[row].clone()),
            ("conn_cfg".into(), self.conn_cfg[conn].clone()),
            ("conn_tx".into(), self.conn_tx[conn].clone()),
            ("conn_ack".into(), self.conn_ack[conn].clone()),
        ]);
        all
    }
}

fn put(b: &mut Bench, rng: &mut Rng, name: &str, percent: u64, new: &Packed, row: &mut Packed) -> bool {
    let writes = rng.chance(percent);
    b.set(&format!("put_{name}"), writes.into());
    b.set_words(&format!("new_{name}"), new.words());
    if writes {
        *row = new.clone();
    }
    writes
}

fn bench() -> Bench {
    let mut b = Bench::new("sender_tables", || SenderTables::new(&small()));
    b.reset();
    b
}

fn quiet(b: &mut Bench) {
    for name in ["path_tx", "path_ack", "path_cfg", "conn_cfg", "conn_tx", "conn_ack"] {
        b.set(&format!("put_{name}"), 0);
    }
}

#[test]
fn rows_are_those_written_last() {
    let mut rng = Rng(seed(4));
    let mut b = bench();
    let mut t = Tables::cleared();
    let (mut conn, mut path) = (0u64, 0u64);
    let (mut write_conn, mut write_path) = (0u64, 0u64);
    let (mut tx_rests, mut ack_rests) = (false, false);
    let (mut resets, mut late) = (0, 0);
    for clock in 0..5000 {
        if rng.below(700) == 0 {
            // in the middle of the work, sometimes again while the walk runs
            quiet(&mut b);
            b.set("reset", 1);
            b.cycle();
            b.set("reset", 0);
            b.dut.cycles(rng.below(40));
            b.reset();
            t = Tables::cleared();
            resets += 1;
            b.set("conn", conn);
            b.set("path", path);
            b.cycle();
            (tx_rests, ack_rests) = (false, false);
        }
        let (select, other) = (rng.below(8), rng.below(8));
        (conn, path) = (rng.below(CONNS), rng.below(8));
        b.set("conn", conn);
        b.set("path", path);
        // a write of the same clock is not yet seen in the tables that only software writes
        let before = t.read(conn as usize, path as usize, select as usize);
        // mostly where it is read, and again and again
        b.set("same_conn_before", (conn == write_conn).into());
        b.set("same_path_before", (path == write_path).into());
        late += u64::from(tx_rests && ack_rests && (conn, path) == (write_conn, write_path));
        write_conn = if rng.chance(60) { conn } else { rng.below(CONNS) };
        write_path = if rng.chance(60) { path } else { rng.below(8) };
        b.set("write_conn", write_conn);
        b.set("write_path", write_path);
        b.set("same_conn", (conn == write_conn).into());
        b.set("same_path", (path == write_path).into());
        let (at, row) = (write_conn as usize, (8 * write_conn + write_path) as usize);
        let percent = pick(&mut rng, &[0, 30, 100]);
        // a row of a path in every second clock at most
        let spaced = |rests: bool| if rests { 0 } else { percent };
        let (tx, ack) = (Packed::random::<PathTx>(&mut Rng(clock + 1)), Packed::random::<PathAck>(&mut Rng(clock + 2)));
        tx_rests = put(&mut b, &mut rng, "path_tx", spaced(tx_rests), &tx, &mut t.path_tx[row]);
        ack_rests = put(&mut b, &mut rng, "path_ack", spaced(ack_rests), &ack, &mut t.path_ack[row]);
        put(&mut b, &mut rng, "conn_cfg", percent, &Packed::random::<ConnCfg>(&mut Rng(clock + 3)), &mut t.conn_cfg[at]);
        put(&mut b, &mut rng, "conn_tx", percent, &Packed::random::<ConnTx>(&mut Rng(clock + 4)), &mut t.conn_tx[at]);
        put(&mut b, &mut rng, "conn_ack", percent, &Packed::random::<ConnAck>(&mut Rng(clock + 5)), &mut t.conn_ack[at]);
        let cfg_row = if rng.chance(60) { 8 * conn + path } else { rng.below(8 * CONNS) };
        b.set("path_cfg_row", cfg_row);
        let cfg = Packed::random::<PathCfg>(&mut Rng(clock + 6));
        put(&mut b, &mut rng, "path_cfg", percent, &cfg, &mut t.path_cfg[cfg_row as usize]);
        let mut want = t.read(conn as usize, path as usize, select as usize);
        for (new, old) in want.iter_mut().zip(before).filter(|(new, _)| new.0.ends_with("_cfg")) {
            *new = old;
        }
        b.cycle();
        b.set("select", select);
        b.set("other", other);
        b.eval();
        assert_eq!(b.get_words("there"), t.path_tx[(8 * conn + other) as usize].words(), "clock {clock}: path {other}");
        for (name, packed) in want {
            assert_eq!(
                b.get_words(&name),
                packed.words(),
                "clock {clock}: {name} of connection {conn} path {path}: want {packed:?}"
            );
        }
    }
    assert!(resets > 1, "{resets}");
    assert!(late > 50, "{late}");
}

/// The walk offers every address of the words' tables once, two a path row.
#[test]
fn the_walk_names_every_address_once() {
    let mut b = bench();
    b.set("reset", 1);
    b.dut.cycles(2);
    b.set("reset", 0);
    let mut seen = Vec::new();
    for _ in 0..200 {
        b.eval();
        if b.get("clear") == 1 {
            assert_eq!(b.get("init_done"), 0);
            seen.push(b.get("clear_address"));
        }
        b.cycle();
    }
    assert_eq!(seen, (0..16 * CONNS).collect::<Vec<_>>());
    assert_eq!((b.get("init_done"), b.get("clear")), (1, 0));
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(SenderTables::new(&small()), clock: clock, inputs: {
        reset, conn, path, select, other, write_conn, same_conn, same_conn_before, same_path, same_path_before, write_path, put_path_tx, put_path_ack, put_conn_cfg, put_conn_tx, put_conn_ack,
        put_path_cfg, path_cfg_row
    })
    .input_as("new_path_tx", |b| &mut b.new_path_tx, rows::path_tx)
    .input_as("new_path_ack", |b| &mut b.new_path_ack, rows::path_ack)
    .input_as("new_conn_cfg", |b| &mut b.new_conn_cfg, rows::conn_cfg)
    .input_as("new_conn_tx", |b| &mut b.new_conn_tx, rows::conn_tx)
    .input_as("new_conn_ack", |b| &mut b.new_conn_ack, rows::conn_ack)
    .input_as("new_path_cfg", |b| &mut b.new_path_cfg, rows::path_cfg)
    .top("sender_tables")
    .cycles(1200)
    .seed(4)
    .limit("conn", 0..=CONNS - 1)
    .limit("write_conn", 0..=CONNS - 1)
    .limit("path_cfg_row", 0..=8 * CONNS - 1)
    .stimulus(|random, _, inputs| {
        if random.chance(0.5) {
            let (conn, path) = (inputs.previous("write_conn"), inputs.previous("write_path"));
            inputs.set("conn", conn);
            inputs.set("path", path);
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
