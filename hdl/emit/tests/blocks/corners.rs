//! Constructs at the edge of the dialect: sub-expressions that must be named, inside branches and conditions; scratch
//! signals with intermediate values; constants of every type; nested loops and two-dimensional arrays.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

use super::structs::{Kind, Psn};

#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Outer {
    pub tag: Bits<3>,
    pub psn: Psn,
}

#[derive(LogicBlock)]
pub struct Corners {
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub f: Signal<In, Bit>,
    pub g: Signal<In, Bit>,
    pub w: Signal<In, Bits<40>>,
    pub s: Signal<In, Signed<16>>,
    pub s24: Signal<In, Signed<24>>,
    pub term_in_branch: Signal<Out, Bits<3>>,
    pub term_in_condition: Signal<Out, Bits<2>>,
    pub chain: Signal<Out, Bits<3>>,
    pub matched: Signal<Out, Bits<4>>,
    pub replaced: Signal<Out, Bits<40>>,
    pub picked: Signal<Out, Bit>,
    pub x: Signal<Out, Bits<8>>,
    pub z: Signal<Out, Bits<8>>,
    pub sum: Signal<Out, Bits<8>>,
    pub grid_sum: Signal<Out, Bits<8>>,
    pub signed_less: Signal<Out, Bit>,
    pub signed_slice: Signal<Out, Signed<4>>,
    pub constant_field: Signal<Out, Bits<24>>,
    pub constant_bit: Signal<Out, Bit>,
    pub constant_slice: Signal<Out, Bits<4>>,
    pub constant_kind: Signal<Out, Kind>,
    pub constant_struct: Signal<Out, Psn>,
    pub same_struct: Signal<Out, Bit>,
    pub outer: [Signal<Out, Outer>; 2],
    pub narrowed: Signal<Out, Bits<4>>,
    pub negated_sum: Signal<Out, Bits<4>>,
    pub all_of_sum: Signal<Out, Bit>,
    pub index_of_sum: Signal<Out, Bit>,
    pub wide_compare: Signal<Out, Bit>,
    pub swapped: Signal<Out, Bit>,
    pub mixed: Signal<Out, Bits<8>>,
    pub flag_logic: Signal<Out, Bit>,
    pub low_then_high: Signal<Out, Bits<8>>,
    pub bit_by_bit: Signal<Out, Bits<6>>,
    grid: [[Signal<Local, Bits<8>>; 2]; 3],
    scratch: Signal<Local, Bits<8>>,
    safe: Signal<Local, Signed<16>>,
    mask: Constant<Bits<40>>,
    psn: Constant<Psn>,
    kind: Constant<Kind>,
}

impl Default for Corners {
    fn default() -> Self {
        Self {
            a: Default::default(),
            b: Default::default(),
            f: Default::default(),
            g: Default::default(),
            w: Default::default(),
            s: Default::default(),
            s24: Default::default(),
            term_in_branch: Default::default(),
            term_in_condition: Default::default(),
            chain: Default::default(),
            matched: Default::default(),
            replaced: Default::default(),
            picked: Default::default(),
            x: Default::default(),
            z: Default::default(),
            sum: Default::default(),
            grid_sum: Default::default(),
            signed_less: Default::default(),
            signed_slice: Default::default(),
            constant_field: Default::default(),
            constant_bit: Default::default(),
            constant_slice: Default::default(),
            constant_kind: Default::default(),
            constant_struct: Default::default(),
            same_struct: Default::default(),
            outer: array_init::array_init(|_| Default::default()),
            narrowed: Default::default(),
            negated_sum: Default::default(),
            all_of_sum: Default::default(),
            index_of_sum: Default::default(),
            wide_compare: Default::default(),
            swapped: Default::default(),
            mixed: Default::default(),
            flag_logic: Default::default(),
            low_then_high: Default::default(),
            bit_by_bit: Default::default(),
            grid: array_init::array_init(|_| array_init::array_init(|_| Default::default())),
            scratch: Default::default(),
            safe: Default::default(),
            mask: Constant::new(0xA5_1234_5678u64.to_bits()),
            psn: Constant::new(Psn { value: 0x123456.into(), valid: true }),
            kind: Constant::new(Kind::Ack),
        }
    }
}

