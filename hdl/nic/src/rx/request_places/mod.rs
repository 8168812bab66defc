//! request_places: READs and atomics of the peers that were accepted and whose responses are not acknowledged (section 11, D3, D4, D7).
//! In: rx_core's look and `take`, executed requests, retired packets of responses, `flush` of failed queue pairs, tables CONN and QP.
//! Out: whether a request finds a place (3 clocks after its look), responses for their connections' FIFOs, rows of their packets.
//! Guarantees: never more places than max_dest_rd_atomic a queue pair and `responses` a connection; each request that was accepted has
//! exactly one response, the last thing that holds its place; nothing that waits here waits for rx_core.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::tx::run_list::RunList;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;
pub mod rows;

use rows::{Executed, PlacesQp, PlacesStep, PlacesTask, ResponseOrder, ResponseRow, RetiredResponse, TakenMark};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RequestPlaces {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// rx_core or completion has not yet applied a table write: a request of the earlier life may come, or its flush.
    pub others_busy: Signal<In, Bit>,
    /// The first clock of a step of a READ_REQ or ATOMIC_REQ. The answers are stable from 3 clocks later until the next look.
    pub look: Signal<In, Bit>,
    pub look_conn: Signal<In, Bits<16>>,
    pub look_qp: Signal<In, Bits<16>>,
    pub look_msn: Signal<In, Bits<24>>,
    /// From the look until its step is committed, or needs no place: nothing of its queue pair is answered with errors meanwhile.
    pub step: Signal<In, Bit>,
    /// There is a place if `exp` has reached the request; if not (the last one is not for it).
    pub reached_ok: Signal<Out, Bit>,
    pub early_ok: Signal<Out, Bit>,
    /// The queue pair answers no requests (D2, code 2).
    pub none: Signal<Out, Bit>,
    /// Its requests were answered with errors: it is in Error.
    pub failed: Signal<Out, Bit>,
    /// One clock: the request that was looked at takes its place.
    pub take: Signal<In, Bit>,
    pub executed_valid: Signal<In, Bit>,
    pub executed_ready: Signal<Out, Bit>,
    pub executed: Signal<In, Executed>,
    /// The queue pair whose request is being executed.
    pub executing: Signal<In, Bit>,
    pub executing_qp: Signal<In, Bits<16>>,
    /// One clock: a queue pair closes. `older_done`: no request that was reached before is left.
    pub older_mark: Signal<Out, Bit>,
    pub older_done: Signal<In, Bit>,
    /// Whether the request is still to be answered, one clock after its number is given and while it stays.
    pub live_qp: Signal<In, Bits<16>>,
    pub live_msn: Signal<In, Bits<24>>,
    pub live: Signal<Out, Bit>,
    pub retired_valid: Signal<In, Bit>,
    pub retired_ready: Signal<Out, Bit>,
    /// The acknowledgment of a response was committed, and `retired` has not told it yet: no queue pair's requests are answered meanwhile (D7).
    pub retiring: Signal<In, Bit>,
    pub retired: Signal<In, RetiredResponse>,
    /// A queue pair moved to Error; always taken.
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<16>>,
    pub response_valid: Signal<Out, Bit>,
    pub response_ready: Signal<In, Bit>,
    pub response: Signal<Out, ResponseOrder>,
    pub row_write: Signal<Out, Bit>,
    pub row_addr: Signal<Out, Bits<24>>,
    pub row: Signal<Out, ResponseRow>,
    pub init_done: Signal<Out, Bit>,
    /// D7: what is live of this queue pair gets ERROR_RESPs from now on.
    pub commit_answer_valid: Signal<Out, Bit>,
    pub commit_answer_qp: Signal<Out, Bits<16>>,
    qps: Ram<PlacesQp>,
    taken: Ram<Bits<8>>,
    freed: Ram<Bits<8>>,
    conn_taken: Ram<Bits<16>>,
    conn_freed: Ram<Bits<16>>,
    mtu: Ram<Bits<4>>,
    marks: Ram<TakenMark>,
    marks_copy: Ram<TakenMark>,
    frees: Ram<Bit>,
    frees_copy: Ram<Bit>,
    /// Packets of the response that are not retired.
    left: Ram<Bits<24>>,
    flushes: RunList,
    state: DFF<PlacesStep>,
    task: DFF<PlacesTask>,
    walk: DFF<Bits<24>>,
    cleared: DFF<Bit>,
    cfg_held: DFF<Bit>,
    /// The request that was reached last before a queue pair closes has been marked.
    cfg_marked: DFF<Bit>,
    held_is_qp: DFF<Bit>,
    held_index: DFF<Bits<16>>,
    held_qp: DFF<PlacesQp>,
    held_mtu: DFF<Bits<4>>,
    qp: DFF<Bits<16>>,
    conn: DFF<Bits<16>>,
    msn: DFF<Bits<24>>,
    is_error: DFF<Bit>,
    done: DFF<Executed>,
    at: DFF<PlacesQp>,
    rounded: DFF<Bits<32>>,
    npkts: DFF<Bits<24>>,
    // the look
    look_1: DFF<Bit>,
    look_2: DFF<Bit>,
    step_conn: DFF<Bits<16>>,
    step_qp: DFF<Bits<16>>,
    step_msn: DFF<Bits<24>>,
    seen: DFF<PlacesQp>,
    seen_taken: DFF<Bits<8>>,
    seen_freed: DFF<Bits<8>>,
    seen_conn_taken: DFF<Bits<16>>,
    seen_conn_freed: DFF<Bits<16>>,
    seen_free: DFF<Bit>,
    seen_live: DFF<Bit>,
    reached_r: DFF<Bit>,
    early_r: DFF<Bit>,
    held_places: Signal<Local, Bits<8>>,
    held_responses: Signal<Local, Bits<16>>,
    closing: Signal<Local, Bit>,
    busy: Signal<Local, Bit>,
    is_live: Signal<Local, Bit>,
    frees_place: Signal<Local, Bit>,
    frees_response: Signal<Local, Bit>,
    next_slot: Signal<Local, Bit>,
    new_qp: Signal<Local, PlacesQp>,
    new_mark: Signal<Local, TakenMark>,
    order: Signal<Local, ResponseOrder>,
    new_row: Signal<Local, ResponseRow>,
    from_cfg: Signal<Local, PlacesQp>,
    look_at: Signal<Local, Bits<24>>,
    own_at: Signal<Local, Bits<24>>,
    step_at: Signal<Local, Bits<24>>,
    live_at: Signal<Local, Bits<24>>,
    ends: Signal<Local, Bits<32>>,
    messages_log2: Constant<Bits<4>>,
    slot_mask: Constant<Bits<24>>,
    last_slot: Constant<Bits<24>>,
    last_walk: Constant<Bits<24>>,
    limit: Constant<Bits<16>>,
    one32: Constant<Bits<32>>,
}

