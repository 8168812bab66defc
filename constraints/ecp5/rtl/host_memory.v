// The host's memory of a board without a host: block RAM behind the four DMA ports of the engine, and behind the serial line.
// In: descriptors and data of the engine (any byte address, any length from 1 byte), word accesses of the serial line.
// Out: data, one pulse of `dw_done` for each payload write, in their order. Addresses wrap at the size of the memory.
// Guarantees: one read and one write at a time, taken in turn, so that no port waits for ever.
`default_nettype none
module host_memory #(
    parameter integer WORD_BITS = 11 // log2 of the 64-bit words; 11 is 16 KiB
) (
    input  wire        clock,
    input  wire        reset,
    input  wire        cr_desc_valid,
    output wire        cr_desc_ready,
    input  wire [63:0] cr_desc_addr,
    input  wire [15:0] cr_desc_len,
    output wire        cr_valid,
    input  wire        cr_ready,
    output wire [63:0] cr_data,
    output wire        cr_last,
    input  wire        dr_desc_valid,
    output wire        dr_desc_ready,
    input  wire [63:0] dr_desc_addr,
    input  wire [15:0] dr_desc_len,
    output wire        dr_valid,
    input  wire        dr_ready,
    output wire [63:0] dr_data,
    input  wire        cw_desc_valid,
    output wire        cw_desc_ready,
    input  wire [63:0] cw_desc_addr,
    input  wire [15:0] cw_desc_len,
    input  wire        cw_valid,
    output wire        cw_ready,
    input  wire [63:0] cw_data,
    input  wire        dw_desc_valid,
    output wire        dw_desc_ready,
    input  wire [63:0] dw_desc_addr,
    input  wire [15:0] dw_desc_len,
    input  wire        dw_valid,
    output wire        dw_ready,
    input  wire [63:0] dw_data,
    output reg         dw_done,
    input  wire        mem_valid,
    input  wire        mem_write,
    input  wire [30:0] mem_addr,
    input  wire [31:0] mem_wdata,
    output wire        mem_done,
    output wire [31:0] mem_rdata
);
    localparam integer ADDR = WORD_BITS + 3;
    localparam [1:0] NONE = 2'd0, CONTROL = 2'd1, PAYLOAD = 2'd2, SERIAL = 2'd3;
    wire unused = &{1'b0, cr_desc_addr[63:ADDR], dr_desc_addr[63:ADDR], cw_desc_addr[63:ADDR], dw_desc_addr[63:ADDR],
                    mem_addr[30:ADDR]};

    // ---- reads ----
    localparam [1:0] FETCH = 2'd0, TURN = 2'd1, GIVE = 2'd2;
    reg [1:0] reader;
    reg [1:0] read_before; // served last: the others come first
    reg [1:0] read_state;
    reg [ADDR-1:0] read_at;
    reg [15:0] read_left;
    reg [63:0] read_data;
    wire [63:0] turned;
    reg want_serial_read;
    reg [1:0] read_offer; // who may give a descriptor in this clock: decided a clock ahead, from registers on
    wire [1:0] next_reader = want_serial_read && read_before != SERIAL ? SERIAL
        : cr_desc_valid && read_before != CONTROL ? CONTROL
        : dr_desc_valid ? PAYLOAD : cr_desc_valid ? CONTROL : want_serial_read ? SERIAL : NONE;
    wire read_idle = reader == NONE;
    assign cr_desc_ready = read_offer == CONTROL;
    assign dr_desc_ready = read_offer == PAYLOAD;
    wire give = read_state == GIVE;
    wire taken = reader == CONTROL ? cr_ready : reader == PAYLOAD ? dr_ready : 1'b1;
    wire last_read = read_left <= 16'd8;
    assign cr_valid = give && reader == CONTROL;
    assign dr_valid = give && reader == PAYLOAD;
    assign cr_data = read_data;
    assign dr_data = read_data;
    assign cr_last = last_read;
    assign mem_rdata = read_data[31:0];
    always @(posedge clock) begin
        want_serial_read <= mem_valid && !mem_write && !mem_done;
        if (read_idle) begin
            read_offer <= read_offer == NONE ? next_reader : NONE;
            reader <= read_offer;
            read_state <= FETCH;
            read_at <= read_offer == CONTROL ? cr_desc_addr[ADDR-1:0]
                : read_offer == PAYLOAD ? dr_desc_addr[ADDR-1:0] : mem_addr[ADDR-1:0];
            read_left <= read_offer == CONTROL ? cr_desc_len : read_offer == PAYLOAD ? dr_desc_len : 16'd4;
        end else if (read_state == FETCH) begin
            read_state <= TURN;
        end else if (read_state == TURN) begin
            read_state <= GIVE;
            read_data <= turned;
        end else if (taken) begin
            read_state <= FETCH;
            read_at <= read_at + 8;
            read_left <= read_left - 16'd8;
            if (last_read) begin
                read_before <= reader;
                reader <= NONE;
            end
        end
        if (reset) begin
            reader <= NONE;
            read_offer <= NONE;
            want_serial_read <= 1'b0;
            read_before <= NONE;
            read_state <= FETCH;
        end
    end

    // ---- writes ----
    reg [1:0] writer;
    reg [1:0] written_before;
    reg [ADDR-1:0] write_at;
    reg [15:0] write_left;
    reg want_serial_write;
    reg [1:0] write_offer;
    wire [1:0] next_writer = want_serial_write && written_before != SERIAL ? SERIAL
        : cw_desc_valid && written_before != CONTROL ? CONTROL
        : dw_desc_valid ? PAYLOAD : cw_desc_valid ? CONTROL : want_serial_write ? SERIAL : NONE;
    wire write_idle = writer == NONE;
    assign cw_desc_ready = write_offer == CONTROL;
    assign dw_desc_ready = write_offer == PAYLOAD;
    assign cw_ready = writer == CONTROL;
    assign dw_ready = writer == PAYLOAD;
    wire write = writer == CONTROL ? cw_valid : writer == PAYLOAD ? dw_valid : writer == SERIAL;
    wire [63:0] write_data = writer == CONTROL ? cw_data : writer == PAYLOAD ? dw_data : {32'd0, mem_wdata};
    wire last_write = write_left <= 16'd8;
    wire [7:0] enables = last_write ? ~(8'hff << write_left[3:0]) : 8'hff;
    always @(posedge clock) begin
        dw_done <= 1'b0;
        want_serial_write <= mem_valid && mem_write && !mem_done;
        if (write_idle) begin
            write_offer <= write_offer == NONE ? next_writer : NONE;
            writer <= write_offer;
            write_at <= write_offer == CONTROL ? cw_desc_addr[ADDR-1:0]
                : write_offer == PAYLOAD ? dw_desc_addr[ADDR-1:0] : mem_addr[ADDR-1:0];
            write_left <= write_offer == CONTROL ? cw_desc_len : write_offer == PAYLOAD ? dw_desc_len : 16'd4;
        end else if (write) begin
            write_at <= write_at + 8;
            write_left <= write_left - 16'd8;
            if (last_write) begin
                written_before <= writer;
                writer <= NONE;
                dw_done <= writer == PAYLOAD;
            end
        end
        if (reset) begin
            writer <= NONE;
            write_offer <= NONE;
            want_serial_write <= 1'b0;
            written_before <= NONE;
            dw_done <= 1'b0;
        end
    end
    assign mem_done = (reader == SERIAL && give) || (writer == SERIAL && write);

    // ---- eight memories, one for each byte of a word: an unaligned word is one row of some and the next row of the others ----
    genvar lane;
    generate
        for (lane = 0; lane < 8; lane = lane + 1) begin : bytes
            localparam [2:0] LANE = lane[2:0];
            (* ram_style = "block" *) reg [7:0] mem [0:(1<<WORD_BITS)-1];
            reg [7:0] q;
            // negative: this byte lies in the next row
            wire [3:0] read_from = {1'b0, LANE} - {1'b0, read_at[2:0]};
            wire [3:0] write_from = {1'b0, LANE} - {1'b0, write_at[2:0]};
            wire [WORD_BITS-1:0] read_row = read_at[ADDR-1:3] + {{(WORD_BITS-1){1'b0}}, read_from[3]};
            wire [WORD_BITS-1:0] write_row = write_at[ADDR-1:3] + {{(WORD_BITS-1){1'b0}}, write_from[3]};
            wire [2:0] from = write_from[2:0]; // the byte of the data that belongs here
            wire unused_from = &{1'b0, read_from[2:0]};
            always @(posedge clock) begin
                q <= mem[read_row];
                if (write && enables[from]) mem[write_row] <= write_data[{from, 3'd0} +: 8];
            end
            wire [2:0] source = LANE + read_at[2:0]; // the memory that byte LANE of the result comes from
            assign turned[8*lane +: 8] = rows[{source, 3'd0} +: 8];
        end
    endgenerate
    wire [63:0] rows = {bytes[7].q, bytes[6].q, bytes[5].q, bytes[4].q, bytes[3].q, bytes[2].q, bytes[1].q, bytes[0].q};
endmodule
`default_nettype wire
