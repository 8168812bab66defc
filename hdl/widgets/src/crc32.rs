//! CRC-32 of Ethernet as XOR matrices: a whole W-bit beat a clock, one matrix between two registers.
//! State and data are reflected: byte 0 in bits 7:0, least significant bit first, no inversion here.
//! `Crc32Pipe` takes frames beat by beat and gives one state a frame; its tail takes trailing zero bytes back out.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Polynomial 0x04C11DB7 with its bits in wire order.
const REFLECTED: u32 = 0x04C1_1DB7u32.reverse_bits();

/// The state `zero_bits` later (earlier if negative), with zeros as data.
pub fn crc32_advance(state: u32, zero_bits: i64) -> u32 {
    let forward = |s: u32| if s & 1 == 1 { s >> 1 ^ REFLECTED } else { s >> 1 };
    // REFLECTED has its top bit set, so the top bit tells whether it was added.
    let back = |s: u32| if s >> 31 == 1 { (s ^ REFLECTED) << 1 | 1 } else { s << 1 };
    (0..zero_bits.abs()).fold(state, |s, _| if zero_bits > 0 { forward(s) } else { back(s) })
}

/// The state after `bytes`.
pub fn crc32_append(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(state, |s, b| crc32_advance(s ^ u32::from(*b), 8))
}

/// The state from which `bytes` lead to `state`.
pub fn crc32_before(state: u32, bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(state, |s, b| crc32_advance(s, -8) ^ u32::from(*b))
}

/// Row `i` of a matrix: which inputs enter output bit `i`; `column(j)` is the output for input bit `j` alone.
fn rows<const N: usize>(column: impl Fn(usize) -> u32) -> [Constant<Bits<N>>; 32] {
    let columns: Vec<u32> = (0..N).map(column).collect();
    array_init::array_init(|i| {
        let mut row = Bits::<N>::default();
        for (j, column) in columns.iter().enumerate() {
            if column >> i & 1 == 1 {
                row = row.replace_bit(j, true);
            }
        }
        Constant::new(row)
    })
}

/// What the data of one beat adds to the state at its end.
#[derive(LogicBlock)]
pub struct Crc32Sum<const W: usize> {
    pub data: Signal<In, Bits<W>>,
    pub sum: Signal<Out, Bits<32>>,
    row: [Constant<Bits<W>>; 32],
}

impl<const W: usize> Default for Crc32Sum<W> {
    fn default() -> Self {
        Self { data: Default::default(), sum: Default::default(), row: rows(|j| crc32_advance(REFLECTED, (W - 1 - j) as i64)) }
    }
}

impl<const W: usize> Logic for Crc32Sum<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module crc32_sum: what the data of one beat adds to the CRC state at its end");
        self.sum.next = 0.into();
        for i in 0..32 {
            self.sum.next = self.sum.val().replace_bit(i, (self.data.val() & self.row[i].val()).xor());
        }
    }
}

/// The state a fixed number of zero bits later or earlier.
#[derive(LogicBlock)]
pub struct Crc32Advance {
    pub state: Signal<In, Bits<32>>,
    pub advanced: Signal<Out, Bits<32>>,
    row: [Constant<Bits<32>>; 32],
}

impl Crc32Advance {
    pub fn new(zero_bits: i64) -> Self {
        Self { state: Default::default(), advanced: Default::default(), row: rows(|j| crc32_advance(1 << j, zero_bits)) }
    }
}

impl Logic for Crc32Advance {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module crc32_advance: the CRC state a fixed number of zero bits later or earlier");
        self.advanced.next = 0.into();
        for i in 0..32 {
            self.advanced.next = self.advanced.val().replace_bit(i, (self.state.val() & self.row[i].val()).xor());
        }
    }
}

