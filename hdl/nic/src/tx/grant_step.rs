//! grant_step: what a transmit slot may send and what that costs (section 7): candidates, path choice, window and pacer of the connection.
//!
//! In: the rows of the connection from clock 1 on (`load`), the head message; `start` in clock 2 (and again, for the pacer, once a resend's bytes are
//! known). Out: candidates in clock 2, path and verdicts three clocks after `start`. Guarantees: S1, S3, C3, C4; nothing is decided here.
use super::filled::filled;
use super::grant_pick::GrantPick;
use super::path_scheduler::PathScheduler;
use super::rate_limiter::RateLimiter;
use super::rows::{ConnAck, ConnCfg, ConnTx, PathTx};
use crate::config::BuildConfig;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct GrantStep {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub fault: Signal<In, Bits<5>>,
    pub now: Signal<In, Bits<32>>,
    pub load: Signal<In, Bit>,
    pub start: Signal<In, Bit>,
    pub path_tx: [Signal<In, PathTx>; 8],
    pub cfg: Signal<In, ConnCfg>,
    pub conn_tx: Signal<In, ConnTx>,
    pub conn_ack: Signal<In, ConnAck>,
    pub npkts: Signal<In, Bits<24>>,
    pub index: Signal<In, Bits<24>>,
    /// Length of the message, low bits.
    pub length: Signal<In, Bits<13>>,
    pub inflight: Signal<In, Bits<32>>,
    /// Payload of the packet that is paced.
    pub bytes: Signal<In, Bits<13>>,
    /// The path that a resend takes.
    pub via: Signal<In, Bits<3>>,
    pub is_last: Signal<Out, Bit>,
    /// S4: one of the last packets of the message, which go one by each path; from clock 2 on.
    pub is_late: Signal<Out, Bit>,
    /// Payload of packet `index` of the message.
    pub new_bytes: Signal<Out, Bits<13>>,
    pub resend: Signal<Out, Bit>,
    pub home: Signal<Out, Bits<3>>,
    pub moves: Signal<Out, Bit>,
    pub path_mask: Signal<Out, Bits<3>>,
    pub found: Signal<Out, Bit>,
    pub path: Signal<Out, Bits<3>>,
    /// The new packet fills the window of its path, or is the last of W that may be outstanding there.
    pub brim: Signal<Out, Bit>,
    pub cap_ok: Signal<Out, Bit>,
    pub cap_reached_after: Signal<Out, Bit>,
    pub pace_ok: Signal<Out, Bit>,
    /// The connection's row after a resend, and after the new packet.
    pub after_resend: Signal<Out, ConnTx>,
    pub after_new: Signal<Out, ConnTx>,
    pick: GrantPick,
    scheduler: PathScheduler,
    rate: RateLimiter,
    mtu: Signal<Local, Bits<13>>,
    offset: Signal<Local, Bits<13>>,
    last: Signal<Local, Bit>,
    paid: Signal<Local, ConnTx>,
    rr_after: Signal<Local, Bits<3>>,
    turned: Signal<Local, ConnTx>,
    moved_on: Signal<Local, ConnTx>,
    unlimited: Constant<Bits<24>>,
}

impl GrantStep {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(GrantStep {
            path_tx: array_init::array_init(|_| Default::default()),
            pick: GrantPick::new(config),
            unlimited: Constant::new(0xFF_FFFFu64.to_bits());
            clock, reset, fault, now, load, start, cfg, conn_tx, conn_ack, npkts, index, length, inflight, bytes, via, is_last, is_late,
            new_bytes, resend, home, moves, path_mask, found, path, brim, cap_ok, cap_reached_after, pace_ok, after_resend,
            after_new, scheduler, rate, mtu, offset, last, paid, rr_after, turned, moved_on,
        })
    }
}

