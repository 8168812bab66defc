//! segmenter: the messages of every connection and the round of connections that may send.
//! In: `msg` (a message joins its connection, or comes back), `wake_a`, `wake_b`, and `done` from the sequencer. Out: `next` (a runnable connection
//! with its oldest message and the progress in it), `rel_conn` (a message left its connection), `out` (what became of one, for `rnr`).
//! Guarantees: messages of a connection are offered in order; a wake, a message or a requeue always leads to an offer made
//! after it; connections are offered in turn. A conn must not hold more than conn_fifo messages (work_fetch sees to it), and as many
//! that came back (rnr does).
use super::filled::filled;
use super::run_list::RunList;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Wakes held per port; one more starts a round that wakes every connection.
const WAKE_DEPTH: usize = 8;
const RELEASE_DEPTH: usize = 4;

/// A message of the ring.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SegmentMsg {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub npkts: Bits<24>,
    pub length: Bits<32>,
    /// First packet to send.
    pub start: Bits<24>,
    /// It came back (N2): its place is none of those that work_fetch counts.
    pub returns: Bit,
}

/// Progress of a connection: messages taken out, and the next packet of the oldest one left if a slot has looked at that.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Progress {
    pub taken: Bits<16>,
    pub begun: Bit,
    pub index: Bits<24>,
}

/// A connection with its oldest message.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Offer {
    pub conn: Bits<16>,
    pub put: Bits<16>,
    pub taken: Bits<16>,
    /// `index` is that of the message; else that is the message's start.
    pub begun: Bit,
    pub index: Bits<24>,
    pub returns: Bit,
    pub has: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub npkts: Bits<24>,
    pub length: Bits<32>,
}

/// Steps of fetching the next connection behind the one on offer.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Fetch {
    Idle,
    Read,
    Row,
    Address,
    Entry,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Segmenter {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub msg_valid: Signal<In, Bit>,
    pub msg_ready: Signal<Out, Bit>,
    pub msg_conn: Signal<In, Bits<16>>,
    pub msg_qp: Signal<In, Bits<16>>,
    pub msg_msn: Signal<In, Bits<24>>,
    pub msg_npkts: Signal<In, Bits<24>>,
    pub msg_length: Signal<In, Bits<32>>,
    /// First packet to send.
    pub msg_index: Signal<In, Bits<24>>,
    /// It comes back: no rel_conn when it leaves.
    pub msg_returns: Signal<In, Bit>,
    pub wake_a_valid: Signal<In, Bit>,
    pub wake_a_conn: Signal<In, Bits<16>>,
    pub wake_b_valid: Signal<In, Bit>,
    pub wake_b_conn: Signal<In, Bits<16>>,
    pub next_valid: Signal<Out, Bit>,
    pub next_conn: Signal<Out, Bits<16>>,
    pub next_has_msg: Signal<Out, Bit>,
    pub next_qp: Signal<Out, Bits<16>>,
    pub next_msn: Signal<Out, Bits<24>>,
    pub next_npkts: Signal<Out, Bits<24>>,
    pub next_length: Signal<Out, Bits<32>>,
    /// Packets of the message already sent.
    pub next_index: Signal<Out, Bits<24>>,
    /// Another message waits behind this one.
    pub next_more: Signal<Out, Bit>,
    /// One clock, while `next_valid`.
    pub done_valid: Signal<In, Bit>,
    pub done_advance: Signal<In, Bit>,
    pub done_skip: Signal<In, Bit>,
    /// N1: the message leaves and keeps its progress for later.
    pub done_aside: Signal<In, Bit>,
    pub done_requeue: Signal<In, Bit>,
    /// In the clock of `done`, of the message on offer: a packet was sent, it leaves, it is set aside, it had come back.
    pub out_sent: Signal<Out, Bit>,
    pub out_left: Signal<Out, Bit>,
    pub out_aside: Signal<Out, Bit>,
    pub out_returns: Signal<Out, Bit>,
    pub rel_conn_valid: Signal<Out, Bit>,
    pub rel_conn_ready: Signal<In, Bit>,
    pub rel_conn: Signal<Out, Bits<16>>,
    pub init_done: Signal<Out, Bit>,
    ring: Ram<SegmentMsg>,
    /// Messages ever put into a connection: written when a message comes.
    put: Ram<Bits<16>>,
    /// Written when the sequencer is done.
    progress: Ram<Progress>,
    runnable: RunList,
    wake_a: Fifo<Bits<16>>,
    wake_b: Fifo<Bits<16>>,
    release: Fifo<Bits<16>>,
    sweep_on: DFF<Bit>,
    sweep: DFF<Bits<16>>,
    again_valid: DFF<Bit>,
    again_conn: DFF<Bits<16>>,
    // a message on its way into the ring
    msg_busy: DFF<Bit>,
    msg_stored: DFF<Bit>,
    msg_to: DFF<Bits<16>>,
    msg_entry: DFF<SegmentMsg>,
    msg_store: Signal<Local, Bit>,
    msg_take: Signal<Local, Bit>,
    // the connection on offer
    held: DFF<Bit>,
    loaded: DFF<Bit>,
    reading: DFF<Bit>,
    offer: DFF<Offer>,
    // the one behind it; an alias is the same connection again
    behind_valid: DFF<Bit>,
    behind_alias: DFF<Bit>,
    behind: DFF<Offer>,
    fetch: DFF<Fetch>,
    fetch_conn: DFF<Bits<16>>,
    peeked: DFF<Bit>,
    taking: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    stays: Signal<Local, Bit>,
    offer_put: Signal<Local, Bits<16>>,
    behind_put: Signal<Local, Bits<16>>,
    taken_after: Signal<Local, Bits<16>>,
    index_after: Signal<Local, Bits<24>>,
    begun_after: Signal<Local, Bit>,
    waiting: Signal<Local, Bits<16>>,
    waiting_behind: Signal<Local, Bits<16>>,
    ring_conn: Signal<Local, Bits<16>>,
    ring_slot: Signal<Local, Bits<16>>,
    peeking: Signal<Local, Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    slot_mask: Constant<Bits<24>>,
    slot_log2: Constant<Bits<4>>,
    last_conn: Constant<Bits<16>>,
    last_row: Constant<Bits<24>>,
}

