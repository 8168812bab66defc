//! sack_scoreboard against the places of single packets: steps, search of the lowest lost packet, its move, looks; simulation
//! = Verilog.
mod block_support;
mod rx_support;

use block_support::words::{step, Event, Place, Step};
use block_support::{of_window, pick, seed, WINDOWS};
use mrnic_nic::config::BuildConfig;
use mrnic_nic::tx::sack_scoreboard::SackScoreboard;
use mrnic_nic::tx::word_step::{OP_ACK, OP_ALL_LOST, OP_CLEAR, OP_MERGE};
use rx_support::{Bench, Rng};

fn small(window: u64) -> BuildConfig {
    BuildConfig { conns: 2, ..of_window(window) }
}

/// A path; the place of a packet stands at PPSN mod W.
struct Path {
    window: u64,
    cum: u64,
    span: u64,
    places: [Place; 256],
}

impl Path {
    fn at(&self, offset: u64) -> usize {
        ((self.cum + offset) % self.window) as usize
    }

    fn lost_words(&self) -> u64 {
        (0..4).filter(|w| self.places[64 * w..64 * w + 64].contains(&Place::Lost)).map(|w| 1 << w).sum()
    }

    fn lowest_lost(&self) -> Option<u64> {
        (0..self.span).find(|offset| self.places[self.at(*offset)] == Place::Lost)
    }
}

fn pulse(b: &mut Bench, name: &str) {
    b.set(name, 1);
    b.cycle();
    b.set(name, 0);
}

/// One operation on all packets of a path: sums and newly acknowledged packets.
fn run_step(b: &mut Bench, rng: &mut Rng, p: &mut Path, op: u64, context: &str) {
    let advance = if op == OP_ACK { pick(rng, &[0, 0, 1, p.span / 2, p.span]).min(p.span) } else { 0 };
    let from = if op == OP_ACK { advance } else { 0 };
    let below = if op == OP_ACK { rng.below(p.span + 1) } else { p.span };
    let turn = op == OP_ACK && rng.chance(30);
    // N1: outstanding after the step
    let refused = (op == OP_ACK && advance < p.span && rng.chance(40)).then(|| advance + rng.below(p.span - advance));
    // bit of PPSN cum' + 1 + i
    let density = pick(rng, &[0, 10, 60]);
    let sav: Vec<u64> = (advance + 1..p.span).filter(|_| op == OP_ACK && rng.chance(density)).collect();
    let mut words = [0u64; 4];
    for offset in &sav {
        words[p.at(*offset) / 64] |= 1 << (p.at(*offset) % 64);
    }
    let mut events: Vec<(usize, Event)> = Vec::new();
    for offset in 0..p.window {
        let at = p.at(offset);
        let what = match op {
            OP_ACK => {
                let (gap, refused) = ((from..below).contains(&offset), refused == Some(offset));
                Step::Ack { passed: offset < advance, sav: sav.contains(&offset), turn, gap, refused }
            }
            OP_MERGE => Step::Merge,
            OP_ALL_LOST => Step::AllLost { outstanding: offset < p.span },
            _ => Step::Clear,
        };
        let (place, event) = step(p.places[at], what);
        p.places[at] = place;
        events.push((at, event));
    }
    for (name, value) in [("step_op", op), ("advance", advance), ("gap_from", from), ("gap_below", below), ("cum", p.cum)] {
        b.set(name, value);
    }
    b.set("step_cum", p.cum & 0xFF);
    b.set("turn", turn.into());
    b.set("refuses", refused.is_some().into());
    b.set("refused", p.at(refused.unwrap_or(0)) as u64);
    for (w, word) in words.iter().enumerate() {
        b.set(&format!("sav{w}"), *word);
    }
    let mut newly = [0u64; 4];
    b.set("step_start", 1);
    for _ in 0..4 {
        b.cycle();
        b.set("step_start", 0);
        b.eval();
        if b.get("newly_valid") == 1 {
            let second = 2 * b.get("newly_second") as usize;
            newly[second] = b.get("newly_even");
            newly[second + 1] = b.get("newly_odd");
        }
    }
    let count = |of: fn(&Event) -> bool| events.iter().filter(|e| of(&e.1)).count() as u64;
    let want = [count(|e| e.newly), count(|e| e.dropped), count(|e| e.l1), count(|e| e.l2)];
    assert_eq!(["acked", "dropped", "lost_l1", "lost_l2"].map(|name| b.get(name)), want, "{context}");
    assert_eq!(b.get("any_l1") == 1, want[2] > 0, "{context}");
    assert_eq!(b.get("any_rtx_old") == 1, p.places.contains(&Place::RtxOld), "{context}");
    assert_eq!(b.get("lost_words"), p.lost_words(), "{context}");
    let mut want_newly = [0u64; 4];
    events.iter().filter(|e| e.1.newly).for_each(|(at, _)| want_newly[at / 64] |= 1 << (at % 64));
    assert_eq!(newly, want_newly, "{context}");
    p.cum += advance;
    p.span -= advance;
}

