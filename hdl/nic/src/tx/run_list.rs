//! run_list: a queue of identifiers in which each is at most once.
//! In: `push_valid`, `push_id` (any clock, always accepted), `pop`. Out: `empty`, the oldest `id`, `init_done`.
//! Guarantees: an identifier pushed at clock t is in the list at t+2, or was popped at t or later (so a reader that looks at
//! the identifier's state in the clock after `pop` sees whatever led to the push).
use super::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// An entry: the identifier and the value that its two marks will share once it is popped.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct RunEntry {
    pub id: Bits<16>,
    pub mark: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RunList {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub push_valid: Signal<In, Bit>,
    pub push_id: Signal<In, Bits<16>>,
    pub pop: Signal<In, Bit>,
    pub empty: Signal<Out, Bit>,
    pub id: Signal<Out, Bits<16>>,
    pub init_done: Signal<Out, Bit>,
    /// An identifier is in the list if its two marks differ: each has one writer only.
    pushed: Ram<Bit>,
    popped: Ram<Bit>,
    list: Fifo<RunEntry>,
    look_valid: DFF<Bit>,
    look_id: DFF<Bits<16>>,
    last_valid: DFF<Bit>,
    last_id: DFF<Bits<16>>,
    last_mark: DFF<Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    mark: Signal<Local, Bit>,
    last_row: Constant<Bits<24>>,
}

impl RunList {
    /// Identifiers are below `ids`.
    pub fn new(ids: usize) -> Self {
        filled!(RunList {
            pushed: Ram::new(ids),
            popped: Ram::new(ids),
            list: Fifo::new(ids),
            last_row: Constant::new((ids.max(1) as u64 - 1).to_bits());
            clock, reset, push_valid, push_id, pop, empty, id, init_done, look_valid, look_id, last_valid, last_id,
            last_mark, walk, ready, mark,
        })
    }
}

impl Logic for RunList {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module run_list: queue of identifiers, each at most once");
        dff_setup!(self, clock, look_valid, look_id, last_valid, last_id, last_mark, walk, ready);
        clock!(self, clock, pushed, popped, list);
        self.list.reset.next = self.reset.val();
        comment!("first clock: read both marks");
        self.pushed.read_address.next = bit_cast::<24, 16>(self.push_id.val());
        self.popped.read_address.next = bit_cast::<24, 16>(self.push_id.val());
        self.look_valid.d.next = self.push_valid.val() & self.ready.q.val();
        self.look_id.d.next = self.push_id.val();
        comment!("second clock: enter it unless the marks differ; the entry made one clock ago is not yet in the memory");
        self.mark.next = self.pushed.read_data.val();
        if self.last_valid.q.val() & (self.last_id.q.val() == self.look_id.q.val()) {
            self.mark.next = self.last_mark.q.val();
        }
        self.last_valid.d.next = false;
        self.pushed.write_enable.next = false;
        self.pushed.write_address.next = bit_cast::<24, 16>(self.look_id.q.val());
        self.pushed.write_data.next = !self.mark.val();
        self.list.write.next = false;
        self.list.data_in.next.id = self.look_id.q.val();
        self.list.data_in.next.mark = !self.mark.val();
        if self.look_valid.q.val() & (self.mark.val() == self.popped.read_data.val()) {
            self.pushed.write_enable.next = true;
            self.list.write.next = true;
            self.last_valid.d.next = true;
        }
        self.last_id.d.next = self.look_id.q.val();
        self.last_mark.d.next = !self.mark.val();
        self.popped.write_enable.next = self.pop.val() & !self.list.empty.val();
        self.popped.write_address.next = bit_cast::<24, 16>(self.list.data_out.val().id);
        self.popped.write_data.next = self.list.data_out.val().mark;
        self.list.read.next = self.pop.val();
        self.empty.next = self.list.empty.val();
        self.id.next = self.list.data_out.val().id;
        comment!("after reset both marks of all identifiers are cleared");
        if !self.ready.q.val() {
            self.pushed.write_enable.next = true;
            self.pushed.write_address.next = self.walk.q.val();
            self.pushed.write_data.next = false;
            self.popped.write_enable.next = true;
            self.popped.write_address.next = self.walk.q.val();
            self.popped.write_data.next = false;
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_row.val() {
                self.ready.d.next = true;
            }
        }
        self.init_done.next = self.ready.q.val();
        if self.reset.val() {
            self.look_valid.d.next = false;
            self.last_valid.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
