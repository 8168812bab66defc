//! completion: counts retired packets, writes CQEs in MSN order, moves queue pairs to Error and flushes them.
//! In: `cmsg` (a WQE was taken), `ret` (a packet was retired), errors `nak`, `cerr`, `rxerr`, cfg tables QP and CONN; `rcqe`, CQEs of receives.
//! Out: all CQEs through the write port `cw`, `rel_qp`, the Error bit of each QP (three read ports), `flush` (a QP moved to Error).
//! Guarantees: W2 to W4: every WQE gets exactly one CQE (none if unsignaled and successful), in the order of the stream.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_regs::{code, ring, table};
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// What software configured of a completion queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CqFixed {
    pub valid: Bit,
    pub conn: Bits<16>,
    pub base: Bits<64>,
    pub log2: Bits<4>,
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
}

/// A message.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct MessageState {
    /// Packets not yet retired.
    pub remaining: Bits<24>,
    /// 0, or why the WQE was refused.
    pub status: Bits<8>,
    pub signaled: Bit,
    pub opcode: Bits<8>,
    pub wqe_index: Bits<16>,
    pub length: Bits<32>,
    pub wr_id: Bits<64>,
}

/// A CQE on its way to memory.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CqeWrite {
    pub addr: Bits<64>,
    pub data: Bits<256>,
}

/// What the FSM does.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Step {
    Clear,
    Idle,
    Message,
    Retired,
    Failure,
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
    /// No nak but an RNR: the peer has no receive for the message (N3).
    pub nak_rnr: Signal<In, Bit>,
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
    pub commit_err_valid: Signal<Out, Bit>,
    /// 1 nak, 2 connection error, 3 refused a peer's packet, 4 RNR.
    pub commit_err_kind: Signal<Out, Bits<3>>,
    pub commit_err_qp: Signal<Out, Bits<16>>,
    pub commit_err_conn: Signal<Out, Bits<16>>,
    pub commit_err_code: Signal<Out, Bits<8>>,
    pub commit_err_msn: Signal<Out, Bits<24>>,
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
    cqes: Fifo<CqeWrite>,
    releases: Fifo<Bits<16>>,
    flushes: Fifo<Bits<16>>,
    cfg_held: DFF<Bit>,
    /// What was given up has been read for it.
    cfg_read: DFF<Bit>,
    /// The table is CONN.
    held_conn: DFF<Bit>,
    held_index: DFF<Bits<16>>,
    held_data: DFF<Bits<320>>,
    step: DFF<Step>,
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
    cqe_status: Signal<Local, Bits<8>>,
    cqe_nak: Signal<Local, Bits<8>>,
    from_queue: Signal<Local, CqFixed>,
    now_at: Signal<Local, StreamState>,
    next_at: Signal<Local, StreamState>,
    row: Signal<Local, MessageState>,
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
    beat: DFF<Bits<3>>,
    desc_sent: DFF<Bit>,
    data_sent: DFF<Bit>,
    last_beat: Constant<Bits<3>>,
    beat_shift: Constant<Bits<10>>,
    last_walk: Constant<Bits<24>>,
    last_qp: Constant<Bits<24>>,
    message_mask: Constant<Bits<24>>,
    message_log2: Constant<Bits<4>>,
    one16: Constant<Bits<16>>,
    beat_at: Signal<Local, Bits<10>>,
    slot: Signal<Local, Bits<24>>,
    finish: Signal<Local, Bit>,
    /// The error may move the queue pair: it is its own connection's, or no nak.
    of_conn: Signal<Local, Bit>,
    /// The error is a nak or an RNR.
    of_peer: Signal<Local, Bit>,
    flush_room: Signal<Local, Bit>,
    may_emit: Signal<Local, Bit>,
    /// The queue pair of this step moves to Error.
    fails: Signal<Local, Bit>,
    sends: Constant<Bit>,
}

