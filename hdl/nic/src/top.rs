//! The engine: every block of docs/microarchitecture.md, wired; and the top levels that are emitted.
//!
//! In and out: AXI-Lite, MAC streams, DMA ports, commit port. Guarantees: nothing but wires and the counters' events is here.
use crate::config::{BuildConfig, ConfigError};
use crate::control::csr::Csr;
use crate::filled::filled;
use crate::host::completion::Completion;
use crate::host::ctrl_reads::CtrlReads;
use crate::host::recv_queue::RecvQueue;
use crate::host::work_fetch::WorkFetch;
use crate::packet::egress::Egress;
use crate::rx::placement_dma::PlacementDma;
use crate::rx::reads::Reads;
use crate::rx::rx_core::RxCore;
use crate::rx::rx_parser::RxParser;
use crate::tx::core::TxCore;
use mrnic_emit::{comment, emit as emit_block, Design, EmitError};
use rust_hdl_core::prelude::*;
use thiserror::Error;

/// A build cannot be emitted.
#[derive(Debug, Error)]
pub enum TopError {
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Emit(#[from] EmitError),
}

/// The engine with its fault input (see docs/microarchitecture.md).
#[derive(LogicBlock)]
pub struct Engine<const W: usize, const K: usize, const NB: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fault: Signal<In, Bits<5>>,
    pub axil_awaddr: Signal<In, Bits<16>>,
    pub axil_awvalid: Signal<In, Bit>,
    pub axil_awready: Signal<Out, Bit>,
    pub axil_wdata: Signal<In, Bits<32>>,
    pub axil_wvalid: Signal<In, Bit>,
    pub axil_wready: Signal<Out, Bit>,
    pub axil_bresp: Signal<Out, Bits<2>>,
    pub axil_bvalid: Signal<Out, Bit>,
    pub axil_bready: Signal<In, Bit>,
    pub axil_araddr: Signal<In, Bits<16>>,
    pub axil_arvalid: Signal<In, Bit>,
    pub axil_arready: Signal<Out, Bit>,
    pub axil_rdata: Signal<Out, Bits<32>>,
    pub axil_rresp: Signal<Out, Bits<2>>,
    pub axil_rvalid: Signal<Out, Bit>,
    pub axil_rready: Signal<In, Bit>,
    pub cr_desc_valid: Signal<Out, Bit>,
    pub cr_desc_ready: Signal<In, Bit>,
    pub cr_desc_addr: Signal<Out, Bits<64>>,
    pub cr_desc_len: Signal<Out, Bits<16>>,
    pub cr_valid: Signal<In, Bit>,
    pub cr_ready: Signal<Out, Bit>,
    pub cr_data: Signal<In, Bits<W>>,
    pub cr_last: Signal<In, Bit>,
    pub cw_desc_valid: Signal<Out, Bit>,
    pub cw_desc_ready: Signal<In, Bit>,
    pub cw_desc_addr: Signal<Out, Bits<64>>,
    pub cw_desc_len: Signal<Out, Bits<16>>,
    pub cw_valid: Signal<Out, Bit>,
    pub cw_ready: Signal<In, Bit>,
    pub cw_data: Signal<Out, Bits<W>>,
    pub cw_last: Signal<Out, Bit>,
    pub dr_desc_valid: Signal<Out, Bit>,
    pub dr_desc_ready: Signal<In, Bit>,
    pub dr_desc_addr: Signal<Out, Bits<64>>,
    pub dr_desc_len: Signal<Out, Bits<16>>,
    pub dr_valid: Signal<In, Bit>,
    pub dr_ready: Signal<Out, Bit>,
    pub dr_data: Signal<In, Bits<W>>,
    pub mac_tx_tvalid: Signal<Out, Bit>,
    pub mac_tx_tready: Signal<In, Bit>,
    pub mac_tx_tdata: Signal<Out, Bits<W>>,
    pub mac_tx_tkeep: Signal<Out, Bits<K>>,
    pub mac_tx_tlast: Signal<Out, Bit>,
    pub mac_rx_tvalid: Signal<In, Bit>,
    pub mac_rx_tready: Signal<Out, Bit>,
    pub mac_rx_tdata: Signal<In, Bits<W>>,
    pub mac_rx_tkeep: Signal<In, Bits<K>>,
    pub mac_rx_tlast: Signal<In, Bit>,
    pub dw_desc_valid: Signal<Out, Bit>,
    pub dw_desc_ready: Signal<In, Bit>,
    pub dw_desc_addr: Signal<Out, Bits<64>>,
    pub dw_desc_len: Signal<Out, Bits<16>>,
    pub dw_valid: Signal<Out, Bit>,
    pub dw_ready: Signal<In, Bit>,
    pub dw_data: Signal<Out, Bits<W>>,
    pub dw_last: Signal<Out, Bit>,
    /// One clock for each payload write whose data is visible to software, in their order.
    pub dw_done: Signal<In, Bit>,
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
    pub commit_grant_source: Signal<Out, Bits<2>>,
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
    pub commit_timer_action: Signal<Out, Bits<4>>,
    pub commit_timer_now: Signal<Out, Bits<32>>,
    pub commit_timer_port: Signal<Out, Bits<16>>,
    pub commit_timer_probe_ppsn: Signal<Out, Bits<24>>,
    pub commit_timer_watched: Signal<Out, Bit>,
    pub commit_timer_alive: Signal<Out, Bits<32>>,
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
    pub commit_rx_valid: Signal<Out, Bit>,
    pub commit_rx_kind: Signal<Out, Bits<3>>,
    pub commit_rx_class: Signal<Out, Bits<2>>,
    pub commit_rx_conn: Signal<Out, Bits<16>>,
    pub commit_rx_home: Signal<Out, Bits<8>>,
    pub commit_rx_via: Signal<Out, Bits<8>>,
    pub commit_rx_opcode: Signal<Out, Bits<8>>,
    pub commit_rx_ppsn: Signal<Out, Bits<24>>,
    pub commit_rx_code: Signal<Out, Bits<8>>,
    pub commit_rx_placed: Signal<Out, Bit>,
    pub commit_rx_addr: Signal<Out, Bits<64>>,
    pub commit_rx_bytes: Signal<Out, Bits<13>>,
    pub commit_rx_acked: Signal<Out, Bit>,
    pub commit_rx_now: Signal<Out, Bits<32>>,
    pub commit_rx_share: Signal<Out, Bits<24>>,
    pub commit_rx_cum: Signal<Out, Bits<24>>,
    pub commit_rx_high: Signal<Out, Bits<24>>,
    pub commit_rx_ce: Signal<Out, Bits<16>>,
    pub commit_rx_dup: Signal<Out, Bits<16>>,
    pub commit_rx_rx: Signal<Out, Bits<16>>,
    pub commit_rx_unacked: Signal<Out, Bits<3>>,
    pub commit_rx_exp: Signal<Out, Bits<24>>,
    pub commit_rx_rnr: Signal<Out, Bit>,
    pub commit_rx_qp_failed: Signal<Out, Bit>,
    pub commit_rx_used: Signal<Out, Bit>,
    pub commit_drop_valid: Signal<Out, Bit>,
    pub commit_drop_reason: Signal<Out, Bits<8>>,
    pub commit_cqe_valid: Signal<Out, Bit>,
    pub commit_cqe_qp: Signal<Out, Bits<16>>,
    pub commit_cqe_msn: Signal<Out, Bits<24>>,
    pub commit_cqe_data: Signal<Out, Bits<256>>,
    pub commit_ret_valid: Signal<Out, Bit>,
    pub commit_ret_qp: Signal<Out, Bits<16>>,
    pub commit_ret_msn: Signal<Out, Bits<24>>,
    pub commit_ret_bytes: Signal<Out, Bits<13>>,
    pub commit_answered_valid: Signal<Out, Bit>,
    pub commit_answered_qp: Signal<Out, Bits<16>>,
    pub commit_answered_msn: Signal<Out, Bits<24>>,
    pub commit_answer_valid: Signal<Out, Bit>,
    pub commit_answer_qp: Signal<Out, Bits<16>>,
    pub commit_err_valid: Signal<Out, Bit>,
    pub commit_err_kind: Signal<Out, Bits<3>>,
    pub commit_err_qp: Signal<Out, Bits<16>>,
    pub commit_err_conn: Signal<Out, Bits<16>>,
    pub commit_err_code: Signal<Out, Bits<8>>,
    pub commit_err_msn: Signal<Out, Bits<24>>,
    pub commit_err_now: Signal<Out, Bits<32>>,
    pub commit_rnr_valid: Signal<Out, Bit>,
    pub commit_rnr_qp: Signal<Out, Bits<16>>,
    pub commit_rnr_now: Signal<Out, Bits<32>>,
    pub commit_wqe_valid: Signal<Out, Bit>,
    pub commit_wqe_qp: Signal<Out, Bits<16>>,
    pub commit_wqe_wqe_index: Signal<Out, Bits<16>>,
    pub commit_wqe_msn: Signal<Out, Bits<24>>,
    pub commit_wqe_conn: Signal<Out, Bits<16>>,
    pub commit_wqe_status: Signal<Out, Bits<8>>,
    pub commit_wqe_data: Signal<Out, Bits<512>>,
    pub commit_recv_valid: Signal<Out, Bit>,
    pub commit_recv_qp: Signal<Out, Bits<16>>,
    pub commit_recv_index: Signal<Out, Bits<16>>,
    pub commit_recv_data: Signal<Out, Bits<256>>,
    pub commit_rcqe_valid: Signal<Out, Bit>,
    pub commit_rcqe_qp: Signal<Out, Bits<16>>,
    pub commit_rcqe_data: Signal<Out, Bits<256>>,
    pub commit_row_valid: Signal<Out, Bit>,
    pub commit_row_table: Signal<Out, Bits<8>>,
    pub commit_row_index: Signal<Out, Bits<16>>,
    csr: Box<Csr>,
    fetch: Box<WorkFetch<W>>,
    completion: Box<Completion<W>>,
    recv: Box<RecvQueue<W>>,
    reads: Box<CtrlReads<W>>,
    tx: Box<TxCore>,
    rx: Box<RxCore>,
    place: Box<PlacementDma<W, K>>,
    egress: Box<Egress<W, K>>,
    parser: Box<RxParser<W, K, NB>>,
    /// READs and atomics: one in a build that has them.
    remote: Box<[Reads<W>; R]>,
    busy: Signal<Local, Bit>,
    inited: Signal<Local, Bit>,
    quiet: Signal<Local, Bit>,
    events: Signal<Local, Bits<32>>,
    tail: Signal<Local, Bit>,
}

