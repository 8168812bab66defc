// Completions of transmitted frames: those of our frames end here, all others pass.
// In: `s_*` with timestamp and tag. Out: `m_*`, the others in their order; `ours`, one clock for each of ours; the
// timestamp of the last of them. Whose a completion is tells the top bit of its tag (see mrnic_tx_merge).
`default_nettype none

module mrnic_tx_cpl #(
    parameter TS_WIDTH  = 96,
    parameter TAG_WIDTH = 6
) (
    input  wire                  clk,
    input  wire                  rst,
    input  wire [TS_WIDTH-1:0]   s_ts,
    input  wire [TAG_WIDTH-1:0]  s_tag,
    input  wire                  s_valid,
    output wire                  s_ready,
    output wire [TS_WIDTH-1:0]   m_ts,
    output wire [TAG_WIDTH-1:0]  m_tag,
    output wire                  m_valid,
    input  wire                  m_ready,
    output wire                  ours,
    output wire                  other,
    output reg  [TS_WIDTH-1:0]   ours_ts
);

wire mine = !s_tag[TAG_WIDTH-1];

assign m_ts    = s_ts;
assign m_tag   = s_tag;
assign m_valid = s_valid && !mine;
assign s_ready = mine || m_ready;
assign ours    = s_valid && mine;
assign other   = m_valid && m_ready;

always @(posedge clk) begin
    if (ours)
        ours_ts <= s_ts;
    if (rst)
        ours_ts <= 0;
end

endmodule

`default_nettype wire
