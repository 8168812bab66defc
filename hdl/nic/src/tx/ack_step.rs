//! ack_step: what an acknowledgment makes of a path's rows (section 6): its check, the congestion control, L2, C2, progress.
//!
//! In: the acknowledgment and the rows, stable from clock 1 of the step; from clock 7 on the sums of the words. Out: verdict and bounds from clock 3
//! on; in clock 7 the new rows, the hint, and when to look at the timer. Guarantees the order A1, A2, A3, L2, L5, L1, RTT, C1, L6, C2, progress.
use super::ack_check::AckCheck;
use super::congestion::Congestion;
use super::filled::filled;
use super::rows::{AckFields, PathAck, PathTx};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckStep {
    pub clock: Signal<In, Clock>,
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub rto_min: Signal<In, Bits<32>>,
    pub ack: Signal<In, AckFields>,
    pub high: Signal<In, Bits<10>>,
    pub any: Signal<In, Bit>,
    pub path: Signal<In, PathTx>,
    pub row: Signal<In, PathAck>,
    /// Another path is DOWN with packets outstanding (L4).
    pub stranded: Signal<In, Bit>,
    /// Responses are awaited (D8).
    pub awaits: Signal<In, Bit>,
    // sums of the words
    pub acked: Signal<In, Bits<9>>,
    pub dropped: Signal<In, Bits<9>>,
    pub lost_words: Signal<In, Bits<4>>,
    pub any_l1: Signal<In, Bit>,
    pub any_rtx_old: Signal<In, Bit>,
    /// 0 applied, 1 disabled, 2 stale, 3 invalid
    pub verdict: Signal<Out, Bits<2>>,
    pub turn: Signal<Out, Bit>,
    pub advance: Signal<Out, Bits<9>>,
    pub gap_from: Signal<Out, Bits<9>>,
    pub gap_below: Signal<Out, Bits<9>>,
    /// N1: the packet MAK.qp was refused for now.
    pub refuses: Signal<Out, Bit>,
    pub new_path: Signal<Out, PathTx>,
    pub new_row: Signal<Out, PathAck>,
    pub hint: Signal<Out, Bits<24>>,
    /// The timer is to be set: armed or not, and when to look.
    pub set_timer: Signal<Out, Bit>,
    pub timer_active: Signal<Out, Bit>,
    pub deadline: Signal<Out, Bits<32>>,
    /// It acknowledged something, or answered a probe.
    pub progresses: Signal<Out, Bit>,
    check: AckCheck,
    congestion: Congestion,
    quick: DFF<Bits<32>>,
    /// The path's row, a clock late: the sums come last, so what is made of the row starts from registers.
    path1: DFF<PathTx>,
    srtt: Signal<Local, Bits<32>>,
    tail: Signal<Local, Bits<32>>,
    path_after: Signal<Local, PathTx>,
    row_after: Signal<Local, PathAck>,
    progress: Signal<Local, Bit>,
}

impl AckStep {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(AckStep {
            congestion: Congestion::new(config);
            clock, fault, now, rto_min, ack, high, any, path, row, stranded, awaits, acked, dropped, lost_words, any_l1, any_rtx_old, verdict,
            turn, advance, gap_from, gap_below, refuses, new_path, new_row, hint, set_timer, timer_active, deadline, progresses, check,
            quick, path1, srtt, tail, path_after, row_after, progress,
        })
    }
}

