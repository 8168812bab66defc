//! rx_core's steps clock by clock, and the wiring of its blocks.
//! In and out: see the parent module. Guarantees: rows are read in the first clock of a step and written in its last; a step waits there
//! until its acknowledgment can be copied into ack_collect.
use super::{RxCore, RxState};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

impl Logic for RxCore {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_core: steps of the receiver");
        dff_setup!(
            self, clock, state, h, ack_r, more, is_run, is_finish, running, asking, nak_full, is_timer, time, row, path,
            acking, peer_known, peer_qpn, oldest, place_full, ack_full, rxerr_full, looking, holding, waited, told, inited,
            tickets, walked
        );
        clock!(self, clock, tracker, key, messages, hint, timers, setup, tables, check, effect, collect, journal, scatter);
        self.tracker.reset.next = self.reset.val();
        self.key.reset.next = self.reset.val();
        self.messages.reset.next = self.reset.val();
        self.hint.reset.next = self.reset.val();
        self.timers.reset.next = self.reset.val();
        self.setup.reset.next = self.reset.val();
        self.tables.reset.next = self.reset.val();
        self.collect.reset.next = self.reset.val();
        self.journal.reset.next = self.reset.val();
        self.scatter.reset.next = self.reset.val();
        self.inited.d.next = self.tracker.init_done.val()
            & self.key.init_done.val()
            & self.messages.init_done.val()
            & self.hint.init_done.val()
            & self.timers.init_done.val()
            & self.setup.init_done.val()
            & self.tables.init_done.val();
        self.init_done.next = self.inited.q.val();

        comment!("what the next step may be of: a request to execute, a READ_REQ or ATOMIC_REQ, a response; what kind the response of this one is");
        self.runs.next = self.reads.val() & !self.timers.due.val() & (self.check_valid.val() | self.finish_valid.val());
        self.finishes.next = self.runs.val() & self.finish_valid.val();
        self.requests.next = self.reads.val()
            & !self.timers.due.val()
            & !self.runs.val()
            & ((self.hdr_opcode.val() == self.op_read_req.val()) | (self.hdr_opcode.val() == self.op_atomic_req.val()));
        self.responds.next = self.reads.val()
            & !self.timers.due.val()
            & !self.runs.val()
            & ((self.hdr_opcode.val() == self.op_read_resp.val())
                | (self.hdr_opcode.val() == self.op_atomic_resp.val())
                | (self.hdr_opcode.val() == self.op_error_resp.val()));
        self.length.next = self.hdr_length.val();
        if self.reads.val() & (self.hdr_opcode.val() == self.op_atomic_req.val()) {
            self.length.next = 8.into();
        }
        self.kind.next = 0.into();
        if self.h.q.val().opcode == self.op_atomic_resp.val() {
            self.kind.next = 1.into();
        } else if self.h.q.val().opcode == self.op_error_resp.val() {
            self.kind.next = 2.into();
        }

        comment!("verdicts of a packet, from clock 5 of its step on, of a SEND from clock 8 on");
        self.request.next = self.check.write.val() | self.check.send.val() | self.check.ask.val();
        self.refused.next = self.check.fresh.val() & (self.check.code.val().any() | self.check.rnr.val());
        self.accepted.next = self.check.fresh.val() & !self.refused.val();
        self.names_qp.next = self.check.fresh.val() & self.request.val() & !self.check.bad_qp.val();
        self.used.next = self.accepted.val() & self.check.used.val();
        self.ends_run.next = self.is_run.q.val() & self.is_finish.q.val();
        self.check_failed.next = self.check.qp_failed.val() | !self.check.qp.val().open;
        self.placed.next = (((self.accepted.val() & self.request.val() & !self.check.late.val())
            | (self.used.val() & (self.kind.val() != 2))
            | self.ends_run.val())
            & self.h.q.val().payload_bytes.any())
            | self.check.again.val();

