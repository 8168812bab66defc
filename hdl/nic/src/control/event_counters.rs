//! event_counters: 32 counters of 32 bits in one memory.
//!
//! In: `events`, one pulse adds one; `want` with the number of a counter, held until `valid`. Out: `value`, with `valid`.
//! What came lately waits in small counters of its own; one counter after the other is visited, which adds what waits to its row. A reader's
//! counter is visited out of turn. So there is one adder of 32 bits and no choice among 32 words.
//! Guarantees: no event is lost; `value` has every event up to the clock before; at least every third clock a counter is visited in turn, so
//! that no more than 99 events wait (of 127 that there is room for). Rows are cleared in the first round after reset; until then a reader waits.
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

pub const COUNTERS: usize = 32;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct EventCounters {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One pulse adds one to the counter of that number.
    pub events: Signal<In, Bits<32>>,
    pub want: Signal<In, Bit>,
    pub want_index: Signal<In, Bits<5>>,
    pub valid: Signal<Out, Bit>,
    pub value: Signal<Out, Bits<32>>,
    rows: Ram<Bits<32>>,
    /// Events that are not yet in the rows.
    waiting: [DFF<Bits<7>>; COUNTERS],
    waiting_word: Signal<Local, Bits<7>>,
    waiting_all: Signal<Local, Bits<256>>,
    /// The next one in turn.
    turn: DFF<Bits<5>>,
    /// The rows hold nothing yet.
    first: DFF<Bit>,
    /// A row was read in the clock before: whose, for the reader, and whether it holds anything.
    visit: DFF<Bit>,
    row: DFF<Bits<5>>,
    asked: DFF<Bit>,
    fresh: DFF<Bit>,
    out_of_turn: Signal<Local, Bit>,
    look: Signal<Local, Bits<5>>,
    go: Signal<Local, Bit>,
    old: Signal<Local, Bits<32>>,
    sum: Signal<Local, Bits<32>>,
    last: Constant<Bits<5>>,
}

impl EventCounters {
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        filled!(Self {
            rows: Ram::new(COUNTERS),
            waiting: array_init::array_init(|_| Default::default()),
            last: Constant::new((COUNTERS as u64 - 1).to_bits());
            clock, reset, events, want, want_index, valid, value, waiting_word, waiting_all, turn, first, visit, row, asked, fresh,
            out_of_turn, look, go, old, sum,
        })
    }
}

impl Logic for EventCounters {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module event_counters: counters of events in one memory");
        dff_setup!(self, clock, turn, first, visit, row, asked, fresh);
        self.rows.clock.next = self.clock.val();
        comment!("whose row is read; a row that was read in the clock before is being written");
        self.out_of_turn.next = self.want.val() & !self.first.q.val() & !(self.visit.q.val() & self.asked.q.val());
        self.look.next = self.turn.q.val();
        if self.out_of_turn.val() {
            self.look.next = self.want_index.val();
        }
        self.go.next = !self.visit.q.val() | (self.look.val() != self.row.q.val());
        self.rows.read_address.next = bit_cast::<24, 5>(self.look.val());
        self.visit.d.next = self.go.val();
        self.row.d.next = self.look.val();
        self.asked.d.next = self.out_of_turn.val();
        self.fresh.d.next = self.first.q.val();
        // one whose turn comes while it is visited for the reader has had it
        if !self.out_of_turn.val() {
            self.turn.d.next = self.turn.q.val() + 1;
            if self.turn.q.val() == self.last.val() {
                self.first.d.next = false;
            }
        }
        comment!("what waits is added to it");
        self.waiting_all.next = 0.into();
        for k in 0..COUNTERS {
            self.waiting_word.next = self.waiting[k].q.val();
            self.waiting_all.next =
                self.waiting_all.val() | (bit_cast::<256, 7>(self.waiting_word.val()) << (k * 8).to_bits::<8>());
        }
        self.old.next = self.rows.read_data.val();
        if self.fresh.q.val() {
            self.old.next = 0.into();
        }
        self.sum.next = self.old.val()
            + bit_cast::<32, 7>((self.waiting_all.val() >> (bit_cast::<8, 5>(self.row.q.val()) << 3)).get_bits::<7>(0));
        self.rows.write_enable.next = self.visit.q.val();
        self.rows.write_address.next = bit_cast::<24, 5>(self.row.q.val());
        self.rows.write_data.next = self.sum.val();
        self.value.next = self.sum.val();
        self.valid.next = self.visit.q.val() & self.asked.q.val();
        for k in 0..COUNTERS {
            self.waiting[k].clock.next = self.clock.val();
            self.waiting[k].d.next = self.waiting[k].q.val();
            if self.visit.q.val() & (self.row.q.val() == k.to_bits::<5>()) {
                self.waiting[k].d.next = 0.into();
                if self.events.val().get_bit(k) {
                    self.waiting[k].d.next = 1.into();
                }
            } else if self.events.val().get_bit(k) {
                self.waiting[k].d.next = self.waiting[k].q.val() + 1;
            }
        }
        if self.reset.val() {
            self.turn.d.next = 0.into();
            self.first.d.next = true;
            self.visit.d.next = false;
            self.asked.d.next = false;
            for k in 0..COUNTERS {
                self.waiting[k].d.next = 0.into();
            }
        }
    }
}
