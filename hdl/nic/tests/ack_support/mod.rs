//! A path and an acknowledgment on unbounded numbers: cases, and A1, A2 and the bounds of L1, L2, L5 (section 6 of
//! docs/protocol.md) as the reference of ack_check and ack_step.
//! In: a random source. Out: `Case`, its ports, and `reference`. Guarantees: nothing of the blocks is used.
#![allow(dead_code)] // each test uses its part
use crate::block_support::{pick, Packed};
use crate::rx_support::Rng;
use mrnic_nic::tx::rows::{AckFields, PathAck, PathTx};

pub const DISABLED: u64 = 0;
pub const UP: u64 = 1;
pub const DOWN: u64 = 3;
pub const SEQUENCE: i64 = 1 << 24;

/// A path and an acknowledgment; PPSNs and ticks count without wrap.
#[derive(Debug, Clone)]
pub struct Case {
    pub state: u64,
    pub cum: i64,
    pub next: i64,
    pub gen_open: bool,
    pub mark: i64,
    pub probe_pending: bool,
    pub probe_ts: u64,
    pub probe_ppsn: i64,
    pub floor_active: bool,
    pub floor: i64,
    pub floor_time: i64,
    pub reo_tol: i64,
    pub now: i64,
    pub rto_min: i64,
    pub ack_cum: i64,
    /// Highest bit of the vector.
    pub sav: Option<i64>,
    pub probe_reply: bool,
    pub ts_echo: u64,
    /// N1: an RNR for this PPSN.
    pub refused: Option<i64>,
    pub fault: u64,
}

pub fn case(rng: &mut Rng) -> Case {
    // anywhere, and where 24 bits wrap within the window
    let cum = 8 * SEQUENCE + pick(rng, &[0, SEQUENCE - 1, SEQUENCE - 100, SEQUENCE - 256, 77, SEQUENCE / 2 - 50, 0x80_0000]);
    let span = pick(rng, &[0, 1, 2, 63, 64, 128, 255, 256]);
    let next = cum + if rng.chance(50) { span } else { rng.below(257) as i64 };
    let within = |rng: &mut Rng| pick(rng, &[cum, next, next - 1, cum + 1, cum + (next - cum) / 2]).clamp(cum, next);
    let behind = |rng: &mut Rng| pick(rng, &[cum - 1, cum - 40, cum - 300, cum - (1 << 22)]);
    let probe_pending = rng.chance(60);
    let probe_ts = rng.below(3);
    let now = 8 * (1 << 32) + rng.below(1 << 33) as i64;
    let rto_min = pick(rng, &[16, 782, 1 << 20]);
    let ack_cum = match rng.below(10) {
        0 => cum - 1 - rng.below(1 << 23) as i64,
        1 => next + 1 + rng.below(4) as i64,
        2 => cum + rng.below(1 << 23) as i64,
        3 => next,
        4 => cum,
        _ => cum + rng.below((next - cum) as u64 + 1) as i64,
    };
    let most = (next - ack_cum - 2).clamp(0, 255) as u64;
    let sav = match rng.below(4) {
        0 => None,
        1 => Some(rng.below(256) as i64),
        2 => Some(most as i64),
        _ => Some(rng.below(most + 1) as i64),
    };
    Case {
        state: pick(rng, &[1, 1, 1, 2, DOWN, DOWN, DISABLED]),
        cum,
        next,
        gen_open: rng.chance(60),
        mark: if rng.chance(80) { within(rng) } else { behind(rng) },
        probe_pending,
        probe_ts,
        // progress ends a probe, so a pending one is not behind cum
        probe_ppsn: if probe_pending || rng.chance(50) { within(rng) } else { behind(rng) },
        floor_active: rng.chance(50),
        floor: if rng.chance(70) { within(rng) } else { behind(rng) },
        floor_time: now
            - if rng.chance(80) { pick(rng, &[0, 1, rto_min - 1, rto_min, rto_min + 1]) } else { rng.below(1 << 31) as i64 },
        reo_tol: pick(rng, &[0, 0, 1, 2, 4, 63, 64]),
        now,
        rto_min,
        ack_cum,
        sav,
        probe_reply: rng.chance(60),
        ts_echo: if rng.chance(70) { probe_ts } else { rng.below(3) },
        refused: rng.chance(50).then(|| match rng.chance(80) {
            true => pick(rng, &[cum - 1, cum, ack_cum - 1, ack_cum, (ack_cum + next) / 2, next - 1, next, next + 1]),
            false => cum + rng.below(1 << 24) as i64,
        }),
        fault: if rng.chance(95) { 0 } else { 3 },
    }
}

