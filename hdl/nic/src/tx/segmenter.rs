//! segmenter: the messages and responses of every connection and the round of connections that may send.
//! In: `msg` (a message joins its connection, or comes back), `rsp` (a response does), `wake_a`, `wake_b`, and `done` from the sequencer. Out: `next` (a
//! runnable connection with its oldest message or response and the progress in it), `rel_conn` (a message left its connection), `out` (what became of one,
//! for `rnr`). Guarantees: messages of a connection are offered in order, responses too, and if both wait in turns, a packet each (D4); a wake, a message,
//! a response or a requeue always leads to an offer made after it; connections are offered in turn. A conn must not hold more than conn_fifo messages
//! (work_fetch sees to it), as many that came back (rnr does), and 2 `responses` responses (request_places does).
use super::filled::filled;
use super::run_list::RunList;
use super::segment_lane::{Offer, SegmentItem, SegmentLane};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Wakes held per port; one more starts a round that wakes every connection.
const WAKE_DEPTH: usize = 8;
const RELEASE_DEPTH: usize = 4;

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
    /// A response joins its connection; `rsp_error`: an ERROR_RESP with `rsp_code` (D7).
    pub rsp_valid: Signal<In, Bit>,
    pub rsp_ready: Signal<Out, Bit>,
    pub rsp_conn: Signal<In, Bits<16>>,
    pub rsp_error: Signal<In, Bit>,
    pub rsp_code: Signal<In, Bits<8>>,
    pub rsp_qp: Signal<In, Bits<16>>,
    pub rsp_msn: Signal<In, Bits<24>>,
    pub rsp_npkts: Signal<In, Bits<24>>,
    pub rsp_length: Signal<In, Bits<32>>,
    pub rsp_peer_qpn: Signal<In, Bits<24>>,
    pub wake_a_valid: Signal<In, Bit>,
    pub wake_a_conn: Signal<In, Bits<16>>,
    pub wake_b_valid: Signal<In, Bit>,
    pub wake_b_conn: Signal<In, Bits<16>>,
    pub next_valid: Signal<Out, Bit>,
    pub next_conn: Signal<Out, Bits<16>>,
    pub next_has_msg: Signal<Out, Bit>,
    /// 0 a message, 1 a response, 2 ERROR_RESP: then `next_qp` is its code, `next_index` the peer's QPN.
    pub next_kind: Signal<Out, Bits<2>>,
    /// A message and a response wait.
    pub next_both: Signal<Out, Bit>,
    pub next_qp: Signal<Out, Bits<16>>,
    pub next_msn: Signal<Out, Bits<24>>,
    pub next_npkts: Signal<Out, Bits<24>>,
    pub next_length: Signal<Out, Bits<32>>,
    /// Packets of the message already sent.
    pub next_index: Signal<Out, Bits<24>>,
    /// Another message or response waits behind this one.
    pub next_more: Signal<Out, Bit>,
    /// One clock, while `next_valid`.
    pub done_valid: Signal<In, Bit>,
    pub done_advance: Signal<In, Bit>,
    pub done_skip: Signal<In, Bit>,
    /// N1: the message leaves and keeps its progress for later.
    pub done_aside: Signal<In, Bit>,
    pub done_requeue: Signal<In, Bit>,
    /// It is the responses' turn.
    pub done_respond: Signal<In, Bit>,
    /// In the clock of `done`, of the message on offer: a packet was sent, it leaves, it is set aside, it had come back.
    pub out_sent: Signal<Out, Bit>,
    pub out_left: Signal<Out, Bit>,
    pub out_aside: Signal<Out, Bit>,
    pub out_returns: Signal<Out, Bit>,
    pub rel_conn_valid: Signal<Out, Bit>,
    pub rel_conn_ready: Signal<In, Bit>,
    pub rel_conn: Signal<Out, Bits<16>>,
    pub init_done: Signal<Out, Bit>,
    messages: SegmentLane,
    responses: SegmentLane,
    /// D4: if both wait, a response is next.
    turns: Ram<Bit>,
    runnable: RunList,
    wake_a: Fifo<Bits<16>>,
    wake_b: Fifo<Bits<16>>,
    release: Fifo<Bits<16>>,
    sweep_on: DFF<Bit>,
    sweep: DFF<Bits<16>>,
    again_valid: DFF<Bit>,
    again_conn: DFF<Bits<16>>,
    // the connection on offer
    held: DFF<Bit>,
    turn: DFF<Bit>,
    // the one behind it; an alias is the same connection again
    behind_valid: DFF<Bit>,
    behind_alias: DFF<Bit>,
    behind_turn: DFF<Bit>,
    fetch: DFF<Fetch>,
    fetch_conn: DFF<Bits<16>>,
    head: Signal<Local, Offer>,
    message: Signal<Local, Offer>,
    response: Signal<Local, Offer>,
    new_message: Signal<Local, SegmentItem>,
    new_response: Signal<Local, SegmentItem>,
    responds: Signal<Local, Bit>,
    turn_after: Signal<Local, Bit>,
    taking: Signal<Local, Bit>,
    stays: Signal<Local, Bit>,
    turn_over: Signal<Local, Bit>,
    restart: Signal<Local, Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    last_conn: Constant<Bits<16>>,
    last_row: Constant<Bits<24>>,
}

