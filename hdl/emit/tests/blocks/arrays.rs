//! Arrays of signals, constants, registers and sub-modules; unrolled loops; the scalar local that carries an element.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

use super::structs::Psn;

/// Adds a constant to its input, one clock later.
#[derive(LogicBlock)]
pub struct Stage {
    pub clock: Signal<In, Clock>,
    pub x: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    r: DFF<Bits<8>>,
    offset: Constant<Bits<8>>,
}

impl Stage {
    pub fn new(offset: u64) -> Self {
        Self {
            clock: Default::default(),
            x: Default::default(),
            y: Default::default(),
            r: Default::default(),
            offset: Constant::new(offset.to_bits()),
        }
    }
}

impl Logic for Stage {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, r);
        self.r.d.next = self.x.val() + self.offset.val();
        self.y.next = self.r.q.val();
    }
}

/// A chain of stages, a set of masks, a population count and a lane select.
#[derive(LogicBlock)]
pub struct Chain<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub x: Signal<In, Bits<8>>,
    pub v: Signal<In, Bits<32>>,
    pub pick: Signal<In, Bits<3>>,
    pub y: Signal<Out, Bits<8>>,
    pub tap: [Signal<Out, Bits<8>>; N],
    pub wide: [Signal<Out, Bits<12>>; N],
    pub ones: Signal<Out, Bits<6>>,
    pub low_zero: Signal<Out, Bits<5>>,
    pub picked: Signal<Out, Bits<8>>,
    pub odd: Signal<Out, Bits<4>>,
    pub psn: Signal<Out, Bits<24>>,
    stage: [Stage; N],
    history: [DFF<Psn>; 3],
    element: Signal<Local, Bits<8>>,
    bit: Signal<Local, Bits<1>>,
    onehot: Signal<Local, Bits<32>>,
    mask: [Constant<Bits<32>>; 5],
}

impl<const N: usize> Default for Chain<N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            x: Default::default(),
            v: Default::default(),
            pick: Default::default(),
            y: Default::default(),
            tap: array_init::array_init(|_| Default::default()),
            wide: array_init::array_init(|_| Default::default()),
            ones: Default::default(),
            low_zero: Default::default(),
            picked: Default::default(),
            odd: Default::default(),
            psn: Default::default(),
            stage: array_init::array_init(|k| Stage::new(k as u64 % 2 + 3)),
            history: array_init::array_init(|_| Default::default()),
            element: Default::default(),
            bit: Default::default(),
            onehot: Default::default(),
            mask: array_init::array_init(|k| {
                let set = (0..32u64).filter(|i| (i >> k) & 1 == 1);
                Constant::new(set.fold(0u64, |m, i| m | (1 << i)).to_bits())
            }),
        }
    }
}

impl<const N: usize> Logic for Chain<N> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("a chain: element k reads element k - 1");
        self.stage[0].x.next = self.x.val();
        for k in 1..N {
            self.stage[k].x.next = self.stage[k - 1].y.val();
        }
        self.picked.next = self.x.val();
        for k in 0..N {
            self.stage[k].clock.next = self.clock.val();
            self.tap[k].next = self.stage[k].y.val();
            comment!("a cast of an element goes through a scalar local");
            self.element.next = self.stage[k].y.val();
            self.wide[k].next = bit_cast::<12, 8>(self.element.val());
            if self.pick.val() == k.to_bits::<3>() {
                self.picked.next = self.stage[k].y.val();
            }
            comment!("the last iteration wins");
            self.y.next = self.stage[k].y.val();
        }
        comment!("population count");
        self.ones.next = 0.into();
        for k in 0..32 {
            self.bit.next = self.v.val().get_bits::<1>(k);
            self.ones.next = self.ones.val() + bit_cast::<6, 1>(self.bit.val());
        }
        comment!("index of the lowest zero");
        self.onehot.next = (self.v.val() + 1) & !self.v.val();
        self.low_zero.next = 0.into();
        for k in 0..5 {
            if (self.onehot.val() & self.mask[k].val()).any() {
                self.low_zero.next = self.low_zero.val().replace_bit(k, true);
            }
        }
        self.odd.next = 0.into();
        for k in 0..4 {
            if k == 0 {
                self.odd.next = self.odd.val().replace_bit(k, !self.v.val().get_bit(k * 8 + 7));
            } else {
                self.odd.next = self.odd.val().replace_bit(k, self.v.val().get_bit(k * 8 + 7));
            }
        }
        for k in 0..3 {
            self.history[k].clock.next = self.clock.val();
            self.history[k].d.next = self.history[k].q.val();
        }
        if self.v.val().get_bit(0) {
            self.history[0].d.next.value = self.v.val().get_bits::<24>(0);
            self.history[0].d.next.valid = true;
            for k in 1..3 {
                self.history[k].d.next = self.history[k - 1].q.val();
            }
        }
        self.psn.next = self.history[2].q.val().value;
    }
}
