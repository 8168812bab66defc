//! completion: counts retired packets, writes CQEs in MSN order, moves queue pairs to Error and flushes them.
//! In: `cmsg` (a WQE was taken), `ret` (a packet was retired), errors `nak`, `cerr`, `rxerr`, cfg tables QP and CONN; `rcqe`, CQEs of receives;
//! `over`, `again` of rnr; `answered` of read_table (a READ or an atomic has its whole response), `rnak` of rx_core (ERROR_RESP). Out: all CQEs through the write port `cw`, `rel_qp`, the Error bit of each QP (three read ports), `flush` (a QP moved to
//! Error), `withdraw` (a message that its peer has no receive for is to begin again).
//! Guarantees: W2 to W4: every WQE gets exactly one CQE (none if unsignaled and successful), in the order of the stream.
//! Pipeline: a message waits in a register and may follow a CQE at once; who else is next is chosen in the clock before Idle takes it, Idle reads its rows, Load
//! registers them, the step behind decides from registers only. A retired packet takes three clocks; what an error means is decided
//! (Judge) a clock before anything changes.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::host::cqe_writer::{CqeWrite, CqeWriter};
use mrnic_regs::{code, ring, table};
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;

/// What software configured of a completion queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CqFixed {
    pub valid: Bit,
    pub conn: Bits<16>,
    pub base: Bits<64>,
    pub log2: Bits<4>,
    /// N3; 7 is without limit.
    pub rnr_retry: Bits<3>,
}

/// Where a stream stands.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct StreamState {
    /// Oldest message not completed.
    pub head: Bits<24>,
    /// MSN of the next message.
    pub tail: Bits<24>,
    /// CQEs written.
    pub cq_count: Bits<16>,
    /// Done messages that wait for older ones.
    pub ahead: Bits<9>,
    pub failed: Bit,
    /// 0 spent, 1 the message `fail_msn`, 2 the first that is not done.
    pub fail: Bits<2>,
    pub fail_msn: Bits<24>,
    pub fail_status: Bits<8>,
    pub fail_nak: Bits<8>,
    /// N1: it waits, as rnr has been told.
    pub waiting: Bit,
    /// N3: retries left.
    pub rnr_left: Bits<3>,
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct MessageState {
    /// Packets not yet retired.
    pub remaining: Bits<24>,
    /// Packets in all.
    pub npkts: Bits<24>,
    /// N1: to begin again, so not done.
    pub withdrawn: Bit,
    /// D6: a READ or an atomic whose response is not whole and visible.
    pub unanswered: Bit,
    /// 0, or why the WQE was refused.
    pub status: Bits<8>,
    pub signaled: Bit,
    pub opcode: Bits<8>,
    pub wqe_index: Bits<16>,
    pub length: Bits<32>,
    pub wr_id: Bits<64>,
}

/// Who is next.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Turn {
    Nobody,
    Retired,
    Answered,
    ResponseNak,
    Nak,
    Refused,
    GivenUp,
    Over,
    Again,
}

/// What the FSM does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    Clear,
    Idle,
    Load,
    Message,
    Retired,
    Judge,
    Failure,
    Over,
    Again,
    ScanRead,
    Scan,
    HeadRead,
    Head,
    Emit,
}

