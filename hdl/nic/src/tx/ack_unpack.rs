//! ack_unpack: brings the vector of an acknowledgment to absolute positions while the step before it still runs.
//!
//! In: `ack` frames. Out: `out_*`, the same fields, the 64-bit words of the vector by PPSN mod W (the window bits of the
//! build; words beyond W are 0), and its highest bit; held until `take`. Of a vector wider than W, which A1 refuses, only that bit is of use.
//! Guarantees: order is kept; a new one is ready at most eight clocks after the one before it.
use super::filled::filled;
use super::rows::AckFields;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::LastOne64;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AckUnpack {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    pub ack: Signal<In, AckFields>,
    /// Bit i: PPSN cum + 1 + i was received.
    pub ack_sav: Signal<In, Bits<256>>,
    pub out_valid: Signal<Out, Bit>,
    pub take: Signal<In, Bit>,
    pub out: Signal<Out, AckFields>,
    pub out_word: [Signal<Out, Bits<64>>; 4],
    /// high - cum: 1 + the highest bit set, or -1 (all ones) for an empty vector.
    pub out_high: Signal<Out, Bits<10>>,
    pub out_any: Signal<Out, Bit>,
    /// Another one is ready to follow: it is on `out` one clock after `take`.
    pub behind_valid: Signal<Out, Bit>,
    pub behind_conn: Signal<Out, Bits<16>>,
    pub behind_home: Signal<Out, Bits<3>>,
    busy: DFF<Bit>,
    finished: DFF<Bit>,
    count: DFF<Bits<2>>,
    fields: DFF<AckFields>,
    /// The vector, word `count` first.
    turning: [DFF<Bits<64>>; 4],
    /// Rotated words in the order of the vector, the last one in place 3.
    done_word: [DFF<Bits<64>>; 4],
    held_valid: DFF<Bit>,
    held: DFF<AckFields>,
    held_word: [DFF<Bits<64>>; 4],
    held_high: DFF<Bits<10>>,
    held_any: DFF<Bit>,
    high: DFF<Bits<10>>,
    any: DFF<Bit>,
    last_one: LastOne64,
    shift: Signal<Local, Bits<8>>,
    first: Signal<Local, Bits<2>>,
    low_shift: Signal<Local, Bits<7>>,
    high_shift: Signal<Local, Bits<7>>,
    word: Signal<Local, Bits<64>>,
    source: Signal<Local, Bits<2>>,
    chosen: Signal<Local, Bits<64>>,
    free: Signal<Local, Bit>,
    folded: Signal<Local, Bits<64>>,
    /// Words of the window - 1.
    word_ring: Constant<Bits<2>>,
}

impl AckUnpack {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(AckUnpack {
            out_word: array_init::array_init(|_| Default::default()),
            turning: array_init::array_init(|_| Default::default()),
            done_word: array_init::array_init(|_| Default::default()),
            held_word: array_init::array_init(|_| Default::default()),
            word_ring: Constant::new((config.window_words() as u64 - 1).to_bits());
            clock, reset, ack_valid, ack_ready, ack, ack_sav, out_valid, take, out, out_high, out_any, behind_valid, behind_conn, behind_home, busy, finished, count,
            fields, held_valid, held, held_high, held_any, high, any, last_one, shift, first, low_shift, high_shift,
            word, source, chosen, free, folded,
        })
    }
}

