//! Structs, nested structs, casts, slices, constants, build parameters and a register with synchronous reset.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Build parameters reach the kernel as `Constant` fields.
#[derive(Clone, Copy, Debug)]
pub struct CounterConfig {
    pub limit: u64,
    pub reset_value: u64,
}

/// Counter with enable and synchronous reset; wraps at a limit given at build time.
#[derive(LogicBlock)]
pub struct Counter<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub enable: Signal<In, Bit>,
    pub count: Signal<Out, Bits<N>>,
    pub wrapped: Signal<Out, Bit>,
    value: DFF<Bits<N>>,
    limit: Constant<Bits<N>>,
    reset_value: Constant<Bits<N>>,
}

impl<const N: usize> Counter<N> {
    pub fn new(config: CounterConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            enable: Default::default(),
            count: Default::default(),
            wrapped: Default::default(),
            value: Default::default(),
            limit: Constant::new(config.limit.to_bits()),
            reset_value: Constant::new(config.reset_value.to_bits()),
        }
    }
}

impl<const N: usize> Logic for Counter<N> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module counter: counts to a limit, then starts again at zero");
        dff_setup!(self, clock, value);
        self.count.next = self.value.q.val();
        self.wrapped.next = false;
        if self.enable.val() {
            self.value.d.next = self.value.q.val() + 1;
            if self.value.q.val() == self.limit.val() {
                self.value.d.next = 0.into();
                self.wrapped.next = true;
            }
        }
        comment!("reset has the last word");
        if self.reset.val() {
            self.value.d.next = self.reset_value.val();
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum Kind {
    Data,
    Ack,
    Nack,
}

/// The first field is the lowest in the vector.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Psn {
    pub value: Bits<24>,
    pub valid: Bit,
}

#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Header {
    pub kind: Kind,
    pub length: Bits<14>,
    pub psn: Psn,
    pub skew: Bits<6>,
}

/// Reads and writes struct fields one level and two levels deep.
#[derive(LogicBlock, Default)]
pub struct Fields {
    pub clock: Signal<In, Clock>,
    pub i: Signal<In, Header>,
    pub bump: Signal<In, Bit>,
    pub limit: Signal<In, Bits<6>>,
    pub o: Signal<Out, Header>,
    pub low: Signal<Out, Bits<4>>,
    pub ahead: Signal<Out, Bit>,
    pub is_ack: Signal<Out, Bit>,
    pub held: Signal<Out, Header>,
    pub same: Signal<Out, Bit>,
    hold: DFF<Header>,
    psn: Signal<Local, Psn>,
}

impl Logic for Fields {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, hold);
        self.o.next = self.i.val();
        self.psn.next = self.i.val().psn;
        if self.bump.val() {
            comment!("one level: any expression");
            self.o.next.length = self.i.val().length + 1;
            comment!("two levels");
            self.o.next.psn.value = self.i.val().psn.value + 1;
            self.o.next.kind = Kind::Nack;
            self.hold.d.next.length = self.i.val().length;
            self.hold.d.next.psn = self.psn.val();
        }
        self.low.next = self.i.val().psn.value.get_bits::<4>(3);
        self.ahead.next = self.i.val().skew > self.limit.val();
        self.is_ack.next = self.i.val().kind == Kind::Ack;
        self.held.next = self.hold.q.val();
        self.same.next = self.hold.q.val() == self.i.val();
    }
}

