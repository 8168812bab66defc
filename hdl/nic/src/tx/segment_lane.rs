//! segment_lane: one of the segmenter's two queues of every connection: its messages, or its responses (D4).
//! In: `put` (an item joins its connection), the segmenter's steps of fetching a connection and of answering for the one on offer.
//! Out: the oldest item of the connection on offer, the progress in it and how many wait; whose items were stored.
//! Guarantees: items of a connection are offered in order; one that is stored is seen by the offer in the same clock.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A message or a response.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SegmentItem {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub npkts: Bits<24>,
    pub length: Bits<32>,
    /// First packet to send.
    pub start: Bits<24>,
    /// A message that came back (N2): its place is none of those that work_fetch counts. A response: ERROR_RESP (D7), which is one
    /// packet and has its code in `qp`, the peer's QPN in `start`.
    pub special: Bit,
}

/// Progress of a connection: items taken out, and the next packet of the oldest one left if a slot has looked at that.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Progress {
    pub taken: Bits<16>,
    pub begun: Bit,
    pub index: Bits<24>,
}

/// A connection with its oldest item.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Offer {
    pub conn: Bits<16>,
    pub put: Bits<16>,
    pub taken: Bits<16>,
    /// `index` is that of the item; else that is the item's start.
    pub begun: Bit,
    pub index: Bits<24>,
    /// `index` + 1, so that the end of an item is a comparison and no sum before it.
    pub following: Bits<24>,
    pub has: Bit,
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub npkts: Bits<24>,
    pub length: Bits<32>,
    pub special: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct SegmentLane {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Items may come.
    pub enable: Signal<In, Bit>,
    pub put_valid: Signal<In, Bit>,
    pub put_ready: Signal<Out, Bit>,
    pub put_conn: Signal<In, Bits<16>>,
    pub put_item: Signal<In, SegmentItem>,
    /// One clock: an item of `stored_conn` is stored. Then `runs` until `ran`: that connection is to be made runnable.
    pub stored: Signal<Out, Bit>,
    pub stored_conn: Signal<Out, Bits<16>>,
    pub runs: Signal<Out, Bit>,
    pub ran: Signal<In, Bit>,
    /// The connection that is fetched, and the clocks of that: counts are read, they are there, the ring is read, the item is there.
    pub fetch_conn: Signal<In, Bits<16>>,
    pub fetch_read: Signal<In, Bit>,
    pub fetch_row: Signal<In, Bit>,
    pub fetch_address: Signal<In, Bit>,
    pub fetch_entry: Signal<In, Bit>,
    /// A connection is on offer.
    pub held: Signal<In, Bit>,
    /// It is answered for in this clock.
    pub taking: Signal<In, Bit>,
    /// With `taking`: for this lane's item, of which a packet was sent or which leaves.
    pub advance: Signal<In, Bit>,
    pub drops: Signal<In, Bit>,
    /// With `taking`: the connection stays on offer.
    pub stays: Signal<In, Bit>,
    /// The fetched connection comes on offer.
    pub turn_over: Signal<In, Bit>,
    /// The offer is complete; the ring is not read for it in this clock.
    pub loaded: Signal<Out, Bit>,
    pub ring_free: Signal<Out, Bit>,
    pub offer: Signal<Out, Offer>,
    /// Items of the connection on offer, the oldest among them.
    pub waiting: Signal<Out, Bits<16>>,
    /// With `taking`: the item leaves.
    pub leaves: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    ring: Ram<SegmentItem>,
    /// Items ever put into a connection: written when one comes.
    counts: Ram<Bits<16>>,
    /// Written when the sequencer is done.
    progress: Ram<Progress>,
    // an item on its way into the ring
    busy: DFF<Bit>,
    is_stored: DFF<Bit>,
    to: DFF<Bits<16>>,
    entry: DFF<SegmentItem>,
    // the connection on offer, and the one behind it
    loaded_r: DFF<Bit>,
    reading: DFF<Bit>,
    offer_r: DFF<Offer>,
    behind: DFF<Offer>,
    peeked: DFF<Bit>,
    store: Signal<Local, Bit>,
    goes: Signal<Local, Bit>,
    offer_put: Signal<Local, Bits<16>>,
    behind_put: Signal<Local, Bits<16>>,
    taken_after: Signal<Local, Bits<16>>,
    index_after: Signal<Local, Bits<24>>,
    following_after: Signal<Local, Bits<24>>,
    stored_here: Signal<Local, Bit>,
    none_behind: Signal<Local, Bit>,
    ring_conn: Signal<Local, Bits<16>>,
    ring_slot: Signal<Local, Bits<16>>,
    peeking: Signal<Local, Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    slot_mask: Constant<Bits<24>>,
    slot_log2: Constant<Bits<4>>,
    last_row: Constant<Bits<24>>,
    /// An item of this lane with `special` is one packet.
    of_responses: Constant<Bit>,
    works: Constant<Bit>,
}

