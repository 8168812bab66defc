//! watch: the path that watches over awaited responses (section 11, D8): the lowest that is UP.
//!
//! In: the eight paths of a step, stable from its clock 1 on, and its own path; what block silence says of the connection, taken with `load`. Out: one
//! clock after `load`: whether the path watches, whether anything is awaited, the last sign of life, and the lowest other path that is UP.
use super::filled::filled;
use super::rows::PathTx;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Watch {
    pub clock: Signal<In, Clock>,
    pub path_tx: [Signal<In, PathTx>; 8],
    pub path: Signal<In, Bits<3>>,
    pub load: Signal<In, Bit>,
    pub awaited: Signal<In, Bit>,
    pub alive: Signal<In, Bits<32>>,
    pub watches: Signal<Out, Bit>,
    pub awaits: Signal<Out, Bit>,
    pub seen_alive: Signal<Out, Bits<32>>,
    pub any_other: Signal<Out, Bit>,
    pub other: Signal<Out, Bits<3>>,
    awaits_reg: DFF<Bit>,
    alive_reg: DFF<Bits<32>>,
    up: DFF<Bit>,
    found_reg: DFF<Bit>,
    lowest_reg: DFF<Bits<3>>,
    element: Signal<Local, PathTx>,
    found: Signal<Local, Bit>,
    lowest: Signal<Local, Bits<3>>,
    own: Signal<Local, Bit>,
    /// D8 is in this build.
    has_reads: Constant<Bit>,
}

impl Watch {
    pub fn new(has_reads: bool) -> Self {
        filled!(Watch {
            path_tx: array_init::array_init(|_| Default::default()),
            has_reads: Constant::new(has_reads);
            clock, path, load, awaited, alive, watches, awaits, seen_alive, any_other, other, awaits_reg, alive_reg, up, found_reg,
            lowest_reg, element, found, lowest, own,
        })
    }
}

impl Logic for Watch {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module watch: the path that watches over awaited responses");
        dff_setup!(self, clock, awaits_reg, alive_reg, up, found_reg, lowest_reg);
        self.found.next = false;
        self.lowest.next = 0.into();
        self.own.next = false;
        for p in 0..8 {
            self.element.next = self.path_tx[p].val();
            if self.element.val().state == 1 {
                if self.path.val() == p.to_bits::<3>() {
                    self.own.next = true;
                } else if !self.found.val() {
                    self.found.next = true;
                    self.lowest.next = p.to_bits::<3>();
                }
            }
        }
        self.up.d.next = self.own.val();
        self.found_reg.d.next = self.found.val();
        self.lowest_reg.d.next = self.lowest.val();
        if self.load.val() {
            self.awaits_reg.d.next = self.awaited.val() & self.has_reads.val();
            self.alive_reg.d.next = self.alive.val();
        }
        self.watches.next =
            self.awaits_reg.q.val() & self.up.q.val() & !(self.found_reg.q.val() & (self.lowest_reg.q.val() < self.path.val()));
        self.awaits.next = self.awaits_reg.q.val();
        self.seen_alive.next = self.alive_reg.q.val();
        self.any_other.next = self.found_reg.q.val();
        self.other.next = self.lowest_reg.q.val();
    }
}
