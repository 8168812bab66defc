//! message_tracker: which messages of a stream are complete (R7, N4) and whether a packet fits its message (R3, code 7).
//! In: `start` with QP, MSN, attempt, payload and message length; `take` if the packet is placed. Out: `fits`, `late`, and `exp` after it; `pass`, the
//! consuming messages that exp passed (Q5), in order; `reached`, a request that exp has come to (D3). Guarantees: bytes of a message never
//! exceed the length its packets state; exp passes only complete messages, each once, and a request only when it is finished.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(Clone, Copy, Debug, PartialEq, LogicState)]
pub enum MessageState {
    Walk,
    Idle,
    Load,
    Calc,
    Fetch,
    Ready,
    Pass,
    Look,
    Test,
    Store,
    Clear,
}

/// A message in progress: address qp * M + msn mod M.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct MessageRow {
    pub bytes: Bits<32>,
    pub done: Bit,
    /// N4: a packet of it was accepted, and of which attempt.
    pub begun: Bit,
    pub attempt: Bit,
    /// It uses the receive of this rq_seq modulo 256, as its last packet says.
    pub consuming: Bit,
    pub receive: Bits<8>,
    /// D3: a READ or an atomic that is not finished; it is `done`, but exp waits for it.
    pub request: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct MessageTracker {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 20: the bytes of an attempt count on in the next one.
    pub fault: Signal<In, Bits<5>>,
    /// Reads the rows; `fits` and `late` are valid from the fourth clock on.
    pub start: Signal<In, Bit>,
    /// With `start`, `peek`, `clear`.
    pub qp: Signal<In, Bits<16>>,
    /// With `start`: of the packet; with `clear`: the first MSN expected.
    pub msn: Signal<In, Bits<24>>,
    pub payload_bytes: Signal<In, Bits<13>>,
    pub length: Signal<In, Bits<32>>,
    /// With `start`: MSGH.attempt.
    pub attempt: Signal<In, Bit>,
    /// With `start`: the message consumes the receive `receive`.
    pub consuming: Signal<In, Bit>,
    pub receive: Signal<In, Bits<8>>,
    /// With `start`: the message is a READ or an atomic. Without it, and with the number of the one that exp has reached, `take` finishes it.
    pub request: Signal<In, Bit>,
    /// The packet is placed: count it, advance. `busy` is high from the next clock until `exp` is final.
    pub take: Signal<In, Bit>,
    /// Opens the stream: M + 1 clocks of `busy`.
    pub clear: Signal<In, Bit>,
    pub busy: Signal<Out, Bit>,
    pub fits: Signal<Out, Bit>,
    /// N4: the message is complete: not yet passed by exp, or at most M behind it.
    pub late: Signal<Out, Bit>,
    /// From the fourth clock on: exp has come to this message.
    pub at_exp: Signal<Out, Bit>,
    /// One clock, at the latest the first without `busy` after a `take`: exp has come to a request; `exp` is its number.
    pub reached: Signal<Out, Bit>,
    /// Oldest incomplete MSN of the QP last started; of the QP addressed in the previous clock on `exp_read`.
    pub exp: Signal<Out, Bits<24>>,
    pub exp_read: Signal<Out, Bits<24>>,
    /// exp passed a message that used this receive, of the QP last started. All are taken before the next start.
    pub pass_valid: Signal<Out, Bit>,
    pub pass_ready: Signal<In, Bit>,
    pub pass_receive: Signal<Out, Bits<8>>,
    /// None waits behind this clock.
    pub pass_done: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    streams: Ram<Bits<24>>,
    messages: Ram<MessageRow>,
    /// One packet makes exp pass at most M messages.
    passes: Fifo<Bits<8>>,
    state: DFF<MessageState>,
    walk: DFF<Bits<24>>,
    at: DFF<Bits<16>>,
    number: DFF<Bits<24>>,
    payload: DFF<Bits<13>>,
    total: DFF<Bits<32>>,
    oldest: DFF<Bits<24>>,
    uses: DFF<Bit>,
    used: DFF<Bits<8>>,
    asks: DFF<Bit>,
    arrives: DFF<Bit>,
    current: DFF<MessageRow>,
    /// The message behind the oldest; in Pass the oldest.
    following: DFF<MessageRow>,
    distance: DFF<Bits<24>>,
    behind: DFF<Bits<24>>,
    tries: DFF<Bit>,
    is_late: DFF<Bit>,
    sum: DFF<Bits<33>>,
    complete: DFF<Bit>,
    small: DFF<Bit>,
    after: Signal<Local, Bits<24>>,
    counted: Signal<Local, Bits<32>>,
    slot: Signal<Local, Bits<24>>,
    read_qp: Signal<Local, Bits<16>>,
    read_msn: Signal<Local, Bits<24>>,
    write_msn: Signal<Local, Bits<24>>,
    messages_log2: Constant<Bits<24>>,
    slot_mask: Constant<Bits<24>>,
    count: Constant<Bits<24>>,
    last_row: Constant<Bits<24>>,
}

