//! grant_pick against section 7 of docs/protocol.md (ok, S1, k of S3) in plain loops; fault 1; simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::{pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::grant_pick::GrantPick;
use mrnic_nic::tx::rows::{ConnCfg, PathTx};
use rx_support::{Bench, Rng};

const UP: u64 = 1;
const SUSPECT: u64 = 2;
const DOWN: u64 = 3;

#[derive(Debug, Clone, Copy, Default)]
struct Path {
    state: u64,
    pipe: u64,
    window: u64,
    nlost: bool,
    lost_words: u64,
    next: u64,
    cum: u64,
}

#[derive(Debug, Clone)]
struct Case {
    paths_log2: u64,
    path: [Path; 8],
    rr: usize,
    npkts: u64,
    fault: u64,
}

fn case(rng: &mut Rng) -> Case {
    let paths_log2 = rng.below(4);
    let calm = rng.chance(30);
    let path = std::array::from_fn(|p| {
        // rows beyond the connection's paths are DISABLED (connections open that way)
        if p >= 1 << paths_log2 {
            return Path { cum: rng.below(1 << 24), window: rng.below(257), ..Path::default() };
        }
        let cum = pick(rng, &[0, 0xFF_FFFF, 0xFF_FF01, 0x7F_FFFF, 500]);
        let span = pick(rng, &[0, 1, 100, 255, 256, 256]);
        let window = pick(rng, &[1, 2, 64, 255, 256]);
        let pipe = pick(rng, &[0, window - 1, window, window, window + 1]).min(256);
        let nlost = rng.chance(if calm { 5 } else { 40 });
        Path {
            state: pick(rng, if calm { &[UP, UP, UP, SUSPECT] } else { &[UP, SUSPECT, DOWN, 0] }),
            pipe,
            window,
            nlost,
            lost_words: if nlost { 1 + rng.below(15) } else { 0 },
            next: (cum + span) & 0xFF_FFFF,
            cum,
        }
    });
    let npkts = match rng.below(4) {
        0 => pick(rng, &[0, 1, 8, 9, 56, 57, 64, 65, 128, 0xFF_FFFF, 1 << 23, 0x80]),
        _ => rng.below(100),
    };
    Case { paths_log2, path, rr: rng.below(1 << paths_log2) as usize, npkts, fault: if rng.chance(90) { 0 } else { 1 } }
}

fn ports(c: &Case, rng: &mut Rng) -> Vec<(String, Vec<u32>)> {
    let mut cfg = Packed::random::<ConnCfg>(rng);
    cfg.set("paths_log2", c.paths_log2);
    let mut all = vec![
        ("cfg".to_string(), cfg.words().to_vec()),
        ("rr".into(), vec![c.rr as u32]),
        ("npkts".into(), vec![c.npkts as u32]),
        ("fault".into(), vec![c.fault as u32]),
    ];
    for (p, path) in c.path.iter().enumerate() {
        let mut row = Packed::random::<PathTx>(rng);
        row.set("state", path.state).set("pipe", path.pipe).set("window", path.window).set("lost_words", path.lost_words);
        row.set("next_ppsn", path.next).set("cum", path.cum);
        all.push((format!("path_tx_{p}"), row.words().to_vec()));
    }
    all
}

#[derive(Debug, PartialEq)]
struct Choice {
    ok: u64,
    /// Home of the resend, and whether it moves.
    resend: Option<(usize, bool)>,
    k: u64,
    paths: u64,
    mask: u64,
    pipe: Vec<u64>,
    window: Vec<u64>,
}

