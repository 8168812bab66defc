//! executor: READs and atomics of the peers are executed, each when its stream has reached it (section 11, D3).
//! In: accepted requests (`store`), `reached` of message_tracker with the payload writes to wait for. Out: key checks and passes for
//! rx_core's steps, operations for atomic_unit, what became of a request (`executed`). Guarantees: a request is executed once, after
//! every byte of the messages before it is visible; an atomic reads after the one before it is visible, whatever their queue pairs.
use super::request_places::rows::Executed;
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A request of a peer, at qp * M + msn mod M.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RequestRow {
    pub atomic: Bit,
    /// Fetch-and-add, else compare-and-swap.
    pub add: Bit,
    pub va: Bits<64>,
    pub rkey: Bits<32>,
    /// 8 of an atomic.
    pub length: Bits<32>,
    /// Of an atomic; of a READ the tag.
    pub operand: Bits<64>,
    pub compare: Bits<64>,
}

/// `exp` has come to a request.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Reached {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    /// Payload writes ordered until then, modulo 2^16.
    pub ticket: Bits<16>,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum ExecuteStep {
    Idle,
    Read,
    Row,
    Check,
    Checking,
    Operate,
    Operating,
    Finish,
    Finishing,
    Tell,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Executor {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One clock: a request was accepted.
    pub store: Signal<In, Bit>,
    pub store_qp: Signal<In, Bits<16>>,
    pub store_msn: Signal<In, Bits<24>>,
    pub store_row: Signal<In, RequestRow>,
    pub reached_valid: Signal<In, Bit>,
    /// Always, as a queue pair is at one request at a time.
    pub reached_ready: Signal<Out, Bit>,
    pub reached: Signal<In, Reached>,
    /// Payload writes done, modulo 2^16.
    pub done_count: Signal<In, Bits<16>>,
    /// request_places: whether the request is still to be answered, one clock after its number is given.
    pub live_qp: Signal<Out, Bits<16>>,
    pub live_msn: Signal<Out, Bits<24>>,
    pub live: Signal<In, Bit>,
    /// rx_core checks the key again; between `check_done` and `finish_done` it applies no table write.
    pub check_valid: Signal<Out, Bit>,
    pub check_ready: Signal<In, Bit>,
    pub check_qp: Signal<Out, Bits<16>>,
    pub check_row: Signal<Out, RequestRow>,
    pub check_done: Signal<In, Bit>,
    /// 0, or why not.
    pub check_code: Signal<In, Bits<3>>,
    pub check_addr: Signal<In, Bits<64>>,
    /// The queue pair is in Error, or closed.
    pub check_failed: Signal<In, Bit>,
    pub op_valid: Signal<Out, Bit>,
    pub op_ready: Signal<In, Bit>,
    pub op_addr: Signal<Out, Bits<64>>,
    pub op_add: Signal<Out, Bit>,
    pub op_operand: Signal<Out, Bits<64>>,
    pub op_compare: Signal<Out, Bits<64>>,
    pub result_valid: Signal<In, Bit>,
    pub result_ready: Signal<Out, Bit>,
    pub result_before: Signal<In, Bits<64>>,
    pub result_after: Signal<In, Bits<64>>,
    pub result_writes: Signal<In, Bit>,
    /// rx_core lets `exp` pass the request, and orders the write of the new value.
    pub finish_valid: Signal<Out, Bit>,
    pub finish_ready: Signal<In, Bit>,
    pub finish_write: Signal<Out, Bit>,
    /// Bus address of the operand.
    pub finish_addr: Signal<Out, Bits<64>>,
    pub finish_data: Signal<Out, Bits<64>>,
    pub finish_done: Signal<In, Bit>,
    /// With `finish_done`: payload writes ordered up to and with it.
    pub finish_ticket: Signal<In, Bits<16>>,
    /// Stable from `finish_valid` on, until it is taken.
    pub executed: Signal<Out, Executed>,
    pub executed_valid: Signal<Out, Bit>,
    pub executed_ready: Signal<In, Bit>,
    pub executing: Signal<Out, Bit>,
    pub executing_qp: Signal<Out, Bits<16>>,
    /// One clock: a queue pair closes. `older_done`: none is left of the requests that were reached before.
    pub older_mark: Signal<In, Bit>,
    pub older_done: Signal<Out, Bit>,
    requests: Ram<RequestRow>,
    reaches: Fifo<Reached>,
    state: DFF<ExecuteStep>,
    qp: DFF<Bits<16>>,
    msn: DFF<Bits<24>>,
    row: DFF<RequestRow>,
    code: DFF<Bits<3>>,
    addr: DFF<Bits<64>>,
    before: DFF<Bits<64>>,
    after: DFF<Bits<64>>,
    writes: DFF<Bit>,
    /// The writes that the oldest reached request waits for are visible.
    visible: DFF<Bit>,
    /// The value of the last atomic is not yet visible.
    pending: DFF<Bit>,
    last_ticket: DFF<Bits<16>>,
    behind: DFF<Bits<16>>,
    pops: Signal<Local, Bit>,
    waited: Signal<Local, Bits<16>>,
    waited_last: Signal<Local, Bits<16>>,
    result: Signal<Local, Executed>,
    store_at: Signal<Local, Bits<24>>,
    own_at: Signal<Local, Bits<24>>,
    messages_log2: Constant<Bits<4>>,
    slot_mask: Constant<Bits<24>>,
}

impl Executor {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Executor {
            requests: Ram::new(config.message_rows()),
            reaches: Fifo::new(config.qps),
            messages_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            slot_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits());
            clock, reset, store, store_qp, store_msn, store_row, reached_valid, reached_ready, reached, done_count, live_qp, live_msn,
            live, check_valid, check_ready, check_qp, check_row, check_done, check_code, check_addr, check_failed, op_valid, op_ready,
            finish_addr, op_addr, op_add, op_operand, op_compare, result_valid, result_ready, result_before, result_after, result_writes,
            finish_valid, finish_ready, finish_write, finish_data, finish_done, finish_ticket, executed, executed_valid,
            executed_ready, executing, executing_qp, older_mark, older_done, state, qp, msn, row, code, addr, before, after, writes,
            visible, pending, last_ticket, behind, pops, waited, waited_last, result, store_at, own_at,
        })
    }
}

