//! rate_hint: the receiver's fair share of its inbound bandwidth (R11).
//! In: `add` (placed payload of a connection), `swap` and `publish` (the two steps of an epoch). Out: rate of the connection read.
//! Guarantees: the bytes of an epoch and the limits in force are in separate banks, so a step sees one epoch and never parts of two.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Ticks of an epoch.
pub const EPOCH_TICKS: u64 = 128;
/// What a connection may have wanted above its shares and not yet fallen below them, in bytes.
pub const SPARE_MAX: u64 = 0x7FFF;
/// No limit.
pub const RATE_UNLIMITED: u64 = 0xFF_FFFF;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum HintState {
    Init,
    Counting,
    Read,
    Calc,
    Judge,
    Write,
    Rest,
    Divide,
    Publish,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RateHint {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<32>>,
    /// Bytes of an epoch that all connections may share, below 2^24; 0 switches the hint off.
    pub cap: Signal<In, Bits<32>>,
    /// At most every third clock.
    pub add: Signal<In, Bit>,
    pub add_conn: Signal<In, Bits<16>>,
    pub add_bytes: Signal<In, Bits<13>>,
    /// A connection opens or closes: forget it. Only while `at_rest`.
    pub clear: Signal<In, Bit>,
    pub clear_conn: Signal<In, Bits<16>>,
    pub at_rest: Signal<Out, Bit>,
    pub swap_due: Signal<Out, Bit>,
    pub swap: Signal<In, Bit>,
    pub publish_due: Signal<Out, Bit>,
    pub publish: Signal<In, Bit>,
    /// `rate` is that of this connection four clocks later.
    pub read_conn: Signal<In, Bits<16>>,
    pub rate: Signal<Out, Bits<24>>,
    pub epoch: Signal<Out, Bits<8>>,
    /// Share in force; with `publish_due`: the one to be published.
    pub share: Signal<Out, Bits<24>>,
    pub init_done: Signal<Out, Bit>,
    used: [Ram<Bits<24>>; 2],
    limits: [Ram<Bits<32>>; 2],
    /// What a connection wanted above its share in epochs before.
    spare: Ram<Bits<15>>,
    state: DFF<HintState>,
    walk: DFF<Bits<24>>,
    bank: DFF<Bit>,
    limit_bank: DFF<Bit>,
    epoch_time: DFF<Bits<32>>,
    /// The epoch is over.
    over: DFF<Bit>,
    number: DFF<Bits<8>>,
    started: DFF<Bit>,
    share_r: DFF<Bits<24>>,
    next_share: DFF<Bits<24>>,
    add1: DFF<Bit>,
    add2: DFF<Bit>,
    adding_conn: DFF<Bits<16>>,
    adding_bytes: DFF<Bits<13>>,
    added: DFF<Bits<24>>,
    bytes: DFF<Bits<24>>,
    kept: DFF<Bits<15>>,
    want: DFF<Bits<26>>,
    limit: DFF<Bits<32>>,
    left: DFF<Bits<15>>,
    greedy: DFF<Bits<24>>,
    total: DFF<Bits<32>>,
    remain: DFF<Bits<32>>,
    quotient: DFF<Bits<32>>,
    divisor: DFF<Bits<24>>,
    rest: DFF<Bits<25>>,
    turn: DFF<Bits<6>>,
    larger: DFF<Bits<32>>,
    scaled: DFF<Bits<32>>,
    rate_r: DFF<Bits<24>>,
    current: Signal<Local, Bits<24>>,
    walked: Signal<Local, Bits<24>>,
    sum: Signal<Local, Bits<25>>,
    grown: Signal<Local, Bits<33>>,
    step: Signal<Local, Bits<25>>,
    floor: Signal<Local, Bits<32>>,
    in_force: Signal<Local, Bits<32>>,
    above: Signal<Local, Bits<26>>,
    walk_write: Signal<Local, Bit>,
    init: Signal<Local, Bit>,
    full: Constant<Bits<24>>,
    spare_max: Constant<Bits<15>>,
    unlimited: Constant<Bits<24>>,
    most: Constant<Bits<32>>,
    saturated: Constant<Bits<32>>,
    epoch_ticks: Constant<Bits<32>>,
    last_row: Constant<Bits<24>>,
}

impl RateHint {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RateHint {
            used: array_init::array_init(|_| Ram::new(config.conns)),
            limits: array_init::array_init(|_| Ram::new(config.conns)),
            spare: Ram::new(config.conns),
            full: Constant::new(0xFF_FFFFu64.to_bits()),
            spare_max: Constant::new(SPARE_MAX.to_bits()),
            unlimited: Constant::new(RATE_UNLIMITED.to_bits()),
            most: Constant::new((RATE_UNLIMITED - 1).to_bits()),
            saturated: Constant::new(0xFFFF_FFFFu64.to_bits()),
            epoch_ticks: Constant::new(EPOCH_TICKS.to_bits()),
            last_row: Constant::new((config.conns as u64 - 1).to_bits());
            clock, reset, now, cap, add, add_conn, add_bytes, clear, clear_conn, at_rest, swap_due, swap, publish_due, publish, read_conn, rate, epoch,
            share, init_done, state, walk, bank, limit_bank, epoch_time, over, number, started, share_r, next_share, add1, add2,
            adding_conn, adding_bytes, added, bytes, kept, want, limit, left, greedy, total,
            remain, quotient, divisor, rest, turn, larger, scaled, rate_r, current, walked, sum, grown, step, floor,
            in_force, above, walk_write, init,
        })
    }
}

