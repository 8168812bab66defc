//! retire: turns newly acknowledged words into retired packets.
//! In: `acked` (a 64-bit mask and the PPSN of its bit 0), the answers of retransmit_queue. Out: `free` requests, `ret` (one retired packet) to completion,
//! or `resp`, one of a response, to request_places; `wake_b`, and the table of retired bytes per connection (read port `rb`).
//! Guarantees: every bit set gives exactly one `ret` or `resp`, in PPSN order within a word, words in order; retired_bytes is written before the wake that follows it.
use super::filled::filled;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, FirstOne64, Ram, Skid};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A word of newly acknowledged packets.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AckedWord {
    pub conn: Bits<16>,
    pub path: Bits<3>,
    pub base_ppsn: Bits<24>,
    pub mask: Bits<64>,
}

/// A packet on its way to being retired.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RetiringPacket {
    pub conn: Bits<16>,
    pub path: Bits<3>,
    pub ppsn: Bits<24>,
    /// The connection is to be woken.
    pub wake: Bit,
}

/// A retired packet.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RetiredPacket {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub bytes: Bits<13>,
    /// 0 of a message, 1 of a response, 2 ERROR_RESP.
    pub kind: Bits<2>,
    pub conn: Bits<16>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Retire {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub acked_valid: Signal<In, Bit>,
    pub acked_ready: Signal<Out, Bit>,
    pub acked_conn: Signal<In, Bits<16>>,
    pub acked_path: Signal<In, Bits<3>>,
    /// PPSN of bit 0 of the mask.
    pub acked_base_ppsn: Signal<In, Bits<24>>,
    pub acked_mask: Signal<In, Bits<64>>,
    /// At least four words can be taken.
    pub acked_room4: Signal<Out, Bit>,
    pub free_valid: Signal<Out, Bit>,
    pub free_ready: Signal<In, Bit>,
    pub free_row: Signal<Out, Bits<24>>,
    pub free_ppsn: Signal<Out, Bits<24>>,
    pub free_rsp_valid: Signal<In, Bit>,
    pub free_rsp_qp: Signal<In, Bits<16>>,
    pub free_rsp_msn: Signal<In, Bits<24>>,
    pub free_rsp_bytes: Signal<In, Bits<13>>,
    pub free_rsp_kind: Signal<In, Bits<2>>,
    pub ret_valid: Signal<Out, Bit>,
    pub ret_ready: Signal<In, Bit>,
    pub ret_qp: Signal<Out, Bits<16>>,
    pub ret_msn: Signal<Out, Bits<24>>,
    pub ret_bytes: Signal<Out, Bits<13>>,
    pub resp_valid: Signal<Out, Bit>,
    pub resp_ready: Signal<In, Bit>,
    /// The acknowledgment of a response was committed, and `resp` has not told it yet.
    pub resp_waits: Signal<Out, Bit>,
    /// Of an ERROR_RESP.
    pub resp_error: Signal<Out, Bit>,
    pub resp_conn: Signal<Out, Bits<16>>,
    pub resp_qp: Signal<Out, Bits<16>>,
    pub resp_msn: Signal<Out, Bits<24>>,
    pub wake_b_valid: Signal<Out, Bit>,
    pub wake_b_conn: Signal<Out, Bits<16>>,
    /// Connection whose retired bytes appear on `rb_data` one clock later.
    pub rb_addr: Signal<In, Bits<16>>,
    pub rb_data: Signal<Out, Bits<32>>,
    /// One clock: the retired bytes of the connection become 0.
    pub open_valid: Signal<In, Bit>,
    pub open_conn: Signal<In, Bits<16>>,
    /// Nothing is being retired and nothing waits.
    pub idle: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    pub commit_valid: Signal<Out, Bit>,
    pub commit_conn: Signal<Out, Bits<16>>,
    pub commit_home: Signal<Out, Bits<3>>,
    pub commit_ppsn: Signal<Out, Bits<24>>,
    pub commit_qp: Signal<Out, Bits<16>>,
    pub commit_msn: Signal<Out, Bits<24>>,
    pub commit_bytes: Signal<Out, Bits<13>>,
    words: Fifo<AckedWord>,
    done: Fifo<RetiredPacket>,
    first: FirstOne64,
    rb_read: Ram<Bits<32>>,
    rb_own: Ram<Bits<32>>,
    /// The word being walked; bits leave it from the lowest.
    word: DFF<AckedWord>,
    /// The next packets to be freed: the queue, which takes what the scheduler gives first, answers no further than here.
    upcoming: Skid<RetiringPacket>,
    /// The packet whose answer is awaited.
    asked_valid: DFF<Bit>,
    asked: DFF<RetiringPacket>,
    /// The packet whose bytes are added.
    adding: DFF<Bit>,
    adding_packet: DFF<RetiringPacket>,
    adding_entry: DFF<RetiredPacket>,
    /// The packet that leaves: no ready of those behind it reaches further.
    leaving: Skid<RetiredPacket>,
    /// A clock ago nothing was being retired.
    quiet: DFF<Bit>,
    /// Responses between their commit and `resp`.
    responses: DFF<Bits<16>>,
    /// Places of `done` promised.
    promised: DFF<Bits<16>>,
    may_ask: Signal<Local, Bit>,
    ask: Signal<Local, Bit>,
    take: Signal<Local, Bit>,
    move_on: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    comes: Signal<Local, Bit>,
    tells: Signal<Local, Bit>,
    packet: Signal<Local, RetiringPacket>,
    left: Signal<Local, RetiredPacket>,
    rb_write: Signal<Local, Bit>,
    rb_row: Signal<Local, Bits<24>>,
    rb_value: Signal<Local, Bits<32>>,
    open_wait: DFF<Bit>,
    opening: DFF<Bits<16>>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    done_depth: Constant<Bits<16>>,
    room_limit: Constant<Bits<16>>,
    last_row: Constant<Bits<24>>,
}

