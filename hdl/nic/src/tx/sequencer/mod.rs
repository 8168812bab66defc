//! sequencer: one step at a time on the sender's state: acknowledgment (section 6), transmit slot (7), timer (8), opening of a connection.
//!
//! In: acknowledgments, the segmenter's offers, timers' offers, cfg. Out: packet descriptors, newly acknowledged words, naks, connection errors, port
//! changes, wakes, commit records. Guarantees: a step sees all earlier ones; an acknowledgment takes 7 clocks, a new packet 6 (5 behind another
//! step); acknowledgments go first, but a slot gets a turn after 4 other steps; a step starts only when its outputs are free.
//! Pipeline: the words' masks start from registers (`cum_reg`, `span_reg`, the bounds of ack_check); `at_ack` and `at_slot` name the last clocks of an
//! acknowledgment and of a slot (`at_pick` its second clock) without decoding the state, as the next step is chosen in them; whether that reads what this one writes is compared beside the choice.
use crate::config::BuildConfig;
use crate::tx::ack_step::AckStep;
use crate::tx::ack_unpack::AckUnpack;
use crate::tx::acked_words::AckedWords;
use crate::tx::commit_records::CommitRecords;
use crate::tx::filled::filled;
use crate::tx::grant_step::GrantStep;
use crate::tx::longest_srtt::LongestSrtt;
use crate::tx::next_step::NextStep;
use crate::tx::open_step::OpenStep;
use crate::tx::records::{CommitAck, CommitGrant, CommitTimer, Desc};
use crate::tx::rows::{AckFields, ConnAck, ConnTx, PacketEntry, PathAck, PathTx};
use crate::tx::sack_scoreboard::SackScoreboard;
use crate::tx::sender_tables::SenderTables;
use crate::tx::timer_step::TimerStep;
use crate::tx::watch::Watch;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;