impl<const W: usize, const K: usize, const NB: usize, const R: usize> Engine<W, K, NB, R> {
    /// The engine of a build; W is its data width, K = W / 8, NB as for the parser.
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Engine {
            csr: Box::new(Csr::new(config)),
            fetch: Box::new(WorkFetch::new(config)),
            completion: Box::new(Completion::new(config)),
            recv: Box::new(RecvQueue::new(config)),
            reads: Box::new(CtrlReads::new(config)),
            tx: Box::new(TxCore::new(config)),
            rx: Box::new(RxCore::new(config)),
            place: Box::new(PlacementDma::new(config)),
            egress: Box::new(Egress::new(config)),
            parser: Box::new(RxParser::new(config)),
            remote: Box::new(array_init::array_init(|_| Reads::new(config)));
            clock, reset, fault, events, tail, busy, inited, quiet,
            axil_awaddr, axil_awvalid, axil_awready, axil_wdata, axil_wvalid, axil_wready, axil_bresp, axil_bvalid,
            axil_bready, axil_araddr, axil_arvalid, axil_arready, axil_rdata, axil_rresp, axil_rvalid, axil_rready,
            cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid, cr_ready, cr_data, cr_last,
            cw_desc_valid, cw_desc_ready, cw_desc_addr, cw_desc_len, cw_valid, cw_ready, cw_data, cw_last,
            dr_desc_valid, dr_desc_ready, dr_desc_addr, dr_desc_len, dr_valid, dr_ready, dr_data, mac_tx_tvalid,
            mac_tx_tready, mac_tx_tdata, mac_tx_tkeep, mac_tx_tlast, mac_rx_tvalid, mac_rx_tready, mac_rx_tdata,
            mac_rx_tkeep, mac_rx_tlast, dw_desc_valid, dw_desc_ready, dw_desc_addr, dw_desc_len, dw_valid, dw_ready,
            dw_data, dw_last, commit_grant_valid, commit_grant_conn, commit_grant_kind, commit_grant_home,
            commit_grant_via, commit_grant_ppsn, commit_grant_rtx, commit_grant_moved, commit_grant_ack_req,
            commit_grant_nop, commit_grant_qp, commit_grant_msn, commit_grant_index, commit_grant_bytes,
            commit_grant_now, commit_grant_port, commit_grant_inflight_bytes, commit_grant_more, commit_grant_next,
            commit_grant_pipe, commit_grant_window, commit_grant_rr, commit_ack_valid, commit_ack_conn,
            commit_ack_home, commit_ack_verdict, commit_ack_acked, commit_ack_lost_l1, commit_ack_lost_l2,
            commit_ack_now, commit_ack_hint, commit_ack_state, commit_ack_next, commit_ack_cum, commit_ack_pipe,
            commit_ack_window, commit_ack_credit, commit_ack_srtt8, commit_ack_var4, commit_ack_backoff,
            commit_ack_reo_tol, commit_ack_mark, commit_ack_gen_open, commit_ack_probe_pending, commit_timer_valid,
            commit_timer_conn, commit_timer_path, commit_timer_action, commit_timer_now, commit_timer_port,
            commit_timer_probe_ppsn, commit_timer_watched, commit_timer_alive, commit_timer_state, commit_timer_next, commit_timer_cum, commit_timer_pipe,
            commit_timer_window, commit_timer_credit, commit_timer_srtt8, commit_timer_var4, commit_timer_backoff,
            commit_timer_reo_tol, commit_timer_mark, commit_timer_gen_open, commit_timer_probe_pending,
            commit_retire_valid, commit_retire_conn, commit_retire_home, commit_retire_ppsn, commit_retire_qp,
            commit_retire_msn, commit_retire_bytes, commit_rx_valid, commit_rx_kind, commit_rx_class, commit_rx_conn,
            commit_rx_home, commit_rx_via, commit_rx_opcode, commit_rx_ppsn, commit_rx_code, commit_rx_placed,
            commit_rx_addr, commit_rx_bytes, commit_rx_acked, commit_rx_now, commit_rx_share, commit_rx_cum,
            commit_rx_high, commit_rx_ce, commit_rx_dup, commit_rx_rx, commit_rx_unacked, commit_rx_exp,
            commit_drop_valid, commit_drop_reason, commit_cqe_valid, commit_cqe_qp, commit_cqe_msn, commit_cqe_data,
            commit_ret_valid, commit_ret_qp, commit_ret_msn, commit_ret_bytes, commit_err_valid, commit_err_kind,
            commit_err_qp, commit_err_conn, commit_err_code, commit_err_msn, commit_err_now, commit_rnr_valid, commit_rnr_qp, commit_rnr_now, commit_wqe_valid, commit_wqe_qp,
            commit_wqe_wqe_index, commit_wqe_msn, commit_wqe_conn, commit_wqe_status, commit_wqe_data,
            dw_done, commit_rx_rnr, commit_rx_qp_failed, commit_rx_used, commit_grant_source,
            commit_answered_valid, commit_answered_qp, commit_answered_msn, commit_answer_valid, commit_answer_qp, commit_recv_valid, commit_recv_qp, commit_recv_index,
            commit_recv_data, commit_rcqe_valid, commit_rcqe_qp, commit_rcqe_data, commit_row_valid, commit_row_table, commit_row_index,
        })
    }
}

