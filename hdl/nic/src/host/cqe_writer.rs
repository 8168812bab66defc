//! cqe_writer: CQEs on their way to host memory.
//! In: `write` with a CQE, unless `full`. Out: the write port `cw`, a descriptor and its data for each CQE, in their order.
//! Guarantees: each CQE is written once. One waits in a register in front of the FIFO, so what decides on it ends there.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_regs::ring;
use mrnic_widgets::Fifo;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A CQE and where it goes.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct CqeWrite {
    pub addr: Bits<64>,
    pub data: Bits<256>,
}

// The literals in `update` below are these.
const _: () = assert!(ring::cqe::BYTES == 32);

/// See the module documentation.
#[derive(LogicBlock)]
pub struct CqeWriter<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub cqe: Signal<In, CqeWrite>,
    pub full: Signal<Out, Bit>,
    pub cw_desc_valid: Signal<Out, Bit>,
    pub cw_desc_ready: Signal<In, Bit>,
    pub cw_desc_addr: Signal<Out, Bits<64>>,
    pub cw_desc_len: Signal<Out, Bits<16>>,
    pub cw_valid: Signal<Out, Bit>,
    pub cw_ready: Signal<In, Bit>,
    pub cw_data: Signal<Out, Bits<W>>,
    pub cw_last: Signal<Out, Bit>,
    waits: DFF<Bit>,
    waiting: DFF<CqeWrite>,
    cqes: Fifo<CqeWrite>,
    beat: DFF<Bits<3>>,
    desc_sent: DFF<Bit>,
    data_sent: DFF<Bit>,
    beat_at: Signal<Local, Bits<10>>,
    last_beat: Constant<Bits<3>>,
    beat_shift: Constant<Bits<10>>,
}

impl<const W: usize> CqeWriter<W> {
    /// For a build; W is its data width.
    pub fn new(config: &BuildConfig) -> Self {
        let beats = (8 * ring::cqe::BYTES).div_ceil(W) as u64;
        filled!(CqeWriter {
            cqes: Fifo::new(config.fifo.cmsg),
            last_beat: Constant::new((beats - 1).to_bits()),
            beat_shift: Constant::new((if W >= 256 { 0 } else { W as u64 }).to_bits());
            clock, reset, write, cqe, full, cw_desc_valid, cw_desc_ready, cw_desc_addr, cw_desc_len, cw_valid, cw_ready, cw_data,
            cw_last, waits, waiting, beat, desc_sent, data_sent, beat_at,
        })
    }
}

impl<const W: usize> Logic for CqeWriter<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module cqe_writer: CQEs to host memory");
        dff_setup!(self, clock, waits, waiting, beat, desc_sent, data_sent);
        clock!(self, clock, cqes);
        self.cqes.reset.next = self.reset.val();
        self.cqes.write.next = self.waits.q.val();
        self.cqes.data_in.next = self.waiting.q.val();
        self.full.next = self.waits.q.val() & self.cqes.full.val();
        if !self.cqes.full.val() | !self.waits.q.val() {
            self.waits.d.next = self.write.val();
            self.waiting.d.next = self.cqe.val();
        }
        self.cw_desc_valid.next = !self.cqes.empty.val() & !self.desc_sent.q.val();
        self.cw_desc_addr.next = self.cqes.data_out.val().addr;
        self.cw_desc_len.next = 32.into();
        self.cw_valid.next = !self.cqes.empty.val() & !self.data_sent.q.val();
        self.beat_at.next = 0.into();
        if self.beat.q.val().get_bit(0) {
            self.beat_at.next = self.beat_shift.val();
        }
        if self.beat.q.val().get_bit(1) {
            self.beat_at.next = self.beat_at.val() + (self.beat_shift.val() << 1);
        }
        self.cw_data.next = bit_cast::<W, 256>(self.cqes.data_out.val().data >> self.beat_at.val());
        self.cw_last.next = self.beat.q.val() == self.last_beat.val();
        self.cqes.read.next = false;
        if self.cw_desc_valid.val() & self.cw_desc_ready.val() {
            self.desc_sent.d.next = true;
        }
        if self.cw_valid.val() & self.cw_ready.val() {
            self.beat.d.next = self.beat.q.val() + 1;
            if self.cw_last.val() {
                self.data_sent.d.next = true;
            }
        }
        if self.desc_sent.q.val() & self.data_sent.q.val() {
            self.cqes.read.next = true;
            self.desc_sent.d.next = false;
            self.data_sent.d.next = false;
            self.beat.d.next = 0.into();
        }
        if self.reset.val() {
            self.waits.d.next = false;
            self.beat.d.next = 0.into();
            self.desc_sent.d.next = false;
            self.data_sent.d.next = false;
        }
    }
}
