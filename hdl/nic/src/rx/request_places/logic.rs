//! request_places clock by clock: a look has the tables' read ports whenever it wants them, an FSM has them otherwise.
//! In and out: see the parent module. Guarantees: what a step takes and what the FSM frees are counted apart, so neither loses a count;
//! a place that is freed while a step is under way may be overlooked by it, never the other way round.
use super::rows::{PlacesStep, PlacesTask};
use super::RequestPlaces;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

impl Logic for RequestPlaces {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module request_places: accepted READs and atomics until their responses are acknowledged");
        dff_setup!(
            self,
            clock,
            state,
            task,
            walk,
            cleared,
            cfg_held,
            cfg_marked,
            held_is_qp,
            held_index,
            held_qp,
            held_mtu,
            qp,
            conn,
            msn,
            is_error,
            done,
            at,
            rounded,
            npkts,
            look_1,
            look_2,
            step_conn,
            step_qp,
            step_msn,
            seen,
            seen_taken,
            seen_freed,
            seen_conn_taken,
            seen_conn_freed,
            seen_free,
            seen_live,
            reached_r,
            early_r
        );
        clock!(
            self, clock, qps, taken, freed, conn_taken, conn_freed, mtu, marks, marks_copy, frees, frees_copy, left, flushes
        );
        self.flushes.reset.next = self.reset.val();
        self.flushes.pop.next = false;
        self.flushes.push_valid.next = self.flush_valid.val();
        self.flushes.push_id.next = self.flush_qp.val();
        self.init_done.next = self.cleared.q.val() & self.flushes.init_done.val();

        comment!("configuration waits in a buffer");
        self.from_cfg.next.open = self.cfg_data.val().get_bit(0);
        self.from_cfg.next.failed = false;
        self.from_cfg.next.conn = self.cfg_data.val().get_bits::<16>(16);
        self.from_cfg.next.peer_qpn = self.cfg_data.val().get_bits::<24>(32);
        self.from_cfg.next.places = self.cfg_data.val().get_bits::<8>(312);
        if self.cfg_valid.val() & ((self.cfg_table.val() == 1) | (self.cfg_table.val() == 3)) {
            self.cfg_held.d.next = true;
            self.cfg_marked.d.next = false;
            self.held_is_qp.d.next = self.cfg_table.val() == 3;
            self.held_index.d.next = self.cfg_index.val();
            self.held_qp.d.next = self.from_cfg.val();
            self.held_mtu.d.next = self.cfg_data.val().get_bits::<4>(8);
        }
        self.cfg_busy.next = self.cfg_held.q.val();
        self.older_mark.next = false;
        if self.cfg_held.q.val() & !self.cfg_marked.q.val() & !self.others_busy.val() {
            self.cfg_marked.d.next = true;
            self.older_mark.next = true;
        }