impl<const W: usize, const K: usize, const NB: usize, const R: usize> Logic for Engine<W, K, NB, R> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module engine: every block of the NIC, wired");
        clock!(self, clock, csr, fetch, completion, recv, reads, tx, rx, place, egress, parser);
        self.csr.reset.next = self.reset.val();
        self.fetch.reset.next = self.reset.val();
        self.completion.reset.next = self.reset.val();
        self.recv.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();
        self.tx.reset.next = self.reset.val();
        self.rx.reset.next = self.reset.val();
        self.place.reset.next = self.reset.val();
        self.egress.reset.next = self.reset.val();
        self.parser.reset.next = self.reset.val();
        self.completion.fault.next = self.fault.val();
        self.fetch.fault.next = self.fault.val();
        self.recv.fault.next = self.fault.val();
        self.tx.fault.next = self.fault.val();
        self.rx.fault.next = self.fault.val();
        self.egress.fault.next = self.fault.val();
        self.parser.fault.next = self.fault.val();
        comment!("registers");
        self.csr.axil_awaddr.next = self.axil_awaddr.val();
        self.csr.axil_awvalid.next = self.axil_awvalid.val();
        self.axil_awready.next = self.csr.axil_awready.val();
        self.csr.axil_wdata.next = self.axil_wdata.val();
        self.csr.axil_wvalid.next = self.axil_wvalid.val();
        self.axil_wready.next = self.csr.axil_wready.val();
        self.axil_bresp.next = self.csr.axil_bresp.val();
        self.axil_bvalid.next = self.csr.axil_bvalid.val();
        self.csr.axil_bready.next = self.axil_bready.val();
        self.csr.axil_araddr.next = self.axil_araddr.val();
        self.csr.axil_arvalid.next = self.axil_arvalid.val();
        self.axil_arready.next = self.csr.axil_arready.val();
        self.axil_rdata.next = self.csr.axil_rdata.val();
        self.axil_rresp.next = self.csr.axil_rresp.val();
        self.axil_rvalid.next = self.csr.axil_rvalid.val();
        self.csr.axil_rready.next = self.axil_rready.val();
        self.busy.next = self.fetch.cfg_busy.val()
            | self.completion.cfg_busy.val()
            | self.recv.cfg_busy.val()
            | self.tx.cfg_busy.val()
            | self.rx.cfg_busy.val()
            | self.egress.cfg_busy.val();
        self.inited.next = self.fetch.init_done.val()
            & self.completion.init_done.val()
            & self.recv.init_done.val()
            & self.tx.init_done.val()
            & self.rx.init_done.val();
        self.fetch.cfg_valid.next = self.csr.cfg_valid.val();
        self.fetch.cfg_table.next = self.csr.cfg_table.val();
        self.fetch.cfg_index.next = self.csr.cfg_index.val();
        self.fetch.cfg_data.next = self.csr.cfg_data.val();
        self.completion.cfg_valid.next = self.csr.cfg_valid.val();
        self.completion.cfg_table.next = self.csr.cfg_table.val();
        self.completion.cfg_index.next = self.csr.cfg_index.val();
        self.completion.cfg_data.next = self.csr.cfg_data.val();
        self.recv.cfg_valid.next = self.csr.cfg_valid.val();
        self.recv.cfg_table.next = self.csr.cfg_table.val();
        self.recv.cfg_index.next = self.csr.cfg_index.val();
        self.recv.cfg_data.next = self.csr.cfg_data.val();
        self.recv.completion_busy.next = self.completion.cfg_busy.val();
        self.tx.completion_busy.next = self.completion.cfg_busy.val();
        self.rx.others_busy.next =
            self.fetch.cfg_busy.val() | self.completion.cfg_busy.val() | self.recv.cfg_busy.val() | self.tx.cfg_busy.val();
        self.tx.drain_valid.next = self.csr.drain_valid.val();
        self.tx.drain_qp.next = self.csr.drain_qp.val();
        self.csr.drained_valid.next = self.tx.drained_valid.val();
        self.csr.drained_qp.next = self.tx.drained_qp.val();
        self.rx.asked_qp.next = self.csr.drain_qp.val();
        self.csr.refusal.next = self.rx.refusal.val();
        self.tx.cfg_valid.next = self.csr.cfg_valid.val();
        self.tx.cfg_table.next = self.csr.cfg_table.val();
        self.tx.cfg_index.next = self.csr.cfg_index.val();
        self.tx.cfg_data.next = self.csr.cfg_data.val();
        self.rx.cfg_valid.next = self.csr.cfg_valid.val();
        self.rx.cfg_table.next = self.csr.cfg_table.val();
        self.rx.cfg_index.next = self.csr.cfg_index.val();
        self.rx.cfg_data.next = self.csr.cfg_data.val();
        self.egress.cfg_valid.next = self.csr.cfg_valid.val();
        self.egress.cfg_table.next = self.csr.cfg_table.val();
        self.egress.cfg_index.next = self.csr.cfg_index.val();
        self.egress.cfg_data.next = self.csr.cfg_data.val();
        self.tx.now.next = self.csr.now.val();
        self.rx.now.next = self.csr.now.val();
        self.tx.rto_min.next = self.csr.rto_min.val();
        self.rx.ack_delay.next = self.csr.ack_delay.val();
        self.rx.ack_every.next = self.csr.ack_every.val();
        self.rx.epoch_cap.next = self.csr.epoch_cap.val();
        comment!("work requests");
        self.fetch.doorbell_valid.next = self.csr.doorbell_valid.val();
        self.csr.doorbell_ready.next = self.fetch.doorbell_ready.val();
        self.fetch.doorbell_qp.next = self.csr.doorbell_qp.val();
        self.fetch.doorbell_index.next = self.csr.doorbell_index.val();
        comment!("no queue of receives yet: doorbells of receives are taken and forgotten");
        self.reads.a_desc_valid.next = self.fetch.cr_desc_valid.val();
        self.fetch.cr_desc_ready.next = self.reads.a_desc_ready.val();
        self.reads.a_desc_addr.next = self.fetch.cr_desc_addr.val();
        self.reads.a_desc_len.next = self.fetch.cr_desc_len.val();
        self.fetch.cr_valid.next = self.reads.a_valid.val();
        self.reads.a_ready.next = self.fetch.cr_ready.val();
        self.fetch.cr_data.next = self.reads.data.val();
        self.fetch.cr_last.next = self.reads.last.val();
        self.reads.b_desc_valid.next = self.recv.rr_desc_valid.val();
        self.recv.rr_desc_ready.next = self.reads.b_desc_ready.val();
        self.reads.b_desc_addr.next = self.recv.rr_desc_addr.val();
        self.reads.b_desc_len.next = self.recv.rr_desc_len.val();
        self.recv.rr_valid.next = self.reads.b_valid.val();
        self.reads.b_ready.next = self.recv.rr_ready.val();
        self.recv.rr_data.next = self.reads.data.val();
        self.recv.rr_last.next = self.reads.last.val();
        self.cr_desc_valid.next = self.reads.cr_desc_valid.val();
        self.reads.cr_desc_ready.next = self.cr_desc_ready.val();
        self.cr_desc_addr.next = self.reads.cr_desc_addr.val();
        self.cr_desc_len.next = self.reads.cr_desc_len.val();
        self.reads.cr_valid.next = self.cr_valid.val();
        self.cr_ready.next = self.reads.cr_ready.val();
        self.reads.cr_data.next = self.cr_data.val();
        self.reads.cr_last.next = self.cr_last.val();
        self.tx.msg_valid.next = self.fetch.msg_valid.val();
        self.fetch.msg_ready.next = self.tx.msg_ready.val();
        self.tx.msg_conn.next = self.fetch.msg_conn.val();
        self.tx.msg_qp.next = self.fetch.msg_qp.val();
        self.tx.msg_msn.next = self.fetch.msg_msn.val();
        self.tx.msg_npkts.next = self.fetch.msg_npkts.val();
        self.tx.msg_length.next = self.fetch.msg_length.val();
        self.completion.cmsg_qp.next = self.fetch.msg_qp.val();
        self.completion.cmsg_msn.next = self.fetch.msg_msn.val();
        self.completion.cmsg_npkts.next = self.fetch.msg_npkts.val();
        self.completion.cmsg_length.next = self.fetch.cmsg_length.val();
        self.completion.cmsg_valid.next = self.fetch.cmsg_valid.val();
        self.completion.cmsg_wqe_index.next = self.fetch.cmsg_wqe_index.val();
        self.completion.cmsg_wr_id.next = self.fetch.cmsg_wr_id.val();
        self.completion.cmsg_signaled.next = self.fetch.cmsg_signaled.val();
        self.completion.cmsg_opcode.next = self.fetch.cmsg_opcode.val();
        self.completion.cmsg_status.next = self.fetch.cmsg_status.val();
        self.fetch.cmsg_ready.next = self.completion.cmsg_ready.val();
        self.fetch.rel_conn_valid.next = self.tx.rel_conn_valid.val();
        self.fetch.rel_conn.next = self.tx.rel_conn.val();
        self.tx.rel_conn_ready.next = self.fetch.rel_conn_ready.val();
        self.fetch.rel_qp_valid.next = self.completion.rel_qp_valid.val();
        self.fetch.rel_qp.next = self.completion.rel_qp.val();
        self.completion.rel_qp_ready.next = self.fetch.rel_qp_ready.val();
        self.fetch.request_done.next = self.completion.request_done.val();
        self.fetch.request_done_qp.next = self.completion.request_done_qp.val();
        self.egress.msgrow_ask.next = self.fetch.msgrow_ask.val();
        self.fetch.msgrow_ready.next = self.egress.msgrow_ready.val();
        self.egress.msgrow_valid.next = self.fetch.msgrow_write.val();
        self.egress.msgrow_addr.next = self.fetch.msgrow_addr.val();
        self.egress.msgrow_laddr.next = self.fetch.msgrow_laddr.val();
        self.egress.msgrow_raddr.next = self.fetch.msgrow_raddr.val();
        self.egress.msgrow_rkey.next = self.fetch.msgrow_rkey.val();
        self.egress.msgrow_length.next = self.fetch.msgrow_length.val();
        self.egress.msgrow_peer_qpn.next = self.fetch.msgrow_peer_qpn.val();
        self.egress.msgrow_opcode.next = self.fetch.msgrow_opcode.val();
        self.egress.msgrow_imm.next = self.fetch.msgrow_imm.val();
        self.egress.msgrow_rq_seq.next = self.fetch.msgrow_rq_seq.val();
        self.egress.msgrow_sol.next = self.fetch.msgrow_sol.val();
        self.egress.msgrow_tag.next = self.fetch.msgrow_tag.val();
        self.egress.msgrow_swap_add.next = self.fetch.msgrow_swap_add.val();
        self.egress.msgrow_compare.next = self.fetch.msgrow_compare.val();
        self.egress.msgrow_listed.next = self.fetch.msgrow_listed.val();
        self.egress.msgpiece_write.next = self.fetch.msgpiece_write.val();
        self.egress.msgpiece_at.next = self.fetch.msgpiece_at.val();
        self.egress.msgpiece_addr.next = self.fetch.msgpiece_addr.val();
        self.egress.msgpiece_end.next = self.fetch.msgpiece_end.val();
        self.egress.rsprow_ask.next = false;
        self.egress.rsprow_valid.next = false;
        self.egress.rsprow_addr.next = 0.into();
        self.egress.rsprow_atomic.next = false;
        self.egress.rsprow_base.next = 0.into();
        self.egress.rsprow_length.next = 0.into();
        self.egress.rsprow_tag.next = 0.into();
        self.egress.rsprow_peer_qpn.next = 0.into();
        comment!("completions and errors");
        self.completion.ret_valid.next = self.tx.ret_valid.val();
        self.tx.ret_ready.next = self.completion.ret_ready.val();
        self.tx.resp_ready.next = true;
        self.tx.rsp_valid.next = false;
        self.tx.rsp_conn.next = 0.into();
        self.tx.rsp_error.next = false;
        self.tx.rsp_code.next = 0.into();
        self.tx.rsp_qp.next = 0.into();
        self.tx.rsp_msn.next = 0.into();
        self.tx.rsp_npkts.next = 0.into();
        self.tx.rsp_length.next = 0.into();
        self.tx.rsp_peer_qpn.next = 0.into();
        self.completion.ret_qp.next = self.tx.ret_qp.val();
        self.completion.ret_msn.next = self.tx.ret_msn.val();
        self.completion.ret_bytes.next = self.tx.ret_bytes.val();
        self.completion.nak_valid.next = self.tx.nak_valid.val();
        self.tx.nak_ready.next = self.completion.nak_ready.val();
        self.completion.nak_conn.next = self.tx.nak_conn.val();
        self.completion.nak_qp.next = self.tx.nak_qp.val();
        self.completion.nak_code.next = self.tx.nak_code.val();
        self.completion.nak_msn.next = self.tx.nak_msn.val();
        self.completion.nak_rnr.next = self.tx.nak_rnr.val();
        self.tx.withdraw_valid.next = self.completion.withdraw_valid.val();
        self.tx.withdraw_qp.next = self.completion.withdraw_qp.val();
        self.tx.withdraw_msn.next = self.completion.withdraw_msn.val();
        self.tx.withdraw_code.next = self.completion.withdraw_code.val();
        self.tx.withdraw_began.next = self.completion.withdraw_began.val();
        self.completion.over_valid.next = self.tx.over_valid.val();
        self.tx.over_ready.next = self.completion.over_ready.val();
        self.completion.over_qp.next = self.tx.over_qp.val();
        self.tx.over_done.next = self.completion.over_done.val();
        self.tx.over_failed.next = self.completion.over_failed.val();
        self.tx.over_head.next = self.completion.over_head.val();
        self.completion.again_valid.next = self.tx.again_valid.val();
        self.tx.again_ready.next = self.completion.again_ready.val();
        self.completion.again_qp.next = self.tx.again_qp.val();
        self.completion.again_msn.next = self.tx.again_msn.val();
        self.completion.rnr_hold.next = self.tx.rnr_hold.val();
        self.completion.cerr_valid.next = self.tx.cerr_valid.val();
        self.tx.cerr_ready.next = self.completion.cerr_ready.val();
        self.completion.cerr_conn.next = self.tx.cerr_conn.val();
        self.completion.rxerr_valid.next = self.rx.rxerr_valid.val();
        self.rx.rxerr_ready.next = self.completion.rxerr_ready.val();
        self.completion.rxerr_qp.next = self.rx.rxerr_qp.val();
        self.quiet.next = self.tx.retire_idle.val();
        self.completion.qperr_tx_addr.next = self.tx.qperr_addr.val();
        self.tx.qperr_data.next = self.completion.qperr_tx_data.val();
        self.completion.qperr_rx_addr.next = self.rx.qperr_addr.val();
        self.rx.qperr_data.next = self.completion.qperr_rx_data.val();
        self.completion.qperr_host_addr.next = self.fetch.qperr_addr.val();
        self.fetch.qperr_data.next = self.completion.qperr_host_data.val();
        self.cw_desc_valid.next = self.completion.cw_desc_valid.val();
        self.completion.cw_desc_ready.next = self.cw_desc_ready.val();
        self.cw_desc_addr.next = self.completion.cw_desc_addr.val();
        self.cw_desc_len.next = self.completion.cw_desc_len.val();
        self.cw_valid.next = self.completion.cw_valid.val();
        self.completion.cw_ready.next = self.cw_ready.val();
        self.cw_data.next = self.completion.cw_data.val();
        self.cw_last.next = self.completion.cw_last.val();
        comment!("receives");
        self.recv.rdoorbell_valid.next = self.csr.rdoorbell_valid.val();
        self.csr.rdoorbell_ready.next = self.recv.rdoorbell_ready.val();
        self.recv.rdoorbell_qp.next = self.csr.rdoorbell_qp.val();
        self.recv.rdoorbell_index.next = self.csr.rdoorbell_index.val();
        self.recv.rq_near.next = self.rx.rq_near.val();
        self.recv.rq_look.next = self.rx.rq_look.val();
        self.recv.rq_qp.next = self.rx.rq_qp.val();
        self.recv.rq_seq.next = self.rx.rq_seq.val();
        self.recv.rq_msn.next = self.rx.rq_msn.val();
        self.recv.rq_step.next = self.rx.rq_step.val();
        self.recv.rx_commit.next = self.rx.commit_rx_valid.val();
        self.rx.rq_found.next = self.recv.rq_found.val();
        self.rx.rq_last.next = self.recv.rq_last.val();
        self.rx.rq_shared.next = self.recv.rq_shared.val();
        self.rx.rq_pd.next = self.recv.rq_pd.val();
        self.rx.rq_addr.next = self.recv.rq_addr.val();
        self.rx.rq_len.next = self.recv.rq_len.val();
        self.rx.rq_lkey.next = self.recv.rq_lkey.val();
        self.rx.rq_listed.next = self.recv.rq_listed.val();
        self.rx.rq_piece.next = self.recv.rq_piece.val();
        self.recv.rq_at.next = self.rx.rq_at.val();
        self.recv.rq_mark.next = self.rx.rq_mark.val();
        self.recv.rq_accept.next = self.rx.rq_accept.val();
        self.recv.rq_length.next = self.rx.rq_length.val();
        self.recv.rq_imm.next = self.rx.rq_imm.val();
        self.recv.rq_has_imm.next = self.rx.rq_has_imm.val();
        self.recv.rq_sol.next = self.rx.rq_sol.val();
        self.recv.rq_by_write.next = self.rx.rq_by_write.val();
        self.recv.rq_failed.next = self.rx.rq_failed.val();
        self.recv.pass_valid.next = self.rx.pass_valid.val();
        self.rx.pass_ready.next = self.recv.pass_ready.val();
        self.recv.pass_qp.next = self.rx.pass_qp.val();
        self.recv.pass_slot.next = self.rx.pass_slot.val();
        self.recv.pass_ticket.next = self.rx.pass_ticket.val();
        self.recv.flush_valid.next = self.completion.flush_valid.val();
        self.completion.flush_ready.next = self.recv.flush_ready.val();
        self.recv.flush_qp.next = self.completion.flush_qp.val();
        self.recv.done_count.next = self.place.done_count.val();
        self.place.dw_done.next = self.dw_done.val();
        self.completion.rcqe_valid.next = self.recv.rcqe_valid.val();
        self.recv.rcqe_ready.next = self.completion.rcqe_ready.val();
        self.completion.rcqe_addr.next = self.recv.rcqe_addr.val();
        self.completion.rcqe_data.next = self.recv.rcqe_data.val();
        comment!("packets out");
        self.egress.desc_valid.next = self.tx.desc_valid.val();
        self.tx.desc_ready.next = self.egress.desc_ready.val();
        self.egress.desc_kind.next = self.tx.desc_kind.val();
        self.egress.desc_conn.next = self.tx.desc_conn.val();
        self.egress.desc_home.next = self.tx.desc_home.val();
        self.egress.desc_via.next = self.tx.desc_via.val();
        self.egress.desc_ppsn.next = self.tx.desc_ppsn.val();
        self.egress.desc_rtx.next = self.tx.desc_rtx.val();
        self.egress.desc_moved.next = self.tx.desc_moved.val();
        self.egress.desc_ack_req.next = self.tx.desc_ack_req.val();
        self.egress.desc_qp.next = self.tx.desc_qp.val();
        self.egress.desc_msn.next = self.tx.desc_msn.val();
        self.egress.desc_index.next = self.tx.desc_index.val();
        self.egress.desc_bytes.next = self.tx.desc_bytes.val();
        self.egress.desc_first.next = self.tx.desc_first.val();
        self.egress.desc_last.next = self.tx.desc_last.val();
        self.egress.desc_source.next = self.tx.desc_source.val();
        self.egress.desc_attempt.next = self.tx.desc_attempt.val();
        self.egress.desc_ts.next = self.tx.desc_ts.val();
        self.egress.desc_port.next = self.tx.desc_port.val();
        self.egress.ackdesc_valid.next = self.rx.ackdesc_valid.val();
        self.rx.ackdesc_ready.next = self.egress.ackdesc_ready.val();
        self.egress.ackdesc_conn.next = self.rx.ackdesc_conn.val();
        self.egress.ackdesc_home.next = self.rx.ackdesc_home.val();
        self.egress.ackdesc_via.next = self.rx.ackdesc_via.val();
        self.egress.ackdesc_cum.next = self.rx.ackdesc_cum.val();
        self.egress.ackdesc_ts_echo.next = self.rx.ackdesc_ts_echo.val();
        self.egress.ackdesc_service.next = self.rx.ackdesc_service.val();
        self.egress.ackdesc_ce.next = self.rx.ackdesc_ce.val();
        self.egress.ackdesc_dup.next = self.rx.ackdesc_dup.val();
        self.egress.ackdesc_rx.next = self.rx.ackdesc_rx.val();
        self.egress.ackdesc_flags.next = self.rx.ackdesc_flags.val();
        self.egress.ackdesc_rate.next = self.rx.ackdesc_rate.val();
        self.egress.ackdesc_epoch.next = self.rx.ackdesc_epoch.val();
        self.egress.ackdesc_mak_qp.next = self.rx.ackdesc_mak_qp.val();
        self.egress.ackdesc_mak_code.next = self.rx.ackdesc_mak_code.val();
        self.egress.ackdesc_mak_msn.next = self.rx.ackdesc_mak_msn.val();
        self.egress.ackdesc_sav.next = self.rx.ackdesc_sav.val();
        self.egress.portset_valid.next = self.rx.portset_valid.val();
        self.egress.portset_conn.next = self.rx.portset_conn.val();
        self.egress.portset_path.next = self.rx.portset_path.val();
        self.egress.portset_port.next = self.rx.portset_port.val();
        self.dr_desc_valid.next = self.egress.dr_desc_valid.val();
        self.egress.dr_desc_ready.next = self.dr_desc_ready.val();
        self.dr_desc_addr.next = self.egress.dr_desc_addr.val();
        self.dr_desc_len.next = self.egress.dr_desc_len.val();
        self.egress.dr_valid.next = self.dr_valid.val();
        self.dr_ready.next = self.egress.dr_ready.val();
        self.egress.dr_data.next = self.dr_data.val();
        self.mac_tx_tvalid.next = self.egress.mac_tx_tvalid.val();
        self.egress.mac_tx_tready.next = self.mac_tx_tready.val();
        self.mac_tx_tdata.next = self.egress.mac_tx_tdata.val();
        self.mac_tx_tkeep.next = self.egress.mac_tx_tkeep.val();
        self.mac_tx_tlast.next = self.egress.mac_tx_tlast.val();
        comment!("packets in");
        self.parser.mac_rx_tvalid.next = self.mac_rx_tvalid.val();
        self.mac_rx_tready.next = self.parser.mac_rx_tready.val();
        self.parser.mac_rx_tdata.next = self.mac_rx_tdata.val();
        self.parser.mac_rx_tkeep.next = self.mac_rx_tkeep.val();
        self.parser.mac_rx_tlast.next = self.mac_rx_tlast.val();
        self.rx.hdr_valid.next = self.parser.hdr_valid.val();
        self.parser.hdr_ready.next = self.rx.hdr_ready.val();
        self.rx.hdr_opcode.next = self.parser.hdr_opcode.val();
        self.rx.hdr_ack_req.next = self.parser.hdr_ack_req.val();
        self.rx.hdr_ppsn.next = self.parser.hdr_ppsn.val();
        self.rx.hdr_dest_qp.next = self.parser.hdr_dest_qp.val();
        self.rx.hdr_ecn_ce.next = self.parser.hdr_ecn_ce.val();
        self.rx.hdr_home.next = self.parser.hdr_home.val();
        self.rx.hdr_via.next = self.parser.hdr_via.val();
        self.rx.hdr_conn.next = self.parser.hdr_conn.val();
        self.rx.hdr_rtx.next = self.parser.hdr_rtx.val();
        self.rx.hdr_tx_ts.next = self.parser.hdr_tx_ts.val();
        self.rx.hdr_msn.next = self.parser.hdr_msn.val();
        self.rx.hdr_first.next = self.parser.hdr_first.val();
        self.rx.hdr_last.next = self.parser.hdr_last.val();
        self.rx.hdr_va.next = self.parser.hdr_va.val();
        self.rx.hdr_rkey.next = self.parser.hdr_rkey.val();
        self.rx.hdr_length.next = self.parser.hdr_length.val();
        self.rx.hdr_payload_bytes.next = self.parser.hdr_payload_bytes.val();
        self.rx.hdr_rq_seq.next = self.parser.hdr_rq_seq.val();
        self.rx.hdr_imm.next = self.parser.hdr_imm.val();
        self.rx.hdr_has_imm.next = self.parser.hdr_has_imm.val();
        self.rx.hdr_sol.next = self.parser.hdr_sol.val();
        self.rx.hdr_attempt.next = self.parser.hdr_attempt.val();
        self.rx.hdr_udp_src.next = self.parser.hdr_udp_src.val();
        self.rx.hdr_tag.next = self.parser.hdr_tag.val();
        self.rx.hdr_operand.next = self.parser.hdr_operand.val();
        self.rx.hdr_compare.next = self.parser.hdr_compare.val();
        self.rx.hdr_fetch_add.next = self.parser.hdr_fetch_add.val();
        self.rx.hdr_error_code.next = self.parser.hdr_error_code.val();
        comment!("without READs and atomics");
        self.rx.ask_reached_ok.next = false;
        self.rx.ask_early_ok.next = false;
        self.rx.ask_none.next = true;
        self.rx.ask_failed.next = false;
        self.rx.check_valid.next = false;
        self.rx.finish_valid.next = false;
        self.rx.run_qp.next = 0.into();
        self.rx.run_msn.next = 0.into();
        self.rx.run_atomic.next = false;
        self.rx.run_va.next = 0.into();
        self.rx.run_rkey.next = 0.into();
        self.rx.run_length.next = 0.into();
        self.rx.run_code.next = 0.into();
        self.rx.run_value.next = 0.into();
        self.rx.run_write.next = false;
        self.rx.run_addr.next = 0.into();
        self.rx.run_data.next = 0.into();
        self.rx.rsp_used.next = false;
        self.rx.rsp_addr.next = 0.into();
        self.rx.rsp_room.next = true;
        self.rx.rsp_listed.next = false;
        self.rx.rsp_piece.next = 0.into();
        self.rx.cerr_valid.next = false;
        self.rx.cerr_conn.next = 0.into();
        self.rx.nak_ready.next = self.completion.rnak_ready.val();
        self.completion.rnak_valid.next = self.rx.nak_valid.val();
        self.completion.rnak_qp.next = self.rx.nak_qp.val();
        self.completion.rnak_code.next = self.rx.nak_code.val();
        self.completion.rnak_msn.next = self.rx.nak_msn.val();
        self.completion.answered_valid.next = false;
        self.completion.answered_qp.next = 0.into();
        self.completion.answered_msn.next = 0.into();
        self.rx.hdr_ts_echo.next = self.parser.hdr_ts_echo.val();
        self.rx.hdr_service.next = self.parser.hdr_service.val();
        self.rx.hdr_ce.next = self.parser.hdr_ce.val();
        self.rx.hdr_dup.next = self.parser.hdr_dup.val();
        self.rx.hdr_flags.next = self.parser.hdr_flags.val();
        self.rx.hdr_rate.next = self.parser.hdr_rate.val();
        self.rx.hdr_sav.next = self.parser.hdr_sav.val();
        self.rx.hdr_mak_qp.next = self.parser.hdr_mak_qp.val();
        self.rx.hdr_mak_code.next = self.parser.hdr_mak_code.val();
        self.rx.hdr_mak_msn.next = self.parser.hdr_mak_msn.val();
        self.place.pl_valid.next = self.parser.pl_valid.val();
        self.parser.pl_ready.next = self.place.pl_ready.val();
        self.place.pl_data.next = self.parser.pl_data.val();
        self.place.pl_last.next = self.parser.pl_last.val();
        self.place.place_valid.next = self.rx.place_valid.val();
        self.rx.place_ready.next = self.place.place_ready.val();
        self.place.place_write.next = self.rx.place_write.val();
        self.place.place_addr.next = self.rx.place_addr.val();
        self.place.place_bytes.next = self.rx.place_bytes.val();
        self.place.place_own.next = self.rx.place_own.val();
        self.place.place_data.next = self.rx.place_data.val();
        self.place.place_swap.next = self.rx.place_swap.val();
        self.place.place_more.next = self.rx.place_more.val();
        self.tx.ack_valid.next = self.rx.ack_valid.val();
        self.rx.ack_ready.next = self.tx.ack_ready.val();
        self.tx.ack_conn.next = self.rx.ack_conn.val();
        self.tx.ack_home.next = self.rx.ack_home.val();
        self.tx.ack_cum.next = self.rx.ack_cum.val();
        self.tx.ack_ts_echo.next = self.rx.ack_ts_echo.val();
        self.tx.ack_service.next = self.rx.ack_service.val();
        self.tx.ack_ce.next = self.rx.ack_ce.val();
        self.tx.ack_dup.next = self.rx.ack_dup.val();
        self.tx.ack_flags.next = self.rx.ack_flags.val();
        self.tx.ack_rate.next = self.rx.ack_rate.val();
        self.tx.ack_sav.next = self.rx.ack_sav.val();
        self.tx.ack_mak_qp.next = self.rx.ack_mak_qp.val();
        self.tx.ack_mak_code.next = self.rx.ack_mak_code.val();
        self.tx.ack_mak_msn.next = self.rx.ack_mak_msn.val();
        self.dw_desc_valid.next = self.place.dw_desc_valid.val();
        self.place.dw_desc_ready.next = self.dw_desc_ready.val();
        self.dw_desc_addr.next = self.place.dw_desc_addr.val();
        self.dw_desc_len.next = self.place.dw_desc_len.val();
        self.dw_valid.next = self.place.dw_valid.val();
        self.place.dw_ready.next = self.dw_ready.val();
        self.dw_data.next = self.place.dw_data.val();
        self.dw_last.next = self.place.dw_last.val();
        comment!("commit port");
        self.commit_grant_valid.next = self.tx.commit_grant_valid.val();
        self.commit_grant_conn.next = self.tx.commit_grant_conn.val();
        self.commit_grant_kind.next = self.tx.commit_grant_kind.val();
        self.commit_grant_home.next = self.tx.commit_grant_home.val();
        self.commit_grant_via.next = self.tx.commit_grant_via.val();
        self.commit_grant_ppsn.next = self.tx.commit_grant_ppsn.val();
        self.commit_grant_rtx.next = self.tx.commit_grant_rtx.val();
        self.commit_grant_moved.next = self.tx.commit_grant_moved.val();
        self.commit_grant_ack_req.next = self.tx.commit_grant_ack_req.val();
        self.commit_grant_nop.next = self.tx.commit_grant_nop.val();
        self.commit_grant_qp.next = self.tx.commit_grant_qp.val();
        self.commit_grant_msn.next = self.tx.commit_grant_msn.val();
        self.commit_grant_index.next = self.tx.commit_grant_index.val();
        self.commit_grant_bytes.next = self.tx.commit_grant_bytes.val();
        self.commit_grant_source.next = self.tx.commit_grant_source.val();
        self.commit_grant_now.next = self.tx.commit_grant_now.val();
        self.commit_grant_port.next = self.tx.commit_grant_port.val();
        self.commit_grant_inflight_bytes.next = self.tx.commit_grant_inflight_bytes.val();
        self.commit_grant_more.next = self.tx.commit_grant_more.val();
        self.commit_grant_next.next = self.tx.commit_grant_next.val();
        self.commit_grant_pipe.next = self.tx.commit_grant_pipe.val();
        self.commit_grant_window.next = self.tx.commit_grant_window.val();
        self.commit_grant_rr.next = self.tx.commit_grant_rr.val();
        self.commit_ack_valid.next = self.tx.commit_ack_valid.val();
        self.commit_ack_conn.next = self.tx.commit_ack_conn.val();
        self.commit_ack_home.next = self.tx.commit_ack_home.val();
        self.commit_ack_verdict.next = self.tx.commit_ack_verdict.val();
        self.commit_ack_acked.next = self.tx.commit_ack_acked.val();
        self.commit_ack_lost_l1.next = self.tx.commit_ack_lost_l1.val();
        self.commit_ack_lost_l2.next = self.tx.commit_ack_lost_l2.val();
        self.commit_ack_now.next = self.tx.commit_ack_now.val();
        self.commit_ack_hint.next = self.tx.commit_ack_hint.val();
        self.commit_ack_state.next = self.tx.commit_ack_state.val();
        self.commit_ack_next.next = self.tx.commit_ack_next.val();
        self.commit_ack_cum.next = self.tx.commit_ack_cum.val();
        self.commit_ack_pipe.next = self.tx.commit_ack_pipe.val();
        self.commit_ack_window.next = self.tx.commit_ack_window.val();
        self.commit_ack_credit.next = self.tx.commit_ack_credit.val();
        self.commit_ack_srtt8.next = self.tx.commit_ack_srtt8.val();
        self.commit_ack_var4.next = self.tx.commit_ack_var4.val();
        self.commit_ack_backoff.next = self.tx.commit_ack_backoff.val();
        self.commit_ack_reo_tol.next = self.tx.commit_ack_reo_tol.val();
        self.commit_ack_mark.next = self.tx.commit_ack_mark.val();
        self.commit_ack_gen_open.next = self.tx.commit_ack_gen_open.val();
        self.commit_ack_probe_pending.next = self.tx.commit_ack_probe_pending.val();
        self.commit_timer_valid.next = self.tx.commit_timer_valid.val();
        self.commit_timer_conn.next = self.tx.commit_timer_conn.val();
        self.commit_timer_path.next = self.tx.commit_timer_path.val();
        self.commit_timer_action.next = self.tx.commit_timer_action.val();
        self.commit_timer_now.next = self.tx.commit_timer_now.val();
        self.commit_timer_port.next = self.tx.commit_timer_port.val();
        self.commit_timer_probe_ppsn.next = self.tx.commit_timer_probe_ppsn.val();
        self.commit_timer_watched.next = self.tx.commit_timer_watched.val();
        self.commit_timer_alive.next = self.tx.commit_timer_alive.val();
        self.commit_timer_state.next = self.tx.commit_timer_state.val();
        self.commit_timer_next.next = self.tx.commit_timer_next.val();
        self.commit_timer_cum.next = self.tx.commit_timer_cum.val();
        self.commit_timer_pipe.next = self.tx.commit_timer_pipe.val();
        self.commit_timer_window.next = self.tx.commit_timer_window.val();
        self.commit_timer_credit.next = self.tx.commit_timer_credit.val();
        self.commit_timer_srtt8.next = self.tx.commit_timer_srtt8.val();
        self.commit_timer_var4.next = self.tx.commit_timer_var4.val();
        self.commit_timer_backoff.next = self.tx.commit_timer_backoff.val();
        self.commit_timer_reo_tol.next = self.tx.commit_timer_reo_tol.val();
        self.commit_timer_mark.next = self.tx.commit_timer_mark.val();
        self.commit_timer_gen_open.next = self.tx.commit_timer_gen_open.val();
        self.commit_timer_probe_pending.next = self.tx.commit_timer_probe_pending.val();
        self.commit_retire_valid.next = self.tx.commit_retire_valid.val();
        self.commit_retire_conn.next = self.tx.commit_retire_conn.val();
        self.commit_retire_home.next = self.tx.commit_retire_home.val();
        self.commit_retire_ppsn.next = self.tx.commit_retire_ppsn.val();
        self.commit_retire_qp.next = self.tx.commit_retire_qp.val();
        self.commit_retire_msn.next = self.tx.commit_retire_msn.val();
        self.commit_retire_bytes.next = self.tx.commit_retire_bytes.val();
        self.commit_rx_valid.next = self.rx.commit_rx_valid.val();
        self.commit_rx_kind.next = self.rx.commit_rx_kind.val();
        self.commit_rx_class.next = self.rx.commit_rx_class.val();
        self.commit_rx_conn.next = self.rx.commit_rx_conn.val();
        self.commit_rx_home.next = self.rx.commit_rx_home.val();
        self.commit_rx_via.next = self.rx.commit_rx_via.val();
        self.commit_rx_opcode.next = self.rx.commit_rx_opcode.val();
        self.commit_rx_ppsn.next = self.rx.commit_rx_ppsn.val();
        self.commit_rx_code.next = self.rx.commit_rx_code.val();
        self.commit_rx_placed.next = self.rx.commit_rx_placed.val();
        self.commit_rx_addr.next = self.rx.commit_rx_addr.val();
        self.commit_rx_bytes.next = self.rx.commit_rx_bytes.val();
        self.commit_rx_acked.next = self.rx.commit_rx_acked.val();
        self.commit_rx_now.next = self.rx.commit_rx_now.val();
        self.commit_rx_share.next = self.rx.commit_rx_share.val();
        self.commit_rx_cum.next = self.rx.commit_rx_cum.val();
        self.commit_rx_high.next = self.rx.commit_rx_high.val();
        self.commit_rx_ce.next = self.rx.commit_rx_ce.val();
        self.commit_rx_dup.next = self.rx.commit_rx_dup.val();
        self.commit_rx_rx.next = self.rx.commit_rx_rx.val();
        self.commit_rx_unacked.next = self.rx.commit_rx_unacked.val();
        self.commit_rx_exp.next = self.rx.commit_rx_exp.val();
        self.commit_rx_rnr.next = self.rx.commit_rx_rnr.val();
        self.commit_rx_qp_failed.next = self.rx.commit_rx_qp_failed.val();
        self.commit_rx_used.next = self.rx.commit_rx_used.val();
        self.commit_drop_valid.next = self.parser.commit_drop_valid.val();
        self.commit_drop_reason.next = self.parser.commit_drop_reason.val();
        self.commit_cqe_valid.next = self.completion.commit_cqe_valid.val();
        self.commit_cqe_qp.next = self.completion.commit_cqe_qp.val();
        self.commit_cqe_msn.next = self.completion.commit_cqe_msn.val();
        self.commit_cqe_data.next = self.completion.commit_cqe_data.val();
        self.commit_ret_valid.next = self.completion.commit_ret_valid.val();
        self.commit_ret_qp.next = self.completion.commit_ret_qp.val();
        self.commit_ret_msn.next = self.completion.commit_ret_msn.val();
        self.commit_ret_bytes.next = self.completion.commit_ret_bytes.val();
        self.commit_answered_valid.next = self.completion.commit_answered_valid.val();
        self.commit_answered_qp.next = self.completion.commit_ret_qp.val();
        self.commit_answered_msn.next = self.completion.commit_ret_msn.val();
        self.commit_err_valid.next = self.completion.commit_err_valid.val();
        self.commit_err_kind.next = self.completion.commit_err_kind.val();
        self.commit_err_qp.next = self.completion.commit_err_qp.val();
        self.commit_err_conn.next = self.completion.commit_err_conn.val();
        self.commit_err_code.next = self.completion.commit_err_code.val();
        self.commit_err_msn.next = self.completion.commit_err_msn.val();
        self.commit_err_now.next = self.csr.now.val();
        self.commit_rnr_valid.next = self.completion.commit_rnr_valid.val();
        self.commit_rnr_qp.next = self.completion.commit_rnr_qp.val();
        self.commit_rnr_now.next = self.csr.now.val();
        self.commit_wqe_valid.next = self.fetch.commit_valid.val();
        self.commit_wqe_qp.next = self.fetch.msg_qp.val();
        self.commit_wqe_wqe_index.next = self.fetch.cmsg_wqe_index.val();
        self.commit_wqe_msn.next = self.fetch.msg_msn.val();
        self.commit_wqe_conn.next = self.fetch.msg_conn.val();
        self.commit_wqe_status.next = self.fetch.cmsg_status.val();
        self.commit_wqe_data.next = self.fetch.commit_data.val();
        self.commit_recv_valid.next = self.recv.commit_recv_valid.val();
        self.commit_recv_qp.next = self.recv.commit_recv_qp.val();
        self.commit_recv_index.next = self.recv.commit_recv_index.val();
        self.commit_recv_data.next = self.recv.commit_recv_data.val();
        self.commit_rcqe_valid.next = self.recv.commit_rcqe_valid.val();
        self.commit_rcqe_qp.next = self.recv.commit_rcqe_qp.val();
        self.commit_rcqe_data.next = self.recv.commit_rcqe_data.val();
        self.commit_row_valid.next = self.rx.commit_row_valid.val();
        self.commit_row_table.next = self.rx.commit_row_table.val();
        self.commit_row_index.next = self.rx.commit_row_index.val();
        self.commit_answer_valid.next = false;
        self.commit_answer_qp.next = 0.into();
        self.tx.watch_awaited.next = false;
        self.tx.watch_alive.next = 0.into();
        for k in 0..R {
            comment!("READs and atomics");
            self.remote[k].clock.next = self.clock.val();
            self.remote[k].reset.next = self.reset.val();
            self.remote[k].fault.next = self.fault.val();
            self.remote[k].cfg_valid.next = self.csr.cfg_valid.val();
            self.remote[k].cfg_table.next = self.csr.cfg_table.val();
            self.remote[k].cfg_index.next = self.csr.cfg_index.val();
            self.remote[k].cfg_data.next = self.csr.cfg_data.val();
            self.remote[k].rx_busy.next = self.rx.cfg_busy.val();
            self.remote[k].completion_busy.next = self.completion.cfg_busy.val();
            self.busy.next = self.busy.val() | self.remote[k].cfg_busy.val();
            self.inited.next = self.inited.val() & self.remote[k].init_done.val();
            self.remote[k].row_write.next = self.fetch.msgrow_write.val();
            self.remote[k].row_qp.next = self.fetch.msg_qp.val();
            self.remote[k].row_msn.next = self.fetch.msg_msn.val();
            self.remote[k].row_request.next = self.fetch.msgrow_request.val();
            self.remote[k].row_atomic.next = self.fetch.msgrow_atomic.val();
            self.remote[k].row_laddr.next = self.fetch.msgrow_laddr.val();
            self.remote[k].row_length.next = self.fetch.msgrow_length.val();
            self.remote[k].row_tag.next = self.fetch.msgrow_tag.val();
            self.remote[k].row_listed.next = self.fetch.msgrow_spread.val();
            self.remote[k].piece_write.next = self.fetch.msgpiece_write.val();
            self.remote[k].piece_row.next = self.fetch.msgrow_addr.val();
            self.remote[k].piece_number.next = self.fetch.msgpiece_at.val();
            self.remote[k].piece_addr.next = self.fetch.msgpiece_addr.val();
            self.remote[k].piece_end.next = self.fetch.msgpiece_end.val();
            self.remote[k].sent_valid.next = self.tx.commit_grant_valid.val()
                & (self.tx.commit_grant_kind.val() == 0)
                & (self.tx.commit_grant_source.val() == 0);
            self.remote[k].sent_qp.next = self.tx.commit_grant_qp.val();
            self.remote[k].sent_msn.next = self.tx.commit_grant_msn.val();
            self.remote[k].sent_now.next = self.tx.commit_grant_now.val();
            self.remote[k].now.next = self.csr.now.val();
            self.remote[k].watch_conn.next = self.tx.watch_conn.val();
            self.tx.watch_awaited.next = self.remote[k].watch_awaited.val();
            self.tx.watch_alive.next = self.remote[k].watch_alive.val();
            self.remote[k].over_valid.next = self.completion.request_done.val();
            self.remote[k].over_qp.next = self.completion.request_done_qp.val();
            self.remote[k].life_valid.next = self.tx.life_valid.val();
            self.remote[k].life_conn.next = self.tx.life_conn.val();
            self.remote[k].life_now.next = self.tx.life_now.val();
            self.remote[k].taken_valid.next =
                self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 0) & (self.rx.commit_rx_class.val() == 0);
            self.remote[k].taken_opcode.next = self.rx.commit_rx_opcode.val();
            self.remote[k].taken_conn.next = self.rx.commit_rx_conn.val();
            self.remote[k].taken_now.next = self.rx.commit_rx_now.val();
            self.remote[k].rsp_look.next = self.rx.rsp_look.val();
            self.remote[k].rsp_qp.next = self.rx.rsp_qp.val();
            self.remote[k].rsp_msn.next = self.rx.rsp_msn.val();
            self.remote[k].rsp_kind.next = self.rx.rsp_kind.val();
            self.remote[k].rsp_offset.next = self.rx.rsp_offset.val();
            self.remote[k].rsp_length.next = self.rx.rsp_length.val();
            self.remote[k].rsp_tag.next = self.rx.rsp_tag.val();
            self.remote[k].rsp_bytes.next = self.rx.rsp_bytes.val();
            self.remote[k].rsp_take.next = self.rx.rsp_take.val();
            self.remote[k].rsp_ticket.next = self.rx.rsp_ticket.val();
            self.rx.rsp_used.next = self.remote[k].rsp_used.val();
            self.rx.rsp_addr.next = self.remote[k].rsp_addr.val();
            self.rx.rsp_room.next = self.remote[k].rsp_room.val();
            self.rx.rsp_listed.next = self.remote[k].rsp_listed.val();
            self.rx.rsp_piece.next = self.remote[k].rsp_piece.val();
            self.remote[k].rsp_at.next = self.rx.rsp_at.val();
            self.remote[k].ask_look.next = self.rx.ask_look.val();
            self.remote[k].ask_conn.next = self.rx.ask_conn.val();
            self.remote[k].ask_qp.next = self.rx.ask_qp.val();
            self.remote[k].ask_msn.next = self.rx.ask_msn.val();
            self.remote[k].ask_step.next = self.rx.ask_step.val();
            self.remote[k].ask_take.next = self.rx.ask_take.val();
            self.remote[k].ask_row.next = self.rx.ask_row.val();
            self.rx.ask_reached_ok.next = self.remote[k].ask_reached_ok.val();
            self.rx.ask_early_ok.next = self.remote[k].ask_early_ok.val();
            self.rx.ask_none.next = self.remote[k].ask_none.val();
            self.rx.ask_failed.next = self.remote[k].ask_failed.val();
            self.remote[k].reached.next = self.rx.reached.val();
            self.remote[k].reached_qp.next = self.rx.reached_qp.val();
            self.remote[k].reached_msn.next = self.rx.reached_msn.val();
            self.remote[k].reached_ticket.next = self.rx.reached_ticket.val();
            self.remote[k].check_ready.next = self.rx.check_ready.val();
            self.remote[k].check_done.next = self.rx.check_done.val();
            self.remote[k].check_code.next = self.rx.check_code.val();
            self.remote[k].check_addr.next = self.rx.check_addr.val();
            self.remote[k].check_failed.next = self.rx.check_failed.val();
            self.remote[k].finish_ready.next = self.rx.finish_ready.val();
            self.remote[k].finish_done.next = self.rx.finish_done.val();
            self.remote[k].finish_ticket.next = self.rx.finish_ticket.val();
            self.rx.check_valid.next = self.remote[k].check_valid.val();
            self.rx.finish_valid.next = self.remote[k].finish_valid.val();
            self.rx.run_qp.next = self.remote[k].run_qp.val();
            self.rx.run_msn.next = self.remote[k].run_msn.val();
            self.rx.run_atomic.next = self.remote[k].run_atomic.val();
            self.rx.run_va.next = self.remote[k].run_va.val();
            self.rx.run_rkey.next = self.remote[k].run_rkey.val();
            self.rx.run_length.next = self.remote[k].run_length.val();
            self.rx.run_code.next = self.remote[k].run_code.val();
            self.rx.run_value.next = self.remote[k].run_value.val();
            self.rx.run_write.next = self.remote[k].run_write.val();
            self.rx.run_addr.next = self.remote[k].run_addr.val();
            self.rx.run_data.next = self.remote[k].run_data.val();
            comment!("D8: as completion learns of it");
            self.rx.cerr_valid.next = self.tx.cerr_valid.val() & self.completion.cerr_ready.val();
            self.rx.cerr_conn.next = self.tx.cerr_conn.val();
            self.remote[k].done_count.next = self.place.done_count.val();
            self.completion.answered_valid.next = self.remote[k].answered_valid.val();
            self.completion.answered_qp.next = self.remote[k].answered_qp.val();
            self.completion.answered_msn.next = self.remote[k].answered_msn.val();
            self.remote[k].answered_ready.next = self.completion.answered_ready.val();
            self.remote[k].error_waits.next =
                self.tx.nak_valid.val() | self.tx.cerr_valid.val() | self.rx.rxerr_valid.val() | self.rx.nak_valid.val();
            self.remote[k].error_taken.next = (self.tx.nak_valid.val() & self.completion.nak_ready.val())
                | (self.tx.cerr_valid.val() & self.completion.cerr_ready.val())
                | (self.rx.rxerr_valid.val() & self.completion.rxerr_ready.val())
                | (self.rx.nak_valid.val() & self.completion.rnak_ready.val());
            self.quiet.next = self.quiet.val() & self.remote[k].quiet.val();
            self.remote[k].flush_valid.next = self.completion.flush_valid.val() & self.recv.flush_ready.val();
            self.remote[k].flush_qp.next = self.completion.flush_qp.val();
            self.remote[k].resp_valid.next = self.tx.resp_valid.val();
            self.remote[k].resp_error.next = self.tx.resp_error.val();
            self.remote[k].resp_conn.next = self.tx.resp_conn.val();
            self.remote[k].resp_qp.next = self.tx.resp_qp.val();
            self.remote[k].resp_msn.next = self.tx.resp_msn.val();
            self.remote[k].resp_waits.next = self.tx.resp_waits.val();
            self.tx.resp_ready.next = self.remote[k].resp_ready.val();
            self.tx.rsp_valid.next = self.remote[k].order_valid.val();
            self.tx.rsp_conn.next = self.remote[k].order_conn.val();
            self.tx.rsp_error.next = self.remote[k].order_error.val();
            self.tx.rsp_code.next = self.remote[k].order_code.val();
            self.tx.rsp_qp.next = self.remote[k].order_qp.val();
            self.tx.rsp_msn.next = self.remote[k].order_msn.val();
            self.tx.rsp_npkts.next = self.remote[k].order_npkts.val();
            self.tx.rsp_length.next = self.remote[k].order_length.val();
            self.tx.rsp_peer_qpn.next = self.remote[k].order_peer_qpn.val();
            self.remote[k].order_ready.next = self.tx.rsp_ready.val();
            self.egress.rsprow_ask.next = self.remote[k].rsprow_ask.val();
            self.egress.rsprow_valid.next = self.remote[k].rsprow_valid.val();
            self.egress.rsprow_addr.next = self.remote[k].rsprow_addr.val();
            self.egress.rsprow_atomic.next = self.remote[k].rsprow_atomic.val();
            self.egress.rsprow_base.next = self.remote[k].rsprow_base.val();
            self.egress.rsprow_length.next = self.remote[k].rsprow_length.val();
            self.egress.rsprow_tag.next = self.remote[k].rsprow_tag.val();
            self.egress.rsprow_peer_qpn.next = self.remote[k].rsprow_peer_qpn.val();
            self.remote[k].rsprow_ready.next = self.egress.rsprow_ready.val();
            self.remote[k].a_desc_valid.next = self.reads.cr_desc_valid.val();
            self.remote[k].a_desc_addr.next = self.reads.cr_desc_addr.val();
            self.remote[k].a_desc_len.next = self.reads.cr_desc_len.val();
            self.reads.cr_desc_ready.next = self.remote[k].a_desc_ready.val();
            self.reads.cr_valid.next = self.remote[k].a_valid.val();
            self.remote[k].a_ready.next = self.reads.cr_ready.val();
            self.cr_desc_valid.next = self.remote[k].cr_desc_valid.val();
            self.cr_desc_addr.next = self.remote[k].cr_desc_addr.val();
            self.cr_desc_len.next = self.remote[k].cr_desc_len.val();
            self.remote[k].cr_desc_ready.next = self.cr_desc_ready.val();
            self.remote[k].cr_valid.next = self.cr_valid.val();
            self.cr_ready.next = self.remote[k].cr_ready.val();
            self.remote[k].cr_data.next = self.cr_data.val();
            self.remote[k].cr_last.next = self.cr_last.val();
            self.commit_answer_valid.next = self.remote[k].commit_answer_valid.val();
            self.commit_answer_qp.next = self.remote[k].commit_answer_qp.val();
        }
        self.csr.cfg_busy.next = self.busy.val();
        self.csr.init_done.next = self.inited.val();
        self.completion.quiet.next = self.quiet.val();
        comment!("counters");
        // L3
        self.tail.next = (self.tx.commit_timer_action.val() == 1) | (self.tx.commit_timer_action.val() >= 9);
        self.events.next = 0.into();
        self.events.next = self.events.val().replace_bit(
            0,
            self.rx.commit_rx_valid.val()
                & (self.rx.commit_rx_kind.val() == 0)
                & (self.rx.commit_rx_class.val() == 0)
                & !self.rx.commit_rx_code.val().any()
                & !self.rx.commit_rx_rnr.val(),
        );
        self.events.next = self.events.val().replace_bit(
            1,
            self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 0) & (self.rx.commit_rx_class.val() == 1),
        );
        self.events.next = self.events.val().replace_bit(
            2,
            self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 0) & (self.rx.commit_rx_class.val() == 2),
        );
        self.events.next = self.events.val().replace_bit(
            3,
            self.rx.commit_rx_valid.val()
                & (self.rx.commit_rx_kind.val() == 0)
                & (self.rx.commit_rx_code.val().any() | self.rx.commit_rx_rnr.val()),
        );
        self.events.next =
            self.events.val().replace_bit(4, self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 1));
        self.events.next =
            self.events.val().replace_bit(5, self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 2));
        self.events.next = self
            .events
            .val()
            .replace_bit(6, self.parser.commit_drop_valid.val() & (self.parser.commit_drop_reason.val() != 11));
        self.events.next = self
            .events
            .val()
            .replace_bit(7, self.parser.commit_drop_valid.val() & (self.parser.commit_drop_reason.val() == 11));
        self.events.next =
            self.events.val().replace_bit(8, self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 3));
        self.events.next = self.events.val().replace_bit(
            9,
            self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 0) & self.rx.commit_rx_placed.val(),
        );
        self.events.next = self.events.val().replace_bit(10, self.rx.commit_rx_valid.val() & self.rx.commit_rx_acked.val());
        self.events.next =
            self.events.val().replace_bit(11, self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 4));
        self.events.next =
            self.events.val().replace_bit(12, self.tx.commit_ack_valid.val() & (self.tx.commit_ack_verdict.val() == 0));
        self.events.next = self.events.val().replace_bit(
            13,
            self.tx.commit_ack_valid.val()
                & ((self.tx.commit_ack_verdict.val() == 1) | (self.tx.commit_ack_verdict.val() == 2)),
        );
        self.events.next =
            self.events.val().replace_bit(14, self.tx.commit_ack_valid.val() & (self.tx.commit_ack_verdict.val() == 3));
        self.events.next =
            self.events.val().replace_bit(15, self.tx.commit_grant_valid.val() & (self.tx.commit_grant_kind.val() == 0));
        self.events.next =
            self.events.val().replace_bit(16, self.tx.commit_grant_valid.val() & (self.tx.commit_grant_kind.val() == 1));
        self.events.next =
            self.events.val().replace_bit(17, self.tx.commit_grant_valid.val() & self.tx.commit_grant_moved.val());
        self.events.next = self.events.val().replace_bit(18, self.tx.commit_grant_valid.val() & self.tx.commit_grant_nop.val());
        self.events.next =
            self.events.val().replace_bit(19, self.tx.commit_grant_valid.val() & (self.tx.commit_grant_kind.val() == 2));
        self.events.next = self.events.val().replace_bit(20, self.tx.commit_timer_valid.val() & self.tail.val());
        self.events.next = self
            .events
            .val()
            .replace_bit(21, self.tx.commit_timer_valid.val() & !self.tail.val() & (self.tx.commit_timer_action.val() != 6));
        self.events.next = self.events.val().replace_bit(
            22,
            self.tx.commit_timer_valid.val()
                & ((self.tx.commit_timer_action.val() == 3)
                    | (self.tx.commit_timer_action.val() == 8)
                    | (self.tx.commit_timer_action.val() == 9)),
        );
        self.events.next =
            self.events.val().replace_bit(23, self.tx.commit_timer_valid.val() & (self.tx.commit_timer_action.val() == 4));
        self.events.next =
            self.events.val().replace_bit(24, self.tx.commit_timer_valid.val() & (self.tx.commit_timer_action.val() == 6));
        self.events.next = self.events.val().replace_bit(25, self.tx.commit_retire_valid.val());
        self.events.next = self.events.val().replace_bit(26, self.fetch.commit_valid.val());
        self.events.next =
            self.events.val().replace_bit(27, self.fetch.commit_valid.val() & self.fetch.cmsg_status.val().any());
        self.events.next = self.events.val().replace_bit(28, self.completion.commit_cqe_valid.val());
        self.events.next =
            self.events.val().replace_bit(29, self.completion.commit_err_valid.val() & self.completion.commit_err_fails.val());
        self.events.next =
            self.events.val().replace_bit(30, self.rx.commit_rx_valid.val() & (self.rx.commit_rx_kind.val() == 6));
        self.csr.events.next = self.events.val();
    }
}

