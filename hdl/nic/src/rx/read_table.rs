//! read_table: what a queue pair has asked its peer for and which responses it takes (section 11, D6, D7).
//! In: `row` of every WQE taken, `sent` of every new packet, a response's look (first clock of its step) and `take`, payload writes done.
//! Out: whether the response is used and where its payload goes (from clock 4 on); `answered`, when every byte of a response is visible to
//! software. Guarantees: a response writes only where its WQE says, no byte count is exceeded, each READ or atomic is answered once.
use crate::config::BuildConfig;
use crate::filled::filled;
use crate::packet::PieceRow;
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Of the WQE that was taken last for this place of its queue pair.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ReadRow {
    /// READ or atomic.
    pub request: Bit,
    pub atomic: Bit,
    pub msn: Bits<24>,
    /// Bus address.
    pub laddr: Bits<64>,
    pub length: Bits<32>,
    pub tag: Bits<32>,
    /// Its bytes go to pieces, not to `laddr`.
    pub listed: Bit,
}

/// Which message of this place was sent last.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct SentMark {
    pub valid: Bit,
    pub msn: Bits<24>,
}

/// Of message `msn`, once a response to it was taken.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ReadProgress {
    pub valid: Bit,
    pub msn: Bits<24>,
    pub left: Bits<32>,
    pub whole: Bit,
}

