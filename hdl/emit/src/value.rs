//! Constants of any width: parsed from rust-hdl's literals, sliced, compared and printed as sized Verilog literals.
//! A value never has bits above its width.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    width: usize,
    /// Least significant bit first.
    bits: Vec<bool>,
}

impl Value {
    /// `None` if the number does not fit.
    pub fn new(width: usize, number: u128) -> Option<Value> {
        if width < 128 && number >> width != 0 {
            return None;
        }
        let bits = (0..width).map(|i| i < 128 && (number >> i) & 1 == 1).collect();
        Some(Value { width, bits })
    }

    pub fn zero(width: usize) -> Value {
        Value { width, bits: vec![false; width] }
    }

    pub fn bit(value: bool) -> Value {
        Value { width: 1, bits: vec![value] }
    }

    /// Two's complement; `None` if the number is outside of the signed range of the width.
    pub fn signed(width: usize, number: i128) -> Option<Value> {
        if width == 0 || (width < 127 && !(-(1 << (width - 1))..1 << (width - 1)).contains(&number)) {
            return None;
        }
        let bits = (0..width).map(|i| (number >> i.min(127)) & 1 == 1).collect();
        Some(Value { width, bits })
    }

    /// The text of a rust-hdl literal printed with `{:x}`, e.g. `64'h1f`; its own width is replaced.
    /// `None` if it is negative or does not fit.
    pub fn from_hex_literal(width: usize, text: &str) -> Option<Value> {
        let digits = text.rsplit_once("'h").map_or(text, |(_, digits)| digits);
        let mut bits = Vec::with_capacity(digits.len() * 4);
        for digit in digits.chars().rev() {
            let nibble = digit.to_digit(16)?;
            bits.extend((0..4).map(|i| (nibble >> i) & 1 == 1));
        }
        if bits.iter().skip(width).any(|&b| b) {
            return None;
        }
        bits.resize(width, false);
        Some(Value { width, bits })
    }

    pub fn width(&self) -> usize {
        self.width
    }

    pub fn slice(&self, low: usize, width: usize) -> Value {
        let bits = (low..low + width).map(|i| self.bits.get(i).copied().unwrap_or(false)).collect();
        Value { width, bits }
    }

    pub fn is_zero(&self) -> bool {
        !self.bits.contains(&true)
    }

    pub fn is_ones(&self) -> bool {
        !self.bits.contains(&false)
    }

    pub fn less_than(&self, other: &Value) -> bool {
        let pairs = self.bits.iter().rev().zip(other.bits.iter().rev());
        pairs.clone().find(|(a, b)| a != b).is_some_and(|(a, _)| !a)
    }

    /// Sized Verilog literal: decimal below ten, hexadecimal above, binary for single bits.
    pub fn verilog(&self) -> String {
        if self.width == 1 {
            return format!("1'b{}", u8::from(self.bits[0]));
        }
        let nibble = |n: &[bool]| n.iter().rev().fold(0u32, |v, &b| v * 2 + u32::from(b));
        let digits: String = self.bits.chunks(4).rev().map(|n| format!("{:x}", nibble(n))).collect();
        let digits = digits.trim_start_matches('0');
        match digits {
            "" => format!("{}'d0", self.width),
            d if d.len() == 1 && d.as_bytes()[0].is_ascii_digit() => format!("{}'d{d}", self.width),
            d => format!("{}'h{d}", self.width),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Value;

    #[test]
    fn literals_print_sized_and_wide_ones_keep_all_bits() {
        assert_eq!(Value::new(8, 9).unwrap().verilog(), "8'd9");
        assert_eq!(Value::new(12, 0xabc).unwrap().verilog(), "12'habc");
        assert_eq!(Value::new(3, 8), None);
        assert_eq!(Value::signed(8, -3).unwrap().verilog(), "8'hfd");
        assert_eq!(Value::signed(8, -129), None);
        assert_eq!(Value::signed(8, 128), None);
        let wide = Value::from_hex_literal(200, "200'h80000000000000000000000000000000000000000000000001").unwrap();
        assert_eq!(wide.verilog(), "200'h80000000000000000000000000000000000000000000000001");
        assert_eq!(wide.slice(199, 1).verilog(), "1'b1");
        assert_eq!(Value::from_hex_literal(4, "64'h10"), None);
        assert!(Value::new(5, 3).unwrap().less_than(&Value::new(5, 16).unwrap()));
    }
}
