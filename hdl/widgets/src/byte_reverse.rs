//! Byte order of a vector turned around: first byte on the wire most significant <-> byte 0 in bits 7:0.
//! In: `x`, a whole number of bytes. Out: `y`, wires only.
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock, Default)]
pub struct ByteReverse<const N: usize> {
    pub x: Signal<In, Bits<N>>,
    pub y: Signal<Out, Bits<N>>,
}

impl<const N: usize> ByteReverse<N> {
    const BYTES: usize = {
        assert!(N.is_multiple_of(8), "ByteReverse works on whole bytes");
        N / 8
    };
}

impl<const N: usize> Logic for ByteReverse<N> {
    fn update(&mut self) {
        let x = self.x.val();
        let bits: [bool; N] = array_init::array_init(|i| x.get_bit(8 * (Self::BYTES - 1 - i / 8) + i % 8));
        let y = if N > 32 {
            Bits::Long(bits.into())
        } else {
            bits.iter().rev().fold(0u64, |y, bit| y << 1 | u64::from(*bit)).into()
        };
        self.y.next = y;
    }

    fn connect(&mut self) {
        self.y.connect();
    }

    fn hdl(&self) -> Verilog {
        let bytes: Vec<String> = (0..Self::BYTES).map(|b| format!("x[{}:{}]", b * 8 + 7, b * 8)).collect();
        Verilog::Custom(format!("// module byte_reverse_{N}: wires only\nassign y = {{{}}};\n", bytes.join(",\n    ")))
    }
}
