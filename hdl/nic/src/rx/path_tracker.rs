//! path_tracker: which packets of a path have arrived (R2 class, R5 bit set and cumulative advance).
//! In: `start` with a path row and a PPSN, then `take` for an accepted packet. Out: class, cum, high and the bits for ack_collect.
//! Guarantees: a PPSN sets its bit once; cum passes only received PPSNs; bits at and below cum are zero; logic on 64 bits a clock.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{FirstOne64, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Class of a packet (R2), as in commit records.
pub const CLASS_NEW: u64 = 0;
pub const CLASS_DUPLICATE: u64 = 1;
pub const CLASS_OUT_OF_WINDOW: u64 = 2;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum TrackerState {
    Walk,
    Idle,
    Load,
    Calc,
    Ready,
    Mask,
    Add,
    Encode,
    Store,
}

/// cum and high of a path.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct TrackerRow {
    pub cum: Bits<24>,
    pub high: Bits<24>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct PathTracker {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 2: the advance passes one missing PPSN.
    pub fault: Signal<In, Bits<5>>,
    /// Reads the row; `verdict` and `in_order` are valid from the third clock on, `cum` and `high` from the second.
    pub start: Signal<In, Bit>,
    /// With `start`, `clear`: conn * 8 + path.
    pub row: Signal<In, Bits<24>>,
    /// With `start`: of the packet; with `clear`: the first PPSN expected.
    pub ppsn: Signal<In, Bits<24>>,
    /// The packet is accepted: set its bit, advance, write back. `busy` is high from the next clock until cum and high are final;
    /// the clock after that writes the row, so the next `start` comes one clock later.
    pub take: Signal<In, Bit>,
    /// Opens the path: one clock.
    pub clear: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    pub verdict: Signal<Out, Bits<2>>,
    /// PPSN = high + 1: no gap opened or filled (R8).
    pub in_order: Signal<Out, Bit>,
    pub cum: Signal<Out, Bits<24>>,
    pub high: Signal<Out, Bits<24>>,
    /// Bit n mod W: PPSN n above cum has been received. Valid and final like cum, until the clock after the next `start`.
    pub vector: Signal<Out, Bits<256>>,
    pub init_done: Signal<Out, Bit>,
    rows: Ram<TrackerRow>,
    words: [Ram<Bits<64>>; 4],
    state: DFF<TrackerState>,
    walk: DFF<Bits<24>>,
    at: DFF<Bits<24>>,
    number: DFF<Bits<24>>,
    cum_r: DFF<Bits<24>>,
    high_r: DFF<Bits<24>>,
    word: [DFF<Bits<64>>; 4],
    offset: DFF<Bits<24>>,
    gap: DFF<Bits<24>>,
    seen: DFF<Bit>,
    /// Bits of the current word below cum, which belong to the far end of the window.
    below: DFF<Bits<64>>,
    filled_word: DFF<Bits<64>>,
    all_ones: DFF<Bit>,
    hole: FirstOne64,
    hole_bit: DFF<Bits<64>>,
    selected: Signal<Local, Bits<64>>,
    low_mask: Signal<Local, Bits<64>>,
    sum: Signal<Local, Bits<64>>,
    choice: Signal<Local, Bits<2>>,
    first: Signal<Local, Bits<24>>,
    base: Signal<Local, Bits<24>>,
    moved: Signal<Local, Bits<24>>,
    wide: Signal<Local, Bits<256>>,
    lane: Signal<Local, Bits<64>>,
    lane_shift: [Constant<Bits<16>>; 4],
    write: Signal<Local, Bit>,
    write_at: Signal<Local, Bits<24>>,
    ones: Constant<Bits<64>>,
    last_row: Constant<Bits<24>>,
    /// Words of the vector - 1; bits of an offset that is out of the window W.
    word_ring: Constant<Bits<2>>,
    far: Constant<Bits<24>>,
}

