// Divides what arrives: frames to our UDP port go to the engine, all others on to the core, untouched and in order.
// In: `s_*`, the frames of a port. Out: `ours_*` (no tuser) and `m_*` (tuser as it came).
// Frames wait until their header has been seen; FIFO_DEPTH beats are enough for that from 16 on. A side that does not take
// its frame holds up the other one behind it.
`default_nettype none

module mrnic_rx_split #(
    parameter DATA_WIDTH = 512,
    parameter KEEP_WIDTH = DATA_WIDTH/8,
    parameter USER_WIDTH = 97,
    parameter FIFO_DEPTH = 32,
    parameter [15:0] UDP_PORT = 16'd4791
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [DATA_WIDTH-1:0]  s_tdata,
    input  wire [KEEP_WIDTH-1:0]  s_tkeep,
    input  wire                   s_tvalid,
    output wire                   s_tready,
    input  wire                   s_tlast,
    input  wire [USER_WIDTH-1:0]  s_tuser,
    output wire [DATA_WIDTH-1:0]  ours_tdata,
    output wire [KEEP_WIDTH-1:0]  ours_tkeep,
    output wire                   ours_tvalid,
    input  wire                   ours_tready,
    output wire                   ours_tlast,
    output wire [DATA_WIDTH-1:0]  m_tdata,
    output wire [KEEP_WIDTH-1:0]  m_tkeep,
    output wire                   m_tvalid,
    input  wire                   m_tready,
    output wire                   m_tlast,
    output wire [USER_WIDTH-1:0]  m_tuser,
    // one clock for each frame that leaves
    output wire                   ours_frame,
    output wire                   other_frame
);

wire decided;
wire decided_ours;

mrnic_rx_match #(
    .DATA_WIDTH(DATA_WIDTH),
    .UDP_PORT(UDP_PORT)
) matcher (
    .clk(clk),
    .rst(rst),
    .beat(s_tvalid && s_tready),
    .beat_data(s_tdata),
    .beat_keep(s_tkeep),
    .beat_last(s_tlast),
    .decided(decided),
    .ours(decided_ours)
);

localparam WIDTH = USER_WIDTH+1+KEEP_WIDTH+DATA_WIDTH;

wire                       beat_valid;
wire [USER_WIDTH-1:0]      beat_user;
wire                       beat_last;
wire [KEEP_WIDTH-1:0]      beat_keep;
wire [DATA_WIDTH-1:0]      beat_data;
wire                       beat_taken;
wire [$clog2(FIFO_DEPTH):0] beat_count;

mrnic_fifo #(
    .WIDTH(WIDTH),
    .DEPTH(FIFO_DEPTH)
) beats (
    .clk(clk),
    .rst(rst),
    .in_valid(s_tvalid),
    .in_ready(s_tready),
    .in_data({s_tuser, s_tlast, s_tkeep, s_tdata}),
    .out_valid(beat_valid),
    .out_ready(beat_taken),
    .out_data({beat_user, beat_last, beat_keep, beat_data}),
    .count(beat_count)
);

// one decision a frame that is still there: never more of them than beats
wire                        way_ready;
wire                        way_valid;
wire                        way_ours;
wire [$clog2(FIFO_DEPTH):0] way_count;

mrnic_fifo #(
    .WIDTH(1),
    .DEPTH(FIFO_DEPTH)
) ways (
    .clk(clk),
    .rst(rst),
    .in_valid(decided),
    .in_ready(way_ready),
    .in_data(decided_ours),
    .out_valid(way_valid),
    .out_ready(beat_valid && beat_taken && beat_last),
    .out_data(way_ours),
    .count(way_count)
);

assign ours_tdata  = beat_data;
assign ours_tkeep  = beat_keep;
assign ours_tlast  = beat_last;
assign ours_tvalid = beat_valid && way_valid && way_ours;
assign m_tdata     = beat_data;
assign m_tkeep     = beat_keep;
assign m_tlast     = beat_last;
assign m_tuser     = beat_user;
assign m_tvalid    = beat_valid && way_valid && !way_ours;
assign beat_taken  = way_valid && (way_ours ? ours_tready : m_tready);
assign ours_frame  = ours_tvalid && ours_tready && beat_last;
assign other_frame = m_tvalid && m_tready && beat_last;

wire unused = &{1'b0, way_ready, way_count, beat_count};

endmodule

`default_nettype wire
