//! rnr: queue pairs whose peer has no receive (N1, N2): which of them wait, what of their messages goes out again, and when.
//! In: what enters and leaves the segmenter's rings, retired packets, completion's verdicts (`withdraw`), cfg QP and CONN. Out: the waiting bit of a
//! queue pair, the withdrawn bit and MSGH.attempt of a message for the sequencer, messages that enter the rings again (`msg`), which queue pair is drained.
//! Guarantees: a wait ends only when everything sent is retired, none of the queue pair's messages is in a ring, and its time has passed; then all
//! that is to go out again enters in the order of the stream, and nothing else meanwhile (`hold`).
use crate::config::BuildConfig;
use crate::tx::filled::filled;
use crate::tx::run_list::RunList;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

mod logic;

/// The IB encoding of RNR times, in units of 10 us: 625 / 8 ticks.
const TIMES_10US: [u64; 32] = [
    65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144,
    8192, 12288, 16384, 24576, 32768, 49152,
];

/// Whether a queue pair waits, and how long at least.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct WaitRow {
    pub waiting: Bit,
    pub until: Bits<32>,
}

/// Counts of a queue pair: new packets sent, messages that left a ring.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct GoneRow {
    pub sent: Bits<16>,
    pub left: Bits<16>,
}

/// Size of a message.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ShapeRow {
    pub npkts: Bits<24>,
    pub length: Bits<32>,
}

