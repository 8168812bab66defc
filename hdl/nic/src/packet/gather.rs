//! gather: payload that was read in pieces becomes one stream a packet.
//! In: `piece_*` for each payload read in their order (bytes; the last one of its packet), `dr` (data of a read begins at bit 0 of a beat, what is
//! behind its end is anything). Out: `out`: the payload of a packet without gaps, from bit 0 of a beat on; zeros behind its end.
//! Guarantees a beat a clock, but for one clock more where a packet's last piece leaves a rest; two clocks of latency.
use crate::config::BuildConfig;
use crate::filled::filled;
use mrnic_emit::comment;
use mrnic_widgets::Fifo;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A payload read whose data is under way.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Piece {
    pub bytes: Bits<13>,
    pub ends: Bit,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Gather<const W: usize> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// One more read may be told of.
    pub piece_room: Signal<Out, Bit>,
    pub piece_write: Signal<In, Bit>,
    /// At least 1.
    pub piece_bytes: Signal<In, Bits<13>>,
    /// It is the last one of its packet.
    pub piece_ends: Signal<In, Bit>,
    pub dr_valid: Signal<In, Bit>,
    pub dr_ready: Signal<Out, Bit>,
    pub dr_data: Signal<In, Bits<W>>,
    pub out_valid: Signal<Out, Bit>,
    pub out_ready: Signal<In, Bit>,
    pub out_data: Signal<Out, Bits<W>>,
    pieces: Fifo<Piece>,
    arriving: Signal<Local, Piece>,
    head: Signal<Local, Piece>,
    /// Bytes of the oldest piece that have come.
    come: DFF<Bits<13>>,
    /// A beat of a piece, its bytes, and whether the packet ends with it.
    beat_valid: DFF<Bit>,
    beat: DFF<Bits<W>>,
    beat_bytes: DFF<Bits<8>>,
    beat_ends: DFF<Bit>,
    /// What does not yet fill a beat.
    rest: DFF<Bits<W>>,
    rest_bytes: DFF<Bits<8>>,
    /// The packet ends with the rest.
    rest_ends: DFF<Bit>,
    made_valid: DFF<Bit>,
    made: DFF<Bits<W>>,
    missing: Signal<Local, Bits<13>>,
    last_of_piece: Signal<Local, Bit>,
    takes: Signal<Local, Bit>,
    moves: Signal<Local, Bit>,
    made_free: Signal<Local, Bit>,
    cut: Signal<Local, Bits<16>>,
    sum: Signal<Local, Bits<8>>,
    joined: Signal<Local, Bits<W>>,
    up: Signal<Local, Bits<16>>,
    down: Signal<Local, Bits<16>>,
    width: Constant<Bits<13>>,
    width_8: Constant<Bits<8>>,
    all: Constant<Bits<W>>,
}

impl<const W: usize> Gather<W> {
    /// As many reads as packets may wait for their payload, and all of one packet besides: packet_builder asks for them when its header is made.
    pub fn new(config: &BuildConfig) -> Self {
        filled!(Gather {
            pieces: Fifo::new(config.fifo.dr_outstanding + config.sges),
            width: Constant::new((W as u64 / 8).to_bits()),
            width_8: Constant::new((W as u64 / 8).to_bits()),
            all: Constant::new(Bits::mask());
            clock, reset, piece_room, piece_write, piece_bytes, piece_ends, dr_valid, dr_ready, dr_data, out_valid, out_ready, out_data,
            arriving, head, come, beat_valid, beat, beat_bytes, beat_ends, rest, rest_bytes, rest_ends, made_valid, made, missing,
            last_of_piece, takes, moves, made_free, cut, sum, joined, up, down,
        })
    }
}

