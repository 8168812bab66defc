//! congestion: RTT estimate, window (C1) and reordering guard (L6) of a path for one acknowledgment.
//!
//! In: the path's fields and those of the acknowledgment, stable from clock 1 of the step; in clock 6 or later `acked` and `found_l1`.
//! Out: the new fields. Guarantees: the integer arithmetic and the order (RTT, C1, L6) of section 6; results follow `acked` and `found_l1`
//! in the same clock, everything else needs five clocks of stable inputs.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Congestion {
    pub clock: Signal<In, Clock>,
    /// Fault 5: the window is cut on every mark.
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub ts_valid: Signal<In, Bit>,
    pub ts_echo: Signal<In, Bits<16>>,
    pub service: Signal<In, Bits<16>>,
    pub ce: Signal<In, Bits<16>>,
    pub dup: Signal<In, Bits<16>>,
    pub srtt8: Signal<In, Bits<18>>,
    pub var4: Signal<In, Bits<17>>,
    pub rtt_valid: Signal<In, Bit>,
    pub window: Signal<In, Bits<9>>,
    pub credit: Signal<In, Bits<9>>,
    pub last_cut: Signal<In, Bits<32>>,
    pub ce_seen: Signal<In, Bits<16>>,
    pub dup_seen: Signal<In, Bits<16>>,
    pub reo_tol: Signal<In, Bits<7>>,
    pub reo_base: Signal<In, Bits<32>>,
    pub l1_since_dup: Signal<In, Bit>,
    pub acked: Signal<In, Bits<9>>,
    /// L1 found a loss, and not by the probe edge.
    pub found_l1: Signal<In, Bit>,
    pub new_srtt8: Signal<Out, Bits<18>>,
    pub new_var4: Signal<Out, Bits<17>>,
    pub new_rtt_valid: Signal<Out, Bit>,
    pub new_window: Signal<Out, Bits<9>>,
    pub new_credit: Signal<Out, Bits<9>>,
    pub new_last_cut: Signal<Out, Bits<32>>,
    pub new_ce_seen: Signal<Out, Bits<16>>,
    pub new_dup_seen: Signal<Out, Bits<16>>,
    pub new_reo_tol: Signal<Out, Bits<7>>,
    pub new_reo_base: Signal<Out, Bits<32>>,
    pub new_l1_since_dup: Signal<Out, Bit>,
    // clock 1
    raw: DFF<Bits<16>>,
    raw_valid: DFF<Bit>,
    ce_step: DFF<Bits<16>>,
    dup_step: DFF<Bits<16>>,
    since_cut: DFF<Bits<32>>,
    since_reo: DFF<Bits<32>>,
    srtt: DFF<Bits<16>>,
    // clock 2
    sample: DFF<Bits<16>>,
    sample_valid: DFF<Bit>,
    error: DFF<Bits<18>>,
    marked: DFF<Bit>,
    // clock 3
    error_abs: DFF<Bits<17>>,
    srtt8_reg: DFF<Bits<18>>,
    // clock 4
    var4_reg: DFF<Bits<17>>,
    // clock 5
    may_cut: DFF<Bit>,
    /// What the credit lacks of a window, or that it lacks nothing: `acked` comes late.
    lacks: DFF<Bits<9>>,
    has_window: DFF<Bit>,
    reo_due: DFF<Bit>,
    positive: Signal<Local, Bits<16>>,
    smooth: Signal<Local, Bits<18>>,
    threshold: Signal<Local, Bits<18>>,
    sum: Signal<Local, Bits<10>>,
    filled_credit: Signal<Local, Bits<10>>,
    since_dup: Signal<Local, Bit>,
    /// W: the largest window. W / 4: the largest tolerance, and its half.
    window_max: Constant<Bits<9>>,
    tolerance_max: Constant<Bits<7>>,
    tolerance_half: Constant<Bits<7>>,
}

impl Congestion {
    pub fn new(config: &BuildConfig) -> Self {
        let window = config.window_bits as u64;
        filled!(Congestion {
            window_max: Constant::new(window.to_bits()),
            tolerance_max: Constant::new((window / 4).to_bits()),
            tolerance_half: Constant::new((window / 8).to_bits());
            clock, fault, now, ts_valid, ts_echo, service, ce, dup, srtt8, var4, rtt_valid, window, credit, last_cut, ce_seen,
            dup_seen, reo_tol, reo_base, l1_since_dup, acked, found_l1, new_srtt8, new_var4, new_rtt_valid,
            new_window, new_credit, new_last_cut, new_ce_seen, new_dup_seen, new_reo_tol, new_reo_base,
            new_l1_since_dup, raw, raw_valid, ce_step, dup_step, since_cut, since_reo, srtt, sample, sample_valid, error,
            marked, error_abs, srtt8_reg, var4_reg, may_cut, lacks, has_window, reo_due, positive, smooth, threshold, sum, filled_credit,
            since_dup,
        })
    }
}

