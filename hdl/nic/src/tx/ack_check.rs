//! ack_check: what an acknowledgment means for a path before its words are touched (A1, A2, N1, and the bounds of L1, L2, L5).
//!
//! In: its fields and the path's, stable from clock 1 of the step. Out: verdict and bounds as offsets from cum, valid from clock 3 on.
//! Guarantees: serial arithmetic on 24 bits; bounds are meaningful only for verdict 0.
use super::filled::filled;
use super::rows::{AckFields, PathAck, PathTx};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckCheck {
    pub clock: Signal<In, Clock>,
    /// Fault 3: resends are lost again at any acknowledgment.
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub rto_min: Signal<In, Bits<32>>,
    pub ack: Signal<In, AckFields>,
    pub high: Signal<In, Bits<10>>,
    pub any: Signal<In, Bit>,
    pub path: Signal<In, PathTx>,
    pub row: Signal<In, PathAck>,
    /// 0 applied, 1 disabled, 2 stale, 3 invalid
    pub verdict: Signal<Out, Bits<2>>,
    pub probe: Signal<Out, Bit>,
    pub probe_edge: Signal<Out, Bit>,
    pub floor_active: Signal<Out, Bit>,
    pub turn: Signal<Out, Bit>,
    pub advance: Signal<Out, Bits<9>>,
    pub gap_from: Signal<Out, Bits<9>>,
    pub gap_below: Signal<Out, Bits<9>>,
    /// N1: an RNR for a packet that is outstanding after it (or acknowledged by the vector).
    pub refuses: Signal<Out, Bit>,
    // clock 1
    ahead: DFF<Bits<24>>,
    span: DFF<Bits<24>>,
    high_off: DFF<Bits<24>>,
    probe_off: DFF<Bits<24>>,
    mark_off: DFF<Bits<24>>,
    floor_off: DFF<Bits<24>>,
    floor_age: DFF<Bits<32>>,
    answers: DFF<Bit>,
    refused_off: DFF<Bits<24>>,
    // clock 2
    verdict_reg: DFF<Bits<2>>,
    probe_reg: DFF<Bit>,
    edge_reg: DFF<Bit>,
    floor_reg: DFF<Bit>,
    turn_reg: DFF<Bit>,
    advance_reg: DFF<Bits<9>>,
    from_reg: DFF<Bits<9>>,
    below_reg: DFF<Bits<9>>,
    refuses_reg: DFF<Bit>,
    high_wide: Signal<Local, Bits<24>>,
    probe_counts: Signal<Local, Bit>,
    floor_on: Signal<Local, Bit>,
    high_passed: Signal<Local, Bits<24>>,
    probe_passed: Signal<Local, Bits<24>>,
    limit: Signal<Local, Bits<12>>,
    beyond: Signal<Local, Bits<12>>,
    sign: Constant<Bits<24>>,
}

impl AckCheck {
    pub fn new() -> Self {
        filled!(AckCheck {
            sign: Constant::new(0xFF_FC00u64.to_bits());
            clock, fault, now, rto_min, ack, high, any, path, row, verdict, probe, probe_edge, floor_active, turn, advance,
            gap_from, gap_below, refuses, refused_off, refuses_reg, ahead, span, high_off, probe_off, mark_off, floor_off, floor_age, answers, verdict_reg,
            probe_reg, edge_reg, floor_reg, turn_reg, advance_reg, from_reg, below_reg, high_wide, probe_counts, floor_on,
            high_passed, probe_passed, limit, beyond,
        })
    }
}

