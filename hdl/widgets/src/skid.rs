//! Two-entry buffer on a stream: cuts the paths of data, valid and ready alike.
//! In: `in_valid`, `in_data`, `out_ready`. Out: the same stream, at full rate, one clock later.
//! `in_ready` and `out_valid` are registers; the output stays stable while it is not taken.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock, Default)]
pub struct Skid<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub in_valid: Signal<In, Bit>,
    pub in_ready: Signal<Out, Bit>,
    pub in_data: Signal<In, T>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    pub out_data: Signal<Out, T>,
    spare_full: DFF<Bit>,
    spare: DFF<T>,
    head_full: DFF<Bit>,
    head: DFF<T>,
}

impl<T: Synth> Logic for Skid<T> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module skid: two-entry buffer of a stream, all handshakes registered");
        dff_setup!(self, clock, spare_full, spare, head_full, head);
        self.in_ready.next = !self.spare_full.q.val();
        self.out_valid.next = self.head_full.q.val();
        self.out_data.next = self.head.q.val();
        if self.out_ready.val() | !self.head_full.q.val() {
            if self.spare_full.q.val() {
                self.head.d.next = self.spare.q.val();
                self.head_full.d.next = true;
                self.spare_full.d.next = false;
            } else {
                self.head.d.next = self.in_data.val();
                self.head_full.d.next = self.in_valid.val();
            }
        } else if self.in_valid.val() & !self.spare_full.q.val() {
            self.spare.d.next = self.in_data.val();
            self.spare_full.d.next = true;
        }
        if self.reset.val() {
            self.spare_full.d.next = false;
            self.head_full.d.next = false;
        }
    }
}
