//! commit_records: registers of the commit records of the three kinds of step.
//!
//! In: what a step did, in its last clock (`grant`, `ack` or `timer` says which). Out: the record, for one clock, one clock later.
//! Guarantees nothing to the engine: it is there for simulation and formal only.
use super::filled::filled;
use super::records::{CommitAck, CommitGrant, CommitTimer, Desc, PathAfter};
use super::rows::{PacketEntry, PathAck, PathTx};
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct CommitRecords {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub conn: Signal<In, Bits<16>>,
    pub path_index: Signal<In, Bits<3>>,
    pub now: Signal<In, Bits<32>>,
    /// The path's rows after the step.
    pub path: Signal<In, PathTx>,
    pub row: Signal<In, PathAck>,
    pub grant: Signal<In, Bit>,
    /// 0 new packet, 1 resend, 2 message skipped, 3 set aside
    pub kind: Signal<In, Bits<2>>,
    pub nop: Signal<In, Bit>,
    pub packet: Signal<In, PacketEntry>,
    pub desc: Signal<In, Desc>,
    pub inflight_bytes: Signal<In, Bits<32>>,
    pub more: Signal<In, Bit>,
    pub rr: Signal<In, Bits<3>>,
    pub ack: Signal<In, Bit>,
    pub verdict: Signal<In, Bits<2>>,
    pub acked: Signal<In, Bits<9>>,
    pub lost_l1: Signal<In, Bits<9>>,
    pub lost_l2: Signal<In, Bits<9>>,
    pub hint: Signal<In, Bits<24>>,
    pub timer: Signal<In, Bit>,
    pub action: Signal<In, Bits<4>>,
    pub watched: Signal<In, Bit>,
    pub alive: Signal<In, Bits<32>>,
    pub commit_grant_valid: Signal<Out, Bit>,
    pub commit_grant: Signal<Out, CommitGrant>,
    pub commit_ack_valid: Signal<Out, Bit>,
    pub commit_ack: Signal<Out, CommitAck>,
    pub commit_timer_valid: Signal<Out, Bit>,
    pub commit_timer: Signal<Out, CommitTimer>,
    grant_held: DFF<Bit>,
    grant_reg: DFF<CommitGrant>,
    ack_held: DFF<Bit>,
    ack_reg: DFF<CommitAck>,
    timer_held: DFF<Bit>,
    timer_reg: DFF<CommitTimer>,
    after: Signal<Local, PathAfter>,
    slot: Signal<Local, CommitGrant>,
    no_after: Constant<PathAfter>,
    no_slot: Constant<CommitGrant>,
}

impl CommitRecords {
    pub fn new() -> Self {
        filled!(CommitRecords {
            no_after: Constant::new(PathAfter::default()),
            no_slot: Constant::new(CommitGrant::default());
            clock, reset, conn, path_index, now, path, row, grant, kind, nop, packet, desc, inflight_bytes, more, rr, ack,
            verdict, acked, lost_l1, lost_l2, hint, timer, action, watched, alive, commit_grant_valid, commit_grant, commit_ack_valid,
            commit_ack, commit_timer_valid, commit_timer, grant_held, grant_reg, ack_held, ack_reg, timer_held, timer_reg,
            after, slot,
        })
    }
}

impl Default for CommitRecords {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for CommitRecords {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module commit_records: what the last step did, for comparison with the model");
        dff_setup!(self, clock, grant_held, grant_reg, ack_held, ack_reg, timer_held, timer_reg);
        self.after.next = self.no_after.val();
        self.after.next.state = self.path.val().state;
        self.after.next.next_ppsn = self.path.val().next_ppsn;
        self.after.next.cum = self.path.val().cum;
        self.after.next.pipe = self.path.val().pipe;
        self.after.next.window = self.path.val().window;
        self.after.next.srtt8 = self.path.val().srtt8;
        self.after.next.credit = self.row.val().credit;
        self.after.next.var4 = self.row.val().var4;
        self.after.next.backoff = self.row.val().backoff;
        self.after.next.reo_tol = self.row.val().reo_tol;
        self.after.next.mark = self.row.val().mark;
        self.after.next.gen_open = self.row.val().gen_open;
        self.after.next.probe_pending = self.row.val().probe_pending;
        self.ack_held.d.next = self.ack.val();
        self.ack_reg.d.next.conn = self.conn.val();
        self.ack_reg.d.next.home = self.path_index.val();
        self.ack_reg.d.next.verdict = self.verdict.val();
        self.ack_reg.d.next.now = self.now.val();
        self.ack_reg.d.next.hint = self.hint.val();
        self.ack_reg.d.next.path = self.after.val();
        self.ack_reg.d.next.acked = 0.into();
        self.ack_reg.d.next.lost_l1 = 0.into();
        self.ack_reg.d.next.lost_l2 = 0.into();
        if !self.verdict.val().any() {
            self.ack_reg.d.next.acked = self.acked.val();
            self.ack_reg.d.next.lost_l1 = self.lost_l1.val();
            self.ack_reg.d.next.lost_l2 = self.lost_l2.val();
        }
        self.timer_held.d.next = self.timer.val();
        self.timer_reg.d.next.conn = self.conn.val();
        self.timer_reg.d.next.path_index = self.path_index.val();
        self.timer_reg.d.next.action = self.action.val();
        self.timer_reg.d.next.now = self.now.val();
        self.timer_reg.d.next.port = self.path.val().port;
        self.timer_reg.d.next.probe_ppsn = self.row.val().probe_ppsn;
        self.timer_reg.d.next.watched = self.watched.val();
        self.timer_reg.d.next.alive = self.alive.val();
        self.timer_reg.d.next.path = self.after.val();
        self.grant_held.d.next = self.grant.val();
        self.slot.next = self.no_slot.val();
        self.slot.next.conn = self.conn.val();
        self.slot.next.kind = self.kind.val();
        self.slot.next.nop = self.nop.val();
        self.slot.next.qp = self.packet.val().qp;
        self.slot.next.msn = self.packet.val().msn;
        self.slot.next.index = self.packet.val().index;
        self.slot.next.source = self.packet.val().kind;
        self.slot.next.now = self.now.val();
        self.slot.next.inflight_bytes = self.inflight_bytes.val();
        self.slot.next.more = self.more.val();
        self.slot.next.rr = self.rr.val();
        if !self.kind.val().get_bit(1) {
            self.slot.next.home = self.desc.val().home;
            self.slot.next.via = self.desc.val().via;
            self.slot.next.ppsn = self.desc.val().ppsn;
            self.slot.next.rtx = self.desc.val().rtx;
            self.slot.next.moved = self.desc.val().moved;
            self.slot.next.ack_req = self.desc.val().ack_req;
            self.slot.next.bytes = self.desc.val().bytes;
            self.slot.next.port = self.desc.val().port;
            self.slot.next.next_ppsn = self.path.val().next_ppsn;
            self.slot.next.pipe = self.path.val().pipe;
            self.slot.next.window = self.path.val().window;
        }
        self.grant_reg.d.next = self.slot.val();
        self.commit_grant_valid.next = self.grant_held.q.val();
        self.commit_grant.next = self.grant_reg.q.val();
        self.commit_ack_valid.next = self.ack_held.q.val();
        self.commit_ack.next = self.ack_reg.q.val();
        self.commit_timer_valid.next = self.timer_held.q.val();
        self.commit_timer.next = self.timer_reg.q.val();
        if self.reset.val() {
            self.grant_held.d.next = false;
            self.ack_held.d.next = false;
            self.timer_held.d.next = false;
        }
    }
}
