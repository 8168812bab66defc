//! timer_check: what a path's timer has to do now (section 8), and when to look again.
//!
//! In: the path's fields, stable from clock 1 of the step. Out: valid from clock 8 on: the action (0 none, 1 L3 probe, 2 L4 probe, 3 to SUSPECT,
//! 4 to DOWN, 5 L4 while DOWN, 6 connection error, 7 port change, 8 to SUSPECT on the old port, 9 L3 to SUSPECT, 10 L3 while SUSPECT), the back-off after it, and the next deadline.
//! Guarantees: a deadline is never later than the tick at which the timer is due if nothing else happens.
use super::filled::filled;
use super::rows::{ConnAck, ConnCfg, PathAck, PathTx};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct TimerCheck {
    pub clock: Signal<In, Clock>,
    pub now: Signal<In, Bits<32>>,
    pub rto_min: Signal<In, Bits<32>>,
    pub path: Signal<In, PathTx>,
    pub row: Signal<In, PathAck>,
    pub cfg: Signal<In, ConnCfg>,
    pub conn: Signal<In, ConnAck>,
    /// Another path of the connection is UP; from clock 3 on.
    pub other_up: Signal<In, Bit>,
    /// Another path is DOWN with packets outstanding; from clock 3 on.
    pub stranded: Signal<In, Bit>,
    /// D8: the path watches over awaited responses, and the peer's last sign of life; from clock 3 on.
    pub watching: Signal<In, Bit>,
    pub alive: Signal<In, Bits<32>>,
    pub action: Signal<Out, Bits<4>>,
    pub backoff: Signal<Out, Bits<4>>,
    /// L4: the timeout, whatever its action.
    pub timeout: Signal<Out, Bit>,
    /// L4: the timeout cuts the window.
    pub cuts: Signal<Out, Bit>,
    pub active: Signal<Out, Bit>,
    /// When to look again after this step.
    pub deadline: Signal<Out, Bits<32>>,
    idle: DFF<Bits<32>>,
    since_alive: DFF<Bits<32>>,
    calm: DFF<Bits<32>>,
    base: DFF<Bits<32>>,
    tail_reg: DFF<Bits<32>>,
    deviation: DFF<Bits<20>>,
    outstanding: DFF<Bit>,
    wants: DFF<Bit>,
    could: DFF<Bit>,
    suspect: DFF<Bit>,
    patience: DFF<Bits<17>>,
    silent: DFF<Bit>,
    worn: DFF<Bit>,
    longer: DFF<Bits<38>>,
    limit: DFF<Bits<32>>,
    due_rto: DFF<Bit>,
    due_tail: DFF<Bit>,
    active_reg: DFF<Bit>,
    backoff_reg: DFF<Bits<4>>,
    over: DFF<Bit>,
    action_reg: DFF<Bits<4>>,
    timeout_reg: DFF<Bit>,
    since_send: DFF<Bits<16>>,
    since_probe: DFF<Bits<16>>,
    quiet: DFF<Bit>,
    to_rto: DFF<Bits<32>>,
    to_tail: DFF<Bits<32>>,
    to_probe: DFF<Bits<32>>,
    wait_reg: DFF<Bits<32>>,
    deadline_reg: DFF<Bits<32>>,
    pause: Signal<Local, Bits<32>>,
    soon: Signal<Local, Bits<32>>,
    srtt: Signal<Local, Bits<20>>,
    sum: Signal<Local, Bits<20>>,
    healthy: Signal<Local, Bit>,
    fresh: Signal<Local, Bit>,
    strays: Signal<Local, Bit>,
    still: Signal<Local, Bit>,
    steps: Signal<Local, Bits<3>>,
    more: Signal<Local, Bits<4>>,
}

impl TimerCheck {
    pub fn new() -> Self {
        filled!(TimerCheck {
            ;
            clock, now, rto_min, path, row, cfg, conn, other_up, stranded, watching, alive, action, backoff, timeout, cuts, active, deadline, idle, since_alive, calm, base,
            tail_reg, deviation, outstanding, wants, could, suspect, patience, silent, worn, longer, limit, due_rto, due_tail, active_reg, backoff_reg,
            over, action_reg, timeout_reg, since_send, since_probe, quiet, to_rto, to_tail, to_probe, wait_reg, deadline_reg, pause, soon, srtt, sum, healthy, fresh, strays, still, steps, more,
        })
    }
}

