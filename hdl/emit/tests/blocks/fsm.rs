//! A state machine: match on an enum, match on a number, if / else-if chains.
use mrnic_emit::comment;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum State {
    Idle,
    Run,
    Wait,
    Drain,
    Fault,
}

/// Takes commands, counts, faults on an unknown command.
#[derive(LogicBlock, Default)]
pub struct Fsm {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub opcode: Signal<In, Bits<8>>,
    pub valid: Signal<In, Bit>,
    pub ready: Signal<Out, Bit>,
    pub state_out: Signal<Out, State>,
    pub cost: Signal<Out, Bits<4>>,
    pub level: Signal<Out, Bits<2>>,
    pub left: Signal<Out, Bits<4>>,
    state: DFF<State>,
    remaining: DFF<Bits<4>>,
}

impl Logic for Fsm {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module fsm: command sequencer");
        dff_setup!(self, clock, state, remaining);
        self.ready.next = false;
        self.state_out.next = self.state.q.val();
        self.left.next = self.remaining.q.val();
        comment!("a number is matched through index()");
        match self.opcode.val().index() {
            0x01 => {
                self.cost.next = 3.into();
            }
            0x02 => {
                self.cost.next = 9.into();
            }
            0b1010 => self.cost.next = 1.into(),
            _ => {
                self.cost.next = 0.into();
            }
        }
        if self.remaining.q.val() > 8 {
            self.level.next = 3.into();
        } else if self.remaining.q.val() > 4 {
            self.level.next = 2.into();
        } else if self.remaining.q.val().any() {
            self.level.next = 1.into();
        } else {
            self.level.next = 0.into();
        }
        match self.state.q.val() {
            State::Idle => {
                self.ready.next = true;
                if self.valid.val() {
                    self.remaining.d.next = self.cost.val();
                    if self.cost.val() == 0 {
                        self.state.d.next = State::Fault;
                    } else {
                        self.state.d.next = State::Run;
                    }
                }
            }
            State::Run => {
                comment!("one step a clock");
                self.remaining.d.next = self.remaining.q.val() - 1;
                if self.remaining.q.val() == 1 {
                    self.state.d.next = State::Wait;
                }
            }
            State::Wait => {
                if !self.valid.val() {
                    self.state.d.next = State::Drain;
                }
            }
            State::Drain => {
                self.ready.next = !self.valid.val();
                self.state.d.next = State::Idle;
            }
            State::Fault => {}
        }
        if self.reset.val() {
            self.state.d.next = State::Idle;
            self.remaining.d.next = 0.into();
        }
    }
}
