//! Lowest one, highest one and number of ones of a 64-bit word, in the same clock.
//! The lowest one is found by a binary tree (five LUT levels on ECP5, six on UltraScale+), the highest in two levels of eight, the count in counters of six and three adders;
//! put registers around them where they follow a memory.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// Index of the lowest one, and whether there are more; `any` is false (and `index` 0) for a word of zeros.
/// A binary tree: each node has the index of the lowest one of its half words, so no choice waits for a search.
#[derive(LogicBlock, Default)]
pub struct FirstOne64 {
    pub x: Signal<In, Bits<64>>,
    pub any: Signal<Out, Bit>,
    /// More than one bit is set.
    pub many: Signal<Out, Bit>,
    pub index: Signal<Out, Bits<6>>,
    /// Of the two halves of a node: has a one.
    low: Signal<Local, Bit>,
    high: Signal<Local, Bit>,
    /// Of 32 groups of 2: has a one; has more than one; bits of the index of the lowest.
    any1: Signal<Local, Bits<32>>,
    many1: Signal<Local, Bits<32>>,
    index1_0: Signal<Local, Bits<32>>,
    /// Of 16 groups of 4: has a one; has more than one; bits of the index of the lowest.
    any2: Signal<Local, Bits<16>>,
    many2: Signal<Local, Bits<16>>,
    index2_0: Signal<Local, Bits<16>>,
    index2_1: Signal<Local, Bits<16>>,
    /// Of 8 groups of 8: has a one; has more than one; bits of the index of the lowest.
    any3: Signal<Local, Bits<8>>,
    many3: Signal<Local, Bits<8>>,
    index3_0: Signal<Local, Bits<8>>,
    index3_1: Signal<Local, Bits<8>>,
    index3_2: Signal<Local, Bits<8>>,
    /// Of 4 groups of 16: has a one; has more than one; bits of the index of the lowest.
    any4: Signal<Local, Bits<4>>,
    many4: Signal<Local, Bits<4>>,
    index4_0: Signal<Local, Bits<4>>,
    index4_1: Signal<Local, Bits<4>>,
    index4_2: Signal<Local, Bits<4>>,
    index4_3: Signal<Local, Bits<4>>,
    /// Of 2 groups of 32: has a one; has more than one; bits of the index of the lowest.
    any5: Signal<Local, Bits<2>>,
    many5: Signal<Local, Bits<2>>,
    index5_0: Signal<Local, Bits<2>>,
    index5_1: Signal<Local, Bits<2>>,
    index5_2: Signal<Local, Bits<2>>,
    index5_3: Signal<Local, Bits<2>>,
    index5_4: Signal<Local, Bits<2>>,
    found: Signal<Local, Bits<6>>,
}

/// The usual name.
pub type FirstOne = FirstOne64;

