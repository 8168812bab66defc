//! word_lane against the places of single packets: two words a step as the scoreboard drives it, sums and write-back;
//! simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::words::{mask, sets, step, Event, Place, Step};
use block_support::{of_window, pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::tx::rows::WordRow;
use mrnic_nic::tx::word_lane::WordLane;
use mrnic_nic::tx::word_step::{OP_ACK, OP_ALL_LOST, OP_CLEAR, OP_MERGE};
use rx_support::{Bench, Rng};

/// Words of the lane: those of the eight paths of a connection.
const ROWS: usize = 16;
fn one_conn() -> BuildConfig {
    BuildConfig { conns: 1, ..of_window(256) }
}

const PLACES: [Place; 5] = [Place::Flying, Place::Sacked, Place::Lost, Place::RtxOld, Place::RtxNew];

fn row(places: &[Place; 64]) -> Packed {
    let [sacked, lost, old, new] = sets(places);
    Packed::of::<WordRow>(&[("sacked", sacked), ("lost", lost), ("rtx_old", old), ("rtx_new", new)])
}

fn put(b: &mut Bench, address: usize, places: &[Place; 64]) {
    b.set("put", 1);
    b.set("put_address", address as u64);
    b.set_words("put_row", row(places).words());
    b.cycle();
    b.set("put", 0);
}

#[test]
fn steps_on_two_words_are_those_of_single_packets() {
    let mut rng = Rng(seed(1));
    let mut b = Bench::new("word_lane", || WordLane::new(&one_conn(), 0));
    let mut table = [[Place::Flying; 64]; ROWS];
    for (address, places) in table.iter().enumerate() {
        put(&mut b, address, places);
    }
    let mut seen = [0u64; 4];
    let mut path = 0;
    for round in 0..1500 {
        // the same path back to back, half of the time
        if rng.chance(50) {
            path = rng.below(ROWS as u64 / 2) as usize;
        }
        if rng.chance(30) {
            let address = 2 * path + rng.below(2) as usize;
            table[address] = std::array::from_fn(|_| pick(&mut rng, &PLACES));
            put(&mut b, address, &table[address].clone());
        }
        // even lane: words 0 and 2, odd lane: 1 and 3
        let odd = rng.below(2);
        let op = pick(&mut rng, &[OP_ACK, OP_ACK, OP_ACK, OP_MERGE, OP_ALL_LOST, OP_CLEAR]);
        let cum = pick(&mut rng, &[0, 1, 63, 64, 127, 128, 200, 255]);
        let advance = pick(&mut rng, &[0, 0, 1, 63, 64, 65, 255, 256]);
        let from = if op == OP_ACK { (advance + pick(&mut rng, &[0, 0, 1, 70])).min(256) } else { 0 };
        let below = pick(&mut rng, &[0, 1, 64, 100, 200, 255, 256]);
        let turn = rng.chance(30);
        // within the window after the step
        let refuses = op == OP_ACK && rng.chance(50) && advance < 256;
        let refused = (cum + advance + rng.below(256 - advance.min(255))) % 256;
        let mut sums = [0u64; 4];
        let mut old_left = false;
        let mut savs = [0u64; 2];
        for n in 0..2usize {
            let word = 2 * n as u64 + odd;
            let offset = |bit: u64| (64 * word + bit + 256 - cum) % 256;
            let sav: u64 = (0..64).filter(|bit| offset(*bit) >= advance && rng.chance(40)).map(|bit| 1 << bit).sum();
            savs[n] = sav;
            let places = &mut table[2 * path + n];
            let mut events = [Event::default(); 64];
            for bit in 0..64u64 {
                let gap = (from..below).contains(&offset(bit));
                let what = match op {
                    OP_ACK => Step::Ack {
                        passed: offset(bit) < advance,
                        sav: sav >> bit & 1 == 1,
                        turn,
                        gap,
                        refused: refuses && 64 * word + bit == refused,
                    },
                    OP_MERGE => Step::Merge,
                    OP_ALL_LOST => Step::AllLost { outstanding: gap },
                    _ => Step::Clear,
                };
                (places[bit as usize], events[bit as usize]) = step(places[bit as usize], what);
            }
            let counted: [fn(&Event) -> bool; 4] = [|e| e.newly, |e| e.dropped, |e| e.l1, |e| e.l2];
            for (sum, of) in sums.iter_mut().zip(counted) {
                *sum += u64::from(mask(&events, of).count_ones());
            }
            old_left |= places.contains(&Place::RtxOld);
        }
        for (name, value) in [("cum", cum), ("advance", advance), ("gap_from", from), ("gap_below", below), ("op", op)] {
            b.set(name, value);
        }
        b.set("turn", turn.into());
        b.set("refuses", refuses.into());
        b.set("refused", refused);
        // clock 0: the address of the first word; 1 and 2: load; 3: the last write
        for clock in 0..4u64 {
            b.set("first", u64::from(clock == 0));
            b.set("load", u64::from(clock == 1 || clock == 2));
            b.set("address", (2 * path) as u64 + u64::from(clock >= 1));
            b.set("word", 2 * u64::from(clock >= 1) + odd);
            b.set("sav", savs[usize::from(clock == 2)]);
            b.cycle();
        }
        b.set("load", 0);
        b.eval();
        let context = format!("round {round}: op {op} word {odd} cum {cum} advance {advance} gap {from}..{below} turn {turn}");
        let got = ["acked", "dropped", "lost_l1", "lost_l2"].map(|name| b.get(name));
        assert_eq!(got, sums, "{context}");
        assert_eq!(b.get("any_l1"), u64::from(sums[2] > 0), "{context}");
        assert_eq!(b.get("any_rtx_old"), u64::from(old_left), "{context}");
        let lost = |n: usize| u64::from(table[2 * path + n].contains(&Place::Lost));
        assert_eq!((b.get("lost_before"), b.get("lost_last")), (lost(0), lost(1)), "{context}");
        for (sum, count) in sums.iter().zip(&mut seen) {
            *count += u64::from(*sum > 0);
        }
        // every word is as it should be, those of other paths too
        let address = if rng.chance(70) { 2 * path + rng.below(2) as usize } else { rng.below(ROWS as u64) as usize };
        b.set("address", address as u64);
        b.cycle();
        assert_eq!(b.get_words("row"), row(&table[address]).words(), "{context}: word {address}");
    }
    assert!(seen.iter().all(|n| *n > 50), "{seen:?}");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(WordLane::new(&one_conn(), 0), clock: clock, inputs: {
        address, word, cum, advance, gap_from, gap_below, refuses, refused, op, turn, sav, first, load, put, put_address
    })
    .input_as("put_row", |b| &mut b.put_row, rows::word_row)
    .top("word_lane")
    .cycles(1000)
    .seed(1)
    .limit("address", 0..=ROWS as u64 - 1)
    .limit("put_address", 0..=ROWS as u64 - 1)
    .limit("advance", 0..=256)
    .limit("gap_from", 0..=256)
    .limit("gap_below", 0..=256)
    .stimulus(|random, _, inputs| {
        inputs.set("first", random.chance(0.1));
        inputs.set("put", random.chance(0.2));
        if random.chance(0.6) {
            inputs.set("op", 0u32);
        }
    })
    .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