// The literals in `update` below are these.
const _: () = {
    assert!(
        table::qp::NUMBER == 3 && table::qp::CONN.bit == 16 && table::qp::CQ_LOG2.bit == 132 && table::qp::CQ_BASE.bit == 160
    );
    assert!(table::rts::NUMBER == 5 && table::rts::RNR_RETRY.bit == 0 && table::rts::RNR_RETRY.width == 3);
    assert!(table::qp::RNR_RETRY.bit == 245 && table::qp::RNR_RETRY.width == 3);
    assert!(table::qp::TX_MSN.bit == 256 && ring::cqe::BYTES == 32);
    assert!(ring::cqe::STATUS.bit == 0 && ring::cqe::OPCODE.bit == 8 && ring::cqe::PHASE.bit == 16 && ring::cqe::QPN.bit == 32);
    assert!(ring::cqe::WR_ID.bit == 64 && ring::cqe::BYTE_LEN.bit == 128 && ring::cqe::WQE_INDEX.bit == 160);
    assert!(ring::cqe::NAK_CODE.bit == 192 && ring::cqe::MSN.bit == 224);
    assert!(code::STATUS_WR_FLUSH_ERR == 5 && code::STATUS_RETRY_EXC_ERR == 12 && code::STATUS_RNR_RETRY_EXC_ERR == 13);
    assert!(code::STATUS_REM_ACCESS_ERR == 10 && code::STATUS_REM_INV_REQ_ERR == 9 && code::STATUS_REM_OP_ERR == 11);
};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Completion<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 8: a message counts as done one packet early.
    pub fault: Signal<In, Bits<5>>,
    pub cmsg_valid: Signal<In, Bit>,
    pub cmsg_ready: Signal<Out, Bit>,
    pub cmsg_qp: Signal<In, Bits<16>>,
    pub cmsg_msn: Signal<In, Bits<24>>,
    pub cmsg_npkts: Signal<In, Bits<24>>,
    pub cmsg_length: Signal<In, Bits<32>>,
    pub cmsg_wqe_index: Signal<In, Bits<16>>,
    pub cmsg_wr_id: Signal<In, Bits<64>>,
    pub cmsg_signaled: Signal<In, Bit>,
    pub cmsg_opcode: Signal<In, Bits<8>>,
    pub cmsg_status: Signal<In, Bits<8>>,
    pub ret_valid: Signal<In, Bit>,
    pub ret_ready: Signal<Out, Bit>,
    pub ret_qp: Signal<In, Bits<16>>,
    pub ret_msn: Signal<In, Bits<24>>,
    pub ret_bytes: Signal<In, Bits<13>>,
    pub nak_valid: Signal<In, Bit>,
    pub nak_ready: Signal<Out, Bit>,
    /// The connection whose peer refused: a nak of a QP of another one is ignored.
    pub nak_conn: Signal<In, Bits<16>>,
    pub nak_qp: Signal<In, Bits<16>>,
    pub nak_code: Signal<In, Bits<8>>,
    pub nak_msn: Signal<In, Bits<24>>,
    /// No nak but an RNR: the peer has no receive for the message (N1, N3).
    pub nak_rnr: Signal<In, Bit>,
    /// N1, one clock: a message begins again later; with `began` its queue pair begins to wait.
    pub withdraw_valid: Signal<Out, Bit>,
    pub withdraw_qp: Signal<Out, Bits<16>>,
    pub withdraw_msn: Signal<Out, Bits<24>>,
    pub withdraw_code: Signal<Out, Bits<8>>,
    pub withdraw_began: Signal<Out, Bit>,
    /// N2: a wait may end. The answer comes with `over_done`: failed, or the oldest message.
    pub over_valid: Signal<In, Bit>,
    pub over_ready: Signal<Out, Bit>,
    pub over_qp: Signal<In, Bits<16>>,
    pub over_done: Signal<Out, Bit>,
    pub over_failed: Signal<Out, Bit>,
    pub over_head: Signal<Out, Bits<24>>,
    /// N2: this message begins again.
    pub again_valid: Signal<In, Bit>,
    pub again_ready: Signal<Out, Bit>,
    pub again_qp: Signal<In, Bits<16>>,
    pub again_msn: Signal<In, Bits<24>>,
    /// No error is taken: what waited is entering the rings.
    pub rnr_hold: Signal<In, Bit>,
    /// D6: the response to this message is whole and visible. Taken like a retired packet, behind those.
    pub answered_valid: Signal<In, Bit>,
    pub answered_ready: Signal<Out, Bit>,
    pub answered_qp: Signal<In, Bits<16>>,
    pub answered_msn: Signal<In, Bits<24>>,
    /// D7: a nak of the peer's responder, for a message that waits for its response.
    pub rnak_valid: Signal<In, Bit>,
    pub rnak_ready: Signal<Out, Bit>,
    pub rnak_qp: Signal<In, Bits<16>>,
    pub rnak_code: Signal<In, Bits<8>>,
    pub rnak_msn: Signal<In, Bits<24>>,
    /// One clock, D1 and D8: a READ or an atomic is done, or flushed; each once.
    pub request_done: Signal<Out, Bit>,
    pub request_done_qp: Signal<Out, Bits<16>>,
    pub cerr_valid: Signal<In, Bit>,
    pub cerr_ready: Signal<Out, Bit>,
    pub cerr_conn: Signal<In, Bits<16>>,
    pub rxerr_valid: Signal<In, Bit>,
    pub rxerr_ready: Signal<Out, Bit>,
    pub rxerr_qp: Signal<In, Bits<16>>,
    /// Nothing is being retired: errors wait for it, so that what was acknowledged before them counts (W3).
    pub quiet: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub rel_qp_valid: Signal<Out, Bit>,
    pub rel_qp_ready: Signal<In, Bit>,
    pub rel_qp: Signal<Out, Bits<16>>,
    /// A queue pair that is open moved to Error, once each. Only in a build with receive queues, as are `rcqe`.
    pub flush_valid: Signal<Out, Bit>,
    pub flush_ready: Signal<In, Bit>,
    pub flush_qp: Signal<Out, Bits<16>>,
    pub rcqe_valid: Signal<In, Bit>,
    pub rcqe_ready: Signal<Out, Bit>,
    pub rcqe_addr: Signal<In, Bits<64>>,
    pub rcqe_data: Signal<In, Bits<256>>,
    pub qperr_tx_addr: Signal<In, Bits<16>>,
    pub qperr_tx_data: Signal<Out, Bit>,
    pub qperr_rx_addr: Signal<In, Bits<16>>,
    pub qperr_rx_data: Signal<Out, Bit>,
    pub qperr_host_addr: Signal<In, Bits<16>>,
    pub qperr_host_data: Signal<Out, Bit>,
    pub cw_desc_valid: Signal<Out, Bit>,
    pub cw_desc_ready: Signal<In, Bit>,
    pub cw_desc_addr: Signal<Out, Bits<64>>,
    pub cw_desc_len: Signal<Out, Bits<16>>,
    pub cw_valid: Signal<Out, Bit>,
    pub cw_ready: Signal<In, Bit>,
    pub cw_data: Signal<Out, Bits<W>>,
    pub cw_last: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    pub commit_cqe_valid: Signal<Out, Bit>,
    pub commit_cqe_qp: Signal<Out, Bits<16>>,
    pub commit_cqe_msn: Signal<Out, Bits<24>>,
    pub commit_cqe_data: Signal<Out, Bits<256>>,
    pub commit_ret_valid: Signal<Out, Bit>,
    pub commit_ret_qp: Signal<Out, Bits<16>>,
    pub commit_ret_msn: Signal<Out, Bits<24>>,
    pub commit_ret_bytes: Signal<Out, Bits<13>>,
    /// D6, the step behind the response; of `commit_ret_qp`, `commit_ret_msn`.
    pub commit_answered_valid: Signal<Out, Bit>,
    pub commit_err_valid: Signal<Out, Bit>,
    /// 1 nak, 2 connection error, 3 refused a peer's packet, 4 RNR.
    pub commit_err_kind: Signal<Out, Bits<3>>,
    pub commit_err_qp: Signal<Out, Bits<16>>,
    pub commit_err_conn: Signal<Out, Bits<16>>,
    pub commit_err_code: Signal<Out, Bits<8>>,
    pub commit_err_msn: Signal<Out, Bits<24>>,
    /// With `commit_err`: a queue pair moves to Error, or it was there.
    pub commit_err_fails: Signal<Out, Bit>,
    /// A wait ended (N2).
    pub commit_rnr_valid: Signal<Out, Bit>,
    pub commit_rnr_qp: Signal<Out, Bits<16>>,
    fixed: Ram<CqFixed>,
    state: Ram<StreamState>,
    messages: Ram<MessageState>,
    error_tx: Ram<Bit>,
    error_rx: Ram<Bit>,
    error_host: Ram<Bit>,
    /// Connections in error.
    given_up: Ram<Bit>,
    error_write: Signal<Local, Bit>,
    error_index: Signal<Local, Bits<24>>,
    error_value: Signal<Local, Bit>,
    writer: CqeWriter<W>,
    releases: Fifo<Bits<16>>,
    flushes: Fifo<Bits<16>>,
    cfg_held: DFF<Bit>,
    /// What was given up has been read for it.
    cfg_read: DFF<Bit>,
    /// The table is CONN.
    held_conn: DFF<Bit>,
    /// The table is RNR, and its queue pair's rows have been read.
    held_rnr: DFF<Bit>,
    rnr_read: DFF<Bit>,
    held_index: DFF<Bits<16>>,
    held_data: DFF<Bits<320>>,
    turn: DFF<Turn>,
    /// A message may be taken, before a retired packet too.
    greets: DFF<Bit>,
    /// One was taken: `incoming`, of this queue pair.
    held_msg: DFF<Bit>,
    msg_qp: DFF<Bits<16>>,
    msg_msn: DFF<Bits<24>>,
    /// Whose turn it is goes on, as neither a row nor a message waits.
    takes: Signal<Local, Bit>,
    step: DFF<Step>,
    /// The step behind Load.
    then: DFF<Step>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    qp: DFF<Bits<16>>,
    msn: DFF<Bits<24>>,
    incoming: DFF<MessageState>,
    bytes: DFF<Bits<13>>,
    kind: DFF<Bits<3>>,
    nak: DFF<Bits<8>>,
    fail_kind: DFF<Bits<2>>,
    fail_status: DFF<Bits<8>>,
    scan_conn: DFF<Bits<16>>,
    scanning: DFF<Bit>,
    /// The next message goes before the next retired packet.
    favour: DFF<Bit>,
    stream: DFF<StreamState>,
    cq: DFF<CqFixed>,
    message: DFF<MessageState>,
    /// Of `msn` in its stream: messages before it, and all.
    place: DFF<Bits<24>>,
    span: DFF<Bits<24>>,
    // of the oldest message, a clock ahead of Emit
    none_left: DFF<Bit>,
    fails_here: DFF<Bit>,
    is_done: DFF<Bit>,
    cqe_at: DFF<Bits<64>>,
    cqe_status: Signal<Local, Bits<8>>,
    cqe_nak: Signal<Local, Bits<8>>,
    from_queue: Signal<Local, CqFixed>,
    now_at: Signal<Local, StreamState>,
    next_at: Signal<Local, StreamState>,
    new_row: Signal<Local, MessageState>,
    done: Signal<Local, Bit>,
    early: Signal<Local, Bit>,
    room: Signal<Local, Bit>,
    outstanding: Signal<Local, Bit>,
    is_failing: Signal<Local, Bit>,
    cqe: Signal<Local, CqeWrite>,
    cqe_mask: Signal<Local, Bits<16>>,
    cqe_words: Signal<Local, Bits<256>>,
    phase: Signal<Local, Bit>,
    status_of_nak: Signal<Local, Bits<8>>,
    // what Judge finds of an error, for Failure
    /// The error may move the queue pair: it is its own connection's, or no nak.
    of_conn: DFF<Bit>,
    /// N1: an RNR that counts: of a message that is not done and not withdrawn, of a QP that is not in Error.
    refuses: DFF<Bit>,
    /// N3: and it uses a retry.
    uses_retry: DFF<Bit>,
    /// The queue pair moves to Error.
    dooms: DFF<Bit>,
    // `of_conn` and `uses_retry` as Judge finds them
    matters: Signal<Local, Bit>,
    takes_one: Signal<Local, Bit>,
    last_walk: Constant<Bits<24>>,
    last_qp: Constant<Bits<24>>,
    message_mask: Constant<Bits<24>>,
    message_log2: Constant<Bits<4>>,
    one16: Constant<Bits<16>>,
    slot: Signal<Local, Bits<24>>,
    finish: Signal<Local, Bit>,
    /// The error is a nak or an RNR.
    of_peer: Signal<Local, Bit>,
    flush_room: Signal<Local, Bit>,
    may_emit: Signal<Local, Bit>,
    /// The queue pair of this step moves to Error.
    fails: Signal<Local, Bit>,
    sends: Constant<Bit>,
    reads: Constant<Bit>,
    /// The step Retired is that of an answer.
    is_answer: DFF<Bit>,
    /// The nak came as an ERROR_RESP: rx_core has seen that it is of the queue pair's connection.
    by_response: DFF<Bit>,
    refusal: Signal<Local, Bits<8>>,
    message_asks: Signal<Local, Bit>,
    counts: Signal<Local, Bit>,
    /// The packet is its message's last one, or the answer comes behind that.
    last: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    answer_waits: Signal<Local, Bit>,
    favours: Signal<Local, Bit>,
    may_fail: Signal<Local, Bit>,
    /// The row that Idle reads.
    qp_here: Signal<Local, Bits<16>>,
    msn_here: Signal<Local, Bits<24>>,
}

