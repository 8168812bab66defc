//! responder: what the peers ask for, from an accepted request to its response (section 11, D3 to D5, D7): request_places, executor and
//! atomic_unit, wired. In: rx_core's look, `take`, `reached` and the answers to its `check` and `finish`, retired packets, flushes,
//! tables. Out: places, checks and passes, 8-byte reads, responses and the rows of their packets.
//! Guarantees: those of its parts; a request that was answered with an error is not executed, and one that is being executed is not
//! answered with an error before its response.
use super::atomic_unit::AtomicUnit;
use super::executor::{Executor, Reached, RequestRow};
use super::request_places::rows::{Executed, ResponseOrder, ResponseRow, RetiredResponse};
use super::request_places::RequestPlaces;
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation; the ports are described at the blocks that have them.
#[derive(LogicBlock)]
pub struct Responder<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    pub cfg_data: Signal<In, Bits<512>>,
    pub cfg_busy: Signal<Out, Bit>,
    pub others_busy: Signal<In, Bit>,
    pub look: Signal<In, Bit>,
    pub look_conn: Signal<In, Bits<16>>,
    pub look_qp: Signal<In, Bits<16>>,
    pub look_msn: Signal<In, Bits<24>>,
    pub step: Signal<In, Bit>,
    pub reached_ok: Signal<Out, Bit>,
    pub early_ok: Signal<Out, Bit>,
    pub none: Signal<Out, Bit>,
    pub failed: Signal<Out, Bit>,
    /// The request that was looked at is accepted.
    pub take: Signal<In, Bit>,
    pub take_row: Signal<In, RequestRow>,
    pub reached_valid: Signal<In, Bit>,
    pub reached_ready: Signal<Out, Bit>,
    pub reached: Signal<In, Reached>,
    pub done_count: Signal<In, Bits<16>>,
    pub check_valid: Signal<Out, Bit>,
    pub check_ready: Signal<In, Bit>,
    pub check_qp: Signal<Out, Bits<16>>,
    pub check_row: Signal<Out, RequestRow>,
    pub check_done: Signal<In, Bit>,
    pub check_code: Signal<In, Bits<3>>,
    pub check_addr: Signal<In, Bits<64>>,
    pub check_failed: Signal<In, Bit>,
    pub finish_valid: Signal<Out, Bit>,
    pub finish_ready: Signal<In, Bit>,
    pub finish_write: Signal<Out, Bit>,
    pub finish_addr: Signal<Out, Bits<64>>,
    pub finish_data: Signal<Out, Bits<64>>,
    pub finish_done: Signal<In, Bit>,
    pub finish_ticket: Signal<In, Bits<16>>,
    /// What `finish` is of.
    pub executed: Signal<Out, Executed>,
    pub ar_desc_valid: Signal<Out, Bit>,
    pub ar_desc_ready: Signal<In, Bit>,
    pub ar_desc_addr: Signal<Out, Bits<64>>,
    pub ar_desc_len: Signal<Out, Bits<16>>,
    pub ar_valid: Signal<In, Bit>,
    pub ar_ready: Signal<Out, Bit>,
    pub ar_data: Signal<In, Bits<W>>,
    pub retired_valid: Signal<In, Bit>,
    pub retired_ready: Signal<Out, Bit>,
    pub retiring: Signal<In, Bit>,
    pub retired: Signal<In, RetiredResponse>,
    pub flush_valid: Signal<In, Bit>,
    pub flush_qp: Signal<In, Bits<16>>,
    pub response_valid: Signal<Out, Bit>,
    pub response_ready: Signal<In, Bit>,
    pub response: Signal<Out, ResponseOrder>,
    pub row_write: Signal<Out, Bit>,
    pub row_addr: Signal<Out, Bits<24>>,
    pub row: Signal<Out, ResponseRow>,
    pub init_done: Signal<Out, Bit>,
    pub commit_answer_valid: Signal<Out, Bit>,
    pub commit_answer_qp: Signal<Out, Bits<16>>,
    places: RequestPlaces,
    executor: Executor,
    atomic: AtomicUnit<W>,
    /// Of the step under way.
    step_qp: DFF<Bits<16>>,
    step_msn: DFF<Bits<24>>,
}

impl<const W: usize> Responder<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        filled!(Responder {
            places: RequestPlaces::new(config),
            executor: Executor::new(config),
            atomic: AtomicUnit::new();
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_data, cfg_busy, others_busy, look, look_conn, look_qp, look_msn, step,
            reached_ok, early_ok, none, failed, take, take_row, reached_valid, reached_ready, reached, done_count, check_valid,
            check_ready, check_qp, check_row, check_done, check_code, check_addr, check_failed, finish_valid, finish_ready,
            finish_write, finish_addr, finish_data, finish_done, finish_ticket, executed, ar_desc_valid, ar_desc_ready, ar_desc_addr, ar_desc_len,
            ar_valid, ar_ready, ar_data, retired_valid, retired_ready, retiring, retired, flush_valid, flush_qp, response_valid,
            response_ready, response, row_write, row_addr, row, init_done, commit_answer_valid, commit_answer_qp, step_qp, step_msn,
        })
    }
}

