//! retransmit_queue: the pool that remembers what every outstanding packet carried.
//! In: `seq` (alloc or lookup of a path row and PPSN), `ret` (free), `flush` (a connection is opened anew). Out: the entry two clocks after the request
//! was taken, `room` (an alloc will succeed). One request every two clocks, `seq` before `ret`.
//! Guarantees: an entry is returned as it was stored until it is freed: an alloc of PPSN n + W waits, without `room`, for the free of n, which
//! may come late (acknowledged is not yet retired). A chunk of 8 goes back when its last entry is freed.
use super::filled::filled;
use crate::config::{BuildConfig, PATH_ROWS_PER_CONN};
use mrnic_emit::comment;
use mrnic_widgets::{Fifo, Ram};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

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
    /// 0 of a message, 1 of a response, 2 ERROR_RESP.
    pub kind: Bits<2>,
}

/// The chunk of (path row, PPSN mod W / 8).
#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct ChunkRef {
    pub chunk: Bits<20>,
    /// Which of its entries are in use; none: there is no chunk.
    pub live: Bits<8>,
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
    pub seq_kind: Signal<In, Bits<2>>,
    /// Two clocks after a lookup was taken, for one clock.
    pub seq_rsp_valid: Signal<Out, Bit>,
    pub seq_rsp_qp: Signal<Out, Bits<16>>,
    pub seq_rsp_msn: Signal<Out, Bits<24>>,
    pub seq_rsp_index: Signal<Out, Bits<24>>,
    pub seq_rsp_bytes: Signal<Out, Bits<13>>,
    pub seq_rsp_first: Signal<Out, Bit>,
    pub seq_rsp_last: Signal<Out, Bit>,
    pub seq_rsp_kind: Signal<Out, Bits<2>>,
    pub ret_valid: Signal<In, Bit>,
    pub ret_ready: Signal<Out, Bit>,
    pub ret_row: Signal<In, Bits<24>>,
    pub ret_ppsn: Signal<In, Bits<24>>,
    /// Two clocks after a free was taken, for one clock.
    pub ret_rsp_valid: Signal<Out, Bit>,
    pub ret_rsp_qp: Signal<Out, Bits<16>>,
    pub ret_rsp_msn: Signal<Out, Bits<24>>,
    pub ret_rsp_bytes: Signal<Out, Bits<13>>,
    pub ret_rsp_kind: Signal<Out, Bits<2>>,
    /// Valid from the clock after the last alloc was taken.
    pub room: Signal<Out, Bit>,
    /// One clock: forget every packet of the connection.
    pub flush_valid: Signal<In, Bit>,
    pub flush_conn: Signal<In, Bits<16>>,
    pub flush_busy: Signal<Out, Bit>,
    pub init_done: Signal<Out, Bit>,
    map: Ram<ChunkRef>,
    entries: Ram<PacketEntry>,
    unused: Fifo<Bits<20>>,
    // clock 1 of a request: the chunk is looked up
    mapping: DFF<Bit>,
    op: DFF<QueueOp>,
    row: DFF<Bits<24>>,
    slot: DFF<Bits<3>>,
    entry: DFF<PacketEntry>,
    // clock 2: the entry is there
    finishing: DFF<Bit>,
    finish_op: DFF<QueueOp>,
    // an alloc that waits for a free; it tries again after each
    parked: DFF<Bit>,
    /// Less than three chunks were unused in the clock before.
    scarce: DFF<Bit>,
    try_again: DFF<Bit>,
    parked_row: DFF<Bits<24>>,
    parked_slot: DFF<Bits<3>>,
    parked_entry: DFF<PacketEntry>,
    flush_wait: DFF<Bit>,
    flush_on: DFF<Bit>,
    flush_look: DFF<Bit>,
    flush_row: DFF<Bits<24>>,
    accept: Signal<Local, Bit>,
    may: Signal<Local, Bit>,
    retry: Signal<Local, Bit>,
    accept_row: Signal<Local, Bits<24>>,
    accept_ppsn: Signal<Local, Bits<24>>,
    map_row: Signal<Local, Bits<24>>,
    known: Signal<Local, Bit>,
    bit: Signal<Local, Bits<8>>,
    in_use: Signal<Local, Bit>,
    left: Signal<Local, Bits<8>>,
    stores: Signal<Local, Bit>,
    chunk: Signal<Local, Bits<20>>,
    walk: DFF<Bits<24>>,
    ready: DFF<Bit>,
    last_row: Constant<Bits<24>>,
    chunks: Constant<Bits<24>>,
    conn_log2: Constant<Bits<4>>,
    /// Chunks of a path row: log2, and number - 1.
    row_log2: Constant<Bits<3>>,
    row_ring: Constant<Bits<5>>,
    /// Rows of a connection - 1.
    conn_ring: Constant<Bits<8>>,
}

