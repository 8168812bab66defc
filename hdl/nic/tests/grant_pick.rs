//! grant_pick against section 7 of docs/protocol.md (ok, S1) in plain loops; fault 1; simulation = Verilog.
mod block_support;
mod grant_support;
mod rx_support;

use block_support::{of_window, rows, seed, WINDOWS};
use grant_support::{case, ports, reference, Case, Choice, Path, UP};
use mrnic_difftest::difftest;
use mrnic_nic::tx::grant_pick::GrantPick;
use rx_support::{Bench, Rng};

fn choice(b: &mut Bench) -> Choice {
    let nine =
        |words: Vec<u32>, p: usize| (0..9).map(|i| u64::from(words[(9 * p + i) / 32] >> ((9 * p + i) % 32) & 1) << i).sum();
    let (pipe, window) = (b.get_words("pipe"), b.get_words("window"));
    Choice {
        ok: b.get("ok"),
        resend: (b.get("resend") == 1).then(|| (b.get("home") as usize, b.get("moves") == 1)),
        paths: b.get("paths"),
        mask: b.get("path_mask"),
        pipe: (0..8).map(|p| nine(pipe.clone(), p)).collect(),
        window: (0..8).map(|p| nine(window.clone(), p)).collect(),
        brim: b.get("brim") & b.get("ok"),
    }
}

#[test]
fn candidates_are_those_of_section_7() {
    for window in WINDOWS {
        candidates_with(window);
    }
}

fn candidates_with(window: u64) {
    let mut rng = Rng(seed(2));
    let mut b = Bench::new("grant_pick", move || GrantPick::new(&of_window(window)));
    let (mut none, mut moved, mut stayed) = (0, 0, 0);
    for round in 0..5000 {
        let c = case(&mut rng, window);
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
            for (name, value) in ports(&case(&mut rng, window), &mut rng) {
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
    let mut b = Bench::new("grant_pick", || GrantPick::new(&of_window(256)));
    let full = Path { state: UP, pipe: 4, window: 4, nlost: true, lost_words: 1, next: 8, cum: 0, heard: false };
    for (fault, pipe, want) in [(0, 4, 0), (1, 4, 1), (1, 5, 0), (0, 3, 1)] {
        let mut path = [Path::default(); 8];
        path[0] = Path { pipe, ..full };
        for (name, value) in ports(&Case { paths_log2: 0, path, rr: 0, fault, span_max: 256 }, &mut rng) {
            b.set_words(&name, &value);
        }
        b.set("load", 1);
        b.cycle();
        assert_eq!((b.get("ok"), b.get("resend")), (want, want), "fault {fault} pipe {pipe}");
    }
}

#[test]
fn simulation_equals_verilog() {
    let mut test = difftest!(GrantPick::new(&of_window(128)), clock: clock, inputs: { fault, load, rr }).input_as(
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
                let c = case(&mut rng, 128);
                ports(&c, &mut rng).into_iter().for_each(|(name, value)| inputs.set(&name, value));
            }
            inputs.set("load", random.chance(0.8));
        })
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
