//! work_fetch: takes WQEs from the send queues in host memory.
//! In: `doorbell`, cfg tables CONN, QP and KEY, releases `rel_conn` and `rel_qp`, `request_done` of completion, the WQE read port `cr`. Out: `msgrow`, `cmsg`, `msg`.
//! Guarantees: never more than M messages of a QP and conn_fifo messages of a connection outstanding; the checks of W1; the three outputs
//! of a WQE are made in one clock, in the order of the stream. As many WQE reads are outstanding as payload reads (dr_outstanding).
//! A WQE with a list is judged piece by piece, 4 clocks each; `msgpiece` has each as it is judged, before `msgrow`.
//! D1: a WQE that may not enter yet is set back: it and those behind it stay in the ring and are read again when a request is done.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::tx::run_list::RunList;
use mrnic_regs::{ring, table};
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;

/// What software configured of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SqFixed {
    pub valid: Bit,
    pub conn: Bits<16>,
    pub peer_qpn: Bits<24>,
    pub pd: Bits<16>,
    pub base: Bits<64>,
    pub log2: Bits<4>,
    /// Entries of 128 bytes, with a list behind the WQE.
    pub lists: Bit,
}

/// Where a send queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SqState {
    pub producer: Bits<16>,
    pub consumer: Bits<16>,
    /// Messages taken so far, modulo 2^16; released ones are counted apart.
    pub issued: Bits<16>,
    pub msn: Bits<24>,
    /// D1: the WQE at `consumer` was set back, and has a fence or not.
    pub blocked: Bit,
    pub fence: Bit,
    /// Toggles with each WQE that is set back: those under way from before are not taken.
    pub generation: Bit,
}

/// What software configured of a send queue for READs and atomics, and what it became.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SqRequests {
    /// D1: outstanding at most.
    pub most: Bits<8>,
    /// Number of queue pairs opened up to this one since reset: what the responses to its requests carry.
    pub tag: Bits<32>,
}

/// A WQE under way from host memory.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PendingWqe {
    pub qp: Bits<16>,
    pub index: Bits<16>,
    pub msn: Bits<24>,
    pub conn: Bits<16>,
    pub pd: Bits<16>,
    pub peer_qpn: Bits<24>,
    pub mtu_log2: Bits<4>,
    pub requests: SqRequests,
    pub generation: Bit,
    /// It has 128 bytes.
    pub lists: Bit,
}

/// A read of the send queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ReadWqe {
    pub addr: Bits<64>,
    pub lists: Bit,
}

/// A memory region as far as local reads need it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct LocalKey {
    pub valid: Bit,
    /// The engine may write there (READs and atomics).
    pub local_write: Bit,
    pub key_low: Bits<8>,
    pub pd: Bits<16>,
    pub base: Bits<64>,
    pub length: Bits<64>,
    pub dma_base: Bits<64>,
}

/// The look-up side.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Issue {
    Clear,
    Idle,
    Bell,
    Look,
    Decide,
    SetBack,
}

/// The side that judges WQEs.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Judge {
    Idle,
    Row,
    Offset,
    Left,
    Piece,
    Sum,
    Count,
    Verdict,
    Send,
    Back,
}

