//! Blocks of the transmit core: rust-hdl simulation = Verilog, and small references.
// The list of the core's inputs is longer than the macro's default depth.
#![recursion_limit = "256"]
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig, FifoDepths};
use mrnic_nic::tx::core::TxCore;
use mrnic_nic::tx::ring_mask::RingMask;
use rust_hdl_core::prelude::*;

fn small() -> BuildConfig {
    let sim = build("sim").unwrap();
    BuildConfig {
        conns: 2,
        qps: 4,
        msgs_per_stream: 4,
        conn_fifo: 4,
        pool_packets: 64,
        sends: true,
        fifo: FifoDepths { acked: 4, ..sim.fifo },
        ..sim
    }
}

fn of_window(bits: u64) -> BuildConfig {
    BuildConfig { window_bits: bits as usize, ..small() }
}

#[test]
fn ring_mask_equals_verilog() {
    for bits in [256, 128, 64] {
        difftest!(RingMask::new(&of_window(bits)), clock: none, inputs: { cum, word, below })
            .top("ring_mask")
            .cycles(4000)
            .seed(1)
            .limit("below", 0..=bits)
            .run();
    }
}

/// Every offset from cum is found in the word and at the bit of its PPSN.
#[test]
fn ring_mask_is_right() {
    for window in [256, 128, 64] {
        ring_mask_of(window);
    }
}

fn ring_mask_of(window: u64) {
    let mut uut = RingMask::new(&of_window(window));
    uut.connect_all();
    for cum in (0..256u64).step_by(7).chain([0, 63, 64, 65, 127, 128, 191, 192, 255]) {
        let edges = [0u64, 1, 2, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 254, 255, 256];
        for below in edges.into_iter().filter(|below| *below <= window) {
            for word in 0..window / 64 {
                uut.cum.next = cum.into();
                uut.below.next = below.into();
                uut.word.next = word.into();
                assert!(simulate(&mut uut, 20));
                for bit in 0..64u64 {
                    let offset = (word * 64 + bit + 256 - cum) % window;
                    assert_eq!(
                        uut.mask.val().get_bit(bit as usize),
                        offset < below,
                        "window {window} cum {cum} below {below} word {word} bit {bit}"
                    );
                }
            }
        }
    }
}

/// The whole core: connections are opened, messages and acknowledgments come, some of them sensible.
#[test]
fn core_equals_verilog() {
    let config = BuildConfig { reads: true, responses: 2, ..small() };
    difftest!(TxCore::new(&config), clock: clock, inputs: {
        reset, fault, now, rto_min, cfg_valid, cfg_table, cfg_index, cfg_data, msg_valid, msg_conn, msg_qp, msg_msn, msg_npkts,
        msg_length, rel_conn_ready, ack_valid, ack_conn, ack_home, ack_cum, ack_ts_echo, ack_service, ack_ce, ack_dup,
        ack_flags, ack_rate, ack_mak_qp, ack_mak_code, ack_mak_msn, ack_sav, desc_ready, ret_ready, resp_ready, nak_ready, cerr_ready,
        qperr_data, withdraw_valid, withdraw_qp, withdraw_msn, withdraw_code, withdraw_began, over_ready, over_done,
        over_failed, over_head, again_ready, completion_busy, drain_valid, drain_qp, rsp_valid, rsp_conn, rsp_error, rsp_code,
        rsp_qp, rsp_msn, rsp_npkts, rsp_length, rsp_peer_qpn, watch_awaited, watch_alive
    })
    .top("tx_core")
    .cycles(700)
    .seed(6)
    .reset_chance(0.0)
    .limit("fault", 0..=0)
    .limit("msg_conn", 0..=1)
    .limit("msg_npkts", 1..=12)
    .limit("ack_conn", 0..=1)
    .limit("rsp_conn", 0..=1)
    .limit("rsp_npkts", 1..=4)
    .limit("ack_cum", 0..=40)
    .limit("ack_mak_code", 0..=7)
    .source("msg_valid", "msg_ready", &["msg_conn", "msg_qp", "msg_msn", "msg_npkts", "msg_length"])
    .source(
        "ack_valid",
        "ack_ready",
        &[
            "ack_conn",
            "ack_home",
            "ack_cum",
            "ack_ts_echo",
            "ack_service",
            "ack_ce",
            "ack_dup",
            "ack_flags",
            "ack_rate",
            "ack_mak_qp",
            "ack_mak_code",
            "ack_mak_msn",
            "ack_sav",
        ],
    )
    .source(
        "rsp_valid",
        "rsp_ready",
        &["rsp_conn", "rsp_error", "rsp_code", "rsp_qp", "rsp_msn", "rsp_npkts", "rsp_length", "rsp_peer_qpn"],
    )
    .sink("rel_conn_ready")
    .sink("desc_ready")
    .sink("ret_ready")
    .sink("resp_ready")
    .sink("nak_ready")
    .sink("cerr_ready")
    .stimulus(|random, cycle, inputs| {
        inputs.set("now", (cycle * 2) as u32);
        inputs.set("rto_min", 100u32);
        inputs.set("cfg_valid", 0u32);
        if cycle < 100 {
            inputs.set("msg_valid", 0u32);
            inputs.set("ack_valid", 0u32);
        }
        if cycle < 100 || random.chance(0.9) {
            inputs.set("rsp_valid", 0u32);
        }
        // 16 paths, then the two connections; 4 paths each, MTU 256, window 64, one retry
        if (100..116).contains(&cycle) {
            inputs.set("cfg_valid", 1u32);
            inputs.set("cfg_table", 2u32);
            inputs.set("cfg_index", (cycle - 100) as u32);
            inputs.set("cfg_data", 0xC123_0001u32);
        }
        if cycle == 120 || cycle == 240 {
            inputs.set("cfg_valid", 1u32);
            inputs.set("cfg_table", 1u32);
            inputs.set("cfg_index", (cycle / 240) as u32);
            inputs.set("cfg_data", 64u64 << 32 | 0xFF_FFFFu64 << 40 | 0x1821);
        }
        if random.chance(0.7) {
            inputs.set("ack_valid", 0u32);
        }
        if random.chance(0.95) {
            inputs.set("qperr_data", 0u32);
        }
    })
    .run();
}
