//! Lowest one, highest one and number of ones of a 64-bit word, in the same clock.
//! The searches work in two levels of eight, that of the lowest one in both at once (about six LUT levels), the count in counters of six and three adders;
//! put registers around them where they follow a memory.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// Index of the lowest one, and whether there are more; `any` is false (and `index` 0) for a word of zeros.
#[derive(LogicBlock)]
pub struct FirstOne64 {
    pub x: Signal<In, Bits<64>>,
    pub any: Signal<Out, Bit>,
    /// More than one bit is set.
    pub many: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<6>>,
    /// Eight bits that are searched: a part of the word, then which parts have a one.
    part: Signal<Local, Bits<8>>,
    half: Signal<Local, Bits<4>>,
    pair: Signal<Local, Bits<2>>,
    /// Parts that have a one, and where the lowest of each is.
    parts: Signal<Local, Bits<8>>,
    places: [Signal<Local, Bits<3>>; 9],
    place: Signal<Local, Bits<3>>,
    of_two: [Signal<Local, Bits<3>>; 4],
    of_four: [Signal<Local, Bits<3>>; 2],
    low: Signal<Local, Bits<3>>,
    high: Signal<Local, Bits<3>>,
    /// Which parts have more than one, and whether several parts have one.
    more: Signal<Local, Bits<9>>,
    more_here: Signal<Local, Bit>,
}

/// The usual name.
pub type FirstOne = FirstOne64;

impl Default for FirstOne64 {
    fn default() -> Self {
        Self {
            x: Default::default(),
            any: Default::default(),
            many: Default::default(),
            index: Default::default(),
            part: Default::default(),
            half: Default::default(),
            pair: Default::default(),
            parts: Default::default(),
            places: array_init::array_init(|_| Default::default()),
            place: Default::default(),
            of_two: array_init::array_init(|_| Default::default()),
            of_four: array_init::array_init(|_| Default::default()),
            low: Default::default(),
            high: Default::default(),
            more: Default::default(),
            more_here: Default::default(),
        }
    }
}

impl Logic for FirstOne64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module first_one_64: index of the lowest one: of each part of eight, beside it of the parts, then a choice among eight");
        self.parts.next = 0.into();
        for k in 0..8 {
            self.parts.next = self.parts.val().replace_bit(k, self.x.val().get_bits::<8>(k * 8).any());
        }
        self.more.next = 0.into();
        for k in 0..9 {
            if k == 8 {
                self.part.next = self.parts.val();
            } else {
                self.part.next = self.x.val().get_bits::<8>(k * 8);
            }
            self.place.next = 0.into();
            self.half.next = self.part.val().get_bits::<4>(0);
            if !self.part.val().get_bits::<4>(0).any() {
                self.half.next = self.part.val().get_bits::<4>(4);
                self.place.next = self.place.val().replace_bit(2, self.part.val().get_bits::<4>(4).any());
            }
            self.pair.next = self.half.val().get_bits::<2>(0);
            if !self.half.val().get_bits::<2>(0).any() {
                self.pair.next = self.half.val().get_bits::<2>(2);
                self.place.next = self.place.val().replace_bit(1, self.half.val().get_bits::<2>(2).any());
            }
            self.place.next = self.place.val().replace_bit(0, self.pair.val() == 2);
            self.places[k].next = self.place.val();
            self.more_here.next = (self.part.val().get_bits::<4>(0).any() & self.part.val().get_bits::<4>(4).any())
                | (self.part.val().get_bits::<2>(0).any() & self.part.val().get_bits::<2>(2).any())
                | (self.part.val().get_bits::<2>(4).any() & self.part.val().get_bits::<2>(6).any())
                | (self.part.val().get_bit(0) & self.part.val().get_bit(1))
                | (self.part.val().get_bit(2) & self.part.val().get_bit(3))
                | (self.part.val().get_bit(4) & self.part.val().get_bit(5))
                | (self.part.val().get_bit(6) & self.part.val().get_bit(7));
            self.more.next = self.more.val().replace_bit(k, self.more_here.val());
        }
        self.high.next = self.places[8].val();
        for k in 0..4 {
            self.of_two[k].next = self.places[k * 2].val();
            if self.high.val().get_bit(0) {
                self.of_two[k].next = self.places[k * 2 + 1].val();
            }
        }
        for k in 0..2 {
            self.of_four[k].next = self.of_two[k * 2].val();
            if self.high.val().get_bit(1) {
                self.of_four[k].next = self.of_two[k * 2 + 1].val();
            }
        }
        self.low.next = self.of_four[0].val();
        if self.high.val().get_bit(2) {
            self.low.next = self.of_four[1].val();
        }
        self.any.next = self.parts.val().any();
        self.many.next = self.more.val().any();
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
