//! retire: simulation = Verilog, and a list of expected packets as reference.
mod tx_support;
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::tx::retire::Retire;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

fn small(ret: usize) -> BuildConfig {
    let sim = build("sim").unwrap();
    BuildConfig { conns: 4, fifo: mrnic_nic::config::FifoDepths { ret, ..sim.fifo }, ..sim }
}

#[test]
fn simulation_equals_verilog() {
    difftest!(Retire::new(&small(2)), clock: clock, inputs: {
        reset, acked_valid, acked_conn, acked_path, acked_base_ppsn, acked_mask, free_ready, free_rsp_valid, free_rsp_qp,
        free_rsp_msn, free_rsp_bytes, free_rsp_kind, ret_ready, resp_ready, rb_addr, open_valid, open_conn
    })
    .top("retire")
    .cycles(4000)
    .seed(1)
    .reset_chance(0.0005)
    .limit("acked_conn", 0..=3)
    .limit("rb_addr", 0..=3)
    .limit("open_conn", 0..=3)
    .source("acked_valid", "acked_ready", &["acked_conn", "acked_path", "acked_base_ppsn", "acked_mask"])
    .sink("free_ready")
    .sink("ret_ready")
    .sink("resp_ready")
    .stimulus(|random, cycle, inputs| {
        // an answer two clocks after a request was taken; sometimes one that nobody asked for
        let taken = inputs.sampled("free_valid") & inputs.previous("free_ready");
        inputs.set("free_rsp_valid", u32::from(taken == 1 || random.chance(0.01)));
        if random.chance(0.98) {
            inputs.set("open_valid", 0u32);
        }
        if cycle % 4 != 0 {
            inputs.hold("rb_addr");
        }
    })
    .run();
}

/// Whether it was one of a message (0), of a response or an ERROR_RESP.
fn kind_of(row: u64, ppsn: u64) -> u64 {
    carried(row, ppsn).1 % 3
}

/// What the reference packet of a row and PPSN carried.
fn carried(row: u64, ppsn: u64) -> (u64, u64, u64) {
    let h = (row << 24 | ppsn).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (h >> 48, h >> 20 & 0xff_ffff, h >> 5 & 0xfff)
}

struct Outcome {
    clocks: u64,
    packets: u64,
}

