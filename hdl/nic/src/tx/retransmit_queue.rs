//! retransmit_queue: the pool that remembers what every outstanding packet carried.
//! In: `seq` (alloc or lookup of a path row and PPSN), `ret` (free), `flush` (a connection is opened anew). Out: the entry two clocks after the request
//! was taken, `room` (an alloc will succeed). One request every two clocks, `seq` before `ret`.
//! Guarantees: an entry is returned as it was stored until it is freed; a chunk of 8 goes back when its last entry is freed.
use super::filled::filled;
use crate::config::{BuildConfig, PATH_ROWS_PER_CONN};
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// Chunks of a path row: PPSN[7:3].
const CHUNKS_PER_ROW: usize = 32;
const PACKETS_PER_CHUNK: usize = 8;

/// What a packet carried.
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct PacketEntry {
    pub qp: Bits<16>,
    pub msn: Bits<24>,
    pub index: Bits<24>,
    pub bytes: Bits<13>,
    pub first: Bit,
    pub last: Bit,
}

/// The chunk of (path row, PPSN[7:3]).
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ChunkRef {
    pub chunk: Bits<20>,
    pub valid: Bit,
}

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum QueueOp {
    Alloc,
    Lookup,
    Free,
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct RetransmitQueue {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    /// Fault 12: a lookup loses the packet's index.
    pub fault: Signal<In, Bits<5>>,
    pub seq_valid: Signal<In, Bit>,
    pub seq_ready: Signal<Out, Bit>,
    /// 0 alloc, 1 lookup
    pub seq_op: Signal<In, Bit>,
    /// conn * 8 + path
    pub seq_row: Signal<In, Bits<24>>,
    pub seq_ppsn: Signal<In, Bits<24>>,
    pub seq_qp: Signal<In, Bits<16>>,
    pub seq_msn: Signal<In, Bits<24>>,
    pub seq_index: Signal<In, Bits<24>>,
    pub seq_bytes: Signal<In, Bits<13>>,
    pub seq_first: Signal<In, Bit>,
    pub seq_last: Signal<In, Bit>,
    /// Two clocks after a lookup was taken, for one clock.
    pub seq_rsp_valid: Signal<Out, Bit>,
    pub seq_rsp_qp: Signal<Out, Bits<16>>,
    pub seq_rsp_msn: Signal<Out, Bits<24>>,
    pub seq_rsp_index: Signal<Out, Bits<24>>,
    pub seq_rsp_bytes: Signal<Out, Bits<13>>,
    pub seq_rsp_first: Signal<Out, Bit>,
    pub seq_rsp_last: Signal<Out, Bit>,
    pub ret_valid: Signal<In, Bit>,
    pub ret_ready: Signal<Out, Bit>,
    pub ret_row: Signal<In, Bits<24>>,
    pub ret_ppsn: Signal<In, Bits<24>>,
    /// Two clocks after a free was taken, for one clock.
    pub ret_rsp_valid: Signal<Out, Bit>,
    pub ret_rsp_qp: Signal<Out, Bits<16>>,
    pub ret_rsp_msn: Signal<Out, Bits<24>>,
    pub ret_rsp_bytes: Signal<Out, Bits<13>>,
    /// Valid from the clock after the last alloc was taken.
    pub room: Signal<Out, Bit>,
    /// One clock: forget every packet of the connection.
    pub flush_valid: Signal<In, Bit>,
    pub flush_conn: Signal<In, Bits<16>>,
    pub flush_busy: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    map: Ram<ChunkRef>,
    live: Ram<Bits<4>>,
    entries: Ram<PacketEntry>,
    unused: Fifo<Bits<20>>,
    // clock 1 of a request: the chunk is looked up
    mapping: DFF<Bit>,
    op: DFF<QueueOp>,
    row: DFF<Bits<24>>,
    slot: DFF<Bits<3>>,
    entry: DFF<PacketEntry>,
    gone: DFF<Bit>,
    // clock 2: entry and live count are there
    finishing: DFF<Bit>,
    finish_op: DFF<QueueOp>,
    finish_row: DFF<Bits<24>>,
    finish_chunk: DFF<Bits<20>>,
    finish_valid: DFF<Bit>,
    finish_new: DFF<Bit>,
    flush_wait: DFF<Bit>,
    flush_on: DFF<Bit>,
    flush_look: DFF<Bit>,
    flush_row: DFF<Bits<24>>,
    accept: Signal<Local, Bit>,
    accept_row: Signal<Local, Bits<24>>,
    accept_ppsn: Signal<Local, Bits<24>>,
    map_row: Signal<Local, Bits<24>>,
    known: Signal<Local, Bit>,
    chunk: Signal<Local, Bits<20>>,
    last_left: Signal<Local, Bit>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    last_row: Constant<Bits<24>>,
    chunks: Constant<Bits<24>>,
    conn_log2: Constant<Bits<4>>,
}

impl RetransmitQueue {
    pub fn new(config: &BuildConfig) -> Self {
        let rows = config.path_rows() * CHUNKS_PER_ROW;
        let chunks = (config.pool_packets / PACKETS_PER_CHUNK).clamp(1, rows.min(65_535));
        filled!(RetransmitQueue {
            map: Ram::new(rows),
            live: Ram::new(chunks),
            entries: Ram::new(chunks * PACKETS_PER_CHUNK),
            unused: Fifo::new(chunks),
            last_row: Constant::new((rows as u64 - 1).to_bits()),
            chunks: Constant::new((chunks as u64).to_bits()),
            conn_log2: Constant::new(u64::from((PATH_ROWS_PER_CONN * CHUNKS_PER_ROW).ilog2()).to_bits());
            clock, reset, fault, seq_valid, seq_ready, seq_op, seq_row, seq_ppsn, seq_qp, seq_msn, seq_index, seq_bytes,
            seq_first, seq_last, seq_rsp_valid, seq_rsp_qp, seq_rsp_msn, seq_rsp_index, seq_rsp_bytes, seq_rsp_first,
            seq_rsp_last, ret_valid, ret_ready, ret_row, ret_ppsn, ret_rsp_valid, ret_rsp_qp, ret_rsp_msn,
            ret_rsp_bytes, room, flush_valid, flush_conn, flush_busy, init_done, mapping, op, row, slot, entry, gone,
            finishing, finish_op, finish_row, finish_chunk, finish_valid, finish_new, flush_wait, flush_on, flush_look,
            flush_row, accept, accept_row, accept_ppsn, map_row, known, chunk, last_left, walk, ready,
        })
    }
}

impl Logic for RetransmitQueue {
    #[hdl_gen]
    fn update(&mut self) {
        comment!("module retransmit_queue: what every outstanding packet carried, in chunks of 8");
        dff_setup!(
            self,
            clock,
            mapping,
            op,
            row,
            slot,
            entry,
            gone,
            finishing,
            finish_op,
            finish_row,
            finish_chunk,
            finish_valid,
            finish_new,
            flush_wait,
            flush_on,
            flush_look,
            flush_row,
            walk,
            ready
        );
        clock!(self, clock, map, live, entries, unused);
        self.unused.reset.next = self.reset.val();

        comment!("clock 0: take a request, read the chunk map");
        self.seq_ready.next = self.ready.q.val() & !self.mapping.q.val() & !self.flush_wait.q.val() & !self.flush_on.q.val();
        self.ret_ready.next = self.seq_ready.val() & !self.seq_valid.val();
        self.accept.next = self.seq_ready.val() & (self.seq_valid.val() | self.ret_valid.val());
        self.accept_row.next = self.ret_row.val();
        self.accept_ppsn.next = self.ret_ppsn.val();
        if self.seq_valid.val() {
            self.accept_row.next = self.seq_row.val();
            self.accept_ppsn.next = self.seq_ppsn.val();
        }
        self.map_row.next = (self.accept_row.val() << 5) | bit_cast::<24, 5>(self.accept_ppsn.val().get_bits::<5>(3));
        self.map.read_address.next = self.map_row.val();
        self.mapping.d.next = self.accept.val();
        self.row.d.next = self.map_row.val();
        self.slot.d.next = self.accept_ppsn.val().get_bits::<3>(0);
        self.op.d.next = QueueOp::Free;
        if self.seq_valid.val() {
            if self.seq_op.val() {
                self.op.d.next = QueueOp::Lookup;
            } else {
                self.op.d.next = QueueOp::Alloc;
            }
        }
        self.entry.d.next.qp = self.seq_qp.val();
        self.entry.d.next.msn = self.seq_msn.val();
        self.entry.d.next.index = self.seq_index.val();
        self.entry.d.next.bytes = self.seq_bytes.val();
        self.entry.d.next.first = self.seq_first.val();
        self.entry.d.next.last = self.seq_last.val();

        comment!("clock 1: the chunk; an alloc takes a new one if there is none and stores its entry");
        self.known.next = self.map.read_data.val().valid & !self.gone.q.val();
        self.chunk.next = self.map.read_data.val().chunk;
        self.map.write_enable.next = false;
        self.map.write_address.next = self.row.q.val();
        self.map.write_data.next.chunk = self.unused.data_out.val();
        self.map.write_data.next.valid = true;
        self.unused.read.next = false;
        self.finishing.d.next = self.mapping.q.val();
        self.finish_op.d.next = self.op.q.val();
        self.finish_row.d.next = self.row.q.val();
        self.finish_valid.d.next = self.known.val();
        self.finish_new.d.next = false;
        if self.mapping.q.val() & (self.op.q.val() == QueueOp::Alloc) & !self.known.val() & !self.unused.empty.val() {
            self.chunk.next = self.unused.data_out.val();
            self.unused.read.next = true;
            self.map.write_enable.next = true;
            self.finish_valid.d.next = true;
            self.finish_new.d.next = true;
        }
        self.finish_chunk.d.next = self.chunk.val();
        self.live.read_address.next = bit_cast::<24, 20>(self.chunk.val());
        self.entries.read_address.next = (bit_cast::<24, 20>(self.chunk.val()) << 3) | bit_cast::<24, 3>(self.slot.q.val());
        self.entries.write_enable.next =
            self.mapping.q.val() & (self.op.q.val() == QueueOp::Alloc) & (self.known.val() | !self.unused.empty.val());
        self.entries.write_address.next = (bit_cast::<24, 20>(self.chunk.val()) << 3) | bit_cast::<24, 3>(self.slot.q.val());
        self.entries.write_data.next = self.entry.q.val();

        comment!("clock 2: the answer; live count; the last free returns the chunk");
        self.live.write_enable.next =
            self.finishing.q.val() & self.finish_valid.q.val() & (self.finish_op.q.val() != QueueOp::Lookup);
        self.live.write_address.next = bit_cast::<24, 20>(self.finish_chunk.q.val());
        self.live.write_data.next = self.live.read_data.val() + 1;
        if self.finish_op.q.val() == QueueOp::Free {
            self.live.write_data.next = self.live.read_data.val() - 1;
        } else if self.finish_new.q.val() {
            self.live.write_data.next = 1.into();
        }
        self.last_left.next = self.finishing.q.val()
            & self.finish_valid.q.val()
            & (self.finish_op.q.val() == QueueOp::Free)
            & (self.live.read_data.val() == 1);
        self.unused.write.next = self.last_left.val();
        self.unused.data_in.next = self.finish_chunk.q.val();
        self.gone.d.next = false;
        if self.last_left.val() {
            self.map.write_enable.next = true;
            self.map.write_address.next = self.finish_row.q.val();
            self.map.write_data.next.valid = false;
            // the request taken in this clock reads the map before this write
            self.gone.d.next = self.map_row.val() == self.finish_row.q.val();
        }
        self.seq_rsp_valid.next = self.finishing.q.val() & (self.finish_op.q.val() == QueueOp::Lookup);
        self.seq_rsp_qp.next = self.entries.read_data.val().qp;
        self.seq_rsp_msn.next = self.entries.read_data.val().msn;
        self.seq_rsp_index.next = self.entries.read_data.val().index;
        self.seq_rsp_bytes.next = self.entries.read_data.val().bytes;
        self.seq_rsp_first.next = self.entries.read_data.val().first;
        self.seq_rsp_last.next = self.entries.read_data.val().last;
        if self.fault.val() == 12 {
            self.seq_rsp_index.next = 0.into();
        }
        self.ret_rsp_valid.next = self.finishing.q.val() & (self.finish_op.q.val() == QueueOp::Free);
        self.ret_rsp_qp.next = self.entries.read_data.val().qp;
        self.ret_rsp_msn.next = self.entries.read_data.val().msn;
        self.ret_rsp_bytes.next = self.entries.read_data.val().bytes;
        self.room.next = !self.unused.empty.val();
        if self.mapping.q.val() & (self.op.q.val() == QueueOp::Alloc) & (self.unused.count.val() == 1) {
            self.room.next = false;
        }

        comment!("flush: every chunk of a connection goes back, two clocks each");
        self.flush_busy.next = self.flush_wait.q.val() | self.flush_on.q.val();
        if self.flush_valid.val() {
            self.flush_wait.d.next = true;
            self.flush_row.d.next = bit_cast::<24, 16>(self.flush_conn.val()) << self.conn_log2.val();
        }
        if self.flush_wait.q.val() & !self.mapping.q.val() & !self.finishing.q.val() {
            self.flush_wait.d.next = false;
            self.flush_on.d.next = true;
            self.flush_look.d.next = false;
        }
        if self.flush_on.q.val() {
            self.map.read_address.next = self.flush_row.q.val();
            self.flush_look.d.next = !self.flush_look.q.val();
            if self.flush_look.q.val() {
                self.flush_row.d.next = self.flush_row.q.val() + 1;
                if self.flush_row.q.val().get_bits::<8>(0) == 255 {
                    self.flush_on.d.next = false;
                }
                self.map.write_enable.next = self.map.read_data.val().valid;
                self.map.write_address.next = self.flush_row.q.val();
                self.map.write_data.next.valid = false;
                self.unused.write.next = self.map.read_data.val().valid;
                self.unused.data_in.next = self.map.read_data.val().chunk;
            }
        }

        comment!("after reset the map is cleared and all chunks are unused");
        if !self.ready.q.val() {
            self.map.write_enable.next = true;
            self.map.write_address.next = self.walk.q.val();
            self.map.write_data.next.valid = false;
            self.unused.write.next = self.walk.q.val() < self.chunks.val();
            self.unused.data_in.next = self.walk.q.val().get_bits::<20>(0);
            self.walk.d.next = self.walk.q.val() + 1;
            if self.walk.q.val() == self.last_row.val() {
                self.ready.d.next = true;
            }
        }
        self.init_done.next = self.ready.q.val();
        if self.reset.val() {
            self.mapping.d.next = false;
            self.finishing.d.next = false;
            self.gone.d.next = false;
            self.flush_wait.d.next = false;
            self.flush_on.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