/// States of the sequencer, in the order of the steps.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    Idle,
    AckRead,
    AckCheck,
    AckStart,
    AckRun,
    AckFinish,
    NakPeek,
    NakLook,
    NakAsk,
    NakWait,
    TimerRead,
    TimerJudge,
    TimerRun,
    TimerFinish,
    TimerWatch,
    TimerArm,
    GrantRead,
    GrantPick,
    GrantWait,
    GrantFinish,
    FindStart,
    FindWait,
    Lookup,
    LookupWait,
    ErrorRead,
    ErrorLook,
    PaceStart,
    PaceWait,
    ResendFinish,
    OpenWait,
    OpenRead,
    OpenStart,
    OpenRun,
    OpenFinish,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Sequencer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub rto_min: Signal<In, Bits<32>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    /// Words 0..2 of the row.
    pub cfg_word0: Signal<In, Bits<32>>,
    pub cfg_word1: Signal<In, Bits<32>>,
    pub cfg_word2: Signal<In, Bits<32>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub ack_valid: Signal<In, Bit>,
    pub ack_ready: Signal<Out, Bit>,
    pub ack: Signal<In, AckFields>,
    pub ack_sav: Signal<In, Bits<256>>,
    // segmenter
    pub next_valid: Signal<In, Bit>,
    pub next_conn: Signal<In, Bits<16>>,
    pub next_has_msg: Signal<In, Bit>,
    /// 0 a message, 1 a response, 2 ERROR_RESP; and whether a message and a response wait.
    pub next_kind: Signal<In, Bits<2>>,
    pub next_both: Signal<In, Bit>,
    pub next_qp: Signal<In, Bits<16>>,
    pub next_msn: Signal<In, Bits<24>>,
    pub next_npkts: Signal<In, Bits<24>>,
    pub next_length: Signal<In, Bits<32>>,
    pub next_index: Signal<In, Bits<24>>,
    pub next_more: Signal<In, Bit>,
    pub done_valid: Signal<Out, Bit>,
    pub done_advance: Signal<Out, Bit>,
    pub done_skip: Signal<Out, Bit>,
    pub done_aside: Signal<Out, Bit>,
    pub done_requeue: Signal<Out, Bit>,
    pub done_respond: Signal<Out, Bit>,
    /// One clock, if there is room: an ERROR_RESP is dropped, as its connection is in error.
    pub lost_valid: Signal<Out, Bit>,
    pub lost_conn: Signal<Out, Bits<16>>,
    pub lost_room: Signal<In, Bit>,
    pub wake_valid: Signal<Out, Bit>,
    pub wake_conn: Signal<Out, Bits<16>>,
    // timers
    pub offer_valid: Signal<In, Bit>,
    pub offer_ready: Signal<Out, Bit>,
    pub offer_row: Signal<In, Bits<24>>,
    pub set_valid: Signal<Out, Bit>,
    pub set_row: Signal<Out, Bits<24>>,
    pub set_active: Signal<Out, Bit>,
    pub set_deadline: Signal<Out, Bits<32>>,
    /// D8: a connection, and two clocks later whether it awaits responses, and the peer's last sign of life.
    pub watch_conn: Signal<Out, Bits<16>>,
    pub watch_awaited: Signal<In, Bit>,
    pub watch_alive: Signal<In, Bits<32>>,
    /// D8: the peer gave a sign of life, or the timer that watches has been used.
    pub life_valid: Signal<Out, Bit>,
    pub life_conn: Signal<Out, Bits<16>>,
    pub life_now: Signal<Out, Bits<32>>,
    // retransmit queue: op 0 alloc, 1 lookup
    pub queue_valid: Signal<Out, Bit>,
    pub queue_ready: Signal<In, Bit>,
    pub queue_lookup: Signal<Out, Bit>,
    pub queue_row: Signal<Out, Bits<24>>,
    pub queue_ppsn: Signal<Out, Bits<24>>,
    pub queue_entry: Signal<Out, PacketEntry>,
    pub queue_rsp_valid: Signal<In, Bit>,
    pub queue_rsp: Signal<In, PacketEntry>,
    pub queue_room: Signal<In, Bit>,
    /// A connection is opened anew.
    pub open_valid: Signal<Out, Bit>,
    pub open_conn: Signal<Out, Bits<16>>,
    pub flush_busy: Signal<In, Bit>,
    // retire
    pub retire_idle: Signal<In, Bit>,
    pub rb_addr: Signal<Out, Bits<16>>,
    pub rb_data: Signal<In, Bits<32>>,
    pub acked_valid: Signal<Out, Bit>,
    pub acked_ready: Signal<In, Bit>,
    pub acked_conn: Signal<Out, Bits<16>>,
    pub acked_path: Signal<Out, Bits<3>>,
    pub acked_base_ppsn: Signal<Out, Bits<24>>,
    pub acked_mask: Signal<Out, Bits<64>>,
    /// Error bits of QPs, one clock later.
    pub qperr_addr: Signal<Out, Bits<16>>,
    pub qperr_data: Signal<In, Bit>,
    /// N1: that QP waits.
    pub wait_data: Signal<In, Bit>,
    /// N1: the message of the packet that is to be resent is withdrawn, one clock later.
    pub withdrawn_msn: Signal<Out, Bits<24>>,
    pub withdrawn_data: Signal<In, Bit>,
    /// N2: MSGH.attempt of that message, and of the one on offer; of a response it says nothing.
    pub attempt_data: Signal<In, Bit>,
    pub desc_valid: Signal<Out, Bit>,
    pub desc_ready: Signal<In, Bit>,
    pub desc: Signal<Out, Desc>,
    pub nak_valid: Signal<Out, Bit>,
    pub nak_ready: Signal<In, Bit>,
    /// The connection whose peer refused.
    pub nak_conn: Signal<Out, Bits<16>>,
    pub nak_qp: Signal<Out, Bits<16>>,
    pub nak_code: Signal<Out, Bits<8>>,
    pub nak_msn: Signal<Out, Bits<24>>,
    /// No nak but an RNR: the peer has no receive for the message.
    pub nak_rnr: Signal<Out, Bit>,
    pub cerr_valid: Signal<Out, Bit>,
    pub cerr_ready: Signal<In, Bit>,
    pub cerr_conn: Signal<Out, Bits<16>>,
    /// A path's UDP port changed: row conn*8 + path.
    pub commit_grant_valid: Signal<Out, Bit>,
    pub commit_grant: Signal<Out, CommitGrant>,
    pub commit_ack_valid: Signal<Out, Bit>,
    pub commit_ack: Signal<Out, CommitAck>,
    pub commit_timer_valid: Signal<Out, Bit>,
    pub commit_timer: Signal<Out, CommitTimer>,
    pub init_done: Signal<Out, Bit>,
    unpack: AckUnpack,
    choice: NextStep,
    tables: SenderTables,
    ack_step: AckStep,
    words: SackScoreboard,
    acked: AckedWords,
    slot: GrantStep,
    timer: TimerStep,
    commits: CommitRecords,
    others: LongestSrtt,
    watch: Watch,
    opening: OpenStep,
    step: DFF<Step>,
    count: DFF<Bits<3>>,
    conn: DFF<Bits<16>>,
    path: DFF<Bits<3>>,
    time: DFF<Bits<32>>,
    // what a step on the words works with, each a clock behind its source
    for_ack: DFF<Bit>,
    for_open: DFF<Bit>,
    word_op: DFF<Bits<2>>,
    /// The step is AckFinish, GrantFinish, ResendFinish, TimerFinish, TimerWatch, OpenStart, OpenFinish: known without decoding it.
    at_ack: DFF<Bit>,
    at_slot: DFF<Bit>,
    at_resend: DFF<Bit>,
    at_timer: DFF<Bit>,
    at_watch: DFF<Bit>,
    at_open: DFF<Bit>,
    at_opened: DFF<Bit>,
    /// sRTT of the path after an acknowledgment or a timer; and it is longer than that of all other paths.
    own_srtt: DFF<Bits<16>>,
    own_longest: DFF<Bit>,
    cum_reg: DFF<Bits<24>>,
    span_reg: DFF<Bits<9>>,
    // the offer
    has_msg: DFF<Bit>,
    both: DFF<Bit>,
    more: DFF<Bit>,
    npkts: DFF<Bits<24>>,
    length_low: DFF<Bits<13>>,
    packet: DFF<PacketEntry>,
    inflight: DFF<Bits<32>>,
    /// Of a resend: or the message is withdrawn.
    qp_error: DFF<Bit>,
    /// The step is GrantPick; and what it is to do with the offer if it resends nothing: end, skip it, set it aside, turn to responses,
    /// tell that nothing waits of the connection that was closed.
    at_pick: DFF<Bit>,
    ends: DFF<Bit>,
    skips: DFF<Bit>,
    asides: DFF<Bit>,
    responds: DFF<Bit>,
    empties: DFF<Bit>,
    /// N2: of the packet's message.
    attempt: DFF<Bit>,
    /// Not open, or in error.
    closed: DFF<Bit>,
    /// Not open.
    shut: DFF<Bit>,
    via: DFF<Bits<3>>,
    // outputs that wait for their taker
    desc_held: DFF<Bit>,
    desc_reg: DFF<Desc>,
    alloc_held: DFF<Bit>,
    alloc_row: DFF<Bits<24>>,
    alloc_ppsn: DFF<Bits<24>>,
    alloc_entry: DFF<PacketEntry>,
    nak_held: DFF<Bit>,
    nak_conn_reg: DFF<Bits<16>>,
    nak_qp_reg: DFF<Bits<16>>,
    nak_code_reg: DFF<Bits<8>>,
    nak_msn_reg: DFF<Bits<24>>,
    nak_rnr_reg: DFF<Bit>,
    /// The packet is looked up for an RNR, not for a nak of code 4.
    for_rnr: DFF<Bit>,
    cerr_held: DFF<Bit>,
    cerr_reg: DFF<Bits<16>>,
    wake_held: DFF<Bit>,
    wake_reg: DFF<Bits<16>>,
    // what the step makes of the rows
    new_tx: Signal<Local, PathTx>,
    new_ack: Signal<Local, PathAck>,
    new_conn_ack: Signal<Local, ConnAck>,
    new_conn_tx: Signal<Local, ConnTx>,
    out: Signal<Local, Desc>,
    put_path: Signal<Local, Bit>,
    put_path_ack: Signal<Local, Bit>,
    put_conn_tx: Signal<Local, Bit>,
    put_conn_ack: Signal<Local, Bit>,
    put_conn_cfg: Signal<Local, Bit>,
    here: Signal<Local, PathTx>,
    /// The row of the path that the slot chose.
    there: Signal<Local, PathTx>,
    row: Signal<Local, PathAck>,
    /// N1: the acknowledgment is an RNR.
    rnr: Signal<Local, Bit>,
    nak: Signal<Local, Bit>,
    /// The next step may be chosen in this clock.
    choose: Signal<Local, Bit>,
    /// Nothing waits of the connection that was closed.
    emptied: Signal<Local, Bit>,
    /// No descriptor waits after this clock, unless the step of this clock makes one.
    desc_free: Signal<Local, Bit>,
    ack_taken: Signal<Local, Bit>,
    ack_conn: Signal<Local, Bits<16>>,
    ack_home: Signal<Local, Bits<3>>,
    ack_may: Signal<Local, Bit>,
    span: Signal<Local, Bits<9>>,
    pipe_there: Signal<Local, Bits<9>>,
    slot_index: Signal<Local, Bits<24>>,
    is_error_resp: Signal<Local, Bit>,
    drops: Signal<Local, Bit>,
    is_shut: Signal<Local, Bit>,
    is_closed: Signal<Local, Bit>,
    /// What is on offer is of a message, whose QP waits (N1), or which lets responses go first.
    is_message: Signal<Local, Bit>,
    waits: Signal<Local, Bit>,
    yields: Signal<Local, Bit>,
    resends: Signal<Local, Bit>,
    pick_ends: Signal<Local, Bit>,
    pick_skips: Signal<Local, Bit>,
    /// The slot sends a new packet.
    grants: Signal<Local, Bit>,
    /// Paths that are UP with nothing outstanding, a clock late; L4: the path gets its new t_base.
    calm: DFF<Bits<8>>,
    calm_now: Signal<Local, Bits<8>>,
    /// Nothing is outstanding on the path that the slot chose.
    calm_there: Signal<Local, Bit>,
    begins_watch: Signal<Local, Bit>,
    state_after: Signal<Local, Bits<2>>,
    rtt_after: Signal<Local, Bit>,
    as_nop: Signal<Local, Bit>,
    srtt_here: Signal<Local, Bits<16>>,
    chosen: Signal<Local, Bits<3>>,
    chosen_port: Signal<Local, Bits<16>>,
    element: Signal<Local, PathTx>,
    to_old: DFF<Bit>,
    nak_offset: Signal<Local, Bits<24>>,
    nak_span: Signal<Local, Bits<24>>,
    /// The packet that a nak names is outstanding.
    nak_inside: DFF<Bit>,
    table_row: Signal<Local, Bits<24>>,
    /// Of the path that the slot chose.
    slot_row: Signal<Local, Bits<24>>,
    /// What is read now is what was written in this clock.
    same_conn: Signal<Local, Bit>,
    same_path: Signal<Local, Bit>,
    /// A step, or its watch, began in the clock before; with the connection and the path of the clock before that.
    began: DFF<Bit>,
    began_conn: DFF<Bit>,
    began_path: DFF<Bit>,
    pipe_after: Signal<Local, Bits<9>>,
    emit_desc: Signal<Local, Bit>,
    no_desc: Constant<Desc>,
    sends: Constant<Bit>,
}

