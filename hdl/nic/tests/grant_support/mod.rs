//! A connection's paths in a transmit slot: cases, and ok and S1 (section 7 of docs/protocol.md) as the reference of
//! grant_pick and grant_step.
//! In: a random source. Out: `Case`, its ports, and `reference`. Guarantees: nothing of the blocks is used.
#![allow(dead_code)] // each test uses its part
use crate::block_support::{pick, Packed};
use crate::rx_support::Rng;
use mrnic_nic::tx::rows::{ConnCfg, PathTx};

pub const UP: u64 = 1;
pub const SUSPECT: u64 = 2;
pub const DOWN: u64 = 3;

#[derive(Debug, Clone, Copy, Default)]
pub struct Path {
    pub state: u64,
    pub pipe: u64,
    pub window: u64,
    pub nlost: bool,
    pub lost_words: u64,
    pub next: u64,
    pub cum: u64,
    pub heard: bool,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub paths_log2: u64,
    pub path: [Path; 8],
    pub rr: usize,
    pub fault: u64,
    /// W.
    pub span_max: u64,
}

pub fn case(rng: &mut Rng, span_max: u64) -> Case {
    let paths_log2 = rng.below(4);
    let calm = rng.chance(30);
    let path = std::array::from_fn(|p| {
        // rows beyond the connection's paths are DISABLED (connections open that way)
        if p >= 1 << paths_log2 {
            return Path { cum: rng.below(1 << 24), window: rng.below(span_max + 1), ..Path::default() };
        }
        let cum = pick(rng, &[0, 0xFF_FFFF, 0xFF_FF01, 0x7F_FFFF, 500]);
        let span = pick(rng, &[0, 1, span_max / 2, span_max - 1, span_max, span_max]);
        let window = pick(rng, &[1, 2, 64, span_max - 1, span_max]);
        let pipe = pick(rng, &[0, window - 1, window, window, window + 1]).min(span_max);
        let nlost = rng.chance(if calm { 5 } else { 40 });
        Path {
            state: pick(rng, if calm { &[UP, UP, UP, SUSPECT] } else { &[UP, SUSPECT, DOWN, 0] }),
            pipe,
            window,
            nlost,
            lost_words: if nlost { 1 + rng.below(15) } else { 0 },
            next: (cum + span) & 0xFF_FFFF,
            cum,
            heard: rng.chance(50),
        }
    });
    Case { paths_log2, path, rr: rng.below(1 << paths_log2) as usize, fault: if rng.chance(90) { 0 } else { 1 }, span_max }
}

pub fn ports(c: &Case, rng: &mut Rng) -> Vec<(String, Vec<u32>)> {
    let mut cfg = Packed::random::<ConnCfg>(rng);
    cfg.set("paths_log2", c.paths_log2);
    let mut all = vec![
        ("cfg".to_string(), cfg.words().to_vec()),
        ("rr".into(), vec![c.rr as u32]),
        ("fault".into(), vec![c.fault as u32]),
    ];
    for (p, path) in c.path.iter().enumerate() {
        let mut row = Packed::random::<PathTx>(rng);
        row.set("state", path.state).set("pipe", path.pipe).set("window", path.window).set("lost_words", path.lost_words);
        row.set("next_ppsn", path.next).set("cum", path.cum).set("heard", path.heard.into());
        all.push((format!("path_tx_{p}"), row.words().to_vec()));
    }
    all
}

#[derive(Debug, PartialEq)]
pub struct Choice {
    pub ok: u64,
    /// Home of the resend, and whether it moves.
    pub resend: Option<(usize, bool)>,
    pub paths: u64,
    pub mask: u64,
    pub pipe: Vec<u64>,
    pub window: Vec<u64>,
    /// S4: a packet of the ok path p fills its window, or is the last of W.
    pub brim: u64,
}

pub fn reference(c: &Case) -> Choice {
    let paths = 1usize << c.paths_log2;
    // room(p) = pipe < window; ok(p) = state UP, room(p), next - cum < W
    let room = |p: &Path| if c.fault == 1 { p.pipe <= p.window } else { p.pipe < p.window };
    let span = |p: &Path| p.next.wrapping_sub(p.cum) & 0xFF_FFFF;
    let ok: Vec<bool> = c.path.iter().map(|p| p.state == UP && room(p) && span(p) < c.span_max).collect();
    // S1
    let candidate = |h: &usize| {
        let p = &c.path[*h];
        let moves = p.state == DOWN || p.state == SUSPECT && (p.heard || p.pipe == 0);
        p.nlost && (p.state == UP && room(p) || moves && ok.contains(&true))
    };
    let resend = (0..paths).map(|i| (c.rr + i) % paths).find(candidate).map(|h| (h, c.path[h].state != UP));
    Choice {
        ok: ok.iter().enumerate().map(|(p, ok)| u64::from(*ok) << p).sum(),
        resend,
        paths: paths as u64,
        mask: paths as u64 - 1,
        pipe: c.path.iter().map(|p| p.pipe).collect(),
        window: c.path.iter().map(|p| p.window).collect(),
        brim: (0..8)
            .filter(|&p| ok[p] && (c.path[p].pipe + 1 == c.path[p].window || span(&c.path[p]) + 1 == c.span_max))
            .map(|p| 1 << p)
            .sum(),
    }
}