impl RequestPlaces {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.message_rows();
        filled!(RequestPlaces {
            qps: Ram::new(config.qps),
            taken: Ram::new(config.qps),
            freed: Ram::new(config.qps),
            conn_taken: Ram::new(config.conns),
            conn_freed: Ram::new(config.conns),
            mtu: Ram::new(config.conns),
            marks: Ram::new(rows),
            marks_copy: Ram::new(rows),
            frees: Ram::new(rows),
            frees_copy: Ram::new(rows),
            left: Ram::new(rows),
            flushes: RunList::new(config.qps),
            messages_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            slot_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            last_slot: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            last_walk: Constant::new((rows.max(config.conns) as u64 - 1).to_bits()),
            limit: Constant::new((config.responses as u64).to_bits()),
            one32: Constant::new(1u64.to_bits());
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, others_busy, look, look_conn, look_qp, look_msn, step,
            reached_ok, early_ok, none, failed, take, executed_valid, executed_ready, executed, executing, executing_qp, older_mark,
            older_done, live_qp, live_msn, live, retired_valid, retired_ready, retiring, retired, flush_valid, flush_qp, response_valid,
            response_ready, response, row_write, row_addr, row, init_done, commit_answer_valid, commit_answer_qp, state, task, walk,
            cleared, cfg_held, cfg_marked, held_is_qp, held_index, held_qp, held_mtu, qp, conn, msn, is_error, done, at, rounded, npkts,
            look_1, look_2, step_conn, step_qp, step_msn, seen, seen_taken, seen_freed, seen_conn_taken, seen_conn_freed, seen_free,
            seen_live, reached_r, early_r, held_places, held_responses, closing, busy, is_live, frees_place, frees_response, next_slot,
            new_qp, new_mark, order, new_row, from_cfg, look_at, own_at, step_at, live_at, ends,
        })
    }
}