/// A whole response, and the payload writes to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Answer {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub ticket: Bits<16>,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct ReadTable {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub cfg_valid: Signal<In, Bit>,
    pub cfg_table: Signal<In, Bits<8>>,
    pub cfg_index: Signal<In, Bits<16>>,
    /// What is answered of the queue pair's earlier life has not yet left; then its rows are cleared.
    pub cfg_busy: Signal<Out, Bit>,
    /// rx_core has not yet applied a table write: a step of the queue pair's earlier life may still be under way.
    pub rx_busy: Signal<In, Bit>,
    /// A WQE was accepted, of whatever opcode.
    pub row_write: Signal<In, Bit>,
    pub row_qp: Signal<In, Bits<16>>,
    pub row: Signal<In, ReadRow>,
    /// A piece of the WQE whose row may be written next: row, number, place.
    pub piece_write: Signal<In, Bit>,
    pub piece_row: Signal<In, Bits<24>>,
    pub piece_number: Signal<In, Bits<2>>,
    pub piece_addr: Signal<In, Bits<64>>,
    pub piece_end: Signal<In, Bits<32>>,
    /// A new packet was granted (D6: the request was sent). Not in two clocks that follow one another.
    pub sent_valid: Signal<In, Bit>,
    pub sent_qp: Signal<In, Bits<16>>,
    pub sent_msn: Signal<In, Bits<24>>,
    /// D8, one clock later: it was the first of a READ or an atomic.
    pub first_valid: Signal<Out, Bit>,
    pub first_qp: Signal<Out, Bits<16>>,
    pub look: Signal<In, Bit>,
    pub look_qp: Signal<In, Bits<16>>,
    pub look_msn: Signal<In, Bits<24>>,
    /// The response, stable from the clock after the look on: 0 READ_RESP, 1 ATOMIC_RESP, 2 ERROR_RESP.
    pub kind: Signal<In, Bits<2>>,
    /// PLH.va.
    pub offset: Signal<In, Bits<64>>,
    pub length: Signal<In, Bits<32>>,
    pub tag: Signal<In, Bits<32>>,
    /// 8 of an atomic.
    pub payload_bytes: Signal<In, Bits<13>>,
    /// The message waits for this response, and it is right.
    pub used: Signal<Out, Bit>,
    pub addr: Signal<Out, Bits<64>>,
    /// From clock 2 on: they go to pieces, of which number `piece_at` stands at `piece` in the same clock, as an SGE. Behind the last one that there is
    /// stands anything: a response that is used does not reach there.
    pub listed: Signal<Out, Bit>,
    pub piece_at: Signal<In, Bits<2>>,
    pub piece: Signal<Out, Bits<128>>,
    /// One clock, with `used`: what was looked at is placed. Not of an ERROR_RESP.
    pub take: Signal<In, Bit>,
    /// One clock after `take`: payload writes ordered up to and with it, modulo 2^16.
    pub ticket: Signal<In, Bits<16>>,
    /// Payload writes done, modulo 2^16.
    pub done_count: Signal<In, Bits<16>>,
    /// A further `take` has room.
    pub room: Signal<Out, Bit>,
    /// Whole responses that are not yet taken as answered; their number counts all of them unless a `take` is under way.
    pub answers_held: Signal<Out, Bits<16>>,
    pub settled: Signal<Out, Bit>,
    pub answered_valid: Signal<Out, Bit>,
    pub answered_ready: Signal<In, Bit>,
    pub answered_qp: Signal<Out, Bits<16>>,
    pub answered_msn: Signal<Out, Bits<24>>,
    pub init_done: Signal<Out, Bit>,
    rows: Ram<ReadRow>,
    rows_copy: Ram<ReadRow>,
    marks: Ram<SentMark>,
    marks_copy: Ram<SentMark>,
    progress: Ram<ReadProgress>,
    /// One for each number of a piece.
    pieces: [Ram<PieceRow>; 4],
    pieces_r: [DFF<PieceRow>; 4],
    here: Signal<Local, PieceRow>,
    begins: Signal<Local, Bits<32>>,
    answers: Fifo<Answer>,
    walking: DFF<Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    held: DFF<Bit>,
    held_qp: DFF<Bits<16>>,
    /// Answers that are older than the table write, once they are counted.
    counted: DFF<Bit>,
    behind: DFF<Bits<16>>,
    sent_1: DFF<Bit>,
    sent_q: DFF<Bits<16>>,
    sent_m: DFF<Bits<24>>,
    look_1: DFF<Bit>,
    look_2: DFF<Bit>,
    look_3: DFF<Bit>,
    qp: DFF<Bits<16>>,
    msn: DFF<Bits<24>>,
    // clock 1
    found: DFF<ReadRow>,
    mark: DFF<SentMark>,
    at: DFF<ReadProgress>,
    // clock 2
    waits: DFF<Bit>,
    left: DFF<Bits<32>>,
    end: DFF<Bits<33>>,
    same: DFF<Bit>,
    far: DFF<Bit>,
    // clock 3
    used_r: DFF<Bit>,
    addr_r: DFF<Bits<64>>,
    // the clock after a take
    taking: DFF<Bit>,
    new_left: DFF<Bits<32>>,
    /// The oldest answer's data is visible.
    visible: DFF<Bit>,
    known: Signal<Local, Bit>,
    stores: Signal<Local, Bit>,
    marks_write: Signal<Local, Bit>,
    clears: Signal<Local, Bit>,
    leaves: Signal<Local, Bit>,
    whole: Signal<Local, Bit>,
    waited: Signal<Local, Bits<16>>,
    new_answer: Signal<Local, Answer>,
    new_mark: Signal<Local, SentMark>,
    new_progress: Signal<Local, ReadProgress>,
    look_at: Signal<Local, Bits<24>>,
    own_at: Signal<Local, Bits<24>>,
    sent_at: Signal<Local, Bits<24>>,
    marked_at: Signal<Local, Bits<24>>,
    clear_at: Signal<Local, Bits<24>>,
    messages_log2: Constant<Bits<4>>,
    slot_mask: Constant<Bits<24>>,
    last_slot: Constant<Bits<24>>,
    last_row: Constant<Bits<24>>,
    with_lists: Constant<Bit>,
}