impl Segmenter {
    pub fn new(config: &BuildConfig) -> Self {
        // as many again for messages that come back
        let depth = if config.sends { 2 * config.conn_fifo } else { config.conn_fifo };
        filled!(Segmenter {
            ring: Ram::new(config.conns * depth),
            put: Ram::new(config.conns),
            progress: Ram::new(config.conns),
            runnable: RunList::new(config.conns),
            wake_a: Fifo::new(WAKE_DEPTH),
            wake_b: Fifo::new(WAKE_DEPTH),
            release: Fifo::new(RELEASE_DEPTH),
            slot_mask: Constant::new((depth as u64 - 1).to_bits()),
            slot_log2: Constant::new(u64::from(depth.ilog2()).to_bits()),
            last_conn: Constant::new((config.conns as u64 - 1).to_bits()),
            last_row: Constant::new((config.conns as u64 - 1).to_bits());
            clock, reset, msg_valid, msg_ready, msg_conn, msg_qp, msg_msn, msg_npkts, msg_length, msg_index, msg_returns, wake_a_valid,
            wake_a_conn, wake_b_valid, wake_b_conn, next_valid, next_conn, next_has_msg, next_qp, next_msn, next_npkts,
            next_length, next_index, next_more, done_valid, done_advance, done_skip, done_aside, done_requeue, out_sent, out_left, out_aside, out_returns, rel_conn_valid,
            rel_conn_ready, rel_conn, init_done, sweep_on, sweep, again_valid, again_conn, msg_busy, msg_stored, msg_to,
            msg_entry, msg_store, msg_take, held, loaded, reading, offer, behind_valid, behind_alias, behind, fetch,
            fetch_conn, peeked, taking, leaves, stays, offer_put, behind_put, taken_after, index_after, begun_after, waiting,
            waiting_behind, ring_conn, ring_slot, peeking, walk, ready,
        })
    }
}

impl Logic for Segmenter {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module segmenter: messages per connection, and the round of runnable connections");
        dff_setup!(
            self,
            clock,
            sweep_on,
            sweep,
            again_valid,
            again_conn,
            msg_busy,
            msg_stored,
            msg_to,
            msg_entry,
            held,
            loaded,
            reading,
            offer,
            behind_valid,
            behind_alias,
            behind,
            fetch,
            fetch_conn,
            peeked,
            walk,
            ready
        );
        clock!(self, clock, ring, put, progress, runnable, wake_a, wake_b, release);
        self.runnable.reset.next = self.reset.val();
        self.wake_a.reset.next = self.reset.val();
        self.wake_b.reset.next = self.reset.val();
        self.release.reset.next = self.reset.val();