/// The lowest lost packet becomes a resend.
fn find_and_move(b: &mut Bench, rng: &mut Rng, p: &mut Path, context: &str) -> bool {
    b.set("cum", p.cum & 0xFF_FFFF);
    b.set("find_lost_words", p.lost_words());
    pulse(b, "find_start");
    let mut clocks = 1;
    while b.get("find_valid") == 0 {
        b.cycle();
        clocks += 1;
        assert!(clocks <= 20, "{context}: a search takes at most 20 clocks");
    }
    let lowest = p.lowest_lost();
    let got = (b.get("find_any") == 1).then(|| b.get("find_ppsn"));
    assert_eq!(got, lowest.map(|offset| (p.cum + offset) & 0xFF_FFFF), "{context}");
    let Some(offset) = lowest else { return false };
    b.dut.cycles(1 + rng.below(3));
    let to_old = rng.chance(50);
    let at = p.at(offset);
    p.places[at] = if to_old { Place::RtxOld } else { Place::RtxNew };
    b.set("move_to_old", to_old.into());
    b.set("move_start", 1);
    b.eval();
    assert_eq!(b.get("move_lost_words"), p.lost_words(), "{context}");
    b.cycle();
    b.set("move_start", 0);
    b.cycle();
    true
}

#[test]
fn operations_are_those_on_single_packets() {
    for window in WINDOWS {
        operations_with(window);
    }
}

fn operations_with(window: u64) {
    let mut rng = Rng(seed(window));
    let small = small(window);
    let mut b = Bench::new("sack_scoreboard", move || SackScoreboard::new(&small));
    b.set("reset", 1);
    b.cycle();
    b.set("reset", 0);
    for address in 0..(window / 64).div_ceil(2) * small.path_rows() as u64 {
        b.set("clear_address", address);
        pulse(&mut b, "clear");
    }
    let open = |rng: &mut Rng| Path {
        window,
        cum: pick(rng, &[0, 77, 0xFF_FFFF, 0xFF_FF00, 0xFF_FF81, 0x7F_FFC0]),
        span: 0,
        places: [Place::Flying; 256],
    };
    let mut paths: Vec<Path> = (0..small.path_rows()).map(|_| open(&mut rng)).collect();
    let (mut moved, mut nothing) = (0, 0);
    let mut row = 0;
    for round in 0..2500 {
        if rng.chance(30) {
            row = rng.below(paths.len() as u64) as usize;
        }
        b.set("row", row as u64);
        let p = &mut paths[row];
        let context = format!("window {window} round {round}: row {row} cum {:x} span {}", p.cum, p.span);
        match rng.below(10) {
            // new packets are sent
            0 | 1 => p.span = (p.span + pick(&mut rng, &[1, 8, 64, 256])).min(window),
            2..=4 => run_step(&mut b, &mut rng, p, OP_ACK, &context),
            5 => {
                let op = pick(&mut rng, &[OP_MERGE, OP_MERGE, OP_ALL_LOST]);
                run_step(&mut b, &mut rng, p, op, &context);
            }
            6 if rng.chance(5) => {
                run_step(&mut b, &mut rng, p, OP_CLEAR, &context);
                *p = open(&mut rng);
            }
            6 => {
                let at = rng.below(256);
                b.set("peek_ppsn", at);
                pulse(&mut b, "peek_start");
                b.cycle();
                assert_eq!(
                    b.get("peek_sacked") == 1,
                    p.places[(at % window) as usize] == Place::Sacked,
                    "{context}: packet {at}"
                );
            }
            _ => match find_and_move(&mut b, &mut rng, p, &context) {
                true => moved += 1,
                false => nothing += 1,
            },
        }
        p.cum &= 0xFF_FFFF;
    }
    assert!(moved > 200 && nothing > 50, "{moved} {nothing}");
}

#[test]
fn simulation_equals_verilog() {
    for window in WINDOWS {
        simulation_equals_verilog_with(window);
    }
}

fn simulation_equals_verilog_with(window: u64) {
    let report = mrnic_stimuli::sack_scoreboard::difftest(window).run();
    // bits of words that this window does not have stay 0
    assert!(window < 256 || report.stuck().is_empty(), "{:?}", report.stuck());
}
