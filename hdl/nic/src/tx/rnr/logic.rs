//! rnr's counts, marks and states, clock by clock.
//! In and out: see the parent module. Guarantees: a row is read in one clock and written in the next; an event always finds its write port free,
//! the scan waits a clock for it.
use super::{Rnr, RnrState};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

impl Logic for Rnr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rnr: queue pairs that wait for a receive of their peer, and what of theirs goes out again");
        dff_setup!(
            self,
            clock,
            gone_busy,
            gone_qp,
            gone_sent,
            gone_left,
            gone_conn,
            gone_returns,
            entered_busy,
            entered_qp,
            retired_busy,
            retired_qp,
            cfg_held,
            held_conn,
            held_index,
            held_word,
            state,
            count,
            holding,
            qp,
            conn,
            msn,
            index,
            back,
            walk,
            ready,
            told
        );
        clock!(
            self,
            clock,
            conns,
            wait,
            wait_tx,
            gone,
            gone_scan,
            entered,
            entered_scan,
            retired,
            retired_scan,
            came_back,
            left_again,
            left_again_scan,
            shape,
            aside,
            withdrawn,
            withdrawn_tx,
            attempt,
            attempt_tx,
            waiting
        );
        self.waiting.reset.next = self.reset.val();
        if self.cfg_valid.val() & ((self.cfg_table.val() == 1) | (self.cfg_table.val() == 3)) {
            self.cfg_held.d.next = true;
            self.held_conn.d.next = self.cfg_table.val() == 1;
            self.held_index.d.next = self.cfg_index.val();
            self.held_word.d.next = self.cfg_word0.val();
        }
        self.cfg_busy.next = self.cfg_held.q.val();

        comment!("counts: a row is read in the clock of an event and written in the next; no two events are as near as that");
        self.put.next = self.put_valid.val() | ((self.state.q.val() == RnrState::Enter) & self.msg_ready.val());
        self.gone_busy.d.next = self.out_sent.val() | self.out_left.val();
        self.gone_qp.d.next = self.out_qp.val();
        self.gone_sent.d.next = self.out_sent.val();
        self.gone_left.d.next = self.out_left.val();
        self.gone_conn.d.next = self.out_conn.val();
        self.gone_returns.d.next = self.out_returns.val();
        self.gone.read_address.next = bit_cast::<24, 16>(self.out_qp.val());
        self.gone_new.next = self.gone.read_data.val();
        self.gone_row.next = self.gone.read_data.val();
        if self.gone_sent.q.val() {
            self.gone_new.next.sent = self.gone_row.val().sent + 1;
        }
        if self.gone_left.q.val() {
            self.gone_new.next.left = self.gone_row.val().left + 1;
        }
        self.gone_write.next = self.gone_busy.q.val();
        self.gone_at.next = bit_cast::<24, 16>(self.gone_qp.q.val());
        self.left_again.read_address.next = bit_cast::<24, 16>(self.out_conn.val());
        self.left_again_new.next = self.left_again.read_data.val() + 1;
        self.left_again_write.next = self.gone_busy.q.val() & self.gone_left.q.val() & self.gone_returns.q.val();
        self.entered_busy.d.next = self.put.val();
        self.entering.next = self.put_qp.val();
        if self.holding.q.val() {
            self.entering.next = self.qp.q.val();
        }
        self.entered_qp.d.next = self.entering.val();
        self.entered.read_address.next = bit_cast::<24, 16>(self.entering.val());
        self.entered_new.next = self.entered.read_data.val() + 1;
        self.entered_write.next = self.entered_busy.q.val();
        self.entered_at.next = bit_cast::<24, 16>(self.entered_qp.q.val());
        self.retired_busy.d.next = self.ret_valid.val();
        self.retired_qp.d.next = self.ret_qp.val();
        self.retired.read_address.next = bit_cast::<24, 16>(self.ret_qp.val());
        self.retired_new.next = self.retired.read_data.val() + 1;
        self.retired_write.next = self.retired_busy.q.val();
        self.retired_at.next = bit_cast::<24, 16>(self.retired_qp.q.val());

        comment!("messages: rows at qp * M + msn mod M");
        self.here.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.message_log2.val()) | (self.msn.q.val() & self.message_mask.val());
        self.put_at.next =
            (bit_cast::<24, 16>(self.put_qp.val()) << self.message_log2.val()) | (self.put_msn.val() & self.message_mask.val());
        self.out_at.next =
            (bit_cast::<24, 16>(self.out_qp.val()) << self.message_log2.val()) | (self.out_msn.val() & self.message_mask.val());
        self.withdraw_at.next = (bit_cast::<24, 16>(self.withdraw_qp.val()) << self.message_log2.val())
            | (self.withdraw_msn.val() & self.message_mask.val());
        self.shape.read_address.next = self.here.val();
        self.shape_row.next = self.shape.read_data.val();
        self.shape_new.next.npkts = self.put_npkts.val();
        self.shape_new.next.length = self.put_length.val();
        self.shape.write_enable.next = self.put_valid.val();
        self.shape.write_address.next = self.put_at.val();
        self.shape.write_data.next = self.shape_new.val();
        self.aside.read_address.next = self.here.val();
        self.aside_row.next = self.aside.read_data.val();
        self.aside_new.next.valid = self.out_aside.val();
        self.aside_new.next.index = self.out_index.val();
        self.aside.write_enable.next = self.out_aside.val();
        self.aside.write_address.next = self.out_at.val();
        self.withdrawn.read_address.next = self.here.val();
        self.withdrawn_write.next = self.withdraw_valid.val();
        self.withdrawn_at.next = self.withdraw_at.val();
        self.withdrawn_new.next = true;
        self.attempt.read_address.next = self.here.val();
        comment!("a message that work_fetch brings has attempt 0");
        self.attempt_write.next = self.put_valid.val();
        self.attempt_at.next = self.put_at.val();
        self.attempt_new.next = false;
        self.flipped.next = !self.attempt.read_data.val();
        if self.fault.val() == 17 {
            self.flipped.next = self.attempt.read_data.val();
        }

        comment!("N1: a queue pair begins to wait");
        self.ticks.next = 0.into();
        for k in 0..32 {
            if self.withdraw_code.val().get_bits::<5>(0) == k.to_bits::<5>() {
                self.ticks.next = self.times[k].val();
            }
        }
        self.wait_new.next.waiting = true;
        self.wait_new.next.until = self.now.val() + self.ticks.val();
        self.begins.next = self.withdraw_valid.val() & self.withdraw_began.val();
        self.wait_write.next = self.begins.val();
        self.wait_at.next = bit_cast::<24, 16>(self.withdraw_qp.val());
        self.waiting.push_valid.next = self.begins.val();
        self.waiting.push_id.next = self.withdraw_qp.val();
        self.waiting.pop.next = false;

        comment!("rows of the queue pair that is looked at");
        self.conns.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.conns.write_enable.next = false;
        self.conns.write_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.conns.write_data.next = self.held_word.q.val().get_bits::<16>(16);
        self.wait.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.gone_scan.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.entered_scan.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.retired_scan.read_address.next = bit_cast::<24, 16>(self.qp.q.val());
        self.came_back.read_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.came_back.write_enable.next = false;
        self.came_back.write_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.came_back.write_data.next = self.back.q.val();
        self.left_again_scan.read_address.next = bit_cast::<24, 16>(self.conn.q.val());
        self.wait_row.next = self.wait.read_data.val();
        self.age.next = self.now.val() - self.wait_row.val().until;
        comment!("N2: everything sent is retired, no message is in a ring; the time has passed");
        self.quiet.next = self.gone_scan.read_data.val().sent == self.retired_scan.read_data.val();
        self.calm.next = (self.quiet.val() | (self.fault.val() == 18))
            & (self.gone_scan.read_data.val().left == self.entered_scan.read_data.val());
        self.due.next = !self.age.val().get_bit(31);

        self.over_valid.next = false;
        self.over_qp.next = self.qp.q.val();
        self.again_valid.next = false;
        self.again_qp.next = self.qp.q.val();
        self.again_msn.next = self.msn.q.val();
        self.msg_valid.next = self.state.q.val() == RnrState::Enter;
        self.msg_conn.next = self.conn.q.val();
        self.msg_qp.next = self.qp.q.val();
        self.msg_msn.next = self.msn.q.val();
        self.msg_npkts.next = self.shape_row.val().npkts;
        self.msg_length.next = self.shape_row.val().length;
        self.msg_index.next = self.index.q.val();
        self.hold.next = self.holding.q.val();
        self.drained_valid.next = false;
        self.drained_qp.next = self.qp.q.val();

        match self.state.q.val() {
            RnrState::Clear => {
                self.walk.d.next = self.walk.q.val() + 1;
                self.conns.write_enable.next = true;
                self.conns.write_address.next = self.walk.q.val();
                self.conns.write_data.next = 0.into();
                self.came_back.write_enable.next = true;
                self.came_back.write_address.next = self.walk.q.val();
                self.came_back.write_data.next = 0.into();
                self.aside.write_enable.next = true;
                self.aside.write_address.next = self.walk.q.val();
                self.aside_new.next.valid = false;
                self.attempt_write.next = true;
                self.attempt_at.next = self.walk.q.val();
                self.shape.write_enable.next = true;
                self.shape.write_address.next = self.walk.q.val();
                self.withdrawn_write.next = true;
                self.withdrawn_at.next = self.walk.q.val();
                self.withdrawn_new.next = false;
                self.wait_write.next = true;
                self.wait_at.next = self.walk.q.val();
                self.wait_new.next.waiting = false;
                self.gone_write.next = true;
                self.gone_at.next = self.walk.q.val();
                self.gone_new.next.sent = 0.into();
                self.gone_new.next.left = 0.into();
                self.entered_write.next = true;
                self.entered_at.next = self.walk.q.val();
                self.entered_new.next = 0.into();
                self.retired_write.next = true;
                self.retired_at.next = self.walk.q.val();
                self.retired_new.next = 0.into();
                self.left_again_write.next = true;
                self.left_again_new.next = 0.into();
                if self.walk.q.val() == self.last_row.val() {
                    self.ready.d.next = true;
                    self.state.d.next = RnrState::Idle;
                }
            }
            RnrState::Idle => {
                self.count.d.next = 0.into();
                if self.cfg_held.q.val() & !self.others_busy.val() {
                    self.qp.d.next = self.held_index.q.val();
                    self.state.d.next = RnrState::Calm;
                    if self.held_conn.q.val() {
                        self.qp.d.next = 0.into();
                        self.state.d.next = RnrState::Visit;
                    }
                } else if self.drain_valid.val() & (!self.told.q.val() | self.waiting.empty.val()) {
                    self.told.d.next = true;
                    self.qp.d.next = self.drain_qp.val();
                    self.state.d.next = RnrState::Sample;
                } else if !self.waiting.empty.val() {
                    self.told.d.next = false;
                    self.waiting.pop.next = true;
                    self.qp.d.next = self.waiting.id.val();
                    self.state.d.next = RnrState::Look;
                }
            }
            RnrState::Look => {
                comment!("not with the pop: a wait that begins in that clock merges with the entry that is popped");
                self.state.d.next = RnrState::Judge;
            }
            RnrState::Judge => {
                comment!("first without stopping anything, then once more when nothing enters any longer");
                self.conn.d.next = self.conns.read_data.val();
                self.count.d.next = 0.into();
                if !self.wait_row.val().waiting {
                    self.holding.d.next = false;
                    self.state.d.next = RnrState::Idle;
                } else if self.due.val() & self.calm.val() {
                    self.state.d.next = RnrState::Room;
                    if self.holding.q.val() {
                        self.state.d.next = RnrState::Ask;
                    }
                } else {
                    self.state.d.next = RnrState::Back;
                }
            }
            RnrState::Room => {
                self.state.d.next = RnrState::Compare;
            }
            RnrState::Compare => {
                comment!("the ring has room for the M messages of one queue pair beside those that work_fetch counts");
                self.back.d.next = self.came_back.read_data.val();
                self.state.d.next = RnrState::Back;
                if self.came_back.read_data.val() == self.left_again_scan.read_data.val() {
                    self.holding.d.next = true;
                    self.state.d.next = RnrState::Settle;
                }
            }
            RnrState::Settle => {
                comment!("what entered is counted, and completion knows of it");
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 6 {
                    self.state.d.next = RnrState::Judge;
                }
            }
            RnrState::Back => {
                comment!("later: back into the list, unless that is in use");
                self.holding.d.next = false;
                if !self.begins.val() {
                    self.waiting.push_valid.next = true;
                    self.waiting.push_id.next = self.qp.q.val();
                    self.state.d.next = RnrState::Idle;
                }
            }
            RnrState::Ask => {
                self.over_valid.next = true;
                if self.over_ready.val() {
                    self.state.d.next = RnrState::Answer;
                }
            }
            RnrState::Answer => {
                self.msn.d.next = self.over_head.val();
                if self.over_done.val() {
                    self.state.d.next = RnrState::Calm;
                    if self.over_failed.val() {
                        self.holding.d.next = false;
                    }
                }
            }
            RnrState::Calm => {
                comment!("it no longer waits: its wait is over, or it failed, or it is closed or opened");
                if !self.begins.val() {
                    self.wait_write.next = true;
                    self.wait_at.next = bit_cast::<24, 16>(self.qp.q.val());
                    self.wait_new.next.waiting = false;
                    self.state.d.next = RnrState::Idle;
                    if self.holding.q.val() {
                        self.state.d.next = RnrState::Read;
                    } else if self.cfg_held.q.val()
                        & !self.held_conn.q.val()
                        & !self.others_busy.val()
                        & (self.qp.q.val() == self.held_index.q.val())
                    {
                        comment!("one that is closed goes on to have packets on its connection");
                        self.conns.write_enable.next = self.held_word.q.val().get_bit(0);
                        self.state.d.next = RnrState::Quiet;
                    }
                }
            }
            RnrState::Read => {
                self.state.d.next = RnrState::Slot;
            }
            RnrState::Slot => {
                comment!("what was withdrawn begins again, what was set aside goes on");
                self.index.d.next = self.aside_row.val().index;
                if self.withdrawn.read_data.val() {
                    self.index.d.next = 0.into();
                    self.state.d.next = RnrState::Again;
                } else if self.aside_row.val().valid {
                    self.state.d.next = RnrState::Mark;
                } else {
                    self.msn.d.next = self.msn.q.val() + 1;
                    self.count.d.next = self.count.q.val() + 1;
                    self.state.d.next = RnrState::Read;
                    if self.count.q.val() == self.last_message.val() {
                        self.holding.d.next = false;
                        self.came_back.write_enable.next = true;
                        self.state.d.next = RnrState::Idle;
                    }
                }
            }
            RnrState::Again => {
                self.again_valid.next = true;
                if self.again_ready.val() {
                    self.attempt_write.next = true;
                    self.attempt_at.next = self.here.val();
                    self.attempt_new.next = self.flipped.val();
                    self.state.d.next = RnrState::Mark;
                }
            }
            RnrState::Mark => {
                if !self.out_aside.val() & !self.withdraw_valid.val() {
                    self.aside.write_enable.next = true;
                    self.aside.write_address.next = self.here.val();
                    self.withdrawn_write.next = true;
                    self.withdrawn_at.next = self.here.val();
                    self.withdrawn_new.next = false;
                    self.state.d.next = RnrState::Enter;
                }
            }
            RnrState::Enter => {
                if self.msg_ready.val() {
                    self.back.d.next = self.back.q.val() + 1;
                    comment!("its row has neither mark now, so the next look at it passes on");
                    self.state.d.next = RnrState::Read;
                }
            }
            RnrState::Quiet => {
                comment!("a slot that saw it waiting is through by then");
                self.msn.d.next = 0.into();
                self.count.d.next = self.count.q.val() + 1;
                if self.count.q.val() == 8 {
                    self.count.d.next = 0.into();
                    self.state.d.next = RnrState::Sweep;
                }
            }
            RnrState::Sweep => {
                comment!("nothing of an earlier life is withdrawn or set aside");
                if !self.out_aside.val() & !self.withdraw_valid.val() {
                    self.aside.write_enable.next = true;
                    self.aside.write_address.next = self.here.val();
                    self.withdrawn_write.next = true;
                    self.withdrawn_at.next = self.here.val();
                    self.withdrawn_new.next = false;
                    self.msn.d.next = self.msn.q.val() + 1;
                    self.count.d.next = self.count.q.val() + 1;
                    if self.count.q.val() == self.last_message.val() {
                        self.cfg_held.d.next = false;
                        self.state.d.next = RnrState::Idle;
                    }
                }
            }
            RnrState::Visit => {
                self.state.d.next = RnrState::Settled;
            }
            RnrState::Settled => {
                comment!("section 10: the connection has begun anew or is closed: what was outstanding on it is never retired");
                if !self.retired_busy.q.val() {
                    if self.conns.read_data.val() == self.held_index.q.val() {
                        self.retired_write.next = true;
                        self.retired_at.next = bit_cast::<24, 16>(self.qp.q.val());
                        self.retired_new.next = self.gone_scan.read_data.val().sent;
                    }
                    self.qp.d.next = self.qp.q.val() + 1;
                    self.state.d.next = RnrState::Visit;
                    if self.qp.q.val() == self.last_qp.val() {
                        self.cfg_held.d.next = false;
                        self.state.d.next = RnrState::Idle;
                    }
                }
            }
            RnrState::Sample => {
                self.state.d.next = RnrState::Tell;
            }
            RnrState::Tell => {
                comment!("section 10: nothing of it is in a ring or outstanding");
                self.drained_valid.next =
                    self.quiet.val() & (self.gone_scan.read_data.val().left == self.entered_scan.read_data.val());
                self.state.d.next = RnrState::Idle;
            }
        }
        self.attempt.write_enable.next = self.attempt_write.val();
        self.attempt.write_address.next = self.attempt_at.val();
        self.attempt.write_data.next = self.attempt_new.val();
        self.attempt_tx.write_enable.next = self.attempt_write.val();
        self.attempt_tx.write_address.next = self.attempt_at.val();
        self.attempt_tx.write_data.next = self.attempt_new.val();
        self.aside.write_data.next = self.aside_new.val();
        self.wait.write_enable.next = self.wait_write.val();
        self.wait.write_address.next = self.wait_at.val();
        self.wait.write_data.next = self.wait_new.val();
        self.wait_tx.write_enable.next = self.wait_write.val();
        self.wait_tx.write_address.next = self.wait_at.val();
        self.wait_tx.write_data.next = self.wait_new.val().waiting;
        self.withdrawn.write_enable.next = self.withdrawn_write.val();
        self.withdrawn.write_address.next = self.withdrawn_at.val();
        self.withdrawn.write_data.next = self.withdrawn_new.val();
        self.withdrawn_tx.write_enable.next = self.withdrawn_write.val();
        self.withdrawn_tx.write_address.next = self.withdrawn_at.val();
        self.withdrawn_tx.write_data.next = self.withdrawn_new.val();
        self.gone.write_enable.next = self.gone_write.val();
        self.gone.write_address.next = self.gone_at.val();
        self.gone.write_data.next = self.gone_new.val();
        self.gone_scan.write_enable.next = self.gone_write.val();
        self.gone_scan.write_address.next = self.gone_at.val();
        self.gone_scan.write_data.next = self.gone_new.val();
        self.entered.write_enable.next = self.entered_write.val();
        self.entered.write_address.next = self.entered_at.val();
        self.entered.write_data.next = self.entered_new.val();
        self.entered_scan.write_enable.next = self.entered_write.val();
        self.entered_scan.write_address.next = self.entered_at.val();
        self.entered_scan.write_data.next = self.entered_new.val();
        self.retired.write_enable.next = self.retired_write.val();
        self.retired.write_address.next = self.retired_at.val();
        self.retired.write_data.next = self.retired_new.val();
        self.retired_scan.write_enable.next = self.retired_write.val();
        self.retired_scan.write_address.next = self.retired_at.val();
        self.retired_scan.write_data.next = self.retired_new.val();
        self.left_again.write_enable.next = self.left_again_write.val();
        self.left_again.write_address.next = bit_cast::<24, 16>(self.gone_conn.q.val());
        if self.state.q.val() == RnrState::Clear {
            self.left_again.write_address.next = self.walk.q.val();
        }
        self.left_again.write_data.next = self.left_again_new.val();
        self.left_again_scan.write_enable.next = self.left_again.write_enable.val();
        self.left_again_scan.write_address.next = self.left_again.write_address.val();
        self.left_again_scan.write_data.next = self.left_again_new.val();

        comment!("what the sequencer looks at");
        self.wait_tx.read_address.next = bit_cast::<24, 16>(self.wait_addr.val());
        self.wait_data.next = self.wait_tx.read_data.val() & self.sends.val() & (self.fault.val() != 19);
        self.withdrawn_tx.read_address.next = (bit_cast::<24, 16>(self.withdrawn_qp.val()) << self.message_log2.val())
            | (self.withdrawn_msn.val() & self.message_mask.val());
        self.withdrawn_data.next = self.withdrawn_tx.read_data.val() & self.sends.val();
        self.attempt_tx.read_address.next = self.withdrawn_tx.read_address.val();
        self.attempt_data.next = self.attempt_tx.read_data.val() & self.sends.val();
        self.init_done.next = self.ready.q.val() & self.waiting.init_done.val();
        if self.reset.val() {
            self.gone_busy.d.next = false;
            self.entered_busy.d.next = false;
            self.retired_busy.d.next = false;
            self.cfg_held.d.next = false;
            self.holding.d.next = false;
            self.state.d.next = RnrState::Clear;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
            self.told.d.next = false;
        }
    }
}