impl Logic for AckUnpack {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ack_unpack: the vector of an acknowledgment at absolute positions");
        dff_setup!(self, clock, busy, finished, count, fields, held_valid, held, held_high, held_any, high, any);
        for w in 0..4 {
            self.turning[w].clock.next = self.clock.val();
            self.turning[w].d.next = self.turning[w].q.val();
            self.done_word[w].clock.next = self.clock.val();
            self.done_word[w].d.next = self.done_word[w].q.val();
            self.held_word[w].clock.next = self.clock.val();
            self.held_word[w].d.next = self.held_word[w].q.val();
        }
        // bit i of the vector stands for position (cum + 1 + i) mod 256
        self.shift.next = self.fields.q.val().cum.get_bits::<8>(0) + 1;
        self.first.next = self.shift.val().get_bits::<2>(6);
        self.low_shift.next = bit_cast::<7, 6>(self.shift.val().get_bits::<6>(0));
        self.high_shift.next = 64 - self.low_shift.val();
        // word `count` from the front, and the one before it (before word 0 stands word 3)
        self.word.next = (self.turning[0].q.val() << self.low_shift.val()) | (self.turning[3].q.val() >> self.high_shift.val());
        self.last_one.x.next = self.turning[0].q.val();
        self.ack_ready.next = !self.busy.q.val();
        if self.busy.q.val() & !self.finished.q.val() {
            for w in 0..3 {
                self.turning[w].d.next = self.turning[w + 1].q.val();
                self.done_word[w].d.next = self.done_word[w + 1].q.val();
            }
            self.turning[3].d.next = self.turning[0].q.val();
            self.done_word[3].d.next = self.word.val();
            if self.last_one.any.val() {
                self.any.d.next = true;
                self.high.d.next =
                    (bit_cast::<10, 2>(self.count.q.val()) << 6) + bit_cast::<10, 6>(self.last_one.index.val()) + 1;
            }
            self.count.d.next = self.count.q.val() + 1;
            self.finished.d.next = self.count.q.val() == 3;
        }
        self.source.next = 0.into();
        self.chosen.next = self.done_word[0].q.val();
        self.free.next = !self.held_valid.q.val() | self.take.val();
        if self.take.val() {
            self.held_valid.d.next = false;
        }
        if self.finished.q.val() & self.free.val() {
            self.held_valid.d.next = true;
            self.held.d.next = self.fields.q.val();
            self.held_high.d.next = self.high.q.val();
            self.held_any.d.next = self.any.q.val();
            for w in 0..4 {
                // word i of the vector's order stands at position (first + i) mod 4
                self.source.next = w.to_bits::<2>() - self.first.val();
                self.chosen.next = self.done_word[0].q.val();
                for i in 1..4 {
                    if self.source.val() == i.to_bits::<2>() {
                        self.chosen.next = self.done_word[i].q.val();
                    }
                }
                self.held_word[w].d.next = self.chosen.val();
            }
            self.busy.d.next = false;
            self.finished.d.next = false;
        }
        if self.ack_valid.val() & !self.busy.q.val() {
            self.busy.d.next = true;
            self.finished.d.next = false;
            self.count.d.next = 0.into();
            self.fields.d.next = self.ack.val();
            self.any.d.next = false;
            self.high.d.next = 0x3FF.into();
            self.turning[0].d.next = self.ack_sav.val().get_bits::<64>(0);
            self.turning[1].d.next = self.ack_sav.val().get_bits::<64>(64);
            self.turning[2].d.next = self.ack_sav.val().get_bits::<64>(128);
            self.turning[3].d.next = self.ack_sav.val().get_bits::<64>(192);
        }
        self.out_valid.next = self.held_valid.q.val();
        self.out.next = self.held.q.val();
        self.out_high.next = self.held_high.q.val();
        self.out_any.next = self.held_any.q.val();
        self.behind_valid.next = self.finished.q.val();
        self.behind_conn.next = self.fields.q.val().conn;
        self.behind_home.next = self.fields.q.val().home;
        comment!("places that are the same modulo W: at most one of them is in the window");
        for w in 0..4 {
            self.folded.next = 0.into();
            for i in 0..4 {
                if (i.to_bits::<2>() & self.word_ring.val()) == w.to_bits::<2>() {
                    self.folded.next = self.folded.val() | self.held_word[i].q.val();
                }
            }
            self.out_word[w].next = self.folded.val();
        }
        if self.reset.val() {
            self.busy.d.next = false;
            self.finished.d.next = false;
            self.held_valid.d.next = false;
        }
    }
}
