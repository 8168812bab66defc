//! csr: the AXI-Lite slave: registers, staged table writes, doorbells, event counters and the time.
//!
//! In: the AXI-Lite bus, `cfg_busy` of all blocks, event pulses. Out: `cfg_*` broadcast, doorbell stream, register values, `now`.
//! Guarantees: a table write is broadcast only when no block is still applying the previous one; a bus write completes only
//! when its effect is on its way; reads of unknown offsets give 0.
use crate::config::{BuildConfig, TICK_PS};
use crate::control::event_counters::{EventCounters, COUNTERS};
use mrnic_emit::comment;
use mrnic_regs::reg;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

const STAGED: usize = reg::table_data::COUNT as usize;

// The literals in the update are these positions.
const _: () = assert!(reg::qp_drain::BUSY.bit == 0 && reg::qp_drain::REFUSAL.bit == 8);
const _: () = assert!(reg::counter::COUNT as usize == COUNTERS && reg::counter::OFFSET & !0xFF80 == 0);

/// See the module's description.
#[derive(LogicBlock)]
pub struct Csr {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub axil_awaddr: Signal<In, Bits<16>>,
    pub axil_awvalid: Signal<In, Bit>,
    pub axil_awready: Signal<Out, Bit>,
    pub axil_wdata: Signal<In, Bits<32>>,
    pub axil_wvalid: Signal<In, Bit>,
    pub axil_wready: Signal<Out, Bit>,
    pub axil_bresp: Signal<Out, Bits<2>>,
    pub axil_bvalid: Signal<Out, Bit>,
    pub axil_bready: Signal<In, Bit>,
    pub axil_araddr: Signal<In, Bits<16>>,
    pub axil_arvalid: Signal<In, Bit>,
    pub axil_arready: Signal<Out, Bit>,
    pub axil_rdata: Signal<Out, Bits<32>>,
    pub axil_rresp: Signal<Out, Bits<2>>,
    pub axil_rvalid: Signal<Out, Bit>,
    pub axil_rready: Signal<In, Bit>,
    /// One pulse adds one to the counter of that number.
    pub events: Signal<In, Bits<32>>,
    /// All `init_done`.
    pub init_done: Signal<In, Bit>,
    /// Any `cfg_busy`.
    pub cfg_busy: Signal<In, Bit>,
    pub cfg_valid: Signal<Out, Bit>,
    pub cfg_table: Signal<Out, Bits<8>>,
    pub cfg_index: Signal<Out, Bits<16>>,
    pub cfg_data: Signal<Out, Bits<512>>,
    pub doorbell_valid: Signal<Out, Bit>,
    pub doorbell_ready: Signal<In, Bit>,
    pub doorbell_qp: Signal<Out, Bits<16>>,
    pub doorbell_index: Signal<Out, Bits<16>>,
    /// Receives posted; silent in a build without receive queues.
    pub rdoorbell_valid: Signal<Out, Bit>,
    pub rdoorbell_ready: Signal<In, Bit>,
    pub rdoorbell_qp: Signal<Out, Bits<16>>,
    pub rdoorbell_index: Signal<Out, Bits<16>>,
    /// Software asks whether this queue pair is drained; `drained` answers for the one it names.
    pub drain_valid: Signal<Out, Bit>,
    pub drain_qp: Signal<Out, Bits<16>>,
    pub drained_valid: Signal<In, Bit>,
    pub drained_qp: Signal<In, Bits<16>>,
    /// R4: the code with which `drain_qp` has refused its peer, a clock later.
    pub refusal: Signal<In, Bits<3>>,
    pub rto_min: Signal<Out, Bits<32>>,
    pub ack_delay: Signal<Out, Bits<32>>,
    pub ack_every: Signal<Out, Bits<3>>,
    pub epoch_cap: Signal<Out, Bits<32>>,
    /// Ticks of 128 ns.
    pub now: Signal<Out, Bits<32>>,
    write_have_address: DFF<Bit>,
    write_have_data: DFF<Bit>,
    write_address: DFF<Bits<16>>,
    write_data: DFF<Bits<32>>,
    write_done: DFF<Bit>,
    read_have: DFF<Bit>,
    read_address: DFF<Bits<16>>,
    read_done: DFF<Bit>,
    read_data: DFF<Bits<32>>,
    staged: [DFF<Bits<32>>; STAGED],
    staged_word: Signal<Local, Bits<32>>,
    staged_all: Signal<Local, Bits<512>>,
    counters: EventCounters,
    of_counter: Signal<Local, Bit>,
    read_ready: Signal<Local, Bit>,
    commit_valid: DFF<Bit>,
    commit_where: DFF<Bits<32>>,
    /// One idle cycle after a broadcast, in which `cfg_busy` rises.
    commit_settle: DFF<Bit>,
    settling: DFF<Bit>,
    /// `init_done`, a clock ago.
    inited: DFF<Bit>,
    bell_valid: DFF<Bit>,
    bell: DFF<Bits<32>>,
    rbell_valid: DFF<Bit>,
    rbell: DFF<Bits<32>>,
    drain_held: DFF<Bit>,
    drain: DFF<Bits<16>>,
    rto_min_reg: DFF<Bits<32>>,
    ack_delay_reg: DFF<Bits<32>>,
    ack_every_reg: DFF<Bits<3>>,
    epoch_cap_reg: DFF<Bits<32>>,
    tick: DFF<Bits<32>>,
    tick_fraction: DFF<Bits<32>>,
    /// A row is being applied.
    unsettled: Signal<Local, Bit>,
    blocked: Signal<Local, Bit>,
    do_write: Signal<Local, Bit>,
    value: Signal<Local, Bits<32>>,
    status: Signal<Local, Bits<32>>,
    one32: Constant<Bits<32>>,
    id: Constant<Bits<32>>,
    version: Constant<Bits<32>>,
    caps: Constant<Bits<32>>,
    caps2: Constant<Bits<32>>,
    sends: Constant<Bit>,
    period_ps: Constant<Bits<32>>,
    tick_ps: Constant<Bits<32>>,
    rto_min_reset: Constant<Bits<32>>,
    ack_delay_reset: Constant<Bits<32>>,
    ack_every_reset: Constant<Bits<3>>,
    epoch_cap_reset: Constant<Bits<32>>,
    a_id: Constant<Bits<16>>,
    a_version: Constant<Bits<16>>,
    a_caps: Constant<Bits<16>>,
    a_caps2: Constant<Bits<16>>,
    a_status: Constant<Bits<16>>,
    a_now: Constant<Bits<16>>,
    a_rto_min: Constant<Bits<16>>,
    a_ack_delay: Constant<Bits<16>>,
    a_ack_every: Constant<Bits<16>>,
    a_epoch_cap: Constant<Bits<16>>,
    a_table_commit: Constant<Bits<16>>,
    a_doorbell: Constant<Bits<16>>,
    a_doorbell_rq: Constant<Bits<16>>,
    a_qp_drain: Constant<Bits<16>>,
    a_staged: [Constant<Bits<16>>; STAGED],
    a_counters: Constant<Bits<16>>,
}

