//! ack_builder: simulation = Verilog; ports of the paths; order of the vector's bits, and fault 9 that breaks it.
mod egress_bench;

use egress_bench::{config, random_ack, random_conn, AckDesc, Bench, Pace};
use mrnic_difftest::difftest;
use mrnic_nic::config::BuildConfig;
use mrnic_nic::packet::AckBuilder;
use mrnic_wire::{parse_packet, Body, SackVector};
use rand::{rngs::SmallRng, Rng, SeedableRng};

fn small() -> BuildConfig {
    let mut small = BuildConfig { conns: 4, ..config(64, "sim") };
    small.fifo.ackdesc = 3;
    small.fifo.frame = 2;
    small
}

#[test]
fn simulation_equals_verilog() {
    let report = difftest!(AckBuilder::new(&small()), clock: clock, inputs: {
        reset, fault, cfg_valid, cfg_table, cfg_index, cfg_data, portset_valid, portset_conn, portset_path, portset_port,
        ackdesc_valid, ackdesc_conn, ackdesc_home, ackdesc_via, ackdesc_cum, ackdesc_sav, ackdesc_ts_echo,
        ackdesc_service, ackdesc_ce, ackdesc_dup, ackdesc_rx, ackdesc_flags, ackdesc_rate, ackdesc_epoch, ackdesc_mak_qp,
        ackdesc_mak_code, ackdesc_mak_msn, header_ready
    })
    .top("ack_builder")
    .cycles(1200)
    .seed(1)
    .limit("fault", 8..=9)
    .limit("cfg_table", 0..=2)
    .limit("cfg_index", 0..=3)
    .limit("portset_conn", 0..=3)
    .limit("ackdesc_conn", 0..=3)
    .source(
        "ackdesc_valid",
        "ackdesc_ready",
        &[
            "ackdesc_conn",
            "ackdesc_home",
            "ackdesc_via",
            "ackdesc_cum",
            "ackdesc_sav",
            "ackdesc_ts_echo",
            "ackdesc_service",
            "ackdesc_ce",
            "ackdesc_dup",
            "ackdesc_rx",
            "ackdesc_flags",
            "ackdesc_rate",
            "ackdesc_epoch",
            "ackdesc_mak_qp",
            "ackdesc_mak_code",
            "ackdesc_mak_msn",
        ],
    )
    .sink("header_ready")
    .run();
    assert!(report.stuck().is_empty(), "outputs that never moved: {:?}", report.stuck());
}

fn bench(seed: u64) -> (Bench, SmallRng) {
    let mut rng = SmallRng::seed_from_u64(seed);
    let mut bench = Bench::new(config(128, "sim"), seed);
    for conn in 0..2 {
        bench.open(conn, random_conn(&mut rng, conn == 1));
        for path in 0..8 {
            bench.set_path(conn, path, rng.random());
        }
    }
    (bench, rng)
}

fn acks(rng: &mut SmallRng) -> Vec<AckDesc> {
    (0..30).map(|k| random_ack(rng, k % 2)).collect()
}

/// L5: a changed port is used from the next acknowledgment on.
#[test]
fn the_port_is_that_of_the_path_travelled() {
    let (mut bench, mut rng) = bench(11);
    let all = acks(&mut rng);
    bench.check(&[], &all, Pace::FULL);
    for path in [0, 3, 7] {
        bench.change_port(1, path, rng.random());
    }
    bench.check(&[], &all, Pace::FULL);
    bench.set_path(1, 3, rng.random());
    bench.set_path_and_change_port(0, 5, rng.random(), (2, rng.random()));
    bench.check(&[], &all, Pace::FULL);
}

/// R9: SAV bit i.
#[test]
fn every_bit_of_the_vector_has_its_place() {
    let (mut bench, mut rng) = bench(12);
    let all: Vec<AckDesc> = (0..256)
        .map(|i| {
            let mut desc = random_ack(&mut rng, 0);
            desc.ack.vector = SackVector::EMPTY;
            assert!(desc.ack.vector.set(i));
            desc
        })
        .collect();
    bench.check(&[], &all, Pace::FULL);
}

#[test]
fn fault_9_mirrors_each_word_and_nothing_else() {
    let (mut bench, mut rng) = bench(13);
    let all = acks(&mut rng);
    bench.set("fault", 9);
    let (frames, _) = bench.run(&[], &all, Pace::FULL);
    bench.set("fault", 0);
    let mut differing = 0;
    for (frame, desc) in frames.iter().zip(&all) {
        let Body::Ack(found) = parse_packet(frame).expect("a legal frame").packet.body else { panic!("not an ACK") };
        let mut expected = desc.ack;
        expected.vector = SackVector::from_words(desc.ack.vector.words().map(u64::reverse_bits));
        assert_eq!(found, expected);
        differing += usize::from(found != desc.ack);
    }
    assert!(differing > 0);
    bench.check(&[], &all, Pace::FULL);
}