/// A message that was set aside, and its next packet.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct AsideRow {
    pub valid: Bit,
    pub index: Bits<24>,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum RnrState {
    Clear,
    Idle,
    Look,
    Judge,
    Room,
    Compare,
    Settle,
    Back,
    Ask,
    Answer,
    Calm,
    Read,
    Slot,
    Again,
    Mark,
    Enter,
    Quiet,
    Sweep,
    Visit,
    Settled,
    Sample,
    Tell,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Rnr {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 17: an attempt has the bit of the one before; fault 18: a wait ends while packets are outstanding; fault 19: nobody is seen waiting.
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_word0: Signal<In, Bits<32>>,
    pub cfg_busy: Signal<Out, Bit>,
    /// Another block is still applying what software wrote; until then an error of the earlier life may come.
    pub others_busy: Signal<In, Bit>,
    /// Is anything of this queue pair in a ring or outstanding? Answered in some clock in which nothing is, as often as it is asked.
    pub drain_valid: Signal<In, Bit>,
    pub drain_qp: Signal<In, Bits<16>>,
    pub drained_valid: Signal<Out, Bit>,
    pub drained_qp: Signal<Out, Bits<16>>,
    /// One clock: a message of work_fetch enters its ring.
    pub put_valid: Signal<In, Bit>,
    pub put_qp: Signal<In, Bits<16>>,
    pub put_msn: Signal<In, Bits<24>>,
    pub put_npkts: Signal<In, Bits<24>>,
    pub put_length: Signal<In, Bits<32>>,
    /// One clock: a new packet of this message was sent; it left its ring; it was set aside; it was here a second time.
    pub out_sent: Signal<In, Bit>,
    pub out_left: Signal<In, Bit>,
    pub out_aside: Signal<In, Bit>,
    pub out_returns: Signal<In, Bit>,
    pub out_conn: Signal<In, Bits<16>>,
    pub out_qp: Signal<In, Bits<16>>,
    pub out_msn: Signal<In, Bits<24>>,
    /// The next packet of a message that is set aside.
    pub out_index: Signal<In, Bits<24>>,
    /// One clock: completion counts a retired packet.
    pub ret_valid: Signal<In, Bit>,
    pub ret_qp: Signal<In, Bits<16>>,
    /// One clock: a message is withdrawn; with `began` its queue pair begins to wait. Not between `over` and the end of `hold`.
    pub withdraw_valid: Signal<In, Bit>,
    pub withdraw_qp: Signal<In, Bits<16>>,
    pub withdraw_msn: Signal<In, Bits<24>>,
    pub withdraw_code: Signal<In, Bits<8>>,
    pub withdraw_began: Signal<In, Bit>,
    /// The wait of this queue pair may end. The answer comes later, for one clock.
    pub over_valid: Signal<Out, Bit>,
    pub over_ready: Signal<In, Bit>,
    pub over_qp: Signal<Out, Bits<16>>,
    pub over_done: Signal<In, Bit>,
    /// The queue pair is in Error or closed: nothing begins again.
    pub over_failed: Signal<In, Bit>,
    /// MSN of its oldest message.
    pub over_head: Signal<In, Bits<24>>,
    /// A withdrawn message begins again: its packets count from 0.
    pub again_valid: Signal<Out, Bit>,
    pub again_ready: Signal<In, Bit>,
    pub again_qp: Signal<Out, Bits<16>>,
    pub again_msn: Signal<Out, Bits<24>>,
    /// No message of work_fetch enters a ring, and completion takes no error.
    pub hold: Signal<Out, Bit>,
    pub msg_valid: Signal<Out, Bit>,
    pub msg_ready: Signal<In, Bit>,
    pub msg_conn: Signal<Out, Bits<16>>,
    pub msg_qp: Signal<Out, Bits<16>>,
    pub msg_msn: Signal<Out, Bits<24>>,
    pub msg_npkts: Signal<Out, Bits<24>>,
    pub msg_length: Signal<Out, Bits<32>>,
    /// First packet to send.
    pub msg_index: Signal<Out, Bits<24>>,
    /// The queue pair waits; one clock after its number.
    pub wait_addr: Signal<In, Bits<16>>,
    pub wait_data: Signal<Out, Bit>,
    /// The message is withdrawn; one clock after its names.
    pub withdrawn_qp: Signal<In, Bits<16>>,
    pub withdrawn_msn: Signal<In, Bits<24>>,
    pub withdrawn_data: Signal<Out, Bit>,
    /// MSGH.attempt of that message.
    pub attempt_data: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    conns: Ram<Bits<16>>,
    wait: Ram<WaitRow>,
    wait_tx: Ram<Bit>,
    /// Two copies of each count: its writer reads one, the scan the other.
    gone: Ram<GoneRow>,
    gone_scan: Ram<GoneRow>,
    entered: Ram<Bits<16>>,
    entered_scan: Ram<Bits<16>>,
    retired: Ram<Bits<16>>,
    retired_scan: Ram<Bits<16>>,
    /// Messages that came back into the ring of a connection, and those of them that left it.
    came_back: Ram<Bits<16>>,
    left_again: Ram<Bits<16>>,
    left_again_scan: Ram<Bits<16>>,
    shape: Ram<ShapeRow>,
    aside: Ram<AsideRow>,
    withdrawn: Ram<Bit>,
    withdrawn_tx: Ram<Bit>,
    attempt: Ram<Bit>,
    attempt_tx: Ram<Bit>,
    waiting: RunList,
    // counting: the row read in the clock before
    gone_busy: DFF<Bit>,
    gone_qp: DFF<Bits<16>>,
    gone_sent: DFF<Bit>,
    gone_left: DFF<Bit>,
    gone_conn: DFF<Bits<16>>,
    gone_returns: DFF<Bit>,
    entered_busy: DFF<Bit>,
    entered_qp: DFF<Bits<16>>,
    retired_busy: DFF<Bit>,
    retired_qp: DFF<Bits<16>>,
    cfg_held: DFF<Bit>,
    /// The table is CONN.
    held_conn: DFF<Bit>,
    held_index: DFF<Bits<16>>,
    held_word: DFF<Bits<32>>,
    state: DFF<RnrState>,
    count: DFF<Bits<9>>,
    holding: DFF<Bit>,
    qp: DFF<Bits<16>>,
    conn: DFF<Bits<16>>,
    msn: DFF<Bits<24>>,
    index: DFF<Bits<24>>,
    /// Messages of this round that entered.
    back: DFF<Bits<16>>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    /// The last queue pair looked at was one that is asked for.
    told: DFF<Bit>,
    wait_row: Signal<Local, WaitRow>,
    gone_row: Signal<Local, GoneRow>,
    gone_new: Signal<Local, GoneRow>,
    shape_row: Signal<Local, ShapeRow>,
    aside_row: Signal<Local, AsideRow>,
    shape_new: Signal<Local, ShapeRow>,
    aside_new: Signal<Local, AsideRow>,
    wait_new: Signal<Local, WaitRow>,
    wait_write: Signal<Local, Bit>,
    wait_at: Signal<Local, Bits<24>>,
    age: Signal<Local, Bits<32>>,
    calm: Signal<Local, Bit>,
    due: Signal<Local, Bit>,
    ticks: Signal<Local, Bits<32>>,
    here: Signal<Local, Bits<24>>,
    put_at: Signal<Local, Bits<24>>,
    out_at: Signal<Local, Bits<24>>,
    withdraw_at: Signal<Local, Bits<24>>,
    put: Signal<Local, Bit>,
    entering: Signal<Local, Bits<16>>,
    begins: Signal<Local, Bit>,
    entered_new: Signal<Local, Bits<16>>,
    entered_at: Signal<Local, Bits<24>>,
    retired_new: Signal<Local, Bits<16>>,
    retired_at: Signal<Local, Bits<24>>,
    left_again_new: Signal<Local, Bits<16>>,
    left_again_write: Signal<Local, Bit>,
    gone_write: Signal<Local, Bit>,
    gone_at: Signal<Local, Bits<24>>,
    entered_write: Signal<Local, Bit>,
    retired_write: Signal<Local, Bit>,
    withdrawn_write: Signal<Local, Bit>,
    withdrawn_at: Signal<Local, Bits<24>>,
    withdrawn_new: Signal<Local, Bit>,
    flipped: Signal<Local, Bit>,
    quiet: Signal<Local, Bit>,
    attempt_write: Signal<Local, Bit>,
    attempt_at: Signal<Local, Bits<24>>,
    attempt_new: Signal<Local, Bit>,
    sends: Constant<Bit>,
    message_log2: Constant<Bits<4>>,
    message_mask: Constant<Bits<24>>,
    last_message: Constant<Bits<9>>,
    last_row: Constant<Bits<24>>,
    last_qp: Constant<Bits<16>>,
    times: [Constant<Bits<32>>; 32],
}

impl Rnr {
    pub fn new(config: &BuildConfig) -> Self {
        let (rows, m) = (config.message_rows(), config.msgs_per_stream as u64);
        filled!(Rnr {
            conns: Ram::new(config.qps),
            wait: Ram::new(config.qps),
            wait_tx: Ram::new(config.qps),
            gone: Ram::new(config.qps),
            gone_scan: Ram::new(config.qps),
            entered: Ram::new(config.qps),
            entered_scan: Ram::new(config.qps),
            retired: Ram::new(config.qps),
            retired_scan: Ram::new(config.qps),
            came_back: Ram::new(config.conns),
            left_again: Ram::new(config.conns),
            left_again_scan: Ram::new(config.conns),
            shape: Ram::new(rows),
            aside: Ram::new(rows),
            withdrawn: Ram::new(rows),
            withdrawn_tx: Ram::new(rows),
            attempt: Ram::new(rows),
            attempt_tx: Ram::new(rows),
            waiting: RunList::new(config.qps),
            sends: Constant::new(config.sends),
            message_log2: Constant::new(u64::from(m.ilog2()).to_bits()),
            message_mask: Constant::new((m - 1).to_bits()),
            last_message: Constant::new((m - 1).to_bits()),
            last_row: Constant::new((rows.max(config.conns) as u64 - 1).to_bits()),
            last_qp: Constant::new((config.qps as u64 - 1).to_bits()),
            times: array_init::array_init(|code| Constant::new((TIMES_10US[code] * 625 / 8).to_bits()));
            clock, reset, fault, now, cfg_valid, cfg_table, cfg_index, cfg_word0, cfg_busy, put_valid, put_qp, put_msn, put_npkts,
            put_length, out_sent, out_left, out_aside, out_returns, out_conn, out_qp, out_msn, out_index, ret_valid, ret_qp,
            withdraw_valid, withdraw_qp, withdraw_msn, withdraw_code, withdraw_began, over_valid, over_ready, over_qp, over_done,
            over_failed, over_head, again_valid, again_ready, again_qp, again_msn, hold, msg_valid, msg_ready, msg_conn, msg_qp,
            msg_msn, msg_npkts, msg_length, msg_index, wait_addr, wait_data, withdrawn_qp, withdrawn_msn, withdrawn_data,
            attempt_data, others_busy, drain_valid, drain_qp, drained_valid, drained_qp, init_done, gone_busy, gone_qp, gone_sent, gone_left, gone_conn,
            gone_returns, entered_busy, entered_qp, retired_busy, retired_qp, cfg_held, held_conn, held_index, held_word, state, count,
            holding, qp, conn, msn, index, back, walk, ready, told, wait_row, gone_row, gone_new, shape_row, aside_row,
            shape_new, aside_new, wait_new, wait_write, wait_at, age, calm, due, ticks, here, put_at, out_at, withdraw_at, put,
            entering, begins, entered_new, entered_at, retired_new, retired_at, left_again_new, left_again_write, gone_write, gone_at,
            entered_write, retired_write, withdrawn_write, withdrawn_at, withdrawn_new, flipped, quiet, attempt_write, attempt_at,
            attempt_new,
        })
    }
}