impl Logic for FirstOne64 {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module first_one_64: index of the lowest one, a binary tree");
        self.any1.next = 0.into();
        self.many1.next = 0.into();
        self.index1_0.next = 0.into();
        for k in 0..32 {
            self.low.next = self.x.val().get_bit(k * 2);
            self.high.next = self.x.val().get_bit(k * 2 + 1);
            self.any1.next = self.any1.val().replace_bit(k, self.low.val() | self.high.val());
            self.many1.next = self.many1.val().replace_bit(k, self.low.val() & self.high.val());
            self.index1_0.next = self.index1_0.val().replace_bit(k, !self.low.val());
        }
        self.any2.next = 0.into();
        self.many2.next = 0.into();
        self.index2_0.next = 0.into();
        self.index2_1.next = 0.into();
        for k in 0..16 {
            self.low.next = self.any1.val().get_bit(k * 2);
            self.high.next = self.any1.val().get_bit(k * 2 + 1);
            self.any2.next = self.any2.val().replace_bit(k, self.low.val() | self.high.val());
            self.many2.next = self.many2.val().replace_bit(
                k,
                (self.low.val() & self.high.val()) | self.many1.val().get_bit(k * 2) | self.many1.val().get_bit(k * 2 + 1),
            );
            self.index2_0.next = self.index2_0.val().replace_bit(
                k,
                (self.low.val() & self.index1_0.val().get_bit(k * 2))
                    | (!self.low.val() & self.index1_0.val().get_bit(k * 2 + 1)),
            );
            self.index2_1.next = self.index2_1.val().replace_bit(k, !self.low.val());
        }
        self.any3.next = 0.into();
        self.many3.next = 0.into();
        self.index3_0.next = 0.into();
        self.index3_1.next = 0.into();
        self.index3_2.next = 0.into();
        for k in 0..8 {
            self.low.next = self.any2.val().get_bit(k * 2);
            self.high.next = self.any2.val().get_bit(k * 2 + 1);
            self.any3.next = self.any3.val().replace_bit(k, self.low.val() | self.high.val());
            self.many3.next = self.many3.val().replace_bit(
                k,
                (self.low.val() & self.high.val()) | self.many2.val().get_bit(k * 2) | self.many2.val().get_bit(k * 2 + 1),
            );
            self.index3_0.next = self.index3_0.val().replace_bit(
                k,
                (self.low.val() & self.index2_0.val().get_bit(k * 2))
                    | (!self.low.val() & self.index2_0.val().get_bit(k * 2 + 1)),
            );
            self.index3_1.next = self.index3_1.val().replace_bit(
                k,
                (self.low.val() & self.index2_1.val().get_bit(k * 2))
                    | (!self.low.val() & self.index2_1.val().get_bit(k * 2 + 1)),
            );
            self.index3_2.next = self.index3_2.val().replace_bit(k, !self.low.val());
        }
        self.any4.next = 0.into();
        self.many4.next = 0.into();
        self.index4_0.next = 0.into();
        self.index4_1.next = 0.into();
        self.index4_2.next = 0.into();
        self.index4_3.next = 0.into();
        for k in 0..4 {
            self.low.next = self.any3.val().get_bit(k * 2);
            self.high.next = self.any3.val().get_bit(k * 2 + 1);
            self.any4.next = self.any4.val().replace_bit(k, self.low.val() | self.high.val());
            self.many4.next = self.many4.val().replace_bit(
                k,
                (self.low.val() & self.high.val()) | self.many3.val().get_bit(k * 2) | self.many3.val().get_bit(k * 2 + 1),
            );
            self.index4_0.next = self.index4_0.val().replace_bit(
                k,
                (self.low.val() & self.index3_0.val().get_bit(k * 2))
                    | (!self.low.val() & self.index3_0.val().get_bit(k * 2 + 1)),
            );
            self.index4_1.next = self.index4_1.val().replace_bit(
                k,
                (self.low.val() & self.index3_1.val().get_bit(k * 2))
                    | (!self.low.val() & self.index3_1.val().get_bit(k * 2 + 1)),
            );
            self.index4_2.next = self.index4_2.val().replace_bit(
                k,
                (self.low.val() & self.index3_2.val().get_bit(k * 2))
                    | (!self.low.val() & self.index3_2.val().get_bit(k * 2 + 1)),
            );
            self.index4_3.next = self.index4_3.val().replace_bit(k, !self.low.val());
        }
        self.any5.next = 0.into();
        self.many5.next = 0.into();
        self.index5_0.next = 0.into();
        self.index5_1.next = 0.into();
        self.index5_2.next = 0.into();
        self.index5_3.next = 0.into();
        self.index5_4.next = 0.into();
        for k in 0..2 {
            self.low.next = self.any4.val().get_bit(k * 2);
            self.high.next = self.any4.val().get_bit(k * 2 + 1);
            self.any5.next = self.any5.val().replace_bit(k, self.low.val() | self.high.val());
            self.many5.next = self.many5.val().replace_bit(
                k,
                (self.low.val() & self.high.val()) | self.many4.val().get_bit(k * 2) | self.many4.val().get_bit(k * 2 + 1),
            );
            self.index5_0.next = self.index5_0.val().replace_bit(
                k,
                (self.low.val() & self.index4_0.val().get_bit(k * 2))
                    | (!self.low.val() & self.index4_0.val().get_bit(k * 2 + 1)),
            );
            self.index5_1.next = self.index5_1.val().replace_bit(
                k,
                (self.low.val() & self.index4_1.val().get_bit(k * 2))
                    | (!self.low.val() & self.index4_1.val().get_bit(k * 2 + 1)),
            );
            self.index5_2.next = self.index5_2.val().replace_bit(
                k,
                (self.low.val() & self.index4_2.val().get_bit(k * 2))
                    | (!self.low.val() & self.index4_2.val().get_bit(k * 2 + 1)),
            );
            self.index5_3.next = self.index5_3.val().replace_bit(
                k,
                (self.low.val() & self.index4_3.val().get_bit(k * 2))
                    | (!self.low.val() & self.index4_3.val().get_bit(k * 2 + 1)),
            );
            self.index5_4.next = self.index5_4.val().replace_bit(k, !self.low.val());
        }
        self.low.next = self.any5.val().get_bit(0);
        self.high.next = self.any5.val().get_bit(1);
        self.any.next = self.low.val() | self.high.val();
        self.many.next = (self.low.val() & self.high.val()) | self.many5.val().any();
        self.found.next = 0.into();
        self.found.next = self.found.val().replace_bit(
            0,
            (self.low.val() & self.index5_0.val().get_bit(0)) | (!self.low.val() & self.index5_0.val().get_bit(1)),
        );
        self.found.next = self.found.val().replace_bit(
            1,
            (self.low.val() & self.index5_1.val().get_bit(0)) | (!self.low.val() & self.index5_1.val().get_bit(1)),
        );
        self.found.next = self.found.val().replace_bit(
            2,
            (self.low.val() & self.index5_2.val().get_bit(0)) | (!self.low.val() & self.index5_2.val().get_bit(1)),
        );
        self.found.next = self.found.val().replace_bit(
            3,
            (self.low.val() & self.index5_3.val().get_bit(0)) | (!self.low.val() & self.index5_3.val().get_bit(1)),
        );
        self.found.next = self.found.val().replace_bit(
            4,
            (self.low.val() & self.index5_4.val().get_bit(0)) | (!self.low.val() & self.index5_4.val().get_bit(1)),
        );
        self.found.next = self.found.val().replace_bit(5, !self.low.val());
        self.index.next = 0.into();
        if self.any.val() {
            self.index.next = self.found.val();
        }
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
