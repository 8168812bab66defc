//! Blocks under test: one of every kind of port.
#![allow(dead_code)] // each test file uses its part

use mrnic_difftest::{drive_enum, drive_struct};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::prelude::*;

/// A valid/ready register slice with an interface, wide data and a reset.
#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamIn"]
pub struct StreamOut {
    pub valid: Signal<Out, Bit>,
    pub data: Signal<Out, Bits<72>>,
    pub ready: Signal<In, Bit>,
}

#[derive(Clone, Debug, Default, LogicInterface)]
#[join = "StreamOut"]
pub struct StreamIn {
    pub valid: Signal<In, Bit>,
    pub data: Signal<In, Bits<72>>,
    pub ready: Signal<Out, Bit>,
}

#[derive(LogicBlock, Default)]
pub struct Slice {
    pub clock: Signal<In, Clock>,
    pub reset: Signal<In, Bit>,
    pub i: StreamIn,
    pub o: StreamOut,
    pub count: Signal<Out, Bits<16>>,
    full: DFF<Bit>,
    data: DFF<Bits<72>>,
    taken: DFF<Bits<16>>,
}

impl Logic for Slice {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clock, full, data, taken);
        self.o.valid.next = self.full.q.val();
        self.o.data.next = self.data.q.val();
        self.count.next = self.taken.q.val();
        self.i.ready.next = !self.full.q.val() | self.o.ready.val();
        if !self.full.q.val() | self.o.ready.val() {
            self.full.d.next = self.i.valid.val();
            self.data.d.next = self.i.data.val();
            if self.i.valid.val() {
                self.taken.d.next = self.taken.q.val() + 1;
            }
        }
        if self.reset.val() {
            self.full.d.next = false;
            self.taken.d.next = 0.into();
        }
    }
}

/// The same slice by hand.
pub const SLICE: &str = "
module slice(input wire clock, input wire reset, input wire i_valid, input wire [71:0] i_data, output wire i_ready,
             output wire o_valid, output wire [71:0] o_data, input wire o_ready, output wire [15:0] count);
    reg full;
    reg [71:0] data;
    reg [15:0] taken;
    initial begin full = 1'b0; data = 72'd0; taken = 16'd0; end
    assign o_valid = full;
    assign o_data = data;
    assign count = taken;
    assign i_ready = ~full | o_ready;
    always @(posedge clock) begin
        if (i_ready) begin
            full <= i_valid;
            data <= i_data;
            if (i_valid) taken <= taken + 16'd1;
        end
        if (reset) begin full <= 1'b0; taken <= 16'd0; end
    end
endmodule
";

#[derive(Copy, Clone, PartialEq, Debug, LogicState)]
pub enum Kind {
    Data,
    Ack,
    Probe,
}
drive_enum!(Kind { Data, Ack, Probe });

#[derive(Clone, Copy, Debug, PartialEq, Default, LogicStruct)]
pub struct Entry {
    pub psn: Bits<24>,
    pub last: Bit,
    pub port: Bits<48>,
}
drive_struct!(Entry { psn, last, port });

/// Combinational: enums, structs, arrays of inputs, signed values.
#[derive(LogicBlock, Default)]
pub struct Mix {
    pub kind: Signal<In, Kind>,
    pub entry: Signal<In, Entry>,
    pub lane: [Signal<In, Bits<12>>; 2],
    pub level: Signal<In, Signed<8>>,
    pub is_ack: Signal<Out, Bit>,
    pub psn_sum: Signal<Out, Bits<24>>,
    pub same: Signal<Out, Entry>,
    pub lane_xor: Signal<Out, Bits<12>>,
    pub level_out: Signal<Out, Signed<8>>,
}

impl Logic for Mix {
    #[hdl_gen]
    fn update(&mut self) {
        self.is_ack.next = self.kind.val() == Kind::Ack;
        self.psn_sum.next = self.entry.val().psn + 1;
        self.same.next = self.entry.val();
        self.lane_xor.next = self.lane[0].val() ^ self.lane[1].val();
        self.level_out.next = self.level.val();
    }
}

pub const MIX: &str = "
module mix(input wire [1:0] kind, input wire [72:0] entry, input wire [11:0] lane_0, input wire [11:0] lane_1,
           input wire [7:0] level, output wire is_ack, output wire [23:0] psn_sum, output wire [72:0] same,
           output wire [11:0] lane_xor, output wire [7:0] level_out);
    assign is_ack = kind == 2'd1;
    assign psn_sum = entry[23:0] + 24'd1;
    assign same = entry;
    assign lane_xor = lane_0 ^ lane_1;
    assign level_out = level;
endmodule
";

/// The Rust body adds two where the Verilog adds one.
#[derive(LogicBlock, Default)]
pub struct Wrong {
    pub clock: Signal<In, Clock>,
    pub enable: Signal<In, Bit>,
    pub count: Signal<Out, Bits<8>>,
}

impl Logic for Wrong {
    fn update(&mut self) {
        if self.clock.pos_edge() && self.enable.val() {
            self.count.next = self.count.val() + if self.count.val() == 9 { 2 } else { 1 };
        }
    }
    fn connect(&mut self) {
        self.count.connect();
    }
    fn hdl(&self) -> Verilog {
        Verilog::Custom(WRONG_BODY.into())
    }
}

pub const WRONG_BODY: &str = "\
// module wrong: a counter
initial count = 8'd0;
always @(posedge clock) if (enable) count <= count + 8'd1;";
