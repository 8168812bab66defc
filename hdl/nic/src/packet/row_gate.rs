//! row_gate: when a row that packets are built from may be written although resends wait.
//! In: how many resends wait for their header, which come and leave, `ask` (a row waits to be written) and `written`. Out: `ready`.
//! Guarantees that a row is not written while a resend waits that was granted before the row asked: its message may be done
//! meanwhile, and the row belong to a later one. Resends that come later do not hold it up.
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RowGate {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// A resend waits, one that comes in this clock too.
    pub any: Signal<In, Bit>,
    /// Resends that wait after this clock.
    pub resends_next: Signal<In, Bits<16>>,
    /// One finds no room to wait here in this clock; one leaves.
    pub outside: Signal<In, Bit>,
    pub leaves: Signal<In, Bit>,
    pub ask: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub written: Signal<In, Bit>,
    /// Resends that were here when the row asked, and that it has asked.
    ahead: DFF<Bits<16>>,
    asked: DFF<Bit>,
}

impl RowGate {
    pub fn new() -> Self {
        filled!(RowGate {
            ;
            clock, reset, any, resends_next, outside, leaves, ask, ready, written, ahead, asked,
        })
    }
}

impl Default for RowGate {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RowGate {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module row_gate: a row waits for the resends that were granted before it asked");
        dff_setup!(self, clock, ahead, asked);
        comment!("a resend that finds no room was granted before the row asked, too");
        self.ahead.d.next = self.resends_next.val();
        if self.outside.val() {
            self.ahead.d.next = self.resends_next.val() + 1;
        }
        if self.asked.q.val() {
            self.ahead.d.next = self.ahead.q.val();
            if self.leaves.val() & self.ahead.q.val().any() {
                self.ahead.d.next = self.ahead.q.val() - 1;
            }
        }
        self.asked.d.next = self.ask.val() & !self.written.val();
        self.ready.next = !self.any.val() | (self.asked.q.val() & !self.ahead.q.val().any());
        if self.reset.val() {
            self.ahead.d.next = 0.into();
            self.asked.d.next = false;
        }
    }
}