impl Logic for Congestion {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module congestion: RTT, window and reordering guard of one acknowledgment");
        dff_setup!(
            self,
            clock,
            raw,
            raw_valid,
            ce_step,
            dup_step,
            since_cut,
            since_reo,
            srtt,
            sample,
            sample_valid,
            error,
            marked,
            error_abs,
            srtt8_reg,
            var4_reg,
            may_cut,
            lacks,
            has_window,
            reo_due
        );
        comment!("clock 1: differences");
        self.raw.d.next = self.now.val().get_bits::<16>(0) - self.ts_echo.val() - self.service.val();
        self.raw_valid.d.next = self.ts_valid.val();
        self.ce_step.d.next = self.ce.val() - self.ce_seen.val();
        self.dup_step.d.next = self.dup.val() - self.dup_seen.val();
        self.since_cut.d.next = self.now.val() - self.last_cut.val();
        self.since_reo.d.next = self.now.val() - self.reo_base.val();
        self.srtt.d.next = bit_cast::<16, 18>(self.srtt8.val() >> 3);
        comment!("clock 2: the sample, at least one tick, and its distance from the estimate");
        self.positive.next = self.raw.q.val();
        if self.raw.q.val() == 0 {
            self.positive.next = 1.into();
        }
        self.sample.d.next = self.positive.val();
        self.sample_valid.d.next = self.raw_valid.q.val() & !self.raw.q.val().get_bit(15);
        self.error.d.next = bit_cast::<18, 16>(self.positive.val()) - bit_cast::<18, 16>(self.srtt.q.val());
        // C1: a counter that ran backwards is ignored
        self.marked.d.next = !self.ce_step.q.val().get_bit(15) & self.ce_step.q.val().any();
        comment!("clocks 3 and 4: smoothing with gains 1/8 and 1/4");
        self.error_abs.d.next = bit_cast::<17, 18>(self.error.q.val());
        if self.error.q.val().get_bit(17) {
            self.error_abs.d.next = bit_cast::<17, 18>(0 - self.error.q.val());
        }
        self.srtt8_reg.d.next = self.srtt8.val();
        self.var4_reg.d.next = self.var4.val();
        if self.sample_valid.q.val() {
            if self.rtt_valid.val() {
                self.srtt8_reg.d.next = self.srtt8.val() + self.error.q.val();
                self.var4_reg.d.next = self.var4.val() + self.error_abs.q.val() - (self.var4.val() >> 2);
            } else {
                self.srtt8_reg.d.next = bit_cast::<18, 16>(self.sample.q.val()) << 3;
                self.var4_reg.d.next = bit_cast::<17, 16>(self.sample.q.val()) << 1;
            }
        }
        self.new_srtt8.next = self.srtt8_reg.q.val();
        self.new_var4.next = self.var4_reg.q.val();
        self.new_rtt_valid.next = self.rtt_valid.val() | self.sample_valid.q.val();
        comment!("clock 5: the two thresholds");
        self.smooth.next = self.srtt8_reg.q.val();
        self.threshold.next = self.smooth.val() >> 3;
        if self.threshold.val() == 0 {
            self.threshold.next = 1.into();
        }
        self.may_cut.d.next = self.since_cut.q.val() >= bit_cast::<32, 18>(self.threshold.val());
        // 16 sRTT
        self.reo_due.d.next = self.since_reo.q.val() >= (bit_cast::<32, 18>(self.smooth.val()) << 1);
        self.lacks.d.next = self.window.val() - self.credit.val();
        self.has_window.d.next = self.credit.val() >= self.window.val();
        comment!("C1");
        self.new_ce_seen.next = self.ce_seen.val();
        if !self.ce_step.q.val().get_bit(15) {
            self.new_ce_seen.next = self.ce.val();
        }
        self.new_window.next = self.window.val();
        self.new_credit.next = self.credit.val();
        self.new_last_cut.next = self.last_cut.val();
        self.sum.next = bit_cast::<10, 9>(self.credit.val()) + bit_cast::<10, 9>(self.acked.val());
        self.filled_credit.next = self.sum.val();
        if self.sum.val().get_bit(9) {
            self.filled_credit.next = 511.into();
        }
        if self.marked.q.val() {
            if self.may_cut.q.val() | (self.fault.val() == 5) {
                self.new_window.next = self.window.val() >> 1;
                if self.window.val() < 2 {
                    self.new_window.next = 1.into();
                }
                self.new_credit.next = 0.into();
                self.new_last_cut.next = self.now.val();
            }
        } else {
            self.new_credit.next = bit_cast::<9, 10>(self.filled_credit.val());
            if self.has_window.q.val() | (self.acked.val() >= self.lacks.q.val()) {
                self.new_credit.next = bit_cast::<9, 10>(self.filled_credit.val()) - self.window.val();
                if self.window.val() < self.window_max.val() {
                    self.new_window.next = self.window.val() + 1;
                }
            }
        }
        comment!("L6");
        self.new_dup_seen.next = self.dup_seen.val();
        if !self.dup_step.q.val().get_bit(15) {
            self.new_dup_seen.next = self.dup.val();
        }
        self.since_dup.next = self.l1_since_dup.val() | self.found_l1.val();
        self.new_l1_since_dup.next = self.since_dup.val();
        self.new_reo_tol.next = self.reo_tol.val();
        self.new_reo_base.next = self.reo_base.val();
        if self.since_dup.val() & self.dup_step.q.val().any() & !self.dup_step.q.val().get_bit(15) {
            self.new_reo_tol.next = self.reo_tol.val() << 1;
            if self.reo_tol.val() == 0 {
                self.new_reo_tol.next = 1.into();
            } else if self.reo_tol.val() >= self.tolerance_half.val() {
                self.new_reo_tol.next = self.tolerance_max.val();
            }
            self.new_reo_base.next = self.now.val();
            self.new_l1_since_dup.next = false;
        } else if self.reo_tol.val().any() & self.reo_due.q.val() {
            self.new_reo_tol.next = self.reo_tol.val() >> 1;
            self.new_reo_base.next = self.now.val();
        }
    }
}
