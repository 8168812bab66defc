//! acked_words: passes the newly acknowledged packets of a step to retire, word by word in the order of PPSN.
//!
//! In: one or two pairs of words, by the window of the build (`put_*`). Out: `acked` {conn, path, PPSN of bit 0, mask}; the word of cum may come twice, first its bits from cum on.
//! Guarantees: one word a clock; empty ones are left out; `busy` until the last is taken.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckedWords {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub put_valid: Signal<In, Bit>,
    /// Words 2 and 3 (else 0 and 1).
    pub put_second: Signal<In, Bit>,
    pub put_even: Signal<In, Bits<64>>,
    pub put_odd: Signal<In, Bits<64>>,
    pub put_conn: Signal<In, Bits<16>>,
    pub put_path: Signal<In, Bits<3>>,
    /// cum before the step.
    pub put_cum: Signal<In, Bits<24>>,
    pub busy: Signal<Out, Bit>,
    pub acked_valid: Signal<Out, Bit>,
    pub acked_ready: Signal<In, Bit>,
    pub acked_conn: Signal<Out, Bits<16>>,
    pub acked_path: Signal<Out, Bits<3>>,
    pub acked_base_ppsn: Signal<Out, Bits<24>>,
    pub acked_mask: Signal<Out, Bits<64>>,
    word: [DFF<Bits<64>>; 4],
    conn: DFF<Bits<16>>,
    path: DFF<Bits<3>>,
    cum: DFF<Bits<24>>,
    left: DFF<Bits<5>>,
    place: Signal<Local, Bits<3>>,
    found: Signal<Local, Bit>,
    number: Signal<Local, Bits<2>>,
    first: Signal<Local, Bits<2>>,
    chosen: Signal<Local, Bits<64>>,
    above: Signal<Local, Bits<64>>,
    base: Signal<Local, Bits<18>>,
    entry: Signal<Local, Bits<5>>,
    ones: Constant<Bits<64>>,
    step: [Constant<Bits<2>>; 5],
    put_above: Signal<Local, Bits<64>>,
    put_first: Signal<Local, Bits<2>>,
    nth: Signal<Local, Bits<2>>,
    part: Signal<Local, Bits<64>>,
    /// Words of a path - 1, and the place behind the last of them: the word of cum below cum.
    word_ring: Constant<Bits<2>>,
    last_place: Constant<Bits<3>>,
}

impl AckedWords {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(AckedWords {
            word: array_init::array_init(|_| Default::default()),
            step: array_init::array_init(|i| Constant::new((i as u64 % 4).to_bits())),
            ones: Constant::new(u64::MAX.to_bits()),
            word_ring: Constant::new((config.window_words() as u64 - 1).to_bits()),
            last_place: Constant::new((config.window_words() as u64).to_bits());
            clock, reset, put_valid, put_second, put_even, put_odd, put_conn, put_path, put_cum, busy, acked_valid,
            acked_ready, acked_conn, acked_path, acked_base_ppsn, acked_mask, conn, path, cum, left, place, found,
            number, first, chosen, above, base, entry, put_above, put_first, nth, part,
        })
    }
}

impl Logic for AckedWords {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module acked_words: newly acknowledged words in the order of PPSN");
        dff_setup!(self, clock, conn, path, cum, left);
        for w in 0..4 {
            self.word[w].clock.next = self.clock.val();
            self.word[w].d.next = self.word[w].q.val();
        }
        // places: the word of cum from cum on, the others, the word of cum below cum
        self.place.next = 0.into();
        self.found.next = false;
        for i in 0..5 {
            if self.left.q.val().get_bit(i) & !self.found.val() {
                self.place.next = i.to_bits::<3>();
                self.found.next = true;
            }
        }
        self.first.next = self.cum.q.val().get_bits::<2>(6);
        self.number.next = (self.first.val() + self.place.val().get_bits::<2>(0)) & self.word_ring.val();
        self.chosen.next = self.word[0].q.val();
        for w in 1..4 {
            if self.number.val() == w.to_bits::<2>() {
                self.chosen.next = self.word[w].q.val();
            }
        }
        self.above.next = self.ones.val() << self.cum.q.val().get_bits::<6>(0);
        if self.place.val() == 0 {
            self.chosen.next = self.chosen.val() & self.above.val();
        }
        if self.place.val() == self.last_place.val() {
            self.chosen.next = self.chosen.val() & !self.above.val();
        }
        self.base.next = self.cum.q.val().get_bits::<18>(6) + bit_cast::<18, 3>(self.place.val());
        // both pairs of a step are in place before its first word leaves
        self.acked_valid.next = self.found.val() & !self.put_valid.val();
        self.acked_conn.next = self.conn.q.val();
        self.acked_path.next = self.path.q.val();
        self.acked_mask.next = self.chosen.val();
        self.acked_base_ppsn.next = bit_cast::<24, 18>(self.base.val()) << 6;
        self.busy.next = self.found.val();
        self.entry.next = self.left.q.val();
        if self.found.val() & self.acked_ready.val() & !self.put_valid.val() {
            self.entry.next = self.left.q.val().replace_bit(self.place.val().index(), false);
        }
        // which places of the two words that come now hold a packet
        self.put_above.next = self.ones.val() << self.put_cum.val().get_bits::<6>(0);
        self.put_first.next = self.put_cum.val().get_bits::<2>(6);
        self.nth.next = 0.into();
        self.part.next = self.put_even.val();
        if self.put_valid.val() {
            self.conn.d.next = self.put_conn.val();
            self.path.d.next = self.put_path.val();
            self.cum.d.next = self.put_cum.val();
            if self.put_second.val() {
                self.word[2].d.next = self.put_even.val();
                self.word[3].d.next = self.put_odd.val();
            } else {
                self.word[0].d.next = self.put_even.val();
                self.word[1].d.next = self.put_odd.val();
            }
            for i in 0..5 {
                self.nth.next = (self.put_first.val() + self.step[i].val()) & self.word_ring.val();
                self.part.next = self.put_even.val();
                if self.nth.val().get_bit(0) {
                    self.part.next = self.put_odd.val();
                }
                if i == 0 {
                    self.part.next = self.part.val() & self.put_above.val();
                }
                if i.to_bits::<3>() == self.last_place.val() {
                    self.part.next = self.part.val() & !self.put_above.val();
                }
                if i.to_bits::<3>() > self.last_place.val() {
                    self.part.next = 0.into();
                }
                if self.nth.val().get_bit(1) == self.put_second.val() {
                    self.entry.next = self.entry.val().replace_bit(i, self.part.val().any());
                }
            }
        }
        self.left.d.next = self.entry.val();
        if self.reset.val() {
            self.left.d.next = 0.into();
        }
    }
}
