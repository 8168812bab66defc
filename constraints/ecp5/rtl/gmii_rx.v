// A byte stream with the framing of GMII to frames.
// In: a byte a clock while `rx_dv` is high, `rx_er`. Out: words for frame_fifo, `drop` for a frame that is not good.
// Guarantees: only frames with a correct FCS are completed; preamble and FCS are taken off; a frame that finds no room is dropped.
`default_nettype none
module gmii_rx (
    input  wire        clock,
    input  wire        reset,
    input  wire [7:0]  rxd,
    input  wire        rx_dv,
    input  wire        rx_er,
    output reg         write,
    input  wire        ready,
    output reg  [63:0] data,
    output reg  [2:0]  bytes,
    output reg         last,
    output reg         drop
);
    localparam [31:0] GOOD = 32'hdebb20e3;
    reg in_frame, bad;
    reg armed; // the line has rested, and since then only the preamble has come
    reg [31:0] held; // the last four bytes: they may be the FCS
    reg [2:0] holding;
    reg [63:0] word;
    reg [3:0] filled;
    reg [31:0] fcs;
    wire [31:0] fcs_next;
    fcs_step step (.sum(fcs), .data(rxd), .sum_next(fcs_next));
    wire refused = write && !ready;
    always @(posedge clock) begin
        write <= 1'b0;
        drop <= 1'b0;
        armed <= !rx_dv || (armed && rxd == 8'h55);
        if (!in_frame) begin
            fcs <= 32'hffffffff;
            holding <= 3'd0;
            filled <= 4'd0;
            bad <= 1'b0;
            if (rx_dv && armed && rxd == 8'hd5) in_frame <= 1'b1;
            // the last word was refused after all: the one before it has taken the last place
            if (refused) drop <= 1'b1;
        end else if (rx_dv) begin
            fcs <= fcs_next;
            held <= {rxd, held[31:8]};
            if (rx_er || refused) bad <= 1'b1;
            if (holding != 3'd4) begin
                holding <= holding + 3'd1;
            end else begin
                word <= {held[7:0], word[63:8]};
                filled <= filled == 4'd8 ? 4'd1 : filled + 4'd1;
                if (filled == 4'd8) begin
                    write <= 1'b1;
                    data <= word;
                    bytes <= 3'd0;
                    last <= 1'b0;
                end
            end
        end else begin
            in_frame <= 1'b0;
            data <= word >> {4'd8 - filled, 3'd0};
            bytes <= filled[2:0];
            last <= 1'b1;
            write <= filled != 4'd0 && fcs == GOOD && !bad && !refused && ready;
            drop <= !(filled != 4'd0 && fcs == GOOD && !bad && !refused && ready);
        end
        if (reset) begin
            in_frame <= 1'b0;
            armed <= 1'b0;
            write <= 1'b0;
            drop <= 1'b0;
        end
    end
endmodule
`default_nettype wire
