//! Blocks of the receive core: ack_collect against R9, path_update against R8, packet_check against R1 to R4, Q2, Q3, D2, D3 and D6 on
//! small references; simulation = Verilog of all.
mod block_support;
mod rx_support;

use block_support::Packed;

use mrnic_difftest::{difftest, take_field};
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::ack_collect::AckCollect;
use mrnic_nic::rx::packet_check::PacketCheck;
use mrnic_nic::rx::path_update::PathUpdate;
use mrnic_nic::rx::rx_commit::RxCommit;
use mrnic_nic::rx::rx_rows::{AckDescRow, RxAccessRow, RxConnRow, RxHeader, RxPathRow, RxQpRow};
use mrnic_nic::rx::rx_tables::RxTables;
use rust_hdl_core::prelude::*;
use rx_support::{Bench, Rng};

/// The struct from words, for `Difftest::input_as`; all fields in the order of the declaration.
macro_rules! maker {
    ($name:ident: $type:ident { $($field:ident),+ $(,)? }) => {
        fn $name(words: &[u32]) -> $type {
            let mut at = 0;
            $type { $($field: take_field(words, &mut at)),+ }
        }
    };
}
maker!(header: RxHeader {
    opcode, ack_req, ppsn, dest_qp, ecn_ce, home, via, conn, rtx, tx_ts, msn, first, last, va, rkey, length, payload_bytes,
    rq_seq, imm, has_imm, sol, attempt, udp_src,
});
maker!(conn_row: RxConnRow { open, paths_log2, mtu_log2 });
maker!(qp_row: RxQpRow { open, conn, pd, peer_qpn, failed });
maker!(access_row: RxAccessRow { remote_write, remote_read, remote_atomic, rnr_timer });
maker!(path_row: RxPathRow {
    ce, dup, rx, last_ts, last_ts_valid, last_via, last_arrival, last_qp, last_qp_known, unacked, ack_time, ce_state,
});

fn small() -> BuildConfig {
    BuildConfig { conns: 2, qps: 4, ..build("sim").expect("a build") }
}

fn of_window(window: u64) -> BuildConfig {
    BuildConfig { window_bits: window as usize, ..small() }
}

/// Bits of a port of a struct: what is not named is zero.
fn pack<T: Synth>(b: &mut Bench, port: &str, values: &[(&str, u64)]) {
    let mut words = vec![0u32; T::BITS.div_ceil(32)];
    let TypeKind::Composite(fields) = T::descriptor().kind else { panic!("{port} is no struct") };
    let mut at = 0;
    let mut used = 0;
    for field in fields.iter() {
        let width = match field.kind.kind {
            TypeKind::Bits(n) => n,
            _ => panic!("{} is not of bits", field.fieldname),
        };
        if let Some((_, value)) = values.iter().find(|v| v.0 == field.fieldname) {
            used += 1;
            for i in 0..width.min(64) {
                words[(at + i) / 32] |= ((value >> i & 1) as u32) << ((at + i) % 32);
            }
        }
        at += width;
    }
    assert_eq!(used, values.len(), "a field of {port} that does not exist");
    b.set_words(port, &words);
}

/// R9: bit i of the vector is cum + 1 + i; nothing that comes after `start` is seen; five clocks an acknowledgment.
#[test]
fn an_acknowledgment_shows_the_state_at_its_start() {
    for window in [256, 128, 64] {
        an_acknowledgment_with(window);
    }
}

