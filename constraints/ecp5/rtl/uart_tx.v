// Bytes to a serial line: 8 data bits, no parity, one stop bit.
// In: a byte with `valid`. Out: `ready` in the clock that takes it, the line.
// Guarantees: the line rests at 1, in reset too.
`default_nettype none
module uart_tx #(
    parameter integer DIVISOR = 625 // clocks of a bit, 4 to 65535
) (
    input  wire       clock,
    input  wire       reset,
    input  wire       valid,
    input  wire [7:0] data,
    output wire       ready,
    output wire       line
);
    localparam [15:0] BIT = DIVISOR[15:0] - 16'd1;
    reg [9:0] shift;
    reg [3:0] left;
    reg [15:0] wait_for;
    assign ready = left == 4'd0;
    assign line = shift[0];
    always @(posedge clock) begin
        if (ready) begin
            if (valid) begin
                shift <= {1'b1, data, 1'b0};
                left <= 4'd10;
                wait_for <= BIT;
            end
        end else if (wait_for != 16'd0) begin
            wait_for <= wait_for - 16'd1;
        end else begin
            wait_for <= BIT;
            shift <= {1'b1, shift[9:1]};
            left <= left - 4'd1;
        end
        if (reset) begin
            shift <= 10'h3ff;
            left <= 4'd0;
            wait_for <= 16'd0;
        end
    end
endmodule
`default_nettype wire