impl RetransmitQueue {
    pub fn new(config: &BuildConfig) -> Self {
        let chunks_per_row = config.window_bits / PACKETS_PER_CHUNK;
        let rows_of_conn = PATH_ROWS_PER_CONN * chunks_per_row;
        let rows = config.conns * rows_of_conn;
        let chunks = (config.pool_packets / PACKETS_PER_CHUNK).clamp(1, rows.min(65_535));
        filled!(RetransmitQueue {
            map: Ram::new(rows),
            entries: Ram::new(chunks * PACKETS_PER_CHUNK),
            unused: Fifo::new(chunks),
            last_row: Constant::new((rows as u64 - 1).to_bits()),
            chunks: Constant::new((chunks as u64).to_bits()),
            conn_log2: Constant::new(u64::from(rows_of_conn.ilog2()).to_bits()),
            row_log2: Constant::new(u64::from(chunks_per_row.ilog2()).to_bits()),
            row_ring: Constant::new((chunks_per_row as u64 - 1).to_bits()),
            conn_ring: Constant::new((rows_of_conn as u64 - 1).to_bits());
            clock, reset, fault, seq_valid, seq_ready, seq_op, seq_row, seq_ppsn, seq_qp, seq_msn, seq_index, seq_bytes,
            seq_first, seq_last, seq_kind, seq_rsp_kind, ret_rsp_kind, seq_rsp_valid, seq_rsp_qp, seq_rsp_msn, seq_rsp_index, seq_rsp_bytes, seq_rsp_first,
            seq_rsp_last, ret_valid, ret_ready, ret_row, ret_ppsn, ret_rsp_valid, ret_rsp_qp, ret_rsp_msn,
            ret_rsp_bytes, room, flush_valid, flush_conn, flush_busy, init_done, mapping, op, row, slot, entry,
            finishing, finish_op, parked, scarce, try_again, parked_row, parked_slot, parked_entry, flush_wait, flush_on,
            flush_look, flush_row, accept, may, retry, accept_row, accept_ppsn, map_row, known, bit, in_use, left, stores,
            chunk, walk, ready,
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
            finishing,
            finish_op,
            parked,
            try_again,
            parked_row,
            parked_slot,
            parked_entry,
            flush_wait,
            flush_on,
            flush_look,
            flush_row,
            scarce,
            walk,
            ready
        );
        clock!(self, clock, map, entries, unused);
        self.unused.reset.next = self.reset.val();

        comment!("clock 0: take a request, read the chunk map");
        self.may.next = self.ready.q.val() & !self.mapping.q.val() & !self.flush_wait.q.val() & !self.flush_on.q.val();
        self.seq_ready.next = self.may.val() & !self.parked.q.val();
        self.retry.next = self.may.val() & self.parked.q.val() & self.try_again.q.val();
        self.ret_ready.next = self.seq_ready.val() & !self.seq_valid.val();
        if self.parked.q.val() {
            self.ret_ready.next = self.may.val() & !self.try_again.q.val();
        }
        self.accept.next =
            (self.seq_ready.val() & self.seq_valid.val()) | (self.ret_ready.val() & self.ret_valid.val()) | self.retry.val();
        self.accept_row.next = self.ret_row.val();
        self.accept_ppsn.next = self.ret_ppsn.val();
        if self.seq_ready.val() & self.seq_valid.val() {
            self.accept_row.next = self.seq_row.val();
            self.accept_ppsn.next = self.seq_ppsn.val();
        }
        self.map_row.next = (self.accept_row.val() << self.row_log2.val())
            | bit_cast::<24, 5>(self.accept_ppsn.val().get_bits::<5>(3) & self.row_ring.val());
        if self.retry.val() {
            self.map_row.next = self.parked_row.q.val();
        }
        self.map.read_address.next = self.map_row.val();
        self.mapping.d.next = self.accept.val();
        self.row.d.next = self.map_row.val();
        self.slot.d.next = self.accept_ppsn.val().get_bits::<3>(0);
        self.op.d.next = QueueOp::Free;
        if self.seq_ready.val() & self.seq_valid.val() {
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
        self.entry.d.next.kind = self.seq_kind.val();
        if self.retry.val() {
            self.op.d.next = QueueOp::Alloc;
            self.slot.d.next = self.parked_slot.q.val();
            self.entry.d.next = self.parked_entry.q.val();
            self.try_again.d.next = false;
        } else if self.parked.q.val() & self.accept.val() {
            self.try_again.d.next = true;
        }

        comment!(
            "clock 1: the chunk; an alloc takes a new one if there is none and stores its entry; the last free returns it"
        );
        self.bit.next = bits::<8>(1) << self.slot.q.val();
        self.known.next = self.map.read_data.val().live.any();
        self.in_use.next = (self.map.read_data.val().live & self.bit.val()).any();
        self.left.next = self.map.read_data.val().live & !self.bit.val();
        self.chunk.next = self.map.read_data.val().chunk;
        self.map.write_enable.next = false;
        self.map.write_address.next = self.row.q.val();
        self.map.write_data.next.chunk = self.map.read_data.val().chunk;
        self.map.write_data.next.live = self.left.val();
        self.unused.read.next = false;
        self.unused.write.next = false;
        self.unused.data_in.next = self.map.read_data.val().chunk;
        self.stores.next = false;
        self.finishing.d.next = self.mapping.q.val();
        self.finish_op.d.next = self.op.q.val();
        if self.mapping.q.val() & (self.op.q.val() == QueueOp::Alloc) {
            self.parked.d.next = self.in_use.val();
            if self.in_use.val() {
                self.parked_row.d.next = self.row.q.val();
                self.parked_slot.d.next = self.slot.q.val();
                self.parked_entry.d.next = self.entry.q.val();
            } else if self.known.val() | !self.unused.empty.val() {
                self.stores.next = true;
                self.map.write_enable.next = true;
                self.map.write_data.next.live = self.map.read_data.val().live | self.bit.val();
                if !self.known.val() {
                    self.chunk.next = self.unused.data_out.val();
                    self.unused.read.next = true;
                    self.map.write_data.next.chunk = self.unused.data_out.val();
                }
            }
        }
        if self.mapping.q.val() & (self.op.q.val() == QueueOp::Free) & self.in_use.val() {
            self.map.write_enable.next = true;
            self.unused.write.next = !self.left.val().any();
        }
        self.entries.read_address.next = (bit_cast::<24, 20>(self.chunk.val()) << 3) | bit_cast::<24, 3>(self.slot.q.val());
        self.entries.write_enable.next = self.stores.val();
        self.entries.write_address.next = (bit_cast::<24, 20>(self.chunk.val()) << 3) | bit_cast::<24, 3>(self.slot.q.val());
        self.entries.write_data.next = self.entry.q.val();

        comment!("clock 2: the answer");
        self.seq_rsp_valid.next = self.finishing.q.val() & (self.finish_op.q.val() == QueueOp::Lookup);
        self.seq_rsp_qp.next = self.entries.read_data.val().qp;
        self.seq_rsp_msn.next = self.entries.read_data.val().msn;
        self.seq_rsp_index.next = self.entries.read_data.val().index;
        self.seq_rsp_bytes.next = self.entries.read_data.val().bytes;
        self.seq_rsp_first.next = self.entries.read_data.val().first;
        self.seq_rsp_last.next = self.entries.read_data.val().last;
        self.seq_rsp_kind.next = self.entries.read_data.val().kind;
        if self.fault.val() == 12 {
            self.seq_rsp_index.next = 0.into();
        }
        self.ret_rsp_valid.next = self.finishing.q.val() & (self.finish_op.q.val() == QueueOp::Free);
        self.ret_rsp_qp.next = self.entries.read_data.val().qp;
        self.ret_rsp_msn.next = self.entries.read_data.val().msn;
        self.ret_rsp_bytes.next = self.entries.read_data.val().bytes;
        self.ret_rsp_kind.next = self.entries.read_data.val().kind;
        // an alloc may take a chunk in this clock: the last one if two were left in the clock before
        self.scarce.d.next = self.unused.count.val() < 3;
        self.room.next = !self.unused.empty.val() & !self.parked.q.val();
        if self.mapping.q.val() & (self.op.q.val() == QueueOp::Alloc) & self.scarce.q.val() {
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
            // an alloc that still waits for a free is of the connection's life before
            if (self.parked_row.q.val() >> self.conn_log2.val()) == (self.flush_row.q.val() >> self.conn_log2.val()) {
                self.parked.d.next = false;
                self.try_again.d.next = false;
            }
        }
        if self.flush_on.q.val() {
            self.map.read_address.next = self.flush_row.q.val();
            self.flush_look.d.next = !self.flush_look.q.val();
            if self.flush_look.q.val() {
                self.flush_row.d.next = self.flush_row.q.val() + 1;
                if (self.flush_row.q.val().get_bits::<8>(0) & self.conn_ring.val()) == self.conn_ring.val() {
                    self.flush_on.d.next = false;
                }
                self.map.write_enable.next = self.map.read_data.val().live.any();
                self.map.write_address.next = self.flush_row.q.val();
                self.map.write_data.next.live = 0.into();
                self.unused.write.next = self.map.read_data.val().live.any();
                self.unused.data_in.next = self.map.read_data.val().chunk;
            }
        }

        comment!("after reset the map is cleared and all chunks are unused");
        if !self.ready.q.val() {
            self.map.write_enable.next = true;
            self.map.write_address.next = self.walk.q.val();
            self.map.write_data.next.live = 0.into();
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
            self.parked.d.next = false;
            self.try_again.d.next = false;
            self.flush_wait.d.next = false;
            self.flush_on.d.next = false;
            self.walk.d.next = 0.into();
            self.ready.d.next = false;
        }
    }
}