/// The ring has W bits; bits of the vector from W on are 0.
fn an_acknowledgment_with(window: u64) {
    let mut b = Bench::new("ack_collect", move || AckCollect::new(&of_window(window)));
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    let mut rng = Rng(9);
    for round in 0..3000u64 {
        let cum = rng.next() & 0xFF_FFFF;
        let mut ring = vec![0u32; 8];
        let mut want = vec![0u32; 8];
        let full = rng.chance(20);
        for i in 0..window - 1 {
            if full || rng.chance(40) {
                let n = (cum + 1 + i) % window;
                ring[n as usize / 32] |= 1 << (n % 32);
                want[i as usize / 32] |= 1 << (i % 32);
            }
        }
        let (ts, time, waited) =
            (rng.below(1 << 16), rng.below(1 << 32), [0, 77, 65_535, 65_536, 1 << 31][rng.below(5) as usize]);
        let arrival = time.wrapping_sub(waited) & 0xFFFF_FFFF;
        pack::<RxPathRow>(
            &mut b,
            "path",
            &[("last_ts", ts), ("last_arrival", arrival), ("last_via", 5), ("ce", round & 0xFFFF)],
        );
        pack::<RxHeader>(&mut b, "header", &[("conn", round & 0xFFFF), ("home", 3), ("ppsn", 99), ("msn", 8)]);
        b.set("cum", cum);
        b.set_words("vector", &ring);
        b.set("now", time);
        // refused for good, with the QP's number or without one, or for now
        let (refused, bad_qp) = (rng.chance(50), rng.chance(30));
        let (rnr, timer, code) = (!bad_qp && rng.chance(50), rng.below(64), 1 + rng.below(7));
        for (name, value) in [("refused", refused.into()), ("bad_qp", bad_qp.into()), ("rnr", rnr.into()), ("rnr_timer", timer)]
        {
            b.set(name, value);
        }
        for (name, value) in [("code", code), ("peer_known", (!bad_qp).into()), ("peer_qpn", 0x345), ("oldest", 0)] {
            b.set(name, value);
        }
        b.set("start", 1);
        b.set("ackdesc_ready", 1);
        b.eval();
        assert_eq!(b.get("ready"), 1);
        b.cycle();
        b.set("start", 0);
        // whatever happens now belongs to the next step
        b.set("cum", rng.next() & 0xFF_FFFF);
        b.set_words("vector", &[rng.next() as u32; 8]);
        b.set("now", rng.below(1 << 32));
        pack::<RxPathRow>(&mut b, "path", &[("last_ts", rng.below(1 << 16)), ("rx", 4)]);
        b.set("ackdesc_ready", 0);
        for clock in 1..5 {
            b.eval();
            assert_eq!((b.get("ackdesc_valid"), b.get("ready")), (0, 0), "clock {clock}");
            b.cycle();
        }
        for _ in 0..rng.below(3) {
            b.eval();
            assert_eq!((b.get("ackdesc_valid"), b.get("ready")), (1, 0), "clock 5 and later");
            b.cycle();
        }
        b.set("ackdesc_ready", 1);
        b.eval();
        assert_eq!((b.get("ackdesc_valid"), b.get("ready")), (1, 1), "taken: the next may start");
        assert_eq!(b.get_words("ackdesc_sav"), want, "cum {cum}");
        // the descriptor's first fields, in the order of AckDescRow: conn 16, home 3, via 3, cum 24, ts_echo 16, service 16, ce 16
        let words = b.get_words("ackdesc");
        let bits =
            |at: usize, n: usize| (0..n).fold(0u64, |v, i| v | u64::from(words[(at + i) / 32] >> ((at + i) % 32) & 1) << i);
        assert_eq!((bits(0, 16), bits(16, 3), bits(19, 3)), (round & 0xFFFF, 3, 5));
        assert_eq!((bits(22, 24), bits(46, 16)), (cum, ts));
        assert_eq!((bits(62, 16), bits(78, 16)), (waited.min(65_535), round & 0xFFFF));
        let desc = Packed::from_words::<AckDescRow>(&words);
        let want = match (refused, rnr, bad_qp) {
            (true, true, _) => [0b0001, 99, timer, 8],
            (true, false, true) => [0b1000, 99, code, 8],
            (true, false, false) => [0b1000, 0x345, code, 8],
            (false, _, true) => [0, 0, 0, 0],
            (false, _, false) => [0, 0x345, 0, 0xFF_FFFF],
        };
        assert_eq!(["flags", "mak_qp", "mak_code", "mak_msn"].map(|name| desc.get(name)), want, "round {round}");
        b.cycle();
    }
}

