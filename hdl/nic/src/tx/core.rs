//! TxCore: the transmit side: segmenter, sequencer, retransmit queue, retire and timers, wired together.
//!
//! In: messages, acknowledgments, cfg, QP error bits. Out: packet descriptors, retired packets, naks, connection errors, port changes, released
//! message slots, commit records. Guarantees: docs/protocol.md, sections 5 to 8; all outputs of streams stay stable until taken.
use super::filled::filled;
use super::records::{CommitAck, CommitGrant, CommitTimer, Desc, PathAfter};
use super::retire::Retire;
use super::retransmit_queue::RetransmitQueue;
use super::rows::{AckFields, PacketEntry};
use super::segmenter::Segmenter;
use super::sequencer::Sequencer;
use super::timers::Timers;
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct TxCore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// 0 in every build except sim_faults
    pub fault: Signal<In, Bits<5>>,
    /// Ticks of 128 ns.
    pub now: Signal<In, Bits<32>>,
    /// RTO_MIN in ticks.
    pub rto_min: Signal<In, Bits<32>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub msg_valid: Signal<In, Bit>,
    pub msg_ready: Signal<Out, Bit>,
    pub msg_conn: Signal<In, Bits<16>>,
    pub msg_qp: Signal<In, Bits<16>>,
    pub msg_msn: Signal<In, Bits<24>>,
    pub msg_npkts: Signal<In, Bits<24>>,
    pub msg_length: Signal<In, Bits<32>>,
    pub rel_conn_valid: Signal<Out, Bit>,
    pub rel_conn_ready: Signal<In, Bit>,
    pub rel_conn: Signal<Out, Bits<16>>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    pub ack_conn: Signal<In, Bits<16>>,
    pub ack_home: Signal<In, Bits<3>>,
    pub ack_cum: Signal<In, Bits<24>>,
    pub ack_ts_echo: Signal<In, Bits<16>>,
    pub ack_service: Signal<In, Bits<16>>,
    pub ack_ce: Signal<In, Bits<16>>,
    pub ack_dup: Signal<In, Bits<16>>,
    pub ack_flags: Signal<In, Bits<16>>,
    pub ack_rate: Signal<In, Bits<24>>,
    pub ack_mak_qp: Signal<In, Bits<24>>,
    pub ack_mak_code: Signal<In, Bits<8>>,
    pub ack_mak_msn: Signal<In, Bits<24>>,
    pub ack_sav: Signal<In, Bits<256>>,
    pub desc_valid: Signal<Out, Bit>,
    pub desc_ready: Signal<In, Bit>,
    pub desc_kind: Signal<Out, Bits<2>>,
    pub desc_conn: Signal<Out, Bits<16>>,
    pub desc_home: Signal<Out, Bits<3>>,
    pub desc_via: Signal<Out, Bits<3>>,
    pub desc_ppsn: Signal<Out, Bits<24>>,
    pub desc_rtx: Signal<Out, Bit>,
    pub desc_moved: Signal<Out, Bit>,
    pub desc_ack_req: Signal<Out, Bit>,
    pub desc_qp: Signal<Out, Bits<16>>,
    pub desc_msn: Signal<Out, Bits<24>>,
    pub desc_index: Signal<Out, Bits<24>>,
    pub desc_bytes: Signal<Out, Bits<13>>,
    pub desc_first: Signal<Out, Bit>,
    pub desc_last: Signal<Out, Bit>,
    pub desc_ts: Signal<Out, Bits<16>>,
    pub desc_port: Signal<Out, Bits<16>>,
    pub ret_valid: Signal<Out, Bit>,
    pub ret_ready: Signal<In, Bit>,
    pub ret_qp: Signal<Out, Bits<16>>,
    pub ret_msn: Signal<Out, Bits<24>>,
    pub ret_bytes: Signal<Out, Bits<13>>,
    pub nak_valid: Signal<Out, Bit>,
    pub nak_ready: Signal<In, Bit>,
    pub nak_conn: Signal<Out, Bits<16>>,
    pub nak_qp: Signal<Out, Bits<16>>,
    pub nak_code: Signal<Out, Bits<8>>,
    pub nak_msn: Signal<Out, Bits<24>>,
    /// No nak but an RNR: the peer has no receive for the message.
    pub nak_rnr: Signal<Out, Bit>,
    pub cerr_valid: Signal<Out, Bit>,
    pub cerr_ready: Signal<In, Bit>,
    pub cerr_conn: Signal<Out, Bits<16>>,
    pub qperr_addr: Signal<Out, Bits<16>>,
    pub qperr_data: Signal<In, Bit>,
    pub portset_valid: Signal<Out, Bit>,
    pub portset_ready: Signal<In, Bit>,
    pub portset_row: Signal<Out, Bits<24>>,
    pub portset_port: Signal<Out, Bits<16>>,
    pub commit_grant_valid: Signal<Out, Bit>,
    pub commit_grant_conn: Signal<Out, Bits<16>>,
    pub commit_grant_kind: Signal<Out, Bits<2>>,
    pub commit_grant_home: Signal<Out, Bits<3>>,
    pub commit_grant_via: Signal<Out, Bits<3>>,
    pub commit_grant_ppsn: Signal<Out, Bits<24>>,
    pub commit_grant_rtx: Signal<Out, Bit>,
    pub commit_grant_moved: Signal<Out, Bit>,
    pub commit_grant_ack_req: Signal<Out, Bit>,
    pub commit_grant_nop: Signal<Out, Bit>,
    pub commit_grant_qp: Signal<Out, Bits<16>>,
    pub commit_grant_msn: Signal<Out, Bits<24>>,
    pub commit_grant_index: Signal<Out, Bits<24>>,
    pub commit_grant_bytes: Signal<Out, Bits<13>>,
    pub commit_grant_now: Signal<Out, Bits<32>>,
    pub commit_grant_port: Signal<Out, Bits<16>>,
    pub commit_grant_inflight_bytes: Signal<Out, Bits<32>>,
    pub commit_grant_more: Signal<Out, Bit>,
    pub commit_grant_next: Signal<Out, Bits<24>>,
    pub commit_grant_pipe: Signal<Out, Bits<9>>,
    pub commit_grant_window: Signal<Out, Bits<9>>,
    pub commit_grant_rr: Signal<Out, Bits<3>>,
    pub commit_ack_valid: Signal<Out, Bit>,
    pub commit_ack_conn: Signal<Out, Bits<16>>,
    pub commit_ack_home: Signal<Out, Bits<3>>,
    pub commit_ack_verdict: Signal<Out, Bits<2>>,
    pub commit_ack_acked: Signal<Out, Bits<9>>,
    pub commit_ack_lost_l1: Signal<Out, Bits<9>>,
    pub commit_ack_lost_l2: Signal<Out, Bits<9>>,
    pub commit_ack_now: Signal<Out, Bits<32>>,
    pub commit_ack_hint: Signal<Out, Bits<24>>,
    pub commit_ack_state: Signal<Out, Bits<2>>,
    pub commit_ack_next: Signal<Out, Bits<24>>,
    pub commit_ack_cum: Signal<Out, Bits<24>>,
    pub commit_ack_pipe: Signal<Out, Bits<9>>,
    pub commit_ack_window: Signal<Out, Bits<9>>,
    pub commit_ack_credit: Signal<Out, Bits<9>>,
    pub commit_ack_srtt8: Signal<Out, Bits<18>>,
    pub commit_ack_var4: Signal<Out, Bits<17>>,
    pub commit_ack_backoff: Signal<Out, Bits<4>>,
    pub commit_ack_reo_tol: Signal<Out, Bits<7>>,
    pub commit_ack_mark: Signal<Out, Bits<24>>,
    pub commit_ack_gen_open: Signal<Out, Bit>,
    pub commit_ack_probe_pending: Signal<Out, Bit>,
    pub commit_timer_valid: Signal<Out, Bit>,
    pub commit_timer_conn: Signal<Out, Bits<16>>,
    pub commit_timer_path: Signal<Out, Bits<3>>,
    pub commit_timer_action: Signal<Out, Bits<3>>,
    pub commit_timer_now: Signal<Out, Bits<32>>,
    pub commit_timer_port: Signal<Out, Bits<16>>,
    pub commit_timer_probe_ppsn: Signal<Out, Bits<24>>,
    pub commit_timer_state: Signal<Out, Bits<2>>,
    pub commit_timer_next: Signal<Out, Bits<24>>,
    pub commit_timer_cum: Signal<Out, Bits<24>>,
    pub commit_timer_pipe: Signal<Out, Bits<9>>,
    pub commit_timer_window: Signal<Out, Bits<9>>,
    pub commit_timer_credit: Signal<Out, Bits<9>>,
    pub commit_timer_srtt8: Signal<Out, Bits<18>>,
    pub commit_timer_var4: Signal<Out, Bits<17>>,
    pub commit_timer_backoff: Signal<Out, Bits<4>>,
    pub commit_timer_reo_tol: Signal<Out, Bits<7>>,
    pub commit_timer_mark: Signal<Out, Bits<24>>,
    pub commit_timer_gen_open: Signal<Out, Bit>,
    pub commit_timer_probe_pending: Signal<Out, Bit>,
    pub commit_retire_valid: Signal<Out, Bit>,
    pub commit_retire_conn: Signal<Out, Bits<16>>,
    pub commit_retire_home: Signal<Out, Bits<3>>,
    pub commit_retire_ppsn: Signal<Out, Bits<24>>,
    pub commit_retire_qp: Signal<Out, Bits<16>>,
    pub commit_retire_msn: Signal<Out, Bits<24>>,
    pub commit_retire_bytes: Signal<Out, Bits<13>>,
    /// Nothing is being retired and nothing waits for it.
    pub retire_idle: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    segmenter: Box<Segmenter>,
    sequencer: Box<Sequencer>,
    queue: Box<RetransmitQueue>,
    retire: Box<Retire>,
    timers: Timers,
    ack: Signal<Local, AckFields>,
    desc: Signal<Local, Desc>,
    entry: Signal<Local, PacketEntry>,
    answer: Signal<Local, PacketEntry>,
    grant: Signal<Local, CommitGrant>,
    ack_record: Signal<Local, CommitAck>,
    ack_path: Signal<Local, PathAfter>,
    timer_record: Signal<Local, CommitTimer>,
    timer_path: Signal<Local, PathAfter>,
    no_ack: Constant<AckFields>,
    no_entry: Constant<PacketEntry>,
}

