// One segment of a buffer: block RAM with one write port (byte enables) and one read port.
// In: writes, reads. Out: the word read, one clock after `rd_en`, held until the next read.
// A read in the clock of a write to the same address may return either word; the adapters never do that.
`default_nettype none

module mrnic_ram #(
    parameter DATA_WIDTH = 512,
    parameter ADDR_WIDTH = 9
) (
    input  wire                     clk,
    input  wire                     wr_en,
    input  wire [DATA_WIDTH/8-1:0]  wr_be,
    input  wire [ADDR_WIDTH-1:0]    wr_addr,
    input  wire [DATA_WIDTH-1:0]    wr_data,
    input  wire                     rd_en,
    input  wire [ADDR_WIDTH-1:0]    rd_addr,
    output reg  [DATA_WIDTH-1:0]    rd_data
);

reg [DATA_WIDTH-1:0] words [0:(1<<ADDR_WIDTH)-1];

integer i;

always @(posedge clk) begin
    if (wr_en)
        for (i = 0; i < DATA_WIDTH/8; i = i + 1)
            if (wr_be[i])
                words[wr_addr][8*i +: 8] <= wr_data[8*i +: 8];
    if (rd_en)
        rd_data <= words[rd_addr];
end

endmodule

`default_nettype wire
