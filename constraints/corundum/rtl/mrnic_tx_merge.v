// Puts the frames of the engine between those of the core: whole frames, in turns when both have one.
// In: `ours_*` and `s_*`. Out: `m_*`, where our frames have the tag {0, number of the frame}: the core sets the top bit of
// each tag of its own, so a completion tells whose it is. Frames of the core pass with all that they have.
`default_nettype none

module mrnic_tx_merge #(
    parameter DATA_WIDTH = 512,
    parameter KEEP_WIDTH = DATA_WIDTH/8,
    parameter TAG_WIDTH  = 6,
    // bit 0: the frame is bad; then the tag
    parameter USER_WIDTH = TAG_WIDTH+1
) (
    input  wire                   clk,
    input  wire                   rst,
    input  wire [DATA_WIDTH-1:0]  ours_tdata,
    input  wire [KEEP_WIDTH-1:0]  ours_tkeep,
    input  wire                   ours_tvalid,
    output wire                   ours_tready,
    input  wire                   ours_tlast,
    input  wire [DATA_WIDTH-1:0]  s_tdata,
    input  wire [KEEP_WIDTH-1:0]  s_tkeep,
    input  wire                   s_tvalid,
    output wire                   s_tready,
    input  wire                   s_tlast,
    input  wire [USER_WIDTH-1:0]  s_tuser,
    output wire [DATA_WIDTH-1:0]  m_tdata,
    output wire [KEEP_WIDTH-1:0]  m_tkeep,
    output wire                   m_tvalid,
    input  wire                   m_tready,
    output wire                   m_tlast,
    output wire [USER_WIDTH-1:0]  m_tuser,
    // one clock for each frame that was taken
    output wire                   ours_frame,
    output wire                   other_frame
);

// inside a frame, and whose it is; at a boundary, who had the last one
reg                  in_frame;
reg                  last_ours;
reg [TAG_WIDTH-2:0]  number;

wire pick_ours = ours_tvalid && (!s_tvalid || !last_ours);
wire now_ours  = in_frame ? last_ours : pick_ours;
wire valid     = now_ours ? ours_tvalid : s_tvalid;
wire last      = now_ours ? ours_tlast : s_tlast;
wire ready;

wire [USER_WIDTH-1:0] ours_tuser;
assign ours_tuser[0] = 1'b0;
assign ours_tuser[TAG_WIDTH:1] = {1'b0, number};
genvar n;
generate
    for (n = TAG_WIDTH+1; n < USER_WIDTH; n = n + 1) begin : more
        assign ours_tuser[n] = 1'b0;
    end
endgenerate

assign ours_tready = ready && now_ours;
assign s_tready    = ready && !now_ours;
assign ours_frame  = ours_tvalid && ours_tready && ours_tlast;
assign other_frame = s_tvalid && s_tready && s_tlast;

always @(posedge clk) begin
    if (valid && ready) begin
        in_frame    <= !last;
        last_ours <= now_ours;
    end
    if (ours_frame)
        number <= number + 1'b1;
    if (rst) begin
        in_frame    <= 1'b0;
        last_ours <= 1'b0;
        number    <= 0;
    end
end

mrnic_skid #(
    .WIDTH(USER_WIDTH+1+KEEP_WIDTH+DATA_WIDTH)
) out (
    .clk(clk),
    .rst(rst),
    .in_valid(valid),
    .in_ready(ready),
    .in_data(now_ours ? {ours_tuser, ours_tlast, ours_tkeep, ours_tdata} : {s_tuser, s_tlast, s_tkeep, s_tdata}),
    .out_valid(m_tvalid),
    .out_ready(m_tready),
    .out_data({m_tuser, m_tlast, m_tkeep, m_tdata})
);

endmodule

`default_nettype wire
