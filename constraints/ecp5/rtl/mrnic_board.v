// The stand-alone engine: build `ecp5` between a serial line and a byte stream with the framing of GMII, on one clock.
// In: clock, reset, serial line, received bytes. Out: serial line, bytes to be sent, lights.
// Guarantees: registers and memory are reached over the serial line only (uart_bus); payload lives in host_memory.
`default_nettype none
module mrnic_board #(
    parameter integer DIVISOR = 625, // clocks of a bit of the serial line
    parameter integer MEMORY_WORD_BITS = 11
) (
    input  wire       clock,
    input  wire       reset,
    input  wire       uart_rxd,
    output wire       uart_txd,
    output wire [7:0] gmii_txd,
    output wire       gmii_tx_en,
    input  wire [7:0] gmii_rxd,
    input  wire       gmii_rx_dv,
    input  wire       gmii_rx_er,
    output wire       serial_active,
    output wire       frame_active
);
    wire rx_valid, tx_valid, tx_ready;
    wire [7:0] rx_data, tx_data;
    uart_rx #(.DIVISOR(DIVISOR)) serial_in (.clock(clock), .reset(reset), .line(uart_rxd), .valid(rx_valid), .data(rx_data));
    uart_tx #(.DIVISOR(DIVISOR)) serial_out (.clock(clock), .reset(reset), .valid(tx_valid), .data(tx_data), .ready(tx_ready),
        .line(uart_txd));
    assign serial_active = !tx_ready;
    assign frame_active = gmii_tx_en || gmii_rx_dv;

    wire [15:0] awaddr, araddr;
    wire awvalid, awready, wvalid, wready, bvalid, bready, arvalid, arready, rvalid, rready;
    wire [31:0] wdata, rdata;
    wire [1:0] bresp, rresp;
    wire mem_valid, mem_write, mem_done;
    wire [30:0] mem_addr;
    wire [31:0] mem_wdata, mem_rdata;
    uart_bus bus (
        .clock(clock), .reset(reset), .rx_valid(rx_valid), .rx_data(rx_data), .tx_valid(tx_valid), .tx_data(tx_data),
        .tx_ready(tx_ready), .axil_awaddr(awaddr), .axil_awvalid(awvalid), .axil_awready(awready), .axil_wdata(wdata),
        .axil_wvalid(wvalid), .axil_wready(wready), .axil_bresp(bresp), .axil_bvalid(bvalid), .axil_bready(bready),
        .axil_araddr(araddr), .axil_arvalid(arvalid), .axil_arready(arready), .axil_rdata(rdata), .axil_rresp(rresp),
        .axil_rvalid(rvalid), .axil_rready(rready), .mem_valid(mem_valid), .mem_write(mem_write), .mem_addr(mem_addr),
        .mem_wdata(mem_wdata), .mem_done(mem_done), .mem_rdata(mem_rdata)
    );

    wire cr_desc_valid, cr_desc_ready, cr_valid, cr_ready, cr_last, cw_desc_valid, cw_desc_ready, cw_valid, cw_ready, cw_last;
    wire dr_desc_valid, dr_desc_ready, dr_valid, dr_ready, dw_desc_valid, dw_desc_ready, dw_valid, dw_ready, dw_last, dw_done;
    wire [63:0] cr_desc_addr, cw_desc_addr, dr_desc_addr, dw_desc_addr, cr_data, cw_data, dr_data, dw_data;
    wire [15:0] cr_desc_len, cw_desc_len, dr_desc_len, dw_desc_len;
    wire unused = &{1'b0, cw_last, dw_last}; // the memory counts bytes
    host_memory #(.WORD_BITS(MEMORY_WORD_BITS)) memory (
        .clock(clock), .reset(reset),
        .cr_desc_valid(cr_desc_valid), .cr_desc_ready(cr_desc_ready), .cr_desc_addr(cr_desc_addr), .cr_desc_len(cr_desc_len),
        .cr_valid(cr_valid), .cr_ready(cr_ready), .cr_data(cr_data), .cr_last(cr_last),
        .dr_desc_valid(dr_desc_valid), .dr_desc_ready(dr_desc_ready), .dr_desc_addr(dr_desc_addr), .dr_desc_len(dr_desc_len),
        .dr_valid(dr_valid), .dr_ready(dr_ready), .dr_data(dr_data),
        .cw_desc_valid(cw_desc_valid), .cw_desc_ready(cw_desc_ready), .cw_desc_addr(cw_desc_addr), .cw_desc_len(cw_desc_len),
        .cw_valid(cw_valid), .cw_ready(cw_ready), .cw_data(cw_data),
        .dw_desc_valid(dw_desc_valid), .dw_desc_ready(dw_desc_ready), .dw_desc_addr(dw_desc_addr), .dw_desc_len(dw_desc_len),
        .dw_valid(dw_valid), .dw_ready(dw_ready), .dw_data(dw_data), .dw_done(dw_done),
        .mem_valid(mem_valid), .mem_write(mem_write), .mem_addr(mem_addr), .mem_wdata(mem_wdata), .mem_done(mem_done),
        .mem_rdata(mem_rdata)
    );

    wire tx_tvalid, tx_tready, tx_tlast, rx_tvalid, rx_tready, rx_tlast;
    wire [63:0] tx_tdata, rx_tdata;
    wire [7:0] tx_tkeep;
    wire [2:0] rx_bytes;
    // tkeep is a run of ones from bit 0; eight of them count as 0
    wire [2:0] tx_kept = {2'd0, tx_tkeep[0]} + {2'd0, tx_tkeep[1]} + {2'd0, tx_tkeep[2]} + {2'd0, tx_tkeep[3]}
        + {2'd0, tx_tkeep[4]} + {2'd0, tx_tkeep[5]} + {2'd0, tx_tkeep[6]} + {2'd0, tx_tkeep[7]};
    wire out_valid, out_read, out_last;
    wire [63:0] out_data;
    wire [2:0] out_bytes;
    frame_fifo transmit (
        .clock(clock), .reset(reset), .write(tx_tvalid), .ready(tx_tready), .data_in(tx_tdata), .bytes_in(tx_kept),
        .last_in(tx_tlast), .drop(1'b0), .valid(out_valid), .read(out_read), .data_out(out_data), .bytes_out(out_bytes),
        .last_out(out_last)
    );
    gmii_tx sender (
        .clock(clock), .reset(reset), .valid(out_valid), .read(out_read), .data(out_data), .bytes(out_bytes), .last(out_last),
        .txd(gmii_txd), .tx_en(gmii_tx_en)
    );
    wire in_write, in_ready, in_last, in_drop;
    wire [63:0] in_data;
    wire [2:0] in_bytes;
    gmii_rx receiver (
        .clock(clock), .reset(reset), .rxd(gmii_rxd), .rx_dv(gmii_rx_dv), .rx_er(gmii_rx_er), .write(in_write),
        .ready(in_ready), .data(in_data), .bytes(in_bytes), .last(in_last), .drop(in_drop)
    );
    frame_fifo receive (
        .clock(clock), .reset(reset), .write(in_write), .ready(in_ready), .data_in(in_data), .bytes_in(in_bytes),
        .last_in(in_last), .drop(in_drop), .valid(rx_tvalid), .read(rx_tready), .data_out(rx_tdata), .bytes_out(rx_bytes),
        .last_out(rx_tlast)
    );
    wire [7:0] rx_tkeep = rx_tlast && rx_bytes != 3'd0 ? ~(8'hff << rx_bytes) : 8'hff;

    /* verilator lint_off PINMISSING */ // the commit records are for simulation
    ecp5 engine (
        .clock(clock), .reset(reset),
        .axil_awaddr(awaddr), .axil_awvalid(awvalid), .axil_awready(awready), .axil_wdata(wdata), .axil_wvalid(wvalid),
        .axil_wready(wready), .axil_bresp(bresp), .axil_bvalid(bvalid), .axil_bready(bready), .axil_araddr(araddr),
        .axil_arvalid(arvalid), .axil_arready(arready), .axil_rdata(rdata), .axil_rresp(rresp), .axil_rvalid(rvalid),
        .axil_rready(rready),
        .cr_desc_valid(cr_desc_valid), .cr_desc_ready(cr_desc_ready), .cr_desc_addr(cr_desc_addr), .cr_desc_len(cr_desc_len),
        .cr_valid(cr_valid), .cr_ready(cr_ready), .cr_data(cr_data), .cr_last(cr_last),
        .cw_desc_valid(cw_desc_valid), .cw_desc_ready(cw_desc_ready), .cw_desc_addr(cw_desc_addr), .cw_desc_len(cw_desc_len),
        .cw_valid(cw_valid), .cw_ready(cw_ready), .cw_data(cw_data), .cw_last(cw_last),
        .dr_desc_valid(dr_desc_valid), .dr_desc_ready(dr_desc_ready), .dr_desc_addr(dr_desc_addr), .dr_desc_len(dr_desc_len),
        .dr_valid(dr_valid), .dr_ready(dr_ready), .dr_data(dr_data),
        .dw_desc_valid(dw_desc_valid), .dw_desc_ready(dw_desc_ready), .dw_desc_addr(dw_desc_addr), .dw_desc_len(dw_desc_len),
        .dw_valid(dw_valid), .dw_ready(dw_ready), .dw_data(dw_data), .dw_last(dw_last), .dw_done(dw_done),
        .mac_tx_tvalid(tx_tvalid), .mac_tx_tready(tx_tready), .mac_tx_tdata(tx_tdata), .mac_tx_tkeep(tx_tkeep),
        .mac_tx_tlast(tx_tlast),
        .mac_rx_tvalid(rx_tvalid), .mac_rx_tready(rx_tready), .mac_rx_tdata(rx_tdata), .mac_rx_tkeep(rx_tkeep),
        .mac_rx_tlast(rx_tlast)
    );
    /* verilator lint_on PINMISSING */
endmodule
`default_nettype wire