// The literals in `update` below are these positions.
const _: () = {
    assert!(ring::wqe::OPCODE.bit == 0 && ring::wqe::OPCODE.width == 8 && ring::wqe::SIGNALED.bit == 8);
    assert!(ring::wqe::LKEY.bit == 32 && ring::wqe::LADDR.bit == 64 && ring::wqe::RADDR.bit == 128);
    assert!(ring::wqe::SOLICITED.bit == 10 && ring::wqe::IMM.bit == 256 && ring::wqe::IMM.width == 32);
    assert!(ring::wqe::RKEY.bit == 192 && ring::wqe::LENGTH.bit == 224 && ring::wqe::WR_ID.bit == 320);
    assert!(table::qp::NUMBER == 3 && table::qp::CONN.bit == 16 && table::qp::PEER_QPN.bit == 32);
    assert!(
        table::qp::SQ_BASE.bit == 64
            && table::qp::SQ_LOG2.bit == 128
            && table::qp::PD.bit == 224
            && table::qp::TX_MSN.bit == 256
    );
    assert!(table::conn::NUMBER == 1 && table::conn::MTU_LOG2.bit == 8);
    assert!(table::key::NUMBER == 4 && table::key::KEY_LOW.bit == 8 && table::key::PD.bit == 16);
    assert!(table::key::BASE.bit == 32 && table::key::LENGTH.bit == 96 && table::key::DMA_BASE.bit == 160);
    assert!(ring::wqe::FENCE.bit == 9 && ring::wqe::SWAP_ADD.bit == 384 && ring::wqe::COMPARE.bit == 448);
    assert!(table::qp::MAX_RD_ATOMIC.bit == 280 && table::qp::MAX_RD_ATOMIC.width == 8 && table::key::LOCAL_WRITE.bit == 1);
    assert!(table::rts::NUMBER == 5 && table::rts::MAX_RD_ATOMIC.bit == 8 && table::rts::MAX_RD_ATOMIC.width == 8);
    assert!(ring::wqe::BYTES == 64 && ring::wqe::NUM_SGE.bit == 16 && ring::wqe::NUM_SGE.width == 8);
    assert!(ring::sge::BYTES == 16 && ring::sge::ADDR.bit == 0 && ring::sge::LENGTH.bit == 64 && ring::sge::LKEY.bit == 96);
    assert!(table::qp::LISTS.bit == 6);
};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct WorkFetch<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 21: a fence is ignored.
    pub fault: Signal<In, Bits<5>>,
    pub doorbell_valid: Signal<In, Bit>,
    pub doorbell_ready: Signal<Out, Bit>,
    pub doorbell_qp: Signal<In, Bits<16>>,
    pub doorbell_index: Signal<In, Bits<16>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub rel_conn_valid: Signal<In, Bit>,
    pub rel_conn_ready: Signal<Out, Bit>,
    pub rel_conn: Signal<In, Bits<16>>,
    pub rel_qp_valid: Signal<In, Bit>,
    pub rel_qp_ready: Signal<Out, Bit>,
    pub rel_qp: Signal<In, Bits<16>>,
    /// One clock, not in two that follow one another: a READ or an atomic is done, or was flushed (D1).
    pub request_done: Signal<In, Bit>,
    pub request_done_qp: Signal<In, Bits<16>>,
    /// Whether a QP is in Error, one clock after its number is given.
    pub qperr_addr: Signal<Out, Bits<16>>,
    pub qperr_data: Signal<In, Bit>,
    pub cr_desc_valid: Signal<Out, Bit>,
    pub cr_desc_ready: Signal<In, Bit>,
    pub cr_desc_addr: Signal<Out, Bits<64>>,
    pub cr_desc_len: Signal<Out, Bits<16>>,
    pub cr_valid: Signal<In, Bit>,
    pub cr_ready: Signal<Out, Bit>,
    pub cr_data: Signal<In, Bits<W>>,
    pub cr_last: Signal<In, Bit>,
    /// A row waits for `msgrow_ready`: packet_builder may hold a resend of the message that had the row before.
    pub msgrow_ask: Signal<Out, Bit>,
    pub msgrow_ready: Signal<In, Bit>,
    pub msgrow_write: Signal<Out, Bit>,
    /// qp * M + msn mod M.
    pub msgrow_addr: Signal<Out, Bits<24>>,
    /// Bus address.
    pub msgrow_laddr: Signal<Out, Bits<64>>,
    pub msgrow_raddr: Signal<Out, Bits<64>>,
    pub msgrow_rkey: Signal<Out, Bits<32>>,
    pub msgrow_length: Signal<Out, Bits<32>>,
    pub msgrow_peer_qpn: Signal<Out, Bits<24>>,
    /// 0 WRITE, 1 WRITE with immediate, 2 SEND, 3 SEND with immediate, 4 READ, 5 compare-and-swap, 6 fetch-and-add.
    pub msgrow_opcode: Signal<Out, Bits<3>>,
    pub msgrow_imm: Signal<Out, Bits<32>>,
    /// Which of the peer's receives a consuming message (opcode 1, 2, 3) uses.
    pub msgrow_rq_seq: Signal<Out, Bits<24>>,
    /// Solicited; of consuming messages only.
    pub msgrow_sol: Signal<Out, Bit>,
    /// It is a READ or an atomic, or an atomic.
    pub msgrow_request: Signal<Out, Bit>,
    pub msgrow_atomic: Signal<Out, Bit>,
    /// Of the responses to it.
    pub msgrow_tag: Signal<Out, Bits<32>>,
    pub msgrow_swap_add: Signal<Out, Bits<64>>,
    pub msgrow_compare: Signal<Out, Bits<64>>,
    /// Its payload is in the pieces that were told for `msgrow_addr`, not at `msgrow_laddr`.
    pub msgrow_listed: Signal<Out, Bit>,
    /// What its responses bring goes to those pieces.
    pub msgrow_spread: Signal<Out, Bit>,
    /// A piece; its number, its bus address, where it ends in the message. Whether the message is taken turns out later.
    pub msgpiece_write: Signal<Out, Bit>,
    pub msgpiece_at: Signal<Out, Bits<2>>,
    pub msgpiece_addr: Signal<Out, Bits<64>>,
    pub msgpiece_end: Signal<Out, Bits<32>>,
    pub cmsg_valid: Signal<Out, Bit>,
    pub cmsg_ready: Signal<In, Bit>,
    pub cmsg_wr_id: Signal<Out, Bits<64>>,
    pub cmsg_signaled: Signal<Out, Bit>,
    pub cmsg_opcode: Signal<Out, Bits<8>>,
    /// 0, or why the WQE was refused.
    pub cmsg_status: Signal<Out, Bits<8>>,
    pub cmsg_wqe_index: Signal<Out, Bits<16>>,
    /// Of the WQE.
    pub cmsg_length: Signal<Out, Bits<32>>,
    pub msg_valid: Signal<Out, Bit>,
    pub msg_ready: Signal<In, Bit>,
    /// Of `msg` and `cmsg` alike.
    pub msg_conn: Signal<Out, Bits<16>>,
    pub msg_qp: Signal<Out, Bits<16>>,
    pub msg_msn: Signal<Out, Bits<24>>,
    pub msg_npkts: Signal<Out, Bits<24>>,
    /// Payload to send: none of a READ or an atomic.
    pub msg_length: Signal<Out, Bits<32>>,
    pub init_done: Signal<Out, Bit>,
    pub commit_valid: Signal<Out, Bit>,
    pub commit_data: Signal<Out, Bits<512>>,
    fixed: Ram<SqFixed>,
    state: Ram<SqState>,
    released_qp: Ram<Bits<16>>,
    released_qp_copy: Ram<Bits<16>>,
    issued_conn: Ram<Bits<16>>,
    released_conn: Ram<Bits<16>>,
    released_conn_copy: Ram<Bits<16>>,
    mtu: Ram<Bits<4>>,
    keys: Ram<LocalKey>,
    /// Consuming WQEs accepted since the QP was opened; one row if the build has none.
    rq_seqs: Ram<Bits<24>>,
    /// Of `SqRequests`: what software may name anew, and what stays.
    most: Ram<Bits<8>>,
    tags: Ram<Bits<32>>,
    /// READs and atomics accepted, for the side that judges and the one that looks; done ones; all modulo 256.
    taken_judge: Ram<Bits<8>>,
    taken_look: Ram<Bits<8>>,
    over_judge: Ram<Bits<8>>,
    over_look: Ram<Bits<8>>,
    over_count: Ram<Bits<8>>,
    /// As in `state`, for the side that judges.
    generations: Ram<Bit>,
    runnable: RunList,
    pending: Fifo<PendingWqe>,
    reads: Fifo<ReadWqe>,
    issue: DFF<Issue>,
    walk: DFF<Bits<24>>,
    cleared: DFF<Bit>,
    cfg_held: DFF<Bit>,
    held_table: DFF<Bits<8>>,
    held_index: DFF<Bits<16>>,
    held_data: DFF<Bits<320>>,
    id: DFF<Bits<16>>,
    bell_index: DFF<Bits<16>>,
    row: DFF<SqFixed>,
    at: DFF<SqState>,
    qp_released: DFF<Bits<16>>,
    limit: DFF<SqRequests>,
    /// READs and atomics outstanding of the queue pair that is looked at.
    look_out: DFF<Bits<8>>,
    opened: DFF<Bits<32>>,
    over_adds: DFF<Bit>,
    over_waits: DFF<Bit>,
    over_id: DFF<Bits<16>>,
    back_valid: DFF<Bit>,
    back_fence: DFF<Bit>,
    judge_out: DFF<Bits<8>>,
    /// The WQE was read before an older one was set back.
    stale: DFF<Bit>,
    /// D1: it may not enter yet.
    early: DFF<Bit>,
    read_limit: Signal<Local, SqRequests>,
    new_most: Signal<Local, Bits<8>>,
    counts_clear: Signal<Local, Bit>,
    counts_at: Signal<Local, Bits<24>>,
    taken_at: Signal<Local, Bits<24>>,
    generation_write: Signal<Local, Bit>,
    blocked: Signal<Local, Bit>,
    asks: Signal<Local, Bit>,
    swaps: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    lets_go: Signal<Local, Bit>,
    pops: Signal<Local, Bit>,
    pushes: Signal<Local, Bit>,
    new_state: Signal<Local, SqState>,
    old_state: Signal<Local, SqState>,
    new_fixed: Signal<Local, SqFixed>,
    new_key: Signal<Local, LocalKey>,
    new_pending: Signal<Local, PendingWqe>,
    cfg_conn: Signal<Local, Bit>,
    cfg_qp: Signal<Local, Bit>,
    cfg_key: Signal<Local, Bit>,
    cfg_limits: Signal<Local, Bit>,
    has_work: Signal<Local, Bit>,
    may_issue: Signal<Local, Bit>,
    qp_out: Signal<Local, Bits<16>>,
    conn_out: Signal<Local, Bits<16>>,
    offset_in_ring: Signal<Local, Bits<64>>,
    ring_mask: Signal<Local, Bits<16>>,
    rel_q_busy: DFF<Bit>,
    rel_q_id: DFF<Bits<16>>,
    rel_c_busy: DFF<Bit>,
    rel_c_id: DFF<Bits<16>>,
    refused_valid: DFF<Bit>,
    refused_conn: DFF<Bits<16>>,
    collect: DFF<Bits<512>>,
    collected: DFF<Bit>,
    /// What stands behind the WQE, as it comes.
    collect_list: DFF<Bits<512>>,
    judge: DFF<Judge>,
    wqe: DFF<Bits<512>>,
    /// The pieces that are left, the next one lowest; its number.
    list: DFF<Bits<512>>,
    piece: DFF<Bits<2>>,
    /// Bytes of the pieces judged so far; one of them was refused.
    total: DFF<Bits<34>>,
    refused_piece: DFF<Bit>,
    listed: Signal<Local, Bit>,
    bad_count: Signal<Local, Bit>,
    piece_addr: Signal<Local, Bits<64>>,
    piece_lkey: Signal<Local, Bits<32>>,
    piece_bytes: Signal<Local, Bits<32>>,
    bad_piece: Signal<Local, Bit>,
    total_next: Signal<Local, Bits<34>>,
    beats: Signal<Local, Bits<512>>,
    wide_offset: Signal<Local, Bits<64>>,
    new_read: Signal<Local, ReadWqe>,
    next_read: Signal<Local, ReadWqe>,
    coming: Signal<Local, PendingWqe>,
    ctx: DFF<PendingWqe>,
    key: Signal<Local, LocalKey>,
    key_ok: DFF<Bit>,
    flushed: DFF<Bit>,
    bad_opcode: DFF<Bit>,
    bad_length: DFF<Bit>,
    zero: DFF<Bit>,
    offset: DFF<Bits<64>>,
    key_length: DFF<Bits<64>>,
    key_dma: DFF<Bits<64>>,
    left: DFF<Bits<64>>,
    beyond: DFF<Bit>,
    /// The range ends beyond the address space.
    wraps: DFF<Bit>,
    laddr: DFF<Bits<64>>,
    rounded: DFF<Bits<32>>,
    npkts: DFF<Bits<24>>,
    status: DFF<Bits<8>>,
    difference: Signal<Local, Bits<65>>,
    reach: Signal<Local, Bits<65>>,
    room: Signal<Local, Bits<65>>,
    shifted: Signal<Local, Bits<32>>,
    length: Signal<Local, Bits<32>>,
    refused: Signal<Local, Bit>,
    fire: Signal<Local, Bit>,
    opcode: Signal<Local, Bits<8>>,
    consuming: Signal<Local, Bit>,
    sends: Constant<Bit>,
    has_reads: Constant<Bit>,
    has_lists: Constant<Bit>,
    most_sges: Constant<Bits<8>>,
    longest_34: Constant<Bits<34>>,
    shift_in: Constant<Bits<10>>,
    shift_down: Constant<Bits<10>>,
    last_walk: Constant<Bits<24>>,
    key_count: Constant<Bits<32>>,
    messages: Constant<Bits<16>>,
    message_mask: Constant<Bits<24>>,
    message_log2: Constant<Bits<4>>,
    conn_depth: Constant<Bits<16>>,
    one16: Constant<Bits<16>>,
    longest: Constant<Bits<32>>,
    released_q_next: Signal<Local, Bits<16>>,
    released_c_next: Signal<Local, Bits<16>>,
}

