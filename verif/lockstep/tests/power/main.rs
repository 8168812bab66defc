//! The power of the comparison: a true trace passes, and every field of every kind of record, changed by one, is noticed.
//!
//! In: the trace of two models. Out: which changes are noticed. Guarantees: what may go unnoticed is listed with its reason,
//! and the list holds nothing that is always noticed.
mod records;
mod twin;

use mrnic_lockstep::{Divergence, Kind, Record};
use std::collections::BTreeMap;
use twin::{replay, run, Shown, Side};

/// Changes tried for each field of each sort of record.
const SAMPLES: usize = 10;

/// A kind of record and the value that says which fields it defines.
fn sort_of(r: &Record) -> (Kind, u64) {
    let sub = match r.kind {
        Kind::Rx => r.get("kind"),
        Kind::Err | Kind::Grant => r.get("kind"),
        // with a probe, or a connection error
        Kind::Timer => u64::from(r.get("action") == 6),
        _ => 0,
    };
    (r.kind, sub)
}

const TIME: &str =
    "when a step is taken is the hardware's freedom; what follows from it (tx_ts, service, sRTT, timers) is compared";
const NO_STEP: &str = "a step of this sort has no such value";
const EARLY: &str = "hardware samples it early; a false value shows where it decides (ack_req)";

/// Kind, its `kind` field, fields that a change may leave unnoticed, why.
const FREE: &[(Kind, u64, &[&str], &str)] = &[
    (Kind::Rx, 0, &["now"], TIME),
    (Kind::Rx, 0, &["share"], NO_STEP),
    (Kind::Rx, 1, &["now"], TIME),
    (Kind::Rx, 1, &["class", "code", "addr", "bytes", "share", "exp", "rnr", "qp_failed", "used"], NO_STEP),
    (Kind::Rx, 2, &["now"], TIME),
    (
        Kind::Rx,
        2,
        &[
            "class",
            "code",
            "addr",
            "bytes",
            "share",
            "cum",
            "high",
            "ce",
            "dup",
            "rx",
            "unacked",
            "exp",
            "rnr",
            "qp_failed",
            "used",
        ],
        NO_STEP,
    ),
    (
        Kind::Rx,
        4,
        &["class", "via", "opcode", "ppsn", "code", "placed", "addr", "bytes", "share", "exp", "rnr", "qp_failed", "used"],
        NO_STEP,
    ),
    (Kind::Rx, 5, &["now"], TIME),
    (Kind::Rx, 5, EPOCH, NO_STEP),
    (Kind::Rx, 5, &["share"], NO_STEP),
    (Kind::Rx, 6, &["now"], TIME),
    (Kind::Rx, 6, EPOCH, NO_STEP),
    (Kind::Ack, 0, &["now"], TIME),
    (Kind::Timer, 0, &["alive"], "nothing is awaited: no path watches (D8)"),
    (Kind::Timer, 1, &["alive"], "nothing is awaited: no path watches (D8)"),
    (Kind::Timer, 1, &["probe_ppsn", "port"], "a connection error sends no probe"),
    (Kind::Grant, 0, &["more"], EARLY),
    (Kind::Grant, 1, &["source"], "of a NOP of a queue pair that is closed nothing more is known"),
    (Kind::Grant, 1, &["more", "inflight_bytes"], "a resend is not bound by them"),
    (Kind::Grant, 2, &["now"], TIME),
    (Kind::Grant, 2, NO_PACKET, NO_STEP),
    (Kind::Grant, 2, &["nop"], NO_STEP),
    (Kind::Grant, 3, &["now"], TIME),
    (Kind::Grant, 3, NO_PACKET, NO_STEP),
    (Kind::Err, 1, &["conn"], "the QP names its connection"),
    (Kind::Err, 1, &["now"], TIME),
    (Kind::Err, 2, &["now"], TIME),
    (Kind::Err, 3, &["now"], TIME),
    (Kind::Err, 4, &["now"], TIME),
    (Kind::Rnr, 0, &["now"], TIME),
    (Kind::Err, 2, &["code", "msn"], NO_STEP),
    (Kind::Err, 3, &["conn", "code", "msn"], NO_STEP),
    (Kind::Err, 4, &["conn"], "the QP names its connection"),
];

const NO_PACKET: &[&str] = &[
    "home",
    "via",
    "ppsn",
    "rtx",
    "moved",
    "ack_req",
    "index",
    "bytes",
    "port",
    "inflight_bytes",
    "more",
    "next",
    "pipe",
    "window",
    "rr",
];

const EPOCH: &[&str] = &[
    "class",
    "used",
    "conn",
    "home",
    "via",
    "opcode",
    "ppsn",
    "code",
    "placed",
    "addr",
    "bytes",
    "acked",
    "cum",
    "high",
    "ce",
    "dup",
    "rx",
    "unacked",
    "exp",
    "rnr",
    "qp_failed",
];

fn is_free(sort: (Kind, u64), field: &str) -> bool {
    FREE.iter().any(|(k, s, fields, _)| (*k, *s) == sort && fields.contains(&field))
}

fn records(side: &Side) -> Vec<(usize, &Record)> {
    let record = |i: usize| match &side.shown[i] {
        Shown::Record(r) => Some((i, r)),
        _ => None,
    };
    (0..side.shown.len()).filter_map(record).collect()
}

