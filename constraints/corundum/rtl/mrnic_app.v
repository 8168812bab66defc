// Our engine in Corundum's terms: registers behind the application BAR, host memory through the core's DMA engine, the
// frames of one port. In and out: those ports of mqnic_app_block that are ours. Guarantees: only wires and instances here.
`default_nettype none

`ifndef MRNIC_ENGINE
`define MRNIC_ENGINE corundum100g
`endif

module mrnic_app #(
    parameter DATA_WIDTH      = 512,
    parameter KEEP_WIDTH      = DATA_WIDTH/8,
    parameter TX_USER_WIDTH   = 7,
    parameter RX_USER_WIDTH   = 97,
    parameter TS_WIDTH        = 96,
    parameter TAG_WIDTH       = 6,
    parameter AXIL_ADDR_WIDTH = 24,
    parameter DMA_ADDR_WIDTH  = 64,
    parameter DMA_LEN_WIDTH   = 16,
    parameter DMA_TAG_WIDTH   = 14,
    parameter RAM_ADDR_WIDTH  = 17,
    parameter RAM_PIPELINE    = 2,
    parameter SEG_COUNT       = 2,
    parameter SEG_DATA_WIDTH  = 512,
    parameter SEG_BE_WIDTH    = SEG_DATA_WIDTH/8,
    parameter SEG_ADDR_WIDTH  = RAM_ADDR_WIDTH-$clog2(SEG_COUNT*SEG_BE_WIDTH),
    // UDP destination port of our frames
    parameter [15:0] UDP_PORT = 16'd4791,
    // largest payload of a packet; a slot for each payload access under way, as many as RAM_ADDR_WIDTH can reach
    parameter DATA_SLOT_BYTES = 4096,
    parameter DATA_SLOTS      = RAM_ADDR_WIDTH > 16 ? 16 : 1 << (RAM_ADDR_WIDTH-12),
    // WQEs have 64 bytes, receives and CQEs 32; a slot has two rows at least
    parameter CTRL_SLOT_BYTES = 2*SEG_COUNT*SEG_BE_WIDTH > 64 ? 2*SEG_COUNT*SEG_BE_WIDTH : 64,
    parameter CTRL_SLOTS      = 16
) (
    input  wire                                 clk,
    input  wire                                 rst,
    input  wire [AXIL_ADDR_WIDTH-1:0]           s_axil_awaddr,
    input  wire                                 s_axil_awvalid,
    output wire                                 s_axil_awready,
    input  wire [31:0]                          s_axil_wdata,
    input  wire [3:0]                           s_axil_wstrb,
    input  wire                                 s_axil_wvalid,
    output wire                                 s_axil_wready,
    output wire [1:0]                           s_axil_bresp,
    output wire                                 s_axil_bvalid,
    input  wire                                 s_axil_bready,
    input  wire [AXIL_ADDR_WIDTH-1:0]           s_axil_araddr,
    input  wire                                 s_axil_arvalid,
    output wire                                 s_axil_arready,
    output wire [31:0]                          s_axil_rdata,
    output wire [1:0]                           s_axil_rresp,
    output wire                                 s_axil_rvalid,
    input  wire                                 s_axil_rready,
    output wire [DMA_ADDR_WIDTH-1:0]                ctrl_read_dma_addr,
    output wire [RAM_ADDR_WIDTH-1:0]                ctrl_read_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0]                 ctrl_read_len,
    output wire [DMA_TAG_WIDTH-1:0]                 ctrl_read_tag,
    output wire                                     ctrl_read_valid,
    input  wire                                     ctrl_read_ready,
    input  wire [DMA_TAG_WIDTH-1:0]                 ctrl_read_status_tag,
    input  wire [3:0]                               ctrl_read_status_error,
    input  wire                                     ctrl_read_status_valid,
    output wire [DMA_ADDR_WIDTH-1:0]                ctrl_write_dma_addr,
    output wire [RAM_ADDR_WIDTH-1:0]                ctrl_write_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0]                 ctrl_write_len,
    output wire [DMA_TAG_WIDTH-1:0]                 ctrl_write_tag,
    output wire                                     ctrl_write_valid,
    input  wire                                     ctrl_write_ready,
    input  wire [DMA_TAG_WIDTH-1:0]                 ctrl_write_status_tag,
    input  wire [3:0]                               ctrl_write_status_error,
    input  wire                                     ctrl_write_status_valid,
    input  wire [SEG_COUNT*SEG_BE_WIDTH-1:0]        ctrl_ram_wr_cmd_be,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]      ctrl_ram_wr_cmd_addr,
    input  wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]      ctrl_ram_wr_cmd_data,
    input  wire [SEG_COUNT-1:0]                     ctrl_ram_wr_cmd_valid,
    output wire [SEG_COUNT-1:0]                     ctrl_ram_wr_cmd_ready,
    output wire [SEG_COUNT-1:0]                     ctrl_ram_wr_done,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]      ctrl_ram_rd_cmd_addr,
    input  wire [SEG_COUNT-1:0]                     ctrl_ram_rd_cmd_valid,
    output wire [SEG_COUNT-1:0]                     ctrl_ram_rd_cmd_ready,
    output wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]      ctrl_ram_rd_resp_data,
    output wire [SEG_COUNT-1:0]                     ctrl_ram_rd_resp_valid,
    input  wire [SEG_COUNT-1:0]                     ctrl_ram_rd_resp_ready,
    output wire [DMA_ADDR_WIDTH-1:0]                data_read_dma_addr,
    output wire [RAM_ADDR_WIDTH-1:0]                data_read_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0]                 data_read_len,
    output wire [DMA_TAG_WIDTH-1:0]                 data_read_tag,
    output wire                                     data_read_valid,
    input  wire                                     data_read_ready,
    input  wire [DMA_TAG_WIDTH-1:0]                 data_read_status_tag,
    input  wire [3:0]                               data_read_status_error,
    input  wire                                     data_read_status_valid,
    output wire [DMA_ADDR_WIDTH-1:0]                data_write_dma_addr,
    output wire [RAM_ADDR_WIDTH-1:0]                data_write_ram_addr,
    output wire [DMA_LEN_WIDTH-1:0]                 data_write_len,
    output wire [DMA_TAG_WIDTH-1:0]                 data_write_tag,
    output wire                                     data_write_valid,
    input  wire                                     data_write_ready,
    input  wire [DMA_TAG_WIDTH-1:0]                 data_write_status_tag,
    input  wire [3:0]                               data_write_status_error,
    input  wire                                     data_write_status_valid,
    input  wire [SEG_COUNT*SEG_BE_WIDTH-1:0]        data_ram_wr_cmd_be,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]      data_ram_wr_cmd_addr,
    input  wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]      data_ram_wr_cmd_data,
    input  wire [SEG_COUNT-1:0]                     data_ram_wr_cmd_valid,
    output wire [SEG_COUNT-1:0]                     data_ram_wr_cmd_ready,
    output wire [SEG_COUNT-1:0]                     data_ram_wr_done,
    input  wire [SEG_COUNT*SEG_ADDR_WIDTH-1:0]      data_ram_rd_cmd_addr,
    input  wire [SEG_COUNT-1:0]                     data_ram_rd_cmd_valid,
    output wire [SEG_COUNT-1:0]                     data_ram_rd_cmd_ready,
    output wire [SEG_COUNT*SEG_DATA_WIDTH-1:0]      data_ram_rd_resp_data,
    output wire [SEG_COUNT-1:0]                     data_ram_rd_resp_valid,
    input  wire [SEG_COUNT-1:0]                     data_ram_rd_resp_ready,
    input  wire [DATA_WIDTH-1:0]                    s_tx_tdata,
    input  wire [KEEP_WIDTH-1:0]                    s_tx_tkeep,
    input  wire                                     s_tx_tvalid,
    output wire                                     s_tx_tready,
    input  wire                                     s_tx_tlast,
    input  wire [TX_USER_WIDTH-1:0]                 s_tx_tuser,
    output wire [DATA_WIDTH-1:0]                    m_tx_tdata,
    output wire [KEEP_WIDTH-1:0]                    m_tx_tkeep,
    output wire                                     m_tx_tvalid,
    input  wire                                     m_tx_tready,
    output wire                                     m_tx_tlast,
    output wire [TX_USER_WIDTH-1:0]                 m_tx_tuser,
    input  wire [TS_WIDTH-1:0]                      s_tx_cpl_ts,
    input  wire [TAG_WIDTH-1:0]                     s_tx_cpl_tag,
    input  wire                                     s_tx_cpl_valid,
    output wire                                     s_tx_cpl_ready,
    output wire [TS_WIDTH-1:0]                      m_tx_cpl_ts,
    output wire [TAG_WIDTH-1:0]                     m_tx_cpl_tag,
    output wire                                     m_tx_cpl_valid,
    input  wire                                     m_tx_cpl_ready,
    input  wire [DATA_WIDTH-1:0]                    s_rx_tdata,
    input  wire [KEEP_WIDTH-1:0]                    s_rx_tkeep,
    input  wire                                     s_rx_tvalid,
    output wire                                     s_rx_tready,
    input  wire                                     s_rx_tlast,
    input  wire [RX_USER_WIDTH-1:0]                 s_rx_tuser,
    output wire [DATA_WIDTH-1:0]                    m_rx_tdata,
    output wire [KEEP_WIDTH-1:0]                    m_rx_tkeep,
    output wire                                     m_rx_tvalid,
    input  wire                                     m_rx_tready,
    output wire                                     m_rx_tlast,
    output wire [RX_USER_WIDTH-1:0]                 m_rx_tuser
);

