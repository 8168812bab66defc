//! What the tests of single blocks share: struct-valued ports by field name, and the seed.
//! In: a struct type of the blocks. Out: `Packed`, its bits with access by field, and makers for `Difftest::input_as`.
//! Guarantees: positions come from the type's own descriptor, so a field added to a row disturbs no test.
#![allow(dead_code, unused_macros, unused_imports)] // each test uses its part
use mrnic_nic::config::BuildConfig;
use mrnic_verilated::{build, Dut, ModelSpec};
use rust_hdl_core::prelude::*;
use std::{cell::RefCell, collections::HashMap, rc::Rc};

/// `maker!(path_tx: PathTx { state, pipe, .. })`: the struct from words, for `Difftest::input_as`. All fields, in the
/// order of the declaration.
macro_rules! maker {
    ($name:ident: $type:ident { $($field:ident),+ $(,)? }) => {
        pub fn $name(words: &[u32]) -> $type {
            let mut at = 0;
            $type { $($field: mrnic_difftest::take_field(words, &mut at)),+ }
        }
    };
}
pub(crate) use maker;

pub mod rows;
pub mod words;

/// $MRNIC_SEED, or the test's own; printed, so that a failure can be repeated.
pub fn seed(own: u64) -> u64 {
    let seed = std::env::var("MRNIC_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(own);
    println!("seed {seed} (MRNIC_SEED={seed} runs it again)");
    seed
}

/// Every possible W (window bits of a build).
pub const WINDOWS: [u64; 3] = [256, 128, 64];

/// The build `sim` with W = `bits`.
pub fn of_window(bits: u64) -> BuildConfig {
    BuildConfig { window_bits: bits as usize, ..mrnic_nic::config::build("sim").unwrap() }
}

/// One of the elements.
pub fn pick<T: Copy>(rng: &mut crate::rx_support::Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

fn width(kind: &TypeKind) -> usize {
    match kind {
        TypeKind::Bits(n) | TypeKind::Signed(n) => *n,
        TypeKind::Enum(names) => names.len().max(2).next_power_of_two().ilog2() as usize,
        TypeKind::Composite(fields) => fields.iter().map(|f| width(&f.kind.kind)).sum(),
    }
}

/// Name, first bit, bits.
type Fields = Vec<(String, usize, usize)>;

fn list(prefix: &str, kind: &TypeKind, at: &mut usize, into: &mut Fields) {
    let TypeKind::Composite(fields) = kind else { return };
    for f in fields {
        let name = if prefix.is_empty() { f.fieldname.clone() } else { format!("{prefix}.{}", f.fieldname) };
        into.push((name.clone(), *at, width(&f.kind.kind)));
        match f.kind.kind {
            TypeKind::Composite(_) => list(&name, &f.kind.kind, at, into),
            _ => *at += width(&f.kind.kind),
        }
    }
}

/// Made once a type: a descriptor is built of strings.
fn fields<T: Synth>() -> Rc<Fields> {
    thread_local!(static KNOWN: RefCell<HashMap<&'static str, Rc<Fields>>> = RefCell::default());
    KNOWN.with_borrow_mut(|known| {
        let make = || {
            let mut fields = Fields::new();
            list("", &T::descriptor().kind, &mut 0, &mut fields);
            Rc::new(fields)
        };
        known.entry(std::any::type_name::<T>()).or_insert_with(make).clone()
    })
}

/// The bits of a struct, fields by name (`header.opcode` for a nested one).
#[derive(Clone, PartialEq, Eq)]
pub struct Packed {
    fields: Rc<Fields>,
    words: Vec<u32>,
}

impl Packed {
    /// All zero.
    pub fn zero<T: Synth>() -> Packed {
        Packed { fields: fields::<T>(), words: vec![0; T::BITS.div_ceil(32)] }
    }

    pub fn of<T: Synth>(values: &[(&str, u64)]) -> Packed {
        let mut packed = Packed::zero::<T>();
        for (name, value) in values {
            packed.set(name, *value);
        }
        packed
    }

    pub fn from_words<T: Synth>(words: &[u32]) -> Packed {
        let mut packed = Packed::zero::<T>();
        let len = packed.words.len();
        packed.words.copy_from_slice(&words[..len]);
        packed
    }

    /// Every bit random; one field in four zero or all ones.
    pub fn random<T: Synth>(rng: &mut crate::rx_support::Rng) -> Packed {
        let mut packed = Packed::zero::<T>();
        for (name, _, width) in packed.fields.clone().iter() {
            for low in (0..*width).step_by(32) {
                let value = match rng.below(8) {
                    0 => 0,
                    1 => u64::MAX,
                    _ => rng.next(),
                };
                packed.set_bits(name, low, 32.min(width - low), value);
            }
        }
        packed
    }

    /// (first bit, bits) of a field.
    fn place(&self, name: &str) -> (usize, usize) {
        let found = self.fields.iter().find(|f| f.0 == name);
        let found = found.unwrap_or_else(|| panic!("no field {name}; there are {:?}", self.fields));
        (found.1, found.2)
    }

    fn set_bits(&mut self, name: &str, low: usize, width: usize, value: u64) {
        let at = self.place(name).0 + low;
        for i in 0..width {
            let (word, bit) = ((at + i) / 32, (at + i) % 32);
            self.words[word] = self.words[word] & !(1 << bit) | ((value >> i & 1) as u32) << bit;
        }
    }

    /// Panics on a value that does not fit.
    pub fn set(&mut self, name: &str, value: u64) -> &mut Packed {
        let width = self.place(name).1;
        assert!(width >= 64 || value >> width == 0, "{name} has {width} bits, {value:#x} has more");
        self.set_bits(name, 0, width.min(64), value);
        self
    }

    /// The lowest 64 bits of a field.
    pub fn get(&self, name: &str) -> u64 {
        let (at, width) = self.place(name);
        (0..width.min(64)).fold(0, |v, i| v | u64::from(self.words[(at + i) / 32] >> ((at + i) % 32) & 1) << i)
    }

    /// A field of any width, bit by bit.
    pub fn vector(&self, name: &str) -> Vec<bool> {
        let (at, width) = self.place(name);
        (at..at + width).map(|i| self.words[i / 32] >> (i % 32) & 1 == 1).collect()
    }

    pub fn set_vector(&mut self, name: &str, bits: &[bool]) {
        let at = self.place(name).0;
        for (i, bit) in bits.iter().enumerate() {
            let (word, bit_at) = ((at + i) / 32, (at + i) % 32);
            self.words[word] = self.words[word] & !(1 << bit_at) | u32::from(*bit) << bit_at;
        }
    }

    /// Widest value of a field.
    pub fn most(&self, name: &str) -> u64 {
        u64::MAX >> (64 - self.place(name).1.min(64))
    }

    pub fn words(&self) -> &[u32] {
        &self.words
    }
}

impl std::fmt::Debug for Packed {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        self.fields.iter().try_for_each(|(name, ..)| write!(f, "{name}={:x} ", self.get(name)))
    }
}

/// A combinational block in Verilator.
pub fn combinational<B: Block>(top: &str, make: impl FnOnce() -> B + Send) -> Dut {
    let verilog = mrnic_emit::emit_new(top, make).unwrap_or_else(|e| panic!("{e}")).verilog;
    let spec = ModelSpec { opt_level: 1, clock: None, ..ModelSpec::new(top, verilog) };
    build(&spec, &mut |_| {}).unwrap_or_else(|e| panic!("{e}")).instance(top, 1)
}