impl<const W: usize> Completion<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        let beats = (8 * ring::cqe::BYTES).div_ceil(W) as u64;
        filled!(Completion {
            fixed: Ram::new(config.qps),
            state: Ram::new(config.qps),
            messages: Ram::new(config.message_rows()),
            error_tx: Ram::new(config.qps),
            error_rx: Ram::new(config.qps),
            error_host: Ram::new(config.qps),
            given_up: Ram::new(config.conns),
            cqes: Fifo::new(config.fifo.cmsg),
            releases: Fifo::new(config.fifo.cmsg),
            flushes: Fifo::new(if config.sends { config.fifo.cmsg } else { 1 }),
            sends: Constant::new(config.sends),
            last_beat: Constant::new((beats - 1).to_bits()),
            beat_shift: Constant::new((if W >= 256 { 0 } else { W as u64 }).to_bits()),
            last_walk: Constant::new((config.message_rows().max(config.conns) as u64 - 1).to_bits()),
            last_qp: Constant::new((config.qps as u64 - 1).to_bits()),
            message_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            message_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            one16: Constant::new(1u64.to_bits());
            clock, reset, fault, cmsg_valid, cmsg_ready, cmsg_qp, cmsg_msn, cmsg_npkts, cmsg_length, cmsg_wqe_index, cmsg_wr_id,
            cmsg_signaled, cmsg_opcode, cmsg_status, ret_valid, ret_ready, ret_qp, ret_msn, ret_bytes, nak_valid, nak_ready, nak_conn, nak_qp,
            nak_code, nak_msn, nak_rnr, cerr_valid, cerr_ready, cerr_conn, rxerr_valid, rxerr_ready, rxerr_qp, quiet, cfg_valid, cfg_table,
            cfg_index, cfg_data, cfg_busy, rel_qp_valid, rel_qp_ready, rel_qp, flush_valid,
            flush_ready, flush_qp, rcqe_valid, rcqe_ready, rcqe_addr, rcqe_data, qperr_tx_addr, qperr_tx_data, qperr_rx_addr,
            qperr_rx_data, qperr_host_addr, qperr_host_data, cw_desc_valid, cw_desc_ready, cw_desc_addr, cw_desc_len, cw_valid,
            cw_ready, cw_data, cw_last, init_done, commit_cqe_valid, commit_cqe_qp, commit_cqe_msn, commit_cqe_data,
            commit_ret_valid, commit_ret_qp, commit_ret_msn, commit_ret_bytes, commit_err_valid, commit_err_kind, commit_err_qp,
            commit_err_conn, commit_err_code, commit_err_msn, error_write, error_index, error_value, cfg_held, cfg_read, held_conn, held_index,
            held_data, step, walk, ready, qp, msn, incoming, bytes, kind, nak, fail_kind, fail_status, scan_conn, scanning, favour, stream,
            cq, message, cqe_status, cqe_nak, from_queue, now_at, next_at, row, new_row, done, early, room,
            outstanding, is_failing, cqe, cqe_mask, cqe_words, phase, status_of_nak, beat, desc_sent, data_sent, beat_at, slot, finish, of_conn, of_peer,
            flush_room, may_emit, fails,
        })
    }
}

