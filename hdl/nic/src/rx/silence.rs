//! silence: which connections wait for responses, and when their peers last gave a sign of life (section 11, D8).
//! In: first packets of READs and atomics, those that are over, rows QP, signs of life. Out: of the connection that is looked at, two clocks later:
//! whether responses are awaited, and the last sign of life. Guarantees: what is awaited is counted up and down once; a queue pair that is closed or
//! opened anew awaits nothing. A message that was flushed before it was sent counts neither way.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Requests that are over and wait while a queue pair is closed: they come in every second clock at most.
const OVER_DEPTH: usize = 4;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Silence {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_conn: Signal<In, Bits<16>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// rx_core or completion has not yet applied a table write.
    pub others_busy: Signal<In, Bit>,
    /// The first packet of a READ or an atomic was granted in that tick; not in two clocks that follow one another.
    pub first_valid: Signal<In, Bit>,
    pub first_qp: Signal<In, Bits<16>>,
    pub first_now: Signal<In, Bits<32>>,
    /// One is done, or was flushed; not in two clocks that follow one another.
    pub over_valid: Signal<In, Bit>,
    pub over_qp: Signal<In, Bits<16>>,
    /// An acknowledgment with progress, or the timer that watches.
    pub life_valid: Signal<In, Bit>,
    pub life_conn: Signal<In, Bits<16>>,
    pub life_now: Signal<In, Bits<32>>,
    /// A response was accepted.
    pub heard_valid: Signal<In, Bit>,
    pub heard_conn: Signal<In, Bits<16>>,
    pub heard_now: Signal<In, Bits<32>>,
    pub now: Signal<In, Bits<32>>,
    pub look_conn: Signal<In, Bits<16>>,
    pub awaited: Signal<Out, Bit>,
    pub alive: Signal<Out, Bits<32>>,
    pub init_done: Signal<Out, Bit>,
    /// The connection of each queue pair, for both sides.
    conn_first: Ram<Bits<16>>,
    conn_over: Ram<Bits<16>>,
    /// Of a queue pair: requests sent, for both sides; those that are over.
    sent: Ram<Bits<16>>,
    sent_copy: Ram<Bits<16>>,
    over: Ram<Bits<16>>,
    /// Of a connection: the same, each with a copy for the look.
    sent_conn: Ram<Bits<16>>,
    sent_look: Ram<Bits<16>>,
    over_conn: Ram<Bits<16>>,
    over_look: Ram<Bits<16>>,
    /// Signs of life: of the sender's steps, of the receiver's.
    life: Ram<Bits<32>>,
    heard: Ram<Bits<32>>,
    waiting: Fifo<Bits<16>>,
    walking: DFF<Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    held: DFF<Bit>,
    held_qp: DFF<Bits<16>>,
    held_conn: DFF<Bits<16>>,
    closing: DFF<Bits<2>>,
    left: DFF<Bits<16>>,
    first_1: DFF<Bit>,
    first_2: DFF<Bit>,
    first_q: DFF<Bits<16>>,
    first_n: DFF<Bits<32>>,
    first_c: DFF<Bits<16>>,
    over_1: DFF<Bit>,
    over_2: DFF<Bit>,
    over_q: DFF<Bits<16>>,
    over_c: DFF<Bits<16>>,
    awaited_r: DFF<Bit>,
    alive_r: DFF<Bits<32>>,
    pops: Signal<Local, Bit>,
    since_life: Signal<Local, Bits<32>>,
    since_heard: Signal<Local, Bits<32>>,
    last_walk: Constant<Bits<24>>,
}

impl Silence {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.qps.max(config.conns);
        filled!(Silence {
            conn_first: Ram::new(config.qps),
            conn_over: Ram::new(config.qps),
            sent: Ram::new(config.qps),
            sent_copy: Ram::new(config.qps),
            over: Ram::new(config.qps),
            sent_conn: Ram::new(config.conns),
            sent_look: Ram::new(config.conns),
            over_conn: Ram::new(config.conns),
            over_look: Ram::new(config.conns),
            life: Ram::new(config.conns),
            heard: Ram::new(config.conns),
            waiting: Fifo::new(OVER_DEPTH),
            last_walk: Constant::new((rows as u64 - 1).to_bits());
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_conn, cfg_busy, others_busy, first_valid, first_qp, first_now, over_valid,
            over_qp, life_valid, life_conn, life_now, heard_valid, heard_conn, heard_now, now, look_conn, awaited, alive, init_done, walking,
            walk, ready, held, held_qp, held_conn, closing, left, first_1, first_2, first_q, first_n, first_c, over_1, over_2, over_q,
            over_c, awaited_r, alive_r, pops, since_life, since_heard,
        })
    }
}