impl TxCore {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(TxCore {
            segmenter: Box::new(Segmenter::new(config)),
            sequencer: Box::new(Sequencer::new(config)),
            queue: Box::new(RetransmitQueue::new(config)),
            retire: Box::new(Retire::new(config)),
            timers: Timers::new(config),
            no_ack: Constant::new(AckFields::default()),
            no_entry: Constant::new(PacketEntry::default());
            clock, reset, fault, now, rto_min, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, msg_valid,
            msg_ready, msg_conn, msg_qp, msg_msn, msg_npkts, msg_length, rel_conn_valid, rel_conn_ready, rel_conn,
            ack_valid, ack_ready, ack_conn, ack_home, ack_cum, ack_ts_echo, ack_service, ack_ce, ack_dup, ack_flags,
            ack_rate, ack_mak_qp, ack_mak_code, ack_mak_msn, ack_sav, desc_valid, desc_ready, desc_kind, desc_conn,
            desc_home, desc_via, desc_ppsn, desc_rtx, desc_moved, desc_ack_req, desc_qp, desc_msn, desc_index,
            desc_bytes, desc_first, desc_last, desc_ts, desc_port, ret_valid, ret_ready, ret_qp, ret_msn, ret_bytes,
            nak_valid, nak_ready, nak_conn, nak_qp, nak_code, nak_msn, nak_rnr, cerr_valid, cerr_ready, cerr_conn, qperr_addr,
            qperr_data, portset_valid, portset_ready, portset_row, portset_port, commit_grant_valid,
            commit_grant_conn, commit_grant_kind, commit_grant_home, commit_grant_via, commit_grant_ppsn,
            commit_grant_rtx, commit_grant_moved, commit_grant_ack_req, commit_grant_nop, commit_grant_qp,
            commit_grant_msn, commit_grant_index, commit_grant_bytes, commit_grant_now, commit_grant_port,
            commit_grant_inflight_bytes, commit_grant_more, commit_grant_next, commit_grant_pipe,
            commit_grant_window, commit_grant_rr, commit_ack_valid, commit_ack_conn, commit_ack_home,
            commit_ack_verdict, commit_ack_acked, commit_ack_lost_l1, commit_ack_lost_l2, commit_ack_now,
            commit_ack_hint, commit_ack_state, commit_ack_next, commit_ack_cum, commit_ack_pipe, commit_ack_window,
            commit_ack_credit, commit_ack_srtt8, commit_ack_var4, commit_ack_backoff, commit_ack_reo_tol,
            commit_ack_mark, commit_ack_gen_open, commit_ack_probe_pending, commit_timer_valid, commit_timer_conn,
            commit_timer_path, commit_timer_action, commit_timer_now, commit_timer_port, commit_timer_probe_ppsn,
            commit_timer_state, commit_timer_next, commit_timer_cum, commit_timer_pipe, commit_timer_window,
            commit_timer_credit, commit_timer_srtt8, commit_timer_var4, commit_timer_backoff, commit_timer_reo_tol,
            commit_timer_mark, commit_timer_gen_open, commit_timer_probe_pending, commit_retire_valid,
            commit_retire_conn, commit_retire_home, commit_retire_ppsn, commit_retire_qp, commit_retire_msn,
            commit_retire_bytes, retire_idle, init_done, ack, desc, entry, answer, grant, ack_record, ack_path, timer_record,
            timer_path,
        })
    }
}