impl Default for TimerCheck {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for TimerCheck {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module timer_check: what a path's timer has to do now (L3, L4)");
        dff_setup!(
            self,
            clock,
            idle,
            since_alive,
            calm,
            base,
            tail_reg,
            deviation,
            outstanding,
            wants,
            could,
            suspect,
            patience,
            silent,
            worn,
            longer,
            limit,
            due_rto,
            due_tail,
            active_reg,
            backoff_reg,
            over,
            action_reg,
            timeout_reg,
            since_send,
            since_probe,
            quiet,
            to_rto,
            to_tail,
            to_probe,
            wait_reg,
            deadline_reg
        );
        comment!("clock 1");
        self.idle.d.next = self.now.val() - self.path.val().t_base;
        self.outstanding.d.next = self.path.val().next_ppsn != self.path.val().cum;
        self.srtt.next = bit_cast::<20, 18>(self.path.val().srtt8 >> 3);
        self.sum.next = self.srtt.val() + (self.srtt.val() << 1) + bit_cast::<20, 17>(self.row.val().var4);
        self.deviation.d.next = self.sum.val();
        // tail = max(sRTT + sRTT / 4, 16)
        self.tail_reg.d.next = bit_cast::<32, 20>(self.srtt.val() + (self.srtt.val() >> 2));
        if self.srtt.val() < 13 {
            self.tail_reg.d.next = 16.into();
        }
        self.fresh.next = self.row.val().backoff == 0;
        self.healthy.next = self.fresh.val() & self.path.val().rtt_valid & (self.path.val().state == 1);
        self.since_send.d.next = self.now.val().get_bits::<16>(0) - self.path.val().last_send;
        self.since_probe.d.next = self.now.val().get_bits::<16>(0) - self.row.val().probe_ts;
        self.could.d.next = self.healthy.val();
        self.wants.d.next = self.healthy.val() & self.path.val().pipe.any();
        self.suspect.d.next = self.path.val().rtt_valid & (self.path.val().state == 2);
        // L3: 1.5 of the longest sRTT
        self.patience.d.next =
            bit_cast::<17, 16>(self.conn.val().longest_srtt) + bit_cast::<17, 16>(self.conn.val().longest_srtt >> 1);
        // L4: moved packets that nobody acknowledges: the last try
        self.worn.d.next = (self.path.val().state == 3) & self.path.val().pipe.any() & (self.row.val().tries == 126);
        self.more.next = self.row.val().backoff + 1;
        comment!("clock 2: rto before the back-off");
        self.base.d.next = bit_cast::<32, 20>(self.deviation.q.val());
        if bit_cast::<32, 20>(self.deviation.q.val()) < self.rto_min.val() {
            self.base.d.next = self.rto_min.val();
        }
        // L4: packets that other paths carry are tried again at an even pace
        if (self.row.val().backoff == 15) | ((self.path.val().state == 3) & self.outstanding.q.val()) {
            self.more.next = self.row.val().backoff;
        }
        self.backoff_reg.d.next = self.more.val();
        // where the back-off ends, the retry does too
        self.over.d.next = (self.more.val() > self.cfg.val().retry_cnt) | (self.more.val() == 15);
        comment!("clock 3: rto = base << min(backoff, 6), at most 2^31 - 1");
        self.steps.next = self.row.val().backoff.get_bits::<3>(0);
        if self.row.val().backoff > 6 {
            self.steps.next = 6.into();
        }
        self.longer.d.next = bit_cast::<38, 32>(self.base.q.val()) << self.steps.val();
        self.since_alive.d.next = self.now.val() - self.alive.val();
        comment!("clock 4: a path that watches and has nothing outstanding counts from the last sign of life too (D8)");
        self.calm.d.next = self.idle.q.val();
        if self.watching.val() & !self.outstanding.q.val() & (self.since_alive.q.val() < self.idle.q.val()) {
            self.calm.d.next = self.since_alive.q.val();
        }
        self.active_reg.d.next = self.cfg.val().open
            & !self.conn.val().error
            & (self.path.val().state != 0)
            & (self.outstanding.q.val() | (self.path.val().state != 1) | self.stranded.val() | self.watching.val());
        self.limit.d.next = self.longer.q.val().get_bits::<32>(0);
        if self.longer.q.val().get_bits::<7>(31).any() {
            self.limit.d.next = 0x7FFF_FFFF.into();
        }
        comment!("clock 5: what is due; a base ahead of now is not");
        self.due_rto.d.next = (self.calm.q.val() >= self.limit.q.val()) & !self.calm.q.val().get_bit(31);
        // an unanswered tail probe is repeated after another tail
        self.quiet.d.next =
            self.row.val().probe_pending & (bit_cast::<32, 16>(self.since_probe.q.val()) < self.tail_reg.q.val());
        // while UP also when its last packet was sent so long ago
        self.still.next = self.could.q.val() & (bit_cast::<32, 16>(self.since_send.q.val()) >= self.tail_reg.q.val());
        self.due_tail.d.next =
            ((self.calm.q.val() >= self.tail_reg.q.val()) | self.still.val()) & !self.calm.q.val().get_bit(31);
        self.silent.d.next = self.row.val().probe_pending & (self.calm.q.val() >= bit_cast::<32, 17>(self.patience.q.val()));
        self.to_rto.d.next = self.limit.q.val() - self.calm.q.val();
        self.to_tail.d.next = self.tail_reg.q.val() - self.calm.q.val();
        if self.could.q.val() & self.calm.q.val().get_bit(31) {
            self.to_tail.d.next = !self.calm.q.val() + 1;
        } else if self.could.q.val() & (bit_cast::<32, 16>(self.since_send.q.val()) >= self.calm.q.val()) {
            self.to_tail.d.next = self.tail_reg.q.val() - bit_cast::<32, 16>(self.since_send.q.val());
        }
        self.to_probe.d.next = self.tail_reg.q.val() - bit_cast::<32, 16>(self.since_probe.q.val());
        comment!("clock 6");
        self.action_reg.d.next = 0.into();
        self.timeout_reg.d.next = false;
        // Until the next look: the timeout, or the next tail probe if the path may send one. A resend may put packets in
        // flight at any time without moving t_base, so a path with nothing in flight is looked at again as well.
        self.pause.next = self.to_rto.q.val();
        self.soon.next = self.tail_reg.q.val();
        if !self.due_tail.q.val() {
            self.soon.next = self.to_tail.q.val();
        } else if self.quiet.q.val() {
            self.soon.next = self.to_probe.q.val();
        }
        // L3 of a SUSPECT path
        self.strays.next = self.suspect.q.val() & (self.outstanding.q.val() | self.fresh.val());
        if ((self.could.q.val() & self.outstanding.q.val()) | self.strays.val()) & (self.soon.val() < self.to_rto.q.val()) {
            self.pause.next = self.soon.val();
        }
        self.wait_reg.d.next = self.pause.val();
        if self.active_reg.q.val() {
            if self.due_rto.q.val() {
                // L4
                self.timeout_reg.d.next = true;
                // a path that is SUSPECT then sends tail probes
                self.wait_reg.d.next = self.tail_reg.q.val();
                self.action_reg.d.next = 2.into();
                if (self.over.q.val() & !self.other_up.val()) | self.worn.q.val() {
                    self.action_reg.d.next = 6.into();
                } else if (self.backoff_reg.q.val() >= 2) & (self.path.val().state == 1) {
                    self.action_reg.d.next = 7.into();
                    if self.other_up.val() {
                        self.action_reg.d.next = 3.into();
                    }
                } else if (self.path.val().state == 1) & self.outstanding.q.val() & self.other_up.val() {
                    self.action_reg.d.next = 8.into();
                } else if (self.backoff_reg.q.val() == 2) & (self.path.val().state == 2) {
                    // it is on its old route still
                    self.action_reg.d.next = 7.into();
                } else if (self.backoff_reg.q.val() >= 3) & (self.path.val().state == 2) & self.other_up.val() {
                    self.action_reg.d.next = 4.into();
                } else if self.path.val().state == 3 {
                    self.action_reg.d.next = 5.into();
                }
            } else if (self.wants.q.val() | self.strays.val()) & self.due_tail.q.val() & !self.quiet.q.val() {
                // L3
                self.action_reg.d.next = 1.into();
                if self.strays.val() {
                    self.action_reg.d.next = 10.into();
                } else if self.other_up.val() & self.silent.q.val() {
                    self.action_reg.d.next = 9.into();
                }
            }
        }
        comment!("clock 7");
        self.deadline_reg.d.next = self.now.val() + self.wait_reg.q.val();
        self.action.next = self.action_reg.q.val();
        self.backoff.next = self.backoff_reg.q.val();
        self.timeout.next = self.timeout_reg.q.val();
        // the first timeout of a path that has sent nothing only asks whether it is alive
        self.cuts.next = self.timeout_reg.q.val() & (self.outstanding.q.val() | (self.backoff_reg.q.val() >= 2));
        self.active.next = self.active_reg.q.val();
        self.deadline.next = self.deadline_reg.q.val();
    }
}