/// R1 to R4, Q2, Q3, D2, D3: the first check that fails decides; what the receive learns of it.
#[test]
fn the_first_failed_check_of_a_packet_decides() {
    for (sends, reads) in [(false, false), (true, false), (true, true)] {
        let config = BuildConfig { sends, reads, ..small() };
        let mut b = Bench::new("packet_check", move || PacketCheck::new(&config));
        let mut rng = Rng(12);
        let mut counts = std::collections::BTreeMap::new();
        for round in 0..8000 {
            let opcode = [0xE0, 0xE0, 0xE1, 0xE1, 0xE1, 0xF7, 0xE2, 0xE2, 0xE4, 0xE4, 0xE3, 0xE5, 0xE6][rng.below(13) as usize];
            let (qp, conn) = (rng.below(20).min(6), rng.below(2));
            let qp = if qp > 4 { qp - 3 } else { qp };
            let bytes = [0, 64, 256, 257][rng.below(4) as usize];
            let length: u64 = [0, 64, 300, 1000, 1 << 31, 0xFFFF_FFFF][rng.below(6) as usize];
            let offset = [0, 236, length, 0xFFFF_FFFF, length.saturating_sub(bytes)][rng.below(5) as usize];
            let has_imm = rng.chance(50);
            let (open, of_other, failed, error) = (rng.chance(95), rng.chance(3), rng.chance(4), rng.chance(4));
            let (class, fits, key) =
                ([0, 0, 0, 0, 1, 2][rng.below(6) as usize], rng.chance(85), [0, 0, 0, 1, 2, 3][rng.below(6) as usize]);
            let found = [0, 0, 0, 0, 1, 2, 3, 3][rng.below(8) as usize];
            let (last, at_exp) = (rng.chance(50), rng.chance(50));
            let room = [0, 64, 300, 2000, 0xFFFF_FFFF][rng.below(5) as usize];
            let of = [("opcode", opcode), ("dest_qp", qp), ("conn", conn), ("payload_bytes", bytes), ("length", length)];
            pack::<RxHeader>(&mut b, "header", &[&of[..], &[("va", offset), ("has_imm", has_imm.into())]].concat());
            pack::<RxConnRow>(&mut b, "conn_row", &[("open", 1), ("mtu_log2", 8)]);
            let qp_conn = conn ^ u64::from(of_other);
            // D2, D3
            let rights = [(); 3].map(|()| rng.chance(85));
            let [none, answered, room_for_it, used] = [5, 5, 80, 50].map(|percent| rng.chance(percent));
            let names = ["remote_write", "remote_read", "remote_atomic"];
            let allows: Vec<_> = names.iter().zip(rights).map(|(name, allowed)| (*name, u64::from(allowed))).collect();
            let row = [("open", open.into()), ("conn", qp_conn), ("failed", failed.into())];
            pack::<RxQpRow>(&mut b, "qp_row", &row);
            pack::<RxAccessRow>(&mut b, "access", &allows);
            b.set("places_none", none.into());
            b.set("places_failed", answered.into());
            b.set("places_room", room_for_it.into());
            b.set("response_used", used.into());
            let answers =
                [("verdict", class), ("fits", fits.into()), ("key_code", key), ("found", found), ("receive_bytes", room)];
            // N4
            let complete = sends && rng.chance(10);
            b.set("last", last.into());
            b.set("at_exp", at_exp.into());
            let spared = found == 3 && last && !at_exp;
            let others = [("qp_error", error.into()), ("load", 1), ("complete", complete.into())];
            for (name, value) in answers.into_iter().chain(others) {
                b.set(name, value);
            }
            b.cycle();
            b.set("load", 0);
            b.dut.cycles(5);

            let asks = reads && (opcode == 0xE2 || opcode == 0xE4);
            let responds = reads && [0xE3, 0xE5, 0xE6].contains(&opcode);
            let request = opcode == 0xE0 || sends && opcode == 0xE1 || asks;
            let consumes = sends && (opcode == 0xE1 || opcode == 0xE0 && has_imm);
            let bad_qp = qp >= 4 || !open || of_other;
            let reached = !(bad_qp || failed || error || asks && answered);
            let permitted = match opcode {
                0xE0 => rights[0],
                0xE2 => rights[1] && !none,
                _ => rights[2] && !none,
            };
            // code, for now, QP moves to Error, status of its receive
            let want = if !request {
                (0, false, false, 0)
            } else if bad_qp {
                (4, false, false, 0)
            } else if !reached {
                (6, false, false, 0)
            } else if complete {
                (0, false, false, 0)
            } else if consumes && found == 1 {
                (0, true, false, 0)
            } else if consumes && found == 2 || bytes > 256 || !fits {
                (7, false, true, 0)
            } else if consumes && spared {
                (0, true, false, 0)
            } else if opcode == 0xE1 && length > room {
                (7, false, true, 1)
            } else if opcode == 0xE1 && offset + bytes > length {
                (7, false, true, 0)
            } else if opcode == 0xE1 && bytes > 0 && key != 0 {
                (6, false, true, 4)
            } else if opcode == 0xE4 && !offset.is_multiple_of(8) {
                (5, false, true, 0)
            } else if opcode != 0xE1 && !permitted {
                (2, false, true, 0)
            } else if opcode == 0xE2 && length > 1 << 31 {
                (7, false, true, 0)
            } else if opcode != 0xE1 && length > 0 && key != 0 {
                (key, false, true, 0)
            } else if asks && !room_for_it {
                (0, true, false, 0)
            } else {
                (0, false, false, 0)
            };
            let got = (b.get("code"), b.get("rnr") == 1, b.get("fails") == 1, b.get("failed"));
            assert_eq!(got, want, "round {round}: opcode {opcode:x} qp {qp} {answers:?}");
            let busy = want.1 && (asks || consumes && found == 3);
            assert_eq!(b.get("busy") == 1, busy, "round {round}");
            let fine = responds && !bad_qp && !failed && !error && bytes <= 256 && used;
            assert_eq!(b.get("used") == 1, fine, "round {round}: D6");
            assert_eq!([b.get("ask"), b.get("response")].map(|v| v == 1), [asks, responds], "round {round}");
            let classed = request || responds || opcode == 0xF7;
            let classes = ["fresh", "duplicate", "outside"].map(|name| b.get(name) == 1);
            assert_eq!(classes, [0, 1, 2].map(|n| classed && class == n), "round {round}: class");
            assert_eq!(b.get("allowed") == 1, classed, "round {round}");
            let looks = classed && class == 0 && consumes && reached;
            assert_eq!(
                [b.get("looks"), b.get("finds")].map(|v| v == 1),
                [looks, looks && !complete && (found == 0 || found == 3 && fits && bytes <= 256 && !spared)],
                "round {round}"
            );
            assert_eq!(b.get("late") == 1, request && reached && complete, "round {round}: N4");
            *counts.entry((opcode, want)).or_insert(0) += 1;
        }
        println!("{counts:?}");
        let kinds: Vec<_> = counts.keys().filter(|(opcode, _)| *opcode == 0xE1).collect();
        assert_eq!(kinds.len(), if sends { 7 } else { 1 }, "{counts:?}");
        // done or late; 4; 6; 7; 5; 1 to 3; busy
        let kinds: Vec<_> = counts.keys().filter(|(opcode, _)| *opcode == 0xE4).collect();
        assert_eq!(kinds.len(), if reads { 9 } else { 1 }, "{counts:?}");
    }
}