// AXI-Lite of the engine
wire [15:0] e_awaddr;
wire        e_awvalid;
wire        e_awready;
wire [31:0] e_wdata;
wire        e_wvalid;
wire        e_wready;
wire [1:0]  e_bresp;
wire        e_bvalid;
wire        e_bready;
wire [15:0] e_araddr;
wire        e_arvalid;
wire        e_arready;
wire [31:0] e_rdata;
wire [1:0]  e_rresp;
wire        e_rvalid;
wire        e_rready;
wire [7:0]  reg_addr;
wire [31:0] reg_data;

mrnic_axil #(
    .ADDR_WIDTH(AXIL_ADDR_WIDTH)
) axil (
    .clk(clk), .rst(rst), .s_awaddr(s_axil_awaddr), .s_awvalid(s_axil_awvalid), .s_awready(s_axil_awready),
    .s_wdata(s_axil_wdata), .s_wstrb(s_axil_wstrb), .s_wvalid(s_axil_wvalid), .s_wready(s_axil_wready),
    .s_bresp(s_axil_bresp), .s_bvalid(s_axil_bvalid), .s_bready(s_axil_bready), .s_araddr(s_axil_araddr),
    .s_arvalid(s_axil_arvalid), .s_arready(s_axil_arready), .s_rdata(s_axil_rdata), .s_rresp(s_axil_rresp),
    .s_rvalid(s_axil_rvalid), .s_rready(s_axil_rready), .e_awaddr(e_awaddr), .e_awvalid(e_awvalid),
    .e_awready(e_awready), .e_wdata(e_wdata), .e_wvalid(e_wvalid), .e_wready(e_wready), .e_bresp(e_bresp),
    .e_bvalid(e_bvalid), .e_bready(e_bready), .e_araddr(e_araddr), .e_arvalid(e_arvalid), .e_arready(e_arready),
    .e_rdata(e_rdata), .e_rresp(e_rresp), .e_rvalid(e_rvalid), .e_rready(e_rready), .reg_addr(reg_addr),
    .reg_data(reg_data)
);