impl Default for AckCheck {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for AckCheck {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ack_check: verdict and bounds of an acknowledgment (A1, A2, L1, L2, L5)");
        dff_setup!(
            self,
            clock,
            ahead,
            span,
            high_off,
            probe_off,
            mark_off,
            floor_off,
            floor_age,
            answers,
            verdict_reg,
            probe_reg,
            edge_reg,
            floor_reg,
            turn_reg,
            advance_reg,
            from_reg,
            below_reg,
            refused_off,
            refuses_reg
        );
        comment!("clock 1: offsets from cum");
        self.high_wide.next = bit_cast::<24, 10>(self.high.val());
        if self.high.val().get_bit(9) {
            self.high_wide.next = bit_cast::<24, 10>(self.high.val()) | self.sign.val();
        }
        self.ahead.d.next = self.ack.val().cum - self.path.val().cum;
        self.span.d.next = self.path.val().next_ppsn - self.path.val().cum;
        self.high_off.d.next = self.ack.val().cum - self.path.val().cum + self.high_wide.val();
        self.probe_off.d.next = self.row.val().probe_ppsn - self.path.val().cum;
        self.mark_off.d.next = self.row.val().mark - self.path.val().cum;
        self.floor_off.d.next = self.row.val().floor_ppsn - self.path.val().cum;
        self.floor_age.d.next = self.now.val() - self.row.val().floor_time;
        self.refused_off.d.next = self.ack.val().mak_qp - self.path.val().cum;
        // A2 (flag bit 1: probe_reply)
        self.answers.d.next = self.ack.val().flags.get_bit(1)
            & self.row.val().probe_pending
            & (self.ack.val().ts_echo == self.row.val().probe_ts);
        comment!("clock 2: verdict and bounds");
        self.verdict_reg.d.next = 0.into();
        // A1
        if (self.ahead.q.val() > self.span.q.val()) | (self.any.val() & (self.high_off.q.val() >= self.span.q.val())) {
            self.verdict_reg.d.next = 3.into();
        }
        if self.ahead.q.val().get_bit(23) {
            self.verdict_reg.d.next = 2.into();
        }
        if self.path.val().state == 0 {
            self.verdict_reg.d.next = 1.into();
        }
        self.probe_reg.d.next = self.answers.q.val();
        self.probe_counts.next = self.answers.q.val() & (self.path.val().state == 1);
        self.edge_reg.d.next = self.probe_counts.val();
        // L2: E >= mark
        self.high_passed.next = self.high_off.q.val() - self.mark_off.q.val();
        self.probe_passed.next = self.probe_off.q.val() - self.mark_off.q.val();
        self.turn_reg.d.next = self.row.val().gen_open
            & (!self.high_passed.val().get_bit(23)
                | (self.probe_counts.val() & !self.probe_passed.val().get_bit(23))
                | (self.fault.val() == 3));
        // L5
        self.floor_on.next = self.row.val().floor_active & (self.floor_age.q.val() < self.rto_min.val());
        self.floor_reg.d.next = self.floor_on.val();
        self.advance_reg.d.next = self.ahead.q.val().get_bits::<9>(0);
        self.from_reg.d.next = self.ahead.q.val().get_bits::<9>(0);
        if self.floor_on.val() & !self.floor_off.q.val().get_bit(23) & (self.floor_off.q.val() > self.ahead.q.val()) {
            self.from_reg.d.next = self.floor_off.q.val().get_bits::<9>(0);
        }
        // L1: B = max(high' - reo_tol, probe_ppsn if its edge counts), none below cum. Offsets of verdict 0 fit 12 bits.
        self.limit.next = self.high_off.q.val().get_bits::<12>(0) - bit_cast::<12, 7>(self.row.val().reo_tol);
        self.beyond.next = self.probe_off.q.val().get_bits::<12>(0) - self.limit.val();
        if self.probe_counts.val() & !self.beyond.val().get_bit(11) {
            self.limit.next = self.probe_off.q.val().get_bits::<12>(0);
        }
        self.below_reg.d.next = self.limit.val().get_bits::<9>(0);
        if self.limit.val().get_bit(11) {
            self.below_reg.d.next = 0.into();
        }
        // N1 (flag bit 0: rnr)
        self.refuses_reg.d.next = self.ack.val().flags.get_bit(0)
            & (self.refused_off.q.val() >= self.ahead.q.val())
            & (self.refused_off.q.val() < self.span.q.val());
        self.refuses.next = self.refuses_reg.q.val();
        self.verdict.next = self.verdict_reg.q.val();
        self.probe.next = self.probe_reg.q.val();
        self.probe_edge.next = self.edge_reg.q.val();
        self.floor_active.next = self.floor_reg.q.val();
        self.turn.next = self.turn_reg.q.val();
        self.advance.next = self.advance_reg.q.val();
        self.gap_from.next = self.from_reg.q.val();
        self.gap_below.next = self.below_reg.q.val();
    }
}