        comment!("outputs; what they show stays until the next step begins, and that waits until all of them are taken");
        self.place_valid.next = self.place_full.q.val();
        self.place_write.next = self.placed.val();
        self.place_addr.next = self.key.addr.val();
        if self.check.response.val() {
            self.place_addr.next = self.rsp_addr.val();
        }
        if self.ends_run.val() {
            self.place_addr.next = self.run_addr.val();
        }
        self.place_bytes.next = self.h.q.val().payload_bytes;
        self.in_pieces.next = self.with_lists.val() & self.walked.q.val() & self.placed.val();
        self.place_more.next = self.in_pieces.val() & !self.scatter.order_last.val();
        if self.in_pieces.val() {
            self.place_addr.next = self.scatter.order_addr.val();
            self.place_bytes.next = self.scatter.order_bytes.val();
        }
        self.scatter.order_taken.next = self.in_pieces.val() & self.place_full.q.val() & self.place_ready.val();
        self.place_own.next = self.ends_run.val();
        self.place_data.next = self.run_data.val();
        self.place_swap.next = self.check.response.val() & (self.kind.val() == 1);
        self.ack_valid.next = self.ack_full.q.val();
        self.ack_conn.next = self.h.q.val().conn;
        self.ack_home.next = self.h.q.val().home.get_bits::<3>(0);
        self.ack_cum.next = self.h.q.val().ppsn;
        self.ack_ts_echo.next = self.ack_r.q.val().ts_echo;
        self.ack_service.next = self.ack_r.q.val().service;
        self.ack_ce.next = self.ack_r.q.val().ce;
        self.ack_dup.next = self.ack_r.q.val().dup;
        self.ack_flags.next = self.ack_r.q.val().flags;
        self.ack_rate.next = self.ack_r.q.val().rate;
        self.ack_sav.next = self.ack_r.q.val().sav;
        self.ack_mak_qp.next = self.ack_r.q.val().mak_qp;
        self.ack_mak_code.next = self.ack_r.q.val().mak_code;
        self.ack_mak_msn.next = self.ack_r.q.val().mak_msn;
        self.rxerr_valid.next = self.rxerr_full.q.val();
        self.rxerr_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.nak_valid.next = self.nak_full.q.val();
        self.nak_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.nak_msn.next = self.h.q.val().msn;
        self.nak_code.next = self.more.q.val().error_code;
        if self.nak_ready.val() {
            self.nak_full.d.next = false;
        }
        if self.place_ready.val() & !self.place_more.val() {
            self.place_full.d.next = false;
        }
        if self.ack_ready.val() {
            self.ack_full.d.next = false;
        }
        if self.rxerr_ready.val() {
            self.rxerr_full.d.next = false;
        }
        comment!("what a step has put out is taken while it commits, or its last clock is nobody's: no ready stands in front of the next step");
        self.drained.next = !self.place_full.q.val()
            & !self.ack_full.q.val()
            & !self.rxerr_full.q.val()
            & !self.nak_full.q.val()
            & (!self.reads.val() | self.rsp_room.val());
        self.free.next = (self.state.q.val() == RxState::Idle) & self.init_done.val() & self.drained.val();

        comment!("rows addressed: of the packet or the timer before its first clock, of the path's last QP in the step");
        self.read_conn.next = self.hdr_conn.val();
        self.read_row.next =
            (bit_cast::<24, 16>(self.hdr_conn.val()) << 3) | bit_cast::<24, 3>(self.hdr_home.val().get_bits::<3>(0));
        self.read_qp.next = self.hdr_dest_qp.val().get_bits::<16>(0);
        if self.timers.due.val() {
            self.read_conn.next = bit_cast::<16, 24>(self.timers.due_row.val() >> 3);
            self.read_row.next = self.timers.due_row.val();
        }
        if self.runs.val() {
            self.read_qp.next = self.run_qp.val();
        }
        if self.state.q.val() != RxState::Idle {
            self.read_qp.next = self.path.q.val().last_qp;
        }
        if self.state.q.val() == RxState::Settle {
            self.read_qp.next = self.setup.index.val();
        }
        self.qperr_addr.next = self.read_qp.val();