fn reference(c: &Case) -> Choice {
    let paths = 1usize << c.paths_log2;
    // room(p) = pipe < window; ok(p) = state UP, room(p), next - cum < 256
    let room = |p: &Path| if c.fault == 1 { p.pipe <= p.window } else { p.pipe < p.window };
    let span = |p: &Path| p.next.wrapping_sub(p.cum) & 0xFF_FFFF;
    let ok: Vec<bool> = c.path.iter().map(|p| p.state == UP && room(p) && span(p) < 256).collect();
    // S1
    let candidate = |h: &usize| {
        let p = &c.path[*h];
        let stays = (p.state == UP || p.state == SUSPECT) && room(p);
        p.nlost && (stays || p.state == DOWN && ok.contains(&true))
    };
    let resend = (0..paths).map(|i| (c.rr + i) % paths).find(candidate).map(|h| (h, c.path[h].state == DOWN));
    Choice {
        ok: ok.iter().enumerate().map(|(p, ok)| u64::from(*ok) << p).sum(),
        resend,
        // S3
        k: (paths as u64).min(c.npkts.div_ceil(8)).max(1),
        paths: paths as u64,
        mask: paths as u64 - 1,
        pipe: c.path.iter().map(|p| p.pipe).collect(),
        window: c.path.iter().map(|p| p.window).collect(),
    }
}

fn choice(b: &mut Bench) -> Choice {
    let nine =
        |words: Vec<u32>, p: usize| (0..9).map(|i| u64::from(words[(9 * p + i) / 32] >> ((9 * p + i) % 32) & 1) << i).sum();
    let (pipe, window) = (b.get_words("pipe"), b.get_words("window"));
    Choice {
        ok: b.get("ok"),
        resend: (b.get("resend") == 1).then(|| (b.get("home") as usize, b.get("moves") == 1)),
        k: b.get("k"),
        paths: b.get("paths"),
        mask: b.get("path_mask"),
        pipe: (0..8).map(|p| nine(pipe.clone(), p)).collect(),
        window: (0..8).map(|p| nine(window.clone(), p)).collect(),
    }
}

#[test]
fn candidates_and_k_are_those_of_section_7() {
    let mut rng = Rng(seed(2));
    let mut b = Bench::new("grant_pick", GrantPick::new);
    let (mut none, mut moved, mut stayed) = (0, 0, 0);
    for round in 0..5000 {
        let c = case(&mut rng);
        for (name, value) in ports(&c, &mut rng) {
            b.set_words(&name, &value);
        }
        b.set("load", 1);
        b.cycle();
        let want = reference(&c);
        assert_eq!(choice(&mut b), want, "round {round}: {c:?}");
        match want.resend {
            None => none += 1,
            Some((_, true)) => moved += 1,
            Some(_) => stayed += 1,
        }
        if round % 7 == 0 {
            // without load everything stays
            b.set("load", 0);
            for (name, value) in ports(&case(&mut rng), &mut rng) {
                b.set_words(&name, &value);
            }
            b.dut.cycles(2);
            assert_eq!(choice(&mut b), want, "round {round}: held");
        }
    }
    assert!(none > 300 && moved > 100 && stayed > 300, "{none} {moved} {stayed}");
}

/// Fault 1: one packet more than the window.
#[test]
fn fault_1_lets_a_full_window_send() {
    let mut rng = Rng(3);
    let mut b = Bench::new("grant_pick", GrantPick::new);
    let full = Path { state: UP, pipe: 4, window: 4, nlost: true, lost_words: 1, next: 8, cum: 0 };
    for (fault, pipe, want) in [(0, 4, 0), (1, 4, 1), (1, 5, 0), (0, 3, 1)] {
        let mut path = [Path::default(); 8];
        path[0] = Path { pipe, ..full };
        for (name, value) in ports(&Case { paths_log2: 0, path, rr: 0, npkts: 1, fault }, &mut rng) {
            b.set_words(&name, &value);
        }
        b.set("load", 1);
        b.cycle();
        assert_eq!((b.get("ok"), b.get("resend")), (want, want), "fault {fault} pipe {pipe}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(GrantPick::new(), clock: clock, inputs: { fault, load, rr, npkts }).input_as(
        "cfg",
        |b| &mut b.cfg,
        rows::conn_cfg,
    );
    for p in 0..8 {
        test = test.input_as(&format!("path_tx_{p}"), move |b| &mut b.path_tx[p], rows::path_tx);
    }
    let report = test
        .top("grant_pick")
        .cycles(2000)
        .seed(2)
        .stimulus(|random, _, inputs| {
            if random.chance(0.75) {
                let mut rng = Rng(random.u64() | 1);
                let c = case(&mut rng);
                ports(&c, &mut rng).into_iter().for_each(|(name, value)| inputs.set(&name, value));
            }
            inputs.set("load", random.chance(0.8));
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