impl MessageTracker {
    pub fn new(config: &BuildConfig) -> Self {
        let m = config.msgs_per_stream as u64;
        filled!(MessageTracker {
            streams: Ram::new(config.qps),
            messages: Ram::new(config.message_rows()),
            passes: Fifo::new(config.msgs_per_stream),
            messages_log2: Constant::new(u64::from(m.ilog2()).to_bits()),
            slot_mask: Constant::new((m - 1).to_bits()),
            count: Constant::new(m.to_bits()),
            last_row: Constant::new((config.message_rows() as u64 - 1).to_bits());
            clock, reset, fault, start, qp, msn, payload_bytes, length, attempt, consuming, receive, request, take, clear, busy, fits, late,
            at_exp, reached, exp, exp_read,
            pass_valid, pass_ready, pass_receive, pass_done, init_done, state,
            walk, at, number, payload, total, oldest, uses, used, asks, arrives, current, following, distance, behind, tries, is_late, sum, complete,
            small, after, counted, slot,
            read_qp, read_msn, write_msn,
        })
    }
}

impl Logic for MessageTracker {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module message_tracker: bytes of the messages of a stream and its oldest incomplete one (R7)");
        dff_setup!(
            self, clock, state, walk, at, number, payload, total, oldest, uses, used, asks, arrives, current, following,
            distance, behind, tries, is_late, sum, complete, small
        );
        clock!(self, clock, streams, messages, passes);
        self.passes.reset.next = self.reset.val();
        self.passes.write.next = false;
        self.passes.data_in.next = self.following.q.val().receive;
        self.passes.read.next = self.pass_ready.val();
        self.pass_valid.next = !self.passes.empty.val();
        self.pass_receive.next = self.passes.data_out.val();
        self.pass_done.next = (self.passes.count.val() == 0)
            | ((self.passes.count.val() == 1) & !self.passes.empty.val() & self.pass_ready.val());
        self.init_done.next = self.state.q.val() != MessageState::Walk;
        self.busy.next = (self.state.q.val() == MessageState::Pass)
            | (self.state.q.val() == MessageState::Look)
            | (self.state.q.val() == MessageState::Test)
            | (self.state.q.val() == MessageState::Clear);
        self.exp.next = self.oldest.q.val();
        self.exp_read.next = self.streams.read_data.val();
        self.fits.next = (self.distance.q.val() < self.count.val()) & self.small.q.val();
        self.late.next = self.is_late.q.val();
        self.at_exp.next = !self.distance.q.val().any();
        self.reached.next = (self.state.q.val() == MessageState::Store) & self.arrives.q.val();
        self.after.next = self.oldest.q.val() + 1;

        self.streams.read_address.next = bit_cast::<24, 16>(self.qp.val());
        self.streams.write_enable.next = false;
        self.streams.write_address.next = bit_cast::<24, 16>(self.at.q.val());
        self.streams.write_data.next = self.oldest.q.val();
        self.counted.next = 0.into();
        comment!("context read: of the packet's message at the start, afterwards of the one behind the oldest");
        self.read_qp.next = self.at.q.val();
        self.read_msn.next = self.after.val();
        if self.start.val() {
            self.read_qp.next = self.qp.val();
            self.read_msn.next = self.msn.val();
        } else if self.state.q.val() == MessageState::Look {
            self.read_msn.next = self.oldest.q.val();
        }
        self.messages.read_address.next =
            (bit_cast::<24, 16>(self.read_qp.val()) << self.messages_log2.val()) | (self.read_msn.val() & self.slot_mask.val());
        self.write_msn.next = self.number.q.val();
        self.messages.write_enable.next = false;
        self.messages.write_data.next.bytes = 0.into();
        self.messages.write_data.next.done = false;
        self.messages.write_data.next.begun = false;
        self.messages.write_data.next.attempt = false;
        self.messages.write_data.next.consuming = false;
        self.messages.write_data.next.receive = 0.into();
        self.messages.write_data.next.request = false;

