// First-word fall-through FIFO of registers or distributed RAM.
// In: words while not full. Out: the same words in order; `count` is what it holds.
// A word written in one clock can be read in the next. DEPTH is a power of two, at least 2.
`default_nettype none

module mrnic_fifo #(
    parameter WIDTH = 8,
    parameter DEPTH = 4
) (
    input  wire                     clk,
    input  wire                     rst,
    input  wire                     in_valid,
    output wire                     in_ready,
    input  wire [WIDTH-1:0]         in_data,
    output wire                     out_valid,
    input  wire                     out_ready,
    output wire [WIDTH-1:0]         out_data,
    output wire [$clog2(DEPTH):0]   count
);

localparam BITS = $clog2(DEPTH);

reg [WIDTH-1:0] words [0:DEPTH-1];
reg [BITS:0]    head;
reg [BITS:0]    tail;

assign count     = tail - head;
// the top bit is set only when all places are taken
assign in_ready  = !count[BITS];
assign out_valid = head != tail;
assign out_data  = words[head[BITS-1:0]];

always @(posedge clk) begin
    if (in_valid && in_ready) begin
        words[tail[BITS-1:0]] <= in_data;
        tail <= tail + 1'b1;
    end
    if (out_valid && out_ready)
        head <= head + 1'b1;
    if (rst) begin
        head <= 0;
        tail <= 0;
    end
end

endmodule

`default_nettype wire
