//! rx_timers: finds paths whose held acknowledgment is due (R8, the timer).
//! In: `write` with a path row, whether packets are unacknowledged and since when. Out: `due` with a row, until `taken`.
//! Guarantees: every armed row is looked at once a round; a row is only offered, the taker checks it again.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Ram;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// What the scan needs of a path.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct TimerRow {
    pub armed: Bit,
    pub since: Bits<32>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RxTimers {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub now: Signal<In, Bits<32>>,
    pub ack_delay: Signal<In, Bits<32>>,
    pub write: Signal<In, Bit>,
    /// conn * 8 + path.
    pub row: Signal<In, Bits<24>>,
    pub armed: Signal<In, Bit>,
    pub since: Signal<In, Bits<32>>,
    pub due: Signal<Out, Bit>,
    pub due_row: Signal<Out, Bits<24>>,
    pub taken: Signal<In, Bit>,
    pub init_done: Signal<Out, Bit>,
    rows: Ram<TimerRow>,
    walking: DFF<Bit>,
    position: DFF<Bits<24>>,
    read_valid: DFF<Bit>,
    read_row: DFF<Bits<24>>,
    age_valid: DFF<Bit>,
    age_row: DFF<Bits<24>>,
    age: DFF<Bits<32>>,
    found: DFF<Bit>,
    found_row: DFF<Bits<24>>,
    following: Signal<Local, Bits<24>>,
    last_row: Constant<Bits<24>>,
}

impl RxTimers {
    pub fn new(config: &BuildConfig) -> Self {
        filled!(RxTimers {
            rows: Ram::new(config.path_rows()),
            last_row: Constant::new((config.path_rows() as u64 - 1).to_bits());
            clock, reset, now, ack_delay, write, row, armed, since, due, due_row, taken, init_done, walking, position,
            read_valid, read_row, age_valid, age_row, age, found, found_row, following,
        })
    }
}

impl Logic for RxTimers {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module rx_timers: scan for held acknowledgments that are due (R8)");
        dff_setup!(self, clock, walking, position, read_valid, read_row, age_valid, age_row, age, found, found_row);
        clock!(self, clock, rows);
        self.init_done.next = !self.walking.q.val();
        self.due.next = self.found.q.val();
        self.due_row.next = self.found_row.q.val();
        self.following.next = self.position.q.val() + 1;
        if self.position.q.val() == self.last_row.val() {
            self.following.next = 0.into();
        }

        comment!("one row a clock: address, row, age, verdict");
        self.rows.read_address.next = self.position.q.val();
        self.read_valid.d.next = !self.walking.q.val() & !self.found.q.val();
        self.read_row.d.next = self.position.q.val();
        self.age_valid.d.next = self.read_valid.q.val() & self.rows.read_data.val().armed;
        self.age_row.d.next = self.read_row.q.val();
        self.age.d.next = self.now.val() - self.rows.read_data.val().since;
        if self.walking.q.val() | !self.found.q.val() {
            self.position.d.next = self.following.val();
        }
        if !self.found.q.val() & self.age_valid.q.val() & (self.age.q.val() >= self.ack_delay.val()) {
            comment!("the scan waits for the taker and goes on behind the row; what was read ahead is read again");
            self.found.d.next = true;
            self.found_row.d.next = self.age_row.q.val();
            self.position.d.next = self.age_row.q.val() + 1;
            if self.age_row.q.val() == self.last_row.val() {
                self.position.d.next = 0.into();
            }
            self.read_valid.d.next = false;
            self.age_valid.d.next = false;
        }
        if self.taken.val() {
            self.found.d.next = false;
        }

        self.rows.write_enable.next = self.write.val() | self.walking.q.val();
        self.rows.write_address.next = self.row.val();
        self.rows.write_data.next.armed = self.armed.val();
        self.rows.write_data.next.since = self.since.val();
        if self.walking.q.val() {
            self.rows.write_address.next = self.position.q.val();
            self.rows.write_data.next.armed = false;
            self.walking.d.next = self.position.q.val() != self.last_row.val();
        }
        if self.reset.val() {
            self.walking.d.next = true;
            self.position.d.next = 0.into();
            self.read_valid.d.next = false;
            self.age_valid.d.next = false;
            self.found.d.next = false;
        }
    }
}