        comment!("a message: read the count of its connection, store it, then make the connection runnable");
        self.msg_ready.next =
            self.ready.q.val() & self.runnable.init_done.val() & !self.msg_busy.q.val() & (self.fetch.q.val() != Fetch::Read);
        self.msg_take.next = self.msg_valid.val() & self.msg_ready.val();
        self.put.read_address.next = bit_cast::<24, 16>(self.msg_conn.val());
        if self.fetch.q.val() == Fetch::Read {
            self.put.read_address.next = bit_cast::<24, 16>(self.fetch_conn.q.val());
        }
        if self.msg_take.val() {
            self.msg_busy.d.next = true;
            self.msg_stored.d.next = false;
            self.msg_to.d.next = self.msg_conn.val();
            self.msg_entry.d.next.qp = self.msg_qp.val();
            self.msg_entry.d.next.msn = self.msg_msn.val();
            self.msg_entry.d.next.npkts = self.msg_npkts.val();
            self.msg_entry.d.next.length = self.msg_length.val();
            self.msg_entry.d.next.start = self.msg_index.val();
            self.msg_entry.d.next.returns = self.msg_returns.val();
        }
        self.msg_store.next = self.msg_busy.q.val() & !self.msg_stored.q.val();
        if self.msg_store.val() {
            self.msg_stored.d.next = true;
        }
        self.put.write_enable.next = self.msg_store.val();
        self.put.write_address.next = bit_cast::<24, 16>(self.msg_to.q.val());
        self.put.write_data.next = self.put.read_data.val() + 1;
        self.ring.write_enable.next = self.msg_store.val();
        self.ring.write_address.next = (bit_cast::<24, 16>(self.msg_to.q.val()) << self.slot_log2.val())
            | (bit_cast::<24, 16>(self.put.read_data.val()) & self.slot_mask.val());
        self.ring.write_data.next = self.msg_entry.q.val();

        comment!("counts of the connections at hand, with the message stored in this clock");
        self.offer_put.next = self.offer.q.val().put;
        if self.msg_store.val() & (self.offer.q.val().conn == self.msg_to.q.val()) {
            self.offer_put.next = self.offer.q.val().put + 1;
        }
        self.behind_put.next = self.behind.q.val().put;
        if self.msg_store.val() & (self.behind.q.val().conn == self.msg_to.q.val()) {
            self.behind_put.next = self.behind.q.val().put + 1;
        }
        self.offer.d.next.put = self.offer_put.val();
        self.behind.d.next.put = self.behind_put.val();

        comment!("the offer");
        self.next_valid.next = self.held.q.val() & self.loaded.q.val() & !self.release.full.val();
        self.next_conn.next = self.offer.q.val().conn;
        self.next_has_msg.next = self.offer.q.val().has;
        self.next_qp.next = self.offer.q.val().qp;
        self.next_msn.next = self.offer.q.val().msn;
        self.next_npkts.next = self.offer.q.val().npkts;
        self.next_length.next = self.offer.q.val().length;
        self.next_index.next = self.offer.q.val().index;
        self.waiting.next = self.offer.q.val().put - self.offer.q.val().taken;
        self.next_more.next = self.offer.q.val().has & (self.waiting.val() > 1);

        comment!("done: what is left of the message");
        self.taking.next = self.done_valid.val() & self.next_valid.val();
        self.index_after.next = self.offer.q.val().index;
        self.leaves.next = false;
        if self.offer.q.val().has {
            if self.done_advance.val() {
                self.index_after.next = self.offer.q.val().index + 1;
                self.leaves.next = self.offer.q.val().index + 1 == self.offer.q.val().npkts;
            }
            if self.done_skip.val() | self.done_aside.val() {
                self.leaves.next = true;
            }
        }
        self.taken_after.next = self.offer.q.val().taken;
        if self.leaves.val() {
            self.taken_after.next = self.offer.q.val().taken + 1;
        }
        self.begun_after.next = self.offer.q.val().has & !self.leaves.val();
        self.waiting_behind.next = self.offer_put.val() - self.taken_after.val();
        self.progress.write_enable.next = self.taking.val();
        self.progress.write_address.next = bit_cast::<24, 16>(self.offer.q.val().conn);
        self.progress.write_data.next.taken = self.taken_after.val();
        self.progress.write_data.next.begun = self.begun_after.val();
        self.progress.write_data.next.index = self.index_after.val();
        self.out_sent.next = self.taking.val() & self.offer.q.val().has & self.done_advance.val();
        self.out_left.next = self.taking.val() & self.leaves.val();
        self.out_aside.next = self.taking.val() & self.offer.q.val().has & self.done_aside.val();
        self.out_returns.next = self.offer.q.val().returns;
        self.release.write.next = self.taking.val() & self.leaves.val() & !self.offer.q.val().returns;
        self.release.data_in.next = self.offer.q.val().conn;
        self.release.read.next = self.rel_conn_ready.val();
        self.rel_conn_valid.next = !self.release.empty.val();
        self.rel_conn.next = self.release.data_out.val();