        match self.state.q.val() {
            MessageState::Walk => {
                self.messages.write_enable.next = true;
                self.streams.write_enable.next = true;
                self.streams.write_address.next = self.walk.q.val() >> self.messages_log2.val();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.last_row.val() {
                    self.state.d.next = MessageState::Idle;
                }
            }
            MessageState::Load => {
                self.oldest.d.next = self.streams.read_data.val();
                self.current.d.next = self.messages.read_data.val();
                self.state.d.next = MessageState::Calc;
            }
            MessageState::Calc => {
                self.distance.d.next = self.number.q.val() - self.oldest.q.val();
                self.behind.d.next = self.oldest.q.val() - self.number.q.val();
                comment!("N4: another attempt counts from 0");
                self.counted.next = self.current.q.val().bytes;
                if self.current.q.val().begun & (self.current.q.val().attempt != self.tries.q.val()) & (self.fault.val() != 20)
                {
                    self.counted.next = 0.into();
                }
                self.sum.d.next = bit_cast::<33, 32>(self.counted.val()) + bit_cast::<33, 13>(self.payload.q.val());
                self.state.d.next = MessageState::Fetch;
            }
            MessageState::Fetch => {
                comment!("R3: received bytes + payload <= length; and whether the message behind the oldest is complete");
                self.small.d.next = self.sum.q.val() <= bit_cast::<33, 32>(self.total.q.val());
                self.complete.d.next = (self.sum.q.val() == bit_cast::<33, 32>(self.total.q.val()))
                    | self.current.q.val().done
                    | self.asks.q.val();
                self.is_late.d.next = (self.behind.q.val().any() & (self.behind.q.val() <= self.count.val()))
                    | ((self.distance.q.val() < self.count.val()) & self.current.q.val().done);
                self.following.d.next = self.messages.read_data.val();
                self.state.d.next = MessageState::Ready;
            }
            MessageState::Pass => {
                comment!("exp passes one complete message and clears its context");
                self.write_msn.next = self.oldest.q.val();
                self.messages.write_enable.next = true;
                self.passes.write.next = self.following.q.val().consuming;
                self.oldest.d.next = self.after.val();
                self.state.d.next = MessageState::Look;
            }
            MessageState::Look => {
                self.state.d.next = MessageState::Test;
            }
            MessageState::Test => {
                self.following.d.next = self.messages.read_data.val();
                self.state.d.next = MessageState::Store;
                if self.messages.read_data.val().done {
                    self.arrives.d.next = self.messages.read_data.val().request;
                    if !self.messages.read_data.val().request {
                        self.state.d.next = MessageState::Pass;
                    }
                }
            }
            MessageState::Store => {
                self.streams.write_enable.next = true;
                self.arrives.d.next = false;
                self.state.d.next = MessageState::Ready;
            }
            MessageState::Clear => {
                self.messages.write_enable.next = true;
                self.write_msn.next = self.walk.q.val();
                self.walk.d.next = self.walk.q.val() + 1;
                if self.walk.q.val() == self.slot_mask.val() {
                    self.state.d.next = MessageState::Store;
                }
            }
            _ => {}
        }
        if self.take.val() {
            comment!("R7: every PPSN counts once, so a byte counter is enough");
            self.messages.write_enable.next = true;
            self.state.d.next = MessageState::Store;
            if self.complete.q.val() & (self.distance.q.val() == 0) & !self.asks.q.val() {
                self.oldest.d.next = self.after.val();
                self.passes.write.next = self.uses.q.val();
                self.passes.data_in.next = self.used.q.val();
                if self.following.q.val().done {
                    self.arrives.d.next = self.following.q.val().request;
                    if !self.following.q.val().request {
                        self.state.d.next = MessageState::Pass;
                    }
                }
            } else {
                comment!("D3: a request is complete with its packet");
                self.arrives.d.next = self.asks.q.val() & (self.distance.q.val() == 0);
                self.messages.write_data.next.request = self.asks.q.val();
                self.messages.write_data.next.bytes = self.sum.q.val().get_bits::<32>(0);
                self.messages.write_data.next.done = self.complete.q.val();
                self.messages.write_data.next.begun = true;
                self.messages.write_data.next.attempt = self.tries.q.val();
                self.messages.write_data.next.consuming = self.uses.q.val();
                self.messages.write_data.next.receive = self.used.q.val();
            }
        }
        if self.start.val() {
            self.at.d.next = self.qp.val();
            self.number.d.next = self.msn.val();
            self.payload.d.next = self.payload_bytes.val();
            self.total.d.next = self.length.val();
            self.tries.d.next = self.attempt.val();
            self.uses.d.next = self.consuming.val();
            self.used.d.next = self.receive.val();
            self.asks.d.next = self.request.val();
            self.arrives.d.next = false;
            self.state.d.next = MessageState::Load;
        }
        if self.clear.val() {
            self.at.d.next = self.qp.val();
            self.oldest.d.next = self.msn.val();
            self.walk.d.next = 0.into();
            self.arrives.d.next = false;
            self.state.d.next = MessageState::Clear;
        }
        self.slot.next =
            (bit_cast::<24, 16>(self.at.q.val()) << self.messages_log2.val()) | (self.write_msn.val() & self.slot_mask.val());
        self.messages.write_address.next = self.slot.val();
        if self.state.q.val() == MessageState::Walk {
            self.messages.write_address.next = self.walk.q.val();
        }

        if self.reset.val() {
            self.state.d.next = MessageState::Walk;
            self.walk.d.next = 0.into();
            self.oldest.d.next = 0.into();
        }
    }
}
