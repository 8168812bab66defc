//! placement_dma: puts the payload of each placed packet where its header says, and throws that of the others away.
//! In: `place` in the order of the packets, `pl` the payload buffer's stream (good packets with payload only). Out: `dw_desc`, `dw`.
//! Guarantees: exactly one packet of the buffer per `place`, none for an order with 8 bytes of its own (an atomic's new value); a descriptor
//! is taken before its data starts; one idle clock a packet. Where packets go to pieces (`sges` > 1): orders with `more` and the one behind them
//! share a packet; each is a write of its own.
//! `done_count` counts the writes whose data is visible to software (Q5 waits for it).
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::rx::spread::Spread;
use mrnic_emit::comment;
use mrnic_widgets::{ByteReverse, Fifo};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// One order of rx_core.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PlaceRow {
    pub write: Bit,
    pub own: Bit,
    pub swap: Bit,
    pub more: Bit,
    pub addr: Bits<64>,
    pub bytes: Bits<13>,
}

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum PlaceState {
    Idle,
    Describe,
    Write,
    Own,
    Discard,
    Piece,
}

/// `K` is W / 8. See the module documentation.
#[derive(LogicBlock)]
pub struct PlacementDma<const W: usize, const K: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub place_valid: Signal<In, Bit>,
    pub place_ready: Signal<Out, Bit>,
    pub place_write: Signal<In, Bit>,
    pub place_addr: Signal<In, Bits<64>>,
    pub place_bytes: Signal<In, Bits<13>>,
    /// The data is `place_data`, 8 bytes (`place_bytes` = 8). The next such order waits until this one's data has left.
    pub place_own: Signal<In, Bit>,
    pub place_data: Signal<In, Bits<64>>,
    /// The payload, 8 bytes, is a number: big-endian on the wire, little-endian in memory.
    pub place_swap: Signal<In, Bit>,
    /// Only these bytes of the packet; the next order has those behind them.
    pub place_more: Signal<In, Bit>,
    pub pl_valid: Signal<In, Bit>,
    pub pl_ready: Signal<Out, Bit>,
    pub pl_data: Signal<In, Bits<W>>,
    pub pl_last: Signal<In, Bit>,
    pub dw_desc_valid: Signal<Out, Bit>,
    pub dw_desc_ready: Signal<In, Bit>,
    pub dw_desc_addr: Signal<Out, Bits<64>>,
    pub dw_desc_len: Signal<Out, Bits<16>>,
    pub dw_valid: Signal<Out, Bit>,
    pub dw_ready: Signal<In, Bit>,
    pub dw_data: Signal<Out, Bits<W>>,
    /// Bytes of the last beat that belong to the payload.
    pub dw_keep: Signal<Out, Bits<K>>,
    pub dw_last: Signal<Out, Bit>,
    /// The data of the oldest descriptor that was not yet reported is visible to software.
    pub dw_done: Signal<In, Bit>,
    /// Modulo 2^16.
    pub done_count: Signal<Out, Bits<16>>,
    orders: Fifo<PlaceRow>,
    arriving: Signal<Local, PlaceRow>,
    state: DFF<PlaceState>,
    own: DFF<Bits<64>>,
    done: DFF<Bits<16>>,
    turn: ByteReverse<64>,
    spread: Spread<W, K>,
    /// The order is not the first one of its packet.
    inside: DFF<Bit>,
    payload: Signal<Local, Bits<W>>,
    ends: Signal<Local, Bit>,
    tail_bytes: Signal<Local, Bits<13>>,
    tail_mask: Constant<Bits<13>>,
    all_keep: Constant<Bits<K>>,
    with_lists: Constant<Bit>,
}

impl<const W: usize, const K: usize> PlacementDma<W, K> {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(PlacementDma {
            orders: Fifo::new(config.fifo.place),
            tail_mask: Constant::new((K as u64 - 1).to_bits()),
            all_keep: Constant::new(!Bits::<K>::default()),
            with_lists: Constant::new(config.sges > 1);
            clock, reset, place_valid, place_ready, place_write, place_addr, place_bytes, place_own, place_data, place_swap, place_more, pl_valid, pl_ready,
            pl_data, pl_last, dw_desc_valid, dw_desc_ready, dw_desc_addr, dw_desc_len, dw_valid, dw_ready, dw_data, dw_keep, dw_last,
            dw_done, done_count, done, arriving, state, own, turn, spread, inside, payload, ends, tail_bytes,
        })
    }
}

