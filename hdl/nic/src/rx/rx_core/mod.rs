//! rx_core: the receiver's steps, one at a time (docs/protocol.md, section 4): PACKET, RX TIMER, CHECK and FINISH of a request (section 11,
//! D3), EPOCH SWAP, EPOCH PUBLISH, CFG. In: `hdr` records of good frames, table writes, registers, receives (recv_queue), requests to
//! execute (responder). Out: `place`, `ackdesc`, `ack`, `rxerr`, `nak`, what becomes of receives, requests and responses, commit records. Guarantees: every output has room before it is made; 7 clocks a packet, acknowledged or not
//! (more where a hole is filled), 10 a SEND, 5 an ACK. Where a packet's bytes go to a list (`sges` > 1) a walk over its pieces comes on top (scatter), and
//! each piece is an order of its own.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::rx::ack_collect::AckCollect;
use crate::rx::executor::RequestRow;
use crate::rx::key_check::KeyCheck;
use crate::rx::message_tracker::MessageTracker;
use crate::rx::packet_check::PacketCheck;
use crate::rx::path_tracker::PathTracker;
use crate::rx::path_update::PathUpdate;
use crate::rx::rate_hint::RateHint;
use crate::rx::rx_commit::RxCommit;
use crate::rx::rx_config::RxConfig;
use crate::rx::rx_layout::opcode_value;
use crate::rx::rx_rows::{RxAckHeader, RxHeader, RxPathRow, RxRequestHeader};
use crate::rx::rx_tables::RxTables;
use crate::rx::rx_timers::RxTimers;
use crate::rx::scatter::Scatter;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;

