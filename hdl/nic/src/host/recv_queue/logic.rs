//! recv_queue clock by clock: a look has the tables' read ports whenever it wants them, an FSM has them otherwise; arrivals run beside it.
//! In and out: see the parent module. Guarantees: what a look has found stays until its step ends: nothing of its queue pair is flushed.
use super::rows::{RqStep, RqTask};
use super::RecvQueue;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

impl<const W: usize> Logic for RecvQueue<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module recv_queue: receives from host memory, what packets make of them, their completions");
        dff_setup!(
            self,
            clock,
            step,
            task,
            walk,
            cleared,
            cfg_held,
            held_index,
            held,
            held_look,
            qp,
            bell,
            at,
            ring,
            arrivals,
            mark,
            complete,
            reached,
            wr_id,
            has,
            room,
            want,
            disturbed,
            pass_open,
            step_qp,
            step_row,
            look_1,
            look_2,
            look_3,
            shared,
            source,
            pd,
            untaken,
            left,
            oldest,
            oldest_wr_id,
            taken_here,
            took,
            took_queue,
            seq,
            msn,
            ahead,
            have,
            seen,
            seen_complete,
            same_msn,
            buffer,
            list,
            found,
            last_imm,
            collect,
            collected,
            beats,
            long,
            list_in,
            summed,
            total,
            record_valid,
            record_qp,
            record_index,
            record,
            rang,
            out_valid,
            out_addr,
            out_data
        );
        clock!(
            self,
            clock,
            fixed,
            looks,
            taken,
            state,
            arrived,
            arrived_copy,
            errors,
            buffers,
            lists,
            wr_ids,
            marks,
            done,
            work,
            passes,
            reads,
            pending
        );
        self.work.reset.next = self.reset.val();
        self.passes.reset.next = self.reset.val();
        self.reads.reset.next = self.reset.val();
        self.pending.reset.next = self.reset.val();
        self.init_done.next = self.cleared.q.val() & self.work.init_done.val();

        comment!("configuration waits in a buffer");
        self.new_fixed.next.valid = self.cfg_data.val().get_bit(0);
        self.new_fixed.next.base = self.cfg_data.val().get_bits::<64>(320);
        self.new_fixed.next.log2 = self.cfg_data.val().get_bits::<4>(136);
        self.new_fixed.next.cq_base = self.cfg_data.val().get_bits::<64>(384);
        self.new_fixed.next.cq_log2 = self.cfg_data.val().get_bits::<4>(140);
        self.new_fixed.next.shared = self.cfg_data.val().get_bit(5)
            & ((bit_cast::<24, 16>(self.cfg_data.val().get_bits::<16>(144)) + 1) <= self.srq_count.val());
        self.new_fixed.next.is_srq = false;
        self.new_fixed.next.lists = self.cfg_data.val().get_bit(7) & self.with_lists.val();
        self.new_look.next.pd = self.cfg_data.val().get_bits::<16>(224);
        self.new_look.next.shared = self.new_fixed.val().shared;
        self.new_look.next.source = bit_cast::<16, 24>(self.qp_count.val()) + self.cfg_data.val().get_bits::<16>(144);
        self.number.next = self.cfg_index.val();
        self.mine.next = (self.cfg_table.val() == 3) & (bit_cast::<24, 16>(self.cfg_index.val()) < self.qp_count.val());
        if self.cfg_table.val() == 7 {
            comment!("a shared queue stands behind the queue pairs");
            self.number.next = bit_cast::<16, 24>(self.qp_count.val()) + self.cfg_index.val();
            self.mine.next = (bit_cast::<24, 16>(self.cfg_index.val()) + 1) <= self.srq_count.val();
            self.new_fixed.next.shared = false;
            self.new_fixed.next.is_srq = true;
            self.new_look.next.shared = false;
        }
        if self.cfg_valid.val() & self.mine.val() {
            self.cfg_held.d.next = true;
            self.held_index.d.next = self.number.val();
            self.held.d.next = self.new_fixed.val();
            self.held_look.d.next = self.new_look.val();
        }
        self.cfg_busy.next = self.cfg_held.q.val();

        comment!("the look, clock 0: every table is read for it");
        self.look_seq.next = self.rq_seq.val();
        if self.fault.val() == 14 {
            comment!("fault 14: an odd rq_seq finds the receive of the one before it");
            self.look_seq.next = self.rq_seq.val().replace_bit(0, false);
        }
        self.own_row.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.rows_log2.val()) | (self.at.q.val().head & self.row_mask.val());
        self.state.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.fixed.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.wr_ids.read_address.next = self.own_row.val();
        self.marks.read_address.next = self.own_row.val();
        if self.step.q.val() == RqStep::Idle {
            self.marks.read_address.next = (bit_cast::<24, 16>(self.passes.data_out.val().qp) << self.rows_log2.val())
                | (bit_cast::<24, 8>(self.passes.data_out.val().slot) & self.row_mask.val());
        }
        self.look_1.d.next = self.rq_look.val();
        self.look_2.d.next = self.look_1.q.val();
        self.look_3.d.next = self.look_2.q.val();
        self.buffers.read_address.next =
            (bit_cast::<24, 16>(self.rq_qp.val()) << self.rows_log2.val()) | (self.look_seq.val() & self.row_mask.val());
        self.looks.read_address.next = bit_cast::<24, 16>(self.rq_qp.val());
        self.taken.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        if self.rq_look.val() {
            self.step_qp.d.next = self.rq_qp.val();
            self.step_row.d.next = self.buffers.read_address.val();
            self.seq.d.next = self.rq_seq.val();
            self.msn.d.next = self.rq_msn.val();
            self.state.read_address.next = bit_cast::<24, 16>(self.rq_qp.val());
            self.marks.read_address.next = self.buffers.read_address.val();
        }
        self.arrived_copy.read_address.next = self.state.read_address.val();
        comment!("clock 1 of a queue pair with a shared queue: how much of that is left; clock 2: the oldest one of it");
        self.of_shared.next = self.look_1.q.val() & self.looks.read_data.val().shared;
        if self.of_shared.val() {
            self.looks.read_address.next = bit_cast::<24, 16>(self.looks.read_data.val().source);
            self.taken.read_address.next = self.looks.read_address.val();
            self.arrived_copy.read_address.next = self.looks.read_address.val();
        }
        self.asks_shared.next = self.look_2.q.val() & self.shared.q.val();
        if self.asks_shared.val() {
            self.buffers.read_address.next = (bit_cast::<24, 16>(self.source.q.val()) << self.rows_log2.val())
                | (self.taken.read_data.val() & self.row_mask.val());
            self.wr_ids.read_address.next = self.buffers.read_address.val();
        }
        self.lists.read_address.next = self.buffers.read_address.val();
        self.done.read_address.next = self.marks.read_address.val();
        if self.look_1.q.val() {
            comment!("clock 1: the rows");
            self.ahead.d.next = self.seq.q.val() - self.state.read_data.val().head;
            self.have.d.next = self.arrived_copy.read_data.val() - self.state.read_data.val().head;
            self.seen.d.next = self.marks.read_data.val();
            self.seen_complete.d.next = self.done.read_data.val().complete;
            self.same_msn.d.next = self.marks.read_data.val().msn == self.msn.q.val();
            self.buffer.d.next = self.buffers.read_data.val();
            self.list.d.next = self.lists.read_data.val();
            self.shared.d.next = self.looks.read_data.val().shared;
            self.source.d.next = self.looks.read_data.val().source;
            self.taken_here.d.next = self.arrived_copy.read_data.val();
            self.untaken.d.next = false;
        }
        if self.look_2.q.val() {
            comment!("clock 2: Q1, Q2: what rq_seq names");
            self.found.d.next = 0.into();
            if self.ahead.q.val().get_bit(23) {
                self.found.d.next = 2.into();
            } else if self.shared.q.val() {
                comment!("Q1: of a shared queue no receive is kept for an rq_seq before a packet takes it");
                self.pd.d.next = self.looks.read_data.val().pd;
                self.left.d.next = self.arrived_copy.read_data.val() - self.taken.read_data.val();
                self.oldest.d.next = self.taken.read_data.val();
                if self.ahead.q.val() >= self.rows_per_qp.val() {
                    self.found.d.next = 1.into();
                } else if self.seen_complete.q.val() | (self.seen.q.val().valid & !self.same_msn.q.val()) {
                    self.found.d.next = 2.into();
                } else if !self.seen.q.val().valid {
                    self.untaken.d.next = true;
                }
            } else if self.ahead.q.val() >= self.have.q.val() {
                self.found.d.next = 1.into();
                if self.fault.val() == 16 {
                    comment!("fault 16: a receive is found that was not posted");
                    self.found.d.next = 0.into();
                }
            } else if (self.seen_complete.q.val() | (self.seen.q.val().valid & !self.same_msn.q.val()))
                & (self.fault.val() != 14)
            {
                self.found.d.next = 2.into();
            }
        }
        if self.look_3.q.val() & self.untaken.q.val() {
            comment!("clock 3: the oldest receive of the shared queue, if there is one");
            self.found.d.next = 1.into();
            if self.left.q.val().any() {
                self.found.d.next = 3.into();
            }
            self.buffer.d.next = self.buffers.read_data.val();
            self.list.d.next = self.lists.read_data.val();
            self.oldest_wr_id.d.next = self.wr_ids.read_data.val();
        }
        self.rq_last.next = self.left.q.val() == 1;
        self.rq_shared.next = self.shared.q.val();
        self.rq_pd.next = self.pd.q.val();
        self.rq_found.next = self.found.q.val();
        self.rq_addr.next = self.buffer.q.val().addr;
        self.rq_len.next = self.buffer.q.val().length;
        self.rq_lkey.next = self.buffer.q.val().lkey;
        self.rq_listed.next = self.buffer.q.val().listed & self.with_lists.val();
        self.rq_piece.next = self.list.q.val().get_bits::<128>(0);
        if self.rq_at.val() == 1 {
            self.rq_piece.next = self.list.q.val().get_bits::<128>(128);
        } else if self.rq_at.val() == 2 {
            self.rq_piece.next = self.list.q.val().get_bits::<128>(256);
        } else if self.rq_at.val() == 3 {
            self.rq_piece.next = self.list.q.val().get_bits::<128>(384);
        }

        comment!("the mark: what the packet makes of the receive that it has found");
        self.new_mark.next = self.seen.q.val();
        self.new_mark.next.valid = true;
        self.new_mark.next.msn = self.msn.q.val();
        self.takes.next = self.rq_mark.val() & self.untaken.q.val();
        if self.takes.val() {
            self.new_mark.next.index = self.oldest.q.val().get_bits::<16>(0);
        }
        if self.rq_accept.val() {
            self.new_mark.next.length = self.rq_length.val();
            self.new_mark.next.imm = self.rq_imm.val();
            self.new_mark.next.has_imm = self.rq_has_imm.val();
            self.new_mark.next.sol = self.rq_sol.val();
            self.new_mark.next.by_write = self.rq_by_write.val();
            if self.fault.val() == 15 {
                comment!("fault 15: the immediate is that of the packet before");
                self.new_mark.next.imm = self.last_imm.q.val();
            }
        }
        if self.rq_failed.val().any() {
            self.new_mark.next.failed = self.rq_failed.val();
        }
        if self.rq_mark.val() {
            self.last_imm.d.next = self.rq_imm.val();
        }

        comment!("messages that exp has passed; their steps' records come later");
        self.new_pass.next.qp = self.pass_qp.val();
        self.new_pass.next.slot = self.pass_slot.val();
        self.new_pass.next.ticket = self.pass_ticket.val();
        self.passes.data_in.next = self.new_pass.val();
        self.passes.write.next = self.pass_valid.val();
        self.passes.read.next = false;
        self.pass_ready.next = !self.passes.full.val();
        if self.rx_commit.val() {
            self.pass_open.d.next = false;
        }
        if self.pass_valid.val() & self.pass_ready.val() {
            self.pass_open.d.next = true;
        }

        comment!("defaults of the FSM");
        self.rdoorbell_ready.next = false;
        self.flush_ready.next = false;
        self.work.pop.next = false;
        self.push.next = false;
        self.clear_row.next = false;
        self.new_state.next = self.at.q.val();
        if self.step.q.val() == RqStep::Have {
            self.new_state.next = self.state.read_data.val();
        }
        self.state.write_enable.next = false;
        self.state.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.fixed.write_enable.next = false;
        self.fixed.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.fixed.write_data.next = self.held.q.val();
        self.errors.write_enable.next = false;
        self.errors.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.errors.write_data.next = true;
        self.done.write_enable.next = false;
        self.done.write_address.next = self.own_row.val();
        self.new_done.next.complete = false;
        self.new_done.next.ticket = self.passes.data_out.val().ticket;
        self.emits.next = false;
        self.skips.next = false;
        self.flushes.next = false;
        self.fetches.next = false;
        self.busy.next = (self.rq_look.val() & (self.rq_qp.val() == self.qp.q.val()))
            | (self.rq_step.val() & (self.step_qp.q.val() == self.qp.q.val()));
        comment!("a table write waits for the step of its queue pair; one that closes, for what is on its way and the last flush too");
        comment!("(one that opens must not: a flush may wait for it, and completion for that, and reads for completion)");
        self.may_apply.next = !self.rq_near.val()
            & !self.rq_look.val()
            & (!self.rq_step.val() | self.rx_commit.val() | (self.step_qp.q.val() != self.held_index.q.val()))
            & (self.held.q.val().valid | (self.pending.empty.val() & !self.completion_busy.val() & !self.flush_valid.val()));
        self.waited.next = self.done_count.val() - self.done.read_data.val().ticket;

        comment!("the CQE of the oldest receive (Q5), or its flush (Q6)");
        self.complete_ok.next =
            self.complete.q.val() & (self.reached.q.val() | (self.fault.val() == 13)) & !self.pass_open.q.val();
        self.closes.next = self.task.q.val() == RqTask::Close;
        self.flush_ok.next = (self.at.q.val().in_error | self.closes.val())
            & !self.complete.q.val()
            & !self.disturbed.q.val()
            & !self.busy.val()
            & self.passes.empty.val()
            & !self.pass_valid.val()
            & !self.pass_open.q.val()
            & !self.record_valid.q.val();
        self.status.next = 0.into();
        self.opcode.next = 128.into();
        self.has_imm.next = self.mark.q.val().has_imm & self.complete.q.val();
        self.sol.next = self.mark.q.val().sol & self.complete.q.val();
        self.length.next = self.mark.q.val().length;
        self.last_word.next = bit_cast::<32, 24>(self.mark.q.val().msn);
        if self.mark.q.val().by_write {
            self.opcode.next = 129.into();
        }
        if self.has_imm.val() {
            self.last_word.next = self.mark.q.val().imm;
        }
        if !self.complete.q.val() {
            self.length.next = 0.into();
            self.status.next = 5.into();
            if self.mark.q.val().failed.any() {
                self.status.next = self.mark.q.val().failed;
            }
        }
        self.phase.next = !(self.at.q.val().cq_count >> self.ring.q.val().cq_log2).get_bit(0);
        self.number.next = bit_cast::<16, 24>(self.at.q.val().head);
        if self.ring.q.val().shared {
            self.number.next = self.mark.q.val().index;
        }
        self.words.next = bit_cast::<256, 8>(self.status.val())
            | (bit_cast::<256, 8>(self.opcode.val()) << 8)
            | (bit_cast::<256, 1>(self.phase.val().into()) << 16)
            | (bit_cast::<256, 1>(self.has_imm.val().into()) << 24)
            | (bit_cast::<256, 1>(self.sol.val().into()) << 25)
            | (bit_cast::<256, 16>(self.qp.q.val()) << 32)
            | (bit_cast::<256, 64>(self.wr_id.q.val()) << 64)
            | (bit_cast::<256, 32>(self.length.val()) << 128)
            | (bit_cast::<256, 16>(self.number.val()) << 160)
            | (bit_cast::<256, 32>(self.last_word.val()) << 224);
        self.ring_mask.next = (self.one16.val() << self.ring.q.val().log2) - 1;
        self.cq_mask.next = (self.one16.val() << self.ring.q.val().cq_log2) - 1;
        comment!("a queue pair that closes has given back all that it took: LAST_WQE");
        self.ends.next = (self.step.q.val() == RqStep::Emit)
            & self.closes.val()
            & !self.has.q.val()
            & !self.disturbed.q.val()
            & !self.busy.val()
            & !self.out_valid.q.val()
            & !self.rq_mark.val();
        if self.ends.val() {
            self.words.next = bits::<256>(0x8200)
                | (bit_cast::<256, 1>(self.phase.val().into()) << 16)
                | (bit_cast::<256, 16>(self.qp.q.val()) << 32);
        }
        self.new_read.next.lists = self.ring.q.val().lists;
        self.new_read.next.addr = self.ring.q.val().base
            + (bit_cast::<64, 16>(bit_cast::<16, 24>(self.at.q.val().fetched) & self.ring_mask.val()) << 5);
        if self.ring.q.val().lists {
            self.new_read.next.addr = self.ring.q.val().base
                + (bit_cast::<64, 16>(bit_cast::<16, 24>(self.at.q.val().fetched) & self.ring_mask.val()) << 7);
        }
        self.reads.data_in.next = self.new_read.val();
        self.pending.data_in.next = self.qp.q.val();
        if self.out_valid.q.val() & self.rcqe_ready.val() {
            self.out_valid.d.next = false;
        }
        self.rcqe_valid.next = self.out_valid.q.val();
        self.rcqe_addr.next = self.out_addr.q.val();
        self.rcqe_data.next = self.out_data.q.val();

        comment!(
            "software that posts many receives, each with its doorbell, does not keep the first of them from being fetched"
        );
        self.visit_first.next = self.rang.q.val() & !self.work.empty.val();
        match self.step.q.val() {
            RqStep::Clear => {
                comment!("every table starts empty");
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_walk.val() {
                    self.step.d.next = RqStep::Idle;
                    self.cleared.d.next = true;
                }
            }
            RqStep::Idle => {
                comment!("no ready depends on its own valid");
                self.rdoorbell_ready.next = self.passes.empty.val() & !self.visit_first.val();
                self.flush_ready.next =
                    self.passes.empty.val() & !self.rdoorbell_valid.val() & (!self.cfg_held.q.val() | !self.held.q.val().valid);
                if !self.passes.empty.val() {
                    if !self.rq_look.val() {
                        self.step.d.next = RqStep::PassSet;
                    }
                } else if self.rdoorbell_valid.val() & !self.visit_first.val() {
                    self.rang.d.next = true;
                    self.qp.d.next = self.rdoorbell_qp.val();
                    self.bell.d.next = self.rdoorbell_index.val();
                    self.task.d.next = RqTask::Bell;
                    self.step.d.next = RqStep::Read;
                } else if self.flush_valid.val() & self.flush_ready.val() {
                    self.qp.d.next = self.flush_qp.val();
                    self.task.d.next = RqTask::Flush;
                    self.step.d.next = RqStep::Read;
                } else if self.cfg_held.q.val() & self.may_apply.val() {
                    self.step.d.next = RqStep::Open;
                    if self.srqs.val() & !self.held.q.val().valid & !self.held.q.val().is_srq {
                        comment!("a queue pair that closes first gives back what it has taken from a shared queue");
                        self.qp.d.next = self.held_index.q.val();
                        self.task.d.next = RqTask::Close;
                        self.step.d.next = RqStep::Read;
                    }
                } else if !self.work.empty.val() {
                    self.work.pop.next = true;
                    self.rang.d.next = false;
                    self.qp.d.next = self.work.id.val();
                    self.task.d.next = RqTask::Visit;
                    self.step.d.next = RqStep::Read;
                }
            }
            RqStep::PassSet => {
                comment!("the message of a receive is complete; a receive without a mark was flushed before");
                self.passes.read.next = true;
                self.new_done.next.complete = true;
                self.done.write_address.next = (bit_cast::<24, 16>(self.passes.data_out.val().qp) << self.rows_log2.val())
                    | (bit_cast::<24, 8>(self.passes.data_out.val().slot) & self.row_mask.val());
                self.done.write_enable.next = self.marks.read_data.val().valid;
                self.push.next = self.marks.read_data.val().valid;
                self.step.d.next = RqStep::Idle;
            }
            RqStep::Read => {
                self.disturbed.d.next = self.busy.val();
                if !self.rq_look.val() & !self.of_shared.val() {
                    self.step.d.next = RqStep::Have;
                }
            }
            RqStep::Have => {
                self.at.d.next = self.state.read_data.val();
                self.ring.d.next = self.fixed.read_data.val();
                self.arrivals.d.next = self.arrived_copy.read_data.val();
                if self.fixed.read_data.val().is_srq {
                    self.at.d.next.head = self.taken.read_data.val();
                }
                self.disturbed.d.next = self.disturbed.q.val() | self.busy.val();
                self.step.d.next = RqStep::Idle;
                if self.task.q.val() == RqTask::Close {
                    self.step.d.next = RqStep::Open;
                    if self.fixed.read_data.val().valid & self.fixed.read_data.val().shared {
                        self.step.d.next = RqStep::Rows;
                    }
                } else if self.fixed.read_data.val().valid {
                    if self.task.q.val() == RqTask::Bell {
                        comment!("a queue pair with a shared queue has no receives of its own");
                        self.new_state.next.producer = self.bell.q.val();
                        self.state.write_enable.next = !self.fixed.read_data.val().shared;
                        self.push.next = !self.fixed.read_data.val().shared;
                    } else if self.task.q.val() == RqTask::Flush {
                        self.new_state.next.in_error = true;
                        self.state.write_enable.next = true;
                        self.errors.write_enable.next = true;
                        self.push.next = true;
                    } else {
                        self.step.d.next = RqStep::Rows;
                    }
                }
            }
            RqStep::Rows => {
                self.disturbed.d.next = self.disturbed.q.val() | self.busy.val();
                if !self.rq_look.val() & !self.asks_shared.val() {
                    self.step.d.next = RqStep::Judge;
                }
            }
            RqStep::Judge => {
                self.mark.d.next = self.marks.read_data.val();
                self.has.d.next = self.at.q.val().head != self.arrivals.q.val();
                if self.ring.q.val().shared {
                    comment!("of those that it has taken, some have no completion yet");
                    self.has.d.next = bit_cast::<16, 24>(self.arrivals.q.val()) != self.at.q.val().cq_count;
                } else if self.ring.q.val().is_srq {
                    self.has.d.next = false;
                }
                self.complete.d.next = self.done.read_data.val().complete;
                self.reached.d.next = !self.waited.val().get_bit(15);
                self.wr_id.d.next = self.wr_ids.read_data.val();
                self.room.d.next = (self.at.q.val().fetched - self.at.q.val().head) < self.rows_per_qp.val();
                self.want.d.next = bit_cast::<16, 24>(self.at.q.val().fetched) != self.at.q.val().producer;
                self.disturbed.d.next = self.disturbed.q.val() | self.busy.val();
                self.step.d.next = RqStep::Emit;
            }
            RqStep::Emit => {
                comment!("the oldest receive completes, the next one is asked for; the queue pair is visited again while there is more");
                comment!("(Q6: of a shared queue the taken ones only: an rq_seq for which none was taken is passed over)");
                self.flushes.next = self.flush_ok.val() & (self.mark.q.val().valid | !self.ring.q.val().shared);
                self.emits.next = self.has.q.val()
                    & (self.complete_ok.val() | self.flushes.val())
                    & !self.out_valid.q.val()
                    & !self.rq_mark.val();
                self.skips.next = self.has.q.val()
                    & self.flush_ok.val()
                    & self.ring.q.val().shared
                    & !self.mark.q.val().valid
                    & !self.rq_mark.val();
                self.fetches.next = self.want.q.val()
                    & self.room.q.val()
                    & !self.reads.full.val()
                    & !self.pending.full.val()
                    & !self.cfg_held.q.val();
                if self.emits.val() {
                    self.new_state.next.head = self.at.q.val().head + 1;
                    self.new_state.next.cq_count = self.at.q.val().cq_count + 1;
                    self.done.write_enable.next = true;
                    self.clear_row.next = true;
                }
                if self.emits.val() | self.ends.val() {
                    self.out_valid.d.next = true;
                    self.out_addr.d.next =
                        self.ring.q.val().cq_base + (bit_cast::<64, 16>(self.at.q.val().cq_count & self.cq_mask.val()) << 5);
                    self.out_data.d.next = self.words.val();
                }
                if self.fetches.val() {
                    self.new_state.next.fetched = self.at.q.val().fetched + 1;
                }
                if self.skips.val() {
                    self.new_state.next.head = self.at.q.val().head + 1;
                }
                self.state.write_enable.next = self.emits.val() | self.fetches.val() | self.skips.val();
                self.push.next = self.emits.val()
                    | self.skips.val()
                    | (self.ring.q.val().shared & self.at.q.val().in_error & (self.disturbed.q.val() | self.busy.val()))
                    | (self.has.q.val() & (self.complete.q.val() | self.at.q.val().in_error))
                    | (self.want.q.val() & self.room.q.val());
                self.step.d.next = RqStep::Idle;
                if self.ends.val() {
                    self.step.d.next = RqStep::Open;
                }
            }
            RqStep::Open => {
                comment!("a queue pair starts afresh, without receives");
                self.qp.d.next = self.held_index.q.val();
                self.walk.d.next = 0.into();
                if !self.takes.val() {
                    self.step.d.next = RqStep::OpenRows;
                }
            }
            RqStep::OpenRows => {
                if !self.rq_mark.val() {
                    self.done.write_enable.next = true;
                    self.clear_row.next = true;
                    self.walk.d.next = self.walk.q.val() + 1;
                    if self.walk.q.val() == self.row_mask.val() {
                        self.cfg_held.d.next = false;
                        self.step.d.next = RqStep::Idle;
                    }
                }
            }
        }
        self.reads.write.next = self.fetches.val();
        self.pending.write.next = self.fetches.val();
        self.commit_rcqe_valid.next = self.emits.val() | self.ends.val();
        self.commit_rcqe_qp.next = self.qp.q.val();
        self.commit_rcqe_data.next = self.words.val();

        comment!("receives arrive");
        self.rr_desc_valid.next = !self.reads.empty.val();
        self.rr_desc_addr.next = self.reads.data_out.val().addr;
        self.rr_desc_len.next = 32.into();
        if self.with_lists.val() & self.reads.data_out.val().lists {
            self.rr_desc_len.next = 128.into();
        }
        self.reads.read.next = !self.reads.empty.val() & self.rr_desc_ready.val();
        self.rr_ready.next = !self.collected.q.val();
        if self.rr_valid.val() & !self.collected.q.val() {
            if !self.with_lists.val() | (self.beats.q.val() < self.header_beats.val()) {
                self.collect.d.next = (self.collect.q.val() >> self.shift_down.val())
                    | (bit_cast::<256, W>(self.rr_data.val()) << self.shift_in.val());
            }
            self.list_in.d.next = (self.list_in.q.val() >> self.list_down.val())
                | (bit_cast::<512, W>(self.rr_data.val()) << self.list_in_at.val());
            self.collected.d.next = self.rr_last.val();
            self.long.d.next = self.beats.q.val() >= self.list_beat.val();
            self.beats.d.next = self.beats.q.val() + 1;
            if self.rr_last.val() {
                self.beats.d.next = 0.into();
                self.summed.d.next = 0.into();
                self.total.d.next = 0.into();
            }
        }
        comment!("a list is gone round once: its pieces are summed, and those that it does not have get no bytes");
        self.wants.next = self.collect.q.val().get_bits::<8>(16);
        self.in_list.next = self.with_lists.val() & self.long.q.val() & (self.wants.val() > 1);
        self.sums.next = self.collected.q.val() & self.in_list.val() & (self.summed.q.val() != 4);
        self.whole.next = self.collected.q.val() & !self.sums.val();
        self.piece_bytes.next = 0.into();
        if (bit_cast::<8, 3>(self.summed.q.val()) < self.wants.val())
            & (bit_cast::<8, 3>(self.summed.q.val()) < self.most_sges.val())
        {
            self.piece_bytes.next = self.list_in.q.val().get_bits::<32>(64);
        }
        self.new_piece.next = bit_cast::<128, 64>(self.list_in.q.val().get_bits::<64>(0))
            | (bit_cast::<128, 32>(self.piece_bytes.val()) << 64)
            | (bit_cast::<128, 32>(self.list_in.q.val().get_bits::<32>(96)) << 96);
        if self.sums.val() {
            self.summed.d.next = self.summed.q.val() + 1;
            self.total.d.next = self.total.q.val() + bit_cast::<34, 32>(self.piece_bytes.val());
            self.list_in.d.next = (self.list_in.q.val() >> 128) | (bit_cast::<512, 128>(self.new_piece.val()) << 384);
        }
        comment!("its record waits for that of a step whose look did not see it, and is made before one whose look does");
        self.record_go.next = self.record_valid.q.val() & (!self.rq_step.val() | self.rx_commit.val() | self.rq_look.val());
        self.commit_recv_valid.next = self.record_go.val();
        self.commit_recv_qp.next = self.record_qp.q.val();
        self.commit_recv_index.next = self.record_index.q.val();
        self.commit_recv_data.next = self.record.q.val();
        if self.record_go.val() {
            self.record_valid.d.next = false;
        }
        self.arrived.read_address.next = bit_cast::<24, 16>(self.pending.data_out.val());
        self.errors.read_address.next = bit_cast::<24, 16>(self.pending.data_out.val());
        self.of_held.next = self.cfg_held.q.val() & (self.held_index.q.val() == self.pending.data_out.val());
        self.drops.next = self.whole.val() & !self.pending.empty.val() & self.of_held.val();
        self.arrives.next = self.whole.val()
            & !self.pending.empty.val()
            & !self.of_held.val()
            & !self.record_valid.q.val()
            & !self.push.val()
            & !self.rq_look.val()
            & !self.takes.val()
            & (self.step.q.val() != RqStep::Open);
        self.pending.read.next = self.drops.val() | self.arrives.val();
        self.arrived_next.next = self.arrived.read_data.val() + 1;
        self.new_buffer.next.lkey = self.collect.q.val().get_bits::<32>(32);
        self.new_buffer.next.addr = self.collect.q.val().get_bits::<64>(64);
        self.new_buffer.next.length = self.collect.q.val().get_bits::<32>(128);
        self.new_buffer.next.listed = self.in_list.val();
        if self.in_list.val() {
            self.new_buffer.next.length = self.total.q.val().get_bits::<32>(0);
            if self.total.q.val().get_bits::<2>(32).any() {
                self.new_buffer.next.length = 0xFFFF_FFFFu64.into();
            }
        }
        self.buffers.write_enable.next = self.arrives.val();
        self.buffers.write_address.next = (bit_cast::<24, 16>(self.pending.data_out.val()) << self.rows_log2.val())
            | (self.arrived.read_data.val() & self.row_mask.val());
        self.buffers.write_data.next = self.new_buffer.val();
        self.lists.write_data.next = self.list_in.q.val();
        self.wr_ids.write_enable.next = self.arrives.val();
        self.wr_ids.write_address.next = self.buffers.write_address.val();
        self.wr_ids.write_data.next = self.collect.q.val().get_bits::<64>(192);
        self.arrived.write_enable.next = self.arrives.val();
        self.arrived.write_address.next = bit_cast::<24, 16>(self.pending.data_out.val());
        self.arrived.write_data.next = self.arrived_next.val();
        if self.drops.val() | self.arrives.val() {
            self.collected.d.next = false;
        }
        comment!("the first packet of a message takes the oldest receive of the shared queue into the row of its rq_seq");
        self.taken.write_enable.next = self.takes.val();
        self.taken.write_address.next = bit_cast::<24, 16>(self.source.q.val());
        self.taken.write_data.next = self.oldest.q.val() + 1;
        if self.fault.val() == 30 {
            comment!("fault 30: the receive stays the oldest, and is given again");
            self.taken.write_data.next = self.oldest.q.val();
        }
        if self.takes.val() {
            self.buffers.write_enable.next = true;
            self.buffers.write_address.next = self.step_row.q.val();
            self.buffers.write_data.next = self.buffer.q.val();
            self.lists.write_data.next = self.list.q.val();
            self.wr_ids.write_enable.next = true;
            self.wr_ids.write_data.next = self.oldest_wr_id.q.val();
            self.arrived.write_enable.next = true;
            self.arrived.write_address.next = bit_cast::<24, 16>(self.step_qp.q.val());
            self.arrived.write_data.next = self.taken_here.q.val() + 1;
            self.wr_ids.write_address.next = self.step_row.q.val();
            self.took.d.next = true;
            self.took_queue.d.next = self.source.q.val();
            self.untaken.d.next = false;
        }
        self.lists.write_enable.next = self.buffers.write_enable.val();
        self.lists.write_address.next = self.buffers.write_address.val();
        if self.arrives.val() {
            self.record_valid.d.next = true;
            self.record_qp.d.next = self.pending.data_out.val();
            self.record_index.d.next = bit_cast::<16, 24>(self.arrived.read_data.val());
            self.record.d.next = self.collect.q.val();
        }
        comment!("Q6: a receive that arrives in Error is flushed");
        self.took_go.next = self.took.q.val() & !self.push.val() & !self.arrives.val();
        self.work.push_valid.next = self.push.val() | (self.arrives.val() & self.errors.read_data.val()) | self.took_go.val();
        self.work.push_id.next = self.qp.q.val();
        if self.took_go.val() {
            self.work.push_id.next = self.took_queue.q.val();
            self.took.d.next = self.takes.val();
        }
        if self.arrives.val() {
            self.work.push_id.next = self.pending.data_out.val();
        }
        if (self.step.q.val() == RqStep::PassSet) & self.push.val() {
            self.work.push_id.next = self.passes.data_out.val().qp;
        }

        comment!("what a queue pair starts with");
        if ((self.step.q.val() == RqStep::Open) & !self.takes.val()) | (self.step.q.val() == RqStep::Clear) {
            self.new_state.next.producer = 0.into();
            self.new_state.next.fetched = 0.into();
            self.new_state.next.head = 0.into();
            self.new_state.next.cq_count = 0.into();
            self.new_state.next.in_error = false;
            self.state.write_enable.next = true;
            self.state.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
            self.fixed.write_enable.next = true;
            self.errors.write_enable.next = true;
            self.errors.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
            self.errors.write_data.next = false;
            self.arrived.write_enable.next = true;
            self.arrived.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
            self.arrived.write_data.next = 0.into();
            self.taken.write_enable.next = true;
            self.taken.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
            self.taken.write_data.next = 0.into();
        }
        self.looks.write_enable.next = self.fixed.write_enable.val();
        if self.step.q.val() == RqStep::OpenRows {
            self.done.write_address.next =
                (bit_cast::<24, 16>(self.held_index.q.val()) << self.rows_log2.val()) | self.walk.q.val();
        }
        if self.step.q.val() == RqStep::Clear {
            self.state.write_address.next = self.walk.q.val();
            self.fixed.write_address.next = self.walk.q.val();
            self.fixed.write_data.next.valid = false;
            self.errors.write_address.next = self.walk.q.val();
            self.arrived.write_address.next = self.walk.q.val();
            self.taken.write_address.next = self.walk.q.val();
            self.done.write_enable.next = true;
            self.done.write_address.next = self.walk.q.val();
            self.clear_row.next = true;
        }
        self.state.write_data.next = self.new_state.val();
        self.looks.write_address.next = self.fixed.write_address.val();
        self.looks.write_data.next = self.held_look.q.val();
        self.arrived_copy.write_enable.next = self.arrived.write_enable.val();
        self.arrived_copy.write_address.next = self.arrived.write_address.val();
        self.arrived_copy.write_data.next = self.arrived.write_data.val();
        self.done.write_data.next = self.new_done.val();
        self.marks.write_enable.next = self.rq_mark.val() | self.clear_row.val();
        self.marks.write_address.next = self.step_row.q.val();
        if self.clear_row.val() {
            self.marks.write_address.next = self.done.write_address.val();
            self.new_mark.next.valid = false;
            self.new_mark.next.msn = 0.into();
            self.new_mark.next.length = 0.into();
            self.new_mark.next.imm = 0.into();
            self.new_mark.next.has_imm = false;
            self.new_mark.next.sol = false;
            self.new_mark.next.by_write = false;
            self.new_mark.next.failed = 0.into();
            self.new_mark.next.index = 0.into();
        }
        self.marks.write_data.next = self.new_mark.val();

        if self.reset.val() {
            self.step.d.next = RqStep::Clear;
            self.walk.d.next = 0.into();
            self.cleared.d.next = false;
            self.cfg_held.d.next = false;
            self.pass_open.d.next = false;
            self.look_1.d.next = false;
            self.look_2.d.next = false;
            self.look_3.d.next = false;
            self.took.d.next = false;
            self.collect.d.next = 0.into();
            self.collected.d.next = false;
            self.beats.d.next = 0.into();
            self.long.d.next = false;
            self.record_valid.d.next = false;
            self.rang.d.next = false;
            self.out_valid.d.next = false;
        }
    }
}
