//! word_step against the places of single packets (A3, L2, L1, N1, and the moves of section 8); simulation = Verilog.
mod block_support;
mod rx_support;

use block_support::words::{mask, sets, step, Event, Place, Step};
use block_support::{combinational, pick, rows, seed, Packed};
use mrnic_difftest::difftest;
use mrnic_nic::tx::rows::WordRow;
use mrnic_nic::tx::word_step::{WordStep, OP_ACK, OP_ALL_LOST, OP_CLEAR, OP_MERGE};
use rx_support::Rng;

const PLACES: [Place; 5] = [Place::Flying, Place::Sacked, Place::Lost, Place::RtxOld, Place::RtxNew];

#[test]
fn every_packet_moves_as_sections_6_and_8_say() {
    let mut rng = Rng(seed(1));
    let mut dut = combinational("word_step", WordStep::default);
    let mut seen = [0u64; 4];
    for round in 0..6000 {
        // one place for all now and then
        let only = rng.chance(10).then(|| pick(&mut rng, &PLACES));
        let places: [Place; 64] = std::array::from_fn(|_| only.unwrap_or_else(|| pick(&mut rng, &PLACES)));
        let op = pick(&mut rng, &[OP_ACK, OP_ACK, OP_ACK, OP_MERGE, OP_ALL_LOST, OP_CLEAR]);
        let sparse = |rng: &mut Rng| match rng.below(5) {
            0 => 0,
            1 => u64::MAX,
            2 => 1 << rng.below(64),
            _ => rng.next(),
        };
        let passed = sparse(&mut rng);
        // the vector speaks of packets after the new cum, as does L1
        let (sav, gap) = (sparse(&mut rng) & !passed, sparse(&mut rng) & !passed);
        let turn = rng.chance(50);
        let refused = if rng.chance(50) { 1 << rng.below(64) } else { 0 } & !passed;
        let mut after = places;
        let mut events = [Event::default(); 64];
        for b in 0..64 {
            let bit = |word: u64| word >> b & 1 == 1;
            let what = match op {
                OP_ACK => Step::Ack { passed: bit(passed), sav: bit(sav), turn, gap: bit(gap), refused: bit(refused) },
                OP_MERGE => Step::Merge,
                OP_ALL_LOST => Step::AllLost { outstanding: bit(gap) },
                _ => Step::Clear,
            };
            (after[b], events[b]) = step(places[b], what);
        }
        let [sacked, lost, old, new] = sets(&places);
        let word = Packed::of::<WordRow>(&[("sacked", sacked), ("lost", lost), ("rtx_old", old), ("rtx_new", new)]);
        dut.input("word").unwrap().set_words(word.words());
        for (name, value) in
            [("op", op), ("sav", sav), ("passed", passed), ("gap", gap), ("refused", refused), ("turn", turn.into())]
        {
            dut.input(name).unwrap().set_u64(value);
        }
        dut.eval();
        let result = Packed::from_words::<WordRow>(&dut.output("result").unwrap().to_words());
        let got = ["sacked", "lost", "rtx_old", "rtx_new"].map(|set| result.get(set));
        assert_eq!(got, sets(&after), "round {round}: op {op} turn {turn} of {word:?}");
        let [newly, dropped, l1, l2]: [u64; 4] =
            [mask(&events, |e| e.newly), mask(&events, |e| e.dropped), mask(&events, |e| e.l1), mask(&events, |e| e.l2)];
        let wanted = [("newly", newly), ("dropped", dropped), ("lost_l1", l1), ("lost_l2", l2)];
        for (count, (name, want)) in seen.iter_mut().zip(wanted) {
            assert_eq!(dut.output(name).unwrap().get_u64(), want, "round {round}: {name}, op {op} turn {turn} of {word:?}");
            *count += u64::from(want != 0);
        }
    }
    assert!(seen.iter().all(|n| *n > 500), "{seen:?}");
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(WordStep::default(), clock: none, inputs: { op, sav, passed, gap, refused, turn })
        .input_as("word", |b| &mut b.word, rows::word_row)
        .top("word_step")
        .cycles(3000)
        .seed(1)
        .run();
    assert!(report.stuck().is_empty(), "{:?}", report.stuck());
}