// DMA: payload reads dr, payload writes dw, reads of WQEs and receives cr, writes of CQEs cw
wire [3:0]  failed;
wire [15:0] failed_codes;
wire        dw_done;
wire        cw_done;
wire        dr_last;
wire        dr_desc_valid, dr_desc_ready, dr_valid, dr_ready;
wire [63:0] dr_desc_addr;
wire [15:0] dr_desc_len;
wire [DATA_WIDTH-1:0] dr_data;
wire        dw_desc_valid, dw_desc_ready, dw_valid, dw_ready, dw_last;
wire [63:0] dw_desc_addr;
wire [15:0] dw_desc_len;
wire [DATA_WIDTH-1:0] dw_data;
wire        cr_desc_valid, cr_desc_ready, cr_valid, cr_ready, cr_last;
wire [63:0] cr_desc_addr;
wire [15:0] cr_desc_len;
wire [DATA_WIDTH-1:0] cr_data;
wire        cw_desc_valid, cw_desc_ready, cw_valid, cw_ready, cw_last;
wire [63:0] cw_desc_addr;
wire [15:0] cw_desc_len;
wire [DATA_WIDTH-1:0] cw_data;

mrnic_dma_read #(
    .DATA_WIDTH(DATA_WIDTH), .SLOTS(DATA_SLOTS), .SLOT_BYTES(DATA_SLOT_BYTES), .DMA_ADDR_WIDTH(DMA_ADDR_WIDTH),
    .DMA_LEN_WIDTH(DMA_LEN_WIDTH), .DMA_TAG_WIDTH(DMA_TAG_WIDTH), .RAM_ADDR_WIDTH(RAM_ADDR_WIDTH),
    .SEG_COUNT(SEG_COUNT), .SEG_DATA_WIDTH(SEG_DATA_WIDTH), .SEG_BE_WIDTH(SEG_BE_WIDTH),
    .SEG_ADDR_WIDTH(SEG_ADDR_WIDTH)
) data_reads (
    .clk(clk), .rst(rst), .desc_valid(dr_desc_valid), .desc_ready(dr_desc_ready), .desc_addr(dr_desc_addr),
    .desc_len(dr_desc_len), .data_valid(dr_valid), .data_ready(dr_ready), .data(dr_data), .data_last(dr_last),
    .dma_addr(data_read_dma_addr), .dma_ram_addr(data_read_ram_addr), .dma_len(data_read_len),
    .dma_tag(data_read_tag), .dma_valid(data_read_valid), .dma_ready(data_read_ready),
    .status_tag(data_read_status_tag), .status_error(data_read_status_error),
    .status_valid(data_read_status_valid), .ram_wr_be(data_ram_wr_cmd_be), .ram_wr_addr(data_ram_wr_cmd_addr),
    .ram_wr_data(data_ram_wr_cmd_data), .ram_wr_valid(data_ram_wr_cmd_valid),
    .ram_wr_ready(data_ram_wr_cmd_ready), .ram_wr_done(data_ram_wr_done), .failed(failed[0]),
    .failed_code(failed_codes[3:0])
);