/// The CAPS register of a build.
pub fn caps(config: &BuildConfig) -> u32 {
    use reg::caps as f;
    let mut w = [0u32];
    f::CONNS_LOG2.set(&mut w, config.conns.ilog2().into());
    f::PATHS_LOG2.set(&mut w, config.paths.ilog2().into());
    f::QPS_LOG2.set(&mut w, config.qps.ilog2().into());
    f::MSGS_LOG2.set(&mut w, config.msgs_per_stream.ilog2().into());
    f::DATA_WIDTH.set(&mut w, config.data_width as u128);
    f::WINDOW_LOG2.set(&mut w, config.window_bits.ilog2().into());
    w[0]
}

/// The CAPS2 register of a build.
pub fn caps2(config: &BuildConfig) -> u32 {
    let mut w = [0u32];
    reg::caps2::SENDS.set(&mut w, config.sends.into());
    reg::caps2::READS.set(&mut w, config.reads.into());
    reg::caps2::SGES.set(&mut w, config.sges as u128);
    reg::caps2::SRQS.set(&mut w, if config.sends { config.srqs as u128 } else { 0 });
    w[0]
}

fn word(v: u32) -> Constant<Bits<32>> {
    Constant::new(u64::from(v).to_bits())
}

fn address(v: u16) -> Constant<Bits<16>> {
    Constant::new(u64::from(v).to_bits())
}

