//! recv_queue: the receives of every queue pair, from host memory to their completions (Q1, Q2, Q5, Q6), and shared receive queues.
//! In: doorbells, cfg tables QP and SRQ, rx_core's `rq_look` and `rq_mark`, `pass` of messages, `flush` of failed QPs, the read port `rr`. Out: what a
//! packet's rq_seq names (3 clocks after the look, 4 where a shared queue is asked), CQEs `rcqe`, commit records.
//! A receive may have its memory in pieces (`sges` > 1): they lie in one row, and the piece `rq_at` shows at `rq_piece` in the same clock.
//! Guarantees: one CQE for each receive that arrived, in the order of rq_seq, after every byte of its message is in memory.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::tx::run_list::RunList;
use mrnic_regs::{code, ring, table};
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;
pub mod rows;

use rows::{Passed, RecvBuffer, RecvDone, RecvMark, RecvRead, RqFixed, RqLook, RqState, RqStep, RqTask};

/// Messages that were passed and wait for the FSM.
const PASSES: usize = 4;

// The literals in `logic` are these positions.
const _: () = {
    assert!(table::qp::SHARED.bit == 5 && table::qp::SRQ.bit == 144 && table::qp::PD.bit == 224);
    assert!(table::srq::NUMBER == 7 && table::srq::VALID.bit == 0 && table::srq::PD.bit == 224);
    assert!(table::qp::RECV_LISTS.bit == 7 && table::srq::RECV_LISTS.bit == 7 && ring::recv::NUM_SGE.bit == 16);
    assert!(ring::sge::BYTES == 16 && ring::sge::LENGTH.bit == 64);
    assert!(table::srq::RQ_LOG2.bit == 136 && table::srq::RQ_BASE.bit == 320);
    assert!(table::qp::NUMBER == 3 && table::qp::RQ_LOG2.bit == 136 && table::qp::RCQ_LOG2.bit == 140);
    assert!(table::qp::RQ_BASE.bit == 320 && table::qp::RCQ_BASE.bit == 384);
    assert!(ring::recv::BYTES == 32 && ring::recv::LKEY.bit == 32 && ring::recv::ADDR.bit == 64);
    assert!(ring::recv::LENGTH.bit == 128 && ring::recv::WR_ID.bit == 192);
    assert!(ring::cqe::STATUS.bit == 0 && ring::cqe::OPCODE.bit == 8 && ring::cqe::PHASE.bit == 16 && ring::cqe::IMM.bit == 24);
    assert!(ring::cqe::SOLICITED.bit == 25 && ring::cqe::QPN.bit == 32 && ring::cqe::WR_ID.bit == 64);
    assert!(ring::cqe::BYTE_LEN.bit == 128 && ring::cqe::WQE_INDEX.bit == 160 && ring::cqe::MSN.bit == 224);
    assert!(code::OPCODE_LAST_WQE == 0x82);
    assert!(code::OPCODE_RECV == 128 && code::OPCODE_RECV_RDMA_WITH_IMM == 129 && code::STATUS_WR_FLUSH_ERR == 5);
};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RecvQueue<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// 13: a CQE does not wait for its data; 14: the receive before an odd one is taken again; 15: the immediate of another message;
    /// 16: a receive that is missing is found.
    pub fault: Signal<In, Bits<5>>,
    pub rdoorbell_valid: Signal<In, Bit>,
    pub rdoorbell_ready: Signal<Out, Bit>,
    pub rdoorbell_qp: Signal<In, Bits<16>>,
    pub rdoorbell_index: Signal<In, Bits<16>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// completion has not yet applied a table write: a queue pair closes here after its last `flush`.
    pub completion_busy: Signal<In, Bit>,
    /// A step that looks in the next clock may begin: no table write is applied.
    pub rq_near: Signal<In, Bit>,
    /// The second clock of a step of a consuming packet. The answer is stable from 3 clocks later until the next look.
    pub rq_look: Signal<In, Bit>,
    pub rq_qp: Signal<In, Bits<16>>,
    pub rq_seq: Signal<In, Bits<24>>,
    pub rq_msn: Signal<In, Bits<24>>,
    /// 0 the receive, 1 missing, 2 another message has it or had it, 3 the oldest one of the shared queue, which a mark takes.
    pub rq_found: Signal<Out, Bits<2>>,
    /// With 3: it is the last one.
    pub rq_last: Signal<Out, Bit>,
    /// From the second clock after the look on: the QP has a shared queue, of this protection domain (from the third clock on).
    pub rq_shared: Signal<Out, Bit>,
    pub rq_pd: Signal<Out, Bits<16>>,
    pub rq_addr: Signal<Out, Bits<64>>,
    pub rq_len: Signal<Out, Bits<32>>,
    pub rq_lkey: Signal<Out, Bits<32>>,
    /// Its memory is a list (from the second clock after the look on); piece `rq_at` of that, without bytes where there is none.
    pub rq_listed: Signal<Out, Bit>,
    pub rq_at: Signal<In, Bits<2>>,
    pub rq_piece: Signal<Out, Bits<128>>,
    /// From the second clock of a step that looks until its commit.
    pub rq_step: Signal<In, Bit>,
    /// The record of a step of rx_core: what it completed may be reported from the next clock on.
    pub rx_commit: Signal<In, Bit>,
    /// The packet looked at has found its receive.
    pub rq_mark: Signal<In, Bit>,
    /// It is accepted.
    pub rq_accept: Signal<In, Bit>,
    pub rq_length: Signal<In, Bits<32>>,
    pub rq_imm: Signal<In, Bits<32>>,
    pub rq_has_imm: Signal<In, Bit>,
    pub rq_sol: Signal<In, Bit>,
    pub rq_by_write: Signal<In, Bit>,
    /// Q3: the status that the receive completes with, if its QP fails by it; 0 none.
    pub rq_failed: Signal<In, Bits<8>>,
    pub pass_valid: Signal<In, Bit>,
    pub pass_ready: Signal<Out, Bit>,
    pub pass_qp: Signal<In, Bits<16>>,
    pub pass_slot: Signal<In, Bits<8>>,
    pub pass_ticket: Signal<In, Bits<16>>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_ready: Signal<Out, Bit>,
    pub flush_qp: Signal<In, Bits<16>>,
    /// Payload writes done, modulo 2^16.
    pub done_count: Signal<In, Bits<16>>,
    pub rr_desc_valid: Signal<Out, Bit>,
    pub rr_desc_ready: Signal<In, Bit>,
    pub rr_desc_addr: Signal<Out, Bits<64>>,
    pub rr_desc_len: Signal<Out, Bits<16>>,
    pub rr_valid: Signal<In, Bit>,
    pub rr_ready: Signal<Out, Bit>,
    pub rr_data: Signal<In, Bits<W>>,
    pub rr_last: Signal<In, Bit>,
    pub rcqe_valid: Signal<Out, Bit>,
    pub rcqe_ready: Signal<In, Bit>,
    pub rcqe_addr: Signal<Out, Bits<64>>,
    pub rcqe_data: Signal<Out, Bits<256>>,
    pub init_done: Signal<Out, Bit>,
    pub commit_recv_valid: Signal<Out, Bit>,
    pub commit_recv_qp: Signal<Out, Bits<16>>,
    pub commit_recv_index: Signal<Out, Bits<16>>,
    pub commit_recv_data: Signal<Out, Bits<256>>,
    pub commit_rcqe_valid: Signal<Out, Bit>,
    pub commit_rcqe_qp: Signal<Out, Bits<16>>,
    pub commit_rcqe_data: Signal<Out, Bits<256>>,
    fixed: Ram<RqFixed>,
    looks: Ram<RqLook>,
    /// Receives of shared queues that messages have taken.
    taken: Ram<Bits<24>>,
    state: Ram<RqState>,
    /// Receives arrived: for the arrivals themselves, and for looks and the FSM.
    arrived: Ram<Bits<24>>,
    arrived_copy: Ram<Bits<24>>,
    errors: Ram<Bit>,
    buffers: Ram<RecvBuffer>,
    /// Their lists: four SGEs.
    lists: Ram<Bits<512>>,
    wr_ids: Ram<Bits<64>>,
    marks: Ram<RecvMark>,
    done: Ram<RecvDone>,
    work: RunList,
    passes: Fifo<Passed>,
    reads: Fifo<RecvRead>,
    pending: Fifo<Bits<16>>,
    step: DFF<RqStep>,
    task: DFF<RqTask>,
    walk: DFF<Bits<24>>,
    cleared: DFF<Bit>,
    cfg_held: DFF<Bit>,
    held_index: DFF<Bits<16>>,
    held: DFF<RqFixed>,
    held_look: DFF<RqLook>,
    qp: DFF<Bits<16>>,
    bell: DFF<Bits<16>>,
    at: DFF<RqState>,
    ring: DFF<RqFixed>,
    arrivals: DFF<Bits<24>>,
    mark: DFF<RecvMark>,
    complete: DFF<Bit>,
    reached: DFF<Bit>,
    wr_id: DFF<Bits<64>>,
    has: DFF<Bit>,
    room: DFF<Bit>,
    want: DFF<Bit>,
    /// A step of the queue pair was under way while its rows were read.
    disturbed: DFF<Bit>,
    /// A message was passed by a step whose record is still to come.
    pass_open: DFF<Bit>,
    step_qp: DFF<Bits<16>>,
    step_row: DFF<Bits<24>>,
    look_1: DFF<Bit>,
    look_2: DFF<Bit>,
    look_3: DFF<Bit>,
    /// The queue pair of the last look has a shared queue.
    shared: DFF<Bit>,
    source: DFF<Bits<16>>,
    pd: DFF<Bits<16>>,
    /// No message has taken a receive for this rq_seq.
    untaken: DFF<Bit>,
    /// Of the shared queue: receives left, number and wr_id of the oldest.
    left: DFF<Bits<24>>,
    oldest: DFF<Bits<24>>,
    oldest_wr_id: DFF<Bits<64>>,
    /// Receives that the queue pair has taken before.
    taken_here: DFF<Bits<24>>,
    /// A shared queue from which a receive was taken: it fetches the next.
    took: DFF<Bit>,
    took_queue: DFF<Bits<16>>,
    seq: DFF<Bits<24>>,
    msn: DFF<Bits<24>>,
    ahead: DFF<Bits<24>>,
    have: DFF<Bits<24>>,
    seen: DFF<RecvMark>,
    seen_complete: DFF<Bit>,
    same_msn: DFF<Bit>,
    buffer: DFF<RecvBuffer>,
    list: DFF<Bits<512>>,
    found: DFF<Bits<2>>,
    last_imm: DFF<Bits<32>>,
    collect: DFF<Bits<256>>,
    collected: DFF<Bit>,
    /// Beats of the entry that is arriving; its list, and how many pieces of that were summed.
    beats: DFF<Bits<4>>,
    long: DFF<Bit>,
    list_in: DFF<Bits<512>>,
    summed: DFF<Bits<3>>,
    total: DFF<Bits<34>>,
    record_valid: DFF<Bit>,
    record_qp: DFF<Bits<16>>,
    record_index: DFF<Bits<16>>,
    record: DFF<Bits<256>>,
    /// A doorbell was taken since the last visit.
    rang: DFF<Bit>,
    out_valid: DFF<Bit>,
    out_addr: DFF<Bits<64>>,
    out_data: DFF<Bits<256>>,
    new_state: Signal<Local, RqState>,
    new_mark: Signal<Local, RecvMark>,
    new_done: Signal<Local, RecvDone>,
    new_fixed: Signal<Local, RqFixed>,
    new_look: Signal<Local, RqLook>,
    of_shared: Signal<Local, Bit>,
    asks_shared: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    took_go: Signal<Local, Bit>,
    skips: Signal<Local, Bit>,
    closes: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    flushes: Signal<Local, Bit>,
    number: Signal<Local, Bits<16>>,
    mine: Signal<Local, Bit>,
    new_buffer: Signal<Local, RecvBuffer>,
    new_read: Signal<Local, RecvRead>,
    wants: Signal<Local, Bits<8>>,
    in_list: Signal<Local, Bit>,
    sums: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    piece_bytes: Signal<Local, Bits<32>>,
    new_piece: Signal<Local, Bits<128>>,
    new_pass: Signal<Local, Passed>,
    look_seq: Signal<Local, Bits<24>>,
    own_row: Signal<Local, Bits<24>>,
    clear_row: Signal<Local, Bit>,
    visit_first: Signal<Local, Bit>,
    busy: Signal<Local, Bit>,
    of_held: Signal<Local, Bit>,
    may_apply: Signal<Local, Bit>,
    push: Signal<Local, Bit>,
    complete_ok: Signal<Local, Bit>,
    flush_ok: Signal<Local, Bit>,
    emits: Signal<Local, Bit>,
    fetches: Signal<Local, Bit>,
    waited: Signal<Local, Bits<16>>,
    status: Signal<Local, Bits<8>>,
    opcode: Signal<Local, Bits<8>>,
    phase: Signal<Local, Bit>,
    has_imm: Signal<Local, Bit>,
    sol: Signal<Local, Bit>,
    length: Signal<Local, Bits<32>>,
    last_word: Signal<Local, Bits<32>>,
    words: Signal<Local, Bits<256>>,
    ring_mask: Signal<Local, Bits<16>>,
    cq_mask: Signal<Local, Bits<16>>,
    record_go: Signal<Local, Bit>,
    arrives: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
    arrived_next: Signal<Local, Bits<24>>,
    rows_log2: Constant<Bits<4>>,
    row_mask: Constant<Bits<24>>,
    rows_per_qp: Constant<Bits<24>>,
    qp_count: Constant<Bits<24>>,
    srq_count: Constant<Bits<24>>,
    srqs: Constant<Bit>,
    last_walk: Constant<Bits<24>>,
    shift_in: Constant<Bits<10>>,
    shift_down: Constant<Bits<10>>,
    one16: Constant<Bits<16>>,
    with_lists: Constant<Bit>,
    most_sges: Constant<Bits<8>>,
    header_beats: Constant<Bits<4>>,
    list_beat: Constant<Bits<4>>,
    list_in_at: Constant<Bits<10>>,
    list_down: Constant<Bits<10>>,
}