impl Logic for Silence {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module silence: connections that wait for responses, and signs of life of their peers");
        dff_setup!(
            self, clock, walking, walk, ready, held, held_qp, held_conn, closing, left, first_1, first_2, first_q, first_n,
            first_c, over_1, over_2, over_q, over_c, awaited_r, alive_r
        );
        clock!(
            self, clock, conn_first, conn_over, sent, sent_copy, over, sent_conn, sent_look, over_conn, over_look, life, heard,
            waiting
        );
        self.waiting.reset.next = self.reset.val();
        self.init_done.next = self.ready.q.val() & !self.walking.q.val();

        comment!("the first packet of a request: counted for its queue pair one clock later, for the connection two");
        self.sent.read_address.next = bit_cast::<24, 16>(self.first_qp.val());
        self.conn_first.read_address.next = bit_cast::<24, 16>(self.first_qp.val());
        self.first_1.d.next = self.first_valid.val();
        self.first_q.d.next = self.first_qp.val();
        self.first_n.d.next = self.first_now.val();
        self.sent.write_enable.next = self.first_1.q.val();
        self.sent.write_address.next = bit_cast::<24, 16>(self.first_q.q.val());
        self.sent.write_data.next = self.sent.read_data.val() + 1;
        self.sent_conn.read_address.next = bit_cast::<24, 16>(self.conn_first.read_data.val());
        self.first_2.d.next = self.first_1.q.val();
        self.first_c.d.next = self.conn_first.read_data.val();
        self.sent_conn.write_enable.next = self.first_2.q.val();
        self.sent_conn.write_address.next = bit_cast::<24, 16>(self.first_c.q.val());
        self.sent_conn.write_data.next = self.sent_conn.read_data.val() + 1;

        comment!(
            "signs of life; a step of the sender never ends in the clock in which a request of the step before is counted"
        );
        self.life.write_enable.next = self.life_valid.val() | self.first_1.q.val();
        self.life.write_address.next = bit_cast::<24, 16>(self.life_conn.val());
        self.life.write_data.next = self.life_now.val();
        if !self.life_valid.val() {
            self.life.write_address.next = bit_cast::<24, 16>(self.conn_first.read_data.val());
            self.life.write_data.next = self.first_n.q.val();
        }
        self.heard.write_enable.next = self.heard_valid.val();
        self.heard.write_address.next = bit_cast::<24, 16>(self.heard_conn.val());
        self.heard.write_data.next = self.heard_now.val();

        comment!("a request is over: it counts if it was sent");
        self.waiting.write.next = self.over_valid.val();
        self.waiting.data_in.next = self.over_qp.val();
        self.pops.next = !self.waiting.empty.val() & !self.over_1.q.val() & !self.closing.q.val().any();
        self.waiting.read.next = self.pops.val();
        self.over_1.d.next = self.pops.val();
        self.over_q.d.next = self.waiting.data_out.val();
        self.over.read_address.next = bit_cast::<24, 16>(self.waiting.data_out.val());
        self.sent_copy.read_address.next = bit_cast::<24, 16>(self.waiting.data_out.val());
        self.conn_over.read_address.next = bit_cast::<24, 16>(self.waiting.data_out.val());
        self.over_2.d.next = self.over_1.q.val() & (self.sent_copy.read_data.val() != self.over.read_data.val());
        self.over.write_enable.next = self.over_2.d.val();
        self.over.write_address.next = bit_cast::<24, 16>(self.over_q.q.val());
        self.over.write_data.next = self.over.read_data.val() + 1;
        self.over_conn.read_address.next = bit_cast::<24, 16>(self.conn_over.read_data.val());
        self.over_c.d.next = self.conn_over.read_data.val();
        self.over_conn.write_enable.next = self.over_2.q.val();
        self.over_conn.write_address.next = bit_cast::<24, 16>(self.over_c.q.val());
        self.over_conn.write_data.next = self.over_conn.read_data.val() + 1;

