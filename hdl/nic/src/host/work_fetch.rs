//! work_fetch: takes WQEs from the send queues in host memory.
//! In: `doorbell`, cfg tables CONN, QP and KEY, releases `rel_conn` and `rel_qp`, the WQE read port `cr`. Out: `msgrow`, `cmsg`, `msg`.
//! Guarantees: never more than M messages of a QP and conn_fifo messages of a connection outstanding; the checks of W1; the three outputs
//! of a WQE are made in one clock, in the order of the stream. As many WQE reads are outstanding as payload reads (dr_outstanding).
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::tx::run_list::RunList;
use mrnic_emit::comment;
use mrnic_regs::{ring, table};
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// What software configured of a send queue.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SqFixed {
    pub valid: Bit,
    pub conn: Bits<16>,
    pub peer_qpn: Bits<24>,
    pub pd: Bits<16>,
    pub base: Bits<64>,
    pub log2: Bits<4>,
}

/// Where a send queue stands.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SqState {
    pub producer: Bits<16>,
    pub consumer: Bits<16>,
    /// Messages taken so far, modulo 2^16; released ones are counted apart.
    pub issued: Bits<16>,
    pub msn: Bits<24>,
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
}

/// A memory region as far as local reads need it.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct LocalKey {
    pub valid: Bit,
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
}

/// The side that judges WQEs.
#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Judge {
    Idle,
    Row,
    Offset,
    Left,
    Verdict,
    Send,
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
    assert!(ring::wqe::BYTES == 64);
};

/// See the module documentation.
#[derive(LogicBlock)]
pub struct WorkFetch<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
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
    /// 0 WRITE, 1 WRITE with immediate, 2 SEND, 3 SEND with immediate.
    pub msgrow_opcode: Signal<Out, Bits<2>>,
    pub msgrow_imm: Signal<Out, Bits<32>>,
    /// Which of the peer's receives a consuming message (opcode 1, 2, 3) uses.
    pub msgrow_rq_seq: Signal<Out, Bits<24>>,
    /// Solicited; of consuming messages only.
    pub msgrow_sol: Signal<Out, Bit>,
    pub cmsg_valid: Signal<Out, Bit>,
    pub cmsg_ready: Signal<In, Bit>,
    pub cmsg_wr_id: Signal<Out, Bits<64>>,
    pub cmsg_signaled: Signal<Out, Bit>,
    pub cmsg_opcode: Signal<Out, Bits<8>>,
    /// 0, or why the WQE was refused.
    pub cmsg_status: Signal<Out, Bits<8>>,
    pub cmsg_wqe_index: Signal<Out, Bits<16>>,
    pub msg_valid: Signal<Out, Bit>,
    pub msg_ready: Signal<In, Bit>,
    /// Of `msg` and `cmsg` alike.
    pub msg_conn: Signal<Out, Bits<16>>,
    pub msg_qp: Signal<Out, Bits<16>>,
    pub msg_msn: Signal<Out, Bits<24>>,
    pub msg_npkts: Signal<Out, Bits<24>>,
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
    runnable: RunList,
    pending: Fifo<PendingWqe>,
    reads: Fifo<Bits<64>>,
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
    new_state: Signal<Local, SqState>,
    old_state: Signal<Local, SqState>,
    new_fixed: Signal<Local, SqFixed>,
    new_key: Signal<Local, LocalKey>,
    new_pending: Signal<Local, PendingWqe>,
    cfg_conn: Signal<Local, Bit>,
    cfg_qp: Signal<Local, Bit>,
    cfg_key: Signal<Local, Bit>,
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
    judge: DFF<Judge>,
    wqe: DFF<Bits<512>>,
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
            sends: Constant::new(config.sends),
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
            clock, reset, doorbell_valid, doorbell_ready, doorbell_qp, doorbell_index, cfg_valid, cfg_table, cfg_index, cfg_data,
            cfg_busy, rel_conn_valid, rel_conn_ready, rel_conn, rel_qp_valid, rel_qp_ready, rel_qp, qperr_addr, qperr_data,
            cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid, cr_ready, cr_data, cr_last, msgrow_ask, msgrow_ready, msgrow_write,
            msgrow_addr, msgrow_laddr, msgrow_raddr, msgrow_rkey, msgrow_length, msgrow_peer_qpn, msgrow_opcode, msgrow_imm,
            msgrow_rq_seq, msgrow_sol, cmsg_valid, cmsg_ready,
            cmsg_wr_id, cmsg_signaled, cmsg_opcode, cmsg_status, cmsg_wqe_index, msg_valid, msg_ready, msg_conn, msg_qp, msg_msn,
            msg_npkts, msg_length, init_done, commit_valid, commit_data, issue, walk, cleared, cfg_held, held_table, held_index,
            held_data, id, bell_index, row, at, qp_released, new_state, old_state, new_fixed, new_key, new_pending, cfg_conn, cfg_qp,
            cfg_key, has_work, may_issue, qp_out, conn_out, offset_in_ring, ring_mask, rel_q_busy, rel_q_id, rel_c_busy, rel_c_id,
            refused_valid, refused_conn, collect, collected, judge, wqe, ctx, key, key_ok, flushed, bad_opcode, bad_length, zero,
            offset, key_length, key_dma, left, beyond, wraps, laddr, rounded, npkts, status, difference, reach, room, shifted, length, refused,
            fire, opcode, consuming, released_q_next, released_c_next,
        })
    }
}

