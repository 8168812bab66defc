//! The sequencer's states: what each clock of a step reads, starts and writes.
//!
//! In and out: see the parent module. Guarantees: rows are read in the first clock of a step and written in its last; a refused slot changes nothing.
use super::{Sequencer, Step};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

impl Logic for Sequencer {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module sequencer: acknowledgments, transmit slots, timers and openings, one step at a time");
        dff_setup!(
            self,
            clock,
            step,
            count,
            nak_inside,
            to_old,
            conn,
            path,
            time,
            for_ack,
            for_open,
            word_op,
            at_ack,
            at_slot,
            at_opened,
            at_open,
            at_watch,
            calm,
            at_timer,
            at_resend,
            began,
            began_conn,
            began_path,
            own_srtt,
            own_longest,
            cum_reg,
            span_reg,
            has_msg,
            both,
            more,
            npkts,
            length_low,
            packet,
            inflight,
            qp_error,
            at_pick,
            ends,
            skips,
            asides,
            responds,
            empties,
            attempt,
            closed,
            shut,
            via,
            desc_held,
            desc_reg,
            alloc_held,
            alloc_row,
            alloc_ppsn,
            alloc_entry,
            nak_held,
            nak_conn_reg,
            nak_qp_reg,
            nak_code_reg,
            nak_msn_reg,
            nak_rnr_reg,
            for_rnr,
            cerr_held,
            cerr_reg,
            wake_held,
            wake_reg
        );
        clock!(self, clock, unpack, choice, tables, ack_step, words, acked, slot, timer, others, watch, opening, commits);
        self.unpack.reset.next = self.reset.val();
        self.choice.reset.next = self.reset.val();
        self.opening.reset.next = self.reset.val();
        self.tables.reset.next = self.reset.val();
        self.words.reset.next = self.reset.val();
        self.acked.reset.next = self.reset.val();
        self.slot.reset.next = self.reset.val();
        self.commits.reset.next = self.reset.val();
        self.ack_step.fault.next = self.fault.val();
        self.slot.fault.next = self.fault.val();
        self.init_done.next = self.tables.init_done.val();

        comment!("the pre-stage of acknowledgments");
        self.unpack.ack_valid.next = self.ack_valid.val();
        self.unpack.ack.next = self.ack.val();
        self.unpack.ack_sav.next = self.ack_sav.val();
        self.ack_ready.next = self.unpack.ack_ready.val();
        self.ack_taken.next = false;

        comment!("rows of the step");
        self.here.next = self.tables.here.val();
        self.there.next = self.tables.there.val();
        self.row.next = self.tables.path_ack.val();
        self.span.next = self.here.val().next_ppsn.get_bits::<9>(0) - self.here.val().cum.get_bits::<9>(0);
        self.table_row.next = (bit_cast::<24, 16>(self.conn.q.val()) << 3) | bit_cast::<24, 3>(self.path.q.val());
        self.slot_row.next = (bit_cast::<24, 16>(self.conn.q.val()) << 3) | bit_cast::<24, 3>(self.slot.path.val());

        comment!("the next step may be chosen in Idle, in the last clock of an acknowledgment that refuses nothing, and in that of a new packet's slot");
        self.at_ack.d.next = (self.step.q.val() == Step::AckRun) & (self.count.q.val() == 2);
        self.at_slot.d.next = (self.step.q.val() == Step::GrantWait) & (self.count.q.val() == 1);
        self.at_resend.d.next = (self.step.q.val() == Step::PaceWait) & (self.count.q.val() == 1);
        self.at_timer.d.next = ((self.step.q.val() == Step::TimerRun) & (self.count.q.val() == 2))
            | ((self.step.q.val() == Step::TimerJudge) & (self.timer.action.val() != 0) & self.timer.gives_up.val());
        // two clocks a path: the tables take a row in every second clock
        self.at_watch.d.next = (self.at_timer.q.val() & self.timer.goes_down.val())
            | (self.at_watch.q.val() & ((self.path.q.val() != 7) | !self.count.q.val().get_bit(0)));
        self.at_open.d.next = self.step.q.val() == Step::OpenRead;
        self.at_opened.d.next = (self.step.q.val() == Step::OpenRun) & (self.count.q.val() == 2) & (self.path.q.val() == 7);
        self.nak.next = self.unpack.out.val().flags.get_bit(3);
        self.rnr.next = self.unpack.out.val().flags.get_bit(0) & self.sends.val();
        self.choose.next = ((self.step.q.val() == Step::Idle) & self.tables.init_done.val())
            | (self.at_ack.q.val() & !self.nak.val() & !self.rnr.val())
            | self.at_slot.q.val();
        self.emptied.next = false;
        self.tables.conn.next = self.conn.q.val();
        self.tables.path.next = self.path.q.val();
        self.tables.select.next = self.path.q.val();
        self.tables.other.next = self.slot.path.val();

