//! First-word fall-through FIFO of exactly `depth` entries (any depth from 1 to 65535), one clock.
//! In: `write` with `data_in` (ignored while `full`), `read` (ignored while `empty`). Out: the oldest entry on `data_out`
//! one clock after it was written at the earliest, stable until it is read; all outputs come from registers or a RAM read.
use crate::ram::address_bits;
use rust_hdl_core::prelude::*;

/// Memories up to this depth are read asynchronously (LUT RAM), deeper ones through a prefetch register (block RAM).
const DISTRIBUTED_DEPTH: usize = 64;

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Fifo<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub write: Signal<In, Bit>,
    pub data_in: Signal<In, T>,
    pub full: Signal<Out, Bit>,
    pub read: Signal<In, Bit>,
    pub data_out: Signal<Out, T>,
    pub empty: Signal<Out, Bit>,
    pub count: Signal<Out, Bits<16>>,
    _rows: Vec<T>,
    _read_at: usize,
    _write_at: usize,
    _held: usize,
}

impl<T: Synth> Fifo<T> {
    /// Depths outside 1..=65535 are brought into that range.
    pub fn new(depth: usize) -> Self {
        Self {
            clock: Default::default(),
            reset: Default::default(),
            write: Default::default(),
            data_in: Default::default(),
            full: Default::default(),
            read: Default::default(),
            data_out: Default::default(),
            empty: Default::default(),
            count: Default::default(),
            _rows: vec![T::default(); depth.clamp(1, 65535)],
            _read_at: 0,
            _write_at: 0,
            _held: 0,
        }
    }

    pub fn depth(&self) -> usize {
        self._rows.len()
    }

    fn step(&mut self) {
        let depth = self.depth();
        let write = self.write.val() && self._held < depth;
        let read = self.read.val() && self._held > 0;
        if write {
            self._rows[self._write_at] = self.data_in.val();
            self._write_at = (self._write_at + 1) % depth;
        }
        if read {
            self._read_at = (self._read_at + 1) % depth;
        }
        self._held = self._held + usize::from(write) - usize::from(read);
        if self.reset.val() {
            (self._read_at, self._write_at, self._held) = (0, 0, 0);
        }
    }
}

impl<T: Synth> Logic for Fifo<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.step();
        }
        self.data_out.next = self._rows[self._read_at];
        self.full.next = self._held == self.depth();
        self.empty.next = self._held == 0;
        self.count.next = (self._held as u64).into();
    }

    fn connect(&mut self) {
        self.full.connect();
        self.data_out.connect();
        self.empty.connect();
        self.count.connect();
    }

    fn hdl(&self) -> Verilog {
        let depth = self.depth();
        let width = T::BITS;
        let head = format!("// module fifo_{depth}x{width}: first-word fall-through, {depth} entries of {width} bits\n");
        Verilog::Custom(head + &if depth == 1 { single(width) } else { ring(depth, width) })
    }
}

/// One entry: a register and a flag.
fn single(width: usize) -> String {
    format!(
        "\
reg [{top}:0] entry;
reg held;
initial begin
    entry = {width}'d0;
    held = 1'b0;
end
assign data_out = entry;
assign full = held;
assign empty = !held;
assign count = {{15'd0, held}};
always @(posedge clock) begin
    if (write && !held) entry <= data_in;
    if (write && !held) held <= 1'b1;
    else if (read) held <= 1'b0;
    if (reset) held <= 1'b0;
end
",
        top = width - 1
    )
}

fn ring(depth: usize, width: usize) -> String {
    let bits = address_bits(depth);
    let (top, last) = (width - 1, depth - 1);
    let memory = if depth <= DISTRIBUTED_DEPTH {
        "\
assign data_out = mem[read_at];
always @(posedge clock) begin
    if (do_write) mem[write_at] <= data_in;
end
"
        .to_string()
    } else {
        // The next word is fetched ahead; a word written to the row being fetched goes around the memory.
        format!(
            "\
reg [{top}:0] fetched;
reg [{top}:0] passed;
reg pass;
initial pass = 1'b0;
assign data_out = pass ? passed : fetched;
always @(posedge clock) begin
    if (do_write) mem[write_at] <= data_in;
    fetched <= mem[read_next];
    passed <= data_in;
    pass <= do_write && write_at == read_next;
end
"
        )
    };
    let style = if depth <= DISTRIBUTED_DEPTH { "distributed" } else { "block" };
    format!(
        "\
(* ram_style = \"{style}\" *) reg [{top}:0] mem [0:{last}];
reg [{at}:0] write_at;
reg [{at}:0] read_at;
reg [15:0] held;
reg is_full;
reg is_empty;
initial begin
    write_at = {bits}'d0;
    read_at = {bits}'d0;
    held = 16'd0;
    is_full = 1'b0;
    is_empty = 1'b1;
end
wire do_write = write && !is_full;
wire do_read = read && !is_empty;
wire [{at}:0] read_next = reset ? {bits}'d0 : !do_read ? read_at : read_at == {bits}'d{last} ? {bits}'d0 : read_at + {bits}'d1;
assign full = is_full;
assign empty = is_empty;
assign count = held;
{memory}always @(posedge clock) begin
    if (do_write) write_at <= write_at == {bits}'d{last} ? {bits}'d0 : write_at + {bits}'d1;
    read_at <= read_next;
    if (do_write && !do_read) begin
        held <= held + 16'd1;
        is_empty <= 1'b0;
        is_full <= held == 16'd{last};
    end
    if (do_read && !do_write) begin
        held <= held - 16'd1;
        is_full <= 1'b0;
        is_empty <= held == 16'd1;
    end
    if (reset) begin
        write_at <= {bits}'d0;
        held <= 16'd0;
        is_full <= 1'b0;
        is_empty <= 1'b1;
    end
end
",
        at = bits - 1,
    )
}