        self.hdr_ready.next = false;
        self.begin.next = false;
        self.commits.next = false;
        self.settled.next = false;
        self.tells.next = false;
        self.changes.next = false;
        self.swaps.next = false;
        self.publishes.next = false;
        self.taken.next = false;
        self.fails.next = false;
        self.setup.go.next = false;
        self.timers.taken.next = false;
        self.check.load.next = false;
        self.check_ready.next = false;
        self.finish_ready.next = false;
        self.check_done.next = false;
        self.ask_take.next = false;
        self.rsp_take.next = false;
        self.walks.next = false;
        self.writes.next = 1.into();
        if self.in_pieces.val() {
            self.writes.next = bit_cast::<16, 3>(self.scatter.count.val());
        }
        match self.state.q.val() {
            RxState::Idle => {
                if self.free.val() {
                    if self.setup.pending.val() & self.hint.at_rest.val() & !self.running.q.val() {
                        self.setup.go.next = true;
                        self.state.d.next = RxState::Settle;
                    } else if self.hint.swap_due.val() | self.hint.publish_due.val() {
                        comment!("a table write waits while the hint is computed, and no epoch ends while one waits");
                        self.swaps.next = self.hint.swap_due.val();
                        self.publishes.next = self.hint.publish_due.val();
                    } else if self.timers.due.val() {
                        self.timers.taken.next = true;
                        self.begin.next = true;
                    } else {
                        comment!("D3: a request is checked again, or exp passes it; otherwise a packet");
                        self.check_ready.next = self.reads.val();
                        self.finish_ready.next = self.reads.val();
                        self.hdr_ready.next = !self.runs.val();
                        self.begin.next = self.runs.val() | self.hdr_valid.val();
                    }
                }
            }
            RxState::Read => {
                comment!("clock 1: the rows");
                self.path.d.next = self.tables.path.val();
                self.check.load.next = true;
                self.state.d.next = RxState::Calc;
            }
            RxState::Calc => {
                self.state.d.next = RxState::Class;
            }
            RxState::Class => {
                comment!(
                    "clock 3: R9, the sender's QP of the path's last packet; an ACK is handed on, what R1 drops is discarded"
                );
                self.peer_known.d.next = self.path.q.val().last_qp_known
                    & self.tables.qp.val().open
                    & (self.tables.qp.val().conn == self.h.q.val().conn);
                self.peer_qpn.d.next = self.tables.qp.val().peer_qpn;
                self.oldest.d.next = self.messages.exp_read.val();
                self.acking.d.next = false;
                self.waited.d.next = 0.into();
                self.state.d.next = RxState::Judge;
                if self.check.send.val() {
                    comment!("the receive is known: its key is checked first");
                    self.state.d.next = RxState::Key;
                    self.walks.next = self.rq_listed.val() & self.h.q.val().payload_bytes.any();
                }
                if self.holding.q.val() & self.rq_shared.val() {
                    self.walks.next = false;
                    self.state.d.next = RxState::Shared;
                }
                if self.check.response.val() & self.rsp_listed.val() & (self.kind.val() != 2) {
                    comment!("D6: a response goes to the pieces of its request");
                    self.walks.next = self.h.q.val().payload_bytes.any();
                }
                if self.is_timer.q.val() {
                    if !self.effect.timer_due.val() {
                        self.state.d.next = RxState::Idle;
                    }
                } else if !self.is_run.q.val() & (!self.check.allowed.val() | self.check.ack.val()) {
                    self.walks.next = false;
                    self.place_full.d.next = self.h.q.val().payload_bytes.any();
                    self.ack_full.d.next = self.check.allowed.val();
                    self.state.d.next = RxState::Commit;
                }
            }
            RxState::Shared => {
                comment!("a shared queue takes two clocks more to tell its receive");
                self.waited.d.next = self.waited.q.val() + 1;
                if self.waited.q.val() == 1 {
                    self.waited.d.next = 0.into();
                    self.state.d.next = RxState::Judge;
                    if self.check.send.val() {
                        self.state.d.next = RxState::Key;
                        self.walks.next = self.rq_listed.val() & self.h.q.val().payload_bytes.any();
                    }
                }
            }
            RxState::Walk => {
                comment!("Q3, Q4: the pieces that the packet has bytes of; whoever is not new needs none");
                if self.scatter.done.val() | (self.check.send.val() & !self.check.looks.val()) {
                    self.state.d.next = RxState::Judge;
                }
            }
            RxState::Key => {
                self.waited.d.next = self.waited.q.val() + 1;
                if self.waited.q.val() == 2 {
                    self.state.d.next = RxState::Judge;
                }
            }
            RxState::Judge => {
                self.state.d.next = RxState::Apply;
            }
            RxState::Apply => {
                comment!("clock 5, of a SEND 8: R4 to R8, R10");
                self.path.d.next = self.effect.after.val();
                self.acking.d.next = self.effect.ack_now.val() & !self.is_run.q.val();
                self.place_full.d.next = !self.is_timer.q.val() & self.h.q.val().payload_bytes.any();
                self.taken.next = self.accepted.val();
                if self.names_qp.val() {
                    self.peer_known.d.next = true;
                    self.peer_qpn.d.next = self.check.qp.val().peer_qpn;
                }
                if !self.is_timer.q.val() & self.h.q.val().payload_bytes.any() & self.placed.val() {
                    self.tickets.d.next = self.tickets.q.val() + self.writes.val();
                }
                if self.refused.val() & self.check.fails.val() {
                    comment!("R4: the QP goes to Error unless there is none or it is there");
                    self.rxerr_full.d.next = true;
                    self.fails.next = true;
                }
                comment!("D3: a request takes its place; D6, D7: a response is placed, an error told");
                self.ask_take.next = self.accepted.val() & self.check.ask.val() & !self.check.late.val();
                self.rsp_take.next = self.used.val() & (self.kind.val() != 2);
                if self.used.val() & (self.kind.val() == 2) {
                    self.nak_full.d.next = true;
                }
                self.state.d.next = RxState::Commit;
                if self.is_run.q.val() {
                    if self.is_finish.q.val() {
                        comment!("the key is gone: as R4");
                        self.rxerr_full.d.next = self.run_code.val().any();
                        self.fails.next = self.run_code.val().any();
                    } else {
                        self.check_done.next = true;
                        self.state.d.next = RxState::Idle;
                        if self.check_failed.val() {
                            self.running.d.next = false;
                        }
                    }
                }
            }
            RxState::Commit => {
                comment!("clock 6, of a SEND 9: write back and acknowledge as soon as the cumulative point and exp are final and told");
                self.settled.next = !self.tracker.busy.val() & !self.messages.busy.val() & self.messages.pass_done.val();
                self.tells.next = self.settled.val() & !self.told.q.val();
                self.told.d.next = self.settled.val();
                if self.settled.val() & (!self.acking.q.val() | self.collect.ready.val()) {
                    self.commits.next = true;
                    self.told.d.next = false;
                    self.changes.next =
                        !self.is_run.q.val() & (self.is_timer.q.val() | (self.check.allowed.val() & !self.check.ack.val()));
                    if self.is_run.q.val() {
                        self.running.d.next = false;
                    }
                    self.state.d.next = RxState::Idle;
                }
            }
            RxState::Settle => {
                if !self.setup.active.val() {
                    self.state.d.next = RxState::Idle;
                }
            }
        }
        if self.walks.val() {
            self.walked.d.next = true;
            self.state.d.next = RxState::Walk;
        }
        if self.begin.val() {
            self.state.d.next = RxState::Read;
            self.walked.d.next = false;
            self.time.d.next = self.now.val();
            self.row.d.next = self.read_row.val();
            self.is_timer.d.next = self.timers.due.val();
            self.is_run.d.next = self.runs.val();
            self.is_finish.d.next = self.finishes.val();
            if self.runs.val() {
                self.running.d.next = true;
            }
            self.h.d.next.opcode = self.hdr_opcode.val();
            self.h.d.next.ack_req = self.hdr_ack_req.val();
            self.h.d.next.ppsn = self.hdr_ppsn.val();
            self.h.d.next.dest_qp = self.hdr_dest_qp.val();
            self.h.d.next.ecn_ce = self.hdr_ecn_ce.val();
            self.h.d.next.home = self.hdr_home.val();
            self.h.d.next.via = self.hdr_via.val();
            self.h.d.next.conn = self.hdr_conn.val();
            self.h.d.next.rtx = self.hdr_rtx.val();
            self.h.d.next.tx_ts = self.hdr_tx_ts.val();
            self.h.d.next.msn = self.hdr_msn.val();
            self.h.d.next.first = self.hdr_first.val();
            self.h.d.next.last = self.hdr_last.val();
            self.h.d.next.va = self.hdr_va.val();
            self.h.d.next.rkey = self.hdr_rkey.val();
            self.h.d.next.length = self.length.val();
            self.h.d.next.payload_bytes = self.hdr_payload_bytes.val();
            self.h.d.next.rq_seq = self.hdr_rq_seq.val();
            self.h.d.next.imm = self.hdr_imm.val();
            self.h.d.next.has_imm = self.hdr_has_imm.val();
            self.h.d.next.sol = self.hdr_sol.val();
            self.h.d.next.attempt = self.hdr_attempt.val();
            self.h.d.next.udp_src = self.hdr_udp_src.val();
            if self.timers.due.val() {
                self.h.d.next.conn = self.read_conn.val();
                self.h.d.next.home = bit_cast::<8, 3>(self.read_row.val().get_bits::<3>(0));
                self.h.d.next.via = 0.into();
                self.h.d.next.payload_bytes = 0.into();
            }
            if self.runs.val() {
                self.h.d.next.dest_qp = bit_cast::<24, 16>(self.run_qp.val());
                self.h.d.next.msn = self.run_msn.val();
                self.h.d.next.payload_bytes = 0.into();
                if self.finishes.val() & self.run_write.val() {
                    self.h.d.next.payload_bytes = 8.into();
                }
            }
            self.more.d.next.tag = self.hdr_tag.val();
            self.more.d.next.operand = self.hdr_operand.val();
            self.more.d.next.compare = self.hdr_compare.val();
            self.more.d.next.fetch_add = self.hdr_fetch_add.val();
            self.more.d.next.error_code = self.hdr_error_code.val();
            self.ack_r.d.next.ts_echo = self.hdr_ts_echo.val();
            self.ack_r.d.next.service = self.hdr_service.val();
            self.ack_r.d.next.ce = self.hdr_ce.val();
            self.ack_r.d.next.dup = self.hdr_dup.val();
            self.ack_r.d.next.flags = self.hdr_flags.val();
            self.ack_r.d.next.rate = self.hdr_rate.val();
            self.ack_r.d.next.sav = self.hdr_sav.val();
            self.ack_r.d.next.mak_qp = self.hdr_mak_qp.val();
            self.ack_r.d.next.mak_code = self.hdr_mak_code.val();
            self.ack_r.d.next.mak_msn = self.hdr_mak_msn.val();
        }