impl Retire {
    pub fn new(config: &BuildConfig) -> Self {
        let words = config.fifo.acked.max(4);
        filled!(Retire {
            words: Fifo::new(words),
            done: Fifo::new(config.fifo.ret),
            upcoming: Skid::default(),
            leaving: Skid::default(),
            rb_read: Ram::new(config.conns),
            rb_own: Ram::new(config.conns),
            done_depth: Constant::new((config.fifo.ret as u64).to_bits()),
            room_limit: Constant::new((words as u64 - 4).to_bits()),
            last_row: Constant::new((config.conns as u64 - 1).to_bits());
            clock, reset, acked_valid, acked_ready, acked_conn, acked_path, acked_base_ppsn, acked_mask, acked_room4,
            free_valid, free_ready, free_row, free_ppsn, free_rsp_valid, free_rsp_qp, free_rsp_msn, free_rsp_bytes,
            free_rsp_kind, resp_valid, resp_ready, resp_waits, resp_error, resp_conn, resp_qp, resp_msn, leaves, comes, tells, ret_valid, ret_ready, ret_qp, ret_msn, ret_bytes, wake_b_valid, wake_b_conn, rb_addr, rb_data, open_valid,
            open_conn, idle, init_done, commit_valid, commit_conn, commit_home, commit_ppsn, commit_qp, commit_msn,
            commit_bytes, first, word, quiet, packet, left, asked_valid, asked, adding, adding_packet, adding_entry,
            responses, promised, may_ask, ask, take, move_on, rb_write, rb_row, rb_value, open_wait, opening, walk, ready,
        })
    }
}

