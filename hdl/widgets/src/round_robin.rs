//! Fair arbiter of up to eight requesters (tie unused bits of `request` to zero).
//! In: `request`; `advance` when the granted one was served. Out: `any`, `index` and the one-hot `grant`, in the same clock.
//! Whoever was served last comes last; an unserved grant may move when requests change.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock, Default)]
pub struct RoundRobin {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub request: Signal<In, Bits<8>>,
    pub advance: Signal<In, Bit>,
    pub any: Signal<Out, Bit>,
    pub grant: Signal<Out, Bits<8>>,
    pub index: Signal<Out, Bits<3>>,
    /// Ones above the position served last.
    above: DFF<Bits<8>>,
    preferred: Signal<Local, Bits<8>>,
    lowest: Signal<Local, Bits<8>>,
}

impl Logic for RoundRobin {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module round_robin: fair arbiter of up to eight requesters");
        dff_setup!(self, clock, above);
        self.preferred.next = self.request.val() & self.above.q.val();
        if self.preferred.val() == 0 {
            self.preferred.next = self.request.val();
        }
        self.lowest.next = self.preferred.val() & (!self.preferred.val() + 1);
        self.grant.next = self.lowest.val();
        self.any.next = self.request.val().any();
        self.index.next = 0.into();
        for k in 1..8 {
            if self.lowest.val().get_bit(k) {
                self.index.next = k.to_bits::<3>();
            }
        }
        if self.advance.val() & self.request.val().any() {
            self.above.d.next = !(self.lowest.val() | (self.lowest.val() - 1));
        }
        if self.reset.val() {
            self.above.d.next = 0.into();
        }
    }
}
