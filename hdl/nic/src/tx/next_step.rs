//! next_step: which step the sequencer takes next: acknowledgments first, then openings, timers, transmit slots.
//!
//! In: what may start; `choose` in a clock in which a step may begin, `idle` if nothing of the step before is left. Out: at most one `start_*`; and whether it
//! would be an acknowledgment or an opening or timer, whatever `choose` says (`first_ack`, `first_timer`; else a slot): whose rows are read does not wait for that.
//! Guarantees: a slot that may start gets its turn after at most four other steps; openings and timers begin only in idle clocks.
use super::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct NextStep {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub choose: Signal<In, Bit>,
    pub idle: Signal<In, Bit>,
    pub ack_may: Signal<In, Bit>,
    pub open_may: Signal<In, Bit>,
    pub timer_may: Signal<In, Bit>,
    pub slot_may: Signal<In, Bit>,
    pub start_ack: Signal<Out, Bit>,
    pub start_open: Signal<Out, Bit>,
    pub start_timer: Signal<Out, Bit>,
    pub start_slot: Signal<Out, Bit>,
    pub first_ack: Signal<Out, Bit>,
    pub first_timer: Signal<Out, Bit>,
    /// Other steps since the last slot, at most 4.
    others: DFF<Bits<3>>,
    slot_first: Signal<Local, Bit>,
}

impl NextStep {
    pub fn new() -> Self {
        filled!(NextStep {
            ;
            clock, reset, choose, idle, ack_may, open_may, timer_may, slot_may, start_ack, start_open, start_timer, start_slot, first_ack, first_timer,
            others, slot_first,
        })
    }
}

impl Default for NextStep {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for NextStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module next_step: acknowledgments, openings, timers, slots, in this order, but a slot after four others");
        dff_setup!(self, clock, others);
        self.start_ack.next = false;
        self.start_open.next = false;
        self.start_timer.next = false;
        self.start_slot.next = false;
        self.slot_first.next = self.slot_may.val() & self.others.q.val().get_bit(2);
        self.first_ack.next = self.ack_may.val() & !self.slot_first.val();
        self.first_timer.next = !self.ack_may.val() & (self.open_may.val() | self.timer_may.val()) & !self.slot_first.val();
        if self.choose.val() {
            if self.first_ack.val() {
                self.start_ack.next = true;
            } else if self.first_timer.val() {
                self.start_open.next = self.idle.val() & self.open_may.val();
                self.start_timer.next = self.idle.val() & !self.open_may.val();
            } else {
                self.start_slot.next = self.slot_may.val();
            }
        }
        if (self.start_ack.val() | self.start_open.val() | self.start_timer.val()) & !self.others.q.val().get_bit(2) {
            self.others.d.next = self.others.q.val() + 1;
        }
        if self.start_slot.val() {
            self.others.d.next = 0.into();
        }
        if self.reset.val() {
            self.others.d.next = 0.into();
        }
    }
}