        comment!("Q1 to Q3, Q5: the receive of a consuming packet; the messages that exp has passed");
        self.asks.next = self.sends.val()
            & ((self.hdr_opcode.val() == self.op_send.val())
                | ((self.hdr_opcode.val() == self.op_write.val()) & self.hdr_has_imm.val()));
        comment!("the look comes in the second clock of the step, from registers; rq_near tells a clock before, whatever else decides on a begin");
        self.consumes.next = !self.timers.due.val() & !self.runs.val() & self.asks.val();
        self.rq_near.next = self.consumes.val() & self.hdr_valid.val() & self.drained.val();
        self.looking.d.next = self.begin.val() & self.consumes.val();
        self.rq_look.next = self.looking.q.val();
        self.rq_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.rq_seq.next = self.h.q.val().rq_seq;
        self.rq_msn.next = self.h.q.val().msn;
        if self.commits.val()
            | (!self.check.looks.val() & ((self.state.q.val() == RxState::Key) | (self.state.q.val() == RxState::Judge)))
        {
            self.holding.d.next = false;
        }
        if self.begin.val() & self.consumes.val() {
            self.holding.d.next = true;
        }
        self.rq_step.next = self.holding.q.val();
        self.rq_mark.next = (self.state.q.val() == RxState::Apply) & self.check.finds.val();
        self.rq_accept.next = self.accepted.val();
        self.rq_length.next = self.h.q.val().length;
        self.rq_imm.next = self.h.q.val().imm;
        self.rq_has_imm.next = self.h.q.val().has_imm;
        self.rq_sol.next = self.h.q.val().sol;
        self.rq_by_write.next = self.check.write.val();
        self.rq_failed.next = self.check.failed.val();
        self.pass_valid.next = self.messages.pass_valid.val();
        self.pass_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.pass_slot.next = self.messages.pass_receive.val();
        self.pass_ticket.next = self.tickets.q.val();
        self.messages.pass_ready.next = self.pass_ready.val();