impl Logic for Retire {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module retire: newly acknowledged words to retired packets");
        dff_setup!(
            self,
            clock,
            word,
            quiet,
            asked_valid,
            asked,
            adding,
            adding_packet,
            adding_entry,
            responses,
            promised,
            open_wait,
            opening,
            walk,
            ready
        );
        clock!(self, clock, words, done, upcoming, leaving, rb_read, rb_own);
        self.words.reset.next = self.reset.val();
        self.done.reset.next = self.reset.val();
        self.upcoming.reset.next = self.reset.val();
        self.leaving.reset.next = self.reset.val();
        self.acked_ready.next = !self.words.full.val() & self.ready.q.val();
        self.words.write.next = self.acked_valid.val() & self.acked_ready.val();
        self.words.data_in.next.conn = self.acked_conn.val();
        self.words.data_in.next.path = self.acked_path.val();
        self.words.data_in.next.base_ppsn = self.acked_base_ppsn.val();
        self.words.data_in.next.mask = self.acked_mask.val();
        self.acked_room4.next = (self.words.count.val() <= self.room_limit.val()) & self.ready.q.val();

        comment!("the lowest bit of the word becomes the next packet");
        self.may_ask.next = self.promised.q.val() < self.done_depth.val();
        self.packet.next = self.upcoming.out_data.val();
        self.free_valid.next = self.upcoming.out_valid.val() & self.may_ask.val();
        self.free_row.next = (bit_cast::<24, 16>(self.packet.val().conn) << 3) | bit_cast::<24, 3>(self.packet.val().path);
        self.free_ppsn.next = self.packet.val().ppsn;
        self.ask.next = self.free_valid.val() & self.free_ready.val();
        self.upcoming.out_ready.next = self.may_ask.val() & self.free_ready.val();
        self.move_on.next = self.upcoming.in_ready.val();
        self.first.x.next = self.word.q.val().mask;
        self.upcoming.in_valid.next = self.first.any.val();
        self.upcoming.in_data.next.conn = self.word.q.val().conn;
        self.upcoming.in_data.next.path = self.word.q.val().path;
        self.upcoming.in_data.next.ppsn = self.word.q.val().base_ppsn + bit_cast::<24, 6>(self.first.index.val());
        // the last packet of the word and every eighth wake the connection
        self.upcoming.in_data.next.wake = !self.first.many.val() | self.first.index.val().get_bits::<3>(0).all();
        if self.move_on.val() {
            self.word.d.next.mask = self.word.q.val().mask & (self.word.q.val().mask - 1);
        }
        self.take.next = !self.words.empty.val() & (!self.first.any.val() | (self.move_on.val() & !self.first.many.val()));
        self.words.read.next = self.take.val();
        if self.take.val() {
            self.word.d.next = self.words.data_out.val();
        }

        comment!("its entry comes back from the queue; then its bytes are added");
        self.asked_valid.d.next = self.asked_valid.q.val() & !self.free_rsp_valid.val();
        if self.ask.val() {
            self.asked_valid.d.next = true;
            self.asked.d.next = self.packet.val();
        }
        self.adding.d.next = self.free_rsp_valid.val() & self.asked_valid.q.val();
        self.adding_packet.d.next = self.asked.q.val();
        self.adding_entry.d.next.qp = self.free_rsp_qp.val();
        self.adding_entry.d.next.msn = self.free_rsp_msn.val();
        self.adding_entry.d.next.bytes = self.free_rsp_bytes.val();
        self.adding_entry.d.next.kind = self.free_rsp_kind.val();
        self.adding_entry.d.next.conn = self.asked.q.val().conn;
        self.rb_own.read_address.next = bit_cast::<24, 16>(self.asked.q.val().conn);
        self.rb_write.next = self.adding.q.val();
        self.rb_row.next = bit_cast::<24, 16>(self.adding_packet.q.val().conn);
        self.rb_value.next = self.rb_own.read_data.val() + bit_cast::<32, 13>(self.adding_entry.q.val().bytes);
        self.done.write.next = self.adding.q.val();
        self.done.data_in.next = self.adding_entry.q.val();
        self.wake_b_valid.next = self.adding.q.val() & self.adding_packet.q.val().wake;
        self.wake_b_conn.next = self.adding_packet.q.val().conn;
        self.commit_valid.next = self.adding.q.val();
        self.commit_conn.next = self.adding_packet.q.val().conn;
        self.commit_home.next = self.adding_packet.q.val().path;
        self.commit_ppsn.next = self.adding_packet.q.val().ppsn;
        self.commit_qp.next = self.adding_entry.q.val().qp;
        self.commit_msn.next = self.adding_entry.q.val().msn;
        self.commit_bytes.next = self.adding_entry.q.val().bytes;

