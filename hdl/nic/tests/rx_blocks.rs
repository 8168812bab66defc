//! Blocks of the receive core: ack_collect against R9 and path_update against R8 on small references; simulation = Verilog of all.
mod rx_support;

use mrnic_difftest::{difftest, take_field};
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::rx::ack_collect::AckCollect;
use mrnic_nic::rx::packet_check::PacketCheck;
use mrnic_nic::rx::path_update::PathUpdate;
use mrnic_nic::rx::rx_commit::RxCommit;
use mrnic_nic::rx::rx_rows::{RxConnRow, RxHeader, RxPathRow, RxQpRow};
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
});
maker!(conn_row: RxConnRow { open, paths_log2, mtu_log2 });
maker!(qp_row: RxQpRow { open, conn, pd, peer_qpn, failed });
maker!(path_row: RxPathRow {
    ce, dup, rx, last_ts, last_ts_valid, last_via, last_arrival, last_qp, last_qp_known, unacked, ack_time, ce_state,
});

fn small() -> BuildConfig {
    BuildConfig { conns: 2, qps: 4, ..build("sim").expect("a build") }
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
    let mut b = Bench::new("ack_collect", AckCollect::new);
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    let mut rng = Rng(9);
    for round in 0..3000u64 {
        let cum = rng.next() & 0xFF_FFFF;
        let mut ring = vec![0u32; 8];
        let mut want = vec![0u32; 8];
        let full = rng.chance(20);
        for i in 0..255u64 {
            if full || rng.chance(40) {
                let n = (cum + 1 + i) % 256;
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
        b.cycle();
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
    let report = difftest!(AckCollect::new(), clock: clock, inputs: {
        reset, start, probe, refused, code, bad_qp, cum, vector, now, peer_known, peer_qpn, oldest, rate, epoch, ackdesc_ready
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
    let report = difftest!(PacketCheck::new(&small()), clock: clock, inputs: {
        fault, timer, load, qp_error, verdict, fits, key_code
    })
    .input_as("header", |b| &mut b.header, header)
    .input_as("conn_row", |b| &mut b.conn_row, conn_row)
    .input_as("qp_row", |b| &mut b.qp_row, qp_row)
    .top("packet_check")
    .cycles(4000)
    .seed(5)
    .stimulus({
        let mut held = vec![];
        move |random, cycle, inputs| {
            // a header of the two connections and four QPs, its opcode mostly known, for six clocks
            if cycle % 6 == 0 {
                let opcode = *random.pick(&[0xE0u64, 0xE0, 0xE0, 0xF7, 0xF0, 0xF2, 0x11]);
                held = vec![0u32; RxHeader::BITS.div_ceil(32)];
                held[0] = (opcode | random.below(1 << 24) << 9) as u32;
                held[1] = (random.below(8) << 1) as u32;
                held[2] = (random.below(4) << 10) as u32;
                held[7] = (random.below(2) << 5) as u32;
                held[8] = (random.below(1 << 13) << 5) as u32;
            }
            inputs.set("header", held.clone());
            inputs.set("load", cycle % 6 == 1);
            inputs.set("fault", if random.chance(0.3) { 6u32 } else { 0 });
        }
    })
    .run();
    for port in ["allowed", "fresh", "duplicate", "outside", "code"] {
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
    let report = difftest!(RxTables::new(&small()), clock: clock, inputs: {
        reset, read_conn, read_qp, read_row, put, put_row, fail, fail_qp, open_conn, open_qp, open_path, index, words,
        path_row, path_number
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
    .limit("index", 0..=1)
    .limit("path_row", 0..=15)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}

#[test]
fn rx_commit_equals_verilog() {
    let report = difftest!(RxCommit::new(), clock: clock, inputs: {
        reset, swap, publish, step, timer, allowed, ack, probe, duplicate, outside, refused, code, placed, addr, acked, now,
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
