// Writes of host memory for the engine, through the DMA engine of the core.
// In: the engine's descriptors (address, length) on `desc_*` and their bytes on `data_*`, each write beginning at bit 0 of
// a word. Out: `written`, one clock for each write whose status says that it is done, in the order of the descriptors.
// Each write fills a slot of the buffer before it is given to the DMA engine; writes may end in any order.
// A write that fails stops this adapter: no later write is reported. `failed` and `failed_code` say so until reset.
`default_nettype none

module mrnic_dma_write #(
    parameter DATA_WIDTH     = 512,
    parameter SLOTS          = 16,
    // bytes of a slot: a power of two, at least two rows of the RAM
    parameter SLOT_BYTES     = 4096,
    parameter DMA_ADDR_WIDTH = 64,
    parameter DMA_LEN_WIDTH  = 16,
    parameter DMA_TAG_WIDTH  = 14,
    parameter RAM_ADDR_WIDTH = 17,
    parameter RAM_PIPELINE   = 2,
    parameter SEG_COUNT      = 2,
    parameter SEG_DATA_WIDTH = 512,
    parameter SEG_BE_WIDTH   = SEG_DATA_WIDTH/8,
    parameter SEG_ADDR_WIDTH = RAM_ADDR_WIDTH-$clog2(SEG_COUNT*SEG_BE_WIDTH)
) (
    input  wire                                 clk,
    input  wire                                 rst,
    // engine
    input  wire                                 desc_valid,
    output wire                                 desc_ready,
    input  wire [63:0]                          desc_addr,
    input  wire [15:0]                          desc_len,
    input  wire                                 data_valid,
    output wire                                 data_ready,
    input  wire [DATA_WIDTH-1:0]                data,
    input  wire                                 data_last,
    output reg                                  written,
    // DMA engine
    output reg  [DMA_ADDR_WIDTH-1:0]            dma_addr,
    output reg  [RAM_ADDR_WIDTH-1:0]            dma_ram_addr,
    output reg  [DMA_LEN_WIDTH-1:0]             dma_len,
    output reg  [DMA_TAG_WIDTH-1:0]             dma_tag,
    output reg                                  dma_valid,
    input  wire                                 dma_ready,
    input  wire [DMA_TAG_WIDTH-1:0]             status_tag,
    input  wire [3:0]                           status_error,
    input  wire                                 status_valid,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]  ram_rd_addr,
    input  wire [SEG_COUNT-1:0]                 ram_rd_valid,
    output wire [SEG_COUNT-1:0]                 ram_rd_ready,
    output wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]  ram_resp_data,
    output wire [SEG_COUNT-1:0]                 ram_resp_valid,
    input  wire [SEG_COUNT-1:0]                 ram_resp_ready,
    // a write failed
    output reg                                  failed,
    output reg  [3:0]                           failed_code
);

localparam ROW_WIDTH  = SEG_COUNT*SEG_DATA_WIDTH;
localparam RATIO      = ROW_WIDTH/DATA_WIDTH;
localparam RATIO_BITS = $clog2(RATIO);
localparam WORD_BITS  = $clog2(DATA_WIDTH/8);
localparam SLOT_BITS  = $clog2(SLOTS);
localparam BYTE_BITS  = $clog2(SLOT_BYTES);
localparam ROW_BITS   = BYTE_BITS-$clog2(ROW_WIDTH/8);
localparam INDEX_BITS = BYTE_BITS-WORD_BITS;

// slots: filled by the engine at `fill`, given to the DMA engine at `issue`, reported and free again at `report`
reg [SLOT_BITS:0]        fill;
reg [SLOT_BITS:0]        issue;
reg [SLOT_BITS:0]        report;
reg [SLOTS-1:0]          done;
reg [DMA_ADDR_WIDTH-1:0] addrs [0:SLOTS-1];
reg [DMA_LEN_WIDTH-1:0]  lengths [0:SLOTS-1];

wire [SLOT_BITS:0]   used        = fill - report;
wire [SLOT_BITS-1:0] fill_slot   = fill[SLOT_BITS-1:0];
wire [SLOT_BITS-1:0] issue_slot  = issue[SLOT_BITS-1:0];
wire [SLOT_BITS-1:0] report_slot = report[SLOT_BITS-1:0];
wire [SLOT_BITS-1:0] done_slot   = status_tag[SLOT_BITS-1:0];

// descriptors wait here until their bytes are in the buffer
wire        next_valid;
wire [63:0] next_addr;
wire [15:0] next_len;
wire [2:0]  next_count;
wire        take = data_valid && data_ready;

mrnic_fifo #(
    .WIDTH(80),
    .DEPTH(4)
) descriptors (
    .clk(clk),
    .rst(rst),
    .in_valid(desc_valid),
    .in_ready(desc_ready),
    .in_data({desc_addr, desc_len}),
    .out_valid(next_valid),
    .out_ready(take && data_last),
    .out_data({next_addr, next_len}),
    .count(next_count)
);

assign data_ready = next_valid && !used[SLOT_BITS] && !failed;

reg [INDEX_BITS-1:0] index;

always @(posedge clk) begin
    written <= 1'b0;
    if (take) begin
        index <= data_last ? {INDEX_BITS{1'b0}} : index + 1'b1;
        if (data_last) begin
            addrs[fill_slot]   <= next_addr[DMA_ADDR_WIDTH-1:0];
            lengths[fill_slot] <= next_len[DMA_LEN_WIDTH-1:0];
            fill <= fill + 1'b1;
        end
    end
    if (dma_ready)
        dma_valid <= 1'b0;
    if (issue != fill && (!dma_valid || dma_ready) && !failed) begin
        dma_valid    <= 1'b1;
        dma_addr     <= addrs[issue_slot];
        dma_ram_addr <= 0;
        dma_ram_addr[BYTE_BITS +: SLOT_BITS] <= issue_slot;
        dma_len      <= lengths[issue_slot];
        dma_tag      <= 0;
        dma_tag[0 +: SLOT_BITS] <= issue_slot;
        issue        <= issue + 1'b1;
    end
    if (status_valid) begin
        if (status_error == 4'd0)
            done[done_slot] <= 1'b1;
        else if (!failed) begin
            failed      <= 1'b1;
            failed_code <= status_error;
        end
    end
    if (report != issue && done[report_slot] && !failed) begin
        done[report_slot] <= 1'b0;
        written <= 1'b1;
        report  <= report + 1'b1;
    end
    if (rst) begin
        written      <= 1'b0;
        index        <= 0;
        fill         <= 0;
        issue        <= 0;
        report       <= 0;
        done         <= 0;
        dma_valid    <= 1'b0;
        dma_addr     <= 0;
        dma_ram_addr <= 0;
        dma_len      <= 0;
        dma_tag      <= 0;
        failed       <= 1'b0;
        failed_code  <= 4'd0;
    end
end

// a word goes to its place in the row; the other places keep what they have
wire [ROW_WIDTH/8-1:0] row_be;
generate
    if (RATIO > 1) begin : place
        assign row_be = {{(ROW_WIDTH-DATA_WIDTH)/8{1'b0}}, {DATA_WIDTH/8{1'b1}}}
            << (index[RATIO_BITS-1:0]*(DATA_WIDTH/8));
    end else begin : whole_row
        assign row_be = {ROW_WIDTH/8{1'b1}};
    end
endgenerate
wire [ROW_WIDTH-1:0]   row    = {RATIO{data}};

genvar n;
generate
    for (n = 0; n < SEG_COUNT; n = n + 1) begin : segment
        wire                         rd_en;
        wire [SLOT_BITS+ROW_BITS-1:0] rd_addr;
        wire [SEG_DATA_WIDTH-1:0]    rd_data;
        mrnic_ram #(
            .DATA_WIDTH(SEG_DATA_WIDTH),
            .ADDR_WIDTH(SLOT_BITS+ROW_BITS)
        ) ram (
            .clk(clk),
            .wr_en(take),
            .wr_be(row_be[n*SEG_BE_WIDTH +: SEG_BE_WIDTH]),
            .wr_addr({fill_slot, index[RATIO_BITS +: ROW_BITS]}),
            .wr_data(row[n*SEG_DATA_WIDTH +: SEG_DATA_WIDTH]),
            .rd_en(rd_en),
            .rd_addr(rd_addr),
            .rd_data(rd_data)
        );
        mrnic_ram_reads #(
            .DATA_WIDTH(SEG_DATA_WIDTH),
            .ADDR_WIDTH(SLOT_BITS+ROW_BITS),
            .PIPELINE(RAM_PIPELINE)
        ) reads (
            .clk(clk),
            .rst(rst),
            .cmd_addr(ram_rd_addr[n*SEG_ADDR_WIDTH +: SLOT_BITS+ROW_BITS]),
            .cmd_valid(ram_rd_valid[n]),
            .cmd_ready(ram_rd_ready[n]),
            .resp_data(ram_resp_data[n*SEG_DATA_WIDTH +: SEG_DATA_WIDTH]),
            .resp_valid(ram_resp_valid[n]),
            .resp_ready(ram_resp_ready[n]),
            .rd_en(rd_en),
            .rd_addr(rd_addr),
            .rd_data(rd_data)
        );
    end
endgenerate

wire unused = &{1'b0, status_tag, ram_rd_addr, next_count, next_addr, next_len};

endmodule

`default_nettype wire
