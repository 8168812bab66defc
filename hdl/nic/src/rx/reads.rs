//! reads: READs and atomics, both halves: read_table (what our queue pairs asked for), silence (whether the peers still live) and
//! responder (what the peers asked for), and the third reader of the control read port. In: WQEs taken, new packets granted, steps of rx_core, retired packets, errors, tables. Out: answers
//! to rx_core, responses for the segmenter and their rows, what is answered. Guarantees: those of its parts; an error waits (`quiet`) for the
//! answers that were whole before it came (W3), however many come later; a response leaves when packet_builder may take its row.
use super::executor::RequestRow;
use super::read_table::ReadTable;
use super::responder::Responder;
use super::silence::Silence;
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::host::ctrl_reads::CtrlReads;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation; the ports are described at the blocks that have them.
#[derive(LogicBlock)]
pub struct Reads<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Faults 22: bytes of a response count twice; 23: an atomic brings back the value after it; 24: the last place is given to a request
    /// that came early; 25: a response is no sign of life; 26: an answer
    /// does not wait for its data; 27: a request is executed twice.
    pub fault: Signal<In, Bits<5>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// rx_core, and completion, have not yet applied a table write.
    pub rx_busy: Signal<In, Bit>,
    pub completion_busy: Signal<In, Bit>,
    pub init_done: Signal<Out, Bit>,
    // work_fetch
    pub row_write: Signal<In, Bit>,
    pub row_qp: Signal<In, Bits<16>>,
    pub row_request: Signal<In, Bit>,
    pub row_atomic: Signal<In, Bit>,
    pub row_msn: Signal<In, Bits<24>>,
    pub row_laddr: Signal<In, Bits<64>>,
    pub row_length: Signal<In, Bits<32>>,
    pub row_tag: Signal<In, Bits<32>>,
    /// Its responses go to the pieces that were written for the row.
    pub row_listed: Signal<In, Bit>,
    pub piece_write: Signal<In, Bit>,
    pub piece_row: Signal<In, Bits<24>>,
    pub piece_number: Signal<In, Bits<2>>,
    pub piece_addr: Signal<In, Bits<64>>,
    pub piece_end: Signal<In, Bits<32>>,
    // a new packet of a message
    pub sent_valid: Signal<In, Bit>,
    pub sent_qp: Signal<In, Bits<16>>,
    pub sent_msn: Signal<In, Bits<24>>,
    pub sent_now: Signal<In, Bits<32>>,
    // D8, see silence
    pub now: Signal<In, Bits<32>>,
    pub watch_conn: Signal<In, Bits<16>>,
    pub watch_awaited: Signal<Out, Bit>,
    pub watch_alive: Signal<Out, Bits<32>>,
    pub over_valid: Signal<In, Bit>,
    pub over_qp: Signal<In, Bits<16>>,
    pub life_valid: Signal<In, Bit>,
    pub life_conn: Signal<In, Bits<16>>,
    pub life_now: Signal<In, Bits<32>>,
    /// rx_core took a packet.
    pub taken_valid: Signal<In, Bit>,
    pub taken_opcode: Signal<In, Bits<8>>,
    pub taken_conn: Signal<In, Bits<16>>,
    pub taken_now: Signal<In, Bits<32>>,
    // rx_core
    pub rsp_look: Signal<In, Bit>,
    pub rsp_qp: Signal<In, Bits<16>>,
    pub rsp_msn: Signal<In, Bits<24>>,
    pub rsp_kind: Signal<In, Bits<2>>,
    pub rsp_offset: Signal<In, Bits<64>>,
    pub rsp_length: Signal<In, Bits<32>>,
    pub rsp_tag: Signal<In, Bits<32>>,
    pub rsp_bytes: Signal<In, Bits<13>>,
    pub rsp_used: Signal<Out, Bit>,
    pub rsp_addr: Signal<Out, Bits<64>>,
    pub rsp_room: Signal<Out, Bit>,
    /// As read_table's `listed`, `piece_at`, `piece`.
    pub rsp_listed: Signal<Out, Bit>,
    pub rsp_at: Signal<In, Bits<2>>,
    pub rsp_piece: Signal<Out, Bits<128>>,
    pub rsp_take: Signal<In, Bit>,
    pub rsp_ticket: Signal<In, Bits<16>>,
    pub ask_look: Signal<In, Bit>,
    pub ask_conn: Signal<In, Bits<16>>,
    pub ask_qp: Signal<In, Bits<16>>,
    pub ask_msn: Signal<In, Bits<24>>,
    pub ask_step: Signal<In, Bit>,
    pub ask_reached_ok: Signal<Out, Bit>,
    pub ask_early_ok: Signal<Out, Bit>,
    pub ask_none: Signal<Out, Bit>,
    pub ask_failed: Signal<Out, Bit>,
    pub ask_take: Signal<In, Bit>,
    pub ask_row: Signal<In, RequestRow>,
    pub reached: Signal<In, Bit>,
    pub reached_qp: Signal<In, Bits<16>>,
    pub reached_msn: Signal<In, Bits<24>>,
    pub reached_ticket: Signal<In, Bits<16>>,
    pub check_valid: Signal<Out, Bit>,
    pub check_ready: Signal<In, Bit>,
    pub check_done: Signal<In, Bit>,
    pub check_code: Signal<In, Bits<3>>,
    pub check_addr: Signal<In, Bits<64>>,
    pub check_failed: Signal<In, Bit>,
    pub finish_valid: Signal<Out, Bit>,
    pub finish_ready: Signal<In, Bit>,
    pub finish_done: Signal<In, Bit>,
    pub finish_ticket: Signal<In, Bits<16>>,
    pub run_qp: Signal<Out, Bits<16>>,
    pub run_msn: Signal<Out, Bits<24>>,
    pub run_atomic: Signal<Out, Bit>,
    pub run_va: Signal<Out, Bits<64>>,
    pub run_rkey: Signal<Out, Bits<32>>,
    pub run_length: Signal<Out, Bits<32>>,
    pub run_code: Signal<Out, Bits<3>>,
    pub run_value: Signal<Out, Bits<64>>,
    pub run_write: Signal<Out, Bit>,
    pub run_addr: Signal<Out, Bits<64>>,
    pub run_data: Signal<Out, Bits<64>>,
    // placement_dma
    pub done_count: Signal<In, Bits<16>>,
    // completion
    pub answered_valid: Signal<Out, Bit>,
    pub answered_ready: Signal<In, Bit>,
    pub answered_qp: Signal<Out, Bits<16>>,
    pub answered_msn: Signal<Out, Bits<24>>,
    /// An error waits for `quiet`; one is taken.
    pub error_waits: Signal<In, Bit>,
    pub error_taken: Signal<In, Bit>,
    pub quiet: Signal<Out, Bit>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<16>>,
    // tx_core
    pub resp_valid: Signal<In, Bit>,
    pub resp_ready: Signal<Out, Bit>,
    pub resp_error: Signal<In, Bit>,
    pub resp_conn: Signal<In, Bits<16>>,
    pub resp_qp: Signal<In, Bits<16>>,
    pub resp_msn: Signal<In, Bits<24>>,
    pub resp_waits: Signal<In, Bit>,
    pub order_valid: Signal<Out, Bit>,
    pub order_ready: Signal<In, Bit>,
    pub order_conn: Signal<Out, Bits<16>>,
    pub order_error: Signal<Out, Bit>,
    pub order_code: Signal<Out, Bits<8>>,
    pub order_qp: Signal<Out, Bits<16>>,
    pub order_msn: Signal<Out, Bits<24>>,
    pub order_npkts: Signal<Out, Bits<24>>,
    pub order_length: Signal<Out, Bits<32>>,
    pub order_peer_qpn: Signal<Out, Bits<24>>,
    // packet_builder
    pub rsprow_ask: Signal<Out, Bit>,
    pub rsprow_ready: Signal<In, Bit>,
    pub rsprow_valid: Signal<Out, Bit>,
    pub rsprow_addr: Signal<Out, Bits<24>>,
    pub rsprow_atomic: Signal<Out, Bit>,
    pub rsprow_base: Signal<Out, Bits<64>>,
    pub rsprow_length: Signal<Out, Bits<32>>,
    pub rsprow_tag: Signal<Out, Bits<32>>,
    pub rsprow_peer_qpn: Signal<Out, Bits<24>>,
    // the control read port, before and behind
    pub a_desc_valid: Signal<In, Bit>,
    pub a_desc_ready: Signal<Out, Bit>,
    pub a_desc_addr: Signal<In, Bits<64>>,
    pub a_desc_len: Signal<In, Bits<16>>,
    pub a_valid: Signal<Out, Bit>,
    pub a_ready: Signal<In, Bit>,
    pub cr_desc_valid: Signal<Out, Bit>,
    pub cr_desc_ready: Signal<In, Bit>,
    pub cr_desc_addr: Signal<Out, Bits<64>>,
    pub cr_desc_len: Signal<Out, Bits<16>>,
    pub cr_valid: Signal<In, Bit>,
    pub cr_ready: Signal<Out, Bit>,
    pub cr_data: Signal<In, Bits<W>>,
    pub cr_last: Signal<In, Bit>,
    pub commit_answer_valid: Signal<Out, Bit>,
    pub commit_answer_qp: Signal<Out, Bits<16>>,
    table: ReadTable,
    silence: Silence,
    responder: Responder<W>,
    ports: CtrlReads<W>,
    /// Answers that the waiting error waits for, once they are counted.
    counted: DFF<Bit>,
    behind: DFF<Bits<16>>,
    sent_tick: DFF<Bits<32>>,
    /// Of fault 27.
    again: DFF<Bit>,
    again_qp: DFF<Bits<16>>,
    again_msn: DFF<Bits<24>>,
    leaves: Signal<Local, Bit>,
    response: Signal<Local, Bit>,
}

