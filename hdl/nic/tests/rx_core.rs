//! rx_core: random traffic with loss, reordering, duplicates and every refusal, replayed step by step in the golden model, of WRITEs
//! alone and with SENDs; the budget in clocks; the seeded faults are noticed; simulation = Verilog.
// The list of the block's inputs is longer than the macro's default depth.
#![recursion_limit = "256"]
mod rx_core_support;
mod rx_support;

use mrnic_difftest::{difftest, Difftest};
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::rx_core::RxCore;
use mrnic_wire::{Ack, Body, Msg, Msn, Packet, Ppsn, WriteImm};
use rx_core_support::setup::rig;
use rx_core_support::traffic::traffic;

/// The build of that name, with SENDs.
fn with_sends(name: &str) -> BuildConfig {
    BuildConfig { sends: true, ..build(name).expect("a build") }
}

#[test]
fn every_step_is_that_of_the_model() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in [1, 2, 3] {
        let rig = traffic(&build("sim").expect("a build"), seed, 4000, 6, 0);
        for (what, n) in rig.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    println!("{seen:#?}");
    for what in ["timer", "epoch", "dropped", "ack", "probe", "class 1 code 0 ack true", "class 2 code 0 ack true"] {
        assert!(seen.get(what).is_some_and(|n| *n > 5), "{what} hardly occurred");
    }
    for code in [1, 2, 3, 4, 6, 7] {
        assert!(seen.get(&format!("class 0 code {code} ack true")).is_some_and(|n| *n > 2), "code {code} hardly occurred");
    }
}

#[test]
fn smallest_buffers_change_no_step() {
    let build = BuildConfig { reads: false, ..build("sim_min").expect("a build") };
    traffic(&build, 4, 1500, 6, 0);
}

/// R3, R4, Q1 to Q6: also which receive each message gets, how it completes, and that its ticket counts every write before.
#[test]
fn every_step_with_sends_is_that_of_the_model() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in [1, 2, 3] {
        let rig = traffic(&with_sends("sim"), seed, 4000, 4, 0);
        for (what, n) in rig.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    println!("{seen:#?}");
    for what in ["timer", "rnr", "Send 0", "Send 4", "Send 6", "Send 7", "receive status 0", "receive status 1"] {
        assert!(seen.get(what).is_some_and(|n| *n > 5), "{what} hardly occurred");
    }
    for what in ["receive status 4", "receive status 5", "receive complete"] {
        assert!(seen.get(what).is_some_and(|n| *n > 5), "{what} hardly occurred");
    }
}

/// Q3, Q4 of receives with lists: which pieces get which bytes, that a key is looked at only if its piece gets some, and that nothing is placed of a
/// packet of which one piece fails.
#[test]
fn every_step_with_lists_is_that_of_the_model() {
    let mut seen = std::collections::BTreeMap::new();
    for (seed, sges) in [(11, 4), (12, 4), (13, 4)] {
        let rig = traffic(&BuildConfig { sges, ..with_sends("sim") }, seed, 4000, 4, 0);
        for (what, n) in rig.seen {
            *seen.entry(what).or_insert(0) += n;
        }
    }
    println!("{seen:#?}");
    for what in ["list", "1 pieces", "2 pieces", "3 pieces", "4 pieces", "Send 0", "Send 6", "Send 7", "receive status 4"] {
        assert!(seen.get(what).is_some_and(|n| *n > 5), "{what} hardly occurred");
    }
}

/// Acknowledged or not: the acknowledgment is made beside the next packet. An ACK frame is only handed on.
#[test]
fn a_packet_takes_7_clocks_and_an_ack_frame_5() {
    budget(&build("sim").expect("a build"), &[("write", false, 7), ("write with ack_req", true, 7), ("ack frame", false, 5)]);
}

/// A SEND waits for its receive, then for the receive's key.
#[test]
fn a_send_takes_10_clocks_and_a_write_still_7() {
    let all = [
        ("write", false, 7),
        ("write with ack_req", true, 7),
        ("ack frame", false, 5),
        ("write with immediate", false, 7),
        ("send", false, 10),
        ("send of one packet", false, 10),
    ];
    budget(&with_sends("sim"), &all);
}