impl Logic for TxCore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module tx_core: the transmit side");
        clock!(self, clock, segmenter, sequencer, queue, retire, timers);
        self.segmenter.reset.next = self.reset.val();
        self.sequencer.reset.next = self.reset.val();
        self.queue.reset.next = self.reset.val();
        self.retire.reset.next = self.reset.val();
        self.timers.reset.next = self.reset.val();
        self.init_done.next = self.segmenter.init_done.val()
            & self.sequencer.init_done.val()
            & self.queue.init_done.val()
            & self.retire.init_done.val()
            & self.timers.init_done.val();
        self.sequencer.fault.next = self.fault.val();
        self.queue.fault.next = self.fault.val();
        self.sequencer.now.next = self.now.val();
        self.timers.now.next = self.now.val();
        self.sequencer.rto_min.next = self.rto_min.val();
        self.sequencer.cfg_valid.next = self.cfg_valid.val();
        self.sequencer.cfg_table.next = self.cfg_table.val();
        self.sequencer.cfg_index.next = self.cfg_index.val();
        self.sequencer.cfg_word0.next = self.cfg_data.val().get_bits::<32>(0);
        self.sequencer.cfg_word1.next = self.cfg_data.val().get_bits::<32>(32);
        self.sequencer.cfg_word2.next = self.cfg_data.val().get_bits::<32>(64);
        self.cfg_busy.next = self.sequencer.cfg_busy.val();

        comment!("messages and the offers of the segmenter");
        self.segmenter.msg_valid.next = self.msg_valid.val();
        self.segmenter.msg_conn.next = self.msg_conn.val();
        self.segmenter.msg_qp.next = self.msg_qp.val();
        self.segmenter.msg_msn.next = self.msg_msn.val();
        self.segmenter.msg_npkts.next = self.msg_npkts.val();
        self.segmenter.msg_length.next = self.msg_length.val();
        self.msg_ready.next = self.segmenter.msg_ready.val();
        self.rel_conn_valid.next = self.segmenter.rel_conn_valid.val();
        self.rel_conn.next = self.segmenter.rel_conn.val();
        self.segmenter.rel_conn_ready.next = self.rel_conn_ready.val();
        self.sequencer.next_valid.next = self.segmenter.next_valid.val();
        self.sequencer.next_conn.next = self.segmenter.next_conn.val();
        self.sequencer.next_has_msg.next = self.segmenter.next_has_msg.val();
        self.sequencer.next_qp.next = self.segmenter.next_qp.val();
        self.sequencer.next_msn.next = self.segmenter.next_msn.val();
        self.sequencer.next_npkts.next = self.segmenter.next_npkts.val();
        self.sequencer.next_length.next = self.segmenter.next_length.val();
        self.sequencer.next_index.next = self.segmenter.next_index.val();
        self.sequencer.next_more.next = self.segmenter.next_more.val();
        self.segmenter.done_valid.next = self.sequencer.done_valid.val();
        self.segmenter.done_advance.next = self.sequencer.done_advance.val();
        self.segmenter.done_skip.next = self.sequencer.done_skip.val();
        self.segmenter.done_requeue.next = self.sequencer.done_requeue.val();
        self.segmenter.wake_a_valid.next = self.sequencer.wake_valid.val();
        self.segmenter.wake_a_conn.next = self.sequencer.wake_conn.val();
        self.segmenter.wake_b_valid.next = self.retire.wake_b_valid.val();
        self.segmenter.wake_b_conn.next = self.retire.wake_b_conn.val();

        comment!("timers");
        self.sequencer.offer_valid.next = self.timers.offer_valid.val();
        self.timers.offer_ready.next = self.sequencer.offer_ready.val();
        self.sequencer.offer_row.next = self.timers.offer_row.val();
        self.timers.set_valid.next = self.sequencer.set_valid.val();
        self.timers.set_row.next = self.sequencer.set_row.val();
        self.timers.set_active.next = self.sequencer.set_active.val();
        self.timers.set_deadline.next = self.sequencer.set_deadline.val();

        comment!("outstanding packets");
        self.entry.next = self.sequencer.queue_entry.val();
        self.queue.seq_valid.next = self.sequencer.queue_valid.val();
        self.sequencer.queue_ready.next = self.queue.seq_ready.val();
        self.queue.seq_op.next = self.sequencer.queue_lookup.val();
        self.queue.seq_row.next = self.sequencer.queue_row.val();
        self.queue.seq_ppsn.next = self.sequencer.queue_ppsn.val();
        self.queue.seq_qp.next = self.entry.val().qp;
        self.queue.seq_msn.next = self.entry.val().msn;
        self.queue.seq_index.next = self.entry.val().index;
        self.queue.seq_bytes.next = self.entry.val().bytes;
        self.queue.seq_first.next = self.entry.val().first;
        self.queue.seq_last.next = self.entry.val().last;
        self.answer.next = self.no_entry.val();
        self.answer.next.qp = self.queue.seq_rsp_qp.val();
        self.answer.next.msn = self.queue.seq_rsp_msn.val();
        self.answer.next.index = self.queue.seq_rsp_index.val();
        self.answer.next.bytes = self.queue.seq_rsp_bytes.val();
        self.answer.next.first = self.queue.seq_rsp_first.val();
        self.answer.next.last = self.queue.seq_rsp_last.val();
        self.sequencer.queue_rsp.next = self.answer.val();
        self.sequencer.queue_rsp_valid.next = self.queue.seq_rsp_valid.val();
        self.sequencer.queue_room.next = self.queue.room.val();
        self.queue.flush_valid.next = self.sequencer.open_valid.val();
        self.queue.flush_conn.next = self.sequencer.open_conn.val();
        self.sequencer.flush_busy.next = self.queue.flush_busy.val();
        self.retire.open_valid.next = self.sequencer.open_valid.val();
        self.retire.open_conn.next = self.sequencer.open_conn.val();
        self.sequencer.retire_idle.next = self.retire.idle.val();
        self.retire_idle.next = self.retire.idle.val();

        comment!("retirement");
        self.retire.acked_valid.next = self.sequencer.acked_valid.val();
        self.retire.acked_conn.next = self.sequencer.acked_conn.val();
        self.retire.acked_path.next = self.sequencer.acked_path.val();
        self.retire.acked_base_ppsn.next = self.sequencer.acked_base_ppsn.val();
        self.retire.acked_mask.next = self.sequencer.acked_mask.val();
        self.sequencer.acked_ready.next = self.retire.acked_ready.val();
        self.retire.rb_addr.next = self.sequencer.rb_addr.val();
        self.sequencer.rb_data.next = self.retire.rb_data.val();
        self.queue.ret_valid.next = self.retire.free_valid.val();
        self.retire.free_ready.next = self.queue.ret_ready.val();
        self.queue.ret_row.next = self.retire.free_row.val();
        self.queue.ret_ppsn.next = self.retire.free_ppsn.val();
        self.retire.free_rsp_valid.next = self.queue.ret_rsp_valid.val();
        self.retire.free_rsp_qp.next = self.queue.ret_rsp_qp.val();
        self.retire.free_rsp_msn.next = self.queue.ret_rsp_msn.val();
        self.retire.free_rsp_bytes.next = self.queue.ret_rsp_bytes.val();
        self.ret_valid.next = self.retire.ret_valid.val();
        self.ret_qp.next = self.retire.ret_qp.val();
        self.ret_msn.next = self.retire.ret_msn.val();
        self.ret_bytes.next = self.retire.ret_bytes.val();
        self.retire.ret_ready.next = self.ret_ready.val();
        self.commit_retire_valid.next = self.retire.commit_valid.val();
        self.commit_retire_conn.next = self.retire.commit_conn.val();
        self.commit_retire_home.next = self.retire.commit_home.val();
        self.commit_retire_ppsn.next = self.retire.commit_ppsn.val();
        self.commit_retire_qp.next = self.retire.commit_qp.val();
        self.commit_retire_msn.next = self.retire.commit_msn.val();
        self.commit_retire_bytes.next = self.retire.commit_bytes.val();

        comment!("acknowledgments");
        self.sequencer.ack_valid.next = self.ack_valid.val();
        self.ack_ready.next = self.sequencer.ack_ready.val();
        self.ack.next = self.no_ack.val();
        self.ack.next.conn = self.ack_conn.val();
        self.ack.next.home = self.ack_home.val();
        self.ack.next.cum = self.ack_cum.val();
        self.ack.next.ts_echo = self.ack_ts_echo.val();
        self.ack.next.service = self.ack_service.val();
        self.ack.next.ce = self.ack_ce.val();
        self.ack.next.dup = self.ack_dup.val();
        self.ack.next.flags = self.ack_flags.val();
        self.ack.next.rate = self.ack_rate.val();
        self.ack.next.mak_qp = self.ack_mak_qp.val();
        self.ack.next.mak_code = self.ack_mak_code.val();
        self.ack.next.mak_msn = self.ack_mak_msn.val();
        self.sequencer.ack.next = self.ack.val();
        self.sequencer.ack_sav.next = self.ack_sav.val();

        comment!("descriptors and events");
        self.desc.next = self.sequencer.desc.val();
        self.desc_valid.next = self.sequencer.desc_valid.val();
        self.sequencer.desc_ready.next = self.desc_ready.val();
        self.desc_kind.next = self.desc.val().kind;
        self.desc_conn.next = self.desc.val().conn;
        self.desc_home.next = self.desc.val().home;
        self.desc_via.next = self.desc.val().via;
        self.desc_ppsn.next = self.desc.val().ppsn;
        self.desc_rtx.next = self.desc.val().rtx;
        self.desc_moved.next = self.desc.val().moved;
        self.desc_ack_req.next = self.desc.val().ack_req;
        self.desc_qp.next = self.desc.val().qp;
        self.desc_msn.next = self.desc.val().msn;
        self.desc_index.next = self.desc.val().index;
        self.desc_bytes.next = self.desc.val().bytes;
        self.desc_first.next = self.desc.val().first;
        self.desc_last.next = self.desc.val().last;
        self.desc_ts.next = self.desc.val().ts;
        self.desc_port.next = self.desc.val().port;
        self.nak_valid.next = self.sequencer.nak_valid.val();
        self.sequencer.nak_ready.next = self.nak_ready.val();
        self.nak_conn.next = self.sequencer.nak_conn.val();
        self.nak_qp.next = self.sequencer.nak_qp.val();
        self.nak_code.next = self.sequencer.nak_code.val();
        self.nak_msn.next = self.sequencer.nak_msn.val();
        self.nak_rnr.next = self.sequencer.nak_rnr.val();
        self.cerr_valid.next = self.sequencer.cerr_valid.val();
        self.sequencer.cerr_ready.next = self.cerr_ready.val();
        self.cerr_conn.next = self.sequencer.cerr_conn.val();
        self.portset_valid.next = self.sequencer.portset_valid.val();
        self.sequencer.portset_ready.next = self.portset_ready.val();
        self.portset_row.next = self.sequencer.portset_row.val();
        self.portset_port.next = self.sequencer.portset_port.val();
        self.qperr_addr.next = self.sequencer.qperr_addr.val();
        self.sequencer.qperr_data.next = self.qperr_data.val();

        comment!("commit records");
        self.grant.next = self.sequencer.commit_grant.val();
        self.ack_record.next = self.sequencer.commit_ack.val();
        self.timer_record.next = self.sequencer.commit_timer.val();
        self.ack_path.next = self.ack_record.val().path;
        self.timer_path.next = self.timer_record.val().path;
        self.commit_grant_valid.next = self.sequencer.commit_grant_valid.val();
        self.commit_ack_valid.next = self.sequencer.commit_ack_valid.val();
        self.commit_timer_valid.next = self.sequencer.commit_timer_valid.val();
        self.commit_grant_conn.next = self.grant.val().conn;
        self.commit_grant_kind.next = self.grant.val().kind;
        self.commit_grant_home.next = self.grant.val().home;
        self.commit_grant_via.next = self.grant.val().via;
        self.commit_grant_ppsn.next = self.grant.val().ppsn;
        self.commit_grant_rtx.next = self.grant.val().rtx;
        self.commit_grant_moved.next = self.grant.val().moved;
        self.commit_grant_ack_req.next = self.grant.val().ack_req;
        self.commit_grant_nop.next = self.grant.val().nop;
        self.commit_grant_qp.next = self.grant.val().qp;
        self.commit_grant_msn.next = self.grant.val().msn;
        self.commit_grant_index.next = self.grant.val().index;
        self.commit_grant_bytes.next = self.grant.val().bytes;
        self.commit_grant_now.next = self.grant.val().now;
        self.commit_grant_port.next = self.grant.val().port;
        self.commit_grant_inflight_bytes.next = self.grant.val().inflight_bytes;
        self.commit_grant_more.next = self.grant.val().more;
        self.commit_grant_next.next = self.grant.val().next_ppsn;
        self.commit_grant_pipe.next = self.grant.val().pipe;
        self.commit_grant_window.next = self.grant.val().window;
        self.commit_grant_rr.next = self.grant.val().rr;
        self.commit_ack_conn.next = self.ack_record.val().conn;
        self.commit_ack_home.next = self.ack_record.val().home;
        self.commit_ack_verdict.next = self.ack_record.val().verdict;
        self.commit_ack_acked.next = self.ack_record.val().acked;
        self.commit_ack_lost_l1.next = self.ack_record.val().lost_l1;
        self.commit_ack_lost_l2.next = self.ack_record.val().lost_l2;
        self.commit_ack_now.next = self.ack_record.val().now;
        self.commit_ack_hint.next = self.ack_record.val().hint;
        self.commit_ack_state.next = self.ack_path.val().state;
        self.commit_ack_next.next = self.ack_path.val().next_ppsn;
        self.commit_ack_cum.next = self.ack_path.val().cum;
        self.commit_ack_pipe.next = self.ack_path.val().pipe;
        self.commit_ack_window.next = self.ack_path.val().window;
        self.commit_ack_credit.next = self.ack_path.val().credit;
        self.commit_ack_srtt8.next = self.ack_path.val().srtt8;
        self.commit_ack_var4.next = self.ack_path.val().var4;
        self.commit_ack_backoff.next = self.ack_path.val().backoff;
        self.commit_ack_reo_tol.next = self.ack_path.val().reo_tol;
        self.commit_ack_mark.next = self.ack_path.val().mark;
        self.commit_ack_gen_open.next = self.ack_path.val().gen_open;
        self.commit_ack_probe_pending.next = self.ack_path.val().probe_pending;
        self.commit_timer_conn.next = self.timer_record.val().conn;
        self.commit_timer_path.next = self.timer_record.val().path_index;
        self.commit_timer_action.next = self.timer_record.val().action;
        self.commit_timer_now.next = self.timer_record.val().now;
        self.commit_timer_port.next = self.timer_record.val().port;
        self.commit_timer_probe_ppsn.next = self.timer_record.val().probe_ppsn;
        self.commit_timer_state.next = self.timer_path.val().state;
        self.commit_timer_next.next = self.timer_path.val().next_ppsn;
        self.commit_timer_cum.next = self.timer_path.val().cum;
        self.commit_timer_pipe.next = self.timer_path.val().pipe;
        self.commit_timer_window.next = self.timer_path.val().window;
        self.commit_timer_credit.next = self.timer_path.val().credit;
        self.commit_timer_srtt8.next = self.timer_path.val().srtt8;
        self.commit_timer_var4.next = self.timer_path.val().var4;
        self.commit_timer_backoff.next = self.timer_path.val().backoff;
        self.commit_timer_reo_tol.next = self.timer_path.val().reo_tol;
        self.commit_timer_mark.next = self.timer_path.val().mark;
        self.commit_timer_gen_open.next = self.timer_path.val().gen_open;
        self.commit_timer_probe_pending.next = self.timer_path.val().probe_pending;
    }
}