impl Logic for RateHint {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rate_hint: fair share of the inbound bandwidth, an epoch at a time (R11)");
        dff_setup!(
            self,
            clock,
            state,
            walk,
            bank,
            limit_bank,
            epoch_time,
            over,
            number,
            started,
            share_r,
            next_share,
            add1,
            add2,
            adding_conn,
            adding_bytes,
            added,
            bytes,
            kept,
            want,
            limit,
            left,
            greedy,
            total,
            remain,
            quotient,
            divisor,
            rest,
            turn,
            larger,
            scaled,
            rate_r
        );
        clock!(self, clock, spare);
        self.init.next = self.state.q.val() == HintState::Init;
        self.init_done.next = !self.init.val();
        // from a register: what the receiver does next hangs on it
        self.over.d.next = (self.state.q.val() == HintState::Counting)
            & !self.swap.val()
            & ((self.now.val() - self.epoch_time.q.val()) >= self.epoch_ticks.val());
        self.swap_due.next = self.over.q.val();
        self.at_rest.next = self.state.q.val() == HintState::Counting;
        self.publish_due.next = self.state.q.val() == HintState::Publish;
        self.epoch.next = self.number.q.val();
        self.share.next = self.share_r.q.val();
        if self.state.q.val() == HintState::Publish {
            self.share.next = self.next_share.q.val();
        }

        comment!("placed payload: read, add, write; saturates at 2^24 - 1");
        self.add1.d.next = self.add.val();
        self.add2.d.next = self.add1.q.val();
        if self.add.val() {
            self.adding_conn.d.next = self.add_conn.val();
            self.adding_bytes.d.next = self.add_bytes.val();
        }
        self.current.next = self.used[0].read_data.val();
        self.walked.next = self.used[1].read_data.val();
        if self.bank.q.val() {
            self.current.next = self.used[1].read_data.val();
            self.walked.next = self.used[0].read_data.val();
        }
        self.sum.next = bit_cast::<25, 24>(self.current.val()) + bit_cast::<25, 13>(self.adding_bytes.q.val());
        self.added.d.next = self.sum.val().get_bits::<24>(0);
        if self.sum.val().get_bit(24) {
            self.added.d.next = self.full.val();
        }