impl<const W: usize> RecvQueue<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        // a shared queue is one more queue, behind those of the queue pairs
        let queues = config.qps + config.srqs;
        let rows = queues * config.recvs_per_qp;
        filled!(RecvQueue {
            fixed: Ram::new(queues),
            looks: Ram::new(queues),
            taken: Ram::new(queues),
            state: Ram::new(queues),
            arrived: Ram::new(queues),
            arrived_copy: Ram::new(queues),
            errors: Ram::new(queues),
            buffers: Ram::new(rows),
            lists: Ram::new(if config.sges > 1 { rows } else { 0 }),
            wr_ids: Ram::new(rows),
            marks: Ram::new(rows),
            done: Ram::new(rows),
            work: RunList::new(queues),
            passes: Fifo::new(PASSES),
            reads: Fifo::new(config.fifo.recv),
            pending: Fifo::new(config.fifo.recv),
            rows_log2: Constant::new(u64::from(config.recvs_per_qp.ilog2()).to_bits()),
            row_mask: Constant::new((config.recvs_per_qp as u64 - 1).to_bits()),
            rows_per_qp: Constant::new((config.recvs_per_qp as u64).to_bits()),
            qp_count: Constant::new((config.qps as u64).to_bits()),
            srq_count: Constant::new((config.srqs as u64).to_bits()),
            srqs: Constant::new(config.srqs > 0),
            last_walk: Constant::new((rows as u64 - 1).to_bits()),
            shift_in: Constant::new((256 - W.min(256) as u64).to_bits()),
            shift_down: Constant::new((W.min(256) as u64).to_bits()),
            one16: Constant::new(1u64.to_bits()),
            with_lists: Constant::new(config.sges > 1),
            most_sges: Constant::new((config.sges as u64).to_bits()),
            header_beats: Constant::new((256 / W.min(256) as u64).to_bits()),
            list_beat: Constant::new((512 / W as u64).to_bits()),
            list_in_at: Constant::new((512 - W as u64).to_bits()),
            list_down: Constant::new((W as u64).to_bits());
            clock, reset, fault, rdoorbell_valid, rdoorbell_ready, rdoorbell_qp, rdoorbell_index, cfg_valid, cfg_table, cfg_index,
            cfg_data, cfg_busy, completion_busy, rq_near, rq_look, rq_qp, rq_seq, rq_msn, rq_found, rq_last, rq_shared, rq_pd, rq_addr, rq_len, rq_lkey, rq_listed, rq_at, rq_piece,
            rq_step, rx_commit, rq_mark, rq_accept, rq_length, rq_imm, rq_has_imm, rq_sol, rq_by_write, rq_failed, pass_valid,
            pass_ready, pass_qp, pass_slot, pass_ticket, flush_valid, flush_ready, flush_qp, done_count, rr_desc_valid,
            rr_desc_ready, rr_desc_addr, rr_desc_len, rr_valid, rr_ready, rr_data, rr_last, rcqe_valid, rcqe_ready, rcqe_addr,
            rcqe_data, init_done, commit_recv_valid, commit_recv_qp, commit_recv_index, commit_recv_data, commit_rcqe_valid,
            commit_rcqe_qp, commit_rcqe_data, step, task, walk, cleared, cfg_held, held_index, held, held_look, qp, bell, at, ring,
            arrivals, mark, complete, reached, wr_id, has, room, want, disturbed, pass_open, step_qp, step_row, look_1, look_2, look_3, shared, source, pd, untaken, left, oldest, oldest_wr_id, taken_here, took, took_queue, seq,
            msn, ahead, have, seen, seen_complete, same_msn, buffer, list, found, last_imm, collect, collected, beats, long, list_in, summed, total, new_read, wants, in_list, sums,
            whole, piece_bytes, new_piece, record_valid, record_qp, record_index, record, out_valid, out_addr, out_data, new_state, new_mark, new_done, new_fixed, new_look, of_shared, asks_shared, takes, took_go, skips, closes, ends, flushes, number, mine, new_buffer,
            new_pass, rang, visit_first, look_seq, own_row, clear_row, busy, of_held, may_apply, push, complete_ok, flush_ok, emits, fetches, waited,
            status, opcode, phase, has_imm, sol, length, last_word, words, ring_mask, cq_mask, record_go, arrives, drops,
            arrived_next,
        })
    }
}
