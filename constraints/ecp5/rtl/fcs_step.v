// One byte of Ethernet's frame check sequence.
// In: the register before the byte, the byte. Out: the register after it (least significant bit first, not inverted).
// Guarantees: starting from all ones, a frame with its correct FCS leaves 32'hdebb20e3.
`default_nettype none
module fcs_step (
    input  wire [31:0] sum,
    input  wire [7:0]  data,
    output reg  [31:0] sum_next
);
    integer i;
    always @* begin
        sum_next = sum ^ {24'd0, data};
        for (i = 0; i < 8; i = i + 1) sum_next = {1'b0, sum_next[31:1]} ^ (sum_next[0] ? 32'hedb88320 : 32'd0);
    end
endmodule
`default_nettype wire
