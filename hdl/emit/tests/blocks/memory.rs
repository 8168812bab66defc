//! Memories of rust_hdl_widgets, a block with its own Verilog body and a wrapped external core.
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::edge_ff::EdgeDFF;
use rust_hdl_widgets::prelude::*;

use super::structs::Psn;

/// Table in RAM: read, and write back with bypass left out (the test shows the old value on a collision).
#[derive(LogicBlock, Default)]
pub struct Table {
    pub clock: Signal<In, Clock>,
    pub read_at: Signal<In, Bits<4>>,
    pub write_at: Signal<In, Bits<4>>,
    pub write: Signal<In, Bit>,
    pub value: Signal<In, Psn>,
    pub out: Signal<Out, Psn>,
    pub next_value: Signal<Out, Bits<24>>,
    ram: RAM<Psn, 4>,
}

impl Logic for Table {
    #[hdl_gen]
    fn update(&mut self) {
        self.ram.read_clock.next = self.clock.val();
        self.ram.write_clock.next = self.clock.val();
        self.ram.read_address.next = self.read_at.val();
        self.ram.write_address.next = self.write_at.val();
        self.ram.write_enable.next = self.write.val();
        self.ram.write_data.next = self.value.val();
        self.out.next = self.ram.read_data.val();
        self.next_value.next = self.ram.read_data.val().value + 1;
    }
}

/// Two tables in read-only memory, one asynchronous, one with a clock.
#[derive(LogicBlock)]
pub struct Lookup {
    pub clock: Signal<In, Clock>,
    pub at: Signal<In, Bits<3>>,
    pub now: Signal<Out, Bits<8>>,
    pub later: Signal<Out, Bits<8>>,
    now_rom: ROM<Bits<8>, 3>,
    later_rom: SyncROM<Bits<8>, 3>,
}

impl Default for Lookup {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            at: Default::default(),
            now: Default::default(),
            later: Default::default(),
            now_rom: (0..8u64).map(|i| (i * i).to_bits()).into(),
            later_rom: (0..8u64).map(|i| (255 - i * 3).to_bits()).into(),
        }
    }
}

impl Logic for Lookup {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, later_rom);
        self.now_rom.address.next = self.at.val();
        self.later_rom.address.next = self.at.val();
        self.now.next = self.now_rom.data.val();
        self.later.next = self.later_rom.data.val();
    }
}

/// A block that brings its own Verilog body: one output from a clocked process (declared `output reg`), one from a
/// continuous assignment (declared `output wire`), one `Constant` seen as a localparam.
#[derive(LogicBlock)]
pub struct Delay {
    pub clock: Signal<In, Clock>,
    pub x: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    pub y_plus: Signal<Out, Bits<8>>,
    step: Constant<Bits<8>>,
}

impl Delay {
    pub fn new(step: u64) -> Self {
        Self {
            clock: Default::default(),
            x: Default::default(),
            y: Default::default(),
            y_plus: Default::default(),
            step: Constant::new(step.to_bits()),
        }
    }
}

impl Logic for Delay {
    fn update(&mut self) {
        if self.clock.pos_edge() {
            self.y.next = self.x.val();
        }
        self.y_plus.next = self.y.val() + self.step.val();
    }
    fn connect(&mut self) {
        self.y.connect();
        self.y_plus.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(
            "// module delay: one clock late\n\
             initial y = 8'd0;\n\
             always @(posedge clock) y <= x;\n\
             assign y_plus = y + step;"
                .into(),
        )
    }
}

/// An external core with other port names.
#[derive(LogicBlock, Default)]
pub struct Popcount {
    pub x: Signal<In, Bits<16>>,
    pub n: Signal<Out, Bits<5>>,
}

impl Logic for Popcount {
    fn update(&mut self) {
        let ones = (0..16).filter(|&i| self.x.val().get_bit(i)).count();
        self.n.next = (ones as u64).into();
    }
    fn connect(&mut self) {
        self.n.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Wrapper(Wrapper {
            code: "popcount16 core (.din(x), .count(n));".into(),
            cores: "module popcount16 (input wire [15:0] din, output reg [4:0] count);\n\
                    integer i;\n\
                    always @* begin\n\
                        count = 5'd0;\n\
                        for (i = 0; i < 16; i = i + 1) count = count + {4'd0, din[i]};\n\
                    end\n\
                    endmodule\n"
                .into(),
        })
    }
}

/// Uses both, the core twice.
#[derive(LogicBlock)]
pub struct External {
    pub clock: Signal<In, Clock>,
    pub x: Signal<In, Bits<8>>,
    pub z: Signal<In, Bits<16>>,
    pub y: Signal<Out, Bits<8>>,
    pub n: Signal<Out, Bits<5>>,
    pub m: Signal<Out, Bits<5>>,
    delay: Delay,
    first: Popcount,
    second: Popcount,
}

impl Default for External {
    fn default() -> Self {
        Self {
            clock: Default::default(),
            x: Default::default(),
            z: Default::default(),
            y: Default::default(),
            n: Default::default(),
            m: Default::default(),
            delay: Delay::new(5),
            first: Default::default(),
            second: Default::default(),
        }
    }
}

impl Logic for External {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, delay);
        self.delay.x.next = self.x.val();
        self.y.next = self.delay.y.val() ^ self.delay.y_plus.val();
        self.first.x.next = self.z.val();
        self.second.x.next = !self.z.val();
        self.n.next = self.first.n.val();
        self.m.next = self.second.n.val();
    }
}

/// Register with a power-up value of its own.
#[derive(LogicBlock)]
pub struct EdgeHold {
    pub clock: Signal<In, Clock>,
    pub x: Signal<In, Bits<8>>,
    pub y: Signal<Out, Bits<8>>,
    r: EdgeDFF<Bits<8>>,
}

impl Default for EdgeHold {
    fn default() -> Self {
        Self { clock: Default::default(), x: Default::default(), y: Default::default(), r: EdgeDFF::new(0xa5.into()) }
    }
}

impl Logic for EdgeHold {
    #[hdl_gen]
    fn update(&mut self) {
        self.r.clk.next = self.clock.val();
        self.r.d.next = self.x.val();
        self.y.next = self.r.q.val();
    }
}

/// The FIFO of rust_hdl_widgets: clocks pass through outputs of sub-modules.
#[derive(LogicBlock, Default)]
pub struct Queue {
    pub clock: Signal<In, Clock>,
    pub write: Signal<In, Bit>,
    pub read: Signal<In, Bit>,
    pub data: Signal<In, Bits<8>>,
    pub out: Signal<Out, Bits<8>>,
    pub empty: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    fifo: SynchronousFIFO<Bits<8>, 3, 4, 1>,
}

impl Logic for Queue {
    #[hdl_gen]
    fn update(&mut self) {
        clock!(self, clock, fifo);
        self.fifo.write.next = self.write.val();
        self.fifo.read.next = self.read.val();
        self.fifo.data_in.next = self.data.val();
        self.out.next = self.fifo.data_out.val();
        self.empty.next = self.fifo.empty.val();
        self.full.next = self.fifo.full.val();
    }
}