impl PathTracker {
    pub fn new(config: &BuildConfig) -> Self {
        let depth = config.path_rows();
        let words = config.window_words();
        filled!(PathTracker {
            rows: Ram::new(depth),
            words: array_init::array_init(|k| Ram::new(if k < words { depth } else { 0 })),
            word: array_init::array_init(|_| Default::default()),
            lane_shift: array_init::array_init(|k| Constant::new((64 * k as u64).to_bits())),
            ones: Constant::new(u64::MAX.to_bits()),
            last_row: Constant::new((depth as u64 - 1).to_bits()),
            word_ring: Constant::new((words as u64 - 1).to_bits()),
            far: Constant::new((0x80_0000 - config.window_bits as u64).to_bits());
            clock, reset, fault, start, row, ppsn, take, clear, busy, verdict, in_order, cum, high, vector, init_done, state,
            walk, at, number, cum_r, high_r, offset, gap, seen, below, filled_word, all_ones, hole, hole_bit, selected,
            low_mask, sum, choice, first, base, moved, wide, lane, write, write_at,
        })
    }
}

impl Logic for PathTracker {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module path_tracker: received set and cumulative point of a path (R2, R5)");
        dff_setup!(
            self,
            clock,
            state,
            walk,
            at,
            number,
            cum_r,
            high_r,
            offset,
            gap,
            seen,
            below,
            filled_word,
            all_ones,
            hole_bit
        );
        clock!(self, clock, rows);
        for k in 0..4 {
            self.words[k].clock.next = self.clock.val();
            self.word[k].clock.next = self.clock.val();
            self.word[k].d.next = self.word[k].q.val();
        }

        comment!("R2: class of the packet, from registers");
        self.verdict.next = 0.into();
        if self.offset.q.val().get_bit(23) | (!(self.offset.q.val() & self.far.val()).any() & self.seen.q.val()) {
            self.verdict.next = 1.into();
        } else if (self.offset.q.val() & self.far.val()).any() {
            self.verdict.next = 2.into();
        }
        self.in_order.next = self.gap.q.val() == 1;
        self.cum.next = self.cum_r.q.val();
        self.high.next = self.high_r.q.val();
        self.busy.next = (self.state.q.val() == TrackerState::Mask)
            | (self.state.q.val() == TrackerState::Add)
            | (self.state.q.val() == TrackerState::Encode);
        self.init_done.next = self.state.q.val() != TrackerState::Walk;

        comment!("word at the cumulative point; at first that of the packet");
        self.choice.next = self.cum_r.q.val().get_bits::<2>(6) & self.word_ring.val();
        if self.state.q.val() == TrackerState::Calc {
            self.choice.next = self.number.q.val().get_bits::<2>(6) & self.word_ring.val();
        }
        self.selected.next = self.word[0].q.val();
        for k in 1..4 {
            if self.choice.val() == k.to_bits::<2>() {
                self.selected.next = self.word[k].q.val();
            }
        }
        self.low_mask.next = !(self.ones.val() << self.cum_r.q.val().get_bits::<6>(0));
        self.sum.next = self.filled_word.q.val() + 1;
        self.first.next = self.cum_r.q.val() + 1;
        self.hole.x.next = self.hole_bit.q.val();
        comment!("start of the current word; where the cumulative point moves: its hole, or the next word");
        self.base.next = (self.cum_r.q.val() >> 6) << 6;
        self.moved.next = self.base.val() + bit_cast::<24, 6>(self.hole.index.val());
        if self.all_ones.q.val() {
            self.moved.next = self.base.val() + 64;
        }

