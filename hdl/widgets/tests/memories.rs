//! RAM and FIFO: rust-hdl simulation = Verilog, and the FIFO against a queue.
use mrnic_difftest::difftest;
use mrnic_widgets::{Fifo, Ram, RamStyle, Skid};
use rust_hdl_core::prelude::*;
use std::collections::VecDeque;

fn ram_of(depth: usize, style: RamStyle) {
    let inputs_below = depth as u64 - 1;
    difftest!(Ram::<Bits<40>>::new(depth).with_style(style), clock: clock, inputs: { read_address, write_enable, write_address, write_data })
        .top("ram")
        .cycles(3000)
        .seed(depth as u64)
        .limit("read_address", 0..=inputs_below)
        .limit("write_address", 0..=inputs_below)
        .run();
}

#[test]
fn ram_of_every_shape_equals_its_verilog() {
    ram_of(1, RamStyle::Auto);
    ram_of(2, RamStyle::Distributed);
    ram_of(5, RamStyle::Block);
    ram_of(64, RamStyle::Ultra);
}

/// Tables that fill the rows of an UltraRAM ask for it; smaller ones and a style of the owner's choice stay as they are.
#[test]
fn deep_tables_ask_for_ultra_ram() {
    fn text<T: Synth>(ram: Ram<T>) -> String {
        mrnic_emit::emit(&ram, "deep_ram").unwrap().verilog
    }
    assert!(text(Ram::<Bits<36>>::new(4096)).contains("ram_style = \"ultra\""));
    assert!(!text(Ram::<Bits<36>>::new(4095)).contains("ram_style"));
    assert!(!text(Ram::<Bits<35>>::new(4096)).contains("ram_style"));
    assert!(text(Ram::<Bits<36>>::new(4096).with_style(RamStyle::Block)).contains("ram_style = \"block\""));
}

fn fifo_of(depth: usize) {
    difftest!(Fifo::<Bits<36>>::new(depth), clock: clock, inputs: { reset, write, data_in, read })
        .top("fifo")
        .cycles(3000)
        .seed(depth as u64)
        .stimulus(|random, cycle, inputs| {
            // Runs of mostly writing and mostly reading, so that every depth gets full and empty.
            let writing = cycle / 150 % 2 == 0;
            inputs.set("write", u32::from(random.chance(if writing { 0.9 } else { 0.3 })));
            inputs.set("read", u32::from(random.chance(if writing { 0.3 } else { 0.9 })));
        })
        .run();
}

#[test]
fn fifo_of_every_shape_equals_its_verilog() {
    // 1: a register; 2 to 64: LUT RAM; above: block RAM with prefetch.
    for depth in [1, 2, 3, 8, 65, 100] {
        fifo_of(depth);
    }
}

#[test]
fn skid_buffer_equals_its_verilog() {
    difftest!(Skid::<Bits<20>>::default(), clock: clock, inputs: { reset, in_valid, in_data, out_ready })
        .top("skid")
        .cycles(3000)
        .seed(7)
        .source("in_valid", "in_ready", &["in_data"])
        .sink("out_ready")
        .run();
}

/// One clock of a block whose `clock` is driven by hand.
fn edge<B: Block>(block: &mut B, set: impl Fn(&mut B, bool)) {
    for level in [false, true] {
        set(block, level);
        assert!(simulate(block, 20), "the block settles");
    }
}

/// What is written is gone. (Its Verilog: the blocks of hdl/nic with windows of 64 packets.)
#[test]
fn ram_without_rows_reads_as_zero() {
    let mut ram = Ram::<Bits<16>>::new(0);
    ram.connect_all();
    ram.write_enable.next = true;
    ram.write_data.next = 0xFFFF.into();
    for _ in 0..3 {
        edge(&mut ram, |r, level| r.clock.next.clk = level);
        assert_eq!(ram.read_data.val(), 0);
    }
}

#[test]
fn fifo_is_a_queue() {
    for depth in [1, 3, 70] {
        let mut fifo = Fifo::<Bits<16>>::new(depth);
        fifo.connect_all();
        let mut queue = VecDeque::new();
        let mut random = 0x1234_5678u64;
        edge(&mut fifo, |f, level| f.clock.next.clk = level);
        for cycle in 0..2000u64 {
            random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let (write, read) = (random >> 40 & 3 != 0, random >> 50 & 3 >= cycle / 200 % 4);
            let value = random >> 20 & 0xFFFF;
            assert_eq!(fifo.full.val(), queue.len() == depth);
            assert_eq!(fifo.empty.val(), queue.is_empty());
            assert_eq!(fifo.count.val().to_u64(), queue.len() as u64);
            if let Some(head) = queue.front() {
                assert_eq!(fifo.data_out.val().to_u64(), *head);
            }
            let (room, held) = (queue.len() < depth, !queue.is_empty());
            if read && held {
                queue.pop_front();
            }
            if write && room {
                queue.push_back(value);
            }
            edge(&mut fifo, |f, level| {
                f.clock.next.clk = level;
                f.write.next = write;
                f.read.next = read;
                f.data_in.next = value.into();
            });
        }
    }
}