        comment!("D3: requests of the peer");
        self.ask_look.next = self.begin.val() & self.requests.val();
        self.ask_conn.next = self.hdr_conn.val();
        self.ask_qp.next = self.hdr_dest_qp.val().get_bits::<16>(0);
        self.ask_msn.next = self.hdr_msn.val();
        if self.commits.val() {
            self.asking.d.next = false;
        }
        if self.ask_look.val() {
            self.asking.d.next = true;
        }
        self.ask_step.next = self.ask_look.val() | self.asking.q.val();
        self.asked.next.atomic = self.h.q.val().opcode == self.op_atomic_req.val();
        self.asked.next.add = self.more.q.val().fetch_add;
        self.asked.next.va = self.h.q.val().va;
        self.asked.next.rkey = self.h.q.val().rkey;
        self.asked.next.length = self.h.q.val().length;
        self.asked.next.operand = bit_cast::<64, 32>(self.more.q.val().tag);
        if self.h.q.val().opcode == self.op_atomic_req.val() {
            self.asked.next.operand = self.more.q.val().operand;
        }
        self.asked.next.compare = self.more.q.val().compare;
        self.ask_row.next = self.asked.val();
        self.reached.next = self.messages.reached.val();
        self.reached_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.reached_msn.next = self.messages.exp.val();
        self.reached_ticket.next = self.tickets.q.val();
        self.check_code.next = 0.into();
        if self.run_length.val().any() {
            self.check_code.next = bit_cast::<3, 2>(self.key.code.val());
        }
        self.check_addr.next = self.key.addr.val();
        self.finish_done.next = self.commits.val() & self.is_run.q.val();
        self.finish_ticket.next = self.tickets.q.val();

        comment!("D6: responses to what is asked here");
        self.rsp_look.next = self.begin.val() & self.responds.val();
        self.rsp_qp.next = self.hdr_dest_qp.val().get_bits::<16>(0);
        self.rsp_msn.next = self.hdr_msn.val();
        self.rsp_kind.next = self.kind.val();
        self.rsp_offset.next = self.h.q.val().va;
        self.rsp_length.next = self.h.q.val().length;
        self.rsp_tag.next = self.h.q.val().rkey;
        self.rsp_bytes.next = self.h.q.val().payload_bytes;
        self.rsp_ticket.next = self.tickets.q.val();