/// The engine as it is built: no fault can be planted.
#[derive(LogicBlock)]
pub struct Top<const W: usize, const K: usize, const NB: usize, const R: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub axil_awaddr: Signal<In, Bits<16>>,
    pub axil_awvalid: Signal<In, Bit>,
    pub axil_awready: Signal<Out, Bit>,
    pub axil_wdata: Signal<In, Bits<32>>,
    pub axil_wvalid: Signal<In, Bit>,
    pub axil_wready: Signal<Out, Bit>,
    pub axil_bresp: Signal<Out, Bits<2>>,
    pub axil_bvalid: Signal<Out, Bit>,
    pub axil_bready: Signal<In, Bit>,
    pub axil_araddr: Signal<In, Bits<16>>,
    pub axil_arvalid: Signal<In, Bit>,
    pub axil_arready: Signal<Out, Bit>,
    pub axil_rdata: Signal<Out, Bits<32>>,
    pub axil_rresp: Signal<Out, Bits<2>>,
    pub axil_rvalid: Signal<Out, Bit>,
    pub axil_rready: Signal<In, Bit>,
    pub cr_desc_valid: Signal<Out, Bit>,
    pub cr_desc_ready: Signal<In, Bit>,
    pub cr_desc_addr: Signal<Out, Bits<64>>,
    pub cr_desc_len: Signal<Out, Bits<16>>,
    pub cr_valid: Signal<In, Bit>,
    pub cr_ready: Signal<Out, Bit>,
    pub cr_data: Signal<In, Bits<W>>,
    pub cr_last: Signal<In, Bit>,
    pub cw_desc_valid: Signal<Out, Bit>,
    pub cw_desc_ready: Signal<In, Bit>,
    pub cw_desc_addr: Signal<Out, Bits<64>>,
    pub cw_desc_len: Signal<Out, Bits<16>>,
    pub cw_valid: Signal<Out, Bit>,
    pub cw_ready: Signal<In, Bit>,
    pub cw_data: Signal<Out, Bits<W>>,
    pub cw_last: Signal<Out, Bit>,
    pub dr_desc_valid: Signal<Out, Bit>,
    pub dr_desc_ready: Signal<In, Bit>,
    pub dr_desc_addr: Signal<Out, Bits<64>>,
    pub dr_desc_len: Signal<Out, Bits<16>>,
    pub dr_valid: Signal<In, Bit>,
    pub dr_ready: Signal<Out, Bit>,
    pub dr_data: Signal<In, Bits<W>>,
    pub mac_tx_tvalid: Signal<Out, Bit>,
    pub mac_tx_tready: Signal<In, Bit>,
    pub mac_tx_tdata: Signal<Out, Bits<W>>,
    pub mac_tx_tkeep: Signal<Out, Bits<K>>,
    pub mac_tx_tlast: Signal<Out, Bit>,
    pub mac_rx_tvalid: Signal<In, Bit>,
    pub mac_rx_tready: Signal<Out, Bit>,
    pub mac_rx_tdata: Signal<In, Bits<W>>,
    pub mac_rx_tkeep: Signal<In, Bits<K>>,
    pub mac_rx_tlast: Signal<In, Bit>,
    pub dw_desc_valid: Signal<Out, Bit>,
    pub dw_desc_ready: Signal<In, Bit>,
    pub dw_desc_addr: Signal<Out, Bits<64>>,
    pub dw_desc_len: Signal<Out, Bits<16>>,
    pub dw_valid: Signal<Out, Bit>,
    pub dw_ready: Signal<In, Bit>,
    pub dw_data: Signal<Out, Bits<W>>,
    pub dw_last: Signal<Out, Bit>,
    /// One clock for each payload write whose data is visible to software, in their order.
    pub dw_done: Signal<In, Bit>,
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
    pub commit_grant_source: Signal<Out, Bits<2>>,
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
    pub commit_timer_action: Signal<Out, Bits<4>>,
    pub commit_timer_now: Signal<Out, Bits<32>>,
    pub commit_timer_port: Signal<Out, Bits<16>>,
    pub commit_timer_probe_ppsn: Signal<Out, Bits<24>>,
    pub commit_timer_watched: Signal<Out, Bit>,
    pub commit_timer_alive: Signal<Out, Bits<32>>,
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
    pub commit_rx_valid: Signal<Out, Bit>,
    pub commit_rx_kind: Signal<Out, Bits<3>>,
    pub commit_rx_class: Signal<Out, Bits<2>>,
    pub commit_rx_conn: Signal<Out, Bits<16>>,
    pub commit_rx_home: Signal<Out, Bits<8>>,
    pub commit_rx_via: Signal<Out, Bits<8>>,
    pub commit_rx_opcode: Signal<Out, Bits<8>>,
    pub commit_rx_ppsn: Signal<Out, Bits<24>>,
    pub commit_rx_code: Signal<Out, Bits<8>>,
    pub commit_rx_placed: Signal<Out, Bit>,
    pub commit_rx_addr: Signal<Out, Bits<64>>,
    pub commit_rx_bytes: Signal<Out, Bits<13>>,
    pub commit_rx_acked: Signal<Out, Bit>,
    pub commit_rx_now: Signal<Out, Bits<32>>,
    pub commit_rx_share: Signal<Out, Bits<24>>,
    pub commit_rx_cum: Signal<Out, Bits<24>>,
    pub commit_rx_high: Signal<Out, Bits<24>>,
    pub commit_rx_ce: Signal<Out, Bits<16>>,
    pub commit_rx_dup: Signal<Out, Bits<16>>,
    pub commit_rx_rx: Signal<Out, Bits<16>>,
    pub commit_rx_unacked: Signal<Out, Bits<3>>,
    pub commit_rx_exp: Signal<Out, Bits<24>>,
    pub commit_rx_rnr: Signal<Out, Bit>,
    pub commit_rx_qp_failed: Signal<Out, Bit>,
    pub commit_rx_used: Signal<Out, Bit>,
    pub commit_drop_valid: Signal<Out, Bit>,
    pub commit_drop_reason: Signal<Out, Bits<8>>,
    pub commit_cqe_valid: Signal<Out, Bit>,
    pub commit_cqe_qp: Signal<Out, Bits<16>>,
    pub commit_cqe_msn: Signal<Out, Bits<24>>,
    pub commit_cqe_data: Signal<Out, Bits<256>>,
    pub commit_ret_valid: Signal<Out, Bit>,
    pub commit_ret_qp: Signal<Out, Bits<16>>,
    pub commit_ret_msn: Signal<Out, Bits<24>>,
    pub commit_ret_bytes: Signal<Out, Bits<13>>,
    pub commit_answered_valid: Signal<Out, Bit>,
    pub commit_answered_qp: Signal<Out, Bits<16>>,
    pub commit_answered_msn: Signal<Out, Bits<24>>,
    pub commit_answer_valid: Signal<Out, Bit>,
    pub commit_answer_qp: Signal<Out, Bits<16>>,
    pub commit_err_valid: Signal<Out, Bit>,
    pub commit_err_kind: Signal<Out, Bits<3>>,
    pub commit_err_qp: Signal<Out, Bits<16>>,
    pub commit_err_conn: Signal<Out, Bits<16>>,
    pub commit_err_code: Signal<Out, Bits<8>>,
    pub commit_err_msn: Signal<Out, Bits<24>>,
    pub commit_err_now: Signal<Out, Bits<32>>,
    pub commit_rnr_valid: Signal<Out, Bit>,
    pub commit_rnr_qp: Signal<Out, Bits<16>>,
    pub commit_rnr_now: Signal<Out, Bits<32>>,
    pub commit_wqe_valid: Signal<Out, Bit>,
    pub commit_wqe_qp: Signal<Out, Bits<16>>,
    pub commit_wqe_wqe_index: Signal<Out, Bits<16>>,
    pub commit_wqe_msn: Signal<Out, Bits<24>>,
    pub commit_wqe_conn: Signal<Out, Bits<16>>,
    pub commit_wqe_status: Signal<Out, Bits<8>>,
    pub commit_wqe_data: Signal<Out, Bits<512>>,
    pub commit_recv_valid: Signal<Out, Bit>,
    pub commit_recv_qp: Signal<Out, Bits<16>>,
    pub commit_recv_index: Signal<Out, Bits<16>>,
    pub commit_recv_data: Signal<Out, Bits<256>>,
    pub commit_rcqe_valid: Signal<Out, Bit>,
    pub commit_rcqe_qp: Signal<Out, Bits<16>>,
    pub commit_rcqe_data: Signal<Out, Bits<256>>,
    pub commit_row_valid: Signal<Out, Bit>,
    pub commit_row_table: Signal<Out, Bits<8>>,
    pub commit_row_index: Signal<Out, Bits<16>>,
    engine: Box<Engine<W, K, NB, R>>,
}