mrnic_dma_write #(
    .DATA_WIDTH(DATA_WIDTH), .SLOTS(DATA_SLOTS), .SLOT_BYTES(DATA_SLOT_BYTES), .DMA_ADDR_WIDTH(DMA_ADDR_WIDTH),
    .DMA_LEN_WIDTH(DMA_LEN_WIDTH), .DMA_TAG_WIDTH(DMA_TAG_WIDTH), .RAM_ADDR_WIDTH(RAM_ADDR_WIDTH),
    .RAM_PIPELINE(RAM_PIPELINE), .SEG_COUNT(SEG_COUNT), .SEG_DATA_WIDTH(SEG_DATA_WIDTH),
    .SEG_BE_WIDTH(SEG_BE_WIDTH), .SEG_ADDR_WIDTH(SEG_ADDR_WIDTH)
) data_writes (
    .clk(clk), .rst(rst), .desc_valid(dw_desc_valid), .desc_ready(dw_desc_ready), .desc_addr(dw_desc_addr),
    .desc_len(dw_desc_len), .data_valid(dw_valid), .data_ready(dw_ready), .data(dw_data), .data_last(dw_last),
    .written(dw_done), .dma_addr(data_write_dma_addr), .dma_ram_addr(data_write_ram_addr),
    .dma_len(data_write_len), .dma_tag(data_write_tag), .dma_valid(data_write_valid),
    .dma_ready(data_write_ready), .status_tag(data_write_status_tag), .status_error(data_write_status_error),
    .status_valid(data_write_status_valid), .ram_rd_addr(data_ram_rd_cmd_addr),
    .ram_rd_valid(data_ram_rd_cmd_valid), .ram_rd_ready(data_ram_rd_cmd_ready),
    .ram_resp_data(data_ram_rd_resp_data), .ram_resp_valid(data_ram_rd_resp_valid),
    .ram_resp_ready(data_ram_rd_resp_ready), .failed(failed[1]), .failed_code(failed_codes[7:4])
);