/// Clocks of a step, and the table writes.
#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum RxState {
    Idle,
    Read,
    Calc,
    Class,
    Shared,
    Walk,
    Key,
    Judge,
    Apply,
    Commit,
    Settle,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxCore {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Faults 2 (path_tracker), 6 (a duplicate is placed again), 11 (key_check); 0 = none.
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub ack_delay: Signal<In, Bits<32>>,
    pub ack_every: Signal<In, Bits<3>>,
    pub epoch_cap: Signal<In, Bits<32>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// Other blocks have not applied the write yet; only a row QP waits for them.
    pub others_busy: Signal<In, Bit>,
    pub init_done: Signal<Out, Bit>,
    pub hdr_valid: Signal<In, Bit>,
    pub hdr_ready: Signal<Out, Bit>,
    pub hdr_opcode: Signal<In, Bits<8>>,
    pub hdr_ack_req: Signal<In, Bit>,
    pub hdr_ppsn: Signal<In, Bits<24>>,
    pub hdr_dest_qp: Signal<In, Bits<24>>,
    pub hdr_ecn_ce: Signal<In, Bit>,
    pub hdr_home: Signal<In, Bits<8>>,
    pub hdr_via: Signal<In, Bits<8>>,
    pub hdr_conn: Signal<In, Bits<16>>,
    pub hdr_rtx: Signal<In, Bit>,
    pub hdr_tx_ts: Signal<In, Bits<16>>,
    pub hdr_msn: Signal<In, Bits<24>>,
    pub hdr_first: Signal<In, Bit>,
    pub hdr_last: Signal<In, Bit>,
    pub hdr_va: Signal<In, Bits<64>>,
    pub hdr_rkey: Signal<In, Bits<32>>,
    pub hdr_length: Signal<In, Bits<32>>,
    pub hdr_payload_bytes: Signal<In, Bits<13>>,
    /// Of WRITE with immediate and SEND, and so are the next three.
    pub hdr_rq_seq: Signal<In, Bits<24>>,
    pub hdr_imm: Signal<In, Bits<32>>,
    pub hdr_has_imm: Signal<In, Bit>,
    pub hdr_sol: Signal<In, Bit>,
    pub hdr_attempt: Signal<In, Bit>,
    pub hdr_udp_src: Signal<In, Bits<16>>,
    /// Of READs and atomics, and so are the next four.
    pub hdr_tag: Signal<In, Bits<32>>,
    pub hdr_operand: Signal<In, Bits<64>>,
    pub hdr_compare: Signal<In, Bits<64>>,
    pub hdr_fetch_add: Signal<In, Bit>,
    pub hdr_error_code: Signal<In, Bits<8>>,
    pub hdr_ts_echo: Signal<In, Bits<16>>,
    pub hdr_service: Signal<In, Bits<16>>,
    pub hdr_ce: Signal<In, Bits<16>>,
    pub hdr_dup: Signal<In, Bits<16>>,
    pub hdr_flags: Signal<In, Bits<16>>,
    pub hdr_rate: Signal<In, Bits<24>>,
    pub hdr_sav: Signal<In, Bits<256>>,
    pub hdr_mak_qp: Signal<In, Bits<24>>,
    pub hdr_mak_code: Signal<In, Bits<8>>,
    pub hdr_mak_msn: Signal<In, Bits<24>>,
    pub place_valid: Signal<Out, Bit>,
    pub place_ready: Signal<In, Bit>,
    /// Write to `place_addr`, else discard.
    pub place_write: Signal<Out, Bit>,
    pub place_addr: Signal<Out, Bits<64>>,
    pub place_bytes: Signal<Out, Bits<13>>,
    /// Of READs and atomics, see placement_dma.
    pub place_own: Signal<Out, Bit>,
    pub place_data: Signal<Out, Bits<64>>,
    pub place_swap: Signal<Out, Bit>,
    /// The order has not all bytes of its packet: the next one has those behind them.
    pub place_more: Signal<Out, Bit>,
    pub ack_valid: Signal<Out, Bit>,
    pub ack_ready: Signal<In, Bit>,
    pub ack_conn: Signal<Out, Bits<16>>,
    pub ack_home: Signal<Out, Bits<3>>,
    pub ack_cum: Signal<Out, Bits<24>>,
    pub ack_ts_echo: Signal<Out, Bits<16>>,
    pub ack_service: Signal<Out, Bits<16>>,
    pub ack_ce: Signal<Out, Bits<16>>,
    pub ack_dup: Signal<Out, Bits<16>>,
    pub ack_flags: Signal<Out, Bits<16>>,
    pub ack_rate: Signal<Out, Bits<24>>,
    pub ack_sav: Signal<Out, Bits<256>>,
    pub ack_mak_qp: Signal<Out, Bits<24>>,
    pub ack_mak_code: Signal<Out, Bits<8>>,
    pub ack_mak_msn: Signal<Out, Bits<24>>,
    /// The port of acknowledgments that travel by a path (R10).
    pub portset_valid: Signal<Out, Bit>,
    pub portset_conn: Signal<Out, Bits<16>>,
    pub portset_path: Signal<Out, Bits<3>>,
    pub portset_port: Signal<Out, Bits<16>>,
    pub ackdesc_valid: Signal<Out, Bit>,
    pub ackdesc_ready: Signal<In, Bit>,
    pub ackdesc_conn: Signal<Out, Bits<16>>,
    pub ackdesc_home: Signal<Out, Bits<3>>,
    pub ackdesc_via: Signal<Out, Bits<3>>,
    pub ackdesc_cum: Signal<Out, Bits<24>>,
    pub ackdesc_ts_echo: Signal<Out, Bits<16>>,
    pub ackdesc_service: Signal<Out, Bits<16>>,
    pub ackdesc_ce: Signal<Out, Bits<16>>,
    pub ackdesc_dup: Signal<Out, Bits<16>>,
    pub ackdesc_rx: Signal<Out, Bits<16>>,
    pub ackdesc_flags: Signal<Out, Bits<16>>,
    pub ackdesc_rate: Signal<Out, Bits<24>>,
    pub ackdesc_epoch: Signal<Out, Bits<8>>,
    pub ackdesc_mak_qp: Signal<Out, Bits<24>>,
    pub ackdesc_mak_code: Signal<Out, Bits<8>>,
    pub ackdesc_mak_msn: Signal<Out, Bits<24>>,
    pub ackdesc_sav: Signal<Out, Bits<256>>,
    /// A step may begin in this clock that looks in the next one.
    pub rq_near: Signal<Out, Bit>,
    /// Q1, in the second clock of a step: which receive does the packet use? (The QP may be one that does not exist.) The three
    /// fields are those of the look until the step ends.
    pub rq_look: Signal<Out, Bit>,
    pub rq_qp: Signal<Out, Bits<16>>,
    pub rq_seq: Signal<Out, Bits<24>>,
    pub rq_msn: Signal<Out, Bits<24>>,
    /// From the second clock of a step that looks until the step is committed, or needs no receive after all.
    pub rq_step: Signal<Out, Bit>,
    /// The answer, stable from three clocks after the look (what the memory is, from two) until the next one: 0 a receive, 1 not posted, 2 not one for it, 3 one of a
    /// shared queue that the mark takes (`rq_last`: its last one). Of a SEND to a queue pair with a shared queue it may come a clock later.
    pub rq_found: Signal<In, Bits<2>>,
    pub rq_last: Signal<In, Bit>,
    pub rq_shared: Signal<In, Bit>,
    /// Protection domain of the shared queue.
    pub rq_pd: Signal<In, Bits<16>>,
    pub rq_addr: Signal<In, Bits<64>>,
    pub rq_len: Signal<In, Bits<32>>,
    pub rq_lkey: Signal<In, Bits<32>>,
    /// Its memory is a list, whose piece `rq_at` stands at `rq_piece` in the same clock (an SGE; one that it does not have is without bytes).
    pub rq_listed: Signal<In, Bit>,
    pub rq_at: Signal<Out, Bits<2>>,
    pub rq_piece: Signal<In, Bits<128>>,
    /// The receive found belongs to this message from now on, whether the packet is refused or not.
    pub rq_mark: Signal<Out, Bit>,
    /// With `rq_mark`: the packet is accepted, and what its message's completion tells.
    pub rq_accept: Signal<Out, Bit>,
    pub rq_length: Signal<Out, Bits<32>>,
    pub rq_imm: Signal<Out, Bits<32>>,
    pub rq_has_imm: Signal<Out, Bit>,
    pub rq_sol: Signal<Out, Bit>,
    pub rq_by_write: Signal<Out, Bit>,
    /// With `rq_mark`, Q3: the status with which it completes if its QP fails by it, or 0.
    pub rq_failed: Signal<Out, Bits<8>>,
    /// Q5, before the step is committed: exp passed the message that uses this receive (rq_seq modulo
    /// 256); `ticket`: number of payload writes ordered until then, modulo 2^16.
    pub pass_valid: Signal<Out, Bit>,
    pub pass_ready: Signal<In, Bit>,
    pub pass_qp: Signal<Out, Bits<16>>,
    pub pass_slot: Signal<Out, Bits<8>>,
    pub pass_ticket: Signal<Out, Bits<16>>,
    /// D3, in the first clock of the step of a READ_REQ or ATOMIC_REQ (the QP and the connection may be ones that do not exist).
    pub ask_look: Signal<Out, Bit>,
    pub ask_conn: Signal<Out, Bits<16>>,
    pub ask_qp: Signal<Out, Bits<16>>,
    pub ask_msn: Signal<Out, Bits<24>>,
    /// From the look until its step is committed.
    pub ask_step: Signal<Out, Bit>,
    /// request_places' answers, from three clocks later until the next look.
    pub ask_reached_ok: Signal<In, Bit>,
    pub ask_early_ok: Signal<In, Bit>,
    pub ask_none: Signal<In, Bit>,
    pub ask_failed: Signal<In, Bit>,
    /// The request that was looked at is accepted.
    pub ask_take: Signal<Out, Bit>,
    pub ask_row: Signal<Out, RequestRow>,
    /// One clock: `exp` has come to a request; payload writes ordered until then. Always taken.
    pub reached: Signal<Out, Bit>,
    pub reached_qp: Signal<Out, Bits<16>>,
    pub reached_msn: Signal<Out, Bits<24>>,
    pub reached_ticket: Signal<Out, Bits<16>>,
    /// D3: the key of a request is checked again. No table write is applied from here to its `finish_done`, or a check that failed.
    pub check_valid: Signal<In, Bit>,
    pub check_ready: Signal<Out, Bit>,
    pub check_done: Signal<Out, Bit>,
    /// With `check_done`: 0, or why not; the bus address; the QP is in Error, or closed.
    pub check_code: Signal<Out, Bits<3>>,
    pub check_addr: Signal<Out, Bits<64>>,
    pub check_failed: Signal<Out, Bit>,
    /// `exp` passes the request; an atomic's new value is written.
    pub finish_valid: Signal<In, Bit>,
    pub finish_ready: Signal<Out, Bit>,
    pub finish_done: Signal<Out, Bit>,
    /// With `finish_done`: payload writes ordered up to and with it.
    pub finish_ticket: Signal<Out, Bits<16>>,
    /// The request of the check and the finish.
    pub run_qp: Signal<In, Bits<16>>,
    pub run_msn: Signal<In, Bits<24>>,
    pub run_atomic: Signal<In, Bit>,
    pub run_va: Signal<In, Bits<64>>,
    pub run_rkey: Signal<In, Bits<32>>,
    pub run_length: Signal<In, Bits<32>>,
    /// Of the finish: why it could not be executed; the value before an atomic; what is written where.
    pub run_code: Signal<In, Bits<3>>,
    pub run_value: Signal<In, Bits<64>>,
    pub run_write: Signal<In, Bit>,
    pub run_addr: Signal<In, Bits<64>>,
    pub run_data: Signal<In, Bits<64>>,
    /// D6, in the first clock of the step of a response; the next five are stable from the next clock on.
    pub rsp_look: Signal<Out, Bit>,
    pub rsp_qp: Signal<Out, Bits<16>>,
    pub rsp_msn: Signal<Out, Bits<24>>,
    /// 0 READ_RESP, 1 ATOMIC_RESP, 2 ERROR_RESP.
    pub rsp_kind: Signal<Out, Bits<2>>,
    pub rsp_offset: Signal<Out, Bits<64>>,
    pub rsp_length: Signal<Out, Bits<32>>,
    pub rsp_tag: Signal<Out, Bits<32>>,
    pub rsp_bytes: Signal<Out, Bits<13>>,
    /// read_table's answer, from clock 4 on.
    pub rsp_used: Signal<In, Bit>,
    pub rsp_addr: Signal<In, Bits<64>>,
    /// From clock 3 on: it goes to pieces; piece `rsp_at` of them stands at `rsp_piece` in the same clock (an SGE with a bus address).
    pub rsp_listed: Signal<In, Bit>,
    pub rsp_at: Signal<Out, Bits<2>>,
    pub rsp_piece: Signal<In, Bits<128>>,
    /// A further response may be taken.
    pub rsp_room: Signal<In, Bit>,
    /// D8, one clock: the sender gave the connection up. Nothing but its acknowledgments is looked at any more.
    pub cerr_valid: Signal<In, Bit>,
    pub cerr_conn: Signal<In, Bits<16>>,
    pub rsp_take: Signal<Out, Bit>,
    /// One clock after `rsp_take`: payload writes ordered up to and with it.
    pub rsp_ticket: Signal<Out, Bits<16>>,
    /// D7: an ERROR_RESP of use fails its message.
    pub nak_valid: Signal<Out, Bit>,
    pub nak_ready: Signal<In, Bit>,
    pub nak_qp: Signal<Out, Bits<16>>,
    pub nak_msn: Signal<Out, Bits<24>>,
    pub nak_code: Signal<Out, Bits<8>>,
    pub rxerr_valid: Signal<Out, Bit>,
    pub rxerr_ready: Signal<In, Bit>,
    pub rxerr_qp: Signal<Out, Bits<16>>,
    /// With which code this QP has refused its peer (R4), one clock later.
    pub asked_qp: Signal<In, Bits<16>>,
    pub refusal: Signal<Out, Bits<3>>,
    /// completion's error bits: the bit of the QP addressed in the previous clock.
    pub qperr_addr: Signal<Out, Bits<16>>,
    pub qperr_data: Signal<In, Bit>,
    pub commit_row_valid: Signal<Out, Bit>,
    pub commit_row_table: Signal<Out, Bits<8>>,
    pub commit_row_index: Signal<Out, Bits<16>>,
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
    /// Q2: refused for now.
    pub commit_rx_rnr: Signal<Out, Bit>,
    /// R3 saw the packet's QP in Error.
    pub commit_rx_qp_failed: Signal<Out, Bit>,
    /// D6: a response of use.
    pub commit_rx_used: Signal<Out, Bit>,
    tracker: PathTracker,
    key: KeyCheck,
    messages: MessageTracker,
    hint: RateHint,
    timers: RxTimers,
    setup: RxConfig,
    tables: RxTables,
    check: PacketCheck,
    effect: PathUpdate,
    collect: AckCollect,
    journal: RxCommit,
    scatter: Scatter,
    /// The step's packet has gone through a list.
    walked: DFF<Bit>,
    state: DFF<RxState>,
    /// The packet of the step.
    h: DFF<RxHeader>,
    ack_r: DFF<RxAckHeader>,
    more: DFF<RxRequestHeader>,
    /// The step is a CHECK or a FINISH; it is a FINISH.
    is_run: DFF<Bit>,
    is_finish: DFF<Bit>,
    /// A request is between its CHECK and its FINISH.
    running: DFF<Bit>,
    /// The step is that of a request.
    asking: DFF<Bit>,
    nak_full: DFF<Bit>,
    is_timer: DFF<Bit>,
    /// When it began: the time of all its effects.
    time: DFF<Bits<32>>,
    row: DFF<Bits<24>>,
    path: DFF<RxPathRow>,
    /// It acknowledges.
    acking: DFF<Bit>,
    /// R9: the QP of the path's last packet, as it is after the step.
    peer_known: DFF<Bit>,
    peer_qpn: DFF<Bits<24>>,
    oldest: DFF<Bits<24>>,
    place_full: DFF<Bit>,
    ack_full: DFF<Bit>,
    rxerr_full: DFF<Bit>,
    /// The step looks in this clock.
    looking: DFF<Bit>,
    /// The step holds a receive.
    holding: DFF<Bit>,
    /// Clocks in Shared or Key.
    waited: DFF<Bits<2>>,
    /// Payload writes ordered, modulo 2^16.
    tickets: DFF<Bits<16>>,
    /// What the last step has put out is taken.
    drained: Signal<Local, Bit>,
    /// The header that waits is of a packet that looks.
    consumes: Signal<Local, Bit>,
    free: Signal<Local, Bit>,
    begin: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    request: Signal<Local, Bit>,
    /// The cumulative point and exp are final and told; the step's record was made then.
    settled: Signal<Local, Bit>,
    tells: Signal<Local, Bit>,
    told: DFF<Bit>,
    /// Every table is cleared; a register, so that no step waits for the tables' states.
    inited: DFF<Bit>,
    commits: Signal<Local, Bit>,
    changes: Signal<Local, Bit>,
    swaps: Signal<Local, Bit>,
    publishes: Signal<Local, Bit>,
    accepted: Signal<Local, Bit>,
    refused: Signal<Local, Bit>,
    names_qp: Signal<Local, Bit>,
    placed: Signal<Local, Bit>,
    taken: Signal<Local, Bit>,
    fails: Signal<Local, Bit>,
    read_conn: Signal<Local, Bits<16>>,
    read_qp: Signal<Local, Bits<16>>,
    read_row: Signal<Local, Bits<24>>,
    runs: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
    length: Signal<Local, Bits<32>>,
    requests: Signal<Local, Bit>,
    responds: Signal<Local, Bit>,
    kind: Signal<Local, Bits<2>>,
    used: Signal<Local, Bit>,
    ends_run: Signal<Local, Bit>,
    asked: Signal<Local, RequestRow>,
    walks: Signal<Local, Bit>,
    /// Its orders are those of a list; writes that they make.
    in_pieces: Signal<Local, Bit>,
    writes: Signal<Local, Bits<16>>,
    with_lists: Constant<Bit>,
    reads: Constant<Bit>,
    op_read_req: Constant<Bits<8>>,
    op_atomic_req: Constant<Bits<8>>,
    op_read_resp: Constant<Bits<8>>,
    op_atomic_resp: Constant<Bits<8>>,
    op_error_resp: Constant<Bits<8>>,
    sends: Constant<Bit>,
    op_write: Constant<Bits<8>>,
    op_send: Constant<Bits<8>>,
}