impl Sequencer {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Sequencer {
            tables: SenderTables::new(config),
            words: SackScoreboard::new(config),
            unpack: AckUnpack::new(config),
            acked: AckedWords::new(config),
            ack_step: AckStep::new(config),
            slot: GrantStep::new(config),
            opening: OpenStep::new(config),
            watch: Watch::new(config.reads),
            no_desc: Constant::new(Desc::default()),
            sends: Constant::new(config.sends);
            clock, reset, fault, now, rto_min, cfg_valid, cfg_table, cfg_index, cfg_word0, cfg_word1, cfg_word2,
            cfg_busy, ack_valid, ack_ready, ack, ack_sav, next_valid, next_conn, next_has_msg, next_kind, next_both, next_qp, next_msn,
            next_npkts, next_length, next_index, next_more, done_valid, done_advance, done_skip, done_aside, done_requeue,
            done_respond, lost_valid, lost_conn, lost_room, both, slot_index, is_error_resp, drops, as_nop,
            wake_valid, wake_conn, offer_valid, offer_ready, offer_row, set_valid, set_row, set_active, set_deadline,
            watch_conn, watch_awaited, watch_alive, life_valid, life_conn, life_now,
            queue_valid, queue_ready, queue_lookup, queue_row, queue_ppsn, queue_entry, queue_rsp_valid, queue_rsp,
            queue_room, open_valid, open_conn, flush_busy, retire_idle, rb_addr, rb_data, acked_valid, acked_ready,
            acked_conn, acked_path, acked_base_ppsn, acked_mask, qperr_addr, qperr_data, wait_data, withdrawn_msn, withdrawn_data, attempt_data, desc_valid, desc_ready, desc,
            nak_valid, nak_ready, nak_conn, nak_qp, nak_code, nak_msn, nak_rnr, cerr_valid, cerr_ready, cerr_conn,
            commit_grant_valid, commit_grant,
            commit_ack_valid, commit_ack, commit_timer_valid, commit_timer, init_done, choice, commits, timer, others, step, count, conn, path, time, for_ack, for_open, word_op, at_ack, at_slot, at_resend, at_timer, at_watch, at_open, at_opened, grants, calm, calm_now, calm_there, begins_watch, state_after, rtt_after, own_srtt,
            own_longest, srtt_here,
            cum_reg, span_reg, has_msg, more, npkts,
            length_low, packet, inflight, qp_error, at_pick, ends, skips, asides, responds, empties, is_shut, is_closed, is_message, waits, yields, resends, pick_ends, pick_skips, attempt, closed, shut, via, desc_held, desc_reg, alloc_held, alloc_row,
            alloc_ppsn, alloc_entry, nak_held, nak_conn_reg, nak_qp_reg, nak_code_reg, nak_msn_reg, nak_rnr_reg, for_rnr, cerr_held,
            cerr_reg, wake_held, wake_reg, new_tx, new_ack, new_conn_ack, new_conn_tx,
            out, put_path, put_path_ack, put_conn_tx, put_conn_ack, put_conn_cfg, here, there, row, rnr, nak, choose, emptied, desc_free,
            ack_taken, ack_conn, ack_home, ack_may, span, pipe_there, chosen, chosen_port, element, to_old, nak_offset,
            nak_span, nak_inside, table_row, slot_row, same_conn, same_path, began, began_conn, began_path, pipe_after, emit_desc,
        })
    }
}