impl Logic for Corners {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("parts of sums must be named before Verilog can take them");
        if self.f.val() {
            self.term_in_branch.next = ((self.a.val() + self.b.val()) >> 1).get_bits::<3>(2);
        } else {
            self.term_in_branch.next = (self.a.val() - self.b.val()).get_bits::<3>(5);
        }
        self.term_in_condition.next = 0.into();
        if ((self.a.val() + self.b.val()) >> 3).get_bit(2) {
            self.term_in_condition.next = 1.into();
            if (self.a.val() - self.b.val()).get_bit(7) {
                self.term_in_condition.next = 2.into();
            }
        }
        if self.f.val() & self.g.val() {
            self.chain.next = 1.into();
        } else if (self.a.val() + 3).get_bits::<2>(6) == 2 {
            self.chain.next = 2.into();
        } else if !((self.b.val() ^ 0x55).get_bits::<4>(self.a.val().get_bits::<2>(0).index()) > 7) {
            self.chain.next = 3.into();
        } else {
            self.chain.next = 4.into();
        }
        match (self.a.val() + self.b.val()).get_bits::<3>(4).index() {
            0 => self.matched.next = 1.into(),
            3 => {
                if self.g.val() {
                    self.matched.next = self.b.val().get_bits::<4>(self.a.val().get_bits::<3>(0).index());
                } else {
                    self.matched.next = 9.into();
                }
            }
            0b111 => self.matched.next = 5.into(),
            _ => self.matched.next = bit_cast::<4, 8>(self.a.val() + 1),
        }
        self.replaced.next = (self.w.val() + 1).replace_bit(self.a.val().get_bits::<5>(1).index(), !self.f.val());
        self.picked.next = (self.a.val() ^ self.b.val()).get_bit((self.b.val() & 7).index());
        comment!("intermediate values inside a branch");
        self.x.next = 0.into();
        self.z.next = 0.into();
        self.scratch.next = self.b.val();
        if self.f.val() {
            self.scratch.next = self.a.val() + 1;
            self.x.next = self.scratch.val();
            self.scratch.next = self.scratch.val() ^ self.b.val();
            self.z.next = self.scratch.val();
        }
        self.sum.next = self.scratch.val();
        for k in 0..4 {
            if self.a.val().get_bit(k) {
                self.sum.next = self.sum.val() + self.b.val();
            } else if k == 2 {
                self.sum.next = self.sum.val() - 1;
            }
        }
        self.scratch.next = self.w.val().get_bits::<8>(20);
        self.mixed.next = self.scratch.val() & self.x.val() | self.z.val() ^ !self.a.val();
        self.grid_sum.next = 0.into();
        for i in 0..3 {
            for j in 0..2 {
                self.grid[i][j].next = self.w.val().get_bits::<8>(i * 8 + j * 4);
                if i + j != 2 {
                    self.grid_sum.next = self.grid_sum.val() + self.grid[i][j].val();
                }
            }
        }
        self.safe.next = self.s.val();
        if self.s.val() == (-32768).to_signed_bits() {
            self.safe.next = (7).to_signed_bits();
        }
        self.signed_less.next = signed_bit_cast::<24, 16>(self.safe.val()) < self.s24.val();
        self.signed_slice.next = (self.s.val() - self.safe.val()).get_bits::<4>(3);
        self.constant_field.next = self.psn.val().value + 1;
        self.constant_bit.next = self.mask.val().get_bit(self.a.val().get_bits::<5>(0).index());
        self.constant_slice.next = self.mask.val().get_bits::<4>(6) ^ self.a.val().get_bits::<4>(0);
        self.constant_kind.next = self.kind.val();
        if self.g.val() {
            self.constant_kind.next = Kind::Nack;
        }
        self.constant_struct.next = self.psn.val();
        if self.f.val() {
            self.constant_struct.next.value = bit_cast::<24, 8>(self.a.val());
        }
        self.same_struct.next = self.constant_struct.val() == self.psn.val();
        for k in 0..2 {
            self.outer[k].next.psn.value = bit_cast::<24, 8>(self.a.val()) + self.psn.val().value;
            self.outer[k].next.psn.valid = self.f.val();
        }
        self.outer[0].next.tag = self.a.val().get_bits::<3>(1);
        self.outer[1].next.tag = self.a.val().get_bits::<3>(5);
        self.narrowed.next = bit_cast::<4, 40>(self.w.val() - bit_cast::<40, 8>(self.a.val() + self.b.val()));
        self.negated_sum.next = (!(self.a.val() + self.b.val())).get_bits::<4>(2);
        self.all_of_sum.next = (self.a.val() + self.b.val()).all();
        self.index_of_sum.next = self.w.val().get_bit((self.a.val().get_bits::<4>(0) + self.b.val().get_bits::<4>(0)).index());
        self.wide_compare.next = self.w.val() - 1 < (self.w.val() << 3);
        self.swapped.next = 100 > self.a.val() - self.b.val();
        self.flag_logic.next = !(self.f.val() && !self.g.val()) ^ (self.a.val() >= self.b.val());
        self.low_then_high.next = bit_cast::<8, 4>(self.a.val().get_bits::<4>(4));
        self.low_then_high.next = self.low_then_high.val() | (bit_cast::<8, 4>(self.b.val().get_bits::<4>(0)) << 4);
        self.bit_by_bit.next = 0.into();
        for k in 0..6 {
            self.bit_by_bit.next = self.bit_by_bit.val().replace_bit(5 - k, self.a.val().get_bit(k) ^ self.f.val());
        }
    }
}
