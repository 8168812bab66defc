//! Bit order of a vector turned around: bit 0 becomes the highest.
//! In: `x`. Out: `y`, wires only.
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock, Default)]
pub struct BitReverse<const N: usize> {
    pub x: Signal<In, Bits<N>>,
    pub y: Signal<Out, Bits<N>>,
}

impl<const N: usize> Logic for BitReverse<N> {
    fn update(&mut self) {
        let x = self.x.val();
        let bits: [bool; N] = array_init::array_init(|i| x.get_bit(N - 1 - i));
        self.y.next = if N > 32 {
            Bits::Long(bits.into())
        } else {
            bits.iter().rev().fold(0u64, |y, bit| y << 1 | u64::from(*bit)).into()
        };
    }

    fn connect(&mut self) {
        self.y.connect();
    }

    fn hdl(&self) -> Verilog {
        let bits: Vec<String> = (0..N).map(|i| format!("x[{i}]")).collect();
        let rows: Vec<String> = bits.chunks(8).map(|row| row.join(", ")).collect();
        Verilog::Custom(format!("// module bit_reverse_{N}: wires only\nassign y = {{{}}};\n", rows.join(",\n    ")))
    }
}