fn budget(build: &BuildConfig, all: &[(&str, bool, u64)]) {
    let mut rig = rig(build, 5);
    rig.stall = 0;
    for (what, ack_req, budget) in all.iter().copied() {
        for qp in [0, 3].into_iter().filter(|_| build.sends) {
            rig.open_qp(qp);
            (0..40).for_each(|_| rig.post(qp, u64::MAX));
        }
        rig.freeze();
        for k in 0..40u32 {
            let msn = rig.streams[0].msn;
            let msg = Msg { msn: Msn::new(msn), ..Msg::default() };
            let imm = (what == "write with immediate").then_some(WriteImm { immediate: 3, rq_seq: 0 });
            let write = match what {
                "send" => Body::Send { msg, rq_seq: 0, offset: 64 * k, length: 40 * 64, imm: None },
                "send of one packet" => {
                    let msg = Msg { msn: Msn::new((msn + k) & 0xFF_FFFF), ..msg };
                    Body::Send { msg, rq_seq: k, offset: 0, length: 64, imm: None }
                }
                _ => Body::Write { msg, va: 0x1_0000_0005, rkey: 0xA0, length: 1_000_000, imm },
            };
            if what == "ack frame" {
                rig.waiting.push_back((Packet::new(Body::Ack(Ack::default())), false, 0));
                continue;
            }
            let mut packet = Packet { dest_qp: 0, ack_req, ..Packet::new(write) };
            packet.ppsn = Ppsn::new(rig.next[0]);
            rig.next[0] = (rig.next[0] + 1) & 0xFF_FFFF;
            rig.waiting.push_back((packet, false, 64));
        }
        let start = rig.cycle;
        rig.settle();
        let clocks = rig.cycle - start;
        println!("{what}: {clocks} clocks for 40 packets");
        // and, once, an epoch or the timer of the last packets and what is in the outputs
        assert!(clocks <= 40 * budget + 20, "{what}: {clocks} clocks for 40 packets, at most {budget} each");
    }
}

/// The faults of this block, and the first field in which each shows.
#[test]
fn seeded_faults_are_noticed() {
    let lists = BuildConfig { sges: 4, ..with_sends("sim") };
    for (fault, build, shows) in [
        (2u64, build("sim").expect("a build"), "cum"),
        (6, build("sim").expect("a build"), "place"),
        (11, build("sim").expect("a build"), "code"),
        (28, lists, "addr"),
    ] {
        let result = std::panic::catch_unwind(|| {
            traffic(&build, 1, 3000, 6, fault);
        });
        let message = match result {
            Ok(()) => panic!("fault {fault} was not noticed"),
            Err(e) => e.downcast_ref::<String>().cloned().unwrap_or_default(),
        };
        println!("fault {fault}: {message}");
        assert!(message.contains(shows), "fault {fault} was expected to show in {shows}: {message}");
    }
}

/// What one run reaches depends on its seed, mostly on how long the queue pairs live: everything has to move in one of three.
#[test]
fn simulation_equals_verilog() {
    let reports = [1, 2, 3].map(|seed| random_run(seed).run());
    let moving =
        ["place_valid", "ackdesc_valid", "ack_valid", "rxerr_valid", "portset_valid", "commit_rx_valid", "commit_rx_cum"];
    let receives = ["place_more", "rq_at", "rq_look", "rq_mark", "rq_accept", "rq_failed", "pass_valid", "commit_rx_rnr"];
    let requests =
        ["ask_look", "ask_take", "reached", "rsp_look", "rsp_take", "nak_valid", "check_done", "finish_done", "place_own"];
    // with a seed of one's own all three are one run, which need not reach everything
    let all = std::env::var_os("MRNIC_SEED").is_none();
    let never = |port: &&str| reports.iter().all(|report| report.stuck().iter().any(|s| s.contains(port)));
    let stuck: Vec<_> = moving.into_iter().chain(receives).chain(requests).filter(|_| all).filter(never).collect();
    assert!(stuck.is_empty(), "never moved: {stuck:?}");
}

