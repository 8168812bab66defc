//! Lowest one, highest one and number of ones of a 64-bit word, in the same clock.
//! The searches work in two levels of eight (about five LUT levels), the count in counters of six and three adders;
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
    /// Sums and carries of three lines each, lane by lane.
    sum_a: Signal<Local, Bits<10>>,
    sum_b: Signal<Local, Bits<10>>,
    carry_a: Signal<Local, Bits<10>>,
    carry_b: Signal<Local, Bits<10>>,
    carry_c: Signal<Local, Bits<10>>,
    /// Ten lanes of a number of three bits: its bits 0, 1 and 2.
    bit: [Signal<Local, Bits<10>>; 3],
    line: Signal<Local, Bits<10>>,
    low: Signal<Local, Bits<2>>,
    middle: Signal<Local, Bits<2>>,
    high: Signal<Local, Bits<2>>,
    two: Signal<Local, Bits<2>>,
    three: Signal<Local, Bits<2>>,
    both: Signal<Local, Bits<2>>,
    first: Signal<Local, Bits<3>>,
    second: Signal<Local, Bits<3>>,
    part: [Signal<Local, Bits<7>>; 3],
    rest: Signal<Local, Bits<7>>,
    ones: Signal<Local, Bits<2>>,
}

impl Default for Popcount64 {
    fn default() -> Self {
        Self {
            x: Default::default(),
            count: Default::default(),
            sum_a: Default::default(),
            sum_b: Default::default(),
            carry_a: Default::default(),
            carry_b: Default::default(),
            carry_c: Default::default(),
            bit: array_init::array_init(|_| Default::default()),
            line: Default::default(),
            low: Default::default(),
            middle: Default::default(),
            high: Default::default(),
            two: Default::default(),
            three: Default::default(),
            both: Default::default(),
            first: Default::default(),
            second: Default::default(),
            part: array_init::array_init(|_| Default::default()),
            rest: Default::default(),
            ones: Default::default(),
        }
    }
}

/// Two levels of counters that fit one LUT of six inputs each, then three adders: small adders would each cost a carry chain.
impl Logic for Popcount64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module popcount_64: number of ones, counters of six, then adders");
        comment!("60 bits as six lines of ten: the ones of a lane are a number of three bits");
        self.sum_a.next = self.x.val().get_bits::<10>(0) ^ self.x.val().get_bits::<10>(10) ^ self.x.val().get_bits::<10>(20);
        self.carry_a.next = (self.x.val().get_bits::<10>(0) & self.x.val().get_bits::<10>(10))
            | (self.x.val().get_bits::<10>(0) & self.x.val().get_bits::<10>(20))
            | (self.x.val().get_bits::<10>(10) & self.x.val().get_bits::<10>(20));
        self.sum_b.next = self.x.val().get_bits::<10>(30) ^ self.x.val().get_bits::<10>(40) ^ self.x.val().get_bits::<10>(50);
        self.carry_b.next = (self.x.val().get_bits::<10>(30) & self.x.val().get_bits::<10>(40))
            | (self.x.val().get_bits::<10>(30) & self.x.val().get_bits::<10>(50))
            | (self.x.val().get_bits::<10>(40) & self.x.val().get_bits::<10>(50));
        self.carry_c.next = self.sum_a.val() & self.sum_b.val();
        self.bit[0].next = self.sum_a.val() ^ self.sum_b.val();
        self.bit[1].next = self.carry_a.val() ^ self.carry_b.val() ^ self.carry_c.val();
        self.bit[2].next = (self.carry_a.val() & self.carry_b.val())
            | (self.carry_a.val() & self.carry_c.val())
            | (self.carry_b.val() & self.carry_c.val());
        comment!("the ten lanes of each of these bits as five lines of two, then both lanes");
        for k in 0..3 {
            self.line.next = self.bit[k].val();
            self.low.next =
                self.line.val().get_bits::<2>(0) ^ self.line.val().get_bits::<2>(2) ^ self.line.val().get_bits::<2>(4);
            self.two.next = (self.line.val().get_bits::<2>(0) & self.line.val().get_bits::<2>(2))
                | (self.line.val().get_bits::<2>(0) & self.line.val().get_bits::<2>(4))
                | (self.line.val().get_bits::<2>(2) & self.line.val().get_bits::<2>(4));
            self.three.next = self.line.val().get_bits::<2>(6) & self.line.val().get_bits::<2>(8);
            self.both.next = self.low.val() & (self.line.val().get_bits::<2>(6) ^ self.line.val().get_bits::<2>(8));
            self.low.next = self.low.val() ^ self.line.val().get_bits::<2>(6) ^ self.line.val().get_bits::<2>(8);
            self.middle.next = self.two.val() ^ self.three.val() ^ self.both.val();
            self.high.next =
                (self.two.val() & self.three.val()) | (self.two.val() & self.both.val()) | (self.three.val() & self.both.val());
            self.first.next = bit_cast::<3, 1>(self.low.val().get_bits::<1>(0))
                | (bit_cast::<3, 1>(self.middle.val().get_bits::<1>(0)) << 1)
                | (bit_cast::<3, 1>(self.high.val().get_bits::<1>(0)) << 2);
            self.second.next = bit_cast::<3, 1>(self.low.val().get_bits::<1>(1))
                | (bit_cast::<3, 1>(self.middle.val().get_bits::<1>(1)) << 1)
                | (bit_cast::<3, 1>(self.high.val().get_bits::<1>(1)) << 2);
            self.part[k].next = bit_cast::<7, 3>(self.first.val()) + bit_cast::<7, 3>(self.second.val());
        }
        comment!("the four bits that are left");
        self.rest.next = 0.into();
        for k in 0..2 {
            self.ones.next = self.x.val().get_bits::<2>(60 + k * 2);
            if self.ones.val() == 3 {
                self.rest.next = self.rest.val() + 2;
            } else if self.ones.val().any() {
                self.rest.next = self.rest.val() + 1;
            }
        }
        self.count.next = (self.part[0].val() + self.rest.val()) + ((self.part[1].val() << 1) + (self.part[2].val() << 2));
    }
}