mrnic_dma_read #(
    .DATA_WIDTH(DATA_WIDTH), .SLOTS(CTRL_SLOTS), .SLOT_BYTES(CTRL_SLOT_BYTES), .DMA_ADDR_WIDTH(DMA_ADDR_WIDTH),
    .DMA_LEN_WIDTH(DMA_LEN_WIDTH), .DMA_TAG_WIDTH(DMA_TAG_WIDTH), .RAM_ADDR_WIDTH(RAM_ADDR_WIDTH),
    .SEG_COUNT(SEG_COUNT), .SEG_DATA_WIDTH(SEG_DATA_WIDTH), .SEG_BE_WIDTH(SEG_BE_WIDTH),
    .SEG_ADDR_WIDTH(SEG_ADDR_WIDTH)
) ctrl_reads (
    .clk(clk), .rst(rst), .desc_valid(cr_desc_valid), .desc_ready(cr_desc_ready), .desc_addr(cr_desc_addr),
    .desc_len(cr_desc_len), .data_valid(cr_valid), .data_ready(cr_ready), .data(cr_data), .data_last(cr_last),
    .dma_addr(ctrl_read_dma_addr), .dma_ram_addr(ctrl_read_ram_addr), .dma_len(ctrl_read_len),
    .dma_tag(ctrl_read_tag), .dma_valid(ctrl_read_valid), .dma_ready(ctrl_read_ready),
    .status_tag(ctrl_read_status_tag), .status_error(ctrl_read_status_error),
    .status_valid(ctrl_read_status_valid), .ram_wr_be(ctrl_ram_wr_cmd_be), .ram_wr_addr(ctrl_ram_wr_cmd_addr),
    .ram_wr_data(ctrl_ram_wr_cmd_data), .ram_wr_valid(ctrl_ram_wr_cmd_valid),
    .ram_wr_ready(ctrl_ram_wr_cmd_ready), .ram_wr_done(ctrl_ram_wr_done), .failed(failed[2]),
    .failed_code(failed_codes[11:8])
);

