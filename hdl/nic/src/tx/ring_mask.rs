//! ring_mask: which packets of one 64-bit word of a path's ring lie below an offset from cum.
//!
//! In: cum mod 256, the word number and an offset 0..=W (the window bits of the build). Out: bit b set if packet (64 * word + b) mod W, seen
//! from cum, has an offset below the given one. Guarantees nothing about offsets above W. Combinational.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RingMask {
    pub cum: Signal<In, Bits<8>>,
    pub word: Signal<In, Bits<2>>,
    pub below: Signal<In, Bits<9>>,
    pub mask: Signal<Out, Bits<64>>,
    start: Signal<Local, Bits<8>>,
    ahead: Signal<Local, Bits<10>>,
    reach: Signal<Local, Bits<10>>,
    low_count: Signal<Local, Bits<7>>,
    high_count: Signal<Local, Bits<7>>,
    low_mask: Signal<Local, Bits<64>>,
    high_mask: Signal<Local, Bits<64>>,
    cut_mask: Signal<Local, Bits<64>>,
    ones: Constant<Bits<64>>,
    /// W - 1, and of the word numbers.
    ring: Constant<Bits<8>>,
    word_ring: Constant<Bits<2>>,
}

impl RingMask {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RingMask {
            ones: Constant::new(u64::MAX.to_bits()),
            ring: Constant::new((config.window_bits as u64 - 1).to_bits()),
            word_ring: Constant::new((config.window_words() as u64 - 1).to_bits());
            cum, word, below, mask, start, ahead, reach, low_count, high_count, low_mask, high_mask, cut_mask,
        })
    }
}

impl Logic for RingMask {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ring_mask: packets of a word whose offset from cum is below a limit");
        // offset of bit 0
        self.start.next = ((bit_cast::<8, 2>(self.word.val()) << 6) - self.cum.val()) & self.ring.val();
        self.ahead.next = bit_cast::<10, 9>(self.below.val()) - bit_cast::<10, 8>(self.start.val());
        self.low_count.next = self.ahead.val().get_bits::<7>(0);
        if self.ahead.val().get_bit(9) {
            self.low_count.next = 0.into();
        } else if self.ahead.val() > 64 {
            self.low_count.next = 64.into();
        }
        self.low_mask.next = !(self.ones.val() << self.low_count.val());
        self.mask.next = self.low_mask.val();
        // the word of cum itself: its bits from cum on are the nearest, those below cum the farthest
        self.reach.next = bit_cast::<10, 9>(self.below.val()) + bit_cast::<10, 6>(self.cum.val().get_bits::<6>(0));
        self.high_count.next = self.reach.val().get_bits::<7>(0);
        if self.reach.val() > 64 {
            self.high_count.next = 64.into();
        }
        self.high_mask.next = !(self.ones.val() << self.high_count.val());
        self.cut_mask.next = self.ones.val() << self.cum.val().get_bits::<6>(0);
        if ((self.cum.val().get_bits::<2>(6) & self.word_ring.val()) == self.word.val()) & self.cum.val().get_bits::<6>(0).any()
        {
            self.mask.next = (self.low_mask.val() & !self.cut_mask.val()) | (self.high_mask.val() & self.cut_mask.val());
        }
    }
}
