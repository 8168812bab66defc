//! sack_scoreboard: the words of all paths (sacked, lost, rtx_old, rtx_new), in two lanes of 64-bit words.
//!
//! In: one operation on a whole path (`step_*`: all its words, 1, 2 or 4 by the window of the build, in 2 clocks, sums valid 4 clocks after `step_start`), a search for the lowest lost
//! packet (`find_*`), the move of the packet found into a resend set (`move_*`), one look at a sacked bit (`peek_*`); never two at a time.
//! Out: sums, newly acknowledged words. Guarantees: every operation sees all earlier ones; a search takes at most 20 clocks.
use super::filled::filled;
use super::rows::WordRow;
use super::word_lane::WordLane;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::FirstOne64;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct SackScoreboard {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Path row of every operation; stable while it runs.
    pub row: Signal<In, Bits<24>>,
    /// cum before the operation; stable while it runs.
    pub cum: Signal<In, Bits<24>>,
    /// The same for the masks of a step, which need it early in the clock; stable for three clocks from step_start on.
    pub step_cum: Signal<In, Bits<8>>,
    pub step_start: Signal<In, Bit>,
    /// See `word_step`; looked at from the clock after step_start on. This and the next ten are stable for three clocks from step_start on.
    pub step_op: Signal<In, Bits<2>>,
    /// cum' - cum
    pub advance: Signal<In, Bits<9>>,
    /// L1 looks at offsets gap_from..gap_below from cum.
    pub gap_from: Signal<In, Bits<9>>,
    pub gap_below: Signal<In, Bits<9>>,
    /// L2 applies.
    pub turn: Signal<In, Bit>,
    /// N1: the packet `refused` (low bits of its PPSN) was refused for now.
    pub refuses: Signal<In, Bit>,
    pub refused: Signal<In, Bits<8>>,
    /// The vector at absolute positions (bit = PPSN mod W).
    pub sav0: Signal<In, Bits<64>>,
    pub sav1: Signal<In, Bits<64>>,
    pub sav2: Signal<In, Bits<64>>,
    pub sav3: Signal<In, Bits<64>>,
    // valid 4 clocks after step_start, until the next
    pub acked: Signal<Out, Bits<9>>,
    pub dropped: Signal<Out, Bits<9>>,
    pub lost_l1: Signal<Out, Bits<9>>,
    pub lost_l2: Signal<Out, Bits<9>>,
    pub any_l1: Signal<Out, Bit>,
    pub any_rtx_old: Signal<Out, Bit>,
    pub lost_words: Signal<Out, Bits<4>>,
    /// Newly acknowledged packets: words 0 and 1, one clock later words 2 and 3 (if W = 256).
    pub newly_valid: Signal<Out, Bit>,
    pub newly_second: Signal<Out, Bit>,
    pub newly_even: Signal<Out, Bits<64>>,
    pub newly_odd: Signal<Out, Bits<64>>,
    pub find_start: Signal<In, Bit>,
    /// Which words hold a lost packet; stable until the move is done.
    pub find_lost_words: Signal<In, Bits<4>>,
    pub find_valid: Signal<Out, Bit>,
    pub find_any: Signal<Out, Bit>,
    pub find_ppsn: Signal<Out, Bits<24>>,
    /// The packet found goes from lost to rtx_old (else rtx_new).
    pub move_start: Signal<In, Bit>,
    pub move_to_old: Signal<In, Bit>,
    /// `find_lost_words` after the move, valid with move_start.
    pub move_lost_words: Signal<Out, Bits<4>>,
    /// Is that packet sacked? The answer is valid two clocks later.
    pub peek_start: Signal<In, Bit>,
    pub peek_ppsn: Signal<In, Bits<8>>,
    pub peek_sacked: Signal<Out, Bit>,
    /// Clears a row of both lanes after reset.
    pub clear: Signal<In, Bit>,
    pub clear_address: Signal<In, Bits<24>>,
    lane: [WordLane; 2],
    first_lost: FirstOne64,
    run0: DFF<Bit>,
    run1: DFF<Bit>,
    run2: DFF<Bit>,
    find_run: DFF<Bit>,
    find_read: DFF<Bit>,
    find_look: DFF<Bit>,
    find_done: DFF<Bit>,
    find_hit: DFF<Bit>,
    find_left: DFF<Bits<5>>,
    find_place: DFF<Bits<3>>,
    find_lost: DFF<Bits<64>>,
    found: DFF<Bits<24>>,
    move_run: DFF<Bit>,
    move_row: DFF<WordRow>,
    peek_read: DFF<Bit>,
    peek_answer: DFF<Bit>,
    second: Signal<Local, Bit>,
    place: Signal<Local, Bits<3>>,
    place_found: Signal<Local, Bit>,
    word: Signal<Local, Bits<2>>,
    first_word: Signal<Local, Bits<2>>,
    nth_word: Signal<Local, Bits<2>>,
    left: Signal<Local, Bits<5>>,
    address: Signal<Local, Bits<24>>,
    odd: Signal<Local, Bit>,
    here: Signal<Local, WordRow>,
    above: Signal<Local, Bits<64>>,
    base: Signal<Local, Bits<18>>,
    moved: Signal<Local, WordRow>,
    single: Signal<Local, Bits<64>>,
    even_row: Signal<Local, WordRow>,
    odd_row: Signal<Local, WordRow>,
    nothing: Constant<WordRow>,
    ones: Constant<Bits<64>>,
    one: Constant<Bits<64>>,
    /// Words of a path - 1; there are words 2 and 3; there is word 1.
    word_ring: Constant<Bits<2>>,
    /// W - 1.
    ring: Constant<Bits<8>>,
    two_pairs: Constant<Bit>,
    pair: Constant<Bit>,
    /// The place of a search behind the last word: the word of cum below cum.
    last_place: Constant<Bits<3>>,
}