mrnic_dma_write #(
    .DATA_WIDTH(DATA_WIDTH), .SLOTS(CTRL_SLOTS), .SLOT_BYTES(CTRL_SLOT_BYTES), .DMA_ADDR_WIDTH(DMA_ADDR_WIDTH),
    .DMA_LEN_WIDTH(DMA_LEN_WIDTH), .DMA_TAG_WIDTH(DMA_TAG_WIDTH), .RAM_ADDR_WIDTH(RAM_ADDR_WIDTH),
    .RAM_PIPELINE(RAM_PIPELINE), .SEG_COUNT(SEG_COUNT), .SEG_DATA_WIDTH(SEG_DATA_WIDTH),
    .SEG_BE_WIDTH(SEG_BE_WIDTH), .SEG_ADDR_WIDTH(SEG_ADDR_WIDTH)
) ctrl_writes (
    .clk(clk), .rst(rst), .desc_valid(cw_desc_valid), .desc_ready(cw_desc_ready), .desc_addr(cw_desc_addr),
    .desc_len(cw_desc_len), .data_valid(cw_valid), .data_ready(cw_ready), .data(cw_data), .data_last(cw_last),
    .written(cw_done), .dma_addr(ctrl_write_dma_addr), .dma_ram_addr(ctrl_write_ram_addr),
    .dma_len(ctrl_write_len), .dma_tag(ctrl_write_tag), .dma_valid(ctrl_write_valid),
    .dma_ready(ctrl_write_ready), .status_tag(ctrl_write_status_tag), .status_error(ctrl_write_status_error),
    .status_valid(ctrl_write_status_valid), .ram_rd_addr(ctrl_ram_rd_cmd_addr),
    .ram_rd_valid(ctrl_ram_rd_cmd_valid), .ram_rd_ready(ctrl_ram_rd_cmd_ready),
    .ram_resp_data(ctrl_ram_rd_resp_data), .ram_resp_valid(ctrl_ram_rd_resp_valid),
    .ram_resp_ready(ctrl_ram_rd_resp_ready), .failed(failed[3]), .failed_code(failed_codes[15:12])
);

// frames
wire [5:0]            events;
wire [TS_WIDTH-1:0]   cpl_ts;
wire [DATA_WIDTH-1:0] mac_rx_tdata;
wire [KEEP_WIDTH-1:0] mac_rx_tkeep;
wire                  mac_rx_tvalid;
wire                  mac_rx_tready;
wire                  mac_rx_tlast;
wire [DATA_WIDTH-1:0] mac_tx_tdata;
wire [KEEP_WIDTH-1:0] mac_tx_tkeep;
wire                  mac_tx_tvalid;
wire                  mac_tx_tready;
wire                  mac_tx_tlast;

mrnic_rx_split #(
    .DATA_WIDTH(DATA_WIDTH), .KEEP_WIDTH(KEEP_WIDTH), .USER_WIDTH(RX_USER_WIDTH), .UDP_PORT(UDP_PORT)
) rx_split (
    .clk(clk), .rst(rst), .s_tdata(s_rx_tdata), .s_tkeep(s_rx_tkeep), .s_tvalid(s_rx_tvalid),
    .s_tready(s_rx_tready), .s_tlast(s_rx_tlast), .s_tuser(s_rx_tuser), .ours_tdata(mac_rx_tdata),
    .ours_tkeep(mac_rx_tkeep), .ours_tvalid(mac_rx_tvalid), .ours_tready(mac_rx_tready),
    .ours_tlast(mac_rx_tlast), .m_tdata(m_rx_tdata), .m_tkeep(m_rx_tkeep), .m_tvalid(m_rx_tvalid),
    .m_tready(m_rx_tready), .m_tlast(m_rx_tlast), .m_tuser(m_rx_tuser), .ours_frame(events[0]),
    .other_frame(events[1])
);

mrnic_tx_merge #(
    .DATA_WIDTH(DATA_WIDTH), .KEEP_WIDTH(KEEP_WIDTH), .TAG_WIDTH(TAG_WIDTH), .USER_WIDTH(TX_USER_WIDTH)
) tx_merge (
    .clk(clk), .rst(rst), .ours_tdata(mac_tx_tdata), .ours_tkeep(mac_tx_tkeep), .ours_tvalid(mac_tx_tvalid),
    .ours_tready(mac_tx_tready), .ours_tlast(mac_tx_tlast), .s_tdata(s_tx_tdata), .s_tkeep(s_tx_tkeep),
    .s_tvalid(s_tx_tvalid), .s_tready(s_tx_tready), .s_tlast(s_tx_tlast), .s_tuser(s_tx_tuser),
    .m_tdata(m_tx_tdata), .m_tkeep(m_tx_tkeep), .m_tvalid(m_tx_tvalid), .m_tready(m_tx_tready),
    .m_tlast(m_tx_tlast), .m_tuser(m_tx_tuser), .ours_frame(events[2]), .other_frame(events[3])
);

