//! The values of all inputs in one cycle, as the stimulus sees and changes them.
//! Comes in: names and numbers. Goes out: words for both simulations.
//! Guarantees that a name or a value that does not fit stops the test with a message that names it.

/// One top-level port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortSpec {
    /// The Verilog name: `i.data` is `i_data`, `lane[2]` is `lane_2`.
    pub name: String,
    /// Width in bits.
    pub width: usize,
    pub(crate) is_clock: bool,
}

/// A value for an input: `bool`, an unsigned number, or words (the lowest first).
pub struct Value(pub(crate) Vec<u32>);

impl From<bool> for Value {
    fn from(v: bool) -> Value {
        Value(vec![u32::from(v)])
    }
}
impl From<u8> for Value {
    fn from(v: u8) -> Value {
        Value(vec![u32::from(v)])
    }
}
impl From<u16> for Value {
    fn from(v: u16) -> Value {
        Value(vec![u32::from(v)])
    }
}
impl From<u32> for Value {
    fn from(v: u32) -> Value {
        Value(vec![v])
    }
}
impl From<u64> for Value {
    fn from(v: u64) -> Value {
        Value(vec![v as u32, (v >> 32) as u32])
    }
}
impl From<u128> for Value {
    fn from(v: u128) -> Value {
        Value((0..4).map(|i| (v >> (32 * i)) as u32).collect())
    }
}
impl From<usize> for Value {
    fn from(v: usize) -> Value {
        (v as u64).into()
    }
}
impl From<i32> for Value {
    /// For number literals; a negative one is refused by `set` (its sign bits do not fit).
    fn from(v: i32) -> Value {
        (i64::from(v) as u64).into()
    }
}
impl From<Vec<u32>> for Value {
    fn from(v: Vec<u32>) -> Value {
        Value(v)
    }
}
impl From<&[u32]> for Value {
    fn from(v: &[u32]) -> Value {
        Value(v.to_vec())
    }
}

/// All inputs but the clock, with this cycle's values (random when the stimulus function is called), and what the
/// last rising edge saw.
pub struct Inputs {
    pub(crate) ports: Vec<PortSpec>,
    pub(crate) values: Vec<Vec<u32>>,
    /// The inputs at the last rising edge.
    pub(crate) previous: Vec<Vec<u32>>,
    pub(crate) outputs: Vec<PortSpec>,
    /// The outputs just before the last rising edge.
    pub(crate) sampled: Vec<Vec<u32>>,
}

impl Inputs {
    /// Sets an input for this cycle. Panics on an unknown name or a value that does not fit.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) {
        let i = find(&self.ports, name, "input");
        let width = self.ports[i].width;
        let given = value.into().0;
        let mut v = given.clone();
        v.resize(width.div_ceil(32).max(1), 0);
        crate::drive::cut(&mut v, width);
        let fits = given.iter().enumerate().all(|(k, w)| v.get(k).copied().unwrap_or(0) == *w);
        assert!(fits, "the value 0x{} does not fit input {name} of {width} bits", hex(&given, 32 * given.len()));
        self.values[i] = v;
    }

    /// This cycle's value so far: the lowest 64 bits.
    pub fn get(&self, name: &str) -> u64 {
        low(&self.values[find(&self.ports, name, "input")])
    }

    /// This cycle's value so far as words.
    pub fn words(&self, name: &str) -> &[u32] {
        &self.values[find(&self.ports, name, "input")]
    }

    /// What the last rising edge saw at an input (zero before the first): the lowest 64 bits.
    pub fn previous(&self, name: &str) -> u64 {
        low(&self.previous[find(&self.ports, name, "input")])
    }

    /// Keeps the value of the last cycle.
    pub fn hold(&mut self, name: &str) {
        let i = find(&self.ports, name, "input");
        self.values[i] = self.previous[i].clone();
    }

    /// What an output was just before the last rising edge (zero before the first): the lowest 64 bits. With `previous`
    /// it tells whether a handshake took place: `inputs.previous("valid") & inputs.sampled("ready")`.
    pub fn sampled(&self, name: &str) -> u64 {
        low(&self.sampled[find(&self.outputs, name, "output")])
    }

    /// What an output was just before the last rising edge, as words.
    pub fn sampled_words(&self, name: &str) -> &[u32] {
        &self.sampled[find(&self.outputs, name, "output")]
    }
}

fn low(words: &[u32]) -> u64 {
    u64::from(words[0]) | u64::from(words.get(1).copied().unwrap_or(0)) << 32
}

pub(crate) fn find(ports: &[PortSpec], name: &str, what: &str) -> usize {
    ports.iter().position(|p| p.name == name).unwrap_or_else(|| {
        let all: Vec<_> = ports.iter().map(|p| p.name.as_str()).collect();
        panic!("the block has no {what} {name:?}; there are: {}", all.join(", "))
    })
}

/// As many hexadecimal digits as the width needs.
pub(crate) fn hex(words: &[u32], bits: usize) -> String {
    let all = words.iter().rev().fold(String::new(), |s, w| s + &format!("{w:08x}"));
    let digits = bits.div_ceil(4).clamp(1, all.len());
    all[all.len() - digits..].to_string()
}
