//! grant_step against section 7 of docs/protocol.md in plain integers: S1, S3, C3, C4, payload of a packet; simulation =
//! Verilog.
mod block_support;
mod grant_support;
mod rx_support;

use block_support::{of_window, pick, rows, seed, Packed};
use grant_support::{case, ports, reference, Case, Choice};
use mrnic_difftest::difftest;
use mrnic_nic::tx::grant_step::GrantStep;
use mrnic_nic::tx::rows::{ConnAck, ConnCfg, ConnTx};
use rx_support::{Bench, Rng};

const UNLIMITED: u64 = 0xFF_FFFF;
const TICKS: u64 = 0xFFFF_FFFF;
const TOKENS: i128 = 1 << 36;

#[derive(Debug, Clone)]
struct Slot {
    case: Case,
    npkts: u64,
    mtu_log2: u64,
    length: u64,
    index: u64,
    inflight: u64,
    /// Payload of the packet that is paced.
    bytes: u64,
    via: u64,
    now: u64,
    hint: u64,
    longest_srtt: u64,
    any_rtt: bool,
    tokens: i64,
    elapsed: u64,
    conn_tx: Packed,
    ports: Vec<(String, Vec<u32>)>,
}

fn slot(rng: &mut Rng) -> Slot {
    let mut case = case(rng, 256);
    let mtu_log2 = 8 + rng.below(5);
    let mtu = 1u64 << mtu_log2;
    let length = pick(rng, &[0, 1, mtu - 1, mtu, mtu + 1, 8 * mtu, 8 * mtu + 1, 57 * mtu, 300_000, 1 << 31]);
    let npkts = length.div_ceil(mtu).max(1);
    let near_end = npkts.saturating_sub(rng.below(12)).min(npkts - 1);
    let index = pick(rng, &[0, npkts - 1, npkts / 2, near_end]);
    let bytes = if rng.chance(50) { length.min((index + 1) * mtu) - index * mtu } else { rng.below(mtu + 1) };
    let hint = pick(rng, &[1, 40, 25_000, 400_000, UNLIMITED - 1, UNLIMITED, UNLIMITED]);
    let longest_srtt = pick(rng, &[0, 1, 60, 400, 0x7FFF]);
    let cap = mtu.max((hint * longest_srtt * 5) >> 8);
    let inflight = pick(rng, &[0, cap.saturating_sub(bytes), cap.saturating_sub(1), cap, cap + 1, 5000]).min(TICKS);
    let via = rng.below(8);
    let elapsed = pick(rng, &[0, 1, 100, 1022, 1023, 1024, 1 << 31]);
    let tokens = pick(rng, &[-600_000, -1, 0, 1, 500 * mtu as i64, -2 * (hint.min(2000) * elapsed.min(1023)) as i64]);
    let now = pick(rng, &[0, 500, TICKS, 1 << 31]);
    let mut conn_tx = Packed::random::<ConnTx>(rng);
    conn_tx.set("rr", case.rr as u64).set("tokens", i128::from(tokens).rem_euclid(TOKENS) as u64);
    conn_tx.set("token_time", now.wrapping_sub(elapsed) & TICKS);
    let mut conn_ack = Packed::random::<ConnAck>(rng);
    let any_rtt = rng.chance(80);
    conn_ack.set("hint", hint).set("longest_srtt", longest_srtt).set("any_rtt", any_rtt.into());
    case.fault = pick(rng, &[0, 0, 0, 0, 0, 1, 7]);
    let mut ports = ports(&case, rng);
    let mut cfg = Packed::from_words::<ConnCfg>(&ports[0].1);
    cfg.set("mtu_log2", mtu_log2);
    ports[0].1 = cfg.words().to_vec();
    ports.retain(|(name, _)| name != "rr");
    for (name, value) in [
        ("npkts", npkts),
        ("index", index),
        ("length", length & 0x1FFF),
        ("inflight", inflight),
        ("bytes", bytes),
        ("via", via),
        ("now", now),
    ] {
        ports.push((name.to_string(), vec![value as u32]));
    }
    ports.push(("conn_tx".into(), conn_tx.words().to_vec()));
    ports.push(("conn_ack".into(), conn_ack.words().to_vec()));
    Slot {
        case,
        npkts,
        mtu_log2,
        length,
        index,
        inflight,
        bytes,
        via,
        now,
        hint,
        longest_srtt,
        any_rtt,
        tokens,
        elapsed,
        conn_tx,
        ports,
    }
}

/// S3: among ok paths the least pipe/window; the earliest wins ties.
fn least_loaded(c: &Case, choice: &Choice) -> Option<u64> {
    let paths = choice.paths as usize;
    let ok = (0..paths).map(|i| (c.rr + i) % paths).filter(|p| choice.ok >> p & 1 == 1);
    let load = |p: usize| (c.path[p].pipe, c.path[p].window);
    let better = |a: usize, b: usize| load(b).0 * load(a).1 < load(a).0 * load(b).1;
    ok.reduce(|a, b| if better(a, b) { b } else { a }).map(|p| p as u64)
}