        comment!("to completion or request_places; a place is promised when a packet is asked for");
        self.leaving.in_valid.next = !self.done.empty.val();
        self.leaving.in_data.next = self.done.data_out.val();
        self.leaves.next = !self.done.empty.val() & self.leaving.in_ready.val();
        self.done.read.next = self.leaves.val();
        self.left.next = self.leaving.out_data.val();
        self.ret_valid.next = self.leaving.out_valid.val() & !self.left.val().kind.any();
        self.resp_valid.next = self.leaving.out_valid.val() & self.left.val().kind.any();
        self.resp_error.next = self.left.val().kind == 2;
        self.resp_conn.next = self.left.val().conn;
        self.resp_qp.next = self.left.val().qp;
        self.resp_msn.next = self.left.val().msn;
        self.ret_qp.next = self.left.val().qp;
        self.ret_msn.next = self.left.val().msn;
        self.ret_bytes.next = self.left.val().bytes;
        self.tells.next = self.resp_valid.val() & self.resp_ready.val();
        self.leaving.out_ready.next = (self.ret_valid.val() & self.ret_ready.val()) | self.tells.val();
        self.comes.next = self.adding.q.val() & self.adding_entry.q.val().kind.any();
        self.resp_waits.next = self.responses.q.val().any() | self.comes.val();
        if self.comes.val() & !self.tells.val() {
            self.responses.d.next = self.responses.q.val() + 1;
        }
        if !self.comes.val() & self.tells.val() {
            self.responses.d.next = self.responses.q.val() - 1;
        }
        if self.ask.val() & !self.leaves.val() {
            self.promised.d.next = self.promised.q.val() + 1;
        }
        if !self.ask.val() & self.leaves.val() {
            self.promised.d.next = self.promised.q.val() - 1;
        }

        comment!("an opened connection starts at 0, between two additions");
        if self.open_wait.q.val() & !self.adding.q.val() {
            self.rb_write.next = true;
            self.rb_row.next = bit_cast::<24, 16>(self.opening.q.val());
            self.rb_value.next = 0.into();
            self.open_wait.d.next = false;
        }
        if self.open_valid.val() {
            self.open_wait.d.next = true;
            self.opening.d.next = self.open_conn.val();
        }
        if !self.ready.q.val() {
            self.rb_write.next = true;
            self.rb_row.next = self.walk.q.val();
            self.rb_value.next = 0.into();
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_row.val() {
                self.ready.d.next = true;
            }
        }
        self.rb_read.read_address.next = bit_cast::<24, 16>(self.rb_addr.val());
        self.rb_read.write_enable.next = self.rb_write.val();
        self.rb_read.write_address.next = self.rb_row.val();
        self.rb_read.write_data.next = self.rb_value.val();
        self.rb_own.write_enable.next = self.rb_write.val();
        self.rb_own.write_address.next = self.rb_row.val();
        self.rb_own.write_data.next = self.rb_value.val();
        self.rb_data.next = self.rb_read.read_data.val();
        comment!("a clock late, so that the last packet shows as `ret` or `resp` when it is told; what arrived since counts");
        self.quiet.d.next = self.words.empty.val()
            & !self.first.any.val()
            & !self.upcoming.out_valid.val()
            & !self.asked_valid.q.val()
            & !self.adding.q.val();
        self.idle.next = self.quiet.q.val() & self.words.empty.val() & !self.open_wait.q.val();
        self.init_done.next = self.ready.q.val();
        if self.reset.val() {
            self.word.d.next.mask = 0.into();
            self.quiet.d.next = false;
            self.asked_valid.d.next = false;
            self.adding.d.next = false;
            self.promised.d.next = 0.into();
            self.responses.d.next = 0.into();
            self.open_wait.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
