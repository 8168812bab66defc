//! path_update: what a step changes in the row of its path, and whether it acknowledges (R4, R5, R8, R10).
//! In: the row, stable from clock 2 of a step; what packet_check and path_tracker say, stable from clock 5 on. Out: `timer_due` from
//! clock 3 on; the row after the step and `ack_now` in clock 5. Guarantees: one update a step, acknowledgment or not.
use super::rx_rows::{RxHeader, RxPathRow};
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PathUpdate {
    pub clock: Signal<In, Clock>,
    pub ack_delay: Signal<In, Bits<32>>,
    pub ack_every: Signal<In, Bits<3>>,
    pub row: Signal<In, RxPathRow>,
    pub header: Signal<In, RxHeader>,
    pub now: Signal<In, Bits<32>>,
    /// The step is one of the timer. Of the next five at most one is set, and none then.
    pub timer: Signal<In, Bit>,
    pub probe: Signal<In, Bit>,
    pub accepted: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub duplicate: Signal<In, Bit>,
    pub outside: Signal<In, Bit>,
    /// A new WRITE or SEND whose QP exists.
    pub names_qp: Signal<In, Bit>,
    /// PPSN = high + 1.
    pub in_order: Signal<In, Bit>,
    pub after: Signal<Out, RxPathRow>,
    pub ack_now: Signal<Out, Bit>,
    pub timer_due: Signal<Out, Bit>,
    age: DFF<Bits<32>>,
    held_full: DFF<Bit>,
    changed: Signal<Local, RxPathRow>,
    at_once: Signal<Local, Bit>,
}

impl PathUpdate {
    pub fn new() -> Self {
        filled!(PathUpdate {
            ;
            clock, ack_delay, ack_every, row, header, now, timer, probe, accepted, refused, duplicate, outside, names_qp,
            in_order, after, ack_now, timer_due, age, held_full, changed, at_once,
        })
    }
}

impl Default for PathUpdate {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for PathUpdate {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module path_update: a path's row after a step (R4, R5, R8, R10)");
        dff_setup!(self, clock, age, held_full);
        comment!("R8: the scan of the timers only offers; here it is decided");
        self.age.d.next = self.now.val() - self.row.val().ack_time;
        self.timer_due.next = self.row.val().unacked.any() & (self.age.q.val() >= self.ack_delay.val());
        self.held_full.d.next = (bit_cast::<4, 3>(self.row.val().unacked) + 1) >= bit_cast::<4, 3>(self.ack_every.val());

        self.changed.next = self.row.val();
        self.at_once.next =
            self.timer.val() | self.probe.val() | self.duplicate.val() | self.outside.val() | self.refused.val();
        if self.probe.val() {
            self.changed.next.last_via = self.header.val().via.get_bits::<3>(0);
        }
        if self.accepted.val() | self.refused.val() | self.duplicate.val() {
            comment!("R10, refused packets included");
            self.changed.next.last_ts = self.header.val().tx_ts;
            self.changed.next.last_ts_valid = !self.header.val().rtx;
            self.changed.next.last_via = self.header.val().via.get_bits::<3>(0);
            self.changed.next.last_arrival = self.now.val();
        }
        if self.names_qp.val() {
            self.changed.next.last_qp = self.header.val().dest_qp.get_bits::<16>(0);
            self.changed.next.last_qp_known = true;
        }
        if self.duplicate.val() {
            self.changed.next.dup = self.row.val().dup + 1;
            self.changed.next.rx = self.row.val().rx + 1;
        }
        if self.accepted.val() {
            comment!("R5 and R6; R8: a gap, a change of the CE state or the N-th packet is acknowledged at once");
            self.changed.next.rx = self.row.val().rx + 1;
            if self.header.val().ecn_ce {
                self.changed.next.ce = self.row.val().ce + 1;
            }
            self.changed.next.ce_state = self.header.val().ecn_ce;
            if self.header.val().ack_req
                | !self.in_order.val()
                | (self.header.val().ecn_ce != self.row.val().ce_state)
                | self.held_full.q.val()
            {
                self.at_once.next = true;
            } else {
                self.changed.next.unacked = self.row.val().unacked + 1;
                if !self.row.val().unacked.any() {
                    self.changed.next.ack_time = self.now.val();
                }
            }
        }
        if self.at_once.val() {
            self.changed.next.unacked = 0.into();
        }
        self.after.next = self.changed.val();
        self.ack_now.next = self.at_once.val();
    }
}