impl Logic for GrantStep {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module grant_step: what a transmit slot may send and what it costs");
        clock!(self, clock, pick, scheduler, rate);
        self.pick.fault.next = self.fault.val();
        self.pick.load.next = self.load.val();
        self.pick.cfg.next = self.cfg.val();
        self.pick.rr.next = self.conn_tx.val().rr;
        for p in 0..8 {
            self.pick.path_tx[p].next = self.path_tx[p].val();
        }
        self.resend.next = self.pick.resend.val();
        self.home.next = self.pick.home.val();
        self.moves.next = self.pick.moves.val();
        self.path_mask.next = self.pick.path_mask.val();
        self.scheduler.reset.next = self.reset.val();
        self.scheduler.start.next = self.start.val();
        self.scheduler.ok.next = self.pick.ok.val();
        self.scheduler.pipe.next = self.pick.pipe.val();
        self.scheduler.window.next = self.pick.window.val();
        self.scheduler.rr.next = self.conn_tx.val().rr;
        self.scheduler.paths_log2.next = self.cfg.val().paths_log2;
        self.found.next = self.scheduler.found.val();
        self.path.next = self.scheduler.path.val();
        self.brim.next = self.pick.brim.val().get_bit(self.scheduler.path.val().index());
        self.rate.reset.next = self.reset.val();
        self.rate.fault.next = self.fault.val();
        self.rate.start.next = self.start.val();
        self.rate.hint.next = self.conn_ack.val().hint;
        self.rate.s.next = self.conn_ack.val().longest_srtt;
        self.rate.any_rtt.next = self.conn_ack.val().any_rtt;
        self.rate.mtu_log2.next = self.cfg.val().mtu_log2;
        self.rate.tokens.next = self.conn_tx.val().tokens;
        self.rate.token_time.next = self.conn_tx.val().token_time;
        self.rate.now.next = self.now.val();
        self.rate.inflight.next = self.inflight.val();
        self.rate.bytes.next = self.bytes.val();
        self.cap_ok.next = self.rate.cap_ok.val();
        self.cap_reached_after.next = self.rate.cap_reached_after.val();
        self.pace_ok.next = self.rate.pace_ok.val();

        comment!("payload of the next packet of the head message: MTU, or what is left");
        self.mtu.next = 256.into();
        self.offset.next = self.index.val().get_bits::<13>(0) << 8;
        if self.cfg.val().mtu_log2 == 9 {
            self.mtu.next = 512.into();
            self.offset.next = self.index.val().get_bits::<13>(0) << 9;
        }
        if self.cfg.val().mtu_log2 == 10 {
            self.mtu.next = 1024.into();
            self.offset.next = self.index.val().get_bits::<13>(0) << 10;
        }
        if self.cfg.val().mtu_log2 == 11 {
            self.mtu.next = 2048.into();
            self.offset.next = self.index.val().get_bits::<13>(0) << 11;
        }
        if self.cfg.val().mtu_log2 == 12 {
            self.mtu.next = 4096.into();
            self.offset.next = self.index.val().get_bits::<13>(0) << 12;
        }
        self.last.next = self.index.val() + 1 == self.npkts.val();
        self.is_last.next = self.last.val();
        self.is_late.next = self.index.val() + bit_cast::<24, 4>(self.pick.paths.val()) >= self.npkts.val();
        self.new_bytes.next = self.mtu.val();
        if self.last.val() {
            self.new_bytes.next = self.length.val() - self.offset.val();
        }

        comment!("the connection afterwards");
        self.rr_after.next = (self.conn_tx.val().rr + 1) & self.pick.path_mask.val();
        self.paid.next = self.conn_tx.val();
        // C4
        if (self.conn_ack.val().hint != self.unlimited.val()) & (self.fault.val() != 7) {
            self.paid.next.tokens = self.rate.new_tokens.val();
            self.paid.next.token_time = self.now.val();
        }
        // S3: the path that a moved resend takes may be dead and idle, so it comes last for the next
        self.turned.next = self.paid.val();
        if self.pick.resend.val() & self.pick.moves.val() {
            self.turned.next.rr = (self.via.val() + 1) & self.pick.path_mask.val();
        }
        self.after_resend.next = self.turned.val();
        self.moved_on.next = self.paid.val();
        self.moved_on.next.sent_bytes = self.conn_tx.val().sent_bytes + bit_cast::<32, 13>(self.bytes.val());
        // S3
        self.moved_on.next.rr = self.rr_after.val();
        self.after_new.next = self.moved_on.val();
    }
}
