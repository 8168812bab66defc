//! ack_step against section 6 of docs/protocol.md in plain integers: RTT, C1, L6, C2, L2, L5, progress; simulation = Verilog.
mod ack_support;
mod block_support;
mod rx_support;

use ack_support::{case, ports, reference, Case, Verdict};
use block_support::{of_window, pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::ack_step::AckStep;
use mrnic_nic::tx::rows::{AckFields, PathAck, PathTx};
use rx_support::{Bench, Rng};

const TICKS: u64 = 0xFFFF_FFFF;

/// What the step on the words has found.
#[derive(Debug, Clone, Copy)]
struct Sums {
    acked: u64,
    dropped: u64,
    lost_words: u64,
    any_l1: bool,
    any_rtx_old: bool,
}

#[derive(Debug, Clone)]
struct Step {
    case: Case,
    path: Packed,
    row: Packed,
    ack: Packed,
    sums: Sums,
    ports: Vec<(&'static str, Vec<u32>)>,
}

/// A case with the rest of the rows: near the edges of each rule.
fn step(rng: &mut Rng) -> Step {
    let case = case(rng);
    let mut ports = ports(&case, rng);
    let mut path = Packed::from_words::<PathTx>(&ports[0].1);
    let mut row = Packed::from_words::<PathAck>(&ports[1].1);
    let mut ack = Packed::from_words::<AckFields>(&ports[2].1);
    let now = case.now as u64 & TICKS;
    let before = |ticks: u64| now.wrapping_sub(ticks) & TICKS;
    let srtt8 = pick(rng, &[0, 7, 8, 80, 800, 6400, 100_000, 262_136]);
    let window = pick(rng, &[1, 2, 3, 64, 255, 256]);
    let pipe = rng.below(257);
    path.set("srtt8", srtt8).set("window", window).set("pipe", pipe);
    row.set("var4", pick(rng, &[0, 3, 4, 100, 60_000, 131_068]))
        .set("credit", pick(rng, &[0, 1, window - 1, 254, 255]).min(511));
    let cut_age = pick(rng, &[0, 1, (srtt8 >> 3).saturating_sub(1), srtt8 >> 3, (srtt8 >> 3) + 1, 1 << 30]);
    let reo_age = pick(rng, &[0, (2 * srtt8).saturating_sub(1), 2 * srtt8, 2 * srtt8 + 1, 1 << 30]);
    row.set("last_cut", before(cut_age)).set("reo_base", before(reo_age));
    for (seen, counter) in [("ce_seen", "ce"), ("dup_seen", "dup")] {
        let last = pick(rng, &[0, 5, 0x7FFF, 0x8000, 0xFFFF]);
        row.set(seen, last);
        ack.set(counter, (last + pick(rng, &[0, 0, 0, 1, 3, 0x7FFF, 0x8000, 0xFFFF])) & 0xFFFF);
    }
    // s = ts - ts_echo - service; the probe's own echo is what it is
    let service = pick(rng, &[0, 1, 300, 0xFFFF]);
    let s = pick(rng, &[0, 1, srtt8 >> 3, (srtt8 >> 3) + 1, 50, 4000, 0x7FFF, 0x8000, 0xFFFF]);
    ack.set("service", service);
    if !(case.probe_reply && case.probe_pending) {
        ack.set("ts_echo", now.wrapping_sub(s).wrapping_sub(service) & 0xFFFF);
        row.set("probe_ts", ack.get("ts_echo") ^ 1);
    }
    ack.set("flags", ack.get("flags") & !4 | rng.below(2) << 2);
    if rng.chance(10) {
        ack.set("rate", pick(rng, &[0, 1, 0xFF_FFFF]));
    }
    let sums = Sums {
        acked: pick(rng, &[0, 0, 1, 2, window, 255, 256]),
        dropped: pick(rng, &[0, 1, pipe]).min(pipe),
        lost_words: rng.below(16),
        any_l1: rng.chance(40),
        any_rtx_old: rng.chance(50),
    };
    for (n, packed) in [&path, &row, &ack].into_iter().enumerate() {
        ports[n].1 = packed.words().to_vec();
    }
    Step { case, path, row, ack, sums, ports }
}

/// Section 6 for an acknowledgment that is applied: rows afterwards, and the hint.
fn apply(s: &Step, verdict: &Verdict) -> (Packed, Packed, u64) {
    let Verdict::Applied { probe, probe_edge, floor_active, turn, .. } = *verdict else { unreachable!("only applied ones") };
    let (mut path, mut row) = (s.path.clone(), s.row.clone());
    let now = s.case.now as u64 & TICKS;
    let age = |since: u64| now.wrapping_sub(since) & TICKS;
    let signed = |delta: u64| (delta & 0xFFFF) as u16 as i16;
    let ts_valid = s.ack.get("flags") >> 2 & 1 == 1;
    // A3
    path.set("cum", s.ack.get("cum")).set("pipe", s.path.get("pipe") - s.sums.dropped).set("lost_words", s.sums.lost_words);
    // L2
    if turn {
        row.set("mark", path.get("next_ppsn")).set("gen_open", s.sums.any_rtx_old.into());
    }
    // L5
    row.set("floor_active", floor_active.into());
    // L1
    let since_dup = s.row.get("l1_since_dup") == 1 || s.sums.any_l1 && !probe_edge;
    // RTT
    let sample = now.wrapping_sub(s.ack.get("ts_echo")).wrapping_sub(s.ack.get("service")) & 0xFFFF;
    if ts_valid && sample < 1 << 15 {
        let sample = sample.max(1) as i64;
        let (srtt8, var4) = (s.path.get("srtt8") as i64, s.row.get("var4") as i64);
        let (srtt8, var4) = if s.path.get("rtt_valid") == 0 {
            (8 * sample, 2 * sample)
        } else {
            let e = sample - (srtt8 >> 3);
            (srtt8 + e, var4 + e.abs() - (var4 >> 2))
        };
        path.set("srtt8", srtt8 as u64).set("rtt_valid", 1);
        row.set("var4", var4 as u64);
    }
    let srtt8 = path.get("srtt8");
    // C1
    let dce = signed(s.ack.get("ce").wrapping_sub(s.row.get("ce_seen")));
    if dce >= 0 {
        row.set("ce_seen", s.ack.get("ce"));
    }
    let window = s.path.get("window");
    if dce > 0 {
        if age(s.row.get("last_cut")) >= (srtt8 >> 3).max(1) {
            path.set("window", (window / 2).max(1));
            row.set("credit", 0).set("last_cut", now);
        }
    } else {
        let mut credit = (s.row.get("credit") + s.sums.acked).min(511);
        if credit >= window {
            credit -= window;
            path.set("window", (window + 1).min(256));
        }
        row.set("credit", credit);
    }
    // L6
    let ddup = signed(s.ack.get("dup").wrapping_sub(s.row.get("dup_seen")));
    if ddup >= 0 {
        row.set("dup_seen", s.ack.get("dup"));
    }
    let reo_tol = s.row.get("reo_tol");
    row.set("l1_since_dup", since_dup.into());
    if ddup > 0 && since_dup {
        row.set("reo_tol", if reo_tol == 0 { 1 } else { (2 * reo_tol).min(64) }).set("reo_base", now).set("l1_since_dup", 0);
    } else if reo_tol > 0 && age(s.row.get("reo_base")) >= 2 * srtt8 {
        row.set("reo_tol", reo_tol / 2).set("reo_base", now);
    }
    // progress
    if s.sums.acked > 0 || probe {
        path.set("t_base", now);
        row.set("probe_pending", 0);
        if s.sums.acked > 0 {
            path.set("heard", 1);
            row.set("tries", 0);
        }
        if ts_valid || probe {
            row.set("backoff", 0);
            if s.path.get("state") == 2 {
                path.set("state", 1);
            }
        }
        if probe && s.path.get("state") == 3 {
            let clean = s.row.get("clean") + 1;
            row.set("clean", clean % 3);
            if clean == 3 {
                path.set("state", 1).set("window", 1);
            }
        }
    }
    // C2
    (path, row, s.ack.get("rate").max(1))
}

#[test]
fn rows_after_an_acknowledgment_are_those_of_section_6() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("ack_step", || AckStep::new(&of_window(256)));
    let (mut applied, mut woken, mut cut, mut tolerant) = (0, 0, 0, 0);
    for round in 0..10_000 {
        let mut s = step(&mut rng);
        // clean counts to 2 at most
        let clean = rng.below(3);
        s.row.set("clean", clean);
        s.ports[1].1 = s.row.words().to_vec();
        for (name, value) in &s.ports {
            b.set_words(name, value);
        }
        // what the words say comes in clock 7 only
        for name in ["acked", "dropped", "lost_words", "any_l1", "any_rtx_old"] {
            b.set(name, 0);
        }
        b.dut.cycles(6);
        let sums = s.sums;
        let stranded = rng.chance(30);
        b.set("stranded", stranded.into());
        let awaits = rng.chance(30);
        b.set("awaits", awaits.into());
        for (name, value) in [("acked", sums.acked), ("dropped", sums.dropped), ("lost_words", sums.lost_words)] {
            b.set(name, value);
        }
        b.set("any_l1", sums.any_l1.into());
        b.set("any_rtx_old", sums.any_rtx_old.into());
        b.eval();
        // the echo may have been moved away from the probe's
        let echo = Case { ts_echo: s.ack.get("ts_echo"), probe_ts: s.row.get("probe_ts"), ..s.case.clone() };
        let verdict = reference(&echo);
        let number = match verdict {
            Verdict::Applied { .. } => 0,
            Verdict::Disabled => 1,
            Verdict::Stale => 2,
            Verdict::Invalid => 3,
        };
        assert_eq!(b.get("verdict"), number, "round {round}: {s:?}");
        let Verdict::Applied { probe, .. } = verdict else { continue };
        let (path, row, hint) = apply(&s, &verdict);
        assert_eq!(Packed::from_words::<PathTx>(&b.get_words("new_path")), path, "round {round}: {s:?}");
        assert_eq!(Packed::from_words::<PathAck>(&b.get_words("new_row")), row, "round {round}: {s:?}");
        assert_eq!(b.get("hint"), hint, "round {round}: {s:?}");
        // the timer: nothing of section 8 is due before the tick it is set to
        let progress = sums.acked > 0 || probe;
        let idle = path.get("cum") == path.get("next_ppsn");
        assert_eq!(b.get("set_timer"), u64::from(progress || idle), "round {round}: {s:?}");
        assert_eq!(
            b.get("timer_active"),
            u64::from(!idle || path.get("state") != 1 || stranded || awaits),
            "round {round}: {s:?}"
        );
        assert_eq!(b.get("progresses"), u64::from(progress), "round {round}: {s:?}");
        if progress {
            let srtt = path.get("srtt8") >> 3;
            let wait = (b.get("deadline") as u32).wrapping_sub(s.case.now as u32);
            let soonest = (srtt + (srtt >> 2)).max(16).min(s.case.rto_min as u64);
            assert!(
                wait > 0 && u64::from(wait) <= soonest,
                "round {round}: looked at after {wait}, due after {soonest}: {s:?}"
            );
        }
        applied += 1;
        woken += u64::from(s.path.get("state") == 3 && path.get("state") == 1);
        cut += u64::from(path.get("window") < s.path.get("window"));
        tolerant += u64::from(row.get("reo_tol") > s.row.get("reo_tol"));
    }
    assert!(applied > 3000 && woken > 20 && cut > 100 && tolerant > 50, "{applied} {woken} {cut} {tolerant}");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(AckStep::new(&of_window(256)), clock: clock, inputs: {
        fault, now, rto_min, high, any, stranded, awaits, acked, dropped, lost_words, any_l1, any_rtx_old
    })
    .input_as("ack", |b| &mut b.ack, rows::ack_fields)
    .input_as("path", |b| &mut b.path, rows::path_tx)
    .input_as("row", |b| &mut b.row, rows::path_ack)
    .top("ack_step")
    .cycles(2000)
    .seed(1)
    .limit("acked", 0..=256)
    .stimulus({
        let mut held = Vec::new();
        move |random, cycle, inputs| {
            if cycle % 8 == 0 {
                held = step(&mut Rng(random.u64() | 1)).ports;
            }
            if random.chance(0.95) {
                held.iter().for_each(|(name, value)| inputs.set(name, value.clone()));
            }
            let fault = *random.pick(&[0u32, 0, 0, 3, 5]);
            inputs.set("fault", fault);
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