impl<const W: usize, const K: usize, const NB: usize, const R: usize> Top<W, K, NB, R> {
    /// The engine of a build; W is its data width, K = W / 8, NB as for the parser.
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Top {
            engine: Box::new(Engine::new(config));
            clock, reset,
            axil_awaddr, axil_awvalid, axil_awready, axil_wdata, axil_wvalid, axil_wready, axil_bresp, axil_bvalid,
            axil_bready, axil_araddr, axil_arvalid, axil_arready, axil_rdata, axil_rresp, axil_rvalid, axil_rready,
            cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid, cr_ready, cr_data, cr_last,
            cw_desc_valid, cw_desc_ready, cw_desc_addr, cw_desc_len, cw_valid, cw_ready, cw_data, cw_last,
            dr_desc_valid, dr_desc_ready, dr_desc_addr, dr_desc_len, dr_valid, dr_ready, dr_data, mac_tx_tvalid,
            mac_tx_tready, mac_tx_tdata, mac_tx_tkeep, mac_tx_tlast, mac_rx_tvalid, mac_rx_tready, mac_rx_tdata,
            mac_rx_tkeep, mac_rx_tlast, dw_desc_valid, dw_desc_ready, dw_desc_addr, dw_desc_len, dw_valid, dw_ready,
            dw_data, dw_last, commit_grant_valid, commit_grant_conn, commit_grant_kind, commit_grant_home,
            commit_grant_via, commit_grant_ppsn, commit_grant_rtx, commit_grant_moved, commit_grant_ack_req,
            commit_grant_nop, commit_grant_qp, commit_grant_msn, commit_grant_index, commit_grant_bytes,
            commit_grant_now, commit_grant_port, commit_grant_inflight_bytes, commit_grant_more, commit_grant_next,
            commit_grant_pipe, commit_grant_window, commit_grant_rr, commit_ack_valid, commit_ack_conn,
            commit_ack_home, commit_ack_verdict, commit_ack_acked, commit_ack_lost_l1, commit_ack_lost_l2,
            commit_ack_now, commit_ack_hint, commit_ack_state, commit_ack_next, commit_ack_cum, commit_ack_pipe,
            commit_ack_window, commit_ack_credit, commit_ack_srtt8, commit_ack_var4, commit_ack_backoff,
            commit_ack_reo_tol, commit_ack_mark, commit_ack_gen_open, commit_ack_probe_pending, commit_timer_valid,
            commit_timer_conn, commit_timer_path, commit_timer_action, commit_timer_now, commit_timer_port,
            commit_timer_probe_ppsn, commit_timer_watched, commit_timer_alive, commit_timer_state, commit_timer_next, commit_timer_cum, commit_timer_pipe,
            commit_timer_window, commit_timer_credit, commit_timer_srtt8, commit_timer_var4, commit_timer_backoff,
            commit_timer_reo_tol, commit_timer_mark, commit_timer_gen_open, commit_timer_probe_pending,
            commit_retire_valid, commit_retire_conn, commit_retire_home, commit_retire_ppsn, commit_retire_qp,
            commit_retire_msn, commit_retire_bytes, commit_rx_valid, commit_rx_kind, commit_rx_class, commit_rx_conn,
            commit_rx_home, commit_rx_via, commit_rx_opcode, commit_rx_ppsn, commit_rx_code, commit_rx_placed,
            commit_rx_addr, commit_rx_bytes, commit_rx_acked, commit_rx_now, commit_rx_share, commit_rx_cum,
            commit_rx_high, commit_rx_ce, commit_rx_dup, commit_rx_rx, commit_rx_unacked, commit_rx_exp,
            commit_drop_valid, commit_drop_reason, commit_cqe_valid, commit_cqe_qp, commit_cqe_msn, commit_cqe_data,
            commit_ret_valid, commit_ret_qp, commit_ret_msn, commit_ret_bytes, commit_err_valid, commit_err_kind,
            commit_err_qp, commit_err_conn, commit_err_code, commit_err_msn, commit_err_now, commit_rnr_valid, commit_rnr_qp, commit_rnr_now, commit_wqe_valid, commit_wqe_qp,
            commit_wqe_wqe_index, commit_wqe_msn, commit_wqe_conn, commit_wqe_status, commit_wqe_data,
            dw_done, commit_rx_rnr, commit_rx_qp_failed, commit_rx_used, commit_grant_source,
            commit_answered_valid, commit_answered_qp, commit_answered_msn, commit_answer_valid, commit_answer_qp, commit_recv_valid, commit_recv_qp, commit_recv_index,
            commit_recv_data, commit_rcqe_valid, commit_rcqe_qp, commit_rcqe_data, commit_row_valid, commit_row_table, commit_row_index,
        })
    }
}