impl Logic for AckStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ack_step: what an acknowledgment makes of the rows of its path");
        dff_setup!(self, clock, quick, path1);
        clock!(self, clock, check, congestion);
        self.check.fault.next = self.fault.val();
        self.check.now.next = self.now.val();
        self.check.rto_min.next = self.rto_min.val();
        self.check.ack.next = self.ack.val();
        self.check.high.next = self.high.val();
        self.check.any.next = self.any.val();
        self.check.path.next = self.path.val();
        self.path1.d.next = self.path.val();
        self.check.row.next = self.row.val();
        self.verdict.next = self.check.verdict.val();
        self.turn.next = self.check.turn.val();
        self.advance.next = self.check.advance.val();
        self.gap_from.next = self.check.gap_from.val();
        self.gap_below.next = self.check.gap_below.val();
        self.refuses.next = self.check.refuses.val();
        self.congestion.fault.next = self.fault.val();
        self.congestion.now.next = self.now.val();
        self.congestion.ts_valid.next = self.ack.val().flags.get_bit(2);
        self.congestion.ts_echo.next = self.ack.val().ts_echo;
        self.congestion.service.next = self.ack.val().service;
        self.congestion.ce.next = self.ack.val().ce;
        self.congestion.dup.next = self.ack.val().dup;
        self.congestion.srtt8.next = self.path1.q.val().srtt8;
        self.congestion.var4.next = self.row.val().var4;
        self.congestion.rtt_valid.next = self.path1.q.val().rtt_valid;
        self.congestion.window.next = self.path1.q.val().window;
        self.congestion.credit.next = self.row.val().credit;
        self.congestion.last_cut.next = self.row.val().last_cut;
        self.congestion.ce_seen.next = self.row.val().ce_seen;
        self.congestion.dup_seen.next = self.row.val().dup_seen;
        self.congestion.reo_tol.next = self.row.val().reo_tol;
        self.congestion.reo_base.next = self.row.val().reo_base;
        self.congestion.l1_since_dup.next = self.row.val().l1_since_dup;
        self.congestion.acked.next = self.acked.val();
        self.congestion.found_l1.next = self.any_l1.val() & !self.check.probe_edge.val();

        comment!("the rows after it");
        self.path_after.next = self.path1.q.val();
        self.path_after.next.cum = self.ack.val().cum;
        self.path_after.next.pipe = self.path1.q.val().pipe - self.dropped.val();
        self.path_after.next.lost_words = self.lost_words.val();
        self.path_after.next.window = self.congestion.new_window.val();
        self.path_after.next.srtt8 = self.congestion.new_srtt8.val();
        self.path_after.next.rtt_valid = self.congestion.new_rtt_valid.val();
        self.row_after.next = self.row.val();
        self.row_after.next.credit = self.congestion.new_credit.val();
        self.row_after.next.last_cut = self.congestion.new_last_cut.val();
        self.row_after.next.var4 = self.congestion.new_var4.val();
        self.row_after.next.ce_seen = self.congestion.new_ce_seen.val();
        self.row_after.next.dup_seen = self.congestion.new_dup_seen.val();
        self.row_after.next.reo_tol = self.congestion.new_reo_tol.val();
        self.row_after.next.reo_base = self.congestion.new_reo_base.val();
        self.row_after.next.l1_since_dup = self.congestion.new_l1_since_dup.val();
        // L5
        self.row_after.next.floor_active = self.check.floor_active.val();
        // L2
        if self.check.turn.val() {
            self.row_after.next.mark = self.path1.q.val().next_ppsn;
            self.row_after.next.gen_open = self.any_rtx_old.val();
        }
        // C2: a rate of zero would stop the pacer for ever
        self.hint.next = self.ack.val().rate;
        if self.ack.val().rate == 0 {
            self.hint.next = 1.into();
        }
        comment!("progress");
        self.progress.next = self.acked.val().any() | self.check.probe.val();
        if self.progress.val() {
            self.path_after.next.t_base = self.now.val();
            self.row_after.next.probe_pending = false;
            // a resend proves nothing: it may have travelled by another path
            if self.ack.val().flags.get_bit(2) | self.check.probe.val() {
                self.row_after.next.backoff = 0.into();
                if self.path1.q.val().state == 2 {
                    self.path_after.next.state = 1.into();
                }
            }
            if self.check.probe.val() & (self.path1.q.val().state == 3) {
                // L4: three answered probes bring a path back, with one packet at first
                self.row_after.next.clean = self.row.val().clean + 1;
                if self.row.val().clean == 2 {
                    self.path_after.next.state = 1.into();
                    self.row_after.next.clean = 0.into();
                    self.path_after.next.window = 1.into();
                }
            }
        }
        if self.acked.val().any() {
            // S1, L4
            self.path_after.next.heard = true;
            self.row_after.next.tries = 0.into();
        }
        self.new_path.next = self.path_after.val();
        self.new_row.next = self.row_after.val();
        comment!(
            "the timer: min(tail, RTO_MIN) after the new base, none if nothing is outstanding, here or on a DOWN path (L4), or awaited (D8)"
        );
        self.srtt.next = bit_cast::<32, 18>(self.congestion.new_srtt8.val() >> 3);
        self.tail.next = self.srtt.val() + (self.srtt.val() >> 2);
        if self.tail.val() < 16 {
            self.tail.next = 16.into();
        }
        self.quick.d.next = self.tail.val();
        if self.tail.val() > self.rto_min.val() {
            self.quick.d.next = self.rto_min.val();
        }
        self.deadline.next = self.now.val() + self.quick.q.val();
        self.timer_active.next = (self.ack.val().cum != self.path1.q.val().next_ppsn)
            | (self.path_after.val().state != 1)
            | self.stranded.val()
            | self.awaits.val();
        self.progresses.next = self.progress.val();
        self.set_timer.next = self.progress.val() | (self.ack.val().cum == self.path1.q.val().next_ppsn);
    }
}