impl Logic for Executor {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module executor: requests of the peers, one at a time");
        dff_setup!(self, clock, state, qp, msn, row, code, addr, before, after, writes, visible, pending, last_ticket, behind);
        clock!(self, clock, requests, reaches);
        self.reaches.reset.next = self.reset.val();
        self.store_at.next = (bit_cast::<24, 16>(self.store_qp.val()) << self.messages_log2.val())
            | (self.store_msn.val() & self.slot_mask.val());
        self.own_at.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.messages_log2.val()) | (self.msn.q.val() & self.slot_mask.val());
        self.requests.write_enable.next = self.store.val();
        self.requests.write_address.next = self.store_at.val();
        self.requests.write_data.next = self.store_row.val();
        self.requests.read_address.next = self.own_at.val();
        self.live_qp.next = self.qp.q.val();
        self.live_msn.next = self.msn.q.val();

        comment!("requests that streams have reached, in order; what is visible stays so, however long the request waits");
        self.reached_ready.next = !self.reaches.full.val();
        self.reaches.data_in.next = self.reached.val();
        self.reaches.write.next = self.reached_valid.val();
        self.waited.next = self.done_count.val() - self.reaches.data_out.val().ticket;
        if !self.reaches.empty.val() & !self.waited.val().get_bit(15) {
            self.visible.d.next = true;
        }
        self.waited_last.next = self.done_count.val() - self.last_ticket.q.val();
        if !self.waited_last.val().get_bit(15) {
            self.pending.d.next = false;
        }
        self.pops.next = (self.state.q.val() == ExecuteStep::Idle) & !self.reaches.empty.val() & self.visible.q.val();
        self.reaches.read.next = self.pops.val();
        if self.pops.val() {
            self.visible.d.next = false;
            if self.behind.q.val().any() {
                self.behind.d.next = self.behind.q.val() - 1;
            }
        }
        if self.older_mark.val() {
            self.behind.d.next = self.reaches.count.val();
            if self.pops.val() {
                self.behind.d.next = self.reaches.count.val() - 1;
            }
        }
        self.older_done.next = !self.behind.q.val().any() & !self.older_mark.val();
        self.executing.next = self.state.q.val() != ExecuteStep::Idle;
        self.executing_qp.next = self.qp.q.val();

        self.check_valid.next = self.state.q.val() == ExecuteStep::Check;
        self.check_qp.next = self.qp.q.val();
        self.check_row.next = self.row.q.val();
        self.op_valid.next = (self.state.q.val() == ExecuteStep::Operate) & !self.pending.q.val();
        self.op_addr.next = self.addr.q.val();
        self.finish_addr.next = self.addr.q.val();
        self.op_add.next = self.row.q.val().add;
        self.op_operand.next = self.row.q.val().operand;
        self.op_compare.next = self.row.q.val().compare;
        self.result_ready.next = self.state.q.val() == ExecuteStep::Operating;
        self.finish_valid.next = self.state.q.val() == ExecuteStep::Finish;
        self.finish_write.next = self.writes.q.val();
        self.finish_data.next = self.after.q.val();
        self.executed_valid.next = self.state.q.val() == ExecuteStep::Tell;
        self.result.next.qp = self.qp.q.val();
        self.result.next.msn = self.msn.q.val();
        self.result.next.code = self.code.q.val();
        self.result.next.atomic = self.row.q.val().atomic;
        self.result.next.base = self.addr.q.val();
        if self.row.q.val().atomic {
            self.result.next.base = self.before.q.val();
        }
        self.result.next.length = self.row.q.val().length;
        self.result.next.tag = self.row.q.val().operand.get_bits::<32>(0);
        self.executed.next = self.result.val();
        match self.state.q.val() {
            ExecuteStep::Idle => {
                self.qp.d.next = self.reaches.data_out.val().qp;
                self.msn.d.next = self.reaches.data_out.val().msn;
                if self.pops.val() {
                    self.state.d.next = ExecuteStep::Read;
                }
            }
            ExecuteStep::Read => {
                self.state.d.next = ExecuteStep::Row;
            }
            ExecuteStep::Row => {
                comment!("one that was answered with an error is not executed");
                self.row.d.next = self.requests.read_data.val();
                self.writes.d.next = false;
                self.state.d.next = ExecuteStep::Idle;
                if self.live.val() {
                    self.state.d.next = ExecuteStep::Check;
                }
            }
            ExecuteStep::Check => {
                if self.check_ready.val() {
                    self.state.d.next = ExecuteStep::Checking;
                }
            }
            ExecuteStep::Checking => {
                self.code.d.next = self.check_code.val();
                self.addr.d.next = self.check_addr.val();
                if self.check_done.val() {
                    self.state.d.next = ExecuteStep::Finish;
                    if self.check_failed.val() {
                        self.state.d.next = ExecuteStep::Idle;
                    } else if self.row.q.val().atomic & !self.check_code.val().any() {
                        self.state.d.next = ExecuteStep::Operate;
                    }
                }
            }
            ExecuteStep::Operate => {
                comment!("the atomic before it is visible first");
                if self.op_valid.val() & self.op_ready.val() {
                    self.state.d.next = ExecuteStep::Operating;
                }
            }
            ExecuteStep::Operating => {
                self.before.d.next = self.result_before.val();
                self.after.d.next = self.result_after.val();
                self.writes.d.next = self.result_writes.val();
                if self.result_valid.val() {
                    self.state.d.next = ExecuteStep::Finish;
                }
            }
            ExecuteStep::Finish => {
                if self.finish_ready.val() {
                    self.state.d.next = ExecuteStep::Finishing;
                }
            }
            ExecuteStep::Finishing => {
                if self.finish_done.val() {
                    if self.writes.q.val() {
                        self.pending.d.next = true;
                        self.last_ticket.d.next = self.finish_ticket.val();
                    }
                    self.state.d.next = ExecuteStep::Tell;
                }
            }
            ExecuteStep::Tell => {
                if self.executed_ready.val() {
                    self.state.d.next = ExecuteStep::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = ExecuteStep::Idle;
            self.visible.d.next = false;
            self.pending.d.next = false;
            self.behind.d.next = 0.into();
        }
    }
}