impl<const W: usize> Logic for Gather<W> {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module gather: pieces of payload to packets");
        dff_setup!(self, clock, come, beat_valid, beat, beat_bytes, beat_ends, rest, rest_bytes, rest_ends, made_valid, made);
        clock!(self, clock, pieces);
        self.pieces.reset.next = self.reset.val();
        self.arriving.next.bytes = self.piece_bytes.val();
        self.arriving.next.ends = self.piece_ends.val();
        self.pieces.data_in.next = self.arriving.val();
        self.pieces.write.next = self.piece_write.val();
        self.piece_room.next = !self.pieces.full.val();
        self.head.next = self.pieces.data_out.val();
        comment!("a beat of the oldest piece, without what is behind its end");
        self.made_free.next = !self.made_valid.q.val() | self.out_ready.val();
        self.moves.next = self.beat_valid.q.val() & self.made_free.val() & !self.rest_ends.q.val();
        self.dr_ready.next = !self.pieces.empty.val() & (!self.beat_valid.q.val() | self.moves.val());
        self.takes.next = self.dr_valid.val() & self.dr_ready.val();
        self.missing.next = self.head.val().bytes - self.come.q.val();
        self.last_of_piece.next = self.missing.val() <= self.width.val();
        self.pieces.read.next = self.takes.val() & self.last_of_piece.val();
        self.cut.next = 0.into();
        if self.last_of_piece.val() {
            self.cut.next = bit_cast::<16, 13>(self.width.val() - self.missing.val()) << 3;
        }
        if self.moves.val() {
            self.beat_valid.d.next = false;
        }
        if self.takes.val() {
            self.beat_valid.d.next = true;
            self.beat.d.next = self.dr_data.val() & (self.all.val() >> self.cut.val());
            self.beat_bytes.d.next = self.width_8.val();
            self.beat_ends.d.next = false;
            self.come.d.next = self.come.q.val() + self.width.val();
            if self.last_of_piece.val() {
                self.beat_bytes.d.next = bit_cast::<8, 13>(self.missing.val());
                self.beat_ends.d.next = self.head.val().ends;
                self.come.d.next = 0.into();
            }
        }
        comment!("it stands behind the rest of those before it");
        self.sum.next = self.rest_bytes.q.val() + self.beat_bytes.q.val();
        self.up.next = bit_cast::<16, 8>(self.rest_bytes.q.val()) << 3;
        self.down.next = bit_cast::<16, 8>(self.width_8.val() - self.rest_bytes.q.val()) << 3;
        self.joined.next = self.rest.q.val() | (self.beat.q.val() << self.up.val());
        if self.out_ready.val() {
            self.made_valid.d.next = false;
        }
        if self.rest_ends.q.val() & self.made_free.val() {
            self.made_valid.d.next = true;
            self.made.d.next = self.rest.q.val();
            self.rest.d.next = 0.into();
            self.rest_bytes.d.next = 0.into();
            self.rest_ends.d.next = false;
        }
        if self.moves.val() {
            self.made.d.next = self.joined.val();
            if self.sum.val() >= self.width_8.val() {
                self.made_valid.d.next = true;
                self.rest.d.next = self.beat.q.val() >> self.down.val();
                self.rest_bytes.d.next = self.sum.val() - self.width_8.val();
                self.rest_ends.d.next = self.beat_ends.q.val() & (self.sum.val() != self.width_8.val());
            } else if self.beat_ends.q.val() {
                self.made_valid.d.next = true;
                self.rest.d.next = 0.into();
                self.rest_bytes.d.next = 0.into();
            } else {
                self.rest.d.next = self.joined.val();
                self.rest_bytes.d.next = self.sum.val();
            }
        }
        self.out_valid.next = self.made_valid.q.val();
        self.out_data.next = self.made.q.val();
        if self.reset.val() {
            self.come.d.next = 0.into();
            self.beat_valid.d.next = false;
            self.rest.d.next = 0.into();
            self.rest_bytes.d.next = 0.into();
            self.rest_ends.d.next = false;
            self.made_valid.d.next = false;
        }
    }
}