impl SegmentLane {
    /// `depth` items a connection, a power of two; `responses`: of what the lane is. One that does not `work` has nothing to offer.
    pub fn new(config: &BuildConfig, depth: usize, responses: bool, works: bool) -> Self {
        filled!(SegmentLane {
            ring: Ram::new(config.conns * depth),
            counts: Ram::new(config.conns),
            progress: Ram::new(config.conns),
            slot_mask: Constant::new((depth as u64 - 1).to_bits()),
            slot_log2: Constant::new(u64::from(depth.ilog2()).to_bits()),
            last_row: Constant::new((config.conns as u64 - 1).to_bits()),
            of_responses: Constant::new(responses),
            works: Constant::new(works);
            clock, reset, enable, put_valid, put_ready, put_conn, put_item, stored, stored_conn, runs, ran, fetch_conn, fetch_read,
            fetch_row, fetch_address, fetch_entry, held, taking, advance, drops, stays, turn_over, loaded, ring_free, offer, waiting,
            leaves, init_done, busy, is_stored, to, entry, loaded_r, reading, offer_r, behind, peeked, store, goes, offer_put,
            behind_put, taken_after, index_after, following_after, stored_here, none_behind, ring_conn, ring_slot, peeking, walk, ready,
        })
    }
}

impl Logic for SegmentLane {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module segment_lane: messages, or responses, of every connection");
        dff_setup!(self, clock, busy, is_stored, to, entry, loaded_r, reading, offer_r, behind, peeked, walk, ready);
        clock!(self, clock, ring, counts, progress);

        comment!("an item: read the count of its connection, store it, then the connection is to be made runnable");
        self.put_ready.next =
            self.ready.q.val() & self.enable.val() & self.works.val() & !self.busy.q.val() & !self.fetch_read.val();
        self.counts.read_address.next = bit_cast::<24, 16>(self.put_conn.val());
        if self.fetch_read.val() {
            self.counts.read_address.next = bit_cast::<24, 16>(self.fetch_conn.val());
        }
        if self.put_valid.val() & self.put_ready.val() {
            self.busy.d.next = true;
            self.is_stored.d.next = false;
            self.to.d.next = self.put_conn.val();
            self.entry.d.next = self.put_item.val();
        }
        self.store.next = self.busy.q.val() & !self.is_stored.q.val();
        if self.store.val() {
            self.is_stored.d.next = true;
        }
        self.stored.next = self.store.val();
        self.stored_conn.next = self.to.q.val();
        self.runs.next = self.busy.q.val() & self.is_stored.q.val();
        if self.ran.val() {
            self.busy.d.next = false;
        }
        self.counts.write_enable.next = self.store.val();
        self.counts.write_address.next = bit_cast::<24, 16>(self.to.q.val());
        self.counts.write_data.next = self.counts.read_data.val() + 1;
        self.ring.write_enable.next = self.store.val();
        self.ring.write_address.next = (bit_cast::<24, 16>(self.to.q.val()) << self.slot_log2.val())
            | (bit_cast::<24, 16>(self.counts.read_data.val()) & self.slot_mask.val());
        self.ring.write_data.next = self.entry.q.val();