impl<const W: usize> Reads<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        filled!(Reads {
            table: ReadTable::new(config),
            silence: Silence::new(config),
            responder: Responder::new(config),
            ports: CtrlReads::new(config);
            clock, reset, fault, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, rx_busy, completion_busy, init_done, row_write, row_qp,
            row_request, row_atomic, row_msn, row_laddr, row_length, row_tag, row_listed, piece_write, piece_row, piece_number, piece_addr, piece_end, rsp_listed, rsp_at, rsp_piece, sent_valid, sent_qp, sent_msn, sent_now, now, watch_conn, watch_awaited, watch_alive, over_valid, over_qp, life_valid, life_conn, life_now, taken_valid,
            taken_opcode, taken_conn, taken_now,
            rsp_look, rsp_qp, rsp_msn, rsp_kind, rsp_offset, rsp_length, rsp_tag, rsp_bytes, rsp_used, rsp_addr, rsp_room, rsp_take,
            rsp_ticket, ask_look, ask_conn, ask_qp, ask_msn, ask_step, ask_reached_ok, ask_early_ok, ask_none, ask_failed, ask_take,
            ask_row, reached, reached_qp, reached_msn, reached_ticket, check_valid, check_ready, check_done, check_code, check_addr,
            check_failed, finish_valid, finish_ready, finish_done, finish_ticket, run_qp, run_msn, run_atomic, run_va, run_rkey,
            run_length, run_code, run_value, run_write, run_addr, run_data, done_count, answered_valid, answered_ready, answered_qp,
            answered_msn, error_waits, error_taken, quiet, flush_valid, flush_qp, resp_valid, resp_ready, resp_error, resp_conn,
            resp_qp, resp_msn, resp_waits, order_valid, order_ready, order_conn, order_error, order_code, order_qp, order_msn, order_npkts,
            order_length, order_peer_qpn, rsprow_ask, rsprow_ready, rsprow_valid, rsprow_addr, rsprow_atomic, rsprow_base,
            rsprow_length, rsprow_tag, rsprow_peer_qpn, a_desc_valid, a_desc_ready, a_desc_addr, a_desc_len, a_valid, a_ready,
            cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid, cr_ready, cr_data, cr_last, commit_answer_valid,
            commit_answer_qp, counted, behind, sent_tick, again, again_qp, again_msn, leaves, response,
        })
    }
}