        self.write.next = false;
        self.write_at.next = self.at.q.val();
        match self.state.q.val() {
            TrackerState::Walk => {
                self.write.next = true;
                self.write_at.next = self.walk.q.val();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = TrackerState::Idle;
                }
            }
            TrackerState::Load => {
                self.cum_r.d.next = self.rows.read_data.val().cum;
                self.high_r.d.next = self.rows.read_data.val().high;
                for k in 0..4 {
                    self.word[k].d.next = self.words[k].read_data.val();
                }
                self.state.d.next = TrackerState::Calc;
            }
            TrackerState::Calc => {
                self.offset.d.next = self.number.q.val() - self.cum_r.q.val();
                self.gap.d.next = self.number.q.val() - self.high_r.q.val();
                self.seen.d.next = self.selected.val().get_bit(self.number.q.val().get_bits::<6>(0).index());
                self.state.d.next = TrackerState::Ready;
            }
            TrackerState::Mask => {
                comment!("everything below cum counts as present, so the lowest zero is the first hole");
                self.below.d.next = self.low_mask.val();
                self.filled_word.d.next = self.selected.val() | self.low_mask.val();
                self.state.d.next = TrackerState::Add;
            }
            TrackerState::Add => {
                comment!("the carry clears the run of ones and stops in the hole");
                self.hole_bit.d.next = self.sum.val() & !self.filled_word.q.val();
                self.all_ones.d.next = self.filled_word.q.val().all();
                for k in 0..4 {
                    if self.choice.val() == k.to_bits::<2>() {
                        self.word[k].d.next = self.word[k].q.val() & (self.sum.val() | self.below.q.val());
                    }
                }
                self.state.d.next = TrackerState::Encode;
            }
            TrackerState::Encode => {
                self.cum_r.d.next = self.moved.val();
                self.state.d.next = TrackerState::Store;
                if self.all_ones.q.val() {
                    self.state.d.next = TrackerState::Mask;
                } else if (self.fault.val() == 2) & (self.moved.val() != (self.high_r.q.val() + 1)) {
                    self.cum_r.d.next = self.moved.val() + 1;
                }
            }
            TrackerState::Store => {
                self.write.next = true;
                self.state.d.next = TrackerState::Ready;
            }
            _ => {}
        }

        if self.take.val() {
            comment!("R5: set the bit, then advance; in order without a hole nothing is set");
            self.state.d.next = TrackerState::Store;
            if !self.gap.q.val().get_bit(23) {
                self.high_r.d.next = self.number.q.val();
            }
            if (self.offset.q.val() == 0) & self.in_order.val() {
                self.cum_r.d.next = self.first.val();
            } else {
                for k in 0..4 {
                    if (self.number.q.val().get_bits::<2>(6) & self.word_ring.val()) == k.to_bits::<2>() {
                        self.word[k].d.next = self.word[k].q.val() | (bits::<64>(1) << self.number.q.val().get_bits::<6>(0));
                    }
                }
                if self.offset.q.val() == 0 {
                    self.state.d.next = TrackerState::Mask;
                }
            }
        }
        if self.start.val() {
            self.at.d.next = self.row.val();
            self.number.d.next = self.ppsn.val();
            self.state.d.next = TrackerState::Load;
        }

        self.rows.read_address.next = self.row.val();
        self.rows.write_enable.next = self.write.val() | self.clear.val();
        self.rows.write_address.next = self.write_at.val();
        self.rows.write_data.next.cum = self.cum_r.q.val();
        self.rows.write_data.next.high = self.high_r.q.val();
        for k in 0..4 {
            self.words[k].read_address.next = self.row.val();
            self.words[k].write_enable.next = self.write.val() | self.clear.val();
            self.words[k].write_address.next = self.write_at.val();
            self.words[k].write_data.next = self.word[k].q.val();
        }
        if self.clear.val() {
            self.rows.write_address.next = self.row.val();
            self.rows.write_data.next.cum = self.ppsn.val();
            self.rows.write_data.next.high = self.ppsn.val() - 1;
            for k in 0..4 {
                self.words[k].write_address.next = self.row.val();
                self.words[k].write_data.next = 0.into();
            }
        }
        self.vector.next = 0.into();
        for k in 0..4 {
            self.lane.next = self.word[k].q.val();
            self.wide.next = bit_cast::<256, 64>(self.lane.val());
            self.vector.next = self.vector.val() | (self.wide.val() << self.lane_shift[k].val());
        }

        if self.reset.val() {
            self.state.d.next = TrackerState::Walk;
            self.walk.d.next = 0.into();
            self.cum_r.d.next = 0.into();
            self.high_r.d.next = 0.into();
            for k in 0..4 {
                self.word[k].d.next = 0.into();
            }
        }
    }
}