impl ReadTable {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.message_rows();
        filled!(ReadTable {
            rows: Ram::new(rows),
            rows_copy: Ram::new(rows),
            marks: Ram::new(rows),
            marks_copy: Ram::new(rows),
            progress: Ram::new(rows),
            pieces: std::array::from_fn(|k| Ram::new(if config.sges > 1 && k < config.sges { rows } else { 0 })),
            pieces_r: Default::default(),
            with_lists: Constant::new(config.sges > 1),
            answers: Fifo::new(config.msgs_per_stream),
            messages_log2: Constant::new(u64::from(config.msgs_per_stream.ilog2()).to_bits()),
            slot_mask: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            last_slot: Constant::new((config.msgs_per_stream as u64 - 1).to_bits()),
            last_row: Constant::new((rows as u64 - 1).to_bits());
            clock, reset, cfg_valid, cfg_table, cfg_index, cfg_busy, rx_busy, row_write, row_qp, row, piece_write, piece_row, piece_number, piece_addr, piece_end, listed, piece_at, piece, here, begins, sent_valid, sent_qp, sent_msn,
            first_valid, first_qp, look, look_qp, look_msn, kind, offset, length, tag, payload_bytes, used, addr, take, ticket,
            done_count, room, answers_held, settled, answered_valid, answered_ready, answered_qp, answered_msn, init_done, walking, walk, ready, held,
            held_qp, counted, behind, sent_1, sent_q, sent_m, look_1, look_2, look_3, qp, msn, found, mark, at, waits, left, end, same, far,
            used_r, addr_r, taking, new_left, visible, known, stores, marks_write, clears, leaves, whole, waited, new_answer, new_mark,
            new_progress, look_at, own_at, sent_at, marked_at, clear_at,
        })
    }
}

impl Logic for ReadTable {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module read_table: outstanding READs and atomics, and the responses that are taken for them");
        dff_setup!(
            self, clock, walking, walk, ready, held, held_qp, counted, behind, sent_1, sent_q, sent_m, look_1, look_2, look_3,
            qp, msn, found, mark, at, waits, left, end, same, far, used_r, addr_r, taking, new_left, visible
        );
        clock!(self, clock, rows, rows_copy, marks, marks_copy, progress, answers);
        self.answers.reset.next = self.reset.val();
        self.init_done.next = self.ready.q.val();
        self.look_at.next =
            (bit_cast::<24, 16>(self.look_qp.val()) << self.messages_log2.val()) | (self.look_msn.val() & self.slot_mask.val());
        self.own_at.next =
            (bit_cast::<24, 16>(self.qp.q.val()) << self.messages_log2.val()) | (self.msn.q.val() & self.slot_mask.val());
        self.sent_at.next =
            (bit_cast::<24, 16>(self.sent_qp.val()) << self.messages_log2.val()) | (self.sent_msn.val() & self.slot_mask.val());
        self.marked_at.next = (bit_cast::<24, 16>(self.sent_q.q.val()) << self.messages_log2.val())
            | (self.sent_m.q.val() & self.slot_mask.val());

        comment!("rows of WQEs");
        self.rows.write_enable.next = self.row_write.val();
        self.rows.write_address.next =
            (bit_cast::<24, 16>(self.row_qp.val()) << self.messages_log2.val()) | (self.row.val().msn & self.slot_mask.val());
        self.rows.write_data.next = self.row.val();
        self.rows_copy.write_enable.next = self.row_write.val();
        self.rows_copy.write_address.next = self.rows.write_address.val();
        self.rows_copy.write_data.next = self.row.val();

        comment!("pieces: those of a look stay until the next one");
        self.here.next.addr = self.piece_addr.val();
        self.here.next.end = self.piece_end.val();
        for k in 0..4 {
            self.pieces[k].clock.next = self.clock.val();
            self.pieces[k].read_address.next = self.look_at.val();
            self.pieces[k].write_enable.next = self.piece_write.val() & (self.piece_number.val() == k.to_bits::<2>());
            self.pieces[k].write_address.next = self.piece_row.val();
            self.pieces[k].write_data.next = self.here.val();
            self.pieces_r[k].clock.next = self.clock.val();
            self.pieces_r[k].d.next = self.pieces_r[k].q.val();
            if self.look_1.q.val() {
                self.pieces_r[k].d.next = self.pieces[k].read_data.val();
            }
        }
        self.listed.next = self.found.q.val().listed & self.with_lists.val();
        self.here.next = self.pieces_r[0].q.val();
        self.begins.next = 0.into();
        for k in 1..4 {
            if self.piece_at.val() == k.to_bits::<2>() {
                self.here.next = self.pieces_r[k - 1].q.val();
                self.begins.next = self.here.val().end;
                self.here.next = self.pieces_r[k].q.val();
            }
        }
        self.piece.next =
            bit_cast::<128, 64>(self.here.val().addr) | (bit_cast::<128, 32>(self.here.val().end - self.begins.val()) << 64);