mrnic_tx_cpl #(
    .TS_WIDTH(TS_WIDTH), .TAG_WIDTH(TAG_WIDTH)
) tx_cpl (
    .clk(clk), .rst(rst), .s_ts(s_tx_cpl_ts), .s_tag(s_tx_cpl_tag), .s_valid(s_tx_cpl_valid),
    .s_ready(s_tx_cpl_ready), .m_ts(m_tx_cpl_ts), .m_tag(m_tx_cpl_tag), .m_valid(m_tx_cpl_valid),
    .m_ready(m_tx_cpl_ready), .ours(events[4]), .other(events[5]), .ours_ts(cpl_ts)
);

mrnic_app_regs #(
    .DATA_WIDTH(DATA_WIDTH), .UDP_PORT(UDP_PORT), .TS_WIDTH(TS_WIDTH)
) regs (
    .clk(clk), .rst(rst), .addr(reg_addr), .data(reg_data), .events(events), .cpl_ts(cpl_ts), .failed(failed),
    .failed_codes(failed_codes)
);

// the commit ports of the engine are for simulation and stay open
/* verilator lint_off PINMISSING */
`MRNIC_ENGINE engine (
    .clock(clk), .reset(rst), .axil_awaddr(e_awaddr), .axil_awvalid(e_awvalid), .axil_awready(e_awready),
    .axil_wdata(e_wdata), .axil_wvalid(e_wvalid), .axil_wready(e_wready), .axil_bresp(e_bresp),
    .axil_bvalid(e_bvalid), .axil_bready(e_bready), .axil_araddr(e_araddr), .axil_arvalid(e_arvalid),
    .axil_arready(e_arready), .axil_rdata(e_rdata), .axil_rresp(e_rresp), .axil_rvalid(e_rvalid),
    .axil_rready(e_rready), .dr_desc_valid(dr_desc_valid), .dr_desc_ready(dr_desc_ready),
    .dr_desc_addr(dr_desc_addr), .dr_desc_len(dr_desc_len), .dr_valid(dr_valid), .dr_ready(dr_ready),
    .dr_data(dr_data), .dw_desc_valid(dw_desc_valid), .dw_desc_ready(dw_desc_ready),
    .dw_desc_addr(dw_desc_addr), .dw_desc_len(dw_desc_len), .dw_valid(dw_valid), .dw_ready(dw_ready),
    .dw_data(dw_data), .dw_last(dw_last), .cr_desc_valid(cr_desc_valid), .cr_desc_ready(cr_desc_ready),
    .cr_desc_addr(cr_desc_addr), .cr_desc_len(cr_desc_len), .cr_valid(cr_valid), .cr_ready(cr_ready),
    .cr_data(cr_data), .cr_last(cr_last), .cw_desc_valid(cw_desc_valid), .cw_desc_ready(cw_desc_ready),
    .cw_desc_addr(cw_desc_addr), .cw_desc_len(cw_desc_len), .cw_valid(cw_valid), .cw_ready(cw_ready),
    .cw_data(cw_data), .cw_last(cw_last), .dw_done(dw_done), .mac_rx_tdata(mac_rx_tdata),
    .mac_rx_tkeep(mac_rx_tkeep), .mac_rx_tvalid(mac_rx_tvalid), .mac_rx_tready(mac_rx_tready),
    .mac_rx_tlast(mac_rx_tlast), .mac_tx_tdata(mac_tx_tdata), .mac_tx_tkeep(mac_tx_tkeep),
    .mac_tx_tvalid(mac_tx_tvalid), .mac_tx_tready(mac_tx_tready), .mac_tx_tlast(mac_tx_tlast)
);
/* verilator lint_on PINMISSING */

// the engine counts the beats of a payload read, and does not ask when a CQE is visible
wire unused = &{1'b0, dr_last, cw_done};

endmodule

`default_nettype wire