/// R8: what is acknowledged at once, and the N-th packet that is not.
#[test]
fn every_nth_packet_is_acknowledged_and_what_must_be_at_once() {
    let mut b = Bench::new("path_update", PathUpdate::new);
    let mut rng = Rng(4);
    for _ in 0..5000 {
        let (unacked, every) = (rng.below(5), 1 + rng.below(5));
        let (ce, ce_state, ack_req, in_order) = (rng.below(2), rng.below(2), rng.below(2), rng.below(2));
        let kind =
            ["timer", "probe", "accepted", "accepted", "accepted", "refused", "duplicate", "outside"][rng.below(8) as usize];
        let (age, delay) = (rng.below(1 << 8), rng.below(1 << 8));
        pack::<RxPathRow>(&mut b, "row", &[("unacked", unacked), ("ce_state", ce_state), ("ack_time", 1000), ("rx", 9)]);
        pack::<RxHeader>(&mut b, "header", &[("ecn_ce", ce), ("ack_req", ack_req)]);
        for (name, value) in [("ack_every", every), ("ack_delay", delay), ("now", 1000 + age), ("in_order", in_order)] {
            b.set(name, value);
        }
        for name in ["timer", "probe", "accepted", "refused", "duplicate", "outside"] {
            b.set(name, (name == kind).into());
        }
        b.cycle();
        let now = kind != "accepted" || ack_req == 1 || in_order == 0 || ce != ce_state || unacked + 1 >= every;
        assert_eq!(b.get("ack_now") == 1, now, "{kind} unacked {unacked} of {every}");
        assert_eq!(b.get("timer_due") == 1, unacked > 0 && age >= delay);
    }
}

