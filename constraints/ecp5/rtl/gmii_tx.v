// Frames to a byte stream with the framing of GMII: preamble, padding to 60 bytes, FCS, gap of 12 bytes.
// In: words of complete frames (frame_fifo). Out: a byte a clock while `tx_en` is high.
// Guarantees: a frame is never interrupted.
`default_nettype none
module gmii_tx (
    input  wire        clock,
    input  wire        reset,
    input  wire        valid,
    output wire        read,
    input  wire [63:0] data,
    input  wire [2:0]  bytes, // of the last word; 0 is 8
    input  wire        last,
    output reg  [7:0]  txd,
    output reg         tx_en
);
    localparam [2:0] IDLE = 3'd0, PREAMBLE = 3'd1, DATA = 3'd2, PAD = 3'd3, FCS = 3'd4, GAP = 3'd5;
    localparam [6:0] MIN_BYTES = 7'd60;
    reg [2:0] state;
    reg [3:0] count;
    reg [2:0] at; // byte of the word
    reg [6:0] sent; // bytes so far, up to MIN_BYTES
    reg [31:0] fcs;
    wire [31:0] fcs_next;
    wire [7:0] byte_now = state == DATA ? data[{at, 3'd0} +: 8] : 8'd0;
    fcs_step step (.sum(fcs), .data(byte_now), .sum_next(fcs_next));
    wire end_of_word = at == (last ? bytes - 3'd1 : 3'd7);
    wire enough = sent + 7'd1 >= MIN_BYTES;
    assign read = state == DATA && end_of_word;
    always @(posedge clock) begin
        tx_en <= 1'b0;
        txd <= 8'd0;
        count <= count + 4'd1;
        case (state)
            IDLE: begin
                count <= 4'd0;
                fcs <= 32'hffffffff;
                at <= 3'd0;
                sent <= 7'd0;
                if (valid) state <= PREAMBLE;
            end
            PREAMBLE: begin
                tx_en <= 1'b1;
                txd <= count == 4'd7 ? 8'hd5 : 8'h55;
                if (count == 4'd7) state <= DATA;
            end
            DATA, PAD: begin
                tx_en <= 1'b1;
                txd <= byte_now;
                fcs <= fcs_next;
                count <= 4'd0;
                at <= end_of_word ? 3'd0 : at + 3'd1;
                if (!enough) sent <= sent + 7'd1;
                if (state == PAD ? enough : end_of_word && last) state <= enough ? FCS : PAD;
            end
            FCS: begin
                tx_en <= 1'b1;
                txd <= ~fcs[7:0];
                fcs <= {8'd0, fcs[31:8]};
                if (count == 4'd3) begin
                    count <= 4'd0;
                    state <= GAP;
                end
            end
            default: if (count == 4'd11) state <= IDLE;
        endcase
        if (reset) begin
            state <= IDLE;
            tx_en <= 1'b0;
        end
    end
endmodule
`default_nettype wire