        comment!("the ring is read for a reload, else for the connection being fetched, else one message ahead");
        self.ring_conn.next = self.offer.q.val().conn;
        self.ring_slot.next = self.offer.q.val().taken + 1;
        self.peeking.next = true;
        if self.fetch.q.val() == Fetch::Address {
            self.ring_conn.next = self.fetch_conn.q.val();
            self.ring_slot.next = self.behind.q.val().taken;
            self.peeking.next = false;
        }
        if self.held.q.val() & !self.loaded.q.val() & !self.reading.q.val() {
            self.ring_conn.next = self.offer.q.val().conn;
            self.ring_slot.next = self.offer.q.val().taken;
            self.peeking.next = false;
        }
        self.ring.read_address.next = (bit_cast::<24, 16>(self.ring_conn.val()) << self.slot_log2.val())
            | (bit_cast::<24, 16>(self.ring_slot.val()) & self.slot_mask.val());
        self.peeked.d.next = self.peeking.val() & self.held.q.val() & self.next_more.val() & !self.taking.val();

        comment!("fetch the next runnable connection; one with a message stored meanwhile is read again");
        self.runnable.pop.next = false;
        self.progress.read_address.next = bit_cast::<24, 16>(self.fetch_conn.q.val());
        match self.fetch.q.val() {
            Fetch::Idle => {
                if !self.runnable.empty.val() & !self.behind_valid.q.val() {
                    self.runnable.pop.next = true;
                    self.fetch_conn.d.next = self.runnable.id.val();
                    self.fetch.d.next = Fetch::Read;
                }
            }
            Fetch::Read => {
                if self.held.q.val() & (self.offer.q.val().conn == self.fetch_conn.q.val()) {
                    if !self.taking.val() {
                        self.behind_valid.d.next = true;
                        self.behind_alias.d.next = true;
                        self.fetch.d.next = Fetch::Idle;
                    }
                } else {
                    self.fetch.d.next = Fetch::Row;
                }
            }
            Fetch::Row => {
                self.behind.d.next.conn = self.fetch_conn.q.val();
                self.behind.d.next.put = self.put.read_data.val();
                self.behind.d.next.taken = self.progress.read_data.val().taken;
                self.behind.d.next.begun = self.progress.read_data.val().begun;
                self.behind.d.next.index = self.progress.read_data.val().index;
                self.behind.d.next.has = self.put.read_data.val() != self.progress.read_data.val().taken;
                self.fetch.d.next = Fetch::Address;
            }
            Fetch::Address => {
                if !(self.held.q.val() & !self.loaded.q.val() & !self.reading.q.val()) {
                    self.fetch.d.next = Fetch::Entry;
                }
            }
            Fetch::Entry => {
                self.behind.d.next.qp = self.ring.read_data.val().qp;
                self.behind.d.next.msn = self.ring.read_data.val().msn;
                self.behind.d.next.npkts = self.ring.read_data.val().npkts;
                self.behind.d.next.length = self.ring.read_data.val().length;
                self.behind.d.next.returns = self.ring.read_data.val().returns;
                if !self.behind.q.val().begun {
                    self.behind.d.next.index = self.ring.read_data.val().start;
                }
                self.behind_valid.d.next = true;
                self.behind_alias.d.next = false;
                self.fetch.d.next = Fetch::Idle;
            }
            _ => {
                self.fetch.d.next = Fetch::Idle;
            }
        }
        if self.msg_store.val() & (self.msg_to.q.val() == self.fetch_conn.q.val()) & (self.fetch.q.val() != Fetch::Idle) {
            self.behind_valid.d.next = false;
            self.fetch.d.next = Fetch::Read;
        }

        comment!("reload of the offer: address, then data");
        if self.held.q.val() & !self.loaded.q.val() {
            self.reading.d.next = !self.reading.q.val();
            if self.reading.q.val() {
                self.loaded.d.next = true;
                self.offer.d.next.has = true;
                self.offer.d.next.qp = self.ring.read_data.val().qp;
                self.offer.d.next.msn = self.ring.read_data.val().msn;
                self.offer.d.next.npkts = self.ring.read_data.val().npkts;
                self.offer.d.next.length = self.ring.read_data.val().length;
                self.offer.d.next.returns = self.ring.read_data.val().returns;
                self.offer.d.next.index = self.ring.read_data.val().start;
            }
        }