        comment!("received set, message, key and hint of the packet");
        self.tracker.fault.next = self.fault.val();
        self.tracker.start.next = self.begin.val();
        self.tracker.row.next = self.read_row.val();
        self.tracker.ppsn.next = self.hdr_ppsn.val();
        self.tracker.take.next = self.taken.val();
        self.tracker.clear.next = self.setup.path_write.val();
        self.messages.fault.next = self.fault.val();
        self.messages.start.next = self.begin.val();
        self.messages.qp.next = self.read_qp.val();
        self.messages.msn.next = self.hdr_msn.val();
        self.messages.payload_bytes.next = self.hdr_payload_bytes.val();
        self.messages.length.next = self.length.val();
        self.messages.consuming.next = self.asks.val() & !self.runs.val();
        self.messages.request.next = self.requests.val();
        self.messages.receive.next = self.hdr_rq_seq.val().get_bits::<8>(0);
        self.messages.attempt.next = self.sends.val() & self.hdr_attempt.val();
        self.messages.take.next = (self.taken.val() & self.request.val() & !self.check.late.val())
            | ((self.state.q.val() == RxState::Apply) & self.ends_run.val());
        self.messages.clear.next = self.setup.qp_write.val();
        if self.runs.val() {
            comment!("without payload it finishes the message that exp has come to");
            self.messages.msn.next = self.run_msn.val();
            self.messages.payload_bytes.next = 0.into();
        }
        if self.state.q.val() == RxState::Settle {
            self.tracker.row.next = self.setup.path_row.val();
            self.tracker.ppsn.next = self.setup.path_start.val();
            self.messages.msn.next = self.setup.start_msn.val();
        }
        self.key.fault.next = self.fault.val();
        self.key.start.next = self.begin.val();
        self.key.rkey.next = self.hdr_rkey.val();
        self.key.va.next = self.hdr_va.val();
        self.key.bytes.next = bit_cast::<32, 13>(self.hdr_payload_bytes.val());
        self.key.right.next = 0.into();
        if self.requests.val() {
            comment!("D2: the whole message");
            self.key.bytes.next = self.length.val();
            self.key.right.next = 2.into();
            if self.hdr_opcode.val() == self.op_atomic_req.val() {
                self.key.right.next = 3.into();
            }
        }
        if self.runs.val() {
            self.key.rkey.next = self.run_rkey.val();
            self.key.va.next = self.run_va.val();
            self.key.bytes.next = self.run_length.val();
            self.key.right.next = 2.into();
            if self.run_atomic.val() {
                self.key.right.next = 3.into();
            }
        }
        if (self.state.q.val() == RxState::Class) | (self.state.q.val() == RxState::Shared) {
            comment!("Q4: byte `offset` of the message goes to that byte of the receive");
            self.key.start.next = self.check.send.val()
                & (!self.rq_shared.val() | ((self.state.q.val() == RxState::Shared) & (self.waited.q.val() == 1)));
            self.key.rkey.next = self.rq_lkey.val();
            self.key.va.next = self.rq_addr.val() + bit_cast::<64, 32>(self.h.q.val().va.get_bits::<32>(0));
            self.key.bytes.next = bit_cast::<32, 13>(self.h.q.val().payload_bytes);
            self.key.right.next = 1.into();
        }
        self.scatter.fault.next = self.fault.val();
        self.scatter.start.next = self.with_lists.val() & self.walks.val();
        self.scatter.run.next = self.state.q.val() == RxState::Walk;
        self.scatter.offset.next = self.h.q.val().va.get_bits::<32>(0);
        self.scatter.bytes.next = self.h.q.val().payload_bytes;
        self.scatter.keys.next = true;
        self.rq_at.next = self.scatter.at.val();
        self.rsp_at.next = self.scatter.at.val();
        self.scatter.piece.next = self.rq_piece.val();
        if self.check.response.val() {
            comment!("bus addresses; an atomic brings its 8 bytes from 0 on");
            self.scatter.keys.next = false;
            self.scatter.piece.next = self.rsp_piece.val();
            if self.kind.val() == 1 {
                self.scatter.offset.next = 0.into();
            }
        }
        self.scatter.key_code.next = self.key.code.val();
        self.scatter.key_addr.next = self.key.addr.val();
        if self.state.q.val() == RxState::Walk {
            self.key.start.next = self.scatter.key_start.val();
            self.key.rkey.next = self.scatter.key_lkey.val();
            self.key.va.next = self.scatter.key_va.val();
            self.key.bytes.next = self.scatter.key_bytes.val();
            self.key.right.next = 1.into();
        }
        self.key.pd.next = self.check.qp.val().pd;
        if self.check.send.val() & self.rq_shared.val() {
            comment!("Q3: of the shared queue");
            self.key.pd.next = self.rq_pd.val();
        }
        self.key.write.next = self.setup.key_write.val();
        self.key.write_index.next = self.setup.index.val();
        self.key.write_data.next = self.setup.words.val().get_bits::<224>(0);
        self.hint.now.next = self.now.val();
        self.hint.cap.next = self.epoch_cap.val();
        comment!("R11: what is placed, but for the results of atomics");
        self.hint.add.next = self.taken.val()
            & ((self.request.val() & !self.check.late.val()) | (self.check.used.val() & (self.kind.val() == 0)));
        self.hint.add_conn.next = self.h.q.val().conn;
        self.hint.add_bytes.next = self.h.q.val().payload_bytes;
        self.hint.read_conn.next = self.h.q.val().conn;
        self.hint.swap.next = self.swaps.val();
        self.hint.publish.next = self.publishes.val();
        self.hint.clear.next = self.setup.conn_write.val();
        self.hint.clear_conn.next = self.setup.index.val();

        comment!("checks, and what they mean for the path");
        self.check.fault.next = self.fault.val();
        self.check.header.next = self.h.q.val();
        self.check.timer.next = self.is_timer.q.val() | self.is_run.q.val();
        self.check.conn_row.next = self.tables.conn.val();
        self.check.qp_row.next = self.tables.qp.val();
        self.check.access.next = self.tables.access.val();
        self.check.given_up.next = self.tables.given_up.val();
        self.tables.give_up.next = self.cerr_valid.val();
        self.tables.give_up_conn.next = self.cerr_conn.val();
        self.check.qp_error.next = self.qperr_data.val();
        self.check.verdict.next = self.tracker.verdict.val();
        self.check.fits.next = self.messages.fits.val();
        self.check.complete.next = self.messages.late.val() & self.sends.val();
        self.check.key_code.next = self.key.code.val();
        if self.with_lists.val() & self.walked.q.val() {
            self.check.key_code.next = bit_cast::<2, 1>(self.scatter.bad.val().into());
        }
        self.check.found.next = self.rq_found.val();
        self.check.last.next = self.rq_last.val();
        self.check.at_exp.next = self.messages.at_exp.val();
        self.check.receive_bytes.next = self.rq_len.val();
        self.check.places_none.next = self.ask_none.val();
        self.check.places_failed.next = self.ask_failed.val();
        self.check.places_room.next =
            (self.messages.at_exp.val() & self.ask_reached_ok.val()) | (!self.messages.at_exp.val() & self.ask_early_ok.val());
        self.check.response_used.next = self.rsp_used.val();
        self.effect.ack_delay.next = self.ack_delay.val();
        self.effect.ack_every.next = self.ack_every.val();
        self.effect.row.next = self.path.q.val();
        self.effect.header.next = self.h.q.val();
        self.effect.now.next = self.time.q.val();
        self.effect.timer.next = self.is_timer.q.val();
        self.effect.probe.next = self.check.probe.val();
        self.effect.accepted.next = self.accepted.val();
        self.effect.refused.next = self.refused.val();
        self.effect.duplicate.next = self.check.duplicate.val();
        self.effect.outside.next = self.check.outside.val();
        self.effect.names_qp.next = self.names_qp.val();
        self.effect.in_order.next = self.tracker.in_order.val();

