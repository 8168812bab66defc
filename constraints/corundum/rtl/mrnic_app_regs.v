// Registers of the wrapper, read only: what it is, what it counted, and which DMA failed (docs/corundum.md lists them).
// In: one-clock events, `failed` and codes of the four DMA adapters. Out: the word at `addr`.
`default_nettype none

module mrnic_app_regs #(
    parameter DATA_WIDTH = 512,
    parameter [15:0] UDP_PORT = 16'd4791,
    parameter TS_WIDTH   = 96
) (
    input  wire                 clk,
    input  wire                 rst,
    input  wire [7:0]           addr,
    output reg  [31:0]          data,
    // rx ours, rx other, tx ours, tx other, completions ours, completions other
    input  wire [5:0]           events,
    input  wire [TS_WIDTH-1:0]  cpl_ts,
    // payload read, payload write, control read, control write
    input  wire [3:0]           failed,
    input  wire [15:0]          failed_codes
);

localparam COUNTERS = 6;

reg [31:0] counter [0:COUNTERS-1];

integer i;

always @(posedge clk)
    for (i = 0; i < COUNTERS; i = i + 1)
        if (rst)
            counter[i] <= 32'd0;
        else if (events[i])
            counter[i] <= counter[i] + 32'd1;

wire [95:0] ts = {{(96-TS_WIDTH){1'b0}}, cpl_ts};
wire [9:0]  width = DATA_WIDTH[9:0];

always @*
    case (addr)
        8'h00: data = 32'h4d52_4e41; // MRNA
        8'h04: data = 32'd1;
        8'h08: data = {UDP_PORT, 6'd0, width};
        8'h0c: data = {failed_codes, 12'd0, failed};
        8'h10: data = counter[0];
        8'h14: data = counter[1];
        8'h18: data = counter[2];
        8'h1c: data = counter[3];
        8'h20: data = counter[4];
        8'h24: data = counter[5];
        8'h30: data = ts[31:0];
        8'h34: data = ts[63:32];
        8'h38: data = ts[95:64];
        default: data = 32'd0;
    endcase

endmodule

`default_nettype wire