impl<const W: usize> Logic for Completion<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module completion: retired packets to CQEs, errors to flushes");
        dff_setup!(
            self,
            clock,
            cfg_held,
            cfg_read,
            held_conn,
            held_index,
            held_data,
            step,
            walk,
            ready,
            qp,
            msn,
            incoming,
            bytes,
            kind,
            nak,
            fail_kind,
            fail_status,
            scan_conn,
            scanning,
            favour,
            stream,
            cq,
            message,
            beat,
            desc_sent,
            data_sent
        );
        clock!(self, clock, fixed, state, messages, error_tx, error_rx, error_host, given_up, cqes, releases, flushes);
        self.cqes.reset.next = self.reset.val();
        self.releases.reset.next = self.reset.val();
        self.flushes.reset.next = self.reset.val();

        comment!("configuration waits in a buffer");
        if self.cfg_valid.val() & ((self.cfg_table.val() == 1) | (self.cfg_table.val() == 3)) {
            self.cfg_held.d.next = true;
            self.held_conn.d.next = self.cfg_table.val() == 1;
            self.held_index.d.next = self.cfg_index.val();
            self.held_data.d.next = self.cfg_data.val().get_bits::<320>(0);
        }
        self.cfg_busy.next = self.cfg_held.q.val();
        self.cfg_read.d.next = self.cfg_held.q.val();
        self.given_up.read_address.next = bit_cast::<24, 16>(self.held_data.q.val().get_bits::<16>(16));
        self.given_up.write_enable.next = false;
        self.given_up.write_address.next = bit_cast::<24, 16>(self.cerr_conn.val());
        self.given_up.write_data.next = true;

        comment!("defaults");
        self.cmsg_ready.next = false;
        self.ret_ready.next = false;
        self.nak_ready.next = false;
        self.cerr_ready.next = false;
        self.rxerr_ready.next = false;
        self.from_queue.next.valid = self.held_data.q.val().get_bit(0);
        self.from_queue.next.conn = self.held_data.q.val().get_bits::<16>(16);
        self.from_queue.next.log2 = self.held_data.q.val().get_bits::<4>(132);
        self.from_queue.next.base = self.held_data.q.val().get_bits::<64>(160);
        self.fixed.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.fixed.write_enable.next = false;
        self.fixed.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.state.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.state.write_enable.next = false;
        self.state.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.slot.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.message_log2.val()) | (self.msn.q.val() & self.message_mask.val());
        self.messages.read_address.next = self.slot.val();
        self.messages.write_enable.next = false;
        self.messages.write_address.next = self.slot.val();
        self.error_write.next = false;
        self.error_index.next = bit_cast::<24, 16>(self.qp.q.val());
        self.error_value.next = true;
        self.cqes.write.next = false;
        self.releases.write.next = false;
        self.now_at.next = self.stream.q.val();
        self.row.next = self.messages.read_data.val();
        self.new_row.next = self.row.val();
        self.commit_ret_valid.next = false;
        self.commit_err_valid.next = false;
        self.commit_cqe_valid.next = false;
        self.fails.next = false;
        self.flush_room.next = !self.flushes.full.val() | !self.sends.val();
        comment!("only a refused WQE that is the oldest moves its queue pair to Error as it completes");
        self.may_emit.next = !self.releases.full.val()
            & (self.flush_room.val() | self.stream.q.val().failed | !self.message.q.val().status.any());
        self.room.next = !self.cqes.full.val() & self.may_emit.val();
        comment!("fault 8: done while the last packet is still out");
        self.early.next = (self.fault.val() == 8) & (self.row.val().remaining == 2);
        self.done.next = self.message.q.val().remaining == 0;
        self.status_of_nak.next = 9.into();
        if (self.nak_code.val() == 1) | (self.nak_code.val() == 2) | (self.nak_code.val() == 3) {
            self.status_of_nak.next = 10.into();
        }
        if self.nak_code.val() == 6 {
            self.status_of_nak.next = 11.into();
        }
        if self.nak_rnr.val() & self.sends.val() {
            // N3
            self.status_of_nak.next = 13.into();
        }
        if (self.step.q.val() == Step::Retired)
            | (self.step.q.val() == Step::Message)
            | (self.step.q.val() == Step::Failure)
            | (self.step.q.val() == Step::Scan)
        {
            self.now_at.next = self.state.read_data.val();
        }
        self.next_at.next = self.now_at.val();
        self.outstanding.next = (self.msn.q.val() - self.now_at.val().head) < (self.now_at.val().tail - self.now_at.val().head);
        comment!("W3: which status the oldest message completes with");
        self.is_failing.next = self.stream.q.val().failed
            & (((self.stream.q.val().fail == 1) & (self.stream.q.val().fail_msn == self.stream.q.val().head))
                | ((self.stream.q.val().fail == 2) & !self.done.val()));

        self.cqe_status.next = self.message.q.val().status;
        self.cqe_nak.next = 0.into();
        if self.stream.q.val().failed {
            if self.stream.q.val().fail == 0 {
                self.cqe_status.next = 5.into();
            } else if self.is_failing.val() {
                self.cqe_status.next = self.stream.q.val().fail_status;
                self.cqe_nak.next = self.stream.q.val().fail_nak;
            } else if !self.done.val() {
                self.cqe_status.next = 5.into();
            }
        }
        comment!("the CQE of the oldest message");
        self.cqe_mask.next = (self.one16.val() << self.cq.q.val().log2) - 1;
        self.phase.next = !(self.stream.q.val().cq_count >> self.cq.q.val().log2).get_bit(0);
        self.cqe_words.next = bit_cast::<256, 8>(self.cqe_status.val())
            | (bit_cast::<256, 8>(self.message.q.val().opcode) << 8)
            | (bit_cast::<256, 1>(self.phase.val().into()) << 16)
            | (bit_cast::<256, 16>(self.qp.q.val()) << 32)
            | (bit_cast::<256, 64>(self.message.q.val().wr_id) << 64)
            | (bit_cast::<256, 16>(self.message.q.val().wqe_index) << 160)
            | (bit_cast::<256, 8>(self.cqe_nak.val()) << 192)
            | (bit_cast::<256, 24>(self.stream.q.val().head) << 224);
        if self.cqe_status.val() == 0 {
            self.cqe_words.next = self.cqe_words.val() | (bit_cast::<256, 32>(self.message.q.val().length) << 128);
        }
        self.cqe.next.addr =
            self.cq.q.val().base + (bit_cast::<64, 16>(self.stream.q.val().cq_count & self.cqe_mask.val()) << 5);
        self.cqe.next.data = self.cqe_words.val();
        self.releases.data_in.next = self.qp.q.val();
        self.finish.next = false;
        self.of_conn.next = false;
        self.of_peer.next = false;
        self.commit_err_kind.next = self.kind.q.val();
        self.commit_err_qp.next = self.qp.q.val();
        self.commit_err_conn.next = self.scan_conn.q.val();
        self.commit_err_code.next = self.nak.q.val();
        self.commit_err_msn.next = self.msn.q.val();

        match self.step.q.val() {
            Step::Clear => {
                self.walk.d.next = self.walk.q.val() + 1;
                self.from_queue.next.valid = false;
                self.fixed.write_enable.next = true;
                self.fixed.write_address.next = self.walk.q.val();
                self.next_at.next.head = 0.into();
                self.next_at.next.tail = 0.into();
                self.next_at.next.cq_count = 0.into();
                self.next_at.next.ahead = 0.into();
                self.next_at.next.failed = false;
                self.next_at.next.fail = 0.into();
                self.state.write_enable.next = true;
                self.state.write_address.next = self.walk.q.val();
                self.new_row.next.remaining = 0.into();
                self.messages.write_enable.next = true;
                self.messages.write_address.next = self.walk.q.val();
                self.given_up.write_enable.next = true;
                self.given_up.write_address.next = self.walk.q.val();
                self.given_up.write_data.next = false;
                self.error_write.next = true;
                self.error_index.next = self.walk.q.val();
                self.error_value.next = false;
                if self.walk.q.val() == self.last_walk.val() {
                    self.step.d.next = Step::Idle;
                    self.ready.d.next = true;
                }
            }
            Step::Idle => {
                comment!("no ready depends on its own valid");
                self.cmsg_ready.next = !self.cfg_held.q.val()
                    & (self.favour.q.val() | !self.ret_valid.val())
                    & !(self.quiet.val() & (self.nak_valid.val() | self.rxerr_valid.val() | self.cerr_valid.val()));
                self.ret_ready.next =
                    !self.cfg_held.q.val() & !(self.favour.q.val() & self.cmsg_valid.val() & self.cmsg_ready.val());
                self.nak_ready.next = !self.cfg_held.q.val() & !self.ret_valid.val() & self.quiet.val();
                self.rxerr_ready.next = self.nak_ready.val() & !self.nak_valid.val();
                self.cerr_ready.next = self.rxerr_ready.val() & !self.rxerr_valid.val();
                if self.cfg_held.q.val() & (!self.cfg_read.q.val() | !self.releases.empty.val() | !self.flushes.empty.val()) {
                    comment!("releases and flushes of the earlier queue pair leave first");
                    self.step.d.next = Step::Idle;
                } else if self.cfg_held.q.val() & self.held_conn.q.val() {
                    self.cfg_held.d.next = false;
                    self.cfg_read.d.next = false;
                    self.given_up.write_enable.next = true;
                    self.given_up.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.given_up.write_data.next = false;
                } else if self.cfg_held.q.val() {
                    comment!("a queue pair starts afresh; one that is closed, or of a connection in error, is in Error");
                    self.cfg_held.d.next = false;
                    self.cfg_read.d.next = false;
                    self.fixed.write_enable.next = true;
                    self.next_at.next.head = self.held_data.q.val().get_bits::<24>(256);
                    self.next_at.next.tail = self.held_data.q.val().get_bits::<24>(256);
                    self.next_at.next.cq_count = 0.into();
                    self.next_at.next.ahead = 0.into();
                    self.next_at.next.failed = false;
                    self.next_at.next.fail = 0.into();
                    self.state.write_enable.next = true;
                    self.state.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.error_write.next = true;
                    self.error_index.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.error_value.next = !self.from_queue.val().valid | self.given_up.read_data.val();
                    if self.given_up.read_data.val() {
                        self.next_at.next.failed = true;
                        self.next_at.next.fail = 2.into();
                        self.next_at.next.fail_status = 12.into();
                        self.next_at.next.fail_nak = 0.into();
                        self.fails.next = self.from_queue.val().valid;
                    }
                } else if self.ret_valid.val() & self.ret_ready.val() {
                    self.qp.d.next = self.ret_qp.val();
                    self.msn.d.next = self.ret_msn.val();
                    self.bytes.d.next = self.ret_bytes.val();
                    self.state.read_address.next = bit_cast::<24, 16>(self.ret_qp.val());
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.ret_qp.val());
                    self.messages.read_address.next = (bit_cast::<24, 16>(self.ret_qp.val()) << self.message_log2.val())
                        | (self.ret_msn.val() & self.message_mask.val());
                    self.step.d.next = Step::Retired;
                } else if self.nak_valid.val() & self.nak_ready.val() {
                    self.scan_conn.d.next = self.nak_conn.val();
                    self.qp.d.next = self.nak_qp.val();
                    self.msn.d.next = self.nak_msn.val();
                    self.kind.d.next = 1.into();
                    if self.nak_rnr.val() & self.sends.val() {
                        self.kind.d.next = 4.into();
                    }
                    self.messages.read_address.next = (bit_cast::<24, 16>(self.nak_qp.val()) << self.message_log2.val())
                        | (self.nak_msn.val() & self.message_mask.val());
                    self.nak.d.next = self.nak_code.val();
                    self.fail_kind.d.next = 1.into();
                    self.fail_status.d.next = self.status_of_nak.val();
                    self.state.read_address.next = bit_cast::<24, 16>(self.nak_qp.val());
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.nak_qp.val());
                    self.step.d.next = Step::Failure;
                } else if self.rxerr_valid.val() & self.rxerr_ready.val() {
                    self.qp.d.next = self.rxerr_qp.val();
                    self.kind.d.next = 3.into();
                    self.nak.d.next = 0.into();
                    self.fail_kind.d.next = 2.into();
                    self.fail_status.d.next = 5.into();
                    self.state.read_address.next = bit_cast::<24, 16>(self.rxerr_qp.val());
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.rxerr_qp.val());
                    self.step.d.next = Step::Failure;
                } else if self.cerr_valid.val() & self.cerr_ready.val() {
                    self.scan_conn.d.next = self.cerr_conn.val();
                    self.given_up.write_enable.next = true;
                    self.scanning.d.next = true;
                    self.kind.d.next = 2.into();
                    self.nak.d.next = 0.into();
                    self.fail_kind.d.next = 2.into();
                    self.fail_status.d.next = 12.into();
                    self.qp.d.next = 0.into();
                    self.step.d.next = Step::ScanRead;
                } else if self.cmsg_valid.val() & self.cmsg_ready.val() {
                    self.qp.d.next = self.cmsg_qp.val();
                    self.msn.d.next = self.cmsg_msn.val();
                    self.incoming.d.next.remaining = self.cmsg_npkts.val();
                    self.incoming.d.next.status = self.cmsg_status.val();
                    self.incoming.d.next.signaled = self.cmsg_signaled.val();
                    self.incoming.d.next.opcode = self.cmsg_opcode.val();
                    self.incoming.d.next.wqe_index = self.cmsg_wqe_index.val();
                    self.incoming.d.next.length = self.cmsg_length.val();
                    self.incoming.d.next.wr_id = self.cmsg_wr_id.val();
                    if self.cmsg_status.val() != 0 {
                        self.incoming.d.next.remaining = 0.into();
                    }
                    self.state.read_address.next = bit_cast::<24, 16>(self.cmsg_qp.val());
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.cmsg_qp.val());
                    self.step.d.next = Step::Message;
                }
            }
            Step::Message => {
                self.favour.d.next = false;
                comment!("a WQE was taken: a new message at the tail");
                self.new_row.next = self.incoming.q.val();
                self.messages.write_enable.next = true;
                self.next_at.next.tail = self.msn.q.val() + 1;
                if self.incoming.q.val().remaining == 0 {
                    self.next_at.next.ahead = self.now_at.val().ahead + 1;
                }
                comment!("a WQE that was under way when its queue pair was closed has no completion");
                self.state.write_enable.next = self.fixed.read_data.val().valid;
                self.stream.d.next = self.next_at.val();
                self.cq.d.next = self.fixed.read_data.val();
                self.step.d.next = Step::Idle;
                if self.fixed.read_data.val().valid & ((self.incoming.q.val().remaining == 0) | self.now_at.val().failed) {
                    self.msn.d.next = self.now_at.val().head;
                    self.step.d.next = Step::HeadRead;
                }
            }
            Step::Retired => {
                comment!("a burst of retired packets does not keep new messages waiting");
                self.favour.d.next = true;
                comment!("a packet was retired");
                self.commit_ret_valid.next = true;
                self.stream.d.next = self.now_at.val();
                self.cq.d.next = self.fixed.read_data.val();
                self.step.d.next = Step::Idle;
                if self.outstanding.val() & (self.row.val().remaining != 0) {
                    self.new_row.next.remaining = self.row.val().remaining - 1;
                    if self.early.val() {
                        self.new_row.next.remaining = 0.into();
                    }
                    self.messages.write_enable.next = true;
                    if self.new_row.val().remaining == 0 {
                        self.next_at.next.ahead = self.now_at.val().ahead + 1;
                        self.state.write_enable.next = true;
                        self.stream.d.next = self.next_at.val();
                        if self.msn.q.val() == self.now_at.val().head {
                            comment!("it is the oldest message, so its row is at hand");
                            self.message.d.next = self.new_row.val();
                            self.step.d.next = Step::Emit;
                        }
                    }
                }
            }
            Step::Failure => {
                comment!("W3: the first error counts; a nak of a message that is gone does not");
                comment!("section 6: a peer may refuse for queue pairs of its connection only");
                self.of_peer.next = (self.kind.q.val() == 1) | (self.kind.q.val() == 4);
                self.of_conn.next = !self.of_peer.val()
                    | ((bit_cast::<24, 16>(self.qp.q.val()) <= self.last_qp.val())
                        & self.fixed.read_data.val().valid
                        & (self.fixed.read_data.val().conn == self.scan_conn.q.val()));
                self.stream.d.next = self.now_at.val();
                self.cq.d.next = self.fixed.read_data.val();
                comment!("Q6: the receives of the queue pair are to be flushed too; it waits for room to say so");
                if self.flush_room.val() {
                    self.commit_err_valid.next = self.of_conn.val();
                    self.step.d.next = Step::Idle;
                    self.fails.next = self.fixed.read_data.val().valid
                        & self.of_conn.val()
                        & !self.now_at.val().failed
                        & (!self.of_peer.val() | self.outstanding.val())
                        & ((self.kind.q.val() != 4) | self.row.val().remaining.any());
                }
                if self.fails.val() {
                    self.next_at.next.failed = true;
                    self.next_at.next.fail = self.fail_kind.q.val();
                    self.next_at.next.fail_msn = self.msn.q.val();
                    self.next_at.next.fail_status = self.fail_status.q.val();
                    self.next_at.next.fail_nak = self.nak.q.val();
                    self.state.write_enable.next = true;
                    self.error_write.next = true;
                    self.stream.d.next = self.next_at.val();
                    self.msn.d.next = self.now_at.val().head;
                    self.step.d.next = Step::HeadRead;
                }
            }
            Step::ScanRead => {
                self.step.d.next = Step::Scan;
            }
            Step::Scan => {
                comment!("a connection was given up: every QP of it fails");
                self.stream.d.next = self.now_at.val();
                self.cq.d.next = self.fixed.read_data.val();
                if self.fixed.read_data.val().valid
                    & (self.fixed.read_data.val().conn == self.scan_conn.q.val())
                    & !self.now_at.val().failed
                {
                    if self.flush_room.val() {
                        self.next_at.next.failed = true;
                        self.next_at.next.fail = 2.into();
                        self.next_at.next.fail_status = self.fail_status.q.val();
                        self.next_at.next.fail_nak = 0.into();
                        self.commit_err_valid.next = true;
                        self.state.write_enable.next = true;
                        self.error_write.next = true;
                        self.fails.next = true;
                        self.stream.d.next = self.next_at.val();
                        self.msn.d.next = self.now_at.val().head;
                        self.step.d.next = Step::HeadRead;
                    }
                } else {
                    self.finish.next = true;
                }
            }
            Step::HeadRead => {
                comment!("the oldest message: its row is read");
                self.step.d.next = Step::Head;
            }
            Step::Head => {
                self.message.d.next = self.row.val();
                self.step.d.next = Step::Emit;
            }
            Step::Emit => {
                comment!("the oldest message completes if it is done, or if its queue pair is in Error");
                if (self.stream.q.val().head == self.stream.q.val().tail) | (!self.done.val() & !self.stream.q.val().failed) {
                    self.finish.next = true;
                } else if self.room.val() {
                    self.next_at.next.head = self.stream.q.val().head + 1;
                    if self.done.val() {
                        self.next_at.next.ahead = self.stream.q.val().ahead - 1;
                    }
                    if self.is_failing.val() {
                        self.next_at.next.fail = 0.into();
                    }
                    if !self.stream.q.val().failed & self.message.q.val().status.any() {
                        comment!("a refused WQE is the oldest: its queue pair fails with it");
                        self.next_at.next.failed = true;
                        self.next_at.next.fail = 0.into();
                        self.error_write.next = true;
                        self.fails.next = true;
                    }
                    self.releases.write.next = true;
                    if self.cqe_status.val().any() | self.message.q.val().signaled {
                        self.next_at.next.cq_count = self.stream.q.val().cq_count + 1;
                        self.cqes.write.next = true;
                        self.commit_cqe_valid.next = true;
                    }
                    self.state.write_enable.next = true;
                    self.stream.d.next = self.next_at.val();
                    self.msn.d.next = self.next_at.val().head;
                    if (self.next_at.val().ahead == 0) & !self.next_at.val().failed {
                        self.finish.next = true;
                    } else {
                        self.step.d.next = Step::HeadRead;
                    }
                }
            }
        }
        comment!("after a queue pair: the next one of a scan, or whatever comes");
        if self.finish.val() {
            self.step.d.next = Step::Idle;
            if self.scanning.q.val() {
                if bit_cast::<24, 16>(self.qp.q.val()) == self.last_qp.val() {
                    self.scanning.d.next = false;
                } else {
                    self.qp.d.next = self.qp.q.val() + 1;
                    self.step.d.next = Step::ScanRead;
                }
            }
        }
        comment!("CQEs of receives go behind our own, in the clocks in which we write none");
        self.rcqe_ready.next =
            self.sends.val() & !self.cqes.full.val() & !((self.step.q.val() == Step::Emit) & self.may_emit.val());
        if self.rcqe_valid.val() & self.rcqe_ready.val() {
            self.cqes.write.next = true;
            self.cqe.next.addr = self.rcqe_addr.val();
            self.cqe.next.data = self.rcqe_data.val();
        }
        self.cqes.data_in.next = self.cqe.val();
        self.flushes.write.next = self.sends.val() & self.fails.val();
        self.flushes.data_in.next = self.qp.q.val();
        if self.step.q.val() == Step::Idle {
            self.flushes.data_in.next = self.held_index.q.val();
        }
        self.flush_valid.next = !self.flushes.empty.val();
        self.flush_qp.next = self.flushes.data_out.val();
        self.flushes.read.next = !self.flushes.empty.val() & self.flush_ready.val();
        self.fixed.write_data.next = self.from_queue.val();
        self.state.write_data.next = self.next_at.val();
        self.messages.write_data.next = self.new_row.val();
        self.error_tx.write_enable.next = self.error_write.val();
        self.error_tx.write_address.next = self.error_index.val();
        self.error_tx.write_data.next = self.error_value.val();
        self.error_rx.write_enable.next = self.error_write.val();
        self.error_rx.write_address.next = self.error_index.val();
        self.error_rx.write_data.next = self.error_value.val();
        self.error_host.write_enable.next = self.error_write.val();
        self.error_host.write_address.next = self.error_index.val();
        self.error_host.write_data.next = self.error_value.val();
        self.error_tx.read_address.next = bit_cast::<24, 16>(self.qperr_tx_addr.val());
        self.error_rx.read_address.next = bit_cast::<24, 16>(self.qperr_rx_addr.val());
        self.error_host.read_address.next = bit_cast::<24, 16>(self.qperr_host_addr.val());
        self.qperr_tx_data.next = self.error_tx.read_data.val();
        self.qperr_rx_data.next = self.error_rx.read_data.val();
        self.qperr_host_data.next = self.error_host.read_data.val();
        self.commit_ret_qp.next = self.qp.q.val();
        self.commit_ret_msn.next = self.msn.q.val();
        self.commit_ret_bytes.next = self.bytes.q.val();
        self.commit_cqe_qp.next = self.qp.q.val();
        self.commit_cqe_msn.next = self.stream.q.val().head;
        self.commit_cqe_data.next = self.cqe_words.val();
        self.init_done.next = self.ready.q.val();

        comment!("releases and CQEs leave through their FIFOs");
        self.rel_qp_valid.next = !self.releases.empty.val();
        self.rel_qp.next = self.releases.data_out.val();
        self.releases.read.next = !self.releases.empty.val() & self.rel_qp_ready.val();
        self.cw_desc_valid.next = !self.cqes.empty.val() & !self.desc_sent.q.val();
        self.cw_desc_addr.next = self.cqes.data_out.val().addr;
        self.cw_desc_len.next = 32.into();
        self.cw_valid.next = !self.cqes.empty.val() & !self.data_sent.q.val();
        self.beat_at.next = 0.into();
        if self.beat.q.val().get_bit(0) {
            self.beat_at.next = self.beat_shift.val();
        }
        if self.beat.q.val().get_bit(1) {
            self.beat_at.next = self.beat_at.val() + (self.beat_shift.val() << 1);
        }
        self.cw_data.next = bit_cast::<W, 256>(self.cqes.data_out.val().data >> self.beat_at.val());
        self.cw_last.next = self.beat.q.val() == self.last_beat.val();
        self.cqes.read.next = false;
        if self.cw_desc_valid.val() & self.cw_desc_ready.val() {
            self.desc_sent.d.next = true;
        }
        if self.cw_valid.val() & self.cw_ready.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            if self.cw_last.val() {
                self.data_sent.d.next = true;
            }
        }
        if self.desc_sent.q.val() & self.data_sent.q.val() {
            self.cqes.read.next = true;
            self.desc_sent.d.next = false;
            self.data_sent.d.next = false;
            self.beat.d.next = 0.into();
        }
        if self.reset.val() {
            self.step.d.next = Step::Clear;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
            self.cfg_held.d.next = false;
            self.cfg_read.d.next = false;
            self.scanning.d.next = false;
            self.favour.d.next = false;
            self.beat.d.next = 0.into();
            self.desc_sent.d.next = false;
            self.data_sent.d.next = false;
        }
    }
}
