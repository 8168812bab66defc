// The application BAR: the engine's registers from 0x00000, those of this wrapper from 0x10000.
// In: AXI-Lite of the core. Out: `e_*`, AXI-Lite of the engine; `reg_*`, reads of the wrapper's registers. One read and one
// write at a time. Everything else is answered at once: DECERR outside, SLVERR for what is not a write of a whole word.
`default_nettype none

module mrnic_axil #(
    parameter ADDR_WIDTH = 24
) (
    input  wire                   clk,
    input  wire                   rst,
    // core
    input  wire [ADDR_WIDTH-1:0]  s_awaddr,
    input  wire                   s_awvalid,
    output wire                   s_awready,
    input  wire [31:0]            s_wdata,
    input  wire [3:0]             s_wstrb,
    input  wire                   s_wvalid,
    output wire                   s_wready,
    output reg  [1:0]             s_bresp,
    output reg                    s_bvalid,
    input  wire                   s_bready,
    input  wire [ADDR_WIDTH-1:0]  s_araddr,
    input  wire                   s_arvalid,
    output wire                   s_arready,
    output reg  [31:0]            s_rdata,
    output reg  [1:0]             s_rresp,
    output reg                    s_rvalid,
    input  wire                   s_rready,
    // engine
    output reg  [15:0]            e_awaddr,
    output reg                    e_awvalid,
    input  wire                   e_awready,
    output reg  [31:0]            e_wdata,
    output reg                    e_wvalid,
    input  wire                   e_wready,
    input  wire [1:0]             e_bresp,
    input  wire                   e_bvalid,
    output wire                   e_bready,
    output reg  [15:0]            e_araddr,
    output reg                    e_arvalid,
    input  wire                   e_arready,
    input  wire [31:0]            e_rdata,
    input  wire [1:0]             e_rresp,
    input  wire                   e_rvalid,
    output wire                   e_rready,
    // registers of the wrapper
    output wire [7:0]             reg_addr,
    input  wire [31:0]            reg_data
);

localparam [1:0] OKAY = 2'b00;
localparam [1:0] SLVERR = 2'b10;
localparam [1:0] DECERR = 2'b11;

// which 64 KiB
wire [ADDR_WIDTH-17:0] aw_page = s_awaddr[ADDR_WIDTH-1:16];
wire [ADDR_WIDTH-17:0] ar_page = s_araddr[ADDR_WIDTH-1:16];

// writes: address and data are taken together
reg  w_busy;
wire w_take = s_awvalid && s_wvalid && !w_busy && !s_bvalid;
assign s_awready = w_take;
assign s_wready  = w_take;
assign e_bready  = w_busy;

always @(posedge clk) begin
    if (s_bready)
        s_bvalid <= 1'b0;
    if (e_awready)
        e_awvalid <= 1'b0;
    if (e_wready)
        e_wvalid <= 1'b0;
    if (w_take) begin
        e_awaddr <= s_awaddr[15:0];
        e_wdata  <= s_wdata;
        if (aw_page == 0 && s_wstrb == 4'b1111) begin
            e_awvalid <= 1'b1;
            e_wvalid  <= 1'b1;
            w_busy    <= 1'b1;
        end else begin
            s_bvalid <= 1'b1;
            s_bresp  <= aw_page <= 1 ? SLVERR : DECERR;
        end
    end
    if (w_busy && e_bvalid) begin
        w_busy   <= 1'b0;
        s_bvalid <= 1'b1;
        s_bresp  <= e_bresp;
    end
    if (rst) begin
        s_bvalid  <= 1'b0;
        s_bresp   <= OKAY;
        e_awaddr  <= 16'd0;
        e_awvalid <= 1'b0;
        e_wdata   <= 32'd0;
        e_wvalid  <= 1'b0;
        w_busy    <= 1'b0;
    end
end

// reads
reg  r_busy;
wire r_take = s_arvalid && !r_busy && !s_rvalid;
assign s_arready = r_take;
assign e_rready  = r_busy;
assign reg_addr  = s_araddr[7:0];

always @(posedge clk) begin
    if (s_rready)
        s_rvalid <= 1'b0;
    if (e_arready)
        e_arvalid <= 1'b0;
    if (r_take) begin
        e_araddr <= s_araddr[15:0];
        if (ar_page == 0) begin
            e_arvalid <= 1'b1;
            r_busy    <= 1'b1;
        end else begin
            s_rvalid <= 1'b1;
            s_rdata  <= ar_page == 1 && s_araddr[15:8] == 8'd0 ? reg_data : 32'hffff_ffff;
            s_rresp  <= ar_page == 1 && s_araddr[15:8] == 8'd0 ? OKAY : DECERR;
        end
    end
    if (r_busy && e_rvalid) begin
        r_busy   <= 1'b0;
        s_rvalid <= 1'b1;
        s_rdata  <= e_rdata;
        s_rresp  <= e_rresp;
    end
    if (rst) begin
        s_rvalid  <= 1'b0;
        s_rdata   <= 32'd0;
        s_rresp   <= OKAY;
        e_araddr  <= 16'd0;
        e_arvalid <= 1'b0;
        r_busy    <= 1'b0;
    end
end

endmodule

`default_nettype wire