        comment!("inputs of the parts");
        self.ack_step.now.next = self.time.q.val();
        self.ack_step.rto_min.next = self.rto_min.val();
        self.ack_step.ack.next = self.unpack.out.val();
        self.ack_step.high.next = self.unpack.out_high.val();
        self.ack_step.any.next = self.unpack.out_any.val();
        self.ack_step.path.next = self.here.val();
        self.ack_step.row.next = self.row.val();
        self.ack_step.stranded.next = self.others.stranded.val();
        self.ack_step.awaits.next = self.watch.awaits.val();
        self.ack_step.acked.next = self.words.acked.val();
        self.ack_step.dropped.next = self.words.dropped.val();
        self.ack_step.lost_words.next = self.words.lost_words.val();
        self.ack_step.any_l1.next = self.words.any_l1.val();
        self.ack_step.any_rtx_old.next = self.words.any_rtx_old.val();
        self.timer.now.next = self.time.q.val();
        self.timer.rto_min.next = self.rto_min.val();
        self.timer.path.next = self.here.val();
        self.timer.row.next = self.row.val();
        self.timer.cfg.next = self.tables.conn_cfg.val();
        self.timer.conn.next = self.tables.conn_ack.val();
        self.timer.other_up.next = self.others.any_up.val();
        self.timer.stranded.next = self.others.stranded.val();
        self.timer.watching.next = self.watch.watches.val();
        self.timer.alive.next = self.watch.seen_alive.val();
        self.timer.lost_words.next = self.words.lost_words.val();
        self.others.except.next = self.path.q.val();
        self.opening.cfg_valid.next = self.cfg_valid.val();
        self.opening.cfg_table.next = self.cfg_table.val();
        self.opening.cfg_index.next = self.cfg_index.val();
        self.opening.cfg_word0.next = self.cfg_word0.val();
        self.opening.cfg_word1.next = self.cfg_word1.val();
        self.opening.cfg_word2.next = self.cfg_word2.val();
        self.opening.opened.next = self.step.q.val() == Step::OpenFinish;
        self.opening.now.next = self.time.q.val();
        self.opening.path.next = self.path.q.val();
        self.opening.path_cfg.next = self.tables.path_cfg.val();
        self.slot.now.next = self.time.q.val();
        self.slot.load.next = self.step.q.val() == Step::GrantRead;
        self.slot.start.next = (self.step.q.val() == Step::GrantPick) | (self.step.q.val() == Step::PaceStart);
        self.slot.cfg.next = self.tables.conn_cfg.val();
        self.slot.conn_tx.next = self.tables.conn_tx.val();
        self.slot.conn_ack.next = self.tables.conn_ack.val();
        self.slot.npkts.next = self.npkts.q.val();
        // the index of an ERROR_RESP is the peer's QPN
        self.slot_index.next = self.packet.q.val().index;
        if self.packet.q.val().kind == 2 {
            self.slot_index.next = 0.into();
        }
        self.slot.index.next = self.slot_index.val();
        self.slot.length.next = self.length_low.q.val();
        self.slot.inflight.next = self.inflight.q.val();
        self.slot.bytes.next = self.packet.q.val().bytes;
        self.slot.via.next = self.via.q.val();
        comment!("D8: what block silence says is taken in the second clock of a step");
        self.watch.path.next = self.path.q.val();
        self.watch.load.next =
            (self.step.q.val() == Step::AckCheck) | ((self.step.q.val() == Step::TimerRead) & (self.count.q.val() == 1));
        self.watch.awaited.next = self.watch_awaited.val();
        self.watch.alive.next = self.watch_alive.val();
        self.life_valid.next = false;
        self.life_conn.next = self.conn.q.val();
        self.life_now.next = self.time.q.val();
        for p in 0..8 {
            self.watch.path_tx[p].next = self.tables.path_tx[p].val();
            self.others.path_tx[p].next = self.tables.path_tx[p].val();
            self.slot.path_tx[p].next = self.tables.path_tx[p].val();
        }
        comment!("the operands of a step on the words come from registers: its masks take most of a clock");
        self.cum_reg.d.next = self.here.val().cum;
        self.span_reg.d.next = self.span.val();
        self.word_op.d.next = 1.into();
        if self.timer.all_lost.val() {
            self.word_op.d.next = 2.into();
        }
        if self.for_ack.q.val() {
            self.word_op.d.next = 0.into();
        }
        if self.for_open.q.val() {
            self.word_op.d.next = 3.into();
        }
        self.words.row.next = self.table_row.val();
        self.words.cum.next = self.here.val().cum;
        self.words.step_cum.next = self.cum_reg.q.val().get_bits::<8>(0);
        self.words.step_start.next = false;
        self.words.step_op.next = self.word_op.q.val();
        self.words.advance.next = 0.into();
        self.words.gap_from.next = 0.into();
        self.words.gap_below.next = self.span_reg.q.val();
        self.words.turn.next = false;
        self.words.refuses.next = false;
        self.words.refused.next = self.unpack.out.val().mak_qp.get_bits::<8>(0);
        if self.for_ack.q.val() {
            self.words.advance.next = self.ack_step.advance.val();
            self.words.gap_from.next = self.ack_step.gap_from.val();
            self.words.gap_below.next = self.ack_step.gap_below.val();
            self.words.turn.next = self.ack_step.turn.val();
            self.words.refuses.next = self.ack_step.refuses.val() & self.sends.val();
        }
        self.words.sav0.next = self.unpack.out_word[0].val();
        self.words.sav1.next = self.unpack.out_word[1].val();
        self.words.sav2.next = self.unpack.out_word[2].val();
        self.words.sav3.next = self.unpack.out_word[3].val();
        self.words.find_start.next = false;
        self.words.find_lost_words.next = self.here.val().lost_words;
        self.words.move_start.next = false;
        self.words.peek_start.next = false;
        self.words.peek_ppsn.next = self.unpack.out.val().mak_qp.get_bits::<8>(0);
        self.words.clear.next = self.tables.clear.val();
        self.words.clear_address.next = self.tables.clear_address.val();
        self.acked.put_valid.next = self.words.newly_valid.val();
        self.acked.put_second.next = self.words.newly_second.val();
        self.acked.put_even.next = self.words.newly_even.val();
        self.acked.put_odd.next = self.words.newly_odd.val();
        self.acked.put_conn.next = self.conn.q.val();
        self.acked.put_path.next = self.path.q.val();
        self.acked.put_cum.next = self.cum_reg.q.val();
        self.acked.acked_ready.next = self.acked_ready.val();
        self.acked_valid.next = self.acked.acked_valid.val();
        self.acked_conn.next = self.acked.acked_conn.val();
        self.acked_path.next = self.acked.acked_path.val();
        self.acked_base_ppsn.next = self.acked.acked_base_ppsn.val();
        self.acked_mask.next = self.acked.acked_mask.val();

