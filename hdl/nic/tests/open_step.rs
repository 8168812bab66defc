//! open_step: what a connection starts with (section 5, "Opening sets"), against the words of its CONN and PATH rows; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{of_window, rows, seed, Packed, WINDOWS};
use mrnic_difftest::difftest;
use mrnic_nic::tx::open_step::OpenStep;
use mrnic_nic::tx::rows::{ConnAck, ConnCfg, ConnTx, PathAck, PathCfg, PathTx};
use rx_support::{Bench, Rng};

fn bench(window: u64) -> Bench {
    let mut b = Bench::new("open_step", move || OpenStep::new(&of_window(window)));
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    b
}

fn write(b: &mut Bench, table: u64, index: u64, words: [u64; 3]) {
    b.set("cfg_valid", 1);
    b.set("cfg_table", table);
    b.set("cfg_index", index);
    for (i, word) in words.iter().enumerate() {
        b.set(&format!("cfg_word{i}"), *word);
    }
}

#[test]
fn a_path_row_is_stored_as_it_is_written() {
    let mut b = bench(256);
    write(&mut b, 2, 9, [0xC123_0001, 0x00FE_DCBA, 0]);
    b.eval();
    assert_eq!((b.get("put_path_cfg"), b.get("pending")), (1, 0));
    let want = Packed::of::<PathCfg>(&[("enable", 1), ("port", 0xC123), ("start_ppsn", 0xFE_DCBA)]);
    assert_eq!(b.get_words("new_path_cfg"), want.words());
    b.cycle();
    b.set("cfg_table", 3);
    b.eval();
    assert_eq!((b.get("put_path_cfg"), b.get("pending")), (0, 0));
}

#[test]
fn opening_sets() {
    for window in WINDOWS {
        opening_sets_with(window);
    }
}

/// The initial window is W at most, whatever was written.
fn opening_sets_with(most: u64) {
    let mut rng = Rng(seed(7));
    let mut b = bench(most);
    let mut up = 0;
    for round in 0..2000u64 {
        let conn = rng.below(1 << 16);
        let (valid, log2, mtu, retry) = (u64::from(rng.chance(80)), rng.below(4), rng.below(16), rng.below(16));
        let (window, hint, now) = (rng.below(512), rng.below(1 << 24), rng.below(1 << 32));
        write(&mut b, 1, conn, [valid | log2 << 4 | mtu << 8 | retry << 12 | rng.below(1 << 16) << 16, window, hint]);
        b.cycle();
        b.set("cfg_valid", 0);
        let (path, enable) = (rng.below(8), u64::from(rng.chance(80)));
        let (port, start) = (rng.below(1 << 16), rng.below(1 << 24));
        let cfg = Packed::of::<PathCfg>(&[("enable", enable), ("port", port), ("start_ppsn", start)]);
        b.set_words("path_cfg", cfg.words());
        b.set("path", path);
        b.set("now", now);
        b.eval();
        assert_eq!((b.get("pending"), b.get("busy"), b.get("conn")), (1, 1, conn), "round {round}");
        let state = u64::from(valid == 1 && enable == 1 && path < 1 << log2);
        up += state;
        let path_tx = [
            ("state", state),
            ("port", port),
            ("next_ppsn", start),
            ("cum", start),
            ("window", window.min(most)),
            ("t_base", now),
            ("last_send", now & 0xFFFF),
        ];
        let path_ack = [("mark", start), ("last_cut", now), ("reo_base", now)];
        let conn_cfg = [("open", valid), ("paths_log2", log2), ("mtu_log2", mtu), ("retry_cnt", retry)];
        for (name, want) in [
            ("new_path", Packed::of::<PathTx>(&path_tx)),
            ("new_row", Packed::of::<PathAck>(&path_ack)),
            ("new_conn_cfg", Packed::of::<ConnCfg>(&conn_cfg)),
            ("new_conn_tx", Packed::of::<ConnTx>(&[("token_time", now)])),
            ("new_conn_ack", Packed::of::<ConnAck>(&[("hint", hint)])),
        ] {
            assert_eq!(b.get_words(name), want.words(), "round {round}: {name} is not {want:?}");
        }
        b.set("opened", 1);
        b.cycle();
        b.set("opened", 0);
        b.dut.cycles(rng.below(3));
        b.eval();
        // section 10: after a closing until what waits of the connection is dropped
        assert_eq!((b.get("pending"), b.get("busy")), (0, 1 - valid), "round {round}");
        b.set("emptied", 1);
        b.cycle();
        b.set("emptied", 0);
        b.eval();
        assert_eq!(b.get("busy"), 0, "round {round}");
    }
    assert!(up > 200 && up < 1800, "{up}");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(OpenStep::new(&of_window(64)), clock: clock, inputs: {
        reset, cfg_valid, cfg_table, cfg_index, cfg_word0, cfg_word1, cfg_word2, opened, emptied, now, path
    })
    .input_as("path_cfg", |b| &mut b.path_cfg, rows::path_cfg)
    .top("open_step")
    .cycles(3000)
    .seed(7)
    .limit("cfg_table", 0..=3)
    .run();
    // the window is at most 64 and does not fill its field
    assert!(report.stuck().iter().all(|port| port.contains("new_path")), "{:?}", report.stuck());
}