impl<const W: usize> WorkFetch<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        let rows = config.qps.max(config.conns).max(config.keys);
        let requests = if config.reads { config.qps } else { 0 };
        filled!(WorkFetch {
            fixed: Ram::new(config.qps),
            state: Ram::new(config.qps),
            released_qp: Ram::new(config.qps),
            released_qp_copy: Ram::new(config.qps),
            issued_conn: Ram::new(config.conns),
            released_conn: Ram::new(config.conns),
            released_conn_copy: Ram::new(config.conns),
            mtu: Ram::new(config.conns),
            keys: Ram::new(config.keys),
            rq_seqs: Ram::new(if config.sends { config.qps } else { 1 }),
            most: Ram::new(requests),
            tags: Ram::new(requests),
            taken_judge: Ram::new(requests),
            taken_look: Ram::new(requests),
            over_judge: Ram::new(requests),
            over_look: Ram::new(requests),
            over_count: Ram::new(requests),
            generations: Ram::new(requests),
            sends: Constant::new(config.sends),
            has_reads: Constant::new(config.reads),
            has_lists: Constant::new(config.sges > 1),
            most_sges: Constant::new((config.sges as u64).to_bits()),
            longest_34: Constant::new(0x8000_0000u64.to_bits()),
            runnable: RunList::new(config.qps),
            pending: Fifo::new(config.fifo.dr_outstanding),
            reads: Fifo::new(config.fifo.dr_outstanding),
            shift_in: Constant::new((512 - W as u64).to_bits()),
            shift_down: Constant::new((W as u64).to_bits()),
            last_walk: Constant::new((rows as u64 - 1).to_bits()),
            key_count: Constant::new((config.keys as u64).to_bits()),
            messages: Constant::new((config.msgs_per_stream as u64).to_bits()),
            message_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            message_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            conn_depth: Constant::new((config.conn_fifo as u64).to_bits()),
            one16: Constant::new(1u64.to_bits()),
            longest: Constant::new(0x8000_0000u64.to_bits());
            clock, reset, fault, doorbell_valid, doorbell_ready, doorbell_qp, doorbell_index, cfg_valid, cfg_table, cfg_index, cfg_data,
            cfg_busy, rel_conn_valid, rel_conn_ready, rel_conn, rel_qp_valid, rel_qp_ready, rel_qp, qperr_addr, qperr_data,
            cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid, cr_ready, cr_data, cr_last, msgrow_ask, msgrow_ready, msgrow_write,
            msgrow_addr, msgrow_laddr, msgrow_raddr, msgrow_rkey, msgrow_length, msgrow_peer_qpn, msgrow_opcode, msgrow_imm,
            msgrow_rq_seq, msgrow_sol, cmsg_valid, cmsg_ready,
            cmsg_wr_id, cmsg_signaled, cmsg_opcode, cmsg_status, cmsg_wqe_index, msg_valid, msg_ready, msg_conn, msg_qp, msg_msn,
            msg_npkts, msg_length, init_done, commit_valid, commit_data, issue, walk, cleared, cfg_held, held_table, held_index,
            held_data, id, bell_index, row, at, qp_released, new_state, old_state, new_fixed, new_key, new_pending, cfg_conn, cfg_qp,
            cfg_key, cfg_limits, has_work, may_issue, qp_out, conn_out, offset_in_ring, ring_mask, rel_q_busy, rel_q_id, rel_c_busy, rel_c_id,
            refused_valid, refused_conn, collect, collected, judge, wqe, ctx, key, key_ok, flushed, bad_opcode, bad_length, zero,
            offset, key_length, key_dma, left, beyond, wraps, laddr, rounded, npkts, status, difference, reach, room, shifted, length, refused,
            fire, opcode, consuming, released_q_next, released_c_next, request_done, request_done_qp, msgrow_request,
            msgrow_atomic, msgrow_tag, msgrow_swap_add, msgrow_compare, cmsg_length, limit, look_out, opened, over_adds, over_waits, over_id,
            back_valid, back_fence, judge_out, stale, early, read_limit, new_most, counts_clear, counts_at, taken_at, generation_write, blocked, asks,
            swaps, takes, lets_go, pops, pushes, msgrow_listed, msgrow_spread, msgpiece_write, msgpiece_at, msgpiece_addr, msgpiece_end, collect_list, list, piece,
            total, refused_piece, listed, bad_count, piece_addr, piece_lkey, piece_bytes, bad_piece, total_next, beats, wide_offset, new_read,
            next_read, coming,
        })
    }
}