        comment!("addresses");
        self.look_at.next =
            (bit_cast::<24, 16>(self.look_qp.val()) << self.messages_log2.val()) | (self.look_msn.val() & self.slot_mask.val());
        self.step_at.next = (bit_cast::<24, 16>(self.step_qp.q.val()) << self.messages_log2.val())
            | (self.step_msn.q.val() & self.slot_mask.val());
        self.own_at.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.messages_log2.val()) | (self.msn.q.val() & self.slot_mask.val());
        if (self.state.q.val() == PlacesStep::WalkRead) | (self.state.q.val() == PlacesStep::WalkHave) {
            self.own_at.next = (bit_cast::<24, 16>(self.qp.q.val()) << self.messages_log2.val()) | self.walk.q.val();
        }
        self.live_at.next =
            (bit_cast::<24, 16>(self.live_qp.val()) << self.messages_log2.val()) | (self.live_msn.val() & self.slot_mask.val());
        self.qps.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.taken.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.freed.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.conn_taken.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
        self.conn_freed.read_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.marks.read_address.next = self.own_at.val();
        self.frees.read_address.next = self.own_at.val();
        self.left.read_address.next = self.own_at.val();
        self.mtu.read_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.marks_copy.read_address.next = self.live_at.val();
        self.frees_copy.read_address.next = self.live_at.val();
        self.live.next = (self.marks_copy.read_data.val().mark != self.frees_copy.read_data.val())
            & (self.marks_copy.read_data.val().msn == self.live_msn.val());

        comment!("the look, clock 0: every table is read for it");
        self.look_1.d.next = self.look.val();
        self.look_2.d.next = self.look_1.q.val();
        if self.look.val() {
            self.step_conn.d.next = self.look_conn.val();
            self.step_qp.d.next = self.look_qp.val();
            self.step_msn.d.next = self.look_msn.val();
            self.qps.read_address.next = bit_cast::<24, 16>(self.look_qp.val());
            self.taken.read_address.next = bit_cast::<24, 16>(self.look_qp.val());
            self.freed.read_address.next = bit_cast::<24, 16>(self.look_qp.val());
            self.conn_freed.read_address.next = bit_cast::<24, 16>(self.look_conn.val());
            self.marks.read_address.next = self.look_at.val();
            self.frees.read_address.next = self.look_at.val();
        }
        comment!("clock 1");
        if self.look_1.q.val() {
            self.seen.d.next = self.qps.read_data.val();
            self.seen_taken.d.next = self.taken.read_data.val();
            self.seen_freed.d.next = self.freed.read_data.val();
            self.seen_conn_taken.d.next = self.conn_taken.read_data.val();
            self.seen_conn_freed.d.next = self.conn_freed.read_data.val();
            self.seen_free.d.next = self.frees.read_data.val();
            self.seen_live.d.next = self.marks.read_data.val().mark != self.frees.read_data.val();
        }
        comment!("clock 2, D3: the last place, and the connection's last response, are for the request that exp has reached");
        self.held_places.next = self.seen_taken.q.val() - self.seen_freed.q.val();
        self.held_responses.next = self.seen_conn_taken.q.val() - self.seen_conn_freed.q.val();
        self.closing.next = self.cfg_held.q.val() & self.held_is_qp.q.val() & (self.held_index.q.val() == self.step_qp.q.val());
        if self.look_2.q.val() {
            self.reached_r.d.next = (self.held_places.val() < self.seen.q.val().places)
                & (self.held_responses.val() < self.limit.val())
                & !self.seen_live.q.val()
                & !self.closing.val();
            self.early_r.d.next = (bit_cast::<9, 8>(self.held_places.val()) + 1 < bit_cast::<9, 8>(self.seen.q.val().places))
                & (bit_cast::<17, 16>(self.held_responses.val()) + 1 < bit_cast::<17, 16>(self.limit.val()))
                & !self.seen_live.q.val()
                & !self.closing.val();
        }
        self.reached_ok.next = self.reached_r.q.val();
        self.early_ok.next = self.early_r.q.val();
        self.none.next = !self.seen.q.val().places.any();
        self.failed.next = self.seen.q.val().failed;
        comment!("it takes its place");
        self.taken.write_enable.next = self.take.val();
        self.taken.write_address.next = bit_cast::<24, 16>(self.step_qp.q.val());
        self.taken.write_data.next = self.seen_taken.q.val() + 1;
        self.conn_taken.write_enable.next = self.take.val();
        self.conn_taken.write_address.next = bit_cast::<24, 16>(self.step_conn.q.val());
        self.conn_taken.write_data.next = self.seen_conn_taken.q.val() + 1;
        self.new_mark.next.mark = !self.seen_free.q.val();
        self.new_mark.next.msn = self.step_msn.q.val();
        self.marks.write_enable.next = self.take.val();
        self.marks.write_address.next = self.step_at.val();

        comment!("the FSM");
        self.busy.next = (self.step.val() & (self.step_qp.q.val() == self.qp.q.val())) | self.look.val();
        self.new_qp.next = self.at.q.val();
        self.qps.write_enable.next = false;
        self.qps.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.freed.write_enable.next = false;
        self.freed.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.freed.write_data.next = self.freed.read_data.val() + 1;
        self.conn_freed.write_enable.next = false;
        self.conn_freed.write_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.conn_freed.write_data.next = self.conn_freed.read_data.val() + 1;
        self.mtu.write_enable.next = false;
        self.mtu.write_address.next = bit_cast::<24, 16>(self.held_index.q.val());
        self.mtu.write_data.next = self.held_mtu.q.val();
        self.frees.write_enable.next = false;
        self.frees.write_address.next = self.own_at.val();
        self.frees.write_data.next = self.marks.read_data.val().mark;
        self.left.write_enable.next = false;
        self.left.write_address.next = self.own_at.val();
        self.left.write_data.next = self.left.read_data.val() - 1;
        self.is_live.next = self.marks.read_data.val().mark != self.frees.read_data.val();
        self.frees_place.next = false;
        self.frees_response.next = false;
        self.next_slot.next = false;
        self.retired_ready.next = false;
        self.executed_ready.next = false;
        self.response_valid.next = false;
        self.row_write.next = false;
        self.commit_answer_valid.next = false;
        self.commit_answer_qp.next = self.qp.q.val();
        comment!("D7: an ERROR_RESP by default");
        self.order.next.conn = self.at.q.val().conn;
        self.order.next.error = true;
        self.order.next.code = 6.into();
        self.order.next.qp = self.qp.q.val();
        self.order.next.msn = self.msn.q.val();
        self.order.next.npkts = 1.into();
        self.order.next.length = 0.into();
        self.order.next.peer_qpn = self.at.q.val().peer_qpn;
        self.ends.next = (self.one32.val() << self.mtu.read_data.val()) - 1;
        match self.state.q.val() {
            PlacesStep::Clear => {
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_walk.val() {
                    self.state.d.next = PlacesStep::Idle;
                    self.cleared.d.next = true;
                }
            }
            PlacesStep::Idle => {
                comment!("no ready depends on its own valid");
                self.retired_ready.next = true;
                self.executed_ready.next = !self.retired_valid.val();
                self.walk.d.next = 0.into();
                if self.retired_valid.val() {
                    self.task.d.next = PlacesTask::Retired;
                    self.qp.d.next = self.retired.val().qp;
                    self.conn.d.next = self.retired.val().conn;
                    self.msn.d.next = self.retired.val().msn;
                    self.is_error.d.next = self.retired.val().error;
                    self.state.d.next = PlacesStep::Read;
                } else if self.executed_valid.val() {
                    self.task.d.next = PlacesTask::Executed;
                    self.qp.d.next = self.executed.val().qp;
                    self.msn.d.next = self.executed.val().msn;
                    self.done.d.next = self.executed.val();
                    self.state.d.next = PlacesStep::Read;
                } else if !self.flushes.empty.val()
                    & !(self.executing.val() & (self.executing_qp.val() == self.flushes.id.val()))
                {
                    self.task.d.next = PlacesTask::Flush;
                    self.qp.d.next = self.flushes.id.val();
                    self.state.d.next = PlacesStep::Read;
                } else if self.cfg_held.q.val()
                    & self.cfg_marked.q.val()
                    & self.older_done.val()
                    & self.flushes.empty.val()
                    & !(self.executing.val() & (self.executing_qp.val() == self.held_index.q.val()))
                {
                    self.task.d.next = PlacesTask::Close;
                    self.qp.d.next = self.held_index.q.val();
                    self.conn.d.next = self.held_index.q.val();
                    self.state.d.next = PlacesStep::Read;
                    if !self.held_is_qp.q.val() {
                        self.state.d.next = PlacesStep::InstallConn;
                    }
                }
            }
            PlacesStep::Read => {
                if !self.look.val() {
                    self.state.d.next = PlacesStep::Have;
                }
            }
            PlacesStep::Have => {
                self.at.d.next = self.qps.read_data.val();
                self.state.d.next = PlacesStep::Idle;
                if self.task.q.val() == PlacesTask::Retired {
                    if self.is_error.q.val() {
                        self.frees_response.next = true;
                    } else if self.is_live.val() & (self.marks.read_data.val().msn == self.msn.q.val()) {
                        self.left.write_enable.next = true;
                        if self.left.read_data.val() == 1 {
                            comment!("D3: the last packet of the response frees place and response");
                            self.frees_place.next = true;
                            self.frees_response.next = true;
                        }
                    }
                } else if self.task.q.val() == PlacesTask::Executed {
                    self.conn.d.next = self.qps.read_data.val().conn;
                    if self.done.q.val().code.any() {
                        comment!("D7: the place goes over to the ERROR_RESP");
                        self.frees_place.next = true;
                    }
                    self.state.d.next = PlacesStep::Round;
                } else if self.qps.read_data.val().open {
                    self.state.d.next = PlacesStep::Begin;
                } else if self.task.q.val() == PlacesTask::Close {
                    self.state.d.next = PlacesStep::Install;
                } else {
                    self.flushes.pop.next = true;
                }
            }
            PlacesStep::Round => {
                comment!("the MTU is read");
                self.npkts.d.next = 0.into();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val().get_bit(0) {
                    self.rounded.d.next = self.done.q.val().length + self.ends.val();
                    self.state.d.next = PlacesStep::Push;
                }
            }
            PlacesStep::Push => {
                comment!("one clock for the number of packets, then the response leaves");
                self.npkts.d.next = (self.rounded.q.val() >> self.mtu.read_data.val()).get_bits::<24>(0);
                if self.done.q.val().atomic | !self.done.q.val().length.any() {
                    self.npkts.d.next = 1.into();
                }
                if !self.done.q.val().code.any() {
                    self.order.next.error = false;
                    self.order.next.code = 0.into();
                    self.order.next.npkts = self.npkts.q.val();
                    if !self.done.q.val().atomic {
                        self.order.next.length = self.done.q.val().length;
                    }
                } else {
                    self.order.next.code = bit_cast::<8, 3>(self.done.q.val().code);
                }
                self.response_valid.next = self.npkts.q.val().any();
                if self.npkts.q.val().any() & self.response_ready.val() {
                    self.row_write.next = !self.done.q.val().code.any();
                    self.left.write_enable.next = !self.done.q.val().code.any();
                    self.left.write_data.next = self.npkts.q.val();
                    self.state.d.next = PlacesStep::Idle;
                }
            }
            PlacesStep::Begin => {
                if self.retiring.val() {
                    comment!("what was acknowledged before is not answered: it comes first");
                    self.state.d.next = PlacesStep::Idle;
                } else if !self.busy.val() {
                    self.flushes.pop.next = self.task.q.val() == PlacesTask::Flush;
                    self.new_qp.next.failed = true;
                    self.qps.write_enable.next = true;
                    self.commit_answer_valid.next = self.task.q.val() == PlacesTask::Flush;
                    self.state.d.next = PlacesStep::WalkRead;
                }
            }
            PlacesStep::WalkRead => {
                if !self.look.val() {
                    self.state.d.next = PlacesStep::WalkHave;
                }
            }
            PlacesStep::WalkHave => {
                self.msn.d.next = self.marks.read_data.val().msn;
                self.next_slot.next = !self.is_live.val();
                if self.is_live.val() {
                    self.frees_place.next = true;
                    self.state.d.next = PlacesStep::WalkPush;
                }
            }
            PlacesStep::WalkPush => {
                self.response_valid.next = true;
                self.next_slot.next = self.response_ready.val();
            }
            PlacesStep::Install => {
                comment!("a queue pair starts afresh, without requests");
                if !self.busy.val() & !self.take.val() {
                    self.new_qp.next = self.held_qp.q.val();
                    self.qps.write_enable.next = true;
                    self.taken.write_enable.next = true;
                    self.taken.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
                    self.taken.write_data.next = 0.into();
                    self.freed.write_enable.next = true;
                    self.freed.write_data.next = 0.into();
                    self.cfg_held.d.next = false;
                    self.state.d.next = PlacesStep::Idle;
                }
            }
            PlacesStep::InstallConn => {
                if !self.step.val() {
                    self.mtu.write_enable.next = true;
                    self.conn_taken.write_enable.next = true;
                    self.conn_taken.write_address.next = bit_cast::<24, 16>(self.conn.q.val());
                    self.conn_taken.write_data.next = 0.into();
                    self.conn_freed.write_enable.next = true;
                    self.conn_freed.write_data.next = 0.into();
                    self.cfg_held.d.next = false;
                    self.state.d.next = PlacesStep::Idle;
                }
            }
        }
        if self.next_slot.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            self.state.d.next = PlacesStep::WalkRead;
            if self.walk.q.val() == self.last_slot.val() {
                self.state.d.next = PlacesStep::Idle;
                if self.task.q.val() == PlacesTask::Close {
                    self.state.d.next = PlacesStep::Install;
                }
            }
        }
        if self.frees_place.val() {
            self.frees.write_enable.next = true;
            self.freed.write_enable.next = true;
        }
        if self.frees_response.val() {
            self.conn_freed.write_enable.next = true;
        }
        self.response.next = self.order.val();
        self.new_row.next.atomic = self.done.q.val().atomic;
        self.new_row.next.base = self.done.q.val().base;
        self.new_row.next.length = self.done.q.val().length;
        self.new_row.next.tag = self.done.q.val().tag;
        self.new_row.next.peer_qpn = self.at.q.val().peer_qpn;
        self.row.next = self.new_row.val();
        self.row_addr.next = self.own_at.val();
        if self.state.q.val() == PlacesStep::Clear {
            comment!("every table starts empty");
            self.new_qp.next.open = false;
            self.new_qp.next.failed = false;
            self.new_qp.next.places = 0.into();
            self.qps.write_enable.next = true;
            self.qps.write_address.next = self.walk.q.val();
            self.taken.write_enable.next = true;
            self.taken.write_address.next = self.walk.q.val();
            self.taken.write_data.next = 0.into();
            self.freed.write_enable.next = true;
            self.freed.write_address.next = self.walk.q.val();
            self.freed.write_data.next = 0.into();
            self.conn_taken.write_enable.next = true;
            self.conn_taken.write_address.next = self.walk.q.val();
            self.conn_taken.write_data.next = 0.into();
            self.conn_freed.write_enable.next = true;
            self.conn_freed.write_address.next = self.walk.q.val();
            self.conn_freed.write_data.next = 0.into();
            self.new_mark.next.mark = false;
            self.marks.write_enable.next = true;
            self.marks.write_address.next = self.walk.q.val();
            self.frees.write_enable.next = true;
            self.frees.write_address.next = self.walk.q.val();
            self.frees.write_data.next = false;
        }
        self.qps.write_data.next = self.new_qp.val();
        self.marks.write_data.next = self.new_mark.val();
        self.marks_copy.write_enable.next = self.marks.write_enable.val();
        self.marks_copy.write_address.next = self.marks.write_address.val();
        self.marks_copy.write_data.next = self.new_mark.val();
        self.frees_copy.write_enable.next = self.frees.write_enable.val();
        self.frees_copy.write_address.next = self.frees.write_address.val();
        self.frees_copy.write_data.next = self.frees.write_data.val();

        if self.reset.val() {
            self.state.d.next = PlacesStep::Clear;
            self.walk.d.next = 0.into();
            self.cleared.d.next = false;
            self.cfg_held.d.next = false;
            self.cfg_marked.d.next = false;
            self.look_1.d.next = false;
            self.look_2.d.next = false;
        }
    }
}
