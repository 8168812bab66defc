//! rx_commit: register of the receiver's commit record.
//! In: what a step did, in its last clock (`step`: of a packet or the timer; `swap`, `publish`: of an epoch). Out: the record, one clock later.
//! Guarantees nothing to the engine: it is there for simulation and formal only.
use super::rx_rows::{kind, RxCommitRow, RxHeader, RxPathRow};
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxCommit {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub swap: Signal<In, Bit>,
    pub publish: Signal<In, Bit>,
    pub step: Signal<In, Bit>,
    pub header: Signal<In, RxHeader>,
    pub timer: Signal<In, Bit>,
    pub allowed: Signal<In, Bit>,
    pub ack: Signal<In, Bit>,
    pub probe: Signal<In, Bit>,
    pub duplicate: Signal<In, Bit>,
    pub outside: Signal<In, Bit>,
    pub refused: Signal<In, Bit>,
    pub code: Signal<In, Bits<3>>,
    /// Q2: `refused` only for now.
    pub rnr: Signal<In, Bit>,
    /// R3 saw the QP in Error.
    pub qp_failed: Signal<In, Bit>,
    /// A response of use.
    pub used: Signal<In, Bit>,
    /// D3: the step executed a request (`header` has its QP and number): why not, and the value before an atomic.
    pub run: Signal<In, Bit>,
    pub run_code: Signal<In, Bits<3>>,
    pub run_value: Signal<In, Bits<64>>,
    pub placed: Signal<In, Bit>,
    pub addr: Signal<In, Bits<64>>,
    pub acked: Signal<In, Bit>,
    /// Of a step of the timer or a packet: when it began; of an epoch: now.
    pub now: Signal<In, Bits<32>>,
    pub share: Signal<In, Bits<24>>,
    /// The path after the step.
    pub path: Signal<In, RxPathRow>,
    pub cum: Signal<In, Bits<24>>,
    pub high: Signal<In, Bits<24>>,
    /// The packet is a WRITE or SEND of an open QP, and its oldest incomplete message.
    pub exp_valid: Signal<In, Bit>,
    pub exp: Signal<In, Bits<24>>,
    pub valid: Signal<Out, Bit>,
    pub record: Signal<Out, RxCommitRow>,
    valid_r: DFF<Bit>,
    row: DFF<RxCommitRow>,
    kind_data: Constant<Bits<3>>,
    kind_probe: Constant<Bits<3>>,
    kind_ack: Constant<Bits<3>>,
    kind_dropped: Constant<Bits<3>>,
    kind_timer: Constant<Bits<3>>,
    kind_swap: Constant<Bits<3>>,
    kind_publish: Constant<Bits<3>>,
    kind_executed: Constant<Bits<3>>,
}

impl RxCommit {
    pub fn new() -> Self {
        filled!(RxCommit {
            kind_data: Constant::new(kind::DATA.to_bits()),
            kind_probe: Constant::new(kind::PROBE.to_bits()),
            kind_ack: Constant::new(kind::ACK.to_bits()),
            kind_dropped: Constant::new(kind::DROPPED.to_bits()),
            kind_timer: Constant::new(kind::TIMER.to_bits()),
            kind_swap: Constant::new(kind::EPOCH_SWAP.to_bits()),
            kind_publish: Constant::new(kind::EPOCH_PUBLISH.to_bits()),
            kind_executed: Constant::new(kind::EXECUTED.to_bits());
            clock, reset, swap, publish, step, header, timer, allowed, ack, probe, duplicate, outside, refused, code, rnr, qp_failed, used,
            run, run_code, run_value, placed, addr, acked, now, share, path, cum, high, exp_valid, exp, valid, record, valid_r, row,
        })
    }
}

impl Default for RxCommit {
    fn default() -> Self {
        Self::new()
    }
}

impl Logic for RxCommit {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_commit: what the last step of the receiver did, for comparison with the model");
        dff_setup!(self, clock, valid_r, row);
        self.valid.next = self.valid_r.q.val();
        self.record.next = self.row.q.val();
        self.valid_r.d.next = self.step.val() | self.swap.val() | self.publish.val();
        self.row.d.next.now = self.now.val();
        self.row.d.next.share = self.share.val();
        if self.swap.val() {
            self.row.d.next.kind = self.kind_swap.val();
        }
        if self.publish.val() {
            self.row.d.next.kind = self.kind_publish.val();
        }
        if self.step.val() {
            self.row.d.next.kind = self.kind_data.val();
            if self.timer.val() {
                self.row.d.next.kind = self.kind_timer.val();
            } else if !self.allowed.val() {
                self.row.d.next.kind = self.kind_dropped.val();
            } else if self.ack.val() {
                self.row.d.next.kind = self.kind_ack.val();
            } else if self.probe.val() {
                self.row.d.next.kind = self.kind_probe.val();
            }
            self.row.d.next.class = 0.into();
            if self.duplicate.val() {
                self.row.d.next.class = 1.into();
            }
            if self.outside.val() {
                self.row.d.next.class = 2.into();
            }
            self.row.d.next.conn = self.header.val().conn;
            self.row.d.next.home = self.header.val().home;
            self.row.d.next.via = self.header.val().via;
            self.row.d.next.opcode = self.header.val().opcode;
            self.row.d.next.ppsn = self.header.val().ppsn;
            self.row.d.next.bytes = self.header.val().payload_bytes;
            self.row.d.next.code = 0.into();
            if self.refused.val() {
                self.row.d.next.code = bit_cast::<8, 3>(self.code.val());
            }
            self.row.d.next.rnr = self.refused.val() & self.rnr.val();
            self.row.d.next.qp_failed = self.qp_failed.val();
            self.row.d.next.placed = self.placed.val();
            self.row.d.next.addr = 0.into();
            if self.placed.val() {
                self.row.d.next.addr = self.addr.val();
            }
            self.row.d.next.used = self.used.val();
            self.row.d.next.acked = self.acked.val();
            self.row.d.next.cum = self.cum.val();
            self.row.d.next.high = self.high.val();
            self.row.d.next.ce = self.path.val().ce;
            self.row.d.next.dup = self.path.val().dup;
            self.row.d.next.rx = self.path.val().rx;
            self.row.d.next.unacked = self.path.val().unacked;
            self.row.d.next.exp = 0.into();
            if self.exp_valid.val() {
                self.row.d.next.exp = self.exp.val();
            }
            if self.run.val() {
                self.row.d.next.kind = self.kind_executed.val();
                self.row.d.next.conn = self.header.val().dest_qp.get_bits::<16>(0);
                self.row.d.next.ppsn = self.header.val().msn;
                self.row.d.next.code = bit_cast::<8, 3>(self.run_code.val());
                self.row.d.next.addr = self.run_value.val();
                self.row.d.next.exp = self.exp.val();
            }
        }
        if self.reset.val() {
            self.valid_r.d.next = false;
        }
    }
}