        comment!("a packet was sent: its place is marked one clock later");
        self.rows_copy.read_address.next = self.sent_at.val();
        self.marks_copy.read_address.next = self.sent_at.val();
        self.sent_1.d.next = self.sent_valid.val();
        self.sent_q.d.next = self.sent_qp.val();
        self.sent_m.d.next = self.sent_msn.val();
        self.first_valid.next = self.sent_1.q.val()
            & self.rows_copy.read_data.val().request
            & (self.rows_copy.read_data.val().msn == self.sent_m.q.val())
            & !(self.marks_copy.read_data.val().valid & (self.marks_copy.read_data.val().msn == self.sent_m.q.val()));
        self.first_qp.next = self.sent_q.q.val();

        comment!("the look, clock 0: every table is read");
        self.rows.read_address.next = self.look_at.val();
        self.marks.read_address.next = self.look_at.val();
        self.progress.read_address.next = self.look_at.val();
        self.look_1.d.next = self.look.val();
        self.look_2.d.next = self.look_1.q.val();
        self.look_3.d.next = self.look_2.q.val();
        if self.look.val() {
            self.qp.d.next = self.look_qp.val();
            self.msn.d.next = self.look_msn.val();
        }
        comment!("clock 1");
        if self.look_1.q.val() {
            self.found.d.next = self.rows.read_data.val();
            self.mark.d.next = self.marks.read_data.val();
            self.at.d.next = self.progress.read_data.val();
        }
        comment!("clock 2: does the message wait, for how much; is the response of the right kind");
        self.known.next = self.at.q.val().valid & (self.at.q.val().msn == self.msn.q.val());
        if self.look_2.q.val() {
            self.waits.d.next = self.found.q.val().request
                & (self.found.q.val().msn == self.msn.q.val())
                & self.mark.q.val().valid
                & (self.mark.q.val().msn == self.msn.q.val())
                & !(self.known.val() & self.at.q.val().whole);
            self.left.d.next = self.found.q.val().length;
            if self.known.val() {
                self.left.d.next = self.at.q.val().left;
            }
            self.end.d.next =
                bit_cast::<33, 32>(self.offset.val().get_bits::<32>(0)) + bit_cast::<33, 13>(self.payload_bytes.val());
            self.far.d.next = self.offset.val().get_bits::<32>(32).any();
            self.same.d.next = (self.found.q.val().tag == self.tag.val()) & (self.found.q.val().length == self.length.val());
        }
        comment!("clock 3: D6");
        if self.look_3.q.val() {
            self.used_r.d.next = self.waits.q.val();
            self.addr_r.d.next = self.found.q.val().laddr;
            if self.kind.val() == 0 {
                self.used_r.d.next = self.waits.q.val()
                    & !self.found.q.val().atomic
                    & self.same.q.val()
                    & !self.far.q.val()
                    & (self.end.q.val() <= bit_cast::<33, 32>(self.length.val()))
                    & (bit_cast::<32, 13>(self.payload_bytes.val()) <= self.left.q.val());
                self.addr_r.d.next = self.found.q.val().laddr + self.offset.val();
            } else if self.kind.val() == 1 {
                self.used_r.d.next = self.waits.q.val() & self.found.q.val().atomic;
            }
        }
        self.used.next = self.used_r.q.val();
        self.addr.next = self.addr_r.q.val();

