//! Shared by the tests: one design with every kind of port, and a cache of its own for tests that count builds.

#![allow(dead_code)] // each test file uses its part

use mrnic_verilated::{build, Model, ModelSpec, Stage};

/// Registers and combinational paths of 1, 8, 16, 33, 64, 65, 256 and 512 bits, and one register without initial value.
pub const WIDE: &str = r#"
module wide(
    input clock,
    input a1, input [7:0] a8, input [15:0] a16, input [32:0] a33, input [63:0] a64, input [64:0] a65,
    input [255:0] a256, input [511:0] a512,
    output reg q1, output reg [7:0] q8, output reg [15:0] q16, output reg [32:0] q33, output reg [63:0] q64,
    output reg [64:0] q65, output reg [255:0] q256, output reg [511:0] q512,
    output [7:0] comb, output [511:0] comb512, output reg [7:0] sum, output [63:0] unset, output [15:0] under__score);
    reg [63:0] no_initial_value;
    reg [15:0] count;
    initial begin sum = 0; count = 0; end
    assign comb = a8 + 8'd1;
    assign comb512 = ~a512;
    assign unset = no_initial_value;
    assign under__score = count;
    always @(posedge clock) begin
        q1 <= a1; q8 <= a8; q16 <= a16; q33 <= a33; q64 <= a64; q65 <= a65; q256 <= a256; q512 <= a512;
        sum <= sum + comb;
        count <= count + 16'd1;
    end
endmodule
"#;

pub fn wide() -> Model {
    spec_built(&ModelSpec { opt_level: 1, ..ModelSpec::new("wide", WIDE) }).0
}

/// The model and the stages that ran.
pub fn spec_built(spec: &ModelSpec) -> (Model, Vec<Stage>) {
    let mut stages = Vec::new();
    let model = build(spec, &mut |e| stages.push(e.stage)).unwrap();
    stages.dedup();
    (model, stages)
}
