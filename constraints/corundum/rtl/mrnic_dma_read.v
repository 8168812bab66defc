// Reads of host memory for the engine, through the DMA engine of the core.
// In: the engine's descriptors (address, length) on `desc_*`. Out: the bytes on `data_*`, in the order of the descriptors,
// each read beginning at bit 0 of a word. Each read has a slot of the buffer, so reads may end in any order.
// A read that fails stops this adapter: what its slot holds is not sent. `failed` and `failed_code` say so until reset.
`default_nettype none

module mrnic_dma_read #(
    parameter DATA_WIDTH     = 512,
    parameter SLOTS          = 16,
    // bytes of a slot: a power of two, at least two rows of the RAM
    parameter SLOT_BYTES     = 4096,
    parameter DMA_ADDR_WIDTH = 64,
    parameter DMA_LEN_WIDTH  = 16,
    parameter DMA_TAG_WIDTH  = 14,
    parameter RAM_ADDR_WIDTH = 17,
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
    output wire                                 data_valid,
    input  wire                                 data_ready,
    output wire [DATA_WIDTH-1:0]                data,
    output wire                                 data_last,
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
    input  wire [SEG_COUNT*SEG_BE_WIDTH-1:0]    ram_wr_be,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]  ram_wr_addr,
    input  wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]  ram_wr_data,
    input  wire [SEG_COUNT-1:0]                 ram_wr_valid,
    output wire [SEG_COUNT-1:0]                 ram_wr_ready,
    output reg  [SEG_COUNT-1:0]                 ram_wr_done,
    // a read failed
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
// words of a slot, counted from 0 up to and with the number of them
localparam COUNT_BITS = BYTE_BITS-WORD_BITS+1;
localparam OUT_DEPTH  = 8;

// slots: given to descriptors at `issue`, emptied at `take`
reg [SLOT_BITS:0]  issue;
reg [SLOT_BITS:0]  take;
reg [SLOTS-1:0]    done;
reg [15:0]         lengths [0:SLOTS-1];

wire [SLOT_BITS:0]   used       = issue - take;
wire [SLOT_BITS-1:0] issue_slot = issue[SLOT_BITS-1:0];
wire [SLOT_BITS-1:0] take_slot  = take[SLOT_BITS-1:0];
wire [SLOT_BITS-1:0] done_slot  = status_tag[SLOT_BITS-1:0];

assign desc_ready = !used[SLOT_BITS] && (!dma_valid || dma_ready) && !failed;

// words on their way out: read, chosen from the row, in the FIFO
reg                   row_valid;
reg                   row_last;
reg                   word_valid;
reg                   word_last;
reg [DATA_WIDTH-1:0]  word;
wire [ROW_WIDTH-1:0]  row;
wire [$clog2(OUT_DEPTH):0] out_count;
wire                  out_in_ready;

reg  [COUNT_BITS-1:0] index;
wire [15:0]           length = lengths[take_slot];
// words of the slot, rounded up
wire [16:0]           whole  = {1'b0, length} + {{(17-WORD_BITS){1'b0}}, {WORD_BITS{1'b1}}};
wire [COUNT_BITS-1:0] total  = whole[WORD_BITS +: COUNT_BITS];
wire [COUNT_BITS-1:0] after  = index + 1'b1;
wire                  last   = after >= total;
wire                  room   = out_count <= OUT_DEPTH-4;
wire                  read   = used != 0 && done[take_slot] && room && !failed;

always @(posedge clk) begin
    if (dma_ready)
        dma_valid <= 1'b0;
    if (desc_valid && desc_ready) begin
        dma_valid    <= 1'b1;
        dma_addr     <= desc_addr[DMA_ADDR_WIDTH-1:0];
        dma_ram_addr <= 0;
        dma_ram_addr[BYTE_BITS +: SLOT_BITS] <= issue_slot;
        dma_len      <= desc_len[DMA_LEN_WIDTH-1:0];
        dma_tag      <= 0;
        dma_tag[0 +: SLOT_BITS] <= issue_slot;
        lengths[issue_slot] <= desc_len;
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
    if (read) begin
        index <= last ? {COUNT_BITS{1'b0}} : after;
        if (last) begin
            take <= take + 1'b1;
            done[take_slot] <= 1'b0;
        end
    end
    row_valid  <= read;
    row_last   <= last;
    word_valid <= row_valid;
    word_last  <= row_last;
    // a write of the RAM is done one clock after its command
    ram_wr_done <= ram_wr_valid & ram_wr_ready;
    if (rst) begin
        dma_valid    <= 1'b0;
        dma_addr     <= 0;
        dma_ram_addr <= 0;
        dma_len      <= 0;
        dma_tag      <= 0;
        issue        <= 0;
        take         <= 0;
        done         <= 0;
        index        <= 0;
        row_valid    <= 1'b0;
        row_last     <= 1'b0;
        word_valid   <= 1'b0;
        word_last    <= 1'b0;
        ram_wr_done  <= 0;
        failed       <= 1'b0;
        failed_code  <= 4'd0;
    end
end

assign ram_wr_ready = {SEG_COUNT{1'b1}};

genvar n;
generate
    for (n = 0; n < SEG_COUNT; n = n + 1) begin : segment
        mrnic_ram #(
            .DATA_WIDTH(SEG_DATA_WIDTH),
            .ADDR_WIDTH(SLOT_BITS+ROW_BITS)
        ) ram (
            .clk(clk),
            .wr_en(ram_wr_valid[n]),
            .wr_be(ram_wr_be[n*SEG_BE_WIDTH +: SEG_BE_WIDTH]),
            .wr_addr(ram_wr_addr[n*SEG_ADDR_WIDTH +: SLOT_BITS+ROW_BITS]),
            .wr_data(ram_wr_data[n*SEG_DATA_WIDTH +: SEG_DATA_WIDTH]),
            .rd_en(read),
            .rd_addr({take_slot, index[RATIO_BITS +: ROW_BITS]}),
            .rd_data(row[n*SEG_DATA_WIDTH +: SEG_DATA_WIDTH])
        );
    end
    if (RATIO > 1) begin : choose
        reg [RATIO_BITS-1:0] part;
        always @(posedge clk) begin
            part <= index[RATIO_BITS-1:0];
            word <= row[part*DATA_WIDTH +: DATA_WIDTH];
            if (rst)
                part <= 0;
        end
    end else begin : whole_row
        always @(posedge clk)
            word <= row;
    end
endgenerate

mrnic_fifo #(
    .WIDTH(DATA_WIDTH+1),
    .DEPTH(OUT_DEPTH)
) out (
    .clk(clk),
    .rst(rst),
    .in_valid(word_valid),
    .in_ready(out_in_ready),
    .in_data({word_last, word}),
    .out_valid(data_valid),
    .out_ready(data_ready),
    .out_data({data_last, data}),
    .count(out_count)
);

// there is always room: `room` counts what is on its way
wire unused = &{1'b0, out_in_ready, status_tag, ram_wr_addr, whole, desc_addr, desc_len};

endmodule

`default_nettype wire