impl Csr {
    /// The registers of a build.
    pub fn new(config: &BuildConfig) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            axil_awaddr: Default::default(),
            axil_awvalid: Default::default(),
            axil_awready: Default::default(),
            axil_wdata: Default::default(),
            axil_wvalid: Default::default(),
            axil_wready: Default::default(),
            axil_bresp: Default::default(),
            axil_bvalid: Default::default(),
            axil_bready: Default::default(),
            axil_araddr: Default::default(),
            axil_arvalid: Default::default(),
            axil_arready: Default::default(),
            axil_rdata: Default::default(),
            axil_rresp: Default::default(),
            axil_rvalid: Default::default(),
            axil_rready: Default::default(),
            events: Default::default(),
            init_done: Default::default(),
            inited: Default::default(),
            cfg_busy: Default::default(),
            cfg_valid: Default::default(),
            cfg_table: Default::default(),
            cfg_index: Default::default(),
            cfg_data: Default::default(),
            doorbell_valid: Default::default(),
            doorbell_ready: Default::default(),
            doorbell_qp: Default::default(),
            doorbell_index: Default::default(),
            rdoorbell_valid: Default::default(),
            rdoorbell_ready: Default::default(),
            rdoorbell_qp: Default::default(),
            rdoorbell_index: Default::default(),
            drain_valid: Default::default(),
            drain_qp: Default::default(),
            drained_valid: Default::default(),
            drained_qp: Default::default(),
            refusal: Default::default(),
            rto_min: Default::default(),
            ack_delay: Default::default(),
            ack_every: Default::default(),
            epoch_cap: Default::default(),
            now: Default::default(),
            write_have_address: Default::default(),
            write_have_data: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            write_done: Default::default(),
            read_have: Default::default(),
            read_address: Default::default(),
            read_done: Default::default(),
            read_data: Default::default(),
            staged: array_init::array_init(|_| Default::default()),
            staged_word: Default::default(),
            staged_all: Default::default(),
            counters: EventCounters::new(),
            of_counter: Default::default(),
            read_ready: Default::default(),
            commit_valid: Default::default(),
            commit_where: Default::default(),
            commit_settle: Default::default(),
            settling: Default::default(),
            bell_valid: Default::default(),
            bell: Default::default(),
            rbell_valid: Default::default(),
            rbell: Default::default(),
            drain_held: Default::default(),
            drain: Default::default(),
            rto_min_reg: Default::default(),
            ack_delay_reg: Default::default(),
            ack_every_reg: Default::default(),
            epoch_cap_reg: Default::default(),
            tick: Default::default(),
            tick_fraction: Default::default(),
            unsettled: Default::default(),
            blocked: Default::default(),
            do_write: Default::default(),
            value: Default::default(),
            status: Default::default(),
            one32: word(1),
            id: word(reg::id::RESET),
            version: word(reg::version::RESET),
            caps: word(caps(config)),
            caps2: word(caps2(config)),
            sends: Constant::new(config.sends),
            period_ps: word(config.clock_ps as u32),
            tick_ps: word(TICK_PS as u32),
            rto_min_reset: word(reg::rto_min::RESET),
            ack_delay_reset: word(reg::ack_delay::RESET),
            ack_every_reset: Constant::new(u64::from(reg::ack_every::RESET).to_bits()),
            epoch_cap_reset: word(reg::epoch_cap::RESET),
            a_id: address(reg::id::OFFSET),
            a_version: address(reg::version::OFFSET),
            a_caps: address(reg::caps::OFFSET),
            a_caps2: address(reg::caps2::OFFSET),
            a_status: address(reg::status::OFFSET),
            a_now: address(reg::now::OFFSET),
            a_rto_min: address(reg::rto_min::OFFSET),
            a_ack_delay: address(reg::ack_delay::OFFSET),
            a_ack_every: address(reg::ack_every::OFFSET),
            a_epoch_cap: address(reg::epoch_cap::OFFSET),
            a_table_commit: address(reg::table_commit::OFFSET),
            a_doorbell: address(reg::doorbell::OFFSET),
            a_doorbell_rq: address(reg::doorbell_rq::OFFSET),
            a_qp_drain: address(reg::qp_drain::OFFSET),
            a_staged: array_init::array_init(|i| address(reg::table_data::OFFSET + 4 * i as u16)),
            a_counters: address(reg::counter::OFFSET),
        }
    }
}