        comment!("counts of the connections at hand, with the item stored in this clock");
        self.offer_put.next = self.offer_r.q.val().put;
        self.stored_here.next = self.store.val() & (self.offer_r.q.val().conn == self.to.q.val());
        if self.stored_here.val() {
            self.offer_put.next = self.offer_r.q.val().put + 1;
        }
        self.behind_put.next = self.behind.q.val().put;
        if self.store.val() & (self.behind.q.val().conn == self.to.q.val()) {
            self.behind_put.next = self.behind.q.val().put + 1;
        }
        self.offer_r.d.next.put = self.offer_put.val();
        self.behind.d.next.put = self.behind_put.val();
        self.offer.next = self.offer_r.q.val();
        self.offer.next.has = self.offer_r.q.val().has & self.works.val();
        self.loaded.next = self.loaded_r.q.val() | !self.works.val();
        self.waiting.next = 0.into();
        if self.works.val() {
            self.waiting.next = self.offer_r.q.val().put - self.offer_r.q.val().taken;
        }

        comment!("done: what is left of the item");
        self.index_after.next = self.offer_r.q.val().index;
        self.following_after.next = self.offer_r.q.val().following;
        self.goes.next = false;
        if self.offer_r.q.val().has & self.works.val() {
            if self.advance.val() {
                self.index_after.next = self.offer_r.q.val().following;
                self.following_after.next = self.offer_r.q.val().following + 1;
                self.goes.next = (self.offer_r.q.val().following == self.offer_r.q.val().npkts)
                    | (self.of_responses.val() & self.offer_r.q.val().special);
            }
            if self.drops.val() {
                self.goes.next = true;
            }
        }
        self.leaves.next = self.goes.val();
        self.taken_after.next = self.offer_r.q.val().taken;
        if self.goes.val() {
            self.taken_after.next = self.offer_r.q.val().taken + 1;
        }
        // offer_put - taken_after is 0, decided beside `goes`, not behind it
        self.none_behind.next = (!self.waiting.val().any() & (self.stored_here.val() == self.goes.val()))
            | ((self.waiting.val() == 1) & !self.stored_here.val() & self.goes.val());
        self.progress.write_enable.next = self.taking.val();
        self.progress.write_address.next = bit_cast::<24, 16>(self.offer_r.q.val().conn);
        self.progress.write_data.next.taken = self.taken_after.val();
        self.progress.write_data.next.begun = self.offer_r.q.val().has & !self.goes.val();
        self.progress.write_data.next.index = self.index_after.val();

        comment!("the ring is read for a reload, else for the connection being fetched, else one item ahead");
        self.ring_conn.next = self.offer_r.q.val().conn;
        self.ring_slot.next = self.offer_r.q.val().taken + 1;
        self.peeking.next = true;
        if self.fetch_address.val() {
            self.ring_conn.next = self.fetch_conn.val();
            self.ring_slot.next = self.behind.q.val().taken;
            self.peeking.next = false;
        }
        self.ring_free.next = true;
        if self.held.val() & !self.loaded.val() & !self.reading.q.val() {
            self.ring_conn.next = self.offer_r.q.val().conn;
            self.ring_slot.next = self.offer_r.q.val().taken;
            self.peeking.next = false;
            self.ring_free.next = false;
        }
        self.ring.read_address.next = (bit_cast::<24, 16>(self.ring_conn.val()) << self.slot_log2.val())
            | (bit_cast::<24, 16>(self.ring_slot.val()) & self.slot_mask.val());
        self.peeked.d.next =
            self.peeking.val() & self.held.val() & self.offer_r.q.val().has & (self.waiting.val() > 1) & !self.taking.val();

