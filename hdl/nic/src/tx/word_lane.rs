//! word_lane: every second 64-bit word of all paths, with the arithmetic of one word per clock.
//!
//! In: the word to read (`address`, `word`), one clock later `load` with the operation. Out: the row read, the new sets' counts summed since
//! `first`. Guarantees: a loaded word is written back one clock after `load`, its counts are summed at the same time.
use super::filled::filled;
use super::ring_mask::RingMask;
use super::rows::WordRow;
use super::word_step::WordStep;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{Popcount64, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct WordLane {
    pub clock: Signal<In, Clock>,
    pub address: Signal<In, Bits<24>>,
    /// Number of the word that is read, 0 to 3; below the words of the window.
    pub word: Signal<In, Bits<2>>,
    pub cum: Signal<In, Bits<8>>,
    pub advance: Signal<In, Bits<9>>,
    pub gap_from: Signal<In, Bits<9>>,
    pub gap_below: Signal<In, Bits<9>>,
    /// N1: this packet (PPSN mod W) was refused for now.
    pub refuses: Signal<In, Bit>,
    pub refused: Signal<In, Bits<8>>,
    pub op: Signal<In, Bits<2>>,
    pub turn: Signal<In, Bit>,
    pub sav: Signal<In, Bits<64>>,
    /// Sums start again at zero.
    pub first: Signal<In, Bit>,
    /// The word read in the previous clock takes part in the step.
    pub load: Signal<In, Bit>,
    /// Writes `put_row` at `put_address`; never while a step runs.
    pub put: Signal<In, Bit>,
    pub put_address: Signal<In, Bits<24>>,
    pub put_row: Signal<In, WordRow>,
    pub row: Signal<Out, WordRow>,
    /// Newly acknowledged packets of the word loaded in the previous clock.
    pub newly: Signal<Out, Bits<64>>,
    pub acked: Signal<Out, Bits<9>>,
    pub dropped: Signal<Out, Bits<9>>,
    pub lost_l1: Signal<Out, Bits<9>>,
    pub lost_l2: Signal<Out, Bits<9>>,
    pub any_l1: Signal<Out, Bit>,
    pub any_rtx_old: Signal<Out, Bit>,
    /// Lost packets left in the last word loaded and in the one before.
    pub lost_last: Signal<Out, Bit>,
    pub lost_before: Signal<Out, Bit>,
    bank: Ram<WordRow>,
    step: WordStep,
    passed_mask: RingMask,
    from_mask: RingMask,
    below_mask: RingMask,
    ones_acked: Popcount64,
    ones_dropped: Popcount64,
    ones_l1: Popcount64,
    ones_l2: Popcount64,
    passed: DFF<Bits<64>>,
    gap: DFF<Bits<64>>,
    refused_mask: DFF<Bits<64>>,
    address1: DFF<Bits<24>>,
    address2: DFF<Bits<24>>,
    loaded: DFF<Bit>,
    after: DFF<WordRow>,
    newly_reg: DFF<Bits<64>>,
    dropped_reg: DFF<Bits<64>>,
    l1_reg: DFF<Bits<64>>,
    l2_reg: DFF<Bits<64>>,
    sum_acked: DFF<Bits<9>>,
    sum_dropped: DFF<Bits<9>>,
    sum_l1: DFF<Bits<9>>,
    sum_l2: DFF<Bits<9>>,
    any_l1_reg: DFF<Bit>,
    any_old_reg: DFF<Bit>,
    lost1: DFF<Bit>,
    lost2: DFF<Bit>,
    one: Constant<Bits<64>>,
}

impl WordLane {
    /// The lane of the even (0) or odd (1) words: two, one or none a path, by the window of the build.
    pub fn new(config: &BuildConfig, lane: usize) -> Self {
        let words = (config.window_words() - lane).div_ceil(2);
        filled!(WordLane {
            bank: Ram::new(config.path_rows() * words),
            passed_mask: RingMask::new(config),
            from_mask: RingMask::new(config),
            below_mask: RingMask::new(config),
            one: Constant::new(1u64.to_bits());
            clock, address, word, cum, advance, gap_from, gap_below, refuses, refused, op, turn, sav, first, load, put, put_address, put_row,
            row, newly, acked, dropped, lost_l1, lost_l2, any_l1, any_rtx_old, lost_last, lost_before, step,
            ones_acked, ones_dropped, ones_l1, ones_l2, passed, gap, refused_mask, address1,
            address2, loaded, after, newly_reg, dropped_reg, l1_reg, l2_reg, sum_acked, sum_dropped, sum_l1, sum_l2,
            any_l1_reg, any_old_reg, lost1, lost2,
        })
    }
}

impl Logic for WordLane {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module word_lane: every second word of all paths, one word a clock");
        dff_setup!(
            self,
            clock,
            passed,
            gap,
            refused_mask,
            address1,
            address2,
            loaded,
            after,
            newly_reg,
            dropped_reg,
            l1_reg,
            l2_reg,
            sum_acked,
            sum_dropped,
            sum_l1,
            sum_l2,
            any_l1_reg,
            any_old_reg,
            lost1,
            lost2
        );
        clock!(self, clock, bank);
        self.bank.read_address.next = self.address.val();
        self.row.next = self.bank.read_data.val();
        // masks of the word that is being read
        self.passed_mask.cum.next = self.cum.val();
        self.passed_mask.word.next = self.word.val();
        self.passed_mask.below.next = self.advance.val();
        self.from_mask.cum.next = self.cum.val();
        self.from_mask.word.next = self.word.val();
        self.from_mask.below.next = self.gap_from.val();
        self.below_mask.cum.next = self.cum.val();
        self.below_mask.word.next = self.word.val();
        self.below_mask.below.next = self.gap_below.val();
        self.passed.d.next = self.passed_mask.mask.val();
        self.gap.d.next = self.below_mask.mask.val() & !self.from_mask.mask.val();
        self.refused_mask.d.next = 0.into();
        if self.refuses.val() & (self.refused.val().get_bits::<2>(6) == self.word.val()) {
            self.refused_mask.d.next = self.one.val() << self.refused.val().get_bits::<6>(0);
        }
        self.address1.d.next = self.address.val();
        self.address2.d.next = self.address1.q.val();
        // the new word
        self.step.op.next = self.op.val();
        self.step.word.next = self.bank.read_data.val();
        self.step.sav.next = self.sav.val();
        self.step.passed.next = self.passed.q.val();
        self.step.gap.next = self.gap.q.val();
        self.step.refused.next = self.refused_mask.q.val();
        self.step.turn.next = self.turn.val();
        self.loaded.d.next = self.load.val();
        if self.load.val() {
            self.after.d.next = self.step.result.val();
            self.newly_reg.d.next = self.step.newly.val();
            self.dropped_reg.d.next = self.step.dropped.val();
            self.l1_reg.d.next = self.step.lost_l1.val();
            self.l2_reg.d.next = self.step.lost_l2.val();
        }
        // write back and count
        self.bank.write_enable.next = self.put.val() | self.loaded.q.val();
        self.bank.write_address.next = self.put_address.val();
        self.bank.write_data.next = self.put_row.val();
        self.ones_acked.x.next = self.newly_reg.q.val();
        self.ones_dropped.x.next = self.dropped_reg.q.val();
        self.ones_l1.x.next = self.l1_reg.q.val();
        self.ones_l2.x.next = self.l2_reg.q.val();
        if self.loaded.q.val() {
            self.bank.write_address.next = self.address2.q.val();
            self.bank.write_data.next = self.after.q.val();
            self.sum_acked.d.next = self.sum_acked.q.val() + bit_cast::<9, 7>(self.ones_acked.count.val());
            self.sum_dropped.d.next = self.sum_dropped.q.val() + bit_cast::<9, 7>(self.ones_dropped.count.val());
            self.sum_l1.d.next = self.sum_l1.q.val() + bit_cast::<9, 7>(self.ones_l1.count.val());
            self.sum_l2.d.next = self.sum_l2.q.val() + bit_cast::<9, 7>(self.ones_l2.count.val());
            self.any_l1_reg.d.next = self.any_l1_reg.q.val() | self.l1_reg.q.val().any();
            self.any_old_reg.d.next = self.any_old_reg.q.val() | self.after.q.val().rtx_old.any();
            self.lost1.d.next = self.after.q.val().lost.any();
            self.lost2.d.next = self.lost1.q.val();
        }
        if self.first.val() {
            self.sum_acked.d.next = 0.into();
            self.sum_dropped.d.next = 0.into();
            self.sum_l1.d.next = 0.into();
            self.sum_l2.d.next = 0.into();
            self.any_l1_reg.d.next = false;
            self.any_old_reg.d.next = false;
        }
        self.newly.next = self.newly_reg.q.val();
        self.acked.next = self.sum_acked.q.val();
        self.dropped.next = self.sum_dropped.q.val();
        self.lost_l1.next = self.sum_l1.q.val();
        self.lost_l2.next = self.sum_l2.q.val();
        self.any_l1.next = self.any_l1_reg.q.val();
        self.any_rtx_old.next = self.any_old_reg.q.val();
        self.lost_last.next = self.lost1.q.val();
        self.lost_before.next = self.lost2.q.val();
    }
}