impl<const W: usize> Logic for Responder<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module responder: requests of the peers and their responses");
        dff_setup!(self, clock, step_qp, step_msn);
        clock!(self, clock, places, executor, atomic);
        self.places.reset.next = self.reset.val();
        self.executor.reset.next = self.reset.val();
        self.atomic.reset.next = self.reset.val();
        self.init_done.next = self.places.init_done.val();

        comment!("steps of rx_core");
        self.places.look.next = self.look.val();
        self.places.look_conn.next = self.look_conn.val();
        self.places.look_qp.next = self.look_qp.val();
        self.places.look_msn.next = self.look_msn.val();
        self.places.step.next = self.step.val();
        self.places.take.next = self.take.val();
        self.reached_ok.next = self.places.reached_ok.val();
        self.early_ok.next = self.places.early_ok.val();
        self.none.next = self.places.none.val();
        self.failed.next = self.places.failed.val();
        if self.look.val() {
            self.step_qp.d.next = self.look_qp.val();
            self.step_msn.d.next = self.look_msn.val();
        }
        self.executor.store.next = self.take.val();
        self.executor.store_qp.next = self.step_qp.q.val();
        self.executor.store_msn.next = self.step_msn.q.val();
        self.executor.store_row.next = self.take_row.val();
        self.executor.reached_valid.next = self.reached_valid.val();
        self.executor.reached.next = self.reached.val();
        self.reached_ready.next = self.executor.reached_ready.val();
        self.executor.done_count.next = self.done_count.val();

        comment!("execution");
        self.check_valid.next = self.executor.check_valid.val();
        self.check_qp.next = self.executor.check_qp.val();
        self.check_row.next = self.executor.check_row.val();
        self.executor.check_ready.next = self.check_ready.val();
        self.executor.check_done.next = self.check_done.val();
        self.executor.check_code.next = self.check_code.val();
        self.executor.check_addr.next = self.check_addr.val();
        self.executor.check_failed.next = self.check_failed.val();
        self.finish_valid.next = self.executor.finish_valid.val();
        self.finish_write.next = self.executor.finish_write.val();
        self.finish_addr.next = self.executor.finish_addr.val();
        self.finish_data.next = self.executor.finish_data.val();
        self.executor.finish_ready.next = self.finish_ready.val();
        self.executor.finish_done.next = self.finish_done.val();
        self.executor.finish_ticket.next = self.finish_ticket.val();
        self.executed.next = self.executor.executed.val();
        self.atomic.op_valid.next = self.executor.op_valid.val();
        self.atomic.op_addr.next = self.executor.op_addr.val();
        self.atomic.op_add.next = self.executor.op_add.val();
        self.atomic.op_operand.next = self.executor.op_operand.val();
        self.atomic.op_compare.next = self.executor.op_compare.val();
        self.executor.op_ready.next = self.atomic.op_ready.val();
        self.executor.result_valid.next = self.atomic.result_valid.val();
        self.executor.result_before.next = self.atomic.result_before.val();
        self.executor.result_after.next = self.atomic.result_after.val();
        self.executor.result_writes.next = self.atomic.result_writes.val();
        self.atomic.result_ready.next = self.executor.result_ready.val();
        self.ar_desc_valid.next = self.atomic.ar_desc_valid.val();
        self.ar_desc_addr.next = self.atomic.ar_desc_addr.val();
        self.ar_desc_len.next = self.atomic.ar_desc_len.val();
        self.atomic.ar_desc_ready.next = self.ar_desc_ready.val();
        self.atomic.ar_valid.next = self.ar_valid.val();
        self.atomic.ar_data.next = self.ar_data.val();
        self.ar_ready.next = self.atomic.ar_ready.val();

        comment!("what the two know of each other");
        self.places.executed_valid.next = self.executor.executed_valid.val();
        self.places.executed.next = self.executor.executed.val();
        self.executor.executed_ready.next = self.places.executed_ready.val();
        self.places.executing.next = self.executor.executing.val();
        self.places.executing_qp.next = self.executor.executing_qp.val();
        self.places.live_qp.next = self.executor.live_qp.val();
        self.places.live_msn.next = self.executor.live_msn.val();
        self.executor.live.next = self.places.live.val();
        self.executor.older_mark.next = self.places.older_mark.val();
        self.places.older_done.next = self.executor.older_done.val();

        comment!("tables, errors, responses");
        self.places.cfg_valid.next = self.cfg_valid.val();
        self.places.cfg_table.next = self.cfg_table.val();
        self.places.cfg_index.next = self.cfg_index.val();
        self.places.cfg_data.next = self.cfg_data.val();
        self.cfg_busy.next = self.places.cfg_busy.val();
        self.places.others_busy.next = self.others_busy.val();
        self.places.flush_valid.next = self.flush_valid.val();
        self.places.flush_qp.next = self.flush_qp.val();
        self.places.retired_valid.next = self.retired_valid.val();
        self.places.retiring.next = self.retiring.val();
        self.places.retired.next = self.retired.val();
        self.retired_ready.next = self.places.retired_ready.val();
        self.response_valid.next = self.places.response_valid.val();
        self.response.next = self.places.response.val();
        self.places.response_ready.next = self.response_ready.val();
        self.row_write.next = self.places.row_write.val();
        self.row_addr.next = self.places.row_addr.val();
        self.row.next = self.places.row.val();
        self.commit_answer_valid.next = self.places.commit_answer_valid.val();
        self.commit_answer_qp.next = self.places.commit_answer_qp.val();
    }
}