impl Segmenter {
    pub fn new(config: &BuildConfig) -> Self {
        // as many again for messages that come back
        let messages = if config.sends { 2 * config.conn_fifo } else { config.conn_fifo };
        // a request has one response, and one that failed an ERROR_RESP behind it
        let responses = if config.reads { 2 * config.responses.next_power_of_two() } else { 1 };
        filled!(Segmenter {
            messages: SegmentLane::new(config, messages, false, true),
            responses: SegmentLane::new(config, responses, true, config.reads),
            turns: Ram::new(config.conns),
            runnable: RunList::new(config.conns),
            wake_a: Fifo::new(WAKE_DEPTH),
            wake_b: Fifo::new(WAKE_DEPTH),
            release: Fifo::new(RELEASE_DEPTH),
            last_conn: Constant::new((config.conns as u64 - 1).to_bits()),
            last_row: Constant::new((config.conns as u64 - 1).to_bits());
            clock, reset, msg_valid, msg_ready, msg_conn, msg_qp, msg_msn, msg_npkts, msg_length, msg_index, msg_returns, rsp_valid,
            rsp_ready, rsp_conn, rsp_error, rsp_code, rsp_qp, rsp_msn, rsp_npkts, rsp_length, rsp_peer_qpn, wake_a_valid,
            wake_a_conn, wake_b_valid, wake_b_conn, next_valid, next_conn, next_has_msg, next_kind, next_both, next_qp, next_msn, next_npkts,
            next_length, next_index, next_more, done_valid, done_advance, done_skip, done_aside, done_requeue, done_respond, out_sent,
            out_left, out_aside, out_returns, rel_conn_valid, rel_conn_ready, rel_conn, init_done, sweep_on, sweep, again_valid, again_conn,
            held, turn, behind_valid, behind_alias, behind_turn, fetch, fetch_conn, head, message, response, new_message, new_response,
            responds, turn_after, taking, stays, turn_over, restart, walk, ready,
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
            held,
            turn,
            behind_valid,
            behind_alias,
            behind_turn,
            fetch,
            fetch_conn,
            walk,
            ready
        );
        clock!(self, clock, messages, responses, turns, runnable, wake_a, wake_b, release);
        self.messages.reset.next = self.reset.val();
        self.responses.reset.next = self.reset.val();
        self.runnable.reset.next = self.reset.val();
        self.wake_a.reset.next = self.reset.val();
        self.wake_b.reset.next = self.reset.val();
        self.release.reset.next = self.reset.val();

        comment!("what joins a connection");
        self.messages.enable.next = self.ready.q.val() & self.runnable.init_done.val();
        self.messages.put_valid.next = self.msg_valid.val();
        self.msg_ready.next = self.messages.put_ready.val();
        self.messages.put_conn.next = self.msg_conn.val();
        self.new_message.next.qp = self.msg_qp.val();
        self.new_message.next.msn = self.msg_msn.val();
        self.new_message.next.npkts = self.msg_npkts.val();
        self.new_message.next.length = self.msg_length.val();
        self.new_message.next.start = self.msg_index.val();
        self.new_message.next.special = self.msg_returns.val();
        self.messages.put_item.next = self.new_message.val();
        self.responses.enable.next = self.ready.q.val() & self.runnable.init_done.val();
        self.responses.put_valid.next = self.rsp_valid.val();
        self.rsp_ready.next = self.responses.put_ready.val();
        self.responses.put_conn.next = self.rsp_conn.val();
        self.new_response.next.qp = self.rsp_qp.val();
        self.new_response.next.msn = self.rsp_msn.val();
        self.new_response.next.npkts = self.rsp_npkts.val();
        self.new_response.next.length = self.rsp_length.val();
        self.new_response.next.start = 0.into();
        self.new_response.next.special = self.rsp_error.val();
        if self.rsp_error.val() {
            self.new_response.next.qp = bit_cast::<16, 8>(self.rsp_code.val());
            self.new_response.next.npkts = 1.into();
            self.new_response.next.length = 0.into();
            self.new_response.next.start = self.rsp_peer_qpn.val();
        }
        self.responses.put_item.next = self.new_response.val();

        comment!("the offer; D4: in turns if both wait");
        self.message.next = self.messages.offer.val();
        self.response.next = self.responses.offer.val();
        self.responds.next = self.response.val().has & (!self.message.val().has | self.turn.q.val());
        self.head.next = self.message.val();
        self.next_kind.next = 0.into();
        if self.responds.val() {
            self.head.next = self.response.val();
            self.next_kind.next = 1.into();
            if self.response.val().special {
                self.next_kind.next = 2.into();
            }
        }
        self.next_valid.next =
            self.held.q.val() & self.messages.loaded.val() & self.responses.loaded.val() & !self.release.full.val();
        self.next_conn.next = self.head.val().conn;
        self.next_has_msg.next = self.head.val().has;
        self.next_both.next = self.message.val().has & self.response.val().has;
        self.next_qp.next = self.head.val().qp;
        self.next_msn.next = self.head.val().msn;
        self.next_npkts.next = self.head.val().npkts;
        self.next_length.next = self.head.val().length;
        self.next_index.next = self.head.val().index;
        self.next_more.next = self.head.val().has
            & ((self.messages.waiting.val() > 1)
                | (self.responses.waiting.val() > 1)
                | (self.messages.waiting.val().any() & self.responses.waiting.val().any()));

        comment!("done: of the lane whose head was on offer");
        self.taking.next = self.done_valid.val() & self.next_valid.val();
        self.messages.held.next = self.held.q.val();
        self.messages.taking.next = self.taking.val();
        self.messages.advance.next = self.done_advance.val() & !self.responds.val();
        self.messages.drops.next = (self.done_skip.val() | self.done_aside.val()) & !self.responds.val();
        self.responses.held.next = self.held.q.val();
        self.responses.taking.next = self.taking.val();
        self.responses.advance.next = self.done_advance.val() & self.responds.val();
        self.responses.drops.next = self.done_skip.val() & self.responds.val();
        self.out_sent.next = self.taking.val() & self.message.val().has & !self.responds.val() & self.done_advance.val();
        self.out_left.next = self.taking.val() & self.messages.leaves.val();
        self.out_aside.next = self.taking.val() & self.message.val().has & !self.responds.val() & self.done_aside.val();
        self.out_returns.next = self.message.val().special;
        self.release.write.next = self.taking.val() & self.messages.leaves.val() & !self.message.val().special;
        self.release.data_in.next = self.head.val().conn;
        self.release.read.next = self.rel_conn_ready.val();
        self.rel_conn_valid.next = !self.release.empty.val();
        self.rel_conn.next = self.release.data_out.val();
        self.turn_after.next = self.turn.q.val();
        if self.head.val().has & self.done_advance.val() {
            self.turn_after.next = !self.responds.val();
        }
        // a connection of which nothing is left begins afresh
        if !self.head.val().has & self.done_skip.val() {
            self.turn_after.next = false;
        }
        if self.done_respond.val() {
            self.turn_after.next = true;
        }
        self.turns.write_enable.next = self.taking.val();
        self.turns.write_address.next = bit_cast::<24, 16>(self.head.val().conn);
        self.turns.write_data.next = self.turn_after.val();
        self.turns.read_address.next = bit_cast::<24, 16>(self.fetch_conn.q.val());

        comment!("fetch the next runnable connection; one with a message or response stored meanwhile is read again");
        self.runnable.pop.next = false;
        match self.fetch.q.val() {
            Fetch::Idle => {
                if !self.runnable.empty.val() & !self.behind_valid.q.val() {
                    self.runnable.pop.next = true;
                    self.fetch_conn.d.next = self.runnable.id.val();
                    self.fetch.d.next = Fetch::Read;
                }
            }
            Fetch::Read => {
                if self.held.q.val() & (self.head.val().conn == self.fetch_conn.q.val()) {
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
                self.behind_turn.d.next = self.turns.read_data.val();
                self.fetch.d.next = Fetch::Address;
            }
            Fetch::Address => {
                if self.messages.ring_free.val() & self.responses.ring_free.val() {
                    self.fetch.d.next = Fetch::Entry;
                }
            }
            Fetch::Entry => {
                self.behind_valid.d.next = true;
                self.behind_alias.d.next = false;
                self.fetch.d.next = Fetch::Idle;
            }
            _ => {
                self.fetch.d.next = Fetch::Idle;
            }
        }
        self.messages.fetch_conn.next = self.fetch_conn.q.val();
        self.messages.fetch_read.next = self.fetch.q.val() == Fetch::Read;
        self.messages.fetch_row.next = self.fetch.q.val() == Fetch::Row;
        self.messages.fetch_address.next = self.fetch.q.val() == Fetch::Address;
        self.messages.fetch_entry.next = self.fetch.q.val() == Fetch::Entry;
        self.responses.fetch_conn.next = self.fetch_conn.q.val();
        self.responses.fetch_read.next = self.fetch.q.val() == Fetch::Read;
        self.responses.fetch_row.next = self.fetch.q.val() == Fetch::Row;
        self.responses.fetch_address.next = self.fetch.q.val() == Fetch::Address;
        self.responses.fetch_entry.next = self.fetch.q.val() == Fetch::Entry;
        self.restart.next = (self.messages.stored.val() & (self.messages.stored_conn.val() == self.fetch_conn.q.val()))
            | (self.responses.stored.val() & (self.responses.stored_conn.val() == self.fetch_conn.q.val()));
        if self.restart.val() & (self.fetch.q.val() != Fetch::Idle) {
            self.behind_valid.d.next = false;
            self.fetch.d.next = Fetch::Read;
        }

        comment!("hand over from one connection to the next");
        self.again_valid.d.next = false;
        self.again_conn.d.next = self.head.val().conn;
        // a connection that asks for another slot keeps it until the next one has been fetched
        self.stays.next =
            (self.behind_valid.q.val() & self.behind_alias.q.val()) | (self.done_requeue.val() & !self.behind_valid.q.val());
        self.messages.stays.next = self.stays.val();
        self.responses.stays.next = self.stays.val();
        if self.taking.val() {
            self.turn.d.next = self.turn_after.val();
            if self.stays.val() {
                if self.behind_valid.q.val() {
                    self.behind_valid.d.next = false;
                }
            } else {
                self.held.d.next = false;
                self.again_valid.d.next = self.done_requeue.val();
            }
        }
        self.turn_over.next = self.behind_valid.q.val() & !self.behind_alias.q.val() & (!self.held.q.val() | self.taking.val());
        self.messages.turn_over.next = self.turn_over.val();
        self.responses.turn_over.next = self.turn_over.val();
        if self.turn_over.val() {
            self.held.d.next = true;
            self.turn.d.next = self.behind_turn.q.val();
            self.behind_valid.d.next = false;
        }

        comment!("one push a clock: requeue, wakes, messages, responses, the round of all connections");
        self.messages.ran.next = false;
        self.responses.ran.next = false;
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
            } else if self.messages.runs.val() {
                self.runnable.push_id.next = self.messages.stored_conn.val();
                self.messages.ran.next = true;
            } else if self.responses.runs.val() {
                self.runnable.push_id.next = self.responses.stored_conn.val();
                self.responses.ran.next = true;
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

        comment!("after reset the turns of all connections are cleared");
        if !self.ready.q.val() {
            self.turns.write_enable.next = true;
            self.turns.write_address.next = self.walk.q.val();
            self.turns.write_data.next = false;
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_row.val() {
                self.ready.d.next = true;
            }
        }
        self.init_done.next =
            self.ready.q.val() & self.messages.init_done.val() & self.responses.init_done.val() & self.runnable.init_done.val();
        if self.reset.val() {
            self.sweep_on.d.next = false;
            self.again_valid.d.next = false;
            self.held.d.next = false;
            self.behind_valid.d.next = false;
            self.fetch.d.next = Fetch::Idle;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
