//! spread: the payload of one packet, cut into the pieces of memory that it goes to: gather the other way round.
//! In: `start` with the bytes of the next piece, when the one before has left; beats of the packet. Out: beats of the piece from bit 0 on, `keep` and
//! `last`. Guarantees: a beat a clock in a piece; exactly the beats of the packet are taken; what is behind a piece's end is anything.
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// `K` is W / 8. See the module documentation.
#[derive(LogicBlock)]
pub struct Spread<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    /// At least 1.
    pub bytes: Signal<In, Bits<13>>,
    /// It is the last one of its packet.
    pub ends: Signal<In, Bit>,
    pub pl_valid: Signal<In, Bit>,
    pub pl_ready: Signal<Out, Bit>,
    pub pl_data: Signal<In, Bits<W>>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pub out_keep: Signal<Out, Bits<K>>,
    pub out_last: Signal<Out, Bit>,
    /// Bytes of the piece that have not been made.
    left: DFF<Bits<13>>,
    last_piece: DFF<Bit>,
    /// A beat of the packet.
    beat_valid: DFF<Bit>,
    beat: DFF<Bits<W>>,
    /// What is left of those before it, from bit 0 on, zeros behind it.
    rest: DFF<Bits<W>>,
    rest_bytes: DFF<Bits<8>>,
    made_valid: DFF<Bit>,
    made: DFF<Bits<W>>,
    made_bytes: DFF<Bits<8>>,
    made_last: DFF<Bit>,
    made_free: Signal<Local, Bit>,
    final_beat: Signal<Local, Bit>,
    wanted: Signal<Local, Bits<8>>,
    needs: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    used: Signal<Local, Bits<8>>,
    source: Signal<Local, Bits<W>>,
    up: Signal<Local, Bits<16>>,
    down: Signal<Local, Bits<16>>,
    width: Constant<Bits<13>>,
    width_8: Constant<Bits<8>>,
    all_keep: Constant<Bits<K>>,
}

impl<const W: usize, const K: usize> Spread<W, K> {
    pub fn new() -> Self {
        filled!(Spread {
            width: Constant::new((K as u64).to_bits()),
            width_8: Constant::new((K as u64).to_bits()),
            all_keep: Constant::new(!Bits::<K>::default());
            clock, reset, start, bytes, ends, pl_valid, pl_ready, pl_data, out_valid, out_ready, out_data, out_keep, out_last, left,
            last_piece, beat_valid, beat, rest, rest_bytes, made_valid, made, made_bytes, made_last, made_free, final_beat, wanted,
            needs, moves, used, source, up, down,
        })
    }
}

impl<const W: usize, const K: usize> Default for Spread<W, K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const W: usize, const K: usize> Logic for Spread<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module spread: packets to pieces of payload");
        dff_setup!(self, clock, left, last_piece, beat_valid, beat, rest, rest_bytes, made_valid, made, made_bytes, made_last);
        comment!("the next beat of the piece, from the rest and, if that is too little, the beat behind it");
        self.made_free.next = !self.made_valid.q.val() | self.out_ready.val();
        self.final_beat.next = self.left.q.val() <= self.width.val();
        self.wanted.next = self.width_8.val();
        if self.final_beat.val() {
            self.wanted.next = bit_cast::<8, 13>(self.left.q.val());
        }
        self.needs.next = self.rest_bytes.q.val() < self.wanted.val();
        self.moves.next = self.left.q.val().any() & self.made_free.val() & (!self.needs.val() | self.beat_valid.q.val());
        self.used.next = self.wanted.val();
        self.source.next = self.rest.q.val();
        if self.needs.val() {
            self.used.next = self.wanted.val() - self.rest_bytes.q.val();
            self.source.next = self.beat.q.val();
        }
        self.up.next = bit_cast::<16, 8>(self.rest_bytes.q.val()) << 3;
        self.down.next = bit_cast::<16, 8>(self.used.val()) << 3;
        if self.out_ready.val() {
            self.made_valid.d.next = false;
        }
        comment!("only beats that the piece needs are taken: the next one may be of another packet");
        self.pl_ready.next = self.needs.val();
        if self.beat_valid.q.val() {
            self.pl_ready.next = self.moves.val()
                & self.needs.val()
                & (self.left.q.val() > (self.width.val() + bit_cast::<13, 8>(self.rest_bytes.q.val())));
        }
        if self.moves.val() {
            self.made_valid.d.next = true;
            self.made.d.next = self.rest.q.val();
            self.made_bytes.d.next = self.wanted.val();
            self.made_last.d.next = self.final_beat.val();
            self.left.d.next = self.left.q.val() - bit_cast::<13, 8>(self.wanted.val());
            self.rest.d.next = self.source.val() >> self.down.val();
            self.rest_bytes.d.next = self.rest_bytes.q.val() - self.used.val();
            if self.needs.val() {
                self.made.d.next = self.rest.q.val() | (self.beat.q.val() << self.up.val());
                self.rest_bytes.d.next = self.width_8.val() - self.used.val();
                self.beat_valid.d.next = false;
            }
            if self.final_beat.val() & self.last_piece.q.val() {
                comment!("nothing of a packet is left for the next one");
                self.rest.d.next = 0.into();
                self.rest_bytes.d.next = 0.into();
            }
        }
        if self.pl_valid.val() & self.pl_ready.val() {
            self.beat_valid.d.next = true;
            self.beat.d.next = self.pl_data.val();
        }
        if self.start.val() {
            self.left.d.next = self.bytes.val();
            self.last_piece.d.next = self.ends.val();
        }
        self.out_valid.next = self.made_valid.q.val();
        self.out_data.next = self.made.q.val();
        self.out_last.next = self.made_last.q.val();
        self.out_keep.next = !(self.all_keep.val() << self.made_bytes.q.val());
        if self.made_bytes.q.val() == self.width_8.val() {
            self.out_keep.next = self.all_keep.val();
        }
        if self.reset.val() {
            self.left.d.next = 0.into();
            self.beat_valid.d.next = false;
            self.rest.d.next = 0.into();
            self.rest_bytes.d.next = 0.into();
            self.made_valid.d.next = false;
        }
    }
}