#[test]
fn slots_are_those_of_section_7() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("grant_step", || GrantStep::new(&of_window(256)));
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    let (mut capped, mut paced, mut resends, mut none) = (0, 0, 0, 0);
    for round in 0..5000 {
        let s = slot(&mut rng);
        for (name, value) in &s.ports {
            b.set_words(name, value);
        }
        b.set("load", 1);
        b.cycle();
        b.set("load", 0);
        b.set("start", 1);
        b.cycle();
        b.set("start", 0);
        b.dut.cycles(2);
        let choice = reference(&s.case);
        let context = format!("round {round}: {s:?}");
        // S1
        let got = (b.get("resend") == 1).then(|| (b.get("home") as usize, b.get("moves") == 1));
        assert_eq!(got, choice.resend, "{context}");
        assert_eq!(b.get("path_mask"), choice.mask, "{context}");
        // S3
        let path = least_loaded(&s.case, &choice);
        assert_eq!((b.get("found") == 1).then(|| b.get("path")), path, "{context}");
        // S4
        if let Some(path) = path {
            assert_eq!(b.get("brim"), choice.brim >> path & 1, "{context}");
        }
        // C3
        let mtu = 1u64 << s.mtu_log2;
        let limited = s.hint != UNLIMITED && s.case.fault != 7;
        let cap = (limited && s.any_rtt).then(|| mtu.max((s.hint * s.longest_srtt * 5) >> 8));
        assert_eq!(b.get("cap_ok") == 1, cap.is_none_or(|cap| s.inflight < cap), "{context}");
        assert_eq!(b.get("cap_reached_after") == 1, cap.is_some_and(|cap| s.inflight + s.bytes >= cap), "{context}");
        // C4
        let t = (s.tokens + 2 * (s.hint * s.elapsed.min(1023)) as i64).min(500 * mtu as i64);
        assert_eq!(b.get("pace_ok") == 1, !limited || t > 0, "{context}");
        // payload: [i * MTU, min(length, (i+1) * MTU))
        let last = s.index + 1 == s.npkts;
        let payload = s.length.min((s.index + 1) * mtu) - s.index * mtu;
        assert_eq!((b.get("new_bytes"), b.get("is_last") == 1), (payload, last), "{context}");
        // S4
        assert_eq!(b.get("is_late") == 1, s.index + choice.paths >= s.npkts, "{context}");
        // afterwards
        let mut paid = s.conn_tx.clone();
        if limited {
            let left = i128::from(t) - 125 * (i128::from(s.bytes) + 96);
            paid.set("tokens", left.rem_euclid(TOKENS) as u64).set("token_time", s.now);
        }
        let turned = (s.case.rr as u64 + 1) % choice.paths;
        let mut resent = paid.clone();
        if choice.resend.is_some_and(|(_, moves)| moves) {
            resent.set("rr", (s.via + 1) % choice.paths);
        }
        assert_eq!(Packed::from_words::<ConnTx>(&b.get_words("after_resend")), resent, "{context}");
        paid.set("sent_bytes", (s.conn_tx.get("sent_bytes") + s.bytes) & TICKS);
        paid.set("rr", turned);
        assert_eq!(Packed::from_words::<ConnTx>(&b.get_words("after_new")), paid, "{context}");
        capped += u64::from(cap.is_some_and(|cap| s.inflight >= cap));
        paced += u64::from(limited && t <= 0);
        resends += u64::from(choice.resend.is_some());
        none += u64::from(path.is_none());
    }
    let counts = [capped, paced, resends, none];
    assert!(counts.iter().all(|n| *n > 200), "{counts:?}");
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(GrantStep::new(&of_window(256)), clock: clock, inputs: {
        reset, fault, now, load, start, npkts, index, length, inflight, bytes, via
    })
    .input_as("cfg", |b| &mut b.cfg, rows::conn_cfg)
    .input_as("conn_tx", |b| &mut b.conn_tx, rows::conn_tx)
    .input_as("conn_ack", |b| &mut b.conn_ack, rows::conn_ack);
    for p in 0..8 {
        test = test.input_as(&format!("path_tx_{p}"), move |b| &mut b.path_tx[p], rows::path_tx);
    }
    let report = test
        .top("grant_step")
        .cycles(1200)
        .seed(1)
        .stimulus({
            let mut held = Vec::new();
            move |random, cycle, inputs| {
                let clock = cycle % 6;
                if clock == 0 {
                    held = slot(&mut Rng(random.u64() | 1)).ports;
                }
                if random.chance(0.95) {
                    held.iter().for_each(|(name, value)| inputs.set(name, value.clone()));
                }
                inputs.set("load", clock == 0 || random.chance(0.05));
                inputs.set("start", clock == 1 || random.chance(0.05));
            }
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
