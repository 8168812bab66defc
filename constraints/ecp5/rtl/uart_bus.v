// Commands of a serial line to register and memory accesses.
// In: bytes. 'W', 4 bytes of address, 4 bytes of data: writes a word, answers 'K'. 'R', 4 bytes of address: answers 'K' and the
// 4 bytes of the word. Least significant byte first. An address with bit 31 is one of the memory, others are registers (AXI-Lite).
// Guarantees: an access that the register block refuses is answered with 'E' instead of 'K'; any other first byte with '?'.
`default_nettype none
module uart_bus (
    input  wire        clock,
    input  wire        reset,
    input  wire        rx_valid,
    input  wire [7:0]  rx_data,
    output wire        tx_valid,
    output wire [7:0]  tx_data,
    input  wire        tx_ready,
    output wire [15:0] axil_awaddr,
    output reg         axil_awvalid,
    input  wire        axil_awready,
    output wire [31:0] axil_wdata,
    output reg         axil_wvalid,
    input  wire        axil_wready,
    input  wire [1:0]  axil_bresp,
    input  wire        axil_bvalid,
    output wire        axil_bready,
    output wire [15:0] axil_araddr,
    output reg         axil_arvalid,
    input  wire        axil_arready,
    input  wire [31:0] axil_rdata,
    input  wire [1:0]  axil_rresp,
    input  wire        axil_rvalid,
    output wire        axil_rready,
    output reg         mem_valid, // held until mem_done
    output wire        mem_write,
    output wire [30:0] mem_addr,
    output wire [31:0] mem_wdata,
    input  wire        mem_done,
    input  wire [31:0] mem_rdata
);
    localparam [7:0] WRITE = "W", READ = "R", GOOD = "K", BAD = "E", UNKNOWN = "?";
    localparam [1:0] COMMAND = 2'd0, WORDS = 2'd1, ACCESS = 2'd2, ANSWER = 2'd3;
    reg [1:0] state;
    reg write;
    reg [3:0] left; // bytes to come, then bytes to be sent
    reg [63:0] words; // data, address
    reg [39:0] answer;
    wire [31:0] address = write ? words[31:0] : words[63:32];
    wire bus_done = write ? axil_bvalid : axil_rvalid;
    wire refused = write ? axil_bresp != 2'd0 : axil_rresp != 2'd0;
    assign axil_awaddr = address[15:0];
    assign axil_araddr = address[15:0];
    assign axil_wdata = words[63:32];
    assign axil_bready = state == ACCESS;
    assign axil_rready = state == ACCESS;
    assign mem_write = write;
    assign mem_addr = address[30:0];
    assign mem_wdata = words[63:32];
    assign tx_valid = state == ANSWER;
    assign tx_data = answer[7:0];
    always @(posedge clock) begin
        if (axil_awready) axil_awvalid <= 1'b0;
        if (axil_wready) axil_wvalid <= 1'b0;
        if (axil_arready) axil_arvalid <= 1'b0;
        case (state)
            COMMAND:
                if (rx_valid) begin
                    write <= rx_data == WRITE;
                    left <= rx_data == WRITE ? 4'd8 : 4'd4;
                    answer <= {32'd0, UNKNOWN};
                    state <= WORDS;
                    if (rx_data != WRITE && rx_data != READ) begin
                        left <= 4'd1;
                        state <= ANSWER;
                    end
                end
            WORDS:
                if (left == 4'd0) begin
                    state <= ACCESS;
                    mem_valid <= address[31];
                    axil_awvalid <= write && !address[31];
                    axil_wvalid <= write && !address[31];
                    axil_arvalid <= !write && !address[31];
                end else if (rx_valid) begin
                    words <= {rx_data, words[63:8]};
                    left <= left - 4'd1;
                end
            ACCESS:
                if (mem_valid ? mem_done : bus_done) begin
                    mem_valid <= 1'b0;
                    answer <= {mem_valid ? mem_rdata : axil_rdata, !mem_valid && refused ? BAD : GOOD};
                    left <= write ? 4'd1 : 4'd5;
                    state <= ANSWER;
                end
            default:
                if (tx_ready) begin
                    answer <= {8'd0, answer[39:8]};
                    left <= left - 4'd1;
                    if (left == 4'd1) state <= COMMAND;
                end
        endcase
        if (reset) begin
            state <= COMMAND;
            axil_awvalid <= 1'b0;
            axil_wvalid <= 1'b0;
            axil_arvalid <= 1'b0;
            mem_valid <= 1'b0;
        end
    end
endmodule
`default_nettype wire