        comment!("a row QP, when nobody counts for its earlier life any more: what that still awaits is over");
        if self.cfg_valid.val() & (self.cfg_table.val() == 3) {
            self.held.d.next = true;
            self.held_qp.d.next = self.cfg_index.val();
            self.held_conn.d.next = self.cfg_conn.val();
        }
        self.cfg_busy.next = self.held.q.val();
        self.conn_first.write_enable.next = false;
        self.conn_first.write_address.next = bit_cast::<24, 16>(self.held_qp.q.val());
        self.conn_first.write_data.next = self.held_conn.q.val();
        if self.held.q.val()
            & !self.others_busy.val()
            & self.waiting.empty.val()
            & !self.over_1.q.val()
            & !self.over_2.q.val()
            & !self.closing.q.val().any()
        {
            self.over.read_address.next = bit_cast::<24, 16>(self.held_qp.q.val());
            self.sent_copy.read_address.next = bit_cast::<24, 16>(self.held_qp.q.val());
            self.conn_over.read_address.next = bit_cast::<24, 16>(self.held_qp.q.val());
            self.closing.d.next = 1.into();
        }
        if self.closing.q.val() == 1 {
            self.left.d.next = self.sent_copy.read_data.val() - self.over.read_data.val();
            self.over.write_enable.next = true;
            self.over.write_address.next = bit_cast::<24, 16>(self.held_qp.q.val());
            self.over.write_data.next = self.sent_copy.read_data.val();
            self.closing.d.next = 2.into();
        }
        if self.closing.q.val() == 2 {
            self.over_conn.write_enable.next = true;
            self.over_conn.write_data.next = self.over_conn.read_data.val() + self.left.q.val();
            self.conn_first.write_enable.next = true;
            self.held.d.next = false;
            self.closing.d.next = 0.into();
        }

        comment!("the look");
        self.sent_look.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
        self.over_look.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
        self.life.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
        self.heard.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
        self.awaited_r.d.next = self.sent_look.read_data.val() != self.over_look.read_data.val();
        self.since_life.next = self.now.val() - self.life.read_data.val();
        self.since_heard.next = self.now.val() - self.heard.read_data.val();
        self.alive_r.d.next = self.life.read_data.val();
        if self.since_heard.val() < self.since_life.val() {
            self.alive_r.d.next = self.heard.read_data.val();
        }
        self.awaited.next = self.awaited_r.q.val();
        self.alive.next = self.alive_r.q.val();

        comment!("every table starts empty");
        self.ready.d.next = true;
        if !self.ready.q.val() {
            self.walking.d.next = true;
        }
        if self.walking.q.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_walk.val() {
                self.walking.d.next = false;
            }
            self.sent.write_enable.next = true;
            self.sent.write_address.next = self.walk.q.val();
            self.sent.write_data.next = 0.into();
            self.over.write_enable.next = true;
            self.over.write_address.next = self.walk.q.val();
            self.over.write_data.next = 0.into();
            self.sent_conn.write_enable.next = true;
            self.sent_conn.write_address.next = self.walk.q.val();
            self.sent_conn.write_data.next = 0.into();
            self.over_conn.write_enable.next = true;
            self.over_conn.write_address.next = self.walk.q.val();
            self.over_conn.write_data.next = 0.into();
            self.conn_first.write_enable.next = true;
            self.conn_first.write_address.next = self.walk.q.val();
            self.conn_first.write_data.next = 0.into();
            self.life.write_enable.next = true;
            self.life.write_address.next = self.walk.q.val();
            self.life.write_data.next = 0.into();
            self.heard.write_enable.next = true;
            self.heard.write_address.next = self.walk.q.val();
            self.heard.write_data.next = 0.into();
        }
        self.conn_over.write_enable.next = self.conn_first.write_enable.val();
        self.conn_over.write_address.next = self.conn_first.write_address.val();
        self.conn_over.write_data.next = self.conn_first.write_data.val();
        self.sent_copy.write_enable.next = self.sent.write_enable.val();
        self.sent_copy.write_address.next = self.sent.write_address.val();
        self.sent_copy.write_data.next = self.sent.write_data.val();
        self.sent_look.write_enable.next = self.sent_conn.write_enable.val();
        self.sent_look.write_address.next = self.sent_conn.write_address.val();
        self.sent_look.write_data.next = self.sent_conn.write_data.val();
        self.over_look.write_enable.next = self.over_conn.write_enable.val();
        self.over_look.write_address.next = self.over_conn.write_address.val();
        self.over_look.write_data.next = self.over_conn.write_data.val();
        if self.reset.val() {
            self.ready.d.next = false;
            self.walking.d.next = false;
            self.walk.d.next = 0.into();
            self.held.d.next = false;
            self.closing.d.next = 0.into();
            self.first_1.d.next = false;
            self.first_2.d.next = false;
            self.over_1.d.next = false;
            self.over_2.d.next = false;
        }
    }
}