impl<const W: usize, const K: usize, const NB: usize, const R: usize> Logic for Top<W, K, NB, R> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module nic: the engine as it is built");
        clock!(self, clock, engine);
        self.engine.reset.next = self.reset.val();
        self.engine.fault.next = 0.into();
        self.engine.axil_awaddr.next = self.axil_awaddr.val();
        self.engine.axil_awvalid.next = self.axil_awvalid.val();
        self.axil_awready.next = self.engine.axil_awready.val();
        self.engine.axil_wdata.next = self.axil_wdata.val();
        self.engine.axil_wvalid.next = self.axil_wvalid.val();
        self.axil_wready.next = self.engine.axil_wready.val();
        self.axil_bresp.next = self.engine.axil_bresp.val();
        self.axil_bvalid.next = self.engine.axil_bvalid.val();
        self.engine.axil_bready.next = self.axil_bready.val();
        self.engine.axil_araddr.next = self.axil_araddr.val();
        self.engine.axil_arvalid.next = self.axil_arvalid.val();
        self.axil_arready.next = self.engine.axil_arready.val();
        self.axil_rdata.next = self.engine.axil_rdata.val();
        self.axil_rresp.next = self.engine.axil_rresp.val();
        self.axil_rvalid.next = self.engine.axil_rvalid.val();
        self.engine.axil_rready.next = self.axil_rready.val();
        self.cr_desc_valid.next = self.engine.cr_desc_valid.val();
        self.engine.cr_desc_ready.next = self.cr_desc_ready.val();
        self.cr_desc_addr.next = self.engine.cr_desc_addr.val();
        self.cr_desc_len.next = self.engine.cr_desc_len.val();
        self.engine.cr_valid.next = self.cr_valid.val();
        self.cr_ready.next = self.engine.cr_ready.val();
        self.engine.cr_data.next = self.cr_data.val();
        self.engine.cr_last.next = self.cr_last.val();
        self.cw_desc_valid.next = self.engine.cw_desc_valid.val();
        self.engine.cw_desc_ready.next = self.cw_desc_ready.val();
        self.cw_desc_addr.next = self.engine.cw_desc_addr.val();
        self.cw_desc_len.next = self.engine.cw_desc_len.val();
        self.cw_valid.next = self.engine.cw_valid.val();
        self.engine.cw_ready.next = self.cw_ready.val();
        self.cw_data.next = self.engine.cw_data.val();
        self.cw_last.next = self.engine.cw_last.val();
        self.dr_desc_valid.next = self.engine.dr_desc_valid.val();
        self.engine.dr_desc_ready.next = self.dr_desc_ready.val();
        self.dr_desc_addr.next = self.engine.dr_desc_addr.val();
        self.dr_desc_len.next = self.engine.dr_desc_len.val();
        self.engine.dr_valid.next = self.dr_valid.val();
        self.dr_ready.next = self.engine.dr_ready.val();
        self.engine.dr_data.next = self.dr_data.val();
        self.mac_tx_tvalid.next = self.engine.mac_tx_tvalid.val();
        self.engine.mac_tx_tready.next = self.mac_tx_tready.val();
        self.mac_tx_tdata.next = self.engine.mac_tx_tdata.val();
        self.mac_tx_tkeep.next = self.engine.mac_tx_tkeep.val();
        self.mac_tx_tlast.next = self.engine.mac_tx_tlast.val();
        self.engine.mac_rx_tvalid.next = self.mac_rx_tvalid.val();
        self.mac_rx_tready.next = self.engine.mac_rx_tready.val();
        self.engine.mac_rx_tdata.next = self.mac_rx_tdata.val();
        self.engine.mac_rx_tkeep.next = self.mac_rx_tkeep.val();
        self.engine.mac_rx_tlast.next = self.mac_rx_tlast.val();
        self.dw_desc_valid.next = self.engine.dw_desc_valid.val();
        self.engine.dw_desc_ready.next = self.dw_desc_ready.val();
        self.dw_desc_addr.next = self.engine.dw_desc_addr.val();
        self.dw_desc_len.next = self.engine.dw_desc_len.val();
        self.dw_valid.next = self.engine.dw_valid.val();
        self.engine.dw_ready.next = self.dw_ready.val();
        self.dw_data.next = self.engine.dw_data.val();
        self.dw_last.next = self.engine.dw_last.val();
        self.engine.dw_done.next = self.dw_done.val();
        self.commit_grant_valid.next = self.engine.commit_grant_valid.val();
        self.commit_grant_conn.next = self.engine.commit_grant_conn.val();
        self.commit_grant_kind.next = self.engine.commit_grant_kind.val();
        self.commit_grant_home.next = self.engine.commit_grant_home.val();
        self.commit_grant_via.next = self.engine.commit_grant_via.val();
        self.commit_grant_ppsn.next = self.engine.commit_grant_ppsn.val();
        self.commit_grant_rtx.next = self.engine.commit_grant_rtx.val();
        self.commit_grant_moved.next = self.engine.commit_grant_moved.val();
        self.commit_grant_ack_req.next = self.engine.commit_grant_ack_req.val();
        self.commit_grant_nop.next = self.engine.commit_grant_nop.val();
        self.commit_grant_qp.next = self.engine.commit_grant_qp.val();
        self.commit_grant_msn.next = self.engine.commit_grant_msn.val();
        self.commit_grant_index.next = self.engine.commit_grant_index.val();
        self.commit_grant_bytes.next = self.engine.commit_grant_bytes.val();
        self.commit_grant_source.next = self.engine.commit_grant_source.val();
        self.commit_grant_now.next = self.engine.commit_grant_now.val();
        self.commit_grant_port.next = self.engine.commit_grant_port.val();
        self.commit_grant_inflight_bytes.next = self.engine.commit_grant_inflight_bytes.val();
        self.commit_grant_more.next = self.engine.commit_grant_more.val();
        self.commit_grant_next.next = self.engine.commit_grant_next.val();
        self.commit_grant_pipe.next = self.engine.commit_grant_pipe.val();
        self.commit_grant_window.next = self.engine.commit_grant_window.val();
        self.commit_grant_rr.next = self.engine.commit_grant_rr.val();
        self.commit_ack_valid.next = self.engine.commit_ack_valid.val();
        self.commit_ack_conn.next = self.engine.commit_ack_conn.val();
        self.commit_ack_home.next = self.engine.commit_ack_home.val();
        self.commit_ack_verdict.next = self.engine.commit_ack_verdict.val();
        self.commit_ack_acked.next = self.engine.commit_ack_acked.val();
        self.commit_ack_lost_l1.next = self.engine.commit_ack_lost_l1.val();
        self.commit_ack_lost_l2.next = self.engine.commit_ack_lost_l2.val();
        self.commit_ack_now.next = self.engine.commit_ack_now.val();
        self.commit_ack_hint.next = self.engine.commit_ack_hint.val();
        self.commit_ack_state.next = self.engine.commit_ack_state.val();
        self.commit_ack_next.next = self.engine.commit_ack_next.val();
        self.commit_ack_cum.next = self.engine.commit_ack_cum.val();
        self.commit_ack_pipe.next = self.engine.commit_ack_pipe.val();
        self.commit_ack_window.next = self.engine.commit_ack_window.val();
        self.commit_ack_credit.next = self.engine.commit_ack_credit.val();
        self.commit_ack_srtt8.next = self.engine.commit_ack_srtt8.val();
        self.commit_ack_var4.next = self.engine.commit_ack_var4.val();
        self.commit_ack_backoff.next = self.engine.commit_ack_backoff.val();
        self.commit_ack_reo_tol.next = self.engine.commit_ack_reo_tol.val();
        self.commit_ack_mark.next = self.engine.commit_ack_mark.val();
        self.commit_ack_gen_open.next = self.engine.commit_ack_gen_open.val();
        self.commit_ack_probe_pending.next = self.engine.commit_ack_probe_pending.val();
        self.commit_timer_valid.next = self.engine.commit_timer_valid.val();
        self.commit_timer_conn.next = self.engine.commit_timer_conn.val();
        self.commit_timer_path.next = self.engine.commit_timer_path.val();
        self.commit_timer_action.next = self.engine.commit_timer_action.val();
        self.commit_timer_now.next = self.engine.commit_timer_now.val();
        self.commit_timer_port.next = self.engine.commit_timer_port.val();
        self.commit_timer_probe_ppsn.next = self.engine.commit_timer_probe_ppsn.val();
        self.commit_timer_watched.next = self.engine.commit_timer_watched.val();
        self.commit_timer_alive.next = self.engine.commit_timer_alive.val();
        self.commit_timer_state.next = self.engine.commit_timer_state.val();
        self.commit_timer_next.next = self.engine.commit_timer_next.val();
        self.commit_timer_cum.next = self.engine.commit_timer_cum.val();
        self.commit_timer_pipe.next = self.engine.commit_timer_pipe.val();
        self.commit_timer_window.next = self.engine.commit_timer_window.val();
        self.commit_timer_credit.next = self.engine.commit_timer_credit.val();
        self.commit_timer_srtt8.next = self.engine.commit_timer_srtt8.val();
        self.commit_timer_var4.next = self.engine.commit_timer_var4.val();
        self.commit_timer_backoff.next = self.engine.commit_timer_backoff.val();
        self.commit_timer_reo_tol.next = self.engine.commit_timer_reo_tol.val();
        self.commit_timer_mark.next = self.engine.commit_timer_mark.val();
        self.commit_timer_gen_open.next = self.engine.commit_timer_gen_open.val();
        self.commit_timer_probe_pending.next = self.engine.commit_timer_probe_pending.val();
        self.commit_retire_valid.next = self.engine.commit_retire_valid.val();
        self.commit_retire_conn.next = self.engine.commit_retire_conn.val();
        self.commit_retire_home.next = self.engine.commit_retire_home.val();
        self.commit_retire_ppsn.next = self.engine.commit_retire_ppsn.val();
        self.commit_retire_qp.next = self.engine.commit_retire_qp.val();
        self.commit_retire_msn.next = self.engine.commit_retire_msn.val();
        self.commit_retire_bytes.next = self.engine.commit_retire_bytes.val();
        self.commit_rx_valid.next = self.engine.commit_rx_valid.val();
        self.commit_rx_kind.next = self.engine.commit_rx_kind.val();
        self.commit_rx_class.next = self.engine.commit_rx_class.val();
        self.commit_rx_conn.next = self.engine.commit_rx_conn.val();
        self.commit_rx_home.next = self.engine.commit_rx_home.val();
        self.commit_rx_via.next = self.engine.commit_rx_via.val();
        self.commit_rx_opcode.next = self.engine.commit_rx_opcode.val();
        self.commit_rx_ppsn.next = self.engine.commit_rx_ppsn.val();
        self.commit_rx_code.next = self.engine.commit_rx_code.val();
        self.commit_rx_placed.next = self.engine.commit_rx_placed.val();
        self.commit_rx_addr.next = self.engine.commit_rx_addr.val();
        self.commit_rx_bytes.next = self.engine.commit_rx_bytes.val();
        self.commit_rx_acked.next = self.engine.commit_rx_acked.val();
        self.commit_rx_now.next = self.engine.commit_rx_now.val();
        self.commit_rx_share.next = self.engine.commit_rx_share.val();
        self.commit_rx_cum.next = self.engine.commit_rx_cum.val();
        self.commit_rx_high.next = self.engine.commit_rx_high.val();
        self.commit_rx_ce.next = self.engine.commit_rx_ce.val();
        self.commit_rx_dup.next = self.engine.commit_rx_dup.val();
        self.commit_rx_rx.next = self.engine.commit_rx_rx.val();
        self.commit_rx_unacked.next = self.engine.commit_rx_unacked.val();
        self.commit_rx_exp.next = self.engine.commit_rx_exp.val();
        self.commit_rx_rnr.next = self.engine.commit_rx_rnr.val();
        self.commit_rx_qp_failed.next = self.engine.commit_rx_qp_failed.val();
        self.commit_rx_used.next = self.engine.commit_rx_used.val();
        self.commit_drop_valid.next = self.engine.commit_drop_valid.val();
        self.commit_drop_reason.next = self.engine.commit_drop_reason.val();
        self.commit_cqe_valid.next = self.engine.commit_cqe_valid.val();
        self.commit_cqe_qp.next = self.engine.commit_cqe_qp.val();
        self.commit_cqe_msn.next = self.engine.commit_cqe_msn.val();
        self.commit_cqe_data.next = self.engine.commit_cqe_data.val();
        self.commit_ret_valid.next = self.engine.commit_ret_valid.val();
        self.commit_ret_qp.next = self.engine.commit_ret_qp.val();
        self.commit_ret_msn.next = self.engine.commit_ret_msn.val();
        self.commit_ret_bytes.next = self.engine.commit_ret_bytes.val();
        self.commit_answered_valid.next = self.engine.commit_answered_valid.val();
        self.commit_answered_qp.next = self.engine.commit_answered_qp.val();
        self.commit_answered_msn.next = self.engine.commit_answered_msn.val();
        self.commit_answer_valid.next = self.engine.commit_answer_valid.val();
        self.commit_answer_qp.next = self.engine.commit_answer_qp.val();
        self.commit_err_valid.next = self.engine.commit_err_valid.val();
        self.commit_err_kind.next = self.engine.commit_err_kind.val();
        self.commit_err_qp.next = self.engine.commit_err_qp.val();
        self.commit_err_conn.next = self.engine.commit_err_conn.val();
        self.commit_err_code.next = self.engine.commit_err_code.val();
        self.commit_err_msn.next = self.engine.commit_err_msn.val();
        self.commit_err_now.next = self.engine.commit_err_now.val();
        self.commit_rnr_valid.next = self.engine.commit_rnr_valid.val();
        self.commit_rnr_qp.next = self.engine.commit_rnr_qp.val();
        self.commit_rnr_now.next = self.engine.commit_rnr_now.val();
        self.commit_wqe_valid.next = self.engine.commit_wqe_valid.val();
        self.commit_wqe_qp.next = self.engine.commit_wqe_qp.val();
        self.commit_wqe_wqe_index.next = self.engine.commit_wqe_wqe_index.val();
        self.commit_wqe_msn.next = self.engine.commit_wqe_msn.val();
        self.commit_wqe_conn.next = self.engine.commit_wqe_conn.val();
        self.commit_wqe_status.next = self.engine.commit_wqe_status.val();
        self.commit_wqe_data.next = self.engine.commit_wqe_data.val();
        self.commit_recv_valid.next = self.engine.commit_recv_valid.val();
        self.commit_recv_qp.next = self.engine.commit_recv_qp.val();
        self.commit_recv_index.next = self.engine.commit_recv_index.val();
        self.commit_recv_data.next = self.engine.commit_recv_data.val();
        self.commit_rcqe_valid.next = self.engine.commit_rcqe_valid.val();
        self.commit_rcqe_qp.next = self.engine.commit_rcqe_qp.val();
        self.commit_rcqe_data.next = self.engine.commit_rcqe_data.val();
        self.commit_row_valid.next = self.engine.commit_row_valid.val();
        self.commit_row_table.next = self.engine.commit_row_table.val();
        self.commit_row_index.next = self.engine.commit_row_index.val();
    }
}

fn emit_width<const W: usize, const K: usize, const NB: usize, const R: usize>(
    config: &BuildConfig,
) -> Result<Design, TopError> {
    let design = if config.faults {
        emit_block(&Engine::<W, K, NB, R>::new(config), config.name)?
    } else {
        emit_block(&Top::<W, K, NB, R>::new(config), config.name)?
    };
    Ok(design)
}

/// The Verilog of a build.
pub fn emit(config: &BuildConfig) -> Result<Design, TopError> {
    config.check()?;
    mrnic_emit::on_deep_stack(|| match (config.data_width, config.reads) {
        (64, false) => emit_width::<64, 8, 18, 0>(config),
        (64, true) => emit_width::<64, 8, 18, 1>(config),
        (128, false) => emit_width::<128, 16, 9, 0>(config),
        (128, true) => emit_width::<128, 16, 9, 1>(config),
        (_, false) => emit_width::<512, 64, 3, 0>(config),
        (_, true) => emit_width::<512, 64, 3, 1>(config),
    })
}
