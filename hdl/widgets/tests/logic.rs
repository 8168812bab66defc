//! Arbiter, bit searches and reversals: rust-hdl simulation = Verilog, and against plain Rust.
use mrnic_difftest::difftest;
use mrnic_widgets::{BitReverse, ByteReverse, FirstOne64, LastOne64, Popcount64, RoundRobin};
use rust_hdl_core::prelude::*;

fn words() -> impl Iterator<Item = u64> {
    let mut random = 0x9E37_79B9_7F4A_7C15u64;
    let mixed = (0..300).map(move |i| {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if i % 2 == 0 {
            random
        } else {
            random & (random << 7) & (random >> 9)
        }
    });
    (0..64).map(|k| 1u64 << k).chain((0..64).map(|k| u64::MAX << k)).chain([0, u64::MAX]).chain(mixed)
}

#[test]
fn searches_find_what_rust_finds() {
    let (mut first, mut last, mut count) = (FirstOne64::default(), LastOne64::default(), Popcount64::default());
    first.connect_all();
    last.connect_all();
    count.connect_all();
    for word in words() {
        first.x.next = word.into();
        last.x.next = word.into();
        count.x.next = word.into();
        assert!(simulate(&mut first, 20) && simulate(&mut last, 20) && simulate(&mut count, 20));
        assert_eq!(first.any.val(), word != 0);
        assert_eq!(first.many.val(), word.count_ones() > 1);
        assert_eq!(last.any.val(), word != 0);
        assert_eq!(first.index.val().to_u64(), u64::from(word.trailing_zeros() % 64));
        assert_eq!(last.index.val().to_u64(), if word == 0 { 0 } else { u64::from(word.ilog2()) });
        assert_eq!(count.count.val().to_u64(), u64::from(word.count_ones()));
    }
}

#[test]
fn searches_equal_their_verilog() {
    difftest!(FirstOne64::default(), clock: none, inputs: { x }).top("first_one").cycles(3000).seed(1).run();
    difftest!(LastOne64::default(), clock: none, inputs: { x }).top("last_one").cycles(3000).seed(2).run();
    difftest!(Popcount64::default(), clock: none, inputs: { x }).top("popcount").cycles(3000).seed(3).run();
}

#[test]
fn reversals_equal_their_verilog() {
    difftest!(ByteReverse::<24>::default(), clock: none, inputs: { x }).top("bytes24").cycles(500).seed(1).run();
    difftest!(ByteReverse::<72>::default(), clock: none, inputs: { x }).top("bytes72").cycles(500).seed(2).run();
    difftest!(BitReverse::<5>::default(), clock: none, inputs: { x }).top("bits5").cycles(500).seed(3).run();
    difftest!(BitReverse::<64>::default(), clock: none, inputs: { x }).top("bits64").cycles(500).seed(4).run();
    let mut bytes = ByteReverse::<32>::default();
    bytes.connect_all();
    bytes.x.next = 0x0102_0304u64.into();
    assert!(simulate(&mut bytes, 20));
    assert_eq!(bytes.y.val().to_u64(), 0x0403_0201);
    let mut bits = BitReverse::<8>::default();
    bits.connect_all();
    bits.x.next = 0b0000_1011u64.into();
    assert!(simulate(&mut bits, 20));
    assert_eq!(bits.y.val().to_u64(), 0b1101_0000);
}

#[test]
fn round_robin_equals_its_verilog() {
    difftest!(RoundRobin::default(), clock: clock, inputs: { reset, request, advance })
        .top("round_robin")
        .cycles(3000)
        .seed(5)
        .run();
}

#[test]
fn round_robin_serves_everyone_in_turn() {
    let mut arbiter = RoundRobin::default();
    arbiter.connect_all();
    let mut served = Vec::new();
    for cycle in 0..24 {
        for level in [false, true] {
            arbiter.clock.next.clk = level;
            arbiter.request.next = 0b1011_0101u64.into();
            arbiter.advance.next = cycle % 2 == 1;
            assert!(simulate(&mut arbiter, 20));
            if !level && cycle % 2 == 1 {
                assert_eq!(arbiter.grant.val().to_u64(), 1 << arbiter.index.val().to_u64());
                served.push(arbiter.index.val().to_u64());
            }
        }
    }
    assert_eq!(served, [0, 2, 4, 5, 7, 0, 2, 4, 5, 7, 0, 2]);
}