impl<const W: usize> Logic for WorkFetch<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module work_fetch: WQEs from host memory to messages");
        dff_setup!(
            self,
            clock,
            issue,
            walk,
            cleared,
            cfg_held,
            held_table,
            held_index,
            held_data,
            id,
            bell_index,
            row,
            at,
            qp_released,
            rel_q_busy,
            rel_q_id,
            rel_c_busy,
            rel_c_id,
            refused_valid,
            refused_conn,
            collect,
            collected,
            judge,
            wqe,
            ctx,
            key_ok,
            flushed,
            bad_opcode,
            bad_length,
            zero,
            offset,
            key_length,
            key_dma,
            left,
            beyond,
            wraps,
            laddr,
            rounded,
            npkts,
            status
        );
        clock!(
            self,
            clock,
            fixed,
            state,
            released_qp,
            released_qp_copy,
            issued_conn,
            released_conn,
            released_conn_copy,
            mtu,
            keys,
            rq_seqs,
            runnable,
            pending,
            reads
        );
        self.runnable.reset.next = self.reset.val();
        self.pending.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();

        comment!("configuration waits in a buffer");
        if self.cfg_valid.val() & ((self.cfg_table.val() == 1) | (self.cfg_table.val() == 3) | (self.cfg_table.val() == 4)) {
            self.cfg_held.d.next = true;
            self.held_table.d.next = self.cfg_table.val();
            self.held_index.d.next = self.cfg_index.val();
            self.held_data.d.next = self.cfg_data.val().get_bits::<320>(0);
        }
        self.cfg_busy.next = self.cfg_held.q.val();
        self.cfg_conn.next = self.held_table.q.val() == 1;
        self.cfg_qp.next = self.held_table.q.val() == 3;
        self.cfg_key.next = self.held_table.q.val() == 4;
        self.new_fixed.next.valid = self.held_data.q.val().get_bit(0);
        self.new_fixed.next.conn = self.held_data.q.val().get_bits::<16>(16);
        self.new_fixed.next.peer_qpn = self.held_data.q.val().get_bits::<24>(32);
        self.new_fixed.next.base = self.held_data.q.val().get_bits::<64>(64);
        self.new_fixed.next.log2 = self.held_data.q.val().get_bits::<4>(128);
        self.new_fixed.next.pd = self.held_data.q.val().get_bits::<16>(224);
        self.new_key.next.valid = self.held_data.q.val().get_bit(0);
        self.new_key.next.key_low = self.held_data.q.val().get_bits::<8>(8);
        self.new_key.next.pd = self.held_data.q.val().get_bits::<16>(16);
        self.new_key.next.base = self.held_data.q.val().get_bits::<64>(32);
        self.new_key.next.length = self.held_data.q.val().get_bits::<64>(96);
        self.new_key.next.dma_base = self.held_data.q.val().get_bits::<64>(160);

        comment!("defaults of the look-up side");
        self.doorbell_ready.next = false;
        self.runnable.pop.next = false;
        self.runnable.push_valid.next = false;
        self.runnable.push_id.next = self.id.q.val();
        self.fixed.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.state.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.released_qp.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.issued_conn.read_address.next = bit_cast::<24, 16>(self.fixed.read_data.val().conn);
        self.released_conn.read_address.next = bit_cast::<24, 16>(self.fixed.read_data.val().conn);
        self.mtu.read_address.next = bit_cast::<24, 16>(self.fixed.read_data.val().conn);
        self.fixed.write_enable.next = false;
        self.fixed.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.fixed.write_data.next = self.new_fixed.val();
        self.keys.write_enable.next = false;
        self.keys.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.keys.write_data.next = self.new_key.val();
        self.mtu.write_enable.next = false;
        self.mtu.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.mtu.write_data.next = self.held_data.q.val().get_bits::<4>(8);
        self.state.write_enable.next = false;
        self.state.write_address.next = bit_cast::<24, 16>(self.id.q.val());
        self.issued_conn.write_enable.next = false;
        self.issued_conn.write_address.next = bit_cast::<24, 16>(self.row.q.val().conn);
        self.issued_conn.write_data.next = self.issued_conn.read_data.val() + 1;
        self.rq_seqs.write_enable.next = false;
        self.rq_seqs.write_address.next = 0.into();
        self.rq_seqs.write_data.next = 0.into();
        self.new_state.next = self.at.q.val();
        self.old_state.next = self.at.q.val();
        self.pending.write.next = false;
        self.reads.write.next = false;

        comment!("releases: messages that left a connection's ring or completed");
        self.released_qp_copy.read_address.next = bit_cast::<24, 16>(self.rel_qp.val());
        self.rel_qp_ready.next = !self.rel_q_busy.q.val() & self.cleared.q.val();
        self.rel_q_busy.d.next = self.rel_qp_valid.val() & !self.rel_q_busy.q.val() & self.cleared.q.val();
        self.rel_q_id.d.next = self.rel_qp.val();
        self.released_q_next.next = self.released_qp_copy.read_data.val() + 1;
        self.released_qp.write_enable.next = self.rel_q_busy.q.val();
        self.released_qp.write_address.next = bit_cast::<24, 16>(self.rel_q_id.q.val());
        self.released_qp.write_data.next = self.released_q_next.val();
        self.released_conn_copy.read_address.next = bit_cast::<24, 16>(self.rel_conn.val());
        if self.refused_valid.q.val() {
            self.released_conn_copy.read_address.next = bit_cast::<24, 16>(self.refused_conn.q.val());
        }
        self.rel_conn_ready.next = !self.rel_c_busy.q.val() & !self.refused_valid.q.val() & self.cleared.q.val();
        self.rel_c_busy.d.next = false;
        if !self.rel_c_busy.q.val() & self.cleared.q.val() {
            if self.refused_valid.q.val() {
                self.rel_c_busy.d.next = true;
                self.rel_c_id.d.next = self.refused_conn.q.val();
                self.refused_valid.d.next = false;
            } else if self.rel_conn_valid.val() {
                self.rel_c_busy.d.next = true;
                self.rel_c_id.d.next = self.rel_conn.val();
            }
        }
        self.released_c_next.next = self.released_conn_copy.read_data.val() + 1;
        self.released_conn.write_enable.next = self.rel_c_busy.q.val();
        self.released_conn.write_address.next = bit_cast::<24, 16>(self.rel_c_id.q.val());
        self.released_conn.write_data.next = self.released_c_next.val();

        comment!("look-up side: which WQE is read next");
        self.qp_out.next = self.at.q.val().issued - self.qp_released.q.val();
        self.conn_out.next = self.issued_conn.read_data.val() - self.released_conn.read_data.val();
        self.has_work.next = self.row.q.val().valid & (self.at.q.val().producer != self.at.q.val().consumer);
        self.may_issue.next =
            self.has_work.val() & (self.qp_out.val() < self.messages.val()) & (self.conn_out.val() < self.conn_depth.val());
        self.ring_mask.next = (self.one16.val() << self.row.q.val().log2) - 1;
        self.offset_in_ring.next = bit_cast::<64, 16>(self.at.q.val().consumer & self.ring_mask.val()) << 6;
        self.reads.data_in.next = self.row.q.val().base + self.offset_in_ring.val();
        self.new_pending.next.qp = self.id.q.val();
        self.new_pending.next.index = self.at.q.val().consumer;
        self.new_pending.next.msn = self.at.q.val().msn;
        self.new_pending.next.conn = self.row.q.val().conn;
        self.new_pending.next.pd = self.row.q.val().pd;
        self.new_pending.next.peer_qpn = self.row.q.val().peer_qpn;
        self.new_pending.next.mtu_log2 = self.mtu.read_data.val();
        self.pending.data_in.next = self.new_pending.val();
        match self.issue.q.val() {
            Issue::Clear => {
                comment!("every table starts empty");
                self.walk.d.next = self.walk.q.val() + 1;
                self.fixed.write_enable.next = true;
                self.fixed.write_address.next = self.walk.q.val();
                self.new_fixed.next.valid = false;
                self.fixed.write_data.next = self.new_fixed.val();
                self.keys.write_enable.next = true;
                self.keys.write_address.next = self.walk.q.val();
                self.new_key.next.valid = false;
                self.keys.write_data.next = self.new_key.val();
                self.mtu.write_enable.next = true;
                self.mtu.write_address.next = self.walk.q.val();
                self.mtu.write_data.next = 0.into();
                self.rq_seqs.write_enable.next = true;
                if self.sends.val() {
                    self.rq_seqs.write_address.next = self.walk.q.val();
                }
                self.new_state.next.producer = 0.into();
                self.new_state.next.consumer = 0.into();
                self.new_state.next.issued = 0.into();
                self.new_state.next.msn = 0.into();
                self.state.write_enable.next = true;
                self.state.write_address.next = self.walk.q.val();
                self.issued_conn.write_enable.next = true;
                self.issued_conn.write_address.next = self.walk.q.val();
                self.issued_conn.write_data.next = 0.into();
                self.released_qp.write_enable.next = true;
                self.released_qp.write_address.next = self.walk.q.val();
                self.released_qp.write_data.next = 0.into();
                self.released_conn.write_enable.next = true;
                self.released_conn.write_address.next = self.walk.q.val();
                self.released_conn.write_data.next = 0.into();
                if self.walk.q.val() == self.last_walk.val() {
                    self.issue.d.next = Issue::Idle;
                    self.cleared.d.next = true;
                }
            }
            Issue::Idle => {
                if self.cfg_held.q.val()
                    & !self.rel_q_busy.q.val()
                    & (!self.cfg_qp.val()
                        | (self.pending.empty.val() & !self.collected.q.val() & (self.judge.q.val() == Judge::Idle)))
                {
                    comment!("a queue pair starts with nothing outstanding, after the WQEs that are under way");
                    self.cfg_held.d.next = false;
                    if self.cfg_qp.val() {
                        self.fixed.write_enable.next = true;
                        self.new_state.next.producer = 0.into();
                        self.new_state.next.consumer = 0.into();
                        self.new_state.next.issued = 0.into();
                        self.new_state.next.msn = self.held_data.q.val().get_bits::<24>(256);
                        self.state.write_enable.next = true;
                        self.state.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                        self.released_qp.write_enable.next = true;
                        self.released_qp.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                        self.released_qp.write_data.next = 0.into();
                        self.rq_seqs.write_enable.next = true;
                        if self.sends.val() {
                            self.rq_seqs.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                        }
                    }
                    if self.cfg_conn.val() {
                        comment!("its messages are counted on: those of an earlier life are released too");
                        self.mtu.write_enable.next = true;
                    }
                    if self.cfg_key.val() {
                        self.keys.write_enable.next = true;
                    }
                } else if self.doorbell_valid.val() {
                    self.doorbell_ready.next = true;
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.doorbell_qp.val());
                    self.state.read_address.next = bit_cast::<24, 16>(self.doorbell_qp.val());
                    self.id.d.next = self.doorbell_qp.val();
                    self.bell_index.d.next = self.doorbell_index.val();
                    self.issue.d.next = Issue::Bell;
                } else if !self.cfg_held.q.val()
                    & !self.runnable.empty.val()
                    & !self.pending.full.val()
                    & !self.reads.full.val()
                {
                    self.runnable.pop.next = true;
                    self.id.d.next = self.runnable.id.val();
                    self.issue.d.next = Issue::Look;
                }
            }
            Issue::Bell => {
                self.issue.d.next = Issue::Idle;
                if self.fixed.read_data.val().valid {
                    self.new_state.next = self.state.read_data.val();
                    self.new_state.next.producer = self.bell_index.q.val();
                    self.state.write_enable.next = true;
                    self.runnable.push_valid.next = true;
                }
            }
            Issue::Look => {
                self.row.d.next = self.fixed.read_data.val();
                self.at.d.next = self.state.read_data.val();
                self.qp_released.d.next = self.released_qp.read_data.val();
                self.issue.d.next = Issue::Decide;
            }
            Issue::Decide => {
                self.issue.d.next = Issue::Idle;
                if self.may_issue.val() {
                    self.pending.write.next = true;
                    self.reads.write.next = true;
                    self.new_state.next.consumer = self.old_state.val().consumer + 1;
                    self.new_state.next.issued = self.old_state.val().issued + 1;
                    self.new_state.next.msn = self.old_state.val().msn + 1;
                    self.state.write_enable.next = true;
                    self.issued_conn.write_enable.next = true;
                }
                if self.has_work.val()
                    & (!self.may_issue.val() | (self.new_state.val().consumer != self.new_state.val().producer))
                {
                    self.runnable.push_valid.next = true;
                }
            }
        }
        self.state.write_data.next = self.new_state.val();
        self.released_qp_copy.write_enable.next = self.released_qp.write_enable.val();
        self.released_qp_copy.write_address.next = self.released_qp.write_address.val();
        self.released_qp_copy.write_data.next = self.released_qp.write_data.val();
        self.released_conn_copy.write_enable.next = self.released_conn.write_enable.val();
        self.released_conn_copy.write_address.next = self.released_conn.write_address.val();
        self.released_conn_copy.write_data.next = self.released_conn.write_data.val();
        self.cr_desc_valid.next = !self.reads.empty.val();
        self.cr_desc_addr.next = self.reads.data_out.val();
        self.cr_desc_len.next = 64.into();
        self.reads.read.next = !self.reads.empty.val() & self.cr_desc_ready.val();

        comment!("collect the beats of a WQE");
        self.cr_ready.next = !self.collected.q.val();
        if self.cr_valid.val() & !self.collected.q.val() {
            self.collect.d.next = (self.collect.q.val() >> self.shift_down.val())
                | (bit_cast::<512, W>(self.cr_data.val()) << self.shift_in.val());
            self.collected.d.next = self.cr_last.val();
        }

        comment!("judge it (W1)");
        self.pending.read.next = false;
        self.keys.read_address.next = bit_cast::<24, 32>(self.wqe.q.val().get_bits::<32>(32) >> 8);
        self.qperr_addr.next = self.ctx.q.val().qp;
        self.key.next = self.keys.read_data.val();
        self.length.next = self.wqe.q.val().get_bits::<32>(224);
        self.opcode.next = self.wqe.q.val().get_bits::<8>(0);
        self.consuming.next = self.opcode.val().get_bits::<2>(0).any();
        self.rq_seqs.read_address.next = 0.into();
        if self.sends.val() {
            self.rq_seqs.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        }
        self.difference.next =
            bit_cast::<65, 64>(self.wqe.q.val().get_bits::<64>(64)) - bit_cast::<65, 64>(self.key.val().base);
        self.reach.next = bit_cast::<65, 64>(self.wqe.q.val().get_bits::<64>(64)) + bit_cast::<65, 32>(self.length.val());
        self.room.next = bit_cast::<65, 64>(self.key_length.q.val()) - bit_cast::<65, 64>(self.offset.q.val());
        self.shifted.next = self.rounded.q.val() >> self.ctx.q.val().mtu_log2;
        self.refused.next = self.status.q.val() != 0;
        self.fire.next = (self.judge.q.val() == Judge::Send)
            & self.cmsg_ready.val()
            & ((self.msg_ready.val() & self.msgrow_ready.val()) | self.refused.val())
            & !(self.refused.val() & self.refused_valid.q.val());
        match self.judge.q.val() {
            Judge::Idle => {
                if self.collected.q.val() & !self.pending.empty.val() {
                    self.wqe.d.next = self.collect.q.val();
                    self.ctx.d.next = self.pending.data_out.val();
                    self.pending.read.next = true;
                    self.collected.d.next = false;
                    self.judge.d.next = Judge::Row;
                }
            }
            Judge::Row => {
                self.judge.d.next = Judge::Offset;
            }
            Judge::Offset => {
                self.flushed.d.next = self.qperr_data.val();
                self.bad_opcode.d.next = self.opcode.val().get_bits::<6>(2).any() | (!self.sends.val() & self.consuming.val());
                self.bad_length.d.next = self.length.val() > self.longest.val();
                self.zero.d.next = self.length.val() == 0;
                self.key_ok.d.next = self.key.val().valid
                    & (self.key.val().key_low == self.wqe.q.val().get_bits::<8>(32))
                    & (self.key.val().pd == self.ctx.q.val().pd)
                    & ((self.wqe.q.val().get_bits::<32>(32) >> 8) < self.key_count.val())
                    & !self.difference.val().get_bit(64);
                self.wraps.d.next = self.reach.val().get_bit(64);
                self.offset.d.next = self.difference.val().get_bits::<64>(0);
                self.key_length.d.next = self.key.val().length;
                self.key_dma.d.next = self.key.val().dma_base;
                self.rounded.d.next =
                    self.length.val() + ((bit_cast::<32, 16>(self.one16.val()) << self.ctx.q.val().mtu_log2) - 1);
                self.judge.d.next = Judge::Left;
            }
            Judge::Left => {
                self.beyond.d.next = self.room.val().get_bit(64);
                self.left.d.next = self.room.val().get_bits::<64>(0);
                self.laddr.d.next = self.key_dma.q.val() + self.offset.q.val();
                self.npkts.d.next = self.shifted.val().get_bits::<24>(0);
                if self.zero.q.val() {
                    self.npkts.d.next = 1.into();
                }
                self.judge.d.next = Judge::Verdict;
            }
            Judge::Verdict => {
                self.status.d.next = 0.into();
                if self.flushed.q.val() {
                    self.status.d.next = 5.into();
                } else if self.bad_opcode.q.val() {
                    self.status.d.next = 2.into();
                } else if self.bad_length.q.val() {
                    self.status.d.next = 1.into();
                } else if !self.zero.q.val()
                    & (!self.key_ok.q.val()
                        | self.beyond.q.val()
                        | self.wraps.q.val()
                        | (self.left.q.val() < bit_cast::<64, 32>(self.length.val())))
                {
                    self.status.d.next = 4.into();
                }
                self.judge.d.next = Judge::Send;
            }
            Judge::Send => {
                if self.fire.val() {
                    self.judge.d.next = Judge::Idle;
                    if self.refused.val() {
                        self.refused_valid.d.next = true;
                        self.refused_conn.d.next = self.ctx.q.val().conn;
                    } else if self.consuming.val() & self.sends.val() {
                        comment!("section 11: rq_seq counts what uses a receive of the peer");
                        self.rq_seqs.write_enable.next = true;
                        self.rq_seqs.write_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
                        self.rq_seqs.write_data.next = self.rq_seqs.read_data.val() + 1;
                    }
                }
            }
        }
        self.msgrow_ask.next = (self.judge.q.val() == Judge::Send) & !self.refused.val();
        self.msgrow_write.next = self.fire.val() & !self.refused.val();
        self.msgrow_addr.next = (bit_cast::<24, 16>(self.ctx.q.val().qp) << self.message_log2.val())
            | (self.ctx.q.val().msn & self.message_mask.val());
        self.msgrow_laddr.next = self.laddr.q.val();
        self.msgrow_raddr.next = self.wqe.q.val().get_bits::<64>(128);
        self.msgrow_rkey.next = self.wqe.q.val().get_bits::<32>(192);
        self.msgrow_length.next = self.length.val();
        self.msgrow_peer_qpn.next = self.ctx.q.val().peer_qpn;
        self.msgrow_opcode.next = self.opcode.val().get_bits::<2>(0);
        self.msgrow_imm.next = self.wqe.q.val().get_bits::<32>(256);
        self.msgrow_rq_seq.next = self.rq_seqs.read_data.val();
        self.msgrow_sol.next = self.wqe.q.val().get_bit(10) & self.consuming.val();
        self.cmsg_valid.next = self.fire.val();
        self.cmsg_wr_id.next = self.wqe.q.val().get_bits::<64>(320);
        self.cmsg_signaled.next = self.wqe.q.val().get_bit(8);
        self.cmsg_opcode.next = self.opcode.val();
        self.cmsg_status.next = self.status.q.val();
        self.cmsg_wqe_index.next = self.ctx.q.val().index;
        self.msg_valid.next = self.fire.val() & !self.refused.val();
        self.msg_conn.next = self.ctx.q.val().conn;
        self.msg_qp.next = self.ctx.q.val().qp;
        self.msg_msn.next = self.ctx.q.val().msn;
        self.msg_npkts.next = self.npkts.q.val();
        self.msg_length.next = self.length.val();
        self.commit_valid.next = self.fire.val();
        self.commit_data.next = self.wqe.q.val();
        self.init_done.next = self.cleared.q.val() & self.runnable.init_done.val();

        if self.reset.val() {
            self.issue.d.next = Issue::Clear;
            self.walk.d.next = 0.into();
            self.cleared.d.next = false;
            self.cfg_held.d.next = false;
            self.rel_q_busy.d.next = false;
            self.rel_c_busy.d.next = false;
            self.refused_valid.d.next = false;
            self.collect.d.next = 0.into();
            self.collected.d.next = false;
            self.judge.d.next = Judge::Idle;
            self.status.d.next = 0.into();
        }
    }
}