impl RxCore {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RxCore {
            tracker: PathTracker::new(config),
            key: KeyCheck::new(config),
            messages: MessageTracker::new(config),
            hint: RateHint::new(config),
            timers: RxTimers::new(config),
            setup: RxConfig::new(config),
            tables: RxTables::new(config),
            check: PacketCheck::new(config),
            collect: AckCollect::new(config),
            scatter: Scatter::new(config),
            with_lists: Constant::new(config.sges > 1),
            reads: Constant::new(config.reads),
            op_read_req: Constant::new(opcode_value("READ_REQ").to_bits()),
            op_atomic_req: Constant::new(opcode_value("ATOMIC_REQ").to_bits()),
            op_read_resp: Constant::new(opcode_value("READ_RESP").to_bits()),
            op_atomic_resp: Constant::new(opcode_value("ATOMIC_RESP").to_bits()),
            op_error_resp: Constant::new(opcode_value("ERROR_RESP").to_bits()),
            sends: Constant::new(config.sends),
            op_write: Constant::new(opcode_value("WRITE").to_bits()),
            op_send: Constant::new(opcode_value("SEND").to_bits());
            clock, reset, fault, now, ack_delay, ack_every, epoch_cap, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy,
            others_busy, commit_row_valid, commit_row_table, commit_row_index, init_done, hdr_valid, hdr_ready, place_valid, place_ready, place_write, place_addr, place_bytes, place_own, place_data, place_swap, place_more, ack_valid,
            ack_ready, portset_valid, portset_conn, portset_path, portset_port, ackdesc_valid, ackdesc_ready, rxerr_valid, rxerr_ready, rxerr_qp, asked_qp, refusal, qperr_addr, qperr_data,
            commit_rx_valid,
            hdr_opcode, hdr_ack_req, hdr_ppsn, hdr_dest_qp, hdr_ecn_ce, hdr_home, hdr_via, hdr_conn, hdr_rtx, hdr_tx_ts,
            hdr_msn, hdr_first, hdr_last, hdr_va, hdr_rkey, hdr_length, hdr_payload_bytes, hdr_rq_seq, hdr_imm, hdr_has_imm,
            hdr_sol, hdr_attempt, hdr_udp_src, hdr_tag, hdr_operand, hdr_compare, hdr_fetch_add, hdr_error_code, hdr_ts_echo, hdr_service, hdr_ce,
            hdr_dup, hdr_flags, hdr_rate, hdr_sav, hdr_mak_qp, hdr_mak_code, hdr_mak_msn, ack_conn, ack_home, ack_cum,
            ack_ts_echo, ack_service, ack_ce, ack_dup, ack_flags, ack_rate, ack_sav, ack_mak_qp, ack_mak_code, ack_mak_msn,
            ackdesc_conn, ackdesc_home, ackdesc_via, ackdesc_cum, ackdesc_ts_echo, ackdesc_service, ackdesc_ce, ackdesc_dup,
            ackdesc_rx, ackdesc_flags, ackdesc_rate, ackdesc_epoch, ackdesc_mak_qp, ackdesc_mak_code, ackdesc_mak_msn,
            ackdesc_sav, commit_rx_kind, commit_rx_class, commit_rx_conn, commit_rx_home, commit_rx_via, commit_rx_opcode,
            commit_rx_ppsn, commit_rx_code, commit_rx_placed, commit_rx_addr, commit_rx_bytes, commit_rx_acked,
            commit_rx_now, commit_rx_share, commit_rx_cum, commit_rx_high, commit_rx_ce, commit_rx_dup, commit_rx_rx,
            commit_rx_unacked, commit_rx_exp, commit_rx_rnr, commit_rx_qp_failed, commit_rx_used, rq_near, rq_look, rq_qp, rq_seq, rq_msn, rq_step,
            rq_found, rq_last, rq_shared, rq_pd, rq_addr, rq_len, rq_lkey, rq_listed, rq_at, rq_piece, rq_mark, rq_accept, rq_length, rq_imm, rq_has_imm, rq_sol,
            rq_by_write, rq_failed, pass_valid, pass_ready, pass_qp, pass_slot, pass_ticket,
            ask_look, ask_conn, ask_qp, ask_msn, ask_step, ask_reached_ok, ask_early_ok, ask_none, ask_failed, ask_take, ask_row,
            reached, reached_qp, reached_msn, reached_ticket, check_valid, check_ready, check_done, check_code, check_addr,
            check_failed, finish_valid, finish_ready, finish_done, finish_ticket, run_qp, run_msn, run_atomic, run_va, run_rkey,
            run_length, run_code, run_value, run_write, run_addr, run_data, rsp_look, rsp_qp, rsp_msn, rsp_kind, rsp_offset,
            rsp_length, rsp_tag, rsp_bytes, rsp_used, rsp_addr, rsp_listed, rsp_at, rsp_piece, rsp_room, cerr_valid, cerr_conn, rsp_take, rsp_ticket, nak_valid, nak_ready, nak_qp,
            nak_msn, nak_code, more, is_run, is_finish, running, asking, nak_full, runs, finishes, length, requests, responds,
            kind, used, ends_run, asked, walked, walks, in_pieces, writes,
            effect, journal, state, h, ack_r, is_timer, time, row, path, acking, peer_known, peer_qpn, oldest,
            place_full, ack_full, rxerr_full, looking, holding, waited, tickets, drained, consumes, free, begin, asks, request, settled, tells, told, inited, commits, changes, swaps, publishes, accepted, refused, names_qp,
            placed, taken, fails, read_conn, read_qp, read_row,
        })
    }
}