impl SackScoreboard {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(SackScoreboard {
            lane: array_init::array_init(|lane| WordLane::new(config, lane)),
            nothing: Constant::new(WordRow::default()),
            ones: Constant::new(u64::MAX.to_bits()),
            one: Constant::new(1u64.to_bits()),
            word_ring: Constant::new((config.window_words() as u64 - 1).to_bits()),
            ring: Constant::new((config.window_bits as u64 - 1).to_bits()),
            two_pairs: Constant::new(config.window_words() > 2),
            pair: Constant::new(config.window_words() > 1),
            last_place: Constant::new((config.window_words() as u64).to_bits());
            clock, reset, row, cum, step_cum, step_start, step_op, advance, gap_from, gap_below, turn, refuses, refused, sav0, sav1, sav2, sav3, acked,
            dropped, lost_l1, lost_l2, any_l1, any_rtx_old, lost_words, newly_valid, newly_second, newly_even,
            newly_odd, find_start, find_lost_words, find_valid, find_any, find_ppsn, move_start, move_to_old,
            move_lost_words, peek_start, peek_ppsn, peek_sacked, clear, clear_address, first_lost, run0, run1, run2,
            find_run, find_read, find_look, find_done, find_hit, find_left, find_place, find_lost, found, move_run,
            move_row, peek_read, peek_answer, second, place, place_found, word, first_word, nth_word, left, address, odd,
            here, above, base, moved, single, even_row, odd_row,
        })
    }
}