/// The trace of a side with a change to its record at `at`.
fn changed(side: u8, sides: &[Side; 2], at: usize, change: impl FnOnce(&mut Record)) -> Result<(), Box<Divergence>> {
    let s = &sides[usize::from(side)];
    let mut shown = s.shown.clone();
    if let Shown::Record(r) = &mut shown[at] {
        change(r);
    }
    replay(side, &shown, &s.host)
}

#[test]
fn a_true_trace_passes_and_has_every_kind() {
    let sides = run();
    let mut count = BTreeMap::new();
    for (n, s) in sides.iter().enumerate() {
        replay(n as u8, &s.shown, &s.host).unwrap_or_else(|d| panic!("side {n}: {d}"));
        for (_, r) in records(s) {
            *count.entry(sort_of(r)).or_insert(0) += 1;
        }
    }
    println!("{count:?}");
    // those of READs come in sim/tests/reads.rs
    for k in Kind::ALL.iter().filter(|k| !matches!(k, Kind::Answer | Kind::Answered)) {
        assert!(count.keys().any(|s| s.0 == *k), "no {k} record");
    }
    for (k, s, ..) in FREE {
        assert!(count.contains_key(&(*k, *s)), "no {k} record of kind {s}");
    }
}

#[test]
fn every_field_changed_by_one_is_noticed() {
    let sides = run();
    let mut at: BTreeMap<(Kind, u64), Vec<(u8, usize)>> = BTreeMap::new();
    for (n, s) in sides.iter().enumerate() {
        for (i, r) in records(s) {
            at.entry(sort_of(r)).or_default().push((n as u8, i));
        }
    }
    let (mut missed, mut always, mut tried) = (Vec::new(), Vec::new(), 0);
    for (sort, places) in &at {
        let step = places.len().div_ceil(SAMPLES);
        for (f, name) in sort.0.fields().iter().enumerate() {
            let mut silent = 0;
            for (side, i) in places.iter().step_by(step) {
                tried += 1;
                let result = changed(*side, &sides, *i, |r| r.values[f] ^= 1);
                silent += usize::from(result.is_ok());
            }
            match (silent, is_free(*sort, name)) {
                (0, true) => always.push(format!("{} {} {name}", sort.0, sort.1)),
                (1.., false) => {
                    missed.push(format!("{} {} {name}: {silent} of {}", sort.0, sort.1, places.len().div_ceil(step)))
                }
                _ => {}
            }
        }
    }
    println!("{tried} changes tried");
    assert!(missed.is_empty(), "changes that go unnoticed:\n{}", missed.join("\n"));
    assert!(always.is_empty(), "always noticed, so not free:\n{}", always.join("\n"));
}

#[test]
fn every_word_of_a_wide_field_is_noticed() {
    let sides = run();
    for (kind, side) in [(Kind::Wqe, 0), (Kind::Cqe, 0), (Kind::Recv, 1), (Kind::Rcqe, 1)] {
        let s = &sides[usize::from(side)];
        for (i, r) in records(s).into_iter().filter(|x| x.1.kind == kind) {
            for w in 0..r.wide.len() {
                let d = changed(side, &sides, i, |r| r.wide[w] ^= 1 << (7 * w % 32)).expect_err("noticed");
                assert!(!d.field().is_empty(), "{kind} word {w}: {d}");
            }
        }
    }
}

#[test]
fn a_missing_or_doubled_record_is_noticed() {
    let sides = run();
    for (n, s) in sides.iter().enumerate() {
        let all = records(s);
        // the last epoch needs no successor
        for (i, r) in all.iter().step_by(all.len().div_ceil(60)).filter(|x| x.1.kind != Kind::Rx || x.1.get("kind") < 5) {
            for copies in [0, 2] {
                let mut shown = s.shown.clone();
                let x = shown.remove(*i);
                shown.splice(i..i, vec![x; copies]);
                assert!(replay(n as u8, &shown, &s.host).is_err(), "{copies} times: {r}");
            }
        }
    }
}

#[test]
fn a_changed_byte_that_leaves_is_noticed() {
    let sides = run();
    for (n, s) in sides.iter().enumerate() {
        for i in (0..s.shown.len()).step_by(s.shown.len().div_ceil(200)) {
            let mut shown = s.shown.clone();
            match &mut shown[i] {
                Shown::FrameOut(b) | Shown::Write(_, b) | Shown::Cqe(_, b) => {
                    let at = i * 7 % b.len();
                    b[at] ^= 0x10;
                }
                Shown::Read(addr, _) => *addr += 1,
                Shown::FrameIn(_) | Shown::Record(_) => continue,
            }
            assert!(replay(n as u8, &shown, &s.host).is_err(), "side {n}: {:?}", s.shown[i]);
        }
    }
}

/// The report of a fault of rule L2 (a resend counted lost once more than the model says).
#[test]
fn the_report_names_rule_field_states_history_and_waveform() {
    let sides = run();
    let of_interest = |r: &Record| r.kind == Kind::Ack && r.get("gen_open") == 1;
    let (i, _) =
        records(&sides[0]).into_iter().filter(|x| of_interest(x.1)).nth(2).expect("an acknowledgment with resends under way");
    let lost = Kind::Ack.fields().iter().position(|f| *f == "lost_l2").expect("a field");
    let d = changed(0, &sides, i, |r| r.values[lost] += 1).expect_err("noticed");
    assert_eq!((d.field(), d.history.len()), ("lost_l2", 20));
    insta::assert_snapshot!(d.to_string());
}