fn random_run(seed: u64) -> Difftest<RxCore> {
    let small = BuildConfig { conns: 2, qps: 2, keys: 2, msgs_per_stream: 4, reads: true, sges: 4, ..with_sends("sim") };
    difftest!(RxCore::new(&small), clock: clock, inputs: {
        reset, fault, now, ack_delay, ack_every, epoch_cap, cfg_valid, cfg_table, cfg_index, cfg_data, others_busy, hdr_valid, hdr_opcode,
        hdr_ack_req, hdr_ppsn, hdr_dest_qp, hdr_ecn_ce, hdr_home, hdr_via, hdr_conn, hdr_rtx, hdr_tx_ts, hdr_msn, hdr_first,
        hdr_last, hdr_va, hdr_rkey, hdr_length, hdr_payload_bytes, hdr_ts_echo, hdr_service, hdr_ce, hdr_dup, hdr_flags,
        hdr_rate, hdr_sav, hdr_mak_qp, hdr_mak_code, hdr_mak_msn, place_ready, ack_ready, ackdesc_ready, rxerr_ready, qperr_data,
        hdr_rq_seq, hdr_imm, hdr_has_imm, hdr_sol, hdr_attempt, hdr_udp_src, asked_qp, rq_found, rq_last, rq_shared, rq_pd, rq_addr, rq_len, rq_lkey, rq_listed, rq_piece, pass_ready,
        hdr_tag, hdr_operand, hdr_compare, hdr_fetch_add, hdr_error_code, ask_reached_ok, ask_early_ok, ask_none, ask_failed,
        check_valid, finish_valid, run_qp, run_msn, run_atomic, run_va, run_rkey, run_length, run_code, run_value, run_write,
        run_addr, run_data, rsp_used, rsp_addr, rsp_listed, rsp_piece, rsp_room, nak_ready, cerr_valid, cerr_conn
    })
    .top("rx_core")
    .cycles(2400)
    .seed(seed)
    .reset_chance(0.0002)
    .limit("asked_qp", 0..=1)
    .sink("place_ready")
    .sink("ack_ready")
    .sink("ackdesc_ready")
    .sink("rxerr_ready")
    .sink("pass_ready")
    .sink("nak_ready")
    .stimulus({
        let mut started = 0u64;
        // of the QP that most packets are for
        let mut exp = 0xFF_FFFFu64;
        move |random, cycle, inputs| {
            inputs.set("fault", *random.pick(&[0u32, 0, 0, 0, 2, 6, 11]));
            inputs.set("now", (cycle / 4 + 0xFFFF_FF00) & 0xFFFF_FFFF);
            inputs.set("ack_delay", 20u32);
            inputs.set("ack_every", 4u32);
            inputs.set("epoch_cap", 50_000u32);
            inputs.set("cfg_valid", false);
            inputs.set("others_busy", random.chance(0.2));
            inputs.set("qperr_data", random.chance(0.02));
            // READs and atomics: mostly there is a place, a message waits; requests are executed in no order
            inputs.set("ask_reached_ok", random.chance(0.9));
            inputs.set("ask_early_ok", random.chance(0.9));
            inputs.set("ask_none", random.chance(0.02));
            inputs.set("ask_failed", random.chance(0.05));
            inputs.set("rsp_used", random.chance(0.8));
            inputs.set("rsp_room", random.chance(0.9));
            inputs.set("rsp_listed", random.chance(0.5));
            inputs.set("rsp_piece", vec![random.below(1 << 32) as u32, 0, *random.pick(&[0u32, 3, 8, 64]), 0]);
            // first the connection that fewer packets are of; from then on the other one has little more to say
            inputs.set("cerr_valid", random.chance(0.003));
            inputs.set("cerr_conn", u32::from(cycle < 1500 || random.chance(0.5)));
            let run = if cycle > 700 { random.below(10) } else { 9 };
            inputs.set("check_valid", run == 0);
            inputs.set("finish_valid", run == 1);
            inputs.set("run_qp", random.below(2));
            inputs.set("run_msn", exp);
            inputs.set("run_va", 0x1000 + random.below(0x1000));
            inputs.set("run_length", 8u32);
            inputs.set("run_rkey", random.below(2) << 8 | 7);
            inputs.set("run_code", if random.chance(0.95) { 0u32 } else { 1 });
            // mostly a receive, with one of the two keys
            inputs.set("rq_found", *random.pick(&[0u32, 0, 0, 0, 0, 0, 3, 3, 1, 1, 2]));
            inputs.set("rq_last", random.chance(0.3));
            inputs.set("rq_shared", random.chance(0.5));
            inputs.set("rq_pd", 9u32);
            inputs.set("rq_addr", 0x1000 + random.below(0x1000));
            inputs.set("rq_len", 64 + random.below(100));
            inputs.set("rq_lkey", random.below(2) << 8 | 7);
            inputs.set("rq_listed", random.chance(0.5));
            let bytes = *random.pick(&[0u32, 1, 3, 40, 64, 100]);
            inputs.set("rq_piece", vec![0x1000 + random.below(0x1000) as u32, 0, bytes, (random.below(2) << 8 | 7) as u32]);
            // after a reset they come again
            if inputs.previous("reset") == 1 {
                started = 0;
            }
            // tables first: both connections, paths close to the wrap, QPs, keys; later now and then one again
            let write = [(2u32, 0u32), (2, 1), (2, 8), (1, 0), (1, 1), (3, 0), (3, 1), (4, 0), (4, 1), (6, 0)];
            if cycle >= 100 && (started < 9 || random.chance(0.7)) && cycle % 60 == 0 {
                // a QP most often, as it soon is in Error
                let again = *random.pick(&[5u64, 6, 5, 6, 5, 6, 0, 3, 7, 9]);
                let (table, index) = write[if started < 9 { started } else { again } as usize];
                started += 1;
                inputs.set("cfg_valid", true);
                inputs.set("cfg_table", table);
                inputs.set("cfg_index", index);
                if (table, index) == (3, 0) {
                    exp = 0xFF_FFFF;
                }
                let words: Vec<u32> = match table {
                    1 => vec![1 | 3 << 4 | 12 << 8],
                    2 => vec![1, 0, 0xFF_FFF8],
                    3 => vec![1 | 7 << 2 | index << 16, 0x55, 0, 0, 0, 0, 0, 9, 0, 0xFF_FFFF],
                    6 => vec![(random.below(8) as u32) << 2],
                    _ => vec![31 | 7 << 8 | 9 << 16, 0x1000, 0, 0x100_0000, 0, 0x8000_0000, 1],
                };
                inputs.set("cfg_data", words);
            }
            let [valid, kind, opcode, code] = ["valid", "kind", "opcode", "code"].map(|n| inputs.sampled(&format!("commit_rx_{n}")));
            if valid == 1 && kind == 0 && [0xE0, 0xE1].contains(&opcode) && code != 4 {
                exp = inputs.sampled("commit_rx_exp");
            }
            let waiting = inputs.previous("hdr_valid") == 1 && inputs.sampled("hdr_ready") == 0;
            let names = [
                "hdr_opcode",
                "hdr_ack_req",
                "hdr_ppsn",
                "hdr_dest_qp",
                "hdr_ecn_ce",
                "hdr_home",
                "hdr_via",
                "hdr_conn",
                "hdr_rtx",
                "hdr_tx_ts",
                "hdr_msn",
                "hdr_first",
                "hdr_last",
                "hdr_va",
                "hdr_rkey",
                "hdr_length",
                "hdr_payload_bytes",
                "hdr_rq_seq",
                "hdr_imm",
                "hdr_has_imm",
                "hdr_sol",
                "hdr_attempt",
                "hdr_udp_src",
                "hdr_tag",
                "hdr_operand",
                "hdr_compare",
                "hdr_fetch_add",
                "hdr_error_code",
            ];
            if waiting {
                inputs.hold("hdr_valid");
                names.iter().for_each(|n| inputs.hold(n));
            } else {
                inputs.set("hdr_valid", random.chance(0.9) && cycle > 700);
                let opcode = *random.pick(&[
                    0xE0u32, 0xE0, 0xE0, 0xE1, 0xE1, 0xE1, 0xE1, 0xE2, 0xE4, 0xE4, 0xE4, 0xE3, 0xE3, 0xE5, 0xE6, 0xE6, 0xF7, 0xF0, 0xF2, 0x11,
                ]);
                inputs.set("hdr_opcode", opcode);
                if random.chance(0.95) {
                    // around where the path stands; at the start it stands just before the wrap
                    let cum = if random.chance(0.2) { 0xFF_FFF8 } else { inputs.sampled("commit_rx_cum") };
                    let jump = *random.pick(&[0u64, 0, 0, 0, 1, 2, 70, 255, 0xFF_FFFF]);
                    inputs.set("hdr_ppsn", (cum + jump) & 0xFF_FFFF);
                    let usual = random.chance(0.85);
                    inputs.set("hdr_conn", if usual { 0 } else { random.below(2) });
                    inputs.set("hdr_home", 0u32);
                    inputs.set("hdr_via", random.below(8));
                    inputs.set("hdr_dest_qp", if usual { 0 } else { random.below(2) });
                    inputs.set("hdr_msn", (exp + random.below(3)) & 0xFF_FFFF);
                    inputs.set("hdr_length", random.below(3) * 64);
                    inputs.set("hdr_payload_bytes", random.below(2) * 64);
                    inputs.set("hdr_rkey", random.below(2) << 8 | if random.chance(0.99) { 7 } else { 8 });
                    let send = opcode == 0xE1;
                    if random.chance(0.7) {
                        // a whole message
                        inputs.set("hdr_msn", exp);
                        inputs.set("hdr_length", 64u32);
                        inputs.set("hdr_payload_bytes", 64u32);
                    }
                    // addresses of atomics are mostly aligned: any other makes the QP fail
                    let mask = if opcode == 0xE4 && random.chance(0.9) { !7 } else { !0 };
                    let va = if send { random.below(8) / 7 * 64 } else { 0x1000 + (random.below(0x1000) & mask) };
                    inputs.set("hdr_va", va);
                }
            }
        }
    })
}
