//! timer_step: what a path's timer makes of its rows (section 8): L3, L4, L5, PROBE.
//!
//! In: the rows, stable from clock 1 of the step; once they are known the words that hold a lost packet. Out: the action (see `timer_check`) from clock 8
//! on, then the new rows. Guarantees: nothing changes for action 0.
use super::filled::filled;
use super::rows::{ConnAck, ConnCfg, PathAck, PathTx};
use super::timer_check::TimerCheck;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct TimerStep {
    pub clock: Signal<In, Clock>,
    pub now: Signal<In, Bits<32>>,
    pub rto_min: Signal<In, Bits<32>>,
    pub path: Signal<In, PathTx>,
    pub row: Signal<In, PathAck>,
    pub cfg: Signal<In, ConnCfg>,
    pub conn: Signal<In, ConnAck>,
    pub other_up: Signal<In, Bit>,
    pub stranded: Signal<In, Bit>,
    /// D8, see `timer_check`.
    pub watching: Signal<In, Bit>,
    pub alive: Signal<In, Bits<32>>,
    pub lost_words: Signal<In, Bits<4>>,
    pub action: Signal<Out, Bits<4>>,
    /// The timer stays armed.
    pub active: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,
    /// Every packet becomes lost (L3, L4).
    pub all_lost: Signal<Out, Bit>,
    /// The path becomes DOWN: those that have nothing outstanding become active (L4).
    pub goes_down: Signal<Out, Bit>,
    /// The connection is given up.
    pub gives_up: Signal<Out, Bit>,
    pub new_path: Signal<Out, PathTx>,
    pub new_row: Signal<Out, PathAck>,
    check: TimerCheck,
    path_after: Signal<Local, PathTx>,
    row_after: Signal<Local, PathAck>,
    changes: Signal<Local, Bit>,
    everything: Signal<Local, Bit>,
    acts: Signal<Local, Bit>,
    suspects: Signal<Local, Bit>,
}

impl TimerStep {
    pub fn new() -> Self {
        filled!(TimerStep {
            ;
            clock, now, rto_min, path, row, cfg, conn, other_up, stranded, watching, alive, lost_words, action, active, deadline, all_lost, goes_down, gives_up,
            new_path, new_row, check, path_after, row_after, changes, everything, acts, suspects,
        })
    }
}

impl Default for TimerStep {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for TimerStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module timer_step: what a timer makes of the rows of its path");
        clock!(self, clock, check);
        self.check.now.next = self.now.val();
        self.check.rto_min.next = self.rto_min.val();
        self.check.path.next = self.path.val();
        self.check.row.next = self.row.val();
        self.check.cfg.next = self.cfg.val();
        self.check.conn.next = self.conn.val();
        self.check.other_up.next = self.other_up.val();
        self.check.stranded.next = self.stranded.val();
        self.check.watching.next = self.watching.val();
        self.check.alive.next = self.alive.val();
        self.action.next = self.check.action.val();
        self.deadline.next = self.check.deadline.val();
        self.goes_down.next = self.check.action.val() == 4;
        self.gives_up.next = self.check.action.val() == 6;
        self.active.next = self.check.active.val() & (self.check.action.val() != 6);
        self.changes.next = (self.check.action.val() == 3) | (self.check.action.val() == 7);
        self.suspects.next = (self.check.action.val() == 3) | (self.check.action.val() == 8) | (self.check.action.val() == 9);
        self.acts.next = (self.check.action.val() != 0) & (self.check.action.val() != 6);
        // a path that is not UP then is stranded
        self.everything.next = self.acts.val() & (self.suspects.val() | (self.path.val().state != 1));
        self.path_after.next = self.path.val();
        self.row_after.next = self.row.val();
        if self.check.timeout.val() {
            // L4
            self.path_after.next.t_base = self.now.val();
            self.row_after.next.backoff = self.check.backoff.val();
        }
        if self.check.cuts.val() {
            self.path_after.next.window = 1.into();
            self.row_after.next.credit = 0.into();
        }
        if self.changes.val() {
            // L5
            self.path_after.next.port = ((self.path.val().port + 0x0537) & 0x3FFF) | 0xC000;
            self.row_after.next.floor_active = true;
            self.row_after.next.floor_ppsn = self.path.val().next_ppsn;
            self.row_after.next.floor_time = self.now.val();
        }
        if self.suspects.val() {
            self.path_after.next.state = 2.into();
        }
        if self.check.timeout.val() & (self.path.val().state == 3) & self.path.val().pipe.any() {
            self.row_after.next.tries = self.row.val().tries + 1;
        }
        if self.check.action.val() == 4 {
            self.path_after.next.state = 3.into();
            self.row_after.next.clean = 0.into();
            self.row_after.next.tries = 0.into();
        }
        if self.everything.val() {
            self.path_after.next.pipe = 0.into();
            self.path_after.next.heard = false;
        }
        if self.acts.val() {
            // PROBE
            self.path_after.next.last_send = self.now.val().get_bits::<16>(0);
            self.path_after.next.lost_words = self.lost_words.val();
            self.row_after.next.mark = self.path.val().next_ppsn;
            self.row_after.next.gen_open = true;
            self.row_after.next.probe_pending = true;
            self.row_after.next.probe_ts = self.now.val().get_bits::<16>(0);
            self.row_after.next.probe_ppsn = self.path.val().next_ppsn;
        }
        self.all_lost.next = self.everything.val();
        self.new_path.next = self.path_after.val();
        self.new_row.next = self.row_after.val();
    }
}
