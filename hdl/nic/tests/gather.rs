//! gather: packets whose payload was read in pieces come out whole, at every width; its speed; simulation = Verilog.
mod tx_support;

use mrnic_difftest::difftest;
use mrnic_nic::config::{build, BuildConfig};
use mrnic_nic::packet::Gather;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use std::collections::VecDeque;
use tx_support::Bench;

fn with_lists(name: &str) -> BuildConfig {
    BuildConfig { sges: 4, ..build(name).expect("a named build") }
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(Gather::<64>::new(&with_lists("sim_min")), clock: clock, inputs: {
        reset, piece_write, piece_bytes, piece_ends, dr_valid, dr_data, out_ready
    })
    .top("gather")
    .cycles(4000)
    .seed(1)
    .limit("piece_bytes", 1..=20)
    .source("dr_valid", "dr_ready", &["dr_data"])
    .sink("out_ready")
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

/// Pieces of each packet through the block; returns the clocks it took.
fn run<const W: usize>(config: &BuildConfig, packets: &[Vec<usize>], willing: f64, seed: u64) -> u64 {
    let width = W / 8;
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut bench = Bench::new(&Gather::<W>::new(config), &format!("gather_{W}"));
    let mut told: VecDeque<(usize, bool)> = VecDeque::new();
    let mut beats: VecDeque<Vec<u8>> = VecDeque::new();
    let mut whole: Vec<u8> = Vec::new();
    for pieces in packets {
        let packet: Vec<u8> = (0..pieces.iter().sum()).map(|_| rng.random()).collect();
        let mut at = 0;
        for (k, bytes) in pieces.iter().enumerate() {
            told.push_back((*bytes, k + 1 == pieces.len()));
            for beat in packet[at..at + bytes].chunks(width) {
                // memory holds anything behind the end
                let mut beat = beat.to_vec();
                beat.resize_with(width, || rng.random());
                beats.push_back(beat);
            }
            at += bytes;
        }
        whole.extend(&packet);
        whole.resize(whole.len().next_multiple_of(width), 0);
    }
    let words = |bytes: &[u8]| bytes.chunks(4).map(|b| u32::from_le_bytes(b.try_into().expect("four"))).collect::<Vec<_>>();
    let mut out: Vec<u8> = Vec::new();
    let (mut offered, mut clocks, mut data_told) = (false, 0, 0);
    while out.len() < whole.len() {
        let tells = !told.is_empty() && bench.high("piece_room") && rng.random_bool(willing);
        bench.set("piece_write", tells.into());
        if tells {
            let (bytes, ends) = told.pop_front().expect("one");
            bench.set("piece_bytes", bytes as u64);
            bench.set("piece_ends", ends.into());
        }
        // data comes after its piece was told of
        offered = offered || (data_told > 0 && rng.random_bool(willing));
        bench.set("dr_valid", offered.into());
        if offered {
            bench.set_words("dr_data", &words(&beats[0]));
        }
        let takes = rng.random_bool(willing);
        bench.set("out_ready", takes.into());
        if takes && bench.high("out_valid") {
            out.extend(bench.words("out_data").iter().flat_map(|w| w.to_le_bytes()));
        }
        if offered && bench.high("dr_ready") {
            beats.pop_front();
            data_told -= 1;
            offered = false;
        }
        if tells {
            data_told += (bench_bytes(&bench)).div_ceil(width);
        }
        bench.clock();
        clocks += 1;
        assert!(clocks < 200_000, "{} of {} bytes", out.len(), whole.len());
    }
    assert!(out == whole && beats.is_empty() && told.is_empty());
    clocks
}

/// Bytes of the piece that is told of.
fn bench_bytes(bench: &Bench) -> usize {
    bench.input("piece_bytes") as usize
}

fn random_packets<const W: usize>(seed: u64) -> Vec<Vec<usize>> {
    let mut rng = SmallRng::seed_from_u64(seed);
    let long = W / 8 * 3;
    (0..150)
        .map(|_| {
            let pieces = rng.random_range(1..=4);
            (0..pieces)
                .map(|_| if rng.random_bool(0.3) { rng.random_range(1..4) } else { rng.random_range(1..=long) })
                .collect()
        })
        .collect()
}

#[test]
fn packets_come_out_whole() {
    run::<64>(&with_lists("sim_min"), &random_packets::<64>(1), 0.7, 1);
    run::<128>(&with_lists("sim_min"), &random_packets::<128>(2), 0.5, 2);
    run::<512>(&with_lists("sim"), &random_packets::<512>(3), 0.8, 3);
}

/// A beat a clock; one more for a packet whose last piece leaves a rest.
#[test]
fn a_beat_a_clock() {
    let whole = run::<128>(&with_lists("sim"), &vec![vec![4096]; 10], 1.0, 4);
    assert!(whole <= 10 * 256 + 4, "{whole} clocks");
    let rests = run::<128>(&with_lists("sim"), &vec![vec![15, 4081]; 10], 1.0, 5);
    assert!(rests <= 10 * (256 + 1) + 4, "{rests} clocks");
}