        comment!("tables, timers and table writes");
        self.tables.read_conn.next = self.read_conn.val();
        self.tables.read_qp.next = self.read_qp.val();
        self.tables.read_row.next = self.read_row.val();
        self.tables.put.next = self.changes.val();
        self.tables.put_row.next = self.row.q.val();
        self.tables.put_path.next = self.path.q.val();
        self.tables.fail.next = self.fails.val();
        self.tables.fail_qp.next = self.h.q.val().dest_qp.get_bits::<16>(0);
        self.tables.fail_row.next = self.check.qp.val();
        self.tables.fail_code.next = self.check.code.val();
        if self.is_run.q.val() {
            self.tables.fail_code.next = self.run_code.val();
        }
        self.tables.asked_qp.next = self.asked_qp.val();
        self.refusal.next = self.tables.refusal.val();
        self.tables.open_conn.next = self.setup.conn_write.val();
        self.tables.open_qp.next = self.setup.qp_write.val();
        self.tables.open_path.next = self.setup.path_write.val();
        self.tables.set_access.next = self.setup.access_write.val();
        self.tables.index.next = self.setup.index.val();
        self.tables.words.next = self.setup.words.val();
        self.tables.path_row.next = self.setup.path_row.val();
        self.tables.path_number.next = self.setup.path_number.val();
        self.timers.now.next = self.now.val();
        self.timers.ack_delay.next = self.ack_delay.val();
        self.timers.write.next = self.changes.val() | self.setup.path_write.val();
        self.timers.row.next = self.row.q.val();
        self.timers.armed.next = self.path.q.val().unacked.any();
        self.timers.since.next = self.path.q.val().ack_time;
        if self.setup.path_write.val() {
            self.timers.row.next = self.setup.path_row.val();
            self.timers.armed.next = false;
        }
        self.setup.cfg_valid.next = self.cfg_valid.val();
        self.setup.cfg_table.next = self.cfg_table.val();
        self.setup.cfg_index.next = self.cfg_index.val();
        self.setup.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.setup.cfg_busy.val();
        self.setup.others_busy.next = self.others_busy.val();
        self.commit_row_valid.next = self.setup.taken.val();
        self.commit_row_table.next = self.setup.taken_table.val();
        self.commit_row_index.next = self.setup.index.val();
        self.setup.clearing.next = self.messages.busy.val();

        comment!("R9, R10: acknowledgments by this path take the port of its last packet");
        self.portset_valid.next = self.tells.val()
            & !self.is_run.q.val()
            & !self.is_timer.q.val()
            & self.check.allowed.val()
            & !self.check.ack.val()
            & (self.check.probe.val() | self.accepted.val() | self.refused.val() | self.check.duplicate.val());
        self.portset_conn.next = self.h.q.val().conn;
        self.portset_path.next = self.h.q.val().via.get_bits::<3>(0);
        self.portset_port.next = self.h.q.val().udp_src;

        comment!("the acknowledgment of the step");
        self.collect.start.next = self.commits.val() & self.acking.q.val();
        self.collect.header.next = self.h.q.val();
        self.collect.probe.next = self.check.probe.val();
        self.collect.refused.next = self.refused.val();
        self.collect.code.next = self.check.code.val();
        self.collect.bad_qp.next = self.check.bad_qp.val();
        self.collect.rnr.next = self.check.rnr.val();
        self.collect.rnr_timer.next = bit_cast::<6, 5>(self.check.rnr_timer.val());
        if self.check.busy.val() {
            comment!("busy, 10 us");
            self.collect.rnr_timer.next = 33.into();
        }
        self.collect.path.next = self.path.q.val();
        self.collect.cum.next = self.tracker.cum.val();
        self.collect.vector.next = self.tracker.vector.val();
        self.collect.now.next = self.time.q.val();
        self.collect.peer_known.next = self.peer_known.q.val();
        self.collect.peer_qpn.next = self.peer_qpn.q.val();
        self.collect.oldest.next = self.oldest.q.val();
        if self.names_qp.val() {
            self.collect.oldest.next = self.messages.exp.val();
        }
        self.collect.rate.next = self.hint.rate.val();
        self.collect.epoch.next = self.hint.epoch.val();
        self.collect.ackdesc_ready.next = self.ackdesc_ready.val();
        self.ackdesc_valid.next = self.collect.ackdesc_valid.val();
        self.ackdesc_conn.next = self.collect.ackdesc.val().conn;
        self.ackdesc_home.next = self.collect.ackdesc.val().home;
        self.ackdesc_via.next = self.collect.ackdesc.val().via;
        self.ackdesc_cum.next = self.collect.ackdesc.val().cum;
        self.ackdesc_ts_echo.next = self.collect.ackdesc.val().ts_echo;
        self.ackdesc_service.next = self.collect.ackdesc.val().service;
        self.ackdesc_ce.next = self.collect.ackdesc.val().ce;
        self.ackdesc_dup.next = self.collect.ackdesc.val().dup;
        self.ackdesc_rx.next = self.collect.ackdesc.val().rx;
        self.ackdesc_flags.next = self.collect.ackdesc.val().flags;
        self.ackdesc_rate.next = self.collect.ackdesc.val().rate;
        self.ackdesc_epoch.next = self.collect.ackdesc.val().epoch;
        self.ackdesc_mak_qp.next = self.collect.ackdesc.val().mak_qp;
        self.ackdesc_mak_code.next = self.collect.ackdesc.val().mak_code;
        self.ackdesc_mak_msn.next = self.collect.ackdesc.val().mak_msn;
        self.ackdesc_sav.next = self.collect.ackdesc_sav.val();

