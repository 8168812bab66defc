//! work_fetch's two sides: the one that looks for work and asks for WQEs, and the one that judges what comes.
//! In and out: see the parent module. Guarantees: each table has one writer; a release, a done request and a WQE set back are each counted once.
use super::{Issue, Judge, WorkFetch};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

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
            status,
            limit,
            look_out,
            opened,
            over_adds,
            over_waits,
            over_id,
            back_valid,
            back_fence,
            judge_out,
            stale,
            early,
            collect_list,
            list,
            piece,
            total,
            refused_piece
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
            most,
            tags,
            taken_judge,
            taken_look,
            over_judge,
            over_look,
            over_count,
            generations,
            runnable,
            pending,
            reads
        );
        self.runnable.reset.next = self.reset.val();
        self.pending.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();

        comment!("configuration waits in a buffer");
        if self.cfg_valid.val()
            & ((self.cfg_table.val() == 1)
                | (self.cfg_table.val() == 3)
                | (self.cfg_table.val() == 4)
                | (self.has_reads.val() & (self.cfg_table.val() == 5)))
        {
            self.cfg_held.d.next = true;
            self.held_table.d.next = self.cfg_table.val();
            self.held_index.d.next = self.cfg_index.val();
            self.held_data.d.next = self.cfg_data.val().get_bits::<320>(0);
        }
        self.cfg_busy.next = self.cfg_held.q.val();
        self.cfg_conn.next = self.held_table.q.val() == 1;
        self.cfg_qp.next = self.held_table.q.val() == 3;
        self.cfg_key.next = self.held_table.q.val() == 4;
        self.cfg_limits.next = self.held_table.q.val() == 5;
        self.new_fixed.next.valid = self.held_data.q.val().get_bit(0);
        self.new_fixed.next.conn = self.held_data.q.val().get_bits::<16>(16);
        self.new_fixed.next.peer_qpn = self.held_data.q.val().get_bits::<24>(32);
        self.new_fixed.next.base = self.held_data.q.val().get_bits::<64>(64);
        self.new_fixed.next.log2 = self.held_data.q.val().get_bits::<4>(128);
        self.new_fixed.next.pd = self.held_data.q.val().get_bits::<16>(224);
        self.new_fixed.next.lists = self.held_data.q.val().get_bit(6) & self.has_lists.val();
        comment!("D1: the limit comes with the row QP, and once more when the program has named it");
        self.new_most.next = self.held_data.q.val().get_bits::<8>(280);
        if self.cfg_limits.val() {
            self.new_most.next = self.held_data.q.val().get_bits::<8>(8);
        }
        self.new_key.next.local_write = self.held_data.q.val().get_bit(1);
        self.new_key.next.valid = self.held_data.q.val().get_bit(0);
        self.new_key.next.key_low = self.held_data.q.val().get_bits::<8>(8);
        self.new_key.next.pd = self.held_data.q.val().get_bits::<16>(16);
        self.new_key.next.base = self.held_data.q.val().get_bits::<64>(32);
        self.new_key.next.length = self.held_data.q.val().get_bits::<64>(96);
        self.new_key.next.dma_base = self.held_data.q.val().get_bits::<64>(160);

        comment!("defaults of the look-up side");
        self.doorbell_ready.next = false;
        self.pops.next = false;
        self.pushes.next = false;
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
        self.most.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.most.write_enable.next = false;
        self.most.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.most.write_data.next = self.new_most.val();
        self.tags.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.tags.write_enable.next = false;
        self.tags.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.tags.write_data.next = self.opened.q.val() + 1;
        self.read_limit.next.most = self.most.read_data.val();
        self.read_limit.next.tag = self.tags.read_data.val();
        self.taken_look.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.over_look.read_address.next = bit_cast::<24, 16>(self.runnable.id.val());
        self.counts_clear.next = false;
        self.counts_at.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.generation_write.next = false;
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

        comment!("D1: a READ or an atomic is over; its count is written one clock later");
        self.over_count.read_address.next = bit_cast::<24, 16>(self.request_done_qp.val());
        self.over_adds.d.next = self.request_done.val() & self.has_reads.val() & self.cleared.q.val();
        if self.over_adds.d.val() {
            self.over_id.d.next = self.request_done_qp.val();
        }

        comment!("look-up side: which WQE is read next");
        self.qp_out.next = self.at.q.val().issued - self.qp_released.q.val();
        self.conn_out.next = self.issued_conn.read_data.val() - self.released_conn.read_data.val();
        comment!("D1: what was set back waits until it may enter");
        self.blocked.next = self.at.q.val().blocked & (self.look_out.q.val() >= self.limit.q.val().most);
        if self.at.q.val().blocked & self.at.q.val().fence & self.look_out.q.val().any() {
            self.blocked.next = true;
        }
        self.has_work.next = self.row.q.val().valid
            & (self.at.q.val().producer != self.at.q.val().consumer)
            & !(self.has_reads.val() & self.blocked.val());
        self.may_issue.next =
            self.has_work.val() & (self.qp_out.val() < self.messages.val()) & (self.conn_out.val() < self.conn_depth.val());
        self.ring_mask.next = (self.one16.val() << self.row.q.val().log2) - 1;
        self.offset_in_ring.next = bit_cast::<64, 16>(self.at.q.val().consumer & self.ring_mask.val()) << 6;
        self.wide_offset.next = self.offset_in_ring.val();
        if self.row.q.val().lists & self.has_lists.val() {
            self.wide_offset.next = self.offset_in_ring.val() << 1;
        }
        self.new_read.next.addr = self.row.q.val().base + self.wide_offset.val();
        self.new_read.next.lists = self.row.q.val().lists;
        self.reads.data_in.next = self.new_read.val();
        self.new_pending.next.qp = self.id.q.val();
        self.new_pending.next.index = self.at.q.val().consumer;
        self.new_pending.next.msn = self.at.q.val().msn;
        self.new_pending.next.conn = self.row.q.val().conn;
        self.new_pending.next.pd = self.row.q.val().pd;
        self.new_pending.next.peer_qpn = self.row.q.val().peer_qpn;
        self.new_pending.next.mtu_log2 = self.mtu.read_data.val();
        self.new_pending.next.requests = self.limit.q.val();
        self.new_pending.next.generation = self.at.q.val().generation;
        self.new_pending.next.lists = self.row.q.val().lists;
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
                self.new_state.next.blocked = false;
                self.new_state.next.fence = false;
                self.new_state.next.generation = false;
                self.counts_clear.next = true;
                self.counts_at.next = self.walk.q.val();
                self.most.write_enable.next = true;
                self.most.write_address.next = self.walk.q.val();
                self.tags.write_enable.next = true;
                self.tags.write_address.next = self.walk.q.val();
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
                if self.back_valid.q.val() {
                    self.id.d.next = self.ctx.q.val().qp;
                    self.state.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
                    self.issue.d.next = Issue::SetBack;
                } else if self.cfg_held.q.val()
                    & !self.rel_q_busy.q.val()
                    & !self.over_adds.q.val()
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
                        self.new_state.next.blocked = false;
                        self.new_state.next.fence = false;
                        self.new_state.next.generation = false;
                        self.counts_clear.next = true;
                        self.most.write_enable.next = true;
                        self.tags.write_enable.next = true;
                        if self.new_fixed.val().valid & self.has_reads.val() {
                            self.opened.d.next = self.opened.q.val() + 1;
                        }
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
                    if self.cfg_limits.val() {
                        self.most.write_enable.next = true;
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
                    & !self.over_waits.q.val()
                {
                    self.pops.next = true;
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
                    self.pushes.next = true;
                }
            }
            Issue::Look => {
                self.row.d.next = self.fixed.read_data.val();
                self.at.d.next = self.state.read_data.val();
                self.qp_released.d.next = self.released_qp.read_data.val();
                self.limit.d.next = self.read_limit.val();
                self.look_out.d.next = self.taken_look.read_data.val() - self.over_look.read_data.val();
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
                    self.new_state.next.blocked = false;
                    self.state.write_enable.next = true;
                    self.issued_conn.write_enable.next = true;
                }
                if self.has_work.val()
                    & (!self.may_issue.val() | (self.new_state.val().consumer != self.new_state.val().producer))
                {
                    self.pushes.next = true;
                }
            }
            Issue::SetBack => {
                comment!("D1: the ring is read again from there; whoever waits is looked at once more, for a request may be over by now");
                self.old_state.next = self.state.read_data.val();
                self.new_state.next = self.old_state.val();
                self.new_state.next.consumer = self.ctx.q.val().index;
                self.new_state.next.issued =
                    self.old_state.val().issued - (self.old_state.val().consumer - self.ctx.q.val().index);
                self.new_state.next.msn = self.ctx.q.val().msn;
                self.new_state.next.blocked = true;
                self.new_state.next.fence = self.back_fence.q.val();
                self.new_state.next.generation = !self.old_state.val().generation;
                self.state.write_enable.next = true;
                self.generation_write.next = true;
                self.back_valid.d.next = false;
                self.pushes.next = true;
                self.issue.d.next = Issue::Idle;
            }
        }
        comment!("D1: who waits for the request is looked at, once the count is written; never in the clock of a look");
        if self.over_adds.q.val() {
            self.over_waits.d.next = true;
        }
        self.runnable.pop.next = self.pops.val();
        self.runnable.push_valid.next = self.pushes.val();
        if (self.over_adds.q.val() | self.over_waits.q.val()) & !self.pops.val() & !self.pushes.val() {
            self.runnable.push_valid.next = true;
            self.runnable.push_id.next = self.over_id.q.val();
            self.over_waits.d.next = false;
        }
        self.state.write_data.next = self.new_state.val();
        self.over_judge.write_enable.next = self.counts_clear.val() | self.over_adds.q.val();
        self.over_judge.write_address.next = bit_cast::<24, 16>(self.over_id.q.val());
        self.over_judge.write_data.next = self.over_count.read_data.val() + 1;
        if self.counts_clear.val() {
            self.over_judge.write_address.next = self.counts_at.val();
            self.over_judge.write_data.next = 0.into();
        }
        self.over_look.write_enable.next = self.over_judge.write_enable.val();
        self.over_look.write_address.next = self.over_judge.write_address.val();
        self.over_look.write_data.next = self.over_judge.write_data.val();
        self.over_count.write_enable.next = self.over_judge.write_enable.val();
        self.over_count.write_address.next = self.over_judge.write_address.val();
        self.over_count.write_data.next = self.over_judge.write_data.val();
        self.released_qp_copy.write_enable.next = self.released_qp.write_enable.val();
        self.released_qp_copy.write_address.next = self.released_qp.write_address.val();
        self.released_qp_copy.write_data.next = self.released_qp.write_data.val();
        self.released_conn_copy.write_enable.next = self.released_conn.write_enable.val();
        self.released_conn_copy.write_address.next = self.released_conn.write_address.val();
        self.released_conn_copy.write_data.next = self.released_conn.write_data.val();
        self.cr_desc_valid.next = !self.reads.empty.val();
        self.next_read.next = self.reads.data_out.val();
        self.cr_desc_addr.next = self.next_read.val().addr;
        self.cr_desc_len.next = 64.into();
        if self.next_read.val().lists & self.has_lists.val() {
            self.cr_desc_len.next = 128.into();
        }
        self.reads.read.next = !self.reads.empty.val() & self.cr_desc_ready.val();

        comment!("collect the beats of a WQE");
        self.cr_ready.next = !self.collected.q.val();
        self.coming.next = self.pending.data_out.val();
        self.beats.next = 0.into();
        if self.cr_valid.val() & !self.collected.q.val() {
            comment!("a list comes behind its WQE and pushes it on");
            self.beats.next = bit_cast::<512, W>(self.cr_data.val()) << self.shift_in.val();
            if self.coming.val().lists & self.has_lists.val() {
                self.collect_list.d.next = (self.collect_list.q.val() >> self.shift_down.val()) | self.beats.val();
                self.beats.next = bit_cast::<512, W>(self.collect_list.q.val().get_bits::<W>(0)) << self.shift_in.val();
            }
            self.collect.d.next = (self.collect.q.val() >> self.shift_down.val()) | self.beats.val();
            self.collected.d.next = self.cr_last.val();
        }

        comment!("judge it (W1)");
        self.pending.read.next = false;
        self.opcode.next = self.wqe.q.val().get_bits::<8>(0);
        self.asks.next = self.has_reads.val() & self.opcode.val().get_bit(2);
        comment!("the piece that is judged: the WQE's own, or the next one of its list");
        self.listed.next = self.has_lists.val() & self.ctx.q.val().lists & (self.wqe.q.val().get_bits::<8>(16) > 1);
        self.bad_count.next = self.listed.val() & (self.wqe.q.val().get_bits::<8>(16) > self.most_sges.val());
        self.piece_lkey.next = self.wqe.q.val().get_bits::<32>(32);
        self.piece_addr.next = self.wqe.q.val().get_bits::<64>(64);
        self.piece_bytes.next = self.wqe.q.val().get_bits::<32>(224);
        self.length.next = self.piece_bytes.val();
        if self.listed.val() {
            self.piece_addr.next = self.list.q.val().get_bits::<64>(0);
            self.piece_bytes.next = self.list.q.val().get_bits::<32>(64);
            self.piece_lkey.next = self.list.q.val().get_bits::<32>(96);
            self.length.next = self.total.q.val().get_bits::<32>(0);
        }
        self.total_next.next = self.total.q.val() + bit_cast::<34, 32>(self.piece_bytes.val());
        self.bad_piece.next = !self.zero.q.val()
            & (!self.key_ok.q.val()
                | self.beyond.q.val()
                | self.wraps.q.val()
                | (self.left.q.val() < bit_cast::<64, 32>(self.piece_bytes.val())));
        self.keys.read_address.next = bit_cast::<24, 32>(self.piece_lkey.val() >> 8);
        self.qperr_addr.next = self.ctx.q.val().qp;
        self.key.next = self.keys.read_data.val();
        self.swaps.next = self.asks.val() & self.opcode.val().get_bits::<2>(0).any();
        self.consuming.next = self.opcode.val().get_bits::<2>(0).any() & !self.asks.val();
        self.taken_judge.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        self.over_judge.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        self.generations.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        self.rq_seqs.read_address.next = 0.into();
        if self.sends.val() {
            self.rq_seqs.read_address.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        }
        self.difference.next = bit_cast::<65, 64>(self.piece_addr.val()) - bit_cast::<65, 64>(self.key.val().base);
        self.reach.next = bit_cast::<65, 64>(self.piece_addr.val()) + bit_cast::<65, 32>(self.piece_bytes.val());
        self.room.next = bit_cast::<65, 64>(self.key_length.q.val()) - bit_cast::<65, 64>(self.offset.q.val());
        self.shifted.next = self.rounded.q.val() >> self.ctx.q.val().mtu_log2;
        self.refused.next = self.status.q.val() != 0;
        comment!("D1: not taken are what may not enter yet, and what was read behind it");
        self.takes.next = !self.has_reads.val() | !(self.stale.q.val() | (self.early.q.val() & !self.refused.val()));
        self.lets_go.next = (self.judge.q.val() == Judge::Send) & !self.takes.val() & !self.refused_valid.q.val();
        self.fire.next = (self.judge.q.val() == Judge::Send)
            & self.takes.val()
            & self.cmsg_ready.val()
            & ((self.msg_ready.val() & self.msgrow_ready.val()) | self.refused.val())
            & !(self.refused.val() & self.refused_valid.q.val());
        self.msgpiece_write.next = false;
        match self.judge.q.val() {
            Judge::Idle => {
                if self.collected.q.val() & !self.pending.empty.val() {
                    self.wqe.d.next = self.collect.q.val();
                    self.ctx.d.next = self.pending.data_out.val();
                    self.pending.read.next = true;
                    self.collected.d.next = false;
                    self.list.d.next = self.collect_list.q.val();
                    self.piece.d.next = 0.into();
                    self.total.d.next = 0.into();
                    self.refused_piece.d.next = false;
                    self.judge.d.next = Judge::Row;
                }
            }
            Judge::Row => {
                comment!("pieces go to the row of the message, which a resend of an earlier one may still need");
                if !self.listed.val() | self.bad_count.val() | self.msgrow_ready.val() {
                    self.judge.d.next = Judge::Offset;
                }
            }
            Judge::Offset => {
                self.flushed.d.next = self.qperr_data.val();
                self.bad_opcode.d.next = self.opcode.val().get_bits::<6>(2).any()
                    | (!self.sends.val() & self.consuming.val())
                    | self.bad_count.val();
                self.bad_length.d.next = self.length.val() > self.longest.val();
                self.stale.d.next = self.generations.read_data.val() != self.ctx.q.val().generation;
                self.judge_out.d.next = self.taken_judge.read_data.val() - self.over_judge.read_data.val();
                if self.asks.val() {
                    self.bad_opcode.d.next = self.opcode.val().get_bits::<5>(3).any()
                        | self.opcode.val().get_bits::<2>(0).all()
                        | self.bad_count.val()
                        | !self.ctx.q.val().requests.most.any();
                    if self.swaps.val() {
                        self.bad_length.d.next = self.length.val() != 8;
                    }
                }
                self.zero.d.next = self.piece_bytes.val() == 0;
                self.key_ok.d.next = self.key.val().valid
                    & (self.key.val().key_low == self.piece_lkey.val().get_bits::<8>(0))
                    & (self.key.val().pd == self.ctx.q.val().pd)
                    & (self.key.val().local_write | !self.asks.val())
                    & ((self.piece_lkey.val() >> 8) < self.key_count.val())
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
                if self.zero.q.val() | self.asks.val() {
                    self.npkts.d.next = 1.into();
                }
                comment!("D1: outstanding requests; those that are done meanwhile are seen at the next look");
                self.early.d.next = (self.asks.val() & (self.judge_out.q.val() >= self.ctx.q.val().requests.most))
                    | (self.wqe.q.val().get_bit(9) & self.judge_out.q.val().any() & (self.fault.val() != 21));
                self.judge.d.next = Judge::Verdict;
                if self.listed.val() & !self.bad_opcode.q.val() {
                    self.judge.d.next = Judge::Piece;
                }
            }
            Judge::Piece => {
                if self.has_lists.val() {
                    self.msgpiece_write.next = true;
                    self.refused_piece.d.next = self.refused_piece.q.val() | self.bad_piece.val();
                    self.total.d.next = self.total_next.val();
                    self.list.d.next = self.list.q.val() >> 128;
                    self.piece.d.next = self.piece.q.val() + 1;
                    self.judge.d.next = Judge::Row;
                    if bit_cast::<8, 2>(self.piece.q.val()) + 1 == self.wqe.q.val().get_bits::<8>(16) {
                        self.judge.d.next = Judge::Sum;
                    }
                }
            }
            Judge::Sum => {
                comment!("the message is as long as its pieces together");
                self.judge.d.next = Judge::Count;
                if self.has_lists.val() {
                    self.zero.d.next = self.total.q.val() == 0;
                    self.bad_length.d.next = self.total.q.val() > self.longest_34.val();
                    if self.swaps.val() {
                        self.bad_length.d.next = self.total.q.val() != 8;
                    }
                    self.rounded.d.next =
                        self.length.val() + ((bit_cast::<32, 16>(self.one16.val()) << self.ctx.q.val().mtu_log2) - 1);
                }
            }
            Judge::Count => {
                self.judge.d.next = Judge::Verdict;
                if self.has_lists.val() {
                    self.npkts.d.next = self.shifted.val().get_bits::<24>(0);
                    if self.zero.q.val() | self.asks.val() {
                        self.npkts.d.next = 1.into();
                    }
                }
            }
            Judge::Verdict => {
                self.status.d.next = 0.into();
                if self.flushed.q.val() {
                    self.status.d.next = 5.into();
                } else if self.bad_opcode.q.val() {
                    self.status.d.next = 2.into();
                } else if self.bad_length.q.val() {
                    self.status.d.next = 1.into();
                } else if (self.listed.val() & self.refused_piece.q.val()) | (!self.listed.val() & self.bad_piece.val()) {
                    self.status.d.next = 4.into();
                }
                self.judge.d.next = Judge::Send;
            }
            Judge::Send => {
                if self.lets_go.val() {
                    self.refused_valid.d.next = true;
                    self.refused_conn.d.next = self.ctx.q.val().conn;
                    self.judge.d.next = Judge::Idle;
                    if !self.stale.q.val() {
                        self.back_valid.d.next = true;
                        self.back_fence.d.next = self.wqe.q.val().get_bit(9);
                        self.judge.d.next = Judge::Back;
                    }
                }
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
            Judge::Back => {
                comment!("what comes next of the queue pair is judged by its new state");
                if !self.back_valid.q.val() {
                    self.judge.d.next = Judge::Idle;
                }
            }
        }
        self.taken_at.next = bit_cast::<24, 16>(self.ctx.q.val().qp);
        if self.counts_clear.val() {
            self.taken_at.next = self.counts_at.val();
        }
        self.taken_judge.write_enable.next =
            self.counts_clear.val() | (self.fire.val() & self.asks.val() & !self.refused.val());
        self.taken_judge.write_address.next = self.taken_at.val();
        self.taken_judge.write_data.next = self.taken_judge.read_data.val() + 1;
        if self.counts_clear.val() {
            self.taken_judge.write_data.next = 0.into();
        }
        self.taken_look.write_enable.next = self.taken_judge.write_enable.val();
        self.taken_look.write_address.next = self.taken_at.val();
        self.taken_look.write_data.next = self.taken_judge.write_data.val();
        self.generations.write_enable.next = self.generation_write.val() | self.counts_clear.val();
        self.generations.write_address.next = self.taken_at.val();
        self.generations.write_data.next = self.new_state.val().generation;
        self.msgrow_ask.next = (self.judge.q.val() == Judge::Send) & !self.refused.val() & self.takes.val();
        if self.listed.val() & (self.judge.q.val() != Judge::Idle) & (self.judge.q.val() != Judge::Send) {
            self.msgrow_ask.next = true;
        }
        self.msgrow_listed.next = self.listed.val() & !self.asks.val();
        self.msgrow_spread.next = self.listed.val() & self.asks.val();
        self.msgpiece_at.next = self.piece.q.val();
        self.msgpiece_addr.next = self.laddr.q.val();
        self.msgpiece_end.next = self.total_next.val().get_bits::<32>(0);
        self.msgrow_write.next = self.fire.val() & !self.refused.val();
        self.msgrow_addr.next = (bit_cast::<24, 16>(self.ctx.q.val().qp) << self.message_log2.val())
            | (self.ctx.q.val().msn & self.message_mask.val());
        self.msgrow_laddr.next = self.laddr.q.val();
        self.msgrow_raddr.next = self.wqe.q.val().get_bits::<64>(128);
        self.msgrow_rkey.next = self.wqe.q.val().get_bits::<32>(192);
        self.msgrow_length.next = self.length.val();
        self.msgrow_peer_qpn.next = self.ctx.q.val().peer_qpn;
        self.msgrow_opcode.next = self.opcode.val().get_bits::<3>(0);
        self.msgrow_imm.next = self.wqe.q.val().get_bits::<32>(256);
        self.msgrow_rq_seq.next = self.rq_seqs.read_data.val();
        self.msgrow_sol.next = self.wqe.q.val().get_bit(10) & self.consuming.val();
        self.msgrow_request.next = self.asks.val();
        self.msgrow_atomic.next = self.swaps.val();
        self.msgrow_tag.next = self.ctx.q.val().requests.tag;
        self.msgrow_swap_add.next = self.wqe.q.val().get_bits::<64>(384);
        self.msgrow_compare.next = self.wqe.q.val().get_bits::<64>(448);
        self.cmsg_valid.next = self.fire.val();
        self.cmsg_length.next = self.length.val();
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
        if self.asks.val() {
            self.msg_length.next = 0.into();
        }
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
            self.opened.d.next = 0.into();
            self.over_adds.d.next = false;
            self.over_waits.d.next = false;
            self.back_valid.d.next = false;
            self.collect.d.next = 0.into();
            self.collect_list.d.next = 0.into();
            self.collected.d.next = false;
            self.judge.d.next = Judge::Idle;
            self.status.d.next = 0.into();
        }
    }
}
