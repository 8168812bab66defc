//! CRC blocks: rust-hdl simulation = Verilog, and the pipe against a CRC computed bit by bit.
use mrnic_difftest::difftest;
use mrnic_widgets::{crc32_append, Crc32Advance, Crc32Pipe, Crc32Sum};
use rust_hdl_core::prelude::*;

#[test]
fn matrices_equal_their_verilog() {
    difftest!(Crc32Sum::<64>::default(), clock: none, inputs: { data }).top("sum64").cycles(1000).seed(1).run();
    difftest!(Crc32Sum::<512>::default(), clock: none, inputs: { data }).top("sum512").cycles(200).seed(2).run();
    difftest!(Crc32Advance::new(-16), clock: none, inputs: { state }).top("back16").cycles(1000).seed(3).run();
}

#[test]
fn pipe_equals_its_verilog() {
    difftest!(Crc32Pipe::<64>::new(0x1234_5678), clock: clock, inputs: { reset, valid, first, last, unused_bytes, data })
        .top("pipe64")
        .cycles(2000)
        .seed(4)
        .run();
}

/// Feeds frames of every tail length with gaps, collects one CRC a frame.
fn pipe_gives_the_crc_of_every_frame<const W: usize>() {
    let bytes = W / 8;
    let initial = 0xFFFF_FFFFu32;
    let mut pipe = Crc32Pipe::<W>::new(initial);
    pipe.connect_all();
    let mut random = W as u64;
    let mut next = || {
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        random >> 33
    };
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    let mut beats = Vec::new();
    for length in 1..=3 * bytes {
        let frame: Vec<u8> = (0..length).map(|_| next() as u8).collect();
        expected.push(crc32_append(initial, &frame));
        for (k, chunk) in frame.chunks(bytes).enumerate() {
            let mut data = Bits::<W>::default();
            for (i, byte) in chunk.iter().enumerate() {
                data.set_bits::<8>(8 * i, u64::from(*byte).into());
            }
            let last = (k + 1) * bytes >= length;
            beats.push(Some((k == 0, last, (bytes - chunk.len()) as u64, data)));
            if next() % 4 == 0 {
                beats.push(None);
            }
        }
    }
    beats.extend([None; 10]);
    for beat in beats {
        for level in [false, true] {
            pipe.clock.next.clk = level;
            pipe.valid.next = beat.is_some();
            if let Some((first, last, unused, data)) = beat {
                pipe.first.next = first;
                pipe.last.next = last;
                pipe.unused_bytes.next = unused.into();
                pipe.data.next = data;
            }
            assert!(simulate(&mut pipe, 30));
        }
        if pipe.crc_valid.val() {
            found.push(pipe.crc.val().to_u64() as u32);
        }
    }
    assert_eq!(found, expected);
}

#[test]
fn pipe_is_a_crc() {
    pipe_gives_the_crc_of_every_frame::<64>();
    pipe_gives_the_crc_of_every_frame::<128>();
}

#[test]
fn pipe_is_a_crc_at_512_bits() {
    pipe_gives_the_crc_of_every_frame::<512>();
}