        comment!("outputs that wait for their taker");
        if self.desc_ready.val() {
            self.desc_held.d.next = false;
        }
        if self.nak_ready.val() {
            self.nak_held.d.next = false;
        }
        if self.cerr_ready.val() {
            self.cerr_held.d.next = false;
        }
        self.queue_valid.next = self.alloc_held.q.val();
        self.queue_lookup.next = false;
        self.queue_row.next = self.alloc_row.q.val();
        self.queue_ppsn.next = self.alloc_ppsn.q.val();
        self.queue_entry.next = self.alloc_entry.q.val();
        if self.queue_ready.val() {
            self.alloc_held.d.next = false;
        }
        self.wake_held.d.next = false;
        self.wake_reg.d.next = self.conn.q.val();
        self.commits.grant.next = false;
        self.commits.kind.next = 0.into();
        self.commits.nop.next = false;
        self.commits.ack.next = false;
        self.commits.timer.next = false;
        self.done_valid.next = false;
        self.done_advance.next = false;
        self.done_skip.next = false;
        self.done_aside.next = false;
        self.done_requeue.next = false;
        self.done_respond.next = false;
        self.lost_valid.next = false;
        self.offer_ready.next = false;
        self.set_valid.next = false;
        self.set_row.next = self.table_row.val();
        self.set_active.next = true;
        self.set_deadline.next = self.timer.deadline.val();
        self.open_valid.next = false;
        self.open_conn.next = self.opening.conn.val();
        self.rb_addr.next = self.conn.q.val();
        self.qperr_addr.next = self.packet.q.val().qp;
        self.withdrawn_msn.next = self.packet.q.val().msn;
        self.emit_desc.next = false;
        self.out.next = self.no_desc.val();

        // the port of the path that is travelled
        self.chosen.next = self.via.q.val();
        if self.at_slot.q.val() {
            self.chosen.next = self.slot.path.val();
        }
        self.chosen_port.next = 0.into();
        for p in 0..8 {
            self.element.next = self.tables.path_tx[p].val();
            if self.chosen.val() == p.to_bits::<3>() {
                self.chosen_port.next = self.element.val().port;
            }
        }
        self.pipe_after.next = self.here.val().pipe + 1;
        self.pipe_there.next = self.there.val().pipe + 1;
        // L2: no packet was first sent since the mark; known a clock before ResendFinish, as the row rests
        self.to_old.d.next = !self.row.val().gen_open | (self.row.val().mark == self.here.val().next_ppsn);
        self.words.move_to_old.next = self.to_old.q.val();
        self.nak_offset.next = self.unpack.out.val().mak_qp - self.here.val().cum;
        self.nak_span.next = self.here.val().next_ppsn - self.here.val().cum;
        comment!("known a clock before NakAsk: the row rests since NakPeek");
        self.nak_inside.d.next = self.nak_offset.val() < self.nak_span.val();

        comment!("what ends a slot in GrantPick, unless it resends: decided a clock ahead");
        self.at_pick.d.next = self.step.q.val() == Step::GrantRead;
        self.is_error_resp.next = self.packet.q.val().kind == 2;
        self.is_shut.next = !self.tables.conn_cfg.val().open;
        self.is_closed.next = self.is_shut.val() | self.tables.conn_ack.val().error;
        // S2: what is dropped whole; the error bit says nothing of an ERROR_RESP, whose QP is not looked at
        self.drops.next = self.is_shut.val()
            | (self.qperr_data.val() & !self.is_error_resp.val())
            | (self.is_closed.val() & self.packet.q.val().kind.any());
        // in a connection in error no response waits for the QP of a message to be in Error
        self.is_message.next = !self.packet.q.val().kind.any();
        self.yields.next = self.is_closed.val() & !self.is_shut.val() & self.both.q.val() & self.is_message.val();
        self.responds.d.next = self.has_msg.q.val() & self.yields.val();
        // a message of a QP in Error is skipped whole, in a connection in error too, and there every response; what waits of a
        // closed connection is dropped
        self.skips.d.next = self.has_msg.q.val() & self.drops.val() & !self.yields.val();
        // N1: the message of a QP that waits is set aside, whatever the windows say
        self.waits.next = self.wait_data.val() & self.is_message.val();
        self.asides.d.next = self.has_msg.q.val() & !self.is_closed.val() & !self.drops.val() & self.waits.val();
        // W3: in a connection in error the QP is about to move to Error; the next slot looks again
        self.ends.d.next = !self.has_msg.q.val() | self.is_closed.val() | self.drops.val() | self.waits.val();
        self.empties.d.next = !self.has_msg.q.val() & self.is_shut.val() & (self.conn.q.val() == self.opening.conn.val());
        self.resends.next = !self.closed.q.val() & self.slot.resend.val();
        self.grants.next = self.at_slot.q.val()
            & self.slot.found.val()
            & self.slot.cap_ok.val()
            & self.slot.pace_ok.val()
            & self.queue_room.val();
        // the row of the path that failed was SUSPECT, in the clock before as well
        self.begins_watch.next = self.calm.q.val().get_bit(self.path.q.val().index());
        self.calm_now.next = 0.into();
        for p in 0..8 {
            self.element.next = self.tables.path_tx[p].val();
            self.calm_now.next = self.calm_now.val().replace_bit(
                p,
                (self.element.val().state == 1)
                    & (self.element.val().next_ppsn.get_bits::<9>(0) == self.element.val().cum.get_bits::<9>(0)),
            );
        }
        self.calm.d.next = self.calm_now.val();
        // the path of a new packet is UP, and rests since the slot began
        self.calm_there.next = self.calm.q.val().get_bit(self.slot.path.val().index());
        self.pick_ends.next = self.at_pick.q.val() & !self.resends.val() & (self.ends.q.val() | !self.queue_room.val());
        self.pick_skips.next = self.skips.q.val() & (!self.is_error_resp.val() | self.lost_room.val());
        // S6, N1, D7: what is resent without its content
        self.as_nop.next =
            (self.qperr_data.val() & !self.is_error_resp.val()) | (self.withdrawn_data.val() & !self.packet.q.val().kind.any());
        self.lost_conn.next = self.conn.q.val();