impl<const W: usize> Completion<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        filled!(Completion {
            fixed: Ram::new(config.qps),
            state: Ram::new(config.qps),
            messages: Ram::new(config.message_rows()),
            error_tx: Ram::new(config.qps),
            error_rx: Ram::new(config.qps),
            error_host: Ram::new(config.qps),
            given_up: Ram::new(config.conns),
            writer: CqeWriter::new(config),
            releases: Fifo::new(config.fifo.cmsg),
            flushes: Fifo::new(if config.sends { config.fifo.cmsg } else { 1 }),
            sends: Constant::new(config.sends),
            reads: Constant::new(config.reads),
            last_walk: Constant::new((config.message_rows().max(config.conns) as u64 - 1).to_bits()),
            last_qp: Constant::new((config.qps as u64 - 1).to_bits()),
            message_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            message_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            one16: Constant::new(1u64.to_bits());
            clock, reset, fault, cmsg_valid, cmsg_ready, cmsg_qp, cmsg_msn, cmsg_npkts, cmsg_length, cmsg_wqe_index, cmsg_wr_id,
            cmsg_signaled, cmsg_opcode, cmsg_status, ret_valid, ret_ready, ret_qp, ret_msn, ret_bytes, nak_valid, nak_ready, nak_conn, nak_qp,
            nak_code, nak_msn, nak_rnr, withdraw_valid, withdraw_qp, withdraw_msn, withdraw_code, withdraw_began, over_valid,
            over_ready, over_qp, over_done, over_failed, over_head, again_valid, again_ready, again_qp, again_msn, rnr_hold, cerr_valid, cerr_ready, cerr_conn, rxerr_valid, rxerr_ready, rxerr_qp, quiet, cfg_valid, cfg_table,
            cfg_index, cfg_data, cfg_busy, rel_qp_valid, rel_qp_ready, rel_qp, flush_valid,
            flush_ready, flush_qp, rcqe_valid, rcqe_ready, rcqe_addr, rcqe_data, qperr_tx_addr, qperr_tx_data, qperr_rx_addr,
            qperr_rx_data, qperr_host_addr, qperr_host_data, cw_desc_valid, cw_desc_ready, cw_desc_addr, cw_desc_len, cw_valid,
            cw_ready, cw_data, cw_last, init_done, commit_cqe_valid, commit_cqe_qp, commit_cqe_msn, commit_cqe_data,
            commit_ret_valid, commit_ret_qp, commit_ret_msn, commit_ret_bytes, commit_err_valid, commit_err_kind, commit_err_qp,
            commit_err_conn, commit_err_code, commit_err_msn, commit_err_fails, commit_rnr_valid, commit_rnr_qp, error_write, error_index, error_value, cfg_held, cfg_read, held_conn, held_rnr, rnr_read, held_index,
            held_data, step, walk, ready, qp, msn, incoming, bytes, kind, nak, fail_kind, fail_status, scan_conn, scanning, favour, stream,
            cq, message, cqe_status, cqe_nak, from_queue, now_at, next_at, new_row, done, early, room,
            outstanding, is_failing, cqe, cqe_mask, cqe_words, phase, status_of_nak, refuses, uses_retry, dooms, matters, takes_one, slot, finish, of_conn, of_peer,
            flush_room, may_emit, fails, answered_valid, answered_ready, answered_qp, answered_msn, rnak_valid, rnak_ready, rnak_qp,
            rnak_code, rnak_msn, request_done, request_done_qp, commit_answered_valid, is_answer, by_response, refusal,
            message_asks, counts, turn, greets, held_msg, msg_qp, msg_msn, takes, then, place, span, none_left, fails_here, is_done, cqe_at, last, ends, answer_waits,
            favours, may_fail, qp_here, msn_here,
        })
    }
}