impl<const W: usize> Logic for Reads<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module reads: READs and atomics, asked for and answered");
        dff_setup!(self, clock, counted, behind, sent_tick, again, again_qp, again_msn);
        clock!(self, clock, table, silence, responder, ports);
        self.table.reset.next = self.reset.val();
        self.silence.reset.next = self.reset.val();
        self.responder.reset.next = self.reset.val();
        self.ports.reset.next = self.reset.val();
        self.init_done.next = self.table.init_done.val() & self.silence.init_done.val() & self.responder.init_done.val();
        self.cfg_busy.next = self.table.cfg_busy.val() | self.silence.cfg_busy.val() | self.responder.cfg_busy.val();
        self.table.cfg_valid.next = self.cfg_valid.val();
        self.table.cfg_table.next = self.cfg_table.val();
        self.table.cfg_index.next = self.cfg_index.val();
        self.table.rx_busy.next = self.rx_busy.val();
        self.responder.cfg_valid.next = self.cfg_valid.val();
        self.responder.cfg_table.next = self.cfg_table.val();
        self.responder.cfg_index.next = self.cfg_index.val();
        self.responder.cfg_data.next = self.cfg_data.val();
        self.responder.others_busy.next = self.rx_busy.val() | self.completion_busy.val();

        comment!("what our queue pairs ask for");
        self.table.row_write.next = self.row_write.val();
        self.table.row_qp.next = self.row_qp.val();
        self.table.row.next.request = self.row_request.val();
        self.table.row.next.atomic = self.row_atomic.val();
        self.table.row.next.msn = self.row_msn.val();
        self.table.row.next.laddr = self.row_laddr.val();
        self.table.row.next.length = self.row_length.val();
        self.table.row.next.tag = self.row_tag.val();
        self.table.row.next.listed = self.row_listed.val();
        self.table.piece_write.next = self.piece_write.val();
        self.table.piece_row.next = self.piece_row.val();
        self.table.piece_number.next = self.piece_number.val();
        self.table.piece_addr.next = self.piece_addr.val();
        self.table.piece_end.next = self.piece_end.val();
        self.rsp_listed.next = self.table.listed.val();
        self.table.piece_at.next = self.rsp_at.val();
        self.rsp_piece.next = self.table.piece.val();
        self.table.sent_valid.next = self.sent_valid.val();
        self.table.sent_qp.next = self.sent_qp.val();
        self.table.sent_msn.next = self.sent_msn.val();
        self.table.look.next = self.rsp_look.val();
        self.table.look_qp.next = self.rsp_qp.val();
        self.table.look_msn.next = self.rsp_msn.val();
        self.table.kind.next = self.rsp_kind.val();
        self.table.offset.next = self.rsp_offset.val();
        self.table.length.next = self.rsp_length.val();
        self.table.tag.next = self.rsp_tag.val();
        self.table.payload_bytes.next = self.rsp_bytes.val();
        if self.fault.val() == 22 {
            self.table.payload_bytes.next = self.rsp_bytes.val() << 1;
        }
        self.rsp_used.next = self.table.used.val();
        self.rsp_addr.next = self.table.addr.val();
        self.rsp_room.next = self.table.room.val();
        self.table.take.next = self.rsp_take.val();
        self.table.ticket.next = self.rsp_ticket.val();
        self.table.done_count.next = self.done_count.val();
        if self.fault.val() == 26 {
            self.table.done_count.next = self.rsp_ticket.val();
        }
        self.answered_valid.next = self.table.answered_valid.val();
        self.answered_qp.next = self.table.answered_qp.val();
        self.answered_msn.next = self.table.answered_msn.val();
        self.table.answered_ready.next = self.answered_ready.val();

        comment!("W3: the answers that are older than an error go before it");
        self.leaves.next = self.answered_valid.val() & self.answered_ready.val();
        if self.leaves.val() & self.behind.q.val().any() {
            self.behind.d.next = self.behind.q.val() - 1;
        }
        if self.error_waits.val() & !self.counted.q.val() & self.table.settled.val() {
            self.counted.d.next = true;
            self.behind.d.next = self.table.answers_held.val();
            if self.leaves.val() {
                self.behind.d.next = self.table.answers_held.val() - 1;
            }
        }
        self.quiet.next = self.counted.q.val() & !self.behind.q.val().any();
        if self.error_taken.val() | !self.error_waits.val() {
            self.counted.d.next = false;
        }

        comment!("D8: what is awaited, and signs of life; a response is one, used or not");
        self.silence.cfg_valid.next = self.cfg_valid.val();
        self.silence.cfg_table.next = self.cfg_table.val();
        self.silence.cfg_index.next = self.cfg_index.val();
        self.silence.cfg_conn.next = self.cfg_data.val().get_bits::<16>(16);
        self.silence.others_busy.next = self.rx_busy.val() | self.completion_busy.val();
        self.sent_tick.d.next = self.sent_now.val();
        self.silence.first_valid.next = self.table.first_valid.val();
        self.silence.first_qp.next = self.table.first_qp.val();
        self.silence.first_now.next = self.sent_tick.q.val();
        self.silence.over_valid.next = self.over_valid.val();
        self.silence.over_qp.next = self.over_qp.val();
        self.silence.life_valid.next = self.life_valid.val();
        self.silence.life_conn.next = self.life_conn.val();
        self.silence.life_now.next = self.life_now.val();
        self.response.next =
            (self.taken_opcode.val() == 0xE3) | (self.taken_opcode.val() == 0xE5) | (self.taken_opcode.val() == 0xE6);
        self.silence.heard_valid.next = self.taken_valid.val() & self.response.val() & (self.fault.val() != 25);
        self.silence.heard_conn.next = self.taken_conn.val();
        self.silence.heard_now.next = self.taken_now.val();
        self.silence.now.next = self.now.val();
        self.silence.look_conn.next = self.watch_conn.val();
        self.watch_awaited.next = self.silence.awaited.val();
        self.watch_alive.next = self.silence.alive.val();

        comment!("what the peers ask for");
        self.responder.look.next = self.ask_look.val();
        self.responder.look_conn.next = self.ask_conn.val();
        self.responder.look_qp.next = self.ask_qp.val();
        self.responder.look_msn.next = self.ask_msn.val();
        self.responder.step.next = self.ask_step.val();
        self.ask_reached_ok.next = self.responder.reached_ok.val();
        self.ask_early_ok.next = self.responder.early_ok.val();
        if self.fault.val() == 24 {
            self.ask_early_ok.next = self.responder.reached_ok.val();
        }
        self.ask_none.next = self.responder.none.val();
        self.ask_failed.next = self.responder.failed.val();
        self.responder.take.next = self.ask_take.val();
        self.responder.take_row.next = self.ask_row.val();
        self.responder.reached_valid.next = self.reached.val();
        self.responder.reached.next.qp = self.reached_qp.val();
        self.responder.reached.next.msn = self.reached_msn.val();
        self.responder.reached.next.ticket = self.reached_ticket.val();
        self.again.d.next = self.reached.val() & (self.fault.val() == 27);
        self.again_qp.d.next = self.reached_qp.val();
        self.again_msn.d.next = self.reached_msn.val();
        if self.again.q.val() {
            self.responder.reached_valid.next = true;
            self.responder.reached.next.qp = self.again_qp.q.val();
            self.responder.reached.next.msn = self.again_msn.q.val();
        }
        self.responder.done_count.next = self.done_count.val();
        self.check_valid.next = self.responder.check_valid.val();
        self.responder.check_ready.next = self.check_ready.val();
        self.responder.check_done.next = self.check_done.val();
        self.responder.check_code.next = self.check_code.val();
        self.responder.check_addr.next = self.check_addr.val();
        self.responder.check_failed.next = self.check_failed.val();
        self.finish_valid.next = self.responder.finish_valid.val();
        self.responder.finish_ready.next = self.finish_ready.val();
        self.responder.finish_done.next = self.finish_done.val();
        self.responder.finish_ticket.next = self.finish_ticket.val();
        self.run_qp.next = self.responder.check_qp.val();
        self.run_msn.next = self.responder.executed.val().msn;
        self.run_atomic.next = self.responder.check_row.val().atomic;
        self.run_va.next = self.responder.check_row.val().va;
        self.run_rkey.next = self.responder.check_row.val().rkey;
        self.run_length.next = self.responder.check_row.val().length;
        self.run_code.next = self.responder.executed.val().code;
        comment!("of a READ there is no value");
        self.run_value.next = 0.into();
        if self.responder.executed.val().atomic {
            self.run_value.next = self.responder.executed.val().base;
        }
        self.run_write.next = self.responder.finish_write.val();
        self.run_addr.next = self.responder.finish_addr.val();
        self.run_data.next = self.responder.finish_data.val();
        self.responder.flush_valid.next = self.flush_valid.val();
        self.responder.flush_qp.next = self.flush_qp.val();
        self.responder.retired_valid.next = self.resp_valid.val();
        self.responder.retired.next.error = self.resp_error.val();
        self.responder.retired.next.conn = self.resp_conn.val();
        self.responder.retired.next.qp = self.resp_qp.val();
        self.responder.retired.next.msn = self.resp_msn.val();
        self.responder.retiring.next = self.resp_waits.val();
        self.resp_ready.next = self.responder.retired_ready.val();

        comment!("a response leaves when its row may be written; an ERROR_RESP has none");
        self.rsprow_ask.next = self.responder.response_valid.val() & !self.responder.response.val().error;
        self.order_valid.next =
            self.responder.response_valid.val() & (self.responder.response.val().error | self.rsprow_ready.val());
        self.responder.response_ready.next =
            self.order_ready.val() & (self.responder.response.val().error | self.rsprow_ready.val());
        self.order_conn.next = self.responder.response.val().conn;
        self.order_error.next = self.responder.response.val().error;
        self.order_code.next = self.responder.response.val().code;
        self.order_qp.next = self.responder.response.val().qp;
        self.order_msn.next = self.responder.response.val().msn;
        self.order_npkts.next = self.responder.response.val().npkts;
        self.order_length.next = self.responder.response.val().length;
        self.order_peer_qpn.next = self.responder.response.val().peer_qpn;
        self.rsprow_valid.next = self.responder.row_write.val();
        self.rsprow_addr.next = self.responder.row_addr.val();
        self.rsprow_atomic.next = self.responder.row.val().atomic;
        self.rsprow_base.next = self.responder.row.val().base;
        if (self.fault.val() == 23) & self.responder.row.val().atomic {
            self.rsprow_base.next = self.responder.finish_data.val();
        }
        self.rsprow_length.next = self.responder.row.val().length;
        self.rsprow_tag.next = self.responder.row.val().tag;
        self.rsprow_peer_qpn.next = self.responder.row.val().peer_qpn;
        self.commit_answer_valid.next = self.responder.commit_answer_valid.val();
        self.commit_answer_qp.next = self.responder.commit_answer_qp.val();

        comment!("operands of atomics beside work requests and receives");
        self.ports.a_desc_valid.next = self.a_desc_valid.val();
        self.a_desc_ready.next = self.ports.a_desc_ready.val();
        self.ports.a_desc_addr.next = self.a_desc_addr.val();
        self.ports.a_desc_len.next = self.a_desc_len.val();
        self.a_valid.next = self.ports.a_valid.val();
        self.ports.a_ready.next = self.a_ready.val();
        self.ports.b_desc_valid.next = self.responder.ar_desc_valid.val();
        self.responder.ar_desc_ready.next = self.ports.b_desc_ready.val();
        self.ports.b_desc_addr.next = self.responder.ar_desc_addr.val();
        self.ports.b_desc_len.next = self.responder.ar_desc_len.val();
        self.responder.ar_valid.next = self.ports.b_valid.val();
        self.ports.b_ready.next = self.responder.ar_ready.val();
        self.responder.ar_data.next = self.ports.data.val();
        self.cr_desc_valid.next = self.ports.cr_desc_valid.val();
        self.ports.cr_desc_ready.next = self.cr_desc_ready.val();
        self.cr_desc_addr.next = self.ports.cr_desc_addr.val();
        self.cr_desc_len.next = self.ports.cr_desc_len.val();
        self.ports.cr_valid.next = self.cr_valid.val();
        self.cr_ready.next = self.ports.cr_ready.val();
        self.ports.cr_data.next = self.cr_data.val();
        self.ports.cr_last.next = self.cr_last.val();
        if self.reset.val() {
            self.again.d.next = false;
            self.counted.d.next = false;
        }
    }
}
