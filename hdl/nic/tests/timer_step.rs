//! timer_step against section 8 of docs/protocol.md: the rows of the path after L3, L4, L5, PROBE; simulation = Verilog.
mod block_support;
mod rx_support;
mod timer_support;

use block_support::{rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::rows::{PathAck, PathTx};
use mrnic_nic::tx::timer_step::TimerStep;
use rx_support::{Bench, Rng};
use timer_support::{active, case, looks, ports, reference, DOWN, UP};

/// The rows after an action; `lost_words` is what the step on the words has counted.
fn after(action: u64, now: u64, lost_words: u64, path: &mut Packed, row: &mut Packed) {
    let next = path.get("next_ppsn");
    // L4
    if (2..9).contains(&action) {
        if path.get("state") == DOWN && path.get("pipe") > 0 {
            let tries = row.get("tries") + 1;
            row.set("tries", tries);
        }
        let outstanding = next != path.get("cum");
        let held = path.get("state") == DOWN && outstanding;
        let backoff = if held { row.get("backoff") } else { (row.get("backoff") + 1).min(15) };
        path.set("t_base", now);
        row.set("backoff", backoff);
        if outstanding || backoff >= 2 {
            path.set("window", 1);
            row.set("credit", 0);
        }
    }
    match action {
        0 | 6 => return,
        3 | 8 | 9 => drop(path.set("state", 2)),
        4 => {
            path.set("state", 3);
            row.set("clean", 0).set("tries", 0);
        }
        _ => {}
    }
    if path.get("state") != UP {
        path.set("pipe", 0).set("heard", 0);
    }
    // L5
    if action == 3 || action == 7 {
        path.set("port", 0xC000 | (path.get("port") + 0x0537) & 0x3FFF);
        row.set("floor_active", 1).set("floor_ppsn", next).set("floor_time", now);
    }
    // PROBE
    path.set("lost_words", lost_words).set("last_send", now & 0xFFFF);
    row.set("mark", next).set("gen_open", 1).set("probe_pending", 1).set("probe_ts", now & 0xFFFF).set("probe_ppsn", next);
}

#[test]
fn rows_after_a_timer_are_those_of_section_8() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("timer_step", TimerStep::new);
    let mut counts = [0; 11];
    for round in 0..12_000 {
        let c = case(&mut rng);
        let ports = ports(&c, &mut rng);
        for (name, value) in &ports {
            b.set_words(name, value);
        }
        b.dut.cycles(7);
        // the words are known later
        let lost_words = rng.below(16);
        b.set("lost_words", lost_words);
        b.eval();
        let (action, then) = reference(&c);
        assert_eq!(b.get("action"), action, "round {round}: {c:?}");
        let mut path = Packed::from_words::<PathTx>(&ports[0].1);
        let mut row = Packed::from_words::<PathAck>(&ports[1].1);
        after(action, c.now as u64 & 0xFFFF_FFFF, lost_words, &mut path, &mut row);
        assert_eq!(Packed::from_words::<PathTx>(&b.get_words("new_path")), path, "round {round}: action {action} {c:?}");
        assert_eq!(Packed::from_words::<PathAck>(&b.get_words("new_row")), row, "round {round}: action {action} {c:?}");
        let got = ["all_lost", "goes_down", "gives_up", "active"].map(|name| b.get(name) == 1);
        let want = [then.state != UP && action != 0 && action != 6, action == 4, action == 6, active(&then)];
        assert_eq!(got, want, "round {round}: action {action} {c:?}");
        counts[action as usize] += 1;
    }
    assert!(counts.iter().all(|n| *n > 40), "{counts:?}");
}

#[test]
fn simulation_equals_verilog() {
    let report =
        difftest!(TimerStep::new(), clock: clock, inputs: { now, rto_min, other_up, stranded, watching, alive, lost_words })
            .input_as("path", |b| &mut b.path, rows::path_tx)
            .input_as("row", |b| &mut b.row, rows::path_ack)
            .input_as("cfg", |b| &mut b.cfg, rows::conn_cfg)
            .input_as("conn", |b| &mut b.conn, rows::conn_ack)
            .top("timer_step")
            .cycles(2000)
            .seed(1)
            .stimulus(looks(9))
            .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