impl Logic for Csr {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module csr: registers, table writes, doorbells, counters, time");
        dff_setup!(
            self,
            clock,
            inited,
            write_have_address,
            write_have_data,
            write_address,
            write_data,
            write_done,
            read_have,
            read_address,
            read_done,
            read_data,
            commit_valid,
            commit_where,
            commit_settle,
            settling,
            bell_valid,
            bell,
            rbell_valid,
            rbell,
            drain_held,
            drain,
            rto_min_reg,
            ack_delay_reg,
            ack_every_reg,
            epoch_cap_reg,
            tick,
            tick_fraction
        );
        for k in 0..STAGED {
            self.staged[k].clock.next = self.clock.val();
            self.staged[k].d.next = self.staged[k].q.val();
        }
        self.counters.clock.next = self.clock.val();
        self.counters.reset.next = self.reset.val();
        self.counters.events.next = self.events.val();
        comment!("time: one tick of 128 ns each time the clock periods add up to it");
        self.tick_fraction.d.next = self.tick_fraction.q.val() + self.period_ps.val();
        if self.tick_fraction.q.val() + self.period_ps.val() >= self.tick_ps.val() {
            self.tick_fraction.d.next = self.tick_fraction.q.val() + self.period_ps.val() - self.tick_ps.val();
            self.tick.d.next = self.tick.q.val() + self.one32.val();
        }
        self.now.next = self.tick.q.val();
        comment!("static values");
        self.rto_min.next = self.rto_min_reg.q.val();
        self.ack_delay.next = self.ack_delay_reg.q.val();
        self.ack_every.next = self.ack_every_reg.q.val();
        self.epoch_cap.next = self.epoch_cap_reg.q.val();
        comment!("a write waits for both halves, then for whatever its effect needs");
        self.axil_awready.next = !self.write_have_address.q.val();
        self.axil_wready.next = !self.write_have_data.q.val();
        self.axil_bvalid.next = self.write_done.q.val();
        self.axil_bresp.next = 0.into();
        if self.axil_awvalid.val() & !self.write_have_address.q.val() {
            self.write_have_address.d.next = true;
            self.write_address.d.next = self.axil_awaddr.val();
        }
        if self.axil_wvalid.val() & !self.write_have_data.q.val() {
            self.write_have_data.d.next = true;
            self.write_data.d.next = self.axil_wdata.val();
        }
        comment!(
            "a doorbell waits for the rows that were written before it: a queue pair's first work finds it open everywhere"
        );
        // said by all blocks, far and near: a write does not wait for that path
        self.inited.d.next = self.init_done.val();
        // a block shows that it is busy two clocks after the write at the latest, and that is seen a clock late
        self.settling.d.next = self.commit_valid.q.val() | self.commit_settle.q.val() | self.cfg_busy.val();
        self.unsettled.next = self.commit_valid.q.val() | self.settling.q.val();
        self.blocked.next = false;
        if self.write_address.q.val() == self.a_table_commit.val() {
            self.blocked.next = self.unsettled.val() | !self.inited.q.val();
        }
        if self.write_address.q.val() == self.a_doorbell.val() {
            self.blocked.next = self.bell_valid.q.val() | self.unsettled.val();
        }
        if self.write_address.q.val() == self.a_doorbell_rq.val() {
            self.blocked.next = self.rbell_valid.q.val() | self.unsettled.val();
        }
        self.do_write.next =
            self.write_have_address.q.val() & self.write_have_data.q.val() & !self.write_done.q.val() & !self.blocked.val();
        if self.do_write.val() {
            self.write_done.d.next = true;
        }
        if self.write_done.q.val() & self.axil_bready.val() {
            self.write_done.d.next = false;
            self.write_have_address.d.next = false;
            self.write_have_data.d.next = false;
        }
        comment!("effects of a write");
        self.commit_valid.d.next = false;
        self.commit_settle.d.next = self.commit_valid.q.val();
        if self.bell_valid.q.val() & self.doorbell_ready.val() {
            self.bell_valid.d.next = false;
        }
        if self.rbell_valid.q.val() & self.rdoorbell_ready.val() {
            self.rbell_valid.d.next = false;
        }
        if self.drained_valid.val() & (self.drained_qp.val() == self.drain.q.val()) {
            self.drain_held.d.next = false;
        }
        if self.do_write.val() {
            if self.write_address.q.val() == self.a_qp_drain.val() {
                self.drain_held.d.next = true;
                self.drain.d.next = self.write_data.q.val().get_bits::<16>(0);
            }
            if self.write_address.q.val() == self.a_rto_min.val() {
                self.rto_min_reg.d.next = self.write_data.q.val();
            }
            if self.write_address.q.val() == self.a_ack_delay.val() {
                self.ack_delay_reg.d.next = self.write_data.q.val();
            }
            if self.write_address.q.val() == self.a_ack_every.val() {
                self.ack_every_reg.d.next = self.write_data.q.val().get_bits::<3>(0);
            }
            if self.write_address.q.val() == self.a_epoch_cap.val() {
                self.epoch_cap_reg.d.next = self.write_data.q.val();
            }
            if self.write_address.q.val() == self.a_table_commit.val() {
                self.commit_valid.d.next = true;
                self.commit_where.d.next = self.write_data.q.val();
            }
            if self.write_address.q.val() == self.a_doorbell.val() {
                self.bell_valid.d.next = true;
                self.bell.d.next = self.write_data.q.val();
            }
            if self.sends.val() & (self.write_address.q.val() == self.a_doorbell_rq.val()) {
                self.rbell_valid.d.next = true;
                self.rbell.d.next = self.write_data.q.val();
            }
            for k in 0..STAGED {
                if self.write_address.q.val() == self.a_staged[k].val() {
                    self.staged[k].d.next = self.write_data.q.val();
                }
            }
        }
        self.cfg_valid.next = self.commit_valid.q.val();
        self.cfg_table.next = self.commit_where.q.val().get_bits::<8>(24);
        self.cfg_index.next = self.commit_where.q.val().get_bits::<16>(0);
        self.staged_all.next = 0.into();
        for k in 0..STAGED {
            self.staged_word.next = self.staged[k].q.val();
            self.staged_all.next =
                self.staged_all.val() | (bit_cast::<512, 32>(self.staged_word.val()) << (k * 32).to_bits::<10>());
        }
        self.cfg_data.next = self.staged_all.val();
        self.doorbell_valid.next = self.bell_valid.q.val();
        self.doorbell_qp.next = self.bell.q.val().get_bits::<16>(16);
        self.doorbell_index.next = self.bell.q.val().get_bits::<16>(0);
        self.rdoorbell_valid.next = self.rbell_valid.q.val();
        self.rdoorbell_qp.next = self.rbell.q.val().get_bits::<16>(16);
        self.rdoorbell_index.next = self.rbell.q.val().get_bits::<16>(0);
        self.drain_valid.next = self.drain_held.q.val();
        self.drain_qp.next = self.drain.q.val();
        comment!("a read takes three cycles: address, look-up, answer; that of a counter two or three more, up to 33 right after reset");
        self.axil_arready.next = !self.read_have.q.val();
        self.axil_rvalid.next = self.read_done.q.val();
        self.axil_rdata.next = self.read_data.q.val();
        self.axil_rresp.next = 0.into();
        if self.axil_arvalid.val() & !self.read_have.q.val() {
            self.read_have.d.next = true;
            self.read_address.d.next = self.axil_araddr.val();
        }
        self.status.next = 0.into();
        if self.inited.q.val() {
            self.status.next = 1.into();
        }
        if self.unsettled.val() {
            self.status.next = self.status.val() | 2;
        }
        self.value.next = 0.into();
        if self.read_address.q.val() == self.a_id.val() {
            self.value.next = self.id.val();
        }
        if self.read_address.q.val() == self.a_version.val() {
            self.value.next = self.version.val();
        }
        if self.read_address.q.val() == self.a_caps.val() {
            self.value.next = self.caps.val();
        }
        if self.read_address.q.val() == self.a_caps2.val() {
            self.value.next = self.caps2.val();
        }
        if self.read_address.q.val() == self.a_status.val() {
            self.value.next = self.status.val();
        }
        if self.read_address.q.val() == self.a_now.val() {
            self.value.next = self.tick.q.val();
        }
        if self.read_address.q.val() == self.a_qp_drain.val() {
            self.value.next = (bit_cast::<32, 3>(self.refusal.val()) << 8) | bit_cast::<32, 1>(self.drain_held.q.val().into());
        }
        if self.read_address.q.val() == self.a_rto_min.val() {
            self.value.next = self.rto_min_reg.q.val();
        }
        if self.read_address.q.val() == self.a_ack_delay.val() {
            self.value.next = self.ack_delay_reg.q.val();
        }
        if self.read_address.q.val() == self.a_ack_every.val() {
            self.value.next = bit_cast::<32, 3>(self.ack_every_reg.q.val());
        }
        if self.read_address.q.val() == self.a_epoch_cap.val() {
            self.value.next = self.epoch_cap_reg.q.val();
        }
        for k in 0..STAGED {
            if self.read_address.q.val() == self.a_staged[k].val() {
                self.value.next = self.staged[k].q.val();
            }
        }
        self.of_counter.next = (self.read_address.q.val() & 0xFF83) == self.a_counters.val();
        self.counters.want.next = self.read_have.q.val() & !self.read_done.q.val() & self.of_counter.val();
        self.counters.want_index.next = self.read_address.q.val().get_bits::<5>(2);
        self.read_ready.next = !self.of_counter.val() | self.counters.valid.val();
        if self.of_counter.val() {
            self.value.next = self.counters.value.val();
        }
        if self.read_have.q.val() & !self.read_done.q.val() & self.read_ready.val() {
            self.read_done.d.next = true;
            self.read_data.d.next = self.value.val();
        }
        if self.read_done.q.val() & self.axil_rready.val() {
            self.read_done.d.next = false;
            self.read_have.d.next = false;
        }
        if self.reset.val() {
            self.write_have_address.d.next = false;
            self.write_have_data.d.next = false;
            self.write_done.d.next = false;
            self.read_have.d.next = false;
            self.read_done.d.next = false;
            self.commit_valid.d.next = false;
            self.commit_settle.d.next = false;
            self.settling.d.next = false;
            self.inited.d.next = false;
            self.commit_where.d.next = 0.into();
            self.bell_valid.d.next = false;
            self.bell.d.next = 0.into();
            self.rbell_valid.d.next = false;
            self.rbell.d.next = 0.into();
            self.drain_held.d.next = false;
            self.drain.d.next = 0.into();
            self.rto_min_reg.d.next = self.rto_min_reset.val();
            self.ack_delay_reg.d.next = self.ack_delay_reset.val();
            self.ack_every_reg.d.next = self.ack_every_reset.val();
            self.epoch_cap_reg.d.next = self.epoch_cap_reset.val();
            self.tick.d.next = 0.into();
            self.tick_fraction.d.next = 0.into();
            for k in 0..STAGED {
                self.staged[k].d.next = 0.into();
            }
        }
    }
}