        comment!("taken: what is left; a whole response is told once its data is visible");
        self.taking.d.next = self.take.val();
        self.new_left.d.next = self.left.q.val() - bit_cast::<32, 13>(self.payload_bytes.val());
        self.whole.next = !self.new_left.q.val().any();
        self.stores.next = self.taking.q.val();
        self.new_answer.next.qp = self.qp.q.val();
        self.new_answer.next.msn = self.msn.q.val();
        self.new_answer.next.ticket = self.ticket.val();
        self.answers.data_in.next = self.new_answer.val();
        self.answers.write.next = self.taking.q.val() & self.whole.val();
        self.room.next = !self.answers.full.val() & !self.taking.q.val() & !self.take.val();
        self.answers_held.next = self.answers.count.val();
        self.settled.next = !self.taking.q.val() & !self.take.val();
        comment!("once visible it stays so, however long it waits to be taken");
        self.waited.next = self.done_count.val() - self.answers.data_out.val().ticket;
        self.answered_valid.next = !self.answers.empty.val() & self.visible.q.val();
        self.answered_qp.next = self.answers.data_out.val().qp;
        self.answered_msn.next = self.answers.data_out.val().msn;
        self.leaves.next = self.answered_valid.val() & self.answered_ready.val();
        self.answers.read.next = self.leaves.val();
        if !self.answers.empty.val() & !self.waited.val().get_bit(15) {
            self.visible.d.next = true;
        }
        if self.leaves.val() {
            self.visible.d.next = false;
        }

        comment!(
            "a queue pair opens or closes: older answers leave, then its marks are cleared, in clocks that need no other write"
        );
        if self.leaves.val() & self.behind.q.val().any() {
            self.behind.d.next = self.behind.q.val() - 1;
        }
        if self.cfg_valid.val() & (self.cfg_table.val() == 3) {
            self.held.d.next = true;
            self.held_qp.d.next = self.cfg_index.val();
            self.walk.d.next = 0.into();
            self.counted.d.next = false;
        }
        if self.held.q.val() & !self.counted.q.val() & !self.rx_busy.val() & !self.taking.q.val() {
            self.counted.d.next = true;
            self.behind.d.next = self.answers.count.val();
            if self.leaves.val() {
                self.behind.d.next = self.answers.count.val() - 1;
            }
        }
        self.cfg_busy.next = self.held.q.val();
        self.clears.next = ((self.held.q.val() & self.counted.q.val() & !self.behind.q.val().any()) | self.walking.q.val())
            & !self.sent_1.q.val()
            & !self.stores.val();
        self.clear_at.next = (bit_cast::<24, 16>(self.held_qp.q.val()) << self.messages_log2.val()) | self.walk.q.val();
        if self.walking.q.val() {
            self.clear_at.next = self.walk.q.val();
        }
        if self.clears.val() {
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walking.q.val() {
                if self.walk.q.val() == self.last_row.val() {
                    self.walking.d.next = false;
                    self.ready.d.next = true;
                    self.walk.d.next = 0.into();
                }
            } else if self.walk.q.val() == self.last_slot.val() {
                self.held.d.next = false;
            }
        }
        self.marks_write.next = self.sent_1.q.val() | self.clears.val();
        self.new_mark.next.valid = self.sent_1.q.val();
        self.new_mark.next.msn = self.sent_m.q.val();
        self.marks.write_enable.next = self.marks_write.val();
        self.marks.write_address.next = self.clear_at.val();
        if self.sent_1.q.val() {
            self.marks.write_address.next = self.marked_at.val();
        }
        self.marks.write_data.next = self.new_mark.val();
        self.marks_copy.write_enable.next = self.marks_write.val();
        self.marks_copy.write_address.next = self.marks.write_address.val();
        self.marks_copy.write_data.next = self.new_mark.val();
        self.new_progress.next.valid = self.stores.val();
        self.new_progress.next.msn = self.msn.q.val();
        self.new_progress.next.left = self.new_left.q.val();
        self.new_progress.next.whole = self.whole.val();
        self.progress.write_enable.next = self.stores.val() | self.clears.val();
        self.progress.write_address.next = self.clear_at.val();
        if self.stores.val() {
            self.progress.write_address.next = self.own_at.val();
        }
        self.progress.write_data.next = self.new_progress.val();

        if self.reset.val() {
            self.walking.d.next = true;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
            self.held.d.next = false;
            self.counted.d.next = false;
            self.behind.d.next = 0.into();
            self.sent_1.d.next = false;
            self.look_1.d.next = false;
            self.look_2.d.next = false;
            self.look_3.d.next = false;
            self.used_r.d.next = false;
            self.taking.d.next = false;
            self.visible.d.next = false;
        }
    }
}
