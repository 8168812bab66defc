//! A handle on one port: values go straight into and out of the model's memory, without a call.
//! Comes in: values as u64, words or bytes. Goes out: the same.
//! Guarantees that no bit outside the port's width is ever set, and that the memory outlives the handle.

use std::{marker::PhantomData, sync::Arc};

use crate::dut::Instance;

/// Words are 32 bits, the lowest first; bytes likewise. Values wider than the port lose their upper bits, as in a
/// Verilog assignment.
///
/// A port belongs to its `Dut`: both must be used from the same thread at a time (they may move together).
#[derive(Clone)]
pub struct Port {
    ptr: *mut u8,
    width: u32,
    /// Storage: 1, 2, 4 or 8 bytes, or 0 for an array of 32-bit words.
    scalar: u8,
    writable: bool,
    /// All ones in the width, for up to 64 bits.
    mask: u64,
    _alive: Arc<Instance>,
    _not_sync: PhantomData<*mut u8>,
}

// SAFETY: the pointer stays valid while _alive is held; the owner keeps port and Dut in one thread (see the type).
unsafe impl Send for Port {}

impl std::fmt::Debug for Port {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Port({} bits = 0x{})", self.width, self.get_hex())
    }
}

const fn mask(width: u32) -> u64 {
    if width >= 64 {
        u64::MAX
    } else {
        (1 << width) - 1
    }
}

impl Port {
    pub(crate) fn new(alive: Arc<Instance>, ptr: *mut u8, bytes: u32, width: u32, writable: bool) -> Port {
        let scalar = if width > 64 { 0 } else { bytes as u8 };
        assert!(matches!(scalar, 0 | 1 | 2 | 4 | 8) && bytes * 8 >= width, "storage of {bytes} bytes for {width} bits");
        Port { ptr, width, scalar, writable, mask: mask(width), _alive: alive, _not_sync: PhantomData }
    }

    /// Width in bits.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Number of 32-bit words that hold the value.
    pub fn words(&self) -> usize {
        self.width.div_ceil(32) as usize
    }

    /// Whether the port is an input of the design (and so can be set).
    pub fn is_input(&self) -> bool {
        self.writable
    }

    #[inline(always)]
    fn word(&self, i: usize) -> u32 {
        // SAFETY: only for arrays of words, i < words(); see Send.
        unsafe { self.ptr.cast::<u32>().add(i).read_volatile() }
    }

    #[inline(always)]
    fn put_word(&self, i: usize, w: u32) {
        // SAFETY: as in word.
        unsafe { self.ptr.cast::<u32>().add(i).write_volatile(w) }
    }

    /// The value; of a port wider than 64 bits, its lowest 64.
    #[inline(always)]
    pub fn get_u64(&self) -> u64 {
        // SAFETY: the storage has `scalar` bytes, aligned by the C++ compiler; see Send.
        unsafe {
            match self.scalar {
                1 => u64::from(self.ptr.read_volatile()),
                2 => u64::from(self.ptr.cast::<u16>().read_volatile()),
                4 => u64::from(self.ptr.cast::<u32>().read_volatile()),
                8 => self.ptr.cast::<u64>().read_volatile(),
                _ => u64::from(self.word(0)) | u64::from(self.word(1)) << 32,
            }
        }
    }

    /// Sets the value; the upper bits of a port wider than 64 become 0. Panics on an output.
    #[inline(always)]
    pub fn set_u64(&self, value: u64) {
        assert!(self.writable, "an output port cannot be set");
        let v = value & self.mask;
        // SAFETY: as in get_u64.
        unsafe {
            match self.scalar {
                1 => self.ptr.write_volatile(v as u8),
                2 => self.ptr.cast::<u16>().write_volatile(v as u16),
                4 => self.ptr.cast::<u32>().write_volatile(v as u32),
                8 => self.ptr.cast::<u64>().write_volatile(v),
                _ => {
                    self.set_words(&[v as u32, (v >> 32) as u32]);
                }
            }
        }
    }

    /// The lowest bit.
    #[inline(always)]
    pub fn get_bit(&self) -> bool {
        self.get_u64() & 1 != 0
    }

    #[inline(always)]
    pub fn set_bit(&self, value: bool) {
        self.set_u64(u64::from(value));
    }

    /// `width` (1 to 64) bits from bit `lsb` up. Panics when they reach outside the port.
    #[inline]
    pub fn get_bits(&self, lsb: u32, width: u32) -> u64 {
        assert!((1..=64).contains(&width) && lsb + width <= self.width, "bits {lsb}+:{width} of a {}-bit port", self.width);
        if self.scalar != 0 {
            return self.get_u64() >> lsb & mask(width);
        }
        let (first, shift) = ((lsb / 32) as usize, lsb % 32);
        let last = ((lsb + width - 1) / 32) as usize;
        let v = (first..=last).rev().fold(0u128, |v, i| v << 32 | u128::from(self.word(i)));
        (v >> shift) as u64 & mask(width)
    }