impl<const W: usize, const K: usize> Logic for PlacementDma<W, K> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module placement_dma: payload to its final address");
        dff_setup!(self, clock, state, own, done, inside);
        clock!(self, clock, orders, spread);
        self.orders.reset.next = self.reset.val();
        self.arriving.next.write = self.place_write.val();
        self.arriving.next.own = self.place_own.val();
        self.arriving.next.swap = self.place_swap.val();
        self.arriving.next.more = self.place_more.val() & self.with_lists.val();
        self.arriving.next.addr = self.place_addr.val();
        self.arriving.next.bytes = self.place_bytes.val();
        self.orders.data_in.next = self.arriving.val();
        self.orders.write.next = self.place_valid.val() & !self.orders.full.val();
        self.place_ready.next = !self.orders.full.val();
        if self.place_valid.val() & self.place_own.val() & !self.orders.full.val() {
            self.own.d.next = self.place_data.val();
        }
        self.orders.read.next = false;

        self.dw_desc_valid.next = self.state.q.val() == PlaceState::Describe;
        self.dw_desc_addr.next = self.orders.data_out.val().addr;
        self.dw_desc_len.next = bit_cast::<16, 13>(self.orders.data_out.val().bytes);
        self.dw_valid.next = false;
        self.turn.x.next = bit_cast::<64, W>(self.pl_data.val());
        self.payload.next = self.pl_data.val();
        if self.orders.data_out.val().swap {
            self.payload.next = bit_cast::<W, 64>(self.turn.y.val());
        }
        self.dw_data.next = self.payload.val();
        if self.orders.data_out.val().own {
            self.dw_data.next = bit_cast::<W, 64>(self.own.q.val());
        }
        self.ends.next = self.pl_last.val() | self.orders.data_out.val().own;
        self.dw_last.next = self.ends.val();
        self.dw_keep.next = self.all_keep.val();
        self.tail_bytes.next = self.orders.data_out.val().bytes & self.tail_mask.val();
        if self.ends.val() & self.tail_bytes.val().any() {
            self.dw_keep.next = !(self.all_keep.val() << self.tail_bytes.val());
        }
        self.done_count.next = self.done.q.val();
        if self.dw_done.val() {
            self.done.d.next = self.done.q.val() + 1;
        }
        self.pl_ready.next = false;
        self.spread.reset.next = self.reset.val();
        self.spread.start.next = false;
        self.spread.bytes.next = self.orders.data_out.val().bytes;
        self.spread.ends.next = !self.orders.data_out.val().more;
        self.spread.pl_valid.next = self.pl_valid.val() & (self.state.q.val() == PlaceState::Piece);
        self.spread.pl_data.next = self.payload.val();
        self.spread.out_ready.next = self.dw_ready.val() & (self.state.q.val() == PlaceState::Piece);
        match self.state.q.val() {
            PlaceState::Idle => {
                if !self.orders.empty.val() {
                    self.state.d.next = PlaceState::Discard;
                    if self.orders.data_out.val().write {
                        self.state.d.next = PlaceState::Describe;
                    }
                }
            }
            PlaceState::Describe => {
                if self.dw_desc_ready.val() {
                    self.state.d.next = PlaceState::Write;
                    if self.orders.data_out.val().own {
                        self.state.d.next = PlaceState::Own;
                    } else if self.with_lists.val() & (self.orders.data_out.val().more | self.inside.q.val()) {
                        self.spread.start.next = true;
                        self.state.d.next = PlaceState::Piece;
                    }
                }
            }
            PlaceState::Write => {
                self.dw_valid.next = self.pl_valid.val();
                self.pl_ready.next = self.dw_ready.val();
                if self.pl_valid.val() & self.dw_ready.val() & self.pl_last.val() {
                    self.orders.read.next = true;
                    self.state.d.next = PlaceState::Idle;
                }
            }
            PlaceState::Own => {
                self.dw_valid.next = true;
                if self.dw_ready.val() {
                    self.orders.read.next = true;
                    self.state.d.next = PlaceState::Idle;
                }
            }
            PlaceState::Piece => {
                if self.with_lists.val() {
                    self.dw_valid.next = self.spread.out_valid.val();
                    self.dw_data.next = self.spread.out_data.val();
                    self.dw_keep.next = self.spread.out_keep.val();
                    self.dw_last.next = self.spread.out_last.val();
                    self.pl_ready.next = self.spread.pl_ready.val();
                }
                if self.with_lists.val() & self.spread.out_valid.val() & self.spread.out_last.val() & self.dw_ready.val() {
                    self.orders.read.next = true;
                    self.inside.d.next = self.orders.data_out.val().more;
                    self.state.d.next = PlaceState::Idle;
                }
            }
            PlaceState::Discard => {
                self.pl_ready.next = true;
                if self.pl_valid.val() & self.pl_last.val() {
                    self.orders.read.next = true;
                    self.state.d.next = PlaceState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = PlaceState::Idle;
            self.done.d.next = 0.into();
            self.inside.d.next = false;
        }
    }
}
