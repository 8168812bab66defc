//! Table memory: one read port, one write port, one clock, exactly `depth` rows.
//! A read takes one clock; reading the row written in the same clock gives its old content.
//! No reset: the owner clears its rows with a walker. An address must stay below the depth; a memory without rows reads as 0.
use rust_hdl_core::prelude::*;

/// Which kind of memory the tools shall take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum RamStyle {
    /// Left to the tool, unless the table is deep enough to fill the rows of an UltraRAM: then that.
    #[default]
    Auto,
    Distributed,
    Block,
    /// UltraRAM, for tables of 100 kbit and more.
    Ultra,
}

/// An UltraRAM has 4,096 rows of 72 bits; a table of as many rows and at least half of that width would take 8 block RAMs.
const ULTRA_ROWS: usize = 4096;
const ULTRA_BITS: usize = 36;

impl RamStyle {
    fn attribute(self, rows: usize, bits: usize) -> &'static str {
        match self {
            RamStyle::Auto if rows >= ULTRA_ROWS && bits >= ULTRA_BITS => RamStyle::Ultra.attribute(rows, bits),
            RamStyle::Auto => "",
            RamStyle::Distributed => "(* ram_style = \"distributed\" *) ",
            RamStyle::Block => "(* ram_style = \"block\" *) ",
            RamStyle::Ultra => "(* ram_style = \"ultra\" *) ",
        }
    }
}

/// See the module documentation.
#[derive(LogicBlock)]
pub struct Ram<T: Synth> {
    pub clock: Signal<In, Clock>,
    pub read_address: Signal<In, Bits<24>>,
    pub read_data: Signal<Out, T>,
    pub write_enable: Signal<In, Bit>,
    pub write_address: Signal<In, Bits<24>>,
    pub write_data: Signal<In, T>,
    _rows: Vec<T>,
    _style: RamStyle,
}

impl<T: Synth> Ram<T> {
    /// Addresses reach 2^24 rows at most.
    pub fn new(depth: usize) -> Self {
        Self {
            clock: Default::default(),
            read_address: Default::default(),
            read_data: Default::default(),
            write_enable: Default::default(),
            write_address: Default::default(),
            write_data: Default::default(),
            _rows: vec![T::default(); depth.min(1 << 24)],
            _style: RamStyle::Auto,
        }
    }

    pub fn with_style(mut self, style: RamStyle) -> Self {
        self._style = style;
        self
    }

    pub fn depth(&self) -> usize {
        self._rows.len()
    }

    fn row(&self, address: Bits<24>) -> usize {
        address.index() & ((1 << address_bits(self.depth())) - 1)
    }
}

/// Bits of an address of `depth` rows, at least one.
pub(crate) fn address_bits(depth: usize) -> usize {
    (depth.max(2) - 1).ilog2() as usize + 1
}

impl<T: Synth> Logic for Ram<T> {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            let row = self.row(self.read_address.val());
            self.read_data.next = self._rows.get(row).copied().unwrap_or_default();
            if self.write_enable.val() {
                let row = self.row(self.write_address.val());
                if let Some(row) = self._rows.get_mut(row) {
                    *row = self.write_data.val();
                }
            }
        }
    }

    fn connect(&mut self) {
        self.read_data.connect();
    }

    fn hdl(&self) -> Verilog {
        let depth = self.depth();
        if depth == 0 {
            return Verilog::Custom(format!(
                "\
// module ram_0x{width}: a table that this build does not need
wire unused_ports = &{{1'b0, clock, read_address, write_enable, write_address, write_data}};
assign read_data = {width}'d0;
",
                width = T::BITS,
            ));
        }
        let address = address_bits(depth) - 1;
        let unused = match address {
            23 => String::new(),
            _ => format!("wire unused_address = &{{1'b0, read_address[23:{0}], write_address[23:{0}]}};\n", address + 1),
        };
        // A memory of one row still has a one-bit address, of which only zero is used.
        Verilog::Custom(format!(
            "\
// module ram_{depth}x{width}: {depth} rows of {width} bits, synchronous read, old data on a collision
{style}reg [{top}:0] mem [0:{last}];
{unused}always @(posedge clock) begin
    read_data <= mem[read_address[{address}:0]];
    if (write_enable) mem[write_address[{address}:0]] <= write_data;
end
",
            width = T::BITS,
            style = self._style.attribute(depth, T::BITS),
            top = T::BITS - 1,
            last = depth - 1,
        ))
    }
}