    /// Replaces `width` (1 to 64) bits from bit `lsb` up. Panics when they reach outside the port, or on an output.
    #[inline]
    pub fn set_bits(&self, lsb: u32, width: u32, value: u64) {
        assert!((1..=64).contains(&width) && lsb + width <= self.width, "bits {lsb}+:{width} of a {}-bit port", self.width);
        assert!(self.writable, "an output port cannot be set");
        if self.scalar != 0 {
            let field = mask(width) << lsb;
            return self.set_u64(self.get_u64() & !field | value << lsb & field);
        }
        let (first, shift) = ((lsb / 32) as usize, lsb % 32);
        let last = ((lsb + width - 1) / 32) as usize;
        let field = u128::from(mask(width)) << shift;
        let bits = u128::from(value) << shift & field;
        for i in first..=last {
            let at = 32 * (i - first) as u32;
            self.put_word(i, self.word(i) & !((field >> at) as u32) | (bits >> at) as u32);
        }
    }

    /// Copies the value into the first `words()` elements and clears the rest. Panics when `out` is shorter.
    #[inline]
    pub fn get_words(&self, out: &mut [u32]) {
        let n = self.words();
        assert!(out.len() >= n, "{n} words are needed, {} given", out.len());
        if self.scalar != 0 {
            let v = self.get_u64();
            out[0] = v as u32;
            if n == 2 {
                out[1] = (v >> 32) as u32;
            }
        } else {
            for (i, w) in out[..n].iter_mut().enumerate() {
                *w = self.word(i);
            }
        }
        out[n..].fill(0);
    }

    /// Sets the value; missing words are 0, surplus bits are cut. Panics on an output.
    #[inline]
    pub fn set_words(&self, value: &[u32]) {
        assert!(self.writable, "an output port cannot be set");
        let at = |i: usize| value.get(i).copied().unwrap_or(0);
        if self.scalar != 0 {
            return self.set_u64(u64::from(at(0)) | u64::from(at(1)) << 32);
        }
        let n = self.words();
        for i in 0..n {
            let top = if i + 1 == n && !self.width.is_multiple_of(32) { mask(self.width % 32) as u32 } else { u32::MAX };
            self.put_word(i, at(i) & top);
        }
    }

    /// Copies the value as bytes, the lowest first, as AXI-Stream numbers its lanes; clears the rest of `out`.
    /// Panics when `out` is shorter than the port.
    #[inline]
    pub fn get_bytes(&self, out: &mut [u8]) {
        let n = self.width.div_ceil(8) as usize;
        assert!(out.len() >= n, "{n} bytes are needed, {} given", out.len());
        if self.scalar != 0 {
            out[..n].copy_from_slice(&self.get_u64().to_le_bytes()[..n]);
        } else {
            for (i, chunk) in out[..n].chunks_mut(4).enumerate() {
                chunk.copy_from_slice(&self.word(i).to_le_bytes()[..chunk.len()]);
            }
        }
        out[n..].fill(0);
    }

    /// Sets the value from bytes, the lowest first; missing bytes are 0, surplus bits are cut. Panics on an output.
    #[inline]
    pub fn set_bytes(&self, value: &[u8]) {
        let word = |i: usize| {
            let mut b = [0u8; 4];
            let part = value.get(4 * i..).unwrap_or(&[]);
            let n = part.len().min(4);
            b[..n].copy_from_slice(&part[..n]);
            u32::from_le_bytes(b)
        };
        if self.scalar != 0 {
            return self.set_u64(u64::from(word(0)) | u64::from(word(1)) << 32);
        }
        assert!(self.writable, "an output port cannot be set");
        let n = self.words();
        for i in 0..n {
            let top = if i + 1 == n && !self.width.is_multiple_of(32) { mask(self.width % 32) as u32 } else { u32::MAX };
            self.put_word(i, word(i) & top);
        }
    }

    /// The value as words.
    pub fn to_words(&self) -> Vec<u32> {
        let mut v = vec![0; self.words()];
        self.get_words(&mut v);
        v
    }

    /// The value in hexadecimal, as many digits as the width needs.
    pub fn get_hex(&self) -> String {
        let words = self.to_words();
        let digits = self.width.div_ceil(4) as usize;
        let all = words.iter().rev().fold(String::new(), |s, w| s + &format!("{w:08x}"));
        all[all.len() - digits..].to_string()
    }
}
