//! completion's states: what each clock reads, decides and writes.
//! In and out: see the parent module. Guarantees: rows are read, registered (Load) and written by one step at a time, so each step sees all earlier ones.
use super::{Completion, Step, Turn};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

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
            held_rnr,
            rnr_read,
            held_index,
            held_data,
            turn,
            greets,
            held_msg,
            msg_qp,
            msg_msn,
            step,
            then,
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
            place,
            span,
            none_left,
            fails_here,
            is_done,
            cqe_at,
            is_answer,
            by_response,
            of_conn,
            refuses,
            uses_retry,
            dooms
        );
        clock!(self, clock, fixed, state, messages, error_tx, error_rx, error_host, given_up, writer, releases, flushes);
        self.writer.reset.next = self.reset.val();
        self.releases.reset.next = self.reset.val();
        self.flushes.reset.next = self.reset.val();

        comment!("configuration waits in a buffer");
        if self.cfg_valid.val() & ((self.cfg_table.val() == 1) | (self.cfg_table.val() == 3) | (self.cfg_table.val() == 5)) {
            self.cfg_held.d.next = true;
            self.held_conn.d.next = self.cfg_table.val() == 1;
            self.held_rnr.d.next = self.cfg_table.val() == 5;
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
        self.answered_ready.next = false;
        self.rnak_ready.next = false;
        self.request_done.next = false;
        self.request_done_qp.next = self.qp.q.val();
        self.commit_answered_valid.next = false;
        self.counts.next = false;
        self.ends.next = false;
        self.nak_ready.next = false;
        self.cerr_ready.next = false;
        self.rxerr_ready.next = false;
        self.from_queue.next.valid = self.held_data.q.val().get_bit(0);
        self.from_queue.next.conn = self.held_data.q.val().get_bits::<16>(16);
        self.from_queue.next.log2 = self.held_data.q.val().get_bits::<4>(132);
        self.from_queue.next.rnr_retry = self.held_data.q.val().get_bits::<3>(245);
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
        self.writer.write.next = false;
        self.releases.write.next = false;
        self.now_at.next = self.stream.q.val();
        self.new_row.next = self.message.q.val();
        self.message_asks.next = self.reads.val()
            & !self.message.q.val().status.any()
            & ((self.message.q.val().opcode == 4) | (self.message.q.val().opcode == 5) | (self.message.q.val().opcode == 6));
        self.commit_ret_valid.next = false;
        self.commit_err_valid.next = false;
        self.commit_cqe_valid.next = false;
        self.commit_rnr_valid.next = false;
        self.withdraw_valid.next = false;
        self.withdraw_began.next = false;
        self.over_ready.next = false;
        self.over_done.next = false;
        self.over_failed.next = false;
        self.again_ready.next = false;
        self.matters.next = false;
        self.takes_one.next = false;
        self.fails.next = false;
        self.flush_room.next = !self.flushes.full.val() | !self.sends.val();
        comment!("only a refused WQE that is the oldest moves its queue pair to Error as it completes");
        self.may_emit.next = !self.releases.full.val()
            & (self.flush_room.val() | self.stream.q.val().failed | !self.message.q.val().status.any());
        self.room.next = !self.writer.full.val() & self.may_emit.val();
        comment!("fault 8: done while the last packet is still out");
        self.early.next = (self.fault.val() == 8) & (self.message.q.val().remaining == 2);
        self.last.next = (self.message.q.val().remaining == 1) | self.early.val();
        self.refusal.next = self.nak_code.val();
        if self.reads.val() & !self.nak_valid.val() {
            self.refusal.next = self.rnak_code.val();
        }
        self.status_of_nak.next = 9.into();
        if (self.refusal.val() == 1) | (self.refusal.val() == 2) | (self.refusal.val() == 3) {
            self.status_of_nak.next = 10.into();
        }
        if self.refusal.val() == 6 {
            self.status_of_nak.next = 11.into();
        }
        if self.nak_valid.val() & self.nak_rnr.val() & self.sends.val() {
            // N3
            self.status_of_nak.next = 13.into();
        }
        if self.step.q.val() == Step::Message {
            self.now_at.next = self.state.read_data.val();
        }
        self.next_at.next = self.now_at.val();
        self.outstanding.next = self.place.q.val() < self.span.q.val();
        comment!("of the oldest message, a clock ahead: the step before Emit leaves its stream's head, tail, failure and CQ as they are");
        self.none_left.d.next = self.stream.q.val().head == self.stream.q.val().tail;
        self.fails_here.d.next = (self.stream.q.val().fail == 1) & (self.stream.q.val().fail_msn == self.stream.q.val().head);
        comment!("W3: which status the oldest message completes with");
        self.done.next = self.is_done.q.val();
        self.is_failing.next =
            self.stream.q.val().failed & (self.fails_here.q.val() | ((self.stream.q.val().fail == 2) & !self.done.val()));

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
        self.cqe_at.d.next =
            self.cq.q.val().base + (bit_cast::<64, 16>(self.stream.q.val().cq_count & self.cqe_mask.val()) << 5);
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
        self.cqe.next.addr = self.cqe_at.q.val();
        self.cqe.next.data = self.cqe_words.val();
        self.releases.data_in.next = self.qp.q.val();
        self.finish.next = false;
        self.of_peer.next = false;
        self.commit_err_kind.next = self.kind.q.val();
        self.commit_err_qp.next = self.qp.q.val();
        self.commit_err_conn.next = self.scan_conn.q.val();
        self.commit_err_code.next = self.nak.q.val();
        self.commit_err_msn.next = self.msn.q.val();
        self.commit_err_fails.next = self.kind.q.val() != 4;

        comment!("who is next, of those that wait: decided in the clock before");
        self.answer_waits.next = self.reads.val() & self.answered_valid.val();
        self.favours.next = self.favour.q.val() & (self.over_valid.val() | self.again_valid.val());
        comment!("what waited for a receive enters its ring: errors come after it");
        self.may_fail.next = self.quiet.val() & !self.rnr_hold.val();
        self.turn.d.next = Turn::Nobody;
        if !self.favours.val() & self.ret_valid.val() {
            self.turn.d.next = Turn::Retired;
        } else if !self.favours.val() & self.answer_waits.val() {
            self.turn.d.next = Turn::Answered;
        } else if !self.ret_valid.val()
            & !self.answer_waits.val()
            & self.may_fail.val()
            & self.reads.val()
            & self.rnak_valid.val()
            & !self.nak_valid.val()
        {
            self.turn.d.next = Turn::ResponseNak;
        } else if !self.ret_valid.val() & !self.answer_waits.val() & self.may_fail.val() & self.nak_valid.val() {
            self.turn.d.next = Turn::Nak;
        } else if !self.ret_valid.val() & !self.answer_waits.val() & self.may_fail.val() & self.rxerr_valid.val() {
            self.turn.d.next = Turn::Refused;
        } else if !self.ret_valid.val() & !self.answer_waits.val() & self.may_fail.val() & self.cerr_valid.val() {
            self.turn.d.next = Turn::GivenUp;
        } else if self.over_valid.val() {
            self.turn.d.next = Turn::Over;
        } else if self.again_valid.val() {
            self.turn.d.next = Turn::Again;
        }
        comment!("a message comes with no announcement: work_fetch gives it when it may be taken. It waits in a register and goes first");
        self.greets.d.next = (self.favour.q.val() | !(self.ret_valid.val() | self.answer_waits.val()))
            & !(self.may_fail.val()
                & (self.nak_valid.val()
                    | (self.reads.val() & self.rnak_valid.val())
                    | self.rxerr_valid.val()
                    | self.cerr_valid.val()))
            & !self.over_valid.val()
            & !self.again_valid.val();
        comment!("one event a clock: in Idle only if it is nobody's turn");
        self.cmsg_ready.next = self.ready.q.val()
            & !self.cfg_held.q.val()
            & !self.held_msg.q.val()
            & self.greets.q.val()
            & ((self.step.q.val() != Step::Idle) | (self.turn.q.val() == Turn::Nobody));
        if self.cmsg_valid.val() & self.cmsg_ready.val() {
            self.held_msg.d.next = true;
            self.msg_qp.d.next = self.cmsg_qp.val();
            self.msg_msn.d.next = self.cmsg_msn.val();
            self.favour.d.next = false;
            self.incoming.d.next.remaining = self.cmsg_npkts.val();
            self.incoming.d.next.npkts = self.cmsg_npkts.val();
            self.incoming.d.next.withdrawn = false;
            self.incoming.d.next.unanswered = self.reads.val()
                & !self.cmsg_status.val().any()
                & ((self.cmsg_opcode.val() == 4) | (self.cmsg_opcode.val() == 5) | (self.cmsg_opcode.val() == 6));
            self.incoming.d.next.status = self.cmsg_status.val();
            self.incoming.d.next.signaled = self.cmsg_signaled.val();
            self.incoming.d.next.opcode = self.cmsg_opcode.val();
            self.incoming.d.next.wqe_index = self.cmsg_wqe_index.val();
            self.incoming.d.next.length = self.cmsg_length.val();
            self.incoming.d.next.wr_id = self.cmsg_wr_id.val();
            if self.cmsg_status.val() != 0 {
                self.incoming.d.next.remaining = 0.into();
            }
        }
        self.qp_here.next = self.msg_qp.q.val();
        self.msn_here.next = self.msg_msn.q.val();
        self.takes.next = !self.cfg_held.q.val() & !self.held_msg.q.val();
        match self.turn.q.val() {
            Turn::Retired => {
                self.qp_here.next = self.ret_qp.val();
                self.msn_here.next = self.ret_msn.val();
            }
            Turn::Answered => {
                self.qp_here.next = self.answered_qp.val();
                self.msn_here.next = self.answered_msn.val();
            }
            Turn::ResponseNak => {
                self.qp_here.next = self.rnak_qp.val();
                self.msn_here.next = self.rnak_msn.val();
            }
            Turn::Nak => {
                self.qp_here.next = self.nak_qp.val();
                self.msn_here.next = self.nak_msn.val();
            }
            Turn::Refused => {
                self.qp_here.next = self.rxerr_qp.val();
            }
            Turn::Over => {
                self.qp_here.next = self.over_qp.val();
            }
            Turn::Again => {
                self.qp_here.next = self.again_qp.val();
                self.msn_here.next = self.again_msn.val();
            }
            _ => {}
        }
        if self.held_msg.q.val() {
            self.qp_here.next = self.msg_qp.q.val();
            self.msn_here.next = self.msg_msn.q.val();
        }
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
                self.next_at.next.waiting = false;
                self.next_at.next.fail = 0.into();
                self.state.write_enable.next = true;
                self.state.write_address.next = self.walk.q.val();
                self.new_row.next.remaining = 0.into();
                self.new_row.next.withdrawn = false;
                self.new_row.next.unanswered = false;
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
                comment!("no ready depends on its own valid of this clock");
                self.ret_ready.next = self.takes.val() & (self.turn.q.val() == Turn::Retired);
                self.answered_ready.next = self.takes.val() & (self.turn.q.val() == Turn::Answered);
                self.rnak_ready.next = self.takes.val() & self.may_fail.val() & (self.turn.q.val() == Turn::ResponseNak);
                self.nak_ready.next = self.takes.val() & self.may_fail.val() & (self.turn.q.val() == Turn::Nak);
                self.rxerr_ready.next = self.takes.val() & self.may_fail.val() & (self.turn.q.val() == Turn::Refused);
                self.cerr_ready.next = self.takes.val() & self.may_fail.val() & (self.turn.q.val() == Turn::GivenUp);
                self.over_ready.next = self.takes.val() & (self.turn.q.val() == Turn::Over);
                self.again_ready.next = self.takes.val() & (self.turn.q.val() == Turn::Again);
                if !self.cfg_held.q.val() | self.held_msg.q.val() {
                    self.state.read_address.next = bit_cast::<24, 16>(self.qp_here.val());
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.qp_here.val());
                    self.messages.read_address.next = (bit_cast::<24, 16>(self.qp_here.val()) << self.message_log2.val())
                        | (self.msn_here.val() & self.message_mask.val());
                    self.qp.d.next = self.qp_here.val();
                    self.msn.d.next = self.msn_here.val();
                }
                if self.held_msg.q.val() {
                    self.step.d.next = Step::Message;
                } else if self.cfg_held.q.val()
                    & (!self.cfg_read.q.val() | !self.releases.empty.val() | !self.flushes.empty.val())
                {
                    comment!("releases and flushes of the earlier queue pair leave first");
                    self.step.d.next = Step::Idle;
                } else if self.cfg_held.q.val() & self.held_conn.q.val() {
                    self.cfg_held.d.next = false;
                    self.cfg_read.d.next = false;
                    self.given_up.write_enable.next = true;
                    self.given_up.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.given_up.write_data.next = false;
                } else if self.cfg_held.q.val() & self.held_rnr.q.val() {
                    comment!("N3: a queue pair's retries, named after it was opened: their count begins anew");
                    self.fixed.read_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.state.read_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    self.rnr_read.d.next = true;
                    if self.rnr_read.q.val() {
                        self.rnr_read.d.next = false;
                        self.cfg_held.d.next = false;
                        self.cfg_read.d.next = false;
                        self.from_queue.next = self.fixed.read_data.val();
                        self.from_queue.next.rnr_retry = self.held_data.q.val().get_bits::<3>(0);
                        self.fixed.write_enable.next = true;
                        self.next_at.next = self.state.read_data.val();
                        self.next_at.next.rnr_left = self.held_data.q.val().get_bits::<3>(0);
                        self.state.write_enable.next = true;
                        self.state.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
                    }
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
                    self.next_at.next.waiting = false;
                    self.next_at.next.rnr_left = self.from_queue.val().rnr_retry;
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
                    comment!("a burst of retired packets does not keep new messages waiting");
                    self.favour.d.next = true;
                    self.bytes.d.next = self.ret_bytes.val();
                    self.is_answer.d.next = false;
                    self.then.d.next = Step::Retired;
                    self.step.d.next = Step::Load;
                } else if self.answered_valid.val() & self.answered_ready.val() {
                    self.favour.d.next = true;
                    self.bytes.d.next = 0.into();
                    self.is_answer.d.next = true;
                    self.then.d.next = Step::Retired;
                    self.step.d.next = Step::Load;
                } else if self.rnak_valid.val() & self.rnak_ready.val() {
                    self.by_response.d.next = true;
                    self.kind.d.next = 1.into();
                    self.nak.d.next = self.rnak_code.val();
                    self.fail_kind.d.next = 1.into();
                    self.fail_status.d.next = self.status_of_nak.val();
                    self.then.d.next = Step::Judge;
                    self.step.d.next = Step::Load;
                } else if self.nak_valid.val() & self.nak_ready.val() {
                    self.by_response.d.next = false;
                    self.scan_conn.d.next = self.nak_conn.val();
                    self.kind.d.next = 1.into();
                    if self.nak_rnr.val() & self.sends.val() {
                        self.kind.d.next = 4.into();
                    }
                    self.nak.d.next = self.nak_code.val();
                    self.fail_kind.d.next = 1.into();
                    self.fail_status.d.next = self.status_of_nak.val();
                    self.then.d.next = Step::Judge;
                    self.step.d.next = Step::Load;
                } else if self.rxerr_valid.val() & self.rxerr_ready.val() {
                    self.kind.d.next = 3.into();
                    self.nak.d.next = 0.into();
                    self.fail_kind.d.next = 2.into();
                    self.fail_status.d.next = 5.into();
                    self.then.d.next = Step::Judge;
                    self.step.d.next = Step::Load;
                } else if self.cerr_valid.val() & self.cerr_ready.val() {
                    self.scan_conn.d.next = self.cerr_conn.val();
                    self.given_up.write_enable.next = true;
                    self.scanning.d.next = true;
                    self.kind.d.next = 2.into();
                    self.nak.d.next = 0.into();
                    self.fail_kind.d.next = 2.into();
                    self.fail_status.d.next = 12.into();
                    self.qp.d.next = 0.into();
                    self.then.d.next = Step::Scan;
                    self.step.d.next = Step::ScanRead;
                } else if self.over_valid.val() & self.over_ready.val() {
                    self.favour.d.next = false;
                    self.then.d.next = Step::Over;
                    self.step.d.next = Step::Load;
                } else if self.again_valid.val() & self.again_ready.val() {
                    self.favour.d.next = false;
                    self.then.d.next = Step::Again;
                    self.step.d.next = Step::Load;
                }
            }
            Step::Load => {
                comment!("the rows that Idle or ScanRead named; what follows acts on registers");
                self.stream.d.next = self.state.read_data.val();
                self.cq.d.next = self.fixed.read_data.val();
                self.message.d.next = self.messages.read_data.val();
                self.place.d.next = self.msn.q.val() - self.state.read_data.val().head;
                self.span.d.next = self.state.read_data.val().tail - self.state.read_data.val().head;
                self.step.d.next = self.then.q.val();
            }
            Step::Message => {
                comment!("a WQE was taken: a new message at the tail");
                self.held_msg.d.next = false;
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
                comment!("a packet was retired, or a response is whole");
                self.commit_ret_valid.next = !self.is_answer.q.val();
                self.commit_answered_valid.next = self.is_answer.q.val();
                self.counts.next = self.message.q.val().remaining.any();
                self.ends.next = self.last.val() & !self.message.q.val().unanswered & !self.message.q.val().withdrawn;
                if self.is_answer.q.val() {
                    self.counts.next = self.message.q.val().unanswered;
                    self.ends.next = !self.message.q.val().remaining.any() & !self.message.q.val().withdrawn;
                }
                self.step.d.next = Step::Idle;
                if self.outstanding.val() & self.counts.val() {
                    if self.is_answer.q.val() {
                        self.new_row.next.unanswered = false;
                    } else {
                        self.new_row.next.remaining = self.message.q.val().remaining - 1;
                        if self.early.val() {
                            self.new_row.next.remaining = 0.into();
                        }
                    }
                    self.messages.write_enable.next = true;
                    if self.ends.val() {
                        self.request_done.next = self.message_asks.val();
                        self.next_at.next.ahead = self.now_at.val().ahead + 1;
                        self.state.write_enable.next = true;
                        self.stream.d.next = self.next_at.val();
                        if !self.place.q.val().any() {
                            comment!("it is the oldest message, so its row is at hand");
                            self.message.d.next = self.new_row.val();
                            self.is_done.d.next = true;
                            self.step.d.next = Step::Emit;
                        }
                    }
                }
            }
            Step::Judge => {
                comment!("W3: the first error counts; a nak of a message that is gone does not");
                comment!("section 6: a peer may refuse for queue pairs of its connection only");
                self.of_peer.next = (self.kind.q.val() == 1) | (self.kind.q.val() == 4);
                self.matters.next = !self.of_peer.val()
                    | (self.reads.val() & self.by_response.q.val())
                    | ((bit_cast::<24, 16>(self.qp.q.val()) <= self.last_qp.val())
                        & self.cq.q.val().valid
                        & (self.cq.q.val().conn == self.scan_conn.q.val()));
                comment!(
                    "N1, N3: the first RNR of a wait uses a retry, unless its code has bit 5; with none left the message fails"
                );
                self.counts.next = (self.kind.q.val() == 4)
                    & self.matters.val()
                    & !self.stream.q.val().failed
                    & self.outstanding.val()
                    & self.message.q.val().remaining.any()
                    & !self.message.q.val().withdrawn;
                self.takes_one.next =
                    !self.stream.q.val().waiting & !self.nak.q.val().get_bit(5) & (self.cq.q.val().rnr_retry != 7);
                self.of_conn.d.next = self.matters.val();
                self.refuses.d.next = self.counts.val();
                self.uses_retry.d.next = self.takes_one.val();
                self.dooms.d.next = self.cq.q.val().valid
                    & self.matters.val()
                    & !self.stream.q.val().failed
                    & (!self.of_peer.val() | self.outstanding.val());
                if self.kind.q.val() == 4 {
                    self.dooms.d.next = self.counts.val() & self.takes_one.val() & !self.stream.q.val().rnr_left.any();
                }
                self.step.d.next = Step::Failure;
            }
            Step::Failure => {
                comment!("Q6: the receives of the queue pair are to be flushed too; it waits for room to say so");
                if self.flush_room.val() {
                    self.commit_err_valid.next = self.of_conn.q.val();
                    self.step.d.next = Step::Idle;
                    self.fails.next = self.dooms.q.val();
                    if self.kind.q.val() == 4 {
                        self.commit_err_fails.next = self.dooms.q.val();
                        if self.refuses.q.val() & !self.dooms.q.val() {
                            self.withdraw_valid.next = true;
                            self.withdraw_began.next = !self.now_at.val().waiting;
                            self.new_row.next.withdrawn = true;
                            self.messages.write_enable.next = true;
                            self.next_at.next.waiting = true;
                            if self.uses_retry.q.val() {
                                self.next_at.next.rnr_left = self.now_at.val().rnr_left - 1;
                            }
                            self.state.write_enable.next = true;
                        }
                    }
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
            Step::Over => {
                comment!("N2: everything that the queue pair has sent was counted; does it still wait?");
                self.over_done.next = true;
                self.over_failed.next = !self.cq.q.val().valid | self.now_at.val().failed | !self.now_at.val().waiting;
                if !self.over_failed.val() {
                    self.next_at.next.waiting = false;
                    self.state.write_enable.next = true;
                    self.commit_rnr_valid.next = true;
                }
                self.step.d.next = Step::Idle;
            }
            Step::Again => {
                comment!("N2: unless it was flushed meanwhile");
                if self.outstanding.val() & self.message.q.val().withdrawn {
                    self.new_row.next.withdrawn = false;
                    self.new_row.next.remaining = self.message.q.val().npkts;
                    self.messages.write_enable.next = true;
                }
                self.step.d.next = Step::Idle;
            }
            Step::ScanRead => {
                self.step.d.next = Step::Load;
            }
            Step::Scan => {
                comment!("a connection was given up: every QP of it fails");
                if self.cq.q.val().valid & (self.cq.q.val().conn == self.scan_conn.q.val()) & !self.now_at.val().failed {
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
                self.message.d.next = self.messages.read_data.val();
                self.is_done.d.next = !self.messages.read_data.val().remaining.any()
                    & !self.messages.read_data.val().withdrawn
                    & !self.messages.read_data.val().unanswered;
                self.step.d.next = Step::Emit;
            }
            Step::Emit => {
                comment!("the oldest message completes if it is done, or if its queue pair is in Error");
                self.state.read_address.next = bit_cast::<24, 16>(self.msg_qp.q.val());
                self.fixed.read_address.next = bit_cast::<24, 16>(self.msg_qp.q.val());
                if self.none_left.q.val() | (!self.done.val() & !self.stream.q.val().failed) {
                    self.finish.next = true;
                } else if self.room.val() {
                    self.next_at.next.head = self.stream.q.val().head + 1;
                    if self.done.val() {
                        self.next_at.next.ahead = self.stream.q.val().ahead - 1;
                    } else {
                        comment!("flushed");
                        self.request_done.next = self.message_asks.val();
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
                    if !self.cqe_status.val().any() {
                        // N3
                        self.next_at.next.rnr_left = self.cq.q.val().rnr_retry;
                    }
                    if self.cqe_status.val().any() | self.message.q.val().signaled {
                        self.next_at.next.cq_count = self.stream.q.val().cq_count + 1;
                        self.writer.write.next = true;
                        self.commit_cqe_valid.next = true;
                    }
                    self.state.write_enable.next = true;
                    self.stream.d.next = self.next_at.val();
                    self.msn.d.next = self.next_at.val().head;
                    comment!("none other is done: the queue pair is not in Error, so this one was");
                    if (self.stream.q.val().ahead == 1) & !self.stream.q.val().failed & !self.message.q.val().status.any() {
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
            if self.held_msg.q.val() & (self.msg_qp.q.val() != self.qp.q.val()) & !self.scanning.q.val() {
                comment!("its row is not the one that is written now, and has been read beside it");
                self.qp.d.next = self.msg_qp.q.val();
                self.msn.d.next = self.msg_msn.q.val();
                self.step.d.next = Step::Message;
            }
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
            self.sends.val() & !self.writer.full.val() & !((self.step.q.val() == Step::Emit) & self.may_emit.val());
        if self.rcqe_valid.val() & self.rcqe_ready.val() {
            self.writer.write.next = true;
            self.cqe.next.addr = self.rcqe_addr.val();
            self.cqe.next.data = self.rcqe_data.val();
        }
        self.writer.cqe.next = self.cqe.val();
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
        self.cw_desc_valid.next = self.writer.cw_desc_valid.val();
        self.writer.cw_desc_ready.next = self.cw_desc_ready.val();
        self.cw_desc_addr.next = self.writer.cw_desc_addr.val();
        self.cw_desc_len.next = self.writer.cw_desc_len.val();
        self.cw_valid.next = self.writer.cw_valid.val();
        self.writer.cw_ready.next = self.cw_ready.val();
        self.cw_data.next = self.writer.cw_data.val();
        self.cw_last.next = self.writer.cw_last.val();
        self.withdraw_qp.next = self.qp.q.val();
        self.withdraw_msn.next = self.msn.q.val();
        self.withdraw_code.next = self.nak.q.val();
        self.over_head.next = self.now_at.val().head;
        self.commit_rnr_qp.next = self.qp.q.val();
        if self.reset.val() {
            self.step.d.next = Step::Clear;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
            self.cfg_held.d.next = false;
            self.cfg_read.d.next = false;
            self.scanning.d.next = false;
            self.favour.d.next = false;
            self.held_msg.d.next = false;
            self.rnr_read.d.next = false;
        }
    }
}
