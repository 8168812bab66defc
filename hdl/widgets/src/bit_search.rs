//! Lowest one, highest one and number of ones of a 64-bit word, in the same clock.
//! The searches work in two levels of eight (about five LUT levels), the count as a tree of small adders;
//! put registers around them where they follow a memory.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// Index of the lowest one; `any` is false (and `index` 0) for a word of zeros.
#[derive(LogicBlock, Default)]
pub struct FirstOne64 {
    pub x: Signal<In, Bits<64>>,
    pub any: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<6>>,
    part: Signal<Local, Bits<8>>,
    group: Signal<Local, Bits<8>>,
    high: Signal<Local, Bits<3>>,
    low: Signal<Local, Bits<3>>,
    high_found: Signal<Local, Bit>,
    low_found: Signal<Local, Bit>,
}

/// The usual name.
pub type FirstOne = FirstOne64;

impl Logic for FirstOne64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module first_one_64: index of the lowest one, two levels of eight");
        self.high.next = 0.into();
        self.high_found.next = false;
        self.group.next = 0.into();
        for k in 0..8 {
            self.part.next = self.x.val().get_bits::<8>(k * 8);
            if self.part.val().any() & !self.high_found.val() {
                self.high.next = k.to_bits::<3>();
                self.high_found.next = true;
                self.group.next = self.part.val();
            }
        }
        self.low.next = 0.into();
        self.low_found.next = false;
        for k in 0..8 {
            if self.group.val().get_bit(k) & !self.low_found.val() {
                self.low.next = k.to_bits::<3>();
                self.low_found.next = true;
            }
        }
        self.any.next = self.high_found.val();
        self.index.next = (bit_cast::<6, 3>(self.high.val()) << 3) | bit_cast::<6, 3>(self.low.val());
    }
}

/// Index of the highest one; `any` is false (and `index` 0) for a word of zeros.
#[derive(LogicBlock, Default)]
pub struct LastOne64 {
    pub x: Signal<In, Bits<64>>,
    pub any: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<6>>,
    part: Signal<Local, Bits<8>>,
    group: Signal<Local, Bits<8>>,
    high: Signal<Local, Bits<3>>,
    low: Signal<Local, Bits<3>>,
}

impl Logic for LastOne64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module last_one_64: index of the highest one, two levels of eight");
        self.high.next = 0.into();
        self.group.next = self.x.val().get_bits::<8>(0);
        for k in 1..8 {
            self.part.next = self.x.val().get_bits::<8>(k * 8);
            if self.part.val().any() {
                self.high.next = k.to_bits::<3>();
                self.group.next = self.part.val();
            }
        }
        self.low.next = 0.into();
        for k in 1..8 {
            if self.group.val().get_bit(k) {
                self.low.next = k.to_bits::<3>();
            }
        }
        self.any.next = self.x.val().any();
        self.index.next = (bit_cast::<6, 3>(self.high.val()) << 3) | bit_cast::<6, 3>(self.low.val());
    }
}

/// Number of ones.
#[derive(LogicBlock)]
pub struct Popcount64 {
    pub x: Signal<In, Bits<64>>,
    pub count: Signal<Out, Bits<7>>,
    pair: [Signal<Local, Bits<4>>; 32],
    byte: [Signal<Local, Bits<4>>; 8],
    word: [Signal<Local, Bits<7>>; 2],
    lane: Signal<Local, Bits<4>>,
    ones: Signal<Local, Bits<2>>,
}

impl Default for Popcount64 {
    fn default() -> Self {
        Self {
            x: Default::default(),
            count: Default::default(),
            pair: array_init::array_init(|_| Default::default()),
            byte: array_init::array_init(|_| Default::default()),
            word: array_init::array_init(|_| Default::default()),
            lane: Default::default(),
            ones: Default::default(),
        }
    }
}

impl Logic for Popcount64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module popcount_64: number of ones, a tree of small adders");
        for k in 0..32 {
            self.ones.next = self.x.val().get_bits::<2>(k * 2);
            self.pair[k].next = bit_cast::<4, 2>(self.ones.val());
            if self.ones.val() == 3 {
                self.pair[k].next = 2.into();
            }
            if self.ones.val() == 2 {
                self.pair[k].next = 1.into();
            }
        }
        for k in 0..8 {
            self.byte[k].next = (self.pair[k * 4].val() + self.pair[k * 4 + 1].val())
                + (self.pair[k * 4 + 2].val() + self.pair[k * 4 + 3].val());
        }
        for k in 0..2 {
            self.word[k].next = 0.into();
            for j in 0..4 {
                self.lane.next = self.byte[k * 4 + j].val();
                self.word[k].next = self.word[k].val() + bit_cast::<7, 4>(self.lane.val());
            }
        }
        self.count.next = self.word[0].val() + self.word[1].val();
    }
}
