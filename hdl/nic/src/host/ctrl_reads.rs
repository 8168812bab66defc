//! ctrl_reads: the WQE reads of work_fetch and the receive reads of recv_queue on the one control read port.
//! In: descriptors `a` and `b`, the data of the port. Out: descriptors in turns, data to whoever asked for it.
//! Guarantees: a descriptor that was offered stays; data goes back in the order of the descriptors; neither side waits for ever.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Fifo;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct CtrlReads<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub a_desc_valid: Signal<In, Bit>,
    pub a_desc_ready: Signal<Out, Bit>,
    pub a_desc_addr: Signal<In, Bits<64>>,
    pub a_desc_len: Signal<In, Bits<16>>,
    pub a_valid: Signal<Out, Bit>,
    pub a_ready: Signal<In, Bit>,
    pub b_desc_valid: Signal<In, Bit>,
    pub b_desc_ready: Signal<Out, Bit>,
    pub b_desc_addr: Signal<In, Bits<64>>,
    pub b_desc_len: Signal<In, Bits<16>>,
    pub b_valid: Signal<Out, Bit>,
    pub b_ready: Signal<In, Bit>,
    /// For both sides.
    pub data: Signal<Out, Bits<W>>,
    pub last: Signal<Out, Bit>,
    pub cr_desc_valid: Signal<Out, Bit>,
    pub cr_desc_ready: Signal<In, Bit>,
    pub cr_desc_addr: Signal<Out, Bits<64>>,
    pub cr_desc_len: Signal<Out, Bits<16>>,
    pub cr_valid: Signal<In, Bit>,
    pub cr_ready: Signal<Out, Bit>,
    pub cr_data: Signal<In, Bits<W>>,
    pub cr_last: Signal<In, Bit>,
    /// Whose data comes next: true is b.
    owners: Fifo<Bit>,
    full: DFF<Bit>,
    addr: DFF<Bits<64>>,
    len: DFF<Bits<16>>,
    /// b is served first.
    b_first: DFF<Bit>,
    free: Signal<Local, Bit>,
    take_a: Signal<Local, Bit>,
    take_b: Signal<Local, Bit>,
}

impl<const W: usize> CtrlReads<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        assert_eq!(W, config.data_width, "the build's data width");
        filled!(CtrlReads {
            // what both sides may have outstanding
            owners: Fifo::new(config.fifo.dr_outstanding + config.fifo.recv);
            clock, reset, a_desc_valid, a_desc_ready, a_desc_addr, a_desc_len, a_valid, a_ready, b_desc_valid, b_desc_ready,
            b_desc_addr, b_desc_len, b_valid, b_ready, data, last, cr_desc_valid, cr_desc_ready, cr_desc_addr, cr_desc_len, cr_valid,
            cr_ready, cr_data, cr_last, full, addr, len, b_first, free, take_a, take_b,
        })
    }
}

impl<const W: usize> Logic for CtrlReads<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module ctrl_reads: two readers on one read port");
        dff_setup!(self, clock, full, addr, len, b_first);
        clock!(self, clock, owners);
        self.owners.reset.next = self.reset.val();
        comment!("descriptors: one in a register, the other side first after each");
        self.free.next = (!self.full.q.val() | self.cr_desc_ready.val()) & !self.owners.full.val();
        self.a_desc_ready.next = self.free.val() & (!self.b_first.q.val() | !self.b_desc_valid.val());
        self.b_desc_ready.next = self.free.val() & (self.b_first.q.val() | !self.a_desc_valid.val());
        self.take_a.next = self.a_desc_valid.val() & self.a_desc_ready.val();
        self.take_b.next = self.b_desc_valid.val() & self.b_desc_ready.val();
        if self.cr_desc_ready.val() {
            self.full.d.next = false;
        }
        if self.take_a.val() {
            self.full.d.next = true;
            self.addr.d.next = self.a_desc_addr.val();
            self.len.d.next = self.a_desc_len.val();
            self.b_first.d.next = true;
        }
        if self.take_b.val() {
            self.full.d.next = true;
            self.addr.d.next = self.b_desc_addr.val();
            self.len.d.next = self.b_desc_len.val();
            self.b_first.d.next = false;
        }
        self.owners.write.next = self.take_a.val() | self.take_b.val();
        self.owners.data_in.next = self.take_b.val();
        self.cr_desc_valid.next = self.full.q.val();
        self.cr_desc_addr.next = self.addr.q.val();
        self.cr_desc_len.next = self.len.q.val();
        comment!("data to whoever is next");
        self.data.next = self.cr_data.val();
        self.last.next = self.cr_last.val();
        self.a_valid.next = self.cr_valid.val() & !self.owners.empty.val() & !self.owners.data_out.val();
        self.b_valid.next = self.cr_valid.val() & !self.owners.empty.val() & self.owners.data_out.val();
        self.cr_ready.next = self.a_ready.val() & !self.owners.empty.val();
        if self.owners.data_out.val() {
            self.cr_ready.next = self.b_ready.val() & !self.owners.empty.val();
        }
        self.owners.read.next = self.cr_valid.val() & self.cr_ready.val() & self.cr_last.val();
        if self.reset.val() {
            self.full.d.next = false;
            self.b_first.d.next = false;
        }
    }
}
