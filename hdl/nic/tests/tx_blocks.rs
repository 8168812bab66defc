//! Blocks of the transmit core: rust-hdl simulation = Verilog, and small references.
use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig, FifoDepths};
use mrnic_nic::tx::acked_words::AckedWords;
use mrnic_nic::tx::congestion::Congestion;
use mrnic_nic::tx::core::TxCore;
use mrnic_nic::tx::ring_mask::RingMask;
use mrnic_nic::tx::sack_scoreboard::SackScoreboard;
use mrnic_nic::tx::timers::Timers;
use rust_hdl_core::prelude::*;

fn small() -> BuildConfig {
    let sim = build("sim").unwrap();
    BuildConfig {
        conns: 2,
        qps: 4,
        msgs_per_stream: 4,
        conn_fifo: 4,
        pool_packets: 64,
        fifo: FifoDepths { acked: 4, ..sim.fifo },
        ..sim
    }
}

#[test]
fn ring_mask_equals_verilog() {
    difftest!(RingMask::new(), clock: none, inputs: { cum, word, below })
        .top("ring_mask")
        .cycles(4000)
        .seed(1)
        .limit("below", 0..=256)
        .run();
}

/// Every offset from cum is found in the word and at the bit of its PPSN.
#[test]
fn ring_mask_is_right() {
    let mut uut = RingMask::new();
    uut.connect_all();
    for cum in (0..256u64).step_by(7).chain([0, 63, 64, 65, 127, 128, 191, 192, 255]) {
        for below in [0u64, 1, 2, 63, 64, 65, 100, 127, 128, 129, 191, 192, 193, 254, 255, 256] {
            for word in 0..4u64 {
                uut.cum.next = cum.into();
                uut.below.next = below.into();
                uut.word.next = word.into();
                assert!(simulate(&mut uut, 20));
                for bit in 0..64u64 {
                    let offset = (word * 64 + bit + 256 - cum) % 256;
                    assert_eq!(
                        uut.mask.val().get_bit(bit as usize),
                        offset < below,
                        "cum {cum} below {below} word {word} bit {bit}"
                    );
                }
            }
        }
    }
}

#[test]
fn scoreboard_equals_verilog() {
    difftest!(SackScoreboard::new(&small()), clock: clock, inputs: {
        reset, row, cum, step_start, step_op, advance, gap_from, gap_below, turn, sav0, sav1, sav2, sav3, find_start,
        find_lost_words, move_start, move_to_old, peek_start, peek_ppsn, clear, clear_address
    })
    .top("sack_scoreboard")
    .cycles(1200)
    .seed(2)
    .limit("row", 0..=15)
    .limit("clear_address", 0..=31)
    .limit("advance", 0..=256)
    .limit("gap_from", 0..=256)
    .limit("gap_below", 0..=256)
    .stimulus(|random, cycle, inputs| {
        // rows are cleared first; then one operation in eight clocks, rarely a clear
        if cycle < 40 {
            inputs.set("clear", 1u32);
            inputs.set("clear_address", (cycle % 32) as u32);
        } else {
            inputs.set("clear", u32::from(random.chance(0.002)));
        }
        let slot = cycle % 8;
        if slot != 0 {
            for held in [
                "row",
                "cum",
                "step_op",
                "advance",
                "gap_from",
                "gap_below",
                "turn",
                "sav0",
                "sav1",
                "sav2",
                "sav3",
                "find_lost_words",
            ] {
                inputs.hold(held);
            }
            for pulse in ["step_start", "find_start", "peek_start"] {
                inputs.set(pulse, 0u32);
            }
        }
    })
    .run();
}

#[test]
fn congestion_equals_verilog() {
    difftest!(Congestion::new(), clock: clock, inputs: {
        fault, now, ts_valid, ts_echo, service, ce, dup, srtt8, var4, rtt_valid, window, credit, last_cut, ce_seen, dup_seen,
        reo_tol, reo_base, l1_since_dup, acked, found_l1
    })
    .top("congestion")
    .no_reset()
    .cycles(8000)
    .seed(3)
    .limit("window", 1..=256)
    .limit("reo_tol", 0..=64)
    .limit("acked", 0..=256)
    .run();
}

#[test]
fn acked_words_equals_verilog() {
    difftest!(AckedWords::new(), clock: clock, inputs: {
        reset, put_valid, put_second, put_even, put_odd, put_conn, put_path, put_cum, acked_ready
    })
    .top("acked_words")
    .cycles(4000)
    .seed(4)
    .sink("acked_ready")
    .stimulus(|_, cycle, inputs| {
        let slot = cycle % 10;
        inputs.set("put_valid", u32::from(slot < 2));
        inputs.set("put_second", u32::from(slot == 1));
        if slot != 0 {
            for held in ["put_conn", "put_path", "put_cum"] {
                inputs.hold(held);
            }
        }
    })
    .run();
}

#[test]
fn timers_equal_verilog() {
    difftest!(Timers::new(&small()), clock: clock, inputs: {
        reset, now, set_valid, set_row, set_active, set_deadline, offer_ready
    })
    .top("timers")
    .cycles(5000)
    .seed(5)
    .reset_chance(0.0005)
    .limit("set_row", 0..=15)
    .sink("offer_ready")
    .run();
}

/// The whole core: connections are opened, messages and acknowledgments come, some of them sensible.
#[test]
fn core_equals_verilog() {
    difftest!(TxCore::new(&small()), clock: clock, inputs: {
        reset, fault, now, rto_min, cfg_valid, cfg_table, cfg_index, cfg_data, msg_valid, msg_conn, msg_qp, msg_msn, msg_npkts,
        msg_length, rel_conn_ready, ack_valid, ack_conn, ack_home, ack_cum, ack_ts_echo, ack_service, ack_ce, ack_dup,
        ack_flags, ack_rate, ack_mak_qp, ack_mak_code, ack_mak_msn, ack_sav, desc_ready, ret_ready, nak_ready, cerr_ready,
        qperr_data, portset_ready
    })
    .top("tx_core")
    .cycles(700)
    .seed(6)
    .reset_chance(0.0)
    .limit("fault", 0..=0)
    .limit("msg_conn", 0..=1)
    .limit("msg_npkts", 1..=12)
    .limit("ack_conn", 0..=1)
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
    .sink("rel_conn_ready")
    .sink("desc_ready")
    .sink("ret_ready")
    .sink("nak_ready")
    .sink("cerr_ready")
    .sink("portset_ready")
    .stimulus(|random, cycle, inputs| {
        inputs.set("now", (cycle * 2) as u32);
        inputs.set("rto_min", 100u32);
        inputs.set("cfg_valid", 0u32);
        if cycle < 100 {
            inputs.set("msg_valid", 0u32);
            inputs.set("ack_valid", 0u32);
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