/// The ports' values for a case; what the rule does not speak of is random.
pub fn ports(c: &Case, rng: &mut Rng) -> Vec<(&'static str, Vec<u32>)> {
    let ppsn = |v: i64| v.rem_euclid(SEQUENCE) as u64;
    let tick = |v: i64| v.rem_euclid(1 << 32) as u64;
    let mut path = Packed::random::<PathTx>(rng);
    path.set("state", c.state).set("cum", ppsn(c.cum)).set("next_ppsn", ppsn(c.next));
    let mut row = Packed::random::<PathAck>(rng);
    row.set("gen_open", c.gen_open.into()).set("mark", ppsn(c.mark));
    row.set("probe_pending", c.probe_pending.into()).set("probe_ts", c.probe_ts).set("probe_ppsn", ppsn(c.probe_ppsn));
    row.set("floor_active", c.floor_active.into()).set("floor_ppsn", ppsn(c.floor)).set("floor_time", tick(c.floor_time));
    row.set("reo_tol", c.reo_tol as u64);
    let mut ack = Packed::random::<AckFields>(rng);
    let others = ack.get("flags") & !3 | u64::from(c.refused.is_some());
    if let Some(refused) = c.refused {
        ack.set("mak_qp", ppsn(refused));
    }
    ack.set("cum", ppsn(c.ack_cum)).set("ts_echo", c.ts_echo).set("flags", others | u64::from(c.probe_reply) << 1);
    vec![
        ("path", path.words().to_vec()),
        ("row", row.words().to_vec()),
        ("ack", ack.words().to_vec()),
        ("high", vec![c.sav.map_or(0x3FF, |bit| bit as u32 + 1)]),
        ("any", vec![c.sav.is_some().into()]),
        ("now", vec![tick(c.now) as u32]),
        ("rto_min", vec![c.rto_min as u32]),
        ("fault", vec![c.fault as u32]),
    ]
}

/// What section 6 says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    Applied {
        probe: bool,
        probe_edge: bool,
        floor_active: bool,
        turn: bool,
        advance: i64,
        gap: std::ops::Range<i64>,
        refuses: bool,
    },
    Disabled,
    Stale,
    Invalid,
}

pub fn reference(c: &Case) -> Verdict {
    let span = c.next - c.cum;
    let d = c.ack_cum - c.cum;
    let high = c.ack_cum + c.sav.map_or(-1, |bit| 1 + bit);
    // A1
    if c.state == DISABLED {
        return Verdict::Disabled;
    }
    if d < 0 {
        return Verdict::Stale;
    }
    if d > span || c.sav.is_some() && high - c.cum >= span {
        return Verdict::Invalid;
    }
    // A2
    let probe = c.probe_reply && c.probe_pending && c.ts_echo == c.probe_ts;
    let probe_edge = probe && c.state == UP;
    let edge = if probe_edge { high.max(c.probe_ppsn) } else { high };
    // L2
    let turn = c.gen_open && (edge >= c.mark || c.fault == 3);
    // L5
    let floor_active = c.floor_active && c.now - c.floor_time < c.rto_min;
    // L1
    let mut below = high - c.reo_tol;
    if probe_edge {
        below = below.max(c.probe_ppsn);
    }
    let from = if floor_active { c.ack_cum.max(c.floor) } else { c.ack_cum };
    let gap = if below > from { from - c.cum..below - c.cum } else { 0..0 };
    // N1: only the low 24 bits are told
    let refuses = c.refused.is_some_and(|p| (d..span).contains(&(p - c.cum).rem_euclid(SEQUENCE)));
    Verdict::Applied { probe, probe_edge, floor_active, turn, advance: d, gap, refuses }
}