        comment!("hand over from one connection to the next");
        self.again_valid.d.next = false;
        self.again_conn.d.next = self.offer.q.val().conn;
        // a connection that asks for another slot keeps it until the next one has been fetched
        self.stays.next =
            (self.behind_valid.q.val() & self.behind_alias.q.val()) | (self.done_requeue.val() & !self.behind_valid.q.val());
        if self.taking.val() {
            if self.stays.val() {
                self.offer.d.next.taken = self.taken_after.val();
                self.offer.d.next.index = self.index_after.val();
                if self.behind_valid.q.val() {
                    self.behind_valid.d.next = false;
                }
                if self.leaves.val() | !self.offer.q.val().has {
                    if self.waiting_behind.val() == 0 {
                        self.offer.d.next.has = false;
                    } else if self.peeked.q.val() & self.leaves.val() {
                        self.offer.d.next.qp = self.ring.read_data.val().qp;
                        self.offer.d.next.msn = self.ring.read_data.val().msn;
                        self.offer.d.next.npkts = self.ring.read_data.val().npkts;
                        self.offer.d.next.length = self.ring.read_data.val().length;
                        self.offer.d.next.returns = self.ring.read_data.val().returns;
                        self.offer.d.next.index = self.ring.read_data.val().start;
                    } else {
                        self.loaded.d.next = false;
                        self.reading.d.next = false;
                    }
                }
            } else {
                self.held.d.next = false;
                self.again_valid.d.next = self.done_requeue.val();
            }
        }
        if self.behind_valid.q.val() & !self.behind_alias.q.val() & (!self.held.q.val() | self.taking.val()) {
            self.held.d.next = true;
            self.loaded.d.next = true;
            self.offer.d.next = self.behind.q.val();
            self.offer.d.next.put = self.behind_put.val();
            self.behind_valid.d.next = false;
        }

        comment!("one push a clock: requeue, wakes, messages, the round of all connections");
        self.wake_a.write.next = self.wake_a_valid.val();
        self.wake_a.data_in.next = self.wake_a_conn.val();
        self.wake_b.write.next = self.wake_b_valid.val();
        self.wake_b.data_in.next = self.wake_b_conn.val();
        self.wake_a.read.next = false;
        self.wake_b.read.next = false;
        self.runnable.push_valid.next = true;
        self.runnable.push_id.next = self.again_conn.q.val();
        if !self.again_valid.q.val() {
            if !self.wake_a.empty.val() {
                self.runnable.push_id.next = self.wake_a.data_out.val();
                self.wake_a.read.next = true;
            } else if !self.wake_b.empty.val() {
                self.runnable.push_id.next = self.wake_b.data_out.val();
                self.wake_b.read.next = true;
            } else if self.msg_busy.q.val() & self.msg_stored.q.val() {
                self.runnable.push_id.next = self.msg_to.q.val();
                self.msg_busy.d.next = false;
            } else if self.sweep_on.q.val() {
                self.runnable.push_id.next = self.sweep.q.val();
                self.sweep.d.next = self.sweep.q.val() + 1;
                if self.sweep.q.val() == self.last_conn.val() {
                    self.sweep_on.d.next = false;
                }
            } else {
                self.runnable.push_valid.next = false;
            }
        }
        comment!("a wake that finds no room is replaced by waking every connection");
        if (self.wake_a_valid.val() & self.wake_a.full.val()) | (self.wake_b_valid.val() & self.wake_b.full.val()) {
            self.sweep_on.d.next = true;
            self.sweep.d.next = 0.into();
        }

        comment!("after reset the counts of all connections are cleared");
        if !self.ready.q.val() {
            self.put.write_enable.next = true;
            self.put.write_address.next = self.walk.q.val();
            self.put.write_data.next = 0.into();
            self.progress.write_enable.next = true;
            self.progress.write_address.next = self.walk.q.val();
            self.progress.write_data.next.taken = 0.into();
            self.progress.write_data.next.begun = false;
            self.progress.write_data.next.index = 0.into();
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_row.val() {
                self.ready.d.next = true;
            }
        }
        self.init_done.next = self.ready.q.val() & self.runnable.init_done.val();
        if self.reset.val() {
            self.sweep_on.d.next = false;
            self.again_valid.d.next = false;
            self.msg_busy.d.next = false;
            self.held.d.next = false;
            self.loaded.d.next = false;
            self.reading.d.next = false;
            self.behind_valid.d.next = false;
            self.fetch.d.next = Fetch::Idle;
            self.peeked.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
