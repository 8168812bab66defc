//! timers: which path's timer may be due: one row {active, deadline} a path, scanned one row a clock.
//!
//! In: `set` (a path's new deadline, or none). Out: `offer` of a row whose deadline has passed; the sequencer looks and sets it again.
//! Guarantees: a row is offered at most one scan and two clocks after its deadline unless an offer waits; a row may be offered twice.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A path's timer.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct TimerRow {
    pub active: Bit,
    pub deadline: Bits<32>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Timers {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<32>>,
    pub set_valid: Signal<In, Bit>,
    pub set_row: Signal<In, Bits<24>>,
    pub set_active: Signal<In, Bit>,
    pub set_deadline: Signal<In, Bits<32>>,
    pub offer_valid: Signal<Out, Bit>,
    pub offer_ready: Signal<In, Bit>,
    pub offer_row: Signal<Out, Bits<24>>,
    pub init_done: Signal<Out, Bit>,
    table: Ram<TimerRow>,
    walking: DFF<Bit>,
    started: DFF<Bit>,
    scan: DFF<Bits<24>>,
    read: DFF<Bit>,
    read_row: DFF<Bits<24>>,
    judged: DFF<Bit>,
    judged_row: DFF<Bits<24>>,
    late: DFF<Bits<32>>,
    armed: DFF<Bit>,
    offered: DFF<Bit>,
    offered_row: DFF<Bits<24>>,
    row: Signal<Local, TimerRow>,
    last_row: Constant<Bits<24>>,
    no_row: Constant<TimerRow>,
}

impl Timers {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Timers {
            table: Ram::new(config.path_rows()),
            last_row: Constant::new((config.path_rows() as u64 - 1).to_bits()),
            no_row: Constant::new(TimerRow::default());
            clock, reset, now, set_valid, set_row, set_active, set_deadline, offer_valid, offer_ready, offer_row, init_done,
            walking, started, scan, read, read_row, judged, judged_row, late, armed, offered, offered_row, row,
        })
    }
}

impl Logic for Timers {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module timers: scan of all path timers");
        dff_setup!(self, clock, walking, started, scan, read, read_row, judged, judged_row, late, armed, offered, offered_row);
        clock!(self, clock, table);
        self.table.write_enable.next = self.set_valid.val() | self.walking.q.val();
        self.table.write_address.next = self.set_row.val();
        self.row.next = self.no_row.val();
        self.row.next.active = self.set_active.val();
        self.row.next.deadline = self.set_deadline.val();
        self.table.write_data.next = self.row.val();
        self.table.read_address.next = self.scan.q.val();
        self.started.d.next = true;
        if !self.started.q.val() {
            self.walking.d.next = true;
        }
        self.init_done.next = self.started.q.val() & !self.walking.q.val();
        // three stages: read a row, subtract, judge
        self.read.d.next = false;
        self.judged.d.next = self.read.q.val();
        self.judged_row.d.next = self.read_row.q.val();
        self.late.d.next = self.now.val() - self.table.read_data.val().deadline;
        self.armed.d.next = self.table.read_data.val().active;
        self.read_row.d.next = self.scan.q.val();
        if self.walking.q.val() {
            self.table.write_address.next = self.scan.q.val();
            self.table.write_data.next = self.no_row.val();
        }
        if self.walking.q.val() | !self.offered.q.val() {
            self.read.d.next = !self.walking.q.val() & self.started.q.val();
            self.scan.d.next = self.scan.q.val() + 1;
            if self.scan.q.val() == self.last_row.val() {
                self.scan.d.next = 0.into();
                self.walking.d.next = false;
            }
        }
        if self.judged.q.val() & self.armed.q.val() & !self.late.q.val().get_bit(31) & !self.offered.q.val() {
            self.offered.d.next = true;
            self.offered_row.d.next = self.judged_row.q.val();
            // the rows behind it are read again
            self.judged.d.next = false;
            self.read.d.next = false;
            self.scan.d.next = self.judged_row.q.val() + 1;
            if self.judged_row.q.val() == self.last_row.val() {
                self.scan.d.next = 0.into();
            }
        }
        if self.offered.q.val() & self.offer_ready.val() {
            self.offered.d.next = false;
        }
        self.offer_valid.next = self.offered.q.val();
        self.offer_row.next = self.offered_row.q.val();
        if self.reset.val() {
            self.started.d.next = false;
            self.walking.d.next = false;
            self.scan.d.next = 0.into();
            self.read.d.next = false;
            self.judged.d.next = false;
            self.offered.d.next = false;
        }
    }
}