/// Feeds words, answers like retransmit_queue (a request every second clock, the answer two clocks later) and compares everything that leaves.
fn run(words: &[(u64, u64, u64, u64)], config: &BuildConfig, busy: f64, seed: u64) -> Outcome {
    let mut bench = Bench::new(&Retire::new(config), "retire");
    bench.until("init_done", 100);
    let mut rng = StdRng::seed_from_u64(seed);
    let expected: VecDeque<(u64, u64, u64)> = words
        .iter()
        .flat_map(|&(conn, path, base, mask)| {
            (0..64).filter(move |i| mask >> i & 1 == 1).map(move |i| (conn, path, (base + i) & 0xff_ffff))
        })
        .collect();
    let (mut to_free, mut to_ret, mut to_commit) = (expected.clone(), expected.clone(), expected.clone());
    let mut retired = [0u64; 4];
    let mut answer: VecDeque<Option<(u64, u64)>> = VecDeque::from([None]);
    let mut since_request = 9;
    let mut sent = 0;
    let mut woken: Vec<bool> = vec![true; 4];
    let mut clocks = 0;
    let mut read: Option<(usize, u64)> = None;
    while !to_ret.is_empty() || sent < words.len() {
        clocks += 1;
        assert!(clocks < 200_000, "stalled with {} packets to go", to_ret.len());
        let room = bench.high("acked_room4");
        bench.set("acked_valid", 0);
        if sent < words.len() && (room || rng.random_bool(0.5)) {
            let (conn, path, base, mask) = words[sent];
            bench.set("acked_valid", 1);
            bench.set("acked_conn", conn);
            bench.set("acked_path", path);
            bench.set("acked_base_ppsn", base);
            bench.set("acked_mask", mask);
            if room {
                assert!(bench.high("acked_ready"));
            }
            sent += usize::from(bench.high("acked_ready"));
        }
        let answered = answer.pop_front().unwrap();
        bench.set("free_rsp_valid", answered.is_some().into());
        if let Some((row, ppsn)) = answered {
            let (qp, msn, bytes) = carried(row, ppsn);
            bench.set("free_rsp_qp", qp);
            bench.set("free_rsp_msn", msn);
            bench.set("free_rsp_bytes", bytes);
            bench.set("free_rsp_kind", kind_of(row, ppsn));
        }
        let free_ready = since_request >= 1 && !rng.random_bool(busy);
        bench.set("free_ready", free_ready.into());
        since_request += 1;
        if free_ready && bench.high("free_valid") {
            let (conn, path, ppsn) = to_free.pop_front().expect("a request too many");
            assert_eq!((bench.get("free_row"), bench.get("free_ppsn")), (conn * 8 + path, ppsn));
            answer.push_back(Some((conn * 8 + path, ppsn)));
            since_request = 0;
        } else {
            answer.push_back(None);
        }
        let ret_ready = !rng.random_bool(busy);
        bench.set("ret_ready", ret_ready.into());
        let resp_ready = !rng.random_bool(busy);
        bench.set("resp_ready", resp_ready.into());
        let (ret, resp) = (bench.high("ret_valid"), bench.high("resp_valid"));
        assert!(!(ret && resp));
        if ret && ret_ready || resp && resp_ready {
            let (conn, path, ppsn) = to_ret.pop_front().expect("a packet too many");
            let (qp, msn, bytes) = carried(conn * 8 + path, ppsn);
            let kind = kind_of(conn * 8 + path, ppsn);
            assert_eq!(resp, kind != 0, "a response goes to request_places, a message to completion");
            if resp {
                let got = ["error", "conn", "qp", "msn"].map(|name| bench.get(&format!("resp_{name}")));
                assert_eq!(got, [u64::from(kind == 2), conn, qp, msn]);
            } else {
                assert_eq!((bench.get("ret_qp"), bench.get("ret_msn"), bench.get("ret_bytes")), (qp, msn, bytes));
            }
        }
        if bench.high("commit_valid") {
            let (conn, path, ppsn) = to_commit.pop_front().expect("a record too many");
            assert_eq!((bench.get("commit_conn"), bench.get("commit_home"), bench.get("commit_ppsn")), (conn, path, ppsn));
            retired[conn as usize] = (retired[conn as usize] + carried(conn * 8 + path, ppsn).2) & 0xffff_ffff;
            woken[conn as usize] = bench.high("wake_b_valid") && bench.get("wake_b_conn") == conn;
        } else {
            // retired_bytes is there from the clock after the record
            if let Some((conn, value)) = read {
                assert_eq!(bench.get("rb_data"), value, "retired bytes of {conn}");
            }
        }
        let conn = rng.random_range(0..4);
        bench.set("rb_addr", conn as u64);
        read = (!bench.high("commit_valid")).then_some((conn, retired[conn]));
        bench.clock();
    }
    for _ in 0..6 {
        if bench.high("commit_valid") {
            woken[bench.get("commit_conn") as usize] = bench.high("wake_b_valid");
        }
        bench.set("free_rsp_valid", 0);
        bench.clock();
    }
    assert!(bench.high("idle"));
    assert!(woken.iter().all(|&w| w), "the last retired packet of a connection wakes it");
    // an opened connection starts at zero, the others keep their count
    bench.set("open_conn", 1);
    bench.set("open_valid", 1);
    bench.clock();
    bench.set("open_valid", 0);
    bench.clock();
    bench.clock();
    for conn in 0..4 {
        bench.set("rb_addr", conn);
        bench.clock();
        assert_eq!(bench.get("rb_data"), if conn == 1 { 0 } else { retired[conn as usize] });
    }
    Outcome { clocks, packets: expected.len() as u64 }
}

#[test]
fn every_bit_is_retired_once_in_order() {
    for (seed, ret, busy) in [(1, 8, 0.0), (2, 1, 0.5), (3, 2, 0.8), (4, 8, 0.3)] {
        let mut rng = StdRng::seed_from_u64(seed);
        let words: Vec<_> = (0..60)
            .map(|i| {
                let mask = match i % 4 {
                    0 => 0,
                    1 => u64::MAX,
                    2 => 1 << rng.random_range(0..64),
                    _ => rng.random::<u64>() & rng.random::<u64>(),
                };
                let base = if i % 5 == 0 { 0xff_ffe0 } else { rng.random_range(0..1 << 24) };
                (rng.random_range(0..4u64), rng.random_range(0..8u64), base, mask)
            })
            .collect();
        run(&words, &small(ret), busy, seed);
    }
}

#[test]
fn at_most_four_clocks_a_packet() {
    let words: Vec<_> = (0..16).map(|i| (i % 4, 0, i * 64, u64::MAX)).collect();
    let outcome = run(&words, &small(8), 0.0, 9);
    assert!(outcome.clocks <= 4 * outcome.packets, "{} clocks for {} packets", outcome.clocks, outcome.packets);
}