/// Casts, literals, shifts, reductions and selects on narrow and wide values.
#[derive(LogicBlock, Default)]
pub struct Operators {
    pub a: Signal<In, Bits<8>>,
    pub b: Signal<In, Bits<8>>,
    pub w: Signal<In, Bits<72>>,
    pub f: Signal<In, Bit>,
    pub sa: Signal<In, Signed<16>>,
    pub sb: Signal<In, Signed<16>>,
    pub widen: Signal<Out, Bits<16>>,
    pub narrow: Signal<Out, Bits<4>>,
    pub narrow_shift: Signal<Out, Bits<4>>,
    pub inner_slice: Signal<Out, Bits<3>>,
    pub big_literal: Signal<Out, Bit>,
    pub add_flag: Signal<Out, Bits<8>>,
    pub literal_left: Signal<Out, Bits<8>>,
    pub one_hot: Signal<Out, Bits<72>>,
    pub wide_shift: Signal<Out, Bits<72>>,
    pub wide_sub: Signal<Out, Bits<72>>,
    pub all: Signal<Out, Bit>,
    pub any: Signal<Out, Bit>,
    pub parity: Signal<Out, Bit>,
    pub dyn_over: Signal<Out, Bits<8>>,
    pub dyn_wide: Signal<Out, Bits<24>>,
    pub logical: Signal<Out, Bit>,
    pub less_signed: Signal<Out, Bit>,
    pub product: Signal<Out, Signed<32>>,
    pub negated: Signal<Out, Signed<16>>,
    pub sign_literal: Signal<Out, Signed<16>>,
    pub reinterpret: Signal<Out, Signed<8>>,
    pub raw: Signal<Out, Bits<16>>,
    pub extended: Signal<Out, Signed<24>>,
    pub ge_zero: Signal<Out, Bit>,
    pub with_bit: Signal<Out, Bits<8>>,
    pub shift64: Signal<Out, Bits<64>>,
    pub slice_top: Signal<Out, Bits<8>>,
    t: Signal<Local, Signed<16>>,
}

impl Logic for Operators {
    #[hdl_gen]
    fn update(&mut self) {
        self.widen.next = bit_cast::<16, 8>(self.a.val() - self.b.val());
        self.narrow.next = bit_cast::<4, 8>(self.a.val() + self.b.val());
        self.narrow_shift.next = bit_cast::<4, 8>((self.a.val() + self.b.val()) >> 3);
        self.inner_slice.next = (self.a.val() ^ (self.b.val() << 1)).get_bits::<3>(4);
        self.big_literal.next = self.w.val() == 0xFEDC_BA98_7654_u64;
        self.add_flag.next = self.a.val() + self.f.val();
        self.literal_left.next = 200 - self.a.val();
        self.one_hot.next = bits::<72>(1) << self.a.val().get_bits::<7>(0);
        self.wide_shift.next = self.w.val() >> self.b.val();
        self.wide_sub.next = self.w.val() - 1;
        self.all.next = self.a.val().all();
        self.any.next = (self.a.val() & self.b.val()).any();
        self.parity.next = self.w.val().xor();
        self.dyn_over.next = self.a.val().get_bits::<8>(self.b.val().get_bits::<3>(0).index());
        self.dyn_wide.next = self.w.val().get_bits::<24>(self.b.val().get_bits::<5>(1).index());
        self.logical.next = (self.a.val() == 3) && (self.b.val() != 7) || self.f.val();
        self.less_signed.next = self.sa.val() - self.sb.val() < self.sb.val();
        self.product.next = self.sa.val() * self.sb.val();
        self.negated.next = -self.sa.val();
        self.sign_literal.next = (-5).to_signed_bits();
        self.reinterpret.next = signed_cast(self.a.val() + 1);
        self.raw.next = unsigned_cast(self.sa.val() + self.sb.val());
        self.t.next = self.sa.val();
        if self.t.val() == (-32768).to_signed_bits() {
            // `signed_bit_cast` of the most negative value never returns in rust-hdl 0.46
            self.t.next = (0).to_signed_bits();
        }
        self.extended.next = signed_bit_cast::<24, 16>(self.t.val());
        self.ge_zero.next = self.a.val() >= 0;
        self.with_bit.next = self.a.val().replace_bit(2, self.f.val());
        self.shift64.next = 1 << self.a.val();
        self.slice_top.next = self.w.val().get_bits::<8>(68);
    }
}
