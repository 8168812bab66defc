// One segment of the RAM that the DMA engine reads: commands in, words out in the same order.
// In: `cmd_*`, answered after PIPELINE clocks (at least 1). Out: `resp_*`, held while the DMA engine is not ready.
// A stage moves when it or one after it is free, so nothing is lost and no clock is wasted.
`default_nettype none

module mrnic_ram_reads #(
    parameter DATA_WIDTH = 512,
    parameter ADDR_WIDTH = 9,
    parameter PIPELINE   = 2
) (
    input  wire                   clk,
    input  wire                   rst,
    // from the DMA engine
    input  wire [ADDR_WIDTH-1:0]  cmd_addr,
    input  wire                   cmd_valid,
    output wire                   cmd_ready,
    output wire [DATA_WIDTH-1:0]  resp_data,
    output wire                   resp_valid,
    input  wire                   resp_ready,
    // to the RAM
    output wire                   rd_en,
    output wire [ADDR_WIDTH-1:0]  rd_addr,
    input  wire [DATA_WIDTH-1:0]  rd_data
);

// stage 0 is the output register of the RAM
localparam STAGES = PIPELINE < 1 ? 1 : PIPELINE;

reg  [STAGES-1:0] valid;
wire [STAGES-1:0] move;

assign cmd_ready  = move[0];
assign rd_en      = cmd_valid && move[0];
assign rd_addr    = cmd_addr;
assign resp_valid = valid[STAGES-1];

genvar n;
generate
    for (n = 0; n < STAGES; n = n + 1) begin : stage
        // something leaves, or one of the stages from here on is empty
        assign move[n] = resp_ready || !(&valid[STAGES-1:n]);

        wire [DATA_WIDTH-1:0] data;
        if (n == 0) begin : first
            assign data = rd_data;
            always @(posedge clk)
                if (rst)
                    valid[n] <= 1'b0;
                else if (move[n])
                    valid[n] <= cmd_valid;
        end else begin : later
            reg [DATA_WIDTH-1:0] word;
            assign data = word;
            always @(posedge clk) begin
                if (move[n])
                    word <= stage[n-1].data;
                if (rst)
                    valid[n] <= 1'b0;
                else if (move[n])
                    valid[n] <= valid[n-1];
            end
        end
    end
endgenerate

assign resp_data = stage[STAGES-1].data;

endmodule

`default_nettype wire