        self.walk_write.next = false;
        self.grown.next = bit_cast::<33, 32>(self.total.q.val()) + bit_cast::<33, 32>(self.limit.q.val());
        self.step.next = (self.rest.q.val() << 1) | bit_cast::<25, 1>(self.quotient.q.val().get_bit(31).into());
        self.floor.next = self.cap.val() >> 6;
        self.above.next = self.want.q.val() - bit_cast::<26, 24>(self.share_r.q.val());
        match self.state.q.val() {
            HintState::Init => {
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = HintState::Counting;
                }
            }
            HintState::Read => {
                self.state.d.next = HintState::Calc;
            }
            HintState::Calc => {
                self.bytes.d.next = self.walked.val();
                self.kept.d.next = self.spare.read_data.val();
                self.state.d.next = HintState::Judge;
            }
            HintState::Judge => {
                comment!("used + used / 4 + spare");
                self.want.d.next = bit_cast::<26, 24>(self.bytes.q.val())
                    + bit_cast::<26, 24>(self.bytes.q.val() >> 2)
                    + bit_cast::<26, 15>(self.kept.q.val());
                self.state.d.next = HintState::Rest;
            }
            HintState::Rest => {
                comment!("a limited connection gets what it wants, a greedy one the share, and keeps what it wants above it");
                self.limit.d.next = bit_cast::<32, 26>(self.want.q.val());
                self.left.d.next = 0.into();
                if self.want.q.val().any() & (self.want.q.val() >= bit_cast::<26, 24>(self.share_r.q.val())) {
                    self.limit.d.next = 0.into();
                    self.left.d.next = self.above.val().get_bits::<15>(0);
                    if (self.above.val() >> 15).any() {
                        self.left.d.next = self.spare_max.val();
                    }
                    self.greedy.d.next = self.greedy.q.val() + 1;
                }
                self.state.d.next = HintState::Write;
            }
            HintState::Write => {
                self.walk_write.next = true;
                self.total.d.next = self.grown.val().get_bits::<32>(0);
                if self.grown.val().get_bit(32) {
                    self.total.d.next = self.saturated.val();
                }
                self.walk.d.next = self.walk.q.val() + 1;
                self.state.d.next = HintState::Read;
                self.turn.d.next = 0.into();
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = HintState::Divide;
                }
            }
            HintState::Divide => {
                comment!("turn 0: operands; 32 turns of a bit each; then the floor");
                self.turn.d.next = self.turn.q.val() + 1;
                if self.turn.q.val() == 0 {
                    self.remain.d.next = self.cap.val() - self.total.q.val();
                    if self.cap.val() < self.total.q.val() {
                        self.remain.d.next = 0.into();
                    }
                    self.divisor.d.next = self.greedy.q.val();
                    if !self.greedy.q.val().any() {
                        self.divisor.d.next = 1.into();
                    }
                } else if self.turn.q.val() == 1 {
                    self.quotient.d.next = self.remain.q.val();
                    self.rest.d.next = 0.into();
                } else if self.turn.q.val() < 34 {
                    self.rest.d.next = self.step.val();
                    self.quotient.d.next = self.quotient.q.val() << 1;
                    if self.step.val() >= bit_cast::<25, 24>(self.divisor.q.val()) {
                        self.rest.d.next = self.step.val() - bit_cast::<25, 24>(self.divisor.q.val());
                        self.quotient.d.next = (self.quotient.q.val() << 1) | 1;
                    }
                } else {
                    self.next_share.d.next = self.quotient.q.val().get_bits::<24>(0);
                    if self.quotient.q.val() < self.floor.val() {
                        self.next_share.d.next = self.floor.val().get_bits::<24>(0);
                    }
                    self.state.d.next = HintState::Publish;
                }
            }
            _ => {}
        }
        if self.swap.val() {
            self.bank.d.next = !self.bank.q.val();
            self.epoch_time.d.next = self.now.val();
            self.walk.d.next = 0.into();
            self.greedy.d.next = 0.into();
            self.total.d.next = 0.into();
            self.state.d.next = HintState::Read;
        }
        if self.publish.val() {
            self.share_r.d.next = self.next_share.q.val();
            self.limit_bank.d.next = !self.limit_bank.q.val();
            self.number.d.next = self.number.q.val() + 1;
            self.started.d.next = true;
            self.state.d.next = HintState::Counting;
        }

        comment!("the bank being counted belongs to add, the other to the walk, which leaves zeros behind");
        for k in 0..2 {
            self.used[k].clock.next = self.clock.val();
            self.limits[k].clock.next = self.clock.val();
            if self.bank.q.val() == (k == 1) {
                self.used[k].read_address.next = bit_cast::<24, 16>(self.add_conn.val());
                self.used[k].write_enable.next = self.add2.q.val();
                self.used[k].write_address.next = bit_cast::<24, 16>(self.adding_conn.q.val());
                self.used[k].write_data.next = self.added.q.val();
            } else {
                self.used[k].read_address.next = self.walk.q.val();
                self.used[k].write_enable.next = self.walk_write.val();
                self.used[k].write_address.next = self.walk.q.val();
                self.used[k].write_data.next = 0.into();
            }
            self.limits[k].read_address.next = bit_cast::<24, 16>(self.read_conn.val());
            self.limits[k].write_enable.next = self.walk_write.val() & (self.limit_bank.q.val() != (k == 1));
            self.limits[k].write_address.next = self.walk.q.val();
            self.limits[k].write_data.next = self.limit.q.val();
            if self.clear.val() {
                self.used[k].write_enable.next = true;
                self.used[k].write_address.next = bit_cast::<24, 16>(self.clear_conn.val());
                self.used[k].write_data.next = 0.into();
                self.limits[k].write_enable.next = true;
                self.limits[k].write_address.next = bit_cast::<24, 16>(self.clear_conn.val());
                self.limits[k].write_data.next = 0.into();
            }
            if self.init.val() {
                self.used[k].write_enable.next = true;
                self.used[k].write_address.next = self.walk.q.val();
                self.used[k].write_data.next = 0.into();
                self.limits[k].write_enable.next = true;
                self.limits[k].write_data.next = 0.into();
            }
        }
        self.spare.read_address.next = self.walk.q.val();
        self.spare.write_enable.next = self.walk_write.val() | self.init.val();
        self.spare.write_address.next = self.walk.q.val();
        self.spare.write_data.next = self.left.q.val();
        if self.init.val() {
            self.spare.write_data.next = 0.into();
        }
        if self.clear.val() {
            self.spare.write_enable.next = true;
            self.spare.write_address.next = bit_cast::<24, 16>(self.clear_conn.val());
            self.spare.write_data.next = 0.into();
        }

        comment!("rate of a connection: max(limit, share) * 125 / 256 Mbit/s");
        self.in_force.next = self.limits[0].read_data.val();
        if self.limit_bank.q.val() {
            self.in_force.next = self.limits[1].read_data.val();
        }
        self.larger.d.next = self.in_force.val();
        if self.in_force.val() < bit_cast::<32, 24>(self.share_r.q.val()) {
            self.larger.d.next = bit_cast::<32, 24>(self.share_r.q.val());
        }
        self.scaled.d.next = ((self.larger.q.val() << 7) - (self.larger.q.val() << 1)) - self.larger.q.val();
        self.rate_r.d.next = bit_cast::<24, 32>(self.scaled.q.val() >> 8);
        if (self.scaled.q.val() >> 8) > self.most.val() {
            self.rate_r.d.next = self.most.val().get_bits::<24>(0);
        }
        if !self.started.q.val() | (self.cap.val() == 0) {
            self.rate_r.d.next = self.unlimited.val();
        }
        self.rate.next = self.rate_r.q.val();

        if self.reset.val() {
            self.state.d.next = HintState::Init;
            self.walk.d.next = 0.into();
            self.bank.d.next = false;
            self.limit_bank.d.next = false;
            self.epoch_time.d.next = self.now.val();
            self.over.d.next = false;
            self.number.d.next = 0.into();
            self.started.d.next = false;
            self.share_r.d.next = 0.into();
            self.add1.d.next = false;
            self.add2.d.next = false;
        }
    }
}
