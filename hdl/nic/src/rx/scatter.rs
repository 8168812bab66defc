//! scatter: which pieces of a list the bytes of a packet belong to (Q4, D6), each with its key (Q3).
//! In: `start` with the packet's place in its message; piece `at` of the list, which the owner of the list shows in the same clock; key_check's
//! answer 4 clocks after `key_start`. Out: `done`, `bad` (a piece that gets bytes failed its check), the orders one after the other.
//! Guarantees: a piece that gets no bytes asks for no key; 3 clocks for such a piece, 8 for another (4 without `keys`); no step while `run` is low.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_regs::ring;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

// The literals below are these positions.
const _: () = assert!(ring::sge::ADDR.bit == 0 && ring::sge::LENGTH.bit == 64 && ring::sge::LKEY.bit == 96);

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ScatterStep {
    Idle,
    Sum,
    Cut,
    Place,
    Key,
    Keep,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Scatter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 28: the bytes of a packet go to the beginning of the piece, wherever in it they belong.
    pub fault: Signal<In, Bits<5>>,
    pub start: Signal<In, Bit>,
    pub run: Signal<In, Bit>,
    /// Place of the packet in its message, and its bytes, at least 1.
    pub offset: Signal<In, Bits<32>>,
    pub bytes: Signal<In, Bits<13>>,
    /// Pieces have keys to be checked; otherwise their addresses are bus addresses. Stable until `done`.
    pub keys: Signal<In, Bit>,
    pub at: Signal<Out, Bits<2>>,
    /// An SGE as it stands in memory; one that the list does not have is without bytes.
    pub piece: Signal<In, Bits<128>>,
    pub key_start: Signal<Out, Bit>,
    pub key_lkey: Signal<Out, Bits<32>>,
    pub key_va: Signal<Out, Bits<64>>,
    pub key_bytes: Signal<Out, Bits<32>>,
    pub key_code: Signal<In, Bits<2>>,
    pub key_addr: Signal<In, Bits<64>>,
    /// Until the next `start`, and `bad` with it.
    pub done: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    /// Orders, and the first of them.
    pub count: Signal<Out, Bits<3>>,
    pub first_addr: Signal<Out, Bits<64>>,
    /// The one that comes next; `order_taken` goes on to the one behind it.
    pub order_addr: Signal<Out, Bits<64>>,
    pub order_bytes: Signal<Out, Bits<13>>,
    pub order_last: Signal<Out, Bit>,
    pub order_taken: Signal<In, Bit>,
    step: DFF<ScatterStep>,
    done_r: DFF<Bit>,
    bad_r: DFF<Bit>,
    number: DFF<Bits<2>>,
    /// The packet in its message.
    start_at: DFF<Bits<34>>,
    stop_at: DFF<Bits<34>>,
    /// The piece in it.
    first: DFF<Bits<34>>,
    ends_at: DFF<Bits<34>>,
    addr: DFF<Bits<64>>,
    lkey: DFF<Bits<32>>,
    /// What both have in common.
    low: DFF<Bits<34>>,
    high: DFF<Bits<34>>,
    skip: DFF<Bits<32>>,
    va: DFF<Bits<64>>,
    length: DFF<Bits<13>>,
    waited: DFF<Bits<2>>,
    kept: DFF<Bits<3>>,
    left: DFF<Bits<3>>,
    head: DFF<Bits<64>>,
    addrs: [DFF<Bits<64>>; 4],
    lengths: [DFF<Bits<13>>; 4],
    where_to: Signal<Local, Bits<64>>,
    keeps: Signal<Local, Bit>,
    over: Signal<Local, Bit>,
    last_piece: Constant<Bits<2>>,
}

impl Scatter {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Scatter {
            addrs: Default::default(),
            lengths: Default::default(),
            last_piece: Constant::new((config.sges as u64 - 1).to_bits());
            clock, reset, fault, start, run, offset, bytes, keys, at, piece, key_start, key_lkey, key_va, key_bytes, key_code, key_addr, done,
            bad, count, first_addr, order_addr, order_bytes, order_last, order_taken, step, done_r, bad_r, number, start_at, stop_at,
            first, ends_at, addr, lkey, low, high, skip, va, length, waited, kept, left, head, where_to, keeps, over,
        })
    }
}

