//! longest_srtt: the longest sRTT over the other UP paths of a connection, and what else a step must know of them.
//!
//! In: the eight paths, stable from clock 1 of the step, and the path left out. Out: valid from clock 4 on.
//! Guarantees nothing before that.
use super::filled::filled;
use super::rows::PathTx;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct LongestSrtt {
    pub clock: Signal<In, Clock>,
    pub path_tx: [Signal<In, PathTx>; 8],
    pub except: Signal<In, Bits<3>>,
    pub longest: Signal<Out, Bits<16>>,
    /// Some other path has an RTT sample.
    pub any_rtt: Signal<Out, Bit>,
    /// Some other path is UP.
    pub any_up: Signal<Out, Bit>,
    /// Some other path is DOWN with packets outstanding (L4).
    pub stranded: Signal<Out, Bit>,
    first: [DFF<Bits<16>>; 4],
    second: [DFF<Bits<16>>; 2],
    third: DFF<Bits<16>>,
    any_rtt_reg: DFF<Bit>,
    any_up_reg: DFF<Bit>,
    stranded_reg: DFF<Bit>,
    element: Signal<Local, PathTx>,
    value: Signal<Local, Bits<16>>,
    best: Signal<Local, Bits<16>>,
    rtts: Signal<Local, Bit>,
    ups: Signal<Local, Bit>,
    strands: Signal<Local, Bit>,
}

impl LongestSrtt {
    pub fn new() -> Self {
        filled!(LongestSrtt {
            path_tx: array_init::array_init(|_| Default::default()),
            first: array_init::array_init(|_| Default::default()),
            second: array_init::array_init(|_| Default::default());
            clock, except, longest, any_rtt, any_up, stranded, third, any_rtt_reg, any_up_reg, stranded_reg, element, value, best,
            rtts, ups, strands,
        })
    }
}

impl Default for LongestSrtt {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for LongestSrtt {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module longest_srtt: longest sRTT over the other UP paths");
        dff_setup!(self, clock, third, any_rtt_reg, any_up_reg, stranded_reg);
        self.rtts.next = false;
        self.ups.next = false;
        self.strands.next = false;
        self.best.next = 0.into();
        for i in 0..4 {
            self.best.next = 0.into();
            for j in 0..2 {
                self.element.next = self.path_tx[i * 2 + j].val();
                self.value.next = 0.into();
                if self.except.val() != ((i.to_bits::<3>() << 1) | j.to_bits::<3>()) {
                    self.rtts.next = self.rtts.val() | self.element.val().rtt_valid;
                    if self.element.val().state == 1 {
                        self.ups.next = true;
                        self.value.next = bit_cast::<16, 18>(self.element.val().srtt8 >> 3);
                    }
                    if (self.element.val().state == 3) & (self.element.val().next_ppsn != self.element.val().cum) {
                        self.strands.next = true;
                    }
                }
                if self.value.val() > self.best.val() {
                    self.best.next = self.value.val();
                }
            }
            self.first[i].clock.next = self.clock.val();
            self.first[i].d.next = self.best.val();
        }
        for i in 0..2 {
            self.second[i].clock.next = self.clock.val();
            self.second[i].d.next = self.first[i * 2].q.val();
            if self.first[i * 2 + 1].q.val() > self.first[i * 2].q.val() {
                self.second[i].d.next = self.first[i * 2 + 1].q.val();
            }
        }
        self.third.d.next = self.second[0].q.val();
        if self.second[1].q.val() > self.second[0].q.val() {
            self.third.d.next = self.second[1].q.val();
        }
        self.any_rtt_reg.d.next = self.rtts.val();
        self.any_up_reg.d.next = self.ups.val();
        self.stranded_reg.d.next = self.strands.val();
        self.longest.next = self.third.q.val();
        self.any_rtt.next = self.any_rtt_reg.q.val();
        self.any_up.next = self.any_up_reg.q.val();
        self.stranded.next = self.stranded_reg.q.val();
    }
}