/// Frames in, one CRC state a frame out, eight clocks after the last beat. Never stalls; gaps between beats are fine.
#[derive(LogicBlock)]
pub struct Crc32Pipe<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub valid: Signal<In, Bit>,
    /// The beat starts a frame.
    pub first: Signal<In, Bit>,
    pub last: Signal<In, Bit>,
    /// With `last`: trailing bytes of the beat that do not belong to the frame. They must be zero.
    pub unused_bytes: Signal<In, Bits<6>>,
    pub data: Signal<In, Bits<W>>,
    pub crc_valid: Signal<Out, Bit>,
    pub crc: Signal<Out, Bits<32>>,
    matrix: Crc32Sum<W>,
    forward: Crc32Advance,
    back: [Crc32Advance; 6],
    sum_valid: DFF<Bit>,
    sum_first: DFF<Bit>,
    sum_last: DFF<Bit>,
    sum_unused: DFF<Bits<6>>,
    sum_value: DFF<Bits<32>>,
    state: DFF<Bits<32>>,
    tail_valid: [DFF<Bit>; 7],
    tail_unused: [DFF<Bits<6>>; 7],
    tail: [DFF<Bits<32>>; 7],
    after_beat: Signal<Local, Bits<32>>,
    first_state: Constant<Bits<32>>,
}

impl<const W: usize> Crc32Pipe<W> {
    /// `initial` is the state before the first byte of a frame.
    pub fn new(initial: u32) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            valid: Default::default(),
            first: Default::default(),
            last: Default::default(),
            unused_bytes: Default::default(),
            data: Default::default(),
            crc_valid: Default::default(),
            crc: Default::default(),
            matrix: Default::default(),
            forward: Crc32Advance::new(W as i64),
            back: array_init::array_init(|k| Crc32Advance::new(-8 << k)),
            sum_valid: Default::default(),
            sum_first: Default::default(),
            sum_last: Default::default(),
            sum_unused: Default::default(),
            sum_value: Default::default(),
            state: Default::default(),
            tail_valid: array_init::array_init(|_| Default::default()),
            tail_unused: array_init::array_init(|_| Default::default()),
            tail: array_init::array_init(|_| Default::default()),
            after_beat: Default::default(),
            first_state: Constant::new(u64::from(crc32_advance(initial, W as i64)).into()),
        }
    }
}

impl<const W: usize> Logic for Crc32Pipe<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module crc32_pipe: one beat a clock, one CRC state a frame");
        dff_setup!(self, clock, sum_valid, sum_first, sum_last, sum_unused, sum_value, state);
        comment!("stage 1: the data matrix");
        self.matrix.data.next = self.data.val();
        self.sum_value.d.next = self.matrix.sum.val();
        self.sum_valid.d.next = self.valid.val();
        self.sum_first.d.next = self.first.val();
        self.sum_last.d.next = self.last.val();
        self.sum_unused.d.next = self.unused_bytes.val();
        comment!("stage 2: the state matrix, the only loop");
        self.forward.state.next = self.state.q.val();
        self.after_beat.next = self.forward.advanced.val() ^ self.sum_value.q.val();
        if self.sum_first.q.val() {
            self.after_beat.next = self.first_state.val() ^ self.sum_value.q.val();
        }
        if self.sum_valid.q.val() {
            self.state.d.next = self.after_beat.val();
        }
        for k in 0..7 {
            self.tail_valid[k].clock.next = self.clock.val();
            self.tail_unused[k].clock.next = self.clock.val();
            self.tail[k].clock.next = self.clock.val();
        }
        self.tail_valid[0].d.next = self.sum_valid.q.val() & self.sum_last.q.val();
        self.tail_unused[0].d.next = self.sum_unused.q.val();
        self.tail[0].d.next = self.after_beat.val();
        comment!("stages 3 to 8: take 1, 2, 4, ... 32 trailing zero bytes back out");
        for k in 0..6 {
            self.back[k].state.next = self.tail[k].q.val();
            self.tail_valid[k + 1].d.next = self.tail_valid[k].q.val();
            self.tail_unused[k + 1].d.next = self.tail_unused[k].q.val();
            self.tail[k + 1].d.next = self.tail[k].q.val();
            if self.tail_unused[k].q.val().get_bit(k) {
                self.tail[k + 1].d.next = self.back[k].advanced.val();
            }
        }
        self.crc_valid.next = self.tail_valid[6].q.val();
        self.crc.next = self.tail[6].q.val();
        if self.reset.val() {
            self.sum_valid.d.next = false;
            for k in 0..7 {
                self.tail_valid[k].d.next = false;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_agree_with_the_check_value_of_crc32() {
        assert_eq!(!crc32_append(u32::MAX, b"123456789"), 0xCBF4_3926);
        assert_eq!(crc32_before(crc32_append(0x1234_5678, b"abc"), b"abc"), 0x1234_5678);
        assert_eq!(crc32_advance(crc32_advance(0xDEAD_BEEF, 77), -77), 0xDEAD_BEEF);
    }
}