        comment!("its commit record");
        self.journal.swap.next = self.swaps.val();
        self.journal.publish.next = self.publishes.val();
        comment!("what follows from the step may show while its acknowledgment waits for room: the record is made before");
        self.journal.step.next = self.tells.val();
        self.journal.header.next = self.h.q.val();
        self.journal.timer.next = self.is_timer.q.val();
        self.journal.allowed.next = self.check.allowed.val();
        self.journal.ack.next = self.check.ack.val();
        self.journal.probe.next = self.check.probe.val();
        self.journal.duplicate.next = self.check.duplicate.val();
        self.journal.outside.next = self.check.outside.val();
        self.journal.refused.next = self.refused.val();
        self.journal.code.next = self.check.code.val();
        self.journal.rnr.next = self.check.rnr.val();
        self.journal.qp_failed.next = self.request.val() & !self.check.bad_qp.val() & self.check.qp_failed.val();
        self.journal.placed.next = self.placed.val();
        self.journal.addr.next = self.place_addr.val();
        if self.in_pieces.val() {
            self.journal.addr.next = self.scatter.first_addr.val();
        }
        self.journal.used.next = self.used.val();
        self.journal.run.next = self.is_run.q.val();
        self.journal.run_code.next = self.run_code.val();
        self.journal.run_value.next = self.run_value.val();
        self.journal.acked.next = self.acking.q.val();
        self.journal.now.next = self.time.q.val();
        if self.state.q.val() == RxState::Idle {
            self.journal.now.next = self.now.val();
        }
        self.journal.share.next = self.hint.share.val();
        self.journal.path.next = self.path.q.val();
        self.journal.cum.next = self.tracker.cum.val();
        self.journal.high.next = self.tracker.high.val();
        self.journal.exp_valid.next = self.request.val() & !self.check.bad_qp.val();
        self.journal.exp.next = self.messages.exp.val();
        self.commit_rx_valid.next = self.journal.valid.val();
        self.commit_rx_kind.next = self.journal.record.val().kind;
        self.commit_rx_class.next = self.journal.record.val().class;
        self.commit_rx_conn.next = self.journal.record.val().conn;
        self.commit_rx_home.next = self.journal.record.val().home;
        self.commit_rx_via.next = self.journal.record.val().via;
        self.commit_rx_opcode.next = self.journal.record.val().opcode;
        self.commit_rx_ppsn.next = self.journal.record.val().ppsn;
        self.commit_rx_code.next = self.journal.record.val().code;
        self.commit_rx_placed.next = self.journal.record.val().placed;
        self.commit_rx_addr.next = self.journal.record.val().addr;
        self.commit_rx_bytes.next = self.journal.record.val().bytes;
        self.commit_rx_acked.next = self.journal.record.val().acked;
        self.commit_rx_now.next = self.journal.record.val().now;
        self.commit_rx_share.next = self.journal.record.val().share;
        self.commit_rx_cum.next = self.journal.record.val().cum;
        self.commit_rx_high.next = self.journal.record.val().high;
        self.commit_rx_ce.next = self.journal.record.val().ce;
        self.commit_rx_dup.next = self.journal.record.val().dup;
        self.commit_rx_rx.next = self.journal.record.val().rx;
        self.commit_rx_unacked.next = self.journal.record.val().unacked;
        self.commit_rx_exp.next = self.journal.record.val().exp;
        self.commit_rx_rnr.next = self.journal.record.val().rnr;
        self.commit_rx_qp_failed.next = self.journal.record.val().qp_failed;
        self.commit_rx_used.next = self.journal.record.val().used;
        if self.reset.val() {
            self.state.d.next = RxState::Idle;
            self.place_full.d.next = false;
            self.ack_full.d.next = false;
            self.rxerr_full.d.next = false;
            self.nak_full.d.next = false;
            self.running.d.next = false;
            self.asking.d.next = false;
            self.looking.d.next = false;
            self.holding.d.next = false;
            self.told.d.next = false;
            self.walked.d.next = false;
            self.inited.d.next = false;
            self.tickets.d.next = 0.into();
        }
    }
}
