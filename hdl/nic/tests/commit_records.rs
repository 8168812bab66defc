//! commit_records against the lists of docs/microarchitecture.md (commit_grant, commit_ack, commit_timer); simulation =
//! Verilog.
mod block_support;
mod rx_support;

use block_support::{maker, pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::commit_records::CommitRecords;
use mrnic_nic::tx::records::{CommitAck, CommitGrant, CommitTimer, Desc};
use mrnic_nic::tx::rows::{PacketEntry, PathAck, PathTx};
use rx_support::{Bench, Rng};

maker!(desc: Desc { kind, conn, home, via, ppsn, rtx, moved, ack_req, qp, msn, index, bytes, first, last, source, attempt, ts, port });

/// The path fields of a record: those of the row of the path, then those of the other row.
const PATH: [&str; 7] = ["state", "next_ppsn", "cum", "pipe", "window", "srtt8", "port"];
const ROW: [&str; 7] = ["credit", "var4", "backoff", "reo_tol", "mark", "gen_open", "probe_pending"];
const SCALARS: [(&str, u32); 17] = [
    ("conn", 16),
    ("path_index", 3),
    ("now", 32),
    ("kind", 2),
    ("nop", 1),
    ("inflight_bytes", 32),
    ("more", 1),
    ("rr", 3),
    ("verdict", 2),
    ("acked", 9),
    ("lost_l1", 9),
    ("lost_l2", 9),
    ("hint", 24),
    ("action", 4),
    ("watched", 1),
    ("alive", 32),
    ("reset", 1),
];

#[test]
fn each_step_leaves_its_record_one_clock_later() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("commit_records", CommitRecords::new);
    let mut kinds = [0u64; 3];
    for round in 0..4000 {
        let path = Packed::random::<PathTx>(&mut rng);
        let row = Packed::random::<PathAck>(&mut rng);
        let packet = Packed::random::<PacketEntry>(&mut rng);
        let desc = Packed::random::<Desc>(&mut rng);
        for (name, packed) in [("path", &path), ("row", &row), ("packet", &packet), ("desc", &desc)] {
            b.set_words(name, packed.words());
        }
        let mut value = std::collections::HashMap::new();
        for (name, width) in SCALARS {
            let v = match name {
                "kind" => rng.below(4),
                "verdict" => pick(&mut rng, &[0, 0, 1, 2, 3]),
                "reset" => u64::from(rng.chance(2)),
                _ => rng.next() >> (64 - width),
            };
            b.set(name, v);
            value.insert(name, v);
        }
        let step = rng.below(4);
        for (n, name) in ["grant", "ack", "timer"].into_iter().enumerate() {
            b.set(name, u64::from(step == n as u64));
        }
        b.cycle();
        let valid = ["commit_grant_valid", "commit_ack_valid", "commit_timer_valid"].map(|name| b.get(name) == 1);
        let known = |n: u64| value["reset"] == 0 && step == n;
        assert_eq!(valid, [known(0), known(1), known(2)], "round {round}");
        let after = |record: &Packed| {
            for name in PATH[..6].iter().chain(&ROW) {
                let want = if ROW.contains(name) { row.get(name) } else { path.get(name) };
                assert_eq!(record.get(&format!("path.{name}")), want, "round {round}: {name}");
            }
        };
        if valid[0] {
            let record = Packed::from_words::<CommitGrant>(&b.get_words("commit_grant"));
            for name in ["conn", "kind", "nop", "now", "inflight_bytes", "more", "rr"] {
                assert_eq!(record.get(name), value[name], "round {round}: {name}");
            }
            for (name, from) in [("qp", "qp"), ("msn", "msn"), ("index", "index"), ("source", "kind")] {
                assert_eq!(record.get(name), packet.get(from), "round {round}: {name}");
            }
            // a skipped message sends nothing
            let sent = value["kind"] < 2;
            for name in ["home", "via", "ppsn", "rtx", "moved", "ack_req", "bytes", "port"] {
                assert_eq!(record.get(name), if sent { desc.get(name) } else { 0 }, "round {round}: {name}");
            }
            for name in ["next_ppsn", "pipe", "window"] {
                assert_eq!(record.get(name), if sent { path.get(name) } else { 0 }, "round {round}: {name}");
            }
        }
        if valid[1] {
            let record = Packed::from_words::<CommitAck>(&b.get_words("commit_ack"));
            for (name, from) in
                [("conn", "conn"), ("home", "path_index"), ("verdict", "verdict"), ("now", "now"), ("hint", "hint")]
            {
                assert_eq!(record.get(name), value[from], "round {round}: {name}");
            }
            // only an applied one acknowledges and loses
            for name in ["acked", "lost_l1", "lost_l2"] {
                assert_eq!(record.get(name), if value["verdict"] == 0 { value[name] } else { 0 }, "round {round}: {name}");
            }
            after(&record);
        }
        if valid[2] {
            let record = Packed::from_words::<CommitTimer>(&b.get_words("commit_timer"));
            for name in ["conn", "path_index", "action", "now", "watched", "alive"] {
                assert_eq!(record.get(name), value[name], "round {round}: {name}");
            }
            assert_eq!(
                (record.get("port"), record.get("probe_ppsn")),
                (path.get("port"), row.get("probe_ppsn")),
                "round {round}"
            );
            after(&record);
        }
        for (count, valid) in kinds.iter_mut().zip(valid) {
            *count += u64::from(valid);
        }
    }
    assert!(kinds.iter().all(|n| *n > 500), "{kinds:?}");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(CommitRecords::new(), clock: clock, inputs: {
        reset, conn, path_index, now, grant, kind, nop, inflight_bytes, more, rr, ack, verdict, acked, lost_l1, lost_l2, hint,
        timer, action, watched, alive
    })
    .input_as("path", |b| &mut b.path, rows::path_tx)
    .input_as("row", |b| &mut b.row, rows::path_ack)
    .input_as("packet", |b| &mut b.packet, rows::packet_entry)
    .input_as("desc", |b| &mut b.desc, desc)
    .top("commit_records")
    .cycles(1200)
    .seed(1)
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
