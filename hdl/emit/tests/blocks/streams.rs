//! Stream interfaces: a skid buffer, field-by-field wiring, `join` of two ends and `link` of an inner to an outer end.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Producer's end.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamRx"]
pub struct StreamTx<T: Synth> {
    pub data: Signal<Out, T>,
    pub valid: Signal<Out, Bit>,
    pub ready: Signal<In, Bit>,
}

/// Consumer's end.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamTx"]
pub struct StreamRx<T: Synth> {
    pub data: Signal<In, T>,
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
}

/// Two-entry skid buffer on a stream of T.
#[derive(LogicBlock, Default)]
pub struct Skid<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub i: StreamRx<T>,
    pub o: StreamTx<T>,
    full: DFF<Bit>,
    store: DFF<T>,
    ovalid: DFF<Bit>,
    odata: DFF<T>,
}

impl<T: Synth> Logic for Skid<T> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module skid: two-entry buffer, both handshakes registered");
        dff_setup!(self, clock, full, store, ovalid, odata);
        self.i.ready.next = !self.full.q.val();
        self.o.valid.next = self.ovalid.q.val();
        self.o.data.next = self.odata.q.val();
        if self.o.ready.val() | !self.ovalid.q.val() {
            if self.full.q.val() {
                self.odata.d.next = self.store.q.val();
                self.ovalid.d.next = true;
                self.full.d.next = false;
            } else {
                self.odata.d.next = self.i.data.val();
                self.ovalid.d.next = self.i.valid.val();
            }
        } else if self.i.valid.val() & !self.full.q.val() {
            self.store.d.next = self.i.data.val();
            self.full.d.next = true;
        }
        if self.reset.val() {
            self.full.d.next = false;
            self.ovalid.d.next = false;
        }
    }
}

/// Two skid buffers joined, their outer ends linked; a third path wired field by field in a loop.
#[derive(LogicBlock)]
pub struct Pipe<const N: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub i: StreamRx<Bits<8>>,
    pub o: StreamTx<Bits<8>>,
    pub li: [StreamRx<Bits<8>>; N],
    pub lo: [StreamTx<Bits<8>>; N],
    first: Skid<Bits<8>>,
    second: Skid<Bits<8>>,
    lane: [Skid<Bits<8>>; N],
}

impl<const N: usize> Default for Pipe<N> {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            i: Default::default(),
            o: Default::default(),
            li: array_init::array_init(|_| Default::default()),
            lo: array_init::array_init(|_| Default::default()),
            first: Default::default(),
            second: Default::default(),
            lane: array_init::array_init(|_| Default::default()),
        }
    }
}

impl<const N: usize> Logic for Pipe<N> {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, first, second);
        self.first.reset.next = self.reset.val();
        self.second.reset.next = self.reset.val();
        StreamRx::<Bits<8>>::link(&mut self.i, &mut self.first.i);
        StreamTx::<Bits<8>>::join(&mut self.first.o, &mut self.second.i);
        StreamTx::<Bits<8>>::link(&mut self.o, &mut self.second.o);
        for k in 0..N {
            self.lane[k].clock.next = self.clock.val();
            self.lane[k].reset.next = self.reset.val();
            self.lane[k].i.data.next = self.li[k].data.val();
            self.lane[k].i.valid.next = self.li[k].valid.val();
            self.li[k].ready.next = self.lane[k].i.ready.val();
            self.lo[k].data.next = self.lane[k].o.data.val();
            self.lo[k].valid.next = self.lane[k].o.valid.val();
            self.lane[k].o.ready.next = self.lo[k].ready.val();
        }
    }
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum FrameState {
    Header,
    Payload,
}

/// Puts a counted header byte in front of every frame of four bytes.
#[derive(LogicBlock, Default)]
pub struct Framer {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub i: StreamRx<Bits<8>>,
    pub o: StreamTx<Bits<8>>,
    pub frames: Signal<Out, Bits<8>>,
    input: Skid<Bits<8>>,
    output: Skid<Bits<8>>,
    state: DFF<FrameState>,
    left: DFF<Bits<2>>,
    number: DFF<Bits<8>>,
    moves: Signal<Local, Bit>,
}

impl Logic for Framer {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, state, left, number);
        clock!(self, clock, input, output);
        self.input.reset.next = self.reset.val();
        self.output.reset.next = self.reset.val();
        StreamRx::<Bits<8>>::link(&mut self.i, &mut self.input.i);
        StreamTx::<Bits<8>>::link(&mut self.o, &mut self.output.o);
        self.frames.next = self.number.q.val();
        comment!("a byte moves when both ends agree; the header byte needs no input");
        self.output.i.valid.next = self.input.o.valid.val();
        self.moves.next = self.input.o.valid.val() & self.output.i.ready.val();
        self.input.o.ready.next = false;
        self.output.i.data.next = self.input.o.data.val();
        match self.state.q.val() {
            FrameState::Header => {
                comment!("the header waits for the first byte");
                self.output.i.data.next = self.number.q.val();
                if self.moves.val() {
                    self.state.d.next = FrameState::Payload;
                    self.left.d.next = 3.into();
                }
            }
            FrameState::Payload => {
                self.input.o.ready.next = self.output.i.ready.val();
                if self.moves.val() {
                    self.left.d.next = self.left.q.val() - 1;
                    if self.left.q.val() == 0 {
                        self.state.d.next = FrameState::Header;
                        self.number.d.next = self.number.q.val() + 1;
                    }
                }
            }
        }
        if self.reset.val() {
            self.state.d.next = FrameState::Header;
            self.number.d.next = 0.into();
        }
    }
}
