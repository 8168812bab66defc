//! A block of the transmit side in Verilator, driven by port names.
//! In: an emitted block. Out: set, get and clock, the same way in every test. Guarantees that outputs are read settled.
#![allow(dead_code)]
use mrnic_verilated::{build, Dut, ModelSpec};
use rust_hdl_core::prelude::Block;

pub struct Bench {
    dut: Dut,
}

impl Bench {
    /// After two clocks of reset.
    pub fn new(block: &dyn Block, top: &str) -> Bench {
        let design = mrnic_emit::emit(block, top).unwrap();
        let spec = ModelSpec { opt_level: 1, ..ModelSpec::new(top, design.verilog) };
        let dut = build(&spec, &mut |_| {}).unwrap().instance(top, 7);
        let mut bench = Bench { dut };
        bench.set("reset", 1);
        bench.clock();
        bench.clock();
        bench.set("reset", 0);
        bench
    }

    pub fn set(&mut self, name: &str, value: u64) {
        self.dut.input(name).unwrap().set_u64(value);
    }

    pub fn set_words(&mut self, name: &str, words: &[u32]) {
        self.dut.input(name).unwrap().set_words(words);
    }

    /// An output for the inputs as they are now.
    pub fn get(&mut self, name: &str) -> u64 {
        self.dut.eval();
        self.dut.output(name).unwrap().get_u64()
    }

    /// Whether a one-bit input is high.
    pub fn dut_input(&self, name: &str) -> bool {
        self.dut.input(name).unwrap().get_bit()
    }

    /// What an input is.
    pub fn input(&self, name: &str) -> u64 {
        self.dut.input(name).unwrap().get_u64()
    }

    pub fn high(&mut self, name: &str) -> bool {
        self.get(name) == 1
    }

    pub fn words(&mut self, name: &str) -> Vec<u32> {
        self.dut.eval();
        self.dut.output(name).unwrap().to_words()
    }

    /// Clocks since power-up.
    pub fn clocks(&self) -> u64 {
        self.dut.cycle_count()
    }

    pub fn clock(&mut self) {
        self.dut.cycle();
    }

    /// Clocks until `name` is high; panics after `limit` clocks.
    pub fn until(&mut self, name: &str, limit: usize) {
        for _ in 0..limit {
            if self.high(name) {
                return;
            }
            self.clock();
        }
        panic!("{name} is still low after {limit} clocks");
    }
}
