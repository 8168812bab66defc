// Serial line to bytes: 8 data bits, no parity, one stop bit.
// In: the line (asynchronous). Out: one clock of `valid` with each byte.
// Guarantees: a byte whose stop bit is missing is not given out.
`default_nettype none
module uart_rx #(
    parameter integer DIVISOR = 625 // clocks of a bit, 4 to 65535
) (
    input  wire       clock,
    input  wire       reset,
    input  wire       line,
    output reg        valid,
    output reg  [7:0] data
);
    localparam [15:0] BIT = DIVISOR[15:0] - 16'd1;
    localparam [15:0] HALF = {1'b0, DIVISOR[15:1]} - 16'd1;
    reg [2:0] sampled; // two registers against metastability, one to see the edge
    reg [15:0] wait_for;
    reg [3:0] bits; // 9: start bit, 8 to 1: data bits, 0: stop bit
    reg busy;
    always @(posedge clock) begin
        sampled <= {sampled[1:0], line};
        valid <= 1'b0;
        if (!busy) begin
            if (sampled[2] && !sampled[1]) begin
                busy <= 1'b1;
                bits <= 4'd9;
                wait_for <= HALF;
            end
        end else if (wait_for != 16'd0) begin
            wait_for <= wait_for - 16'd1;
        end else begin
            wait_for <= BIT;
            bits <= bits - 4'd1;
            if (bits == 4'd9) begin
                if (sampled[1]) busy <= 1'b0; // a glitch, no start bit
            end else if (bits == 4'd0) begin
                busy <= 1'b0;
                valid <= sampled[1];
            end else begin
                data <= {sampled[1], data[7:1]};
            end
        end
        if (reset) begin
            sampled <= 3'b111;
            busy <= 1'b0;
            valid <= 1'b0;
        end
    end
endmodule
`default_nettype wire
