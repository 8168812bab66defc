//! atomic_unit: compare-and-swap and fetch-and-add on 8 bytes of host memory (section 11, D3).
//! In: `op` with the bus address and the operands, the data of the read port `ar`. Out: the read, then `result`: the value before, the
//! value after, and whether memory is to change. Guarantees: one operation at a time, so none reads before the one before it has given
//! its result; the caller writes the new value and lets the next one in when that is visible.
use crate::filled::filled;
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum AtomicState {
    Idle,
    Ask,
    Data,
    Work,
    Give,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct AtomicUnit<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub op_valid: Signal<In, Bit>,
    pub op_ready: Signal<Out, Bit>,
    /// Bus address, a multiple of 8 as the requester sees it.
    pub op_addr: Signal<In, Bits<64>>,
    /// Fetch-and-add, else compare-and-swap.
    pub op_add: Signal<In, Bit>,
    /// What is added, or the new value.
    pub op_operand: Signal<In, Bits<64>>,
    pub op_compare: Signal<In, Bits<64>>,
    pub ar_desc_valid: Signal<Out, Bit>,
    pub ar_desc_ready: Signal<In, Bit>,
    pub ar_desc_addr: Signal<Out, Bits<64>>,
    pub ar_desc_len: Signal<Out, Bits<16>>,
    pub ar_valid: Signal<In, Bit>,
    pub ar_ready: Signal<Out, Bit>,
    pub ar_data: Signal<In, Bits<W>>,
    pub result_valid: Signal<Out, Bit>,
    pub result_ready: Signal<In, Bit>,
    /// The value before, in host order.
    pub result_before: Signal<Out, Bits<64>>,
    pub result_after: Signal<Out, Bits<64>>,
    /// Memory is to be written: always, but for a compare-and-swap that found another value.
    pub result_writes: Signal<Out, Bit>,
    state: DFF<AtomicState>,
    addr: DFF<Bits<64>>,
    add: DFF<Bit>,
    operand: DFF<Bits<64>>,
    compare: DFF<Bits<64>>,
    before: DFF<Bits<64>>,
    after: DFF<Bits<64>>,
    writes: DFF<Bit>,
}

impl<const W: usize> AtomicUnit<W> {
    /// W is the build's data width, at least the 8 bytes of an operand.
    pub fn new() -> Self {
        assert!(W >= 64, "an operand must fit a beat");
        filled!(AtomicUnit {
            ;
            clock, reset, op_valid, op_ready, op_addr, op_add, op_operand, op_compare, ar_desc_valid, ar_desc_ready, ar_desc_addr,
            ar_desc_len, ar_valid, ar_ready, ar_data, result_valid, result_ready, result_before, result_after, result_writes, state,
            addr, add, operand, compare, before, after, writes,
        })
    }
}

impl<const W: usize> Default for AtomicUnit<W> {
    fn default() -> Self {
        Self::new()
    }
}

impl<const W: usize> Logic for AtomicUnit<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module atomic_unit: compare-and-swap and fetch-and-add on host memory");
        dff_setup!(self, clock, state, addr, add, operand, compare, before, after, writes);
        self.op_ready.next = self.state.q.val() == AtomicState::Idle;
        self.ar_desc_valid.next = self.state.q.val() == AtomicState::Ask;
        self.ar_desc_addr.next = self.addr.q.val();
        self.ar_desc_len.next = 8.into();
        self.ar_ready.next = self.state.q.val() == AtomicState::Data;
        self.result_valid.next = self.state.q.val() == AtomicState::Give;
        self.result_before.next = self.before.q.val();
        self.result_after.next = self.after.q.val();
        self.result_writes.next = self.writes.q.val();
        match self.state.q.val() {
            AtomicState::Idle => {
                self.addr.d.next = self.op_addr.val();
                self.add.d.next = self.op_add.val();
                self.operand.d.next = self.op_operand.val();
                self.compare.d.next = self.op_compare.val();
                if self.op_valid.val() {
                    self.state.d.next = AtomicState::Ask;
                }
            }
            AtomicState::Ask => {
                if self.ar_desc_ready.val() {
                    self.state.d.next = AtomicState::Data;
                }
            }
            AtomicState::Data => {
                self.before.d.next = bit_cast::<64, W>(self.ar_data.val());
                if self.ar_valid.val() {
                    self.state.d.next = AtomicState::Work;
                }
            }
            AtomicState::Work => {
                self.after.d.next = self.operand.q.val();
                self.writes.d.next = self.before.q.val() == self.compare.q.val();
                if self.add.q.val() {
                    self.after.d.next = self.before.q.val() + self.operand.q.val();
                    self.writes.d.next = true;
                }
                self.state.d.next = AtomicState::Give;
            }
            AtomicState::Give => {
                if self.result_ready.val() {
                    self.state.d.next = AtomicState::Idle;
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = AtomicState::Idle;
        }
    }
}