impl Logic for SackScoreboard {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module sack_scoreboard: the four sets of every path, in two lanes of 64-bit words");
        dff_setup!(
            self,
            clock,
            run0,
            run1,
            run2,
            find_run,
            find_read,
            find_look,
            find_done,
            find_hit,
            find_left,
            find_place,
            find_lost,
            found,
            move_run,
            move_row,
            peek_read,
            peek_answer
        );
        // Clock 0 (step_start): read words 0, 1. Clock 1 (run0): compute them, read words 2, 3. Clock 2 (run1): compute
        // those; write and count words 0, 1. Clock 3 (run2): write and count words 2, 3.
        self.run0.d.next = self.step_start.val();
        self.run1.d.next = self.run0.q.val();
        self.run2.d.next = self.run1.q.val();
        // the next place of a search: the word of cum from cum on, the others, the word of cum below cum
        self.first_word.next = self.cum.val().get_bits::<2>(6) & self.word_ring.val();
        self.place.next = 0.into();
        self.place_found.next = false;
        for i in 0..5 {
            if self.find_left.q.val().get_bit(i) & !self.place_found.val() {
                self.place.next = i.to_bits::<3>();
                self.place_found.next = true;
            }
        }
        // the word that is read now (run, peek), or that was read in the previous clock (read)
        self.word.next = self.found.q.val().get_bits::<2>(6);
        if self.find_run.q.val() {
            self.word.next = self.first_word.val() + self.place.val().get_bits::<2>(0);
        }
        if self.find_read.q.val() {
            self.word.next = self.first_word.val() + self.find_place.q.val().get_bits::<2>(0);
        }
        if self.peek_start.val() | self.peek_read.q.val() {
            self.word.next = self.peek_ppsn.val().get_bits::<2>(6);
        }
        self.word.next = self.word.val() & self.word_ring.val();
        self.odd.next = self.word.val().get_bit(0);
        self.second.next = self.word.val().get_bit(1);
        if self.step_start.val() {
            self.second.next = false;
        }
        if self.run0.q.val() {
            self.second.next = self.two_pairs.val();
        }
        self.address.next = self.row.val();
        if self.two_pairs.val() {
            self.address.next = self.row.val() << 1;
            if self.second.val() {
                self.address.next = (self.row.val() << 1) | 1;
            }
        }
        for b in 0..2 {
            self.lane[b].clock.next = self.clock.val();
            self.lane[b].address.next = self.address.val();
            // of the pass that begins; the masks are used by passes only, so looks and moves need not be waited for
            self.lane[b].word.next = b.to_bits::<2>();
            if self.run0.q.val() & self.two_pairs.val() {
                self.lane[b].word.next = b.to_bits::<2>() | 2;
            }
            self.lane[b].cum.next = self.step_cum.val();
            self.lane[b].advance.next = self.advance.val();
            self.lane[b].gap_from.next = self.gap_from.val();
            self.lane[b].gap_below.next = self.gap_below.val();
            self.lane[b].op.next = self.step_op.val();
            self.lane[b].turn.next = self.turn.val();
            self.lane[b].refuses.next = self.refuses.val();
            self.lane[b].refused.next = self.refused.val() & self.ring.val();
            self.lane[b].first.next = self.step_start.val();
            self.lane[b].load.next = self.run0.q.val() | (self.run1.q.val() & self.two_pairs.val());
            if b == 1 {
                self.lane[b].load.next = (self.run0.q.val() & self.pair.val()) | (self.run1.q.val() & self.two_pairs.val());
            }
            self.lane[b].put_address.next = self.address.val();
            self.lane[b].put_row.next = self.move_row.q.val();
            if self.clear.val() {
                self.lane[b].put_address.next = self.clear_address.val();
                self.lane[b].put_row.next = self.nothing.val();
            }
        }
        self.lane[0].sav.next = self.sav0.val();
        self.lane[1].sav.next = self.sav1.val();
        if self.run1.q.val() {
            self.lane[0].sav.next = self.sav2.val();
            self.lane[1].sav.next = self.sav3.val();
        }
        self.lane[0].put.next = self.clear.val() | (self.move_run.q.val() & !self.odd.val());
        self.lane[1].put.next = self.clear.val() | (self.move_run.q.val() & self.odd.val());
        self.even_row.next = self.lane[0].row.val();
        self.odd_row.next = self.lane[1].row.val();
        self.here.next = self.even_row.val();
        if self.odd.val() {
            self.here.next = self.odd_row.val();
        }
        comment!("sums of the step");
        self.newly_valid.next = (self.run1.q.val() | (self.run2.q.val() & self.two_pairs.val())) & (self.step_op.val() == 0);
        self.newly_second.next = self.run2.q.val();
        self.newly_even.next = self.lane[0].newly.val();
        self.newly_odd.next = self.lane[1].newly.val();
        self.acked.next = self.lane[0].acked.val() + self.lane[1].acked.val();
        self.dropped.next = self.lane[0].dropped.val() + self.lane[1].dropped.val();
        self.lost_l1.next = self.lane[0].lost_l1.val() + self.lane[1].lost_l1.val();
        self.lost_l2.next = self.lane[0].lost_l2.val() + self.lane[1].lost_l2.val();
        self.any_l1.next = self.lane[0].any_l1.val() | self.lane[1].any_l1.val();
        self.any_rtx_old.next = self.lane[0].any_rtx_old.val() | self.lane[1].any_rtx_old.val();
        self.lost_words.next = 0.into();
        self.lost_words.next = self.lost_words.val().replace_bit(0, self.lane[0].lost_last.val());
        self.lost_words.next = self.lost_words.val().replace_bit(1, self.lane[1].lost_last.val());
        if self.two_pairs.val() {
            self.lost_words.next = self.lost_words.val().replace_bit(0, self.lane[0].lost_before.val());
            self.lost_words.next = self.lost_words.val().replace_bit(1, self.lane[1].lost_before.val());
            self.lost_words.next = self.lost_words.val().replace_bit(2, self.lane[0].lost_last.val());
            self.lost_words.next = self.lost_words.val().replace_bit(3, self.lane[1].lost_last.val());
        }
        comment!("search for the lowest lost packet: run reads a word, read masks it, look finds its lowest bit");
        self.above.next = self.ones.val() << self.cum.val().get_bits::<6>(0);
        if self.find_run.q.val() {
            self.find_run.d.next = false;
            self.find_place.d.next = self.place.val();
            self.find_left.d.next = self.find_left.q.val().replace_bit(self.place.val().index(), false);
            self.find_read.d.next = self.place_found.val();
            self.find_done.d.next = !self.place_found.val();
        }
        if self.find_read.q.val() {
            self.find_read.d.next = false;
            self.find_look.d.next = true;
            self.find_lost.d.next = self.here.val().lost;
            if self.find_place.q.val() == 0 {
                self.find_lost.d.next = self.here.val().lost & self.above.val();
            }
            if self.find_place.q.val() == self.last_place.val() {
                self.find_lost.d.next = self.here.val().lost & !self.above.val();
            }
        }
        self.first_lost.x.next = self.find_lost.q.val();
        self.base.next = self.cum.val().get_bits::<18>(6) + bit_cast::<18, 3>(self.find_place.q.val());
        if self.find_look.q.val() {
            self.find_look.d.next = false;
            self.find_run.d.next = !self.first_lost.any.val();
            self.find_done.d.next = self.first_lost.any.val();
            self.find_hit.d.next = self.first_lost.any.val();
            self.found.d.next = (bit_cast::<24, 18>(self.base.val()) << 6) | bit_cast::<24, 6>(self.first_lost.index.val());
        }
        self.left.next = 0.into();
        for i in 0..4 {
            self.nth_word.next = (self.first_word.val() + i.to_bits::<2>()) & self.word_ring.val();
            self.left.next = self.left.val().replace_bit(
                i,
                self.find_lost_words.val().get_bit(self.nth_word.val().index()) & (i.to_bits::<3>() < self.last_place.val()),
            );
        }
        self.left.next = self.left.val().replace_bit(
            self.last_place.val().index(),
            self.find_lost_words.val().get_bit(self.first_word.val().index()) & self.cum.val().get_bits::<6>(0).any(),
        );
        if self.find_start.val() {
            self.find_run.d.next = true;
            self.find_done.d.next = false;
            self.find_hit.d.next = false;
            self.find_left.d.next = self.left.val();
        }
        self.find_valid.next = self.find_done.q.val();
        self.find_any.next = self.find_hit.q.val();
        self.find_ppsn.next = self.found.q.val();
        comment!("the packet found becomes a resend");
        self.single.next = self.one.val() << self.found.q.val().get_bits::<6>(0);
        self.moved.next = self.here.val();
        self.moved.next.lost = self.here.val().lost & !self.single.val();
        if self.move_to_old.val() {
            self.moved.next.rtx_old = self.here.val().rtx_old | self.single.val();
        } else {
            self.moved.next.rtx_new = self.here.val().rtx_new | self.single.val();
        }
        self.move_lost_words.next = self.find_lost_words.val();
        if !self.moved.val().lost.any() {
            self.move_lost_words.next = self.find_lost_words.val().replace_bit(self.word.val().index(), false);
        }
        self.move_run.d.next = self.move_start.val();
        self.move_row.d.next = self.moved.val();
        comment!("a look at one packet");
        self.peek_read.d.next = self.peek_start.val();
        if self.peek_read.q.val() {
            self.peek_answer.d.next =
                (self.here.val().sacked & (self.one.val() << self.peek_ppsn.val().get_bits::<6>(0))).any();
        }
        self.peek_sacked.next = self.peek_answer.q.val();
        if self.reset.val() {
            self.run0.d.next = false;
            self.run1.d.next = false;
            self.run2.d.next = false;
            self.find_run.d.next = false;
            self.find_read.d.next = false;
            self.find_look.d.next = false;
            self.find_done.d.next = false;
            self.move_run.d.next = false;
            self.peek_read.d.next = false;
        }
    }
}