#[test]
fn ack_collect_equals_verilog() {
    for window in [256, 128, 64] {
        ack_collect_equals_verilog_with(window);
    }
}

fn ack_collect_equals_verilog_with(window: u64) {
    let report = difftest!(AckCollect::new(&of_window(window)), clock: clock, inputs: {
        reset, start, probe, refused, code, bad_qp, rnr, rnr_timer, cum, vector, now, peer_known, peer_qpn, oldest, rate, epoch, ackdesc_ready
    })
    .input_as("header", |b| &mut b.header, header)
    .input_as("path", |b| &mut b.path, path_row)
    .top("ack_collect")
    .cycles(1500)
    .seed(3)
    .reset_chance(0.002)
    .stimulus(|random, _, inputs| {
        let ready = inputs.sampled("ready") == 1;
        inputs.set("start", ready && random.chance(0.7));
        inputs.set("ackdesc_ready", random.chance(0.7));
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}

#[test]
fn packet_check_equals_verilog() {
    let report = difftest!(PacketCheck::new(&BuildConfig { sends: true, reads: true, ..small() }), clock: clock, inputs: {
        fault, timer, load, given_up, qp_error, verdict, fits, complete, key_code, found, last, at_exp, receive_bytes, places_none, places_failed,
        places_room, response_used
    })
    .input_as("header", |b| &mut b.header, header)
    .input_as("conn_row", |b| &mut b.conn_row, conn_row)
    .input_as("qp_row", |b| &mut b.qp_row, qp_row)
    .input_as("access", |b| &mut b.access, access_row)
    .top("packet_check")
    .cycles(4000)
    .seed(5)
    .stimulus({
        let mut held = vec![];
        move |random, cycle, inputs| {
            // a header of the two connections and four QPs, its opcode mostly known, for six clocks
            if cycle % 6 == 0 {
                let opcode = *random.pick(&[0xE0u64, 0xE0, 0xE1, 0xE1, 0xE2, 0xE4, 0xE3, 0xE5, 0xE6, 0xF7, 0xF0, 0xF2, 0x11]);
                held = vec![0u32; RxHeader::BITS.div_ceil(32)];
                held[0] = (opcode | random.below(1 << 24) << 9) as u32;
                held[1] = (random.below(8) << 1) as u32;
                held[2] = (random.below(4) << 10) as u32;
                held[7] = (random.below(100) << 5) as u32;
                let most = if random.chance(0.7) { 100 } else { 1 << 13 };
                held[8] = (random.below(most) << 5) as u32;
                held[10] = (random.below(2) << 10) as u32;
            }
            // mostly open ones that belong together
            if random.chance(0.8) {
                let conn = held[2] >> 10;
                inputs.set("conn_row", vec![1u32 | 3 << 1 | 8 << 3]);
                // all rights, or but one
                inputs.set("qp_row", vec![1 | conn << 1, 0]);
                inputs.set("access", 7 & !random.below(8));
                inputs.set("places_none", random.chance(0.1));
                inputs.set("places_failed", random.chance(0.1));
                inputs.set("qp_error", random.chance(0.1));
                inputs.set("fits", random.chance(0.8));
                inputs.set("timer", random.chance(0.1));
                inputs.set("given_up", random.chance(0.1));
                inputs.set("complete", random.chance(0.2));
                if random.chance(0.6) {
                    inputs.set("key_code", 0u32);
                }
            }
            inputs.set("header", held.clone());
            inputs.set("load", cycle % 6 == 1);
            inputs.set("found", *random.pick(&[0u32, 0, 3, 1, 2]));
            inputs.set("receive_bytes", random.below(3) << 5);
            inputs.set("fault", if random.chance(0.3) { 6u32 } else { 0 });
        }
    })
    .run();
    for port in ["allowed", "fresh", "duplicate", "outside", "code", "rnr", "fails", "failed", "looks", "finds", "consuming"]
        .into_iter()
        .chain(["ask", "response", "used", "busy"])
    {
        assert!(!report.stuck().iter().any(|s| s.contains(port)), "{port} never moved");
    }
}

#[test]
fn path_update_equals_verilog() {
    let report = difftest!(PathUpdate::new(), clock: clock, inputs: {
        ack_delay, ack_every, now, timer, probe, accepted, refused, duplicate, outside, names_qp, in_order
    })
    .input_as("row", |b| &mut b.row, path_row)
    .input_as("header", |b| &mut b.header, header)
    .top("path_update")
    .cycles(2000)
    .seed(6)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}

#[test]
fn rx_tables_equals_verilog() {
    let report = difftest!(RxTables::new(&BuildConfig { sends: true, reads: true, ..small() }), clock: clock, inputs: {
        reset, read_conn, read_qp, read_row, put, put_row, fail, fail_qp, fail_code, asked_qp, give_up, give_up_conn, open_conn, open_qp, open_path,
        set_access, index, words, path_row, path_number
    })
    .input_as("put_path", |b| &mut b.put_path, path_row)
    .input_as("fail_row", |b| &mut b.fail_row, qp_row)
    .top("rx_tables")
    .cycles(1500)
    .seed(8)
    .reset_chance(0.001)
    .limit("read_conn", 0..=1)
    .limit("read_qp", 0..=3)
    .limit("read_row", 0..=15)
    .limit("put_row", 0..=15)
    .limit("fail_qp", 0..=3)
    .limit("asked_qp", 0..=3)
    .limit("give_up_conn", 0..=1)
    .limit("index", 0..=1)
    .limit("path_row", 0..=15)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}

#[test]
fn rx_commit_equals_verilog() {
    let report = difftest!(RxCommit::new(), clock: clock, inputs: {
        reset, swap, publish, step, timer, allowed, ack, probe, duplicate, outside, refused, code, rnr, qp_failed, used, run,
        run_code, run_value, placed, addr, acked, now,
        share, cum, high, exp_valid, exp
    })
    .input_as("header", |b| &mut b.header, header)
    .input_as("path", |b| &mut b.path, path_row)
    .top("rx_commit")
    .cycles(800)
    .seed(10)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