        match self.step.q.val() {
            Step::Idle => {}
            Step::AckRead => {
                self.for_ack.d.next = true;
                self.for_open.d.next = false;
                self.step.d.next = Step::AckCheck;
            }
            Step::AckCheck => {
                self.step.d.next = Step::AckStart;
            }
            Step::AckStart => {
                if self.ack_step.verdict.val().any() {
                    // A1
                    self.commits.ack.next = true;
                    self.ack_taken.next = true;
                    self.step.d.next = Step::Idle;
                } else if !self.acked.busy.val() {
                    self.words.step_start.next = true;
                    self.step.d.next = Step::AckRun;
                }
            }
            Step::AckRun => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 2 {
                    self.step.d.next = Step::AckFinish;
                }
            }
            Step::AckFinish => {
                self.set_valid.next = self.ack_step.set_timer.val();
                self.set_active.next = self.ack_step.timer_active.val();
                self.set_deadline.next = self.ack_step.deadline.val();
                self.life_valid.next = self.ack_step.progresses.val();
                self.wake_held.d.next = true;
                self.commits.ack.next = true;
                self.ack_taken.next = true;
                self.step.d.next = Step::Idle;
                self.for_rnr.d.next = self.rnr.val();
                if self.nak.val() & (self.unpack.out.val().mak_code == 4) {
                    self.ack_taken.next = false;
                    self.for_rnr.d.next = false;
                    self.step.d.next = Step::NakPeek;
                } else {
                    if self.nak.val() & !self.unpack.out.val().mak_qp.get_bits::<8>(16).any() {
                        // no QP has a number of more than 16 bits; completion looks at the others
                        self.nak_held.d.next = true;
                        self.nak_conn_reg.d.next = self.conn.q.val();
                        self.nak_qp_reg.d.next = self.unpack.out.val().mak_qp.get_bits::<16>(0);
                        self.nak_code_reg.d.next = self.unpack.out.val().mak_code;
                        self.nak_msn_reg.d.next = self.unpack.out.val().mak_msn;
                        self.nak_rnr_reg.d.next = false;
                    }
                    if self.rnr.val() {
                        self.ack_taken.next = false;
                        self.step.d.next = Step::NakPeek;
                    }
                }
            }
            Step::NakPeek => {
                // code 4 and an RNR name the packet, not a QP; a nak of the same acknowledgment leaves first
                if !self.nak_held.q.val() {
                    self.words.peek_start.next = true;
                    self.step.d.next = Step::NakLook;
                }
            }
            Step::NakLook => {
                self.step.d.next = Step::NakAsk;
            }
            Step::NakAsk => {
                if self.nak_inside.q.val() & !self.words.peek_sacked.val() {
                    if !self.alloc_held.q.val() {
                        self.queue_valid.next = true;
                        self.queue_lookup.next = true;
                        self.queue_row.next = self.table_row.val();
                        self.queue_ppsn.next = self.unpack.out.val().mak_qp;
                        if self.queue_ready.val() {
                            self.step.d.next = Step::NakWait;
                        }
                    }
                } else {
                    self.ack_taken.next = true;
                    self.step.d.next = Step::Idle;
                }
            }
            Step::NakWait => {
                if self.queue_rsp_valid.val() & self.queue_rsp.val().kind.any() {
                    // responses are never refused
                    self.ack_taken.next = true;
                    self.step.d.next = Step::Idle;
                } else if self.queue_rsp_valid.val() {
                    self.nak_held.d.next = true;
                    self.nak_conn_reg.d.next = self.conn.q.val();
                    self.nak_qp_reg.d.next = self.queue_rsp.val().qp;
                    self.nak_code_reg.d.next = self.unpack.out.val().mak_code;
                    self.nak_msn_reg.d.next = self.queue_rsp.val().msn;
                    self.nak_rnr_reg.d.next = self.for_rnr.q.val();
                    if self.rnr.val() & !self.for_rnr.q.val() {
                        self.for_rnr.d.next = true;
                        self.step.d.next = Step::NakPeek;
                    } else {
                        self.ack_taken.next = true;
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::TimerRead => {
                self.for_ack.d.next = false;
                self.for_open.d.next = false;
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 6 {
                    self.step.d.next = Step::TimerJudge;
                }
            }
            Step::TimerJudge => {
                self.count.d.next = 0.into();
                if self.timer.action.val() == 0 {
                    self.set_valid.next = true;
                    self.set_active.next = self.timer.active.val();
                    self.step.d.next = Step::Idle;
                    // D8: a path that has nothing to do hands over to the one that watches
                    if self.watch.awaits.val() & self.watch.any_other.val() & !self.timer.active.val() {
                        self.step.d.next = Step::TimerArm;
                    }
                } else if self.timer.gives_up.val() {
                    self.step.d.next = Step::TimerFinish;
                } else {
                    self.words.step_start.next = true;
                    self.step.d.next = Step::TimerRun;
                }
            }
            Step::TimerRun => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 2 {
                    self.step.d.next = Step::TimerFinish;
                }
            }
            Step::TimerFinish => {
                if self.timer.gives_up.val() {
                    self.cerr_held.d.next = true;
                    self.cerr_reg.d.next = self.conn.q.val();
                } else {
                    // PROBE
                    self.emit_desc.next = true;
                    self.out.next.kind = 2.into();
                    self.out.next.home = self.path.q.val();
                    self.out.next.via = self.path.q.val();
                    self.out.next.ppsn = self.here.val().next_ppsn;
                    self.out.next.port = self.timer.new_path.val().port;
                }
                self.set_valid.next = true;
                self.set_active.next = self.timer.active.val();
                self.wake_held.d.next = true;
                self.commits.timer.next = true;
                self.life_valid.next = self.watch.watches.val();
                self.step.d.next = Step::Idle;
                if self.watch.watches.val() & self.watch.any_other.val() & (self.timer.new_path.val().state != 1) {
                    self.step.d.next = Step::TimerArm;
                }
                if self.timer.goes_down.val() {
                    self.path.d.next = 0.into();
                    self.count.d.next = 0.into();
                    self.step.d.next = Step::TimerWatch;
                }
            }
            Step::TimerWatch => {
                // L4: the paths that have nothing outstanding become active, one in two clocks
                self.count.d.next = self.count.q.val() ^ 1;
                if self.count.q.val().get_bit(0) {
                    if self.begins_watch.val() {
                        self.set_valid.next = true;
                        // the timer step sets the right one
                        self.set_deadline.next = self.time.q.val() + 16;
                    }
                    self.path.d.next = self.path.q.val() + 1;
                    if self.path.q.val() == 7 {
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::TimerArm => {
                // D8: the path that watches; its timer step sets the right deadline
                self.set_valid.next = true;
                self.set_row.next = (bit_cast::<24, 16>(self.conn.q.val()) << 3) | bit_cast::<24, 3>(self.watch.other.val());
                self.set_deadline.next = self.time.q.val() + 16;
                self.step.d.next = Step::Idle;
            }
            Step::GrantRead => {
                self.for_open.d.next = false;
                self.inflight.d.next = self.tables.conn_tx.val().sent_bytes - self.rb_data.val();
                self.qp_error.d.next = self.qperr_data.val();
                self.attempt.d.next = self.attempt_data.val();
                self.closed.d.next = self.is_closed.val();
                self.shut.d.next = self.is_shut.val();
                self.packet.d.next.first = self.slot_index.val() == 0;
                self.packet.d.next.last = self.slot.is_last.val();
                self.packet.d.next.bytes = self.slot.new_bytes.val();
                self.step.d.next = Step::GrantPick;
            }
            Step::GrantPick => {
                self.path.d.next = self.slot.home.val();
                self.step.d.next = Step::GrantWait;
                if self.resends.val() {
                    // S1
                    self.step.d.next = Step::FindStart;
                } else if self.ends.q.val() | !self.queue_room.val() {
                    self.step.d.next = Step::Idle;
                }
            }
            Step::GrantWait => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 1 {
                    self.step.d.next = Step::GrantFinish;
                }
            }
            Step::GrantFinish => {
                self.step.d.next = Step::Idle;
                if self.grants.val() {
                    // S2..S5
                    self.path.d.next = self.slot.path.val();
                    self.set_row.next = self.slot_row.val();
                    if self.calm_there.val() {
                        // the tail at least, whatever the path's RTT is; the timer step sets the right one
                        self.set_valid.next = true;
                        self.set_deadline.next = self.time.q.val() + 16;
                    }
                    self.alloc_held.d.next = true;
                    self.alloc_row.d.next = self.slot_row.val();
                    self.alloc_ppsn.d.next = self.there.val().next_ppsn;
                    self.alloc_entry.d.next = self.packet.q.val();
                    self.emit_desc.next = true;
                    self.commits.grant.next = true;
                    self.out.next.home = self.slot.path.val();
                    self.out.next.via = self.slot.path.val();
                    self.out.next.ppsn = self.there.val().next_ppsn;
                    self.out.next.bytes = self.packet.q.val().bytes;
                    // S4
                    self.out.next.ack_req = (self.slot.is_late.val() & !self.more.q.val())
                        | self.slot.brim.val()
                        | self.slot.cap_reached_after.val();
                }
            }
            Step::FindStart => {
                self.words.find_start.next = true;
                self.step.d.next = Step::FindWait;
            }
            Step::FindWait => {
                self.via.d.next = self.path.q.val();
                if self.slot.moves.val() {
                    // L4: the packets of a dead path move to a living one
                    self.via.d.next = self.slot.path.val();
                } else if self.fault.val() == 4 {
                    self.via.d.next = (self.path.q.val() ^ 1) & self.slot.path_mask.val();
                }
                if self.words.find_valid.val() {
                    if self.words.find_any.val() & self.slot.pace_ok.val() {
                        self.step.d.next = Step::Lookup;
                    } else {
                        self.done_valid.next = true;
                        self.done_requeue.next = self.words.find_any.val();
                        self.step.d.next = Step::Idle;
                    }
                }
            }
            Step::Lookup => {
                if !self.alloc_held.q.val() {
                    self.queue_valid.next = true;
                    self.queue_lookup.next = true;
                    self.queue_row.next = self.table_row.val();
                    self.queue_ppsn.next = self.words.find_ppsn.val();
                    if self.queue_ready.val() {
                        self.step.d.next = Step::LookupWait;
                    }
                }
            }
            Step::LookupWait => {
                if self.queue_rsp_valid.val() {
                    self.packet.d.next = self.queue_rsp.val();
                    self.step.d.next = Step::ErrorRead;
                }
            }
            Step::ErrorRead => {
                self.step.d.next = Step::ErrorLook;
            }
            Step::ErrorLook => {
                // S6, N1: a NOP carries no payload
                self.qp_error.d.next = self.as_nop.val();
                self.attempt.d.next = self.attempt_data.val();
                if self.as_nop.val() {
                    self.packet.d.next.bytes = 0.into();
                }
                self.count.d.next = 0.into();
                self.step.d.next = Step::PaceStart;
            }
            Step::PaceStart => {
                self.step.d.next = Step::PaceWait;
            }
            Step::PaceWait => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 1 {
                    self.step.d.next = Step::ResendFinish;
                }
            }
            Step::ResendFinish => {
                // S5
                self.words.move_start.next = true;
                self.emit_desc.next = true;
                self.commits.grant.next = true;
                self.commits.kind.next = 1.into();
                self.commits.nop.next = self.qp_error.q.val();
                if self.qp_error.q.val() {
                    self.out.next.kind = 1.into();
                }
                self.out.next.home = self.path.q.val();
                self.out.next.via = self.via.q.val();
                self.out.next.ppsn = self.words.find_ppsn.val();
                self.out.next.rtx = true;
                self.out.next.moved = self.via.q.val() != self.path.q.val();
                self.out.next.ack_req = true;
                self.out.next.bytes = self.packet.q.val().bytes;
                self.step.d.next = Step::Idle;
            }
            Step::OpenWait => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 3 {
                    self.count.d.next = 3.into();
                    if !self.flush_busy.val() {
                        self.step.d.next = Step::OpenRead;
                    }
                }
            }
            Step::OpenRead => {
                self.for_ack.d.next = false;
                self.for_open.d.next = true;
                self.step.d.next = Step::OpenStart;
            }
            Step::OpenStart => {
                self.count.d.next = 0.into();
                self.words.step_start.next = true;
                self.set_valid.next = true;
                self.set_active.next = false;
                self.step.d.next = Step::OpenRun;
            }
            Step::OpenRun => {
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 2 {
                    self.path.d.next = self.path.q.val() + 1;
                    self.step.d.next = Step::OpenRead;
                    if self.path.q.val() == 7 {
                        self.step.d.next = Step::OpenFinish;
                    }
                }
            }
            Step::OpenFinish => {
                self.wake_held.d.next = true;
                self.step.d.next = Step::Idle;
            }
        }

        if self.at_slot.q.val() {
            self.done_valid.next = true;
            // else the next acknowledgment or timer wakes the connection
            self.done_requeue.next = self.slot.found.val() & self.slot.cap_ok.val();
            self.done_advance.next = self.grants.val();
        }
        if self.at_resend.q.val() {
            self.done_valid.next = true;
            self.done_requeue.next = true;
        }
        if self.pick_ends.val() {
            self.done_valid.next = true;
            self.done_requeue.next = self.has_msg.q.val();
            self.done_skip.next = self.pick_skips.val() | self.empties.q.val();
            self.done_aside.next = self.asides.q.val();
            self.done_respond.next = self.responds.q.val();
            self.emptied.next = self.empties.q.val();
            self.lost_valid.next = self.pick_skips.val() & self.is_error_resp.val() & !self.shut.q.val();
            self.commits.grant.next = (self.pick_skips.val() & !self.shut.q.val()) | self.asides.q.val();
            self.commits.kind.next = 2.into();
            if self.asides.q.val() {
                self.commits.kind.next = 3.into();
            }
        }

        comment!("the next step: chosen in Idle, or already in the last clock of an acknowledgment or of a new packet's slot");
        self.unpack.take.next = self.ack_taken.val();
        self.ack_may.next = self.unpack.out_valid.val() & !self.nak_held.q.val();
        self.ack_conn.next = self.unpack.out.val().conn;
        self.ack_home.next = self.unpack.out.val().home;
        // where a step is chosen, an acknowledgment is taken only as it ends
        if self.at_ack.q.val() {
            self.ack_may.next = self.unpack.behind_valid.val() & !self.nak_held.q.val();
            self.ack_conn.next = self.unpack.behind_conn.val();
            self.ack_home.next = self.unpack.behind_home.val();
        }
        self.choice.choose.next = self.choose.val();
        self.choice.idle.next = self.step.q.val() == Step::Idle;
        self.choice.ack_may.next = self.ack_may.val();
        // what is still retired belongs to the connection's earlier life
        self.choice.open_may.next = self.opening.pending.val() & self.retire_idle.val() & !self.acked.busy.val();
        // what the steps emit finds its register empty; while the packet builder is the limit, timers and slots see the same moment
        self.desc_free.next = !self.desc_held.q.val() | self.desc_ready.val();
        self.choice.timer_may.next = self.offer_valid.val() & self.desc_free.val() & !self.cerr_held.q.val();
        // an alloc that is still held is taken two clocks later at the latest, long before the slot needs the place
        // the offer that a slot has just used is not yet replaced
        self.choice.slot_may.next = self.next_valid.val() & !self.at_slot.q.val() & self.desc_free.val();
        if self.choose.val() {
            self.count.d.next = 0.into();
            self.time.d.next = self.now.val();
        }
        comment!("the rows of whoever would be next are read, whether or not it may start");
        self.same_conn.next = true;
        self.same_path.next = true;
        if self.choose.val() {
            self.same_conn.next = self.next_conn.val() == self.conn.q.val();
            self.tables.conn.next = self.next_conn.val();
            self.rb_addr.next = self.next_conn.val();
            self.qperr_addr.next = self.next_qp.val();
            self.withdrawn_msn.next = self.next_msn.val();
            if self.choice.first_timer.val() {
                self.same_conn.next = self.offer_row.val().get_bits::<16>(3) == self.conn.q.val();
                self.same_path.next = self.offer_row.val().get_bits::<3>(0) == self.path.q.val();
                self.tables.conn.next = self.offer_row.val().get_bits::<16>(3);
                self.tables.path.next = self.offer_row.val().get_bits::<3>(0);
            }
            if self.choice.first_ack.val() {
                self.same_conn.next = self.ack_conn.val() == self.conn.q.val();
                self.same_path.next = self.ack_home.val() == self.path.q.val();
                self.tables.conn.next = self.ack_conn.val();
                self.tables.path.next = self.ack_home.val();
            }
        }
        if self.choice.start_ack.val() {
            self.conn.d.next = self.ack_conn.val();
            self.path.d.next = self.ack_home.val();
            self.step.d.next = Step::AckRead;
        }
        if self.choice.start_open.val() {
            self.open_valid.next = true;
            self.conn.d.next = self.opening.conn.val();
            self.path.d.next = 0.into();
            self.step.d.next = Step::OpenWait;
        }
        if self.choice.start_timer.val() {
            self.offer_ready.next = true;
            self.conn.d.next = self.offer_row.val().get_bits::<16>(3);
            self.path.d.next = self.offer_row.val().get_bits::<3>(0);
            self.step.d.next = Step::TimerRead;
        }
        if self.choice.start_slot.val() {
            self.conn.d.next = self.next_conn.val();
            self.has_msg.d.next = self.next_has_msg.val();
            self.both.d.next = self.next_both.val();
            self.more.d.next = self.next_more.val();
            self.npkts.d.next = self.next_npkts.val();
            self.length_low.d.next = self.next_length.val().get_bits::<13>(0);
            self.packet.d.next.qp = self.next_qp.val();
            self.packet.d.next.msn = self.next_msn.val();
            self.packet.d.next.index = self.next_index.val();
            self.packet.d.next.kind = self.next_kind.val();
            self.step.d.next = Step::GrantRead;
        }

        self.watch_conn.next = self.tables.conn.val();

        comment!("write the rows");
        self.tables.write_conn.next = self.conn.q.val();
        self.tables.same_conn.next = self.same_conn.val();
        self.tables.same_path.next = self.same_path.val();
        comment!("whose row was put a clock ago: that of the step that still runs, or of the one in whose last clock this one was chosen");
        self.began.d.next = self.choice.start_ack.val() | self.choice.start_timer.val() | self.choice.start_slot.val();
        self.began_conn.d.next = self.same_conn.val();
        self.began_path.d.next = self.same_path.val();
        if self.at_timer.q.val() & self.timer.goes_down.val() {
            // TimerWatch begins with path 0
            self.began.d.next = true;
            self.began_path.d.next = !self.path.q.val().any();
        }
        self.tables.same_conn_before.next = self.same_conn.val();
        self.tables.same_path_before.next = self.same_path.val();
        if self.began.q.val() {
            self.tables.same_conn_before.next = self.began_conn.q.val();
            self.tables.same_path_before.next = self.began_path.q.val();
        }
        self.tables.write_path.next = self.path.q.val();
        if self.at_slot.q.val() {
            self.tables.write_path.next = self.slot.path.val();
        }
        // C3: the longest sRTT after this step; what becomes of the path's own is known a clock before the step ends, whether it is UP then is not
        self.srtt_here.next = bit_cast::<16, 18>(self.timer.new_path.val().srtt8 >> 3);
        if self.for_ack.q.val() {
            self.srtt_here.next = bit_cast::<16, 18>(self.ack_step.new_path.val().srtt8 >> 3);
        }
        self.own_srtt.d.next = self.srtt_here.val();
        self.own_longest.d.next = self.srtt_here.val() > self.others.longest.val();
        self.state_after.next = self.timer.new_path.val().state;
        self.rtt_after.next = self.timer.new_path.val().rtt_valid;
        if self.at_ack.q.val() {
            self.state_after.next = self.ack_step.new_path.val().state;
            self.rtt_after.next = self.ack_step.new_path.val().rtt_valid;
        }
        comment!("rows after the step: a mux of its last clocks, each known from a register; what is not put is not looked at");
        self.put_path.next = self.at_ack.q.val()
            | self.at_timer.q.val()
            | self.at_resend.q.val()
            | self.at_open.q.val()
            | self.grants.val()
            | (self.at_watch.q.val() & self.begins_watch.val() & self.count.q.val().get_bit(0));
        self.put_path_ack.next = self.at_ack.q.val() | self.at_timer.q.val() | self.at_resend.q.val() | self.at_open.q.val();
        self.put_conn_tx.next = self.grants.val() | self.at_resend.q.val() | self.at_opened.q.val();
        self.put_conn_ack.next = self.at_ack.q.val() | self.at_timer.q.val() | self.at_opened.q.val();
        self.put_conn_cfg.next = self.at_opened.q.val();
        self.new_tx.next = self.here.val();
        self.new_ack.next = self.row.val();
        self.new_conn_tx.next = self.tables.conn_tx.val();
        self.new_conn_ack.next = self.tables.conn_ack.val();
        self.new_conn_ack.next.any_rtt = self.others.any_rtt.val() | self.rtt_after.val();
        self.new_conn_ack.next.longest_srtt = self.others.longest.val();
        if self.own_longest.q.val() & (self.state_after.val() == 1) {
            self.new_conn_ack.next.longest_srtt = self.own_srtt.q.val();
        }
        if self.at_ack.q.val() {
            self.new_tx.next = self.ack_step.new_path.val();
            self.new_ack.next = self.ack_step.new_row.val();
            self.new_conn_ack.next.hint = self.ack_step.hint.val();
        }
        if self.at_timer.q.val() {
            self.new_tx.next = self.timer.new_path.val();
            self.new_ack.next = self.timer.new_row.val();
            self.new_conn_ack.next.error = self.tables.conn_ack.val().error | self.timer.gives_up.val();
        }
        if self.at_watch.q.val() {
            self.new_tx.next.t_base = self.time.q.val();
        }
        if self.at_resend.q.val() {
            self.new_tx.next.pipe = self.pipe_after.val();
            self.new_tx.next.last_send = self.time.q.val().get_bits::<16>(0);
            self.new_tx.next.lost_words = self.words.move_lost_words.val();
            if self.to_old.q.val() {
                self.new_ack.next.mark = self.here.val().next_ppsn;
                self.new_ack.next.gen_open = true;
            }
            self.new_conn_tx.next = self.slot.after_resend.val();
        }
        if self.at_slot.q.val() {
            self.new_tx.next = self.there.val();
            self.new_tx.next.next_ppsn = self.there.val().next_ppsn + 1;
            self.new_tx.next.last_send = self.time.q.val().get_bits::<16>(0);
            self.new_tx.next.pipe = self.pipe_there.val();
            if self.calm_there.val() {
                self.new_tx.next.t_base = self.time.q.val();
            }
            self.new_conn_tx.next = self.slot.after_new.val();
        }
        if self.for_open.q.val() {
            self.new_tx.next = self.opening.new_path.val();
            self.new_ack.next = self.opening.new_row.val();
            self.new_conn_tx.next = self.opening.new_conn_tx.val();
            self.new_conn_ack.next = self.opening.new_conn_ack.val();
        }
        self.tables.put_path_tx.next = self.put_path.val();
        self.tables.new_path_tx.next = self.new_tx.val();
        self.tables.put_path_ack.next = self.put_path_ack.val();
        self.tables.new_path_ack.next = self.new_ack.val();
        self.tables.put_conn_tx.next = self.put_conn_tx.val();
        self.tables.new_conn_tx.next = self.new_conn_tx.val();
        self.tables.put_conn_ack.next = self.put_conn_ack.val();
        self.tables.new_conn_ack.next = self.new_conn_ack.val();
        self.tables.put_conn_cfg.next = self.put_conn_cfg.val();
        self.tables.new_conn_cfg.next = self.opening.new_conn_cfg.val();
        self.tables.put_path_cfg.next = self.opening.put_path_cfg.val();
        self.tables.path_cfg_row.next = self.cfg_index.val();
        self.tables.new_path_cfg.next = self.opening.new_path_cfg.val();
        self.opening.emptied.next = self.emptied.val();
        self.cfg_busy.next = self.opening.busy.val();

        comment!("the packet descriptor");
        self.out.next.conn = self.conn.q.val();
        self.out.next.ts = self.time.q.val().get_bits::<16>(0);
        if self.out.val().kind != 2 {
            self.out.next.qp = self.packet.q.val().qp;
            self.out.next.msn = self.packet.q.val().msn;
            self.out.next.index = self.packet.q.val().index;
            self.out.next.first = self.packet.q.val().first;
            self.out.next.last = self.packet.q.val().last;
            self.out.next.source = self.packet.q.val().kind;
            self.out.next.attempt = self.attempt.q.val();
            self.out.next.port = self.chosen_port.val();
        }
        if self.emit_desc.val() {
            self.desc_held.d.next = true;
            self.desc_reg.d.next = self.out.val();
        }

        comment!("commit records");
        self.commits.conn.next = self.conn.q.val();
        self.commits.path_index.next = self.path.q.val();
        self.commits.now.next = self.time.q.val();
        self.commits.path.next = self.new_tx.val();
        self.commits.row.next = self.new_ack.val();
        self.commits.packet.next = self.packet.q.val();
        self.commits.desc.next = self.out.val();
        self.commits.inflight_bytes.next = self.inflight.q.val();
        self.commits.more.next = self.more.q.val();
        self.commits.rr.next = self.new_conn_tx.val().rr;
        self.commits.verdict.next = self.ack_step.verdict.val();
        self.commits.acked.next = self.words.acked.val();
        self.commits.lost_l1.next = self.words.lost_l1.val();
        self.commits.lost_l2.next = self.words.lost_l2.val();
        self.commits.hint.next = self.new_conn_ack.val().hint;
        self.commits.action.next = self.timer.action.val();
        self.commits.watched.next = self.watch.watches.val();
        self.commits.alive.next = self.watch.seen_alive.val();
        self.commit_grant_valid.next = self.commits.commit_grant_valid.val();
        self.commit_grant.next = self.commits.commit_grant.val();
        self.commit_ack_valid.next = self.commits.commit_ack_valid.val();
        self.commit_ack.next = self.commits.commit_ack.val();
        self.commit_timer_valid.next = self.commits.commit_timer_valid.val();
        self.commit_timer.next = self.commits.commit_timer.val();
        self.desc_valid.next = self.desc_held.q.val();
        self.desc.next = self.desc_reg.q.val();
        self.nak_valid.next = self.nak_held.q.val();
        self.nak_conn.next = self.nak_conn_reg.q.val();
        self.nak_qp.next = self.nak_qp_reg.q.val();
        self.nak_code.next = self.nak_code_reg.q.val();
        self.nak_msn.next = self.nak_msn_reg.q.val();
        self.nak_rnr.next = self.nak_rnr_reg.q.val();
        self.cerr_valid.next = self.cerr_held.q.val();
        self.cerr_conn.next = self.cerr_reg.q.val();
        self.wake_valid.next = self.wake_held.q.val();
        self.wake_conn.next = self.wake_reg.q.val();

        if self.reset.val() {
            self.step.d.next = Step::Idle;
            self.at_ack.d.next = false;
            self.at_slot.d.next = false;
            self.at_pick.d.next = false;
            self.at_opened.d.next = false;
            self.at_open.d.next = false;
            self.at_watch.d.next = false;
            self.at_timer.d.next = false;
            self.at_resend.d.next = false;
            self.began.d.next = false;
            self.desc_held.d.next = false;
            self.alloc_held.d.next = false;
            self.nak_held.d.next = false;
            self.cerr_held.d.next = false;
            self.wake_held.d.next = false;
        }
    }
}