impl Logic for Scatter {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module scatter: the pieces of memory that get a packet's bytes");
        dff_setup!(
            self, clock, step, done_r, bad_r, number, start_at, stop_at, first, ends_at, addr, lkey, low, high, skip, va,
            length, waited, kept, left, head
        );
        for k in 0..4 {
            self.addrs[k].clock.next = self.clock.val();
            self.addrs[k].d.next = self.addrs[k].q.val();
            self.lengths[k].clock.next = self.clock.val();
            self.lengths[k].d.next = self.lengths[k].q.val();
        }
        self.at.next = self.number.q.val();
        self.key_start.next = false;
        self.key_lkey.next = self.lkey.q.val();
        self.key_va.next = self.va.q.val();
        self.key_bytes.next = bit_cast::<32, 13>(self.length.q.val());
        self.keeps.next = false;
        self.over.next = false;
        self.where_to.next = self.va.q.val();
        if self.keys.val() {
            self.where_to.next = self.key_addr.val();
        }
        if self.run.val() {
            match self.step.q.val() {
                ScatterStep::Idle => {}
                ScatterStep::Sum => {
                    comment!("where the piece ends in the message");
                    self.ends_at.d.next = self.first.q.val() + bit_cast::<34, 32>(self.piece.val().get_bits::<32>(64));
                    self.addr.d.next = self.piece.val().get_bits::<64>(0);
                    self.lkey.d.next = self.piece.val().get_bits::<32>(96);
                    self.step.d.next = ScatterStep::Cut;
                }
                ScatterStep::Cut => {
                    comment!("what the packet and the piece have in common");
                    self.low.d.next = self.first.q.val();
                    self.skip.d.next = 0.into();
                    if self.first.q.val() < self.start_at.q.val() {
                        self.low.d.next = self.start_at.q.val();
                        self.skip.d.next = bit_cast::<32, 34>(self.start_at.q.val() - self.first.q.val());
                    }
                    self.high.d.next = self.ends_at.q.val();
                    if self.stop_at.q.val() < self.ends_at.q.val() {
                        self.high.d.next = self.stop_at.q.val();
                    }
                    self.step.d.next = ScatterStep::Place;
                }
                ScatterStep::Place => {
                    self.va.d.next = self.addr.q.val() + bit_cast::<64, 32>(self.skip.q.val());
                    if self.fault.val() == 28 {
                        comment!("fault 28: the piece is filled from its beginning");
                        self.va.d.next = self.addr.q.val();
                    }
                    self.length.d.next = bit_cast::<13, 34>(self.high.q.val() - self.low.q.val());
                    self.waited.d.next = 0.into();
                    if self.low.q.val() < self.high.q.val() {
                        self.step.d.next = ScatterStep::Keep;
                        if self.keys.val() {
                            self.step.d.next = ScatterStep::Key;
                        }
                    } else {
                        self.over.next = true;
                    }
                }
                ScatterStep::Key => {
                    self.key_start.next = self.waited.q.val() == 0;
                    self.waited.d.next = self.waited.q.val() + 1;
                    if self.waited.q.val() == 3 {
                        self.step.d.next = ScatterStep::Keep;
                    }
                }
                ScatterStep::Keep => {
                    self.keeps.next = true;
                    self.over.next = true;
                }
            }
        }
        if self.over.val() {
            comment!("the next piece, if it can get bytes");
            self.number.d.next = self.number.q.val() + 1;
            self.first.d.next = self.ends_at.q.val();
            self.step.d.next = ScatterStep::Sum;
            if (self.number.q.val() == self.last_piece.val()) | (self.stop_at.q.val() <= self.ends_at.q.val()) {
                self.step.d.next = ScatterStep::Idle;
                self.done_r.d.next = true;
            }
        }
        if self.order_taken.val() {
            self.left.d.next = self.left.q.val() - 1;
            for k in 0..3 {
                self.addrs[k].d.next = self.addrs[k + 1].q.val();
                self.lengths[k].d.next = self.lengths[k + 1].q.val();
            }
        }
        if self.keeps.val() {
            self.bad_r.d.next = self.bad_r.q.val() | (self.keys.val() & self.key_code.val().any());
            self.kept.d.next = self.kept.q.val() + 1;
            self.left.d.next = self.left.q.val() + 1;
            if self.kept.q.val() == 0 {
                self.head.d.next = self.where_to.val();
            }
            for k in 0..4 {
                if self.kept.q.val() == k.to_bits::<3>() {
                    self.addrs[k].d.next = self.where_to.val();
                    self.lengths[k].d.next = self.length.q.val();
                }
            }
        }
        if self.start.val() {
            self.step.d.next = ScatterStep::Sum;
            self.done_r.d.next = false;
            self.bad_r.d.next = false;
            self.number.d.next = 0.into();
            self.first.d.next = 0.into();
            self.start_at.d.next = bit_cast::<34, 32>(self.offset.val());
            self.stop_at.d.next = bit_cast::<34, 32>(self.offset.val()) + bit_cast::<34, 13>(self.bytes.val());
            self.kept.d.next = 0.into();
            self.left.d.next = 0.into();
        }
        self.done.next = self.done_r.q.val();
        self.bad.next = self.bad_r.q.val();
        self.count.next = self.kept.q.val();
        self.first_addr.next = self.head.q.val();
        self.order_addr.next = self.addrs[0].q.val();
        self.order_bytes.next = self.lengths[0].q.val();
        self.order_last.next = self.left.q.val() == 1;
        if self.reset.val() {
            self.step.d.next = ScatterStep::Idle;
            self.done_r.d.next = false;
            self.bad_r.d.next = false;
            self.number.d.next = 0.into();
            self.kept.d.next = 0.into();
            self.left.d.next = 0.into();
        }
    }
}