        comment!("the connection that is fetched");
        self.progress.read_address.next = bit_cast::<24, 16>(self.fetch_conn.val());
        if self.fetch_row.val() {
            self.behind.d.next.conn = self.fetch_conn.val();
            self.behind.d.next.put = self.counts.read_data.val();
            self.behind.d.next.taken = self.progress.read_data.val().taken;
            self.behind.d.next.begun = self.progress.read_data.val().begun;
            self.behind.d.next.index = self.progress.read_data.val().index;
            self.behind.d.next.following = self.progress.read_data.val().index + 1;
            self.behind.d.next.has = self.counts.read_data.val() != self.progress.read_data.val().taken;
        }
        if self.fetch_entry.val() {
            self.behind.d.next.qp = self.ring.read_data.val().qp;
            self.behind.d.next.msn = self.ring.read_data.val().msn;
            self.behind.d.next.npkts = self.ring.read_data.val().npkts;
            self.behind.d.next.length = self.ring.read_data.val().length;
            self.behind.d.next.special = self.ring.read_data.val().special;
            if !self.behind.q.val().begun {
                self.behind.d.next.index = self.ring.read_data.val().start;
                self.behind.d.next.following = self.ring.read_data.val().start + 1;
            }
        }

        comment!("reload of the offer: address, then data");
        if self.held.val() & !self.loaded_r.q.val() {
            self.reading.d.next = !self.reading.q.val();
            if self.reading.q.val() {
                self.loaded_r.d.next = true;
                self.offer_r.d.next.has = true;
                self.offer_r.d.next.qp = self.ring.read_data.val().qp;
                self.offer_r.d.next.msn = self.ring.read_data.val().msn;
                self.offer_r.d.next.npkts = self.ring.read_data.val().npkts;
                self.offer_r.d.next.length = self.ring.read_data.val().length;
                self.offer_r.d.next.special = self.ring.read_data.val().special;
                self.offer_r.d.next.index = self.ring.read_data.val().start;
                self.offer_r.d.next.following = self.ring.read_data.val().start + 1;
            }
        }

        comment!("the connection stays: its next item");
        if self.taking.val() & self.stays.val() {
            self.offer_r.d.next.taken = self.taken_after.val();
            self.offer_r.d.next.index = self.index_after.val();
            self.offer_r.d.next.following = self.following_after.val();
            if self.goes.val() | !self.offer_r.q.val().has {
                if self.none_behind.val() {
                    self.offer_r.d.next.has = false;
                } else if self.peeked.q.val() & self.goes.val() {
                    self.offer_r.d.next.qp = self.ring.read_data.val().qp;
                    self.offer_r.d.next.msn = self.ring.read_data.val().msn;
                    self.offer_r.d.next.npkts = self.ring.read_data.val().npkts;
                    self.offer_r.d.next.length = self.ring.read_data.val().length;
                    self.offer_r.d.next.special = self.ring.read_data.val().special;
                    self.offer_r.d.next.index = self.ring.read_data.val().start;
                    self.offer_r.d.next.following = self.ring.read_data.val().start + 1;
                } else {
                    self.loaded_r.d.next = false;
                    self.reading.d.next = false;
                }
            }
        }
        comment!("another one comes on offer");
        if self.turn_over.val() {
            self.loaded_r.d.next = true;
            self.offer_r.d.next = self.behind.q.val();
            self.offer_r.d.next.put = self.behind_put.val();
        }

        comment!("after reset the counts of all connections are cleared");
        if !self.ready.q.val() {
            self.counts.write_enable.next = true;
            self.counts.write_address.next = self.walk.q.val();
            self.counts.write_data.next = 0.into();
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
        self.init_done.next = self.ready.q.val();
        if self.reset.val() {
            self.busy.d.next = false;
            self.loaded_r.d.next = false;
            self.reading.d.next = false;
            self.peeked.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
