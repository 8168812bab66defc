//! What the tests of the receive side share: a Verilated block and its ports by name.
//! In: a block. Out: `Bench`, which sets and reads ports and steps the clock. Guarantees: the Verilog passes `-Wall` first.
#![allow(dead_code)] // each test uses its part
use mrnic_verilated::{build, lint, Dut, ModelSpec, Port};
use rust_hdl_core::prelude::Block;
use std::collections::HashMap;

/// A Verilated block under test.
pub struct Bench {
    pub dut: Dut,
    ports: HashMap<String, Port>,
}

impl Bench {
    /// Builds the block.
    pub fn new<B: Block>(top: &str, make: impl FnOnce() -> B + Send) -> Self {
        let verilog = mrnic_emit::emit_new(top, make).unwrap_or_else(|e| panic!("{e}")).verilog;
        lint(&verilog, top).unwrap_or_else(|e| panic!("{e}"));
        let spec = ModelSpec { opt_level: 1, ..ModelSpec::new(top, verilog) };
        let dut = build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}")).instance(top, 1);
        Bench { dut, ports: HashMap::new() }
    }

    fn port(&mut self, name: &str) -> &Port {
        if !self.ports.contains_key(name) {
            let port = self.dut.port(name).unwrap_or_else(|e| panic!("{e}"));
            self.ports.insert(name.to_string(), port);
        }
        &self.ports[name]
    }

    pub fn set(&mut self, name: &str, value: u64) {
        self.port(name).set_u64(value);
    }

    pub fn set_words(&mut self, name: &str, value: &[u32]) {
        self.port(name).set_words(value);
    }

    pub fn set_bytes(&mut self, name: &str, value: &[u8]) {
        self.port(name).set_bytes(value);
    }

    pub fn get(&mut self, name: &str) -> u64 {
        self.port(name).get_u64()
    }

    pub fn get_words(&mut self, name: &str) -> Vec<u32> {
        self.port(name).to_words()
    }

    pub fn get_bytes(&mut self, name: &str, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; self.port(name).width().div_ceil(8) as usize];
        self.port(name).get_bytes(&mut bytes);
        bytes.truncate(len);
        bytes
    }

    pub fn eval(&mut self) {
        self.dut.eval();
    }

    pub fn cycle(&mut self) {
        self.dut.cycle();
    }

    /// Resets, then waits for `init_done`.
    pub fn reset(&mut self) {
        self.set("reset", 1);
        self.dut.cycles(2);
        self.set("reset", 0);
        for _ in 0..100_000 {
            if self.get("init_done") == 1 {
                return;
            }
            self.cycle();
        }
        panic!("init_done never came");
    }
}

/// Small deterministic generator (xorshift), so that a seed is all there is to know.
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        (self.next() >> 11) % n
    }

    /// True `percent` times in a hundred.
    pub fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}
